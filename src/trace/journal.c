/* Appends recorded events to a file while the program runs: see journal.h. */
#include "trace/journal.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/append.h"
#include "base/text.h"
#include "record/events.h"
#include "state/runtime.h"
#include "trace/file.h"
#include "trace/records.h"
#include "trace/trace.h"

/* MOST: events of each list that are copied in one critical section, which takes less than a millisecond. */
enum { PERIOD_S = 1, MOST = 4096 };

struct hd_journal {
	heddle_runtime *rt;
	pthread_t thread;
	pthread_mutex_t lock; /* guards `stop`; no other lock is taken while it is held */
	pthread_cond_t stops;
	int stop;
	/* The following fields belong to the journal's thread until it has ended. */
	char *path; /* absolute: the program may change its directory */
	int file;   /* -1: the file does not exist yet */
	struct hd_reading *reading;
	size_t n_codelets, n_tasks, n_transfers; /* numbers of records in the file */
};

/* --- Parts -------------------------------------------------------------------------------------------------------- */

/* Makes the file. A file that an earlier process has left is replaced, so two processes never write into one file. */
static int make_file(struct hd_journal *j)
{
	unlink(j->path);
	j->file = open(j->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
	return j->file < 0 ? -1 : 0;
}

/* Begins the file anew, with the records that come before the first task. */
static int begin(struct hd_journal *j, struct hd_text *text)
{
	char policy[256];
	struct heddle_trace head = {.policy = policy, .platform = j->rt->platform};
	if ((j->file < 0 && make_file(j)) || ftruncate(j->file, 0))
		return -1;
	snprintf(policy, sizeof policy, "%s", j->rt->sched.policy->name);
	j->n_codelets = j->n_tasks = j->n_transfers = 0;
	return hd_trace_put_head(text, HD_TRACE_MAGIC_PARTS, &head);
}

static int append_part(struct hd_journal *j, const struct heddle_trace *part, int begins)
{
	struct hd_text text = {0};
	int status = begins ? begin(j, &text) : 0;
	hd_trace_put_records(&text, part, j->n_codelets);
	j->n_codelets = part->n_codelets;
	j->n_tasks += part->n_tasks;
	j->n_transfers += part->n_transfers;
	hd_trace_put_end(&text, j->n_tasks, j->n_transfers, 0);
	if (!status) /* one system call: afterwards the data survive the end of the process */
		status = text.failed ? -1 : hd_file_append(j->file, text.data, text.length);
	hd_text_free(&text);
	return status;
}

/* The length of the longest list of events in the part. */
static size_t longest(const struct heddle_trace *part)
{
	size_t most = 0;
	for (size_t i = 0; i < HD_N_TRACE_LISTS; i++) {
		size_t n = *hd_trace_n(&hd_trace_lists[i], part);
		most = n > most ? n : most;
	}
	return most;
}

static int is_stopped(struct hd_journal *j)
{
	pthread_mutex_lock(&j->lock);
	int stop = j->stop;
	pthread_mutex_unlock(&j->lock);
	return stop;
}

/* Appends the new events, in as many parts as needed. Events that are recorded meanwhile wait for the next period:
 * tasks may end faster than parts are written. */
static int flush(struct hd_journal *j)
{
	int status;
	size_t n = 0;
	do {
		struct heddle_trace *part = NULL;
		int restarted = 0;
		status = hd_trace_take_part(j->rt, j->reading, &restarted, &part);
		int begins = restarted || j->file < 0;
		n = status ? 0 : longest(part);
		if (!status && (n || begins))
			status = append_part(j, part, begins);
		heddle_trace_free(part);
	} while (n >= MOST && !status && !is_stopped(j));
	return status;
}

/* --- The thread --------------------------------------------------------------------------------------------------- */

/* Waits for PERIOD_S seconds, or until the journal is stopped. Returns 1 if it is stopped. */
static int wait_period(struct hd_journal *j)
{
	struct timespec until;
	int late = 0;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PERIOD_S;
	pthread_mutex_lock(&j->lock);
	while (!j->stop && late != ETIMEDOUT)
		late = pthread_cond_timedwait(&j->stops, &j->lock, &until);
	int stop = j->stop;
	pthread_mutex_unlock(&j->lock);
	return stop;
}

/* The journal's thread. It ends with the journal, or if the file cannot be written, which the final trace will
 * report. */
static void *journal_main(void *arg)
{
	struct hd_journal *j = arg;
	while (!wait_period(j) && !flush(j))
		;
	return NULL;
}

static char *absolute(const char *path)
{
	char *directory = *path == '/' ? NULL : getcwd(NULL, 0);
	char *result = directory ? hd_format("%s/%s", directory, path) : strdup(path);
	free(directory);
	return result;
}

static void free_journal(struct hd_journal *j)
{
	if (j->file >= 0)
		close(j->file);
	pthread_cond_destroy(&j->stops);
	pthread_mutex_destroy(&j->lock);
	free(j->reading);
	free(j->path);
	free(j);
}

struct hd_journal *hd_journal_open(heddle_runtime *rt, const char *path)
{
	pthread_condattr_t clock;
	struct hd_journal *j = calloc(1, sizeof *j);
	if (!j)
		return NULL;
	j->rt = rt;
	j->file = -1;
	pthread_mutex_init(&j->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&j->stops, &clock);
	pthread_condattr_destroy(&clock);
	j->path = absolute(path);
	j->reading = hd_reading_open(rt, MOST);
	if (j->path && j->reading && !pthread_create(&j->thread, NULL, journal_main, j))
		return j;
	free_journal(j);
	return NULL;
}

void hd_journal_stop(struct hd_journal *j)
{
	if (!j)
		return;
	pthread_mutex_lock(&j->lock);
	j->stop = 1;
	pthread_cond_signal(&j->stops);
	pthread_mutex_unlock(&j->lock);
	pthread_join(j->thread, NULL);
}

void hd_journal_close(struct hd_journal *j, int remove)
{
	if (!j)
		return;
	if (remove && j->file >= 0)
		unlink(j->path);
	free_journal(j);
}
