/* What the recorder keeps: record.c fills it while tasks run, take.c makes traces of it. */
#ifndef HD_TRACE_EVENTS_H
#define HD_TRACE_EVENTS_H

#include <heddle/graph.h>
#include <heddle/trace.h>
#include "log.h"
#include "perf/perf.h"
#include "state/engine.h"

struct task_event {
	uint64_t inside;                /* as in struct heddle_trace_task */
	uint64_t id : 40, codelet : 24; /* memory ends before either of these numbers overflows */
	uint64_t footprint;
	double bytes, flops, ready, picked, start, end, ended; /* times in us; all as in struct heddle_trace_task */
	int32_t priority;
	int16_t status;
	uint16_t choice; /* as in heddle_task: 1 + the implementation, 0: the only one */
};

/* One task that was submitted, controls included. Its links are events of the list `links`: first the n_after tasks
 * that it waits for explicitly, then its n_accesses accesses. */
struct hd_submission {
	struct hd_perf_entry *perf; /* counted in its users; NULL: the task has none */
	uint32_t codelet;           /* its number; NO_CODELET: a control */
	int32_t priority;
	uint64_t inside; /* 1 + the id of the hierarchical task in whose sub-graph it is; 0: it is in none */
	uint32_t n_accesses, n_after : 24, kind : 8; /* kind: enum hd_task_kind, or STEP */
};
enum { STEP = 255, MOST_AFTER = (1 << 24) - 1 }; /* STEP: the core submitted the task, as a step of a reduction */
#define NO_CODELET UINT32_MAX

union link_event {
	uint64_t before;
	struct heddle_graph_access access;
};

/* A step of a reduction. Later tasks wait for the REDUCE control, which stands for its steps: they are what really
 * writes the datum. */
struct step_event {
	uint64_t reduce, task; /* ids of the control and of the step; `reduce` comes first because hd_search reads it */
	uint32_t data;
};

/* A child of a plan: numbers of handles, and the window of the parent that it is, in elements. In dimensions that the
 * data lack the window is 1 element, at 0. */
struct hd_recorded_child {
	uint32_t child, parent;
	size_t offset[HEDDLE_MAX_DIMS], n[HEDDLE_MAX_DIMS];
};
struct child_event {
	struct hd_recorded_child child;
	uint32_t plan; /* its number is that of its first child */
};

struct hd_recorder {
	heddle_runtime *rt;
	struct hd_log *tasks; /* owns; per worker */
	struct hd_log transfers, submissions, links, steps;
	struct hd_log expansions; /* of struct heddle_trace_expansion */
	struct hd_log expanded;   /* the ids of these, kept as long as the submissions */
	struct hd_log children;   /* of all plans ever made */
	struct hd_log layouts;    /* of struct heddle_trace_layout */
	struct hd_log drives;     /* of struct heddle_trace_drive */
	unsigned char *out;       /* owns; per worker: as recorded, it is lost or retired */
	uint64_t first_id;        /* id of the first submission; the ids of the others follow without gaps */
	uint32_t n_after;         /* explicit links recorded so far for the task that is being submitted */
	uint64_t *data_bytes;     /* owns; size of every datum, by registration number */
	size_t n_data;
	struct heddle_names task_names; /* owns; of the submissions */
	char **data_names;              /* owns; by registration number, NULL: no name; room for n_data_names */
	size_t n_data_names;            /* 0 as long as no datum has been named */
	/* The trace of these submissions has been taken. They are kept for heddle_graph_record until the program
	 * submits another task. */
	int taken;
	int graph_only;   /* what is submitted is kept, but no tasks that have run and no transfers */
	unsigned n_takes; /* how often the events were taken, and forgotten */
	/* What the runtime had executed, and what was left in its graph, when they were taken last. */
	uint64_t executed, left;
	uint64_t lost; /* events for which there was no memory */
	/* With the setting explain: a library that used more threads than a worker has cores when the first task had
	 * ended, while the program had set its numbers as kernels find them; threads 0: none. */
	struct hd_eager eager;
	int has_looked;
};

/* How far the events have been read: see hd_trace_take_part. */
struct hd_reading {
	size_t most;      /* events that are read of each list at once */
	unsigned n_takes; /* of the recorder, when it was read */
	struct hd_log_place transfers, expansions, layouts, drives;
	struct hd_log_place tasks[]; /* per worker */
};
/* Begins to read, `most` events of each list at once. The caller frees it. NULL: out of memory. */
struct hd_reading *hd_reading_open(const heddle_runtime *rt, size_t most);
/* The events behind `from`, which it moves, as a trace without platform, policy, dependencies and names of data. The
 * recorder keeps them. *restarted: heddle_trace_take has taken the events meanwhile, so these are the first ones behind
 * it. The caller frees *out, also after an error. Takes the core lock. HEDDLE_E_MEMORY. */
int hd_trace_take_part(heddle_runtime *rt, struct hd_reading *from, int *restarted, struct heddle_trace **out);

/* The codelets by their numbers. The caller frees the array. NULL: out of memory. */
const heddle_codelet **hd_recorder_codelets(const heddle_runtime *rt);
/* A trace has been taken of all events: forgets them. The submissions are kept until the program submits again. */
void hd_recorder_taken(struct hd_recorder *r);

#endif
