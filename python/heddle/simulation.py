"""Scheduling graphs in virtual time: `simulate` and `compare`."""
from __future__ import annotations

import functools
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any, Union

import numpy as np

from ._given import listed
from ._library import Error, Status
from ._shown import Shown, table
from ._times import assumed, untimed, warn_untimed
from .graph import Graph, as_graph
from .platform import Platform, as_platform
from .policy import Policy, policies
from .runtime import Runtime
from .trace import Bounds, Trace, chart

PolicyLike = Union[str, type[Policy], Policy]


class Simulation(Shown):
    """What a graph did on a platform under a policy. Times are in us since the start.

    makespan, policy (its name), stats (struct heddle_stats), figures (what the policy reports), wall (s that the
    simulation took), untimed (the classes of workers for which no task has a time, which idle); the arrays below have
    one element per task of the graph, in its order.
    """

    def __init__(self, graph: Graph, platform: Platform, runtime: Runtime, wall: float):
        self.graph, self.platform, self.wall, self.untimed = graph, platform, wall, untimed(graph, platform)
        self.policy, self.stats, self.figures = runtime.policy, runtime.stats(), runtime.policy_report()
        self.trace: Trace = runtime.take_trace()
        self.makespan: float = self.trace.makespan

    @functools.cached_property
    def tasks(self) -> np.ndarray:
        """All that is known of each task, with the fields of struct heddle_trace_task (include/heddle/trace.h)."""
        traced = self.trace.tasks
        own = traced[np.argsort(traced["id"], kind="stable")]
        return own[:len(self.graph)]

    @property
    def start(self) -> np.ndarray:
        """When each task began."""
        return self.tasks["start"]

    @property
    def end(self) -> np.ndarray:
        """When each task ended."""
        return self.tasks["end"]

    @property
    def worker(self) -> np.ndarray:
        """Which worker ran each task."""
        return self.tasks["worker"]

    @functools.cached_property
    def bounds(self) -> Bounds:
        """Lower bounds of the makespan of any schedule, computed when first asked for; Graph.bounds for other ones."""
        return self.graph.bounds(self.platform)

    @property
    def rate(self) -> float:
        """Gflop/s; nan if the graph does not say its work."""
        flops = self.graph.flops
        return flops / self.makespan * 1e-3 if flops and self.makespan else float("nan")

    @property
    def idle(self) -> float:
        """The share, 0 to 1, of the time in which processors were driven that they were idle."""
        driven = self.stats["driven"]
        return self.stats["idle"] / driven if driven else 0.0

    def gantt(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Draws a Gantt chart with the bound: .png, .svg or .pdf; options as for Trace.gantt."""
        options.setdefault("lower_bound", 0 if self.untimed else self.bounds.mixed)
        self.trace.gantt(path, **options)

    def _draw(self, path: str) -> None:
        self.gantt(path)

    def __repr__(self) -> str:
        return (f"<heddle.Simulation of {self.graph.name} on {self.platform.name} under {self.policy}: "
                f"{self.makespan:.6g} us>")


def simulate(graph: Graph | str, platform: Platform | str, policy: PolicyLike = "auto", *, seed: int | None = None,
             policy_options: str | None = None, speedup: Mapping[str, float] | None = None,
             times: Mapping[str, float] | None = None, **settings: Any) -> Simulation:
    """Schedules a graph, or that of a file, on a platform in virtual time: the same result each time for the same seed.

    `policy` is a name (heddle.policies()), "auto", or a heddle.Policy; `policy_options` its "name=value,...". A graph
    that was recorded knows the times on the machine where it ran: `speedup` says by how much other classes are faster
    than its cores, {"v100": 10, "v100:dgemm": 30}, and `times` how long tasks of a type take there, us,
    {"v100:dgemm": 350}. Other settings are those of Runtime: noise=0.1, eviction="lru", sched_cost=5 ... A warning
    names classes of workers for which no task has a time.
    """
    machine, graph = as_platform(platform), as_graph(graph)
    graph = assumed(graph, machine, times, speedup)
    warn_untimed(graph, machine, untimed(graph, machine))
    return _simulate(graph, machine, policy, seed=seed, sched_options=policy_options, **settings)


def _simulate(graph: Graph, machine: Platform, policy: PolicyLike, **settings: Any) -> Simulation:
    if settings.get("trace") not in (None, True, False):
        raise TypeError("a simulation has its trace in memory: simulation.trace.save(file) writes it")
    settings["trace"] = 1  # and no file
    before = time.perf_counter()
    with Runtime(policy=policy, platform=machine, **settings) as runtime:
        runtime.run_graph(graph)
        return Simulation(graph, machine, runtime, time.perf_counter() - before)


class Comparison(Sequence[Simulation], Shown):
    """The simulations of one graph under several policies; printed, it is the table `Policies` of `heddle sim` with
    several policies: `heddle sim potrf --sched eager,dmdas`."""

    _COLUMNS = ("policy", "makespan (ms)", "best", "rate (Gflop/s)", "bound / makespan (%)", "moved (MiB)", "transfers",
                "evictions", "idle (%)", "simulated (tasks/s)")

    def __init__(self, simulations: Sequence[Simulation], bounds: Bounds):
        self.simulations, self.bounds = list(simulations), bounds
        self.untimed = self.simulations[0].untimed

    @property
    def best(self) -> Simulation:
        """The one with the shortest makespan; the first of several."""
        return min(self.simulations, key=lambda s: s.makespan)

    def rows(self) -> list[tuple[Any, ...]]:
        """The table: a name, then numbers in the units of the columns; nan where a number makes no sense."""
        return [(s.policy, s.makespan * 1e-3, s.rate,
                 100 * self.bounds.mixed / s.makespan if s.makespan and not self.untimed else np.nan,
                 s.stats["bytes_moved"] / 2 ** 20, s.stats["transfers"], s.stats["evictions"], 100 * s.idle,
                 len(s.graph) / s.wall) for s in self.simulations]

    def __getitem__(self, which: Any) -> Any:
        """A simulation by its place, or by the name of its policy."""
        if isinstance(which, str):
            for simulation in self.simulations:
                if simulation.policy == which:
                    return simulation
            raise KeyError(f"{which!r} is not among the policies compared")
        return self.simulations[which]

    def __len__(self) -> int:
        return len(self.simulations)

    def _cells(self) -> list[tuple[str, ...]]:
        formats = ("{}", "{:.2f}", "{:.1f}", "{:.1f}", "{:.0f}", "{:.0f}", "{:.0f}", "{:.1f}", "{:.0f}")
        lines = [["-" if v != v else f.format(v) for f, v in zip(formats, row)] for row in self.rows()]
        shortest = self.best.makespan
        return [(*line[:2], "yes" if s.makespan == shortest else "-", *line[2:])
                for s, line in zip(self.simulations, lines)]

    def _words(self) -> str:
        return table(self._COLUMNS, self._cells())

    def _draw(self, path: str) -> None:
        points = {s.policy: ([s.stats["bytes_moved"] / 2 ** 20], [s.makespan * 1e-3]) for s in self.simulations}
        chart(path, points, joined=False, title=f"{self.best.graph.name} on {self.best.platform.name}",
              x_label="moved (MiB)", y_label="makespan (ms)")

    def __str__(self) -> str:
        cells = [self._COLUMNS, *self._cells()]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self._COLUMNS))]
        return "\n".join("  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths)))
                         .rstrip() for row in cells)

    __repr__ = __str__


def compare(graph: Graph | str, platform: Platform | str, policies: Sequence[PolicyLike] | None = None, *,
            seed: int | None = None, speedup: Mapping[str, float] | None = None,
            times: Mapping[str, float] | None = None, **settings: Any) -> Comparison:
    """Simulates a graph under several policies, by default all shipped ones; Python ones stand in the same table. The
    other arguments are those of simulate()."""
    machine, graph = as_platform(platform), as_graph(graph)
    graph = assumed(graph, machine, times, speedup)
    warn_untimed(graph, machine, untimed(graph, machine))
    chosen = listed(shipped_policies() if policies is None else policies, "policies")
    if not chosen:
        raise Error(Status.INVALID, "compare needs at least one policy")
    options = settings.pop("policy_options", None)
    return Comparison([_simulate(graph, machine, p, seed=seed, sched_options=options, **settings) for p in chosen],
                      graph.bounds(machine))


_ONE_CORE = """
version: 1
name: one core
nodes: [{name: ram, capacity_mib: 0}]
classes: [{name: cpu, kind: cpu}]
workers: [{name: cpu, class: cpu, node: ram, core: 0}]
"""


def trace_of(graph: Graph) -> Trace:
    """A trace with the tasks and dependencies of a graph, whatever their times."""
    timed = graph._with_times(np.ones((len(graph), 1)), ["cpu"])
    return _simulate(timed, Platform.parse(_ONE_CORE, "one core"), "eager").trace


def shipped_policies() -> list[str]:
    """The names of the policies that come with the library."""
    from .policy import _registered
    return [name for name in policies() if name not in _registered]
