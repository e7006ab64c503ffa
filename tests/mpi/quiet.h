/* Invariants that hold after a wait, and those that two ranks must keep together. */
#ifndef TEST_MPI_QUIET_H
#define TEST_MPI_QUIET_H

#include "mpi/network/network.h"

/* Nothing is under way after a wait. */
static inline int check_quiet(heddle_mpi *m)
{
	pthread_mutex_lock(&m->network->lock);
	uint64_t n = m->network->posted.n;
	for (int peer = 0; peer < m->size; peer++)
		for (unsigned tag = 0; m->pairs[peer] && tag < m->pairs[peer]->gate; tag++)
			n += m->pairs[peer]->out.held[tag] != NULL;
	pthread_mutex_unlock(&m->network->lock);
	return n ? heddle_error(HEDDLE_E_STATE, "rank %d: %llu messages are under way after a wait", m->rank,
	                        (unsigned long long)n)
	         : 0;
}

/* What one rank knows of its pair with another. */
struct pair_facts {
	uint64_t sent, received; /* numbers given */
	uint64_t given, kept;    /* hashes of the caches: what is in them, in which order */
};

static inline uint64_t hash_of_cache(const struct hd_mpi_cache *cache)
{
	uint64_t hash = cache->n;
	for (const struct hd_mpi_copy *copy = cache->oldest; copy; copy = copy->newer)
		hash = (hash ^ copy->data->key) * 0x9e3779b97f4a7c15u + 1;
	return hash;
}

static inline struct pair_facts facts_of(const heddle_mpi *m, int peer)
{
	const struct hd_mpi_pair *p = m->pairs[peer];
	return p ? (struct pair_facts){p->out.n, p->in.n, hash_of_cache(&p->given), hash_of_cache(&p->kept)}
	         : (struct pair_facts){0};
}

/* Both ends number the same messages, and their caches are twins. */
static inline int facts_agree(const struct pair_facts *a, const struct pair_facts *b)
{
	return a->sent == b->received && a->received == b->sent && a->given == b->kept && a->kept == b->given;
}

#endif
