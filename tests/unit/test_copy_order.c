/* The order of copies on threads and emulated accelerators. The data are objects whose copies wait for gates, so that
 * the tests, and not chance, decide what happens while a copy is under way. */
#include "internals.h"
#include "program.h"

enum { N = 6 };

/* What is copied: a letter. */
static char letters[N] = "abcdef";
static struct scene {
	heddle_runtime *rt;
	heddle_data *d[N];
	atomic_int n_begun, gate; /* copies that have begun; how many of them may go on */
	char begun[32];           /* letters of the copies, in the order in which they began */
} scene;

static int pack_letter(const void *object, void *buffer, size_t size)
{
	memcpy(buffer, object, size);
	int i = scene.n_begun;
	if (i < (int)sizeof scene.begun - 1)
		scene.begun[i] = *(const char *)object;
	scene.n_begun++;
	wait_for(&scene.gate, i + 1);
	return 0;
}

static int unpack_letter(void **object, const void *buffer, size_t size)
{
	if (!*object && !(*object = malloc(size)))
		return 1;
	memcpy(*object, buffer, size);
	return 0;
}

static const struct heddle_type letter = {
    .name = "letter", .size = one_byte, .pack = pack_letter, .unpack = unpack_letter, .destroy = free};

/* A worker that is a CPU and an accelerator with room for `units` letters; 0: no limit. Copies of the first `n` letters
 * to the accelerator are asked for; the first has begun. */
static void start_copying(uint64_t units, size_t n)
{
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.n_emulated = 1;
	config.emulated_memory = units;
	memset(&scene, 0, sizeof scene);
	scene.rt = start_with(&config);
	for (size_t i = 0; i < N; i++)
		assert_ok(heddle_object(scene.rt, &letters[i], &letter, &scene.d[i]));
	for (size_t i = 0; i < n; i++)
		assert_ok(heddle_prefetch(scene.d[i], 1));
	if (n)
		wait_for(&scene.n_begun, 1);
	assert_ok(heddle_selfcheck(scene.rt));
}

/* Whether tasks wait for a copy of the datum. */
static int is_awaited(const heddle_data *d)
{
	hd_core_enter(d->rt);
	const struct hd_transfer *tr = d->transfers;
	while (tr && !tr->waiters)
		tr = tr->next;
	hd_core_leave(d->rt);
	return tr != NULL;
}

static void wait_until_awaited(const heddle_data *d)
{
	while (!is_awaited(d))
		sched_yield();
	assert_ok(heddle_selfcheck(scene.rt));
}

/* How many transfers of the datum there are. */
static unsigned n_transfers(const heddle_data *d)
{
	hd_core_enter(d->rt);
	unsigned n = d->n_transfers;
	hd_core_leave(d->rt);
	return n;
}

/* Lets all copies go on, and checks the order in which all began. */
static void finish_copying(const char *expected)
{
	scene.gate = 1000;
	wait_for(&scene.n_begun, (int)strlen(expected));
	assert_ok(heddle_wait_all(scene.rt));
	assert_ok(heddle_selfcheck(scene.rt));
	assert_ok(heddle_stop(scene.rt));
	assert_string_equal(scene.begun, expected);
}

static heddle_codelet *reader(void)
{
	return heddle_codelet_new(scene.rt, .name = "reader", .emulated = nothing);
}

static void demanded_copies_overtake_prefetches(void **state)
{
	(void)state;
	start_copying(0, 3);
	assert_ok(heddle_submit(scene.rt, heddle_call(reader()), heddle_r(scene.d[3])));
	wait_until_awaited(scene.d[3]);
	finish_copying("adbc");
}

static void prefetch_moves_up_when_a_task_waits_for_it(void **state)
{
	(void)state;
	start_copying(0, 4);
	assert_ok(heddle_submit(scene.rt, heddle_call(reader()), heddle_r(scene.d[3]), heddle_r(scene.d[2])));
	wait_until_awaited(scene.d[2]);
	finish_copying("adcb");
}

/* The writer does not wait: were the copy not dropped, it would hang at the gate. */
static void prefetch_of_a_rewritten_datum_is_dropped(void **state)
{
	(void)state;
	heddle_task *t;
	start_copying(0, 3);
	heddle_codelet *writer = heddle_codelet_new(scene.rt, .name = "writer", .cpu = nothing);
	assert_ok(heddle_submit(scene.rt, heddle_call(writer), heddle_rw(scene.d[1]), heddle_on(0), heddle_out(&t)));
	assert_ok(heddle_task_wait(t));
	heddle_task_release(t);
	finish_copying("ac");
}

static void prefetch_of_an_unregistered_datum_is_dropped(void **state)
{
	(void)state;
	start_copying(0, 3);
	assert_ok(heddle_unregister(scene.d[2]));
	finish_copying("ab");
}

/* The room is full of prefetches; the last one leaves. */
static void prefetch_is_dropped_when_a_task_needs_its_room(void **state)
{
	(void)state;
	start_copying(3, 3);
	assert_ok(heddle_submit(scene.rt, heddle_call(reader()), heddle_r(scene.d[4])));
	wait_until_awaited(scene.d[4]);
	assert_int_equal(n_transfers(scene.d[2]), 0);
	finish_copying("aeb");
}

/* --- Prefetches of what is being written -------------------------------------------------------------------------- */

/* A task writes the datum, and ends as `status` says after the gate that it gets is open. */
struct writer {
	atomic_int begun, gate;
	int status;
};

static int write_as_told(heddle_context *c)
{
	struct writer *w = pointer_value(c);
	w->begun = 1;
	wait_for(&w->gate, 1);
	return w->status;
}

/* Runs the writer, and asks twice for a copy meanwhile. */
static void prefetch_while_written(struct writer *w)
{
	start_copying(0, 0);
	scene.gate = 1000;
	heddle_codelet *writer = heddle_codelet_new(scene.rt, .name = "writer", .cpu = write_as_told);
	const struct writer *pointer = w;
	assert_ok(
	    heddle_submit(scene.rt, heddle_call(writer), heddle_rw(scene.d[0]), heddle_value(pointer), heddle_on(0)));
	wait_for(&w->begun, 1);
	hd_core_enter(scene.rt);
	for (int i = 0; i < 2; i++)
		hd_prefetch(scene.d[0], 1);
	hd_core_leave(scene.rt);
	assert_ok(heddle_selfcheck(scene.rt));
	assert_int_equal(n_transfers(scene.d[0]), 0);
	w->gate = 1;
}

static void prefetch_of_a_datum_being_written_waits_for_the_writer(void **state)
{
	(void)state;
	struct writer w = {.status = 0};
	prefetch_while_written(&w);
	finish_copying("a");
}

static void prefetch_of_what_could_not_be_written_is_forgotten(void **state)
{
	(void)state;
	struct writer w = {.status = 3};
	struct heddle_stats stats;
	prefetch_while_written(&w);
	assert_int_equal(heddle_wait_all(scene.rt), HEDDLE_E_KERNEL);
	assert_ok(heddle_selfcheck(scene.rt));
	assert_ok(heddle_runtime_stats(scene.rt, &stats));
	assert_int_equal(stats.prefetches, 0);
	assert_int_equal(n_transfers(scene.d[0]), 0);
	heddle_stop(scene.rt);
	assert_string_equal(scene.begun, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(demanded_copies_overtake_prefetches),
	    cmocka_unit_test(prefetch_moves_up_when_a_task_waits_for_it),
	    cmocka_unit_test(prefetch_of_a_rewritten_datum_is_dropped),
	    cmocka_unit_test(prefetch_of_an_unregistered_datum_is_dropped),
	    cmocka_unit_test(prefetch_is_dropped_when_a_task_needs_its_room),
	    cmocka_unit_test(prefetch_of_a_datum_being_written_waits_for_the_writer),
	    cmocka_unit_test(prefetch_of_what_could_not_be_written_is_forgotten),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
