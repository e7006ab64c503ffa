/* The orders that a heuristic gives. What it must know of the execution comes from simulations with its own orders. */
#include "lab.h"
#include <string.h>

/* The averages that heuristics (src/policies/parts/heuristics.h) read. `types` points to the arrays below it. */
struct knowledge {
	struct hd_heuristic_types types;
	double tasks[HD_LAB_TYPES], nod[HD_LAB_TYPES], released[HD_LAB_TYPES];
	double cost[HD_LAB_TYPES * HD_LAB_CLASSES], nrt[HD_LAB_TYPES * HD_LAB_CLASSES],
	    share[HD_LAB_TYPES * HD_LAB_CLASSES];
	double idle[HD_LAB_CLASSES];
	/* follow[t][s]: sum, over the successors of type s of tasks of type t, of 1 / number of predecessors of the
	 * successor */
	double follow[HD_LAB_TYPES][HD_LAB_TYPES];
	/* sums over all rounds so far */
	double executed[HD_LAB_TYPES][HD_LAB_CLASSES];
	double busy[HD_LAB_CLASSES], total[HD_LAB_CLASSES]; /* us, summed over workers */
};

/* Computes the averages that follow from the graph, over all tasks of each type. */
static void learn_graph(struct knowledge *k, const struct hd_lab_dag *dag)
{
	for (uint32_t i = 0; i < dag->n_tasks; i++)
		for (uint32_t e = dag->first[i]; e < dag->first[i + 1]; e++) {
			uint32_t next = dag->succ[e], type = dag->type[i];
			k->nod[type] += 1.0 / dag->n_preds[next];
			k->follow[type][dag->type[next]] += 1.0 / dag->n_preds[next];
			k->released[type] += dag->least[dag->type[next]];
		}
	for (uint32_t t = 0; t < dag->n_types; t++) {
		double n = dag->tasks[t] ? dag->tasks[t] : 1;
		k->tasks[t] = dag->tasks[t];
		k->nod[t] /= n;
		k->released[t] /= n;
		for (uint32_t s = 0; s < dag->n_types; s++)
			k->follow[t][s] /= n;
		for (size_t c = 0; c < HD_LAB_CLASSES; c++)
			k->cost[t * HD_LAB_CLASSES + c] = dag->cost[t][c];
	}
	k->types = (struct hd_heuristic_types){.n_types = dag->n_types,
	                                       .n_classes = HD_LAB_CLASSES,
	                                       .tasks = k->tasks,
	                                       .nod = k->nod,
	                                       .released = k->released,
	                                       .cost = k->cost,
	                                       .nrt = k->nrt,
	                                       .share = k->share,
	                                       .idle = k->idle};
}

/* Computes the averages that follow from the rounds so far. Before the first round every class is equally likely to
 * execute a task, and idle. */
static void learn_rounds(struct knowledge *k)
{
	size_t n = k->types.n_types;
	for (size_t t = 0; t < n; t++) {
		double all = k->executed[t][HD_LAB_CPU] + k->executed[t][HD_LAB_GPU];
		for (size_t c = 0; c < HD_LAB_CLASSES; c++)
			k->share[t * HD_LAB_CLASSES + c] = all > 0 ? k->executed[t][c] / all : 0.5;
	}
	for (size_t t = 0; t < n; t++)
		for (size_t c = 0; c < HD_LAB_CLASSES; c++) {
			double *nrt = &k->nrt[t * HD_LAB_CLASSES + c];
			*nrt = 0;
			for (size_t s = 0; s < n; s++)
				*nrt += k->follow[t][s] * k->share[s * HD_LAB_CLASSES + c] *
				        k->cost[s * HD_LAB_CLASSES + c];
		}
	for (size_t c = 0; c < HD_LAB_CLASSES; c++)
		k->idle[c] = k->total[c] > 0 ? 1 - k->busy[c] / k->total[c] : 1;
}

static void add_round(struct knowledge *k, const struct hd_lab_dag *dag, const struct hd_lab_outcome *o)
{
	for (size_t c = 0; c < HD_LAB_CLASSES; c++) {
		k->total[c] += (double)o->makespan * dag->workers[c];
		for (uint32_t t = 0; t < dag->n_types; t++) {
			k->executed[t][c] += o->executed[t][c];
			k->busy[c] += (double)o->executed[t][c] * dag->cost[t][c];
		}
	}
}

static struct hd_lab_orders order(const struct knowledge *k, enum hd_heuristic h)
{
	struct hd_lab_orders orders = {{{0}}};
	for (size_t c = 0; c < HD_LAB_CLASSES; c++) {
		size_t ranks[HD_LAB_TYPES];
		double scores[HD_LAB_TYPES];
		for (size_t t = 0; t < k->types.n_types; t++)
			ranks[t] = t;
		hd_heuristic_order(h, &k->types, c, ranks, scores);
		for (size_t t = 0; t < k->types.n_types; t++)
			orders.order[c][t] = (uint8_t)ranks[t];
	}
	return orders;
}

void hd_lab_heuristic(struct hd_lab_sim *sim, const struct hd_lab_dag *dag, enum hd_heuristic h, unsigned rounds,
                      struct hd_lab_heuristic *out)
{
	struct knowledge k = {.types = {.n_types = 0}};
	learn_graph(&k, dag);
	*out = (struct hd_lab_heuristic){.makespan = 0};
	struct hd_lab_outcome outcome = {.makespan = 0};
	for (unsigned round = 1; round <= rounds; round++) {
		learn_rounds(&k);
		struct hd_lab_orders orders = order(&k, h);
		if (round == 1 || memcmp(&orders, &out->orders, sizeof orders) != 0) {
			out->last_change = round;
			out->orders = orders;
			out->makespan = hd_lab_sim_run(sim, dag, &orders, HD_LAB_NO_LIMIT, &outcome);
		} /* otherwise another run would be the same */
		add_round(&k, dag, &outcome);
	}
}
