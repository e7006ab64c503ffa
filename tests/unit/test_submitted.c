/* What a policy is told of tasks from their submission to their end, and what it then finds out about the tasks that
 * wait: random graphs, compared with a search through all pairs; failures, sub-graphs, another instance of the policy.
 */
#include <stdio.h>
#include "overlapping.h"

enum { TASKS = 120, DATA = 7, MOST = 4, URGENT = 1, SEEDS = 30 };

static const enum heddle_mode modes[] = {HEDDLE_R, HEDDLE_W, HEDDLE_RW, HEDDLE_COMMUTE, HEDDLE_SCRATCH};

/* The tasks of the program, by order of submission. */
static struct {
	int n_accesses, datum[MOST];
	enum heddle_mode mode[MOST];
	int after; /* the task for which it waits explicitly; -1: none */
} made[TASKS];

/* What the policy knows. Written with the core lock held; read when nothing runs. */
static struct {
	heddle_task *live[TASKS]; /* NULL: not submitted, or ended */
	heddle_task *first;       /* ready ones, linked by next */
	int n_submitted, n_ready, n_ended, n_instances, gives;
	int compares;        /* the successors of all live tasks are compared before each pick */
	int found[TASKS];    /* how often a task was passed to note */
	uint64_t last_order; /* of the task that has ended last */
	unsigned long n_compared, n_found;
	char
	    wrong[200]; /* what a function of the policy, maybe in another thread, has found wrong first; "": nothing */
} watch;

static void expect(int is_true, const char *what)
{
	if (!is_true && !watch.wrong[0])
		snprintf(watch.wrong, sizeof watch.wrong, "%s", what);
}

static int watching_create(heddle_sched *sched, void **state)
{
	(void)sched;
	watch.n_instances++;
	watch.n_submitted = watch.n_ended = 0;
	watch.first = NULL;
	*state = &watch;
	return 0;
}

static void watching_destroy(void *state)
{
	(void)state;
}

static void watching_submitted(void *state, heddle_task *t)
{
	uint64_t order = heddle_task_order(t);
	(void)state;
	expect(*heddle_task_word(t) == 0, "*heddle_task_word(t) == 0");
	*heddle_task_word(t) = order + 1;
	watch.n_submitted++;
	if (order < TASKS)
		watch.live[order] = t;
}

static void watching_ended(void *state, heddle_task *t)
{
	uint64_t order = heddle_task_order(t);
	(void)state;
	expect(*heddle_task_word(t) == order + 1, "*heddle_task_word(t) == order + 1");
	*heddle_task_word(t) = 0;
	watch.n_ended++;
	watch.last_order = order;
	if (order < TASKS)
		watch.live[order] = NULL;
}

static void watching_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	(void)state;
	(void)releaser;
	for (size_t i = 0; i < n; i++) {
		expect(*heddle_task_word(batch[i]) == heddle_task_order(batch[i]) + 1,
		       "*heddle_task_word(batch[i]) == heddle_task_order(batch[i]) + 1");
		heddle_task_link(batch[i])->next = watch.first;
		watch.first = batch[i];
		watch.gives |= heddle_task_priority(batch[i]) == URGENT;
		watch.n_ready++;
	}
}

/* --- The search through all pairs --------------------------------------------------------------------------------- */

static int is_shared(enum heddle_mode mode)
{
	return mode == HEDDLE_R || mode == HEDDLE_SCRATCH || mode == HEDDLE_COMMUTE;
}

static enum heddle_mode kind_of(enum heddle_mode mode)
{
	return mode == HEDDLE_SCRATCH ? HEDDLE_R : mode;
}

/* group[t][d]: how many groups of accesses to datum d there are up to that of task t; 0: the task does not use it. */
static int group[TASKS][DATA];

static void count_groups(void)
{
	int n[DATA] = {0};
	enum heddle_mode last[DATA] = {0};
	memset(group, 0, sizeof group);
	for (int t = 0; t < TASKS; t++)
		for (int i = 0; i < made[t].n_accesses; i++) {
			int d = made[t].datum[i];
			enum heddle_mode mode = kind_of(made[t].mode[i]);
			n[d] += !(n[d] && is_shared(mode) && mode == last[d]);
			last[d] = mode;
			group[t][d] = n[d];
		}
}

/* In how many ways `later` waits directly for `t`. */
static int ways(int t, int later)
{
	int n = made[later].after == t;
	for (int d = 0; d < DATA; d++)
		n += group[t][d] && group[later][d] == group[t][d] + 1;
	return n;
}

static void note(heddle_task *successor, unsigned n_preds, void *arg)
{
	(void)arg;
	expect(n_preds > 0, "n_preds > 0");
	watch.found[heddle_task_order(successor)]++;
}

static void compare_successors(int t)
{
	for (int once = 0; once < 2; once++) {
		memset(watch.found, 0, sizeof watch.found);
		heddle_task_successors(watch.live[t], once, note, NULL);
		for (int later = 0; later < TASKS; later++) {
			int expected = later > t ? ways(t, later) : 0;
			if (watch.found[later] != (once ? expected > 0 : expected) && !watch.wrong[0])
				snprintf(watch.wrong, sizeof watch.wrong,
				         "task %d is passed %d times as a successor of %d, instead of %d", later,
				         watch.found[later], t, expected);
			watch.n_found += (unsigned long)expected;
		}
	}
	watch.n_compared++;
}

static heddle_task *watching_pick(void *state, unsigned worker)
{
	heddle_task *t = watch.first;
	(void)state;
	(void)worker;
	if (!watch.gives || !t)
		return NULL;
	for (int i = 0; watch.compares && i < TASKS; i++)
		if (watch.live[i])
			compare_successors(i);
	watch.first = heddle_task_link(t)->next;
	return t;
}

static const struct heddle_policy watching = {.abi = HEDDLE_POLICY_ABI,
                                              .name = "watching",
                                              .summary = "sees tasks from their submission to their end",
                                              .source = "this test",
                                              .create = watching_create,
                                              .destroy = watching_destroy,
                                              .submitted = watching_submitted,
                                              .ended = watching_ended,
                                              .ready = watching_ready,
                                              .pick = watching_pick};

static struct heddle_config watching_config(void)
{
	struct heddle_config config = small_config();
	assert_ok(heddle_policy_register(&watching));
	memset(&watch, 0, sizeof watch);
	config.n_cpu = 1;
	config.sched = "watching";
	return config;
}

static heddle_runtime *start_watching(void)
{
	struct heddle_config config = watching_config();
	return start_with(&config);
}

static void stop_watching(heddle_runtime *rt)
{
	assert_ok(heddle_stop(rt));
	assert_string_equal(watch.wrong, "");
}

static void let_go(heddle_runtime *rt, const heddle_codelet *codelet)
{
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_priority(URGENT)));
}

/* --- Random graphs ------------------------------------------------------------------------------------------------ */

static unsigned draw(uint64_t *seed, unsigned below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*seed >> 33) % below;
}

static void make_tasks(uint64_t seed)
{
	for (int t = 0; t < TASKS; t++) {
		unsigned used = 0;
		made[t].n_accesses = 0;
		made[t].after = t && draw(&seed, 8) == 0 ? (int)draw(&seed, (unsigned)t) : -1;
		for (unsigned n = draw(&seed, MOST + 1); n; n--) {
			unsigned d = draw(&seed, DATA);
			if (used >> d & 1)
				continue;
			used |= 1u << d;
			made[t].datum[made[t].n_accesses] = (int)d;
			made[t].mode[made[t].n_accesses++] = modes[draw(&seed, sizeof modes / sizeof *modes)];
		}
	}
}

static void submit_tasks(heddle_runtime *rt, const heddle_codelet *codelet, heddle_data **d)
{
	heddle_task *task[TASKS];
	for (int t = 0; t < TASKS; t++) {
		struct heddle_item items[MOST + 3] = {heddle_call(codelet)};
		int n = 1;
		for (int i = 0; i < made[t].n_accesses; i++)
			items[n++] = heddle_access(made[t].mode[i], d[made[t].datum[i]]);
		if (made[t].after >= 0)
			items[n++] = heddle_after(task[made[t].after]);
		items[n++] = heddle_out(&task[t]);
		assert_ok(heddle_submit_items(rt, (size_t)n, items));
	}
	for (int t = 0; t < TASKS; t++)
		heddle_task_release(task[t]);
}

static void successors_of_every_submitted_task_are_found(void **state)
{
	(void)state;
	unsigned long n_found = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		heddle_runtime *rt = start_watching();
		heddle_codelet *codelet = heddle_codelet_new(rt, .name = "empty", .cpu = nothing);
		heddle_data *d[DATA];
		int x[DATA] = {0};
		for (int i = 0; i < DATA; i++)
			assert_ok(heddle_variable(rt, &x[i], sizeof x[i], &d[i]));
		make_tasks(seed);
		count_groups();
		submit_tasks(rt, codelet, d);
		watch.compares = 1;
		let_go(rt, codelet);
		assert_ok(heddle_wait_all(rt));
		assert_int_equal(watch.n_submitted, TASKS + 1);
		assert_int_equal(watch.n_ended, TASKS + 1);
		assert_true(watch.n_compared > TASKS);
		n_found += watch.n_found;
		for (int i = 0; i < DATA; i++)
			assert_ok(heddle_unregister(d[i]));
		stop_watching(rt);
	}
	assert_true(n_found > SEEDS * TASKS);
}

/* --- Tasks that do not run ---------------------------------------------------------------------------------------- */

static int return_one(heddle_context *c)
{
	(void)c;
	return 1;
}

static void cancelled_tasks_end_without_being_ready(void **state)
{
	(void)state;
	enum { CANCELLED = 5 };
	heddle_runtime *rt = start_watching();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "empty", .cpu = nothing);
	heddle_codelet *failing = heddle_codelet_new(rt, .name = "failing", .cpu = return_one);
	heddle_data *d;
	heddle_task *t;
	int x = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(failing), heddle_rw(d), heddle_out(&t)));
	for (int i = 0; i < CANCELLED; i++)
		assert_ok(i % 2 ? heddle_submit(rt, heddle_call(codelet), heddle_after(t))
		                : heddle_submit(rt, heddle_call(codelet), heddle_rw(d)));
	let_go(rt, codelet);
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_int_equal(watch.n_submitted, CANCELLED + 2);
	assert_int_equal(watch.n_ended, CANCELLED + 2);
	assert_int_equal(watch.n_ready, 2);
	heddle_task_release(t);
	assert_int_equal(heddle_unregister(d), HEDDLE_E_CANCELLED);
	stop_watching(rt);
}

/* --- Sub-graphs --------------------------------------------------------------------------------------------------- */

enum { LEAVES = 6 };
static heddle_codelet *leaf;

static int submit_leaves(heddle_context *c)
{
	int status = 0;
	for (int i = 0; i < LEAVES && !status; i++)
		status =
		    heddle_submit(heddle_context_runtime(c), heddle_call(leaf), heddle_rw(heddle_context_data(c, 0)));
	return status;
}

static void hierarchical_task_ends_after_its_sub_graph(void **state)
{
	(void)state;
	heddle_runtime *rt = start_watching();
	heddle_codelet *outer = heddle_codelet_new(rt, .name = "outer", .subgraph = submit_leaves);
	leaf = heddle_codelet_new(rt, .name = "leaf", .cpu = nothing);
	heddle_data *d;
	int x = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	let_go(rt, leaf);
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_submit(rt, heddle_call(outer), heddle_rw(d)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(watch.n_submitted, LEAVES + 2);
	assert_int_equal(watch.n_ended, LEAVES + 2);
	assert_int_equal(watch.n_ready, LEAVES + 1); /* not the hierarchical task */
	assert_int_equal(watch.last_order, 1);       /* which ends last */
	assert_ok(heddle_unregister(d));
	stop_watching(rt);
}

/* --- Another instance --------------------------------------------------------------------------------------------- */

/* The policy can neither give tasks back nor go on when other workers are driven, so another instance is made. */
static void new_instance_is_told_of_all_tasks_in_the_graph(void **state)
{
	(void)state;
	enum { CHAIN = 10 };
	struct heddle_config config = watching_config();
	heddle_runtime *rt = start_overlapping(&config, 1, 0);
	heddle_codelet *c =
	    heddle_codelet_new(rt, .name = "task", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN, .time = shared_evenly);
	heddle_data *d;
	int x = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	for (int i = 0; i < CHAIN; i++)
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d)));
	drive(rt, pairs, 2);
	drive(rt, singles, 4);
	let_go(rt, c);
	assert_ok(heddle_wait_all(rt));
	assert_true(watch.n_instances > 1);
	assert_int_equal(watch.n_submitted, CHAIN + 1);
	assert_int_equal(watch.n_ended, CHAIN + 1);
	assert_ok(heddle_unregister(d));
	stop_watching(rt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(successors_of_every_submitted_task_are_found),
	    cmocka_unit_test(cancelled_tasks_end_without_being_ready),
	    cmocka_unit_test(hierarchical_task_ends_after_its_sub_graph),
	    cmocka_unit_test(new_instance_is_told_of_all_tasks_in_the_graph),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
