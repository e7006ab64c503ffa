/* The 28 heuristics that give Heteroprio its priorities: C. Flint, B. Bramas, "Finding new heuristics for automated
 * task prioritizing in heterogeneous computing" (2020), sections 4.3 and 5, with the rows of tables 5 to 7.
 *
 * Pure functions of the quantities in struct hd_heuristic_types. They need no runtime, so both the laboratory
 * (research/lab) and the policy autoheteroprio use them. A *type* is a bucket, a *class* is a class of workers. Costs,
 * NRT and R may have any unit, but all must have the same unit.
 */
#ifndef HD_POLICIES_PARTS_HEURISTICS_H
#define HD_POLICIES_PARTS_HEURISTICS_H

#include <stddef.h>

enum hd_heuristic {
	HD_NTC,
	HD_BEST_NODS_SCORE,
	HD_BEST_NODS,
	HD_URT,
	HD_URT_LC,
	HD_URT_LC_NEED,
	HD_URTXD,
	HD_URTXDN,
	HD_URTXRD,
	HD_URTXRDN,
	HD_URTXD_F1,
	HD_URTXD_F2,
	HD_URTXD_F3,
	HD_URTXD_L1,
	HD_URTXD_L2,
	HD_URTXD_L3,
	HD_URTXD_L4,
	HD_URTXD_L5,
	HD_URTXD_L6,
	HD_URTXD_L7,
	HD_URT_S,
	HD_URT_S_2,
	HD_URT_S_DIFF,
	HD_URTXRELD,
	HD_UTC,
	HD_NOD_S,
	HD_NODXR,
	HD_NODXRD,
	HD_HEURISTICS
};

/* The names of the heuristics in the paper, in the order of the enumeration. The paper gives the 24th the name URTxRD,
 * which the 9th has, too; here it is URTxRelD. One string, because it is the list of values of an option. */
#define HD_HEURISTIC_NAMES                                                                                             \
	"NTC|BEST_NODS_SCORE|BEST_NODS|URT|URT_LC|URT_LC_need|URTxD|URTxDn|URTxRD|URTxRDn|URTxD_f1|URTxD_f2|URTxD_f3|" \
	"URTxD_L1|"                                                                                                    \
	"URTxD_L2|URTxD_L3|URTxD_L4|URTxD_L5|URTxD_L6|URTxD_L7|URT/s|URT/s_2|URT/s_diff|URTxRelD|UTC|NOD/"             \
	"s|NODxR|NODxRD"

/* Section 4.2.3: the cost of a type on a class without an implementation. */
enum hd_missing {
	HD_MISSING_HUGE, /* 1000 times the cost on the slowest class that has an implementation */
	HD_MISSING_SAME  /* the cost on the slowest class that has an implementation */
};

/* Weights of URT_LC and URT_LC_need: 1 and 10 in the paper, 0.5 and 1 in StarPU. */
enum hd_constants { HD_CONSTANTS_PAPER, HD_CONSTANTS_STARPU };

struct hd_heuristic_types {
	size_t n_types, n_classes;
	const double *tasks;    /* per type: the number of tasks, or the share of all tasks */
	const double *nod;      /* per type: sum over successors s of 1 / predecessors(s) */
	const double *released; /* per type: R = sum over successors of their least cost */
	const double *cost;     /* [type * n_classes + class]; NAN: no implementation */
	/* [type * n_classes + class]: sum over successors s of share(s on class) * cost(s on class) /
	 * predecessors(s) */
	const double *nrt;
	const double *share; /* [type * n_classes + class]: the class's share of the executions of the type */
	const double *idle;  /* per class: share of the time that its workers are idle */
	enum hd_missing missing;
	enum hd_constants constants;
};

/* The quantities from which a score is computed, for one type and class. Costs are normalised by hd_types_scale. */
struct hd_quantities {
	double own, other; /* w and w' */
	double nod, urt, released;
	double need; /* idle(own) - idle(other) */
	double share_own, share_other;
};

/* Section 4.3.3: the factor by which the least costs of all tasks are 1 on average. 1 if all costs are 0. */
double hd_types_scale(const struct hd_heuristic_types *types);
/* The quantities of a type on a class. Choice: if there are more than two classes, the class is compared with the
 * slowest class; the slowest class is compared with the second slowest. */
struct hd_quantities hd_types_quantities(const struct hd_heuristic_types *types, double scale, size_t type,
                                         size_t class_id);
/* The score of a type on a class; types with higher scores come first. Never NAN. HD_BEST_NODS does not use scores: for
 * it, returns the NOD. */
double hd_heuristic_score(enum hd_heuristic h, enum hd_constants constants, const struct hd_quantities *q);

/* Sorts `order`, any permutation of the types, by the heuristic for one class; of equal types, the type with the lower
 * number comes first. Fast if `order` is the result of the previous call. Fills `scores`, per type. */
void hd_heuristic_order(enum hd_heuristic h, const struct hd_heuristic_types *types, size_t class_id, size_t *order,
                        double *scores);
/* Sorts `order`, a permutation of n numbers, by decreasing scores; of numbers with equal scores, the lower number comes
 * first. */
void hd_order_by_scores(size_t n, size_t *order, const double *scores);

#endif
