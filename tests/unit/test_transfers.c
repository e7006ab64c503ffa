/* The order in which transfers move, and in which those who wait for them go on, in virtual time, where it is exact. */
#include "core/runtime.h"
#include "probe.h"
#include "virtual_machine.h"

/* --- Who waits for a transfer ------------------------------------------------------------------------------------- */

/* Three tasks of one worker wait for the same copy. */
static void those_who_wait_for_a_copy_go_on_in_the_order_in_which_they_came(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .pipeline = 3};
	heddle_data *d;
	machine_start(&m);
	machine_data(&m, 1, &d);
	for (int i = 0; i < 3; i++)
		WORK(&m, 10, heddle_r(d));
	struct heddle_trace *trace = machine_trace(&m);
	assert_int_equal(trace->n_transfers, 1);
	for (unsigned i = 0; i < 3; i++)
		assert_true(task_of(trace, i)->start == HOP + 10 * i);
	heddle_trace_free(trace);
	OK(heddle_stop(m.rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(those_who_wait_for_a_copy_go_on_in_the_order_in_which_they_came),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
