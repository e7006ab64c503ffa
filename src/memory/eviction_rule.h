/* Rules of eviction: which of the copies in a tight memory leave first. To add one: a file rule_*.c, and a line of the
 * list in eviction.c. Included by data.h. */
#ifndef HD_RULES_H
#define HD_RULES_H

#include <stdint.h>
#include <heddle/task.h>

struct hd_replica;

struct hd_eviction_rule {
	const char *name; /* what the setting eviction calls it */
	int looks_ahead;  /* 1: while a memory is tight, who will use each datum is listed: uses.c */
	/* The rank of an idle copy that has a value, or in which a window has one; `clean`: nothing is lost when it
	 * leaves. The greatest leaves first. HD_NEVER + clean: nobody needs the copy, so that a prefetch may drop it if
	 * it is clean. */
	uint64_t (*rank)(struct hd_replica *r, int clean);
};
extern const struct hd_eviction_rule hd_rule_lru, hd_rule_next_use;

/* Returns the rule of that name, or the first rule for NULL and "". NULL: there is none. */
const struct hd_eviction_rule *hd_eviction_rule(const char *name);

#endif
