/* One precision of test_fmm_kernels.c. */

static void P(fill)(struct hd_rng *rng, size_t n, real *x)
{
	for (size_t i = 0; i < n; i++)
		x[i] = (real)(hd_rng_uniform(rng) - 0.5);
}

static void P(near)(double a, double b, double scale, const char *what)
{
	double most = (SINGLE ? 2e-5 : 2e-13) * scale;
	if (!(fabs(a - b) <= most))
		fail_msg("%s, %s precision: %.17g is not %.17g", what, SINGLE ? "single" : "double", a, b);
}

/* --- Pairs -------------------------------------------------------------------------------------------------------- */

enum { P(TARGETS) = 2 * LANES, P(SOURCES) = 13, P(LEAVES) = 3 };

static void P(run_pairs)(P(pairs) pairs, int gradient, real sum[4][P(TARGETS)])
{
	static const real offsets[P(LEAVES)][3] = {{0, 0, 0}, {1, 0, -1}, {0, -1, 0}};
	static real x[3][P(TARGETS)], q[P(TARGETS)];
	struct P(sources) sources[P(LEAVES)];
	struct hd_rng rng;
	hd_rng_seed(&rng, 5);
	P(fill)(&rng, 3 * P(TARGETS), x[0]);
	P(fill)(&rng, P(TARGETS), q);
	for (int c = 0; c < 3; c++)
		x[c][3] = x[c][4]; /* at the same place */
	memset(sum, 0, 4 * sizeof *sum);
	for (int k = 0; k < P(LEAVES); k++)
		sources[k] = (struct P(sources)){
		    P(SOURCES), {x[0], x[1], x[2]}, q, {offsets[k][0], offsets[k][1], offsets[k][2]}};
	struct P(targets) targets = {P(TARGETS), {x[0], x[1], x[2]}, {sum[0], NULL, NULL, NULL}};
	for (int c = 1; c < 4 && gradient; c++)
		targets.sum[c] = sum[c];
	pairs(&targets, sources, P(LEAVES));
}

static void P(check_pairs)(void)
{
	static real plain[4][P(TARGETS)], other[4][P(TARGETS)];
	for (int vectors = HD_FMM_PLAIN + 1; vectors <= (int)hd_fmm_best_vectors(); vectors++)
		for (int gradient = 0; gradient < 2; gradient++) {
			P(run_pairs)(P(pairs_for)(HD_FMM_PLAIN), gradient, plain);
			P(run_pairs)(P(pairs_for)((enum hd_fmm_vectors)vectors), gradient, other);
			for (int i = 0; i < 4 * P(TARGETS); i++) {
				double a = plain[i / P(TARGETS)][i % P(TARGETS)],
				       b = other[i / P(TARGETS)][i % P(TARGETS)];
				P(near)(a, b, 1 + fabs(a), "a pair");
			}
		}
}

/* --- Particles and translations ----------------------------------------------------------------------------------- */

enum { P(DEGREE) = 6, P(PARTICLES) = LANES };

/* The multipole of particles, across to another cell, down to the cell's children, to points: beside the direct sum, in
 * all directions. */
struct P(cell) {
	real x[3][P(PARTICLES)], q[P(PARTICLES)], m[HD_FMM_MOST_TERMS];
};

static void P(make_cell)(struct hd_rng *rng, struct P(cell) * cell)
{
	const struct P(points) points = {P(PARTICLES), 1, {cell->x[0], cell->x[1], cell->x[2]}};
	double r[HD_FMM_MOST_TERMS], sum[HD_FMM_MOST_TERMS] = {0};
	P(fill)(rng, 3 * P(PARTICLES), cell->x[0]);
	P(fill)(rng, P(PARTICLES), cell->q);
	memset(cell->m, 0, sizeof cell->m);
	P(particles_to_multipole)(P(DEGREE), &points, cell->q, cell->m);
	for (int i = 0; i < P(PARTICLES); i++) {
		const double x[] = {cell->x[0][i], cell->x[1][i], cell->x[2][i]};
		hd_fmm_regular(P(DEGREE), x, r);
		for (size_t j = 0; j < hd_fmm_terms(P(DEGREE)); j++)
			sum[j] += (double)cell->q[i] * r[j];
	}
	for (size_t j = 0; j < hd_fmm_terms(P(DEGREE)); j++)
		P(near)(sum[j], cell->m[j], 1, "a multipole");
}

/* One translation, by a table and a reflection, is the translation by the offset's own matrix. */
static void P(check_translation)(const struct P(tables) * t, const struct P(cell) * from, const int offset[3])
{
	static double k[HD_FMM_MOST_TERMS * HD_FMM_MOST_TERMS];
	static real work[2 * HD_FMM_COLUMNS * HD_FMM_MOST_TERMS], to[HD_FMM_MOST_TERMS];
	const double x[] = {offset[0], offset[1], offset[2]};
	unsigned reflection, matrix = hd_fmm_offset(offset, &reflection);
	const struct P(translation) one = {from->m, to, reflection};
	assert_true(matrix < HD_FMM_OFFSETS);
	memset(to, 0, sizeof to);
	P(translate)(t, (struct P(operator)){t->far[matrix], 0, 1}, &one, 1, work);
	hd_fmm_multipole_to_local(P(DEGREE), x, k, t->terms);
	for (size_t i = 0; i < t->terms; i++) {
		double sum = 0, size = 0;
		for (size_t j = 0; j < t->terms; j++) {
			sum += k[i + j * t->terms] * (double)from->m[j];
			size += fabs(k[i + j * t->terms] * (double)from->m[j]);
		}
		P(near)(sum, to[i], size, "a translation");
	}
}

static void P(check_translations)(void)
{
	struct P(tables) t;
	struct P(cell) cell;
	struct hd_rng rng;
	hd_rng_seed(&rng, 6);
	P(make_cell)(&rng, &cell);
	assert_int_equal(P(tables_make)(&t, P(DEGREE), 0), 0);
	for (int x = -3; x <= 3; x++)
		for (int y = -3; y <= 3; y++)
			for (int z = -3; z <= 3; z++) {
				const int offset[] = {x, y, z};
				if (abs(x) > 1 || abs(y) > 1 || abs(z) > 1)
					P(check_translation)(&t, &cell, offset);
			}
	P(tables_free)(&t);
}

/* A local expansion at points beside its formula, and its derivatives beside hd_fmm_derivative's. */
static void P(check_local)(void)
{
	real l[HD_FMM_MOST_TERMS], slopes[3][HD_FMM_MOST_TERMS], sum[4][P(PARTICLES)] = {{0}};
	static double d[HD_FMM_MOST_TERMS * HD_FMM_MOST_TERMS];
	struct P(tables) t;
	struct P(cell) cell;
	struct hd_rng rng;
	hd_rng_seed(&rng, 7);
	P(make_cell)(&rng, &cell);
	P(fill)(&rng, HD_FMM_MOST_TERMS, l);
	assert_int_equal(P(tables_make)(&t, P(DEGREE), 0), 0);
	for (int c = 0; c < 3; c++)
		P(slope)(t.terms, l, t.derivatives[c], t.n_derivatives[c], slopes[c]);
	P(local_to_particles)
	(P(DEGREE), &(struct P(points)){P(PARTICLES), 1, {cell.x[0], cell.x[1], cell.x[2]}}, l,
	 (const real *[]){slopes[0], slopes[1], slopes[2]}, (real *[]){sum[0], sum[1], sum[2], sum[3]});
	for (int i = 0; i < P(PARTICLES); i++) {
		const double x[] = {cell.x[0][i], cell.x[1][i], cell.x[2][i]};
		double r[HD_FMM_MOST_TERMS], wanted[4] = {0};
		hd_fmm_regular(P(DEGREE), x, r);
		for (size_t j = 0; j < t.terms; j++)
			wanted[0] += (double)l[j] * r[j];
		for (int c = 0; c < 3; c++) {
			memset(d, 0, sizeof d);
			hd_fmm_derivative(P(DEGREE), c, d, t.terms);
			for (size_t j = 0; j < t.terms * t.terms; j++)
				wanted[1 + c] += (double)l[j % t.terms] * d[j] * r[j / t.terms];
		}
		for (int c = 0; c < 4; c++)
			P(near)(wanted[c], sum[c][i], 1, "a local expansion");
	}
	P(tables_free)(&t);
}
