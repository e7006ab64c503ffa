/* Lets g++ or clang++ compile a kernel in CUDA C, so that the stand-in (standin.h) runs it:
 *
 *     #include "cuda_on_host.h"
 *     #include "../../../apps/dense/cuda/tile.cu"
 *     STANDIN_KERNEL(scale_tile)
 *     STANDIN_KERNEL_AS("scale_tile_float", scale<float>)
 *
 * in a file of tests/standin/kernels. It is part of the stand-in then, and cuModuleGetFunction finds it by its name in
 * every module.
 *
 * Blocks run one after the other. The threads of a block are fibres, each of which runs until it ends, or waits for
 * others in a barrier or a shuffle. A barrier that some threads reach and others do not, or not the same one, is
 * reported (standin_complaint), and the launch fails. There are no launches by <<<>>>, no cooperative groups, no
 * textures. Where nvcc wants `extern __shared__ double a[];`, a kernel says CUDA_DYNAMIC_SHARED(double, a), which it
 * defines for nvcc itself. */
#ifndef STANDIN_CUDA_ON_HOST_H
#define STANDIN_CUDA_ON_HOST_H

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector_functions.h>
#include <vector_types.h>
#include "block.h"

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __constant__
#undef __forceinline__
#undef __launch_bounds__
#define __global__
#define __device__
#define __host__
#define __shared__ static thread_local /* the thread is that of a stream, which runs one block at a time */
#define __constant__ static const
#define __forceinline__ inline
#define __launch_bounds__(...)
#define CUDA_DYNAMIC_SHARED(type, name) type *const name = static_cast<type *>(standin_here->shared)

/* --- Kernels as the stand-in sees them ---------------------------------------------------------------------------- */

/* Takes a kernel's type apart. */
template <typename F> struct standin_type;
template <typename... P> struct standin_type<void (*)(P...)> {
	static constexpr unsigned n = sizeof...(P);
	static constexpr size_t sizes[] = {sizeof(P)..., 0};
	static constexpr char is_pointer[] = {std::is_pointer<P>::value..., 0};
	template <void (*f)(P...), size_t... i> static void call_each(void **values, std::index_sequence<i...>)
	{
		(void)values;
		f(*static_cast<typename std::remove_reference<P>::type *>(values[i])...);
	}
	template <void (*f)(P...)> static void call(void **values)
	{
		call_each<f>(values, std::index_sequence_for<P...>());
	}
};

template <typename F, F f> struct standin_entry {
	standin_kernel kernel;
	explicit standin_entry(const char *name)
	    : kernel{name,
	             standin_type<F>::n,
	             standin_type<F>::sizes,
	             standin_type<F>::is_pointer,
	             standin_type<F>::template call<f>,
	             nullptr}
	{
		standin_register(&kernel);
	}
};

#define STANDIN_JOIN_(a, b) a##b
#define STANDIN_JOIN(a, b) STANDIN_JOIN_(a, b)
#define STANDIN_KERNEL_AS(name, ...) \
	static standin_entry<decltype(&__VA_ARGS__), &__VA_ARGS__> STANDIN_JOIN(standin_kernel_, __COUNTER__)(name);
#define STANDIN_KERNEL(f) STANDIN_KERNEL_AS(#f, f)

/* --- What CUDA C has built in ------------------------------------------------------------------------------------- */

#define threadIdx (standin_here->thread_index)
#define blockIdx (standin_here->block_index)
#define blockDim (standin_here->block_size)
#define gridDim (standin_here->grid_size)
#define warpSize 32

#define __syncthreads() ((void)standin_barrier(__LINE__, STANDIN_COUNT, 0))
#define __syncthreads_count(value) standin_barrier(__LINE__, STANDIN_COUNT, (value) != 0)
#define __syncthreads_and(value) standin_barrier(__LINE__, STANDIN_AND, (value) != 0)
#define __syncthreads_or(value) standin_barrier(__LINE__, STANDIN_OR, (value) != 0)

static inline void __syncwarp(unsigned mask = ~0u)
{
	standin_exchange(mask, 0);
}

/* The value of lane `from`; the thread's own if there is no such lane. */
template <typename T> static inline T standin_shuffle(unsigned mask, T value, unsigned from, bool exists)
{
	static_assert(sizeof(T) <= 8, "shuffles move 8 bytes at most");
	uint64_t bits = 0;
	std::memcpy(&bits, &value, sizeof value);
	const uint64_t *all = standin_exchange(mask, bits);
	if (exists)
		std::memcpy(&value, &all[from], sizeof value);
	return value;
}

template <typename T> static inline T __shfl_sync(unsigned mask, T value, int from, int width = warpSize)
{
	unsigned first = standin_here->lane & ~(unsigned)(width - 1);
	return standin_shuffle(mask, value, first + ((unsigned)from & (unsigned)(width - 1)), true);
}

template <typename T> static inline T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = warpSize)
{
	unsigned lane = standin_here->lane;
	return standin_shuffle(mask, value, lane - by, (lane & (unsigned)(width - 1)) >= by);
}

template <typename T> static inline T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = warpSize)
{
	unsigned lane = standin_here->lane;
	return standin_shuffle(mask, value, lane + by, (lane & (unsigned)(width - 1)) + by < (unsigned)width);
}

template <typename T> static inline T __shfl_xor_sync(unsigned mask, T value, int with, int width = warpSize)
{
	unsigned lane = standin_here->lane, from = lane ^ (unsigned)with, last = lane | (unsigned)(width - 1);
	return standin_shuffle(mask, value, from, from <= last);
}

static inline unsigned __ballot_sync(unsigned mask, int value)
{
	unsigned votes = 0;
	const uint64_t *all = standin_exchange(mask, value != 0);
	for (unsigned lane = 0; lane < warpSize; lane++)
		votes |= (mask >> lane & 1) && all[lane] ? 1u << lane : 0;
	return votes;
}

static inline int __any_sync(unsigned mask, int value)
{
	return __ballot_sync(mask, value) != 0;
}

static inline int __all_sync(unsigned mask, int value)
{
	return __ballot_sync(mask, !value) == 0;
}

static inline void __threadfence()
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static inline void __threadfence_block() {}

/* Blocks of other streams may run at the same time, so these are atomic indeed. */
template <typename T, typename F> static inline T standin_update(T *at, F change)
{
	T old, wanted;
	__atomic_load(at, &old, __ATOMIC_SEQ_CST);
	do
		wanted = change(old);
	while (!__atomic_compare_exchange(at, &old, &wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
	return old;
}

template <typename T> using standin_same = typename std::common_type<T>::type; /* not deduced from this argument */

template <typename T> static inline T atomicAdd(T *at, standin_same<T> value)
{
	return standin_update(at, [=](T old) { return static_cast<T>(old + value); });
}

template <typename T> static inline T atomicSub(T *at, standin_same<T> value)
{
	return standin_update(at, [=](T old) { return static_cast<T>(old - value); });
}

template <typename T> static inline T atomicMax(T *at, standin_same<T> value)
{
	return standin_update(at, [=](T old) { return old < value ? value : old; });
}

template <typename T> static inline T atomicMin(T *at, standin_same<T> value)
{
	return standin_update(at, [=](T old) { return value < old ? value : old; });
}

template <typename T> static inline T atomicExch(T *at, standin_same<T> value)
{
	return standin_update(at, [=](T) { return value; });
}

template <typename T> static inline T atomicOr(T *at, standin_same<T> value)
{
	return standin_update(at, [=](T old) { return static_cast<T>(old | value); });
}

template <typename T> static inline T atomicCAS(T *at, standin_same<T> expected, standin_same<T> value)
{
	return standin_update(at, [=](T old) { return old == expected ? value : old; });
}

/* --- Functions ---------------------------------------------------------------------------------------------------- */

using std::abs;
using std::copysign;
using std::fabs;
using std::fma;
using std::fmax;
using std::fmin;
using std::hypot;
using std::isfinite;
using std::isinf;
using std::isnan;
using std::sqrt;

template <typename A, typename B> static inline typename std::common_type<A, B>::type min(A a, B b)
{
	return b < a ? b : a;
}

template <typename A, typename B> static inline typename std::common_type<A, B>::type max(A a, B b)
{
	return a < b ? b : a;
}

static inline double rsqrt(double x)
{
	return 1 / std::sqrt(x);
}

static inline float rsqrt(float x)
{
	return 1 / std::sqrt(x);
}

static inline float rsqrtf(float x)
{
	return 1 / std::sqrt(x);
}

template <typename T> static inline T __ldg(const T *at)
{
	return *at;
}

static inline int __popc(unsigned x)
{
	return __builtin_popcount(x);
}

static inline int __ffs(int x)
{
	return __builtin_ffs(x);
}

static inline int __clz(int x)
{
	return x ? __builtin_clz((unsigned)x) : 32;
}

#endif
