/* Teams: threads that run a kernel together.
 *
 * Between two kernels the members wait until the word `round` changes. The master writes the members' contexts, changes
 * the word, and then takes part as member 0. When a member's kernel has returned, the member leaves the barrier; the
 * last member to leave notifies the master. A member that has left counts as present at the barriers of the other
 * members, so that these barriers end even if a member has failed. */
#include "team.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/barrier.h"
#include "driver/driver.h"
#include "flow/errands.h"
#include "machine/machine.h"
#include "misuse/misuse.h"
#include "state/call_context.h"
#include "state/core_lock.h"
#include "state/kernel_context.h"

static const double BARRIER_US = 20; /* us that a member polls at a barrier before it sleeps */
static const double LINGER_US = 40;  /* us that a member polls for the next kernel before it sleeps */

/* The lowest bit of hd_team.round: the members must end. The other bits count the kernels. */
enum { CLOSING = 1 };

struct hd_member {
	pthread_t thread; /* not set for the master */
	int started;      /* `thread` exists; only used by the thread that opens and closes the team */
	/* The master writes these fields before a round, the member during it; hd_team.round and the barrier order the
	 * accesses. */
	struct hd_team *team;
	heddle_context context;
	int returned;          /* the status that the kernel has returned */
	struct hd_inner inner; /* only the member's thread */
};

struct hd_team {
	/* Const after hd_team_open. */
	struct hd_worker *worker;
	struct heddle_cluster cluster; /* the argument of the prologue */
	/* how often a member polls before it sleeps; 0 unless each member has a core of its own, because polling would
	 * keep other threads from running */
	int spins;
	struct hd_member *members; /* owned: cluster.cores members, the first one is the master */
	struct hd_inner inner;     /* Only the thread that runs the worker's tasks. */
	/* 1: a fork-join kernel has run since hd_inner_hush, so threads of OpenMP may poll on the cores. Written by the
	 * thread that runs the worker's tasks; also read by the thread that retires the worker, under the core lock.
	 * Relaxed, pairs with nothing: the writer either has returned its last kernel under this lock before, or reads
	 * the field itself when it returns the kernel. */
	_Atomic int polls;

	struct hd_word round;
	struct hd_barrier barrier;
	struct hd_wakeup done; /* set when the last member has left the barrier */
	/* 1: the members must sleep instead of polling for the next round, because a library needs their cores.
	 * Relaxed, pairs with nothing: only a hint. */
	_Atomic int hush;
};

/* --- Members ------------------------------------------------------------------------------------------------------ */

static double spin(const struct hd_team *team, double us)
{
	return team->spins ? us : 0;
}

/* Runs the kernel as one of the members. Meanwhile the thread must not wait for tasks, because the other members would
 * wait for it. */
static int run_member(struct hd_team *team, struct hd_member *m)
{
	const heddle_runtime *rt = team->worker->rt;
	struct hd_inside here = {
	    .rt = rt, .what = HD_INSIDE_MEMBER, .depth = hd_deeper(m->context.task), .watch = m->context.watch};
	if (HD_UNLIKELY(rt->tells_tsan))
		hd_tsan_hears(&team->round);
	hd_inside_enter(&here);
	if (HD_UNLIKELY(here.watch != NULL))
		hd_crash_watch_thread();
	m->returned = m->context.kernel(&m->context);
	hd_inside_leave(&here);
	if (HD_UNLIKELY(rt->tells_tsan))
		hd_tsan_tells(&team->barrier);
	return hd_barrier_leave(&team->barrier, m->returned != 0);
}

static void bind(const struct hd_team *team, unsigned first, unsigned n)
{
	const heddle_runtime *rt = team->worker->rt;
	if (rt->config.bind && team->cluster.core >= 0)
		hd_topology_bind_range(rt->topology, team->cluster.core + (int)first, n);
}

static void *member_main(void *arg)
{
	struct hd_member *m = arg;
	struct hd_team *team = m->team;
	unsigned rank = (unsigned)(m - team->members);
	uint32_t round = 0;
	bind(team, rank, 1);
	while (!((round = hd_word_await(&team->round, round, spin(team, LINGER_US), &team->hush)) & CLOSING)) {
		if (!m->inner.threads)
			hd_inner_set(&m->inner, 1, 0);
		if (run_member(team, m))
			hd_wakeup_set(&team->done);
	}
	return NULL;
}

/* --- Opening and closing ------------------------------------------------------------------------------------------ */

/* Whether the worker runs kernels on CPU cores and belongs to the cluster set that is driven first. */
static int is_cpu(const heddle_runtime *rt, size_t worker)
{
	return rt->workers[worker].driver == &hd_driver_cpu && !rt->platform->workers[worker].retired;
}

/* The number of cores of the worker's class; at least 1. */
static unsigned cores_of(const heddle_runtime *rt, size_t worker)
{
	unsigned cores = rt->platform->classes[rt->workers[worker].class_id].cores;
	return cores ? cores : 1;
}

/* Whether each member has a core of its own. If threads are not bound, each thread of the runtime that could run needs
 * a core. */
static int has_cores(const heddle_runtime *rt, const struct heddle_cluster *c)
{
	if (rt->config.bind && c->core >= 0)
		return (size_t)c->core + c->cores <= hd_topology_cores(rt->topology);
	size_t all = 0;
	for (size_t i = 0; i < rt->n_workers; i++)
		all += is_cpu(rt, i) ? cores_of(rt, i) : 0;
	return all <= rt->n_threads;
}

static int start_members(struct hd_team *team)
{
	for (unsigned i = 1; i < team->cluster.cores; i++) {
		struct hd_member *m = &team->members[i];
		if (pthread_create(&m->thread, NULL, member_main, m))
			return hd_error(HEDDLE_E_MEMORY, "cannot start thread %u of %u of worker %s", i + 1,
			                team->cluster.cores,
			                team->worker->rt->platform->workers[team->worker->id].name);
		m->started = 1;
	}
	return 0;
}

/* Sets or clears HD_SET_UP, after libraries were allowed `threads` threads in the calling thread; 0: as without
 * Heddle. */
static void note_set_up(struct hd_team *team, unsigned threads)
{
	/* Relaxed, pairs with nothing: see the field. */
	if (threads || team->cluster.cores > 1)
		atomic_fetch_or_explicit(&team->worker->set_up, HD_SET_UP, memory_order_relaxed);
	else
		atomic_fetch_and_explicit(&team->worker->set_up, ~(unsigned)HD_SET_UP, memory_order_relaxed);
}

int hd_team_open(struct hd_worker *w)
{
	const heddle_runtime *rt = w->rt;
	unsigned cores = cores_of(rt, w->id);
	struct hd_team *team = aligned_alloc(HD_CACHE_LINE, sizeof *team);
	struct hd_member *members = calloc(cores, sizeof *members);
	if (!team || !members) {
		free(team);
		free(members);
		return hd_no_memory("the team of a worker");
	}
	memset(team, 0, sizeof *team);
	team->worker = w;
	team->cluster = (struct heddle_cluster){w->id, rt->platform->workers[w->id].core, cores};
	team->spins = has_cores(rt, &team->cluster);
	team->members = members;
	for (unsigned i = 0; i < cores; i++)
		members[i].team = team;
	w->team = team;
	note_set_up(team, 0);
	return start_members(team);
}

void hd_team_close(struct hd_worker *w)
{
	struct hd_team *team = w->team;
	if (!team)
		return;
	hd_inner_set(&team->inner, 0, 0);
	hd_word_change(&team->round, CLOSING);
	for (unsigned i = 1; i < team->cluster.cores; i++)
		if (team->members[i].started)
			pthread_join(team->members[i].thread, NULL);
	free(team->members);
	free(team);
	w->team = NULL;
}

/* --- The master --------------------------------------------------------------------------------------------------- */

/* Whether at most one driven worker runs kernels on CPU cores. */
static int is_alone(heddle_runtime *rt)
{
	size_t n = 0;
	hd_core_enter(rt);
	for (size_t i = 0; i < rt->n_workers; i++)
		n += rt->workers[i].driver == &hd_driver_cpu && !rt->workers[i].retired;
	hd_core_leave(rt);
	return n < 2;
}

unsigned hd_team_setting(const struct hd_worker *w)
{
	return w->team ? w->team->inner.threads : 0;
}

/* Calls the program's prologue with the number of cores of the kernels that the calling thread will run. */
static void call_prologue(const struct hd_team *team, unsigned cores)
{
	heddle_runtime *rt = team->worker->rt;
	hd_core_enter(rt);
	struct hd_prologue prologue = rt->prologue;
	hd_core_leave(rt);
	if (!prologue.call)
		return;
	struct heddle_cluster cluster = team->cluster;
	cluster.cores = cores;
	struct hd_inside here = {.rt = rt, .what = HD_INSIDE_OTHER};
	hd_inside_enter(&here);
	prologue.call(&cluster, prologue.arg);
	hd_inside_leave(&here);
}

/* Sets the calling thread up (the libraries' numbers of threads, the binding to cores, the program's prologue) for
 * kernels whose libraries may use `threads` threads; 0: as many as without Heddle. After the set of driven workers has
 * changed, does so even if `threads` stays the same: the numbers of the process may still be set for a retired cluster,
 * and this worker may not be alone any more. */
static void set_up(struct hd_team *team, unsigned threads)
{
	/* Relaxed, pairs with nothing: see the field. HD_OTHERS_RUN is cleared before is_alone reads the set of driven
	 * workers. */
	unsigned was = atomic_load_explicit(&team->worker->set_up, memory_order_relaxed);
	if (HD_UNLIKELY(was & HD_OTHERS_RUN))
		atomic_fetch_and_explicit(&team->worker->set_up, ~(unsigned)HD_OTHERS_RUN, memory_order_relaxed);
	else if (team->inner.threads == threads)
		return;
	int same = team->inner.threads == threads;
	unsigned former = team->inner.threads > 1 ? team->inner.threads : 1, cores = threads > 1 ? threads : 1;
	/* Relaxed, pairs with nothing: see the field. */
	atomic_store_explicit(&team->hush, cores > 1, memory_order_relaxed);
	if (cores != former)
		bind(team, 0, cores);
	hd_inner_set(&team->inner, threads, is_alone(team->worker->rt));
	note_set_up(team, threads);
	if (!same && (cores != former || threads == team->cluster.cores))
		call_prologue(team, cores);
}

void hd_team_restore(struct hd_worker *w, unsigned setting)
{
	if (w->team)
		set_up(w->team, setting);
}

int hd_team_polls(const struct hd_worker *w)
{
	/* Relaxed, pairs with nothing: see the field. */
	return w->team && atomic_load_explicit(&w->team->polls, memory_order_relaxed);
}

static void note_polls(struct hd_team *team, int polls)
{
	/* Relaxed, pairs with nothing: see the field. */
	atomic_store_explicit(&team->polls, polls, memory_order_relaxed);
}

void hd_team_hush(struct hd_worker *w)
{
	hd_inner_hush();
	note_polls(w->team, 0);
}

/* Called before the cores are released: if the worker was retired during the kernel, other workers will run on its
 * cores, so threads of OpenMP must not poll there. hd_worker_take_back handles a worker that is retired later. */
static void leave_cores(struct hd_team *team)
{
	struct hd_worker *w = team->worker;
	/* Relaxed, pairs with nothing: see the field. */
	if (HD_LIKELY(!(atomic_load_explicit(&w->set_up, memory_order_relaxed) & HD_OTHERS_RUN)))
		return;
	hd_core_enter(w->rt);
	int retired = w->retired;
	hd_core_leave(w->rt);
	if (retired && hd_team_polls(w))
		hd_team_hush(w);
}

/* Passes on the result and the message of the first member that has failed. */
static int gather(struct hd_team *team, heddle_context *c)
{
	struct hd_member *failed = NULL;
	for (unsigned i = 0; i < team->cluster.cores; i++) {
		struct hd_member *m = &team->members[i];
		if (m->returned && !failed)
			failed = m;
		else
			free(m->context.message);
	}
	if (!failed)
		return 0;
	free(c->message); /* the message of an earlier kernel of the same task */
	c->message = failed->context.message;
	c->rank = failed->context.rank;
	return failed->returned;
}

static int run_together(struct hd_team *team, heddle_context *c)
{
	/* Relaxed, pairs with nothing: only the master changes the word. */
	uint32_t round = atomic_load_explicit(&team->round.now, memory_order_relaxed);
	c->team = team;
	for (unsigned i = 0; i < team->cluster.cores; i++) {
		team->members[i].context = *c;
		team->members[i].context.message = NULL;
		team->members[i].context.rank = i;
	}
	hd_barrier_enter(&team->barrier, team->cluster.cores);
	if (HD_UNLIKELY(team->worker->rt->tells_tsan))
		hd_tsan_tells(&team->round);
	hd_word_change(&team->round, round + 2);
	if (!run_member(team, &team->members[0]))
		hd_wakeup_wait(&team->done, spin(team, BARRIER_US), -1);
	if (HD_UNLIKELY(team->worker->rt->tells_tsan))
		hd_tsan_hears(&team->barrier);
	return gather(team, c);
}

/* Sets the calling thread and the threads of its libraries up for a kernel. */
static void before_kernel(struct hd_team *team, enum heddle_parallel how)
{
	unsigned cores = team->cluster.cores;
	set_up(team, how == HEDDLE_FORK_JOIN ? cores : 1);
	if (how == HEDDLE_SPMD && cores > 1 && hd_team_polls(team->worker))
		hd_team_hush(team->worker);
	if (how == HEDDLE_FORK_JOIN && cores > 1)
		/* set before the kernel, too: if it waits for tasks, other tasks may run on these cores meanwhile */
		note_polls(team, 1);
}

static void after_kernel(struct hd_team *team, enum heddle_parallel how)
{
	if (how == HEDDLE_FORK_JOIN && team->cluster.cores > 1)
		/* set again: a task that ran while the kernel waited may have cleared it, and the rest of the kernel
		 * may have used OpenMP */
		note_polls(team, 1);
	leave_cores(team);
}

int hd_team_call(heddle_context *c, const heddle_codelet *codelet)
{
	struct hd_worker *w = c->worker;
	struct hd_team *team = w->team;
	void *event; /* unused: CPU workers have no streams */
	unsigned cores = team->cluster.cores;
	enum heddle_parallel how = codelet->desc.parallel;
	int together = how == HEDDLE_SPMD && cores > 1;
	before_kernel(team, how);
	c->cores = how ? cores : 0;
	int status = together ? run_together(team, c) : w->driver->launch(w->device, NULL, c->kernel, c, &event);
	after_kernel(team, how);
	if (!status) { /* the context must be clean, because it may be used for another kernel of the task */
		c->team = NULL;
		c->cores = 0;
	}
	return status;
}

int hd_team_meet(const heddle_context *c)
{
	struct hd_team *team = c->team;
	if (HD_UNLIKELY(c->worker->rt->tells_tsan))
		hd_tsan_tells(&team->barrier);
	int failed = hd_barrier_wait(&team->barrier, spin(team, BARRIER_US));
	if (HD_UNLIKELY(c->worker->rt->tells_tsan))
		hd_tsan_hears(&team->barrier);
	return failed;
}
