/* Lower bounds of the makespan of a graph whose tasks have known times on the classes of workers of a platform, as if
 * transfers took no time; for a few tasks also the least makespan itself. The bounds of traces and of task graphs are
 * computed from a struct hd_costed. */
#ifndef HD_BOUNDS_BOUNDS_H
#define HD_BOUNDS_BOUNDS_H

#include <heddle/graph.h>
#include <heddle/platform.h>
#include <heddle/trace.h>
#include <stddef.h>
#include <stdint.h>

/* A function that the calling thread calls after each round of the iterative bound, with the number of rounds done and
 * the largest number of rounds. */
struct hd_bounds_watch {
	void (*round)(unsigned done, unsigned most, void *arg);
	void *arg;
};

struct hd_costed {
	const struct heddle_platform *platform; /* borrows; for names in messages, and for its classes */
	size_t n_tasks, n_classes;
	double *workers; /* owns; per class: how many workers; 0: the platform has none */
	/* 0; or how many cores the workers of kind cpu drive, if some of these workers have cores in common */
	double n_cores;
	/* owns; per class: the most work that a worker does in 1 us, in us of kernels that run alone; above 1 if it is
	 * faster to run kernels at once */
	double *gains;
	double *times;      /* owns; task by task, n_classes each: us, NAN where it cannot run */
	double *best;       /* owns; per task: its time on its fastest class, us; set by hd_costed_accept */
	size_t *like;       /* owns; per task: the first task with the same times, as far as is known; or the task */
	size_t *first, *to; /* own; the successors of task i: to[first[i] .. first[i + 1] - 1] */
	/* us: length of the critical path. NAN: it is computed from the edges; otherwise only the iterative bound needs
	 * edges. */
	double path;
	const struct hd_bounds_watch *watch; /* borrows; NULL: none */
};

struct hd_costed_edge {
	size_t from, to; /* tasks, by number */
};

/* Makes a graph without edges whose times are all NAN. Call hd_costed_free even after an error. */
int hd_costed_init(struct hd_costed *graph, const struct heddle_platform *platform, size_t n_tasks);
/* Sets the edges; may be called once. */
int hd_costed_set_edges(struct hd_costed *graph, const struct hd_costed_edge *edges, size_t n);
void hd_costed_free(struct hd_costed *graph);
/* The most work that all workers of a class do in 1 us, in us of kernels that run alone on their workers. */
static inline double hd_costed_capacity(const struct hd_costed *graph, size_t class_id)
{
	return graph->workers[class_id] * graph->gains[class_id];
}

/* Checks the times of a task, to be called when they are set. HEDDLE_E_INVALID: a time is negative or infinite, or no
 * class with workers has a time; the message names the task by `type` and `id`. */
int hd_costed_accept(struct hd_costed *graph, size_t task, const char *type, uint64_t id);
/* Gives a task the times of an earlier one, which have been accepted. */
void hd_costed_repeat(struct hd_costed *graph, size_t task, size_t earlier);

/* Computes the bounds; heddle/trace.h defines them, and `rounds`. HEDDLE_E_INVALID: the graph has a cycle. */
int hd_bounds(const struct hd_costed *graph, unsigned rounds, struct heddle_bounds *out);

/* The least makespan of any schedule, by exhaustive search, for graphs of at most HD_OPTIMUM_TASKS tasks.
 * HEDDLE_E_UNSUPPORTED: the graph has more tasks, or there are workers that run several kernels at once. */
enum { HD_OPTIMUM_TASKS = 12 };
int hd_optimum(const struct hd_costed *graph, double *makespan);
/* heddle_graph_bounds, with `watch` called after each round; NULL: no watch. */
int hd_graph_bounds_watched(const struct heddle_graph *graph, const struct heddle_platform *platform, unsigned rounds,
                            const struct hd_bounds_watch *watch, struct heddle_bounds *out);
/* hd_optimum of a task graph on a platform, in us. */
int hd_graph_optimum(const struct heddle_graph *graph, const struct heddle_platform *platform, double *out);

#endif
