/* What the Gantt chart, the line chart, the heat map and the bars have in common. All lengths are in points. */
#ifndef HD_PLOT_DRAW_H
#define HD_PLOT_DRAW_H

#include <stddef.h>
#include <stdint.h>
#include "base/text.h"

/* cairo.h declares these, too; files that do not draw need not include it */
typedef struct _cairo cairo_t;
typedef struct _cairo_surface cairo_surface_t;

/* --- A picture (draw.c) ------------------------------------------------------------------------------------------- */

enum hd_picture { HD_PNG, HD_SVG, HD_PDF };

struct hd_canvas {
	enum hd_picture kind;
	double width, height;
	double scale; /* pixels per point; of a vector picture: finest detail that is worth drawing */
	cairo_surface_t *surface;
	cairo_t *cr;
	struct hd_text bytes;
};

/* Finds the format of the path's extension: .png, .svg or .pdf. HEDDLE_E_INVALID: it is another one. */
int hd_picture_of(const char *path, enum hd_picture *kind);
/* hd_canvas_open opens a white picture. hd_canvas_close writes it to `path` (NULL: to no file), and frees it. */
int hd_canvas_open(struct hd_canvas *canvas, enum hd_picture kind, double width, double height);
int hd_canvas_close(struct hd_canvas *canvas, const char *path);

/* Makes a context for measuring text before a picture's size is known. The caller frees it with cairo_destroy. */
cairo_t *hd_ruler(void);

void hd_color(cairo_t *cr, uint32_t rgb, double opacity);
/* Black or white, whichever is easier to read on the colour `rgb`. */
uint32_t hd_color_on(uint32_t rgb);

void hd_font(cairo_t *cr, double size, int bold);
double hd_text_width(cairo_t *cr, const char *s);
/* Draws a line of text, vertically centred on y. `align` is the part of the text's width that is left of x: 0: the text
 * begins at x; 0.5: it is centred; 1: it ends at x. If max_width > 0, a wider text is cut and ends with "...". Bytes
 * that are not UTF-8 are shown as "?". */
void hd_draw_text(cairo_t *cr, double x, double y, double align, double max_width, const char *s);
void hd_line(cairo_t *cr, double x1, double y1, double x2, double y2);

/* --- Axes (axis.c) ------------------------------------------------------------------------------------------------ */

struct hd_axis {
	double low, high; /* values; low < high; if logarithmic, 0 < low */
	int logarithmic;
	double from, to; /* where `low` and `high` are, in points */
};
double hd_axis_at(const struct hd_axis *axis, double value);
/* Fills `ticks` with round values from low to high, about `gap` points apart. Returns their number, at most `max`. */
size_t hd_axis_ticks(const struct hd_axis *axis, double gap, double *ticks, size_t max);

#define HD_LABEL 32
/* Writes a number as in "2.5k" or "10M". */
void hd_number_label(char label[HD_LABEL], double value);

struct hd_unit {
	const char *name;
	double us;
};
struct hd_unit hd_unit_of(double us);
/* Writes a time as in "12.35 ms". */
void hd_time_label(char label[HD_LABEL], double us);

/* --- Legends (legend.c) ------------------------------------------------------------------------------------------- */

enum hd_swatch { HD_SWATCH_BOX, HD_SWATCH_OUTLINE, HD_SWATCH_DASH, HD_SWATCH_LINE, HD_SWATCH_MARKER };
struct hd_legend_item {
	enum hd_swatch swatch;
	uint32_t color;
	unsigned marker; /* of HD_SWATCH_MARKER: the number of the shape */
	const char *label;
};
struct hd_legend {
	double x, y, width; /* x, y: top left corner; items for which the width has no room go to the next line */
	const struct hd_legend_item *items;
	size_t n;
};
/* Whether one of n items has this label and this colour. Two codelets may have one name: a hierarchical codelet and the
 * codelet of its tasks. */
int hd_legend_has(const struct hd_legend_item *items, size_t n, const char *label, uint32_t color);
/* Returns the height of the legend; draws it if `draw` is 1. */
double hd_legend(cairo_t *cr, const struct hd_legend *legend, int draw);
/* Draws a shape around a point, in the present colour; `marker` chooses one of a few shapes. */
void hd_marker(cairo_t *cr, unsigned marker, double x, double y, double radius);

/* --- Heat maps (heatmap.c) ---------------------------------------------------------------------------------------- */

/* A matrix as coloured cells, with the values in them if they fit. It borrows everything, during the call. */
struct hd_heatmap {
	const char *title;                        /* NULL: none */
	const char *label;                        /* of the scale of colours: "makespan / bound"; NULL: none */
	const char *const *rows, *const *columns; /* names of rows and columns */
	size_t n_rows, n_columns;
	const double *values; /* row by row; NAN: there is no value, and the cell is hatched */
	/* This value is white; larger values are red, smaller ones blue. NAN: colours go from light to dark. */
	double reference;
	/* The values at the ends of the scale of colours; values beyond get the colours of the ends. If low >= high,
	 * the ends are the smallest and the largest value. */
	double low, high;
	/* 1: equal factors between values make equal differences of colour; 0: equal differences of values do. With 1,
	 * `low`, `high` and `reference` must be above 0, and values that are not count as the lowest. */
	int logarithmic;
	int mark_least; /* 1: the least value of each row is framed, and others that look the same */
	int digits;     /* number of digits after the decimal point, in the cells */
};

/* Draws the heat map as .png, .svg or .pdf, by the path's extension. HEDDLE_E_INVALID, HEDDLE_E_IO, HEDDLE_E_MEMORY. */
int hd_heatmap_draw(const struct hd_heatmap *map, const char *path);

/* --- Bars (bars.c) ------------------------------------------------------------------------------------------------ */

struct hd_bar {
	const char *label;
	double value;     /* where the bar ends; NAN: there is no bar */
	double low, high; /* ends of the whisker; NAN: there is none */
	double marker;    /* another value, to compare with, shown as a mark; NAN: there is none */
};
struct hd_bars {
	const char *title, *x_label;            /* NULL: none */
	const char *value_label, *marker_label; /* for the legend; marker_label NULL: none */
	double origin;                          /* where the bars begin */
	uint32_t color, marker_color;
	const struct hd_bar *bars; /* from top to bottom */
	size_t n;
};
/* Draws horizontal bars. `path` and errors as for hd_heatmap_draw. */
int hd_bars_draw(const struct hd_bars *bars, const char *path);

#endif
