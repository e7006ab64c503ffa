/* Arrays of whole numbers and what the kernels of the random tests do to them. */
#ifndef RANDOM_ELEMENTS_H
#define RANDOM_ELEMENTS_H

#include <heddle/task.h>
#include "arithmetic.h"

static inline int same(const struct mem *a, const struct mem *b)
{
	for (size_t e = 0; e < a->m * a->n; e++)
		if (*element(a, e) != *element(b, e))
			return 0;
	return 1;
}

/* Where datum i lies for a kernel. */
static inline struct mem mem_of_part(const struct heddle_part *part)
{
	return (struct mem){part->base, part->n_dims > 0 ? part->n[0] : 1, part->n_dims > 1 ? part->n[1] : 1,
	                    part->n_dims > 1 ? part->stride[1] : 1};
}

static inline int mem_of(heddle_context *c, size_t i, struct mem *out)
{
	struct heddle_part part;
	if (heddle_context_part(c, i, 0, &part))
		return -1;
	*out = mem_of_part(&part);
	return part.base && part.elem_size == sizeof(uint64_t) ? 0 : -1;
}

/* The kernels of a reduction. */
static inline int zero_kernel(heddle_context *c)
{
	struct mem a;
	if (mem_of(c, 0, &a))
		return 1;
	clear_elements(&a);
	return 0;
}

static inline int add_kernel(heddle_context *c)
{
	struct mem to, from;
	if (mem_of(c, 0, &to) || mem_of(c, 1, &from))
		return 1;
	add_elements(&to, &from);
	return 0;
}

#endif
