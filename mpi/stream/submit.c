/* A task of the stream: which rank executes it, what this rank has to send and receive for it, and the task itself. */
#include <stdlib.h>
#include <string.h>
#include "mpi/internal.h"

/* A distributed datum of a task, named once or several times. */
struct use {
	heddle_mpi_data *data;
	int mode;
	heddle_data *handle; /* on the rank that executes */
	int is_scratch;      /* the handle ends after the task was submitted */
};
enum { FEW_ITEMS = 24 };
struct call {
	heddle_mpi *m;
	size_t n;
	const struct heddle_item *items;
	int rank; /* that executes */
	int priority;
	const char *name;
	uint64_t hash;
	struct use *uses;
	size_t n_uses;
};

static heddle_mpi_data *data_of(const struct heddle_item *item)
{
	return (heddle_mpi_data *)(uintptr_t)item->ptr;
}

enum { WRITES = HEDDLE_W | HEDDLE_COMMUTE };

/* --- Who has to do with the task ---------------------------------------------------------------------------------- */

/* Which rank executes the task; -1: none is named. *concerned: whether this rank has to do with it. The way of a task
 * that does not concern the rank ends here. */
static int survey(const heddle_mpi *m, size_t n, const struct heddle_item *items, int *concerned)
{
	int named = -1, writes = -1, first = -1, mine = 0, rank = m->rank;
	for (const struct heddle_item *item = items; item < items + n; item++) {
		if (item->what < HEDDLE_MPI_ITEM_DATA)
			continue;
		const heddle_mpi_data *d = item->ptr;
		if (item->what == HEDDLE_MPI_ITEM_ON) {
			named = item->number;
			continue;
		}
		if (!d)
			return -1;
		if (item->what == HEDDLE_MPI_ITEM_WITH) {
			named = d->owner;
			continue;
		}
		mine |= d->owner == rank || d->local;
		first = first < 0 ? d->owner : first;
		if (writes < 0 && (item->number & WRITES))
			writes = d->owner;
	}
	int executes = named >= 0 ? named : writes >= 0 ? writes : first;
	*concerned = mine || executes == rank;
	return executes < m->size ? executes : -1;
}

int heddle_mpi_concerns(const heddle_mpi *m, size_t n, const struct heddle_item *items)
{
	int concerned = 0;
	if (!m || (n && !items))
		return heddle_error(HEDDLE_E_INVALID, "heddle_mpi_concerns: an argument is NULL");
	return survey(m, n, items, &concerned) < 0 || concerned;
}

/* --- Uses --------------------------------------------------------------------------------------------------------- */

static int merge(struct use *use, int mode)
{
	int one_way = use->mode <= HEDDLE_RW && mode <= HEDDLE_RW;
	if (!one_way && (use->mode != mode || mode == HEDDLE_REDUX))
		return heddle_error(HEDDLE_E_INVALID, "datum %llu: a task cannot use it as %d and as %d",
		                    (unsigned long long)use->data->key, use->mode, mode);
	use->mode |= mode;
	return 0;
}

/* Fills call->uses, which has room for all items. */
static int gather(struct call *call)
{
	int status = 0;
	for (size_t i = 0; i < call->n && !status; i++) {
		const struct heddle_item *item = &call->items[i];
		if (item->what == HEDDLE_ITEM_PRIORITY)
			call->priority = item->number;
		if (item->what == HEDDLE_ITEM_CODELET)
			call->name = heddle_codelet_name(item->ptr);
		if (item->what != HEDDLE_MPI_ITEM_DATA)
			continue;
		heddle_mpi_data *d = data_of(item);
		if (d->m != call->m)
			return heddle_error(HEDDLE_E_INVALID,
			                    "a task names a datum that was unregistered, or is of another heddle_mpi");
		size_t k = 0;
		while (k < call->n_uses && call->uses[k].data != d)
			k++;
		if (k < call->n_uses)
			status = merge(&call->uses[k], item->number);
		else
			call->uses[call->n_uses++] = (struct use){.data = d, .mode = item->number};
		call->hash = (call->hash ^ (d->key * 64 + (uint64_t)item->number)) * 0x9e3779b97f4a7c15u;
		call->hash ^= call->hash >> 29;
	}
	return status;
}

/* --- Steps -------------------------------------------------------------------------------------------------------- */

static int bring(struct call *call)
{
	int status = 0;
	for (struct use *u = call->uses; u < call->uses + call->n_uses && !status; u++) {
		if (u->mode != HEDDLE_REDUX && u->mode != HEDDLE_SCRATCH && u->data->reducing)
			status = hd_mpi_combine(u->data, call->priority);
		if (!status && (u->mode & (HEDDLE_R | HEDDLE_COMMUTE)))
			status = hd_mpi_bring(u->data, call->rank, call->priority);
		if (!status && u->mode == HEDDLE_REDUX)
			status = hd_mpi_contribute(u->data, call->rank, &u->handle);
	}
	return status;
}

/* On the rank that executes: the handle of one datum. */
static int find_handle(struct use *u)
{
	heddle_mpi_data *d = u->data;
	if (u->mode == HEDDLE_REDUX)
		return 0; /* set by hd_mpi_contribute */
	if (d->owner == d->m->rank)
		return hd_mpi_handle(d, &u->handle);
	struct hd_mpi_local *local = hd_mpi_local(d);
	if (!local)
		return heddle_error(HEDDLE_E_MEMORY, "rank %d: no memory for a datum", d->m->rank);
	if (u->mode == HEDDLE_SCRATCH && !local->handle) {
		u->is_scratch = 1;
		return hd_mpi_temporary(d, &u->handle);
	}
	int status = local->handle ? 0 : hd_mpi_temporary(d, &local->handle);
	u->handle = local->handle;
	return status;
}

/* Submits the task on this rank, with handles in place of distributed data. */
static int execute(struct call *call)
{
	struct heddle_item few[FEW_ITEMS];
	struct heddle_item *items = call->n > FEW_ITEMS ? malloc(call->n * sizeof *items) : few;
	int status = items ? 0 : heddle_error(HEDDLE_E_MEMORY, "rank %d: no memory for a task", call->m->rank);
	size_t n = 0;
	for (struct use *u = call->uses; u < call->uses + call->n_uses && !status; u++)
		status = find_handle(u);
	for (size_t i = 0; i < call->n && !status; i++) {
		const struct heddle_item *item = &call->items[i];
		if (item->what == HEDDLE_MPI_ITEM_ON || item->what == HEDDLE_MPI_ITEM_WITH)
			continue;
		items[n++] = *item;
		if (item->what != HEDDLE_MPI_ITEM_DATA)
			continue;
		struct use *u = call->uses;
		while (u->data != item->ptr)
			u++;
		items[n - 1].what = item->number;
		items[n - 1].number = 0;
		items[n - 1].ptr = u->handle;
	}
	if (!status)
		status = heddle_submit_items(call->m->rt, n, items);
	for (struct use *u = call->uses; u < call->uses + call->n_uses; u++)
		if (u->is_scratch && u->handle) {
			heddle_unregister_async(u->handle);
			hd_mpi_local_tidy(u->data);
		}
	if (items != few)
		free(items);
	call->m->stats.executed += !status;
	return status;
}

/* What follows from the task for values, caches and hashes, whether or not it could be submitted: the other ranks do
 * not know. */
static int conclude(struct call *call)
{
	heddle_mpi *m = call->m;
	int status = 0;
	for (struct use *u = call->uses; u < call->uses + call->n_uses; u++)
		if (u->mode & WRITES) {
			int failed = hd_mpi_written(u->data, call->rank, call->priority);
			status = status ? status : failed;
		}
	for (struct use *u = call->uses; u < call->uses + call->n_uses; u++) {
		int owner = u->data->owner, other = owner == m->rank ? call->rank : owner;
		if (owner == call->rank || (m->rank != call->rank && m->rank != owner))
			continue;
		hd_mpi_caches_trim(m, other);
		int is_first = 1; /* of the data of this owner */
		for (const struct use *v = call->uses; v < u; v++)
			is_first &= v->data->owner != owner;
		if (is_first)
			hd_mpi_trail_add(m, other, call->hash + (uint64_t)call->rank, call->name);
	}
	return status;
}

static int others(const struct call *call)
{
	for (size_t i = 0; i < call->n; i++)
		if (call->items[i].what == HEDDLE_ITEM_OUT && call->items[i].ptr)
			*(heddle_task **)(uintptr_t)call->items[i].ptr = NULL;
	return 0;
}

static int submit(struct call *call)
{
	struct use few[FEW_ITEMS];
	call->uses = call->n > FEW_ITEMS ? malloc(call->n * sizeof *call->uses) : few;
	if (!call->uses)
		return heddle_error(HEDDLE_E_MEMORY, "rank %d: no memory for a task", call->m->rank);
	int status = gather(call);
	if (!status) {
		status = bring(call);
		if (!status)
			status = call->rank == call->m->rank ? execute(call) : others(call);
		int failed = conclude(call);
		status = status ? status : failed;
	}
	if (call->uses != few)
		free(call->uses);
	return status;
}

int heddle_mpi_submit_items(heddle_mpi *m, size_t n, const struct heddle_item *items)
{
	if (!m || (n && !items))
		return heddle_error(HEDDLE_E_INVALID, "heddle_mpi_submit: an argument is NULL");
	if (m->broken)
		return heddle_error(m->broken, "rank %d can only stop after an error of heddle_mpi_wait_all", m->rank);
	int concerned = 0;
	struct call call = {.m = m, .n = n, .items = items, .rank = survey(m, n, items, &concerned), .name = "task"};
	m->stats.tasks++;
	if (call.rank < 0)
		return heddle_error(HEDDLE_E_INVALID,
		                    "heddle_mpi_submit: the task names no distributed datum and no rank that exists");
	if (!concerned)
		return others(&call);
	return submit(&call);
}
