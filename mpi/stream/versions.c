/* Where the value of a datum is. The owner has the present value in one handle, which tasks write in turn. A rank that
 * reads a version of another one's datum gets it in a temporary handle, which a receive writes; it keeps this copy
 * until the next write, or until the cache is full. The handle ends after its last reader, so that the next version may
 * come while tasks still read this one. */
#include <stdlib.h>
#include "mpi/internal.h"

int hd_mpi_bring(heddle_mpi_data *d, int reader, int priority)
{
	heddle_mpi *m = d->m;
	heddle_data *handle;
	int status = 0;
	if (reader == d->owner || (m->rank != d->owner && m->rank != reader))
		return 0;
	if (hd_mpi_copy_of(d, reader)) {
		m->stats.reused += m->rank == reader;
		return hd_mpi_copy_use(d, reader);
	}
	status = hd_mpi_copy_use(d, reader);
	if (!status && m->rank == reader) {
		status = hd_mpi_temporary(d, &d->local->handle);
		return status ? status : hd_mpi_receive(hd_mpi_pair(m, d->owner), d->local->handle, priority);
	}
	if (!status)
		status = hd_mpi_handle(d, &handle);
	return status ? status : hd_mpi_send(hd_mpi_pair(m, reader), handle, priority);
}

void hd_mpi_forget(heddle_mpi_data *d, int keeper)
{
	int rank = d->m->rank;
	if (!d->local || (rank != d->owner && rank == keeper))
		return;
	for (struct hd_mpi_copy *copy = d->local->copies, *next; copy; copy = next) {
		next = copy->next;
		if (rank != d->owner || copy->pair->peer != keeper)
			hd_mpi_copy_end(copy); /* on a holder, the only one */
	}
}

int hd_mpi_written(heddle_mpi_data *d, int writer, int priority)
{
	heddle_mpi *m = d->m;
	heddle_data *handle;
	hd_mpi_forget(d, writer);
	if (writer == d->owner || (m->rank != d->owner && m->rank != writer))
		return 0;
	int status = hd_mpi_copy_use(d, writer);
	if (!status && m->rank == writer)
		return hd_mpi_send(hd_mpi_pair(m, d->owner), d->local->handle, priority);
	if (!status)
		status = hd_mpi_handle(d, &handle);
	return status ? status : hd_mpi_receive(hd_mpi_pair(m, writer), handle, priority);
}
