"""Arrays as data: registered in place, seen in place, split."""
import gc
import signal

import numpy as np
import pytest
from conftest import CORES

import heddle
from heddle import read, readwrite, write
from heddle._spans import Spans, _Region


class Owner:
    """Something that has an array."""


def pointer(a):
    return a.__array_interface__["data"][0]


LAYOUTS = {
    "scalar": lambda: np.array(3.0),
    "line": lambda: np.arange(7.0),
    "rows": lambda: np.arange(12.0).reshape(3, 4),
    "columns": lambda: np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "window of rows": lambda: np.arange(48.0).reshape(6, 8)[1:4, 2:6],
    "window of columns": lambda: np.asfortranarray(np.arange(48.0).reshape(6, 8))[1:4, 2:6],
    "every second row": lambda: np.arange(48.0).reshape(6, 8)[::2],
    "one row": lambda: np.arange(48.0).reshape(6, 8)[2:3, :5],
    "one column": lambda: np.arange(6.0).reshape(6, 1),
    "three axes": lambda: np.arange(24.0).reshape(2, 3, 4),
    "four axes, other order": lambda: np.arange(120.0).reshape(2, 3, 4, 5).transpose(0, 2, 1, 3),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "c8", "i8", "i4", "i2", "u1", "?"])
def test_an_array_of_any_layout_is_seen_in_place(runtime, layout, dtype):
    made = LAYOUTS[layout]()
    whole = np.zeros_like(made.base if made.base is not None else made, dtype=dtype)
    a = np.lib.stride_tricks.as_strided(whole, made.shape, [s // 8 * whole.itemsize for s in made.strides])
    seen = []
    x = runtime.data(a)
    runtime.submit(lambda v: seen.append((pointer(v), v.strides, v.shape, v.dtype)), readwrite(x)).wait()
    with x.acquire() as held:
        assert held is a
        seen.append((pointer(held), held.strides, held.shape, held.dtype))
    assert seen == [(pointer(a), a.strides, a.shape, a.dtype)] * 2


@pytest.mark.parametrize("layout", LAYOUTS)
def test_values_go_to_an_accelerator_and_back_in_any_layout(layout):
    a = LAYOUTS[layout]()
    before = a.copy()
    outside = a.base.copy() if a.base is not None and a.base.size > a.size else None
    with heddle.Runtime(n_cpu=1, n_emulated=1) as rt:
        x, there = rt.data(a), len(rt.platform.workers) - 1
        where = []

        def double(v):
            where.append(pointer(v))
            v *= 2

        rt.submit(double, readwrite(x), worker=there)
    np.testing.assert_array_equal(a, 2 * before)
    assert where[0] != pointer(a)
    if outside is not None:  # elements around the window stay as they are
        a[...] = before
        np.testing.assert_array_equal(a.base, outside)


@pytest.mark.parametrize("a, reason", [
    (np.arange(6.0)[::-1], "backwards"),
    (np.arange(12.0).reshape(3, 4)[:, ::-1], "axis 1 runs backwards"),
    (np.arange(12.0)[::2], "side by side"),
    (np.broadcast_to(np.arange(3.0), (4, 3)), "axis 0 are one element"),
    (np.array([object()]), "Python objects"),
    (np.zeros((1, 1, 1, 1, 1)), "at most 4"),
    (np.lib.stride_tricks.as_strided(np.zeros(9), (3, 3), (16, 8)), "overlap"),
    (np.zeros(3, "V0"), "its elements have no bytes"),
], ids=["backwards", "rows backwards", "gaps", "broadcast", "objects", "five axes", "overlap", "no bytes"])
def test_an_array_that_cannot_be_registered_is_refused(runtime, a, reason):
    with pytest.raises(heddle.Error, match=reason) as caught:
        runtime.data(a)
    assert caught.value.status is heddle.Status.INVALID


def test_an_array_is_registered_once(runtime):
    a = np.arange(8.0)
    x = runtime.data(a, name="x")
    with pytest.raises(heddle.Error, match="registered as <heddle.Data x"):
        runtime.data(a[:3])
    x.unregister()
    runtime.data(a[:4])
    runtime.data(a[4:])


def test_arrays_that_share_elements_are_one_datum(runtime):
    a = np.zeros((6, 8))
    x, column = runtime.data(a[1:4, 2:6], name="x"), np.zeros(20)
    for part in (a, a[1:3, 3:4], a[3:, :3], a[2], a[2, 5:], a.ravel()[10:20], a.view("f4")[1:2, 11:13], a.T[5:, :2]):
        with pytest.raises(heddle.Error) as caught:
            runtime.data(part, name="y")
        assert "the memory of y, " in caught.value.message and "registered as <heddle.Data x: " in caught.value.message
        assert "split, plan" in caught.value.message and caught.value.status is heddle.Status.INVALID
    around = [a[:, :2], a[:, 6:], a[0, 2:6], a[4:, 2:6], column[::2][:0], column[3:3], column[:10], column[10:]]
    data = [runtime.data(part) for part in around]
    with pytest.raises(heddle.Error, match="an array, float64"):
        runtime.data(column[9:11])
    for each in [x, *data]:
        each.unregister()
    runtime.data(a)
    runtime.data(column)


def test_windows_and_whether_they_share_elements():
    """Beside what numpy.shares_memory says, for whatever is registered and unregistered."""
    rng, base = np.random.default_rng(3), np.zeros((3, 8, 12))
    found, refused = Spans(), 0
    held = []
    for _ in range(3000):
        low = rng.integers(0, base.shape)
        window = base[tuple(slice(i, i + rng.integers(1, 4)) for i in low)]
        if rng.random() < 0.3:
            window = base[low[0], low[1], low[2]:low[2] + 5]
        elif rng.random() < 0.2:
            window = base.reshape(-1)[low[2]:low[2] + 30]
        shared = [owner for owner, each in held if np.shares_memory(each, window)]
        owner = found.find(window)
        assert (owner in shared) if shared else owner is None
        refused += bool(shared)
        if not shared:
            held.append((Owner(), window))
            found.add(window, held[-1][0])
        if len(held) > 20 or rng.random() < 0.3:
            owner, window = held.pop(rng.integers(len(held)))
            found.drop(window, owner)
    assert 300 < refused < 2700


@pytest.mark.parametrize("pieces", ["arrays", "rows", "columns"])
def test_many_arrays_are_registered_in_one_go(pieces):
    n = 10_000
    whole = np.zeros((n, 3) if pieces == "rows" else (3, n))
    arrays = {"arrays": lambda i: np.zeros(2), "rows": lambda i: whole[i], "columns": lambda i: whole[:, i:i + 1]}
    with heddle.Runtime(n_cpu=1) as rt:
        data = [rt.data(arrays[pieces](i)) for i in range(n)]
        with pytest.raises(heddle.Error, match="is registered as"):
            rt.data(data[n // 2].array)
        for each in data:
            each.unregister()
        rt.data(whole)


def test_a_list_is_no_array(runtime):
    with pytest.raises(TypeError, match="numpy arrays, not list"):
        runtime.data([1, 2, 3])


def test_an_array_that_cannot_be_written_can_be_read(runtime):
    a = np.arange(3.0)
    a.flags.writeable = False
    x, total = runtime.data(a), runtime.data(np.zeros(1))
    with pytest.raises(heddle.Error, match="can only read"):
        runtime.submit(lambda v: None, readwrite(x))
    runtime.submit(lambda v, out: out.fill(v.sum()), read(x), write(total))
    with total.acquire("r") as t:
        assert t[0] == 3


def test_two_arrays_that_cannot_be_written_may_share_elements(runtime):
    base = np.arange(6.0)
    a, b = base[:4], base[2:]
    a.flags.writeable = b.flags.writeable = False
    x, y, total = runtime.data(a), runtime.data(b), runtime.data(np.zeros(1))
    runtime.submit(lambda v, w, out: out.fill(v.sum() + w.sum()), read(x), read(y), write(total))
    with total.acquire("r") as t:
        assert t[0] == 6 + 14
    with pytest.raises(heddle.Error, match="registered as"):
        runtime.data(base)
    y.unregister()
    with pytest.raises(heddle.Error, match="registered as"):
        runtime.data(base[3:])
    x.unregister()
    runtime.data(base)


@pytest.mark.parametrize("what", ["add", "drop"])
def test_a_signal_while_an_array_is_registered_or_ends(runtime, monkeypatch, what):
    """Its handler comes halfway, and uses the same lists."""
    real, arrays, heard = getattr(_Region, what), [np.zeros(3) for _ in range(5)], []
    data = [runtime.data(each) for each in arrays[:3]]

    def on_signal(*_):
        data[0].unregister()
        with pytest.raises(heddle.Error, match="a handler of a signal") as caught:
            runtime.data(arrays[4])
        heard.append(caught.value.status)

    def halfway(*arguments):
        if not heard:
            signal.raise_signal(signal.SIGUSR1)
        real(*arguments)

    monkeypatch.setattr(_Region, what, halfway)
    before = signal.signal(signal.SIGUSR1, on_signal)
    try:
        if what == "add":
            data.append(runtime.data(arrays[3]))
        else:
            data[2].unregister()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert heard == [heddle.Status.STATE]
    for each in data[1:]:
        each.unregister()
    for each in arrays:
        runtime.data(each)
        with pytest.raises(heddle.Error, match="registered as"):
            runtime.data(each)


def test_what_is_read_cannot_be_written(runtime):
    x = runtime.data(np.zeros(3))
    runtime.submit(lambda v: v.fill(1), read(x))
    with pytest.raises(ValueError, match="read-only"):
        runtime.wait()
    with x.acquire("r") as v, pytest.raises(ValueError, match="read-only"):
        v[0] = 1


def test_an_array_lives_as_long_as_its_runtime_needs_it():
    with heddle.Runtime(n_cpu=1) as rt:
        x = rt.data(np.full(1000, 1.0))
        gc.collect()
        rt.submit(lambda v: np.add(v, 1, out=v), readwrite(x))
        with x.acquire("r") as v:
            assert v.sum() == 2000


def test_a_temporary_has_no_array(runtime):
    t, out = runtime.data(shape=(3, 4), dtype="f4", name="t"), np.zeros((3, 4))

    def fill(v):
        assert v.shape == (3, 4) and v.dtype == np.float32 and v.flags.c_contiguous
        v[...] = np.arange(12).reshape(3, 4)

    runtime.submit(fill, write(t))
    runtime.submit(lambda v, o: np.copyto(o, v), read(t), write(runtime.data(out)))
    with t.acquire("r") as v:
        assert v[2, 3] == 11
    runtime.wait()
    assert t.array is None and out[2, 3] == 11


def test_unregister_gives_the_value_back(runtime):
    a = np.zeros(2)
    with runtime.data(a) as x:
        runtime.submit(lambda v: v.fill(5), write(x))
    assert a.tolist() == [5, 5]


@pytest.mark.parametrize("order", "CF")
def test_tiles_are_windows_of_the_array(runtime, order):
    a = np.zeros((7, 9), order=order)
    x = runtime.data(a)
    with x.split((2, 3)) as tiles:
        assert tiles.grid == (2, 3) and len(tiles) == 6
        assert [t.shape for t in tiles] == [(4, 3)] * 3 + [(3, 3)] * 3
        for i in range(2):
            for j in range(3):
                runtime.submit(lambda v, k: v.fill(k), write(tiles[i, j]), 10 * i + j)
        with tiles[1, 2].acquire() as t:
            assert pointer(t) == pointer(a[4:, 6:]) and t.strides == a.strides
        with pytest.raises(IndexError):
            tiles[2, 0]
    runtime.submit(lambda v: np.add(v, 100, out=v), readwrite(x))
    runtime.wait()
    expected = np.kron([[0, 1, 2], [10, 11, 12]], np.ones((4, 3)))[:7] + 100
    np.testing.assert_array_equal(a, expected)


def test_pieces_by_size_and_with_a_halo(runtime):
    a = np.arange(10.0)
    x = runtime.data(a)
    with x.split(size=4) as p:
        assert [len(d.array) for d in p] == [4, 4, 2]
    with x.split(3, halo=1) as p:
        assert [d.array.tolist() for d in p] == [[0, 1, 2, 3, 4], [3, 4, 5, 6, 7], [6, 7, 8, 9]]
        with pytest.raises(heddle.Error, match="read"):
            runtime.submit(lambda v: None, readwrite(p[0]))
    with x.windows([np.s_[0:2], np.s_[5:]]) as p:
        assert [d.array.tolist() for d in p] == [[0, 1], [5, 6, 7, 8, 9]]
    for wrong in ({"pieces": 11}, {"size": 0}, {}, {"pieces": 2, "size": 5}, {"pieces": (2, 2)}):
        with pytest.raises(heddle.Error, match="split"):
            x.split(**wrong)


def test_tiles_have_halos_along_all_axes(runtime):
    a = np.arange(42.0).reshape(6, 7)
    x = runtime.data(a)
    spans = {(0, 0): np.s_[:4, :5], (1, 0): np.s_[2:, :5], (0, 1): np.s_[:4, 3:], (1, 1): np.s_[2:, 3:]}
    for halo in (1, (1, 1)):
        with x.split((2, 2), halo=halo) as p:
            for place, span in spans.items():
                np.testing.assert_array_equal(p[place].array, a[span])
    with x.split((2, 2), halo=(0, 1)) as p:
        assert [t.shape for t in p] == [(3, 5), (3, 4), (3, 5), (3, 4)]
    with x.split((2, 2), halo=(1,)) as p:
        assert [t.shape for t in p] == [(4, 4), (4, 3), (4, 4), (4, 3)]


def test_three_axes_can_be_split(runtime):
    a = np.zeros((4, 4, 4))
    x = runtime.data(a)
    with x.split((2, 1, 2)) as p:
        runtime.submit(lambda v: v.fill(1), write(p[1, 0, 1]))
    runtime.wait()
    assert a.sum() == 16 and a[2:, :, 2:].sum() == 16


def test_a_sum_is_reduced():
    total = np.zeros(2)
    with heddle.Runtime(n_cpu=CORES, n_emulated=1) as rt:
        t = rt.data(total).reduction("sum")
        for i in range(50):
            rt.submit(lambda v, k: np.add(v, [k, 1], out=v), heddle.reduce(t), i)
    assert total.tolist() == [sum(range(50)), 50]


def test_a_reduction_may_be_the_programs_own():
    best = np.array([5.0])
    with heddle.Runtime(n_cpu=CORES) as rt:
        b = rt.data(best).reduction(lambda v: v.fill(-np.inf), lambda r, c: np.maximum(r, c, out=r))
        for i in range(20):
            rt.submit(lambda v, k: np.maximum(v, k, out=v), heddle.reduce(b), i)
        with pytest.raises(heddle.Error, match="sum, prod"):
            b.reduction("least")
    assert best[0] == 19


def test_commuting_tasks_do_not_lose_anything(runtime):
    a = np.zeros(1)
    x = runtime.data(a)
    for _ in range(100):
        runtime.submit(lambda v: np.add(v, 1, out=v), heddle.commute(x))
    runtime.wait()
    assert a[0] == 100


def test_scratch_is_an_array_of_the_datums_shape(runtime):
    x, shapes = runtime.data(np.zeros((2, 3))), []
    runtime.submit(lambda v: (v.fill(1), shapes.append(v.shape)), heddle.scratch(x)).wait()
    with x.acquire("r") as v:
        assert v.sum() == 0 and shapes == [(2, 3)]


def test_plans_and_the_whole_are_used_side_by_side(runtime):
    a = np.zeros((6, 6))
    x = runtime.data(a)
    tiles, rows = x.plan((2, 3)), x.plan(size=4)
    assert tiles.grid == (2, 3) and len(tiles) == 6 and tiles[1, 2].shape == (3, 2) and rows[1].shape == (2, 6)

    def add(v, what):
        v += what

    for i in range(2):
        for k in range(3):
            runtime.submit(add, readwrite(tiles[i, k]), 10 * i + k)
    runtime.submit(add, readwrite(x), 100)
    runtime.submit(add, readwrite(rows[1]), 1000)
    seen = []
    runtime.submit(lambda v: seen.append(v.copy()), read(tiles[1, 0]))
    inner = tiles[0, 0].plan((3, 1))
    runtime.submit(add, readwrite(inner[2]), 0.5)
    tiles.end()
    with x.plan(2, halo=1) as wide:
        with pytest.raises(heddle.Error):
            runtime.submit(add, readwrite(wide[0]), 1)
        runtime.submit(lambda v: seen.append(v.shape), read(wide[0]))
    expected = np.kron(np.array([[0, 1, 2], [10, 11, 12]]), np.ones((3, 2))) + 100
    expected[4:] += 1000
    expected[2, :2] += 0.5
    x.unregister()
    np.testing.assert_array_equal(a, expected)
    np.testing.assert_array_equal(seen[0], expected[3:, :2])
    assert seen[1] == (4, 6)


def test_what_a_plan_is_not_for_is_said(runtime):
    x = runtime.data(np.zeros(4))
    with pytest.raises(heddle.Error, match="plan: say either"):
        x.plan()
    with x.split(2), pytest.raises(heddle.Error, match="partitioned"):
        x.plan(2)


def test_what_has_ended_is_named(runtime):
    x = runtime.data(np.zeros(4), name="x")
    with x.split(2) as pieces:
        piece = pieces[0]
    with x.plan(2) as plan:
        planned = plan[1]
    for use in (lambda: runtime.submit(lambda v: None, heddle.read(piece)), piece.acquire, planned.acquire,
                lambda: runtime.submit(lambda v: None, heddle.read(planned))):
        with pytest.raises(heddle.Error, match="put together again: use <heddle.Data x"):
            use()
    of_plan = x.plan(2)
    inner = of_plan[0]
    x.unregister()
    x.unregister()  # which does nothing more
    for use in (x.acquire, lambda: x.split(2), lambda: x.set_name("y"), inner.acquire,
                lambda: runtime.submit(lambda v: None, heddle.read(x))):
        with pytest.raises(heddle.Error, match="x: .* has been unregistered"):
            use()
    of_plan.end()
    with runtime.data(np.zeros(1)) as y:
        y.unregister()


def test_plans_end_with_what_they_are_cut_from(runtime):
    for _ in range(20):  # whose memory is used again
        x = runtime.data(np.zeros(64))
        plan = x.plan(2)
        of_piece = plan[0].plan(2)
        of_that = of_piece[1].plan(2)
        plan.end()
        of_piece.end()
        with x.split(2) as halves, halves[0].plan(2) as of_half:
            halves.join()
        of_half.end()
        outer = x.plan(2)
        with outer[1].plan(2) as inner:
            x.unregister()
        for over in (of_that, inner, outer):
            over.end()


def test_pieces_that_cannot_be_joined_yet_can_be_later(runtime):
    x = runtime.data(np.zeros(8))
    halves = x.split(2)
    quarters = halves[0].split(2)
    with pytest.raises(heddle.Error, match="still partitioned"):
        halves.join()
    quarters.join()
    halves.join()
    x.unregister()


def test_data_of_a_runtime_that_has_been_closed_are_refused():
    with heddle.Runtime(n_cpu=1) as rt:
        x, pieces = rt.data(np.zeros(4)), rt.data(np.zeros(4)).plan(2)
    for use in (x.acquire, x.unregister, lambda: x.split(2), pieces[0].acquire, pieces.end):
        with pytest.raises(heddle.Error, match="has been closed"):
            use()


def test_a_datum_that_cannot_end_yet_is_still_there(runtime):
    a = np.zeros(4)
    x = runtime.data(a)
    with x.acquire():
        with pytest.raises(heddle.Error, match="is acquired"):
            x.unregister()
        with pytest.raises(heddle.Error, match="is registered"):
            runtime.data(a)
    x.unregister()
    runtime.data(a)


def test_memory_that_a_runtime_has_cannot_be_moved(runtime):
    whole = np.arange(12.0)
    window = whole[2:6]
    x = runtime.data(window)
    pieces = x.plan(2)
    assert pieces[0] is not None
    for a in (whole, window):
        with pytest.raises(ValueError, match="resize"):
            a.resize(1000, refcheck=False)
    x.unregister()
    del window
    whole.resize(1000, refcheck=False)
    with heddle.Runtime(n_cpu=1) as other:
        other.data(whole)
        with pytest.raises(ValueError, match="resize"):
            whole.resize(12, refcheck=False)
    whole.resize(12, refcheck=False)
    assert whole[3] == 3
