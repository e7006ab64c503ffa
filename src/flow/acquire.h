/* Data that threads of the program have acquired. */
#ifndef HD_FLOW_ACQUIRE_H
#define HD_FLOW_ACQUIRE_H

#include <heddle/data.h>
#include <heddle/runtime.h>
#include <heddle/task.h>

/* Called when an UNREGISTER task could not bring the value back, before the datum is freed: the task keeps the datum's
 * name for the error message. */
void hd_unregister_failed(heddle_task *t);
/* Whether some thread of the program has acquired the datum. */
int hd_data_is_held(const heddle_data *d);
/* For heddle_stop: releases all data that the program still holds. */
void hd_holds_release(heddle_runtime *rt);
/* For heddle_stop: frees the remaining holds, whose threads never got their datum. */
void hd_holds_free(heddle_runtime *rt);

#endif
