/* Chunks of fresh memory. The first write to each page causes a page fault, which takes as long as several tasks. So
 * each chunk is twice as large as the one before, up to a huge page: a huge page causes one fault instead of 512, and
 * needs one entry of the TLB. */
#include <stdlib.h>
#include <sys/mman.h>
#include "base.h"

enum { FIRST_CHUNK = 1 << 16, HUGE_PAGE = 1 << 21 };

struct hd_chunk {
	struct hd_chunk *next;
};

size_t hd_chunk_size(size_t last)
{
	return last == 0 ? FIRST_CHUNK : last < HUGE_PAGE ? 2 * last : HUGE_PAGE;
}

void *hd_chunk_new(size_t size)
{
	void *chunk = aligned_alloc(size == HUGE_PAGE ? HUGE_PAGE : HD_CACHE_LINE, size);
	if (chunk && size == HUGE_PAGE)
		/* The result is ignored: if the system has no huge pages, the chunk has ordinary ones. */
		madvise(chunk, size, MADV_HUGEPAGE);
	return chunk;
}

void *hd_arena_take(struct hd_arena *a, size_t size, size_t alignment)
{
	size_t at = hd_round_up(a->used, alignment);
	if (!a->chunks || at + size > a->size) {
		size_t chunk_size = hd_chunk_size(a->size);
		at = hd_round_up(sizeof(struct hd_chunk), alignment);
		while (chunk_size < at + size)
			chunk_size *= 2;
		struct hd_chunk *chunk = hd_chunk_new(chunk_size);
		if (!chunk)
			return NULL;
		chunk->next = a->chunks;
		*a = (struct hd_arena){.chunks = chunk, .size = chunk_size};
	}
	a->used = at + size;
	return (char *)a->chunks + at;
}

void hd_arena_close(struct hd_arena *a)
{
	while (a->chunks) {
		struct hd_chunk *next = a->chunks->next;
		free(a->chunks);
		a->chunks = next;
	}
}
