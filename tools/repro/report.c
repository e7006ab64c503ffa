/* Reports of experiments: filled, judged, written to files. */
#include "repro.h"
#include <stdlib.h>
#include <string.h>

/* --- Filling ------------------------------------------------------------------------------------------------------ */

static void add_text(char ***texts, size_t *n, char *text)
{
	*texts = tool_realloc(*texts, (*n + 1) * sizeof **texts);
	(*texts)[(*n)++] = text;
}

void repro_where(struct repro_report *report, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	free(report->where);
	report->where = tool_vformat(format, args);
	va_end(args);
}

void repro_row(struct repro_report *report, const char *quantity, const char *unit, double paper, double ours,
               struct repro_range accepted)
{
	report->rows = tool_realloc(report->rows, (report->n_rows + 1) * sizeof *report->rows);
	report->rows[report->n_rows++] = (struct repro_row){tool_format("%s", quantity), unit, paper, ours, accepted};
}

void repro_note(struct repro_report *report, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	add_text(&report->notes, &report->n_notes, tool_vformat(format, args));
	va_end(args);
}

void repro_report_free(struct repro_report *report)
{
	for (size_t i = 0; i < report->n_rows; i++)
		free(report->rows[i].quantity);
	for (size_t i = 0; i < report->n_notes; i++)
		free(report->notes[i]);
	for (size_t i = 0; i < report->n_files; i++)
		free(report->files[i]);
	free(report->rows);
	free(report->notes);
	free(report->files);
	free(report->where);
	*report = (struct repro_report){.id = report->id};
}

/* --- Verdicts ----------------------------------------------------------------------------------------------------- */

enum repro_verdict repro_verdict_of_row(const struct repro_row *row)
{
	if (isinf(row->accepted.low) && isinf(row->accepted.high))
		return REPRO_SHOWN;
	return row->ours >= row->accepted.low && row->ours <= row->accepted.high ? REPRO_PASS : REPRO_SHORT;
}

enum repro_verdict repro_verdict(const struct repro_report *report)
{
	enum repro_verdict worst = REPRO_SHOWN;
	for (size_t i = 0; i < report->n_rows; i++) {
		enum repro_verdict verdict = repro_verdict_of_row(&report->rows[i]);
		worst = verdict > worst ? verdict : worst;
	}
	return worst;
}

const char *repro_verdict_word(enum repro_verdict verdict)
{
	static const char *const words[] = {"", "pass", "falls short"};
	return words[verdict];
}

/* --- Files -------------------------------------------------------------------------------------------------------- */

int repro_data(struct repro_report *report, const char *name, const struct table *data)
{
	char *path = tool_format("%s/%s-%s.csv", report->directory, report->id, name);
	int status = table_write_csv(data, path);
	add_text(&report->files, &report->n_files, path);
	return status;
}

static int finish_picture(struct repro_report *report, char *path, int failed)
{
	add_text(&report->files, &report->n_files, path);
	return failed ? tool_library_error("the picture was not drawn") : TOOL_OK;
}

static char *picture_path(const struct repro_report *report)
{
	return tool_format("%s/%s.png", report->directory, report->id);
}

int repro_chart(struct repro_report *report, const struct heddle_chart *chart)
{
	char *path = picture_path(report);
	return finish_picture(report, path, heddle_chart_lines(chart, path));
}

int repro_bars(struct repro_report *report, const struct hd_bars *bars)
{
	char *path = picture_path(report);
	return finish_picture(report, path, hd_bars_draw(bars, path));
}

int repro_chart_besides(struct repro_report *report, const char *name, const struct heddle_chart *chart)
{
	char *path = tool_format("%s/%s-%s.png", report->directory, report->id, name);
	return finish_picture(report, path, heddle_chart_lines(chart, path));
}

int repro_gantt(struct repro_report *report, const char *name, const struct heddle_trace *trace)
{
	const struct heddle_gantt_options options = {.critical_path = 1};
	char *path = tool_format("%s/%s-%s.png", report->directory, report->id, name);
	return finish_picture(report, path, heddle_trace_gantt(trace, path, &options));
}

int repro_bars_of_rows(struct repro_report *report, const char *title)
{
	struct hd_bar *bars = tool_alloc(report->n_rows * sizeof *bars);
	for (size_t i = 0; i < report->n_rows; i++)
		bars[i] =
		    (struct hd_bar){report->rows[i].quantity, report->rows[i].ours, NAN, NAN, report->rows[i].paper};
	const struct hd_bars picture = {
	    .title = title,
	    .value_label = "Heddle",
	    .marker_label = "paper",
	    .color = 0x56b4e9,
	    .marker_color = 0xd55e00,
	    .bars = bars,
	    .n = report->n_rows,
	};
	int status = repro_bars(report, &picture);
	free(bars);
	return status;
}
