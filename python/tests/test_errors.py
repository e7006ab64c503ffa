"""Errors have the words of Python: no function of the C library is named."""
import contextlib
import importlib
import re

import numpy as np
import pytest
from conftest import CORES, ROOT

import heddle
from heddle import read, readwrite, write
from heddle._words import NAMES, in_python

GRAPH = {"type": [0, 0], "types": ["dgemm"]}

# Functions of C that cannot fail, or of which no sentence speaks: those that free, that policies and kernels ask.
QUIET = re.compile(r"heddle_(\w+_free|task_(?!wait|done|release)\w+|sched_\w+|context_\w+|codelet_name|ptr|value_ptr|"
                   r"fail|last_\w+|status_name|version|data_(valid_on|bytes|prefetch(_cancel)?))")


def wait_in_a_kernel(rt):
    rt.submit(lambda: rt.wait())
    rt.wait()


def wait_for_a_task_in_a_kernel(rt):
    task = rt.submit(None)
    rt.submit(lambda: task.wait())
    rt.wait()


def acquire_in_a_kernel(rt):
    x = rt.data(np.zeros(1))
    rt.submit(lambda: x.acquire())
    rt.wait()


def unregister_in_a_kernel(rt):
    x = rt.data(np.zeros(1))
    rt.submit(lambda v: x.unregister(), readwrite(x))
    rt.wait()


def close_in_a_kernel(rt):
    rt.submit(lambda: rt.close())
    rt.wait()


def use_of_what_is_partitioned(rt):
    x = rt.data(np.zeros(4))
    with x.split(2):
        rt.submit(lambda v: None, read(x))


def unregister_what_is_partitioned(rt):
    x = rt.data(np.zeros(4))
    with x.split(2):
        x.unregister()


def joined_twice(rt):
    x = rt.data(np.zeros(4))
    with x.split(2) as p, p[0].split(2):
        p.join()


def released_twice(rt):
    held = rt.data(np.zeros(4)).acquire()
    held.release()
    rt._held[id(held)] = held
    held.release()


def cancelled(rt):
    x = rt.data(np.zeros(4))
    rt.submit(lambda v: 1 / 0, write(x))
    try:
        rt.submit(lambda v: None, read(x)).wait()
    finally:
        with pytest.raises(ZeroDivisionError):
            rt.wait()


def acquired_after_a_failure(rt):
    x = rt.data(np.zeros(4))
    rt.submit(lambda v: 1 / 0, write(x))
    try:
        x.acquire()
    finally:
        with pytest.raises(ZeroDivisionError):
            rt.wait()


ERRORS = [
    wait_in_a_kernel, wait_for_a_task_in_a_kernel, acquire_in_a_kernel, unregister_in_a_kernel, close_in_a_kernel,
    use_of_what_is_partitioned, unregister_what_is_partitioned, joined_twice, released_twice,
    lambda rt: rt.data(np.zeros(1)).acquire("redux"),
    lambda rt: rt.data(np.arange(9.0)).split(3, halo=1)[1].acquire(),
    lambda rt: rt.data(np.zeros(1)).prefetch(99),
    lambda rt: rt.submit(lambda v: None, heddle.reduce(rt.data(np.zeros(1)))),
    lambda rt: rt.submit(lambda: None, worker=70),
    lambda rt: rt.take_trace(),
    lambda rt: rt.record(),
    lambda rt: rt.run_graph(heddle.Graph(**GRAPH)),
    lambda rt: heddle.Runtime(n_cpu="many"),
    lambda rt: heddle.Runtime(nonsense=1),
    lambda rt: heddle.Runtime(policy="nobody"),
    lambda rt: heddle.Runtime(policy="dmda", sched_options="nothing=1"),
    lambda rt: heddle.Runtime(clusters="7x99"),
    lambda rt: heddle.Graph([0, 1], types=["a", "b"], flops=[1, -1]),
    lambda rt: heddle.Graph([0, 1], types=["a", "b"], edges=([1], [0])),
    lambda rt: heddle.Graph.load("/nowhere.json"),
    lambda rt: heddle.Graph.load("/nowhere.txt"),
    lambda rt: heddle.Graph(**GRAPH).save("/nowhere/x.json"),
    lambda rt: heddle.Graph(**GRAPH).save("x.txt"),
    lambda rt: heddle.Trace("/nowhere"),
    lambda rt: heddle.Platform("nowhere"),
    lambda rt: heddle.Platform.parse("version: 7", "p"),
    lambda rt: heddle.Platform("haswell-k40m").cluster("3x10"),
    lambda rt: heddle.Platform("haswell-k40m").save("/nowhere/x.yaml"),
    lambda rt: heddle.simulate(heddle.cholesky(2), "haswell-k40m").gantt("x.txt"),
    lambda rt: heddle.simulate(heddle.cholesky(2), "haswell-k40m").trace.gantt("x.png", width=-3),
    lambda rt: heddle.simulate(heddle.cholesky(2), "haswell-k40m").trace.gantt("x.png", lower_bound=np.inf),
    lambda rt: heddle.chart("x.png", {"a": ([1], [2])}, width=-5),
    lambda rt: heddle.load("/nowhere.so", "f"),
]


@pytest.mark.parametrize("mistake", range(len(ERRORS)))
def test_no_error_names_a_function_of_c(mistake, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with heddle.Runtime(n_cpu=CORES, watchdog=30) as rt, pytest.raises(heddle.Error) as caught:
        ERRORS[mistake](rt)
    assert re.search("heddle_|HEDDLE_E_|config[.]", str(caught.value)) is None


@pytest.mark.parametrize("mistake, name", [
    (wait_in_a_kernel, "Runtime.wait() blocks"), (acquire_in_a_kernel, "Data.acquire() blocks"),
    (unregister_in_a_kernel, "Data.unregister(): "), (close_in_a_kernel, "Runtime.close()"),
    (use_of_what_is_partitioned, "Pieces.join() first"), (acquired_after_a_failure, "Data.acquire(): ")])
def test_an_error_names_what_python_has(runtime, mistake, name):
    with pytest.raises(heddle.Error, match=re.escape(name)):
        mistake(runtime)


def test_a_runtime_that_a_kernel_tries_to_close_goes_on(runtime):
    x = np.zeros(3)
    runtime.submit(lambda: runtime.close())
    with pytest.raises(heddle.Error, match="close"):
        runtime.wait()
    with runtime.data(x) as data:
        runtime.submit(lambda v: v.fill(5), write(data))
        runtime.wait()
    assert (x == 5).all()


def test_what_python_calls_has_a_name():
    called = set()
    for path in (ROOT / "python" / "heddle").glob("*.py"):
        called |= set(re.findall(r"lib\.(heddle_\w+)", path.read_text()))
    assert sorted(name for name in called if name not in NAMES and not QUIET.fullmatch(name)) == []
    modules = [heddle, heddle.data, importlib.import_module("heddle.fmm")]
    with contextlib.suppress(ImportError):
        modules.append(importlib.import_module("heddle.sparse"))
    for name in NAMES.values():  # and what it is called exists
        for cls, member in re.findall(r"(?:heddle\.)?([A-Z]\w+)\.(\w+)", name):
            found = [getattr(module, cls) for module in modules if hasattr(module, cls)]
            assert (cls == "QR" and len(modules) == 3) or (found and hasattr(found[0], member)), name


def test_only_names_are_changed():
    assert in_python("heddle_stop: see struct heddle_config and heddle_wait_all, /tmp/heddle_stop.c heddle_stop.c") == \
        "Runtime.close(): see the settings and Runtime.wait(), /tmp/heddle_stop.c heddle_stop.c"
    assert in_python("set HEDDLE_TRACE=1 or config.trace") == "set HEDDLE_TRACE=1 or the setting trace"
    for own in ("it lacks \"heddle_graph\"", "cannot open heddle_stop: No such file", "heddle_stop:1: not a trace",
                "cannot open config.trace: No such file", "config.trace.yaml", "there is no platform \"config.trace\"",
                "config.weights is partitioned"):
        assert in_python(own) == own
    assert in_python("heddle_stop: heddle_stop (heddle_stop)", "heddle_stop (") == \
        "Runtime.close(): heddle_stop (Runtime.close())"


@pytest.mark.parametrize("load, name", [(heddle.Platform, "config.yaml"), (heddle.Graph.load, "config.json"),
                                        (heddle.Trace, "heddle_stop")])
def test_the_name_of_a_file_is_not_changed(load, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(heddle.Error, match=f"^cannot open {name}: "):
        load(name)


def test_a_name_and_an_exception_of_the_program_are_not_changed(runtime):
    def fails(v):
        raise ValueError("config.trace of heddle_stop")

    x = runtime.data(np.zeros(3), name="config.weights")
    runtime.submit(fails, readwrite(x))
    with pytest.raises(heddle.Error, match="ValueError: config.trace of heddle_stop "):
        runtime.submit(lambda v: None, readwrite(x)).wait()
    with pytest.raises(ValueError):
        runtime.wait()
    x.split(3)
    with pytest.raises(heddle.Error, match="config.weights is partitioned"):
        runtime.submit(lambda v: None, readwrite(x))
