/* What the program asks for and then waits for no longer leaves the chain of its datum. */
#include "internals.h"
#include "program.h"

struct asking {
	atomic_int open; /* what the kernel in force waits for */
	atomic_int said; /* what on_wait returns */
	heddle_runtime *rt;
	heddle_data *data; /* that the program asks for */
	heddle_codelet *codelet;
	enum heddle_mode mode; /* in which on_wait submits a task with the datum; 0: it submits none */
};

static int write_zeros(heddle_context *c)
{
	memset(heddle_ptr(c, 0), 0, heddle_extent(c, 0, 0) * sizeof(long));
	return 0;
}

static int pass(heddle_context *c)
{
	wait_for(&heddle_get(c, 0, struct asking *)->open, 1);
	return 0;
}

/* While the program waits, a task is submitted behind what it has asked for; and then its wait is ended. */
static int submit_behind(void *arg)
{
	struct asking *i = arg;
	heddle_task *t;
	if (i->said && i->mode &&
	    !heddle_submit(i->rt, heddle_call(i->codelet), heddle_access(i->mode, i->data), heddle_out(&t)))
		heddle_task_release(t); /* when this returns, the task is in the graph */
	return i->said;
}

static uint64_t live_tasks(heddle_runtime *rt)
{
	struct heddle_stats stats;
	assert_ok(heddle_runtime_stats(rt, &stats));
	return stats.live_tasks;
}

static int sum_up(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) += *(long *)heddle_ptr(c, 1);
	return 0;
}

static heddle_runtime *start_with_kernel_in_force(struct asking *i, enum heddle_mode mode, long *x)
{
	struct heddle_config config = small_config();
	config.n_emulated = 1;
	config.on_wait = submit_behind;
	config.on_wait_arg = i;
	i->rt = start_with(&config);
	heddle_codelet *c = heddle_codelet_new(i->rt, .name = "pass", .cpu = pass);
	heddle_codelet *zero = heddle_codelet_new(i->rt, .name = "zero", .cpu = write_zeros);
	heddle_codelet *sum = heddle_codelet_new(i->rt, .name = "sum", .cpu = sum_up);
	i->codelet = heddle_codelet_new(i->rt, .name = "nothing", .cpu = nothing);
	assert_ok(heddle_vector(i->rt, x, 1, sizeof *x, &i->data));
	assert_ok(heddle_data_set_reduction(i->data, zero, sum));
	assert_ok(heddle_submit(i->rt, heddle_call(c), heddle_access(mode, i->data), heddle_value(i),
	                        heddle_on((unsigned)heddle_runtime_platform(i->rt)->n_workers - 1)));
	return i->rt;
}

static unsigned n_waiting(const heddle_data *d)
{
	unsigned n = 0;
	hd_core_enter(d->rt);
	hd_drain_all(d->rt);
	for (const struct hd_access *a = d->queue; a; a = a->next)
		n++;
	hd_core_settle(d->rt);
	hd_core_leave(d->rt);
	return n;
}

/* An access that is compatible with the granted ones does not wait for an interrupted acquire in front of it, whether
 * it was submitted before the interruption or after it; and no record of that acquire is left. */
static void interrupted_waits_delay_no_task(void **state)
{
	static const enum heddle_mode modes[] = {HEDDLE_R, HEDDLE_COMMUTE, HEDDLE_REDUX};
	(void)state;
	for (unsigned k = 0; k < 3 * sizeof modes / sizeof *modes; k++) {
		struct asking at = {.said = 1}, *i = &at;
		enum heddle_mode mode = modes[k / 3];
		int unregisters = k % 3 == 0, meanwhile = k % 3 == 2;
		long x = 7;
		heddle_runtime *rt = start_with_kernel_in_force(i, mode, &x);
		/* What was asked for ends a reduction: the first control combines it, and what comes behind waits. */
		unsigned combines = mode == HEDDLE_REDUX;
		i->mode = meanwhile ? mode : 0;
		assert_int_equal(unregisters ? heddle_unregister(i->data) : heddle_acquire(i->data, HEDDLE_RW),
		                 HEDDLE_E_INTERRUPTED);
		assert_says("on_wait");
		assert_ok(heddle_selfcheck(rt));
		assert_in_range(live_tasks(rt), 1, 1 + combines + (unsigned)meanwhile); /* that may have ended */
		assert_int_equal(n_waiting(i->data), meanwhile ? 2 * combines : combines);
		assert_ok(heddle_submit(rt, heddle_call(i->codelet), heddle_access(mode, i->data)));
		assert_ok(heddle_selfcheck(rt));
		assert_int_equal(n_waiting(i->data), meanwhile ? 3 * combines : 2 * combines);
		i->said = 0;
		i->open = 1;
		assert_ok(heddle_wait_all(rt));
		assert_ok(heddle_selfcheck(rt));
		assert_ok(heddle_unregister(i->data));
		assert_int_equal(x, 7);
		assert_ok(heddle_stop(rt));
	}
}

/* A wait that is begun again and again, as destructors do, leaves nothing each time. */
static void interrupted_waits_leave_no_tasks(void **state)
{
	(void)state;
	struct asking at = {.said = 1}, *i = &at;
	long x = 7;
	heddle_runtime *rt = start_with_kernel_in_force(i, HEDDLE_R, &x);
	for (int k = 0; k < 3; k++) {
		assert_int_equal(heddle_unregister(i->data), HEDDLE_E_INTERRUPTED);
		assert_int_equal(live_tasks(rt), 1);
	}
	i->open = 1;
	i->said = 0;
	assert_ok(heddle_unregister(i->data));
	assert_int_equal(live_tasks(rt), 0);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(interrupted_waits_delay_no_task),
	    cmocka_unit_test(interrupted_waits_leave_no_tasks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
