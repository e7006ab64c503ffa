/* Recording: fixed-size events in chunks, one list per worker for tasks, one for transfers, one for accesses.
 *
 * Dependencies are not recorded but replayed: the log of accesses in submission order says everything that the graph
 * inferred from them, and costs the run 16 bytes per access.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <heddle/trace.h>
#include "engine/engine.h"

/* Writing to memory for the first time is most of what an event costs: the chunks of a log double up to the size of a huge
 * page, which costs one fault instead of 512. */
enum { FIRST_CHUNK = 1 << 16, LARGEST_CHUNK = 1 << 21 };

struct chunk {
	struct chunk *next;
	size_t used, room; /* events */
	_Alignas(16) unsigned char bytes[];
};

/* An append-only list of events of one size. */
struct log {
	struct chunk *first, *last;
	size_t event_size, n, bytes; /* of the next chunk; 0: none was made yet */
};

struct task_event {
	uint64_t id;
	const struct hd_perf_entry *size; /* what it says of the size stays as it is, and itself as long as the runtime */
	double ready, picked, start, end;
	uint32_t codelet;
	int32_t priority, status;
};

struct access_event {
	uint64_t task;
	uint32_t data; /* EXPLICIT: the low half of `before` follows in a second event */
	uint32_t mode;
};
enum { EXPLICIT = 1 << 16, CONTROL = 1 << 17 };

struct hd_recorder {
	heddle_runtime *rt;
	struct log *tasks; /* owns; per worker */
	struct log transfers, accesses;
	uint64_t lost;     /* events for which there was no memory */
};

static struct chunk *add_chunk(struct log *log)
{
	size_t bytes = log->bytes ? log->bytes : FIRST_CHUNK;
	struct chunk *c = bytes == LARGEST_CHUNK ? aligned_alloc(LARGEST_CHUNK, LARGEST_CHUNK) : malloc(bytes);
	if (!c)
		return NULL;
	if (bytes == LARGEST_CHUNK)
		madvise(c, LARGEST_CHUNK, MADV_HUGEPAGE); /* a kernel without them says so, and no harm is done */
	*c = (struct chunk){.room = (bytes - sizeof *c) / log->event_size};
	if (log->last)
		log->last->next = c;
	else
		log->first = c;
	log->last = c;
	log->bytes = bytes < LARGEST_CHUNK ? 2 * bytes : bytes;
	return c;
}

static void *append(struct hd_recorder *r, struct log *log)
{
	struct chunk *c = log->last;
	if (HD_UNLIKELY(!c || c->used == c->room)) {
		c = add_chunk(log);
		if (!c) {
			r->lost++;
			return NULL;
		}
	}
	log->n++;
	return c->bytes + c->used++ * log->event_size;
}

static void empty(struct log *log)
{
	while (log->first) {
		struct chunk *next = log->first->next;
		free(log->first);
		log->first = next;
	}
	log->last = NULL;
	log->n = log->bytes = 0;
}

static void each(const struct log *log, void (*f)(const void *event, void *arg), void *arg)
{
	for (const struct chunk *c = log->first; c; c = c->next)
		for (size_t i = 0; i < c->used; i++)
			f(c->bytes + i * log->event_size, arg);
}

struct hd_recorder *hd_recorder_open(heddle_runtime *rt)
{
	struct hd_recorder *r = calloc(1, sizeof *r);
	if (!r || !(r->tasks = calloc(rt->n_workers, sizeof *r->tasks))) {
		free(r);
		hd_no_memory("a trace");
		return NULL;
	}
	r->rt = rt;
	for (size_t i = 0; i < rt->n_workers; i++)
		r->tasks[i].event_size = sizeof(struct task_event);
	r->transfers.event_size = sizeof(struct heddle_trace_transfer);
	r->accesses.event_size = sizeof(struct access_event);
	return r;
}

static void empty_all(struct hd_recorder *r)
{
	for (size_t i = 0; i < r->rt->n_workers; i++)
		empty(&r->tasks[i]);
	empty(&r->transfers);
	empty(&r->accesses);
}

void hd_recorder_close(struct hd_recorder *r)
{
	if (!r)
		return;
	empty_all(r);
	free(r->tasks);
	free(r);
}

void hd_record_insert(struct hd_recorder *r, const heddle_task *t)
{
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		const struct hd_access *a = &t->accesses[i];
		struct access_event *e = a->flags & (HD_ACCESS_ALIAS | HD_ACCESS_UNCHAINED) ? NULL : append(r, &r->accesses);
		if (e)
			*e = (struct access_event){t->order, a->data->id, a->mode | (t->codelet ? 0 : CONTROL)};
	}
}

void hd_record_explicit(struct hd_recorder *r, uint64_t before, uint64_t after)
{
	struct access_event *e = append(r, &r->accesses);
	if (e)
		*e = (struct access_event){after, (uint32_t)before, EXPLICIT};
	e = append(r, &r->accesses);
	if (e)
		*e = (struct access_event){before, 0, EXPLICIT};
}

void hd_record_task(struct hd_recorder *r, const heddle_task *t, double start, double end)
{
	struct task_event *e = append(r, &r->tasks[t->worker]);
	if (e)
		*e = (struct task_event){.id = t->order,
		                         .size = t->perf,
		                         .codelet = t->codelet->id,
		                         .ready = t->ready,
		                         .picked = t->picked,
		                         .start = start,
		                         .end = end,
		                         .priority = t->priority,
		                         .status = t->status};
}

void hd_record_transfer(struct hd_recorder *r, const struct hd_transfer *tr)
{
	struct heddle_trace_transfer *e = append(r, &r->transfers);
	if (e)
		*e = (struct heddle_trace_transfer){.from = tr->from,
		                                    .to = tr->to,
		                                    .start = tr->start,
		                                    .end = tr->end,
		                                    .bytes = tr->data->bytes,
		                                    .data = tr->data->id,
		                                    .reason = tr->reason};
}

/* --- From events to a trace ---------------------------------------------------------------------------------------------- */

/* Per datum, while the accesses are replayed: the last two groups of compatible accesses. A control stands for the tasks it
 * waited for, so that edges only join tasks that run. */
struct group {
	uint64_t *ids;
	size_t n, max;
};
struct replayed {
	struct group current, before;
	uint32_t mode;
};

struct replay {
	struct replayed *data;
	size_t n_data;
	struct heddle_trace *trace;
	size_t max_edges;
	uint64_t explicit_after;
	int explicit_half, failed;
};

static int grow(void **array, size_t *max, size_t n, size_t size)
{
	if (n < *max)
		return 0;
	size_t larger = *max ? 2 * *max : 4;
	void *p = realloc(*array, larger * size);
	if (!p)
		return hd_no_memory("a trace");
	*array = p;
	*max = larger;
	return 0;
}

static void add_edge(struct replay *p, uint64_t from, uint64_t to)
{
	void *edges = p->trace->edges;
	if (grow(&edges, &p->max_edges, p->trace->n_edges, sizeof *p->trace->edges)) {
		p->failed = 1;
		return;
	}
	p->trace->edges = edges;
	p->trace->edges[p->trace->n_edges++] = (struct heddle_trace_edge){from, to};
}

static void add_member(struct replay *p, struct group *g, uint64_t id)
{
	void *ids = g->ids;
	if (grow(&ids, &g->max, g->n, sizeof *g->ids)) {
		p->failed = 1;
		return;
	}
	g->ids = ids;
	g->ids[g->n++] = id;
}

static void replay_access(struct replay *p, const struct access_event *e)
{
	struct replayed *d = &p->data[e->data];
	unsigned mode = e->mode & 0xff;
	if (mode == HEDDLE_SCRATCH)
		mode = HEDDLE_R;
	int together = mode == d->mode && (mode == HEDDLE_R || mode == HEDDLE_COMMUTE || mode == HEDDLE_REDUX);
	if ((e->mode & CONTROL) && together && mode == HEDDLE_R)
		return; /* the program read along with others: nobody waits for that */
	if (e->mode & CONTROL) {
		d->mode = 0; /* what follows waits for the control, hence for the same tasks as it did and those before it */
		return;
	}
	if (!together) {
		struct group swap = d->before;
		d->before = d->current;
		d->current = swap;
		d->current.n = 0;
	}
	d->mode = mode;
	for (size_t i = 0; i < d->before.n; i++)
		add_edge(p, d->before.ids[i], e->task);
	add_member(p, &d->current, e->task);
}

static void replay_event(const void *event, void *arg)
{
	struct replay *p = arg;
	const struct access_event *e = event;
	if (!(e->mode & EXPLICIT)) {
		replay_access(p, e);
	} else if (!p->explicit_half) {
		p->explicit_after = e->task;
		p->explicit_half = 1;
	} else {
		add_edge(p, e->task, p->explicit_after);
		p->explicit_half = 0;
	}
}

static int compare_edges(const void *a, const void *b)
{
	const struct heddle_trace_edge *x = a, *y = b;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static void remove_duplicates(struct heddle_trace *t)
{
	size_t n = 0;
	for (size_t i = 0; i < t->n_edges; i++)
		if (i == 0 || compare_edges(&t->edges[i - 1], &t->edges[i]) != 0)
			t->edges[n++] = t->edges[i];
	t->n_edges = n;
}

static int make_edges(struct hd_recorder *r, struct heddle_trace *trace)
{
	struct replay p = {.n_data = r->rt->n_data, .trace = trace};
	p.data = calloc(p.n_data + 1, sizeof *p.data);
	if (!p.data)
		return hd_no_memory("a trace");
	each(&r->accesses, replay_event, &p);
	for (size_t i = 0; i < p.n_data; i++) {
		free(p.data[i].current.ids);
		free(p.data[i].before.ids);
	}
	free(p.data);
	if (trace->n_edges)
		qsort(trace->edges, trace->n_edges, sizeof *trace->edges, compare_edges);
	remove_duplicates(trace);
	return p.failed ? HEDDLE_E_MEMORY : 0;
}

struct copying {
	struct heddle_trace *trace;
	uint32_t worker;
};

static void copy_task(const void *event, void *arg)
{
	const struct copying *to = arg;
	struct heddle_trace *trace = to->trace;
	const struct task_event *e = event;
	trace->tasks[trace->n_tasks++] = (struct heddle_trace_task){.id = e->id,
	                                                            .codelet = e->codelet,
	                                                            .worker = to->worker,
	                                                            .ready = e->ready,
	                                                            .picked = e->picked,
	                                                            .start = e->start,
	                                                            .end = e->end,
	                                                            .priority = e->priority,
	                                                            .status = e->status,
	                                                            .bytes = e->size->bytes,
	                                                            .flops = e->size->flops,
	                                                            .footprint = e->size->footprint};
}

static void copy_transfer(const void *event, void *arg)
{
	struct heddle_trace *trace = arg;
	trace->transfers[trace->n_transfers++] = *(const struct heddle_trace_transfer *)event;
}

static int compare_tasks(const void *a, const void *b)
{
	const struct heddle_trace_task *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int compare_transfers(const void *a, const void *b)
{
	const struct heddle_trace_transfer *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->data < y->data ? -1 : x->data > y->data;
}

static int copy_codelets(heddle_runtime *rt, struct heddle_trace *trace)
{
	trace->codelets = calloc(rt->n_codelets + 1, sizeof *trace->codelets);
	if (!trace->codelets)
		return hd_no_memory("a trace");
	trace->n_codelets = rt->n_codelets;
	for (const heddle_codelet *c = rt->codelets; c; c = c->next) {
		trace->codelets[c->id].name = strdup(c->desc.name);
		trace->codelets[c->id].color = c->desc.color;
		if (!trace->codelets[c->id].name)
			return hd_no_memory("a trace");
	}
	return 0;
}

static int copy_events(struct hd_recorder *r, struct heddle_trace *trace)
{
	size_t n = 0;
	for (size_t i = 0; i < r->rt->n_workers; i++)
		n += r->tasks[i].n;
	trace->tasks = malloc((n + 1) * sizeof *trace->tasks);
	trace->transfers = malloc((r->transfers.n + 1) * sizeof *trace->transfers);
	if (!trace->tasks || !trace->transfers)
		return hd_no_memory("a trace");
	for (size_t i = 0; i < r->rt->n_workers; i++)
		each(&r->tasks[i], copy_task, &(struct copying){trace, (uint32_t)i});
	each(&r->transfers, copy_transfer, trace);
	qsort(trace->tasks, trace->n_tasks, sizeof *trace->tasks, compare_tasks);
	qsort(trace->transfers, trace->n_transfers, sizeof *trace->transfers, compare_transfers);
	return 0;
}

static int collect(heddle_runtime *rt, struct heddle_trace *trace)
{
	trace->virtual_time = rt->virtual_time;
	trace->policy = strdup(rt->sched.policy->name);
	if (!trace->policy)
		return hd_no_memory("a trace");
	int status = hd_platform_copy(rt->platform, &trace->platform);
	if (!status)
		status = copy_codelets(rt, trace);
	if (!status)
		status = copy_events(rt->recorder, trace);
	if (!status)
		status = make_edges(rt->recorder, trace);
	if (!status && rt->recorder->lost)
		status = hd_error(HEDDLE_E_MEMORY, "%llu events were lost for lack of memory", (unsigned long long)rt->recorder->lost);
	return status;
}

int heddle_trace_take(heddle_runtime *rt, struct heddle_trace **out)
{
	if (!rt || !out)
		return hd_error(HEDDLE_E_INVALID, "heddle_trace_take needs a runtime and a place for the trace");
	if (!rt->recorder)
		return hd_error(HEDDLE_E_STATE, "this runtime does not trace; set HEDDLE_TRACE=1 or config.trace before it starts");
	struct heddle_trace *trace = calloc(1, sizeof *trace);
	if (!trace)
		return hd_no_memory("a trace");
	hd_lock(&rt->lock);
	int status = collect(rt, trace);
	empty_all(rt->recorder);
	hd_unlock(&rt->lock);
	if (status)
		heddle_trace_free(trace);
	else
		*out = trace;
	return status;
}
