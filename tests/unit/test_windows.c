/* Copies of children that lie in the copy of their parent on an accelerator: what is moved, counted in virtual time,
 * and what kernels see. */
#include "internals.h"
#include "virtual_machine.h"

enum { N = 4, PIECE = UNIT / N };

static void assert_moved(const struct machine *m, uint64_t bytes)
{
	OK(heddle_wait_all(m->rt));
	OK(heddle_selfcheck(m->rt));
	assert_int_equal(machine_stats(m).bytes_moved, bytes);
}

static void open_vector(struct machine *m, heddle_data **d)
{
	machine_start(m);
	OK(heddle_vector(m->rt, NULL, UNIT / 4, 4, d));
}

static heddle_plan *plan_in(heddle_data *d, size_t pieces)
{
	heddle_plan *plan;
	OK(heddle_plan_create(d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_VECTOR, .nx = pieces}, &plan));
	return plan;
}

/* --- Where everything is on one node ------------------------------------------------------------------------------ */

static void what_an_accelerator_has_is_split_and_gathered_there(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1, .units = 4};
	heddle_data *d;
	open_vector(&m, &d);
	heddle_plan *p = plan_in(d, N), *q = plan_in(d, 2);
	WORK(&m, 10, heddle_rw(d), heddle_on(1));
	assert_moved(&m, UNIT);
	for (size_t i = 0; i < N; i++)
		WORK(&m, 10, heddle_rw(heddle_plan_child(p, i)), heddle_on(1));
	assert_moved(&m, UNIT);
	assert_int_equal(m.rt->memories[1].used, UNIT);
	WORK(&m, 10, heddle_r(d), heddle_on(1));
	for (size_t i = 0; i < 2; i++)
		WORK(&m, 10, heddle_r(heddle_plan_child(q, i)), heddle_on(1));
	for (size_t i = 0; i < N; i++)
		WORK(&m, 10, heddle_r(heddle_plan_child(p, i)), heddle_on(1));
	for (size_t i = 0; i < 2; i++)
		WORK(&m, 10, heddle_rw(heddle_plan_child(q, i)), heddle_on(1));
	WORK(&m, 10, heddle_rw(d), heddle_on(1));
	assert_moved(&m, UNIT);
	assert_int_equal(m.rt->memories[1].used, UNIT);
	assert_int_equal(machine_stats(&m).evictions, 0);
	WORK(&m, 10, heddle_r(d), heddle_on(0));
	assert_moved(&m, 2 * UNIT);
	OK(heddle_stop(m.rt));
}

static void windows_of_windows_are_not_copied_either(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1};
	heddle_data *d;
	open_vector(&m, &d);
	heddle_plan *p = plan_in(d, 2), *below = plan_in(heddle_plan_child(p, 1), 2);
	WORK(&m, 10, heddle_rw(d), heddle_on(1));
	WORK(&m, 10, heddle_rw(heddle_plan_child(below, 0)), heddle_on(1));
	WORK(&m, 10, heddle_rw(heddle_plan_child(p, 0)), heddle_on(1));
	WORK(&m, 10, heddle_r(d), heddle_on(1));
	assert_moved(&m, UNIT);
	WORK(&m, 10, heddle_rw(heddle_plan_child(below, 1)), heddle_on(0)); /* a quarter comes, and goes back */
	WORK(&m, 10, heddle_rw(d), heddle_on(1));
	assert_moved(&m, UNIT + 2 * PIECE);
	OK(heddle_stop(m.rt));
}

/* --- Where some is elsewhere -------------------------------------------------------------------------------------- */

/* A vector that a GPU has written, but for one of its N pieces, which a CPU has. */
static heddle_plan *mostly_on_gpu(struct machine *m, heddle_data **d)
{
	open_vector(m, d);
	heddle_plan *p = plan_in(*d, N);
	WORK(m, 10, heddle_rw(*d), heddle_on(1));
	WORK(m, 10, heddle_rw(heddle_plan_child(p, 2)), heddle_on(0));
	assert_moved(m, UNIT + PIECE);
	return p;
}

static void only_missing_pieces_are_copied_to_the_node_with_most_pieces(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1};
	heddle_data *d;
	heddle_plan *p = mostly_on_gpu(&m, &d);
	WORK(&m, 10, heddle_r(d), heddle_on(1));
	assert_moved(&m, UNIT + 2 * PIECE);
	/* three are changed in main memory: then that is the place */
	for (size_t i = 0; i < 3; i++)
		WORK(&m, 10, heddle_rw(heddle_plan_child(p, i)), heddle_on(0));
	assert_moved(&m, UNIT + 5 * PIECE);
	WORK(&m, 10, heddle_rw(d), heddle_on(0));
	assert_moved(&m, UNIT + 6 * PIECE);
	assert_int_equal(m.rt->memories[1].used, 0);
	OK(heddle_stop(m.rt));
}

/* The program needs it in main memory: it is gathered there at once. */
static void acquired_datum_is_gathered_in_main_memory(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1};
	heddle_data *d;
	mostly_on_gpu(&m, &d);
	OK(heddle_acquire(d, HEDDLE_R));
	OK(heddle_release(d));
	assert_moved(&m, UNIT + 4 * PIECE);
	OK(heddle_stop(m.rt));
}

/* Pieces that are only read come to main memory with the whole, once. */
static void parts_come_to_main_memory_with_the_whole(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1};
	heddle_data *d;
	open_vector(&m, &d);
	heddle_plan *p = plan_in(d, N);
	WORK(&m, 10, heddle_rw(d), heddle_on(1));
	WORK(&m, 10, heddle_r(heddle_plan_child(p, 0)), heddle_on(1));
	assert_moved(&m, UNIT);
	for (size_t i = 0; i < N; i++)
		WORK(&m, 10, heddle_r(heddle_plan_child(p, i)), heddle_on(0));
	assert_moved(&m, 2 * UNIT);
	assert_true(heddle_data_valid_on(d, 0));
	OK(heddle_stop(m.rt));
}

/* A task on the second accelerator reads a piece while the whole is gathered on the first; the whole comes to the
 * second when the piece is not used any more, to where it lay. */
static void what_is_used_where_the_whole_is_not_stays_until_it_is_not(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 2, .workers_per_gpu = 2, .units = 3};
	heddle_data *d;
	open_vector(&m, &d);
	heddle_plan *p = plan_in(d, N);
	WORK(&m, 10, heddle_r(d), heddle_on(1));
	WORK(&m, 10, heddle_rw(d), heddle_on(3));
	WORK(&m, 10, heddle_r(d), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	for (size_t i = 1; i < N; i++)
		WORK(&m, 10, heddle_rw(heddle_plan_child(p, i)), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	uint64_t before = machine_stats(&m).bytes_moved;
	WORK(&m, 1000, heddle_r(heddle_plan_child(p, 0)), heddle_on(3));
	heddle_task *last;
	WORK(&m, 10, heddle_on(0), heddle_out(&last)); /* the long one has begun when it has ended */
	OK(heddle_task_wait(last));
	heddle_task_release(last);
	WORK(&m, 10, heddle_r(d), heddle_on(1));
	WORK(&m, 10, heddle_r(d), heddle_on(4), heddle_out(&last));
	OK(heddle_task_wait(last));
	assert_true(heddle_now(m.rt) > 1000); /* it has waited for the long task */
	heddle_task_release(last);
	assert_moved(&m, before + 2 * UNIT);
	OK(heddle_stop(m.rt));
}

/* As above, the whole cannot come to the second accelerator while a piece is used there. Its prefetch is dropped, and
 * that of another datum begins. */
static void prefetch_of_what_cannot_come_keeps_no_other_waiting(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 2, .units = 3};
	heddle_data *d, *written, *other;
	open_vector(&m, &d);
	OK(heddle_variable(m.rt, NULL, UNIT, &written));
	OK(heddle_variable(m.rt, NULL, UNIT, &other));
	heddle_plan *p = plan_in(d, N);
	WORK(&m, 10, heddle_rw(d), heddle_on(2));
	WORK(&m, 10, heddle_r(d), heddle_on(1));
	for (size_t i = 1; i < N; i++)
		WORK(&m, 10, heddle_rw(heddle_plan_child(p, i)), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	double start = heddle_now(m.rt);
	WORK(&m, 1000, heddle_r(heddle_plan_child(p, 0)), heddle_on(2));
	heddle_task *last;
	WORK(&m, 10, heddle_on(0), heddle_out(&last)); /* the long one has begun when it has ended */
	OK(heddle_task_wait(last));
	heddle_task_release(last);
	WORK(&m, 1000, heddle_rw(written), heddle_on(0));
	WORK(&m, 10, heddle_r(d), heddle_on(1));
	WORK(&m, 10, heddle_r(d), heddle_r(other), heddle_r(written), heddle_on(2));
	OK(heddle_prefetch(d, 2));
	OK(heddle_prefetch(other, 2));
	WORK(&m, 900, heddle_on(1), heddle_out(&last));
	OK(heddle_task_wait(last));
	heddle_task_release(last);
	assert_true(heddle_now(m.rt) < start + 1000);
	assert_false(heddle_data_valid_on(d, 2));
	assert_true(heddle_data_valid_on(other, 2));
	OK(heddle_wait_all(m.rt));
	OK(heddle_selfcheck(m.rt));
	OK(heddle_stop(m.rt));
}

/* The piece that a CPU has comes back to where the others are, and takes no memory there. */
static void prefetched_window_takes_no_memory(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1, .units = 4};
	heddle_data *d;
	heddle_plan *p = mostly_on_gpu(&m, &d);
	OK(heddle_prefetch(heddle_plan_child(p, 2), 1));
	WORK(&m, 10, heddle_r(heddle_plan_child(p, 2)), heddle_on(1));
	assert_moved(&m, UNIT + 2 * PIECE);
	assert_int_equal(machine_stats(&m).prefetches, 1);
	assert_int_equal(m.rt->memories[1].used, UNIT);
	OK(heddle_stop(m.rt));
}

/* --- Children that share elements --------------------------------------------------------------------------------- */

static void children_that_overlap_are_read_where_the_whole_is(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1};
	heddle_data *d;
	heddle_plan *p;
	open_vector(&m, &d);
	OK(heddle_plan_create(d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_HALO, .nx = N, .halo = 10}, &p));
	WORK(&m, 10, heddle_rw(d), heddle_on(1));
	for (size_t i = 0; i < N; i++)
		WORK(&m, 10, heddle_r(heddle_plan_child(p, i)), heddle_on(1));
	assert_moved(&m, UNIT);
	for (size_t i = 0; i < N; i++)
		WORK(&m, 10, heddle_r(heddle_plan_child(p, i)), heddle_on(0));
	assert_moved(&m, 2 * UNIT);
	OK(heddle_stop(m.rt));
}

/* Children 0 and 1 share elements, 2 shares none. */
static int some_overlap(const struct heddle_part *parent, size_t i, size_t *offset, size_t *n, void *arg)
{
	(void)parent;
	(void)arg;
	offset[0] = i < 2 ? 500 * i : 1500;
	n[0] = 1000;
	return 0;
}

/* Before one child is changed, those that overlap come to main memory together: they are not copied one by one. */
static void children_that_overlap_are_moved_before_others_are_changed(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1};
	heddle_data *d;
	heddle_plan *p;
	open_vector(&m, &d);
	OK(heddle_plan_create(
	    d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_CUSTOM, .n_children = 3, .child = some_overlap}, &p));
	WORK(&m, 10, heddle_rw(d), heddle_on(1));
	WORK(&m, 10, heddle_rw(heddle_plan_child(p, 2)), heddle_on(1));
	for (size_t i = 0; i < 2; i++)
		for (unsigned worker = 0; worker < 2; worker++)
			WORK(&m, 10, heddle_r(heddle_plan_child(p, i)), heddle_on(worker));
	assert_moved(&m, 2 * UNIT);
	WORK(&m, 10, heddle_r(d), heddle_on(1));
	assert_moved(&m, 2 * UNIT + 4000);
	OK(heddle_stop(m.rt));
}

static int only_the_middle(const struct heddle_part *parent, size_t i, size_t *offset, size_t *n, void *arg)
{
	(void)i;
	(void)arg;
	offset[0] = parent->n[0] / 4;
	n[0] = parent->n[0] / 2;
	return 0;
}

static int add_one(heddle_context *c)
{
	double *x = heddle_ptr(c, 0);
	for (size_t i = 0; i < heddle_extent(c, 0, 0); i++)
		x[i]++;
	return 0;
}

/* What lies in no child is not lost when copies of the whole are. */
static void elements_in_no_child_keep_their_values(void **state)
{
	(void)state;
	struct heddle_config config;
	heddle_runtime *rt;
	heddle_plan *p;
	heddle_data *d;
	double x[8] = {0};
	OK(heddle_config_init(&config));
	config.n_cpu = 1;
	config.n_emulated = 2;
	config.bind = 0;
	config.model_dir = "none";
	OK(heddle_start(&config, &rt));
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = add_one, .emulated = add_one);
	OK(heddle_vector(rt, x, 8, sizeof *x, &d));
	OK(heddle_plan_create(
	    d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_CUSTOM, .n_children = 1, .child = only_the_middle}, &p));
	for (unsigned worker = 1; worker <= 2; worker++) {
		OK(heddle_submit(rt, heddle_call(add), heddle_rw(d), heddle_on(worker)));
		for (unsigned other = 0; other <= 2; other++)
			OK(heddle_submit(rt, heddle_call(add), heddle_rw(heddle_plan_child(p, 0)), heddle_on(other)));
	}
	OK(heddle_selfcheck(rt));
	OK(heddle_unregister(d));
	for (size_t i = 0; i < 8; i++)
		assert_true(x[i] == (i >= 2 && i < 6 ? 8 : 2));
	OK(heddle_stop(rt));
}

/* --- Memory that is too small ------------------------------------------------------------------------------------- */

/* A copy leaves with its windows: those of them that are the only value are written back, once, and the others not. */
static void a_copy_leaves_with_its_windows(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1, .units = 1};
	heddle_data *d, *other;
	open_vector(&m, &d);
	machine_data(&m, 1, &other);
	heddle_plan *p = plan_in(d, N);
	WORK(&m, 10, heddle_r(d), heddle_on(1));
	WORK(&m, 10, heddle_rw(heddle_plan_child(p, 1)), heddle_on(1));
	WORK(&m, 10, heddle_rw(heddle_plan_child(p, 3)), heddle_on(1));
	assert_moved(&m, UNIT);
	WORK(&m, 10, heddle_r(other), heddle_on(1));
	assert_moved(&m, 2 * UNIT + 2 * PIECE);
	assert_int_equal(m.rt->memories[1].used, UNIT);
	WORK(&m, 10, heddle_r(d), heddle_on(0));
	assert_moved(&m, 2 * UNIT + 2 * PIECE);
	OK(heddle_stop(m.rt));
}

/* Each piece would keep a whole copy in the memory, which is too small for these: they give way to the pieces. */
static void pieces_do_not_keep_more_than_fits(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1, .units = 2};
	heddle_data *d[3], *piece[3];
	machine_start(&m);
	for (size_t i = 0; i < 3; i++) {
		OK(heddle_vector(m.rt, NULL, UNIT / 4, 4, &d[i]));
		piece[i] = heddle_plan_child(plan_in(d[i], N), 0);
		if (i < 2)
			WORK(&m, 10, heddle_rw(d[i]), heddle_on(1));
	}
	assert_moved(&m, 2 * UNIT);
	WORK(&m, 10, heddle_rw(piece[0]), heddle_rw(piece[1]), heddle_rw(piece[2]), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	OK(heddle_selfcheck(m.rt));
	assert_true(m.rt->memories[1].used < 2 * UNIT);
	OK(heddle_stop(m.rt));
}

#define BREAKS(m, field, value, word)                                                 \
	do {                                                                          \
		hd_lock(&(m)->rt->lock);                                              \
		__typeof__(field) kept = (field);                                     \
		(field) = (value);                                                    \
		int breaks_status = hd_selfcheck((m)->rt);                            \
		(field) = kept;                                                       \
		hd_unlock(&(m)->rt->lock);                                            \
		assert_int_equal(breaks_status, HEDDLE_E_STATE);                      \
		if (!strstr(heddle_last_error(), word))                               \
			fail_msg("%s = %s: %s", #field, #value, heddle_last_error()); \
		OK(heddle_selfcheck((m)->rt));                                        \
	} while (0)

/* A prefetch into a window keeps the whole copy in the memory. Where a task needs that room the prefetch is dropped,
 * and then the copy must leave at once: nothing else would happen there that could make the task try again. */
static void a_prefetch_into_a_window_gives_way_to_a_task(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 2, .units = 2};
	heddle_data *d, *large;
	open_vector(&m, &d);
	OK(heddle_vector(m.rt, NULL, 2 * UNIT / 4, 4, &large));
	heddle_plan *p = plan_in(d, N);
	WORK(&m, 10, heddle_rw(d), heddle_on(1));
	WORK(&m, 10, heddle_rw(heddle_plan_child(p, 0)), heddle_on(1));
	WORK(&m, 10, heddle_rw(heddle_plan_child(p, 1)), heddle_on(2));
	OK(heddle_wait_all(m.rt));
	OK(heddle_prefetch(heddle_plan_child(p, 1), 1)); /* by way of main memory: what comes to node 1 has to wait */
	WORK(&m, 10, heddle_rw(large), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	OK(heddle_selfcheck(m.rt));
	OK(heddle_stop(m.rt));
}

/* A part of what another accelerator has comes by way of main memory, with the whole: until it is there, a prefetch has
 * nothing to put into room of its own. */
static void a_prefetch_of_a_part_takes_no_room_before_the_whole_is_there(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 2, .units = 2};
	heddle_data *d;
	open_vector(&m, &d);
	heddle_plan *p = plan_in(d, N);
	WORK(&m, 10, heddle_rw(d), heddle_on(1));
	WORK(&m, 10, heddle_r(heddle_plan_child(p, 0)), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	OK(heddle_prefetch(heddle_plan_child(p, 0), 2));
	WORK(&m, 10, heddle_r(heddle_plan_child(p, 1)), heddle_on(0));
	assert_moved(&m, 2 * UNIT);
	assert_int_equal(m.rt->memories[2].used, 0);
	OK(heddle_prefetch(heddle_plan_child(p, 0), 2));
	WORK(&m, 10, heddle_r(heddle_plan_child(p, 0)), heddle_on(2));
	assert_moved(&m, 2 * UNIT + PIECE);
	OK(heddle_stop(m.rt));
}

static void references_between_windows_are_checked(void **state)
{
	(void)state;
	struct machine m = {.cpus = 1, .gpus = 1, .units = 2};
	heddle_data *d;
	open_vector(&m, &d);
	heddle_plan *p = plan_in(d, N);
	WORK(&m, 10, heddle_rw(d), heddle_on(1));
	WORK(&m, 10, heddle_r(heddle_plan_child(p, 2)), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	struct hd_layout *l = d->extra->layout;
	BREAKS(&m, l->n_windows[1], kept + 1, "n_windows");
	BREAKS(&m, l->n_windows[1], kept - 1, "n_windows");
	BREAKS(&m, d->replicas[1].ptr, NULL, "of a child");
	BREAKS(&m, d->replicas[1].pins, kept + 1, "pins");
	WORK(&m, 10, heddle_rw(heddle_plan_child(p, 0)), heddle_on(1));
	OK(heddle_wait_all(m.rt));
	BREAKS(&m, l->scattered, NULL, "a part of it");
	OK(heddle_stop(m.rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_an_accelerator_has_is_split_and_gathered_there),
	    cmocka_unit_test(windows_of_windows_are_not_copied_either),
	    cmocka_unit_test(only_missing_pieces_are_copied_to_the_node_with_most_pieces),
	    cmocka_unit_test(acquired_datum_is_gathered_in_main_memory),
	    cmocka_unit_test(parts_come_to_main_memory_with_the_whole),
	    cmocka_unit_test(what_is_used_where_the_whole_is_not_stays_until_it_is_not),
	    cmocka_unit_test(prefetch_of_what_cannot_come_keeps_no_other_waiting),
	    cmocka_unit_test(prefetched_window_takes_no_memory),
	    cmocka_unit_test(children_that_overlap_are_read_where_the_whole_is),
	    cmocka_unit_test(children_that_overlap_are_moved_before_others_are_changed),
	    cmocka_unit_test(elements_in_no_child_keep_their_values),
	    cmocka_unit_test(a_copy_leaves_with_its_windows),
	    cmocka_unit_test(pieces_do_not_keep_more_than_fits),
	    cmocka_unit_test(a_prefetch_into_a_window_gives_way_to_a_task),
	    cmocka_unit_test(a_prefetch_of_a_part_takes_no_room_before_the_whole_is_there),
	    cmocka_unit_test(references_between_windows_are_checked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
