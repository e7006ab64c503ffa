/* The kernels of dense linear algebra in OpenCL C 1.2, for one precision: options define DOUBLE or not, COMPLEX or not.
 *
 * All have the same arguments: up to three matrices, places for what a kernel finds, extents, two scalars. Element
 * (i, j) of a matrix in place p is p[s.at + i + j * s.ld]. enqueue.h describes each kernel, and has the same structure
 * and flags. Extents may be any, also 0; what is outside of a matrix is neither read nor written. */

#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#ifdef DOUBLE
typedef double real;
typedef double2 pair;
#else
typedef float real;
typedef float2 pair;
#endif

enum {
	TRANS_A = 1,
	CONJ_A = 2,
	TRANS_B = 4,
	CONJ_B = 8,
	LOWER = 16,
	UPPER = 32,
	UNIT = 64,
	REAL_DIAGONAL = 128,
	A_LOWER = 256,
	A_UPPER = 512,
	A_UNIT = 1024,
	A_MIRRORED = 2048,
	A_HERMITIAN = 4096,
	A_IDENTITY = 8192,
	RIGHT = 16384,
	FIRST = 32768,
	SKIP_ZEROS = 65536,
};

struct shape {
	long at_a, at_b, at_c;
	int ld_a, ld_b, ld_c;
	int m, n, k;
	int diagonal;
	int flags;
};

/* --- Elements ----------------------------------------------------------------------------------------------------- */

#ifdef COMPLEX
typedef pair element;
#define ZERO ((element)(0, 0))
#define ONE ((element)(1, 0))

element times(element a, element b)
{
	return (element)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

/* By Smith's method, which does not overflow halfway. */
element over(element a, element b)
{
	if (fabs(b.x) >= fabs(b.y)) {
		real r = b.y / b.x, d = b.x + b.y * r;
		return (element)((a.x + a.y * r) / d, (a.y - a.x * r) / d);
	}
	real r = b.x / b.y, d = b.x * r + b.y;
	return (element)((a.x * r + a.y) / d, (a.y * r - a.x) / d);
}

element conjugate(element a)
{
	return (element)(a.x, -a.y);
}

#define REAL(a) ((a).x)
#define OF_REAL(a) ((element)((a), 0))
#define SIZE(a) (fabs((a).x) + fabs((a).y))
#define IS(a, value) ((a).x == (value) && (a).y == 0)
#define IS_NAN(a) (isnan((a).x) || isnan((a).y))
#else
typedef real element;
#define ZERO ((element)0)
#define ONE ((element)1)
#define times(a, b) ((a) * (b))
#define over(a, b) ((a) / (b))
#define conjugate(a) (a)
#define REAL(a) (a)
#define OF_REAL(a) (a)
#define SIZE(a) fabs(a)
#define IS(a, value) ((a) == (value))
#define IS_NAN(a) isnan(a)
#endif

/* --- product ------------------------------------------------------------------------------------------------------ */

enum { BLOCK = 64, SIDE = 16, EACH = BLOCK / SIDE };
#if defined(DOUBLE) && defined(COMPLEX)
enum { STEP = 8 }; /* so that two blocks take 16 KiB of local memory */
#else
enum { STEP = 16 };
#endif

/* Element (i, l) of op(A), for a matrix of m x k elements. */
element of_factor(global const element *a, int i, int l, int m, int k, int ld, int trans, int conj)
{
	if (i >= m || l >= k)
		return ZERO;
	element x = trans ? a[l + (long)i * ld] : a[i + (long)l * ld];
	return conj ? conjugate(x) : x;
}

/* A group computes a block of BLOCK x BLOCK elements of C, a work-item EACH x EACH of them. */
kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1))) void product(global const element *a,
                                                                         global const element *b, global element *c,
                                                                         global int *found, struct shape s,
                                                                         element alpha, element beta)
{
	local element block_a[STEP][BLOCK], block_b[STEP][BLOCK];
	element sum[EACH][EACH];
	int x = get_local_id(0), y = get_local_id(1), first_row = get_group_id(0) * BLOCK,
	    first_column = get_group_id(1) * BLOCK;
	int trans_a = s.flags & TRANS_A, trans_b = s.flags & TRANS_B;
	int outside = (s.flags & LOWER && first_row + BLOCK <= first_column) ||
	              (s.flags & UPPER && first_row >= first_column + BLOCK);
	int terms = outside || IS(alpha, 0) ? 0 : s.k;
	a += s.at_a;
	b += s.at_b;
	c += s.at_c;
	for (int i = 0; i < EACH; i++)
		for (int j = 0; j < EACH; j++)
			sum[i][j] = ZERO;
	for (int first = 0; first < terms; first += STEP) {
		for (int e = x + SIDE * y; e < BLOCK * STEP; e += SIDE * SIDE) {
			int i = trans_a ? e / STEP : e % BLOCK, l = trans_a ? e % STEP : e / BLOCK;
			block_a[l][i] = of_factor(a, first_row + i, first + l, s.m, s.k, s.ld_a, trans_a, s.flags & CONJ_A);
			i = trans_b ? e % BLOCK : e / STEP;
			l = trans_b ? e / BLOCK : e % STEP;
			block_b[l][i] =
			    of_factor(b, first_column + i, first + l, s.n, s.k, s.ld_b, !trans_b, s.flags & CONJ_B);
		}
		barrier(CLK_LOCAL_MEM_FENCE);
		for (int l = 0; l < STEP; l++)
			for (int i = 0; i < EACH; i++)
				for (int j = 0; j < EACH; j++)
					sum[i][j] += times(block_a[l][x + i * SIDE], block_b[l][y + j * SIDE]);
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	for (int j = 0; j < EACH; j++)
		for (int i = 0; i < EACH; i++) {
			int row = first_row + x + i * SIDE, column = first_column + y + j * SIDE;
			if (row >= s.m || column >= s.n || (s.flags & LOWER && row < column) ||
			    (s.flags & UPPER && row > column))
				continue;
			long place = row + (long)column * s.ld_c;
			element value = times(alpha, sum[i][j]);
			if (!IS(beta, 0))
				value += times(beta, c[place]);
			c[place] = s.flags & REAL_DIAGONAL && row == column ? OF_REAL(REAL(value)) : value;
		}
}

/* --- combine ------------------------------------------------------------------------------------------------------ */

/* Element (i, j) of what A stands for. */
element meant(global const element *a, int i, int j, struct shape s)
{
	int conj = s.flags & CONJ_A;
	if (s.flags & A_IDENTITY)
		return i == j + s.diagonal ? ONE : ZERO;
	if (s.flags & TRANS_A || (s.flags & A_MIRRORED && (s.flags & A_LOWER ? i < j : i > j))) {
		int kept = i;
		i = j;
		j = kept;
		conj ^= s.flags & A_HERMITIAN ? CONJ_A : 0;
	}
	if (i == j && s.flags & A_UNIT)
		return ONE;
	if ((s.flags & A_LOWER && i < j) || (s.flags & A_UPPER && i > j))
		return ZERO;
	element x = a[s.at_a + i + (long)j * s.ld_a];
	if (i == j && s.flags & A_HERMITIAN)
		x = OF_REAL(REAL(x));
	return conj ? conjugate(x) : x;
}

/* Whether element (i, j) belongs to the part of the matrix that is meant. */
int is_in_part(int i, int j, struct shape s)
{
	int below = i - j - s.diagonal;
	return i < s.m && j < s.n && !(s.flags & LOWER && below < 0) && !(s.flags & UPPER && below > 0) &&
	       !(s.flags & UNIT && below == 0);
}

kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1))) void combine(global const element *a,
                                                                         global const element *b, global element *c,
                                                                         global int *found, struct shape s,
                                                                         element alpha, element beta)
{
	int i = get_global_id(0), j = get_global_id(1);
	if (!is_in_part(i, j, s))
		return;
	long place = s.at_c + i + (long)j * s.ld_c;
	element value = ZERO;
	if (!IS(alpha, 0)) {
		element x = meant(a, i, j, s);
		value = IS(alpha, 1) ? x : times(alpha, x);
	}
	if (!IS(beta, 0))
		value += times(beta, c[place]);
	c[place] = s.flags & REAL_DIAGONAL && i == j + s.diagonal ? OF_REAL(REAL(value)) : value;
}

/* --- solve -------------------------------------------------------------------------------------------------------- */

enum { LEAF = 32, ITEMS = 64 };

/* A work-item solves one system: a column of C, or a row of it. */
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void solve(global const element *a, global const element *b,
                                                                     global element *c, global int *found,
                                                                     struct shape s, element alpha, element beta)
{
	local element t[LEAF][LEAF];
	int right = s.flags & RIGHT, trans = s.flags & TRANS_A, order = s.k;
	int forward = ((s.flags & A_LOWER) != 0) == (!trans == !right), v = get_global_id(0);
	long between = right ? s.ld_c : 1; /* from one unknown to the next */
	for (int e = get_local_id(0); e < LEAF * LEAF; e += ITEMS) {
		int i = e % LEAF, k = e / LEAF;
		if (i < order && k < order) {
			element x = a[s.at_a + i + (long)k * s.ld_a];
			x = s.flags & CONJ_A ? conjugate(x) : x;
			if (!trans == !right)
				t[i][k] = x;
			else
				t[k][i] = x;
		}
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	if (v >= (right ? s.m : s.n))
		return;
	c += s.at_c + (right ? v : (long)v * s.ld_c);
	for (int step = 0; step < order; step++) {
		int i = forward ? step : order - 1 - step;
		element x = IS(alpha, 0) ? ZERO : times(alpha, c[i * between]);
		for (int done = 0; done < step; done++) {
			int k = forward ? done : order - 1 - done;
			x -= times(t[i][k], c[k * between]);
		}
		if (!(s.flags & A_UNIT) && !(s.flags & SKIP_ZEROS && !(SIZE(t[i][i]) > 0)))
			x = over(x, t[i][i]);
		c[i * between] = x;
	}
}

/* --- The blocks on the diagonal ----------------------------------------------------------------------------------- */

/* Notes a failure in row `bad` >= 1 of the block, unless one has been found before. */
void note(global int *found, int bad, int is_nan, struct shape s)
{
	int before = s.flags & FIRST ? 0 : found[0];
	if (before == 0) {
		found[0] = bad ? s.diagonal + bad : 0;
		found[1] = is_nan;
	}
}

/* A work-item has a row of the lower triangle, or of the upper one's conjugate transpose. */
kernel __attribute__((reqd_work_group_size(LEAF, 1, 1))) void cholesky(global const element *a, global const element *b,
                                                                       global element *c, global int *found,
                                                                       struct shape s, element alpha, element beta)
{
	local element l[LEAF][LEAF + 1];
	local int bad;
	int i = get_local_id(0), n = s.n, lower = s.flags & LOWER;
	c += s.at_c;
	if (i == 0)
		bad = 0;
	for (int j = 0; j < n; j++)
		if (j <= i && i < n)
			l[i][j] = lower ? c[i + (long)j * s.ld_c] : conjugate(c[j + (long)i * s.ld_c]);
	for (int j = 0; j < n; j++) {
		barrier(CLK_LOCAL_MEM_FENCE);
		if (i == j) {
			real pivot = REAL(l[j][j]);
			if (!(pivot > 0) && bad == 0)
				bad = j + 1;
			l[j][j] = OF_REAL(sqrt(pivot));
		}
		barrier(CLK_LOCAL_MEM_FENCE);
		if (i > j && i < n)
			l[i][j] /= REAL(l[j][j]);
		barrier(CLK_LOCAL_MEM_FENCE);
		if (i > j && i < n)
			for (int k = j + 1; k <= i; k++)
				l[i][k] -= times(l[i][j], conjugate(l[k][j]));
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int j = 0; j < n; j++)
		if (j <= i && i < n) {
			if (lower)
				c[i + (long)j * s.ld_c] = l[i][j];
			else
				c[j + (long)i * s.ld_c] = conjugate(l[i][j]);
		}
	if (i == 0)
		note(found, bad, 0, s);
}

kernel __attribute__((reqd_work_group_size(LEAF, 1, 1))) void lu(global const element *a, global const element *b,
                                                                 global element *c, global int *found, struct shape s,
                                                                 element alpha, element beta)
{
	local element l[LEAF][LEAF + 1];
	local int bad, is_nan;
	int i = get_local_id(0);
	c += s.at_c;
	if (i == 0)
		bad = is_nan = 0;
	for (int j = 0; j < s.n; j++)
		if (i < s.m)
			l[i][j] = c[i + (long)j * s.ld_c];
	for (int j = 0; j < s.m && j < s.n; j++) {
		barrier(CLK_LOCAL_MEM_FENCE);
		element pivot = l[j][j];
		if (i == j && !(SIZE(pivot) > 0) && bad == 0) {
			bad = j + 1;
			is_nan = IS_NAN(pivot);
		}
		if (i > j && i < s.m) {
			if (SIZE(pivot) > 0)
				l[i][j] = over(l[i][j], pivot);
			for (int k = j + 1; k < s.n; k++)
				l[i][k] -= times(l[i][j], l[j][k]);
		}
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	for (int j = 0; j < s.n; j++)
		if (i < s.m)
			c[i + (long)j * s.ld_c] = l[i][j];
	if (i == 0)
		note(found, bad, is_nan, s);
}

/* --- What is looked for ------------------------------------------------------------------------------------------- */

/* One work-item: the first zero on the diagonal. */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void zeros(global const element *a, global const element *b,
                                                                 global element *c, global int *found, struct shape s,
                                                                 element alpha, element beta)
{
	int i = 0;
	while (i < s.n && !IS(a[s.at_a + i * (s.ld_a + 1L)], 0))
		i++;
	note(found, i < s.n ? i + 1 : 0, 0, s);
}

/* The first element, column by column, that is not finite: twice 1 + row + column * m, and one more if it is NaN. A
 * launch of its own resets what was found (FIRST). */
kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1))) void look(global const element *a, global const element *b,
                                                                      global element *c, global int *found,
                                                                      struct shape s, element alpha, element beta)
{
	int i = get_global_id(0), j = get_global_id(1);
	if (s.flags & FIRST) {
		if (i == 0 && j == 0)
			found[0] = INT_MAX;
		return;
	}
	if (!is_in_part(i, j, s))
		return;
	element x = a[s.at_a + i + (long)j * s.ld_a];
	real sum = SIZE(x);
	if (!(sum - sum == 0))
		atomic_min(found, 2 * (1 + i + j * s.m) + (IS_NAN(x) ? 1 : 0));
}

/* --- Random matrices and norms ------------------------------------------------------------------------------------ */

/* As hd_dense_hash in dense/internal.h. */
ulong hash(ulong state, ulong step)
{
	ulong x = state + step * 0x9e3779b97f4a7c15ul;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ul;
	x = (x ^ x >> 27) * 0x94d049bb133111ebul;
	return x ^ x >> 31;
}

/* A number in [-1/2, 1/2) of 53 bits, rounded once. */
real random_number(ulong bits)
{
	long whole = (long)(bits >> 11) - (1L << 52);
	return (real)whole * (real)0x1p-53f;
}

/* The same more `n`. */
real random_number_and(ulong bits, ulong n)
{
#ifdef cl_khr_fp64
	return (real)((double)((long)(bits >> 11) - (1L << 52)) * 0x1p-53 + (double)n);
#else
	return random_number(bits) + (real)n; /* rounded twice */
#endif
}

/* C := a window of the random matrix with seed at_a, as heddle_dense_random_element has it. Row k of it is the first of
 * the window; the order of the whole matrix is at_b. */
kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1))) void random(global const element *a,
                                                                        global const element *b, global element *c,
                                                                        global int *found, struct shape s,
                                                                        element alpha, element beta)
{
	int i = get_global_id(0), j = get_global_id(1);
	if (i >= s.m || j >= s.n)
		return;
	ulong row = (ulong)(s.k + i), column = (ulong)(s.k + s.diagonal + j);
	int mirrored = s.flags & A_MIRRORED && row < column, hermitian = s.flags & A_HERMITIAN;
	ulong low = hash((ulong)s.at_a, (mirrored ? row : column) + 1);
	ulong bits = hash(low, (mirrored ? column : row) + 1);
	ulong more = row == column && s.flags & A_IDENTITY ? (ulong)s.at_b : 0;
	real re = more ? random_number_and(bits, more) : random_number(bits);
#ifdef COMPLEX
	real im = random_number(hash(bits, 1));
	if (hermitian)
		im = row == column ? 0 : mirrored ? -im : im;
	c[s.at_c + i + (long)j * s.ld_c] = (element)(re, im);
#else
	c[s.at_c + i + (long)j * s.ld_c] = re;
#endif
}

#ifdef cl_khr_fp64
enum { ADDERS = 256 };

/* The double at at_c is increased by the squares of the elements of A in the part of m x n elements that is meant; with
 * A_MIRRORED, those off the diagonal count twice. One group. */
kernel __attribute__((reqd_work_group_size(ADDERS, 1, 1))) void squares(global const element *a,
                                                                        global const element *b, global double *c,
                                                                        global int *found, struct shape s,
                                                                        element alpha, element beta)
{
	local double sums[ADDERS];
	int me = get_local_id(0);
	double sum = 0;
	for (int j = 0; j < s.n; j++)
		for (int i = me; i < s.m; i += ADDERS)
			if (is_in_part(i, j, s)) {
				element x = a[s.at_a + i + (long)j * s.ld_a];
				double square = (double)REAL(x) * (double)REAL(x);
#ifdef COMPLEX
				square += (double)x.y * (double)x.y;
#endif
				sum += s.flags & A_MIRRORED && i != j + s.diagonal ? 2 * square : square;
			}
	sums[me] = sum;
	for (int n = ADDERS / 2; n > 0; n /= 2) {
		barrier(CLK_LOCAL_MEM_FENCE);
		if (me < n)
			sums[me] += sums[me + n];
	}
	if (me == 0)
		c[s.at_c] += sums[0];
}
#endif
