/* The recorder of traces, as the core calls it: record.c. */
#ifndef HD_RECORD_RECORD_H
#define HD_RECORD_RECORD_H

#include <heddle/data.h>
#include <heddle/runtime.h>
#include <heddle/task.h>

struct hd_log_chunk;
struct hd_recorder;
struct hd_transfer;
struct hd_span;
struct hd_submission;

/* A recorder lives as long as its runtime. */
struct hd_recorder *hd_recorder_open(heddle_runtime *rt);
void hd_recorder_close(struct hd_recorder *r);

/* Makes the recorder record only what heddle_graph_record needs from now on: neither tasks that run nor transfers.
 * heddle_trace_take is refused then. The runtime was started with tracing, and nothing was submitted yet. */
void hd_recorder_graph_only(heddle_runtime *rt);

/* Spare chunks for logs. When the last chunk of a log is nearly full, the log asks for a spare one (short_logs), which
 * is made after the core lock is released: hd_supply_choose, with the lock, takes a log from short_logs (NULL: there is
 * none); hd_supply_make, without the lock, allocates the chunk; hd_supply_give, with the lock, hands the chunk over. */
struct hd_log;
struct hd_supply {
	struct hd_log *log; /* borrowed: the recorder lives as long as its runtime */
	size_t size, event_size;
	/* owned until hd_supply_give; NULL: out of memory, which the next append will notice */
	struct hd_log_chunk *chunk;
};
void hd_supply_choose(heddle_runtime *rt, struct hd_supply *s);
void hd_supply_make(struct hd_supply *s);
void hd_supply_give(heddle_runtime *rt, struct hd_supply *s);

/* record.c: the functions below record events. Their callers hold the core lock. */
/* To be called when a datum has just got its registration number. */
void hd_record_data(struct hd_recorder *r, const heddle_data *d);
struct hd_window;
/* To be called when a child has just got its plan. `window`: the window of the parent that the child is. */
void hd_record_child(struct hd_recorder *r, const heddle_data *child, const struct hd_window *window);
void hd_record_data_name(struct hd_recorder *r, const heddle_data *d, const char *name);
/* The task, which has just got its submission number, is about to enter the graph. Reserves its place in the log of
 * submissions, because steps of layouts, with later numbers, may be inserted while the task is linked. */
struct hd_submission *hd_record_enter(struct hd_recorder *r, const heddle_task *t);
/* The task has entered the graph. hd_record_explicit was called before for each of its explicit predecessors, with the
 * predecessor's submission number. `submission`: the result of hd_record_enter. */
void hd_record_insert(struct hd_recorder *r, const heddle_task *t, struct hd_submission *submission);
void hd_record_explicit(struct hd_recorder *r, uint64_t before);
/* To be called when a worker has submitted the sub-graph of `t`, in the time `ran`, before it enters the graph. */
void hd_record_expansion(struct hd_recorder *r, const heddle_task *t, const struct hd_span *ran);
/* To be called when the task has ended, at `now`; its kernel ran from `start` to `end`; us. */
void hd_record_task(struct hd_recorder *r, const heddle_task *t, double start, double end, double now);
/* A step (enum heddle_layout_step) of the layout of a datum has been made; `plan` NULL: for all its plans. `before`: 1
 * + the id of the task that waits for the step, or 0. */
void hd_record_layout(struct hd_recorder *r, const heddle_data *d, const heddle_plan *plan, int step, uint64_t before);
void hd_record_transfer(struct hd_recorder *r, const struct hd_transfer *tr);
/* To be called when workers may have been lost, retired or driven again: records what has changed. */
void hd_record_drives(struct hd_recorder *r);

#endif
