/* Programs on pieces of data in which a device is lost somewhere: copies on it lie in each other. The result must be
 * right, or an error must say what is lost. */
#include "losing_program.h"

enum { LENGTH = 16, N_DATA = 3, HANDLES = 9, N_TASKS = 60, PROGRAMS = 24 };

/* A handle of each datum: the whole, two halves, four quarters, and two pieces of the first half. */
static const struct {
	size_t begin, n;
} window_of[HANDLES] = {{0, 16}, {0, 8}, {8, 8}, {0, 4}, {4, 4}, {8, 4}, {12, 4}, {0, 4}, {4, 4}};

struct program {
	uint64_t x[N_DATA][LENGTH], right[N_DATA][LENGTH];
	heddle_data *handle[N_DATA][HANDLES];
	heddle_codelet *change, *elsewhere; /* the second is only for devices */
	uint64_t random;
};

static unsigned below(struct program *p, unsigned n)
{
	p->random = p->random * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(p->random >> 33) % n;
}

static void change_all(uint64_t *x, size_t n, const uint64_t *other, size_t n_other)
{
	uint64_t sum = 1;
	for (size_t i = 0; i < n_other; i++)
		sum = 3 * sum + other[i];
	for (size_t i = 0; i < n; i++)
		x[i] = x[i] * 0x9e3779b97f4a7c15u + sum + i;
}

static int change_kernel(heddle_context *c)
{
	change_all(heddle_ptr(c, 0), heddle_extent(c, 0, 0), heddle_ptr(c, 1), heddle_extent(c, 1, 0));
	return 0;
}

static size_t split(heddle_data **children, heddle_data *d, size_t n)
{
	heddle_plan *made;
	assert_ok(heddle_plan_create(d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .nx = n}, &made));
	for (size_t i = 0; i < n; i++)
		children[i] = heddle_plan_child(made, i);
	return n;
}

static void begin_program(heddle_runtime *rt, struct program *p, uint64_t seed)
{
	*p = (struct program){.random = seed, .change = codelet(rt, "change_part", change_kernel)};
	p->elsewhere = for_devices(rt, change_kernel);
	for (unsigned i = 0; i < N_DATA; i++) {
		heddle_data **handle = p->handle[i];
		for (unsigned k = 0; k < LENGTH; k++)
			p->x[i][k] = p->right[i][k] = 100 * i + k;
		assert_ok(heddle_vector(rt, p->x[i], LENGTH, sizeof(uint64_t), &handle[0]));
		size_t n = 1;
		n += split(&handle[n], handle[0], 2);
		n += split(&handle[n], handle[0], 4);
		n += split(&handle[n], handle[1], 2);
	}
}

static void step(heddle_runtime *rt, struct program *p)
{
	unsigned i = below(p, N_DATA), j = (i + 1 + below(p, N_DATA - 1)) % N_DATA;
	unsigned h = below(p, HANDLES), k = below(p, HANDLES);
	heddle_codelet *c = below(p, 3) ? p->change : p->elsewhere;
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(p->handle[i][h]), heddle_r(p->handle[j][k])));
	change_all(p->right[i] + window_of[h].begin, window_of[h].n, p->right[j] + window_of[k].begin, window_of[k].n);
}

/* Returns whether the program has ended well, and then has the right result. */
static int run_program(const char *policy, uint64_t seed)
{
	struct program p;
	heddle_runtime *rt = start_losing(policy, 1, 2);
	begin_program(rt, &p, seed);
	for (int i = 0; i < N_TASKS; i++) {
		step(rt, &p);
		if (below(&p, 8) == 0)
			assert_ok(heddle_selfcheck(rt));
	}
	char which[80];
	struct result r = wait_for_all(rt);
	for (int i = 0; i < N_DATA; i++)
		bring_back(&r, p.handle[i][0]);
	snprintf(which, sizeof which, "%s, seed %llu", policy, (unsigned long long)seed);
	return judge(rt, &r, which, p.x, p.right, sizeof p.x);
}

static void pieces_are_right_or_are_said_to_be_lost(void **state)
{
	(void)state;
	static const char *const policies[] = {"eager", "dmdas", "lws", "random"};
	size_t n_well = 0, n_ill = 0;
	for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
		struct program p = {.random = seed};
		plan_loss((enum lost_by)(1 + below(&p, N_LOST_BY - 1)), below(&p, 2), 1 + (int)below(&p, 20),
		          below(&p, 4) != 0);
		int well = run_program(policies[seed % 4], seed);
		n_well += n_lost() && well;
		n_ill += n_lost() && !well;
	}
	assert_true(n_well + n_ill > 0);
}

/* Changes a handle of datum 0 or 2 on whatever worker, by the value of datum 1, and waits for that. */
static void change_one(heddle_runtime *rt, struct program *p, unsigned i, unsigned h)
{
	heddle_task *t;
	assert_ok(heddle_submit(rt, heddle_call(p->change), heddle_rw(p->handle[i][h]), heddle_r(p->handle[1][0]),
	                        heddle_out(&t)));
	assert_ok(heddle_task_wait(t));
	heddle_task_release(t);
	change_all(p->right[i] + window_of[h].begin, window_of[h].n, p->right[1], LENGTH);
}

/* The whole has no value on the lost device, but the halves have, and can still be read. */
static void what_lies_in_a_void_copy_is_written_back(void **state)
{
	(void)state;
	plan_loss(BY_LAUNCH, 0, 4, 1);
	struct program p;
	heddle_runtime *rt = start_losing("eager", 1, 1);
	begin_program(rt, &p, 1);
	leave_tasks_to_devices(rt);
	for (unsigned h = 0; h < 3; h++)
		change_one(rt, &p, 0, h);
	change_one(rt, &p, 2, 0); /* is begun on the device, which is lost, and run by the core */
	struct result r = wait_for_all(rt);
	for (int i = 0; i < N_DATA; i++)
		bring_back(&r, p.handle[i][0]);
	assert_ok(conclude(rt, &r));
	assert_int_equal(n_lost(), 1);
	assert_memory_equal(p.x, p.right, sizeof p.x);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pieces_are_right_or_are_said_to_be_lost),
	    cmocka_unit_test(what_lies_in_a_void_copy_is_written_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
