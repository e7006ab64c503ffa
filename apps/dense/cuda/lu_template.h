/* One precision of lu.c. The codelets' descriptions are those of dense/codelets/lu_template.h. */
#include <dense/cuda/precision.h>

/* Workspaces of a factorisation. */
struct P(factor) {
	struct P(view) a;         /* the matrix, in the tiles or in `flat` */
	size_t bytes, host_bytes; /* cuSOLVER's workspaces */
	char *found;              /* the beginning of the workspace; cuSOLVER's info, which is less precise, follows */
	void *buffer, *host;
	int64_t *pivots;                  /* NULL: none */
	struct hd_dense_cuda_tile *tiles; /* the places of the tiles, if the matrix is in `flat` */
	element *flat;
};

/* Makes the workspaces for the first `tiles` data if they do not lie together, for n pivots if there are any. */
static int P(factor_begin)(heddle_context *c, struct P(factor) * f, size_t tiles, size_t n)
{
	int failure;
	struct hd_dense_cuda_stream *s = hd_dense_cuda_solver_stream(c, &failure);
	size_t flat = tiles ? rounded((size_t)f->a.m * (size_t)f->a.n * sizeof(element)) : 0;
	int status;
	if (!s)
		return failure;
	if (tiles)
		f->a.ld = f->a.m;
	status = hd_dense_cuda_solver_failed(
	    c,
	    hd_dense_cuda.cusolverDnXgetrf_bufferSize(s->solver, s->params, f->a.m, f->a.n, CUTYPE, f->a.a, f->a.ld,
	                                              CUTYPE, &f->bytes, &f->host_bytes),
	    "cusolverDnXgetrf_bufferSize");
	if (status)
		return status;
	f->host = hd_dense_cuda_host(c, s, f->host_bytes, &status);
	if (status)
		return status;
	size_t of_pivots = rounded(n * sizeof *f->pivots), of_tiles = rounded(tiles * sizeof *f->tiles);
	f->found = hd_dense_cuda_workspace(c, of_pivots + of_tiles + flat + f->bytes);
	if (!f->found)
		return -1;
	char *next = f->found + HD_CUDA_FOUND_BYTES;
	f->pivots = n ? (int64_t *)(void *)next : NULL;
	f->tiles = (struct hd_dense_cuda_tile *)(void *)(next + of_pivots);
	f->flat = (element *)(void *)(next + of_pivots + of_tiles);
	f->buffer = next + of_pivots + of_tiles + flat;
	if (tiles)
		f->a.a = f->flat;
	return 0;
}

static int P(factor_matrix)(heddle_context *c, const struct P(factor) * f)
{
	int failure;
	struct hd_dense_cuda_stream *s = hd_dense_cuda_solver_stream(c, &failure);
	if (!s)
		return failure;
	return hd_dense_cuda_solver_failed(c,
	                                   hd_dense_cuda.cusolverDnXgetrf(s->solver, s->params, f->a.m, f->a.n, CUTYPE,
	                                                                  f->a.a, f->a.ld, f->pivots, CUTYPE, f->buffer,
	                                                                  f->bytes, f->host, f->host_bytes,
	                                                                  (int *)(void *)(f->found + HD_CUDA_INFO_AT)),
	                                   "cusolverDnXgetrf");
}

/* The first pivot that is zero or NaN is the task's result. */
static int P(factor_end)(heddle_context *c, const struct P(factor) * f)
{
	int status = P(cuda_find_zero)(c, f->a, HD_CUDA_NAN, f->found);
	return status ? status : hd_dense_cuda_conclude(c, f->found, judge_lu, 0);
}

static int P(getrf_nopiv_cuda)(heddle_context *c)
{
	struct P(factor) f = {.a = P(cuda_tile)(c, 0)};
	if (f.a.m == 0 || f.a.n == 0)
		return 0;
	int status = P(factor_begin)(c, &f, 0, 0);
	if (status == 0)
		status = P(factor_matrix)(c, &f);
	return status ? status : P(factor_end)(c, &f);
}

/* The first n data as one matrix, which begins at the first tile. Returns whether the data lie together. */
static int P(stacked)(const heddle_context *c, size_t n, struct P(view) * all)
{
	int together = 1;
	*all = P(cuda_tile)(c, 0);
	for (size_t t = 1; t < n; t++) {
		struct P(view) next = P(cuda_tile)(c, t);
		together = together && P(follows)(*all, next);
		all->m += next.m;
	}
	return together;
}

/* The matrix := the tiles, or (`back`) the tiles := the matrix. */
static int P(stack_cuda)(heddle_context *c, const struct P(factor) * f, int back)
{
	struct hd_dense_cuda_part p = {.m = f->a.m, .n = f->a.n};
	const struct heddle_cuda_grid grid = hd_dense_cuda_rectangle(p.m, p.n);
	const struct hd_dense_cuda_tile *tiles = f->tiles;
	int tile_rows = (int)heddle_extent(c, 0, 0), ld = f->a.ld;
	element *flat = f->flat;
	return hd_dense_cuda_launch(c, KERNEL(stack), &grid, (void *[]){&p, &tiles, &tile_rows, &flat, &ld, &back});
}

/* Looks for NaN before the factorisation: the pivot of a column with NaN counts as NaN, although cuSOLVER may choose
 * another pivot. */
static int P(find_nan_cuda)(heddle_context *c, const struct P(factor) * f)
{
	struct P(view) a = f->a;
	struct hd_dense_cuda_part p = {.m = a.m, .n = a.m < a.n ? a.m : a.n};
	const struct heddle_cuda_grid grid = hd_dense_cuda_columns(p.m, p.n);
	const char *found = f->found;
	return hd_dense_cuda_launch(c, KERNEL(find_nan), &grid, (void *[]){&p, &a.a, &a.ld, &found});
}

static int P(getrf_panel_cuda)(heddle_context *c)
{
	const struct hd_dense_lu_values *v = heddle_value_ptr(c, 0);
	size_t last = heddle_context_n_data(c) - 1;
	struct P(factor) f = {.flat = NULL};
	int together = P(stacked)(c, last, &f.a), n = (int)heddle_extent(c, last, 0), row = (int)v->row;
	const struct heddle_cuda_grid grid = hd_dense_cuda_vector(n);
	void *to = heddle_ptr(c, last);
	if (f.a.m == 0 || f.a.n == 0)
		return 0;
	int status = P(factor_begin)(c, &f, together ? 0 : last, (size_t)n);
	if (status == 0 && !together)
		status = place(c, last, f.tiles);
	if (status == 0 && !together)
		status = P(stack_cuda)(c, &f, 0);
	if (status == 0)
		status = P(find_nan_cuda)(c, &f);
	if (status == 0)
		status = P(factor_matrix)(c, &f);
	if (status == 0 && !together)
		status = P(stack_cuda)(c, &f, 1);
	if (status == 0)
		status = hd_dense_cuda_launch(c, "hd_pivots", &grid, (void *[]){&n, &f.pivots, &row, &to});
	return status ? status : P(factor_end)(c, &f);
}

static int P(laswp_cuda)(heddle_context *c)
{
	const struct hd_dense_laswp_values *v = heddle_value_ptr(c, 0);
	size_t n_pivots = heddle_context_n_data(c) - v->n_tiles;
	struct P(view) all;
	P(stacked)(c, v->n_tiles, &all);
	const struct heddle_cuda_grid grid = {.blocks = {(unsigned)(all.n + 31) / 32}, .threads = {32}};
	struct hd_dense_cuda_swaps swaps = {.origin = (int)v->row + 1, .forward = !v->backward, .rows = all.m};
	swaps.tile_rows = (int)heddle_extent(c, 0, 0);
	if (all.n == 0 || all.m == 0)
		return 0;
	char *found = hd_dense_cuda_workspace(c, v->n_tiles * sizeof(struct hd_dense_cuda_tile));
	struct hd_dense_cuda_tile *tiles =
	    found ? (struct hd_dense_cuda_tile *)(void *)(found + HD_CUDA_FOUND_BYTES) : NULL;
	int status = found ? place(c, v->n_tiles, tiles) : -1;
	for (size_t p = 0; v->backward && p < n_pivots; p++)
		swaps.first += (int)heddle_extent(c, v->n_tiles + p, 0);
	for (size_t p = 0; status == 0 && p < n_pivots; p++) {
		size_t i = v->n_tiles + (v->backward ? n_pivots - 1 - p : p);
		void *pivots = heddle_ptr(c, i);
		swaps.count = (int)heddle_extent(c, i, 0);
		if (v->backward)
			swaps.first -= swaps.count;
		status = hd_dense_cuda_launch(c, KERNEL(swap_rows), &grid,
		                              (void *[]){&swaps, &pivots, &tiles, &all.n, &found});
		if (!v->backward)
			swaps.first += swaps.count;
	}
	return status ? status : hd_dense_cuda_conclude(c, found, judge_pivots, (size_t)all.m);
}

#include <dense/cuda/precision_end.h>
