/* Lays out and draws the graph of a trace. Each box is laid out by itself, the innermost boxes first. Its nodes stand
 * in rows: each below all nodes of the box on which it depends, and in its row as near as possible to their middle. */
#include <cairo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/base.h"
#include "dag.h"
#include "draw.h"

enum { MARGIN = 14, HEAD = 22, PAD = 8, GAP = 10, ROW_GAP = 26, TEXT = 9, NODE = 18, WIDEST = 120, SMALL = 12 };
enum { MOST_NAMED = 400, MAX_LEGEND = 40 }; /* with more nodes than MOST_NAMED, nodes are small and have no names */

/* Edges between nodes that are in the same box: each edge of the graph is lifted to such an edge. The lifted edges to
 * node i come from the nodes from[begin[i]] to from[begin[i + 1] - 1]. */
struct siblings {
	size_t *begin; /* owned; per node, and one more entry */
	size_t *from;  /* owned */
};

struct picture {
	struct hd_dag *d;
	struct siblings before; /* for each node: the nodes of its box on which it depends */
	size_t *order;          /* owned; the nodes that are shown, the deepest first */
	size_t *row;            /* owned; the nodes of the row that is being laid out */
	double *wish;           /* owned; per node: where its middle should be; NAN: anywhere */
	cairo_t *cr;
};

/* --- Which nodes stand above which -------------------------------------------------------------------------------- */

/* Lifts an edge to two nodes of one box: each is an end of the edge, or a box around that end. */
static struct hd_dag_edge lifted(const struct hd_dag *d, struct hd_dag_edge e)
{
	const struct hd_dag_node *n = d->nodes;
	while (n[e.from].box != n[e.to].box) {
		if (n[e.from].depth >= n[e.to].depth)
			e.from = n[e.from].box;
		else
			e.to = n[e.to].box;
	}
	return e;
}

static int find_siblings(struct picture *p)
{
	const struct hd_dag *d = p->d;
	struct siblings *s = &p->before;
	s->begin = calloc(d->n_nodes + 2, sizeof *s->begin);
	s->from = malloc((d->n_edges + 1) * sizeof *s->from);
	if (!s->begin || !s->from)
		return hd_no_memory("a picture");
	for (size_t i = 0; i < d->n_edges; i++)
		s->begin[lifted(d, d->edges[i]).to + 2]++;
	for (size_t i = 2; i < d->n_nodes + 2; i++)
		s->begin[i] += s->begin[i - 1];
	for (size_t i = 0; i < d->n_edges; i++) {
		struct hd_dag_edge e = lifted(d, d->edges[i]);
		s->from[s->begin[e.to + 1]++] = e.from;
	}
	return 0;
}

/* Moves each change of a layout to the row right above the task that waited for it, or above the box around it. */
static void lower_layouts(const struct picture *p)
{
	struct hd_dag *d = p->d;
	for (size_t i = 0; i < d->n_edges; i++) {
		struct hd_dag_edge e = lifted(d, d->edges[i]);
		if (d->edges[i].is_layout && d->nodes[e.to].row > 0)
			d->nodes[e.from].row = d->nodes[e.to].row - 1;
	}
}

/* Moves nodes down until each is below the nodes on which it depends. Most edges lead from smaller indices to larger
 * ones, so few rounds are needed. If the edges of a trace have a cycle, its nodes and all nodes that depend on them end
 * in row n_shown, which no other node reaches. */
static void find_rows(const struct picture *p)
{
	struct hd_dag *d = p->d;
	int moved = 1;
	while (moved) {
		moved = 0;
		for (size_t i = 0; i < d->n_nodes; i++)
			for (size_t k = p->before.begin[i]; k < p->before.begin[i + 1]; k++) {
				size_t from = p->before.from[k];
				if (from == i || d->nodes[from].row < d->nodes[i].row || d->nodes[i].row == d->n_shown)
					continue;
				d->nodes[i].row =
				    d->nodes[from].row == d->n_shown ? d->n_shown : d->nodes[from].row + 1;
				moved = 1;
			}
	}
}

/* --- Boxes -------------------------------------------------------------------------------------------------------- */

static void measure(const struct picture *p, size_t i)
{
	struct hd_dag_node *n = &p->d->nodes[i];
	char room[256];
	if (p->d->n_shown > MOST_NAMED) {
		n->width = n->height = SMALL;
		return;
	}
	n->width = fmin(WIDEST, hd_text_width(p->cr, hd_dag_label(p->d, i, room, sizeof room))) + 2 * PAD;
	n->height = NODE;
}

/* The mean of the middles of the nodes of its box on which the node depends, relative to the box; NAN: none. */
static double wish_of(const struct picture *p, size_t i)
{
	double sum = 0;
	size_t begin = p->before.begin[i], end = p->before.begin[i + 1];
	for (size_t k = begin; k < end; k++) {
		const struct hd_dag_node *n = &p->d->nodes[p->before.from[k]];
		sum += n->x + n->width / 2;
	}
	return end > begin ? sum / (double)(end - begin) : NAN;
}

/* Sorts the first n nodes of p->row by the places that they wish; others keep their order. Rows are nearly sorted. */
static void sort_row(const struct picture *p, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		size_t node = p->row[i], k = i;
		while (k > 0 && p->wish[p->row[k - 1]] > p->wish[node]) {
			p->row[k] = p->row[k - 1];
			k--;
		}
		p->row[k] = node;
	}
}

/* Places the first n nodes of p->row beside each other; returns the height of the row. */
static double place_row(const struct picture *p, size_t n, double y)
{
	double x = 0, off = 0, height = 0, n_wishes = 0;
	for (size_t i = 0; i < n; i++) {
		size_t node = p->row[i];
		p->wish[node] = wish_of(p, node);
	}
	sort_row(p, n);
	for (size_t i = 0; i < n; i++) {
		struct hd_dag_node *node = &p->d->nodes[p->row[i]];
		node->x = x;
		node->y = y;
		x += node->width + GAP;
		height = fmax(height, node->height);
		if (!isnan(p->wish[p->row[i]])) {
			off += p->wish[p->row[i]] - node->x - node->width / 2;
			n_wishes++;
		}
	}
	off = n_wishes > 0 ? off / n_wishes : -x / 2;
	for (size_t i = 0; i < n; i++)
		p->d->nodes[p->row[i]].x += off;
	return height;
}

/* Lays out in rows the nodes of the list that begins with `first`. *width, *height: the size of the area that they
 * cover, whose top left corner is at (PAD, top). */
static void lay_out(const struct picture *p, size_t first, double top, double *width, double *height)
{
	struct hd_dag_node *nodes = p->d->nodes;
	size_t last_row = 0;
	double y = top, left = INFINITY, right = 0;
	for (size_t i = first; i != HD_NO_NODE; i = nodes[i].next)
		last_row = nodes[i].row > last_row ? nodes[i].row : last_row;
	for (size_t row = 0; row <= last_row; row++) {
		size_t n = 0;
		for (size_t i = first; i != HD_NO_NODE; i = nodes[i].next)
			if (nodes[i].row == row)
				p->row[n++] = i;
		if (n)
			y += place_row(p, n, y) + ROW_GAP;
	}
	for (size_t i = first; i != HD_NO_NODE; i = nodes[i].next)
		left = fmin(left, nodes[i].x);
	for (size_t i = first; i != HD_NO_NODE; i = nodes[i].next) {
		nodes[i].x += PAD - left;
		right = fmax(right, nodes[i].x + nodes[i].width);
	}
	*width = right + PAD;
	*height = y - ROW_GAP + PAD;
}

/* Sets p->order to the nodes that are shown, the deepest first. */
static void sort_by_depth(const struct picture *p)
{
	const struct hd_dag *d = p->d;
	unsigned deepest = 0;
	size_t n = 0;
	for (size_t i = 0; i < d->n_nodes; i++)
		if (d->nodes[i].shown == i && d->nodes[i].depth > deepest)
			deepest = d->nodes[i].depth;
	for (unsigned depth = deepest + 1; depth-- > 0;)
		for (size_t i = 0; i < d->n_nodes; i++)
			if (d->nodes[i].depth == depth && d->nodes[i].shown == i)
				p->order[n++] = i;
}

static void place_all(const struct picture *p, double top, double *width, double *height)
{
	struct hd_dag *d = p->d;
	hd_font(p->cr, TEXT, 0);
	sort_by_depth(p);
	find_rows(p);
	lower_layouts(p);
	for (size_t k = 0; k < d->n_shown; k++) {
		size_t i = p->order[k];
		measure(p, i);
		double least = d->nodes[i].width;
		if (!hd_dag_is_open(d, i))
			continue;
		lay_out(p, d->nodes[i].first, NODE, &d->nodes[i].width, &d->nodes[i].height);
		d->nodes[i].width = fmax(least, d->nodes[i].width);
	}
	lay_out(p, d->first, top, width, height);
	for (size_t k = d->n_shown; k-- > 0;) {
		struct hd_dag_node *n = &d->nodes[p->order[k]];
		n->x += n->box == HD_NO_NODE ? MARGIN - PAD : d->nodes[n->box].x;
		n->y += n->box == HD_NO_NODE ? 0 : d->nodes[n->box].y;
	}
	*width += 2 * MARGIN;
	*height += MARGIN;
}

/* --- Drawing ------------------------------------------------------------------------------------------------------ */

static void draw_box(const struct picture *p, size_t i)
{
	const struct hd_dag_node *n = &p->d->nodes[i];
	uint32_t color = p->d->colors[n->codelet];
	char room[256];
	cairo_rectangle(p->cr, n->x, n->y, n->width, n->height);
	hd_color(p->cr, color, 0.08);
	cairo_fill_preserve(p->cr);
	hd_color(p->cr, color, 1);
	cairo_set_line_width(p->cr, 1);
	cairo_stroke(p->cr);
	hd_color(p->cr, 0x333333, 1);
	if (p->d->n_shown <= MOST_NAMED)
		hd_draw_text(p->cr, n->x + 4, n->y + NODE / 2.0, 0, n->width - 8,
		             hd_dag_label(p->d, i, room, sizeof room));
}

static void draw_edge(const struct picture *p, const struct hd_dag_edge *e)
{
	const struct hd_dag_node *from = &p->d->nodes[e->from], *to = &p->d->nodes[e->to];
	double x1 = from->x + from->width / 2, y1 = from->y + from->height, x2 = to->x + to->width / 2, y2 = to->y;
	double bend = fmax(8, (y2 - y1) / 3);
	hd_color(p->cr, e->is_layout ? 0xb05a00 : 0x777777, 0.8);
	cairo_set_line_width(p->cr, 0.8);
	cairo_set_dash(p->cr, (const double[]){3, 2}, e->is_layout ? 2 : 0, 0);
	cairo_move_to(p->cr, x1, y1);
	cairo_curve_to(p->cr, x1, y1 + bend, x2, y2 - bend, x2, y2 - 4);
	cairo_stroke(p->cr);
	cairo_set_dash(p->cr, NULL, 0, 0);
	cairo_move_to(p->cr, x2, y2);
	cairo_line_to(p->cr, x2 - 2.5, y2 - 5);
	cairo_line_to(p->cr, x2 + 2.5, y2 - 5);
	cairo_fill(p->cr);
}

static void draw_node(const struct picture *p, size_t i)
{
	const struct hd_dag_node *n = &p->d->nodes[i];
	uint32_t color = n->layout ? 0xffffff : p->d->colors[n->codelet];
	char room[256];
	cairo_rectangle(p->cr, n->x, n->y, n->width, n->height);
	if (n->expansion) { /* a box whose contents are not drawn gets a second outline */
		hd_color(p->cr, 0x333333, 1);
		cairo_rectangle(p->cr, n->x - 2, n->y - 2, n->width + 4, n->height + 4);
		cairo_set_line_width(p->cr, 0.8);
		cairo_stroke(p->cr);
		cairo_rectangle(p->cr, n->x, n->y, n->width, n->height);
	}
	hd_color(p->cr, color, 1);
	cairo_fill_preserve(p->cr);
	hd_color(p->cr, n->layout ? 0xb05a00 : 0x333333, 1);
	cairo_set_line_width(p->cr, 0.8);
	cairo_stroke(p->cr);
	hd_color(p->cr, hd_color_on(color), 1);
	if (p->d->n_shown <= MOST_NAMED)
		hd_draw_text(p->cr, n->x + n->width / 2, n->y + n->height / 2, 0.5, n->width - 4,
		             hd_dag_label(p->d, i, room, sizeof room));
}

static void draw_all(const struct picture *p, const struct hd_legend *legend)
{
	const struct hd_dag *d = p->d;
	char title[128];
	snprintf(title, sizeof title, "%zu tasks, %zu sub-graphs, %zu dependencies", d->trace->n_tasks,
	         d->trace->n_expansions, d->trace->n_edges);
	hd_font(p->cr, 13, 1);
	hd_color(p->cr, 0x111111, 1);
	hd_draw_text(p->cr, MARGIN, MARGIN + 6, 0, 0, d->options.title ? d->options.title : title);
	hd_legend(p->cr, legend, 1);
	hd_font(p->cr, TEXT, 0);
	for (size_t k = d->n_shown; k-- > 0;)
		if (hd_dag_is_open(d, p->order[k]))
			draw_box(p, p->order[k]);
	for (size_t i = 0; i < d->n_edges; i++)
		draw_edge(p, &d->edges[i]);
	for (size_t k = 0; k < d->n_shown; k++)
		if (!hd_dag_is_open(d, p->order[k]))
			draw_node(p, p->order[k]);
}

/* Makes the legend of the codelets that are in the picture. */
static int make_legend(const struct hd_dag *d, struct hd_legend_item items[MAX_LEGEND], size_t *n)
{
	unsigned char *used = calloc(d->trace->n_codelets + 1, 1);
	if (!used)
		return hd_no_memory("a picture");
	for (size_t i = 0; i < d->n_nodes; i++)
		used[d->nodes[i].codelet] |= d->nodes[i].shown == i && !d->nodes[i].layout;
	for (size_t c = 0; c < d->trace->n_codelets && *n < MAX_LEGEND; c++)
		if (used[c] && !hd_legend_has(items, *n, d->trace->codelets[c].name, d->colors[c]))
			items[(*n)++] = (struct hd_legend_item){
			    .swatch = HD_SWATCH_BOX, .color = d->colors[c], .label = d->trace->codelets[c].name};
	free(used);
	return 0;
}

static int draw(struct picture *p, const char *path)
{
	enum { NARROWEST = 420 };
	enum hd_picture kind;
	struct hd_canvas canvas;
	struct hd_legend_item items[MAX_LEGEND];
	struct hd_legend legend = {.x = MARGIN, .y = MARGIN + HEAD, .width = NARROWEST - 2 * MARGIN, .items = items};
	double width, height;
	int status = hd_picture_of(path, &kind);
	if (!status)
		status = make_legend(p->d, items, &legend.n);
	if (status)
		return status;
	p->cr = hd_ruler();
	place_all(p, legend.y + hd_legend(p->cr, &legend, 0) + PAD, &width, &height);
	cairo_destroy(p->cr);
	status = hd_canvas_open(&canvas, kind, fmax(width, NARROWEST), height);
	if (status)
		return status;
	p->cr = canvas.cr;
	draw_all(p, &legend);
	return hd_canvas_close(&canvas, path);
}

int hd_dag_picture(struct hd_dag *d, const char *path)
{
	struct picture p = {.d = d};
	p.order = malloc((d->n_shown + 1) * sizeof *p.order);
	p.row = malloc((d->n_shown + 1) * sizeof *p.row);
	p.wish = malloc((d->n_nodes + 1) * sizeof *p.wish);
	int status = p.order && p.row && p.wish ? find_siblings(&p) : hd_no_memory("a picture");
	if (!status)
		status = draw(&p, path);
	free(p.before.begin);
	free(p.before.from);
	free(p.order);
	free(p.row);
	free(p.wish);
	return status;
}
