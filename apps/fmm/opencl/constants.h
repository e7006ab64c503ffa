/* Numbers that the kernels of devices share with the host, as tokens (see source.c). */
#ifndef HD_FMM_OPENCL_CONSTANTS_H
#define HD_FMM_OPENCL_CONSTANTS_H

#include "../kernels/same_place.h"

#define PADDING 16  /* HD_FMM_PADDING */
#define BLOCK 16    /* HD_FMM_BLOCK */
#define MATRICES 57 /* HD_FMM_MATRICES */
#define SAME_PLACE HD_FMM_SAME_PLACE

#endif
