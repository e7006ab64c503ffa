/* Bytes per task that waits, and time to submit it; bytes and time per registered datum. Memory is the growth of the
 * process's resident pages; so each run measures only one of them, because memory that was freed before would be used
 * again unnoticed. memory WORKERS data|tasks|tasks_with_data [COUNT] */
#include BENCH_RUNTIME

struct request {
	int workers;
	size_t count;
};

enum { GATE, SHARED, FIRST }; /* numbers of data; from FIRST on, each belongs to one task */

static void start_all(void)
{
	bench_data(FIRST);
	for (int i = 0; i < 100; i++)
		bench_task1(SHARED);
	bench_wait();
}

static void measure_data(void *arg)
{
	const struct request *r = arg;
	double count = (double)r->count;
	start_all();
	double before = bench_resident(), start = bench_seconds();
	bench_data(r->count);
	double seconds = bench_seconds() - start;
	/* without the number and the pointer that the bench itself keeps for each datum */
	double bytes = (bench_resident() - before) / count - sizeof(double) - sizeof(void *);
	bench_row("datum_memory", r->workers, "bytes", bytes);
	bench_row("datum_register", r->workers, "us", seconds / count * 1e6);
	start = bench_seconds();
	bench_data(0);
	bench_row("datum_unregister", r->workers, "us", (bench_seconds() - start) / count * 1e6);
}

/* Measures `count` tasks that cannot begin: a gate task holds one of their data or, if they have none, the only
 * worker. */
static void measure_tasks(const struct request *r, int with_data)
{
	start_all();
	bench_data(FIRST + r->count);
	bench_gate(GATE);
	double before = bench_resident(), start = bench_seconds();
	for (size_t i = 0; i < r->count; i++) {
		if (with_data)
			bench_task3(FIRST + i, GATE, SHARED);
		else
			bench_task0();
	}
	double seconds = bench_seconds() - start, after = bench_resident();
	__atomic_store_n(&bench_gate_open, 1, __ATOMIC_RELEASE);
	bench_wait();
	const char *name = with_data ? "waiting_task_with_3_data" : "waiting_task";
	bench_row(name, r->workers, "bytes", (after - before) / (double)r->count);
	if (with_data)
		bench_row("submit_task_with_3_data", r->workers, "us", seconds / (double)r->count * 1e6);
}

static void measure_tasks_without_data(void *arg)
{
	measure_tasks(arg, 0);
}

static void measure_tasks_with_data(void *arg)
{
	measure_tasks(arg, 1);
}

int main(int argc, char **argv)
{
	bench_need(argc >= 3, "arguments: WORKERS data|tasks|tasks_with_data [COUNT]");
	struct request request = {.workers = (int)bench_number(argc, argv, 1, 2),
	                          .count = bench_number(argc, argv, 3, 100000)};
	void (*measure)(void *) = strcmp(argv[2], "data") == 0    ? measure_data
	                          : strcmp(argv[2], "tasks") == 0 ? measure_tasks_without_data
	                                                          : measure_tasks_with_data;
	bench_run((size_t)request.workers, measure, &request);
	return 0;
}
