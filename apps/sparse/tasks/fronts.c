/* The tasks of a front: a subtree is one; a front on tiles is assembled tile by tile and factorised by the kernels of
 * the tiled QR factorisation, in each column of tiles by a tree (tree.c), down to the staircase.
 *
 * geqrt leaves R and V in one tile, and a copy of V, as in the dense factorisation: others then change R alone, while
 * the copy is applied to the rest of the row (Buttari, 2013; Agullo et al., 2016). */
#include <sparse/tasks/tasks.h>
#include <stdlib.h>

/* --- Data --------------------------------------------------------------------------------------------------------- */

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Where things are in a front on tiles, while its tasks are submitted. */
struct grid {
	struct hd_sparse_flow *flow;
	const struct hd_sparse_front *front;
	struct hd_sparse_node *node;
	size_t f, mt, nt, kt; /* its number; rows and columns of tiles; columns with a tile on the diagonal */
};

static heddle_data *tile(const struct grid *g, size_t i, size_t k)
{
	return g->node->tiles[i + k * g->mt];
}

static struct grid grid_of(struct hd_sparse_flow *flow, size_t f)
{
	const struct hd_sparse_front *front = &flow->qr->analysis->fronts[f];
	struct grid g = {.flow = flow, .front = front, .node = &flow->qr->nodes[f], .f = f};
	g.mt = hd_sparse_grid(flow->qr, front->n_rows);
	g.nt = hd_sparse_grid(flow->qr, front->n_columns);
	g.kt = smaller(g.mt, g.nt);
	return g;
}

static int allocate(struct grid *g)
{
	size_t n_tiles = g->mt * g->nt, n_factors = g->mt * g->kt;
	g->node->tiles = calloc(n_tiles + 3 * n_factors + 1, sizeof *g->node->tiles);
	if (!g->node->tiles)
		return hd_sparse_no_memory("the tiles of a front");
	g->node->factors = g->node->tiles + n_tiles;
	g->node->pairs = g->node->factors + n_factors;
	g->node->copies = g->node->pairs + n_factors;
	return 0;
}

/* A datum of a front with so many columns, of which strips are multiples of `multiple`. */
static heddle_data *open_datum(const struct grid *g, size_t rows, size_t columns, size_t multiple)
{
	struct hd_sparse_flow *flow = g->flow;
	heddle_data *data = hd_sparse_register(flow, rows, columns);
	if (flow->qr->widths[0] > 0 && flow->status >= 0)
		flow->status = heddle_dense_qr_cut(flow->qr->sparse->dense, flow->qr->precision, data, columns,
		                                   multiple, flow->qr->widths);
	return data;
}

static void open_tiles(struct grid *g)
{
	struct heddle_sparse_qr *qr = g->flow->qr;
	size_t inner = qr->packing.inner;
	g->flow->status = allocate(g);
	for (size_t k = 0; k < g->nt && g->flow->status >= 0; k++) {
		size_t columns = hd_sparse_tile_columns(qr, g->front, k);
		for (size_t i = 0; i < g->mt; i++) {
			size_t rows = hd_sparse_tile_rows(qr, g->front, i, k);
			if (rows == 0)
				break; /* nor do those below exist */
			size_t at = i + k * g->mt;
			g->node->tiles[at] = open_datum(g, rows, columns, 1);
			if (i >= k)
				g->node->factors[at] = open_datum(g, inner, columns, inner);
			if (i > k && hd_sparse_is_head(qr, g->front, i, k))
				g->node->pairs[at] = open_datum(g, inner, columns, inner);
			if (hd_sparse_has_copy(qr, g->front, i, k))
				g->node->copies[at] = open_datum(g, rows, columns, 1);
		}
	}
}

void hd_sparse_drop_front(struct heddle_sparse_qr *qr, size_t f)
{
	struct hd_sparse_node *node = &qr->nodes[f];
	const struct hd_sparse_front *front = &qr->analysis->fronts[f];
	size_t mt = hd_sparse_grid(qr, front->n_rows), nt = hd_sparse_grid(qr, front->n_columns), kt = smaller(mt, nt);
	for (size_t i = 0; node->tiles && i < mt * (nt + 3 * kt); i++)
		hd_sparse_drop(&node->tiles[i]);
	free(node->tiles);
	node->tiles = node->factors = node->pairs = node->copies = NULL;
	hd_sparse_drop(&node->packed);
	hd_sparse_drop(&node->work);
	hd_sparse_drop(&node->contribution);
	free(node->changed_r);
	node->changed_r = NULL;
}

void hd_sparse_each_datum(struct hd_sparse_flow *flow, size_t f, enum hd_sparse_end end,
                          void (*visit)(struct hd_sparse_flow *flow, heddle_data **data))
{
	struct grid g = grid_of(flow, f);
	enum hd_sparse_end of_t = flow->qr->options.drop_q ? HD_SPARSE_WITH_FRONT : HD_SPARSE_STAYS;
	for (size_t k = 0; g.node->tiles && k < g.nt; k++) {
		for (size_t i = 0; i < g.mt; i++) {
			if (hd_sparse_tile_end(flow->qr, g.front, i, k) == end)
				visit(flow, &g.node->tiles[i + k * g.mt]);
			if (end == of_t && k < g.kt) {
				visit(flow, &g.node->factors[i + k * g.mt]);
				visit(flow, &g.node->pairs[i + k * g.mt]);
			}
			if (end == HD_SPARSE_WITH_FRONT && k < g.kt)
				visit(flow, &g.node->copies[i + k * g.mt]);
		}
	}
	heddle_data **others[] = {&g.node->packed, &g.node->contribution, &g.node->work};
	visit(flow, others[end]);
}

/* --- Tasks -------------------------------------------------------------------------------------------------------- */

static int add_source(void *arg, const struct hd_sparse_source *s)
{
	struct hd_sparse_flow *flow = arg;
	const struct hd_sparse_node *node = &flow->qr->nodes[s->front];
	const struct hd_sparse_front *front = &flow->qr->analysis->fronts[s->front];
	size_t mt = hd_sparse_grid(flow->qr, front->n_rows);
	hd_sparse_add(flow,
	              heddle_r(node->tiles ? node->tiles[s->tile_row + s->tile_column * mt] : node->contribution));
	return 0;
}

/* Each task writes a tile: zeros, rows of F, rows of the children's contributions. */
static void assemble(struct grid *g)
{
	struct heddle_sparse_qr *qr = g->flow->qr;
	struct hd_sparse_factor_value value = {
	    .rates = hd_sparse_rates(qr), .qr = qr, .values = qr->values, .front = g->f};
	for (size_t k = 0; k < g->nt; k++)
		for (size_t i = 0; i < g->mt && g->flow->status >= 0 && tile(g, i, k); i++) {
			value.row = i;
			value.column = k;
			/* as urgent as the first task that needs the tile */
			const struct hd_sparse_step step = {i < k ? HD_SPARSE_GEMQRT : HD_SPARSE_TSQRT, g->f, i,
			                                    smaller(i, k), k};
			hd_sparse_task(g->flow, HD_SPARSE_ASSEMBLE, hd_sparse_priority(g->flow, &step));
			hd_sparse_add(g->flow, heddle_w(tile(g, i, k)));
			hd_sparse_tile_sources(qr, g->f, i, k, add_source, g->flow);
			hd_sparse_submit_with(g->flow, heddle_value(value));
		}
}

/* The data of a task of QR on tiles. */
struct tiles {
	heddle_data *top, *tile, *v, *t;
};

static void insert(const struct grid *g, const struct hd_sparse_step *step, struct tiles x)
{
	static const enum heddle_dense_qr_kernel kernels[] = {HEDDLE_DENSE_GEQRT, HEDDLE_DENSE_GEMQRT,
	                                                      HEDDLE_DENSE_TSQRT, HEDDLE_DENSE_TSMQR,
	                                                      HEDDLE_DENSE_TTQRT, HEDDLE_DENSE_TTMQR};
	struct hd_sparse_flow *flow = g->flow;
	const struct heddle_dense_qr_tile_task task = {
	    .kernel = kernels[step->kind],
	    .precision = flow->qr->precision,
	    .trans = HEDDLE_DENSE_CONJ_TRANS,
	    .top = x.top,
	    .tile = x.tile,
	    .v = x.v,
	    .t = x.t,
	    .work = flow->qr->tile_work,
	    .priority = hd_sparse_priority(flow, step),
	    .widths = flow->qr->widths[0] > 0 ? flow->qr->widths : NULL,
	    .rows = hd_sparse_tile_rows(flow->qr, g->front, step->i, step->k),
	    .columns = hd_sparse_tile_columns(flow->qr, g->front, step->k),
	};
	if (flow->status >= 0)
		flow->status = heddle_dense_qr_tile_submit(flow->qr->sparse->dense, &task);
}

/* Makes a triangle, and applies its reflectors to the rest of its row. */
static void make_triangle(const struct grid *g, const struct hd_sparse_elimination *e)
{
	heddle_data *v = tile(g, e->tile, e->k), *t = hd_sparse_factor(g->node, g->mt, e);
	heddle_data *copy = g->node->copies[e->tile + e->k * g->mt];
	struct hd_sparse_step step = {HD_SPARSE_GEQRT, g->f, e->tile, e->k, e->k};
	insert(g, &step, (struct tiles){.tile = v, .t = t, .v = copy});
	step.kind = HD_SPARSE_GEMQRT;
	for (step.j = e->k + 1; step.j < g->nt; step.j++)
		insert(g, &step, (struct tiles){.tile = tile(g, e->tile, step.j), .t = t, .v = copy ? copy : v});
}

/* Eliminates a tile, or its triangle, and applies the reflectors to the rest of both rows. */
static void eliminate(void *arg, const struct hd_sparse_elimination *e)
{
	const struct grid *g = arg;
	if (e->kind == HD_SPARSE_GEQRT) {
		make_triangle(g, e);
		return;
	}
	heddle_data *v = tile(g, e->tile, e->k), *t = hd_sparse_factor(g->node, g->mt, e);
	struct hd_sparse_step step = {e->kind, g->f, e->tile, e->k, e->k};
	insert(g, &step, (struct tiles){.top = tile(g, e->top, e->k), .tile = v, .t = t});
	step.kind = e->kind == HD_SPARSE_TSQRT ? HD_SPARSE_TSMQR : HD_SPARSE_TTMQR;
	for (step.j = e->k + 1; step.j < g->nt; step.j++)
		insert(
		    g, &step,
		    (struct tiles){.top = tile(g, e->top, step.j), .tile = tile(g, e->tile, step.j), .v = v, .t = t});
}

static void tiled_front(struct hd_sparse_flow *flow, size_t f)
{
	struct grid g = grid_of(flow, f);
	open_tiles(&g);
	if (flow->status >= 0)
		assemble(&g);
	for (size_t c = g.front->first_child; c != HD_SPARSE_NONE; c = flow->qr->analysis->fronts[c].next_sibling)
		hd_sparse_release(flow, c, HD_SPARSE_WITH_CONTRIBUTION);
	for (size_t k = 0; k < g.kt && flow->status >= 0; k++) {
		const struct hd_sparse_column column = hd_sparse_column(flow->qr, g.front, k);
		hd_sparse_each_elimination(&column, 0, eliminate, &g);
	}
}

/* Operations on real numbers. */
static double real_flops(const struct heddle_sparse_qr *qr, double flops)
{
	return qr->precision >= HEDDLE_DENSE_COMPLEX_DOUBLE ? 4 * flops : flops;
}

static void subtree(struct hd_sparse_flow *flow, size_t number)
{
	struct heddle_sparse_qr *qr = flow->qr;
	const struct hd_sparse_job job = hd_sparse_job(qr, number);
	size_t f = job.tree->root, elements[HD_SPARSE_N_ENDS];
	const struct hd_sparse_front *root = &qr->analysis->fronts[f];
	struct hd_sparse_node *node = &qr->nodes[f];
	const struct hd_sparse_step step = {.kind = HD_SPARSE_WHOLE, .f = f};
	struct hd_sparse_factor_value value = {.flops = real_flops(qr, job.tree->flops),
	                                       .rates = hd_sparse_rates(qr),
	                                       .qr = qr,
	                                       .values = qr->values,
	                                       .front = number};
	hd_sparse_elements(qr, f, elements);
	node->packed = hd_sparse_register(flow, elements[HD_SPARSE_STAYS] ? elements[HD_SPARSE_STAYS] : 1, 1);
	node->work = hd_sparse_register(flow, elements[HD_SPARSE_WITH_FRONT], 1);
	hd_sparse_task(flow, HD_SPARSE_SUBTREE, hd_sparse_priority(flow, &step));
	hd_sparse_add(flow, heddle_w(node->packed));
	hd_sparse_add(flow, heddle_scratch(node->work));
	if (elements[HD_SPARSE_WITH_CONTRIBUTION] > 0) {
		node->contribution = hd_sparse_register(flow, root->n_contributed, hd_sparse_rest(root));
		hd_sparse_add(flow, heddle_w(node->contribution));
	}
	hd_sparse_submit_with(flow, heddle_value(value));
}

void hd_sparse_front_tasks(struct hd_sparse_flow *flow, size_t f)
{
	const struct heddle_sparse_analysis *a = flow->qr->analysis;
	size_t elements[HD_SPARSE_N_ENDS];
	if (hd_sparse_is_inside(a, f))
		return;
	hd_sparse_elements(flow->qr, f, elements);
	hd_sparse_take_room(flow, elements[0] + elements[1] + elements[2]);
	if (a->fronts[f].subtree == HD_SPARSE_NONE)
		tiled_front(flow, f);
	else
		subtree(flow, a->fronts[f].subtree);
	hd_sparse_release(flow, f, HD_SPARSE_WITH_FRONT);
}
