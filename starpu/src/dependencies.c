/* Explicit dependencies: of tasks on tasks, of tags on tags, and the gates by which Heddle's tasks wait for them.
 *
 * Dependencies are a net of nodes: one per task, one for the end of a task that is to wait for others, one per tag. An
 * end gives one token to each successor, and a round of a node takes as many tokens as it has predecessors; so they
 * hold for tasks that are submitted again and again. A node whose tokens have not come when its task is submitted has a
 * gate: a task of Heddle without a kernel, after which the task comes, and which ends when the tokens are there. */
#include "internal.h"
#include <stdarg.h>

/* Protects all nodes, the table of tags, and what of a gate is not read-only after its submission. Nothing of Heddle is
 * called with it held. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t tag_ended = PTHREAD_COND_INITIALIZER;

struct tag {
	struct hd_node node;
	starpu_tag_t id;
	struct starpu_task *task;
	struct tag *next;
};
#define HD_TAG_ROWS 1024
static struct tag *tags[HD_TAG_ROWS];

/* --- Gates -------------------------------------------------------------------------------------------------------- */

struct hd_gate *hd_gate_new(unsigned needed)
{
	struct hd_gate *gate = calloc(1, sizeof *gate);
	if (gate)
		gate->needed = needed;
	else
		heddle_error(HEDDLE_E_MEMORY, "no memory for a dependency");
	return gate;
}

/* Opens the gate once; returns the event to fulfill, with which the gate has ended, or NULL. With the lock held. */
static heddle_event *open_once(struct hd_gate *gate)
{
	heddle_event *event = NULL;
	if (--gate->needed == 0) {
		event = gate->event;
		if (event)
			free(gate);
	}
	return event;
}

void hd_gate_call_when_met(struct hd_gate *gate, void (*f)(struct hd_gate *))
{
	pthread_mutex_lock(&lock);
	bool met = gate->needed == 0;
	gate->needed++;
	if (!met)
		gate->met = f;
	pthread_mutex_unlock(&lock);
	if (met)
		f(gate);
}

void hd_gate_open(struct hd_gate *gate)
{
	void (*met)(struct hd_gate *) = NULL;
	pthread_mutex_lock(&lock);
	if (gate->met && gate->needed == 2) {
		met = gate->met;
		gate->met = NULL;
	}
	heddle_event *event = open_once(gate);
	pthread_mutex_unlock(&lock);
	if (met)
		met(gate);
	if (event)
		heddle_fulfill(event, 0);
}

void hd_gate_begin(struct hd_gate *gate, heddle_event *event)
{
	pthread_mutex_lock(&lock);
	bool open = gate->needed == 0;
	gate->event = event;
	pthread_mutex_unlock(&lock);
	if (open) {
		free(gate);
		heddle_fulfill(event, 0);
	}
}

/* The gate's turn has come. */
static void begin(struct heddle_event *event, void *arg)
{
	struct hd_gate *gate = arg;
	void (*call)(struct hd_gate *) = gate->begin; /* a gate without it may be gone after hd_gate_begin */
	hd_gate_begin(gate, event);
	if (call)
		call(gate);
}

int hd_gate_submit(struct hd_gate *gate, size_t n_items, const struct heddle_item *item, heddle_task **out)
{
	struct heddle_item items[2 + HD_ITEMS_OF_DATUM] = {heddle_outside(begin, gate)};
	size_t n = 1;
	if (out)
		items[n++] = heddle_out(out);
	for (size_t i = 0; i < n_items; i++)
		items[n++] = item[i];
	return heddle_submit_items(hd_starpu_runtime, n, items);
}

/* --- Nodes -------------------------------------------------------------------------------------------------------- */

/* Takes the tokens of a round, if they have come. */
static bool take_round(struct hd_node *node)
{
	if (node->n_met < node->n_needed)
		return false;
	node->n_met -= node->n_needed;
	return true;
}

/* The gates that one end opens: they are chained by `next`, and opened without the lock. */
static void give_token(struct hd_node *node, struct hd_gate **opened)
{
	node->n_met++;
	struct hd_gate *gate = node->waiting;
	if (gate && take_round(node)) {
		node->waiting = NULL;
		gate->next = *opened;
		*opened = gate;
	}
}

static void give_tokens(const struct hd_node *node, struct hd_gate **opened)
{
	for (unsigned i = 0; i < node->n_successors; i++)
		give_token(node->successors[i], opened);
}

static void open_all(struct hd_gate *gate)
{
	while (gate) {
		struct hd_gate *next = gate->next;
		hd_gate_open(gate);
		gate = next;
	}
}

/* Adds a dependency; false: no memory. With the lock held. */
static bool add_successor(struct hd_node *node, struct hd_node *successor)
{
	if (node->n_successors == node->room) {
		unsigned room = node->room ? 2 * node->room : 4;
		struct hd_node **list = realloc(node->successors, room * sizeof *list);
		if (!list)
			return false;
		node->successors = list;
		node->room = room;
	}
	node->successors[node->n_successors++] = successor;
	return true;
}

/* --- Tags --------------------------------------------------------------------------------------------------------- */

static struct tag **row_of(starpu_tag_t id)
{
	return &tags[(id * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}

/* The tag, which is made if there is none; NULL: no memory. With the lock held. */
static struct tag *tag_of(starpu_tag_t id)
{
	struct tag **row = row_of(id), *tag;
	for (tag = *row; tag; tag = tag->next)
		if (tag->id == id)
			return tag;
	tag = calloc(1, sizeof *tag);
	if (!tag) {
		heddle_error(HEDDLE_E_MEMORY, "no memory for a tag");
		return NULL;
	}
	tag->id = id;
	tag->next = *row;
	*row = tag;
	return tag;
}

void starpu_tag_declare_deps_array(starpu_tag_t id, unsigned n, starpu_tag_t *list)
{
	struct hd_gate *opened = NULL;
	bool fits = true;
	pthread_mutex_lock(&lock);
	struct tag *tag = tag_of(id);
	fits = tag != NULL;
	if (tag)
		tag->node.n_needed += n;
	for (unsigned i = 0; i < n && fits; i++) {
		struct tag *other = tag_of(list[i]);
		fits = other && add_successor(&other->node, &tag->node);
		if (fits && other->node.done)
			give_token(&tag->node, &opened);
	}
	pthread_mutex_unlock(&lock);
	open_all(opened);
	if (!fits)
		hd_starpu_complain(__func__, HEDDLE_E_MEMORY);
}

void starpu_tag_declare_deps(starpu_tag_t id, unsigned n, ...)
{
	va_list list;
	va_start(list, n);
	for (unsigned i = 0; i < n; i++)
		starpu_tag_declare_deps_array(id, 1, &(starpu_tag_t){va_arg(list, starpu_tag_t)});
	va_end(list);
}

static void notify(starpu_tag_t id, bool done)
{
	struct hd_gate *opened = NULL;
	pthread_mutex_lock(&lock);
	struct tag *tag = tag_of(id);
	if (tag) {
		tag->node.done = done;
		give_tokens(&tag->node, &opened);
		pthread_cond_broadcast(&tag_ended);
	}
	pthread_mutex_unlock(&lock);
	open_all(opened);
}

void starpu_tag_notify_from_apps(starpu_tag_t id)
{
	notify(id, true);
}

void starpu_tag_notify_restart_from_apps(starpu_tag_t id)
{
	notify(id, false);
}

void starpu_tag_restart(starpu_tag_t id)
{
	pthread_mutex_lock(&lock);
	struct tag *tag = tag_of(id);
	if (tag)
		tag->node.done = false;
	pthread_mutex_unlock(&lock);
}

int starpu_tag_wait_array(unsigned n, starpu_tag_t *ids)
{
	if (hd_starpu_virtual) /* the clock only runs while the program waits for Heddle */
		hd_starpu_complain("starpu_tag_wait", heddle_wait_all(hd_starpu_runtime));
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < n; i++) {
		struct tag *tag = tag_of(ids[i]);
		while (tag && !tag->node.done) {
			pthread_cond_wait(&tag_ended, &lock);
			tag = tag_of(ids[i]);
		}
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

int starpu_tag_wait(starpu_tag_t id)
{
	return starpu_tag_wait_array(1, &id);
}

struct starpu_task *starpu_tag_get_task(starpu_tag_t id)
{
	pthread_mutex_lock(&lock);
	struct tag *tag = tag_of(id);
	struct starpu_task *task = tag ? tag->task : NULL;
	pthread_mutex_unlock(&lock);
	return task;
}

/* Takes the node out of the lists of the tags before it. With the lock held. */
static void unlink_node(const struct hd_node *node)
{
	for (size_t r = 0; r < HD_TAG_ROWS; r++)
		for (struct tag *tag = tags[r]; tag; tag = tag->next) {
			unsigned kept = 0;
			for (unsigned i = 0; i < tag->node.n_successors; i++)
				if (tag->node.successors[i] != node)
					tag->node.successors[kept++] = tag->node.successors[i];
			tag->node.n_successors = kept;
		}
}

void starpu_tag_remove(starpu_tag_t id)
{
	pthread_mutex_lock(&lock);
	for (struct tag **place = row_of(id), *tag; (tag = *place); place = &tag->next)
		if (tag->id == id) {
			*place = tag->next;
			if (tag->node.n_needed)
				unlink_node(&tag->node);
			free(tag->node.successors);
			free(tag);
			break;
		}
	pthread_mutex_unlock(&lock);
}

void hd_starpu_forget_tags(void)
{
	for (size_t r = 0; r < HD_TAG_ROWS; r++)
		while (tags[r]) {
			struct tag *tag = tags[r];
			tags[r] = tag->next;
			free(tag->node.successors);
			free(tag);
		}
}

/* --- Tasks -------------------------------------------------------------------------------------------------------- */

/* `node`, of a task, waits for the ends of other tasks. */
static void declare(struct hd_node *node, unsigned n, struct starpu_task *tasks[])
{
	bool fits = true;
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < n && fits; i++) {
		struct hd_job *other = hd_job_of(tasks[i]);
		fits = other != NULL;
		if (fits && !other->node.done) {
			fits = add_successor(&other->node, node);
			node->n_needed += fits;
		}
	}
	pthread_mutex_unlock(&lock);
	if (!fits) {
		heddle_error(HEDDLE_E_MEMORY, "no memory for a dependency");
		hd_starpu_complain("starpu_task_declare_deps_array", HEDDLE_E_MEMORY);
	}
}

void starpu_task_declare_deps_array(struct starpu_task *task, unsigned n, struct starpu_task *tasks[])
{
	struct hd_job *job = hd_job_of(task);
	if (job)
		declare(&job->node, n, tasks);
}

void starpu_task_declare_end_deps_array(struct starpu_task *task, unsigned n, struct starpu_task *tasks[])
{
	struct hd_job *job = hd_job_of(task);
	if (job)
		declare(&job->end, n, tasks);
}

void starpu_task_declare_deps(struct starpu_task *task, unsigned n, ...)
{
	va_list list;
	va_start(list, n);
	for (unsigned i = 0; i < n; i++)
		starpu_task_declare_deps_array(task, 1, &(struct starpu_task *){va_arg(list, struct starpu_task *)});
	va_end(list);
}

void starpu_task_declare_end_deps(struct starpu_task *task, unsigned n, ...)
{
	va_list list;
	va_start(list, n);
	for (unsigned i = 0; i < n; i++)
		starpu_task_declare_end_deps_array(task, 1,
		                                   &(struct starpu_task *){va_arg(list, struct starpu_task *)});
	va_end(list);
}

void starpu_task_end_dep_add(struct starpu_task *task, int n)
{
	struct hd_job *job = hd_job_of(task);
	pthread_mutex_lock(&lock);
	if (job)
		job->end.n_needed += (unsigned)n;
	pthread_mutex_unlock(&lock);
}

void starpu_task_end_dep_release(struct starpu_task *task)
{
	struct hd_gate *opened = NULL;
	struct hd_job *job = hd_job_of(task);
	pthread_mutex_lock(&lock);
	if (job)
		give_token(&job->end, &opened);
	pthread_mutex_unlock(&lock);
	open_all(opened);
}

/* Begins a round of a node: if its tokens have not come, it opens `gate` when they come. */
static bool begin_round(struct hd_node *node, struct hd_gate *gate)
{
	if (take_round(node))
		return false;
	node->waiting = gate;
	gate->needed++;
	return true;
}

/* Whether the task has a place in the order of its worker. */
static bool has_order(const struct starpu_task *task)
{
	return task->execute_on_a_specific_worker && task->workerorder;
}

/* The tag of the n-th task of a worker's order, which no program uses. */
static starpu_tag_t tag_of_order(const struct starpu_task *task, unsigned n)
{
	return UINT64_C(1) << 63 | (uint64_t)task->workerid << 32 | n;
}

/* Has the gate wait for the task before in the order of the worker. With the lock held. */
static bool begin_order(const struct starpu_task *task, struct hd_gate *gate, int *status)
{
	if (task->workerorder == 1)
		return false;
	struct tag *before = tag_of(tag_of_order(task, task->workerorder - 1));
	struct tag *own = before ? tag_of(tag_of_order(task, task->workerorder)) : NULL;
	if (!own || !add_successor(&before->node, &own->node)) {
		*status = HEDDLE_E_MEMORY;
		return false;
	}
	own->node.n_needed = 1;
	own->node.n_met = before->node.done;
	return begin_round(&own->node, gate);
}

struct hd_gate *hd_dependencies_begin(struct hd_job *job, int *status)
{
	struct starpu_task *task = job->task;
	struct tag *tag = NULL;
	*status = 0;
	/* Without the lock: only the thread that submits the task declares dependencies of the task. */
	if (!task->use_tag && !job->node.n_needed && !has_order(task)) {
		job->node.done = false;
		return NULL;
	}
	struct hd_gate *gate = hd_gate_new(0);
	if (!gate) {
		*status = HEDDLE_E_MEMORY;
		return NULL;
	}
	pthread_mutex_lock(&lock);
	job->node.done = false;
	if (task->use_tag && (tag = tag_of(task->tag_id))) {
		tag->task = task;
		tag->node.done = false;
	}
	bool waits = begin_round(&job->node, gate);
	waits |= tag && begin_round(&tag->node, gate);
	waits |= has_order(task) && begin_order(task, gate, status);
	pthread_mutex_unlock(&lock);
	if (!waits) {
		free(gate);
		gate = NULL;
	}
	if (task->use_tag && !tag)
		*status = HEDDLE_E_MEMORY;
	return gate;
}

int hd_dependencies_end(heddle_context *c, struct hd_job *job)
{
	if (!job->end.n_needed)
		return 0;
	struct hd_gate *gate = hd_gate_new(0);
	heddle_event *event = gate ? heddle_detach(c) : NULL;
	if (!event) {
		free(gate);
		return heddle_fail(c, HEDDLE_E_MEMORY, "%s", heddle_last_error());
	}
	pthread_mutex_lock(&lock);
	begin_round(&job->end, gate);
	pthread_mutex_unlock(&lock);
	hd_gate_begin(gate, event);
	return 0;
}

void hd_dependencies_done(struct hd_job *job)
{
	if (job->task->detach && job->task->destroy) { /* only the task's own callback may still name it */
		job->node.done = true;
		return;
	}
	pthread_mutex_lock(&lock);
	job->node.done = true;
	pthread_mutex_unlock(&lock);
}

/* A tag has ended. With the lock held. */
static void end_tag(starpu_tag_t id, struct hd_gate **opened)
{
	struct tag *tag = tag_of(id);
	if (!tag)
		return;
	tag->node.done = true;
	give_tokens(&tag->node, opened);
	pthread_cond_broadcast(&tag_ended);
}

void hd_dependencies_tell(struct hd_job *job)
{
	const struct starpu_task *task = job->task;
	struct hd_gate *opened = NULL;
	if (!task->use_tag && !has_order(task) && !job->node.n_successors)
		return; /* nobody adds a successor to a task that has ended */
	pthread_mutex_lock(&lock);
	give_tokens(&job->node, &opened);
	if (task->use_tag)
		end_tag(task->tag_id, &opened);
	if (has_order(task))
		end_tag(tag_of_order(task, task->workerorder), &opened);
	pthread_mutex_unlock(&lock);
	open_all(opened);
}

void hd_dependencies_free(struct hd_job *job)
{
	const struct starpu_task *task = job->task;
	if (task->use_tag) {
		pthread_mutex_lock(&lock);
		struct tag *tag = tag_of(task->tag_id);
		if (tag && tag->task == task)
			tag->task = NULL;
		pthread_mutex_unlock(&lock);
	}
	free(job->node.successors);
	free(job->end.successors);
	job->node = job->end = (struct hd_node){0};
}
