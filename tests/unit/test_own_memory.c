/* Types whose copies have memory that the program allocates on each node. */
#include "internals.h"
#include "program.h"

/* A list of numbers in a tile of the program's own, with the node where it was allocated. */
struct tile {
	size_t n;
	unsigned node;
	long *values;
};

static atomic_int n_allocated, n_copies, fails;

static size_t tile_size(const void *tile)
{
	return ((const struct tile *)tile)->n * sizeof(long);
}
static int tile_allocate(const void *like, unsigned node, void **copy)
{
	struct tile *t = fails ? NULL : malloc(sizeof *t);
	if (!t)
		return 1;
	*t = (struct tile){((const struct tile *)like)->n, node, calloc(((const struct tile *)like)->n, sizeof(long))};
	n_allocated++;
	*copy = t;
	return 0;
}
static int tile_copy(const void *from, unsigned from_node, void *to, unsigned to_node)
{
	const struct tile *f = from;
	struct tile *t = to;
	assert_int_equal(f->node, from_node);
	assert_int_equal(t->node, to_node);
	memcpy(t->values, f->values, f->n * sizeof *t->values);
	n_copies++;
	return 0;
}
static void tile_release(void *copy, unsigned node)
{
	struct tile *t = copy;
	assert_int_equal(t->node, node);
	free(t->values);
	free(t);
	n_allocated--;
}
static const struct heddle_type tiles = {
    .name = "tile", .size = tile_size, .allocate = tile_allocate, .copy = tile_copy, .release = tile_release};

static int add_to_tile(heddle_context *c)
{
	struct tile *t = heddle_ptr(c, 0);
	for (size_t i = 0; i < t->n; i++)
		t->values[i]++;
	return 0;
}
static int fill_tile(heddle_context *c)
{
	struct tile *t = heddle_ptr(c, 0);
	for (size_t i = 0; t && i < t->n; i++)
		t->values[i] = 10 + (long)i;
	return !t;
}

static void copies_are_allocated_copied_and_released_by_the_type(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_emulated = 2;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *near = heddle_codelet_new(rt, .name = "near", .cpu = add_to_tile);
	heddle_codelet *far = heddle_codelet_new(rt, .name = "far", .emulated = add_to_tile);
	heddle_codelet *fill = heddle_codelet_new(rt, .name = "fill", .emulated = fill_tile);
	long values[3] = {1, 2, 3}, others[3] = {0};
	struct tile tile = {3, 0, values}, other = {3, 0, others};
	heddle_data *d, *e;
	assert_ok(heddle_object(rt, &tile, &tiles, &d));
	assert_ok(heddle_object(rt, &other, &tiles, &e));
	for (int i = 0; i < 10; i++) {
		assert_ok(heddle_submit(rt, heddle_call(far), heddle_rw(d)));
		assert_ok(heddle_submit(rt, heddle_call(near), heddle_rw(d)));
	}
	assert_ok(heddle_copy(e, d));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(others[2], 23);
	n_copies = 0;
	assert_ok(heddle_forget(d));
	assert_ok(heddle_submit(rt, heddle_call(fill), heddle_w(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_selfcheck(rt));
	assert_int_equal(n_copies, 0); /* W brings nothing */
	assert_ok(heddle_unregister(d));
	assert_ok(heddle_unregister(e));
	assert_int_equal(values[0], 10);
	assert_int_equal(values[2], 12);
	assert_int_equal(others[0], 21);
	assert_int_equal(n_allocated, 0);
	assert_ok(heddle_stop(rt));
}

static void a_copy_that_cannot_be_allocated_fails_its_task(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	config.n_emulated = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *far = heddle_codelet_new(rt, .name = "far", .emulated = add_to_tile);
	long values[3] = {1, 2, 3};
	struct tile tile = {3, 0, values};
	heddle_data *d;
	fails = 1;
	assert_ok(heddle_object(rt, &tile, &tiles, &d));
	assert_ok(heddle_submit(rt, heddle_call(far), heddle_rw(d)));
	assert_int_equal(heddle_wait_all(rt), HEDDLE_E_MEMORY);
	assert_says("type tile: no memory for a copy on node 1");
	fails = 0;
	heddle_unregister(d);
	assert_int_equal(n_allocated, 0);
	heddle_stop(rt);
}

/* The first of two calls returns after the second one. */
static atomic_int n_begun, n_second;

static int tile_allocate_in_turn(const void *like, unsigned node, void **copy)
{
	int is_first = n_begun++ == 0;
	while (is_first && !n_second)
		sched_yield();
	int status = tile_allocate(like, node, copy);
	n_second += !is_first;
	return status;
}

static int ask_late(heddle_context *c)
{
	while (!n_begun)
		sched_yield();
	return !heddle_ptr(c, 0);
}

/* A transfer of the old value and a kernel that writes a new one need the same copy. */
static void a_copy_is_allocated_by_a_transfer_and_a_kernel_at_once(void **state)
{
	(void)state;
	struct heddle_type in_turn = tiles;
	in_turn.allocate = tile_allocate_in_turn;
	struct heddle_config config = small_config();
	config.n_emulated = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *ask = heddle_codelet_new(rt, .name = "ask", .emulated = ask_late);
	heddle_codelet *look = heddle_codelet_new(rt, .name = "look", .emulated = nothing);
	long values[3] = {1, 2, 3};
	struct tile tile = {3, 0, values};
	heddle_data *d;
	assert_ok(heddle_object(rt, &tile, &in_turn, &d));
	assert_ok(heddle_submit(rt, heddle_call(ask), heddle_unordered(heddle_w(d))));
	assert_ok(heddle_submit(rt, heddle_call(look), heddle_unordered(heddle_r(d))));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(n_begun, 2);
	assert_ok(heddle_unregister(d));
	assert_int_equal(n_allocated, 0);
	assert_ok(heddle_stop(rt));
}

static size_t large_size(const void *tile)
{
	(void)tile;
	return (size_t)1 << 40;
}

/* It seals buffers of arrays; of an object it only has the address, whatever the size. */
static void checking_mode_reads_no_object(void **state)
{
	(void)state;
	struct heddle_type large = tiles;
	large.size = large_size;
	struct heddle_config config = small_config();
	config.check = 1;
	heddle_runtime *rt = start_with(&config);
	heddle_codelet *near = heddle_codelet_new(rt, .name = "near", .cpu = add_to_tile);
	long values[3] = {1, 2, 3};
	struct tile tile = {3, 0, values};
	heddle_data *d;
	assert_ok(heddle_object(rt, &tile, &large, &d));
	assert_ok(heddle_submit(rt, heddle_call(near), heddle_rw(d)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_unregister(d));
	assert_int_equal(values[0], 2);
	assert_ok(heddle_stop(rt));
}

static void a_type_is_complete_or_refused(void **state)
{
	(void)state;
	heddle_runtime *rt = start();
	long values[3] = {1, 2, 3};
	struct tile tile = {3, 0, values};
	heddle_data *d;
	struct heddle_type half = tiles;
	half.release = NULL;
	assert_int_equal(heddle_object(rt, &tile, &half, &d), HEDDLE_E_INVALID);
	assert_ok(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(copies_are_allocated_copied_and_released_by_the_type),
	    cmocka_unit_test(a_copy_that_cannot_be_allocated_fails_its_task),
	    cmocka_unit_test(a_copy_is_allocated_by_a_transfer_and_a_kernel_at_once),
	    cmocka_unit_test(checking_mode_reads_no_object),
	    cmocka_unit_test(a_type_is_complete_or_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
