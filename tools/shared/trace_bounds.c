/* Mean times of a trace, and bounds from them: see trace_bounds.h. */
#include "trace_bounds.h"
#include "tool.h"
#include <math.h>
#include <stdlib.h>

struct kind {
	uint32_t codelet;
	uint64_t footprint;
};

struct means {
	struct kind *kinds; /* owns; sorted */
	size_t n, n_classes;
	/* owned; per kind, then per class. times: us, first sums, then means, NAN when unknown. counts: tasks */
	double *times, *counts;
};

static int by_kind(const void *a, const void *b)
{
	const struct kind *x = a, *y = b;
	if (x->codelet != y->codelet)
		return x->codelet < y->codelet ? -1 : 1;
	return (x->footprint > y->footprint) - (x->footprint < y->footprint);
}

/* The index in `times` at which the times of the task's kind begin. */
static size_t row_of(const struct means *m, const struct heddle_trace_task *t)
{
	struct kind key = {t->codelet, t->footprint};
	const struct kind *found = bsearch(&key, m->kinds, m->n, sizeof key, by_kind);
	return (size_t)(found - m->kinds) * m->n_classes;
}

static void find_kinds(struct means *m, const struct heddle_trace *trace)
{
	m->kinds = tool_alloc(trace->n_tasks * sizeof *m->kinds);
	for (size_t i = 0; i < trace->n_tasks; i++)
		m->kinds[i] = (struct kind){trace->tasks[i].codelet, trace->tasks[i].footprint};
	qsort(m->kinds, trace->n_tasks, sizeof *m->kinds, by_kind);
	for (size_t i = 0; i < trace->n_tasks; i++)
		if (m->n == 0 || by_kind(&m->kinds[i], &m->kinds[m->n - 1]) != 0)
			m->kinds[m->n++] = m->kinds[i];
}

static void take_means(struct means *m, const struct heddle_trace *trace)
{
	for (size_t i = 0; i < trace->n_tasks; i++) {
		const struct heddle_trace_task *t = &trace->tasks[i];
		size_t cell = row_of(m, t) + trace->platform->workers[t->worker].class_id;
		m->times[cell] += t->end - t->start;
		m->counts[cell]++;
	}
	for (size_t cell = 0; cell < m->n * m->n_classes; cell++)
		m->times[cell] = m->counts[cell] > 0 ? m->times[cell] / m->counts[cell] : NAN;
}

static void fill_from(struct means *m, const struct heddle_trace *trace, const struct heddle_platform *models)
{
	for (size_t i = 0; i < trace->n_tasks; i++) {
		const struct heddle_trace_task *t = &trace->tasks[i];
		double *times = &m->times[row_of(m, t)];
		for (unsigned c = 0; c < m->n_classes; c++)
			if (isnan(times[c]))
				times[c] = heddle_platform_time(models, trace->codelets[t->codelet].name, c, t->bytes,
				                                t->flops);
	}
}

static double time_of(const struct heddle_trace *trace, size_t task, unsigned class_id, void *arg)
{
	const struct means *m = arg;
	return m->times[row_of(m, &trace->tasks[task]) + class_id];
}

/* Whether all times are known. For an unknown time, the bounds would assume that the class cannot run the task, and
 * would be too high. */
static int complete(const struct means *m)
{
	for (size_t cell = 0; cell < m->n * m->n_classes; cell++)
		if (isnan(m->times[cell]))
			return 0;
	return m->n > 0;
}

int measured_bounds(const struct heddle_trace *trace, const struct heddle_platform *models, struct heddle_bounds *out)
{
	struct means m = {.n_classes = trace->platform->n_classes};
	int status = 0;
	find_kinds(&m, trace);
	m.times = tool_alloc(m.n * m.n_classes * sizeof *m.times);
	m.counts = tool_alloc(m.n * m.n_classes * sizeof *m.counts);
	take_means(&m, trace);
	if (models)
		fill_from(&m, trace, models);
	*out = (struct heddle_bounds){.area = NAN, .critical_path = NAN, .iterative = NAN, .mixed = NAN};
	if (complete(&m))
		status = heddle_trace_bounds(trace, time_of, &m, 0, out);
	free(m.kinds);
	free(m.times);
	free(m.counts);
	return status;
}
