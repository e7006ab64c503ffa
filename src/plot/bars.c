/* Draws horizontal bars, each with a whisker and a marker (draw.h). */
#include <cairo.h>
#include <math.h>
#include "base/base.h"
#include "draw.h"

enum { MARGIN = 16, TITLE = 26, TICKS = 20, LABELS = 20, BAR = 15, GAP = 3, WIDTH = 640, MAX_TICKS = 64 };

struct layout {
	const struct hd_bars *bars; /* borrowed */
	cairo_t *cr;
	double height;
	struct hd_axis x;
	struct hd_legend legend;
	struct hd_legend_item items[2];
	double top; /* of the first bar */
};

static double bar_y(const struct layout *l, size_t i)
{
	return l->top + (double)i * (BAR + GAP) + BAR / 2.0;
}

static void find_range(struct layout *l)
{
	l->x.low = l->x.high = l->bars->origin;
	for (size_t i = 0; i < l->bars->n; i++) {
		const double values[] = {l->bars->bars[i].value, l->bars->bars[i].low, l->bars->bars[i].high,
		                         l->bars->bars[i].marker};
		for (size_t v = 0; v < 4; v++) {
			if (!isfinite(values[v]))
				continue;
			l->x.low = fmin(l->x.low, values[v]);
			l->x.high = fmax(l->x.high, values[v]);
		}
	}
	double margin = l->x.high > l->x.low ? 0.03 * (l->x.high - l->x.low) : 1;
	l->x.high += margin;
	if (l->x.low < l->bars->origin)
		l->x.low -= margin;
}

static double widest_label(cairo_t *cr, const struct hd_bars *bars)
{
	double widest = 0;
	hd_font(cr, 10, 0);
	for (size_t i = 0; i < bars->n; i++)
		widest = fmax(widest, hd_text_width(cr, bars->bars[i].label));
	return fmin(widest, WIDTH / 2.0);
}

static void lay_out(struct layout *l, cairo_t *ruler)
{
	const struct hd_bars *b = l->bars;
	find_range(l);
	l->items[0] = (struct hd_legend_item){HD_SWATCH_BOX, b->color, 0, b->value_label};
	l->items[1] = (struct hd_legend_item){HD_SWATCH_MARKER, b->marker_color, 0, b->marker_label};
	l->legend = (struct hd_legend){MARGIN, MARGIN + TITLE, WIDTH - 2 * MARGIN, l->items, b->marker_label ? 2 : 1};
	l->top = MARGIN + TITLE + hd_legend(ruler, &l->legend, 0) + 10;
	l->height = bar_y(l, b->n) + TICKS + (b->x_label ? LABELS : 0) + MARGIN;
	l->x.from = MARGIN + widest_label(ruler, b) + 8;
	l->x.to = WIDTH - MARGIN;
}

static void draw_frame(const struct layout *l)
{
	double ticks[MAX_TICKS], bottom = bar_y(l, l->bars->n);
	char label[HD_LABEL];
	size_t n = hd_axis_ticks(&l->x, 60, ticks, MAX_TICKS);
	hd_font(l->cr, 10, 0);
	cairo_set_line_width(l->cr, 0.6);
	for (size_t i = 0; i < n; i++) {
		double at = hd_axis_at(&l->x, ticks[i]);
		hd_color(l->cr, 0xdddddd, 1);
		hd_line(l->cr, at, l->top - 4, at, bottom);
		hd_number_label(label, ticks[i]);
		hd_color(l->cr, 0x333333, 1);
		hd_draw_text(l->cr, at, bottom + 10, 0.5, 0, label);
	}
	hd_color(l->cr, 0x222222, 1);
	hd_font(l->cr, 11, 0);
	if (l->bars->x_label)
		hd_draw_text(l->cr, (l->x.from + l->x.to) / 2, bottom + TICKS + LABELS / 2.0, 0.5, 0, l->bars->x_label);
	hd_font(l->cr, 13, 1);
	hd_color(l->cr, 0x111111, 1);
	if (l->bars->title)
		hd_draw_text(l->cr, MARGIN, MARGIN + TITLE / 2.0 - 4, 0, WIDTH - 2 * MARGIN, l->bars->title);
	hd_legend(l->cr, &l->legend, 1);
}

static void draw_bar(const struct layout *l, size_t i)
{
	const struct hd_bar *bar = &l->bars->bars[i];
	double y = bar_y(l, i), origin = hd_axis_at(&l->x, l->bars->origin);
	hd_font(l->cr, 10, 0);
	hd_color(l->cr, 0x222222, 1);
	hd_draw_text(l->cr, l->x.from - 8, y, 1, l->x.from - 8 - MARGIN, bar->label);
	if (isfinite(bar->value)) {
		double at = hd_axis_at(&l->x, bar->value);
		hd_color(l->cr, l->bars->color, 0.75);
		cairo_rectangle(l->cr, fmin(at, origin), y - BAR / 2.0, fabs(at - origin), BAR);
		cairo_fill(l->cr);
	}
	hd_color(l->cr, 0x222222, 1);
	cairo_set_line_width(l->cr, 1.2);
	if (isfinite(bar->low) && isfinite(bar->high)) {
		double from = hd_axis_at(&l->x, bar->low), to = hd_axis_at(&l->x, bar->high);
		hd_line(l->cr, from, y, to, y);
		hd_line(l->cr, from, y - 3, from, y + 3);
		hd_line(l->cr, to, y - 3, to, y + 3);
	}
	if (isfinite(bar->marker)) {
		hd_color(l->cr, l->bars->marker_color, 1);
		hd_marker(l->cr, 0, hd_axis_at(&l->x, bar->marker), y, 3.4);
	}
}

static int draw(struct layout *l, enum hd_picture kind, const char *path)
{
	struct hd_canvas canvas;
	cairo_t *ruler = hd_ruler();
	lay_out(l, ruler);
	cairo_destroy(ruler);
	int status = hd_canvas_open(&canvas, kind, WIDTH, l->height);
	if (status)
		return status;
	l->cr = canvas.cr;
	draw_frame(l);
	for (size_t i = 0; i < l->bars->n; i++)
		draw_bar(l, i);
	return hd_canvas_close(&canvas, path);
}

int hd_bars_draw(const struct hd_bars *bars, const char *path)
{
	enum hd_picture kind;
	struct layout l = {.bars = bars};
	int status = hd_picture_of(path, &kind);
	if (status)
		return status;
	status = draw(&l, kind, path);
	return status;
}
