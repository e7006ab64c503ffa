/* Drawing: what the Gantt chart, the line chart and the heat map share. Lengths are points. */
#ifndef HD_PLOT_DRAW_H
#define HD_PLOT_DRAW_H

#include <stddef.h>
#include <stdint.h>
#include "base/text.h"

typedef struct _cairo cairo_t; /* as cairo.h does, which whoever draws includes */
typedef struct _cairo_surface cairo_surface_t;

/* --- A picture (draw.c) ------------------------------------------------------------------------------------------- */

enum hd_picture { HD_PNG, HD_SVG, HD_PDF };

struct hd_canvas {
	enum hd_picture kind;
	double width, height;
	double scale; /* pixels per point; for vector pictures the resolution beyond which nobody looks */
	cairo_surface_t *surface;
	cairo_t *cr;
	struct hd_text bytes;
};

/* By the path's extension. HEDDLE_E_INVALID: it is none of .png, .svg, .pdf. */
int hd_picture_of(const char *path, enum hd_picture *kind);
/* A white picture. Ends with hd_canvas_close, which writes it when `path` is given and drops it when that is NULL. */
int hd_canvas_open(struct hd_canvas *canvas, enum hd_picture kind, double width, double height);
int hd_canvas_close(struct hd_canvas *canvas, const char *path);

/* To measure text with before the size of the picture is known. Ends with cairo_destroy. */
cairo_t *hd_ruler(void);

void hd_color(cairo_t *cr, uint32_t rgb, double opacity);
/* Black or white, whichever is easier to read on a colour. */
uint32_t hd_color_on(uint32_t rgb);

void hd_font(cairo_t *cr, double size, int bold);
double hd_text_width(cairo_t *cr, const char *s);
/* Centred vertically on y; `align` of its width (0 left, 0.5 centre, 1 right) is left of x; cut with "..." beyond
 * max_width when that is > 0. Bytes that are not UTF-8 are shown as "?". */
void hd_draw_text(cairo_t *cr, double x, double y, double align, double max_width, const char *s);
void hd_line(cairo_t *cr, double x1, double y1, double x2, double y2);

/* --- Axes (axis.c) ------------------------------------------------------------------------------------------------ */

struct hd_axis {
	double low, high; /* values; low < high, and 0 < low when logarithmic */
	int logarithmic;
	double from, to; /* where these two are, in points */
};
double hd_axis_at(const struct hd_axis *axis, double value);
/* Round values between low and high, about `gap` points apart; returns how many there are, at most max. */
size_t hd_axis_ticks(const struct hd_axis *axis, double gap, double *ticks, size_t max);

#define HD_LABEL 32
/* "2.5k", "10M". */
void hd_number_label(char label[HD_LABEL], double value);

struct hd_unit {
	const char *name;
	double us;
};
struct hd_unit hd_unit_of(double us);
/* "12.35 ms" */
void hd_time_label(char label[HD_LABEL], double us);

/* --- Legends (legend.c) ------------------------------------------------------------------------------------------- */

enum hd_swatch { HD_SWATCH_BOX, HD_SWATCH_OUTLINE, HD_SWATCH_DASH, HD_SWATCH_MARKER };
struct hd_legend_item {
	enum hd_swatch swatch;
	uint32_t color;
	unsigned marker; /* HD_SWATCH_MARKER: which */
	const char *label;
};
struct hd_legend {
	double x, y, width; /* left, top; lines are broken at the right */
	const struct hd_legend_item *items;
	size_t n;
};
/* Returns its height; draws it if `draw`. */
double hd_legend(cairo_t *cr, const struct hd_legend *legend, int draw);
/* One of a few shapes, by number, around a point; filled with the current colour. */
void hd_marker(cairo_t *cr, unsigned marker, double x, double y, double radius);

/* --- Heat maps (heatmap.c) ---------------------------------------------------------------------------------------- */

/* A matrix as coloured cells, with their numbers when they fit. Everything is borrowed for the time of the call. */
struct hd_heatmap {
	const char *title; /* NULL: none */
	const char *label; /* of the values, beside the scale of colours: "makespan / bound"; NULL: none */
	const char *const *rows, *const *columns; /* names */
	size_t n_rows, n_columns;
	const double *values; /* row by row; NAN: there is none, the cell is hatched */
	double reference;     /* white, red above it and blue below; NAN: from light to dark */
	/* what the ends of the scale stand for, values beyond get their colours; low >= high: the extremes */
	double low, high;
	int digits; /* of the numbers in the cells, after the point */
};

/* The format is the path's extension: .png, .svg, .pdf. HEDDLE_E_INVALID, HEDDLE_E_IO, HEDDLE_E_MEMORY. */
int hd_heatmap_draw(const struct hd_heatmap *map, const char *path);

/* --- Bars (bars.c) ------------------------------------------------------------------------------------------------ */

struct hd_bar {
	const char *label;
	double value;     /* where it ends; NAN: no bar */
	double low, high; /* whiskers; NAN: none */
	double marker;    /* another value, to compare with; NAN: none */
};
struct hd_bars {
	const char *title, *x_label;            /* NULL: none */
	const char *value_label, *marker_label; /* for the legend; the second may be NULL */
	double origin;                          /* where bars begin */
	uint32_t color, marker_color;
	const struct hd_bar *bars; /* from top to bottom */
	size_t n;
};
/* Draws horizontal bars; the format is the path's extension. HEDDLE_E_INVALID, HEDDLE_E_IO, HEDDLE_E_MEMORY. */
int hd_bars_draw(const struct hd_bars *bars, const char *path);

#endif
