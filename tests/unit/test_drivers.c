/* What include/heddle/driver.h promises to a driver: which thread opens a device, runs its kernels and closes it, and
 * what becomes of an error. The drivers of this program note who calls them and hand the call on; they stand where the
 * library would find its own. */
#include <math.h>
#include <pthread.h>
#include "program.h"
#include "internals.h"
#include "driver/driver.h"

enum { MOST = 8 };

struct device {
	unsigned worker;
	const struct heddle_driver *real;
	void *inside;
	pthread_t opened, launched, closed;
	int n_opened, n_launched, n_closed, n_queried, n_notified, n_streams;
};
static struct device devices[MOST]; /* by worker; each only its worker's thread, until the runtime has stopped */
static int refused;                 /* 1 + the worker whose device cannot be opened; 0: none */
static int asynchronous;            /* kernels end this many queries after their launch, with `ends_with` */
static int ends_with;
static int tells; /* and their end is told, as soon as that is asked for */

static int watch_open(const struct heddle_platform *platform, unsigned worker, void **device)
{
	struct device *d = &devices[worker];
	const char *kind = platform->classes[platform->workers[worker].class_id].kind;
	if (refused == (int)worker + 1)
		return heddle_error(HEDDLE_E_UNSUPPORTED, "device %u has gone home", worker);
	d->worker = worker;
	d->real = strcmp(kind, "cpu") ? &hd_driver_emulated : &hd_driver_cpu;
	d->opened = pthread_self();
	d->n_opened++;
	*device = d;
	return d->real->open(platform, worker, &d->inside);
}

static void watch_close(void *device)
{
	struct device *d = device;
	d->closed = pthread_self();
	d->n_closed++;
	d->real->close(d->inside);
}

static int watch_alloc(void *device, size_t size, void **out)
{
	struct device *d = device;
	return d->real->alloc(d->inside, size, out);
}

static void watch_free(void *device, void *ptr)
{
	struct device *d = device;
	d->real->free(d->inside, ptr);
}

static int watch_open_stream(void *device, enum heddle_stream_use use, void **stream)
{
	struct device *d = device;
	assert_true(pthread_equal(d->opened, pthread_self()));
	d->n_streams++;
	return d->real->open_stream(d->inside, use, stream);
}

static void watch_close_stream(void *device, void *stream)
{
	struct device *d = device;
	assert_true(pthread_equal(d->opened, pthread_self()));
	d->n_streams--;
	d->real->close_stream(d->inside, stream);
}

static int watch_copy(void *device, void *stream, const struct heddle_copy *copy, void **event)
{
	struct device *d = device;
	return d->real->copy(d->inside, stream, copy, event);
}

static int watch_launch(void *device, void *stream, heddle_kernel kernel, heddle_context *context, void **event)
{
	struct device *d = device;
	d->launched = pthread_self();
	d->n_launched++;
	assert_ptr_equal(heddle_stream(context), stream);
	if (!asynchronous || !d->real->open_stream)
		return d->real->launch(d->inside, stream, kernel, context, event);
	*event = &d->n_queried;
	return HEDDLE_PENDING;
}

static int watch_query(void *device, void *event)
{
	struct device *d = device;
	if (!asynchronous)
		return d->real->query(d->inside, event);
	if (event != &d->n_queried)
		return HEDDLE_E_INVALID;
	if (++d->n_queried < asynchronous)
		return HEDDLE_PENDING;
	return ends_with ? heddle_error(ends_with, "device %u has burnt down", d->worker) : 0;
}

static int watch_wait(void *device, void *event)
{
	struct device *d = device;
	return d->real->wait(d->inside, event);
}

static int watch_notify(void *device, void *stream, void *event, void (*ended)(void *arg), void *arg)
{
	struct device *d = device;
	if (!asynchronous)
		return d->real->notify(d->inside, stream, event, ended, arg);
	d->n_notified++;
	if (!tells)
		return HEDDLE_E_UNSUPPORTED;
	d->n_queried = asynchronous;
	ended(arg);
	return 0;
}

static const struct heddle_driver watching_cpu = {
    .abi = HEDDLE_DRIVER_ABI,
    .kind = "cpu",
    .open = watch_open,
    .close = watch_close,
    .alloc = watch_alloc,
    .free = watch_free,
    .copy = watch_copy,
    .launch = watch_launch,
};

static const struct heddle_driver watching_emulated = {
    .abi = HEDDLE_DRIVER_ABI,
    .kind = "emulated",
    .open = watch_open,
    .close = watch_close,
    .open_stream = watch_open_stream,
    .close_stream = watch_close_stream,
    .alloc = watch_alloc,
    .free = watch_free,
    .copy = watch_copy,
    .launch = watch_launch,
    .query = watch_query,
    .wait = watch_wait,
    .notify = watch_notify,
};

const struct heddle_driver *hd_driver_find(const char *kind)
{
	return strcmp(kind, "cpu") ? &watching_emulated : &watching_cpu;
}

const char *hd_driver_names(void)
{
	return "any";
}

/* --- Runs --------------------------------------------------------------------------------------------------------- */

static struct heddle_config accelerated(void)
{
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.n_emulated = 2;
	memset(devices, 0, sizeof devices);
	refused = asynchronous = ends_with = tells = 0;
	return config;
}

/* A task on each of the three workers, on a datum that travels. */
static void use_all(heddle_runtime *rt)
{
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "increment", .cpu = increment);
	heddle_data *d;
	long x = 0;
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	for (unsigned w = 0; w < 3; w++)
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d), heddle_on(w)));
	assert_ok(heddle_unregister(d));
	assert_int_equal(x, 3);
}

static void device_lives_in_the_thread_of_its_worker(void **state)
{
	(void)state;
	struct heddle_config config = accelerated();
	heddle_runtime *rt = start_with(&config);
	use_all(rt);
	assert_ok(heddle_stop(rt));
	for (unsigned w = 0; w < 3; w++) {
		const struct device *d = &devices[w];
		assert_int_equal(d->n_opened, 1);
		assert_int_equal(d->n_launched, 1);
		assert_int_equal(d->n_closed, 1);
		assert_int_equal(d->n_streams, 0);
		assert_true(pthread_equal(d->opened, d->launched));
		assert_true(pthread_equal(d->opened, d->closed));
		assert_false(pthread_equal(d->opened, pthread_self()));
	}
	assert_false(pthread_equal(devices[1].opened, devices[2].opened));
}

static void caller_that_works_is_the_thread_of_worker_0(void **state)
{
	(void)state;
	struct heddle_config config = accelerated();
	config.caller_works = 1;
	heddle_runtime *rt = start_with(&config);
	use_all(rt);
	assert_ok(heddle_stop(rt));
	assert_true(pthread_equal(devices[0].opened, pthread_self()));
	assert_true(pthread_equal(devices[0].launched, pthread_self()));
	assert_true(pthread_equal(devices[0].closed, pthread_self()));
	for (unsigned w = 1; w < 3; w++) {
		assert_true(pthread_equal(devices[w].opened, devices[w].launched));
		assert_true(pthread_equal(devices[w].opened, devices[w].closed));
	}
}

/* What has been opened is closed again, and the sentence of the worker's thread is the caller's. */
static void device_that_cannot_be_opened_stops_the_start(void **state)
{
	(void)state;
	for (int caller_works = 0; caller_works < 2; caller_works++)
		for (int worker = 0; worker < 3; worker++) {
			struct heddle_config config = accelerated();
			heddle_runtime *rt;
			config.caller_works = caller_works;
			refused = worker + 1;
			assert_int_equal(heddle_start(&config, &rt), HEDDLE_E_UNSUPPORTED);
			assert_says("has gone home");
			for (int w = 0; w < 3; w++) {
				assert_int_equal(devices[w].n_closed, devices[w].n_opened);
				assert_int_equal(devices[w].n_streams, 0);
			}
		}
}

/* A kernel that was launched is asked for until it has ended, by the thread of its worker; it may fail then. */
static void kernel_may_end_after_its_launch(void **state)
{
	(void)state;
	struct heddle_config config = accelerated();
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "later", .cpu = nothing);
	asynchronous = 100;
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_on(1)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(devices[1].n_queried, 100);
	ends_with = HEDDLE_E_IO;
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_on(2)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_says("later");
	assert_says("device 2 has burnt down");
	assert_int_equal(devices[2].n_queried, 100);
	assert_ok(heddle_stop(rt));
}

/* How often the driver is asked to tell the end of a kernel that ends after so many queries, and that is known to take
 * so long. */
static int notices(heddle_runtime *rt, heddle_codelet *codelet, int queries, double typical_us)
{
	devices[1].n_queried = devices[1].n_notified = 0;
	asynchronous = queries;
	codelet->typical_us = typical_us; /* not as it was measured: a busy machine takes longer */
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_on(1)));
	assert_ok(heddle_wait_all(rt));
	return devices[1].n_notified;
}

/* To be told costs more than a short kernel takes. Long ones, and those that turn out to be, do not keep the thread
 * busy. */
static void end_of_short_kernels_is_asked_for_and_not_told(void **state)
{
	(void)state;
	struct heddle_config config = accelerated();
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "kernel", .cpu = nothing);
	tells = 1;
	assert_int_equal(notices(rt, codelet, 20, HUGE_VAL), 1); /* its time is not known */
	assert_int_equal(notices(rt, codelet, 20, 1), 0);
	assert_int_equal(notices(rt, codelet, 20, 1e5), 1);
	assert_int_equal(notices(rt, codelet, 1000000, 1), 1);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(device_lives_in_the_thread_of_its_worker),
	    cmocka_unit_test(caller_that_works_is_the_thread_of_worker_0),
	    cmocka_unit_test(device_that_cannot_be_opened_stops_the_start),
	    cmocka_unit_test(kernel_may_end_after_its_launch),
	    cmocka_unit_test(end_of_short_kernels_is_asked_for_and_not_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
