/* The whole experiment: makes the graphs, searches the control priorities, simulates the heuristics. */
#include "lab.h"
#include <math.h>
#include <stdlib.h>
#include "base/base.h"

struct experiment {
	const struct hd_lab_options *options; /* borrows */
	struct hd_lab_results *results;       /* borrows */
	const char *step;
};

static void show(void *arg, size_t done, size_t n_items)
{
	const struct experiment *e = arg;
	if (e->options->progress)
		e->options->progress(e->options->progress_arg, e->step, done, n_items);
}

static int make_case(void *arg, struct hd_lab_sim *sim, size_t item)
{
	struct experiment *e = arg;
	const struct hd_lab_options *o = e->options;
	struct hd_lab_case *c = &e->results->cases[item];
	(void)sim;
	c->set = o->sets[item % o->n_sets];
	c->seed = o->seed + item / o->n_sets;
	struct hd_lab_fit fit = {.number = c->set,
	                         .seed = c->seed,
	                         .n_tasks = o->n_tasks,
	                         .draws = o->draws,
	                         .steps = o->steps,
	                         .is_local = o->is_local};
	int status = hd_lab_fit(&fit, &c->parameters, &c->dag, &c->perfect);
	if (status)
		return hd_error_context(status, "parameter set %u, seed %llu", c->set, (unsigned long long)c->seed);
	c->statistics = hd_lab_statistics(c->dag);
	return 0;
}

static int make_graphs(struct experiment *e, struct hd_lab_team *team)
{
	size_t n = e->results->n_seeds * e->results->n_sets;
	struct hd_lab_work work = {.n_items = n, .run = make_case, .arg = e, .progress = show, .progress_arg = e};
	e->step = "graphs";
	return hd_lab_team_run(team, &work);
}

/* The orders that the search begins with: each class prefers the types with which it saves most time compared with the
 * other class. */
static struct hd_lab_orders by_gain(const struct hd_lab_dag *dag)
{
	struct hd_lab_orders orders = {{{0}}};
	for (int c = 0; c < HD_LAB_CLASSES; c++) {
		size_t ranks[HD_LAB_TYPES];
		double gains[HD_LAB_TYPES];
		for (size_t t = 0; t < dag->n_types; t++) {
			ranks[t] = t;
			gains[t] = (double)dag->cost[t][!c] - dag->cost[t][c];
		}
		hd_order_by_scores(dag->n_types, ranks, gains);
		for (size_t t = 0; t < dag->n_types; t++)
			orders.order[c][t] = (uint8_t)ranks[t];
	}
	return orders;
}

static int find_controls(struct experiment *e, struct hd_lab_team *team)
{
	size_t n = e->results->n_seeds * e->results->n_sets;
	struct hd_lab_control *controls = calloc(n + 1, sizeof *controls);
	if (!controls)
		return hd_no_memory("the control priorities");
	for (size_t i = 0; i < n; i++) {
		const struct hd_lab_case *c = &e->results->cases[i];
		controls[i] = (struct hd_lab_control){
		    .seed = hd_hash(c->seed, 64 + c->set), .dag = c->dag, .orders = by_gain(c->dag)};
	}
	e->step = "control priorities";
	int status = hd_lab_control(team, controls, n, show, e);
	for (size_t i = 0; i < n && !status; i++)
		e->results->cases[i].control = controls[i];
	free(controls);
	return status;
}

static int run_heuristic(void *arg, struct hd_lab_sim *sim, size_t item)
{
	struct experiment *e = arg;
	struct hd_lab_case *c = &e->results->cases[item / HD_HEURISTICS];
	enum hd_heuristic h = (enum hd_heuristic)(item % HD_HEURISTICS);
	hd_lab_heuristic(sim, c->dag, h, e->options->rounds, &c->heuristics[h]);
	return 0;
}

static int run_heuristics(struct experiment *e, struct hd_lab_team *team)
{
	size_t n = e->results->n_seeds * e->results->n_sets * HD_HEURISTICS;
	struct hd_lab_work work = {.n_items = n, .run = run_heuristic, .arg = e, .progress = show, .progress_arg = e};
	e->step = "heuristics";
	return hd_lab_team_run(team, &work);
}

int hd_lab_run(const struct hd_lab_options *options, struct hd_lab_results *out)
{
	struct hd_lab_team team;
	*out = (struct hd_lab_results){.n_seeds = options->n_seeds, .n_sets = options->n_sets};
	struct experiment e = {.options = options, .results = out};
	if (options->n_sets == 0 || options->n_seeds == 0 || options->rounds == 0)
		return hd_error(HEDDLE_E_INVALID, "the laboratory needs a parameter set, a seed and a round");
	int status = hd_lab_team_init(&team, options->n_threads, options->n_tasks);
	if (status)
		return status;
	out->cases = calloc(out->n_seeds * out->n_sets, sizeof *out->cases);
	status = out->cases ? make_graphs(&e, &team) : hd_no_memory("the laboratory");
	double start = hd_clock_us();
	if (!status)
		status = find_controls(&e, &team);
	if (!status)
		status = run_heuristics(&e, &team);
	out->simulating_us = hd_clock_us() - start;
	out->simulated_tasks = hd_lab_team_tasks(&team);
	hd_lab_team_fini(&team);
	if (status)
		hd_lab_results_free(out);
	return status;
}

void hd_lab_results_free(struct hd_lab_results *results)
{
	for (size_t i = 0; i < results->n_seeds * results->n_sets && results->cases; i++)
		hd_lab_dag_free(results->cases[i].dag);
	free(results->cases);
	*results = (struct hd_lab_results){.cases = NULL};
}

double hd_lab_slowdown(const struct hd_lab_case *c, int h)
{
	double least = INFINITY;
	for (int i = 0; i < HD_HEURISTICS; i++)
		if (i == h || h == HD_HEURISTICS)
			least = fmin(least, (double)c->heuristics[i].makespan);
	return least / (double)c->control.makespan;
}

double hd_lab_mean_slowdown(const struct hd_lab_results *results, size_t seed_index, int h)
{
	double sum = 0;
	for (size_t i = 0; i < results->n_sets; i++)
		sum += hd_lab_slowdown(&results->cases[seed_index * results->n_sets + i], h);
	return sum / (double)results->n_sets;
}
