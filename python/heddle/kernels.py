"""What tasks run: Python functions (`kernel`) and compiled ones (`compiled`, `load`)."""
from __future__ import annotations

import ctypes
import functools
import inspect
import os
import struct
from collections.abc import Callable, Sequence
from typing import Any, Union, overload

import numpy as np

from ._ffi import ffi
from ._library import Error, Status, check, encode, lib
from ._given import name_of, whole
from .data import Mode, mode_of

_MODELS = {"history": lib.HEDDLE_MODEL_HISTORY, "power": lib.HEDDLE_MODEL_POWER, "affine": lib.HEDDLE_MODEL_AFFINE,
           "none": lib.HEDDLE_MODEL_NONE}


_LAZY = (inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction)


class Kernel:
    """A function that tasks run; made by kernel(), compiled() or load(). A Python one can also be called as before.

    `modes` are those of its data, by the order in which they are given to submit; None: submit says.
    """

    def __init__(self, function: Callable[..., Any] | None, pointer: Any, name: str, modes: Sequence[Mode] | None,
                 model: str = "history", color: int = 0):
        if name_of(model, "model") not in _MODELS:
            raise Error(Status.INVALID, f"kernel {name}: there is no model {model!r}; there are {', '.join(_MODELS)}")
        name = name_of(name, "the name of a kernel")
        self.function, self.name, self.color = function, name, whole(color, f"kernel {name}: color", 0, 0xffffff)
        self.modes = tuple(modes) if modes is not None else None
        self.model = _MODELS[model]
        self._pointer = pointer  # a heddle_kernel; None: a Python function
        if function is not None:
            functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **values: Any) -> Any:
        if self.function is None:
            raise TypeError(f"{self.name} is compiled: only tasks can run it")
        return self.function(*args, **values)

    def __repr__(self) -> str:
        return f"<heddle.Kernel {self.name}>"


def _modes(function: Callable[..., Any] | None, given: Sequence[str], name: str) -> list[Mode] | None:
    """The modes of "x:r", "y:rw" or "r", "rw". Names must be those of the function's parameters, in their order."""
    if not given:
        return None
    for access in given:
        if not isinstance(access, str):
            raise TypeError(f"kernel {name}: an access is \"r\" or \"x:r\" or the like, not {access!r}")
    names = [g.rpartition(":")[0] for g in given]
    if any(names) and function is not None:
        parameters = [p for p in inspect.signature(function).parameters if p in names]
        if parameters != names:
            raise Error(Status.INVALID, f"kernel {name}: the parameters are {parameters}, the accesses say {names}: "
                                        "give them in the order of the parameters")
    return [mode_of(g.rpartition(":")[2]) for g in given]


@overload
def kernel(function: Callable[..., Any], /) -> Kernel: ...


@overload
def kernel(*accesses: str, name: str | None = None, model: str = "history",
           color: int = 0) -> Callable[[Callable[..., Any]], Kernel]: ...


def kernel(*accesses: Any, name: str | None = None, model: str = "history", color: int = 0) -> Any:
    """Makes a function a kernel whose accesses are known, as a decorator:

        @heddle.kernel("x:r", "y:rw")
        def axpy(x, y, alpha):
            y += alpha * x

        rt.submit(axpy, x, y, 2.0)

    The function gets numpy arrays for its data, without a copy, and the other arguments as they were given. It runs in
    a worker's thread with the GIL, which numpy releases in long operations. An exception makes the task fail, and is
    raised by what waits for it. `name` is what models and traces call it, `model` is "history" (a mean per size),
    "power", "affine" (regressions) or "none", as for a lambda without a name; `color` is 0xRRGGBB in charts.
    """
    def decorate(function: Callable[..., Any]) -> Kernel:
        given: str = getattr(function, "__qualname__", getattr(function, "__name__", type(function).__name__))
        called = name_of(name, "the name of a kernel") or given.replace("<locals>.", "").replace("<lambda>", "lambda")
        if any(is_one(function) for is_one in _LAZY):
            raise TypeError(f"kernel {called}: to call a generator or an async function runs nothing of it; give a "
                            "plain function")
        learns = name or "<lambda>" not in given  # all lambdas have one name
        return Kernel(function, None, called, _modes(function, accesses, called), model if learns else "none", color)

    if len(accesses) == 1 and callable(accesses[0]):
        function, accesses = accesses[0], ()
        return decorate(function)
    return decorate


_Pointer = Union[int, Any]


def compiled(pointer: _Pointer, name: str, *accesses: str, model: str = "history", color: int = 0) -> Kernel:
    """A kernel in C, which runs without the GIL: `pointer` is an int (*)(heddle_context *) as a cffi or ctypes function
    pointer or as an address (numba's cfunc(...).address). `name` is what models call it; `accesses` as for kernel().

    Values that tasks give it arrive as heddle_get sees them: a float as a double, an int as an int64_t, numpy scalars
    and arrays, ctypes objects and bytes as they are.
    """
    if isinstance(pointer, int):
        address = pointer if 0 <= pointer < 1 << 64 else 0
    elif isinstance(pointer, ffi.CData):
        address = int(ffi.cast("uintptr_t", pointer))
    else:
        try:
            address = ctypes.cast(pointer, ctypes.c_void_p).value or 0
        except (ctypes.ArgumentError, TypeError):
            raise TypeError(f"kernel {name}: a function pointer of cffi or ctypes, or an address, is needed, not "
                            f"{pointer!r}") from None
    if not address:
        raise Error(Status.INVALID, f"kernel {name}: its address is NULL, or none")
    made = Kernel(None, ffi.cast("heddle_kernel", address), name, _modes(None, accesses, name), model, color)
    made._kept = pointer  # type: ignore[attr-defined]
    return made


def load(library: str | os.PathLike[str], function: str, *accesses: str, name: str | None = None,
         model: str = "history", color: int = 0) -> Kernel:
    """A kernel of a shared library: load("./libmine.so", "axpy", "r", "rw")."""
    found = ffi.new("void **")
    kept = [encode(library), encode(function)]
    symbol = ffi.new("struct heddle_symbol[]", 1)
    symbol[0].name, symbol[0].function = kept[1], found
    check(lib.heddle_library_load(encode(f"the library of kernel {function}"), ffi.new("char *[]", [kept[0], ffi.NULL]),
                                  1, symbol))
    return compiled(ffi.cast("heddle_kernel", found[0]), name or function, *accesses, model=model, color=color)


def value_bytes(value: Any) -> bytes:
    """A value as a compiled kernel gets it."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tobytes()
    if isinstance(value, (bool, int)):
        if not -1 << 63 <= value < 1 << 63:
            raise Error(Status.INVALID, f"{value} does not fit an int64_t, as which a compiled kernel gets an int")
        return struct.pack("q", value)
    if isinstance(value, float):
        return struct.pack("d", value)
    if isinstance(value, complex):
        return struct.pack("dd", value.real, value.imag)
    if isinstance(value, ffi.CData):
        return bytes(ffi.buffer(value))
    try:
        return bytes(memoryview(value).cast("B"))  # bytes, ctypes objects
    except TypeError:
        raise TypeError("a compiled kernel gets numbers, numpy arrays, ctypes objects and bytes as values, not "
                        f"{type(value).__name__}") from None
