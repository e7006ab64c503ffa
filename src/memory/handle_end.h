/* The end of a datum: handle_end.c. */
#ifndef HD_HANDLE_END_H
#define HD_HANDLE_END_H

#include <heddle/data.h>

/* memory/handle_end.c: frees a handle with its replicas. No task may use it any more, and it has neither plans nor
 * private copies nor an open reduction. The lock is held. */
void hd_data_free(heddle_data *d);
void hd_data_abandon(heddle_data *d); /* the same after the transfers under way */

#endif
