"""Which memory the arrays of a runtime lie in: finds the one that a new array shares elements with."""
from __future__ import annotations

import bisect
import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from ._library import Error, Status

# An array lies in `rows` runs of `width` bytes at most, which begin `stride` bytes apart: the first one at `low`.
_FIELDS = 4
_LOW, _STRIDE, _ROWS, _WIDTH = range(_FIELDS)
_MOST_WORK = 100_000  # of numpy.shares_memory for two arrays, about a millisecond
_TooHardError = getattr(np, "exceptions", np).TooHardError


def _span(array: np.ndarray) -> tuple[int, int, int, int]:
    """The runs of an array that Heddle takes: the outermost axis counts them, the others lie within one."""
    low, width, rows, stride = array.__array_interface__["data"][0], array.itemsize, 1, 0
    for step, n in sorted((step, n) for step, n in zip(array.strides, array.shape) if n > 1):
        width += (rows - 1) * stride
        rows, stride = n, step
    return (low, 0, 1, rows * stride) if stride == width else (low, stride, rows, width)


def _shares(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays have elements in common; True if that is too hard to know."""
    try:
        return np.shares_memory(a, b, max_work=_MOST_WORK)
    except _TooHardError:
        return True


class _Region:
    """Arrays whose memory hangs together: the windows of one larger array, or a single one."""

    def __init__(self, low: int, high: int):
        self.low, self.high = low, high
        self.spans: list[tuple[int, int, int, int]] = []
        self.arrays: list[np.ndarray] = []
        self.owners: list[Any] = []
        self._places: dict[int, int] = {}  # by the id of an owner
        self._table = np.empty((0, _FIELDS), np.int64)  # the first ones of `spans`
        self._filled = 0

    def add(self, span: tuple[int, int, int, int], array: np.ndarray, owner: Any) -> None:
        """Adds an array."""
        self._places[id(owner)] = len(self.owners)
        self.spans.append(span)
        self.arrays.append(array)
        self.owners.append(owner)

    def take(self, other: _Region) -> None:
        """Takes over what another one has."""
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        for each in zip(other.spans, other.arrays, other.owners):
            self.add(*each)

    def drop(self, owner: Any) -> None:
        """Forgets the array of this owner."""
        at = self._places.pop(id(owner), None)
        if at is None:
            return
        for each in (self.spans, self.arrays, self.owners):
            last = each.pop()
            if at < len(each):
                each[at] = last
        if at < len(self.owners):
            self._places[id(self.owners[at])] = at
            if at < self._filled:
                self._table[at] = self.spans[at]
        self._filled = min(self._filled, len(self.spans))

    def _rows(self) -> np.ndarray:
        """The spans as a table, which grows by doubling."""
        n = len(self.spans)
        if n > len(self._table):
            grown = np.empty((2 * n, _FIELDS), np.int64)
            grown[:self._filled] = self._table[:self._filled]
            self._table = grown
        if self._filled < n:
            self._table[self._filled:n] = self.spans[self._filled:]
            self._filled = n
        return self._table[:n]

    def _near(self, span: tuple[int, int, int, int]) -> np.ndarray:
        """The places of arrays that may share a byte with those runs. Windows of one array have the same stride, and
        then it is known of their runs, all at once: run i of the one meets run j of the other if
        -width < distance + (j - i) * stride < width of the other."""
        low, stride, rows, width = span
        lows, strides, counts, widths = self._rows().T
        step = np.where(counts == 1, stride, strides)
        distance = lows - low
        known = (step > 0) & ((strides == step) | (counts == 1)) & ((stride == step) | (rows == 1))
        by = np.where(known, step, 1)
        first = np.maximum((-distance - widths) // by + 1, 1 - rows)
        last = np.minimum(-((distance - width) // by) - 1, counts - 1)
        ends = (distance < (rows - 1) * stride + width) & (-distance < (counts - 1) * strides + widths)
        return np.flatnonzero(ends & (~known | (first <= last)))

    def find(self, span: tuple[int, int, int, int], array: np.ndarray) -> Any:
        """The owner of an array that shares elements with this one, or None; of two that no task can write, neither
        is in the other's way."""
        for i in self._near(span):
            if (array.flags.writeable or self.arrays[i].flags.writeable) and _shares(self.arrays[i], array):
                return self.owners[i]
        return None


class Spans:
    """The arrays of a runtime by where they lie. A look-up takes as many steps as a search among sorted numbers has;
    among windows of one array, one operation of numpy on all of them. find, add and drop are called within alone();
    forget() anywhere."""

    def __init__(self) -> None:
        # Reentrant, because a handler of a signal, or a finaliser, may come in the thread that holds it. Such a call
        # would meet lists that are half changed: `_busy`, which only the holder uses, says so.
        self._lock = threading.RLock()
        self._busy = False
        self._gone: list[tuple[np.ndarray, Any]] = []  # dropped by who is alone next; append and pop are atomic
        self._lows: list[int] = []  # where the regions begin, in order
        self._regions: list[_Region] = []

    @staticmethod
    def _ends(span: tuple[int, int, int, int]) -> tuple[int, int]:
        return span[_LOW], span[_LOW] + (span[_ROWS] - 1) * span[_STRIDE] + span[_WIDTH]

    def _met(self, low: int, high: int) -> slice:
        """The regions that have a byte from `low` to before `high`. They do not overlap one another."""
        first = bisect.bisect_right(self._lows, low) - 1
        if first < 0 or self._regions[first].high <= low:
            first += 1
        return slice(first, bisect.bisect_left(self._lows, high, first))

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Lets one thread at a time in, once. Error: this thread is in already."""
        with self._lock:
            if self._busy:
                raise Error(Status.STATE, "a handler of a signal, or a finaliser, that came while its thread registers "
                                          "an array cannot register another: let it note what is to be done, and do "
                                          "that after it")
            self._busy = True
            try:
                while self._gone:
                    self.drop(*self._gone.pop())
                yield
            finally:
                self._busy = False

    def forget(self, array: np.ndarray, owner: Any) -> None:
        """Forgets an array that was noted: at once, or where this thread is in already, before the next look-up."""
        self._gone.append((array, owner))
        with self._lock:
            if not self._busy:
                with self.alone():
                    pass

    def find(self, array: np.ndarray) -> Any:
        """The owner of an array that shares elements with this one, or None."""
        if not array.size:
            return None
        span = _span(array)
        for region in self._regions[self._met(*self._ends(span))]:
            owner = region.find(span, array)
            if owner is not None:
                return owner
        return None

    def add(self, array: np.ndarray, owner: Any) -> None:
        """Notes an array, which find() has not found."""
        if not array.size:
            return
        span = _span(array)
        low, high = self._ends(span)
        met = self._met(low, high)
        region = _Region(low, high)
        for other in self._regions[met]:
            other.take(region)
            region = other
        region.low, region.high = min(region.low, low), max(region.high, high)
        region.add(span, array, owner)
        self._regions[met] = [region]
        self._lows[met] = [region.low]

    def drop(self, array: np.ndarray, owner: Any) -> None:
        """Forgets an array that was noted."""
        if not array.size:
            return
        met = self._met(*self._ends(_span(array)))
        for region in self._regions[met]:
            region.drop(owner)
            if not region.owners:
                del self._regions[met], self._lows[met]
