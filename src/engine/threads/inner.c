/* Sets the number of threads of the libraries that kernels may call: OpenMP, MKL, BLIS, OpenBLAS. Heddle is linked with
 * none of these libraries: it looks their functions up in the process. Some libraries keep one number of threads per
 * calling thread, others one per process, as the table below says. docs/parallel.md describes the consequences for
 * programs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include "team.h"
#include "state/engine.h"

typedef void (*set_fn)(int);
typedef int (*get_fn)(void);
/* The type of BLIS's functions, whose integers are as wide as addresses. */
typedef void (*wide_set_fn)(intptr_t);
typedef intptr_t (*wide_get_fn)(void);

/* Writes the address of a function of the process to `function`, a pointer to a function pointer. Returns whether the
 * process has the function. Copies the bytes, because ISO C has no conversion from an object pointer to a function
 * pointer. */
static int find(const char *name, void *function)
{
	void *found = dlsym(RTLD_DEFAULT, name);
	memcpy(function, &found, sizeof found);
	return found != NULL;
}

/* Whether OpenBLAS was built with its own threads, which all callers share. Built with OpenMP, it uses OpenMP's number
 * of threads. */
static int has_one_pool(void)
{
	get_fn kind;
	return find("openblas_get_parallel", &kind) && kind() == 1;
}

static const struct library {
	/* the library's usual name; the environment variable that sets its number of threads */
	const char *name, *variable;
	const char *set, *get; /* get is NULL: `set` with 0 restores the previous number */
	int is_wide;           /* 1: the functions take intptr_t instead of int */
	int of_process;        /* 1: the number belongs to the process, not to the calling thread */
	int (*applies)(void);  /* NULL: always */
} libraries[] = {
    {"OpenMP", "OMP_NUM_THREADS", "omp_set_num_threads", "omp_get_max_threads", 0, 0, NULL}, /* GNU, LLVM, Intel */
    {"MKL", "MKL_NUM_THREADS", "mkl_set_num_threads_local", NULL, 0, 0, NULL},
    {"BLIS", "BLIS_NUM_THREADS", "bli_thread_set_num_threads", "bli_thread_get_num_threads", 1, 0, NULL},
    {"OpenBLAS", "OPENBLAS_NUM_THREADS", "openblas_set_num_threads", "openblas_get_num_threads", 0, 1, has_one_pool},
};
_Static_assert(sizeof libraries / sizeof libraries[0] == HD_N_INNER, "see struct hd_inner");

/* Guards the numbers that belong to the process, which all threads of all runtimes set. */
static pthread_mutex_t process_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hd_number process_numbers[HD_N_INNER];

/* The functions of a library, as found in the process. */
struct found {
	int is_wide;
	union {
		set_fn narrow;
		wide_set_fn wide;
	} set;
	union {
		get_fn narrow;
		wide_get_fn wide;
	} get;
};

static int find_library(const struct library *l, struct found *f)
{
	*f = (struct found){.is_wide = l->is_wide};
	return find(l->set, &f->set) && (!l->get || find(l->get, &f->get)) && (!l->applies || l->applies());
}

static int get_number(const struct found *f)
{
	return f->is_wide ? (int)f->get.wide() : f->get.narrow();
}

static void set_number(const struct found *f, int n)
{
	if (f->is_wide)
		f->set.wide(n);
	else
		f->set.narrow(n);
}

/* Sets the library's number of threads. If the number belongs to the process, only a worker that is alone sets it to
 * `threads`; any other worker sets it to 1, because all workers share it. */
static void set_library(const struct library *l, struct hd_number *n, unsigned threads, int alone)
{
	struct found f;
	int shares = l->of_process && !alone;
	if (!find_library(l, &f) || (!n->set && (!threads || shares)))
		return;
	threads = shares && threads > 1 ? 1 : threads;
	if (!n->set)
		n->before = l->get ? get_number(&f) : 0;
	/* if the program has set another number since, that number stays */
	if (threads || !l->get || get_number(&f) == n->set)
		set_number(&f, threads ? (int)threads : n->before);
	n->set = (int)threads;
}

int hd_inner_exceeds(unsigned cores, struct hd_eager *eager)
{
	for (size_t i = HD_N_INNER; i-- > 0;) {
		const struct library *l = &libraries[i];
		struct found f;
		get_fn mkl;
		int n = 0;
		if (find_library(l, &f))
			n = l->get ? get_number(&f) : find("mkl_get_max_threads", &mkl) ? mkl() : 0;
		if (n < 1 || (unsigned)n <= cores)
			continue;
		*eager = (struct hd_eager){l->name, l->variable, (unsigned)n};
		return 1;
	}
	return 0;
}

void hd_inner_hush(void)
{
	enum { SOFT = 1 }; /* omp_pause_soft, which keeps the state of OpenMP */
	set_fn pause;
	if (find("omp_pause_resource_all", &pause))
		pause(SOFT);
}

void hd_inner_set(struct hd_inner *inner, unsigned threads, int alone)
{
	for (size_t i = 0; i < HD_N_INNER; i++)
		if (libraries[i].of_process) {
			pthread_mutex_lock(&process_lock);
			set_library(&libraries[i], &process_numbers[i], threads, alone);
			pthread_mutex_unlock(&process_lock);
		} else {
			set_library(&libraries[i], &inner->numbers[i], threads, alone);
		}
	inner->threads = threads;
}
