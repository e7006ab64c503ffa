/* The rule lru: of the copies that have another one elsewhere, so that nothing must be written back, the one that was
 * used longest ago leaves first; then of the others. */
#include "eviction_rule.h"
#include "uses.h"

static uint64_t rank(struct hd_replica *r, int clean)
{
	(void)r;
	return HD_NEVER + (uint64_t)clean;
}

const struct hd_eviction_rule hd_rule_lru = {.name = "lru", .rank = rank};
