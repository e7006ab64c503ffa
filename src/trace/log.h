/* An append-only list of events of one size, in chunks: what the recorder (record.c) writes while tasks run. */
#ifndef HD_TRACE_LOG_H
#define HD_TRACE_LOG_H

#include <stddef.h>
#include "base/base.h"

struct hd_log_chunk {
	struct hd_log_chunk *next;
	size_t used, room; /* events */
	_Alignas(16) unsigned char bytes[];
};

/* A list that is all zero except `event_size` is empty. */
struct hd_log {
	struct hd_log_chunk *first, *last; /* own */
	size_t event_size, n, bytes;       /* bytes: size of the last chunk, 0 before the first */
};

/* Adds a chunk. Returns 0, or -1 when out of memory. */
int hd_log_grow(struct hd_log *log);
void hd_log_empty(struct hd_log *log);
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
