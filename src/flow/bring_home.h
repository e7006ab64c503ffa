/* Bringing all data to main memory: bring_home.c. */
#ifndef HD_BRING_HOME_H
#define HD_BRING_HOME_H

#include <heddle/runtime.h>

/* bring_home.c */
/* Leaves of each datum with a value the one copy in main memory, whose copies elsewhere end: as if the program had
 * written it. Data that can only be read stay where they are. 0, or what heddle_acquire returns. No thread may
 * unregister data meanwhile. Blocks; the lock is not held. */
int hd_data_bring_home(heddle_runtime *rt);

#endif
