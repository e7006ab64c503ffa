/* src/plot: where the bars of a Gantt chart lie, and how high its curve of ready tasks is, as its SVG says; what its
 * rows are called, and whether outlines can be seen. */
#include "shown_text.h"
#include "svg.h"
#include "traces.h"
#include <math.h>

static char shown[4096]; /* all texts of the last chart, a line each */

void __wrap_cairo_show_text(cairo_t *cr, const char *text)
{
	size_t n = strlen(shown);
	snprintf(shown + n, sizeof shown - n, "%s\n", text);
	__real_cairo_show_text(cr, text);
}

struct bar {
	double left, right, top, bottom;
};

/* Whether a path is filled with the colour; versions of cairo write this differently. */
static int has_fill(const char *path, const char *end, uint32_t color)
{
	const char *fill = behind(path, end, "fill:rgb(");
	double rgb[3];
	fill = fill ? fill : behind(path, end, "fill=\"rgb(");
	if (!fill || sscanf(fill, "%lf%% , %lf%% , %lf%%", &rgb[0], &rgb[1], &rgb[2]) != 3)
		return 0;
	for (int i = 0; i < 3; i++)
		if (fabs(rgb[i] / 100 * 255 - (color >> (16 - 8 * i) & 255)) > 0.01)
			return 0;
	return 1;
}

/* Whether a path is filled with the colour and four-cornered, as bars are. */
static int is_bar(const char *path, const char *end, uint32_t color, struct bar *bar)
{
	const char *corners = behind(path, end, " d=\"");
	double x[4], y[4];
	if (!corners || !has_fill(path, end, color) ||
	    sscanf(corners, "M %lf %lf L %lf %lf L %lf %lf L %lf %lf Z", &x[0], &y[0], &x[1], &y[1], &x[2], &y[2],
	           &x[3], &y[3]) != 8)
		return 0;
	*bar = (struct bar){x[0], x[2], fmin(y[0], y[2]), fmax(y[0], y[2])};
	return 1;
}

/* The last bar of a colour: the legend is drawn first. */
static struct bar bar_of(const char *svg, uint32_t color)
{
	struct bar bar = {0}, found;
	int n = 0;
	for (const char *p = svg; (p = strstr(p, "<path")) != NULL; p++) {
		if (!is_bar(p, strchr(p, '>'), color, &found))
			continue;
		bar = found;
		n++;
	}
	if (!n)
		fail_msg("there is no bar of colour %06x", (unsigned)color);
	return bar;
}

/* Where the last dashed line begins: the legend has one, too, and is drawn first. */
static double dashed_line(const char *svg)
{
	double x = NAN;
	for (const char *p = svg; (p = strstr(p, "<path")) != NULL; p++) {
		const char *end = strchr(p, '>'), *corners = behind(p, end, " d=\"M ");
		if (behind(p, end, "stroke-dasharray") && corners)
			x = strtod(corners, NULL);
	}
	return x;
}

/* Points per us, and where time 0 is: when the first task could run. */
struct axis {
	double zero, scale;
};

/* There may be a gap of less than half a point after a bar. */
static void expect_bar(const struct bar *bar, const struct axis *axis, double start, double end)
{
	if (fabs(bar->left - axis->zero - start * axis->scale) > 0.01 ||
	    fabs(bar->right - axis->zero - end * axis->scale) > 0.5)
		fail_msg("a bar from %g to %g is drawn from %g to %g", start, end,
		         (bar->left - axis->zero) / axis->scale, (bar->right - axis->zero) / axis->scale);
}

static void bars_lie_where_their_events_were(void **state)
{
	(void)state;
	struct heddle_trace *trace = distinct();
	struct heddle_gantt_options options = {.width = 1200, .transfers = 1, .lower_bound = 50};
	size_t length = 0;
	OK(heddle_trace_gantt(trace, file("a.svg"), &options));
	char *svg = contents(file("a.svg"), &length);
	struct bar first = bar_of(svg, 0x00ff00), second = bar_of(svg, 0x336699), failed = bar_of(svg, 0);
	struct axis axis = {.scale = (second.left - first.left) / 17};
	axis.zero = first.left - 2 * axis.scale;
	expect_bar(&first, &axis, 2, 9);
	expect_bar(&second, &axis, 19, 49.5);
	expect_bar(&failed, &axis, 59, 74);
	assert_true(failed.top == first.top && second.top > first.top); /* the same worker, and the one below */
	struct bar demand = bar_of(svg, 0x444444), prefetch = bar_of(svg, 0x8c8c8c), back = bar_of(svg, 0xc0c0c0);
	expect_bar(&prefetch, &axis, 3, 8);
	expect_bar(&demand, &axis, 11, 18.5);
	expect_bar(&back, &axis, 52, 57);
	assert_true(prefetch.top == demand.top && demand.top > second.top && back.top > demand.top);
	assert_true(fabs(dashed_line(svg) - axis.zero - 50 * axis.scale) < 0.01);
	free(svg);
	heddle_trace_free(trace);
}

/* The card ran both of its tasks at once. */
static void bars_of_tasks_at_once_do_not_overlap(void **state)
{
	(void)state;
	struct heddle_trace *trace = make_trace(two_classes, 3, 0);
	set_task(trace, 0, 0, 0, 50);
	set_task(trace, 1, 1, 0, 40);
	set_task(trace, 2, 1, 20, 60);
	trace->codelets[1].color = 0x336699;
	trace->tasks[0].status = HEDDLE_E_KERNEL;
	trace->tasks[2].codelet = 1;
	trace->platform->classes[1].streams = 2;
	size_t length = 0;
	OK(heddle_trace_gantt(trace, file("a.svg"), &(struct heddle_gantt_options){.width = 1200}));
	char *svg = contents(file("a.svg"), &length);
	struct bar above = bar_of(svg, 0), first = bar_of(svg, 0x00ff00), second = bar_of(svg, 0x336699);
	assert_true(second.left < first.right);
	assert_true(above.bottom <= first.top && first.bottom <= second.top);
	assert_true(fabs(second.bottom - first.top - (above.bottom - above.top)) < 1); /* one row in all */
	free(svg);
	heddle_trace_free(trace);
}

/* The share of the points of the curve of ready tasks that are as high as its highest point. */
static double share_at_the_top(const char *svg)
{
	const char *p = svg;
	while ((p = strstr(p, "<path")) != NULL && !has_fill(p, strchr(p, '>'), 0x9db4c8))
		p++;
	assert_non_null(p);
	double x, y, top = INFINITY;
	size_t n = 0, n_top = 0;
	int used = 0;
	for (p = strstr(p, " d=\"") + 4; sscanf(p, " %*[ML] %lf %lf%n", &x, &y, &used) == 2; p += used) {
		n_top = y < top - 0.01 ? 1 : n_top + (y < top + 0.01);
		top = fmin(top, y);
		n++;
	}
	return (double)n_top / (double)n;
}

/* Of the 74 us there is one ready task for 2, 9 and 9 us, and none for the rest. */
static void ready_tasks_are_counted_until_they_start(void **state)
{
	(void)state;
	struct heddle_trace *trace = distinct();
	struct heddle_gantt_options options = {.width = 1200, .transfers = 1};
	size_t length = 0;
	OK(heddle_trace_gantt(trace, file("a.svg"), &options));
	char *svg = contents(file("a.svg"), &length);
	assert_true(fabs(share_at_the_top(svg) - 20.0 / 74) < 0.01);
	free(svg);
	heddle_trace_free(trace);
}

/* --- Expansions --------------------------------------------------------------------------------------------------- */

enum { EXPANSION = 0xcc0099 };

/* The core submits one from 111.5 to 118.25 us, between its tasks; the first of these could run at 101. */
static void expansion_is_a_thin_bar_where_it_was(void **state)
{
	(void)state;
	struct heddle_trace *trace = layered();
	size_t length = 0;
	trace->n_expansions = 1;
	shown[0] = '\0';
	OK(heddle_trace_gantt(trace, file("a.svg"), &(struct heddle_gantt_options){.width = 1200}));
	char *svg = contents(file("a.svg"), &length);
	struct bar first = bar_of(svg, 0x00ff00), second = bar_of(svg, 0x336699), bar = bar_of(svg, EXPANSION);
	struct axis axis = {.scale = (second.left - first.left) / 17};
	axis.zero = first.left - 2 * axis.scale;
	expect_bar(&bar, &axis, 10.5, 17.25);
	assert_true(bar.bottom - bar.top < (first.bottom - first.top) / 2);
	assert_true(bar.top > first.top && fabs(bar.bottom - first.bottom) < 0.01); /* at the foot of the row */
	assert_non_null(strstr(shown, "\nexpansion\n"));
	free(svg);
	heddle_trace_free(trace);
}

/* An expansion ends when the first task could run: it is drawn inside the chart, left of the zero of the time axis. */
static void expansion_before_all_tasks_is_left_of_zero(void **state)
{
	(void)state;
	struct heddle_trace *trace = layered();
	size_t length = 0;
	trace->n_expansions = 1;
	trace->expansions[0].start = 81;
	trace->expansions[0].end = 101;
	OK(heddle_trace_gantt(trace, file("a.svg"), &(struct heddle_gantt_options){.width = 1200}));
	char *svg = contents(file("a.svg"), &length);
	struct bar first = bar_of(svg, 0x00ff00), second = bar_of(svg, 0x336699), bar = bar_of(svg, EXPANSION);
	struct axis axis = {.scale = (second.left - first.left) / 17};
	axis.zero = first.left - 2 * axis.scale;
	expect_bar(&bar, &axis, -20, 0);
	assert_true(bar.left > 0);
	free(svg);
	heddle_trace_free(trace);
}

/* As in virtual time, where they take none: the chart is the one of a trace that knows nothing of hierarchical tasks.
 * The makespan is 74 us. */
static void expansions_too_short_to_be_seen_change_nothing(void **state)
{
	(void)state;
	static const double durations[] = {0, 0.07, 0.08};
	struct heddle_trace *plain = distinct(), *trace = layered();
	struct heddle_gantt_options options = {.width = 1200, .transfers = 1, .critical_path = 1};
	size_t length = 0, expected = 0;
	OK(heddle_trace_gantt(plain, file("a.png"), &options));
	char *picture = contents(file("a.png"), &expected);
	for (size_t i = 0; i < 3; i++) {
		for (size_t k = 0; k < trace->n_expansions; k++) {
			trace->expansions[k].start = 90 + 100 * (double)k;
			trace->expansions[k].end = trace->expansions[k].start + durations[i];
		}
		OK(heddle_trace_gantt(trace, file("b.png"), &options));
		char *other = contents(file("b.png"), &length);
		assert_int_equal(length == expected && memcmp(other, picture, length) == 0, i < 2);
		free(other);
	}
	free(picture);
	heddle_trace_free(plain);
	heddle_trace_free(trace);
}

/* --- Rows --------------------------------------------------------------------------------------------------------- */

static const char four_cards[] = "version: 1\nname: cards\n"
                                 "nodes:\n  - {name: ram}\n  - {name: memory}\n"
                                 "classes:\n  - {name: cpu, kind: cpu}\n  - {name: gpu, kind: cuda}\n"
                                 "workers:\n  - {name: core, class: cpu, node: ram}\n"
                                 "  - {name: card, class: gpu, node: memory, count: 4}\n"
                                 "links:\n  - {from: ram, to: memory, bandwidth_mbs: 1000}\n"
                                 "  - {from: memory, to: ram, bandwidth_mbs: 1000}\n";

/* The second and the fourth card ran nothing, and do not stand beside each other. */
static void idle_workers_of_a_class_share_a_row(void **state)
{
	(void)state;
	struct heddle_trace *trace = make_trace(four_cards, 2, 0);
	set_task(trace, 0, 1, 0, 50);
	set_task(trace, 1, 3, 0, 40);
	trace->tasks[1].codelet = 1;
	trace->codelets[1].color = 0x336699;
	size_t length = 0;
	shown[0] = '\0';
	OK(heddle_trace_gantt(trace, file("a.svg"), &(struct heddle_gantt_options){.width = 1200}));
	assert_non_null(strstr(shown, "\ncore\n100 %\ncard0\n0.0 %\n2 x gpu idle\n100 %\ncard2\n20 %\n"));
	char *svg = contents(file("a.svg"), &length);
	struct bar first = bar_of(svg, 0x00ff00), second = bar_of(svg, 0x336699);
	double row = second.top - first.top;
	assert_true(row > 1.5 * (first.bottom - first.top) && row < 3 * (first.bottom - first.top)); /* one between */
	free(svg);
	heddle_trace_free(trace);
}

/* The second card ran nothing, but submitted a sub-graph. */
static void worker_that_only_expands_has_a_row(void **state)
{
	(void)state;
	struct heddle_trace *trace = make_trace(four_cards, 2, 0);
	set_task(trace, 0, 1, 0, 50);
	set_task(trace, 1, 3, 0, 40);
	trace->expansions = calloc(1, sizeof *trace->expansions);
	trace->n_expansions = 1;
	trace->expansions[0] = (struct heddle_trace_expansion){.id = 7, .worker = 2, .start = 10, .end = 20};
	shown[0] = '\0';
	OK(heddle_trace_gantt(trace, file("a.svg"), &(struct heddle_gantt_options){.width = 1200}));
	assert_non_null(strstr(shown, "\ncard1\n100 %\n"));
	heddle_trace_free(trace);
}

/* --- Outlines ----------------------------------------------------------------------------------------------------- */

/* As WCAG 2 defines it, from 0 to 1. */
static double luminance(uint32_t rgb)
{
	double sum = 0;
	for (int i = 0; i < 3; i++) {
		double c = (rgb >> (16 - 8 * i) & 255) / 255.0;
		sum +=
		    (double[]){0.2126, 0.7152, 0.0722}[i] * (c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
	}
	return sum;
}

/* From 1, the same, to 21, black on white. */
static double contrast(uint32_t a, uint32_t b)
{
	double x = luminance(a), y = luminance(b);
	return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

/* The highest contrast of a point of the picture to the colour, between two points that are given in points. */
static double contrast_between(cairo_surface_t *picture, uint32_t color, const double from[2], const double to[2])
{
	const unsigned char *data = cairo_image_surface_get_data(picture);
	double most = 1, scale = 2; /* pixels per point */
	for (int i = 0; i <= 100; i++) {
		long x = lround(scale * (from[0] + (to[0] - from[0]) * i / 100));
		long y = lround(scale * (from[1] + (to[1] - from[1]) * i / 100));
		const unsigned char *pixel = data + y * cairo_image_surface_get_stride(picture) + 4 * x;
		most = fmax(most, contrast(color, (uint32_t)pixel[2] << 16 | (uint32_t)pixel[1] << 8 | pixel[0]));
	}
	return most;
}

/* 3 is what WCAG 2 asks for graphics. The outline begins half a point above the bar, so that what is around the row is
 * not looked at. */
static void outlines_are_seen_on_every_colour(void **state)
{
	(void)state;
	static const uint32_t colors[] = {0x010101, 0x8b0000, 0x00008b, 0x336699,
	                                  0x808080, 0xff0000, 0xffff00, 0xfefefe};
	for (size_t i = 0; i < sizeof colors / sizeof *colors; i++) {
		struct heddle_trace *trace = make_trace(two_cores, 1, 0);
		struct heddle_gantt_options options = {.width = 600, .critical_path = 1};
		size_t length = 0;
		set_task(trace, 0, 0, 0, 50);
		trace->codelets[0].color = colors[i];
		OK(heddle_trace_gantt(trace, file("a.svg"), &options));
		OK(heddle_trace_gantt(trace, file("a.png"), &options));
		char *svg = contents(file("a.svg"), &length);
		struct bar bar = bar_of(svg, colors[i]);
		cairo_surface_t *picture = cairo_image_surface_create_from_png(file("a.png"));
		assert_int_equal(cairo_surface_status(picture), CAIRO_STATUS_SUCCESS);
		double x = bar.left + (bar.right - bar.left) / 4, y = (bar.top + bar.bottom) / 2;
		double above = contrast_between(picture, colors[i], (double[]){x, bar.top - 0.5}, (double[]){x, y - 6});
		double left = contrast_between(picture, colors[i], (double[]){bar.left + 0.5, y}, (double[]){x, y});
		if (above < 3 || left < 3)
			fail_msg("the outline has a contrast of %.1f above and %.1f on the left to the colour %06x",
			         above, left, (unsigned)colors[i]);
		cairo_surface_destroy(picture);
		free(svg);
		heddle_trace_free(trace);
	}
}

static size_t times_shown(const char *line)
{
	size_t n = 0;
	for (const char *at = shown; (at = strstr(at, line)) != NULL; at++)
		n += at == shown || at[-1] == '\n';
	return n;
}

/* Codelets of one name have one colour, and stand in the legend once, unless the program has given each another. */
static void codelets_of_one_name_are_in_the_legend_once(void **state)
{
	(void)state;
	static const uint32_t colors[][2] = {{0, 0}, {0, 0x0000ff}, {0xff0000, 0x0000ff}};
	for (size_t i = 0; i < sizeof colors / sizeof *colors; i++) {
		struct heddle_trace *trace = make_trace(two_cores, 2, 0);
		struct heddle_gantt_options options = {.width = 600};
		free(trace->codelets[1].name);
		trace->codelets[1].name = strdup("work");
		trace->codelets[0].color = colors[i][0];
		trace->codelets[1].color = colors[i][1];
		set_task(trace, 0, 0, 0, 1); /* bars too narrow for names */
		set_task(trace, 1, 1, 99, 100);
		trace->tasks[1].codelet = 1;
		shown[0] = 0;
		OK(heddle_trace_gantt(trace, file("a.svg"), &options));
		assert_int_equal(times_shown("work\n"), colors[i][0] ? 2 : 1);
		heddle_trace_free(trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(bars_lie_where_their_events_were),
	    cmocka_unit_test(bars_of_tasks_at_once_do_not_overlap),
	    cmocka_unit_test(ready_tasks_are_counted_until_they_start),
	    cmocka_unit_test(expansion_is_a_thin_bar_where_it_was),
	    cmocka_unit_test(expansion_before_all_tasks_is_left_of_zero),
	    cmocka_unit_test(expansions_too_short_to_be_seen_change_nothing),
	    cmocka_unit_test(idle_workers_of_a_class_share_a_row),
	    cmocka_unit_test(worker_that_only_expands_has_a_row),
	    cmocka_unit_test(outlines_are_seen_on_every_colour),
	    cmocka_unit_test(codelets_of_one_name_are_in_the_legend_once),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
