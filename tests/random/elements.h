/* Arrays of whole numbers and what the kernels of the random tests do to them. */
#ifndef RANDOM_ELEMENTS_H
#define RANDOM_ELEMENTS_H

#include <stdint.h>
#include <heddle/data.h>
#include <heddle/task.h>

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

/* What a task does to its data, in kernels and in the sequential run alike: everything that it writes depends on `k`
 * and on everything it reads. What is added by COMMUTE and REDUX must not depend on the datum itself: it is not part of
 * the sum. Returns that sum in *s; -1 when somebody else has written to the private buffer of a SCRATCH access. */
static inline int compute(uint64_t k, unsigned n, const int *modes, const struct mem *mem, uint64_t *s)
{
	*s = k;
	for (unsigned i = 0; i < n; i++)
		if (modes[i] == HEDDLE_R || modes[i] == HEDDLE_RW)
			*s += (i + 1) * checksum(&mem[i]);
	for (unsigned i = 0; i < n; i++)
		write_elements(&mem[i], modes[i], *s);
	for (unsigned i = 0; i < n; i++)
		for (size_t e = 0; modes[i] == HEDDLE_SCRATCH && e < mem[i].m * mem[i].n; e++)
			if (*element(&mem[i], e) != *s * 0xbf58476d1ce4e5b9u + e)
				return -1;
	return 0;
}

/* Where datum i lies for a kernel. */
static inline int mem_of(heddle_context *c, size_t i, struct mem *out)
{
	struct heddle_part part;
	if (heddle_context_part(c, i, 0, &part))
		return -1;
	*out = (struct mem){part.base, part.n_dims > 0 ? part.n[0] : 1, part.n_dims > 1 ? part.n[1] : 1,
	                    part.n_dims > 1 ? part.stride[1] : 1};
	return part.base && part.elem_size == sizeof(uint64_t) ? 0 : -1;
}

/* The kernels of a reduction. */
static inline int zero_kernel(heddle_context *c)
{
	struct mem a;
	if (mem_of(c, 0, &a))
		return 1;
	for (size_t e = 0; e < a.m * a.n; e++)
		*element(&a, e) = 0;
	return 0;
}

static inline int add_kernel(heddle_context *c)
{
	struct mem to, from;
	if (mem_of(c, 0, &to) || mem_of(c, 1, &from))
		return 1;
	for (size_t e = 0; e < to.m * to.n; e++)
		*element(&to, e) += *element(&from, e);
	return 0;
}

#endif
