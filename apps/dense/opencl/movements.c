/* Tasks that copy, scale and add tiles on OpenCL devices, so that these need not leave the device between others: their
 * data and values are those of codelets/movements_template.h and codelets/qr_template.h. */
#include <dense/codelets/qr.h>
#include <dense/opencl/codelets.h>
#include <dense/opencl/enqueue.h>
#include <limits.h>

static const heddle_dense_scalar one = {1, 0};

/* The part of a tile that belongs to the window, as flags; which diagonal it is of. */
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

const struct hd_ocl_codelet hd_ocl_movements[] = {
    {HD_DENSE_SCALE, HD_OCL_FOUR(scale)},
    {HD_DENSE_ADD, HD_OCL_FOUR(add)},
    {HD_DENSE_COPY, HD_OCL_FOUR(copy)},
    {HD_DENSE_FINITE, HD_OCL_FOUR(look_for_nan)},
    {HD_DENSE_SET, HD_OCL_FOUR(set)},
    {HD_DENSE_TRANSPOSE, HD_OCL_FOUR(transpose)},
    {.kernels = {NULL}},
};
