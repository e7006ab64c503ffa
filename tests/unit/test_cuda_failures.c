/* Every function of CUDA's that the driver calls is made to fail, once, in a program that uses all of them: then either
 * everything is right all the same, or there is an error that names the call; nothing is left over, and nothing hangs.
 * Only on the stand-in for NVIDIA's driver, which can be told what to fail. */
#include <stdio.h>
#include <unistd.h>
#include "../cuda/devices.h"
#include "driver/cuda/calls.h"

enum { TILE = 24, TILES = 4, LD = TILE * TILES, HANG_S = 60 };

/* --- The program -------------------------------------------------------------------------------------------------- */

/* The first thing that went wrong: its status and sentence. */
struct outcome {
	int status;
	char sentence[1024];
};

static int note(struct outcome *o, int status)
{
	if (status && !o->status) {
		o->status = status;
		snprintf(o->sentence, sizeof o->sentence, "%s", heddle_last_error());
	}
	return status;
}

static void destroy_nothing(void *pointer)
{
	(void)pointer;
}

static void fulfil(void *arg, int result)
{
	(void)result; /* the runtime finds out by itself */
	heddle_fulfill(arg, 0);
}

/* A = A + a * B, after work in memory of the stream's own; the task ends by an event. */
static int use_everything(heddle_context *c)
{
	static int key;
	struct CUfunc_st *sum;
	int n = 6500;
	void *scratch = heddle_cuda_scratch(c, 64), **slot = heddle_cuda_slot(c, &key, destroy_nothing);
	if (!scratch || !slot)
		return HEDDLE_E_MEMORY;
	*slot = &key;
	int status = heddle_cuda_function(c, &test_image, "test_sum", &sum);
	const struct heddle_cuda_grid grid = {{1}, {32}, 8 * (size_t)n};
	if (!status)
		status = heddle_cuda_launch(c, sum, &grid, (void *[]){&n, &scratch});
	if (!status)
		status = cuda_matrices(c);
	heddle_event *event = status ? NULL : heddle_detach(c);
	if (!event)
		return status ? status : -1;
	status = heddle_cuda_then(c, fulfil, event);
	if (status)
		heddle_fulfill(event, 0); /* what is returned counts */
	return status;
}

/* Direct links both ways between the devices, so that they copy from each other. */
static void link_devices(struct heddle_platform *p)
{
	unsigned a = p->workers[p->n_workers - 2].node, b = p->workers[p->n_workers - 1].node;
	if (heddle_platform_link(p, a, b))
		return;
	p->links = realloc(p->links, (p->n_links + 2) * sizeof *p->links);
	p->links[p->n_links++] = (struct heddle_link){.from = a, .to = b, .bandwidth = HEDDLE_MEMORY_BANDWIDTH};
	p->links[p->n_links++] = (struct heddle_link){.from = b, .to = a, .bandwidth = HEDDLE_MEMORY_BANDWIDTH};
}

static heddle_runtime *start_program(struct outcome *o)
{
	struct heddle_config config = small_config();
	struct heddle_platform *p;
	heddle_runtime *rt = NULL;
	config.n_cpu = 1;
	config.n_cuda = 2;
	config.cuda_memory = 3 * TILE * TILE * sizeof(long); /* tiles must leave again */
	if (note(o, heddle_platform_configured(&config, &p)))
		return NULL;
	link_devices(p);
	if (note(o, heddle_start_on(&config, p, 0, &rt)))
		rt = NULL;
	heddle_platform_free(p);
	return rt;
}

/* Each task reads what one on another worker has written. A task of which another worker has a kernel, too, is not
 * lost with its device. */
static void submit_all(heddle_runtime *rt, heddle_codelet *c, heddle_data *whole, struct outcome *o)
{
	long two = 2;
	for (size_t i = 0; i < 3 * TILES * TILES; i++) {
		size_t to = i * 5 % (TILES * TILES), from = (to + 5) % (TILES * TILES);
		unsigned on = i % 4 < 2 ? 1 + i % 2 : 0;
		if (on)
			note(o, heddle_submit(rt, heddle_call(c), heddle_rw(heddle_child(whole, to)),
			                      heddle_r(heddle_child(whole, from)), heddle_value(two), heddle_on(on)));
		else
			note(o, heddle_submit(rt, heddle_call(c), heddle_rw(heddle_child(whole, to)),
			                      heddle_r(heddle_child(whole, from)), heddle_value(two)));
	}
}

static void assert_values(const long *A)
{
	long expected[TILES * TILES];
	for (size_t t = 0; t < TILES * TILES; t++)
		expected[t] = 1;
	for (size_t i = 0; i < 3 * TILES * TILES; i++) {
		size_t to = i * 5 % (TILES * TILES);
		expected[to] += 2 * expected[(to + 5) % (TILES * TILES)];
	}
	for (size_t e = 0; e < LD * LD; e++)
		assert_int_equal(A[e], expected[e % LD / TILE + e / LD / TILE * TILES]);
}

static void run_tasks(heddle_runtime *rt, long *A, struct outcome *o)
{
	const struct heddle_filter tiles = {.kind = HEDDLE_SPLIT_TILES, .nx = TILES, .ny = TILES};
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = add_value, .cuda = cuda_add);
	heddle_data *x;
	long value = 0, one = 1;
	heddle_codelet *c = heddle_codelet_new(rt, .name = "m", .cpu = cpu_matrices, .cuda = use_everything);
	heddle_data *whole;
	assert_non_null(c);
	for (size_t e = 0; e < LD * LD; e++)
		A[e] = 1;
	assert_ok(heddle_matrix(rt, A, LD, LD, LD, sizeof *A, &whole));
	assert_ok(heddle_partition(whole, &tiles, NULL));
	assert_ok(heddle_variable(rt, &value, sizeof value, &x));
	submit_all(rt, c, whole, o);
	for (unsigned i = 0; i < 6; i++)
		note(o, heddle_submit(rt, heddle_call(add), heddle_rw(x), heddle_value(one), heddle_on(i % 3)));
	assert_ok(heddle_unpartition(whole));
	note(o, heddle_wait_all(rt));
	note(o, heddle_check(rt));
	note(o, heddle_unregister(whole));
	note(o, heddle_unregister(x));
	if (!o->status)
		assert_int_equal(value, 6);
}

static struct outcome run_program(void)
{
	struct outcome o = {0};
	long *A = malloc(LD * LD * sizeof *A);
	alarm(HANG_S);
	heddle_runtime *rt = start_program(&o);
	if (rt) {
		run_tasks(rt, A, &o);
		note(&o, heddle_stop(rt));
	}
	alarm(0);
	if (!o.status)
		assert_values(A);
	free(A);
	return o;
}

/* --- Failures ----------------------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
} calls[] = {
#define NAME(name, optional) {#name},
    HD_CUDA_CALLS(NAME)
#undef NAME
};
enum { N_CALLS = sizeof calls / sizeof *calls };

/* Its name without the version: as the stand-in, and NVIDIA's documents, call it. */
static const char *plain_name(unsigned i, char name[64])
{
	snprintf(name, 64, "%s", calls[i].name);
	char *version = strstr(name, "_v2");
	if (version)
		*version = '\0';
	return name;
}

/* Whether the sentence names the call. Memory of which there is not enough is the core's to report; a device that has
 * failed fails in other calls, too. */
static int names_call(const char *sentence, const char *call, int code)
{
	return strstr(sentence, call) || strstr(sentence, "no memory for a copy") ||
	       (code == 719 && strstr(sentence, "CUDA_ERROR_LAUNCH_FAILED"));
}

static void assert_fails_well(const char *call, unsigned nth, int code)
{
	unsigned before = standin()->leaks(NULL);
	standin()->reset();
	let_fail(call, nth, code);
	struct outcome o = run_program();
	unsigned left = standin()->leaks(NULL) - before;
	if (o.status && !names_call(o.sentence, call, code))
		fail_msg("call %u of %s fails with %d: the message does not say so: %s", nth, call, code, o.sentence);
	/* without its context nothing can be destroyed, but by CUDA, with the context */
	if (left && strcmp(call, "cuCtxPushCurrent") != 0)
		fail_msg("call %u of %s fails with %d: %u things are left over", nth, call, code, left);
}

/* CUDA is initialised only once, but again when that has failed. */
static void cuda_cannot_be_initialised(void **state)
{
	(void)state;
	let_fail("cuInit", 1, 100);
	struct outcome o = run_program();
	assert_int_equal(o.status, HEDDLE_E_UNSUPPORTED);
	if (!strstr(o.sentence, "cuInit: CUDA_ERROR_NO_DEVICE (100)") || !strstr(o.sentence, "nvidia-smi"))
		fail_msg("%s", o.sentence);
}

/* How often each is called when nothing fails. */
static unsigned counts[N_CALLS];

static void nothing_fails(void **state)
{
	(void)state;
	char name[64];
	standin()->reset();
	struct outcome o = run_program();
	assert_string_equal(o.sentence, "");
	for (unsigned i = 0; i < N_CALLS; i++)
		counts[i] = standin()->calls(plain_name(i, name));
	assert_nothing_left();
}

/* One in the middle and, with `ends`, the first and the last one. */
static void every_call_fails(int code, int ends)
{
	char name[64];
	for (unsigned i = 0; i < N_CALLS; i++) {
		unsigned n = counts[i], some[] = {ends ? 1 : 0, (n + 1) / 2, ends ? n : 0}, done = 0;
		plain_name(i, name);
		for (unsigned k = 0; k < 3; k++) {
			if (some[k] <= done || some[k] > n)
				continue;
			done = some[k];
			assert_fails_well(name, done, code);
		}
	}
}

static void every_call_fails_as_if_it_were_wrong(void **state)
{
	(void)state;
	every_call_fails(1, 1);
}

static void every_call_fails_for_lack_of_memory(void **state)
{
	(void)state;
	every_call_fails(2, 0);
}

static void every_call_finds_that_the_device_has_failed(void **state)
{
	(void)state;
	every_call_fails(719, 0);
}

/* While it runs, not when it is put on the stream. */
static void work_on_the_stream_fails(void **state)
{
	(void)state;
	for (unsigned nth = 1; nth < 30; nth += 4) {
		standin()->reset();
		let_fail(nth % 8 == 1 ? "kernel" : "copy", nth, 700);
		unsigned before = standin()->leaks(NULL);
		struct outcome o = run_program();
		if (o.status && !strstr(o.sentence, "CUDA_ERROR_"))
			fail_msg("%s", o.sentence);
		assert_int_equal(standin()->leaks(NULL), before);
	}
}

/* But for what is for programs of other kinds; test_cuda_copies.c calls that. */
static void the_program_uses_almost_everything(void **state)
{
	(void)state;
	static const char *const not_there[] = {
	    "cuInit",          "cuGetErrorName",     "cuGetErrorString", "cuEventSynchronize", "cuMemAlloc",
	    "cuMemFree",       "cuMemHostAlloc",     "cuMemFreeHost",    "cuMemHostRegister",  "cuMemHostUnregister",
	    "cuMemcpy3DAsync", "cuMemcpy3DPeerAsync"};
	char name[64];
	for (unsigned i = 0; i < N_CALLS; i++) {
		int expected = 1;
		plain_name(i, name);
		for (size_t k = 0; k < sizeof not_there / sizeof *not_there; k++)
			expected &= strcmp(name, not_there[k]) != 0;
		if (expected && !counts[i])
			fail_msg("%s is never called", name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(cuda_cannot_be_initialised),
	    cmocka_unit_test(nothing_fails),
	    cmocka_unit_test(the_program_uses_almost_everything),
	    cmocka_unit_test(every_call_fails_as_if_it_were_wrong),
	    cmocka_unit_test(every_call_fails_for_lack_of_memory),
	    cmocka_unit_test(every_call_finds_that_the_device_has_failed),
	    cmocka_unit_test(work_on_the_stream_fails),
	};
	need_standin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
