/* What benches on Heddle's own interface share. */
#ifndef BENCH_GOOD_H
#define BENCH_GOOD_H

#include <heddle.h>
#include "bench.h"

/* Ends the bench, with the library's sentence, if `status` is an error. */
static inline void good(int status)
{
	if (status < 0)
		bench_need(0, heddle_last_error());
}

#endif
