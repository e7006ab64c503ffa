/* Dense linear algebra: solves A X = B with a positive definite A, and computes B - A X, all in one graph of tasks.
 *
 *   cc 13_dense_solver.c $(pkg-config --cflags --libs heddle-dense) -lm */
#include <heddle/dense.h>
#include <math.h>
#include <stdio.h>

enum { N = 600, TILE = 100, SEED_A = 1, SEED_B = 2 };

/* Nothing here waits. What a task needs of the tasks before it follows from the tiles that it reads. */
static int submit(heddle_dense_matrix *a, heddle_dense_matrix *x, heddle_dense_matrix *r)
{
	heddle_dense_scalar one = heddle_dense_real(1), minus_one = heddle_dense_real(-1);
	return heddle_dense_random_submit(a, HEDDLE_DENSE_SPD, SEED_A) ||
	       heddle_dense_random_submit(x, HEDDLE_DENSE_RANDOM, SEED_B) || heddle_dense_copy_submit(r, x) ||
	       heddle_dense_posv_submit(HEDDLE_DENSE_LOWER, a, x,
	                                NULL) || /* A has its factor then, and x the solution */
	       /* The second phase begins while the first one still runs: A once more, then R := R - A X. */
	       heddle_dense_random_submit(a, HEDDLE_DENSE_SPD, SEED_A) ||
	       heddle_dense_symm_submit(HEDDLE_DENSE_LEFT, HEDDLE_DENSE_LOWER, minus_one, a, x, one, r, NULL);
}

int main(void)
{
	static double residual[N];
	struct heddle_dense_shape triangle = {.rows = N, .columns = N, .tile = TILE, .uplo = HEDDLE_DENSE_LOWER};
	struct heddle_dense_shape column = {.rows = N, .columns = 1, .tile = TILE};
	heddle_runtime *rt;
	heddle_dense *dense;
	heddle_dense_matrix *a, *x, *r; /* the tiles of A and X are temporaries, those of R lie in the array */
	if (heddle_start(NULL, &rt) || heddle_dense_open(rt, &dense) ||
	    heddle_dense_matrix_create(dense, &triangle, NULL, 0, &a) ||
	    heddle_dense_matrix_create(dense, &column, NULL, 0, &x) ||
	    heddle_dense_matrix_create(dense, &column, residual, N, &r) || submit(a, x, r) ||
	    heddle_dense_matrix_destroy(r) || /* waits for R */
	    heddle_dense_matrix_destroy(x) || heddle_dense_matrix_destroy(a)) {
		fprintf(stderr, "%s\n", heddle_last_error());
		return 1;
	}
	heddle_dense_close(dense);
	heddle_stop(rt);
	double largest = 0;
	for (size_t i = 0; i < N; i++)
		largest = fmax(largest, fabs(residual[i]));
	printf("largest element of B - A X: %.1e\n", largest);
	return !(largest < 1e-12);
}
