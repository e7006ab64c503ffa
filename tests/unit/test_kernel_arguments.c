/* What a kernel finds of what its task was given: values of any size, and data that the task names more than once. */
#include "program.h"

/* --- Values ------------------------------------------------------------------------------------------------------- */

enum { TASKS = 300, LETTERS = 60 };

/* Value i of task n is one letter that both of them decide. */
static char letter(int n, size_t i)
{
	return (char)('a' + ((size_t)n * 7 + i) % 26);
}

/* The last value is the number of the task. */
static int check_letters(heddle_context *c)
{
	int n = heddle_get(c, LETTERS, int);
	for (size_t i = 0; i < LETTERS; i++)
		if (*(const char *)heddle_value_ptr(c, i) != letter(n, i))
			return 1;
	return 0;
}

/* Each value has a place of its own, which is aligned and so takes more than its one byte. The tasks lie side by side
 * in memory: one that took too little of it would write into the next. */
static void small_values_do_not_run_into_the_next_task(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *gate = heddle_codelet_new(rt, .name = "gate", .cpu = pass_gate);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "letters", .cpu = check_letters);
	atomic_int open = 0, *open_address = &open;
	long x = 0;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	/* All the others wait for it, so all of them are there at once. */
	assert_ok(heddle_submit(rt, heddle_call(gate), heddle_rw(d), heddle_value(open_address)));
	for (int n = 0; n < TASKS; n++) {
		char letters[LETTERS];
		struct heddle_item items[LETTERS + 3] = {heddle_call(codelet), heddle_r(d)};
		for (size_t i = 0; i < LETTERS; i++) {
			letters[i] = letter(n, i);
			items[2 + i] = heddle_bytes(&letters[i], 1);
		}
		items[LETTERS + 2] = heddle_value(n);
		assert_ok(heddle_submit_items(rt, LETTERS + 3, items));
	}
	open = 1;
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_stop(rt));
}

/* --- Data named more than once ------------------------------------------------------------------------------------ */

enum { MANY = 80 };

/* Adds 1 by way of access `value 0`; access 0 is the same datum. */
static int increment_named_again(heddle_context *c)
{
	size_t again = heddle_get(c, 0, size_t);
	if (heddle_ptr(c, again) != heddle_ptr(c, 0))
		return 1;
	++*(long *)heddle_ptr(c, again);
	return 0;
}

/* The first datum of the task is read there, and changed by way of another place, whichever that is. */
static void datum_named_first_may_be_named_again_at_any_place(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "again", .cpu = increment_named_again);
	long x[MANY] = {0};
	heddle_data *d[MANY];
	for (size_t i = 0; i < MANY; i++)
		assert_ok(heddle_variable(rt, &x[i], sizeof x[i], &d[i]));
	for (size_t again = 1; again < MANY; again++) {
		struct heddle_item items[MANY + 2] = {heddle_call(codelet), heddle_value(again)};
		for (size_t i = 0; i < MANY; i++)
			items[2 + i] = i == again ? heddle_rw(d[0]) : heddle_r(d[i]);
		assert_ok(heddle_submit_items(rt, MANY + 2, items));
		assert_ok(heddle_wait_all(rt));
	}
	assert_ok(heddle_stop(rt));
	assert_int_equal(x[0], MANY - 1);
}

/* Leaves a number in the scratch buffer by way of the first access and looks for it by way of the second. */
static int use_scratch_twice(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) = 7;
	return *(long *)heddle_ptr(c, 1) == 7 ? 0 : 1;
}

static void scratch_buffer_named_twice_is_one_buffer(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "scratch", .cpu = use_scratch_twice);
	long x = 1;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_scratch(d), heddle_scratch(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_stop(rt));
	assert_int_equal(x, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(small_values_do_not_run_into_the_next_task),
	    cmocka_unit_test(datum_named_first_may_be_named_again_at_any_place),
	    cmocka_unit_test(scratch_buffer_named_twice_is_one_buffer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
