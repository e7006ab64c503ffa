/* Draws legends: swatches with names, in as many lines as needed. */
#include <cairo.h>
#include <math.h>
#include <string.h>
#include "draw.h"

enum { LINE = 15, SWATCH = 12, GAP = 16, FONT = 10, MAX_LABEL = 220 };

void hd_marker(cairo_t *cr, unsigned marker, double x, double y, double r)
{
	cairo_new_path(cr);
	switch (marker % 4) {
	case 0: cairo_arc(cr, x, y, r, 0, 2 * M_PI); break;
	case 1: cairo_rectangle(cr, x - 0.88 * r, y - 0.88 * r, 1.76 * r, 1.76 * r); break;
	case 2: /* triangle */
		cairo_move_to(cr, x, y - 1.2 * r);
		cairo_line_to(cr, x + 1.1 * r, y + 0.8 * r);
		cairo_line_to(cr, x - 1.1 * r, y + 0.8 * r);
		break;
	default: /* diamond */
		cairo_move_to(cr, x, y - 1.3 * r);
		cairo_line_to(cr, x + 1.3 * r, y);
		cairo_line_to(cr, x, y + 1.3 * r);
		cairo_line_to(cr, x - 1.3 * r, y);
	}
	cairo_close_path(cr);
	cairo_fill(cr);
}

static void draw_swatch(cairo_t *cr, const struct hd_legend_item *item, double x, double y)
{
	hd_color(cr, item->color, 1);
	cairo_set_line_width(cr, 1.4);
	switch (item->swatch) {
	case HD_SWATCH_BOX:
		cairo_rectangle(cr, x, y - 4.5, SWATCH, 9);
		cairo_fill(cr);
		break;
	case HD_SWATCH_OUTLINE:
		cairo_rectangle(cr, x + 0.7, y - 4, SWATCH - 1.4, 8);
		cairo_stroke(cr);
		break;
	case HD_SWATCH_DASH:
		cairo_set_dash(cr, (const double[]){4, 2}, 2, 0);
		hd_line(cr, x + SWATCH / 2.0, y - 5, x + SWATCH / 2.0, y + 5);
		cairo_set_dash(cr, NULL, 0, 0);
		break;
	case HD_SWATCH_LINE:
		cairo_set_line_width(cr, 0.8);
		hd_line(cr, x, y, x + SWATCH, y);
		break;
	case HD_SWATCH_MARKER: hd_marker(cr, item->marker, x + SWATCH / 2.0, y, 3.5); break;
	}
}

int hd_legend_has(const struct hd_legend_item *items, size_t n, const char *label, uint32_t color)
{
	for (size_t i = 0; i < n; i++)
		if (items[i].color == color && strcmp(items[i].label, label) == 0)
			return 1;
	return 0;
}

double hd_legend(cairo_t *cr, const struct hd_legend *legend, int draw)
{
	hd_font(cr, FONT, 0);
	double x = legend->x, y = legend->y + LINE / 2.0, right = legend->x + legend->width;
	double room = legend->width - SWATCH - 4 < MAX_LABEL ? legend->width - SWATCH - 4 : MAX_LABEL;
	for (size_t i = 0; i < legend->n; i++) {
		const struct hd_legend_item *item = &legend->items[i];
		double width = SWATCH + 4 + fmin(hd_text_width(cr, item->label), room);
		if (x > legend->x && x + width > right) {
			x = legend->x;
			y += LINE;
		}
		if (draw) {
			draw_swatch(cr, item, x, y);
			hd_color(cr, 0x222222, 1);
			hd_draw_text(cr, x + SWATCH + 4, y, 0, room, item->label);
		}
		x += width + GAP;
	}
	return legend->n ? y + LINE / 2.0 - legend->y : 0;
}
