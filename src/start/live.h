/* The live page shows a running program in a browser: the setting `live`. */
#ifndef HD_START_LIVE_H
#define HD_START_LIVE_H

#include <heddle/runtime.h>

struct hd_page;

/* Serves http://127.0.0.1:PORT/ from a thread of its own until hd_page_close. PORT is the setting `live` or, if that
 * port is in use, the next free one. HEDDLE_E_IO: this port and the 100 after it are in use. HEDDLE_E_MEMORY. */
int hd_page_open(heddle_runtime *rt);
/* Ends the page's thread and frees the page. NULL: does nothing. */
void hd_page_close(struct hd_page *page);

#endif
