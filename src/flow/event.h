/* Events that end tasks: event.c. The core lock is held unless a comment says otherwise. */
#ifndef HD_EVENT_H
#define HD_EVENT_H

#include <stdint.h>
#include <heddle/event.h>
#include <heddle/runtime.h>
#include <heddle/task.h>

/* event.c: the kernel of a task that ends by events has returned. The task ends now if all are fulfilled, otherwise it
 * waits for them. */
void hd_event_await(heddle_task *t, double start, double now);
/* Makes an event, for which the running task will wait. NULL when out of memory. */
heddle_event *hd_event_make(heddle_task *t);
/* The event has happened: the task ends if its kernel has returned and this was the last event. */
void hd_event_fulfill(heddle_event *e, double now);
/* Lets the task wait for no events any more. Who fulfills one of them is told nothing. */
void hd_events_orphan(heddle_task *t);
/* How many events are not in use, by counting them. */
uint64_t hd_events_free(heddle_runtime *rt);
/* For heddle_stop, without the lock: waits until no thread is inside heddle_fulfill. */
void hd_events_close(heddle_runtime *rt);

#endif
