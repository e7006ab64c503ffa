/* Starts and stops a runtime. */
#include "start.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "devices.h"
#include "live.h"
#include "reports.h"
#include "adapt/adapt.h"
#include "flow/acquire.h"
#include "flow/codelet.h"
#include "flow/errands.h"
#include "flow/event.h"
#include "flow/group.h"
#include "flow/plan.h"
#include "flow/policy_host.h"
#include "flow/register.h"
#include "flow/wait.h"
#include "flow/worker_set.h"
#include "machine/hops.h"
#include "machine/machine.h"
#include "memory/blocks.h"
#include "memory/eviction_rule.h"
#include "memory/transfers.h"
#include "memory/uses.h"
#include "misuse/misuse.h"
#include "perf/perf.h"
#include "policies/parts/speed.h"
#include "record/record.h"
#include "state/core_lock.h"
#include "state/data.h"
#include "state/engine.h"
#include "state/failure.h"
#include "state/flow_calls.h"
#include "state/known_handles.h"
#include "state/memory.h"
#include "state/process.h"
#include "state/task_pool.h"
#include "state/tree.h"
#include "memory/eviction.h"

/* Each runtime takes its number by a relaxed increment, which pairs with nothing: numbers only need to differ. */
static _Atomic uint64_t next_uid = 1;
/* the number for file names of the next runtime with reports; incremented relaxed, pairs with nothing, as next_uid */
static _Atomic unsigned next_report = 1;

static int own_config(heddle_runtime *rt, const struct heddle_config *config)
{
	struct heddle_config defaults;
	int status = config ? hd_config_check(config) : heddle_config_init(&defaults);
	if (status)
		return status;
	rt->config = config ? *config : defaults;
	if (rt->config.check)
		/* the checking mode makes kernels slower, so the models would learn wrong times */
		rt->config.model_dir = "none";
	status = hd_config_own(&rt->config);
	const char *rule = rt->config.eviction;
	rt->rule = hd_eviction_rule(rule);
	if (!status && !rt->rule)
		status = hd_error(HEDDLE_E_INVALID, "eviction is \"%s\": it must be next_use or lru", rule);
	const char *when = rt->config.expand;
	if (!status && when && !hd_adapt_is_expand(when))
		status =
		    hd_error(HEDDLE_E_INVALID, "expand is \"%s\": it must be always, never, class or adaptive", when);
	if (!status)
		status = hd_reports_check(&rt->config);
	rt->config.time_policy |= rt->config.explain != 0;
	if (hd_reports_wanted(&rt->config)) {
		rt->config.trace = 1;
		/* Relaxed, pairs with nothing: next_report says why. */
		rt->report = atomic_fetch_add_explicit(&next_report, 1, memory_order_relaxed);
	}
	return status ? status : hd_plugins_load(rt->config.plugins);
}

/* --- The machine -------------------------------------------------------------------------------------------------- */

static int find_machine(heddle_runtime *rt, const struct heddle_platform *given, int virtual_time)
{
	const char *name = rt->config.platform;
	rt->engine = (given ? virtual_time : name && name[0]) ? &hd_engine_virtual : &hd_engine_threads;
	int status;
	if (given)
		status = heddle_platform_copy(given, &rt->platform);
	else if (name && name[0])
		status = heddle_platform_load(name, &rt->platform);
	else
		status = hd_machine(&rt->config, &rt->platform);
	if (!status && !given && !rt->platform->n_workers)
		return hd_error(
		    HEDDLE_E_INVALID,
		    "there would be no worker: n_cpu is 0, and there is no accelerator; set n_cpu (HEDDLE_NCPU) "
		    "to 1 or more, or to -1, one per core, or n_emulated (HEDDLE_EMULATED) to 1 or more");
	return status;
}

/* Gives the worker its slots: the next ones of rt->slots, from *used on. A worker with several slots may hold one task
 * more than it has slots, or more, so that the data of the next task come while all slots run. */
static void describe_slots(struct hd_worker *w, size_t *used)
{
	w->n_slots = hd_class_slots(&w->rt->platform->classes[w->class_id]);
	w->slots = &w->rt->slots[*used];
	*used += w->n_slots;
	for (unsigned i = 0; i < w->n_slots; i++) {
		w->slots[i].worker = w;
		w->slots[i].index = i;
	}
	if (w->n_slots > 1 && w->depth <= w->n_slots)
		w->depth = w->n_slots + 1;
}

static void describe_workers(heddle_runtime *rt)
{
	size_t used = 0;
	for (size_t i = 0; i < rt->n_workers; i++) {
		struct hd_worker *w = &rt->workers[i];
		const struct heddle_worker *desc = &rt->platform->workers[i];
		w->rt = rt;
		w->id = (unsigned)i;
		w->class_id = desc->class_id;
		w->node = desc->node;
		if (rt->config.fastest_first)
			w->speed = (float)hd_class_speed(&rt->platform->classes[desc->class_id]);
		w->depth = rt->platform->classes[desc->class_id].pipeline;
		if (rt->config.pipeline > 0 && desc->node)
			w->depth = (unsigned)rt->config.pipeline;
		describe_slots(w, &used);
		rt->node_worker[desc->node] = (unsigned)i;
	}
}

/* Allocates zeroed memory aligned to a cache line. NULL: out of memory. */
static void *cleared_lines(size_t size)
{
	void *p = aligned_alloc(HD_CACHE_LINE, size);
	return p ? memset(p, 0, size) : NULL;
}

static size_t count_slots(const struct heddle_platform *p)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n_workers; i++)
		n += hd_class_slots(&p->classes[p->workers[i].class_id]);
	return n;
}

static int lay_out(heddle_runtime *rt)
{
	enum { FEW = 32 }; /* room for this many program threads to wake at once; for more, the core allocates memory */
	rt->n_nodes = rt->platform->n_nodes;
	rt->n_classes = rt->platform->n_classes;
	rt->n_workers = rt->platform->n_workers;
	rt->n_slots = count_slots(rt->platform);
	/* zeroed, because free_runtime may run after any failure, and 0 means that a part is not open */
	rt->workers = cleared_lines(rt->n_workers * sizeof *rt->workers);
	rt->slots = cleared_lines(rt->n_slots * sizeof *rt->slots);
	rt->memories = calloc(rt->n_nodes, sizeof *rt->memories);
	rt->node_worker = calloc(rt->n_nodes, sizeof *rt->node_worker);
	rt->outcome.failure = calloc(1, sizeof *rt->outcome.failure);
	if (!rt->workers || !rt->slots || !rt->memories || !rt->node_worker || !rt->outcome.failure)
		return hd_no_memory("workers");
	describe_workers(rt);
	if (hd_core_reserve_wakes(rt, (unsigned)rt->n_workers + FEW))
		return hd_no_memory("threads that are to be woken");
	int status = hd_worker_set_open(rt);
	if (status)
		return status;
	if (rt->engine->virtual_time)
		rt->handles.capacity = rt->platform->nodes[0].capacity;
	for (size_t i = 1; i < rt->n_nodes; i++) { /* from 1: nothing is evicted from node 0 (memory/allocation.c) */
		uint64_t capacity = rt->memories[i].capacity = rt->platform->nodes[i].capacity;
		rt->memories[i].mark = hd_evict_mark(capacity);
		if (capacity && (!rt->limited || capacity < rt->least_capacity))
			rt->least_capacity = capacity;
		rt->limited |= capacity != 0;
	}
	rt->next_use = rt->limited && rt->rule->looks_ahead;
	rt->special = rt->n_nodes == 1 ? HD_TASK_ONE_NODE : rt->next_use ? HD_TASK_USES : 0;
	rt->access_bytes = sizeof(struct hd_access) + (rt->next_use ? sizeof(struct hd_use) : 0);
	return hd_hops_open(rt->platform, rt->engine->runs_kernels, &rt->hops); /* hd_measure_links measures links */
}

/* --- Start -------------------------------------------------------------------------------------------------------- */

static int open_parts(heddle_runtime *rt)
{
	int status = hd_handles_open(rt);
	if (!status && rt->config.check)
		status = hd_misuse_open(rt);
	rt->tells_tsan = rt->engine->runs_kernels && hd_tsan_wanted();
	rt->watched = rt->misuse || rt->tells_tsan;
	if (!status)
		status = hd_pool_open(&rt->pool);
	if (!status)
		status = hd_perf_open(rt->platform,
		                      rt->config.model_dir && rt->config.model_dir[0] ? rt->config.model_dir : NULL,
		                      rt->engine->times_are_given, &rt->perf);
	if (!status)
		hd_perf_bound(rt->perf, (size_t)rt->config.model_sizes);
	if (!status && rt->engine->runs_kernels)
		status = hd_topology_open(0, &rt->topology);
	rt->n_threads = rt->topology ? hd_topology_threads(rt->topology) : SIZE_MAX;
	if (!status && rt->config.trace && !(rt->recorder = hd_recorder_open(rt)))
		status = HEDDLE_E_MEMORY;
	if (!status)
		status = hd_sched_open(rt);
	if (!status)
		status = rt->engine->open(rt);
	if (!status && rt->engine->runs_kernels && rt->n_nodes > 1) {
		status = hd_measure_links(rt);
		hd_hops_predict(rt->hops);
	}
	return status;
}

static void free_memories(heddle_runtime *rt)
{
	for (size_t i = 0; rt->memories && i < rt->n_nodes; i++) {
		free(rt->memories[i].candidates);
		free(rt->memories[i].lost_names);
	}
	free(rt->memories);
	hd_transfers_close(rt);
}

/* Frees the objects that the program can still name. They are freed last. */
static void free_named(heddle_runtime *rt)
{
	hd_handles_close(rt);
	while (rt->codelets) {
		heddle_codelet *next = rt->codelets->next;
		hd_codelet_free(rt->codelets);
		rt->codelets = next;
	}
	hd_pool_close(rt->pool);
	hd_failure_free(rt->outcome.failure);
	hd_arena_close(&rt->events.arena);
	free(rt);
}

static void free_runtime(heddle_runtime *rt)
{
	if (rt->engine)
		rt->engine->close(rt);
	/* no other thread uses the runtime any more, but hd_data_destroy asserts that the caller holds the core lock */
	hd_core_enter(rt);
	while (rt->handles.list)
		hd_data_destroy(hd_data_root(rt->handles.list)); /* destroys the children, too */
	for (size_t i = 0; rt->memories && i < rt->n_nodes; i++)
		hd_blocks_drop(rt, &rt->memories[i]);
	hd_groups_free(rt);
	hd_blocks_free(rt, rt->unwanted);
	hd_objects_destroy(rt->dead);
	rt->unwanted = NULL;
	rt->dead = NULL;
	int stays = hd_misuse_close(rt);
	hd_core_leave(rt);
	hd_holds_free(rt);
	hd_sched_close(rt);
	if (rt->engine && rt->engine->release)
		rt->engine->release(rt);
	while (rt->inlet.submitters) {
		struct hd_submitter *next = rt->inlet.submitters->next;
		free(rt->inlet.submitters); /* the submitter's free tasks are memory of the pool */
		rt->inlet.submitters = next;
	}
	hd_recorder_close(rt->recorder); /* before the models, to whose entries its events point */
	if (rt->perf)
		hd_perf_close(rt->perf);
	hd_topology_close(rt->topology);
	hd_task_forget_all(rt);
	heddle_platform_free(rt->platform);
	hd_config_disown(&rt->config);
	hd_hops_close(rt->hops);
	hd_worker_set_close(rt);
	hd_adapt_close(rt);
	free(rt->workers);
	free(rt->slots);
	free_memories(rt);
	free(rt->node_worker);
	free(rt->dispatch.batch);
	free(rt->roused);
	if (stays) {
		rt->uid = UINT64_MAX; /* no thread has this number in its cache */
		rt->process = HD_STOPPED;
		rt = hd_misuse_retire_runtime(rt);
	}
	if (rt)
		free_named(rt);
}

/* The shortest time, in us, between two readings of the clock. */
static double clock_cost(void)
{
	double least = HUGE_VAL;
	for (int i = 0; i < 1000; i++) {
		double before = hd_clock_us();
		least = fmin(least, hd_clock_us() - before);
	}
	return least;
}

static int start(const struct heddle_config *config, const struct heddle_platform *given, int virtual_time,
                 heddle_runtime **out)
{
	if (!out)
		return hd_error(HEDDLE_E_INVALID, "heddle_start needs a place for the runtime");
	struct hd_sentence before;
	hd_error_keep(&before);
	heddle_runtime *rt = aligned_alloc(HD_CACHE_LINE, sizeof *rt);
	if (!rt)
		return hd_no_memory("a runtime");
	memset(rt, 0, sizeof *rt);
	/* Relaxed, pairs with nothing: next_uid says why. */
	rt->uid = atomic_fetch_add_explicit(&next_uid, 1, memory_order_relaxed);
	rt->process = hd_process();
	rt->flow = &hd_flow;
	rt->outcome.first_ready = -1;
	rt->inlet.mean_us = HUGE_VAL;
	rt->start_us = hd_clock_us();
	int status = own_config(rt, config);
	if (!status &&
	    /* the checking mode acquires a lock of the process with the core lock held: state/known_handles.c */
	    !rt->config.check)
		hd_lock_make_quick(&rt->lock);
	rt->clock_cost = rt->config.time_policy || rt->config.time_core ? clock_cost() : 0;
	if (!status)
		status = find_machine(rt, given, virtual_time);
	if (!status)
		status = hd_machine_cluster(&rt->config, rt->platform);
	if (!status)
		status = heddle_platform_check(rt->platform);
	if (!status)
		status = lay_out(rt);
	if (!status)
		status = hd_adapt_open(rt);
	if (!status)
		status = open_parts(rt);
	if (!status && rt->config.live && rt->engine->runs_kernels)
		status = hd_page_open(rt);
	if (status) {
		free_runtime(rt);
		return status;
	}
	hd_reports_expect(rt);
	hd_error_give_back(&before);
	*out = rt;
	return 0;
}

int heddle_platform_configured(const struct heddle_config *config, struct heddle_platform **out)
{
	struct heddle_config defaults;
	if (!out)
		return hd_error(HEDDLE_E_INVALID, "heddle_platform_configured: out is NULL");
	int status = config ? hd_config_check(config) : heddle_config_init(&defaults);
	if (status)
		return status;
	config = config ? config : &defaults;
	status = hd_machine(config, out);
	if (status)
		return status;
	status = hd_machine_cluster(config, *out);
	if (status)
		heddle_platform_free(*out);
	return status;
}

int heddle_start(const struct heddle_config *config, heddle_runtime **out)
{
	return start(config, NULL, 0, out);
}

int heddle_start_on(const struct heddle_config *config, const struct heddle_platform *platform, int virtual_time,
                    heddle_runtime **out)
{
	if (!platform)
		return hd_error(HEDDLE_E_INVALID, "heddle_start_on needs a platform");
	return start(config, platform, virtual_time, out);
}

/* --- Stop --------------------------------------------------------------------------------------------------------- */

/* Calls `act`, without the core lock, for each datum for which `wanted` is true when its turn comes. The newest data
 * come first, so children come before their parents. Goes on after an error; returns the first error. */
static int each_data(heddle_runtime *rt, int (*wanted)(const heddle_data *), int (*act)(heddle_data *))
{
	heddle_data *d;
	int status = 0;
	hd_core_enter(rt);
	rt->handles.next_left = rt->handles.list;
	while ((d = rt->handles.next_left)) {
		rt->handles.next_left = d->next;
		if (!wanted(d))
			continue;
		hd_core_leave(rt);
		int failed = act(d);
		if (!status)
			status = failed;
		hd_core_enter(rt);
	}
	rt->handles.next_left = NULL;
	hd_core_leave(rt);
	return status;
}

static int is_innermost_partition(const heddle_data *d)
{
	if (hd_data_closed(d) != HD_PARTITIONED)
		return 0;
	return !hd_plan_is_split(d->extra->partition);
}

static int is_the_programs(const heddle_data *d)
{
	return d->replicas[0].user_buffer && hd_data_closed(d) != HD_UNREGISTERED && !d->plan;
}

/* Waits for all tasks. If on_wait ends the wait, cancels the tasks that have not begun, adds their number to
 * *n_cancelled, and waits again, now only for running kernels. */
static int wait_for_end(heddle_runtime *rt, int *n_cancelled)
{
	int status;
	while ((status = heddle_wait_all(rt)) == HEDDLE_E_INTERRUPTED) {
		int n = heddle_cancel_all(rt);
		*n_cancelled += n > 0 ? n : 0;
	}
	return status;
}

/* Waits for all tasks. Also returns the failures of groups for which nobody has waited. */
static int wait_and_report(heddle_runtime *rt)
{
	int n_cancelled = 0, status = wait_for_end(rt, &n_cancelled);
	hd_groups_report(rt);
	if (!status)
		status = wait_for_end(rt, &n_cancelled);
	if (!n_cancelled || (status && status != HEDDLE_E_CANCELLED))
		return status;
	return hd_error(HEDDLE_E_INTERRUPTED,
	                "heddle_stop: on_wait has ended the wait, so %d tasks that had not begun were cancelled; the "
	                "runtime has stopped",
	                n_cancelled);
}

/* Makes the program's buffers hold the newest values of all data. */
static int bring_home(heddle_runtime *rt)
{
	int status = each_data(rt, is_innermost_partition, heddle_unpartition), none = 0;
	int left = each_data(rt, is_the_programs, heddle_unregister_async);
	int waited = wait_for_end(rt, &none);
	return status ? status : left ? left : waited;
}

int heddle_stop(heddle_runtime *rt)
{
	if (!rt)
		return 0;
	if (hd_check_process(rt) || hd_check_outside("heddle_stop"))
		return HEDDLE_E_STATE;
	struct hd_sentence said; /* the message of the error that heddle_stop will return, if there is one */
	hd_resume_all(rt);
	hd_holds_release(rt); /* because tasks may wait for data that the program still holds */
	int status = wait_and_report(rt);
	hd_error_keep(&said);
	int home = bring_home(rt);
	if (!status) {
		status = home;
		hd_error_keep(&said);
	}
	hd_page_close(rt->page);
	hd_reports_forget(rt);
	hd_reports_write(rt);
	int saved = hd_perf_save(rt->perf);
	if (!status) {
		status = saved;
		hd_error_keep(&said);
	}
	hd_events_close(rt);
	if (HD_UNLIKELY(rt->misuse != NULL))
		hd_misuse_stops(rt);
	free_runtime(rt);
	hd_error_give_back(&said);
	return status == HEDDLE_E_STATE ? HEDDLE_E_CANCELLED : status; /* E_STATE: a task read what nobody wrote */
}

/* --- Queries ------------------------------------------------------------------------------------------------------ */

const struct heddle_platform *heddle_runtime_platform(const heddle_runtime *rt)
{
	return rt ? rt->platform : NULL;
}

int heddle_runtime_is_virtual(const heddle_runtime *rt)
{
	return rt && rt->engine->virtual_time;
}

double heddle_now(heddle_runtime *rt)
{
	if (!rt)
		return NAN;
	if (!rt->engine->virtual_time || rt->process != hd_process())
		return rt->engine->now(rt);
	hd_core_enter(rt); /* because another thread may be advancing the virtual clock */
	double now = rt->engine->now(rt);
	hd_core_leave(rt);
	return now;
}

/* us of the makespan in which processors were driven, added up over all processors. */
static double driven_time(const heddle_runtime *rt)
{
	const struct hd_driven *d = &rt->outcome.driven;
	if (rt->outcome.first_ready < 0 || rt->last_end < rt->outcome.first_ready)
		return 0;
	return (rt->last_end < d->since ? d->until_end : hd_driven_until(d, rt->last_end)) - d->until_begin;
}

int heddle_runtime_stats(heddle_runtime *rt, struct heddle_stats *out)
{
	if (!rt || !out)
		return hd_error(HEDDLE_E_INVALID, "statistics need a runtime and a place to go");
	if (hd_check_process(rt))
		return HEDDLE_E_STATE;
	hd_core_enter(rt);
	struct heddle_stats s = rt->outcome.stats;
	s.makespan = rt->outcome.first_ready < 0 || rt->last_end < rt->outcome.first_ready
	                 ? 0
	                 : rt->last_end - rt->outcome.first_ready;
	s.last_end = rt->last_end;
	s.tasks_submitted = rt->inlet.submitted;
	s.tasks_executed = rt->count.executed;
	s.core_entries = rt->entries;
	s.sched_batches = rt->count.batches;
	s.sched_picks = rt->count.picks;
	s.sched_picks_empty = rt->count.empty_picks;
	for (size_t i = 0; i < rt->n_workers; i++) {
		s.busy += rt->workers[i].busy * hd_class_processors(&rt->platform->classes[rt->workers[i].class_id]);
		s.transfer_wait += rt->workers[i].waited_for_data;
	}
	for (size_t i = 0; i < rt->n_nodes; i++)
		s.evictions += rt->memories[i].evictions;
	s.driven = driven_time(rt);
	s.idle = fmax(0, s.driven - s.busy);
	s.live_tasks = hd_live(rt);
	s.task_bytes = rt->pool->bytes;
	hd_core_leave(rt);
	*out = s;
	return 0;
}

int heddle_runtime_memory_stats(heddle_runtime *rt, unsigned node, struct heddle_memory_stats *out)
{
	if (!rt || !out || node >= rt->n_nodes)
		return hd_error(HEDDLE_E_INVALID,
		                "heddle_runtime_memory_stats needs a runtime, one of its nodes and a place to go");
	if (hd_check_process(rt))
		return HEDDLE_E_STATE;
	hd_core_enter(rt);
	const struct hd_memory *m = &rt->memories[node];
	*out = (struct heddle_memory_stats){.used = m->used, .peak = m->peak, .evictions = m->evictions};
	hd_core_leave(rt);
	return 0;
}

int heddle_models_save_to(heddle_runtime *rt, const char *dir)
{
	if (!rt)
		return hd_error(HEDDLE_E_INVALID, "heddle_models_save_to needs a runtime");
	if (hd_check_process(rt))
		return HEDDLE_E_STATE;
	char *by_default = dir && *dir ? NULL : heddle_models_dir();
	if (!by_default && !(dir && *dir))
		return hd_error(HEDDLE_E_IO, "no model directory: neither XDG_DATA_HOME nor HOME is set; name one");
	hd_core_enter(rt);
	int status = hd_perf_save_to(rt->perf, by_default ? by_default : dir);
	hd_core_leave(rt);
	free(by_default);
	return status;
}

int heddle_models_save(heddle_runtime *rt)
{
	if (!rt)
		return hd_error(HEDDLE_E_INVALID, "heddle_models_save needs a runtime");
	if (hd_check_process(rt))
		return HEDDLE_E_STATE;
	hd_core_enter(rt);
	int status = hd_perf_save(rt->perf);
	hd_core_leave(rt);
	return status;
}

const char *heddle_model_warnings(heddle_runtime *rt)
{
	return rt ? hd_perf_warnings(rt->perf) : "";
}
