/* Plans: what programs may do with them, and which layouts follow. */
#include <heddle/trace.h>
#include "internals.h"
#include "program.h"

static int add_one(heddle_context *c)
{
	struct heddle_part p;
	if (heddle_context_part(c, 0, 0, &p))
		return 1;
	double *x = p.base;
	for (size_t j = 0; j < (p.n_dims > 1 ? p.n[1] : 1); j++)
		for (size_t i = 0; i < p.n[0]; i++)
			x[i + j * p.stride[1]]++;
	return 0;
}

static int fails(heddle_context *c)
{
	return heddle_fail(c, 7, "it was told to");
}

static const struct heddle_filter rows = {.kind = HEDDLE_SPLIT_ROWS, .nx = 2},
                                  columns = {.kind = HEDDLE_SPLIT_COLUMNS, .ny = 2};

/* --- The program of the paper ------------------------------------------------------------------------------------- */

enum { N = 4 };

/* The codelet of the task that waited for the change of a layout; "" for none. */
static const char *name_of_waiting(const struct heddle_trace *trace, const struct heddle_trace_layout *l)
{
	for (size_t i = 0; i < trace->n_tasks && l->before; i++)
		if (trace->tasks[i].id == l->before - 1)
			return trace->codelets[trace->tasks[i].codelet].name;
	return l->before ? "no such task" : "";
}

static void assert_steps(heddle_runtime *rt, const struct heddle_trace_layout *wanted, const char *const *names,
                         size_t n)
{
	struct heddle_trace *trace;
	assert_ok(heddle_trace_take(rt, &trace));
	assert_int_equal(trace->n_layouts, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(trace->layouts[i].step, wanted[i].step);
		assert_int_equal(trace->layouts[i].plan, wanted[i].plan);
		assert_string_equal(name_of_waiting(trace, &trace->layouts[i]), names[i]);
	}
	heddle_trace_free(trace);
}

/* Figure 2 of the report on hierarchical tasks: a matrix that is initialised, changed by its columns, and checked by
 * rows and by columns, takes the steps of figure 3, and no others. */
static void two_plans_take_the_steps_of_the_paper(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.trace = 1;
	heddle_runtime *rt = start_with(&config);
	double matrix[N][N] = {0};
	heddle_data *handle;
	heddle_plan *v, *h;
	heddle_codelet *modify = heddle_codelet_new(rt, .name = "modify", .cpu = add_one);
	heddle_codelet *check = heddle_codelet_new(rt, .name = "check", .cpu = nothing);
	assert_ok(heddle_matrix(rt, matrix, N, N, N, sizeof matrix[0][0], &handle));
	assert_ok(heddle_plan_create(handle, &columns, &v));
	assert_ok(heddle_plan_create(handle, &rows, &h));
	assert_int_equal(heddle_plan_size(v), 2);
	assert_ok(heddle_submit(rt, heddle_call(modify), heddle_rw(handle)));
	for (size_t i = 0; i < 2; i++)
		assert_ok(heddle_submit(rt, heddle_call(modify), heddle_rw(heddle_plan_child(v, i))));
	for (size_t i = 0; i < 2; i++)
		assert_ok(heddle_submit(rt, heddle_call(check), heddle_r(heddle_plan_child(h, i))));
	for (size_t i = 0; i < 2; i++)
		assert_ok(heddle_submit(rt, heddle_call(check), heddle_r(heddle_plan_child(v, i))));
	assert_ok(heddle_plan_destroy(v));
	assert_ok(heddle_plan_destroy(h));
	assert_ok(heddle_unregister(handle));
	for (size_t i = 0; i < N; i++)
		for (size_t j = 0; j < N; j++)
			assert_true(matrix[i][j] == 2);
	const struct heddle_trace_layout wanted[] = {{.plan = 0, .step = HEDDLE_LAYOUT_WRITE},
	                                             {.plan = 0, .step = HEDDLE_LAYOUT_GATHER},
	                                             {.plan = 1, .step = HEDDLE_LAYOUT_READ},
	                                             {.plan = -1, .step = HEDDLE_LAYOUT_JOIN}};
	static const char *const names[] = {"modify", "check", "check", ""};
	assert_steps(rt, wanted, names, 4);
	assert_ok(heddle_stop(rt));
}

/* --- Mistakes ----------------------------------------------------------------------------------------------------- */

static void mistakes_are_told(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	double x[N * N] = {0};
	heddle_data *d, *child;
	heddle_plan *plan, *second;
	const struct heddle_filter too_many = {.kind = HEDDLE_SPLIT_ROWS, .nx = 99};
	assert_ok(heddle_matrix(rt, x, N, N, N, sizeof *x, &d));
	assert_int_equal(heddle_plan_create(NULL, &rows, &plan), HEDDLE_E_INVALID);
	assert_int_equal(heddle_plan_create(d, NULL, &plan), HEDDLE_E_INVALID);
	assert_int_equal(heddle_plan_create(d, &rows, NULL), HEDDLE_E_INVALID);
	assert_int_equal(heddle_plan_create(d, &too_many, &plan), HEDDLE_E_INVALID);
	assert_says("99");
	assert_ok(heddle_plan_create(d, &rows, &plan));
	assert_null(heddle_plan_child(plan, 2));
	assert_says("no child 2");
	assert_null(heddle_plan_child(NULL, 0));
	assert_int_equal(heddle_plan_size(NULL), 0);
	assert_int_equal(heddle_plan_destroy(NULL), HEDDLE_E_INVALID);
	child = heddle_plan_child(plan, 0);
	assert_int_equal(heddle_unregister(child), HEDDLE_E_STATE);
	assert_ok(heddle_acquire(child, HEDDLE_R));
	assert_int_equal(heddle_unregister(d), HEDDLE_E_STATE);
	assert_says("acquired");
	assert_ok(heddle_release(child));
	assert_int_equal(heddle_submit(rt, heddle_rw(d), heddle_r(child)), HEDDLE_E_INVALID);
	assert_says("share elements");
	/* while it is partitioned it can have no other plan, and its own cannot be used */
	assert_ok(heddle_partition(d, &columns, NULL));
	assert_int_equal(heddle_plan_create(d, &rows, &second), HEDDLE_E_STATE);
	assert_int_equal(heddle_submit(rt, heddle_r(d)), HEDDLE_E_STATE);
	assert_ok(heddle_unpartition(d));
	assert_ok(heddle_plan_create(d, &columns, &second));
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

/* --- Values that are not there ------------------------------------------------------------------------------------ */

/* A child that was not computed takes the whole with it when that is read, but not its sibling; written again, it is
 * healed, and so is the whole. */
static void value_that_was_not_computed_can_be_computed_again(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	double x[N * N] = {0};
	heddle_data *d, *out;
	heddle_plan *plan, *other;
	double y = 0;
	heddle_codelet *bad = heddle_codelet_new(rt, .name = "bad", .cpu = fails);
	heddle_codelet *good = heddle_codelet_new(rt, .name = "good", .cpu = nothing);
	assert_ok(heddle_matrix(rt, x, N, N, N, sizeof *x, &d));
	assert_ok(heddle_variable(rt, &y, sizeof y, &out));
	assert_ok(heddle_plan_create(d, &rows, &plan));
	assert_ok(heddle_plan_create(d, &columns, &other));
	heddle_data *first = heddle_plan_child(plan, 0), *second = heddle_plan_child(plan, 1);
	assert_ok(heddle_submit(rt, heddle_call(bad), heddle_rw(first)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_int_equal(heddle_acquire(first, HEDDLE_R), HEDDLE_E_CANCELLED);
	assert_says("it was told to");
	assert_int_equal(heddle_acquire(d, HEDDLE_R), HEDDLE_E_CANCELLED);
	assert_says("it was told to");
	assert_int_equal(heddle_acquire(heddle_plan_child(other, 0), HEDDLE_R), HEDDLE_E_CANCELLED);
	assert_ok(heddle_acquire(second, HEDDLE_R));
	assert_ok(heddle_release(second));
	assert_ok(heddle_submit(rt, heddle_call(good), heddle_w(first)));
	assert_ok(heddle_acquire(d, HEDDLE_R));
	assert_ok(heddle_release(d));
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_unregister(out));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_stop(rt));
}

static int first_row_only(const struct heddle_part *parent, size_t i, size_t *offset, size_t *n, void *arg)
{
	(void)i;
	(void)arg;
	offset[0] = offset[1] = 0;
	n[0] = 1;
	n[1] = parent->n[1];
	return 0;
}

/* A matrix was not computed. Its first row is written then, all that the plan has: the others have no value all the
 * same, by whatever way they are read. */
static void elements_in_no_piece_were_not_computed(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	double x[N * N] = {0};
	heddle_data *d;
	heddle_plan *plan, *other;
	const struct heddle_filter first = {.kind = HEDDLE_SPLIT_CUSTOM, .n_children = 1, .child = first_row_only};
	heddle_codelet *bad = heddle_codelet_new(rt, .name = "bad", .cpu = fails);
	heddle_codelet *good = heddle_codelet_new(rt, .name = "good", .cpu = nothing);
	assert_ok(heddle_matrix(rt, x, N, N, N, sizeof *x, &d));
	assert_ok(heddle_plan_create(d, &first, &plan));
	assert_ok(heddle_plan_create(d, &columns, &other));
	heddle_data *row = heddle_plan_child(plan, 0);
	assert_ok(heddle_submit(rt, heddle_call(bad), heddle_rw(d)));
	assert_ok(heddle_submit(rt, heddle_call(good), heddle_w(row)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_KERNEL);
	assert_ok(heddle_acquire(row, HEDDLE_R));
	assert_ok(heddle_release(row));
	assert_int_equal(heddle_acquire(d, HEDDLE_R), HEDDLE_E_CANCELLED);
	assert_says("it was told to");
	assert_int_equal(heddle_acquire(heddle_plan_child(other, 0), HEDDLE_R), HEDDLE_E_CANCELLED);
	assert_ok(heddle_submit(rt, heddle_call(good), heddle_rw(row)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(heddle_acquire(d, HEDDLE_RW), HEDDLE_E_CANCELLED);
	assert_ok(heddle_submit(rt, heddle_call(good), heddle_w(d)));
	assert_ok(heddle_submit(rt, heddle_call(good), heddle_rw(row)));
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_stop(rt));
}

static void temporary_may_be_written_by_pieces(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	heddle_data *d;
	heddle_plan *plan;
	heddle_codelet *c = heddle_codelet_new(rt, .name = "write", .cpu = nothing);
	for (size_t written = 0; written <= 2; written++) {
		assert_ok(heddle_matrix(rt, NULL, N, N, N, sizeof(double), &d));
		assert_ok(heddle_plan_create(d, &rows, &plan));
		for (size_t i = 0; i < written; i++)
			assert_ok(heddle_submit(rt, heddle_call(c), heddle_w(heddle_plan_child(plan, i))));
		if (written == 2) {
			assert_ok(heddle_acquire(d, HEDDLE_R));
			assert_ok(heddle_release(d));
		}
		assert_ok(heddle_plan_destroy(plan));
		assert_ok(heddle_unregister(d));
		assert_ok(heddle_wait_all(rt));
	}
	assert_ok(heddle_stop(rt));
}

/* --- Every state of a layout -------------------------------------------------------------------------------------- */

/* A datum with two plans, P and Q, of two children each, of which the first child of P has a plan R. What a step of the
 * search does: a task names one of these handles and reads or changes it. */
enum { ROOT, P0, P1, Q0, Q1, R0, R1, HANDLES, ACTIONS = 2 * HANDLES };

struct family {
	heddle_runtime *rt;
	double x[8];
	heddle_data *handle[HANDLES];
	heddle_plan *plan[3]; /* P, Q, R */
};

/* The model: which plans' children have the value, and whether they alone have it. */
struct layout_model {
	unsigned active, scattered; /* bit 0: P, 1: Q, 2: R */
};

static unsigned plan_bit(int h)
{
	return h == P0 || h == P1 ? 1 : h == Q0 || h == Q1 ? 2 : 4;
}

/* What happens to a datum whose plans are `all`, when a task goes to it (via 0) or through one of its plans. */
static void use(struct layout_model *m, unsigned all, unsigned via, int changes)
{
	if (changes) {
		m->active = (m->active & ~all) | via;
		m->scattered = (m->scattered & ~all) | via;
	} else if (!via || !(m->scattered & via)) {
		m->scattered &= ~all;
		m->active |= via;
	}
}

/* The children of a plan that is not active have no layout of their own. */
static void forget(struct layout_model *m)
{
	if (!(m->active & 1)) {
		m->active &= ~4u;
		m->scattered &= ~4u;
	}
}

static void act_on_model(struct layout_model *m, int h, int changes)
{
	struct layout_model before = *m;
	if (h == ROOT) {
		use(m, 3, 0, changes);
	} else if (h == R0 || h == R1) {
		use(m, 3, 1, changes);
		forget(m);
		use(m, 4, 4, changes);
	} else {
		use(m, 3, plan_bit(h), changes);
		forget(m);
		if (h == P0)
			use(m, 4, 0, changes);
	}
	/* what is gathered from P gathers its children first */
	if ((before.scattered & 1) && !(m->scattered & 1))
		m->scattered &= ~4u;
	forget(m);
}

static void open_family(struct family *f)
{
	struct heddle_config config = small_config();
	const struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};
	memset(f, 0, sizeof *f);
	config.n_cpu = 1;
	f->rt = start_with(&config);
	assert_ok(heddle_vector(f->rt, f->x, 8, sizeof *f->x, &f->handle[ROOT]));
	for (int i = 0; i < 3; i++) {
		heddle_data *d = f->handle[i == 2 ? P0 : ROOT];
		assert_ok(heddle_plan_create(d, &halves, &f->plan[i]));
		for (size_t k = 0; k < 2; k++)
			f->handle[1 + 2 * (size_t)i + k] = heddle_plan_child(f->plan[i], k);
	}
}

static void compare_with_model(struct family *f, const struct layout_model *m)
{
	assert_ok(heddle_selfcheck(f->rt));
	hd_core_enter(f->rt);
	for (unsigned i = 0; i < 3; i++) {
		const struct hd_layout *l = f->plan[i]->data->extra->layout;
		assert_int_equal(f->plan[i]->active, m->active >> i & 1);
		assert_int_equal(l->scattered == f->plan[i], m->scattered >> i & 1);
	}
	/* who has the value: the datum unless it is scattered, and the children of active plans likewise */
	for (int h = 0; h < HANDLES; h++) {
		unsigned below = h == ROOT ? 3 : h == P0 ? 4 : 0;
		int wanted = (h == ROOT || (m->active & plan_bit(h))) && !(m->scattered & below);
		assert_int_equal(f->handle[h]->n_valid != 0, wanted);
	}
	hd_core_leave(f->rt);
}

static void act(struct family *f, struct layout_model *m, int action)
{
	int h = action / 2, changes = action % 2;
	assert_ok(heddle_submit(f->rt, heddle_access(changes ? HEDDLE_RW : HEDDLE_R, f->handle[h])));
	assert_ok(heddle_wait_all(f->rt));
	act_on_model(m, h, changes);
	compare_with_model(f, m);
}

/* Goes to every state that can be reached, and from each of them does all that can be done there. */
static void every_layout_is_that_of_the_model(void **state)
{
	(void)state;
	enum { MOST = 64 };
	struct {
		struct layout_model model;
		int path[16], n; /* actions that lead there from the beginning */
	} seen[MOST] = {{.n = 0}};
	size_t n_seen = 1;
	struct family f;
	open_family(&f);
	for (size_t s = 0; s < n_seen; s++)
		for (int action = 0; action < ACTIONS; action++) {
			struct layout_model m = {0};
			act_on_model(&m, ROOT, 1);
			assert_ok(heddle_submit(f.rt, heddle_rw(f.handle[ROOT]))); /* back to the beginning */
			for (int i = 0; i < seen[s].n; i++)
				act(&f, &m, seen[s].path[i]);
			act(&f, &m, action);
			size_t k = 0;
			while (k < n_seen && memcmp(&seen[k].model, &m, sizeof m) != 0)
				k++;
			if (k < n_seen)
				continue;
			assert_true(n_seen < MOST && seen[s].n < 15);
			seen[n_seen] = seen[s];
			seen[n_seen].model = m;
			seen[n_seen++].path[seen[s].n] = action;
			seen[n_seen - 1].n = seen[s].n + 1;
		}
	assert_int_equal(n_seen, 10);
	assert_ok(heddle_unregister(f.handle[ROOT]));
	assert_ok(heddle_stop(f.rt));
}

/* --- A layout that there is no memory for ------------------------------------------------------------------------- */

/* The first block of main memory is refused, after a sub-graph has been submitted. */
static struct {
	struct hd_engine engine;
	int (*alloc)(heddle_runtime *rt, unsigned node, size_t size, void **out);
	atomic_int refused, expanding, open;
} scarce;

static int alloc_scarce(heddle_runtime *rt, unsigned node, size_t size, void **out)
{
	struct heddle_stats stats = {0};
	if (node || scarce.refused++)
		return scarce.alloc(rt, node, size, out);
	scarce.open = 1;
	while (!heddle_runtime_stats(rt, &stats) && !stats.tasks_expanded)
		sched_yield();
	return HEDDLE_E_MEMORY;
}

static heddle_data *first_row;
static heddle_codelet *reader;

static int read_first_row(heddle_context *c)
{
	scarce.expanding = 1;
	wait_for(&scarce.open, 1);
	return heddle_submit(heddle_context_runtime(c), heddle_call(reader), heddle_r(first_row));
}

/* A task that reads a column waits for the matrix to be cut into columns. Meanwhile a task that reads a row comes in
 * front of it, because it belongs to the sub-graph of an earlier task. The columns cannot be had, which is told to the
 * task that needs them, and not to the one that comes first. */
static void who_needs_the_layout_is_told_that_there_is_none(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_cpu = config.n_emulated = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_data *d;
	heddle_plan *v, *h;
	heddle_task *outer, *task;
	scarce.engine = *rt->engine;
	scarce.alloc = rt->engine->alloc;
	scarce.engine.alloc = alloc_scarce;
	hd_core_enter(rt); /* workers that begin look at it */
	rt->engine = &scarce.engine;
	hd_core_leave(rt);
	reader = heddle_codelet_new(rt, .name = "reader", .cpu = nothing);
	heddle_codelet *write = heddle_codelet_new(rt, .name = "write", .emulated = nothing);
	heddle_codelet *expand = heddle_codelet_new(rt, .name = "expand", .subgraph = read_first_row);
	assert_ok(heddle_matrix(rt, NULL, N, N, N, sizeof(double), &d));
	assert_ok(heddle_plan_create(d, &columns, &v));
	assert_ok(heddle_plan_create(d, &rows, &h));
	first_row = heddle_plan_child(h, 0);
	assert_ok(heddle_submit(rt, heddle_call(write), heddle_w(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_submit(rt, heddle_call(expand), heddle_r(d), heddle_out(&outer)));
	wait_for(&scarce.expanding, 1);
	assert_ok(heddle_submit(rt, heddle_call(reader), heddle_r(heddle_plan_child(v, 0)), heddle_out(&task)));
	assert_int_equal(heddle_task_wait(task), HEDDLE_E_MEMORY);
	assert_says("reader (task 2): no memory for a copy of datum 0");
	assert_ok(heddle_task_wait(outer));
	heddle_task_release(task);
	heddle_task_release(outer);
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_MEMORY);
	assert_ok(heddle_submit(rt, heddle_call(reader), heddle_r(heddle_plan_child(v, 0))));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_selfcheck(rt));
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(two_plans_take_the_steps_of_the_paper),
	    cmocka_unit_test(mistakes_are_told),
	    cmocka_unit_test(value_that_was_not_computed_can_be_computed_again),
	    cmocka_unit_test(elements_in_no_piece_were_not_computed),
	    cmocka_unit_test(temporary_may_be_written_by_pieces),
	    cmocka_unit_test(every_layout_is_that_of_the_model),
	    cmocka_unit_test(who_needs_the_layout_is_told_that_there_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
