/* Copies on the streams of devices: several under way at a time, direct ones between devices, and main memory that the
 * driver allocates. The driver of this program stands where the library would find its own. It makes a copy when the
 * test lets it, and passes other calls on to the emulated accelerator. */
#include <pthread.h>
#include <stdio.h>
#include "internals.h"
#include "driver/driver.h"
#include "program.h"

/* A copy, which is its own event. */
struct copy {
	struct heddle_copy what;
	int ended, status;
	void (*tell)(void *arg);
	void *arg;
};

enum { MAX_COPIES = 64 };
static struct scene {
	pthread_mutex_t lock; /* guards the rest */
	struct copy copies[MAX_COPIES];
	int n_begun, n_ended;
	int gate;               /* how many copies may end; the rest waits */
	int failing;            /* the number of the copy that fails, counted from 1; 0: none */
	int refuses;            /* no copy can be made directly */
	int n_host, host_fails; /* blocks of main memory; how many more of them cannot be had */
	int n_direct, n_asked;
} scene = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Ends the copies that may end, in order; the lock is held, and left while the runtime is told. */
static void end_copies(void)
{
	while (scene.n_ended < scene.n_begun && scene.n_ended < scene.gate) {
		struct copy *c = &scene.copies[scene.n_ended++];
		c->status = scene.n_ended == scene.failing ? HEDDLE_E_IO : hd_copy_host(&c->what);
		c->ended = 1;
		void (*tell)(void *) = c->tell;
		void *arg = c->arg;
		pthread_mutex_unlock(&scene.lock);
		if (tell)
			tell(arg);
		pthread_mutex_lock(&scene.lock);
	}
}

static void open_gate(int gate)
{
	pthread_mutex_lock(&scene.lock);
	scene.gate = gate;
	end_copies();
	pthread_mutex_unlock(&scene.lock);
}

static int begin_copy(void *device, void *stream, const struct heddle_copy *what, void **event)
{
	(void)device;
	(void)stream;
	pthread_mutex_lock(&scene.lock);
	assert_true(scene.n_begun < MAX_COPIES);
	struct copy *c = &scene.copies[scene.n_begun++];
	*c = (struct copy){.what = *what};
	scene.n_direct += what->from_node && what->to_node;
	end_copies();
	pthread_mutex_unlock(&scene.lock);
	*event = c;
	return HEDDLE_PENDING;
}

static int is_mine(const void *event)
{
	const char *p = event, *first = (const char *)scene.copies;
	return p >= first && p < first + sizeof scene.copies;
}

static int query(void *device, void *event)
{
	if (!is_mine(event))
		return hd_driver_emulated.query(device, event);
	pthread_mutex_lock(&scene.lock);
	const struct copy *c = event;
	int status = c->ended ? c->status : HEDDLE_PENDING;
	pthread_mutex_unlock(&scene.lock);
	return status == HEDDLE_E_IO ? heddle_error(status, "the bus caught fire") : status;
}

static int wait_for_event(void *device, void *event)
{
	if (!is_mine(event))
		return hd_driver_emulated.wait(device, event);
	int status;
	while ((status = query(device, event)) == HEDDLE_PENDING)
		sched_yield();
	return status;
}

static int notify(void *device, void *stream, void *event, void (*ended)(void *arg), void *arg)
{
	if (!is_mine(event))
		return hd_driver_emulated.notify(device, stream, event, ended, arg);
	pthread_mutex_lock(&scene.lock);
	struct copy *c = event;
	int already = c->ended;
	c->tell = ended;
	c->arg = arg;
	pthread_mutex_unlock(&scene.lock);
	if (already)
		ended(arg);
	return 0;
}

static int alloc_host(void *device, size_t size, void **out)
{
	pthread_mutex_lock(&scene.lock);
	int status = scene.host_fails ? heddle_error(HEDDLE_E_MEMORY, "no more such memory") : 0;
	scene.host_fails -= scene.host_fails > 0;
	scene.n_host += !status;
	pthread_mutex_unlock(&scene.lock);
	return status ? status : hd_driver_emulated.alloc_host(device, size, out);
}

static void free_host(void *device, void *ptr)
{
	pthread_mutex_lock(&scene.lock);
	scene.n_host--;
	pthread_mutex_unlock(&scene.lock);
	hd_driver_emulated.free_host(device, ptr);
}

static int can_copy_directly(void *device, unsigned from_node, unsigned to_node)
{
	(void)device;
	pthread_mutex_lock(&scene.lock);
	scene.n_asked++;
	int can = !scene.refuses && from_node && to_node && from_node != to_node;
	pthread_mutex_unlock(&scene.lock);
	return can;
}

static struct heddle_driver accelerator;

const struct heddle_driver *hd_driver_find(const char *kind)
{
	return strcmp(kind, "cpu") ? &accelerator : &hd_driver_cpu;
}

const char *hd_driver_names(void)
{
	return "cpu, emulated";
}

/* --- A machine ---------------------------------------------------------------------------------------------------- */

enum { ELEMENTS = 4096, N = 12 };
static double values[N][ELEMENTS];
static heddle_data *data[N];

static int bump(heddle_context *c)
{
	double *x = heddle_ptr(c, 0);
	for (size_t i = 0; i < heddle_extent(c, 0, 0); i++)
		x[i] += 1;
	return 0;
}

/* A CPU and two accelerators with a link between them, each slow: a copy of a datum lasts 1000 us. No copy waits. */
static heddle_runtime *start_scene(int tells)
{
	static const char text[] = "version: 1\nname: direct\nnodes: [{name: ram}, {name: one}, {name: two}]\n"
	                           "classes: [{name: cpu, kind: cpu}, {name: emulated, kind: emulated}]\n"
	                           "workers:\n- {name: core, class: cpu, node: ram}\n"
	                           "- {name: first, class: emulated, node: one}\n"
	                           "- {name: second, class: emulated, node: two}\n"
	                           "links:\n- {from: ram, to: one, bandwidth_mbs: 32.768}\n"
	                           "- {from: one, to: ram, bandwidth_mbs: 32.768}\n"
	                           "- {from: ram, to: two, bandwidth_mbs: 32.768}\n"
	                           "- {from: two, to: ram, bandwidth_mbs: 32.768}\n"
	                           "- {from: one, to: two, bandwidth_mbs: 32.768}\n";
	struct heddle_config config = small_config();
	struct heddle_platform *platform;
	heddle_runtime *rt;
	accelerator = hd_driver_emulated;
	accelerator.copy = begin_copy;
	accelerator.query = query;
	accelerator.wait = wait_for_event;
	accelerator.notify = tells ? notify : NULL;
	accelerator.alloc_host = alloc_host;
	accelerator.free_host = free_host;
	accelerator.can_copy_directly = can_copy_directly;
	scene.n_begun = scene.n_ended = scene.n_host = scene.n_direct = scene.n_asked = 0;
	scene.gate = MAX_COPIES;
	assert_ok(heddle_platform_parse("direct", text, sizeof text - 1, &platform));
	assert_ok(heddle_start_on(&config, platform, 0, &rt));
	heddle_platform_free(platform);
	for (int i = 0; i < N; i++)
		for (int k = 0; k < ELEMENTS; k++)
			values[i][k] = i;
	return rt;
}

static void register_data(heddle_runtime *rt)
{
	for (int i = 0; i < N; i++)
		assert_ok(heddle_vector(rt, values[i], ELEMENTS, sizeof values[i][0], &data[i]));
}

static int n_begun(void)
{
	pthread_mutex_lock(&scene.lock);
	int n = scene.n_begun;
	pthread_mutex_unlock(&scene.lock);
	return n;
}

static void wait_until_begun(int n)
{
	while (n_begun() < n)
		sched_yield();
}

/* Stops, and checks that the values are as they were. */
static void end_scene(heddle_runtime *rt)
{
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_stop(rt));
	for (int i = 0; i < N; i++)
		for (int k = 0; k < ELEMENTS; k++)
			assert_true(values[i][k] == i);
	assert_int_equal(scene.n_host, 0);
}

/* --- Several copies under way ------------------------------------------------------------------------------------- */

/* All that a task waits for is put on the stream at once, though no copy ends; prefetches wait for their turn. */
static void awaited_copies_are_under_way_together(void **state)
{
	(void)state;
	heddle_runtime *rt = start_scene(1);
	register_data(rt);
	heddle_codelet *reader = heddle_codelet_new(rt, .name = "reader", .emulated = nothing);
	int before = n_begun();
	open_gate(before);
	for (int i = 4; i < 8; i++)
		assert_ok(heddle_prefetch(data[i], 1));
	wait_until_begun(before + 1);
	assert_ok(heddle_submit(rt, heddle_call(reader), heddle_r(data[0]), heddle_r(data[1]), heddle_r(data[2]),
	                        heddle_on(1)));
	wait_until_begun(before + 4);
	assert_ok(heddle_selfcheck(rt));
	assert_int_equal(n_begun(), before + 4);
	for (int i = 1; i < 4; i++)
		assert_ptr_equal(scene.copies[before + i].what.from.base, values[i - 1]);
	open_gate(MAX_COPIES);
	assert_ok(heddle_wait_all(rt));
	wait_until_begun(before + 7);
	end_scene(rt);
}

/* The thread that copies waits for the first copy, and leaves the second, a prefetch, for later. Then a task waits for
 * the second: it is put on the stream at once, too. */
static void prefetch_that_becomes_awaited_is_under_way_at_once(void **state)
{
	(void)state;
	heddle_runtime *rt = start_scene(1);
	register_data(rt);
	heddle_codelet *reader = heddle_codelet_new(rt, .name = "reader", .emulated = nothing);
	int before = n_begun();
	open_gate(before);
	for (int i = 4; i < 6; i++)
		assert_ok(heddle_prefetch(data[i], 1));
	wait_until_begun(before + 1);
	assert_ok(heddle_submit(rt, heddle_call(reader), heddle_r(data[5]), heddle_on(1)));
	wait_until_begun(before + 2);
	assert_ptr_equal(scene.copies[before + 1].what.from.base, values[5]);
	open_gate(MAX_COPIES);
	assert_ok(heddle_wait_all(rt));
	end_scene(rt);
}

/* The second of three copies that are under way together fails: only its task does, with the driver's words. */
static void copy_that_fails_among_others_fails_its_task_alone(void **state)
{
	(void)state;
	for (int tells = 0; tells <= 1; tells++) {
		heddle_runtime *rt = start_scene(tells);
		register_data(rt);
		heddle_codelet *reader = heddle_codelet_new(rt, .name = "reader", .emulated = bump);
		heddle_task *t[3];
		int before = n_begun();
		open_gate(before);
		scene.failing = before + 2;
		for (int i = 0; i < 3; i++)
			assert_ok(heddle_submit(rt, heddle_call(reader), heddle_rw(data[i]), heddle_on(1),
			                        heddle_out(&t[i])));
		open_gate(MAX_COPIES);
		for (int i = 0; i < 3; i++) {
			int status = heddle_task_wait(t[i]);
			assert_int_equal(status, i == 1 ? HEDDLE_E_IO : 0);
			if (status)
				assert_says("the bus caught fire");
			heddle_task_release(t[i]);
		}
		assert_int_equal(heddle_wait_all(rt), HEDDLE_E_IO);
		scene.failing = 0;
		heddle_stop(rt);
		assert_true(values[0][1] == 1 && values[1][1] == 1 && values[2][1] == 3);
	}
}

/* A sparse matrix has three arrays. It ends when the last has. */
static void all_arrays_of_a_datum_have_come_before_its_task_runs(void **state)
{
	(void)state;
	for (int tells = 0; tells <= 1; tells++) {
		heddle_runtime *rt = start_scene(tells);
		double x[3] = {1, 2, 3};
		uint32_t columns[3] = {0, 1, 0}, row_start[3] = {0, 2, 3};
		heddle_data *d;
		register_data(rt);
		heddle_codelet *writer = heddle_codelet_new(rt, .name = "writer", .emulated = nothing);
		int before = n_begun();
		assert_ok(heddle_csr(rt, 2, 3, x, columns, row_start, sizeof x[0], &d));
		assert_ok(heddle_submit(rt, heddle_call(writer), heddle_rw(d), heddle_on(1)));
		assert_ok(heddle_wait_all(rt));
		assert_int_equal(n_begun(), before + 3);
		assert_ok(heddle_unregister(d));
		assert_int_equal(n_begun(), before + 6);
		end_scene(rt);
	}
}

/* --- Direct copies ------------------------------------------------------------------------------------------------ */

/* The driver can make them, or refuses: then data go through main memory. */
static void copies_between_devices_are_direct_if_the_driver_can(void **state)
{
	(void)state;
	for (int refuses = 0; refuses <= 1; refuses++) {
		scene.refuses = refuses;
		heddle_runtime *rt = start_scene(1);
		register_data(rt);
		heddle_codelet *bumps = heddle_codelet_new(rt, .name = "bumps", .emulated = bump);
		int before = n_begun();
		assert_int_equal(scene.n_asked, 1); /* the second device, about the only link */
		assert_ok(heddle_submit(rt, heddle_call(bumps), heddle_rw(data[3]), heddle_on(1)));
		assert_ok(heddle_submit(rt, heddle_call(bumps), heddle_rw(data[3]), heddle_on(2)));
		assert_ok(heddle_wait_all(rt));
		assert_int_equal(scene.n_direct, refuses ? 0 : 1);
		assert_int_equal(n_begun() - before, refuses ? 3 : 2);
		assert_ok(heddle_unregister(data[3]));
		assert_true(values[3][7] == 5);
		values[3][7] = 3;
		for (int k = 0; k < ELEMENTS; k++)
			values[3][k] = 3;
		end_scene(rt);
	}
	scene.refuses = 0;
}

/* --- Main memory of the driver ------------------------------------------------------------------------------------ */

/* Temporaries that go from one device to the other through main memory. The driver has room for all, or not for the
 * first two. */
static void temporaries_lie_in_the_memory_of_the_driver(void **state)
{
	(void)state;
	for (int fails = 0; fails <= 2; fails += 2) {
		scene.refuses = 1;
		heddle_runtime *rt = start_scene(1);
		heddle_codelet *fill = heddle_codelet_new(rt, .name = "fill", .emulated = write_ones);
		heddle_codelet *bumps = heddle_codelet_new(rt, .name = "bumps", .emulated = bump);
		double sum = 0;
		scene.host_fails = fails;
		assert_int_equal(scene.n_host, 0);
		for (int i = 0; i < 4; i++) {
			assert_ok(heddle_vector(rt, NULL, ELEMENTS, sizeof(double), &data[i]));
			assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(data[i]), heddle_on(1)));
			assert_ok(heddle_submit(rt, heddle_call(bumps), heddle_rw(data[i]), heddle_on(2)));
			assert_ok(heddle_wait_all(rt));
			assert_ok(heddle_acquire(data[i], HEDDLE_R));
			sum += ((const double *)heddle_data_ptr(data[i]))[ELEMENTS - 1];
			assert_int_equal((uintptr_t)heddle_data_ptr(data[i]) % HD_CACHE_LINE, 0);
			assert_ok(heddle_release(data[i]));
		}
		assert_true(sum == 8);
		assert_int_equal(scene.n_host, 4 - fails);
		for (int i = 0; i < 4; i++)
			assert_ok(heddle_unregister(data[i]));
		assert_in_range(scene.n_host, 0, 2); /* the allocator may keep 64 KiB for the next temporaries */
		assert_ok(heddle_stop(rt));
		assert_int_equal(scene.n_host, 0);
		scene.refuses = 0;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(awaited_copies_are_under_way_together),
	    cmocka_unit_test(prefetch_that_becomes_awaited_is_under_way_at_once),
	    cmocka_unit_test(copy_that_fails_among_others_fails_its_task_alone),
	    cmocka_unit_test(all_arrays_of_a_datum_have_come_before_its_task_runs),
	    cmocka_unit_test(copies_between_devices_are_direct_if_the_driver_can),
	    cmocka_unit_test(temporaries_lie_in_the_memory_of_the_driver),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
