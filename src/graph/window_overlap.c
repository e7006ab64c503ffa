/* Finds the windows that share elements with another window. Windows that do not overlap in one dimension need not be
 * compared in the others. So the windows are sorted along the dimension in which the fewest pairs overlap, and only the
 * pairs that overlap there are compared in all dimensions. */
#include <stdlib.h>
#include "base/base.h"
#include "memory/windows.h"
#include "state/plan.h"

/* The range that a window covers in one dimension. */
struct span {
	uint64_t begin, end;
	struct hd_window *window;
};

static int by_begin(const void *pa, const void *pb)
{
	const struct span *a = pa, *b = pb;
	return (a->begin > b->begin) - (a->begin < b->begin);
}

static int is_empty(const struct hd_window *w, unsigned n_dims)
{
	for (unsigned d = 0; d < n_dims; d++)
		if (!w->n[d])
			return 1;
	return 0;
}

/* Computes the spans of the non-empty windows in dimension `dim`, sorted by their beginning; returns the number of
 * spans. A scalar counts as one element in one dimension. */
static size_t lay_out(struct hd_window *windows, size_t n, unsigned n_dims, unsigned dim, struct span *spans)
{
	size_t n_spans = 0;
	for (size_t i = 0; i < n; i++) {
		struct hd_window *w = &windows[i];
		if (is_empty(w, n_dims))
			continue;
		uint64_t begin = n_dims ? w->offset[dim] : 0, length = n_dims ? w->n[dim] : 1;
		spans[n_spans++] = (struct span){begin, begin + length, w};
	}
	qsort(spans, n_spans, sizeof *spans, by_begin);
	return n_spans;
}

static uint64_t count_pairs(const struct span *spans, size_t n)
{
	uint64_t pairs = 0;
	for (size_t i = 0; i < n; i++)
		pairs += hd_search(spans, n, sizeof *spans, spans[i].end) - i - 1;
	return pairs;
}

static int meet(const struct hd_window *a, const struct hd_window *b, unsigned n_dims)
{
	for (unsigned d = 0; d < n_dims; d++)
		if (a->offset[d] >= b->offset[d] + b->n[d] || b->offset[d] >= a->offset[d] + a->n[d])
			return 0;
	return 1;
}

static void compare(const struct span *spans, size_t n, unsigned n_dims)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n && spans[k].begin < spans[i].end; k++) {
			struct hd_window *a = spans[i].window, *b = spans[k].window;
			if (!(a->shared && b->shared) && meet(a, b, n_dims))
				a->shared = b->shared = 1;
		}
}

int hd_windows_overlap(struct hd_window *windows, size_t n, unsigned n_dims)
{
	struct span *spans = calloc(n, sizeof *spans);
	if (!spans)
		return hd_no_memory("children");
	unsigned best = 0;
	uint64_t fewest = UINT64_MAX;
	for (unsigned dim = 0; dim < n_dims && fewest; dim++) {
		uint64_t pairs = count_pairs(spans, lay_out(windows, n, n_dims, dim, spans));
		if (pairs < fewest) {
			fewest = pairs;
			best = dim;
		}
	}
	if (fewest)
		compare(spans, lay_out(windows, n, n_dims, best, spans), n_dims);
	free(spans);
	return 0;
}
