"""What happened when tasks ran: `Trace`, `Bounds`, and charts of other figures: `chart`."""
from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._arrays import table
from ._ffi import ffi
from ._library import Filed, check, encode, lib, text
from ._shown import Shown
from ._given import listed, mapped, numbers, real, whole
from .platform import Platform

_FORMATS = {"csv": lib.HEDDLE_TRACE_CSV, "chrome": lib.HEDDLE_TRACE_CHROME, "paje": lib.HEDDLE_TRACE_PAJE}


@dataclasses.dataclass(frozen=True)
class Bounds:
    """Lower bounds of the makespan, us, of any schedule; docs/bounds.md. `mixed` is the largest of them."""

    area: float
    critical_path: float
    iterative: float
    mixed: float
    rounds: int
    converged: bool

    @classmethod
    def _of(cls, out: Any) -> Bounds:
        return cls(out.area, out.critical_path, out.iterative, out.mixed, out.rounds, bool(out.converged))


class Trace(Filed, Shown):
    """A trace: of a Runtime with trace=True, of a Simulation, or read from a file. Times are in us.

    `tasks`, `transfers` and `edges` are arrays of structures whose fields are those of include/heddle/trace.h; they see
    the trace's own memory.
    """

    def __init__(self, path: str | os.PathLike[str]):
        out = ffi.new("struct heddle_trace **")
        check(lib.heddle_trace_load(encode(path), out))
        self._pointer = ffi.gc(out[0], lib.heddle_trace_free)

    _SUFFIX = ".trace"

    @classmethod
    def _read(cls, path: str) -> Trace:
        return cls(path)

    @classmethod
    def _owned(cls, pointer: Any) -> Trace:
        self = cls.__new__(cls)
        self._pointer = ffi.gc(pointer, lib.heddle_trace_free)
        return self

    @property
    def policy(self) -> str:
        """The policy that decided."""
        return text(self._pointer.policy)

    @property
    def platform(self) -> Platform:
        """The machine."""
        return Platform._copy(self._pointer.platform)

    @property
    def codelets(self) -> list[str]:
        """The names to which the field `codelet` of a task is the index."""
        return [text(c.name) for c in self._pointer.codelets[0:self._pointer.n_codelets]]

    @property
    def tasks(self) -> np.ndarray:
        """The tasks, by their start."""
        return table(self._pointer.tasks, self._pointer.n_tasks, self._pointer)

    @property
    def transfers(self) -> np.ndarray:
        """The copies between memories, by their start."""
        return table(self._pointer.transfers, self._pointer.n_transfers, self._pointer)

    @property
    def edges(self) -> np.ndarray:
        """The dependencies between tasks, by their ids."""
        return table(self._pointer.edges, self._pointer.n_edges, self._pointer)

    @property
    def makespan(self) -> float:
        """From the moment when the first task could run to the end of the last one."""
        return lib.heddle_trace_makespan(self._pointer)

    def critical_path(self) -> np.ndarray:
        """The ids of the tasks that explain the makespan, from last to first."""
        ids, n = ffi.new("uint64_t **"), ffi.new("size_t *")
        check(lib.heddle_trace_critical_path(self._pointer, ids, n))
        return table(ids[0], n[0], ffi.gc(ids[0], lib.free))

    def bounds(self, rounds: int = 0) -> Bounds:
        """Lower bounds by the platform's kernel times; `rounds`: linear programs for the iterative bound."""
        out = ffi.new("struct heddle_bounds *")
        check(lib.heddle_trace_bounds(self._pointer, ffi.NULL, ffi.NULL, whole(rounds, "rounds", 0), out))
        return Bounds._of(out)

    def gantt(self, path: str | os.PathLike[str], *, title: str | None = None, width: float = 0, height: float = 0,
              transfers: bool = False, critical_path: bool = False, lower_bound: float = 0) -> None:
        """Draws a Gantt chart: .png, .svg or .pdf. Sizes are in points (1/72 inch), 0: derived from the contents."""
        options = ffi.new("struct heddle_gantt_options *", {
            "width": real(width, "width"), "height": real(height, "height"), "transfers": bool(transfers),
            "critical_path": bool(critical_path), "lower_bound": max(real(lower_bound, "lower_bound"), 0)})
        kept = encode(title) if title is not None else ffi.NULL
        options.title = kept
        check(lib.heddle_trace_gantt(self._pointer, encode(path), options))

    def dag(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Draws the task graph: .png, .svg or .pdf, of at most 2000 tasks; or .dot, of any number."""
        kept = encode(title) if title is not None else ffi.NULL
        options = ffi.new("struct heddle_dag_options *", {"layouts": 1, "title": kept})
        check(lib.heddle_trace_dag(self._pointer, encode(path), options))

    def _draw(self, path: str) -> None:
        self.gantt(path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file, which Trace(path) and `heddle trace` read."""
        check(lib.heddle_trace_save(self._pointer, encode(path)))

    def export(self, path: str | os.PathLike[str], format: str) -> None:
        """Writes another format: "csv", "chrome" (also for Perfetto) or "paje" (for ViTE)."""
        if not isinstance(format, str) or format not in _FORMATS:
            raise ValueError(f"there is no format {format!r}; there are {', '.join(_FORMATS)}")
        check(lib.heddle_trace_export(self._pointer, _FORMATS[format], encode(path)))

    def __repr__(self) -> str:
        return f"<heddle.Trace: {self._pointer.n_tasks} tasks under {self.policy}, {self.makespan:.6g} us>"


def chart(path: str | os.PathLike[str], series: Mapping[str, tuple[Sequence[float], Sequence[float]]], *,
          title: str | None = None, x_label: str | None = None, y_label: str | None = None, log_x: bool = False,
          log_y: bool = False, joined: bool = True, width: float = 0, height: float = 0) -> None:
    """Draws series of points, {name: (x, y)}, as a .png, .svg or .pdf; Heddle's own drawing, no other package."""
    kept: list[Any] = []

    def keep(what: Any) -> Any:
        kept.append(what)
        return what

    series = mapped(series, "series")
    rows = ffi.new("struct heddle_chart_series[]", max(len(series), 1))
    for row, (name, points) in zip(rows, series.items()):
        both = listed(points, f"series {name!r}")
        if len(both) != 2:
            raise TypeError(f"series {name!r} is two lists, (x, y), not {points!r}")
        xs, ys = (keep(np.ascontiguousarray(numbers(v, f"series {name!r}"), np.float64)) for v in both)
        if xs.shape != ys.shape or xs.ndim != 1:
            raise ValueError(f"series {name!r} has {xs.shape} x for {ys.shape} y: they are two lists of one length")
        row.name, row.n, row.joined = keep(encode(name)), len(xs), joined
        row.x, row.y = (ffi.cast("double *", v.ctypes.data) for v in (xs, ys))
    drawn = ffi.new("struct heddle_chart *", {"log_x": bool(log_x), "log_y": bool(log_y),
                                              "width": real(width, "width"), "height": real(height, "height"),
                                              "series": rows, "n_series": len(series)})
    for field, value in (("title", title), ("x_label", x_label), ("y_label", y_label)):
        setattr(drawn, field, keep(encode(value)) if value is not None else ffi.NULL)
    check(lib.heddle_chart_lines(drawn, encode(path)))


def names_of(structure: Any) -> dict[int, str]:
    """A struct heddle_names as a dictionary."""
    return {structure.list[i].id: text(structure.list[i].name) for i in range(structure.n)}

