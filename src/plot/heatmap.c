/* Draws heat maps: the values of a matrix as coloured cells (draw.h). */
#include <cairo.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/base.h"
#include "draw.h"

enum { MARGIN = 16, TITLE = 24, GAP = 6, FONT = 10, MAX_NAME = 360, BAR = 12, TICKS = 16, MAX_TICKS = 32 };
enum { CELL_HEIGHT = 22, CELL_ROOM = 10, LARGEST = 1600 }; /* LARGEST: points for all rows, or all columns */

struct plot {
	const struct hd_heatmap *map; /* borrowed */
	cairo_t *cr;
	struct hd_axis scale; /* the scale of colours, from left to right */
	int has_gaps;         /* 1: some value is NAN */
	double x, y;          /* top left corner of the first cell */
	double cell_width, cell_height;
	double width, height;
};

/* --- Colours ------------------------------------------------------------------------------------------------------ */

/* ColorBrewer's RdBu and YlGnBu. Colour-blind people can read both; YlGnBu can also be read in black and white. */
static const uint32_t diverging[] = {0x2166ac, 0x67a9cf, 0xd1e5f0, 0xffffff, 0xfddbc7, 0xef8a62, 0xb2182b};
static const uint32_t sequential[] = {0xffffd9, 0xc7e9b4, 0x7fcdbb, 0x41b6c4, 0x1d91c0, 0x225ea8, 0x0c2c84};
enum { N_COLORS = sizeof diverging / sizeof *diverging };

/* The colour at `share`, from 0 to 1, of the way through a list of colours. */
static uint32_t between(const uint32_t *colors, double share)
{
	double at = fmin(fmax(share, 0), 1) * (N_COLORS - 1);
	size_t i = at < N_COLORS - 1 ? (size_t)at : N_COLORS - 2;
	uint32_t color = 0;
	for (int shift = 16; shift >= 0; shift -= 8) {
		double a = colors[i] >> shift & 255, b = colors[i + 1] >> shift & 255;
		color |= (uint32_t)lround(a + (b - a) * (at - (double)i)) << shift;
	}
	return color;
}

/* The colour of a value. If there is a reference, values equally far above and below it have equally strong colours. */
static uint32_t color_of(const struct plot *p, double value)
{
	double low = p->scale.low, high = p->scale.high, reference = p->map->reference;
	value = fmin(fmax(value, low), high);
	if (p->map->logarithmic) {
		low = log(low);
		high = log(high);
		reference = log(reference);
		value = log(value);
	}
	if (isnan(reference))
		return between(sequential, (value - low) / (high - low));
	double longest = fmax(high - reference, reference - low);
	return between(diverging, 0.5 + (value - reference) / longest / 2);
}

/* --- Layout ------------------------------------------------------------------------------------------------------- */

static double value_of(const struct hd_heatmap *map, size_t row, size_t column)
{
	return map->values[row * map->n_columns + column];
}

static void find_scale(struct plot *p)
{
	const struct hd_heatmap *m = p->map;
	double low = isnan(m->reference) ? INFINITY : m->reference,
	       high = isnan(m->reference) ? -INFINITY : m->reference;
	for (size_t i = 0; i < m->n_rows * m->n_columns; i++) {
		p->has_gaps |= isnan(m->values[i]);
		if (fabs(m->values[i]) <= 1e300 &&
		    (m->values[i] > 0 || !m->logarithmic)) { /* because the sum of two larger values may overflow */
			low = fmin(low, m->values[i]);
			high = fmax(high, m->values[i]);
		}
	}
	if (m->low < m->high) {
		low = m->low;
		high = m->high;
	}
	if (low > high)
		low = high = m->logarithmic;
	p->scale.logarithmic = m->logarithmic;
	p->scale.low = low;
	p->scale.high = high > low ? high : low + fmax(fabs(low) * 1e-3, 1e-300);
}

static void write_value(char text[HD_LABEL], const struct hd_heatmap *map, double value)
{
	hd_print_into(text, HD_LABEL, "%.*f", map->digits, value);
	if (fabs(value) >= 1e7)
		hd_print_into(text, HD_LABEL, "%.*g", map->digits + 1, value);
}

static double widest_value(const struct plot *p)
{
	char text[HD_LABEL];
	double widest = 0;
	for (size_t i = 0; i < p->map->n_rows * p->map->n_columns; i++) {
		write_value(text, p->map, p->map->values[i]);
		if (!isnan(p->map->values[i]))
			widest = fmax(widest, hd_text_width(p->cr, text));
	}
	return widest;
}

static double widest_name(cairo_t *cr, const char *const *names, size_t n)
{
	double widest = 0;
	for (size_t i = 0; i < n; i++)
		widest = fmax(widest, hd_text_width(cr, names[i]));
	return fmin(widest, MAX_NAME);
}

/* Makes cells as large as their numbers need, but so small that all rows, and all columns, fit into LARGEST. */
static void lay_out(struct plot *p)
{
	const struct hd_heatmap *m = p->map;
	hd_font(p->cr, FONT, 0);
	p->cell_width = fmin(fmax(widest_value(p) + CELL_ROOM, CELL_HEIGHT), (double)LARGEST / (double)m->n_columns);
	p->cell_height = fmin(CELL_HEIGHT, (double)LARGEST / (double)m->n_rows);
	p->x = MARGIN + widest_name(p->cr, m->rows, m->n_rows) + GAP;
	p->y = MARGIN + (m->title ? TITLE : 0) + widest_name(p->cr, m->columns, m->n_columns) + GAP;
	double right = p->x + p->cell_width * (double)m->n_columns;
	double bottom = p->y + p->cell_height * (double)m->n_rows;
	p->scale.from = p->x;
	p->scale.to = p->x + fmin(fmax(right - p->x, 160), 400);
	p->width = fmax(right, p->scale.to + (p->has_gaps ? 80 : 20)) + MARGIN;
	p->height = bottom + 2 * GAP + (m->label ? TICKS : 0) + BAR + TICKS + MARGIN;
	if (m->title) {
		hd_font(p->cr, 13, 1);
		p->width = fmax(p->width, fmin(hd_text_width(p->cr, m->title), LARGEST) + 2 * MARGIN);
	}
}

/* --- Drawing ------------------------------------------------------------------------------------------------------ */

static void hatch(cairo_t *cr, double x, double y, double width, double height)
{
	cairo_save(cr);
	cairo_rectangle(cr, x, y, width, height);
	cairo_clip(cr);
	hd_color(cr, 0xeeeeee, 1);
	cairo_paint(cr);
	hd_color(cr, 0xaaaaaa, 1);
	cairo_set_line_width(cr, 0.8);
	for (double at = -height; at < width; at += 5)
		hd_line(cr, x + at, y + height, x + at + height, y);
	cairo_restore(cr);
}

/* Whether the value looks, as printed in its cell, like the least value of its row. */
static int is_least(const struct hd_heatmap *map, size_t row, double value)
{
	char text[HD_LABEL], least_text[HD_LABEL];
	double least = INFINITY;
	for (size_t i = 0; i < map->n_columns; i++)
		least = fmin(least, value_of(map, row, i)); /* fmin ignores NAN */
	write_value(text, map, value);
	write_value(least_text, map, least);
	return strcmp(text, least_text) == 0;
}

static void draw_frame(const struct plot *p, double x, double y, uint32_t color)
{
	double width = fmin(2, fmin(p->cell_width, p->cell_height) / 4);
	hd_color(p->cr, hd_color_on(color), 1);
	cairo_set_line_width(p->cr, width);
	cairo_rectangle(p->cr, x + width, y + width, p->cell_width - 2 * width, p->cell_height - 2 * width);
	cairo_stroke(p->cr);
}

static void draw_cell(const struct plot *p, size_t row, size_t column)
{
	double x = p->x + p->cell_width * (double)column, y = p->y + p->cell_height * (double)row;
	double value = value_of(p->map, row, column);
	char text[HD_LABEL];
	if (isnan(value)) {
		hatch(p->cr, x, y, p->cell_width, p->cell_height);
		return;
	}
	uint32_t color = color_of(p, value);
	hd_color(p->cr, color, 1);
	cairo_rectangle(p->cr, x, y, p->cell_width, p->cell_height);
	cairo_fill(p->cr);
	if (p->map->mark_least && is_least(p->map, row, value))
		draw_frame(p, x, y, color);
	write_value(text, p->map, value);
	if (p->cell_height < FONT + 2 || p->cell_width < hd_text_width(p->cr, text) + 2)
		return;
	hd_color(p->cr, hd_color_on(color), 1);
	hd_draw_text(p->cr, x + p->cell_width / 2, y + p->cell_height / 2, 0.5, 0, text);
}

/* Every how many cells have a name: 1, or more if cells are narrower than a line of text. */
static size_t every(double cell)
{
	return cell < FONT ? (size_t)ceil(FONT / cell) : 1;
}

static void draw_names(const struct plot *p)
{
	const struct hd_heatmap *m = p->map;
	hd_color(p->cr, 0x222222, 1);
	for (size_t i = 0; i < m->n_rows; i += every(p->cell_height))
		hd_draw_text(p->cr, p->x - GAP, p->y + p->cell_height * ((double)i + 0.5), 1, MAX_NAME, m->rows[i]);
	for (size_t i = 0; i < m->n_columns; i += every(p->cell_width)) { /* the names of columns are read upwards */
		cairo_save(p->cr);
		cairo_translate(p->cr, p->x + p->cell_width * ((double)i + 0.5), p->y - GAP);
		cairo_rotate(p->cr, -M_PI / 2);
		hd_draw_text(p->cr, 0, 0, 0, MAX_NAME, m->columns[i]);
		cairo_restore(p->cr);
	}
}

/* The value at the place x of the scale. */
static double value_at(const struct hd_axis *scale, double x)
{
	double share = (x - scale->from) / (scale->to - scale->from);
	return scale->logarithmic ? scale->low * pow(scale->high / scale->low, share)
	                          : scale->low + share * (scale->high - scale->low);
}

/* Draws the scale of colours with its values, and says what hatching means. */
static void draw_scale(const struct plot *p)
{
	const struct hd_axis *scale = &p->scale;
	double y = p->y + p->cell_height * (double)p->map->n_rows + 2 * GAP, ticks[MAX_TICKS];
	char label[HD_LABEL];
	hd_color(p->cr, 0x222222, 1);
	if (p->map->label) {
		hd_draw_text(p->cr, scale->from, y + TICKS / 2.0 - 2, 0, p->width - scale->from - MARGIN,
		             p->map->label);
		y += TICKS;
	}
	for (double x = scale->from; x < scale->to; x++) {
		hd_color(p->cr, color_of(p, value_at(scale, x)), 1);
		cairo_rectangle(p->cr, x, y, fmin(1.5, scale->to - x),
		                BAR); /* rectangles overlap, so that no gaps show between them */
		cairo_fill(p->cr);
	}
	size_t n = hd_axis_ticks(scale, 50, ticks, MAX_TICKS);
	cairo_set_line_width(p->cr, 0.8);
	hd_color(p->cr, 0x444444, 1);
	for (size_t i = 0; i < n; i++) {
		double x = hd_axis_at(scale, ticks[i]);
		hd_line(p->cr, x, y + BAR, x, y + BAR + 3);
		hd_number_label(label, ticks[i]);
		hd_draw_text(p->cr, x, y + BAR + 3 + TICKS / 2.0, 0.5, 0, label);
	}
	if (p->has_gaps) {
		hatch(p->cr, scale->to + 20, y, BAR, BAR);
		hd_color(p->cr, 0x222222, 1);
		hd_draw_text(p->cr, scale->to + 20 + BAR + 4, y + BAR / 2.0, 0, 0, "none");
	}
}

static int draw(struct plot *p, enum hd_picture kind, const char *path)
{
	struct hd_canvas canvas;
	p->cr = hd_ruler();
	find_scale(p);
	lay_out(p);
	cairo_destroy(p->cr);
	int status = hd_canvas_open(&canvas, kind, p->width, p->height);
	if (status)
		return status;
	p->cr = canvas.cr;
	if (p->map->title) {
		hd_font(p->cr, 13, 1);
		hd_color(p->cr, 0x111111, 1);
		hd_draw_text(p->cr, MARGIN, MARGIN + TITLE / 2.0 - 4, 0, p->width - 2 * MARGIN, p->map->title);
	}
	hd_font(p->cr, FONT, 0);
	for (size_t row = 0; row < p->map->n_rows; row++)
		for (size_t column = 0; column < p->map->n_columns; column++)
			draw_cell(p, row, column);
	draw_names(p);
	draw_scale(p);
	return hd_canvas_close(&canvas, path);
}

static int check(const struct hd_heatmap *m)
{
	if (m->n_rows == 0 || m->n_columns == 0)
		return hd_error(HEDDLE_E_INVALID, "a heat map of %zu rows and %zu columns has nothing to show",
		                m->n_rows, m->n_columns);
	if (m->digits < 0 || m->digits > 9)
		return hd_error(HEDDLE_E_INVALID, "a heat map with %d digits: it must be 0 to 9", m->digits);
	if (m->logarithmic && (m->reference <= 0 || (m->low < m->high && m->low <= 0)))
		return hd_error(HEDDLE_E_INVALID,
		                "a heat map with a logarithmic scale from %g to %g around %g: these must be positive",
		                m->low, m->high, m->reference);
	if (isinf(m->reference) || fabs(m->reference) > 1e300 || isnan(m->low) || isnan(m->high) ||
	    fabs(m->low) > 1e300 || fabs(m->high) > 1e300)
		return hd_error(HEDDLE_E_INVALID,
		                "a heat map with a scale from %g to %g around %g: these must be finite", m->low,
		                m->high, m->reference);
	return 0;
}

int hd_heatmap_draw(const struct hd_heatmap *map, const char *path)
{
	enum hd_picture kind;
	struct plot p = {.map = map};
	int status = check(map);
	if (!status)
		status = hd_picture_of(path, &kind);
	if (status)
		return status;
	status = draw(&p, kind, path);
	return status;
}
