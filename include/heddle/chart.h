/* Charts of figures that are not traces: points and lines of several series on two axes.
 *
 * Everything is borrowed for the time of the call. Colours and markers are chosen so that series can be told apart
 * without seeing colours; a legend names them when there are several.
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
	int joined; /* a line through the points, in the order given; otherwise only the points */
};

struct heddle_chart {
	const char *title, *x_label, *y_label; /* NULL: none */
	int log_x, log_y;                      /* logarithmic axes */
	double width, height;                  /* points; 0: chosen */
	const struct heddle_chart_series *series;
	size_t n_series;
};

/* Draws a chart; the format is the path's extension: .png, .svg, .pdf. Points that are not finite, or not positive on a
 * logarithmic axis, are left out and interrupt the line. HEDDLE_E_INVALID, HEDDLE_E_IO, HEDDLE_E_MEMORY. */
int heddle_chart_lines(const struct heddle_chart *chart, const char *path);

#ifdef __cplusplus
}
#endif
#endif
