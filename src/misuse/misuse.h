/* The checking mode (the setting `check`): finds programs that do not do what they have declared. It says which task,
 * codelet, datum and worker it was about, and which task before. What it finds is reported as a failure is, by the next
 * wait, with HEDDLE_E_MISUSE. docs/debugging.md lists what it finds and what it cannot see.
 *
 * (src/inspect/check.c is something else: it checks Heddle's own lists.)
 *
 *   watch.c    what is looked at before and after each kernel
 *   known_handles.c  which addresses are handles
 *   seals.c    the program's buffers that no running task may write: their checksums
 *   writers.c  who has written a datum last
 *   same_memory.c    memory that was registered twice
 *   zones.c    guard zones around copies that Heddle allocates, and around values
 *   crash.c    what is told when a kernel crashes
 *   calls.c    what a kernel asks of its context, and calls that it must not make
 *   tsan.c    what ThreadSanitizer is told
 *   after_the_end.c    data, tasks, groups and runtimes after their end
 *   sum.c      checksums of strided arrays, and whether two of them overlap
 *
 * `rt->misuse` is NULL unless the mode is on: each place that calls these functions asks for that first. The core lock
 * guards all state, and the functions need it unless a comment says otherwise.
 */
#ifndef HD_MISUSE_H
#define HD_MISUSE_H

#include <heddle/data.h>
#include <heddle/runtime.h>
#include <heddle/task.h>

struct hd_replica;

/* Turns the mode on for a runtime that is being started. HEDDLE_E_MEMORY. Needs no lock. */
int hd_misuse_open(heddle_runtime *rt);
/* The program stops the runtime. */
void hd_misuse_stops(heddle_runtime *rt);
/* Turns the mode off, if it is on, after all data have ended. Returns 1 if what the program can still name must stay
 * for a while, so that its use is an error and nothing worse: the runtime, its codelets, and the memory of its tasks,
 * handles and events. Then hd_misuse_retire_runtime is to be called last. */
int hd_misuse_close(heddle_runtime *rt);
/* Keeps the runtime, of which only that is left. Returns the one that has been kept longest, which is to be freed now;
 * NULL: few are kept. Needs no lock. */
heddle_runtime *hd_misuse_retire_runtime(heddle_runtime *rt);

/* --- Kernels: watch.c --------------------------------------------------------------------------------------------- */

/* The task of the context is about to run: sets c->watch. HEDDLE_E_MEMORY, with a message. Without the lock. */
int hd_misuse_begin(heddle_context *c);
/* Its kernel has returned, and the task has `status` so far. Returns its status: HEDDLE_E_MISUSE, with a message in the
 * task, if it was 0 and the task has done what it must not do. Without the lock. */
int hd_misuse_end(heddle_context *c, int status);
/* The program has acquired the datum of an ACQUIRE task, or releases it. */
void hd_misuse_acquired(heddle_task *t);
void hd_misuse_given_back(heddle_task *t);
/* A task that ends by events is about to end. */
void hd_misuse_conclude(heddle_task *t);
/* Looks at all data that no task may write now. For waits. */
void hd_misuse_look(heddle_runtime *rt);

/* --- Data: seals.c, zones.c --------------------------------------------------------------------------------------- */

/* A datum with a buffer of the program was registered, or a child has got its place in one. */
void hd_misuse_registered(heddle_data *d);
/* Bytes before and behind each block on the node, for its guard zones; 0 where the CPU cannot look at them. Without the
 * lock, and also where the mode is off. */
size_t hd_misuse_zone(const heddle_runtime *rt, unsigned node);
/* Fills a new copy, with its guard zones, with a pattern. */
void hd_misuse_fill(const struct hd_replica *r);
/* Each value of a task has its size before it, in HD_VALUE_HEAD bytes, and a guard zone behind it: HD_VALUE_ZONE bytes
 * more than its own, rounded up. Lays these around a value that is to be copied to `value`. Without the lock. */
enum { HD_VALUE_HEAD = sizeof(size_t), HD_VALUE_ZONE = 64 };
void hd_misuse_lay_value(char *value, size_t size);

/* --- Calls in kernels: calls.c, without the lock ------------------------------------------------------------------ */

/* A kernel has asked for datum or value i of its task, which has n of them: too few. */
void hd_misuse_not_there(const heddle_context *c, const char *what, size_t i, size_t n);
/* Memory that such a kernel may use all the same. */
void *hd_misuse_spare(const heddle_context *c);
/* A kernel reads value i, which is at `value`, as one of `size` bytes. */
const void *hd_misuse_value(const heddle_context *c, size_t i, const void *value, size_t size);
/* A kernel has called a function that waits: `sentence` says so. */
void hd_misuse_waits(const char *sentence);

/* --- After the end: after_the_end.c ------------------------------------------------------------------------------- */

/* The datum is about to end: a last look at its buffer. */
void hd_misuse_datum_ends(heddle_data *d);
/* It has ended: its handle is kept for a while, so that its use is an error and nothing worse. */
void hd_misuse_retire_datum(heddle_data *d);
/* The program gives its reference to the task back. Returns 1 if it has done that before, which the next
 * heddle_wait_all reports. Without the lock. */
int hd_misuse_release(heddle_task *t);
/* The last reference to such a task is given back: its memory is kept for a while. */
void hd_misuse_retire_task(heddle_task *t);
/* Memory that the program may still name is not needed any more: it is kept for a while. Returns what is to be freed
 * instead, or NULL. */
void *hd_misuse_keep(heddle_runtime *rt, void *memory);
/* HEDDLE_E_STATE, with a message, if the program has given its reference to the task back: `what` is the function that
 * it calls with it. Without the lock. */
int hd_misuse_check_task(const heddle_task *t, const char *what);

/* --- Crashes: crash.c, without the lock --------------------------------------------------------------------------- */

/* The calling thread is about to run a kernel in checking mode: if it crashes, that is told. */
void hd_crash_watch_thread(void);

/* --- The order, told to ThreadSanitizer: tsan.c ------------------------------------------------------------------ */

/* Whether the program runs under ThreadSanitizer and this library was not compiled with it: then `rt->tells_tsan` is 1,
 * and the functions below are called by the thread that runs the code of the program. They need no lock, but
 * hd_tsan_ends does. */
int hd_tsan_wanted(void);
void hd_tsan_submitted(const heddle_task *t);
/* A kernel begins; it has ended, or an event of its task was fulfilled. */
void hd_tsan_begins(const heddle_task *t);
void hd_tsan_ends(heddle_task *t);
/* A control is ready to run: the tasks that use its data have ended, and others may follow. */
void hd_tsan_control(const heddle_task *t);
/* The thread sees that tasks have ended: a wait is over, or a callback is about to be called. */
void hd_tsan_waited(const heddle_runtime *rt);
/* The program lets tasks go on: it has released a datum, or a callback has returned. */
void hd_tsan_lets_go(const heddle_runtime *rt);

/* Members of a team: tells ThreadSanitizer that what one thread did before hd_tsan_tells(there) happens before what
 * another thread does after hd_tsan_hears(there). */
void hd_tsan_tells(const void *there);
void hd_tsan_hears(const void *there);

/* For heddle_selfcheck: whether the seals and the watches are consistent with the data and the tasks. NULL: they are;
 * otherwise what is wrong. */
const char *hd_misuse_broken(heddle_runtime *rt);

#endif
