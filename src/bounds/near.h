/* Bounds that know of transfers and of what must happen before and after a task (docs/bounds.md). */
#ifndef HD_BOUNDS_NEAR_H
#define HD_BOUNDS_NEAR_H

#include "bounds/internal.h"
#include "taskgraph/graph.h"

/* --- Transfers (hops.c) ------------------------------------------------------------------------------------------- */

/* The least time that bytes take on some way. */
struct hd_way {
	double latency, per_byte; /* us */
};
/* The ways from a worker of one class to a worker of another. The row n_classes stands for main memory, in which all
 * data are at the beginning. */
struct hd_ways {
	size_t n_classes;
	struct hd_way *direct; /* owns; [from * n_classes + to]: over one link; both 0: the classes share a memory */
	struct hd_way *by_two; /* owns; the same over two links or more */
};
int hd_ways_init(struct hd_ways *ways, const struct heddle_platform *platform);
void hd_ways_free(struct hd_ways *ways);
/* us; 0: nothing has to be moved, or there is no way. */
static inline double hd_way_time(const struct hd_ways *ways, size_t from, size_t to, double bytes)
{
	const struct hd_way *a = &ways->direct[from * ways->n_classes + to],
	                    *b = &ways->by_two[from * ways->n_classes + to];
	double direct = a->latency + bytes * a->per_byte, by_two = b->latency + bytes * b->per_byte;
	return bytes > 0 ? direct < by_two ? direct : by_two : 0;
}

/* --- Flows: what a task waits for (flows.c) ----------------------------------------------------------------------- */

/* The predecessors of task i are from[first[i]] to from[first[i + 1] - 1], in ascending order. */
struct hd_flows {
	size_t n_tasks;
	size_t *first;
	uint32_t *from;
	/* per predecessor: the size of the largest datum whose value goes to the task; 0: the task only waits */
	double *bytes;
	/* per task: the size of the largest datum of which the task reads the value that it had at the beginning; NULL:
	 * no task reads such data */
	double *initial;
};
int hd_flows_init(struct hd_flows *flows, const struct heddle_graph *graph);
/* Reverses all edges: task i becomes task n_tasks - 1 - i, and waits for the tasks that waited for task i.
 * HEDDLE_E_MEMORY. */
int hd_flows_reverse(const struct hd_flows *flows, struct hd_flows *out);
void hd_flows_free(struct hd_flows *flows);

/* --- Prices (prices.c) -------------------------------------------------------------------------------------------- */

/* A lower bound of the makespan: the least start of some tasks, the time of their work, and their least rest. */
struct hd_bound_window {
	double bound;      /* us */
	double from, left; /* us; the tasks are those with start >= from and rest >= left */
};

/* Prices of the time of classes, as in area.c. By any of them the work of a set of tasks is a lower bound of the time
 * that the set takes. */
enum { HD_PRICES = 8 };
struct hd_prices {
	const struct hd_costed *graph; /* borrows */
	size_t n, next;                /* number of prices; the place of the next ones */
	/* owns; [task * HD_PRICES + k]: us that the task adds to the time of a set by prices k; 0 for k >= n */
	double *work;
	struct hd_bound_types types; /* owns */
	double *counts, *sums;       /* own; scratch of hd_prices_find */
};
int hd_prices_init(struct hd_prices *prices, const struct hd_costed *graph);
void hd_prices_free(struct hd_prices *prices);
/* Computes the least time of the work of a window's tasks by a linear program, and adds its prices. */
int hd_prices_find(struct hd_prices *prices, const double *start, const double *rest,
                   const struct hd_bound_window *window, double *out);

/* --- Heads (heads.c) ---------------------------------------------------------------------------------------------- */

/* The earliest start of each task on each class; or, backwards, the least time from its end to the end of all. */
struct hd_heads {
	const struct hd_costed *graph; /* borrows, as the next ones */
	const struct hd_flows *flows;
	const struct hd_ways *ways;
	int backwards; /* the flows are reversed */
	/* owns; [task * n_classes + class], us, by the numbers of the graph; INFINITY: cannot run there */
	double *start;
	double *least; /* owns; per task: the least of them */
	double *end;   /* owns; scratch, by the numbers of the flows */
};
int hd_heads_init(struct hd_heads *heads, const struct hd_costed *graph, const struct hd_flows *flows,
                  const struct hd_ways *ways);
void hd_heads_free(struct hd_heads *heads);
/* Computes the earliest starts. */
void hd_heads_find(struct hd_heads *heads);

/* --- Windows (windows.c) ------------------------------------------------------------------------------------------ */

/* Finds the window with the largest bound by the prices so far. */
int hd_window_find(const struct hd_prices *prices, const double *start, const double *rest,
                   struct hd_bound_window *out);

/* --- All of them (near.c) ----------------------------------------------------------------------------------------- */

/* Computes the bounds of `out` that follow `plain`, which is there; `rounds`: of the iterative bound of a window. */
int hd_near_bounds(const struct hd_costed *costed, const struct heddle_graph *graph, unsigned rounds,
                   struct heddle_near_bounds *out);

#endif
