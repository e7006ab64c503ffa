/* src/trace: exports and charts, on traces made by hand. */
#include "traces.h"
#include <ctype.h>
#include <math.h>
#include <heddle/chart.h>

static size_t count(const char *text, const char *what)
{
	size_t n = 0;
	for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
		n++;
	return n;
}

/* --- Exports ------------------------------------------------------------------------------------------------------ */

static char *export_rich(enum heddle_trace_format format, const char *name)
{
	struct heddle_trace *trace = rich();
	size_t length = 0;
	OK(heddle_trace_export(trace, format, file(name)));
	heddle_trace_free(trace);
	return contents(file(name), &length);
}

static void csv_has_a_line_per_task_and_transfer(void **state)
{
	(void)state;
	char *text = export_rich(HEDDLE_TRACE_CSV, "a.csv");
	assert_non_null(strstr(text, "\ntask,1,work,core,cpu,0.1,0.1,0.1,0.30000000000000004,0,0,8,0,0,,,,,,,,,,,,\n"));
	assert_non_null(strstr(text, ",\"odd \\ name, \"\"quoted\"\"\nand"));
	assert_non_null(strstr(text, "\ntransfer,8,,,,,,0,0.5,,,8,,,ram,memory,prefetch,,,,,,,,,\n"));
	assert_int_equal(count(text, "\n"), 1 + 4 + 3 + 1); /* one name has a newline */
	free(text);
}

/* Moves behind one JSON value; NULL when it is none. */
static const char *skip_json(const char *p)
{
	p += strspn(p, " \n");
	if (*p == '"') {
		for (p++; *p && *p != '"'; p++) {
			if ((unsigned char)*p < 0x20 || (*p == '\\' && !strchr("\"\\u", *++p)))
				return NULL;
		}
		return *p ? p + 1 : NULL;
	}
	if (*p != '{' && *p != '[') {
		char *end;
		(void)strtod(p, &end);
		return end > p && (*p == '-' || isdigit((unsigned char)*p)) ? end : NULL;
	}
	char close = *p == '{' ? '}' : ']';
	do {
		p = close == '}' ? skip_json(p + 1) : p;
		if (!p || (close == '}' && *p != ':'))
			return NULL;
		p = skip_json(p + 1);
		if (!p)
			return NULL;
		p += strspn(p, " \n");
	} while (*p == ',');
	return *p == close ? p + 1 : NULL;
}

static void chrome_trace_is_json_with_all_events(void **state)
{
	(void)state;
	char *text = export_rich(HEDDLE_TRACE_CHROME, "a.json");
	const char *end = skip_json(text);
	assert_non_null(end);
	assert_string_equal(end, "\n");
	assert_int_equal(count(text, "\"ph\":\"X\""), 4 + 3);
	assert_int_equal(count(text, "\"ph\":\"s\""), count(text, "\"ph\":\"f\""));
	assert_non_null(strstr(text, "\"failed\":\"HEDDLE_E_KERNEL\""));
	assert_int_equal(count(text, "\"name\":\"ram to memory\""), 2); /* two transfers overlap: two lanes */
	free(text);
}

/* Number of fields of a Paje line; those in quotes may have blanks. */
static size_t count_fields(const char *line)
{
	size_t n = 0;
	while (*line && *line != '\n') {
		n++;
		line += *line == '"' ? 1 + strcspn(line + 1, "\"\n") + 1 : strcspn(line, " \n");
		line += strspn(line, " ");
	}
	return n;
}

/* Field names of each event number, from the header; returns where the body begins. */
static const char *read_definitions(const char *text, size_t n_fields[32])
{
	const char *line = text;
	unsigned event = 0;
	for (; *line == '%'; line = strchr(line, '\n') + 1) {
		if (sscanf(line, "%%EventDef Paje%*s %u", &event) == 1)
			n_fields[event < 32 ? event : 0] = 1;
		else if (strncmp(line, "%EndEventDef", 12) != 0)
			n_fields[event]++;
	}
	return line;
}

static void paje_lines_have_the_fields_that_the_header_defines(void **state)
{
	(void)state;
	enum { CREATE = 4, STATE = 6, START = 7, END = 8 };
	char *text = export_rich(HEDDLE_TRACE_PAJE, "a.paje");
	size_t n_fields[32] = {0}, n[32] = {0};
	double last = 0;
	for (const char *line = read_definitions(text, n_fields); *line; line = strchr(line, '\n') + 1) {
		unsigned event = 99;
		double time = 0;
		assert_int_equal(sscanf(line, "%u %lf", &event, &time) >= 1, 1);
		assert_in_range(event, 0, 31);
		assert_int_equal(count_fields(line), n_fields[event]);
		n[event]++;
		if (event < CREATE)
			continue;
		assert_true(time >= last);
		last = time;
	}
	assert_int_equal(n[CREATE], 1 + 2 + 2); /* run, nodes, workers */
	assert_int_equal(n[CREATE + 1], n[CREATE]);
	assert_int_equal(n[START], 3);
	assert_int_equal(n[END], 3);
	assert_int_equal(n[STATE], 2 + 2 * 4); /* each worker idle at first, then begin and end of each task */
	free(text);
}

static void export_to_nowhere_or_of_unknown_format_is_refused(void **state)
{
	(void)state;
	struct heddle_trace *trace = diamond();
	OK(heddle_trace_save(trace, file("a.trace")));
	assert_int_equal(heddle_trace_export(trace, HEDDLE_TRACE_CSV, file("a.trace/x.csv")), HEDDLE_E_IO);
	assert_int_equal(heddle_trace_export(trace, (enum heddle_trace_format)3, file("a.csv")), HEDDLE_E_INVALID);
	assert_int_equal(heddle_trace_gantt(trace, file("a.trace/x.png"), NULL), HEDDLE_E_IO);
	heddle_trace_free(trace);
}

/* --- Charts ------------------------------------------------------------------------------------------------------- */

/* Shapes filled or stroked with pure green, the colour of the codelet "work"; blanks differ between versions of
 * cairo. */
static size_t count_green(char *svg)
{
	char *to = svg;
	for (const char *p = svg; *p; p++)
		if (*p != ' ')
			*to++ = *p;
	*to = '\0';
	return count(svg, "rgb(0%,100%,0%)");
}

static void gantt_in_svg_has_a_shape_per_task(void **state)
{
	(void)state;
	struct heddle_trace *trace = diamond();
	struct heddle_gantt_options options = {.critical_path = 1, .transfers = 1, .lower_bound = 38};
	size_t length = 0;
	OK(heddle_trace_gantt(trace, file("a.svg"), &options));
	char *svg = contents(file("a.svg"), &length);
	assert_non_null(strstr(svg, "<svg"));
	assert_non_null(strstr(svg, "</svg>"));
	assert_int_equal(count_green(svg), 4 + 1); /* and the legend */
	free(svg);
	heddle_trace_free(trace);
}

static void gantt_of_tiny_tasks_is_small(void **state)
{
	(void)state;
	enum { N = 50000 };
	struct heddle_trace *trace = make_trace(two_cores, N, 0);
	for (size_t i = 0; i < N; i++) {
		set_task(trace, i, i % 2, (double)i, (double)i + 1.5);
		trace->tasks[i].codelet = i / 10000 % 2;
	}
	size_t length = 0;
	OK(heddle_trace_gantt(trace, file("a.svg"), &(struct heddle_gantt_options){.critical_path = 1}));
	char *svg = contents(file("a.svg"), &length);
	assert_in_range(length, 1000, 200000);
	assert_in_range(count_green(svg), 1 + 2 * 3, 1 + 2 * 3 * 20); /* three runs of green on each core */
	free(svg);
	heddle_trace_free(trace);
}

static void gantt_kinds_have_their_signatures(void **state)
{
	(void)state;
	static const struct {
		const char *name, *signature;
	} kinds[] = {{"a.png", "\x89PNG\r\n\x1a\n"}, {"a.pdf", "%PDF-"}, {"a.svg", "<?xml"}};
	struct heddle_trace *traces[] = {rich(), make_trace(two_classes, 0, 0)};
	for (size_t t = 0; t < 2; t++) {
		for (size_t i = 0; i < 3; i++) {
			size_t length = 0;
			OK(heddle_trace_gantt(traces[t], file(kinds[i].name),
			                      &(struct heddle_gantt_options){.transfers = 1, .critical_path = 1}));
			char *data = contents(file(kinds[i].name), &length);
			assert_true(length > 100);
			assert_memory_equal(data, kinds[i].signature, strlen(kinds[i].signature));
			free(data);
		}
		heddle_trace_free(traces[t]);
	}
}

static void gantt_takes_the_size_asked_for(void **state)
{
	(void)state;
	struct heddle_trace *trace = diamond();
	size_t length = 0;
	OK(heddle_trace_gantt(trace, file("a.svg"), &(struct heddle_gantt_options){.width = 640, .height = 480}));
	char *svg = contents(file("a.svg"), &length);
	assert_non_null(strstr(svg, "width=\"640"));
	assert_non_null(strstr(svg, "height=\"480"));
	free(svg);
	assert_int_equal(heddle_trace_gantt(trace, file("a.svg"), &(struct heddle_gantt_options){.width = -1}),
	                 HEDDLE_E_INVALID);
	assert_int_equal(heddle_trace_gantt(trace, file("a.svg"), &(struct heddle_gantt_options){.lower_bound = NAN}),
	                 HEDDLE_E_INVALID);
	assert_int_equal(heddle_trace_gantt(trace, file("a.gif"), NULL), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), ".svg"));
	heddle_trace_free(trace);
}

static void chart_leaves_out_what_an_axis_cannot_show(void **state)
{
	(void)state;
	const double x[] = {1, 10, 0, NAN, 1e4}, y[] = {3, 30, 5, 5, 1e300};
	const struct heddle_chart_series series[] = {{"first", x, y, 5, 1}, {"second", y, x, 5, 0}};
	struct heddle_chart chart = {
	    .title = "t", .x_label = "x", .y_label = "y", .log_x = 1, .log_y = 1, .series = series};
	for (chart.n_series = 0; chart.n_series <= 2; chart.n_series++) {
		size_t length = 0;
		OK(heddle_chart_lines(&chart, file("a.svg")));
		char *svg = contents(file("a.svg"), &length);
		assert_null(strstr(svg, "nan"));
		assert_null(strstr(svg, "inf"));
		free(svg);
	}
	chart.n_series = 1;
	assert_int_equal(heddle_chart_lines(&chart, file("a.txt")), HEDDLE_E_INVALID);
	chart.width = 3;
	assert_int_equal(heddle_chart_lines(&chart, file("a.svg")), HEDDLE_E_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(csv_has_a_line_per_task_and_transfer),
	    cmocka_unit_test(chrome_trace_is_json_with_all_events),
	    cmocka_unit_test(paje_lines_have_the_fields_that_the_header_defines),
	    cmocka_unit_test(export_to_nowhere_or_of_unknown_format_is_refused),
	    cmocka_unit_test(gantt_in_svg_has_a_shape_per_task),
	    cmocka_unit_test(gantt_of_tiny_tasks_is_small),
	    cmocka_unit_test(gantt_kinds_have_their_signatures),
	    cmocka_unit_test(gantt_takes_the_size_asked_for),
	    cmocka_unit_test(chart_leaves_out_what_an_axis_cannot_show),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
