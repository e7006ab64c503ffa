/* Statistics of each memory while the tasks of a trace ran: heddle_trace_memories.
 *
 * A trace has no accesses of tasks, but the recorder keeps the accesses until the program submits another task. The
 * transfers tell whether a datum was in the task's memory when the task was given to its worker: it was not there if a
 * transfer brought it after this time and before the task began.
 *
 * The lower bound of the bytes that come to a memory holds for the tasks as they ran: on the same workers, and in the
 * order in which they began. Each task must have its data in its memory when it begins, and a copy becomes invalid when
 * a task elsewhere writes the datum. Belady's rule, to drop the datum whose next use is furthest away, then gives the
 * fewest bytes: L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal 5
 * (1966). If data have different sizes, the result is only a bound, since the rule then drops parts of data. If a copy
 * is invalid or was never used in the memory, a transfer is counted only if the trace has a transfer: the datum may
 * have come as part of a larger datum.
 */
#include <math.h>
#include <stdlib.h>
#include "base/base.h"
#include "state/runtime.h"
#include "trace/recorder.h"
#include "trace/trace.h"
#include "state/core_lock.h"
#include "flow/errands.h"
#include "state/process.h"
#include "state/transfer.h"
#include "base/grow.h"

enum { NEVER = -1 };

/* One access of a task of the trace. */
struct use {
	uint32_t data, mode;
	size_t task; /* index in the trace */
	/* The next two fields are set only for uses in the memory that is being replayed. */
	uint32_t epoch; /* number of tasks in other memories that have written the datum before this use */
	int next;       /* the datum's next use in this memory with the same epoch, or NEVER */
};

/* A datum that a transfer brought to a memory. */
struct arrival {
	uint32_t node, data;
	double end;
};

struct memories {
	const struct heddle_trace *trace;
	const struct hd_recorder *recorder;
	struct hd_trace_index index;
	size_t n_data;
	struct use *uses; /* owns; sorted by task, then by datum */
	size_t n_uses, max_uses;
	struct arrival *arrivals; /* owns; sorted by node, then by datum, then by end */
	size_t n_arrivals;
};

/* --- What is known ------------------------------------------------------------------------------------------------ */

static int note_uses(const struct hd_recorded *recorded, void *arg)
{
	struct memories *m = arg;
	size_t task = recorded->codelet ? hd_trace_index_find(&m->index, recorded->id) : HD_NO_TASK;
	for (size_t i = 0; task != HD_NO_TASK && i < recorded->task.n_accesses; i++) {
		const struct heddle_graph_access *a = &recorded->task.accesses[i];
		if (a->mode & (HEDDLE_SCRATCH | HEDDLE_REDUX))
			continue; /* the task uses a private copy, not the datum */
		if (m->n_uses == INT32_MAX || HD_GROW(m->uses, m->n_uses, m->max_uses, 256))
			return hd_no_memory("the accesses of a trace");
		m->uses[m->n_uses++] = (struct use){.data = a->data, .mode = a->mode, .task = task};
		if (a->data >= m->n_data)
			m->n_data = a->data + (size_t)1;
	}
	return 0;
}

static int by_task(const void *a, const void *b)
{
	const struct use *x = a, *y = b;
	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return (x->data > y->data) - (x->data < y->data);
}

static int by_datum(const void *a, const void *b)
{
	const struct arrival *x = a, *y = b;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->data != y->data)
		return x->data < y->data ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

static int gather(struct memories *m)
{
	const struct heddle_trace *trace = m->trace;
	int status = hd_trace_index_init(&m->index, trace);
	if (!status)
		status = hd_recorder_each(m->recorder, note_uses, m);
	m->arrivals = malloc((trace->n_transfers + 1) * sizeof *m->arrivals);
	if (!status && !m->arrivals)
		status = hd_no_memory("the transfers of a trace");
	for (size_t i = 0; i < trace->n_transfers && !status; i++) {
		const struct heddle_trace_transfer *t = &trace->transfers[i];
		m->arrivals[m->n_arrivals++] = (struct arrival){t->to, (uint32_t)t->data, t->end};
	}
	if (!status) {
		if (m->n_uses)
			qsort(m->uses, m->n_uses, sizeof *m->uses, by_task);
		qsort(m->arrivals, m->n_arrivals, sizeof *m->arrivals, by_datum);
	}
	return status;
}

/* Whether a transfer brought the datum to the node after the time `since`, and not later than `until`. */
static int came(const struct memories *m, const struct arrival *datum, double since, double until)
{
	struct arrival key = *datum;
	size_t low = 0, high = m->n_arrivals;
	key.end = since;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (by_datum(&m->arrivals[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	key.end = until;
	return low < m->n_arrivals && m->arrivals[low].node == datum->node && m->arrivals[low].data == datum->data &&
	       by_datum(&m->arrivals[low], &key) <= 0;
}

static unsigned node_of(const struct memories *m, size_t task)
{
	return m->trace->platform->workers[m->trace->tasks[task].worker].node;
}

static void count_hits(const struct memories *m, struct heddle_trace_memory *out)
{
	for (size_t i = 0; i < m->n_uses; i++) {
		const struct use *u = &m->uses[i];
		const struct heddle_trace_task *t = &m->trace->tasks[u->task];
		unsigned node = node_of(m, u->task);
		if (!hd_mode_reads(u->mode))
			continue;
		if (came(m, &(struct arrival){node, u->data, 0}, t->picked, t->start))
			out[node].misses++;
		else
			out[node].hits++;
	}
}

static void count_bytes(const struct memories *m, struct heddle_trace_memory *out)
{
	for (size_t i = 0; i < m->trace->n_transfers; i++) {
		const struct heddle_trace_transfer *t = &m->trace->transfers[i];
		out[t->to].in += t->bytes;
		out[t->from].out += t->bytes;
		if (t->reason == HD_DEMAND)
			out[t->to].demanded += t->bytes;
		else if (t->reason == HD_PREFETCH)
			out[t->to].prefetched += t->bytes;
	}
}

/* --- The fewest bytes --------------------------------------------------------------------------------------------- */

/* An entry of the heap of data that may leave the memory; the datum whose next use comes last is on top. Entries whose
 * next use is outdated are skipped. */
struct leaver {
	uint32_t data;
	int next;
};

/* A datum in the memory that is being replayed. */
struct content {
	uint64_t bytes; /* number of bytes of the datum that are in the memory */
	uint32_t epoch;
	int next;    /* the index in memories.uses of the datum's next use on this node, or NEVER */
	double used; /* us: when the last task that used the datum began; -INFINITY: none */
};

struct replay {
	const struct memories *memories;
	unsigned node;
	struct use *uses; /* owns; the uses in this memory */
	int n_uses;
	struct content *contents; /* owns; per datum */
	struct leaver *heap;      /* owns; room for all uses */
	size_t n_heap;
	uint64_t held; /* bytes in the memory */
};

/* Whether the datum of `a` leaves before the datum of `b`. */
static int is_later(const struct leaver *a, const struct leaver *b)
{
	return a->next == NEVER ? b->next != NEVER : b->next != NEVER && a->next > b->next;
}

static void push(struct replay *r, struct leaver entry)
{
	size_t i = r->n_heap++;
	for (; i && is_later(&entry, &r->heap[(i - 1) / 2]); i = (i - 1) / 2)
		r->heap[i] = r->heap[(i - 1) / 2];
	r->heap[i] = entry;
}

static struct leaver pop(struct replay *r)
{
	struct leaver top = r->heap[0], last = r->heap[--r->n_heap];
	size_t i = 0;
	for (size_t child; (child = 2 * i + 1) < r->n_heap; i = child) {
		if (child + 1 < r->n_heap && is_later(&r->heap[child + 1], &r->heap[child]))
			child++;
		if (!is_later(&r->heap[child], &last))
			break;
		r->heap[i] = r->heap[child];
	}
	r->heap[i] = last;
	return top;
}

/* Collects the uses in this memory, with their epochs and next uses. `last`: per datum, all NEVER at first. */
static void collect(struct replay *r, uint32_t *epochs, int *last)
{
	const struct memories *m = r->memories;
	for (size_t i = 0; i < m->n_uses; i++) {
		const struct use *u = &m->uses[i];
		if (node_of(m, u->task) == r->node) {
			r->uses[r->n_uses] = *u;
			r->uses[r->n_uses++].epoch = epochs[u->data];
		} else if (hd_mode_writes(u->mode)) {
			epochs[u->data]++;
		}
	}
	for (int i = r->n_uses; i-- > 0;) {
		struct use *u = &r->uses[i];
		int next = last[u->data];
		u->next = next != NEVER && r->uses[next].epoch == u->epoch ? next : NEVER;
		last[u->data] = i;
	}
}

/* The bytes that must come for a use. Afterwards the datum is in the memory. */
static uint64_t bring(struct replay *r, const struct use *u)
{
	const struct memories *m = r->memories;
	struct content *c = &r->contents[u->data];
	uint64_t size = hd_recorder_data_bytes(m->recorder, u->data), lacking = 0;
	double begins = m->trace->tasks[u->task].start;
	if (hd_mode_reads(u->mode) && c->used > -INFINITY && c->epoch == u->epoch)
		lacking = size - c->bytes;
	else if (hd_mode_reads(u->mode) && came(m, &(struct arrival){r->node, u->data, 0}, c->used, begins))
		lacking = size;
	r->held += size - c->bytes;
	*c = (struct content){size, u->epoch, u->next, begins};
	push(r, (struct leaver){u->data, u->next});
	return lacking;
}

/* Drops the data whose next use is furthest away until the others fit into `capacity`. Keeps the data of the present
 * task, whose uses are those from `first` to `end` - 1. */
static void drop(struct replay *r, uint64_t capacity, int first, int end)
{
	while (r->held > capacity && r->n_heap) {
		struct leaver top = pop(r);
		struct content *c = &r->contents[top.data];
		int own = 0;
		for (int i = first; i < end; i++)
			own |= r->uses[i].data == top.data;
		if (own || c->next != top.next || !c->bytes)
			continue; /* the entry is outdated, or the datum is the task's own: `replay` puts it back */
		uint64_t less = r->held - capacity;
		less = less < c->bytes ? less : c->bytes;
		c->bytes -= less;
		r->held -= less;
		if (c->bytes)
			push(r, top);
	}
}

/* Replays the uses in this memory; returns the fewest bytes that must come to it. */
static uint64_t replay(struct replay *r, uint64_t capacity)
{
	uint64_t bytes = 0;
	for (int i = 0, end; i < r->n_uses; i = end) {
		for (end = i; end < r->n_uses && r->uses[end].task == r->uses[i].task; end++)
			bytes += bring(r, &r->uses[end]);
		if (!capacity || r->held <= capacity)
			continue;
		drop(r, capacity, i, end);
		for (int k = i; k < end; k++) /* `drop` has taken the task's own data out of the heap */
			push(r, (struct leaver){r->uses[k].data, r->uses[k].next});
	}
	return bytes;
}

static int find_least(const struct memories *m, unsigned node, uint64_t *least)
{
	struct replay r = {.memories = m, .node = node};
	uint32_t *epochs = calloc(m->n_data + 1, sizeof *epochs);
	int *last = malloc((m->n_data + 1) * sizeof *last), status = 0;
	r.uses = malloc((m->n_uses + 1) * sizeof *r.uses);
	r.heap = malloc((2 * m->n_uses + 1) * sizeof *r.heap);
	r.contents = calloc(m->n_data + 1, sizeof *r.contents);
	if (epochs && last && r.uses && r.heap && r.contents) {
		for (size_t d = 0; d < m->n_data; d++) {
			last[d] = NEVER;
			r.contents[d].used = -INFINITY;
		}
		collect(&r, epochs, last);
		*least = replay(&r, m->trace->platform->nodes[node].capacity);
	} else {
		status = hd_no_memory("the data in a memory");
	}
	free(epochs);
	free(last);
	free(r.uses);
	free(r.heap);
	free(r.contents);
	return status;
}

/* --- Copies beside kernels ---------------------------------------------------------------------------------------- */

struct interval {
	double start, end;
};

/* Adds `next`, which begins no earlier than the others, to a list of disjoint intervals. Returns their number. */
static size_t join(struct interval *all, size_t n, struct interval next)
{
	if (n && next.start <= all[n - 1].end) {
		all[n - 1].end = fmax(all[n - 1].end, next.end);
		return n;
	}
	all[n] = next;
	return n + 1;
}

static void count_overlap(const struct memories *m, unsigned node, struct interval *copies, struct interval *kernels,
                          struct heddle_trace_memory *out)
{
	const struct heddle_trace *trace = m->trace;
	size_t n_copies = 0, n_kernels = 0;
	for (size_t i = 0; i < trace->n_transfers; i++) {
		const struct heddle_trace_transfer *t = &trace->transfers[i];
		if (t->from == node || t->to == node)
			n_copies = join(copies, n_copies, (struct interval){t->start, t->end});
	}
	for (size_t i = 0; i < trace->n_tasks; i++)
		if (node_of(m, i) == node)
			n_kernels =
			    join(kernels, n_kernels, (struct interval){trace->tasks[i].start, trace->tasks[i].end});
	for (size_t i = 0; i < n_copies; i++)
		out->copying += copies[i].end - copies[i].start;
	for (size_t i = 0, k = 0; i < n_copies && k < n_kernels;) {
		double both = fmin(copies[i].end, kernels[k].end) - fmax(copies[i].start, kernels[k].start);
		out->overlapped += fmax(0, both);
		if (copies[i].end < kernels[k].end)
			i++;
		else
			k++;
	}
}

static int fill(struct memories *m, struct heddle_trace_memory *out)
{
	const struct heddle_trace *trace = m->trace;
	struct interval *copies = malloc((trace->n_transfers + 1) * sizeof *copies);
	struct interval *kernels = malloc((trace->n_tasks + 1) * sizeof *kernels);
	int status = copies && kernels ? gather(m) : hd_no_memory("a trace");
	if (!status) {
		count_hits(m, out);
		count_bytes(m, out);
	}
	for (unsigned node = 0; node < trace->platform->n_nodes && !status; node++) {
		count_overlap(m, node, copies, kernels, &out[node]);
		status = find_least(m, node, &out[node].least);
	}
	free(copies);
	free(kernels);
	hd_trace_index_free(&m->index);
	free(m->uses);
	free(m->arrivals);
	return status;
}

int heddle_trace_memories(heddle_runtime *rt, const struct heddle_trace *trace, struct heddle_trace_memory *out)
{
	if (!rt || !trace || !out)
		return hd_error(HEDDLE_E_INVALID,
		                "heddle_trace_memories needs a runtime, its trace and places to fill");
	if (!rt->recorder || trace->platform->n_nodes != rt->n_nodes)
		return hd_error(HEDDLE_E_STATE, "heddle_trace_memories: the trace is not of this runtime");
	if (hd_check_process(rt))
		return HEDDLE_E_STATE;
	int status = hd_trace_check(trace);
	if (status)
		return status;
	struct memories m = {.trace = trace, .recorder = rt->recorder};
	for (size_t i = 0; i < rt->n_nodes; i++)
		out[i] = (struct heddle_trace_memory){0};
	hd_core_enter(rt);
	status = fill(&m, out);
	hd_core_leave(rt);
	return status;
}
