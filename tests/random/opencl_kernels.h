/* The kernels of elements.h for OpenCL devices: the same arithmetic, by one work-item, because what it adds up depends
 * on the order. */
#ifndef RANDOM_OPENCL_KERNELS_H
#define RANDOM_OPENCL_KERNELS_H

#include <heddle/opencl.h>
#include "elements.h"
#include "support.h"

static _Atomic uint64_t n_on_opencl; /* kernels that were put on the stream of a device, of all programs */

enum { OPENCL_DATA = 4 }; /* how many data the kernel takes; those that a task lacks have no elements */

static const struct heddle_opencl_source random_source = {
    .name = "tests/random/opencl_kernels.h",
    .text = "#define R 1\n"
            "#define W 2\n"
            "#define RW 3\n"
            "#define SCRATCH 4\n"
            "#define REDUX 8\n"
            "#define COMMUTE 16\n"
            "#define PARAMETERS(x) __global ulong *x, ulong x##0, ulong x##1, ulong x##m, ulong x##n, ulong x##ld, int "
            "x##mode\n"
            "#define AT(e) x[e % m + e / m * ld]\n"
            "static ulong sum(__global const ulong *x, ulong m, ulong n, ulong ld)\n"
            "{\n"
            "	ulong s = 0;\n"
            "	for (ulong e = 0; e < m * n; e++)\n"
            "		s = s * 31 + AT(e);\n"
            "	return s;\n"
            "}\n"
            "static void put(__global ulong *x, ulong m, ulong n, ulong ld, int mode, ulong s)\n"
            "{\n"
            "	for (ulong e = 0; e < m * n; e++) {\n"
            "		if (mode == RW)\n"
            "			AT(e) = AT(e) * 0x9e3779b97f4a7c15 + s + e;\n"
            "		if (mode == COMMUTE || mode == REDUX)\n"
            "			AT(e) += s + e;\n"
            "		if (mode == W || mode == SCRATCH)\n"
            "			AT(e) = s * 0xbf58476d1ce4e5b9 + e;\n"
            "	}\n"
            "}\n"
            /* 1: somebody else has written to the private buffer of a SCRATCH access */
            "static ulong spoilt(__global const ulong *x, ulong m, ulong n, ulong ld, int mode, ulong s)\n"
            "{\n"
            "	for (ulong e = 0; mode == SCRATCH && e < m * n; e++)\n"
            "		if (AT(e) != s * 0xbf58476d1ce4e5b9 + e)\n"
            "			return 1;\n"
            "	return 0;\n"
            "}\n"
            "#define SUM(x, i) if (x##mode == R || x##mode == RW) s += i * sum(x + x##0 + x##1, x##m, x##n, x##ld)\n"
            "#define PUT(x) put(x + x##0 + x##1, x##m, x##n, x##ld, x##mode, s)\n"
            "#define SPOILT(x) spoilt(x + x##0 + x##1, x##m, x##n, x##ld, x##mode, s)\n"
            /* a wrong value, which the comparison with the sequential run finds */
            "#define SPOIL(x) if (x##m * x##n && x##mode != R) x[x##0 + x##1] += wrong\n"
            "__kernel void work(PARAMETERS(a), PARAMETERS(b), PARAMETERS(c), PARAMETERS(d), ulong s,\n"
            "                   __global ulong *result)\n"
            "{\n"
            "	SUM(a, 1); SUM(b, 2); SUM(c, 3); SUM(d, 4);\n"
            "	PUT(a); PUT(b); PUT(c); PUT(d);\n"
            "	ulong wrong = SPOILT(a) + SPOILT(b) + SPOILT(c) + SPOILT(d);\n"
            "	SPOIL(a); SPOIL(b); SPOIL(c); SPOIL(d);\n"
            "	*result = s;\n"
            "}\n"
            "__kernel void zero(__global ulong *x, ulong x0, ulong m, ulong n, ulong ld)\n"
            "{\n"
            "	x += x0;\n"
            "	for (ulong e = 0; e < m * n; e++)\n"
            "		AT(e) = 0;\n"
            "}\n"
            "__kernel void add(__global ulong *x, ulong x0, ulong m, ulong n, ulong ld, __global const ulong *y,\n"
            "                  ulong y0, ulong yld)\n"
            "{\n"
            "	x += x0;\n"
            "	for (ulong e = 0; e < m * n; e++)\n"
            "		AT(e) += y[y0 + e % m + e / m * yld];\n"
            "}\n"};

static const struct heddle_opencl_range one_item = {.global = {1}, .local = {1}};

/* A part of a datum of the task: `mem` has its extents, and no address. */
struct opencl_window {
	unsigned datum;
	uint64_t offset; /* of its first element from that of the datum */
	struct mem mem;
};

/* What `compute` of elements.h does with the windows, put on the stream. Its sum is then in *sum, until the next kernel
 * runs there. */
static inline int compute_windows_opencl(heddle_context *c, uint64_t k, unsigned n, const int *modes,
                                         const struct opencl_window *w, struct _cl_mem **sum)
{
	struct heddle_opencl_argument arguments[7 * OPENCL_DATA + 2];
	static const struct opencl_window no_window;
	struct _cl_kernel *kernel;
	const uint64_t none = 0;
	const int no_mode = 0;
	size_t used = 0;
	if (heddle_opencl_kernel(c, &random_source, "work", &kernel))
		return 1;
	n_on_opencl++;
	*sum = heddle_opencl_scratch(c, sizeof(uint64_t));
	if (!*sum)
		return 1;
	for (unsigned i = 0; i < OPENCL_DATA; i++) {
		const struct opencl_window *window = i < n ? &w[i] : &no_window;
		if (i < n) {
			arguments[used++] = heddle_opencl_datum(window->datum);
		} else {
			arguments[used++] = heddle_opencl_memory(*sum);
			arguments[used++] = heddle_opencl_value(none);
		}
		arguments[used++] = heddle_opencl_value(window->offset);
		arguments[used++] = heddle_opencl_value(window->mem.m);
		arguments[used++] = heddle_opencl_value(window->mem.n);
		arguments[used++] = heddle_opencl_value(window->mem.ld);
		arguments[used++] = heddle_opencl_bytes(i < n ? &modes[i] : &no_mode, sizeof(int));
	}
	arguments[used++] = heddle_opencl_value(k);
	arguments[used++] = heddle_opencl_memory(*sum);
	return heddle_opencl_run(c, kernel, &one_item, used, arguments);
}

/* compute_windows_opencl where each window is a whole datum of the task. */
static inline int compute_opencl(heddle_context *c, uint64_t k, unsigned n, const int *modes, struct _cl_mem **sum)
{
	struct opencl_window w[OPENCL_DATA] = {{0}};
	for (unsigned i = 0; i < n; i++) {
		w[i].datum = i;
		if (mem_of(c, i, &w[i].mem))
			return 1;
	}
	return compute_windows_opencl(c, k, n, modes, w, sum);
}

/* Says so, and fails if a test with such devices has never used them. */
static inline int check_opencl_used(const struct options *options)
{
	if (options->opencl)
		printf("%llu kernels ran on OpenCL devices\n", (unsigned long long)n_on_opencl);
	return options->opencl && options->count >= 20 && !n_on_opencl;
}

static inline int zero_opencl(heddle_context *c)
{
	struct mem a;
	struct _cl_kernel *kernel;
	if (heddle_opencl_kernel(c, &random_source, "zero", &kernel) || mem_of(c, 0, &a))
		return 1;
	const struct heddle_opencl_argument arguments[] = {heddle_opencl_datum(0), heddle_opencl_value(a.m),
	                                                   heddle_opencl_value(a.n), heddle_opencl_value(a.ld)};
	return heddle_opencl_run(c, kernel, &one_item, 4, arguments);
}

static inline int add_opencl(heddle_context *c)
{
	struct mem to, from;
	struct _cl_kernel *kernel;
	if (heddle_opencl_kernel(c, &random_source, "add", &kernel) || mem_of(c, 0, &to) || mem_of(c, 1, &from))
		return 1;
	const struct heddle_opencl_argument arguments[] = {heddle_opencl_datum(0),    heddle_opencl_value(to.m),
	                                                   heddle_opencl_value(to.n), heddle_opencl_value(to.ld),
	                                                   heddle_opencl_datum(1),    heddle_opencl_value(from.ld)};
	return heddle_opencl_run(c, kernel, &one_item, 6, arguments);
}

#endif
