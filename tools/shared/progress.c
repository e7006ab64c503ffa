/* Progress on standard error. For the progress of a runtime, a thread reads the runtime's counters, on a terminal twice
 * a second. */
#include "tool.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MINUTE = 60 };

int tool_progress_is_due(int terminal, double now, double *last)
{
	int first = *last == 0;
	if (!terminal && !first && now - *last < MINUTE)
		return 0;
	*last = now;
	return terminal || !first;
}

void tool_progress(const char *format, ...)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects `last`, and keeps lines from being mixed */
	static double last;
	int terminal = isatty(STDERR_FILENO);
	va_list args;
	va_start(args, format);
	pthread_mutex_lock(&lock);
	if (tool_progress_is_due(terminal, tool_wall_clock(), &last)) {
		fputs(terminal ? "\r\033[K" : "heddle: ", stderr);
		vfprintf(stderr, format, args);
		fputs(terminal ? "" : "\n", stderr);
		fflush(stderr);
	}
	pthread_mutex_unlock(&lock);
	va_end(args);
}

void tool_progress_end(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

char *tool_progress_text(double done, double total, const char *unit, double seconds)
{
	double rate = seconds > 0 ? done / seconds : 0, left = rate > 0 ? (total - done) / rate : NAN;
	char *of = isnan(total) ? tool_format(" %s", unit) : tool_format(" of %.0f %s", total, unit);
	char *text = rate >= 100 ? tool_format("%.0f%s, %.0f/s", done, of, rate)
	             : rate > 0  ? tool_format("%.0f%s, %.3g/s", done, of, rate)
	                         : tool_format("%.0f%s", done, of);
	free(of);
	if (isnan(left))
		return text;
	char *longer = left < 100            ? tool_format("%s, %.0f s left", text, left)
	               : left < 100 * MINUTE ? tool_format("%s, %.0f min left", text, left / MINUTE)
	                                     : tool_format("%s, %.1f h left", text, left / MINUTE / MINUTE);
	free(text);
	return longer;
}

/* --- A runtime ---------------------------------------------------------------------------------------------------- */

struct tool_watch {
	pthread_t thread;
	pthread_mutex_t lock; /* protects ended */
	pthread_cond_t wake;
	int ended;
	/* these do not change while the thread runs */
	heddle_runtime *rt;   /* borrows until tool_watch_stop */
	const char *label;    /* borrows until tool_watch_stop */
	double total, before; /* tasks to do, NAN: unknown; tasks that were done before */
	double begun;         /* s of tool_wall_clock */
};

static double executed(heddle_runtime *rt)
{
	struct heddle_stats stats;
	return heddle_runtime_stats(rt, &stats) ? 0 : (double)stats.tasks_executed;
}

static void *watch(void *arg)
{
	struct tool_watch *w = arg;
	int terminal = isatty(STDERR_FILENO);
	pthread_mutex_lock(&w->lock);
	while (!w->ended) {
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += terminal ? 500000000 : 0;
		until.tv_sec += until.tv_nsec / 1000000000 + (terminal ? 0 : MINUTE);
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&w->wake, &w->lock, &until);
		if (w->ended)
			break;
		pthread_mutex_unlock(&w->lock); /* reading the counters may wait for the runtime's lock */
		double done = executed(w->rt) - w->before;
		char *text = tool_progress_text(done, w->total, "tasks", tool_wall_clock() - w->begun);
		tool_progress("%s: %s", w->label, text);
		free(text);
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
	struct tool_watch *w = tool_alloc(sizeof *w);
	*w = (struct tool_watch){
	    .rt = rt, .label = label, .total = total, .before = executed(rt), .begun = tool_wall_clock()};
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
