/* The speed assumed for a worker of a class, in CPU cores, for tasks that no model knows: StarPU's figures
 * (starpu_driver_info). */
#ifndef HD_POLICIES_PARTS_SPEED_H
#define HD_POLICIES_PARTS_SPEED_H

#include <string.h>
#include <heddle/platform.h>

#define HD_SPEED_ACCELERATOR 13.33

static inline double hd_class_speed(const struct heddle_class *class)
{
	return strcmp(class->kind, "cpu") == 0 ? (double)class->cores : HD_SPEED_ACCELERATOR;
}

#endif
