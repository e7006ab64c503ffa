/* Devices that are lost while they are in use. Their tasks must be run by others; where that cannot be, an error must
 * say so and name what is lost, and the runtime must be usable afterwards. */
#include "losing_program.h"

/* Data that are made on the device and collected by a CPU. Returns the status of the wait. */
static int make_and_collect(heddle_runtime *rt, int *wrong)
{
	enum { N_MADE = 6 };
	uint64_t x[N] = {5}, sum[N] = {0}, right[N] = {0}, one[N];
	heddle_data *from, *made[N_MADE], *to;
	heddle_codelet *maker = codelet(rt, "make", make), *adder = heddle_codelet_new(rt, .name = "add", .cpu = add);
	assert_ok(heddle_vector(rt, x, N, sizeof *x, &from));
	assert_ok(heddle_vector(rt, sum, N, sizeof *x, &to));
	for (int i = 0; i < N_MADE; i++) {
		assert_ok(heddle_vector(rt, NULL, N, sizeof *x, &made[i]));
		assert_ok(heddle_submit(rt, heddle_call(maker), heddle_w(made[i]), heddle_r(from)));
	}
	for (int i = 0; i < N_MADE; i++)
		assert_ok(heddle_submit(rt, heddle_call(adder), heddle_rw(to), heddle_r(made[i]), heddle_on(0)));
	struct result r = wait_for_all(rt);
	mix(one, x, NULL, 1);
	for (int i = 0; i < N; i++)
		right[i] = N_MADE * one[i];
	for (int i = 0; i < N_MADE; i++)
		bring_back(&r, made[i]);
	bring_back(&r, from);
	bring_back(&r, to);
	int status = conclude(rt, &r);
	*wrong = memcmp(sum, right, sizeof sum) != 0;
	return status;
}

/* Tasks that only write can always be run again, and what has been written is read from the lost device. On a busy
 * machine the CPU may make everything before the device has begun, so some of the times it makes nothing before the
 * loss. */
static void readable_device_loses_nothing(void **state)
{
	(void)state;
	int lost = 0;
	for (int by = BY_ALLOC; by < N_LOST_BY; by++)
		for (int call = 1; call < 6; call++) {
			int wrong;
			plan_loss((enum lost_by)by, 0, call, 1);
			heddle_runtime *rt = start_losing("eager", 1, 1);
			if (call == 1)
				leave_tasks_to_devices(rt);
			assert_ok(make_and_collect(rt, &wrong));
			assert_false(wrong);
			lost += n_lost() != 0;
			assert_ok(heddle_selfcheck(rt));
			assert_ok(heddle_stop(rt));
		}
	assert_true(lost >= N_LOST_BY - BY_ALLOC);
}

static void lost_values_are_named(void **state)
{
	(void)state;
	uint64_t x[N] = {1}, y[N] = {2};
	heddle_data *a, *b;
	plan_loss(BY_LAUNCH, 0, 2, 0);
	heddle_runtime *rt = start_losing("eager", 1, 1);
	heddle_codelet *on_device = for_devices(rt, change), *anywhere = codelet(rt, "change", change);
	assert_ok(heddle_vector(rt, x, N, sizeof *x, &a));
	assert_ok(heddle_vector(rt, y, N, sizeof *y, &b));
	heddle_data_set_name(a, "the pressure");
	assert_ok(heddle_submit(rt, heddle_call(on_device), heddle_rw(a)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_submit(rt, heddle_call(anywhere), heddle_rw(b), heddle_on(1)));
	assert_ok(heddle_submit(rt, heddle_call(anywhere), heddle_r(a), heddle_r(b)));
	int status = heddle_wait_all(rt);
	said(status, HEDDLE_E_DEVICE, "lost");
	assert_says("emulated");
	assert_says("the device fell off the bus");
	assert_int_not_equal(heddle_acquire(a, HEDDLE_R), 0);
	assert_says("the pressure");
	assert_says("which is lost: the device fell off the bus");
	/* A new value makes the datum good again. */
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "zero", zero)), heddle_w(a)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_acquire(a, HEDDLE_R));
	assert_int_equal(x[0], 0);
	heddle_release(a);
	assert_ok(heddle_stop(rt));
}

static void wait_names_what_is_lost(void **state)
{
	(void)state;
	uint64_t x[3][N] = {{1}};
	heddle_data *d[3];
	plan_loss(BY_LAUNCH, 0, 4, 0);
	heddle_runtime *rt = start_losing("eager", 1, 1);
	heddle_codelet *on_device = for_devices(rt, change), *anywhere = codelet(rt, "make", make);
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = {"tile 2", "1", "the tile 1"}; /* newer data are named first */
		assert_ok(heddle_vector(rt, x[i], N, sizeof(uint64_t), &d[i]));
		heddle_data_set_name(d[i], names[i]);
		assert_ok(heddle_submit(rt, heddle_call(on_device), heddle_rw(d[i])));
	}
	assert_ok(heddle_wait_all(rt));
	uint64_t y[N] = {0}, z[N] = {4};
	heddle_data *new, *old;
	assert_ok(heddle_vector(rt, y, N, sizeof *y, &new));
	assert_ok(heddle_vector(rt, z, N, sizeof *z, &old));
	heddle_task *t;
	assert_ok(heddle_submit(rt, heddle_call(anywhere), heddle_w(new), heddle_r(old), heddle_on(1), heddle_out(&t)));
	said(heddle_wait_all(rt), HEDDLE_E_DEVICE, "the tile 1");
	assert_says("the tile 1, 1, tile 2: ");
	assert_says("is lost, and with it the values of");
	said(heddle_task_wait(t), HEDDLE_E_DEVICE, "no worker is left that could run it");
	heddle_task_release(t);
	assert_ok(heddle_stop(rt));
}

static int fail_after_the_loss(heddle_context *c)
{
	while (!lost_workers(heddle_context_runtime(c)))
		sched_yield();
	return heddle_fail(c, 1, "it is too late");
}

/* The only value of a datum is on the device when that is lost, and something else is writing a new one. */
static void what_is_overwritten_need_not_leave(void **state)
{
	(void)state;
	for (int by_task = 0; by_task < 2; by_task++) {
		uint64_t x[N] = {1}, y[N] = {2};
		heddle_data *a, *b;
		plan_loss(BY_LAUNCH, 0, 2, by_task);
		heddle_runtime *rt = start_losing("eager", 1, 1);
		heddle_codelet *on_device = for_devices(rt, change);
		heddle_codelet *writer = heddle_codelet_new(rt, .name = "writer", .cpu = fail_after_the_loss);
		assert_ok(heddle_vector(rt, x, N, sizeof *x, &a));
		assert_ok(heddle_vector(rt, y, N, sizeof *y, &b));
		assert_ok(heddle_submit(rt, heddle_call(on_device), heddle_rw(a)));
		assert_ok(heddle_wait_all(rt));
		if (by_task)
			assert_ok(heddle_submit(rt, heddle_call(writer), heddle_w(a)));
		else
			assert_ok(heddle_acquire(a, HEDDLE_W));
		assert_ok(heddle_submit(rt, heddle_call(on_device), heddle_rw(b)));
		assert_int_not_equal(heddle_wait_all(rt), 0);
		assert_ok(heddle_selfcheck(rt));
		if (by_task)
			assert_ok(heddle_acquire(a, HEDDLE_W));
		x[0] = 17;
		heddle_release(a);
		assert_ok(heddle_unregister(a));
		assert_int_equal(x[0], 17);
		assert_ok(heddle_wait_all(rt));
		assert_ok(heddle_stop(rt));
	}
}

static void task_fails_if_the_lost_device_was_its_only_worker(void **state)
{
	(void)state;
	uint64_t x[N] = {1};
	heddle_data *d;
	plan_loss(BY_LAUNCH, 0, 1, 1);
	heddle_runtime *rt = start_losing("dmda", 1, 1);
	heddle_codelet *on_device = for_devices(rt, change);
	assert_ok(heddle_vector(rt, x, N, sizeof *x, &d));
	for (int i = 0; i < 20; i++)
		assert_ok(heddle_submit(rt, heddle_call(on_device), heddle_rw(d)));
	said(heddle_wait_all(rt), HEDDLE_E_DEVICE, "no worker is left that could run it: emulated0 is lost: ");
	/* Later ones fail as well, and others are run. */
	assert_ok(heddle_submit(rt, heddle_call(on_device), heddle_w(d)));
	said(heddle_wait_all(rt), HEDDLE_E_DEVICE, "emulated0");
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "zero", zero)), heddle_w(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_unregister(d));
	assert_int_equal(x[0], 0);
	assert_ok(heddle_stop(rt));
}

static void other_device_takes_over(void **state)
{
	(void)state;
	uint64_t x[4][N] = {{1}}, right[N] = {0};
	heddle_data *d[4];
	for (int by = BY_COPY; by < N_LOST_BY; by++) {
		memset(x, 0, sizeof x);
		memset(right, 0, sizeof right);
		plan_loss((enum lost_by)by, 1, 1, 1);
		heddle_runtime *rt = start_losing("dmdas", 1, 2);
		heddle_codelet *on_device = for_devices(rt, make);
		uint64_t from[N] = {3};
		heddle_data *source;
		assert_ok(heddle_vector(rt, from, N, sizeof *from, &source));
		for (int i = 0; i < 4; i++)
			assert_ok(heddle_vector(rt, x[i], N, sizeof(uint64_t), &d[i]));
		for (int i = 0; i < 40; i++)
			assert_ok(heddle_submit(rt, heddle_call(on_device), heddle_w(d[i % 4]), heddle_r(source)));
		assert_ok(heddle_wait_all(rt));
		assert_ok(heddle_prefetch(source, 2)); /* to a node that is lost: nothing happens */
		for (int i = 0; i < 4; i++)
			assert_ok(heddle_unregister(d[i]));
		mix(right, from, NULL, 1);
		for (int i = 0; i < 4; i++)
			assert_memory_equal(x[i], right, sizeof right);
		assert_ok(heddle_stop(rt));
	}
}

static void all_workers_are_lost(void **state)
{
	(void)state;
	uint64_t x[N] = {1};
	heddle_data *d;
	heddle_task *t;
	plan_loss(BY_COPY, 0, 1, 0);
	heddle_runtime *rt = start_losing("dada", 0, 1);
	assert_ok(heddle_vector(rt, x, N, sizeof *x, &d));
	for (int i = 0; i < 30; i++)
		assert_ok(heddle_submit(rt, heddle_call(for_devices(rt, change)), heddle_rw(d)));
	said(heddle_wait_all(rt), HEDDLE_E_DEVICE, "emulated0");
	assert_ok(heddle_submit(rt, heddle_call(for_devices(rt, zero)), heddle_w(d), heddle_out(&t)));
	while (!heddle_task_done(t)) /* nobody waits in the runtime */
		sched_yield();
	heddle_task_release(t);
	assert_int_equal(heddle_stop(rt), HEDDLE_E_DEVICE);
}

/* Contributions of a reduction on two devices and a CPU, with scratch buffers. Returns the status of the wait. */
static int reduce(heddle_runtime *rt, uint64_t sum[N], int n)
{
	uint64_t x[N] = {1};
	heddle_data *total, *from, *room;
	heddle_codelet *adder = codelet(rt, "add_by_scratch", add_by_scratch);
	memset(sum, 0, N * sizeof *sum);
	assert_ok(heddle_vector(rt, sum, N, sizeof *sum, &total));
	assert_ok(heddle_data_set_reduction(total, codelet(rt, "zero", zero), codelet(rt, "add", add)));
	assert_ok(heddle_data_set_name(total, "total"));
	assert_ok(heddle_vector(rt, x, N, sizeof *x, &from));
	assert_ok(heddle_vector(rt, NULL, N, sizeof *x, &room));
	for (int i = 0; i < n; i++)
		assert_ok(
		    heddle_submit(rt, heddle_call(adder), heddle_redux(total), heddle_r(from), heddle_scratch(room)));
	struct result r = wait_for_all(rt);
	bring_back(&r, total);
	bring_back(&r, from);
	bring_back(&r, room);
	return conclude(rt, &r);
}

static void reduction_is_right_or_fails(void **state)
{
	(void)state;
	enum { CONTRIBUTIONS = 40, ALONE = 10 }; /* from that kernel on, the device does all until it is lost */
	uint64_t sum[N];
	int n_right = 0, n_wrong = 0;
	for (int by = BY_ALLOC; by < N_LOST_BY; by++)
		for (int call = 1; call < ALONE + 2; call++) {
			int alone = by >= BY_LAUNCH && call >= ALONE;
			plan_loss((enum lost_by)by, 0, call, call % 2);
			heddle_runtime *rt = start_losing("ws", 1, alone ? 1 : 2);
			if (alone)
				leave_tasks_to_devices(rt);
			int status = reduce(rt, sum, CONTRIBUTIONS);
			if (status)
				said(status, HEDDLE_E_DEVICE, "total");
			else
				assert_int_equal(sum[0], CONTRIBUTIONS);
			if (n_lost()) { /* otherwise a call that nobody waits for may still lose it */
				++*(status ? &n_wrong : &n_right);
				assert_ok(reduce(rt, sum, CONTRIBUTIONS));
				assert_int_equal(sum[0], CONTRIBUTIONS);
			}
			assert_ok(heddle_stop(rt));
		}
	assert_true(n_right > 0 && n_wrong > 0);
}

/* --- Events ------------------------------------------------------------------------------------------------------- */

static heddle_event *_Atomic event_of_device;

/* On the device it waits for an event that nobody fulfills there. */
static int detach_on_device(heddle_context *c)
{
	if (heddle_context_worker(c) == 0)
		return make(c);
	memset(heddle_ptr(c, 0), 1, N * sizeof(uint64_t));
	event_of_device = heddle_detach(c);
	return 0;
}

static int wait_for_device(heddle_context *c)
{
	(void)c;
	while (!event_of_device)
		sched_yield();
	return 0;
}

static void task_that_waits_for_an_event_is_run_again(void **state)
{
	(void)state;
	uint64_t x[N] = {1}, y[N] = {2}, z[N] = {0}, right[N];
	heddle_data *from, *to, *other;
	plan_loss(BY_LAUNCH, 0, 2, 0);
	heddle_runtime *rt = start_losing("eager", 1, 1);
	heddle_codelet *c = codelet(rt, "detach", detach_on_device), *on_device = for_devices(rt, zero);
	assert_ok(heddle_vector(rt, x, N, sizeof *x, &from));
	assert_ok(heddle_vector(rt, y, N, sizeof *x, &to));
	assert_ok(heddle_vector(rt, z, N, sizeof *x, &other));
	event_of_device = NULL;
	/* The CPU is kept busy until the device has the task. */
	heddle_codelet *busy = heddle_codelet_new(rt, .name = "busy", .cpu = wait_for_device);
	assert_ok(heddle_submit(rt, heddle_call(busy), heddle_on(0)));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_w(to), heddle_r(from)));
	while (!event_of_device)
		sched_yield();
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_submit(rt, heddle_call(on_device), heddle_w(other)));
	said(heddle_wait_all(rt), HEDDLE_E_DEVICE, "no worker is left");
	assert_ok(heddle_selfcheck(rt));
	mix(right, x, NULL, 1);
	assert_ok(heddle_acquire(to, HEDDLE_R));
	assert_memory_equal(y, right, sizeof right);
	heddle_release(to);
	assert_ok(heddle_fulfill(event_of_device, 0)); /* too late, which is nobody's fault */
	assert_ok(heddle_selfcheck(rt));
	assert_int_equal(heddle_fulfill(event_of_device, 0), HEDDLE_E_STATE);
	assert_ok(heddle_stop(rt));
}

/* --- Policies ----------------------------------------------------------------------------------------------------- */

static int n_lives, fails_to_live;

static int mortal_create(heddle_sched *sched, void **state)
{
	if (++n_lives == fails_to_live)
		return heddle_sched_fail(sched, HEDDLE_E_MEMORY, "it is too late to be born again");
	return (*state = calloc(1, sizeof(heddle_task *))) ? 0 : HEDDLE_E_MEMORY;
}

static void mortal_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	heddle_task **first = state;
	(void)releaser;
	for (size_t i = 0; i < n; i++) {
		heddle_task_link(batch[i])->next = *first;
		*first = batch[i];
	}
}

static heddle_task *mortal_pick(void *state, unsigned worker)
{
	for (heddle_task **p = state; *p; p = &heddle_task_link(*p)->next) {
		heddle_task *t = *p;
		if (!heddle_task_can_run(t, worker))
			continue;
		*p = heddle_task_link(t)->next;
		return t;
	}
	return NULL;
}

static const struct heddle_policy mortal = {.abi = HEDDLE_POLICY_ABI,
                                            .name = "mortal",
                                            .summary = "dies with a device",
                                            .source = "none",
                                            .create = mortal_create,
                                            .destroy = free,
                                            .ready = mortal_ready,
                                            .pick = mortal_pick};

static void policy_of_a_program_is_made_anew(void **state)
{
	(void)state;
	int wrong;
	n_lives = 0;
	fails_to_live = 0;
	assert_ok(heddle_policy_register(&mortal));
	plan_loss(BY_LAUNCH, 0, 1, 1);
	heddle_runtime *rt = start_losing("mortal", 1, 1);
	leave_tasks_to_devices(rt);
	assert_ok(make_and_collect(rt, &wrong));
	assert_false(wrong);
	assert_int_equal(n_lives, 2);
	assert_ok(heddle_stop(rt));
}

static void policy_that_cannot_be_made_anew_fails_tasks(void **state)
{
	(void)state;
	int wrong;
	n_lives = 0;
	fails_to_live = 2;
	plan_loss(BY_LAUNCH, 0, 1, 1);
	heddle_runtime *rt = start_losing("mortal", 1, 1);
	leave_tasks_to_devices(rt);
	said(make_and_collect(rt, &wrong), HEDDLE_E_MEMORY, "too late to be born again");
	assert_ok(heddle_selfcheck(rt));
	assert_ok(make_and_collect(rt, &wrong));
	assert_false(wrong);
	assert_int_equal(n_lives, 3);
	assert_ok(heddle_stop(rt));
}

/* --- What is told ------------------------------------------------------------------------------------------------- */

static void dump_and_statistics_show_a_lost_device(void **state)
{
	(void)state;
	int wrong;
	plan_loss(BY_LAUNCH, 0, 1, 1);
	heddle_runtime *rt = start_losing("eager", 1, 1);
	leave_tasks_to_devices(rt);
	assert_ok(make_and_collect(rt, &wrong));
	struct heddle_stats stats;
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_int_equal(stats.workers_lost, 1);
	assert_true(stats.tasks_retried > 0);
	assert_int_equal(stats.tasks_failed + stats.tasks_cancelled, 0);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	heddle_dump(rt, out);
	fclose(out);
	if (!strstr(text, "emulated0") || !strstr(text, "lost: the device fell off the bus"))
		fail_msg("%s", text);
	free(text);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(readable_device_loses_nothing),
	    cmocka_unit_test(lost_values_are_named),
	    cmocka_unit_test(wait_names_what_is_lost),
	    cmocka_unit_test(what_is_overwritten_need_not_leave),
	    cmocka_unit_test(task_fails_if_the_lost_device_was_its_only_worker),
	    cmocka_unit_test(other_device_takes_over),
	    cmocka_unit_test(all_workers_are_lost),
	    cmocka_unit_test(reduction_is_right_or_fails),
	    cmocka_unit_test(task_that_waits_for_an_event_is_run_again),
	    cmocka_unit_test(policy_of_a_program_is_made_anew),
	    cmocka_unit_test(policy_that_cannot_be_made_anew_fails_tasks),
	    cmocka_unit_test(dump_and_statistics_show_a_lost_device),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
