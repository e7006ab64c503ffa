/* Drivers that fail. The drivers of this program stand where the library would find its own, and pass calls on to the
 * emulated accelerator; one call of one function fails. Whatever it is, the runtime must say so or do without, must not
 * hang, and must be usable afterwards. The same program also runs on drivers that offer less: without `notify`, and
 * without streams. */
#include <stdio.h>
#include "../sanitized.h"
#include "program.h"
#include "internals.h"
#include "driver/driver.h"

/* The functions that may fail. */
enum function {
	OPEN,
	OPEN_STREAM,
	ALLOC,
	ALLOC_HOST,
	PIN,
	COPY,
	DIRECT_COPY,
	LAUNCH,
	QUERY, /* of a kernel */
	QUERY_COPY,
	WAIT,
	NOTIFY,
	N_FUNCTIONS
};
static const char *const names[] = {"open",        "open_stream", "alloc", "alloc_host",      "pin",  "copy",
                                    "direct copy", "launch",      "query", "query of a copy", "wait", "notify"};

static atomic_int calls[N_FUNCTIONS]; /* since the plan was made */
static int planned;                   /* a call of this function fails ... */
static atomic_int planned_call;       /* ... this one, counted from 1; 0: none. It is changed while a runtime is open */
static atomic_int has_failed;
static atomic_int n_host, n_pinned;             /* what alloc_host and pin have given, and nobody has given back */
static const struct heddle_driver *accelerator; /* what the library finds for accelerators */

static int fails(enum function f)
{
	int call = ++calls[f];
	if ((int)f != planned || call != planned_call)
		return 0;
	has_failed = 1;
	return heddle_error(f == ALLOC || f == ALLOC_HOST ? HEDDLE_E_MEMORY : HEDDLE_E_IO, "call %d of %s has failed",
	                    call, names[f]);
}

static int failing_open(const struct heddle_platform *platform, unsigned worker, void **device)
{
	int status = fails(OPEN);
	return status ? status : hd_driver_emulated.open(platform, worker, device);
}

static void failing_close(void *device)
{
	hd_driver_emulated.close(device);
}

static int failing_open_stream(void *device, enum heddle_stream_use use, void **stream)
{
	int status = fails(OPEN_STREAM);
	return status ? status : hd_driver_emulated.open_stream(device, use, stream);
}

static void failing_close_stream(void *device, void *stream)
{
	hd_driver_emulated.close_stream(device, stream);
}

static int failing_alloc(void *device, size_t size, void **out)
{
	int status = fails(ALLOC);
	return status ? status : hd_driver_emulated.alloc(device, size, out);
}

static void failing_free(void *device, void *ptr)
{
	hd_driver_emulated.free(device, ptr);
}

static int failing_alloc_host(void *device, size_t size, void **out)
{
	int status = fails(ALLOC_HOST);
	if (!status)
		status = hd_driver_emulated.alloc_host(device, size, out);
	n_host += !status;
	return status;
}

static void failing_free_host(void *device, void *ptr)
{
	n_host--;
	hd_driver_emulated.free_host(device, ptr);
}

static int failing_pin(void *device, void *ptr, size_t size)
{
	(void)device;
	(void)ptr;
	(void)size;
	int status = fails(PIN);
	n_pinned += !status;
	return status;
}

static void failing_unpin(void *device, void *ptr)
{
	(void)device;
	(void)ptr;
	n_pinned--;
}

static int copy_fails(const struct heddle_copy *copy)
{
	return fails(copy->from_node && copy->to_node ? DIRECT_COPY : COPY);
}

static int failing_copy(void *device, void *stream, const struct heddle_copy *copy, void **event)
{
	int status = copy_fails(copy);
	return status ? status : hd_driver_emulated.copy(device, stream, copy, event);
}

/* The runtime gets the address of a kernel's event plus one, and the address of a copy's event as it is: so the event
 * tells what is asked about. */
static int is_of_kernel(const void *event)
{
	return (uintptr_t)event & 1;
}

static void *emulated_event(void *event)
{
	return (char *)event - is_of_kernel(event);
}

static int failing_launch(void *device, void *stream, heddle_kernel kernel, heddle_context *context, void **event)
{
	int status = fails(LAUNCH);
	status = status ? status : hd_driver_emulated.launch(device, stream, kernel, context, event);
	if (status == HEDDLE_PENDING)
		*event = (char *)*event + 1;
	return status;
}

static int failing_query(void *device, void *event)
{
	int status = fails(is_of_kernel(event) ? QUERY : QUERY_COPY);
	if (!status)
		return hd_driver_emulated.query(device, emulated_event(event));
	hd_driver_emulated.wait(device, emulated_event(event)); /* nothing is left of an operation that has failed */
	return status;
}

static int failing_wait(void *device, void *event)
{
	int ended = hd_driver_emulated.wait(device, emulated_event(event)), status = fails(WAIT);
	return status ? status : ended;
}

static int failing_notify(void *device, void *stream, void *event, void (*ended)(void *arg), void *arg)
{
	int status = fails(NOTIFY);
	return status ? status : hd_driver_emulated.notify(device, stream, emulated_event(event), ended, arg);
}

static int blocking_copy(void *device, void *stream, const struct heddle_copy *copy, void **event)
{
	(void)device;
	(void)stream;
	(void)event;
	int status = copy_fails(copy);
	return status ? status : hd_copy_host(copy);
}

static int blocking_launch(void *device, void *stream, heddle_kernel kernel, heddle_context *context, void **event)
{
	(void)device;
	(void)stream;
	(void)event;
	int status = fails(LAUNCH);
	return status ? status : kernel(context);
}

static int copies_directly(void *device, unsigned from_node, unsigned to_node)
{
	return hd_driver_emulated.can_copy_directly(device, from_node, to_node);
}

#define MEMORY                                                                                      \
	.abi = HEDDLE_DRIVER_ABI, .kind = "emulated", .open = failing_open, .close = failing_close, \
	.alloc = failing_alloc, .free = failing_free
#define STREAMS                                                                                         \
	.open_stream = failing_open_stream, .close_stream = failing_close_stream, .copy = failing_copy, \
	.launch = failing_launch, .query = failing_query, .wait = failing_wait

#define HOST \
	.alloc_host = failing_alloc_host, .free_host = failing_free_host, .pin = failing_pin, .unpin = failing_unpin

static const struct heddle_driver with_all = {MEMORY, HOST, STREAMS, .notify = failing_notify};
static const struct heddle_driver without_notify = {MEMORY, STREAMS};
static const struct heddle_driver without_streams = {MEMORY, .copy = blocking_copy, .launch = blocking_launch};
static const struct heddle_driver with_direct_copies = {MEMORY, HOST, STREAMS, .notify = failing_notify,
                                                        .can_copy_directly = copies_directly};
static const struct heddle_driver with_direct_copies_alone = {MEMORY, .copy = blocking_copy, .launch = blocking_launch,
                                                              .can_copy_directly = copies_directly};

const struct heddle_driver *hd_driver_find(const char *kind)
{
	return strcmp(kind, "cpu") ? accelerator : &hd_driver_cpu;
}

const char *hd_driver_names(void)
{
	return "cpu, emulated";
}

/* --- A program ---------------------------------------------------------------------------------------------------- */

enum { ELEMENTS = 64, N_DATA = 6, ROUNDS = 3 };

static int add_one(heddle_context *c)
{
	double *x = heddle_ptr(c, 0);
	for (size_t i = 0; i < heddle_extent(c, 0, 0); i++)
		x[i] += 1;
	return 0;
}

static int add_to_sum(heddle_context *c)
{
	double *sum = heddle_ptr(c, 0), *room = heddle_ptr(c, 2);
	const double *x = heddle_ptr(c, 1);
	memcpy(room, x, ELEMENTS * sizeof *room);
	*sum += room[ELEMENTS - 1];
	return 0;
}

static int zero(heddle_context *c)
{
	*(double *)heddle_ptr(c, 0) = 0;
	return 0;
}

static int add(heddle_context *c)
{
	*(double *)heddle_ptr(c, 0) += *(double *)heddle_ptr(c, 1);
	return 0;
}

/* Keeps the first error and its sentence, and counts it as expected only if it has one. */
static void note(int status, int *first, char *words, size_t size)
{
	if (!status || *first)
		return;
	*first = status;
	snprintf(words, size, "%s", heddle_last_error());
}

/* Data that travel between memories that have no room for all of them, one of which the program has no buffer for, a
 * reduction, a scratch buffer. Returns the first error, or 1 if there was none and the result is wrong. */
static int use(heddle_runtime *rt, char *words, size_t size)
{
	double x[N_DATA][ELEMENTS] = {{0}}, sum = 0;
	heddle_data *d[N_DATA], *total, *room, *temporary;
	heddle_codelet *one = heddle_codelet_new(rt, .name = "add_one", .cpu = add_one, .emulated = add_one);
	heddle_codelet *all = heddle_codelet_new(rt, .name = "add_to_sum", .cpu = add_to_sum, .emulated = add_to_sum);
	heddle_codelet *none = heddle_codelet_new(rt, .name = "zero", .cpu = zero, .emulated = zero);
	int first = 0, bad = 0, pinned = !heddle_memory_pin(rt, x, sizeof x);
	assert_ok(heddle_variable(rt, &sum, sizeof sum, &total));
	assert_ok(
	    heddle_data_set_reduction(total, none, heddle_codelet_new(rt, .name = "add", .cpu = add, .emulated = add)));
	assert_ok(heddle_variable(rt, NULL, sizeof(double), &temporary));
	for (unsigned i = 0; i < 3; i++)
		assert_ok(heddle_submit(rt, heddle_call(none), i ? heddle_rw(temporary) : heddle_w(temporary),
		                        heddle_on((i + 1) % 3)));
	assert_ok(heddle_vector(rt, NULL, ELEMENTS, sizeof(double), &room));
	for (int i = 0; i < N_DATA; i++)
		assert_ok(heddle_vector(rt, x[i], ELEMENTS, sizeof(double), &d[i]));
	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned i = 0; i < N_DATA; i++)
			assert_ok(heddle_submit(rt, heddle_call(one), heddle_rw(d[i]), heddle_on((round + i) % 3)));
	for (unsigned i = 0; i < N_DATA; i++)
		assert_ok(heddle_submit(rt, heddle_call(all), heddle_redux(total), heddle_r(d[i]), heddle_scratch(room),
		                        heddle_on(1 + i % 2)));
	note(heddle_wait_all(rt), &first, words, size);
	assert_ok(heddle_selfcheck(rt));
	for (int i = 0; i < N_DATA; i++) {
		note(heddle_unregister(d[i]), &first, words, size);
		bad |= x[i][0] != ROUNDS || x[i][ELEMENTS - 1] != ROUNDS;
	}
	note(heddle_unregister(total), &first, words, size);
	note(heddle_unregister(room), &first, words, size);
	note(heddle_unregister(temporary), &first, words, size);
	note(heddle_wait_all(rt), &first, words, size);
	if (pinned)
		heddle_memory_unpin(rt, x);
	return first ? first : bad || sum != ROUNDS * N_DATA;
}

static void make_plan(int function, int call)
{
	planned = function;
	planned_call = call;
	has_failed = 0;
	memset(calls, 0, sizeof calls);
}

/* A CPU and two accelerators, between which there is a link if their driver can copy directly. */
static int start_machine(heddle_runtime **rt)
{
	static const char direct[] =
	    "version: 1\nname: direct\n"
	    "nodes: [{name: ram}, {name: one, capacity_bytes: 2048}, {name: two, capacity_bytes: 2048}]\n"
	    "classes: [{name: cpu, kind: cpu}, {name: acc, kind: emulated, streams: 2}]\n"
	    "workers:\n- {name: core, class: cpu, node: ram}\n"
	    "- {name: first, class: acc, node: one}\n"
	    "- {name: second, class: acc, node: two}\n"
	    "links:\n- {from: ram, to: one, bandwidth_mbs: 10000}\n"
	    "- {from: one, to: ram, bandwidth_mbs: 10000}\n"
	    "- {from: ram, to: two, bandwidth_mbs: 10000}\n"
	    "- {from: two, to: ram, bandwidth_mbs: 10000}\n"
	    "- {from: one, to: two, bandwidth_mbs: 10000}\n";
	struct heddle_config config = small_config();
	struct heddle_platform *platform;
	config.n_cpu = 1;
	config.n_emulated = 2;
	config.emulated_streams = 2;
	config.emulated_memory = 4 * ELEMENTS * sizeof(double);
	if (!accelerator->can_copy_directly)
		return heddle_start(&config, rt);
	assert_ok(heddle_platform_parse("direct", direct, sizeof direct - 1, &platform));
	assert_int_equal(config.emulated_memory, platform->nodes[1].capacity);
	int status = heddle_start_on(&config, platform, 0, rt);
	heddle_platform_free(platform);
	return status;
}

/* Runs the program with one failing call. Returns whether it has come to that call. */
static int run_with_failure(int function, int call)
{
	char words[1000] = "";
	heddle_runtime *rt;
	make_plan(function, call);
	int status = start_machine(&rt);
	if (status) {
		assert_true(has_failed);
		assert_says("has failed");
		return 1;
	}
	status = use(rt, words, sizeof words);
	if (status && !has_failed)
		fail_msg("nothing failed, and yet %d: %s", status, words);
	if (status == 1)
		fail_msg("call %d of %s failed, nothing was said, and the result is wrong", call, names[function]);
	if (status && function != ALLOC && !strstr(words, "has failed"))
		fail_msg("call %d of %s failed; what was said is \"%s\"", call, names[function], words);
	if (has_failed && (function == LAUNCH || function == QUERY)) /* a copy may turn out not to be needed */
		assert_true(status < 0);
	if (function == NOTIFY || function == ALLOC_HOST || function == PIN)
		assert_ok(status); /* the runtime does without */
	int came_to_it = has_failed;
	planned_call = 0;
	status = use(rt, words, sizeof words);
	if (status)
		fail_msg("after call %d of %s the runtime is not usable: %s", call, names[function], words);
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_stop(rt));
	assert_int_equal(n_host, 0);
	assert_int_equal(n_pinned, 0);
	return came_to_it;
}

/* Below a sanitizer only every third of the later calls of a function, which are of the same kind as those before. */
static void each_call_fails_once(const struct heddle_driver *driver)
{
	accelerator = driver;
	for (int function = 0; function < N_FUNCTIONS; function++) {
		int call = 1;
		while (call <= 40 && run_with_failure(function, call))
			call += SANITIZED && call > 6 ? 3 : 1;
	}
}

static void each_call_of_a_driver_may_fail(void **state)
{
	(void)state;
	each_call_fails_once(&with_all);
	assert_false(run_with_failure(-1, 0));
	for (int function = 0; function < N_FUNCTIONS; function++)
		if (!calls[function] && function != WAIT && function != DIRECT_COPY) /* with `notify` nobody waits */
			fail_msg("%s was never called", names[function]);
}

static void each_call_of_a_driver_that_must_be_asked_may_fail(void **state)
{
	(void)state;
	each_call_fails_once(&without_notify);
}

static void each_call_of_a_driver_without_streams_may_fail(void **state)
{
	(void)state;
	each_call_fails_once(&without_streams);
	assert_int_equal(calls[OPEN_STREAM], 0);
}

/* What one accelerator has and the other needs does not go through main memory. */
static void each_direct_copy_may_fail(void **state)
{
	(void)state;
	const struct heddle_driver *const drivers[] = {&with_direct_copies, &with_direct_copies_alone};
	for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++) {
		accelerator = drivers[i];
		assert_true(run_with_failure(DIRECT_COPY, 1));
		each_call_fails_once(drivers[i]);
	}
}

static void driver_for_another_interface_is_refused(void **state)
{
	(void)state;
	struct heddle_driver old = without_streams;
	old.abi = 1;
	accelerator = &old;
	struct heddle_config config = small_config();
	config.n_emulated = 1;
	heddle_runtime *rt;
	make_plan(-1, 0);
	assert_int_equal(heddle_start(&config, &rt), HEDDLE_E_UNSUPPORTED);
	assert_says("driver of kind emulated");
	assert_says("version 1");
	assert_int_equal(calls[OPEN], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_call_of_a_driver_may_fail),
	    cmocka_unit_test(each_call_of_a_driver_that_must_be_asked_may_fail),
	    cmocka_unit_test(each_call_of_a_driver_without_streams_may_fail),
	    cmocka_unit_test(each_direct_copy_may_fail),
	    cmocka_unit_test(driver_for_another_interface_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
