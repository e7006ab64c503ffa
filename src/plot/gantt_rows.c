/* Draws the rows of a Gantt chart: tasks of workers, their expansions, transfers of links, ready tasks, the practical
 * critical path.
 *
 * However many tasks a row has, tasks that are narrower than a pixel make at most one rectangle per column of pixels:
 * they are added up, and each column has the colour that fills most of it, with an opacity that is the filled part of
 * the column. */
#include <cairo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "gantt.h"

const uint32_t hd_reason_colors[HD_REASONS] = {0x444444, 0x8c8c8c, 0xc0c0c0};

/* The row, or the lane of a link's row, that is being drawn. A kind is a codelet or, of a transfer, its reason. */
struct strip {
	struct hd_gantt *g;
	double y, height;
	size_t n_columns, n_kinds;
	double *cover;          /* owned; per column of pixels, then per kind: the part of the column that it fills */
	const uint32_t *colors; /* borrowed; per kind */
};

static int strip_init(struct strip *s, struct hd_gantt *g, size_t n_kinds, const uint32_t *colors)
{
	*s = (struct strip){.g = g, .n_kinds = n_kinds, .colors = colors};
	s->n_columns = (size_t)ceil((g->time.to - g->time.from) * g->scale) + 1;
	s->cover = malloc(s->n_columns * (n_kinds + 1) * sizeof *s->cover);
	return s->cover ? 0 : hd_no_memory("a chart");
}

static void strip_begin(struct strip *s, double y, double height)
{
	s->y = y;
	s->height = height;
	memset(s->cover, 0, s->n_columns * s->n_kinds * sizeof *s->cover);
}

/* Where a time is, in columns of pixels from the left end of the row. */
static double column_of(const struct hd_gantt *g, double time)
{
	return (hd_axis_at(&g->time, time - g->begin) - g->time.from) * g->scale;
}

static void strip_add(struct strip *s, double start, double end, size_t kind)
{
	struct hd_gantt *g = s->g;
	double a = column_of(g, start), b = column_of(g, end);
	if (b - a < 1) {
		size_t first = (size_t)fmax(0, a), last = (size_t)fmax(0, b);
		last = last < s->n_columns ? last : s->n_columns - 1;
		first = first < last ? first : last;
		s->cover[first * s->n_kinds + kind] += first == last ? b - a : (double)last - a;
		s->cover[last * s->n_kinds + kind] += first == last ? 0 : b - (double)last;
		return;
	}
	double x = g->time.from + a / g->scale, width = (b - a) / g->scale;
	hd_color(g->cr, s->colors[kind], 1);
	/* a gap is left, so that neighbours of the same colour can be told apart */
	cairo_rectangle(g->cr, x, s->y, width > 4 ? width - 0.4 : width, s->height);
	cairo_fill(g->cr);
}

/* levels of opacity; columns side by side with the same colour and level become one rectangle */
enum { LEVELS = 16 };

/* The kind that fills most of a column. *level: the opacity of the column, from 1 to LEVELS; 0: the column is empty. */
static size_t strongest(const struct strip *s, size_t column, int *level)
{
	const double *cover = s->cover + column * s->n_kinds;
	size_t best = 0;
	double sum = 0;
	for (size_t k = 0; k < s->n_kinds; k++) {
		sum += cover[k];
		best = cover[k] > cover[best] ? k : best;
	}
	*level = sum > 0 ? (int)fmin(LEVELS, ceil(sum * LEVELS - 1e-6)) : 0;
	return best;
}

static void strip_end(struct strip *s)
{
	struct hd_gantt *g = s->g;
	for (size_t c = 0, run; c < s->n_columns; c = run) {
		int level, next_level = 0;
		size_t kind = strongest(s, c, &level);
		for (run = c + 1; run < s->n_columns; run++)
			if (strongest(s, run, &next_level) != kind || next_level != level)
				break;
		if (level == 0)
			continue;
		hd_color(g->cr, s->colors[kind], level / (double)LEVELS);
		cairo_rectangle(g->cr, g->time.from + (double)c / g->scale, s->y, (double)(run - c) / g->scale,
		                s->height);
		cairo_fill(g->cr);
	}
}

/* The indices 0 to n - 1, by key, then by index. Indices with key k: order[first[k]] to order[first[k + 1] - 1]. */
struct groups {
	size_t *first, *order; /* own */
};

static int group(struct groups *groups, const size_t *key, size_t n, size_t n_keys)
{
	groups->first = calloc(n_keys + 2, sizeof *groups->first);
	groups->order = malloc((n + 1) * sizeof *groups->order);
	if (!groups->first || !groups->order)
		return hd_no_memory("a chart");
	for (size_t i = 0; i < n; i++)
		groups->first[key[i] + 2]++;
	for (size_t k = 2; k < n_keys + 2; k++)
		groups->first[k] += groups->first[k - 1];
	for (size_t i = 0; i < n; i++)
		groups->order[groups->first[key[i] + 1]++] = i;
	return 0;
}

static void groups_free(struct groups *groups)
{
	free(groups->first);
	free(groups->order);
}

/* --- Workers ------------------------------------------------------------------------------------------------------ */

enum { MAX_NAMED = 400 }; /* if there are more tasks, the chart names none, and has only the legend */

/* Writes on a task its own name, if the program has given one and it fits, otherwise the name of its codelet. */
static void name_task(struct hd_gantt *g, size_t task)
{
	const struct heddle_trace_task *t = &g->trace->tasks[task];
	double height = hd_gantt_lane_height(g, t->worker);
	const char *name = heddle_name_of(&g->trace->task_names, t->id);
	double from = hd_axis_at(&g->time, t->start - g->begin), to = hd_axis_at(&g->time, t->end - g->begin);
	double room = to - from - 8;
	if (!name || room < hd_text_width(g->cr, name))
		name = g->trace->codelets[t->codelet].name;
	if (height < 14 || room < hd_text_width(g->cr, name))
		return;
	hd_color(g->cr, hd_color_on(t->status ? HD_FAILED : g->colors[t->codelet]), 0.85);
	hd_draw_text(g->cr, (from + to) / 2, g->lane_y[g->lanes.of[task]] + height / 2, 0.5, 0, name);
}

/* Draws when workers were retired: white, with a line along the middle of the row. */
int hd_gantt_absences(struct hd_gantt *g)
{
	static const uint32_t white = 0xffffff, line = HD_AWAY_COLOR;
	struct strip strip;
	int status = g->absences.n ? strip_init(&strip, g, 1, &white) : 0;
	for (size_t w = 0; w < g->trace->platform->n_workers && g->absences.n && !status; w++) {
		double y = hd_gantt_row_y(g, w), height = hd_gantt_row_height(g, w), thin = fmin(height, 0.8);
		for (int is_line = 0; is_line <= 1 && g->stands_for[w]; is_line++) {
			strip.colors = is_line ? &line : &white;
			strip_begin(&strip, is_line ? y + (height - thin) / 2 : y, is_line ? thin : height);
			for (size_t i = g->absences.first[w]; i < g->absences.first[w + 1]; i++)
				strip_add(&strip, g->absences.list[i].from, g->absences.list[i].to, 0);
			strip_end(&strip);
		}
	}
	if (g->absences.n)
		free(strip.cover);
	return status;
}

static int draw_workers(struct hd_gantt *g, const struct groups *of_lane, const uint32_t *colors)
{
	const struct heddle_trace *trace = g->trace;
	struct strip strip;
	int status = strip_init(&strip, g, trace->n_codelets + 1, colors);
	for (size_t lane = 0, w = 0; lane < g->lanes.first[trace->platform->n_workers] && !status; lane++) {
		w += lane == g->lanes.first[w + 1];
		double height = hd_gantt_lane_height(g, w), inset = height > 8 ? 1 : height > 3 ? 0.25 : 0;
		strip_begin(&strip, g->lane_y[lane] + inset, height - 2 * inset);
		for (size_t k = of_lane->first[lane]; k < of_lane->first[lane + 1]; k++) {
			const struct heddle_trace_task *t = &trace->tasks[of_lane->order[k]];
			strip_add(&strip, t->start, t->end, t->status ? trace->n_codelets : t->codelet);
		}
		strip_end(&strip);
	}
	hd_font(g->cr, 9, 0);
	for (size_t i = 0; i < trace->n_tasks && trace->n_tasks <= MAX_NAMED && !status; i++)
		name_task(g, i);
	free(strip.cover);
	return status;
}

int hd_gantt_workers(struct hd_gantt *g)
{
	const struct heddle_trace *trace = g->trace;
	struct groups of_lane = {0};
	uint32_t *colors = malloc((trace->n_codelets + 1) * sizeof *colors); /* + 1: for the colour of failed tasks */
	int status = colors ? 0 : hd_no_memory("a chart");
	if (!status)
		status = group(&of_lane, g->lanes.of, trace->n_tasks, g->lanes.first[trace->platform->n_workers]);
	if (!status) {
		memcpy(colors, g->colors, trace->n_codelets * sizeof *colors);
		colors[trace->n_codelets] = HD_FAILED;
		status = draw_workers(g, &of_lane, colors);
	}
	groups_free(&of_lane);
	free(colors);
	return status;
}

/* --- Expansions --------------------------------------------------------------------------------------------------- */

/* Draws thin bars at the foot of the rows, so that a kernel that waits while its worker expands a task stays visible. A
 * worker with several lanes runs no task while it expands one; the bar is in its first lane. */
static void draw_expansions(struct hd_gantt *g, struct strip *strip, const struct groups *of_worker)
{
	for (size_t w = 0; w < g->trace->platform->n_workers; w++) {
		double height = hd_gantt_lane_height(g, w), inset = height > 8 ? 1 : 0;
		double thin = fmax(height / 3, fmin(height, 2));
		if (of_worker->first[w] == of_worker->first[w + 1])
			continue;
		strip_begin(strip, hd_gantt_row_y(g, w) + height - inset - thin, thin);
		for (size_t k = of_worker->first[w]; k < of_worker->first[w + 1]; k++) {
			const struct heddle_trace_expansion *e = &g->trace->expansions[of_worker->order[k]];
			strip_add(strip, e->start, e->end, 0);
		}
		strip_end(strip);
	}
}

int hd_gantt_expansions(struct hd_gantt *g)
{
	static const uint32_t color = HD_EXPANSION;
	const struct heddle_trace *trace = g->trace;
	struct groups of_worker = {0};
	struct strip strip = {0};
	size_t *key = malloc((trace->n_expansions + 1) * sizeof *key);
	int status = key ? 0 : hd_no_memory("a chart");
	for (size_t i = 0; i < trace->n_expansions && !status; i++)
		key[i] = trace->expansions[i].worker;
	if (!status)
		status = group(&of_worker, key, trace->n_expansions, trace->platform->n_workers);
	if (!status)
		status = strip_init(&strip, g, 1, &color);
	if (!status)
		draw_expansions(g, &strip, &of_worker);
	groups_free(&of_worker);
	free(strip.cover);
	free(key);
	return status;
}

/* --- Links -------------------------------------------------------------------------------------------------------- */

static int draw_links(struct hd_gantt *g, const struct groups *of_lane, const size_t *first_lane)
{
	const struct heddle_trace *trace = g->trace;
	struct strip strip;
	int status = strip_init(&strip, g, HD_REASONS, hd_reason_colors);
	for (size_t i = 0; i < g->links.n && !status; i++) {
		size_t n_lanes = g->links.links[i].n_lanes;
		double height = (g->link_row - 2) / (double)n_lanes;
		for (size_t lane = 0; lane < n_lanes; lane++) {
			strip_begin(&strip, g->link_y + g->link_row * (double)i + 1 + height * (double)lane, height);
			for (size_t k = of_lane->first[first_lane[i] + lane];
			     k < of_lane->first[first_lane[i] + lane + 1]; k++) {
				const struct heddle_trace_transfer *t = &trace->transfers[of_lane->order[k]];
				strip_add(&strip, t->start, t->end, t->reason);
			}
			strip_end(&strip);
		}
	}
	free(strip.cover);
	return status;
}

int hd_gantt_links(struct hd_gantt *g)
{
	const struct heddle_trace *trace = g->trace;
	struct groups of_lane = {0};
	size_t *key = malloc((trace->n_transfers + 1) * sizeof *key);
	size_t *first_lane = malloc((g->links.n + 1) * sizeof *first_lane), n_lanes = 0;
	int status = key && first_lane ? 0 : hd_no_memory("a chart");
	for (size_t i = 0; i < g->links.n && !status; i++) {
		first_lane[i] = n_lanes;
		n_lanes += g->links.links[i].n_lanes;
	}
	for (size_t i = 0; i < trace->n_transfers && !status; i++)
		key[i] = first_lane[g->links.link[i]] + g->links.lane[i];
	if (!status)
		status = group(&of_lane, key, trace->n_transfers, n_lanes);
	if (!status)
		status = draw_links(g, &of_lane, first_lane);
	groups_free(&of_lane);
	free(key);
	free(first_lane);
	return status;
}

/* --- Ready tasks: the mean number in each column of pixels -------------------------------------------------------- */

/* Adds an interval from column a to column b. To `part` it adds how much of the columns is filled in which the interval
 * begins and ends. To `whole` it adds 1 where the columns begin that it fills wholly, and -1 where they end. */
static void add_interval(double *part, double *whole, double a, double b)
{
	size_t first = (size_t)a, last = (size_t)b;
	if (first == last) {
		part[first] += b - a;
		return;
	}
	part[first] += (double)(first + 1) - a;
	part[last] += b - (double)last;
	whole[first + 1]++;
	whole[last]--;
}

static void draw_ready(const struct hd_gantt *g, const double *count, size_t n)
{
	double most = 0, bottom = g->ready_y + g->ready_height;
	for (size_t c = 0; c < n; c++)
		most = fmax(most, count[c]);
	cairo_move_to(g->cr, g->time.from, bottom);
	for (size_t c = 0; c < n; c++) {
		double y = bottom - (most > 0 ? count[c] / most : 0) * (g->ready_height - 4);
		cairo_line_to(g->cr, g->time.from + (double)c / g->scale, y);
		cairo_line_to(g->cr, g->time.from + (double)(c + 1) / g->scale, y);
	}
	cairo_line_to(g->cr, g->time.from + (double)n / g->scale, bottom);
	cairo_close_path(g->cr);
	hd_color(g->cr, 0x9db4c8, 1);
	cairo_fill(g->cr);
	char label[HD_LABEL];
	hd_print_into(label, sizeof label, "%.6g", most < 10 ? round(most * 10) / 10 : round(most));
	hd_font(g->cr, 9, 0);
	hd_color(g->cr, 0x666666, 1);
	hd_draw_text(g->cr, g->time.from - 6, g->ready_y + 5, 1, 0, label);
	hd_draw_text(g->cr, g->time.from - 6, bottom - 5, 1, 0, "0");
}

int hd_gantt_ready(struct hd_gantt *g)
{
	const struct heddle_trace *trace = g->trace;
	double columns = (g->time.to - g->time.from) * g->scale;
	size_t n = (size_t)ceil(columns);
	double *part = calloc(n + 2, sizeof *part), *whole = calloc(n + 2, sizeof *whole), running = 0;
	int status = part && whole ? 0 : hd_no_memory("a chart");
	for (size_t i = 0; i < trace->n_tasks && !status; i++) {
		double a = fmax(0, column_of(g, trace->tasks[i].ready)),
		       b = fmin(columns, column_of(g, trace->tasks[i].start));
		if (a < b)
			add_interval(part, whole, a, b);
	}
	for (size_t c = 0; c < n && !status; c++) {
		running += whole[c];
		part[c] += running;
	}
	if (!status)
		draw_ready(g, part, n);
	free(part);
	free(whole);
	return status;
}

/* --- Critical path ------------------------------------------------------------------------------------------------ */

struct box {
	size_t lane;
	double height;   /* points: height of the lane */
	double from, to; /* points */
	int narrow;      /* 1: the box stands for tasks that are too narrow to be outlined one by one */
};

enum { NARROW = 8 };

/* Outlines a box by a dark line on a wider white line, which can be seen on every colour. */
static void outline(const struct hd_gantt *g, const struct box *box)
{
	double y = g->lane_y[box->lane], inset = 0.7;
	cairo_rectangle(g->cr, box->from + inset, y + inset, fmax(0.1, box->to - box->from - 2 * inset),
	                box->height - 2 * inset);
	hd_color(g->cr, 0xffffff, 1);
	cairo_set_line_width(g->cr, 3);
	cairo_stroke_preserve(g->cr);
	hd_color(g->cr, HD_PATH, 1);
	cairo_set_line_width(g->cr, 1.4);
	cairo_stroke(g->cr);
}

/* Draws the line from the end of one box to the beginning of the next. */
static void connect(const struct hd_gantt *g, const struct box *from, const struct box *to)
{
	double y = g->lane_y[from->lane], next_y = g->lane_y[to->lane];
	cairo_set_line_width(g->cr, 0.6);
	hd_line(g->cr, from->to, y < next_y ? y + from->height : y, to->from,
	        y < next_y ? next_y : next_y + to->height);
}

/* Draws the practical critical path. Tasks side by side on a lane, each too narrow for an outline, share one. */
void hd_gantt_path(struct hd_gantt *g)
{
	struct box box = {0};
	cairo_set_line_join(g->cr, CAIRO_LINE_JOIN_MITER);
	for (size_t i = g->n_path; i-- > 0;) {
		const struct heddle_trace_task *t = &g->trace->tasks[g->path[i]];
		double from = hd_axis_at(&g->time, t->start - g->begin), to = hd_axis_at(&g->time, t->end - g->begin);
		struct box next = {g->lanes.of[g->path[i]], hd_gantt_lane_height(g, t->worker), from, to,
		                   to - from < NARROW};
		int is_first = i + 1 == g->n_path;
		if (!is_first && next.lane == box.lane && next.from - box.to < 1 && next.narrow && box.narrow) {
			box.to = fmax(box.to, next.to);
			continue;
		}
		if (!is_first)
			outline(g, &box);
		if (!is_first && next.lane != box.lane)
			connect(g, &box, &next);
		box = next;
	}
	if (g->n_path)
		outline(g, &box);
}
