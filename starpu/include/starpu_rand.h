/* The part of <starpu_util.h> that programs look for here. */
#include <starpu_util.h>
