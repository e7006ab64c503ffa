/* Chains of trees of data: who may go on when tasks name a datum, children of its plans, or are hierarchical. The tests
 * drive the chains themselves: they say when a task ends, and when a hierarchical one submits its next sub-task. */
#include <stdio.h>
#include "internals.h"
#include "../chance.h"
#include "../sanitized.h"
#include "program.h"

/* --- A tree, and tasks on it -------------------------------------------------------------------------------------- */

/* The datum has two plans, P and Q, of two children each; the first child of P has a plan of two children. */
enum { ROOT, P0, P1, Q0, Q1, R0, R1, HANDLES };

struct tree {
	heddle_runtime *rt;
	double x[8];
	heddle_data *handle[HANDLES];
};

static void plan(heddle_data *d, heddle_data **children)
{
	heddle_plan *plan;
	assert_ok(heddle_plan_create(d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .nx = 2}, &plan));
	for (size_t i = 0; i < 2; i++)
		children[i] = heddle_plan_child(plan, i);
}

static void open_tree(struct tree *t)
{
	struct heddle_config config = small_config();
	memset(t, 0, sizeof *t);
	config.n_cpu = 1;
	t->rt = start_with(&config);
	assert_ok(heddle_vector(t->rt, t->x, 8, sizeof *t->x, &t->handle[ROOT]));
	plan(t->handle[ROOT], &t->handle[P0]);
	plan(t->handle[ROOT], &t->handle[Q0]);
	plan(t->handle[P0], &t->handle[R0]);
}

static void close_tree(struct tree *t)
{
	assert_ok(heddle_wait_all(t->rt));
	assert_ok(heddle_selfcheck(t->rt));
	assert_ok(heddle_stop(t->rt));
}

static int parent_of(int h)
{
	return h == ROOT ? -1 : h == R0 || h == R1 ? P0 : ROOT;
}

static int lies_above(int x, int y)
{
	while (y >= 0 && y != x)
		y = parent_of(y);
	return y == x;
}

static int plan_of(int h)
{
	return h == P0 || h == P1 ? 1 : 2;
}

/* Whether tasks on the two handles exclude each other if one of them changes its handle: they share elements or, below
 * two plans, are taken to do so. */
static int excludes(int x, int y)
{
	if (lies_above(x, y) || lies_above(y, x))
		return 1;
	x = x >= R0 ? P0 : x;
	y = y >= R0 ? P0 : y;
	return x != y && plan_of(x) != plan_of(y);
}

/* --- Programs ----------------------------------------------------------------------------------------------------- */

/* What the program submits, or a hierarchical task. */
struct part {
	int handle, writes;
	const struct part *sub; /* of a hierarchical task: NULL: an ordinary one */
	int n_sub;
};

enum stage { AHEAD, WAITS, RUNS, ENDED };

/* A part that was submitted. */
struct item {
	const struct part *part;
	struct item *outer;
	heddle_task *task;
	double place; /* in sequential order */
	enum stage stage;
	int submitted; /* how many of its sub-tasks are */
	int whole;     /* it runs as an ordinary task */
};

enum { MAX_ITEMS = 64 };
struct run {
	struct tree *tree;
	struct item items[MAX_ITEMS];
	int n, n_ended;
	struct hd_rng *rng;
};

static struct item *item_of(struct run *r, const heddle_task *t)
{
	for (int i = 0; i < r->n; i++)
		if (r->items[i].task == t)
			return &r->items[i];
	fail_msg("a task that nobody has submitted is ready");
	return NULL;
}

/* Steps of layouts run at once; the tasks of the test wait until it ends them. They are in the state of what the
 * program has acquired. */
static void collect_ready(struct run *r)
{
	heddle_runtime *rt = r->tree->rt;
	while (rt->dispatch.controls.first) {
		heddle_task *t = hd_queue_pop(&rt->dispatch.controls);
		if (t->kind != HD_TASK_SYNC) {
			hd_control_run(rt, t);
			continue;
		}
		item_of(r, t)->stage = RUNS;
		hd_set_state(t, HD_STAGED);
		rt->count.held++;
	}
}

static void submit(struct run *r, const struct part *part, struct item *outer, double place)
{
	assert_true(r->n < MAX_ITEMS);
	struct item *item = &r->items[r->n++];
	heddle_task *t = hd_control_make(r->tree->rt, HD_TASK_SYNC, 1);
	*item = (struct item){.part = part, .outer = outer, .task = t, .place = place, .stage = WAITS};
	hd_task_set_access(t, 0, r->tree->handle[part->handle], part->writes ? HEDDLE_RW : HEDDLE_R);
	if (part->sub)
		t->accesses[0].flags |= HD_ACCESS_MARKER;
	if (outer) {
		t->special |= HD_TASK_INSIDE | HD_TASK_COVERED;
		hd_task_inside_of(t)->task = outer->task; /* there is room: tasks take whole cache lines */
		t->accesses[0].n_preds = 1;               /* covered by the first access of that one */
	}
	hd_core_insert(r->tree->rt, t);
	/* The chains need it no more; flow/expand.c, not this test, counts the tasks of sub-graphs. */
	t->special &= (uint16_t) ~(HD_TASK_INSIDE | HD_TASK_COVERED);
	collect_ready(r);
}

/* Whether `first`, which comes earlier in sequential order, must have ended before the other may run. */
static int must_end(const struct item *first, const struct item *then)
{
	for (const struct item *o = first->outer; o; o = o->outer)
		if (o == then)
			return 0;
	return first->place < then->place && (first->part->writes || then->part->writes) &&
	       excludes(first->part->handle, then->part->handle);
}

static void check_order(struct run *r)
{
	for (int i = 0; i < r->n; i++) {
		const struct item *y = &r->items[i], *first = NULL;
		if (y->stage != RUNS || (y->part->sub && !y->whole))
			continue;
		for (int k = 0; k < r->n; k++)
			if (r->items[k].stage < ENDED && must_end(&r->items[k], y))
				first = &r->items[k];
		if (first)
			fail_msg("the task at %g runs, although the one at %g has not ended", y->place, first->place);
	}
}

/* The first task that waits, in sequential order, has a reason to. */
static void check_progress(struct run *r)
{
	const struct item *y = NULL;
	for (int i = 0; i < r->n; i++)
		if (r->items[i].stage == WAITS && (!y || r->items[i].place < y->place))
			y = &r->items[i];
	for (int k = 0; y && k < r->n; k++) {
		const struct item *x = &r->items[k];
		if (x->stage == RUNS && x->place < y->place && excludes(x->part->handle, y->part->handle) &&
		    (x->part->writes || y->part->writes))
			return;
	}
	if (y)
		fail_msg("the task at %g waits for nothing", y->place);
}

/* Ends a task, or makes a hierarchical one go on. */
static void go_on(struct run *r, struct item *item)
{
	heddle_runtime *rt = r->tree->rt;
	const struct part *part = item->part;
	if (part->sub && !item->whole && !item->submitted && r->rng && hd_rng_uniform(r->rng) < 0.2) {
		item->whole = 1;
		item->stage = WAITS;
		rt->count.held--;
		hd_set_state(item->task, HD_WAITING);
		hd_chain_resolve(item->task);
	} else if (part->sub && !item->whole && item->submitted < part->n_sub) {
		int k = item->submitted++;
		double step = (item->outer ? 0.001 : 0.1) * (k + 1);
		submit(r, &part->sub[k], item, item->place + step - (item->outer ? 0.01 : 1));
	} else {
		item->stage = ENDED;
		r->n_ended++;
		rt->count.held--;
		heddle_task *t = item->task;
		item->task = NULL; /* its memory may be another task's soon */
		hd_core_end(rt, t, 0);
	}
	collect_ready(r);
}

static struct item *choose(struct run *r, int newest)
{
	struct item *found = NULL;
	int n = 0;
	for (int i = 0; i < r->n; i++) {
		struct item *item = &r->items[i];
		if (item->stage != RUNS)
			continue;
		n++;
		if (!found || newest || (r->rng && below(r->rng, (unsigned)n) == 0))
			found = item;
	}
	return found;
}

static void run_all(struct run *r, int newest)
{
	for (struct item *item; (item = choose(r, newest));) {
		go_on(r, item);
		check_order(r);
		check_progress(r);
		assert_ok(hd_selfcheck(r->tree->rt));
	}
	assert_int_equal(r->n_ended, r->n);
}

/* Submits the parts, then lets all of them run in one of three orders. */
static void run_parts(struct tree *tree, const struct part *parts, int n, int order, struct hd_rng *rng)
{
	static struct run r;
	memset(&r, 0, sizeof r);
	r.tree = tree;
	r.rng = order == 2 ? rng : NULL;
	hd_core_enter(tree->rt);
	for (int i = 0; i < n; i++) {
		submit(&r, &parts[i], NULL, 10 * i + 10);
		check_order(&r);
		if (r.rng && below(rng, 3) == 0)
			go_on(&r, choose(&r, 0));
	}
	run_all(&r, order == 1);
	hd_core_leave(tree->rt);
}

/* --- Tests -------------------------------------------------------------------------------------------------------- */

/* What hierarchical tasks submit. */
static const struct part write_r[] = {{R0, 1, NULL, 0}, {R1, 1, NULL, 0}, {P0, 0, NULL, 0}};
static const struct part read_r[] = {{R0, 0, NULL, 0}, {P0, 0, NULL, 0}};
static const struct part write_p1[] = {{P1, 1, NULL, 0}};
static const struct part read_p1[] = {{P1, 0, NULL, 0}};
static const struct part write_q[] = {{Q0, 0, NULL, 0}, {Q0, 1, NULL, 0}};
static const struct part read_q[] = {{Q0, 0, NULL, 0}};
static const struct part write_root[] = {{P1, 1, NULL, 0}, {P0, 1, write_r, 3}, {Q0, 0, NULL, 0}, {P0, 0, read_r, 2}};
static const struct part read_root[] = {{Q0, 0, NULL, 0}, {P0, 0, read_r, 2}, {ROOT, 0, NULL, 0}};
#define PARTS(a) a, (int)(sizeof a / sizeof *a)

/* The letters of which programs are made. */
static const struct part letters[] = {
    {ROOT, 0, NULL, 0},
    {ROOT, 1, NULL, 0},
    {P0, 0, NULL, 0},
    {P1, 1, NULL, 0},
    {Q0, 0, NULL, 0},
    {Q0, 1, NULL, 0},
    {ROOT, 0, PARTS(read_root)},
    {ROOT, 1, PARTS(write_root)},
    {P0, 0, PARTS(read_r)},
    {P0, 1, PARTS(write_r)},
    {Q0, 0, PARTS(read_q)},
    {Q0, 1, PARTS(write_q)},
    {P1, 0, PARTS(read_p1)},
    {P1, 1, PARTS(write_p1)},
};
enum { LETTERS = sizeof letters / sizeof *letters };

/* Every program of a few tasks, ordinary and hierarchical, reading and writing, of the datum and of children of two
 * plans: no two tasks that conflict change their order, and none waits without a reason. */
static void all_short_programs_run_in_order(void **state)
{
	(void)state;
	enum { LONGEST = SANITIZED ? 3 : 4 };
	struct tree tree;
	struct hd_rng rng;
	hd_rng_seed(&rng, 1);
	open_tree(&tree);
	struct part program[LONGEST];
	for (int n = 1, words = LETTERS; n <= LONGEST; n++, words *= LETTERS)
		for (int word = 0; word < words; word++)
			for (int order = 0; order < 3; order++) {
				for (int i = 0, w = word; i < n; i++, w /= LETTERS)
					program[i] = letters[w % LETTERS];
				run_parts(&tree, program, n, order, &rng);
			}
	close_tree(&tree);
}

/* Longer ones, drawn at random. */
static void long_programs_run_in_order(void **state)
{
	(void)state;
	enum { LENGTH = 7, PROGRAMS = 2000 };
	struct tree tree;
	struct hd_rng rng;
	hd_rng_seed(&rng, 2);
	open_tree(&tree);
	struct part program[LENGTH];
	for (int k = 0; k < PROGRAMS; k++) {
		for (int i = 0; i < LENGTH; i++)
			program[i] = letters[below(&rng, LETTERS)];
		run_parts(&tree, program, LENGTH, k % 3, &rng);
	}
	close_tree(&tree);
}

/* How many of the tasks run before any has ended. */
static int count_running(struct tree *tree, const struct part *parts, int n)
{
	static struct run r;
	int running = 0;
	memset(&r, 0, sizeof r);
	r.tree = tree;
	hd_core_enter(tree->rt);
	for (int i = 0; i < n; i++)
		submit(&r, &parts[i], NULL, 10 * i + 10);
	for (int i = 0; i < r.n; i++)
		running += r.items[i].stage == RUNS;
	run_all(&r, 0);
	hd_core_leave(tree->rt);
	return running;
}

static void tasks_without_conflicts_run_together(void **state)
{
	(void)state;
	struct tree tree;
	open_tree(&tree);
	const struct part readers[] = {
	    {ROOT, 0, NULL, 0}, {P0, 0, NULL, 0}, {Q1, 0, NULL, 0}, {R1, 0, NULL, 0}, {ROOT, 0, PARTS(read_root)}};
	assert_int_equal(count_running(&tree, readers, 5), 5);
	const struct part writers[] = {{P1, 1, NULL, 0}, {R0, 1, NULL, 0}, {R1, 1, NULL, 0}};
	assert_int_equal(count_running(&tree, writers, 3), 3);
	const struct part siblings[] = {{P1, 1, NULL, 0}, {P0, 0, NULL, 0}, {R0, 0, NULL, 0}};
	assert_int_equal(count_running(&tree, siblings, 3), 3);
	const struct part two_plans[] = {{P0, 1, NULL, 0}, {Q1, 0, NULL, 0}, {P1, 1, NULL, 0}};
	assert_int_equal(count_running(&tree, two_plans, 3), 1);
	const struct part hierarchical[] = {{P0, 1, PARTS(write_r)}, {P1, 1, PARTS(write_p1)}};
	assert_int_equal(count_running(&tree, hierarchical, 2), 2);
	const struct part behind_one[] = {{ROOT, 1, NULL, 0}, {ROOT, 0, PARTS(read_root)}};
	assert_int_equal(count_running(&tree, behind_one, 2), 1);
	const struct part behind_each_other[] = {{ROOT, 0, PARTS(read_root)}, {ROOT, 1, PARTS(write_root)}};
	assert_int_equal(count_running(&tree, behind_each_other, 2), 1);
	close_tree(&tree);
}

static void task_that_would_wait_for_itself_is_refused(void **state)
{
	(void)state;
	struct tree t;
	open_tree(&t);
	const struct {
		int x, y, refused;
	} pairs[] = {{ROOT, P0, 1}, {R0, ROOT, 1}, {P0, Q1, 1}, {R1, Q0, 1}, {P0, P1, 0}, {R0, R1, 0}, {P1, R0, 0}};
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		int status = heddle_submit(t.rt, heddle_rw(t.handle[pairs[i].x]), heddle_r(t.handle[pairs[i].y]));
		assert_int_equal(status, pairs[i].refused ? HEDDLE_E_INVALID : 0);
		if (status)
			assert_says("share elements");
		assert_ok(heddle_submit(t.rt, heddle_r(t.handle[pairs[i].x]), heddle_r(t.handle[pairs[i].y])));
	}
	heddle_codelet *c = heddle_codelet_new(t.rt, .name = "nothing", .cpu = nothing);
	assert_int_equal(heddle_submit(t.rt, heddle_call(c), heddle_scratch(t.handle[ROOT]), heddle_rw(t.handle[P0])),
	                 HEDDLE_E_INVALID);
	assert_says("share elements");
	assert_ok(heddle_submit(t.rt, heddle_call(c), heddle_scratch(t.handle[ROOT]), heddle_r(t.handle[P0])));
	close_tree(&t);
}

/* A task with many data is checked by a table: it is refused in the cases in which one with few data would be, whatever
 * three handles of the tree it names. */
static void many_data_are_checked_like_few(void **state)
{
	(void)state;
	enum { OTHERS = 40, ALL = OTHERS + 3 };
	struct tree t;
	struct heddle_item items[ALL];
	double x[OTHERS];
	open_tree(&t);
	for (int i = 0; i < OTHERS; i++) {
		heddle_data *d;
		assert_ok(heddle_variable(t.rt, &x[i], sizeof x[i], &d));
		items[i] = (struct heddle_item){.what = HEDDLE_RW, .ptr = d};
	}
	for (int word = 0; word < HANDLES * HANDLES * HANDLES * 8; word++) {
		int h[3], writes[3], refused = 0;
		for (int i = 0, w = word / 8; i < 3; i++, w /= HANDLES) {
			h[i] = w % HANDLES;
			writes[i] = word >> i & 1;
			items[OTHERS + i] =
			    (struct heddle_item){.what = writes[i] ? HEDDLE_RW : HEDDLE_R, .ptr = t.handle[h[i]]};
			for (int k = 0; k < i; k++)
				refused |= h[i] != h[k] && excludes(h[i], h[k]) && (writes[i] || writes[k]);
		}
		/* A datum that is named twice is one, which is changed if one of the two says so. */
		for (int i = 0; i < 3; i++)
			for (int k = 0; k < 3; k++)
				for (int l = 0; l < 3; l++)
					refused |= h[i] == h[k] && writes[k] && h[l] != h[i] && excludes(h[l], h[i]);
		assert_int_equal(heddle_submit_items(t.rt, ALL, items), refused ? HEDDLE_E_INVALID : 0);
	}
	close_tree(&t);
}

/* A datum may lose its value, with a device for example, while pieces of it can be read. A task of a sub-graph that
 * reads such a piece is cancelled like others. */
static void piece_of_a_lost_datum_is_not_read(void **state)
{
	(void)state;
	static struct run r;
	struct tree tree;
	const struct part read_p0 = {P0, 0, NULL, 0}, whole = {ROOT, 0, &read_p0, 1};
	memset(&r, 0, sizeof r);
	open_tree(&tree);
	r.tree = &tree;
	hd_core_enter(tree.rt);
	submit(&r, &read_p0, NULL, 1);
	go_on(&r, &r.items[0]);
	hd_data_spoil(tree.handle[ROOT], NULL);
	submit(&r, &whole, NULL, 2);
	go_on(&r, &r.items[1]);
	assert_int_equal(r.n, 3);
	assert_ptr_equal(r.items[2].part, &read_p0);
	assert_int_equal(r.items[2].stage, RUNS);
	assert_int_equal(r.items[2].task->cancelled, 1);
	run_all(&r, 0);
	tree.handle[ROOT]->poisoned = 0;
	hd_core_leave(tree.rt);
	close_tree(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tasks_without_conflicts_run_together),
	    cmocka_unit_test(all_short_programs_run_in_order),
	    cmocka_unit_test(long_programs_run_in_order),
	    cmocka_unit_test(task_that_would_wait_for_itself_is_refused),
	    cmocka_unit_test(many_data_are_checked_like_few),
	    cmocka_unit_test(piece_of_a_lost_datum_is_not_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
