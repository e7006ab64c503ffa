/* A queue of tasks by rank, the highest first, of equal ranks the first submitted: a treap whose nodes are also linked
 * in their order. Nothing is allocated: the owner of a task's record has the node. O(log n) to insert and to remove.
 */
#ifndef HD_POLICIES_PARTS_RANKED_H
#define HD_POLICIES_PARTS_RANKED_H

#include <stddef.h>
#include <stdint.h>

struct hd_ranked_node {
	double rank;
	uint64_t order; /* the task's submission number */
	/* the tree: parent and children; the heap order of the treap is that of hd_mix(order) */
	struct hd_ranked_node *up, *left, *right;
	struct hd_ranked_node *before, *after; /* the neighbours in the order of the queue; NULL at its ends */
};

struct hd_ranked {
	struct hd_ranked_node *root, *first, *last; /* NULL when empty */
	size_t n;
};

/* Puts a node, whose rank and order are set, into the queue. */
void hd_ranked_insert(struct hd_ranked *q, struct hd_ranked_node *node);
void hd_ranked_remove(struct hd_ranked *q, struct hd_ranked_node *node);

#endif
