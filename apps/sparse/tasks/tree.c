/* The order in which the tiles in a column of a front are eliminated.
 *
 * In a flat tree the tile on the diagonal eliminates all below it, one after the other (TS kernels). So a front with
 * many more rows than columns is one chain. There, rows of tiles are in domains, counted from the diagonal: a flat tree
 * in each, whose first tile becomes a triangle; then the triangles by pairs (TT kernels), as a binary tree (Hadri,
 * Ltaief, Agullo, Dongarra: Tile QR factorization with parallel panel processing for multicore architectures, 2010;
 * Agullo, Buttari, Guermouche, Lopez, 2016, call it hybrid). A pair costs half of what a full tile does. */
#include <sparse/tasks/tasks.h>

enum {
	TALL = 3,    /* a front with so many more rows of tiles than columns has domains */
	SMALLEST = 4 /* rows of tiles in a domain */
};

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t hd_sparse_domain(const struct heddle_sparse_qr *qr, const struct hd_sparse_front *front)
{
	size_t mt = hd_sparse_grid(qr, front->n_rows), nt = hd_sparse_grid(qr, front->n_columns), most = mt ? mt : 1;
	if (qr->options.domain)
		return smaller(qr->options.domain, most);
	size_t workers = heddle_runtime_platform(qr->sparse->rt)->n_workers;
	size_t domain = (mt + workers - 1) / workers;
	return mt < TALL * nt || mt <= SMALLEST ? most : smaller(domain < SMALLEST ? SMALLEST : domain, most);
}

int hd_sparse_is_head(const struct heddle_sparse_qr *qr, const struct hd_sparse_front *front, size_t i, size_t k)
{
	return i >= k && (i - k) % hd_sparse_domain(qr, front) == 0;
}

struct hd_sparse_column hd_sparse_column(const struct heddle_sparse_qr *qr, const struct hd_sparse_front *front,
                                         size_t k)
{
	size_t last = smaller((k + 1) * qr->options.tile, front->n_columns) - 1;
	return (struct hd_sparse_column){
	    .k = k, .end = hd_sparse_grid(qr, (size_t)front->stair[last]), .domain = hd_sparse_domain(qr, front)};
}

struct visit {
	const struct hd_sparse_column *column;
	hd_sparse_eliminate eliminate;
	void *arg;
};

static void eliminate(const struct visit *v, enum hd_sparse_kind kind, size_t top, size_t tile)
{
	const struct hd_sparse_elimination e = {kind, v->column->k, top, tile};
	v->eliminate(v->arg, &e);
}

/* The first triangle and what it eliminates, of each domain. */
static void in_domains(const struct visit *v, int backward)
{
	const struct hd_sparse_column *c = v->column;
	for (size_t head = c->k; head < c->end; head += c->domain) {
		size_t end = smaller(head + c->domain, c->end);
		if (!backward)
			eliminate(v, HD_SPARSE_GEQRT, head, head);
		for (size_t i = head + 1; i < end; i++)
			eliminate(v, HD_SPARSE_TSQRT, head, backward ? head + end - i : i);
		if (backward)
			eliminate(v, HD_SPARSE_GEQRT, head, head);
	}
}

void hd_sparse_each_elimination(const struct hd_sparse_column *c, int backward, hd_sparse_eliminate to, void *arg)
{
	const struct visit v = {c, to, arg};
	size_t rows = c->end > c->k ? c->end - c->k : 0, farthest = c->domain;
	while (2 * farthest < rows)
		farthest *= 2;
	if (!backward)
		in_domains(&v, 0);
	for (size_t step = c->domain; step <= farthest; step *= 2) {
		size_t apart = backward ? farthest / (step / c->domain) : step;
		for (size_t i = c->k + apart; i < c->end; i += 2 * apart)
			eliminate(&v, HD_SPARSE_TTQRT, i - apart, i);
	}
	if (backward)
		in_domains(&v, 1);
}
