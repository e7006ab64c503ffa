/* The routines as applications of the command (heddle/application.h): each on random data, with its residual. */
#include <dense/experiments/precision_words.h>
#include <dense/internal.h>
#include <heddle/application.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Options ------------------------------------------------------------------------------------------------------ */

/* The options are stored in a struct heddle_dense_problem. Options that are words are stored as int, so enumerations
 * must have that size. */
_Static_assert(sizeof(enum heddle_dense_uplo) == sizeof(int), "enumerations are ints");
_Static_assert(sizeof(struct heddle_dense_problem) <= HEDDLE_PARAMETERS_MAX, "the command has room for a problem");

static const struct heddle_word triangles[] = {{"lower", HEDDLE_DENSE_LOWER}, {"upper", HEDDLE_DENSE_UPPER}, {NULL, 0}};
static const struct heddle_word trees[] = {
    {"flat", HEDDLE_DENSE_FLAT}, {"greedy", HEDDLE_DENSE_GREEDY}, {"domains", HEDDLE_DENSE_DOMAINS}, {NULL, 0}};
static const struct heddle_word priorities[] = {{"path", HEDDLE_DENSE_PRIORITY_PATH},
                                                {"starpu", HEDDLE_DENSE_PRIORITY_STARPU},
                                                {"none", HEDDLE_DENSE_PRIORITY_NONE},
                                                {NULL, 0}};
static const struct heddle_word layouts[] = {
    {"tiled", HEDDLE_DENSE_TILED}, {"in-place", HEDDLE_DENSE_IN_PLACE}, {NULL, 0}};

#define FIELD(field) offsetof(struct heddle_dense_problem, field)
#define SIZE(name, letter, field, value, shown, help)                                               \
	{                                                                                           \
		name, HEDDLE_PARAMETER_SIZE, FIELD(field), value, help, 1, 1e7, NULL, letter, shown \
	}
#define WORD(name, letter, field, words, value, shown, help)                                       \
	{                                                                                          \
		name, HEDDLE_PARAMETER_WORD, FIELD(field), value, help, 0, 0, words, letter, shown \
	}
static const struct heddle_parameter parameters[] = {
    SIZE("n", 'n', n, "4096", 1, "Order of the matrix, or its number of columns"),
    SIZE("m", 'm', m, "0", 1, "Number of rows, where a routine takes matrices that are not square (default N)"),
    SIZE("k", 'k', k, "0", 1, "Inner extent of products (default N)"),
    SIZE("nrhs", 0, n_right, "0", 0, "Right-hand sides of solvers (default TILE)"),
    SIZE("tile", 'b', options.tile, "0", 1,
         "Order of a tile, at most N (default 256; for `heddle run` what `heddle tune --here` has found)"),
    {"cut", HEDDLE_PARAMETER_TEXT, FIELD(cut), "",
     "Orders of the tiles that tiles are cut into: 960/320; --tile 2880/960 is --tile 2880 --cut 960", 0, 48, NULL, 0,
     0},
    {"refine", HEDDLE_PARAMETER_TEXT, FIELD(refine), "all",
     "Which tiles are cut: all, those at most K from the diagonal (K), or those next to it (diagonal)", 0, 16, NULL, 0,
     0},
    SIZE("inner", 0, options.inner, "0", 0, "Inner blocking of QR (default 32)"),
    WORD("tree", 0, options.tree, trees, "flat", 0, "How QR reduces columns of tiles"),
    SIZE("domain", 0, options.domain, "0", 0, "Tiles per domain of QR (default: one domain per worker)"),
    WORD("uplo", 0, uplo, triangles, "lower", 0, "The triangle that is used"),
    WORD("precision", 'r', precision, hd_dense_precision_words, "double", 1,
         "Double, single, complex double (z, complex) or complex single (c) precision"),
    WORD("priorities", 0, options.priority, priorities, "starpu", 0,
         "Priorities of the tasks. path: length of the longest path to the end; starpu: as StarPU's and Chameleon's "
         "routines have them, and path for those that have none there"),
    WORD("layout", 0, options.layout, layouts, "tiled", 0,
         "Contiguous tiles, or windows of a column-major matrix; in virtual time always tiles"),
    {"seed", HEDDLE_PARAMETER_SIZE, FIELD(seed), "0", "Seed of the random matrices", 0, 0x1p63, NULL, 0, 0},
    {.name = NULL},
};

static size_t largest_extent(const struct heddle_dense_problem *p)
{
	size_t largest = p->m > p->n ? p->m : p->n;
	return p->k > largest ? p->k : largest;
}

/* Whether the routine has the extent at this offset of a problem: then its operations depend on it. */
static int has_extent(const char *routine, size_t offset)
{
	struct heddle_dense_problem p = {.routine = routine, .n = 96, .m = 96, .k = 96, .n_right = 96};
	double with_96 = heddle_dense_flops(&p);
	*(size_t *)(void *)((char *)&p + offset) = 64;
	return heddle_dense_flops(&p) != with_96;
}

/* Refuses an extent that the routine does not have, because it would be ignored silently. */
static int check_extents(const struct heddle_dense_problem *p)
{
	const struct {
		const char *option;
		size_t value, offset;
	} given[] = {{"m", p->m, FIELD(m)}, {"k", p->k, FIELD(k)}, {"nrhs", p->n_right, FIELD(n_right)}};
	for (size_t i = 0; i < sizeof given / sizeof *given; i++)
		if (given[i].value && !has_extent(p->routine, given[i].offset))
			return heddle_error(HEDDLE_E_INVALID, "--%s is for other routines: %s has no such extent",
			                    given[i].option, p->routine);
	return 0;
}

static int settle(const struct heddle_application *app, void *options)
{
	enum { TILE = 256 };
	struct heddle_dense_problem *p = options;
	size_t largest = largest_extent(p);
	p->routine = heddle_dense_routine_find(app->name)->name;
	if (p->options.tile == 0)
		p->options.tile = TILE < largest ? TILE : largest;
	if (p->options.tile > largest)
		return heddle_error(HEDDLE_E_INVALID, "--tile is %zu: it must be at most --n, %zu", p->options.tile,
		                    largest);
	struct hd_dense_cut cut;
	int status = check_extents(p);
	return status ? status : hd_dense_read_cut(p, &cut);
}

/* --- What is known without a run ---------------------------------------------------------------------------------- */

static double flops(const struct heddle_application *app, const void *options)
{
	struct heddle_dense_problem p = *(const struct heddle_dense_problem *)options;
	p.routine = app->name;
	return heddle_dense_flops(&p);
}

/* The bytes of the largest matrix. */
static double bytes(const struct heddle_application *app, const void *options)
{
	const struct heddle_dense_problem *p = options;
	double n = (double)p->n, m = p->m ? (double)p->m : n, k = p->k ? (double)p->k : n;
	(void)app;
	return fmax(m * n, k * fmax(m, n)) * (double)hd_dense_elem_size(p->precision);
}

/* Whether the routine uses this codelet in this precision: in complex precisions, Hermitian products replace symmetric
 * products. */
static int is_used(const char *codelet, size_t length, int is_complex)
{
	static const char *const real[] = {"syrk", "symm"}, *const complex[] = {"herk", "hemm"};
	for (size_t i = 0; i < 2; i++)
		if (length == 4 && strncmp(codelet, is_complex ? real[i] : complex[i], 4) == 0)
			return 0;
	return 1;
}

static int codelet(const struct heddle_application *app, const void *options, size_t i, char *name, size_t size)
{
	enum heddle_dense_precision precision = ((const struct heddle_dense_problem *)options)->precision;
	const struct heddle_dense_routine *routine = heddle_dense_routine_find(app->name);
	for (const char *c = routine->codelets; *c; c += strspn(c, " ")) {
		size_t length = strcspn(c, " ");
		if (is_used(c, length, hd_dense_is_complex(precision)) && i-- == 0) {
			snprintf(name, size, "%c%.*s", "dszc"[precision], (int)length, c);
			return 1;
		}
		c += length;
	}
	return 0;
}

/* --- Runs --------------------------------------------------------------------------------------------------------- */

struct run {
	heddle_dense *dense;
	heddle_dense_experiment *experiment;
};

static int open_run(const struct heddle_application *app, heddle_runtime *rt, int simulated, const void *options,
                    void **state)
{
	struct heddle_dense_problem p = *(const struct heddle_dense_problem *)options;
	struct run *run = *state = calloc(1, sizeof *run);
	if (!run)
		return hd_dense_no_memory("an experiment");
	p.routine = app->name;
	if (simulated) /* no memory is allocated: see heddle_dense_graph */
		p.options.layout = HEDDLE_DENSE_TILED;
	int status = heddle_dense_open(rt, &run->dense);
	return status ? status : heddle_dense_experiment_open(run->dense, &p, &run->experiment);
}

static int fill(void *state)
{
	return heddle_dense_experiment_fill(((struct run *)state)->experiment);
}

static int submit(void *state)
{
	return heddle_dense_experiment_submit(((struct run *)state)->experiment);
}

static int check(void *state, double *residual)
{
	return heddle_dense_experiment_residual(((struct run *)state)->experiment, residual);
}

static int close_run(void *state)
{
	struct run *run = state;
	int status = heddle_dense_experiment_close(run->experiment);
	heddle_dense_close(run->dense);
	free(run);
	return status;
}

/* --- The list ----------------------------------------------------------------------------------------------------- */

enum { MOST = 64 };
static struct heddle_application applications[MOST]; /* filled by a constructor, const afterwards */
static size_t n_applications;                        /* filled by a constructor, const afterwards */

static void add(const char *name, const char *summary, const struct heddle_dense_routine *routine)
{
	applications[n_applications++] = (struct heddle_application){
	    .abi = HEDDLE_APPLICATION_ABI,
	    .name = name,
	    .summary = summary,
	    .parameters = parameters,
	    .size = sizeof(struct heddle_dense_problem),
	    .residual = routine->residual,
	    .sound = 30,
	    .settle = settle,
	    .flops = flops,
	    .bytes = bytes,
	    .codelet = codelet,
	    .open = open_run,
	    .fill = fill,
	    .submit = submit,
	    .check = check,
	    .close = close_run,
	};
}

__attribute__((constructor)) static void make_list(void)
{
	const struct heddle_dense_routine *routine;
	for (size_t i = 0; (routine = heddle_dense_routine_at(i)) && i < MOST - 1; i++)
		add(routine->name, routine->summary, routine);
	add("cholesky", "the same as potrf", heddle_dense_routine_find("cholesky"));
}

const struct heddle_application *heddle_dense_application(const char *routine)
{
	const struct heddle_dense_routine *found = heddle_dense_routine_find(routine);
	for (size_t i = 0; found && i < n_applications; i++)
		if (strcmp(applications[i].name, found->name) == 0)
			return &applications[i];
	return NULL;
}

int heddle_dense_register(void)
{
	int status = 0;
	for (size_t i = 0; i < n_applications && !status; i++)
		status = heddle_application_register(&applications[i]);
	return status;
}
