/* What the command says of long work, and when. */
#include "shared/tool.h"
#include <math.h>
#include <stdlib.h>
#include "ok.h"

static void assert_text(double done, double total, double seconds, const char *expected)
{
	char *text = tool_progress_text(done, total, "runs", seconds);
	assert_string_equal(text, expected);
	free(text);
}

static void done_of_total_rate_and_remaining_time(void **state)
{
	(void)state;
	assert_text(0, 300, 0, "0 of 300 runs");
	assert_text(12, 300, 4, "12 of 300 runs, 3/s, 96 s left");
	assert_text(1, 100, 10, "1 of 100 runs, 0.1/s, 16 min left");
	assert_text(1, 1000, 100, "1 of 1000 runs, 0.01/s, 27.8 h left");
	assert_text(300, 300, 4, "300 of 300 runs, 75/s, 0 s left");
	assert_text(1500, NAN, 1, "1500 runs, 1500/s");
}

static void a_line_a_minute_unless_on_a_terminal(void **state)
{
	(void)state;
	double last = 0, shown = 0;
	int lines = 0;
	for (int second = 1000; second < 1300; second++)
		lines += tool_progress_is_due(0, second, &last);
	assert_int_equal(lines, 4); /* after one, two, three and four minutes */
	for (int second = 1000; second < 1300; second++)
		assert_true(tool_progress_is_due(1, second, &shown));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(done_of_total_rate_and_remaining_time),
	    cmocka_unit_test(a_line_a_minute_unless_on_a_terminal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
