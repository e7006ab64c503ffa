/* Arrays with strides, and dense buffers of their elements. */
#include <string.h>
#include "network.h"

size_t hd_mpi_part_bytes(const struct heddle_part *part)
{
	size_t bytes = part->elem_size;
	for (unsigned d = 0; d < part->n_dims; d++)
		bytes *= part->n[d];
	return bytes;
}

int hd_mpi_is_dense(const struct heddle_part *part)
{
	size_t dense = 1;
	for (unsigned d = 0; d < part->n_dims; d++) {
		if (part->n[d] > 1 && part->stride[d] != dense)
			return 0;
		dense *= part->n[d];
	}
	return 1;
}

/* Copies the elements of dimension `d` and those below it, and returns the end of their place in the buffer. */
static char *copy(const struct heddle_part *part, unsigned d, char *array, char *buffer, int packs)
{
	if (d == 0) {
		size_t bytes = part->elem_size * (part->n_dims ? part->n[0] : 1);
		if (packs)
			memcpy(buffer, array, bytes);
		else
			memcpy(array, buffer, bytes);
		return buffer + bytes;
	}
	for (size_t i = 0; i < part->n[d]; i++)
		buffer = copy(part, d - 1, array + i * part->stride[d] * part->elem_size, buffer, packs);
	return buffer;
}

void hd_mpi_pack(const struct heddle_part *part, char *buffer)
{
	copy(part, part->n_dims ? part->n_dims - 1 : 0, part->base, buffer, 1);
}

void hd_mpi_unpack(const struct heddle_part *part, const char *buffer)
{
	copy(part, part->n_dims ? part->n_dims - 1 : 0, part->base, (char *)buffer, 0);
}
