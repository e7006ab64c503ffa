/* What a policy sees of the tasks that wait for another: heddle_task_successors, on a real graph. */
#include <math.h>
#include "program.h"

/* Gives nothing away until an urgent task has come, behind all others, then notes of each task that it gives how many
 * wait for it, and the sum of 1 / their predecessors. */
enum { NOTED = 8, URGENT = 1 };
struct noting {
	heddle_task *first;
	int gives;
};
static struct {
	int successors;
	double nod;
} noted[NOTED]; /* by order of submission; written with the core lock held, read when nothing runs */

static int noting_create(heddle_sched *sched, void **state)
{
	(void)sched;
	*state = calloc(1, sizeof(struct noting));
	return *state ? 0 : HEDDLE_E_MEMORY;
}

static void noting_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	struct noting *s = state;
	(void)releaser;
	for (size_t i = 0; i < n; i++) {
		heddle_task_link(batch[i])->next = s->first;
		s->first = batch[i];
		s->gives |= heddle_task_priority(batch[i]) == URGENT;
	}
}

static void note(heddle_task *successor, unsigned n_preds, void *arg)
{
	uint64_t order = *(uint64_t *)arg;
	(void)successor;
	noted[order].successors++;
	noted[order].nod += 1.0 / n_preds;
}

static heddle_task *noting_pick(void *state, unsigned worker)
{
	struct noting *s = state;
	heddle_task *t = s->first;
	(void)worker;
	if (!s->gives || !t)
		return NULL;
	s->first = heddle_task_link(t)->next;
	uint64_t order = heddle_task_order(t);
	if (order < NOTED)
		heddle_task_successors(t, 0, note, &order);
	return t;
}

static heddle_runtime *start_noting(void)
{
	static const struct heddle_policy policy = {.abi = HEDDLE_POLICY_ABI,
	                                            .name = "noting",
	                                            .summary = "notes what follows",
	                                            .source = "this test",
	                                            .create = noting_create,
	                                            .destroy = free,
	                                            .ready = noting_ready,
	                                            .pick = noting_pick};
	assert_ok(heddle_policy_register(&policy));
	memset(noted, 0, sizeof noted);
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.sched = "noting";
	return start_with(&config);
}

static void let_go(heddle_runtime *rt, const heddle_codelet *codelet)
{
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_priority(URGENT)));
	assert_ok(heddle_wait_all(rt));
}

static void assert_noted(int task, int successors, double nod)
{
	if (noted[task].successors != successors || fabs(noted[task].nod - nod) > 1e-12)
		fail_msg("task %d: %d successors, NOD %g, instead of %d and %g", task, noted[task].successors,
		         noted[task].nod, successors, nod);
}

/* 0 and 1 before 2 (0, 1: explicit); 1 before 3. */
static void predecessors_by_explicit_dependencies_are_counted(void **state)
{
	(void)state;
	heddle_runtime *rt = start_noting();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "empty", .cpu = nothing);
	heddle_task *t[2];
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_out(&t[0])));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_out(&t[1])));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_after(t[0]), heddle_after(t[1])));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_after(t[1])));
	let_go(rt, codelet);
	assert_noted(0, 1, 0.5);
	assert_noted(1, 2, 1.5);
	assert_noted(2, 0, 0);
	heddle_task_release(t[0]);
	heddle_task_release(t[1]);
	assert_ok(heddle_stop(rt));
}

/* 0 writes what 2 and 3 read; 1 before 2, explicitly. */
static void predecessors_by_data_and_explicit_ones_add_up(void **state)
{
	(void)state;
	heddle_runtime *rt = start_noting();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "empty", .cpu = nothing);
	heddle_data *d;
	heddle_task *t;
	int x = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d)));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_out(&t)));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_r(d), heddle_after(t)));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_r(d)));
	let_go(rt, codelet);
	assert_noted(0, 2, 1.5);
	assert_noted(1, 1, 0.5);
	heddle_task_release(t);
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

static int zero(heddle_context *c)
{
	*(int *)heddle_ptr(c, 0) = 0;
	return 0;
}

static int add(heddle_context *c)
{
	*(int *)heddle_ptr(c, 0) += *(const int *)heddle_ptr(c, 1);
	return 0;
}

static int add_one(heddle_context *c)
{
	++*(int *)heddle_ptr(c, 0);
	return 0;
}

/* The steps of a reduction wait for one another. */
static void steps_of_a_reduction_have_predecessors(void **state)
{
	(void)state;
	heddle_runtime *rt = start_noting();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "empty", .cpu = nothing);
	heddle_codelet *one = heddle_codelet_new(rt, .name = "one", .cpu = add_one);
	heddle_data *d;
	assert_ok(heddle_vector(rt, NULL, 1, sizeof(int), &d));
	assert_ok(heddle_data_set_reduction(d, heddle_codelet_new(rt, .name = "zero", .cpu = zero),
	                                    heddle_codelet_new(rt, .name = "add", .cpu = add)));
	assert_ok(heddle_submit(rt, heddle_call(one), heddle_redux(d)));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_r(d)));
	let_go(rt, codelet);
	for (int i = 0; i < NOTED; i++)
		assert_true(isfinite(noted[i].nod));
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(predecessors_by_explicit_dependencies_are_counted),
	    cmocka_unit_test(predecessors_by_data_and_explicit_ones_add_up),
	    cmocka_unit_test(steps_of_a_reduction_have_predecessors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
