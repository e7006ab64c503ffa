/* A matrix that tasks use as a whole, in vertical stripes and in horizontal ones, in any order. The program plans both
 * ways of cutting it; changing from one to another is Heddle's business. (Faverge et al., Programming heterogeneous
 * architectures using hierarchical tasks, 2022, figure 2.) */
#include <heddle.h>
#include <stdio.h>

enum { NX = 8, NY = 6, PARTS = 2 };
static int matrix[NY][NX]; /* column-major, column y is matrix[y] */

static int initialize(heddle_context *c) /* W matrix */
{
	int *a = heddle_ptr(c, 0);
	for (size_t y = 0; y < heddle_extent(c, 0, 1); y++)
		for (size_t x = 0; x < heddle_extent(c, 0, 0); x++)
			a[x + y * heddle_ld(c, 0)] = (int)(x + 10 * y);
	return 0;
}

static int modify(heddle_context *c) /* RW stripe */
{
	int *a = heddle_ptr(c, 0);
	for (size_t y = 0; y < heddle_extent(c, 0, 1); y++)
		for (size_t x = 0; x < heddle_extent(c, 0, 0); x++)
			a[x + y * heddle_ld(c, 0)] *= 3;
	return 0;
}

static int check(heddle_context *c) /* R stripe */
{
	const int *a = heddle_ptr(c, 0);
	for (size_t y = 0; y < heddle_extent(c, 0, 1); y++)
		for (size_t x = 0; x < heddle_extent(c, 0, 0); x++)
			if (a[x + y * heddle_ld(c, 0)] % 3)
				return heddle_fail(c, 1, "an element is %d", a[x + y * heddle_ld(c, 0)]);
	return 0;
}

static int run(heddle_runtime *rt)
{
	const struct heddle_filter vertical = {.kind = HEDDLE_SPLIT_COLUMNS, .ny = PARTS};
	const struct heddle_filter horizontal = {.kind = HEDDLE_SPLIT_ROWS, .nx = PARTS};
	heddle_codelet *initializes = heddle_codelet_new(rt, .name = "initialize", .cpu = initialize);
	heddle_codelet *modifies = heddle_codelet_new(rt, .name = "modify", .cpu = modify);
	heddle_codelet *checks = heddle_codelet_new(rt, .name = "check", .cpu = check);
	heddle_data *a;
	heddle_plan *v, *h;
	if (!initializes || !modifies || !checks || heddle_matrix(rt, matrix, NX, NY, NX, sizeof(int), &a) ||
	    heddle_plan_create(a, &vertical, &v) || heddle_plan_create(a, &horizontal, &h))
		return -1;

	int status = heddle_submit(rt, heddle_call(initializes), heddle_w(a));
	for (size_t i = 0; i < PARTS && !status; i++)
		status = heddle_submit(rt, heddle_call(modifies), heddle_rw(heddle_plan_child(v, i)));
	for (size_t i = 0; i < PARTS && !status; i++)
		status = heddle_submit(rt, heddle_call(checks), heddle_r(heddle_plan_child(h, i)));
	for (size_t i = 0; i < PARTS && !status; i++)
		status = heddle_submit(rt, heddle_call(checks), heddle_r(heddle_plan_child(v, i)));
	if (!status)
		status = heddle_wait_all(rt);
	return heddle_unregister(a) ? -1 : status; /* ends the plans, too */
}

int main(void)
{
	heddle_runtime *rt;
	if (heddle_start(NULL, &rt) || run(rt) || heddle_stop(rt)) {
		fprintf(stderr, "%s\n", heddle_last_error());
		return 1;
	}
	printf("the last element is %d\n", matrix[NY - 1][NX - 1]);
	return matrix[NY - 1][NX - 1] != 3 * (NX - 1 + 10 * (NY - 1));
}
