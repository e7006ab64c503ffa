/* Arrays of whole numbers and what the kernels of the random tests do to them. */
#ifndef RANDOM_ELEMENTS_H
#define RANDOM_ELEMENTS_H

#include <stdint.h>
#include <heddle/data.h>

/* Elements as they lie in some memory: m rows, n columns, columns ld apart. */
struct mem {
	uint64_t *base;
	size_t m, n, ld;
};

static inline uint64_t *element(const struct mem *a, size_t e)
{
	return a->base + e % a->m + e / a->m * a->ld;
}

static inline uint64_t checksum(const struct mem *a)
{
	uint64_t sum = 0;
	for (size_t e = 0; e < a->m * a->n; e++)
		sum = sum * 31 + *element(a, e);
	return sum;
}

static inline void write_elements(const struct mem *a, int mode, uint64_t s)
{
	for (size_t e = 0; e < a->m * a->n; e++) {
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

static inline int same(const struct mem *a, const struct mem *b)
{
	for (size_t e = 0; e < a->m * a->n; e++)
		if (*element(a, e) != *element(b, e))
			return 0;
	return 1;
}

#endif
