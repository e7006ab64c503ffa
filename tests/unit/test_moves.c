/* What acquire, release, partition and the pipeline of a worker move, and when: counted in virtual time. */
#include "internals.h"
#include "virtual_machine.h"

static uint64_t n_transfers(const struct machine *m)
{
	return machine_stats(m).transfers;
}

/* --- The program's own access ------------------------------------------------------------------------------------- */

/* To read, the newest value comes home and stays where it was. */
static void acquire_to_read_leaves_copies_good(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1};
	heddle_data *d;
	machine_start(&m);
	machine_data(&m, 1, &d);
	WORK(&m, 10, heddle_w(d));
	OK(heddle_acquire(d, HEDDLE_R));
	assert_true(heddle_now(m.rt) == 10 + HOP);
	assert_true(heddle_data_valid_on(d, 0) && heddle_data_valid_on(d, 1));
	OK(heddle_release(d));
	WORK(&m, 10, heddle_r(d));
	OK(heddle_acquire(d, HEDDLE_R));
	OK(heddle_release(d));
	OK(heddle_wait_all(m.rt));
	assert_int_equal(n_transfers(&m), 1);
	OK(heddle_stop(m.rt));
}

/* To write over it, nothing comes home; in both cases copies elsewhere are worth nothing, and give their room back. */
static void acquire_to_write_makes_copies_obsolete(void **state)
{
	(void)state;
	for (int over = 0; over <= 1; over++) {
		struct machine m = {.gpus = 1, .units = 4};
		heddle_data *d;
		machine_start(&m);
		machine_data(&m, 1, &d);
		WORK(&m, 10, heddle_w(d));
		OK(heddle_acquire(d, over ? HEDDLE_W : HEDDLE_RW));
		assert_int_equal(n_transfers(&m), over ? 0 : 1);
		OK(heddle_release(d)); /* not earlier: what is being written replaces the others when it is complete */
		assert_true(heddle_data_valid_on(d, 0) && !heddle_data_valid_on(d, 1));
		assert_int_equal(m.rt->memories[1].used, 0);
		WORK(&m, 10, heddle_r(d));
		OK(heddle_wait_all(m.rt));
		assert_int_equal(n_transfers(&m), over ? 1 : 2);
		OK(heddle_stop(m.rt));
	}
}

/* --- Parents and children ----------------------------------------------------------------------------------------- */

enum { N = 4, PIECE = UNIT / N };

static void open_parent(struct machine *m, heddle_data **parent)
{
	machine_start(m);
	OK(heddle_vector(m->rt, NULL, UNIT / 4, 4, parent));
}

static void split(heddle_data *parent)
{
	size_t n;
	OK(heddle_partition(parent, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .nx = N}, &n));
	assert_int_equal(n, N);
}

/* Where the parent is, the children are, too; only those that are needed elsewhere are moved, and come back when the
 * parent is needed again. */
static void children_are_moved_as_needed_and_come_together_where_most_are(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1};
	heddle_data *parent;
	open_parent(&m, &parent);
	WORK(&m, 10, heddle_w(parent), heddle_on(1));
	split(parent);
	heddle_data *child[N];
	for (size_t i = 0; i < N; i++)
		child[i] = heddle_child(parent, i);
	OK(heddle_wait_all(m.rt));
	assert_int_equal(n_transfers(&m), 0);
	WORK(&m, 10, heddle_rw(child[2]), heddle_on(0));
	OK(heddle_wait_all(m.rt));
	assert_int_equal(n_transfers(&m), 1);
	assert_int_equal(machine_stats(&m).bytes_moved, PIECE);
	assert_false(heddle_data_valid_on(parent, 1)); /* the children are written behind its back */
	WORK(&m, 10, heddle_rw(child[0]), heddle_on(1));
	WORK(&m, 10, heddle_r(child[1]), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	assert_int_equal(machine_stats(&m).bytes_moved, PIECE);
	OK(heddle_unpartition(parent));
	OK(heddle_wait_all(m.rt));
	assert_int_equal(machine_stats(&m).bytes_moved, 2 * PIECE);
	assert_true(heddle_data_valid_on(parent, 1) && !heddle_data_valid_on(parent, 0));
	WORK(&m, 10, heddle_r(parent), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	assert_int_equal(machine_stats(&m).bytes_moved, 2 * PIECE);
	OK(heddle_stop(m.rt));
}

/* Their room is given back with them. */
static void copies_of_children_go_with_them(void **state)
{
	(void)state;
	struct machine m = {.gpus = 1, .units = 4};
	heddle_data *parent;
	open_parent(&m, &parent);
	split(parent);
	for (size_t i = 0; i < N; i++)
		WORK(&m, 10, heddle_rw(heddle_child(parent, i)));
	OK(heddle_wait_all(m.rt));
	assert_int_equal(m.rt->memories[1].used, UNIT);
	OK(heddle_unpartition(parent));
	OK(heddle_wait_all(m.rt));
	assert_int_equal(m.rt->memories[1].used, 0);
	assert_int_equal(machine_stats(&m).evictions, 0);
	OK(heddle_stop(m.rt));
}

/* --- The pipeline of a worker ------------------------------------------------------------------------------------- */

/* With two tasks in flight the data of the second come while the first runs; with one, they come after it. */
static void pipeline_hides_transfers_behind_tasks(void **state)
{
	(void)state;
	for (unsigned pipeline = 1; pipeline <= 3; pipeline++) {
		struct machine m = {.gpus = 1, .pipeline = pipeline};
		heddle_data *d[3];
		machine_start(&m);
		machine_data(&m, 3, d);
		for (int i = 0; i < 3; i++)
			WORK(&m, 100, heddle_r(d[i]));
		struct heddle_trace *trace = machine_trace(&m);
		double gap = pipeline > 1 ? 0 : HOP;
		for (uint64_t i = 0; i < 3; i++) {
			const struct heddle_trace_task *t = task_of(trace, i);
			assert_true(t->start == HOP + (double)i * (100 + gap));
			assert_true(t->picked == (i < pipeline ? 0 : task_of(trace, i - pipeline)->end));
		}
		heddle_trace_free(trace);
		OK(heddle_stop(m.rt));
	}
}

/* Copies in the same direction follow each other; there and back at the same time do not disturb each other. */
static void directions_of_a_link_are_apart(void **state)
{
	(void)state;
	struct machine m = {.cpus = 2, .gpus = 1, .workers_per_gpu = 2};
	heddle_data *d[4];
	machine_start(&m);
	machine_data(&m, 4, d);
	WORK(&m, 10, heddle_w(d[0]), heddle_w(d[1]), heddle_on(2));
	OK(heddle_wait_all(m.rt));
	WORK(&m, 10, heddle_r(d[0]), heddle_on(0)); /* from the GPU */
	WORK(&m, 10, heddle_r(d[1]), heddle_on(1));
	WORK(&m, 10, heddle_r(d[2]), heddle_on(2)); /* to it */
	WORK(&m, 10, heddle_r(d[3]), heddle_on(3));
	struct heddle_trace *trace = machine_trace(&m);
	for (uint64_t i = 0; i < 4; i++)
		assert_true(task_of(trace, 1 + i)->start == 10 + (i % 2 ? 2 : 1) * HOP);
	heddle_trace_free(trace);
	OK(heddle_stop(m.rt));
}

/* --- At the same time --------------------------------------------------------------------------------------------- */

static unsigned ended[3], n_ended;

static void note_end(void *arg, int status)
{
	OK(status);
	ended[n_ended++] = *(unsigned *)arg;
}

/* Three copies set out together, and the first is shorter. When it has arrived the order of the others is still the one
 * in which they set out: they arrive at the same time, and the task that waits for the second begins first, and so ends
 * first. */
static void copies_that_arrive_together_arrive_in_the_order_they_set_out(void **state)
{
	(void)state;
	struct machine m = {.gpus = 3};
	unsigned number[3] = {0, 1, 2};
	heddle_data *d[3];
	machine_start(&m);
	n_ended = 0;
	OK(heddle_variable(m.rt, NULL, UNIT / 2, &d[0]));
	machine_data(&m, 2, d + 1);
	for (unsigned i = 0; i < 3; i++)
		WORK(&m, 10, heddle_r(d[i]), heddle_on(i), heddle_then(note_end, &number[i]));
	struct heddle_trace *trace = machine_trace(&m);
	assert_true(task_of(trace, 0)->start == HOP - 5);
	assert_true(task_of(trace, 1)->start == HOP && task_of(trace, 2)->start == HOP);
	assert_int_equal(n_ended, 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(ended[i], i);
	heddle_trace_free(trace);
	OK(heddle_stop(m.rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(acquire_to_read_leaves_copies_good),
	    cmocka_unit_test(acquire_to_write_makes_copies_obsolete),
	    cmocka_unit_test(children_are_moved_as_needed_and_come_together_where_most_are),
	    cmocka_unit_test(copies_of_children_go_with_them),
	    cmocka_unit_test(pipeline_hides_transfers_behind_tasks),
	    cmocka_unit_test(directions_of_a_link_are_apart),
	    cmocka_unit_test(copies_that_arrive_together_arrive_in_the_order_they_set_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
