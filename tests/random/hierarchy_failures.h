/* What becomes of a random program of random_hierarchy.c some of whose operations fail.
 *
 * Which tasks are cancelled depends on which operations were expanded. So each operation notes what has become of it,
 * and afterwards the program is gone through in sequential order: no task may have run that needed an element which was
 * never computed, none may have been cancelled without a reason, and who waited for an operation must have been told
 * whether all inside it went well. */
#ifndef RANDOM_HIERARCHY_FAILURES_H
#define RANDOM_HIERARCHY_FAILURES_H

#include <limits.h>
#include "hierarchy_program.h"

/* Tells some operations to fail, if any may. -1: without memory. */
static inline int draw_failures(struct program *p, uint64_t seed, int may)
{
	struct hd_rng rng;
	hd_rng_seed(&rng, hd_hash(seed, 80));
	p->failing = may && chance(&rng, 0.3);
	for (unsigned i = 0; i < p->n_ops; i++) {
		struct op *op = &p->ops[i];
		op->fails = p->failing && chance(&rng, 0.05);
		for (unsigned k = 0; k < op->n && p->failing;
		     k++) /* which of those that commute were first is not known */
			op->access[k].mode = op->access[k].mode == HEDDLE_COMMUTE ? HEDDLE_RW : op->access[k].mode;
	}
	for (unsigned r = 0; r < p->n_roots; r++) {
		const struct mem *want = &p->want[r];
		p->is_void[r] = *want;
		p->is_void[r].base = calloc(want->m * want->n, sizeof(uint64_t));
		if (!p->is_void[r].base)
			return -1;
		for (size_t e = 0; !p->own[r].base && e < want->m * want->n; e++)
			*element(&p->is_void[r], e) = 1;
	}
	return 0;
}

/* Whether the operation fails if it is run whole. */
static inline int fails_whole(const struct program *p, const struct op *op)
{
	int fails = op->fails;
	for (int at = op->body; at >= 0 && !fails; at = p->ops[at].next)
		fails = fails_whole(p, &p->ops[at]);
	return fails;
}

/* How many operations of its body the sub-graph of one that fails submits before. */
static inline unsigned before_failure(const struct op *op)
{
	return op->fails ? (unsigned)(op->k % 3) : UINT_MAX;
}

static inline unsigned root_of(const struct program *p, unsigned node)
{
	while (p->nodes[node].parent >= 0)
		node = (unsigned)p->nodes[node].parent;
	return node;
}

static inline struct mem window_in_root(const struct program *p, const struct mem *roots, unsigned node)
{
	return window_of(p, &roots[p->nodes[node].root], root_of(p, node), node);
}

static inline int lacks_elements(const struct program *p, unsigned node)
{
	const struct mem lacks = window_in_root(p, p->is_void, node);
	for (size_t e = 0; e < lacks.m * lacks.n; e++)
		if (*element(&lacks, e))
			return 1;
	return 0;
}

/* Notes that what the operation was to write has no value, or has one. */
static inline void note_written(struct program *p, const struct op *op, int is_void)
{
	for (unsigned i = 0; i < op->n; i++) {
		const struct mem lacks = window_in_root(p, p->is_void, op->access[i].node);
		if (op->access[i].mode == HEDDLE_R)
			continue;
		p->touched[p->nodes[op->access[i].node].root] |= is_void;
		for (size_t e = 0; e < lacks.m * lacks.n; e++)
			*element(&lacks, e) = (uint64_t)is_void;
	}
}

/* Whether the operation needs an element that was never computed; `or_may`: or that may have been lost together with
 * such a one, because they are pieces of a datum that was to be gathered. */
static inline int lacks_value(const struct program *p, const struct op *op, int or_may)
{
	for (unsigned i = 0; i < op->n; i++)
		if (op->access[i].mode != HEDDLE_W && (lacks_elements(p, op->access[i].node) ||
		                                       (or_may && p->touched[p->nodes[op->access[i].node].root])))
			return 1;
	return 0;
}

/* What is wrong with what has become of an operation whose kernel was called, or not; NULL: nothing is. */
static inline const char *judge_kernel(struct program *p, const struct op *op)
{
	if (op->outcome.called && lacks_value(p, op, 0))
		return "a kernel was called that needed what was never computed";
	if (!op->outcome.called && !lacks_value(p, op, !without_plans))
		return "an operation was cancelled without a reason";
	if (op->outcome.called && !fails_whole(p, op)) {
		run_reference(p, op);
		note_written(p, op, 0);
	} else {
		note_written(p, op, 1);
	}
	return NULL;
}

/* What is wrong with the outcome of an operation, with that of its sub-graph if it was expanded; NULL: nothing is.
 * *well: whether the operation and all operations in it succeeded. */
static inline const char *judge_op(struct program *p, const struct op *op, int *well)
{
	const char *problem = NULL;
	unsigned n = 0;
	*well = 1;
	if (op->outcome.expanded) {
		for (int at = op->body; at >= 0 && !problem && n < before_failure(op); at = p->ops[at].next, n++) {
			int inside;
			problem = judge_op(p, &p->ops[at], &inside);
			*well &= inside;
		}
		if (op->fails)
			note_written(p, op, 1);
		*well &= !op->fails;
	} else {
		problem = judge_kernel(p, op);
		*well = op->outcome.called && !fails_whole(p, op);
	}
	if (!problem && op->outcome.n_told != 1)
		problem = "the end of an operation was not told once";
	if (!problem && (op->outcome.told == 0) != *well)
		problem = "who waited for an operation was not told that something in it has failed, or the reverse";
	return problem;
}

#endif
