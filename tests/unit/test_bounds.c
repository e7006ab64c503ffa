/* src/bounds: on instances made by hand, and on random ones against each other, exhaustive search, and the whole linear
 * program at once. */
#include <stdlib.h>
#include <string.h>
#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include "../chance.h"
#include "../sanitized.h"
#include "bounds/bounds.h"
#include "bounds/lp.h"
#include "taskgraph/graph.h"
#include "ok.h"

enum { MAX_TASKS = 16, MAX_EDGES = MAX_TASKS * MAX_TASKS, ROUNDS = 1000 };
enum { FEWER = SANITIZED ? 5 : 1 }; /* random instances: by this factor */

/* --- Instances ---------------------------------------------------------------------------------------------------- */

struct instance {
	size_t n_tasks, n_classes, n_edges, workers[3];
	double times[MAX_TASKS][3];
	struct hd_costed_edge edges[MAX_EDGES];
};

static struct heddle_platform
    *platforms[4]; /* with one worker of each of so many classes: for names; instances say how many */

static int set_up(void **state)
{
	(void)state;
	for (size_t n = 1; n <= 3; n++) {
		char text[512] = "version: 1\nname: p\nnodes:\n  - {name: ram}\nclasses:\n";
		for (size_t c = 0; c < n; c++)
			snprintf(text + strlen(text), sizeof text - strlen(text), "  - {name: c%zu, kind: cpu}\n", c);
		strcat(text, "workers:\n");
		for (size_t c = 0; c < n; c++)
			snprintf(text + strlen(text), sizeof text - strlen(text),
			         "  - {name: w%zu, class: c%zu, node: ram}\n", c, c);
		if (heddle_platform_parse("test", text, strlen(text), &platforms[n]))
			return -1;
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (size_t n = 1; n <= 3; n++)
		heddle_platform_free(platforms[n]);
	return 0;
}

static void open_graph(const struct instance *in, struct hd_costed *g)
{
	OK(hd_costed_init(g, platforms[in->n_classes], in->n_tasks));
	for (size_t c = 0; c < in->n_classes; c++)
		g->workers[c] = (double)in->workers[c];
	for (size_t i = 0; i < in->n_tasks; i++) {
		memcpy(g->times + i * in->n_classes, in->times[i], in->n_classes * sizeof(double));
		OK(hd_costed_accept(g, i, "work", i));
	}
	OK(hd_costed_set_edges(g, in->edges, in->n_edges));
}

static struct heddle_bounds bounds_of(const struct instance *in, unsigned rounds)
{
	struct hd_costed g;
	struct heddle_bounds bounds;
	open_graph(in, &g);
	OK(hd_bounds(&g, rounds, &bounds));
	hd_costed_free(&g);
	return bounds;
}

static double optimum_of(const struct instance *in)
{
	struct hd_costed g;
	double makespan;
	open_graph(in, &g);
	OK(hd_optimum(&g, &makespan));
	hd_costed_free(&g);
	return makespan;
}

static void add_tasks(struct instance *in, size_t n, int is_chain, double first, double second)
{
	for (size_t i = 0; i < n; i++) {
		size_t task = in->n_tasks++;
		in->times[task][0] = first;
		in->times[task][1] = second;
		if (is_chain && i > 0)
			in->edges[in->n_edges++] = (struct hd_costed_edge){task - 1, task};
	}
}

/* Times of tasks are those of a few types, or each its own; some classes cannot run some of them. */
static struct instance random_instance(struct hd_rng *rng, uint32_t max_tasks, uint32_t max_classes,
                                       uint32_t max_workers)
{
	struct instance in = {.n_tasks = 1 + below(rng, max_tasks), .n_classes = 1 + below(rng, max_classes)};
	uint32_t n_types = 1 + below(rng, (uint32_t)in.n_tasks), density = below(rng, 4);
	double types[MAX_TASKS][3];
	for (size_t c = 0; c < in.n_classes; c++)
		in.workers[c] = 1 + below(rng, max_workers);
	for (size_t t = 0; t < n_types; t++) {
		for (size_t c = 0; c < in.n_classes; c++)
			types[t][c] = below(rng, 8)
			                  ? 1 + floor(20 * hd_rng_uniform(rng) * hd_rng_uniform(rng) * (double)(c + 1))
			                  : NAN;
		if (isnan(types[t][t % in.n_classes]))
			types[t][t % in.n_classes] = below(rng, 10) ? 5 : 0;
	}
	for (size_t i = 0; i < in.n_tasks; i++) {
		memcpy(in.times[i], types[below(rng, n_types)], sizeof in.times[i]);
		for (size_t k = 0; k < i; k++)
			if (below(rng, 4) < density)
				in.edges[in.n_edges++] = (struct hd_costed_edge){k, i};
	}
	return in;
}

/* --- Made by hand ------------------------------------------------------------------------------------------------- */

static void near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-6 * fabs(b)))
		fail_msg("%.9g instead of %.9g", a, b);
}

/* A chain of four tasks of 2 us on the core and 1 us on the card, six others of 10 us or 1 us. The area gives the card
 * to the others: 10/3 of the chain on the core, T = 20/3, and the chain takes 22/3. With x of the chain and 6 - y of
 * the others on the card, what counts is 8 - x <= T, 6 - y + x <= T, 10 y + 2 (4 - x) <= T: y = 2/19, T = 7 - 1/19. */
static void iterative_bound_is_above_area_and_path(void **state)
{
	(void)state;
	struct instance in = {.n_classes = 2, .workers = {1, 1}};
	add_tasks(&in, 4, 1, 2, 1);
	add_tasks(&in, 6, 0, 10, 1);
	struct heddle_bounds b = bounds_of(&in, ROUNDS);
	near(b.area, 20.0 / 3);
	near(b.critical_path, 4);
	near(b.iterative, 7 - 1.0 / 19);
	near(optimum_of(&in), 7);
	assert_true(b.converged && b.mixed == b.iterative);
	assert_in_range(b.rounds, 1, 20);
}

/* Six alike: four in a chain, that the card does, and two that the core does meanwhile. Were the chain's times taken
 * for the mean of all six, T would be above the optimum. */
static void tasks_of_a_path_may_be_treated_unlike_the_rest_of_their_type(void **state)
{
	(void)state;
	struct instance in = {.n_classes = 2, .workers = {1, 1}};
	add_tasks(&in, 4, 1, 2, 1);
	add_tasks(&in, 2, 0, 2, 1);
	struct heddle_bounds b = bounds_of(&in, ROUNDS);
	near(b.iterative, 4);
	near(optimum_of(&in), 4);
	assert_true(b.converged);
}

static void iterative_bound_is_left_out_or_stopped_when_asked(void **state)
{
	(void)state;
	struct instance in = {.n_classes = 2, .workers = {1, 1}};
	add_tasks(&in, 4, 1, 2, 1);
	add_tasks(&in, 6, 0, 10, 1);
	struct heddle_bounds b = bounds_of(&in, 0);
	assert_true(isnan(b.iterative) && b.rounds == 0 && !b.converged);
	near(b.mixed, 20.0 / 3);
	in.n_tasks = in.n_edges = 0;
	b = bounds_of(&in, ROUNDS);
	assert_true(b.iterative == 0 && b.mixed == 0 && b.converged);
	assert_true(optimum_of(&in) == 0);
	in = (struct instance){.n_classes = 2, .workers = {3, 1}};
	for (int chain = 0; chain < 3; chain++)
		add_tasks(&in, 4, 1, 3, 1);
	b = bounds_of(&in, 1);
	assert_true(b.rounds == 1 && !b.converged && b.iterative >= b.area * (1 - 1e-6));
	b = bounds_of(&in, ROUNDS);
	assert_true(b.rounds > 2 && b.converged && b.iterative > b.area * 1.01);
}

static void tasks_without_times_and_circles_are_refused(void **state)
{
	(void)state;
	struct instance in = {.n_classes = 2, .workers = {1, 0}};
	struct heddle_bounds bounds = {.mixed = 3};
	struct hd_costed g;
	double makespan = 5;
	add_tasks(&in, 2, 1, 2, 1);
	in.edges[in.n_edges++] = (struct hd_costed_edge){1, 0};
	open_graph(&in, &g);
	assert_int_equal(hd_bounds(&g, 9, &bounds), HEDDLE_E_INVALID);
	assert_int_equal(hd_optimum(&g, &makespan), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "circle"));
	assert_true(bounds.mixed == 3 && makespan == 5); /* written only on success */
	g.times[0] = NAN;                                /* the other class has no workers */
	assert_int_equal(hd_costed_accept(&g, 0, "gemm", 17), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "gemm (task 17)"));
	g.times[0] = -1;
	assert_int_equal(hd_costed_accept(&g, 0, "gemm", 17), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "class c0 is -1"));
	hd_costed_free(&g);
	in.n_tasks = HD_OPTIMUM_TASKS + 1;
	in.n_edges = 0;
	for (size_t i = 0; i < in.n_tasks; i++)
		in.times[i][0] = 1;
	open_graph(&in, &g);
	assert_int_equal(hd_optimum(&g, &makespan), HEDDLE_E_UNSUPPORTED);
	hd_costed_free(&g);
}

/* Two tasks of 2 us in a row, by a datum, and one of 3 us beside them, on one core. */
static void bounds_of_a_task_graph_follow_its_accesses(void **state)
{
	(void)state;
	char name[] = "g", type[] = "work", *classes[] = {platforms[1]->classes[0].name};
	double times[] = {2, 2, 3}, makespan;
	struct heddle_graph_type types[] = {{type, 0}};
	struct heddle_graph_datum data[] = {{8}};
	struct heddle_graph_task tasks[] = {
	    {.n_accesses = 1}, {.first_access = 1, .n_accesses = 1}, {.first_access = 2}};
	struct heddle_graph_access accesses[] = {{0, HEDDLE_W}, {0, HEDDLE_R}};
	struct heddle_graph graph = {.name = name,
	                             .types = types,
	                             .n_types = 1,
	                             .data = data,
	                             .n_data = 1,
	                             .tasks = tasks,
	                             .n_tasks = 3,
	                             .accesses = accesses,
	                             .n_accesses = 2,
	                             .classes = classes,
	                             .n_classes = 1,
	                             .times = times};
	struct heddle_bounds b;
	OK(heddle_graph_bounds(&graph, platforms[1], ROUNDS, &b));
	near(b.area, 7);
	near(b.critical_path, 4);
	near(b.iterative, 7);
	OK(hd_graph_optimum(&graph, platforms[1], &makespan));
	near(makespan, 7);
	times[2] = NAN;
	assert_int_equal(heddle_graph_bounds(&graph, platforms[1], 0, &b), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "work (task 2)"));
	assert_int_equal(heddle_graph_bounds(NULL, platforms[1], 0, &b), HEDDLE_E_INVALID);
}

/* --- Random ------------------------------------------------------------------------------------------------------- */

/* A linear program, row by row. */
struct rows {
	Clp_Simplex *model;
	int index[64], n;
	double value[64];
};

static void put(struct rows *rows, size_t column, double value)
{
	rows->index[rows->n] = (int)column;
	rows->value[rows->n++] = value;
}

static void end_row(struct rows *rows, double least, double most)
{
	int start[] = {0, rows->n};
	Clp_addRows(rows->model, 1, &least, &most, start, rows->index, rows->value);
	rows->n = 0;
}

/* Everything at once: shares and a start of every task, a row per edge. Column 0 is T, then the starts, then the
 * shares. */
static double whole_program(const struct instance *in)
{
	size_t starts = 1, shares = 1 + in->n_tasks;
	struct rows rows = {.model = Clp_newModel()};
	Clp_setLogLevel(rows.model, 0);
	Clp_resize(rows.model, 0, (int)(shares + in->n_tasks * in->n_classes));
	Clp_objective(rows.model)[0] = 1;
	for (size_t e = 0; e < in->n_tasks + in->n_edges; e++) { /* start + time <= start of the next, or T */
		size_t from = e < in->n_tasks ? e : in->edges[e - in->n_tasks].from;
		put(&rows, starts + from, 1);
		put(&rows, e < in->n_tasks ? 0 : starts + in->edges[e - in->n_tasks].to, -1);
		for (size_t c = 0; c < in->n_classes; c++)
			if (!isnan(in->times[from][c]))
				put(&rows, shares + from * in->n_classes + c, in->times[from][c]);
		end_row(&rows, -DBL_MAX, 0);
	}
	for (size_t i = 0; i < in->n_tasks; i++) { /* shares sum to 1 */
		for (size_t c = 0; c < in->n_classes; c++)
			if (!isnan(in->times[i][c]))
				put(&rows, shares + i * in->n_classes + c, 1);
		end_row(&rows, 1, 1);
	}
	for (size_t c = 0; c < in->n_classes; c++) { /* area */
		put(&rows, 0, -(double)in->workers[c]);
		for (size_t i = 0; i < in->n_tasks; i++)
			if (!isnan(in->times[i][c]))
				put(&rows, shares + i * in->n_classes + c, in->times[i][c]);
		end_row(&rows, -DBL_MAX, 0);
	}
	Clp_primal(rows.model, 0);
	assert_int_equal(Clp_status(rows.model), 0);
	double makespan = Clp_objectiveValue(rows.model);
	Clp_deleteModel(rows.model);
	return makespan;
}

static void bounds_of_random_instances_are_below_the_optimum(void **state)
{
	(void)state;
	struct hd_rng rng;
	hd_rng_seed(&rng, 2016);
	size_t n_better = 0, n_tight = 0;
	for (int i = 0; i < 5000 / FEWER; i++) {
		struct instance in = random_instance(&rng, 8, 3, 3);
		struct heddle_bounds early = bounds_of(&in, 1 + below(&rng, 3)), b = bounds_of(&in, ROUNDS);
		double optimum = optimum_of(&in), largest = fmax(b.area, b.critical_path);
		if (b.mixed > optimum * (1 + 1e-9) || early.mixed > b.mixed * (1 + 1e-6))
			fail_msg(
			    "instance %d: optimum %.9g, area %.9g, path %.9g, iterative %.9g, after %u rounds %.9g", i,
			    optimum, b.area, b.critical_path, b.iterative, early.rounds, early.iterative);
		if (!b.converged || b.iterative < largest * (1 - 1e-5))
			fail_msg("instance %d: area %.9g, path %.9g, iterative %.9g", i, b.area, b.critical_path,
			         b.iterative);
		n_better += b.iterative > largest * 1.001;
		n_tight += b.mixed > optimum * (1 - 1e-6);
	}
	assert_true(n_better > 400 / FEWER); /* the instances are not all easy */
	assert_true(n_tight > 3000 / FEWER);
}

/* Tasks of 6 us on a class whose workers run three kernels at once, in all 1.5 times as fast as one at best. */
static void several_kernels_at_once_raise_the_capacity(void **state)
{
	(void)state;
	double sharing[] = {1, .75, .4}, makespan;
	struct heddle_class *shared = &platforms[1]->classes[0];
	struct instance in = {.n_tasks = 5, .n_classes = 1, .n_edges = 1, .workers = {1}, .edges = {{0, 1}}};
	for (size_t i = 0; i < in.n_tasks; i++)
		in.times[i][0] = 6;
	shared->streams = 3;
	shared->sharing = sharing;
	struct heddle_bounds b = bounds_of(&in, ROUNDS);
	near(b.area, 20);
	near(b.critical_path, 12);
	near(b.iterative, 20);
	struct hd_costed g;
	open_graph(&in, &g);
	assert_int_equal(hd_optimum(&g, &makespan), HEDDLE_E_UNSUPPORTED);
	hd_costed_free(&g);
	in.workers[0] = 2;
	near(bounds_of(&in, ROUNDS).area, 10);
	shared->sharing = NULL;
	near(bounds_of(&in, ROUNDS).area, 15);
	shared->streams = 1;
	near(optimum_of(&in), 18);
}

static void iterative_bound_of_random_instances_is_that_of_the_whole_program(void **state)
{
	(void)state;
	struct hd_rng rng;
	hd_rng_seed(&rng, 14);
	for (int i = 0; i < 2000 / FEWER; i++) {
		struct instance in = random_instance(&rng, MAX_TASKS, 3, 4);
		struct heddle_bounds b = bounds_of(&in, ROUNDS);
		double whole = whole_program(&in);
		if (fabs(b.iterative - whole) > 2e-5 * whole)
			fail_msg("instance %d of %zu tasks: %.9g after %u rounds instead of %.9g", i, in.n_tasks,
			         b.iterative, b.rounds, whole);
		in.n_edges = 0; /* then a task is a path */
		b = bounds_of(&in, 0);
		if (b.mixed > whole_program(&in) * (1 + 1e-6))
			fail_msg("instance %d of %zu tasks: area %.9g, path %.9g", i, in.n_tasks, b.area,
			         b.critical_path);
	}
}

/* By C++'s operator new, which CLP calls. */
static int ask_for_too_much(void *arg)
{
	void *library = dlopen(NULL, RTLD_NOW), *(*allocate)(size_t) = dlsym(library, "_Znwm");
	dlclose(library);
	*(void **)arg = allocate(SIZE_MAX / 2);
	return 0;
}

static void an_exception_in_clp_is_an_error(void **state)
{
	(void)state;
	void *block = NULL;
	if (SANITIZED) /* whose operator new ends the program */
		skip();
	assert_int_equal(hd_lp_run(ask_for_too_much, &block), HEDDLE_E_MEMORY);
	assert_string_equal(heddle_last_error(), "out of memory for a linear program");
	assert_null(block);
}

/* Two classes at most. Tasks in any order that their dependencies allow, each on any worker, as early as can be. */
static double try_all(const struct instance *in, unsigned done, double *free_at, double *ends)
{
	double best = INFINITY, length = 0;
	for (size_t i = 0; i < in->n_tasks; i++) {
		double ready = 0;
		int waits = (int)(done >> i & 1);
		for (size_t e = 0; e < in->n_edges; e++) {
			if (in->edges[e].to != i)
				continue;
			waits |= !(done >> in->edges[e].from & 1);
			ready = fmax(ready, ends[in->edges[e].from]);
		}
		for (size_t w = 0; !waits && w < in->workers[0] + in->workers[1]; w++) {
			double us = in->times[i][w >= in->workers[0]], before = free_at[w];
			if (isnan(us))
				continue;
			ends[i] = free_at[w] = fmax(before, ready) + us;
			best = fmin(best, try_all(in, done | 1u << i, free_at, ends));
			free_at[w] = before;
		}
	}
	for (size_t i = 0; i < in->n_tasks; i++)
		length = fmax(length, ends[i]);
	return done + 1 == 1u << in->n_tasks ? length : best;
}

static void optimum_of_random_instances_is_that_of_all_schedules(void **state)
{
	(void)state;
	struct hd_rng rng;
	hd_rng_seed(&rng, 3);
	for (int i = 0; i < 1000 / FEWER; i++) {
		struct instance in = random_instance(&rng, i % 20 ? 4 : 5, 2, 2);
		double free_at[8] = {0}, ends[MAX_TASKS] = {0}, expected = try_all(&in, 0, free_at, ends);
		if (fabs(optimum_of(&in) - expected) > 1e-9)
			fail_msg("instance %d: %g instead of %g", i, optimum_of(&in), expected);
	}
}

static void optimum_of_twelve_tasks_is_found(void **state)
{
	(void)state;
	struct hd_rng rng;
	hd_rng_seed(&rng, 12);
	for (int i = 0; i < 20; i++) {
		struct instance in = random_instance(&rng, 1, 1, 1);
		in.n_tasks = 12;
		in.n_classes = 2;
		in.workers[0] = 1 + below(&rng, 6);
		in.workers[1] = 1 + below(&rng, 3);
		for (size_t t = 0; t < 12; t++) {
			in.times[t][0] = 5 + 20 * hd_rng_uniform(&rng);
			in.times[t][1] = 1 + 20 * hd_rng_uniform(&rng);
			for (size_t k = 0; k < t; k++)
				if (below(&rng, 20) < (unsigned)i % 5)
					in.edges[in.n_edges++] = (struct hd_costed_edge){k, t};
		}
		double optimum = optimum_of(&in), mixed = bounds_of(&in, ROUNDS).mixed;
		assert_true(mixed <= optimum * (1 + 1e-9));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(iterative_bound_is_above_area_and_path),
	    cmocka_unit_test(tasks_of_a_path_may_be_treated_unlike_the_rest_of_their_type),
	    cmocka_unit_test(iterative_bound_is_left_out_or_stopped_when_asked),
	    cmocka_unit_test(tasks_without_times_and_circles_are_refused),
	    cmocka_unit_test(bounds_of_a_task_graph_follow_its_accesses),
	    cmocka_unit_test(several_kernels_at_once_raise_the_capacity),
	    cmocka_unit_test(bounds_of_random_instances_are_below_the_optimum),
	    cmocka_unit_test(iterative_bound_of_random_instances_is_that_of_the_whole_program),
	    cmocka_unit_test(an_exception_in_clp_is_an_error),
	    cmocka_unit_test(optimum_of_random_instances_is_that_of_all_schedules),
	    cmocka_unit_test(optimum_of_twelve_tasks_is_found),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
