/* C := alpha op(A) op(B) + beta C. */
#include <dense/internal.h>

void hd_dense_scale_tasks(struct hd_dense_flow *flow, const heddle_dense_matrix *a, enum heddle_dense_uplo uplo,
                          int hermitian, heddle_dense_scalar beta)
{
	for (size_t j = 0; j < a->nt && !hd_dense_is(beta, 1); j++) {
		for (size_t i = 0; i < a->mt; i++) {
			if (uplo != HEDDLE_DENSE_GENERAL && (uplo == HEDDLE_DENSE_LOWER ? i < j : i > j))
				continue;
			struct hd_dense_add_values v = {.window = hd_dense_tile_window(a, i, j), .beta = beta};
			v.window.uplo = uplo;
			v.window.kind = hermitian ? HEDDLE_DENSE_HERMITIAN : HEDDLE_DENSE_RANDOM;
			enum heddle_mode mode = hd_dense_is(beta, 0) ? hd_dense_overwrites(a, uplo, i, j) : HEDDLE_RW;
			hd_dense_insert(flow, HD_DENSE_SCALE, heddle_access(mode, hd_dense_tile(a, i, j)),
			                heddle_value(v));
		}
	}
}

enum { MOST_DOWN = 16, MOST_ACROSS = 8 };

static size_t least(size_t x, size_t y)
{
	return x < y ? x : y;
}

/* Prefers tall blocks to wide blocks: B is copied once for all rows of the block, and A once for all of its columns. */
struct hd_dense_block hd_dense_block(const struct hd_dense_flow *flow, const heddle_dense_matrix *c, size_t rows,
                                     size_t columns)
{
	enum { ROWS = 3072, COLUMNS = 1536, PER_WORKER = 4 };
	const struct heddle_platform *machine = heddle_runtime_platform(flow->dense->rt);
	size_t fair = rows * columns / (PER_WORKER * machine->n_workers), tile = c->shape.tile;
	struct hd_dense_block block = {1, 1};
	if (c->temporary || c->unit > 1 || machine->n_nodes > 1 || fair < 2)
		return block;
	if (tile <= ROWS)
		block.down = least(least(ROWS / tile, MOST_DOWN), least(fair, rows));
	if (tile <= COLUMNS && fair >= block.down)
		block.across = least(least(COLUMNS / tile, MOST_ACROSS), least(fair / block.down, columns));
	return block;
}

void hd_dense_insert_block(struct hd_dense_flow *flow, const struct hd_dense_block_product *p)
{
	enum { MOST_ITEMS = 3 + MOST_DOWN * MOST_ACROSS + MOST_DOWN + MOST_ACROSS };
	struct heddle_item items[MOST_ITEMS];
	enum heddle_mode mode = hd_dense_is(p->values.beta, 0) ? HEDDLE_W : HEDDLE_RW;
	struct hd_dense_gemm_values v = p->values;
	size_t n = 2;
	for (size_t j = p->left; j < p->right; j++)
		for (size_t i = p->first; i < p->end; i++)
			items[n++] = heddle_access(mode, hd_dense_tile(p->c, i, j));
	for (size_t i = p->first; i < p->end; i++)
		items[n++] = heddle_r(v.trans_a ? hd_dense_tile(p->a, p->k, i) : hd_dense_tile(p->a, i, p->k));
	for (size_t j = p->left; j < p->right; j++)
		items[n++] = heddle_r(v.trans_b ? hd_dense_tile(p->b, j, p->k) : hd_dense_tile(p->b, p->k, j));
	v.across = p->right - p->left;
	items[n++] = heddle_value(v);
	flow->times = (int)((p->end - p->first) * v.across);
	hd_dense_insert_items(flow, HD_DENSE_GEMM, n, items);
}

void hd_dense_insert_blocks(struct hd_dense_flow *flow, const struct hd_dense_block_product *p,
                            const struct hd_dense_block *block)
{
	struct hd_dense_block_product part = *p;
	for (part.first = p->first; part.first < p->end; part.first = part.end) {
		part.end = hd_dense_block_end(part.first, block->down, p->end);
		for (part.left = p->left; part.left < p->right; part.left = part.right) {
			part.right = hd_dense_block_end(part.left, block->across, p->right);
			hd_dense_insert_block(flow, &part);
		}
	}
}

/* The first product into a tile scales the tile by beta; for later products beta is 1. */
void hd_dense_gemm_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	const heddle_dense_matrix *a = x->m[0], *b = x->m[1], *c = x->m[2];
	size_t kt = x->trans_a ? a->mt : a->nt;
	if (kt == 0 || hd_dense_is(x->alpha, 0)) {
		hd_dense_scale_tasks(flow, c, HEDDLE_DENSE_GENERAL, 0, x->beta);
		return;
	}
	struct hd_dense_block block = hd_dense_block(flow, c, c->mt, c->nt);
	struct hd_dense_block_product p = {
	    .c = c, .a = a, .b = b, .values = {x->trans_a, x->trans_b, x->alpha, x->beta, 0}};
	for (p.left = 0; p.left < c->nt; p.left = p.right) {
		p.right = hd_dense_block_end(p.left, block.across, c->nt);
		for (p.first = 0; p.first < c->mt; p.first = p.end) {
			p.end = hd_dense_block_end(p.first, block.down, c->mt);
			p.values.beta = x->beta;
			for (p.k = 0; p.k < kt; p.k++) {
				hd_dense_insert_block(flow, &p);
				p.values.beta = heddle_dense_real(1);
			}
		}
	}
}

static int check(const struct hd_dense_args *x)
{
	const struct heddle_dense_shape *a = &x->m[0]->shape, *b = &x->m[1]->shape, *c = &x->m[2]->shape;
	size_t m = x->trans_a ? a->columns : a->rows, k = x->trans_a ? a->rows : a->columns;
	size_t k_b = x->trans_b ? b->columns : b->rows, n = x->trans_b ? b->rows : b->columns;
	for (int i = 0; i < 3; i++)
		if (hd_dense_check_full("gemm", x->m[i]) < 0)
			return HEDDLE_E_INVALID;
	if (c->rows == m && c->columns == n && k == k_b)
		return 0;
	return heddle_error(HEDDLE_E_INVALID, "gemm: op(A) is %zu x %zu, op(B) is %zu x %zu and C is %zu x %zu", m, k,
	                    k_b, n, c->rows, c->columns);
}

const struct hd_dense_operation hd_dense_gemm_operation = {"gemm", "ABC", check, hd_dense_gemm_tasks};

int heddle_dense_gemm_submit(enum heddle_dense_trans trans_a, enum heddle_dense_trans trans_b,
                             heddle_dense_scalar alpha, heddle_dense_matrix *a, heddle_dense_matrix *b,
                             heddle_dense_scalar beta, heddle_dense_matrix *c,
                             const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.m = {a, b, c}, .trans_a = trans_a, .trans_b = trans_b, .alpha = alpha, .beta = beta};
	return hd_dense_submit(&hd_dense_gemm_operation, &x, options);
}

int heddle_dense_gemm(heddle_dense *dense, enum heddle_dense_trans trans_a, enum heddle_dense_trans trans_b,
                      heddle_dense_scalar alpha, const struct heddle_dense_array *a, const struct heddle_dense_array *b,
                      heddle_dense_scalar beta, const struct heddle_dense_array *c,
                      const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.trans_a = trans_a, .trans_b = trans_b, .alpha = alpha, .beta = beta};
	struct hd_dense_operand operands[] = {
	    {.name = "A", .array = a, .mode = HEDDLE_R, .factor = &alpha},
	    {.name = "B", .array = b, .mode = HEDDLE_R, .factor = &alpha},
	    {.name = "C", .array = c, .mode = HEDDLE_RW, .factor = &beta},
	};
	return hd_dense_call(dense, &hd_dense_gemm_operation, &x, operands, options);
}
