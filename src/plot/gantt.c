/* The Gantt chart of a trace: layout, title, legend, labels, time axis. As in StarVZ (Garcia Pinto et al., "A visual
 * performance analysis framework for task-based parallel applications", CCPE 2018), each worker's idle share stands
 * beside its row, the practical critical path is outlined, and the lower bound is a line. */
#include <cairo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "gantt.h"
#include "report/report.h"

enum {
	MARGIN = 14,
	TITLE = 20,
	SUBTITLE = 16,
	STRIP = 16,
	FOOT = 40,
	CLASS_GAP = 4,
	READY = 36,
	GAP = 8,
	LINK_HEAD = 14
};
enum { MAX_LEGEND = 60, DEFAULT_WIDTH = 1000 };
enum { FIGURES = 44 }; /* points: width of the column of idle shares */

/* --- Layout ------------------------------------------------------------------------------------------------------- */

static void link_name(const struct hd_gantt *g, size_t i, char *name, size_t size)
{
	const struct hd_link *link = &g->links.links[i];
	const struct heddle_node *nodes = g->trace->platform->nodes;
	snprintf(name, size, "%s \xe2\x86\x92 %s", nodes[link->from].name, nodes[link->to].name); /* an arrow */
}

/* Whether two workers were driven at the same times. */
static int are_away_together(const struct hd_gantt *g, size_t a, size_t b)
{
	const size_t *first = g->absences.first;
	const struct hd_absence *x = &g->absences.list[first[a]], *y = &g->absences.list[first[b]];
	size_t n = first[a + 1] - first[a], i = 0;
	while (i < n && n == first[b + 1] - first[b] && x[i].from == y[i].from && x[i].to == y[i].to)
		i++;
	return i == n && n == first[b + 1] - first[b];
}

/* The worker in whose row worker w, which had no tasks, is shown: the first of its class that had no tasks and was
 * driven at the same times; perhaps w itself. */
static size_t first_like(const struct hd_gantt *g, const unsigned char *used, size_t w)
{
	const struct heddle_worker *workers = g->trace->platform->workers;
	for (size_t i = 0; i < w; i++)
		if (!used[i] && g->stands_for[i] && workers[i].class_id == workers[w].class_id &&
		    are_away_together(g, i, w))
			return i;
	return w;
}

/* Whether a worker has submitted sub-graphs for at least a thousandth of the makespan, which is about a point. */
static int expands_for_long(const struct hd_gantt *g, size_t worker)
{
	return g->expanding[worker] > 0 && g->expanding[worker] * 1000 >= g->makespan;
}

/* Finds how long workers submitted sub-graphs. Most submissions are too short to be seen, and in virtual time they take
 * no time; then the chart has no bars for them. */
static int find_expansions(struct hd_gantt *g)
{
	size_t n_workers = g->trace->platform->n_workers;
	g->expanding = calloc(n_workers + 1, sizeof *g->expanding);
	if (!g->expanding)
		return hd_no_memory("a chart");
	for (size_t i = 0; i < g->trace->n_expansions; i++) {
		const struct heddle_trace_expansion *e = &g->trace->expansions[i];
		g->expanding[e->worker] += e->end - e->start;
	}
	for (size_t w = 0; w < n_workers; w++)
		g->expands |= expands_for_long(g, w);
	return 0;
}

static int fold(struct hd_gantt *g)
{
	const struct heddle_platform *p = g->trace->platform;
	unsigned char *used = calloc(p->n_workers + 1, 1);
	g->stands_for = calloc(p->n_workers + 1, sizeof *g->stands_for);
	if (!used || !g->stands_for) {
		free(used);
		return hd_no_memory("a chart");
	}
	for (size_t i = 0; i < g->trace->n_tasks; i++)
		used[g->trace->tasks[i].worker] = 1;
	for (size_t w = 0; w < p->n_workers; w++)
		used[w] = used[w] || expands_for_long(g, w);
	for (size_t w = 0; w < p->n_workers; w++)
		g->stands_for[used[w] ? w : first_like(g, used, w)]++;
	free(used);
	return 0;
}

/* Writes the name of a row: "cpu3"; for several workers "4 x cpu idle", or "4 x cpu retired" if they never were
 * driven. */
static void row_name(const struct hd_gantt *g, size_t worker, char *name, size_t size)
{
	const struct heddle_worker *w = &g->trace->platform->workers[worker];
	if (g->stands_for[worker] > 1)
		snprintf(name, size, "%zu x %s %s", g->stands_for[worker],
		         g->trace->platform->classes[w->class_id].name,
		         g->absences.n && isnan(hd_duty_idle(&g->duties[worker])) ? "retired" : "idle");
	else
		snprintf(name, size, "%s", w->name);
}

static double widest_name(const struct hd_gantt *g, cairo_t *ruler)
{
	double widest = 0;
	char name[128];
	hd_font(ruler, 10, 0);
	for (size_t w = 0; w < g->trace->platform->n_workers; w++) {
		row_name(g, w, name, sizeof name);
		widest = fmax(widest, g->stands_for[w] ? hd_text_width(ruler, name) : 0);
	}
	for (size_t i = 0; i < g->links.n; i++) {
		link_name(g, i, name, sizeof name);
		widest = fmax(widest, hd_text_width(ruler, name));
	}
	return fmax(widest, g->ready_height > 0 ? hd_text_width(ruler, "ready tasks") : 0);
}

/* Sets the time that the chart shows: from the beginning to the end of all tasks, the lower bound, and the expansions
 * and transfers that are shown. */
static void find_span(struct hd_gantt *g)
{
	double low = 0, high = fmax(g->makespan, g->options.lower_bound);
	for (size_t i = 0; i < g->trace->n_transfers && g->options.transfers; i++) {
		low = fmin(low, g->trace->transfers[i].start - g->begin);
		high = fmax(high, g->trace->transfers[i].end - g->begin);
	}
	for (size_t i = 0; i < g->trace->n_expansions && g->expands; i++) {
		low = fmin(low, g->trace->expansions[i].start - g->begin);
		high = fmax(high, g->trace->expansions[i].end - g->begin);
	}
	g->time.low = low;
	g->time.high = high > low ? high : low + 1;
}

/* The height of the chart without the rows of workers and links. */
static double fixed_height(const struct hd_gantt *g, double above, size_t n_gaps)
{
	return above + (double)n_gaps * CLASS_GAP + (g->ready_height > 0 ? GAP + g->ready_height : 0) +
	       (g->links.n ? GAP + LINK_HEAD : 0) + FOOT;
}

static void find_rows(struct hd_gantt *g, double above)
{
	const struct heddle_platform *p = g->trace->platform;
	size_t n_gaps = 0;
	double n = 0; /* height of all workers' rows, in rows of one lane */
	for (size_t w = 1; w < p->n_workers; w++)
		n_gaps += p->workers[w].class_id != p->workers[w - 1].class_id;
	g->row = 1;
	for (size_t w = 0; w < p->n_workers; w++)
		n += hd_gantt_row_height(g, w);
	double fixed = fixed_height(g, above, n_gaps), n_links = (double)g->links.n;
	g->row = n <= 4 ? 34 : n <= 12 ? 24 : n <= 48 ? 16 : 12;
	g->link_row = fmin(g->row, 14);
	if (g->options.height > 0) {
		g->row = fmax(2, (g->options.height - fixed) / (n + n_links));
		g->link_row = fmax(3, g->row);
	}
	double y = g->top = above;
	for (size_t w = 0; w < p->n_workers; w++) {
		y += w > 0 && p->workers[w].class_id != p->workers[w - 1].class_id ? CLASS_GAP : 0;
		for (size_t lane = g->lanes.first[w]; lane < g->lanes.first[w + 1]; lane++) {
			g->lane_y[lane] = y;
			y += hd_gantt_lane_height(g, w);
		}
	}
	g->ready_y = y + GAP;
	y += g->ready_height > 0 ? GAP + g->ready_height : 0;
	g->link_y = y + GAP + LINK_HEAD;
	y += g->links.n ? GAP + LINK_HEAD + g->link_row * n_links : 0;
	g->bottom = y;
	g->height = fmax(y + FOOT, g->options.height);
}

/* --- Legend ------------------------------------------------------------------------------------------------------- */

struct legend {
	struct hd_legend_item items[MAX_LEGEND + HD_REASONS + 6];
	size_t n;
	char more[32];
};

static void add(struct legend *l, enum hd_swatch swatch, uint32_t color, const char *label)
{
	l->items[l->n++] = (struct hd_legend_item){.swatch = swatch, .color = color, .label = label};
}

static void add_codelets(const struct hd_gantt *g, const unsigned char *used, struct legend *l)
{
	size_t left_out = 0;
	for (size_t i = 0; i < g->trace->n_codelets; i++) {
		const char *name = g->trace->codelets[i].name;
		if (!used[i] || hd_legend_has(l->items, l->n, name, g->colors[i]))
			continue;
		if (l->n < MAX_LEGEND)
			add(l, HD_SWATCH_BOX, g->colors[i], name);
		else
			left_out++;
	}
	snprintf(l->more, sizeof l->more, "and %zu more", left_out);
	if (left_out)
		add(l, HD_SWATCH_BOX, 0xffffff, l->more);
}

static int make_legend(const struct hd_gantt *g, struct legend *l)
{
	const struct heddle_trace *trace = g->trace;
	unsigned char *used = calloc(trace->n_codelets + 1, 1), reasons[HD_REASONS] = {0}, failed = 0;
	if (!used)
		return hd_no_memory("a chart");
	for (size_t i = 0; i < trace->n_tasks; i++) {
		used[trace->tasks[i].codelet] |= trace->tasks[i].status == 0;
		failed |= trace->tasks[i].status != 0;
	}
	for (size_t i = 0; i < trace->n_transfers && g->options.transfers; i++)
		reasons[trace->transfers[i].reason] = 1;
	l->n = 0;
	add_codelets(g, used, l);
	if (failed)
		add(l, HD_SWATCH_BOX, HD_FAILED, "failed");
	if (g->expands)
		add(l, HD_SWATCH_BOX, HD_EXPANSION, "expansion");
	for (uint32_t i = 0; i < HD_REASONS; i++)
		if (reasons[i])
			add(l, HD_SWATCH_BOX, hd_reason_colors[i], hd_reason_name(i));
	if (g->absences.n)
		add(l, HD_SWATCH_LINE, HD_AWAY_COLOR, "retired");
	if (g->n_path)
		add(l, HD_SWATCH_OUTLINE, HD_PATH, "practical critical path");
	if (g->options.lower_bound > 0)
		add(l, HD_SWATCH_DASH, 0x000000, "lower bound");
	free(used);
	return 0;
}

static struct hd_legend place_legend(const struct hd_gantt *g, const struct legend *l)
{
	return (struct hd_legend){MARGIN, g->legend_y, g->width - 2 * MARGIN, l->items, l->n};
}

static int lay_out(struct hd_gantt *g, const struct legend *l)
{
	g->lane_y = malloc((g->lanes.first[g->trace->platform->n_workers] + 1) * sizeof *g->lane_y);
	if (!g->lane_y)
		return hd_no_memory("a chart");
	cairo_t *ruler = hd_ruler();
	g->width = g->options.width > 0 ? g->options.width : DEFAULT_WIDTH;
	g->ready_height = g->options.transfers && g->trace->n_tasks ? READY : 0;
	g->name_width = fmin(widest_name(g, ruler) + 1, g->width / 5);
	g->time.from = MARGIN + g->name_width + FIGURES + 6;
	g->time.to = fmax(g->time.from + 10, g->width - MARGIN);
	g->width = g->time.to + MARGIN;
	g->legend_y = MARGIN + TITLE + SUBTITLE;
	struct hd_legend legend = place_legend(g, l);
	find_rows(g, g->legend_y + hd_legend(ruler, &legend, 0) + STRIP + 4);
	cairo_destroy(ruler);
	return 0;
}

/* --- Around the rows ---------------------------------------------------------------------------------------------- */

static void draw_title(const struct hd_gantt *g)
{
	char title[512], label[HD_LABEL], bound[64] = "";
	const struct heddle_trace *trace = g->trace;
	double idle = hd_trace_idle(trace, g->duties);
	hd_time_label(label, g->makespan);
	hd_print_into(title, sizeof title, "%s on %s: makespan %s%s", trace->policy, hd_trace_machine(trace), label,
	              trace->virtual_time ? " (simulated)" : "");
	hd_font(g->cr, 13, 1);
	hd_color(g->cr, 0x111111, 1);
	hd_draw_text(g->cr, MARGIN, MARGIN + TITLE / 2.0 - 2, 0, g->width - 2 * MARGIN,
	             g->options.title ? g->options.title : title);
	if (g->options.lower_bound > 0 && g->makespan > 0)
		hd_print_into(bound, sizeof bound, ", lower bound %.1f %% of the makespan",
		              100 * g->options.lower_bound / g->makespan);
	hd_print_into(title, sizeof title, "%zu tasks on %zu workers, %.1f %% idle%s", trace->n_tasks,
	              trace->platform->n_workers, isnan(idle) ? 0.0 : 100 * idle, bound);
	hd_font(g->cr, 10, 0);
	hd_color(g->cr, 0x555555, 1);
	hd_draw_text(g->cr, MARGIN, MARGIN + TITLE + SUBTITLE / 2.0 - 3, 0, g->width - 2 * MARGIN, title);
}

/* Draws the background of the rows, which shows where a worker is idle. */
static void draw_background(const struct hd_gantt *g)
{
	hd_color(g->cr, 0xf1f1f1, 1);
	for (size_t w = 0; w < g->trace->platform->n_workers; w++)
		if (g->stands_for[w])
			cairo_rectangle(g->cr, g->time.from, hd_gantt_row_y(g, w), g->time.to - g->time.from,
			                hd_gantt_row_height(g, w) - (g->row > 8 ? 1 : 0));
	for (size_t i = 0; i < g->links.n; i++)
		cairo_rectangle(g->cr, g->time.from, g->link_y + g->link_row * (double)i, g->time.to - g->time.from,
		                g->link_row - 1);
	if (g->ready_height > 0)
		cairo_rectangle(g->cr, g->time.from, g->ready_y, g->time.to - g->time.from, g->ready_height);
	cairo_fill(g->cr);
}

static void draw_time_axis(const struct hd_gantt *g)
{
	enum { MAX_TICKS = 64 };
	double ticks[MAX_TICKS];
	struct hd_unit unit = hd_unit_of(g->time.high - g->time.low);
	struct hd_axis axis = g->time; /* the time axis in `unit` instead of us, so that ticks are round numbers */
	axis.low /= unit.us;
	axis.high /= unit.us;
	char label[HD_LABEL];
	size_t n = hd_axis_ticks(&axis, 70, ticks, MAX_TICKS);
	hd_font(g->cr, 10, 0);
	for (size_t i = 0; i < n; i++) {
		double x = hd_axis_at(&axis, ticks[i]);
		cairo_set_line_width(g->cr, 0.6);
		hd_color(g->cr, 0xd4d4d4, 1);
		hd_line(g->cr, x, g->top, x, g->bottom);
		hd_color(g->cr, 0x444444, 1);
		hd_line(g->cr, x, g->bottom, x, g->bottom + 4);
		hd_print_into(label, sizeof label, "%.6g", ticks[i]);
		hd_draw_text(g->cr, x, g->bottom + 11, 0.5, 0, label);
	}
	cairo_set_line_width(g->cr, 0.8);
	hd_line(g->cr, g->time.from, g->bottom, g->time.to, g->bottom);
	hd_print_into(label, sizeof label, "time (%s)", unit.name);
	hd_draw_text(g->cr, (g->time.from + g->time.to) / 2, g->bottom + 26, 0.5, 0, label);
}

/* Draws a name on the left, and beside it a share in per cent; NAN: there is no share. */
static void draw_label(const struct hd_gantt *g, double y, const char *name, double share)
{
	char figure[HD_LABEL];
	hd_color(g->cr, 0x222222, 1);
	hd_draw_text(g->cr, MARGIN, y, 0, g->name_width, name);
	hd_print_into(figure, sizeof figure, isnan(share) ? "-" : share >= 0.0995 ? "%.0f %%" : "%.1f %%", 100 * share);
	hd_color(g->cr, 0x666666, 1);
	hd_draw_text(g->cr, g->time.from - 6, y, 1, 0, figure);
}

/* Draws the labels of the rows. If rows are lower than a line of text, only every second, third ... row has one. */
static void draw_labels(const struct hd_gantt *g)
{
	const struct heddle_platform *p = g->trace->platform;
	double font = fmin(10, fmax(6, g->row * 0.8));
	size_t every = (size_t)fmax(1, ceil(font * 1.2 / (g->row + 1e-9) - 0.05));
	char name[128];
	hd_font(g->cr, 9, 0);
	hd_color(g->cr, 0x666666, 1);
	hd_draw_text(g->cr, g->time.from - 6, g->top - 8, 1, 0, "idle");
	hd_font(g->cr, font, 0);
	for (size_t w = 0, row = 0; w < p->n_workers; w++) {
		if (!g->stands_for[w] || row++ % every)
			continue;
		row_name(g, w, name, sizeof name);
		draw_label(g, hd_gantt_row_y(g, w) + hd_gantt_row_height(g, w) / 2, name, hd_duty_idle(&g->duties[w]));
	}
	if (g->ready_height > 0) {
		hd_font(g->cr, 10, 0);
		hd_color(g->cr, 0x222222, 1);
		hd_draw_text(g->cr, MARGIN, g->ready_y + g->ready_height / 2, 0, g->name_width, "ready tasks");
	}
	if (g->links.n == 0)
		return;
	hd_font(g->cr, 9, 0);
	hd_color(g->cr, 0x666666, 1);
	hd_draw_text(g->cr, g->time.from - 6, g->link_y - 6, 1, 0, "in use");
	font = fmin(10, fmax(6, g->link_row * 0.8));
	every = (size_t)fmax(1, ceil(font * 1.2 / g->link_row - 0.05));
	hd_font(g->cr, font, 0);
	for (size_t i = 0; i < g->links.n; i += every) {
		link_name(g, i, name, sizeof name);
		draw_label(g, g->link_y + g->link_row * ((double)i + 0.5), name,
		           g->links.links[i].busy / (g->time.high - g->time.low));
	}
}

static void draw_bound(const struct hd_gantt *g)
{
	if (!(g->options.lower_bound > 0))
		return;
	char time[HD_LABEL], label[64];
	hd_time_label(time, g->options.lower_bound);
	hd_print_into(label, sizeof label, "lower bound %s", time);
	double x = hd_axis_at(&g->time, g->options.lower_bound);
	hd_color(g->cr, 0x000000, 1);
	cairo_set_line_width(g->cr, 1.4);
	cairo_set_dash(g->cr, (const double[]){5, 3}, 2, 0);
	hd_line(g->cr, x, g->top - 14, x, g->bottom);
	cairo_set_dash(g->cr, NULL, 0, 0);
	hd_font(g->cr, 9, 0);
	int fits = x + 4 + hd_text_width(g->cr, label) <= g->width - 4;
	hd_draw_text(g->cr, fits ? x + 4 : x - 4, g->top - 9, fits ? 0 : 1, fits ? 0 : x - g->time.from, label);
}

static int draw_all(struct hd_gantt *g, const struct legend *l)
{
	struct hd_legend legend = place_legend(g, l);
	draw_title(g);
	hd_legend(g->cr, &legend, 1);
	draw_background(g);
	int status = hd_gantt_absences(g);
	draw_time_axis(g);
	if (!status)
		status = hd_gantt_workers(g);
	if (!status && g->expands)
		status = hd_gantt_expansions(g);
	if (!status && g->links.n)
		status = hd_gantt_links(g);
	if (!status && g->ready_height > 0)
		status = hd_gantt_ready(g);
	if (status)
		return status;
	hd_gantt_path(g);
	draw_labels(g);
	draw_bound(g);
	return 0;
}

/* --- The whole ---------------------------------------------------------------------------------------------------- */

static int gantt_init(struct hd_gantt *g, const struct heddle_trace *trace, const struct heddle_gantt_options *options)
{
	static const struct heddle_gantt_options usual = {0};
	*g = (struct hd_gantt){.trace = trace, .options = options ? *options : usual};
	g->begin = hd_trace_begin(trace);
	g->makespan = heddle_trace_makespan(trace);
	g->duties = hd_trace_duties(trace);
	g->colors = hd_trace_colors(trace);
	if (!g->duties || !g->colors)
		return hd_no_memory("a chart");
	int status = hd_task_lanes_init(&g->lanes, trace);
	if (!status)
		status = find_expansions(g);
	find_span(g);
	if (!status)
		status = hd_trace_absences(trace, g->begin + g->time.low, g->begin + g->time.high, &g->absences);
	if (!status)
		status = fold(g);
	if (!status && g->options.transfers)
		status = hd_links_init(&g->links, trace);
	if (!status && g->options.critical_path)
		status = hd_trace_path(trace, &g->path, &g->n_path);
	return status;
}

static void gantt_fini(struct hd_gantt *g)
{
	hd_task_lanes_free(&g->lanes);
	hd_links_free(&g->links);
	free(g->colors);
	free(g->duties);
	hd_absences_free(&g->absences);
	free(g->stands_for);
	free(g->expanding);
	free(g->path);
	free(g->lane_y);
}

static int check_options(const struct heddle_gantt_options *o)
{
	if (o && (isnan(o->lower_bound) || isinf(o->lower_bound)))
		return hd_error(HEDDLE_E_INVALID, "heddle_trace_gantt: lower_bound is %g us; 0 draws none",
		                o->lower_bound);
	if (o && (!(o->width >= 0 && o->width <= 1e5) || !(o->height >= 0 && o->height <= 1e6)))
		return hd_error(HEDDLE_E_INVALID,
		                "heddle_trace_gantt: %g x %g points is no size of a picture; 0 chooses one", o->width,
		                o->height);
	return 0;
}

int hd_trace_gantt(const struct heddle_trace *trace, const char *path, const struct heddle_gantt_options *options)
{
	enum hd_picture kind;
	if (!path)
		return hd_error(HEDDLE_E_INVALID, "heddle_trace_gantt: path is NULL");
	int status = hd_picture_of(path, &kind);
	if (!status)
		status = check_options(options);
	if (!status)
		status = hd_trace_check(trace);
	if (status)
		return status;
	struct hd_gantt g;
	struct legend legend;
	struct hd_canvas canvas;
	status = gantt_init(&g, trace, options);
	if (!status)
		status = make_legend(&g, &legend);
	if (!status)
		status = lay_out(&g, &legend);
	if (!status)
		status = hd_canvas_open(&canvas, kind, g.width, g.height);
	if (!status) {
		g.cr = canvas.cr;
		g.scale = canvas.scale;
		status = draw_all(&g, &legend);
		int closed = hd_canvas_close(&canvas, status ? NULL : path);
		status = status ? status : closed;
	}
	gantt_fini(&g);
	return status;
}
