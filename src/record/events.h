/* The records of the recorder: record.c writes them while tasks run, take.c makes traces of them. */
#ifndef HD_RECORD_EVENTS_H
#define HD_RECORD_EVENTS_H

#include <heddle/graph.h>
#include <heddle/trace.h>
#include "perf/perf.h"
#include "state/engine.h"
#include "log.h"

struct task_event {
	uint64_t inside;                /* as in struct heddle_trace_task */
	uint64_t id : 40, codelet : 24; /* memory is exhausted before either number overflows */
	uint64_t footprint;
	double bytes, flops, ready, picked, start, end, ended; /* times in us; all as in struct heddle_trace_task */
	int32_t priority;
	int16_t status;
	uint16_t choice; /* as in heddle_task: 1 + the index of the implementation; 0: the codelet has only one */
};

/* One submitted task, control tasks included. Its links are events of the list `links`: first its n_after explicit
 * predecessors, then its n_accesses accesses. */
struct hd_submission {
	struct hd_perf_entry *perf; /* the submission counts in the entry's `users`; NULL: the task has no model */
	uint32_t codelet;           /* number of the codelet; NO_CODELET: a control task */
	int32_t priority;
	uint64_t inside; /* 1 + the id of the hierarchical task around it; 0: it is in no sub-graph */
	uint32_t n_accesses, n_after : 24, kind : 8; /* kind: enum hd_task_kind, or STEP */
};
enum { STEP = 255, MOST_AFTER = (1 << 24) - 1 }; /* STEP: the task is a step of a reduction, submitted by the core */
#define NO_CODELET UINT32_MAX

union link_event {
	uint64_t before;
	struct heddle_graph_access access;
};

/* A step of a reduction. The steps write the datum; later tasks depend on the REDUCE control task, which stands for its
 * steps. */
struct step_event {
	/* reduce: id of the control; task: id of the step; `reduce` comes first because hd_search reads it */
	uint64_t reduce, task;
	uint32_t data;
};

/* A child of a plan: the numbers of both handles, and its window of the parent, in elements. In dimensions that the
 * data do not have, the window is 1 element at 0. */
struct hd_recorded_child {
	uint32_t child, parent;
	size_t offset[HEDDLE_MAX_DIMS], n[HEDDLE_MAX_DIMS];
};
struct child_event {
	struct hd_recorded_child child;
	uint32_t plan; /* number of the plan: the registration number of its first child */
};

struct hd_recorder {
	heddle_runtime *rt;
	struct hd_log *tasks; /* owns; per worker */
	struct hd_log transfers, submissions, links, steps;
	struct hd_log expansions; /* a log of struct heddle_trace_expansion */
	struct hd_log expanded; /* a log of uint64_t: the ids of the expanded tasks, kept as long as the submissions */
	struct hd_log children; /* a log of struct child_event, of all plans ever made */
	struct hd_log layouts;  /* a log of struct heddle_trace_layout */
	struct hd_log drives;   /* a log of struct heddle_trace_drive */
	unsigned char *out;     /* owns; per worker: 1 if the last recorded state is "lost or retired" */
	uint64_t first_id;      /* id of the first submission; the ids of the others follow without gaps */
	/* number of explicit predecessors recorded so far for the task that is being submitted */
	uint32_t n_after;
	/* 1: a control has been submitted; 1: a task has explicit predecessors or was submitted behind a control, so
	 * that it may wait for others although no access implies it. Steps, changes of layouts, and the ends of data,
	 * for which no task can wait, do not count. */
	int has_control, has_edges;
	/* 1: the program has waited between submissions, not counting waits for the window; or a task names its worker
	 * or has a callback. n_waits: rt->waits.n_asked at the last submission. */
	int is_irregular;
	uint64_t n_waits;
	uint64_t *data_bytes; /* owns; size of every datum, by registration number */
	size_t n_data;
	struct heddle_names task_names; /* owns; names of the submitted tasks */
	/* owns; names of data by registration number, NULL: no name; room for n_data_names */
	char **data_names;
	size_t n_data_names; /* 0 until a datum has been named */
	/* 1: a trace of the recorded submissions has been taken. They are kept for heddle_graph_record until the
	 * program submits another task. */
	int taken;
	int graph_only;   /* 1: only submissions are recorded, no tasks that have run and no transfers */
	unsigned n_takes; /* how often a trace was taken, after which the events were cleared */
	/* Number of executed tasks, and of unfinished tasks in the graph, when the last trace was taken. */
	uint64_t executed, left;
	uint64_t lost; /* number of events that were lost because memory ran out */
	/* With the setting explain: a library that, when the first task ended, would use more threads than a worker has
	 * cores; threads 0: none. has_looked: 1: the libraries have been examined. */
	struct hd_eager eager;
	int has_looked;
};

/* How far a reader has read the events: see hd_trace_take_part. */
struct hd_reading {
	size_t most;      /* the largest number of events that one call reads from each list */
	unsigned n_takes; /* n_takes of the recorder at the last read */
	struct hd_log_place transfers, expansions, layouts, drives;
	struct hd_log_place tasks[]; /* per worker */
};
/* Makes a reader that reads up to `most` events of each list at once. The caller frees it with free(). NULL: out of
 * memory. */
struct hd_reading *hd_reading_open(const heddle_runtime *rt, size_t most);
/* Makes a trace of the events after the position `from`, and moves `from`. The trace has no platform, policy,
 * dependencies or names of data. The recorder keeps the events. *restarted: heddle_trace_take has taken the events
 * meanwhile, so these are the first events after that. The caller frees *out, also after an error. Acquires the core
 * lock. HEDDLE_E_MEMORY. */
int hd_trace_take_part(heddle_runtime *rt, struct hd_reading *from, int *restarted, struct heddle_trace **out);

/* The codelets, indexed by their numbers. The caller frees the array. NULL: out of memory. */
const heddle_codelet **hd_recorder_codelets(const heddle_runtime *rt);
/* To be called when a trace of all events has been taken: clears the events. The submissions are kept until the program
 * submits again. */
void hd_recorder_taken(struct hd_recorder *r);

#endif
