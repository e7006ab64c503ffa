/* Computes the area bound, by a linear program: divide the tasks of each type among the classes so that the shares of a
 * type add up to 1 and each class c has at most T * capacity[c] of work; the least such T is the bound (Agullo,
 * Beaumont, Eyraud-Dubois, Kumar, "Are static schedules so bad? A case study on Cholesky factorization", IPDPS 2016).
 *
 * If workers of several cluster sets have cores in common, one more condition holds: the work of their classes, in time
 * of cores, is at most T * n_cores. Its price p[cores] is the price of a core's time, which these classes pay in
 * addition.
 *
 * The result is not CLP's optimum, but the bound that CLP's dual values prove. They are prices: p[c] is the price of
 * the time of class c. For any prices p >= 0 with sum over c of p[c] * capacity[c] = 1, the sum over types of the least
 * p[c] * work[c] of any class c is a lower bound; at the optimum it equals T. So it is valid whatever CLP's tolerances
 * are, and also with prices from a coarser program. Therefore similar types are merged before CLP solves the program,
 * if there are very many. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"
#include "bounds/lp.h"

/* with more types, types with similar ratios of times between classes are merged, so that CLP takes little time */
#define MAX_LP_TYPES 512
/* the largest step of log(ratio); with it, all types that can run on the same classes are merged */
#define COARSEST 1024.0

/* The program, column by column, as CLP reads it. Column 0 is T; then there is one column per share. There is one row
 * per resource, that is, per class and for the cores; then one row per type. */
struct lp {
	const struct hd_area *area; /* borrows */
	double scale;
	/* own; start: index of each column's first coefficient, and one more entry; row: the row of each coefficient */
	int *start, *row;
	double *value;         /* owns; the coefficients */
	double *cost;          /* owns; per column */
	double *lowest, *most; /* own; per row: the limits of its value */
	int n_values, n_columns;
	double *price; /* owns; the result; per resource */
};

/* Number of resources: the classes and, if classes share cores, the cores. */
static size_t resources(const struct hd_area *a)
{
	return a->n_classes + (a->n_cores > 0);
}

static int solve(void *arg)
{
	struct lp *lp = arg;
	const struct hd_area *a = lp->area;
	Clp_Simplex *model = hd_lp_new();
	Clp_loadProblem(model, lp->n_columns, (int)(resources(a) + a->n_types), lp->start, lp->row, lp->value, NULL,
	                NULL, lp->cost, lp->lowest, lp->most);
	Clp_dual(model, 0); /* the dual simplex, because T = 0 is dual feasible when it starts */
	int outcome = Clp_status(model);
	for (size_t c = 0; c < resources(a) && outcome == 0; c++)
		lp->price[c] = hd_lp_price(model, (int)c);
	Clp_deleteModel(model);
	return outcome ? hd_error(HEDDLE_E_UNSUPPORTED, "CLP ends with status %d", outcome) : 0;
}

/* --- From the area to the LP and back ----------------------------------------------------------------------------- */

static int usable(const struct hd_area *a, size_t type, size_t c)
{
	return a->capacity[c] > 0 && !isnan(a->work[type * a->n_classes + c]);
}

static void put(struct lp *lp, size_t row, double value)
{
	lp->row[lp->n_values] = (int)row;
	lp->value[lp->n_values++] = value;
}

static void end_column(struct lp *lp)
{
	lp->start[++lp->n_columns] = lp->n_values;
}

static int allocate(struct lp *lp)
{
	const struct hd_area *a = lp->area;
	size_t n_rows = resources(a) + a->n_types, n_columns = 1 + a->n_types * a->n_classes;
	size_t n_values = resources(a) + 3 * a->n_types * a->n_classes;
	lp->start = calloc(n_columns + 1, sizeof *lp->start);
	lp->row = malloc((n_values + 1) * sizeof *lp->row);
	lp->value = malloc((n_values + 1) * sizeof *lp->value);
	lp->cost = calloc(n_columns, sizeof *lp->cost);
	lp->lowest = malloc((n_rows + 1) * sizeof *lp->lowest);
	lp->most = calloc(n_rows + 1, sizeof *lp->most);
	lp->price = calloc(a->n_classes + 2, sizeof *lp->price);
	int is_whole = lp->start && lp->row && lp->value && lp->cost && lp->lowest && lp->most && lp->price;
	return is_whole ? 0 : hd_no_memory("the area bound");
}

static void fill(struct lp *lp)
{
	const struct hd_area *a = lp->area;
	lp->cost[0] = 1;
	for (size_t c = 0; c < a->n_classes; c++)
		put(lp, c, -a->capacity[c]);
	if (a->n_cores > 0)
		put(lp, a->n_classes, -a->n_cores);
	end_column(lp);
	for (size_t c = 0; c < resources(a); c++)
		lp->lowest[c] = -DBL_MAX; /* there is no lower limit */
	for (size_t t = 0; t < a->n_types; t++) {
		lp->lowest[resources(a) + t] = lp->most[resources(a) + t] = 1;
		for (size_t c = 0; c < a->n_classes; c++) {
			if (!usable(a, t, c))
				continue;
			put(lp, c, a->work[t * a->n_classes + c] * lp->scale);
			if (a->n_cores > 0 && a->cores[c] > 0)
				put(lp, a->n_classes, a->cores[c] * a->work[t * a->n_classes + c] * lp->scale);
			put(lp, resources(a) + t, 1);
			end_column(lp);
		}
	}
}

/* Finds the prices of the resources; the caller frees *price. */
static int find_prices(const struct hd_area *area, double scale, double **price)
{
	struct lp *lp = calloc(1, sizeof *lp);
	if (!lp)
		return hd_no_memory("the area bound");
	lp->area = area;
	lp->scale = scale;
	int status = allocate(lp);
	if (!status) {
		fill(lp);
		status = hd_lp_run(solve, lp);
		if (status)
			hd_error_context(status, "the area bound of %zu types on %zu classes", area->n_types,
			                 area->n_classes);
	}
	if (status)
		free(lp->price);
	else
		*price = lp->price;
	free(lp->start);
	free(lp->row);
	free(lp->value);
	free(lp->cost);
	free(lp->lowest);
	free(lp->most);
	free(lp);
	return status;
}

/* --- Coarser types ------------------------------------------------------------------------------------------------ */

/* A hash that is equal for types that may be merged. It is a hash of the classes that can run the type, and of the
 * ratios between its times on them, whose logarithms are rounded to steps of `step`. */
static uint64_t ratio_hash(const struct hd_area *a, size_t type, double step)
{
	double least = INFINITY;
	uint64_t hash = 0;
	for (size_t c = 0; c < a->n_classes; c++)
		if (usable(a, type, c))
			least = fmin(least, a->work[type * a->n_classes + c]);
	for (size_t c = 0; c < a->n_classes; c++) {
		double work = a->work[type * a->n_classes + c];
		uint64_t level = UINT64_MAX;
		if (usable(a, type, c))
			level = work > least ? (uint64_t)llround(fmin(log(work / least) / step, 1e15)) : 0;
		hash = hd_hash(hash, level);
	}
	return hash;
}

/* Adds up, in `work`, the work of types with equal hashes. Returns the number of merged types; above MAX_LP_TYPES,
 * `step` is too small. If types with other ratios have the same hash, the prices are worse, but the bound is valid. */
static size_t merge(const struct hd_area *a, double step, double *work)
{
	enum { SLOTS = 4 * MAX_LP_TYPES };
	struct hd_table_slot slots[SLOTS] = {0};
	struct hd_table merged = {.slots = slots, .size = SLOTS};
	for (size_t t = 0; t < a->n_types; t++) {
		const double *from = a->work + t * a->n_classes;
		uint64_t key = ratio_hash(a, t, step);
		struct hd_table_slot *slot = hd_table_find(&merged, key);
		if (slot->value) {
			for (size_t c = 0; c < a->n_classes; c++)
				work[(slot->value - 1) * a->n_classes + c] += from[c];
			continue;
		}
		if (merged.used == MAX_LP_TYPES)
			return MAX_LP_TYPES + 1;
		memcpy(work + merged.used * a->n_classes, from, a->n_classes * sizeof *work);
		hd_table_fill(&merged, slot, key, merged.used);
	}
	return merged.used;
}

/* The bound that the prices prove, as the head of the file says. No price is negative; they need not be scaled. */
static double prove(const struct hd_area *a, const double *price)
{
	double whole = 0, bound = 0, of_core = a->n_cores > 0 ? price[a->n_classes] : 0;
	for (size_t c = 0; c < a->n_classes; c++)
		whole += price[c] * a->capacity[c];
	whole += of_core * a->n_cores;
	for (size_t t = 0; t < a->n_types && whole > 0; t++) {
		double least = INFINITY;
		for (size_t c = 0; c < a->n_classes; c++)
			if (usable(a, t, c))
				least = fmin(least, (price[c] + of_core * a->cores[c]) * a->work[t * a->n_classes + c]);
		bound += least;
	}
	return whole > 0 ? bound / whole : 0;
}

/* The factor that makes T about 1: one over the time of all work, if each type runs on its fastest class. */
static double scale_of(const struct hd_area *a)
{
	double sum = 0;
	for (size_t t = 0; t < a->n_types; t++) {
		double least = INFINITY;
		for (size_t c = 0; c < a->n_classes; c++)
			if (usable(a, t, c))
				least = fmin(least, a->work[t * a->n_classes + c] / a->capacity[c]);
		sum += least;
	}
	return sum > 0 ? 1 / sum : 0;
}

int hd_area_bound(const struct hd_area *area, double *prices, double *out)
{
	double scale = scale_of(area), *price = NULL;
	*out = 0;
	for (size_t i = 0; prices && i < resources(area); i++)
		prices[i] = 0;
	if (scale == 0)
		return 0; /* there is no type, or each takes no time on some class */
	struct hd_area coarse = *area;
	double *work = NULL;
	if (area->n_types > MAX_LP_TYPES) {
		work = malloc(MAX_LP_TYPES * area->n_classes * sizeof *work);
		if (!work)
			return hd_no_memory("the area bound");
		size_t n = MAX_LP_TYPES + 1;
		for (double step = 0x1p-10; n > MAX_LP_TYPES && step < COARSEST; step *= 2)
			n = merge(area, step, work);
		if (n <= MAX_LP_TYPES) {
			coarse.n_types = n;
			coarse.work = work;
		}
	}
	int status = find_prices(&coarse, scale, &price);
	if (!status)
		*out = prove(area, price);
	if (!status && prices)
		memcpy(prices, price, resources(area) * sizeof *prices);
	free(price);
	free(work);
	return status;
}
