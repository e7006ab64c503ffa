/* The part of <starpu_worker.h> that programs look for here. */
#include <starpu_worker.h>
