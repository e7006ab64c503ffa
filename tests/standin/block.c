/* Runs the blocks of a launch, one after the other: the threads of a block are fibres of the thread that runs it.
 *
 * Under ThreadSanitizer, this file and the kernels are compiled without it, since it would follow each fibre as a
 * thread of its own, at great cost. So it does not see what kernels do to memory; it sees copies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "block.h"
#include "inside.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#endif
#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define STACK_BYTES ((size_t)256 << 10)
#else
#define STACK_BYTES ((size_t)64 << 10)
#endif
#define GUARD_BYTES ((size_t)4096)
#define WARP 32u
#define MAX_THREADS 1024u
#define MAX_MASKS 16u

/* A stack on which threads of kernels run, one after the other. */
struct fibre {
	void *sp; /* where it waits */
	char *stack;
	void *fake; /* of AddressSanitizer */
	struct fibre *next;
};

struct thread {
	struct standin_here here;
	struct fibre *fibre;       /* NULL: has not begun, or has ended */
	const unsigned *waits_for; /* it may go on when that is no longer `seen` */
	unsigned seen;
	int ended;
};

/* Where lanes of a warp meet. Two sets of values, for even and odd generations: a lane may be one meeting ahead. */
struct meeting {
	unsigned mask, arrived, generation;
	uint64_t values[2][WARP];
};

struct warp {
	unsigned n_masks;
	struct meeting meetings[MAX_MASKS];
};

/* What runs the blocks on one thread. */
struct runner {
	const struct launch *launch;
	struct thread *running;
	void *sp; /* of the scheduler, while a fibre runs */
	void *fake;
	const void *stack;
	size_t stack_bytes;
	struct fibre *unused;
	int failed;
	/* the barrier */
	unsigned n, arrived, generation, line;
	int votes, counted; /* of the last barrier, of this one */
	char *shared;
	size_t shared_bytes;
	struct warp warps[MAX_THREADS / WARP];
	struct thread threads[MAX_THREADS];
};

__thread struct standin_here *standin_here;
static _Thread_local struct runner *runner;

/* --- Fibres ------------------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
__asm__(".text\n"
        ".hidden standin_switch\n"
        ".globl standin_switch\n"
        ".type standin_switch, @function\n"
        "standin_switch:\n"
        "	pushq %rbp\n	pushq %rbx\n	pushq %r12\n	pushq %r13\n	pushq %r14\n	pushq %r15\n"
        "	movq %rsp, (%rdi)\n"
        "	movq %rsi, %rsp\n"
        "	popq %r15\n	popq %r14\n	popq %r13\n	popq %r12\n	popq %rbx\n	popq %rbp\n"
        "	ret\n"
        ".size standin_switch, .-standin_switch\n");
#define SAVED_WORDS 8 /* six registers, the address to return to, and one to align the stack */
#define RETURN_WORD 6
#elif defined(__aarch64__)
__asm__(".text\n"
        ".hidden standin_switch\n"
        ".globl standin_switch\n"
        ".type standin_switch, @function\n"
        "standin_switch:\n"
        "	sub sp, sp, #160\n"
        "	stp x19, x20, [sp]\n	stp x21, x22, [sp, #16]\n	stp x23, x24, [sp, #32]\n"
        "	stp x25, x26, [sp, #48]\n	stp x27, x28, [sp, #64]\n	stp x29, x30, [sp, #80]\n"
        "	stp d8, d9, [sp, #96]\n	stp d10, d11, [sp, #112]\n	stp d12, d13, [sp, #128]\n"
        "	stp d14, d15, [sp, #144]\n"
        "	mov x9, sp\n	str x9, [x0]\n"
        "	mov sp, x1\n"
        "	ldp x19, x20, [sp]\n	ldp x21, x22, [sp, #16]\n	ldp x23, x24, [sp, #32]\n"
        "	ldp x25, x26, [sp, #48]\n	ldp x27, x28, [sp, #64]\n	ldp x29, x30, [sp, #80]\n"
        "	ldp d8, d9, [sp, #96]\n	ldp d10, d11, [sp, #112]\n	ldp d12, d13, [sp, #128]\n"
        "	ldp d14, d15, [sp, #144]\n"
        "	add sp, sp, #160\n"
        "	ret\n"
        ".size standin_switch, .-standin_switch\n");
#define SAVED_WORDS 20
#define RETURN_WORD 11
#else
#error "no way to switch between fibres on this processor"
#endif

/* Called by a fibre: lets the scheduler go on. */
static void yield(void)
{
	struct fibre *fibre = runner->running->fibre;
#ifdef WITH_ASAN
	__sanitizer_start_switch_fiber(&fibre->fake, runner->stack, runner->stack_bytes);
#endif
	standin_switch(&fibre->sp, runner->sp);
#ifdef WITH_ASAN
	__sanitizer_finish_switch_fiber(fibre->fake, &runner->stack, &runner->stack_bytes);
#endif
}

/* What each fibre does: runs one thread after the other. */
static void run_threads(void)
{
#ifdef WITH_ASAN
	__sanitizer_finish_switch_fiber(NULL, &runner->stack, &runner->stack_bytes);
#endif
	for (;;) {
		runner->launch->kernel->call(runner->launch->values);
		runner->running->ended = 1;
		yield();
	}
}

/* Lets it begin with run_threads, whatever was on its stack. */
static void reset_fibre(struct fibre *f)
{
	void **top = (void **)(void *)(f->stack + STACK_BYTES);
#ifdef WITH_ASAN
	__asan_unpoison_memory_region(f->stack + GUARD_BYTES, STACK_BYTES - GUARD_BYTES);
#endif
	memset(top - SAVED_WORDS, 0, SAVED_WORDS * sizeof *top);
	top[-SAVED_WORDS + RETURN_WORD] = (void *)(uintptr_t)run_threads;
	f->sp = top - SAVED_WORDS;
	f->fake = NULL;
}

static struct fibre *take_fibre(void)
{
	struct fibre *f = runner->unused;
	if (f) {
		runner->unused = f->next;
		return f;
	}
	f = calloc(1, sizeof *f);
	void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!f || stack == MAP_FAILED)
		abort(); /* no test lets allocations of the stand-in fail */
	f->stack = stack;
	mprotect(f->stack, GUARD_BYTES, PROT_NONE);
	reset_fibre(f);
	return f;
}

static void put_fibre(struct thread *t)
{
	t->fibre->next = runner->unused;
	runner->unused = t->fibre;
	t->fibre = NULL;
}

/* --- Threads of a block ------------------------------------------------------------------------------------------- */

static void resume(struct thread *t)
{
	if (!t->fibre)
		t->fibre = take_fibre();
	runner->running = t;
	standin_here = &t->here;
#ifdef WITH_ASAN
	__sanitizer_start_switch_fiber(&runner->fake, t->fibre->stack, STACK_BYTES);
#endif
	standin_switch(&runner->sp, t->fibre->sp);
#ifdef WITH_ASAN
	__sanitizer_finish_switch_fiber(runner->fake, NULL, NULL);
#endif
	if (t->ended)
		put_fibre(t);
}

/* The thread that runs has done something wrong: the launch ends. */
static void fail(const char *what, unsigned a, unsigned b)
{
	const struct standin_here *here = &runner->running->here;
	char text[160];
	snprintf(text, sizeof text, what, a, b);
	complain("kernel %s, block (%u, %u, %u), thread (%u, %u, %u): %s", runner->launch->kernel->name,
	         here->block_index.x, here->block_index.y, here->block_index.z, here->thread_index.x,
	         here->thread_index.y, here->thread_index.z, text);
	runner->failed = 1;
	for (;;)
		yield();
}

/* Waits until *generation has changed. */
static void wait_for(const unsigned *generation)
{
	runner->running->waits_for = generation;
	runner->running->seen = *generation;
	yield();
}

int standin_barrier(unsigned line, enum standin_vote vote, int value)
{
	struct runner *r = runner;
	if (r->arrived == 0)
		r->line = line;
	else if (r->line != line)
		fail("it waits in the barrier of line %u, others in that of line %u", line, r->line);
	r->counted += value;
	if (++r->arrived == r->n) {
		r->votes = r->counted;
		r->arrived = 0;
		r->counted = 0;
		r->generation++;
	} else {
		wait_for(&r->generation);
	}
	return vote == STANDIN_COUNT ? r->votes : vote == STANDIN_AND ? r->votes == (int)r->n : r->votes > 0;
}

static struct meeting *find_meeting(struct warp *w, unsigned mask)
{
	for (unsigned i = 0; i < w->n_masks; i++) {
		if (w->meetings[i].mask == mask)
			return &w->meetings[i];
	}
	if (w->n_masks == MAX_MASKS)
		fail("its warp uses more than %u masks (this one is %#x)", MAX_MASKS, mask);
	struct meeting *m = &w->meetings[w->n_masks++];
	memset(m, 0, sizeof *m);
	m->mask = mask;
	return m;
}

const uint64_t *standin_exchange(unsigned mask, uint64_t value)
{
	struct runner *r = runner;
	unsigned index = (unsigned)(r->running - r->threads), lane = index % WARP, left = r->n - index / WARP * WARP;
	unsigned lanes = left >= WARP ? ~0u : (1u << left) - 1;
	struct meeting *m = find_meeting(&r->warps[index / WARP], mask);
	if (!(mask >> lane & 1))
		fail("lane %u exchanges with the mask %#x, which lacks it", lane, mask);
	unsigned set = m->generation & 1;
	m->values[set][lane] = value;
	m->arrived |= 1u << lane;
	if (m->arrived == (mask & lanes)) {
		m->arrived = 0;
		m->generation++;
	} else {
		wait_for(&m->generation);
	}
	return m->values[set];
}

/* Runs each thread that may go on once. Returns how many did. */
static unsigned pass(void)
{
	unsigned n = 0;
	for (unsigned i = 0; i < runner->n && !runner->failed; i++) {
		struct thread *t = &runner->threads[i];
		if (t->ended || (t->waits_for && *t->waits_for == t->seen))
			continue;
		t->waits_for = NULL;
		resume(t);
		n++;
	}
	return n;
}

/* No thread can go on, or one has failed: what is left of them is dropped. */
static void drop_threads(void)
{
	unsigned n_ended = 0;
	struct thread *waiting = NULL;
	for (unsigned i = 0; i < runner->n; i++) {
		struct thread *t = &runner->threads[i];
		n_ended += (unsigned)t->ended;
		if (t->fibre) {
			waiting = t;
			reset_fibre(t->fibre);
			put_fibre(t);
		}
	}
	if (runner->failed || !waiting)
		return;
	if (waiting->waits_for == &runner->generation)
		complain("kernel %s: %u of %u threads wait in the barrier of line %u, %u have ended without it",
		         runner->launch->kernel->name, runner->arrived, runner->n, runner->line, n_ended);
	else
		complain("kernel %s: thread (%u, %u, %u) waits for lanes of its warp that never come",
		         runner->launch->kernel->name, waiting->here.thread_index.x, waiting->here.thread_index.y,
		         waiting->here.thread_index.z);
	runner->failed = 1;
}

static void begin_block(const struct launch *l, uint3 block)
{
	dim3 size = {l->block[0], l->block[1], l->block[2]}, grid = {l->grid[0], l->grid[1], l->grid[2]};
	runner->arrived = 0;
	runner->counted = 0;
	for (unsigned i = 0; i < runner->n; i++) {
		uint3 thread = {i % size.x, i / size.x % size.y, i / size.x / size.y};
		struct standin_here here = {thread, block, size, grid, runner->shared, i % WARP};
		runner->threads[i] = (struct thread){.here = here};
	}
	for (unsigned w = 0; w < MAX_THREADS / WARP; w++)
		runner->warps[w].n_masks = 0;
	memset(runner->shared, 0xff, runner->shared_bytes);
}

static void make_runner(void)
{
	runner = calloc(1, sizeof *runner);
	if (!runner || posix_memalign((void **)&runner->shared, 256, (size_t)228 << 10))
		abort();
}

int run_launch(const struct launch *launch)
{
	if (!runner)
		make_runner();
	runner->launch = launch;
	runner->failed = 0;
	runner->n = launch->block[0] * launch->block[1] * launch->block[2];
	runner->shared_bytes = launch->shared_bytes;
	unsigned nx = launch->grid[0], ny = launch->grid[1], nz = launch->grid[2];
	for (unsigned b = 0; b / nx / ny < nz && !runner->failed; b++) {
		begin_block(launch, (uint3){b % nx, b / nx % ny, b / nx / ny});
		while (pass() > 0) {
		}
		drop_threads();
	}
	return !runner->failed;
}

void end_launches(void)
{
	if (!runner)
		return;
	while (runner->unused) {
		struct fibre *f = take_fibre();
		munmap(f->stack, STACK_BYTES);
		free(f);
	}
	free(runner->shared);
	free(runner);
	runner = NULL;
}
