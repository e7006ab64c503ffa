/* What the files of src/trace share about traces: their rules, finding tasks by id, the critical path, the links in
 * use. */
#ifndef HD_TRACE_TRACE_H
#define HD_TRACE_TRACE_H

#include <heddle/platform.h>
#include <heddle/trace.h>

/* What is wrong with record i, given that those before it are right: a sentence to follow the name of the record, or
 * NULL. */
const char *hd_trace_task_problem(const struct heddle_trace *trace, size_t i);
const char *hd_trace_transfer_problem(const struct heddle_trace *trace, size_t i);
const char *hd_trace_edge_problem(const struct heddle_trace *trace, size_t i);
/* Whether all that the functions of src/trace rely on holds; HEDDLE_E_INVALID names the first record that is wrong. */
int hd_trace_check(const struct heddle_trace *trace);

/* names.c. Appends a name (copied, `length` bytes of it) to a table that nobody else has made; the caller sees to the
 * order. HEDDLE_E_MEMORY. */
int hd_name_table_add(struct heddle_names *names, uint64_t id, const char *name, size_t length);
void hd_name_table_sort(struct heddle_names *names); /* by number */
void hd_name_table_free(struct heddle_names *names);
/* What is wrong with name i, given that those before it are right, as above. */
const char *hd_name_table_problem(const struct heddle_names *names, size_t i);

/* us: when the first task could run, 0 without tasks; time is counted from it. */
double hd_trace_begin(const struct heddle_trace *trace);
/* us spent in tasks per worker; the caller frees the array. NULL: out of memory. */
double *hd_trace_busy(const struct heddle_trace *trace);

/* Where the task of an id is. */
struct hd_trace_index {
	const struct heddle_trace *trace; /* borrows */
	size_t *slots;                    /* owns; open addressing: 1 + index in trace->tasks, or 0 */
	size_t mask;
	size_t twice; /* index of a task whose id another had, or HD_NO_TASK */
};
#define HD_NO_TASK SIZE_MAX
int hd_trace_index_init(struct hd_trace_index *index, const struct heddle_trace *trace);
void hd_trace_index_free(struct hd_trace_index *index);
size_t hd_trace_index_find(const struct hd_trace_index *index, uint64_t id);

/* The practical critical path as indices of tasks, from last to first. The caller frees *path. */
int hd_trace_path(const struct heddle_trace *trace, size_t **path, size_t *n);

/* The links that carried something, by `from`, then `to`. */
struct hd_link {
	uint32_t from, to;
	uint32_t n_lanes; /* the most transfers at once */
	double busy;      /* us with a transfer */
};
struct hd_links {
	struct hd_link *links; /* owns */
	size_t n;
	/* own; of each transfer: index in links, and a number that no overlapping one on the link has */
	uint32_t *link, *lane;
};
int hd_links_init(struct hd_links *links, const struct heddle_trace *trace);
void hd_links_free(struct hd_links *links);

/* Colours of the codelets, 0xRRGGBB: their own, or one of a palette that colour-blind people tell apart, chosen by name
 * and different as long as there are enough. The caller frees the array. NULL: out of memory. */
uint32_t *hd_trace_colors(const struct heddle_trace *trace);

/* Exports. The trace has been checked. */
int hd_export_csv(const struct heddle_trace *trace, const char *path);
int hd_export_chrome(const struct heddle_trace *trace, const char *path);
int hd_export_paje(const struct heddle_trace *trace, const char *path);

/* "demand", "prefetch", "write-back". */
const char *hd_reason_name(uint32_t reason);

#endif
