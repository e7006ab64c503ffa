/* heddle_selfcheck of hierarchical tasks: each test breaks one thing, looks, and mends it. The only worker is held in a
 * kernel meanwhile, so that nothing moves. */
#include "adapt/expansions.h"
#include "breaks.h"

enum { INSIDE = 3 };

struct scene {
	heddle_runtime *rt;
	heddle_codelet *hold, *outer, *inner;
	heddle_task *held, *waiting;
	atomic_int gate, holding;
};

static struct scene scene;

static int hold(heddle_context *c)
{
	(void)c;
	scene.holding++;
	wait_for(&scene.gate, 1);
	return 0;
}

/* The first task of the sub-graph holds the worker. */
static int submit_inside(heddle_context *c)
{
	heddle_runtime *rt = heddle_context_runtime(c);
	int status = heddle_submit(rt, heddle_call(scene.hold));
	for (int i = 1; i < INSIDE && !status; i++)
		status = heddle_submit(rt, heddle_call(scene.inner));
	return status;
}

static void start_scene(const char *expand)
{
	struct heddle_config config = small_config();
	config.n_cpu = 1;
	config.expand = expand;
	scene = (struct scene){.rt = start_with(&config)};
	scene.hold = heddle_codelet_new(scene.rt, .name = "hold", .cpu = hold);
	scene.inner = heddle_codelet_new(scene.rt, .name = "inner", .cpu = nothing);
	scene.outer = heddle_codelet_new(scene.rt, .name = "outer", .cpu = nothing, .subgraph = submit_inside,
	                                 .model = HEDDLE_MODEL_GIVEN, .time = ten_us);
}

static void end_scene(void)
{
	assert_ok(heddle_selfcheck(scene.rt));
	scene.gate = 1;
	assert_ok(heddle_wait_all(scene.rt));
	assert_ok(heddle_selfcheck(scene.rt));
	heddle_task_release(scene.held);
	heddle_task_release(scene.waiting);
	assert_ok(heddle_stop(scene.rt));
}

/* One hierarchical task has been expanded, and its worker is in a kernel of the sub-graph; another waits to be
 * expanded. */
static void sub_graphs_are_compared_with_their_tasks(void **state)
{
	(void)state;
	start_scene("always");
	heddle_runtime *rt = scene.rt;
	assert_ok(heddle_submit(rt, heddle_call(scene.outer), heddle_out(&scene.held)));
	wait_for(&scene.holding, 1);
	assert_ok(heddle_submit(rt, heddle_call(scene.outer), heddle_out(&scene.waiting)));
	settle(rt);
	assert_int_equal(scene.held->extra->n_inside, INSIDE);
	assert_ptr_equal(rt->dispatch.unexpanded, scene.waiting);
	BREAKS(&scene, scene.held->extra->n_inside, kept + 1, "n_inside says");
	BREAKS(&scene, scene.held->extra->n_inside, kept - 1, "n_inside says");
	BREAKS(&scene, scene.waiting->extra->n_inside, 0, "n_inside says");
	BREAKS(&scene, rt->count.hierarchical, kept + 1, "count.hierarchical says");
	BREAKS(&scene, rt->count.hierarchical, kept - 1, "count.hierarchical says");
	end_scene();
}

static void tasks_that_wait_to_be_expanded_are_looked_at(void **state)
{
	(void)state;
	start_scene("always");
	heddle_runtime *rt = scene.rt;
	assert_ok(heddle_submit(rt, heddle_call(scene.hold), heddle_out(&scene.held)));
	wait_for(&scene.holding, 1);
	assert_ok(heddle_submit(rt, heddle_call(scene.outer), heddle_out(&scene.waiting)));
	settle(rt);
	assert_ptr_equal(rt->dispatch.unexpanded, scene.waiting);
	BREAKS(&scene, rt->dispatch.retry, kept & ~HD_RETRY_EXPANSIONS, "nobody looks");
	BREAKS(&scene, rt->dispatch.unexpanded, NULL, "nobody looks");
	BREAKS(&scene, rt->dispatch.unexpanded, scene.held, "cannot be");
	BREAKS(&scene, scene.waiting->extra->subgraph, 0, "cannot be");
	BREAKS(&scene, scene.waiting->extra->is_submitted, 1, "cannot be");
	BREAKS(&scene, rt->gate.expanders, 0, "which classes of workers expand tasks");
	end_scene();
}

/* The first task of its size tries out the sub-graph; whether the second one is expanded depends on how that ends. */
static void undecided_tasks_are_counted(void **state)
{
	(void)state;
	start_scene("adaptive");
	heddle_runtime *rt = scene.rt;
	struct hd_expansions *x = rt->adapt.expansions;
	assert_ok(heddle_submit(rt, heddle_call(scene.hold)));
	wait_for(&scene.holding, 1);
	assert_ok(heddle_submit(rt, heddle_call(scene.outer), heddle_out(&scene.held)));
	assert_ok(heddle_submit(rt, heddle_call(scene.outer), heddle_out(&scene.waiting)));
	settle(rt);
	assert_ptr_equal(rt->dispatch.unexpanded, scene.held);
	assert_ptr_equal(x->undecided[HD_FOR_CPUS], scene.waiting);
	BREAKS(&scene, rt->dispatch.n_undecided, kept + 1, "n_undecided says");
	BREAKS(&scene, x->n_for_cpus, 0, "n_for_cpus says");
	BREAKS(&scene, x->undecided[HD_FOR_CPUS], NULL, "n_for_cpus says");
	BREAKS(&scene, x->ahead[0].later_us, kept + 1, "later_us says");
	BREAKS(&scene, hd_expansion_record(scene.waiting)->later_us, kept + 1, "later_us says");
	BREAKS(&scene, scene.waiting->extra->subgraph, 1, "cannot be");
	BREAKS(&scene, rt->dispatch.retry, kept & ~HD_RETRY_EXPANSIONS, "nobody looks");
	end_scene();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sub_graphs_are_compared_with_their_tasks),
	    cmocka_unit_test(tasks_that_wait_to_be_expanded_are_looked_at),
	    cmocka_unit_test(undecided_tasks_are_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
