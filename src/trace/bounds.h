/* The area bound, apart from where its figures come from. */
#ifndef HD_TRACE_BOUNDS_H
#define HD_TRACE_BOUNDS_H

#include <stddef.h>

/* Work that is alike: all of it takes work[c] us of one worker's time when class c does it, NAN when it cannot. */
struct hd_area {
	size_t n_classes;
	const double *workers; /* per class; 0: the class is not there */
	size_t n_types;
	const double *work;    /* type by type, n_classes each; every type has a class with workers that can do it */
};

/* A lower bound, in us, of the time in which the workers can do all the work, shared out as well as can be. */
int hd_area_bound(const struct hd_area *area, double *out);

#endif
