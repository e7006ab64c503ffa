/* A program outside Heddle's tree that uses libheddle-dense. Prints the version. */
#include <heddle/dense.h>
#include <stdio.h>

int main(void)
{
	double a[] = {4, 2, 2, 2, 5, 3, 2, 3, 6}, b[] = {8, 10, 11}; /* the solution is 1, 1, 1 */
	struct heddle_dense_array of_a = {.rows = 3, .columns = 3, .data = a, .ld = 3};
	struct heddle_dense_array of_b = {.rows = 3, .columns = 1, .data = b, .ld = 3};
	heddle_runtime *rt;
	heddle_dense *dense;
	if (heddle_start(NULL, &rt) || heddle_dense_open(rt, &dense) ||
	    heddle_dense_posv(dense, HEDDLE_DENSE_LOWER, &of_a, &of_b, NULL)) {
		fprintf(stderr, "%s\n", heddle_last_error());
		return 1;
	}
	heddle_dense_close(dense);
	heddle_stop(rt);
	for (int i = 0; i < 3; i++)
		if (!(b[i] > 1 - 1e-12 && b[i] < 1 + 1e-12))
			return 1;
	printf("%s\n", heddle_version());
	return 0;
}
