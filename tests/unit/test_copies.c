/* Copies that fail, copies under way when their handle ends, and a copy that is the last thing to move. */
#include <pthread.h>
#include "program.h"
#include "internals.h"

/* --- An object whose copies wait and fail as told ----------------------------------------------------------------- */

enum { SLOTS = 3 };
static struct script {
	atomic_int begun;       /* copies, in the order in which they begin */
	atomic_int gate[SLOTS]; /* copy i waits until it is open */
	int fails[SLOTS];
	atomic_int n_made, n_destroyed; /* objects that copies have made */
	int keeps;                      /* an object is destroyed only when the test lets it */
	atomic_int kept, let_go;        /* how many are about to be destroyed, and how many may be */
} script;

static int unpack_as_told(void **object, const void *buffer, size_t size)
{
	int i = script.begun++;
	(void)buffer;
	if (i < SLOTS) {
		wait_for(&script.gate[i], 1);
		if (script.fails[i])
			return 1;
	}
	if (!*object) {
		*object = malloc(size);
		script.n_made++;
	}
	return *object == NULL;
}

static void destroy(void *object)
{
	int n = ++script.kept;
	if (script.keeps)
		wait_for(&script.let_go, n);
	free(object);
	script.n_destroyed++;
}

static const struct heddle_type told = {
    .name = "told", .size = one_byte, .pack = pack_nothing, .unpack = unpack_as_told, .destroy = destroy};

/* A worker that is a CPU and `n` accelerators; an object in main memory, of which a copy to accelerator 1 is under
 * way. */
static heddle_runtime *start_copying_with(struct heddle_config *config, int n, void *object, heddle_data **d)
{
	config->n_cpu = 1;
	config->n_emulated = n;
	config->window = 8;
	memset(&script, 0, sizeof script);
	heddle_runtime *rt = start_with(config);
	assert_ok(heddle_object(rt, object, &told, d));
	assert_ok(heddle_prefetch(*d, 1));
	wait_for(&script.begun, 1);
	return rt;
}

static heddle_runtime *start_copying(int n, void *object, heddle_data **d)
{
	struct heddle_config config = small_config();
	return start_copying_with(&config, n, object, d);
}

/* --- Failures ----------------------------------------------------------------------------------------------------- */

static void prefetch_that_fails_fails_no_task_elsewhere(void **state)
{
	(void)state;
	long x = 0;
	heddle_data *d;
	heddle_runtime *rt = start_copying(1, &x, &d);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "increment", .cpu = increment);
	script.fails[0] = 1;
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d), heddle_on(0)));
	give_others_time(); /* it is picked, and waits until nobody reads what it changes */
	script.gate[0] = 1;
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(x, 1);
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

static void *open_later(void *gate)
{
	give_others_time();
	*(atomic_int *)gate = 1;
	return NULL;
}

static void prefetch_that_fails_does_not_fail_the_end_of_the_handle(void **state)
{
	(void)state;
	long x = 5;
	heddle_data *d;
	heddle_runtime *rt = start_copying(1, &x, &d);
	pthread_t thread;
	script.fails[0] = 1;
	assert_int_equal(pthread_create(&thread, NULL, open_later, &script.gate[0]), 0);
	assert_ok(heddle_unregister(d));
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(x, 5);
	assert_ok(heddle_stop(rt));
}

/* Who needs the copy hears of it. */
static void task_that_needs_the_failed_copy_fails(void **state)
{
	(void)state;
	long x = 0;
	heddle_data *d;
	heddle_task *t;
	heddle_runtime *rt = start_copying(1, &x, &d);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "nothing", .emulated = nothing);
	script.fails[0] = 1;
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_r(d), heddle_out(&t)));
	give_others_time();
	script.gate[0] = script.gate[1] = 1;
	int status = heddle_task_wait(t); /* or, had it come too late, it made a copy of its own */
	assert_true(status == HEDDLE_E_KERNEL || script.begun == 2);
	heddle_task_release(t);
	assert_int_equal(heddle_wait_all(rt), status);
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

/* --- Handles that end --------------------------------------------------------------------------------------------- */

/* Of two copies the one that began later fails first: the handle stays until the other has ended, too. */
static void handle_ends_after_all_its_copies_even_if_one_fails(void **state)
{
	(void)state;
	long x = 0;
	heddle_data *d;
	heddle_runtime *rt = start_copying(2, &x, &d);
	assert_ok(heddle_prefetch(d, 2));
	wait_for(&script.begun, 2);
	script.fails[1] = 1;
	assert_ok(heddle_unregister_async(d));
	give_others_time(); /* it waits for one of the copies */
	script.gate[1] = 1;
	give_others_time(); /* that one has failed */
	script.gate[0] = 1;
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_stop(rt));
	assert_int_equal(script.n_made, 1);
	assert_int_equal(script.n_destroyed, 1);
}

struct ending {
	heddle_data *d;
	int status;
	atomic_int ended;
};

static void *end_handle(void *arg)
{
	struct ending *e = arg;
	e->status = heddle_unregister(e->d);
	e->ended = 1;
	return NULL;
}

/* The value is on accelerator 1 alone, a copy of it to accelerator 2 is under way, and the copy home fails. The value
 * is lost, which fails the end of the handle; but what the other copy reads and writes must stay until that has
 * ended. */
static void handle_whose_copy_home_fails_ends_after_its_other_copies(void **state)
{
	(void)state;
	static const char text[] = "version: 1\nname: direct\nnodes: [{name: ram}, {name: one}, {name: two}]\n"
	                           "classes: [{name: emulated, kind: emulated}]\n"
	                           "workers:\n- {name: first, class: emulated, node: one}\n"
	                           "- {name: second, class: emulated, node: two}\n"
	                           "links:\n- {from: ram, to: one, bandwidth_mbs: 1e6}\n"
	                           "- {from: one, to: ram, bandwidth_mbs: 1e6}\n"
	                           "- {from: ram, to: two, bandwidth_mbs: 1e6}\n"
	                           "- {from: two, to: ram, bandwidth_mbs: 1e6}\n"
	                           "- {from: one, to: two, bandwidth_mbs: 1e6}\n";
	struct heddle_config config = small_config();
	struct heddle_platform *platform;
	heddle_runtime *rt;
	long x = 0;
	pthread_t thread;
	struct ending ending = {.ended = 0};
	memset(&script, 0, sizeof script);
	script.gate[0] = 1;
	script.fails[2] = 1;
	assert_ok(heddle_platform_parse("direct", text, sizeof text - 1, &platform));
	assert_ok(heddle_start_on(&config, platform, 0, &rt));
	heddle_platform_free(platform);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "nothing", .emulated = nothing);
	assert_ok(heddle_object(rt, &x, &told, &ending.d));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(ending.d), heddle_on(0)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_prefetch(ending.d, 2));
	wait_for(&script.begun, 2);
	assert_int_equal(pthread_create(&thread, NULL, end_handle, &ending), 0);
	wait_for(&script.begun, 3);
	script.gate[2] = 1;
	give_others_time(); /* the copy home has failed */
	assert_false(ending.ended);
	script.gate[1] = 1;
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_not_equal(ending.status, 0);
	assert_int_equal(script.n_made, 2);
	assert_int_equal(script.n_destroyed, 2);
	heddle_wait_all(rt); /* says it again */
	heddle_stop(rt);
}

/* --- Waiting ------------------------------------------------------------------------------------------------------ */

/* All tasks wait for what the program holds, the window is full, and what moves last is a copy. */
static void end_of_a_copy_wakes_a_throttled_thread(void **state)
{
	(void)state;
	long x = 0, y = 0;
	heddle_data *d, *held;
	heddle_runtime *rt = start_copying(1, &x, &d);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "increment", .cpu = increment);
	pthread_t thread;
	assert_ok(heddle_variable(rt, &y, sizeof y, &held));
	assert_ok(heddle_acquire(held, HEDDLE_RW));
	assert_int_equal(pthread_create(&thread, NULL, open_later, &script.gate[0]), 0);
	for (int i = 0; i < 12; i++)
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(held)));
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_ok(heddle_release(held));
	assert_ok(heddle_unregister(held));
	assert_int_equal(y, 12);
	assert_ok(heddle_stop(rt));
}

/* --- Tasks that fail ---------------------------------------------------------------------------------------------- */

static int spoil(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) = 99;
	return heddle_fail(c, 1, "on purpose");
}

/* What an accelerator has written replaces the value in main memory only if the task has ended well. */
static void failed_task_replaces_no_copy(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_emulated = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "spoil", .emulated = spoil);
	heddle_data *d;
	long x = 5;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_true(heddle_data_valid_on(d, 0));
	assert_ok(heddle_selfcheck(rt));
	heddle_unregister(d); /* says that the value is lost */
	assert_int_equal(x, 5);
	heddle_wait_all(rt);
	assert_ok(heddle_stop(rt));
}

/* --- Objects that are destroyed ----------------------------------------------------------------------------------- */

static int unregister_and_wait(heddle_data *d, heddle_runtime *rt)
{
	int status = heddle_unregister_async(d);
	return status ? status : heddle_wait_all(rt);
}

static int only_unregister(heddle_data *d, heddle_runtime *rt)
{
	(void)rt;
	return heddle_unregister(d);
}

struct ender {
	int (*end)(heddle_data *d, heddle_runtime *rt);
	heddle_data *d;
	heddle_runtime *rt;
	atomic_int has_ended;
	int status;
};

static void *end_in_thread(void *arg)
{
	struct ender *e = arg;
	e->status = e->end(e->d, e->rt);
	e->has_ended = 1;
	return NULL;
}

/* The worker whose task makes a copy obsolete destroys the object there. That takes long. */
static void test_destroying(int (*end)(heddle_data *, heddle_runtime *))
{
	long x = 0;
	pthread_t thread;
	struct ender e = {.end = end};
	heddle_runtime *rt = e.rt = start_copying(1, &x, &e.d);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "increment", .cpu = increment);
	script.keeps = 1;
	script.gate[0] = 1;
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(e.d), heddle_on(0)));
	wait_for(&script.kept, 1);
	assert_ok(heddle_selfcheck(rt)); /* nobody is in the core meanwhile, or this would not return */
	assert_int_equal(pthread_create(&thread, NULL, end_in_thread, &e), 0);
	give_others_time();
	assert_false(e.has_ended); /* because the program may then free what the type's functions use */
	script.let_go = 1;
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_ok(e.status);
	assert_int_equal(script.n_destroyed, 1);
	assert_ok(heddle_stop(rt));
}

static void object_is_destroyed_outside_the_core_before_the_end_of_its_handle_is_told(void **state)
{
	(void)state;
	test_destroying(only_unregister);
	test_destroying(unregister_and_wait);
}

static int give_up(void *arg)
{
	++*(atomic_int *)arg;
	return 1;
}

/* What is left to do has nothing to do with the handle, which is gone. */
static void wait_for_objects_to_be_destroyed_is_not_interrupted(void **state)
{
	(void)state;
	long x = 0;
	pthread_t thread;
	atomic_int calls = 0;
	struct heddle_config config = small_config();
	config.on_wait = give_up;
	config.on_wait_arg = &calls;
	struct ender e = {.end = only_unregister};
	heddle_runtime *rt = e.rt = start_copying_with(&config, 1, &x, &e.d);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "increment", .cpu = increment);
	script.gate[0] = 1;
	script.keeps = 1;
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(e.d), heddle_on(0)));
	wait_for(&script.kept, 1);
	assert_int_equal(pthread_create(&thread, NULL, end_in_thread, &e), 0);
	for (int i = 0; i < 400 && !calls && !e.has_ended; i++) /* on_wait would be asked ten times a second */
		give_others_time();
	script.let_go = 1;
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_ok(e.status);
	assert_int_equal(calls, 0);
	assert_ok(heddle_stop(rt));
}

/* What would end that wait has nothing to do with the datum. */
static void end_of_a_handle_that_is_no_object_waits_for_no_objects(void **state)
{
	(void)state;
	long x = 0, y = 5;
	heddle_data *object, *d;
	heddle_runtime *rt = start_copying(1, &x, &object);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "increment", .cpu = increment);
	script.keeps = 1;
	script.gate[0] = 1;
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(object), heddle_on(0)));
	wait_for(&script.kept, 1);
	assert_ok(heddle_variable(rt, &y, sizeof y, &d));
	assert_ok(heddle_unregister(d));
	script.let_go = 1;
	assert_ok(heddle_unregister(object));
	assert_ok(heddle_stop(rt));
}

static int some_thread_waits(heddle_runtime *rt)
{
	hd_core_enter(rt);
	int some = rt->waits.waiters != NULL;
	hd_core_leave(rt);
	return some;
}

/* While a thread waits for the end of an object, another copy, of a second object, begins to be destroyed. */
static void end_of_an_object_does_not_wait_for_those_that_are_destroyed_later(void **state)
{
	(void)state;
	long x = 0, y = 0;
	pthread_t thread;
	struct ender e = {.end = only_unregister};
	heddle_data *later;
	heddle_runtime *rt = e.rt = start_copying(2, &x, &e.d);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "increment", .cpu = increment, .emulated = nothing);
	heddle_codelet *reader = heddle_codelet_new(rt, .name = "reader", .emulated = nothing);
	script.keeps = 1;
	for (int i = 0; i < SLOTS; i++)
		script.gate[i] = 1;
	assert_ok(heddle_object(rt, &y, &told, &later));
	assert_ok(heddle_submit(rt, heddle_call(reader), heddle_r(later), heddle_on(1)));
	assert_ok(heddle_wait_all(rt)); /* so the copy has arrived */
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(e.d), heddle_on(0)));
	wait_for(&script.kept, 1);
	assert_int_equal(pthread_create(&thread, NULL, end_in_thread, &e), 0);
	while (!some_thread_waits(rt))
		sched_yield();
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(later), heddle_on(2)));
	wait_for(&script.kept, 2);
	assert_false(e.has_ended);
	script.let_go = 1;
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_ok(e.status);
	assert_int_equal(script.n_destroyed, 1);
	script.let_go = 3;
	assert_ok(heddle_unregister(later));
	assert_int_equal(script.n_destroyed, 3);
	assert_ok(heddle_stop(rt));
}

static int unregister_inside(heddle_context *c)
{
	struct ender *e = heddle_get(c, 0, struct ender *);
	e->status = heddle_unregister(e->d);
	e->has_ended = script.n_destroyed;
	return 0;
}

/* A kernel with a SCRATCH datum cannot wait for tasks, but there are none to wait for. */
static void kernel_that_may_not_wait_ends_a_handle_that_nobody_uses(void **state)
{
	(void)state;
	long x = 0;
	struct ender e = {0}, *address = &e;
	heddle_data *own;
	heddle_runtime *rt = start_copying(1, &x, &e.d);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "unregister", .cpu = unregister_inside);
	heddle_codelet *reader = heddle_codelet_new(rt, .name = "reader", .emulated = nothing);
	assert_ok(heddle_vector(rt, NULL, 1, sizeof x, &own));
	script.gate[0] = 1;
	assert_ok(heddle_submit(rt, heddle_call(reader), heddle_r(e.d)));
	assert_ok(heddle_wait_all(rt)); /* so the copy has arrived */
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_scratch(own), heddle_value(address), heddle_on(0)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(e.status);
	assert_int_equal(e.has_ended, 1);
	assert_ok(heddle_unregister(own));
	assert_ok(heddle_stop(rt));
}

/* Its memory comes from elsewhere, but the accelerator has no more of it than its capacity. */
static void copy_of_an_object_takes_the_place_of_blocks_that_nobody_uses(void **state)
{
	(void)state;
	enum { ELEMENTS = HD_CACHE_LINE / sizeof(long) };
	long x = 0;
	heddle_data *d, *object;
	struct heddle_config config = small_config();
	config.n_emulated = 1;
	config.emulated_memory = ELEMENTS * sizeof(long);
	memset(&script, 0, sizeof script);
	script.gate[0] = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "nothing", .emulated = nothing);
	assert_ok(heddle_vector(rt, NULL, ELEMENTS, sizeof(long), &d));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_w(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_unregister(d));
	assert_int_equal(rt->memories[1].kept, config.emulated_memory);
	assert_ok(heddle_object(rt, &x, &told, &object));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_r(object)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_unregister(object));
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(prefetch_that_fails_fails_no_task_elsewhere),
	    cmocka_unit_test(prefetch_that_fails_does_not_fail_the_end_of_the_handle),
	    cmocka_unit_test(task_that_needs_the_failed_copy_fails),
	    cmocka_unit_test(handle_ends_after_all_its_copies_even_if_one_fails),
	    cmocka_unit_test(handle_whose_copy_home_fails_ends_after_its_other_copies),
	    cmocka_unit_test(end_of_a_copy_wakes_a_throttled_thread),
	    cmocka_unit_test(failed_task_replaces_no_copy),
	    cmocka_unit_test(object_is_destroyed_outside_the_core_before_the_end_of_its_handle_is_told),
	    cmocka_unit_test(wait_for_objects_to_be_destroyed_is_not_interrupted),
	    cmocka_unit_test(end_of_a_handle_that_is_no_object_waits_for_no_objects),
	    cmocka_unit_test(end_of_an_object_does_not_wait_for_those_that_are_destroyed_later),
	    cmocka_unit_test(kernel_that_may_not_wait_ends_a_handle_that_nobody_uses),
	    cmocka_unit_test(copy_of_an_object_takes_the_place_of_blocks_that_nobody_uses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
