/* Which replicas leave a memory that has a limit: eviction.c. The core lock is held in all functions. */
#ifndef HD_EVICTION_H
#define HD_EVICTION_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/data.h>
#include <heddle/runtime.h>

struct hd_memory;
struct hd_replica;

/* eviction.c: which copies leave a memory that has a limit. */
/* To be called before one more copy of so many bytes is allocated: makes the memory tight if it is nearly full then,
 * with room in the heap for the copy, or loose if it is far from that. HEDDLE_E_MEMORY. */
int hd_evict_reserve(heddle_runtime *rt, struct hd_memory *m, uint64_t bytes);
/* The copy may be evicted from now on, because nothing pins it; or may not. */
void hd_evict_add(struct hd_replica *r);
void hd_evict_remove(struct hd_replica *r);
/* To be called when copies of the datum may have become less useful than they were. */
void hd_evict_sooner(heddle_data *d);
/* Whether nothing is lost when the copy leaves, with the windows in it. */
int hd_is_clean(const struct hd_replica *r);
/* Whether nothing is lost when the copy leaves, if the windows in it do not count. */
int hd_is_clean_alone(const struct hd_replica *r);
/* Calls f(window, arg) for the windows in a copy, if it has any. */
void hd_windows_each(const struct hd_replica *r, void (*f)(struct hd_replica *window, void *arg), void *arg);
/* Lets a copy that nothing pins leave, with these. 0: it has left; HEDDLE_PENDING: it will; or an error. */
int hd_evict_copy(struct hd_replica *r);
/* Evicts until `need` more bytes fit. HEDDLE_PENDING: they do not yet, since copies are being written back, or all
 * others are pinned; HEDDLE_E_MEMORY. */
int hd_evict(heddle_runtime *rt, unsigned node, uint64_t need);
/* Evicts one copy, because the node has less room than its capacity says. 0: there is room now; HEDDLE_PENDING: there
 * will be when a copy has been written back, or is not pinned any more; HEDDLE_E_MEMORY: nothing is left to evict but
 * the `own` copies of the task that needs the room, or the memory has no limit, so that nothing is ever evicted. */
int hd_evict_one(heddle_runtime *rt, unsigned node, size_t own);
/* Makes room for a copy that is only a hint: drops copies that nobody needs on the node, and writes nothing back. 0 or
 * HEDDLE_PENDING. */
int hd_evict_for_hint(const struct hd_replica *wanted);

/* Whether the datum has a valid copy on a node that is not lost, other than `node`; SIZE_MAX: on any. */
int hd_is_valid_beside(const heddle_data *d, size_t node);

#endif
