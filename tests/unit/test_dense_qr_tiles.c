/* Tasks of QR on tiles that the program has registered itself: heddle_dense_qr_tile_submit. */
#include "../sanitized.h"
#include "dense_runtime.h"
#include "dense_views.h"
#include <dense/kernels/halves.h>

enum { TILE = 12, INNER = 5, TILES = 3, ROWS = 3 * TILE - 2, COLUMNS = 3 * TILE - 4 };

/* A matrix of tiles, NULL where there is none, with a T for each. */
struct grid {
	struct fixture *f;
	enum heddle_dense_precision precision;
	heddle_data *tiles[TILES][TILES], *t[TILES][TILES], *work;
};

/* Submits a task on tile (i, k) or, if `j` is not k, the application of what it has made to column j. */
static void submit(const struct grid *g, int i, int k, int j)
{
	int alone = i == k, makes = j == k;
	const struct heddle_dense_qr_tile_task task = {
	    .kernel = alone ? (makes ? HEDDLE_DENSE_GEQRT : HEDDLE_DENSE_GEMQRT)
	                    : (makes ? HEDDLE_DENSE_TSQRT : HEDDLE_DENSE_TSMQR),
	    .precision = g->precision,
	    .trans = HEDDLE_DENSE_CONJ_TRANS,
	    .top = alone ? NULL : g->tiles[k][j],
	    .tile = g->tiles[i][j],
	    .v = makes ? NULL : g->tiles[i][k],
	    .t = g->t[i][k],
	    .work = g->work,
	};
	OK(heddle_dense_qr_tile_submit(g->f->dense, &task));
}

/* The flat tree, as far down as there are tiles. */
static void factorise(const struct grid *g)
{
	for (int k = 0; k < TILES; k++)
		for (int i = k; i < TILES && g->tiles[i][k]; i++)
			for (int j = k; j < TILES; j++)
				submit(g, i, k, j);
}

#define HD_TEMPLATE <unit/dense_qr_tiles_tests.h>
#include <dense/kernels/precisions.h>

static void tasks_that_lack_a_datum_are_refused(void **state)
{
	struct fixture *f = *state;
	heddle_data *tile, *t, *work;
	OK(heddle_matrix(f->rt, NULL, TILE, TILE, TILE, sizeof(double _Complex), &tile));
	OK(heddle_matrix(f->rt, NULL, INNER, TILE, INNER, sizeof(double _Complex), &t));
	OK(heddle_vector(f->rt, NULL, heddle_dense_qr_workspace(TILE, INNER), sizeof(double _Complex), &work));
	struct heddle_dense_qr_tile_task task = {
	    .kernel = HEDDLE_DENSE_TSQRT, .precision = HEDDLE_DENSE_COMPLEX_DOUBLE, .tile = tile, .t = t, .work = work};
	assert_int_equal(heddle_dense_qr_tile_submit(f->dense, &task), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "lacks its tile, T, workspace, tile on top or V"));
	task.kernel = HEDDLE_DENSE_GEMQRT;
	assert_int_equal(heddle_dense_qr_tile_submit(f->dense, &task), HEDDLE_E_INVALID);
	task.v = tile;
	task.trans = HEDDLE_DENSE_TRANS;
	assert_int_equal(heddle_dense_qr_tile_submit(f->dense, &task), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "not by the transpose of Q"));
	task.kernel = (enum heddle_dense_qr_kernel)6;
	assert_int_equal(heddle_dense_qr_tile_submit(f->dense, &task), HEDDLE_E_INVALID);
	assert_int_equal(heddle_dense_qr_tile_submit(NULL, &task), HEDDLE_E_INVALID);
}

#define WITH_RUNTIME(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define TESTS_OF(letter)                                                  \
	WITH_RUNTIME(hd_##letter##_tasks_on_tiles_give_what_geqrf_gives), \
	    WITH_RUNTIME(hd_##letter##_rows_that_are_zero_in_a_column_of_tiles_may_be_left_out)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TESTS_OF_ALL,
	    WITH_RUNTIME(tasks_that_lack_a_datum_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
