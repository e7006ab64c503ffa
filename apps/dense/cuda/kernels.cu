/* Kernels for what cuBLAS and cuSOLVER do not have: copies of parts of tiles, random numbers, sums, searches,
 * interchanges of rows. In four precisions: hd_d_NAME, hd_s_NAME, hd_z_NAME, hd_c_NAME.
 */
#include "../hash.h"
#include "kernels.h"

/* --- Parts -------------------------------------------------------------------------------------------------------- */

/* How far element (i, j) is below the diagonal. */
__device__ inline long long below(const hd_dense_cuda_part &p, int i, int j)
{
	return i - (j + p.diagonal);
}

__device__ inline bool belongs(const hd_dense_cuda_part &p, int i, int j)
{
	long long distance = below(p, i, j);
	return p.which == HD_CUDA_ALL || (p.which == HD_CUDA_LOWER && distance >= p.unit) ||
	       (p.which == HD_CUDA_UPPER && distance <= -p.unit);
}

/* B := alpha A + beta B, for the elements that belong to the part. If alpha or beta is 0, A or B is not read. There is
 * a thread per row, which visits every gridDim-th column. */
template <class T>
__device__ void combine(hd_dense_cuda_part p, int flags, T alpha, const T *a, int lda, T beta, T *b, int ldb)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (i >= p.m || i < p.first)
		return;
	for (int j = (int)(blockIdx.y * blockDim.y + threadIdx.y); j < p.n; j += (int)(gridDim.y * blockDim.y)) {
		T *to = &b[i + (long long)j * ldb], x = number<T>(0);
		bool diagonal = below(p, i, j) == 0;
		if (!belongs(p, i, j)) {
			if (flags & HD_CUDA_CLEAR)
				*to = diagonal && flags & HD_CUDA_DIAGONAL ? alpha : x;
			continue;
		}
		if (is_number(alpha, 1))
			x = a[i + (long long)j * lda];
		else if (!is_number(alpha, 0))
			x = mul(alpha, a[i + (long long)j * lda]);
		if (is_number(beta, 1))
			x = add(x, *to);
		else if (!is_number(beta, 0))
			x = add(x, mul(beta, *to));
		if (diagonal && flags & HD_CUDA_REAL)
			set(&x, re_of(x), (decltype(re_of(x)))0);
		*to = x;
	}
}
KERNELS(combine, (hd_dense_cuda_part p, int flags, T alpha, const T *a, int lda, T beta, T *b, int ldb),
        (p, flags, alpha, a, lda, beta, b, ldb))

/* B := A^H. B is m x n. A block of 32 x 8 threads turns a square of 32 x 32. */
template <class T> __device__ void transpose(int m, int n, const T *a, int lda, T *b, int ldb)
{
	__shared__ T square_of_a[32][33];
	int row = (int)blockIdx.x * 32, column = (int)blockIdx.y * 32, x = (int)threadIdx.x;
	for (int y = (int)threadIdx.y; y < 32; y += 8)
		if (column + x < n && row + y < m)
			square_of_a[y][x] = a[column + x + (long long)(row + y) * lda];
	__syncthreads();
	for (int y = (int)threadIdx.y; y < 32; y += 8)
		if (row + x < m && column + y < n)
			b[row + x + (long long)(column + y) * ldb] = conj_of(square_of_a[x][y]);
}
KERNELS(transpose, (int m, int n, const T *a, int lda, T *b, int ldb), (m, n, a, lda, b, ldb))

/* --- Random matrices ---------------------------------------------------------------------------------------------- */

__device__ inline double uniform(unsigned long long bits)
{
	return (double)(bits >> 11) * 0x1.0p-53 - 0.5;
}

/* The element of heddle_dense_random_element. */
template <class T> __device__ void random_tile(hd_dense_cuda_random w, T *a, int lda)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (i >= w.rows)
		return;
	for (int j = (int)(blockIdx.y * blockDim.y + threadIdx.y); j < w.columns; j += (int)(gridDim.y * blockDim.y)) {
		unsigned long long row = w.row + (unsigned long long)i, column = w.column + (unsigned long long)j;
		bool mirrored = w.symmetric && row < column;
		unsigned long long bits = hd_dense_hash(hd_dense_hash(w.seed, (mirrored ? row : column) + 1),
		                                        (mirrored ? column : row) + 1);
		double re = uniform(bits), im = uniform(hd_dense_hash(bits, 1));
		if (w.hermitian && row <= column)
			im = row == column ? 0 : -im;
		if (w.dominant && row == column)
			re += (double)w.order;
		T x;
		set(&x, (decltype(re_of(x)))re, (decltype(re_of(x)))im);
		a[i + (long long)j * lda] = x;
	}
}
KERNELS(random_tile, (hd_dense_cuda_random w, T *a, int lda), (w, a, lda))

/* --- Sums and searches -------------------------------------------------------------------------------------------- */

enum { SUM_THREADS = 256 }; /* at most, of a block */

/* partial[block] := the sum of the squares of every gridDim.x-th column; off the diagonal, `weight` times. */
template <class T> __device__ void squares(hd_dense_cuda_part p, double weight, const T *a, int lda, double *partial)
{
	__shared__ double shared[SUM_THREADS];
	double sum = 0;
	for (int j = (int)blockIdx.x; j < p.n; j += (int)gridDim.x)
		for (int i = (int)threadIdx.x; i < p.m; i += (int)blockDim.x)
			if (belongs(p, i, j)) {
				T x = a[i + (long long)j * lda];
				double re = re_of(x), im = im_of(x), one = re * re + im * im;
				sum += below(p, i, j) == 0 ? one : weight * one;
			}
	sum = sum_of_block(sum, shared, (int)threadIdx.x, (int)blockDim.x);
	if (threadIdx.x == 0)
		partial[blockIdx.x] = sum;
}
KERNELS(squares, (hd_dense_cuda_part p, double weight, const T *a, int lda, double *partial), (p, weight, a, lda, partial))

/* *sum += the n numbers, always in the same order. One block. */
extern "C" __global__ void hd_add_up(int n, const double *partial, double *sum)
{
	__shared__ double shared[SUM_THREADS];
	double mine = 0;
	for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x)
		mine += partial[i];
	mine = sum_of_block(mine, shared, (int)threadIdx.x, (int)blockDim.x);
	if (threadIdx.x == 0)
		*sum += mine;
}

/* *found := the least of itself and 2 (i + j m) + k over elements (i, j) that are no finite numbers; k is 0 for NaN, 1
 * for an infinity. */
template <class T> __device__ void find_not_finite(hd_dense_cuda_part p, const T *a, int lda, unsigned long long *found)
{
	for (int j = (int)blockIdx.x; j < p.n; j += (int)gridDim.x)
		for (int i = (int)threadIdx.x; i < p.m; i += (int)blockDim.x)
			if (belongs(p, i, j)) {
				T x = a[i + (long long)j * lda];
				if (is_finite(re_of(x)) && is_finite(im_of(x)))
					continue;
				bool nan = is_nan(re_of(x)) || is_nan(im_of(x));
				atomicMin(found, 2 * (i + (unsigned long long)j * (unsigned)p.m) + (nan ? 0 : 1));
			}
}
KERNELS(find_not_finite, (hd_dense_cuda_part p, const T *a, int lda, unsigned long long *found), (p, a, lda, found))

/* *found := the least of itself and 2 i + k over zeros (k = 0) among the first n elements of the diagonal; if `also_nan`
 * also over elements that are no numbers (k = 1); and if `info` is not NULL, over i = *info - 1 >= 0, where cuSOLVER has
 * stopped (k = 0). */
template <class T>
__device__ void find_zero(int n, int also_nan, const T *a, int lda, const int *info, unsigned long long *found)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (i >= n)
		return;
	T x = a[i + (long long)i * lda];
	bool nan = is_nan(re_of(x)) || is_nan(im_of(x));
	if ((nan && also_nan) || (re_of(x) == 0 && im_of(x) == 0))
		atomicMin(found, 2 * (unsigned long long)i + (nan ? 1 : 0));
	if (info && i + 1 == *info)
		atomicMin(found, 2 * (unsigned long long)i);
}
KERNELS(find_zero, (int n, int also_nan, const T *a, int lda, const int *info, unsigned long long *found),
        (n, also_nan, a, lda, info, found))

/* *found := the least of itself and 2 j + 1 over columns j that have NaN: what their pivot becomes. */
template <class T> __device__ void find_nan(hd_dense_cuda_part p, const T *a, int lda, unsigned long long *found)
{
	for (int j = (int)blockIdx.x; j < p.n; j += (int)gridDim.x)
		for (int i = (int)threadIdx.x; i < p.m; i += (int)blockDim.x) {
			T x = a[i + (long long)j * lda];
			if (is_nan(re_of(x)) || is_nan(im_of(x)))
				atomicMin(found, 2 * (unsigned long long)j + 1);
		}
}
KERNELS(find_nan, (hd_dense_cuda_part p, const T *a, int lda, unsigned long long *found), (p, a, lda, found))

/* --- Stacks of tiles ---------------------------------------------------------------------------------------------- */

/* Writes the places of some tiles to the device's memory. */
extern "C" __global__ void hd_place(hd_dense_cuda_tiles places, hd_dense_cuda_tile *to)
{
	for (int t = (int)threadIdx.x; t < places.count; t += (int)blockDim.x)
		to[places.first + t] = places.tiles[t];
}

template <class T> __device__ inline T *row_of(const hd_dense_cuda_tile *tiles, int tile_rows, int row, int column)
{
	hd_dense_cuda_tile t = tiles[row / tile_rows];
	return (T *)t.a + row % tile_rows + column * t.ld;
}

/* A matrix of p.m rows := the stack, or the stack := the matrix (`back`). */
template <class T>
__device__ void stack(hd_dense_cuda_part p, const hd_dense_cuda_tile *tiles, int tile_rows, T *flat, int ld, int back)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (i >= p.m)
		return;
	for (int j = (int)(blockIdx.y * blockDim.y + threadIdx.y); j < p.n; j += (int)(gridDim.y * blockDim.y)) {
		T *in_tile = row_of<T>(tiles, tile_rows, i, j), *in_flat = &flat[i + (long long)j * ld];
		if (back)
			*in_tile = *in_flat;
		else
			*in_flat = *in_tile;
	}
}
KERNELS(stack, (hd_dense_cuda_part p, const hd_dense_cuda_tile *tiles, int tile_rows, T *flat, int ld, int back),
        (p, tiles, tile_rows, flat, ld, back))

/* Interchanges rows of a stack, a thread per column. *found becomes 0 if a pivot is no row of the stack. */
template <class T>
__device__ void swap_rows(hd_dense_cuda_swaps w, const int *pivots, const hd_dense_cuda_tile *tiles, int columns,
                          unsigned long long *found)
{
	int column = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (column >= columns)
		return;
	for (int s = 0; s < w.count; s++) {
		int p = w.forward ? s : w.count - 1 - s, row = w.first + p, other = pivots[p] - w.origin;
		if (other < 0 || other >= w.rows) {
			atomicMin(found, 0ull);
			return;
		}
		if (other == row)
			continue;
		T *x = row_of<T>(tiles, w.tile_rows, row, column), *y = row_of<T>(tiles, w.tile_rows, other, column);
		T kept = *x;
		*x = *y;
		*y = kept;
	}
}
KERNELS(swap_rows,
        (hd_dense_cuda_swaps w, const int *pivots, const hd_dense_cuda_tile *tiles, int columns, unsigned long long *found),
        (w, pivots, tiles, columns, found))

/* Pivots of cuSOLVER, 64 bits wide and counted in a panel, as those of the matrix. */
extern "C" __global__ void hd_pivots(int n, const long long *from, int row, int *to)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (i < n)
		to[i] = (int)from[i] + row;
}

/* --- Panels of QR factorisations ---------------------------------------------------------------------------------- */

/* Numbers whose squares are neither too large nor too small. */
__device__ inline bool is_safe(double square_sum)
{
	return square_sum > 0x1p-900 && square_sum < 0x1p900;
}
__device__ inline bool is_safe(float square_sum)
{
	return square_sum > 0x1p-90f && square_sum < 0x1p90f;
}

/* The threads of a block: `teams` of them work on a column each, `lanes` on its rows. */
struct crew {
	int lane, lanes, team, teams, thread, threads;
};

/* The reflector that makes zeros of x[from] to x[m - 1] below *alpha: 1 - tau v v^H with v = [1; x], LAPACK's larfg.
 * Overwrites both, and returns tau. */
template <class T, class R> __device__ T reflect(const crew &c, T *alpha, T *x, int from, int m, R *shared)
{
	T a = *alpha;
	R mine = 0, factor = 1;
	for (int i = from + c.thread; i < m; i += c.threads)
		mine += square(x[i]);
	R sum = sum_of_block(mine, shared, c.thread, c.threads);
	if (!is_safe(sum + square(a))) {
		/* all relative to the largest part of a number, or to the sum of those of each thread */
		mine = 0;
		for (int i = from + c.thread; i < m; i += c.threads)
			mine = larger_part(x[i]) > mine ? larger_part(x[i]) : mine;
		R most = sum_of_block(mine, shared, c.thread, c.threads) + larger_part(a);
		factor = most > 0 ? 1 / most : 1;
		if (!is_finite(factor))
			factor = sizeof(R) == sizeof(double) ? (R)0x1p1020 : (R)0x1p124; /* of numbers below 1 / factor */
		mine = 0;
		for (int i = from + c.thread; i < m; i += c.threads)
			mine += square(scaled(x[i], factor));
		sum = sum_of_block(mine, shared, c.thread, c.threads);
		a = scaled(a, factor);
	}
	if (sum == 0 && im_of(a) == 0)
		return number<T>(0);
	R norm = sqrt(square(a) + sum), beta = re_of(a) < 0 ? norm : -norm;
	T b = number<T>(beta), tau = scaled(sub(b, a), 1 / beta), f = inverse(sub(a, b));
	for (int i = from + c.thread; i < m; i += c.threads)
		x[i] = mul(scaled(x[i], factor), f);
	if (c.thread == 0)
		*alpha = scaled(b, 1 / factor);
	return tau;
}

/* Reduces n <= HD_CUDA_PANEL columns of `low`, which has m rows: to R, in its own first rows (`alone`), or in the
 * triangle `top`. V stays in `low`. T is n x n, with zeros below its diagonal. One block, of at least n threads. */
template <class T>
__device__ void panel(T *top, int ldtop, T *low, int ldlow, int m, int n, int alone, T *t, int ldt)
{
	typedef decltype(re_of(number<T>(0))) R;
	__shared__ T parts[HD_CUDA_PANEL][HD_CUDA_PANEL + 1], common[HD_CUDA_PANEL];
	__shared__ R shared[HD_CUDA_PANEL * HD_CUDA_PANEL];
	crew c = {(int)threadIdx.x, (int)blockDim.x, (int)threadIdx.y, (int)blockDim.y, 0, 0};
	c.thread = c.team * c.lanes + c.lane;
	c.threads = c.teams * c.lanes;
	for (int j = 0; j < n; j++) {
		int from = alone ? j + 1 : 0;
		T *x = low + (long long)j * ldlow;
		T tau = reflect<T, R>(c, alone ? &x[j] : &top[j + (long long)j * ldtop], x, from, m, shared);
		__syncthreads();
		for (int first = 0; first < n; first += c.teams) {
			/* the product of v with column k, which lacks its reflection (k > j) or is a reflector */
			int k = first + c.team;
			T *other = low + (long long)k * ldlow, w = number<T>(0), *at_one = NULL;
			if (k < n && k != j) {
				at_one = alone ? &other[j] : k > j ? &top[j + (long long)k * ldtop] : NULL;
				for (int i = from + c.lane; i < m; i += c.lanes)
					w = add(w, mul(conj_of(x[i]), other[i]));
			}
			parts[c.team][c.lane] = w;
			w = at_one ? *at_one : number<T>(0);
			__syncthreads();
			for (int lane = 0; lane < c.lanes; lane++)
				w = add(w, parts[c.team][lane]);
			if (k < j && c.lane == 0)
				common[k] = conj_of(w);
			if (k > j && k < n) {
				w = mul(conj_of(tau), w);
				for (int i = from + c.lane; i < m; i += c.lanes)
					other[i] = sub(other[i], mul(x[i], w));
				if (c.lane == 0)
					*at_one = sub(*at_one, w);
			}
			__syncthreads();
		}
		if (c.thread < n) {
			T sum = number<T>(0);
			for (int k = c.thread; k < j; k++)
				sum = add(sum, mul(t[c.thread + (long long)k * ldt], common[k]));
			if (c.thread >= j)
				sum = number<T>(c.thread == j ? -1 : 0);
			t[c.thread + (long long)j * ldt] = sub(number<T>(0), mul(tau, sum));
		}
		__syncthreads();
	}
}
KERNELS(panel, (T * top, int ldtop, T *low, int ldlow, int m, int n, int alone, T *t, int ldt),
        (top, ldtop, low, ldlow, m, n, alone, t, ldt))
