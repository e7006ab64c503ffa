/* The clock of a worker whose streams share it.
 *
 * All kernels that the worker runs at once go at one rate, which depends on how many they are (heddle_class_rate); one
 * that is alone goes at the rate 1. So one clock serves them all: it goes at their rate, and what it advances by from
 * the begin of a kernel to its end is the time that the kernel would have taken alone. In virtual time that is given
 * and says when the kernel ends; in real time it is measured. Where the platform does not say how kernels share the
 * worker, n of them go at the rate 1/n: then what the clock gives all kernels adds up to the time during which at least
 * one ran. */
#ifndef HD_SHARED_CLOCK_H
#define HD_SHARED_CLOCK_H

#include <heddle/platform.h>

struct hd_shared_clock {
	const struct heddle_class *class_; /* borrowed from the platform */
	unsigned n;                        /* how many kernels run; at most the worker's slots */
	double shows;                      /* us: what the clock shows at `updated` */
	double updated;                    /* us: when `shows` was last brought up to date */
};

/* Brings the clock up to date and returns what it shows at the time `now`. To be called before `n` changes. While no
 * kernel runs, the clock shows the time. */
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
