/* Exports of traces: chooses the format, and writes CSV, whose columns docs/trace.md describes. */
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/text.h"
#include "trace/trace.h"

const char *hd_reason_name(uint32_t reason)
{
	static const char *const names[] = {"demand", "prefetch", "write-back"};
	return names[reason <= 2 ? reason : 0];
}

const char *hd_layout_name(enum heddle_layout_step step)
{
	static const char *const names[HD_LAYOUT_STEPS] = {
	    [HEDDLE_LAYOUT_READ] = "partition (read)",
	    [HEDDLE_LAYOUT_WRITE] = "partition",
	    [HEDDLE_LAYOUT_GATHER] = "unpartition (read)",
	    [HEDDLE_LAYOUT_JOIN] = "unpartition",
	};
	return names[step];
}

/* Writes a comma and the name, quoted as RFC 4180 says; for NULL, only the comma. */
static void put_name(struct hd_text *text, const char *s)
{
	hd_text_char(text, ',');
	if (!s)
		return;
	if (!strpbrk(s, ",\"\r\n")) {
		hd_text_put(text, s);
		return;
	}
	hd_text_char(text, '"');
	for (; *s; s++) {
		if (*s == '"')
			hd_text_char(text, '"');
		hd_text_char(text, *s);
	}
	hd_text_char(text, '"');
}

static void put_real(struct hd_text *text, double value)
{
	hd_text_char(text, ',');
	hd_text_real(text, value);
}

static void put_int(struct hd_text *text, int64_t value)
{
	hd_text_char(text, ',');
	hd_text_int(text, value);
}

static void put_uint(struct hd_text *text, uint64_t value)
{
	hd_text_char(text, ',');
	hd_text_uint(text, value);
}

/* Writes a comma and the id of a task, which is given as 1 + the id; for 0, only the comma. */
static void put_id(struct hd_text *text, uint64_t one_more)
{
	if (one_more)
		put_uint(text, one_more - 1);
	else
		hd_text_char(text, ',');
}

static void put_task(struct hd_text *text, const struct heddle_trace *trace, const struct heddle_trace_task *t)
{
	const struct heddle_platform *p = trace->platform;
	const struct heddle_worker *worker = &p->workers[t->worker];
	hd_text_put(text, "task");
	put_uint(text, t->id);
	put_name(text, trace->codelets[t->codelet].name);
	put_name(text, worker->name);
	put_name(text, p->classes[worker->class_id].name);
	put_real(text, t->ready);
	put_real(text, t->picked);
	put_real(text, t->start);
	put_real(text, t->end);
	put_int(text, t->priority);
	put_int(text, t->status);
	put_real(text, t->bytes);
	put_real(text, t->flops);
	put_uint(text, t->footprint);
	hd_text_put(text, ",,,");
	put_name(text, heddle_name_of(&trace->task_names, t->id));
	put_name(text, heddle_name_of(&trace->implementations, t->id));
	if (t->ended != 0)
		put_real(text, t->ended);
	else
		hd_text_char(text, ',');
	put_id(text, t->inside);
	hd_text_put(text, ",,,,,\n");
}

static void put_transfer(struct hd_text *text, const struct heddle_trace *trace, const struct heddle_trace_transfer *t)
{
	hd_text_put(text, "transfer");
	put_uint(text, t->data);
	hd_text_put(text, ",,,,,");
	put_real(text, t->start);
	put_real(text, t->end);
	hd_text_put(text, ",,");
	put_uint(text, t->bytes);
	hd_text_put(text, ",,");
	put_name(text, trace->platform->nodes[t->from].name);
	put_name(text, trace->platform->nodes[t->to].name);
	put_name(text, hd_reason_name(t->reason));
	put_name(text, heddle_name_of(&trace->data_names, t->data));
	hd_text_put(text, ",,,,,,,,\n");
}

static void put_absence(struct hd_text *text, const struct heddle_platform *p, const struct hd_absence *a)
{
	hd_text_put(text, "retired,,");
	put_name(text, p->workers[a->worker].name);
	put_name(text, p->classes[p->workers[a->worker].class_id].name);
	hd_text_put(text, ",,");
	put_real(text, a->from);
	put_real(text, a->to);
	hd_text_put(text, ",,,,,,,,,,,,,,,,,\n");
}

static void put_expansion(struct hd_text *text, const struct heddle_trace *trace,
                          const struct heddle_trace_expansion *e)
{
	const struct heddle_worker *worker = &trace->platform->workers[e->worker];
	hd_text_put(text, "expansion");
	put_uint(text, e->id);
	put_name(text, trace->codelets[e->codelet].name);
	put_name(text, worker->name);
	put_name(text, trace->platform->classes[worker->class_id].name);
	hd_text_put(text, ",,");
	put_real(text, e->start);
	put_real(text, e->end);
	hd_text_put(text, ",,,,,,,,");
	put_name(text, heddle_name_of(&trace->task_names, e->id));
	hd_text_put(text, ",,");
	put_id(text, e->inside);
	put_uint(text, e->subgraph);
	put_uint(text, e->n_tasks);
	hd_text_put(text, ",,,\n");
}

static void put_layout(struct hd_text *text, const struct heddle_trace *trace, const struct heddle_trace_layout *l)
{
	hd_text_put(text, "layout");
	put_uint(text, l->data);
	hd_text_put(text, ",,,,,");
	put_real(text, l->at);
	put_real(text, l->at);
	hd_text_put(text, ",,,,,,,,");
	put_name(text, heddle_name_of(&trace->data_names, l->data));
	hd_text_put(text, ",,,,,");
	if (l->plan >= 0)
		put_int(text, l->plan);
	else
		hd_text_char(text, ',');
	put_name(text, hd_layout_name(l->step));
	put_id(text, l->before);
	hd_text_char(text, '\n');
}

int hd_export_csv(const struct heddle_trace *trace, const char *path)
{
	struct hd_text text = {0};
	struct hd_absences absences;
	int status = hd_trace_absences(trace, hd_trace_begin(trace), hd_trace_end(trace), &absences);
	hd_text_put(&text,
	            "event,id,codelet,worker,class,ready_us,picked_us,start_us,end_us,priority,status,bytes,flops,"
	            "footprint,from,to,reason,name,implementation,ended_us,inside,subgraph,tasks,plan,step,before\n");
	for (size_t i = 0; i < trace->n_tasks; i++)
		put_task(&text, trace, &trace->tasks[i]);
	for (size_t i = 0; i < trace->n_transfers; i++)
		put_transfer(&text, trace, &trace->transfers[i]);
	for (size_t i = 0; i < absences.n && !status; i++)
		put_absence(&text, trace->platform, &absences.list[i]);
	for (size_t i = 0; i < trace->n_expansions; i++)
		put_expansion(&text, trace, &trace->expansions[i]);
	for (size_t i = 0; i < trace->n_layouts; i++)
		put_layout(&text, trace, &trace->layouts[i]);
	hd_absences_free(&absences);
	if (!status)
		status = hd_text_write(&text, path);
	hd_text_free(&text);
	return status;
}

int heddle_trace_export(const struct heddle_trace *trace, enum heddle_trace_format format, const char *path)
{
	static int (*const exports[])(const struct heddle_trace *, const char *) = {
	    [HEDDLE_TRACE_CSV] = hd_export_csv,
	    [HEDDLE_TRACE_CHROME] = hd_export_chrome,
	    [HEDDLE_TRACE_PAJE] = hd_export_paje,
	};
	if (!path)
		return hd_error(HEDDLE_E_INVALID, "heddle_trace_export: path is NULL");
	if ((size_t)format >= sizeof exports / sizeof *exports)
		return hd_error(HEDDLE_E_INVALID,
		                "heddle_trace_export: %d is no format; there are HEDDLE_TRACE_CSV, _CHROME, _PAJE",
		                (int)format);
	int status = hd_trace_check(trace);
	return status ? status : exports[format](trace, path);
}
