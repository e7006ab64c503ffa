/* Tasks and data that are given up: what has not begun never runs, and the program's memory is its own again. */
#include <pthread.h>
#include "internals.h"
#include "program.h"
#include "virtual_machine.h"

struct gate {
	atomic_int began, open, ran;
};

/* Lets the program act while a worker runs this. */
static int wait_at_gate(heddle_context *c)
{
	struct gate *g = heddle_get(c, 0, struct gate *);
	g->began++;
	wait_for(&g->open, 1);
	return 0;
}

static int count_run(heddle_context *c)
{
	heddle_get(c, 0, struct gate *)->ran++;
	return 0;
}

static int write_at_gate(heddle_context *c)
{
	long *x = heddle_ptr(c, 0);
	wait_at_gate(c);
	*x = 9;
	return 0;
}

struct program {
	heddle_runtime *rt;
	heddle_codelet *gate, *count, *write;
	struct gate *at;
};

static struct program begin(const struct heddle_config *config, struct gate *at)
{
	struct program p = {.rt = start_with(config), .at = at};
	p.gate = heddle_codelet_new(p.rt, .name = "gate", .cpu = wait_at_gate);
	p.count = heddle_codelet_new(p.rt, .name = "count", .cpu = count_run);
	p.write = heddle_codelet_new(p.rt, .name = "write", .cpu = write_at_gate);
	return p;
}

static uint64_t n_cancelled(heddle_runtime *rt)
{
	struct heddle_stats stats;
	assert_ok(heddle_runtime_stats(rt, &stats));
	return stats.tasks_cancelled;
}

/* Ready ones, which the policy has or a worker, and those that wait for their data. */
static void tasks_of_a_cancelled_group_never_run(void **state)
{
	(void)state;
	static const char *const policies[] = {"eager", "prio", "ws", "lws", "dm", "dmdas", "heft", "multiprio"};
	for (size_t k = 0; k < sizeof policies / sizeof *policies; k++) {
		struct heddle_config config = small_config();
		struct gate at = {.open = 0};
		config.n_cpu = 1;
		config.sched = policies[k];
		struct program p = begin(&config, &at);
		heddle_group *g;
		heddle_data *d;
		long x = 1;
		assert_ok(heddle_group_create(p.rt, &g));
		assert_ok(heddle_variable(p.rt, &x, sizeof x, &d));
		assert_ok(heddle_submit(p.rt, heddle_call(p.write), heddle_rw(d), heddle_value(p.at)));
		wait_for(&at.began, 1);
		for (int i = 0; i < 10; i++)
			assert_ok(heddle_submit(p.rt, heddle_call(p.count), heddle_value(p.at), heddle_in_group(g)));
		assert_ok(
		    heddle_submit(p.rt, heddle_call(p.count), heddle_rw(d), heddle_value(p.at), heddle_in_group(g)));
		assert_ok(heddle_submit(p.rt, heddle_call(p.count), heddle_r(d), heddle_value(p.at)));
		assert_ok(heddle_submit(p.rt, heddle_call(p.count), heddle_value(p.at)));
		assert_int_equal(heddle_group_cancel(g), 11);
		assert_int_equal(heddle_group_cancel(g), 0);
		assert_ok(heddle_selfcheck(p.rt));
		at.open = 1;
		assert_int_equal(heddle_group_wait(g), HEDDLE_E_CANCELLED);
		assert_says("its group was cancelled");
		/* who needed a value of theirs, too */
		assert_int_equal(heddle_wait_all(p.rt), HEDDLE_E_CANCELLED);
		assert_int_equal(at.ran, 1);
		assert_int_equal(n_cancelled(p.rt), 12);
		assert_ok(heddle_submit(p.rt, heddle_call(p.count), heddle_value(p.at), heddle_in_group(g)));
		assert_ok(heddle_group_wait(g)); /* the group can be used further */
		assert_int_equal(at.ran, 2);
		assert_ok(heddle_selfcheck(p.rt));
		heddle_group_free(g);
		assert_ok(heddle_stop(p.rt));
	}
}

/* An accelerator has brought the data of the next tasks before it begins them. */
static void tasks_staged_on_an_accelerator_never_run(void **state)
{
	(void)state;
	for (int transfers = 0; transfers < 2; transfers++) {
		struct heddle_config config = small_config();
		struct gate at = {.open = 0};
		config.n_cpu = 1;
		config.n_emulated = config.emulated_streams = 1;
		struct program p = begin(&config, &at);
		heddle_group *g;
		heddle_data *d[5];
		long x[5] = {1, 2, 3, 4, 5};
		assert_ok(heddle_group_create(p.rt, &g));
		for (int i = 0; i < 5; i++)
			assert_ok(heddle_variable(p.rt, &x[i], sizeof x[i], &d[i]));
		assert_ok(heddle_submit(p.rt, heddle_call(p.gate), heddle_rw(d[0]), heddle_value(p.at), heddle_on(1)));
		wait_for(&at.began, 1);
		for (int i = 1; i < 5; i++)
			assert_ok(heddle_submit(p.rt, heddle_call(p.count), heddle_rw(d[i]), heddle_value(p.at),
			                        heddle_on(1), heddle_in_group(g)));
		if (transfers) /* otherwise they may be under way */
			give_others_time();
		assert_int_equal(heddle_group_cancel(g), 4);
		assert_ok(heddle_selfcheck(p.rt));
		at.open = 1;
		assert_int_equal(heddle_group_wait(g), HEDDLE_E_CANCELLED);
		assert_ok(heddle_wait_all(p.rt));
		assert_int_equal(at.ran, 0);
		assert_ok(heddle_selfcheck(p.rt));
		heddle_group_free(g);
		assert_ok(heddle_stop(p.rt));
	}
}

static double ten(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	(void)class_id;
	return 10;
}

static void nothing_is_cancelled_in_virtual_time_that_has_begun(void **state)
{
	(void)state;
	heddle_runtime *rt = start_where("haswell-k40m");
	heddle_codelet *c = given(rt, "c", ten);
	heddle_group *g;
	assert_ok(heddle_group_create(rt, &g));
	for (int i = 0; i < 100; i++)
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_in_group(g)));
	int n = heddle_group_cancel(g);
	assert_true(n > 0 && n <= 100);
	assert_int_equal(heddle_group_wait(g), HEDDLE_E_CANCELLED);
	assert_int_equal(n_cancelled(rt), n);
	assert_ok(heddle_selfcheck(rt));
	heddle_group_free(g);
	assert_ok(heddle_stop(rt));
}

/* The one that runs may end, the others never see the buffer. */
static void leave_the_buffer_alone(enum heddle_mode mode)
{
	struct heddle_config config = small_config();
	struct gate at = {.open = 0};
	struct program p = begin(&config, &at);
	heddle_data *d;
	long *x = malloc(sizeof *x);
	*x = 1;
	assert_ok(heddle_variable(p.rt, x, sizeof *x, &d));
	assert_ok(heddle_submit(p.rt, heddle_call(p.gate), heddle_access(mode, d), heddle_value(p.at)));
	wait_for(&at.began, 1);
	for (int i = 0; i < 3; i++)
		assert_ok(heddle_submit(p.rt, heddle_call(p.count), heddle_rw(d), heddle_value(p.at)));
	assert_ok(heddle_submit(p.rt, heddle_call(p.count), heddle_w(d), heddle_value(p.at)));
	assert_ok(heddle_data_give_up(d));
	free(x); /* "gate" does not look at it any more */
	assert_ok(heddle_selfcheck(p.rt));
	at.open = 1;
	assert_int_equal(heddle_wait_all(p.rt), HEDDLE_E_CANCELLED);
	assert_says("was given up before the task began");
	assert_int_equal(at.ran, 0);
	assert_ok(heddle_selfcheck(p.rt));
	assert_ok(heddle_stop(p.rt));
}

static void data_that_are_given_up_leave_the_buffer_alone(void **state)
{
	(void)state;
	leave_the_buffer_alone(HEDDLE_RW);
	leave_the_buffer_alone(HEDDLE_R);
	leave_the_buffer_alone(HEDDLE_COMMUTE);
}

/* Neither heddle_data_give_up nor heddle_stop brings it back from an accelerator. */
static void a_value_that_is_given_up_stays_away(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	struct gate at = {.open = 1};
	config.n_cpu = 1;
	config.n_emulated = config.emulated_streams = 1;
	struct program p = begin(&config, &at);
	heddle_data *d;
	long *x = malloc(sizeof *x);
	*x = 1;
	assert_ok(heddle_variable(p.rt, x, sizeof *x, &d));
	assert_ok(heddle_submit(p.rt, heddle_call(p.write), heddle_rw(d), heddle_value(p.at), heddle_on(1)));
	assert_ok(heddle_wait_all(p.rt));
	assert_ok(heddle_data_give_up(d));
	assert_int_equal(*x, 1);
	free(x);
	assert_ok(heddle_selfcheck(p.rt));
	assert_ok(heddle_wait_all(p.rt));
	assert_ok(heddle_stop(p.rt));
}

static void what_is_not_the_programs_to_give_up_is_refused(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_data *d;
	double x[10];
	assert_ok(heddle_vector(rt, x, 10, sizeof *x, &d));
	assert_ok(heddle_acquire(d, HEDDLE_R));
	assert_int_equal(heddle_data_give_up(d), HEDDLE_E_STATE);
	assert_says("acquired");
	assert_ok(heddle_release(d));
	assert_ok(heddle_partition(d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .nx = 2}, NULL));
	assert_int_equal(heddle_data_give_up(heddle_child(d, 0)), HEDDLE_E_STATE);
	assert_int_equal(heddle_data_give_up(d), HEDDLE_E_STATE);
	assert_ok(heddle_unpartition(d));
	assert_ok(heddle_data_give_up(d));
	assert_int_equal(heddle_data_give_up(NULL), HEDDLE_E_INVALID);
	assert_int_equal(heddle_group_cancel(NULL), HEDDLE_E_INVALID);
	assert_int_equal(heddle_may_wait(NULL), HEDDLE_E_INVALID);
	assert_ok(heddle_stop(rt));
}

/* The thread has acquired what the tasks need: it could wait for ever. */
static void an_unregistration_that_can_never_end_gives_up(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	struct gate at = {.open = 1};
	for (int deep = 0; deep < 2; deep++) {
		struct program p = begin(&config, &at);
		heddle_data *held, *own;
		double y = 1, *x = calloc(10, sizeof *x);
		assert_ok(heddle_variable(p.rt, &y, sizeof y, &held));
		assert_ok(heddle_vector(p.rt, x, 10, sizeof *x, &own));
		assert_ok(heddle_data_set_name(own, "own"));
		assert_ok(heddle_acquire(held, HEDDLE_RW));
		if (deep)
			assert_ok(
			    heddle_partition(own, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .nx = 2}, NULL));
		assert_ok(heddle_submit(p.rt, heddle_call(p.count), heddle_rw(deep ? heddle_child(own, 1) : own),
		                        heddle_r(held), heddle_value(p.at)));
		if (deep)
			assert_ok(heddle_unpartition(own));
		assert_int_equal(heddle_unregister(own), HEDDLE_E_DEADLOCK);
		assert_says("own was given up");
		free(x);
		assert_ok(heddle_selfcheck(p.rt));
		assert_ok(heddle_release(held));
		assert_int_equal(heddle_wait_all(p.rt), HEDDLE_E_CANCELLED);
		assert_int_equal(at.ran, 0);
		assert_ok(heddle_selfcheck(p.rt));
		assert_ok(heddle_stop(p.rt));
	}
}

/* A kernel that waits for another one, which waits for a task that needs what the first one has. */
struct chain {
	heddle_runtime *rt;
	heddle_codelet *middle, *last;
	heddle_data *data;
	struct gate *at;
	int outer, inner;
};

static int wait_in_the_middle(heddle_context *c)
{
	struct chain *p = heddle_get(c, 0, struct chain *);
	heddle_group *g;
	if (heddle_group_create(p->rt, &g) ||
	    heddle_submit(p->rt, heddle_call(p->last), heddle_rw(p->data), heddle_value(p->at), heddle_in_group(g)))
		return 1;
	p->at->began = 1;
	p->inner = heddle_group_wait(g);
	int n = heddle_group_cancel(g);
	heddle_group_free(g);
	return n != 1;
}

static int wait_at_the_end(heddle_context *c)
{
	struct chain *p = heddle_get(c, 0, struct chain *);
	heddle_group *g;
	unsigned elsewhere = (unsigned)heddle_runtime_platform(p->rt)->n_workers - 1;
	if (heddle_group_create(p->rt, &g) ||
	    heddle_submit(p->rt, heddle_call(p->middle), heddle_value(p), heddle_in_group(g), heddle_on(elsewhere)))
		return 1;
	if (elsewhere) {
		wait_for(&p->at->began, 1);
		give_others_time(); /* so the other one sleeps already, and nobody but this one looks for a deadlock */
	}
	p->outer = heddle_group_wait(g);
	heddle_group_free(g);
	return 0;
}

static void last_of_kernels_that_wait_for_each_other_gets_the_deadlock(void **state)
{
	(void)state;
	for (int k = 0; k < 5; k++) {
		struct gate at = {.open = 0};
		struct chain chain = {.rt = start(), .at = &at}, *p = &chain;
		long x = 0;
		heddle_codelet *c = heddle_codelet_new(p->rt, .name = "outer", .cpu = wait_at_the_end);
		p->middle = heddle_codelet_new(p->rt, .name = "middle", .cpu = wait_in_the_middle);
		p->last = heddle_codelet_new(p->rt, .name = "last", .cpu = count_run);
		assert_ok(heddle_variable(p->rt, &x, sizeof x, &p->data));
		assert_ok(heddle_submit(p->rt, heddle_call(c), heddle_rw(p->data), heddle_value(p), heddle_on(0)));
		assert_int_equal(heddle_wait_all(p->rt), HEDDLE_E_CANCELLED); /* "last" */
		assert_int_equal(p->inner, HEDDLE_E_DEADLOCK);
		assert_int_equal(p->outer, 0);
		assert_int_equal(at.ran, 0);
		assert_ok(heddle_selfcheck(p->rt));
		assert_ok(heddle_stop(p->rt));
	}
}

/* Only a worker that the program drives no more could run it. */
static void a_task_of_a_retired_worker_is_cancelled(void **state)
{
	(void)state;
	for (int all = 0; all < 2; all++) {
		struct machine m = {.cpus = 2};
		heddle_data *d;
		unsigned first = 0;
		machine_start(&m);
		machine_data(&m, 1, &d);
		assert_ok(heddle_workers_drive(m.rt, &first, 1));
		WORK(&m, 10, heddle_rw(d), heddle_on(1));
		if (all)
			assert_int_equal(heddle_cancel_all(m.rt), 1);
		else
			assert_ok(heddle_data_give_up(d));
		assert_ok(heddle_selfcheck(m.rt));
		assert_int_equal(heddle_wait_all(m.rt), HEDDLE_E_CANCELLED);
		assert_ok(heddle_selfcheck(m.rt));
		assert_ok(heddle_stop(m.rt));
	}
}

/* Lets the machine go on for 10 us. */
static void go_on(const struct machine *m)
{
	heddle_task *t;
	WORK(m, 10, heddle_on(0), heddle_out(&t));
	assert_ok(heddle_task_wait(t));
	heddle_task_release(t);
}

static char small_buffer[UNIT], large_buffer[10 * UNIT]; /* nobody writes them: the machine is virtual */

/* A GPU writes the datum while it is given up. */
static void a_new_value_of_what_is_given_up_stays_away(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1};
	heddle_data *d;
	machine_start(&m);
	assert_ok(heddle_variable(m.rt, small_buffer, sizeof small_buffer, &d));
	WORK(&m, 1000, heddle_w(d), heddle_on(1));
	go_on(&m);
	assert_ok(heddle_data_give_up(d));
	assert_ok(heddle_selfcheck(m.rt));
	assert_ok(heddle_wait_all(m.rt));
	assert_int_equal(machine_stats(&m).bytes_moved, 0);
	assert_ok(heddle_selfcheck(m.rt));
	assert_ok(heddle_stop(m.rt));
}

/* The bus is busy with another datum. `awaited`: a task on the GPU waits for the copy that has not begun. */
static void leave_copies_undone(int awaited)
{
	struct machine m = {.cpus = 2, .gpus = 1};
	heddle_data *d, *large;
	machine_start(&m);
	assert_ok(heddle_variable(m.rt, small_buffer, sizeof small_buffer, &d));
	assert_ok(heddle_variable(m.rt, large_buffer, sizeof large_buffer, &large));
	WORK(&m, 1000, heddle_r(d), heddle_on(1)); /* a CPU: what is given up lives on until it ends */
	assert_ok(heddle_prefetch(large, 1));
	go_on(&m);
	if (awaited)
		WORK(&m, 10, heddle_r(d), heddle_on(2));
	else
		assert_ok(heddle_prefetch(d, 1));
	go_on(&m);
	assert_ok(heddle_data_give_up(d));
	assert_ok(heddle_selfcheck(m.rt));
	assert_int_equal(heddle_wait_all(m.rt), awaited ? HEDDLE_E_CANCELLED : 0);
	assert_int_equal(machine_stats(&m).bytes_moved, sizeof large_buffer);
	assert_ok(heddle_selfcheck(m.rt));
	assert_ok(heddle_stop(m.rt));
}

static void copies_that_have_not_begun_are_not_made(void **state)
{
	(void)state;
	leave_copies_undone(0);
	leave_copies_undone(1);
}

/* What moves already goes on, from a copy that counts no more. */
static void copies_under_way_end(void **state)
{
	(void)state;
	struct machine m = {.cpus = 2, .gpus = 1};
	heddle_data *large;
	machine_start(&m);
	assert_ok(heddle_variable(m.rt, large_buffer, sizeof large_buffer, &large));
	WORK(&m, 1000, heddle_r(large), heddle_on(1));
	assert_ok(heddle_prefetch(large, 1));
	go_on(&m);
	assert_ok(heddle_data_give_up(large));
	assert_ok(heddle_selfcheck(m.rt));
	for (int i = 0; i < 20; i++)
		go_on(&m);
	assert_ok(heddle_selfcheck(m.rt)); /* the reader has not ended */
	assert_int_equal(machine_stats(&m).bytes_moved, sizeof large_buffer);
	assert_ok(heddle_wait_all(m.rt));
	assert_ok(heddle_stop(m.rt));
}

static void *wait_for_all(void *arg)
{
	struct other *o = arg;
	o->status = heddle_wait_all(o->rt);
	return NULL;
}

/* A thread sleeps while another one holds a datum; when that gives it back, nothing can move any more. */
static void who_waits_in_vain_is_told_after_a_release(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.caller_works = 0;
	struct other o = {.rt = start_cpus(config, 2)};
	heddle_data *y;
	long x = 0;
	unsigned first = 0;
	pthread_t thread;
	heddle_codelet *c = heddle_codelet_new(o.rt, .name = "increment", .cpu = increment);
	assert_ok(heddle_variable(o.rt, &x, sizeof x, &y));
	assert_ok(heddle_workers_drive(o.rt, &first, 1));
	heddle_data *z;
	long of_task = 0;
	assert_ok(heddle_variable(o.rt, &of_task, sizeof of_task, &z));
	assert_ok(heddle_submit(o.rt, heddle_call(c), heddle_rw(z), heddle_on(1)));
	assert_ok(heddle_acquire(y, HEDDLE_RW));
	assert_int_equal(pthread_create(&thread, NULL, wait_for_all, &o), 0);
	give_others_time();
	assert_ok(heddle_release(y));
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(o.status, HEDDLE_E_DEADLOCK);
	assert_int_equal(heddle_cancel_all(o.rt), 1);
	assert_int_equal(heddle_wait_all(o.rt), HEDDLE_E_CANCELLED);
	assert_ok(heddle_stop(o.rt));
}

struct places {
	heddle_runtime *rt;
	int in_kernel, with_scratch, in_callback, unregistered, later;
};

static int ask_in_kernel(heddle_context *c)
{
	struct places *p = heddle_get(c, 0, struct places *);
	p->in_kernel = heddle_may_wait(p->rt);
	return 0;
}

/* A datum that tasks use, in a kernel that cannot wait: nothing has changed when it is told so. */
static int ask_with_scratch(heddle_context *c)
{
	struct places *p = heddle_get(c, 0, struct places *);
	long x = 1;
	heddle_data *d;
	p->with_scratch = heddle_may_wait(p->rt);
	if (heddle_variable(p->rt, &x, sizeof x, &d) || heddle_prefetch(d, 0))
		return 1;
	heddle_codelet *touch = heddle_codelet_new(p->rt, .name = "touch", .cpu = increment);
	if (heddle_submit(p->rt, heddle_call(touch), heddle_rw(d), heddle_on(heddle_context_worker(c))))
		return 2;
	p->unregistered = heddle_unregister(d);
	p->later = heddle_data_give_up(d);
	return 0;
}

static void ask_in_callback(void *arg, int status)
{
	struct places *p = arg;
	(void)status;
	p->in_callback = heddle_may_wait(p->rt);
}

static void a_kernel_learns_whether_it_may_wait(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	struct places places = {.rt = rt}, *p = &places;
	heddle_data *scratch;
	assert_ok(heddle_variable(rt, NULL, sizeof(long), &scratch));
	heddle_codelet *plain = heddle_codelet_new(rt, .name = "plain", .cpu = ask_in_kernel);
	heddle_codelet *private = heddle_codelet_new(rt, .name = "private", .cpu = ask_with_scratch);
	assert_ok(heddle_may_wait(rt));
	assert_ok(heddle_submit(rt, heddle_call(plain), heddle_value(p), heddle_then(ask_in_callback, p)));
	assert_ok(heddle_submit(rt, heddle_call(private), heddle_scratch(scratch), heddle_value(p)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_CANCELLED); /* "touch" */
	assert_int_equal(p->in_kernel, 0);
	assert_int_equal(p->in_callback, HEDDLE_E_STATE);
	assert_int_equal(p->with_scratch, HEDDLE_E_UNSUPPORTED);
	assert_int_equal(p->unregistered, HEDDLE_E_UNSUPPORTED);
	assert_int_equal(p->later, 0);
	assert_ok(heddle_stop(rt));
}

static int set_zero(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) = 0;
	return 0;
}

static int add_other(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) += *(const long *)heddle_ptr(c, 1);
	return 0;
}

/* A reduction of the datum is open. The kernel has SCRATCH data. */
static int unregister_reduced(heddle_context *c)
{
	struct other *o = heddle_get(c, 0, struct other *);
	o->status = heddle_unregister(o->data);
	return heddle_unregister_async(o->data);
}

static void a_reduction_is_something_to_wait_for(void **state)
{
	(void)state;
	struct other other = {.rt = start()}, *o = &other;
	heddle_data *scratch;
	heddle_task *t;
	heddle_codelet *zero = heddle_codelet_new(o->rt, .name = "zero", .cpu = set_zero);
	heddle_codelet *add = heddle_codelet_new(o->rt, .name = "add", .cpu = add_other);
	heddle_codelet *one = heddle_codelet_new(o->rt, .name = "one", .cpu = increment);
	heddle_codelet *c = heddle_codelet_new(o->rt, .name = "unregister", .cpu = unregister_reduced);
	assert_ok(heddle_variable(o->rt, &o->value, sizeof o->value, &o->data));
	assert_ok(heddle_variable(o->rt, NULL, sizeof(long), &scratch));
	assert_ok(heddle_data_set_reduction(o->data, zero, add));
	assert_ok(heddle_submit(o->rt, heddle_call(one), heddle_redux(o->data), heddle_out(&t)));
	assert_ok(heddle_task_wait(t));
	heddle_task_release(t);
	assert_ok(heddle_submit(o->rt, heddle_call(c), heddle_scratch(scratch), heddle_value(o), heddle_out(&t)));
	assert_ok(heddle_task_wait(t)); /* heddle_wait_all would end the reduction */
	heddle_task_release(t);
	assert_ok(heddle_wait_all(o->rt));
	assert_int_equal(o->status, HEDDLE_E_UNSUPPORTED); /* nothing had changed: the handle could be used further */
	assert_int_equal(o->value, 1);
	assert_ok(heddle_stop(o->rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tasks_of_a_cancelled_group_never_run),
	    cmocka_unit_test(tasks_staged_on_an_accelerator_never_run),
	    cmocka_unit_test(nothing_is_cancelled_in_virtual_time_that_has_begun),
	    cmocka_unit_test(data_that_are_given_up_leave_the_buffer_alone),
	    cmocka_unit_test(a_value_that_is_given_up_stays_away),
	    cmocka_unit_test(what_is_not_the_programs_to_give_up_is_refused),
	    cmocka_unit_test(an_unregistration_that_can_never_end_gives_up),
	    cmocka_unit_test(last_of_kernels_that_wait_for_each_other_gets_the_deadlock),
	    cmocka_unit_test(a_task_of_a_retired_worker_is_cancelled),
	    cmocka_unit_test(a_new_value_of_what_is_given_up_stays_away),
	    cmocka_unit_test(copies_that_have_not_begun_are_not_made),
	    cmocka_unit_test(copies_under_way_end),
	    cmocka_unit_test(who_waits_in_vain_is_told_after_a_release),
	    cmocka_unit_test(a_kernel_learns_whether_it_may_wait),
	    cmocka_unit_test(a_reduction_is_something_to_wait_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
