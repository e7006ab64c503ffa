/* Handles, as the program creates and ends them. */
#ifndef HD_FLOW_REGISTER_H
#define HD_FLOW_REGISTER_H

#include <heddle/runtime.h>
#include <heddle/data.h>

/* Creates a handle, of a child of `plan` unless `plan` is NULL, and adds it to the runtime's list. Takes the core
 * lock. */
int hd_data_create(heddle_runtime *rt, const struct heddle_part *parts, size_t n, heddle_plan *plan, heddle_data **out);
/* Frees a handle with its replicas, plans, private copies and reduction. No task may use it any more. Called with the
 * core lock. */
void hd_data_destroy(heddle_data *d);
/* HEDDLE_E_STATE, with a message that names the remedy, if new tasks may not use the datum; `what` is the public
 * function that was called. Called with the core lock. */
int hd_data_check_open(const heddle_data *d, const char *what);
/* Calls hd_data_check_open, with the core lock taken meanwhile. */
int hd_data_check_open_unlocked(const heddle_data *d, const char *what);

#endif
