/* Opening and closing: the codelets of a runtime, and OpenBLAS's number of threads.
 *
 * That number is a variable of the whole process inside OpenBLAS. So is, of necessity, the count of those who need it
 * to be one: the only mutable state of file scope here.
 */
#include <dense/internal.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Weak: another BLAS lacks them, and is then expected to be sequential. */
extern void openblas_set_num_threads(int n) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

static pthread_mutex_t blas_lock = PTHREAD_MUTEX_INITIALIZER; /* protects the two below; nothing is taken under it */
static unsigned blas_users;
static int blas_former_threads;

static void blas_retain(void)
{
	if (!openblas_set_num_threads || !openblas_get_num_threads)
		return;
	pthread_mutex_lock(&blas_lock);
	if (blas_users++ == 0)
		blas_former_threads = openblas_get_num_threads();
	openblas_set_num_threads(1); /* each time: the program may have changed it in between */
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

int hd_dense_no_memory(const char *what)
{
	return heddle_error(HEDDLE_E_MEMORY, "out of memory for %s", what);
}

int hd_dense_wait(heddle_dense *dense, int status)
{
	if (status >= 0)
		return heddle_wait_all(dense->rt);
	char message[1024];
	snprintf(message, sizeof message, "%s", heddle_last_error());
	heddle_wait_all(dense->rt);
	return heddle_error(status, "%s", message);
}

int heddle_dense_open(heddle_runtime *rt, heddle_dense **out)
{
	if (!rt || !out)
		return heddle_error(HEDDLE_E_INVALID, "heddle_dense_open needs a runtime and a place for its result");
	heddle_dense *dense = calloc(1, sizeof *dense);
	if (!dense)
		return hd_dense_no_memory("the dense codelets");
	dense->rt = rt;
	int status = hd_dense_codelets(dense);
	if (status < 0) {
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
	free(dense);
}
