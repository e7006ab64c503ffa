/* Every function of CUDA's that the driver calls is made to fail, once, in a program that uses all of them: then either
 * everything is right all the same, or there is an error that names the call; nothing is left over, and nothing hangs.
 * What only gives something back, or makes copies faster, does no harm when it fails. Only on the stand-in for NVIDIA's
 * driver, which can be told what to fail. */
#include <stdio.h>
#include <unistd.h>
#include "../cuda/devices.h"
#include "driver/cuda/calls.h"

enum { TILE = 24, TILES = 4, LD = TILE * TILES, HANG_S = 60 };

/* --- The program -------------------------------------------------------------------------------------------------- */

/* The first thing that went wrong: its status and sentence. That memory is not pinned is not wrong, but is said. */
struct outcome {
	int status;
	char sentence[1024], not_pinned[1024];
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

/* Data of other shapes, and where the runtime allocates them. */
struct others {
	long value, *matrix, *block;
	heddle_data *x, *temporary, *of_matrix, *of_block;
};
enum { SIDE = 8, BLOCK_LD = 3, BLOCK = 2 * BLOCK_LD * 2 * BLOCK_LD };

static void create_others(heddle_runtime *rt, struct others *d)
{
	d->value = 0;
	d->matrix = calloc(SIDE * SIDE, sizeof *d->matrix);
	d->block = calloc(BLOCK, sizeof *d->block);
	assert_ok(heddle_variable(rt, &d->value, sizeof d->value, &d->x));
	assert_ok(heddle_vector(rt, NULL, SIDE, sizeof(long), &d->temporary));
	assert_ok(heddle_matrix(rt, d->matrix, SIDE, SIDE, SIDE, sizeof(long), &d->of_matrix));
	assert_ok(heddle_block(rt, d->block, 2, 2, 2, BLOCK_LD, 2 * BLOCK_LD * BLOCK_LD, sizeof(long), &d->of_block));
}

static void add_one(heddle_runtime *rt, heddle_codelet *add, heddle_data *to, unsigned on, struct outcome *o)
{
	long one = 1;
	note(o, heddle_submit(rt, heddle_call(add), heddle_rw(to), heddle_value(one), heddle_on(on)));
}

/* The first element of each is added to by every worker; those of the matrix's tiles by one device, after the other has
 * had the whole, from where they are copied as windows. */
static void submit_others(heddle_runtime *rt, heddle_codelet *add, struct others *d, struct outcome *o)
{
	const struct heddle_filter tiles = {.kind = HEDDLE_SPLIT_TILES, .nx = 2, .ny = 2};
	if (!note(o, heddle_acquire(d->temporary, HEDDLE_W))) {
		memset(heddle_data_ptr(d->temporary), 0, SIDE * sizeof(long));
		heddle_release(d->temporary);
	}
	for (unsigned i = 0; i < 6; i++) {
		add_one(rt, add, d->x, i % 3, o);
		add_one(rt, add, d->temporary, i % 3, o);
		add_one(rt, add, d->of_block, i % 3, o);
	}
	add_one(rt, add, d->of_matrix, 1, o);
	assert_ok(heddle_partition(d->of_matrix, &tiles, NULL));
	for (unsigned i = 0; i < 4; i++)
		add_one(rt, add, heddle_child(d->of_matrix, i), 2, o);
	assert_ok(heddle_unpartition(d->of_matrix));
}

static void end_others(struct others *d, struct outcome *o)
{
	long sum = 0;
	if (!o->status && !note(o, heddle_acquire(d->temporary, HEDDLE_R))) {
		assert_int_equal(*(long *)heddle_data_ptr(d->temporary), 6);
		heddle_release(d->temporary);
	}
	note(o, heddle_unregister(d->x));
	note(o, heddle_unregister(d->temporary));
	note(o, heddle_unregister(d->of_matrix));
	note(o, heddle_unregister(d->of_block));
	for (size_t i = 0; i < SIDE * SIDE; i++)
		sum += d->matrix[i];
	if (!o->status) {
		assert_int_equal(d->value, 6);
		assert_int_equal(d->block[0], 6);
		assert_int_equal(d->matrix[0], 2);
		assert_int_equal(sum, 5);
	}
	free(d->matrix);
	free(d->block);
}

static void run_tasks(heddle_runtime *rt, long *A, struct outcome *o)
{
	const struct heddle_filter tiles = {.kind = HEDDLE_SPLIT_TILES, .nx = TILES, .ny = TILES};
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = add_value, .cuda = cuda_add);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "m", .cpu = cpu_matrices, .cuda = use_everything);
	heddle_data *whole;
	struct others others;
	assert_non_null(c);
	for (size_t e = 0; e < LD * LD; e++)
		A[e] = 1;
	int pinned = !heddle_memory_pin(rt, A, LD * LD * sizeof *A);
	if (!pinned)
		snprintf(o->not_pinned, sizeof o->not_pinned, "%s", heddle_last_error());
	assert_ok(heddle_matrix(rt, A, LD, LD, LD, sizeof *A, &whole));
	assert_ok(heddle_partition(whole, &tiles, NULL));
	create_others(rt, &others);
	submit_all(rt, c, whole, o);
	submit_others(rt, add, &others, o);
	assert_ok(heddle_unpartition(whole));
	note(o, heddle_wait_all(rt));
	note(o, heddle_selfcheck(rt));
	note(o, heddle_unregister(whole));
	end_others(&others, o);
	if (pinned)
		heddle_memory_unpin(rt, A);
}

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

static unsigned number_of(const char *call)
{
	char name[64];
	unsigned i = 0;
	while (strcmp(plain_name(i, name), call) != 0)
		i++;
	return i;
}

/* How often each was called in all runs. */
static unsigned ever[N_CALLS];

static void count_calls(unsigned counts[N_CALLS])
{
	char name[64];
	for (unsigned i = 0; i < N_CALLS; i++)
		counts[i] += standin()->calls(plain_name(i, name));
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
	count_calls(ever);
	if (!o.status)
		assert_values(A);
	free(A);
	return o;
}

/* --- Failures ----------------------------------------------------------------------------------------------------- */

/* Whether the sentence names the call. Memory of which there is not enough is the core's to report; a device that has
 * failed fails in other calls, too. */
static int names_call(const char *sentence, const char *call, int code)
{
	return strstr(sentence, call) || strstr(sentence, "no memory for a copy") ||
	       (code == 719 && strstr(sentence, "CUDA_ERROR_LAUNCH_FAILED"));
}

/* Nothing comes of its failure, unless it says that the device is lost. */
static int is_harmless(const char *call)
{
	static const char *const without_harm[] = {"Destroy", "Free", "Unload", "Release", "Unregister", "cuMemHost"};
	for (size_t i = 0; i < sizeof without_harm / sizeof *without_harm; i++)
		if (strstr(call, without_harm[i]))
			return 1;
	return 0;
}

/* How often each has failed, and in how many of these runs all was well. */
static unsigned failed[N_CALLS];

static void assert_fails_well(unsigned i, unsigned nth, int code, int pools)
{
	char call[64];
	standin()->reset();
	standin()->pools(pools);
	unsigned before = standin()->leaks(NULL);
	let_fail(plain_name(i, call), nth, code);
	struct outcome o = run_program();
	failed[i] += standin()->calls(call) >= nth;
	unsigned left = standin()->leaks(NULL) - before;
	if (o.status && !names_call(o.sentence, call, code))
		fail_msg("call %u of %s fails with %d: the message does not say so: %s", nth, call, code, o.sentence);
	if (o.not_pinned[0] && !names_call(o.not_pinned, call, code))
		fail_msg("call %u of %s fails with %d: memory is not pinned: %s", nth, call, code, o.not_pinned);
	if (o.status && code != 719 && is_harmless(call))
		fail_msg("call %u of %s fails with %d, which should do no harm: %s", nth, call, code, o.sentence);
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
	failed[number_of("cuInit")]++;
	assert_int_equal(o.status, HEDDLE_E_UNSUPPORTED);
	if (!strstr(o.sentence, "cuInit: CUDA_ERROR_NO_DEVICE (100)") || !strstr(o.sentence, "nvidia-smi"))
		fail_msg("%s", o.sentence);
}

/* How often each is called when nothing fails: on devices without pools of memory, and with them. */
static unsigned counts[2][N_CALLS];

static void nothing_fails(void **state)
{
	(void)state;
	for (int pools = 0; pools < 2; pools++) {
		standin()->reset();
		standin()->pools(pools);
		struct outcome o = run_program();
		assert_string_equal(o.sentence, "");
		assert_string_equal(o.not_pinned, "");
		count_calls(counts[pools]);
		assert_nothing_left();
	}
}

/* One in the middle and, with `ends`, the first and the last one; without pools, of those that need none. */
static void every_call_fails(int code, int ends)
{
	for (unsigned i = 0; i < N_CALLS; i++) {
		int pools = counts[1][i] > 0;
		unsigned n = counts[pools][i], some[] = {ends ? 1 : 0, (n + 1) / 2, ends ? n : 0}, done = 0;
		for (unsigned k = 0; k < 3; k++) {
			if (some[k] <= done || some[k] > n)
				continue;
			done = some[k];
			assert_fails_well(i, done, code, pools);
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

/* Two calls that fail, of which the first leads to the second: one of them is named. Without its own words for the
 * error, CUDA's number is told. */
static void two_calls_fail(void **state)
{
	(void)state;
	static const struct {
		const char *first, *second;
	} pairs[] = {
	    {"cuMemcpyHtoDAsync", "cuGetErrorName"},           {"cuLaunchKernel", "cuGetErrorString"},
	    {"cuStreamAddCallback", "cuEventSynchronize"},     {"cuStreamWaitEvent", "cuEventSynchronize"},
	    {"cuLaunchKernel", "cuStreamSynchronize"},         {"cuEventRecord", "cuStreamSynchronize"},
	    {"cuMemcpy2DAsync", "cuCtxPushCurrent"},           {"cuMemPoolSetAttribute", "cuMemPoolDestroy"},
	    {"cuStreamCreateWithPriority", "cuStreamDestroy"}, {"cuMemHostAlloc", "cuMemAllocFromPoolAsync"},
	    {"cuModuleLoadDataEx", "cuEventDestroy"},          {"cuMemHostRegister", "cuMemcpyDtoHAsync"},
	};
	for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
		const char *first = pairs[k].first, *second = pairs[k].second;
		standin()->reset();
		unsigned before = standin()->leaks(NULL);
		let_fail(first, 1, 1);
		let_fail(second, 1, 1);
		struct outcome o = run_program();
		if (o.status && !names_call(o.sentence, first, 1) && !names_call(o.sentence, second, 1))
			fail_msg("%s and %s fail: the message does not say so: %s", first, second, o.sentence);
		if (strncmp(second, "cuGetError", 10) == 0 && !strstr(o.sentence, "(1)"))
			fail_msg("%s and %s fail: the number is missing: %s", first, second, o.sentence);
		if (standin()->leaks(NULL) != before && strcmp(second, "cuCtxPushCurrent") != 0)
			fail_msg("%s and %s fail: something is left over", first, second);
		if (!standin()->calls(second))
			fail_msg("%s fails, and %s is not called", first, second);
		failed[number_of(second)]++;
	}
}

static void every_function_was_called_and_has_failed(void **state)
{
	(void)state;
	for (unsigned i = 0; i < N_CALLS; i++) {
		if (!ever[i])
			fail_msg("%s is never called", calls[i].name);
		if (!failed[i])
			fail_msg("%s has never failed", calls[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(cuda_cannot_be_initialised),
	    cmocka_unit_test(nothing_fails),
	    cmocka_unit_test(every_call_fails_as_if_it_were_wrong),
	    cmocka_unit_test(every_call_fails_for_lack_of_memory),
	    cmocka_unit_test(every_call_finds_that_the_device_has_failed),
	    cmocka_unit_test(work_on_the_stream_fails),
	    cmocka_unit_test(two_calls_fail),
	    cmocka_unit_test(every_function_was_called_and_has_failed),
	};
	need_standin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
