/* The invariants of hierarchical tasks: see check.h. */
#include <stdlib.h>
#include "check.h"
#include "flow/expand.h"
#include "state/engine.h"
#include "state/runtime.h"

/* Walks through the heap with a stack of its own, because the heap may be deep. */
int hd_check_expansions(struct hd_check *c, const heddle_task *heap, int decided, size_t *n_found)
{
	const heddle_task **stack = malloc((c->n_tasks + 2) * sizeof *stack);
	size_t n = 0;
	int status = stack ? 0 : hd_no_memory("a check");
	if (!status && heap)
		stack[n++] = heap;
	while (n && !status) {
		const heddle_task *t = stack[--n];
		++*n_found;
		status = hd_check_place(c, t, HD_TO_EXPAND, "the tasks that wait to be expanded");
		if (!status &&
		    (!(t->special & HD_TASK_EXPANDS) || !t->extra->subgraph != !decided || t->extra->is_submitted))
			status =
			    hd_broken("task %llu waits to be expanded, and cannot be", (unsigned long long)t->order);
		if (!status && t->link.next)
			stack[n++] = t->link.next;
		if (!status && t->link.prev)
			stack[n++] = t->link.prev;
	}
	free(stack);
	return status;
}

int hd_check_unexpanded(struct hd_check *c)
{
	const heddle_runtime *rt = c->rt;
	size_t n = 0;
	int status = hd_check_expansions(c, rt->dispatch.unexpanded, 1, &n);
	if (!status && rt->adapt.check_tasks)
		status = rt->adapt.check_tasks(c); /* undecided tasks are only in lists of the heuristics */
	if (!status && (n || rt->dispatch.n_undecided) != !!(rt->dispatch.retry & HD_RETRY_EXPANSIONS))
		status = hd_broken("nobody looks at the tasks that wait to be expanded, or there are none");
	return status;
}

int hd_check_expanders(struct hd_check *c)
{
	heddle_runtime *rt = c->rt;
	/* relaxed, pairs with nothing: the field is written under the core lock, which the caller holds */
	uint64_t noted = atomic_load_explicit(&rt->gate.expanders, memory_order_relaxed);
	return !rt->engine->runs_kernels || noted == hd_expanders(rt)
	           ? 0
	           : hd_broken("submissions do not know which classes of workers expand tasks");
}

int hd_check_insides(struct hd_check *c)
{
	uint64_t n = 0;
	for (size_t i = 0; i < c->n_tasks; i++) {
		const heddle_task *t = c->tasks[i].task, *inside = hd_task_inside(t);
		struct hd_checked_task *outer = inside ? hd_check_find_task(c, inside) : NULL;
		if (inside && !outer)
			return hd_broken("task %llu: the hierarchical task that it is in has ended before it",
			                 (unsigned long long)t->order);
		if (outer)
			outer->inside++;
	}
	for (size_t i = 0; i < c->n_tasks; i++) {
		const heddle_task *t = c->tasks[i].task;
		if (!(t->special & HD_TASK_EXPANDS))
			continue;
		n += hd_check_state(t) < HD_RELEASED;
		uint64_t expected = c->tasks[i].inside + (hd_check_state(t) < HD_EXPANDED);
		if (t->extra->n_inside != expected)
			return hd_broken("task %llu: %llu tasks of its sub-graph have not ended; n_inside says %llu",
			                 (unsigned long long)t->order, (unsigned long long)expected,
			                 (unsigned long long)t->extra->n_inside);
	}
	return n == c->rt->count.hierarchical
	           ? 0
	           : hd_broken("%llu tasks are hierarchical; count.hierarchical says %llu", (unsigned long long)n,
	                       (unsigned long long)c->rt->count.hierarchical);
}
