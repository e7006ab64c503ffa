/* Points closer to each other than so many sides of the smallest leaves count as one: see pairs.h. Devices' kernels
 * include this file, too. */
#ifndef HD_FMM_SAME_PLACE_H
#define HD_FMM_SAME_PLACE_H

#define HD_FMM_SAME_PLACE 1e-18

#endif
