/* One handle, several threads: who holds it, and calls that change how it may be used while others use it. */
#include <pthread.h>
#include "internals.h"
#include "program.h"

enum { ROUNDS = 100, LENGTH = 64 };

/* What the threads of one case share. */
struct shared {
	heddle_runtime *rt;
	heddle_codelet *add;
	heddle_data *data, *other;
	atomic_int step, stop, errors, added, refused;
	char message[256];
};

static void note_error(struct shared *s)
{
	if (!s->errors++)
		snprintf(s->message, sizeof s->message, "%s", heddle_last_error());
}

enum { CHILDREN = 4 };
static atomic_int on_children; /* kernels that have run on children */
static atomic_int intrusions;  /* kernels on the whole that have run before all children were done */

static int add_one(heddle_context *c)
{
	long *x = heddle_ptr(c, 0);
	size_t n = heddle_extent(c, 0, 0);
	for (size_t i = 0; i < n; i++)
		x[i]++;
	if (n < LENGTH)
		on_children++;
	else if (on_children % CHILDREN)
		intrusions++;
	return 0;
}

static void begin(struct shared *s, int in_virtual_time, long *x)
{
	struct heddle_config config = small_config();
	if (in_virtual_time) {
		config.platform = "haswell-k40m";
		config.n_cpu = -1;
	}
	*s = (struct shared){.rt = start_with(&config)};
	s->add =
	    heddle_codelet_new(s->rt, .name = "add_one", .cpu = add_one, .model = HEDDLE_MODEL_GIVEN, .time = ten_us);
	assert_ok(heddle_vector(s->rt, x, LENGTH, sizeof *x, &s->data));
}

static void end(struct shared *s)
{
	if (s->errors)
		fail_msg("%d errors, the first: %s", s->errors, s->message);
	assert_ok(heddle_unregister(s->data));
	assert_ok(heddle_stop(s->rt));
}

/* Until some thread waits in the runtime. */
static void until_somebody_waits(heddle_runtime *rt)
{
	for (int waits = 0; !waits; sched_yield()) {
		hd_lock(&rt->lock);
		waits = rt->waits.waiters != NULL;
		hd_unlock(&rt->lock);
	}
}

static pthread_t run(void *(*body)(void *), void *arg)
{
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, body, arg), 0);
	return thread;
}

/* --- Who holds what ----------------------------------------------------------------------------------------------- */

static void *read_until_the_other_waits(void *arg)
{
	struct shared *s = arg;
	if (heddle_acquire(s->data, HEDDLE_R))
		note_error(s);
	s->step = 1;
	wait_for(&s->step, 2);
	until_somebody_waits(s->rt);
	if (heddle_release(s->data))
		note_error(s);
	return NULL;
}

/* Two threads read; one lets go, submits a writer and waits for it: the other thread is about to let go, too. */
static void release_gives_back_the_hold_of_the_calling_thread(int in_virtual_time)
{
	for (int first = 0; first < 2; first++) { /* who acquired first does not matter */
		long x[LENGTH] = {0};
		struct shared s;
		begin(&s, in_virtual_time, x);
		if (first)
			assert_ok(heddle_acquire(s.data, HEDDLE_R));
		pthread_t other = run(read_until_the_other_waits, &s);
		wait_for(&s.step, 1);
		if (!first)
			assert_ok(heddle_acquire(s.data, HEDDLE_R));
		assert_ok(heddle_release(s.data));
		assert_ok(heddle_submit(s.rt, heddle_call(s.add), heddle_rw(s.data)));
		s.step = 2;
		assert_ok(heddle_wait_all(s.rt));
		pthread_join(other, NULL);
		end(&s);
	}
}

static void *acquire_only(void *arg)
{
	struct shared *s = arg;
	if (heddle_acquire(s->data, HEDDLE_RW))
		note_error(s);
	return NULL;
}

static void hold_of_another_thread_can_be_given_back(int in_virtual_time)
{
	long x[LENGTH] = {0};
	struct shared s;
	begin(&s, in_virtual_time, x);
	pthread_join(run(acquire_only, &s), NULL);
	assert_ok(heddle_release(s.data));
	assert_int_equal(heddle_release(s.data), HEDDLE_E_STATE);
	assert_says("is not acquired");
	assert_ok(heddle_submit(s.rt, heddle_call(s.add), heddle_rw(s.data)));
	assert_ok(heddle_wait_all(s.rt));
	end(&s);
}

static void *acquire_and_release(void *arg)
{
	struct shared *s = arg;
	while (!s->stop) {
		if (heddle_acquire(s->data, HEDDLE_R) || heddle_release(s->data))
			note_error(s);
	}
	return NULL;
}

static void waiting_while_another_thread_acquires_is_no_deadlock(int in_virtual_time)
{
	long x[LENGTH] = {0};
	struct shared s;
	begin(&s, in_virtual_time, x);
	pthread_t other = run(acquire_and_release, &s);
	for (int i = 0; i < 10 * ROUNDS; i++) {
		if (heddle_submit(s.rt, heddle_call(s.add), heddle_rw(s.data)) || heddle_wait_all(s.rt))
			note_error(&s);
	}
	s.stop = 1;
	pthread_join(other, NULL);
	end(&s);
	if (!in_virtual_time)
		assert_int_equal(x[0], 10 * ROUNDS);
}

/* --- Partitions --------------------------------------------------------------------------------------------------- */

/* One more for every element, as a whole; refused while the datum is partitioned. Waits each time, so that the
 * submission itself is what meets the partition, and not a queue of tasks. */
static void *add_to_whole(void *arg)
{
	struct shared *s = arg;
	while (!s->stop) {
		heddle_task *task;
		int status = heddle_submit(s->rt, heddle_call(s->add), heddle_rw(s->data), heddle_out(&task));
		if (status == HEDDLE_E_STATE)
			continue;
		if (status || heddle_task_wait(task))
			note_error(s);
		s->added++;
		heddle_task_release(task);
	}
	return NULL;
}

/* And waits for the last of them, so that the datum stays partitioned for a while. */
static int add_to_children(struct shared *s, size_t n)
{
	heddle_task *task = NULL;
	for (size_t i = 0; i < n; i++) {
		heddle_task_release(task);
		if (heddle_submit(s->rt, heddle_call(s->add), heddle_rw(heddle_child(s->data, i)), heddle_out(&task)))
			return -1;
	}
	int status = heddle_task_wait(task);
	heddle_task_release(task);
	return status;
}

static void submissions_race_with_partitions(int in_virtual_time)
{
	enum { SUBMITTERS = 4 };
	const struct heddle_filter blocks = {.kind = HEDDLE_SPLIT_VECTOR, .nx = CHILDREN};
	long x[LENGTH] = {0};
	struct shared s;
	begin(&s, in_virtual_time, x);
	pthread_t submitters[SUBMITTERS];
	for (int i = 0; i < SUBMITTERS; i++)
		submitters[i] = run(add_to_whole, &s);
	size_t n;
	for (int i = 0; i < ROUNDS; i++) {
		if (heddle_partition(s.data, &blocks, &n) || add_to_children(&s, n) || heddle_unpartition(s.data))
			note_error(&s);
		else
			s.added++;
	}
	s.stop = 1;
	for (int i = 0; i < SUBMITTERS; i++)
		pthread_join(submitters[i], NULL);
	assert_ok(heddle_wait_all(s.rt));
	int added = s.added;
	assert_int_equal(intrusions, 0);
	end(&s);
	for (size_t i = 0; i < LENGTH && !in_virtual_time; i++)
		assert_int_equal(x[i], added);
}

static void *partition_once(void *arg)
{
	const struct heddle_filter blocks = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 8};
	struct shared *s = arg;
	for (int i = 1; i <= ROUNDS; i++) {
		wait_for(&s->step, 2 * i - 1);
		int status = heddle_partition(s->data, &blocks, NULL);
		if (!status)
			s->added++;
		else if (status != HEDDLE_E_STATE)
			note_error(s);
		s->stop++;
		wait_for(&s->step, 2 * i);
		status = heddle_unpartition(s->data);
		if (!status)
			s->refused++;
		else if (status != HEDDLE_E_STATE)
			note_error(s);
		s->stop++;
	}
	return NULL;
}

/* Both threads partition, then both unpartition: each time one of them succeeds, the other is told why not. */
static void one_of_two_threads_partitions(int in_virtual_time)
{
	long x[LENGTH] = {0};
	struct shared s;
	begin(&s, in_virtual_time, x);
	pthread_t threads[2] = {run(partition_once, &s), run(partition_once, &s)};
	for (int i = 1; i <= 2 * ROUNDS; i++) {
		s.step = i;
		wait_for(&s.stop, 2 * i);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(s.added, ROUNDS);
	assert_int_equal(s.refused, ROUNDS);
	end(&s);
}

static void *ask_for_children(void *arg)
{
	struct shared *s = arg;
	while (!s->stop)
		s->refused += heddle_child(s->data, 3) == NULL;
	return NULL;
}

static void children_may_be_asked_for_while_they_go(int in_virtual_time)
{
	const struct heddle_filter blocks = {.kind = HEDDLE_SPLIT_VECTOR, .nx = CHILDREN};
	long x[LENGTH] = {0};
	struct shared s;
	begin(&s, in_virtual_time, x);
	pthread_t other = run(ask_for_children, &s);
	for (int i = 0; i < ROUNDS; i++) {
		assert_ok(heddle_partition(s.data, &blocks, NULL));
		assert_ok(heddle_unpartition(s.data));
	}
	s.stop = 1;
	pthread_join(other, NULL);
	end(&s);
}

static void *unpartition_always(void *arg)
{
	struct shared *s = arg;
	while (!s->stop) {
		int status = heddle_unpartition(s->data);
		if (status && status != HEDDLE_E_STATE)
			note_error(s);
	}
	return NULL;
}

/* The partition may have gone again before its call has returned. */
static void partition_says_how_many_children_it_had(int in_virtual_time)
{
	const struct heddle_filter blocks = {.kind = HEDDLE_SPLIT_VECTOR, .nx = CHILDREN};
	long x[LENGTH] = {0};
	struct shared s;
	begin(&s, in_virtual_time, x);
	pthread_t other = run(unpartition_always, &s);
	for (int i = 0; i < ROUNDS; i++) {
		size_t n = 0;
		int status;
		while ((status = heddle_partition(s.data, &blocks, &n)) == HEDDLE_E_STATE)
			sched_yield();
		assert_ok(status);
		assert_int_equal(n, CHILDREN);
	}
	s.stop = 1;
	pthread_join(other, NULL);
	heddle_unpartition(s.data);
	end(&s);
}

/* --- The end of a handle ------------------------------------------------------------------------------------------ */

static void *unregister_once(void *arg)
{
	struct shared *s = arg;
	wait_for(&s->step, 1);
	int status = heddle_unregister_async(s->data);
	if (!status)
		s->added++;
	else if (status != HEDDLE_E_STATE)
		note_error(s);
	return NULL;
}

static void one_of_two_threads_unregisters(int in_virtual_time)
{
	long x[LENGTH] = {0};
	struct shared s;
	begin(&s, in_virtual_time, x);
	assert_ok(heddle_acquire(s.data, HEDDLE_R)); /* so that the handle outlives both calls */
	pthread_t other = run(unregister_once, &s);
	s.step = 1;
	assert_int_equal(heddle_unregister_async(s.data), HEDDLE_E_STATE);
	assert_says("release");
	pthread_join(other, NULL);
	assert_int_equal(s.added, 0);
	assert_ok(heddle_release(s.data));
	end(&s);
}

/* --- Both engines ------------------------------------------------------------------------------------------------- */

#define ON_BOTH_ENGINES(name)                       \
	static void name##_on_threads(void **state) \
	{                                           \
		(void)state;                        \
		name(0);                            \
	}                                           \
	static void name##_virtually(void **state)  \
	{                                           \
		(void)state;                        \
		name(1);                            \
	}
#define BOTH(name) cmocka_unit_test(name##_on_threads), cmocka_unit_test(name##_virtually)

ON_BOTH_ENGINES(release_gives_back_the_hold_of_the_calling_thread)
ON_BOTH_ENGINES(hold_of_another_thread_can_be_given_back)
ON_BOTH_ENGINES(waiting_while_another_thread_acquires_is_no_deadlock)
ON_BOTH_ENGINES(submissions_race_with_partitions)
ON_BOTH_ENGINES(one_of_two_threads_partitions)
ON_BOTH_ENGINES(children_may_be_asked_for_while_they_go)
ON_BOTH_ENGINES(partition_says_how_many_children_it_had)
ON_BOTH_ENGINES(one_of_two_threads_unregisters)

/* --- Submissions in one another ----------------------------------------------------------------------------------- */

/* A kernel that splits a datum and submits something, while the thread that runs it is in the middle of a
 * submission. */
static int split_and_submit(heddle_context *c)
{
	struct shared *s = pointer_value(c);
	const struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
	if (heddle_partition(s->data, &halves, NULL) || heddle_submit(s->rt, heddle_call(s->add), heddle_rw(s->other)))
		note_error(s);
	return 0;
}

static void submission_that_runs_a_kernel_sees_what_that_has_split(void **state)
{
	(void)state;
	long x[LENGTH] = {0}, y[LENGTH] = {0};
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.caller_works = 1;
	config.window = 1; /* the second submission runs the first task */
	struct shared s = {.rt = start_with(&config)}, *shared = &s;
	s.add = heddle_codelet_new(s.rt, .name = "add_one", .cpu = add_one);
	heddle_codelet *splits = heddle_codelet_new(s.rt, .name = "splits", .cpu = split_and_submit);
	assert_ok(heddle_vector(s.rt, x, LENGTH, sizeof *x, &s.data));
	assert_ok(heddle_vector(s.rt, y, LENGTH, sizeof *y, &s.other));
	assert_ok(heddle_submit(s.rt, heddle_call(splits), heddle_value(shared)));
	assert_int_equal(heddle_submit(s.rt, heddle_call(s.add), heddle_rw(s.data)), HEDDLE_E_STATE);
	assert_ok(heddle_wait_all(s.rt));
	assert_int_equal(s.errors, 0);
	assert_int_equal(x[0], 0);
	assert_int_equal(y[0], 1);
	assert_ok(heddle_stop(s.rt));
}

static struct shared *ends; /* what the function below, which has no argument for it, is to ask for */

/* Another thread unregisters the datum after the task's data have been looked at, and before it enters the graph. */
static uint64_t let_the_other_unregister(const struct heddle_size *size)
{
	(void)size;
	ends->step = 1;
	wait_for(&ends->step, 2);
	return 0;
}

static void unregister_when_asked(void *arg, int status)
{
	struct shared *s = arg;
	wait_for(&s->step, 1);
	if (status || heddle_unregister_async(s->data))
		note_error(s);
	s->step = 2;
	wait_for(&s->step, 3);
}

/* What the handle still waited for. */
static void let_the_handle_go(void *arg, int status)
{
	struct shared *s = arg;
	if (status || heddle_release(s->other))
		note_error(s);
	s->added++;
}

/* Releases two tasks at once: it runs the callback of one, and whoever comes next that of the other. */
static void *run_the_first_callback(void *arg)
{
	struct shared *s = arg;
	heddle_data *gate;
	if (heddle_variable(s->rt, NULL, 1, &gate) || heddle_acquire(gate, HEDDLE_RW) ||
	    heddle_submit(s->rt, heddle_r(gate), heddle_then(unregister_when_asked, s)) ||
	    heddle_submit(s->rt, heddle_r(gate), heddle_then(let_the_handle_go, s)) || heddle_release(gate))
		note_error(s);
	return NULL;
}

static void refusal_names_a_datum_that_is_gone_meanwhile(void **state)
{
	(void)state;
	struct shared s;
	long x[LENGTH] = {0};
	begin(&s, 1, x);
	ends = &s;
	assert_ok(heddle_data_set_name(s.data, "the matrix"));
	assert_ok(heddle_variable(s.rt, NULL, 1, &s.other));
	heddle_codelet *late = heddle_codelet_new(s.rt, .name = "late", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN,
	                                          .time = ten_us, .footprint = let_the_other_unregister);
	assert_ok(heddle_acquire(s.other, HEDDLE_RW));
	assert_ok(heddle_submit(s.rt, heddle_r(s.other), heddle_r(s.data)));
	pthread_t thread = run(run_the_first_callback, &s);
	assert_int_equal(heddle_submit(s.rt, heddle_call(late), heddle_rw(s.data)), HEDDLE_E_STATE);
	assert_says("the matrix has been unregistered");
	assert_int_equal(s.added, 1); /* here, on the way */
	s.step = 3;
	pthread_join(thread, NULL);
	assert_int_equal(s.errors, 0);
	assert_ok(heddle_stop(s.rt));
}

/* --- Many handles ------------------------------------------------------------------------------------------------- */

static void *register_and_unregister(void *arg)
{
	struct shared *s = arg;
	for (int i = 0; i < 20 * ROUNDS; i++) {
		heddle_data *d;
		long x = 0;
		if (heddle_variable(s->rt, &x, sizeof x, &d) || heddle_unregister(d))
			note_error(s);
	}
	return NULL;
}

/* The list of handles that the checking mode keeps has a lock, for which threads in the core and others wait. */
static void threads_register_and_unregister_in_checking_mode(void **state)
{
	(void)state;
	enum { THREADS = 8 };
	struct heddle_config config = small_config();
	config.check = 1;
	struct shared s = {.rt = start_with(&config)};
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		threads[i] = run(register_and_unregister, &s);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(s.errors, 0);
	assert_ok(heddle_stop(s.rt));
}

/* Argument: a pattern of the names of the cases to be run; all without one. */
int main(int argc, char **argv)
{
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	const struct CMUnitTest tests[] = {
	    BOTH(release_gives_back_the_hold_of_the_calling_thread),
	    BOTH(hold_of_another_thread_can_be_given_back),
	    BOTH(waiting_while_another_thread_acquires_is_no_deadlock),
	    BOTH(submissions_race_with_partitions),
	    BOTH(one_of_two_threads_partitions),
	    BOTH(children_may_be_asked_for_while_they_go),
	    BOTH(partition_says_how_many_children_it_had),
	    BOTH(one_of_two_threads_unregisters),
	    cmocka_unit_test(submission_that_runs_a_kernel_sees_what_that_has_split),
	    cmocka_unit_test(refusal_names_a_datum_that_is_gone_meanwhile),
	    cmocka_unit_test(threads_register_and_unregister_in_checking_mode),
	};
	return cmocka_run_group_tests_name("shared handles", tests, NULL, NULL);
}
