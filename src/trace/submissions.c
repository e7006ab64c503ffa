/* Calls a function for each submission, in the order of the sequential program.
 *
 * The recorder keeps submissions in the order in which they have entered the graph. This is the order of the program,
 * except for tasks of sub-graphs: their place is that of their hierarchical task, which was submitted long before and
 * runs no kernel itself. So the tasks of a sub-graph come at this place, in the order of the tree. Their hierarchical
 * task follows them, as a control that stands for them: tasks that wait explicitly for the hierarchical task wait for
 * the tasks of its sub-graph. The tasks of a sub-graph also wait for the tasks for which their hierarchical task waits
 * explicitly. In the runtime, accesses to data that a hierarchical task does not name are ordered by the time of
 * submission; here their order follows the tree, too. */
#include <stdlib.h>
#include <string.h>
#include "record/events.h"
#include "trace/recorder.h"
#include "state/runtime.h"

const heddle_codelet **hd_recorder_codelets(const heddle_runtime *rt)
{
	const heddle_codelet **codelets = malloc((rt->n_codelets + 1) * sizeof(const heddle_codelet *));
	if (!codelets)
		hd_no_memory("a trace");
	for (const heddle_codelet *c = rt->codelets; c && codelets; c = c->next)
		codelets[c->id] = c;
	return codelets;
}

/* A walk through the logs of submissions and links. */
struct reading {
	const struct hd_recorder *recorder;
	const struct hd_log_chunk *chunk; /* the chunk of the log `links` that is being read */
	size_t next;                      /* index of the next event in the chunk */
	union link_event *links; /* owned: a copy of the links of the present task, if they lie in several chunks */
	size_t max;              /* `links` has room for this many */
	const heddle_codelet **codelets; /* owned; by number */
	uint64_t id;                     /* id of the next task */
	hd_recorded_fn f;
	void *arg;
	int status;
};

static int is_control(const struct hd_submission *s)
{
	return s->codelet != NO_CODELET                                ? 0
	       : s->kind == HD_TASK_SYNC || s->kind == HD_TASK_OUTSIDE ? HD_REPLAY_NAMED
	                                                               : HD_REPLAY_CONTROL;
}

/* Describes a submission, without its links. */
static struct hd_recorded describe(const struct reading *r, const struct hd_submission *s, uint64_t id)
{
	return (struct hd_recorded){
	    .task = {.id = id, .control = is_control(s)},
	    .id = id,
	    .codelet = s->codelet != NO_CODELET ? r->codelets[s->codelet] : NULL,
	    .perf = s->perf,
	    .name = r->recorder->task_names.n ? heddle_name_of(&r->recorder->task_names, id) : NULL,
	    .priority = s->priority,
	    .step = s->kind == STEP,
	    .layout = s->kind == HD_TASK_UNPLAN,
	    .ends = s->kind == HD_TASK_UNREGISTER,
	};
}

static int make_room(struct reading *r, size_t n)
{
	if (n <= r->max)
		return 0;
	union link_event *larger = realloc(r->links, 2 * n * sizeof *larger);
	if (!larger)
		return hd_no_memory("what was submitted");
	r->links = larger;
	r->max = 2 * n;
	return 0;
}

static const union link_event *links_in(const struct hd_log_chunk *chunk)
{
	return (const void *)chunk->bytes;
}

/* Returns the next `n` links, n > 0. They are copied if they lie in several chunks. NULL: out of memory. */
static const union link_event *next_links(struct reading *r, size_t n)
{
	if (r->chunk->used - r->next >= n) {
		r->next += n;
		return links_in(r->chunk) + r->next - n;
	}
	if (make_room(r, n))
		return NULL;
	for (size_t i = 0; i < n; i++) {
		for (; r->next == r->chunk->used; r->next = 0)
			r->chunk = r->chunk->next;
		r->links[i] = links_in(r->chunk)[r->next++];
	}
	return r->links;
}

static void tell(const void *event, void *arg)
{
	struct reading *r = arg;
	const struct hd_submission *s = event;
	size_t n = (size_t)s->n_after + s->n_accesses;
	uint64_t id = r->id++;
	const union link_event *links = NULL;
	if (!r->status && n && !(links = next_links(r, n)))
		r->status = HEDDLE_E_MEMORY;
	if (r->status)
		return;
	struct hd_recorded recorded = describe(r, s, id);
	recorded.task.n_after = s->n_after;
	recorded.task.n_accesses = s->n_accesses;
	if (s->n_after)
		recorded.task.after = &links[0].before;
	if (s->n_accesses)
		recorded.task.accesses = &links[s->n_after].access;
	r->status = r->f(&recorded, r->arg);
}

/* --- The order of the tree ---------------------------------------------------------------------------------------- */

#define NOBODY SIZE_MAX

/* One submission in the tree. Nodes refer to each other by their indices, which follow the order of submission. */
struct node {
	const struct hd_submission *submission; /* borrowed from the log */
	size_t first_link;                      /* index of its first link in tree.links */
	/* inside: its hierarchical task; first_inside: the first task of its sub-graph; next: its next sibling */
	size_t inside, first_inside, next;
	size_t place; /* its place in the order of the sequential program */
	uint8_t expanded;
};

struct tree {
	struct reading *reading;
	struct node *nodes;      /* owned: n nodes, and one more, which stands for the program */
	union link_event *links; /* owned: the links of all submissions */
	size_t *order;           /* owned: the index of the node at each place */
	size_t n, n_links;
	uint64_t first_id;
};

static void add_node(const void *event, void *arg)
{
	struct tree *t = arg;
	const struct hd_submission *s = event;
	t->nodes[t->n] = (struct node){.submission = s, .first_link = t->n_links};
	t->n_links += (size_t)s->n_after + s->n_accesses;
	t->n++;
}

static void add_link(const void *event, void *arg)
{
	struct tree *t = arg;
	t->links[t->n_links++] = *(const union link_event *)event;
}

static void mark_expanded(const void *event, void *arg)
{
	struct tree *t = arg;
	uint64_t id = *(const uint64_t *)event;
	if (id >= t->first_id && id - t->first_id < t->n)
		t->nodes[id - t->first_id].expanded = 1;
}

/* Links each task to its hierarchical task, the last task first, so that siblings come in the order of submission. */
static void link_nodes(struct tree *t)
{
	for (size_t i = 0; i <= t->n; i++)
		t->nodes[i].first_inside = t->nodes[i].next = NOBODY;
	for (size_t i = t->n; i-- > 0;) {
		uint64_t inside = t->nodes[i].submission->inside;
		size_t outer = inside > t->first_id && inside - 1 - t->first_id < i ? inside - 1 - t->first_id : t->n;
		t->nodes[i].inside = outer;
		t->nodes[i].next = t->nodes[outer].first_inside;
		t->nodes[outer].first_inside = i;
	}
}

/* Gives each node its place: a task comes after the tasks of its sub-graph. */
static void place_nodes(struct tree *t)
{
	size_t n = 0, at = t->nodes[t->n].first_inside;
	while (n < t->n) {
		while (t->nodes[at].first_inside != NOBODY)
			at = t->nodes[at].first_inside;
		for (;;) {
			t->order[n] = at;
			t->nodes[at].place = n++;
			if (t->nodes[at].next != NOBODY || n == t->n)
				break;
			at = t->nodes[at].inside;
		}
		at = t->nodes[at].next;
	}
}

static uint64_t place_of(const struct tree *t, uint64_t id)
{
	return id >= t->first_id && id - t->first_id < t->n ? t->first_id + t->nodes[id - t->first_id].place : id;
}

/* Collects in reading->links the tasks for which task `i` and the hierarchical tasks around it wait explicitly. */
static int collect_after(struct tree *t, size_t i, size_t *n)
{
	*n = 0;
	for (; i < t->n; i = t->nodes[i].inside) {
		const struct node *node = &t->nodes[i];
		if (make_room(t->reading, *n + node->submission->n_after))
			return HEDDLE_E_MEMORY;
		for (size_t k = 0; k < node->submission->n_after; k++)
			t->reading->links[(*n)++].before = place_of(t, t->links[node->first_link + k].before);
	}
	return 0;
}

/* Adds to reading->links the tasks of the sub-graph of task `i`: the control that stands for it waits for them. */
static int collect_inside(struct tree *t, size_t i, size_t *n)
{
	for (size_t k = t->nodes[i].first_inside; k != NOBODY; k = t->nodes[k].next) {
		if (make_room(t->reading, *n + 1))
			return HEDDLE_E_MEMORY;
		t->reading->links[(*n)++].before = t->first_id + t->nodes[k].place;
	}
	return 0;
}

static int tell_node(struct tree *t, size_t i)
{
	struct reading *r = t->reading;
	const struct node *node = &t->nodes[i];
	const struct hd_submission *s = node->submission;
	size_t n_after;
	int status = collect_after(t, i, &n_after);
	if (!status && node->expanded)
		status = collect_inside(t, i, &n_after);
	if (status)
		return status;
	struct hd_recorded recorded = describe(r, s, t->first_id + i);
	recorded.task.id = t->first_id + node->place;
	recorded.task.n_after = n_after;
	if (n_after)
		recorded.task.after = &r->links[0].before;
	if (node->expanded)
		recorded.task.control = HD_REPLAY_NAMED;
	else if (s->n_accesses)
		recorded.task.accesses = &t->links[node->first_link + s->n_after].access;
	recorded.task.n_accesses = node->expanded ? 0 : s->n_accesses;
	return r->f(&recorded, r->arg);
}

static int tell_tree(struct reading *r)
{
	const struct hd_recorder *recorder = r->recorder;
	size_t n = recorder->submissions.n;
	struct tree t = {.reading = r, .first_id = recorder->first_id};
	t.nodes = malloc((n + 1) * sizeof *t.nodes);
	t.links = malloc((recorder->links.n + 1) * sizeof *t.links);
	t.order = malloc((n + 1) * sizeof *t.order);
	int status = t.nodes && t.links && t.order ? 0 : hd_no_memory("what was submitted");
	if (!status) {
		hd_log_each(&recorder->submissions, add_node, &t);
		t.n_links = 0;
		hd_log_each(&recorder->links, add_link, &t);
		hd_log_each(&recorder->expanded, mark_expanded, &t);
		link_nodes(&t);
		place_nodes(&t);
	}
	for (size_t i = 0; i < n && !status; i++)
		status = tell_node(&t, t.order[i]);
	free(t.nodes);
	free(t.links);
	free(t.order);
	return status;
}

int hd_recorder_each(const struct hd_recorder *r, hd_recorded_fn f, void *arg)
{
	if (r->lost)
		return hd_error(HEDDLE_E_MEMORY, "%llu events were lost for lack of memory",
		                (unsigned long long)r->lost);
	struct reading reading = {.recorder = r, .chunk = r->links.first, .id = r->first_id, .f = f, .arg = arg};
	reading.codelets = hd_recorder_codelets(r->rt);
	if (!reading.codelets)
		return HEDDLE_E_MEMORY;
	if (r->expanded.n)
		reading.status = tell_tree(&reading);
	else
		hd_log_each(&r->submissions, tell, &reading);
	free(reading.codelets);
	free(reading.links);
	return reading.status;
}

static void tell_child(const void *event, void *arg)
{
	const struct child_event *e = event;
	hd_replay_child(arg, e->child.child, e->child.parent, e->plan);
}

struct telling {
	void (*f)(const struct hd_recorded_child *, void *arg);
	void *arg;
};

static void tell_window(const void *event, void *arg)
{
	const struct child_event *e = event;
	const struct telling *t = arg;
	t->f(&e->child, t->arg);
}

int hd_recorder_has_edges(const struct hd_recorder *r)
{
	return r->has_edges || r->expanded.n;
}

int hd_recorder_is_irregular(const struct hd_recorder *r)
{
	return r->is_irregular;
}

size_t hd_recorder_n_children(const struct hd_recorder *r)
{
	return r->children.n;
}

void hd_recorder_children(const struct hd_recorder *r, void (*f)(const struct hd_recorded_child *, void *arg),
                          void *arg)
{
	struct telling telling = {f, arg};
	hd_log_each(&r->children, tell_window, &telling);
}

struct hd_replay *hd_recorder_replay(const struct hd_recorder *r, void (*edge)(uint64_t from, uint64_t to, void *arg),
                                     void *arg)
{
	struct hd_replay *replay = hd_replay_open(r->rt->handles.n_made, edge, arg);
	if (replay)
		hd_log_each(&r->children, tell_child, replay);
	return replay;
}

uint64_t hd_recorder_data_bytes(const struct hd_recorder *r, uint32_t id)
{
	return id < r->n_data ? r->data_bytes[id] : 0;
}

const char *hd_recorder_data_name(const struct hd_recorder *r, uint32_t id)
{
	return id < r->n_data_names ? r->data_names[id] : NULL;
}
