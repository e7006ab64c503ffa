"""heddle.fmm beside direct sums of numpy."""
import gc
import subprocess
import sys
import threading

import numpy as np
import pytest

import heddle
import heddle.fmm


def points(n, seed=1, dtype=np.float64):
    return np.random.default_rng(seed).random((n, 3)).astype(dtype)


def charges(n, seed=2, dtype=np.float64):
    return (np.random.default_rng(seed).random(n) - 0.3).astype(dtype)


def direct(sources, q, targets):
    d = targets[:, None, :].astype(float) - sources[None, :, :].astype(float)
    r2 = (d ** 2).sum(axis=2)
    inverse = np.divide(1, np.sqrt(r2), out=np.zeros_like(r2), where=r2 > 0)
    return inverse @ q, -np.einsum("ij,ijc->ic", inverse ** 3 * q, d), inverse @ abs(q), inverse ** 2 @ abs(q)


def check(found, sources, q, targets, digits):
    potential, gradient = found
    phi, slope, size, size_of_slope = direct(sources, q, targets)
    assert potential.dtype == sources.dtype and gradient.shape == (len(targets), 3)
    assert np.linalg.norm(potential - phi) < 10.0 ** -digits * np.linalg.norm(size)
    assert np.linalg.norm(gradient - slope) < 10.0 ** -digits * np.linalg.norm(size_of_slope)


@pytest.mark.parametrize("dtype, digits", [(np.float64, 3), (np.float64, 7), (np.float32, 4)])
@pytest.mark.parametrize("options", [{}, {"cells": 6, "task_us": 50}, {"mutual": True, "task_us": 50}])
def test_results_are_those_of_direct_sums(runtime, dtype, digits, options):
    y, q = points(2000, dtype=dtype), charges(2000, dtype=dtype)
    with heddle.fmm.FMM(runtime, y, digits=digits, **options) as fmm:
        check(fmm.evaluate(q), y, q, y, digits)
        again = fmm.potential(-2 * q)
        assert again.shape == (2000,) and again.dtype == dtype
        np.testing.assert_allclose(again, -2 * fmm.evaluate(q)[0], rtol=1e-3, atol=1e-3 * abs(again).max())
    check(heddle.fmm.evaluate(runtime, y, q, digits=digits, **options), y, q, y, digits)


def test_targets_of_their_own(runtime):
    y, q, x = points(1000), charges(1000), 2 * points(300, seed=5) - 0.5
    with heddle.fmm.FMM(runtime, y, x, cells=5) as fmm:
        check(fmm.evaluate(q), y, q, x, 6)
    none = np.empty((0, 3))
    assert (heddle.fmm.evaluate(runtime, none, [], targets=x)[0] == 0).all()
    assert heddle.fmm.evaluate(runtime, y, q, targets=none)[1].shape == (0, 3)


def test_a_periodic_cube(runtime):
    """Rock salt: Madelung's constant, wherever the cube begins."""
    y = np.stack(np.meshgrid(*3 * [np.arange(4.0)], indexing="ij"), axis=-1).reshape(-1, 3)
    q = 1 - 2 * (y.sum(axis=1) % 2)
    for move in (0, 100.3):
        potential, gradient = heddle.fmm.evaluate(runtime, y + move, q, periodic=4, digits=8)
        np.testing.assert_allclose(potential, -1.747564594633182 * q, rtol=1e-7)
        np.testing.assert_allclose(gradient, 0, atol=1e-6)
    with heddle.fmm.FMM(runtime, y, [[0.5, 0.5, 0.5]], periodic=4) as fmm:
        assert abs(fmm.potential(q)[0]) < 1e-6


def test_arrays_of_any_layout_and_type(runtime):
    y, q = points(500), charges(500)
    wanted, slope = heddle.fmm.evaluate(runtime, y, q)
    padded = np.zeros((500, 6))
    padded[:, ::2] = y
    for given in (np.asfortranarray(y), padded[:, ::2], y.tolist()):
        assert np.array_equal(heddle.fmm.evaluate(runtime, given, q)[0], wanted)
    assert np.array_equal(heddle.fmm.evaluate(runtime, y, np.repeat(q, 2)[::2])[1], slope)
    whole = np.arange(30).reshape(10, 3)
    found = heddle.fmm.evaluate(runtime, whole, np.ones(10, int))
    assert found[0].dtype == np.float64
    check(found, whole.astype(float), np.ones(10), whole.astype(float), 6)
    assert heddle.fmm.evaluate(runtime, y, q, dtype=np.float32)[0].dtype == np.float32


@pytest.mark.parametrize("wrong, error, says", [
    (lambda rt, y, q: heddle.fmm.FMM(rt, y[:, :2]), heddle.Error, "n x 3"),
    (lambda rt, y, q: heddle.fmm.FMM(rt, y.ravel()), heddle.Error, "n x 3"),
    (lambda rt, y, q: heddle.fmm.FMM(rt, y, y[0]), heddle.Error, "targets"),
    (lambda rt, y, q: heddle.fmm.FMM(rt, 1j * y), TypeError, "real"),
    (lambda rt, y, q: heddle.fmm.FMM(rt, "here"), TypeError, "points"),
    (lambda rt, y, q: heddle.fmm.FMM(rt, y, dtype=np.float16), TypeError, "float32"),
    (lambda rt, y, q: heddle.fmm.FMM(rt, np.where(y == y[7, 1], np.nan, y)), heddle.Error, "point 7 .* y"),
    (lambda rt, y, q: heddle.fmm.FMM(rt, y, y * np.inf), heddle.Error, "target 0"),
    (lambda rt, y, q: heddle.fmm.FMM(rt, y, digits=9), heddle.Error, "digits"),
    (lambda rt, y, q: heddle.fmm.FMM(rt, y, digits=0), heddle.Error, "digits"),
    (lambda rt, y, q: heddle.fmm.FMM(rt, y, digits=6, dtype=np.float32), heddle.Error, "digits"),
    (lambda rt, y, q: heddle.fmm.FMM(rt, y, digits=2.5), TypeError, "digits"),
    (lambda rt, y, q: heddle.fmm.FMM(rt, y, degree=-1), heddle.Error, "degree"),
    (lambda rt, y, q: heddle.fmm.FMM(rt, y, cells=0.5), heddle.Error, "cells"),
    (lambda rt, y, q: heddle.fmm.FMM(rt, y, task_us=float("nan")), heddle.Error, "task_us"),
    (lambda rt, y, q: heddle.fmm.FMM(rt, y, periodic=-1), heddle.Error, "periodic"),
    (lambda rt, y, q: heddle.fmm.FMM(rt, y, y, mutual=True), heddle.Error, "mutual"),
    (lambda rt, y, q: heddle.fmm.evaluate(rt, y, q[1:]), heddle.Error, "99.* 100 points"),
    (lambda rt, y, q: heddle.fmm.evaluate(rt, y, 1j * q), TypeError, "charges"),
    (lambda rt, y, q: heddle.fmm.evaluate(rt, y, np.where(q == q[3], np.nan, q)), heddle.Error, "charge 3 is NaN"),
    (lambda rt, y, q: heddle.fmm.evaluate(rt, y, 1e300 * q, dtype=np.float32), heddle.Error, "charge 0 is infinite"),
    (lambda rt, y, q: heddle.fmm.FMM(rt, y).simulate(), heddle.Error, r"evaluate\(\)"),
])
def test_what_is_wrong_is_named(runtime, wrong, error, says):
    with pytest.raises(error, match=says):
        wrong(runtime, points(100), charges(100))


def test_it_ends_with_the_runtime_or_before():
    y, q = points(100), charges(100)
    with heddle.Runtime(n_cpu=1) as rt:
        with heddle.fmm.FMM(rt, y) as first:
            first.evaluate(q)
        with pytest.raises(heddle.Error, match="closed"):
            first.evaluate(q)
        first.close()
        for _ in range(3):
            heddle.fmm.FMM(rt, y).evaluate(q)  # nobody keeps it
        gc.collect()
        with pytest.raises(TypeError):
            __import__("copy").copy(first)
        last = heddle.fmm.FMM(rt, y)
        assert len(last._context.live) == 1
    with pytest.raises(heddle.Error, match="closed"):
        last.evaluate(q)
    last.close()
    with pytest.raises(heddle.Error, match="closed"), heddle.fmm.FMM(rt, y):
        pass


def test_a_runtime_lives_as_long_as_its_plan():
    fmm = heddle.fmm.FMM(heddle.Runtime(n_cpu=1), points(100))
    gc.collect()
    assert fmm.potential(charges(100)).shape == (100,)
    fmm._runtime.close()


def test_kernels_cannot_use_it(runtime):
    errors = []

    def inside():
        try:
            fmm.evaluate(charges(100))
        except heddle.Error as error:
            errors.append(error.status)

    with heddle.fmm.FMM(runtime, points(100)) as fmm:
        runtime.submit(inside)
        runtime.wait()
    assert errors == [heddle.Status.STATE]


def test_threads_take_turns_at_one_and_work_beside_each_other_on_several(runtime):
    q, wrong = charges(1000), []
    several = [heddle.fmm.FMM(runtime, points(1000, seed), cells=5, task_us=50) for seed in range(2)]
    wanted = [fmm.potential(q) for fmm in several]

    def evaluate(i):
        for _ in range(5):
            if not np.array_equal(several[i % 2].potential(q), wanted[i % 2]):
                wrong.append(i)

    threads = [threading.Thread(target=evaluate, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_kernel_in_python_runs_while_an_evaluation_waits():
    """Its task has begun before, and ends only after a thread of Python has run: the GIL is free in the call."""
    begun, ended = threading.Event(), []
    with heddle.Runtime(n_cpu=1) as rt, heddle.fmm.FMM(rt, points(100)) as fmm:
        rt.submit(lambda: (begun.set(), ended.append(1)))
        fmm.evaluate(charges(100))  # the only worker runs the kernel first, which needs the GIL
        assert begun.is_set() and ended
        rt.wait()


def test_in_virtual_time_there_is_time_and_no_result():
    with heddle.Runtime(platform="intel-v100") as rt, heddle.fmm.FMM(rt, points(5000)) as fmm:
        assert fmm.statistics["flops"] > 0 and fmm.statistics["sources"] == 5000
        before = rt.now()
        fmm.simulate()
        assert rt.now() > before
        for result in (fmm.evaluate, fmm.potential):
            with pytest.raises(heddle.Error, match="virtual time"):
                result(charges(5000))


def test_it_is_loaded_only_when_asked_for():
    program = "import sys, heddle; assert 'heddle.fmm' not in sys.modules\nimport heddle.fmm"
    subprocess.run([sys.executable, "-c", program], check=True)
