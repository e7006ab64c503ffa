/* The 28 heuristics of the AutoHeteroprio paper (heuristics.h). Most formulas are from sections 5.1 to 5.3 of the
 * paper. The paper does not define L1 to L7, URT_LC_need, URT/s_2, URT/s_diff and UTC: their formulas are from the
 * authors' code. */
#include "heuristics.h"
#include <math.h>

/* --- Quantities: sections 4.3.1 and 4.3.3 ------------------------------------------------------------------------- */

enum { HUGE_FACTOR = 1000 };

static double least_cost(const struct hd_heuristic_types *types, size_t type)
{
	double least = INFINITY;
	for (size_t c = 0; c < types->n_classes; c++)
		least = fmin(least, types->cost[type * types->n_classes + c]);
	return least;
}

static double greatest_cost(const struct hd_heuristic_types *types, size_t type)
{
	double greatest = 0;
	for (size_t c = 0; c < types->n_classes; c++)
		greatest = fmax(greatest, types->cost[type * types->n_classes + c]);
	return greatest;
}

double hd_types_scale(const struct hd_heuristic_types *types)
{
	double tasks = 0, sum = 0;
	for (size_t t = 0; t < types->n_types; t++) {
		double least = least_cost(types, t);
		if (!isfinite(least))
			continue;
		tasks += types->tasks[t];
		sum += types->tasks[t] * least;
	}
	return tasks > 0 && sum > 0 ? tasks / sum : 1;
}

/* The cost of a type on a class. If the class has no implementation, the workaround of section 4.2.3 gives the cost. */
static double cost_on(const struct hd_heuristic_types *types, size_t type, size_t class_id)
{
	double cost = types->cost[type * types->n_classes + class_id];
	if (!isnan(cost))
		return cost;
	return greatest_cost(types, type) * (types->missing == HD_MISSING_HUGE ? HUGE_FACTOR : 1);
}

/* The class to compare a class with; class_id itself if there is no other. */
static size_t other_class(const struct hd_heuristic_types *types, size_t type, size_t class_id)
{
	size_t other = class_id;
	for (size_t c = 0; c < types->n_classes; c++)
		if (c != class_id && (other == class_id || cost_on(types, type, c) > cost_on(types, type, other)))
			other = c;
	return other;
}

struct hd_quantities hd_types_quantities(const struct hd_heuristic_types *types, double scale, size_t type,
                                         size_t class_id)
{
	const double *nrt = types->nrt + type * types->n_classes, *share = types->share + type * types->n_classes;
	size_t other = other_class(types, type, class_id);
	struct hd_quantities q = {
	    .own = scale * cost_on(types, type, class_id),
	    .other = scale * cost_on(types, type, other),
	    .nod = types->nod[type],
	    .released = scale * types->released[type],
	    .need = types->idle[class_id] - types->idle[other],
	    .share_own = share[class_id],
	    .share_other = share[other],
	};
	for (size_t c = 0; c < types->n_classes; c++)
		q.urt += scale * nrt[c] * types->idle[c];
	return q;
}

/* --- Scores: section 5 -------------------------------------------------------------------------------------------- */

static double relu(double x)
{
	return x > 0 ? x : 0;
}

static double logistic(double x)
{
	return 1 / (1 + exp(-x));
}

/* log(1 + e^x), without overflow for large x. */
static double softplus(double x)
{
	return x > 30 ? x : log1p(exp(x));
}

/* The bonus that NTC and UTC give if both classes are about equally fast. */
static double closeness(const struct hd_quantities *q)
{
	const double gamma = 0.5;
	double rel = q->other / q->own, prel = fmax(rel, 1 / rel);
	return exp(-gamma * (prel - 1) * (prel - 1));
}

/* Choice: the paper does not say what alpha is; StarPU takes 0.5. */
static double best_nods_score(const struct hd_quantities *q, double diff)
{
	const double alpha = 0.5;
	return diff >= 0 ? q->nod : q->nod * (2 * exp(-alpha * diff * diff) - 1);
}

static double urt_lc(const struct hd_quantities *q, double diff, enum hd_constants constants)
{
	return constants == HD_CONSTANTS_STARPU ? 0.5 * q->urt + diff : q->urt + 10 * diff;
}

static double urtxd_l3(double urt, double diff)
{
	double g = urt <= 1 ? sqrt(urt) * sqrt(2 - urt) : 1;
	return g * (1 + urt) * (1 + diff) - (1 - g) * softplus(-diff);
}

static double urtxd_l4(double urt, double diff)
{
	double busy = urt > 0 ? logistic(1 / urt) : 1; /* the limit of the quotient for urt = 0 */
	return (logistic(urt) - 0.5) * (1 + urt) * (1 + diff) - (busy - 0.5) * exp(-diff);
}

static double raw_score(enum hd_heuristic h, enum hd_constants constants, const struct hd_quantities *q)
{
	const double alpha = 1, beta = 0.3, rho = 2; /* alpha: of f1 to f3; beta: of NTC and UTC; rho: of URT_LC_need */
	double w = q->own, urt = q->urt, nod = q->nod;
	double diff = q->other - q->own, rel = q->other / q->own;
	switch (h) {
	case HD_NTC: return diff + beta * nod * closeness(q);
	case HD_BEST_NODS_SCORE: return best_nods_score(q, diff);
	case HD_BEST_NODS: return nod;
	case HD_URT: return urt;
	case HD_URT_LC: return urt_lc(q, diff, constants);
	case HD_URT_LC_NEED: return urt_lc(q, diff, constants) + rho * relu(q->share_own * q->share_other * q->need);
	case HD_URTXD: return urt * diff;
	case HD_URTXDN: return (1 + urt) * diff;
	case HD_URTXRD: return urt * rel;
	case HD_URTXRDN: return (1 + urt) * rel;
	case HD_URTXD_F1: return (1 + urt) * diff + alpha * w * q->need;
	case HD_URTXD_F2: return (1 + urt) * diff + alpha * w * relu(q->need);
	case HD_URTXD_F3: return (1 + urt) * diff - alpha * w * relu(-q->need);
	case HD_URTXD_L1: return (1.3 + urt) * (1 + diff);
	case HD_URTXD_L2: return (1 + urt) * softplus(diff);
	case HD_URTXD_L3: return urtxd_l3(urt, diff);
	case HD_URTXD_L4: return urtxd_l4(urt, diff);
	case HD_URTXD_L5: return log(1.3 + urt) * atan(diff + urt);
	case HD_URTXD_L6: return (1.3 + urt) * atan(diff) + urt;
	case HD_URTXD_L7: return (1.3 + urt) * (diff + urt);
	case HD_URT_S: return urt / w;
	case HD_URT_S_2: return (urt + diff) / w;
	case HD_URT_S_DIFF: return urt / w + diff;
	case HD_URTXRELD: return urt * (q->released + diff) / w;
	case HD_UTC: return diff + beta * urt * closeness(q);
	case HD_NOD_S: return nod / w;
	case HD_NODXR: return nod * q->released / w;
	case HD_NODXRD: return nod * (q->released + diff) / w;
	case HD_HEURISTICS: break;
	}
	return 0;
}

double hd_heuristic_score(enum hd_heuristic h, enum hd_constants constants, const struct hd_quantities *q)
{
	const double tiny = 1e-9; /* the least cost, so that quotients stay finite */
	struct hd_quantities safe = *q;
	safe.own = fmax(safe.own, tiny);
	safe.other = fmax(safe.other, tiny);
	double score = raw_score(h, constants, &safe);
	return isnan(score) ? 0 : score;
}

/* --- Orders: section 4.3.2 ---------------------------------------------------------------------------------------- */

void hd_order_by_scores(size_t n, size_t *order, const double *scores)
{
	for (size_t i = 1; i < n; i++) { /* insertion sort, because the last order is nearly right */
		size_t type = order[i], j = i;
		for (; j > 0; j--) {
			size_t before = order[j - 1];
			if (scores[before] > scores[type] || (!(scores[before] < scores[type]) && before < type))
				break;
			order[j] = before;
		}
		order[j] = type;
	}
}

/* Whether a class is the fastest for a type, or within 1 % of the fastest (section 5.1). */
static int is_fast(const struct hd_heuristic_types *types, size_t type, size_t class_id)
{
	double least = cost_on(types, type, class_id), own = least;
	for (size_t c = 0; c < types->n_classes; c++)
		least = fmin(least, cost_on(types, type, c));
	return own <= 1.01 * least;
}

/* Section 5.1, by the method of figure 6. At the call, `order` has the types by decreasing NOD. In this order, each
 * type takes the highest free rank if the class is the fastest for the type, otherwise the lowest free rank. */
static void best_nods(const struct hd_heuristic_types *types, size_t class_id, size_t *order)
{
	size_t n = types->n_types, fast = 0;
	for (size_t i = 0; i < n; i++) { /* moves the types for which the class is fast to the front, in their order */
		size_t type = order[i];
		if (!is_fast(types, type, class_id))
			continue;
		for (size_t j = i; j > fast; j--)
			order[j] = order[j - 1];
		order[fast++] = type;
	}
	for (size_t i = fast, j = n; i + 1 < j; i++) { /* reverses the slow types, which fill the ranks from behind */
		size_t type = order[i];
		order[i] = order[--j];
		order[j] = type;
	}
}

void hd_heuristic_order(enum hd_heuristic h, const struct hd_heuristic_types *types, size_t class_id, size_t *order,
                        double *scores)
{
	double scale = hd_types_scale(types);
	for (size_t t = 0; t < types->n_types; t++) {
		struct hd_quantities q = hd_types_quantities(types, scale, t, class_id);
		scores[t] = hd_heuristic_score(h, types->constants, &q);
	}
	hd_order_by_scores(types->n_types, order, scores);
	if (h == HD_BEST_NODS)
		best_nods(types, class_id, order);
}
