/* heddle sparse info MATRIX: the properties of a sparse QR factorisation of the matrix: fill, operations, fronts,
 * memory. */
#include "shared/tool.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_SUBTREE = 0x9000, KEY_WORKERS, KEY_FRONTS };

struct options {
	const char *action, *matrix, *output;
	const char *ordering;
	double subtree;
	long workers, n_fronts;
	enum table_format format;
};

static const struct argp_option options[] = {
    {"ordering", 'r', "NAME", 0, "best (METIS or COLAMD, the default), metis, colamd or natural", 0},
    {"subtree", KEY_SUBTREE, "SHARE", 0,
     "Subtrees with less than this share of the work are one task; 0: as suits the workers; negative: none", 0},
    {"workers", KEY_WORKERS, "N", 0, "Cores over which subtrees must balance (default 32)", 0},
    {"fronts", KEY_FRONTS, "N", 0, "How many fronts are listed, those with most operations (default 10)", 0},
    {"output", 'o', "FILE", 0, "Draw the elimination tree and the memory over time: .png, .svg or .pdf", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &o->format; return 0;
	case 'r': o->ordering = arg; return 0;
	case 'o': o->output = arg; return 0;
	case KEY_SUBTREE: o->subtree = tool_real(state, "--subtree", arg, -1, 1); return 0;
	case KEY_WORKERS: o->workers = tool_int(state, "--workers", arg, 1, 1000000); return 0;
	case KEY_FRONTS: o->n_fronts = tool_int(state, "--fronts", arg, 0, 1000000); return 0;
	case ARGP_KEY_ARG:
		if (o->matrix)
			tool_option_error(state, "one matrix at a time: \"%s\" is a second one", arg);
		*(o->action ? &o->matrix : &o->action) = arg;
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&tool_format_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "info MATRIX",
    .doc = "Analyses a sparse matrix for a QR factorisation, without computing it: fill, operations, fronts, memory. "
           "MATRIX is a file of the Matrix Market, or one of a family that is made by a rule.\v"
           "Families: TF10 ... TF18, mk9-b3 ... mk13-b5, flower_7_4, cat_ears_4_4, grid2d:N, grid3d:N and "
           "random:M,N,PER_COLUMN,SEED[,DEFICIENT[,DECADES]]; docs/sparse.md says what they are.",
};

#ifdef HEDDLE_HAVE_SPARSE
#include <sparse/analysis/analysis.h>
#include "shared/tree_picture.h"

static const char *const orderings[] = {"best", "metis", "colamd", "natural"};
enum { N_ORDERINGS = sizeof orderings / sizeof *orderings };

static const struct table_column columns[] = {
    {"matrix", NULL, NULL, TABLE_AS_TEXT},
    {"rows", NULL, NULL, 0},
    {"columns", NULL, NULL, 0},
    {"elements", NULL, NULL, 0},
    {"transposed", NULL, NULL, TABLE_AS_TEXT},
    {"ordering", NULL, NULL, TABLE_AS_TEXT},
    {"r_elements", "elements of R", NULL, 0},
    {"h_elements", "elements of the reflectors", NULL, 0},
    {"fill", NULL, NULL, 1},
    {"work_gflop", "work", "Gflop", 3},
    {"fronts", NULL, NULL, 0},
    {"height", "fronts on the longest way up", NULL, 0},
    {"path_gflop", "work on the longest way up", "Gflop", 3},
    {"subtrees", "subtrees that are one task", NULL, 0},
    {"subtrees_percent", "work in these", "%", 1},
    {"peak_mib", "most memory, in postorder", "MiB", 1},
    {"ordering_ms", "time to order", "ms", 1},
    {"analysis_ms", "time to analyse", "ms", 1},
};

/* The longest paths from a leaf to a root of the tree, in fronts and in operations. */
static void measure_ways(const struct heddle_sparse_analysis *a, double *height, double *flops)
{
	double *up = tool_alloc((a->n_fronts + 1) * sizeof *up), *work = tool_alloc((a->n_fronts + 1) * sizeof *work);
	*height = *flops = 0;
	for (size_t f = a->n_fronts; f-- > 0;) {
		size_t parent = a->fronts[f].parent;
		up[f] = parent == HD_SPARSE_NONE ? 1 : up[parent] + 1;
		work[f] = a->fronts[f].flops + (parent == HD_SPARSE_NONE ? 0 : work[parent]);
		*height = fmax(*height, up[f]);
		*flops = fmax(*flops, work[f]);
	}
	free(up);
	free(work);
}

static void fill_matrix(struct table *table, const struct options *o, const struct heddle_sparse_analysis *a)
{
	struct heddle_sparse_statistics s = heddle_sparse_analysis_statistics(a);
	double height, path, in_subtrees = 0;
	measure_ways(a, &height, &path);
	for (size_t i = 0; i < a->n_subtrees; i++)
		in_subtrees += a->subtrees[i].flops;
	table_init(table, "sparse", NULL, columns, sizeof columns / sizeof *columns);
	table->single = 1;
	table_text(table, "%s", o->matrix);
	table_number(table, (double)s.rows);
	table_number(table, (double)s.columns);
	table_number(table, (double)s.elements);
	table_text(table, "%s", s.transposed ? "yes" : "no");
	table_text(table, "%s", o->ordering);
	table_number(table, (double)s.r_elements);
	table_number(table, (double)s.h_elements);
	table_number(table, s.elements ? (double)(s.r_elements + s.h_elements) / (double)s.elements : NAN);
	table_number(table, s.flops * 1e-9);
	table_number(table, (double)s.fronts);
	table_number(table, height);
	table_number(table, path * 1e-9);
	table_number(table, (double)s.subtrees);
	table_number(table, s.flops > 0 ? 100 * in_subtrees / s.flops : NAN);
	table_number(table, (double)s.peak_elements * sizeof(double) / 0x1p20);
	table_number(table, s.seconds_ordering * 1e3);
	table_number(table, s.seconds * 1e3);
}

static const struct table_column front_columns[] = {
    {"front", NULL, NULL, 0},
    {"rows", NULL, NULL, 0},
    {"columns", NULL, NULL, 0},
    {"pivots", NULL, NULL, 0},
    {"own_rows", "rows of the matrix", NULL, 0},
    {"children", NULL, NULL, 0},
    {"work_gflop", "work", "Gflop", 3},
    {"work_percent", "of all", "%", 1},
};

static int by_flops(const void *a, const void *b)
{
	const struct hd_sparse_front *const *x = a, *const *y = b;
	return (*x)->flops < (*y)->flops ? 1 : (*x)->flops > (*y)->flops ? -1 : *x < *y ? -1 : *x > *y;
}

static void fill_fronts(struct table *table, const struct options *o, const struct heddle_sparse_analysis *a)
{
	const struct hd_sparse_front **sorted = tool_alloc((a->n_fronts + 1) * sizeof *sorted);
	for (size_t f = 0; f < a->n_fronts; f++)
		sorted[f] = &a->fronts[f];
	qsort(sorted, a->n_fronts, sizeof *sorted, by_flops);
	table_init(table, "fronts", "The fronts with most operations", front_columns,
	           sizeof front_columns / sizeof *front_columns);
	for (size_t i = 0; i < a->n_fronts && i < (size_t)o->n_fronts; i++) {
		size_t n_children = 0;
		for (size_t c = sorted[i]->first_child; c != HD_SPARSE_NONE; c = a->fronts[c].next_sibling)
			n_children++;
		table_number(table, (double)(sorted[i] - a->fronts));
		table_number(table, (double)sorted[i]->n_rows);
		table_number(table, (double)sorted[i]->n_columns);
		table_number(table, (double)sorted[i]->n_pivots);
		table_number(table, (double)sorted[i]->n_own_rows);
		table_number(table, (double)n_children);
		table_number(table, sorted[i]->flops * 1e-9);
		table_number(table, a->statistics.flops > 0 ? 100 * sorted[i]->flops / a->statistics.flops : NAN);
	}
	free(sorted);
}

static int show(const struct options *o, const struct heddle_sparse_analysis *a)
{
	struct table matrix, fronts, *tables[] = {&matrix, &fronts};
	fill_matrix(&matrix, o, a);
	fill_fronts(&fronts, o, a);
	table_print(stdout, o->format, tables, 2);
	table_free(&matrix);
	table_free(&fronts);
	if (o->output && tree_picture(a, o->matrix, o->output))
		return tool_library_error("the picture was not drawn");
	return TOOL_OK;
}

static int analyse(const struct options *o)
{
	size_t ordering = 0;
	while (strcmp(orderings[ordering], o->ordering) != 0)
		if (++ordering == N_ORDERINGS)
			return tool_unknown("ordering", o->ordering, orderings, N_ORDERINGS);
	struct heddle_sparse_analysis_options wanted = {
	    .ordering = (enum heddle_sparse_ordering)ordering, .subtree = o->subtree, .workers = (int)o->workers};
	struct heddle_sparse_matrix m;
	heddle_sparse_analysis *a;
	int status = hd_sparse_load(o->matrix, &m);
	if (status == HEDDLE_E_UNKNOWN)
		return tool_usage_error("%s", heddle_last_error());
	if (status) /* the error message names the file and the fault */
		return tool_failure("%s", heddle_last_error());
	status = heddle_sparse_analyse(&m, &wanted, &a);
	heddle_sparse_matrix_free(&m);
	if (status)
		return tool_library_error("the matrix cannot be analysed");
	status = show(o, a);
	heddle_sparse_analysis_free(a);
	return status;
}
#else
static int analyse(const struct options *o)
{
	return tool_failure("%s cannot be analysed: this heddle was built without CHOLMOD (Debian: apt-get install "
	                    "libsuitesparse-dev, then build again)",
	                    o->matrix);
}
#endif

int tool_sparse(int argc, char **argv)
{
	static const char *const actions[] = {"info"};
	struct options o = {.ordering = "best", .n_fronts = 10};
	int status = tool_parse(&argp, argc, argv, &o);
	if (status)
		return status;
	if (!o.action)
		return tool_usage_error("what about a matrix? heddle sparse info MATRIX");
	if (strcmp(o.action, actions[0]) != 0)
		return tool_unknown("action", o.action, actions, 1);
	if (!o.matrix)
		return tool_usage_error("which matrix? heddle sparse info MATRIX");
	if (o.output && (status = tool_check_writable(o.output)))
		return status;
	return analyse(&o);
}
