/* Work sharing: each thread takes the next item until there is none. */
#include "lab.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

struct sharing {
	const struct hd_lab_work *work; /* borrows */
	atomic_size_t next, done;
	pthread_mutex_t lock; /* protects the fields below */
	size_t failed;        /* the smallest number of an item that failed */
	int status;
	char message[512];
};

struct member {
	struct sharing *sharing; /* borrows */
	struct hd_lab_sim *sim;  /* borrows */
	pthread_t thread;
	int is_caller;
};

static void fail(struct sharing *s, size_t item, int status)
{
	pthread_mutex_lock(&s->lock);
	if (!s->status || item < s->failed) {
		s->failed = item;
		s->status = status;
		strncpy(s->message, heddle_last_error(), sizeof s->message - 1);
	}
	pthread_mutex_unlock(&s->lock);
	atomic_store(&s->next, s->work->n_items);
}

static void *take_part(void *arg)
{
	struct member *m = arg;
	struct sharing *s = m->sharing;
	const struct hd_lab_work *work = s->work;
	for (size_t item = atomic_fetch_add(&s->next, 1); item < work->n_items; item = atomic_fetch_add(&s->next, 1)) {
		int status = work->run(work->arg, m->sim, item);
		if (status)
			fail(s, item, status);
		size_t done = atomic_fetch_add(&s->done, 1) + 1;
		if (m->is_caller && work->progress)
			work->progress(work->progress_arg, done, work->n_items);
	}
	return NULL;
}

int hd_lab_team_init(struct hd_lab_team *team, unsigned n_threads, size_t most_tasks)
{
	*team = (struct hd_lab_team){.n_threads = n_threads ? n_threads : 1};
	team->sims = calloc(team->n_threads, sizeof(struct hd_lab_sim *));
	int status = team->sims ? 0 : hd_no_memory("the laboratory");
	for (unsigned i = 0; i < team->n_threads && !status; i++)
		status = hd_lab_sim_new(most_tasks, &team->sims[i]);
	if (status)
		hd_lab_team_fini(team);
	return status;
}

void hd_lab_team_fini(struct hd_lab_team *team)
{
	for (unsigned i = 0; i < team->n_threads && team->sims; i++)
		hd_lab_sim_free(team->sims[i]);
	free(team->sims);
	*team = (struct hd_lab_team){.n_threads = 0};
}

uint64_t hd_lab_team_tasks(const struct hd_lab_team *team)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < team->n_threads; i++)
		sum += hd_lab_sim_tasks(team->sims[i]);
	return sum;
}

int hd_lab_team_run(struct hd_lab_team *team, const struct hd_lab_work *work)
{
	struct sharing s = {.work = work};
	struct member *members = calloc(team->n_threads, sizeof *members);
	if (!members)
		return hd_no_memory("the laboratory's threads");
	pthread_mutex_init(&s.lock, NULL);
	unsigned started = 1; /* the caller takes part too; if some threads cannot be started, the others do the work */
	for (unsigned i = 0; i < team->n_threads; i++)
		members[i] = (struct member){.sharing = &s, .sim = team->sims[i], .is_caller = i == 0};
	while (started < team->n_threads &&
	       pthread_create(&members[started].thread, NULL, take_part, &members[started]) == 0)
		started++;
	take_part(&members[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(members[i].thread, NULL);
	pthread_mutex_destroy(&s.lock);
	free(members);
	return s.status ? hd_error(s.status, "%s", s.message) : 0;
}
