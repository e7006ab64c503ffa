/* Several passes over the same runs: see passes.h. Medians are used, because other load of the machine makes a pass
 * slower, never faster. */
#include "passes.h"
#include "tool.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A kernel on data of one size, in one pass. */
struct pass_kernel {
	char *codelet, *class_; /* owned */
	double bytes, sum, n;   /* us; tasks */
	size_t pass;
};

struct pass_run {
	struct pass_kernel *kernels; /* owns */
	size_t n, max, n_passes;
};

void passes_init(struct passes *p, size_t n_runs)
{
	p->runs = tool_alloc(n_runs * sizeof *p->runs);
	p->n_runs = n_runs;
	for (size_t i = 0; i < n_runs; i++)
		p->runs[i] = (struct pass_run){.kernels = NULL};
}

void passes_free(struct passes *p)
{
	for (size_t i = 0; i < p->n_runs; i++) {
		for (size_t k = 0; k < p->runs[i].n; k++) {
			free(p->runs[i].kernels[k].codelet);
			free(p->runs[i].kernels[k].class_);
		}
		free(p->runs[i].kernels);
	}
	free(p->runs);
}

static int is_of(const struct pass_kernel *k, const char *codelet, const char *class_, double bytes)
{
	return k->bytes == bytes && strcmp(k->codelet, codelet) == 0 && strcmp(k->class_, class_) == 0;
}

static struct pass_kernel *kernel_of(struct pass_run *run, const char *codelet, const char *class_, double bytes)
{
	for (size_t i = run->n; i-- > 0 && run->kernels[i].pass == run->n_passes;)
		if (is_of(&run->kernels[i], codelet, class_, bytes))
			return &run->kernels[i];
	if (run->n == run->max) {
		run->max = run->max ? 2 * run->max : 16;
		run->kernels = tool_realloc(run->kernels, run->max * sizeof *run->kernels);
	}
	struct pass_kernel *k = &run->kernels[run->n++];
	*k = (struct pass_kernel){.codelet = tool_format("%s", codelet),
	                          .class_ = tool_format("%s", class_),
	                          .bytes = bytes,
	                          .pass = run->n_passes};
	return k;
}

void passes_add(struct passes *p, size_t number, const struct heddle_trace *trace)
{
	struct pass_run *run = &p->runs[number];
	const struct heddle_platform *platform = trace->platform;
	for (size_t i = 0; i < trace->n_tasks; i++) {
		const struct heddle_trace_task *t = &trace->tasks[i];
		const char *class_ = platform->classes[platform->workers[t->worker].class_id].name;
		if (t->status)
			continue;
		struct pass_kernel *k = kernel_of(run, trace->codelets[t->codelet].name, class_, t->bytes);
		k->sum += t->end - t->start;
		k->n++;
	}
	run->n_passes++;
}

size_t passes_count(const struct passes *p, size_t run)
{
	return p->runs[run].n_passes;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *values, size_t n)
{
	qsort(values, n, sizeof *values, by_value);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* The median time of a kernel over the passes of runs [first, last); NAN: it was not measured. */
static double middle(const struct passes *p, size_t first, size_t last, const struct pass_kernel *like)
{
	size_t n = 0, most = 0;
	for (size_t r = first; r < last; r++)
		most += p->runs[r].n;
	double *values = tool_alloc((most + 1) * sizeof *values), result = NAN;
	for (size_t r = first; r < last; r++)
		for (size_t i = 0; i < p->runs[r].n; i++) {
			const struct pass_kernel *k = &p->runs[r].kernels[i];
			if (is_of(k, like->codelet, like->class_, like->bytes))
				values[n++] = k->sum / k->n;
		}
	if (n)
		result = median(values, n);
	free(values);
	return result;
}

/* 97.5 % quantile of Student's distribution. */
static double student(size_t degrees)
{
	static const double few[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31,
	                             2.26,  2.23, 2.20, 2.18, 2.16, 2.14, 2.13};
	return degrees <= sizeof few / sizeof *few ? few[degrees - 1] : 2.1;
}

/* For each pass of a run the time of its kernels, divided by the medians of the same kernels over all passes. The
 * caller frees it. */
static double *shares(const struct passes *p, size_t number)
{
	const struct pass_run *run = &p->runs[number];
	size_t n = run->n_passes;
	double *took = tool_alloc((2 * n + 1) * sizeof *took), *usual = took + n;
	memset(took, 0, 2 * n * sizeof *took);
	for (size_t i = 0; i < run->n; i++) {
		took[run->kernels[i].pass] += run->kernels[i].sum;
		usual[run->kernels[i].pass] += run->kernels[i].n * middle(p, number, number + 1, &run->kernels[i]);
	}
	for (size_t i = 0; i < n; i++)
		took[i] = usual[i] > 0 ? took[i] / usual[i] : 1;
	return took;
}

double passes_interval(const struct passes *p, size_t number)
{
	size_t n = p->runs[number].n_passes;
	double mean = 0, variance = 0;
	if (n < 3)
		return INFINITY;
	double *took = shares(p, number);
	for (size_t i = 0; i < n; i++)
		mean += took[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		variance += (took[i] - mean) * (took[i] - mean) / (double)(n - 1);
	free(took);
	return student(n - 1) * sqrt(variance / (double)n) / mean;
}

int passes_agree(const struct passes *p, size_t run, size_t least, double within)
{
	return passes_count(p, run) >= least && passes_interval(p, run) <= within;
}

double passes_drift(const struct passes *p)
{
	double **all = tool_alloc((p->n_runs + 1) * sizeof *all), least = INFINITY, most = 0;
	double *values = tool_alloc((p->n_runs + 1) * sizeof *values);
	size_t longest = 0;
	for (size_t r = 0; r < p->n_runs; r++) {
		all[r] = shares(p, r);
		longest = p->runs[r].n_passes > longest ? p->runs[r].n_passes : longest;
	}
	for (size_t pass = 0; pass < longest; pass++) {
		size_t n = 0;
		for (size_t r = 0; r < p->n_runs; r++)
			if (pass < p->runs[r].n_passes)
				values[n++] = all[r][pass];
		double share = median(values, n);
		least = 2 * n >= p->n_runs ? fmin(least, share) : least;
		most = 2 * n >= p->n_runs ? fmax(most, share) : most;
	}
	for (size_t r = 0; r < p->n_runs; r++)
		free(all[r]);
	free(all);
	free(values);
	return most > 0 ? most / least - 1 : 0;
}

/* A further run varies like a run or like a pass. Successive runs lie in one phase of the machine, whereas passes,
 * between which other runs lie, are spread over several phases: the larger variation counts. passes_interval is for the
 * mean of the passes; times the root of their number it is the interval for one pass. */
double passes_prediction(const struct passes *p, size_t run, double deviation, size_t n, double off)
{
	double mean = passes_interval(p, run), pass = mean * sqrt((double)passes_count(p, run));
	return fmax(hypot(mean, fmax(pass, student(n - 1) * deviation)), fabs(off));
}

void passes_apply(const struct passes *p, struct heddle_platform *platform)
{
	for (size_t i = 0; i < platform->n_kernels; i++) {
		struct heddle_kernel_time *kernel = &platform->kernels[i];
		struct pass_kernel like = {.codelet = kernel->codelet,
		                           .class_ = platform->classes[kernel->class_id].name};
		for (size_t k = 0; k < kernel->n_table; k++) {
			like.bytes = kernel->table[k].bytes;
			double us = middle(p, 0, p->n_runs, &like);
			if (us > 0)
				kernel->table[k].us = us;
		}
	}
}
