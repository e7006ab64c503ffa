/* Eviction rules: the order in which replicas are evicted from a tight memory. A new rule needs a file rule_*.c, and a
 * line in the list in eviction.c. */
#ifndef HD_MEMORY_EVICTION_RULE_H
#define HD_MEMORY_EVICTION_RULE_H

#include <stdint.h>
#include <heddle/task.h>

struct hd_replica;

struct hd_eviction_rule {
	const char *name; /* the value of the setting `eviction` */
	int looks_ahead;  /* 1: while a memory is tight, the future uses of each datum are listed: uses.c */
	/* The rank of an idle replica that is valid or contains a valid window. `clean`: no value is lost if it is
	 * evicted. The greatest rank is evicted first. HD_NEVER + clean: no task needs the replica, so a prefetch may
	 * evict it if it is clean. */
	uint64_t (*rank)(struct hd_replica *r, int clean);
};
extern const struct hd_eviction_rule hd_rule_lru, hd_rule_next_use;

/* Returns the rule called `name`; for NULL and "", the first rule. NULL: there is no such rule. */
const struct hd_eviction_rule *hd_eviction_rule(const char *name);

#endif
