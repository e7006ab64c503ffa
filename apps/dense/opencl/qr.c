/* gemqrt, tsmqr and ttmqr on OpenCL devices: their data and values are those of codelets/qr_template.h. Panels (geqrt,
 * tsqrt, ttqrt) run on CPU cores, as in the papers on sparse QR. Blocks of reflectors are those of
 * dense/kernels/qr_template.h; here a block is applied to all columns or rows of a tile at once. */
#include <dense/codelets/qr.h>
#include <dense/opencl/codelets.h>
#include <dense/opencl/enqueue.h>

static const heddle_dense_scalar one = {1, 0}, minus_one = {-1, 0};

/* A task: Q or Q^H, from the left or the right. */
struct product {
	struct hd_ocl w;
	int left, trans, first;
	struct hd_ocl_matrix t;    /* T of all blocks of reflectors */
	struct hd_ocl_matrix copy; /* for a copy of a block of V, with as many rows as V */
	struct hd_ocl_matrix x, y; /* workspaces: a block of rows or columns of the matrix that Q is applied to */
};

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

/* Begins a task that multiplies `size` columns (or, from the right, rows) by Q. V and T of Q are the data v and v + 1
 * of the task. */
static struct product begin(heddle_context *c, enum heddle_dense_precision precision, size_t v)
{
	const struct hd_dense_qr_values *how = heddle_value_ptr(c, 0);
	struct product p = {
	    .left = how->side == HEDDLE_DENSE_LEFT, .trans = how->trans != HEDDLE_DENSE_NO_TRANS, .first = how->first};
	size_t rows = heddle_extent(c, v, 0), ib = heddle_extent(c, v + 1, 0);
	size_t size = heddle_extent(c, v - 1, p.left ? 1 : 0);
	p.w = hd_ocl_begin(c, precision, ib * (rows + 2 * size), 0);
	p.t = hd_ocl_tile(&p.w, v + 1);
	p.copy = hd_ocl_scratch(&p.w, (int)rows, (int)ib);
	p.x = hd_ocl_scratch(&p.w, p.left ? (int)ib : (int)size, p.left ? (int)size : (int)ib);
	p.y = hd_ocl_scratch(&p.w, p.x.m, p.x.n);
	return p;
}

/* The first column of block number n of k columns, in the order in which blocks are applied. */
static int nth_block(const struct product *p, int n, int k)
{
	int ib = p->t.m, is_forward = p->left == p->trans;
	return (is_forward ? n : (k - 1) / ib - n) * ib;
}

/* The rows of A from `first` on, or its columns if Q is applied from the right. */
static struct hd_ocl_matrix slice(const struct product *p, struct hd_ocl_matrix a, int first, int count)
{
	return p->left ? hd_ocl_part(a, first, 0, count, a.n) : hd_ocl_part(a, 0, first, a.m, count);
}

/* C := alpha A B + beta C, or with A on the right of B. `adjoint`: A^H. */
static void multiply(struct product *p, int adjoint, heddle_dense_scalar alpha, const struct hd_ocl_matrix ab[2],
                     heddle_dense_scalar beta, struct hd_ocl_matrix c)
{
	struct hd_ocl_call x = {.alpha = alpha, .beta = beta, .c = c, .a = ab[!p->left], .b = ab[p->left]};
	if (adjoint)
		x.flags = p->left ? HD_OCL_TRANS_A | HD_OCL_CONJ_A : HD_OCL_TRANS_B | HD_OCL_CONJ_B;
	x.k = p->left && adjoint ? x.a.m : x.a.n;
	hd_ocl_product(&p->w, &x);
}

/* Applies 1 - V T V^H for V = V2, or, if `top` is not NULL, V = [1; V2] to [C1; C2], where C1 is *top. */
static void apply(struct product *p, struct hd_ocl_matrix v, struct hd_ocl_matrix t, const struct hd_ocl_matrix *top,
                  struct hd_ocl_matrix c)
{
	const heddle_dense_scalar none = {0, 0};
	struct hd_ocl_matrix x = slice(p, p->x, 0, v.n), y = slice(p, p->y, 0, v.n);
	if (top)
		hd_ocl_combine(&p->w, &(struct hd_ocl_call){.alpha = one, .a = *top, .c = x});
	multiply(p, p->left, one, (const struct hd_ocl_matrix[]){v, c}, top ? one : none, x);
	multiply(p, p->trans, one, (const struct hd_ocl_matrix[]){t, x}, none, y);
	if (top)
		hd_ocl_combine(&p->w, &(struct hd_ocl_call){.alpha = minus_one, .beta = one, .a = y, .c = *top});
	multiply(p, !p->left, minus_one, (const struct hd_ocl_matrix[]){v, y}, one, c);
}

static struct hd_ocl_matrix block_of_t(const struct product *p, int i, int k)
{
	return hd_ocl_part(p->t, 0, i, k, k);
}

static int gemqrt(heddle_context *c, enum heddle_dense_precision precision)
{
	struct product p = begin(c, precision, 1);
	struct hd_ocl_matrix to = hd_ocl_tile(&p.w, 0), v = hd_ocl_tile(&p.w, 1);
	int first = smaller(p.first, v.m);
	v = hd_ocl_part(v, first, 0, v.m - first, smaller(v.m - first, v.n));
	for (int n = 0; n * p.t.m < v.n; n++) {
		int i = nth_block(&p, n, v.n), k = smaller(v.n - i, p.t.m), rows = v.m - i;
		struct hd_ocl_matrix unit = hd_ocl_part(p.copy, 0, 0, rows, k);
		hd_ocl_combine(&p.w, &(struct hd_ocl_call){.flags = HD_OCL_A_LOWER | HD_OCL_A_UNIT,
		                                           .alpha = one,
		                                           .a = hd_ocl_part(v, i, i, rows, k),
		                                           .c = unit});
		apply(&p, unit, block_of_t(&p, i, k), NULL, slice(&p, to, first + i, rows));
	}
	return hd_ocl_end(&p.w);
}
HD_OCL_KERNELS(gemqrt)

/* Copies columns of V from i on, with zeros below the diagonal; V is a triangle below `first` full rows. */
static struct hd_ocl_matrix copy_triangle(struct product *p, struct hd_ocl_matrix v, int i, int k)
{
	int full = smaller(v.m, p->first + i), rows = smaller(v.m, p->first + i + k);
	struct hd_ocl_call copy = {.alpha = one, .a = hd_ocl_part(v, 0, i, full, k)};
	copy.c = hd_ocl_part(p->copy, 0, 0, full, k);
	hd_ocl_combine(&p->w, &copy);
	copy.flags = HD_OCL_A_UPPER;
	copy.a = hd_ocl_part(v, full, i, rows - full, k);
	copy.c = hd_ocl_part(p->copy, full, 0, rows - full, k);
	hd_ocl_combine(&p->w, &copy);
	return hd_ocl_part(p->copy, 0, 0, rows, k);
}

/* Applies reflectors of a full tile or (`triangle`) of a triangle to a pair of tiles. */
static int pair(heddle_context *c, enum heddle_dense_precision precision, int triangle)
{
	struct product p = begin(c, precision, 2);
	struct hd_ocl_matrix top = hd_ocl_tile(&p.w, 0), to = hd_ocl_tile(&p.w, 1), v = hd_ocl_tile(&p.w, 2);
	for (int n = 0; n * p.t.m < v.n; n++) {
		int i = nth_block(&p, n, v.n), k = smaller(v.n - i, p.t.m);
		struct hd_ocl_matrix block = triangle ? copy_triangle(&p, v, i, k) : hd_ocl_part(v, 0, i, v.m, k);
		struct hd_ocl_matrix above = slice(&p, top, p.first + i, k);
		apply(&p, block, block_of_t(&p, i, k), &above, slice(&p, to, 0, block.m));
	}
	return hd_ocl_end(&p.w);
}

static int tsmqr(heddle_context *c, enum heddle_dense_precision precision)
{
	return pair(c, precision, 0);
}
HD_OCL_KERNELS(tsmqr)

static int ttmqr(heddle_context *c, enum heddle_dense_precision precision)
{
	return pair(c, precision, 1);
}
HD_OCL_KERNELS(ttmqr)

const struct hd_ocl_codelet hd_ocl_qr[] = {
    {HD_DENSE_GEMQRT, HD_OCL_FOUR(gemqrt), 0},
    {HD_DENSE_TSMQR, HD_OCL_FOUR(tsmqr), 0},
    {HD_DENSE_TTMQR, HD_OCL_FOUR(ttmqr), 0},
    {.kernels = {NULL}},
};
