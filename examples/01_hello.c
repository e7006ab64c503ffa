/* A whole program: one task scales a vector, on whichever processor is free. */
#include <heddle.h>
#include <stdio.h>

static int scale(heddle_context *c)
{
	double *x = heddle_ptr(c, 0), factor = heddle_get(c, 0, double);
	for (size_t i = 0; i < heddle_extent(c, 0, 0); i++)
		x[i] *= factor;
	return 0;
}

int main(void)
{
	double x[] = {1, 2, 3}, factor = 7;
	heddle_runtime *rt;
	heddle_data *vector;
	if (heddle_start(NULL, &rt) || heddle_vector(rt, x, 3, sizeof *x, &vector) ||
	    heddle_submit(rt, heddle_call(heddle_codelet_new(rt, .name = "scale", .cpu = scale)), heddle_rw(vector),
	                  heddle_value(factor)) ||
	    heddle_unregister(vector) || heddle_stop(rt))
		return fprintf(stderr, "%s\n", heddle_last_error()), 1;
	printf("%g %g %g\n", x[0], x[1], x[2]);
	return x[0] != 7 || x[1] != 14 || x[2] != 21;
}
