/* grid2d:N, grid3d:N: a network of levels: N^2 or N^3 points, the difference between each two neighbours measured, a
 * row each, and the level of each point with less weight. */
#include "families.h"

static int add_difference(struct hd_sparse_made *out, size_t from, size_t to)
{
	static const double values[] = {-1, 1};
	int status = hd_sparse_triplets_add(&out->triplets, out->rows, from, &values[0]);
	return status ? status : hd_sparse_triplets_add(&out->triplets, out->rows++, to, &values[1]);
}

static int add_level(struct hd_sparse_made *out, size_t point)
{
	static const double weight = 0.125;
	return hd_sparse_triplets_add(&out->triplets, out->rows++, point, &weight);
}

static int make(size_t n, size_t layers, struct hd_sparse_made *out)
{
	int status = 0;
	out->columns = n * n * layers;
	for (size_t point = 0; !status && point < out->columns; point++) {
		if (point % n + 1 < n)
			status = add_difference(out, point, point + 1);
		if (!status && point / n % n + 1 < n)
			status = add_difference(out, point, point + n);
		if (!status && point + n * n < out->columns)
			status = add_difference(out, point, point + n * n);
		if (!status)
			status = add_level(out, point);
	}
	return status;
}

int hd_sparse_grid2d(const uint64_t *numbers, struct hd_sparse_made *out)
{
	return make(numbers[0], 1, out);
}

int hd_sparse_grid3d(const uint64_t *numbers, struct hd_sparse_made *out)
{
	return make(numbers[0], numbers[0], out);
}
