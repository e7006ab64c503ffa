/* Copying between strided arrays in memory that the CPU can address. */
#include <string.h>
#include "driver.h"

/* How many of the first dimensions have no gaps on both sides, and how many bytes these make together. */
static unsigned dense_dims(const struct heddle_part *a, const struct heddle_part *b, size_t *bytes)
{
	size_t count = 1;
	unsigned dim = 0;
	while (dim < a->n_dims && a->stride[dim] == count && b->stride[dim] == count)
		count *= a->n[dim++];
	*bytes = count * a->elem_size;
	return dim;
}

int hd_copy_host(const struct heddle_copy *copy)
{
	const struct heddle_part *from = &copy->from, *to = &copy->to;
	size_t chunk, i[HEDDLE_MAX_DIMS] = {0};
	unsigned first = dense_dims(from, to, &chunk);
	for (unsigned d = 0; d < from->n_dims; d++)
		if (from->n[d] == 0)
			return 0;
	for (;;) {
		size_t from_offset = 0, to_offset = 0;
		for (unsigned d = first; d < from->n_dims; d++) {
			from_offset += i[d] * from->stride[d];
			to_offset += i[d] * to->stride[d];
		}
		memcpy((char *)to->base + to_offset * to->elem_size,
		       (const char *)from->base + from_offset * from->elem_size, chunk);
		unsigned d = first;
		while (d < from->n_dims && ++i[d] == from->n[d])
			i[d++] = 0;
		if (d >= from->n_dims)
			return 0;
	}
}
