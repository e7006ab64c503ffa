/* Pieces of a datum whose layout changes in vain: a copy fails, or the program does not wait for it. This file defines
 * the copy that the drivers of this machine make, so that the library's own is not linked. */
#include "program.h"
#include "internals.h"

/* For hd_copy_host and on_wait, which have no other way to hear of it. */
static struct {
	atomic_int fails;  /* how many copies are to fail yet */
	atomic_int open;   /* copies wait for this */
	atomic_int copies; /* that have begun */
	int said;          /* what on_wait returns */
	int opens;         /* 1: on_wait lets copies go on */
	int calls;         /* of on_wait */
} scene;

int hd_copy_host(const struct heddle_copy *copy)
{
	scene.copies++;
	wait_for(&scene.open, 1);
	if (scene.fails > 0) {
		scene.fails--;
		return hd_error(HEDDLE_E_KERNEL, "the bus caught fire");
	}
	size_t bytes = copy->from.elem_size;
	for (unsigned d = 0; d < copy->from.n_dims; d++)
		bytes *= copy->from.n[d];
	memcpy(copy->to.base, copy->from.base, bytes); /* no array here has gaps */
	return 0;
}

static int look_around(void *arg)
{
	(void)arg;
	scene.calls++;
	scene.open |= scene.opens;
	return scene.said;
}

static int add_to_all(heddle_context *c)
{
	long *x = heddle_ptr(c, 0);
	for (size_t i = 0; i < heddle_extent(c, 0, 0); i++)
		x[i]++;
	return 0;
}

static int fill(heddle_context *c)
{
	long *x = heddle_ptr(c, 0);
	for (size_t i = 0; i < heddle_extent(c, 0, 0); i++)
		x[i] = 7;
	return 0;
}

enum { N = 4 };
static const struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2};

struct program {
	heddle_runtime *rt;
	heddle_codelet *add, *fill; /* on the accelerator */
	heddle_data *d;
	heddle_plan *plan;
	long x[N];
};

/* A vector, or a temporary, with a plan of halves; an accelerator. */
static void begin(struct program *p, int temporary)
{
	struct heddle_config config = small_config();
	memset(p, 0, sizeof *p);
	memset(&scene, 0, sizeof scene);
	scene.open = 1;
	config.n_cpu = config.n_emulated = 1;
	config.on_wait = look_around;
	p->rt = start_with(&config);
	p->add = heddle_codelet_new(p->rt, .name = "add", .emulated = add_to_all);
	p->fill = heddle_codelet_new(p->rt, .name = "fill", .emulated = fill);
	assert_ok(heddle_vector(p->rt, temporary ? NULL : p->x, N, sizeof *p->x, &p->d));
	assert_ok(heddle_plan_create(p->d, &halves, &p->plan));
}

static void end(struct program *p)
{
	assert_ok(heddle_selfcheck(p->rt));
	assert_ok(heddle_stop(p->rt));
}

/* Runs a task on the accelerator for each half of the datum, which changes the half. */
static void change_halves(struct program *p)
{
	for (size_t i = 0; i < 2; i++)
		assert_ok(heddle_submit(p->rt, heddle_call(p->add), heddle_rw(heddle_plan_child(p->plan, i))));
	assert_ok(heddle_wait_all(p->rt));
}

static void expect(struct program *p, heddle_data *d, size_t n, long wanted)
{
	assert_ok(heddle_acquire(d, HEDDLE_R));
	const long *x = heddle_data_ptr(d);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(x[i], wanted);
	assert_ok(heddle_release(d));
	assert_ok(heddle_selfcheck(p->rt));
}

/* The program asks for the whole, of which a piece cannot be brought: the pieces are what they were, and the whole can
 * be had later. */
static void task_that_cannot_gather_loses_no_values(void **state)
{
	static const enum heddle_mode modes[] = {HEDDLE_R, HEDDLE_RW};
	(void)state;
	for (int pieces_first = 0; pieces_first < 2; pieces_first++)
		for (size_t k = 0; k < 2; k++) {
			struct program p;
			begin(&p, 0);
			change_halves(&p);
			scene.fails = 2;
			assert_int_equal(heddle_acquire(p.d, modes[k]), HEDDLE_E_KERNEL);
			assert_says("datum 0 (32 bytes) cannot be brought to main memory");
			assert_says("the bus caught fire");
			assert_ok(heddle_selfcheck(p.rt));
			scene.fails = 0;
			for (size_t i = 0; pieces_first && i < 2; i++)
				expect(&p, heddle_plan_child(p.plan, i), N / 2, 1);
			expect(&p, p.d, N, 1);
			change_halves(&p);
			expect(&p, p.d, N, 2);
			assert_ok(heddle_wait_all(p.rt));
			end(&p);
		}
}

/* The pieces of pieces, too. */
static void task_that_cannot_gather_pieces_of_pieces_loses_no_values(void **state)
{
	(void)state;
	struct program p;
	heddle_plan *below;
	begin(&p, 0);
	assert_ok(heddle_plan_create(heddle_plan_child(p.plan, 1), &halves, &below));
	change_halves(&p);
	for (size_t i = 0; i < 2; i++)
		assert_ok(heddle_submit(p.rt, heddle_call(p.add), heddle_rw(heddle_plan_child(below, i))));
	assert_ok(heddle_wait_all(p.rt));
	scene.fails = 3;
	assert_int_equal(heddle_acquire(p.d, HEDDLE_RW), HEDDLE_E_KERNEL);
	scene.fails = 0;
	expect(&p, heddle_plan_child(below, 0), 1, 2);
	expect(&p, heddle_plan_child(p.plan, 0), N / 2, 1);
	expect(&p, heddle_plan_child(p.plan, 1), N / 2, 2);
	end(&p);
}

/* Nothing is lost either when several gatherings fail, and those that have not begun then. */
static void task_that_cannot_gather_several_pieces_of_pieces_loses_no_values(void **state)
{
	(void)state;
	for (int fails = 1; fails < 6; fails++) {
		struct program p;
		heddle_plan *below[2];
		begin(&p, 0);
		for (size_t k = 0; k < 2; k++) {
			assert_ok(heddle_plan_create(heddle_plan_child(p.plan, k), &halves, &below[k]));
			for (size_t i = 0; i < 2; i++)
				assert_ok(
				    heddle_submit(p.rt, heddle_call(p.add), heddle_rw(heddle_plan_child(below[k], i))));
		}
		assert_ok(heddle_wait_all(p.rt));
		scene.fails = fails;
		assert_int_equal(heddle_acquire(p.d, HEDDLE_RW), HEDDLE_E_KERNEL);
		scene.fails = 0;
		for (size_t i = 0; i < 4; i++)
			expect(&p, heddle_plan_child(below[i / 2], i % 2), 1, 1);
		expect(&p, p.d, N, 1);
		end(&p);
	}
}

/* A task that was to change the whole and could not: nobody reads what it has not changed. */
static void task_that_cannot_gather_leaves_no_value(void **state)
{
	(void)state;
	struct program p;
	heddle_data *other;
	heddle_plan *quarters;
	for (int through = 0; through < 2; through++) {
		begin(&p, 0);
		heddle_codelet *change = heddle_codelet_new(p.rt, .name = "change", .cpu = add_to_all);
		assert_ok(
		    heddle_plan_create(p.d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .nx = 4}, &quarters));
		other = through ? heddle_plan_child(quarters, 0) : p.d;
		change_halves(&p);
		scene.fails = 2;
		assert_ok(heddle_submit(p.rt, heddle_call(change), heddle_rw(other)));
		assert_int_equal(heddle_wait_all(p.rt), HEDDLE_E_KERNEL);
		assert_says("change (task 3): ");
		assert_says("the bus caught fire");
		scene.fails = 0;
		assert_ok(heddle_selfcheck(p.rt));
		assert_int_equal(heddle_acquire(heddle_plan_child(p.plan, 0), HEDDLE_R), HEDDLE_E_CANCELLED);
		assert_int_equal(heddle_acquire(other, HEDDLE_RW), HEDDLE_E_CANCELLED);
		assert_ok(heddle_submit(p.rt, heddle_call(p.fill), heddle_w(p.d)));
		change_halves(&p);
		expect(&p, p.d, N, 8);
		end(&p);
	}
}

/* One half has no value: the program, which asks for the whole, hears of it, and the other half stays. */
static void value_that_was_not_computed_costs_no_sibling(void **state)
{
	(void)state;
	struct program p;
	begin(&p, 0);
	heddle_codelet *fails = heddle_codelet_new(p.rt, .name = "fails", .cpu = fail_always);
	heddle_plan *others;
	assert_ok(heddle_plan_create(p.d, &halves, &others));
	heddle_data *first = heddle_plan_child(p.plan, 0), *second = heddle_plan_child(p.plan, 1);
	assert_ok(heddle_submit(p.rt, heddle_call(p.add), heddle_rw(first)));
	assert_ok(heddle_submit(p.rt, heddle_call(fails), heddle_rw(second)));
	assert_int_equal(heddle_wait_all(p.rt), HEDDLE_E_KERNEL);
	assert_int_equal(heddle_acquire(p.d, HEDDLE_RW), HEDDLE_E_CANCELLED);
	expect(&p, first, N / 2, 1);
	assert_int_equal(heddle_acquire(p.d, HEDDLE_RW), HEDDLE_E_CANCELLED);
	assert_int_equal(heddle_acquire(heddle_plan_child(others, 0), HEDDLE_RW), HEDDLE_E_CANCELLED);
	assert_ok(heddle_submit(p.rt, heddle_call(p.fill), heddle_w(second)));
	change_halves(&p);
	expect(&p, first, N / 2, 2);
	expect(&p, second, N / 2, 8);
	end(&p);
}

/* The first call interrupts the wait: what the program asked for fails when nobody waits for it any more, and who asks
 * next hears nothing of that. */
static void failure_is_told_to_who_asked_only(void **state)
{
	static const enum heddle_mode modes[] = {HEDDLE_R, HEDDLE_RW};
	(void)state;
	for (size_t k = 0; k < 2; k++) {
		struct program p;
		begin(&p, 0);
		change_halves(&p);
		scene.open = 0;
		scene.said = 1;
		scene.fails = 2;
		assert_int_equal(heddle_acquire(p.d, modes[k]), HEDDLE_E_INTERRUPTED);
		wait_for(&scene.copies, 1);
		scene.said = 0;
		scene.open = 1;
		assert_ok(heddle_wait_all(p.rt));
		scene.fails = 0;
		assert_ok(heddle_acquire(p.d, HEDDLE_RW));
		assert_ok(heddle_release(p.d));
		expect(&p, p.d, N, 1);
		end(&p);
	}
}

/* The program is to write the whole and waits for the copy of a piece that is not needed any more. The piece is gone,
 * so the wait goes on. */
static void wait_that_has_cost_the_pieces_is_not_interrupted(void **state)
{
	(void)state;
	struct program p;
	begin(&p, 0);
	change_halves(&p);
	scene.open = scene.copies = 0;
	scene.said = scene.opens = 1;
	assert_ok(heddle_prefetch(heddle_plan_child(p.plan, 0), 0));
	wait_for(&scene.copies, 1);
	assert_ok(heddle_acquire(p.d, HEDDLE_W));
	assert_true(scene.calls > 0);
	for (size_t i = 0; i < N; i++)
		p.x[i] = 3;
	assert_ok(heddle_release(p.d));
	scene.said = 0;
	change_halves(&p);
	expect(&p, p.d, N, 4);
	end(&p);
}

/* A temporary is written by pieces only, and not all of them: they stay when another plan ends, or one below that. */
static void end_of_a_plan_leaves_the_pieces_of_another(void **state)
{
	(void)state;
	for (int which = 0; which < 4; which++) {
		struct program p;
		heddle_plan *unused;
		int complete = which % 2, below = which / 2;
		begin(&p, 1);
		assert_ok(heddle_plan_create(p.d, &halves, &unused));
		if (below)
			assert_ok(heddle_plan_create(heddle_plan_child(unused, 0), &halves, &unused));
		heddle_data *first = heddle_plan_child(p.plan, 0), *second = heddle_plan_child(p.plan, 1);
		assert_ok(heddle_submit(p.rt, heddle_call(p.fill), heddle_w(first)));
		if (complete)
			assert_ok(heddle_submit(p.rt, heddle_call(p.fill), heddle_w(second)));
		assert_ok(heddle_plan_destroy(unused));
		assert_ok(heddle_wait_all(p.rt));
		assert_ok(heddle_selfcheck(p.rt));
		assert_int_equal(scene.copies, 0); /* nothing is gathered for it */
		expect(&p, first, N / 2, 7);
		assert_ok(heddle_submit(p.rt, heddle_call(p.fill), heddle_w(second)));
		expect(&p, p.d, N, 7);
		end(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(task_that_cannot_gather_loses_no_values),
	    cmocka_unit_test(task_that_cannot_gather_pieces_of_pieces_loses_no_values),
	    cmocka_unit_test(task_that_cannot_gather_several_pieces_of_pieces_loses_no_values),
	    cmocka_unit_test(task_that_cannot_gather_leaves_no_value),
	    cmocka_unit_test(value_that_was_not_computed_costs_no_sibling),
	    cmocka_unit_test(failure_is_told_to_who_asked_only),
	    cmocka_unit_test(wait_that_has_cost_the_pieces_is_not_interrupted),
	    cmocka_unit_test(end_of_a_plan_leaves_the_pieces_of_another),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
