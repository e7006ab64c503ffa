/* The state of a runtime as text: one line for messages of the watchdog and of deadlocks, everything for
 * heddle_dump. */
#include <stdio.h>
#include <stdlib.h>
#include <heddle/trace.h>
#include "flow/acquire.h"
#include "flow/errands.h"
#include "flow/lost_device.h"
#include "flow/wait.h"
#include "state/call_context.h"
#include "state/core_lock.h"
#include "state/data.h"
#include "state/engine.h"
#include "state/memory.h"
#include "state/plan.h"
#include "state/task_pool.h"

static void describe_chain(FILE *out, const heddle_data *d)
{
	char name[80], title[HD_TITLE];
	if (!d->queue)
		return;
	hd_print(out, "; %s waits for %s%s", hd_task_title(hd_access_task(d->queue), title, sizeof title),
	         hd_data_name(d, name, sizeof name), hd_data_is_held(d) ? ", acquired by the program" : "");
}

/* Writes what a task whose kernel has returned waits for: "waits for 2 events since 3.2 s". */
static void describe_events(FILE *out, const heddle_task *t)
{
	heddle_runtime *rt = hd_task_runtime(t);
	hd_print(out, "waits for %u event%s since %.3g s", t->extra->n_events, t->extra->n_events == 1 ? "" : "s",
	         1e-6 * (rt->engine->now(rt) - t->extra->returned));
}

/* Writes what a hierarchical task with a submitted sub-graph waits for: "3 tasks of its sub-graph are unfinished". */
static void describe_expanded(FILE *out, const heddle_task *t)
{
	hd_print(out, "%llu task%s of its sub-graph unfinished", (unsigned long long)t->extra->n_inside,
	         t->extra->n_inside == 1 ? " is" : "s are");
}

/* Whether the task will or may be expanded, and has not been expanded yet. */
static int is_unexpanded(const heddle_task *t)
{
	return (t->special & HD_TASK_EXPANDS) && !t->extra->is_submitted;
}

/* Writes "is ready" for a ready task, or what the task waits for if only retired workers can run it. */
static void describe_ready(FILE *out, const heddle_task *t)
{
	const heddle_runtime *rt = t->codelet->rt;
	unsigned able = 0;
	for (unsigned w = 0; w < rt->n_workers; w++) {
		if (heddle_task_can_run(t, w)) {
			fputs("is ready", out);
			return;
		}
		able = !rt->workers[w].lost && heddle_task_could_run(t, w) ? w : able;
	}
	hd_print(out, "waits for a worker that is retired, such as %s (heddle_workers_drive)",
	         rt->platform->workers[able].name);
}

struct list {
	FILE *out;
	int shown;
};

static void describe_task(const heddle_task *t, void *arg)
{
	struct list *l = arg;
	/* Relaxed, pairs with nothing: the core lock orders this load with the stores in hd_set_state. */
	unsigned state = atomic_load_explicit(&t->state, memory_order_relaxed);
	/* Tests the state first: in the memory of a free task only the state is meaningful. */
	int waits_for_room = state == HD_WAITING && is_unexpanded(t) && !t->pending;
	if ((state != HD_READY && state != HD_PICKED && state != HD_DETACHED && state != HD_EXPANDED &&
	     !waits_for_room) ||
	    l->shown++ >= 8)
		return;
	char title[HD_TITLE];
	hd_print(l->out, "; %s ", hd_task_title(t, title, sizeof title));
	if (state == HD_READY)
		describe_ready(l->out, t);
	else if (state == HD_EXPANDED)
		describe_expanded(l->out, t);
	else if (waits_for_room)
		fputs("waits for a worker to expand it", l->out);
	else if (state == HD_DETACHED)
		describe_events(l->out, t);
	else
		hd_print(l->out, "waits for its data on %s", t->codelet->rt->platform->workers[t->worker].name);
}

/* Returns one line that says which task waits for what. The caller frees the line. NULL: out of memory. */
static char *describe_hang(heddle_runtime *rt)
{
	char *text = NULL;
	size_t size;
	char title[HD_TITLE];
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	hd_print(out, "%llu tasks are unfinished, %zu of them ready%s", (unsigned long long)hd_live(rt),
	         rt->count.ready, rt->dispatch.pauses ? "; the program has paused the workers (heddle_pause)" : "");
	for (size_t i = 0; i < rt->n_slots; i++)
		if (rt->slots[i].task)
			hd_print(out, "; %s runs %s", rt->platform->workers[rt->slots[i].worker->id].name,
			         hd_task_title(rt->slots[i].task, title, sizeof title));
	for (size_t i = 0; i < rt->n_workers; i++)
		if (rt->workers[i].lost)
			hd_print(out, "; %s is lost (%s)", rt->platform->workers[i].name, hd_lost_why(&rt->workers[i]));
	for (size_t i = 0; i < rt->n_nodes; i++)
		if (rt->memories[i].waiting.first)
			hd_print(out, "; %s waits for room on %s",
			         hd_task_title(rt->memories[i].waiting.first, title, sizeof title),
			         rt->platform->nodes[i].name);
	hd_pool_each(rt->pool, describe_task, &(struct list){.out = out});
	int shown = 0;
	for (const heddle_data *d = rt->handles.list; d && shown < 8; d = d->next) {
		if (d->queue) {
			describe_chain(out, d);
			shown++;
		}
	}
	fclose(out);
	return text;
}

/* With the default setting, the watchdog reports after a minute, after ten minutes, and then no more. */
enum { FIRST_S = 60, SECOND_S = 600 };

double hd_watchdog_us(int watchdog, unsigned n_reports)
{
	if (HD_LIKELY(watchdog < 0))
		return n_reports == 0 ? FIRST_S * 1e6 : n_reports == 1 ? (SECOND_S - FIRST_S) * 1e6 : -1;
	return watchdog ? watchdog * 1e6 : -1;
}

void hd_report_hang(heddle_runtime *rt, unsigned n_reports)
{
	HD_HELD(&rt->lock);
	char *what = describe_hang(rt);
	int seconds = rt->config.watchdog >= 0 ? rt->config.watchdog : n_reports ? SECOND_S : FIRST_S;
	char *sentence = hd_format("no progress for %d s: %s", seconds, what ? what : "");
	free(what);
	if (!sentence)
		return;
	hd_core_leave(rt);
	struct hd_inside here = {.rt = rt, .what = HD_INSIDE_OTHER};
	hd_inside_enter(&here);
	if (rt->config.on_hang)
		rt->config.on_hang(rt->config.on_hang_arg, sentence);
	else
		hd_print(stderr, "heddle: %s\n", sentence);
	hd_inside_leave(&here);
	hd_core_enter(rt);
	free(sentence);
}

int hd_core_deadlock(heddle_runtime *rt)
{
	HD_HELD(&rt->lock);
	char *text = describe_hang(rt);
	int status = hd_error(HEDDLE_E_DEADLOCK, "nothing can make progress%s%s: %s",
	                      rt->count.ready ? "; no idle worker takes a ready task under policy " : "",
	                      rt->count.ready ? rt->sched.policy->name : "", text ? text : "");
	free(text);
	return status;
}

/* --- The whole state ---------------------------------------------------------------------------------------------- */

/* One access of a task that is in the graph. */
struct use {
	const struct hd_access *access;
	int waits;         /* 1: the access waits in the datum's queue; 0: it is granted */
	struct use *first; /* the first entry of the list with the same datum */
	/* Set only in such a first entry: a task whose access is granted, and the number of these accesses. */
	const heddle_task *holder;
	size_t n_holders;
};

/* The accesses of all tasks in the graph, sorted by datum and then by address. */
struct uses {
	struct use *list; /* owned; NULL: unknown, because the core lock could not be taken or memory is short */
	size_t n, max;
};

struct dump {
	heddle_runtime *rt;
	FILE *out;
	struct uses uses;
};

static unsigned state_of(const heddle_task *t)
{
	/* Relaxed, pairs with nothing: under the core lock; without it, the dump says that its content may be
	 * inconsistent. */
	return atomic_load_explicit(&t->state, memory_order_relaxed);
}

static int in_graph(unsigned state)
{
	return state != HD_OUTSIDE && state != HD_ENDED;
}

static void count_uses(const heddle_task *t, void *arg)
{
	struct uses *uses = arg;
	if (in_graph(state_of(t)))
		uses->max += t->n_accesses;
}

static void add_uses(const heddle_task *t, void *arg)
{
	struct uses *uses = arg;
	unsigned state = state_of(t);
	if (!in_graph(state) || state == HD_RELEASED ||
	    state == HD_EXPANDED) /* the data of a released task may have been freed */
		return;
	for (uint32_t i = 0; i < t->n_accesses && uses->n < uses->max; i++)
		if (!(t->accesses[i].flags & (HD_ACCESS_ALIAS | HD_ACCESS_UNCHAINED)))
			uses->list[uses->n++] = (struct use){.access = &t->accesses[i]};
}

static int by_place(const void *a, const void *b)
{
	const struct hd_access *x = ((const struct use *)a)->access, *y = ((const struct use *)b)->access;
	if (x->data != y->data)
		return x->data->id < y->data->id ? -1 : 1;
	return x < y ? -1 : x > y;
}

static struct use *find_use(const struct uses *uses, const struct hd_access *a)
{
	const struct use key = {.access = a};
	return uses->list ? bsearch(&key, uses->list, uses->n, sizeof key, by_place) : NULL;
}

/* Finds, for each datum, the first task whose access is granted, and the number of granted accesses. */
static void find_holders(struct uses *uses)
{
	for (size_t i = 0; i < uses->n; i++) {
		struct use *use = &uses->list[i];
		use->first = i && use[-1].access->data == use->access->data ? use[-1].first : use;
		if (!use->waits && !use->first->n_holders++)
			use->first->holder = hd_access_task(use->access);
	}
}

/* Collects the accesses of all tasks in the graph. Called with the core lock. */
static void find_uses(heddle_runtime *rt, struct uses *uses)
{
	HD_HELD(&rt->lock);
	hd_pool_each(rt->pool, count_uses, uses);
	uses->list = calloc(uses->max + 1, sizeof *uses->list);
	if (!uses->list)
		return;
	hd_pool_each(rt->pool, add_uses, uses);
	qsort(uses->list, uses->n, sizeof *uses->list, by_place);
	for (const heddle_data *d = rt->handles.list; d; d = d->next)
		for (const struct hd_access *a = d->queue; a; a = a->next) {
			struct use *use = find_use(uses, a);
			if (use)
				use->waits = 1;
		}
	find_holders(uses);
}

/* Prints the shape of a datum: "100 x 4 of 8 bytes". */
static void print_shape(FILE *out, const heddle_data *d)
{
	if ((d->traits & HD_DATA_OBJECT) || hd_data_n_parts(d) > 1) {
		hd_print(out, "%zu parts, %llu bytes", hd_data_n_parts(d), (unsigned long long)d->bytes);
		return;
	}
	for (unsigned dim = 0; dim < d->part.n_dims; dim++)
		hd_print(out, "%s%zu", dim ? " x " : "", d->part.n[dim]);
	hd_print(out, "%s%zu bytes", d->part.n_dims ? " of " : "", d->part.elem_size);
}

/* Prints the tasks that hold the datum of a waiting access: the name of the first task, and the number of the
 * others. */
static void print_holders(const struct dump *dump, const struct use *use)
{
	char title[HD_TITLE];
	const heddle_task *holder = use->first->holder;
	size_t n = use->first->n_holders;
	if (hd_data_is_held(use->access->data))
		fputs(": the program has acquired it", dump->out);
	else if (holder)
		hd_print(dump->out, ": %s has it", hd_task_title(holder, title, sizeof title));
	if (n > 1)
		hd_print(dump->out, ", and %zu more", n - 1);
}

static void print_access(const struct dump *dump, const struct hd_access *a, unsigned state)
{
	const heddle_data *d = a->data;
	char name[80];
	snprintf(name, sizeof name, "datum %u", d->id);
	hd_print(dump->out, "            %-8s %s (", hd_mode_name(a->mode),
	         d->extra && d->extra->name && *d->extra->name ? d->extra->name : name);
	print_shape(dump->out, d);
	fputc(')', dump->out);
	const struct use *use = find_use(&dump->uses, a);
	if (use && use->waits) {
		fputs(", waits", dump->out);
		print_holders(dump, use);
	} else if (use && a->mode == HEDDLE_COMMUTE && !(a->flags & HD_ACCESS_TOKEN)) {
		fputs(d->token ? ", waits for its turn among those that commute" : "", dump->out);
	} else if (use) {
		fputs(state == HD_PICKED && d->n_transfers ? ", a copy is under way" : ", has it", dump->out);
	}
	fputc('\n', dump->out);
}

/* Prints the number of ungranted accesses and unfinished explicit predecessors of a waiting task. */
static void print_pending(FILE *out, const heddle_task *t)
{
	if (t->pending)
		hd_print(out, "waits for %u %s", t->pending, t->pending > 1 ? "data or tasks" : "datum or task");
	else
		fputs(is_unexpanded(t) ? "waits for a worker to expand it" : "waits for its turn", out);
}

/* Prints what the task does or waits for, and where. */
static void print_state(const struct dump *dump, const heddle_task *t, unsigned state)
{
	const char *worker = t->codelet ? dump->rt->platform->workers[t->worker].name : "main memory";
	switch (state) {
	case HD_WAITING: print_pending(dump->out, t); break;
	case HD_READY: hd_print(dump->out, "ready, policy %s has it", dump->rt->sched.policy->name); break;
	case HD_PICKED: hd_print(dump->out, "waits for its data on %s", worker); break;
	case HD_STAGED:
		if (t->codelet)
			hd_print(dump->out, "next on %s", worker);
		else
			fputs("the program has its datum, until it releases it", dump->out);
		break;
	case HD_RUNNING: hd_print(dump->out, "%s on %s", is_unexpanded(t) ? "is expanded" : "runs", worker); break;
	case HD_EXPANDED: describe_expanded(dump->out, t); break;
	case HD_DETACHED: describe_events(dump->out, t); break;
	default: fputs("has ended, its callback runs", dump->out); break;
	}
	if (t->status)
		hd_print(dump->out, ", failed with %s", heddle_status_name(t->status));
	else if (t->cancelled)
		fputs(", will be cancelled", dump->out);
}

static void print_task(const heddle_task *t, void *arg)
{
	const struct dump *dump = arg;
	unsigned state = state_of(t);
	char title[HD_TITLE];
	if (!in_graph(state))
		return;
	hd_print(dump->out, "    %-40s ", hd_task_title(t, title, sizeof title));
	print_state(dump, t, state);
	fputc('\n', dump->out);
	/* The data of a released task may have been freed. */
	for (uint32_t i = 0; state != HD_RELEASED && state != HD_EXPANDED && i < t->n_accesses; i++)
		print_access(dump, &t->accesses[i], state);
}

static void print_worker(const struct dump *dump, const struct hd_worker *w)
{
	char title[HD_TITLE];
	hd_print(dump->out, "    %-3u %-16s %3u in flight  ", w->id, dump->rt->platform->workers[w->id].name,
	         w->in_flight);
	int runs = 0;
	for (unsigned i = 0; i < w->n_slots; i++)
		if (w->slots[i].task)
			hd_print(dump->out, "%s %s", runs++ ? "," : "runs",
			         hd_task_title(w->slots[i].task, title, sizeof title));
	if (!runs)
		hd_print(dump->out, "idle%s", w->hungry ? ", and there is nothing for it" : "");
	if (w->lost)
		hd_print(dump->out, ", lost: %s", hd_lost_why(w));
	else if (w->retired)
		fputs(", retired", dump->out);
	else if (!w->pipeline)
		fputs(w->rt->dispatch.pauses ? ", paused" : ", waits until its cores are free", dump->out);
	fputc('\n', dump->out);
}

/* --- Memories ----------------------------------------------------------------------------------------------------- */

/* Prints one replica of a datum or of a private copy. */
static void print_copy(FILE *out, const heddle_data *d, const struct hd_replica *r, const char *what)
{
	char name[80];
	if (!r->ptr)
		return;
	hd_print(out, "        %s%s: %s", what, hd_data_name(d, name, sizeof name), r->valid ? "valid" : "void");
	if (r->window)
		hd_print(out, ", in the copy of %s", hd_data_name(d->plan->data, name, sizeof name));
	if (r->incoming)
		fputs(", a copy is on its way to it", out);
	if (r->pins)
		hd_print(out, ", %u tasks and transfers use it", r->pins);
	fputc('\n', out);
}

/* Prints the contents of an accelerator's memory. */
static void print_memory(const struct dump *dump, unsigned node)
{
	const heddle_runtime *rt = dump->rt;
	const struct hd_memory *m = &rt->memories[node];
	char title[HD_TITLE];
	hd_print(dump->out, "    %-16s %llu bytes in %zu copies", rt->platform->nodes[node].name,
	         (unsigned long long)m->used, m->n_copies);
	if (m->capacity)
		hd_print(dump->out, ", of %llu; %llu are on their way out", (unsigned long long)m->capacity,
		         (unsigned long long)m->leaving);
	if (m->fetching)
		fputs("; more is being allocated", dump->out);
	if (m->waiting.first)
		hd_print(dump->out, "; %s waits for room", hd_task_title(m->waiting.first, title, sizeof title));
	fputc('\n', dump->out);
	for (const heddle_data *d = rt->handles.list; d; d = d->next) {
		print_copy(dump->out, d, &d->replicas[node], "");
		for (const struct hd_private *p = d->extra ? d->extra->privates : NULL; p; p = p->next)
			print_copy(dump->out, p->copy, &p->copy->replicas[node], "private copy of ");
	}
}

/* --- heddle_dump -------------------------------------------------------------------------------------------------- */

static void print_all(const struct dump *dump, int locked)
{
	const heddle_runtime *rt = dump->rt;
	FILE *out = dump->out;
	/* Relaxed, pairs with nothing: only the number is printed, the slots are not read. */
	uint64_t tail = atomic_load_explicit(&rt->ring.tail, memory_order_relaxed);
	hd_print(out, "tasks: %llu unfinished: %llu running, %llu next on their workers, %zu ready; %llu have ended\n",
	         (unsigned long long)hd_live(rt), (unsigned long long)rt->count.running,
	         (unsigned long long)rt->count.staged, rt->count.ready, (unsigned long long)rt->count.ended);
	hd_print(out, "tasks that wait for events: %llu\n", (unsigned long long)rt->count.detached);
	hd_print(out, "hierarchical tasks: %llu\n", (unsigned long long)rt->count.hierarchical);
	hd_print(out, "ready tasks that only retired workers can run: %llu\n", (unsigned long long)rt->count.parked);
	hd_print(out, "submitted and not looked at yet: %llu\n", (unsigned long long)(tail - rt->inlet.head));
	hd_print(out, "copies under way: %llu\n", (unsigned long long)rt->count.transfers);
	hd_print(out, "data that the program has acquired: %llu\n", (unsigned long long)rt->count.held);
	hd_print(out, "workers:\n");
	for (size_t i = 0; i < rt->n_workers; i++)
		print_worker(dump, &rt->workers[i]);
	if (hd_live(rt))
		hd_print(out, "unfinished tasks, each with what it accesses:\n");
	hd_pool_each(rt->pool, print_task, (void *)(uintptr_t)dump);
	if (locked && rt->n_nodes > 1)
		hd_print(out, "memories, each with what is there:\n");
	for (unsigned i = 1; locked && i < rt->n_nodes; i++)
		print_memory(dump, i);
}

/* us to wait for the core lock, longer than a thread waits for a core on a busy machine. If the lock is held longer,
 * its holder hangs or is stopped by a debugger, or it is the calling thread. */
static const double LOCK_US = 2e6;

/* Called with the core lock, and releases it. The text is written to memory first, because `out` may be a terminal or a
 * pipe with a slow reader. */
static void dump_locked(heddle_runtime *rt, FILE *out)
{
	HD_HELD(&rt->lock);
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	struct dump dump = {.rt = rt, .out = memory ? memory : out};
	hd_core_entered(rt);
	find_uses(rt, &dump.uses);
	print_all(&dump, 1);
	free(dump.uses.list);
	hd_core_leave(rt);
	if (memory && fclose(memory) == 0)
		fwrite(text, 1, size, out);
	else if (memory)
		hd_print(out, "there is no memory to say what the runtime does\n");
	free(text);
}

void heddle_dump(heddle_runtime *rt, FILE *out)
{
	if (!rt || !out)
		return;
	if (hd_lock_for(&rt->lock, LOCK_US)) {
		dump_locked(rt, out);
		return;
	}
	hd_print(out, "the core lock is held: what follows may be changing\n");
	print_all(&(struct dump){.rt = rt, .out = out}, 0);
}
