/* Acquire and release: the program looks at a datum between tasks and decides whether to go on.
 *
 * Heron's method computes a vector of square roots. The program submits a few steps at a time, then looks at the
 * largest change. */
#include <heddle.h>
#include <math.h>
#include <stdio.h>

enum { N = 1000, STEPS_PER_LOOK = 3 };

static int step(heddle_context *c) /* RW root, R square, W the largest relative change */
{
	double *root = heddle_ptr(c, 0), *change = heddle_ptr(c, 2);
	const double *square = heddle_ptr(c, 1);
	*change = 0;
	for (size_t i = 0; i < heddle_extent(c, 0, 0); i++) {
		double next = (root[i] + square[i] / root[i]) / 2;
		*change = fmax(*change, fabs(next - root[i]) / next);
		root[i] = next;
	}
	return 0;
}

/* The number of steps, or a negative status. */
static int iterate(heddle_runtime *rt, heddle_data *root, heddle_data *square, heddle_data *change)
{
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "heron", .cpu = step);
	int status = codelet ? 0 : -1, n_steps = 0, converged = 0;
	while (!status && !converged) {
		for (int i = 0; !status && i < STEPS_PER_LOOK; i++, n_steps++)
			status = heddle_submit(rt, heddle_call(codelet), heddle_rw(root), heddle_r(square),
			                       heddle_w(change));
		/* Waits for the tasks that write `change` and for no others, and brings its value to main memory. */
		if (!status)
			status = heddle_acquire(change, HEDDLE_R);
		if (status)
			break;
		const double *value = heddle_data_ptr(change);
		printf("after %d steps: change %.1e\n", n_steps, *value);
		converged = *value < 1e-14;
		status = heddle_release(change); /* tasks may write `change` again */
	}
	return status ? status : n_steps;
}

int main(void)
{
	static double root[N], square[N];
	for (size_t i = 0; i < N; i++)
		root[i] = square[i] = 1 + (double)i;
	heddle_runtime *rt;
	heddle_data *root_data, *square_data, *change;
	if (heddle_start(NULL, &rt) || heddle_vector(rt, root, N, sizeof *root, &root_data) ||
	    heddle_vector(rt, square, N, sizeof *square, &square_data) ||
	    heddle_variable(rt, NULL, sizeof(double), &change)) /* a temporary: Heddle allocates it */ {
		fprintf(stderr, "%s\n", heddle_last_error());
		return 1;
	}
	int n_steps = iterate(rt, root_data, square_data, change);
	if (n_steps < 0 || heddle_unregister(change) || heddle_unregister(root_data) ||
	    heddle_unregister(square_data) || heddle_stop(rt)) {
		fprintf(stderr, "%s\n", heddle_last_error());
		return 1;
	}
	double error = 0;
	for (size_t i = 0; i < N; i++)
		error = fmax(error, fabs(root[i] - sqrt(square[i])) / root[i]);
	printf("largest error %.1e\n", error);
	return error > 1e-15;
}
