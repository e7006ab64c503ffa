/* Charts of figures that are not traces: points and lines of several series on two axes. They are drawn by
 * libheddle-report.so, which libheddle.so loads.
 *
 * The strings and arrays are borrowed until the call returns. Colours and markers are chosen so that the series can be
 * told apart even in black and white; a chart of several series has a legend.
 */
#ifndef HEDDLE_CHART_H
#define HEDDLE_CHART_H

#include <stddef.h>
#include <heddle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct heddle_chart_series {
	const char *name;
	const double *x, *y;
	size_t n;
	int joined; /* 1: a line joins the points in the order given; 0: points alone */
};

struct heddle_chart {
	const char *title, *x_label, *y_label; /* NULL: none */
	int log_x, log_y;                      /* logarithmic axes */
	double width, height;                  /* in points (1/72 inch); 0: the library chooses */
	const struct heddle_chart_series *series;
	size_t n_series;
	/* Bars of deviation; may be NULL. deviations[s] belongs to series s: NULL, or one number per point. A bar
	 * reaches from y - deviation to y + deviation, where that is on the axis. NAN or 0: no bar */
	const double *const *deviations;
};

/* Draws a chart into the file `path`, whose extension chooses the format: .png, .svg or .pdf. Points that are not
 * finite, or not positive on a logarithmic axis, are left out, and the line is interrupted there. HEDDLE_E_INVALID: the
 * extension is none of these, or the chart contradicts itself; HEDDLE_E_IO: the file cannot be written;
 * HEDDLE_E_UNSUPPORTED: libheddle-report.so is missing; HEDDLE_E_MEMORY. */
int heddle_chart_lines(const struct heddle_chart *chart, const char *path);

#ifdef __cplusplus
}
#endif
#endif
