/* Hierarchical tasks: how they are expanded, ordered, and end. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include "base/base.h"
#include "hierarchy.h"

/* --- A datum whose value says in which order its tasks ran -------------------------------------------------------- */

/* A chain is a number in base 4, the first task in the lowest digit: bit 0 says whether the task writes, bit 1 whether
 * it is hierarchical. A writer appends its number to the datum; a reader notes the value. */
enum { MOST = 5 };
static long seen[2 * MOST];

static int note_value(heddle_context *c)
{
	seen[heddle_get(c, 0, int)] = *(const long *)heddle_ptr(c, 0);
	return 0;
}

static struct codelets {
	heddle_codelet *write, *read, *write_h, *read_h;
} codelets;

/* A hierarchical task writes, or reads, twice. */
static int write_twice(heddle_context *c)
{
	heddle_runtime *rt = heddle_context_runtime(c);
	heddle_data *d = heddle_context_data(c, 0);
	int number = heddle_get(c, 0, int);
	assert_null(heddle_ptr(c, 0));
	for (int i = 0; i < 2; i++)
		heddle_submit(rt, heddle_call(codelets.write), heddle_rw(d), heddle_value(number));
	return 0;
}

static int read_twice(heddle_context *c)
{
	heddle_runtime *rt = heddle_context_runtime(c);
	heddle_data *d = heddle_context_data(c, 0);
	int number = heddle_get(c, 0, int);
	for (int i = 0; i < 2; i++, number += MOST)
		heddle_submit(rt, heddle_call(codelets.read), heddle_r(d), heddle_value(number));
	return 0;
}

static void make_codelets(heddle_runtime *rt)
{
	codelets = (struct codelets){
	    .write = heddle_codelet_new(rt, .name = "write", .cpu = append_digit),
	    .read = heddle_codelet_new(rt, .name = "read", .cpu = note_value),
	    .write_h = heddle_codelet_new(rt, .name = "write_h", .subgraph = write_twice),
	    .read_h = heddle_codelet_new(rt, .name = "read_h", .subgraph = read_twice),
	};
}

static void submit_step(heddle_runtime *rt, heddle_data *d, int step, int number)
{
	int writes = step & 1, hierarchical = step & 2;
	heddle_codelet *c = hierarchical ? writes ? codelets.write_h : codelets.read_h
	                    : writes     ? codelets.write
	                                 : codelets.read;
	assert_ok(heddle_submit(rt, heddle_call(c), writes ? heddle_rw(d) : heddle_r(d), heddle_value(number)));
}

/* What the chain leaves when it is run in order. */
static long run_chain(unsigned chain, int length, long values[])
{
	long x = 0;
	memset(values, 0xff, 2 * MOST * sizeof *values);
	for (int i = 0; i < length; i++, chain >>= 2) {
		int twice = (chain & 2) != 0;
		if (chain & 1)
			x = twice ? 100 * x + 11 * i : 10 * x + i;
		else
			values[i] = x;
		if (!(chain & 1) && twice)
			values[i + MOST] = x;
	}
	return x;
}

static void check_chain(heddle_runtime *rt, unsigned chain, int length)
{
	heddle_data *d;
	long x = 0, expected[2 * MOST];
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	memset(seen, 0xff, sizeof seen);
	for (int i = 0; i < length; i++)
		submit_step(rt, d, (int)(chain >> 2 * i & 3), i);
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_wait_all(rt));
	long value = run_chain(chain, length, expected);
	if (x != value || memcmp(seen, expected, sizeof seen) != 0)
		fail_msg("chain %x of %d tasks: %ld instead of %ld", chain, length, x, value);
}

static void check_all_chains(heddle_runtime *rt)
{
	make_codelets(rt);
	for (int length = 1; length <= MOST; length++)
		for (unsigned chain = 0; chain < 1U << 2 * length; chain++)
			check_chain(rt, chain, length);
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_stop(rt));
}

static void all_chains_keep_the_order_with_one_worker(void **state)
{
	(void)state;
	check_all_chains(start_hierarchy(1, 0));
}

static void all_chains_keep_the_order_with_several_workers(void **state)
{
	(void)state;
	check_all_chains(start_hierarchy(4, 0));
}

static void all_chains_keep_the_order_in_a_small_window(void **state)
{
	(void)state;
	check_all_chains(start_hierarchy(2, 2));
}

/* --- Recursion ---------------------------------------------------------------------------------------------------- */

static int add(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) = *(const long *)heddle_ptr(c, 1) + *(const long *)heddle_ptr(c, 2);
	return 0;
}

static int leaf(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) = heddle_get(c, 0, int);
	return 0;
}

static heddle_codelet *fib_codelet, *add_codelet, *leaf_codelet;

/* Whether no call has left another message than the one before it: those that end well leave none, also where they name
 * a datum that was unregistered behind the task. */
static int is_silent(heddle_context *c)
{
	int silent = strcmp(heddle_last_error(), "said before") == 0;
	if (!silent)
		heddle_fail(c, 1, "a call that succeeded has said: %s", heddle_last_error());
	return silent;
}

static int fib(heddle_context *c)
{
	heddle_runtime *rt = heddle_context_runtime(c);
	heddle_data *out = heddle_context_data(c, 0), *x, *y;
	int n = heddle_get(c, 0, int), one = n - 1, two = n - 2;
	heddle_error(0, "said before");
	if (n < 2)
		return heddle_submit(rt, heddle_call(leaf_codelet), heddle_w(out), heddle_value(n)) || !is_silent(c);
	if (heddle_variable(rt, NULL, sizeof(long), &x) || heddle_variable(rt, NULL, sizeof(long), &y))
		return 1;
	heddle_submit(rt, heddle_call(fib_codelet), heddle_w(x), heddle_value(one));
	heddle_submit(rt, heddle_call(fib_codelet), heddle_w(y), heddle_value(two));
	heddle_submit(rt, heddle_call(add_codelet), heddle_w(out), heddle_r(x), heddle_r(y));
	return heddle_unregister_async(x) || heddle_unregister_async(y) || !is_silent(c);
}

static void recurse(heddle_runtime *rt, int n, long expected)
{
	long result = -1;
	heddle_data *d;
	fib_codelet = heddle_codelet_new(rt, .name = "fib", .subgraph = fib);
	add_codelet = heddle_codelet_new(rt, .name = "add", .cpu = add);
	leaf_codelet = heddle_codelet_new(rt, .name = "leaf", .cpu = leaf);
	assert_ok(heddle_variable(rt, &result, sizeof result, &d));
	assert_ok(heddle_submit(rt, heddle_call(fib_codelet), heddle_w(d), heddle_value(n)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_unregister(d));
	assert_int_equal(result, expected);
	assert_ok(heddle_stop(rt));
}

static void a_recursion_fits_into_a_window_of_four_tasks(void **state)
{
	(void)state;
	recurse(start_hierarchy(1, 4), 10, 55);
	recurse(start_hierarchy(4, 4), 10, 55);
}

/* --- Decisions ---------------------------------------------------------------------------------------------------- */

static int by_priority(const heddle_task *t, void *arg)
{
	++*(int *)arg;
	return heddle_task_priority(t);
}

static int add_one(heddle_context *c)
{
	++*(long *)heddle_ptr(c, 0);
	return 0;
}

static heddle_codelet *plain;

static int add_value_of(heddle_context *c, int n)
{
	for (int i = 0; i < n; i++)
		if (heddle_submit(heddle_context_runtime(c), heddle_call(plain), heddle_rw(heddle_context_data(c, 0))))
			return 1;
	return 0;
}

static int add_ten(heddle_context *c)
{
	return add_value_of(c, 10);
}

static int add_hundred(heddle_context *c)
{
	return add_value_of(c, 100);
}

static const struct heddle_subgraph sums[] = {{"ten", add_ten}, {"hundred", add_hundred}};

static long sum_of(heddle_runtime *rt, heddle_codelet *c, int first, int last)
{
	heddle_data *d;
	long x = 0;
	assert_non_null(plain = heddle_codelet_new(rt, .name = "plain", .cpu = add_one));
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	for (int choice = first; choice <= last; choice++)
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_priority(choice)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_unregister(d));
	return x;
}

static void the_codelet_decides(void **state)
{
	(void)state;
	for (int early = 0; early < 2; early++) {
		heddle_runtime *rt = start();
		struct heddle_stats stats;
		int asked = 0;
		heddle_codelet *c =
		    heddle_codelet_new(rt, .name = "sum", .cpu = add_one, .subgraphs = sums, .n_subgraphs = 2,
		                       .expand = by_priority, .expand_arg = &asked, .expand_at_submission = early);
		assert_int_equal(sum_of(rt, c, 0, 2), 111);
		assert_int_equal(asked, 3);
		assert_ok(heddle_runtime_stats(rt, &stats));
		assert_int_equal(stats.tasks_expanded, 2);
		assert_int_equal(stats.tasks_executed, 111);
		assert_int_equal(stats.tasks_submitted, 113);
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_priority(3)));
		assert_int_equal(heddle_wait_all(rt), HEDDLE_E_INVALID);
		assert_says("`expand` returned 3");
		assert_ok(heddle_stop(rt));
	}
}

static void the_setting_decides(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	for (int never = 0; never < 2; never++) {
		config.expand = never ? "never" : "always";
		heddle_runtime *rt = start_with(&config);
		heddle_codelet *c = heddle_codelet_new(rt, .name = "sum", .cpu = add_one, .subgraph = add_ten);
		assert_int_equal(sum_of(rt, c, 0, 2), never ? 3 : 30);
		c = heddle_codelet_new(rt, .name = "no kernel", .subgraph = add_ten);
		assert_int_equal(sum_of(rt, c, 0, 2), 30);
		assert_ok(heddle_stop(rt));
	}
	config.expand = "sometimes";
	heddle_runtime *rt;
	assert_int_equal(heddle_start(&config, &rt), HEDDLE_E_INVALID);
	assert_says("sometimes");
}

/* --- Many at once ------------------------------------------------------------------------------------------------- */

enum { AT_ONCE = 16, EACH = 200 };

static int submit_many(heddle_context *c)
{
	heddle_runtime *rt = heddle_context_runtime(c);
	heddle_data *d = heddle_context_data(c, 0), *own;
	if (heddle_variable(rt, NULL, sizeof(long), &own))
		return 1;
	heddle_submit(rt, heddle_call(leaf_codelet), heddle_w(own), heddle_value((int){0}));
	for (int i = 0; i < EACH; i++) {
		heddle_submit(rt, heddle_call(plain), heddle_rw(d));
		heddle_submit(rt, heddle_call(plain), heddle_rw(own));
	}
	heddle_submit(rt, heddle_call(add_codelet), heddle_rw(d), heddle_r(d), heddle_r(own));
	return heddle_unregister_async(own);
}

static void many_sub_graphs_are_submitted_at_once(void **state)
{
	(void)state;
	heddle_runtime *rt = start_hierarchy(AT_ONCE, 0);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "many", .subgraph = submit_many);
	heddle_data *d[AT_ONCE];
	long x[AT_ONCE] = {0};
	plain = heddle_codelet_new(rt, .name = "plain", .cpu = add_one);
	leaf_codelet = heddle_codelet_new(rt, .name = "leaf", .cpu = leaf);
	add_codelet = heddle_codelet_new(rt, .name = "add", .cpu = add);
	for (int i = 0; i < AT_ONCE; i++) {
		assert_ok(heddle_variable(rt, &x[i], sizeof x[i], &d[i]));
		assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d[i])));
		assert_ok(heddle_submit(rt, heddle_call(plain), heddle_rw(d[i])));
	}
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_wait_all(rt));
	for (int i = 0; i < AT_ONCE; i++) {
		assert_ok(heddle_unregister(d[i]));
		assert_int_equal(x[i], 2 * EACH + 1);
	}
	assert_ok(heddle_stop(rt));
}

static heddle_codelet *part_codelet;
enum { PARTS = 1000 };

static int read_once(heddle_context *c)
{
	return heddle_submit(heddle_context_runtime(c), heddle_call(plain), heddle_r(heddle_context_data(c, 0)));
}

static int submit_parts(heddle_context *c)
{
	int status = 0;
	for (int i = 0; i < PARTS && !status; i++)
		status = heddle_submit(heddle_context_runtime(c), heddle_call(part_codelet),
		                       heddle_r(heddle_context_data(c, 0)));
	return status;
}

/* While one thread submits a sub-graph, others decide about the tasks that it has already. */
static void tasks_are_decided_about_while_their_sub_graph_grows(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	struct heddle_stats stats;
	config.expand = "adaptive";
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "growing", .subgraph = submit_parts);
	heddle_data *d;
	long x = 0;
	plain = heddle_codelet_new(rt, .name = "plain", .cpu = nothing);
	part_codelet = heddle_codelet_new(rt, .name = "part", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN,
	                                  .time = ten_us, .subgraph = read_once);
	assert_ok(heddle_variable(rt, &x, sizeof x, &d));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_r(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_int_equal(stats.tasks_executed, PARTS);
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

/* --- Virtual time ------------------------------------------------------------------------------------------------- */

static double each_ten_us(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	(void)class_id;
	return 10;
}

static double virtual_makespan(double expand_cost, double submit_cost)
{
	static const char machine[] =
	    "version: 1\nname: test\nnodes:\n- {name: ram}\nclasses:\n- {name: cpu, kind: cpu}\n"
	    "workers:\n- {name: core, class: cpu, node: ram, count: 2}\n";
	struct heddle_config config = small_config();
	struct heddle_stats stats;
	config.n_cpu = -1;
	config.virtual_time.expand_cost = expand_cost;
	config.virtual_time.submit_cost = submit_cost;
	heddle_runtime *rt = start_on(&config, machine);
	plain =
	    heddle_codelet_new(rt, .name = "plain", .cpu = nothing, .model = HEDDLE_MODEL_GIVEN, .time = each_ten_us);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "sum", .subgraph = add_ten);
	heddle_data *d;
	assert_ok(heddle_variable(rt, NULL, sizeof(long), &d));
	assert_ok(heddle_submit(rt, heddle_call(c), heddle_rw(d)));
	assert_ok(heddle_submit(rt, heddle_call(plain), heddle_rw(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_ok(heddle_stop(rt));
	return stats.last_end;
}

static void expansions_take_virtual_time(void **state)
{
	(void)state;
	assert_float_equal(virtual_makespan(0, 0), 110, 1e-9);
	assert_float_equal(virtual_makespan(5, 0), 115, 1e-9);
	assert_float_equal(virtual_makespan(5, 0.5), 120, 1e-9);
}

static int note_expanded(heddle_context *c)
{
	atomic_fetch_add(heddle_get(c, 0, atomic_int *), 1);
	return 0;
}

/* The codelet has no kernel, so no worker can run its tasks; but all can expand them, and they sleep. The program waits
 * without Heddle, so nobody else looks for what has been submitted. */
static void workers_that_sleep_expand_what_none_can_run(void **state)
{
	(void)state;
	heddle_runtime *rt = start_hierarchy(2, 0);
	heddle_codelet *outer = heddle_codelet_new(rt, .name = "outer", .subgraph = note_expanded);
	atomic_int n = 0; /* pairs: the loop sees what note_expanded has counted, in any order */
	for (int i = 1; i <= 20; i++) {
		assert_ok(heddle_submit(rt, heddle_call(outer), heddle_value((atomic_int *){&n})));
		double begin = hd_clock_us();
		while (atomic_load(&n) < i && hd_clock_us() - begin < 30e6)
			sched_yield();
		assert_int_equal(atomic_load(&n), i);
		assert_ok(heddle_wait_all(rt));
	}
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_chains_keep_the_order_with_one_worker),
	    cmocka_unit_test(all_chains_keep_the_order_with_several_workers),
	    cmocka_unit_test(all_chains_keep_the_order_in_a_small_window),
	    cmocka_unit_test(a_recursion_fits_into_a_window_of_four_tasks),
	    cmocka_unit_test(the_codelet_decides),
	    cmocka_unit_test(the_setting_decides),
	    cmocka_unit_test(many_sub_graphs_are_submitted_at_once),
	    cmocka_unit_test(tasks_are_decided_about_while_their_sub_graph_grows),
	    cmocka_unit_test(expansions_take_virtual_time),
	    cmocka_unit_test(workers_that_sleep_expand_what_none_can_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
