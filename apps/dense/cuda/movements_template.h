/* One precision of movements.c. The codelets' descriptions are those of dense/codelets/movements_template.h. */
#include <dense/cuda/precision.h>

int P(cuda_combine)(heddle_context *c, const struct hd_dense_cuda_part *part, int flags, const element scalars[2],
                    struct P(view) a, struct P(view) b)
{
	if (part->m == 0 || part->n == 0)
		return 0;
	const struct heddle_cuda_grid grid = hd_dense_cuda_rectangle(part->m, part->n);
	struct hd_dense_cuda_part p = *part;
	element alpha = scalars[0], beta = scalars[1];
	return hd_dense_cuda_launch(c, KERNEL(combine), &grid,
	                            (void *[]){&p, &flags, &alpha, &a.a, &a.ld, &beta, &b.a, &b.ld});
}

int P(cuda_find_zero)(heddle_context *c, struct P(view) a, int how, char *workspace)
{
	int n = a.m < a.n ? a.m : a.n, also_nan = (how & HD_CUDA_NAN) != 0;
	char *info = how & HD_CUDA_INFO ? workspace + HD_CUDA_INFO_AT : NULL;
	if (n == 0)
		return 0;
	const struct heddle_cuda_grid grid = hd_dense_cuda_vector(n);
	return hd_dense_cuda_launch(c, KERNEL(find_zero), &grid,
	                            (void *[]){&n, &also_nan, &a.a, &a.ld, &info, &workspace});
}

static const element P(copies)[2] = {1, 0}, P(subtracts)[2] = {-1, 1};

/* Looks for NaN and Inf in the window's part of the matrix. */
static int P(look_cuda)(heddle_context *c, struct P(view) a)
{
	const struct hd_dense_window *w = heddle_value_ptr(c, 0);
	struct hd_dense_cuda_part p = hd_dense_cuda_part_of(w, (int)w->rows, a.n);
	if (!w->name || p.m == 0 || p.n == 0)
		return 0;
	void *found = hd_dense_cuda_workspace(c, 0);
	if (!found)
		return -1;
	const struct heddle_cuda_grid grid = hd_dense_cuda_columns(p.m, p.n);
	int status = hd_dense_cuda_launch(c, KERNEL(find_not_finite), &grid, (void *[]){&p, &a.a, &a.ld, &found});
	return status ? status : hd_dense_cuda_conclude(c, found, judge_finite, (size_t)p.m);
}

static int P(finite_cuda)(heddle_context *c)
{
	return P(look_cuda)(c, P(cuda_tile)(c, 0));
}

static int P(copy_cuda)(heddle_context *c)
{
	struct P(view) to = P(cuda_tile)(c, 0), from = P(cuda_tile)(c, 1);
	struct hd_dense_cuda_part p = hd_dense_cuda_part_of(heddle_value_ptr(c, 0), to.m, to.n);
	int status = P(cuda_combine)(c, &p, 0, P(copies), from, to);
	return status ? status : P(look_cuda)(c, from);
}

static int P(scale_cuda)(heddle_context *c)
{
	const struct hd_dense_add_values *v = heddle_value_ptr(c, 0);
	struct P(view) b = P(cuda_tile)(c, 0);
	struct hd_dense_cuda_part p = hd_dense_cuda_part_of(&v->window, b.m, b.n);
	return P(cuda_combine)(c, &p, v->window.kind == HEDDLE_DENSE_HERMITIAN ? HD_CUDA_REAL : 0,
	                       (const element[]){0, P(cuda_scalar)(v->beta)}, b, b);
}

static int P(add_cuda)(heddle_context *c)
{
	const struct hd_dense_add_values *v = heddle_value_ptr(c, 0);
	struct P(view) b = P(cuda_tile)(c, 0);
	struct hd_dense_cuda_part p = hd_dense_cuda_part_of(&v->window, b.m, b.n);
	return P(cuda_combine)(c, &p, 0, (const element[]){P(cuda_scalar)(v->alpha), P(cuda_scalar)(v->beta)},
	                       P(cuda_tile)(c, 1), b);
}

static int P(fill_cuda)(heddle_context *c, struct P(view) a)
{
	struct hd_dense_cuda_random w = random_of(heddle_value_ptr(c, 0));
	if (w.rows == 0 || w.columns == 0)
		return 0;
	const struct heddle_cuda_grid grid = hd_dense_cuda_rectangle(w.rows, w.columns);
	return hd_dense_cuda_launch(c, KERNEL(random_tile), &grid, (void *[]){&w, &a.a, &a.ld});
}

static int P(random_cuda)(heddle_context *c)
{
	return P(fill_cuda)(c, P(cuda_tile)(c, 0));
}

/* *sum += ||A||^2 over the window's part, with `weight` off the diagonal. `partial` has HD_CUDA_BLOCKS numbers. */
static int P(add_squares)(heddle_context *c, struct P(view) a, double weight, double *partial, double *sum)
{
	const struct hd_dense_window *w = heddle_value_ptr(c, 0);
	struct hd_dense_cuda_part p = hd_dense_cuda_part_of(w, (int)w->rows, (int)w->columns);
	if (p.m == 0 || p.n == 0)
		return 0;
	const struct heddle_cuda_grid grid = hd_dense_cuda_columns(p.m, p.n), one = {.threads = {HD_CUDA_THREADS}};
	int n = (int)grid.blocks[0];
	int status = hd_dense_cuda_launch(c, KERNEL(squares), &grid, (void *[]){&p, &weight, &a.a, &a.ld, &partial});
	return status ? status : hd_dense_cuda_launch(c, "hd_add_up", &one, (void *[]){&n, &partial, &sum});
}

static int P(norm_cuda)(heddle_context *c)
{
	const struct hd_dense_window *w = heddle_value_ptr(c, 0);
	double *partial = heddle_cuda_scratch(c, HD_CUDA_BLOCKS * sizeof *partial);
	double weight = w->kind == HEDDLE_DENSE_SYMMETRIC ? 2 : 1;
	return partial ? P(add_squares)(c, P(cuda_tile)(c, 1), weight, partial, heddle_ptr(c, 0)) : -1;
}

static int P(residual_begin_cuda)(heddle_context *c)
{
	double *partial = heddle_cuda_scratch(c, HD_CUDA_BLOCKS * sizeof *partial);
	int status = partial ? P(fill_cuda)(c, P(cuda_tile)(c, 0)) : -1;
	return status ? status : P(add_squares)(c, P(cuda_tile)(c, 0), 2, partial, heddle_ptr(c, 1));
}

static int P(residual_end_cuda)(heddle_context *c)
{
	const struct hd_dense_window *w = heddle_value_ptr(c, 0);
	int diagonal = w->row == w->column, lower = w->uplo == HEDDLE_DENSE_LOWER, m = (int)w->rows,
	    n = (int)w->columns;
	struct P(view) t = P(cuda_tile)(c, 0), triangle = P(cuda_tile)(c, 3);
	struct P(view) work = P(part)(P(cuda_tile)(c, 1), 0, 0, m, n), factor = P(cuda_tile)(c, diagonal ? 3 : 4);
	struct hd_dense_cuda_part all = {.m = m, .n = n}, part = all;
	part.which = !diagonal ? HD_CUDA_ALL : lower ? HD_CUDA_LOWER : HD_CUDA_UPPER;
	double *partial = heddle_cuda_scratch(c, HD_CUDA_BLOCKS * sizeof *partial), *sums = heddle_ptr(c, 2);
	struct hd_triangle how = {lower ? CblasRight : CblasLeft, lower ? CblasLower : CblasUpper, CblasConjTrans,
	                          CblasNonUnit};
	int status = partial ? P(cuda_combine)(c, &part, HD_CUDA_CLEAR, P(copies), factor, work) : -1;
	if (status == 0)
		status = P(cuda_trmm)(c, how, 1, triangle, work);
	if (status == 0)
		status = P(cuda_combine)(c, &all, 0, P(subtracts), work, t);
	return status ? status : P(add_squares)(c, t, 2, partial, sums + 1);
}

static int P(rank_cuda)(heddle_context *c)
{
	struct P(view) r = P(cuda_tile)(c, 0);
	char *found = hd_dense_cuda_workspace(c, 0);
	int status = found ? P(cuda_find_zero)(c, r, 0, found) : -1;
	return status ? status : hd_dense_cuda_conclude(c, found, judge_rank, 0);
}

static int P(set_cuda)(heddle_context *c)
{
	const struct hd_dense_set_values *v = heddle_value_ptr(c, 0);
	struct P(view) a = P(cuda_tile)(c, 0);
	struct hd_dense_cuda_part p = {.diagonal = (long long)v->column - (long long)v->row,
	                               .m = a.m,
	                               .n = a.n,
	                               .first = (int)v->first,
	                               .which = HD_CUDA_NONE};
	return P(cuda_combine)(c, &p, HD_CUDA_CLEAR | HD_CUDA_DIAGONAL, (const element[]){(real)v->diagonal, 0}, a, a);
}

static int P(transpose_cuda)(heddle_context *c)
{
	struct P(view) b = P(cuda_tile)(c, 0), a = P(cuda_tile)(c, 1);
	const struct heddle_cuda_grid grid = {.blocks = {(unsigned)(b.m + 31) / 32, (unsigned)(b.n + 31) / 32},
	                                      .threads = {32, 8}};
	if (b.m == 0 || b.n == 0)
		return 0;
	return hd_dense_cuda_launch(c, KERNEL(transpose), &grid, (void *[]){&b.m, &b.n, &a.a, &a.ld, &b.a, &b.ld});
}

static int P(lu_parts_cuda)(heddle_context *c)
{
	struct P(view) l = P(cuda_tile)(c, 0), u = P(cuda_tile)(c, 1), a = P(cuda_tile)(c, 2);
	struct hd_dense_cuda_part below = {.m = l.m, .n = l.n, .which = HD_CUDA_LOWER, .unit = 1};
	struct hd_dense_cuda_part above = {.m = u.m, .n = u.n, .which = HD_CUDA_UPPER};
	int status = P(cuda_combine)(c, &below, HD_CUDA_CLEAR | HD_CUDA_DIAGONAL, P(copies), a, l);
	return status ? status : P(cuda_combine)(c, &above, HD_CUDA_CLEAR, P(copies), a, u);
}

#include <dense/cuda/precision_end.h>
