// A kernel of one's own in CUDA C, beside one for CPU cores: NVIDIA devices take part. nvcc compiles the whole file.
#include <heddle.h>
#include <heddle/cuda.h>
#include <cstdio>
#include <cstring>

enum { N_BLOCKS = 16, N = 4096 };
static double x[N_BLOCKS * N], y[N_BLOCKS * N];

static int axpy_cpu(heddle_context *c) // RW y, R x; a: y = y + a * x
{
	double *to = static_cast<double *>(heddle_ptr(c, 0)), a = heddle_get(c, 0, double);
	const double *from = static_cast<const double *>(heddle_ptr(c, 1));
	for (size_t i = 0; i < heddle_extent(c, 0, 0); i++)
		to[i] += a * from[i];
	return 0;
}

__global__ void axpy(size_t n, double a, const double *from, double *to)
{
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	if (i < n)
		to[i] += a * from[i];
}

static int axpy_cuda(heddle_context *c) // runs on the CPU, and puts the kernel on the device's stream
{
	size_t n = heddle_extent(c, 0, 0);
	axpy<<<(n + 255) / 256, 256, 0, static_cast<cudaStream_t>(heddle_stream(c))>>>(
	    n, heddle_get(c, 0, double), static_cast<const double *>(heddle_ptr(c, 1)),
	    static_cast<double *>(heddle_ptr(c, 0)));
	return heddle_cuda_failed(c, cudaGetLastError(), "axpy<<<>>>");
}

static int compute(heddle_runtime *rt)
{
	heddle_codelet_desc axpy_desc = {};
	axpy_desc.name = "axpy";
	axpy_desc.cpu = axpy_cpu;
	axpy_desc.cuda = axpy_cuda;
	const heddle_codelet *axpy = heddle_codelet_make(rt, &axpy_desc);
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

int main()
{
	heddle_config config;
	heddle_runtime *rt;
	int n_devices = 0;
	for (double &element : x)
		element = 1;
	int status = heddle_config_init(&config); // config.n_cuda is -1: all devices that are there
	status = status ? status : heddle_start(&config, &rt);
	if (status) {
		std::fprintf(stderr, "%s\n", heddle_last_error());
		return 1;
	}
	const heddle_platform *p = heddle_runtime_platform(rt);
	for (size_t w = 0; w < p->n_workers; w++)
		n_devices += std::strcmp(p->classes[p->workers[w].class_id].kind, "cuda") == 0;
	if (!n_devices)
		std::printf("No CUDA device is here: CPU cores do it all (heddle machine says what is missing).\n");
	status = compute(rt);
	int stopped = heddle_stop(rt); // waits, and brings the data home
	if (status || stopped)
		std::fprintf(stderr, "%s\n", heddle_last_error());
	else
		std::printf("CPU cores and %d CUDA devices: y[last] = %g\n", n_devices, y[N_BLOCKS * N - 1]);
	return status || stopped || y[N_BLOCKS * N - 1] != N_BLOCKS - 1;
}
