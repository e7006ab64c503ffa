/* Deliberate mistakes of programs. Each is a small program, and the sentence that names the mistake: by the checking
 * mode (the setting check), or by an error that the mode is not needed for. None of them may crash. */
#include "mistakes.h"

/* --- Copies ------------------------------------------------------------------------------------------------------- */

static int write_at(heddle_context *c)
{
	double *x = heddle_ptr(c, 0);
	x[heddle_get(c, 0, long)] = 1;
	return 0;
}

static int write_temporary_at(heddle_runtime *rt, long at)
{
	heddle_data *t = vector(rt, "t", NULL);
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "write", write_at)), heddle_w(t), heddle_value(at)));
	return heddle_wait_all(rt);
}

static int copy_beyond_its_end(heddle_runtime *rt)
{
	return write_temporary_at(rt, N);
}

static int copy_far_beyond_its_end(heddle_runtime *rt)
{
	return write_temporary_at(rt, N + 20);
}

static int copy_before_its_begin(heddle_runtime *rt)
{
	return write_temporary_at(rt, -2);
}

static int write_column(heddle_context *c)
{
	uint32_t *column;
	struct heddle_part part;
	int status = heddle_context_part(c, 0, 1, &part);
	column = part.base;
	column[part.n[0]] = 1;
	return status;
}

static int part_of_a_sparse_matrix_beyond_its_end(heddle_runtime *rt)
{
	heddle_data *t;
	assert_ok(heddle_csr(rt, 4, 5, NULL, NULL, NULL, sizeof(double), &t));
	assert_ok(heddle_data_set_name(t, "t"));
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "column", write_column)), heddle_w(t)));
	return heddle_wait_all(rt);
}

/* The task before, which has written it, is named. */
static int copy_that_another_task_has_written(heddle_runtime *rt)
{
	long at = N;
	heddle_data *t = vector(rt, "t", NULL);
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "init", nothing)), heddle_w(t)));
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "write", write_at)), heddle_rw(t), heddle_value(at)));
	return heddle_wait_all(rt);
}

static int copy_that_the_program_has_acquired(heddle_runtime *rt)
{
	heddle_data *t = vector(rt, "t", NULL);
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "init", nothing)), heddle_w(t)));
	assert_ok(heddle_acquire(t, HEDDLE_RW));
	((double *)heddle_data_ptr(t))[N] = 1;
	assert_ok(heddle_release(t));
	return heddle_wait_all(rt);
}

/* --- What is only read, and what is not accessed ------------------------------------------------------------------ */

static int read_only(heddle_runtime *rt)
{
	double x[N] = {0};
	long at = 3;
	heddle_data *d = vector(rt, "x", x);
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "write", write_at)), heddle_r(d), heddle_value(at)));
	int status = heddle_wait_all(rt);
	char *said = strdup(heddle_last_error());
	assert_int_equal(heddle_unregister(d), 0);
	heddle_error(status, "%s", said);
	free(said);
	return status;
}

/* Two children of a vector; a task of the first one writes at index `at` of it. */
static int write_first_half_at(heddle_runtime *rt, long at)
{
	static double x[N];
	heddle_data *d = vector(rt, "x", x);
	const struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
	assert_ok(heddle_partition(d, &halves, NULL));
	assert_ok(heddle_data_set_name(heddle_child(d, 0), "left"));
	assert_ok(heddle_data_set_name(heddle_child(d, 1), "right"));
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "write", write_at)), heddle_rw(heddle_child(d, 0)),
	                        heddle_value(at)));
	return heddle_wait_all(rt);
}

static int neighbouring_child(heddle_runtime *rt)
{
	return write_first_half_at(rt, N / 2);
}

/* Which a task has written as a part of the whole, and another one its own half. */
static int neighbour_that_was_written(heddle_runtime *rt, int as_a_whole)
{
	static double x[N];
	long at = N / 2;
	x[at] = 0; /* not what the mistake writes there */
	heddle_data *d = vector(rt, "x", x);
	const struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
	heddle_codelet *init = codelet(rt, "init", nothing), *good = codelet(rt, "good", nothing);
	assert_ok(heddle_submit(rt, heddle_call(init), heddle_w(d)));
	assert_ok(heddle_partition(d, &halves, NULL));
	assert_ok(heddle_data_set_name(heddle_child(d, 1), "right"));
	assert_ok(heddle_submit(rt, heddle_call(good), heddle_rw(heddle_child(d, as_a_whole ? 0 : 1))));
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "write", write_at)), heddle_rw(heddle_child(d, 0)),
	                        heddle_value(at)));
	return heddle_wait_all(rt);
}

static int neighbour_that_was_written_as_a_whole(heddle_runtime *rt)
{
	return neighbour_that_was_written(rt, 1);
}

static int neighbour_that_was_written_itself(heddle_runtime *rt)
{
	return neighbour_that_was_written(rt, 0);
}

static double elsewhere[1 << 16]; /* its second half lies far from its first */
static double *other = &elsewhere[1 << 15];

static int write_elsewhere(heddle_context *c)
{
	(void)c;
	other[0]++;
	return 0;
}

static int datum_that_no_task_has_used(heddle_runtime *rt)
{
	heddle_data *x = vector(rt, "x", elsewhere);
	vector(rt, "y", other);
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "stray", write_elsewhere)), heddle_rw(x)));
	return heddle_wait_all(rt);
}

static int datum_that_is_not_an_argument(heddle_runtime *rt)
{
	heddle_data *x = vector(rt, "x", elsewhere), *y = vector(rt, "y", other);
	heddle_codelet *good = codelet(rt, "nothing", nothing);
	assert_ok(heddle_submit(rt, heddle_call(good), heddle_rw(y)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "stray", write_elsewhere)), heddle_rw(x)));
	return heddle_wait_all(rt);
}

/* --- Memory that is registered twice ------------------------------------------------------------------------------ */

/* x, and what begins `from` elements behind its begin; tasks have read both, which harms nobody. */
static heddle_data *twins(heddle_runtime *rt, size_t from, heddle_data **x)
{
	*x = vector(rt, "x", elsewhere);
	heddle_data *y = vector(rt, "y", elsewhere + from);
	heddle_codelet *reads = codelet(rt, "reads", nothing);
	assert_ok(heddle_submit(rt, heddle_call(reads), heddle_r(*x)));
	assert_ok(heddle_submit(rt, heddle_call(reads), heddle_r(y)));
	assert_ok(heddle_wait_all(rt));
	return y;
}

static int write_them(heddle_runtime *rt, heddle_data *x, heddle_data *y)
{
	heddle_codelet *writes = codelet(rt, "writes", nothing);
	assert_ok(heddle_submit(rt, heddle_call(writes), heddle_rw(x)));
	int status = heddle_wait_all(rt);
	if (status)
		return status;
	assert_ok(heddle_submit(rt, heddle_call(writes), heddle_rw(y)));
	return heddle_wait_all(rt);
}

static int memory_registered_twice(heddle_runtime *rt)
{
	heddle_data *x, *y = twins(rt, N, &x), *again;
	assert_ok(write_them(rt, x, y)); /* side by side */
	assert_ok(heddle_unregister(y));
	y = vector(rt, "y", elsewhere + N - 1);
	assert_ok(heddle_unregister(x));
	x = vector(rt, "x", elsewhere); /* one that nobody uses */
	assert_ok(write_them(rt, y, y));
	again = vector(rt, "again", elsewhere + N - 1);
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "first", nothing)), heddle_r(again)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_MISUSE);
	assert_non_null(strstr(heddle_last_error(), "it uses again, but y and again are the same memory"));
	assert_ok(write_them(rt, y, again)); /* which is said once */
	return write_them(rt, x, y);
}

/* A matrix with gaps between its columns, a vector in a gap, which is no mistake, and one that reaches out of it. */
static int memory_of_other_strides_registered_twice(heddle_runtime *rt)
{
	heddle_data *matrix, *gap = vector(rt, "gap", elsewhere + 104), *y;
	assert_ok(heddle_matrix(rt, elsewhere, 100, 3, 120, sizeof *elsewhere, &matrix));
	assert_ok(heddle_data_set_name(matrix, "matrix"));
	assert_ok(write_them(rt, matrix, gap));
	assert_ok(write_them(rt, gap, matrix));
	assert_ok(heddle_unregister(gap));
	y = vector(rt, "y", elsewhere + 111);
	return write_them(rt, matrix, y);
}

static int piece_of_memory_registered_twice(heddle_runtime *rt)
{
	heddle_data *x, *y = twins(rt, N / 2, &x);
	const struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
	assert_ok(heddle_partition(x, &halves, NULL));
	return write_them(rt, heddle_child(x, 1), y);
}

static int memory_registered_twice_and_acquired(heddle_runtime *rt)
{
	heddle_data *x;
	twins(rt, N / 2, &x);
	assert_ok(heddle_acquire(x, HEDDLE_RW));
	assert_ok(heddle_release(x));
	return heddle_wait_all(rt);
}

static int buffer_without_acquire(heddle_runtime *rt)
{
	heddle_data *y = vector(rt, "y", other);
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "init", nothing)), heddle_w(y)));
	assert_ok(heddle_wait_all(rt));
	other[1]++;
	return heddle_wait_all(rt);
}

static int buffer_that_no_task_has_used(heddle_runtime *rt)
{
	vector(rt, "y", other);
	other[1]++;
	return heddle_wait_all(rt);
}

static int buffer_acquired_for_reading(heddle_runtime *rt)
{
	heddle_data *y = vector(rt, "y", other);
	assert_ok(heddle_acquire(y, HEDDLE_R));
	other[2]++;
	assert_ok(heddle_release(y));
	return heddle_wait_all(rt);
}

/* --- Values and arguments ----------------------------------------------------------------------------------------- */

static int with_value(heddle_runtime *rt, heddle_kernel kernel)
{
	const int n = 5;
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "count", kernel)), heddle_value(n)));
	return heddle_wait_all(rt);
}

static int change_value(heddle_context *c)
{
	++*(int *)(uintptr_t)heddle_value_ptr(c, 0);
	return 0;
}

static int value_that_is_changed(heddle_runtime *rt)
{
	return with_value(rt, change_value);
}

static int write_behind_value(heddle_context *c)
{
	((int *)(uintptr_t)heddle_value_ptr(c, 0))[3] = 1;
	return 0;
}

static int value_beyond_its_end(heddle_runtime *rt)
{
	return with_value(rt, write_behind_value);
}

static int read_long(heddle_context *c)
{
	return heddle_get(c, 0, long long) == 0;
}

static int value_of_another_size(heddle_runtime *rt)
{
	return with_value(rt, read_long);
}

static int read_second(heddle_context *c)
{
	return heddle_get(c, 1, int);
}

static int value_that_was_not_given(heddle_runtime *rt)
{
	return with_value(rt, read_second);
}

static int increment_second(heddle_context *c)
{
	++*(double *)heddle_ptr(c, 1);
	return 0;
}

static int datum_that_was_not_given(heddle_runtime *rt)
{
	heddle_data *t = vector(rt, "t", NULL);
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "second", increment_second)), heddle_w(t)));
	return heddle_wait_all(rt);
}

static int wait_inside(heddle_context *c)
{
	heddle_wait_all(heddle_context_runtime(c)); /* its error is ignored */
	return 0;
}

static int kernel_that_waits(heddle_runtime *rt)
{
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "waits", wait_inside))));
	return heddle_wait_all(rt);
}

static int mixed(heddle_runtime *rt, enum heddle_mode a, enum heddle_mode b)
{
	heddle_data *d = vector(rt, "x", NULL);
	heddle_codelet *mix = codelet(rt, "mix", nothing);
	assert_ok(heddle_data_set_reduction(d, mix, mix));
	return heddle_submit(rt, heddle_call(mix), heddle_access(a, d), heddle_access(b, d));
}

static int scratch_and_read(heddle_runtime *rt)
{
	return mixed(rt, HEDDLE_SCRATCH, HEDDLE_R);
}

static int written_and_reduced(heddle_runtime *rt)
{
	return mixed(rt, HEDDLE_RW, HEDDLE_REDUX);
}

static int commuted_and_read(heddle_runtime *rt)
{
	return mixed(rt, HEDDLE_COMMUTE, HEDDLE_R);
}

static int reduced_twice(heddle_runtime *rt)
{
	return mixed(rt, HEDDLE_REDUX, HEDDLE_REDUX);
}

/* Its status is what the kernel returns, so that the wait has its sentence. */
static int unregister_own(heddle_context *c)
{
	return heddle_unregister(heddle_context_data(c, 0));
}

static int unregister_whole(heddle_context *c)
{
	heddle_data *whole = heddle_get(c, 0, heddle_data *);
	int status = heddle_unpartition(whole);
	return status ? status : heddle_unregister(whole);
}

/* The datum can be used further. */
static int still_there(heddle_runtime *rt, heddle_data *d)
{
	int status = heddle_wait_all(rt);
	char *said = strdup(heddle_last_error());
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "more", nothing)), heddle_w(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_unregister(d));
	heddle_error(status, "%s", said);
	free(said);
	return status;
}

static int kernel_that_unregisters_its_datum(heddle_runtime *rt)
{
	double x[N] = {0};
	heddle_data *d = vector(rt, "x", x);
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "ends", unregister_own)), heddle_r(d)));
	return still_there(rt, d);
}

static int kernel_that_unregisters_what_its_datum_is_of(heddle_runtime *rt)
{
	double x[N] = {0};
	heddle_data *d = vector(rt, "x", x);
	const struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
	assert_ok(heddle_partition(d, &halves, NULL));
	assert_ok(heddle_data_set_name(heddle_child(d, 1), "right"));
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "ends", unregister_whole)), heddle_rw(heddle_child(d, 1)),
	                        heddle_value(d)));
	return still_there(rt, d);
}

/* --- The list ----------------------------------------------------------------------------------------------------- */

static const struct mistake mistakes[] = {
    {"a copy is written beyond its end", copy_beyond_its_end, 0, HEDDLE_E_MISUSE,
     "write (task 0): on cpu0 it wrote beyond the end of t, up to 8 bytes behind it"},
    {"a copy is written far beyond its end", copy_far_beyond_its_end, 0, HEDDLE_E_MISUSE,
     "write (task 0): on cpu0 it wrote beyond the end of t, up to 168 bytes behind it"},
    {"a copy is written before its begin", copy_before_its_begin, 0, HEDDLE_E_MISUSE,
     "write (task 0): on cpu0 it wrote before the begin of t, up to 16 bytes before it"},
    {"a copy on an accelerator is written beyond its end", copy_beyond_its_end, 1, HEDDLE_E_MISUSE,
     "write (task 0): on emulated0 it wrote beyond the end of t, up to 8 bytes behind it"},
    {"a copy that another task has written is written beyond its end", copy_that_another_task_has_written, 0,
     HEDDLE_E_MISUSE,
     "write (task 1): on cpu0 it wrote beyond the end of t, up to 8 bytes behind it; init (task 0) on cpu0 had written "
     "it last"},
    {"a copy that the program has acquired is written beyond its end", copy_that_the_program_has_acquired, 0,
     HEDDLE_E_MISUSE,
     "the program, which had acquired the datum: it wrote beyond the end of t, up to 8 bytes behind it; init (task 0) "
     "on cpu0 had written it last"},
    {"a part of a sparse matrix is written beyond its end", part_of_a_sparse_matrix_beyond_its_end, 0, HEDDLE_E_MISUSE,
     "column (task 0): on cpu0 it wrote beyond the end of part 1 of t, up to 4 bytes behind it"},
    {"a datum that is only read is written", read_only, 0, HEDDLE_E_MISUSE,
     "write (task 0): on cpu0 it changed x, which it only reads"},
    {"a datum that is only read is written on an accelerator", read_only, 1, HEDDLE_E_MISUSE,
     "write (task 0): on emulated0 it changed x, which it only reads"},
    {"the neighbour of a child is written", neighbouring_child, 0, HEDDLE_E_MISUSE,
     "on cpu0 it changed right, which it does not access"},
    {"the neighbour of a child is written, which was written with the whole", neighbour_that_was_written_as_a_whole, 0,
     HEDDLE_E_MISUSE, "on cpu0 it changed right, which it does not access; init (task 0) on cpu0 had written it last"},
    {"the neighbour of a child is written, which was written itself", neighbour_that_was_written_itself, 0,
     HEDDLE_E_MISUSE, "on cpu0 it changed right, which it does not access; good ("},
    {"a datum that is not an argument is written", datum_that_is_not_an_argument, 0, HEDDLE_E_MISUSE,
     "stray (task 1) on cpu0 changed y, which it may not write; nothing (task 0) on cpu0 had written it "
     "last"},
    {"a datum that no task has used is written", datum_that_no_task_has_used, 0, HEDDLE_E_MISUSE,
     "stray (task 0) on cpu0 changed y, which it may not write"},
    {"the program writes a buffer that no task has used", buffer_that_no_task_has_used, 0, HEDDLE_E_MISUSE,
     "the program changed y while no task ran, without heddle_acquire"},
    {"the program writes a buffer without acquire", buffer_without_acquire, 0, HEDDLE_E_MISUSE,
     "the program changed y while no task ran, without heddle_acquire; init (task 0) on cpu0 had written it last"},
    {"the program writes what it has acquired for reading", buffer_acquired_for_reading, 0, HEDDLE_E_MISUSE,
     "the program changed y, which it had acquired for reading only"},
    {"memory is registered twice", memory_registered_twice, 0, HEDDLE_E_MISUSE,
     "writes (task 11): on cpu0 it uses x, but y and x are the same memory: tasks that name one of them do not wait "
     "for those that name the "
     "other; register it once"},
    {"memory is registered twice and used on an accelerator", memory_registered_twice, 1, HEDDLE_E_MISUSE,
     "writes (task 11): on emulated0 it uses x, but y and x are the same memory"},
    {"memory is registered twice in other shapes", memory_of_other_strides_registered_twice, 0, HEDDLE_E_MISUSE,
     "writes (task 6): on cpu0 it uses y, but matrix and y are the same memory"},
    {"memory is registered twice and split", piece_of_memory_registered_twice, 0, HEDDLE_E_MISUSE,
     "writes (task 2): on cpu0 it uses x, but y and x are the same memory"},
    {"memory is registered twice and acquired", memory_registered_twice_and_acquired, 0, HEDDLE_E_MISUSE,
     "the program, which had acquired the datum: it uses x, but y and x are the same memory"},
    {"a value is changed", value_that_is_changed, 0, HEDDLE_E_MISUSE,
     "count (task 0): on cpu0 it changed value 0 (4 bytes), which kernels may only read"},
    {"a value is written beyond its end", value_beyond_its_end, 0, HEDDLE_E_MISUSE,
     "count (task 0): on cpu0 it wrote beyond the end of value 0 (4 bytes), up to 12 bytes behind it"},
    {"a value is read with another size", value_of_another_size, 0, HEDDLE_E_MISUSE,
     "count (task 0): on cpu0 its kernel reads value 0 with 8 bytes; it was submitted with 4"},
    {"a value that was not given is read", value_that_was_not_given, 0, HEDDLE_E_MISUSE,
     "count (task 0): on cpu0 its kernel asks for value 1; it has 1"},
    {"a datum that was not given is used", datum_that_was_not_given, 0, HEDDLE_E_MISUSE,
     "second (task 0): on cpu0 its kernel asks for datum 1; it has 1"},
    {"a kernel waits", kernel_that_waits, 0, HEDDLE_E_MISUSE,
     "waits (task 0): on cpu0 its kernel waits: heddle_wait_all blocks and cannot be called from a kernel"},
    {"a datum is read, and is scratch space of the same task", scratch_and_read, 0, HEDDLE_E_INVALID,
     "mix: x is accessed as SCRATCH and as R by one task: name it once, or use another datum for one of them"},
    {"a datum is written and reduced by one task", written_and_reduced, 0, HEDDLE_E_INVALID,
     "mix: x is accessed as RW and as REDUX by one task"},
    {"a datum is read and commuted on by one task", commuted_and_read, 0, HEDDLE_E_INVALID,
     "mix: x is accessed as COMMUTE and as R by one task"},
    {"a datum is reduced twice by one task", reduced_twice, 0, HEDDLE_E_INVALID,
     "mix: x is accessed as REDUX and as REDUX by one task"},
    {"a kernel unregisters its datum", kernel_that_unregisters_its_datum, 0, HEDDLE_E_KERNEL,
     "heddle_unregister: x cannot end before ends (task 0), which uses it and waits here: call heddle_unregister_async "
     "(its kernel returned"},
    {"a kernel unregisters what its datum is a piece of", kernel_that_unregisters_what_its_datum_is_of, 0,
     HEDDLE_E_KERNEL, "x cannot end before ends (task 0), which uses right, a piece of it, and waits here"},
};
enum { N_MISTAKES = sizeof mistakes / sizeof *mistakes };

int main(void)
{
	return run_mistakes("mistakes", mistakes, N_MISTAKES);
}
