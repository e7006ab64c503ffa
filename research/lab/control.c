/* Control priorities (section 4.2.2 of the paper): an exhaustive search over the orders of one class, then of the
 * other, in turn. */
#include "lab.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include "base/base.h"

enum { CHUNK = 360, MAX_RUNS = 4096 }; /* orders tried as one item of work; runs remembered */

/* A run that was simulated. Any order that decides the same has the same makespan. */
struct run {
	uint64_t decisions, makespan; /* HD_LAB_ABANDONED: more than the bound, which only becomes smaller */
};

/* The search over the orders of one class of one graph, and the best order found so far. */
struct search {
	struct hd_lab_control *control; /* borrows */
	int class_id;
	uint64_t seed;              /* chooses among equally good orders in this iteration */
	uint32_t n_orders;          /* factorial of the number of types */
	atomic_uint_fast64_t bound; /* us: an order with this makespan is known; runs that exceed it are abandoned */
	struct run *runs;           /* owns; elements below n_runs do not change */
	atomic_size_t n_runs;       /* grows under the lock */
	pthread_mutex_t lock;       /* protects the fields below */
	uint64_t makespan, lot;
	uint32_t index;
};

struct iteration {
	struct search *searches;
	const struct chunk {
		struct search *search;
		uint32_t from, to;
	} * chunks;
};

/* Permutation number `index` of 0 .. n - 1. */
static void permutation(uint32_t index, uint32_t n, uint8_t *order)
{
	uint8_t left[HD_LAB_TYPES];
	uint32_t count = 1;
	for (uint32_t i = 0; i < n; i++) {
		left[i] = (uint8_t)i;
		count *= i + 1;
	}
	for (uint32_t i = 0; i < n; i++) {
		count /= n - i;
		uint32_t k = index / count;
		index %= count;
		order[i] = left[k];
		memmove(left + k, left + k + 1, n - i - 1 - k);
	}
}

/* Keeps an order if it is better than the best one so far. Equally good orders draw lots, and the lowest lot wins; so
 * the winner depends neither on the order in which they are tried nor on the threads. */
static void report(struct search *s, uint64_t makespan, uint32_t index)
{
	uint64_t lot = hd_hash(s->seed, index);
	pthread_mutex_lock(&s->lock);
	if (makespan < s->makespan ||
	    (makespan == s->makespan && (lot < s->lot || (lot == s->lot && index < s->index)))) {
		s->makespan = makespan;
		s->lot = lot;
		s->index = index;
		atomic_store(&s->bound, makespan);
	}
	pthread_mutex_unlock(&s->lock);
}

/* For each type t, byte t of the result has a bit for each type that comes after t in the order. */
static uint64_t order_decides(const uint8_t *order, uint32_t n)
{
	uint64_t decides = 0, after = 0;
	for (uint32_t i = n; i-- > 0;) {
		decides |= after << (8 * order[i]);
		after |= (uint64_t)1 << order[i];
	}
	return decides;
}

static void remember(struct search *s, uint64_t decisions, uint64_t makespan)
{
	pthread_mutex_lock(&s->lock);
	size_t n = atomic_load(&s->n_runs);
	if (n < MAX_RUNS) {
		s->runs[n] = (struct run){decisions, makespan};
		atomic_store(&s->n_runs, n + 1);
	}
	pthread_mutex_unlock(&s->lock);
}

/* The makespan of an order. Many orders take the same decisions; if an earlier run did, its makespan is known and
 * nothing is simulated. */
static uint64_t try_order(struct search *s, struct hd_lab_sim *sim, const struct hd_lab_orders *orders)
{
	const struct hd_lab_dag *dag = s->control->dag;
	uint64_t decides = order_decides(orders->order[s->class_id], dag->n_types);
	for (size_t i = 0, n = atomic_load(&s->n_runs); i < n; i++)
		if ((s->runs[i].decisions & ~decides) == 0)
			return s->runs[i].makespan;
	uint64_t makespan = hd_lab_sim_run(sim, dag, orders, atomic_load(&s->bound), NULL);
	remember(s, hd_lab_sim_decisions(sim, orders, s->class_id), makespan);
	return makespan;
}

static int try_chunk(void *arg, struct hd_lab_sim *sim, size_t item)
{
	const struct iteration *it = arg;
	const struct chunk *chunk = &it->chunks[item];
	struct search *s = chunk->search;
	struct hd_lab_orders orders = s->control->orders;
	for (uint32_t i = chunk->from; i < chunk->to; i++) {
		permutation(i, s->control->dag->n_types, orders.order[s->class_id]);
		uint64_t makespan = try_order(s, sim, &orders);
		if (makespan != HD_LAB_ABANDONED)
			report(s, makespan, i);
	}
	return 0;
}

static uint32_t factorial(uint32_t n)
{
	return n < 2 ? 1 : n * factorial(n - 1);
}

static void begin_searches(struct search *searches, struct hd_lab_control *controls, size_t n, int number)
{
	for (size_t i = 0; i < n; i++) {
		struct search *s = &searches[i];
		s->control = &controls[i];
		s->class_id = number % 2 ? HD_LAB_GPU : HD_LAB_CPU;
		s->seed = hd_hash(controls[i].seed, (uint64_t)number);
		s->n_orders = factorial(controls[i].dag->n_types);
		s->makespan = HD_LAB_ABANDONED;
		atomic_store(&s->bound, controls[i].makespan); /* the order to begin with is one of those to try */
		atomic_store(&s->n_runs, 0);
	}
}

static size_t cut(struct search *searches, size_t n, struct chunk *chunks)
{
	size_t n_chunks = 0;
	for (size_t i = 0; i < n; i++)
		for (uint32_t from = 0; from < searches[i].n_orders; from += CHUNK) {
			uint32_t to = from + CHUNK < searches[i].n_orders ? from + CHUNK : searches[i].n_orders;
			if (chunks)
				chunks[n_chunks] = (struct chunk){&searches[i], from, to};
			n_chunks++;
		}
	return n_chunks;
}

static int iterate(struct hd_lab_team *team, struct search *searches, size_t n, struct hd_lab_work *work)
{
	size_t n_chunks = cut(searches, n, NULL);
	struct chunk *chunks = malloc((n_chunks + 1) * sizeof *chunks);
	if (!chunks)
		return hd_no_memory("the search for control priorities");
	cut(searches, n, chunks);
	struct iteration it = {searches, chunks};
	work->n_items = n_chunks;
	work->run = try_chunk;
	work->arg = &it;
	int status = hd_lab_team_run(team, work);
	free(chunks);
	return status;
}

static void keep_best(struct search *searches, size_t n, int number)
{
	for (size_t i = 0; i < n; i++) {
		struct hd_lab_control *c = searches[i].control;
		permutation(searches[i].index, c->dag->n_types, c->orders.order[searches[i].class_id]);
		c->makespan = c->after[number] = searches[i].makespan;
	}
}

static void free_searches(struct search *searches, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		pthread_mutex_destroy(&searches[i].lock);
		free(searches[i].runs);
	}
	free(searches);
}

static struct search *new_searches(size_t n)
{
	struct search *searches = calloc(n + 1, sizeof *searches);
	size_t made = 0;
	for (; searches && made < n; made++) {
		searches[made].runs = malloc(MAX_RUNS * sizeof(struct run));
		if (!searches[made].runs)
			break;
		pthread_mutex_init(&searches[made].lock, NULL);
	}
	if (searches && made < n) {
		free_searches(searches, made);
		searches = NULL;
	}
	return searches;
}

int hd_lab_control(struct hd_lab_team *team, struct hd_lab_control *controls, size_t n,
                   void (*progress)(void *arg, size_t done, size_t n_items), void *progress_arg)
{
	struct hd_lab_work work = {.progress = progress, .progress_arg = progress_arg};
	struct search *searches = new_searches(n);
	if (!searches)
		return hd_no_memory("the search for control priorities");
	for (size_t i = 0; i < n; i++)
		controls[i].first = controls[i].makespan =
		    hd_lab_sim_run(team->sims[0], controls[i].dag, &controls[i].orders, HD_LAB_NO_LIMIT, NULL);
	int status = 0;
	for (int number = 0; number < 2 * HD_LAB_PAIRS && !status; number++) {
		begin_searches(searches, controls, n, number);
		status = iterate(team, searches, n, &work);
		if (!status)
			keep_best(searches, n, number);
	}
	free_searches(searches, n);
	return status;
}
