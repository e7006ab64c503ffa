/* Ranks that are threads of this process. */
#include "loop.h"
#include <stdlib.h>
#include <string.h>

/* Where all ranks wait until each has started, or failed to. */
struct meeting {
	pthread_mutex_t lock; /* protects all fields; nothing is taken below it */
	pthread_cond_t changed;
	int expected, arrived, failed;
};

struct rank {
	const struct hd_mpi_loop *loop;
	struct meeting *meeting;
	void *self; /* of the transport */
	const struct hd_mpi_transport *transport;
	pthread_t thread;
	int status;
	char *sentence;
};

/* Returns how many ranks have failed. */
static int meet(struct meeting *meeting, int status)
{
	pthread_mutex_lock(&meeting->lock);
	meeting->arrived++;
	meeting->failed += status != 0;
	pthread_cond_broadcast(&meeting->changed);
	while (meeting->arrived < meeting->expected)
		pthread_cond_wait(&meeting->changed, &meeting->lock);
	int failed = meeting->failed;
	pthread_mutex_unlock(&meeting->lock);
	return failed;
}

static void keep(struct rank *r, int status)
{
	if (r->status || !status)
		return;
	r->status = status;
	r->sentence = strdup(heddle_last_error());
}

static void *run(void *arg)
{
	struct rank *r = arg;
	const struct hd_mpi_loop *loop = r->loop;
	heddle_mpi *m = NULL;
	keep(r, hd_mpi_start_on(loop->config, loop->settings, r->transport, r->self, &m));
	if (meet(r->meeting, r->status)) {
		if (m)
			hd_mpi_free(m);
		return NULL;
	}
	keep(r, loop->program(m, loop->arg));
	keep(r, heddle_mpi_stop(m));
	return NULL;
}

static void start(struct rank *r)
{
	if (!pthread_create(&r->thread, NULL, run, r))
		return;
	r->transport->close(r->self);
	r->thread = pthread_self();
	r->status = heddle_error(HEDDLE_E_MEMORY, "no thread for a rank");
	r->sentence = strdup(heddle_last_error());
	meet(r->meeting, r->status);
}

static int run_all(const struct hd_mpi_loop *loop, struct rank *ranks, void **selves)
{
	struct meeting meeting = {
	    .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .expected = loop->n_ranks};
	int status = 0, n = loop->n_ranks;
	for (int i = 0; i < n; i++) {
		ranks[i] = (struct rank){.loop = loop, .meeting = &meeting, .self = selves[i]};
		ranks[i].transport = loop->chaos ? &hd_mpi_transport_chaos : &hd_mpi_transport_loop;
	}
	for (int i = 0; i < n; i++)
		start(&ranks[i]);
	for (int i = 0; i < n; i++) {
		if (!pthread_equal(ranks[i].thread, pthread_self()))
			pthread_join(ranks[i].thread, NULL);
		if (ranks[i].status && !status)
			status = heddle_error(ranks[i].status, "%s", ranks[i].sentence ? ranks[i].sentence : "");
		free(ranks[i].sentence);
	}
	return status;
}

int hd_mpi_loop_run(const struct hd_mpi_loop *loop)
{
	size_t n = (size_t)loop->n_ranks;
	struct rank *ranks = calloc(n, sizeof *ranks);
	void **selves = calloc(n, sizeof *selves);
	int status = ranks && selves ? hd_mpi_loop_new(loop->n_ranks, loop->eager, selves)
	                             : heddle_error(HEDDLE_E_MEMORY, "no memory for %d ranks", loop->n_ranks);
	int complete = !status;
	for (size_t i = 0; loop->chaos && i < n && !status; i++)
		status = hd_mpi_chaos_open(&loop->chaos[i], &hd_mpi_transport_loop, selves[i], &selves[i]);
	if (!status)
		status = run_all(loop, ranks, selves);
	else if (complete)
		for (size_t i = 0; i < n; i++)
			hd_mpi_transport_loop.close(selves[i]);
	free(ranks);
	free(selves);
	return status;
}

int heddle_mpi_loop(const struct heddle_config *config, const struct heddle_mpi_settings *settings, int n_ranks,
                    int (*program)(heddle_mpi *m, void *arg), void *arg)
{
	enum { EAGER = 4096 };
	if (!program || n_ranks < 1 || n_ranks > 4096)
		return heddle_error(HEDDLE_E_INVALID,
		                    "heddle_mpi_loop: %d ranks, and there may be from 1 to 4096; or no program",
		                    n_ranks);
	struct hd_mpi_loop loop = {.config = config, .settings = settings, .n_ranks = n_ranks};
	loop.eager = EAGER;
	loop.program = program;
	loop.arg = arg;
	return hd_mpi_loop_run(&loop);
}
