/* Cluster sets as text: parsing, and placing clusters on cores (cluster_set.h). */
#include "machine/cluster_set.h"
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "machine/machine.h"

#define MOST_FILE 1000000 /* bytes of a file with ranges of cores */
#define MOST_CORES 1000000

/* --- The cores ---------------------------------------------------------------------------------------------------- */

unsigned hd_core_class(const struct heddle_platform *p, unsigned class_id)
{
	const struct heddle_class *c = &p->classes[class_id];
	const char *star = c->cores > 1 ? strrchr(c->name, '*') : NULL;
	size_t length = star ? (size_t)(star - c->name) : 0;
	for (unsigned i = 0; star && i < p->n_classes; i++)
		if (strlen(p->classes[i].name) == length && strncmp(p->classes[i].name, c->name, length) == 0)
			return i;
	return class_id;
}

static int by_core(const void *a, const void *b)
{
	const struct hd_cpu_core *x = a, *y = b;
	return (x->core > y->core) - (x->core < y->core);
}

static int is_cpu(const struct heddle_platform *p, const struct heddle_worker *w)
{
	return !w->retired && strcmp(p->classes[w->class_id].kind, "cpu") == 0;
}

static unsigned cores_of(const struct heddle_platform *p, const struct heddle_worker *w)
{
	unsigned cores = p->classes[w->class_id].cores;
	return cores > 1 ? cores : 1;
}

static int list_cores(const struct heddle_platform *p, struct hd_cores *out)
{
	for (size_t i = 0; i < p->n_workers; i++) {
		const struct heddle_worker *w = &p->workers[i];
		if (!is_cpu(p, w))
			continue;
		if (w->core < 0)
			return hd_error(HEDDLE_E_INVALID,
			                "worker %s is bound to no core, so that it cannot be part of "
			                "a cluster; give it a core",
			                w->name);
		for (unsigned k = 0; k < cores_of(p, w); k++)
			out->list[out->n++] = (struct hd_cpu_core){
			    .core = (unsigned)w->core + k, .class_id = hd_core_class(p, w->class_id), .node = w->node};
	}
	if (out->n == 0)
		return hd_error(HEDDLE_E_INVALID, "there is no CPU worker, and so nothing to make clusters of");
	qsort(out->list, out->n, sizeof *out->list, by_core);
	for (size_t i = 1; i < out->n; i++)
		if (out->list[i].core == out->list[i - 1].core)
			return hd_error(HEDDLE_E_INVALID,
			                "two CPU workers are on core %u; clusters are made of "
			                "workers that have a core of their own each",
			                out->list[i].core);
	return 0;
}

int hd_cpu_cores_find(const struct heddle_platform *p, struct hd_cores *out)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n_workers; i++)
		n += is_cpu(p, &p->workers[i]) ? cores_of(p, &p->workers[i]) : 0;
	*out = (struct hd_cores){.n = 0};
	if (n > MOST_CORES)
		return hd_error(HEDDLE_E_INVALID, "the CPU workers have %zu cores; clusters are made of at most %d", n,
		                MOST_CORES);
	*out = (struct hd_cores){.list = calloc(n + 1, sizeof *out->list)}; /* + 1: calloc(0) may return NULL */
	int status = out->list ? list_cores(p, out) : hd_no_memory("the cores of a platform");
	if (status)
		hd_cpu_cores_free(out);
	for (size_t i = 0; i < out->n; i++)
		out->list[i].cluster = i;
	return status;
}

void hd_cpu_cores_free(struct hd_cores *cores)
{
	free(cores->list);
	*cores = (struct hd_cores){.n = 0};
}

unsigned hd_cluster_cores(const struct hd_cores *cores, size_t i)
{
	unsigned n = 0;
	while (i + n < cores->n && cores->list[i + n].cluster == i)
		n++;
	return n;
}

/* --- Placing clusters --------------------------------------------------------------------------------------------- */

/* How many cores from list[i] on are free, of the same class and node, numbered consecutively, and at most `last`. */
static size_t free_run(const struct hd_cores *cores, size_t i, unsigned last)
{
	const struct hd_cpu_core *first = &cores->list[i];
	size_t n = 0;
	for (; i + n < cores->n && first[n].core == first->core + n && first[n].core <= last; n++)
		if (first[n].cluster != i + n || hd_cluster_cores(cores, i + n) != 1 ||
		    first[n].class_id != first->class_id || first[n].node != first->node)
			break;
	return n;
}

static void take(struct hd_cores *cores, size_t i, size_t n)
{
	for (size_t k = 0; k < n; k++)
		cores->list[i + k].cluster = i;
}

/* Makes the first n consecutive free cores within `range` a cluster. Returns 0 if there are no n such cores. */
static int place_in(struct hd_cores *cores, struct heddle_core_range range, size_t n)
{
	for (size_t i = 0; i < cores->n; i++)
		if (cores->list[i].core >= range.first && free_run(cores, i, range.last) >= n) {
			take(cores, i, n);
			return 1;
		}
	return 0;
}

/* Returns the number of cores in the largest group of a level. */
static size_t largest(const struct heddle_level *level)
{
	size_t most = 0;
	for (size_t i = 0; i < level->n_groups; i++) {
		size_t n = (size_t)level->groups[i].last - level->groups[i].first + 1;
		most = n > most ? n : most;
	}
	return most;
}

/* Makes n free cores a cluster, in one group of the level with the smallest groups that has room, so that the cores
 * share as much as they can; in any place if no group has room. Returns 0 if there is no place. */
static int place(const struct heddle_platform *p, struct hd_cores *cores, size_t n)
{
	size_t done = 0; /* the levels whose largest group has at most this many cores have been tried */
	for (;;) {
		size_t next = SIZE_MAX;
		for (size_t l = 0; l < p->n_levels; l++)
			if (largest(&p->levels[l]) > done && largest(&p->levels[l]) < next)
				next = largest(&p->levels[l]);
		if (next == SIZE_MAX)
			return place_in(cores, (struct heddle_core_range){0, UINT_MAX}, n);
		for (size_t l = 0; l < p->n_levels; l++)
			for (size_t g = 0; largest(&p->levels[l]) == next && g < p->levels[l].n_groups; g++)
				if (place_in(cores, p->levels[l].groups[g], n))
					return 1;
		done = next;
	}
}

/* Makes each run of consecutive free cores within `range` a cluster. */
static void group(struct hd_cores *cores, struct heddle_core_range range)
{
	for (size_t i = 0; i < cores->n; i++)
		if (cores->list[i].core >= range.first && cores->list[i].core <= range.last) {
			size_t n = free_run(cores, i, range.last);
			take(cores, i, n);
			i += n ? n - 1 : 0;
		}
}

/* --- Texts -------------------------------------------------------------------------------------------------------- */

/* The text of one cluster set; messages quote it. */
struct text {
	const char *at;
	int length;
};

#define BAD(t, ...) bad(t, hd_error(HEDDLE_E_INVALID, __VA_ARGS__))
static int bad(const struct text *t, int status)
{
	return hd_error_context(status, "clusters \"%.*s\"", t->length, t->at);
}

size_t hd_cluster_set_length(const char *text)
{
	return strcspn(text, ",");
}

static int is_word(const struct text *t, const char *word)
{
	return strlen(word) == (size_t)t->length && strncmp(t->at, word, (size_t)t->length) == 0;
}

/* Reads a number from 1 to MOST_CORES at *at, and moves *at behind the digits. Returns 0 if there is no such number. */
static size_t read_number(const char **at, const char *end)
{
	size_t n = 0;
	while (*at < end && isdigit((unsigned char)**at) && n <= MOST_CORES)
		n = 10 * n + (size_t)(*(*at)++ - '0');
	return n <= MOST_CORES ? n : 0;
}

/* A text such as "6": makes as many clusters of 6 cores as there is room for. */
static int group_evenly(const struct heddle_platform *p, const struct text *t, struct hd_cores *cores)
{
	const char *at = t->at;
	size_t n = read_number(&at, t->at + t->length);
	if (n == 0)
		return BAD(t, "a cluster has from 1 to %d cores", MOST_CORES);
	if (n > 1 && !place(p, cores, n))
		return BAD(t,
		           "there are no %zu free cores side by side among the %zu of the CPU workers; ask for "
		           "smaller clusters",
		           n, cores->n);
	while (n > 1 && place(p, cores, n))
		;
	return 0;
}

/* A text such as "2x4+1x6": places its clusters of *size cores, and sets *size to the next smaller size in the text, or
 * to 0. */
static int group_mix(const struct heddle_platform *p, const struct text *t, struct hd_cores *cores, size_t *size)
{
	const char *at = t->at, *end = t->at + t->length;
	size_t below = 0, total = 0;
	while (at < end) {
		size_t count = read_number(&at, end), k = 0;
		if (count && at < end && *at == 'x') {
			at++;
			k = read_number(&at, end);
		}
		if (!k || (at < end && *at != '+') || at + 1 == end)
			return BAD(t, "a mix is written as 2x4+1x6: numbers of clusters, and of their cores");
		at++;
		total += count * k;
		if (total > cores->n)
			return BAD(t,
			           "it has more than the %zu cores of the CPU workers; ask for fewer or smaller "
			           "clusters",
			           cores->n);
		for (size_t i = 0; k == *size && k > 1 && i < count; i++)
			if (!place(p, cores, k))
				return BAD(t,
				           "there is room for %zu of %zu clusters of %zu cores side by side; ask for "
				           "fewer or smaller ones",
				           i, count, k);
		below = k < *size && k > below ? k : below;
	}
	*size = below;
	return 0;
}

/* Places the larger clusters first, because they have fewer possible places. */
static int group_mixed(const struct heddle_platform *p, const struct text *t, struct hd_cores *cores)
{
	size_t size = SIZE_MAX;
	int status = 0;
	while (size > 0 && !status)
		status = group_mix(p, t, cores, &size);
	return status;
}

/* Makes a cluster of the cores that one line of a file names, such as "4-7  # comment". */
static int group_line(const struct text *t, const char *line, int number, struct hd_cores *cores)
{
	unsigned first = 0, last = 0;
	int n = 0, fields = sscanf(line, " %9u - %9u %n", &first, &last, &n);
	if (fields < 1)
		return line[strspn(line, " \t\r")]
		           ? BAD(t, "line %d is \"%.40s\"; write a range of cores, as in 0-5", number, line)
		           : 0;
	if (fields == 1) {
		last = first;
		sscanf(line, " %9u %n", &first, &n);
	}
	if (line[n] || last < first)
		return BAD(t, "line %d is \"%.40s\"; write a range of cores, as in 0-5", number, line);
	for (size_t i = 0; i < cores->n; i++)
		if (cores->list[i].core == first) {
			if (free_run(cores, i, last) == last - first + 1) {
				take(cores, i, last - first + 1);
				return 0;
			}
			break;
		}
	return BAD(t, "line %d: not all cores of %u-%u are of CPU workers, alike, and in no range before", number,
	           first, last);
}

static int group_as_file_says(const struct text *t, const char *path, struct hd_cores *cores)
{
	char *data = NULL;
	size_t length = 0;
	int status = hd_file_read_regular(path, MOST_FILE, &data, &length), number = 0;
	if (status)
		return bad(t, status);
	for (char *line = data; line && !status;) {
		char *newline = strchr(line, '\n');
		if (newline)
			*newline = '\0';
		line[strcspn(line, "#")] = '\0';
		status = group_line(t, line, ++number, cores);
		line = newline ? newline + 1 : NULL;
	}
	free(data);
	return status;
}

/* Makes the error for a text that is no cluster set. */
static int unknown(const struct heddle_platform *p, const struct text *t)
{
	char names[200] = "";
	size_t used = 0;
	for (size_t i = 0; i < p->n_levels && used < sizeof names; i++)
		used += (size_t)snprintf(names + used, sizeof names - used, "%s, ", p->levels[i].name);
	const char *none = p->n_levels ? "" : "; this machine has no levels, such as socket";
	return BAD(t,
	           "it must be none, %sa number of cores, a mix such as 2x4+1x6, or a file with ranges of cores%s; the "
	           "setting as a whole may also be auto, adaptive, or a list such as adaptive:none,2",
	           names, none);
}

static int group_by_words(const struct heddle_platform *p, const struct text *t, struct hd_cores *cores)
{
	if (is_word(t, "none"))
		return 0;
	for (size_t i = 0; i < p->n_levels; i++)
		if (is_word(t, p->levels[i].name)) {
			for (size_t g = 0; g < p->levels[i].n_groups; g++)
				group(cores, p->levels[i].groups[g]);
			return 0;
		}
	char *path = hd_format("%.*s", t->length, t->at);
	if (!path)
		return hd_no_memory("a cluster set");
	FILE *f = strchr(path, '/') || strchr(path, '.') ? NULL : fopen(path, "r");
	int is_file = f || strchr(path, '/') || strchr(path, '.');
	if (f)
		fclose(f);
	int status = is_file ? group_as_file_says(t, path, cores) : unknown(p, t);
	free(path);
	return status;
}

int hd_cluster_set_parse(const struct heddle_platform *p, const char *text, size_t length, struct hd_cores *cores)
{
	struct text t = {text, length < 1000 ? (int)length : 1000};
	for (size_t i = 0; i < cores->n; i++)
		cores->list[i].cluster = i;
	size_t digits = 0;
	while (digits < length && isdigit((unsigned char)text[digits]))
		digits++;
	if (length == 0)
		return unknown(p, &t);
	if (digits == length)
		return group_evenly(p, &t, cores);
	if (digits && strspn(text, "0123456789x+") >= length)
		return group_mixed(p, &t, cores);
	return group_by_words(p, &t, cores);
}
