/* Explains crashes. In checking mode, a handler of the fatal signals writes a message when a kernel crashes: the task
 * and its worker, the address, and the datum of the task that is nearest to the address. Then the process dies by the
 * signal, as it would have without the mode.
 *
 * The handler can interrupt the thread anywhere, also while the thread holds locks. Therefore the handler has a stack
 * of its own, takes no lock, allocates nothing, and only calls sigaction, raise and write; the names were prepared when
 * the task began. The handler finds its thread in a list, not in thread-local memory, which may have to be allocated.
 *
 * Handlers that the program or a sanitizer has installed stay installed. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include "internal.h"
#include "misuse.h"
#include "state/call_context.h"
#include "state/data.h"
#include "state/runtime.h"

/* A thread that runs kernels. A record is never freed: later threads reuse it. */
struct post {
	struct post *next; /* const */
	/* The thread; 0: the record is free. Relaxed, pairs with nothing: the handler looks only for the value that its
	 * own thread has stored. */
	_Atomic pid_t thread;
	struct hd_inside *const *innermost; /* where the thread keeps its innermost record: hd_inside_place */
	char *stack;                        /* owned, from map_stack; NULL: the thread already had a signal stack */
};

static struct hd_lock lock; /* guards n_runtimes, installed, has_key, at_end and additions to the list of posts */
static unsigned n_runtimes; /* runtimes of this process in checking mode */
/* pairs: the release store in take_post() with the acquire load in running_here(), so that the handler sees complete
 * records. */
static struct post *_Atomic posts;
static _Thread_local struct post *mine;

static const struct {
	int number;
	const char *what;
} signals[] = {{SIGSEGV, "segmentation fault"}, {SIGBUS, "bus error"}, {SIGFPE, "arithmetic error"}};
enum { N_SIGNALS = sizeof signals / sizeof *signals };
static int installed[N_SIGNALS];

/* --- The message -------------------------------------------------------------------------------------------------- */

struct line {
	char text[512];
	size_t n;
};

static void put(struct line *l, const char *s)
{
	while (*s && l->n < sizeof l->text - 1)
		l->text[l->n++] = *s++;
}

static void put_number(struct line *l, uintptr_t x, unsigned base)
{
	char digits[24];
	size_t at = sizeof digits - 1;
	digits[at] = '\0';
	do {
		digits[--at] = "0123456789abcdef"[x % base];
		x /= base;
	} while (x);
	put(l, &digits[at]);
}

static void write_out(struct line *l)
{
	ssize_t done = write(STDERR_FILENO, l->text, l->n);
	(void)done; /* an error of write cannot be reported anywhere */
	l->n = 0;
}

/* The stack pointer at the time of the signal; 0: unknown on this architecture. */
static uintptr_t stack_pointer(const void *context)
{
	const ucontext_t *c = context;
#if defined(__x86_64__)
	return (uintptr_t)c->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
	return (uintptr_t)c->uc_mcontext.sp;
#else
	(void)c;
	return 0;
#endif
}

/* A datum of the task and its distance from the address. */
struct distance {
	const struct hd_watched *item;
	uintptr_t bytes;
	const char *where;
};

static void measure(const struct hd_watch *w, const struct hd_watched *x, uintptr_t at, struct distance *least)
{
	enum { MOST = 256 }; /* limit on the parts that are read: the kernel may have overwritten their number */
	const struct hd_replica *r = &x->data->replicas[hd_watch_node(w)];
	size_t n = hd_data_n_parts(x->data);
	for (size_t i = 0; r->ptr && i < n && i < MOST; i++) {
		struct heddle_part part;
		uintptr_t low, high;
		hd_data_part_at(x->data, r, i, &part);
		hd_span_of(&part, &low, &high);
		struct distance d = {x, 0, "inside "};
		if (at < low)
			d = (struct distance){x, low - at, " bytes before "};
		else if (at >= high)
			d = (struct distance){x, at - high, " bytes behind "};
		if (!least->item || d.bytes < least->bytes)
			*least = d;
	}
}

/* Writes which datum is nearest to the address. Reads handles, which the faulty kernel may have overwritten: reading
 * them may crash again, and then the process dies. Therefore everything that needs no handle is written first. */
static void put_place(struct line *l, const struct hd_watch *w, uintptr_t at)
{
	enum { FAR = 16 << 20 };
	struct distance least = {0};
	write_out(l);
	if (hd_task_runtime(w->task)->misuse->host[hd_watch_node(w)])
		for (size_t i = 0; i < w->n; i++)
			if (w->items[i].data)
				measure(w, &w->items[i], at, &least);
	if (!least.item || least.bytes > FAR) {
		put(l, ", far from its data");
		return;
	}
	put(l, ", ");
	if (least.where[0] == ' ')
		put_number(l, least.bytes, 10);
	put(l, least.where);
	put(l, least.item->name);
}

static void put_address(struct line *l, const struct hd_watch *w, uintptr_t at, uintptr_t sp)
{
	enum { FIRST_PAGE = 4096, FRAME = 64 << 10 };
	put(l, " at address 0x");
	put_number(l, at, 16);
	if (at < FIRST_PAGE)
		put(l, ": a pointer that is NULL");
	else if (sp && at + FRAME > sp && at < sp + FRAME)
		put(l, ": the stack of the thread is full");
	else
		put_place(l, w, at);
}

static void tell(const struct hd_watch *w, const char *what, const siginfo_t *info, const void *context)
{
	struct line l = {.n = 0};
	int by_kernel = info->si_code == SI_KERNEL; /* Linux reports no address for this code */
	put(&l, "heddle: ");
	put(&l, w->title);
	put(&l, ": ");
	put(&l, what);
	if (info->si_signo == SIGFPE)
		put(&l, info->si_code == FPE_INTDIV ? ": a division by zero" : "");
	else if (by_kernel)
		put(&l, " at something that is no address");
	else
		put_address(&l, w, (uintptr_t)info->si_addr, stack_pointer(context));
	put(&l, "\n");
	write_out(&l);
}

/* --- The handler -------------------------------------------------------------------------------------------------- */

/* The watch of the task whose kernel the calling thread runs; NULL: no kernel runs, or the task is not watched. */
static const struct hd_watch *running_here(void)
{
	pid_t me = gettid();
	/* pairs: the release store in take_post() */
	for (const struct post *p = atomic_load_explicit(&posts, memory_order_acquire); p; p = p->next)
		/* relaxed, pairs with nothing: see post.thread */
		if (atomic_load_explicit(&p->thread, memory_order_relaxed) == me)
			return *p->innermost ? (*p->innermost)->watch : NULL;
	return NULL;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	/* `sent`: 1: a program has sent the signal; no instruction of the thread has caused it */
	int before = errno, sent = info->si_code <= 0;
	const struct hd_watch *w = sent ? NULL : running_here();
	for (size_t i = 0; w && i < N_SIGNALS; i++)
		if (signals[i].number == number)
			tell(w, signals[i].what, info, context);
	const struct sigaction as_before = {.sa_handler = SIG_DFL};
	sigaction(number, &as_before, NULL);
	if (sent)
		raise(number);
	errno = before; /* the thread repeats the faulty instruction, with the default action, and dies */
}

static void install(void)
{
	struct sigaction now, own = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
	own.sa_sigaction = on_signal;
	sigemptyset(&own.sa_mask);
	/* Under a sanitizer no handler is installed: ThreadSanitizer does not report its own handlers through
	 * sigaction. */
	for (size_t i = 0; i < N_SIGNALS && !__sanitizer_print_stack_trace; i++)
		installed[i] = !sigaction(signals[i].number, NULL, &now) && !(now.sa_flags & SA_SIGINFO) &&
		               now.sa_handler == SIG_DFL && !sigaction(signals[i].number, &own, NULL);
}

static void uninstall(void)
{
	const struct sigaction as_before = {.sa_handler = SIG_DFL};
	struct sigaction now;
	for (size_t i = 0; i < N_SIGNALS; i++) {
		if (installed[i] && !sigaction(signals[i].number, NULL, &now) && (now.sa_flags & SA_SIGINFO) &&
		    now.sa_sigaction == on_signal)
			sigaction(signals[i].number, &as_before, NULL);
		installed[i] = 0;
	}
}

void hd_crash_open(void)
{
	hd_lock(&lock);
	if (!n_runtimes++)
		install();
	hd_unlock(&lock);
}

void hd_crash_close(void)
{
	hd_lock(&lock);
	if (!--n_runtimes)
		uninstall();
	hd_unlock(&lock);
}

/* --- Threads ------------------------------------------------------------------------------------------------------ */

static pthread_key_t at_end; /* calls leave_post when a thread ends */
static int has_key;

/* Bytes of a signal stack. The program's handlers of other signals run on this stack, too. */
enum { STACK = 256 << 10 };

/* Size of the guard below a signal stack: an overflow crashes instead of overwriting other memory. */
static size_t guard_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Maps a guard and the stack above it. NULL: out of memory. */
static char *map_stack(void)
{
	size_t size = guard_size() + STACK;
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (stack == MAP_FAILED)
		return NULL;
	if (!mprotect(stack, guard_size(), PROT_NONE))
		return stack;
	munmap(stack, size);
	return NULL;
}

static void unmap_stack(struct post *p)
{
	char *stack = p->stack;
	/* cleared before munmap: if another thread forks in between, the child must not unmap memory that was mapped at
	 * this address meanwhile */
	p->stack = NULL;
	if (stack)
		munmap(stack, guard_size() + STACK);
}

static void leave_post(void *arg)
{
	struct post *p = arg;
	const stack_t none = {.ss_flags = SS_DISABLE};
	if (p->stack)
		sigaltstack(&none, NULL);
	unmap_stack(p);
	mine = NULL;
	hd_lock(&lock);
	atomic_store_explicit(&p->thread, 0, memory_order_relaxed); /* relaxed, pairs with nothing: see post.thread */
	hd_unlock(&lock);
}

/* Runs when the library is unloaded or the process ends: afterwards no signal and no ending thread may call code of
 * this file. Signal stacks stay with the threads that have them. */
__attribute__((destructor)) static void end_watching(void)
{
	hd_lock(&lock);
	if (has_key)
		pthread_key_delete(at_end);
	has_key = 0;
	uninstall();
	hd_unlock(&lock);
}

/* Takes a free record, or a new one, for the calling thread. NULL: out of memory. */
static struct post *take_post(void)
{
	/* Relaxed (both loads), pairs with nothing: the lock is held. */
	struct post *first = atomic_load_explicit(&posts, memory_order_relaxed), *p = first;
	HD_HELD(&lock);
	while (p && atomic_load_explicit(&p->thread, memory_order_relaxed))
		p = p->next;
	int fresh = !p;
	if (fresh && !(p = calloc(1, sizeof *p)))
		return NULL;
	p->innermost = hd_inside_place();
	/* relaxed, pairs with nothing: see post.thread */
	atomic_store_explicit(&p->thread, gettid(), memory_order_relaxed);
	if (fresh) {
		p->next = first;
		atomic_store_explicit(&posts, p, memory_order_release); /* pairs: the load in running_here() */
	}
	return p;
}

/* Gives the thread a signal stack, so that the handler can run when the thread's own stack is full. */
static void make_stack(struct post *p)
{
	stack_t own = {.ss_size = STACK}, now;
	if (sigaltstack(NULL, &now) || !(now.ss_flags & SS_DISABLE) || !(p->stack = map_stack()))
		return;
	own.ss_sp = p->stack + guard_size();
	if (sigaltstack(&own, NULL))
		unmap_stack(p);
}

void hd_crash_watch_thread(void)
{
	if (HD_LIKELY(mine != NULL))
		return;
	hd_lock(&lock);
	if (!has_key)
		has_key = !pthread_key_create(&at_end, leave_post);
	mine = has_key ? take_post() : NULL;
	if (mine)
		pthread_setspecific(at_end, mine);
	hd_unlock(&lock);
	if (mine)
		make_stack(mine);
}

void hd_crash_forked(void)
{
	lock = (struct hd_lock){0};
	/* The runtimes belong to the parent: no runtime works in the child, and heddle_stop refuses them. */
	n_runtimes = 0;
	uninstall();
	/* Relaxed (loads and stores), pairs with nothing: the child has one thread. */
	for (struct post *p = atomic_load_explicit(&posts, memory_order_relaxed); p; p = p->next) {
		atomic_store_explicit(&p->thread, p == mine ? gettid() : 0, memory_order_relaxed);
		if (p != mine)
			unmap_stack(p);
	}
}
