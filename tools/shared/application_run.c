/* Applications on this machine: see application_run.h. */
#include "application_run.h"
#include "trace_bounds.h"
#include "tool.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "state/data.h"
#include "flow/bring_home.h"

/* Bounds from the times of this run. For kernels that a class of workers did not run, the times are those of the models
 * of `rt`. */
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

/* --- Real runs ---------------------------------------------------------------------------------------------------- */

struct workspace {
	heddle_runtime *rt;
	const struct heddle_application *app;
	void *state;         /* the application's state; NULL: not open */
	const char *failure; /* the message if the next step fails */
};

static int open_workspace(struct workspace *w, const struct work *what)
{
	w->app = work_application(what);
	return w->app->open(w->app, w->rt, 0, what->options, &w->state);
}

static int close_workspace(struct workspace *w)
{
	return w->state ? w->app->close(w->state) : 0;
}

static int wait_for(heddle_runtime *rt, int submitted)
{
	return submitted < 0 ? submitted : heddle_wait_all(rt);
}

/* Drops the events recorded so far, which do not belong to the run. */
static int drop_trace(heddle_runtime *rt)
{
	struct heddle_trace *trace;
	int status = heddle_trace_take(rt, &trace);
	if (!status)
		heddle_trace_free(trace);
	return status;
}

/* Runs the application once, on fresh data; puts its figures into *out. */
static int run_once(struct workspace *w, const struct work *what, struct outcome *out)
{
	struct heddle_stats before, after;
	int status = w->app->fill ? wait_for(w->rt, w->app->fill(w->state)) : 0;
	if (!status && what->data_in_ram)
		status = hd_data_bring_home(w->rt);
	if (!status && what->keep_trace)
		status = drop_trace(w->rt);
	if (!status)
		status = heddle_runtime_stats(w->rt, &before);
	if (!status)
		status = outcome_begin(out, w->rt);
	struct tool_watch *watch = tool_watch_start(w->rt, out->policy, NAN);
	double wall = tool_wall_clock(), start = heddle_now(w->rt);
	if (!status)
		status = wait_for(w->rt, w->app->submit(w->state));
	out->wall = tool_wall_clock() - wall;
	tool_watch_stop(watch);
	if (!status)
		status = heddle_runtime_stats(w->rt, &after);
	if (!status) {
		outcome_take_stats(out, &before, &after);
		outcome_take_time(out, after.last_end - start);
	}
	return status;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double deviation(const double *values, size_t n)
{
	double mean = 0, squares = 0;
	for (size_t i = 0; i < n; i++)
		mean += values[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	return n > 1 ? sqrt(squares / (double)(n - 1)) : NAN;
}

static void take_median(struct outcome *out, const struct work *what, double *seconds)
{
	size_t n = (size_t)what->repeat;
	out->deviation = deviation(seconds, n);
	qsort(seconds, n, sizeof *seconds, by_value);
	out->seconds = n % 2 ? seconds[n / 2] : (seconds[n / 2 - 1] + seconds[n / 2]) / 2;
	out->min_seconds = seconds[0];
	out->max_seconds = seconds[n - 1];
	out->gflops = work_flops(what) / out->seconds * 1e-9;
}

static int run_often(struct workspace *w, const struct work *what, struct outcome *out)
{
	double *seconds = tool_alloc((size_t)what->repeat * sizeof *seconds);
	int status = 0;
	for (int i = 0; !status && i < what->repeat; i++) {
		tool_progress("run %d of %d", i + 1, what->repeat);
		status = run_once(w, what, out);
		seconds[i] = out->last_seconds;
	}
	if (!status)
		status = outcome_take_rest(out, w->rt, what);
	if (!status && out->trace) { /* uses the time of the trace, so that `heddle trace` shows the same digits */
		outcome_take_time(out, heddle_trace_makespan(out->trace));
		seconds[what->repeat - 1] = out->last_seconds;
	}
	if (!status)
		take_median(out, what, seconds);
	free(seconds);
	return status;
}

static int run_all(struct workspace *w, const struct work *what, struct outcome *out)
{
	int status = run_often(w, what, out);
	if (!status && out->trace)
		status = real_bounds(w->rt, out->trace, &out->bounds);
	if (!status && what->check && w->app->check) {
		tool_progress("residual");
		status = w->app->check(w->state, &out->residual);
		w->failure = status == HEDDLE_E_NO_FIT ? "the run went well, but its residual cannot be computed here "
		                                         "(--no-check leaves it out; a larger --emulated-memory or a "
		                                         "smaller --tile makes room)"
		                                       : "the residual was not computed";
	}
	tool_progress_end();
	return status;
}

int application_run_on(heddle_runtime *rt, const struct work *what, struct outcome *out)
{
	struct workspace w = {.rt = rt, .failure = "the application failed"};
	outcome_init(out, heddle_runtime_policy(rt));
	int failed = open_workspace(&w, what) || run_all(&w, what, out);
	if (failed)
		tool_library_error(w.failure);
	int lost = close_workspace(&w);
	if (lost && !failed)
		tool_library_error("the result was lost");
	if (!failed && !lost)
		return TOOL_OK;
	outcome_free(out);
	return TOOL_FAILURE;
}

int application_run(const struct heddle_config *config, const struct work *what, struct outcome *out)
{
	struct heddle_config c = *config;
	heddle_runtime *rt;
	c.platform = NULL;
	if (what->keep_trace && !c.trace)
		c.trace = 1;
	if (heddle_start(&c, &rt))
		return tool_start_error("cannot start the runtime");
	int status = application_run_on(rt, what, out);
	tool_warn_models(rt);
	if (heddle_stop(rt) && !status)
		out->stopped = tool_library_error("when the runtime stopped");
	return status;
}

int application_check_memory(const struct work *what)
{
	const struct heddle_application *app = work_application(what);
	double bytes = app->bytes ? app->bytes(app, what->options) : NAN;
	double installed = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
	if (!(bytes >= 0.9 * installed))
		return TOOL_OK;
	char *needed = tool_size_text(bytes), *there = tool_size_text(installed);
	tool_usage_error("the data of %s take %s, and this machine has %s: choose a smaller %s, or `heddle sim`",
	                 app->name, needed, there, work_is_dense(what) ? "--n" : "problem");
	free(needed);
	free(there);
	return TOOL_USAGE;
}
