/* Priorities of tasks: what is left to do on the longest path from the task to the root of the tree, in about the
 * operations of a kernel on a tile; or the priorities of qr_mumps: fronts in the order of submission, in each front the
 * kernels that others wait for (Agullo, Buttari, Guermouche, Lopez, 2016).
 *
 * A flat tree of mt x nt tiles takes 18 nt + 12 mt thirds of the cube of the order of a tile, but for a constant
 * (Bouwmeester, Jacquelin, Langou, Robert, 2011): 18 from one column to the next, 12 from one row to the next. In
 * domains, that is the rows of a domain, and 6 for each time that triangles are paired. */
#include <sparse/tasks/tasks.h>
#include <limits.h>
#include <stdlib.h>

enum { PER_COLUMN = 18, PER_ROW = 12, PER_PAIR = 6 };

struct hd_sparse_levels {
	double scale;
	double above[]; /* of each front: what is left to do when it is factorised */
};

/* A third of the cube of the order of the front's tiles. */
static double unit_of(const struct heddle_sparse_qr *qr, const struct hd_sparse_front *front)
{
	double tile = (double)qr->options.tile, m = (double)front->n_rows, n = (double)front->n_columns;
	m = m < tile ? m : tile;
	n = n < tile ? n : tile;
	return m * n * n / 3;
}

/* How often as many rows of tiles, of which a domain has some, are paired. */
static double pairs_of(size_t rows, size_t domain)
{
	double pairs = 0;
	for (size_t apart = domain; apart < rows; apart *= 2)
		pairs++;
	return pairs;
}

/* What is left to do in the column of the tile, when it is counted `below` rows below the diagonal. */
static double left_in_column(enum hd_sparse_kind kind, size_t mt, size_t domain, size_t below)
{
	double pairs = pairs_of(mt, domain);
	if (kind == HD_SPARSE_TTQRT || kind == HD_SPARSE_TTMQR) {
		for (size_t apart = domain; below % (2 * apart) == 0; apart *= 2)
			pairs--;
		return PER_PAIR * pairs;
	}
	return PER_ROW * (double)((domain < mt ? domain : mt) - below % domain) + PER_PAIR * pairs;
}

static double path_of(const struct heddle_sparse_qr *qr, const struct hd_sparse_front *front)
{
	size_t mt = hd_sparse_grid(qr, front->n_rows), nt = hd_sparse_grid(qr, front->n_columns);
	if (front->subtree != HD_SPARSE_NONE)
		return qr->analysis->subtrees[front->subtree].flops;
	return unit_of(qr, front) *
	       (PER_COLUMN * (double)nt + left_in_column(HD_SPARSE_GEQRT, mt, hd_sparse_domain(qr, front), 0));
}

struct hd_sparse_levels *hd_sparse_levels_new(const struct heddle_sparse_qr *qr)
{
	const struct heddle_sparse_analysis *a = qr->analysis;
	struct hd_sparse_levels *levels = calloc(1, sizeof *levels + (a->n_fronts + 1) * sizeof *levels->above);
	double most = 1;
	for (size_t f = a->n_fronts; levels && f-- > 0;) {
		size_t parent = a->fronts[f].parent;
		if (parent != HD_SPARSE_NONE)
			levels->above[f] = levels->above[parent] + path_of(qr, &a->fronts[parent]);
		double level = levels->above[f] + path_of(qr, &a->fronts[f]);
		most = level > most ? level : most;
	}
	if (levels)
		levels->scale = INT_MAX / 4 / most;
	return levels;
}

/* What is left to do in the front, in thirds of the cube of a tile. */
static double left_in_front(const struct heddle_sparse_qr *qr, const struct hd_sparse_step *s)
{
	const struct hd_sparse_front *front = &qr->analysis->fronts[s->f];
	size_t mt = hd_sparse_grid(qr, front->n_rows), nt = hd_sparse_grid(qr, front->n_columns);
	double left = left_in_column(s->kind, mt - s->k, hd_sparse_domain(qr, front), s->i - s->k);
	return PER_COLUMN * (double)(nt - s->j) + PER_ROW * (double)(s->j - s->k) + left;
}

static int by_path(const struct hd_sparse_flow *flow, const struct hd_sparse_step *s)
{
	const struct hd_sparse_front *front = &flow->qr->analysis->fronts[s->f];
	double left = s->kind == HD_SPARSE_WHOLE ? path_of(flow->qr, front)
	                                         : unit_of(flow->qr, front) * left_in_front(flow->qr, s);
	return (int)((flow->levels->above[s->f] + left) * flow->levels->scale);
}

int hd_sparse_priority(const struct hd_sparse_flow *flow, const struct hd_sparse_step *s)
{
	static const int in_front[] = {3, 2, 1, 0, 3, 0, 3};
	if (flow->levels)
		return by_path(flow, s);
	if (flow->qr->options.priority != HEDDLE_SPARSE_PRIORITY_TREE)
		return 0;
	size_t place = flow->qr->analysis->n_fronts - s->f;
	return (place < INT_MAX / 8 ? 4 * (int)place : INT_MAX / 2) + in_front[s->kind];
}
