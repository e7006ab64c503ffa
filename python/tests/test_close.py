"""The end of a runtime, and of the interpreter, while other threads use it; memory that outlives its lender."""
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import heddle
from heddle import read, readwrite, write


def in_a_process(program):
    """Runs a program, which may crash, and returns what it has printed."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=100,
                          env={**os.environ, "PYTHONPATH": str(Path(heddle.__file__).parents[1])})
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout, done.stderr


# Of each function of the library: a thread is stopped right before it. What comes later is refused, and the runtime
# ends after it.
WHILE_A_CALL_IS_UNDER_WAY = """
import threading
import numpy as np
import heddle
from heddle import data, runtime, task


class Gate:
    def __init__(self, lib):
        self.lib, self.function, self.caller = lib, None, None
        self.there, self.go = threading.Event(), threading.Event()

    def __getattr__(self, name):
        real = getattr(self.lib, name)
        if name != self.function or threading.current_thread() is not self.caller:
            return real

        def held(*arguments):
            self.there.set()
            self.go.wait()
            return real(*arguments)
        return held


def attempt(function, said):
    try:
        function()
    except heddle.Error as error:
        said.append(str(error))


def close_during(function, call):
    gate, said, late = Gate(heddle.lib), [], []
    data.lib = runtime.lib = task.lib = gate
    rt = heddle.Runtime(n_cpu=1, trace=True)
    a = np.zeros(4)
    x, t, group, total = rt.data(a), rt.submit(None), rt.group(), rt.data(np.zeros(1))
    plan, whole = rt.data(np.zeros(4)).plan(2), rt.data(np.zeros(4))
    pieces, g = whole.split(2), heddle.Graph([0], types=["t"])
    rt.wait()
    here = {"rt": rt, "x": x, "t": t, "group": group, "total": total, "plan": plan, "pieces": pieces, "g": g,
            "heddle": heddle, "np": np}
    gate.function = function
    gate.caller = threading.Thread(target=attempt, args=(lambda: eval(call, here), said))
    closer = threading.Thread(target=attempt, args=(rt.close, said))
    gate.caller.start()
    gate.there.wait()
    closer.start()
    while late[-1:] != ["the runtime has been closed"]:
        attempt(rt.now, late)
    assert closer.is_alive()  # because the call is under way
    gate.go.set()
    gate.caller.join()
    closer.join()
    print(function, said)


for function, call in CALLS.items():
    close_during(function, call)
"""

CALLS = {
    "heddle_submit_items": "rt.submit(lambda v: v.fill(1), heddle.write(x))", "heddle_wait_all": "rt.wait()",
    "heddle_task_wait": "t.wait()", "heddle_task_done": "t.done", "heddle_group_create": "rt.group()",
    "heddle_group_wait": "group.wait()", "heddle_group_cancel": "group.cancel()", "heddle_tensor": "rt.data(shape=3)",
    "heddle_acquire": "x.acquire()", "heddle_unregister": "x.unregister()", "heddle_data_set_name": "x.set_name('x')",
    "heddle_data_set_reduction": "total.reduction('sum')", "heddle_codelet_create": "rt.submit(lambda: None)",
    "heddle_copy": "x.copy_from(rt.data(np.zeros(4)))", "heddle_forget": "x.forget()", "heddle_pause": "rt.pause()",
    "heddle_resume": "(rt.pause(), rt.resume())", "heddle_prefetch": "x.prefetch(0)",
    "heddle_partition": "x.split(2)", "heddle_unpartition": "pieces.join()",
    "heddle_plan_create": "x.plan(2)", "heddle_plan_destroy": "plan.end()", "heddle_runtime_policy": "rt.policy",
    "heddle_runtime_platform": "rt.platform", "heddle_now": "rt.now()", "heddle_runtime_stats": "rt.stats()",
    "heddle_policy_report": "rt.policy_report()", "heddle_trace_take": "rt.take_trace()",
    "heddle_graph_record": "rt.record()", "heddle_selfcheck": "rt.check()", "heddle_graph_submit": "rt.run_graph(g)",
}


def test_a_runtime_ends_after_the_call_that_is_under_way():
    out, err = in_a_process(f"CALLS = {CALLS}\n" + WHILE_A_CALL_IS_UNDER_WAY)
    said = dict(line.split(" ", 1) for line in out.splitlines())
    assert said.pop("heddle_acquire") == "['the runtime has been closed']"  # nobody could give it back any more
    assert "virtual time" in said.pop("heddle_graph_submit")
    for function in ("heddle_codelet_create", "heddle_partition"):  # whose call goes on with another function
        assert said.pop(function) == "['the runtime has been closed']"
    assert set(said.values()) == {"[]"} and len(said) == len(CALLS) - 4
    assert not err


def test_every_call_of_a_runtime_is_tried():
    sources = [Path(heddle.__file__).parent / f"{name}.py" for name in ("data", "runtime", "task")]
    called = {name for s in sources for name in re.findall(r"lib\.(heddle_\w+)\(", s.read_text())}
    # In kernels and of external tasks, which a runtime waits for; of the call's own thread; before and at the end;
    # within another call.
    others = {"heddle_ptr", "heddle_context_part", "heddle_context_n_data", "heddle_context_keep", "heddle_value_ptr",
              "heddle_fail", "heddle_last_code", "heddle_last_error", "heddle_config_init", "heddle_setting_set",
              "heddle_start", "heddle_start_on", "heddle_stop", "heddle_cancel_all", "heddle_child",
              "heddle_plan_child", "heddle_data_part", "heddle_release", "heddle_fulfill", "heddle_event_fail"}
    assert called - others == set(CALLS)


CLOSED_BY_AN_ARGUMENT = """
import threading
import weakref
import heddle

def close():
    try:
        rt.close()
    except heddle.Error as error:
        print(error)

def succeeds(argument):
    only_here.wait()

def fails(argument):
    only_here.wait()
    raise ValueError("odd")

rt = heddle.Runtime(n_cpu=1)
for kernel in succeeds, fails:
    argument, only_here = {1}, threading.Event()
    weakref.finalize(argument, close)
    rt.submit(kernel, argument)
    del argument
    only_here.set()
    try:
        rt.wait()
    except ValueError as error:
        print(error)
rt.close()
"""


def test_an_argument_that_ends_in_its_kernel_may_try_to_close_the_runtime():
    out, err = in_a_process(CLOSED_BY_AN_ARGUMENT)
    assert out.count("cannot be called from a kernel") >= 1 and out.count("odd") == 1 and not err, (out, err)


def test_two_threads_may_close_a_runtime():
    for _ in range(10):
        rt = heddle.Runtime(n_cpu=1)
        threads = [threading.Thread(target=rt.close) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        with pytest.raises(heddle.Error, match="has been closed"):
            rt.wait()


def test_closing_releases_what_others_wait_for():
    rt, got, began = heddle.Runtime(n_cpu=1), [], threading.Event()
    a = np.zeros(1)
    x = rt.data(a)
    held = x.acquire()

    def waits():
        task = rt.submit(lambda v: np.add(v, 1, out=v), readwrite(x))
        began.set()
        try:
            task.wait()
            got.append("ran")
        except heddle.Error as error:
            got.append(str(error))

    thread = threading.Thread(target=waits)
    thread.start()
    began.wait()
    rt.close()
    held.release()  # which is over
    thread.join()
    assert a[0] == 1 and got[0] in ("ran", "the runtime has been closed")


def test_a_runtime_cannot_be_closed_within_its_own_call(runtime):
    said = []

    class Closes:
        def __del__(self):
            try:
                runtime.close()
            except heddle.Error as error:
                said.append(error)

    group = runtime.group()
    x, things = runtime.data(np.zeros(1)), [Closes()]
    with x.acquire():
        runtime.submit(lambda v, things: None, readwrite(x), things, group=group)
        things = None
        group.cancel()
    with pytest.raises(heddle.Error):
        group.wait()  # forgets the arguments
    assert "in a call of the runtime" in str(said[0]) and said[0].status is heddle.Status.STATE
    runtime.submit(None).wait()


def test_the_interpreter_ends_while_threads_submit():
    out, err = in_a_process("""
import threading, sys
import numpy as np
import heddle
threading.excepthook = lambda hook: sys.stdout.write(f"{hook.exc_value}\\n")
rt = heddle.Runtime(n_cpu=2)
x, begun = rt.data(np.zeros(4)), threading.Semaphore(0)


def submits():
    for i in range(10 ** 9):
        rt.submit(lambda v: np.add(v, 1, out=v), heddle.readwrite(x))
        if i == 10:
            begun.release()


def starts():
    begun.release()
    while True:
        with heddle.Runtime(n_cpu=1) as one:
            one.submit(lambda: None)


for run in (submits, submits, starts):
    threading.Thread(target=run, daemon=True).start()
    begun.acquire()
""")
    assert not err and set(out.splitlines()) <= {
        "the runtime has been closed", "no runtime starts any more: the interpreter is ending"}


def test_a_child_may_close_what_another_thread_was_in():
    out, _ = in_a_process("""
import os, threading
import numpy as np
import heddle
rt = heddle.Runtime(n_cpu=1)
locked, go = threading.Event(), threading.Event()


def inside():
    with rt._inside():
        locked.set()
        go.wait()


other = threading.Thread(target=inside)
other.start()
locked.wait()
child = os.fork()
if child == 0:
    try:
        rt.close()
    except heddle.Error as error:
        os._exit(0 if error.status is heddle.Status.STATE else 1)
    os._exit(2)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
go.set()
other.join()
""")
    assert out == "0\n"


@pytest.mark.parametrize("how", ["unregister", "end", "join"])
def test_a_datum_ends_after_the_submissions_that_are_under_way(runtime, monkeypatch, how):
    there, go, ran, real = threading.Event(), threading.Event(), [], heddle.task.Items.submit

    def submit(items, pointer):
        if threading.current_thread() is other:
            there.set()
            go.wait()
        return real(items, pointer)

    monkeypatch.setattr(heddle.task.Items, "submit", submit)
    x = runtime.data(np.zeros(4))
    pieces = [x] if how == "unregister" else x.plan(2) if how == "end" else x.split(2)
    used = pieces[0]
    other = threading.Thread(target=lambda: runtime.submit(lambda v: ran.append(1), readwrite(used)))
    ends = threading.Thread(target=getattr(x if how == "unregister" else pieces, how))
    other.start()
    there.wait()
    ends.start()
    refused = False
    while not refused:
        try:
            runtime.submit(lambda v: None, read(used)).wait()
        except heddle.Error as error:
            refused = error.status is heddle.Status.STATE
    assert ends.is_alive()  # because the submission is under way
    go.set()
    other.join()
    ends.join()
    runtime.wait()
    assert ran == [1]


@pytest.mark.parametrize("how", ["plan", "split"])
def test_pieces_end_once_and_before_their_datum(runtime, monkeypatch, how):
    there, go, calls = threading.Event(), threading.Event(), []

    class Held:
        def __getattr__(self, name):
            real = getattr(heddle.lib, name)
            if name not in ("heddle_plan_destroy", "heddle_unpartition"):
                return real

            def held(handle):
                calls.append(name)
                there.set()
                go.wait()
                return real(handle)
            return held

    x = runtime.data(np.zeros(4))
    pieces = x.plan(2) if how == "plan" else x.split(2)
    end = pieces.end if how == "plan" else pieces.join
    monkeypatch.setattr(heddle.data, "lib", Held())
    first = threading.Thread(target=end)
    first.start()
    there.wait()
    end()  # another thread is about to
    ends = threading.Thread(target=x.unregister)
    ends.start()
    refused = False
    while not refused:
        try:
            x.prefetch(0)
        except heddle.Error as error:
            refused = error.status is heddle.Status.STATE
    assert ends.is_alive()  # because the pieces are about to end
    go.set()
    first.join()
    ends.join()
    assert len(calls) == 1
    with pytest.raises(heddle.Error, match="has been unregistered"):
        x.acquire()


def test_a_datum_does_not_end_within_a_submission(runtime):
    x, said = runtime.data(np.zeros(1)), []
    with runtime._uses.mine(), pytest.raises(heddle.Error, match="while its thread submits"):
        x.unregister()  # as a finaliser would
    runtime.submit(lambda v: said.append(1), readwrite(x)).wait()
    x.unregister()
    assert said == [1]


class Interrupted:
    """The library, where a signal comes right after one function has returned."""

    def __init__(self, function):
        self.function = function

    def __getattr__(self, name):
        real = getattr(heddle.lib, name)
        if name != self.function:
            return real

        def call(*arguments):
            real(*arguments)
            self.function = None
            raise KeyboardInterrupt
        return call


def test_a_signal_right_after_a_call_loses_nothing(monkeypatch):
    a, ran = np.zeros(2), []

    def interrupted(module, function, call):
        monkeypatch.setattr(module, "lib", Interrupted(function))
        with pytest.raises(KeyboardInterrupt):
            call()

    interrupted(heddle.runtime, "heddle_start", lambda: heddle.Runtime(n_cpu=1))
    assert not heddle.runtime._running
    rt = heddle.Runtime(n_cpu=1)
    x = rt.data(a)
    interrupted(heddle.task, "heddle_submit_items", lambda: rt.submit(lambda v: ran.append(1), readwrite(x)))
    rt.wait()
    assert ran == [1]
    interrupted(heddle.data, "heddle_acquire", x.acquire)
    interrupted(heddle.data, "heddle_unregister", x.unregister)
    x.unregister()
    rt.data(a)
    interrupted(heddle.runtime, "heddle_stop", rt.close)
    assert not heddle.runtime._running
    rt.close()
    with pytest.raises(heddle.Error, match="has been closed"):
        rt.wait()


def test_an_acquired_array_outlives_its_datum():
    n = 10_000_000  # a block that is given back to the system at once
    out, _ = in_a_process(f"""
import numpy as np
import heddle
rt = heddle.Runtime(n_cpu=1)
t = rt.data(shape={n})
rt.submit(lambda v: v.fill(3), heddle.write(t))
with t.acquire("r") as v:
    part = v[5:]
t.unregister()
print(v.sum(), part[-1])
u = rt.data(shape={n})
with u.acquire("w") as w:
    w.fill(4)
rt.close()
print(w.sum())
""")
    assert out == f"{3.0 * n} 3.0\n{4.0 * n}\n"


@pytest.mark.parametrize("shape", [5, (3, 4), ()])
def test_what_is_written_into_a_temporary_is_there(runtime, shape):
    t, seen = runtime.data(shape=shape), []
    with t.acquire("w") as v:
        v[...] = 2
    with t.acquire("rw") as v:
        v += 1
    runtime.submit(lambda v: seen.append(v.copy()), read(t)).wait()
    assert (seen[0] == 3).all() and seen[0].shape == v.shape
    with pytest.raises(ValueError, match="read-only"):
        v += 1  # nobody would see that
    with t.acquire("r") as v, pytest.raises(ValueError, match="read-only"):
        v += 1


@pytest.mark.parametrize("fails", [False, True])
def test_an_array_that_a_kernel_keeps_outlives_its_memory(fails):
    out, _ = in_a_process(f"""
import numpy as np
import heddle
kept, n = [], 10_000_000
with heddle.Runtime(n_cpu=1) as rt:
    t = rt.data(shape=n)

    def keeps(v):
        v.fill(7)
        kept.append(v)
        if {fails}:
            raise KeyError

    for access in (heddle.write, heddle.scratch):
        try:
            rt.submit(keeps, access(t)).wait()
        except (heddle.Error, KeyError) as error:
            print(type(error).__name__)
    for end in (rt.wait, t.unregister):
        try:
            end()
        except (heddle.Error, KeyError):
            pass
print([float(v.sum()) for v in kept])
""")
    assert out == 2 * ("KeyError\n" if fails else "Error\n") + "[70000000.0, 70000000.0]\n"


def test_the_traceback_of_a_kernel_has_no_array_of_its_memory(runtime):
    def fails(v):
        raise KeyError

    with pytest.raises(KeyError) as caught:
        runtime.submit(fails, write(runtime.data(shape=3))).wait()
    frame = caught.tb
    while frame.tb_next:
        frame = frame.tb_next
    assert frame.tb_frame.f_code.co_name == "fails" and "v" not in frame.tb_frame.f_locals
    with pytest.raises(KeyError):
        runtime.wait()


def test_a_platform_outlives_its_owner():
    out, _ = in_a_process("""
import heddle
with heddle.Runtime(n_cpu=1, trace=True) as rt:
    rt.submit(None)
    rt.wait()
    mine, there = rt.platform, rt.take_trace().platform
    mine.add_emulated()
    print(len(rt.platform.workers), len(mine.workers))
seen = []


class Looks(heddle.Policy):
    def setup(self):
        seen.append(self.platform)
        self.tasks = []

    def ready(self, tasks, releaser):
        self.tasks += tasks

    def pick(self, worker):
        return self.tasks.pop() if self.tasks else None


s = heddle.simulate(heddle.cholesky(1), "intel-v100", policy=Looks)
del s
for p in (mine, there, seen[0]):
    p.add_emulated()
    print(p.time("dpotrf", 0, flops=1e9) > 0, len(p.links) > 0)
""")
    assert out == "1 2\nFalse True\nFalse True\nTrue True\n"
