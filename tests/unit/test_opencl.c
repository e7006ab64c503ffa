/* What the kernels of OpenCL devices may ask: include/heddle/opencl.h. */
#ifdef HEDDLE_HAVE_OPENCL
#include "opencl_calls.h"

enum { N = 1000, STREAMS = 3 };

static const struct heddle_opencl_source source = {
    .name = "test.cl",
    .text = "__kernel void axpy(__global double *y, ulong y0, __global const double *x, ulong x0, double a, ulong n)\n"
            "{\n"
            "	size_t i = get_global_id(0);\n"
            "	if (i < n)\n"
            "		y[y0 + i] += a * x[x0 + i];\n"
            "}\n"
            "__kernel void reverse(__global double *x, ulong x0, __local double *t)\n"
            "{\n"
            "	size_t i = get_local_id(0), n = get_local_size(0);\n"
            "	t[i] = x[x0 + i];\n"
            "	barrier(CLK_LOCAL_MEM_FENCE);\n"
            "	x[x0 + i] = t[n - 1 - i];\n"
            "}\n"};

static int axpy_opencl(heddle_context *c)
{
	struct _cl_kernel *axpy;
	int status = heddle_opencl_kernel(c, &source, "axpy", &axpy);
	if (status)
		return status;
	double a = heddle_get(c, 0, double);
	uint64_t n = heddle_extent(c, 0, 0);
	const struct heddle_opencl_range range = {.global = {n}, .local = {8}};
	const struct heddle_opencl_argument arguments[] = {heddle_opencl_datum(0), heddle_opencl_datum(1),
	                                                   heddle_opencl_value(a), heddle_opencl_value(n)};
	return heddle_opencl_run(c, axpy, &range, 4, arguments);
}

static heddle_codelet *codelet_of(heddle_runtime *rt, heddle_kernel kernel)
{
	heddle_codelet *c = heddle_codelet_new(rt, .name = "on_device", .opencl = kernel);
	assert_non_null(c);
	return c;
}

/* Runs `n` tasks with this kernel, each on a datum of its own; returns the first error. */
static int run(heddle_kernel kernel, int n, unsigned streams)
{
	heddle_runtime *rt = start_opencl(1, 0, streams);
	heddle_codelet *codelet = codelet_of(rt, kernel);
	static double x[64][8];
	heddle_data *data[64];
	for (int i = 0; i < n; i++) {
		assert_ok(heddle_vector(rt, x[i], 8, sizeof(double), &data[i]));
		assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_w(data[i])));
	}
	int status = heddle_wait_all(rt);
	char message[1024];
	snprintf(message, sizeof message, "%s", heddle_last_error());
	assert_ok(heddle_selfcheck(rt));
	heddle_stop(rt);
	assert_nothing_alive();
	return heddle_error(status, "%s", message);
}

/* --- Computing ---------------------------------------------------------------------------------------------------- */

static void kernel_computes_on_the_device(void **state)
{
	(void)state;
	heddle_runtime *rt = start_opencl(1, 0, 2);
	heddle_codelet *axpy = codelet_of(rt, axpy_opencl);
	double x[N], y[N], a = 2;
	heddle_data *hx, *hy;
	for (int i = 0; i < N; i++) {
		x[i] = i;
		y[i] = 1;
	}
	assert_ok(heddle_vector(rt, x, N, sizeof *x, &hx));
	assert_ok(heddle_vector(rt, y, N, sizeof *y, &hy));
	for (int i = 0; i < 10; i++)
		assert_ok(heddle_submit(rt, heddle_call(axpy), heddle_rw(hy), heddle_r(hx), heddle_value(a)));
	assert_ok(heddle_unregister(hy));
	for (int i = 0; i < N; i++)
		assert_true(y[i] == 1 + 20. * i);
	assert_ok(heddle_stop(rt));
	assert_nothing_alive();
}

/* The children lie in their parent's memory on the device if they are used there while it is whole, so that they begin
 * behind its beginning. */
static void part_of_a_datum_begins_where_it_lies(void **state)
{
	(void)state;
	heddle_runtime *rt = start_opencl(2, 0, 2);
	heddle_codelet *axpy = codelet_of(rt, axpy_opencl);
	double x[N], y[N], a = 1;
	heddle_data *hx, *hy;
	const struct heddle_filter filter = {.kind = HEDDLE_SPLIT_VECTOR, .tile_x = 101};
	size_t n;
	for (int i = 0; i < N; i++) {
		x[i] = i;
		y[i] = 1;
	}
	assert_ok(heddle_vector(rt, x, N, sizeof *x, &hx));
	assert_ok(heddle_vector(rt, y, N, sizeof *y, &hy));
	assert_ok(heddle_submit(rt, heddle_call(axpy), heddle_rw(hy), heddle_r(hx), heddle_value(a)));
	assert_ok(heddle_partition(hx, &filter, &n));
	assert_ok(heddle_partition(hy, &filter, &n));
	for (size_t i = 0; i < n; i++)
		assert_ok(heddle_submit(rt, heddle_call(axpy), heddle_rw(heddle_child(hy, i)),
		                        heddle_r(heddle_child(hx, i)), heddle_value(a)));
	assert_ok(heddle_unpartition(hy));
	assert_ok(heddle_unpartition(hx));
	assert_ok(heddle_submit(rt, heddle_call(axpy), heddle_rw(hy), heddle_r(hx), heddle_value(a)));
	assert_ok(heddle_unregister(hy));
	for (int i = 0; i < N; i++)
		assert_true(y[i] == 1 + 3. * i);
	assert_ok(heddle_stop(rt));
	assert_nothing_alive();
}

static int reverse_opencl(heddle_context *c)
{
	struct _cl_kernel *reverse;
	size_t n = heddle_extent(c, 0, 0);
	const struct heddle_opencl_range range = {.global = {n}, .local = {n}};
	const struct heddle_opencl_argument arguments[] = {heddle_opencl_datum(0),
	                                                   heddle_opencl_local(n * sizeof(double))};
	int status = heddle_opencl_kernel(c, &source, "reverse", &reverse);
	return status ? status : heddle_opencl_run(c, reverse, &range, 2, arguments);
}

static void group_shares_local_memory(void **state)
{
	(void)state;
	heddle_runtime *rt = start_opencl(1, 0, 1);
	double x[8] = {0, 1, 2, 3, 4, 5, 6, 7};
	heddle_data *d;
	assert_ok(heddle_vector(rt, x, 8, sizeof *x, &d));
	assert_ok(heddle_submit(rt, heddle_call(codelet_of(rt, reverse_opencl)), heddle_rw(d)));
	assert_ok(heddle_unregister(d));
	for (int i = 0; i < 8; i++)
		assert_true(x[i] == 7 - i);
	assert_ok(heddle_stop(rt));
}

/* --- What belongs to a stream ------------------------------------------------------------------------------------- */

static atomic_int n_made, n_destroyed, n_wrong;
static int plan, handle; /* their addresses are keys */

/* Plans are destroyed after handles, because they were made before. */
static void destroy_plan(void *pointer)
{
	n_wrong += pointer != &plan || n_destroyed % 2 == 0;
	n_destroyed++;
}

static void destroy_handle(void *pointer)
{
	n_wrong += pointer != &handle || n_destroyed % 2;
	n_destroyed++;
}

static int keep_things(heddle_context *c)
{
	void **of_plan = heddle_opencl_slot(c, &plan, destroy_plan);
	void **of_handle = heddle_opencl_slot(c, &handle, destroy_handle);
	if (!of_plan || !of_handle)
		return 1;
	n_wrong += of_plan != heddle_opencl_slot(c, &plan, destroy_plan) || of_plan == of_handle;
	n_made += !*of_plan + !*of_handle;
	*of_plan = &plan;
	*of_handle = &handle;
	return 0;
}

static void place_lasts_as_long_as_its_stream(void **state)
{
	(void)state;
	n_made = n_destroyed = n_wrong = 0;
	assert_ok(run(keep_things, 60, STREAMS));
	assert_in_range(n_made, 2, 2 * STREAMS);
	assert_int_equal(n_destroyed, n_made);
	assert_int_equal(n_wrong, 0);
}

static int take_scratch(heddle_context *c)
{
	struct _cl_mem *first = heddle_opencl_scratch(c, 100), *same = heddle_opencl_scratch(c, 10),
	               *larger = heddle_opencl_scratch(c, (size_t)1 << 20);
	if (!first || !same || !larger)
		return 1;
	n_wrong += same != first || heddle_opencl_scratch(c, 1000) != larger;
	return 0;
}

static int take_none(heddle_context *c)
{
	(void)c;
	return 0;
}

/* Each stream has two, one after the other; other memory is the same with and without. */
static void workspace_of_a_stream_grows(void **state)
{
	(void)state;
	n_wrong = 0;
	forget_calls();
	assert_ok(run(take_none, 60, 1));
	int without = calls[CALL_clCreateBuffer];
	forget_calls();
	assert_ok(run(take_scratch, 60, 1));
	assert_int_equal(calls[CALL_clCreateBuffer], without + 2);
	assert_ok(run(take_scratch, 60, STREAMS));
	assert_int_equal(n_wrong, 0);
}

static int take_too_much(heddle_context *c)
{
	return heddle_opencl_scratch(c, (size_t)1 << 60) ? 0 : 5; /* with the sentence that it has left */
}

static void workspace_that_does_not_fit_fails_the_task(void **state)
{
	(void)state;
	assert_int_equal(run(take_too_much, 1, 1), HEDDLE_E_KERNEL);
	assert_says("clCreateBuffer failed with CL_INVALID_BUFFER_SIZE");
}

/* --- Errors ------------------------------------------------------------------------------------------------------- */

static int give_a_float(heddle_context *c)
{
	struct _cl_kernel *axpy;
	const struct heddle_opencl_range range = {.global = {8}};
	const float a = 1;
	const struct heddle_opencl_argument arguments[] = {heddle_opencl_datum(0), heddle_opencl_datum(0),
	                                                   heddle_opencl_value(a)};
	int status = heddle_opencl_kernel(c, &source, "axpy", &axpy);
	return status ? status : heddle_opencl_run(c, axpy, &range, 3, arguments);
}

static int give_too_few(heddle_context *c)
{
	struct _cl_kernel *reverse;
	const struct heddle_opencl_range range = {.global = {8}};
	const struct heddle_opencl_argument argument = heddle_opencl_datum(0);
	int status = heddle_opencl_kernel(c, &source, "reverse", &reverse);
	return status ? status : heddle_opencl_run(c, reverse, &range, 1, &argument);
}

static int use_large_groups(heddle_context *c)
{
	struct _cl_kernel *reverse;
	const struct heddle_opencl_range range = {.global = {8}, .local = {1 << 20}};
	const struct heddle_opencl_argument arguments[] = {heddle_opencl_datum(0), heddle_opencl_local(64)};
	int status = heddle_opencl_kernel(c, &source, "reverse", &reverse);
	return status ? status : heddle_opencl_run(c, reverse, &range, 2, arguments);
}

static void run_that_opencl_refuses_says_what_is_wrong(void **state)
{
	(void)state;
	assert_int_equal(run(give_a_float, 1, 1), HEDDLE_E_KERNEL);
	assert_says("argument 4 of the kernel axpy");
	assert_says("CL_INVALID_ARG_SIZE");
	assert_int_equal(run(give_too_few, 1, 1), HEDDLE_E_KERNEL);
	assert_says("the kernel reverse");
	assert_says("CL_INVALID_KERNEL_ARGS");
	assert_int_equal(run(use_large_groups, 1, 1), HEDDLE_E_KERNEL);
	assert_says("the kernel reverse");
	assert_says("CL_INVALID_WORK_GROUP_SIZE");
}

static int look_elsewhere(heddle_context *c)
{
	size_t offset = 0;
	n_wrong += heddle_opencl_buffer(c, 0, &offset) != heddle_opencl_buffer_of(c, heddle_ptr(c, 0), &offset);
	n_wrong += !heddle_opencl_device(c) || !heddle_opencl_context(c);
	return heddle_opencl_buffer_of(c, &offset, &offset) ? 0 : 1;
}

static void memory_that_is_not_the_devices_is_not_found(void **state)
{
	(void)state;
	n_wrong = 0;
	assert_int_equal(run(look_elsewhere, 1, 1), HEDDLE_E_KERNEL);
	assert_says("is no memory of this device");
	assert_int_equal(n_wrong, 0);
}

static int own_call_fails(heddle_context *c)
{
	n_wrong += heddle_opencl_failed(c, CL_SUCCESS, "clEnqueueFillBuffer") != 0;
	return heddle_opencl_failed(c, CL_INVALID_VALUE, "clEnqueueFillBuffer");
}

static void call_of_the_program_that_fails_is_named(void **state)
{
	(void)state;
	n_wrong = 0;
	assert_int_equal(run(own_call_fails, 1, 1), HEDDLE_E_KERNEL);
	assert_says("clEnqueueFillBuffer failed with CL_INVALID_VALUE");
	assert_int_equal(n_wrong, 0);
}

static int ask_on_the_cpu(heddle_context *c)
{
	struct _cl_kernel *axpy = NULL;
	size_t offset;
	n_wrong += heddle_opencl_kernel(c, &source, "axpy", &axpy) != HEDDLE_E_STATE ||
	           heddle_opencl_run(c, axpy, NULL, 0, NULL) != HEDDLE_E_STATE || heddle_opencl_scratch(c, 1) ||
	           heddle_opencl_slot(c, &plan, NULL) || heddle_opencl_buffer(c, 0, &offset) ||
	           heddle_opencl_buffer_of(c, NULL, &offset) || heddle_opencl_device(c) || heddle_opencl_context(c) ||
	           heddle_opencl_failed(c, -1, "x") != HEDDLE_E_STATE ||
	           heddle_opencl_then(c, NULL, NULL) != HEDDLE_E_STATE;
	return 0;
}

static void kernel_of_a_cpu_may_not_ask(void **state)
{
	(void)state;
	heddle_runtime *rt = start_opencl(1, 0, 1);
	n_wrong = 0;
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "asks", .cpu = ask_on_the_cpu);
	assert_ok(heddle_submit(rt, heddle_call(codelet)));
	assert_ok(heddle_stop(rt));
	assert_int_equal(n_wrong, 0);
}

/* Of what OpenCL says about events, this is changed: kernels end with -5, and what waits for them with -14. */
static cl_int CL_API_CALL sick_events(cl_event e, cl_event_info what, size_t size, void *p, size_t *out)
{
	cl_command_type type;
	cl_int code = real.clGetEventInfo(e, what, size, p, out);
	if (what == CL_EVENT_COMMAND_EXECUTION_STATUS && *(cl_int *)p == CL_COMPLETE &&
	    !real.clGetEventInfo(e, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL))
		*(cl_int *)p = type == CL_COMMAND_NDRANGE_KERNEL ? CL_OUT_OF_RESOURCES
		                                                 : CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
	return code;
}

static atomic_int n_waited_for; /* by the marker at the end of a task */

static cl_int CL_API_CALL count_events(cl_command_queue q, cl_uint n, const cl_event *list, cl_event *event)
{
	n_waited_for = (int)n;
	return my_clEnqueueMarkerWithWaitList(q, n, list, event);
}

static void kernel_that_fails_later_is_named(void **state)
{
	(void)state;
	hd_cl.clGetEventInfo = sick_events;
	hd_cl.clEnqueueMarkerWithWaitList = count_events;
	assert_true(run(reverse_opencl, 1, 1) < 0);
	hd_cl.clGetEventInfo = my_clGetEventInfo;
	hd_cl.clEnqueueMarkerWithWaitList = my_clEnqueueMarkerWithWaitList;
	assert_int_equal(n_waited_for, 1); /* or it would not fail with the kernel */
	assert_says("the kernel reverse failed with CL_OUT_OF_RESOURCES");
}

/* --- Events ------------------------------------------------------------------------------------------------------- */

static void fulfill(void *arg, int result)
{
	heddle_fulfill(arg, result);
}

static void fail_late(void *arg, int result)
{
	heddle_event_fail(arg, 4, "the device said %d", result);
}

static int end_later(heddle_context *c)
{
	heddle_event *event = heddle_detach(c);
	if (!event)
		return 1;
	int status = reverse_opencl(c);
	if (!status)
		status = heddle_opencl_then(c, fulfill, event);
	if (status)
		heddle_fulfill(event, status);
	return status;
}

static int fail_later(heddle_context *c)
{
	heddle_event *event = heddle_detach(c);
	int status = event ? heddle_opencl_then(c, fail_late, event) : 1;
	if (status && event)
		heddle_fulfill(event, status);
	return status;
}

static void task_may_end_when_the_device_says_so(void **state)
{
	(void)state;
	assert_ok(run(end_later, 60, STREAMS));
	assert_int_equal(run(fail_later, 1, 1), HEDDLE_E_KERNEL);
	assert_says("the device said 0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(kernel_computes_on_the_device),
	    cmocka_unit_test(part_of_a_datum_begins_where_it_lies),
	    cmocka_unit_test(group_shares_local_memory),
	    cmocka_unit_test(place_lasts_as_long_as_its_stream),
	    cmocka_unit_test(workspace_of_a_stream_grows),
	    cmocka_unit_test(workspace_that_does_not_fit_fails_the_task),
	    cmocka_unit_test(run_that_opencl_refuses_says_what_is_wrong),
	    cmocka_unit_test(memory_that_is_not_the_devices_is_not_found),
	    cmocka_unit_test(call_of_the_program_that_fails_is_named),
	    cmocka_unit_test(kernel_of_a_cpu_may_not_ask),
	    cmocka_unit_test(kernel_that_fails_later_is_named),
	    cmocka_unit_test(task_may_end_when_the_device_says_so),
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
