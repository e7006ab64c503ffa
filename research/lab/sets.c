/* Parameter sets: drawn from distributions, then fitted to a row of table 4 of the paper (docs/lab.md). */
#include "lab.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

enum { FEWEST_TYPES = 5 };

static double between(struct hd_rng *rng, double low, double high)
{
	return low + (high - low) * hd_rng_uniform(rng);
}

static double log_between(struct hd_rng *rng, double low, double high)
{
	return low * pow(high / low, hd_rng_uniform(rng));
}

static int chance(struct hd_rng *rng, double share)
{
	return hd_rng_uniform(rng) < share;
}

static size_t one_of(struct hd_rng *rng, size_t n)
{
	return (size_t)(hd_rng_next(rng) % n);
}

/* --- The distributions -------------------------------------------------------------------------------------------- */

static double draw_ratio(struct hd_rng *rng)
{
	double kind = hd_rng_uniform(rng); /* in table 4, 0.33 of the tasks are close and 0.45 are far, on average */
	return kind < 0.33 ? between(rng, 1, 1.5) : kind < 0.55 ? between(rng, 1.5, 2) : log_between(rng, 2, 20);
}

static void draw_costs(struct hd_rng *rng, struct heddle_daggen_type *type, int fast)
{
	double cost = log_between(rng, 1000, 30000);
	type->cost[fast] = round(cost);
	type->cost[!fast] = round(cost * draw_ratio(rng));
}

static size_t draw_reach(struct hd_rng *rng, int is_local)
{
	return !is_local || chance(rng, 0.5) ? 0 : (size_t)log_between(rng, 1, 100);
}

static double draw_proportion(struct hd_rng *rng)
{
	return -log(
	    1 - hd_rng_uniform(rng)); /* exponential, so that all divisions of a whole into shares are equally likely */
}

static double draw_predecessors(struct hd_rng *rng)
{
	double kind = hd_rng_uniform(rng);
	return kind < 0.7 ? 0 : kind < 0.85 ? 1 : between(rng, 0, 2);
}

/* Whether each class is fastest with some type, so that no class has nothing to do. */
static int is_possible(const struct hd_lab_set *set)
{
	double least[HD_LAB_CLASSES] = {0, 0};
	for (size_t t = 0; t < set->n_types; t++) {
		const struct heddle_daggen_type *type = &set->types[t];
		for (int c = 0; c < HD_LAB_CLASSES; c++)
			if (type->cost[c] <= type->cost[!c])
				least[c] += type->proportion;
	}
	return least[HD_LAB_CPU] > 0 && least[HD_LAB_GPU] > 0;
}

void hd_lab_set_draw(struct hd_rng *rng, int is_local, struct hd_lab_set *set)
{
	do {
		*set = (struct hd_lab_set){.n_types = FEWEST_TYPES + one_of(rng, HD_LAB_TYPES - FEWEST_TYPES + 1)};
		for (size_t t = 0; t < set->n_types; t++) {
			draw_costs(rng, &set->types[t], chance(rng, 0.5));
			set->types[t].proportion = draw_proportion(rng);
			set->types[t].reach = draw_reach(rng, is_local);
		}
		for (size_t i = 0; i < set->n_types * set->n_types; i++)
			set->predecessors[i] = draw_predecessors(rng);
	} while (!is_possible(set));
}

/* Draws one of the parameters again, or changes it a little. */
static void change_once(struct hd_rng *rng, int is_local, struct hd_lab_set *set)
{
	struct heddle_daggen_type *type = &set->types[one_of(rng, set->n_types)];
	double *entry = &set->predecessors[one_of(rng, set->n_types * set->n_types)];
	int slow = type->cost[HD_LAB_GPU] > type->cost[HD_LAB_CPU] ? HD_LAB_GPU : HD_LAB_CPU;
	switch (one_of(rng, is_local ? 8 : 7)) {
	case 0: draw_costs(rng, type, chance(rng, 0.5)); break;
	case 1: type->cost[slow] = round(type->cost[!slow] * draw_ratio(rng)); break;
	case 2: type->proportion = draw_proportion(rng); break;
	case 3: type->proportion *= log_between(rng, 0.7, 1 / 0.7); break;
	case 4: *entry = draw_predecessors(rng); break;
	case 5: *entry = *entry > 0 ? fmin(2, *entry * log_between(rng, 0.7, 1 / 0.7)) : 0; break;
	case 6: { /* exchange the numbers of predecessors of two types that tasks of a third type have */
		double *other = set->predecessors + (size_t)(entry - set->predecessors) / set->n_types * set->n_types +
		                one_of(rng, set->n_types);
		double kept = *entry;
		*entry = *other;
		*other = kept;
		break;
	}
	default: type->reach = draw_reach(rng, is_local); break;
	}
}

static void change(struct hd_rng *rng, int is_local, const struct hd_lab_set *from, struct hd_lab_set *to)
{
	do {
		*to = *from;
		for (size_t n = 1 + one_of(rng, 3); n > 0; n--)
			change_once(rng, is_local, to);
	} while (!is_possible(to));
}

/* --- The fit ------------------------------------------------------------------------------------------------------ */

static double squared(double x)
{
	return x * x;
}

/* Shares count as about the same when they differ by 0.03, means by a tenth, the largest number of successors by a
 * quarter. */
double hd_lab_distance(const struct hd_lab_statistics *a, const struct hd_lab_statistics *b)
{
	const double share = 0.03, mean = log(1.1), most = log(1.25);
	double sum = squared((a->close - b->close) / share) + squared((a->far - b->far) / share) +
	             squared((a->many_predecessors - b->many_predecessors) / share) +
	             squared((a->no_successor - b->no_successor) / share) +
	             squared((a->many_successors - b->many_successors) / share) +
	             squared(log((a->mean_predecessors + 1e-3) / (b->mean_predecessors + 1e-3)) / mean) +
	             squared(log((a->mean_diff + 1e-3) / (b->mean_diff + 1e-3)) / mean) +
	             squared(log((a->max_successors + 1) / (b->max_successors + 1)) / most) +
	             squared(a->max_predecessors - b->max_predecessors);
	return sqrt(sum / 9);
}

static struct heddle_daggen_typed_params params_of(const struct hd_lab_fit *fit, const struct hd_lab_set *set)
{
	const unsigned *workers = hd_lab_paper_sets[fit->number].workers;
	return (struct heddle_daggen_typed_params){
	    .seed = hd_hash(fit->seed, fit->number),
	    .n_tasks = fit->n_tasks,
	    .types = set->types,
	    .n_types = set->n_types,
	    .workers = {workers[HD_LAB_CPU], workers[HD_LAB_GPU]},
	    .predecessors = set->predecessors,
	};
}

static int generate(const struct hd_lab_fit *fit, const struct hd_lab_set *set, struct hd_lab_dag **dag,
                    double *makespan)
{
	struct heddle_daggen_typed_graph typed;
	const struct heddle_daggen_typed_params params = params_of(fit, set);
	int status = heddle_daggen_typed(&params, &typed);
	if (status)
		return status;
	if (makespan) {
		*makespan = typed.makespan;
		status = heddle_daggen_typed_check(&params, &typed);
	}
	if (!status)
		status = hd_lab_dag_new(typed.graph, params.workers, dag);
	heddle_daggen_typed_free(&typed);
	return status;
}

/* Replaces `best` by `trial` if the graph of `trial` comes nearer to the row. */
static int try_set(const struct hd_lab_fit *fit, const struct hd_lab_set *trial, struct hd_lab_set *best,
                   double *distance)
{
	struct hd_lab_dag *dag;
	int status = generate(fit, trial, &dag, NULL);
	if (status)
		return status;
	const struct hd_lab_statistics statistics = hd_lab_statistics(dag);
	double d = hd_lab_distance(&statistics, &hd_lab_paper_sets[fit->number].statistics);
	hd_lab_dag_free(dag);
	if (d <= *distance) {
		*distance = d;
		*best = *trial;
	}
	return 0;
}

int hd_lab_fit(const struct hd_lab_fit *fit, struct hd_lab_set *set, struct hd_lab_dag **dag, double *makespan)
{
	struct hd_rng rng;
	struct hd_lab_set best = {.n_types = 0}, trial;
	double distance = INFINITY;
	int status = 0;
	if (fit->number >= HD_LAB_SETS)
		return hd_error(HEDDLE_E_INVALID, "there is no parameter set %u; they are 0 to %d", fit->number,
		                HD_LAB_SETS - 1);
	hd_rng_seed(&rng, hd_hash(fit->seed, HD_LAB_SETS + fit->number));
	for (unsigned i = 0; (i == 0 || i < fit->draws) && !status; i++) {
		hd_lab_set_draw(&rng, fit->is_local, &trial);
		status = try_set(fit, &trial, &best, &distance);
	}
	for (unsigned i = 0; i < fit->steps && !status; i++) {
		change(&rng, fit->is_local, &best, &trial);
		status = try_set(fit, &trial, &best, &distance);
	}
	if (!status)
		status = generate(fit, &best, dag, makespan);
	if (!status)
		*set = best;
	return status;
}
