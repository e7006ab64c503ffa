/* Tasks that end by events: what a failure does, what is refused, what is said about tasks whose events are out. */
#define _GNU_SOURCE
#include <stdio.h>
#include "detached.h"

/* --- Failures ----------------------------------------------------------------------------------------------------- */

static void failure_cancels_those_that_need_its_data(void **state)
{
	(void)state;
	struct scene s;
	heddle_task *t = begin_waiting(&s), *after;
	assert_ok(heddle_submit(s.rt, heddle_call(s.increment), heddle_rw(s.d), heddle_out(&after)));
	assert_ok(heddle_event_fail(s.out.events[0], 7, "block %d cannot be read", 12));
	assert_int_equal(heddle_task_wait(t), HEDDLE_E_KERNEL);
	assert_says("block 12 cannot be read (its event was fulfilled with 7)");
	assert_int_equal(heddle_task_wait(after), HEDDLE_E_CANCELLED);
	assert_says("block 12 cannot be read");
	assert_int_equal(heddle_wait_all(s.rt), HEDDLE_E_KERNEL);
	assert_says("block 12 cannot be read");
	assert_ok(heddle_wait_all(s.rt));
	heddle_task_release(after);
	end(&s, t);
}

static void status_alone_is_a_failure(void **state)
{
	(void)state;
	struct scene s;
	heddle_task *t = begin_waiting(&s);
	assert_ok(heddle_fulfill(s.out.events[0], -5));
	assert_int_equal(heddle_task_wait(t), HEDDLE_E_KERNEL);
	assert_says("its event was fulfilled with -5");
	assert_int_equal(heddle_wait_all(s.rt), HEDDLE_E_KERNEL);
	end(&s, t);
}

static void first_failure_counts_and_the_other_events_are_awaited(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	heddle_task *t;
	s.out.per_task = 3;
	assert_ok(heddle_submit(s.rt, heddle_call(s.detach), heddle_value(s.at), heddle_out(&t)));
	wait_for(&s.out.n, 3);
	assert_ok(heddle_event_fail(s.out.events[2], 0, "the first"));
	assert_ok(heddle_event_fail(s.out.events[0], 2, "the second"));
	assert_false(heddle_task_done(t));
	assert_ok(heddle_fulfill(s.out.events[1], 0));
	assert_int_equal(heddle_wait_all(s.rt), HEDDLE_E_KERNEL);
	assert_says("the first (its event was fulfilled with -1)");
	end(&s, t);
}

static void failed_kernel_still_waits_for_its_events(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	heddle_task *t;
	s.out.returns = 3;
	assert_ok(heddle_submit(s.rt, heddle_call(s.detach), heddle_rw(s.d), heddle_value(s.at), heddle_out(&t)));
	wait_for(&s.out.n, 1);
	give_others_time();
	assert_false(heddle_task_done(t));
	*s.out.data[0] = 1; /* what was started may still use the data */
	assert_ok(heddle_event_fail(s.out.events[0], 9, "too late to matter"));
	assert_int_equal(heddle_task_wait(t), HEDDLE_E_KERNEL);
	assert_says("the kernel is unhappy");
	assert_int_equal(heddle_wait_all(s.rt), HEDDLE_E_KERNEL);
	assert_says("the kernel is unhappy");
	end(&s, t);
}

static void misuse_is_an_error(void **state)
{
	(void)state;
	struct scene s;
	heddle_task *t = begin_waiting(&s);
	assert_null(heddle_detach(NULL));
	assert_says("needs the context");
	assert_int_equal(heddle_fulfill(NULL, 0), HEDDLE_E_INVALID);
	assert_int_equal(heddle_event_fail(NULL, 1, "no event"), HEDDLE_E_INVALID);
	assert_ok(heddle_fulfill(s.out.events[0], 0));
	assert_int_equal(heddle_fulfill(s.out.events[0], 0), HEDDLE_E_STATE);
	assert_says("before");
	assert_int_equal(heddle_event_fail(s.out.events[0], 1, "twice"), HEDDLE_E_STATE);
	assert_ok(heddle_wait_all(s.rt));
	end(&s, t);
}

/* The event that was fulfilled longest ago is used again first. */
static void event_is_not_used_again_before_those_fulfilled_earlier(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	s.out.per_task = 2;
	assert_ok(heddle_submit(s.rt, heddle_call(s.detach), heddle_value(s.at)));
	wait_for(&s.out.n, 2);
	for (int i = 0; i < 2; i++)
		assert_ok(heddle_fulfill(s.out.events[i], 0));
	assert_ok(heddle_wait_all(s.rt));
	s.out.per_task = 1;
	assert_ok(heddle_submit(s.rt, heddle_call(s.detach), heddle_value(s.at)));
	wait_for(&s.out.n, 3);
	assert_ptr_equal(s.out.events[2], s.out.events[0]);
	assert_int_equal(heddle_fulfill(s.out.events[1], 0), HEDDLE_E_STATE);
	assert_ok(heddle_fulfill(s.out.events[2], 0));
	assert_ok(heddle_wait_all(s.rt));
	assert_ok(heddle_stop(s.rt));
}

static void private_copies_cannot_be_kept_after_the_kernel(void **state)
{
	(void)state;
	struct scene s;
	begin(&s);
	assert_ok(heddle_data_set_reduction(s.d, s.increment, s.increment));
	assert_ok(heddle_submit(s.rt, heddle_call(s.detach), heddle_scratch(s.d), heddle_value(s.at)));
	assert_int_equal(heddle_wait_all(s.rt), HEDDLE_E_KERNEL);
	assert_says("SCRATCH or REDUX");
	assert_ok(heddle_submit(s.rt, heddle_call(s.detach), heddle_redux(s.d), heddle_value(s.at)));
	assert_int_equal(heddle_wait_all(s.rt), HEDDLE_E_KERNEL);
	assert_says("SCRATCH or REDUX");
	assert_int_equal(s.out.n, 0);
	assert_ok(heddle_stop(s.rt));
}

/* --- What is said about it ---------------------------------------------------------------------------------------- */

static void keep_sentence(void *arg, const char *sentence)
{
	snprintf(arg, 1000, "%s", sentence);
}

static void dump_and_watchdog_name_a_task_that_waits_for_an_event(void **state)
{
	(void)state;
	char said[1000] = "", *text = NULL;
	size_t size;
	struct scene s;
	struct heddle_config config = small_config();
	config.on_hang = keep_sentence;
	config.on_hang_arg = said;
	begin_with(&s, &config);
	s.out.per_task = 2;
	assert_ok(heddle_submit(s.rt, heddle_call(s.detach), heddle_named("block 7"), heddle_value(s.at)));
	wait_for(&s.out.n, 2);
	for (int waiting = 0; !waiting;) {
		hd_core_enter(s.rt);
		waiting = s.rt->count.detached == 1;
		if (waiting)
			hd_report_hang(s.rt, 0);
		hd_core_leave(s.rt); /* not just unlocked: the worker may have asked to be served meanwhile */
	}
	if (!strstr(said, "block 7 (detach, task 0) waits for 2 events since ") ||
	    !strstr(said, "no progress for 60 s"))
		fail_msg("%s", said);
	assert_ok(heddle_fulfill(s.out.events[1], 0));
	FILE *out = open_memstream(&text, &size);
	assert_non_null(out);
	heddle_dump(s.rt, out);
	fclose(out);
	if (!strstr(text, "waits for 1 event since ") || !strstr(text, "wait for events: 1\n"))
		fail_msg("%s", text);
	free(text);
	assert_ok(heddle_fulfill(s.out.events[0], 0));
	assert_ok(heddle_stop(s.rt));
}

/* Nobody has to ask for it: after a minute, after ten, then no more. */
static void watchdog_is_on_by_default(void **state)
{
	(void)state;
	const struct heddle_config config = small_config();
	assert_true(hd_watchdog_us(config.watchdog, 0) == 60e6);
	assert_true(hd_watchdog_us(config.watchdog, 0) + hd_watchdog_us(config.watchdog, 1) == 600e6);
	assert_true(hd_watchdog_us(config.watchdog, 2) < 0);
	assert_true(hd_watchdog_us(5, 0) == 5e6 && hd_watchdog_us(5, 7) == 5e6); /* whenever that time has passed */
	assert_true(hd_watchdog_us(0, 0) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(failure_cancels_those_that_need_its_data),
	    cmocka_unit_test(status_alone_is_a_failure),
	    cmocka_unit_test(first_failure_counts_and_the_other_events_are_awaited),
	    cmocka_unit_test(failed_kernel_still_waits_for_its_events),
	    cmocka_unit_test(misuse_is_an_error),
	    cmocka_unit_test(event_is_not_used_again_before_those_fulfilled_earlier),
	    cmocka_unit_test(private_copies_cannot_be_kept_after_the_kernel),
	    cmocka_unit_test(dump_and_watchdog_name_a_task_that_waits_for_an_event),
	    cmocka_unit_test(watchdog_is_on_by_default),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
