/* horizon: what it does with tasks for whose records there was no memory. */
#include "fake_sched.h"

/* As if `submitted` had found no memory. */
static void ready_without_a_record(heddle_sched *s, heddle_task *t)
{
	t->ready = 1;
	s->policy->ready(s->state, &t, 1, -1);
}

static void tasks_without_a_record_go_to_any_worker_that_can_run_them(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "horizon", NULL, 2, 1);
	fake_start(&s);
	make_tasks(3);
	tasks[0].workers = 4;
	for (int i = 0; i < 3; i++)
		ready_without_a_record(&s, &tasks[i]);
	ASSERT_PICKS(&s, 0, 1);
	fake_done(&s, &tasks[1]);
	ASSERT_PICKS(&s, 2, 0, 2);
	fake_done(&s, &tasks[0]);
	fake_close(&s);
}

/* The core then waits until the worker is driven again, or cancels the task if its device is lost. */
static void a_task_without_a_record_is_given_back_when_only_a_lost_worker_can_run_it(void **unused)
{
	(void)unused;
	heddle_sched s;
	fake_open(&s, "horizon", NULL, 2, 1);
	fake_start(&s);
	make_tasks(1);
	tasks[0].workers = 4;
	ready_without_a_record(&s, &tasks[0]);
	s.out = 4;
	assert_null(s.policy->take_back(s.state, 0));
	assert_ptr_equal(s.policy->take_back(s.state, 2), &tasks[0]);
	assert_null(s.policy->take_back(s.state, 2));
	ASSERT_PICKS(&s, 0, -1);
	fake_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tasks_without_a_record_go_to_any_worker_that_can_run_them),
	    cmocka_unit_test(a_task_without_a_record_is_given_back_when_only_a_lost_worker_can_run_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
