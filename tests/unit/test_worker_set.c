/* Cluster sets that change while tasks run, with both engines. */
#include <math.h>
#include "internals.h"
#include "overlapping.h"

enum { THREADS, VIRTUAL };

static heddle_runtime *begin(void *const *state)
{
	struct heddle_config config = small_config();
	config.trace = 1;
	n_clashes = 0;
	return start_overlapping(&config, *(const int *)*state == VIRTUAL, 0);
}

static void finish(heddle_runtime *rt)
{
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_stop(rt));
	assert_int_equal(n_clashes, 0);
}

static int use(heddle_context *c)
{
	unsigned worker = heddle_context_worker(c);
	use_cores(worker);
	sched_yield();
	leave_cores(worker);
	return 0;
}

static heddle_codelet *user(heddle_runtime *rt)
{
	return heddle_codelet_new(rt, .name = "use", .cpu = use, .model = HEDDLE_MODEL_GIVEN, .time = shared_evenly);
}

static void submit_some(heddle_runtime *rt, heddle_codelet *c, int n)
{
	for (int i = 0; i < n; i++)
		assert_ok(heddle_submit(rt, heddle_call(c)));
}

/* Bit w is set if worker w has run one of the tasks from `first` on. */
static unsigned who_ran(heddle_runtime *rt, uint64_t first)
{
	struct heddle_trace *trace;
	unsigned who = 0;
	assert_ok(heddle_trace_take(rt, &trace));
	for (size_t i = 0; i < trace->n_tasks; i++)
		if (trace->tasks[i].id >= first)
			who |= 1u << trace->tasks[i].worker;
	heddle_trace_free(trace);
	return who;
}

/* --- Who runs ----------------------------------------------------------------------------------------------------- */

static void tasks_run_on_driven_workers_only(void **state)
{
	static const struct {
		const unsigned *workers;
		size_t n;
	} cluster_sets[] = {{singles, 4}, {pairs, 2}, {all_cores, 1}, {mixed, 3}, {singles, 4}, {singles, 2}};
	heddle_runtime *rt = begin(state);
	heddle_codelet *c = user(rt);
	uint64_t n = 0;
	for (size_t i = 0; i < sizeof cluster_sets / sizeof *cluster_sets; i++) {
		unsigned allowed = 0;
		drive(rt, cluster_sets[i].workers, cluster_sets[i].n);
		for (size_t k = 0; k < cluster_sets[i].n; k++)
			allowed |= 1u << cluster_sets[i].workers[k];
		for (unsigned w = 0; w < N_OVERLAPPING; w++)
			assert_int_equal(heddle_worker_is_driven(rt, w), allowed >> w & 1);
		submit_some(rt, c, 30);
		assert_ok(heddle_wait_all(rt));
		unsigned who = who_ran(rt, n);
		assert_int_equal(who & ~allowed, 0);
		if (*(const int *)*state == VIRTUAL)
			assert_int_equal(who, allowed);
		n += 30;
	}
	finish(rt);
}

/* What single cores have begun ends there; only then all four together begin the rest. */
static void change_in_the_middle(void **state)
{
	heddle_runtime *rt = begin(state);
	struct heddle_trace *trace;
	double begins = INFINITY, ends = 0;
	size_t n_single = 0;
	submit_some(rt, user(rt), 8);
	drive(rt, all_cores, 1);
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_trace_take(rt, &trace));
	for (size_t i = 0; i < trace->n_tasks; i++) {
		const struct heddle_trace_task *t = &trace->tasks[i];
		n_single += t->worker != ALL;
		if (t->worker == ALL)
			begins = fmin(begins, t->start);
		else
			ends = fmax(ends, t->end);
	}
	assert_true(begins >= ends);
	if (*(const int *)*state == VIRTUAL) {
		assert_true(n_single > 0);
		assert_true(fabs(heddle_trace_makespan(trace) - 40 - 10 * (8 - (double)n_single)) < 1e-6);
	}
	heddle_trace_free(trace);
	finish(rt);
}

/* --- A kernel that runs while its worker retires ------------------------------------------------------------------ */

static atomic_int gate, has_begun, n_early;

static int wait_at_gate(heddle_context *c)
{
	unsigned worker = heddle_context_worker(c);
	use_cores(worker);
	has_begun++;
	while (!gate)
		sched_yield();
	leave_cores(worker);
	return 0;
}

static int must_be_open(heddle_context *c)
{
	n_early += !gate;
	return use(c);
}

static void cores_are_waited_for(void **state)
{
	heddle_runtime *rt = begin(state);
	heddle_codelet *stays = heddle_codelet_new(rt, .name = "stays", .cpu = wait_at_gate),
	               *later = heddle_codelet_new(rt, .name = "later", .cpu = must_be_open);
	heddle_task *last;
	gate = has_begun = n_early = 0;
	assert_ok(heddle_submit(rt, heddle_call(stays), heddle_on(1)));
	wait_for(&has_begun, 1);
	drive(rt, pairs, 2);
	assert_ok(heddle_submit(rt, heddle_call(later), heddle_on(PAIR)));
	assert_ok(heddle_submit(rt, heddle_call(later), heddle_on(PAIR), heddle_out(&last)));
	submit_some(rt, user(rt), 20); /* the other pair can run these */
	give_others_time();
	assert_ok(heddle_selfcheck(rt));
	gate = 1;
	assert_ok(heddle_task_wait(last));
	heddle_task_release(last);
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(n_early, 0);
	finish(rt);
}

/* Back and forth while one kernel runs: when it has ended its worker is driven again, or was it meanwhile. */
static void changes_while_a_kernel_runs(void **state)
{
	for (int n = 1; n <= 6; n++) {
		heddle_runtime *rt = begin(state);
		heddle_codelet *stays = heddle_codelet_new(rt, .name = "stays", .cpu = wait_at_gate);
		gate = has_begun = 0;
		assert_ok(heddle_submit(rt, heddle_call(stays), heddle_on(1)));
		wait_for(&has_begun, 1);
		submit_some(rt, user(rt), 20);
		for (int i = 0; i < n; i++)
			drive(rt, i % 3 == 2 ? pairs : i % 3 ? singles : all_cores, i % 3 == 2 ? 2 : i % 3 ? 4 : 1);
		gate = 1;
		assert_ok(heddle_wait_all(rt));
		finish(rt);
	}
}

/* --- Refusals and nothing to do ----------------------------------------------------------------------------------- */

static void wrong_sets_are_refused(void **state)
{
	heddle_runtime *rt = begin(state);
	assert_int_equal(heddle_workers_drive(rt, (unsigned[]){2, OTHER_PAIR}, 2), HEDDLE_E_INVALID);
	assert_says("cores in common");
	assert_says("pair1");
	assert_int_equal(heddle_workers_drive(rt, (unsigned[]){PAIR, ALL}, 2), HEDDLE_E_INVALID);
	assert_int_equal(heddle_workers_drive(rt, (unsigned[]){0, N_OVERLAPPING}, 2), HEDDLE_E_INVALID);
	assert_says("no worker 7");
	assert_int_equal(heddle_workers_drive(rt, NULL, 1), HEDDLE_E_INVALID);
	assert_int_equal(heddle_workers_drive(NULL, singles, 4), HEDDLE_E_INVALID);
	for (unsigned w = 0; w < N_OVERLAPPING + 1; w++)
		assert_int_equal(heddle_worker_is_driven(rt, w), w < 4);
	submit_some(rt, user(rt), 10);
	assert_ok(heddle_wait_all(rt));
	finish(rt);
}

/* The policy keeps what it has learnt. */
static void driving_the_driven_workers_again_changes_nothing(void **state)
{
	heddle_runtime *rt = begin(state);
	submit_some(rt, user(rt), 10);
	const void *before = rt->sched.state;
	drive(rt, (unsigned[]){3, 1, 2, 0, 1}, 5);
	assert_ptr_equal(rt->sched.state, before);
	assert_ok(heddle_wait_all(rt));
	finish(rt);
}

static void tasks_for_retired_workers_wait(void **state)
{
	heddle_runtime *rt = begin(state);
	heddle_codelet *c = user(rt);
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_on(ALL)));
	submit_some(rt, c, 5);
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_DEADLOCK);
	assert_says("waits for a worker that is retired, such as all");
	assert_ok(heddle_selfcheck(rt));
	drive(rt, pairs, 2);
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_DEADLOCK);
	drive(rt, all_cores, 1);
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(who_ran(rt, 0) >> ALL & 1, 1);
	finish(rt);
}

static void none_may_be_driven(void **state)
{
	heddle_runtime *rt = begin(state);
	heddle_codelet *c = user(rt);
	drive(rt, NULL, 0);
	submit_some(rt, c, 5);
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_DEADLOCK);
	drive(rt, mixed, 3);
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(who_ran(rt, 0) & ~(1u << 2 | 1u << 3 | 1u << PAIR), 0);
	finish(rt);
}

static void cluster_sets_have_texts(void **state)
{
	heddle_runtime *rt = begin(state);
	heddle_codelet *c = user(rt);
	static const struct {
		const char *text;
		unsigned workers;
	} known[] = {{"2", 1u << PAIR | 1u << OTHER_PAIR}, {"1x4", 1u << ALL}, {"1x2", 1u << PAIR | 12}, {"none", 15}};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		assert_ok(heddle_clusters_set(rt, known[i].text));
		for (unsigned w = 0; w < N_OVERLAPPING; w++)
			assert_int_equal(heddle_worker_is_driven(rt, w), known[i].workers >> w & 1);
		submit_some(rt, c, 10);
		assert_ok(heddle_wait_all(rt));
	}
	assert_int_equal(heddle_clusters_set(rt, "3"), HEDDLE_E_INVALID);
	assert_int_equal(heddle_clusters_set(rt, "some"), HEDDLE_E_INVALID);
	assert_int_equal(heddle_clusters_set(rt, NULL), HEDDLE_E_INVALID);
	finish(rt);
}

/* A policy that can take tasks back goes on, and places only those anew that waited for workers which retire; and if
 * there are more cores than before, as many others as the new ones run. */
static void policies_take_tasks_back(void **state)
{
	enum { TASKS = 40 };
	struct heddle_config config = small_config();
	(void)state;
	config.trace = 1;
	config.sched = "dm";
	heddle_runtime *rt = start_overlapping(&config, 1, 0);
	heddle_codelet *c = user(rt);
	submit_some(rt, c, TASKS);
	drive(rt, singles, 4); /* no change; what was submitted enters */
	assert_true(n_placed(rt) == TASKS);
	drive(rt, mixed, 3); /* one pair and two of the four single cores stay: what waits for the others moves */
	double moved = n_placed(rt) - TASKS;
	assert_true(moved >= TASKS / 2.0 - 4 && moved <= TASKS / 2.0);
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(who_ran(rt, 0) & 15, 15);
	drive(rt, singles, 1);
	double before = n_placed(rt);
	submit_some(rt, c, TASKS);
	drive(rt, singles, 1);
	drive(rt, singles, 4);
	assert_true(n_placed(rt) >= before + TASKS + 3.0 / 4 * TASKS - 4);
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(who_ran(rt, TASKS), 15);
	finish(rt);
}

static heddle_runtime *start_changing(const char *clusters, int virtual_time)
{
	struct heddle_config config = small_config();
	config.trace = 1;
	config.clusters = clusters;
	return start_overlapping(&config, virtual_time, 0);
}

static heddle_runtime *start_adaptive(int virtual_time)
{
	return start_changing("adaptive:none,2,4", virtual_time);
}

/* Where single tasks and many tasks run with the setting clusters=adaptive, which auto means to a runtime. */
static void adaptive_merges_and_splits(void **state)
{
	static const char *const words[] = {"adaptive:none,2,4", "adaptive", "auto"};
	(void)state;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		heddle_runtime *rt = start_changing(words[i], 1);
		heddle_codelet *c = user(rt);
		submit_some(rt, c, 1);
		assert_ok(heddle_wait_all(rt));
		assert_int_equal(who_ran(rt, 0), 1u << ALL);
		submit_some(rt, c, 200);
		assert_ok(heddle_wait_all(rt));
		assert_int_equal(who_ran(rt, 1) & 15, 15);
		finish(rt);
	}
}

/* Once the program has driven workers, it alone decides. */
static void the_program_overrules_adaptive(void **state)
{
	(void)state;
	heddle_runtime *rt = start_adaptive(1);
	drive(rt, singles, 2);
	submit_some(rt, user(rt), 1);
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(who_ran(rt, 0) & ~3u, 0);
	finish(rt);
}

/* Tasks that only some of the workers can run: those are driven for them, whatever else there is to do. */
static void adaptive_drives_what_tasks_need(void **state)
{
	heddle_runtime *rt = start_adaptive(*(const int *)*state == VIRTUAL);
	heddle_codelet *all = user(rt);
	heddle_codelet *large = heddle_codelet_new(rt, .name = "large", .cpu = use, .model = HEDDLE_MODEL_GIVEN,
	                                           .time = shared_evenly, .min_cores = 2);
	heddle_codelet *small = heddle_codelet_new(rt, .name = "small", .cpu = use, .model = HEDDLE_MODEL_GIVEN,
	                                           .time = shared_evenly, .max_cores = 1);
	for (int others = 0; others < 40; others += 39) {
		submit_some(rt, large, 1);
		submit_some(rt, all, others);
		assert_ok(heddle_wait_all(rt));
		submit_some(rt, small, 1);
		submit_some(rt, all, others);
		assert_ok(heddle_wait_all(rt));
		assert_ok(heddle_submit(rt, heddle_call(all), heddle_on(ALL)));
		submit_some(rt, all, others);
		assert_ok(heddle_wait_all(rt));
		assert_ok(heddle_submit(rt, heddle_call(all), heddle_on(0)));
		submit_some(rt, large, 1);
		assert_ok(heddle_wait_all(rt));
	}
	finish(rt);
}

/* --- Who asks for it ---------------------------------------------------------------------------------------------- */

struct asker {
	heddle_runtime *rt;
	atomic_int n, status;
};

static void drive_next(struct asker *a)
{
	int i = a->n++ % 3;
	int status = heddle_workers_drive(a->rt,
	                                  i == 0   ? pairs
	                                  : i == 1 ? all_cores
	                                           : singles,
	                                  i == 0   ? 2
	                                  : i == 1 ? 1
	                                           : 4);
	if (status)
		a->status = status;
}

static void ask_in_callback(void *arg, int status)
{
	struct asker *a = arg;
	drive_next(a);
	if (status)
		a->status = status;
}

static int ask_in_kernel(heddle_context *c)
{
	drive_next(pointer_value(c));
	return use(c);
}

static void callbacks_may_ask(void **state)
{
	heddle_runtime *rt = begin(state);
	heddle_codelet *c = user(rt);
	struct asker a = {.rt = rt};
	for (int i = 0; i < 50; i++)
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_then(i % 5 ? NULL : ask_in_callback, &a)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(a.n, 10);
	assert_ok(a.status);
	finish(rt);
}

static void kernels_may_ask(void **state)
{
	heddle_runtime *rt = begin(state);
	struct asker a = {.rt = rt}, *asker = &a;
	heddle_codelet *c = heddle_codelet_new(rt, .name = "ask", .cpu = ask_in_kernel);
	for (int i = 0; i < 100; i++)
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_value(asker)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(a.n, 100);
	assert_ok(a.status);
	finish(rt);
}

/* The same program in virtual time gives the same schedule. */
static void virtual_time_is_deterministic(void **state)
{
	double ends[2][50];
	for (int k = 0; k < 2; k++) {
		heddle_runtime *rt = begin(state);
		heddle_codelet *c = user(rt);
		struct asker a = {.rt = rt};
		struct heddle_trace *trace;
		for (int i = 0; i < 50; i++)
			assert_ok(heddle_submit(rt, heddle_call(c), heddle_then(i % 5 ? NULL : ask_in_callback, &a)));
		assert_ok(heddle_wait_all(rt));
		assert_ok(heddle_trace_take(rt, &trace));
		for (size_t i = 0; i < 50; i++)
			ends[k][i] = trace->tasks[i].end + 1e6 * trace->tasks[i].worker;
		heddle_trace_free(trace);
		finish(rt);
	}
	assert_memory_equal(ends[0], ends[1], sizeof ends[0]);
}

/* --- Kernels that wait -------------------------------------------------------------------------------------------- */

struct parent {
	heddle_codelet *child;
	const unsigned *workers;
	size_t n;
	atomic_int status;
};

/* Changes the cluster set, then waits for children that only its own cores can run. */
static int parent_kernel(heddle_context *c)
{
	struct parent *p = pointer_value(c);
	heddle_runtime *rt = heddle_context_runtime(c);
	unsigned worker = heddle_context_worker(c);
	heddle_group *group = NULL;
	int status = heddle_group_create(rt, &group);
	use_cores(worker);
	for (int i = 0; i < 8 && !status; i++)
		status = heddle_submit(rt, heddle_call(p->child), heddle_in_group(group));
	if (!status)
		status = heddle_workers_drive(rt, p->workers, p->n);
	leave_cores(worker);
	if (!status)
		status = heddle_group_wait(group);
	use_cores(worker);
	sched_yield();
	leave_cores(worker);
	heddle_group_free(group);
	if (status)
		p->status = status;
	return 0;
}

static void kernels_that_wait_leave_their_cores(void **state)
{
	heddle_runtime *rt = begin(state);
	heddle_codelet *parent = heddle_codelet_new(rt, .name = "parent", .cpu = parent_kernel);
	struct parent p = {.child = user(rt)}, *parameter = &p;
	for (int i = 0; i < 12; i++) {
		p.workers = i % 2 ? singles : all_cores;
		p.n = i % 2 ? 4 : 1;
		for (int k = 0; k < 3; k++)
			assert_ok(heddle_submit(rt, heddle_call(parent), heddle_value(parameter)));
		submit_some(rt, p.child, 5);
		assert_ok(heddle_wait_all(rt));
		assert_ok(p.status);
		assert_ok(heddle_selfcheck(rt));
	}
	finish(rt);
}

/* --- Together with other things ----------------------------------------------------------------------------------- */

static void caller_may_be_retired(void **state)
{
	struct heddle_config config = small_config();
	config.caller_works = 1;
	(void)state;
	n_clashes = 0;
	heddle_runtime *rt = start_overlapping(&config, 0, 0);
	heddle_codelet *c = user(rt);
	struct asker a = {.rt = rt};
	for (int i = 0; i < 10; i++) {
		for (int k = 0; k < 20; k++)
			assert_ok(heddle_submit(rt, heddle_call(c), heddle_then(k % 7 ? NULL : ask_in_callback, &a)));
		assert_ok(heddle_wait_all(rt));
		assert_ok(heddle_selfcheck(rt));
	}
	assert_ok(a.status);
	finish(rt);
}

/* An accelerator that is lost, before a change and after. */
static void devices_may_be_lost(void **state)
{
	struct heddle_config config = small_config();
	(void)state;
	for (int before = 0; before < 2; before++) {
		n_clashes = 0;
		heddle_runtime *rt = start_overlapping(&config, 0, 1);
		heddle_codelet *c = heddle_codelet_new(rt, .name = "use", .cpu = use, .emulated = use);
		submit_some(rt, c, 40);
		if (!before)
			drive(rt, pairs, 2);
		hd_core_enter(rt);
		hd_core_lose(&rt->workers[N_OVERLAPPING], "by the test");
		hd_core_settle(rt);
		hd_core_leave(rt);
		drive(rt, all_cores, 1);
		assert_int_equal(heddle_worker_is_driven(rt, N_OVERLAPPING), 0);
		submit_some(rt, c, 40);
		assert_ok(heddle_wait_all(rt));
		finish(rt);
	}
}

/* Tiny tasks are run in bursts: what a worker has been given and has not begun goes to others when it retires. */
static void bursts_are_taken_back(void **state)
{
	struct heddle_config config = small_config();
	config.window = 0;
	(void)state;
	n_clashes = 0;
	heddle_runtime *rt = start_overlapping(&config, 0, 0);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "use", .cpu = use);
	for (int i = 0; i < 60; i++) {
		submit_some(rt, c, 100);
		drive(rt, i % 3 == 0 ? pairs : i % 3 == 1 ? all_cores : singles, i % 3 == 0 ? 2 : i % 3 == 1 ? 1 : 4);
	}
	assert_ok(heddle_wait_all(rt));
	finish(rt);
}

int main(void)
{
	static const int threads = THREADS, virtual_time = VIRTUAL;
	void *on_threads = (void *)(uintptr_t)&threads, *in_virtual_time = (void *)(uintptr_t)&virtual_time;
#define ON_BOTH(f)                                                    \
	{#f, f, NULL, NULL, on_threads},                              \
	{                                                             \
#f " in virtual time", f, NULL, NULL, in_virtual_time \
	}
	const struct CMUnitTest tests[] = {
	    ON_BOTH(tasks_run_on_driven_workers_only),
	    ON_BOTH(change_in_the_middle),
	    ON_BOTH(wrong_sets_are_refused),
	    ON_BOTH(driving_the_driven_workers_again_changes_nothing),
	    ON_BOTH(tasks_for_retired_workers_wait),
	    ON_BOTH(none_may_be_driven),
	    ON_BOTH(cluster_sets_have_texts),
	    ON_BOTH(callbacks_may_ask),
	    cmocka_unit_test(policies_take_tasks_back),
	    cmocka_unit_test(adaptive_merges_and_splits),
	    cmocka_unit_test(the_program_overrules_adaptive),
	    ON_BOTH(adaptive_drives_what_tasks_need),
	    cmocka_unit_test_prestate(virtual_time_is_deterministic, in_virtual_time),
	    cmocka_unit_test_prestate(cores_are_waited_for, on_threads),
	    cmocka_unit_test_prestate(changes_while_a_kernel_runs, on_threads),
	    cmocka_unit_test_prestate(kernels_may_ask, on_threads),
	    cmocka_unit_test_prestate(kernels_that_wait_leave_their_cores, on_threads),
	    cmocka_unit_test(caller_may_be_retired),
	    cmocka_unit_test(devices_may_be_lost),
	    cmocka_unit_test(bursts_are_taken_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
