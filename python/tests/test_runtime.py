"""Python functions and compiled ones as kernels; errors; settings."""
import contextlib
import ctypes
import functools
import gc
import os
import signal
import threading
import traceback

import numpy as np
import pytest
from conftest import CORES

import heddle
from heddle import read, readwrite, write


def test_tasks_run_in_the_order_that_their_data_need(runtime):
    a, b = np.arange(4.0), np.zeros(4)
    x, y = runtime.data(a), runtime.data(b)

    @heddle.kernel("x:r", "y:rw")
    def axpy(x, y, alpha):
        y += alpha * x

    for i in range(200):
        runtime.submit(axpy, x, y, 1.0)
        if i % 10 == 0:
            runtime.submit(lambda v: np.multiply(v, 1, out=v), readwrite(x))
    runtime.wait()
    np.testing.assert_array_equal(b, 200 * a)
    assert axpy.modes == (heddle.Mode.R, heddle.Mode.RW)
    axpy(a, b, 1.0)  # a plain call
    assert b[1] == 201


def test_any_python_object_can_be_a_value(runtime):
    got, thing = [], object()
    runtime.submit(lambda *values: got.append(values), thing, "text", None, 3).wait()
    assert got == [(thing, "text", None, 3)]


def test_functions_of_one_code_are_one_kernel(runtime):
    got = []
    for i in range(100):
        runtime.submit(lambda: got.append(i))
        runtime.submit(functools.partial(got.append, i))
        runtime.submit(got.append, i)
        runtime.wait()
    assert got == [i for i in range(100) for _ in range(3)] and len(runtime._codelets) == 3


def test_a_kernel_may_submit(runtime):
    a = np.zeros(10)
    x = runtime.data(a)

    def step(v, i):
        v[i] = i + 1
        if i < 9:
            runtime.submit(step, readwrite(x), i + 1)

    runtime.submit(step, readwrite(x), 0)
    runtime.wait()
    assert a.tolist() == list(range(1, 11))


def test_kernels_may_submit_while_the_runtime_closes():
    a = np.zeros(30)
    with heddle.Runtime(n_cpu=CORES) as rt:
        x = rt.data(a)

        def step(v, i):
            v[i] = 1
            if i < 29:
                rt.submit(step, readwrite(x), i + 1)

        rt.submit(step, readwrite(x), 0)
    assert a.sum() == 30


def test_a_child_process_has_nothing_to_close():
    with heddle.Runtime(n_cpu=1):
        child = os.fork()
        if child == 0:
            os._exit(len(heddle.runtime._running))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_accesses_must_agree_with_the_declaration(runtime):
    x = runtime.data(np.zeros(1))
    scale = heddle.kernel("v:rw")(lambda v: None)
    with pytest.raises(heddle.Error, match="uses 1 data, and was given 2"):
        runtime.submit(scale, x, x)
    with pytest.raises(heddle.Error, match="rw by its declaration, not r"):
        runtime.submit(scale, read(x))
    with pytest.raises(heddle.Error, match="does not say how it uses"):
        runtime.submit(lambda v: None, x)
    with pytest.raises(heddle.Error, match="order of the parameters"):
        heddle.kernel("y:r", "x:r")(lambda x, y: None)
    with pytest.raises(heddle.Error, match="no access mode"):
        heddle.kernel("x:readish")(lambda x: None)
    with pytest.raises(TypeError, match="rt.data"):
        read(np.zeros(3))


def test_what_submit_does_not_understand_is_said(runtime):
    with pytest.raises(TypeError, match="function or a heddle.Kernel, not str"):
        runtime.submit("no")
    with pytest.raises(TypeError):
        runtime.submit(lambda: None, priority="high")
    with pytest.raises(heddle.Error, match="no worker 70"):
        runtime.submit(lambda: None, worker=70)


def test_data_of_another_runtime_are_refused(runtime):
    with heddle.Runtime(n_cpu=1) as other:
        x = other.data(np.zeros(1))
        with pytest.raises(heddle.Error, match="another runtime"):
            runtime.submit(lambda v: None, read(x))


class Oops(Exception):
    """An exception that nobody else raises."""


def failing(v):
    raise Oops("at the seventh row")


def test_the_waiter_gets_the_original_exception(runtime):
    x = runtime.data(np.zeros(1))
    task = runtime.submit(failing, readwrite(x))
    with pytest.raises(Oops, match="seventh row") as caught:
        task.wait()
    assert "failing" in [f.name for f in traceback.extract_tb(caught.value.__traceback__)]
    with pytest.raises(Oops) as again:
        runtime.wait()
    assert again.value is caught.value
    runtime.wait()  # it was reported
    runtime.submit(lambda v: v.fill(1), write(x))
    runtime.wait()


def test_a_task_that_needs_a_failed_one_is_cancelled(runtime):
    x, ran = runtime.data(np.zeros(1)), []
    runtime.submit(failing, readwrite(x))
    after = runtime.submit(lambda v: ran.append(1), readwrite(x))
    with pytest.raises(heddle.Error) as caught:
        after.wait()
    assert caught.value.status is heddle.Status.CANCELLED and isinstance(caught.value.__cause__, Oops)
    with pytest.raises(Oops):
        runtime.wait()
    assert not ran
    assert not [c for c in heddle.runtime._calls.values() if c.runtime is runtime]  # nothing is kept for it
    with pytest.raises(heddle.Error), x.acquire("r"):
        pass
    with x.acquire("w") as v:
        v[0] = 2


def test_closing_raises_what_no_wait_has_raised():
    with pytest.raises(Oops), heddle.Runtime(n_cpu=1) as rt:
        rt.submit(failing, readwrite(rt.data(np.zeros(1))))


def test_closing_does_not_hide_the_programs_own_exception():
    with pytest.raises(KeyError, match="mine"), heddle.Runtime(n_cpu=1) as rt:
        rt.submit(failing, readwrite(rt.data(np.zeros(1))))
        raise KeyError("mine")


def test_a_group_raises_its_own_failures_alone(runtime):
    x, y = runtime.data(np.zeros(1)), runtime.data(np.zeros(1))
    with pytest.raises(Oops), runtime.group() as g:
        runtime.submit(failing, readwrite(x), group=g)
    with runtime.group() as g:
        runtime.submit(lambda v: v.fill(1), write(y), group=g)
    runtime.wait()


def test_the_exceptions_of_many_groups_are_raised_without_a_wait_for_all(runtime):
    def fail(v, k):
        raise Oops(k)

    x = runtime.data(np.zeros(1))
    runtime.submit(fail, write(x), -1)
    for k in range(70):  # more than a runtime remembers
        group = runtime.group()
        runtime.submit(fail, write(x), k, group=group)
        with pytest.raises(Oops) as caught:
            group.wait()
        assert caught.value.args == (k,)
    with pytest.raises(Oops) as caught:
        runtime.wait()
    assert caught.value.args == (-1,)


def test_of_several_exceptions_each_waiter_gets_its_own(runtime):
    def fail(v, k):
        raise Oops(k)

    tasks = [runtime.submit(fail, readwrite(runtime.data(np.zeros(1))), k) for k in range(20)]
    for k, task in enumerate(tasks):
        with pytest.raises(Oops) as caught:
            task.wait()
        assert caught.value.args == (k,)
    with pytest.raises(Oops):
        runtime.wait()


def test_an_exception_in_a_reduction_is_raised(runtime):
    def bad(result, copy):
        raise Oops("combine")

    t = runtime.data(np.zeros(1)).reduction(lambda v: v.fill(0), bad)
    runtime.submit(lambda v: None, heddle.reduce(t))
    with pytest.raises(Oops):
        runtime.wait()
    with t.acquire("w") as v:
        v[0] = 0


def test_tasks_wait_for_others_and_for_workers(runtime):
    order = []
    first = runtime.submit(lambda: order.append(1), worker=0)
    second = runtime.submit(lambda: order.append(2), after=first, worker=CORES - 1, priority=3, name="second")
    runtime.submit(None, after=[second]).wait()
    assert order == [1, 2] and first.done and second.done


def test_many_dropped_tasks_are_given_back():
    with heddle.Runtime(n_cpu=1) as rt:
        for _ in range(300):
            rt.submit(lambda: None)
            if _ % 100 == 0:
                gc.collect()
        rt.wait()
        rt.check()
        assert rt.stats()["tasks_executed"] == 300 and not rt._dropped


def test_threads_may_submit(runtime):
    a = np.zeros(1)
    x = runtime.data(a)

    def work():
        for _ in range(50):
            runtime.submit(lambda v: np.add(v, 1, out=v), readwrite(x))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    runtime.wait()
    assert a[0] == 200


def test_a_closed_runtime_says_so():
    with heddle.Runtime(n_cpu=1) as rt:
        task = rt.submit(lambda: None)
        task.wait()
    for call in (task.wait, rt.wait, lambda: rt.submit(None), lambda: rt.data(np.zeros(1))):
        with pytest.raises(heddle.Error, match="closed"):
            call()
    rt.close()


def test_settings_are_keywords(recwarn):
    with heddle.Runtime(n_cpu=1, policy="prio", seed=3, trace=True, window=100) as rt:
        assert rt.policy == "prio" and len(rt.platform.workers) == 1
        rt.submit(lambda: None, name="hello")
        rt.wait()
        trace = rt.take_trace()
        assert len(trace.tasks) == 1 and len(rt.record()) == 1
    with pytest.raises(heddle.Error, match="n_cpus|no setting"):
        heddle.Runtime(n_cpus=1)
    with pytest.raises(heddle.Error, match="window"):
        heddle.Runtime(window="many")
    with pytest.raises(heddle.Error, match="no policy 'mine'"):
        heddle.Runtime(policy="mine")


def test_a_recorded_program_can_be_simulated(runtime):
    with heddle.Runtime(n_cpu=1, trace=True) as rt:
        x = rt.data(np.zeros(10), name="x")
        for _ in range(3):
            rt.submit(heddle.kernel(name="step")(lambda v: None), readwrite(x))
        rt.wait()
        graph = rt.record()
    assert graph.types == ["step"] and len(graph) == 3 and graph.data_bytes.tolist() == [80]
    assert graph.edges().tolist() == [(0, 1), (1, 2)] and graph.data_names == {0: "x"}


AXPY = """
#include <heddle.h>
#include <stdint.h>

int axpy(heddle_context *c)
{
    const double *x = heddle_ptr(c, 0);
    double *y = heddle_ptr(c, 1);
    double alpha = heddle_get(c, 0, double);
    for (size_t i = 0; i < heddle_extent(c, 0, 0); i++)
        y[i] += alpha * x[i];
    return 0;
}

int refuse(heddle_context *c)
{
    return heddle_fail(c, 7, "no %s", "thanks");
}

/* Runs until somebody sets the flag: which a thread of Python cannot while this holds the GIL. */
int until_flag(heddle_context *c)
{
    volatile int64_t *flag = (volatile int64_t *)(uintptr_t)heddle_get(c, 0, int64_t);
    while (!*flag)
        ;
    return 0;
}
"""


@pytest.fixture
def native(compile_c):
    return compile_c(AXPY)


def test_compiled_kernels_of_a_library(runtime, native):
    a, b = np.arange(5.0), np.ones(5)
    axpy = heddle.load(native, "axpy", "r", "rw")
    runtime.submit(axpy, runtime.data(a), runtime.data(b), 2.0)
    runtime.wait()
    np.testing.assert_array_equal(b, 1 + 2 * a)
    with pytest.raises(TypeError, match="compiled"):
        axpy(a, b)
    with pytest.raises(heddle.Error, match="lacks the function nothing"):
        heddle.load(native, "nothing")
    with pytest.raises(heddle.Error, match="is not there"):
        heddle.load("/nowhere.so", "axpy")


def test_pointers_of_ctypes_and_addresses(runtime, native):
    b = np.ones(3)
    x, y = runtime.data(np.ones(3)), runtime.data(b)
    found = ctypes.CDLL(str(native)).axpy
    for pointer in (found, ctypes.cast(found, ctypes.c_void_p).value):
        runtime.submit(heddle.compiled(pointer, "axpy"), read(x), readwrite(y), np.float64(1))
    runtime.wait()
    assert b.tolist() == [3, 3, 3]
    with pytest.raises(heddle.Error, match="NULL"):
        heddle.compiled(0, "none")


def test_a_compiled_kernel_that_fails(runtime, native):
    with pytest.raises(heddle.Error, match="no thanks.*returned 7") as caught:
        runtime.submit(heddle.load(native, "refuse")).wait()
    assert caught.value.status is heddle.Status.KERNEL
    with pytest.raises(heddle.Error):
        runtime.wait()


def test_a_compiled_kernel_runs_without_the_gil(runtime, native):
    flag = np.zeros(1, np.int64)
    task = runtime.submit(heddle.load(native, "until_flag"), flag.ctypes.data)
    flag[0] = 1
    task.wait()


def test_the_watchdog_calls_the_program(native):
    flag, said = np.zeros(1, np.int64), []

    def on_hang(sentence):
        said.append(sentence)
        flag[0] = 1  # which ends what hangs

    with heddle.Runtime(n_cpu=1, watchdog=1, on_hang=on_hang) as rt:
        rt.submit(heddle.load(native, "until_flag"), flag.ctypes.data)
    assert "until_flag" in said[0]


def interrupt():
    """A kernel that does what Ctrl-C does."""
    os.kill(os.getpid(), signal.SIGINT)


@contextlib.contextmanager
def signal_in_a_wait(*acts):
    """Sends signals. For those that come while this thread waits in C the `acts` are called, with what a handler is
    given: one each, in this order. Without any: the first such signal does what Ctrl-C does."""
    left = list(acts or [signal.default_int_handler])
    looks = heddle.Runtime._watch_signals.__code__.co_consts  # the code that a thread which waits runs is among these
    heard = threading.Event()

    def on_signal(number, frame):
        if frame.f_code in looks and left:
            act = left.pop(0)
            if not left:
                heard.set()
            act(number, frame)

    def send():
        while not heard.wait(0.001):
            os.kill(os.getpid(), signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, on_signal)
    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield
    finally:
        heard.set()
        sender.join()
        signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize("what", ["runtime", "group", "task", "acquire", "unregister"])
def test_a_signal_ends_a_wait_and_the_tasks_go_on(runtime, native, what):
    flag, group, x = np.zeros(1, np.int64), runtime.group(), runtime.data(np.zeros(1))
    waits = {"runtime": runtime.wait, "group": group.wait, "acquire": x.acquire, "unregister": x.unregister}
    task = runtime.submit(heddle.load(native, "until_flag", "rw"), x, flag.ctypes.data, group=group)
    runtime.submit(lambda v: np.add(v, 1, out=v), readwrite(x))  # which has not begun when the wait ends
    with signal_in_a_wait(), pytest.raises(KeyboardInterrupt):
        waits.get(what, task.wait)()
    flag[0] = 1
    runtime.wait()
    task.wait()
    assert x.acquire("r").array[0] == 1


@pytest.mark.parametrize("what", ["acquire", "unregister"])
def test_a_signal_that_comes_as_the_wait_ends(runtime, native, what):
    flag, a = np.zeros(1, np.int64), np.zeros(1)
    x = runtime.data(a)
    task = runtime.submit(heddle.load(native, "until_flag", "rw"), x, flag.ctypes.data)
    runtime.submit(lambda v: np.add(v, 1, out=v), readwrite(x))

    def end_first(*_):
        flag[0] = 1
        while not (task.done and runtime.stats()["live_tasks"] <= 1):  # what waits for x ends, or has it
            pass
        raise KeyboardInterrupt

    with signal_in_a_wait(end_first), pytest.raises(KeyboardInterrupt):
        getattr(x, what)()
    x.unregister()  # nobody has it acquired, or it has ended
    runtime.data(a)
    assert a[0] == 1


def test_a_signal_that_is_handled_does_not_end_a_wait(runtime, native):
    flag = np.zeros(1, np.int64)
    runtime.submit(heddle.load(native, "until_flag"), flag.ctypes.data)
    with signal_in_a_wait(lambda *_: flag.fill(1)):
        runtime.wait()


def test_a_signal_is_raised_in_the_thread_that_has_waited(runtime, native):
    flag, raised, got = np.zeros(1, np.int64), threading.Event(), []
    x = runtime.data(np.zeros(1))

    def other():
        raised.wait()
        try:
            runtime.stats()
        except BaseException as error:
            got.append(error)
        flag[0] = 1

    runtime.submit(heddle.load(native, "until_flag", "rw"), x, flag.ctypes.data)
    thread = threading.Thread(target=other)
    thread.start()
    # The wait of close goes on after the first signal: when the second one comes, what that has raised is kept.
    with signal_in_a_wait(signal.default_int_handler, lambda *_: raised.set()), pytest.raises(KeyboardInterrupt):
        runtime.close()
    thread.join()
    assert [str(error) for error in got] == ["the runtime has been closed"]


def test_a_wait_that_finds_a_deadlock_leaves_the_tasks(runtime):
    ran, x = [], runtime.data(np.zeros(1))
    with x.acquire():
        runtime.submit(lambda v: ran.append(1), readwrite(x))
        with pytest.raises(heddle.Error) as caught:
            runtime.wait()
    assert caught.value.status is heddle.Status.DEADLOCK
    runtime.wait()
    assert ran == [1]


def test_a_wait_in_a_kernel_is_refused_and_leaves_the_tasks(runtime):
    ran, x = [], runtime.data(np.zeros(1))

    def waits(_):
        runtime.submit(lambda v: ran.append(1), readwrite(x))
        with pytest.raises(heddle.Error, match="blocks"):
            runtime.wait()

    runtime.submit(waits, readwrite(x))
    runtime.wait()
    assert ran == [1]


def test_data_that_are_held_at_the_end_are_released():
    a = np.zeros(1)
    with heddle.Runtime(n_cpu=1) as rt:
        x = rt.data(a)
        x.acquire()
        rt.submit(lambda v: np.add(v, 1, out=v), readwrite(x))
    assert a[0] == 1


def test_a_signal_at_the_end_of_a_block_that_an_error_leaves(native):
    flag = np.zeros(1, np.int64)

    def on_signal(*_):
        flag[0] = 1
        raise KeyboardInterrupt

    with signal_in_a_wait(on_signal), pytest.raises(KeyboardInterrupt) as caught:
        with heddle.Runtime(n_cpu=CORES) as rt:
            rt.submit(heddle.load(native, "until_flag"), flag.ctypes.data)
            raise ValueError
    assert isinstance(caught.value.__context__, ValueError)


def test_a_signal_while_a_runtime_is_closed_cancels_what_has_not_begun(native):
    flag, ran, a = np.zeros(1, np.int64), [], np.zeros(1)
    rt = heddle.Runtime(n_cpu=1)
    x = rt.data(a)
    rt.submit(heddle.load(native, "until_flag", "rw"), x, flag.ctypes.data)
    for _ in range(3):
        rt.submit(lambda v: ran.append(1), readwrite(x))
    # The first signal ends the wait for the three; the second one lets the kernel end, for which close still waits.
    with signal_in_a_wait(signal.default_int_handler, lambda *_: flag.fill(1)), pytest.raises(KeyboardInterrupt):
        rt.close()
    assert not ran and not heddle.runtime._calls
    rt.close()
    with pytest.raises(heddle.Error, match="has been closed"):
        rt.wait()


def test_a_signal_in_the_block_of_a_runtime_cancels_what_has_not_begun():
    ran = []
    with pytest.raises(KeyboardInterrupt):
        with heddle.Runtime(n_cpu=1) as rt:
            x = rt.data(np.zeros(1))
            x.acquire()  # until the runtime stops: so none can begin
            for _ in range(3):
                rt.submit(lambda v: ran.append(1), readwrite(x))
            interrupt()
            rt.wait()
    assert not ran and not heddle.runtime._calls


def test_a_simulation_can_be_interrupted():
    graph = heddle.cholesky(30)
    with signal_in_a_wait(), pytest.raises(KeyboardInterrupt):
        for _ in range(100):  # one simulation may be over before a signal comes
            heddle.simulate(graph, "intel-v100", policy="eager")


def test_groups_that_are_dropped_are_freed(runtime):
    group = runtime.group()
    task = runtime.submit(lambda: 1 / 0, group=group)
    while not task.done:
        pass
    del group, task
    gc.collect()
    assert len(runtime._dropped) == 1 + 1  # the group, and the task
    with pytest.raises(ZeroDivisionError):
        runtime.wait()  # of a group that nobody has waited for
    assert not runtime._dropped
    runtime.wait()


def test_a_group_can_be_cancelled(runtime, native):
    flag, ran, x = np.zeros(1, np.int64), [], runtime.data(np.zeros(1))
    group = runtime.group()
    runtime.submit(heddle.load(native, "until_flag", "rw"), x, flag.ctypes.data)
    for _ in range(3):
        runtime.submit(lambda v: ran.append(1), readwrite(x), group=group)
    assert group.cancel() == 3
    flag[0] = 1
    with pytest.raises(heddle.Error, match="its group was cancelled"):
        group.wait()
    assert not ran


def test_an_array_of_heddles_memory_is_not_kept(runtime):
    kept, x = [], runtime.data(shape=10)
    for keep in (lambda v: (v.fill(3), kept.append(v)), lambda v: (v.fill(3), kept.append(v[2:5].reshape(3, 1)))):
        runtime.submit(keep, write(x))
        with pytest.raises(heddle.Error, match="has kept an array, or a part of one.*array.copy"):
            runtime.wait()

    def circle(v):
        v.fill(4)
        several = [v]
        several.append(several)

    runtime.submit(circle, write(x))
    runtime.submit(lambda v: kept.append(v.copy()), read(x))
    runtime.wait()
    assert kept[-1].tolist() == [4] * 10


def test_an_array_that_is_no_datum_cannot_be_written(runtime):
    a, seen = np.zeros(3), []
    runtime.submit(lambda v: np.add(v, 1, out=v), a)
    with pytest.raises(ValueError, match="read-only"):
        runtime.wait()
    runtime.submit(lambda v, w: seen.append(float(v[0] + w[0])), a, np.ones(1))
    runtime.wait()
    assert seen == [1] and a.flags.writeable


def test_what_is_no_task_and_no_kernel_is_named(runtime):
    def generator(v):
        yield v

    async def coroutine(v):
        return v

    for function in (generator, coroutine):
        with pytest.raises(TypeError, match="runs nothing of it"):
            runtime.submit(function)
        with pytest.raises(TypeError, match="runs nothing of it"):
            heddle.kernel(function)
    for wrong in ({"after": 3}, {"after": [None]}, {"priority": "high"}, {"worker": 1.5}):
        with pytest.raises(TypeError, match=next(iter(wrong))):
            runtime.submit(lambda: None, **wrong)


def test_values_that_compiled_kernels_cannot_get_are_named(runtime, native):
    kernel = heddle.load(native, "until_flag")
    with pytest.raises(heddle.Error, match="does not fit an int64_t"):
        runtime.submit(kernel, 2**63)
    with pytest.raises(TypeError, match="numbers, numpy arrays.*not dict"):
        runtime.submit(kernel, {})


def add_one(x):
    x += 1


def test_external_tasks_have_their_turn_and_end_by_their_event():
    with heddle.Runtime(n_cpu=1) as rt:
        x, events = np.zeros(1), []
        d = rt.data(x)
        rt.submit(add_one, readwrite(d))

        def begin(event):
            events.append((event, x[0]))

        task = rt.outside(begin, readwrite(d), name="outside")
        rt.submit(add_one, readwrite(d))
        while not events:
            os.sched_yield()
        assert events[0][1] == 1 and not task.done
        x[0] = 10
        events[0][0].fulfill()
        with pytest.raises(heddle.Error):
            events[0][0].fulfill()
        task.wait()
        rt.wait()
        d.unregister()
        assert x[0] == 11

        def fails(event):
            raise ValueError("no such file")

        rt.outside(fails)
        with pytest.raises(heddle.Error, match="no such file"):
            rt.wait()


def test_values_are_forgotten_and_copied_and_workers_paused():
    with heddle.Runtime(n_cpu=1) as rt:
        x, y = np.zeros(3), np.ones(3)
        a, b = rt.data(x), rt.data(y)
        rt.pause()
        rt.submit(add_one, readwrite(a))
        b.copy_from(a)
        rt.submit(add_one, heddle.unordered(readwrite(a)), after=rt.submit(None, read(b)))
        rt.resume()
        rt.wait()
        b.unregister()
        assert list(y) == [1, 1, 1]
        a.forget()
        rt.submit(add_one, readwrite(a))
        with pytest.raises(heddle.Error, match="forgotten"):
            rt.wait()
