/* Codelets: the kernels of a kind of task, and the classes of workers that can run it. */
#ifndef HD_STATE_CODELET_H
#define HD_STATE_CODELET_H

#include <heddle/runtime.h>
#include <heddle/task.h>

struct hd_perf_entry;
struct hd_perf_model;

/* One of several implementations that a codelet has for one kind of workers. Each implementation has a performance
 * model of its own, named CODELET.NAME. */
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
	/* Borrowed from the runtime's models: the time, us, from the end of the kernel to the end of a task that ends
	 * by events. The model is named CODELET.event. NULL: no task of the codelet has asked for an event, or in
	 * virtual time no such time is given. */
	struct hd_perf_model *event_model;
	/* heddle_codelet_set_true_time; NULL: the model's time is the true time. Guarded by the core lock. */
	double (*true_time)(const struct heddle_size *size, unsigned class_id);
	uint32_t id;             /* number in traces */
	uint64_t footprint_seed; /* initial value of the footprint hash of its tasks: the hash of its name */
	uint64_t last_footprint; /* the footprint that was looked up last in `model`: a cache of one entry */
	/* the entry of last_footprint; the codelet is one of its `users`; NULL: no task was submitted */
	struct hd_perf_entry *last_entry;
	/* running estimate of the kernel times of its recent tasks, us; HUGE_VAL until one has run */
	double typical_us;
	/* Owned; per class: 1 if the class has workers, and an implementation or (in virtual time) a time. */
	uint8_t *class_ok;
	heddle_kernel *kernels;            /* owned; per class: the implementation, or NULL */
	struct hd_implementation *choices; /* owned; NULL unless some kind has several implementations */
	size_t n_choices;                  /* at most HD_MAX_CHOICES */
	/* 1: when a task that is not bound to a worker (heddle_on) is submitted, only its data need checks. */
	int unchecked;
	uint64_t max_bytes; /* the most data that one of its tasks may have; 0: no limit */
	size_t n_able;      /* number of workers whose class can run the codelet (class_ok) */
	/* 1: every worker may run every task of the codelet that heddle_on does not bind, whatever the task's data */
	int everywhere;
	/* 1: `everywhere` is 1, and no worker is lost or retired. The core lock, which policies hold, guards it. */
	int anywhere;
	/* Bit c % 64 is set for each class c whose class_ok is 1; compared with hd_gate.sleepers. */
	uint64_t class_bits;
	int cores_refused; /* 1: some class could run the codelet if its workers had another number of cores */
	char *kinds;       /* owned: the kinds of workers for which it has kernels, as text: "cpu, cuda" */
};

#endif
