/* One Cholesky factorisation measured: see cholesky.h. */
#include "cholesky.h"
#include "measured.h"
#include "tool.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double wall_clock(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* What the counters have gained from `before` to `after`, as figures of the outcome. */
static void take_stats(struct cholesky_outcome *out, const struct heddle_stats *before,
                       const struct heddle_stats *after, double seconds, size_t n_workers)
{
	double busy = after->busy - before->busy, span = seconds * 1e6 * (double)n_workers;
	out->tasks = (double)(after->tasks_executed - before->tasks_executed);
	out->transfers = (double)(after->transfers - before->transfers);
	out->bytes_moved = (double)(after->bytes_moved - before->bytes_moved);
	out->evictions = (double)(after->evictions - before->evictions);
	out->idle = span > 0 ? fmax(0, 1 - busy / span) : 0;
}

static void add_figure(void *arg, const char *name, double value, const char *unit)
{
	struct cholesky_outcome *out = arg;
	out->figures = tool_realloc(out->figures, (out->n_figures + 1) * sizeof *out->figures);
	out->figures[out->n_figures++] = (struct cholesky_figure){
		.name = tool_format("%s", name), .unit = tool_format("%s", unit ? unit : ""), .value = value,
	};
}

static const struct heddle_bounds no_bounds = {.area = NAN, .critical_path = NAN, .best = NAN};

/* With the times of this run, and those that the models of `rt` hold of what it did not do. */
static int real_bounds(heddle_runtime *rt, const struct heddle_trace *trace, struct heddle_bounds *out)
{
	struct heddle_platform *models;
	int status = heddle_platform_measured(rt, "measured", &models);
	if (status)
		return status;
	status = measured_bounds(trace, models, out);
	heddle_platform_free(models);
	return status;
}

/* --- Real runs ---------------------------------------------------------------------------------------------------------- */

struct workspace {
	heddle_runtime *rt;
	heddle_dense *dense;
	heddle_dense_matrix *matrix;
	void *buffer; /* in place: the column-major matrix */
};

static size_t element_size(enum heddle_dense_precision precision)
{
	return precision == HEDDLE_DENSE_DOUBLE ? sizeof(double) : sizeof(float);
}

static int open_workspace(struct workspace *w, const struct heddle_dense_problem *p)
{
	struct heddle_dense_shape shape = {
	    .precision = p->precision, .rows = p->n, .columns = p->n, .tile = p->tile, .lower = 1};
	/* Columns begin on cache lines, an odd number of them apart: a power of two would share cache sets. */
	size_t lda = ((p->n + 15) / 16 | 1) * 16;
	if (p->layout == HEDDLE_DENSE_IN_PLACE)
		w->buffer = tool_alloc(lda * p->n * element_size(p->precision));
	int status = heddle_dense_open(w->rt, &w->dense);
	return status ? status : heddle_dense_matrix_create(w->dense, &shape, w->buffer, lda, &w->matrix);
}

static int close_workspace(struct workspace *w)
{
	int status = heddle_dense_matrix_destroy(w->matrix);
	heddle_dense_close(w->dense);
	free(w->buffer);
	return status;
}

/* Tasks of one factorisation. */
static double count_tasks(const struct heddle_dense_problem *p)
{
	double tiles = (double)((p->n + p->tile - 1) / p->tile);
	return tiles * (tiles + 1) * (tiles + 2) / 6;
}

static int wait_for(heddle_runtime *rt, int submitted)
{
	return submitted < 0 ? submitted : heddle_wait_all(rt);
}

/* The events recorded until now are not those of the factorisation. */
static int drop_trace(heddle_runtime *rt)
{
	struct heddle_trace *trace;
	int status = heddle_trace_take(rt, &trace);
	if (!status)
		heddle_trace_free(trace);
	return status;
}

/* One factorisation of a fresh matrix, with its figures in *out. */
static int factor_once(struct workspace *w, const struct cholesky *what, struct cholesky_outcome *out)
{
	struct heddle_stats before, after;
	int status = wait_for(w->rt, heddle_dense_spd_submit(w->matrix, what->problem.seed));
	if (!status && what->keep_trace)
		status = drop_trace(w->rt);
	if (!status)
		status = heddle_runtime_stats(w->rt, &before);
	struct tool_watch *watch = tool_watch_start(w->rt, out->policy, count_tasks(&what->problem));
	double wall = wall_clock(), start = heddle_now(w->rt);
	if (!status)
		status = wait_for(w->rt, heddle_dense_potrf_submit(w->matrix, what->problem.priority));
	out->last_seconds = (heddle_now(w->rt) - start) * 1e-6;
	out->wall = wall_clock() - wall;
	tool_watch_stop(watch);
	if (!status)
		status = heddle_runtime_stats(w->rt, &after);
	if (!status)
		take_stats(out, &before, &after, out->last_seconds, heddle_runtime_platform(w->rt)->n_workers);
	return status;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void take_median(struct cholesky_outcome *out, const struct cholesky *what, double *seconds)
{
	size_t n = (size_t)what->repeat;
	qsort(seconds, n, sizeof *seconds, by_value);
	out->seconds = n % 2 ? seconds[n / 2] : (seconds[n / 2 - 1] + seconds[n / 2]) / 2;
	out->min_seconds = seconds[0];
	out->max_seconds = seconds[n - 1];
	out->gflops = heddle_dense_potrf_flops(what->problem.n) / out->seconds * 1e-9;
}

static int factor_all(struct workspace *w, const struct cholesky *what, struct cholesky_outcome *out)
{
	double *seconds = tool_alloc((size_t)what->repeat * sizeof *seconds);
	int status = 0;
	for (int i = 0; !status && i < what->repeat; i++) {
		tool_progress("factorisation %d of %d", i + 1, what->repeat);
		status = factor_once(w, what, out);
		seconds[i] = out->last_seconds;
	}
	if (!status)
		take_median(out, what, seconds);
	free(seconds);
	if (!status)
		status = heddle_policy_report(w->rt, add_figure, out);
	if (!status && what->keep_trace)
		status = heddle_trace_take(w->rt, &out->trace);
	if (!status && out->trace)
		status = real_bounds(w->rt, out->trace, &out->bounds);
	if (!status && what->problem.check) {
		tool_progress("residual");
		status = heddle_dense_potrf_residual(w->matrix, what->problem.seed, &out->residual);
	}
	tool_progress_end();
	return status;
}

int cholesky_run_on(heddle_runtime *rt, const struct cholesky *what, struct cholesky_outcome *out)
{
	struct workspace w = {.rt = rt};
	*out = (struct cholesky_outcome){.residual = NAN, .bounds = no_bounds};
	snprintf(out->policy, sizeof out->policy, "%s", heddle_runtime_policy(rt));
	int failed = open_workspace(&w, &what->problem) || factor_all(&w, what, out);
	if (failed)
		tool_library_error("the factorisation failed");
	int lost = close_workspace(&w);
	if (lost && !failed)
		tool_library_error("the factor was lost");
	if (!failed && !lost)
		return TOOL_OK;
	cholesky_outcome_free(out);
	return TOOL_FAILURE;
}

int cholesky_run(const struct heddle_config *config, const struct cholesky *what, struct cholesky_outcome *out)
{
	struct heddle_config c = *config;
	heddle_runtime *rt;
	c.platform = NULL;
	if (what->keep_trace && !c.trace)
		c.trace = 1;
	if (heddle_start(&c, &rt))
		return tool_library_error("cannot start the runtime");
	int status = cholesky_run_on(rt, what, out);
	if (heddle_model_warnings(rt)[0])
		tool_warn("%s", heddle_model_warnings(rt));
	if (heddle_stop(rt) && !status) {
		cholesky_outcome_free(out);
		status = tool_library_error("cannot stop the runtime");
	}
	return status;
}

/* --- Virtual time -------------------------------------------------------------------------------------------------------- */

static int sim_on(heddle_runtime *rt, const struct cholesky *what, struct cholesky_outcome *out)
{
	heddle_dense *dense;
	struct heddle_dense_report report;
	struct heddle_stats before, after;
	int status = heddle_dense_open(rt, &dense);
	if (status)
		return status;
	snprintf(out->policy, sizeof out->policy, "%s", heddle_runtime_policy(rt));
	struct tool_watch *watch = tool_watch_start(rt, out->policy, count_tasks(&what->problem));
	double wall = wall_clock();
	status = heddle_runtime_stats(rt, &before);
	if (!status)
		status = heddle_dense_potrf_graph(dense, &what->problem, &report);
	if (!status)
		status = heddle_runtime_stats(rt, &after);
	out->wall = wall_clock() - wall;
	tool_watch_stop(watch);
	if (!status) {
		out->seconds = out->last_seconds = out->min_seconds = out->max_seconds = report.seconds;
		out->gflops = report.gflops;
		take_stats(out, &before, &after, report.seconds, heddle_runtime_platform(rt)->n_workers);
	}
	if (!status)
		status = heddle_policy_report(rt, add_figure, out);
	if (!status && what->keep_trace)
		status = heddle_trace_take(rt, &out->trace);
	if (!status && out->trace)
		status = heddle_trace_bounds(out->trace, NULL, NULL, &out->bounds);
	heddle_dense_close(dense);
	return status;
}

int cholesky_sim(const struct heddle_config *config, const struct heddle_platform *platform,
                 const struct cholesky *what, struct cholesky_outcome *out)
{
	struct heddle_config c = *config;
	heddle_runtime *rt;
	*out = (struct cholesky_outcome){.residual = NAN, .bounds = no_bounds};
	c.trace = what->keep_trace ? (c.trace ? c.trace : 1) : 0;
	if (heddle_start_on(&c, platform, 1, &rt))
		return tool_library_error("cannot start the simulation");
	int failed = sim_on(rt, what, out);
	if (failed)
		tool_library_error("the simulation failed");
	int stopped = heddle_stop(rt);
	if (stopped && !failed)
		tool_library_error("the simulation did not end well");
	if (!failed && !stopped)
		return TOOL_OK;
	cholesky_outcome_free(out);
	return TOOL_FAILURE;
}

int cholesky_bounds(const struct heddle_config *config, const struct heddle_platform *platform,
                    const struct cholesky *what, struct heddle_bounds *out)
{
	struct heddle_config c = *config;
	struct cholesky w = *what;
	struct cholesky_outcome outcome;
	c.sched = "eager";
	c.sched_options = NULL;
	w.keep_trace = 1;
	int status = cholesky_sim(&c, platform, &w, &outcome);
	if (status)
		return status;
	*out = outcome.bounds;
	cholesky_outcome_free(&outcome);
	return TOOL_OK;
}

void cholesky_outcome_free(struct cholesky_outcome *outcome)
{
	heddle_trace_free(outcome->trace);
	for (size_t i = 0; i < outcome->n_figures; i++) {
		free(outcome->figures[i].name);
		free(outcome->figures[i].unit);
	}
	free(outcome->figures);
	outcome->trace = NULL;
	outcome->figures = NULL;
	outcome->n_figures = 0;
}

/* --- Checks beforehand --------------------------------------------------------------------------------------------------- */

static int knows(const struct heddle_platform *platform, char letter, const char *operation)
{
	for (size_t i = 0; i < platform->n_kernels; i++) {
		const char *name = platform->kernels[i].codelet;
		if (name[0] == letter && strcmp(name + 1, operation) == 0)
			return 1;
	}
	return 0;
}

int cholesky_check_platform(const struct heddle_platform *platform, const struct cholesky *what)
{
	static const char *const operations[] = {"potrf", "trsm", "syrk", "gemm"};
	char letter = what->problem.precision == HEDDLE_DENSE_DOUBLE ? 'd' : 's', other = letter == 'd' ? 's' : 'd';
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
		if (knows(platform, letter, operations[i]))
			continue;
		if (knows(platform, other, operations[i]))
			return tool_usage_error("platform %s has times for %c%s and none for %c%s: use --precision %c",
			                        platform->name, other, operations[i], letter, operations[i], other);
		return tool_usage_error("platform %s has no times for %c%s: `heddle platforms %s` shows what it has",
		                        platform->name, letter, operations[i], platform->name);
	}
	return TOOL_OK;
}

int cholesky_check_memory(const struct cholesky *what)
{
	double n = (double)what->problem.n;
	double bytes = n * n * (double)element_size(what->problem.precision);
	double installed = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
	if (bytes < 0.9 * installed)
		return TOOL_OK;
	char *needed = tool_size_text(bytes), *there = tool_size_text(installed);
	tool_usage_error(
	    "a matrix of order %zu takes %s, and this machine has %s: choose a smaller --n, or `heddle sim`",
	    what->problem.n, needed, there);
	free(needed);
	free(there);
	return TOOL_USAGE;
}
