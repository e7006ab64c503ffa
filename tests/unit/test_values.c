/* Values of tasks: they lie where a kernel may read them as what they are, whatever stands beside them. */
#include <stdio.h>
#include "hierarchy.h"

/* Values of the sizes and alignments that C has, and of some that only arrays have. */
struct wide {
	_Alignas(max_align_t) char text[48];
};
enum { LONGEST = 100, N_VALUES = 5 };
static const size_t sizes[] = {0, 1, 3, 4, 8, sizeof(long double), 24, sizeof(struct wide), LONGEST};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

/* Which sizes the values of a task have, in order: the digits of a number to the base N_SIZES. */
static size_t size_at(int number, size_t i)
{
	while (i--)
		number /= N_SIZES;
	return sizes[number % N_SIZES];
}

static char byte_at(int number, size_t i, size_t k)
{
	return (char)(number + 17 * (int)i + (int)k);
}

/* The alignment that an object of that size may have. */
static size_t alignment(size_t size)
{
	size_t most = _Alignof(max_align_t);
	while (size % most)
		most /= 2;
	return most;
}

static int look_at_values(heddle_context *c)
{
	int number = *(const int *)heddle_value_ptr(c, 0);
	for (size_t i = 1; i <= N_VALUES; i++) {
		size_t size = size_at(number, i - 1);
		const char *value = heddle_value_of_size(c, i, size);
		if ((uintptr_t)value % alignment(size))
			return heddle_fail(c, 1, "value %zu of %zu bytes lies at %p", i, size, (const void *)value);
		for (size_t k = 0; k < size; k++)
			if (value[k] != byte_at(number, i, k))
				return heddle_fail(c, 1, "byte %zu of value %zu, of %zu bytes, has changed", k, i,
				                   size);
	}
	return heddle_value_ptr(c, N_VALUES + 1) ? heddle_fail(c, 1, "there is one more value") : 0;
}

/* Submits a task with values of the sizes that the number says, and as many data as `n_data`. */
static int submit_values(heddle_runtime *rt, const heddle_codelet *look, const heddle_data *d, int number)
{
	char bytes[N_VALUES][LONGEST];
	struct heddle_item items[2 + 1 + N_VALUES];
	size_t n = 0;
	items[n++] = heddle_call(look);
	if (d)
		items[n++] = heddle_r(d);
	items[n++] = heddle_value(number);
	for (size_t i = 1; i <= N_VALUES; i++) {
		for (size_t k = 0; k < LONGEST; k++)
			bytes[i - 1][k] = byte_at(number, i, k);
		items[n++] = heddle_bytes(bytes[i - 1], size_at(number, i - 1));
	}
	return heddle_submit_items(rt, n, items);
}

/* The values of a hierarchical task say which program its sub-graph has. */
static int submit_inside(heddle_context *c)
{
	heddle_runtime *rt = heddle_context_runtime(c);
	heddle_codelet *look = pointer_value(c);
	int status = 0;
	for (int number = 0; number < N_SIZES * N_SIZES * N_SIZES && !status; number++)
		status = submit_values(rt, look, number % 2 ? heddle_context_data(c, 0) : NULL, number);
	return status;
}

static void look_at_all(int check, int hierarchical)
{
	struct heddle_config config = small_config();
	config.check = check;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *look = heddle_codelet_new(rt, .name = "look", .cpu = look_at_values);
	heddle_codelet *outer = heddle_codelet_new(rt, .name = "outer", .subgraph = submit_inside);
	heddle_data *d;
	int x = 0, n = 1;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	for (size_t i = 0; i < N_VALUES; i++)
		n *= N_SIZES;
	if (hierarchical)
		assert_ok(heddle_submit(rt, heddle_call(outer), heddle_rw(d), heddle_value(look)));
	for (int number = 0; !hierarchical && number < n; number += check ? 7 : 1)
		assert_ok(submit_values(rt, look, number % 2 ? d : NULL, number));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_stop(rt));
}

static void values_of_all_sizes_are_aligned(void **state)
{
	(void)state;
	look_at_all(0, 0);
}

static void values_of_all_sizes_are_aligned_in_checking_mode(void **state)
{
	(void)state;
	look_at_all(1, 0);
}

static void values_of_all_sizes_are_aligned_in_sub_graphs(void **state)
{
	(void)state;
	look_at_all(0, 1);
	look_at_all(1, 1);
}

/* --- What compilers align to 16 bytes, read as they read it ------------------------------------------------------ */

#ifdef __SIZEOF_INT128__
typedef double pair __attribute__((vector_size(16)));

static int add_wide_values(heddle_context *c)
{
	pair p = heddle_get(c, 1, pair) + (pair){1, 1}; /* which needs the alignment */
	__extension__ __int128 i = heddle_get(c, 3, __int128);
	long double l = heddle_get(c, 4, long double);
	*(double *)heddle_ptr(c, 0) += p[0] + p[1] + (double)i + (double)l + heddle_get(c, 0, char);
	return heddle_get(c, 2, int) - 7;
}

static void kernel_reads_values_of_16_bytes(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = add_wide_values);
	char one = 1;
	pair p = {9, 99};
	int seven = 7;
	__extension__ __int128 i = 1000;
	long double l = 10000;
	double sum = 0;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &sum, sizeof sum, &d));
	assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(d), heddle_value(one), heddle_value(p),
	                        heddle_value(seven), heddle_value(i), heddle_value(l)));
	assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(d), heddle_value(one), heddle_value(p),
	                        heddle_value(seven), heddle_value(i), heddle_value(l), heddle_value(one),
	                        heddle_value(one)));
	assert_ok(heddle_unregister(d));
	assert_true(sum == 2 * 11111);
	assert_ok(heddle_stop(rt));
}
#endif

/* --- What callbacks of a codelet see ------------------------------------------------------------------------------ */

static uint64_t footprint_of_values(const struct heddle_size *size)
{
	assert_true(size->n_values >= 2);
	assert_int_equal((uintptr_t)size->values[1] % _Alignof(max_align_t), 0);
	return (uint64_t) * (const long double *)size->values[1];
}

static void footprints_get_aligned_values(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *c = heddle_codelet_new(rt, .name = "wide", .cpu = nothing, .footprint = footprint_of_values);
	long double l = 3;
	int n = 1;
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_value(n), heddle_value(l)));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_value(n), heddle_value(l), heddle_value(n)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(values_of_all_sizes_are_aligned),
	    cmocka_unit_test(values_of_all_sizes_are_aligned_in_checking_mode),
	    cmocka_unit_test(values_of_all_sizes_are_aligned_in_sub_graphs),
#ifdef __SIZEOF_INT128__
	    cmocka_unit_test(kernel_reads_values_of_16_bytes),
#endif
	    cmocka_unit_test(footprints_get_aligned_values),
	};
	return cmocka_run_group_tests_name("values", tests, NULL, NULL);
}
