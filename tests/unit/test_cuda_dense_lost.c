/* A device that is lost in the middle of a Cholesky factorisation, beside one core. What can still be read is brought
 * home, and the core computes the rest; of a device that cannot be read, the tiles are named that it alone had. Only on
 * the stand-in for NVIDIA's driver. */
#include <limits.h>
#include <string.h>
#include "dense_standin.h"
#include "list_policy.h"

enum { TILE = 8, N = 4 * TILE, LAUNCH_FAILED = 719 };

/* --- A policy that loses the device ------------------------------------------------------------------------------- */

/* The policy gives the device, which is worker 1, the first tasks, one at a time, so that none is under way there when
 * it is lost; then the core. When it is lost, the device is given tasks again, so that the runtime hears of it. What a
 * kernel was changing when its device was lost cannot be used any more; so these are tasks whose data must be copied
 * there first, which fails before the kernel begins. */
static struct {
	unsigned for_device;  /* how many tasks the device is given before it is lost */
	unsigned lose_after;  /* so many tasks, of both */
	int readable;         /* when it is lost */
	unsigned given, done; /* tasks: to the device; in all */
	int busy, lost;       /* the device */
	unsigned too_late;    /* tasks that the device has done after that */
} plan;

/* Takes the last task of the list that needs a copy on the device; NULL: there is none. */
static heddle_task *pick_in_vain(void)
{
	heddle_task **link = &first_ready;
	while (*link && !(heddle_task_can_run(*link, 1) && heddle_task_missing_bytes(*link, 1)))
		link = &heddle_task_link(*link)->next;
	heddle_task *t = *link;
	if (t)
		*link = heddle_task_link(t)->next;
	return t;
}

static heddle_task *pick(void *state, unsigned worker)
{
	int for_device = !plan.lost && plan.given < plan.for_device;
	if (worker == 1 && plan.lost)
		return pick_in_vain();
	if (for_device != (worker == 1) || plan.busy)
		return NULL;
	heddle_task *t = list_pick(state, worker);
	plan.given += t && worker == 1;
	plan.busy = t && worker == 1;
	return t;
}

static void done(void *state, heddle_task *task, unsigned worker)
{
	(void)state;
	(void)task;
	plan.too_late += plan.lost && worker == 1;
	if (worker == 1)
		plan.busy = 0;
	if (++plan.done < plan.lose_after || plan.busy || plan.lost)
		return;
	plan.lost = 1;
	standin->lose(0, plan.readable);
}

static const struct heddle_policy losing = {
    .abi = HEDDLE_POLICY_ABI,
    .name = "losing",
    .summary = "loses the device after so many tasks",
    .source = "of our own",
    .create = list_create,
    .destroy = list_destroy,
    .ready = list_ready,
    .pick = pick,
    .done = done,
};

/* --- Runs --------------------------------------------------------------------------------------------------------- */

struct run {
	int status;
	char sentence[2048];
	unsigned lost;  /* workers */
	unsigned tasks; /* that were done */
};

/* A factorisation with its check, in a runtime of its own, in which afterwards another one succeeds. */
static struct run factorise(const char *sched)
{
	struct run r = {0};
	struct fixture f;
	struct heddle_stats stats;
	struct heddle_dense_report report = {0};
	struct heddle_dense_problem problem = {.routine = "potrf", .options = {.tile = TILE}, .n = N, .check = 1};
	struct heddle_config config = one_device(1);
	config.sched = sched;
	OK(heddle_start(&config, &f.rt));
	OK(heddle_dense_open(f.rt, &f.dense));
	r.status = heddle_dense_run(f.dense, &problem, &report);
	r.tasks = plan.done;
	snprintf(r.sentence, sizeof r.sentence, "%s", r.status ? heddle_last_error() : "");
	(standin->fail)("kernel", 0, 0);
	if (r.status == 0 && !(report.residual < 30))
		fail_msg("after %u tasks: residual %g", plan.lose_after, report.residual);
	heddle_wait_all(f.rt); /* says what else is lost */
	OK(heddle_dense_run(f.dense, &problem, &report));
	assert_true(report.residual < 30);
	OK(heddle_runtime_stats(f.rt, &stats));
	r.lost = (unsigned)stats.workers_lost;
	heddle_dense_close(f.dense);
	OK(heddle_stop(f.rt));
	assert_int_equal(standin->leaks(stderr), 0);
	assert_string_equal(standin->complaint(), "");
	standin->reset();
	return r;
}

/* With a loss after so many tasks, of which the device is given the first. */
static struct run lose(unsigned after, int readable, unsigned for_device)
{
	memset(&plan, 0, sizeof plan);
	plan.for_device = for_device;
	plan.lose_after = after;
	plan.readable = readable;
	first_ready = NULL;
	struct run r = factorise("losing");
	assert_int_equal(plan.too_late, 0);
	return r;
}

static unsigned n_tasks(void)
{
	return lose(UINT_MAX, 1, UINT_MAX).tasks;
}

/* After every number of tasks, all of which the device has run. */
static void values_that_can_be_read_are_not_lost(void **state)
{
	(void)state;
	unsigned n = n_tasks();
	assert_true(n > 20);
	for (unsigned after = 1; after < n; after++) {
		struct run r = lose(after, 1, UINT_MAX);
		if (r.status)
			fail_msg("after %u tasks: %s", after, r.sentence);
		assert_int_equal(r.lost, 1);
	}
}

/* The device runs few tasks. Those of their results that the core has used are in main memory, too. */
static void lost_values_are_named(void **state)
{
	(void)state;
	unsigned n = n_tasks(), right = 0, named = 0;
	for (unsigned after = 1; after < n; after++) {
		struct run r = lose(after, 0, 4);
		assert_int_equal(r.lost, 1);
		right += r.status == 0;
		named += r.status != 0;
		if (r.status && (!strstr(r.sentence, "cuda0") || !strstr(r.sentence, "datum")))
			fail_msg("after %u tasks: the tiles are not named: %s", after, r.sentence);
	}
	assert_true(right > 0);
	assert_true(named > 0);
}

/* While kernels are under way, wherever a policy puts them. */
static void a_kernel_breaks_the_device(void **state)
{
	(void)state;
	unsigned right = 0, named = 0;
	for (unsigned nth = 1; nth < 30; nth++) {
		(standin->fail)("kernel", nth, LAUNCH_FAILED);
		struct run r = factorise("random");
		right += r.lost == 1 && r.status == 0;
		named += r.lost == 1 && r.status != 0;
		if (r.status && !strstr(r.sentence, "cuda0"))
			fail_msg("kernel %u: %s", nth, r.sentence);
	}
	assert_true(right + named > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(values_that_can_be_read_are_not_lost),
	    cmocka_unit_test(lost_values_are_named),
	    cmocka_unit_test(a_kernel_breaks_the_device),
	};
	need_standin();
	OK(heddle_policy_register(&losing));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
