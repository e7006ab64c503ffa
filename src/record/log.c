/* Logs: append-only lists of events in chunks. */
#include "log.h"
#include <stdlib.h>

static struct hd_log_chunk *make_chunk(size_t size, size_t event_size)
{
	struct hd_log_chunk *c = hd_chunk_new(size);
	if (c)
		*c = (struct hd_log_chunk){.room = (size - sizeof *c) / event_size, .size = size};
	return c;
}

struct hd_log_chunk *hd_log_chunk_new(size_t size, size_t event_size)
{
	enum { PAGE = 4096 };
	struct hd_log_chunk *c = make_chunk(size, event_size);
	for (size_t at = PAGE; c && at < size; at += PAGE)
		((volatile unsigned char *)c)[at] = 0;
	return c;
}

size_t hd_log_next_size(const struct hd_log *log)
{
	return hd_chunk_size(log->last ? log->last->size : 0);
}

int hd_log_grow(struct hd_log *log)
{
	struct hd_log_chunk *c = log->spare ? log->spare : make_chunk(hd_log_next_size(log), log->event_size);
	if (!c)
		return -1;
	log->spare = NULL;
	if (log->last)
		log->last->next = c;
	else
		log->first = c;
	log->last = c;
	return 0;
}

void hd_log_empty(struct hd_log *log)
{
	while (log->first) {
		struct hd_log_chunk *next = log->first->next;
		free(log->first);
		log->first = next;
	}
	free(log->spare);
	log->last = log->spare = NULL;
	log->n = 0;
}

void hd_log_read(const struct hd_log *log, struct hd_log_place *place, size_t most,
                 void (*f)(const void *event, void *arg), void *arg)
{
	if (!place->chunk)
		place->chunk = log->first;
	for (size_t left = hd_log_left(log, place, most); left; left--) {
		while (place->used == place->chunk->used) {
			place->chunk = place->chunk->next;
			place->used = 0;
		}
		f(place->chunk->bytes + place->used++ * log->event_size, arg);
		place->n++;
	}
}

void hd_log_each(const struct hd_log *log, void (*f)(const void *event, void *arg), void *arg)
{
	struct hd_log_place place = {0};
	hd_log_read(log, &place, SIZE_MAX, f, arg);
}
