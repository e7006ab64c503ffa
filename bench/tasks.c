/* The time that one task costs (submission, graph, scheduling, an empty kernel, release), and the most memory that the
 * process has used; with a runtime that can run a graph again, also the time of a task without its construction. tasks
 * WORKERS SHAPE SIZE [EXTRA] */
#include BENCH_RUNTIME
#include "shapes.h"

struct request {
	int workers;
	const struct shape *shape;
	size_t size, extra;
};

enum { MAX_REPEATS = 21 };
static const double seconds_wanted = 0.3;

static double run_once(const struct request *r)
{
	double start = bench_seconds();
	r->shape->submit(r->size, r->extra);
	bench_wait();
	return bench_seconds() - start;
}

static void measure(void *arg)
{
	const struct request *r = arg;
	double seconds[MAX_REPEATS], total = 0;
	size_t n = 0;
	bench_data(r->shape->n_data(r->size, r->extra));
	for (int i = 0; i < 10000; i++) /* wakes the threads, fills pools of memory */
		bench_task1(0);
	bench_wait();
	do {
		seconds[n] = run_once(r);
		total += seconds[n++];
	} while (n < MAX_REPEATS && total < seconds_wanted);
	double each = bench_median(seconds, n) / (double)r->shape->n_tasks(r->size, r->extra);
	char name[96];
	snprintf(name, sizeof name, "%s_%zu", r->shape->name, r->size);
	if (r->extra > 0)
		snprintf(name + strlen(name), sizeof name - strlen(name), "_%zu", r->extra);
	bench_row(name, r->workers, "us/task", each * 1e6);
	bench_row(name, r->workers, "MB", bench_resident_peak() * 1e-6);
#ifdef BENCH_AGAIN
	r->shape->submit(r->size, r->extra);
	double again = BENCH_AGAIN();
	strcat(name, "_again");
	if (again > 0)
		bench_row(name, r->workers, "us/task", again * 1e6 / (double)r->shape->n_tasks(r->size, r->extra));
#endif
}

int main(int argc, char **argv)
{
	bench_need(argc >= 4, "arguments: WORKERS SHAPE SIZE [EXTRA]");
	size_t workers = bench_number(argc, argv, 1, 2);
	struct request request = {
	    .workers = (int)workers,
	    .shape = shape_find(argv[2]),
	    .size = bench_number(argc, argv, 3, 1),
	    .extra = bench_number(argc, argv, 4, 0),
	};
	bench_run(workers, measure, &request);
	return 0;
}
