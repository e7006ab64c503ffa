/* Parties: threads that compute one result together. All members call the same function with the same arguments, except
 * for the party, which has the member's rank. */
#ifndef HD_DENSE_PARTY_H
#define HD_DENSE_PARTY_H

#include <dense/kernels/halves.h>
#include <math.h>

struct hd_party {
	int rank, ranks; /* rank: number of this member, from 0; ranks: number of members */
	/* Waits for all members (a barrier). Returns whether a member has given up; all members get the same answer.
	 * Not called if there is one member. */
	int (*meet)(const void *arg);
	const void *arg;
};

static const struct hd_party hd_alone = {.ranks = 1};

static inline int hd_meet(const struct hd_party *p)
{
	return p->ranks > 1 ? p->meet(p->arg) : 0;
}

/* The n rows or columns from `first` on. */
struct hd_range {
	int first, n;
};

enum { HD_SHARE_UNIT = 8 }; /* elements of a register or cache line: shares begin at multiples of this */

/* The member's share of n rows or columns that are the same work each. */
static inline struct hd_range hd_share(const struct hd_party *p, int n)
{
	long units = (n + HD_SHARE_UNIT - 1) / HD_SHARE_UNIT;
	int first = (int)(units * p->rank / p->ranks) * HD_SHARE_UNIT;
	int end = (int)(units * (p->rank + 1) / p->ranks) * HD_SHARE_UNIT;
	return (struct hd_range){hd_smaller(first, n), hd_smaller(end, n) - hd_smaller(first, n)};
}

/* The first row of member `rank`'s share of a triangle of n rows; row i has i + 1 elements. */
static inline int hd_first_of_triangle(const struct hd_party *p, int rank, int n)
{
	int first = (int)lround(n * sqrt((double)rank / p->ranks) / HD_SHARE_UNIT) * HD_SHARE_UNIT;
	return rank == p->ranks ? n : hd_smaller(first, n);
}
static inline struct hd_range hd_share_of_triangle(const struct hd_party *p, int n)
{
	int first = hd_first_of_triangle(p, p->rank, n);
	return (struct hd_range){first, hd_first_of_triangle(p, p->rank + 1, n) - first};
}

#endif
