/* System calls that threads make while they hold the core lock: there should be none. Prints how many there were, and
 * all system calls per task; on stderr, where those under the lock came from. syscalls WORKERS
 *
 * Linux sends a thread that has asked for it SIGSYS instead of each of its system calls (syscall user dispatch). The
 * handler counts the call, makes it, and puts the result where the caller expects it. Threads ask for it in the first
 * task that they run. The library is compiled with HD_CHECKED for this program, so that locks know their holders. */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include "state/runtime.h"
#include "on_heddle.h"
#include "shapes.h"

#ifndef __x86_64__
#error "syscalls.c knows only the registers of x86-64"
#endif

enum { MAX_THREADS = 256, MAX_PLACES = 8, DEPTH = 24, LET_THROUGH = 0, SEND_SIGNAL = 1 };
static const double lengths[] = {0, 2, 5, 20}; /* us */
static const size_t n_tasks = 20000;

/* Read by the system at each call: LET_THROUGH or SEND_SIGNAL. */
static _Thread_local volatile char choice;
static volatile char *choices[MAX_THREADS]; /* of all threads that have asked, to let them through at the end */
static unsigned n_choices;                  /* atomic */
static unsigned long n_calls, n_inside;     /* atomic */
static struct {
	int depth;
	void *frames[DEPTH];
} places[MAX_PLACES]; /* of the first calls inside */

/* The way back from the handler is a system call too: this one is always let through. These very instructions tell
 * unwinders that a frame is a signal's. */
extern char way_back[], way_back_end[];
__asm__(".text\n"
        "way_back:\n"
        "\tmovq $15, %rax\n" /* rt_sigreturn */
        "\tsyscall\n"
        "\thlt\n" /* where the system sees the call */
        "way_back_end:\n");

static int is_inside(void)
{
	return bench_rt && atomic_load_explicit(&bench_rt->lock.owner, memory_order_relaxed) == hd_thread_token();
}

static void on_call(int number, siginfo_t *info, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	int saved = errno;
	(void)number;
	choice = LET_THROUGH;
	__atomic_fetch_add(&n_calls, 1, __ATOMIC_RELAXED);
	if (is_inside()) {
		unsigned long place = __atomic_fetch_add(&n_inside, 1, __ATOMIC_RELAXED);
		if (place < MAX_PLACES)
			places[place].depth = backtrace(places[place].frames, DEPTH);
	}
	long result = syscall(info->si_syscall, r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]);
	r[REG_RAX] = result < 0 ? -errno : result;
	errno = saved;
	choice = SEND_SIGNAL;
}

static void install_handler(void)
{
	/* as the system wants it, because the C library would choose the way back */
	struct {
		void (*handler)(int, siginfo_t *, void *);
		unsigned long flags;
		char *restorer;
		unsigned long mask;
	} action = {.handler = on_call, .flags = SA_SIGINFO | 0x04000000 /* SA_RESTORER */, .restorer = way_back};
	void *frames[DEPTH];
	backtrace(frames, DEPTH); /* loads what it needs */
	bench_need(syscall(SYS_rt_sigaction, SIGSYS, &action, NULL, 8L) == 0, "no handler for SIGSYS");
}

static int watched_kernel(heddle_context *c)
{
	(void)c;
	if (choice == LET_THROUGH) {
		unsigned i = __atomic_fetch_add(&n_choices, 1, __ATOMIC_RELAXED);
		sigset_t set;
		sigemptyset(&set);
		sigaddset(&set, SIGSYS);
		pthread_sigmask(SIG_UNBLOCK, &set, NULL); /* workers block all signals */
		bench_need(i < MAX_THREADS, "too many threads");
		bench_need(prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, way_back,
		                 (unsigned long)(way_back_end - way_back), &choice) == 0,
		           "this system cannot redirect system calls");
		choices[i] = &choice;
		choice = SEND_SIGNAL;
	}
	bench_kernel();
	return 0;
}

static void measure_shape(const char *shape_name, size_t extra, int workers)
{
	const struct shape *shape = shape_find(shape_name);
	size_t size = extra > 0 ? n_tasks / extra : n_tasks;
	bench_data(shape->n_data(size, extra));
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		char name[96];
		bench_clock_kernel(lengths[i]);
		n_calls = n_inside = 0;
		shape->submit(size, extra);
		bench_wait();
		double n = (double)shape->n_tasks(size, extra);
		snprintf(name, sizeof name, "%s_w%d_%gus", shape_name, workers, lengths[i]);
		bench_row(name, workers, "calls in the core", (double)n_inside);
		bench_row(name, workers, "calls", (double)n_calls / n);
		for (unsigned long k = 0; k < n_inside && k < MAX_PLACES; k++) {
			fprintf(stderr, "%s: a system call in the core:\n", name);
			backtrace_symbols_fd(places[k].frames, places[k].depth, STDERR_FILENO);
		}
	}
}

static void measure(void *arg)
{
	int workers = *(int *)arg;
	empty = heddle_codelet_new(bench_rt, .name = "watched", .cpu = watched_kernel, .model = HEDDLE_MODEL_NONE);
	bench_need(empty != NULL, heddle_last_error());
	measure_shape("pool", 0, workers);
	measure_shape("stencil", (size_t)workers * 4, workers);
	for (unsigned i = 0; i < n_choices; i++)
		*choices[i] = LET_THROUGH;
}

int main(int argc, char **argv)
{
	int workers = (int)bench_number(argc, argv, 1, 2);
	install_handler();
	bench_run((size_t)workers, measure, &workers);
	return 0;
}
