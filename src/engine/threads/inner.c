/* The libraries with threads of their own that kernels call: OpenMP, MKL, BLIS, OpenBLAS. Heddle is linked with none of
 * them, so their functions are looked up in the process. What each of them keeps is said below: a number per thread, or
 * one for the process. docs/parallel.md says what follows for programs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include "team.h"
#include "state/engine.h"

typedef void (*set_fn)(int);
typedef int (*get_fn)(void);
/* Of BLIS, whose numbers are as wide as addresses. */
typedef void (*wide_set_fn)(intptr_t);
typedef intptr_t (*wide_get_fn)(void);

/* Writes the address of a function of the process to a pointer to functions, and returns whether there is one. ISO C
 * knows no conversion from an address to a function, so the bytes are copied. */
static int find(const char *name, void *function)
{
	void *found = dlsym(RTLD_DEFAULT, name);
	memcpy(function, &found, sizeof found);
	return found != NULL;
}

/* OpenBLAS made with threads of its own, which all callers share. Made with OpenMP, it goes by the number of OpenMP. */
static int has_one_pool(void)
{
	get_fn kind;
	return find("openblas_get_parallel", &kind) && kind() == 1;
}

static const struct library {
	const char *name, *variable; /* what users call it, and what sets its number from outside */
	const char *set, *get;       /* get NULL: to set 0 means as before */
	int is_wide;                 /* they have numbers of type intptr_t, otherwise int */
	int of_process;              /* its number is that of the process, not of the calling thread */
	int (*applies)(void);        /* NULL: always */
} libraries[] = {
    {"OpenMP", "OMP_NUM_THREADS", "omp_set_num_threads", "omp_get_max_threads", 0, 0, NULL}, /* GNU, LLVM, Intel */
    {"MKL", "MKL_NUM_THREADS", "mkl_set_num_threads_local", NULL, 0, 0, NULL},
    {"BLIS", "BLIS_NUM_THREADS", "bli_thread_set_num_threads", "bli_thread_get_num_threads", 1, 0, NULL},
    {"OpenBLAS", "OPENBLAS_NUM_THREADS", "openblas_set_num_threads", "openblas_get_num_threads", 0, 1, has_one_pool},
};
_Static_assert(sizeof libraries / sizeof libraries[0] == HD_N_INNER, "see struct hd_inner");

/* The numbers of the process. All threads of all runtimes set them, so they have a lock of their own. */
static pthread_mutex_t process_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hd_number process_numbers[HD_N_INNER];

/* The functions of a library that are found in the process. */
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

/* A number of the process is set by a worker that is alone; one that is not lets all have one thread. */
static void set_library(const struct library *l, struct hd_number *n, unsigned threads, int alone)
{
	struct found f;
	int shares = l->of_process && !alone;
	if (!find_library(l, &f) || (!n->set && (!threads || shares)))
		return;
	threads = shares && threads > 1 ? 1 : threads;
	if (!n->set)
		n->before = l->get ? get_number(&f) : 0;
	if (threads || !l->get || get_number(&f) == n->set) /* otherwise the program has set another number meanwhile */
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
	enum { SOFT = 1 }; /* omp_pause_soft: nothing is forgotten */
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
