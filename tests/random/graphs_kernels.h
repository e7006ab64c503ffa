/* A random task graph as random_graphs.c makes it, and the kernels of its tasks. */
#ifndef RANDOM_GRAPHS_KERNELS_H
#define RANDOM_GRAPHS_KERNELS_H

#include <stdarg.h>
#include <stdatomic.h>
#include "cuda_kernels.h"
#include "elements.h"
#include "opencl_kernels.h"
#include "support.h"

enum {
	MAX_DATA = 10,
	MAX_ACCESS = 4,
	MAX_TASKS = 48,
	MAX_CHILDREN = 64,
	MAX_ELEMENTS = 512,
	LARGEST = MAX_ELEMENTS * sizeof(uint64_t) /* datum, bytes */
};

/* One datum: the program's buffer and what a sequential run would have left in it by now. */
struct datum {
	uint64_t *buffer; /* NULL: a temporary */
	struct mem expected;
	size_t ld;
	heddle_data *handle;
	int dims;                       /* 0 variable, 1 vector, 2 matrix */
	int written;                    /* it has a value */
	int is_void;                    /* the task that should have written it failed */
	size_t n_children;              /* partitioned */
	int overlap;                    /* its children overlap */
	struct mem child[MAX_CHILDREN]; /* expected */
};

/* What a kernel is told. */
struct work {
	struct graph *graph;
	uint64_t k;
	unsigned task, n, after[2], n_after;
	int fails;
	int modes[MAX_ACCESS];
};

/* What is known about a task. */
struct record {
	_Atomic int runs, ended, calls, status;
	int expected_status;
	heddle_task *held;
};

struct graph {
	heddle_runtime *rt;
	heddle_codelet **codelets;  /* for any worker, for one kind only */
	heddle_codelet **reduction; /* init, combine */
	unsigned n_codelets, n_workers;
	uint64_t room; /* bytes that a task may use to fit every memory */
	struct hd_rng rng;
	/* some kernels fail; then modes whose order is free are left out, as what is lost depends on it */
	int failing;
	struct datum data[MAX_DATA];
	unsigned n_data, n_tasks;
	struct record records[MAX_TASKS];
	_Atomic int broken; /* a kernel saw what it must not see */
	char problem[256];  /* the first thing that went wrong; "" */
};

static int problem(struct graph *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int problem(struct graph *g, const char *format, ...)
{
	if (!g->problem[0]) {
		va_list args;
		va_start(args, format);
		vsnprintf(g->problem, sizeof g->problem, format, args);
		va_end(args);
	}
	return -1;
}

/* A call that must succeed. */
static int must(struct graph *g, int status, const char *what)
{
	if (!status)
		return 0;
	problem(g, "%s: %s, %s", what, heddle_status_name(status), heddle_last_error());
	if (status == HEDDLE_E_DEADLOCK) {
		if (heddle_selfcheck(g->rt))
			fprintf(stderr, "heddle_selfcheck: %s\n", heddle_last_error());
		heddle_dump(g->rt, stderr);
	}
	return -1;
}

/* --- Kernels and callbacks ---------------------------------------------------------------------------------------- */

/* What a kernel can see before it computes. Returns whether that is wrong. */
static int begin_work(heddle_context *c, const struct work *w)
{
	struct graph *g = w->graph;
	int bad = heddle_context_n_data(c) != w->n;
	for (unsigned i = 0; i < w->n_after; i++)
		bad |= !g->records[w->after[i]].ended;
	g->records[w->task].runs++;
	return bad;
}

static int end_work(heddle_context *c, const struct work *w, int bad)
{
	struct graph *g = w->graph;
	g->broken += bad;
	if (w->fails)
		return heddle_fail(c, 7, "kernel %u was told to fail", w->task);
	g->records[w->task].ended = 1;
	return 0;
}

static int work_kernel(heddle_context *c)
{
	const struct work *w = heddle_value_ptr(c, 0);
	struct mem mem[MAX_ACCESS];
	int bad = begin_work(c, w);
	for (unsigned i = 0; i < w->n && !bad; i++)
		bad = mem_of(c, i, &mem[i]);
	uint64_t sum;
	return end_work(c, w, bad || compute(w->k, w->n, w->modes, mem, &sum));
}

static _Atomic uint64_t n_on_devices; /* tasks that ran there, of all graphs */

/* work_kernel on an OpenCL device. It counts a task as ended when its kernel has been put on a stream. */
static int work_opencl(heddle_context *c)
{
	const struct work *w = heddle_value_ptr(c, 0);
	int bad = begin_work(c, w);
	struct _cl_mem *sum;
	if (!bad && compute_opencl(c, w->k, w->n, w->modes, &sum))
		return 1; /* with the sentence that it has left */
	n_on_devices++;
	return end_work(c, w, bad);
}

/* And on a CUDA device. */
static int work_cuda(heddle_context *c)
{
	const struct work *w = heddle_value_ptr(c, 0);
	int bad = begin_work(c, w);
	if (!bad && compute_cuda(c, w->k, w->n, w->modes))
		return 1;
	n_on_devices++;
	return end_work(c, w, bad);
}

static void count_call(void *arg, int status)
{
	struct record *r = arg;
	r->status = status;
	r->calls++;
}

#endif
