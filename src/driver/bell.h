/* How CUDA and OpenCL tell somebody, in threads of their own, that an operation of a stream has ended: also after the
 * runtime has seen the end by itself, and on a device that has failed, after the stream was closed. So a callback hangs
 * on a bell, which outlives its stream: once that is closed, nobody is told. Any thread may call these functions. */
#ifndef HD_DRIVER_BELL_H
#define HD_DRIVER_BELL_H

struct hd_bell;
/* The bell of a new stream; NULL when out of memory. */
struct hd_bell *hd_bell_new(void);
/* Waits until nobody is being told, and gives up the stream's use of the bell. NULL: does nothing. */
void hd_bell_close(struct hd_bell *bell);

/* What a callback gets. The callback ends it by hd_bell_ring, exactly once. */
struct hd_bell_rope;
/* NULL when out of memory. */
struct hd_bell_rope *hd_bell_rope(struct hd_bell *bell, void (*ended)(void *arg), void *arg);
/* Calls `ended`, unless the bell is closed or `tells` is 0, and frees the rope. */
void hd_bell_ring(struct hd_bell_rope *rope, int tells);

#endif
