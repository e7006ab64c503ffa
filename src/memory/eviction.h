/* Which replicas leave a memory that has a limit: eviction.c. The caller of each function holds the core lock. */
#ifndef HD_MEMORY_EVICTION_H
#define HD_MEMORY_EVICTION_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/data.h>
#include <heddle/runtime.h>

struct hd_memory;
struct hd_replica;

/* The mark of a memory of this capacity: the memory is tight when this many bytes are in use. */
static inline uint64_t hd_evict_mark(uint64_t capacity)
{
	return capacity / 2;
}
/* To be called before a replica of `bytes` bytes is allocated: makes the memory tight if its use will exceed the mark,
 * and reserves room for the candidates; or makes the memory loose if its use is far below the mark. HEDDLE_E_MEMORY. */
int hd_evict_reserve(heddle_runtime *rt, struct hd_memory *m, uint64_t bytes);
/* hd_evict_add: to be called when the replica, in the memory `m`, is not pinned any more: it may be evicted.
 * hd_evict_remove: it must not be evicted any more. */
void hd_evict_add(struct hd_memory *m, struct hd_replica *r);
void hd_evict_remove(struct hd_replica *r);
/* Drops the candidates, because all ranks may have changed. */
void hd_evict_choose_anew(struct hd_memory *m);
/* Whether the replica is clean: no value is lost if it is evicted together with the windows in it. */
int hd_is_clean(const struct hd_replica *r);
/* Whether the replica is clean if the windows in it are ignored. */
int hd_is_clean_alone(const struct hd_replica *r);
/* Calls f(window, arg) for each window in a replica. */
void hd_windows_each(const struct hd_replica *r, void (*f)(struct hd_replica *window, void *arg), void *arg);
/* Evicts a replica that nothing pins, with the windows in it. 0: it is freed; HEDDLE_PENDING: it is being written back;
 * or an error. */
int hd_evict_copy(struct hd_replica *r);
/* Evicts replicas until `need` more bytes fit. HEDDLE_PENDING: the bytes do not fit yet, because replicas are being
 * written back or are pinned; HEDDLE_E_MEMORY. */
int hd_evict(heddle_runtime *rt, unsigned node, uint64_t need);
/* Evicts one replica, because the node has less room than its capacity says. 0: there is more room now; HEDDLE_PENDING:
 * there will be more room when a replica has been written back or unpinned; HEDDLE_E_MEMORY: only the `own` replicas of
 * the task that needs the room are left, or the memory has no limit, so that nothing is ever evicted. */
int hd_evict_one(heddle_runtime *rt, unsigned node, size_t own);
/* Makes room for the replica of a prefetch: evicts only clean replicas that no task needs, and writes nothing back. 0
 * or HEDDLE_PENDING. */
int hd_evict_for_hint(const struct hd_replica *wanted);

/* Whether the datum has a valid replica on a node that is not lost, other than `node`; `node` SIZE_MAX: on any node
 * that is not lost. */
int hd_is_valid_beside(const heddle_data *d, size_t node);

#endif
