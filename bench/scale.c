/* What a task costs each worker, and how busy tasks keep the workers, for tasks of several lengths.
 *
 *   scale WORKERS pool|stencil SAMPLES [busy | WIDTH]
 *
 * pool: each task reads two of 256 data, which nobody writes, and writes one of 256 others, so that it waits for the
 * task that wrote the same datum 256 tasks before. stencil: Task Bench's, four tasks per worker, or WIDTH, in each
 * step. busy: another process uses half of one core, 5 ms of every 10 ms.
 *
 * A kernel reads the clock until its time is over. Its length is then the same for all, also in phases when the machine
 * is slow, and only what the runtime adds varies with them. (With a loop of instructions a phase that is slow by 10 %
 * would add 2 us to a task of 20 us, several times what is to be measured.) The mean time of a kernel without any
 * runtime, measured first, counts as its length.
 *
 * Overhead per task and worker is the time that the workers had, divided by the number of tasks, less the length of a
 * task. The time that they had is wall time x workers (or cores, if there are fewer), less what the other process used.
 * Efficiency is the length of all tasks divided by the time that they had.
 *
 * Lengths take turns, so that a slow phase strikes all of them, and medians of the samples are printed. The first row,
 * the mean overhead over all lengths, lets run.py choose among variants. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include BENCH_RUNTIME
#include "shapes.h"

enum { WIDTH_PER_WORKER = 4, LINE_TURNS = 500, MAX_SAMPLES = 101, N_LENGTHS = 6, SUBMITTED = 96, SUBMISSIONS = 51 };
static const double lengths[N_LENGTHS] = {0, 1, 2, 5, 10, 20}; /* us */
static const double sample_us = 20000;
static const double busy_us = 5000, busy_period_us = 10000, busy_sample_us = 100000; /* a sample has ten periods */
static const size_t fewest_tasks = 500, most_tasks = 100000;                         /* in a sample */

struct request {
	size_t workers, samples;
	size_t width; /* of the stencil; 0: the pool */
	double line;  /* us that a cache line takes to another core */
	pid_t other;  /* the other process; 0: there is none */
};

/* What was measured with tasks of one length, per task. */
struct figures {
	size_t tasks; /* in a sample */
	double length, overhead[MAX_SAMPLES], efficiency[MAX_SAMPLES];
	double core_us[MAX_SAMPLES], core_entries[MAX_SAMPLES];
};

/* --- The other process -------------------------------------------------------------------------------------------- */

static double used_us(clockid_t clock)
{
	struct timespec t;
	bench_need(clock_gettime(clock, &t) == 0, "the clock of a process cannot be read");
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void sleep_until(double us)
{
	struct timespec t = {.tv_sec = (time_t)(us * 1e-6)};
	t.tv_nsec = (long)((us - (double)t.tv_sec * 1e6) * 1e3);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* Binds the calling thread to the last core that it may use, other than core `not_this`; -1: to the last one. */
static void use_last_core(int not_this)
{
	cpu_set_t all, last;
	int core = CPU_SETSIZE - 1;
	if (sched_getaffinity(0, sizeof all, &all))
		return;
	while (core >= 0 && (core == not_this || !CPU_ISSET((size_t)core, &all)))
		core--;
	if (core < 0)
		return;
	CPU_ZERO(&last);
	CPU_SET((size_t)core, &last);
	sched_setaffinity(0, sizeof last, &last);
}

static void keep_half_busy(void)
{
	use_last_core(-1);
	for (;;) {
		double period = bench_seconds() * 1e6, begin = used_us(CLOCK_PROCESS_CPUTIME_ID);
		while (used_us(CLOCK_PROCESS_CPUTIME_ID) - begin < busy_us)
			bench_spin(10000);
		sleep_until(period + busy_period_us);
	}
}

/* Starts it. It ends with this process at the latest. */
static pid_t start_other(void)
{
	pid_t parent = getpid(), child = fork();
	bench_need(child >= 0, "no other process");
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			keep_half_busy();
		_exit(0);
	}
	return child;
}

/* The processor time that it has used, in us. */
static double other_us(pid_t other)
{
	clockid_t clock;
	if (other == 0)
		return 0;
	bench_need(clock_getcpuclockid(other, &clock) == 0, "the other process has ended");
	return used_us(clock);
}

/* --- Cache lines -------------------------------------------------------------------------------------------------- */

struct line {
	_Alignas(128) int turn; /* atomic */
	char pad[124];          /* nothing else lies in this line */
	int core;               /* of the thread that takes the even turns */
};

static void take_turns(struct line *line, int first)
{
	for (int i = first; i < LINE_TURNS; i += 2) {
		while (__atomic_load_n(&line->turn, __ATOMIC_ACQUIRE) != i)
			;
		__atomic_store_n(&line->turn, i + 1, __ATOMIC_RELEASE);
	}
}

/* Its thread starts on the core that is busy with the even turns, and the system may leave it there for some ms. */
static void *take_odd_turns(void *arg)
{
	struct line *line = arg;
	use_last_core(line->core);
	take_turns(line, 1);
	return NULL;
}

/* The time that a cache line takes to another core: the least of several means, with two threads that write in turn. */
static double line_us(void)
{
	static struct line line;
	double best = 0, begin = bench_seconds();
	do {
		pthread_t other;
		line.turn = 0;
		line.core = sched_getcpu();
		bench_need(pthread_create(&other, NULL, take_odd_turns, &line) == 0, "no thread");
		double start = bench_seconds();
		take_turns(&line, 0);
		double each = (bench_seconds() - start) * 1e6 / LINE_TURNS;
		pthread_join(other, NULL);
		best = best == 0 || each < best ? each : best;
	} while (bench_seconds() - begin < 0.03);
	return best;
}

/* --- Tasks -------------------------------------------------------------------------------------------------------- */

/* Submits about n tasks. Returns how many there were. */
static size_t submit_tasks(const struct request *r, size_t n)
{
	if (r->width > 0) {
		size_t steps = (n + r->width - 1) / r->width;
		shape_stencil(steps, r->width);
		n = steps * r->width;
	} else {
		shape_pool(n, 0);
	}
	return n;
}

static size_t run_tasks(const struct request *r, size_t n)
{
	n = submit_tasks(r, n);
	bench_wait();
	return n;
}

static size_t clamp_tasks(double n)
{
	return n < (double)fewest_tasks ? fewest_tasks : n > (double)most_tasks ? most_tasks : (size_t)n;
}

/* Finds how long kernels really are, and how many tasks make a sample. */
static void prepare(const struct request *r, struct figures *f, double us)
{
	f->length = bench_clock_kernel(us);
	run_tasks(r, fewest_tasks); /* wakes the threads, and lets the runtime learn how long the tasks are */
	double start = bench_seconds();
	size_t n = run_tasks(r, fewest_tasks * 4);
	double each = (bench_seconds() - start) * 1e6 / (double)n;
	f->tasks = clamp_tasks((r->other ? busy_sample_us : sample_us) / each);
}

static void take_sample(const struct request *r, struct figures *f, double us, size_t sample)
{
	struct bench_core before = {0, 0}, after = {0, 0};
	double cores = (double)sysconf(_SC_NPROCESSORS_ONLN);
	double workers = (double)r->workers < cores ? (double)r->workers : cores;
	bench_work_ns = (uint64_t)(us * 1e3);
	run_tasks(r, fewest_tasks);
	bench_core(&before);
	double other = other_us(r->other), start = bench_seconds();
	double n = (double)run_tasks(r, f->tasks);
	double wall = (bench_seconds() - start) * 1e6, had = wall * workers - (other_us(r->other) - other);
	bench_core(&after);
	f->overhead[sample] = had / n - f->length;
	f->efficiency[sample] = f->length * n / had;
	f->core_us[sample] = (after.us - before.us) / n;
	f->core_entries[sample] = (after.entries - before.entries) / n;
}

/* The name of a case: what was run, the number of workers, `what`. */
static void write_name(char *name, size_t size, const struct request *r, const char *what)
{
	char width[32] = "";
	if (r->width > 0)
		snprintf(width, sizeof width, "%zu", r->width);
	snprintf(name, size, "%s%s%s_w%zu_%s", r->width > 0 ? "stencil" : "pool", width, r->other ? "_busy" : "",
	         r->workers, what);
}

static void print_rows(const struct request *r, struct figures *f, double us)
{
	char name[128], length[32];
	struct bench_core core;
	snprintf(length, sizeof length, "%gus", us);
	write_name(name, sizeof name, r, length);
	bench_row(name, (int)r->workers, "us", bench_median(f->overhead, r->samples));
	if (us > 0)
		bench_row(name, (int)r->workers, "efficiency", bench_median(f->efficiency, r->samples));
	if (bench_core(&core)) {
		bench_row(name, (int)r->workers, "core entries", bench_median(f->core_entries, r->samples));
		if (core.us > 0)
			bench_row(name, (int)r->workers, "core us", bench_median(f->core_us, r->samples));
	}
}

/* The time that the submission of a task takes while the other workers run long tasks; bursts are so short that nobody
 * makes the submitting thread wait or run tasks. */
static double submission_us(const struct request *r)
{
	double each[SUBMISSIONS];
	bench_clock_kernel(lengths[N_LENGTHS - 1]);
	for (size_t i = 0; i < SUBMISSIONS; i++) {
		double start = bench_seconds();
		size_t n = submit_tasks(r, SUBMITTED);
		each[i] = (bench_seconds() - start) * 1e6 / (double)n;
		bench_wait();
	}
	return bench_median(each, SUBMISSIONS);
}

static void measure(void *arg)
{
	static struct figures figures[N_LENGTHS];
	const struct request *r = arg;
	double mean = 0;
	bench_data(r->width > 0 ? 2 * r->width : shape_pool_data(0, 0));
	for (size_t i = 0; i < N_LENGTHS; i++)
		prepare(r, &figures[i], lengths[i]);
	for (size_t sample = 0; sample < r->samples; sample++)
		for (size_t i = 0; i < N_LENGTHS; i++)
			take_sample(r, &figures[i], lengths[i], sample);
	for (size_t i = 0; i < N_LENGTHS; i++)
		mean += bench_median(figures[i].overhead, r->samples) / N_LENGTHS;
	char name[128];
	write_name(name, sizeof name, r, "mean");
	bench_row(name, (int)r->workers, "us", mean);
	for (size_t i = 0; i < N_LENGTHS; i++)
		print_rows(r, &figures[i], lengths[i]);
	if (!r->other) {
		write_name(name, sizeof name, r, "submission");
		bench_row(name, (int)r->workers, "us", submission_us(r));
		write_name(name, sizeof name, r, "line");
		bench_row(name, (int)r->workers, "us", r->line);
	}
}

int main(int argc, char **argv)
{
	bench_need(argc >= 4 && (strcmp(argv[2], "pool") == 0 || strcmp(argv[2], "stencil") == 0),
	           "arguments: WORKERS pool|stencil SAMPLES [busy | WIDTH]");
	struct request request = {.workers = bench_number(argc, argv, 1, 2), .samples = bench_number(argc, argv, 3, 5)};
	int busy = argc > 4 && strcmp(argv[4], "busy") == 0;
	bench_need(request.samples <= MAX_SAMPLES, "too many samples");
	if (strcmp(argv[2], "stencil") == 0)
		request.width = bench_number(busy ? 0 : argc, argv, 4, request.workers * WIDTH_PER_WORKER);
	request.line = request.workers > 1 && sysconf(_SC_NPROCESSORS_ONLN) > 1 ? line_us() : 0;
	if (busy)
		request.other = start_other();
	bench_run(request.workers, measure, &request);
	if (request.other > 0) {
		kill(request.other, SIGKILL);
		waitpid(request.other, NULL, 0);
	}
	return 0;
}
