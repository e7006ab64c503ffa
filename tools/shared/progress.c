/* Shows the progress of a runtime on a terminal: a thread reads the runtime's counters twice a second. */
#include "tool.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct tool_watch {
	pthread_t thread;
	pthread_mutex_t lock; /* protects ended */
	pthread_cond_t wake;
	int ended;
	/* these do not change while the thread runs */
	heddle_runtime *rt;   /* borrows until tool_watch_stop */
	const char *label;    /* borrows until tool_watch_stop */
	double total, before; /* tasks to do, NAN: unknown; tasks that were done before */
};

static double executed(heddle_runtime *rt)
{
	struct heddle_stats stats;
	return heddle_runtime_stats(rt, &stats) ? 0 : (double)stats.tasks_executed;
}

static void *watch(void *arg)
{
	struct tool_watch *w = arg;
	pthread_mutex_lock(&w->lock);
	while (!w->ended) {
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 500000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&w->wake, &w->lock, &until);
		if (w->ended)
			break;
		pthread_mutex_unlock(&w->lock); /* reading the counters may wait for the runtime's lock */
		double done = executed(w->rt) - w->before;
		if (isnan(w->total))
			tool_progress("%s: %.0f tasks", w->label, done);
		else
			tool_progress("%s: %.0f of %.0f tasks, %.0f %%", w->label, done, w->total,
			              100 * done / w->total);
		pthread_mutex_lock(&w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static void destroy(struct tool_watch *w)
{
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

struct tool_watch *tool_watch_start(heddle_runtime *rt, const char *label, double total)
{
	if (!isatty(STDERR_FILENO))
		return NULL;
	struct tool_watch *w = tool_alloc(sizeof *w);
	*w = (struct tool_watch){.rt = rt, .label = label, .total = total, .before = executed(rt)};
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, NULL);
	if (pthread_create(&w->thread, NULL, watch, w) == 0)
		return w;
	destroy(w); /* no thread could be started; go on without progress */
	return NULL;
}

void tool_watch_stop(struct tool_watch *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->ended = 1;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	destroy(w);
	tool_progress_end();
}
