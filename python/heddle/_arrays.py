"""numpy arrays and C memory: arrays that are seen in place, without a copy, in both directions."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._ffi import ffi
from ._library import Error, Status, lib


class _Memory:
    """Memory that is not numpy's. An array that is made of it keeps it alive, and so `owner`."""

    def __init__(self, address: int, shape: tuple[int, ...], strides: tuple[int, ...] | None, dtype: np.dtype,
                 writable: bool, owner: Any):
        self.owner = owner
        self.__array_interface__ = {"version": 3, "data": (address, not writable), "shape": shape, "strides": strides,
                                    "typestr": dtype.str, "descr": dtype.descr}


def address(pointer: Any) -> int:
    """A C pointer as a number."""
    return int(ffi.cast("uintptr_t", pointer))


def view(where: int, shape: tuple[int, ...], strides: tuple[int, ...] | None, dtype: np.dtype, *,
         writable: bool = False, owner: Any = None) -> np.ndarray:
    """The memory at `where` as an array, without a copy; `owner` lives as long as the array."""
    if not where or 0 in shape:
        return np.empty(shape, dtype)
    if dtype.names:  # descr cannot say all that a structure can
        raw = view(where, (*shape, dtype.itemsize), None, np.dtype("u1"), writable=writable, owner=owner)
        return raw.view(dtype)[..., 0]
    return np.asarray(_Memory(where, shape, strides, dtype, writable, owner))


_NUMBERS = {"float": "f", "double": "f", "char": "S"}


def structure(name: str) -> np.dtype:
    """The C structure `name` as a numpy type with the same fields at the same places; pointers are numbers there."""
    names, formats, offsets = [], [], []
    for field, description in ffi.typeof(name).fields:
        kind = description.type
        size = ffi.sizeof(kind)
        signed = kind.kind == "primitive" and not kind.cname.startswith(("u", "size_t"))
        letter = _NUMBERS.get(kind.cname, "i" if signed else "u")
        names.append(field)
        formats.append(f"{letter}{size}")
        offsets.append(description.offset)
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": ffi.sizeof(name)})


def table(pointer: Any, n: int, owner: Any) -> np.ndarray:
    """A C array of n structures or numbers as a numpy array that cannot be written, without a copy."""
    item = ffi.typeof(pointer).item
    if item.kind == "primitive":
        dtype = np.dtype(f"{_NUMBERS.get(item.cname, 'u')}{ffi.sizeof(item)}")
    else:
        dtype = structure(item.cname)
    return view(address(pointer), (n,), None, dtype, owner=owner)


def plain(array: np.ndarray) -> np.ndarray:
    """`array` itself, or the plain array of a numpy.memmap. Error: `array` is of another subclass, whose operators
    are its own: x * x of a numpy.matrix would be a matrix product on a CPU, and no such product on an accelerator."""
    if type(array) is np.ndarray:
        return array
    if isinstance(array, np.memmap):
        return array.view(np.ndarray)
    remedy = "register a.data, and a.mask beside it" if isinstance(array, np.ma.MaskedArray) else \
        "register numpy.asarray(a), which sees the same memory"
    raise Error(Status.INVALID, f"data are plain numpy arrays, not {type(array).__name__}, whose operators are its "
                                f"own: {remedy}")


def _fits(array: np.ndarray, axes: tuple[int, ...]) -> bool:
    """Whether the axes, in this order, are the dimensions of a Heddle array: from the one whose neighbours lie side by
    side to the one whose neighbours lie farthest apart."""
    span = array.itemsize
    for k, axis in enumerate(axes):
        n, stride = array.shape[axis], array.strides[axis]
        if n > 1 and (stride < span or stride % array.itemsize or (k == 0 and stride != span)):
            return False
        span = n * (stride if n > 1 else span)
    return True


def _refusal(array: np.ndarray) -> str:
    """Why an array cannot be registered."""
    for axis, (n, stride) in enumerate(zip(array.shape, array.strides)):
        if n > 1 and stride < 0:
            return f"its axis {axis} runs backwards"
        if n > 1 and stride == 0:
            return f"all elements along its axis {axis} are one element in memory"
    if array.ndim and min(s for n, s in zip((*array.shape, 2), (*array.strides, 1 << 62)) if n > 1) != array.itemsize:
        return "along none of its axes are neighbours side by side in memory"
    return "its elements overlap or are not aligned to their size"


def rows_of(n_dims: int, dtype: np.dtype) -> tuple[int, ...]:
    """The axes of an array whose rows lie one after the other. Error: no such array can be registered."""
    if dtype.hasobject:
        raise Error(Status.INVALID, f"an array of {dtype} cannot be registered: its elements are Python objects")
    if not dtype.itemsize:
        raise Error(Status.INVALID, f"an array of {dtype} cannot be registered: its elements have no bytes")
    if n_dims > lib.HEDDLE_MAX_DIMS:
        raise Error(Status.INVALID, f"an array of {n_dims} dimensions cannot be registered: "
                                    f"Heddle's have at most {lib.HEDDLE_MAX_DIMS}; reshape it")
    return tuple(reversed(range(n_dims)))


def axes_of(array: np.ndarray) -> tuple[int, ...]:
    """The axes of an array in the order of Heddle's dimensions. Error: it cannot be registered in place."""
    rows, columns = rows_of(array.ndim, array.dtype), tuple(range(array.ndim))
    by_stride = tuple(sorted(columns, key=lambda axis: array.strides[axis]))
    for axes in (rows, columns, by_stride):
        if _fits(array, axes):
            return axes
    raise Error(Status.INVALID, f"an array of shape {array.shape} and strides {array.strides} cannot be registered: "
                                f"{_refusal(array)}; register a copy, numpy.ascontiguousarray(a)")


def part_of(array: np.ndarray, axes: tuple[int, ...]) -> Any:
    """An array as a struct heddle_part, which borrows its memory."""
    part = ffi.new("struct heddle_part *")
    part.base = ffi.cast("void *", array.ctypes.data)
    part.elem_size = array.itemsize
    part.n_dims = array.ndim
    span = 1
    for k, axis in enumerate(axes):
        n = array.shape[axis]
        part.n[k] = n
        part.stride[k] = array.strides[axis] // array.itemsize if n > 1 else span
        span = n * part.stride[k]
    return part


def array_of(part: Any, axes: tuple[int, ...], dtype: np.dtype, *, writable: bool, owner: Any = None) -> np.ndarray:
    """A struct heddle_part as an array whose axes have that order."""
    shape, strides = [0] * len(axes), [0] * len(axes)
    for k, axis in enumerate(axes):
        shape[axis] = part.n[k]
        strides[axis] = part.stride[k] * dtype.itemsize
    return view(address(part.base), tuple(shape), tuple(strides), dtype, writable=writable, owner=owner)
