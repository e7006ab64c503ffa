/* heddle models plot: draws the mean time of a codelet and its deviation against the size of its data, one line per
 * class of workers. */
#include "shared/tool.h"
#include <heddle/chart.h>
#include <stdlib.h>
#include <string.h>

int tool_plot_models(const struct heddle_model_entry *entries, size_t n, const char *path)
{
	double *x = tool_alloc(n * sizeof *x), *y = tool_alloc(n * sizeof *y);
	double *deviation = tool_alloc(n * sizeof *deviation);
	const double **deviations = tool_alloc(n * sizeof *deviations);
	struct heddle_chart_series *series = tool_alloc(n * sizeof *series);
	size_t n_series = 0;
	for (size_t i = 0; i < n; i++) { /* entries are sorted by class, then by size */
		x[i] = entries[i].bytes / 1024;
		y[i] = entries[i].mean;
		deviation[i] = entries[i].stddev;
		if (i == 0 || strcmp(entries[i].class_name, entries[i - 1].class_name) != 0) {
			deviations[n_series] = deviation + i;
			series[n_series++] = (struct heddle_chart_series){
			    .name = entries[i].class_name, .x = x + i, .y = y + i, .joined = 1};
		}
		series[n_series - 1].n++;
	}
	char *title = tool_format("Mean execution time of %s; bars: standard deviation", n ? entries[0].codelet : "");
	struct heddle_chart chart = {
	    .title = title,
	    .x_label = "data of the task (KiB)",
	    .y_label = "time (us)",
	    .log_x = 1,
	    .log_y = 1,
	    .series = series,
	    .n_series = n_series,
	    .deviations = deviations,
	};
	int status = heddle_chart_lines(&chart, path) ? tool_library_error("the chart was not drawn") : TOOL_OK;
	free(title);
	free(series);
	free(y);
	free(deviations);
	free(deviation);
	free(x);
	return status;
}
