/* Queues of tasks by rank: treaps (ranked.h). */
#include "ranked.h"
#include "base/base.h"

static int comes_before(const struct hd_ranked_node *a, const struct hd_ranked_node *b)
{
	return a->rank != b->rank ? a->rank > b->rank : a->order < b->order;
}

static int lies_above(const struct hd_ranked_node *a, const struct hd_ranked_node *b)
{
	uint64_t x = hd_mix(a->order), y = hd_mix(b->order);
	return x != y ? x > y : a->order < b->order;
}

/* The place where the parent of a node, or the queue, points to it. */
static struct hd_ranked_node **place_of(struct hd_ranked *q, const struct hd_ranked_node *node)
{
	if (!node->up)
		return &q->root;
	return node->up->left == node ? &node->up->left : &node->up->right;
}

/* Puts a node, which may be NULL, at a place below `up`. */
static void hang(struct hd_ranked_node **place, struct hd_ranked_node *node, struct hd_ranked_node *up)
{
	*place = node;
	if (node)
		node->up = up;
}

/* Exchanges a node with its parent, in the tree. */
static void rise(struct hd_ranked *q, struct hd_ranked_node *node)
{
	struct hd_ranked_node *parent = node->up, **place = place_of(q, parent), *above = parent->up;
	if (parent->left == node) {
		hang(&parent->left, node->right, parent);
		hang(&node->right, parent, node);
	} else {
		hang(&parent->right, node->left, parent);
		hang(&node->left, parent, node);
	}
	hang(place, node, above);
}

void hd_ranked_insert(struct hd_ranked *q, struct hd_ranked_node *node)
{
	struct hd_ranked_node **place = &q->root, *up = NULL;
	node->left = node->right = node->before = node->after = NULL;
	while (*place) {
		up = *place;
		if (comes_before(node, up)) {
			node->after = up;
			place = &up->left;
		} else {
			node->before = up;
			place = &up->right;
		}
	}
	hang(place, node, up);
	*(node->before ? &node->before->after : &q->first) = node;
	*(node->after ? &node->after->before : &q->last) = node;
	q->n++;
	while (node->up && lies_above(node, node->up))
		rise(q, node);
}

void hd_ranked_remove(struct hd_ranked *q, struct hd_ranked_node *node)
{
	while (node->left && node->right)
		rise(q, lies_above(node->left, node->right) ? node->left : node->right);
	hang(place_of(q, node), node->left ? node->left : node->right, node->up);
	*(node->before ? &node->before->after : &q->first) = node->after;
	*(node->after ? &node->after->before : &q->last) = node->before;
	q->n--;
}
