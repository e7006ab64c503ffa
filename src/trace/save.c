/* Writes trace files. docs/trace.md describes the format; load.c reads it. */
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "machine/machine.h"
#include "trace/file.h"
#include "base/text.h"
#include "trace/records.h"
#include "trace/trace.h"

/* Writes a string up to the end of the line. Only characters that would break the line are escaped. */
static void put_rest(struct hd_text *text, const char *s)
{
	for (; *s; s++) {
		if (*s == '\\' || *s == '\n')
			hd_text_put(text, *s == '\n' ? "\\n" : "\\\\");
		else
			hd_text_char(text, *s);
	}
	hd_text_char(text, '\n');
}

static void put_reals(struct hd_text *text, const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		hd_text_char(text, ' ');
		hd_text_real(text, values[i]);
	}
}

static void put_uints(struct hd_text *text, const uint64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		hd_text_char(text, ' ');
		hd_text_uint(text, values[i]);
	}
}

static void put_field(struct hd_text *text, const struct hd_trace_field *f, const void *record)
{
	const void *from = (const char *)record + f->offset;
	hd_text_char(text, ' ');
	switch (f->kind) {
	case HD_FIELD_REAL: hd_text_real(text, *(const double *)from); break;
	case HD_FIELD_U64: hd_text_uint(text, *(const uint64_t *)from); break;
	case HD_FIELD_U32: hd_text_uint(text, *(const uint32_t *)from); break;
	case HD_FIELD_I32: hd_text_int(text, *(const int32_t *)from); break;
	}
}

static void put_list(struct hd_text *text, const struct heddle_trace *trace, const struct hd_trace_list *list)
{
	for (size_t i = 0; i < *hd_trace_n(list, trace); i++) {
		hd_text_put(text, list->word);
		for (const struct hd_trace_field *f = list->fields; f->name; f++)
			put_field(text, f, hd_trace_record(list, trace, i));
		hd_text_char(text, '\n');
	}
}

static void put_names(struct hd_text *text, const char *record, const struct heddle_names *names)
{
	for (size_t i = 0; i < names->n; i++) {
		hd_text_put(text, record);
		hd_text_char(text, ' ');
		hd_text_uint(text, names->list[i].id);
		hd_text_char(text, ' ');
		put_rest(text, names->list[i].name);
	}
}

static int has_ends(const struct heddle_trace *trace)
{
	for (size_t i = 0; i < trace->n_tasks; i++)
		if (trace->tasks[i].ended != 0)
			return 1;
	return 0;
}

static void put_ends(struct hd_text *text, const struct heddle_trace *trace)
{
	for (size_t i = 0; i < trace->n_tasks; i++) {
		const struct heddle_trace_task *t = &trace->tasks[i];
		if (t->ended == 0)
			continue;
		hd_text_put(text, "ended");
		put_uints(text, &t->id, 1);
		put_reals(text, &t->ended, 1);
		hd_text_char(text, '\n');
	}
}

static void put_insides(struct hd_text *text, const struct heddle_trace *trace)
{
	for (size_t i = 0; i < trace->n_tasks; i++) {
		const struct heddle_trace_task *t = &trace->tasks[i];
		if (!t->inside)
			continue;
		hd_text_put(text, "inside");
		put_uints(text, (const uint64_t[]){t->id, t->inside - 1}, 2);
		hd_text_char(text, '\n');
	}
}

/* Whether the trace has expansions, or tasks of a sub-graph that was expanded before the trace began. */
static int has_subgraphs(const struct heddle_trace *trace)
{
	size_t i = 0;
	while (i < trace->n_tasks && !trace->tasks[i].inside)
		i++;
	return trace->n_expansions || i < trace->n_tasks;
}

/* The first line, with the lowest version that has all records of the trace. */
static const char *magic(const struct heddle_trace *trace)
{
	if (trace->n_drives)
		return HD_TRACE_MAGIC_DRIVES;
	if (trace->n_layouts)
		return HD_TRACE_MAGIC_LAYOUTS;
	if (has_subgraphs(trace))
		return HD_TRACE_MAGIC_SUBGRAPHS;
	if (has_ends(trace))
		return HD_TRACE_MAGIC_ENDS;
	return trace->task_names.n || trace->data_names.n || trace->implementations.n ? HD_TRACE_MAGIC_NAMES
	                                                                              : HD_TRACE_MAGIC;
}

static int put_platform(struct hd_text *text, const struct heddle_platform *platform)
{
	char *yaml = NULL;
	size_t length = 0;
	/* without `levels` and `speedups`, which only serve to make other clusters */
	struct heddle_platform ran = *platform;
	ran.n_levels = ran.n_speedups = 0;
	int status = hd_platform_format(&ran, &yaml, &length);
	if (status)
		return status;
	for (size_t begin = 0; begin < length;) {
		const char *newline = memchr(yaml + begin, '\n', length - begin);
		size_t end = newline ? (size_t)(newline - yaml) : length;
		hd_text_put(text, "platform ");
		hd_text_add(text, yaml + begin, end - begin);
		hd_text_char(text, '\n');
		begin = end + 1;
	}
	free(yaml);
	return 0;
}

int hd_trace_put_head(struct hd_text *text, const char *magic, const struct heddle_trace *trace)
{
	hd_text_put(text, magic);
	hd_text_put(text, "\npolicy ");
	put_rest(text, trace->policy);
	hd_text_format(text, "clock %s\n", trace->virtual_time ? "virtual" : "real");
	return put_platform(text, trace->platform);
}

void hd_trace_put_records(struct hd_text *text, const struct heddle_trace *trace, size_t first_codelet)
{
	for (size_t i = first_codelet; i < trace->n_codelets; i++) {
		hd_text_format(text, "codelet %06x ", (unsigned)trace->codelets[i].color);
		put_rest(text, trace->codelets[i].name);
	}
	for (size_t i = 0; i < HD_EXPANSIONS; i++)
		put_list(text, trace, &hd_trace_lists[i]);
	put_names(text, "task_name", &trace->task_names);
	put_names(text, "data_name", &trace->data_names);
	put_names(text, "implementation", &trace->implementations);
	put_ends(text, trace);
	put_insides(text, trace);
	for (size_t i = HD_EXPANSIONS; i < HD_N_TRACE_LISTS; i++)
		put_list(text, trace, &hd_trace_lists[i]);
}

void hd_trace_put_end(struct hd_text *text, size_t n_tasks, size_t n_transfers, size_t n_edges)
{
	hd_text_put(text, "end");
	put_uints(text, (const uint64_t[]){n_tasks, n_transfers, n_edges}, 3);
	hd_text_char(text, '\n');
}

int heddle_trace_save(const struct heddle_trace *trace, const char *path)
{
	if (!path)
		return hd_error(HEDDLE_E_INVALID, "heddle_trace_save: path is NULL");
	int status = hd_trace_check(trace);
	if (status)
		return status;
	struct hd_text text = {0};
	status = hd_trace_put_head(&text, magic(trace), trace);
	hd_trace_put_records(&text, trace, 0);
	hd_trace_put_end(&text, trace->n_tasks, trace->n_transfers, trace->n_edges);
	if (!status)
		status = hd_text_write(&text, path);
	hd_text_free(&text);
	return status;
}
