/* A page that shows a running program in a browser: the setting `live`. */
#ifndef HD_START_LIVE_H
#define HD_START_LIVE_H

#include "state/runtime.h"

/* Serves http://127.0.0.1:PORT/ from a thread of its own until hd_page_close. PORT is the setting `live`, which becomes
 * the next free port if that one is in use. HEDDLE_E_IO: that port and the 100 next ones are in use.
 * HEDDLE_E_MEMORY. */
int hd_page_open(heddle_runtime *rt);
/* Ends the thread. NULL is fine. */
void hd_page_close(struct hd_page *page);

#endif
