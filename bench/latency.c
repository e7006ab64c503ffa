/* The time from the submission of an empty task to the end of a wait for it: the median over batches. Before that, how
 * long the runtime takes to start.
 * latency WORKERS [COUNT] */
#include BENCH_RUNTIME

struct request {
	int workers;
	size_t count;
	double before; /* when the runtime began to start, in seconds */
};

enum { BATCHES = 51 };

static void submit_and_wait(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bench_task1(0);
		bench_wait();
	}
}

static void measure(void *arg)
{
	const struct request *r = arg;
	double each[BATCHES];
	bench_row("start", r->workers, "ms", (bench_seconds() - r->before) * 1e3);
	bench_data(1);
	submit_and_wait(r->count);
	for (size_t b = 0; b < BATCHES; b++) {
		double start = bench_seconds();
		submit_and_wait(r->count);
		each[b] = (bench_seconds() - start) / (double)r->count;
	}
	bench_row("submit_and_wait", r->workers, "us", bench_median(each, BATCHES) * 1e6);
}

int main(int argc, char **argv)
{
	struct request request = {.workers = (int)bench_number(argc, argv, 1, 2),
	                          .count = bench_number(argc, argv, 2, 500),
	                          .before = bench_seconds()};
	bench_run((size_t)request.workers, measure, &request);
	return 0;
}
