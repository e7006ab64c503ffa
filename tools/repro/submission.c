/* ht-submit: figure 8 of M. Faverge and others, "Programming heterogeneous architectures using hierarchical tasks",
 * Inria RR-9466, 2022: the cost of submitting a task of a matrix product in three variants: flat tiles of 960;
 * hierarchical tasks that submit one task each (960/960); tiles of 2880 that are cut into tiles of 960 (2880/960).
 *
 * The cost is measured on this machine. The number of tiles is that of the paper, but tiles hardly have contents, and
 * their tasks do not run while time is taken. First all workers wait in a kernel (a gate). When the program has
 * submitted its tasks, the gate of the CPU workers opens, and they submit the sub-graphs; the gate of the accelerator,
 * which alone can run the tasks, opens after the measurement. */
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "repro.h"
#include "base/base.h"

enum { FLAT, SAME, CUT, VARIANTS };
enum { RATIO = 3, REPEATS = 5, MOST_WORKERS = 2 };
static const char *const names[VARIANTS] = {"960", "960/960", "2880/960"};

/* --- The program -------------------------------------------------------------------------------------------------- */

struct product {
	heddle_runtime *rt;
	size_t t, inner; /* tiles per side of the matrices, and of a tile */
	heddle_codelet *gemm, *block, *gate;
	heddle_data **tiles[3]; /* A, B, C */
	double *memory;
	/* `cpus`, `device`: gates. `waiting`: posted by each worker that has reached its gate. `expanded`: posted by
	 * the last sub-graph. */
	sem_t cpus, device, waiting, expanded;
	/* sequentially consistent: the thread that counts the last sub-graph posts `expanded` */
	atomic_size_t n_expanded;
};

/* Waits at the gate, which is a value of the task because codelets have no argument. */
static int wait_at_gate(heddle_context *c)
{
	struct product *p = heddle_get(c, 0, struct product *);
	sem_post(&p->waiting);
	while (sem_wait(heddle_get(c, 1, sem_t *)))
		continue;
	return 0;
}

static size_t n_blocks(const struct product *p)
{
	return p->t * p->t * p->t;
}

static int nothing(heddle_context *c)
{
	(void)c;
	return 0;
}

static int submit_gemm(heddle_runtime *rt, heddle_codelet *gemm, heddle_data *const tile[3])
{
	return heddle_submit(rt, heddle_call(gemm), heddle_rw(tile[2]), heddle_r(tile[0]), heddle_r(tile[1]));
}

/* Submits the product of the smaller tiles into which the data are cut. */
static int submit_block(heddle_context *c)
{
	struct product *p = heddle_get(c, 0, struct product *);
	static const size_t order[] = {1, 2, 0}; /* places of A, B, C among the data */
	heddle_plan *plans[3];
	int status = 0;
	for (size_t i = 0; i < 3; i++)
		plans[i] = heddle_data_user(heddle_context_data(c, order[i]));
	for (size_t j = 0; j < p->inner; j++)
		for (size_t i = 0; i < p->inner; i++)
			for (size_t k = 0; k < p->inner && !status; k++)
				status = submit_gemm(p->rt, p->gemm,
				                     (heddle_data *[]){heddle_plan_child(plans[0], i + k * p->inner),
				                                       heddle_plan_child(plans[1], k + j * p->inner),
				                                       heddle_plan_child(plans[2], i + j * p->inner)});
	if (atomic_fetch_add(&p->n_expanded, 1) + 1 == n_blocks(p))
		sem_post(&p->expanded);
	return status;
}

static int submit_all(struct product *p, int is_flat)
{
	int status = 0;
	for (size_t j = 0; j < p->t; j++)
		for (size_t i = 0; i < p->t; i++)
			for (size_t k = 0; k < p->t && !status; k++) {
				heddle_data *a = p->tiles[0][i + k * p->t], *b = p->tiles[1][k + j * p->t],
				            *c = p->tiles[2][i + j * p->t];
				status = is_flat ? submit_gemm(p->rt, p->gemm, (heddle_data *[]){a, b, c})
				                 : heddle_submit(p->rt, heddle_call(p->block), heddle_rw(c),
				                                 heddle_r(a), heddle_r(b), heddle_value(p));
			}
	return status;
}

/* --- One measurement ---------------------------------------------------------------------------------------------- */

static int make_tiles(struct product *p, int is_flat)
{
	const struct heddle_filter filter = {.kind = HEDDLE_SPLIT_TILES, .tile_x = 1, .tile_y = 1};
	size_t n = p->inner;
	p->memory = tool_alloc(3 * p->t * p->t * n * n * sizeof *p->memory);
	for (size_t m = 0; m < 3; m++) {
		p->tiles[m] = tool_alloc(p->t * p->t * sizeof *p->tiles[m]);
		for (size_t i = 0; i < p->t * p->t; i++) {
			double *at = p->memory + (m * p->t * p->t + i) * n * n;
			heddle_plan *plan;
			int status = heddle_matrix(p->rt, at, n, n, n, sizeof *at, &p->tiles[m][i]);
			if (!status && !is_flat)
				status = heddle_plan_create(p->tiles[m][i], &filter, &plan);
			if (!status && !is_flat)
				status = heddle_data_set_user(p->tiles[m][i], plan);
			if (status)
				return status;
		}
	}
	return 0;
}

static int make_codelets(struct product *p)
{
	static const struct heddle_implementation on_device = {"emulated", NULL, nothing};
	static const struct heddle_implementation gates[] = {{"cpu", NULL, wait_at_gate},
	                                                     {"emulated", NULL, wait_at_gate}};
	p->gemm = heddle_codelet_new(p->rt, .name = "gemm", .implementations = &on_device, .n_implementations = 1,
	                             .model = HEDDLE_MODEL_NONE);
	p->block = heddle_codelet_new(p->rt, .name = "block", .subgraph = submit_block, .model = HEDDLE_MODEL_NONE);
	p->gate = heddle_codelet_new(p->rt, .name = "gate", .implementations = gates, .n_implementations = 2,
	                             .model = HEDDLE_MODEL_NONE);
	return p->gemm && p->block && p->gate ? 0 : HEDDLE_E_INVALID;
}

/* Keeps all workers at their gates. */
static int close_gates(struct product *p, unsigned n_cpu)
{
	int status = 0;
	for (unsigned w = 0; w <= n_cpu && !status; w++) {
		const sem_t *gate = w == n_cpu ? &p->device : &p->cpus;
		status = heddle_submit(p->rt, heddle_call(p->gate), heddle_value(p), heddle_value(gate), heddle_on(w));
	}
	for (unsigned w = 0; w <= n_cpu && !status; w++)
		while (sem_wait(&p->waiting))
			continue;
	return status;
}

/* us per computational task. */
static int measure_on(struct product *p, size_t variant, unsigned n_cpu, double *us)
{
	size_t n = p->t * p->inner;
	struct heddle_stats stats;
	int status = make_codelets(p);
	if (!status)
		status = make_tiles(p, variant == FLAT);
	if (!status)
		status = close_gates(p, n_cpu);
	double start = hd_clock_us();
	if (!status)
		status = submit_all(p, variant == FLAT);
	/* called for its side effect: the last submitted tasks enter the graph */
	int asked = heddle_runtime_stats(p->rt, &stats);
	for (unsigned w = 0; w < n_cpu; w++)
		sem_post(&p->cpus);
	while (!status && variant != FLAT && sem_wait(&p->expanded))
		continue;
	status = status ? status : asked ? asked : heddle_runtime_stats(p->rt, &stats);
	*us = (hd_clock_us() - start) / (double)(n * n * n);
	sem_post(&p->device);
	int waited = heddle_wait_all(p->rt);
	for (size_t m = 0; m < 3; m++)
		for (size_t i = 0; p->tiles[m] && i < p->t * p->t; i++)
			if (p->tiles[m][i])
				heddle_unregister(p->tiles[m][i]);
	return status ? status : waited;
}

static int measure(size_t variant, size_t tiles, unsigned n_cpu, double *us)
{
	struct heddle_config config;
	struct product p = {.inner = variant == CUT ? RATIO : 1};
	sem_t *const all[] = {&p.cpus, &p.device, &p.waiting, &p.expanded};
	p.t = tiles / p.inner;
	for (size_t i = 0; i < 4; i++)
		sem_init(all[i], 0, 0);
	int status = heddle_config_init(&config);
	config.n_cpu = (int)n_cpu;
	config.n_emulated = 1;
	config.n_cuda = config.n_opencl = 0;
	config.sched = "eager";
	config.expand = "always";
	config.window = 100000000;
	config.model_dir = "none";
	if (!status)
		status = heddle_start(&config, &p.rt);
	if (!status) {
		status = measure_on(&p, variant, n_cpu, us);
		int stopped = heddle_stop(p.rt);
		status = status ? status : stopped;
	}
	for (size_t i = 0; i < 4; i++)
		sem_destroy(all[i]);
	for (size_t m = 0; m < 3; m++)
		free(p.tiles[m]);
	free(p.memory);
	return status ? tool_library_error("submission was not measured") : TOOL_OK;
}

/* --- The report --------------------------------------------------------------------------------------------------- */

struct point {
	size_t tiles;             /* number of tiles of 960 per side */
	double us[VARIANTS], two; /* the least of several; `two` is 2880/960 with two workers that submit */
};

/* The least of several measurements, because other load of the machine only adds to the time. */
static int measure_often(size_t variant, size_t tiles, unsigned n_cpu, double *us)
{
	int status = TOOL_OK;
	*us = INFINITY;
	for (size_t i = 0; i < REPEATS && !status; i++) {
		double once = INFINITY;
		status = measure(variant, tiles, n_cpu, &once);
		*us = fmin(*us, once);
	}
	return status;
}

static int write_data(struct repro_report *report, const struct point *points, size_t n)
{
	static const struct table_column columns[] = {
	    {"tiles", NULL, NULL, 0},      {"tasks", NULL, NULL, 0},       {"flat_us", NULL, NULL, 4},
	    {"960/960_us", NULL, NULL, 4}, {"2880/960_us", NULL, NULL, 4}, {"2880/960_two_us", NULL, NULL, 4},
	};
	struct table table;
	table_init(&table, "points", NULL, columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < n; i++) {
		table_number(&table, (double)points[i].tiles);
		table_number(&table, (double)(points[i].tiles * points[i].tiles * points[i].tiles));
		for (size_t v = 0; v < VARIANTS; v++)
			table_number(&table, points[i].us[v]);
		table_number(&table, points[i].two);
	}
	int status = repro_data(report, "points", &table);
	table_free(&table);
	return status;
}

enum { POINTS = 5 };

static int draw(struct repro_report *report, const struct point *points, size_t n)
{
	struct heddle_chart_series series[VARIANTS + 1];
	double x[POINTS], y[VARIANTS + 1][POINTS];
	for (size_t v = 0; v <= VARIANTS; v++) {
		for (size_t i = 0; i < n; i++) {
			x[i] = (double)points[i].tiles * 960;
			y[v][i] = v < VARIANTS ? points[i].us[v] : points[i].two;
		}
		series[v] =
		    (struct heddle_chart_series){v < VARIANTS ? names[v] : "2880/960, two workers", x, y[v], n, 1};
	}
	const struct heddle_chart chart = {
	    .title = "Submission of a matrix product (this machine)",
	    .x_label = "order of the matrix",
	    .y_label = "us per computational task",
	    .series = series,
	    .n_series = VARIANTS + 1,
	};
	return repro_chart(report, &chart);
}

int repro_ht_submit(struct repro_report *report)
{
	static const size_t sizes[POINTS] = {9, 18, 27, 36, 45};
	struct point points[POINTS];
	size_t n = report->quick ? 2 : POINTS;
	int status = TOOL_OK;
	for (size_t i = 0; i < n; i++) {
		points[i].tiles = sizes[i];
		for (size_t v = 0; v < VARIANTS && !status; v++)
			status = measure_often(v, sizes[i], 1, &points[i].us[v]);
		if (!status)
			status = measure_often(CUT, sizes[i], MOST_WORKERS, &points[i].two);
	}
	if (status)
		return status;
	const struct point *last = &points[n - 1];
	repro_where(report, "this machine: %zu^3 products of tiles, the least of %d measurements", last->tiles,
	            REPEATS);
	repro_row(report, "960: time per task", "us", NAN, last->us[FLAT], repro_shown());
	repro_row(report, "960/960 over 960", "", 3.5, last->us[SAME] / last->us[FLAT], repro_at_most(2));
	repro_row(report, "2880/960 over 960", "", NAN, last->us[CUT] / last->us[FLAT], repro_at_most(1.05));
	repro_row(report, "2880/960 over 960, two workers submit", "", NAN, last->two / last->us[FLAT],
	          repro_at_most(1));
	repro_note(report,
	           "Real time, to be measured when the machine has nothing else to do. Tiles have no contents, and "
	           "their tasks are held back, so that submission alone is measured: first by the program, then of "
	           "sub-graphs by one worker, or by two.");
	status = write_data(report, points, n);
	return status ? status : draw(report, points, n);
}
