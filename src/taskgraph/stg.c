/* Reads graphs of the Standard Task Graph Set (Kasahara Laboratory, Waseda University). A file consists of numbers with
 * blanks between them:
 *
 *   number of tasks
 *   then for each task, counted from 0 or 1: its number, processing time, number of predecessors, their numbers
 *
 * The first and the last task may be dummies: they take no time, the number of tasks does not count them, and the graph
 * does not have them. Files of the older prototype set have the number of processors beside the number of tasks. In
 * some files a cost of communication follows each predecessor. A file does not say whether it has such costs; the
 * reader tries both forms, and takes the form that uses every number. `#` begins a comment. */
#include "graph.h"
#include <stdlib.h>

/* A unit of time is read as 1 us. A cost of communication becomes the number of bytes that this bandwidth moves in that
 * time. */
enum { BYTES_PER_US = (int)HEDDLE_MEMORY_BANDWIDTH };

struct numbers {
	const char *name;
	uint64_t *list; /* owns */
	size_t *lines;  /* owns; per number: its line */
	size_t n, max, max_lines;
	size_t n_first; /* number of numbers in the first line */
};

/* One of the two forms in which the numbers can be read. */
struct form {
	int costs;         /* 1: a cost of communication follows each predecessor */
	size_t first_task; /* number of the first task: 0 or 1 */
	size_t n_records;
	/* if the form does not fit: the index of the first number of the task that does not fit, and the reason */
	size_t bad;
	const char *why;
};

static int read_numbers(struct numbers *x, struct hd_build *b, const char *text, const char *end)
{
	size_t line = 1, first_line = 0;
	for (const char *p = text; p < end;) {
		if (*p == '#') {
			while (p < end && *p != '\n')
				p++;
		} else if (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n') {
			line += *p++ == '\n';
		} else {
			uint64_t value;
			if (!hd_uint_parse(&p, end, &value) || value > INT64_MAX / BYTES_PER_US ||
			    (p < end && *p != ' ' && *p != '\t' && *p != '\r' && *p != '\n'))
				return hd_graph_bad(
				    x->name, line,
				    "a whole number from 0 expected: an STG file has nothing else before its first #");
			if (hd_build_room(b, &x->list, x->n, &x->max, sizeof *x->list) ||
			    hd_build_room(b, &x->lines, x->n, &x->max_lines, sizeof *x->lines))
				return hd_no_memory(x->name);
			x->lines[x->n] = line;
			x->list[x->n++] = value;
			first_line = first_line ? first_line : line;
			x->n_first += line == first_line;
		}
	}
	return 0;
}

/* Reads the tasks in the given form. Returns 0 if the form uses every number. */
static int try_form(const struct numbers *x, struct form *f)
{
	size_t at = x->n_first;
	f->n_records = 0;
	f->first_task = at < x->n ? (size_t)x->list[at] : 0;
	f->why = f->first_task > 1 ? "tasks are numbered from 0 or 1" : NULL;
	f->bad = at;
	for (; !f->why && at < x->n; f->n_records++) {
		f->bad = at;
		if (x->list[at] != f->first_task + f->n_records)
			f->why = "tasks are numbered one after another, and this is another number";
		else if (at + 2 >= x->n)
			f->why = "the file ends before the time and the number of predecessors of this task";
		else if (x->list[at + 2] > (x->n - at - 3) / (f->costs ? 2 : 1))
			f->why = "the file ends before all predecessors of this task";
		else
			at += 3 + x->list[at + 2] * (f->costs ? 2 : 1);
	}
	return f->why ? -1 : 0;
}

static int find_form(const struct numbers *x, struct form *f)
{
	struct form plain = {.costs = 0}, costly = {.costs = 1};
	if (x->n == 0)
		return hd_graph_bad(x->name, 1, "the file is empty: it begins with the number of tasks");
	if (x->n_first > 2)
		return hd_graph_bad(x->name, x->lines[0],
		                    "the first line is the number of tasks alone, or that of processors beside it");
	if (try_form(x, &plain) == 0)
		*f = plain;
	else if (try_form(x, &costly) == 0)
		*f = costly;
	else
		return hd_graph_bad(x->name, x->lines[plain.bad], "%s", plain.why);
	uint64_t said = x->list[0];
	if (f->n_records != said && f->n_records != said + 1 && f->n_records != said + 2)
		return hd_graph_bad(x->name, x->lines[0], "%llu tasks are said to come, and %zu do, dummies included",
		                    (unsigned long long)said, f->n_records);
	return 0;
}

/* Whether a record is a dummy: it is the first or the last record, takes no time, and there are more records than
 * tasks. */
static int is_dummy(const struct numbers *x, const struct form *f, size_t record, uint64_t time)
{
	size_t extra = f->n_records - x->list[0];
	int at_begin = record == 0 && extra == 2, at_end = record + 1 == f->n_records && extra > 0;
	return time == 0 && (at_begin || at_end);
}

static int add_edges(const struct numbers *x, struct hd_build *b, const struct form *f, const uint32_t *task_of,
                     size_t record, size_t at)
{
	for (uint64_t k = 0; k < x->list[at + 2]; k++) {
		size_t where = at + 3 + k * (f->costs ? 2 : 1);
		uint64_t before = x->list[where] - f->first_task;
		if (x->list[where] < f->first_task || before >= f->n_records || before == record)
			return hd_graph_bad(x->name, x->lines[where], "task %llu cannot wait for task %llu",
			                    (unsigned long long)x->list[at], (unsigned long long)x->list[where]);
		if (task_of[before] && task_of[record])
			hd_build_edge(b, task_of[before] - 1, task_of[record] - 1,
			              f->costs ? x->list[where + 1] * BYTES_PER_US : 0);
	}
	return 0;
}

static int add_records(const struct numbers *x, struct hd_build *b, const struct form *f, uint32_t *task_of)
{
	uint32_t type = hd_build_type(b, "task", 4), cpu = hd_build_class(b, "cpu", 3);
	int status = 0;
	size_t width = f->costs ? 2 : 1, at = x->n_first;
	for (size_t i = 0; i < f->n_records; i++, at += 3 + x->list[at + 2] * width) {
		if (is_dummy(x, f, i, x->list[at + 1]))
			continue;
		uint32_t task = hd_build_task(b, type);
		hd_build_time(b, task, cpu, (double)x->list[at + 1]);
		task_of[i] = task + 1;
	}
	at = x->n_first;
	for (size_t i = 0; i < f->n_records && !status; i++, at += 3 + x->list[at + 2] * width)
		status = add_edges(x, b, f, task_of, i, at);
	return status;
}

static int add_tasks(const struct numbers *x, struct hd_build *b)
{
	struct form f = {.costs = 0};
	uint32_t where = 0;
	int status = find_form(x, &f);
	if (status)
		return status;
	uint32_t *task_of = calloc(f.n_records + 1, sizeof *task_of);
	if (!task_of)
		return hd_no_memory(x->name);
	status = add_records(x, b, &f, task_of);
	free(task_of);
	if (!status && hd_build_sort(b, &where))
		status = hd_error(HEDDLE_E_FORMAT, "%s: the predecessors make a circle", x->name);
	return status;
}

int hd_graph_parse_stg(const char *name, const char *text, size_t length, struct heddle_graph **out)
{
	struct numbers x = {.name = name};
	struct hd_build b = {.failed = 0};
	int status = read_numbers(&x, &b, text, text + length);
	if (!status)
		status = add_tasks(&x, &b);
	free(x.list);
	free(x.lines);
	if (status) {
		hd_build_free(&b);
		return status;
	}
	status = hd_build_end(&b, out);
	return status == HEDDLE_E_INVALID ? hd_error_context(HEDDLE_E_FORMAT, "%s", name) : status;
}
