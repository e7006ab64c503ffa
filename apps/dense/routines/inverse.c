/* Inverses of triangular and of positive definite matrices: trtri, lauum, potri, poinv. The algorithms are those of
 * PLASMA (Agullo, Bouwmeester, Dongarra, Kurzak, Langou, Rosenberg: Towards an efficient tile matrix inversion of
 * symmetric positive definite matrices on multicore architectures, 2010). They are written for the lower triangle; the
 * upper triangle is the mirror image, with sides exchanged.
 *
 * poinv inserts its three sweeps, potrf, trtri and lauum, into one graph: the second begins while the first still runs.
 */
#include <dense/internal.h>

/* Tile (m, n) of the lower triangle, or its mirror image. */
static heddle_data *tile(const struct hd_dense_args *x, size_t m, size_t n)
{
	return x->uplo == HEDDLE_DENSE_LOWER ? hd_dense_tile(x->m[0], m, n) : hd_dense_tile(x->m[0], n, m);
}

static enum heddle_dense_side mirrored(const struct hd_dense_args *x, enum heddle_dense_side side)
{
	int left = (side == HEDDLE_DENSE_LEFT) == (x->uplo == HEDDLE_DENSE_LOWER);
	return left ? HEDDLE_DENSE_LEFT : HEDDLE_DENSE_RIGHT;
}

static void on_diagonal(struct hd_dense_flow *flow, const struct hd_dense_args *x, enum hd_dense_op op, size_t k)
{
	struct hd_dense_diagonal_values v = {x->uplo, x->diag, hd_dense_first_row(x->m[0], k), flow->options.info};
	hd_dense_insert(flow, op, heddle_rw(tile(x, k, k)), heddle_value(v));
}

/* The step of trtri or lauum on tile (m, n) with diagonal tile k, where k is m or n. */
static void with_diagonal(struct hd_dense_flow *flow, const struct hd_dense_args *x, enum hd_dense_op op,
                          const struct hd_dense_triangle_values *v, heddle_data *b, size_t k)
{
	struct hd_dense_triangle_values mine = *v;
	mine.side = mirrored(x, v->side);
	mine.uplo = x->uplo;
	hd_dense_insert(flow, op, heddle_rw(b), heddle_r(tile(x, k, k)), heddle_value(mine));
}

/* A(m, k) := A(m, k) + A(m, n) A(n, k) for k < n < m, or for U, A(k, m) := A(k, m) + A(k, n) A(n, m). */
static void add_products(struct hd_dense_flow *flow, const struct hd_dense_args *x, size_t n)
{
	const heddle_dense_matrix *a = x->m[0];
	struct hd_dense_block_product p = {
	    .c = a,
	    .a = a,
	    .b = a,
	    .k = n,
	    .end = a->mt,
	    .right = a->mt,
	    .values = {HEDDLE_DENSE_NO_TRANS, HEDDLE_DENSE_NO_TRANS, {1, 0}, {1, 0}, 0},
	};
	int lower = x->uplo == HEDDLE_DENSE_LOWER;
	size_t after = a->mt - n - 1;
	struct hd_dense_block block = hd_dense_block(flow, a, lower ? after : n, lower ? n : after);
	if (lower) {
		p.first = n + 1;
		p.right = n;
		hd_dense_insert_blocks(flow, &p, &block);
		return;
	}
	p.end = n;
	for (p.left = n + 1; p.left < a->mt; p.left = p.right) {
		p.right = hd_dense_block_end(p.left, block.across, a->mt);
		hd_dense_insert_blocks(flow, &p, &block);
	}
}

void hd_dense_trtri_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	size_t t = x->m[0]->mt;
	struct hd_dense_triangle_values below = {
	    .side = HEDDLE_DENSE_RIGHT, .diag = x->diag, .alpha = heddle_dense_real(-1)};
	struct hd_dense_triangle_values beside = {
	    .side = HEDDLE_DENSE_LEFT, .diag = x->diag, .alpha = heddle_dense_real(1)};
	for (size_t n = 0; n < t; n++) {
		for (size_t m = n + 1; m < t; m++)
			with_diagonal(flow, x, HD_DENSE_TRSM, &below, tile(x, m, n), n);
		add_products(flow, x, n);
		for (size_t k = 0; k < n; k++)
			with_diagonal(flow, x, HD_DENSE_TRSM, &beside, tile(x, n, k), n);
		on_diagonal(flow, x, HD_DENSE_TRTRI, n);
	}
}

/* A(n, n) := A(n, n) + A(m, n)^H A(m, n), or for U, A(n, n) + A(n, m) A(n, m)^H. */
static void add_square(struct hd_dense_flow *flow, const struct hd_dense_args *x, size_t m, size_t n)
{
	int lower = x->uplo == HEDDLE_DENSE_LOWER;
	struct hd_dense_syrk_values v = {
	    x->uplo, lower ? HEDDLE_DENSE_CONJ_TRANS : HEDDLE_DENSE_NO_TRANS, {1, 0}, {1, 0}};
	hd_dense_insert(flow, HD_DENSE_HERK, heddle_rw(tile(x, n, n)), heddle_r(tile(x, m, n)), heddle_value(v));
}

/* The triangle above row m, or for U left of column m, of L^H L or U U^H:
 * A(k, n) := A(k, n) + A(m, k)^H A(m, n) for n <= k < m, or for U, A(n, k) := A(n, k) + A(n, m) A(k, m)^H. The triangle
 * is divided into strips as wide as a block; below the diagonal tiles a strip is updated in blocks. */
static void add_squares(struct hd_dense_flow *flow, const struct hd_dense_args *x, size_t m)
{
	const heddle_dense_matrix *a = x->m[0];
	int lower = x->uplo == HEDDLE_DENSE_LOWER;
	struct hd_dense_block block = hd_dense_block(flow, a, m, m / 2);
	struct hd_dense_block_product p = {
	    .c = a,
	    .a = a,
	    .b = a,
	    .k = m,
	    .values = {HEDDLE_DENSE_NO_TRANS, HEDDLE_DENSE_NO_TRANS, {1, 0}, {1, 0}, 0},
	};
	/* the width of a strip: columns of L, or rows of U */
	size_t width = lower ? block.across : block.down;
	size_t *strip = lower ? &p.left : &p.first, *strip_end = lower ? &p.right : &p.end;
	size_t *along = lower ? &p.first : &p.left, *along_end = lower ? &p.end : &p.right;
	*(lower ? &p.values.trans_a : &p.values.trans_b) = HEDDLE_DENSE_CONJ_TRANS;
	for (size_t begin = 0, end; begin < m; begin = end) {
		end = hd_dense_block_end(begin, width, m);
		for (size_t n = begin; n < end; n++) {
			add_square(flow, x, m, n);
			*strip = n, *strip_end = *along = n + 1, *along_end = end;
			hd_dense_insert_blocks(flow, &p, &block);
		}
		*strip = begin, *strip_end = *along = end, *along_end = m;
		hd_dense_insert_blocks(flow, &p, &block);
	}
}

void hd_dense_lauum_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	size_t t = x->m[0]->mt;
	struct hd_dense_triangle_values beside = {
	    .side = HEDDLE_DENSE_LEFT, .trans = HEDDLE_DENSE_CONJ_TRANS, .alpha = heddle_dense_real(1)};
	for (size_t m = 0; m < t; m++) {
		add_squares(flow, x, m);
		for (size_t n = 0; n < m; n++)
			with_diagonal(flow, x, HD_DENSE_TRMM, &beside, tile(x, m, n), m);
		on_diagonal(flow, x, HD_DENSE_LAUUM, m);
	}
}

static void potri_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	hd_dense_trtri_tasks(flow, x);
	hd_dense_lauum_tasks(flow, x);
}

static void poinv_tasks(struct hd_dense_flow *flow, const struct hd_dense_args *x)
{
	hd_dense_no_expert(flow);
	hd_dense_potrf_tasks(flow, x);
	potri_tasks(flow, x);
}

static int check_trtri(const struct hd_dense_args *x)
{
	return hd_dense_check_triangle("trtri", x->m[0], x->uplo);
}

static int check_lauum(const struct hd_dense_args *x)
{
	return hd_dense_check_triangle("lauum", x->m[0], x->uplo);
}

static int check_potri(const struct hd_dense_args *x)
{
	return hd_dense_check_triangle("potri", x->m[0], x->uplo);
}

static int check_poinv(const struct hd_dense_args *x)
{
	return hd_dense_check_triangle("poinv", x->m[0], x->uplo);
}

const struct hd_dense_operation hd_dense_trtri_operation = {"trtri", "A", check_trtri, hd_dense_trtri_tasks};
const struct hd_dense_operation hd_dense_lauum_operation = {"lauum", "A", check_lauum, hd_dense_lauum_tasks};
static const struct hd_dense_operation potri = {"potri", "A", check_potri, potri_tasks};
static const struct hd_dense_operation poinv = {"poinv", "A", check_poinv, poinv_tasks};

static int submit(const struct hd_dense_operation *operation, enum heddle_dense_uplo uplo, heddle_dense_matrix *a,
                  const struct heddle_dense_options *options)
{
	return hd_dense_submit(operation, &(struct hd_dense_args){.m = {a}, .uplo = uplo}, options);
}

/* The flags of x are set. */
static int call(heddle_dense *dense, const struct hd_dense_operation *operation, struct hd_dense_args *x,
                const struct heddle_dense_array *a, const struct heddle_dense_options *options)
{
	struct hd_dense_operand operand = {
	    .name = "A", .array = a, .uplo = x->uplo, .mode = HEDDLE_RW, .diag = x->diag};
	return hd_dense_call(dense, operation, x, &operand, options);
}

int heddle_dense_trtri_submit(enum heddle_dense_uplo uplo, enum heddle_dense_diag diag, heddle_dense_matrix *a,
                              const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.m = {a}, .uplo = uplo, .diag = diag};
	return hd_dense_submit(&hd_dense_trtri_operation, &x, options);
}

int heddle_dense_trtri(heddle_dense *dense, enum heddle_dense_uplo uplo, enum heddle_dense_diag diag,
                       const struct heddle_dense_array *a, const struct heddle_dense_options *options)
{
	struct hd_dense_args x = {.uplo = uplo, .diag = diag};
	return call(dense, &hd_dense_trtri_operation, &x, a, options);
}

int heddle_dense_lauum_submit(enum heddle_dense_uplo uplo, heddle_dense_matrix *a,
                              const struct heddle_dense_options *options)
{
	return submit(&hd_dense_lauum_operation, uplo, a, options);
}

int heddle_dense_lauum(heddle_dense *dense, enum heddle_dense_uplo uplo, const struct heddle_dense_array *a,
                       const struct heddle_dense_options *options)
{
	return call(dense, &hd_dense_lauum_operation, &(struct hd_dense_args){.uplo = uplo}, a, options);
}

int heddle_dense_potri_submit(enum heddle_dense_uplo uplo, heddle_dense_matrix *a,
                              const struct heddle_dense_options *options)
{
	return submit(&potri, uplo, a, options);
}

int heddle_dense_potri(heddle_dense *dense, enum heddle_dense_uplo uplo, const struct heddle_dense_array *a,
                       const struct heddle_dense_options *options)
{
	return call(dense, &potri, &(struct hd_dense_args){.uplo = uplo}, a, options);
}

int heddle_dense_poinv_submit(enum heddle_dense_uplo uplo, heddle_dense_matrix *a,
                              const struct heddle_dense_options *options)
{
	return submit(&poinv, uplo, a, options);
}

int heddle_dense_poinv(heddle_dense *dense, enum heddle_dense_uplo uplo, const struct heddle_dense_array *a,
                       const struct heddle_dense_options *options)
{
	return call(dense, &poinv, &(struct hd_dense_args){.uplo = uplo}, a, options);
}
