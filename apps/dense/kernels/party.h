/* Parties: threads that compute one thing together. All members call the same function with the same arguments, but
 * for the party, in which each has its own rank. */
#ifndef HD_DENSE_PARTY_H
#define HD_DENSE_PARTY_H

#include <dense/kernels/halves.h>
#include <math.h>

struct hd_party {
	int rank, ranks; /* this member, from 0; how many there are */
	/* Waits for all members. Returns whether one of them has given up, the same to all. Not called if there is one
	 * member. */
	int (*meet)(const void *arg);
	const void *arg;
};

static const struct hd_party hd_alone = {.ranks = 1};

static inline int hd_meet(const struct hd_party *p)
{
	return p->ranks > 1 ? p->meet(p->arg) : 0;
}

/* Some of a row of things, the n from `first` on. */
struct hd_range {
	int first, n;
};

enum { HD_SHARE_UNIT = 8 }; /* what a register or a cache line holds: shares begin at multiples of it */

/* The member's share of n rows or columns that are as much work each. */
static inline struct hd_range hd_share(const struct hd_party *p, int n)
{
	long units = (n + HD_SHARE_UNIT - 1) / HD_SHARE_UNIT;
	int first = (int)(units * p->rank / p->ranks) * HD_SHARE_UNIT;
	int end = (int)(units * (p->rank + 1) / p->ranks) * HD_SHARE_UNIT;
	return (struct hd_range){hd_smaller(first, n), hd_smaller(end, n) - hd_smaller(first, n)};
}

/* The first of the n rows of a triangle, of which row i has i + 1 elements, that is for member `rank`. */
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
