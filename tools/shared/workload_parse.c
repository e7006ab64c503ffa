/* Work as the user writes it: in one word, potrf:n=19200,tile=960, a graph's file, or random:n=1000; or as options. */
#include "graph_facts.h"
#include "tool.h"
#include "workload.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	LARGEST = 10000000,
	TILE = 256,
	KEY_NRHS = 0x9000,
	KEY_INNER,
	KEY_TREE,
	KEY_DOMAIN,
	KEY_UPLO,
	KEY_PRIORITIES,
	KEY_NO_PRIORITIES
};

static const char *set_number(size_t *number, const char *value)
{
	char *end;
	errno = 0;
	long n = strtol(value, &end, 10);
	if (end == value || *end || errno || n < 1 || n > LARGEST)
		return "a whole number from 1 to 10000000";
	*number = (size_t)n;
	return NULL;
}

/* The index of `value` in a list that ends with NULL; -1: it is not in the list. */
static int find(const char *const *names, const char *value)
{
	for (int i = 0; names[i]; i++)
		if (strcmp(names[i], value) == 0)
			return i;
	return -1;
}

static const char *set_n(struct heddle_dense_problem *p, const char *value)
{
	return set_number(&p->n, value);
}

static const char *set_m(struct heddle_dense_problem *p, const char *value)
{
	return set_number(&p->m, value);
}

static const char *set_k(struct heddle_dense_problem *p, const char *value)
{
	return set_number(&p->k, value);
}

static const char *set_nrhs(struct heddle_dense_problem *p, const char *value)
{
	return set_number(&p->n_right, value);
}

static const char *set_tile(struct heddle_dense_problem *p, const char *value)
{
	return set_number(&p->options.tile, value);
}

static const char *set_inner(struct heddle_dense_problem *p, const char *value)
{
	return set_number(&p->options.inner, value);
}

static const char *set_precision(struct heddle_dense_problem *p, const char *value)
{
	static const char *const names[] = {"d", "s", "z", "c", "double", "single", "complex", "complex-single", NULL};
	int i = find(names, value);
	if (i < 0)
		return "d (double), s (single), z (complex double) or c (complex single)";
	p->precision = (enum heddle_dense_precision)(i % HEDDLE_DENSE_PRECISIONS);
	return NULL;
}

static const char *set_priorities(struct heddle_dense_problem *p, const char *value)
{
	static const char *const names[] = {"starpu", "path", "none", NULL}; /* in the order of the enumeration */
	int i = find(names, value);
	if (i < 0)
		return "path, starpu or none";
	p->options.priority = (enum heddle_dense_priority)i;
	return NULL;
}

static const char *set_tree(struct heddle_dense_problem *p, const char *value)
{
	static const char *const names[] = {"flat", "greedy", "domains", NULL};
	int i = find(names, value);
	if (i < 0)
		return "flat, greedy or domains";
	p->options.tree = (enum heddle_dense_tree)i;
	return NULL;
}

static const char *set_domain(struct heddle_dense_problem *p, const char *value)
{
	return set_number(&p->options.domain, value);
}

static const char *set_uplo(struct heddle_dense_problem *p, const char *value)
{
	static const char *const names[] = {"lower", "upper", NULL};
	int i = find(names, value);
	if (i < 0)
		return "lower or upper";
	p->uplo = i ? HEDDLE_DENSE_UPPER : HEDDLE_DENSE_LOWER;
	return NULL;
}

/* What a routine is told, as NAME=VALUE in a word and as an option --NAME: ROW(name, key, how a value is shown, help).
 * The function set_NAME sets it: NULL, or for a wrong value, words that complete the sentence "it must be ...". */
#define PARAMETERS                                                                                             \
	ROW(n, 'n', "N", "Order of the matrix, or its number of columns (default 4096)")                       \
	ROW(m, 'm', "M", "Number of rows, where a routine takes matrices that are not square (default N)")     \
	ROW(k, 'k', "K", "Inner extent of products (default N)")                                               \
	ROW(nrhs, KEY_NRHS, "R", "Right-hand sides of solvers (default B)")                                    \
	ROW(tile, 'b', "B", "Order of a tile (default 256, and at most N)")                                    \
	ROW(inner, KEY_INNER, "IB", "Inner blocking of QR (default 32)")                                       \
	ROW(tree, KEY_TREE, "TREE", "How QR reduces columns of tiles: flat (default), greedy or domains")      \
	ROW(domain, KEY_DOMAIN, "D", "Tiles per domain of QR (default: one domain per worker)")                \
	ROW(uplo, KEY_UPLO, "lower|upper", "The triangle that is used (default lower)")                        \
	ROW(precision, 'r', "d|s|z|c", "Double (default), single, complex double or complex single precision") \
	ROW(priorities, KEY_PRIORITIES, "path|starpu|none",                                                    \
	    "Priorities of the tasks. path: length of the longest path to the end; starpu: as StarPU's and "   \
	    "Chameleon's "                                                                                     \
	    "routines have them, and path for those that have none there (default)")

static const struct parameter {
	const char *name;
	const char *(*set)(struct heddle_dense_problem *problem, const char *value);
	int key;
} parameters[] = {
#define ROW(name, key, value, help) {#name, set_##name, key},
    PARAMETERS
#undef ROW
};
enum { N_PARAMETERS = sizeof parameters / sizeof *parameters };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "What to compute:", 1},
#define ROW(name, key, value, help) {#name, key, value, 0, help, 0},
    PARAMETERS
#undef ROW
    {"no-priorities", KEY_NO_PRIORITIES, NULL, 0, "The same as --priorities none", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct work *work = state->input;
	if (key == KEY_NO_PRIORITIES) {
		work->problem.options.priority = HEDDLE_DENSE_PRIORITY_NONE;
		return 0;
	}
	for (size_t i = 0; i < N_PARAMETERS; i++) {
		const struct parameter *p = &parameters[i];
		if (p->key != key)
			continue;
		const char *wanted = p->set(&work->problem, arg);
		if (wanted)
			argp_error(state, "--%s is \"%s\": it must be %s", p->name, arg, wanted);
		if (key != KEY_PRIORITIES || work->problem.options.priority != HEDDLE_DENSE_PRIORITY_NONE)
			work->given = p->name; /* a graph can do without priorities, too */
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp work_argp = {.options = options, .parser = parse};

void work_init(struct work *work)
{
	*work = (struct work){.problem = {.routine = "potrf", .n = 4096}, .repeat = 1};
}

/* Sets one parameter, written NAME=VALUE. */
static int set_parameter(struct work *work, const char *text)
{
	const char *names[N_PARAMETERS], *wanted = NULL;
	size_t length = strcspn(text, "="), i;
	char *name = tool_format("%.*s", (int)length, text);
	int status = TOOL_OK;
	for (i = 0; i < N_PARAMETERS; i++)
		names[i] = parameters[i].name;
	for (i = 0; i < N_PARAMETERS && strcmp(names[i], name) != 0;)
		i++;
	if (i == N_PARAMETERS)
		status = tool_unknown("parameter of a routine", name, names, N_PARAMETERS);
	else if (!text[length])
		status = tool_usage_error("%s: parameter %s needs a value: %s=VALUE", work->name, name, name);
	else
		wanted = parameters[i].set(&work->problem, text + length + 1);
	if (wanted)
		status =
		    tool_usage_error("%s: %s is \"%s\": it must be %s", work->name, name, text + length + 1, wanted);
	free(name);
	return status;
}

size_t work_largest_extent(const struct heddle_dense_problem *p)
{
	size_t largest = p->m > p->n ? p->m : p->n;
	return p->k > largest ? p->k : largest;
}

int work_settle_tile(struct work *work, size_t usual)
{
	struct heddle_dense_problem *p = &work->problem;
	size_t largest = work_largest_extent(p);
	if (p->options.tile == 0)
		p->options.tile = usual < largest ? usual : largest;
	return p->options.tile <= largest;
}

static int set_parameters(struct work *work, const char *list)
{
	int status = TOOL_OK;
	for (const char *at = list; *at && !status; at += strspn(at, ",")) {
		char *text = tool_format("%.*s", (int)strcspn(at, ","), at);
		status = set_parameter(work, text);
		free(text);
		at += strcspn(at, ",");
	}
	return status;
}

/* Prints that no routine is called so. */
static int no_routine(const char *name)
{
	const char *names[64] = {"cholesky"};
	size_t n = 1;
	const struct heddle_dense_routine *routine;
	for (size_t i = 0; (routine = heddle_dense_routine_at(i)) && n < sizeof names / sizeof *names; i++)
		names[n++] = routine->name;
	return tool_unknown("application or graph", name, names, n);
}

int work_open_untiled(struct work *work, const char *text)
{
	size_t length = strcspn(text, ":");
	work->name = text;
	if (graph_is_named(text) || *tool_extension(text)) { /* of an extension that no graph has, too: it is refused */
		int status =
		    work->given
		        ? tool_usage_error("--%s is for routines such as cholesky alone: it cannot change a graph",
		                           work->given)
		        : graph_open(text, &work->graph);
		if (!status && work->problem.options.priority == HEDDLE_DENSE_PRIORITY_NONE)
			for (size_t i = 0; i < work->graph->n_tasks; i++)
				work->graph->tasks[i].priority = 0;
		return status;
	}
	char *name = tool_format("%.*s", (int)length, text);
	const struct heddle_dense_routine *routine = heddle_dense_routine_find(name);
	int status = TOOL_OK;
	if (routine) {
		work->problem.routine = routine->name;
		status = set_parameters(work, text[length] ? text + length + 1 : "");
	} else {
		status = no_routine(name);
	}
	free(name);
	return status;
}

int work_open(struct work *work, const char *text)
{
	int status = work_open_untiled(work, text);
	if (!status && !work->graph && !work_settle_tile(work, TILE))
		status = tool_usage_error("%s: --tile is %zu: it must be at most --n, %zu", work->name,
		                          work->problem.options.tile, work_largest_extent(&work->problem));
	return status;
}

char work_letter(const struct work *work)
{
	return "dszc"[work->problem.precision];
}

const char *work_precision(const struct work *work)
{
	static const char *const names[] = {"double", "single", "complex double", "complex single"};
	return names[work->problem.precision];
}

char *work_routines_text(void)
{
	const struct heddle_dense_routine *routine;
	char *all = tool_format("Routines, in double, single and both complex precisions:\n");
	for (size_t i = 0; (routine = heddle_dense_routine_at(i)); i++) {
		char *longer =
		    tool_format("%s  %-12s %s; residual %s\n", all, routine->name, routine->summary, routine->residual);
		free(all);
		all = longer;
	}
	return all;
}
