/* Programs for OpenCL devices: errors of the compiler, and the cache on disk. */
#ifdef HEDDLE_HAVE_OPENCL
#include <dirent.h>
#include "base/base.h"
#include "opencl_calls.h"

static const struct heddle_opencl_source good = {.name = "good.cl",
                                                 .text =
                                                     "__kernel void put(__global long *x, ulong x0) { x[x0] = VALUE; }",
                                                 .options = "-DVALUE=5"};
static const struct heddle_opencl_source other = {
    .name = "good.cl",
    .text = "__kernel void put(__global long *x, ulong x0) { x[x0] = VALUE; }",
    .options = "-DVALUE=6"};
static const struct heddle_opencl_source bad = {
    .name = "bad.cl", .text = "__kernel void put(__global long *x, ulong x0)\n{ x[x0] = of_nobody; }"};

static int put(heddle_context *c)
{
	struct _cl_kernel *kernel;
	int status = heddle_opencl_kernel(c, pointer_value(c), heddle_value_ptr(c, 1), &kernel);
	const struct heddle_opencl_argument argument = heddle_opencl_datum(0);
	const struct heddle_opencl_range range = {.global = {1}};
	return status ? status : heddle_opencl_run(c, kernel, &range, 1, &argument);
}

/* One runtime has both. */
static void programs_of_the_same_name_are_not_mixed_up(void **state)
{
	(void)state;
	const struct heddle_opencl_source *sources[] = {&good, &other};
	heddle_runtime *rt = start_opencl(1, 0, 1);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "put", .opencl = put);
	heddle_data *d[2];
	long x[2] = {0, 0};
	for (int i = 0; i < 2; i++) {
		assert_ok(heddle_variable(rt, &x[i], sizeof x[i], &d[i]));
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_w(d[i]), heddle_value(sources[i]),
		                        heddle_bytes("put", 4)));
	}
	assert_ok(heddle_stop(rt));
	assert_true(x[0] == 5 && x[1] == 6);
	assert_nothing_alive();
}

/* Runs `n` tasks with a kernel of a program; returns the status, and the value that they have written. */
static int run(const struct heddle_opencl_source *source, const char *name, int n, long *out)
{
	heddle_runtime *rt = start_opencl(1, 0, 1);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "put", .opencl = put);
	heddle_data *d;
	long x = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	for (int i = 0; i < n; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_w(d), heddle_value(source),
		                        heddle_bytes(name, strlen(name) + 1)));
	int status = heddle_wait_all(rt);
	struct hd_sentence kept;
	hd_error_keep(&kept);
	heddle_unregister(d);
	heddle_stop(rt);
	hd_error_give_back(&kept);
	assert_nothing_alive();
	*out = x;
	return status;
}

static void errors_of_the_compiler_are_in_the_message(void **state)
{
	(void)state;
	long x;
	forget_calls();
	assert_int_equal(run(&bad, "put", 3, &x), HEDDLE_E_KERNEL);
	assert_says("bad.cl does not compile");
	assert_says("of_nobody");
	assert_int_equal(calls[CALL_clBuildProgram], 1); /* the other tasks are told what it has said */
}

static void kernel_that_the_program_lacks_is_named_with_those_it_has(void **state)
{
	(void)state;
	long x;
	assert_int_equal(run(&good, "get", 1, &x), HEDDLE_E_KERNEL);
	assert_says("good.cl has no kernel called get; its kernels are: put");
}

/* --- The cache ---------------------------------------------------------------------------------------------------- */

static char cache[] = "/tmp/heddle-test-cache-XXXXXX", folder[sizeof cache + 20];

/* The n-th file of the cache, or how many there are. */
static int find_file(int n, char path[300])
{
	int found = 0;
	DIR *d = opendir(folder);
	for (struct dirent *e; d && (e = readdir(d));)
		if (e->d_name[0] != '.' && found++ == n)
			snprintf(path, 300, "%.100s/%.150s", folder, e->d_name);
	if (d)
		closedir(d);
	return found;
}

static void empty_cache(void)
{
	char path[300];
	while (find_file(0, path))
		assert_int_equal(remove(path), 0);
}

static int make_cache(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(cache));
	setenv("XDG_CACHE_HOME", cache, 1);
	snprintf(folder, sizeof folder, "%s/heddle/opencl", cache);
	return 0;
}

static int remove_cache(void **state)
{
	(void)state;
	empty_cache();
	while (strlen(folder) >= strlen(cache) && rmdir(folder) == 0)
		*strrchr(folder, '/') = '\0';
	return 0;
}

/* How often one task makes OpenCL compile and load. */
static void check_builds(const struct heddle_opencl_source *source, long value, int compiled, int loaded)
{
	long x;
	forget_calls();
	assert_ok(run(source, "put", 2, &x));
	assert_int_equal(x, value);
	assert_int_equal(calls[CALL_clCreateProgramWithSource], compiled);
	assert_int_equal(calls[CALL_clCreateProgramWithBinary], loaded);
}

static void program_is_compiled_once_for_each_text_and_options(void **state)
{
	char path[300];
	(void)state;
	empty_cache();
	check_builds(&good, 5, 1, 0);
	check_builds(&good, 5, 0, 1);
	check_builds(&other, 6, 1, 0);
	check_builds(&other, 6, 0, 1);
	assert_int_equal(find_file(0, path), 2);
}

/* Writes over a file of the cache: `length` bytes of it, of which the one at `place` is another. */
static void damage(const char *path, size_t length, size_t place)
{
	char *data;
	size_t all;
	assert_ok(hd_file_read(path, &data, &all));
	if (place < all)
		data[place] ^= 1;
	assert_ok(hd_file_write(path, data, length < all ? length : all));
	free(data);
}

static void damaged_entry_is_made_again(void **state)
{
	static const size_t lengths[] = {0, 100, SIZE_MAX, SIZE_MAX, SIZE_MAX};
	static const size_t places[] = {SIZE_MAX, SIZE_MAX, 0, 60, 5000};
	char path[300];
	(void)state;
	empty_cache();
	check_builds(&good, 5, 1, 0);
	assert_int_equal(find_file(0, path), 1);
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		damage(path, lengths[i], places[i]);
		check_builds(&good, 5, 1, 0);
		check_builds(&good, 5, 0, 1);
	}
}

/* A driver that has changed without another version: it refuses what it has made. */
static void entry_that_the_driver_refuses_is_made_again(void **state)
{
	static const int refusing[] = {CALL_clCreateProgramWithBinary, CALL_clBuildProgram};
	(void)state;
	for (int i = 0; i < 2; i++) {
		long x;
		forget_calls();
		planned = refusing[i];
		planned_call = 1;
		planned_code = CL_INVALID_BINARY;
		assert_ok(run(&good, "put", 1, &x));
		assert_int_equal(x, 5);
		assert_int_equal(calls[CALL_clCreateProgramWithSource], 1);
	}
}

static void cache_that_cannot_be_written_is_done_without(void **state)
{
	(void)state;
	setenv("XDG_CACHE_HOME", "/proc/heddle", 1);
	check_builds(&good, 5, 1, 0);
	setenv("XDG_CACHE_HOME", cache, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(programs_of_the_same_name_are_not_mixed_up),
	    cmocka_unit_test(errors_of_the_compiler_are_in_the_message),
	    cmocka_unit_test(kernel_that_the_program_lacks_is_named_with_those_it_has),
	    cmocka_unit_test(program_is_compiled_once_for_each_text_and_options),
	    cmocka_unit_test(damaged_entry_is_made_again),
	    cmocka_unit_test(entry_that_the_driver_refuses_is_made_again),
	    cmocka_unit_test(cache_that_cannot_be_written_is_done_without),
	};
	need_device();
	watch_calls();
	return cmocka_run_group_tests(tests, make_cache, remove_cache);
}
#else
#include "opencl.h"
int main(void)
{
	need_device();
}
#endif
