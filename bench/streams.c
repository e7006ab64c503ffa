/* What several streams of an accelerator are worth: the time per task of small independent kernels on one emulated
 * accelerator with 1, 2 and 4 streams. `device`: kernels that take next to nothing on a CPU and last long on the
 * accelerator, so that nothing but its streams limits how many run at once; `empty`: what it costs to launch a kernel
 * and to learn of its end. `overlap`: how many of the former ran at once on average, if each lasted as it should.
 * streams [COUNT] */
#include <heddle.h>
#include "bench.h"

enum { LENGTH_US = 2, SLOWDOWN = 100, ROUNDS = 5 };

static int spin(heddle_context *c)
{
	double end = bench_seconds() + heddle_get(c, 0, double) * 1e-6;
	while (bench_seconds() < end)
		;
	return 0;
}

/* Seconds for `count` tasks that spin for `us` each; the fastest of some rounds. */
static double run_tasks(heddle_runtime *rt, heddle_codelet *codelet, size_t count, double us)
{
	double best = 0;
	for (int round = 0; round < ROUNDS; round++) {
		double start = bench_seconds();
		for (size_t i = 0; i < count; i++)
			bench_need(heddle_submit(rt, heddle_call(codelet), heddle_value(us)) == 0, heddle_last_error());
		bench_need(heddle_wait_all(rt) == 0, heddle_last_error());
		double seconds = bench_seconds() - start;
		best = round && best < seconds ? best : seconds;
	}
	return best;
}

static void measure(int streams, size_t count, double slowdown, const char *name)
{
	struct heddle_config config;
	heddle_runtime *rt;
	bench_need(heddle_config_init(&config) == 0, heddle_last_error());
	config.n_cpu = 0;
	config.n_emulated = 1;
	config.emulated_streams = streams;
	config.emulated_slowdown = slowdown;
	config.sched = "eager";
	config.model_dir = "none";
	bench_need(heddle_start(&config, &rt) == 0, heddle_last_error());
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "spin", .emulated = spin);
	bench_need(codelet != NULL, heddle_last_error());
	double seconds = run_tasks(rt, codelet, count, slowdown > 1 ? LENGTH_US : 0);
	bench_row(name, streams, "us", seconds / (double)count * 1e6);
	if (slowdown > 1)
		bench_row("overlap", streams, "kernels", (double)count * LENGTH_US * slowdown * 1e-6 / seconds);
	heddle_stop(rt);
}

int main(int argc, char **argv)
{
	size_t count = bench_number(argc, argv, 1, 1000);
	for (int streams = 1; streams <= 4; streams *= 2) {
		measure(streams, count, SLOWDOWN, "device");
		measure(streams, count, 1, "empty");
	}
	return 0;
}
