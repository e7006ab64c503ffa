/* Chrome's trace event format in its JSON object form, for chrome://tracing and ui.perfetto.dev ("Trace Event Format",
 * Google, 2016). Process 1 has a thread for each lane of each worker, process 2 a thread for each lane of each link,
 * process 3 a thread for all changes of layouts; arrows show the practical critical path. */
#include <stdlib.h>
#include "base/base.h"
#include "base/text.h"
#include "trace/trace.h"

enum { WORKERS = 1, LINKS = 2, LAYOUTS = 3 }; /* numbers of the processes */

/* Begins an event: its phase, and the process and thread of its row. */
static void put_event(struct hd_text *text, char phase, int process, size_t thread)
{
	hd_text_put(text, ",\n{\"ph\":\"");
	hd_text_char(text, phase);
	hd_text_put(text, "\",\"pid\":");
	hd_text_int(text, process);
	hd_text_put(text, ",\"tid\":");
	hd_text_uint(text, thread);
}

static void put_time(struct hd_text *text, const char *key, double us)
{
	hd_text_format(text, ",\"%s\":", key);
	hd_text_fixed(text, us, 3);
}

static void put_name(struct hd_text *text, const char *key, const char *name)
{
	hd_text_format(text, ",\"%s\":", key);
	hd_text_json(text, name);
}

/* Like put_name, but writes nothing if `name` is NULL. */
static void put_optional(struct hd_text *text, const char *key, const char *name)
{
	if (name)
		put_name(text, key, name);
}

/* Writes the id of a task, which is given as 1 + the id; writes nothing for 0. */
static void put_id(struct hd_text *text, const char *key, uint64_t one_more)
{
	if (!one_more)
		return;
	hd_text_format(text, ",\"%s\":", key);
	hd_text_uint(text, one_more - 1);
}

/* Names a process or a thread, and sets its place in the order of display. */
static void put_label(struct hd_text *text, int process, size_t thread, const char *kind, const char *name)
{
	put_event(text, 'M', process, thread);
	hd_text_format(text, ",\"name\":\"%s_name\",\"args\":{\"name\":", kind);
	hd_text_json(text, name);
	hd_text_put(text, "}}");
	put_event(text, 'M', process, thread);
	hd_text_format(text, ",\"name\":\"%s_sort_index\",\"args\":{\"sort_index\":%zu}}", kind, thread);
}

static void put_tasks(struct hd_text *text, const struct heddle_trace *trace, const struct hd_task_lanes *lanes)
{
	for (size_t w = 0; w < trace->platform->n_workers; w++)
		for (size_t lane = lanes->first[w]; lane < lanes->first[w + 1]; lane++)
			put_label(text, WORKERS, lane, "thread", trace->platform->workers[w].name);
	for (size_t i = 0; i < trace->n_tasks; i++) {
		const struct heddle_trace_task *t = &trace->tasks[i];
		put_event(text, 'X', WORKERS, lanes->of[i]);
		put_time(text, "ts", t->start);
		put_time(text, "dur", t->end - t->start);
		put_name(text, "name", trace->codelets[t->codelet].name);
		hd_text_put(text, ",\"cat\":\"task\",\"args\":{\"id\":");
		hd_text_uint(text, t->id);
		put_optional(text, "name", heddle_name_of(&trace->task_names, t->id));
		put_optional(text, "implementation", heddle_name_of(&trace->implementations, t->id));
		put_id(text, "inside", t->inside);
		hd_text_put(text, ",\"priority\":");
		hd_text_int(text, t->priority);
		put_time(text, "ready", t->ready);
		put_time(text, "picked", t->picked);
		hd_text_put(text, ",\"bytes\":");
		hd_text_real(text, t->bytes);
		hd_text_put(text, ",\"flops\":");
		hd_text_real(text, t->flops);
		if (t->ended != 0)
			put_time(text, "ended", t->ended);
		if (t->status)
			put_name(text, "failed", heddle_status_name(t->status));
		hd_text_put(text, "}}");
	}
}

/* Shows expansions in the worker's first lane: a worker runs no task in any of its lanes meanwhile. */
static void put_expansions(struct hd_text *text, const struct heddle_trace *trace, const struct hd_task_lanes *lanes)
{
	for (size_t i = 0; i < trace->n_expansions; i++) {
		const struct heddle_trace_expansion *e = &trace->expansions[i];
		char *name = hd_format("expand %s", trace->codelets[e->codelet].name);
		put_event(text, 'X', WORKERS, lanes->first[e->worker]);
		put_time(text, "ts", e->start);
		put_time(text, "dur", e->end - e->start);
		put_name(text, "name", name ? name : "expand");
		hd_text_put(text, ",\"cat\":\"expansion\",\"args\":{\"id\":");
		hd_text_uint(text, e->id);
		put_optional(text, "name", heddle_name_of(&trace->task_names, e->id));
		put_id(text, "inside", e->inside);
		hd_text_put(text, ",\"subgraph\":");
		hd_text_uint(text, e->subgraph);
		hd_text_put(text, ",\"tasks\":");
		hd_text_uint(text, e->n_tasks);
		hd_text_put(text, "}}");
		free(name);
	}
}

static void put_layouts(struct hd_text *text, const struct heddle_trace *trace)
{
	if (trace->n_layouts) {
		put_label(text, LAYOUTS, 0, "process", "layouts");
		put_label(text, LAYOUTS, 0, "thread", "changes of layouts");
	}
	for (size_t i = 0; i < trace->n_layouts; i++) {
		const struct heddle_trace_layout *l = &trace->layouts[i];
		put_event(text, 'i', LAYOUTS, 0);
		put_time(text, "ts", l->at);
		put_name(text, "name", hd_layout_name(l->step));
		hd_text_put(text, ",\"cat\":\"layout\",\"s\":\"t\",\"args\":{\"data\":");
		hd_text_uint(text, l->data);
		put_optional(text, "name", heddle_name_of(&trace->data_names, l->data));
		if (l->plan >= 0) {
			hd_text_put(text, ",\"plan\":");
			hd_text_int(text, l->plan);
		}
		put_id(text, "before", l->before);
		hd_text_put(text, "}}");
	}
}

/* Shows when workers were retired or lost, in each of their lanes. */
static int put_absences(struct hd_text *text, const struct heddle_trace *trace, const struct hd_task_lanes *lanes)
{
	struct hd_absences absences;
	int status = hd_trace_absences(trace, hd_trace_begin(trace), hd_trace_end(trace), &absences);
	for (size_t i = 0; i < absences.n && !status; i++) {
		const struct hd_absence *a = &absences.list[i];
		for (size_t lane = lanes->first[a->worker]; lane < lanes->first[a->worker + 1]; lane++) {
			put_event(text, 'X', WORKERS, lane);
			put_time(text, "ts", a->from);
			put_time(text, "dur", a->to - a->from);
			hd_text_put(text, ",\"name\":\"retired\",\"cat\":\"retired\",\"cname\":\"white\"}");
		}
	}
	hd_absences_free(&absences);
	return status;
}

static int put_transfers(struct hd_text *text, const struct heddle_trace *trace)
{
	struct hd_links links;
	int status = hd_links_init(&links, trace);
	if (status)
		return status;
	const struct heddle_node *nodes = trace->platform->nodes;
	/* first: per link, the number of its first thread */
	size_t *first = calloc(links.n + 1, sizeof *first), n_threads = 0;
	for (size_t i = 0; i < links.n && first; i++) {
		first[i] = n_threads;
		n_threads += links.links[i].n_lanes;
		char *name = hd_format("%s to %s", nodes[links.links[i].from].name, nodes[links.links[i].to].name);
		for (size_t k = first[i]; k < n_threads && name; k++)
			put_label(text, LINKS, k, "thread", name);
		free(name);
	}
	for (size_t i = 0; i < trace->n_transfers && first; i++) {
		const struct heddle_trace_transfer *t = &trace->transfers[i];
		put_event(text, 'X', LINKS, first[links.link[i]] + links.lane[i]);
		put_time(text, "ts", t->start);
		put_time(text, "dur", t->end - t->start);
		put_name(text, "name", hd_reason_name(t->reason));
		hd_text_put(text, ",\"cat\":\"transfer\",\"args\":{\"data\":");
		hd_text_uint(text, t->data);
		put_optional(text, "name", heddle_name_of(&trace->data_names, t->data));
		hd_text_put(text, ",\"bytes\":");
		hd_text_uint(text, t->bytes);
		hd_text_put(text, "}}");
	}
	hd_links_free(&links);
	status = first ? 0 : hd_no_memory("the links of a trace");
	free(first);
	return status;
}

/* Draws the practical critical path: one arrow per step, from the end of a task to the start of the next. */
static int put_path(struct hd_text *text, const struct heddle_trace *trace, const struct hd_task_lanes *lanes)
{
	size_t *path = NULL, n = 0;
	int status = hd_trace_path(trace, &path, &n);
	for (size_t i = 1; i < n && !status; i++) {
		const struct heddle_trace_task *ends[] = {&trace->tasks[path[i]], &trace->tasks[path[i - 1]]};
		for (size_t k = 0; k < 2; k++) {
			put_event(text, k ? 'f' : 's', WORKERS, lanes->of[path[i - k]]);
			hd_text_put(text, k ? ",\"bp\":\"e\"" : "");
			put_time(text, "ts", k || ends[0]->end > ends[1]->start ? ends[k]->start : ends[k]->end);
			hd_text_format(text, ",\"id\":%zu,\"name\":\"critical path\",\"cat\":\"critical path\"}", i);
		}
	}
	free(path);
	return status;
}

int hd_export_chrome(const struct heddle_trace *trace, const char *path)
{
	struct hd_text text = {0};
	struct hd_task_lanes lanes;
	int status = hd_task_lanes_init(&lanes, trace);
	if (status)
		return status;
	hd_text_put(&text, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"made by\":\"heddle ");
	hd_text_put(&text, heddle_version());
	hd_text_put(&text, "\"");
	put_name(&text, "policy", trace->policy);
	put_name(&text, "platform", trace->platform->name);
	put_name(&text, "clock", trace->virtual_time ? "virtual" : "real");
	put_time(&text, "makespan_us", heddle_trace_makespan(trace));
	hd_text_put(&text, "},\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":2,\"name\":\"process_sort_index\",\"args\":{"
	                   "\"sort_index\":2}}");
	put_label(&text, WORKERS, 0, "process", "workers");
	put_tasks(&text, trace, &lanes);
	put_expansions(&text, trace, &lanes);
	if (trace->n_transfers)
		put_label(&text, LINKS, 0, "process", "links");
	status = put_absences(&text, trace, &lanes);
	if (!status)
		status = put_transfers(&text, trace);
	if (!status)
		status = put_path(&text, trace, &lanes);
	put_layouts(&text, trace);
	hd_text_put(&text, "\n]}\n");
	if (!status)
		status = hd_text_write(&text, path);
	hd_text_free(&text);
	hd_task_lanes_free(&lanes);
	return status;
}
