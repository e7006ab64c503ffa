/* Draws points and lines of several series on two axes (heddle/chart.h). */
#include <cairo.h>
#include <math.h>
#include <stdlib.h>
#include "base/base.h"
#include "draw.h"
#include "report/report.h"

enum { MARGIN = 16, TITLE = 24, LABELS = 20, TICKS = 20, WIDTH = 640, HEIGHT = 420, SMALLEST = 120, LARGEST = 20000 };
enum { MAX_TICKS = 64 };

struct plot {
	const struct heddle_chart *chart; /* borrowed */
	cairo_t *cr;
	double width, height;
	struct hd_axis x, y;
	struct hd_legend legend;
	struct hd_legend_item *items; /* owned */
};

static const uint32_t colors[] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x332288, 0x999933};
enum { N_COLORS = sizeof colors / sizeof *colors };

static uint32_t color_of(size_t series)
{
	return colors[series % N_COLORS];
}

/* Colours repeat after N_COLORS series. The markers are then shifted by one, so that 32 series differ. */
static unsigned marker_of(size_t series)
{
	return (unsigned)((series + series / N_COLORS) % 4);
}

/* Values beyond 1e300 are not drawn, because a sum of two could overflow. */
static int is_drawable(double value, int is_log)
{
	return fabs(value) <= 1e300 && (!is_log || value >= 1e-300);
}

static int is_shown(const struct heddle_chart *c, double x, double y)
{
	return is_drawable(x, c->log_x) && is_drawable(y, c->log_y);
}

static double deviation_of(const struct plot *p, size_t series, size_t i)
{
	const double *deviations = p->chart->deviations ? p->chart->deviations[series] : NULL;
	return deviations && deviations[i] > 0 ? deviations[i] : 0;
}

/* The upper (sign 1) or lower (sign -1) end of the bar for a point's deviation. If it cannot be drawn on a logarithmic
 * axis, the point itself. */
static double bar_end(const struct plot *p, size_t series, size_t i, int sign)
{
	double y = p->chart->series[series].y[i], end = y + sign * deviation_of(p, series, i);
	return is_drawable(end, p->chart->log_y) ? end : y;
}

/* Makes the axis reach a little beyond the smallest and the largest value shown. low > high: no value is shown. */
static void set_range(struct hd_axis *axis, double low, double high)
{
	int is_log = axis->logarithmic;
	if (low > high)
		low = high = is_log ? 1 : 0;
	double margin = is_log ? pow(high / low, 0.04) : (high - low) * 0.04;
	if (low == high)
		margin = is_log ? 2 : fabs(low) > 0 ? fabs(low) * 0.5 : 1;
	axis->low = is_log ? low / margin : low - margin;
	axis->high = is_log ? high * margin : high + margin;
	if (!is_log && low >= 0 && axis->low < 0.3 * high)
		axis->low = 0; /* if the values begin near zero, zero is shown, too */
}

static void find_ranges(struct plot *p)
{
	double x[] = {INFINITY, -INFINITY}, y[] = {INFINITY, -INFINITY};
	for (size_t s = 0; s < p->chart->n_series; s++) {
		const struct heddle_chart_series *series = &p->chart->series[s];
		for (size_t i = 0; i < series->n; i++) {
			if (!is_shown(p->chart, series->x[i], series->y[i]))
				continue;
			x[0] = fmin(x[0], series->x[i]);
			x[1] = fmax(x[1], series->x[i]);
			y[0] = fmin(y[0], bar_end(p, s, i, -1));
			y[1] = fmax(y[1], bar_end(p, s, i, 1));
		}
	}
	p->x.logarithmic = p->chart->log_x;
	p->y.logarithmic = p->chart->log_y;
	set_range(&p->x, x[0], x[1]);
	set_range(&p->y, y[0], y[1]);
}

/* The width of the widest number at the axis, whose length must be set, because it decides about ticks. */
static double widest_number(cairo_t *cr, const struct hd_axis *axis)
{
	double ticks[MAX_TICKS], widest = 0;
	char label[HD_LABEL];
	size_t n = hd_axis_ticks(axis, 40, ticks, MAX_TICKS);
	hd_font(cr, 10, 0);
	for (size_t i = 0; i < n; i++) {
		hd_number_label(label, ticks[i]);
		widest = fmax(widest, hd_text_width(cr, label));
	}
	return widest;
}

static void lay_out(struct plot *p)
{
	const struct heddle_chart *c = p->chart;
	double top = MARGIN + (c->title ? TITLE : 0);
	p->legend = (struct hd_legend){MARGIN, top, p->width - 2 * MARGIN, p->items, c->n_series > 1 ? c->n_series : 0};
	top += hd_legend(p->cr, &p->legend, 0) + 8;
	p->y.from = p->height - MARGIN - TICKS - (c->x_label ? LABELS : 0);
	p->y.to = fmin(top, p->y.from - 10);
	p->x.from = MARGIN + (c->y_label ? LABELS : 0) + widest_number(p->cr, &p->y) + 8;
	p->x.to = fmax(p->width - MARGIN, p->x.from + 10);
}

static void draw_ticks(const struct plot *p, const struct hd_axis *axis, int is_x)
{
	double ticks[MAX_TICKS];
	char label[HD_LABEL];
	size_t n = hd_axis_ticks(axis, is_x ? 60 : 40, ticks, MAX_TICKS);
	hd_font(p->cr, 10, 0);
	cairo_set_line_width(p->cr, 0.6);
	for (size_t i = 0; i < n; i++) {
		double at = hd_axis_at(axis, ticks[i]);
		hd_color(p->cr, 0xdddddd, 1);
		if (is_x)
			hd_line(p->cr, at, p->y.from, at, p->y.to);
		else
			hd_line(p->cr, p->x.from, at, p->x.to, at);
		hd_number_label(label, ticks[i]);
		hd_color(p->cr, 0x333333, 1);
		if (is_x)
			hd_draw_text(p->cr, at, p->y.from + 12, 0.5, 0, label);
		else
			hd_draw_text(p->cr, p->x.from - 6, at, 1, 0, label);
	}
}

static void draw_frame(const struct plot *p)
{
	const struct heddle_chart *c = p->chart;
	draw_ticks(p, &p->x, 1);
	draw_ticks(p, &p->y, 0);
	hd_color(p->cr, 0x444444, 1);
	cairo_set_line_width(p->cr, 0.8);
	cairo_rectangle(p->cr, p->x.from, p->y.to, p->x.to - p->x.from, p->y.from - p->y.to);
	cairo_stroke(p->cr);
	hd_color(p->cr, 0x222222, 1);
	hd_font(p->cr, 11, 0);
	if (c->x_label)
		hd_draw_text(p->cr, (p->x.from + p->x.to) / 2, p->y.from + TICKS + LABELS / 2.0, 0.5, 0, c->x_label);
	if (c->y_label) {
		cairo_save(p->cr);
		cairo_translate(p->cr, MARGIN + 4, (p->y.from + p->y.to) / 2);
		cairo_rotate(p->cr, -M_PI / 2);
		hd_draw_text(p->cr, 0, 0, 0.5, 0, c->y_label);
		cairo_restore(p->cr);
	}
	hd_font(p->cr, 13, 1);
	hd_color(p->cr, 0x111111, 1);
	if (c->title)
		hd_draw_text(p->cr, MARGIN, MARGIN + TITLE / 2.0 - 4, 0, p->width - 2 * MARGIN, c->title);
	hd_legend(p->cr, &p->legend, 1);
}

static void draw_bars(const struct plot *p, size_t number)
{
	const struct heddle_chart_series *s = &p->chart->series[number];
	cairo_set_line_width(p->cr, 1);
	for (size_t i = 0; i < s->n; i++) {
		if (!is_shown(p->chart, s->x[i], s->y[i]) || deviation_of(p, number, i) <= 0)
			continue;
		double x = hd_axis_at(&p->x, s->x[i]), low = hd_axis_at(&p->y, bar_end(p, number, i, -1)),
		       high = hd_axis_at(&p->y, bar_end(p, number, i, 1));
		hd_line(p->cr, x, low, x, high);
		hd_line(p->cr, x - 3, low, x + 3, low);
		hd_line(p->cr, x - 3, high, x + 3, high);
	}
}

static void draw_series(const struct plot *p, size_t number)
{
	const struct heddle_chart_series *s = &p->chart->series[number];
	double radius = s->n > 2000 ? 1.2 : s->n > 200 ? 2 : 3.2;
	int is_drawing = 0;
	hd_color(p->cr, color_of(number), s->n > 200 && !s->joined ? 0.6 : 1);
	draw_bars(p, number);
	cairo_set_line_width(p->cr, 1.4);
	cairo_new_path(p->cr);
	for (size_t i = 0; i < s->n && s->joined; i++) {
		int shown = is_shown(p->chart, s->x[i], s->y[i]);
		if (shown && is_drawing)
			cairo_line_to(p->cr, hd_axis_at(&p->x, s->x[i]), hd_axis_at(&p->y, s->y[i]));
		else if (shown)
			cairo_move_to(p->cr, hd_axis_at(&p->x, s->x[i]), hd_axis_at(&p->y, s->y[i]));
		is_drawing = shown;
	}
	cairo_stroke(p->cr);
	for (size_t i = 0; i < s->n && (!s->joined || s->n <= 60); i++)
		if (is_shown(p->chart, s->x[i], s->y[i]))
			hd_marker(p->cr, marker_of(number), hd_axis_at(&p->x, s->x[i]), hd_axis_at(&p->y, s->y[i]),
			          radius);
}

static int draw(struct plot *p, enum hd_picture kind, const char *path)
{
	struct hd_canvas canvas;
	int status = hd_canvas_open(&canvas, kind, p->width, p->height);
	if (status)
		return status;
	p->cr = canvas.cr;
	find_ranges(p);
	lay_out(p);
	draw_frame(p);
	for (size_t s = 0; s < p->chart->n_series; s++)
		draw_series(p, s);
	return hd_canvas_close(&canvas, path);
}

static int check(const struct heddle_chart *c, const char *path)
{
	if (!c || !path || (c->n_series && !c->series))
		return hd_error(HEDDLE_E_INVALID, "heddle_chart_lines: %s is NULL",
		                !c      ? "chart"
		                : !path ? "path"
		                        : "series");
	for (size_t s = 0; s < c->n_series; s++)
		if (!c->series[s].name || (c->series[s].n && (!c->series[s].x || !c->series[s].y)))
			return hd_error(HEDDLE_E_INVALID, "heddle_chart_lines: series %zu has no %s", s,
			                c->series[s].name ? "values" : "name");
	if ((c->width != 0 && !(c->width >= SMALLEST && c->width <= LARGEST)) ||
	    (c->height != 0 && !(c->height >= SMALLEST && c->height <= LARGEST)))
		return hd_error(HEDDLE_E_INVALID, "heddle_chart_lines: %g x %g points; a side has %d to %d, 0 chooses",
		                c->width, c->height, SMALLEST, LARGEST);
	return 0;
}

int hd_chart_lines(const struct heddle_chart *chart, const char *path)
{
	enum hd_picture kind;
	int status = check(chart, path);
	if (!status)
		status = hd_picture_of(path, &kind);
	if (status)
		return status;
	struct plot p = {.chart = chart, .items = malloc((chart->n_series + 1) * sizeof *p.items)};
	if (!p.items)
		return hd_no_memory("a chart");
	for (size_t s = 0; s < chart->n_series; s++)
		p.items[s] =
		    (struct hd_legend_item){HD_SWATCH_MARKER, color_of(s), marker_of(s), chart->series[s].name};
	p.width = chart->width > 0 ? chart->width : WIDTH;
	p.height = chart->height > 0 ? chart->height : HEIGHT;
	status = draw(&p, kind, path);
	free(p.items);
	return status;
}
