/* Deliberate mistakes by which a program dies: each in a process of its own, which must say in checking mode what it
 * was, and then die by the signal as without Heddle. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "misuse/misuse.h"
#include "../sanitized.h"
#include "mistakes.h"
#include "internals.h"

static const size_t PAGE = 1 << 16;  /* a multiple of the size of a page */
static const size_t ROOM = 64 << 20; /* more than what is near a datum */

/* N doubles at the end of memory, or at its begin: what nobody may use follows or comes before them. */
static double *at_edge(int at_end)
{
	char *pages = mmap(NULL, 2 * PAGE + ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(pages != MAP_FAILED);
	assert_int_equal(mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
	return (double *)(void *)(at_end ? pages + 2 * PAGE - N * sizeof(double) : pages + PAGE);
}

static void run(heddle_runtime *rt, heddle_kernel kernel, double *x, long at)
{
	double *of_y = calloc(N, sizeof *of_y), *of_x = x ? x : calloc(N, sizeof *of_x);
	heddle_data *d = vector(rt, "x", of_x), *y = vector(rt, "y", of_y);
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "crash", kernel)), heddle_named("step 7"), heddle_r(y),
	                        heddle_rw(d), heddle_value(at)));
	heddle_wait_all(rt);
}

static int read_at(heddle_context *c)
{
	volatile double *x = heddle_ptr(c, 1);
	return x[heddle_get(c, 0, long)] > 1e300;
}

static void behind_its_datum(heddle_runtime *rt)
{
	run(rt, read_at, at_edge(1), N + 3);
}

static void before_its_datum(heddle_runtime *rt)
{
	run(rt, read_at, at_edge(0), -5);
}

static void far_behind_its_datum(heddle_runtime *rt)
{
	run(rt, read_at, at_edge(1), (long)(ROOM / 2 / sizeof(double)));
}

/* The memory of a datum that the program has unmapped. The mode itself reads what tasks read. */
static void unmapped(heddle_runtime *rt, int reads)
{
	double *x = at_edge(1);
	heddle_data *d = vector(rt, "x", x);
	assert_int_equal(munmap((char *)(x + N) - PAGE, PAGE), 0);
	struct heddle_item item = reads ? heddle_r(d) : heddle_rw(d);
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "crash", read_at)), heddle_named("step 7"), item, item,
	                        heddle_value((long){0})));
	heddle_wait_all(rt);
}

static void inside_its_datum(heddle_runtime *rt)
{
	unmapped(rt, 0);
}

static void inside_what_it_reads(heddle_runtime *rt)
{
	unmapped(rt, 1);
}

/* A kernel that has overwritten the handle of its datum, as one may that leaves other data: the place is not known, but
 * the rest is told. */
static int read_after_its_handle(heddle_context *c)
{
	heddle_data *d = heddle_get(c, 0, heddle_data *);
	volatile double *x = heddle_ptr(c, 0);
	memset(d, 0xa5, sizeof *d);
	return x[N + 3] > 1e300;
}

static void smashed_handle(heddle_runtime *rt)
{
	heddle_data *d = vector(rt, "x", at_edge(1));
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "crash", read_after_its_handle)), heddle_named("step 7"),
	                        heddle_rw(d), heddle_value(d)));
	heddle_wait_all(rt);
}

static int read_null(heddle_context *c)
{
	volatile double *x = NULL;
	return x[heddle_get(c, 0, long)] > 0;
}

static void null_pointer(heddle_runtime *rt)
{
	run(rt, read_null, NULL, 3);
}

static int read_no_address(heddle_context *c)
{
	volatile double *x =
	    (void *)(uintptr_t)0xa5a5a5a5a5a5a5a8; /* of x86-64 neither the program's nor the system's */
	return x[0] > 0 && c;
}

static void no_address(heddle_runtime *rt)
{
	run(rt, read_no_address, NULL, 0);
}

static int divide(heddle_context *c)
{
	volatile int one = 1, zero = 0;
	return c ? one / zero : 0;
}

static void division(heddle_runtime *rt)
{
	run(rt, divide, NULL, 0);
}

static int recurse(heddle_context *c, long depth)
{
	volatile char space[10000];
	space[0] = (char)depth;
	return depth > 0 && recurse(c, depth - 1) + space[0];
}

static int recurse_for_ever(heddle_context *c)
{
	return recurse(c, 1L << 40);
}

static void full_stack(heddle_runtime *rt)
{
	run(rt, recurse_for_ever, NULL, 0);
}

/* A file that has become shorter. */
static void end_of_file(heddle_runtime *rt)
{
	FILE *file = tmpfile();
	assert_non_null(file);
	assert_int_equal(ftruncate(fileno(file), (off_t)PAGE), 0);
	double *x = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
	assert_true(x != MAP_FAILED);
	heddle_data *d = vector(rt, "x", x);
	assert_int_equal(ftruncate(fileno(file), 0), 0);
	assert_ok(heddle_submit(rt, heddle_call(codelet(rt, "crash", read_at)), heddle_named("step 7"), heddle_w(d),
	                        heddle_rw(d), heddle_value((long){2})));
	heddle_wait_all(rt);
}

/* --- What is not told --------------------------------------------------------------------------------------------- */

static void own_handler(int number)
{
	static const char said[] = "the program's own handler\n";
	(void)number;
	_exit(write(STDERR_FILENO, said, sizeof said - 1) < 0);
}

/* A handler that is there when the runtime starts stays. */
static void handled_by_the_program(heddle_runtime *rt)
{
	assert_ok(heddle_stop(rt));
	signal(SIGSEGV, own_handler);
	null_pointer(watched(0));
}

/* The program crashes itself, and no task does. */
static void outside_of_kernels(heddle_runtime *rt)
{
	volatile double *x = NULL;
	(void)rt;
	fputs("outside\n", stderr);
	exit(x[0] > 0);
}

/* A signal that somebody has sent. */
static int kill_itself(heddle_context *c)
{
	(void)c;
	fputs("killed\n", stderr);
	return kill(getpid(), SIGSEGV);
}

static void sent(heddle_runtime *rt)
{
	run(rt, kill_itself, NULL, 0);
}

/* After the end of the last runtime the handler is gone. */
static void after_stop(heddle_runtime *rt)
{
	struct sigaction now;
	assert_ok(heddle_stop(rt));
	assert_int_equal(sigaction(SIGSEGV, NULL, &now), 0);
	fputs(now.sa_handler == SIG_DFL ? "gone\n" : "still there\n", stderr);
	raise(SIGSEGV);
}

/* Ends as a child of fork in which `program` runs. */
static void end_as_child(void (*program)(heddle_runtime *rt), heddle_runtime *rt)
{
	pid_t child = fork();
	int status;
	if (!child) {
		program(rt);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (!WIFSIGNALED(status))
		_exit(WEXITSTATUS(status));
	signal(SIGSEGV, SIG_DFL);
	raise(WTERMSIG(status));
}

static void in_a_child(heddle_runtime *rt)
{
	end_as_child(outside_of_kernels, rt);
}

/* The runtime of its parent is none of the child's. */
static void own_runtime(heddle_runtime *rt)
{
	(void)rt;
	after_stop(watched(0));
}

static void own_runtime_in_a_child(heddle_runtime *rt)
{
	end_as_child(own_runtime, rt);
}

/* --- Stacks for handlers ------------------------------------------------------------------------------------------ */

static stack_t stack; /* for handlers, of the thread that has run the last kernel */

static int find_stack(heddle_context *c)
{
	(void)c;
	return sigaltstack(NULL, &stack);
}

static int can_be_read(const char *at)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	return write(ends[1], at, 1) == 1;
}

/* Handlers of the program run there, too: they need room, and must not overwrite what lies below. */
static void large_stack(heddle_runtime *rt)
{
	run(rt, find_stack, NULL, 0);
	char *low = stack.ss_sp;
	assert_true(stack.ss_size >= 256 << 10 && can_be_read(low) && can_be_read(low + stack.ss_size - 1));
	fputs(can_be_read(low - 1) ? "open\n" : "guarded\n", stderr);
	_exit(0);
}

/* In a child of fork there are no other threads, and no stacks of theirs. */
static void tell_stack(heddle_runtime *rt)
{
	(void)rt;
	fputs(can_be_read(stack.ss_sp) ? "still there\n" : "gone\n", stderr);
}

static void stack_in_a_child(heddle_runtime *rt)
{
	run(rt, find_stack, NULL, 0);
	end_as_child(tell_stack, rt);
}

/* --- The list ----------------------------------------------------------------------------------------------------- */

static const struct crash {
	const char *what;
	void (*program)(heddle_runtime *rt);
	int n_emulated;   /* 0: on a CPU worker */
	int signal;       /* by which it dies; 0: it ends */
	const char *said; /* part of what it writes */
} crashes[] = {
    {"a kernel reads behind its datum", behind_its_datum, 0, SIGSEGV,
     "heddle: step 7 (crash, task 0) on cpu0: segmentation fault at address 0x"},
    {"a kernel reads behind its datum: how far", behind_its_datum, 0, SIGSEGV, "018, 24 bytes behind x\n"},
    {"a kernel reads before its datum", before_its_datum, 0, SIGSEGV, "fd8, 40 bytes before x\n"},
    {"a kernel reads far behind its datum", far_behind_its_datum, 0, SIGSEGV, ", far from its data\n"},
    {"a kernel reads a datum whose memory has gone", inside_its_datum, 0, SIGSEGV, "inside x\n"},
    {"a kernel gets a datum to read whose memory has gone", inside_what_it_reads, 0, SIGSEGV, "inside x\n"},
    {"a kernel crashes that has overwritten a handle", smashed_handle, 0, SIGSEGV,
     "heddle: step 7 (crash, task 0) on cpu0: segmentation fault at address 0x"},
    {"a kernel follows NULL", null_pointer, 0, SIGSEGV,
     "step 7 (crash, task 0) on cpu0: segmentation fault at address 0x18: a pointer that is NULL\n"},
    {"a kernel follows NULL on an accelerator", null_pointer, 1, SIGSEGV,
     "step 7 (crash, task 0) on emulated0: segmentation fault at address 0x18: a pointer that is NULL\n"},
#ifdef __x86_64__
    {"a kernel follows what is no address", no_address, 0, SIGSEGV,
     "on cpu0: segmentation fault at something that is no address\n"},
    {"a kernel divides by zero", division, 0, SIGFPE, "on cpu0: arithmetic error: a division by zero\n"},
#endif
    {"a kernel reads behind the end of a file", end_of_file, 0, SIGBUS, ": bus error at address 0x"},
    {"a kernel fills its stack", full_stack, 0, SIGSEGV, ": the stack of the thread is full\n"},
    {"a program has its own handler", handled_by_the_program, 0, 0, "the program's own handler\n"},
    {"a program crashes outside of kernels", outside_of_kernels, 0, SIGSEGV, "outside\n"},
    {"a program crashes in a child of fork", in_a_child, 0, SIGSEGV, "outside\n"},
    {"a program is killed in a child of fork after heddle_stop", own_runtime_in_a_child, 0, SIGSEGV, "gone\n"},
    {"a program's handlers have a large stack", large_stack, 0, 0, "guarded\n"},
    {"a program forks, and its child has no stacks of other threads", stack_in_a_child, 0, 0, "gone\n"},
    {"a program is killed", sent, 0, SIGSEGV, "killed\n"},
    {"a program is killed after heddle_stop", after_stop, 0, SIGSEGV, "gone\n"},
};
enum { N_CRASHES = sizeof crashes / sizeof *crashes };

/* The process that is to die: without handlers of the test, and without a file of its memory. */
static _Noreturn void die(const struct crash *c, int to)
{
	const struct rlimit none = {0};
	static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE};
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		signal(signals[i], SIG_DFL);
	setrlimit(RLIMIT_CORE, &none);
	dup2(to, STDERR_FILENO);
	setvbuf(stderr, NULL, _IONBF, 0);
	c->program(watched(c->n_emulated));
	_exit(99);
}

static size_t read_all(int from, char *buffer, size_t size)
{
	size_t n = 0;
	for (ssize_t more; n < size - 1 && (more = read(from, buffer + n, size - 1 - n)) > 0;)
		n += (size_t)more;
	buffer[n] = '\0';
	return n;
}

static void is_told(void **state)
{
	const struct crash *c = *state;
	char said[2000];
	int ends[2], status;
	if (SANITIZED)
		skip(); /* it sees these mistakes first, and has handlers of its own */
	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	pid_t child = fork();
	if (!child)
		die(c, ends[1]);
	close(ends[1]);
	read_all(ends[0], said, sizeof said);
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	if ((WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)) != c->signal || !strstr(said, c->said))
		fail_msg("it ended with status %#x and said \"%s\", and not \"%s\"", (unsigned)status, said, c->said);
	/* One sentence, and none where no kernel has crashed. */
	const char *first = strstr(said, "heddle: ");
	assert_int_equal(first != NULL, strncmp(c->what, "a kernel", 8) == 0);
	assert_true(!first || !strstr(first + 1, "heddle: "));
}

int main(void)
{
	struct CMUnitTest tests[N_CRASHES];
	for (size_t i = 0; i < N_CRASHES; i++)
		tests[i] = (struct CMUnitTest){crashes[i].what, is_told, NULL, NULL, (void *)(uintptr_t)&crashes[i]};
	return cmocka_run_group_tests_name("mistakes_crashes", tests, NULL, NULL);
}
