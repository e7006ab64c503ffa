/* Threads beside those of a random program, which do what kernels leave to them. */
#ifndef RANDOM_THREADS_POOL_H
#define RANDOM_THREADS_POOL_H

#include "support.h"

struct job {
	struct job *next;
	void (*run)(struct job *job); /* frees the job */
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct job *first; /* the newest: the order is to be another one than that of the kernels */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER};

static void *run_jobs(void *arg)
{
	(void)arg;
	for (;;) {
		pthread_mutex_lock(&pool.lock);
		while (!pool.first)
			pthread_cond_wait(&pool.filled, &pool.lock);
		struct job *job = pool.first;
		pool.first = job->next;
		pthread_mutex_unlock(&pool.lock);
		job->run(job);
	}
	return NULL;
}

/* Whether it failed. The threads live as long as the process. */
static inline int start_pool(void)
{
	enum { N_THREADS = 3 };
	pthread_t thread;
	for (int i = 0; i < N_THREADS; i++)
		if (pthread_create(&thread, NULL, run_jobs, NULL) || pthread_detach(thread))
			return -1;
	return 0;
}

static inline void leave_to_pool(struct job *job)
{
	pthread_mutex_lock(&pool.lock);
	job->next = pool.first;
	pool.first = job;
	pthread_cond_signal(&pool.filled);
	pthread_mutex_unlock(&pool.lock);
}

#endif
