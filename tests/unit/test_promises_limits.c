/* What the public headers promise of functions that are refused, asked twice, asked by several threads, or asked before
 * anything has happened. */
#include <heddle/trace.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include "program.h"

static struct heddle_stats stats_of(heddle_runtime *rt)
{
	struct heddle_stats stats;
	assert_ok(heddle_runtime_stats(rt, &stats));
	return stats;
}

/* "On an error nothing was submitted": no task is counted, waited for, or in the window. */
static void a_refused_submission_changes_nothing(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.window = 4;
	heddle_runtime *rt = start_with(&config), *other = start();
	heddle_codelet *c = heddle_codelet_new(rt, .name = "c", .cpu = nothing), *there;
	heddle_data *d, *foreign;
	long x = 1;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_variable(other, &x, sizeof x, &foreign));
	assert_non_null(there = heddle_codelet_new(other, .name = "there", .cpu = nothing));
	for (int i = 0; i < 100; i++) { /* far more than the window */
		heddle_task *t = (heddle_task *)&config;
		assert_int_equal(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_rw(foreign), heddle_out(&t)),
		                 HEDDLE_E_INVALID);
		assert_null(t);
		assert_int_equal(heddle_submit(rt, heddle_call(there), heddle_rw(d)), HEDDLE_E_INVALID);
		assert_int_equal(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_on(77)), HEDDLE_E_INVALID);
		assert_int_equal(heddle_submit(rt, heddle_call(c), heddle_call(c)), HEDDLE_E_INVALID);
	}
	struct heddle_stats stats = stats_of(rt);
	assert_int_equal(stats.tasks_submitted, 0);
	assert_int_equal(stats.live_tasks, 0);
	assert_ok(heddle_wait_all(rt));  /* nor is it a failure of a task */
	assert_ok(heddle_unregister(d)); /* and nobody uses the datum */
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_stop(other));
	assert_ok(heddle_stop(rt));
}

/* Bytes in a memory are those of Heddle's own copies, and the peak stays. */
static void memory_is_counted_without_the_programs_buffers(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = config.n_emulated = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "write_ones", .cpu = write_ones);
	struct heddle_memory_stats home, away;
	heddle_data *d;
	double x[100];
	assert_ok(heddle_vector(rt, x, 100, sizeof *x, &d));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_w(d), heddle_on(1)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_runtime_memory_stats(rt, 0, &home));
	assert_ok(heddle_runtime_memory_stats(rt, 1, &away));
	assert_int_equal(home.used, 0);
	assert_int_equal(home.peak, 0);
	assert_int_equal(away.used, sizeof x);
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_runtime_memory_stats(rt, 1, &away));
	assert_int_equal(away.used, 0);
	assert_int_equal(away.peak, sizeof x);
	assert_int_equal(away.evictions, 0);
	assert_int_equal(heddle_runtime_memory_stats(rt, 2, &away), HEDDLE_E_INVALID);
	assert_ok(heddle_stop(rt));
}

/* In virtual time, where nothing takes memory, the platform says how much there is: for the data of the program, but
 * not for parts of these. */
static void main_memory_holds_what_the_platform_says(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	heddle_runtime *rt = start_on(&config, "version: 1\nname: small\n"
	                                       "nodes: [{name: ram, capacity_bytes: 1000}]\n"
	                                       "classes: [{name: cpu, kind: cpu}]\n"
	                                       "workers: [{name: cpu, class: cpu, node: ram}]\n");
	heddle_data *a, *b, *c;
	heddle_plan *p;
	assert_ok(heddle_vector(rt, NULL, 100, 8, &a));
	assert_ok(heddle_plan_create(a, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .nx = 4}, &p));
	assert_ok(heddle_vector(rt, NULL, 25, 8, &b));
	assert_int_equal(heddle_variable(rt, NULL, 1, &c), HEDDLE_E_MEMORY);
	assert_non_null(strstr(heddle_last_error(), "ram"));
	assert_non_null(strstr(heddle_last_error(), "(1 bytes)"));
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_unregister(b));
	assert_int_equal(heddle_vector(rt, NULL, 26, 8, &b), HEDDLE_E_MEMORY);
	assert_ok(heddle_vector(rt, NULL, 25, 8, &b));
	assert_ok(heddle_unregister(a));
	assert_ok(heddle_vector(rt, NULL, 100, 8, &a));
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_stop(rt));
}

static void a_plan_has_no_child_beyond_its_last(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_data *d;
	heddle_plan *p;
	double x[10];
	assert_ok(heddle_vector(rt, x, 10, sizeof *x, &d));
	assert_ok(heddle_plan_create(d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .nx = 3}, &p));
	assert_int_equal(heddle_plan_size(p), 3);
	assert_non_null(heddle_plan_child(p, 2));
	heddle_error(0, "%s", "");
	assert_null(heddle_plan_child(p, 3));
	assert_true(heddle_last_error()[0] != '\0');
	assert_ok(heddle_stop(rt));
}

/* "Does nothing where no accelerator gains by it." */
static void memory_is_pinned_only_for_accelerators(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	static double x[1000];
	assert_ok(heddle_memory_pin(rt, x, sizeof x));
	assert_ok(heddle_memory_pin(rt, x, sizeof x));
	heddle_memory_unpin(rt, x);
	assert_ok(heddle_stop(rt));
}

/* A temporary can be split when it has been written. */
static void a_temporary_is_split_when_it_has_a_value(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *c = heddle_codelet_new(rt, .name = "write_ones", .cpu = write_ones);
	const struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
	heddle_data *d;
	struct heddle_part part;
	assert_ok(heddle_vector(rt, NULL, 10, sizeof(double), &d));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_w(d)));
	assert_ok(heddle_partition(d, &halves, NULL));
	assert_ok(heddle_acquire(heddle_child(d, 1), HEDDLE_R));
	assert_ok(heddle_data_part(heddle_child(d, 1), 0, &part));
	assert_int_equal(part.n[0], 5);
	assert_true(((const double *)part.base)[4] == 1);
	assert_ok(heddle_release(heddle_child(d, 1)));
	assert_ok(heddle_stop(rt));
}

struct waiter {
	heddle_task *task;
	pthread_t thread;
	int status, code;
	char sentence[200];
};

static void *wait_for_task(void *arg)
{
	struct waiter *w = arg;
	w->status = heddle_task_wait(w->task);
	w->code = heddle_last_code();
	snprintf(w->sentence, sizeof w->sentence, "%s", heddle_last_error());
	return NULL;
}

/* Each of several threads that wait for a task gets its status, with a sentence of its own. */
static void every_wait_for_a_task_reports_its_failure(void **state)
{
	enum { MANY = 4 };
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *c = heddle_codelet_new(rt, .name = "fail_with", .cpu = fail_with);
	struct waiter waiters[MANY];
	heddle_task *t;
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_value((int){6}), heddle_out(&t)));
	heddle_error(0, "%s", "mine");
	for (int i = 0; i < MANY; i++) {
		waiters[i] = (struct waiter){.task = t};
		assert_int_equal(pthread_create(&waiters[i].thread, NULL, wait_for_task, &waiters[i]), 0);
	}
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(pthread_join(waiters[i].thread, NULL), 0);
		assert_int_equal(waiters[i].status, HEDDLE_E_KERNEL);
		assert_int_equal(waiters[i].code, 6);
		assert_non_null(strstr(waiters[i].sentence, "row 42 is bad"));
	}
	assert_string_equal(heddle_last_error(), "mine");       /* that of another thread is not this one's */
	assert_int_equal(heddle_task_wait(t), HEDDLE_E_KERNEL); /* it can be asked again */
	heddle_task_release(t);
	assert_int_equal(heddle_stop(rt), HEDDLE_E_KERNEL);
}

/* "Everything recorded since the start, or since the last call." */
static void a_second_trace_has_only_what_came_later(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.trace = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "c", .cpu = nothing);
	struct heddle_trace *first, *second;
	for (int i = 0; i < 3; i++)
		assert_ok(heddle_submit(rt, heddle_call(c)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_trace_take(rt, &first));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_named("late")));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_trace_take(rt, &second));
	assert_int_equal(first->n_tasks, 3);
	assert_int_equal(first->task_names.n, 0);
	assert_int_equal(second->n_tasks, 1);
	assert_int_equal(second->task_names.n, 1);
	assert_string_equal(heddle_name_of(&second->task_names, second->tasks[0].id), "late");
	assert_true(second->tasks[0].start >= first->tasks[2].start);
	heddle_trace_free(first);
	heddle_trace_free(second);
	assert_ok(heddle_stop(rt));
}

/* A picture of more than 2000 tasks is refused; a file for Graphviz is not. */
static void a_picture_of_too_many_tasks_is_refused(void **state)
{
	enum { MANY = 2001 };
	(void)state;
	struct heddle_config config = small_config();
	config.trace = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "c", .cpu = nothing);
	struct heddle_trace *trace;
	char path[64];
	for (int i = 0; i < MANY; i++)
		assert_ok(heddle_submit(rt, heddle_call(c)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_trace_take(rt, &trace));
	snprintf(path, sizeof path, "/tmp/heddle-limits-%d.svg", (int)getpid());
	assert_int_equal(heddle_trace_dag(trace, path, NULL), HEDDLE_E_INVALID);
	assert_int_equal(access(path, F_OK), -1);
	snprintf(path, sizeof path, "/tmp/heddle-limits-%d.dot", (int)getpid());
	assert_ok(heddle_trace_dag(trace, path, NULL));
	assert_int_equal(unlink(path), 0);
	heddle_trace_free(trace);
	assert_ok(heddle_stop(rt));
}

static void figures_are_zero_before_anything_has_happened(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *c = heddle_codelet_new(rt, .name = "c", .cpu = nothing);
	struct heddle_stats stats = stats_of(rt);
	assert_true(stats.makespan == 0 && stats.last_end == 0 && stats.busy == 0 && stats.idle == 0);
	assert_true(stats.core_time == 0 && stats.sched_time == 0);
	assert_ok(heddle_wait_all(rt)); /* there is nothing to wait for */
	assert_ok(heddle_submit(rt, heddle_call(c)));
	assert_ok(heddle_wait_all(rt));
	stats = stats_of(rt);
	assert_true(stats.makespan > 0 && stats.last_end > 0);
	assert_ok(heddle_stop(rt));
}

struct readers {
	heddle_data *data;
	atomic_int n_have, open;
	int status;
};

static void *read_and_wait(void *arg)
{
	struct readers *r = arg;
	r->status = heddle_acquire(r->data, HEDDLE_R);
	r->n_have++;
	wait_for(&r->open, 1);
	if (!r->status)
		r->status = heddle_release(r->data);
	return NULL;
}

/* Threads that only read have a datum at the same time, each with a hold of its own. */
static void several_threads_may_read_a_datum(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	struct readers r = {.open = 0};
	pthread_t other;
	long x = 3;
	assert_ok(heddle_variable(rt, &x, sizeof x, &r.data));
	assert_int_equal(pthread_create(&other, NULL, read_and_wait, &r), 0);
	assert_ok(heddle_acquire(r.data, HEDDLE_R));
	wait_for(&r.n_have, 1); /* while this thread has it */
	assert_int_equal(heddle_unregister(r.data), HEDDLE_E_STATE);
	assert_ok(heddle_release(r.data));
	r.open = 1;
	assert_int_equal(pthread_join(other, NULL), 0);
	assert_ok(r.status);
	assert_int_equal(heddle_release(r.data), HEDDLE_E_STATE);
	assert_ok(heddle_unregister(r.data));
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_refused_submission_changes_nothing),
	    cmocka_unit_test(memory_is_counted_without_the_programs_buffers),
	    cmocka_unit_test(main_memory_holds_what_the_platform_says),
	    cmocka_unit_test(a_plan_has_no_child_beyond_its_last),
	    cmocka_unit_test(memory_is_pinned_only_for_accelerators),
	    cmocka_unit_test(a_temporary_is_split_when_it_has_a_value),
	    cmocka_unit_test(every_wait_for_a_task_reports_its_failure),
	    cmocka_unit_test(a_second_trace_has_only_what_came_later),
	    cmocka_unit_test(a_picture_of_too_many_tasks_is_refused),
	    cmocka_unit_test(figures_are_zero_before_anything_has_happened),
	    cmocka_unit_test(several_threads_may_read_a_datum),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
