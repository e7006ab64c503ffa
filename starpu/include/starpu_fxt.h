/* The part of <starpu_profiling.h> that programs look for here. */
#include <starpu_profiling.h>
