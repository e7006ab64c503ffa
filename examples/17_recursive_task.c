/* A task that may become a graph of smaller ones: merge sort. The codelet `sort` has a kernel, for short pieces, and a
 * sub-graph: cut the piece in two, sort both, merge them. The sub-graph is submitted by a worker, at run time, and what
 * comes behind the task waits for the merge alone. */
#include <heddle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 100000, SHORT = 4096 };
static int numbers[N];
static heddle_codelet *sorts, *merges; /* written before the first task is submitted */

static int compare(const void *a, const void *b)
{
	const int *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static int sort_kernel(heddle_context *c) /* RW piece */
{
	qsort(heddle_ptr(c, 0), heddle_extent(c, 0, 0), sizeof(int), compare);
	return 0;
}

static int merge_kernel(heddle_context *c) /* RW piece, whose halves are in order */
{
	int *a = heddle_ptr(c, 0);
	size_t n = heddle_extent(c, 0, 0), left = (n + 1) / 2, i = 0, j = left;
	int *b = malloc(n * sizeof *b);
	if (!b)
		return heddle_fail(c, 1, "no memory to merge %zu numbers", n);
	memcpy(b, a, n * sizeof *a);
	for (size_t k = 0; k < n; k++)
		a[k] = j == n || (i < left && b[i] <= b[j]) ? b[i++] : b[j++];
	free(b);
	return 0;
}

static int sort_in_halves(heddle_context *c)
{
	const struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
	heddle_runtime *rt = heddle_context_runtime(c);
	heddle_data *piece = heddle_context_data(c, 0);
	heddle_plan *plan;
	int status = heddle_plan_create(piece, &halves, &plan);
	for (size_t i = 0; i < 2 && !status; i++)
		status = heddle_submit(rt, heddle_call(sorts), heddle_rw(heddle_plan_child(plan, i)));
	if (!status)
		status = heddle_submit(rt, heddle_call(merges), heddle_rw(piece));
	return status ? heddle_fail(c, status, "%s", heddle_last_error()) : 0;
}

/* Only long pieces are worth cutting. */
static int is_long(const heddle_task *task, void *arg)
{
	(void)arg;
	return heddle_data_bytes(heddle_task_data(task, 0)) > SHORT * sizeof(int);
}

static int run(heddle_runtime *rt)
{
	heddle_data *all;
	sorts =
	    heddle_codelet_new(rt, .name = "sort", .cpu = sort_kernel, .subgraph = sort_in_halves, .expand = is_long);
	merges = heddle_codelet_new(rt, .name = "merge", .cpu = merge_kernel);
	if (!sorts || !merges || heddle_vector(rt, numbers, N, sizeof *numbers, &all))
		return -1;
	int status = heddle_submit(rt, heddle_call(sorts), heddle_rw(all));
	if (!status)
		status = heddle_wait_all(rt);
	return heddle_unregister(all) ? -1 : status;
}

int main(void)
{
	heddle_runtime *rt;
	for (unsigned i = 0, x = 1; i < N; i++, x = x * 1103515245 + 12345)
		numbers[i] = (int)(x >> 8);
	if (heddle_start(NULL, &rt) || run(rt) || heddle_stop(rt)) {
		fprintf(stderr, "%s\n", heddle_last_error());
		return 1;
	}
	for (int i = 1; i < N; i++)
		if (numbers[i - 1] > numbers[i])
			return printf("%d comes before %d\n", numbers[i - 1], numbers[i]);
	printf("%d numbers are in order\n", N);
	return 0;
}
