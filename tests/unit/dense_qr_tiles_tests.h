/* One precision of test_dense_qr_tiles.c. */

static enum heddle_dense_precision P(precision)(void)
{
	return LETTER == 'd'   ? HEDDLE_DENSE_DOUBLE
	       : LETTER == 's' ? HEDDLE_DENSE_SINGLE
	       : LETTER == 'z' ? HEDDLE_DENSE_COMPLEX_DOUBLE
	                       : HEDDLE_DENSE_COMPLEX_SINGLE;
}

/* Tile (i, k) of a matrix, with as many rows as `reach` leaves it; NULL: none. */
static heddle_data *P(tile)(heddle_runtime *rt, struct P(view) a, int i, int k, const int *reach)
{
	int rows = hd_smaller(TILE, reach[k] - i * TILE), columns = hd_smaller(TILE, a.n - k * TILE);
	heddle_data *tile = NULL;
	if (rows > 0)
		OK(heddle_matrix(rt, P(at)(a, i * TILE, k * TILE), (size_t)rows, (size_t)columns, (size_t)a.ld,
		                 sizeof(element), &tile));
	return tile;
}

/* Factorises a matrix whose column k of tiles has nothing below row reach[k], by tasks on tiles that end there. */
static void P(factorise_tiles)(struct fixture *f, struct P(view) a, const int *reach)
{
	struct grid g = {.f = f, .precision = P(precision)()};
	for (int k = 0; k < TILES; k++)
		for (int i = 0; i < TILES; i++) {
			g.tiles[i][k] = P(tile)(f->rt, a, i, k, reach);
			OK(heddle_matrix(f->rt, NULL, INNER, (size_t)hd_smaller(TILE, a.n - k * TILE), INNER,
			                 sizeof(element), &g.t[i][k]));
		}
	OK(heddle_vector(f->rt, NULL, heddle_dense_qr_workspace(TILE, INNER), sizeof(element), &g.work));
	factorise(&g);
	for (int k = 0; k < TILES; k++)
		for (int i = 0; i < TILES; i++) {
			if (g.tiles[i][k])
				OK(heddle_unregister(g.tiles[i][k]));
			OK(heddle_unregister_async(g.t[i][k]));
		}
	OK(heddle_unregister_async(g.work));
	OK(heddle_wait_all(f->rt));
}

static void P(tasks_on_tiles_give_what_geqrf_gives)(void **state)
{
	struct fixture *f = *state;
	const int all[] = {ROWS, ROWS, ROWS};
	struct P(view) a = P(random_view)(ROWS, COLUMNS, 7), b = P(copy)(a);
	const struct heddle_dense_options options = {.tile = TILE, .inner = INNER};
	const struct heddle_dense_array array = {P(precision)(), ROWS, COLUMNS, a.a, (size_t)a.ld};
	OK(heddle_dense_geqrf(f->dense, &array, NULL, &options));
	P(factorise_tiles)(f, b, all);
	P(check_same)(a, b, 1);
	P(free_view)(a), P(free_view)(b);
}

/* V and what it is applied to end where their columns do. R is that of the whole matrix, and so is V. */
static void P(rows_that_are_zero_in_a_column_of_tiles_may_be_left_out)(void **state)
{
	struct fixture *f = *state;
	const int all[] = {ROWS, ROWS, ROWS}, reach[] = {TILE - 3, 2 * TILE + 2, ROWS};
	struct P(view) a = P(random_view)(ROWS, COLUMNS, 8), b;
	for (int j = 0; j < COLUMNS; j++)
		for (int i = reach[j / TILE]; i < ROWS; i++)
			*P(at)(a, i, j) = 0;
	b = P(copy)(a);
	P(factorise_tiles)(f, a, all);
	P(factorise_tiles)(f, b, reach);
	P(check_same)(a, b, ROWS);
	P(free_view)(a), P(free_view)(b);
}
