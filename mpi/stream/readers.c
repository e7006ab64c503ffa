/* Broadcasts: several ranks that are to read a value get it along a tree, so that the owner does not send it to each of
 * them. The ranks stand in the order in which the program names them, after the owner, who is number 0; number j gets
 * the value from number (j - 1) / arity. */
#include <stdlib.h>
#include "mpi/internal.h"

/* The ranks without the owner, and each once; returns their number. */
static size_t take_each_once(const heddle_mpi_data *d, const int *ranks, size_t n, int *list)
{
	size_t length = 0;
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;
		while (k < length && list[k] != ranks[i])
			k++;
		if (k == length && ranks[i] != d->owner)
			list[length++] = ranks[i];
	}
	return length;
}

/* A rank that has a copy already gets the value again: the others of the tree do not know. */
static void end_copies(heddle_mpi_data *d, const int *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct hd_mpi_copy *copy =
		    d->m->rank == d->owner || d->m->rank == list[i] ? hd_mpi_copy_of(d, list[i]) : NULL;
		if (copy)
			hd_mpi_copy_end(copy);
	}
}

static int receive_from(heddle_mpi_data *d, int parent)
{
	struct hd_mpi_pair *p = hd_mpi_pair(d->m, parent);
	int status = p ? hd_mpi_copy_use(d, d->m->rank) : HEDDLE_E_MEMORY;
	if (!status)
		status = hd_mpi_temporary(d, &d->local->handle);
	return status ? status : hd_mpi_receive(p, d->local->handle, 0);
}

static int send_to(heddle_mpi_data *d, int child)
{
	struct hd_mpi_pair *p = hd_mpi_pair(d->m, child);
	heddle_data *handle;
	int status = p ? hd_mpi_handle(d, &handle) : HEDDLE_E_MEMORY;
	return status ? status : hd_mpi_send(p, handle, 0);
}

/* `list[j - 1]` is number j. */
static int spread(heddle_mpi_data *d, const int *list, size_t n)
{
	heddle_mpi *m = d->m;
	int status = 0;
	for (size_t j = 1; j <= n && !status; j++) {
		size_t from = (j - 1) / m->settings.arity;
		int child = list[j - 1], parent = from ? list[from - 1] : d->owner;
		if (m->rank == child)
			status = receive_from(d, parent);
		if (m->rank == parent)
			status = send_to(d, child);
		if (m->rank == d->owner && !status)
			status = hd_mpi_copy_use(d, child);
	}
	for (size_t j = 1; j <= n; j++)
		if (m->rank == d->owner || m->rank == list[j - 1])
			hd_mpi_caches_trim(m, m->rank == d->owner ? list[j - 1] : d->owner);
	return status;
}

int hd_mpi_spread(heddle_mpi_data *d, const int *ranks, size_t n)
{
	int *list = malloc((n + 1) * sizeof *list);
	if (!list)
		return heddle_error(HEDDLE_E_MEMORY, "rank %d: no memory for a broadcast", d->m->rank);
	n = take_each_once(d, ranks, n, list);
	end_copies(d, list, n);
	int status = spread(d, list, n);
	free(list);
	return status;
}
