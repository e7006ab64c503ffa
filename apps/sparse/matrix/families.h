/* Families of matrices that are made by a rule. Each function takes the numbers in the name, and fills triplets with
 * one component. */
#ifndef HD_SPARSE_FAMILIES_H
#define HD_SPARSE_FAMILIES_H

#include "matrix.h"

/* What a family makes. */
struct hd_sparse_made {
	size_t rows, columns;
	struct hd_sparse_triplets triplets;
};

/* matchings.c: mkN-bK */
int hd_sparse_matchings(const uint64_t *numbers, struct hd_sparse_made *out);
/* forests.c: TFn */
int hd_sparse_forests(const uint64_t *numbers, struct hd_sparse_made *out);
/* colourings.c: flower_K_D, cat_ears_K_D */
int hd_sparse_flower(const uint64_t *numbers, struct hd_sparse_made *out);
int hd_sparse_cat_ears(const uint64_t *numbers, struct hd_sparse_made *out);
/* grids.c: grid2d:N, grid3d:N */
int hd_sparse_grid2d(const uint64_t *numbers, struct hd_sparse_made *out);
int hd_sparse_grid3d(const uint64_t *numbers, struct hd_sparse_made *out);
/* scattered.c: random:M,N,PER_COLUMN,SEED[,DEFICIENT[,DECADES]] */
int hd_sparse_scattered(const uint64_t *numbers, struct hd_sparse_made *out);

#endif
