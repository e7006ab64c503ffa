/* The rule lru: evicts the least recently used among the clean replicas, which need no write-back; if there is none,
 * the least recently used among the others. */
#include "eviction_rule.h"
#include "uses.h"

static uint64_t rank(struct hd_replica *r, int clean)
{
	(void)r;
	return HD_NEVER + (uint64_t)clean;
}

const struct hd_eviction_rule hd_rule_lru = {.name = "lru", .rank = rank};
