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
 * the mean overhead over all lengths, lets run.py choose among variants.
 *
 * A virtual machine's two processors may lie far apart on the machine below, and be moved at any time. So the time that
 * a cache line takes to the last core is measured before and after each sample. Medians are also printed of those
 * samples before and after which it was near, and of the others, where it was far. This is meant for two processors. */
#define _GNU_SOURCE
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include BENCH_RUNTIME
#include "shapes.h"

enum { WIDTH_PER_WORKER = 4, MAX_SAMPLES = 101, N_LENGTHS = 6, SUBMITTED = 96, SUBMISSIONS = 51 };
static const double lengths[N_LENGTHS] = {0, 1, 2, 5, 10, 20}; /* us */
static const double sample_us = 20000;
static const double busy_us = 5000, busy_period_us = 10000, busy_sample_us = 100000; /* a sample has ten periods */
static const double near_us = 0.1; /* a cache line takes less between two cores that share a cache */
static const size_t fewest_tasks = 500, most_tasks = 100000; /* in a sample */

struct request {
	size_t workers, samples;
	size_t width; /* of the stencil; 0: the pool */
	pid_t other;  /* the other process; 0: there is none */
};

/* What was measured with tasks of one length, per task. */
struct figures {
	size_t tasks; /* in a sample */
	double length, overhead[MAX_SAMPLES], efficiency[MAX_SAMPLES];
	double core_us[MAX_SAMPLES], core_entries[MAX_SAMPLES];
	double line_us[MAX_SAMPLES]; /* that a cache line took to another core, the longer of two; 0: not measured */
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

/* Binds the calling thread to the last of the cores `all`, other than core `not_this`; -1: to the last one. */
static void use_last_core(const cpu_set_t *all, int not_this)
{
	cpu_set_t last;
	int core = CPU_SETSIZE - 1;
	while (core >= 0 && (core == not_this || !CPU_ISSET((size_t)core, all)))
		core--;
	if (core < 0)
		return;
	CPU_ZERO(&last);
	CPU_SET((size_t)core, &last);
	sched_setaffinity(0, sizeof last, &last);
}

static void keep_half_busy(void)
{
	cpu_set_t all;
	if (sched_getaffinity(0, sizeof all, &all) == 0)
		use_last_core(&all, -1);
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

/* The calling thread and another one, on another core, write a line in turn. */
static struct {
	_Alignas(128) int turn; /* atomic */
	char pad[124];          /* nothing else lies in this line */
	sem_t asked;            /* the other thread is to take its turns */
	int core;               /* of the thread that takes the even turns; -1: there are to be no more turns */
	cpu_set_t all;          /* the cores of this process */
	double least;           /* us: of all that was measured */
	pthread_t other;
	int started;
} line;

enum { LINE_TURNS = 200, LINE_TRIES = 3 };

static int line_turn(void)
{
	return __atomic_load_n(&line.turn, __ATOMIC_ACQUIRE);
}

static void take_turns(int first)
{
	for (int i = first; i < LINE_TURNS; i += 2) {
		while (line_turn() != i)
			;
		__atomic_store_n(&line.turn, i + 1, __ATOMIC_RELEASE);
	}
}

static void *take_odd_turns(void *arg)
{
	(void)arg;
	while (sem_wait(&line.asked) == 0 && line.core >= 0) {
		use_last_core(&line.all, line.core);
		__atomic_store_n(&line.turn, 0, __ATOMIC_RELEASE);
		take_turns(1);
	}
	return NULL;
}

static void start_line(void)
{
	if (sched_getaffinity(0, sizeof line.all, &line.all) || CPU_COUNT(&line.all) < 2)
		return;
	bench_need(sem_init(&line.asked, 0, 0) == 0 && pthread_create(&line.other, NULL, take_odd_turns, NULL) == 0,
	           "no thread");
	line.started = 1;
}

static void stop_line(void)
{
	line.core = -1;
	sem_post(&line.asked);
	pthread_join(line.other, NULL);
}

/* The time that a cache line takes to another core now: the least of a few means. 0: there is no other core. */
static double line_us(void)
{
	double best = 0;
	for (int i = 0; i < LINE_TRIES && line.started; i++) {
		line.core = sched_getcpu();
		line.turn = -1;
		sem_post(&line.asked);
		while (line_turn() != 0)
			sched_yield(); /* the other thread may need this core to get to its own */
		double start = bench_seconds();
		take_turns(0);
		while (line_turn() != LINE_TURNS)
			;
		double each = (bench_seconds() - start) * 1e6 / LINE_TURNS;
		best = i == 0 || each < best ? each : best;
	}
	if (line.least == 0 || best < line.least)
		line.least = best;
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
	double line_before = line_us();
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
	double line_after = line_us();
	f->line_us[sample] = line_before > line_after ? line_before : line_after;
}

static double median_overhead(const struct figures *f, size_t samples)
{
	double sorted[MAX_SAMPLES];
	memcpy(sorted, f->overhead, samples * sizeof *sorted);
	return bench_median(sorted, samples);
}

/* The median overhead of the samples during which cache lines were near, or far. */
static void print_where(const char *name, const struct request *r, const struct figures *f, int near)
{
	double some[MAX_SAMPLES];
	size_t n = 0;
	for (size_t i = 0; i < r->samples; i++)
		if (f->line_us[i] > 0 && near == (f->line_us[i] <= near_us))
			some[n++] = f->overhead[i];
	if (n > 0)
		bench_row(name, (int)r->workers, near ? "us near" : "us far", bench_median(some, n));
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
	print_where(name, r, f, 1);
	print_where(name, r, f, 0);
	bench_row(name, (int)r->workers, "us", median_overhead(f, r->samples));
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
		mean += median_overhead(&figures[i], r->samples) / N_LENGTHS;
	char name[128];
	write_name(name, sizeof name, r, "mean");
	bench_row(name, (int)r->workers, "us", mean);
	for (size_t i = 0; i < N_LENGTHS; i++)
		print_rows(r, &figures[i], lengths[i]);
	if (!r->other) {
		write_name(name, sizeof name, r, "submission");
		bench_row(name, (int)r->workers, "us", submission_us(r));
		write_name(name, sizeof name, r, "line");
		bench_row(name, (int)r->workers, "us", line.least);
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
	if (request.workers > 1 && !busy)
		start_line();
	if (busy)
		request.other = start_other();
	bench_run(request.workers, measure, &request);
	if (line.started)
		stop_line();
	if (request.other > 0) {
		kill(request.other, SIGKILL);
		waitpid(request.other, NULL, 0);
	}
	return 0;
}
