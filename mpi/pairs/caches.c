/* Twin caches: which values of one rank's data another rank holds. Owner and holder keep equal lists, since both change
 * them by the same calls of the stream; so the owner knows what it need not send, and a full cache loses the same copy
 * at both ends, without a message. */
#include <stdlib.h>
#include "mpi/internal.h"

/* The list that the copy is in: of the owner's pair with the holder, or of the holder's with the owner. */
static struct hd_mpi_cache *cache_of(const struct hd_mpi_copy *copy)
{
	return copy->data->owner == copy->data->m->rank ? &copy->pair->given : &copy->pair->kept;
}

static void take_out(struct hd_mpi_cache *cache, struct hd_mpi_copy *copy)
{
	*(copy->older ? &copy->older->newer : &cache->oldest) = copy->newer;
	*(copy->newer ? &copy->newer->older : &cache->newest) = copy->older;
	cache->bytes -= copy->data->bytes;
	cache->n--;
}

static void put_newest(struct hd_mpi_cache *cache, struct hd_mpi_copy *copy)
{
	copy->older = cache->newest;
	copy->newer = NULL;
	*(cache->newest ? &cache->newest->newer : &cache->oldest) = copy;
	cache->newest = copy;
	cache->bytes += copy->data->bytes;
	cache->n++;
}

struct hd_mpi_copy *hd_mpi_copy_of(const heddle_mpi_data *d, int holder)
{
	int peer = d->owner == d->m->rank ? holder : d->owner;
	struct hd_mpi_copy *copy = d->local ? d->local->copies : NULL;
	while (copy && copy->pair->peer != peer)
		copy = copy->next;
	return copy;
}

/* `holder` uses the present value: it has a copy from now on, which is the newest one. To be called on the owner and on
 * the holder. */
int hd_mpi_copy_use(heddle_mpi_data *d, int holder)
{
	heddle_mpi *m = d->m;
	struct hd_mpi_copy *copy = hd_mpi_copy_of(d, holder);
	if (copy) {
		take_out(cache_of(copy), copy);
		put_newest(cache_of(copy), copy);
		return 0;
	}
	struct hd_mpi_pair *p = hd_mpi_pair(m, d->owner == m->rank ? holder : d->owner);
	struct hd_mpi_local *local = hd_mpi_local(d);
	copy = p && local ? calloc(1, sizeof *copy) : NULL;
	if (!copy)
		return heddle_error(HEDDLE_E_MEMORY, "rank %d: no memory for a copy", m->rank);
	*copy = (struct hd_mpi_copy){.data = d, .pair = p, .next = local->copies};
	local->copies = copy;
	put_newest(cache_of(copy), copy);
	return 0;
}

/* Ends a copy; on its holder, also the handle. */
void hd_mpi_copy_end(struct hd_mpi_copy *copy)
{
	heddle_mpi_data *d = copy->data;
	struct hd_mpi_copy **at = &d->local->copies;
	take_out(cache_of(copy), copy);
	while (*at != copy)
		at = &(*at)->next;
	*at = copy->next;
	free(copy);
	if (d->owner == d->m->rank)
		return;
	if (d->local->handle)
		heddle_unregister_async(d->local->handle);
	d->local->handle = NULL;
	hd_mpi_local_tidy(d);
}

static void trim(heddle_mpi *m, struct hd_mpi_cache *cache)
{
	while (cache->bytes > m->settings.cache) {
		hd_mpi_copy_end(cache->oldest);
		m->stats.dropped++;
	}
}

/* After a call that concerns this rank and `peer`: copies leave that are more than fits. */
void hd_mpi_caches_trim(heddle_mpi *m, int peer)
{
	if (peer == m->rank || !m->pairs[peer])
		return;
	trim(m, &m->pairs[peer]->given);
	trim(m, &m->pairs[peer]->kept);
}
