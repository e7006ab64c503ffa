/* What include/heddle/data.h promises: handles without buffers, objects, acquiring, the ends of handles, pieces. */
#include "program.h"

/* --- Handles ------------------------------------------------------------------------------------------------------ */

static int fill(heddle_context *c)
{
	double *a = heddle_ptr(c, 0);
	for (size_t j = 0; j < heddle_extent(c, 0, 1); j++)
		for (size_t i = 0; i < heddle_extent(c, 0, 0); i++)
			a[j * heddle_ld(c, 0) + i] = (double)(10 * i + j);
	return 0;
}

/* The leading dimension of a matrix without a buffer is ignored; its value is seen through heddle_acquire. */
static void temporary_is_seen_through_acquire_alone(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_data *d;
	struct heddle_part part;
	assert_ok(heddle_matrix(rt, NULL, 3, 4, 1, sizeof(double), &d));
	assert_null(heddle_data_ptr(d));
	assert_null(heddle_data_ptr(NULL));
	assert_ok(heddle_submit(rt, heddle_call(heddle_codelet_new(rt, .name = "fill", .cpu = fill)), heddle_w(d)));
	assert_ok(heddle_acquire(d, HEDDLE_R));
	assert_ok(heddle_data_part(d, 0, &part));
	assert_true(heddle_data_ptr(d) == part.base && part.n[0] == 3 && part.n[1] == 4 && part.stride[1] >= 3);
	assert_true(((double *)part.base)[2 * part.stride[1] + 1] == 12);
	assert_int_equal(heddle_data_part(d, 1, &part), HEDDLE_E_INVALID);
	assert_int_equal(heddle_data_part(d, 0, NULL), HEDDLE_E_INVALID);
	assert_ok(heddle_release(d));
	assert_ok(heddle_stop(rt));
}

static void name_is_copied_and_stands_in_messages(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_data *d;
	char name[] = "residual";
	long x = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_int_equal(heddle_data_set_name(d, NULL), HEDDLE_E_INVALID);
	assert_int_equal(heddle_data_set_name(NULL, "x"), HEDDLE_E_INVALID);
	assert_ok(heddle_data_set_name(d, "first"));
	assert_ok(heddle_data_set_name(d, name));
	memset(name, '?', sizeof name - 1);
	assert_int_equal(heddle_release(d), HEDDLE_E_STATE);
	assert_says("residual");
	assert_int_equal(heddle_prefetch(d, 7), HEDDLE_E_INVALID);
	assert_says("no node 7");
	assert_ok(heddle_prefetch(d, 0));
	assert_int_equal(heddle_prefetch(NULL, 0), HEDDLE_E_INVALID);
	assert_ok(heddle_stop(rt));
}

/* --- Objects ------------------------------------------------------------------------------------------------------ */

static atomic_int n_unpacked, n_destroyed;
static void *_Atomic destroyed;

static int make_copy(void **object, const void *buffer, size_t size)
{
	if (!*object)
		*object = calloc(1, sizeof(long));
	if (!*object)
		return -1;
	memcpy(*object, buffer, size);
	n_unpacked++;
	return 0;
}

static size_t size_of_long(const void *object)
{
	(void)object;
	return sizeof(long);
}

static int pack_long(const void *object, void *buffer, size_t size)
{
	memcpy(buffer, object, size);
	return 0;
}

static void destroy_copy(void *object)
{
	destroyed = object;
	n_destroyed++;
	free(object);
}

/* Copies are made where they are needed and destroyed; the object itself stays the program's. */
static void object_stays_the_programs(void **state)
{
	(void)state;
	static const struct heddle_type type = {
	    .name = "number", .size = size_of_long, .pack = pack_long, .unpack = make_copy, .destroy = destroy_copy};
	struct heddle_type incomplete = type;
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.n_emulated = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "increment", .cpu = increment);
	heddle_data *d;
	long x = 5;
	incomplete.destroy = NULL;
	n_unpacked = n_destroyed = 0;
	assert_int_equal(heddle_object(rt, &x, &incomplete, &d), HEDDLE_E_INVALID);
	assert_int_equal(heddle_object(rt, NULL, &type, &d), HEDDLE_E_INVALID);
	assert_ok(heddle_object(rt, &x, &type, &d));
	assert_int_equal(heddle_submit(rt, heddle_call(c), heddle_w(d)), HEDDLE_E_INVALID);
	assert_int_equal(heddle_submit(rt, heddle_call(c), heddle_scratch(d)), HEDDLE_E_INVALID);
	assert_int_equal(heddle_submit(rt, heddle_call(c), heddle_redux(d)), HEDDLE_E_INVALID);
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_on(1)));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_commute(d), heddle_on(1)));
	assert_ok(heddle_unregister(d));
	assert_int_equal(x, 7);
	assert_true(n_unpacked >= 2 && n_destroyed >= 1 && destroyed != &x);
	assert_ok(heddle_stop(rt));
}

/* --- Acquire ------------------------------------------------------------------------------------------------------ */

static void acquire_takes_the_modes_that_it_says(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_data *d;
	long x = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_int_equal(heddle_acquire(d, HEDDLE_SCRATCH), HEDDLE_E_INVALID);
	assert_int_equal(heddle_acquire(d, HEDDLE_REDUX), HEDDLE_E_INVALID);
	assert_int_equal(heddle_acquire(d, HEDDLE_COMMUTE), HEDDLE_E_INVALID);
	assert_int_equal(heddle_acquire(d, (enum heddle_mode)0), HEDDLE_E_INVALID);
	assert_int_equal(heddle_acquire(NULL, HEDDLE_R), HEDDLE_E_INVALID);
	assert_int_equal(heddle_release(NULL), HEDDLE_E_INVALID);
	for (int mode = HEDDLE_R; mode <= HEDDLE_RW; mode++) {
		assert_ok(heddle_acquire(d, (enum heddle_mode)mode));
		assert_int_equal(heddle_unregister(d), HEDDLE_E_STATE);
		assert_says("release it first");
		assert_ok(heddle_release(d));
	}
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

/* What was never computed cannot be read, but written; then all is well again. Tasks submitted meanwhile wait. */
static void acquire_for_writing_makes_a_datum_good_again(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_codelet *failing = heddle_codelet_new(rt, .name = "failing", .cpu = fail_with);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "increment", .cpu = increment);
	heddle_data *d;
	heddle_task *waiting;
	long x = 0;
	int code = 1;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(failing), heddle_w(d), heddle_value(code)));
	assert_int_equal(heddle_acquire(d, HEDDLE_R), HEDDLE_E_CANCELLED);
	assert_int_equal(heddle_acquire(d, HEDDLE_RW), HEDDLE_E_CANCELLED);
	assert_says("failing");
	assert_int_equal(heddle_release(d), HEDDLE_E_STATE);
	assert_ok(heddle_acquire(d, HEDDLE_W));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_out(&waiting)));
	*(long *)heddle_data_ptr(d) = 41;
	give_others_time();
	assert_int_equal(heddle_task_done(waiting), 0);
	assert_ok(heddle_release(d));
	assert_ok(heddle_acquire(d, HEDDLE_R));
	assert_int_equal(*(long *)heddle_data_ptr(d), 42);
	assert_ok(heddle_release(d));
	heddle_task_release(waiting);
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_ok(heddle_stop(rt));
}

/* --- Ends --------------------------------------------------------------------------------------------------------- */

static heddle_data *many_writers(heddle_runtime *rt, heddle_codelet *c, long *x)
{
	heddle_data *d;
	assert_ok(heddle_variable(rt, x, sizeof *x, &d));
	for (int i = 0; i < 50; i++)
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_on((unsigned)i % 2)));
	return d;
}

static void buffer_is_the_programs_again_with_the_newest_value(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.n_emulated = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "increment", .cpu = increment);
	long a = 0, b = 0, left = 0;
	assert_ok(heddle_unregister(many_writers(rt, c, &a)));
	assert_int_equal(a, 50);
	assert_ok(heddle_unregister_async(many_writers(rt, c, &b)));
	many_writers(rt, c, &left);
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(b, 50);
	assert_ok(heddle_stop(rt));
	assert_int_equal(left, 50);
}

/* --- Pieces ------------------------------------------------------------------------------------------------------- */

static void pieces_are_found_by_number_while_there_are_any(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	struct heddle_filter three = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 3};
	heddle_codelet *c = heddle_codelet_new(rt, .name = "increment", .cpu = increment);
	long x[6] = {0};
	size_t n = 0;
	heddle_data *d;
	assert_ok(heddle_vector(rt, x, 6, sizeof x[0], &d));
	assert_null(heddle_child(d, 0));
	assert_null(heddle_child(NULL, 0));
	assert_int_equal(heddle_unpartition(d), HEDDLE_E_STATE);
	assert_int_equal(heddle_partition(d, NULL, &n), HEDDLE_E_INVALID);
	assert_int_equal(heddle_partition(NULL, &three, &n), HEDDLE_E_INVALID);
	assert_ok(heddle_partition(d, &three, &n));
	assert_int_equal(n, 3);
	assert_int_equal(heddle_partition(d, &three, &n), HEDDLE_E_STATE);
	assert_int_equal(heddle_unregister(d), HEDDLE_E_STATE);
	assert_int_equal(heddle_unregister(heddle_child(d, 1)), HEDDLE_E_STATE);
	assert_null(heddle_child(d, 3));
	assert_says("no child 3");
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(heddle_child(d, 2))));
	assert_ok(heddle_unpartition(d));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d)));
	assert_ok(heddle_partition(d, &three, NULL)); /* how many there are need not be told */
	assert_non_null(heddle_child(d, 2));
	assert_ok(heddle_unpartition(d));
	assert_ok(heddle_unregister(d));
	assert_int_equal(x[0], 1);
	assert_int_equal(x[4], 1);
	assert_ok(heddle_stop(rt));
}

/* Commuting tasks exclude each other; readers run together: each waits for the other. */
static int meet(heddle_context *c)
{
	atomic_int *n = pointer_value(c);
	++*n;
	wait_for(n, 2);
	return 0;
}

static int alone(heddle_context *c)
{
	atomic_int *n = pointer_value(c);
	int together = ++*n > 1;
	sched_yield();
	--*n;
	return together;
}

static void readers_run_together_and_commuting_tasks_do_not(void **state)
{
	(void)state;
	if (cores_up_to(2) < 2)
		skip();
	heddle_runtime *rt = start();
	atomic_int met = 0, inside = 0, *counter = &met;
	heddle_codelet *meeting = heddle_codelet_new(rt, .name = "meet", .cpu = meet);
	heddle_codelet *lonely = heddle_codelet_new(rt, .name = "alone", .cpu = alone);
	heddle_data *d;
	long x = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	for (unsigned w = 0; w < 2; w++)
		assert_ok(heddle_submit(rt, heddle_call(meeting), heddle_r(d), heddle_value(counter), heddle_on(w)));
	counter = &inside;
	for (unsigned i = 0; i < 500; i++)
		assert_ok(
		    heddle_submit(rt, heddle_call(lonely), heddle_commute(d), heddle_value(counter), heddle_on(i % 2)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(temporary_is_seen_through_acquire_alone),
	    cmocka_unit_test(name_is_copied_and_stands_in_messages),
	    cmocka_unit_test(object_stays_the_programs),
	    cmocka_unit_test(acquire_takes_the_modes_that_it_says),
	    cmocka_unit_test(acquire_for_writing_makes_a_datum_good_again),
	    cmocka_unit_test(buffer_is_the_programs_again_with_the_newest_value),
	    cmocka_unit_test(pieces_are_found_by_number_while_there_are_any),
	    cmocka_unit_test(readers_run_together_and_commuting_tasks_do_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
