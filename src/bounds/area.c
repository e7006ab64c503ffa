/* The area bound: minimise T such that the shares of each type sum to 1 and no class c gets more than T * workers[c] of
 * work (Agullo, Beaumont, Eyraud-Dubois, Kumar, "Are static schedules so bad? A case study on Cholesky factorization",
 * IPDPS 2016, and before that every bound for heterogeneous machines).
 *
 * What comes out is not GLPK's optimum but the dual bound that its dual values, the prices p[c] of a class's time,
 * prove: sum over types of min over classes of p[c] * work[c], for any p >= 0 with sum p[c] * workers[c] = 1. At the
 * optimum the two are equal; and the proof holds whatever GLPK's tolerances, and for prices found on a coarser problem
 * too, which is what keeps the LP small when a million tasks have a million sizes. */
#include <glpk.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "bounds/internal.h"

#define MAX_LP_TYPES 512 /* beyond, types whose classes compare alike are merged: solved in a few ms */
#define COARSEST \
	1024.0 /* step of log(ratio) where only the classes that can do a type still tell it apart: no use to go on */

struct lp {
	const struct hd_area *area; /* borrows */
	double scale;
	int *row, *column; /* own; 1-based, as GLPK wants them, of the coefficients */
	double *value;     /* owns */
	int n_values, n_columns;
	double *price; /* owns; out */
};

/* --- GLPK --------------------------------------------------------------------------------------------------------- */

/* Columns: 1 is T, then one per share. Rows: one per class, then one per type. */
static void build(struct lp *lp, glp_prob *problem)
{
	const struct hd_area *a = lp->area;
	int n_classes = (int)a->n_classes, n_types = (int)a->n_types;
	glp_set_obj_dir(problem, GLP_MIN);
	glp_add_rows(problem, n_classes + n_types);
	glp_add_cols(problem, lp->n_columns);
	glp_set_obj_coef(problem, 1, 1);
	for (int j = 1; j <= lp->n_columns; j++)
		glp_set_col_bnds(problem, j, GLP_LO, 0, 0);
	for (int i = 1; i <= n_classes; i++)
		glp_set_row_bnds(problem, i, GLP_UP, 0, 0);
	for (int i = 1; i <= n_types; i++)
		glp_set_row_bnds(problem, n_classes + i, GLP_FX, 1, 1);
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
	parameters.meth = GLP_DUALP; /* T = 0 is dual feasible from the start */
	int code = glp_simplex(problem, &parameters);
	for (size_t c = 0; c < lp->area->n_classes && code == 0; c++)
		lp->price[c] = fmax(0, -glp_get_row_dual(problem, (int)c + 1));
	glp_delete_prob(problem);
	return code ? hd_error(HEDDLE_E_UNSUPPORTED, "glp_simplex returned %d", code) : 0;
}

/* --- From the area to the LP and back ----------------------------------------------------------------------------- */

static int usable(const struct hd_area *a, size_t type, size_t c)
{
	return a->workers[c] > 0 && !isnan(a->work[type * a->n_classes + c]);
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
	size_t room = 1 + a->n_classes + 2 * a->n_types * a->n_classes;
	lp->row = malloc(room * sizeof *lp->row);
	lp->column = malloc(room * sizeof *lp->column);
	lp->value = malloc(room * sizeof *lp->value);
	lp->price = calloc(a->n_classes + 1, sizeof *lp->price);
	if (!lp->row || !lp->column || !lp->value || !lp->price)
		return hd_no_memory("the area bound");
	lp->n_columns = 1;
	for (size_t c = 0; c < a->n_classes; c++)
		put(lp, c, 1, -a->workers[c]);
	for (size_t t = 0; t < a->n_types; t++) {
		for (size_t c = 0; c < a->n_classes; c++) {
			if (!usable(a, t, c))
				continue;
			lp->n_columns++;
			put(lp, c, lp->n_columns, a->work[t * a->n_classes + c] * lp->scale);
			put(lp, a->n_classes + t, lp->n_columns, 1);
		}
	}
	return 0;
}

/* Prices of the classes' time; the caller frees *price. */
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

/* What must agree for two types to be merged: which classes can do them, and how these compare, in steps of `step`. */
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

/* Adds types up by their ratios into `work`; returns how many there are then, or more than MAX_LP_TYPES. Were two
 * ratios to have one hash, only the prices would be worse. */
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

/* The value of prices: see the head of the file. Negative ones have been made 0; the scale does not matter. */
static double prove(const struct hd_area *a, const double *price)
{
	double whole = 0, bound = 0;
	for (size_t c = 0; c < a->n_classes; c++)
		whole += price[c] * a->workers[c];
	for (size_t t = 0; t < a->n_types && whole > 0; t++) {
		double least = INFINITY;
		for (size_t c = 0; c < a->n_classes; c++)
			if (usable(a, t, c))
				least = fmin(least, price[c] * a->work[t * a->n_classes + c]);
		bound += least;
	}
	return whole > 0 ? bound / whole : 0;
}

/* One over the work there is when every class does what it does best: T comes out near 1. */
static double scale_of(const struct hd_area *a)
{
	double sum = 0;
	for (size_t t = 0; t < a->n_types; t++) {
		double least = INFINITY;
		for (size_t c = 0; c < a->n_classes; c++)
			if (usable(a, t, c))
				least = fmin(least, a->work[t * a->n_classes + c] / a->workers[c]);
		sum += least;
	}
	return sum > 0 ? 1 / sum : 0;
}

int hd_area_bound(const struct hd_area *area, double *out)
{
	double scale = scale_of(area), *price = NULL;
	*out = 0;
	if (scale == 0)
		return 0; /* no types, or all of them free somewhere */
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
