/* The checking mode (the setting `check`) finds programs whose tasks do something other than they declare. A message
 * names the task, codelet, datum and worker, and the task that ran before. The next wait returns HEDDLE_E_MISUSE, as
 * after the failure of a task. docs/debugging.md lists what the mode finds and what it cannot see. (src/inspect/check.c
 * does not check programs, but the invariants of Heddle's own lists.) The files of this folder:
 *
 *   watch.c: the checks before and after each kernel
 *   seals.c: checksums of the program's buffers while no running task may write them
 *   writers.c: the last writer of each datum
 *   same_memory.c: memory that was registered twice
 *   zones.c: guard zones around the replicas that Heddle allocates, and around values
 *   crash.c: the message when a kernel crashes
 *   calls.c: arguments that a context does not have, and calls that a kernel must not make
 *   tsan.c: the happens-before relation, for ThreadSanitizer
 *   after_the_end.c: data, tasks, groups and runtimes after their end
 *   sum.c: checksums of strided arrays, and whether two arrays overlap
 *
 * `rt->misuse` is NULL unless the mode is on: callers test this pointer before they call a function of this header. The
 * core lock guards all state of the mode, and callers hold the core lock unless a comment says otherwise. */
#ifndef HD_MISUSE_MISUSE_H
#define HD_MISUSE_MISUSE_H

#include <heddle/data.h>
#include <heddle/runtime.h>
#include <heddle/task.h>

struct hd_replica;

/* Turns checking mode on for a runtime that is being started. HEDDLE_E_MEMORY. Needs no lock. */
int hd_misuse_open(heddle_runtime *rt);
/* Notes that the program has called heddle_stop. */
void hd_misuse_stops(heddle_runtime *rt);
/* Turns the mode off, if it is on, after all data have ended. Returns 1 if the objects that the program can still name
 * must be kept, so that their use is reported as an error instead of reading freed memory: the runtime, its codelets,
 * and the memory of its tasks, handles and events. In this case the caller calls hd_misuse_retire_runtime last. */
int hd_misuse_close(heddle_runtime *rt);
/* Keeps a stopped runtime, whose other memory is freed. Returns the runtime that has been kept longest, which the
 * caller frees now; NULL: there is still room. Needs no lock. */
heddle_runtime *hd_misuse_retire_runtime(heddle_runtime *rt);

/* --- Kernels: watch.c --------------------------------------------------------------------------------------------- */

/* Begins to watch the task of the context, which is about to run, and sets c->watch. HEDDLE_E_MEMORY, with a message.
 * Called without the lock. */
int hd_misuse_begin(heddle_context *c);
/* Ends the watch: the kernel has returned, and `status` is the status of the task so far. Returns the new status:
 * HEDDLE_E_MISUSE, with a message in the task, if `status` is 0 and the mode has found an error of the task. Called
 * without the lock. */
int hd_misuse_end(heddle_context *c, int status);
/* Watches the datum of an ACQUIRE task from hd_misuse_acquired, when the program gets it, to hd_misuse_given_back. */
void hd_misuse_acquired(heddle_task *t);
void hd_misuse_given_back(heddle_task *t);
/* Ends the watch of a task that was waiting for its events. */
void hd_misuse_conclude(heddle_task *t);
/* Reports the buffers of the program that were changed although no running task may write them: those whose checksum
 * (seals.c) has changed. Called when the program waits. */
void hd_misuse_look(heddle_runtime *rt);

/* --- Data: seals.c, zones.c --------------------------------------------------------------------------------------- */

/* Seals the buffer of a new datum, or notes the place of a new child in its parent's buffer. */
void hd_misuse_registered(heddle_data *d);
/* Size in bytes of the guard zones before and after each block on the node; 0 where the CPU cannot read the memory, or
 * where the mode is off. Called without the lock. */
size_t hd_misuse_zone(const heddle_runtime *rt, unsigned node);
/* Fills a new replica and its guard zones with a pattern. */
void hd_misuse_fill(const struct hd_replica *r);
/* Each value of a task has its size in front of it, in HD_VALUE_HEAD bytes, and a guard zone behind it: HD_VALUE_ZONE
 * bytes, and the bytes that round the value up. hd_misuse_lay_value writes both around the place `value`. Called
 * without the lock. */
enum { HD_VALUE_HEAD = sizeof(size_t), HD_VALUE_ZONE = 64 };
void hd_misuse_lay_value(char *value, size_t size);

/* --- Calls in kernels: calls.c, without the lock ------------------------------------------------------------------ */

/* Reports that a kernel has asked for datum or value i of its task, which has only n of them. */
void hd_misuse_not_there(const heddle_context *c, const char *what, size_t i, size_t n);
/* HD_SPARE bytes of memory that a kernel gets when it asks for a datum or value that its task does not have. */
void *hd_misuse_spare(const heddle_context *c);
/* Checks that value i, which is at `value`, has the `size` bytes with which a kernel reads it. Returns the address to
 * read from. */
const void *hd_misuse_value(const heddle_context *c, size_t i, const void *value, size_t size);
/* Reports that a kernel has called a function that waits; `sentence` is the message. */
void hd_misuse_waits(const char *sentence);

/* --- After the end: after_the_end.c ------------------------------------------------------------------------------- */

/* Checks the buffer of the datum for the last time: the datum is about to end. */
void hd_misuse_datum_ends(heddle_data *d);
/* Keeps the handle of an ended datum for a while, so that its use is reported as an error instead of reading freed
 * memory. */
void hd_misuse_retire_datum(heddle_data *d);
/* Notes that the program releases its reference to the task. Returns 1 if the program has released it before, which the
 * next heddle_wait_all reports. Called without the lock. */
int hd_misuse_release(heddle_task *t);
/* Keeps for a while the memory of a task whose last reference was released. */
void hd_misuse_retire_task(heddle_task *t);
/* Keeps for a while memory that the program may still name. Returns memory that the caller frees instead, or NULL. */
void *hd_misuse_keep(heddle_runtime *rt, void *memory);
/* HEDDLE_E_STATE, with a message, if the program has released its reference to the task; `what` is the function that
 * the program has called with the task. Called without the lock. */
int hd_misuse_check_task(const heddle_task *t, const char *what);

/* --- Crashes: crash.c, without the lock --------------------------------------------------------------------------- */

/* Prepares the calling thread for the crash of a kernel: called before a kernel runs in checking mode. */
void hd_crash_watch_thread(void);

/* --- Happens-before, for ThreadSanitizer: tsan.c ------------------------------------------------------------------ */

/* Whether the program runs under ThreadSanitizer while this library was compiled without it. Then `rt->tells_tsan` is
 * 1, and the thread that runs the program's code calls the functions below. They need no lock, except hd_tsan_ends,
 * which needs the core lock. */
int hd_tsan_wanted(void);
void hd_tsan_submitted(const heddle_task *t);
/* hd_tsan_begins: the kernel of the task begins. hd_tsan_ends: it has ended, or an event of the task was fulfilled. */
void hd_tsan_begins(const heddle_task *t);
void hd_tsan_ends(heddle_task *t);
/* To be called when a control task is ready: the tasks before it have ended, the tasks after it may begin. */
void hd_tsan_control(const heddle_task *t);
/* To be called when the thread learns that tasks have ended: a wait is over, or a callback is about to be called. */
void hd_tsan_waited(const heddle_runtime *rt);
/* To be called when the program lets tasks begin: it has released a datum, or a callback has returned. */
void hd_tsan_lets_go(const heddle_runtime *rt);

/* Members of a team: everything before hd_tsan_tells(there) happens before everything after hd_tsan_hears(there). */
void hd_tsan_tells(const void *there);
void hd_tsan_hears(const void *there);

/* For heddle_selfcheck: whether the seals and the watches are consistent with the data and the tasks. NULL: consistent;
 * otherwise a sentence that says what is wrong. */
const char *hd_misuse_broken(heddle_runtime *rt);

#endif
