/* Data seen from a program: every kind goes to an emulated accelerator and comes back; eviction; objects;
 * reductions. */
#include "program.h"

/* Every array of every datum is incremented, element by element (float, double or uint32_t by size). */
static void increment_part(const struct heddle_part *p)
{
	size_t n[HEDDLE_MAX_DIMS] = {1, 1, 1, 1}, stride[HEDDLE_MAX_DIMS] = {0, 0, 0, 0};
	for (unsigned d = 0; d < p->n_dims; d++) {
		n[d] = p->n[d];
		stride[d] = p->stride[d];
	}
	for (size_t l = 0; l < n[3]; l++)
		for (size_t k = 0; k < n[2]; k++)
			for (size_t j = 0; j < n[1]; j++)
				for (size_t i = 0; i < n[0]; i++) {
					char *x = (char *)p->base + p->elem_size * (i * stride[0] + j * stride[1] +
					                                            k * stride[2] + l * stride[3]);
					if (p->elem_size == sizeof(double))
						*(double *)(void *)x += 1;
					else
						*(uint32_t *)(void *)x += 1;
				}
}

static int increment_all(heddle_context *c)
{
	struct heddle_part part;
	for (size_t i = 0; i < heddle_context_n_data(c); i++)
		for (size_t k = 0; heddle_context_part(c, i, k, &part) == 0; k++)
			increment_part(&part);
	return 0;
}

static const struct heddle_implementation only_emulated = {"emulated", NULL, increment_all};

/* One CPU worker, two accelerators of `memory` bytes each. */
static heddle_runtime *start_emulated(uint64_t memory)
{
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.n_emulated = 2;
	config.emulated_memory = memory;
	return start_with(&config);
}

static heddle_codelet *emulated_increment(heddle_runtime *rt)
{
	heddle_codelet *codelet =
	    heddle_codelet_new(rt, .name = "increment_all", .implementations = &only_emulated, .n_implementations = 1);
	assert_non_null(codelet);
	return codelet;
}

/* Increments the datum on an accelerator and ends it. */
static void increment_there_and_back(heddle_runtime *rt, heddle_data *d)
{
	heddle_codelet *codelet = emulated_increment(rt);
	for (int i = 0; i < 3; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d)));
	assert_ok(heddle_unregister(d));
	struct heddle_stats stats;
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_true(stats.transfers >= 2);
	assert_ok(heddle_stop(rt));
}

/* Elements within the extents were incremented three times, those between the columns were left alone. */
static void check_strided(const double *a, const size_t n[3], size_t ldy, size_t ldz)
{
	for (size_t k = 0; k < n[2]; k++)
		for (size_t j = 0; j < ldz / ldy; j++)
			for (size_t i = 0; i < ldy; i++) {
				size_t at = i + j * ldy + k * ldz;
				double expected = (double)at + (i < n[0] && j < n[1] ? 3 : 0);
				if (a[at] != expected)
					fail_msg("element %zu, %zu, %zu is %g instead of %g", i, j, k, a[at], expected);
			}
}

static void fill(double *a, size_t n)
{
	for (size_t i = 0; i < n; i++)
		a[i] = (double)i;
}

static void variable_goes_there_and_back(void **state)
{
	(void)state;
	heddle_runtime *rt = start_emulated(0);
	double x = 4;
	heddle_data *d;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	increment_there_and_back(rt, d);
	assert_true(x == 7);
}

static void vector_goes_there_and_back(void **state)
{
	(void)state;
	heddle_runtime *rt = start_emulated(0);
	double x[100];
	heddle_data *d;
	fill(x, 100);
	assert_ok(heddle_vector(rt, x, 100, sizeof *x, &d));
	increment_there_and_back(rt, d);
	check_strided(x, (size_t[]){100, 1, 1}, 100, 100);
}

static void matrix_with_gaps_goes_there_and_back(void **state)
{
	(void)state;
	heddle_runtime *rt = start_emulated(0);
	double a[12 * 8];
	heddle_data *d;
	fill(a, 12 * 8);
	assert_ok(heddle_matrix(rt, a, 9, 8, 12, sizeof *a, &d));
	increment_there_and_back(rt, d);
	check_strided(a, (size_t[]){9, 8, 1}, 12, 12 * 8);
}

static void block_with_gaps_goes_there_and_back(void **state)
{
	(void)state;
	heddle_runtime *rt = start_emulated(0);
	double a[5 * 4 * 6];
	heddle_data *d;
	fill(a, 5 * 4 * 6);
	assert_ok(heddle_block(rt, a, 4, 3, 6, 5, 20, sizeof *a, &d));
	increment_there_and_back(rt, d);
	check_strided(a, (size_t[]){4, 3, 6}, 5, 20);
}

static void tensor_of_four_dimensions_goes_there_and_back(void **state)
{
	(void)state;
	heddle_runtime *rt = start_emulated(0);
	double a[2 * 3 * 4 * 7];
	heddle_data *d;
	fill(a, 2 * 3 * 4 * 7);
	const struct heddle_part part = {a, sizeof *a, 4, {2, 3, 4, 5}, {1, 2, 6, 24}};
	assert_ok(heddle_tensor(rt, &part, &d));
	increment_there_and_back(rt, d);
	for (size_t i = 0; i < 2 * 3 * 4 * 7; i++)
		assert_true(a[i] == (double)i + (i < 2 * 3 * 4 * 5 ? 3 : 0));
}

static void sparse_formats_go_there_and_back_with_all_parts(void **state)
{
	(void)state;
	double values[4] = {1, 2, 3, 4};
	uint32_t column[4] = {0, 1, 1, 2}, row_start[4] = {0, 1, 3, 4}, row[4] = {0, 1, 1, 2};
	heddle_data *d;
	heddle_runtime *rt = start_emulated(0);
	assert_ok(heddle_csr(rt, 3, 4, values, column, row_start, sizeof *values, &d));
	increment_there_and_back(rt, d);
	rt = start_emulated(0);
	assert_ok(heddle_coo(rt, 4, values, row, column, sizeof *values, &d));
	increment_there_and_back(rt, d);
	for (uint32_t i = 0; i < 4; i++)
		assert_true(values[i] == i + 7);
	assert_int_equal(column[3], 8);
	assert_int_equal(row_start[3], 7);
	assert_int_equal(row[2], 4);
}

static void registration_of_impossible_shapes_is_refused(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	double a[10];
	heddle_data *d = NULL;
	const struct heddle_part five = {a, sizeof *a, 5, {1, 1, 1, 1}, {1, 1, 1, 1}};
	assert_int_equal(heddle_matrix(rt, a, 4, 2, 3, sizeof *a, &d), HEDDLE_E_INVALID);
	assert_int_equal(heddle_vector(rt, a, 10, 0, &d), HEDDLE_E_INVALID);
	assert_int_equal(heddle_tensor(rt, &five, &d), HEDDLE_E_INVALID);
	assert_int_equal(heddle_tensor(rt, NULL, &d), HEDDLE_E_INVALID);
	assert_int_equal(heddle_vector(rt, a, SIZE_MAX / 2, sizeof *a, &d), HEDDLE_E_INVALID);
	assert_int_equal(heddle_vector(rt, NULL, SIZE_MAX / sizeof *a, sizeof *a, &d), HEDDLE_E_INVALID);
	assert_int_equal(heddle_matrix(rt, a, 1, 4, SIZE_MAX / 2, sizeof *a, &d), HEDDLE_E_INVALID);
	assert_int_equal(heddle_csr(rt, SIZE_MAX, 0, NULL, NULL, NULL, sizeof *a, &d), HEDDLE_E_INVALID);
	/* Each is just possible, but not both together; and some with a buffer, some without. */
	const struct heddle_part vast = {NULL, 1, 1, {(SIZE_MAX >> 8) - 64}, {1}}, small = {a, sizeof *a, 1, {1}, {1}};
	assert_int_equal(heddle_parts(rt, "two", (const struct heddle_part[]){vast, vast}, 2, &d), HEDDLE_E_INVALID);
	assert_int_equal(heddle_parts(rt, "two", (const struct heddle_part[]){vast, small}, 2, &d), HEDDLE_E_INVALID);
	assert_int_equal(heddle_vector(NULL, a, 10, sizeof *a, &d), HEDDLE_E_INVALID);
	assert_int_equal(heddle_vector(rt, a, 10, sizeof *a, NULL), HEDDLE_E_INVALID);
	assert_null(d);
	assert_ok(heddle_stop(rt));
}

/* --- Full memory -------------------------------------------------------------------------------------------------- */

enum { LARGE = 8192 }; /* doubles: 64 KiB */

static void full_memory_evicts_and_loses_nothing(void **state)
{
	(void)state;
	enum { N = 12 };
	heddle_runtime *rt = start_emulated(3 * LARGE * sizeof(double));
	heddle_codelet *codelet = emulated_increment(rt);
	heddle_data *d[N];
	double *x[N];
	for (int i = 0; i < N; i++) {
		x[i] = calloc(LARGE, sizeof(double));
		assert_non_null(x[i]);
		assert_ok(heddle_vector(rt, x[i], LARGE, sizeof(double), &d[i]));
	}
	for (int round = 0; round < 4; round++)
		for (int i = 0; i < N; i++)
			assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d[i]), heddle_rw(d[(i + 5) % N])));
	assert_ok(heddle_wait_all(rt));
	struct heddle_stats stats;
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_true(stats.evictions > 0);
	for (int i = 0; i < N; i++) {
		assert_ok(heddle_unregister(d[i]));
		for (int k = 0; k < LARGE; k++)
			assert_true(x[i][k] == 8);
		free(x[i]);
	}
	assert_ok(heddle_stop(rt));
}

static void task_larger_than_the_memory_is_an_error_that_says_so(void **state)
{
	(void)state;
	heddle_runtime *rt = start_emulated(LARGE * sizeof(double));
	heddle_codelet *codelet = emulated_increment(rt);
	heddle_data *d[2];
	double *x = calloc(2 * LARGE, sizeof(double));
	assert_non_null(x);
	for (int i = 0; i < 2; i++)
		assert_ok(heddle_vector(rt, x + i * LARGE, LARGE, sizeof(double), &d[i]));
	/* Found when submitted or when run: in both cases the program hears of it. */
	int status = heddle_submit(rt, heddle_call(codelet), heddle_rw(d[0]), heddle_rw(d[1]));
	if (!status)
		status = heddle_wait_all(rt);
	assert_int_equal(status, HEDDLE_E_NO_FIT);
	assert_says("increment_all");
	assert_says("131072");
	for (int i = 0; i < 2; i++)
		heddle_unregister(d[i]); /* void or not, according to when it was found */
	free(x);
	assert_ok(heddle_stop(rt));
}

static void prefetch_is_a_hint_that_moves_data(void **state)
{
	(void)state;
	heddle_runtime *rt = start_emulated(0);
	double x[100];
	heddle_data *d;
	fill(x, 100);
	assert_ok(heddle_vector(rt, x, 100, sizeof *x, &d));
	assert_ok(heddle_prefetch(d, 1));
	assert_ok(heddle_prefetch(d, 0)); /* it is there already */
	assert_int_equal(heddle_prefetch(d, 99), HEDDLE_E_INVALID);
	assert_ok(heddle_wait_all(rt));
	struct heddle_stats stats;
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_int_equal(stats.prefetches, 1);
	increment_there_and_back(rt, d);
	check_strided(x, (size_t[]){100, 1, 1}, 100, 100);
}

/* --- Temporaries, private copies ---------------------------------------------------------------------------------- */

static void temporary_is_allocated_where_it_is_written(void **state)
{
	(void)state;
	heddle_runtime *rt = start_emulated(0);
	const struct heddle_implementation there = {"emulated", NULL, write_ones};
	heddle_codelet *ones =
	    heddle_codelet_new(rt, .name = "ones", .implementations = &there, .n_implementations = 1);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "increment_all", .cpu = increment_all);
	heddle_data *d;
	struct heddle_part part;
	assert_ok(heddle_vector(rt, NULL, 50, sizeof(double), &d));
	assert_ok(heddle_submit(rt, heddle_call(ones), heddle_w(d)));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d)));
	assert_ok(heddle_acquire(d, HEDDLE_R));
	assert_ok(heddle_data_part(d, 0, &part));
	assert_int_equal(part.n[0], 50);
	for (size_t i = 0; i < 50; i++)
		assert_true(((double *)part.base)[i] == 2);
	assert_int_equal(heddle_data_part(d, 1, &part), HEDDLE_E_INVALID);
	assert_ok(heddle_release(d));
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

static int set_zero(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) = 0;
	return 0;
}

static int add_long(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) += *(const long *)heddle_ptr(c, 1);
	return 0;
}

static void reduction_adds_to_the_value_before(void **state)
{
	(void)state;
	heddle_runtime *rt = start_emulated(0);
	heddle_codelet *zero = heddle_codelet_new(rt, .name = "zero", .cpu = set_zero);
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = add_long);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "add_value", .cpu = add_value);
	long sum = 1000, seen = 0;
	heddle_data *d, *copy;
	assert_ok(heddle_variable(rt, &sum, sizeof sum, &d));
	assert_ok(heddle_variable(rt, &seen, sizeof seen, &copy));
	assert_int_equal(heddle_submit(rt, heddle_call(codelet), heddle_redux(d)), HEDDLE_E_INVALID);
	assert_ok(heddle_data_set_reduction(d, zero, add));
	for (long round = 0; round < 2; round++) {
		for (long i = 1; i <= 100; i++)
			assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_redux(d), heddle_value(i)));
		assert_ok(heddle_submit(rt, heddle_call(add), heddle_rw(copy), heddle_r(d)));
	}
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_unregister(copy));
	assert_int_equal(sum, 1000 + 2 * 5050);
	assert_int_equal(seen, 1000 + 5050 + 1000 + 2 * 5050);
	assert_ok(heddle_stop(rt));
}

static void reduction_of_a_temporary_begins_with_the_neutral_element(void **state)
{
	(void)state;
	heddle_runtime *rt = start_emulated(0);
	heddle_codelet *zero = heddle_codelet_new(rt, .name = "zero", .cpu = set_zero);
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = add_long);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "add_value", .cpu = add_value);
	heddle_data *d;
	assert_ok(heddle_variable(rt, NULL, sizeof(long), &d));
	assert_ok(heddle_data_set_reduction(d, zero, add));
	for (long i = 1; i <= 100; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_redux(d), heddle_value(i)));
	assert_ok(heddle_acquire(d, HEDDLE_R));
	assert_int_equal(*(long *)heddle_data_ptr(d), 5050);
	assert_ok(heddle_release(d));
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

/* Fills a private buffer and finds it as it left it, while others do the same. */
static int use_scratch(heddle_context *c)
{
	long *x = heddle_ptr(c, 0), mine = heddle_get(c, 0, long);
	size_t n = heddle_extent(c, 0, 0);
	for (size_t i = 0; i < n; i++)
		x[i] = mine;
	sched_yield();
	for (size_t i = 0; i < n; i++)
		if (x[i] != mine)
			return 1;
	return 0;
}

static void scratch_is_private_and_leaves_the_datum_alone(void **state)
{
	(void)state;
	heddle_runtime *rt = start_emulated(0);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "scratch", .cpu = use_scratch);
	long x[64] = {5};
	heddle_data *d;
	assert_ok(heddle_vector(rt, x, 64, sizeof *x, &d));
	for (long i = 1; i <= 200; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_scratch(d), heddle_value(i)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_unregister(d));
	assert_int_equal(x[0], 5);
	assert_int_equal(x[63], 0);
	assert_ok(heddle_stop(rt));
}

/* --- Objects of the program's own type ---------------------------------------------------------------------------- */

struct node {
	struct node *next;
	long value;
};

struct list {
	struct node *first;
};

static size_t list_size(const void *object)
{
	size_t n = 0;
	for (const struct node *i = ((const struct list *)object)->first; i; i = i->next)
		n++;
	return n * sizeof(long);
}

static int list_pack(const void *object, void *buffer, size_t size)
{
	long *out = buffer;
	for (const struct node *i = ((const struct list *)object)->first; i; i = i->next)
		*out++ = i->value;
	return (size_t)((char *)out - (char *)buffer) != size;
}

static int list_push(struct list *list, long value)
{
	struct node **end = &list->first;
	while (*end)
		end = &(*end)->next;
	*end = calloc(1, sizeof **end);
	if (!*end)
		return 1;
	(*end)->value = value;
	return 0;
}

static void list_clear(struct list *list)
{
	while (list->first) {
		struct node *next = list->first->next;
		free(list->first);
		list->first = next;
	}
}

static int list_unpack(void **object, const void *buffer, size_t size)
{
	struct list *list = *object ? *object : calloc(1, sizeof *list);
	if (!list)
		return 1;
	*object = list;
	list_clear(list);
	for (size_t i = 0; i < size / sizeof(long); i++)
		if (list_push(list, ((const long *)buffer)[i]))
			return 1;
	return 0;
}

static void list_destroy(void *object)
{
	list_clear(object);
	free(object);
}

static const struct heddle_type list_type = {
    .name = "list", .size = list_size, .pack = list_pack, .unpack = list_unpack, .destroy = list_destroy};

static int append(heddle_context *c)
{
	return list_push(heddle_ptr(c, 0), heddle_get(c, 0, long));
}

static void object_that_grows_goes_there_and_back(void **state)
{
	(void)state;
	heddle_runtime *rt = start_emulated(0);
	const struct heddle_implementation there = {"emulated", NULL, append};
	heddle_codelet *on_emulated =
	    heddle_codelet_new(rt, .name = "append_there", .implementations = &there, .n_implementations = 1);
	const struct heddle_implementation here = {"cpu", NULL, append};
	heddle_codelet *on_cpu =
	    heddle_codelet_new(rt, .name = "append_here", .implementations = &here, .n_implementations = 1);
	struct list list = {NULL};
	heddle_data *d;
	assert_ok(heddle_object(rt, &list, &list_type, &d));
	for (long i = 0; i < 10; i++)
		assert_ok(heddle_submit(rt, heddle_call(i % 3 ? on_emulated : on_cpu), heddle_rw(d), heddle_value(i)));
	assert_int_equal(heddle_submit(rt, heddle_call(on_cpu), heddle_w(d)), HEDDLE_E_INVALID);
	assert_int_equal(heddle_submit(rt, heddle_call(on_cpu), heddle_scratch(d)), HEDDLE_E_INVALID);
	assert_ok(heddle_unregister(d));
	long expected = 0;
	for (struct node *i = list.first; i; i = i->next)
		assert_int_equal(i->value, expected++);
	assert_int_equal(expected, 10);
	list_clear(&list);
	assert_ok(heddle_stop(rt));
}

static void pointer_of_the_program_goes_with_its_datum(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	heddle_runtime *rt = start_with(&config);
	double x = 1, y = 2;
	heddle_data *with, *without;
	assert_ok(heddle_variable(rt, &x, sizeof x, &with));
	assert_ok(heddle_variable(rt, &y, sizeof y, &without));
	assert_null(heddle_data_user(with));
	assert_ok(heddle_data_set_user(with, &y));
	assert_ok(heddle_data_set_name(with, "x"));
	assert_ok(heddle_data_set_name(without, "y"));
	assert_ptr_equal(heddle_data_user(with), &y);
	assert_null(heddle_data_user(without));
	assert_null(heddle_data_user(NULL));
	assert_int_equal(heddle_data_set_user(NULL, &x), HEDDLE_E_INVALID);
	assert_ok(heddle_data_set_user(with, NULL));
	assert_null(heddle_data_user(with));
	assert_ok(heddle_unregister(with));
	assert_ok(heddle_unregister(without));
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(variable_goes_there_and_back),
	    cmocka_unit_test(vector_goes_there_and_back),
	    cmocka_unit_test(matrix_with_gaps_goes_there_and_back),
	    cmocka_unit_test(block_with_gaps_goes_there_and_back),
	    cmocka_unit_test(tensor_of_four_dimensions_goes_there_and_back),
	    cmocka_unit_test(sparse_formats_go_there_and_back_with_all_parts),
	    cmocka_unit_test(registration_of_impossible_shapes_is_refused),
	    cmocka_unit_test(full_memory_evicts_and_loses_nothing),
	    cmocka_unit_test(task_larger_than_the_memory_is_an_error_that_says_so),
	    cmocka_unit_test(prefetch_is_a_hint_that_moves_data),
	    cmocka_unit_test(temporary_is_allocated_where_it_is_written),
	    cmocka_unit_test(reduction_adds_to_the_value_before),
	    cmocka_unit_test(reduction_of_a_temporary_begins_with_the_neutral_element),
	    cmocka_unit_test(scratch_is_private_and_leaves_the_datum_alone),
	    cmocka_unit_test(object_that_grows_goes_there_and_back),
	    cmocka_unit_test(pointer_of_the_program_goes_with_its_datum),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
