/* src/plot: where the bars of a Gantt chart lie, and how high its curve of ready tasks is, as its SVG says. */
#include "svg.h"
#include "traces.h"
#include <math.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(bars_lie_where_their_events_were),
	    cmocka_unit_test(bars_of_tasks_at_once_do_not_overlap),
	    cmocka_unit_test(ready_tasks_are_counted_until_they_start),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
