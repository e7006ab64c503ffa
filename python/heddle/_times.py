"""Times for classes of workers that a graph knows nothing of: what `heddle sim --speedup --times` does."""
from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

from ._given import mapped, real
from ._library import Error, Status
from .graph import Graph
from .platform import Platform


def untimed(graph: Graph, platform: Platform) -> list[str]:
    """The classes with workers on which no task has a time."""
    kinds = np.unique(graph.tasks["type"], return_index=True)[1]
    times, found = graph.times, []
    for number in sorted({w.class_id for w in platform.workers}):
        named = platform.classes[number]
        columns = [i for i, c in enumerate(graph.classes) if c in (named.name, named.kind)]
        if times is not None and columns and not np.isnan(times[:, columns]).all():
            continue
        if len(graph) and all(np.isnan(graph.time(int(i), platform, number)) for i in kinds):
            found.append(named.name)
    return found


def warn_untimed(graph: Graph, platform: Platform, classes: list[str]) -> None:
    """Warns that the workers of these classes stay idle, and says what gives them times."""
    if classes:
        assume = f"Assume times (speedup={{\"{classes[0]}\": 10}}: a tenth of those on cores; times=), give" \
            if graph.classes else "Give"
        warnings.warn(f"no task of {graph.name} has a time for {', '.join(classes)} of platform {platform.name}: the "
                      f"workers there stay idle, and no percent of a bound is given. {assume} the graph times for "
                      "these classes or their kinds, or add its types to the platform's kernels", stacklevel=3)


def _entries(given: Mapping[str, float] | None, what: str, platform: Platform,
             graph: Graph) -> list[tuple[int, int | None, float]]:
    """The classes, types (None: all) and numbers of {"CLASS:TYPE": number, "CLASS": number}."""
    found: list[tuple[int, int | None, float]] = []
    classes, types = [c.name for c in platform.classes], graph.types
    for key, value in mapped(given, what).items():
        if not isinstance(key, str):
            raise TypeError(f"{what}: {key!r} is not the name of a class, or class:type")
        name, colon, kind = key.partition(":")
        for each, known, of in ((name, classes, f"class in {platform.name}"),
                                (kind if colon else None, types, "type of tasks in the graph")):
            if each is not None and each not in known:
                raise Error(Status.UNKNOWN, f"{what}: there is no {of} that is called {each!r}; there are "
                                            + ", ".join(known))
        if real(value, f"{what}: {key}") <= 0:
            raise Error(Status.INVALID, f"{what}: {key} is {value}: it must be above 0")
        found.append((classes.index(name), types.index(kind) if colon else None, float(value)))
    return found


def assumed(graph: Graph, platform: Platform, times: Mapping[str, float] | None,
            speedup: Mapping[str, float] | None) -> Graph:
    """The graph with times that are assumed: `times` are us of a type on a class, {"v100:dgemm": 350}; then `speedup`
    says by how much a class is faster than the cores, {"v100": 10, "v100:dgemm": 30}: for tasks of the type, or for all
    that have no time there. The cores are "cpu", or the first class that the graph has times for."""
    entries = [(*e, True) for e in _entries(times, "times", platform, graph)]
    entries += [(*e, False) for e in _entries(speedup, "speedup", platform, graph)]
    if not entries:
        return graph
    own = graph.times
    if own is None or not graph.classes:
        raise Error(Status.INVALID, f"speedup and times are for graphs that have times for some class of workers, and "
                                    f"{graph.name} has none")
    table, names, kind_of = own.copy(), graph.classes, graph.tasks["type"]
    base = names.index("cpu") if "cpu" in names else 0
    for number, kind, value, is_time in entries:
        named = platform.classes[number]
        if kind is None and is_time:
            raise Error(Status.INVALID, f"times: {named.name} needs the type of the tasks, \"{named.name}:TYPE\"")
        if named.name not in names:
            like = table[:, names.index(named.kind)] if named.kind in names else np.full(len(graph), np.nan)
            table, names = np.column_stack([table, like]), [*names, named.name]
        to = names.index(named.name)
        if to == base and not is_time:
            continue
        graph = graph._with_times(table, names)
        where = kind_of == kind if kind is not None else np.isnan(
            [graph.time(i, platform, number) for i in range(len(graph))])
        guess = np.full(len(graph), value) if is_time else table[:, base] / value
        where &= ~np.isnan(guess)
        table[where, to] = guess[where]
        graph = graph._with_times(table, names)
        first = int(np.flatnonzero(where)[0]) if kind is not None and where.any() else None
        if first is not None and graph.time(first, platform, number) != guess[first]:
            warnings.warn(f"what is assumed of {graph.types[kind]} on {named.name} is not used: platform "
                          f"{platform.name} has times of its own for it", stacklevel=3)
    return graph
