/* Reductions over ranks: each rank adds to a sum of its own, which is sent to the owner when a task uses the datum in
 * another way, or a wait begins. The owner adds what comes in the order of the ranks. */
#include <stdlib.h>
#include "mpi/internal.h"

static int open_reduction(heddle_mpi_data *d)
{
	heddle_mpi *m = d->m;
	if (d->reducing)
		return 0;
	if (m->n_open == m->max_open) {
		size_t max = 2 * m->max_open + 8;
		heddle_mpi_data **list = realloc(m->open_reductions, max * sizeof *list);
		if (!list)
			return heddle_error(HEDDLE_E_MEMORY, "rank %d: no memory for a reduction", m->rank);
		m->open_reductions = list;
		m->max_open = max;
	}
	m->open_reductions[m->n_open++] = d;
	d->reducing = 1;
	return 0;
}

static int begin_partial(heddle_mpi_data *d)
{
	struct hd_mpi_local *local = hd_mpi_local(d);
	if (!local)
		return heddle_error(HEDDLE_E_MEMORY, "rank %d: no memory for a reduction", d->m->rank);
	if (local->partial)
		return 0;
	int status = hd_mpi_temporary(d, &local->partial);
	return status ? status : heddle_submit(d->m->rt, heddle_call(d->reduction->init), heddle_w(local->partial));
}

int hd_mpi_contribute(heddle_mpi_data *d, int rank, heddle_data **handle)
{
	heddle_mpi *m = d->m;
	hd_mpi_forget(d, -1);
	if (m->rank != rank && m->rank != d->owner)
		return 0;
	if (!d->reduction)
		return heddle_error(HEDDLE_E_INVALID, "datum %llu has no reduction: call heddle_mpi_set_reduction",
		                    (unsigned long long)d->key);
	int status = open_reduction(d);
	if (!status && m->rank == rank && rank != d->owner) {
		status = begin_partial(d);
		*handle = d->local ? d->local->partial : NULL;
		return status;
	}
	if (!status && (status = hd_mpi_handle(d, handle)) == 0 && rank != d->owner) {
		if (!d->local->contributes && !(d->local->contributes = calloc((size_t)m->size, 1)))
			return heddle_error(HEDDLE_E_MEMORY, "rank %d: no memory for a reduction", m->rank);
		d->local->contributes[rank] = 1;
	}
	return status;
}

static int add_from(heddle_mpi_data *d, int rank, int priority)
{
	heddle_mpi *m = d->m;
	heddle_data *sum;
	struct hd_mpi_pair *p = hd_mpi_pair(m, rank);
	int status = p ? hd_mpi_temporary(d, &sum) : HEDDLE_E_MEMORY;
	if (status)
		return status;
	status = hd_mpi_receive(p, sum, priority);
	if (!status)
		status = heddle_submit(m->rt, heddle_call(d->reduction->combine), heddle_rw(d->local->handle),
		                       heddle_r(sum), heddle_priority(priority));
	heddle_unregister_async(sum);
	return status;
}

int hd_mpi_combine(heddle_mpi_data *d, int priority)
{
	heddle_mpi *m = d->m;
	struct hd_mpi_local *local = d->local;
	int status = 0;
	size_t at = 0;
	while (m->open_reductions[at] != d)
		at++;
	m->open_reductions[at] = m->open_reductions[--m->n_open];
	d->reducing = 0;
	if (m->rank == d->owner) {
		for (int rank = 0; local->contributes && rank < m->size && !status; rank++)
			if (local->contributes[rank])
				status = add_from(d, rank, priority);
		free(local->contributes);
		local->contributes = NULL;
		return status;
	}
	struct hd_mpi_pair *p = hd_mpi_pair(m, d->owner);
	status = p ? hd_mpi_send(p, local->partial, priority) : HEDDLE_E_MEMORY;
	heddle_unregister_async(local->partial);
	local->partial = NULL;
	hd_mpi_local_tidy(d);
	return status;
}

static int by_key(const void *x, const void *y)
{
	uint64_t a = (*(heddle_mpi_data *const *)x)->key, b = (*(heddle_mpi_data *const *)y)->key;
	return (a > b) - (a < b);
}

/* In the order of their keys, which is the same on all ranks; ranks may have begun them in different orders. */
int hd_mpi_combine_all(heddle_mpi *m)
{
	int status = 0;
	if (m->n_open)
		qsort(m->open_reductions, m->n_open, sizeof(heddle_mpi_data *), by_key);
	while (m->n_open) { /* hd_mpi_combine takes the last one out */
		int failed = hd_mpi_combine(m->open_reductions[m->n_open - 1], 0);
		status = status ? status : failed;
	}
	return status;
}
