/* Checksums of strided arrays, and whether two of them share bytes. */
#include <string.h>
#include "inside.h"

/* Four sums at a time: each multiplication waits for the one before it in its own sum only. */
static uint64_t sum_bytes(uint64_t h, const unsigned char *p, size_t size)
{
	uint64_t lanes[4] = {h, 1, 2, 3}, words[4];
	const uint64_t odd = 0x9e3779b97f4a7c15u;
	for (; size >= sizeof words; size -= sizeof words, p += sizeof words) {
		memcpy(words, p, sizeof words);
		for (int k = 0; k < 4; k++) {
			lanes[k] = (lanes[k] ^ words[k]) * odd;
			lanes[k] ^= lanes[k] >> 29;
		}
	}
	memset(words, 0, sizeof words);
	memcpy(words, p, size);
	h = size;
	for (int k = 0; k < 4; k++)
		h = hd_fold(hd_fold(h, lanes[k]), words[k]);
	return h;
}

/* How many of the first dimensions have no gaps, and how many bytes these make together. */
static unsigned dense_dims(const struct heddle_part *p, size_t *bytes)
{
	size_t count = 1;
	unsigned dim = 0;
	while (dim < p->n_dims && p->stride[dim] == count)
		count *= p->n[dim++];
	*bytes = count * p->elem_size;
	return dim;
}

static int is_empty(const struct heddle_part *p)
{
	for (unsigned d = 0; d < p->n_dims; d++)
		if (!p->n[d])
			return 1;
	return 0;
}

uint64_t hd_sum(const struct heddle_part *p)
{
	size_t chunk, i[HEDDLE_MAX_DIMS] = {0};
	uint64_t h = 0;
	unsigned first = dense_dims(p, &chunk);
	if (is_empty(p))
		return 0;
	for (;;) {
		size_t offset = 0;
		for (unsigned d = first; d < p->n_dims; d++)
			offset += i[d] * p->stride[d];
		h = sum_bytes(h, (const unsigned char *)p->base + offset * p->elem_size, chunk);
		unsigned d = first;
		while (d < p->n_dims && ++i[d] == p->n[d])
			i[d++] = 0;
		if (d >= p->n_dims)
			return h;
	}
}

void hd_span_of(const struct heddle_part *p, uintptr_t *low, uintptr_t *high)
{
	size_t last = 0;
	for (unsigned d = 0; d < p->n_dims; d++)
		last += (p->n[d] - 1) * p->stride[d];
	*low = (uintptr_t)p->base;
	*high = is_empty(p) ? *low : *low + (last + 1) * p->elem_size;
}

/* Whether there is an element of a and one of b, both in the first `dims` dimensions, so that b's lies `distance`
 * elements behind a's. Both arrays have the same strides. */
static int meet(const struct heddle_part *a, const struct heddle_part *b, unsigned dims, ptrdiff_t distance)
{
	if (!dims)
		return distance == 0;
	unsigned d = dims - 1;
	/* How far the dimensions below can reach, in either direction. */
	ptrdiff_t least = 0, most = 0, stride = (ptrdiff_t)a->stride[d];
	for (unsigned k = 0; k < d; k++) {
		least -= (ptrdiff_t)((a->n[k] - 1) * a->stride[k]);
		most += (ptrdiff_t)((b->n[k] - 1) * b->stride[k]);
	}
	/* An index of b less an index of a: only a few leave the rest within reach. */
	ptrdiff_t low = (distance - most) / stride - 1, high = (distance - least) / stride + 1;
	ptrdiff_t from = -(ptrdiff_t)(a->n[d] - 1), to = (ptrdiff_t)(b->n[d] - 1);
	for (ptrdiff_t i = low > from ? low : from; i <= high && i <= to; i++)
		if (meet(a, b, d, distance - i * stride))
			return 1;
	return 0;
}

static int same_strides(const struct heddle_part *a, const struct heddle_part *b)
{
	if (a->elem_size != b->elem_size || a->n_dims != b->n_dims)
		return 0;
	for (unsigned d = 0; d < a->n_dims; d++)
		if (a->stride[d] != b->stride[d] || !a->stride[d])
			return 0;
	return 1;
}

int hd_parts_overlap(const struct heddle_part *a, const struct heddle_part *b)
{
	uintptr_t a_low, a_high, b_low, b_high;
	hd_span_of(a, &a_low, &a_high);
	hd_span_of(b, &b_low, &b_high);
	if (a_low >= b_high || b_low >= a_high)
		return 0;
	/* Element i of b lies at b_low + i * stride, and element j of a at a_low + j * stride: are any two the same? */
	ptrdiff_t bytes = (ptrdiff_t)(a_low - b_low), size = (ptrdiff_t)a->elem_size;
	if (!same_strides(a, b) || bytes % size)
		return 1;
	return meet(a, b, a->n_dims, bytes / size);
}
