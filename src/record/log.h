/* A log: an append-only list of events of one size, in chunks. The recorder (record.c) writes logs while tasks run. */
#ifndef HD_RECORD_LOG_H
#define HD_RECORD_LOG_H

#include <stddef.h>
#include "base/base.h"

struct hd_log_chunk {
	struct hd_log_chunk *next;
	size_t used, room; /* used: number of events in the chunk; room: the most that fit */
	size_t size;       /* bytes, this structure included */
	_Alignas(16) unsigned char bytes[];
};

/* A log whose fields are all zero except `event_size` is empty. */
struct hd_log {
	struct hd_log_chunk *first, *last, *spare; /* owned; the spare chunk will follow the last one; NULL: none yet */
	size_t event_size, n;
	struct hd_log *next_short; /* next in the runtime's list short_logs, of logs that need a spare chunk */
	int is_short;              /* 1: the log is in the list short_logs */
};

/* Appends a chunk: the spare one, or a new one. Returns 0, or -1 when out of memory. */
int hd_log_grow(struct hd_log *log);
/* The size of the next chunk, in bytes. */
size_t hd_log_next_size(const struct hd_log *log);
/* Makes a chunk and touches its pages, so that no later write to it causes a page fault. NULL: out of memory. */
struct hd_log_chunk *hd_log_chunk_new(size_t size, size_t event_size);
/* Whether a spare chunk should be made now, so that no append has to allocate one when the last chunk is full. Returns
 * 1 once per chunk, when three quarters of it have just been filled. */
static inline int hd_log_runs_short(const struct hd_log *log)
{
	return log->last->used == log->last->room - log->last->room / 4 && !log->spare;
}
void hd_log_empty(struct hd_log *log);

/* A position in a log; all zero: its beginning. Emptying the log invalidates its positions. */
struct hd_log_place {
	const struct hd_log_chunk *chunk;
	size_t used, n; /* used: number of events read from this chunk; n: from the whole log */
};
/* The number of events that hd_log_read will read. */
static inline size_t hd_log_left(const struct hd_log *log, const struct hd_log_place *place, size_t most)
{
	return log->n - place->n < most ? log->n - place->n : most;
}
/* Calls `f` for up to `most` events after `place`, and moves `place`. */
void hd_log_read(const struct hd_log *log, struct hd_log_place *place, size_t most,
                 void (*f)(const void *event, void *arg), void *arg);
void hd_log_each(const struct hd_log *log, void (*f)(const void *event, void *arg), void *arg);

/* Appends room for an event, which the caller fills at once. NULL: out of memory. */
static inline void *hd_log_append(struct hd_log *log)
{
	if (HD_UNLIKELY(!log->last || log->last->used == log->last->room) && hd_log_grow(log))
		return NULL;
	log->n++;
	return log->last->bytes + log->last->used++ * log->event_size;
}

#endif
