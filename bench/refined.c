/* Whether hierarchical tasks beat tiles of one size: Cholesky on one CPU worker and one emulated accelerator that
 * prefers large tiles. Data are really copied and tasks really scheduled, but kernels only wait, for as long as rate
 * curves say. So other programs on the machine disturb little.
 *
 *   refined [TILES] [ROUNDS]    tiles per side, each of which may be cut into CUT x CUT; rounds in turn
 *
 * Rows: the median time of flat large and flat small tiles, of large ones that are cut on and beside the diagonal
 * (expand=always), and all of which are cut (expand=adaptive); then the medians, over rounds, of the better of the flat
 * ones divided by the last two. */
#define _GNU_SOURCE
#include <errno.h>
#include "good.h"

enum { LARGE = 240, CUT = 3, SMALL = LARGE / CUT, MOST_TILES = 64, MOST_ROUNDS = 101 };
enum { POTRF, TRSM, SYRK, GEMM, N_OPS };
enum { FLAT_LARGE, FLAT_SMALL, DIAGONAL, ADAPTIVE, N_VARIANTS };
static const char *const variants[N_VARIANTS] = {"large", "small", "diagonal", "adaptive"};

/* A tile of ours stands for one SCALE times as large, and kernels and copies last as long as those of the platform
 * intel-v100 do. Gflop/s, operations with which a kernel reaches half of that, and us before it begins. */
enum { SCALE = 12, BANDWIDTH = 12300 /* MB/s */ };
static const struct curve {
	double per_cube, cpu_gflops, cpu_half, gflops, half, latency;
} curves[N_OPS] = {
    [POTRF] = {1. / 3, 42.2, 20e6, 700, 1e9, 50},
    [TRSM] = {1, 56.3, 4e6, 3500, 1.5e9, 20},
    [SYRK] = {1, 59.8, 4e6, 5600, 0.6e9, 10},
    [GEMM] = {2, 63.4, 4e6, 6300, 0.6e9, 10},
};

static heddle_runtime *rt;
static heddle_codelet *flat[N_OPS], *refined[N_OPS];

static double time_of(int op, double extent, int on_cpu)
{
	const struct curve *c = &curves[op];
	double n = extent * SCALE, operations = c->per_cube * n * n * n;
	return on_cpu ? (operations + c->cpu_half) / (c->cpu_gflops * 1e3)
	              : (operations + c->half) / (c->gflops * 1e3) + c->latency;
}

static int wait_for(double us)
{
	double end = bench_seconds() + us * 1e-6;
	struct timespec until = {(time_t)end, (long)((end - (double)(time_t)end) * 1e9)};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
	return 0;
}

static double model(int op, const struct heddle_size *size, unsigned class_id)
{
	const char *kind = heddle_runtime_platform(rt)->classes[class_id].kind;
	return time_of(op, (double)size->parts[0]->n[0], strcmp(kind, "cpu") == 0);
}

/* --- Tasks -------------------------------------------------------------------------------------------------------- */

/* A lower triangle of tiles, or the tiles of a cut one. */
struct tiles {
	heddle_data *const *data; /* by rows; NULL: `plan` has them */
	heddle_plan *plan;
	size_t n;
	size_t band; /* tiles at most so far from the diagonal are cut; 0: none is */
	int priority;
};

static heddle_data *at(const struct tiles *a, size_t i, size_t j)
{
	return a->data ? a->data[i * a->n + j] : heddle_plan_child(a->plan, i + j * a->n);
}

/* Submits a task on the tiles (i, j), which it changes, (i, k) and (j, k). */
static int submit(const struct tiles *a, int op, const size_t ijk[3], size_t n_data)
{
	size_t i = ijk[0], j = ijk[1], k = ijk[2];
	size_t farthest = n_data == 1 ? 0 : n_data == 2 && op == TRSM ? i - j : i - k;
	int local = (int)(3 * a->n - i - j - k), priority = a->plan ? a->priority + local : 100 * local;
	heddle_codelet *codelet = farthest < a->band ? refined[op] : flat[op];
	if (n_data == 1)
		return heddle_submit(rt, heddle_call(codelet), heddle_priority(priority), heddle_value(priority),
		                     heddle_rw(at(a, i, j)));
	if (n_data == 2)
		return heddle_submit(rt, heddle_call(codelet), heddle_priority(priority), heddle_value(priority),
		                     heddle_rw(at(a, i, j)), heddle_r(op == TRSM ? at(a, j, j) : at(a, i, k)));
	return heddle_submit(rt, heddle_call(codelet), heddle_priority(priority), heddle_value(priority),
	                     heddle_rw(at(a, i, j)), heddle_r(at(a, i, k)), heddle_r(at(a, j, k)));
}

static int cholesky(const struct tiles *a)
{
	int status = 0;
	for (size_t k = 0; k < a->n && !status; k++) {
		status = submit(a, POTRF, (size_t[]){k, k, k}, 1);
		for (size_t i = k + 1; i < a->n && !status; i++)
			status = submit(a, TRSM, (size_t[]){i, k, k}, 2);
		for (size_t j = k + 1; j < a->n && !status; j++) {
			status = submit(a, SYRK, (size_t[]){j, j, k}, 2);
			for (size_t i = j + 1; i < a->n && !status; i++)
				status = submit(a, GEMM, (size_t[]){i, j, k}, 3);
		}
	}
	return status;
}

static heddle_data *child(heddle_context *c, size_t datum, size_t i, size_t j)
{
	return heddle_plan_child(heddle_data_user(heddle_context_data(c, datum)), i + j * CUT);
}

static struct tiles inner_of(heddle_context *c)
{
	return (struct tiles){NULL, heddle_data_user(heddle_context_data(c, 0)), CUT, 0, heddle_get(c, 0, int)};
}

static int potrf_subgraph(heddle_context *c)
{
	struct tiles a = inner_of(c);
	return cholesky(&a);
}

/* B := B L^-T */
static int trsm_subgraph(heddle_context *c)
{
	int status = 0, priority = heddle_get(c, 0, int);
	for (size_t k = 0; k < CUT; k++)
		for (size_t i = 0; i < CUT && !status; i++) {
			status = heddle_submit(rt, heddle_call(flat[TRSM]), heddle_priority(priority + CUT - (int)k),
			                       heddle_value(priority), heddle_rw(child(c, 0, i, k)),
			                       heddle_r(child(c, 1, k, k)));
			for (size_t j = k + 1; j < CUT && !status; j++)
				status =
				    heddle_submit(rt, heddle_call(flat[GEMM]), heddle_priority(priority + CUT - (int)k),
				                  heddle_value(priority), heddle_rw(child(c, 0, i, j)),
				                  heddle_r(child(c, 0, i, k)), heddle_r(child(c, 1, j, k)));
		}
	return status;
}

/* C := C - A B^T, or its lower triangle. */
static int product(heddle_context *c, int lower)
{
	int status = 0, priority = heddle_get(c, 0, int);
	for (size_t k = 0; k < CUT; k++)
		for (size_t j = 0; j < CUT; j++)
			for (size_t i = lower ? j : 0; i < CUT && !status; i++)
				status = lower && i == j
				             ? heddle_submit(rt, heddle_call(flat[SYRK]), heddle_priority(priority),
				                             heddle_value(priority), heddle_rw(child(c, 0, i, i)),
				                             heddle_r(child(c, 1, i, k)))
				             : heddle_submit(rt, heddle_call(flat[GEMM]), heddle_priority(priority),
				                             heddle_value(priority), heddle_rw(child(c, 0, i, j)),
				                             heddle_r(child(c, 1, i, k)),
				                             heddle_r(child(c, lower ? 1 : 2, j, k)));
	return status;
}

static int syrk_subgraph(heddle_context *c)
{
	return product(c, 1);
}

static int gemm_subgraph(heddle_context *c)
{
	return product(c, 0);
}

/* The functions of a codelet. */
#define OPERATION(name, op)                                                          \
	static int name##_on_cpu(heddle_context *c)                                  \
	{                                                                            \
		return wait_for(time_of(op, (double)heddle_extent(c, 0, 0), 1));     \
	}                                                                            \
	static int name##_on_accelerator(heddle_context *c)                          \
	{                                                                            \
		return wait_for(time_of(op, (double)heddle_extent(c, 0, 0), 0));     \
	}                                                                            \
	static double name##_time(const struct heddle_size *size, unsigned class_id) \
	{                                                                            \
		return model(op, size, class_id);                                    \
	}
OPERATION(potrf, POTRF)
OPERATION(trsm, TRSM)
OPERATION(syrk, SYRK)
OPERATION(gemm, GEMM)

static void make_codelets(void)
{
#define MAKE(op, x, ...)                                                                      \
	heddle_codelet_new(rt, .name = #x, .cpu = x##_on_cpu, .emulated = x##_on_accelerator, \
	                   .model = HEDDLE_MODEL_GIVEN, .time = x##_time __VA_OPT__(, ) __VA_ARGS__)
#define MAKE_BOTH(op, x)                                     \
	flat[op] = MAKE(op, x);                              \
	refined[op] = MAKE(op, x, .subgraph = x##_subgraph); \
	bench_need(flat[op] && refined[op], heddle_last_error())
	MAKE_BOTH(POTRF, potrf);
	MAKE_BOTH(TRSM, trsm);
	MAKE_BOTH(SYRK, syrk);
	MAKE_BOTH(GEMM, gemm);
}

/* --- Runs --------------------------------------------------------------------------------------------------------- */

static void start(int variant)
{
	struct heddle_config config;
	good(heddle_config_init(&config));
	config.n_cpu = 1;
	config.n_emulated = 1;
	config.n_cuda = config.n_opencl = 0;
	config.emulated_bandwidth = (double)BANDWIDTH / (SCALE * SCALE);
	config.sched = "dmdas";
	config.expand = variant == ADAPTIVE ? "adaptive" : "always";
	config.model_dir = "none";
	good(heddle_start(&config, &rt));
	make_codelets();
}

static heddle_data **make_tiles(double *memory, size_t n, size_t size, size_t band)
{
	const struct heddle_filter filter = {.kind = HEDDLE_SPLIT_TILES, .tile_x = SMALL, .tile_y = SMALL};
	heddle_data **data = calloc(n * n, sizeof *data);
	bench_need(data != NULL, "no memory");
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j <= i; j++) {
			heddle_plan *plan;
			heddle_data **to = &data[i * n + j];
			good(heddle_matrix(rt, memory + (i * n + j) * size * size, size, size, size, sizeof *memory,
			                   to));
			if (i - j >= band)
				continue;
			good(heddle_plan_create(*to, &filter, &plan));
			good(heddle_data_set_user(*to, plan));
		}
	return data;
}

/* Milliseconds of one factorisation. */
static double run(double *memory, size_t tiles, int variant)
{
	size_t n = variant == FLAT_SMALL ? CUT * tiles : tiles, size = variant == FLAT_SMALL ? SMALL : LARGE;
	size_t band = variant == DIAGONAL ? 2 : variant == ADAPTIVE ? n : 0;
	start(variant);
	heddle_data **data = make_tiles(memory, n, size, band);
	const struct tiles a = {data, NULL, n, band, 0};
	double begin = bench_seconds();
	good(cholesky(&a));
	good(heddle_wait_all(rt));
	double ms = (bench_seconds() - begin) * 1e3;
	for (size_t i = 0; i < n * n; i++)
		if (data[i])
			good(heddle_unregister(data[i]));
	good(heddle_stop(rt));
	free(data);
	return ms;
}

int main(int argc, char **argv)
{
	static double ms[N_VARIANTS][MOST_ROUNDS], gain[N_VARIANTS][MOST_ROUNDS];
	size_t tiles = bench_number(argc, argv, 1, 6), rounds = bench_number(argc, argv, 2, 5);
	bench_need(tiles <= MOST_TILES && rounds && rounds <= MOST_ROUNDS, "at most 64 tiles and 101 rounds");
	double *memory = calloc(tiles * tiles * LARGE * LARGE, sizeof *memory);
	bench_need(memory != NULL, "no memory");
	for (size_t r = 0; r < rounds; r++) {
		for (int v = 0; v < N_VARIANTS; v++)
			ms[v][r] = run(memory, tiles, v);
		double better = ms[FLAT_LARGE][r] < ms[FLAT_SMALL][r] ? ms[FLAT_LARGE][r] : ms[FLAT_SMALL][r];
		for (int v = DIAGONAL; v < N_VARIANTS; v++)
			gain[v][r] = better / ms[v][r];
	}
	for (int v = 0; v < N_VARIANTS; v++)
		bench_row(variants[v], 2, "ms", bench_median(ms[v], rounds));
	for (int v = DIAGONAL; v < N_VARIANTS; v++)
		bench_row(variants[v], 2, "gain", bench_median(gain[v], rounds));
	free(memory);
	return 0;
}
