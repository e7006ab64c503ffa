/* How much longer a transfer takes when all accelerators exchange data with main memory at the same time. */
#ifndef HD_POLICIES_PARTS_CONTENTION_H
#define HD_POLICIES_PARTS_CONTENTION_H

#include <heddle/platform.h>

enum hd_contention { HD_ALONE, HD_BUSES, HD_ALL }; /* values of the option `contention` */

/* The factor for transfers to a node. */
double hd_contention(const struct heddle_platform *p, unsigned node, int how);

#endif
