/* Common code of the .cu files of this folder: elements of four precisions, and sums within a block.
 *
 * The .cu files use only features of CUDA C++ that a host's compiler can imitate: threads and blocks, shared memory of
 * fixed size, __syncthreads, and atomicMin. So tests run the kernels on machines without a device. */
#ifndef HD_DENSE_CUDA_KERNELS_H
#define HD_DENSE_CUDA_KERNELS_H

#include "shapes.h"

/* --- Elements ----------------------------------------------------------------------------------------------------- */

/* A complex number, as C has it in memory. */
template <class R> struct pair {
	R re, im;
};

#define REAL_TYPE(R)                                       \
	__device__ inline R mul(R a, R b)                  \
	{                                                  \
		return a * b;                              \
	}                                                  \
	__device__ inline R add(R a, R b)                  \
	{                                                  \
		return a + b;                              \
	}                                                  \
	__device__ inline R sub(R a, R b)                  \
	{                                                  \
		return a - b;                              \
	}                                                  \
	__device__ inline R scaled(R a, R f)               \
	{                                                  \
		return a * f;                              \
	}                                                  \
	__device__ inline R conj_of(R a)                   \
	{                                                  \
		return a;                                  \
	}                                                  \
	__device__ inline R re_of(R a)                     \
	{                                                  \
		return a;                                  \
	}                                                  \
	__device__ inline R im_of(R)                       \
	{                                                  \
		return 0;                                  \
	}                                                  \
	__device__ inline R inverse(R a)                   \
	{                                                  \
		return 1 / a;                              \
	}                                                  \
	__device__ inline void set(R *x, R re, R)          \
	{                                                  \
		*x = re;                                   \
	}                                                  \
	__device__ inline void set(pair<R> *x, R re, R im) \
	{                                                  \
		x->re = re, x->im = im;                    \
	}
REAL_TYPE(double)
REAL_TYPE(float)

template <class R> __device__ inline pair<R> mul(pair<R> a, pair<R> b)
{
	return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class R> __device__ inline pair<R> add(pair<R> a, pair<R> b)
{
	return {a.re + b.re, a.im + b.im};
}
template <class R> __device__ inline pair<R> sub(pair<R> a, pair<R> b)
{
	return {a.re - b.re, a.im - b.im};
}
template <class R> __device__ inline pair<R> scaled(pair<R> a, R f)
{
	return {a.re * f, a.im * f};
}
template <class R> __device__ inline pair<R> conj_of(pair<R> a)
{
	return {a.re, -a.im};
}
template <class R> __device__ inline R re_of(pair<R> a)
{
	return a.re;
}
template <class R> __device__ inline R im_of(pair<R> a)
{
	return a.im;
}
/* 1 / a, for a number that is neither very large nor very small. */
template <class R> __device__ inline pair<R> inverse(pair<R> a)
{
	R size = a.re * a.re + a.im * a.im;
	return {a.re / size, -a.im / size};
}

template <class T> __device__ inline T number(double re)
{
	T x;
	set(&x, (decltype(re_of(x)))re, (decltype(re_of(x)))0);
	return x;
}
template <class T> __device__ inline bool is_number(T x, double re)
{
	return re_of(x) == re && im_of(x) == 0;
}
/* |re|^2 + |im|^2, and the larger of |re| and |im| */
template <class T> __device__ inline auto square(T x) -> decltype(re_of(x))
{
	return re_of(x) * re_of(x) + im_of(x) * im_of(x);
}
template <class T> __device__ inline auto larger_part(T x) -> decltype(re_of(x))
{
	auto re = re_of(x) < 0 ? -re_of(x) : re_of(x), im = im_of(x) < 0 ? -im_of(x) : im_of(x);
	return re > im ? re : im;
}
template <class R> __device__ inline bool is_nan(R x)
{
	return x != x;
}
template <class R> __device__ inline bool is_finite(R x)
{
	return x - x == 0;
}

/* --- Blocks ------------------------------------------------------------------------------------------------------- */

/* The sum of a number of each of the block's threads. */
template <class R> __device__ R sum_of_block(R mine, R *shared, int thread, int threads)
{
	shared[thread] = mine;
	for (int half = 1; half < threads; half *= 2) {
		__syncthreads();
		if (thread % (2 * half) == 0 && thread + half < threads)
			shared[thread] += shared[thread + half];
	}
	__syncthreads();
	R sum = shared[0];
	__syncthreads();
	return sum;
}

/* The four kernels of a template: KERNELS(name, (parameters), (arguments)), whose elements are of type T. Blocks may
 * have as many threads as CUDA allows, so the compiler must limit the registers of a thread. */
#define ONE_KERNEL(letter, type, name, parameters, arguments)                                      \
	namespace letter##_##name                                                                  \
	{                                                                                          \
		typedef type T;                                                                    \
		extern "C" __global__ void __launch_bounds__(1024) hd_##letter##_##name parameters \
		{                                                                                  \
			name<T> arguments;                                                         \
		}                                                                                  \
	}
#define KERNELS(name, parameters, arguments)                     \
	ONE_KERNEL(d, double, name, parameters, arguments)       \
	ONE_KERNEL(s, float, name, parameters, arguments)        \
	ONE_KERNEL(z, pair<double>, name, parameters, arguments) \
	ONE_KERNEL(c, pair<float>, name, parameters, arguments)

#endif
