/* Sums over all pairs of particles: the interface of libheddle-fmm, the fast multipole method over tasks.
 *
 *   potential(x) = sum of q_j / |x - y_j|       gradient(x) = - sum of q_j (x - y_j) / |x - y_j|^3
 *
 * for sources y_j with charges q_j, at each target x: the potential of Laplace's equation in three dimensions, and its
 * gradient. For gravity and electrostatics, multiply by the constant and the sign of the force. A source at the place
 * of a target contributes 0: so a particle does not act on itself. Points closer to each other than about 1e-15 times
 * the extent of all points count as one place.
 *
 *   heddle_fmm *fmm;
 *   heddle_fmm_open(rt, &fmm);
 *   heddle_fmm_compute(fmm, &points, q, potential, gradient, &(struct heddle_fmm_options){.digits = 6});
 *
 * or, for points that stay where they are while charges change:
 *
 *   heddle_fmm_plan *plan;
 *   heddle_fmm_plan_create(fmm, &points, NULL, NULL, &plan);
 *   heddle_fmm_evaluate(plan, q, potential, gradient);               again and again
 *   heddle_fmm_plan_destroy(plan);
 *
 * The method (Greengard, Rokhlin: A fast algorithm for particle simulations, 1987): the points lie in the leaves of an
 * octree, which are small where there are many. What neighbouring leaves cause is summed directly. What a cell causes
 * far away is a series, its multipole expansion, from which the local expansions of cells far from it follow. The time
 * grows with the number of points.
 *
 * With options.periodic, the points are in a cube that is repeated endlessly along all axes, and all images of a source
 * act on a target, also its own. The sums over images are Ewald's, with conducting ("tin-foil") boundaries: the
 * potential is periodic, has no field from the cube's dipole, and its mean over the cube is 0. Charges whose sum is not
 * 0 have a uniform background of the opposite charge, as masses do in cosmology. docs/fmm.md has the formulas.
 *
 * Errors are as in heddle.h: every function returns 0 or a negative status, and heddle_last_error() has the
 * sentence. Functions that wait are marked "Blocks": where heddle_may_wait refuses, as in a callback, they return its
 * error, and nothing has changed. Functions on different objects may be called by different threads at the same time.
 */
#ifndef HEDDLE_FMM_H
#define HEDDLE_FMM_H

#include <stddef.h>
#include <heddle/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heddle_fmm heddle_fmm;
typedef struct heddle_fmm_plan heddle_fmm_plan;

/* Makes the codelets, which live as long as the runtime: open once per runtime. heddle_dense_open is called inside
 * (heddle/dense.h), by which BLAS uses one thread. HEDDLE_E_INVALID, HEDDLE_E_MEMORY. */
int heddle_fmm_open(heddle_runtime *rt, heddle_fmm **out);
/* Call this when the plans are destroyed. `fmm` may be NULL. */
void heddle_fmm_close(heddle_fmm *fmm);

/* Of all coordinates, charges and results. Single precision gives 5 digits at most. */
enum heddle_fmm_precision { HEDDLE_FMM_DOUBLE, HEDDLE_FMM_SINGLE };

/* How tasks of the near field share the sums of their targets. */
enum heddle_fmm_pairs {
	/* one task for a group of targets: on cores, every schedule gives all bits of results alike */
	HEDDLE_FMM_ONE_SIDED,
	/* One task for two groups, which act on each other: tasks add to common sums in any order (HEDDLE_COMMUTE),
	 * as in TBFMM (Bramas: TBFMM: A C++ generic and parallel fast multipole method library, 2020), and the last
	 * bits of results depend on this order. Only where the targets are the sources. */
	HEDDLE_FMM_MUTUAL
};

/* A field that is 0 has its default, and NULL stands for all defaults. */
struct heddle_fmm_options {
	/* Digits of the results: the root of the mean square of the errors is below 10^-digits times the root of the
	 * mean square of sum |q_j| / r, and for gradients of sum |q_j| / r^2 (docs/fmm.md says where digits may be
	 * lost). 1 to 8; single precision: 1 to 5. 0: 6, single: 4 */
	int digits;
	enum heddle_fmm_precision precision;
	enum heddle_fmm_pairs pairs;
	/* of the expansions, instead of the degree that the digits need: 1 to 20; single precision: to 14 */
	int degree;
	/* Leaves of one size, so many along the longest axis, 1 to 65536. 0: leaves of the sizes that cost least by an
	 * estimate. */
	double cells;
	double task_us; /* the work of a task, by an estimate. 0: 1500 */
	/* The side of the periodic cube, at least 1e-290. Coordinates count modulo the side, so that the cube may lie
	 * anywhere. `cells`: along the side, rounded up to a power of two. 0: nothing is periodic. */
	double periodic;
};

/* n points: point i has the coordinates xyz[3 i], xyz[3 i + 1], xyz[3 i + 2], of the precision of the options. */
struct heddle_fmm_points {
	size_t n;
	const void *xyz;
};

/* Sorts the points into a tree, and registers the data of the tasks. Coordinates are copied. `targets` NULL: the
 * targets are the sources. Does not block. HEDDLE_E_INVALID: a coordinate is NaN or infinite, and the sentence names
 * the point, or an option is wrong; HEDDLE_E_UNSUPPORTED: 2^32 - 1 points, or more; HEDDLE_E_MEMORY. */
int heddle_fmm_plan_create(heddle_fmm *fmm, const struct heddle_fmm_points *sources,
                           const struct heddle_fmm_points *targets, const struct heddle_fmm_options *options,
                           heddle_fmm_plan **out);
/* Waits for the tasks of the plan, and frees it. `plan` may be NULL. Blocks. */
int heddle_fmm_plan_destroy(heddle_fmm_plan *plan);

/* Submits the tasks that compute the potential at each target, and its gradient, three numbers for each; NULL: it is
 * not wanted. Charges and results are in the program's order of the points. They must stay as they are until the tasks
 * have ended: wait by heddle_wait_all or a group. Does not block. HEDDLE_E_INVALID: a charge is NaN or infinite, and
 * the sentence names the point, or there are no charges. In virtual time nothing is computed: charges may be NULL, and
 * results that are not NULL are refused with HEDDLE_E_STATE. */
int heddle_fmm_evaluate_submit(heddle_fmm_plan *plan, const void *charges, void *potential, void *gradient);
/* heddle_fmm_evaluate_submit, then waits for the tasks and returns their first error. Blocks. */
int heddle_fmm_evaluate(heddle_fmm_plan *plan, const void *charges, void *potential, void *gradient);

/* A plan for the points, which are sources and targets, one evaluation, and the end of the plan. Blocks. */
int heddle_fmm_compute(heddle_fmm *fmm, const struct heddle_fmm_points *points, const void *charges, void *potential,
                       void *gradient, const struct heddle_fmm_options *options);

/* What is known of a plan before anything is computed. */
struct heddle_fmm_statistics {
	size_t sources, targets;
	int depth;            /* of the smallest leaves; 0: one cell */
	size_t leaves, cells; /* of the targets' tree that are not empty: leaves; cells of all levels */
	int degree;           /* of the expansions */
	size_t tasks;         /* of an evaluation */
	double pairs;         /* of particles, directly */
	double translations;  /* between far cells, each of 2 (degree + 1)^4 operations */
	double flops;         /* 20 for each pair, and 2 (degree + 1)^4 for each translation */
	double bytes;         /* of expansions, particles and results */
	double seconds;       /* that heddle_fmm_plan_create has taken */
};
struct heddle_fmm_statistics heddle_fmm_plan_statistics(const heddle_fmm_plan *plan);

/* Makes the method known as the application "fmm" (heddle/application.h): `heddle run fmm`. */
int heddle_fmm_register(void);

#ifdef __cplusplus
}
#endif
#endif
