/* Handles, as the program makes and ends them: register.c. */
#ifndef HD_REGISTER_H
#define HD_REGISTER_H

#include <heddle/runtime.h>
#include <heddle/data.h>

/* Makes a handle, of a child of `plan` unless that is NULL, and puts it into the runtime's list. Takes the lock. */
int hd_data_create(heddle_runtime *rt, const struct heddle_part *parts, size_t n, heddle_plan *plan, heddle_data **out);
/* Frees a handle with its replicas, its plans, its private copies and its reduction. No task may use it any more. The
 * lock is held. */
void hd_data_destroy(heddle_data *d);
/* HEDDLE_E_STATE, with a message that names the remedy, if new tasks may not name the datum; `what` is the public
 * function that was called. The lock is held. */
int hd_data_check_open(const heddle_data *d, const char *what);
/* The same, but takes the lock. */
int hd_data_check_open_unlocked(const heddle_data *d, const char *what);

#endif
