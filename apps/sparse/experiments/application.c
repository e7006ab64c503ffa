/* The factorisation as an application of the command (heddle/application.h): heddle run sparse-qr --matrix TF14. The
 * matrix is a file of the Matrix Market, or one of a family that can be made (heddle_sparse_generate).
 *
 * What is checked is the factorisation itself, whatever the rank: with a random x, || A P x - Q R x || in units of
 * eps || A || || x ||, or, where Q was dropped, || (A P)^H (A P) x - R^H R x || in units of eps || A ||^2 || x ||. Here
 * A is the factorised matrix: A^H of a matrix with fewer rows than columns. */
#include <dense/experiments/precision_words.h>
#include <sparse/experiments/experiment.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <heddle/application.h>

_Static_assert(sizeof(struct hd_sparse_problem) <= HEDDLE_PARAMETERS_MAX, "the command has room for a problem");
_Static_assert(sizeof(enum heddle_sparse_ordering) == sizeof(int), "enumerations are ints");

/* --- Options ------------------------------------------------------------------------------------------------------ */

static const struct heddle_word orderings[] = {{"best", HEDDLE_SPARSE_BEST},
                                               {"metis", HEDDLE_SPARSE_METIS},
                                               {"colamd", HEDDLE_SPARSE_COLAMD},
                                               {"natural", HEDDLE_SPARSE_NATURAL},
                                               {NULL, 0}};
static const struct heddle_word priorities[] = {{"path", HEDDLE_SPARSE_PRIORITY_PATH},
                                                {"tree", HEDDLE_SPARSE_PRIORITY_TREE},
                                                {"none", HEDDLE_SPARSE_PRIORITY_NONE},
                                                {NULL, 0}};
static const struct heddle_word yes_no[] = {{"no", 0}, {"yes", 1}, {NULL, 0}};

#define FIELD(field) offsetof(struct hd_sparse_problem, field)
#define WORD(name, field, words, value, shown, help)                                          \
	{                                                                                     \
		name, HEDDLE_PARAMETER_WORD, FIELD(field), value, help, 0, 0, words, 0, shown \
	}
static const struct heddle_parameter parameters[] = {
    {"matrix", HEDDLE_PARAMETER_TEXT, FIELD(matrix), "grid2d:100",
     "A file of the Matrix Market, or a matrix that can be made: TF14, mk11-b4, flower_7_4, grid3d:24 ...", 0,
     HD_SPARSE_MATRIX_NAME, NULL, 0, 1},
    WORD("ordering", analysis.ordering, orderings, "metis", 1, "The order of the columns; best: of METIS and COLAMD"),
    {"subtree", HEDDLE_PARAMETER_REAL, FIELD(analysis.subtree), "0",
     "Subtrees below this share of the work are one task; 0: as suits the machine; negative: none", -1, 1, NULL, 0, 0},
    {"balance", HEDDLE_PARAMETER_SIZE, FIELD(balance), "0",
     "Among so many cores subtrees should balance; 0: the machine's", 0, 1e6, NULL, 0, 0},
    {"tile", HEDDLE_PARAMETER_SIZE, FIELD(options.tile), "256", "Order of the tiles of fronts", 8, 1e5, NULL, 'b', 1},
    {"inner", HEDDLE_PARAMETER_SIZE, FIELD(options.inner), "32", "Inner blocking of QR", 1, 1e5, NULL, 0, 0},
    {"domain", HEDDLE_PARAMETER_SIZE, FIELD(options.domain), "0",
     "Rows of tiles that are eliminated one after the other, before pairs; 0: all, but in tall fronts fewer", 0, 1e7,
     NULL, 0, 0},
    {"strips", HEDDLE_PARAMETER_TEXT, FIELD(strips), "",
     "Widths of the strips of columns that tasks on tiles may become tasks on (HEDDLE_EXPAND): 256, or 256/64", 0,
     HD_SPARSE_STRIPS_TEXT, NULL, 0, 0},
    WORD("precision", precision, hd_dense_precision_words, "double", 1,
         "Double, single, complex double (z, complex) or complex single (c) precision"),
    WORD("priorities", options.priority, priorities, "path", 0,
         "Priorities of the tasks. path: operations to the end; tree: as qr_mumps has them"),
    WORD("drop-q", options.drop_q, yes_no, "no", 0, "Reflectors are freed as soon as the factorisation permits"),
    {"relax", HEDDLE_PARAMETER_REAL, FIELD(options.relax), "0",
     "Bound of memory, in peaks of a factorisation in postorder; 0: none", 0, 1e6, NULL, 0, 0},
    {"seed", HEDDLE_PARAMETER_SIZE, FIELD(seed), "0", "Seed of the vector of the check", 0, 0x1p63, NULL, 0, 0},
    {.name = NULL},
};

/* "256/64": the widths of strips, each less than the one before. Returns whether the text is that. */
static int read_strips(const char *text, size_t strips[2])
{
	static const char digits[] = "0123456789";
	strips[0] = strips[1] = 0;
	for (size_t i = 0; i < 2; i++) {
		size_t length = strspn(text, digits);
		strips[i] = length > 0 && length < 10 ? strtoul(text, NULL, 10) : 0;
		if (strips[i] == 0 || (i > 0 && strips[i] >= strips[0]))
			return 0;
		text += length;
		if (!*text)
			return 1;
		if (*text++ != '/')
			return 0;
	}
	return 0;
}

static int settle(const struct heddle_application *app, void *options)
{
	struct hd_sparse_problem *p = options;
	(void)app;
	p->analysis.workers = (int)p->balance;
	p->options.strips[0] = 0;
	if (*p->strips && !read_strips(p->strips, p->options.strips))
		return heddle_error(HEDDLE_E_INVALID,
		                    "--strips is \"%s\": it must be a width, such as 256, or two, the wider one first, "
		                    "such as 256/64",
		                    p->strips);
	if (p->options.relax > 0 && p->options.relax < 1)
		return heddle_error(HEDDLE_E_INVALID,
		                    "--relax is %g: it must be 0 (no bound) or at least 1, the peak of a "
		                    "factorisation in postorder",
		                    p->options.relax);
	return 0;
}

/* --- What is known without a run ---------------------------------------------------------------------------------- */

static double flops(const struct heddle_application *app, const void *options)
{
	(void)app;
	return hd_sparse_problem_flops(options);
}

static double bytes(const struct heddle_application *app, const void *options)
{
	(void)app;
	return hd_sparse_problem_bytes(options);
}

/* Tasks of tiles; the library's own codelets have models that are given. */
static int codelet(const struct heddle_application *app, const void *options, size_t i, char *name, size_t size)
{
	static const char *const dense[] = {"geqrt", "gemqrt", "tsqrt", "tsmqr", "ttqrt", "ttmqr"};
	const struct hd_sparse_problem *p = options;
	(void)app;
	if (i >= sizeof dense / sizeof *dense)
		return 0;
	snprintf(name, size, "%c%s", "dszc"[p->precision], dense[i]);
	return 1;
}

/* --- Runs --------------------------------------------------------------------------------------------------------- */

static int open_run(const struct heddle_application *app, heddle_runtime *rt, int simulated, const void *options,
                    void **state)
{
	(void)app;
	return hd_sparse_experiment_open(rt, simulated, options, (struct hd_sparse_experiment **)state);
}

static int submit(void *state)
{
	return hd_sparse_experiment_submit(state);
}

static int check(void *state, double *residual)
{
	return hd_sparse_experiment_residual(state, residual);
}

static int close_run(void *state)
{
	return hd_sparse_experiment_close(state);
}

static const struct heddle_application application = {
    .abi = HEDDLE_APPLICATION_ABI,
    .name = "sparse-qr",
    .summary = "factorises a sparse matrix: A = Q R",
    .parameters = parameters,
    .size = sizeof(struct hd_sparse_problem),
    .residual = "||A P x - Q R x|| / (eps ||A|| ||x||)",
    .sound = 30,
    .settle = settle,
    .flops = flops,
    .bytes = bytes,
    .codelet = codelet,
    .open = open_run,
    .submit = submit,
    .check = check,
    .close = close_run,
};

int heddle_sparse_register(void)
{
	return heddle_application_register(&application);
}
