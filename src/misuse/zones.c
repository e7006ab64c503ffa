/* Guard zones around the replicas that Heddle allocates and around the values of tasks. A kernel that writes out of
 * bounds writes into a guard zone. The zones hold a pattern, which is checked after each kernel. New replicas are
 * filled with the same pattern; it is a signalling NaN as a double and as a float, so that a NaN in the results shows
 * that a kernel has read elements that no task has written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"
#include "misuse.h"
#include "state/data.h"
#include "state/memory.h"
#include "state/runtime.h"

enum { ZONE = 256 }; /* bytes before and behind each block; a multiple of the cache line, so that blocks stay aligned */
static const unsigned char pattern[8] = {0xa5, 0xa5, 0xa5, 0x7f, 0xa5, 0xa5, 0xf4, 0x7f};

static char pattern_at(const char *p)
{
	return (char)pattern[(uintptr_t)p % sizeof pattern];
}

static void fill(char *from, const char *to)
{
	for (; from < to; from++)
		*from = pattern_at(from);
}

/* Restores the pattern in a zone. *first, *last: the first and last byte that differed. Returns whether any byte
 * differed. */
static int mend(char *from, const char *to, const char **first, const char **last)
{
	*first = *last = NULL;
	for (char *p = from; p < to; p++) {
		if (*p == pattern_at(p))
			continue;
		*first = *first ? *first : p;
		*last = p;
	}
	if (*first)
		fill(from, to);
	return *first != NULL;
}

/* --- Copies ------------------------------------------------------------------------------------------------------- */

size_t hd_misuse_zone(const heddle_runtime *rt, unsigned node)
{
	return HD_UNLIKELY(rt->misuse != NULL) && rt->misuse->host[node] ? ZONE : 0;
}

void hd_misuse_fill(const struct hd_replica *r)
{
	size_t zone = hd_misuse_zone(hd_replica_data(r)->rt, r->node);
	if (zone && r->block)
		fill((char *)r->ptr - zone, (char *)r->ptr + r->block->size + zone);
}

static void before_begin(struct hd_watch *w, const struct hd_watched *i, size_t bytes)
{
	hd_finding(w, hd_format("it wrote before the begin of %s, up to %zu bytes before it", i->name, bytes), i->data);
}

static void beyond_end(struct hd_watch *w, const struct hd_watched *i, size_t part, size_t bytes)
{
	char which[32] = "";
	if (hd_data_n_parts(i->data) > 1)
		snprintf(which, sizeof which, "part %zu of ", part);
	hd_finding(w, hd_format("it wrote beyond the end of %s%s, up to %zu bytes behind it", which, i->name, bytes),
	           i->data);
}

void hd_zones_look(struct hd_watch *w, const struct hd_watched *i, unsigned node)
{
	const struct hd_replica *r = &i->data->replicas[node];
	if (!r->block || !r->ptr)
		return;
	char *begin = r->ptr, *end = begin + r->block->size + ZONE;
	const char *first, *last;
	if (mend(begin - ZONE, begin, &first, &last))
		before_begin(w, i, (size_t)(begin - first));
	size_t n = hd_data_n_parts(i->data);
	for (size_t k = 0; k < n; k++) {
		struct heddle_part part, next = {.base = end};
		uintptr_t low, high;
		hd_data_part_at(i->data, r, k, &part);
		hd_span_of(&part, &low, &high);
		if (k + 1 < n)
			hd_data_part_at(i->data, r, k + 1, &next);
		char *behind = (char *)part.base + (high - low);
		if (mend(behind, next.base, &first, &last))
			beyond_end(w, i, k, (size_t)(last + 1 - behind));
	}
}

/* --- Values ------------------------------------------------------------------------------------------------------- */

void hd_misuse_lay_value(char *value, size_t size)
{
	memcpy(value - HD_VALUE_HEAD, &size, sizeof size);
	fill(value + size, value + hd_rounded(size) + HD_VALUE_ZONE - HD_VALUE_HEAD);
}

/* The offset of value i in `values`: the values of a task, or a copy of them. */
static size_t begin_of_value(const char *values, size_t i)
{
	return ((const uint32_t *)(const void *)values)[i];
}

static size_t size_of_value(const char *values, size_t i)
{
	size_t size;
	memcpy(&size, values + begin_of_value(values, i) - HD_VALUE_HEAD, sizeof size);
	return size;
}

/* The offset of the end of the value's guard zone. */
static size_t end_of_value(const char *values, size_t i)
{
	return begin_of_value(values, i) - HD_VALUE_HEAD + hd_rounded(size_of_value(values, i)) + HD_VALUE_ZONE;
}

size_t hd_value_size(const heddle_task *t, size_t i)
{
	return size_of_value(hd_task_values(t), i);
}

int hd_values_keep(struct hd_watch *w)
{
	const heddle_task *t = w->task;
	if (!t->n_values)
		return 0;
	w->value_bytes = end_of_value(hd_task_values(t), t->n_values - 1);
	w->values = malloc(w->value_bytes);
	if (!w->values)
		return hd_no_memory("watching a task");
	memcpy(w->values, hd_task_values(t), w->value_bytes);
	return 0;
}

/* Reports what was overwritten: the byte at `offset` is the first that differs from the copy. */
static void values_changed(struct hd_watch *w, size_t offset)
{
	const char *now = hd_task_values(w->task), *kept = w->values;
	size_t i = 0;
	while (offset >= end_of_value(kept, i))
		i++;
	size_t begin = begin_of_value(kept, i), size = size_of_value(kept, i), last = offset;
	for (size_t k = offset; k < end_of_value(kept, i); k++)
		last = now[k] != kept[k] ? k : last;
	if (offset < begin)
		hd_finding(w, hd_format("it wrote before the begin of value %zu (%zu bytes)", i, size), NULL);
	else if (offset < begin + size)
		hd_finding(w, hd_format("it changed value %zu (%zu bytes), which kernels may only read", i, size),
		           NULL);
	else
		hd_finding(w,
		           hd_format("it wrote beyond the end of value %zu (%zu bytes), up to %zu bytes behind it", i,
		                     size, last + 1 - begin - size),
		           NULL);
}

void hd_values_look(struct hd_watch *w)
{
	char *now = hd_task_values(w->task);
	if (!w->values || memcmp(now, w->values, w->value_bytes) == 0)
		return;
	size_t offset = 0;
	while (now[offset] == w->values[offset])
		offset++;
	values_changed(w, offset);
	memcpy(now, w->values, w->value_bytes);
}
