/* Reading exports of traces: every value by the name of its column, member or field. */
#ifndef TEST_EXPORTS_H
#define TEST_EXPORTS_H

#include <ctype.h>
#include <math.h>
#include "traces.h"

static char *exported(const struct heddle_trace *trace, enum heddle_trace_format format, const char *name)
{
	size_t length = 0;
	OK(heddle_trace_export(trace, format, file(name)));
	return contents(file(name), &length);
}

/* --- CSV ---------------------------------------------------------------------------------------------------------- */

enum { MAX_FIELD = 64 };

/* Copies field `n` of a line, without the quotes of its ends; fails if there are not so many. */
static void copy_field(const char *line, size_t n, char separator, char *out)
{
	for (; n > 0; n--) {
		for (int quoted = 0; (*line != separator || quoted) && *line && *line != '\n'; line++)
			quoted ^= *line == '"';
		assert_int_equal(*line, separator);
		line++;
	}
	size_t length = 0;
	for (int quoted = 0; (*line != separator || quoted) && *line && *line != '\n'; line++) {
		quoted ^= *line == '"';
		assert_true(length + 1 < MAX_FIELD);
		if (*line != '"')
			out[length++] = *line;
	}
	out[length] = '\0';
}

static const char *next_line(const char *line)
{
	line = strchr(line, '\n');
	assert_non_null(line);
	return line + 1;
}

/* The value in a column of a line of a table, whose first line names the columns. */
static const char *in_column(const char *table, const char *line, const char *name)
{
	static char value[MAX_FIELD];
	size_t n_columns = 1;
	for (const char *p = table; *p != '\n'; p++)
		n_columns += *p == ',';
	for (size_t i = 0; i < n_columns; i++) {
		copy_field(table, i, ',', value);
		if (strcmp(value, name) == 0) {
			copy_field(line, i, ',', value);
			return value;
		}
	}
	fail_msg("there is no column %s", name);
	return NULL;
}

static void expect_number(const char *text, const char *name, double expected)
{
	char *end;
	double value = strtod(text, &end);
	if (end == text || *end || value != expected)
		fail_msg("%s is \"%s\", not %.17g", name, text, expected);
}

static void csv_number(const char *table, const char *line, const char *name, double expected)
{
	expect_number(in_column(table, line, name), name, expected);
}

static void csv_text(const char *table, const char *line, const char *name, const char *expected)
{
	const char *value = in_column(table, line, name);
	if (strcmp(value, expected) != 0)
		fail_msg("%s is \"%s\", not \"%s\"", name, value, expected);
}

static void csv_span(const char *table, const char *line, double start, double end)
{
	csv_number(table, line, "start_us", start);
	csv_number(table, line, "end_us", end);
}

static void csv_where(const char *table, const char *line, const char *codelet, const char *worker, const char *class_)
{
	csv_text(table, line, "codelet", codelet);
	csv_text(table, line, "worker", worker);
	csv_text(table, line, "class", class_);
}

static void csv_empty(const char *table, const char *line, const char *const *columns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		csv_text(table, line, columns[i], "");
}

/* --- Chrome ------------------------------------------------------------------------------------------------------- */

/* The value of the only member of that name in the object that begins at `line` and ends with it. */
static const char *member(const char *line, const char *name)
{
	static char value[MAX_FIELD];
	char quoted[MAX_FIELD];
	size_t length = strcspn(line, "\n");
	snprintf(quoted, sizeof quoted, "\"%s\":", name);
	const char *at = strstr(line, quoted);
	if (!at || at >= line + length)
		fail_msg("no \"%s\" in %.*s", name, (int)length, line);
	at += strlen(quoted);
	size_t n = *at == '"' ? strcspn(at + 1, "\"") + 2 : strcspn(at, ",}\n");
	assert_true(n < sizeof value);
	snprintf(value, sizeof value, "%.*s", (int)(*at == '"' ? n - 2 : n), at + (*at == '"'));
	return value;
}

static void json_number(const char *line, const char *name, double expected)
{
	expect_number(member(line, name), name, expected);
}

static void json_text(const char *line, const char *name, const char *expected)
{
	assert_string_equal(member(line, name), expected);
}

/* The row of a complete event, and when it begins and ends. */
static void json_span(const char *line, double process, double thread, double start, double end)
{
	json_number(line, "pid", process);
	json_number(line, "tid", thread);
	json_number(line, "ts", start);
	json_number(line, "dur", end - start);
}

/* Event number `n` of those of a phase whose line has the word. */
static const char *event(const char *text, const char *phase, const char *word, size_t n)
{
	char head[MAX_FIELD];
	snprintf(head, sizeof head, "{\"ph\":\"%s\"", phase);
	for (const char *line = text; *line; line = next_line(line)) {
		const char *found = strstr(line, word), *end = strchr(line, '\n');
		if (strncmp(line, head, strlen(head)) == 0 && found && found < end && n-- == 0)
			return line;
	}
	fail_msg("there are not so many events %s with %s", phase, word);
	return NULL;
}

/* --- Paje --------------------------------------------------------------------------------------------------------- */

/* The value of a field of a line, by the name that the header gives to the fields of the line's event. */
static const char *paje_field(const char *text, const char *line, const char *name)
{
	static char value[MAX_FIELD];
	char number[MAX_FIELD];
	copy_field(line, 0, ' ', number);
	size_t n = 0;
	int inside = 0;
	for (const char *at = text; *at == '%'; at = next_line(at)) {
		char first[MAX_FIELD], field[MAX_FIELD] = "";
		assert_true(sscanf(at, "%63s %63s %*s", first, field) >= 1);
		if (strcmp(first, "%EventDef") == 0) {
			char its[MAX_FIELD];
			copy_field(at, 2, ' ', its);
			inside = strcmp(its, number) == 0;
			n = 0;
		} else if (strcmp(first, "%") == 0 && inside && ++n && strcmp(field, name) == 0) {
			copy_field(line, n, ' ', value);
			return value;
		}
	}
	fail_msg("event %s has no field %s", number, name);
	return NULL;
}

static void paje_text(const char *text, const char *line, const char *name, const char *expected)
{
	const char *value = paje_field(text, line, name);
	if (strcmp(value, expected) != 0)
		fail_msg("%s is \"%s\", not \"%s\", in %.*s", name, value, expected, (int)strcspn(line, "\n"), line);
}

/* The number by which the header announces an event. */
static unsigned paje_number(const char *text, const char *name)
{
	char words[MAX_FIELD];
	snprintf(words, sizeof words, "%%EventDef Paje%s ", name);
	const char *at = strstr(text, words);
	assert_non_null(at);
	return (unsigned)strtoul(at + strlen(words), NULL, 10);
}

/* Line number `n` of those of an event. */
static const char *paje_line(const char *text, const char *name, size_t n)
{
	unsigned number = paje_number(text, name);
	for (const char *line = text; *line; line = next_line(line))
		if (isdigit((unsigned char)*line) && strtoul(line, NULL, 10) == number && n-- == 0)
			return line;
	fail_msg("there are not so many events %s", name);
	return NULL;
}

/* The name that a line of an event gives to an alias. */
static void expect_alias(const char *text, const char *name, const char *alias, const char *expected)
{
	for (size_t i = 0;; i++) {
		const char *line = paje_line(text, name, i);
		if (strcmp(paje_field(text, line, "Alias"), alias) != 0)
			continue;
		paje_text(text, line, "Name", expected);
		return;
	}
}

static void paje_time(const char *text, const char *line, double us)
{
	double ms = strtod(paje_field(text, line, "Time"), NULL);
	if (!(fabs(ms - us * 1e-3) < 1e-9))
		fail_msg("the time is %.9f ms, not %.9f ms", ms, us * 1e-3);
}

/* What a worker does from a time on, us. */
struct paje_state {
	double time;
	const char *worker, *value, *task, *name;
};

static void expect_state(const char *text, const char *line, const struct paje_state *expected)
{
	paje_time(text, line, expected->time);
	paje_text(text, line, "Type", "S");
	paje_text(text, line, "Container", expected->worker);
	paje_text(text, line, "Value", expected->value);
	paje_text(text, line, "Task", expected->task);
	paje_text(text, line, "Name", expected->name);
}

/* The first states of all workers, in the order of the file. */
static void expect_states(const char *text, const struct paje_state *expected, size_t n)
{
	for (size_t i = 0; i < n; i++)
		expect_state(text, paje_line(text, "SetState", i), &expected[i]);
}

#endif
