/* Kernels on OpenCL devices: include/heddle/opencl.h. */
#include "opencl.h"

enum { N = 1000 };

static const struct heddle_opencl_source source = {
    .name = "test.cl",
    .text = "__kernel void axpy(__global double *y, ulong y0, __global const double *x, ulong x0, double a, ulong n)\n"
            "{\n"
            "	size_t i = get_global_id(0);\n"
            "	if (i < n)\n"
            "		y[y0 + i] += a * x[x0 + i];\n"
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

static void kernel_computes_on_the_device(void **state)
{
	(void)state;
	heddle_runtime *rt = start_opencl(1, 0, 2);
	heddle_codelet *axpy = heddle_codelet_new(rt, .name = "axpy", .opencl = axpy_opencl);
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
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_unregister(hy));
	for (int i = 0; i < N; i++)
		assert_true(y[i] == 1 + 20. * i);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(kernel_computes_on_the_device),
	};
	need_device();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
