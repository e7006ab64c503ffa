/* Plans: points become a tree, groups, and data of the runtime. */
#include <fmm/tasks/tasks.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HD_TEMPLATE <fmm/tasks/plan_template.h>
#include <fmm/kernels/precisions.h>

static int is_single(const struct heddle_fmm_plan *plan)
{
	return plan->options.precision == HEDDLE_FMM_SINGLE;
}

size_t hd_fmm_real_size(const struct heddle_fmm_plan *plan)
{
	return is_single(plan) ? sizeof(float) : sizeof(double);
}

size_t hd_fmm_stride(const struct heddle_fmm_plan *plan)
{
	return is_single(plan) ? plan->tables.s.stride : plan->tables.d.stride;
}

/* --- Options ------------------------------------------------------------------------------------------------------ */

enum { MOST_DIGITS = 8 };
/* The degree for digits 1, 2 ...: docs/fmm.md has the errors that were measured. In a periodic cube, the large cells of
 * levels 0 and 1 have far cells, too. */
static const int degrees[MOST_DIGITS + 1] = {0, 2, 3, 5, 6, 8, 11, 14, 18};
static const int degrees_periodic[MOST_DIGITS + 1] = {0, 3, 4, 6, 7, 9, 12, 16, 20};

/* Targets that are no sources may have nothing near, and all that they see has the error of far cells. */
enum { MORE_WITHOUT_NEAR = 4 };

static int degree_for(const struct heddle_fmm_options *o, int has_targets)
{
	int degree = (o->periodic > 0 && !has_targets ? degrees_periodic : degrees)[o->digits] +
	             (has_targets ? MORE_WITHOUT_NEAR : 0);
	int most = o->precision == HEDDLE_FMM_SINGLE ? HD_FMM_MOST_DEGREE_SINGLE : HD_FMM_MOST_DEGREE;
	return o->degree ? o->degree : degree < most ? degree : most;
}

static int default_digits(enum heddle_fmm_precision precision)
{
	return precision == HEDDLE_FMM_SINGLE ? 4 : 6;
}

static int most_digits(enum heddle_fmm_precision precision)
{
	return precision == HEDDLE_FMM_SINGLE ? 5 : MOST_DIGITS;
}

static int settle(struct heddle_fmm_options *o)
{
	if ((unsigned)o->precision > HEDDLE_FMM_SINGLE || (unsigned)o->pairs > HEDDLE_FMM_MUTUAL)
		return heddle_error(HEDDLE_E_INVALID, "options.precision or options.pairs is none of its enumeration");
	o->digits = o->digits ? o->digits : default_digits(o->precision);
	o->task_us = o->task_us != 0 ? o->task_us : 1500;
	if (o->digits < 1 || o->digits > most_digits(o->precision))
		return heddle_error(HEDDLE_E_INVALID, "options.digits is %d: %s precision has 1 to %d", o->digits,
		                    o->precision == HEDDLE_FMM_SINGLE ? "single" : "double", most_digits(o->precision));
	int most = o->precision == HEDDLE_FMM_SINGLE ? HD_FMM_MOST_DEGREE_SINGLE : HD_FMM_MOST_DEGREE;
	if (o->degree < 0 || o->degree > most)
		return heddle_error(HEDDLE_E_INVALID,
		                    "options.degree is %d: it is 0, for the degree that the digits need, or 1 to %d",
		                    o->degree, most);
	if (!((o->cells == 0 || o->cells >= 1) && o->cells <= 1 << HD_FMM_MOST_DEPTH && o->task_us > 0))
		return heddle_error(HEDDLE_E_INVALID,
		                    "options.cells is %g and options.task_us %g: cells is 0, or 1 to %d, and "
		                    "task_us positive",
		                    o->cells, o->task_us, 1 << HD_FMM_MOST_DEPTH);
	if (!(o->periodic == 0 || (o->periodic >= HD_FMM_LEAST_EXTENT && isfinite(o->periodic))))
		return heddle_error(HEDDLE_E_INVALID,
		                    "options.periodic is %g: it is 0, or the side of the periodic cube, at least %g",
		                    o->periodic, HD_FMM_LEAST_EXTENT);
	return 0;
}

/* us on a core with AVX-512 (docs/fmm.md): they decide how deep trees are and how tasks are cut, everywhere alike, so
 * that results do not depend on the machine's speed. */
static struct hd_fmm_costs costs_of(const struct heddle_fmm_options *o, int degree)
{
	double terms = (double)hd_fmm_terms(degree);
	int single = o->precision == HEDDLE_FMM_SINGLE;
	double rate = single ? 90e3 : 45e3, pairs = single ? 3500 : 1500;
	return (struct hd_fmm_costs){.pair = 1 / pairs,
	                             .translation = 0.02 + 2 * terms * terms / rate + terms * 4e-4,
	                             .particle = 0.01 + terms * 3e-4,
	                             .cell = 0.5,
	                             .lanes = single ? 16 : 8};
}

/* --- Points ------------------------------------------------------------------------------------------------------- */

/* Coordinates of all points, in double precision: sources, then targets. */
static int read_points(const struct heddle_fmm_plan *plan, const struct heddle_fmm_points *points, const char *what,
                       double *out)
{
	for (size_t i = 0; i < 3 * points->n; i++) {
		out[i] = is_single(plan) ? (double)((const float *)points->xyz)[i] : ((const double *)points->xyz)[i];
		if (!isfinite(out[i]))
			return heddle_error(HEDDLE_E_INVALID,
			                    "%s %zu has %s as its coordinate %c (points are counted from 0)", what,
			                    i / 3, isnan(out[i]) ? "NaN" : "an infinite value", "xyz"[i % 3]);
	}
	return 0;
}

static int check_points(const struct heddle_fmm_points *points)
{
	if (points->n > 0 && !points->xyz)
		return heddle_error(HEDDLE_E_INVALID, "%zu points without coordinates: points.xyz is NULL", points->n);
	if (points->n >= UINT32_MAX)
		return heddle_error(HEDDLE_E_UNSUPPORTED, "%zu points: at most 2^32 - 2 are possible", points->n);
	return 0;
}

/* Where a periodic cube begins is free. Expansions converge slowly at the corners of cells, and so the points' mean, on
 * a circle as long as the side, comes to a third of the cube: at each level, this is a third or two thirds of a cell. A
 * few thousand points tell the mean. The points of a crystal have none, but often the coordinate 0. */
static void choose_corner(const double *xyz, size_t n, double side, double corner[3])
{
	size_t step = n / 4096 + 1;
	for (size_t c = 0; c < 3; c++) {
		double x = 0, y = 0;
		for (size_t i = 0; i < n; i += step) {
			double angle = 2 * M_PI * (fmod(xyz[3 * i + c], side) / side);
			x += cos(angle);
			y += sin(angle);
		}
		int has_mean = hypot(x, y) > 1e-8 * (double)(n / step);
		corner[c] = side * ((has_mean ? atan2(y, x) / (2 * M_PI) : 0) - 1.0 / 3);
	}
}

/* Brings all points into the cube from 0 to its side, and notes where the sources are in it. */
static int wrap(struct heddle_fmm_plan *plan, double *xyz, size_t n)
{
	double side = plan->options.periodic, corner[3];
	choose_corner(xyz, n, side, corner);
	plan->squares = calloc(plan->statistics.sources + 1, sizeof *plan->squares);
	if (!plan->squares)
		return hd_fmm_no_memory("the coordinates of points");
	for (size_t i = 0; i < 3 * n; i++) {
		double x = fmod(fmod(xyz[i], side) - corner[i % 3], side);
		xyz[i] = x < 0 ? x + side : x;
	}
	for (size_t i = 0; i < 3 * plan->statistics.sources; i++)
		plan->squares[i / 3] += (xyz[i] / side - 0.5) * (xyz[i] / side - 0.5);
	return 0;
}

static int choose_box(struct heddle_fmm_plan *plan, double *xyz, size_t n)
{
	if (plan->options.periodic > 0) {
		plan->box = hd_fmm_box_periodic(plan->options.periodic, plan->options.cells);
		return wrap(plan, xyz, n);
	}
	int status = hd_fmm_box_choose(&plan->box, &plan->costs, xyz, n, plan->options.cells);
	if (status < 0)
		return hd_fmm_no_memory("sorting points");
	if (!isfinite(plan->box.extent) || !isfinite(plan->box.leaf_side))
		return heddle_error(HEDDLE_E_INVALID, "the points lie too far apart for numbers in double precision");
	return 0;
}

/* Leaves are cut where sources and targets together are many, so that the trees fit each other. */
static int make_trees(struct heddle_fmm_plan *plan, const double *xyz, size_t n_targets)
{
	size_t n = plan->statistics.sources, all = n + n_targets;
	struct hd_fmm_sorted *sorted = plan->options.cells > 0 || plan->box.extent < HD_FMM_LEAST_EXTENT
	                                   ? hd_fmm_sort(&plan->box, xyz, all)
	                                   : hd_fmm_sort_into_leaves(&plan->box, &plan->costs, xyz, all);
	int depth = plan->box.depth, status = sorted ? 0 : -1;
	if (status == 0)
		status = hd_fmm_tree_make(&plan->sources.tree, depth, sorted, all, (struct hd_fmm_particles){0, n});
	if (status == 0 && plan->has_targets)
		status =
		    hd_fmm_tree_make(&plan->targets.tree, depth, sorted, all, (struct hd_fmm_particles){n, n_targets});
	free(sorted);
	if (status == 0)
		status = hd_fmm_near_make(&plan->near, hd_fmm_targets(plan), &plan->sources.tree, plan->box.periodic);
	if (status == 0)
		status = hd_fmm_groups_make(plan);
	return status == 0 ? 0 : hd_fmm_no_memory("the tree of a fast multipole method");
}

static int make_places(struct heddle_fmm_plan *plan, struct hd_fmm_side *side, const double *xyz)
{
	side->at = calloc(3 * hd_fmm_slots(&side->tree) + 1, hd_fmm_real_size(plan));
	if (!side->at)
		return hd_fmm_no_memory("the coordinates of points");
	for (int level = 0; level <= plan->box.depth; level++)
		for (size_t g = 0; g < side->groups[level].n; g++)
			if (is_single(plan))
				hd_fmm_s_place_points(&plan->box, side, level, g, xyz);
			else
				hd_fmm_d_place_points(&plan->box, side, level, g, xyz);
	return 0;
}

static int make_tables(struct heddle_fmm_plan *plan)
{
	int status = is_single(plan) ? hd_fmm_s_tables_make(&plan->tables.s, plan->degree, plan->counting)
	                             : hd_fmm_d_tables_make(&plan->tables.d, plan->degree, plan->counting);
	if (status == 0 && plan->box.periodic)
		status = is_single(plan) ? hd_fmm_s_tables_add_images(&plan->tables.s)
		                         : hd_fmm_d_tables_add_images(&plan->tables.d);
	return status == 0 ? 0 : hd_fmm_no_memory("the matrices of translations");
}

static int make(struct heddle_fmm_plan *plan, const struct heddle_fmm_points *sources,
                const struct heddle_fmm_points *targets)
{
	size_t n_targets = targets ? targets->n : 0;
	double *xyz = malloc((3 * (sources->n + n_targets) + 1) * sizeof *xyz);
	plan->has_targets = targets != NULL;
	plan->statistics.sources = sources->n;
	plan->statistics.targets = targets ? n_targets : sources->n;
	int status = xyz ? read_points(plan, sources, targets ? "source" : "point", xyz)
	                 : hd_fmm_no_memory("the coordinates of points");
	if (status == 0 && targets)
		status = read_points(plan, targets, "target", xyz + 3 * sources->n);
	status = status ? status : choose_box(plan, xyz, sources->n + n_targets);
	status = status ? status : make_trees(plan, xyz, n_targets);
	status = status ? status : make_places(plan, &plan->sources, xyz);
	if (status == 0 && targets)
		status = make_places(plan, &plan->targets, xyz + 3 * sources->n);
	free(xyz);
	status = status ? status : make_tables(plan);
	return status ? status : hd_fmm_register_data(plan);
}

/* --- The interface ------------------------------------------------------------------------------------------------ */

static double seconds_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int create(struct heddle_fmm *fmm, const struct heddle_fmm_points *sources,
                  const struct heddle_fmm_points *targets, const struct heddle_fmm_options *options, int counting,
                  struct heddle_fmm_plan **out)
{
	double begin = seconds_now();
	if (!fmm || !sources || !out)
		return heddle_error(HEDDLE_E_INVALID,
		                    "heddle_fmm_plan_create needs what heddle_fmm_open has made, sources, and a "
		                    "place for its result");
	struct heddle_fmm_plan *plan = calloc(1, sizeof *plan);
	if (!plan)
		return hd_fmm_no_memory("a plan of the fast multipole method");
	plan->fmm = fmm;
	plan->counting = counting;
	plan->options = options ? *options : (struct heddle_fmm_options){.digits = 0};
	int status = settle(&plan->options);
	if (status == 0 && targets && plan->options.pairs == HEDDLE_FMM_MUTUAL)
		status = heddle_error(HEDDLE_E_INVALID, "mutual pairs need sources that are the targets");
	status = status ? status : check_points(sources);
	if (status == 0 && targets)
		status = check_points(targets);
	if (status == 0) {
		plan->degree = counting ? 0 : degree_for(&plan->options, targets != NULL);
		plan->costs = costs_of(&plan->options, plan->degree);
		status = make(plan, sources, targets);
	}
	if (status) {
		heddle_fmm_plan_destroy(plan);
		return status;
	}
	hd_fmm_describe(plan);
	plan->statistics.seconds = seconds_now() - begin;
	*out = plan;
	return 0;
}

int heddle_fmm_plan_create(heddle_fmm *fmm, const struct heddle_fmm_points *sources,
                           const struct heddle_fmm_points *targets, const struct heddle_fmm_options *options,
                           heddle_fmm_plan **out)
{
	return create(fmm, sources, targets, options, 0, out);
}

int hd_fmm_plan_counting(struct heddle_fmm *fmm, const struct heddle_fmm_points *sources,
                         const struct heddle_fmm_points *targets, const struct heddle_fmm_options *options,
                         struct heddle_fmm_plan **out)
{
	return create(fmm, sources, targets, options, 1, out);
}

struct heddle_fmm_statistics heddle_fmm_plan_statistics(const heddle_fmm_plan *plan)
{
	return plan ? plan->statistics : (struct heddle_fmm_statistics){.sources = 0};
}

int heddle_fmm_plan_destroy(heddle_fmm_plan *plan)
{
	if (!plan)
		return 0;
	int status = hd_fmm_unregister_data(plan);
	if (status)
		return status;
	hd_fmm_groups_free(plan);
	hd_fmm_near_free(&plan->near);
	hd_fmm_tree_free(&plan->sources.tree);
	hd_fmm_tree_free(&plan->targets.tree);
	free(plan->near_lists);
	free(plan->squares);
	free(plan->sources.at);
	free(plan->targets.at);
	if (is_single(plan))
		hd_fmm_s_tables_free(&plan->tables.s);
	else
		hd_fmm_d_tables_free(&plan->tables.d);
	free(plan);
	return 0;
}

int heddle_fmm_compute(heddle_fmm *fmm, const struct heddle_fmm_points *points, const void *charges, void *potential,
                       void *gradient, const struct heddle_fmm_options *options)
{
	heddle_fmm_plan *plan;
	/* asked first: a plan that the call cannot wait for could not be destroyed */
	int status = fmm ? heddle_may_wait(fmm->rt) : 0;
	status = status ? status : heddle_fmm_plan_create(fmm, points, NULL, options, &plan);
	if (status)
		return status;
	status = heddle_fmm_evaluate(plan, charges, potential, gradient);
	int ended = heddle_fmm_plan_destroy(plan);
	return status ? status : ended;
}
