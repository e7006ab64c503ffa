"""The fast multipole method: potentials and gradients that particles cause, for gravity and electrostatics.

    import heddle.fmm

    with heddle.Runtime() as rt, heddle.fmm.FMM(rt, points, digits=6) as fmm:
        potential, gradient = fmm.evaluate(charges)

docs/fmm.md has the method. It needs libheddle-fmm beside libheddle.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._extension import Context, Owned, load, precision_of
from ._given import real, whole
from ._library import Error, Status, fields

try:
    from ._fmm_ffi import ffi
except ImportError as missing:
    raise ImportError("heddle/_fmm_ffi.py is missing, which the build makes: use build/python, or install the package "
                      f"({missing})") from None

if TYPE_CHECKING:
    from .runtime import Runtime

__all__ = ["FMM", "evaluate"]

lib = load(ffi, "libheddle-fmm.so.0", "it stands beside libheddle.so")

_PRECISIONS = {np.dtype(np.float64): lib.HEDDLE_FMM_DOUBLE, np.dtype(np.float32): lib.HEDDLE_FMM_SINGLE}


def _open(runtime: Runtime) -> Callable[[Any], Context]:
    """What opens libheddle-fmm in a runtime."""
    def opened(pointer: Any) -> Context:
        out = ffi.new("heddle_fmm **")
        runtime._check(lib.heddle_fmm_open(pointer, out))
        return Context(out[0], lib.heddle_fmm_plan_destroy, lib.heddle_fmm_close)
    return opened


def _array(given: npt.ArrayLike, what: str) -> np.ndarray:
    """Numbers as an array. TypeError: they are not real."""
    array = np.asarray(given)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{what} are real numbers, not {array.dtype}")
    return array


def _points(array: np.ndarray, what: str, dtype: np.dtype) -> tuple[Any, np.ndarray]:
    """A struct heddle_fmm_points, and the array that it borrows."""
    if array.ndim != 2 or array.shape[1] != 3:
        raise Error(Status.INVALID, f"{what} have shape {array.shape}: they are an array of n x 3 coordinates")
    own = np.ascontiguousarray(array, dtype)
    return ffi.new("struct heddle_fmm_points *", {"n": len(own), "xyz": _address(own)}), own


def _address(array: np.ndarray | None) -> Any:
    return ffi.NULL if array is None else ffi.cast("void *", array.ctypes.data)


class FMM(Owned):
    """Sums over all pairs of particles at fixed places, whose charges may change.

        with heddle.fmm.FMM(rt, points) as fmm:
            potential, gradient = fmm.evaluate(charges)
            potential = fmm.potential(other_charges)

    The potential at x is the sum of q / |x - y| over all points y, and the gradient that of -q (x - y) / |x - y|^3; a
    point does not act on itself. Points are an array of n x 3 coordinates, which is copied. Their precision is that
    of the points, or `dtype`: float64, float32. Options, of which None is the default (heddle/fmm.h):

    targets     where results are wanted, an array of m x 3 coordinates; None: at the points
    digits      of the results: 1 to 8 (6), in float32 1 to 5 (4)
    mutual      two groups of points act on each other in one task: results depend on the order of tasks
    degree      of the expansions, instead of the degree that the digits need
    cells       leaves along the longest axis, 1 to 65536
    task_us     the work of a task, by an estimate (1500)
    periodic    the side of a cube that is repeated endlessly along all axes; coordinates count modulo the side. The
                sums over all images are Ewald's, with a uniform background if charges do not sum to 0

    The object keeps its runtime; it ends with close(), the end of `with`, or the runtime, whichever comes first.
    Threads may use it, one at a time; kernels may not. Ctrl-C is raised when the call has ended.
    """

    _what = "the fast multipole method"

    def __init__(self, rt: Runtime, points: npt.ArrayLike, targets: npt.ArrayLike | None = None, *,
                 dtype: npt.DTypeLike = None, digits: int | None = None, mutual: bool = False,
                 degree: int | None = None, cells: float | None = None, task_us: float | None = None,
                 periodic: float | None = None):
        places = _array(points, "points")
        self.dtype = precision_of(places.dtype if dtype is None else dtype, _PRECISIONS,
                                  "the fast multipole method has")
        sources, kept = _points(places, "points", self.dtype)
        at, kept_too = (ffi.NULL, None) if targets is None else _points(_array(targets, "targets"), "targets",
                                                                        self.dtype)
        self._n, self._n_targets = sources.n, sources.n if targets is None else at.n
        options = ffi.new("struct heddle_fmm_options *", {
            "digits": whole(digits, "digits", 1) if digits is not None else 0, "precision": _PRECISIONS[self.dtype],
            "pairs": lib.HEDDLE_FMM_MUTUAL if mutual else lib.HEDDLE_FMM_ONE_SIDED,
            "degree": whole(degree or 0, "degree", 0), "cells": real(cells or 0, "cells", 0),
            "task_us": real(task_us or 0, "task_us", 0), "periodic": real(periodic or 0, "periodic", 0)})
        super().__init__(rt, "fmm", _open(rt))
        out = ffi.new("heddle_fmm_plan **")
        with rt._inside():
            rt._open()
            rt._check(lib.heddle_fmm_plan_create(self._context.pointer, sources, at, options, out))
            self._context.live[self._number] = (out[0],)
        del kept, kept_too  # C has copied them

    def __enter__(self) -> FMM:
        return self

    def __repr__(self) -> str:
        return f"<heddle.fmm.FMM: {self.dtype}, {self._n} points, {self._n_targets} targets>"

    def _evaluate(self, charges: npt.ArrayLike, *results: np.ndarray | None) -> None:
        """Writes the results that are not None: the potential, and the gradient."""
        given = _array(charges, "charges")
        if given.shape != (self._n,):
            raise Error(Status.INVALID, f"charges have shape {given.shape}: there are {self._n} points")
        with np.errstate(over="ignore"):  # the library names the charge
            q = np.ascontiguousarray(given, self.dtype)
        with self._inside() as (plan,):
            self._context.sweep()
            self._runtime._check(lib.heddle_fmm_evaluate(plan, _address(q), *map(_address, results)))

    def evaluate(self, charges: npt.ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """The potential at each target, and its gradient, an array of m x 3. Error: a charge is not finite; time is
        virtual, so that there are no results. Blocks."""
        potential, gradient = np.empty(self._n_targets, self.dtype), np.empty((self._n_targets, 3), self.dtype)
        self._evaluate(charges, potential, gradient)
        return potential, gradient

    def potential(self, charges: npt.ArrayLike) -> np.ndarray:
        """The potential alone, for which gradients need not be summed. Blocks."""
        potential = np.empty(self._n_targets, self.dtype)
        self._evaluate(charges, potential, None)
        return potential

    def simulate(self) -> None:
        """In virtual time: lets the tasks of an evaluation take their time. Error: time is real. Blocks."""
        if not self._runtime._virtual:
            raise Error(Status.STATE, "FMM.simulate() is for virtual time: evaluate() computes")
        with self._inside() as (plan,):
            self._runtime._check(lib.heddle_fmm_evaluate(plan, ffi.NULL, ffi.NULL, ffi.NULL))

    @property
    def statistics(self) -> dict[str, Any]:
        """What is known before anything is computed: struct heddle_fmm_statistics of heddle/fmm.h."""
        with self._inside() as (plan,):
            return fields(lib.heddle_fmm_plan_statistics(plan))


def evaluate(rt: Runtime, points: npt.ArrayLike, charges: npt.ArrayLike,
             **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """The potential and the gradient of one set of charges: FMM, with its options, and FMM.evaluate(). Blocks."""
    with FMM(rt, points, **options) as fmm:
        return fmm.evaluate(charges)
