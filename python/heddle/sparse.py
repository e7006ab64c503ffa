"""Sparse QR: least squares and solutions of least norm with matrices of scipy.sparse, or triplets.

    import heddle.sparse

    with heddle.Runtime() as rt, heddle.sparse.QR(rt, A) as qr:
        x = qr.factorise().solve(b)

docs/sparse.md has the method. It needs libheddle-sparse beside libheddle; scipy is imported by QR.r() alone.
"""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._extension import Context, Owned, load, precision_of
from ._given import SIZE_MAX, INT_MAX, real, whole
from ._library import Error, Status, fields

try:
    from ._sparse_ffi import ffi
except ImportError as missing:
    raise ImportError("heddle/_sparse_ffi.py is missing, which the build makes: use build/python, or install the "
                      f"package ({missing})") from None

if TYPE_CHECKING:
    from .runtime import Runtime

__all__ = ["QR"]

lib = load(ffi, "libheddle-sparse.so.0", "it is built where CHOLMOD is (Debian: apt-get install libsuitesparse-dev), "
           "and stands beside libheddle.so")

_PRECISIONS = {np.dtype(np.float64): lib.HEDDLE_DENSE_DOUBLE, np.dtype(np.float32): lib.HEDDLE_DENSE_SINGLE,
               np.dtype(np.complex128): lib.HEDDLE_DENSE_COMPLEX_DOUBLE,
               np.dtype(np.complex64): lib.HEDDLE_DENSE_COMPLEX_SINGLE}
_ORDERINGS = {"best": lib.HEDDLE_SPARSE_BEST, "metis": lib.HEDDLE_SPARSE_METIS, "colamd": lib.HEDDLE_SPARSE_COLAMD,
              "natural": lib.HEDDLE_SPARSE_NATURAL}
_PRIORITIES = {"path": lib.HEDDLE_SPARSE_PRIORITY_PATH, "tree": lib.HEDDLE_SPARSE_PRIORITY_TREE,
               "none": lib.HEDDLE_SPARSE_PRIORITY_NONE}


def _end(qr: Any, analysis: Any) -> None:
    """Ends a factorisation."""
    lib.heddle_sparse_qr_destroy(qr)
    lib.heddle_sparse_analysis_free(analysis)


def _open(runtime: Runtime) -> Callable[[Any], Context]:
    """What opens libheddle-sparse in a runtime."""
    def opened(pointer: Any) -> Context:
        out = ffi.new("heddle_sparse **")
        runtime._check(lib.heddle_sparse_open(pointer, out))
        return Context(out[0], _end, lib.heddle_sparse_close)
    return opened


def _one_of(value: Any, what: str, names: dict[str, int]) -> int:
    """The value of an enumeration. Error: there is no such name."""
    if not isinstance(value, str) or value not in names:
        raise Error(Status.INVALID, f"{what} is one of {', '.join(names)}, not {value!r}")
    return names[value]


def _indices(values: Any, what: str, n: int) -> np.ndarray:
    """Indices below n as an array of int64. TypeError: they are no whole numbers; Error: one is out of range."""
    given = np.asarray(values)
    if given.ndim != 1 or (given.dtype.kind not in "iu" and given.size):
        raise TypeError(f"{what} are whole numbers, in an array of one dimension")
    if given.size and not 0 <= int(given.min()) <= int(given.max()) < n:
        raise Error(Status.INVALID, f"{what} must be from 0 to {n - 1}; they are from {given.min()} to {given.max()}")
    return given.astype(np.int64)


def _triplets(matrix: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]:
    """Rows, columns, values and the shape of a matrix, in the order in which it was given."""
    if hasattr(matrix, "tocoo"):
        coo = matrix.tocoo()
        rows, columns, values, shape = coo.row, coo.col, coo.data, coo.shape
    elif isinstance(matrix, tuple) and len(matrix) == 4:
        rows, columns, values, shape = matrix
    else:
        raise TypeError("a matrix is one of scipy.sparse, or (rows, columns, values, shape), not "
                        f"{type(matrix).__name__}; scipy.sparse.csc_matrix(a) makes one of an array")
    if len(tuple(shape)) != 2:
        raise TypeError(f"a matrix has two dimensions, not {tuple(shape)}")
    m, n = (whole(extent, "the shape", 0, SIZE_MAX) for extent in shape)
    found = _indices(rows, "rows", m), _indices(columns, "columns", n), np.asarray(values)
    if found[0].shape != found[1].shape or found[0].shape != found[2].shape:
        raise Error(Status.INVALID, f"{found[0].size} rows, {found[1].size} columns and {found[2].size} values: a "
                                    "triplet has as many of each")
    return (*found, (m, n))


def _sorted(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The order of elements by columns, then rows."""
    return np.lexsort((rows, columns))


def _strips(widths: Any) -> list[int]:
    """The widths of strips: none, one or two, the wider one first."""
    if widths is None:
        return [0, 0]
    found = [whole(width, "strips: a width", 1) for width in (widths if isinstance(widths, Iterable) else [widths])]
    if len(found) > 2 or found != sorted(set(found), reverse=True):
        raise Error(Status.INVALID, f"strips is {widths!r}: it must be a width, or two, the wider one first")
    return [*found, 0, 0][:2]


class QR(Owned):
    """A = Q R P^T of a sparse matrix A of m rows and n columns; where m < n, of its adjoint.

        with heddle.sparse.QR(rt, A) as qr:
            x = qr.factorise().solve(b)       # least squares, or the solution of least norm
            y = qr.factorise(values).solve(b)  # other values at the same places

    A is a matrix of scipy.sparse, in any format, or (rows, columns, values, shape); elements that occur twice are
    added. The object looks at its places, once, and factorises when it is told to. Its precision is that of A, or
    `dtype`: float64, float32, complex128, complex64. Options, of which None is the default (heddle/sparse.h):

    ordering    "best" (of METIS and COLAMD), "metis", "colamd", "natural", or the columns in the order of elimination
    subtree     subtrees with less than this share of all work are one task; negative: none
    workers     cores among which subtrees should balance; without both, the machine decides
    tile, inner order of tiles (256), inner blocking (32)
    domain      rows of tiles of a front that are eliminated one after the other, before pairs of what is left of them
    strips      a width, or two, the wider one first: tasks on tiles may become tasks on strips of their columns
    priority    "path", "tree", "none"
    drop_q      reflectors are freed as soon as the factorisation does not need them: R alone stays
    relax       memory is bounded by so many times the peak of one front after the other: at least 1
    tolerance   an |r_jj| that is not larger counts as zero (SuiteSparseQR's); negative: none

    The object keeps its runtime; it ends with close(), the end of `with`, or the runtime, whichever comes first.
    Threads may use it, one at a time; kernels may not. Ctrl-C is raised when the call has ended.
    """

    _what = "a sparse QR"

    def __init__(self, rt: Runtime, matrix: Any, *, dtype: npt.DTypeLike = None, ordering: Any = None,
                 subtree: float | None = None, workers: int | None = None, tile: int | None = None,
                 inner: int | None = None, domain: int | None = None, strips: int | Sequence[int] | None = None,
                 priority: str | None = None, drop_q: bool = False, relax: float | None = None,
                 tolerance: float | None = None):
        rows, columns, values, self.shape = _triplets(matrix)
        self.dtype = precision_of(values.dtype if dtype is None else dtype, _PRECISIONS, "sparse matrices have")
        self._given = rows, columns
        self._by_column = np.argsort(columns, kind="stable")
        self._first = self._converted(values)
        self._values: np.ndarray | None = None  # of the last factorisation: its tasks borrow them
        super().__init__(rt, "sparse", _open(rt))
        factor = ffi.new("struct heddle_sparse_options *")
        factor.tile, factor.inner = whole(tile or 0, "tile", 0), whole(inner or 0, "inner", 0)
        factor.domain, factor.strips = whole(domain or 0, "domain", 0), _strips(strips)
        factor.priority = _one_of(priority or "path", "priority", _PRIORITIES)
        factor.drop_q, factor.relax = int(bool(drop_q)), real(relax or 0, "relax", 0)
        factor.tolerance = real(tolerance or 0, "tolerance")
        analysis = self._analyse(ordering, real(subtree or 0, "subtree"), whole(workers or 0, "workers", 0, INT_MAX))
        try:
            self._create(analysis, factor)
        except BaseException:
            if self._number not in self._context.live:
                lib.heddle_sparse_analysis_free(analysis)
            raise

    def _analyse(self, ordering: Any, subtree: float, workers: int) -> Any:
        """The analysis of the places of the elements."""
        options = ffi.new("struct heddle_sparse_analysis_options *", {"subtree": subtree, "workers": workers})
        order = np.empty(0, np.int64)
        if ordering is None or isinstance(ordering, str):
            options.ordering = _one_of(ordering or "best", "ordering", _ORDERINGS)
        else:
            order = _indices(ordering, "ordering: columns", min(self.shape))
            if order.size != min(self.shape):
                raise Error(Status.INVALID, f"ordering has {order.size} columns of {min(self.shape)}")
            options.ordering = lib.HEDDLE_SPARSE_GIVEN
            options.order = ffi.cast("int64_t *", order.ctypes.data)
        rows, columns = self._given
        start = np.zeros(self.shape[1] + 1, np.int64)
        np.cumsum(np.bincount(columns, minlength=self.shape[1]), out=start[1:])
        row = rows[self._by_column]
        a = ffi.new("struct heddle_sparse_matrix *", {"precision": _PRECISIONS[self.dtype], "rows": self.shape[0],
                                                      "columns": self.shape[1]})
        a.column_start = ffi.cast("int64_t *", start.ctypes.data)
        a.row = ffi.cast("int64_t *", row.ctypes.data)
        out = ffi.new("heddle_sparse_analysis **")
        self._runtime._check(lib.heddle_sparse_analyse(a, options, out))
        return out[0]

    def _create(self, analysis: Any, factor: Any) -> None:
        """The factorisation, which has no values yet."""
        runtime, out = self._runtime, ffi.new("heddle_sparse_qr **")
        with runtime._inside():
            runtime._open()
            runtime._check(lib.heddle_sparse_qr_create(self._context.pointer, analysis, _PRECISIONS[self.dtype], factor,
                                                       out))
            self._context.live[self._number] = out[0], analysis

    # Its life.

    @contextlib.contextmanager
    def _results(self) -> Iterator[Any]:
        """The factorisation, whose results the program asks for. Error: time is virtual, and there are none."""
        if self._runtime._virtual:
            raise Error(Status.UNSUPPORTED, "in virtual time nothing is computed: there are no results of a sparse QR")
        with self._inside() as (qr, _):
            yield qr

    def __enter__(self) -> QR:
        return self

    def __repr__(self) -> str:
        return f"<heddle.sparse.QR: {self.dtype} {self.shape}>"

    # Factorising.

    def _converted(self, values: np.ndarray) -> np.ndarray:
        """Values in the order in which A was given as those of the factorisation, column by column."""
        if values.dtype.kind == "c" and self.dtype.kind != "c":
            raise Error(Status.INVALID, f"complex values in a factorisation of {self.dtype}: give QR dtype=complex")
        precision_of(values.dtype, _PRECISIONS, "sparse matrices have")
        return np.ascontiguousarray(values[self._by_column], self.dtype)

    def _new_values(self, given: Any) -> np.ndarray:
        """The values of a matrix with the same places, or an array of them. Error: the places are others."""
        rows, columns = self._given
        if not hasattr(given, "tocoo"):
            values = np.asarray(given)
            if values.shape != rows.shape:
                raise Error(Status.INVALID, f"the matrix has {rows.size} elements, and there are values of shape "
                                            f"{values.shape}")
            return self._converted(values)
        other_rows, other_columns, values, shape = _triplets(given)
        if shape == self.shape and rows.shape == other_rows.shape:
            mine, others = _sorted(rows, columns), _sorted(other_rows, other_columns)
            if np.array_equal(rows[mine], other_rows[others]) and np.array_equal(columns[mine], other_columns[others]):
                in_order = np.empty_like(values)
                in_order[mine] = values[others]
                return self._converted(in_order)
        raise Error(Status.INVALID, "the matrix has elements at other places than the one that was analysed: make "
                                    "another QR")

    def factorise(self, values: Any = None) -> QR:
        """Factorises A, or the matrix with other values at the same places: a matrix of scipy.sparse, or an array in
        the order of the elements as they were given (A.data of csc, csr and coo; of others, A.tocoo().data). Returns
        the object. Error: a value is not finite. Blocks."""
        converted = self._first if values is None else self._new_values(values)
        with self._inside() as (qr, _):
            self._context.sweep()
            status = lib.heddle_sparse_factorise(qr, ffi.cast("void *", converted.ctypes.data))
            self._values = converted
            self._runtime._check(status)
        return self

    # Using the factors.

    def _array(self, array: np.ndarray) -> Any:
        """An array of columns as a struct heddle_dense_array, which borrows it."""
        return ffi.new("struct heddle_dense_array *",
                       {"precision": _PRECISIONS[self.dtype], "rows": array.shape[0], "columns": array.shape[1],
                        "data": ffi.cast("void *", array.ctypes.data), "ld": max(1, array.shape[0])})

    def _columns(self, given: npt.ArrayLike, rows: int, what: str) -> np.ndarray:
        """A vector, or a matrix of columns, as a new array of columns."""
        array = np.asarray(given)
        precision_of(array.dtype, _PRECISIONS, "sparse matrices have")
        if array.dtype.kind == "c" and self.dtype.kind != "c":
            raise Error(Status.INVALID, f"{what} is complex, and the factorisation {self.dtype}: give its real and "
                                        "imaginary parts, or QR dtype=complex")
        if array.ndim not in (1, 2) or array.shape[0] != rows:
            raise Error(Status.INVALID, f"{what} has shape {array.shape}: it is a vector or a matrix of {rows} rows")
        return np.array(array.reshape(rows, -1) if array.ndim == 1 else array, self.dtype, order="F")

    def solve(self, b: npt.ArrayLike) -> np.ndarray:
        """The x that minimises || b - A x ||, or, if A has fewer rows than columns, the x of the least norm with
        A x = b: for a vector b, or for each column of a matrix. The unknowns of deficient columns are 0; rows of
        A x = b that depend on others are left out. Blocks."""
        right = self._columns(b, self.shape[0], "b")
        x = np.zeros((self.shape[1], right.shape[1]), self.dtype, order="F")
        with self._results() as qr:
            self._runtime._check(lib.heddle_sparse_solve(qr, self._array(right), self._array(x)))
        return x[:, 0] if np.ndim(b) == 1 else x

    def apply_q(self, c: npt.ArrayLike, adjoint: bool = True) -> np.ndarray:
        """Q^H c, or Q c: c has max(m, n) rows, and so has the result. The first min(m, n) rows of Q^H c belong to R.
        Blocks."""
        product = self._columns(c, max(self.shape), "c")
        trans = lib.HEDDLE_DENSE_CONJ_TRANS if adjoint else lib.HEDDLE_DENSE_NO_TRANS
        with self._results() as qr:
            self._runtime._check(lib.heddle_sparse_apply_q(qr, trans, self._array(product)))
        return product[:, 0] if np.ndim(c) == 1 else product

    def r(self) -> Any:
        """R, a scipy.sparse.csc_matrix of order min(m, n). Blocks."""
        from scipy.sparse import csc_matrix  # type: ignore[import,unused-ignore]

        out = ffi.new("struct heddle_sparse_matrix *")
        with self._results() as qr:
            self._runtime._check(lib.heddle_sparse_r(qr, out))
        try:
            start = self._copy(out.column_start, out.columns + 1, np.dtype(np.int64))
            row = self._copy(out.row, int(start[-1]), np.dtype(np.int64))
            values = self._copy(out.values, int(start[-1]), self.dtype)
        finally:
            lib.heddle_sparse_matrix_free(out)
        r = csc_matrix((values, row, start), shape=(min(self.shape), min(self.shape)))
        r.sort_indices()
        return r

    @staticmethod
    def _copy(pointer: Any, n: int, dtype: np.dtype) -> np.ndarray:
        """A copy of an array of C."""
        return np.frombuffer(ffi.buffer(ffi.cast("char *", pointer), n * dtype.itemsize), dtype).copy()

    @property
    def order(self) -> np.ndarray:
        """The columns of A, of its adjoint if m < n, in the order of those of R."""
        with self._inside() as (_, analysis):
            return self._copy(lib.heddle_sparse_column_order(analysis), min(self.shape), np.dtype(np.int64))

    @property
    def statistics(self) -> dict[str, Any]:
        """What is known before anything is computed: struct heddle_sparse_statistics of heddle/sparse.h."""
        with self._inside() as (_, analysis):
            return fields(lib.heddle_sparse_analysis_statistics(analysis))

    @property
    def deficient_columns(self) -> np.ndarray:
        """The columns of A, of its adjoint if m < n, that depend on those before them: none if A has full rank.
        Blocks."""
        out = ffi.new("int64_t **")
        with self._results() as qr:
            n = lib.heddle_sparse_deficient_columns(qr, out)
            self._runtime._check(n)
            return self._copy(out[0], n, np.dtype(np.int64)) if n else np.empty(0, np.int64)
