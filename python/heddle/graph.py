"""Task graphs as values: `Graph` from numpy arrays or from files, `GraphBuilder` for graphs that a loop describes."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import structure, table
from ._ffi import ffi
from ._given import SIZE_MAX, UINT_MAX, among, listed, mapped, name_of, numbers, real, whole
from ._library import Error, Filed, Status, check, encode, lib, text
from ._shown import Shown
from .data import mode_of
from .platform import Platform, as_platform
from .trace import Bounds, names_of

_TASK = structure("struct heddle_graph_task")
_ACCESS = structure("struct heddle_graph_access")
_EDGE = structure("struct heddle_graph_edge")

_MOST_DRAWN = 2000  # tasks, of heddle_trace_dag
# Beyond these, the iterative bound would take more than about a second: `heddle sim` has the same limits.
_MAX_TASKS, _MAX_ROUNDS, _MAX_WORK = 4000, 300, 200000


def rounds_for(n_tasks: int) -> int:
    """How many rounds of the iterative bound a graph of that size is worth when nobody says."""
    return 0 if n_tasks > _MAX_TASKS else min(_MAX_ROUNDS, _MAX_WORK // max(n_tasks, 1))


def _index(values: npt.ArrayLike, n: int, what: str, dtype: Any = np.uint32) -> np.ndarray:
    """Whole numbers, as 32-bit ones. Error: one of them is not from 0 to n - 1."""
    given = numbers(values, what)
    if given.size and (given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= n):
        raise Error(Status.INVALID, f"{what}: whole numbers from 0 to {n - 1} are needed, not {given.dtype} "
                                    f"from {given.min()} to {given.max()}")
    return given.astype(dtype, copy=False)


def _per_task(values: npt.ArrayLike, what: str, tasks: np.ndarray) -> np.ndarray:
    """A number per task, or one for all, as the field of that name. Error: there are others, or too large ones."""
    given, kind = numbers(values, what), tasks.dtype[what]
    if given.shape not in ((), (1,), tasks.shape):
        raise Error(Status.INVALID, f"{what}: one number for each of the {len(tasks)} tasks is needed, or one for all, "
                                    f"not an array of shape {given.shape}")
    if kind.kind == "i" and given.size and (given.dtype.kind == "f" or given.min() < np.iinfo(kind).min or
                                            given.max() > np.iinfo(kind).max):
        raise Error(Status.INVALID, f"{what}: whole numbers of {kind.itemsize * 8} bits are needed")
    return given


def _tuple(given: Any, n: int, what: str, parts: str) -> tuple[Any, ...]:
    """So many arrays. TypeError: it is something else."""
    try:
        found = tuple(given)
    except TypeError:
        found = ()
    if len(found) != n:
        raise TypeError(f"{what} are {n} lists: ({parts})")
    return found


class Graph(Filed, Shown):
    """A task graph: tasks in submission order, each of a named type; what they do with data; dependencies; times.

    Graph(type, types=..., ...) makes one from arrays, which are checked:

    type         per task, the index of its type in `types`
    types        the names of the types; a platform's kernel times go by them ("dgemm")
    flops        per task, its work; priority: per task, larger is more urgent
    times        us, an array [task, class] with a column per name in `classes`; nan: cannot run there
    classes      names or kinds of classes of workers ("v100", "cpu", "cuda")
    data         per datum, its bytes
    accesses     (task, datum, mode): three arrays of one length; a mode is "r", "w", "rw" ... or one for all
    edges        (from, to): two arrays; task `to` waits for `from`, an earlier one
    """

    def __init__(self, type: npt.ArrayLike, *, types: Sequence[str], flops: npt.ArrayLike = 0,
                 priority: npt.ArrayLike = 0, times: npt.ArrayLike | None = None, classes: Sequence[str] = (),
                 data: npt.ArrayLike = (), accesses: tuple[Any, Any, Any] | None = None,
                 edges: tuple[npt.ArrayLike, npt.ArrayLike] | None = None, name: str = "graph",
                 task_names: Mapping[int, str] | None = None, data_names: Mapping[int, str] | None = None):
        self._kept: list[Any] = []
        g = ffi.new("struct heddle_graph *")
        self._pointer = g
        if isinstance(types, str) or np.ndim(type) > 1:
            raise TypeError("types is a list of names, and type one list with the index of each task's type in it")
        types = listed(types, "types")
        task_type = _index(np.atleast_1d(type) if np.size(type) else np.empty(0, np.uint32), len(types), "type")
        tasks = np.zeros(len(task_type), _TASK)
        tasks["type"] = task_type
        tasks["flops"], tasks["priority"] = _per_task(flops, "flops", tasks), _per_task(priority, "priority", tasks)
        g.name, g.n_tasks = self._keep(encode(name)), len(tasks)
        rows = self._keep(ffi.new("struct heddle_graph_type[]", len(types) + 1))
        for row, each in zip(rows, types):
            row.name = self._keep(encode(each))
        g.types, g.n_types = rows, len(types)
        bytes_of = np.atleast_1d(_index(data, SIZE_MAX, "data: bytes", np.uint64)) if np.size(data) else \
            np.empty(0, np.uint64)
        g.data, g.n_data = self._borrow("struct heddle_graph_datum *", bytes_of), len(bytes_of)
        if accesses is not None:
            self._set_accesses(tasks, accesses, len(bytes_of))
        if edges is not None:
            self._set_edges(edges, len(tasks))
        if times is not None:
            self._set_times(times, classes, len(tasks))
        self._tasks = tasks
        g.tasks = self._borrow("struct heddle_graph_task *", tasks)
        self._set_names(g.task_names, task_names)
        self._set_names(g.data_names, data_names)
        check(lib.heddle_graph_check(g))

    def _keep(self, what: Any) -> Any:
        self._kept.append(what)
        return what

    def _borrow(self, pointer: str, array: np.ndarray) -> Any:
        """The memory of an array, which lives as long as the graph."""
        return ffi.cast(pointer, self._keep(np.ascontiguousarray(array)).ctypes.data)

    def _set_accesses(self, tasks: np.ndarray, accesses: tuple[Any, Any, Any], n_data: int) -> None:
        task, datum, mode = _tuple(accesses, 3, "accesses", "tasks, data, modes")
        by = np.atleast_1d(_index(task, len(tasks), "accesses: task"))
        if not isinstance(mode, (str, int)) and not (isinstance(mode, np.ndarray) and mode.dtype.kind in "iu"):
            mode = [mode_of(m) for m in listed(mode, "accesses: mode")]
        shapes = {by.shape, np.shape(datum)} | (set() if isinstance(mode, (str, int)) else {np.shape(mode)})
        if by.ndim != 1 or not shapes <= {by.shape, ()}:
            raise Error(Status.INVALID, "accesses: tasks, data and modes are lists of one length, not of the shapes "
                                        + ", ".join(map(str, sorted(shapes))))
        order: Any = np.argsort(by, kind="stable") if by.size and np.any(by[1:] < by[:-1]) else slice(None)
        rows = np.empty(len(by), _ACCESS)
        rows["data"] = _index(datum, n_data, "accesses: datum")
        rows["mode"] = mode_of(mode) if isinstance(mode, (str, int)) else mode
        tasks["n_accesses"] = counts = np.bincount(by, minlength=len(tasks))
        tasks["first_access"] = np.cumsum(counts) - counts
        self._pointer.accesses = self._borrow("struct heddle_graph_access *", rows[order])
        self._pointer.n_accesses = len(rows)

    def _set_edges(self, edges: tuple[npt.ArrayLike, npt.ArrayLike], n_tasks: int) -> None:
        source, target = (np.atleast_1d(_index(e, n_tasks, "edges")) for e in _tuple(edges, 2, "edges", "from, to"))
        if source.shape != target.shape or source.ndim != 1:
            raise Error(Status.INVALID, f"edges: two lists of one length are needed, not {source.shape} and "
                                        f"{target.shape}")
        key = (target.astype(np.uint64) << np.uint64(32)) | source
        if key.size and not np.all(key[1:] > key[:-1]):
            key = np.unique(key)  # sorted, each once
        rows = np.empty(len(key), _EDGE)
        rows["from"], rows["to"] = key & np.uint64(0xffffffff), key >> np.uint64(32)
        self._pointer.edges = self._borrow("struct heddle_graph_edge *", rows)
        self._pointer.n_edges = len(rows)

    def _set_times(self, times: npt.ArrayLike, classes: Sequence[str], n_tasks: int) -> None:
        given = np.ascontiguousarray(numbers(times, "times"), np.float64)
        given = given.reshape(-1, 1) if given.ndim == 1 else given
        classes = listed(classes, "classes")
        if given.shape != (n_tasks, len(classes)):
            raise Error(Status.INVALID, f"times: an array of shape {(n_tasks, len(classes))} is needed, a row per task "
                                        f"and a column per name in classes, not {given.shape}")
        names = self._keep([encode(c) for c in classes])
        self._pointer.classes = self._keep(ffi.new("char *[]", names or [ffi.NULL]))
        self._pointer.n_classes = len(classes)
        self._pointer.times = self._borrow("double *", given)

    def _set_names(self, out: Any, names: Mapping[int, str] | None) -> None:
        numbers_of = {whole(number, "the number of what has a name", 0, UINT_MAX): name
                      for number, name in mapped(names, "the names").items()}
        rows = self._keep(ffi.new("struct heddle_name[]", len(numbers_of) + 1))
        for row, (number, name) in zip(rows, sorted(numbers_of.items())):
            row.id, row.name = number, self._keep(encode(name))
        out.list, out.n = rows, len(numbers_of)

    @classmethod
    def _owned(cls, pointer: Any) -> Graph:
        self = cls.__new__(cls)
        self._pointer, self._kept = ffi.gc(pointer, lib.heddle_graph_free), []
        return self

    def _with_times(self, times: np.ndarray, classes: Sequence[str]) -> Graph:
        """This graph with other times, a row per task and a column per class."""
        made = Graph.__new__(Graph)
        made._kept, made._pointer = [self], ffi.new("struct heddle_graph *", self._pointer[0])
        made._set_times(times, classes, len(self))
        return made

    _SUFFIX = ".json"

    @classmethod
    def _read(cls, path: str) -> Graph:
        return cls.load(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Graph:
        """Reads a graph: .json (docs/graphs.md), .dot, .gv or .stg."""
        out = ffi.new("struct heddle_graph **")
        check(lib.heddle_graph_load(encode(path), out))
        return cls._owned(out[0])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes .json, which Graph.load and `heddle sim` read, or .dot."""
        check(lib.heddle_graph_save(self._pointer, encode(path)))

    def draw(self, path: str | os.PathLike[str]) -> None:
        """Draws the graph, tasks from top to bottom in the order of their dependencies: .png, .svg or .pdf, of at most
        2000 tasks; or .dot, of any number."""
        from .simulation import trace_of
        trace_of(self).dag(path, title=self.name)

    def _draw(self, path: str) -> None:
        if len(self) > _MOST_DRAWN:
            raise Error(Status.INVALID, f"a picture of {len(self)} tasks would be too large")
        self.draw(path)

    # What it has. The arrays see the graph's own memory; their fields are those of include/heddle/graph.h.

    @property
    def name(self) -> str:
        """The name of the graph."""
        return text(self._pointer.name)

    @property
    def types(self) -> list[str]:
        """The names of the types of tasks."""
        return [text(t.name) for t in self._pointer.types[0:self._pointer.n_types]]

    @property
    def classes(self) -> list[str]:
        """The names of the columns of `times`."""
        return [text(c) for c in self._pointer.classes[0:self._pointer.n_classes]] if self._pointer.n_classes else []

    @property
    def tasks(self) -> np.ndarray:
        """The tasks: type, priority, flops, and the place of their accesses."""
        return table(self._pointer.tasks, self._pointer.n_tasks, self)

    @property
    def accesses(self) -> np.ndarray:
        """The accesses of all tasks: data, mode."""
        return table(self._pointer.accesses, self._pointer.n_accesses, self)

    @property
    def explicit_edges(self) -> np.ndarray:
        """The dependencies that no access implies: from, to."""
        return table(self._pointer.edges, self._pointer.n_edges, self)

    @property
    def data_bytes(self) -> np.ndarray:
        """The bytes of each datum."""
        return table(self._pointer.data, self._pointer.n_data, self)["bytes"]

    @property
    def times(self) -> np.ndarray | None:
        """us per task and class; None: the graph has no times of its own."""
        g = self._pointer
        return table(g.times, g.n_tasks * g.n_classes, self).reshape(g.n_tasks, g.n_classes) if g.times else None

    @property
    def task_names(self) -> dict[int, str]:
        """The names that single tasks have."""
        return names_of(self._pointer.task_names)

    @property
    def data_names(self) -> dict[int, str]:
        """The names that single data have."""
        return names_of(self._pointer.data_names)

    @property
    def flops(self) -> float:
        """The work of all tasks."""
        return float(self.tasks["flops"].sum())

    def __len__(self) -> int:
        return self._pointer.n_tasks

    def __repr__(self) -> str:
        return f"<heddle.Graph {self.name}: {len(self)} tasks of {self._pointer.n_types} types>"

    # What can be asked.

    def levels(self) -> np.ndarray:
        """Per task, how many tasks the longest path has that begins with it: what is often taken as its priority."""
        level = [1] * len(self)
        edges = self.edges()
        for source, target in zip(reversed(edges["from"].tolist()), reversed(edges["to"].tolist())):
            if level[source] <= level[target]:
                level[source] = level[target] + 1
        return np.array(level, np.int32)

    def _priorities(self, priority: np.ndarray) -> None:
        self._tasks["priority"] = priority

    def edges(self) -> np.ndarray:
        """All dependencies, those that accesses imply and the explicit ones: from, to; sorted by `to`, then `from`."""
        out, n = ffi.new("struct heddle_graph_edge **"), ffi.new("size_t *")
        check(lib.heddle_graph_edges(self._pointer, out, n))
        return table(out[0], n[0], ffi.gc(out[0], lib.free))

    def time(self, task: int, platform: Platform | str, class_id: int) -> float:
        """How long a task takes on a class of a platform, us; nan: it cannot run there."""
        machine = as_platform(platform)
        task, class_id = among(task, "task", len(self)), among(class_id, "class", len(machine.classes))
        return lib.heddle_graph_time(self._pointer, task, machine._pointer, class_id)

    def bounds(self, platform: Platform | str, rounds: int | None = None) -> Bounds:
        """Lower bounds of the makespan of any schedule on a platform. `rounds`: linear programs for the iterative
        bound; None: as many as take about a second, none for graphs of more than 4000 tasks."""
        out = ffi.new("struct heddle_bounds *")
        n = rounds_for(len(self)) if rounds is None else whole(rounds, "rounds", 0)
        check(lib.heddle_graph_bounds(self._pointer, as_platform(platform)._pointer, n, out))
        return Bounds._of(out)


class GraphBuilder:
    """Describes a graph as a program would submit it, task by task:

        b = GraphBuilder("sum")
        parts = [b.data(8 << 20) for _ in range(4)]
        total = b.data(8 << 20)
        for p in parts:
            b.task("daxpy", r=[p], rw=[total], flops=2 << 20)
        graph = b.build()
    """

    def __init__(self, name: str = "graph"):
        self.name = name
        self._types: dict[str, int] = {}
        self._tasks: list[tuple[int, float, int]] = []
        self._accesses: list[tuple[int, int, int]] = []
        self._edges: list[tuple[int, int]] = []
        self._bytes: list[int] = []
        self._times: list[tuple[int, str, float]] = []
        self._names: tuple[dict[int, str], dict[int, str]] = ({}, {})

    def data(self, bytes: int, name: str | None = None) -> int:
        """A datum, by its number."""
        if name_of(name, "the name of a datum"):
            self._names[1][len(self._bytes)] = name
        self._bytes.append(whole(bytes, "bytes", 0, SIZE_MAX - 1))
        return len(self._bytes) - 1

    def task(self, type: str, *, r: Iterable[int] = (), w: Iterable[int] = (), rw: Iterable[int] = (),
             redux: Iterable[int] = (), commute: Iterable[int] = (), after: Iterable[int] = (), flops: float = 0,
             priority: int = 0, times: Mapping[str, float] | None = None, name: str | None = None) -> int:
        """A task, by its number: what it does with data, the tasks it waits for besides, its times by class, us."""
        number = len(self._tasks)
        if not isinstance(type, str):
            raise TypeError(f"the type of a task is a str, not {type!r}")
        flops, priority = real(flops, "flops", 0), whole(priority, "priority")
        self._tasks.append((self._types.setdefault(type, len(self._types)), flops, priority))
        for mode, data in (("r", r), ("w", w), ("rw", rw), ("redux", redux), ("commute", commute)):
            self._accesses += [(number, whole(d, mode, 0, SIZE_MAX), mode_of(mode)) for d in listed(data, mode)]
        self._edges += [(whole(before, "after", 0, SIZE_MAX), number) for before in listed(after, "after")]
        self._times += [(number, c, real(us, "times", 0)) for c, us in mapped(times, "times").items()]
        if name_of(name, "the name of a task"):
            self._names[0][number] = name
        return number

    def build(self) -> Graph:
        """The graph of all tasks so far."""
        classes = list(dict.fromkeys(c for _, c, _ in self._times))
        times = np.full((len(self._tasks), len(classes)), np.nan) if classes else None
        for task, name, us in self._times:
            times[task, classes.index(name)] = us  # type: ignore[index]
        kind, flops, priority = zip(*self._tasks) if self._tasks else ((), (), ())
        accesses = tuple(np.array(self._accesses, np.int64).reshape(-1, 3).T)
        edges = tuple(np.array(self._edges, np.int64).reshape(-1, 2).T)
        return Graph(kind, types=list(self._types), flops=flops, priority=priority, times=times, classes=classes,
                     data=self._bytes, accesses=accesses, edges=edges, name=self.name,  # type: ignore[arg-type]
                     task_names=self._names[0], data_names=self._names[1])


_MAX_TILES = 1000  # of a side: 167 million tasks


def cholesky(tiles: int, tile: int = 960) -> Graph:
    """The graph of a Cholesky factorisation of tiles x tiles tiles in double precision, as LAPACK's dpotrf on
    tiles; the priorities are the levels."""
    tiles, tile = whole(tiles, "tiles", 0, _MAX_TILES), whole(tile, "tile", 1, 1 << 20)
    b = GraphBuilder("cholesky")
    n = float(tile)
    a = {(i, j): b.data(tile * tile * 8, f"A({i},{j})") for i in range(tiles) for j in range(i + 1)}
    for k in range(tiles):
        b.task("dpotrf", rw=[a[k, k]], flops=n ** 3 / 3 + n * n / 2 + n / 6)
        for i in range(k + 1, tiles):
            b.task("dtrsm", r=[a[k, k]], rw=[a[i, k]], flops=n ** 3)
        for i in range(k + 1, tiles):
            b.task("dsyrk", r=[a[i, k]], rw=[a[i, i]], flops=n * n * (n + 1))
            for j in range(k + 1, i):
                b.task("dgemm", r=[a[i, k], a[j, k]], rw=[a[i, j]], flops=2 * n ** 3)
    graph = b.build()
    graph._priorities(graph.levels())
    return graph


def as_graph(what: Graph | str | os.PathLike[str]) -> Graph:
    """A graph, or the one in that file."""
    return what if isinstance(what, Graph) else Graph.load(what)
