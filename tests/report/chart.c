/* Runs a task, then draws a chart into argv[1], if there is one: 1 and the sentence of the error if either fails. */
#include <heddle.h>
#include <heddle/chart.h>
#include <stdio.h>

static int nothing(heddle_context *context)
{
	(void)context;
	return 0;
}

static int failed(const char *what)
{
	printf("%s: %s\n", what, heddle_last_error());
	return 1;
}

int main(int argc, char **argv)
{
	heddle_runtime *rt;
	if (heddle_start(NULL, &rt))
		return failed("start");
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "nothing", .cpu = nothing);
	if (heddle_submit(rt, heddle_call(codelet)) || heddle_stop(rt))
		return failed("run");
	const double x[] = {1, 2}, y[] = {1, 4};
	const struct heddle_chart_series series = {.name = "squares", .x = x, .y = y, .n = 2};
	const struct heddle_chart chart = {.series = &series, .n_series = 1};
	return argc > 1 && heddle_chart_lines(&chart, argv[1]) ? failed("chart") : 0;
}
