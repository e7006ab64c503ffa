/* libFuzzer on files of particles: no input may crash, leak or hang the reader; what it accepts are points with finite
 * numbers, which read back alike from what they are written to. */
#define _GNU_SOURCE
#include <fmm/experiments/points.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fuzz.h"

struct points {
	size_t n;
	double *xyz, *charges;
};

static int read_from(int file, struct points *p)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	return hd_fmm_read_points(path, &p->n, &p->xyz, &p->charges);
}

static void end(struct points *p)
{
	free(p->xyz);
	free(p->charges);
}

static void read_again(const struct points *p)
{
	struct points again;
	int file = memfd_create("fuzz", 0);
	require(file >= 0, "no file can be made");
	for (size_t i = 0; i < p->n; i++) {
		const double *x = p->xyz + 3 * i;
		require(isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]) && isfinite(p->charges[i]),
		        "a number is not finite");
		dprintf(file, "%.17g %.17g %.17g %.17g\n", x[0], x[1], x[2], p->charges[i]);
	}
	require(read_from(file, &again) == 0, "what was written cannot be read");
	require(again.n == p->n && memcmp(again.xyz, p->xyz, 3 * p->n * sizeof *p->xyz) == 0 &&
	            memcmp(again.charges, p->charges, p->n * sizeof *p->charges) == 0,
	        "what was written is another set of points");
	end(&again);
	close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct points p;
	int file = memfd_create("fuzz", 0);
	require(file >= 0 && write(file, data, size) == (ssize_t)size, "no file can be made");
	int status = read_from(file, &p);
	if (status == 0) {
		require(p.n > 0, "there are no points");
		read_again(&p);
		end(&p);
	} else {
		require(status == HEDDLE_E_FORMAT && heddle_last_error()[0], "a refusal is not HEDDLE_E_FORMAT");
	}
	close(file);
	return 0;
}
