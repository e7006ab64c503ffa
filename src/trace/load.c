/* Reads trace files. Every record is checked as soon as it is read, so that an error can name its line. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "trace/file.h"
#include "base/text.h"
#include "trace/records.h"
#include "trace/trace.h"
#include "base/grow.h"

struct reader {
	const char *path;
	size_t line;         /* number of the current line, from 1 */
	const char *p, *end; /* the rest of the current line */
	struct heddle_trace *trace;
	size_t room_codelets, room[HD_N_TRACE_LISTS];
	struct hd_text yaml;              /* the platform's lines, until they are parsed */
	size_t platform_line, tasks_line; /* numbers of the lines where the platform and the tasks begin */
	unsigned kind;                    /* index in kinds[] of the last record */
	size_t next_end;                  /* index of the first task that the next `ended` record may name */
	size_t next_inside;               /* index of the first task that the next `inside` record may name */
	int has_clock, ended;
	/* 1: the file is a journal: records are in order within each part only, so they are checked after all of them
	 * have been read */
	int in_parts;
};

static int bad(const struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3), cold));
static int bad(const struct reader *r, const char *format, ...)
{
	char what[512];
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	return hd_error(HEDDLE_E_FORMAT, "%s:%zu: %s", r->path, r->line, what);
}

/* --- Fields: each is preceded by one blank ------------------------------------------------------------------------ */

static int next_field(struct reader *r, const char *what)
{
	if (r->p == r->end)
		return bad(r, "the line ends before its %s", what);
	r->p++;
	return 0;
}

static int end_field(struct reader *r, const char *what, int good)
{
	return good && (r->p == r->end || *r->p == ' ') ? 0 : bad(r, "%s is not a number as it should be", what);
}

static int read_uint(struct reader *r, const char *what, uint64_t max, uint64_t *out)
{
	int status = next_field(r, what);
	if (!status)
		status = end_field(r, what, hd_uint_parse(&r->p, r->end, out));
	if (!status && *out > max)
		status = bad(r, "%s is %llu, more than %llu", what, (unsigned long long)*out, (unsigned long long)max);
	return status;
}

static int read_uint32(struct reader *r, const char *what, uint32_t *out)
{
	uint64_t value = 0;
	int status = read_uint(r, what, UINT32_MAX, &value);
	*out = (uint32_t)value;
	return status;
}

static int read_int32(struct reader *r, const char *what, int32_t *out)
{
	uint64_t value = 0;
	int negative = r->end - r->p > 1 && r->p[1] == '-';
	r->p += negative; /* skips the blank before the sign, so that read_uint skips the sign */
	int status = read_uint(r, what, (uint64_t)INT32_MAX + (uint64_t)negative, &value);
	*out = (int32_t)(negative ? -(int64_t)value : (int64_t)value);
	return status;
}

static int read_real(struct reader *r, const char *what, double *out)
{
	int status = next_field(r, what);
	return status ? status : end_field(r, what, hd_real_parse(&r->p, r->end, out));
}

static int read_end(struct reader *r)
{
	return r->p == r->end ? 0 : bad(r, "more fields than the record has: \"%.*s\"", (int)(r->end - r->p), r->p);
}

/* Reads the end of a record. `problem`: what is wrong with the record, or NULL. */
static int good(struct reader *r, const char *record, const char *problem)
{
	return problem && !r->in_parts ? bad(r, "the %s %s", record, problem) : read_end(r);
}

/* Reads the rest of the line and resolves its escapes. The caller frees *out. */
static int read_rest(struct reader *r, const char *what, char **out)
{
	int status = next_field(r, what);
	if (status)
		return status;
	if (memchr(r->p, '\0', (size_t)(r->end - r->p)))
		return bad(r, "%s contains a NUL", what);
	char *s = malloc((size_t)(r->end - r->p) + 1), *to = s;
	if (!s)
		return hd_no_memory(r->path);
	while (r->p < r->end) {
		char c = *r->p++;
		if (c == '\\' && r->p < r->end)
			c = *r->p++ == 'n' ? '\n' : '\\';
		*to++ = c;
	}
	*to = '\0';
	*out = s;
	return 0;
}

/* --- Records ------------------------------------------------------------------------------------------------------ */

struct kind {
	const char *word;
	int (*read)(struct reader *r);
	const struct hd_trace_list *list; /* for read_listed: the list of the records of this kind */
};
enum { KIND_PLATFORM = 2, N_KINDS = 16 };
static const struct kind kinds[N_KINDS];

static int read_policy(struct reader *r)
{
	return r->trace->policy ? bad(r, "a second policy") : read_rest(r, "policy", &r->trace->policy);
}

static int read_clock(struct reader *r)
{
	size_t length = (size_t)(r->end - r->p);
	r->has_clock = 1;
	r->trace->virtual_time = length == 8 && memcmp(r->p, " virtual", 8) == 0;
	if (!r->trace->virtual_time && (length != 5 || memcmp(r->p, " real", 5) != 0))
		return bad(r, "the clock is neither \"real\" nor \"virtual\"");
	return 0;
}

static int read_platform_line(struct reader *r)
{
	if (!r->platform_line)
		r->platform_line = r->line;
	if (r->p < r->end)
		hd_text_add(&r->yaml, r->p + 1, (size_t)(r->end - r->p) - 1);
	hd_text_char(&r->yaml, '\n');
	return r->yaml.failed ? hd_no_memory(r->path) : 0;
}

/* Parses the platform at the first record after its lines, because the later records refer to it. */
static int end_platform(struct reader *r)
{
	if (r->trace->platform)
		return 0;
	if (!r->platform_line)
		return bad(r, "no platform before this line");
	int status = heddle_platform_parse("platform", r->yaml.data, r->yaml.length, &r->trace->platform);
	hd_text_free(&r->yaml);
	return status ? hd_error_context(status, "%s:%zu: the platform that begins here", r->path, r->platform_line)
	              : 0;
}

static int read_codelet(struct reader *r)
{
	if (HD_GROW(r->trace->codelets, r->trace->n_codelets, r->room_codelets, 64))
		return hd_no_memory(r->path);
	uint32_t color = 0;
	const char *digits = r->p + 1;
	for (r->p++; r->p < r->end && r->p < digits + 6; r->p++) {
		const char *hex = "0123456789abcdef", *digit = *r->p ? strchr(hex, *r->p) : NULL;
		if (!digit)
			break;
		color = color << 4 | (uint32_t)(digit - hex);
	}
	if (r->p != digits + 6 || (r->p < r->end && *r->p != ' '))
		return bad(r, "the colour of a codelet is not six digits 0-9a-f");
	struct heddle_trace_codelet *c = &r->trace->codelets[r->trace->n_codelets];
	c->color = color;
	int status = read_rest(r, "name", &c->name);
	r->trace->n_codelets += status == 0;
	return status;
}

static int read_field(struct reader *r, const struct hd_trace_field *f, void *record)
{
	void *to = (char *)record + f->offset;
	switch (f->kind) {
	case HD_FIELD_REAL: return read_real(r, f->name, to);
	case HD_FIELD_U64: return read_uint(r, f->name, UINT64_MAX, to);
	case HD_FIELD_U32: return read_uint32(r, f->name, to);
	default: return read_int32(r, f->name, to);
	}
}

/* Reads a record of one of hd_trace_lists. */
static int read_listed(struct reader *r)
{
	const struct hd_trace_list *list = kinds[r->kind].list;
	size_t *n = hd_trace_n(list, r->trace), i = *n;
	if (hd_grow((char *)r->trace + list->list, i, &r->room[list - hd_trace_lists], list->size, 64))
		return hd_no_memory(r->path);
	if (list == &hd_trace_lists[HD_TASKS] && i == 0)
		r->tasks_line = r->line;
	void *record = memset(hd_trace_record(list, r->trace, i), 0, list->size);
	++*n;
	int status = 0;
	for (const struct hd_trace_field *f = list->fields; f->name && !status; f++)
		status = read_field(r, f, record);
	return status ? status : good(r, list->noun, list->problem(r->trace, i));
}

static int read_name(struct reader *r, struct heddle_names *names)
{
	uint64_t id = 0;
	char *name = NULL;
	int status = read_uint(r, "number", UINT64_MAX, &id);
	if (!status)
		status = read_rest(r, "name", &name);
	if (!status)
		status = hd_name_table_add(names, id, name, strlen(name));
	free(name);
	const char *problem = status ? NULL : hd_name_table_problem(names, names->n - 1);
	return status ? status : good(r, "name", problem);
}

static int read_task_name(struct reader *r)
{
	return read_name(r, &r->trace->task_names);
}

static int read_data_name(struct reader *r)
{
	return read_name(r, &r->trace->data_names);
}

static int read_implementation(struct reader *r)
{
	return read_name(r, &r->trace->implementations);
}

/* Finds the task with this id at or after *i: records about tasks are in the order of the tasks' own records. */
static int find_task(struct reader *r, uint64_t id, size_t *i)
{
	while (*i < r->trace->n_tasks && r->trace->tasks[*i].id != id)
		++*i;
	return *i < r->trace->n_tasks
	           ? 0
	           : bad(r, "there is no task of this id, or the records are not in the order of the tasks");
}

static int read_inside(struct reader *r)
{
	uint64_t id = 0, outer = 0;
	size_t i = r->next_inside;
	int status = read_uint(r, "id", UINT64_MAX, &id);
	if (!status)
		status = find_task(r, id, &i);
	if (!status)
		status = read_uint(r, "hierarchical task", UINT64_MAX - 1, &outer);
	if (status)
		return status;
	r->next_inside = i + 1;
	r->trace->tasks[i].inside = outer + 1;
	return read_end(r);
}

static int read_ended(struct reader *r)
{
	uint64_t id = 0;
	int status = read_uint(r, "id", UINT64_MAX, &id);
	size_t i = r->next_end;
	if (!status)
		status = find_task(r, id, &i);
	if (status)
		return status;
	r->next_end = i + 1;
	status = read_real(r, "end", &r->trace->tasks[i].ended);
	const char *problem = status ? NULL : hd_trace_lists[HD_TASKS].problem(r->trace, i);
	return status ? status : good(r, "task", problem);
}

static int read_last(struct reader *r)
{
	uint64_t n[3] = {0};
	int status = 0;
	for (size_t i = 0; i < 3 && !status; i++)
		status = read_uint(r, "count", UINT64_MAX, &n[i]);
	if (status)
		return status;
	if (n[0] != r->trace->n_tasks || n[1] != r->trace->n_transfers || n[2] != r->trace->n_edges)
		return bad(r,
		           "lines are missing: there should be %llu tasks, %llu transfers, %llu edges before this one",
		           (unsigned long long)n[0], (unsigned long long)n[1], (unsigned long long)n[2]);
	r->ended = 1;
	return read_end(r);
}

/* The kinds of records, in the order in which a file has them. */
static const struct kind kinds[N_KINDS] = {
    {"policy", read_policy, NULL},
    {"clock", read_clock, NULL},
    {"platform", read_platform_line, NULL},
    {"codelet", read_codelet, NULL},
    {"task", read_listed, &hd_trace_lists[HD_TASKS]},
    {"transfer", read_listed, &hd_trace_lists[HD_TRANSFERS]},
    {"edge", read_listed, &hd_trace_lists[HD_EDGES]},
    {"task_name", read_task_name, NULL},
    {"data_name", read_data_name, NULL},
    {"implementation", read_implementation, NULL},
    {"ended", read_ended, NULL},
    {"inside", read_inside, NULL},
    {"expansion", read_listed, &hd_trace_lists[HD_EXPANSIONS]},
    {"layout", read_listed, &hd_trace_lists[HD_LAYOUTS]},
    {"driven", read_listed, &hd_trace_lists[HD_DRIVES]},
    {"end", read_last, NULL},
};

static int read_record(struct reader *r)
{
	const char *blank = memchr(r->p, ' ', (size_t)(r->end - r->p));
	size_t length = (size_t)((blank ? blank : r->end) - r->p);
	unsigned kind = 0;
	while (kind < N_KINDS && (strlen(kinds[kind].word) != length || memcmp(kinds[kind].word, r->p, length) != 0))
		kind++;
	if (kind == N_KINDS)
		return bad(r, "\"%.*s\" is no record of a trace", length > 40 ? 40 : (int)length, r->p);
	if (r->in_parts && r->ended && kind > KIND_PLATFORM) {
		r->ended = 0;
		r->kind = KIND_PLATFORM;
	}
	if (r->ended || kind < r->kind)
		return bad(r, "\"%s\" after \"%s\"", kinds[kind].word, kinds[r->kind].word);
	r->kind = kind;
	r->p += length;
	int status = kind > KIND_PLATFORM ? end_platform(r) : 0;
	return status ? status : kinds[kind].read(r);
}

/* --- The file ----------------------------------------------------------------------------------------------------- */

static int is_line(const struct reader *r, const char *text)
{
	size_t length = strlen(text);
	return (size_t)(r->end - r->p) == length && memcmp(r->p, text, length) == 0;
}

static int read_header(struct reader *r)
{
	size_t length = (size_t)(r->end - r->p), word = strlen(HD_TRACE_MAGIC_WORD);
	r->in_parts = is_line(r, HD_TRACE_MAGIC_PARTS);
	if (is_line(r, HD_TRACE_MAGIC) || is_line(r, HD_TRACE_MAGIC_NAMES) || is_line(r, HD_TRACE_MAGIC_ENDS) ||
	    is_line(r, HD_TRACE_MAGIC_SUBGRAPHS) || is_line(r, HD_TRACE_MAGIC_LAYOUTS) ||
	    is_line(r, HD_TRACE_MAGIC_DRIVES) || r->in_parts)
		return 0;
	if (length > word && memcmp(r->p, HD_TRACE_MAGIC_WORD " ", word + 1) == 0)
		return bad(r, "version %.*s of the format is not known here; this library reads \"%s\" to \"%s\"",
		           length > word + 20 ? 20 : (int)(length - word - 1), r->p + word + 1, HD_TRACE_MAGIC,
		           HD_TRACE_MAGIC_PARTS);
	return bad(r, "not a trace: the first line of one is \"%s\"", HD_TRACE_MAGIC);
}

static int check_ids(struct reader *r)
{
	struct hd_trace_index index;
	int status = hd_trace_index_init(&index, r->trace);
	if (!status && index.twice != HD_NO_TASK) {
		r->line = r->tasks_line + index.twice;
		status =
		    bad(r, "the task has the id %llu of another", (unsigned long long)r->trace->tasks[index.twice].id);
	}
	hd_trace_index_free(&index);
	return status;
}

/* The length of the whole parts of a journal: up to its last line that begins with "end ". */
static size_t whole_parts(const char *data, size_t length)
{
	static const char word[] = "\nend ";
	for (size_t at = length, line_end = 0; at-- > 0;) {
		if (data[at] != '\n')
			continue;
		if (line_end && length - at >= sizeof word && memcmp(data + at, word, sizeof word - 1) == 0)
			return line_end;
		line_end = at + 1;
	}
	return length;
}

/* Puts the records of a journal into order, and checks all of them. */
static int join_parts(struct reader *r)
{
	hd_trace_sort(r->trace);
	return hd_trace_check(r->trace) ? hd_error_context(HEDDLE_E_FORMAT, "%s, which was written in parts", r->path)
	                                : 0;
}

static int read_lines(struct reader *r, const char *data, size_t length)
{
	int status = 0;
	for (const char *begin = data, *end = data + length; begin < end && !status; begin = r->end + 1) {
		const char *newline = memchr(begin, '\n', (size_t)(end - begin));
		r->line++;
		r->p = begin;
		r->end = newline ? newline : end;
		status = r->line == 1 ? read_header(r) : read_record(r);
		if (r->line == 1 && r->in_parts)
			end = data + whole_parts(data, length);
	}
	if (!status && !r->ended) {
		r->line++;
		status = bad(r, "the file ends without an \"end\" line: it was cut short");
	}
	if (!status && (!r->trace->policy || !r->has_clock))
		status = bad(r, "no %s in the file", r->trace->policy ? "clock" : "policy");
	if (!status && r->in_parts)
		status = join_parts(r);
	return status ? status : check_ids(r);
}

int heddle_trace_load(const char *path, struct heddle_trace **out)
{
	if (!path || !out)
		return hd_error(HEDDLE_E_INVALID, "heddle_trace_load: path or out is NULL");
	char *data = NULL;
	size_t length = 0;
	int status = hd_file_read(path, &data, &length);
	if (status)
		return status;
	struct reader r = {.path = path, .trace = calloc(1, sizeof *r.trace)};
	status = r.trace ? read_lines(&r, data, length) : hd_no_memory(path);
	hd_text_free(&r.yaml);
	free(data);
	if (status)
		heddle_trace_free(r.trace);
	else
		*out = r.trace;
	return status;
}
