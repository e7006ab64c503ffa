/* Platforms as data: frees and copies them, looks names up, and computes how long a kernel takes. */
#include "machine/machine.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

const char *const hd_kinds[HD_N_KINDS] = {"cpu", "emulated", "opencl", "cuda"};

static void free_kernels(struct heddle_kernel_time *kernels, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(kernels[i].codelet);
		free(kernels[i].table);
	}
	free(kernels);
}

static void free_levels(struct heddle_platform *p)
{
	for (size_t i = 0; i < p->n_levels; i++) {
		free(p->levels[i].name);
		free(p->levels[i].groups);
	}
	for (size_t i = 0; i < p->n_speedups; i++) {
		free(p->speedups[i].codelet);
		free(p->speedups[i].table);
	}
	free(p->levels);
	free(p->speedups);
}

void heddle_platform_free(struct heddle_platform *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_nodes; i++)
		free(p->nodes[i].name);
	for (size_t i = 0; i < p->n_classes; i++) {
		free(p->classes[i].name);
		free(p->classes[i].kind);
		free(p->classes[i].sharing);
	}
	for (size_t i = 0; i < p->n_workers; i++)
		free(p->workers[i].name);
	for (size_t i = 0; i < p->n_buses; i++)
		free(p->buses[i].name);
	for (size_t i = 0; i < p->n_links; i++)
		free(p->links[i].buses);
	free_kernels(p->kernels, p->n_kernels);
	free_levels(p);
	free(p->nodes);
	free(p->classes);
	free(p->workers);
	free(p->buses);
	free(p->links);
	free(p->name);
	free(p->description);
	free(p->source);
	free(p);
}

/* Copying duplicates each array bytewise, and then everything that its elements own. If memory runs out, *failed
 * becomes 1, and heddle_platform_free can still free the incomplete copy. */

static void *copy_array(const void *from, size_t n, size_t size, int *failed)
{
	if (n == 0)
		return NULL;
	void *to = malloc(n * size);
	if (to)
		memcpy(to, from, n * size);
	else
		*failed = 1;
	return to;
}

static char *copy_string(const char *s, int *failed)
{
	char *copy = s ? strdup(s) : NULL;
	if (s && !copy)
		*failed = 1;
	return copy;
}

static void copy_machine(const struct heddle_platform *from, struct heddle_platform *to, int *failed)
{
	to->nodes = copy_array(from->nodes, from->n_nodes, sizeof *to->nodes, failed);
	to->n_nodes = to->nodes ? from->n_nodes : 0;
	for (size_t i = 0; i < to->n_nodes; i++)
		to->nodes[i].name = copy_string(from->nodes[i].name, failed);

	to->classes = copy_array(from->classes, from->n_classes, sizeof *to->classes, failed);
	to->n_classes = to->classes ? from->n_classes : 0;
	for (size_t i = 0; i < to->n_classes; i++) {
		to->classes[i].name = copy_string(from->classes[i].name, failed);
		to->classes[i].kind = copy_string(from->classes[i].kind, failed);
		if (from->classes[i].sharing)
			to->classes[i].sharing =
			    copy_array(from->classes[i].sharing, from->classes[i].streams, sizeof(double), failed);
	}

	to->workers = copy_array(from->workers, from->n_workers, sizeof *to->workers, failed);
	to->n_workers = to->workers ? from->n_workers : 0;
	for (size_t i = 0; i < to->n_workers; i++)
		to->workers[i].name = copy_string(from->workers[i].name, failed);
}

static void copy_costs(const struct heddle_platform *from, struct heddle_platform *to, int *failed)
{
	to->buses = copy_array(from->buses, from->n_buses, sizeof *to->buses, failed);
	to->n_buses = to->buses ? from->n_buses : 0;
	for (size_t i = 0; i < to->n_buses; i++)
		to->buses[i].name = copy_string(from->buses[i].name, failed);

	to->links = copy_array(from->links, from->n_links, sizeof *to->links, failed);
	to->n_links = to->links ? from->n_links : 0;
	for (size_t i = 0; i < to->n_links; i++)
		to->links[i].buses = copy_array(from->links[i].buses, from->links[i].n_buses, sizeof(unsigned), failed);

	to->kernels = copy_array(from->kernels, from->n_kernels, sizeof *to->kernels, failed);
	to->n_kernels = to->kernels ? from->n_kernels : 0;
	for (size_t i = 0; i < to->n_kernels; i++) {
		const struct heddle_kernel_time *k = &from->kernels[i];
		to->kernels[i].codelet = copy_string(k->codelet, failed);
		to->kernels[i].table = copy_array(k->table, k->n_table, sizeof *k->table, failed);
	}
}

static void copy_levels(const struct heddle_platform *from, struct heddle_platform *to, int *failed)
{
	to->levels = copy_array(from->levels, from->n_levels, sizeof *to->levels, failed);
	to->n_levels = to->levels ? from->n_levels : 0;
	for (size_t i = 0; i < to->n_levels; i++) {
		const struct heddle_level *l = &from->levels[i];
		to->levels[i].name = copy_string(l->name, failed);
		to->levels[i].groups = copy_array(l->groups, l->n_groups, sizeof *l->groups, failed);
	}
	to->speedups = copy_array(from->speedups, from->n_speedups, sizeof *to->speedups, failed);
	to->n_speedups = to->speedups ? from->n_speedups : 0;
	for (size_t i = 0; i < to->n_speedups; i++) {
		const struct heddle_speedup *s = &from->speedups[i];
		to->speedups[i].codelet = copy_string(s->codelet, failed);
		to->speedups[i].table = copy_array(s->table, s->n_table, sizeof *s->table, failed);
	}
}

int heddle_platform_copy(const struct heddle_platform *platform, struct heddle_platform **out)
{
	if (!platform || !out)
		return hd_error(HEDDLE_E_INVALID, "heddle_platform_copy needs a platform, and where the copy is to go");
	struct heddle_platform *copy = calloc(1, sizeof *copy);
	int failed = !copy;
	if (copy) {
		copy->name = copy_string(platform->name, &failed);
		copy->description = copy_string(platform->description, &failed);
		copy->source = copy_string(platform->source, &failed);
		copy_machine(platform, copy, &failed);
		copy_costs(platform, copy, &failed);
		copy_levels(platform, copy, &failed);
	}
	if (failed) {
		heddle_platform_free(copy);
		return hd_no_memory("a copy of the platform");
	}
	*out = copy;
	return 0;
}

const struct heddle_link *heddle_platform_link(const struct heddle_platform *platform, unsigned from, unsigned to)
{
	for (size_t i = 0; platform && i < platform->n_links; i++)
		if (platform->links[i].from == from && platform->links[i].to == to)
			return &platform->links[i];
	return NULL;
}

double heddle_link_rate(const struct heddle_platform *platform, const struct heddle_link *link)
{
	if (!platform || !link)
		return NAN;
	double rate = link->bandwidth;
	for (size_t i = 0; i < link->n_buses; i++)
		rate = fmin(rate, platform->buses[link->buses[i]].bandwidth);
	return rate;
}

double heddle_class_rate(const struct heddle_class *class_, unsigned n)
{
	if (!class_)
		return NAN;
	return class_->sharing ? class_->sharing[n - 1] : 1.0 / n;
}

/* --- Kernel times (the law is stated in heddle/platform.h) -------------------------------------------------------- */

/* The time at `bytes` on the line through a and b: on log-log axes if all figures are above 0, else on linear axes. */
static double on_segment(const struct heddle_kernel_point *a, const struct heddle_kernel_point *b, double bytes)
{
	if (a->bytes > 0 && a->us > 0 && b->us > 0 && bytes > 0) {
		double t = (log(bytes) - log(a->bytes)) / (log(b->bytes) - log(a->bytes));
		return exp(log(a->us) + t * (log(b->us) - log(a->us)));
	}
	double us = a->us + (bytes - a->bytes) / (b->bytes - a->bytes) * (b->us - a->us);
	return us > 0 ? us : 0;
}

double hd_on_table(const struct heddle_kernel_point *table, size_t n, double bytes)
{
	if (bytes == table[0].bytes || bytes <= 0)
		return table[0].us;
	if (n == 1)
		return table[0].bytes > 0 ? table[0].us * pow(bytes / table[0].bytes, 1.5) : table[0].us;
	/* after the loop high is low + 1, and the segment from low to high contains `bytes`, or is the nearest
	 * segment */
	size_t low = 0, high = n - 1;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (table[middle].bytes <= bytes)
			low = middle;
		else
			high = middle;
	}
	if (bytes == table[low].bytes)
		return table[low].us;
	if (bytes == table[high].bytes)
		return table[high].us;
	return on_segment(&table[low], &table[high], bytes);
}

static double time_by_rates(const struct heddle_kernel_time *k, double bytes, double flops)
{
	double us = k->latency;
	if (k->gflops > 0) {
		if (!(flops > 0))
			return NAN;                          /* a rate alone gives no time for work of unknown size */
		us += (flops + k->half) / (k->gflops * 1e3); /* Gflop/s = 1e3 flop/us */
	}
	if (k->bandwidth > 0)
		us += bytes / k->bandwidth; /* MB/s = byte/us */
	return us;
}

const struct heddle_kernel_time *hd_platform_kernel(const struct heddle_platform *platform, const char *codelet,
                                                    unsigned class_id)
{
	for (size_t i = 0; i < platform->n_kernels; i++)
		if (platform->kernels[i].class_id == class_id && strcmp(platform->kernels[i].codelet, codelet) == 0)
			return &platform->kernels[i];
	return NULL;
}

double hd_kernel_time(const struct heddle_kernel_time *kernel, double bytes, double flops)
{
	if (!kernel)
		return NAN;
	return kernel->n_table ? hd_on_table(kernel->table, kernel->n_table, bytes)
	                       : time_by_rates(kernel, bytes, flops);
}

double heddle_platform_time(const struct heddle_platform *platform, const char *codelet, unsigned class_id,
                            double bytes, double flops)
{
	return platform && codelet ? hd_kernel_time(hd_platform_kernel(platform, codelet, class_id), bytes, flops)
	                           : NAN;
}
