/* Whole programs in which a device is lost somewhere, under every policy: the result must be right, or an error must
 * say what is lost. Nothing may hang, and the others must be able to run the same again. */
#include "../sanitized.h"
#include "losing_program.h"

/* --- Cholesky ----------------------------------------------------------------------------------------------------- */

enum { TILES = 5 };
struct matrix {
	uint64_t tiles[TILES][TILES][N];
};

static void fill(struct matrix *m)
{
	for (uint64_t i = 0; i < TILES; i++)
		for (uint64_t j = 0; j < TILES; j++)
			for (uint64_t k = 0; k < N; k++)
				m->tiles[i][j][k] = 100 * i + 10 * j + k;
}

/* The task graph of Cholesky, whose kernels are replaced by mixtures. */
#define CHOLESKY(DO)                                                \
	for (int k = 0; k < TILES; k++) {                           \
		DO(k, k, -1, -1, -1, -1);                           \
		for (int i = k + 1; i < TILES; i++)                 \
			DO(i, k, k, k, -1, -1);                     \
		for (int i = k + 1; i < TILES; i++)                 \
			for (int j = k + 1; j <= i; j++)            \
				DO(i, j, i, k, j == i ? -1 : j, k); \
	}

static void compute(struct matrix *m)
{
#define STEP(i, j, ai, aj, bi, bj)                                                                \
	mix(m->tiles[i][j], (ai) < 0 ? NULL : m->tiles[(ai) < 0 ? 0 : (ai)][(aj) < 0 ? 0 : (aj)], \
	    (bi) < 0 ? NULL : m->tiles[(bi) < 0 ? 0 : (bi)][(bj) < 0 ? 0 : (bj)], 0)
	CHOLESKY(STEP)
#undef STEP
}

static void submit_step(heddle_runtime *rt, heddle_codelet *c, heddle_data *x, heddle_data *a, heddle_data *b)
{
	if (b)
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(x), heddle_r(a), heddle_r(b)));
	else if (a)
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(x), heddle_r(a)));
	else
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(x)));
}

static int look(heddle_context *c)
{
	(void)c;
	return 0;
}

/* Runs it, and first a task on worker `first`, unless that is 0, a CPU. Returns the first error; *wrong: an error was
 * not reported, or the result is wrong without one. */
static int factorise(heddle_runtime *rt, unsigned first, int *wrong)
{
	static struct matrix m, right;
	static heddle_data *d[TILES][TILES];
	heddle_codelet *c = codelet(rt, "change", change);
	fill(&m);
	fill(&right);
	compute(&right);
	for (int i = 0; i < TILES; i++)
		for (int j = 0; j <= i; j++)
			assert_ok(heddle_vector(rt, m.tiles[i][j], N, sizeof(uint64_t), &d[i][j]));
	if (first)
		assert_ok(heddle_submit(rt, heddle_call(for_devices(rt, look)), heddle_r(d[0][0]), heddle_on(first)));
#define STEP(i, j, ai, aj, bi, bj)                                                                 \
	submit_step(rt, c, d[i][j], (ai) < 0 ? NULL : d[(ai) < 0 ? 0 : (ai)][(aj) < 0 ? 0 : (aj)], \
	            (bi) < 0 ? NULL : d[(bi) < 0 ? 0 : (bi)][(bj) < 0 ? 0 : (bj)])
	CHOLESKY(STEP)
#undef STEP
	assert_ok(heddle_selfcheck(rt));
	struct result r = wait_for_all(rt);
	for (int i = 0; i < TILES; i++)
		for (int j = 0; j <= i; j++)
			bring_back(&r, d[i][j]);
	int status = conclude(rt, &r);
	*wrong = !status && memcmp(&m, &right, sizeof m) != 0;
	return status;
}

/* A device is lost in the middle of it; then it is run again by those that are left. Returns whether it was lost. If it
 * was not, nothing is run again: the device may still be lost then, by a call that nobody waited for. */
static int factorise_with_loss(const char *policy, int n_accelerators, unsigned first)
{
	int wrong;
	heddle_runtime *rt = start_losing(policy, 1, n_accelerators);
	int status = factorise(rt, first, &wrong), lost = n_lost() != 0;
	if (status && (status != HEDDLE_E_DEVICE || !strstr(heddle_last_error(), "lost") || !lost))
		fail_msg("%s, %s %d: %s: %s", policy, lost_by_names[plan.by], plan.call, heddle_status_name(status),
		         heddle_last_error());
	if (wrong)
		fail_msg("%s, %s %d: the result is wrong", policy, lost_by_names[plan.by], plan.call);
	if (lost)
		assert_ok(factorise(rt, 0, &wrong));
	assert_false(wrong);
	while (lost_workers(rt) != (uint64_t)n_lost()) /* a thread may be about to tell of it: nobody waited for that */
		sched_yield();
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_stop(rt));
	return lost;
}

/* Loses the device at every `step`-th call of each kind and at every allocation; below a sanitizer at every third of
 * these. On a busy machine a CPU may compute everything before a device has begun, and nothing is lost: so one run
 * begins with a task on the device. */
static void try_losses(const char *policy, const struct heddle_driver *driver, int step)
{
	const int fewer = SANITIZED ? 3 : 1;
	accelerator = driver;
	for (int n = 1; n <= 2; n++)
		for (int by = BY_ALLOC; by < N_LOST_BY; by++)
			for (int call = 1, lost = 1; lost && call < 60; call += by == BY_ALLOC ? fewer : fewer * step) {
				plan_loss((enum lost_by)by, 0, call, call % 2);
				lost = factorise_with_loss(policy, n, 0);
			}
	plan_loss(BY_LAUNCH, 0, 1, 1);
	assert_true(factorise_with_loss(policy, 1, 1));
	accelerator = &losing;
}

static void cholesky_is_right_or_says_what_is_lost(void **state)
{
	(void)state;
	try_losses("dmdas", &losing, 3);
	try_losses("eager", &losing_asked, 7);
	try_losses("lws", &losing_blocking, 7);
}

static void every_policy_gets_its_tasks_back(void **state)
{
	(void)state;
	const struct heddle_policy **all = heddle_policies();
	for (size_t i = 0; all[i]; i++)
		try_losses(all[i]->name, &losing, 37);
	free(all);
}

/* --- Random programs ---------------------------------------------------------------------------------------------- */

enum { N_DATA = 8, N_TASKS = 120 };
struct random_program {
	uint64_t x[N_DATA][N], right[N_DATA][N];
	heddle_data *d[N_DATA];
	heddle_codelet *change, *make, *add, *shift;
	uint64_t random;
};

static unsigned below(struct random_program *p, unsigned n)
{
	p->random = p->random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(p->random >> 33) % n;
}

static int shift(heddle_context *c)
{
	uint64_t *x = heddle_ptr(c, 0);
	for (int i = 0; i < N; i++)
		x[i] += 5;
	return 0;
}

/* Submits one task, or something else, and does the same to the right values. */
static void random_step(heddle_runtime *rt, struct random_program *p)
{
	unsigned i = below(p, N_DATA), j = (i + 1 + below(p, N_DATA - 1)) % N_DATA;
	uint64_t *x = p->right[i];
	switch (below(p, 7)) {
	case 0:
		assert_ok(heddle_submit(rt, heddle_call(p->make), heddle_w(p->d[i]), heddle_r(p->d[j])));
		mix(x, p->right[j], NULL, 1);
		break;
	case 1:
		assert_ok(heddle_submit(rt, heddle_call(p->shift), heddle_commute(p->d[i])));
		for (int k = 0; k < N; k++)
			x[k] += 5;
		break;
	case 2:
		for (int n = 0; n < 4; n++) {
			assert_ok(heddle_submit(rt, heddle_call(p->add), heddle_redux(p->d[i]), heddle_r(p->d[j])));
			for (int k = 0; k < N; k++)
				x[k] += p->right[j][k];
		}
		break;
	case 3: assert_ok(heddle_prefetch(p->d[i], below(p, 3))); break;
	default:
		assert_ok(heddle_submit(rt, heddle_call(p->change), heddle_rw(p->d[i]), heddle_r(p->d[j])));
		mix(x, p->right[j], NULL, 0);
	}
}

static void begin_random_program(heddle_runtime *rt, struct random_program *p, uint64_t seed)
{
	*p = (struct random_program){.random = seed};
	p->change = codelet(rt, "change", change);
	p->make = codelet(rt, "make", make);
	p->add = codelet(rt, "add", add);
	p->shift = codelet(rt, "shift", shift);
	heddle_codelet *neutral = codelet(rt, "zero", zero);
	for (unsigned i = 0; i < N_DATA; i++) {
		for (unsigned k = 0; k < N; k++)
			p->x[i][k] = p->right[i][k] = i + k;
		assert_ok(heddle_vector(rt, p->x[i], N, sizeof(uint64_t), &p->d[i]));
		assert_ok(heddle_data_set_reduction(p->d[i], neutral, p->add));
	}
}

/* Returns whether the program, in which a device is lost somewhere, has ended well, and then has the right result. */
static int run_random_program(const char *policy, uint64_t seed)
{
	struct random_program p;
	heddle_runtime *rt = start_losing(policy, 1, 2);
	begin_random_program(rt, &p, seed);
	for (int i = 0; i < N_TASKS; i++) {
		random_step(rt, &p);
		if (below(&p, 20) == 0)
			assert_ok(heddle_selfcheck(rt));
	}
	char which[80];
	struct result r = wait_for_all(rt);
	for (int i = 0; i < N_DATA; i++)
		bring_back(&r, p.d[i]);
	snprintf(which, sizeof which, "%s, seed %llu", policy, (unsigned long long)seed);
	return judge(rt, &r, which, p.x, p.right, sizeof p.x);
}

static void random_programs_with_a_loss(void **state)
{
	(void)state;
	enum { PROGRAMS = 34 };
	const struct heddle_policy **all = heddle_policies();
	size_t n_policies = 0, n_well = 0, n_ill = 0;
	while (all[n_policies])
		n_policies++;
	for (uint64_t seed = 1; seed <= PROGRAMS || ((!n_well || !n_ill) && seed <= 20 * PROGRAMS); seed++) {
		struct random_program p = {.random = seed};
		plan_loss((enum lost_by)(1 + below(&p, N_LOST_BY - 1)), below(&p, 2), 1 + (int)below(&p, 30),
		          below(&p, 4) != 0);
		int well = run_random_program(all[seed % n_policies]->name, seed);
		n_well += n_lost() && well;
		n_ill += n_lost() && !well;
	}
	free(all);
	assert_true(n_well > 0 && n_ill > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(cholesky_is_right_or_says_what_is_lost),
	    cmocka_unit_test(every_policy_gets_its_tasks_back),
	    cmocka_unit_test(random_programs_with_a_loss),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
