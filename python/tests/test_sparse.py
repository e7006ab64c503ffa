"""heddle.sparse beside numpy's dense functions."""
import gc
import subprocess
import sys
import threading

import numpy as np
import pytest

import heddle

scipy_sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed (Debian: apt-get install "
                                                          "python3-scipy)")
try:
    import heddle.sparse
except ImportError as missing:
    pytest.skip(str(missing), allow_module_level=True)

TYPES = (np.float64, np.float32, np.complex128, np.complex64)
FORMATS = ("csc", "csr", "coo", "lil", "dok", "bsr")


def matrix(rows, columns, dtype=np.float64, form="csc", seed=1):
    """A random matrix of full rank: identities beside and above one another, and random elements."""
    chance = np.random.default_rng(seed)
    a = scipy_sparse.random(rows, columns, 0.1, random_state=seed, format="coo").astype(dtype)
    if np.dtype(dtype).kind == "c":
        a.data = (a.data + 1j * chance.standard_normal(a.data.size)).astype(dtype)
    return (a + 2 * scipy_sparse.eye(rows, columns)).astype(dtype).asformat(form)


def vector(n, dtype=np.float64, columns=None, seed=2):
    chance, shape = np.random.default_rng(seed), n if columns is None else (n, columns)
    b = chance.standard_normal(shape)
    return (b + 1j * chance.standard_normal(shape) if np.dtype(dtype).kind == "c" else b).astype(dtype)


def near(x, wanted, dtype=np.float64):
    eps = np.finfo(np.dtype(dtype)).eps
    assert x.dtype == dtype and x.shape == wanted.shape
    assert np.linalg.norm(x - wanted) <= 1e4 * eps * max(1, np.linalg.norm(wanted))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(60, 40), (40, 60), (50, 50), (1, 1), (30, 1)])
@pytest.mark.parametrize("tile", [None, 8])
def test_solutions_are_those_of_lstsq(runtime, dtype, shape, tile):
    a, subtree = matrix(*shape, dtype), -1 if tile else None
    with heddle.sparse.QR(runtime, a, tile=tile, subtree=subtree) as qr:
        assert qr.factorise() is qr
        for b in (vector(shape[0], dtype), vector(shape[0], dtype, 3)):
            kept = b.copy()
            near(qr.solve(b), np.linalg.lstsq(a.toarray(), b, rcond=None)[0].astype(dtype), dtype)
            assert np.array_equal(b, kept)


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_and_new_values_at_the_same_places(runtime, form):
    a, b = matrix(40, 30, form=form), vector(40)
    values = np.arange(1, a.nnz + 1) / a.nnz + a.tocoo().data
    other = a.tocoo()
    other.data = values
    shuffled = np.random.default_rng(3).permutation(a.nnz)
    mixed = scipy_sparse.coo_matrix((values[shuffled], (other.row[shuffled], other.col[shuffled])), shape=a.shape)
    with heddle.sparse.QR(runtime, a) as qr:
        wanted = np.linalg.lstsq(other.toarray(), b, rcond=None)[0]
        for given in (values, other, other.tocsr(), mixed):
            near(qr.factorise().solve(b), np.linalg.lstsq(a.toarray(), b, rcond=None)[0])
            near(qr.factorise(given).solve(b), wanted)
        with pytest.raises(heddle.Error, match="other places"):
            qr.factorise(matrix(40, 30, seed=9))
        with pytest.raises(heddle.Error, match="elements"):
            qr.factorise(values[1:])


def test_triplets_are_added(runtime):
    rows, columns, values = [0, 1, 2, 0, 1], [0, 1, 0, 0, 1], [1, 2, 3, 4, 5]
    with heddle.sparse.QR(runtime, (rows, columns, values, (3, 2))) as qr:
        assert qr.dtype == np.float64 and qr.statistics["elements"] == 3
        b = [5.0, 14, 3]
        near(qr.factorise().solve(b), np.linalg.lstsq([[5.0, 0], [0, 7], [3, 0]], b, rcond=None)[0])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(60, 40), (40, 60)])
def test_q_times_r_is_the_matrix(runtime, dtype, shape):
    a = matrix(*shape, dtype)
    with heddle.sparse.QR(runtime, a, ordering="colamd") as qr:
        r, order, n = qr.factorise().r(), qr.order, min(shape)
        assert r.format == "csc" and r.shape == (n, n) and sorted(order) == list(range(n))
        assert not scipy_sparse.tril(r, -1).nnz
        dense = a.toarray() if shape[0] >= shape[1] else a.toarray().conj().T
        padded = np.zeros((max(shape), n), dtype)
        padded[:n] = r.toarray()
        near(qr.apply_q(padded, adjoint=False), dense[:, order].astype(dtype), dtype)
        near(qr.apply_q(dense[:, order]), padded, dtype)
        c = vector(max(shape), dtype)
        near(qr.apply_q(qr.apply_q(c), adjoint=False), c, dtype)


def test_options_say_how(runtime):
    a, b = matrix(40, 30), vector(40)
    wanted = np.linalg.lstsq(a.toarray(), b, rcond=None)[0]
    given = np.random.default_rng(4).permutation(30)
    for options in ({"ordering": "natural"}, {"ordering": given}, {"priority": "tree", "inner": 4, "tile": 8},
                    {"priority": "none", "relax": 1.0}, {"workers": 2, "subtree": 0.5},
                    {"subtree": -1, "tile": 4, "domain": 2}, {"subtree": -1, "tile": 16, "inner": 4, "strips": 8},
                    {"subtree": -1, "tile": 16, "inner": 4, "strips": (8, 4)}):
        with heddle.sparse.QR(runtime, a, **options) as qr:
            near(qr.factorise().solve(b), wanted)
    with heddle.sparse.QR(runtime, a, drop_q=True) as qr:
        near(abs(np.diag(qr.factorise().r().toarray())).prod() ** (1 / 30),
             np.exp(np.linalg.slogdet(a.toarray().T @ a.toarray())[1] / 60))
        with pytest.raises(heddle.Error, match="dropped"):
            qr.solve(b)


def test_options_reach_the_graph():
    """A tall front is eliminated by pairs in domains; tiles become strips: both change the tasks that are run."""
    rows, columns = np.divmod(np.arange(96 * 16), 16)
    a = scipy_sparse.csc_matrix((np.sin(1 + np.arange(96 * 16.0) ** 2), (rows, columns)), (96, 16))

    def tasks_of(**options):
        with heddle.Runtime(n_cpu=1, model_dir="none") as rt:
            with heddle.sparse.QR(rt, a, subtree=-1, tile=16, inner=4, **options) as qr:
                near(qr.factorise().solve(vector(96)), np.linalg.lstsq(a.toarray(), vector(96), rcond=None)[0])
                return rt.stats()

    flat, domains, strips = tasks_of(domain=6), tasks_of(domain=2), tasks_of(domain=6, strips=8)
    assert flat["tasks_expanded"] == domains["tasks_expanded"] == 0 < strips["tasks_expanded"]
    assert domains["tasks_submitted"] > flat["tasks_submitted"]  # a triangle for each domain


def test_columns_that_depend_on_others_are_named_and_left_out(runtime):
    a = matrix(40, 30).tolil()
    a[:, 7] = a[:, 3] + a[:, 5]
    with heddle.sparse.QR(runtime, a, ordering=range(30)) as qr:
        assert qr.factorise().deficient_columns.tolist() == [7]
        x = qr.solve(vector(40))
        assert x[7] == 0
        near(a.T @ (a @ x), a.T @ vector(40))
    with heddle.sparse.QR(runtime, matrix(40, 30)) as qr:
        assert qr.factorise().deficient_columns.size == 0
    runtime.wait()


@pytest.mark.parametrize("wrong, error, says", [
    (lambda rt, a: heddle.sparse.QR(rt, a.toarray()), TypeError, "scipy.sparse"),
    (lambda rt, a: heddle.sparse.QR(rt, ([0, 5], [0, 0], [1.0, 2], (2, 2))), heddle.Error, "rows"),
    (lambda rt, a: heddle.sparse.QR(rt, ([0, 1], [0, -1], [1.0, 2], (2, 2))), heddle.Error, "columns"),
    (lambda rt, a: heddle.sparse.QR(rt, ([0, 1], [0], [1.0, 2], (2, 2))), heddle.Error, "as many"),
    (lambda rt, a: heddle.sparse.QR(rt, ([0.5], [0], [1.0], (2, 2))), TypeError, "whole numbers"),
    (lambda rt, a: heddle.sparse.QR(rt, a, dtype="S3"), TypeError, "float64"),
    (lambda rt, a: heddle.sparse.QR(rt, a.astype(complex), dtype=float), heddle.Error, "complex"),
    (lambda rt, a: heddle.sparse.QR(rt, a, ordering="amd"), heddle.Error, "colamd"),
    (lambda rt, a: heddle.sparse.QR(rt, a, ordering=[0, 1]), heddle.Error, "ordering"),
    (lambda rt, a: heddle.sparse.QR(rt, a, ordering=[0] * 30), heddle.Error, "order"),
    (lambda rt, a: heddle.sparse.QR(rt, a, priority="high"), heddle.Error, "tree"),
    (lambda rt, a: heddle.sparse.QR(rt, a, relax=0.5), heddle.Error, "relax"),
    (lambda rt, a: heddle.sparse.QR(rt, a, tile=-1), heddle.Error, "tile"),
    (lambda rt, a: heddle.sparse.QR(rt, a, domain=-1), heddle.Error, "domain"),
    (lambda rt, a: heddle.sparse.QR(rt, a, strips=0), heddle.Error, "strips"),
    (lambda rt, a: heddle.sparse.QR(rt, a, strips=(64, 256)), heddle.Error, "strips is"),
    (lambda rt, a: heddle.sparse.QR(rt, a, strips=(256, 128, 64)), heddle.Error, "strips is"),
    (lambda rt, a: heddle.sparse.QR(rt, a, strips="256"), TypeError, "strips"),
    (lambda rt, a: heddle.sparse.QR(rt, a, tolerance=float("nan")), heddle.Error, "tolerance"),
    (lambda rt, a: heddle.sparse.QR(rt, a).solve(vector(40)), heddle.Error, r"QR.factorise\(\) first"),
    (lambda rt, a: heddle.sparse.QR(rt, a).r(), heddle.Error, r"QR.factorise\(\) first"),
    (lambda rt, a: heddle.sparse.QR(rt, a).factorise().solve(vector(41)), heddle.Error, "40 rows"),
    (lambda rt, a: heddle.sparse.QR(rt, a).factorise().solve(1j * vector(40)), heddle.Error, "complex"),
    (lambda rt, a: heddle.sparse.QR(rt, a).factorise(np.full(a.nnz, np.nan)), heddle.Error, "NaN"),
])
def test_what_is_wrong_is_named(runtime, wrong, error, says):
    with pytest.raises(error, match=says):
        wrong(runtime, matrix(40, 30))


def test_a_factorisation_goes_on_after_a_failure(runtime):
    a, b = matrix(40, 30), vector(40)
    with heddle.sparse.QR(runtime, a) as qr:
        with pytest.raises(heddle.Error):
            qr.factorise(np.full(a.nnz, np.inf))
        near(qr.factorise().solve(b), np.linalg.lstsq(a.toarray(), b, rcond=None)[0])


def test_it_ends_with_the_runtime_or_before():
    a = matrix(40, 30)
    with heddle.Runtime(n_cpu=1) as rt:
        with heddle.sparse.QR(rt, a) as first:
            first.factorise()
        with pytest.raises(heddle.Error, match="closed"):
            first.factorise()
        first.close()
        for _ in range(3):
            heddle.sparse.QR(rt, a).factorise()  # nobody keeps it
        gc.collect()
        with pytest.raises(TypeError):
            __import__("copy").copy(first)
        last = heddle.sparse.QR(rt, a).factorise()
        assert len(last._context.live) == 1
    with pytest.raises(heddle.Error, match="closed"):
        last.solve(vector(40))
    last.close()
    with pytest.raises(heddle.Error, match="closed"), heddle.sparse.QR(rt, a):
        pass


def test_a_runtime_lives_as_long_as_its_factorisation():
    qr = heddle.sparse.QR(heddle.Runtime(n_cpu=1), matrix(40, 30))
    gc.collect()
    assert qr.factorise().solve(vector(40)).shape == (30,)
    qr._runtime.close()


def test_kernels_cannot_use_it(runtime):
    errors = []

    def inside():
        try:
            qr.factorise()
        except heddle.Error as error:
            errors.append(error.status)

    with heddle.sparse.QR(runtime, matrix(40, 30)) as qr:
        runtime.submit(inside)
        runtime.wait()
    assert errors == [heddle.Status.STATE]


def test_threads_take_turns_at_one_and_work_beside_each_other_on_several(runtime):
    matrices = [matrix(60, 40, seed=s) for s in range(2)]
    b, wrong = vector(60), []
    wanted = [np.linalg.lstsq(a.toarray(), b, rcond=None)[0] for a in matrices]
    qrs = [heddle.sparse.QR(runtime, a, tile=8).factorise() for a in matrices]

    def solve(i):
        for _ in range(5):
            if not np.allclose(qrs[i % 2].factorise().solve(b), wanted[i % 2]):
                wrong.append(i)

    threads = [threading.Thread(target=solve, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_in_virtual_time_there_is_time_and_no_result():
    with heddle.Runtime(platform="intel-v100") as rt, heddle.sparse.QR(rt, matrix(400, 300), tile=32) as qr:
        assert qr.statistics["flops"] > 0
        before = rt.now()
        qr.factorise()
        assert rt.now() > before
        for result in (qr.r, lambda: qr.solve(vector(400)), lambda: qr.deficient_columns):
            with pytest.raises(heddle.Error, match="virtual time"):
                result()


def test_it_is_loaded_only_when_asked_for():
    program = "import sys, heddle; assert 'heddle.sparse' not in sys.modules and 'scipy' not in sys.modules\n" \
              "import heddle.sparse\nassert 'scipy' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
