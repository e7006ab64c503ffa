/* Tasks that fill, copy, scale, add and compare tiles on OpenCL devices, so that the tiles need not leave the device
 * between other tasks: their data and values are those of codelets/movements_template.h, qr_template.h and
 * lu_template.h. */
#include <dense/codelets/qr.h>
#include <dense/opencl/codelets.h>
#include <dense/opencl/enqueue.h>
#include <limits.h>

static const heddle_dense_scalar one = {1, 0};

/* The part of a tile that belongs to the window, as flags. The next function: the diagonal of the matrix within the
 * tile. */
static int part_of(const struct hd_dense_window *v)
{
	int triangle = v->uplo == HEDDLE_DENSE_LOWER ? HD_OCL_LOWER : v->uplo == HEDDLE_DENSE_UPPER ? HD_OCL_UPPER : 0;
	return triangle | (triangle && v->diag == HEDDLE_DENSE_UNIT ? HD_OCL_UNIT : 0);
}

static int diagonal_of(const struct hd_dense_window *v)
{
	return (int)((ptrdiff_t)v->column - (ptrdiff_t)v->row);
}

static int scale(heddle_context *c, enum heddle_dense_precision precision)
{
	const struct hd_dense_add_values *v = heddle_value_ptr(c, 0);
	struct hd_ocl w = hd_ocl_begin(c, precision, 0, 0);
	struct hd_ocl_call x = {.beta = v->beta, .c = hd_ocl_tile(&w, 0), .diagonal = diagonal_of(&v->window)};
	x.flags = part_of(&v->window) | (v->window.kind == HEDDLE_DENSE_HERMITIAN ? HD_OCL_REAL_DIAGONAL : 0);
	hd_ocl_combine(&w, &x);
	return hd_ocl_end(&w);
}
HD_OCL_KERNELS(scale)

static int add(heddle_context *c, enum heddle_dense_precision precision)
{
	const struct hd_dense_add_values *v = heddle_value_ptr(c, 0);
	struct hd_ocl w = hd_ocl_begin(c, precision, 0, 0);
	hd_ocl_combine(&w, &(struct hd_ocl_call){.flags = part_of(&v->window),
	                                         .alpha = v->alpha,
	                                         .beta = v->beta,
	                                         .a = hd_ocl_tile(&w, 1),
	                                         .c = hd_ocl_tile(&w, 0),
	                                         .diagonal = diagonal_of(&v->window)});
	return hd_ocl_end(&w);
}
HD_OCL_KERNELS(add)

static int transpose(heddle_context *c, enum heddle_dense_precision precision)
{
	struct hd_ocl w = hd_ocl_begin(c, precision, 0, 0);
	hd_ocl_combine(&w, &(struct hd_ocl_call){.flags = HD_OCL_TRANS_A | HD_OCL_CONJ_A,
	                                         .alpha = one,
	                                         .a = hd_ocl_tile(&w, 1),
	                                         .c = hd_ocl_tile(&w, 0)});
	return hd_ocl_end(&w);
}
HD_OCL_KERNELS(transpose)

static int set(heddle_context *c, enum heddle_dense_precision precision)
{
	const struct hd_dense_set_values *v = heddle_value_ptr(c, 0);
	struct hd_ocl w = hd_ocl_begin(c, precision, 0, 0);
	struct hd_ocl_matrix a = hd_ocl_tile(&w, 0);
	int first = (int)v->first, diagonal = (int)((ptrdiff_t)v->column - (ptrdiff_t)v->row) - first;
	hd_ocl_combine(&w, &(struct hd_ocl_call){.flags = HD_OCL_A_IDENTITY,
	                                         .alpha = {v->diagonal, 0},
	                                         .c = hd_ocl_part(a, first, 0, a.m - first, a.n),
	                                         .diagonal = diagonal});
	return hd_ocl_end(&w);
}
HD_OCL_KERNELS(set)

static struct hd_dense_verdict judge_window(const void *value, const int found[2])
{
	const struct hd_dense_window *v = value;
	if (found[0] == INT_MAX)
		return (struct hd_dense_verdict){0};
	size_t place = (size_t)(found[0] / 2) - 1;
	return hd_dense_judge_element(v, place % v->rows, place / v->rows, found[0] % 2);
}

static int look_for_nan(heddle_context *c, enum heddle_dense_precision precision)
{
	const struct hd_dense_window *v = heddle_value_ptr(c, 0);
	struct hd_ocl w = hd_ocl_begin(c, precision, 0, 1);
	struct hd_ocl_matrix a = hd_ocl_tile(&w, 0);
	hd_ocl_look(&w, part_of(v), hd_ocl_part(a, 0, 0, (int)v->rows, a.n), diagonal_of(v));
	return hd_ocl_end_judged(&w, judge_window);
}
HD_OCL_KERNELS(look_for_nan)

static int copy(heddle_context *c, enum heddle_dense_precision precision)
{
	const struct hd_dense_window *v = heddle_value_ptr(c, 0);
	struct hd_ocl w = hd_ocl_begin(c, precision, 0, v->name != NULL);
	struct hd_ocl_matrix from = hd_ocl_tile(&w, 1);
	struct hd_ocl_call x = {.flags = part_of(v), .alpha = one, .a = from, .diagonal = diagonal_of(v)};
	x.c = hd_ocl_tile(&w, 0);
	if (v->name)
		hd_ocl_look(&w, part_of(v), hd_ocl_part(from, 0, 0, (int)v->rows, from.n), x.diagonal);
	hd_ocl_combine(&w, &x);
	return v->name ? hd_ocl_end_judged(&w, judge_window) : hd_ocl_end(&w);
}
HD_OCL_KERNELS(copy)

/* --- Experiments -------------------------------------------------------------------------------------------------- */

static int random_tile(heddle_context *c, enum heddle_dense_precision precision)
{
	struct hd_ocl w = hd_ocl_begin(c, precision, 0, 0);
	hd_ocl_random(&w, hd_ocl_tile(&w, 0), heddle_value_ptr(c, 0));
	return hd_ocl_end(&w);
}
HD_OCL_KERNELS(random_tile)

/* Adds the squares of a window's part to sum number `sum` of the datum `sums`. */
static void add_squares(struct hd_ocl *w, struct hd_ocl_matrix a, size_t sums, int sum, int twice)
{
	const struct hd_dense_window *v = heddle_value_ptr(w->c, 0);
	struct hd_ocl_matrix to = hd_ocl_doubles(w, sums);
	to.at += sum;
	hd_ocl_squares(w, part_of(v) | (twice ? HD_OCL_A_MIRRORED : 0),
	               hd_ocl_part(a, 0, 0, (int)v->rows, (int)v->columns), to, diagonal_of(v));
}

static int norm(heddle_context *c, enum heddle_dense_precision precision)
{
	const struct hd_dense_window *v = heddle_value_ptr(c, 0);
	struct hd_ocl w = hd_ocl_begin(c, precision, 0, 0);
	add_squares(&w, hd_ocl_tile(&w, 1), 0, 0, v->kind == HEDDLE_DENSE_SYMMETRIC);
	return hd_ocl_end(&w);
}
HD_OCL_KERNELS(norm)

static int residual_begin(heddle_context *c, enum heddle_dense_precision precision)
{
	struct hd_ocl w = hd_ocl_begin(c, precision, 0, 0);
	struct hd_ocl_matrix t = hd_ocl_tile(&w, 0);
	hd_ocl_random(&w, t, heddle_value_ptr(c, 0));
	add_squares(&w, t, 1, 0, 1);
	return hd_ocl_end(&w);
}
HD_OCL_KERNELS(residual_begin)

static int residual_end(heddle_context *c, enum heddle_dense_precision precision)
{
	const struct hd_dense_window *v = heddle_value_ptr(c, 0);
	int diagonal = v->row == v->column, lower = v->uplo == HEDDLE_DENSE_LOWER;
	int m = (int)v->rows, n = (int)v->columns, order = lower ? n : m;
	int triangle = lower ? HD_OCL_A_LOWER : HD_OCL_A_UPPER;
	struct hd_ocl w = hd_ocl_begin(c, precision, (size_t)m * (size_t)n + (size_t)order * (size_t)order, 0);
	struct hd_ocl_matrix t = hd_ocl_tile(&w, 0), work = hd_ocl_scratch(&w, m, n);
	struct hd_ocl_matrix full = hd_ocl_scratch(&w, order, order);
	hd_ocl_combine(
	    &w, &(struct hd_ocl_call){
	            .flags = diagonal ? triangle : 0, .alpha = one, .a = hd_ocl_tile(&w, diagonal ? 3 : 4), .c = work});
	hd_ocl_combine(&w, &(struct hd_ocl_call){.flags = triangle, .alpha = one, .a = hd_ocl_tile(&w, 3), .c = full});
	struct hd_ocl_call product = {.alpha = {-1, 0}, .beta = one, .c = hd_ocl_part(t, 0, 0, m, n), .k = order};
	product.a = lower ? work : full;
	product.b = lower ? full : work;
	product.flags = lower ? HD_OCL_TRANS_B | HD_OCL_CONJ_B : HD_OCL_TRANS_A | HD_OCL_CONJ_A;
	hd_ocl_product(&w, &product);
	add_squares(&w, t, 2, 1, 1);
	return hd_ocl_end(&w);
}
HD_OCL_KERNELS(residual_end)

static int lu_parts(heddle_context *c, enum heddle_dense_precision precision)
{
	struct hd_ocl w = hd_ocl_begin(c, precision, 0, 0);
	struct hd_ocl_call x = {.alpha = one, .a = hd_ocl_tile(&w, 2)};
	x.c = hd_ocl_tile(&w, 0);
	x.flags = HD_OCL_A_LOWER | HD_OCL_A_UNIT;
	hd_ocl_combine(&w, &x);
	x.c = hd_ocl_tile(&w, 1);
	x.flags = HD_OCL_A_UPPER;
	hd_ocl_combine(&w, &x);
	return hd_ocl_end(&w);
}
HD_OCL_KERNELS(lu_parts)

const struct hd_ocl_codelet hd_ocl_movements[] = {
    {HD_DENSE_SCALE, HD_OCL_FOUR(scale), 0},
    {HD_DENSE_ADD, HD_OCL_FOUR(add), 0},
    {HD_DENSE_COPY, HD_OCL_FOUR(copy), 0},
    {HD_DENSE_FINITE, HD_OCL_FOUR(look_for_nan), 0},
    {HD_DENSE_SET, HD_OCL_FOUR(set), 0},
    {HD_DENSE_TRANSPOSE, HD_OCL_FOUR(transpose), 0},
    {HD_DENSE_RANDOM_TILE, HD_OCL_FOUR(random_tile), 0},
    {HD_DENSE_NORM, HD_OCL_FOUR(norm), 1},
    {HD_DENSE_RESIDUAL_BEGIN, HD_OCL_FOUR(residual_begin), 1},
    {HD_DENSE_RESIDUAL_END, HD_OCL_FOUR(residual_end), 1},
    {HD_DENSE_LU_PARTS, HD_OCL_FOUR(lu_parts), 0},
    {.kernels = {NULL}},
};
