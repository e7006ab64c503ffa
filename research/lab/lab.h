/* The laboratory of heuristics: the experiment of C. Flint, B. Bramas, "Finding new heuristics for automated task
 * prioritizing in heterogeneous computing" (2020), sections 4 and 5.4, "the paper" below. Graphs of typed tasks are
 * simulated as the policy Heteroprio would run them: once with the best priorities that a search finds (the control
 * priorities), and once with those of each heuristic. docs/lab.md has our choices.
 *
 * Functions that can fail return 0, or a negative status and set the message of heddle_last_error. Any thread may call
 * them, but each struct hd_lab_sim belongs to one thread. Results never depend on the number of threads.
 */
#ifndef HD_LAB_H
#define HD_LAB_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/daggen/typed.h>
#include "policies/parts/heuristics.h"

enum { HD_LAB_TYPES = 8 }; /* the most types in a graph, as in the paper, because all 8! orders are tried per class */
enum { HD_LAB_CPU, HD_LAB_GPU, HD_LAB_CLASSES };

/* --- A graph to simulate (dag.c) ---------------------------------------------------------------------------------- */

/* Costs are whole numbers of us, so that sums are exact. All tasks of a type have the same. */
struct hd_lab_dag {
	uint32_t n_tasks, n_types, n_roots;
	unsigned workers[HD_LAB_CLASSES];
	uint32_t cost[HD_LAB_TYPES][HD_LAB_CLASSES]; /* us */
	uint32_t least[HD_LAB_TYPES];                /* us, on the faster class */
	uint32_t tasks[HD_LAB_TYPES];                /* number of tasks of each type */
	uint64_t least_work;                         /* us, the sum over all tasks of the cost on the faster class */
	uint8_t *type;                               /* owns; per task */
	uint32_t *n_preds;                           /* owns; per task */
	uint32_t *first; /* owns; the successors of task i are succ[first[i] .. first[i + 1] - 1] */
	uint32_t *succ;  /* owns */
	uint32_t *roots; /* owns; the tasks without predecessors */
	uint64_t *tail;  /* owns; per task, us: the longest path after it, with costs on the faster classes */
};

/* Converts a graph that has explicit edges only, and times in the columns "cpu" and "cuda", the same for all tasks of a
 * type. HEDDLE_E_INVALID: there are too many types, a type without times, times that are not whole or too long, or no
 * workers. */
int hd_lab_dag_new(const struct heddle_graph *graph, const unsigned workers[HD_LAB_CLASSES], struct hd_lab_dag **out);
void hd_lab_dag_free(struct hd_lab_dag *dag); /* NULL is fine */

/* --- The simulator (sim.c): section 4.1 of the paper -------------------------------------------------------------- */

/* The priorities of a class: the types in the order in which its workers prefer them. */
struct hd_lab_orders {
	uint8_t order[HD_LAB_CLASSES][HD_LAB_TYPES];
};

struct hd_lab_outcome {
	uint64_t makespan; /* us */
	uint32_t executed[HD_LAB_TYPES][HD_LAB_CLASSES];
};

#define HD_LAB_ABANDONED UINT64_MAX
#define HD_LAB_NO_LIMIT UINT64_MAX

/* The memory of a simulator, for graphs of at most most_tasks tasks. */
struct hd_lab_sim;
int hd_lab_sim_new(size_t most_tasks, struct hd_lab_sim **out);
void hd_lab_sim_free(struct hd_lab_sim *sim); /* NULL is fine */

/* Simulates Heteroprio with these orders. There is one first-in-first-out bucket per type; each worker takes a task
 * from the first bucket in its class's order that is not empty, even if its class is slow with it; nothing is
 * transferred. Returns the makespan in us, or HD_LAB_ABANDONED as soon as it is certain to exceed `limit`. `outcome`
 * may be NULL; it is only filled if the run was not abandoned. */
uint64_t hd_lab_sim_run(struct hd_lab_sim *sim, const struct hd_lab_dag *dag, const struct hd_lab_orders *orders,
                        uint64_t limit, struct hd_lab_outcome *outcome);
/* What the order of a class decided in the last run, even if it was abandoned. Bit s of byte t is set if the bucket of
 * type s was not empty when a worker of the class took a task of type t. Any order in which, for every t, these types s
 * come after t gives the same run. */
uint64_t hd_lab_sim_decisions(const struct hd_lab_sim *sim, const struct hd_lab_orders *orders, int class_id);
/* The number of tasks simulated since hd_lab_sim_new. */
uint64_t hd_lab_sim_tasks(const struct hd_lab_sim *sim);

/* --- Work sharing (parallel.c) ------------------------------------------------------------------------------------ */

/* Independent items of work. A thread that is free takes the next one. */
struct hd_lab_work {
	size_t n_items;
	/* does one item; called by any thread; a negative status ends the work */
	int (*run)(void *arg, struct hd_lab_sim *sim, size_t item);
	void *arg;
	/* called now and then by the thread that waits for the work; may be NULL */
	void (*progress)(void *arg, size_t done, size_t n_items);
	void *progress_arg;
};

struct hd_lab_team {
	unsigned n_threads;
	struct hd_lab_sim **sims; /* owns; per thread */
};
int hd_lab_team_init(struct hd_lab_team *team, unsigned n_threads, size_t most_tasks);
void hd_lab_team_fini(struct hd_lab_team *team);
/* The number of tasks that all simulators of the team have simulated. */
uint64_t hd_lab_team_tasks(const struct hd_lab_team *team);
/* Does all items. If some fail, returns the status of the one with the smallest number, and sets its message; other
 * items may not have been done then. */
int hd_lab_team_run(struct hd_lab_team *team, const struct hd_lab_work *work);

/* --- Statistics of a graph (statistics.c): the columns of table 4 of the paper ------------------------------------ */

struct hd_lab_statistics {
	/* shares of the tasks that take less than 1.5, at least 2 times as long on the slower class */
	double close, far;
	double many_predecessors; /* share of the tasks with 4 predecessors or more */
	double mean_predecessors, max_predecessors;
	double no_successor, many_successors; /* shares of the tasks with no successor, with 5 or more */
	double max_successors;
	double mean_diff; /* mean of |cost on CPU - cost on GPU|, divided by the mean cost on the faster class */
};
struct hd_lab_statistics hd_lab_statistics(const struct hd_lab_dag *dag);

/* --- Figures of the paper (paper.c) ------------------------------------------------------------------------------- */

enum { HD_LAB_SETS = 32 };
struct hd_lab_paper_set {
	unsigned workers[HD_LAB_CLASSES];
	struct hd_lab_statistics statistics;
};
extern const struct hd_lab_paper_set hd_lab_paper_sets[HD_LAB_SETS]; /* table 4 */
/* The last column of table 7: the slowdown of each heuristic, in the order of enum hd_heuristic; then that of the best
 * heuristic of each graph. */
extern const double hd_lab_paper_slowdown[HD_HEURISTICS + 1];

/* --- Parameter sets (sets.c) -------------------------------------------------------------------------------------- */

/* The parameters that heddle_daggen_typed_params points to. */
struct hd_lab_set {
	size_t n_types;
	struct heddle_daggen_type types[HD_LAB_TYPES];
	double predecessors[HD_LAB_TYPES * HD_LAB_TYPES];
};
struct hd_rng;
/* Draws a set from the distributions in docs/lab.md. If `is_local`, half of the types have a reach. */
void hd_lab_set_draw(struct hd_rng *rng, int is_local, struct hd_lab_set *set);
/* The distance between two rows of table 4. At 0 they are equal, at 1 a reader would call them about the same. */
double hd_lab_distance(const struct hd_lab_statistics *a, const struct hd_lab_statistics *b);

struct hd_lab_fit {
	unsigned number; /* number of the set, which is a row of table 4 */
	uint64_t seed;
	size_t n_tasks;
	unsigned draws, steps; /* number of sets drawn; number of changes tried on the best of them */
	int is_local;
};
/* Searches a set whose graph comes near to its row of table 4. Gives the set and the graph, which the caller owns;
 * *makespan, in us, is that of the perfect schedule, which has been checked. */
int hd_lab_fit(const struct hd_lab_fit *fit, struct hd_lab_set *set, struct hd_lab_dag **dag, double *makespan);

/* --- Priorities (control.c, priorities.c) ------------------------------------------------------------------------- */

enum { HD_LAB_PAIRS = 3 };

struct hd_lab_control {
	uint64_t seed;                /* in: chooses among equally good orders */
	const struct hd_lab_dag *dag; /* in: borrows */
	struct hd_lab_orders orders;  /* in: the orders to begin with; out: the control priorities */
	uint64_t first, makespan;     /* out, us: makespan with the orders to begin with; with the control priorities */
	uint64_t after[2 * HD_LAB_PAIRS]; /* out, us: makespan after each iteration */
};
/* The search of section 4.2.2, for several graphs at once. HD_LAB_PAIRS times, it tries all orders of the CPUs while
 * that of the GPUs is fixed, then the reverse. Each time it keeps a best order; equally good ones are equally
 * likely. */
int hd_lab_control(struct hd_lab_team *team, struct hd_lab_control *controls, size_t n,
                   void (*progress)(void *arg, size_t done, size_t n_items), void *progress_arg);

/* The orders that a heuristic gives a graph, and their makespan. The graph is simulated `rounds` times. In each round
 * the heuristic uses execution shares and idle shares that are averages of the rounds before, as section 6.1 of the
 * paper keeps them from run to run. */
struct hd_lab_heuristic {
	struct hd_lab_orders orders; /* of the last round */
	uint64_t makespan;           /* us, of the last round */
	unsigned last_change; /* the last round, counted from 1, whose orders differ from those of the round before */
};
void hd_lab_heuristic(struct hd_lab_sim *sim, const struct hd_lab_dag *dag, enum hd_heuristic h, unsigned rounds,
                      struct hd_lab_heuristic *out);

/* --- The experiment (experiment.c) -------------------------------------------------------------------------------- */

struct hd_lab_options {
	const unsigned *sets; /* borrows; rows of table 4 */
	size_t n_sets;
	uint64_t seed; /* seed of the first data set; that of each further one is one more */
	unsigned n_seeds;
	size_t n_tasks;
	unsigned draws, steps; /* as in hd_lab_fit */
	int is_local;
	unsigned rounds, n_threads;
	void (*progress)(void *arg, const char *what, size_t done, size_t n_items); /* may be NULL */
	void *progress_arg;
};

/* One graph and its results. */
struct hd_lab_case {
	unsigned set;
	uint64_t seed; /* seed of the data set */
	struct hd_lab_set parameters;
	struct hd_lab_dag *dag; /* owns */
	struct hd_lab_statistics statistics;
	double perfect; /* us, makespan of the perfect schedule */
	struct hd_lab_control control;
	struct hd_lab_heuristic heuristics[HD_HEURISTICS];
};

struct hd_lab_results {
	struct hd_lab_case *cases; /* owns; all sets of the first seed, then of the second, ... */
	size_t n_seeds, n_sets;
	uint64_t simulated_tasks;
	double simulating_us; /* real time that the simulations took, us */
};
int hd_lab_run(const struct hd_lab_options *options, struct hd_lab_results *out);
void hd_lab_results_free(struct hd_lab_results *results);

/* Makespan with heuristic h / makespan with the control priorities. h = HD_HEURISTICS is the best heuristic of the
 * graph. */
double hd_lab_slowdown(const struct hd_lab_case *c, int h);
/* The mean slowdown over the sets of one data set. */
double hd_lab_mean_slowdown(const struct hd_lab_results *results, size_t seed_index, int h);

#endif
