/* REDUX: every worker adds to a private copy of the sum. The copies are combined before the next task that reads it. */
#include <heddle.h>
#include <stdio.h>

enum { N = 100000, BLOCKS = 16 };

static int zero(heddle_context *c) /* W sum: the neutral element */
{
	*(double *)heddle_ptr(c, 0) = 0;
	return 0;
}

static int combine(heddle_context *c) /* RW sum, R a private copy */
{
	*(double *)heddle_ptr(c, 0) += *(const double *)heddle_ptr(c, 1);
	return 0;
}

static int dot(heddle_context *c) /* REDUX sum, R x, R y */
{
	const double *x = heddle_ptr(c, 1), *y = heddle_ptr(c, 2);
	double sum = 0;
	for (size_t i = 0; i < heddle_extent(c, 1, 0); i++)
		sum += x[i] * y[i];
	*(double *)heddle_ptr(c, 0) += sum;
	return 0;
}

static int submit_all(heddle_runtime *rt, heddle_data *sum, heddle_data *x, heddle_data *y)
{
	heddle_codelet *zero_task = heddle_codelet_new(rt, .name = "zero", .cpu = zero);
	heddle_codelet *combine_task = heddle_codelet_new(rt, .name = "combine", .cpu = combine);
	heddle_codelet *dot_task = heddle_codelet_new(rt, .name = "dot", .cpu = dot);
	struct heddle_filter blocks = {.kind = HEDDLE_SPLIT_VECTOR, .nx = BLOCKS};
	if (!zero_task || !combine_task || !dot_task)
		return -1;
	int status = heddle_data_set_reduction(sum, zero_task, combine_task);
	if (!status)
		status = heddle_partition(x, &blocks, NULL);
	if (!status)
		status = heddle_partition(y, &blocks, NULL);
	for (size_t i = 0; !status && i < BLOCKS; i++) /* no two of these wait for each other */
		status = heddle_submit(rt, heddle_call(dot_task), heddle_redux(sum), heddle_r(heddle_child(x, i)),
		                       heddle_r(heddle_child(y, i)));
	return status ? status : heddle_unpartition(x) ? -1 : heddle_unpartition(y);
}

int main(void)
{
	static double x[N], y[N];
	double sum = 1000; /* the value before the tasks is part of the result */
	for (size_t i = 0; i < N; i++) {
		x[i] = (double)(i % 7);
		y[i] = 2;
	}
	heddle_runtime *rt;
	heddle_data *x_data, *y_data, *sum_data;
	if (heddle_start(NULL, &rt) || heddle_vector(rt, x, N, sizeof *x, &x_data) ||
	    heddle_vector(rt, y, N, sizeof *y, &y_data) || heddle_variable(rt, &sum, sizeof sum, &sum_data) ||
	    submit_all(rt, sum_data, x_data, y_data) || heddle_unregister(sum_data) || heddle_unregister(x_data) ||
	    heddle_unregister(y_data) || heddle_stop(rt)) {
		fprintf(stderr, "%s\n", heddle_last_error());
		return 1;
	}
	double expected = 1000;
	for (size_t i = 0; i < N; i++)
		expected += 2 * (double)(i % 7);
	printf("1000 + x . y = %.0f, expected %.0f\n", sum, expected);
	return sum != expected;
}
