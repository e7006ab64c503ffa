/* The state of a runtime in words: one line for messages, everything for people and debuggers. */
#include <stdio.h>
#include <stdlib.h>
#include <heddle/trace.h>
#include "runtime.h"

static void describe_chain(FILE *out, const heddle_data *d)
{
	char name[80];
	if (!d->queue)
		return;
	fprintf(out, "; %s waits for %s", hd_task_name(hd_access_task(d->queue)), hd_data_name(d, name, sizeof name));
	if (hd_data_is_held(d))
		fprintf(out, " acquired by the program");
}

struct list {
	FILE *out;
	int shown;
};

static void describe_task(const heddle_task *t, void *arg)
{
	struct list *l = arg;
	/* relaxed: under the core lock; pairs: nothing */
	unsigned state = atomic_load_explicit(&t->state, memory_order_relaxed);
	if ((state != HD_READY && state != HD_PICKED) || l->shown++ >= 8)
		return;
	fprintf(l->out, "; %s (task %llu) ", hd_task_name(t), (unsigned long long)t->order);
	if (state == HD_READY)
		fprintf(l->out, "is ready");
	else
		fprintf(l->out, "waits for its data on %s", t->codelet->rt->platform->workers[t->worker].name);
}

char *hd_describe_hang(heddle_runtime *rt)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	fprintf(out, "%llu tasks are unfinished, %zu of them ready", (unsigned long long)hd_live(rt), rt->n_ready);
	for (size_t i = 0; i < rt->n_workers; i++)
		if (rt->workers[i].running)
			fprintf(out, "; %s runs %s", rt->platform->workers[i].name,
			        hd_task_name(rt->workers[i].running));
	for (size_t i = 0; i < rt->n_nodes; i++)
		if (rt->memories[i].waiting)
			fprintf(out, "; %s waits for room on %s", hd_task_name(rt->memories[i].waiting),
			        rt->platform->nodes[i].name);
	hd_pool_each(&rt->pool, describe_task, &(struct list){.out = out});
	int shown = 0;
	for (const heddle_data *d = rt->data; d && shown < 8; d = d->next) {
		if (d->queue) {
			describe_chain(out, d);
			shown++;
		}
	}
	fclose(out);
	return text;
}

int hd_core_deadlock(heddle_runtime *rt)
{
	char *text = hd_describe_hang(rt);
	int status = hd_error(HEDDLE_E_DEADLOCK, "nothing can make progress%s%s: %s",
	                      rt->n_ready ? "; no idle worker takes a ready task under policy " : "",
	                      rt->n_ready ? rt->sched.policy->name : "", text ? text : "");
	free(text);
	return status;
}

static void dump_task(const heddle_task *t, void *arg)
{
	static const char *const states[] = {"outside", "waiting", "ready",    "picked",
	                                     "staged",  "running", "released", "ended"};
	FILE *out = arg;
	/* relaxed: under the core lock; pairs: nothing */
	unsigned state = atomic_load_explicit(&t->state, memory_order_relaxed);
	if (state == HD_OUTSIDE || state == HD_ENDED)
		return;
	fprintf(out, "task %llu %s: %s, waits for %u, worker %u, status %d%s\n", (unsigned long long)t->order,
	        hd_task_name(t), states[state], t->pending, t->worker, t->status, t->cancelled ? ", cancelled" : "");
	for (uint32_t i = 0; state < HD_RELEASED && i < t->n_accesses; i++) { /* later a datum may be gone */
		const struct hd_access *a = &t->accesses[i];
		const heddle_data *d = a->data;
		fprintf(out,
		        "  datum %u: mode %u flags %u; granted %u of mode %u, queue %s, token %s, commuters %s, %u "
		        "transfers\n",
		        d->id, a->mode, a->flags, d->granted, d->granted_mode,
		        d->queue ? hd_task_name(hd_access_task(d->queue)) : "empty", d->token ? "held" : "free",
		        d->commuters ? hd_task_name(hd_access_task(d->commuters)) : "none", d->n_transfers);
	}
}

static void dump(heddle_runtime *rt, FILE *out)
{
	fprintf(out, "inserted %llu ended %llu running %llu transfers %llu staged %llu held %llu ready %zu\n",
	        (unsigned long long)rt->n_inserted, (unsigned long long)rt->n_ended, (unsigned long long)rt->n_running,
	        (unsigned long long)rt->n_transfers, (unsigned long long)rt->n_staged, (unsigned long long)rt->n_held,
	        rt->n_ready);
	for (size_t i = 0; i < rt->n_workers; i++)
		fprintf(out, "worker %zu: %u in flight, %s%s%s\n", i, rt->workers[i].in_flight,
		        rt->workers[i].running ? "runs " : "idle",
		        rt->workers[i].running ? hd_task_name(rt->workers[i].running) : "",
		        rt->workers[i].hungry ? ", hungry" : "");
	hd_pool_each(&rt->pool, dump_task, out);
}

/* Whoever holds the lock for so long hangs, or has called us. */
static const double LOCK_US = 1e5;

void heddle_dump(heddle_runtime *rt, FILE *out)
{
	if (!rt || !out)
		return;
	int locked = hd_lock_for(&rt->lock, LOCK_US);
	if (!locked)
		fprintf(out, "the core lock is held: what follows may be changing\n");
	dump(rt, out);
	if (locked)
		hd_unlock(&rt->lock);
}
