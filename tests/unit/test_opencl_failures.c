/* Each call of OpenCL fails once, and once more later: Heddle must say which, or do without, must lose nothing, not
 * hang, and release every object. */
#ifdef HEDDLE_HAVE_OPENCL
#include "opencl_calls.h"

enum { ROWS = 20, COLUMNS = 10, LD = 23 };
#ifdef HD_CHECKED
enum { LATEST = 3 }; /* sanitizers make it slow */
#else
enum { LATEST = 10 }; /* of the calls of one function, as many fail in turn */
#endif

static const struct heddle_opencl_source source = {
    .name = "failures.cl",
    .text = "__kernel void add(__global long *y, ulong y0, ulong m, ulong ld, __global long *one)\n"
            "{ y[y0 + get_global_id(0) % m + get_global_id(0) / m * ld] += *one; }\n"
            "__kernel void next(__global long *y, ulong y0, __global const long *x, ulong x0)\n"
            "{ y[y0 + get_global_id(0)] = x[x0 + get_global_id(0)] + 1; }\n"
            "__kernel void set_one(__global long *one)\n"
            "{ *one = 1; }\n"};

/* Two kernels, one after the other, on a workspace of the stream. */
static int add_one_opencl(heddle_context *c)
{
	struct _cl_kernel *add, *set_one;
	struct _cl_mem *one = heddle_opencl_scratch(c, sizeof(cl_long));
	if (!one || heddle_opencl_kernel(c, &source, "add", &add) ||
	    heddle_opencl_kernel(c, &source, "set_one", &set_one))
		return 1;
	const uint64_t m = heddle_extent(c, 0, 0), ld = heddle_ld(c, 0);
	const struct heddle_opencl_argument place = heddle_opencl_memory(one);
	const struct heddle_opencl_argument arguments[] = {heddle_opencl_datum(0), heddle_opencl_value(m),
	                                                   heddle_opencl_value(ld), place};
	const struct heddle_opencl_range single = {.global = {1}}, all = {.global = {m * heddle_extent(c, 0, 1)}};
	int status = heddle_opencl_run(c, set_one, &single, 1, &place);
	return status ? status : heddle_opencl_run(c, add, &all, 4, arguments);
}

static int add_one_cpu(heddle_context *c)
{
	long *y = heddle_ptr(c, 0);
	for (size_t i = 0; i < heddle_extent(c, 0, 0) * heddle_extent(c, 0, 1); i++)
		y[i % heddle_extent(c, 0, 0) + i / heddle_extent(c, 0, 0) * heddle_ld(c, 0)] += 1;
	return 0;
}

static long matrix[LD * COLUMNS], vector[ROWS];

/* Whether the failure that was planned is the one that is reported. Of memory that a device could not give the core
 * says for what it was. */
static void check_words(int status)
{
	if (has_failed && strstr(heddle_last_error(), "no memory for a copy of datum"))
		return;
	if (!has_failed)
		fail_msg("nothing was to fail: %s, %s", heddle_status_name(status), heddle_last_error());
	if (!strstr(heddle_last_error(), call_names[planned]))
		fail_msg("call %d of %s failed, and the message is: %s", planned_call, call_names[planned],
		         heddle_last_error());
}

/* Submits what the device does; returns the first status that is not 0. */
static int compute(heddle_runtime *rt, heddle_codelet *codelet, int *late)
{
	heddle_data *m, *v;
	unsigned device = device_worker(rt, 0);
	memset(matrix, 0, sizeof matrix);
	memset(vector, 0, sizeof vector);
	assert_ok(heddle_matrix(rt, matrix, ROWS, COLUMNS, LD, sizeof *matrix, &m));
	assert_ok(heddle_vector(rt, vector, ROWS, sizeof *vector, &v));
	for (int i = 0; i < 2; i++) {
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(m), heddle_on(device)));
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(v), heddle_on(device)));
	}
	int status = heddle_wait_all(rt);
	if (status)
		check_words(status);
	assert_ok(heddle_selfcheck(rt));
	int of_m = heddle_unregister(m), of_v = heddle_unregister(v);
	if (!of_m)
		for (unsigned i = 0; i < LD * COLUMNS; i++)
			assert_int_equal(matrix[i], i % LD < ROWS ? 2 : 0);
	if (!of_v)
		for (unsigned i = 0; i < ROWS; i++)
			assert_int_equal(vector[i], 2);
	*late = !status && (of_m || of_v); /* a value could not be brought home */
	return status ? status : of_m ? of_m : of_v;
}

/* After whatever has failed, the CPU goes on. */
static void use_cpu(heddle_runtime *rt, heddle_codelet *codelet)
{
	heddle_data *v;
	long x = 1;
	assert_ok(heddle_vector(rt, &x, 1, sizeof x, &v));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(v), heddle_on(0)));
	assert_ok(heddle_unregister(v));
	assert_int_equal(x, 2);
}

/* Runs the program; returns its status. */
static int run(void)
{
	struct heddle_config config = small_config();
	heddle_runtime *rt;
	int late = 0;
	struct heddle_platform *p = machine_with_opencl(1, 1, 0, 2);
	int status = heddle_start_on(&config, p, 0, &rt);
	heddle_platform_free(p);
	if (status) {
		check_words(status);
	} else {
		heddle_codelet *codelet =
		    heddle_codelet_new(rt, .name = "add_one", .cpu = add_one_cpu, .opencl = add_one_opencl);
		status = compute(rt, codelet, &late);
		heddle_wait_all(rt); /* says what has failed late, if anything */
		use_cpu(rt, codelet);
		heddle_stop(rt);
	}
	assert_nothing_alive();
	return status;
}

static void program_runs_when_nothing_fails(void **state)
{
	(void)state;
	forget_calls();
	assert_ok(run());
	for (unsigned i = 0; i < N_OBJECTS; i++)
		assert_int_equal(alive[i], 0);
}

/* Calls without which nothing can be computed: their failure must be reported, as what it is. */
static int is_needed(int call)
{
	return call == CALL_clCreateContext || call == CALL_clCreateCommandQueue || call == CALL_clGetPlatformIDs ||
	       call == CALL_clGetDeviceIDs || call == CALL_clEnqueueNDRangeKernel || call == CALL_clSetKernelArg ||
	       call == CALL_clCreateKernel || call == CALL_clEnqueueMarkerWithWaitList || call == CALL_clWaitForEvents;
}

static void each_call_that_fails_is_named_and_loses_nothing(void **state)
{
	static const int codes[] = {CL_OUT_OF_HOST_MEMORY, CL_DEVICE_NOT_AVAILABLE, CL_OUT_OF_RESOURCES};
	(void)state;
	for (int call = 0; call < N_CALLS; call++)
		for (int nth = 1; nth <= LATEST; nth++) {
			forget_calls();
			planned = call;
			planned_call = nth;
			planned_code = codes[(call + nth) % 3];
			int status = run();
			if (!has_failed)
				break; /* the program makes fewer calls of it */
			if (!status && is_needed(call))
				fail_msg("nobody has said that call %d of %s has failed", nth, call_names[call]);
		}
}

/* --- A device that is lost ---------------------------------------------------------------------------------------- */

enum { CHAINS = 4, LINKS = 5 };

/* y = x + 1, of y and x. The CPU has nothing to do until the device is lost: so the device has begun. */
static int next_cpu(heddle_context *c)
{
	while (!has_failed)
		sched_yield();
	for (size_t i = 0; i < heddle_extent(c, 0, 0); i++)
		((long *)heddle_ptr(c, 0))[i] = ((const long *)heddle_ptr(c, 1))[i] + 1;
	return 0;
}

static int next_opencl(heddle_context *c)
{
	struct _cl_kernel *next;
	const struct heddle_opencl_range range = {.global = {heddle_extent(c, 0, 0)}};
	const struct heddle_opencl_argument arguments[] = {heddle_opencl_datum(0), heddle_opencl_datum(1)};
	if (heddle_opencl_kernel(c, &source, "next", &next))
		return 1;
	return heddle_opencl_run(c, next, &range, 2, arguments) != 0; /* that the device is lost is known by then */
}

/* Several chains of tasks, which any worker may run, each from one datum to the next; returns the status. */
static int compute_chains(heddle_runtime *rt)
{
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "next", .cpu = next_cpu, .opencl = next_opencl);
	static long x[CHAINS][1 + LINKS][ROWS];
	heddle_data *data[CHAINS][1 + LINKS];
	memset(x, 0, sizeof x);
	for (int i = 0; i < CHAINS; i++)
		for (int k = 0; k <= LINKS; k++)
			assert_ok(heddle_vector(rt, x[i][k], ROWS, sizeof(long), &data[i][k]));
	for (int k = 0; k < LINKS; k++)
		for (int i = 0; i < CHAINS; i++)
			assert_ok(
			    heddle_submit(rt, heddle_call(codelet), heddle_w(data[i][k + 1]), heddle_r(data[i][k])));
	int status = heddle_wait_all(rt);
	if (status)
		assert_says("opencl0 is lost");
	assert_ok(heddle_selfcheck(rt));
	for (int i = 0; i < CHAINS; i++)
		for (int k = 0; k <= LINKS; k++)
			if (!heddle_unregister(data[i][k]))
				assert_int_equal(x[i][k][ROWS - 1], k);
			else
				assert_true(status);
	return status;
}

/* Loses the device at its nth kernel; returns the status. */
static int lose(int nth, int what)
{
	struct heddle_stats stats;
	forget_calls();
	planned = CALL_clEnqueueNDRangeKernel;
	planned_call = nth;
	planned_code = CL_DEVICE_NOT_AVAILABLE;
	planned_loss = what;
	heddle_runtime *rt = start_opencl(1, 0, 2); /* not earlier: threads of the device look at the plan */
	int status = compute_chains(rt);
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_int_equal(stats.workers_lost, 1);
	use_cpu(rt, heddle_codelet_new(rt, .name = "add_one", .cpu = add_one_cpu));
	heddle_stop(rt);
	assert_nothing_alive();
	return status;
}

static void memory_of_a_lost_device_is_read_while_that_goes(void **state)
{
	(void)state;
	for (int nth = 1; nth <= 8; nth++)
		assert_ok(lose(nth, KERNELS_FROM_THEN));
}

static void values_that_are_lost_with_a_device_are_named(void **state)
{
	(void)state;
	assert_ok(lose(1, ALL_FROM_THEN)); /* nothing had been computed there */
	for (int nth = 2; nth <= 8; nth++) {
		int status = lose(nth, ALL_FROM_THEN);
		assert_true(status == 0 || status == HEDDLE_E_DEVICE || status == HEDDLE_E_KERNEL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(program_runs_when_nothing_fails),
	    cmocka_unit_test(each_call_that_fails_is_named_and_loses_nothing),
	    cmocka_unit_test(memory_of_a_lost_device_is_read_while_that_goes),
	    cmocka_unit_test(values_that_are_lost_with_a_device_are_named),
	};
	need_device();
	watch_calls();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
#include "opencl.h"
int main(void)
{
	need_device();
}
#endif
