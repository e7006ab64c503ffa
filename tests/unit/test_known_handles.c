/* The table of handles when memory is short: calloc fails when the test says so. */
#include "misuse/misuse.h"
#include "../wrapped.h"
#include "program.h"
#include "internals.h"

static int is_short;

void *__wrap_calloc(size_t n, size_t size)
{
	return is_short ? NULL : __real_calloc(n, size);
}

/* Nothing is read there. */
static heddle_data *handle(size_t i)
{
	return (heddle_data *)(0x1000 + i * 64);
}

/* Half of the places of the table are used: the next new one makes a larger table. */
static void an_end_is_noted_without_memory(void **state)
{
	enum { ROOM = 512 };
	heddle_runtime *rt = (heddle_runtime *)(uintptr_t)0x1000;
	(void)state;
	for (size_t i = 0; i < ROOM; i++)
		assert_ok(hd_handle_note(handle(i), rt));
	is_short = 1;
	int of_new = hd_handle_note(handle(ROOM), rt), of_end = hd_handle_note(handle(7), NULL);
	is_short = 0;
	assert_int_equal(of_new, HEDDLE_E_MEMORY);
	assert_ok(of_end);
	assert_false(hd_is_handle(handle(7)));
	assert_true(hd_is_handle(handle(8)));
	assert_false(hd_is_handle(handle(ROOM)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(an_end_is_noted_without_memory)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
