/* Measures how streams share a device, and describes the source of a platform's figures: see calibration.h. */
#include "calibration.h"
#include "tool.h"
#include "start/devices.h"
#include <heddle/dense.h>
#include <heddle/trace.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 3, SHORT = 4, LEAST = 8, MOST = 256 }; /* numbers of successive products */
static const double LONG_ENOUGH = 50 * 1000;           /* us that successive products should take at least */

/* --- Streams ------------------------------------------------------------------------------------------------------ */

int *calibration_streams(struct heddle_config *config, size_t i, const char **kind)
{
	static const char *const kinds[] = {"cuda", "opencl", "emulated"};
	int *const streams[] = {&config->cuda_streams, &config->opencl_streams, &config->emulated_streams};
	if (i >= sizeof kinds / sizeof *kinds)
		return NULL;
	*kind = kinds[i];
	return streams[i];
}

/* Tiles for a chain of products; products of different chains may run at the same time. */
struct chain {
	heddle_dense_matrix *a, *b, *c;
};

struct chains {
	heddle_runtime *rt;
	heddle_dense *dense;
	struct chain *list; /* owns */
	unsigned n;
};

static int open_chain(const struct chains *all, struct chain *c, size_t tile)
{
	struct heddle_dense_shape shape = {.rows = tile, .columns = tile, .tile = tile};
	heddle_dense_matrix **matrices[] = {&c->a, &c->b, &c->c};
	int status = 0;
	for (size_t i = 0; i < 3 && !status; i++) {
		status = heddle_dense_matrix_create(all->dense, &shape, NULL, 0, matrices[i]);
		if (!status)
			status = heddle_dense_random_submit(*matrices[i], HEDDLE_DENSE_RANDOM, i);
	}
	return status;
}

static int open_chains(struct chains *all, unsigned n, size_t tile)
{
	int status = heddle_dense_open(all->rt, &all->dense);
	all->list = tool_alloc(n * sizeof *all->list);
	for (all->n = 0; all->n < n && !status;)
		status = open_chain(all, &all->list[all->n++], tile);
	return status ? status : heddle_wait_all(all->rt);
}

static void close_chains(struct chains *all)
{
	for (unsigned i = 0; i < all->n; i++) {
		heddle_dense_matrix_destroy(all->list[i].a);
		heddle_dense_matrix_destroy(all->list[i].b);
		heddle_dense_matrix_destroy(all->list[i].c);
	}
	free(all->list);
	heddle_dense_close(all->dense);
}

/* Runs `length` successive products on each of the first n chains. *us: from the begin of the first product to the end
 * of the last; *where: the worker that ran the products, or -1 if several workers did. */
static int run_once(const struct chains *all, unsigned n, int length, double *us, int *where)
{
	struct heddle_trace *trace;
	heddle_dense_scalar one = heddle_dense_real(1);
	int status = heddle_trace_take(all->rt, &trace);
	if (status)
		return status;
	heddle_trace_free(trace); /* drops the trace of earlier tasks */
	for (int i = 0; i < length && !status; i++)
		for (unsigned k = 0; k < n && !status; k++) {
			const struct chain *c = &all->list[k];
			status = heddle_dense_gemm_submit(HEDDLE_DENSE_NO_TRANS, HEDDLE_DENSE_NO_TRANS, one, c->a, c->b,
			                                  one, c->c, NULL);
		}
	if (!status)
		status = heddle_wait_all(all->rt);
	if (!status)
		status = heddle_trace_take(all->rt, &trace);
	if (status)
		return status;
	double begin = INFINITY, end = 0;
	*where = trace->n_tasks ? (int)trace->tasks[0].worker : -1;
	for (size_t i = 0; i < trace->n_tasks; i++) {
		begin = fmin(begin, trace->tasks[i].start);
		end = fmax(end, trace->tasks[i].end);
		*where = (int)trace->tasks[i].worker == *where ? *where : -1;
	}
	*us = end - begin;
	heddle_trace_free(trace);
	return 0;
}

/* Calls run_once several times and takes the shortest time, because other programs only make a run slower. */
static int run_chains(const struct chains *all, unsigned n, int length, double *us, int *where)
{
	int status = 0, ran = -1;
	*us = INFINITY;
	for (int i = 0; i < ROUNDS && !status; i++) {
		double took = INFINITY;
		status = run_once(all, n, length, &took, &ran);
		*us = fmin(*us, took);
		*where = i == 0 || ran == *where ? ran : -1;
	}
	return status;
}

/* Fills rates[n - 1] with the rate of each of n simultaneous kernels, for n up to the number of chains. *where as for
 * run_once. */
static int measure_rates(const struct chains *all, double *rates, int *where)
{
	double alone, us;
	/* a first run transfers the data and loads the kernels */
	int status = run_chains(all, all->n, SHORT, &us, where);
	if (!status)
		status = run_chains(all, 1, SHORT, &us, where);
	if (status)
		return status;
	double wanted = us > 0 ? ceil(LONG_ENOUGH * SHORT / us) : MOST;
	int length = wanted < LEAST ? LEAST : wanted < MOST ? (int)wanted : MOST, ran;
	status = run_chains(all, 1, length, &alone, where);
	rates[0] = 1;
	for (unsigned n = 2; n <= all->n && !status; n++) {
		status = run_chains(all, n, length, &us, &ran);
		*where = ran == *where ? ran : -1;
		rates[n - 1] = us > 0 ? fmin(rates[n - 2], alone / us) : rates[n - 2];
	}
	return status;
}

/* Gives the class of `to` the rates that were measured on the worker's class in `from`. */
static void note_rates(struct heddle_platform *to, const struct heddle_platform *from, int worker, double *rates)
{
	const struct heddle_class *measured = &from->classes[from->workers[worker].class_id];
	for (size_t i = 0; i < to->n_classes; i++) {
		struct heddle_class *c = &to->classes[i];
		if (strcmp(c->name, measured->name) != 0)
			continue;
		free(c->sharing);
		c->sharing = rates;
		c->streams = measured->streams;
		c->pipeline = measured->pipeline;
		return;
	}
	free(rates);
}

static int measure_on(heddle_runtime *rt, unsigned streams, size_t tile, struct heddle_platform *platform)
{
	struct chains all = {.rt = rt};
	double *rates = tool_alloc(streams * sizeof *rates);
	const struct heddle_platform *here = heddle_runtime_platform(rt);
	int where = -1, status = open_chains(&all, streams, tile);
	if (!status)
		status = measure_rates(&all, rates, &where);
	close_chains(&all);
	if (status) {
		free(rates);
		return tool_library_error("cannot measure how kernels share a device");
	}
	if (where >= 0 && here->workers[where].node != 0) {
		const struct heddle_class *c = &here->classes[here->workers[where].class_id];
		printf("%s: rates of kernels at once:", c->name);
		for (unsigned n = 0; n < streams; n++)
			printf(" %.3g", rates[n]);
		printf("\n");
		note_rates(platform, here, where, rates);
	} else {
		tool_warn(
		    "products of tiles of order %zu did not all run on the same device: how its kernels share it is "
		    "not known",
		    tile);
		free(rates);
	}
	return TOOL_OK;
}

int calibrate_sharing(const struct heddle_config *config, const char *kind, size_t tile,
                      struct heddle_platform *platform)
{
	struct heddle_config c = *config;
	heddle_runtime *rt;
	const char *name;
	unsigned streams = 1;
	int *field, has = 0;
	for (size_t i = 0; i < platform->n_classes; i++)
		has |= strcmp(platform->classes[i].kind, kind) == 0;
	for (size_t i = 0; (field = calibration_streams(&c, i, &name)); i++)
		streams = strcmp(name, kind) == 0 ? (unsigned)*field : streams;
	if (!has || streams < 2)
		return TOOL_OK;
	/* One core, to fill the tiles. Products run on the device, because the policy is asked for the device first,
	 * and the device always has room for the few ready tasks. */
	c.n_cpu = 1;
	c.n_cuda = strcmp(kind, "cuda") == 0;
	c.n_opencl = strcmp(kind, "opencl") == 0;
	c.n_emulated = strcmp(kind, "emulated") == 0;
	c.sched = "eager";
	c.sched_options = NULL;
	c.fastest_first = 1;
	c.trace = 1;
	if (heddle_start(&c, &rt))
		return tool_library_error("cannot start a runtime with several streams");
	int status = measure_on(rt, streams, tile, platform);
	if (heddle_stop(rt) && !status)
		status = tool_library_error("cannot stop the runtime");
	return status;
}

/* --- Source ------------------------------------------------------------------------------------------------------- */

/* Appends the platform's devices of a kind, each with the version of its driver. Takes ownership of `text`. */
static char *add_devices(char *text, const struct hd_device_kind *kind, const struct heddle_platform *p)
{
	struct hd_found found = {0};
	if (hd_devices_find(kind, NULL, &found))
		found.n = 0;
	for (size_t w = 0; w < p->n_workers; w++) {
		if (strcmp(p->classes[p->workers[w].class_id].kind, kind->kind) != 0)
			continue;
		for (size_t i = 0; i < found.n; i++) {
			const struct heddle_device *d = &found.list[i].about;
			if (found.list[i].number != p->workers[w].device)
				continue;
			char *longer = tool_format("%s; %s: %s, %s %s", text, p->workers[w].name, d->name, kind->title,
			                           d->driver[0] ? d->driver : "driver of unknown version");
			free(text);
			text = longer;
		}
	}
	free(found.list);
	return text;
}

char *calibration_source(const struct heddle_platform *p)
{
	char host[256] = "", date[32] = "";
	time_t now = time(NULL);
	struct tm tm;
	if (gethostname(host, sizeof host - 1) || !host[0])
		snprintf(host, sizeof host, "this machine");
	if (gmtime_r(&now, &tm))
		strftime(date, sizeof date, "%Y-%m-%d", &tm);
	char *text = tool_format("measured on %s itself by heddle platform calibrate (Heddle %s) on %s", host,
	                         heddle_version(), date);
	struct hd_device_kind kind;
	for (size_t i = 0; hd_device_kind_at(i, &kind); i++)
		text = add_devices(text, &kind, p);
	return text;
}
