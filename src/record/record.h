/* What the core tells the recorder of traces. Part of runtime.h, which includes it. */
#ifndef HD_CORE_RECORDED_H
#define HD_CORE_RECORDED_H

#include <heddle/data.h>
#include <heddle/runtime.h>
#include <heddle/task.h>

struct hd_log_chunk;
struct hd_recorder;
struct hd_transfer;

struct hd_span;
struct hd_submission;

/* The recorder of traces, in src/trace; it lives as long as the runtime. */
struct hd_recorder *hd_recorder_open(heddle_runtime *rt);
void hd_recorder_close(struct hd_recorder *r);

/* record.c: from now on the runtime, which traces and to which nothing has been submitted yet, records only what
 * heddle_graph_record needs: neither tasks that run nor transfers. heddle_trace_take is refused. Any thread. */
void hd_recorder_graph_only(heddle_runtime *rt);

/* The recorder keeps events in large chunks. When one is nearly full, it asks for the next (short_logs), which is
 * made when the lock is left: hd_supply_choose says for which list of events, or NULL; hd_supply_make takes it from the
 * system, without the lock; hd_supply_give hands it over. */
struct hd_log;
struct hd_supply {
	struct hd_log *log; /* borrowed: the recorder lives as long as its runtime */
	size_t size, event_size;
	/* owned until it is given; NULL: out of memory, which the recorder will see itself */
	struct hd_log_chunk *chunk;
};
void hd_supply_choose(heddle_runtime *rt, struct hd_supply *s);
void hd_supply_make(struct hd_supply *s);
void hd_supply_give(heddle_runtime *rt, struct hd_supply *s);

/* record/record.c: records events, under the lock. */
void hd_record_data(struct hd_recorder *r, const heddle_data *d); /* the datum has just got its number */
struct hd_window;
/* The child has just got its plan; it is this window of its parent. */
void hd_record_child(struct hd_recorder *r, const heddle_data *child, const struct hd_window *window);
void hd_record_data_name(struct hd_recorder *r, const heddle_data *d, const char *name);
/* The task, which has just got its submission number, is about to enter the graph. Makes a place for it in the list of
 * submissions, since steps of layouts may come in while the task is linked, and have later numbers. */
struct hd_submission *hd_record_enter(struct hd_recorder *r, const heddle_task *t);
/* The task has entered the graph. hd_record_explicit has been called before for each of its explicit predecessors, with
 * the submission number of the predecessor. `submission` is what hd_record_enter has returned. */
void hd_record_insert(struct hd_recorder *r, const heddle_task *t, struct hd_submission *submission);
void hd_record_explicit(struct hd_recorder *r, uint64_t before);
/* The sub-graph of a hierarchical task has been submitted, by a worker in that time, and is about to enter the graph.
 */
void hd_record_expansion(struct hd_recorder *r, const heddle_task *t, const struct hd_span *ran);
/* The task has ended at `now`, after its kernel, which ran from `start` to `end`. */
void hd_record_task(struct hd_recorder *r, const heddle_task *t, double start, double end, double now);
/* A step (enum heddle_layout_step) of the layout of a datum; plan NULL: of all its plans. `before`: 1 + the id of the
 * task that waits for it, or 0. */
void hd_record_layout(struct hd_recorder *r, const heddle_data *d, const heddle_plan *plan, int step, uint64_t before);
void hd_record_transfer(struct hd_recorder *r, const struct hd_transfer *tr);
/* Workers may have been lost or retired, or are driven again. */
void hd_record_drives(struct hd_recorder *r);

#endif
