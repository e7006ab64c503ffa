/* A program outside Heddle's tree that uses libheddle-fmm. Prints the version. */
#include <heddle/fmm.h>
#include <stdio.h>
#include <heddle.h>

int main(void)
{
	const double xyz[] = {0, 0, 0, 0, 0, 2}, charges[] = {1, 4};
	const struct heddle_fmm_points points = {2, xyz};
	double potential[2];
	heddle_runtime *rt;
	heddle_fmm *fmm;
	if (heddle_start(NULL, &rt) || heddle_fmm_open(rt, &fmm) ||
	    heddle_fmm_compute(fmm, &points, charges, potential, NULL, NULL)) {
		fprintf(stderr, "%s\n", heddle_last_error());
		return 1;
	}
	heddle_fmm_close(fmm);
	heddle_stop(rt);
	if (potential[0] == 2)
		printf("%s\n", heddle_version());
	return potential[0] != 2;
}
