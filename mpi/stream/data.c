/* Distributed data: 64 bytes each, and what this rank has of them. */
#include <stdlib.h>
#include <string.h>
#include "mpi/internal.h"
#include "mpi/network/network.h"

enum { PER_SLAB = 256, SHAPES_TRIED = 4 };
struct hd_mpi_slab {
	struct hd_mpi_slab *next;
	heddle_mpi_data data[PER_SLAB];
};
struct hd_mpi_shape {
	struct heddle_part part; /* first, so that a pointer to it is one to the shape */
	struct hd_mpi_shape *next;
};

/* --- Memory ------------------------------------------------------------------------------------------------------- */

/* Free data are linked by their field `local`. */
static heddle_mpi_data *take_data(heddle_mpi *m)
{
	if (!m->free_data) {
		struct hd_mpi_slab *slab = calloc(1, sizeof *slab);
		if (!slab)
			return NULL;
		slab->next = m->slabs;
		m->slabs = slab;
		for (size_t i = PER_SLAB; i-- > 0;) {
			slab->data[i].local = (void *)m->free_data;
			m->free_data = &slab->data[i];
		}
	}
	heddle_mpi_data *d = m->free_data;
	m->free_data = (void *)d->local;
	m->stats.live_data++;
	return d;
}

static void give_data(heddle_mpi *m, heddle_mpi_data *d)
{
	free((void *)d->home);
	memset(d, 0, sizeof *d);
	d->local = (void *)m->free_data;
	m->free_data = d;
	m->stats.live_data--;
}

/* The shape as a dense array without a base, shared with data that were registered lately. */
static const struct heddle_part *take_shape(heddle_mpi *m, const struct heddle_part *shape)
{
	struct heddle_part dense = {.elem_size = shape->elem_size, .n_dims = shape->n_dims};
	size_t stride = 1;
	for (unsigned d = 0; d < shape->n_dims; d++) {
		dense.n[d] = shape->n[d];
		dense.stride[d] = stride;
		stride *= shape->n[d] ? shape->n[d] : 1;
	}
	struct hd_mpi_shape *s = m->shapes;
	for (int tried = 0; s && tried < SHAPES_TRIED; tried++, s = s->next)
		if (memcmp(&s->part, &dense, sizeof dense) == 0)
			return &s->part;
	s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	memcpy(&s->part, &dense, sizeof dense);
	s->next = m->shapes;
	m->shapes = s;
	return &s->part;
}

struct hd_mpi_local *hd_mpi_local(heddle_mpi_data *d)
{
	if (!d->local)
		d->local = calloc(1, sizeof *d->local);
	return d->local;
}

void hd_mpi_local_tidy(heddle_mpi_data *d)
{
	struct hd_mpi_local *local = d->local;
	if (!local || local->handle || local->copies || local->partial || local->contributes || local->acquired)
		return;
	free(local);
	d->local = NULL;
}

void hd_mpi_data_free_all(heddle_mpi *m)
{
	for (struct hd_mpi_slab *slab = m->slabs, *next; slab; slab = next) {
		next = slab->next;
		for (size_t i = 0; i < PER_SLAB; i++) {
			heddle_mpi_data *d = &slab->data[i];
			if (!d->m)
				continue; /* free */
			for (struct hd_mpi_copy *c = d->local ? d->local->copies : NULL, *n; c; c = n) {
				n = c->next;
				free(c);
			}
			if (d->local)
				free(d->local->contributes);
			free(d->local);
			free((void *)d->home);
		}
		free(slab);
	}
	for (struct hd_mpi_shape *s = m->shapes, *next; s; s = next) {
		next = s->next;
		free(s);
	}
	for (struct hd_mpi_reduction *r = m->reductions, *next; r; r = next) {
		next = r->next;
		free(r);
	}
	free(m->open_reductions);
}

/* --- Handles ------------------------------------------------------------------------------------------------------ */

static int make_handle(heddle_mpi_data *d, const struct heddle_part *part, heddle_data **out)
{
	int status = part->n_dims ? heddle_tensor(d->m->rt, part, out)
	                          : heddle_variable(d->m->rt, part->base, part->elem_size, out);
	if (!status && d->reduction)
		status = heddle_data_set_reduction(*out, d->reduction->init, d->reduction->combine);
	return status;
}

int hd_mpi_temporary(heddle_mpi_data *d, heddle_data **out)
{
	return make_handle(d, d->shape, out);
}

int hd_mpi_handle(heddle_mpi_data *d, heddle_data **out)
{
	struct hd_mpi_local *local = hd_mpi_local(d);
	if (!local)
		return heddle_error(HEDDLE_E_MEMORY, "rank %d: no memory for a datum", d->m->rank);
	int status = 0;
	if (!local->handle)
		status = make_handle(d, d->home ? d->home : d->shape, &local->handle);
	*out = local->handle;
	return status;
}

/* --- The interface ------------------------------------------------------------------------------------------------ */

int heddle_mpi_register(heddle_mpi *m, uint64_t key, int owner, const struct heddle_part *shape, heddle_mpi_data **out)
{
	if (!m || !shape || !out || owner < 0 || owner >= m->size)
		return heddle_error(HEDDLE_E_INVALID,
		                    "heddle_mpi_register: an argument is NULL, or there is no rank %d", owner);
	if (!shape->elem_size || shape->n_dims > HEDDLE_MAX_DIMS)
		return heddle_error(
		    HEDDLE_E_INVALID,
		    "heddle_mpi_register: datum %llu has elements of 0 bytes, or more than %d dimensions",
		    (unsigned long long)key, HEDDLE_MAX_DIMS);
	heddle_mpi_data *d = take_data(m);
	const struct heddle_part *dense = d ? take_shape(m, shape) : NULL;
	struct heddle_part *home = NULL;
	if (dense && owner == m->rank && shape->base && (home = malloc(sizeof *home)))
		*home = *shape;
	if (!dense || (owner == m->rank && shape->base && !home)) {
		if (d)
			give_data(m, d);
		return heddle_error(HEDDLE_E_MEMORY, "rank %d: no memory for datum %llu", m->rank,
		                    (unsigned long long)key);
	}
	*d = (heddle_mpi_data){.m = m, .key = key, .shape = dense, .home = home, .owner = owner};
	d->bytes = hd_mpi_part_bytes(dense);
	*out = d;
	return 0;
}

static int check(const heddle_mpi_data *d, const char *function)
{
	if (!d || !d->m)
		return heddle_error(HEDDLE_E_INVALID, "%s: the datum is NULL, or was unregistered", function);
	if (d->m->broken)
		return heddle_error(d->m->broken, "%s: rank %d can only stop after an error of heddle_mpi_wait_all",
		                    function, d->m->rank);
	return 0;
}

/* A call that concerns this rank and another one. */
static void note(heddle_mpi_data *d, int rank, int other, const char *function)
{
	heddle_mpi *m = d->m;
	if (rank != other && (m->rank == rank || m->rank == other))
		hd_mpi_trail_add(m, m->rank == rank ? other : rank, d->key * 31 + (uint64_t)rank, function);
}

int heddle_mpi_unregister(heddle_mpi_data *d)
{
	int status = check(d, "heddle_mpi_unregister");
	if (status)
		return status;
	if (d->reducing)
		status = hd_mpi_combine(d, 0);
	hd_mpi_forget(d, -1);
	if (d->local && d->local->handle) {
		int ended = heddle_unregister_async(d->local->handle);
		status = status ? status : ended;
		d->local->handle = NULL;
	}
	free(d->local);
	d->local = NULL;
	give_data(d->m, d);
	return status;
}

uint64_t heddle_mpi_key(const heddle_mpi_data *d)
{
	return d ? d->key : 0;
}

int heddle_mpi_owner(const heddle_mpi_data *d)
{
	return d ? d->owner : HEDDLE_E_INVALID;
}

/* The copy of the new owner becomes the datum, the datum of the old one ends. */
static void change_hands(heddle_mpi_data *d, int owner)
{
	int rank = d->m->rank;
	struct hd_mpi_local *local = d->local;
	struct hd_mpi_copy *copy = rank == d->owner || rank == owner ? hd_mpi_copy_of(d, owner) : NULL;
	if (!copy)
		return;
	if (rank == owner) {
		heddle_data *handle = local->handle;
		local->acquired = 1; /* keeps `local` */
		local->handle = NULL;
		hd_mpi_copy_end(copy);
		local->acquired = 0;
		local->handle = handle;
		return;
	}
	hd_mpi_copy_end(copy);
	heddle_unregister_async(local->handle);
	local->handle = NULL;
	hd_mpi_local_tidy(d);
	free((void *)d->home);
	d->home = NULL;
}

int heddle_mpi_move(heddle_mpi_data *d, int owner)
{
	int status = check(d, "heddle_mpi_move");
	if (!status && (owner < 0 || owner >= d->m->size))
		status = heddle_error(HEDDLE_E_INVALID, "heddle_mpi_move: there is no rank %d", owner);
	if (status || owner == d->owner)
		return status;
	int before = d->owner;
	note(d, before, owner, "heddle_mpi_move");
	if (d->reducing)
		status = hd_mpi_combine(d, 0);
	if (!status)
		status = hd_mpi_bring(d, owner, 0);
	hd_mpi_forget(d, owner);
	change_hands(d, owner);
	d->owner = owner;
	return status;
}

int heddle_mpi_flush(heddle_mpi_data *d)
{
	int status = check(d, "heddle_mpi_flush");
	if (!status)
		hd_mpi_forget(d, -1);
	return status;
}

int heddle_mpi_readers(heddle_mpi_data *d, const int *ranks, size_t n)
{
	int status = check(d, "heddle_mpi_readers");
	for (size_t i = 0; i < n && !status; i++) {
		if (!ranks || ranks[i] < 0 || ranks[i] >= d->m->size)
			status = heddle_error(HEDDLE_E_INVALID, "heddle_mpi_readers: there is no such rank, at %zu", i);
		else
			note(d, d->owner, ranks[i], "heddle_mpi_readers");
	}
	if (!status && d->reducing)
		status = hd_mpi_combine(d, 0);
	return status ? status : hd_mpi_spread(d, ranks, n);
}

int heddle_mpi_set_reduction(heddle_mpi_data *d, heddle_codelet *init, heddle_codelet *combine)
{
	int status = check(d, "heddle_mpi_set_reduction");
	if (status || !init || !combine)
		return heddle_error(HEDDLE_E_INVALID, "heddle_mpi_set_reduction: an argument is NULL");
	heddle_mpi *m = d->m;
	struct hd_mpi_reduction *r = m->reductions;
	while (r && (r->init != init || r->combine != combine))
		r = r->next;
	if (!r && !(r = calloc(1, sizeof *r)))
		return heddle_error(HEDDLE_E_MEMORY, "rank %d: no memory for a reduction", m->rank);
	if (!r->init) {
		*r = (struct hd_mpi_reduction){init, combine, m->reductions};
		m->reductions = r;
	}
	d->reduction = r;
	return d->local && d->local->handle ? heddle_data_set_reduction(d->local->handle, init, combine) : 0;
}

heddle_data *heddle_mpi_local(heddle_mpi_data *d)
{
	heddle_data *handle = NULL;
	if (check(d, "heddle_mpi_local") || d->owner != d->m->rank || hd_mpi_handle(d, &handle))
		return NULL;
	return handle;
}

int heddle_mpi_acquire(heddle_mpi_data *d, enum heddle_mode mode)
{
	heddle_data *handle;
	int status = check(d, "heddle_mpi_acquire");
	if (status)
		return status;
	if (d->reducing)
		status = hd_mpi_combine(d, 0);
	if (mode != HEDDLE_R)
		hd_mpi_forget(d, -1);
	if (status || d->owner != d->m->rank)
		return status;
	status = hd_mpi_handle(d, &handle);
	if (!status)
		status = heddle_acquire(handle, mode);
	d->local->acquired = !status;
	return status;
}

int heddle_mpi_release(heddle_mpi_data *d)
{
	int status = check(d, "heddle_mpi_release");
	if (status || d->owner != d->m->rank || !d->local || !d->local->acquired)
		return status;
	d->local->acquired = 0;
	return heddle_release(d->local->handle);
}

void *heddle_mpi_ptr(heddle_mpi_data *d)
{
	return d && d->m && d->owner == d->m->rank && d->local && d->local->handle ? heddle_data_ptr(d->local->handle)
	                                                                           : NULL;
}
