/* Lower bounds of the makespan of a graph. The tasks have known times on the classes of workers of a platform, and
 * transfers count as taking no time. For a few tasks, the least makespan itself, too. The bounds of traces and of task
 * graphs are computed from a struct hd_costed. */
#ifndef HD_BOUNDS_BOUNDS_H
#define HD_BOUNDS_BOUNDS_H

#include <heddle/graph.h>
#include <heddle/platform.h>
#include <heddle/trace.h>
#include <stddef.h>
#include <stdint.h>

/* A function for the iterative bound. The thread that computes the bound calls it after each round, with the number of
 * rounds done and the largest number of rounds. */
struct hd_bounds_watch {
	void (*round)(unsigned done, unsigned most, void *arg);
	void *arg;
};

struct hd_costed {
	const struct heddle_platform *platform; /* borrowed; for its classes, and for names in messages */
	size_t n_tasks, n_classes;
	double *workers; /* owns; per class: number of workers; 0: the platform has none */
	/* number of cores that workers of kind cpu drive, if some of these have cores in common; otherwise 0 */
	double n_cores;
	/* owns; per class: the most work that a worker does in 1 us, in us of kernels that run alone; above 1 if the
	 * worker is faster with several kernels at once */
	double *gains;
	double *rooms;      /* owns; per class: the largest memory of a worker, bytes, or INFINITY; 0: not known */
	size_t n_too_large; /* tasks that were denied a class because their data exceed its room */
	double *times;      /* owns; n_classes times per task, in us; NAN: the class cannot run the task */
	double *best;       /* owns; per task: its time on its fastest class, us; hd_costed_accept sets it */
	size_t *like;       /* owns; per task: an earlier task with the same times, if known; or itself */
	size_t *first, *to; /* own; the successors of task i are to[first[i]] to to[first[i + 1] - 1] */
	/* us: length of the critical path; only the iterative bound then needs edges. NAN: it is computed from the
	 * edges. */
	double path;
	const struct hd_bounds_watch *watch; /* borrowed; NULL: nobody is told of rounds */
};

struct hd_costed_edge {
	size_t from, to; /* numbers of tasks */
};

/* Makes a graph without edges, whose times are all NAN. Call hd_costed_free even after an error. */
int hd_costed_init(struct hd_costed *graph, const struct heddle_platform *platform, size_t n_tasks);
/* Sets the edges; may be called once for a graph. HEDDLE_E_MEMORY. */
int hd_costed_set_edges(struct hd_costed *graph, const struct hd_costed_edge *edges, size_t n);
void hd_costed_free(struct hd_costed *graph);
/* The most work that all workers of a class do in 1 us, in us of kernels that run alone on their workers. */
static inline double hd_costed_capacity(const struct hd_costed *graph, size_t class_id)
{
	return graph->workers[class_id] * graph->gains[class_id];
}

/* Checks the times of a task; to be called when they are set. HEDDLE_E_INVALID: a time is negative or infinite, or the
 * task has no time on any class that has workers; the message names the task by `type` and `id`. */
int hd_costed_accept(struct hd_costed *graph, size_t task, const char *type, uint64_t id);
/* Gives a task the times of an earlier task, which have been accepted. */
void hd_costed_repeat(struct hd_costed *graph, size_t task, size_t earlier);

/* Computes the bounds that heddle/trace.h defines, with `rounds` as there. HEDDLE_E_INVALID: the graph has a cycle. */
int hd_bounds(const struct hd_costed *graph, unsigned rounds, struct heddle_bounds *out);

/* The least makespan of any schedule, by exhaustive search, for graphs of at most HD_OPTIMUM_TASKS tasks.
 * HEDDLE_E_UNSUPPORTED: the graph has more tasks, or some workers run several kernels at once. */
enum { HD_OPTIMUM_TASKS = 12 };
int hd_optimum(const struct hd_costed *graph, double *makespan);
/* heddle_graph_bounds and heddle_graph_near_bounds, calling `watch` after each round; NULL: nothing is called. */
int hd_graph_bounds_watched(const struct heddle_graph *graph, const struct heddle_platform *platform, unsigned rounds,
                            const struct hd_bounds_watch *watch, struct heddle_bounds *out);
int hd_graph_near_bounds_watched(const struct heddle_graph *graph, const struct heddle_platform *platform,
                                 unsigned rounds, const struct hd_bounds_watch *watch, struct heddle_near_bounds *out);
/* hd_optimum for a task graph on a platform; *out in us. */
int hd_graph_optimum(const struct heddle_graph *graph, const struct heddle_platform *platform, double *out);

#endif
