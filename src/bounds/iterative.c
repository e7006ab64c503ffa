/* The iterative bound (Agullo, Beaumont, Eyraud-Dubois, Kumar, "Are static schedules so bad? A case study on Cholesky
 * factorization", IPDPS 2016): the linear program of the area bound with conditions on paths. After each solution, the
 * path is found that is longest if each task takes the time that the solution expects, and the condition is added that
 * this path takes at most T; until no path takes longer.
 *
 * The shares of a whole type cannot be used for its tasks on a path, because a schedule may run these on other classes
 * than the rest. So the unknowns belong to groups: tasks of one type that are on the same paths among those found so
 * far. A new path splits every group that it goes through into two, and is then a union of whole groups, so the mean
 * times of its groups give its length exactly.
 *
 * The unknowns of a group are how many of its tasks each class runs, except its fastest class, which runs the rest. The
 * result is not GLPK's optimum but what its dual values prove (see area.c): with prices p[c] of a class's time and q[k]
 * of the length of path k, for which sum p[c] * capacity[c] + sum q[k] = 1, no schedule is shorter than the sum over
 * tasks of min over classes of time[c] * (p[c] + sum of q[k] over the paths through the task). That holds after every
 * round. */
#include <glpk.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "bounds/internal.h"

#define TOLERANCE 1e-6 /* relative: paths may be longer than T by this */
#define SMOOTHING 0.9
/* GLPK's tolerances; the bound does not depend on them, and with finer ones the dual simplex may cycle */
#define LP_TOLERANCE 1e-6
enum {
	T_COLUMN = 1,
	PIVOTS = 2000
}; /* PIVOTS, and ten more per row, are the most pivots of one solution: it needs fewer unless it cycles */

struct group {
	size_t type;
	size_t count;   /* tasks */
	size_t on_path; /* how many of them are on the path that is being added */
	size_t twin;    /* the group that the tasks on the path become */
	/* the first of its columns; they are consecutive, one per class that can run it except the fastest */
	int column;
	int n_columns;
	int limit; /* the row that says that the columns add up to at most `count`; 0: a single column has that bound */
};

/* A path that has been found. */
struct path {
	struct path *before; /* the one found before */
	int row;
	size_t n;
	size_t tasks[];
};

struct iteration {
	const struct hd_costed *graph; /* borrows, as the next two */
	const struct hd_types *types;
	struct hd_paths *paths;
	/* factor for all times, by which the least times of the tasks have mean 1, because GLPK's tolerances are
	 * absolute */
	double scale;
	glp_prob *problem;    /* freed by GLPK when its thread ends */
	struct group *groups; /* owns; room for one per task */
	size_t n_groups;
	size_t *of;      /* owns; group of each task */
	size_t *fastest; /* owns; class of each type */
	double *price;   /* owns; scratch, per task */
	/* own; scaled times of the tasks that the last solution expects, and their weighted mean over all solutions */
	double *expected, *smoothed;
	int *index;        /* owns; scratch: the entries of a row or column, from index 1 */
	double *value;     /* owns */
	size_t room;       /* entries that index and value have room for */
	struct path *last; /* owns */
	unsigned max_rounds;
	struct heddle_bounds *out; /* borrows */
};

static double time_of(const struct iteration *it, size_t type, size_t c)
{
	return it->types->times[type * it->types->n_classes + c] * it->scale;
}

/* Whether the groups of a type have a column for a class: it can run them, and is not the fastest. */
static int has_column(const struct iteration *it, size_t type, size_t c)
{
	return c != it->fastest[type] && !isnan(time_of(it, type, c));
}

static int reserve(struct iteration *it, size_t n)
{
	if (n + 1 <= it->room)
		return 0;
	int *index = realloc(it->index, 2 * (n + 1) * sizeof *index);
	it->index = index ? index : it->index;
	double *value = realloc(it->value, 2 * (n + 1) * sizeof *value);
	it->value = value ? value : it->value;
	if (!index || !value)
		return hd_no_memory("the iterative bound");
	it->room = 2 * (n + 1);
	return 0;
}

/* --- The program -------------------------------------------------------------------------------------------------- */

/* Sets the number of tasks of a group, and the bounds that depend on it. */
static void set_count(struct iteration *it, struct group *group, size_t count)
{
	group->count = count;
	if (group->limit)
		glp_set_row_bnds(it->problem, group->limit, GLP_UP, 0, (double)count);
	else if (group->n_columns)
		glp_set_col_bnds(it->problem, group->column, GLP_DB, 0, (double)count);
}

/* Makes a group: its columns, without entries, and the row that limits them if there are several. */
static struct group *add_group(struct iteration *it, size_t type, size_t count)
{
	struct group *group = &it->groups[it->n_groups++];
	*group = (struct group){.type = type};
	for (size_t c = 0; c < it->graph->n_classes; c++)
		group->n_columns += has_column(it, type, c);
	if (group->n_columns > 1)
		group->limit = glp_add_rows(it->problem, 1);
	if (group->n_columns > 0)
		group->column = glp_add_cols(it->problem, group->n_columns);
	for (int k = 0; group->limit && k < group->n_columns; k++)
		glp_set_col_bnds(it->problem, group->column + k, GLP_LO, 0, 0);
	set_count(it, group, count);
	return group;
}

/* Makes the group of a whole type, with its entries in the rows of the classes (row 1 + c for class c): a task that a
 * class runs adds to that class's work and is taken off the fastest class's. */
static int add_type(struct iteration *it, size_t type)
{
	struct group *group = add_group(it, type, (size_t)it->types->counts[type]);
	int column = group->column, status = reserve(it, 3);
	for (size_t c = 0; c < it->graph->n_classes && !status; c++) {
		if (!has_column(it, type, c))
			continue;
		int n = 0;
		it->index[++n] = (int)c + 1;
		it->value[n] = time_of(it, type, c);
		it->index[++n] = (int)it->fastest[type] + 1;
		it->value[n] = -time_of(it, type, it->fastest[type]);
		it->index[++n] = group->limit;
		it->value[n] = 1;
		glp_set_mat_col(it->problem, column++, group->limit ? n : n - 1, it->index, it->value);
	}
	return status;
}

/* Adds the rows of the classes: the work of class c is at most T * capacity[c]. The right-hand sides are the work if
 * each type runs on its fastest class. */
static int add_classes(struct iteration *it)
{
	const struct hd_costed *g = it->graph;
	int n_classes = (int)g->n_classes, n = 0, status = reserve(it, g->n_classes);
	if (status)
		return status;
	glp_set_obj_dir(it->problem, GLP_MIN);
	glp_add_rows(it->problem, n_classes);
	glp_add_cols(it->problem, 1);
	glp_set_obj_coef(it->problem, T_COLUMN, 1);
	glp_set_col_bnds(it->problem, T_COLUMN, GLP_LO, 0, 0);
	for (int c = 0; c < n_classes; c++) {
		double work = 0;
		for (size_t t = 0; t < it->types->n; t++)
			work += it->fastest[t] == (size_t)c ? it->types->counts[t] * time_of(it, t, (size_t)c) : 0;
		glp_set_row_bnds(it->problem, c + 1, GLP_UP, 0, -work);
		if (g->workers[c] > 0) {
			it->index[++n] = c + 1;
			it->value[n] = -hd_costed_capacity(g, (size_t)c);
		}
	}
	glp_set_mat_col(it->problem, T_COLUMN, n, it->index, it->value);
	return 0;
}

/* Makes the program of the area bound: each type is a group. */
static int build(struct iteration *it)
{
	it->problem = glp_create_prob();
	int status = add_classes(it);
	for (size_t t = 0; t < it->types->n && !status; t++)
		status = add_type(it, t);
	for (size_t i = 0; i < it->graph->n_tasks; i++)
		it->of[i] = it->types->of[i];
	return status;
}

/* --- A new path --------------------------------------------------------------------------------------------------- */

/* Extends the basis to the twin so that the dual values stay feasible and the next solution starts from the last. The
 * twin of a basic column has reduced cost 0, so it may be in the basis or not; but if the limit of the group is
 * reached, one of the twin's columns must be in the basis. */
static void set_basis(struct iteration *it, const struct group *group, const struct group *twin)
{
	int is_tight = group->limit && glp_get_row_stat(it->problem, group->limit) != GLP_BS;
	if (group->limit)
		glp_set_row_stat(it->problem, twin->limit, is_tight ? GLP_NU : GLP_BS);
	for (int k = 0; k < group->n_columns; k++) {
		int stat = glp_get_col_stat(it->problem, group->column + k);
		int is_in = stat == GLP_BS && is_tight;
		glp_set_col_stat(it->problem, twin->column + k, is_in ? GLP_BS : stat == GLP_BS ? GLP_NL : stat);
		is_tight &= !is_in;
	}
}

/* Moves those tasks of a group that are on the new path to a group of their own, with entries in the same rows. */
static int split(struct iteration *it, size_t number)
{
	int status = reserve(it, (size_t)glp_get_num_rows(it->problem) + 1);
	if (status)
		return status;
	struct group *group = &it->groups[number], *twin = add_group(it, group->type, group->on_path);
	for (int k = 0; k < group->n_columns; k++) {
		int n = glp_get_mat_col(it->problem, group->column + k, it->index, it->value);
		for (int e = 1; e <= n; e++)
			if (group->limit && it->index[e] == group->limit)
				it->index[e] = twin->limit;
		glp_set_mat_col(it->problem, twin->column + k, n, it->index, it->value);
	}
	set_basis(it, group, twin);
	set_count(it, group, group->count - group->on_path);
	group->twin = (size_t)(twin - it->groups);
	twin->on_path = twin->count;
	group->on_path = 0;
	return 0;
}

/* Splits groups so that the path is a union of whole groups. */
static int split_groups(struct iteration *it, const struct path *path)
{
	int status = 0;
	for (size_t i = 0; i < path->n; i++)
		it->groups[it->of[path->tasks[i]]].on_path++;
	for (size_t i = 0; i < path->n && !status; i++) {
		size_t *of = &it->of[path->tasks[i]];
		struct group *group = &it->groups[*of];
		if (group->on_path > 0 && group->on_path < group->count)
			status = split(it, *of);
		if (group->on_path == 0)
			*of = group->twin;
	}
	return status;
}

/* Adds the row that says that the path takes at most T. Clears on_path. */
static int add_row(struct iteration *it, struct path *path)
{
	double length = 0;
	int n = 0, status = reserve(it, 1 + path->n * it->graph->n_classes);
	if (status)
		return status;
	it->index[++n] = T_COLUMN;
	it->value[n] = -1;
	for (size_t i = 0; i < path->n; i++) {
		struct group *group = &it->groups[it->of[path->tasks[i]]];
		double fastest = time_of(it, group->type, it->fastest[group->type]);
		int column = group->column;
		length += fastest;
		for (size_t c = 0; c < it->graph->n_classes && group->on_path; c++) {
			if (!has_column(it, group->type, c))
				continue;
			it->index[++n] = column++;
			it->value[n] = time_of(it, group->type, c) - fastest;
		}
		group->on_path = 0; /* so that the group's columns are added once */
	}
	path->row = glp_add_rows(it->problem, 1);
	glp_set_row_bnds(it->problem, path->row, GLP_UP, 0, -length);
	glp_set_mat_row(it->problem, path->row, n, it->index, it->value);
	return 0;
}

/* Adds the path that hd_paths_find has found. */
static int add_path(struct iteration *it)
{
	const struct hd_paths *p = it->paths;
	size_t n = 0;
	for (size_t task = p->start; task != HD_PATH_END; task = p->next[task])
		n++;
	struct path *path = malloc(sizeof *path + n * sizeof *path->tasks);
	if (!path)
		return hd_no_memory("the iterative bound");
	*path = (struct path){.before = it->last};
	for (size_t task = p->start; task != HD_PATH_END; task = p->next[task])
		path->tasks[path->n++] = task;
	it->last = path;
	int status = split_groups(it, path);
	return status ? status : add_row(it, path);
}

/* --- Rounds ------------------------------------------------------------------------------------------------------- */

static double price_of(const struct iteration *it, int row)
{
	return fmax(0, -glp_get_row_dual(it->problem, row));
}

/* The bound that the dual values prove, in us: see the head of the file. */
static double prove(struct iteration *it)
{
	const struct hd_costed *g = it->graph;
	double whole = 0, bound = 0;
	for (size_t i = 0; i < g->n_tasks; i++)
		it->price[i] = 0;
	for (const struct path *path = it->last; path; path = path->before) {
		double q = price_of(it, path->row);
		whole += q;
		for (size_t i = 0; i < path->n; i++)
			it->price[path->tasks[i]] += q;
	}
	for (size_t c = 0; c < g->n_classes; c++)
		whole += price_of(it, (int)c + 1) * hd_costed_capacity(g, c);
	for (size_t i = 0; i < g->n_tasks; i++) {
		double least = INFINITY;
		for (size_t c = 0; c < g->n_classes; c++)
			if (!isnan(g->times[i * g->n_classes + c]))
				least = fmin(least, g->times[i * g->n_classes + c] *
				                        (it->price[i] + price_of(it, (int)c + 1)));
		bound += least;
	}
	return whole > 0 ? bound / whole : 0;
}

/* Computes the times that the solution expects: per task, the mean over its group. */
static void expect_times(struct iteration *it)
{
	for (size_t i = 0; i < it->graph->n_tasks; i++) {
		const struct group *group = &it->groups[it->of[i]];
		double fastest = time_of(it, group->type, it->fastest[group->type]), time = fastest;
		int column = group->column;
		for (size_t c = 0; c < it->graph->n_classes; c++)
			if (has_column(it, group->type, c))
				time += (time_of(it, group->type, c) - fastest) *
				        glp_get_col_prim(it->problem, column++) / (double)group->count;
		it->expected[i] = time;
	}
}

/* Looks for a path longer than `limit`; returns 0 if the search is over, otherwise 1, and hd_paths_find has found the
 * path.
 *
 * The longest path by the smoothed times is tried first. With the times of the last solution alone, which is one of
 * many that are as good, each round would undo the one before (Ben-Ameur and Neto's "in-out separation", Networks 49,
 * 2007). A mean of solutions also satisfies the rows of the classes, so if it has no path that is too long, the search
 * is over. */
static int find_path(struct iteration *it, double limit)
{
	struct hd_paths *p = it->paths;
	size_t n = it->graph->n_tasks;
	double weight = it->out->rounds > 1 ? SMOOTHING : 0, length = 0;
	for (size_t i = 0; i < n; i++)
		p->weights[i] = it->smoothed[i] = weight * it->smoothed[i] + (1 - weight) * it->expected[i];
	if (hd_paths_find(p) <= limit)
		return 0;
	for (size_t task = p->start; task != HD_PATH_END; task = p->next[task])
		length += it->expected[task];
	if (length > limit)
		return 1;
	memcpy(p->weights, it->expected, n * sizeof *p->weights);
	return hd_paths_find(p) > limit;
}

/* Solves the program, starting from the basis of the last round; if that cycles, again from the standard basis. Returns
 * whether it found a solution. */
static int solve(struct iteration *it)
{
	glp_smcp parameters;
	glp_init_smcp(&parameters);
	parameters.msg_lev = GLP_MSG_OFF;
	parameters.meth = GLP_DUALP; /* the dual simplex, because only the new row is violated */
	parameters.tol_bnd = parameters.tol_dj = LP_TOLERANCE;
	int n_rows = glp_get_num_rows(it->problem), n_columns = glp_get_num_cols(it->problem);
	for (int attempt = 0; attempt < 2; attempt++) {
		int is_anew = attempt > 0 || it->out->rounds == 0;
		parameters.it_lim = PIVOTS + 10 * (n_rows + (is_anew ? n_columns : 0));
		if (glp_simplex(it->problem, &parameters) == 0 && glp_get_status(it->problem) == GLP_OPT)
			return 1;
		glp_std_basis(it->problem);
	}
	return 0;
}

/* Solves and adds paths until nothing is left to do. The first path added is the critical path. */
static int iterate(void *arg)
{
	struct iteration *it = arg;
	int status = build(it);
	hd_paths_find(it->paths);
	while (!status && it->out->rounds < it->max_rounds && !it->out->converged) {
		status = add_path(it);
		if (status || !solve(it))
			break; /* the bound proven so far stays valid */
		it->out->rounds++;
		if (it->graph->watch)
			it->graph->watch->round(it->out->rounds, it->max_rounds, it->graph->watch->arg);
		it->out->iterative = fmax(it->out->iterative, prove(it));
		expect_times(it);
		it->out->converged = !find_path(it, glp_get_col_prim(it->problem, T_COLUMN) * (1 + TOLERANCE));
	}
	return status;
}

static int begin(struct iteration *it)
{
	size_t n = it->graph->n_tasks;
	double sum = 0;
	it->groups = malloc((n + 1) * sizeof *it->groups);
	it->of = malloc((n + 1) * sizeof *it->of);
	it->fastest = malloc((it->types->n + 1) * sizeof *it->fastest);
	it->price = malloc((n + 1) * sizeof *it->price);
	it->expected = malloc((n + 1) * sizeof *it->expected);
	it->smoothed = malloc((n + 1) * sizeof *it->smoothed);
	if (!it->groups || !it->of || !it->fastest || !it->price || !it->expected || !it->smoothed)
		return hd_no_memory("the iterative bound");
	for (size_t t = 0; t < it->types->n; t++) {
		const double *times = it->types->times + t * it->types->n_classes;
		sum += it->types->best[t] * it->types->counts[t];
		for (size_t c = it->types->n_classes; c-- > 0;)
			it->fastest[t] = times[c] <= it->types->best[t] ? c : it->fastest[t];
	}
	it->scale = sum > 0 ? (double)n / sum : 0;
	for (size_t i = 0; i < n; i++)
		it->smoothed[i] = 0;
	return 0;
}

static void end(struct iteration *it)
{
	while (it->last) {
		struct path *before = it->last->before;
		free(it->last);
		it->last = before;
	}
	free(it->groups);
	free(it->of);
	free(it->fastest);
	free(it->price);
	free(it->expected);
	free(it->smoothed);
	free(it->index);
	free(it->value);
}

/* Whether each class can run all tasks for which it is the fastest within the time of the critical path. Then no bound
 * of this kind is larger than the critical path. */
static int path_suffices(const struct iteration *it)
{
	const struct hd_types *types = it->types;
	for (size_t c = 0; c < types->n_classes; c++) {
		double work = 0;
		for (size_t t = 0; t < types->n; t++)
			work += it->fastest[t] == c ? types->counts[t] * types->best[t] : 0;
		if (work > hd_costed_capacity(it->graph, c) * it->out->critical_path)
			return 0;
	}
	return 1;
}

int hd_iterative_bound(const struct hd_types *types, struct hd_paths *paths, unsigned rounds, struct heddle_bounds *out)
{
	struct iteration it = {.graph = paths->graph, .types = types, .paths = paths, .max_rounds = rounds, .out = out};
	int status = begin(&it);
	out->iterative = fmax(out->area, out->critical_path);
	out->converged = !status && path_suffices(&it);
	if (!status && !out->converged)
		status = hd_lp_run(iterate, &it);
	end(&it);
	return status;
}
