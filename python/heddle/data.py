"""Data that tasks read and write: `Data`, its pieces, and how tasks use it (`read(x)`, `readwrite(y)` ...)."""
from __future__ import annotations

import enum
import itertools
import math
import weakref
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, SupportsIndex, Union

import numpy as np

from ._arrays import address, array_of, axes_of, part_of, rows_of
from ._ffi import ffi
from ._library import Error, Status, Unique, encode, lib
from ._given import SIZE_MAX, UINT_MAX, listed, several, whole

if TYPE_CHECKING:
    from .kernels import Kernel
    from .runtime import Runtime, Step


# One number, or one for each axis.
Counts = Union[SupportsIndex, Sequence[SupportsIndex]]

# After these a call of heddle_unregister has not ended the datum.
_NOT_ENDED = (lib.HEDDLE_E_INTERRUPTED, lib.HEDDLE_E_STATE, lib.HEDDLE_E_MEMORY, lib.HEDDLE_E_UNSUPPORTED)


class Loan:
    """Lives as long as some array of memory that a kernel was lent."""

    __slots__ = ("__weakref__",)


class Mode(enum.IntEnum):
    """How a task uses a datum; include/heddle/data.h says what each means."""

    R = lib.HEDDLE_R
    W = lib.HEDDLE_W
    RW = lib.HEDDLE_RW
    SCRATCH = lib.HEDDLE_SCRATCH
    REDUX = lib.HEDDLE_REDUX
    COMMUTE = lib.HEDDLE_COMMUTE


def mode_of(what: str | int) -> Mode:
    """A mode, or the one that is called so: "r", "w", "rw", "scratch", "redux", "commute"."""
    try:
        return Mode[what.upper()] if isinstance(what, str) else Mode(what)
    except (KeyError, ValueError):
        names = ", ".join(m.name.lower() for m in Mode)
        raise Error(Status.INVALID, f"there is no access mode {what!r}; there are {names}") from None


class Access:
    """A datum and what a task does with it; made by read(x) and its kin."""

    __slots__ = ("data", "mode", "ordered")

    def __init__(self, data: Data, mode: Mode, ordered: bool = True):
        if not isinstance(data, Data):
            raise TypeError(f"a task uses data that a runtime knows, rt.data(array), not {type(data).__name__}")
        self.data, self.mode, self.ordered = data, mode, ordered


def read(data: Data) -> Access:
    """The task only reads the datum."""
    return Access(data, Mode.R)


def write(data: Data) -> Access:
    """The task writes the whole datum, whose old value it does not see."""
    return Access(data, Mode.W)


def readwrite(data: Data) -> Access:
    """The task reads and writes the datum."""
    return Access(data, Mode.RW)


def scratch(data: Data) -> Access:
    """The task gets a private array of the datum's shape, with undefined contents."""
    return Access(data, Mode.SCRATCH)


def reduce(data: Data) -> Access:
    """The task contributes to a sum or another reduction (Data.reduction) in a private copy."""
    return Access(data, Mode.REDUX)


def commute(data: Data) -> Access:
    """Reads and writes; tasks that follow each other with this mode run one at a time, in any order."""
    return Access(data, Mode.COMMUTE)


def unordered(access: Access) -> Access:
    """The task has the datum, but neither waits for other tasks because of it, nor do others wait for this one: of
    read(x), write(x), readwrite(x). `after` or other data must say which tasks do not run at the same time."""
    if not isinstance(access, Access):
        raise TypeError(f"unordered(readwrite(x)), not of {type(access).__name__}")
    return Access(access.data, access.mode, ordered=False)


def _add(result: np.ndarray, copy: np.ndarray) -> None:
    result += copy


def _multiply(result: np.ndarray, copy: np.ndarray) -> None:
    result *= copy


_REDUCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sum": (lambda a: a.fill(0), _add), "prod": (lambda a: a.fill(1), _multiply)}


class Acquired(Unique):
    """A datum that the program may use, until release(): the array that `with data.acquire() as a` gives. The array of
    a temporary is a copy of its value, which release() brings back if `mode` says that it was written."""

    def __init__(self, data: Data, mode: Mode):
        self._data, self._mode = data, mode
        self._there: np.ndarray | None = None  # a temporary's own memory
        runtime = data.runtime
        with runtime._inside():
            handle = data._handle
            try:
                status = lib.heddle_acquire(handle, mode)
            except BaseException:  # of a handler of a signal, right after it
                lib.heddle_release(handle)
                raise
            if status == 0:
                runtime._held[id(self)] = self
            try:
                data._check(status)
                runtime._open()  # Error: it is being closed meanwhile
                self.array = self._borrow()
            except BaseException:  # also the KeyboardInterrupt of a wait that was over all the same
                self.release()
                raise

    def _borrow(self) -> np.ndarray:
        data, mode = self._data, self._mode
        if data.array is not None:
            return data.array if mode != Mode.R else data._read_only()
        part = ffi.new("struct heddle_part *")
        data._check(lib.heddle_data_part(data._pointer, 0, part))
        there = array_of(part, data._axes, data.dtype, writable=True)
        array = there.copy(order="K") if mode != Mode.W else np.empty_like(there)
        array.flags.writeable = mode != Mode.R
        self._there = there if mode != Mode.R else None
        return array

    def release(self) -> None:
        """Gives the array back to the runtime."""
        with self._data.runtime._inside():
            self._give_back()

    def _give_back(self) -> None:
        if self._data.runtime._held.pop(id(self), None) is None:  # it was, or closing the runtime has done it
            return
        if self._there is not None:
            np.copyto(self._there, self.array)
            self.array.flags.writeable = False  # what is written from now on would be lost
            self._there = None
        self._data._check(lib.heddle_release(self._data._pointer))

    def __enter__(self) -> np.ndarray:
        return self.array

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.release()


def _pins(array: np.ndarray | None) -> list[weakref.ref[np.ndarray]]:
    """Weak references to the array and to what it is a view of: while they live, numpy resizes none of these."""
    pins = []
    while isinstance(array, np.ndarray):
        pins.append(weakref.ref(array))
        array = array.base
    return pins


class Data(Unique):
    """One datum of a runtime: rt.data(array). `array` is the registered array itself, or None for a temporary.

    Between registration and unregister() the array belongs to the runtime: use it in tasks, or inside
    `with data.acquire() as a`.
    """

    __slots__ = ("runtime", "array", "shape", "dtype", "name", "_pointer", "_number", "_axes", "_address", "_locked",
                 "_piece_of", "_ended", "_pinned", "_steps")

    def __init__(self, runtime: Runtime, handle: Any, array: np.ndarray | None, shape: tuple[int, ...],
                 dtype: np.dtype, axes: tuple[int, ...], piece_of: _Grid | None = None):
        self.runtime, self._pointer, self.array = runtime, handle, array
        self.shape, self.dtype, self._axes, self._piece_of = shape, dtype, axes, piece_of
        self.name, self._ended = "", False
        self._number = address(handle) if handle is not None else 0
        self._address = array.ctypes.data if array is not None else 0
        self._locked: np.ndarray | None = None
        self._pinned = _pins(array if piece_of is None else None)
        self._steps: list[Step] = []

    @classmethod
    def _register(cls, runtime: Runtime, array: np.ndarray) -> Data:
        axes, out = axes_of(array), ffi.new("heddle_data **")
        with runtime._inside():
            runtime._check(lib.heddle_tensor(runtime._open(), part_of(array, axes), out))
        return cls(runtime, out[0], array, array.shape, array.dtype, axes)

    @classmethod
    def _temporary(cls, runtime: Runtime, shape: tuple[int, ...], dtype: np.dtype) -> Data:
        if math.prod(shape) * dtype.itemsize > SIZE_MAX:
            raise Error(Status.INVALID, f"an array of shape {shape} of {dtype} is too large")
        axes, part, out = rows_of(len(shape), dtype), ffi.new("struct heddle_part *"), ffi.new("heddle_data **")
        part.elem_size, part.n_dims = dtype.itemsize, len(shape)
        for k, axis in enumerate(axes):
            part.n[k] = shape[axis]
            part.stride[k] = part.n[k - 1] * part.stride[k - 1] if k else 1
        with runtime._inside():
            runtime._check(lib.heddle_tensor(runtime._open(), part, out))
        return cls(runtime, out[0], None, shape, dtype, axes)

    def _check(self, status: int) -> None:
        self.runtime._check(status)

    def _check_alive(self) -> None:
        """Error: the datum has ended, or what it is a piece of."""
        if self._ended:
            raise Error(Status.STATE, f"{self!r} has been unregistered: register the array again")
        if self._piece_of is not None:
            self._piece_of._check_alive(self)

    def _is_alive(self) -> bool:
        """Whether the datum may be used, and all that it is a piece of."""
        return not self._ended and (self._piece_of is None or self._piece_of._is_alive())

    @property
    def _handle(self) -> Any:
        """The C handle. Error: it has ended, or its runtime."""
        self.runtime._open()
        self._check_alive()
        return self._pointer

    # What kernels and the program see.

    def _read_only(self) -> np.ndarray:
        """The registered array, as one that cannot be written."""
        if self._locked is None:
            assert self.array is not None
            self._locked = self.array.view()
            self._locked.flags.writeable = False
        return self._locked

    def _in_kernel(self, context: Any, i: int, writable: bool, lent: list[tuple[int, weakref.ref[Loan]]]) -> np.ndarray:
        """Datum i of a kernel's context, which has the shape of this one: usually the registered array itself. Adds to
        `lent` what lives as long as an array of Heddle's memory."""
        if self.array is not None and address(lib.heddle_ptr(context, i)) == self._address:
            return self.array if writable else self._read_only()
        part = ffi.new("struct heddle_part *")
        if lib.heddle_context_part(context, i, 0, part):
            raise Error(Status.INVALID, f"the kernel has no datum {i}")
        loan = Loan()
        lent.append((i, weakref.ref(loan)))
        return array_of(part, self._axes, self.dtype, writable=writable, owner=loan)

    def acquire(self, mode: str | int = "rw") -> Acquired:
        """Lends the array to the program: waits for the tasks that conflict with `mode` ("r", "w", "rw").

            with data.acquire("r") as a:
                print(a.sum())

        Tasks submitted meanwhile that conflict wait for the end of the block. Blocks.
        """
        return Acquired(self, mode_of(mode))

    def unregister(self) -> None:
        """Ends the datum: waits for its tasks; then `array` has the newest value and is the program's. If Ctrl-C
        interrupts the wait, the datum is what it was before, or has just ended: to call this again is right in both
        cases. For a datum that has ended it does nothing. Blocks."""
        with self.runtime._inside():
            self.runtime._open()
            if self._ended:
                return
            handle, status = self._handle, lib.HEDDLE_E_STATE
            self._ended = True  # first: from now on nobody uses it
            try:
                self.runtime._nobody_uses(self)
                status = 0  # unless the next line says otherwise: a signal may come right after the call
                status = lib.heddle_unregister(handle)
            finally:
                if status in _NOT_ENDED:
                    self._ended = False
                else:
                    self.runtime._forget(self)
            self._check(status)

    def set_name(self, name: str) -> Data:
        """Gives the datum a name for traces, graphs and messages; returns the datum."""
        with self.runtime._inside(), self.runtime._uses.mine():
            self._check(lib.heddle_data_set_name(self._handle, encode(name)))
        self.name = name
        return self

    def reduction(self, begin: str | Kernel | Callable[[np.ndarray], Any],
                  combine: Kernel | Callable[[np.ndarray, np.ndarray], Any] | None = None) -> Data:
        """Says how the contributions of tasks that use reduce(data) are combined; returns the datum.

        `begin` puts the neutral element into a private copy, `combine(result, copy)` adds a copy to the result: Python
        functions of arrays, or compiled kernels. data.reduction("sum") and data.reduction("prod") are short forms.
        """
        steps: Any = _REDUCTIONS.get(begin) if isinstance(begin, str) else (begin, combine)
        if not steps or any(step is None for step in steps):
            raise Error(Status.INVALID, f"reduction: {begin!r} needs a function that combines, or is one of "
                                        f"{', '.join(_REDUCTIONS)}")
        kernels = [ffi.cast("heddle_codelet *", self.runtime._reduction_codelet(f, self)) for f in steps]
        with self.runtime._inside(), self.runtime._uses.mine():
            self._check(lib.heddle_data_set_reduction(self._handle, *kernels))
        return self

    def prefetch(self, node: int) -> None:
        """Starts to bring the datum to a memory; a hint."""
        with self.runtime._inside(), self.runtime._uses.mine():
            self._check(lib.heddle_prefetch(self._handle, whole(node, "node", 0, UINT_MAX)))

    def forget(self) -> None:
        """Says that nobody needs the value any more, after the tasks submitted so far: a task must write the whole
        datum before others read it. Does not wait."""
        with self.runtime._inside(), self.runtime._uses.mine():
            self._check(lib.heddle_forget(self._handle))

    def copy_from(self, source: Data) -> None:
        """Gives the datum the value of another one of the same shape, in the order of submission. Does not wait."""
        if not isinstance(source, Data):
            raise TypeError(f"a datum is copied from a datum, not from {type(source).__name__}")
        if source.runtime is not self.runtime:
            raise Error(Status.INVALID, f"{source!r} belongs to another runtime")
        with self.runtime._inside(), self.runtime._uses.mine():
            self._check(lib.heddle_copy(self._handle, source._handle))

    # Pieces.

    def split(self, pieces: Counts | None = None, *, size: Counts | None = None, halo: Counts = 0) -> Pieces:
        """Splits the datum into pieces that share its array; does not wait.

        `pieces` is how many along each axis, or `size` how long they are, the last one may be shorter; an int is for
        axis 0 alone. With `halo`, each piece is widened by so many elements of its neighbours on both sides, along each
        axis, or along all if it is an int: pieces that overlap can only be read, and what writes other pieces of the
        datum waits for all tasks that read these, and the other way round. Tasks may use the pieces at once, and the
        datum itself again after join():

            with data.split((4, 4)) as tiles:
                rt.submit(f, heddle.readwrite(tiles[0, 1]))
        """
        return Pieces(self, *self._grid(pieces, size, halo, "split"))

    def windows(self, windows: Sequence[tuple[slice, ...] | slice]) -> Pieces:
        """Splits the datum into any windows, given as slices: data.windows([np.s_[0:4, :], np.s_[4:9, :]]). Those that
        overlap can only be read."""
        spans = []
        for window in listed(windows, "windows"):
            each = window if isinstance(window, tuple) else (window,)
            each += (slice(None),) * (len(self.shape) - len(each))
            if len(each) != len(self.shape) or any(not isinstance(s, slice) or s.step not in (None, 1) for s in each):
                raise Error(Status.INVALID, f"{window} is no window of an array of {len(self.shape)} dimensions: "
                                            "a slice without a step for each axis")
            try:
                spans.append(tuple(slice(*s.indices(n)) for s, n in zip(each, self.shape)))
            except TypeError:
                raise TypeError(f"the slices of a window have whole numbers, not {window}") from None
        return Pieces(self, (len(spans),), spans)

    def plan(self, pieces: Counts | None = None, *, size: Counts | None = None, halo: Counts = 0) -> Plan:
        """A way to split the datum, as split() does, that leaves the datum usable: tasks may name it, and the pieces of
        all its plans, in any order. They see what earlier ones have written through whatever name; what that takes
        follows by itself, without waiting. But tasks on the pieces of one plan wait for all earlier ones on those of
        another, unless all only read: a stencil that reads pieces with a halo and writes others has a barrier in each
        step. If it names the pieces beside instead, each piece waits for its neighbours alone. Pieces may have plans
        themselves:

            tiles, columns = x.plan((4, 4)), x.plan((1, 8))
            rt.submit(f, heddle.readwrite(tiles[0, 1]))
            rt.submit(g, heddle.read(columns[0, 3]))  # after f, and what it has written is there
        """
        return Plan(self, *self._grid(pieces, size, halo, "plan"))

    def _grid(self, pieces: Counts | None, size: Counts | None, halo: Counts,
              what: str) -> tuple[tuple[int, ...], list[tuple[slice, ...]]]:
        """How many pieces there are along each axis, and the windows of all."""
        if (pieces is None) == (size is None):
            raise Error(Status.INVALID, f"{what}: say either how many pieces, or of what size")
        given = [several(w, f"{what}: {name}") if w is not None else None
                 for w, name in ((pieces, "pieces"), (size, "size"), (halo, "halo"))]
        for each in given:
            if each is not None and len(each) > len(self.shape):
                raise Error(Status.INVALID, f"{what}: {each} is for more axes than the {len(self.shape)} there are")
        halos = given[2] or ()
        if not np.ndim(halo):
            halos *= len(self.shape)
        cuts = [self._cuts(axis, given[0], given[1], halos) for axis in range(len(self.shape))]
        return tuple(len(c) for c in cuts), [tuple(w) for w in itertools.product(*cuts)]

    def _cuts(self, axis: int, pieces: tuple[int, ...] | None, size: tuple[int, ...] | None,
              halo: tuple[int, ...]) -> list[slice]:
        """The windows along one axis."""
        def along(given: tuple[int, ...] | None, whole: int) -> int:
            return given[axis] if given and axis < len(given) else whole

        n, wider = self.shape[axis], along(halo, 0)
        if size is not None:
            length = along(size, max(n, 1))
            if length < 1:
                raise Error(Status.INVALID, f"split: pieces of {length} elements along axis {axis}")
            ends = [*range(0, n, length), n]
        else:
            count = along(pieces, 1)
            if not 1 <= count <= max(n, 1):
                raise Error(Status.INVALID, f"split: {n} elements along axis {axis} cannot be {count} pieces")
            ends = [i * (n // count) + min(i, n % count) for i in range(count + 1)]
        return [slice(max(a - wider, 0), min(b + wider, n)) for a, b in zip(ends, ends[1:])]

    def __enter__(self) -> Data:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        if not self._ended:
            self.unregister()

    def __repr__(self) -> str:
        return f"<heddle.Data {self.name or 'unnamed'}: {self.dtype} {self.shape}>"


class _Grid(Unique, Sequence[Data]):
    """Pieces of a datum: grid[i], or grid[i, j] by their place in the `grid`."""

    _open = False  # True, as an attribute of the object, while its pieces may be used; one thread can take that away

    def __init__(self, parent: Data, grid: tuple[int, ...], windows: list[tuple[slice, ...]]):
        self.parent, self.grid = parent, grid
        axes = parent._axes

        @ffi.callback("int(struct heddle_part *, size_t, size_t *, size_t *, void *)", error=1)
        def child(_: Any, i: int, offset: Any, extent: Any, __: Any) -> int:
            for k, axis in enumerate(axes):
                offset[k] = windows[i][axis].start
                extent[k] = max(windows[i][axis].stop - windows[i][axis].start, 0)
            return 0

        with parent.runtime._inside(), parent.runtime._uses.mine():
            self._make(ffi.new("struct heddle_filter *", {"kind": lib.HEDDLE_SPLIT_CUSTOM, "n_children": len(windows),
                                                          "child": child}))
            self._children = [self._child(i, w) for i, w in enumerate(windows)]
        self._open = True

    def _make(self, how: Any) -> None:
        raise NotImplementedError

    def _handle_of(self, i: int) -> Any:
        raise NotImplementedError

    def _child(self, i: int, window: tuple[slice, ...]) -> Data:
        parent = self.parent
        array = parent.array[window] if parent.array is not None else None
        shape = tuple(max(s.stop - s.start, 0) for s in window)
        child = Data(parent.runtime, self._handle_of(i), array, shape, parent.dtype, parent._axes, self)
        child.name = f"{parent.name or 'piece'}[{i}]"
        return child

    def _check_alive(self, piece: Data) -> None:
        """Error: its pieces must not be used any more."""
        if not self._open:
            raise Error(Status.STATE, f"{piece!r} is a piece of what has been put together again: use {self.parent!r}")
        self.parent._check_alive()

    def _is_alive(self) -> bool:
        """Whether its pieces may be used."""
        return self._open and self.parent._is_alive()

    def _finish(self) -> int:
        """Ends it in C; returns the status."""
        raise NotImplementedError

    def _close(self) -> None:
        """Ends it. Does nothing if that has happened, by this call or by the end of what it is cut from. If it cannot
        end yet, its pieces may be used further."""
        runtime = self.parent.runtime
        if not self._is_alive():
            return
        with runtime._inside():
            runtime._open()
            if not self.__dict__.pop("_open", False):  # another thread was quicker
                return
            status = lib.HEDDLE_E_STATE
            try:
                runtime._nobody_uses(self)
                with runtime._uses.mine():  # what it is cut from does not end between the look at it and the call
                    status = 0  # unless the next lines say otherwise: a signal may come right after the call
                    if self.parent._is_alive():
                        status = self._finish()
            finally:
                if status:
                    self._open = True
            self.parent._check(status)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, tuple):
            if len(place) != len(self.grid) or not all(-n <= i < n for i, n in zip(place, self.grid)):
                raise IndexError(f"there is no piece {place} in a grid of {self.grid}")
            flat = 0
            for i, n in zip(place, self.grid):
                flat = flat * n + i % n
            return self._children[flat]
        return self._children[place]

    def __len__(self) -> int:
        return math.prod(self.grid)

    def __iter__(self) -> Iterator[Data]:
        return iter(self._children)

    def __repr__(self) -> str:
        return f"<heddle.{type(self).__name__} of {self.parent!r}, a grid of {self.grid}>"


class Pieces(_Grid):
    """The pieces of a datum: pieces[i], or pieces[i, j] by their place in the `grid`. `with` joins them at its end."""

    def _make(self, how: Any) -> None:
        self.parent._check(lib.heddle_partition(self.parent._handle, how, ffi.NULL))

    def _handle_of(self, i: int) -> Any:
        return lib.heddle_child(self.parent._handle, i)

    def _finish(self) -> int:
        return lib.heddle_unpartition(self.parent._pointer)

    def join(self) -> None:
        """Puts the pieces together, without waiting: tasks may use the whole datum again, and the pieces no more."""
        self._close()

    def __enter__(self) -> Pieces:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.join()


class Plan(_Grid):
    """The pieces of a datum that tasks may use beside the datum itself: Data.plan. `with` ends the plan at its end."""

    def _make(self, how: Any) -> None:
        out = ffi.new("heddle_plan **")
        self.parent._check(lib.heddle_plan_create(self.parent._handle, how, out))
        self._plan = out[0]

    def _handle_of(self, i: int) -> Any:
        return lib.heddle_plan_child(self._plan, i)

    def _finish(self) -> int:
        return lib.heddle_plan_destroy(self._plan)

    def end(self) -> None:
        """Ends the plan, and plans of its pieces, without waiting: none of these pieces may be used any more."""
        self._close()

    def __enter__(self) -> Plan:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.end()
