/* Events that end tasks. Functions are called with the core lock unless a comment says otherwise. */
#ifndef HD_FLOW_EVENT_H
#define HD_FLOW_EVENT_H

#include <stdint.h>
#include <heddle/event.h>
#include <heddle/runtime.h>
#include <heddle/task.h>

/* The kernel of a task that ends by events has returned. The task ends now if all its events are fulfilled; otherwise
 * it waits for them. */
void hd_event_await(heddle_task *t, double start, double now);
/* The turn of an external task has come, and its data are in main memory: makes its event, and lets its function be
 * called when the core lock is released next. HEDDLE_E_MEMORY: the task fails. */
int hd_event_begin_outside(heddle_task *t);
/* The event of an external task whose function has not been called yet; NULL: the task has ended. */
heddle_event *hd_event_of_outside(const heddle_task *t);
/* The task of an unfulfilled event. For who is to fulfill the event; needs no lock. */
const heddle_task *hd_event_task(const heddle_event *e);
/* Creates an event for which the running task will wait. NULL: out of memory. */
heddle_event *hd_event_make(heddle_task *t);
/* Fulfills the event: the task ends if its kernel has returned and no other event is left. */
void hd_event_fulfill(heddle_event *e, double now);
/* Makes the task wait for no events any more. A later heddle_fulfill of one of these events has no effect and is no
 * error. */
void hd_events_orphan(heddle_task *t);
/* Counts the free events. */
uint64_t hd_events_free(heddle_runtime *rt);
/* For heddle_stop: waits until no thread is inside heddle_fulfill. Called without the core lock. */
void hd_events_close(heddle_runtime *rt);

#endif
