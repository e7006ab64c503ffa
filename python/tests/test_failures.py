"""What becomes of exceptions and of the arguments of tasks: nothing is lost, nothing is kept longer than needed."""
import gc
import pickle
import threading
import weakref

import numpy as np
import pytest

import heddle
from heddle import readwrite, write


class Oops(Exception):
    """An exception that nobody else raises."""


class Thing:
    """An argument whose end can be seen."""


def fail(v, k):
    raise Oops(k)


def test_a_wait_that_reports_a_failure_leaves_what_others_submit(runtime, monkeypatch):
    """Another thread has the number of its call, and has not submitted it yet."""
    there, go, ran, real = threading.Event(), threading.Event(), [], heddle.task.Items.submit

    def submit(items, pointer):
        if threading.current_thread() is other:
            there.set()
            go.wait()
        return real(items, pointer)

    monkeypatch.setattr(heddle.task.Items, "submit", submit)
    other = threading.Thread(target=lambda: runtime.submit(lambda: ran.append(1)).wait())
    other.start()
    there.wait()
    runtime.submit(fail, readwrite(runtime.data(np.zeros(1))), 1)
    with pytest.raises(Oops):
        runtime.wait()
    go.set()
    other.join()
    runtime.wait()
    assert ran == [1]


def test_each_of_many_failures_is_raised(runtime):
    tasks = [runtime.submit(fail, readwrite(runtime.data(np.zeros(1))), k) for k in range(300)]
    for order in (reversed(range(300)), range(300)):
        for k in order:
            with pytest.raises(Oops) as caught:
                tasks[k].wait()
            assert caught.value.args == (k,)
    with pytest.raises(Oops):
        runtime.wait()


def test_the_first_failure_of_many_is_raised_by_each_wait(runtime):
    groups = [runtime.group() for _ in range(3)]
    for k in range(600):
        runtime.submit(fail, readwrite(runtime.data(np.zeros(1))), k, group=groups[k % 3] if k % 4 else None)
    for wait in (*(g.wait for g in groups), runtime.wait):
        with pytest.raises(Oops):
            wait()


class SlowWaits:
    """The library, whose wait for all tasks returns, in other threads than the main one, when `go` is set."""

    def __init__(self):
        self.returned, self.go = threading.Semaphore(0), threading.Event()

    def __getattr__(self, name):
        real = getattr(heddle.lib, name)
        if name != "heddle_wait_all" or threading.current_thread() is threading.main_thread():
            return real

        def wait(pointer):
            status, code = real(pointer), heddle.lib.heddle_last_code()
            self.returned.release()
            self.go.wait()
            assert heddle.lib.heddle_last_code() == code
            return status
        return wait


def test_waits_that_end_at_once_raise_what_each_was_told(runtime, monkeypatch):
    slow, got = SlowWaits(), []
    monkeypatch.setattr(heddle.runtime, "lib", slow)

    def waits(k):
        try:
            runtime.wait()
        except Oops as error:
            got.append((k, error.args[0]))

    def fails(k):
        task = runtime.submit(fail, write(runtime.data(np.zeros(1))), k)
        while not task.done:
            pass

    threads = []
    for k in range(2):
        fails(k)
        threads.append(threading.Thread(target=waits, args=(k,)))
        threads[-1].start()
        slow.returned.acquire()
    for k in range(2, 4):  # each of these takes what is noted
        fails(k)
        waits(k)
    gc.collect()
    slow.go.set()
    for t in threads:
        t.join()
    assert sorted(got) == [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_a_cancelled_task_says_which_of_many_exceptions_it_was(runtime):
    x = [runtime.data(np.zeros(1)) for _ in range(200)]
    tasks = [runtime.submit(fail, readwrite(d), k) for k, d in enumerate(x)]
    after = [runtime.submit(lambda v: None, readwrite(d)) for d in x]
    for k, task in enumerate(after):
        with pytest.raises(heddle.Error) as caught:
            task.wait()
        assert caught.value.__cause__.args == (k,)
    assert tasks
    with pytest.raises(Oops):
        runtime.wait()


class Mute(Exception):
    """An exception that cannot be printed."""

    def __str__(self):
        raise RuntimeError("no words")


def test_an_exception_that_cannot_be_printed_is_raised(runtime):
    def mute():
        raise Mute

    with pytest.raises(Mute):
        runtime.submit(mute).wait()
    with pytest.raises(Mute):
        runtime.wait()


@pytest.mark.parametrize("by", ["group", "failure"])
def test_a_cancelled_task_keeps_nothing(runtime, by):
    x, thing, group = runtime.data(np.zeros(1)), Thing(), runtime.group()
    gone = weakref.ref(thing)
    with x.acquire():
        if by == "failure":
            runtime.submit(fail, readwrite(x), 0, group=group)
        runtime.submit(lambda v, t: None, readwrite(x), thing, group=group)
        del thing
        if by == "group":
            assert group.cancel() == 1
    with pytest.raises((heddle.Error, Oops)):
        group.wait()
    gc.collect()
    assert gone() is None


def test_cancelled_tasks_that_nobody_waits_for_are_forgotten(runtime):
    x, group = runtime.data(np.zeros(1)), runtime.group()
    held = x.acquire()
    things = [Thing() for _ in range(1000)]
    gone = [weakref.ref(t) for t in things]
    while things:
        runtime.submit(lambda v, t: None, readwrite(x), things.pop(), group=group)
    group.cancel()
    held.release()
    runtime.wait()
    gc.collect()
    assert not any(g() for g in gone)
    with pytest.raises(heddle.Error):
        group.wait()


def test_an_exception_keeps_no_argument_of_the_kernel(runtime):
    def fails(_):
        del _
        raise Oops

    thing = Thing()
    gone = weakref.ref(thing)
    task = runtime.submit(fails, thing)
    with pytest.raises(Oops) as caught:
        task.wait()
    del thing
    gc.collect()
    assert gone() is None and caught.value
    with pytest.raises(Oops):
        runtime.wait()


def test_reductions_by_fresh_functions_use_the_same_kernels(runtime):
    for i in range(20):
        total = np.zeros(1)
        with runtime.data(total) as t:
            for by in (i, i + 1):  # the last ones count
                t.reduction(lambda v: v.fill(0), lambda r, c, by=by: np.add(r, by * c, out=r))
            for _ in range(3):
                runtime.submit(lambda v: v.fill(1), heddle.reduce(t))
        assert total[0] % (i + 1) == 0 and total[0] > 0
    assert len(runtime._kept) < 8 and len(runtime._codelets) < 5


def test_kernels_made_anew_use_the_same_codelet(runtime):
    for _ in range(20):
        runtime.submit(heddle.kernel(name="step")(lambda: None))
    assert len(runtime._codelets) == 1


def test_an_error_can_be_pickled():
    with pytest.raises(heddle.Error) as caught:
        heddle.Platform("nowhere")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.status, again.message, str(again)) == (caught.value.status, caught.value.message, str(caught.value))
    assert pickle.loads(pickle.dumps(heddle.Error(-77, "odd"))).status == -77


def test_a_kernel_that_has_written_a_datum_may_be_followed(runtime):
    x = runtime.data(np.zeros(1))
    runtime.submit(fail, write(x), 1)
    with pytest.raises(Oops):
        runtime.wait()
    runtime.submit(lambda v: v.fill(2), write(x))
    runtime.wait()
    with x.acquire("r") as v:
        assert v[0] == 2
