/* The laboratory of heuristics: C. Flint, B. Bramas, "Finding new heuristics for automated task prioritizing in
 * heterogeneous computing" (2020), sections 4 and 5.4. Graphs of typed tasks are simulated as Heteroprio would run
 * them, once with the best priorities that a search finds (the control) and once with those of each heuristic;
 * docs/lab.md has the choices.
 *
 * Functions that can fail return 0 or a negative status with a sentence for heddle_last_error. Any thread may call
 * them; a struct hd_lab_sim is one thread's. Results never depend on the number of threads.
 */
#ifndef HD_LAB_H
#define HD_LAB_H

#include <stddef.h>
#include <stdint.h>
#include <daggen/typed.h>
#include "policies/parts/heuristics.h"

enum { HD_LAB_TYPES = 8 }; /* at most, as in the paper: 8! orders are tried per class */
enum { HD_LAB_CPU, HD_LAB_GPU, HD_LAB_CLASSES };

/* --- A graph to simulate (dag.c) ---------------------------------------------------------------------------------- */

/* Costs are those of the types, whole us, so that sums are exact. */
struct hd_lab_dag {
	uint32_t n_tasks, n_types, n_roots;
	unsigned workers[HD_LAB_CLASSES];
	uint32_t cost[HD_LAB_TYPES][HD_LAB_CLASSES]; /* us */
	uint32_t least[HD_LAB_TYPES];                /* us: on the faster class */
	uint32_t tasks[HD_LAB_TYPES];                /* how many of each type */
	uint64_t least_work;                         /* us: of all tasks, on their faster classes */
	uint8_t *type;                               /* owns; per task */
	uint32_t *n_preds;                           /* owns; per task */
	uint32_t *first;                             /* owns; per task, and one more: where its successors begin */
	uint32_t *succ;                              /* owns */
	uint32_t *roots;                             /* owns */
	uint64_t *tail; /* owns; per task, us: what must come after it, on the faster classes */
};

/* From a graph whose times have the columns "cpu" and "cuda", the same for all tasks of a type, with explicit edges
 * alone. HEDDLE_E_INVALID: too many types, a type without tasks' times, times that are no whole us or too long, no
 * worker. */
int hd_lab_dag_new(const struct heddle_graph *graph, const unsigned workers[HD_LAB_CLASSES], struct hd_lab_dag **out);
void hd_lab_dag_free(struct hd_lab_dag *dag); /* NULL is fine */

/* --- The simulator (sim.c): section 4.1 --------------------------------------------------------------------------- */

/* Which type a class takes first, second, ...: permutations of the types. */
struct hd_lab_orders {
	uint8_t order[HD_LAB_CLASSES][HD_LAB_TYPES];
};

struct hd_lab_outcome {
	uint64_t makespan; /* us */
	uint32_t executed[HD_LAB_TYPES][HD_LAB_CLASSES];
};

#define HD_LAB_ABANDONED UINT64_MAX
#define HD_LAB_NO_LIMIT UINT64_MAX

/* Scratch memory, for graphs up to a number of tasks. */
struct hd_lab_sim;
int hd_lab_sim_new(size_t most_tasks, struct hd_lab_sim **out);
void hd_lab_sim_free(struct hd_lab_sim *sim); /* NULL is fine */

/* Runs Heteroprio with these orders: first-in-first-out buckets, one per type; each worker takes from the first bucket
 * in its class's order that is not empty; nothing keeps a slow class from a task, nothing is transferred. Returns the
 * makespan in us; HD_LAB_ABANDONED as soon as it is certain to exceed `limit`. `outcome` may be NULL; it is whole
 * unless abandoned. */
uint64_t hd_lab_sim_run(struct hd_lab_sim *sim, const struct hd_lab_dag *dag, const struct hd_lab_orders *orders,
                        uint64_t limit, struct hd_lab_outcome *outcome);
/* What the order of a class decided in the last run, abandoned or not: byte t of it has a bit for each type that was
 * not empty when a worker of the class took one of type t. An order in which all those come after t, for each t, gives
 * the same run. */
uint64_t hd_lab_sim_decisions(const struct hd_lab_sim *sim, const struct hd_lab_orders *orders, int class_id);
/* Tasks simulated since hd_lab_sim_new. */
uint64_t hd_lab_sim_tasks(const struct hd_lab_sim *sim);

/* --- Work sharing (parallel.c) ------------------------------------------------------------------------------------ */

/* Independent items, taken by whichever thread is free. */
struct hd_lab_work {
	size_t n_items;
	/* from any thread; a negative status ends the work */
	int (*run)(void *arg, struct hd_lab_sim *sim, size_t item);
	void *arg;
	/* may be NULL; from the calling thread, now and then */
	void (*progress)(void *arg, size_t done, size_t n_items);
	void *progress_arg;
};

struct hd_lab_team {
	unsigned n_threads;
	struct hd_lab_sim **sims; /* owns; per thread */
};
int hd_lab_team_init(struct hd_lab_team *team, unsigned n_threads, size_t most_tasks);
void hd_lab_team_fini(struct hd_lab_team *team);
uint64_t hd_lab_team_tasks(const struct hd_lab_team *team); /* simulated by all, so far */
/* Returns the status of the first item that failed, by number, with its message; the others may not have been run. */
int hd_lab_team_run(struct hd_lab_team *team, const struct hd_lab_work *work);

/* --- Statistics of a graph (statistics.c): table 4 ---------------------------------------------------------------- */

struct hd_lab_statistics {
	double close, far;        /* share of tasks whose slower class takes less than 1.5, at least 2 times as long */
	double many_predecessors; /* share of tasks with 4 or more */
	double mean_predecessors, max_predecessors;
	double no_successor, many_successors; /* share of tasks with 0, with 5 or more */
	double max_successors;
	double mean_diff; /* |CPU - GPU|, in units of the mean cost on the faster class */
};
struct hd_lab_statistics hd_lab_statistics(const struct hd_lab_dag *dag);

/* --- What the paper says (paper.c) -------------------------------------------------------------------------------- */

enum { HD_LAB_SETS = 32 };
struct hd_lab_paper_set {
	unsigned workers[HD_LAB_CLASSES];
	struct hd_lab_statistics statistics;
};
extern const struct hd_lab_paper_set hd_lab_paper_sets[HD_LAB_SETS]; /* table 4 */
/* Table 7, its last column: per heuristic, in the order of enum hd_heuristic; then of the best of all on each graph. */
extern const double hd_lab_paper_slowdown[HD_HEURISTICS + 1];

/* --- Parameter sets (sets.c) -------------------------------------------------------------------------------------- */

/* What hd_daggen_typed_params points to. */
struct hd_lab_set {
	size_t n_types;
	struct hd_daggen_type types[HD_LAB_TYPES];
	double predecessors[HD_LAB_TYPES * HD_LAB_TYPES];
};
struct hd_rng;
/* Draws a set from the distributions of docs/lab.md. `is_local`: half of the types have a reach. */
void hd_lab_set_draw(struct hd_rng *rng, int is_local, struct hd_lab_set *set);
/* How unlike two rows of table 4 are: 0 equal, 1 about what a reader of the table would call the same. */
double hd_lab_distance(const struct hd_lab_statistics *a, const struct hd_lab_statistics *b);

struct hd_lab_fit {
	unsigned number; /* of the set: a row of table 4 */
	uint64_t seed;
	size_t n_tasks;
	unsigned draws, steps; /* sets drawn; changes tried on the best of them */
	int is_local;
};
/* The graph of the set that comes nearest to its row, and that set. The caller owns *dag; `makespan`, us, is that of
 * the perfect schedule, which has been checked. */
int hd_lab_fit(const struct hd_lab_fit *fit, struct hd_lab_set *set, struct hd_lab_dag **dag, double *makespan);

/* --- Priorities (control.c, priorities.c) ------------------------------------------------------------------------- */

enum { HD_LAB_PAIRS = 3 };

struct hd_lab_control {
	uint64_t seed;                    /* in: of tie-breaks */
	const struct hd_lab_dag *dag;     /* in: borrows */
	struct hd_lab_orders orders;      /* in: what to begin with; out: the control priorities */
	uint64_t first, makespan;         /* out, us: of what it began with; of the control */
	uint64_t after[2 * HD_LAB_PAIRS]; /* out, us: after each iteration */
};
/* Section 4.2.2, for several graphs at once: 3 times all orders of the CPUs with those of the GPUs fixed, then the
 * reverse; each time a best one is kept, equally likely among equals. */
int hd_lab_control(struct hd_lab_team *team, struct hd_lab_control *controls, size_t n,
                   void (*progress)(void *arg, size_t done, size_t n_items), void *progress_arg);

/* The orders that a heuristic gives a graph, and what becomes of them: simulated `rounds` times, with execution shares
 * and idle shares that are averages of the rounds before, as section 6.1 keeps them from run to run. */
struct hd_lab_heuristic {
	struct hd_lab_orders orders; /* of the last round */
	uint64_t makespan;           /* us: of the last round */
	unsigned last_change;        /* the last round, from 1, whose orders were not those of the round before */
};
void hd_lab_heuristic(struct hd_lab_sim *sim, const struct hd_lab_dag *dag, enum hd_heuristic h, unsigned rounds,
                      struct hd_lab_heuristic *out);

/* --- The experiment (experiment.c) -------------------------------------------------------------------------------- */

struct hd_lab_options {
	const unsigned *sets; /* borrows: which rows of table 4 */
	size_t n_sets;
	uint64_t seed; /* of the first data set; the others follow */
	unsigned n_seeds;
	size_t n_tasks;
	unsigned draws, steps; /* as in hd_lab_fit */
	int is_local;
	unsigned rounds, n_threads;
	void (*progress)(void *arg, const char *what, size_t done, size_t n_items); /* may be NULL */
	void *progress_arg;
};

/* One graph. */
struct hd_lab_case {
	unsigned set;
	uint64_t seed; /* of the data set */
	struct hd_lab_set parameters;
	struct hd_lab_dag *dag; /* owns */
	struct hd_lab_statistics statistics;
	double perfect; /* us: makespan of the perfect schedule */
	struct hd_lab_control control;
	struct hd_lab_heuristic heuristics[HD_HEURISTICS];
};

struct hd_lab_results {
	struct hd_lab_case *cases; /* owns; seed by seed, set by set */
	size_t n_seeds, n_sets;
	uint64_t simulated_tasks;
	double simulating_us; /* real time of the simulations */
};
int hd_lab_run(const struct hd_lab_options *options, struct hd_lab_results *out);
void hd_lab_results_free(struct hd_lab_results *results);

/* Makespan over that of the control. h = HD_HEURISTICS: of the best heuristic. */
double hd_lab_slowdown(const struct hd_lab_case *c, int h);
/* The mean over the sets of one data set. */
double hd_lab_mean_slowdown(const struct hd_lab_results *results, size_t seed_index, int h);

#endif
