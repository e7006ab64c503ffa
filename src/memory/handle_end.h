/* The end of a datum: handle_end.c. */
#ifndef HD_MEMORY_HANDLE_END_H
#define HD_MEMORY_HANDLE_END_H

#include <heddle/data.h>

/* Frees a handle with its replicas. No task may use it any more, and it has no plans, private copies or open reduction.
 * The caller holds the core lock. */
void hd_data_free(heddle_data *d);
void hd_data_abandon(heddle_data *d); /* calls hd_data_free, at once or when the datum's transfers have ended */

#endif
