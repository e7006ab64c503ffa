/* Which tasks share a model entry: those of one codelet whose data have the same extents, in order. */
#include "internals.h"
#include "virtual_machine.h"

static int n_asked;

/* Told from another by nothing but its number: the time that the entry keeps says which task made it. */
static double next_time(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	(void)class_id;
	return ++n_asked;
}

struct shapes {
	struct machine m;
	heddle_codelet *codelet;
};

static void open_shapes(struct shapes *s)
{
	s->m = (struct machine){.cpus = 1};
	n_asked = 0;
	machine_start(&s->m);
	s->codelet = heddle_codelet_new(s->m.rt, .name = "shaped", .cpu = machine_kernel, .model = HEDDLE_MODEL_GIVEN,
	                                .time = next_time);
	assert_non_null(s->codelet);
}

/* Runs a task on each datum and returns for how many of them the time was asked, each time of a new entry. */
static int n_entries(struct shapes *s, heddle_data *const *data, size_t n)
{
	int before = n_asked;
	for (size_t i = 0; i < n; i++)
		OK(heddle_submit(s->m.rt, heddle_call(s->codelet), heddle_rw(data[i])));
	OK(heddle_wait_all(s->m.rt));
	return n_asked - before;
}

/* For every number of dimensions: arrays that differ in the extent of one of them alone, the last one included. */
static void every_extent_tells_shapes_apart(void **state)
{
	(void)state;
	struct shapes s;
	open_shapes(&s);
	for (unsigned n_dims = 1; n_dims <= HEDDLE_MAX_DIMS; n_dims++) {
		heddle_data *data[HEDDLE_MAX_DIMS + 1];
		for (unsigned changed = 0; changed <= n_dims; changed++) {
			struct heddle_part part = {.elem_size = 8, .n_dims = n_dims};
			size_t stride = 1;
			for (unsigned d = 0; d < n_dims; d++) {
				part.n[d] = d == changed ? 7 : 4;
				part.stride[d] = stride;
				stride *= part.n[d];
			}
			OK(heddle_tensor(s.m.rt, &part, &data[changed]));
		}
		assert_int_equal(n_entries(&s, data, n_dims + 1), n_dims + 1);
	}
	OK(heddle_stop(s.m.rt));
}

static void matrices_of_the_same_shape_share_an_entry(void **state)
{
	(void)state;
	struct shapes s;
	heddle_data *data[6];
	double buffer[10 * 6];
	open_shapes(&s);
	OK(heddle_matrix(s.m.rt, NULL, 4, 6, 4, 8, &data[0]));
	OK(heddle_matrix(s.m.rt, NULL, 4, 6, 4, 8, &data[1]));
	OK(heddle_matrix(s.m.rt, buffer, 4, 6, 10, 8, &data[2])); /* how its columns lie is no matter */
	OK(heddle_matrix(s.m.rt, NULL, 6, 4, 6, 8, &data[3]));    /* as many bytes, but another shape */
	OK(heddle_matrix(s.m.rt, NULL, 4, 6, 4, 4, &data[4]));    /* smaller elements */
	OK(heddle_vector(s.m.rt, NULL, 24, 8, &data[5]));
	assert_int_equal(n_entries(&s, data, 3), 1);
	assert_int_equal(n_entries(&s, data, 6), 3);
	OK(heddle_stop(s.m.rt));
}

/* The same two data in the other order are other work. */
static void order_of_the_data_counts(void **state)
{
	(void)state;
	struct shapes s;
	heddle_data *a, *b;
	open_shapes(&s);
	OK(heddle_vector(s.m.rt, NULL, 10, 8, &a));
	OK(heddle_vector(s.m.rt, NULL, 20, 8, &b));
	OK(heddle_submit(s.m.rt, heddle_call(s.codelet), heddle_r(a), heddle_r(b)));
	OK(heddle_submit(s.m.rt, heddle_call(s.codelet), heddle_r(b), heddle_r(a)));
	OK(heddle_submit(s.m.rt, heddle_call(s.codelet), heddle_r(a), heddle_r(b)));
	OK(heddle_wait_all(s.m.rt));
	assert_int_equal(n_asked, 2);
	OK(heddle_stop(s.m.rt));
}

/* --- The function `footprint` ------------------------------------------------------------------------------------- */

static uint64_t given_footprint;

static uint64_t give_footprint(const struct heddle_size *size)
{
	(void)size;
	return given_footprint;
}

static uint64_t footprint_of_a_task(uint64_t (*function)(const struct heddle_size *size))
{
	struct machine m = {.cpus = 1};
	heddle_task *t;
	machine_start(&m);
	heddle_codelet *codelet =
	    heddle_codelet_new(m.rt, .name = "shaped", .cpu = machine_kernel, .model = HEDDLE_MODEL_GIVEN,
	                       .time = next_time, .footprint = function);
	OK(heddle_submit(m.rt, heddle_call(codelet), heddle_out(&t)));
	OK(heddle_wait_all(m.rt));
	uint64_t footprint = t->footprint;
	heddle_task_release(t);
	OK(heddle_stop(m.rt));
	return footprint;
}

/* A codelet may be given the function later: what was measured before holds for tasks of which it says 0. */
static void footprint_of_0_adds_nothing_to_the_hash(void **state)
{
	(void)state;
	uint64_t without = footprint_of_a_task(NULL);
	given_footprint = 0;
	assert_true(footprint_of_a_task(give_footprint) == without);
	given_footprint = 1;
	uint64_t one = footprint_of_a_task(give_footprint);
	given_footprint = 2;
	assert_true(one != without && footprint_of_a_task(give_footprint) != one);
}

/* --- What functions of size are told ------------------------------------------------------------------------------ */

static struct heddle_size seen;
static struct heddle_part seen_parts[2];
static int seen_value;

static double note_size(const struct heddle_size *size, unsigned class_id)
{
	(void)class_id;
	seen = *size;
	for (size_t i = 0; i < size->n_data && i < 2; i++)
		seen_parts[i] = *size->parts[i];
	seen_value = *(const int *)size->values[0];
	return 1;
}

/* A datum that a task names twice is there twice, and counts once in the bytes. */
static void functions_of_size_see_extents_and_values(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1};
	heddle_data *matrix;
	double buffer[10 * 6];
	const int value = 42;
	machine_start(&m);
	heddle_codelet *codelet = heddle_codelet_new(m.rt, .name = "seen", .cpu = machine_kernel,
	                                             .model = HEDDLE_MODEL_GIVEN, .time = note_size);
	OK(heddle_matrix(m.rt, buffer, 4, 6, 10, 8, &matrix));
	OK(heddle_submit(m.rt, heddle_call(codelet), heddle_r(matrix), heddle_value(value), heddle_r(matrix)));
	OK(heddle_wait_all(m.rt));
	assert_int_equal(seen.n_data, 2);
	assert_int_equal(seen.n_values, 1);
	assert_int_equal(seen_value, 42);
	assert_true(seen.bytes == 4 * 6 * 8);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(seen_parts[i].n_dims, 2);
		assert_int_equal(seen_parts[i].n[0], 4);
		assert_int_equal(seen_parts[i].n[1], 6);
		assert_int_equal(seen_parts[i].elem_size, 8);
		assert_null(seen_parts[i].base);
	}
	OK(heddle_stop(m.rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_extent_tells_shapes_apart),
	    cmocka_unit_test(matrices_of_the_same_shape_share_an_entry),
	    cmocka_unit_test(order_of_the_data_counts),
	    cmocka_unit_test(footprint_of_0_adds_nothing_to_the_hash),
	    cmocka_unit_test(functions_of_size_see_extents_and_values),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
