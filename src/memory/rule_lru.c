/* The rule lru: evicts the least recently used clean replica, because a clean replica needs no write-back; if there is
 * none, the least recently used replica. */
#include "eviction_rule.h"
#include "uses.h"

static uint64_t rank(struct hd_replica *r, int clean)
{
	(void)r;
	return HD_NEVER + (uint64_t)clean;
}

const struct hd_eviction_rule hd_rule_lru = {.name = "lru", .rank = rank};
