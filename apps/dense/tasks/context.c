/* Opening and closing: the codelets of a runtime, and OpenBLAS's number of threads.
 *
 * The number of threads belongs to the whole process. So the number of runtimes that need it to be 1 is counted in a
 * global variable.
 */
#include <dense/internal.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

static pthread_mutex_t blas_lock =
    PTHREAD_MUTEX_INITIALIZER; /* protects the two variables below; no other lock is taken under it */
static unsigned blas_users;
static int blas_former_threads;

static void blas_retain(void)
{
	if (!openblas_set_num_threads || !openblas_get_num_threads)
		return;
	pthread_mutex_lock(&blas_lock);
	if (blas_users++ == 0)
		blas_former_threads = openblas_get_num_threads();
	/* at every open, because the program may have changed the number since the last open */
	openblas_set_num_threads(1);
	pthread_mutex_unlock(&blas_lock);
}

static void blas_drop(void)
{
	if (!openblas_set_num_threads || !openblas_get_num_threads)
		return;
	pthread_mutex_lock(&blas_lock);
	if (--blas_users == 0)
		openblas_set_num_threads(blas_former_threads);
	pthread_mutex_unlock(&blas_lock);
}

/* Address space that a worker may need: OpenBLAS gives each calling thread a buffer of 128 MiB, and malloc may map as
 * much for each thread. */
enum { MIB_PER_WORKER = 256 };

int hd_dense_check_space(const heddle_dense_matrix *a)
{
	struct rlimit limit;
	if (!openblas_set_num_threads || getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return 0;
	size_t n_workers = heddle_runtime_platform(a->dense->rt)->n_workers;
	size_t bytes = a->temporary ? a->shape.rows * a->shape.columns * hd_dense_elem_size(a->shape.precision) : 0;
	size_t needed = n_workers * ((size_t)MIB_PER_WORKER << 20) + bytes;
	void *room = mmap(NULL, needed, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room != MAP_FAILED) {
		munmap(room, needed);
		return 0;
	}
	return heddle_error(
	    HEDDLE_E_MEMORY,
	    "OpenBLAS may take %d MiB of address space for each of %zu workers, and %zu MiB are needed for "
	    "the matrix: the limit of this process, %llu MiB, leaves less; raise it (ulimit -v), or use fewer "
	    "workers (n_cpu, --ncpu)",
	    MIB_PER_WORKER, n_workers, bytes >> 20, (unsigned long long)limit.rlim_cur >> 20);
}

int hd_dense_no_memory(const char *what)
{
	return heddle_error(HEDDLE_E_MEMORY, "out of memory for %s", what);
}

/* Waits for all tasks. The wait goes on although the program's on_wait asks for its end, because a routine that has
 * begun cannot be begun again. */
static int wait_for_all(heddle_runtime *rt)
{
	int status;
	do
		status = heddle_wait_all(rt);
	while (status == HEDDLE_E_INTERRUPTED);
	return status;
}

static int wait_for_group(heddle_group *group)
{
	int status;
	do
		status = heddle_group_wait(group);
	while (status == HEDDLE_E_INTERRUPTED);
	return status;
}

int hd_dense_unregister(heddle_data *data)
{
	int status;
	do
		status = heddle_unregister(data);
	while (status == HEDDLE_E_INTERRUPTED);
	return status;
}

int hd_dense_wait(heddle_dense *dense, int status)
{
	if (status >= 0)
		return wait_for_all(dense->rt);
	char message[1024];
	snprintf(message, sizeof message, "%s", heddle_last_error());
	wait_for_all(dense->rt);
	return heddle_error(status, "%s", message);
}

int hd_dense_scope_open(heddle_dense *dense, struct hd_dense_scope *scope)
{
	int status = heddle_group_create(dense->rt, &scope->group);
	if (!status)
		scope->before = heddle_group_set(dense->rt, scope->group);
	return status;
}

int hd_dense_scope_close(heddle_dense *dense, struct hd_dense_scope *scope, int status)
{
	char message[1024];
	snprintf(message, sizeof message, "%s", status < 0 ? heddle_last_error() : "");
	heddle_group_set(dense->rt, scope->before);
	int waited = wait_for_group(scope->group);
	heddle_group_free(scope->group);
	return status < 0 ? heddle_error(status, "%s", message) : waited;
}

static int has_gpu(const struct heddle_platform *p)
{
	for (size_t c = 0; c < p->n_classes; c++)
		if (strcmp(p->classes[c].kind, "cuda") == 0)
			return 1;
	return 0;
}

size_t hd_dense_default_tile(const heddle_dense *dense, const char *routine, enum heddle_dense_precision precision,
                             size_t n)
{
	const struct heddle_platform *p = heddle_runtime_platform(dense->rt);
	const struct heddle_dense_problem problem = {.routine = routine, .precision = precision, .n = n};
	struct heddle_dense_tuned found;
	if (hd_dense_tuned_search(dense->tuned, p, &problem, &found))
		return found.tile;
	/* About eight tiles per worker in a column keep all workers busy. Tiles beyond 320 do not make products faster
	 * on a core; below 64 the overhead of tasks is too high. A GPU is as fast as many cores, but only with large
	 * tiles: products of tiles of 1024 leave half of a large GPU idle, and about sixteen tiles in a column are
	 * enough for its streams. */
	int gpu = has_gpu(p);
	size_t tile = n / (gpu ? 16 : 8 * p->n_workers) / 32 * 32, most = gpu ? 2048 : 320;
	return tile < 64 ? 64 : tile > most ? most : tile;
}

/* The text of the file of tiles that `heddle tune --here` has written; NULL: there is none, or the runtime simulates
 * another machine in virtual time. */
static char *read_tuned(heddle_runtime *rt)
{
	struct heddle_config config;
	int status = heddle_config_init(&config);
	int here = strcmp(heddle_runtime_platform(rt)->name, "this") == 0;
	return here && (!status || status == HEDDLE_E_UNKNOWN) ? hd_dense_tuned_read(config.model_dir) : NULL;
}

int heddle_dense_open(heddle_runtime *rt, heddle_dense **out)
{
	if (!rt || !out)
		return heddle_error(HEDDLE_E_INVALID, "heddle_dense_open needs a runtime and a place for its result");
	heddle_dense *dense = calloc(1, sizeof *dense);
	if (!dense)
		return hd_dense_no_memory("the dense codelets");
	dense->rt = rt;
	dense->tuned = read_tuned(rt);
	pthread_mutex_init(&dense->making, NULL);
	int status = hd_dense_codelets(dense);
	if (status < 0) {
		pthread_mutex_destroy(&dense->making);
		free(dense->tuned);
		free(dense);
		return status;
	}
	blas_retain();
	*out = dense;
	return 0;
}

void heddle_dense_close(heddle_dense *dense)
{
	if (!dense)
		return;
	blas_drop();
	pthread_mutex_destroy(&dense->making);
	free(dense->tuned);
	free(dense);
}
