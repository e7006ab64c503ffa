/* Codelets: what kernels a task has, and on which classes. */
#ifndef HD_STATE_CODELET_H
#define HD_STATE_CODELET_H

#include <heddle/runtime.h>
#include <heddle/task.h>
#include "perf/perf.h"

struct hd_perf_entry;
struct hd_perf_model;

/* One implementation of a codelet that has several for the same kind of workers. Each has a model of its own, named
 * CODELET.NAME. */
struct hd_implementation {
	char *kind, *model_name; /* owned */
	heddle_kernel kernel;
	struct hd_perf_model *model; /* borrowed from the runtime's models */
};

enum { HD_MAX_PREDS = (1 << 16) - 1, HD_MAX_CHOICES = UINT16_MAX };

struct heddle_codelet {
	heddle_runtime *rt;
	heddle_codelet *next;            /* in the runtime's list */
	struct heddle_codelet_desc desc; /* its name, modes and sub-graphs are owned; implementations is NULL */
	struct hd_perf_model *model;     /* borrowed from the runtime's models */
	/* Borrowed, too: how long after its kernel a task ends by events. Its name is CODELET.event. NULL: no task of
	 * the codelet has asked for an event; in virtual time: nobody says how long. */
	struct hd_perf_model *event_model;
	uint32_t id;                      /* number in traces */
	uint64_t footprint_seed;          /* where the footprints of its tasks begin: the hash of its name */
	uint64_t last_footprint;          /* a cache of one: the footprint that was looked up last in `model` ... */
	struct hd_perf_entry *last_entry; /* ... and its entry, counted in its `users`; NULL: no task was submitted */
	double typical_us;                /* about what its tasks took lately; HUGE_VAL until one has run */
	/* Owned; per class: 1 if the class has workers, and an implementation or (in virtual time) a time. */
	uint8_t *class_ok;
	heddle_kernel *kernels;            /* owned; per class: the implementation, or NULL */
	struct hd_implementation *choices; /* owned; NULL unless some kind has several implementations */
	size_t n_choices;                  /* at most HD_MAX_CHOICES */
	/* Of a task that is not bound to a worker (heddle_on) only the data must be checked when it is submitted. */
	int unchecked;
	uint64_t max_bytes; /* the most data that one of its tasks may have; 0: no limit */
	size_t n_able;      /* number of workers whose class has class_ok */
	/* Any worker may run any of its tasks that is not bound to one (heddle_on), whatever its data ... */
	int everywhere;
	int anywhere; /* ... and none is lost or retired. Lock core, under which policies run */
	/* Bit c % 64 is set for each class c that class_ok is set for: see hd_gate.sleepers. */
	uint64_t class_bits;
	int cores_refused; /* some class could run it if it had another number of cores */
	char *kinds;       /* owned: the kinds of workers that it has kernels for, "cpu, cuda" */
};

#endif
