/* A kernel of one's own in OpenCL C, beside one for CPU cores: a GPU, or whatever has an OpenCL driver, takes part. */
#include <heddle.h>
#include <heddle/opencl.h>
#include <stdio.h>
#include <string.h>

enum { N_BLOCKS = 16, N = 4096 };
static double x[N_BLOCKS * N], y[N_BLOCKS * N];

static int axpy_cpu(heddle_context *c) /* RW y, R x; a: y = y + a * x */
{
	double *to = heddle_ptr(c, 0), a = heddle_get(c, 0, double);
	const double *from = heddle_ptr(c, 1);
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

static int compute(heddle_runtime *rt)
{
	heddle_codelet *axpy = heddle_codelet_new(rt, .name = "axpy", .cpu = axpy_cpu, .opencl = axpy_opencl);
	int status = axpy ? 0 : -1;
	for (int b = 0; b < N_BLOCKS && !status; b++) {
		heddle_data *from, *to;
		double a = b;
		status = heddle_vector(rt, x + b * N, N, sizeof *x, &from);
		if (!status)
			status = heddle_vector(rt, y + b * N, N, sizeof *y, &to);
		if (!status)
			status = heddle_submit(rt, heddle_call(axpy), heddle_rw(to), heddle_r(from), heddle_value(a));
	}
	return status;
}

int main(void)
{
	struct heddle_config config;
	heddle_runtime *rt;
	int n_devices = 0;
	for (int i = 0; i < N_BLOCKS * N; i++)
		x[i] = 1;
	int status = heddle_config_init(&config);
	config.n_opencl = -1; /* all that are there */
	status = status ? status : heddle_start(&config, &rt);
	if (status) {
		fprintf(stderr, "%s\n", heddle_last_error());
		return 1;
	}
	const struct heddle_platform *p = heddle_runtime_platform(rt);
	for (size_t w = 0; w < p->n_workers; w++)
		n_devices += strcmp(p->classes[p->workers[w].class_id].kind, "opencl") == 0;
	if (!n_devices)
		printf("No OpenCL device is here: CPU cores do it all (heddle machine says what is missing).\n");
	status = compute(rt);
	int stopped = heddle_stop(rt); /* waits, and brings the data home */
	if (status || stopped)
		fprintf(stderr, "%s\n", heddle_last_error());
	else
		printf("CPU cores and %d OpenCL devices: y[last] = %g\n", n_devices, y[N_BLOCKS * N - 1]);
	return status || stopped || y[N_BLOCKS * N - 1] != N_BLOCKS - 1;
}
