/* src/perf: the order of the lines in a file of models. */
#include "perf/internal.h"
#include "perf_fixture.h"

/* By class, and of one class from the smallest size to the largest, in whatever order they were measured: so the same
 * measurements give the same file. */
static void lines_are_sorted_by_class_and_size(void **state)
{
	struct hd_perf *perf = open_perf(*state);
	for (int i = 0; i < 10; i++)
		record(entry_of(perf, &gemm, 1 + i * 7 % 10), i % 3 == 0, 1, 5);
	assert_int_equal(hd_perf_save(perf), 0);
	hd_perf_close(perf);
	char *path = hd_format("%s/gemm.yaml", (const char *)*state);
	struct hd_perf_file *f;
	assert_int_equal(hd_perf_file_load(path, &f), 0);
	assert_int_equal(f->n_lines, 10);
	for (size_t i = 1; i < f->n_lines; i++) {
		int order = strcmp(f->lines[i - 1].class_name, f->lines[i].class_name);
		assert_true(order < 0 || (order == 0 && f->lines[i - 1].bytes < f->lines[i].bytes));
	}
	hd_perf_file_free(f);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    IN_DIR(lines_are_sorted_by_class_and_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
