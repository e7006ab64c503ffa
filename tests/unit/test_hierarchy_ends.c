/* Hierarchical tasks: what is refused, when they end, and how they fail. */
#include "hierarchy.h"

static heddle_codelet *write_codelet, *failing_codelet;

static heddle_runtime *start_writers(size_t n_workers)
{
	heddle_runtime *rt = start_hierarchy(n_workers, 0);
	write_codelet = heddle_codelet_new(rt, .name = "write", .cpu = append_digit);
	failing_codelet = heddle_codelet_new(rt, .name = "failing", .cpu = fail_with);
	return rt;
}

static int no_graph(heddle_context *c)
{
	(void)c;
	return 0;
}

/* --- What is refused ---------------------------------------------------------------------------------------------- */

static void descriptions_are_checked(void **state)
{
	(void)state;
	const struct heddle_subgraph good = {.name = "good", .submit = no_graph}, bad = {.name = "bad"};
	heddle_runtime *rt = start();
	assert_null(heddle_codelet_new(rt, .name = "neither"));
	assert_says("no kernel");
	assert_null(heddle_codelet_new(rt, .name = "both", .subgraph = no_graph, .subgraphs = &good, .n_subgraphs = 1));
	assert_says("both");
	assert_null(heddle_codelet_new(rt, .name = "count", .n_subgraphs = 1));
	assert_says("without the array");
	assert_null(heddle_codelet_new(rt, .name = "no function", .subgraphs = &bad, .n_subgraphs = 1));
	assert_says("lacks its function");
	assert_null(heddle_codelet_new(rt, .name = "no graph", .cpu = nothing, .expand_at_submission = 1));
	assert_says("no sub-graph");
	assert_ok(heddle_stop(rt));
}

static int status_inside;
static char message_inside[500];
static enum heddle_mode mode_inside;

/* Submits what is not allowed, and notes what it is told. */
static int submit_too_much(heddle_context *c)
{
	heddle_runtime *rt = heddle_context_runtime(c);
	status_inside = heddle_submit(rt, heddle_call(write_codelet),
	                              heddle_access(mode_inside, heddle_context_data(c, 0)), heddle_value((int){1}));
	snprintf(message_inside, sizeof message_inside, "%s", heddle_last_error());
	return 0;
}

static void a_sub_graph_asks_for_no_more_than_its_task(void **state)
{
	(void)state;
	heddle_runtime *rt = start_writers(1);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "too_much", .subgraph = submit_too_much);
	heddle_data *d;
	long x = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_data_set_name(d, "the_datum"));
	mode_inside = HEDDLE_RW;
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_r(d)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_INVALID);
	assert_says("the_datum");
	assert_int_equal(status_inside, HEDDLE_E_INVALID);
	assert_non_null(strstr(message_inside, "write: RW of the_datum, while too_much (task 0)"));
	mode_inside = HEDDLE_REDUX;
	assert_ok(heddle_data_set_reduction(d, heddle_codelet_new(rt, .name = "zero", .cpu = nothing),
	                                    heddle_codelet_new(rt, .name = "combine", .cpu = nothing)));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_w(d)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_UNSUPPORTED);
	assert_int_equal(heddle_submit(rt, heddle_call(c), heddle_redux(d)), HEDDLE_E_UNSUPPORTED);
	assert_int_equal(heddle_unregister(d), HEDDLE_E_CANCELLED);
	assert_ok(heddle_stop(rt));
}

static int try_everything(heddle_context *c)
{
	heddle_data *d = heddle_context_data(c, 0);
	assert_null(heddle_context_data(c, 1));
	assert_int_equal(heddle_context_n_data(c), 1);
	assert_null(heddle_detach(c));
	assert_says("heddle_detach");
	assert_int_equal(heddle_wait_all(heddle_context_runtime(c)), HEDDLE_E_STATE);
	assert_int_equal(heddle_unregister_async(d), HEDDLE_E_STATE);
	assert_says("hierarchical task");
	assert_int_equal(heddle_acquire(d, HEDDLE_R), HEDDLE_E_STATE);
	return 0;
}

static void a_sub_graph_neither_waits_nor_ends_data_of_its_task(void **state)
{
	(void)state;
	heddle_runtime *rt = start_writers(1);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "everything", .subgraph = try_everything);
	heddle_data *d;
	long x = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

/* --- The end ------------------------------------------------------------------------------------------------------ */

static atomic_int gate, n_ended, callback_status, callback_saw;

static int wait_at_gate(heddle_context *c)
{
	(void)c;
	wait_for(&gate, 1);
	n_ended++;
	return 0;
}

/* One task that waits at the gate on no data, and one task of the next level. */
static heddle_codelet *gate_codelet, *nest_codelet;
static int nest(heddle_context *c)
{
	heddle_runtime *rt = heddle_context_runtime(c);
	int depth = heddle_get(c, 0, int), less = depth - 1;
	if (depth)
		return heddle_submit(rt, heddle_call(nest_codelet), heddle_value(less));
	return heddle_submit(rt, heddle_call(gate_codelet));
}

static void note_end(void *arg, int status)
{
	(void)arg;
	callback_saw = n_ended;
	callback_status = status + 100;
}

static int after_all(heddle_context *c)
{
	*(int *)heddle_ptr(c, 0) = n_ended;
	return 0;
}

static void wait_for_a_task_waits_for_its_sub_graph(void **state)
{
	(void)state;
	heddle_runtime *rt = start_writers(2);
	heddle_task *t;
	heddle_group *g;
	heddle_data *d;
	int x = -1;
	gate = n_ended = callback_status = 0;
	gate_codelet = heddle_codelet_new(rt, .name = "gate", .cpu = wait_at_gate);
	nest_codelet = heddle_codelet_new(rt, .name = "nest", .subgraph = nest);
	heddle_codelet *after = heddle_codelet_new(rt, .name = "after", .cpu = after_all);
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_group_create(rt, &g));
	assert_ok(heddle_submit(rt, heddle_call(nest_codelet), heddle_value((int){20}), heddle_out(&t),
	                        heddle_then(note_end, NULL), heddle_in_group(g)));
	assert_ok(heddle_submit(rt, heddle_call(after), heddle_w(d), heddle_after(t)));
	give_others_time();
	assert_ok(heddle_selfcheck(rt));
	assert_int_equal(heddle_task_done(t), 0);
	assert_int_equal(callback_status, 0);
	gate = 1;
	assert_ok(heddle_group_wait(g));
	assert_int_equal(n_ended, 1);
	assert_int_equal(callback_saw, 1);
	assert_int_equal(callback_status, 100);
	assert_ok(heddle_task_wait(t));
	heddle_task_release(t);
	heddle_group_free(g);
	assert_ok(heddle_unregister(d));
	assert_int_equal(x, 1);
	assert_ok(heddle_stop(rt));
}

static void a_sub_graph_may_be_deep(void **state)
{
	(void)state;
	heddle_runtime *rt = start_writers(1);
	gate = 1;
	gate_codelet = heddle_codelet_new(rt, .name = "gate", .cpu = wait_at_gate);
	nest_codelet = heddle_codelet_new(rt, .name = "nest", .subgraph = nest);
	assert_ok(heddle_submit(rt, heddle_call(nest_codelet), heddle_value((int){30000})));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_stop(rt));
}

/* --- Failures ----------------------------------------------------------------------------------------------------- */

/* Writes the datum, then fails; or lets its second task fail; or returns what a function of Heddle returns. */
static int write_then_fail(heddle_context *c)
{
	heddle_runtime *rt = heddle_context_runtime(c);
	heddle_data *d = heddle_context_data(c, 0);
	int how = heddle_get(c, 0, int), one = 1, code = 7;
	heddle_submit(rt, heddle_call(write_codelet), heddle_rw(d), heddle_value(one));
	if (how == 0)
		return heddle_fail(c, 5, "no graph today");
	if (how == 3)
		return heddle_submit(rt, heddle_call(write_codelet), heddle_rw(d), heddle_value(one), heddle_on(1000));
	if (how == 4)
		return heddle_vector(rt, &how, 1, 0, &d);
	if (how == 1 || how == 5)
		heddle_submit(rt, heddle_call(write_codelet), heddle_rw(d), heddle_value(one), heddle_on(1000));
	else
		heddle_submit(rt, heddle_call(failing_codelet), heddle_rw(d), heddle_value(code));
	return how == 5 ? 9 : 0;
}

static atomic_int n_callbacks;
static void note_status(void *arg, int status)
{
	*(int *)arg = status;
	n_callbacks++;
}

static void check_failure(heddle_runtime *rt, heddle_codelet *c, int how, int status, const char *words)
{
	heddle_data *d, *e;
	heddle_task *t, *next;
	heddle_group *g;
	long x = 0, y = 0;
	int told = 0;
	n_callbacks = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_variable(rt, &y, sizeof y, &e));
	assert_ok(heddle_group_create(rt, &g));
	assert_ok(heddle_submit(rt, heddle_call(write_codelet), heddle_rw(d), heddle_value((int){2})));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_value(how), heddle_in_group(g), heddle_out(&t),
	                        heddle_then(note_status, &told)));
	assert_ok(
	    heddle_submit(rt, heddle_call(write_codelet), heddle_rw(d), heddle_value((int){3}), heddle_out(&next)));
	assert_ok(heddle_submit(rt, heddle_call(write_codelet), heddle_rw(e), heddle_value((int){4}), heddle_after(t)));
	assert_int_equal(heddle_task_wait(t), status);
	assert_says(words);
	assert_int_equal(told, status);
	assert_int_equal(heddle_task_wait(next), HEDDLE_E_CANCELLED);
	assert_int_equal(heddle_group_wait(g), status);
	assert_says(words);
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_CANCELLED);
	assert_ok(heddle_selfcheck(rt));
	assert_int_equal(x, 21); /* the task that was submitted before the failure has run */
	assert_int_equal(y, 0);
	heddle_task_release(t);
	heddle_task_release(next);
	heddle_group_free(g);
	assert_int_equal(heddle_unregister(d), HEDDLE_E_CANCELLED);
	heddle_wait_all(rt);
	assert_ok(heddle_unregister(e) == HEDDLE_E_CANCELLED ? 0 : -1);
}

static void a_failure_inside_a_sub_graph_fails_waits_for_its_task(void **state)
{
	(void)state;
	for (size_t n = 1; n <= 4; n += 3) {
		heddle_runtime *rt = start_writers(n);
		heddle_codelet *c = heddle_codelet_new(rt, .name = "fails", .subgraph = write_then_fail);
		failing_codelet = heddle_codelet_new(rt, .name = "failing", .cpu = fail_with);
		check_failure(rt, c, 0, HEDDLE_E_KERNEL, "no graph today");
		check_failure(rt, c, 1, HEDDLE_E_INVALID, "worker 1000");
		check_failure(rt, c, 2, HEDDLE_E_KERNEL, "row 42 is bad");
		check_failure(rt, c, 3, HEDDLE_E_KERNEL, "worker 1000");
		check_failure(rt, c, 3, HEDDLE_E_KERNEL, "(its sub-graph returned -");
		check_failure(rt, c, 4, HEDDLE_E_KERNEL, "at least one byte");
		check_failure(rt, c, 5, HEDDLE_E_KERNEL, "worker 1000");
		check_failure(rt, c, 5, HEDDLE_E_KERNEL, "(its sub-graph returned 9)");
		assert_ok(heddle_stop(rt));
	}
}

struct mixed {
	int fails_first;
	heddle_task *failed; /* before the sub-graph was submitted */
	heddle_group *group;
};

/* Submits a task that fails and one that is cancelled: when that one has failed, or, to be the first to end, because of
 * a task that has failed before. */
static int fail_and_cancel(heddle_context *c)
{
	heddle_runtime *rt = heddle_context_runtime(c);
	const struct mixed *m = pointer_value(c);
	heddle_task *cause = m->failed, *t = NULL;
	int code = 7, status = 0;
	if (m->fails_first) {
		status = heddle_submit(rt, heddle_call(failing_codelet), heddle_value(code), heddle_in_group(m->group),
		                       heddle_out(&t));
		cause = t;
	}
	if (!status)
		status = heddle_submit(rt, heddle_call(write_codelet), heddle_value(code), heddle_after(cause),
		                       heddle_in_group(m->group));
	if (!status && !m->fails_first)
		status = heddle_submit(rt, heddle_call(failing_codelet), heddle_value(code), heddle_in_group(m->group));
	heddle_task_release(t);
	return status;
}

static void check_blame(heddle_runtime *rt, heddle_codelet *c, struct mixed *m, heddle_group *told)
{
	heddle_task *t;
	int status = 0;
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_value(m), heddle_in_group(told), heddle_out(&t),
	                        heddle_then(note_status, &status)));
	assert_int_equal(heddle_task_wait(t), HEDDLE_E_KERNEL);
	assert_says("row 42 is bad");
	heddle_task_release(t);
	assert_int_equal(status, HEDDLE_E_KERNEL);
	assert_int_equal(heddle_group_wait(told), HEDDLE_E_KERNEL);
	assert_says("row 42 is bad");
}

/* Its task hears of both; whoever waits for that is told of the failure, whichever came first. */
static void a_failure_counts_more_than_what_was_cancelled(void **state)
{
	(void)state;
	heddle_runtime *rt = start_writers(1);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "mixed", .subgraph = fail_and_cancel);
	heddle_group *told, *inner;
	struct mixed m;
	assert_ok(heddle_group_create(rt, &told));
	assert_ok(heddle_group_create(rt, &inner));
	assert_ok(heddle_submit(rt, heddle_call(failing_codelet), heddle_value((int){1}), heddle_out(&m.failed)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	for (m.fails_first = 0; m.fails_first < 2; m.fails_first++) {
		m.group = told;
		check_blame(rt, c, &m, told);
		m.group = inner; /* so that only the outer task tells its group */
		check_blame(rt, c, &m, told);
		assert_int_equal(heddle_group_wait(inner), HEDDLE_E_KERNEL);
	}
	heddle_task_release(m.failed);
	heddle_group_free(told);
	heddle_group_free(inner);
	assert_ok(heddle_stop(rt));
}

static atomic_int n_expanded;
static int count_expansion(heddle_context *c)
{
	(void)c;
	n_expanded++;
	return 0;
}

static void a_cancelled_task_is_not_expanded(void **state)
{
	(void)state;
	heddle_runtime *rt = start_writers(1);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "counts", .subgraph = count_expansion);
	heddle_data *d;
	heddle_task *first, *t;
	long x = 0;
	n_expanded = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(
	    heddle_submit(rt, heddle_call(failing_codelet), heddle_rw(d), heddle_value((int){1}), heddle_out(&first)));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_out(&t)));
	assert_int_equal(heddle_task_wait(t), HEDDLE_E_CANCELLED);
	heddle_task_release(t);
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_after(first), heddle_out(&t)));
	assert_int_equal(heddle_task_wait(t), HEDDLE_E_CANCELLED);
	heddle_task_release(t);
	heddle_task_release(first);
	assert_int_equal(n_expanded, 0);
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	heddle_unregister(d);
	assert_ok(heddle_stop(rt));
}

/* --- Data that are closed during a submission --------------------------------------------------------------------- */

static struct {
	heddle_data *data; /* of the program: the hierarchical task does not have it */
	heddle_codelet *codelet;
	struct gate looks; /* the task's submission has begun to look at the datum, and goes on when it is opened */
	atomic_int has_submitted;
} foreign;

static uint64_t look_for_long(const struct heddle_size *size)
{
	(void)size;
	atomic_fetch_add(&foreign.looks.entered, 1);
	reached(&foreign.looks.open, 1);
	return 0;
}

static int write_foreign(heddle_context *c)
{
	int status = heddle_submit(heddle_context_runtime(c), heddle_call(foreign.codelet), heddle_rw(foreign.data));
	foreign.has_submitted = 1;
	return status;
}

/* Unregisters the datum while the sub-graph submits a task that writes it, or only another one. That is used by a task,
 * so that its handle does not end before. Returns the status of the wait; *x becomes the datum's value. */
static int close_during_a_submission(int is_same, long *x)
{
	heddle_runtime *rt = start_cpus(small_config(), 2);
	struct gate g = {0, 0}, *gate_address = &g;
	heddle_codelet *outer = heddle_codelet_new(rt, .name = "outer", .subgraph = write_foreign);
	heddle_codelet *user = heddle_codelet_new(rt, .name = "user", .cpu = enter_gate);
	heddle_data *other;
	foreign.codelet = heddle_codelet_new(rt, .name = "leaf", .cpu = increment, .footprint = look_for_long);
	foreign.looks.entered = foreign.looks.open = foreign.has_submitted = 0;
	assert_ok(heddle_variable(rt, x, sizeof *x, &foreign.data));
	assert_ok(heddle_data_set_name(foreign.data, "foreign datum"));
	assert_ok(heddle_variable(rt, NULL, sizeof *x, &other));
	heddle_data *closed = is_same ? foreign.data : other;
	assert_ok(heddle_submit(rt, heddle_call(user), heddle_w(closed), heddle_value(gate_address)));
	int n_using = reached(&g.entered, 1);
	assert_ok(heddle_submit(rt, heddle_call(outer)));
	int n_looking = reached(&foreign.looks.entered, 1);
	assert_ok(heddle_unregister_async(closed));
	foreign.looks.open = 1;
	int n_submitted = reached(&foreign.has_submitted, 1);
	g.open = 1;
	int status = heddle_wait_all(rt);
	assert_int_equal(n_using + n_looking + n_submitted, 3);
	if (status)
		assert_says("foreign datum has been unregistered");
	assert_ok(heddle_stop(rt));
	return status;
}

static void a_task_of_a_sub_graph_fails_if_its_datum_is_closed_during_its_submission(void **state)
{
	(void)state;
	long x = 5;
	assert_int_equal(close_during_a_submission(1, &x), HEDDLE_E_STATE);
	assert_int_equal(x, 5);
	assert_ok(close_during_a_submission(0, &x));
	assert_int_equal(x, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(descriptions_are_checked),
	    cmocka_unit_test(a_sub_graph_asks_for_no_more_than_its_task),
	    cmocka_unit_test(a_sub_graph_neither_waits_nor_ends_data_of_its_task),
	    cmocka_unit_test(wait_for_a_task_waits_for_its_sub_graph),
	    cmocka_unit_test(a_sub_graph_may_be_deep),
	    cmocka_unit_test(a_failure_inside_a_sub_graph_fails_waits_for_its_task),
	    cmocka_unit_test(a_failure_counts_more_than_what_was_cancelled),
	    cmocka_unit_test(a_cancelled_task_is_not_expanded),
	    cmocka_unit_test(a_task_of_a_sub_graph_fails_if_its_datum_is_closed_during_its_submission),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
