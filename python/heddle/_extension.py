"""What libraries on top of Heddle have in a runtime: one context, and objects of C that end with it or before."""
from __future__ import annotations

import contextlib
import itertools
import os
import threading
from collections.abc import Callable, Collection, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from ._library import Error, Status, Unique, beside, know_types

if TYPE_CHECKING:
    from .runtime import Runtime

_numbers = itertools.count(1)
_opening = threading.RLock()


def load(ffi: Any, file: str, missing: str) -> Any:
    """A library that stands beside libheddle.so. ImportError: there is none, with what was `missing`."""
    reasons = []
    for path in beside(file):
        try:
            found = ffi.dlopen(path, os.RTLD_NOW)
            know_types(found, ffi)
            return found
        except OSError as error:
            reasons.append(str(error))
    raise ImportError(f"{file} was not found: {missing} ({'; '.join(reasons)})")


def precision_of(dtype: Any, known: Collection[np.dtype], who: str) -> np.dtype:
    """The type, one of `known`, with which a library computes numbers of another type; `who` begins the error.
    TypeError: there is none."""
    given = np.dtype(dtype)
    if given in known:
        return given
    if given.kind in "biu":
        return np.dtype(np.float64)
    *first, last = known
    raise TypeError(f"{who} numbers of {', '.join(map(str, first))} or {last}, not {given}")


class Context:
    """A library in one runtime, and its objects that end before the runtime does."""

    def __init__(self, pointer: Any, end_one: Callable[..., None], close: Callable[[Any], None]):
        self.pointer = pointer
        self.live: dict[int, tuple[Any, ...]] = {}  # what C has, by the number of the Owned
        self.dropped: list[int] = []  # numbers of objects that nobody has any more
        self._end_one, self._close = end_one, close

    def end_one(self, number: int) -> None:
        """Ends an object. Does nothing if another call has ended it."""
        found = self.live.pop(number, None)
        if found is not None:
            self._end_one(*found)

    def sweep(self) -> None:
        """Ends those that nobody has any more."""
        while self.dropped:
            with contextlib.suppress(IndexError):  # another thread was quicker
                self.end_one(self.dropped.pop())

    def end(self) -> None:
        """Ends all. The runtime calls this when no other call is inside any more."""
        for number in list(self.live):
            self.end_one(number)
        pointer, self.pointer = self.pointer, None
        self._close(pointer)


def context_of(runtime: Runtime, name: str, make: Callable[[Any], Context]) -> Context:
    """The context of a runtime, inside `with runtime._inside()`; made at its first use, of the runtime's pointer."""
    pointer = runtime._open()
    with _opening:
        context = runtime._extensions.get(name)
        if context is None:
            context = runtime._extensions.setdefault(name, make(pointer))
    assert isinstance(context, Context)
    return context


class Owned(Unique):
    """An object of a Context. It keeps its runtime; it ends with close(), the end of `with`, or the runtime, whichever
    comes first. Threads may use it, one at a time; kernels may not."""

    _what = "an object"  # in errors

    def __init__(self, rt: Runtime, name: str, make: Callable[[Any], Context]):
        self._lock: Any = threading.RLock()
        self._runtime, self._number = rt, next(_numbers)
        with rt._inside():
            self._context = context_of(rt, name, make)
            self._context.sweep()

    @contextlib.contextmanager
    def _inside(self) -> Iterator[tuple[Any, ...]]:
        """What C has of the object, which does not end meanwhile. Error: it has ended."""
        runtime = self._runtime
        if runtime._callers.in_kernel():
            raise Error(Status.STATE, f"a kernel cannot call {self._what}, which waits for tasks")
        if self._lock._is_owned():
            raise Error(Status.STATE, f"{self._what} cannot be called in a handler of a signal that came while its "
                                      "thread is in one of its calls")
        with self._lock, runtime._inside():
            runtime._open()
            found = self._context.live.get(self._number)
            if found is None:
                raise Error(Status.STATE, f"{self!r} has been closed")
            yield found

    def close(self) -> None:
        """Ends the object and frees its memory. Does nothing if it has ended. Blocks."""
        if self._number in self._context.live:
            with self._inside():
                self._context.end_one(self._number)

    def __del__(self) -> None:
        context = self.__dict__.get("_context")  # there is none if __init__ has failed
        if context is not None:
            context.dropped.append(self._number)  # ended by a later call: any code may be interrupted by this

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        with contextlib.suppress(Error) if self._runtime._callers.refuses() else contextlib.nullcontext():
            self.close()
