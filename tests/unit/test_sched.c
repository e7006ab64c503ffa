/* What policies are made of: containers, options, the registry. */
#include "fake_sched.h"
#include "policies/parts/queue.h"

/* --- hd_deque ----------------------------------------------------------------------------------------------------- */

static void deque_both_ends_and_the_middle(void **unused)
{
	(void)unused;
	struct hd_deque q = {0};
	make_tasks(5);
	assert_null(hd_deque_pop_front(&q));
	assert_null(hd_deque_pop_back(&q));
	hd_deque_push_back(&q, &tasks[1]);
	hd_deque_push_back(&q, &tasks[2]);
	hd_deque_push_front(&q, &tasks[0]);
	hd_deque_push_back(&q, &tasks[3]);
	hd_deque_push_back(&q, &tasks[4]);
	hd_deque_remove(&q, &tasks[2]);
	assert_ptr_equal(hd_deque_pop_back(&q), &tasks[4]);
	assert_ptr_equal(hd_deque_pop_front(&q), &tasks[0]);
	hd_deque_remove(&q, &tasks[1]);
	assert_ptr_equal(hd_deque_pop_back(&q), &tasks[3]);
	assert_null(hd_deque_pop_back(&q));
	hd_deque_push_front(&q, &tasks[2]);
	assert_ptr_equal(hd_deque_pop_front(&q), &tasks[2]);
	assert_null(hd_deque_pop_front(&q));
}

/* --- hd_levels, beside an array kept in order --------------------------------------------------------------------- */

enum { N_MODEL = 300 };

struct model {
	heddle_task *tasks[N_MODEL]; /* most urgent first, oldest first among equals */
	size_t n;
};

static void model_insert(struct model *m, heddle_task *t)
{
	size_t i = m->n++;
	for (; i && m->tasks[i - 1]->priority < t->priority; i--)
		m->tasks[i] = m->tasks[i - 1];
	m->tasks[i] = t;
}

static void model_remove(struct model *m, const heddle_task *t)
{
	size_t i = 0;
	while (m->tasks[i] != t)
		i++;
	for (m->n--; i < m->n; i++)
		m->tasks[i] = m->tasks[i + 1];
}

/* First, last, and both walks along the most urgent level. */
static void assert_same_top(struct hd_levels *q, const struct model *m)
{
	assert_int_equal(q->n, m->n);
	heddle_task *t = hd_levels_first(q);
	if (!m->n) {
		assert_null(t);
		assert_null(hd_levels_last(q));
		return;
	}
	size_t level = 0;
	for (; level < m->n && m->tasks[level]->priority == m->tasks[0]->priority; level++) {
		assert_ptr_equal(t, m->tasks[level]);
		t = hd_levels_newer(q, t);
	}
	assert_null(t);
	t = hd_levels_last(q);
	while (level--) {
		assert_ptr_equal(t, m->tasks[level]);
		t = hd_levels_older(q, t);
	}
	assert_null(t);
}

static void random_step(struct hd_rng *rng, struct hd_levels *q, struct model *m, heddle_task *pool)
{
	heddle_task *t = &pool[hd_rng_next(rng) % N_MODEL];
	if (t->ready) { /* in the queue: it, or one of the ends, leaves */
		uint64_t which = hd_rng_next(rng) % 3;
		if (which == 0)
			hd_levels_remove(q, t);
		else
			hd_levels_remove_urgent(q, t = which == 1 ? hd_levels_first(q) : hd_levels_last(q));
		model_remove(m, t);
		t->ready = 0;
	} else {
		hd_levels_push(q, t);
		model_insert(m, t);
		t->ready = 1;
	}
}

static void levels_random_steps_keep_the_order(void **unused)
{
	(void)unused;
	static const int spreads[] = {1, 2, 10, 1000000};
	for (uint64_t seed = 0; seed < 40; seed++) {
		struct hd_levels q = {0};
		struct model m = {.n = 0};
		struct hd_rng rng;
		hd_rng_seed(&rng, seed);
		int spread = spreads[seed % 4];
		for (unsigned i = 0; i < N_MODEL; i++) {
			tasks[i] = fake_task(&plain, i, (int)(hd_rng_next(&rng) % (unsigned)spread) - spread / 2);
			tasks[i].link.u.word = i;
		}
		tasks[0].priority = INT_MAX;
		tasks[1].priority = INT_MIN;
		for (int step = 0; step < 1500; step++) {
			random_step(&rng, &q, &m, tasks);
			assert_same_top(&q, &m);
		}
		for (unsigned i = 0; i < N_MODEL; i++)
			assert_int_equal(tasks[i].link.u.word, i); /* the policy's word is never touched */
		for (size_t i = 0; i < m.n; i++)
			assert_ptr_equal(hd_levels_pop_first(&q), m.tasks[i]);
		assert_null(hd_levels_pop_first(&q));
	}
}

static void levels_flat_ignores_priorities(void **unused)
{
	(void)unused;
	struct hd_levels q = {.flat = 1};
	make_tasks(4);
	for (int i = 0; i < 4; i++) {
		tasks[i].priority = i;
		hd_levels_push(&q, &tasks[i]);
	}
	assert_ptr_equal(hd_levels_last(&q), &tasks[3]);
	hd_levels_remove(&q, &tasks[1]);
	assert_ptr_equal(hd_levels_pop_first(&q), &tasks[0]);
	assert_ptr_equal(hd_levels_pop_first(&q), &tasks[2]);
	assert_ptr_equal(hd_levels_pop_first(&q), &tasks[3]);
	assert_null(hd_levels_pop_first(&q));
}

/* Such priorities make the tree a list: popping must not walk it again and again. */
static void levels_thousands_of_priorities_are_not_quadratic(void **unused)
{
	(void)unused;
	struct hd_levels q = {0};
	enum { N = 4096 };
	make_tasks(N);
	for (int i = 0; i < N; i++) {
		tasks[i].priority = i % 2 ? i : -i;
		hd_levels_push(&q, &tasks[i]);
	}
	fake_priorities = 0;
	for (int i = 0; i < N; i++)
		assert_non_null(hd_levels_pop_first(&q));
	assert_true(fake_priorities < 40 * N);
}

/* --- Options ------------------------------------------------------------------------------------------------------ */

static const struct heddle_option table[] = {
    {"weight", "1.5", "us", "a number", 0, 10},
    {"mode", "slow", "slow|fast|faster", "a word", 0, 0},
    {"label", "none", "", "a text", 0, 0},
    {0},
};
static const struct heddle_policy with_options = {.name = "mine", .options = table};

/* Parses for `with_options`; the number of option i, or -1 on error. */
static double parsed(const char *text, int i)
{
	char **values;
	if (hd_policy_options_parse(&with_options, text, 0, &values))
		return -1;
	double x = hd_policy_option_number(&table[i], values[i]);
	assert_null(values[3]);
	hd_policy_options_free(values);
	return x;
}

static void assert_refused(const char *text, int status, const char *says)
{
	char **values = NULL;
	assert_int_equal(hd_policy_options_parse(&with_options, text, 0, &values), status);
	assert_null(values);
	if (!strstr(heddle_last_error(), says))
		fail_msg("'%s' does not say '%s'", heddle_last_error(), says);
}

static void options_valid_text_gives_values(void **unused)
{
	(void)unused;
	assert_true(parsed(NULL, 0) == 1.5);
	assert_true(parsed("", 1) == 0);
	assert_true(parsed(" weight = 2e0 , mode=fast", 0) == 2);
	assert_true(parsed("weight=2,mode = faster ", 1) == 2);
	assert_true(parsed("mode=fast,", 1) == 1);
	char **values;
	assert_int_equal(hd_policy_options_parse(&with_options, "label = two words ", 0, &values), 0);
	assert_string_equal(values[2], "two words");
	assert_string_equal(values[0], "1.5");
	hd_policy_options_free(values);
	assert_int_equal(hd_policy_option_index(&with_options, "mode"), 1);
	assert_int_equal(hd_policy_option_index(&with_options, "mod"), -1);
}

static void options_wrong_text_says_what_is_right(void **unused)
{
	(void)unused;
	assert_refused("wieght=1", HEDDLE_E_UNKNOWN, "weight (0 to 10), mode (slow|fast|faster), label (text)");
	assert_refused("weight=11", HEDDLE_E_INVALID, "from 0 to 10, in us (default 1.5)");
	assert_refused("weight=-0.1", HEDDLE_E_INVALID, "from 0 to 10");
	assert_refused("weight=2x", HEDDLE_E_INVALID, "'2x'");
	assert_refused("weight=nan", HEDDLE_E_INVALID, "'nan'");
	assert_refused("weight=", HEDDLE_E_INVALID, "from 0 to 10");
	assert_refused("mode=fas", HEDDLE_E_INVALID, "slow|fast|faster");
	assert_refused("mode=slow|fast", HEDDLE_E_INVALID, "slow|fast|faster");
	assert_refused("weight", HEDDLE_E_INVALID, "name=value");
	assert_refused("weight=1,weight=2", HEDDLE_E_INVALID, "twice");
	char **values = NULL;
	assert_int_equal(hd_policy_options_parse(&hd_policy_eager, "a=1", 0, &values), HEDDLE_E_UNKNOWN);
	assert_non_null(strstr(heddle_last_error(), "has no options"));
}

static void options_of_shipped_policies_have_valid_defaults(void **unused)
{
	(void)unused;
	const struct heddle_policy **all = heddle_policies();
	assert_non_null(all);
	for (size_t i = 0; all[i]; i++) {
		char **values;
		assert_int_equal(hd_policy_options_parse(all[i], NULL, 0, &values), 0);
		hd_policy_options_free(values);
		assert_non_null(all[i]->summary);
		assert_non_null(all[i]->source);
		for (const struct heddle_option *o = all[i]->options; o && o->name; o++)
			assert_true(o->value && o->unit && o->help && *o->help);
	}
	free(all);
}

/* --- Registry ----------------------------------------------------------------------------------------------------- */

static int create_nothing(heddle_sched *s, void **state)
{
	(void)s;
	*state = NULL;
	return 0;
}
static void destroy_nothing(void *state)
{
	(void)state;
}
static void drop(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	(void)state;
	(void)batch;
	(void)n;
	(void)releaser;
}
static heddle_task *give_nothing(void *state, unsigned worker)
{
	(void)state;
	(void)worker;
	return NULL;
}
#define MINE(n)                                                                                            \
	{                                                                                                  \
		.abi = HEDDLE_POLICY_ABI, .name = n, .create = create_nothing, .destroy = destroy_nothing, \
		.ready = drop, .pick = give_nothing                                                        \
	}

static void registry_own_policy_is_found_and_listed_last(void **unused)
{
	(void)unused;
	static const struct heddle_policy mine = MINE("mine");
	assert_null(heddle_policy_find("mine"));
	assert_int_equal(heddle_policy_register(&mine), 0);
	assert_int_equal(heddle_policy_register(&mine), 0); /* again: the same one */
	assert_ptr_equal(heddle_policy_find("mine"), &mine);
	const struct heddle_policy **all = heddle_policies();
	assert_non_null(all);
	size_t n = 0;
	while (all[n])
		n++;
	assert_string_equal(all[0]->name, "eager");
	assert_ptr_equal(all[n - 1], &mine);
	free(all);
}

static void registry_wrong_policies_are_refused(void **unused)
{
	(void)unused;
	static const struct heddle_policy taken = MINE("eager"), reserved = MINE("auto"), nameless = MINE("");
	struct heddle_policy other = MINE("other"), old = MINE("old");
	other.pick = NULL;
	old.abi = HEDDLE_POLICY_ABI + 1;
	assert_int_equal(heddle_policy_register(NULL), HEDDLE_E_INVALID);
	assert_int_equal(heddle_policy_register(&nameless), HEDDLE_E_INVALID);
	assert_int_equal(heddle_policy_register(&reserved), HEDDLE_E_INVALID);
	assert_int_equal(heddle_policy_register(&taken), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "'eager'"));
	assert_int_equal(heddle_policy_register(&other), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "no pick callback"));
	assert_int_equal(heddle_policy_register(&old), HEDDLE_E_INVALID);
	static const struct heddle_option bad[] = {{"x", "7", "", "", 0, 1}, {0}};
	other.pick = give_nothing;
	other.options = bad;
	assert_int_equal(heddle_policy_register(&other), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "from 0 to 1"));
	assert_null(heddle_policy_find("other"));
}

static void registry_unknown_name_lists_those_there_are(void **unused)
{
	(void)unused;
	assert_null(heddle_policy_find("best"));
	assert_non_null(strstr(heddle_last_error(), "'best'"));
	assert_non_null(strstr(heddle_last_error(), "eager, prio, random, ws, lws, dm, dmda, dmdar, dmdas"));
	assert_null(heddle_policy_find(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(deque_both_ends_and_the_middle),
	    cmocka_unit_test(levels_random_steps_keep_the_order),
	    cmocka_unit_test(levels_flat_ignores_priorities),
	    cmocka_unit_test(levels_thousands_of_priorities_are_not_quadratic),
	    cmocka_unit_test(options_valid_text_gives_values),
	    cmocka_unit_test(options_wrong_text_says_what_is_right),
	    cmocka_unit_test(options_of_shipped_policies_have_valid_defaults),
	    cmocka_unit_test(registry_unknown_name_lists_those_there_are),
	    cmocka_unit_test(registry_own_policy_is_found_and_listed_last),
	    cmocka_unit_test(registry_wrong_policies_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
