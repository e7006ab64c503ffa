/* Hierarchical tasks: memory of a large graph, and recursions beside tasks of OpenMP.
 *
 *   hierarchy WORKERS product N     the most memory of a product of N x N x N empty tasks that the program submits
 *   hierarchy WORKERS blocks N      the same of sub-graphs of 10 x 10 x 10 tasks, submitted when they are ready
 *   hierarchy WORKERS fibonacci N   adds up the leaves of a binary recursion, one task a node down to a depth of N
 *   hierarchy WORKERS quicksort N   sorts N numbers by a recursion
 *
 * The last two are compiled for OpenMP as well (BENCH_OPENMP), where a task waits for its children (taskwait). */
#include "bench.h"

enum { LEAF = 2048 }; /* numbers that quicksort sorts without tasks */

static int *numbers;

static void fill(size_t n)
{
	numbers = malloc(n * sizeof *numbers);
	bench_need(numbers != NULL, "no memory");
	uint32_t x = 1;
	for (size_t i = 0; i < n; i++, x = x * 1664525u + 1013904223u)
		numbers[i] = (int)(x >> 4);
}

static int compare_ints(const void *a, const void *b)
{
	const int *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Puts what is smaller than the pivot in front; returns how many numbers that are, at least 1 and less than n. */
static size_t split(int *a, size_t n)
{
	int pivot = a[n / 2];
	size_t i = 0, j = n - 1;
	for (;; i++, j--) {
		while (a[i] < pivot)
			i++;
		while (a[j] > pivot)
			j--;
		if (i >= j)
			return j + 1 < n ? j + 1 : n - 1;
		int swapped = a[i];
		a[i] = a[j];
		a[j] = swapped;
	}
}

static void check_order(size_t n)
{
	for (size_t i = 1; i < n; i++)
		bench_need(numbers[i - 1] <= numbers[i], "the numbers are not in order");
}

#ifdef BENCH_OPENMP

static long leaves(size_t depth)
{
	long a, b;
	if (depth == 0)
		return 1;
#pragma omp task shared(a)
	a = leaves(depth - 1);
#pragma omp task shared(b)
	b = leaves(depth - 1);
#pragma omp taskwait
	return a + b;
}

static void sort(int *a, size_t n)
{
	if (n <= LEAF) {
		qsort(a, n, sizeof *a, compare_ints);
		return;
	}
	size_t left = split(a, n);
#pragma omp task
	sort(a, left);
	sort(a + left, n - left);
}

static double fibonacci(int workers, size_t n)
{
	double start = bench_seconds();
	long sum = 0;
#pragma omp parallel num_threads(workers)
#pragma omp single
	sum = leaves(n);
	bench_need(sum == 1L << n, "a leaf is missing");
	return bench_seconds() - start;
}

static double quicksort(int workers, size_t n)
{
	double start = bench_seconds();
#pragma omp parallel num_threads(workers)
#pragma omp single
	sort(numbers, n);
	return bench_seconds() - start;
}

#else
#include "good.h"

static heddle_runtime *rt;
static heddle_codelet *tree, *leaf, *sum, *sorts, *product, *block;

static void start(int workers)
{
	struct heddle_config config;
	good(heddle_config_init(&config));
	config.n_cpu = workers;
	config.n_cuda = config.n_opencl = 0;
	config.caller_works = 1;
	config.expand = "always";
	config.model_dir = "none";
	config.window = 0;
	good(heddle_start(&config, &rt));
}

/* --- Fibonacci ---------------------------------------------------------------------------------------------------- */

static int leaf_kernel(heddle_context *c) /* W sum */
{
	*(long *)heddle_ptr(c, 0) = 1;
	return 0;
}

static int sum_kernel(heddle_context *c) /* W sum, R a, R b */
{
	*(long *)heddle_ptr(c, 0) = *(long *)heddle_ptr(c, 1) + *(long *)heddle_ptr(c, 2);
	return 0;
}

static int submit_tree(heddle_data *to, size_t depth)
{
	return heddle_submit(rt, heddle_call(depth ? tree : leaf), heddle_w(to), heddle_value(depth));
}

static int tree_subgraph(heddle_context *c)
{
	heddle_data *to = heddle_context_data(c, 0), *a, *b;
	size_t depth = heddle_get(c, 0, size_t) - 1;
	int status = heddle_variable(rt, NULL, sizeof(long), &a);
	if (status || (status = heddle_variable(rt, NULL, sizeof(long), &b)))
		return status;
	if (!status)
		status = submit_tree(a, depth);
	if (!status)
		status = submit_tree(b, depth);
	if (!status)
		status = heddle_submit(rt, heddle_call(sum), heddle_w(to), heddle_r(a), heddle_r(b));
	good(heddle_unregister_async(a));
	good(heddle_unregister_async(b));
	return status;
}

static double fibonacci(int workers, size_t n)
{
	long result = 0;
	heddle_data *to;
	start(workers);
	tree = heddle_codelet_new(rt, .name = "tree", .subgraph = tree_subgraph, .model = HEDDLE_MODEL_NONE);
	leaf = heddle_codelet_new(rt, .name = "leaf", .cpu = leaf_kernel, .model = HEDDLE_MODEL_NONE);
	sum = heddle_codelet_new(rt, .name = "sum", .cpu = sum_kernel, .model = HEDDLE_MODEL_NONE);
	good(heddle_variable(rt, &result, sizeof result, &to));
	double begin = bench_seconds();
	good(submit_tree(to, n));
	good(heddle_wait_all(rt));
	double seconds = bench_seconds() - begin;
	good(heddle_unregister(to));
	good(heddle_stop(rt));
	bench_need(result == 1L << n, "a leaf is missing");
	return seconds;
}

/* --- Quicksort ---------------------------------------------------------------------------------------------------- */

/* The numbers must be split before the halves are known: a kernel that submits. */
static int sort_kernel(heddle_context *c)
{
	int *a = heddle_get(c, 0, int *);
	size_t n = heddle_get(c, 1, size_t);
	while (n > LEAF) {
		size_t left = split(a, n), right = n - left;
		int *from = a + left;
		int status = heddle_submit(rt, heddle_call(sorts), heddle_value(from), heddle_value(right));
		if (status)
			return status;
		n = left;
	}
	qsort(a, n, sizeof *a, compare_ints);
	return 0;
}

static double quicksort(int workers, size_t n)
{
	start(workers);
	sorts = heddle_codelet_new(rt, .name = "sort", .cpu = sort_kernel, .model = HEDDLE_MODEL_NONE);
	double begin = bench_seconds();
	good(heddle_submit(rt, heddle_call(sorts), heddle_value(numbers), heddle_value(n)));
	good(heddle_wait_all(rt));
	double seconds = bench_seconds() - begin;
	good(heddle_stop(rt));
	return seconds;
}

/* --- Products ----------------------------------------------------------------------------------------------------- */

enum { INNER = 10 };

static int nothing(heddle_context *c)
{
	(void)c;
	return 0;
}

/* A product of n x n x n tasks on data a, b, c with so many rows. */
static int submit_product(heddle_codelet *codelet, size_t n, heddle_data *(*at)(void *of, size_t i), void *const of[3])
{
	int status = 0;
	for (size_t j = 0; j < n; j++)
		for (size_t i = 0; i < n; i++)
			for (size_t k = 0; k < n && !status; k++)
				status = heddle_submit(rt, heddle_call(codelet), heddle_rw(at(of[2], i + j * n)),
				                       heddle_r(at(of[0], i + k * n)), heddle_r(at(of[1], k + j * n)));
	return status;
}

static heddle_data *in_array(void *of, size_t i)
{
	return ((heddle_data **)of)[i];
}

static heddle_data *in_plan(void *of, size_t i)
{
	return heddle_plan_child(of, i);
}

static int block_subgraph(heddle_context *c) /* RW c, R a, R b */
{
	void *of[3];
	for (size_t i = 0; i < 3; i++)
		of[i] = heddle_data_user(heddle_context_data(c, (i + 1) % 3));
	return submit_product(product, INNER, in_plan, of);
}

static void measure_memory(int workers, const char *name, size_t n)
{
	int flat = strcmp(name, "product") == 0;
	size_t side = flat ? 1 : INNER, t = n / side, n_tiles = t * t;
	const struct heddle_filter filter = {.kind = HEDDLE_SPLIT_TILES, .tile_x = 1, .tile_y = 1};
	double *memory = calloc(3 * n * n, sizeof *memory);
	heddle_data **tiles = calloc(3 * n_tiles, sizeof *tiles);
	bench_need(memory && tiles, "no memory");
	memset(memory, 1, 3 * n * n * sizeof *memory);
	start(workers);
	product = heddle_codelet_new(rt, .name = "product", .cpu = nothing, .model = HEDDLE_MODEL_NONE);
	block = heddle_codelet_new(rt, .name = "block", .subgraph = block_subgraph, .model = HEDDLE_MODEL_NONE);
	for (size_t i = 0; i < 3 * n_tiles; i++) {
		heddle_plan *plan;
		good(heddle_matrix(rt, memory + i * side * side, side, side, side, sizeof *memory, &tiles[i]));
		if (flat)
			continue;
		good(heddle_plan_create(tiles[i], &filter, &plan));
		good(heddle_data_set_user(tiles[i], plan));
	}
	double before = bench_resident(), begin = bench_seconds();
	good(submit_product(flat ? product : block, t, in_array,
	                    (void *const[]){tiles, tiles + n_tiles, tiles + 2 * n_tiles}));
	good(heddle_wait_all(rt));
	double seconds = bench_seconds() - begin;
	bench_row(name, workers, "MB", (bench_resident_peak() - before) * 1e-6);
	bench_row(name, workers, "us/task", seconds / (double)(n * n * n) * 1e6);
	for (size_t i = 0; i < 3 * n_tiles; i++)
		good(heddle_unregister(tiles[i]));
	good(heddle_stop(rt));
	free(tiles);
	free(memory);
}

#endif

int main(int argc, char **argv)
{
	bench_need(argc == 4, "arguments: WORKERS product|blocks|fibonacci|quicksort N");
	int workers = (int)bench_number(argc, argv, 1, 2);
	size_t n = bench_number(argc, argv, 3, 1);
	if (strcmp(argv[2], "fibonacci") == 0) {
		bench_row("fibonacci", workers, "us/task", fibonacci(workers, n) / (double)((3u << n) - 2) * 1e6);
		return 0;
	}
	if (strcmp(argv[2], "quicksort") == 0) {
		fill(n);
		bench_row("quicksort", workers, "ms", quicksort(workers, n) * 1e3);
		check_order(n);
		return 0;
	}
#ifndef BENCH_OPENMP
	measure_memory(workers, argv[2], n);
#endif
	return 0;
}
