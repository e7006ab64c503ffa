/* Jobs that do not depend on each other, on several threads: see tool.h. */
#include "tool.h"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct queue {
	/* These fields do not change while threads run. */
	int (*job)(void *arg, size_t i);
	void *arg;
	size_t n;
	pthread_mutex_t lock; /* protects the fields below */
	size_t next, done;
	double begun; /* s of tool_wall_clock */
	int status;
};

static void *work_off(void *arg)
{
	struct queue *q = arg;
	pthread_mutex_lock(&q->lock);
	while (q->next < q->n) {
		size_t i = q->next++;
		pthread_mutex_unlock(&q->lock);
		int status = q->job(q->arg, i);
		pthread_mutex_lock(&q->lock);
		q->done++;
		q->status = q->status ? q->status : status;
		char *text =
		    tool_progress_text((double)q->done, (double)q->n, "simulations", tool_wall_clock() - q->begun);
		tool_progress("%s", text);
		free(text);
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

int tool_jobs(int (*job)(void *arg, size_t i), void *arg, size_t n, size_t n_threads)
{
	struct queue q = {.job = job, .arg = arg, .n = n, .begun = tool_wall_clock()};
	pthread_t *threads = tool_alloc(n_threads * sizeof *threads);
	size_t started = 0;
	pthread_mutex_init(&q.lock, NULL);
	while (started + 1 < n_threads && pthread_create(&threads[started], NULL, work_off, &q) == 0)
		started++;
	work_off(&q);
	while (started > 0)
		pthread_join(threads[--started], NULL);
	pthread_mutex_destroy(&q.lock);
	free(threads);
	tool_progress_end();
	return q.status;
}

size_t tool_cores(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 ? (size_t)n : 1;
}
