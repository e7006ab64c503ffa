/* Brings all data to main memory. */
#ifndef HD_FLOW_BRING_HOME_H
#define HD_FLOW_BRING_HOME_H

#include <heddle/runtime.h>

/* Makes the replica in main memory the only valid one of each datum with a value, as if the program had written the
 * datum. Read-only data stay where they are. Returns 0, or an error of heddle_acquire. Meanwhile no thread may
 * unregister data. Blocks; called without the core lock. */
int hd_data_bring_home(heddle_runtime *rt);

#endif
