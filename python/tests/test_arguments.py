"""Whatever functions are given, an error names the argument: no exception of Python's own comes from within."""
import copy
import linecache
import pathlib
import pickle

import numpy as np
import pytest
from conftest import SMALL

import heddle
from heddle import read, readwrite, write

ODD = [None, True, -1, 0, 3, 1.5, 2 ** 40, -2 ** 40, 2 ** 70, 1e30, float("nan"), float("inf"), "", "odd", "a\0b",
       b"odd", (), [], {}, (1, 2), [-1], [1.5], [2 ** 70], ["odd"], [None], object(), np.int64(2), np.float32(2.5),
       np.zeros(3), np.zeros((2, 2)), np.array("odd"), lambda *_: None, slice(1.5, 2), pathlib.Path("odd"), int, 1j]


def named(error):
    """Whether an exception is the library's, or was raised on purpose, in words of the package."""
    trace = error.__traceback__
    while trace.tb_next:
        trace = trace.tb_next
    line = linecache.getline(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
    return isinstance(error, heddle.Error) or "raise " in line


class Given:
    """What there is to call functions with."""

    def __init__(self, rt, folder):
        self.rt, self.x, self.t = rt, rt.data(np.zeros((4, 4))), rt.data(shape=3)
        self.graph = heddle.Graph([0, 0], types=["t"], flops=1e9)
        self.small = heddle.Platform.parse(SMALL, "small")
        self.trace = heddle.simulate(heddle.cholesky(2), "haswell-k40m").trace
        self.path = folder / "x.png"
        self.task, self.group = rt.submit(None), rt.group()


# Each is called with an odd value in place of v.
CALLS = {
    "shape": lambda g, v: g.rt.data(shape=v), "dtype": lambda g, v: g.rt.data(shape=2, dtype=v),
    "array": lambda g, v: g.rt.data(v), "data name": lambda g, v: g.rt.data(shape=2, name=v),
    "function": lambda g, v: g.rt.submit(v), "priority": lambda g, v: g.rt.submit(None, priority=v),
    "task name": lambda g, v: g.rt.submit(None, name=v), "after": lambda g, v: g.rt.submit(None, after=v),
    "worker": lambda g, v: g.rt.submit(None, worker=v), "group": lambda g, v: g.rt.submit(None, group=v),
    "read": lambda g, v: read(v), "acquire": lambda g, v: g.x.acquire(v).release(),
    "set_name": lambda g, v: g.x.set_name(v), "prefetch": lambda g, v: g.x.prefetch(v),
    "reduction": lambda g, v: g.t.reduction(v), "combine": lambda g, v: g.t.reduction(lambda a: None, v),
    "split": lambda g, v: g.x.split(v).join(), "size": lambda g, v: g.x.split(size=v).join(),
    "halo": lambda g, v: g.x.split(2, halo=v).join(), "plan": lambda g, v: g.x.plan(v).end(),
    "windows": lambda g, v: g.x.windows(v).join(), "window": lambda g, v: g.x.windows([v]).join(),
    "run_graph": lambda g, v: g.rt.run_graph(v),
    "kernel": lambda g, v: heddle.kernel(v), "kernel name": lambda g, v: heddle.kernel(name=v)(lambda: None),
    "model": lambda g, v: heddle.kernel(model=v)(lambda: None),
    "color": lambda g, v: heddle.kernel(color=v)(lambda: None),
    "accesses of a kernel": lambda g, v: heddle.kernel("r", v)(lambda a, b: None),
    "compiled": lambda g, v: heddle.compiled(v, "name"), "compiled name": lambda g, v: heddle.compiled(1, v),
    "load": lambda g, v: heddle.load(v, "f"), "load function": lambda g, v: heddle.load("/nowhere.so", v),
    "type": lambda g, v: heddle.Graph(v, types=["a"]), "types": lambda g, v: heddle.Graph([0], types=v),
    "flops": lambda g, v: heddle.Graph([0, 0], types=["a"], flops=v),
    "graph priority": lambda g, v: heddle.Graph([0, 0], types=["a"], priority=v),
    "times": lambda g, v: heddle.Graph([0, 0], types=["a"], times=v, classes=["cpu"]),
    "classes": lambda g, v: heddle.Graph([0, 0], types=["a"], times=[[1], [1]], classes=v),
    "bytes": lambda g, v: heddle.Graph([0], types=["a"], data=v),
    "accesses": lambda g, v: heddle.Graph([0, 0], types=["a"], data=[8], accesses=v),
    "access data": lambda g, v: heddle.Graph([0, 0], types=["a"], data=[8], accesses=([0], v, "r")),
    "access tasks": lambda g, v: heddle.Graph([0, 0], types=["a"], data=[8], accesses=(v, [0], "r")),
    "access modes": lambda g, v: heddle.Graph([0, 0], types=["a"], data=[8], accesses=([0], [0], v)),
    "edges": lambda g, v: heddle.Graph([0, 0], types=["a"], edges=v),
    "edges to": lambda g, v: heddle.Graph([0, 0], types=["a"], edges=([0], v)),
    "graph name": lambda g, v: heddle.Graph([0], types=["a"], name=v),
    "task_names": lambda g, v: heddle.Graph([0], types=["a"], task_names=v),
    "task_names of": lambda g, v: heddle.Graph([0], types=["a"], task_names={0: v}),
    "Graph.load": lambda g, v: heddle.Graph.load(v), "Graph.save": lambda g, v: g.graph.save(v),
    "Graph.time": lambda g, v: g.graph.time(v, g.small, 0),
    "Graph.time class": lambda g, v: g.graph.time(0, g.small, v),
    "Graph.time on": lambda g, v: g.graph.time(0, v, 0), "rounds": lambda g, v: g.trace.bounds(v),
    "Graph.bounds": lambda g, v: heddle.cholesky(2).bounds("haswell-k40m", v),
    "builder name": lambda g, v: heddle.GraphBuilder(v).build(),
    "builder data": lambda g, v: heddle.GraphBuilder().data(v),
    "builder task": lambda g, v: heddle.GraphBuilder().task(v), "builder r": lambda g, v: build(g, r=v),
    "builder after": lambda g, v: build(g, after=v), "builder flops": lambda g, v: build(g, flops=v),
    "builder priority": lambda g, v: build(g, priority=v), "builder times": lambda g, v: build(g, times=v),
    "builder time": lambda g, v: build(g, times={"cpu": v}), "builder task name": lambda g, v: build(g, name=v),
    "tiles": lambda g, v: heddle.cholesky(v), "tile": lambda g, v: heddle.cholesky(2, v),
    "Platform": lambda g, v: heddle.Platform(v), "parse": lambda g, v: heddle.Platform.parse(v),
    "parse name": lambda g, v: heddle.Platform.parse(SMALL, v), "cluster": lambda g, v: g.small.cluster(v),
    "Platform.time": lambda g, v: g.small.time(v, 0), "Platform.time class": lambda g, v: g.small.time("x", v),
    "Platform.time bytes": lambda g, v: g.small.time("x", 0, bytes=v), "Platform.save": lambda g, v: g.small.save(v),
    "capacity": lambda g, v: g.small.add_emulated(capacity=v), "latency": lambda g, v: g.small.add_emulated(latency=v),
    "Trace": lambda g, v: heddle.Trace(v), "Trace.save": lambda g, v: g.trace.save(v),
    "gantt": lambda g, v: g.trace.gantt(v), "gantt title": lambda g, v: g.trace.gantt(g.path, title=v),
    "gantt width": lambda g, v: g.trace.gantt(g.path, width=not_large(v)),
    "gantt bound": lambda g, v: g.trace.gantt(g.path, lower_bound=v),
    "export": lambda g, v: g.trace.export(g.path, v), "export to": lambda g, v: g.trace.export(v, "csv"),
    "chart": lambda g, v: heddle.chart(g.path, v), "chart to": lambda g, v: heddle.chart(v, {}),
    "chart series": lambda g, v: heddle.chart(g.path, {"a": v}),
    "chart x": lambda g, v: heddle.chart(g.path, {"a": (v, [1])}),
    "chart name": lambda g, v:
        heddle.chart(g.path, {v if not isinstance(v, (list, dict, np.ndarray, slice)) else 1: ([1], [1])}),
    "chart title": lambda g, v: heddle.chart(g.path, {"a": ([1], [1])}, title=v),
    "chart height": lambda g, v: heddle.chart(g.path, {"a": ([1], [1])}, height=not_large(v)),
    "simulate": lambda g, v: heddle.simulate(v, "haswell-k40m"),
    "simulate on": lambda g, v: heddle.simulate(g.graph, v),
    "policy": lambda g, v: heddle.simulate(heddle.cholesky(2), "haswell-k40m", policy=v),
    "policy_options": lambda g, v: heddle.simulate(heddle.cholesky(2), "haswell-k40m", policy_options=v),
    "seed": lambda g, v: heddle.simulate(heddle.cholesky(2), "haswell-k40m", seed=v),
    "noise": lambda g, v: heddle.simulate(heddle.cholesky(2), "haswell-k40m", noise=v),
    "compare": lambda g, v: heddle.compare(heddle.cholesky(2), "haswell-k40m", v),
    "n_cpu": lambda g, v: heddle.Runtime(n_cpu=v if v is not None else 1).close(), "sched": lambda g, v: start(sched=v),
    "trace": lambda g, v: start(trace=v),
    "window": lambda g, v: start(window=v),
    "on_hang": lambda g, v: start(on_hang=v),
    "platform": lambda g, v: start(platform=v), "virtual": lambda g, v: start(virtual=v, platform="haswell-k40m")
    if v is None or isinstance(v, bool) else None,
}


def not_large(size):
    """Of a picture, which would take long to draw."""
    return -1 if isinstance(size, (int, float)) and size > 1000 else size


def build(given, **what):
    b = heddle.GraphBuilder()
    b.data(8)
    b.task("first")
    b.task("t", **what)
    return b.build()


def start(**settings):
    heddle.Runtime(**{"n_cpu": 1, **settings}).close()


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    with heddle.Runtime(n_cpu=1, watchdog=30) as rt:
        yield Given(rt, tmp_path_factory.mktemp("pictures"))


@pytest.mark.parametrize("call", CALLS)
def test_odd_arguments_are_named(given, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    raw = []
    for value in ODD:
        try:
            CALLS[call](given, value)
        except Exception as error:
            if not named(error):
                raw.append(f"{value!r}: {type(error).__name__}: {error}")
    assert not raw


def test_numbers_of_numpy_are_numbers(runtime):
    two = np.int64(2)
    x = runtime.data(shape=(two, np.uint8(3)))
    assert x.shape == (2, 3) and runtime.data(shape=np.int64(4)).shape == (4,)
    runtime.submit(None, priority=two, worker=np.int32(0)).wait()
    with runtime.data(np.zeros((4, 4))).split((two, two), halo=np.int8(1)) as pieces:
        assert pieces.grid == (2, 2)
    assert len(heddle.cholesky(two)) == 4


@pytest.mark.parametrize("wrong, what", [
    (lambda rt: rt.data(shape=-4), "shape"), (lambda rt: rt.data(shape=(2, 1.5)), "shape"),
    (lambda rt: rt.data(shape=(2 ** 40, 2 ** 40)), "too large"),
    (lambda rt: rt.submit(None, priority=2 ** 40), "priority"),
    (lambda rt: rt.submit(None, group=5), "group"), (lambda rt: heddle.cholesky(-1), "tiles"),
    (lambda rt: heddle.cholesky(1.5), "tiles"), (lambda rt: heddle.cholesky(2, 1e30), "tile "),
    (lambda rt: heddle.Runtime(sched="lws\0x"), "zero byte"),
    (lambda rt: heddle.Runtime(n_cpu=1, policy="lws", sched="eager"), "policy='lws' and sched='eager'"),
    (lambda rt: heddle.simulate(heddle.cholesky(2), "haswell-k40m", "lws", sched="eager"), "sched='eager'"),
    (lambda rt: heddle.simulate(heddle.cholesky(2), "haswell-k40m", trace="file"), "trace.save"),
    (lambda rt: heddle.Runtime(n_cpu=1, policy=""), "no policy ''; known: eager, .*lws.* auto"),
    (lambda rt: rt.submit(lambda many: None, [read(rt.data(np.zeros(4)))]), "in a list"),
    (lambda rt: rt.data(np.zeros(4), shape=(2, 2)), "shape"), (lambda rt: rt.data(np.zeros(4), dtype="f4"), "dtype"),
    (lambda rt: rt.data(np.zeros(4)).split(size=1.5), "size"),
    (lambda rt: rt.data(np.zeros(4)).split(2, halo=-1), "halo"),
    (lambda rt: heddle.Graph([0], types=["a"], data=[-8]), "data"),
    (lambda rt: heddle.Graph([0], types=["a"], data=[1.5]), "data"),
    (lambda rt: heddle.Graph([0], types=["a"], priority=2 ** 40), "priority"),
    (lambda rt: heddle.Platform("haswell-k40m").time("dgemm", 99), "class 99"),
])
def test_a_wrong_argument_is_refused_by_name(runtime, wrong, what):
    with pytest.raises((heddle.Error, TypeError, IndexError), match=what):
        wrong(runtime)


def test_tasks_and_groups_of_another_runtime_are_refused(runtime):
    with heddle.Runtime(n_cpu=1) as other:
        task, group = other.submit(None), other.group()
    for wrong in ({"after": task}, {"group": group}):
        with pytest.raises(heddle.Error, match="another runtime"):
            runtime.submit(None, **wrong)


class Mine(np.ndarray):
    """An array with a meaning of its own."""


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_subclasses_of_arrays_are_refused_but_what_lies_in_a_file(runtime, tmp_path):
    masked = np.ma.masked_array(np.zeros(3), [True, False, True], hard_mask=True)
    for array, remedy in ((np.matrix([[1.0, 2]]), "asarray"), (masked, "a.mask"), (np.zeros(3).view(Mine), "asarray"),
                          (np.rec.array([(1, 2.0)]), "asarray")):
        with pytest.raises(heddle.Error, match=remedy) as caught:
            runtime.data(array)
        assert caught.value.status is heddle.Status.INVALID
    seen = []
    mapped = np.memmap(tmp_path / "x", np.float64, "w+", shape=4)
    with runtime.data(mapped) as x:
        runtime.submit(lambda v: (v.fill(3), seen.append(type(v))), write(x))
        with x.acquire("r") as v:
            seen.append(type(v))
    assert seen == [np.ndarray, np.ndarray] and mapped.tolist() == [3, 3, 3, 3]
    whole = np.zeros(4)
    with runtime.data(np.asarray(np.matrix(whole))) as x:
        runtime.submit(lambda v: np.add(v, 1, out=v), readwrite(x))


def test_a_policy_asks_about_what_is_there():
    asked = []

    class Asks(heddle.Policy):
        def setup(self):
            self.tasks = []

        def ready(self, tasks, releaser):
            self.tasks += tasks

        def pick(self, worker):
            if not self.tasks:
                return None
            task = self.tasks.pop()
            for ask in (task.time, task.can_run, task.can_run_class, task.transfer_time, task.missing_bytes,
                        task.prefetch, self.free_at, lambda i: self.distance(0, i), lambda i: task.valid_on(0, i),
                        lambda i: task.valid_on(i, 0)):
                for number in (-1, 99, 2 ** 40, 1.5, "odd"):
                    try:
                        ask(number)
                        asked.append((ask, number))
                    except (IndexError, TypeError) as error:
                        assert named(error)
            return task

    heddle.simulate(heddle.cholesky(2), "intel-v100", policy=Asks)
    assert not asked


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, pickle.dumps])
def test_what_ends_an_object_of_the_library_is_not_copied(runtime, how):
    x, y, z = (runtime.data(np.zeros(4)) for _ in range(3))
    with y.split(2) as pieces, z.plan(2) as plan:
        for what in (runtime, runtime.submit(None), runtime.group(), x, x.acquire("r"), pieces, plan):
            with pytest.raises(TypeError, match=f"heddle.{type(what).__name__} cannot be copied"):
                how(what)
        with pytest.raises(TypeError, match="heddle.Data cannot be copied"):
            copy.deepcopy([heddle.read(x)])
