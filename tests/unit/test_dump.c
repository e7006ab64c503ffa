/* heddle_dump: what it says, and what it must not look at. */
#define _GNU_SOURCE
#include <stdio.h>
#include "list_policy.h"
#include "program.h"

static heddle_runtime *dumped;
static FILE *dump_file;

static void dump_inside(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	heddle_dump(dumped, dump_file);
	list_ready(state, batch, n, releaser);
}
static const struct heddle_policy dumping = {.abi = HEDDLE_POLICY_ABI,
                                             .name = "dumping",
                                             .summary = "dumps",
                                             .source = "this test",
                                             .create = list_create,
                                             .destroy = list_destroy,
                                             .ready = dump_inside,
                                             .pick = list_pick};

static void dump_takes_the_lock_unless_its_holder_calls(void **state)
{
	(void)state;
	char *text = NULL;
	size_t size;
	dump_file = open_memstream(&text, &size);
	assert_non_null(dump_file);
	assert_ok(heddle_policy_register(&dumping));
	struct heddle_config config = small_config();
	config.sched = "dumping";
	dumped = start_with(&config);
	heddle_dump(dumped, dump_file);
	fflush(dump_file);
	assert_non_null(strstr(text, "in flight"));
	assert_null(strstr(text, "lock is held"));
	assert_ok(heddle_submit(dumped, heddle_call(heddle_codelet_new(dumped, .name = "nothing", .cpu = nothing))));
	assert_ok(heddle_wait_all(dumped));
	fflush(dump_file);
	assert_non_null(strstr(text, "lock is held"));
	assert_ok(heddle_stop(dumped));
	fclose(dump_file);
	free(text);
}

/* The dump as text, which the caller frees. */
static char *dump_of(heddle_runtime *rt)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	assert_non_null(out);
	heddle_dump(rt, out);
	fclose(out);
	return text;
}

static void dump_does_not_look_at_tasks_that_were_refused(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "refused", .cpu = nothing);
	heddle_data *d[2];
	long x[2] = {0, 0};
	for (int i = 0; i < 2; i++)
		assert_ok(heddle_variable(rt, &x[i], sizeof x[i], &d[i]));
	for (int i = 0; i < 200; i++) /* tasks that have ended still say what they accessed */
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d[0]), heddle_rw(d[1])));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(heddle_submit(rt, heddle_call(codelet), heddle_r(NULL), heddle_rw(d[1])), HEDDLE_E_INVALID);
	assert_ok(heddle_unregister(d[0]));
	assert_ok(heddle_unregister(d[1]));
	char *text = dump_of(rt);
	assert_non_null(strstr(text, "in flight"));
	assert_null(strstr(text, "refused"));
	free(text);
	assert_ok(heddle_stop(rt));
}

static void stay_in_callback(void *arg, int status)
{
	struct other *o = arg;
	o->status = status;
	o->stage = 1;
	wait_for(&o->stage, 2);
}

static void dump_does_not_look_at_the_data_of_a_task_whose_callback_runs(void **state)
{
	(void)state;
	struct other o = {.rt = start()};
	heddle_codelet *codelet = heddle_codelet_new(o.rt, .name = "talkative", .cpu = nothing);
	assert_ok(heddle_variable(o.rt, NULL, 8, &o.data));
	assert_ok(heddle_submit(o.rt, heddle_call(codelet), heddle_w(o.data), heddle_then(stay_in_callback, &o)));
	wait_for(&o.stage, 1);
	assert_ok(heddle_unregister(o.data));
	char *text = dump_of(o.rt);
	assert_non_null(strstr(text, "talkative (task 0)"));
	assert_non_null(strstr(text, "has ended, its callback runs"));
	assert_null(strstr(text, "datum"));
	free(text);
	o.stage = 2;
	assert_ok(heddle_wait_all(o.rt));
	assert_ok(o.status);
	assert_ok(heddle_stop(o.rt));
}

/* A machine in virtual time with an accelerator, whose memory has room for 4096 bytes. */
static const char with_accelerator[] = "version: 1\nname: here\nnodes:\n- {name: ram, capacity_mib: 0}\n"
                                       "- {name: small, capacity_mib: 0.00390625}\nclasses:\n"
                                       "- {name: cpu, kind: cpu}\n- {name: gpu, kind: cuda}\nworkers:\n"
                                       "- {name: cpu, class: cpu, node: ram}\n"
                                       "- {name: gpu, class: gpu, node: small}\nlinks:\n"
                                       "- {from: ram, to: small, bandwidth_mbs: 1000, latency_us: 1}\n"
                                       "- {from: small, to: ram, bandwidth_mbs: 1000, latency_us: 1}\nkernels:\n"
                                       "- {codelet: work, class: gpu, table: [{bytes: 1, us: 1}]}\n";

static void dump_says_what_fills_a_memory(void **state)
{
	(void)state;
	const struct heddle_config config = small_config();
	heddle_runtime *rt = start_on(&config, with_accelerator);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "work", .cuda = nothing);
	heddle_data *whole;
	assert_ok(heddle_vector(rt, NULL, 128, 8, &whole));
	assert_ok(heddle_data_set_name(whole, "whole"));
	const struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
	heddle_plan *plan;
	assert_ok(heddle_plan_create(whole, &halves, &plan));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_w(whole)));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(heddle_plan_child(plan, 1))));
	assert_ok(heddle_wait_all(rt));
	char *text = dump_of(rt);
	assert_non_null(strstr(text, "1024 bytes in 1 copies, of 4096; 0 are on their way out"));
	assert_non_null(strstr(text, "whole: void"));
	assert_non_null(strstr(text, "valid, in the copy of whole"));
	free(text);
	assert_ok(heddle_stop(rt));
}

static ssize_t ask_the_core(void *runtime, const char *text, size_t size)
{
	(void)text;
	assert_ok(heddle_selfcheck(runtime)); /* would not return if this thread were in the core */
	return (ssize_t)size;
}

/* A reader of the dump may be slow, or need the runtime itself. */
static void dump_is_written_outside_the_core(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	FILE *out = fopencookie(rt, "w", (cookie_io_functions_t){.write = ask_the_core});
	assert_non_null(out);
	setvbuf(out, NULL, _IONBF, 0);
	heddle_dump(rt, out);
	fclose(out);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(dump_takes_the_lock_unless_its_holder_calls),
	    cmocka_unit_test(dump_does_not_look_at_tasks_that_were_refused),
	    cmocka_unit_test(dump_says_what_fills_a_memory),
	    cmocka_unit_test(dump_does_not_look_at_the_data_of_a_task_whose_callback_runs),
	    cmocka_unit_test(dump_is_written_outside_the_core),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
