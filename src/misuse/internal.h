/* Private interface between the files of src/misuse. */
#ifndef HD_MISUSE_INTERNAL_H
#define HD_MISUSE_INTERNAL_H

#include <heddle/data.h>
#include "state/worker.h"

/* --- tsan.c ------------------------------------------------------------------------------------------------------ */

/* Functions of ThreadSanitizer; NULL where the program runs without it. */
void __tsan_acquire(void *object) __attribute__((weak));
void __tsan_release(void *object) __attribute__((weak));

/* --- sum.c: pure functions, without the lock ---------------------------------------------------------------------- */

/* A checksum of the elements of an array in main memory. */
uint64_t hd_checksum(const struct heddle_part *p);
/* Sets *low to the address of the array's first byte, and *high to the address after its last byte. */
void hd_span_of(const struct heddle_part *p, uintptr_t *low, uintptr_t *high);
/* Whether two arrays may share a byte. Exact if both have equal strides, as windows of one array have; otherwise 1 may
 * be a false alarm; 0 is always right. */
int hd_parts_overlap(const struct heddle_part *a, const struct heddle_part *b);
/* Whether two arrays share a byte. 0 may be wrong if both have more than 4096 runs of bytes and unlike strides. */
int hd_parts_share(const struct heddle_part *a, const struct heddle_part *b);
typedef int (*hd_parts_test)(const struct heddle_part *a, const struct heddle_part *b);

/* --- Called in a child of fork, which has one thread -------------------------------------------------------------- */

void hd_crash_forked(void);

/* --- crash.c: without the lock ------------------------------------------------------------------------------------ */

/* Installs the signal handlers when the first runtime with kernels in checking mode starts, and removes them when the
 * last such runtime has ended. */
void hd_crash_open(void);
void hd_crash_close(void);
/* A function that every sanitizer has; NULL where the program runs without one. */
void __sanitizer_print_stack_trace(void) __attribute__((weak));

/* --- Watches and seals -------------------------------------------------------------------------------------------- */

/* One datum of a running task. */
struct hd_watched {
	heddle_data *data; /* borrowed; for SCRATCH and REDUX the private copy; NULL: the datum is not checked */
	unsigned mode;     /* enum heddle_mode */
	uint8_t writes;
	/* 1: the datum has a buffer of the program; a task on an accelerator nevertheless uses another replica */
	uint8_t home;
	/* 1: the buffer was sealed when the task began: with the checksum `seal`, taken at step `since` */
	uint8_t sealed;
	/* before, after: checksums of the replica that the task uses. known: `before` is valid; looked: `after` is
	 * valid */
	uint8_t known, looked;
	uint64_t seal, since, before, after;
	char name[64]; /* the datum's name in messages; const */
};

/* A running task, or a datum that the program has acquired. */
struct hd_watch {
	struct hd_watch *next, **prev_next; /* the list of running tasks */
	heddle_task *task;                  /* borrowed */
	const struct hd_worker *worker;     /* NULL: an ACQUIRE task */
	char title[128];                    /* the task and its worker, for messages; const */
	uint64_t began;                     /* the step at which the task began */
	/* 1: since this task began, another task has begun that writes some of the same data: this task may have
	 * submitted it. */
	uint8_t shared;
	uint8_t failed;
	char *finding;            /* owned: the first error of the task, as a message; NULL: none */
	const heddle_data *about; /* borrowed: the datum that `finding` is about; NULL: none */
	/* owned: a copy of the task's values and their guard zones, from its begin; NULL: the task has no values */
	char *values;
	size_t value_bytes;
	size_t n;
	struct hd_watched items[];
};

/* The node whose replicas the task uses. */
static inline unsigned hd_watch_node(const struct hd_watch *w)
{
	return w->worker ? w->worker->node : 0;
}

/* The seal of a buffer of the program. While it is sealed, the checksum is known and no running task may write the
 * buffer. */
struct hd_seal {
	heddle_data *data; /* borrowed; data->extra->seal is 1 + the index of this seal */
	uintptr_t low, high;
	/* sum: the checksum; since: the step at which the buffer was sealed or last found unchanged */
	uint64_t sum, since;
	uint8_t sealed;
	uint8_t split; /* 1: the datum has or had children */
	/* only for data without a parent: used: 1: some task has used the datum or a piece of it; written: 1: has
	 * written it */
	uint8_t used, written;
};

/* A task that has ended. */
struct hd_past {
	char title[128]; /* the task and its worker, for messages */
	uint64_t ended;  /* the step at which it ended */
};

/* A change of a datum without a task that has declared to write it. */
struct hd_found_change {
	heddle_data *data;
	uint64_t since;         /* the step at which the datum was last found unchanged */
	struct hd_watch *watch; /* the watch of the task that has just ended; NULL: none */
	/* the watch of a task that has not run yet and therefore is no suspect; NULL: none */
	const struct hd_watch *innocent;
	int by_reader; /* 1: the task of `watch` only reads the datum */
};

/* A reported change of a replica that several tasks were reading: each of them finds the change, only the first reports
 * it. */
struct hd_told {
	const void *ptr;
	uint64_t sum; /* the checksum after the change */
};

/* A reported pair of data that share memory. */
struct hd_twins {
	const heddle_data *a, *b; /* borrowed; both still exist */
};
enum { HD_PASTS = 64, HD_TOLD = 16, HD_TWINS = 64, HD_OTHERS = 256, HD_SPARE = 1 << 16 };

struct hd_misuse {
	uint8_t *host; /* owned; per node: 1: the CPU can read the node's memory. Const after start */
	char *spare;   /* owned: HD_SPARE bytes for kernels that ask for data that their task does not have */
	uint64_t step; /* counts the begins and ends of tasks */
	struct hd_watch *running;
	struct hd_seal *seals; /* owned */
	size_t n_seals, max_seals;
	struct hd_past pasts[HD_PASTS]; /* a ring: the next entry is n_pasts % HD_PASTS */
	uint64_t n_pasts;
	struct hd_told told[HD_TOLD]; /* a ring: the next entry is n_told % HD_TOLD */
	uint64_t n_told;
	struct hd_twins twins[HD_TWINS];
	size_t n_twins;
	/* Ended objects that are kept for a while, the oldest first. */
	heddle_data *data, **last_datum; /* owned; linked by `next` */
	struct hd_task_queue tasks;      /* owned */
	size_t n_data, n_tasks, n_others;
	void *others[HD_OTHERS]; /* owned: a ring of the memory of other ended objects */
	uint8_t stops;           /* 1: heddle_stop has been called */
	uint8_t crashes;         /* 1: hd_crash_open has been called */
};

/* --- watch.c ------------------------------------------------------------------------------------------------------ */

/* Records `text` as the error of the watched task, unless an error is recorded already. `text` is the end of a sentence
 * that begins with "... on cpu0"; `d` is the datum that the error is about, or NULL. Takes ownership of `text`; NULL:
 * out of memory. Called with the core lock, or by the thread that runs the task. */
void hd_finding(struct hd_watch *w, char *text, const heddle_data *d);
/* Reports who can have changed the datum: as an error of the task that has just ended, or to the next
 * heddle_wait_all. */
void hd_changed(struct hd_misuse *m, const struct hd_found_change *c);

/* --- writers.c ---------------------------------------------------------------------------------------------------- */

/* Records that the task has written its data. Called just before the watch ends. */
void hd_writers_note(const struct hd_watch *w);
/* Writes the task that wrote the datum last into `buffer`, as the end of a sentence; "" if unknown. Returns
 * `buffer`. */
const char *hd_last_writer(const heddle_data *d, char *buffer, size_t size);

/* --- zones.c: without the core lock, or with it for an ACQUIRE task ----------------------------------------------- */

/* Checks the guard zones of the replica that the task has used on the node. */
void hd_zones_look(struct hd_watch *w, const struct hd_watched *i, unsigned node);
/* hd_values_keep copies the values of a task, hd_values_look compares them with the copy afterwards.
 * HEDDLE_E_MEMORY. */
int hd_values_keep(struct hd_watch *w);
void hd_values_look(struct hd_watch *w);
/* Size in bytes of value i of the task. */
size_t hd_value_size(const heddle_task *t, size_t i);

/* --- seals.c ------------------------------------------------------------------------------------------------------ */

/* Whether the datum has a buffer of the program that the CPU can read. */
int hd_is_home(const heddle_data *d);
/* The checksum of the datum's buffer of the program. */
uint64_t hd_checksum_home(const heddle_data *d);
/* The seal of a datum, created if necessary. NULL: the datum has no buffer of the program, or out of memory. */
struct hd_seal *hd_seal_of(heddle_data *d);
/* Called when the watch has entered the list of running tasks: notes the seals of the task's data in the watch, and
 * breaks the seals of the buffers that the task writes. */
void hd_seals_begin(struct hd_watch *w);
/* Seals the buffers near the task's data, except those that a running task writes. */
void hd_seals_near(struct hd_watch *w);
/* Called when the watch has left the list of running tasks: seals the task's buffers, checks the seals near them. */
void hd_seals_end(struct hd_watch *w);
/* Checks the datum's seal for the last time, because the datum ends. */
void hd_seal_end(heddle_data *d);
/* Whether `meet`, a test of sum.c, is true of some part of `a` and some part of `b`, both in buffers of the program. */
int hd_buffers_meet(const heddle_data *a, const heddle_data *b, hd_parts_test meet);

/* --- same_memory.c ------------------------------------------------------------------------------------------------ */

/* Called when the watch has entered the list of running tasks: reports data that share memory but are not parent and
 * child, if a task writes one of them. */
void hd_twice_look(struct hd_watch *w);
/* Forgets the reported pairs that contain `d`, because `d` ends. */
void hd_twice_forget(struct hd_misuse *m, const heddle_data *d);

#endif
