/* The libraries with threads of their own that kernels call: OpenMP, MKL, BLIS, OpenBLAS. Heddle is linked with none of
 * them, so their functions are looked up in the process. What each of them keeps is said below: a number per thread, or
 * one for the process. docs/parallel.md says what follows for programs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include "team.h"

typedef void (*set_fn)(int);
typedef int (*get_fn)(void);

/* A function of the process, or NULL. ISO C knows no conversion from an address to a function, so the bytes are
 * copied. */
static set_fn find_set(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);
	set_fn set;
	memcpy(&set, &found, sizeof set);
	return set;
}

static get_fn find_get(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);
	get_fn get;
	memcpy(&get, &found, sizeof get);
	return get;
}

/* OpenBLAS made with threads of its own, which all callers share. Made with OpenMP, it goes by the number of OpenMP. */
static int has_one_pool(void)
{
	get_fn kind = find_get("openblas_get_parallel");
	return kind && kind() == 1;
}

static const struct library {
	const char *set, *get; /* get NULL: to set 0 means as before */
	int of_process;        /* its number is that of the process, not of the calling thread */
	int (*applies)(void);  /* NULL: always */
} libraries[] = {
    {"omp_set_num_threads", "omp_get_max_threads", 0, NULL}, /* GNU, LLVM, Intel */
    {"mkl_set_num_threads_local", NULL, 0, NULL},
    {"bli_thread_set_num_threads", "bli_thread_get_num_threads", 0, NULL},
    {"openblas_set_num_threads", "openblas_get_num_threads", 1, has_one_pool},
};
_Static_assert(sizeof libraries / sizeof libraries[0] == HD_N_INNER, "see struct hd_inner");

/* The numbers of the process. All threads of all runtimes set them, so they have a lock of their own. */
static pthread_mutex_t process_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hd_number process_numbers[HD_N_INNER];

/* A number of the process is set by a worker that is alone; one that is not lets all have one thread. */
static void set_library(const struct library *l, struct hd_number *n, unsigned threads, int alone)
{
	set_fn set = find_set(l->set);
	get_fn get = l->get ? find_get(l->get) : NULL;
	int shares = l->of_process && !alone;
	if (!set || (l->get && !get) || (l->applies && !l->applies()) || (!n->set && (!threads || shares)))
		return;
	threads = shares && threads > 1 ? 1 : threads;
	if (!n->set)
		n->before = get ? get() : 0;
	if (threads || !get || get() == n->set) /* otherwise the program has set another number meanwhile */
		set(threads ? (int)threads : n->before);
	n->set = (int)threads;
}

void hd_inner_hush(void)
{
	enum { SOFT = 1 }; /* omp_pause_soft: nothing is forgotten */
	set_fn pause = find_set("omp_pause_resource_all");
	if (pause)
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
