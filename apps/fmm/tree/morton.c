/* Keys in Morton order, and sorting by them. */
#include <fmm/tree/tree.h>
#include <stdlib.h>

/* The bits of a number with two zeros between them. */
static uint64_t spread(uint64_t x)
{
	x = (x | x << 32) & 0x001f00000000ffff;
	x = (x | x << 16) & 0x001f0000ff0000ff;
	x = (x | x << 8) & 0x100f00f00f00f00f;
	x = (x | x << 4) & 0x10c30c30c30c30c3;
	return (x | x << 2) & 0x1249249249249249;
}

uint64_t hd_fmm_key(const uint32_t place[3])
{
	return spread(place[0]) << 2 | spread(place[1]) << 1 | spread(place[2]);
}

/* By digits, from the last on (Knuth: The Art of Computer Programming 3, 5.2.5). The result is in one of the arrays. */
static struct hd_fmm_sorted *sort(struct hd_fmm_sorted *all, struct hd_fmm_sorted *work, size_t n, int bits)
{
	enum { DIGIT = 12, VALUES = 1 << DIGIT };
	for (int shift = 0; shift < bits; shift += DIGIT) {
		size_t start[VALUES + 1] = {0};
		for (size_t i = 0; i < n; i++)
			start[(all[i].key >> shift) % VALUES + 1]++;
		for (size_t v = 0; v < VALUES; v++)
			start[v + 1] += start[v];
		for (size_t i = 0; i < n; i++)
			work[start[(all[i].key >> shift) % VALUES]++] = all[i];
		struct hd_fmm_sorted *sorted = work;
		work = all;
		all = sorted;
	}
	return all;
}

struct hd_fmm_sorted *hd_fmm_sort(const struct hd_fmm_box *box, const double *xyz, size_t n)
{
	struct hd_fmm_sorted *all = malloc((n + 1) * sizeof *all), *work = malloc((n + 1) * sizeof *work),
	                     *sorted = NULL;
	if (all && work) {
		for (size_t i = 0; i < n; i++) {
			uint32_t place[3];
			hd_fmm_place_of(box, xyz + 3 * i, place);
			all[i] = (struct hd_fmm_sorted){hd_fmm_key(place), (uint32_t)i, (uint32_t)box->depth};
		}
		sorted = sort(all, work, n, 3 * box->depth);
	}
	if (sorted != all)
		free(all);
	if (sorted != work)
		free(work);
	return sorted;
}
