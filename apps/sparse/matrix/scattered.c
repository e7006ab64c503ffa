/* random:M,N,PER_COLUMN,SEED[,DEFICIENT[,DECADES]]: an M x N matrix with about PER_COLUMN elements in each column, at
 * random places, with normal values. Each of the last DEFICIENT columns is the sum of two of the others, so that the
 * rank is N - DEFICIENT at most. The norms of columns are spread over DECADES powers of ten. */
#include "families.h"
#include <math.h>
#include "base/base.h"

/* The triplets of a column begin with number start[column]. */
static int add_random(struct hd_rng *rng, size_t column, uint64_t n, struct hd_sparse_made *out)
{
	for (uint64_t e = 0; out->rows && e < n; e++) {
		double value = hd_rng_normal(rng);
		if (hd_sparse_triplets_add(&out->triplets, hd_rng_next(rng) % out->rows, column, &value))
			return HEDDLE_E_MEMORY;
	}
	return 0;
}

/* Adds a copy of a column, which has n triplets. */
static int add_copy(size_t from, uint64_t n, size_t to, struct hd_sparse_made *out)
{
	for (uint64_t e = 0; out->rows && e < n; e++) {
		double value = out->triplets.value[from * n + e];
		if (hd_sparse_triplets_add(&out->triplets, (size_t)out->triplets.row[from * n + e], to, &value))
			return HEDDLE_E_MEMORY;
	}
	return 0;
}

static void scale(struct hd_rng *rng, double decades, struct hd_sparse_triplets *t)
{
	double factor = 1;
	for (size_t e = 0; e < t->n; e++) {
		if (e == 0 || t->column[e] != t->column[e - 1])
			factor = pow(10, decades * (hd_rng_uniform(rng) - 0.5));
		t->value[e] *= factor;
	}
}

int hd_sparse_scattered(const uint64_t *numbers, struct hd_sparse_made *out)
{
	uint64_t n = numbers[1], per_column = numbers[2], deficient = numbers[4];
	if (deficient && deficient + 2 > n)
		return heddle_error(HEDDLE_E_UNKNOWN, "of %llu columns, %llu cannot be sums of two of the others",
		                    (unsigned long long)n, (unsigned long long)deficient);
	struct hd_rng rng;
	hd_rng_seed(&rng, numbers[3]);
	out->rows = numbers[0];
	out->columns = n;
	int status = 0;
	size_t free_columns = n - deficient;
	for (size_t j = 0; !status && j < free_columns; j++)
		status = add_random(&rng, j, per_column, out);
	for (size_t j = free_columns; !status && j < n; j++) {
		size_t first = hd_rng_next(&rng) % free_columns;
		size_t second = (first + 1 + hd_rng_next(&rng) % (free_columns - 1)) % free_columns;
		status = add_copy(first, per_column, j, out);
		if (!status)
			status = add_copy(second, per_column, j, out);
	}
	if (!status && numbers[5])
		scale(&rng, (double)numbers[5], &out->triplets);
	return status;
}
