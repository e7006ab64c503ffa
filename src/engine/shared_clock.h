/* The clock of a worker whose streams share the device.
 *
 * All kernels that run on the worker at the same time progress at one rate, which depends on their number
 * (heddle_class_rate); a kernel that runs alone has the rate 1. The clock advances at this rate. Therefore the time
 * that the clock shows from the begin of a kernel to its end is the time that the kernel would have taken alone. The
 * virtual engine knows this duration in advance, and computes from it when the kernel ends; the threaded engine
 * measures it. If the platform does not say how kernels share the worker, n kernels progress at the rate 1/n: then the
 * durations of all kernels add up to the time during which at least one kernel ran. */
#ifndef HD_ENGINE_SHARED_CLOCK_H
#define HD_ENGINE_SHARED_CLOCK_H

#include <heddle/platform.h>

struct hd_shared_clock {
	const struct heddle_class *class_; /* borrowed from the platform */
	unsigned n;                        /* number of running kernels; at most the number of the worker's slots */
	double shows;                      /* us: the reading of the clock at the time `updated` */
	double updated;                    /* us: when `shows` was computed */
};

/* Updates the clock, and returns its reading at the time `now`. Called before `n` changes. While no kernel runs, the
 * clock shows the real or virtual time. */
static inline double hd_shared_clock(struct hd_shared_clock *c, double now)
{
	if (c->n == 0)
		c->shows = now;
	else
		c->shows += (now - c->updated) * heddle_class_rate(c->class_, c->n);
	c->updated = now;
	return c->shows;
}

#endif
