/* src/plot: where the points of a chart lie, as its SVG says. */
#include "svg.h"
#include "scratch.h"
#include <math.h>
#include <heddle/chart.h>

enum { N = 3 };
struct line {
	double x[N], y[N];
};

/* The line through the points of the only series. The widths of other lines differ. */
static struct line line_of(const struct heddle_chart *chart)
{
	struct line line = {.x = {NAN}};
	size_t length = 0;
	int n = 0;
	OK(heddle_chart_lines(chart, file("a.svg")));
	char *svg = contents(file("a.svg"), &length);
	for (const char *p = svg; (p = strstr(p, "<path")) != NULL; p++) {
		const char *end = strchr(p, '>'), *points = behind(p, end, " d=\"");
		if (behind(p, end, "stroke-width:1.4") || behind(p, end, "stroke-width=\"1.4\""))
			n += points && sscanf(points, "M %lf %lf L %lf %lf L %lf %lf", &line.x[0], &line.y[0],
			                      &line.x[1], &line.y[1], &line.x[2], &line.y[2]) == 6;
	}
	free(svg);
	assert_int_equal(n, 1);
	return line;
}

/* Where the second point is on the way from the first to the third. */
static double share(const double at[N])
{
	return (at[1] - at[0]) / (at[2] - at[0]);
}

static void points_lie_where_their_values_are(void **state)
{
	(void)state;
	static const double x[] = {1, 10, 1000}, y[] = {1, 100, 1000};
	const struct heddle_chart_series series = {"values", x, y, N, 1};
	struct heddle_chart chart = {.series = &series, .n_series = 1};
	for (int logs = 0; logs < 4; logs++) {
		chart.log_x = logs & 1;
		chart.log_y = logs >> 1;
		struct line line = line_of(&chart);
		assert_true(line.x[2] > line.x[0] && line.y[2] < line.y[0]); /* to the right, and upwards */
		assert_true(fabs(share(line.x) - (chart.log_x ? 1.0 / 3 : 9.0 / 999)) < 1e-3);
		assert_true(fabs(share(line.y) - (chart.log_y ? 2.0 / 3 : 99.0 / 999)) < 1e-3);
	}
}

static size_t count_paths(const struct heddle_chart *chart)
{
	size_t length = 0, n = 0;
	OK(heddle_chart_lines(chart, file("a.svg")));
	char *svg = contents(file("a.svg"), &length);
	for (const char *p = svg; (p = strstr(p, "<path")) != NULL; p++)
		n++;
	free(svg);
	return n;
}

static void deviations_are_bars_that_the_axis_makes_room_for(void **state)
{
	(void)state;
	static const double x[] = {1, 10, 1000}, y[] = {1, 100, 1000};
	static const double none[] = {0, NAN, 0}, one[] = {NAN, 0, 3000}, two[] = {NAN, 50, 3000};
	const struct heddle_chart_series series = {"values", x, y, N, 1};
	const double *deviations[] = {none};
	struct heddle_chart chart = {.series = &series, .n_series = 1, .log_y = 1, .log_x = 1};
	struct line before = line_of(&chart);
	size_t n = count_paths(&chart);
	chart.deviations = deviations;
	assert_int_equal(count_paths(&chart), n);
	deviations[0] = one;
	struct line after = line_of(&chart); /* up to 4000 on the axis; the lower end of that bar would be negative */
	assert_true(after.y[2] > before.y[2] + 10 && fabs(after.y[0] - before.y[0]) < 2);
	assert_true(fabs(share(after.y) - 2.0 / 3) < 1e-3);
	n = count_paths(&chart);
	deviations[0] = two;
	assert_int_equal(count_paths(&chart) - n, 3); /* a bar and its two ends */
}

enum { SERIES = 32 };

/* How the point of one of the series is drawn: the last path of the picture. The caller frees it. */
static char *mark_of(size_t i)
{
	static const double one[] = {1};
	struct heddle_chart_series series[SERIES];
	size_t length = 0;
	for (size_t k = 0; k < SERIES; k++)
		series[k] = (struct heddle_chart_series){"s", one, one, k == i, 0};
	const struct heddle_chart chart = {.series = series, .n_series = SERIES};
	OK(heddle_chart_lines(&chart, file("a.svg")));
	char *svg = contents(file("a.svg"), &length), *last = svg;
	for (char *p = svg; (p = strstr(p, "<path")) != NULL; p++)
		last = p;
	char *mark = strndup(last, strcspn(last, ">"));
	free(svg);
	return mark;
}

static void series_differ_by_colour_or_marker(void **state)
{
	(void)state;
	char *marks[SERIES];
	for (size_t i = 0; i < SERIES; i++) {
		marks[i] = mark_of(i);
		for (size_t k = 0; k < i; k++)
			if (strcmp(marks[k], marks[i]) == 0)
				fail_msg("series %zu looks like series %zu: %s", i, k, marks[i]);
	}
	for (size_t i = 0; i < SERIES; i++)
		free(marks[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(points_lie_where_their_values_are),
	    cmocka_unit_test(deviations_are_bars_that_the_axis_makes_room_for),
	    cmocka_unit_test(series_differ_by_colour_or_marker),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
