/* An append-only list of events of one size, in chunks: what the recorder (record.c) writes while tasks run. */
#ifndef HD_TRACE_LOG_H
#define HD_TRACE_LOG_H

#include <stddef.h>
#include "base/base.h"

struct hd_log_chunk {
	struct hd_log_chunk *next;
	size_t used, room; /* events */
	size_t size;       /* bytes, this structure included */
	_Alignas(16) unsigned char bytes[];
};

/* A list that is all zero except `event_size` is empty. */
struct hd_log {
	struct hd_log_chunk *first, *last, *spare; /* own; the spare one follows the last; NULL: there is none yet */
	size_t event_size, n;
	struct hd_log *next_short; /* in a list of those that need a spare chunk */
	int is_short;              /* 1: it is in that list */
};

/* Adds a chunk: the spare one, or a new one. Returns 0, or -1 when out of memory. */
int hd_log_grow(struct hd_log *log);
/* How large the next chunk is, in bytes. */
size_t hd_log_next_size(const struct hd_log *log);
/* Makes a chunk and touches its memory, so that nobody must wait for it later. NULL: out of memory. */
struct hd_log_chunk *hd_log_chunk_new(size_t size, size_t event_size);
/* Whether a spare chunk should be made, so that the log need not wait for the system when its last one is full. 1 once
 * per chunk, after the event that fills three quarters of it was appended. */
static inline int hd_log_runs_short(const struct hd_log *log)
{
	return log->last->used == log->last->room - log->last->room / 4 && !log->spare;
}
void hd_log_empty(struct hd_log *log);

/* How far a list has been read; all zero: not at all. It is void when the list is emptied. */
struct hd_log_place {
	const struct hd_log_chunk *chunk;
	size_t used, n; /* events that have been read of this chunk, and of all */
};
/* How many events a call of hd_log_read reads. */
static inline size_t hd_log_left(const struct hd_log *log, const struct hd_log_place *place, size_t most)
{
	return log->n - place->n < most ? log->n - place->n : most;
}
/* Calls `f` for the next events behind the place, `most` at most, and moves the place. */
void hd_log_read(const struct hd_log *log, struct hd_log_place *place, size_t most,
                 void (*f)(const void *event, void *arg), void *arg);
void hd_log_each(const struct hd_log *log, void (*f)(const void *event, void *arg), void *arg);

/* Room for an event, which the caller fills at once; NULL: out of memory. */
static inline void *hd_log_append(struct hd_log *log)
{
	if (HD_UNLIKELY(!log->last || log->last->used == log->last->room) && hd_log_grow(log))
		return NULL;
	log->n++;
	return log->last->bytes + log->last->used++ * log->event_size;
}

#endif
