/* Functions that the files of src/trace share: the rules of traces, the search for tasks by id, the critical path, the
 * links in use. */
#ifndef HD_TRACE_TRACE_H
#define HD_TRACE_TRACE_H

#include <heddle/platform.h>
#include <heddle/trace.h>
#include "base/table.h"
#include "record/names.h"

/* Checks everything that the functions of src/trace rely on. HEDDLE_E_INVALID names the first record that is wrong. */
int hd_trace_check(const struct heddle_trace *trace);

/* Puts records that were recorded by several workers into the order in which a trace has them. */
void hd_trace_sort(struct heddle_trace *trace);

/* The time at which the first task became ready, in us; 0 without tasks. Charts and exports count time from here. */
double hd_trace_begin(const struct heddle_trace *trace);
/* The time at which the last task ended, in us; 0 without tasks. */
double hd_trace_end(const struct heddle_trace *trace);
/* The time during which each worker ran at least one task, in us. The caller frees the array. NULL: out of memory. */
double *hd_trace_busy(const struct heddle_trace *trace);

/* A period in which a worker was retired or lost and none of its kernels ran any more; us. */
struct hd_absence {
	size_t worker;
	double from, to;
};
/* The absences of worker w are list[first[w]] .. list[first[w + 1] - 1], in the order of time. */
struct hd_absences {
	struct hd_absence *list; /* owns */
	size_t n, *first;        /* owns */
};
/* Finds all absences between two times. The caller frees *out, also after an error. HEDDLE_E_MEMORY. */
int hd_trace_absences(const struct heddle_trace *trace, double from, double to, struct hd_absences *out);
void hd_absences_free(struct hd_absences *absences);

/* Times of a worker within the makespan, us. */
struct hd_duty {
	size_t n;      /* how many tasks the worker ran */
	double busy;   /* time in which it ran at least one task */
	double driven; /* time in which it was driven */
	double there;  /* time in which it was driven, or ran tasks that it had begun before it retired */
};
/* Returns the duty of each worker. The caller frees the array. NULL: out of memory. */
struct hd_duty *hd_trace_duties(const struct heddle_trace *trace);
/* The name of the trace's machine for titles: the name of its platform, or "this machine". */
const char *hd_trace_machine(const struct heddle_trace *trace);
/* The idle share of the time in which the worker was there. NAN: it never was there. */
double hd_duty_idle(const struct hd_duty *duty);
/* The idle share of the time in which processors (hd_class_processors) were driven. NAN: no processor ever was. */
double hd_trace_idle(const struct heddle_trace *trace, const struct hd_duty *duties);

/* Sums over tasks or transfers (sums.c). Each function returns an array that the caller frees; NULL: out of memory.
 * hd_trace_codelet_sums: entry [codelet * n_classes + class]; hd_trace_link_sums: entry [from * n_nodes + to]. */
struct hd_sum {
	double n, time, work; /* n: number of tasks or transfers; time: us; work: flops or bytes */
	double prefetched;    /* number of transfers */
};
struct hd_sum *hd_trace_codelet_sums(const struct heddle_trace *trace);
struct hd_sum *hd_trace_link_sums(const struct heddle_trace *trace);

/* An index of the tasks of a trace by their ids. */
struct hd_trace_index {
	struct hd_table by_id; /* owns; the index in trace->tasks by id */
	size_t twice;          /* index of a task with the id of an earlier task, or HD_NO_TASK */
};
#define HD_NO_TASK SIZE_MAX
int hd_trace_index_init(struct hd_trace_index *index, const struct heddle_trace *trace);
void hd_trace_index_free(struct hd_trace_index *index);
size_t hd_trace_index_find(const struct hd_trace_index *index, uint64_t id);

/* The lanes of workers: tasks that a worker ran at the same time lie in different lanes. A worker has one lane, unless
 * its class has several streams. */
struct hd_task_lanes {
	size_t *of; /* owns; per task: its lane; the lanes of all workers are numbered one after another */
	/* owns; per task: the task whose end freed a lane of the worker for this task; HD_NO_TASK: a lane was free from
	 * the start */
	size_t *before;
	size_t *first; /* owns; per worker: its first lane; and one more entry: the number of all lanes */
};
int hd_task_lanes_init(struct hd_task_lanes *lanes, const struct heddle_trace *trace);
void hd_task_lanes_free(struct hd_task_lanes *lanes);

/* The practical critical path as indices of tasks, from last to first. The caller frees *path. */
int hd_trace_path(const struct heddle_trace *trace, size_t **path, size_t *n);

/* A pair of memory nodes between which data were transferred. */
struct hd_link {
	uint32_t from, to;
	uint32_t n_lanes; /* the largest number of transfers at the same time */
	double busy;      /* us during which there was a transfer */
};
struct hd_links {
	struct hd_link *links; /* owns; by `from`, then `to` */
	size_t n;
	/* owned; per transfer: the index of its link, and its lane, from 0; overlapping transfers have different
	 * lanes */
	uint32_t *link, *lane;
};
int hd_links_init(struct hd_links *links, const struct heddle_trace *trace);
void hd_links_free(struct hd_links *links);

/* The colour of each codelet, 0xRRGGBB: the codelet's own colour, or a colour of a palette whose colours colour-blind
 * people can tell apart. The codelet's name chooses from the palette; no colour is taken twice while others are left.
 * The caller frees the array. NULL: out of memory. */
uint32_t *hd_trace_colors(const struct heddle_trace *trace);

/* Write the trace to the file `path`. The caller has checked the trace (hd_trace_check). */
int hd_export_csv(const struct heddle_trace *trace, const char *path);
int hd_export_chrome(const struct heddle_trace *trace, const char *path);
int hd_export_paje(const struct heddle_trace *trace, const char *path);

/* Returns "demand", "prefetch" or "write-back". */
const char *hd_reason_name(uint32_t reason);
/* The colours of expansions, also in charts, and of changes of layouts. */
enum { HD_EXPANSION = 0xcc0099, HD_LAYOUT = 0xb05a00 };
enum { HD_LAYOUT_STEPS = HEDDLE_LAYOUT_JOIN + 1 };
/* Returns "partition" or "unpartition"; with " (read)" if afterwards both the datum and the children can be read. */
const char *hd_layout_name(enum heddle_layout_step step);

#endif
