/* The hash that random matrices are made of, for C and CUDA C++. */
#ifndef HD_DENSE_HASH_H
#define HD_DENSE_HASH_H

#include <stdint.h>

#ifdef __CUDACC__
#define HD_ON_DEVICE __device__
#else
#define HD_ON_DEVICE
#endif

/* splitmix64's finaliser of state + step * golden ratio. The library has a similar hash, but this hash is kept apart,
 * because the matrix of a seed must never change. */
HD_ON_DEVICE static inline uint64_t hd_dense_hash(uint64_t state, uint64_t step)
{
	uint64_t x = state + step * 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

#endif
