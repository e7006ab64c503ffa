/* Pictures of elimination trees. The horizontal axis is the time of one worker, in operations, that factorises in
 * postorder. So a front and its descendants are neighbours, and the front comes last. */
#include "tree_picture.h"
#include <cairo.h>
#include <math.h>
#include <stdlib.h>
#include <sparse/analysis/analysis.h>
#include "base/base.h"
#include "plot/draw.h"
#include "tool.h"

enum { WIDTH = 900, MARGIN = 16, LEFT = 70, TITLE = 26, TREE = 260, GAP = 34, MEMORY = 150, BOTTOM = 44, LEGEND = 22 };
enum { HEIGHT = TITLE + TREE + GAP + MEMORY + BOTTOM + LEGEND, FONT = 10, MAX_TICKS = 16 };
enum { TILES = 0xef8a62, TASK = 0x67a9cf, OTHER_TASK = 0xa6cee3, FACTORS = 0x7fbc8c, CONTRIBUTIONS = 0xc7b8e0 };

struct picture {
	const struct heddle_sparse_analysis *a;
	cairo_t *cr;
	struct hd_axis time, memory;
	double *begin, *end; /* owned; per front, in operations: where its sub-tree begins, and where it ends */
	double *depth;       /* owns; 0: a root */
	double levels;       /* of boxes that are seen */
	double unit;         /* of memory, in elements: a MiB, or a GiB */
};

/* A box that is narrower is not drawn. */
static const double least_width = 0.1;

static double width_of(const struct picture *p, size_t f)
{
	return hd_axis_at(&p->time, p->end[f]) - hd_axis_at(&p->time, p->begin[f]);
}

static void measure(struct picture *p)
{
	const struct heddle_sparse_analysis *a = p->a;
	double now = 0;
	p->begin = tool_alloc((a->n_fronts + 1) * sizeof *p->begin);
	p->end = tool_alloc((a->n_fronts + 1) * sizeof *p->end);
	p->depth = tool_alloc((a->n_fronts + 1) * sizeof *p->depth);
	for (size_t f = 0; f < a->n_fronts; f++) {
		size_t first = a->fronts[f].first_child;
		p->begin[f] = first == HD_SPARSE_NONE ? now : p->begin[first];
		p->end[f] = now += a->fronts[f].flops;
	}
	p->time = (struct hd_axis){.low = 0, .high = fmax(now, 1), .from = LEFT, .to = WIDTH - MARGIN};
	p->levels = 1;
	for (size_t f = a->n_fronts; f-- > 0;) {
		size_t parent = a->fronts[f].parent;
		p->depth[f] = parent == HD_SPARSE_NONE ? 0 : p->depth[parent] + 1;
		if (width_of(p, f) >= least_width)
			p->levels = fmax(p->levels, p->depth[f] + 1);
	}
	double peak = (double)a->statistics.peak_elements, mib = 0x1p20 / sizeof(double);
	p->unit = peak < 0x1p14 * mib ? mib : 0x1p10 * mib;
	p->memory = (struct hd_axis){.low = 0,
	                             .high = fmax(peak / p->unit, 1e-6),
	                             .from = TITLE + TREE + GAP + MEMORY,
	                             .to = TITLE + TREE + GAP};
}

static void box(struct picture *p, double x1, double x2, double y1, double y2, uint32_t color)
{
	hd_color(p->cr, color, 1);
	cairo_set_antialias(p->cr, CAIRO_ANTIALIAS_NONE); /* so that there is no gap between neighbours */
	cairo_rectangle(p->cr, x1, fmin(y1, y2), x2 - x1, fabs(y2 - y1));
	cairo_fill(p->cr);
	cairo_set_antialias(p->cr, CAIRO_ANTIALIAS_DEFAULT);
}

/* The root is at the top; boxes too small to be seen are left out. */
static void draw_tree(struct picture *p)
{
	double height = TREE / p->levels;
	for (size_t f = 0; f < p->a->n_fronts; f++) {
		const struct hd_sparse_front *front = &p->a->fronts[f];
		double x1 = hd_axis_at(&p->time, p->begin[f]), x2 = hd_axis_at(&p->time, p->end[f]);
		double y = TITLE + p->depth[f] * height;
		uint32_t color = front->subtree == HD_SPARSE_NONE ? TILES : front->subtree % 2 ? OTHER_TASK : TASK;
		if (width_of(p, f) < least_width)
			continue;
		box(p, x1, fmax(x2 - (x2 - x1 > 3 ? 0.5 : 0), x1 + least_width), y, y + height - (height > 3 ? 0.5 : 0),
		    color);
		char *label = tool_format("%zu x %zu", front->n_rows, front->n_columns);
		hd_font(p->cr, FONT - 1, 0);
		if (height > FONT && hd_text_width(p->cr, label) < x2 - x1 - 4) {
			hd_color(p->cr, 0, 1);
			hd_draw_text(p->cr, (x1 + x2) / 2, y + height / 2, 0.5, 0, label);
		}
		free(label);
	}
}

/* While a front is factorised, memory holds the factors so far, the contributions that wait, and the front. */
static void draw_memory(struct picture *p)
{
	double factors = 0, waiting = 0;
	for (size_t f = 0; f < p->a->n_fronts; f++) {
		const struct hd_sparse_front *front = &p->a->fronts[f];
		double x1 = hd_axis_at(&p->time, p->end[f] - front->flops), x2 = hd_axis_at(&p->time, p->end[f]);
		double whole = (double)front->n_rows * (double)front->n_columns;
		double y0 = hd_axis_at(&p->memory, 0), y1 = hd_axis_at(&p->memory, factors / p->unit);
		double y2 = hd_axis_at(&p->memory, (factors + waiting) / p->unit);
		double y3 = hd_axis_at(&p->memory, (factors + waiting + whole) / p->unit);
		x2 = fmax(x2, x1 + least_width);
		box(p, x1, x2, y0, y1, FACTORS);
		box(p, x1, x2, y1, y2, CONTRIBUTIONS);
		box(p, x1, x2, y2, y3, TILES);
		for (size_t c = front->first_child; c != HD_SPARSE_NONE; c = p->a->fronts[c].next_sibling)
			waiting -= (double)hd_sparse_contribution_elements(&p->a->fronts[c]);
		waiting += (double)hd_sparse_contribution_elements(front);
		factors += (double)(hd_sparse_r_elements(front) + hd_sparse_h_elements(front));
	}
}

static void draw_axes(struct picture *p)
{
	double ticks[MAX_TICKS], bottom = p->memory.from;
	char label[HD_LABEL];
	hd_font(p->cr, FONT, 0);
	hd_color(p->cr, 0x444444, 1);
	size_t n = hd_axis_ticks(&p->time, 90, ticks, MAX_TICKS);
	for (size_t i = 0; i < n; i++) {
		double x = hd_axis_at(&p->time, ticks[i]);
		hd_number_label(label, ticks[i]);
		hd_line(p->cr, x, bottom, x, bottom + 4);
		hd_draw_text(p->cr, x, bottom + 12, 0.5, 0, label);
	}
	n = hd_axis_ticks(&p->memory, 36, ticks, MAX_TICKS);
	for (size_t i = 0; i < n; i++) {
		double y = hd_axis_at(&p->memory, ticks[i]);
		hd_number_label(label, ticks[i]);
		hd_line(p->cr, LEFT - 4, y, LEFT, y);
		hd_draw_text(p->cr, LEFT - 8, y, 1, 0, label);
	}
	hd_line(p->cr, LEFT, bottom, WIDTH - MARGIN, bottom);
	hd_line(p->cr, LEFT, bottom, LEFT, p->memory.to);
	hd_draw_text(p->cr, (LEFT + WIDTH - MARGIN) / 2.0, bottom + 28, 0.5, 0, "operations done, in postorder");
	hd_draw_text(p->cr, LEFT, p->memory.to - 12, 0, 0,
	             p->unit * sizeof(double) > 0x1p20 ? "memory in double precision, GiB"
	                                               : "memory in double precision, MiB");
}

static void draw(struct picture *p, const char *title)
{
	static const struct hd_legend_item items[] = {
	    {HD_SWATCH_BOX, TILES, 0, "front on tiles; being factorised"},
	    {HD_SWATCH_BOX, TASK, 0, "subtree that is one task"},
	    {HD_SWATCH_BOX, FACTORS, 0, "R and reflectors"},
	    {HD_SWATCH_BOX, CONTRIBUTIONS, 0, "contributions that wait"},
	};
	struct hd_legend legend = {LEFT, HEIGHT - LEGEND, WIDTH - LEFT - MARGIN, items, sizeof items / sizeof *items};
	hd_font(p->cr, FONT + 2, 1);
	hd_color(p->cr, 0, 1);
	hd_draw_text(p->cr, LEFT, TITLE / 2.0, 0, WIDTH - LEFT - MARGIN, title);
	draw_tree(p);
	draw_memory(p);
	draw_axes(p);
	hd_legend(p->cr, &legend, 1);
}

int tree_picture(const struct heddle_sparse_analysis *a, const char *title, const char *path)
{
	enum hd_picture kind;
	struct hd_canvas canvas;
	struct picture p = {.a = a};
	int status = hd_picture_of(path, &kind);
	if (!status)
		status = hd_canvas_open(&canvas, kind, WIDTH, HEIGHT);
	if (status)
		return status;
	char *text = tool_format("%s: elimination tree of %zu fronts", title, a->n_fronts);
	p.cr = canvas.cr;
	measure(&p);
	draw(&p, text);
	free(p.begin);
	free(p.end);
	free(p.depth);
	free(text);
	return hd_canvas_close(&canvas, path);
}
