/* The tasks of a front: a subtree is one; a front on tiles is assembled tile by tile and factorised by the kernels of
 * the tiled QR factorisation, with a flat tree in each column of tiles, down to the staircase.
 *
 * geqrt leaves R and V in one tile, and a copy of V, as in the dense factorisation: tsqrt then changes R alone, while
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

static heddle_data *factor(const struct grid *g, size_t i, size_t k)
{
	return g->node->factors[i + k * g->mt];
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

static void open_tiles(struct grid *g)
{
	struct heddle_sparse_qr *qr = g->flow->qr;
	size_t n_tiles = g->mt * g->nt, n_factors = g->mt * g->kt;
	g->node->tiles = calloc(n_tiles + n_factors + 1, sizeof *g->node->tiles);
	if (!g->node->tiles) {
		g->flow->status = hd_sparse_no_memory("the tiles of a front");
		return;
	}
	g->node->factors = g->node->tiles + n_tiles;
	for (size_t k = 0; k < g->nt; k++) {
		size_t columns = hd_sparse_tile_columns(qr, g->front, k);
		for (size_t i = 0; i < g->mt; i++) {
			size_t rows = hd_sparse_tile_rows(qr, g->front, i, k);
			if (rows == 0)
				break; /* nor do those below exist */
			g->node->tiles[i + k * g->mt] = hd_sparse_register(g->flow, rows, columns);
			if (i >= k)
				g->node->factors[i + k * g->mt] =
				    hd_sparse_register(g->flow, qr->packing.inner, columns);
		}
	}
}

void hd_sparse_drop_front(struct heddle_sparse_qr *qr, size_t f)
{
	struct hd_sparse_node *node = &qr->nodes[f];
	const struct hd_sparse_front *front = &qr->analysis->fronts[f];
	size_t mt = hd_sparse_grid(qr, front->n_rows), nt = hd_sparse_grid(qr, front->n_columns);
	for (size_t i = 0; node->tiles && i < mt * (nt + smaller(mt, nt)); i++)
		hd_sparse_drop(&node->tiles[i]);
	free(node->tiles);
	node->tiles = node->factors = NULL;
	hd_sparse_drop(&node->packed);
	hd_sparse_drop(&node->contribution);
}

/* What the fronts above do not need, and neither R nor, if it is kept, Q. */
static void drop_contribution(struct heddle_sparse_qr *qr, size_t f)
{
	struct hd_sparse_node *node = &qr->nodes[f];
	const struct hd_sparse_front *front = &qr->analysis->fronts[f];
	size_t mt = hd_sparse_grid(qr, front->n_rows), nt = hd_sparse_grid(qr, front->n_columns);
	hd_sparse_drop(&node->contribution);
	for (size_t k = 0; node->tiles && k < nt; k++)
		for (size_t i = 0; i < mt; i++) {
			int has_r = i * qr->options.tile < hd_sparse_r_rows(front);
			int has_v = i >= k && !qr->options.drop_q;
			if (!has_r && !has_v)
				hd_sparse_drop(&node->tiles[i + k * mt]);
		}
}

/* T, and V below the diagonal where it is alone in its tile. */
static void drop_reflectors(struct grid *g)
{
	for (size_t k = 0; k < g->kt; k++)
		for (size_t i = k; i < g->mt; i++) {
			int is_alone = i > k && i * g->flow->qr->options.tile >= hd_sparse_r_rows(g->front);
			hd_sparse_drop(&g->node->factors[i + k * g->mt]);
			if (is_alone)
				hd_sparse_drop(&g->node->tiles[i + k * g->mt]);
		}
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
	struct hd_sparse_factor_value value = {.qr = qr, .values = qr->values, .front = g->f};
	for (size_t k = 0; k < g->nt; k++)
		for (size_t i = 0; i < g->mt && g->flow->status >= 0 && tile(g, i, k); i++) {
			value.row = i;
			value.column = k;
			hd_sparse_task(g->flow, HD_SPARSE_ASSEMBLE, 0);
			hd_sparse_add(g->flow, heddle_w(tile(g, i, k)));
			hd_sparse_tile_sources(qr, g->f, i, k, add_source, g->flow);
			hd_sparse_add(g->flow, heddle_value(value));
			hd_sparse_submit(g->flow);
		}
}

/* The data of a task of QR on tiles. */
struct tiles {
	heddle_data *top, *tile, *v, *t;
};

static void insert(const struct grid *g, enum heddle_dense_qr_kernel kernel, struct tiles x)
{
	struct hd_sparse_flow *flow = g->flow;
	const struct heddle_dense_qr_tile_task task = {
	    .kernel = kernel,
	    .precision = flow->qr->precision,
	    .trans = HEDDLE_DENSE_CONJ_TRANS,
	    .top = x.top,
	    .tile = x.tile,
	    .v = x.v,
	    .t = x.t,
	    .work = flow->qr->tile_work,
	};
	if (flow->status >= 0)
		flow->status = heddle_dense_qr_tile_submit(flow->qr->sparse->dense, &task);
}

/* A copy of the V that geqrt makes of tile (k, k), if that is written again while V is applied. */
static heddle_data *copy_of(const struct grid *g, size_t k)
{
	int is_written = k + 1 < g->mt && tile(g, k + 1, k), is_applied = k + 1 < g->nt;
	if (!is_written || !is_applied)
		return NULL;
	return hd_sparse_register(g->flow, hd_sparse_tile_rows(g->flow->qr, g->front, k, k),
	                          hd_sparse_tile_columns(g->flow->qr, g->front, k));
}

static void reduce_column(const struct grid *g, size_t k)
{
	heddle_data *copy = copy_of(g, k), *diagonal = tile(g, k, k);
	insert(g, HEDDLE_DENSE_GEQRT, (struct tiles){.tile = diagonal, .t = factor(g, k, k), .v = copy});
	for (size_t j = k + 1; j < g->nt; j++)
		insert(g, HEDDLE_DENSE_GEMQRT,
		       (struct tiles){.tile = tile(g, k, j), .t = factor(g, k, k), .v = copy ? copy : diagonal});
	for (size_t i = k + 1; i < g->mt && tile(g, i, k); i++) {
		insert(g, HEDDLE_DENSE_TSQRT,
		       (struct tiles){.top = diagonal, .tile = tile(g, i, k), .t = factor(g, i, k)});
		for (size_t j = k + 1; j < g->nt; j++)
			insert(
			    g, HEDDLE_DENSE_TSMQR,
			    (struct tiles){
			        .top = tile(g, k, j), .tile = tile(g, i, j), .v = tile(g, i, k), .t = factor(g, i, k)});
	}
	hd_sparse_drop(&copy);
}

static void tiled_front(struct hd_sparse_flow *flow, size_t f)
{
	struct grid g = grid_of(flow, f);
	open_tiles(&g);
	if (flow->status >= 0)
		assemble(&g);
	for (size_t c = g.front->first_child; c != HD_SPARSE_NONE; c = flow->qr->analysis->fronts[c].next_sibling)
		drop_contribution(flow->qr, c);
	for (size_t k = 0; k < g.kt && flow->status >= 0; k++)
		if (tile(&g, k, k))
			reduce_column(&g, k);
	if (flow->qr->options.drop_q && flow->status >= 0)
		drop_reflectors(&g);
}

static void subtree(struct hd_sparse_flow *flow, size_t number)
{
	struct heddle_sparse_qr *qr = flow->qr;
	const struct hd_sparse_subtree *tree = &qr->analysis->subtrees[number];
	const struct hd_sparse_front *root = &qr->analysis->fronts[tree->root];
	struct hd_sparse_node *node = &qr->nodes[tree->root];
	struct hd_sparse_factor_value value = {.flops = tree->flops, .qr = qr, .values = qr->values, .front = number};
	size_t packed = qr->packed_at[tree->root] + hd_sparse_packed(root, &qr->packing);
	node->packed = hd_sparse_register(flow, packed > 0 ? packed : 1, 1);
	hd_sparse_task(flow, HD_SPARSE_SUBTREE, 0);
	hd_sparse_add(flow, heddle_w(node->packed));
	hd_sparse_add(flow, heddle_scratch(qr->subtree_work));
	if (root->n_contributed > 0 && !hd_sparse_is_root(root)) {
		node->contribution = hd_sparse_register(flow, root->n_contributed, hd_sparse_rest(root));
		hd_sparse_add(flow, heddle_w(node->contribution));
	}
	hd_sparse_add(flow, heddle_value(value));
	hd_sparse_submit(flow);
}

void hd_sparse_front_tasks(struct hd_sparse_flow *flow, size_t f)
{
	const struct hd_sparse_front *front = &flow->qr->analysis->fronts[f];
	if (front->subtree == HD_SPARSE_NONE)
		tiled_front(flow, f);
	else if (flow->qr->analysis->subtrees[front->subtree].root == f)
		subtree(flow, front->subtree);
}
