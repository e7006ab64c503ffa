/* The invariants of the stream's thread, written down as code, and the counters. */
#include <stdlib.h>
#include "mpi/internal.h"
#include "mpi/network/network.h"

static int broken(const heddle_mpi *m, const char *what, uint64_t a, uint64_t b)
{
	return heddle_error(HEDDLE_E_STATE, "rank %d: %s: %llu, %llu", m->rank, what, (unsigned long long)a,
	                    (unsigned long long)b);
}

/* A cache holds what its copies take, and no more than it may; and each copy is in the list of its datum. */
static int check_cache(const heddle_mpi *m, const struct hd_mpi_cache *cache, int given)
{
	uint64_t bytes = 0, n = 0;
	const struct hd_mpi_copy *before = NULL;
	for (const struct hd_mpi_copy *copy = cache->oldest; copy; before = copy, copy = copy->newer) {
		const heddle_mpi_data *d = copy->data;
		int owns = d->owner == m->rank;
		bytes += d->bytes;
		n++;
		if (copy->older != before)
			return broken(m, "a cache is linked wrongly, at its copy", n, 0);
		if (owns != given || (!owns && d->owner != copy->pair->peer))
			return broken(m, "a copy is in the cache of another owner", d->key, (uint64_t)d->owner);
		if (hd_mpi_copy_of(d, given ? copy->pair->peer : m->rank) != copy)
			return broken(m, "a copy is not in the list of its datum", d->key, 0);
		if (!owns && !d->local->handle)
			return broken(m, "a copy has no value", d->key, 0);
	}
	if (cache->newest != before || cache->bytes != bytes || cache->n != n)
		return broken(m, "a cache has counted wrongly", cache->bytes, bytes);
	if (bytes > m->settings.cache)
		return broken(m, "a cache holds more than it may", bytes, m->settings.cache);
	return 0;
}

int heddle_mpi_selfcheck(heddle_mpi *m)
{
	int status = m ? 0 : heddle_error(HEDDLE_E_INVALID, "heddle_mpi_selfcheck: NULL");
	for (int peer = 0; !status && peer < m->size; peer++) {
		const struct hd_mpi_pair *p = m->pairs[peer];
		if (!p)
			continue;
		status = check_cache(m, &p->given, 1);
		if (!status)
			status = check_cache(m, &p->kept, 0);
	}
	for (size_t i = 0; !status && i < m->n_open; i++)
		if (!m->open_reductions[i]->reducing)
			status = broken(m, "a reduction is open and closed", m->open_reductions[i]->key, 0);
	return status ? status : heddle_selfcheck(m->rt);
}

int heddle_mpi_stats(heddle_mpi *m, struct heddle_mpi_counts *out)
{
	if (!m || !out)
		return heddle_error(HEDDLE_E_INVALID, "heddle_mpi_stats: an argument is NULL");
	*out = m->stats;
	out->sent = m->network->sent;
	out->received = m->network->received;
	out->bytes_sent = m->network->bytes_sent;
	out->bytes_received = m->network->bytes_received;
	out->failed_calls = m->network->failed_calls;
	out->data_bytes = sizeof(heddle_mpi_data);
	return 0;
}
