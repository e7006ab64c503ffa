/* heddle_selfcheck of plans and layouts: each test breaks one thing, looks, and mends it. The CPU worker is held in a
 * kernel meanwhile; the tasks behind it are ready, with all their accesses in force. */
#include "breaks.h"

enum { N = 8 };

static const struct heddle_filter halves = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 2},
                                  quarters = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 4};

/* A vector with two plans, and one of the first child of the second plan. */
struct split {
	heddle_data *data;
	heddle_plan *used, *other, *below;
	double x[N];
};

struct scene {
	heddle_runtime *rt;
	heddle_codelet *none;
	struct split scattered, shared, whole;
	atomic_int gate;
};

static void make_split(heddle_runtime *rt, struct split *s)
{
	assert_ok(heddle_vector(rt, s->x, N, sizeof *s->x, &s->data));
	assert_ok(heddle_plan_create(s->data, &halves, &s->used));
	assert_ok(heddle_plan_create(s->data, &quarters, &s->other));
	assert_ok(heddle_plan_create(heddle_plan_child(s->other, 0), &halves, &s->below));
}

static void end_split(struct split *s)
{
	assert_ok(heddle_plan_destroy(s->below));
	assert_ok(heddle_plan_destroy(s->other));
	assert_ok(heddle_plan_destroy(s->used));
	assert_ok(heddle_unregister(s->data));
}

static void start_scene(struct scene *s, int n_emulated)
{
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.n_emulated = n_emulated;
	*s = (struct scene){.rt = start_with(&config)};
	s->none = heddle_codelet_new(s->rt, .name = "none", .cpu = nothing, .emulated = nothing);
	make_split(s->rt, &s->scattered);
	make_split(s->rt, &s->shared);
	make_split(s->rt, &s->whole);
}

static void hold_worker(struct scene *s)
{
	atomic_int *gate = &s->gate;
	heddle_codelet *codelet = heddle_codelet_new(s->rt, .name = "gate", .cpu = pass_gate);
	assert_ok(heddle_submit(s->rt, heddle_call(codelet), heddle_value(gate), heddle_on(0)));
}

/* One datum is scattered, one shared, and one whole. */
static void fill_scene(struct scene *s)
{
	hold_worker(s);
	assert_ok(heddle_submit(s->rt, heddle_call(s->none), heddle_rw(heddle_plan_child(s->scattered.used, 0))));
	assert_ok(heddle_submit(s->rt, heddle_call(s->none), heddle_r(heddle_plan_child(s->shared.used, 0))));
	assert_ok(heddle_submit(s->rt, heddle_call(s->none), heddle_rw(s->whole.data)));
	settle(s->rt);
	assert_ok(heddle_selfcheck(s->rt));
}

static void end_scene(struct scene *s)
{
	assert_ok(heddle_selfcheck(s->rt));
	s->gate = 1;
	assert_ok(heddle_wait_all(s->rt));
	assert_ok(heddle_selfcheck(s->rt));
	end_split(&s->scattered);
	end_split(&s->shared);
	end_split(&s->whole);
	assert_ok(heddle_stop(s->rt));
}

static void accesses_to_children_are_counted(void **state)
{
	(void)state;
	struct scene s;
	start_scene(&s, 0);
	fill_scene(&s);
	struct hd_layout *l = hd_data_layout(s.scattered.data);
	assert_int_equal(s.scattered.used->n_weak, 1);
	assert_int_equal(l->n_changing, 1);
	BREAKS(&s, s.scattered.used->n_weak, kept + 1, "n_weak says");
	BREAKS(&s, s.scattered.used->n_weak, 0, "are in use");
	BREAKS(&s, s.scattered.other->n_weak, 1, "are in use");
	BREAKS(&s, l->n_used, kept + 1, "are in use");
	BREAKS(&s, l->n_used, 0, "are in use");
	BREAKS(&s, l->n_changing, kept + 1, "change its children");
	BREAKS(&s, l->n_changing, 0, "change its children");
	BREAKS(&s, l->n_steps, 1, "have steps");
	l = hd_data_layout(s.shared.data);
	BREAKS(&s, l->n_changing, 1, "change its children");
	BREAKS(&s, s.shared.used->n_weak, kept + 1, "n_weak says");
	end_scene(&s);
}

static void the_plan_that_has_the_value_is_active(void **state)
{
	(void)state;
	struct scene s;
	start_scene(&s, 0);
	fill_scene(&s);
	struct hd_layout *l = hd_data_layout(s.scattered.data);
	assert_ptr_equal(l->scattered, s.scattered.used);
	BREAKS(&s, s.scattered.used->active, 0, "scattered over a plan");
	BREAKS(&s, s.scattered.other->active, 1, "scattered over a plan");
	BREAKS(&s, l->scattered, s.scattered.other, "scattered over a plan");
	BREAKS(&s, l->scattered, NULL, "a part of it");
	l = hd_data_layout(s.shared.data);
	assert_true(s.shared.used->active && !l->scattered);
	BREAKS(&s, s.shared.used->active, 0, "although its plan is not active");
	BREAKS(&s, s.shared.other->active, 1, "a part of it");
	BREAKS(&s, s.shared.below->active, 1, "is split, although its plan is not active");
	BREAKS(&s, l->scattered, s.shared.used, "scattered over a plan");
	BREAKS(&s, s.whole.used->active, 1, "a task may change it");
	end_scene(&s);
}

static void children_belong_to_their_plans(void **state)
{
	(void)state;
	struct scene s;
	start_scene(&s, 0);
	fill_scene(&s);
	BREAKS(&s, s.whole.used->children[0], s.whole.other->children[0], "is another's");
	BREAKS(&s, s.whole.used->children[1], NULL, "is another's");
	BREAKS(&s, s.whole.used->data, s.shared.data, "its plan is another's");
	end_scene(&s);
}

/* The accelerator has the whole vector, and its child there is a window in that copy. */
static void windows_are_counted(void **state)
{
	(void)state;
	struct scene s;
	start_scene(&s, 1);
	heddle_data *child = heddle_plan_child(s.shared.used, 0);
	assert_ok(heddle_submit(s.rt, heddle_call(s.none), heddle_rw(s.shared.data), heddle_on(1)));
	assert_ok(heddle_submit(s.rt, heddle_call(s.none), heddle_r(child), heddle_on(1)));
	assert_ok(heddle_submit(s.rt, heddle_call(s.none), heddle_rw(s.whole.data), heddle_on(1)));
	assert_ok(heddle_wait_all(s.rt));
	hold_worker(&s);
	assert_true(child->replicas[1].window);
	struct hd_layout *l = hd_data_layout(s.shared.data);
	struct hd_layout *without = hd_data_layout(s.whole.data);
	BREAKS(&s, l->n_windows[1], kept + 1, "n_windows says");
	BREAKS(&s, l->n_windows[1], 0, "n_windows says");
	BREAKS(&s, without->n_windows[1], 1, "n_windows says");
	BREAKS(&s, child->replicas[1].block, s.shared.data->replicas[1].block, "there is none of the parent");
	BREAKS(&s, child->replicas[1].ptr, NULL, "there is none of the parent");
	end_scene(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(accesses_to_children_are_counted),
	    cmocka_unit_test(the_plan_that_has_the_value_is_active),
	    cmocka_unit_test(children_belong_to_their_plans),
	    cmocka_unit_test(windows_are_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
