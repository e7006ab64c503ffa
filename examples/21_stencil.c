/* A stencil: heat spreads along a ring. Each step computes the new temperatures of each block from the old ones of the
 * block and of its two neighbours; that is all that has to be said, and Heddle lets the steps overlap.
 * HEDDLE_TRACE=stencil.png in front of the program draws who ran what and when. */
#include <heddle.h>
#include <stdio.h>

enum { N = 1 << 18, BLOCKS = 8, STEPS = 20 };
static double ring[2][N];

static int heat(heddle_context *c) /* W block; R the old block, the one on its left, the one on its right */
{
	double *next = heddle_ptr(c, 0);
	const double *old = heddle_ptr(c, 1), *left = heddle_ptr(c, 2), *right = heddle_ptr(c, 3);
	size_t n = heddle_extent(c, 0, 0);
	for (size_t i = 0; i < n; i++) {
		double west = i > 0 ? old[i - 1] : left[n - 1], east = i + 1 < n ? old[i + 1] : right[0];
		next[i] = old[i] + 0.25 * (west - 2 * old[i] + east);
	}
	return 0;
}

static int run(heddle_runtime *rt)
{
	const struct heddle_filter blocks = {.kind = HEDDLE_SPLIT_VECTOR, .nx = BLOCKS};
	heddle_codelet *codelet = heddle_codelet_new(rt, .name = "heat", .cpu = heat);
	heddle_data *data[2];
	int status = codelet ? 0 : -1;
	for (int t = 0; t < 2 && !status; t++) {
		status = heddle_vector(rt, ring[t], N, sizeof(double), &data[t]);
		status = status ? status : heddle_partition(data[t], &blocks, NULL);
	}
	for (size_t k = 0; k < STEPS * BLOCKS && !status; k++) {
		size_t b = k % BLOCKS;
		heddle_data *old = data[k / BLOCKS % 2], *next = data[(k / BLOCKS + 1) % 2];
		status = heddle_submit(rt, heddle_call(codelet), heddle_w(heddle_child(next, b)),
		                       heddle_r(heddle_child(old, b)),
		                       heddle_r(heddle_child(old, (b + BLOCKS - 1) % BLOCKS)),
		                       heddle_r(heddle_child(old, (b + 1) % BLOCKS)));
	}
	for (int t = 0; t < 2 && !status; t++) {
		status = heddle_unpartition(data[t]);
		status = status ? status : heddle_unregister(data[t]); /* waits for the tasks */
	}
	return status;
}

int main(void)
{
	heddle_runtime *rt;
	for (size_t i = 0; i < N; i++)
		ring[0][i] = i < N / 2 ? 0 : 100;
	if (heddle_start(NULL, &rt) || run(rt) || heddle_stop(rt))
		return fprintf(stderr, "%s\n", heddle_last_error()), 1;
	double sum = 0;
	for (size_t i = 0; i < N; i++)
		sum += ring[STEPS % 2][i];
	printf("between cold and warm: %.1f %.1f degrees; mean %.1f\n", ring[STEPS % 2][N / 2 - 1],
	       ring[STEPS % 2][N / 2], sum / N);
	return sum < 49.9 * N || sum > 50.1 * N;
}
