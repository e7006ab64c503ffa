/* heddle_selfcheck: silent about runtimes in every state that a program can see, and it names what is corrupted: each
 * test breaks one thing, looks, and mends it. */
#include <pthread.h>
#include "adapt/trust.h"
#include "breaks.h"
#include "internals.h"
#include "perf/internal.h"

/* A runtime with something everywhere: a task that runs and stays, ready ones behind it, accesses that wait in a chain,
 * tasks that wait for a token, explicit dependencies, a reduction, a datum that the program holds, one in pieces. */
struct scene {
	heddle_runtime *rt;
	heddle_codelet *gate_codelet, *codelet, *zero, *add;
	atomic_int gate, calls, looks;
	heddle_data *busy, *shared, *sum, *held, *split, *child;
	heddle_task *first, *last, *commuter;
	long x[4];
	long v[8];
};

static int zero_kernel(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) = 0;
	return 0;
}

static int add_kernel(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) += *(long *)heddle_ptr(c, 1);
	return 0;
}

static void start_scene(struct scene *s)
{
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	*s = (struct scene){.rt = start_with(&config)};
	s->gate_codelet = heddle_codelet_new(s->rt, .name = "gate", .cpu = pass_gate);
	s->codelet = heddle_codelet_new(s->rt, .name = "nothing", .cpu = nothing);
	s->zero = heddle_codelet_new(s->rt, .name = "zero", .cpu = zero_kernel);
	s->add = heddle_codelet_new(s->rt, .name = "add", .cpu = add_kernel);
	heddle_data **variables[] = {&s->busy, &s->shared, &s->sum, &s->held};
	for (size_t i = 0; i < 4; i++)
		assert_ok(heddle_variable(s->rt, &s->x[i], sizeof s->x[i], variables[i]));
	assert_ok(heddle_data_set_reduction(s->sum, s->zero, s->add));
	assert_ok(heddle_vector(s->rt, s->v, 8, sizeof *s->v, &s->split));
	assert_ok(heddle_acquire(s->held, HEDDLE_RW));
	assert_ok(heddle_partition(s->split, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .nx = 2}, NULL));
	s->child = heddle_child(s->split, 0);
}

/* The worker is in the kernel of `first` from now on. */
static void fill_scene(struct scene *s)
{
	atomic_int *gate = &s->gate;
	heddle_codelet *const codelet = s->codelet;
	assert_ok(heddle_submit(s->rt, heddle_call(s->gate_codelet), heddle_rw(s->busy), heddle_commute(s->shared),
	                        heddle_value(gate), heddle_out(&s->first)));
	assert_ok(heddle_submit(s->rt, heddle_call(codelet), heddle_commute(s->shared), heddle_out(&s->commuter)));
	assert_ok(heddle_submit(s->rt, heddle_call(codelet), heddle_r(s->busy), heddle_w(s->child)));
	assert_ok(heddle_submit(s->rt, heddle_call(codelet), heddle_rw(s->busy), heddle_out(&s->last)));
	assert_ok(heddle_submit(s->rt, heddle_call(codelet), heddle_rw(s->held), heddle_after(s->first)));
	assert_ok(heddle_submit(s->rt, heddle_call(codelet), heddle_redux(s->sum)));
	assert_ok(heddle_submit(s->rt, heddle_call(codelet)));
	const struct hd_worker *w = &s->rt->workers[0];
	for (int running = 0; !running;) {
		hd_core_enter(s->rt);
		hd_drain(s->rt);
		hd_core_settle(s->rt);
		running = w->slots[0].task == s->first;
		hd_core_leave(
		    s->rt); /* not just unlocked: the worker may have asked to be served meanwhile, and sleep */
		sched_yield();
	}
}

static void end_scene(struct scene *s)
{
	assert_ok(heddle_selfcheck(s->rt));
	s->gate = 1;
	assert_ok(heddle_release(s->held));
	assert_ok(heddle_wait_all(s->rt));
	assert_ok(heddle_selfcheck(s->rt));
	heddle_task_release(s->first);
	heddle_task_release(s->last);
	heddle_task_release(s->commuter);
	assert_ok(heddle_selfcheck(s->rt));
	assert_ok(heddle_stop(s->rt));
}

/* --- Nothing is wrong --------------------------------------------------------------------------------------------- */

static void selfcheck_needs_a_runtime(void **state)
{
	(void)state;
	assert_int_equal(heddle_selfcheck(NULL), HEDDLE_E_INVALID);
}

static void look(void *arg, int status)
{
	struct scene *s = arg;
	(void)status;
	s->calls += heddle_selfcheck(s->rt) == 0;
}

static int look_inside(heddle_context *c)
{
	return heddle_selfcheck(heddle_context_runtime(c));
}

static void kernels_and_callbacks_may_look(void **state)
{
	(void)state;
	struct scene s = {.rt = start()};
	heddle_codelet *codelet = heddle_codelet_new(s.rt, .name = "look", .cpu = look_inside);
	for (int i = 0; i < 20; i++)
		assert_ok(heddle_submit(s.rt, heddle_call(codelet), heddle_then(look, &s)));
	assert_ok(heddle_wait_all(s.rt));
	assert_int_equal(s.calls, 20);
	assert_ok(heddle_stop(s.rt));
}

/* Looks until it is told that there is nothing more to see. */
static void *keep_looking(void *arg)
{
	struct scene *s = arg;
	for (; !s->gate; s->looks++)
		s->calls += heddle_selfcheck(s->rt) != 0;
	return NULL;
}

static void destroy_nothing(void *object)
{
	(void)object;
}

static int unpack_nothing(void **object, const void *buffer, size_t size)
{
	(void)object;
	(void)buffer;
	(void)size;
	return 0;
}

/* Each kind of registration changes the handle after it has got its place among the others. */
static void selfcheck_may_run_while_data_are_registered_and_unregistered(void **state)
{
	(void)state;
	static const struct heddle_type type = {.name = "object",
	                                        .size = one_byte,
	                                        .pack = pack_nothing,
	                                        .unpack = unpack_nothing,
	                                        .destroy = destroy_nothing};
	struct scene s = {.rt = start()};
	pthread_t looker;
	assert_int_equal(pthread_create(&looker, NULL, keep_looking, &s), 0);
	while (s.looks < 20000) {
		heddle_data *object;
		assert_ok(heddle_object(s.rt, s.x, &type, &object));
		assert_ok(heddle_vector(s.rt, s.v, 8, sizeof *s.v, &s.split));
		assert_ok(heddle_data_set_name(s.split, "split"));
		assert_ok(
		    heddle_partition(s.split, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .nx = 4}, NULL));
		assert_ok(heddle_unpartition(s.split));
		assert_ok(heddle_unregister(s.split));
		assert_ok(heddle_unregister(object));
	}
	s.gate = 1;
	pthread_join(looker, NULL);
	assert_int_equal(s.calls, 0);
	assert_ok(heddle_stop(s.rt));
}

static void a_full_runtime_is_in_order(void **state)
{
	(void)state;
	struct scene s;
	start_scene(&s);
	assert_ok(heddle_selfcheck(s.rt));
	fill_scene(&s);
	end_scene(&s);
}

/* --- Something is ------------------------------------------------------------------------------------------------- */

static void counters_are_compared(void **state)
{
	(void)state;
	struct scene s;
	start_scene(&s);
	fill_scene(&s);
	BREAKS(&s, s.rt->count.inserted, kept + 1, "n_inserted");
	BREAKS(&s, s.rt->count.ready, kept + 1, "n_ready");
	BREAKS(&s, s.rt->count.running, kept + 1, "n_running");
	BREAKS(&s, s.rt->count.suspended, kept + 1, "suspended");
	BREAKS(&s, s.rt->count.staged, kept + 1, "n_staged");
	BREAKS(&s, s.rt->count.held, kept - 1, "n_held");
	BREAKS(&s, s.rt->count.held, kept + 1, "n_held");
	BREAKS(&s, s.rt->count.transfers, kept + 1, "n_transfers");
	BREAKS(&s, s.rt->count.asleep, kept + 1, "n_asleep");
	BREAKS(&s, s.rt->count.calling, kept + 1, "n_calling");
	BREAKS(&s, s.rt->count.detached, 1, "n_detached");
	BREAKS(&s, s.rt->events.n_made, 1, "n_made");
	BREAKS(&s, s.first->extra->n_events, 1, "n_made");
	BREAKS(&s, s.last->extra, &(struct hd_task_extra){.n_events = 1}, "waits for 1 events");
	BREAKS(&s, s.rt->dispatch.n_batch, s.rt->dispatch.max_batch + 1, "batch");
	BREAKS(&s, s.rt->inlet.next_order, 1, "number");
	end_scene(&s);
}

static void lists_are_followed(void **state)
{
	(void)state;
	struct scene s;
	start_scene(&s);
	fill_scene(&s);
	BREAKS(&s, s.rt->dispatch.hungry, &s.rt->workers[0], "hungry");
	BREAKS(&s, s.rt->workers[0].hungry, !kept, "hungry");
	BREAKS(&s, s.rt->workers[0].staged.first, s.first, "staged");
	BREAKS(&s, s.rt->dispatch.controls.first, s.first, "list");
	BREAKS(&s, s.rt->dispatch.called.first, s.first, "list");
	BREAKS(&s, s.rt->memories[0].waiting.first, s.first, "list");
	BREAKS(&s, s.rt->handles.list->prev_next, &s.busy, "list of data");
	BREAKS(&s, s.shared->commuters, NULL, "task");
	BREAKS(&s, s.shared->commuters_tail, NULL, "token");
	BREAKS(&s, s.rt->waits.holds->task, s.first, "acquired");
	BREAKS(&s, s.rt->waits.holds->task, s.last, "acquired");
	end_scene(&s);
}

static void workers_are_compared_with_their_tasks(void **state)
{
	(void)state;
	struct scene s;
	start_scene(&s);
	fill_scene(&s);
	struct hd_worker *w = &s.rt->workers[0];
	BREAKS(&s, w->in_flight, kept + 1, "in_flight");
	BREAKS(&s, w->slots[0].task, NULL, "busy");
	BREAKS(&s, w->slots[0].task, s.last, "run");
	BREAKS(&s, w->slots[0].n_bound, 1, "bound");
	BREAKS(&s, w->slots[0].index, 1, "slots");
	BREAKS(&s, w->backlog, kept + 1, "backlog");
	end_scene(&s);
}

static void tasks_are_compared_with_what_holds_them(void **state)
{
	(void)state;
	struct scene s;
	start_scene(&s);
	fill_scene(&s);
	BREAKS(&s, s.last->pending, kept + 1, "pending");
	BREAKS(&s, s.last->pending, 0, "pending");
	BREAKS(&s, s.last->refs, 0, "refs");
	BREAKS(&s, s.first->refs, kept + 2, "refs");
	BREAKS(&s, s.first->kind, HD_TASK_SYNC, "kind");
	BREAKS(&s, s.first->worker, 1, "does not run there");
	BREAKS(&s, s.first->extra->after->to, s.first, "pending");
	BREAKS(&s, s.last->accesses[0].index, 1, "chain");
	end_scene(&s);
}

static void chains_are_compared_with_the_accesses(void **state)
{
	(void)state;
	struct scene s;
	start_scene(&s);
	fill_scene(&s);
	BREAKS(&s, s.busy->granted, kept + 1, "granted");
	BREAKS(&s, s.busy->granted, 0, "granted");
	BREAKS(&s, s.busy->granted_mode, HEDDLE_R, "go together");
	BREAKS(&s, s.busy->queue, NULL, "pending");
	BREAKS(&s, s.busy->queue_tail, s.busy->queue, "tail");
	BREAKS(&s, s.child->n_waiting, kept + 1, "said to wait");
	BREAKS(&s, s.shared->token, 0, "token");
	BREAKS(&s, s.shared->read_only, 1, "caveats");
	BREAKS(&s, s.sum->tail_mode, HEDDLE_R, "reduction");
	BREAKS(&s, s.sum->extra->reduce, NULL, "reduction");
	BREAKS(&s, s.rt->dispatch.open_reductions, NULL, "open reductions");
	BREAKS(&s, s.rt->dispatch.open_reductions->link.prev, s.first, "open reductions");
	end_scene(&s);
}

/* Tasks do not look whether it is there. */
static void the_value_of_a_settled_datum_stays(void **state)
{
	(void)state;
	struct scene s;
	start_scene(&s);
	fill_scene(&s);
	assert_int_equal(s.held->settled, s.rt->n_nodes == 1);
	hd_lock(&s.rt->lock);
	uint8_t settled = s.held->settled;
	s.held->settled = 1;
	hd_replica_set_valid(&s.held->replicas[0], 0);
	int status = hd_selfcheck(s.rt);
	hd_replica_set_valid(&s.held->replicas[0], 1);
	s.held->settled = settled;
	hd_unlock(&s.rt->lock);
	assert_int_equal(status, HEDDLE_E_STATE);
	assert_says("has left the buffer");
	end_scene(&s);
}

static void copies_are_counted(void **state)
{
	(void)state;
	struct scene s;
	start_scene(&s);
	fill_scene(&s);
	struct hd_replica *home = &s.held->replicas[0];
	BREAKS(&s, s.held->n_valid, kept + 1, "n_valid");
	BREAKS(&s, s.held->n_away, kept + 1, "n_away");
	BREAKS(&s, s.held->at_home, !kept, "at_home");
	BREAKS(&s, s.held->n_transfers, kept + 1, "n_transfers");
	BREAKS(&s, s.held->n_writers, 0, "n_writers");
	BREAKS(&s, s.sum->n_writers, 1, "n_writers");
	BREAKS(&s, home->pins, kept + 1, "pins");
	BREAKS(&s, home->ptr, NULL, "memory");
	BREAKS(&s, home->incoming, 1, "incoming");
	BREAKS(&s, home->place, 1, "listed for that");
	BREAKS(&s, s.child->plan, NULL, "child");
	BREAKS(&s, s.split->extra->partition, NULL, "children");
	end_scene(&s);
}

static void memories_are_added_up(void **state)
{
	(void)state;
	struct scene s;
	start_scene(&s);
	fill_scene(&s);
	struct hd_memory *m = &s.rt->memories[0];
	BREAKS(&s, m->used, kept + 1, "used");
	BREAKS(&s, m->leaving, kept + 1, "leaving");
	BREAKS(&s, m->retry, 1, "tried again");
	BREAKS(&s, m->n_copies, kept + 1, "n_copies");
	end_scene(&s);
}

static void the_pool_and_the_ring_are_looked_at(void **state)
{
	(void)state;
	struct scene s;
	start_scene(&s);
	fill_scene(&s);
	struct hd_size_class *class = &s.rt->pool->classes[s.first->size_class];
	BREAKS(&s, class->n_open, kept + 1, "pool");
	BREAKS(&s, class->open, s.first, "pool");
	BREAKS(&s, s.rt->inlet.head, kept + 1, "ring");
	BREAKS(&s, s.rt->inlet.asleep[0], kept + 1, "sleep");
	end_scene(&s);
}

/* --- Accelerators ------------------------------------------------------------------------------------------------- */

/* Its only copy stays where it was written when all has ended. */
static void sizes_in_models_are_compared_with_their_users(void **state)
{
	(void)state;
	struct scene s;
	start_scene(&s);
	fill_scene(&s);
	struct hd_perf_entry *used = s.first->perf;
	struct hd_perf_model *model = s.codelet->model;
	BREAKS(&s, used->users, kept + 1, "users");
	BREAKS(&s, used->users, 0, "gate");
	BREAKS(&s, model->n_entries, kept + 1, "sizes");
	BREAKS(&s, model->idle[0].n, kept + 1, "nobody uses");
	BREAKS(&s, s.codelet->last_entry, NULL, "users");
	end_scene(&s);
}

static void memories_of_accelerators_are_added_up(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.sched = "dmda";
	config.n_emulated = 1;
	config.emulated_memory = 100; /* the datum takes more than half: the memory is tight */
	struct scene s = {0};
	assert_ok(heddle_start(&config, &s.rt));
	const struct heddle_implementation emulated = {"emulated", NULL, nothing};
	heddle_codelet *codelet =
	    heddle_codelet_new(s.rt, .name = "away", .implementations = &emulated, .n_implementations = 1);
	heddle_data *d;
	assert_ok(heddle_vector(s.rt, s.v, 8, sizeof *s.v, &d));
	assert_ok(heddle_submit(s.rt, heddle_call(codelet), heddle_rw(d)));
	assert_ok(heddle_wait_all(s.rt));
	struct hd_replica *away = &d->replicas[1];
	struct hd_memory *m = &s.rt->memories[1];
	BREAKS(&s, m->used, kept + 8, "used");
	BREAKS(&s, m->used, m->capacity + 1, "used");
	BREAKS(&s, m->capacity, 8, "capacity");
	BREAKS(&s, m->max_candidates, 0, "room");
	BREAKS(&s, m->kept, kept + 1, "kept");
	BREAKS(&s, away->block->node, 0, "block");
	BREAKS(&s, away->place, 2, "differ");
	BREAKS(&s, away->place, 0, "not listed for that");
	BREAKS(&s, away->hinted, 1, "prefetches that wait");
	BREAKS(&s, m->idle.oldest, NULL, "nobody uses");
	BREAKS(&s, m->idle.newest, NULL, "nobody uses");
	BREAKS(&s, away->older, away, "nobody uses");
	BREAKS(&s, m->tight, 0, "listed for that");
	BREAKS(&s, s.rt->dispatch.n_tight, 0, "n_tight");
	BREAKS(&s, m->trust->held, 0, "held");
	BREAKS(&s, m->trust->newest, NULL, "used last");
	BREAKS(&s, m->trust->oldest, NULL, "the end of the list");
	BREAKS(&s, away->valid, 0, "n_valid");
	BREAKS(&s, d->n_away, 0, "n_away");
	assert_ok(heddle_submit(s.rt, heddle_call(codelet), heddle_scratch(d)));
	assert_ok(heddle_wait_all(s.rt));
	BREAKS(&s, d->extra->privates->slot, 1, "private copies");
	BREAKS(&s, d->extra->privates->worker, 100, "private copies");
	assert_ok(heddle_acquire(d, HEDDLE_RW));
	assert_ok(heddle_submit(s.rt, heddle_call(codelet), heddle_rw(d)));
	hd_core_enter(s.rt);
	hd_drain(s.rt); /* the task enters the graph, and waits there */
	hd_core_leave(s.rt);
	struct hd_use_list *uses = hd_data_uses(d);
	BREAKS(&s, uses->first, NULL, "will use it");
	BREAKS(&s, uses->end, &uses->first, "will use it");
	BREAKS(&s, uses->first->prev_next, NULL, "will use it");
	heddle_task *task = hd_access_task(uses->first->access);
	BREAKS(&s, task->special, (uint16_t)(task->special & ~HD_TASK_LISTED), "not listed");
	assert_ok(heddle_release(d));
	assert_ok(heddle_wait_all(s.rt));
	assert_ok(heddle_stop(s.rt));
}

/* The accelerator has a block that nobody uses any more. */
static void kept_blocks_fit_into_their_memory(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_emulated = 1;
	config.emulated_memory = 100;
	struct scene s = {.rt = start_with(&config)};
	heddle_codelet *codelet = heddle_codelet_new(s.rt, .name = "away", .emulated = nothing);
	heddle_data *d;
	assert_ok(heddle_vector(s.rt, NULL, 8, sizeof *s.v, &d));
	assert_ok(heddle_submit(s.rt, heddle_call(codelet), heddle_w(d)));
	assert_ok(heddle_wait_all(s.rt));
	assert_ok(heddle_unregister(d));
	struct hd_memory *m = &s.rt->memories[1];
	assert_int_equal(m->kept, 8 * sizeof *s.v);
	BREAKS(&s, m->capacity, m->kept - 1, "more than its capacity");
	BREAKS(&s, m->kept, 0, "free blocks");
	assert_ok(heddle_stop(s.rt));
}

/* In virtual time a copy lasts until somebody waits. */
static void a_cancelled_control_that_waits_for_a_copy_writes_nothing(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.platform = "gpu1-cpu6";
	heddle_runtime *rt = start_with(&config);
	double x[100];
	heddle_data *d;
	assert_ok(heddle_vector(rt, x, 100, sizeof *x, &d));
	hd_lock(&rt->lock);
	hd_data_spoil(d, NULL); /* as if a kernel had failed */
	hd_unlock(&rt->lock);
	assert_ok(heddle_prefetch(d, 1));
	assert_ok(heddle_partition(d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .nx = 2}, NULL));
	assert_int_equal(heddle_wait_all(rt), 0);
	assert_int_equal(d->n_writers, 0);
	assert_ok(heddle_selfcheck(rt));
	heddle_stop(rt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(selfcheck_needs_a_runtime),
	    cmocka_unit_test(kernels_and_callbacks_may_look),
	    cmocka_unit_test(selfcheck_may_run_while_data_are_registered_and_unregistered),
	    cmocka_unit_test(a_full_runtime_is_in_order),
	    cmocka_unit_test(counters_are_compared),
	    cmocka_unit_test(lists_are_followed),
	    cmocka_unit_test(workers_are_compared_with_their_tasks),
	    cmocka_unit_test(tasks_are_compared_with_what_holds_them),
	    cmocka_unit_test(chains_are_compared_with_the_accesses),
	    cmocka_unit_test(copies_are_counted),
	    cmocka_unit_test(the_value_of_a_settled_datum_stays),
	    cmocka_unit_test(memories_are_added_up),
	    cmocka_unit_test(the_pool_and_the_ring_are_looked_at),
	    cmocka_unit_test(sizes_in_models_are_compared_with_their_users),
	    cmocka_unit_test(memories_of_accelerators_are_added_up),
	    cmocka_unit_test(kept_blocks_fit_into_their_memory),
	    cmocka_unit_test(a_cancelled_control_that_waits_for_a_copy_writes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
