/* A kernel of one's own in OpenCL C, beside one for CPU cores: each block is computed by whichever is free. */
#include <heddle.h>
#include <heddle/opencl.h>
#include <stdio.h>

enum { N_BLOCKS = 16, N = 4096 };
static double x[N_BLOCKS][N], y[N_BLOCKS][N];

static int axpy_cpu(heddle_context *c) /* RW y, R x; a: y = y + a x */
{
	double *to = heddle_ptr(c, 0), *from = heddle_ptr(c, 1), a = heddle_get(c, 0, double);
	for (size_t i = 0; i < heddle_extent(c, 0, 0); i++)
		to[i] += a * from[i];
	return 0;
}

/* A datum is two arguments: memory, and where in it the datum begins. Compiled once, and kept on disk. */
static const struct heddle_opencl_source source = {
    .name = "axpy.cl",
    .text = "__kernel void axpy(__global double *y, ulong y0, __global const double *x, ulong x0, double a)\n"
            "{ size_t i = get_global_id(0); y[y0 + i] += a * x[x0 + i]; }\n"};

static int axpy_opencl(heddle_context *c) /* runs on the CPU, and puts the kernel on the device's stream */
{
	struct _cl_kernel *axpy;
	int status = heddle_opencl_kernel(c, &source, "axpy", &axpy);
	const struct heddle_opencl_range range = {.global = {heddle_extent(c, 0, 0)}};
	const struct heddle_opencl_argument arguments[] = {heddle_opencl_datum(0), heddle_opencl_datum(1),
	                                                   heddle_opencl_bytes(heddle_value_ptr(c, 0), sizeof(double))};
	return status ? status : heddle_opencl_run(c, axpy, &range, 3, arguments);
}

int main(void)
{
	struct heddle_config config;
	heddle_runtime *rt;
	int status = heddle_config_init(&config);
	config.n_opencl = -1; /* all devices that are there; with none, the cores do it all */
	if (status || heddle_start(&config, &rt))
		return fprintf(stderr, "%s\n", heddle_last_error()), 1;
	heddle_codelet *axpy = heddle_codelet_new(rt, .name = "axpy", .cpu = axpy_cpu, .opencl = axpy_opencl);
	for (int b = 0; b < N_BLOCKS && !status; b++) {
		heddle_data *from, *to;
		double a = x[b][N - 1] = b;
		status = heddle_vector(rt, x[b], N, sizeof **x, &from) || heddle_vector(rt, y[b], N, sizeof **y, &to) ||
		         heddle_submit(rt, heddle_call(axpy), heddle_rw(to), heddle_r(from), heddle_value(a));
	}
	if (status | heddle_stop(rt)) /* which waits, and brings the data home */
		return fprintf(stderr, "%s\n", heddle_last_error()), 1;
	printf("y[last] = %g\n", y[N_BLOCKS - 1][N - 1]);
	return y[N_BLOCKS - 1][N - 1] != (N_BLOCKS - 1) * (N_BLOCKS - 1);
}
