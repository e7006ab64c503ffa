/* Hierarchical tasks on clusters: their sub-graphs are of parallel kernels, while cluster sets change and while not. */
#include "overlapping.h"

enum { N = 48, STEPS = 8 };

static heddle_codelet *tree, *leaves[3];
static atomic_int n_wrong, n_expanded;

/* What a task is to do: steps first, first + 1 ... */
struct steps {
	int first, n;
};

static void use_part(double *x, int step, unsigned rank, unsigned n)
{
	for (unsigned i = N * rank / n; i < N * (rank + 1) / n; i++)
		x[i] = 2 * x[i] + step;
}

/* All threads of the worker, which has as many as cores. */
static int together(heddle_context *c)
{
	const struct steps *s = heddle_value_ptr(c, 0);
	unsigned n = heddle_context_cores(c), worker = heddle_context_worker(c), rank = heddle_context_rank(c);
	n_wrong += n != n_cores(worker);
	if (!rank)
		use_cores(worker);
	for (int i = s->first; i < s->first + s->n; i++) {
		use_part(heddle_ptr(c, 0), i, rank, n);
		if (heddle_context_barrier(c))
			return 1;
	}
	if (!rank)
		leave_cores(worker);
	return 0;
}

static int alone(heddle_context *c)
{
	const struct steps *s = heddle_value_ptr(c, 0);
	use_cores(heddle_context_worker(c));
	for (int i = s->first; i < s->first + s->n; i++)
		use_part(heddle_ptr(c, 0), i, 0, 1);
	leave_cores(heddle_context_worker(c));
	return 0;
}

static int divide(heddle_context *c)
{
	const struct steps *s = heddle_value_ptr(c, 0);
	heddle_runtime *rt = heddle_context_runtime(c);
	int status = 0;
	n_expanded++;
	for (int half = 0; half < 2 && !status; half++) {
		struct steps part = {s->first + half * s->n / 2, s->n / 2};
		status = heddle_submit(rt, heddle_call(part.n > 1 ? tree : leaves[part.first % 3]), heddle_value(part),
		                       heddle_rw(heddle_context_data(c, 0)));
	}
	return status;
}

static void make_codelets(heddle_runtime *rt)
{
	static const struct {
		heddle_kernel kernel;
		enum heddle_parallel parallel;
		unsigned min_cores;
	} ways[] = {{together, HEDDLE_SPMD, 1}, {alone, HEDDLE_FORK_JOIN, 2}, {together, HEDDLE_SPMD, 2}};
	for (int i = 0; i < 3; i++)
		leaves[i] = heddle_codelet_new(rt, .name = "leaf", .cpu = ways[i].kernel, .parallel = ways[i].parallel,
		                               .min_cores = ways[i].min_cores, .model = HEDDLE_MODEL_GIVEN,
		                               .time = shared_evenly);
	tree = heddle_codelet_new(rt, .name = "tree", .subgraph = divide);
	assert_non_null(tree);
}

static void submit_trees(heddle_runtime *rt, heddle_data *d, int n)
{
	for (int i = 0; i < n; i++)
		assert_ok(heddle_submit(rt, heddle_call(tree), heddle_value(((struct steps){0, STEPS})), heddle_rw(d)));
}

static double expected(int n_trees)
{
	double x = 1;
	for (int i = 0; i < n_trees * STEPS; i++)
		x = 2 * x + i % STEPS;
	return x;
}

static void a_sub_graph_of_parallel_kernels(void **state)
{
	struct heddle_config config = small_config();
	heddle_runtime *rt = start_overlapping(&config, 0, 0);
	heddle_data *d;
	double x[N];
	(void)state;
	for (int i = 0; i < N; i++)
		x[i] = 1;
	n_wrong = n_expanded = n_clashes = 0;
	make_codelets(rt);
	assert_ok(heddle_workers_drive(rt, pairs, 2));
	assert_ok(heddle_vector(rt, x, N, sizeof *x, &d));
	submit_trees(rt, d, 2);
	assert_ok(heddle_workers_drive(rt, all_cores, 1));
	submit_trees(rt, d, 2);
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_stop(rt));
	for (int i = 0; i < N; i++)
		assert_true(x[i] == expected(4));
	assert_int_equal(n_expanded, 4 * (STEPS - 1));
	assert_int_equal(n_wrong + n_clashes, 0);
}

/* The single cores can expand the task, and run some of what it submits; the rest waits until clusters are driven. */
static void tasks_that_need_clusters_wait_for_them(void **state)
{
	for (int virtual_time = 0; virtual_time < 2; virtual_time++) {
		struct heddle_config config = small_config();
		heddle_runtime *rt = start_overlapping(&config, virtual_time, 0);
		heddle_data *d;
		double x[N] = {0};
		(void)state;
		n_wrong = n_clashes = n_expanded = 0;
		make_codelets(rt);
		assert_ok(heddle_vector(rt, x, N, sizeof *x, &d));
		submit_trees(rt, d, 1);
		assert_int_equal(heddle_wait_all(rt), HEDDLE_E_DEADLOCK);
		assert_says("retired");
		assert_int_equal(n_expanded, 3); /* the first step is of eight, of four, and of two */
		assert_ok(heddle_workers_drive(rt, mixed, 3));
		assert_ok(heddle_wait_all(rt));
		assert_ok(heddle_unregister(d));
		assert_ok(heddle_selfcheck(rt));
		assert_ok(heddle_stop(rt));
		assert_int_equal(n_wrong + n_clashes, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_sub_graph_of_parallel_kernels),
	    cmocka_unit_test(tasks_that_need_clusters_wait_for_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
