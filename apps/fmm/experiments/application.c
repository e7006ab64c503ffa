/* The fast multipole method as an application of the command (heddle/application.h): heddle run fmm --particles 1e6.
 *
 * What is checked is a direct sum at a few hundred points: the larger of the errors of the potential and of the
 * gradient (struct hd_fmm_errors), in units of the error that was asked for. In a periodic cube, it is Ewald's sum. */
#include <fmm/experiments/points.h>
#include <fmm/tasks/tasks.h>
#include <heddle/application.h>
#include <heddle/fmm.h>
#include <heddle/status.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

enum { FILE_NAME = 256, SAMPLES = 200 };

/* The options of the application. */
struct problem {
	size_t particles;
	int distribution; /* enum hd_fmm_distribution */
	char file[FILE_NAME];
	size_t digits, degree;
	int precision, pairs; /* of heddle/fmm.h */
	double leaves, task_us, periodic;
	int priorities, gpu_pairs, gpu_far, models; /* of struct hd_fmm_assumed */
	size_t seed;
};
_Static_assert(sizeof(struct problem) <= HEDDLE_PARAMETERS_MAX, "the command has room for a problem");

/* --- Options ------------------------------------------------------------------------------------------------------ */

static const struct heddle_word distributions[] = {{"cube", HD_FMM_CUBE},       {"sphere", HD_FMM_SPHERE},
                                                   {"plummer", HD_FMM_PLUMMER}, {"line", HD_FMM_LINE},
                                                   {"file", HD_FMM_FILE},       {NULL, 0}};
static const struct heddle_word precisions[] = {{"double", HEDDLE_FMM_DOUBLE},
                                                {"d", HEDDLE_FMM_DOUBLE},
                                                {"single", HEDDLE_FMM_SINGLE},
                                                {"s", HEDDLE_FMM_SINGLE},
                                                {NULL, 0}};
static const struct heddle_word ways_of_pairs[] = {
    {"one-sided", HEDDLE_FMM_ONE_SIDED}, {"mutual", HEDDLE_FMM_MUTUAL}, {NULL, 0}};
static const struct heddle_word orders[] = {{"tree", 0}, {"none", 1}, {NULL, 0}};
static const struct heddle_word kernels_of_pairs[] = {
    {"cpu", HD_FMM_NO_GPU}, {"blocks", HD_FMM_BLOCKS}, {"full", HD_FMM_FULL}, {NULL, 0}};
static const struct heddle_word kernels_of_far[] = {{"cpu", 0}, {"gpu", 1}, {NULL, 0}};
static const struct heddle_word ways_of_models[] = {{"work", 0}, {"size", 1}, {NULL, 0}};

#define FIELD(field) offsetof(struct problem, field)
#define WORD(name, field, words, value, shown, help)                                          \
	{                                                                                     \
		name, HEDDLE_PARAMETER_WORD, FIELD(field), value, help, 0, 0, words, 0, shown \
	}
static const struct heddle_parameter parameters[] = {
    {"particles", HEDDLE_PARAMETER_SIZE, FIELD(particles), "100000", "How many particles", 1, 4e9, NULL, 0, 1},
    WORD("distribution", distribution, distributions, "cube", 1,
         "Where they are: in a cube, on a sphere, as in Plummer's model, on a line, or in a --file"),
    {"file", HEDDLE_PARAMETER_TEXT, FIELD(file), "", "Of --distribution file: x y z q in each line", 0, FILE_NAME, NULL,
     0, 0},
    {"digits", HEDDLE_PARAMETER_SIZE, FIELD(digits), "6", "Digits of the results", 1, 8, NULL, 0, 1},
    WORD("precision", precision, precisions, "double", 1, "Double or single precision, which has 5 digits at most"),
    WORD("pairs", pairs, ways_of_pairs, "one-sided", 0,
         "Tasks of the near field: one-sided, or mutual, which commute, as tasks of TBFMM"),
    {"degree", HEDDLE_PARAMETER_SIZE, FIELD(degree), "0", "Degree of the expansions; 0: what the digits need", 1, 20,
     NULL, 0, 0},
    {"leaves", HEDDLE_PARAMETER_REAL, FIELD(leaves), "0",
     "Leaves of one size, so many along an axis; 0: of the sizes that cost least", 0, 65536, NULL, 0, 0},
    {"task-us", HEDDLE_PARAMETER_REAL, FIELD(task_us), "1500", "Work of a task, in us on a core", 1, 1e9, NULL, 0, 0},
    {"periodic", HEDDLE_PARAMETER_REAL, FIELD(periodic), "0", "Side of a periodic cube; 0: nothing is periodic", 0,
     1e300, NULL, 0, 0},
    WORD("priorities", priorities, orders, "tree", 0,
         "Of tasks: P2M first, then M2M, M2L, L2L, P2P, L2P as in the tree, or none"),
    WORD("p2p", gpu_pairs, kernels_of_pairs, "cpu", 0,
         "Virtual time: P2P on cores alone, or also on GPUs, by a kernel with 256 threads for each leaf, as TBFMM's "
         "(blocks), or by one all of whose threads have work (full)"),
    WORD("m2l", gpu_far, kernels_of_far, "cpu", 0,
         "Virtual time: M2L on cores alone, or also on GPUs, as long as gemm"),
    WORD("models", models, ways_of_models, "work", 0,
         "Virtual time: whether models know the work of a task, or only the size of its data"),
    {"seed", HEDDLE_PARAMETER_SIZE, FIELD(seed), "0", "Seed of the particles", 0, 0x1p63, NULL, 0, 0},
    {.name = NULL},
};

static int settle(const struct heddle_application *app, void *options)
{
	struct problem *p = options;
	(void)app;
	if ((p->distribution == HD_FMM_FILE) != (p->file[0] != 0))
		return heddle_error(HEDDLE_E_INVALID, "--file PATH and --distribution file need each other");
	if (p->precision == HEDDLE_FMM_SINGLE && p->digits > 5)
		return heddle_error(HEDDLE_E_INVALID, "--digits %zu: single precision has 5 at most", p->digits);
	return 0;
}

/* --- Runs --------------------------------------------------------------------------------------------------------- */

struct experiment {
	heddle_fmm *fmm;
	heddle_fmm_plan *plan;
	struct problem problem;
	int simulated;
	size_t n;
	double *xyz, *charges; /* owns */
	void *given, *results; /* owns; charges, and then potentials and gradients, in the precision of the problem */
};

static size_t real_size(const struct experiment *e)
{
	return e->problem.precision == HEDDLE_FMM_SINGLE ? sizeof(float) : sizeof(double);
}

static void *result(const struct experiment *e, size_t first)
{
	return e->results ? (char *)e->results + first * e->n * real_size(e) : NULL;
}

/* The numbers in the precision of the problem, and in `x` what is left of their digits. NULL: out of memory. */
static void *rounded(const struct experiment *e, double *x, size_t n)
{
	void *out = malloc(n * real_size(e) + 1);
	for (size_t i = 0; out && i < n; i++)
		if (e->problem.precision == HEDDLE_FMM_SINGLE)
			x[i] = ((float *)out)[i] = (float)x[i];
		else
			((double *)out)[i] = x[i];
	return out;
}

static int no_memory(void)
{
	return heddle_error(HEDDLE_E_MEMORY, "no memory for particles");
}

static int make_particles(struct experiment *e)
{
	const struct problem *p = &e->problem;
	if (p->distribution == HD_FMM_FILE)
		return hd_fmm_read_points(p->file, &e->n, &e->xyz, &e->charges);
	e->n = p->particles;
	e->xyz = malloc(3 * e->n * sizeof *e->xyz);
	e->charges = malloc(e->n * sizeof *e->charges);
	if (!e->xyz || !e->charges)
		return no_memory();
	hd_fmm_make_points((enum hd_fmm_distribution)p->distribution, e->n, p->seed, e->xyz);
	for (size_t i = 0; i < e->n; i++)
		e->charges[i] = 1 / (double)e->n;
	return 0;
}

static int make_plan(struct experiment *e)
{
	const struct problem *p = &e->problem;
	const struct heddle_fmm_options options = {.digits = (int)p->digits,
	                                           .precision = (enum heddle_fmm_precision)p->precision,
	                                           .pairs = (enum heddle_fmm_pairs)p->pairs,
	                                           .degree = (int)p->degree,
	                                           .cells = p->leaves,
	                                           .task_us = p->task_us,
	                                           .periodic = p->periodic};
	void *at = rounded(e, e->xyz, 3 * e->n);
	if (!at)
		return no_memory();
	int status = heddle_fmm_plan_create(e->fmm, &(struct heddle_fmm_points){e->n, at}, NULL, &options, &e->plan);
	free(at);
	if (status || e->simulated)
		return status;
	e->given = rounded(e, e->charges, e->n);
	e->results = malloc(4 * e->n * real_size(e) + 1);
	return e->given && e->results ? 0 : no_memory();
}

static int open_run(const struct heddle_application *app, heddle_runtime *rt, int simulated, const void *options,
                    void **state)
{
	struct experiment *e = *state = calloc(1, sizeof *e);
	(void)app;
	if (!e)
		return no_memory();
	e->problem = *(const struct problem *)options;
	e->simulated = simulated;
	const struct hd_fmm_assumed assumed = {.gpu_pairs = (enum hd_fmm_gpu_pairs)e->problem.gpu_pairs,
	                                       .gpu_far = e->problem.gpu_far,
	                                       .by_size = e->problem.models,
	                                       .no_priorities = e->problem.priorities};
	if (!simulated && (assumed.gpu_pairs || assumed.gpu_far || assumed.by_size))
		return heddle_error(HEDDLE_E_INVALID,
		                    "--p2p, --m2l and --models are for virtual time: `heddle sim fmm`");
	int status = make_particles(e);
	status = status ? status : hd_fmm_open_assumed(rt, &assumed, &e->fmm);
	return status ? status : make_plan(e);
}

static int submit(void *state)
{
	const struct experiment *e = state;
	return heddle_fmm_evaluate_submit(e->plan, e->given, result(e, 0), result(e, 1));
}

static double element(const struct experiment *e, size_t i)
{
	return e->problem.precision == HEDDLE_FMM_SINGLE ? (double)((float *)e->results)[i] : ((double *)e->results)[i];
}

/* Of potentials and gradients at `results`. */
static int find_errors(const struct experiment *e, const double *results, struct hd_fmm_errors *errors)
{
	const double *gradient = results + e->n;
	struct hd_fmm_ewald ewald;
	if (e->problem.periodic == 0) {
		*errors = hd_fmm_errors_of(e->n, e->xyz, e->charges, results, gradient, SAMPLES);
		return 0;
	}
	if (hd_fmm_ewald_open(&ewald, e->problem.periodic, e->n, e->xyz, e->charges))
		return no_memory();
	*errors = hd_fmm_periodic_errors_of(&ewald, results, gradient, SAMPLES);
	hd_fmm_ewald_close(&ewald);
	return 0;
}

static int check(void *state, double *residual)
{
	const struct experiment *e = state;
	double *all = malloc((4 * e->n + 1) * sizeof *all);
	if (!all)
		return no_memory();
	for (size_t i = 0; i < 4 * e->n; i++)
		all[i] = element(e, i);
	struct hd_fmm_errors errors = {INFINITY, INFINITY};
	int status = find_errors(e, all, &errors);
	free(all);
	*residual = fmax(errors.potential, errors.gradient) * pow(10, (double)e->problem.digits);
	return status;
}

static int close_run(void *state)
{
	struct experiment *e = state;
	if (!e)
		return 0;
	int status = heddle_fmm_plan_destroy(e->plan);
	heddle_fmm_close(e->fmm);
	free(e->xyz);
	free(e->charges);
	free(e->given);
	free(e->results);
	free(e);
	return status;
}

static const struct heddle_application application = {
    .abi = HEDDLE_APPLICATION_ABI,
    .name = "fmm",
    .summary = "sums over all pairs of particles: the fast multipole method",
    .parameters = parameters,
    .size = sizeof(struct problem),
    .residual = "rms error at 200 particles, by direct or Ewald's sums / 10^-digits",
    .sound = 1,
    .settle = settle,
    .open = open_run,
    .submit = submit,
    .check = check,
    .close = close_run,
};

int heddle_fmm_register(void)
{
	return heddle_application_register(&application);
}
