"""What functions are given, checked: an error names the argument, and says what it must be."""
from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._library import Error, Status

INT_MAX, UINT_MAX, SIZE_MAX = (1 << 31) - 1, (1 << 32) - 1, (1 << 63) - 1


def whole(value: Any, what: str, low: int = -INT_MAX - 1, high: int = INT_MAX) -> int:
    """An int, or another whole number such as numpy's. TypeError: it is none; Error: it is not from low to high."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is a whole number, not {value!r}") from None
    if not low <= number <= high:
        raise Error(Status.INVALID, f"{what} is {number}: it must be from {low} to {high}" if high < SIZE_MAX else
                    f"{what} is {number}: it must be at least {low}" if number < low else
                    f"{what} is too large: {number}")
    return number


def real(value: Any, what: str, low: float = -math.inf) -> float:
    """A float. TypeError: it is no number; Error: it is less than `low`, or not finite."""
    try:
        number = float(value) if not isinstance(value, (str, bytes)) else None
    except (TypeError, ValueError):
        number = None
    except OverflowError:
        number = math.inf
    if number is None:
        raise TypeError(f"{what} is a number, not {value!r}")
    if not low <= number < math.inf:
        raise Error(Status.INVALID, f"{what} is {number}: it must be a finite number" +
                    (f" of at least {low:g}" if low > -math.inf else ""))
    return number


def several(value: Any, what: str, low: int = 0) -> tuple[int, ...]:
    """One whole number or several, as a tuple."""
    try:
        numbers = tuple(value)
    except TypeError:
        numbers = (value,)
    return tuple(whole(n, what, low, SIZE_MAX) for n in numbers)


def among(value: Any, what: str, n: int) -> int:
    """The number of one of n things. IndexError: there is none."""
    number = whole(value, what, -SIZE_MAX, SIZE_MAX)
    if not 0 <= number < n:
        raise IndexError(f"there is no {what} {number}, there are {n}")
    return number


def listed(value: Any, what: str) -> list[Any]:
    """Several things as a list. TypeError: it is not several."""
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return list(value)
    except TypeError:
        raise TypeError(f"{what} is a list, not {value!r}") from None


def mapped(value: Any, what: str) -> dict[Any, Any]:
    """A dictionary, or None as an empty one. TypeError: it is neither."""
    if value is not None and not isinstance(value, Mapping):
        raise TypeError(f"{what} is a dictionary, not {value!r}")
    return dict(value or {})


def name_of(value: Any, what: str) -> str:
    """A name, "" for None. TypeError: it is no str."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{what} is a str, not {value!r}")
    return value or ""


def numbers(values: Any, what: str) -> np.ndarray:
    """Numbers as an array. TypeError: they are none."""
    try:
        given = np.asarray(values)
    except (ValueError, TypeError):
        given = np.empty(0, object)
    if given.dtype.kind not in "biuf":
        raise TypeError(f"{what}: numbers are needed, not {values!r}")
    return given
