/* A kernel that all cores of a cluster run together. The cores of this machine are grouped into clusters, one per
 * socket: each is one worker, whose members enter the kernel at the same time, with a rank and a barrier. The kernel
 * replaces each number by the sum of all up to it. A worker of one core runs the same kernel alone. */
#include <heddle.h>
#include <stdio.h>

enum { N = 1000000, N_VECTORS = 4, MOST_CORES = 1024 };
static double x[N_VECTORS][N];

static int add_up(heddle_context *c) /* RW numbers, SCRATCH the sum of each member's part */
{
	size_t rank = heddle_context_rank(c), ranks = heddle_context_cores(c), n = heddle_extent(c, 0, 0);
	double *a = heddle_ptr(c, 0), *sums = heddle_ptr(c, 1), before = 0;
	size_t first = n * rank / ranks, end = n * (rank + 1) / ranks;
	if (ranks > heddle_extent(c, 1, 0)) /* all members fail; the sentence of the lowest rank is reported */
		return heddle_fail(c, 1, "%zu members are too many", ranks);
	for (size_t i = first + 1; i < end; i++)
		a[i] += a[i - 1];
	sums[rank] = first < end ? a[end - 1] : 0;
	heddle_context_barrier(c);
	for (size_t r = 0; r < rank; r++)
		before += sums[r];
	for (size_t i = first; i < end; i++)
		a[i] += before;
	return 0;
}

static int run(heddle_runtime *rt)
{
	heddle_codelet *adds = heddle_codelet_new(rt, .name = "add_up", .cpu = add_up, .parallel = HEDDLE_SPMD);
	heddle_data *data[N_VECTORS], *sums;
	int status = heddle_vector(rt, NULL, MOST_CORES, sizeof(double), &sums);
	for (int v = 0; v < N_VECTORS && !status; v++) {
		for (int i = 0; i < N; i++)
			x[v][i] = v + 1;
		status = heddle_vector(rt, x[v], N, sizeof(double), &data[v]);
		if (!status)
			status = heddle_submit(rt, heddle_call(adds), heddle_rw(data[v]), heddle_scratch(sums));
	}
	for (int v = 0; v < N_VECTORS && !status; v++)
		status = heddle_unregister(data[v]);
	return status;
}

int main(void)
{
	struct heddle_config config;
	heddle_runtime *rt = NULL;
	int status = heddle_config_init(&config);
	config.clusters = "socket";
	if (!status)
		status = heddle_start(&config, &rt);
	if (!status)
		status = run(rt);
	if (status)
		fprintf(stderr, "23_spmd_kernel: %s\n", heddle_last_error());
	else
		for (int v = 0; v < N_VECTORS; v++)
			printf("vector %d: the last sum is %.0f\n", v, x[v][N - 1]);
	int stopped = heddle_stop(rt);
	for (int v = 0; v < N_VECTORS && !status; v++)
		status = x[v][N - 1] != (v + 1.0) * N;
	return status || stopped;
}
