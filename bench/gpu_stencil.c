/* METG, the minimum effective task granularity (metg.c), of a 1-D stencil on a GPU: gpu_stencil STREAMS [WIDTH
 * [quick]].
 *
 * A task reads three data and writes one, and runs a kernel of one thread on one of the device's streams, so that the
 * kernels of several streams run at the same time. Efficiency is the time of all kernels divided by streams x wall
 * time; METG is streams x wall time per task at an efficiency of 50 %. The kernel lasts half as long, and is printed
 * too. */
#include <heddle/cuda.h>
#include <math.h>
#include "good.h"

#ifdef HEDDLE_CUDA_IMAGE
__asm__(".pushsection .rodata\n"
        ".balign 64\n"
        "bench_spin_begin: .incbin \"" HEDDLE_CUDA_IMAGE "\"\n"
        "bench_spin_end:\n"
        ".popsection\n");
extern const char bench_spin_begin[], bench_spin_end[];
#else
static const char bench_spin_begin[] = "// no nvcc", *const bench_spin_end = bench_spin_begin + 10;
#endif

enum { PROBES = 5, MAX_WIDTH = 256 };

struct bench {
	heddle_runtime *rt;
	heddle_codelet *spin;
	heddle_data *data[2][MAX_WIDTH];
	size_t streams, width, min_steps, max_tasks;
	double turns_per_us, probe_us;
};

static int spin(heddle_context *c)
{
	const struct heddle_cuda_image image = {bench_spin_begin, (size_t)(bench_spin_end - bench_spin_begin)};
	const struct heddle_cuda_grid grid = {.blocks = {1}, .threads = {1}};
	struct CUfunc_st *f;
	long long turns = heddle_get(c, 0, long long);
	void *x = heddle_ptr(c, 0);
	int status = heddle_cuda_function(c, &image, "bench_spin", &f);
	return status ? status : heddle_cuda_launch(c, f, &grid, (void *[]){&turns, &x});
}

static double run_stencil(const struct bench *b, size_t steps, double us)
{
	long long turns = (long long)(us * b->turns_per_us);
	double start = bench_seconds();
	for (size_t s = 0; s < steps; s++) {
		heddle_data *const *from = b->data[s % 2], *const *to = b->data[1 - s % 2];
		for (size_t i = 0; i < b->width; i++)
			good(heddle_submit(b->rt, heddle_call(b->spin), heddle_rw(to[i]),
			                   heddle_r(from[(i + b->width - 1) % b->width]), heddle_r(from[i]),
			                   heddle_r(from[(i + 1) % b->width]), heddle_value(turns)));
	}
	good(heddle_wait_all(b->rt));
	return (bench_seconds() - start) * 1e6;
}

static double efficiency(const struct bench *b, double us)
{
	double values[PROBES], wanted = b->probe_us * (double)b->streams / us / (double)b->width;
	double most = (double)b->max_tasks / (double)b->width;
	size_t steps = wanted < most ? (size_t)wanted : (size_t)most;
	if (steps < b->min_steps)
		steps = b->min_steps;
	for (size_t i = 0; i < PROBES; i++)
		values[i] = us * (double)(steps * b->width) / (run_stencil(b, steps, us) * (double)b->streams);
	return bench_median(values, PROBES);
}

/* Turns per us: the difference of a long and a short kernel. Other programs only make both slower, so the fastest of
 * each counts; `quick` goes on even where they make the short one slower than the long one. */
static void find_rate(struct bench *b, int quick)
{
	double took[2] = {INFINITY, INFINITY};
	const long long turns[] = {1000, 2000000};
	for (size_t i = 0; i < PROBES; i++)
		for (int k = 0; k < 2; k++) {
			double start = bench_seconds();
			good(heddle_submit(b->rt, heddle_call(b->spin), heddle_rw(b->data[0][0]),
			                   heddle_value(turns[k])));
			good(heddle_wait_all(b->rt));
			took[k] = fmin(took[k], (bench_seconds() - start) * 1e6);
		}
	double us = quick ? fmax(1, took[1] - took[0]) : took[1] - took[0];
	bench_need(us > 0, "a kernel takes no time: is the device there?");
	b->turns_per_us = (double)(turns[1] - turns[0]) / us;
}

static void open_bench(struct bench *b)
{
	struct heddle_config config;
	good(heddle_config_init(&config));
	config.n_cpu = 0;
	config.n_cuda = 1;
	config.cuda_streams = (int)b->streams;
	config.sched = "eager";
	config.model_dir = "none";
	good(heddle_start(&config, &b->rt));
	b->spin = heddle_codelet_new(b->rt, .name = "spin", .cuda = spin);
	bench_need(b->spin != NULL, heddle_last_error());
	for (size_t i = 0; i < 2 * b->width; i++) {
		static double zero[2 * MAX_WIDTH];
		good(heddle_variable(b->rt, &zero[i], sizeof zero[i], &b->data[i % 2][i / 2]));
	}
}

int main(int argc, char **argv)
{
	static struct bench b;
	b.streams = bench_number(argc, argv, 1, 4);
	b.width = bench_number(argc, argv, 2, 4 * b.streams);
	int quick = argc > 3;
	b.probe_us = quick ? 200 : 20000;
	b.min_steps = quick ? 5 : 50;
	b.max_tasks = quick ? 200 : 20000;
	bench_need(b.width >= 3 && b.width <= MAX_WIDTH, "the width is from 3 to 256");
	open_bench(&b);
	find_rate(&b, quick);
	double low = 0.2, high = 1000;
	efficiency(&b, 20); /* wakes everything */
	bench_need(quick || efficiency(&b, high) >= 0.5, "never half efficient");
	while (high / low > (quick ? 10 : 1.05)) {
		double middle = sqrt(low * high);
		if (efficiency(&b, middle) >= 0.5)
			high = middle;
		else
			low = middle;
	}
	char name[64];
	snprintf(name, sizeof name, "gpu_stencil_streams_%zu", b.streams);
	bench_row(name, 1, "us", high / efficiency(&b, high));
	snprintf(name, sizeof name, "gpu_stencil_streams_%zu_kernel", b.streams);
	bench_row(name, 1, "us", high);
	for (size_t i = 0; i < 2 * b.width; i++)
		good(heddle_unregister(b.data[i % 2][i / 2]));
	good(heddle_stop(b.rt));
	return 0;
}
