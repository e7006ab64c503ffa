/* CUDA and OpenCL report the end of an operation of a stream by a callback, in threads of their own. The callback may
 * come after the runtime has seen the end by itself and, on a device that has failed, after the stream was closed. So
 * each stream has a bell, which lives until the last callback has come; after hd_bell_close, the bell passes no
 * callback on. Any thread may call these functions. */
#ifndef HD_DRIVER_BELL_H
#define HD_DRIVER_BELL_H

struct hd_bell;
/* Makes the bell of a new stream. NULL: out of memory. */
struct hd_bell *hd_bell_new(void);
/* Closes the bell, with its stream; waits while an `ended` runs; later no `ended` is called. NULL: there is no bell. */
void hd_bell_close(struct hd_bell *bell);

/* The argument of one callback of CUDA or OpenCL. The callback must pass it to hd_bell_ring exactly once. */
struct hd_bell_rope;
/* Makes a rope of the bell, for one callback. NULL: out of memory. */
struct hd_bell_rope *hd_bell_rope(struct hd_bell *bell, void (*ended)(void *arg), void *arg);
/* Calls `ended`, unless the bell is closed or `tells` is 0, and frees the rope. */
void hd_bell_ring(struct hd_bell_rope *rope, int tells);

#endif
