/* The time of the tiled Cholesky factorisation of apps/dense on StarPU, with the same kernels, order of submission and
 * priorities (number of tasks on the longest path to the end), and with history models for the policies that use them.
 * STARPU_SCHED chooses the policy, STARPU_NCPU the number of workers; the main thread sleeps.
 * starpu_dcholesky WORKERS N TILE LAYOUT, where LAYOUT is in_place or tiled */
#include <starpu.h>
#include "grid.h"

static struct starpu_perfmodel models[4] = {
    {.type = STARPU_HISTORY_BASED, .symbol = "bench_" LETTER "potrf"},
    {.type = STARPU_HISTORY_BASED, .symbol = "bench_" LETTER "trsm"},
    {.type = STARPU_HISTORY_BASED, .symbol = "bench_" LETTER "syrk"},
    {.type = STARPU_HISTORY_BASED, .symbol = "bench_" LETTER "gemm"},
};

#define PTR(i) ((real *)STARPU_MATRIX_GET_PTR(buffers[i]))
#define LD(i) ((int)STARPU_MATRIX_GET_LD(buffers[i]))
#define ROWS(i) ((int)STARPU_MATRIX_GET_NX(buffers[i]))
#define COLUMNS(i) ((int)STARPU_MATRIX_GET_NY(buffers[i]))

static void potrf(void *buffers[], void *arg)
{
	(void)arg;
	bench_need(POTRF(LAPACK_COL_MAJOR, 'L', ROWS(0), PTR(0), LD(0)) == 0, "the matrix is not positive definite");
}

static void trsm(void *buffers[], void *arg)
{
	(void)arg;
	BLAS(trsm)
	(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, ROWS(0), COLUMNS(0), 1, PTR(1), LD(1), PTR(0),
	 LD(0));
}

static void syrk(void *buffers[], void *arg)
{
	(void)arg;
	BLAS(syrk)
	(CblasColMajor, CblasLower, CblasNoTrans, ROWS(1), COLUMNS(1), -1, PTR(1), LD(1), 1, PTR(0), LD(0));
}

static void gemm(void *buffers[], void *arg)
{
	(void)arg;
	BLAS(gemm)
	(CblasColMajor, CblasNoTrans, CblasTrans, ROWS(1), ROWS(2), COLUMNS(1), -1, PTR(1), LD(1), PTR(2), LD(2), 1,
	 PTR(0), LD(0));
}

enum { POTRF_TASK, TRSM_TASK, SYRK_TASK, GEMM_TASK };
static struct starpu_codelet codelets[4] = {
    {.cpu_funcs = {potrf}, .nbuffers = 1, .modes = {STARPU_RW}, .model = &models[0]},
    {.cpu_funcs = {trsm}, .nbuffers = 2, .modes = {STARPU_RW, STARPU_R}, .model = &models[1]},
    {.cpu_funcs = {syrk}, .nbuffers = 2, .modes = {STARPU_RW, STARPU_R}, .model = &models[2]},
    {.cpu_funcs = {gemm}, .nbuffers = 3, .modes = {STARPU_RW, STARPU_R, STARPU_R}, .model = &models[3]},
};

static void submit(int kind, size_t priority, const starpu_data_handle_t *data)
{
	struct starpu_task *task = starpu_task_create();
	task->cl = &codelets[kind];
	task->priority = (int)priority;
	for (int i = 0; i < codelets[kind].nbuffers; i++)
		task->handles[i] = data[i];
	bench_need(starpu_task_submit(task) == 0, "starpu_task_submit failed");
}

/* Submits all tasks. The handle of tile (i, j) is at[i + j * t]. */
static void submit_all(starpu_data_handle_t *at, size_t t)
{
#define AT(i, j) at[(i) + (j)*t]
	for (size_t k = 0; k < t; k++) {
		submit(POTRF_TASK, 3 * (t - k), (starpu_data_handle_t[]){AT(k, k)});
		for (size_t m = k + 1; m < t; m++)
			submit(TRSM_TASK, 3 * t - 2 * k - m, (starpu_data_handle_t[]){AT(m, k), AT(k, k)});
		for (size_t n = k + 1; n < t; n++) {
			submit(SYRK_TASK, 3 * t - k - 2 * n, (starpu_data_handle_t[]){AT(n, n), AT(n, k)});
			for (size_t m = n + 1; m < t; m++)
				submit(GEMM_TASK, 3 * t - k - m - n,
				       (starpu_data_handle_t[]){AT(m, n), AT(m, k), AT(n, k)});
		}
	}
#undef AT
}

/* Factorises the matrix once. Returns the seconds that it took. */
static double factor(struct grid *g)
{
	size_t t = g->count;
	starpu_data_handle_t *at = calloc(t * t, sizeof(starpu_data_handle_t));
	bench_need(at != NULL, "no memory for the handles");
	grid_fill(g);
	for (size_t j = 0; j < t; j++)
		for (size_t i = j; i < t; i++)
			starpu_matrix_data_register(&at[i + j * t], STARPU_MAIN_RAM, (uintptr_t)grid_tile(g, i, j),
			                            (uint32_t)g->ld, (uint32_t)grid_extent(g, i),
			                            (uint32_t)grid_extent(g, j), sizeof(real));
	double start = bench_seconds();
	submit_all(at, t);
	starpu_task_wait_for_all();
	double seconds = bench_seconds() - start;
	for (size_t i = 0; i < t * t; i++)
		if (at[i])
			starpu_data_unregister(at[i]);
	free(at);
	return seconds;
}

int main(int argc, char **argv)
{
	bench_need(argc == 5, "arguments: WORKERS N TILE in_place|tiled");
	size_t n = bench_number(argc, argv, 2, 1), tile = bench_number(argc, argv, 3, 1);
	struct starpu_conf conf;
	struct grid g;
	openblas_set_num_threads(1);
	starpu_conf_init(&conf);
	conf.ncuda = 0;
	conf.nopencl = 0;
	bench_need(starpu_init(&conf) == 0, "starpu_init failed");
	grid_make(&g, n, tile, strcmp(argv[4], "tiled") == 0);
	factor(&g); /* wakes the threads, and measures the kernels for the policies that use their times */
	double seconds = factor(&g);
	grid_check(&g);
	char name[64];
	snprintf(name, sizeof name, LETTER "potrf_%zu", n);
	bench_row(name, (int)bench_number(argc, argv, 1, 2), "GFlop/s", potrf_flops(n) / seconds * 1e-9);
	free(g.memory);
	starpu_shutdown();
	return 0;
}
