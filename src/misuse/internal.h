/* What the files of this folder share. */
#ifndef HD_MISUSE_INSIDE_H
#define HD_MISUSE_INSIDE_H

#include <heddle/data.h>
#include "state/worker.h"

/* --- tsan.c ------------------------------------------------------------------------------------------------------ */

/* Functions of ThreadSanitizer; NULL where it is not. */
void __tsan_acquire(void *object) __attribute__((weak));
void __tsan_release(void *object) __attribute__((weak));

/* --- sum.c: pure functions, without the lock ---------------------------------------------------------------------- */

/* A checksum of the elements of an array in main memory. */
uint64_t hd_checksum(const struct heddle_part *p);
/* Where the array lies: its first byte, and the one behind its last. */
void hd_span_of(const struct heddle_part *p, uintptr_t *low, uintptr_t *high);
/* Whether two arrays share a byte. Exact where both have the same strides, as windows of one array have; otherwise 1 if
 * they may. */
int hd_parts_overlap(const struct heddle_part *a, const struct heddle_part *b);
/* Whether they certainly share a byte. Exact, unless both are in more than 4096 runs of bytes: then 0. */
int hd_parts_share(const struct heddle_part *a, const struct heddle_part *b);
typedef int (*hd_parts_test)(const struct heddle_part *a, const struct heddle_part *b);

/* --- In a child of fork, which has one thread --------------------------------------------------------------------- */

void hd_crash_forked(void);

/* --- crash.c: without the lock ------------------------------------------------------------------------------------ */

/* A runtime that runs kernels in checking mode starts; it has ended. Handlers of signals are there in between. */
void hd_crash_open(void);
void hd_crash_close(void);
/* A function of every sanitizer; NULL where there is none. */
void __sanitizer_print_stack_trace(void) __attribute__((weak));

/* --- What is watched ---------------------------------------------------------------------------------------------- */

/* One datum that a running task uses. */
struct hd_watched {
	heddle_data *data; /* borrowed; the private copy of SCRATCH and REDUX; NULL: it is not looked at */
	unsigned mode;     /* enum heddle_mode */
	uint8_t writes;
	uint8_t home;          /* it has a buffer of the program, which is not what the task uses on an accelerator */
	uint8_t sealed;        /* that was sealed when the task began: with `seal`, at the step `since` */
	uint8_t known, looked; /* `before` and `after` are the checksums of what the task uses */
	uint64_t seal, since, before, after;
	char name[64]; /* what messages call the datum; const */
};

/* A task that runs, or a datum that the program has acquired. */
struct hd_watch {
	struct hd_watch *next, **prev_next; /* in the list of those that run */
	heddle_task *task;                  /* borrowed */
	const struct hd_worker *worker;     /* NULL: an ACQUIRE task */
	char title[128];                    /* what messages call the task and its worker; const */
	uint64_t began;                     /* the step at which it began */
	/* 1: a task that uses some of its data has begun meanwhile and writes them: it may have submitted that one. */
	uint8_t shared;
	uint8_t failed;
	char *finding;            /* owned: the first thing that it has done wrong; NULL: none */
	const heddle_data *about; /* borrowed: the datum that this is about; NULL: none */
	char *values;             /* owned: its values and their zones as they were; NULL: it has none */
	size_t value_bytes;
	size_t n;
	struct hd_watched items[];
};

/* The node of the copies that it uses. */
static inline unsigned hd_watch_node(const struct hd_watch *w)
{
	return w->worker ? w->worker->node : 0;
}

/* A buffer of the program. Sealed: its checksum is known, and nobody who may write it runs. */
struct hd_seal {
	heddle_data *data; /* borrowed; its extra->seal is 1 + the index of this */
	uintptr_t low, high;
	uint64_t sum, since; /* of its elements; the step at which it was sealed or last found unchanged */
	uint8_t sealed;
	uint8_t split;         /* it has or had children */
	uint8_t used, written; /* of data that are nobody's children: by some task, also in pieces */
};

/* A task that has run. */
struct hd_past {
	char title[128]; /* with its worker */
	uint64_t ended;  /* the step */
};

/* A datum was found to have changed. */
struct hd_found_change {
	heddle_data *data;
	uint64_t since;                  /* the step at which it was last found unchanged */
	struct hd_watch *watch;          /* the task that has just ended; NULL: none */
	const struct hd_watch *innocent; /* a task that has not run yet, but is in the list; NULL: none */
	int by_reader;                   /* `watch` uses the datum, and only reads it */
};

/* A copy that was changed while several tasks read it: each of these sees that, and it is reported once. */
struct hd_told {
	const void *ptr;
	uint64_t sum; /* afterwards */
};

/* Two data of the same memory, which was reported. */
struct hd_twins {
	const heddle_data *a, *b; /* borrowed; neither has ended */
};
enum { HD_PASTS = 64, HD_TOLD = 16, HD_TWINS = 64, HD_OTHERS = 256, HD_SPARE = 1 << 16 };

struct hd_misuse {
	uint8_t *host; /* owned; per node: the CPU can look at its memory. Const after start */
	char *spare;   /* owned: HD_SPARE bytes that a kernel gets which asks for data that it does not have */
	uint64_t step; /* counts the beginnings and ends of tasks */
	struct hd_watch *running;
	struct hd_seal *seals; /* owned */
	size_t n_seals, max_seals;
	struct hd_past pasts[HD_PASTS]; /* a ring: the next one goes to n_pasts % HD_PASTS */
	uint64_t n_pasts;
	struct hd_told told[HD_TOLD]; /* likewise */
	uint64_t n_told;
	struct hd_twins twins[HD_TWINS];
	size_t n_twins;
	/* What has ended and is kept for a while, the oldest first. */
	heddle_data *data, **last_datum; /* owned; linked by `next` */
	struct hd_task_queue tasks;      /* owned */
	size_t n_data, n_tasks, n_others;
	void *others[HD_OTHERS]; /* owned: a ring of memory of other things that have ended */
	uint8_t stops;           /* the program stops the runtime */
	uint8_t crashes;         /* hd_crash_open was called */
};

/* --- watch.c ------------------------------------------------------------------------------------------------------ */

/* Notes what the task has done wrong, if it is the first thing: a sentence that goes on after "on cpu0", about `d`, or
 * NULL. Takes `text` over, which may be NULL: out of memory. With the lock, or by the thread that runs the task. */
void hd_finding(struct hd_watch *w, char *text, const heddle_data *d);
/* Says who can have changed the datum: in the task that has just ended, or for the next heddle_wait_all. */
void hd_changed(struct hd_misuse *m, const struct hd_found_change *c);

/* --- writers.c ---------------------------------------------------------------------------------------------------- */

/* The watch is about to end: its task has written its data. */
void hd_writers_note(const struct hd_watch *w);
/* The task that was the last to write the datum, as the end of a sentence; "": not known. Returns `buffer`. */
const char *hd_last_writer(const heddle_data *d, char *buffer, size_t size);

/* --- zones.c: without the lock, or for an ACQUIRE task ------------------------------------------------------------ */

/* Looks at the zones of the copy that the task has used on the node. */
void hd_zones_look(struct hd_watch *w, const struct hd_watched *i, unsigned node);
/* Keeps the values of a task, and compares them afterwards. HEDDLE_E_MEMORY. */
int hd_values_keep(struct hd_watch *w);
void hd_values_look(struct hd_watch *w);
/* Bytes of value i of the task. */
size_t hd_value_size(const heddle_task *t, size_t i);

/* --- seals.c ------------------------------------------------------------------------------------------------------ */

/* Whether the datum has a buffer of the program that can be looked at. */
int hd_is_home(const heddle_data *d);
/* The checksum of that. */
uint64_t hd_checksum_home(const heddle_data *d);
/* The seal of a datum, made if there is none. NULL: it has no such buffer, or out of memory. */
struct hd_seal *hd_seal_of(heddle_data *d);
/* The watch is in the list: notes the seals of its data in it, and breaks those of all that it writes. */
void hd_seals_begin(struct hd_watch *w);
/* Seals what lies near its data and nobody writes. */
void hd_seals_near(struct hd_watch *w);
/* It is not in the list any more. Seals what it has used, and looks at what lies near. */
void hd_seals_end(struct hd_watch *w);
/* The datum ends: a last look. */
void hd_seal_end(heddle_data *d);
/* Whether `meet`, one of the tests of sum.c, is true of a part of `a` and one of `b`, in the buffers of the program. */
int hd_buffers_meet(const heddle_data *a, const heddle_data *b, hd_parts_test meet);

/* --- same_memory.c ------------------------------------------------------------------------------------------------ */

/* The watch is in the list: reports data of the same memory that are apart, if a task writes one of them. */
void hd_twice_look(struct hd_watch *w);
/* The datum ends. */
void hd_twice_forget(struct hd_misuse *m, const heddle_data *d);

#endif
