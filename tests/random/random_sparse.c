/* Random sparse matrices, factorised and solved under all policies, and compared with what is known without the
 * library: the definitions of Q and R, LAPACK's factorisation, singular values and solutions, and the same
 * factorisation by one worker, one task after the other.
 *
 * Every seed makes one matrix: of any shape, pattern, rank and scale, with rows and columns that are empty, full, or
 * depend on others; elements in any order, twice, or zero. It is factorised in one of four precisions with random
 * options, then with other values, with a NaN among them, and again. The machine is CPU cores and emulated accelerators
 * with little memory. SEEDS_PER_RUNTIME consecutive seeds share a runtime. */
#include "sparse_cases.h"

enum { SEEDS_PER_RUNTIME = 25 };

/* A runtime with the library open. */
struct machine {
	heddle_runtime *rt;
	heddle_sparse *sparse;
};

/* A matrix, its factorisation, and what it is factorised with. */
struct trial {
	uint64_t seed;
	struct hd_rng rng;
	const struct machine *machine, *alone; /* the second has one worker */
	enum heddle_dense_precision precision;
	struct matrix a;
	struct full f; /* what is factorised, in the order of elimination */
	struct heddle_sparse_analysis_options how;
	struct heddle_sparse_options options;
	heddle_sparse_analysis *analysis;
	heddle_sparse_qr *qr;
	double eps, norm; /* of rounding, with all sizes; of A */
	double tolerance; /* of dead columns */
	size_t n_dead;
};

static int problem(const struct trial *t, const char *what, double found, double allowed)
{
	fprintf(stderr,
	        "seed %llu: %s: %g, allowed %g; %zu x %zu, precision %d, scale %g, ordering %d, subtree %g, tile %zu, "
	        "inner %zu, domain %zu, strips %zu, %zu, relax %g, %zu dead\n",
	        (unsigned long long)t->seed, what, found, allowed, t->a.full.m, t->a.full.n, (int)t->precision,
	        t->a.scale, (int)t->how.ordering, t->how.subtree, t->options.tile, t->options.inner, t->options.domain,
	        t->options.strips[0], t->options.strips[1], t->options.relax, t->n_dead);
	return -1;
}

static int must(const struct trial *t, int status, const char *call)
{
	if (status >= 0)
		return 0;
	fprintf(stderr, "%s: %s\n", call, heddle_last_error());
	return problem(t, call, status, 0);
}

/* A difference that no number is is too large, too. */
static int small(const struct trial *t, double found, double allowed, const char *what)
{
	return found <= allowed ? 0 : problem(t, what, found, allowed);
}

/* --- A trial ------------------------------------------------------------------------------------------------------ */

static void draw_options(struct trial *t)
{
	static const size_t tiles[] = {1, 4, 8, 13, 16, 32, 64, 0};
	static const double shares[] = {-1, -1, 0, 0.1, 1}, relax[] = {0, 0, 1, 1.5};
	t->how = (struct heddle_sparse_analysis_options){.ordering = (enum heddle_sparse_ordering)below(&t->rng, 4),
	                                                 .subtree = shares[below(&t->rng, 5)],
	                                                 .workers = (int)below(&t->rng, 4)};
	t->options = (struct heddle_sparse_options){.tile = tiles[below(&t->rng, 8)],
	                                            .inner = below(&t->rng, 10),
	                                            .domain = below(&t->rng, 5),
	                                            .priority = (enum heddle_sparse_priority)below(&t->rng, 3),
	                                            .relax = relax[below(&t->rng, 4)]};
	if (below(&t->rng, 3) == 0) {
		t->options.strips[0] = 1 + below(&t->rng, 16);
		t->options.strips[1] = below(&t->rng, (uint32_t)t->options.strips[0]);
	}
}

/* What is factorised: A, or its adjoint, with its columns in the order of elimination. */
static struct full permuted(const struct trial *t)
{
	struct full f = t->a.full.m < t->a.full.n ? adjoint_of(&t->a.full) : copy_of(&t->a.full), to = copy_of(&f);
	const int64_t *order = heddle_sparse_column_order(t->analysis);
	for (size_t j = 0; j < f.n && f.m > 0; j++)
		memcpy(at(&to, 0, j), at(&f, 0, (size_t)order[j]), f.m * sizeof *f.a);
	free(f.a);
	return to;
}

static double largest_column(const struct full *f)
{
	double largest = 0;
	for (size_t j = 0; j < f->n; j++) {
		const struct full column = {f->m, 1, f->a + j * f->m};
		largest = fmax(largest, norm_of(&column));
	}
	return largest;
}

static int open_trial(struct trial *t)
{
	t->precision = (enum heddle_dense_precision)below(&t->rng, 4);
	t->a = random_matrix(&t->rng, t->precision);
	draw_options(t);
	if (must(t, heddle_sparse_analyse(&t->a.sparse, &t->how, &t->analysis), "heddle_sparse_analyse") ||
	    must(t, heddle_sparse_qr_create(t->machine->sparse, t->analysis, t->precision, &t->options, &t->qr),
	         "heddle_sparse_qr_create"))
		return -1;
	t->f = permuted(t);
	double eps = is_single(t->precision) ? 0x1p-23 : 0x1p-52;
	t->eps = 10 * (double)(t->f.m + t->f.n + 1) * eps;
	t->norm = norm_of(&t->f);
	t->tolerance = 20 * (double)(t->f.m + t->f.n) * eps * largest_column(&t->f);
	return 0;
}

static int close_trial(struct trial *t)
{
	int status = must(t, heddle_sparse_qr_destroy(t->qr), "heddle_sparse_qr_destroy");
	heddle_sparse_analysis_free(t->analysis);
	free_matrix(&t->a);
	free(t->f.a);
	return status;
}

/* --- Q and R ------------------------------------------------------------------------------------------------------ */

/* R in full, with zeros below it, in the units of F. */
static int full_r(const struct trial *t, heddle_sparse_qr *qr, struct full *out)
{
	struct heddle_sparse_matrix r;
	if (must(t, heddle_sparse_r(qr, &r), "heddle_sparse_r"))
		return -1;
	*out = new_full(t->f.m, t->f.n);
	int is_upper = 1;
	for (size_t j = 0; j < r.columns; j++)
		for (int64_t e = r.column_start[j]; e < r.column_start[j + 1]; e++) {
			is_upper = is_upper && (size_t)r.row[e] <= j;
			*at(out, (size_t)r.row[e], j) = get(t->precision, r.values, (size_t)e) / t->a.scale;
		}
	heddle_sparse_matrix_free(&r);
	return is_upper ? 0 : problem(t, "R has elements below its diagonal", 1, 0);
}

/* C := Q C, or Q^H C. */
static int apply(struct trial *t, enum heddle_dense_trans trans, struct full *c)
{
	struct heddle_dense_array a = array_of(&t->rng, t->precision, c, 1);
	int status = must(t, heddle_sparse_apply_q(t->qr, trans, &a), "heddle_sparse_apply_q");
	free(c->a);
	*c = full_of(&a, 1);
	free(a.data);
	return status;
}

/* A P = Q R, but for what the tolerance has left of dead columns. */
static int check_product(struct trial *t)
{
	struct full qr;
	if (full_r(t, t->qr, &qr))
		return -1;
	double allowed = t->eps * t->norm + sqrt((double)t->n_dead) * t->tolerance;
	int status = apply(t, HEDDLE_DENSE_NO_TRANS, &qr);
	status = status ? status : small(t, distance(&qr, &t->f), allowed, "||A P - Q R||");
	free(qr.a);
	return status;
}

static int check_unitary(struct trial *t)
{
	struct full c = new_full(t->f.m, 2);
	for (size_t e = 0; e < c.m * c.n; e++)
		c.a[e] = some(&t->rng, t->precision);
	struct full to = copy_of(&c);
	int status = apply(t, HEDDLE_DENSE_CONJ_TRANS, &to);
	if (!status)
		status = small(t, fabs(norm_of(&to) - norm_of(&c)), t->eps * norm_of(&c), "||Q^H C|| - ||C||");
	status = status ? status : apply(t, HEDDLE_DENSE_NO_TRANS, &to);
	status = status ? status : small(t, distance(&to, &c), t->eps * norm_of(&c), "||Q Q^H C - C||");
	free(to.a);
	free(c.a);
	return status;
}

/* Each dead column is within the tolerance of those before it: so many singular values are small. */
static int check_rank(struct trial *t)
{
	const int64_t *columns, *order = heddle_sparse_column_order(t->analysis);
	int64_t n_dead = heddle_sparse_deficient_columns(t->qr, &columns);
	if (must(t, (int)n_dead, "heddle_sparse_deficient_columns"))
		return -1;
	t->n_dead = (size_t)n_dead;
	for (size_t d = 0, j = 0; d < t->n_dead; d++, j++) { /* they are in the order of elimination */
		while (j < t->f.n && order[j] != columns[d])
			j++;
		if (j >= t->f.n)
			return problem(t, "a dead column is none, or not in order", (double)columns[d], 0);
	}
	double *values = singular_values(&t->f), limit = 2 * sqrt((double)t->f.n) * t->tolerance;
	size_t n_small = 0;
	while (n_small < t->f.n && values[t->f.n - 1 - n_small] <= limit + t->eps * t->norm)
		n_small++;
	free(values);
	return t->n_dead <= n_small
	           ? 0
	           : problem(t, "more dead columns than small singular values", (double)n_dead, (double)n_small);
}

/* |r_jj| are LAPACK's, as exactly as the condition of F permits. */
static int check_diagonal(struct trial *t)
{
	struct full r;
	if (full_r(t, t->qr, &r))
		return -1;
	double *diagonal = lapack_diagonal(&t->f), least = INFINITY, most = 0;
	for (size_t j = 0; j < t->f.n; j++) {
		least = fmin(least, diagonal[j]);
		most = fmax(most, fabs(diagonal[j] - cabs(*at(&r, j, j))));
	}
	free(diagonal);
	free(r.a);
	return small(t, most, t->eps * t->norm * t->norm / least, "|r_jj| beside LAPACK's");
}

/* R has the same bits if one worker runs all tasks, and if Q is not kept. The options must fix the shapes of tasks,
 * which otherwise depend on the machine. */
static int check_alone(struct trial *t)
{
	heddle_sparse_qr *alone;
	struct full r, other;
	struct heddle_sparse_options options = t->options;
	options.drop_q = (int)below(&t->rng, 2);
	int is_same_graph =
	    t->options.domain > 0 && (t->how.subtree != 0 || t->how.workers > 0) && t->options.strips[0] == 0;
	if (must(t, heddle_sparse_qr_create(t->alone->sparse, t->analysis, t->precision, &options, &alone),
	         "heddle_sparse_qr_create") ||
	    must(t, heddle_sparse_factorise(alone, t->a.sparse.values), "heddle_sparse_factorise") ||
	    full_r(t, t->qr, &r) || full_r(t, alone, &other))
		return -1;
	int64_t n_dead = heddle_sparse_deficient_columns(alone, NULL);
	int is_same = memcmp(r.a, other.a, r.m * r.n * sizeof *r.a) == 0;
	free(r.a);
	free(other.a);
	if (must(t, heddle_sparse_qr_destroy(alone), "heddle_sparse_qr_destroy"))
		return -1;
	if (is_same_graph && (!is_same || n_dead != (int64_t)t->n_dead))
		return problem(t, "R of one worker is another one; its dead columns", (double)n_dead,
		               (double)t->n_dead);
	return 0;
}

/* --- Solutions ---------------------------------------------------------------------------------------------------- */

static int64_t is_dead(const struct trial *t, size_t column)
{
	const int64_t *columns;
	int64_t n = heddle_sparse_deficient_columns(t->qr, &columns), d = 0;
	while (d < n && (size_t)columns[d] != column)
		d++;
	return d < n;
}

/* A^H (A X - B) = 0, and unknowns of dead columns are 0. The residual is as small as LAPACK's. */
static int check_least_squares(struct trial *t, const struct full *x, const struct full *b)
{
	const struct full *a = &t->a.full;
	struct full r = product(a, x, b), adjoint = adjoint_of(a), g = product(&adjoint, &r, NULL);
	double rounding = t->norm * norm_of(x) + norm_of(b), residual = norm_of(&r);
	double of_dead = sqrt((double)t->n_dead) * t->tolerance;
	int status = small(t, norm_of(&g), (t->eps * t->norm + of_dead) * rounding, "||A^H (A X - B)||");
	for (size_t j = 0; !status && t->n_dead > 0 && j < x->m; j++)
		for (size_t k = 0; k < x->n && is_dead(t, j); k++)
			status = status ? status : small(t, cabs(*at(x, j, k)), 0, "the unknown of a dead column");
	if (!status && t->n_dead == 0) {
		struct full theirs = lapack_solution(a, b), left = product(a, &theirs, b);
		status = small(t, residual, norm_of(&left) + t->eps * (rounding + t->norm * norm_of(&theirs)),
		               "||A X - B|| beside LAPACK's");
		free(theirs.a);
		free(left.a);
	}
	free(r.a);
	free(adjoint.a);
	free(g.a);
	return status;
}

/* The rows of A X = B that are not dead hold, and X is in the range of their adjoint: Q^H X has no more rows than R.
 */
static int check_least_norm(struct trial *t, const struct full *x, const struct full *b)
{
	struct full r = product(&t->a.full, x, b), q = copy_of(x);
	double rounding = t->norm * norm_of(x) + norm_of(b), outside = 0;
	for (size_t i = 0; t->n_dead > 0 && i < r.m; i++)
		for (size_t k = 0; k < r.n && is_dead(t, i); k++)
			*at(&r, i, k) = 0;
	int status = small(t, norm_of(&r), t->eps * rounding, "||A X - B||");
	status = status ? status : apply(t, HEDDLE_DENSE_CONJ_TRANS, &q);
	for (size_t k = 0; k < q.n; k++)
		for (size_t i = t->f.n; i < q.m; i++)
			outside = fmax(outside, cabs(*at(&q, i, k)));
	status = status ? status : small(t, outside, t->eps * norm_of(x), "X outside the range of A^H");
	free(r.a);
	free(q.a);
	return status;
}

/* X in the units of the full matrix. */
static int solve(struct trial *t, const struct full *b, struct full *x)
{
	struct full zero = new_full(t->a.full.n, b->n);
	struct heddle_dense_array of_b = array_of(&t->rng, t->precision, b, 1),
	                          of_x = array_of(&t->rng, t->precision, &zero, 1);
	int status = must(t, heddle_sparse_solve(t->qr, &of_b, &of_x), "heddle_sparse_solve");
	*x = full_of(&of_x, t->a.scale);
	free(of_b.data);
	free(of_x.data);
	free(zero.a);
	return status;
}

static int check_solutions(struct trial *t)
{
	static const size_t counts[] = {0, 1, 1, 2, 3, 3, 70};
	struct full b = new_full(t->a.full.m, counts[below(&t->rng, 7)]), x;
	for (size_t e = 0; e < b.m * b.n; e++)
		b.a[e] = some(&t->rng, t->precision);
	int status = solve(t, &b, &x);
	if (!status)
		status = t->a.full.m < t->a.full.n ? check_least_norm(t, &x, &b) : check_least_squares(t, &x, &b);
	free(b.a);
	free(x.a);
	return status;
}

/* --- Other values ------------------------------------------------------------------------------------------------- */

/* Other values, or NaN, then the first ones: R is what it was, bit by bit. Nobody waits in between.
 */
static int check_again(struct trial *t)
{
	size_t n = (size_t)t->a.sparse.column_start[t->a.full.n];
	void *others = new_array(n, size_of(t->precision));
	struct full before, after;
	int has_nan = n > 0 && below(&t->rng, 3) == 0;
	for (size_t e = 0; e < n; e++)
		put(t->precision, others, e, some(&t->rng, t->precision));
	if (has_nan)
		put(t->precision, others, below(&t->rng, (uint32_t)n), NAN);
	if (full_r(t, t->qr, &before) ||
	    must(t, heddle_sparse_factorise_submit(t->qr, others), "heddle_sparse_factorise_submit"))
		return -1;
	int failed = has_nan && below(&t->rng, 2) ? heddle_sparse_deficient_columns(t->qr, NULL) >= 0 : 0;
	if (must(t, heddle_sparse_factorise_submit(t->qr, t->a.sparse.values), "heddle_sparse_factorise_submit"))
		return -1;
	int waited = heddle_wait_all(t->machine->rt);
	if (failed || (waited < 0) != has_nan)
		return problem(t, "the status of a wait for values with, or without, NaN", waited, has_nan);
	free(others);
	if (full_r(t, t->qr, &after))
		return -1;
	int is_same = memcmp(before.a, after.a, before.m * before.n * sizeof *before.a) == 0;
	free(before.a);
	free(after.a);
	if (!is_same && t->options.strips[0] == 0) /* whether tasks on strips are made may depend on what workers do */
		return problem(t, "R of the same values is another one", 1, 0);
	return 0;
}

/* --- Runs --------------------------------------------------------------------------------------------------------- */

static int run_seed(const struct machine *machine, const struct machine *alone, uint64_t seed)
{
	struct trial t = {.seed = seed, .machine = machine, .alone = alone};
	hd_rng_seed(&t.rng, seed);
	begin_seed(seed);
	if (open_trial(&t) || must(&t, heddle_sparse_factorise(t.qr, t.a.sparse.values), "heddle_sparse_factorise") ||
	    check_rank(&t) || check_product(&t) || check_unitary(&t) || check_solutions(&t) ||
	    (t.n_dead == 0 && t.f.n > 0 && check_diagonal(&t)) || check_alone(&t))
		return -1;
	if (below(&t.rng, 3) == 0 && (check_again(&t) || check_product(&t) || check_solutions(&t)))
		return -1;
	return close_trial(&t);
}

static int open_machine(const struct heddle_config *config, struct machine *out)
{
	int status = heddle_start(config, &out->rt);
	status = status ? status : heddle_sparse_open(out->rt, &out->sparse);
	if (status)
		fprintf(stderr, "%s\n", heddle_last_error());
	return status;
}

static int close_machine(struct machine *m)
{
	heddle_sparse_close(m->sparse);
	return heddle_stop(m->rt);
}

static int open_both(const struct options *options, uint64_t group, struct machine *both)
{
	static const char *const expand[] = {"always", "adaptive", "never"};
	struct hd_rng rng;
	struct heddle_config config;
	hd_rng_seed(&rng, group);
	if (heddle_config_init(&config))
		return -1;
	config.n_cuda = config.n_opencl = 0;
	config.model_dir = "none";
	config.sched_options = config.platform = NULL;
	config.n_cpu = options->workers ? (int)options->workers : cores_up_to(1 + (int)below(&rng, 4));
	config.sched = policy_name(options, group);
	config.n_emulated = (int)below(&rng, 3);
	config.emulated_memory = 40000 << below(&rng, 6);
	config.expand = expand[below(&rng, 3)];
	int status = open_machine(&config, &both[0]);
	config.n_cpu = 1;
	config.n_emulated = 0;
	config.sched = "eager";
	config.expand = "never";
	return status ? status : open_machine(&config, &both[1]);
}

static int run_group(const struct options *options, uint64_t first, uint64_t last)
{
	struct machine both[2];
	if (open_both(options, first / SEEDS_PER_RUNTIME, both))
		return -1;
	current_runtime = both[0].rt;
	int status = 0;
	for (uint64_t seed = first; !status && seed <= last; seed++)
		status = run_seed(&both[0], &both[1], seed);
	current_runtime = NULL;
	if (!status)
		status = close_machine(&both[0]) || close_machine(&both[1]);
	return status;
}

int main(int argc, char **argv)
{
	struct options options;
	if (parse_options(argc, argv, &options))
		return 1;
	watch();
	if (run_groups(&options, SEEDS_PER_RUNTIME, run_group))
		return 1;
	printf("%llu matrices\n", (unsigned long long)options.count);
	return 0;
}
