/* What the kernels of the random tests compute, in main memory and, compiled by nvcc, on CUDA devices. */
#ifndef RANDOM_ARITHMETIC_H
#define RANDOM_ARITHMETIC_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/data.h>

#ifdef __CUDACC__
#define ON_BOTH __host__ __device__
#else
#define ON_BOTH
#endif

/* Elements as they lie in some memory: m rows, n columns, columns ld apart. */
struct mem {
	uint64_t *base;
	size_t m, n, ld;
};

ON_BOTH static inline uint64_t *element(const struct mem *a, size_t e)
{
	return a->base + e % a->m + e / a->m * a->ld;
}

ON_BOTH static inline uint64_t checksum(const struct mem *a)
{
	uint64_t sum = 0;
	for (size_t e = 0; e < a->m * a->n; e++)
		sum = sum * 31 + *element(a, e);
	return sum;
}

/* Writes the elements from `first` to `end`, without that one. */
ON_BOTH static inline void write_range(const struct mem *a, int mode, uint64_t s, size_t first, size_t end)
{
	for (size_t e = first; e < end; e++) {
		uint64_t *y = element(a, e);
		switch (mode) {
		case HEDDLE_RW: *y = *y * 0x9e3779b97f4a7c15u + s + e; break;
		case HEDDLE_COMMUTE:
		case HEDDLE_REDUX: *y += s + e; break;
		case HEDDLE_W:
		case HEDDLE_SCRATCH: *y = s * 0xbf58476d1ce4e5b9u + e; break;
		default: break;
		}
	}
}

ON_BOTH static inline void write_elements(const struct mem *a, int mode, uint64_t s)
{
	write_range(a, mode, s, 0, a->m * a->n);
}

/* What everything that a task writes depends on: `k` and everything it reads. What is added by COMMUTE and REDUX must
 * not depend on the datum itself: it is not part of the sum. */
ON_BOTH static inline uint64_t sum_of_read(uint64_t k, unsigned n, const int *modes, const struct mem *mem)
{
	for (unsigned i = 0; i < n; i++)
		if (modes[i] == HEDDLE_R || modes[i] == HEDDLE_RW)
			k += (i + 1) * checksum(&mem[i]);
	return k;
}

/* Whether somebody else has written to the private buffer of a SCRATCH access. */
ON_BOTH static inline int was_disturbed(unsigned n, const int *modes, const struct mem *mem, uint64_t s)
{
	for (unsigned i = 0; i < n; i++)
		for (size_t e = 0; modes[i] == HEDDLE_SCRATCH && e < mem[i].m * mem[i].n; e++)
			if (*element(&mem[i], e) != s * 0xbf58476d1ce4e5b9u + e)
				return 1;
	return 0;
}

/* What a task does to its data, in kernels and in the sequential run alike. Returns what it has written in *s; -1 when
 * it was disturbed. */
ON_BOTH static inline int compute(uint64_t k, unsigned n, const int *modes, const struct mem *mem, uint64_t *s)
{
	*s = sum_of_read(k, n, modes, mem);
	for (unsigned i = 0; i < n; i++)
		write_elements(&mem[i], modes[i], *s);
	return was_disturbed(n, modes, mem, *s) ? -1 : 0;
}

ON_BOTH static inline void clear_elements(const struct mem *a)
{
	for (size_t e = 0; e < a->m * a->n; e++)
		*element(a, e) = 0;
}

ON_BOTH static inline void add_elements(const struct mem *to, const struct mem *from)
{
	for (size_t e = 0; e < to->m * to->n; e++)
		*element(to, e) += *element(from, e);
}

#endif
