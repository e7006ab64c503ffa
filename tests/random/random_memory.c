/* Programs that run out of memory: allocation number k of the library fails, for every k or a sample of them.
 *
 * The linker sends every allocation that Heddle's own objects make (other libraries keep theirs) through the functions
 * below. Each program of memory_programs.h is run with allocation k failing, once, or with k and all that follow. It
 * must neither crash nor hang nor leak; it must report an error, or have got everything right; and after a single
 * failure the same runtime must still do what it is asked (the programs check that themselves). Programs that use one
 * thread are the same every time, so that --all tries each of their allocations; with several threads k is only roughly
 * the same place.
 *
 *   random_memory [--seed S] [--count K] [--all] [--program NAME] [--only K] [--verbose]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include "../wrapped.h"
#include "memory_more.h"
#include "support.h"

/* --- Allocations that fail ---------------------------------------------------------------------------------------- */

enum failing { NONE, ONE, ALL_FROM };
static const char *const failing_names[] = {"none", "one", "all from there"};

static struct {
	_Atomic int failing; /* enum failing; counted unless NONE and not `counting` */
	_Atomic int counting;
	_Atomic unsigned long n, at; /* allocations so far; the one to fail */
	_Atomic unsigned long failed;
} plan;

static int fails(void)
{
	if (!plan.counting)
		return 0;
	unsigned long n = ++plan.n;
	int failing = plan.failing, now = failing == ONE ? n == plan.at : failing == ALL_FROM && n >= plan.at;
	plan.failed += (unsigned long)now;
	if (now)
		errno = ENOMEM;
	return now;
}

/* What has been allocated and not freed: open addressing, a tombstone where something was freed. */
enum { TABLE = 1 << 16 };
#define TOMBSTONE ((void *)&table)
static void *table[TABLE];
static long n_live;
static atomic_flag table_lock = ATOMIC_FLAG_INIT;

static size_t slot_of(const void *p)
{
	return (size_t)hd_mix((uint64_t)(uintptr_t)p) & (TABLE - 1);
}

static void lock_table(void)
{
	while (atomic_flag_test_and_set_explicit(&table_lock, memory_order_acquire))
		;
}

static void unlock_table(void)
{
	atomic_flag_clear_explicit(&table_lock, memory_order_release);
}

static void *keep(void *p)
{
	if (!p)
		return NULL;
	lock_table();
	size_t i = slot_of(p);
	while (table[i] && table[i] != TOMBSTONE)
		i = (i + 1) & (TABLE - 1);
	table[i] = p;
	n_live++;
	unlock_table();
	return p;
}

/* What another library allocated is not in the table. */
static void forget(void *p)
{
	if (!p)
		return;
	lock_table();
	size_t i = slot_of(p);
	while (table[i] && table[i] != p)
		i = (i + 1) & (TABLE - 1);
	if (table[i]) {
		table[i] = TOMBSTONE;
		n_live--;
	}
	unlock_table();
}

/* Tombstones make it slow; between two runs it is made anew. */
static void sweep_table(void)
{
	static void *left[TABLE];
	size_t n = 0;
	for (size_t i = 0; i < TABLE; i++) {
		if (table[i] && table[i] != TOMBSTONE)
			left[n++] = table[i];
		table[i] = NULL;
	}
	n_live = 0;
	for (size_t i = 0; i < n; i++)
		keep(left[i]);
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : keep(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : keep(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t size)
{
	if (fails())
		return NULL;
	forget(p);
	return keep(__real_realloc(p, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : keep(__real_aligned_alloc(alignment, size));
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t size)
{
	if (fails())
		return ENOMEM;
	int status = __real_posix_memalign(out, alignment, size);
	if (!status)
		keep(*out);
	return status;
}

char *__wrap_strdup(const char *s)
{
	return fails() ? NULL : keep(__real_strdup(s));
}

char *__wrap_strndup(const char *s, size_t n)
{
	return fails() ? NULL : keep(__real_strndup(s, n));
}

int __wrap_vasprintf(char **out, const char *format, va_list args)
{
	if (fails()) {
		*out = (char *)(uintptr_t)1; /* undefined, says the manual */
		return -1;
	}
	int n = __real_vasprintf(out, format, args);
	if (n >= 0)
		keep(*out);
	return n;
}

FILE *__wrap_open_memstream(char **text, size_t *size)
{
	return fails() ? NULL : __real_open_memstream(text, size);
}

void __wrap_free(void *p)
{
	forget(p);
	__real_free(p);
}

/* --- Runs --------------------------------------------------------------------------------------------------------- */

static char current[200]; /* what is being run, for the handler */

static void say_where(int signal)
{
	const char *what = signal == SIGALRM ? "\nno end: " : "\ncrashed: ";
	ssize_t written = write(STDERR_FILENO, what, strlen(what)) + write(STDERR_FILENO, current, strlen(current));
	_exit(written < 0 ? 3 : 2);
}

struct request {
	uint64_t seed;
	unsigned long count, only; /* per program and way of failing; a single one, 0: not */
	const char *program;       /* NULL: all */
	int all, verbose;
};

static unsigned long n_runs, n_problems;

/* What was allocated and stays. */
static long run_once(const struct memory_program *p, int *status)
{
	sweep_table();
	long before = n_live;
	plan.n = plan.failed = 0;
	plan.counting = 1;
	*status = p->run(plan.failing == ALL_FROM);
	plan.counting = 0;
	return n_live - before;
}

static const char *find_problem(int status, long leaked)
{
	if (status > 0)
		return "a wrong result without an error";
	if (status && !plan.failed)
		return "an error without a failure";
	if (status && !heddle_last_error()[0])
		return "an error without a message";
	return leaked > 0 ? "a leak" : NULL;
}

/* One run; how many allocations it made. */
static unsigned long run(const struct memory_program *p, enum failing failing, unsigned long at)
{
	snprintf(current, sizeof current, "--program \"%s\" --only %lu, failing %s\n", p->name, at,
	         failing_names[failing]);
	alarm(3 * HANG_S);
	plan.at = at;
	plan.failing = (int)failing;
	int status;
	long leaked = run_once(p, &status);
	if (leaked > 0 && status <= 0) /* only what leaks every time is no cache */
		leaked = run_once(p, &status);
	const char *problem = find_problem(status, leaked);
	n_runs++;
	if (problem) {
		n_problems++;
		fprintf(stderr, "%s: %s (%s: %s; %ld blocks) %s", p->name, problem,
		        status > 0 ? memory_wrong : heddle_status_name(status), heddle_last_error(), leaked, current);
	}
	return plan.n;
}

/* Allocation 1 to n, or a sample of them. */
static void run_failing(const struct memory_program *p, enum failing failing, unsigned long n, const struct request *q)
{
	struct hd_rng rng;
	hd_rng_seed(&rng, q->seed);
	int every = q->all || n <= q->count;
	for (unsigned long i = 1; i <= (every ? n : q->count); i++)
		run(p, failing, every ? i : 1 + (unsigned long)(hd_rng_next(&rng) % n));
}

static void run_program(const struct memory_program *p, const struct request *q)
{
	p->run(0); /* makes what is kept for the life of the process */
	unsigned long n = run(p, NONE, 0), before = n_runs;
	double start = hd_clock_us();
	if (q->only) {
		run(p, ONE, q->only);
		run(p, ALL_FROM, q->only);
	} else {
		run_failing(p, ONE, n, q);
		run_failing(p, ALL_FROM, n, q);
	}
	if (q->verbose)
		printf("%-32s %6lu allocations, %6lu runs, %7.3f s\n", p->name, n, n_runs - before,
		       (hd_clock_us() - start) * 1e-6);
}

static int parse_request(int argc, char **argv, struct request *q)
{
	*q = (struct request){.seed = 1, .count = 40};
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";
		if (strcmp(argv[i], "--all") == 0)
			q->all = 1;
		else if (strcmp(argv[i], "--verbose") == 0)
			q->verbose = 1;
		else if (strcmp(argv[i], "--seed") == 0 && ++i)
			q->seed = strtoull(value, NULL, 0);
		else if (strcmp(argv[i], "--count") == 0 && ++i)
			q->count = strtoul(value, NULL, 0);
		else if (strcmp(argv[i], "--only") == 0 && ++i)
			q->only = strtoul(value, NULL, 0);
		else if (strcmp(argv[i], "--program") == 0 && ++i)
			q->program = value;
		else
			return fprintf(stderr, "random_memory: what is %s?\n", argv[i]);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct request q;
	if (parse_request(argc, argv, &q) || memory_programs_open())
		return 2;
	signal(SIGALRM, say_where);
	signal(SIGSEGV, say_where);
	signal(SIGABRT, say_where);
	unsigned long n_found = 0;
	for (size_t i = 0; memory_program(i); i++) {
		const struct memory_program *p = memory_program(i);
		if (q.program && strcmp(p->name, q.program) != 0)
			continue;
		n_found++;
		run_program(p, &q);
	}
	memory_programs_close();
	printf("%lu programs, %lu runs, %lu problems (seed %llu)\n", n_found, n_runs, n_problems,
	       (unsigned long long)q.seed);
	return n_problems != 0 || !n_found;
}
