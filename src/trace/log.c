/* Chunks of events: see log.h. */
#include "trace/log.h"
#include <stdlib.h>

int hd_log_grow(struct hd_log *log)
{
	size_t bytes = hd_chunk_size(log->bytes);
	struct hd_log_chunk *c = hd_chunk_new(bytes);
	if (!c)
		return -1;
	*c = (struct hd_log_chunk){.room = (bytes - sizeof *c) / log->event_size};
	if (log->last)
		log->last->next = c;
	else
		log->first = c;
	log->last = c;
	log->bytes = bytes;
	return 0;
}

void hd_log_empty(struct hd_log *log)
{
	while (log->first) {
		struct hd_log_chunk *next = log->first->next;
		free(log->first);
		log->first = next;
	}
	log->last = NULL;
	log->n = log->bytes = 0;
}

void hd_log_each(const struct hd_log *log, void (*f)(const void *event, void *arg), void *arg)
{
	for (const struct hd_log_chunk *c = log->first; c; c = c->next)
		for (size_t i = 0; i < c->used; i++)
			f(c->bytes + i * log->event_size, arg);
}
