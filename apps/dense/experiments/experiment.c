/* Experiments: a routine by its name, on random data. */
#include <dense/internal.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct hd_dense_routine *const routines[] = {
    &hd_dense_routine_potrf,       &hd_dense_routine_gemm,  &hd_dense_routine_syrk,  &hd_dense_routine_symm,
    &hd_dense_routine_trsm,        &hd_dense_routine_trmm,  &hd_dense_routine_potrs, &hd_dense_routine_posv,
    &hd_dense_routine_trtri,       &hd_dense_routine_lauum, &hd_dense_routine_potri, &hd_dense_routine_poinv,
    &hd_dense_routine_geqrf,       &hd_dense_routine_ormqr, &hd_dense_routine_gels,  &hd_dense_routine_getrf,
    &hd_dense_routine_getrf_nopiv, &hd_dense_routine_getrs, &hd_dense_routine_gesv,  &hd_dense_routine_gesv_nopiv,
};
enum { N_ROUTINES = sizeof routines / sizeof *routines };

/* Compares names; '-' and '_' count as equal. */
static int is_same(const char *name, const char *other)
{
	while (*name && (*name == *other || (*name == '_' && *other == '-')))
		name++, other++;
	return *name == '\0' && *other == '\0';
}

static const struct hd_dense_routine *find(const char *name)
{
	if (!name || strcmp(name, "cholesky") == 0)
		name = "potrf";
	for (size_t i = 0; i < N_ROUTINES; i++)
		if (is_same(routines[i]->facts.name, name))
			return routines[i];
	return NULL;
}

const struct heddle_dense_routine *heddle_dense_routine_at(size_t i)
{
	return i < N_ROUTINES ? &routines[i]->facts : NULL;
}

const struct heddle_dense_routine *heddle_dense_routine_find(const char *name)
{
	const struct hd_dense_routine *routine = find(name);
	return routine ? &routine->facts : NULL;
}

/* Fills in the defaults that do not depend on the runtime. */
static struct heddle_dense_problem settled(const struct heddle_dense_problem *problem)
{
	struct heddle_dense_problem p = *problem;
	p.m = p.m ? p.m : p.n;
	p.k = p.k ? p.k : p.n;
	if (p.uplo == HEDDLE_DENSE_GENERAL)
		p.uplo = HEDDLE_DENSE_LOWER;
	return p;
}

double heddle_dense_flops(const struct heddle_dense_problem *problem)
{
	const struct hd_dense_routine *routine = problem ? find(problem->routine) : NULL;
	if (!routine)
		return NAN;
	struct heddle_dense_problem p = settled(problem);
	if (p.n_right == 0)
		p.n_right = p.options.tile ? p.options.tile : 1;
	return routine->flops(&p);
}

enum { CACHE_LINE = 64 };

/* Allocates a column-major matrix. Its columns begin on cache lines, and not a power of two apart, because they would
 * then compete for the same cache sets. */
static int allocate(size_t rows, size_t columns, size_t size, void **a, size_t *lda)
{
	size_t line = CACHE_LINE / size;
	*lda = ((rows + line - 1) / line | 1) * line;
	if (rows > SIZE_MAX / 4 || columns > SIZE_MAX / 2 / size / *lda)
		return heddle_error(HEDDLE_E_INVALID, "a matrix of %zu x %zu does not fit in the address space", rows,
		                    columns);
	*a = aligned_alloc(CACHE_LINE, *lda * (columns ? columns : 1) * size);
	return *a ? 0 : hd_dense_no_memory("the random matrix");
}

/* Reads a whole number of at least `least`, up to a '/' or the end; *text then points there. Returns 0 if there is no
 * such number. */
static int read_number(const char **text, size_t least, size_t *number)
{
	char *end;
	if (**text < '0' || **text > '9')
		return 0;
	unsigned long long n = strtoull(*text, &end, 10);
	*text = end;
	*number = (size_t)n;
	return n >= least && n <= INT_MAX && (*end == '\0' || *end == '/');
}

static int read_tiles(const char *text, struct hd_dense_cut *cut)
{
	while (cut->n < HD_DENSE_LEVELS && read_number(&text, 1, &cut->tiles[cut->n++])) {
		if (!*text)
			return 1;
		text++;
	}
	return 0;
}

int hd_dense_read_cut(const struct heddle_dense_problem *p, struct hd_dense_cut *cut)
{
	const char *band = p->refine;
	*cut = (struct hd_dense_cut){.band = SIZE_MAX};
	if (*p->cut && !read_tiles(p->cut, cut))
		return heddle_error(HEDDLE_E_FORMAT, "cut is \"%s\": it must be orders of tiles, such as 960/320",
		                    p->cut);
	if (strcmp(band, "diagonal") == 0)
		cut->band = 1;
	else if (*band && strcmp(band, "all") != 0 && (!read_number(&band, 0, &cut->band) || *band))
		return heddle_error(HEDDLE_E_FORMAT, "refine is \"%s\": it must be all, diagonal or a whole number",
		                    p->refine);
	return 0;
}

/* Cuts the tiles of a matrix as the problem says. */
static int refine(const heddle_dense_experiment *e, heddle_dense_matrix *a)
{
	struct hd_dense_cut cut;
	int status = hd_dense_read_cut(&e->problem, &cut);
	if (status < 0 || cut.n == 0)
		return status;
	return heddle_dense_refine(a, cut.tiles, cut.n, a->shape.rows == a->shape.columns ? cut.band : SIZE_MAX);
}

int hd_dense_experiment_matrix(heddle_dense_experiment *e, size_t i, size_t rows, size_t columns,
                               enum heddle_dense_uplo uplo)
{
	const struct heddle_dense_problem *p = &e->problem;
	struct heddle_dense_shape shape = {
	    .precision = p->precision, .rows = rows, .columns = columns, .tile = p->options.tile, .uplo = uplo};
	size_t lda = 0;
	int status = 0;
	if (p->options.layout == HEDDLE_DENSE_IN_PLACE)
		status = allocate(rows, columns, hd_dense_elem_size(p->precision), &e->buffers[i], &lda);
	if (e->buffers[i]) /* an error is ignored: without pinning, copies are only slower */
		e->pinned[i] = !heddle_memory_pin(e->dense->rt, e->buffers[i],
		                                  lda * (columns ? columns : 1) * hd_dense_elem_size(p->precision));
	if (status >= 0)
		status = heddle_dense_matrix_create(e->dense, &shape, e->buffers[i], lda, &e->m[i]);
	return status < 0 ? status : refine(e, e->m[i]);
}

int heddle_dense_experiment_close(heddle_dense_experiment *e)
{
	if (!e)
		return 0;
	int status = hd_dense_pivots_finish(e->pivots, heddle_dense_qr_destroy(e->qr));
	for (size_t i = 0; i < HD_DENSE_MAX_MATRICES; i++) {
		status = hd_dense_finish(e->m[i], status);
		if (e->pinned[i])
			heddle_memory_unpin(e->dense->rt, e->buffers[i]);
		free(e->buffers[i]);
	}
	free(e);
	return status;
}

/* Closes the experiment. Returns `status` and keeps its message if it is an error; otherwise returns the status of
 * closing. */
static int close_after(heddle_dense_experiment *e, int status)
{
	char message[1024];
	if (status >= 0)
		return heddle_dense_experiment_close(e);
	snprintf(message, sizeof message, "%s", heddle_last_error());
	heddle_dense_experiment_close(e);
	return heddle_error(status, "%s", message);
}

/* Like heddle_dense_experiment_open, with the given layout. */
static int open_in(heddle_dense *dense, const struct heddle_dense_problem *problem, enum heddle_dense_layout layout,
                   heddle_dense_experiment **out)
{
	if (!dense || !problem || !out)
		return heddle_error(HEDDLE_E_INVALID,
		                    "an experiment needs a dense context, a problem and a place for its result");
	const struct hd_dense_routine *routine = find(problem->routine);
	if (!routine)
		return heddle_error(HEDDLE_E_UNKNOWN, "no dense routine is called \"%s\"", problem->routine);
	if ((unsigned)problem->precision >= HEDDLE_DENSE_PRECISIONS)
		return heddle_error(HEDDLE_E_INVALID,
		                    "precision %d of a problem is not a value of enum heddle_dense_precision",
		                    (int)problem->precision);
	heddle_dense_experiment *e = calloc(1, sizeof *e);
	if (!e)
		return hd_dense_no_memory("an experiment");
	e->dense = dense;
	e->routine = routine;
	e->problem = settled(problem);
	e->problem.options.layout = layout;
	if (e->problem.options.tile == 0)
		e->problem.options.tile =
		    hd_dense_default_tile(dense, e->problem.routine, problem->precision, e->problem.n);
	if (e->problem.n_right == 0)
		e->problem.n_right = e->problem.options.tile;
	int status = routine->open(e);
	if (status >= 0) {
		*out = e;
		return 0;
	}
	return close_after(e, status);
}

int heddle_dense_experiment_open(heddle_dense *dense, const struct heddle_dense_problem *problem,
                                 heddle_dense_experiment **out)
{
	return open_in(dense, problem, problem ? problem->options.layout : HEDDLE_DENSE_TILED, out);
}

static int no_experiment(const char *function)
{
	return heddle_error(HEDDLE_E_INVALID, "%s needs an experiment (heddle_dense_experiment_open)", function);
}

int heddle_dense_experiment_fill(heddle_dense_experiment *e)
{
	return e ? e->routine->fill(e) : no_experiment("heddle_dense_experiment_fill");
}

int heddle_dense_experiment_submit(heddle_dense_experiment *e)
{
	return e ? e->routine->submit(e) : no_experiment("heddle_dense_experiment_submit");
}

int heddle_dense_experiment_residual(heddle_dense_experiment *e, double *residual)
{
	if (!e)
		return no_experiment("heddle_dense_experiment_residual");
	if (!residual)
		return heddle_error(HEDDLE_E_INVALID, "heddle_dense_experiment_residual needs a place for its result");
	return e->routine->residual(e, residual);
}

/* Submits the routine, waits for it, and writes the times to *report. */
static int run_routine(heddle_dense_experiment *e, struct heddle_dense_report *report)
{
	heddle_runtime *rt = e->dense->rt;
	double start = heddle_now(rt);
	int status = hd_dense_wait(e->dense, heddle_dense_experiment_submit(e));
	report->seconds = (heddle_now(rt) - start) * 1e-6;
	report->gflops = report->seconds > 0 ? heddle_dense_flops(&e->problem) / report->seconds * 1e-9 : 0;
	report->residual = NAN;
	return status;
}

int heddle_dense_run(heddle_dense *dense, const struct heddle_dense_problem *problem,
                     struct heddle_dense_report *report)
{
	heddle_dense_experiment *e = NULL;
	struct heddle_dense_report result = {.residual = NAN};
	int status = heddle_dense_experiment_open(dense, problem, &e);
	if (status < 0)
		return status;
	status = hd_dense_wait(dense, heddle_dense_experiment_fill(e));
	if (status >= 0)
		status = run_routine(e, &result);
	if (status >= 0 && problem->check)
		status = heddle_dense_experiment_residual(e, &result.residual);
	status = close_after(e, status);
	if (status >= 0 && report)
		*report = result;
	return status;
}

int heddle_dense_graph(heddle_dense *dense, const struct heddle_dense_problem *problem,
                       struct heddle_dense_report *report)
{
	heddle_dense_experiment *e = NULL;
	struct heddle_dense_report result = {.residual = NAN};
	int status = open_in(dense, problem, HEDDLE_DENSE_TILED, &e);
	if (status >= 0)
		status = close_after(e, run_routine(e, &result));
	if (status >= 0 && report)
		*report = result;
	return status;
}
