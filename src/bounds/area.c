/* The area bound, a linear program: divide the tasks of each type among the classes so that the shares of each type add
 * up to 1 and no class c has more than T * capacity[c] of work, and minimise T (Agullo, Beaumont, Eyraud-Dubois, Kumar,
 * "Are static schedules so bad? A case study on Cholesky factorization", IPDPS 2016).
 *
 * Workers of several partitions have cores in common: then the work of their classes, in time of cores, is no more than
 * T * n_cores either. That is one more condition, and p[cores] the price of a core's time, which a class pays as well.
 *
 * The result is not GLPK's optimum but what its dual values prove. These are prices p[c] of a class's time, and for any
 * prices p >= 0 with sum p[c] * capacity[c] = 1, the sum over types of min over classes of p[c] * work[c] is a lower
 * bound. At the optimum it equals T. It is a valid bound whatever GLPK's tolerances are, and also with prices from a
 * coarser problem. So when there are very many types, similar ones are merged before GLPK solves the program. */
#include <glpk.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "bounds/internal.h"

/* with more types, those whose times have similar ratios between classes are merged, so that GLPK takes little time */
#define MAX_LP_TYPES 512
/* largest step of log(ratio): types that can run on the same classes are all merged then */
#define COARSEST 1024.0

struct lp {
	const struct hd_area *area; /* borrows */
	double scale;
	int *row, *column; /* own; of each coefficient, counted from 1 as GLPK does */
	double *value;     /* owns */
	int n_values, n_columns;
	double *price; /* owns; the result: per resource */
};

/* Classes, and cores if there are any that classes share. */
static size_t resources(const struct hd_area *a)
{
	return a->n_classes + (a->n_cores > 0);
}

/* --- GLPK --------------------------------------------------------------------------------------------------------- */

/* Columns: 1 is T, then one per share. Rows: one per resource, that is per class, and cores; then one per type. */
static void build(struct lp *lp, glp_prob *problem)
{
	const struct hd_area *a = lp->area;
	int n_resources = (int)resources(a), n_types = (int)a->n_types;
	glp_set_obj_dir(problem, GLP_MIN);
	glp_add_rows(problem, n_resources + n_types);
	glp_add_cols(problem, lp->n_columns);
	glp_set_obj_coef(problem, 1, 1);
	for (int j = 1; j <= lp->n_columns; j++)
		glp_set_col_bnds(problem, j, GLP_LO, 0, 0);
	for (int i = 1; i <= n_resources; i++)
		glp_set_row_bnds(problem, i, GLP_UP, 0, 0);
	for (int i = 1; i <= n_types; i++)
		glp_set_row_bnds(problem, n_resources + i, GLP_FX, 1, 1);
	glp_load_matrix(problem, lp->n_values, lp->row, lp->column, lp->value);
}

static int solve(void *arg)
{
	struct lp *lp = arg;
	glp_prob *problem = glp_create_prob();
	build(lp, problem);
	glp_smcp parameters;
	glp_init_smcp(&parameters);
	parameters.msg_lev = GLP_MSG_OFF;
	parameters.meth = GLP_DUALP; /* the dual simplex, because T = 0 is dual feasible at the start */
	int code = glp_simplex(problem, &parameters);
	for (size_t c = 0; c < resources(lp->area) && code == 0; c++)
		lp->price[c] = fmax(0, -glp_get_row_dual(problem, (int)c + 1));
	glp_delete_prob(problem);
	return code ? hd_error(HEDDLE_E_UNSUPPORTED, "glp_simplex returned %d", code) : 0;
}

/* --- From the area to the LP and back ----------------------------------------------------------------------------- */

static int usable(const struct hd_area *a, size_t type, size_t c)
{
	return a->capacity[c] > 0 && !isnan(a->work[type * a->n_classes + c]);
}

static void put(struct lp *lp, size_t row, int column, double value)
{
	lp->n_values++;
	lp->row[lp->n_values] = (int)row + 1;
	lp->column[lp->n_values] = column;
	lp->value[lp->n_values] = value;
}

static int fill(struct lp *lp)
{
	const struct hd_area *a = lp->area;
	size_t room = 1 + resources(a) + 3 * a->n_types * a->n_classes;
	lp->row = malloc(room * sizeof *lp->row);
	lp->column = malloc(room * sizeof *lp->column);
	lp->value = malloc(room * sizeof *lp->value);
	lp->price = calloc(a->n_classes + 2, sizeof *lp->price);
	if (!lp->row || !lp->column || !lp->value || !lp->price)
		return hd_no_memory("the area bound");
	lp->n_columns = 1;
	for (size_t c = 0; c < a->n_classes; c++)
		put(lp, c, 1, -a->capacity[c]);
	if (a->n_cores > 0)
		put(lp, a->n_classes, 1, -a->n_cores);
	for (size_t t = 0; t < a->n_types; t++) {
		for (size_t c = 0; c < a->n_classes; c++) {
			if (!usable(a, t, c))
				continue;
			lp->n_columns++;
			put(lp, c, lp->n_columns, a->work[t * a->n_classes + c] * lp->scale);
			if (a->n_cores > 0 && a->cores[c] > 0)
				put(lp, a->n_classes, lp->n_columns,
				    a->cores[c] * a->work[t * a->n_classes + c] * lp->scale);
			put(lp, resources(a) + t, lp->n_columns, 1);
		}
	}
	return 0;
}

/* Finds the prices of the classes' time; the caller frees *price. */
static int find_prices(const struct hd_area *area, double scale, double **price)
{
	struct lp *lp = calloc(1, sizeof *lp);
	if (!lp)
		return hd_no_memory("the area bound");
	lp->area = area;
	lp->scale = scale;
	int status = fill(lp);
	if (!status && (status = hd_lp_run(solve, lp)))
		hd_error_context(status, "the area bound of %zu types on %zu classes", area->n_types, area->n_classes);
	if (status)
		free(lp->price);
	else
		*price = lp->price;
	free(lp->row);
	free(lp->column);
	free(lp->value);
	free(lp);
	return status;
}

/* --- Coarser types ------------------------------------------------------------------------------------------------ */

/* A hash of what must be equal for two types to be merged: which classes can run them, and the ratios between the
 * classes' times, rounded to steps of `step` in the logarithm. */
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
	return hash ? hash : 1;
}

/* Adds up the work of types with equal hashes in `work`. Returns how many merged types there are; more than
 * MAX_LP_TYPES means that `step` is too small. If different ratios have the same hash, the prices are worse but the
 * bound is valid. */
static size_t merge(const struct hd_area *a, double step, double *work)
{
	enum { SLOTS = 4 * MAX_LP_TYPES };
	uint64_t keys[SLOTS] = {0};
	size_t index[SLOTS], n = 0;
	for (size_t t = 0; t < a->n_types; t++) {
		const double *from = a->work + t * a->n_classes;
		uint64_t key = ratio_hash(a, t, step);
		size_t slot = key % SLOTS;
		while (keys[slot] && keys[slot] != key)
			slot = (slot + 1) % SLOTS;
		if (keys[slot]) {
			for (size_t c = 0; c < a->n_classes; c++)
				work[index[slot] * a->n_classes + c] += from[c];
			continue;
		}
		if (n == MAX_LP_TYPES)
			return n + 1;
		memcpy(work + n * a->n_classes, from, a->n_classes * sizeof *work);
		keys[slot] = key;
		index[slot] = n++;
	}
	return n;
}

/* The bound that the prices prove: see the head of the file. No price is negative; the prices need not be scaled. */
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

/* The factor for all times that makes T about 1: one over the time of all work, each type on its fastest class. */
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

int hd_area_bound(const struct hd_area *area, double *out)
{
	double scale = scale_of(area), *price = NULL;
	*out = 0;
	if (scale == 0)
		return 0; /* no types, or each takes no time on some class */
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
	free(price);
	free(work);
	return status;
}
