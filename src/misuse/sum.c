/* Checksums of strided arrays, and whether two arrays share bytes. */
#include <string.h>
#include "internal.h"

/* Computes four independent sums, so that their multiplications overlap in the pipeline. */
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

/* The number of leading dimensions without gaps between their elements; *bytes: the size of such a run of elements. */
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

/* The address of the run of bytes with the indices `i` in the dimensions from `first` on. */
static const unsigned char *run_at(const struct heddle_part *p, unsigned first, const size_t *i)
{
	size_t offset = 0;
	for (unsigned d = first; d < p->n_dims; d++)
		offset += i[d] * p->stride[d];
	return (const unsigned char *)p->base + offset * p->elem_size;
}

/* Advances the indices to the next run. 0: there is no other run. */
static int next_run(const struct heddle_part *p, unsigned first, size_t *i)
{
	unsigned d = first;
	while (d < p->n_dims && ++i[d] == p->n[d])
		i[d++] = 0;
	return d < p->n_dims;
}

uint64_t hd_checksum(const struct heddle_part *p)
{
	size_t chunk, i[HEDDLE_MAX_DIMS] = {0};
	uint64_t h = 0;
	unsigned first = dense_dims(p, &chunk);
	if (is_empty(p))
		return 0;
	do
		h = sum_bytes(h, run_at(p, first, i), chunk);
	while (next_run(p, first, i));
	return h;
}

void hd_span_of(const struct heddle_part *p, uintptr_t *low, uintptr_t *high)
{
	size_t last = 0;
	for (unsigned d = 0; d < p->n_dims; d++)
		last += (p->n[d] - 1) * p->stride[d];
	*low = (uintptr_t)p->base;
	*high = is_empty(p) ? *low : *low + (last + 1) * p->elem_size;
}

/* Whether the arrays have elements with the same byte address, given that b begins `distance` elements after a.
 * Considers the first `dims` dimensions of both. Both arrays have equal strides. */
static int meet(const struct heddle_part *a, const struct heddle_part *b, unsigned dims, ptrdiff_t distance)
{
	if (!dims)
		return distance == 0;
	unsigned d = dims - 1;
	/* least, most: the lower dimensions can make up for a distance in this range */
	ptrdiff_t least = 0, most = 0, stride = (ptrdiff_t)a->stride[d];
	for (unsigned k = 0; k < d; k++) {
		least -= (ptrdiff_t)((a->n[k] - 1) * a->stride[k]);
		most += (ptrdiff_t)((b->n[k] - 1) * b->stride[k]);
	}
	/* low, high: only if an index of b less an index of a lies between them, the remaining distance is in that
	 * range. */
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
	/* Element i of b is at b_low + i * stride, element j of a at a_low + j * stride: do any two of them
	 * coincide? */
	ptrdiff_t bytes = (ptrdiff_t)(a_low - b_low), size = (ptrdiff_t)a->elem_size;
	if (!same_strides(a, b) || bytes % size)
		return 1;
	return meet(a, b, a->n_dims, bytes / size);
}

/* The number of contiguous runs of bytes of an array. */
static size_t n_runs(const struct heddle_part *p)
{
	size_t bytes, n = 1;
	for (unsigned d = dense_dims(p, &bytes); d < p->n_dims; d++)
		n *= p->n[d];
	return n;
}

/* Whether an element in the first `dims` dimensions contains a byte of the range [low, high). `low` and `high` count
 * bytes from the begin of the array. */
static int has_byte(const struct heddle_part *p, unsigned dims, ptrdiff_t low, ptrdiff_t high)
{
	while (dims && p->n[dims - 1] == 1)
		dims--;
	ptrdiff_t size = (ptrdiff_t)p->elem_size, inner = size;
	if (!dims)
		return low < size && high > 0;
	for (unsigned d = 0; d + 1 < dims; d++)
		inner += (ptrdiff_t)((p->n[d] - 1) * p->stride[d]) * size;
	ptrdiff_t stride = (ptrdiff_t)p->stride[dims - 1] * size, last = (ptrdiff_t)p->n[dims - 1] - 1;
	ptrdiff_t i = low > inner ? (low - inner) / stride : 0;
	for (; i <= last && i * stride < high; i++)
		if (has_byte(p, dims - 1, low - i * stride, high - i * stride))
			return 1;
	return 0;
}

int hd_parts_share(const struct heddle_part *a, const struct heddle_part *b)
{
	enum { MOST = 4096 };
	size_t bytes, i[HEDDLE_MAX_DIMS] = {0};
	if (is_empty(a) || is_empty(b) || !hd_parts_overlap(a, b))
		return 0;
	if (n_runs(b) < n_runs(a))
		return hd_parts_share(b, a);
	if (n_runs(a) > MOST)
		return same_strides(a, b) && ((uintptr_t)a->base - (uintptr_t)b->base) % a->elem_size == 0;
	unsigned first = dense_dims(a, &bytes);
	do {
		ptrdiff_t low = (ptrdiff_t)((uintptr_t)run_at(a, first, i) - (uintptr_t)b->base);
		if (has_byte(b, b->n_dims, low, low + (ptrdiff_t)bytes))
			return 1;
	} while (next_run(a, first, i));
	return 0;
}
