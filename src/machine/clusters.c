/* Clusters of cores: makes the workers and classes of a platform from cluster sets, and computes kernel times on
 * clusters. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "machine/machine.h"
#include "machine/cluster_set.h"

/* --- Kernel times on a cluster (the law is stated in heddle/platform.h) ------------------------------------------- */

/* A question: how long does a codelet take on `cores` cores of the class `class_id`? */
struct speedup {
	const struct heddle_platform *platform;
	const char *codelet;
	unsigned class_id, cores;
};

static int is_about(const struct heddle_speedup *s, const struct speedup *q)
{
	return s->codelet && s->class_id == q->class_id && strcmp(s->codelet, q->codelet) == 0;
}

/* The serial fraction of a codelet's work, by Amdahl's law. At a size in the table, where k cores are S times as fast
 * as one core, it is (k / S - 1) / (k - 1). Between two sizes of the table it lies on the straight line on log-log
 * axes, because the time that threads wait grows more slowly than the work. At most 1: a kernel that would be slower on
 * several cores runs on one. */
static double serial_part(const struct heddle_speedup *s, double bytes)
{
	struct heddle_kernel_point segment[2];
	size_t high = 1;
	while (high + 1 < s->n_table && s->table[high].bytes < bytes)
		high++;
	size_t low = s->n_table > 1 ? high - 1 : 0, n = s->n_table > 1 ? 2 : 1;
	for (size_t i = 0; i < n; i++) {
		const struct heddle_speedup_point *point = &s->table[low + i];
		segment[i].bytes = point->bytes;
		segment[i].us = (s->cores / point->factor - 1) / (s->cores - 1);
	}
	return fmin(n == 1 ? segment[0].us : hd_on_table(segment, 2, bytes), 1);
}

/* The codelet's table for the fewest cores above `above`; NULL: there is none. */
static const struct heddle_speedup *next_table(const struct speedup *q, unsigned above)
{
	const struct heddle_speedup *found = NULL;
	for (size_t i = 0; i < q->platform->n_speedups; i++) {
		const struct heddle_speedup *s = &q->platform->speedups[i];
		if (is_about(s, q) && s->cores > above && (!found || s->cores < found->cores))
			found = s;
	}
	return found;
}

/* By what factor q->cores cores are faster than one core, by the tables of the codelet. If k cores are S times as fast
 * as one core, the work costs k / S times as many core-seconds. This ratio k / S is 1 for one core; each table gives it
 * for its number of cores; between and beyond these numbers of cores it is interpolated linearly. Between one core and
 * the first table the line is Amdahl's law. */
static double factor(const struct speedup *q, double bytes)
{
	double k0 = 1, cost0 = 1, slope = 0, cost = 1;
	const struct heddle_speedup *s = next_table(q, 1);
	while (s) {
		double cost1 = 1 + (s->cores - 1) * serial_part(s, bytes);
		slope = (cost1 - cost0) / (s->cores - k0);
		cost = cost0 + slope * (q->cores - k0);
		if (s->cores >= q->cores)
			break;
		k0 = s->cores;
		cost0 = cost1;
		s = next_table(q, s->cores);
	}
	return q->cores / fmax(cost, 1);
}

static struct heddle_speedup law_of(const struct speedup *q)
{
	for (size_t i = 0; i < q->platform->n_speedups; i++)
		if (!q->platform->speedups[i].codelet && q->platform->speedups[i].class_id == q->class_id)
			return q->platform->speedups[i];
	return (struct heddle_speedup){.latency = HEDDLE_CLUSTER_LATENCY, .bandwidth = HEDDLE_CLUSTER_BANDWIDTH};
}

/* The time on the cluster of a kernel that takes `us` on one core. */
static double scaled(const struct speedup *q, double us, double bytes)
{
	if (next_table(q, 1))
		return us / factor(q, bytes);
	struct heddle_speedup law = law_of(q);
	return us / q->cores + (1 - 1.0 / q->cores) * (law.latency + bytes / law.bandwidth);
}

double hd_cluster_time(const struct heddle_platform *p, const char *codelet, unsigned class_id, double us, double bytes)
{
	const struct heddle_class *c = &p->classes[class_id];
	if (c->cores <= 1 || strcmp(c->kind, "cpu") != 0)
		return us;
	const struct speedup q = {p, codelet, hd_core_class(p, class_id), c->cores};
	return scaled(&q, us, bytes);
}

static int by_bytes(const void *a, const void *b)
{
	const struct heddle_kernel_point *x = a, *y = b;
	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Fills `to` with the sizes of the kernel's table and of its speedup tables, each once. Returns their number. */
static size_t all_sizes(const struct speedup *q, const struct heddle_kernel_time *kernel,
                        struct heddle_kernel_point *to)
{
	size_t n = kernel->n_table, kept = 0;
	memcpy(to, kernel->table, n * sizeof *to);
	for (size_t i = 0; i < q->platform->n_speedups; i++) {
		const struct heddle_speedup *s = &q->platform->speedups[i];
		for (size_t k = 0; is_about(s, q) && k < s->n_table; k++)
			to[n++].bytes = s->table[k].bytes;
	}
	qsort(to, n, sizeof *to, by_bytes);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || to[i].bytes > to[kept - 1].bytes)
			to[kept++] = to[i];
	return kept;
}

/* Makes the table of times on the cluster from the kernel's table for one core. */
static int scale_table(const struct speedup *q, const struct heddle_kernel_time *kernel, struct heddle_kernel_time *to)
{
	size_t n = kernel->n_table;
	for (size_t i = 0; i < q->platform->n_speedups; i++)
		n += is_about(&q->platform->speedups[i], q) ? q->platform->speedups[i].n_table : 0;
	to->table = malloc(n * sizeof *to->table);
	if (!to->table)
		return hd_no_memory("kernel times of a cluster");
	to->n_table = all_sizes(q, kernel, to->table);
	for (size_t i = 0; i < to->n_table; i++)
		to->table[i].us = scaled(q, hd_kernel_time(kernel, to->table[i].bytes, NAN), to->table[i].bytes);
	return 0;
}

/* Fills `to` with the rates on the cluster of a kernel whose time is given by rates, by the law for all codelets. */
static void scale_rates(const struct speedup *q, const struct heddle_kernel_time *kernel, struct heddle_kernel_time *to)
{
	struct heddle_speedup law = law_of(q);
	double k = q->cores, others = 1 - 1 / k;
	double us_per_byte = others / law.bandwidth + (kernel->bandwidth > 0 ? 1 / (k * kernel->bandwidth) : 0);
	to->gflops = k * kernel->gflops;
	to->half = kernel->half;
	to->latency = kernel->latency / k + others * law.latency;
	to->bandwidth = 1 / us_per_byte;
}

/* Adds the time of the kernel p->kernels[index] on clusters of class `class_id`. */
static int add_kernel(struct heddle_platform *p, size_t index, unsigned class_id)
{
	struct heddle_kernel_time *larger = realloc(p->kernels, (p->n_kernels + 1) * sizeof *larger);
	if (!larger)
		return hd_no_memory("kernel times of a cluster");
	p->kernels = larger;
	const struct heddle_kernel_time *kernel = &larger[index];
	struct heddle_kernel_time *to = &larger[p->n_kernels];
	*to = (struct heddle_kernel_time){.codelet = strdup(kernel->codelet), .class_id = class_id};
	if (!to->codelet)
		return hd_no_memory("kernel times of a cluster");
	p->n_kernels++;
	struct speedup q = {p, kernel->codelet, kernel->class_id, p->classes[class_id].cores};
	if (kernel->n_table)
		return scale_table(&q, kernel, to);
	scale_rates(&q, kernel, to);
	return 0;
}

/* Gives clusters of the class `class_id` a time for each codelet that has a time on one core, whose class is
 * `core_class`. */
static int add_kernels(struct heddle_platform *p, unsigned core_class, unsigned class_id)
{
	int status = 0;
	size_t n = p->n_kernels;
	for (size_t i = 0; i < n && !status; i++)
		if (p->kernels[i].class_id == core_class && !hd_platform_kernel(p, p->kernels[i].codelet, class_id))
			status = add_kernel(p, i, class_id);
	return status;
}

/* --- Classes and workers ------------------------------------------------------------------------------------------ */

/* Finds the class of clusters of `cores` cores of the class `core_class`, or adds it. */
static int class_of(struct heddle_platform *p, unsigned core_class, unsigned cores, unsigned *out)
{
	*out = core_class;
	if (cores == 1)
		return 0;
	for (unsigned i = 0; i < p->n_classes; i++)
		if (p->classes[i].cores == cores && hd_core_class(p, i) == core_class && i != core_class) {
			*out = i;
			return 0;
		}
	struct heddle_class *larger = realloc(p->classes, (p->n_classes + 1) * sizeof *larger);
	if (!larger)
		return hd_no_memory("a class of clusters");
	p->classes = larger;
	struct heddle_class *c = &larger[p->n_classes];
	const struct heddle_class *like = &larger[core_class];
	*c = (struct heddle_class){.name = hd_format("%s*%u", like->name, cores),
	                           .kind = strdup(like->kind),
	                           .cores = cores,
	                           .pipeline = like->pipeline,
	                           .streams = 1,
	                           .slowdown = like->slowdown};
	if (!c->name || !c->kind) {
		free(c->name);
		free(c->kind);
		return hd_no_memory("a class of clusters");
	}
	*out = (unsigned)p->n_classes++;
	return add_kernels(p, core_class, *out);
}

/* The CPU workers that the platform will get; declare() adds the workers of each cluster set. */
struct declared {
	struct heddle_worker *list; /* owned, and so are the workers' names */
	size_t n;
};

static void free_declared(struct declared *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->list[i].name);
	free(d->list);
}

/* Whether the name is used: by a worker of the platform, which may keep its name, or by a worker that was declared
 * before. */
static int is_taken(const struct heddle_platform *p, const struct declared *d, const char *name)
{
	int taken = 0;
	for (size_t i = 0; i < p->n_workers; i++)
		taken |= strcmp(p->workers[i].name, name) == 0;
	for (size_t i = 0; i < d->n; i++)
		taken |= strcmp(d->list[i].name, name) == 0;
	return taken;
}

/* The worker's name: if the platform has a worker on these cores, the name of that worker; otherwise one such as
 * "cpu0-9", after the cores, or "cpu3.2" if another worker has that name already. */
static char *name_of(const struct heddle_platform *p, const struct declared *d, const struct heddle_worker *w,
                     const struct hd_cpu_core *core)
{
	for (size_t i = 0; i < p->n_workers; i++)
		if (p->workers[i].core == w->core && p->workers[i].class_id == w->class_id)
			return strdup(p->workers[i].name);
	unsigned cores = p->classes[w->class_id].cores, number = 1;
	const char *class_name = p->classes[core->class_id].name;
	char *plain = cores > 1 ? hd_format("%s%u-%u", class_name, core->core, core->core + cores - 1)
	                        : hd_format("%s%u", class_name, core->core);
	char *name = plain;
	while (name && is_taken(p, d, name)) {
		char *next = hd_format("%s.%u", plain, ++number);
		if (name != plain)
			free(name);
		name = next;
	}
	if (name != plain)
		free(plain);
	return name;
}

/* Declares the workers of a cluster set. Workers that an earlier cluster set has declared do not change. */
static int declare(struct heddle_platform *p, const struct hd_cores *cores, int retired, struct declared *d)
{
	struct heddle_worker *larger = realloc(d->list, (d->n + cores->n) * sizeof *larger);
	if (!larger)
		return hd_no_memory("clusters");
	d->list = larger;
	for (size_t i = 0; i < cores->n; i += hd_cluster_cores(cores, i)) {
		struct heddle_worker w = {
		    .node = cores->list[i].node, .core = (int)cores->list[i].core, .retired = (unsigned)retired};
		int status = class_of(p, cores->list[i].class_id, hd_cluster_cores(cores, i), &w.class_id);
		if (status)
			return status;
		size_t k = 0;
		while (k < d->n && (d->list[k].core != w.core || d->list[k].class_id != w.class_id))
			k++;
		if (k < d->n)
			continue;
		w.name = name_of(p, d, &w, &cores->list[i]);
		if (!w.name)
			return hd_no_memory("clusters");
		d->list[d->n++] = w;
	}
	return 0;
}

/* Replaces the CPU workers of the platform by the declared workers: the driven workers go to the place of the first CPU
 * worker, the retired workers to the end. Takes the list from `d`. */
static int replace(struct heddle_platform *p, struct declared *d)
{
	struct heddle_worker *all = malloc((p->n_workers + d->n) * sizeof *all);
	if (!all)
		return hd_no_memory("clusters");
	size_t n = 0, driven = 0;
	unsigned device = 0;
	while (driven < d->n && !d->list[driven].retired)
		driven++;
	for (size_t k = 0; k < d->n; k++)
		d->list[k].device = device++;
	for (size_t i = 0, placed = 0; i < p->n_workers; i++) {
		if (strcmp(p->classes[p->workers[i].class_id].kind, "cpu") != 0) {
			all[n++] = p->workers[i];
			continue;
		}
		free(p->workers[i].name);
		for (; placed < driven; placed++)
			all[n++] = d->list[placed];
	}
	for (size_t k = driven; k < d->n; k++)
		all[n++] = d->list[k];
	free(p->workers);
	free(d->list);
	*d = (struct declared){.n = 0};
	p->workers = all;
	p->n_workers = n;
	return 0;
}

/* Groups the cores of `p`, a copy of the caller's platform; after an error the caller frees the copy. */
static int regroup(struct heddle_platform *p, const char *clusters)
{
	struct hd_cores cores;
	struct declared declared = {.n = 0};
	int status = hd_cpu_cores_find(p, &cores), retired = 0;
	if (status)
		return hd_error_context(status, "clusters \"%.1000s\"", clusters);
	char *list;
	status = hd_cluster_sets_adaptive(p, clusters, &list);
	clusters = list ? list : clusters;
	for (const char *at = clusters; at && !status; retired = 1) {
		size_t length = hd_cluster_set_length(at);
		status = hd_cluster_set_parse(p, at, length, &cores);
		if (!status)
			status = declare(p, &cores, retired, &declared);
		at = at[length] ? at + length + 1 : NULL;
	}
	if (!status)
		status = replace(p, &declared);
	free_declared(&declared);
	hd_cpu_cores_free(&cores);
	free(list);
	return status ? status : heddle_platform_check(p);
}

int heddle_platform_cluster(struct heddle_platform *platform, const char *clusters)
{
	struct heddle_platform *copy;
	if (!clusters)
		return hd_error(HEDDLE_E_INVALID, "heddle_platform_cluster: clusters is NULL");
	int status = heddle_platform_check(platform);
	int nothing_to_do = strcmp(clusters, "none") == 0;
	for (size_t i = 0; !status && i < platform->n_workers; i++)
		nothing_to_do &= platform->classes[platform->workers[i].class_id].cores <= 1;
	if (status || nothing_to_do)
		return status;
	status = heddle_platform_copy(platform, &copy);
	if (status)
		return status;
	status = regroup(copy, clusters);
	if (!status) {
		struct heddle_platform before = *platform;
		copy->next_emulated = before.next_emulated;
		*platform = *copy;
		*copy = before;
	}
	heddle_platform_free(copy);
	return status;
}

/* --- Cluster sets to choose among --------------------------------------------------------------------------------- */

/* The number of cores of the largest cluster in a cluster set; 0: the text is no cluster set. */
static unsigned largest_cluster(const struct heddle_platform *p, const char *text)
{
	struct hd_cores cores;
	unsigned most = 0;
	if (hd_cpu_cores_find(p, &cores))
		return 0;
	if (!hd_cluster_set_parse(p, text, strlen(text), &cores))
		for (size_t i = 0; i < cores.n; i += hd_cluster_cores(&cores, i))
			most = hd_cluster_cores(&cores, i) > most ? hd_cluster_cores(&cores, i) : most;
	hd_cpu_cores_free(&cores);
	return most;
}

/* The list for "adaptive": single cores, the groups of the level with the largest groups, and halves of these. */
static char *usual_cluster_sets(const struct heddle_platform *p)
{
	const char *level = NULL;
	unsigned most = 1;
	for (size_t i = 0; i < p->n_levels; i++) {
		unsigned k = largest_cluster(p, p->levels[i].name);
		if (k > most) {
			most = k;
			level = p->levels[i].name;
		}
	}
	if (!level)
		return strdup("none");
	return most >= 4 ? hd_format("none,%u,%s", most / 2, level) : hd_format("none,%s", level);
}

int hd_cluster_sets_adaptive(const struct heddle_platform *p, const char *text, char **list)
{
	static const char word[] = "adaptive";
	size_t length = sizeof word - 1;
	*list = NULL;
	if (strcmp(text, word) == 0 || strcmp(text, "auto") == 0)
		*list = usual_cluster_sets(p);
	else if (strncmp(text, word, length) == 0 && text[length] == ':')
		*list = strdup(text + length + 1);
	else
		return 0;
	return *list ? 0 : hd_no_memory("cluster sets");
}

/* --- Cluster sets that a platform has ----------------------------------------------------------------------------- */

int hd_cluster_set_workers(const struct heddle_platform *p, const char *text, unsigned *workers, size_t *n)
{
	struct hd_cores cores;
	int status = hd_cpu_cores_find(p, &cores);
	if (status)
		return status;
	status = hd_cluster_set_parse(p, text, strlen(text), &cores);
	*n = 0;
	for (size_t i = 0; i < cores.n && !status; i += hd_cluster_cores(&cores, i)) {
		unsigned k = hd_cluster_cores(&cores, i), w = 0;
		while (w < p->n_workers && (p->workers[w].core != (int)cores.list[i].core ||
		                            p->classes[p->workers[w].class_id].cores != k ||
		                            strcmp(p->classes[p->workers[w].class_id].kind, "cpu") != 0))
			w++;
		if (w == p->n_workers)
			status = hd_error(HEDDLE_E_INVALID,
			                  "clusters \"%s\" were not declared: no worker has the %u core%s from %u on; "
			                  "name all cluster sets when the runtime starts, with commas between them "
			                  "(clusters, HEDDLE_CLUSTERS, --clusters)",
			                  text, k, k == 1 ? "" : "s", cores.list[i].core);
		else
			workers[(*n)++] = w;
	}
	hd_cpu_cores_free(&cores);
	return status;
}
