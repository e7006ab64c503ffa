"""Simulation, comparison, and policies in Python."""
import gc
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import CORES

import heddle


class Fifo(heddle.Policy):
    """The oldest task that the worker can run."""

    def setup(self):
        self.tasks = []

    def ready(self, tasks, releaser):
        self.tasks += tasks

    def pick(self, worker):
        for i, task in enumerate(self.tasks):
            if task.can_run(worker):
                return self.tasks.pop(i)
        return None


@pytest.fixture(scope="module")
def graph():
    return heddle.cholesky(8)


def test_a_simulation_has_times_and_workers_of_all_tasks(graph):
    s = heddle.simulate(graph, "intel-v100", "dmdas", seed=3)
    n = len(graph)
    assert s.policy == "dmdas" and len(s.start) == len(s.end) == len(s.worker) == n
    assert s.tasks["id"].tolist() == list(range(n))
    assert s.makespan == s.end.max() and s.makespan >= s.bounds.mixed
    before, after = graph.edges()["from"], graph.edges()["to"]
    assert np.all(s.end[before] <= s.start[after])
    again = heddle.simulate(graph, "intel-v100", "dmdas", seed=3)
    np.testing.assert_array_equal(again.tasks, s.tasks)
    assert s.rate > 0 and 0 <= s.idle < 1 and s.stats["tasks_executed"] == n


def test_arrays_of_a_trace_see_its_memory_and_keep_it():
    trace = heddle.simulate(heddle.cholesky(3), "intel-v100").trace
    tasks, copy = trace.tasks, trace.tasks.copy()
    assert tasks.__array_interface__["data"][0] == int(heddle.ffi.cast("uintptr_t", trace._pointer.tasks))
    del trace
    gc.collect()
    np.testing.assert_array_equal(tasks, copy)


def test_pictures_and_files(graph, tmp_path):
    s = heddle.simulate(graph, "intel-v100", "heft")
    s.gantt(tmp_path / "g.png", title="Here", critical_path=True)
    s.trace.save(tmp_path / "t.trace")
    s.trace.export(tmp_path / "t.csv", "csv")
    heddle.chart(tmp_path / "c.svg", {"one": ([1, 2, 3], [1, 4, 9]), "two": (np.arange(3), np.arange(3))}, title="T")
    assert (tmp_path / "g.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "c.svg").read_text()
    again = heddle.Trace(tmp_path / "t.trace")
    np.testing.assert_array_equal(again.tasks, s.trace.tasks)
    assert again.makespan == s.makespan and again.critical_path()[-1] == s.trace.critical_path()[-1]
    assert again.bounds().area > 0 and again.codelets == s.trace.codelets and again.policy == "heft"
    with pytest.raises(heddle.Error, match="extension|.png"):
        s.gantt(tmp_path / "g.gif")
    with pytest.raises(ValueError, match="no format 'xls'"):
        s.trace.export(tmp_path / "t.xls", "xls")
    with pytest.raises(ValueError, match="one length"):
        heddle.chart(tmp_path / "c.svg", {"one": ([1, 2], [1])})


def test_a_policy_in_python_decides_as_the_same_one_in_c(graph):
    for platform in ("intel-v100", "haswell-k40m"):
        np.testing.assert_array_equal(heddle.simulate(graph, platform, Fifo).start,
                                      heddle.simulate(graph, platform, "eager").start)


def test_a_comparison_is_one_table(graph):
    table = heddle.compare(graph, "intel-v100", ["eager", Fifo, "dmdas"])
    lines = str(table).split("\n")
    assert len(lines) == 4 and [re.split("  +", line)[0] for line in lines] == ["policy", "eager", "fifo", "dmdas"]
    assert lines[1].split()[1:7] == lines[2].split()[1:7]  # all but the speed of the simulation
    assert table.best is table["dmdas"] and table[1].policy == "fifo" and len(table) == 3
    assert {"eager", "fifo"} <= set(heddle.policies()) and heddle.policies()["fifo"].startswith("The oldest")
    assert len(heddle.compare(heddle.cholesky(2), "intel-v100")) >= 10  # all shipped ones
    with pytest.raises(heddle.Error):
        heddle.compare(graph, "intel-v100", [])


def test_a_comparison_is_the_table_of_the_command():
    command = Path(heddle.__file__).parents[2] / "heddle"  # of the same build
    if not command.exists():
        pytest.skip(f"there is no {command}: the package is not the one of a build with the command")
    policies = ["eager", "lws", "dmdas", "heft"]
    done = subprocess.run([command, "sim", "cholesky", "--n", "3840", "--tile", "960", "--platform", "intel-v100",
                           "--sched", ",".join(policies)], capture_output=True, text=True, check=True)
    theirs = [re.split("  +", line) for line in done.stdout.split("\nPolicies\n")[1].splitlines()]
    table = heddle.compare(heddle.cholesky(4), "intel-v100", policies)
    ours = [re.split("  +", line) for line in str(table).splitlines()]
    assert ours[0] == theirs[0]
    assert [row[:-1] for row in ours] == [row[:-1] for row in theirs]  # the last one is the speed of the simulation


class Oops(Exception):
    """An exception that nobody else raises."""


@pytest.mark.parametrize("where", ["setup", "ready", "pick", "started", "done", "report", "__init__"])
def test_an_exception_in_a_policy_is_the_simulations_error(graph, where):
    count = [0]

    def broken(self, *arguments):
        count[0] += 1
        if where in ("setup", "report", "__init__") or count[0] == 5:
            raise Oops(where)
        return getattr(Fifo, where)(self, *arguments)

    bad = type("Bad", (Fifo,), {where: broken})
    with pytest.raises(Oops, match=where):
        heddle.simulate(graph, "intel-v100", bad)
    heddle.simulate(graph, "intel-v100", Fifo)  # nothing is left of it


@pytest.mark.parametrize("answer, error, message", [
    (lambda self, worker: 7, TypeError, "returned 7"),
    (lambda self, worker: self.tasks[0] if self.tasks else None, heddle.Error, "until `pick` has returned it"),
    (lambda self, worker: None, heddle.Error, "no idle worker takes a ready task under policy wrong"),
])
def test_a_wrong_pick_is_said(graph, answer, error, message):
    with pytest.raises(error, match=message):
        heddle.simulate(graph, "intel-v100", type("Wrong", (Fifo,), {"pick": answer}))


@pytest.mark.filterwarnings("ignore:no task of graph has a time")
def test_a_task_that_the_worker_cannot_run_is_refused(small):
    only_fast = heddle.Graph([0, 0], types=["t"], times=[1, 1], classes=["fast"])
    anyone = type("Anyone", (Fifo,), {"pick": lambda self, worker: self.tasks.pop() if self.tasks else None})
    with pytest.raises(heddle.Error, match="cannot run"):
        heddle.simulate(only_fast, small, anyone)


def test_a_policy_may_ask(small):
    graph = heddle.Graph([0, 0, 0], types=["t"], times=[[10, 1]] * 3, classes=["cpu", "fast"], data=[1000, 50],
                         accesses=([0, 1, 1, 2], [0, 0, 1, 1], ["w", "rw", "r", "r"]), priority=[3, 2, 1])
    seen = {}

    class Curious(Fifo):
        name = "curious"
        options = {"alpha": 0.5}

        def ready(self, tasks, releaser):
            super().ready(tasks, releaser)
            for t in tasks:
                seen[t.order] = (t.name, t.priority, t.time(0), t.time(1), t.can_run(2), t.can_run_class(1),
                                 t.missing_bytes(1), t.transfer_time(0), [(d.mode.name, d.bytes) for d in t.data],
                                 t.valid_on(0, 0), [(s.order, n) for s, n in t.successors()])
            seen["policy"] = (self.option("alpha"), self.now(), self.free_at(0), 0 <= self.random() < 1,
                              self.platform.name, self.distance(0, 0), releaser)

        def report(self):
            return {"asked": len(seen)}

    s = heddle.simulate(graph, small, Curious, policy_options="alpha=2")
    assert s.figures == {"asked": 4}
    assert seen[0][:6] == ("t", 3, 10, 1, True, True)
    assert seen[0][8] == [("W", 1000)] and seen[2][6] == 50
    assert seen["policy"][0] == 2 and seen["policy"][4] == "small"
    with pytest.raises(heddle.Error, match="during a run"):
        Curious().now()


def test_a_policy_knows_tasks_from_their_submission_to_their_end(graph):
    told = {"submitted": [], "ended": []}
    wrong = []

    class Ranks(Fifo):
        """Longest path first, as far as it is submitted."""

        def submitted(self, task):
            task.rank = None
            told["submitted"].append(task.order)

        def rank(self, task):
            if task.rank is None:
                task.rank = task.time(0) + max((self.rank(s) for s, _ in task.successors()), default=0)
            return task.rank

        def ready(self, tasks, releaser):
            super().ready(tasks, releaser)
            for task in tasks:
                wrong.extend(s for s, _ in task.successors() if self.rank(s) >= self.rank(task))
                if len(task.arrivals()) != len(self.platform.nodes) or self.link_free_at(0) < self.now():
                    wrong.append(task)
                task.prefetch_data(0, 1, urgency=3)
                task.cancel_prefetch(0, 1)

        def ended(self, task):
            told["ended"].append(task.order)

    s = heddle.simulate(graph, "intel-v100", Ranks)
    assert told["submitted"] == sorted(told["ended"]) == list(range(len(s.worker)))
    assert not wrong


def test_a_policy_is_told_of_beginning_and_end(graph):
    told = {"started": [], "done": []}
    cls = type("Told", (Fifo,), {k: lambda self, task, worker, k=k: told[k].append((task.order, worker))
                                 for k in told})
    s = heddle.simulate(graph, "intel-v100", cls)
    assert sorted(told["started"]) == sorted(told["done"]) == list(enumerate(s.worker.tolist()))


def test_a_class_that_is_defined_again_takes_the_place(graph):
    first = type("Again", (Fifo,), {"report": lambda self: {"version": 1}})
    second = type("Again", (Fifo,), {"report": lambda self: {"version": 2}, "__doc__": "Anew."})
    assert heddle.simulate(graph, "intel-v100", first).figures == {"version": 1}
    assert heddle.simulate(graph, "intel-v100", second).figures == {"version": 2}
    assert heddle.simulate(graph, "intel-v100", "again").figures == {"version": 2}
    assert heddle.policies()["again"] == "Anew."


def test_an_instance_may_be_a_policy(graph):
    class Named(Fifo):
        """With something of its own."""

        def __init__(self, factor):
            self.factor = factor

        def report(self):
            return {"factor": self.factor}

    assert heddle.simulate(graph, "intel-v100", Named(3)).figures == {"factor": 3}


def test_what_is_no_policy_is_refused(graph):
    with pytest.raises(TypeError, match="subclass of heddle.Policy"):
        heddle.simulate(graph, "intel-v100", dict)
    with pytest.raises(heddle.Error, match="already a policy called 'eager'"):
        heddle.simulate(graph, "intel-v100", type("Eager", (Fifo,), {}))
    with pytest.raises(NotImplementedError, match="lacks ready"):
        heddle.simulate(graph, "intel-v100", type("Empty", (heddle.Policy,), {}))


def test_garbage_is_collected_in_a_policy_without_harm(graph):
    with heddle.Runtime(n_cpu=1) as rt:
        def drop():
            cycle = [rt.submit(lambda: None), heddle.cholesky(2)]
            cycle.append(cycle)

        class Collecting(Fifo):
            """Lets garbage go under the lock."""

            def pick(self, worker):
                gc.collect()
                return super().pick(worker)

        drop()
        heddle.simulate(heddle.cholesky(3), "intel-v100", Collecting)
        rt.wait()


def test_a_policy_in_python_schedules_for_real():
    done = []
    with heddle.Runtime(n_cpu=CORES, policy=Fifo) as rt:
        for i in range(50):
            rt.submit(lambda k: done.append(k), i)
        rt.wait()
        assert rt.policy == "fifo" and sorted(done) == list(range(50))


CALLS_ITS_RUNTIME = """
import sys
import numpy as np
import heddle

class Calls(heddle.Policy):
    call = None

    def setup(self):
        self.tasks = []

    def ready(self, tasks, releaser):
        self.tasks += tasks
        self.try_call("ready")

    def pick(self, worker):
        self.try_call("pick")
        return self.tasks.pop() if self.tasks else None

    def try_call(self, function):
        if self.call and self.call[0] == function:
            (_, call), Calls.call = self.call, None
            call()

for function in "ready", "pick":
    with heddle.Runtime(n_cpu=1, policy=Calls) as rt:
        x, group, task = rt.data(np.zeros(4)), rt.group(), rt.submit(None)
        for call in (lambda: rt.submit(None), rt.wait, rt.close, group.wait, task.wait, rt.stats, x.acquire,
                     lambda: rt.data(np.zeros(4))):
            said = []
            def attempt():
                try:
                    call()
                except heddle.Error as error:
                    said.append(str(error))
            Calls.call = function, attempt
            rt.submit(lambda: None)
            rt.wait()
            assert len(said) == 1 and "cannot call the runtime" in said[0], (function, call, said)
print("all refused")
"""


def test_a_policy_that_calls_its_runtime_is_told():
    done = subprocess.run([sys.executable, "-c", CALLS_ITS_RUNTIME], capture_output=True, text=True, check=False,
                          timeout=100, env={**os.environ, "PYTHONPATH": str(Path(heddle.__file__).parents[1])})
    assert (done.stdout, done.stderr) == ("all refused\n", "")


@pytest.mark.filterwarnings("ignore:no task of cholesky has a time")
def test_settings_and_errors_of_a_simulation(graph, small):
    noisy = heddle.simulate(graph, "intel-v100", "eager", noise=0.3, seed=1)
    assert noisy.makespan != heddle.simulate(graph, "intel-v100", "eager", noise=0.3, seed=2).makespan
    with pytest.raises(heddle.Error, match="extension|.json"):
        heddle.simulate("graph.txt", small)
    with pytest.raises(heddle.Error, match="dpotrf") as caught:
        heddle.simulate(graph, small)
    assert caught.value.status is heddle.Status.NO_WORKER
