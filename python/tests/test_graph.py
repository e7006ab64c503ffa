"""Platforms and graphs as objects."""
import copy
import pickle

import numpy as np
import pytest

import heddle


def pointer(a):
    return a.__array_interface__["data"][0]


def test_a_platform_has_parts(small, tmp_path):
    assert [w.class_id for w in small.workers] == [0, 0, 1]
    assert [(c.name, c.kind) for c in small.classes] == [("cpu", "cpu"), ("fast", "cuda")]
    assert small.nodes[1].capacity == 100 << 20
    assert [(k.source, k.target, k.bandwidth, k.latency) for k in small.links] == [(0, 1, 1000, 10), (1, 0, 1000, 10)]
    small.save(tmp_path / "s.yaml")
    assert heddle.Platform(tmp_path / "s.yaml").workers == small.workers
    assert "intel-v100" in heddle.Platform.names()
    assert heddle.Platform("intel-v100").time("dgemm", 0, bytes=8e6, flops=2e9) > 0
    small.add_emulated(slowdown=2)
    assert small.classes[-1].kind == "emulated" and len(small.workers) == 4
    assert heddle.Platform.here().classes[0].kind == "cpu"


def test_cores_form_clusters():
    haswell = heddle.Platform("haswell-k40m")
    haswell.cluster("socket")
    assert [w.name for w in haswell.workers[:2]] == ["cpu0-9", "cpu12-21"]
    ten = next(i for i, c in enumerate(haswell.classes) if c.cores == 10)
    assert haswell.time("dgemm", 0, bytes=3 * 8 * 960**2) / haswell.time("dgemm", ten, bytes=3 * 8 * 960**2) == \
        pytest.approx(7.77)
    with pytest.raises(heddle.Error, match="3x10"):
        haswell.cluster("3x10")


def test_a_graph_from_arrays(tmp_path):
    graph = heddle.Graph([0, 1, 0], types=["a", "b"], flops=[1.0, 2.0, 3.0], priority=5, name="three",
                         data=[100, 200], accesses=([2, 0, 1], [0, 0, 1], ["r", "w", "rw"]),
                         edges=([0, 0, 0], [2, 1, 1]), times=[[1, 2], [3, np.nan], [5, 6]], classes=["cpu", "cuda"],
                         task_names={1: "middle"}, data_names={0: "x"})
    assert graph.types == ["a", "b"] and graph.classes == ["cpu", "cuda"] and graph.name == "three"
    assert graph.tasks["type"].tolist() == [0, 1, 0] and graph.flops == 6
    assert graph.tasks["priority"].tolist() == [5, 5, 5]
    assert graph.explicit_edges.tolist() == [(0, 1), (0, 2)]
    assert graph.edges().tolist() == [(0, 1), (0, 2)]
    assert graph.accesses.tolist() == [(0, heddle.Mode.W), (1, heddle.Mode.RW), (0, heddle.Mode.R)]
    assert graph.tasks["first_access"].tolist() == [0, 1, 2]
    graph.save(tmp_path / "g.json")
    again = heddle.Graph.load(tmp_path / "g.json")
    for field in ("tasks", "accesses", "explicit_edges", "data_bytes", "times"):
        np.testing.assert_array_equal(getattr(again, field), getattr(graph, field))
    assert (again.task_names, again.data_names) == ({1: "middle"}, {0: "x"})
    graph.save(tmp_path / "g.dot")
    assert len(heddle.Graph.load(tmp_path / "g.dot")) == 3


def test_arrays_of_a_graph_see_its_memory():
    flops = np.arange(4.0)
    graph = heddle.Graph(np.zeros(4, int), types=["t"], flops=flops, times=np.ones((4, 1)), classes=["cpu"])
    a = graph.tasks
    assert pointer(a) == int(heddle.ffi.cast("uintptr_t", graph._pointer.tasks))
    assert not a.flags.writeable
    del graph
    assert a["flops"].tolist() == flops.tolist()  # the graph lives as long as its arrays


@pytest.mark.parametrize("wrong, message", [
    ({"type": [0, 2]}, "type"),
    ({"flops": [1, -1]}, "flops"),
    ({"edges": ([1], [0])}, "forward"),
    ({"edges": ([0], [5])}, "from 0 to 1"),
    ({"accesses": ([0], [3], "r")}, "datum"),
    ({"accesses": ([0, 0], [0, 0], "r")}, "twice"),
    ({"accesses": ([0], [0], "x")}, "no access mode"),
    ({"times": [[1, 2]], "classes": ["cpu", "cuda"]}, "shape"),
    ({"times": [1, -2], "classes": ["cpu"]}, "-2 us"),
    ({"task_names": {7: "seven"}}, "not there"),
])
def test_what_is_wrong_with_a_graph_is_said(wrong, message):
    with pytest.raises(heddle.Error, match=message):
        heddle.Graph(**{"type": [0, 1], "types": ["a", "b"], "data": [8], **wrong})


def test_lists_of_a_graph_are_flat():
    for wrong in ({"type": [[0]]}, {"types": "a"}):
        with pytest.raises(TypeError, match="list of names"):
            heddle.Graph(**{"type": [0], "types": ["a"], **wrong})


def test_a_million_tasks_with_edges_are_one_graph():
    n, rng = 10**6, np.random.default_rng(1)
    target = np.repeat(np.arange(1, n), 3)
    source = (rng.random(len(target)) * target).astype(np.int64)
    times = rng.random((n, 2))
    graph = heddle.Graph(rng.integers(0, 4, n), types=list("abcd"), times=times, classes=["cpu", "cuda"],
                         edges=(source, target))
    assert len(graph) == n and len(graph.explicit_edges) == len(np.unique(source * n + target))
    assert pointer(graph.times) == pointer(times)


def test_a_million_tasks_with_data_are_one_graph():
    n, n_data = 10**6, 1000
    task, data = np.arange(n), np.arange(n) % n_data
    modes = np.array([heddle.Mode.R, heddle.Mode.RW], np.int32)
    graph = heddle.Graph(np.zeros(n, int), types=["t"], data=np.full(n_data, 8),
                         accesses=(np.repeat(task, 2), np.column_stack([data, (data + 1) % n_data]).ravel(),
                                   np.tile(modes, n)))
    edges = graph.edges()
    assert len(graph) == n and len(graph.accesses) == 2 * n
    assert (edges["to"][0], edges["from"][0]) == (1, 0) and np.all(edges["from"] < edges["to"])
    assert np.all(np.isin(task[1:], edges["to"]))


def test_a_builder_makes_what_a_program_submits(small):
    b = heddle.GraphBuilder("sum")
    parts, total = [b.data(1000) for _ in range(3)], b.data(8, "total")
    for p in parts:
        b.task("fill", w=[p], times={"cpu": 5})
        b.task("add", r=[p], rw=[total], times={"cpu": 7, "fast": 1})
    last = b.task("end", after=[1, 3], times={"cpu": 1}, name="end", priority=2)
    graph = b.build()
    assert graph.edges().tolist() == [(0, 1), (1, 3), (2, 3), (3, 5), (4, 5), (1, 6), (3, 6)]
    assert last == 6 and graph.task_names == {6: "end"} and graph.tasks["priority"][6] == 2
    assert graph.time(1, small, 1) == 1 and np.isnan(graph.time(0, small, 1))
    assert graph.bounds(small).critical_path == 5 + 3 * 1
    with pytest.raises(IndexError):
        graph.time(9, small, 0)
    assert len(heddle.GraphBuilder().build()) == 0


def test_the_graph_of_a_cholesky_factorisation():
    graph = heddle.cholesky(5, 100)
    assert [int((graph.tasks["type"] == i).sum()) for i in range(4)] == [5, 10, 10, 10]
    assert graph.types == ["dpotrf", "dtrsm", "dsyrk", "dgemm"]
    assert graph.flops == pytest.approx(500 ** 3 / 3, rel=0.2)
    assert graph.tasks["priority"][0] == graph.levels()[0] == 3 * 4 + 1 and graph.levels()[-1] == 1


def test_what_a_file_holds_can_be_copied_and_pickled():
    """As a process pool does with what it is given and returns."""
    graph = heddle.Graph([0, 1], types=["a", "b"], name="small/odd", times=[[1 / 3], [np.nan]], classes=["cpu"],
                         data=[8], accesses=([0], [0], "w"), edges=([0], [1]), task_names={1: "last"})
    mine = heddle.Platform("haswell-k40m")
    mine.cluster("socket")
    run = heddle.simulate(heddle.cholesky(3), mine, "dmdas")
    run.bounds
    both = heddle.compare(heddle.cholesky(2), mine, ["eager", "lws"])
    for how in (copy.copy, copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))):
        again = how(graph)
        assert again.name == graph.name and again.times.tobytes() == graph.times.tobytes()
        assert again.accesses.tobytes() == graph.accesses.tobytes() and repr(again) == repr(graph)
        assert how(mine).workers == mine.workers and how(mine).name == mine.name
        assert how(run.trace).tasks.tobytes() == run.trace.tasks.tobytes()
        other = how(run)
        assert other.makespan == run.makespan == heddle.simulate(other.graph, other.platform, "dmdas").makespan
        assert other.stats == run.stats and other.bounds == run.bounds and other.start.tolist() == run.start.tolist()
        assert [s.makespan for s in how(both)] == [s.makespan for s in both] and str(how(both)) == str(both)
