// A kernel of one's own in CUDA C, beside one for CPU cores: each block is computed by whichever is free. nvcc compiles
// the whole file: nvcc 15_cuda_kernel.cu $(pkg-config --cflags --libs heddle)
#include <heddle.h>
#include <heddle/cuda.h>
#include <cstdio>

enum { N_BLOCKS = 16, N = 4096 };
static double x[N_BLOCKS][N], y[N_BLOCKS][N];

static int axpy_cpu(heddle_context *c) // RW y, R x; a: y = y + a x
{
	double *to = static_cast<double *>(heddle_ptr(c, 0)), *from = static_cast<double *>(heddle_ptr(c, 1));
	for (size_t i = 0; i < heddle_extent(c, 0, 0); i++)
		to[i] += heddle_get(c, 0, double) * from[i];
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

int main()
{
	heddle_runtime *rt;
	heddle_codelet_desc desc = {};
	desc.name = "axpy";
	desc.cpu = axpy_cpu;
	desc.cuda = axpy_cuda;
	if (heddle_start(NULL, &rt)) // all CUDA devices that are there; with none, the cores do it all
		return std::fprintf(stderr, "%s\n", heddle_last_error()), 1;
	const heddle_codelet *codelet = heddle_codelet_new_of(rt, &desc);
	int status = 0;
	for (int b = 0; b < N_BLOCKS && !status; b++) {
		heddle_data *from, *to;
		double a = x[b][N - 1] = b;
		status = heddle_vector(rt, x[b], N, sizeof **x, &from) || heddle_vector(rt, y[b], N, sizeof **y, &to) ||
		         heddle_submit(rt, heddle_call(codelet), heddle_rw(to), heddle_r(from), heddle_value(a));
	}
	if (status | heddle_stop(rt)) // which waits, and brings the data home
		return std::fprintf(stderr, "%s\n", heddle_last_error()), 1;
	std::printf("y[last] = %g\n", y[N_BLOCKS - 1][N - 1]);
	return y[N_BLOCKS - 1][N - 1] != (N_BLOCKS - 1) * (N_BLOCKS - 1);
}
