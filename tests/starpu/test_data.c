/* Data: kinds, filters, plans, acquired data, reductions, values that are gone, copies. */
#include "check.h"

static void fill(void *buffers[], void *cl_arg)
{
	int *x = (int *)STARPU_MATRIX_GET_PTR(buffers[0]), value = (int)(intptr_t)cl_arg;
	for (unsigned j = 0; j < STARPU_MATRIX_GET_NY(buffers[0]); j++)
		for (unsigned i = 0; i < STARPU_MATRIX_GET_NX(buffers[0]); i++)
			x[i + j * STARPU_MATRIX_GET_LD(buffers[0])] = value;
}

static struct starpu_codelet fill_cl = {.cpu_funcs = {fill}, .nbuffers = 1, .modes = {STARPU_W}};

static void submit_fill(starpu_data_handle_t h, int value)
{
	struct starpu_task *task = starpu_task_create();
	task->cl = &fill_cl;
	task->handles[0] = h;
	task->cl_arg = (void *)(intptr_t)value;
	CHECK(starpu_task_submit(task) == 0);
}

/* A matrix of 6 x 4 whose lines lie 8 apart, in blocks of 3 x 2. */
static void filters(void)
{
	int a[4 * 8] = {0};
	starpu_data_handle_t h;
	struct starpu_data_filter x = {.filter_func = starpu_matrix_filter_block, .nchildren = 2};
	struct starpu_data_filter y = {.filter_func = starpu_matrix_filter_vertical_block, .nchildren = 2};
	starpu_matrix_data_register(&h, STARPU_MAIN_RAM, (uintptr_t)a, 8, 6, 4, sizeof *a);
	starpu_data_map_filters(h, 2, &x, &y);
	CHECK(starpu_data_get_nb_children(h) == 2);
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2; j++) {
			starpu_data_handle_t child = starpu_data_get_sub_data(h, 2, i, j);
			CHECK(starpu_matrix_get_nx(child) == 3 && starpu_matrix_get_ny(child) == 2);
			submit_fill(child, 1 + i + 2 * j);
		}
	starpu_data_unpartition(h, STARPU_MAIN_RAM);
	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	CHECK(starpu_matrix_get_local_ld(h) == 8 && starpu_data_lookup(a) == h);
	starpu_data_release(h);
	starpu_data_unregister(h);
	CHECK(a[0] == 1 && a[3] == 2 && a[2 * 8] == 3 && a[3 * 8 + 5] == 4 && a[6] == 0);
}

/* Two plans at once, without telling Heddle when the layout changes. */
static void plans(void)
{
	int a[16] = {0};
	starpu_data_handle_t h, rows[4], columns[4];
	struct starpu_data_filter x = {.filter_func = starpu_matrix_filter_block, .nchildren = 4};
	struct starpu_data_filter y = {.filter_func = starpu_matrix_filter_vertical_block, .nchildren = 4};
	starpu_matrix_data_register(&h, STARPU_MAIN_RAM, (uintptr_t)a, 4, 4, 4, sizeof *a);
	starpu_data_partition_plan(h, &x, rows);
	starpu_data_partition_plan(h, &y, columns);
	submit_fill(h, 1);
	submit_fill(rows[1], 2);
	submit_fill(columns[2], 3);
	submit_fill(rows[3], 4);
	starpu_data_partition_clean(h, 4, rows);
	starpu_data_partition_clean(h, 4, columns);
	starpu_data_unregister(h);
	CHECK(a[0] == 1 && a[1] == 2 && a[2 * 4 + 1] == 3 && a[2 * 4 + 3] == 4 && a[3] == 4);
}

static void set_zero(void *buffers[], void *cl_arg)
{
	(void)cl_arg;
	*(long *)STARPU_VARIABLE_GET_PTR(buffers[0]) = 0;
}

static void add(void *buffers[], void *cl_arg)
{
	(void)cl_arg;
	*(long *)STARPU_VARIABLE_GET_PTR(buffers[0]) += *(long *)STARPU_VARIABLE_GET_PTR(buffers[1]);
}

static void add_three(void *buffers[], void *cl_arg)
{
	(void)cl_arg;
	*(long *)STARPU_VARIABLE_GET_PTR(buffers[0]) += 3;
}

static struct starpu_codelet zero_cl = {.cpu_funcs = {set_zero}, .nbuffers = 1, .modes = {STARPU_W}};
static struct starpu_codelet add_cl = {.cpu_funcs = {add}, .nbuffers = 2, .modes = {STARPU_RW, STARPU_R}};
static struct starpu_codelet three_cl = {.cpu_funcs = {add_three}, .nbuffers = 1, .modes = {STARPU_REDUX}};
static struct starpu_codelet three_rw_cl = {.cpu_funcs = {add_three}, .nbuffers = 1, .modes = {STARPU_RW}};

static void reductions(void)
{
	long start_value = 100;
	starpu_data_handle_t h, temporary;
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t)&start_value, sizeof start_value);
	starpu_data_set_reduction_methods(h, &add_cl, &zero_cl);
	for (int i = 0; i < 20; i++)
		CHECK(starpu_task_insert(&three_cl, STARPU_REDUX, h, 0) == 0);
	starpu_data_unregister(h);
	CHECK(start_value == 160);

	/* what nobody has written is initialised, and is again when its value is gone */
	starpu_variable_data_register(&temporary, -1, 0, sizeof(long));
	starpu_data_set_reduction_methods(temporary, NULL, &zero_cl);
	for (int i = 0; i < 2; i++) {
		CHECK(starpu_task_insert(&three_rw_cl, STARPU_RW, temporary, 0) == 0);
		CHECK(starpu_data_acquire(temporary, STARPU_R) == 0);
		CHECK(*(long *)starpu_data_get_local_ptr(temporary) == 3);
		starpu_data_release(temporary);
		starpu_data_invalidate(temporary);
	}
	starpu_data_unregister(temporary);
}

static void note(void *arg)
{
	*(int *)arg = 1;
}

static void copies(void)
{
	long a = 5, b = 0, *packed;
	int copied = 0;
	starpu_ssize_t size;
	starpu_data_handle_t from, to, nothing;
	starpu_variable_data_register(&from, STARPU_MAIN_RAM, (uintptr_t)&a, sizeof a);
	starpu_variable_data_register(&to, STARPU_MAIN_RAM, (uintptr_t)&b, sizeof b);
	CHECK(starpu_task_insert(&three_rw_cl, STARPU_RW, from, 0) == 0);
	CHECK(starpu_data_cpy(to, from, 1, note, &copied) == 0);
	CHECK(starpu_data_acquire(to, STARPU_RW) == 0);
	CHECK(b == 8);
	CHECK(starpu_data_pack(to, (void **)&packed, &size) == 0 && size == sizeof b && *packed == 8);
	*packed = 9;
	CHECK(starpu_data_unpack(to, packed, (size_t)size) == 0 && b == 9);
	starpu_data_release(to);
	CHECK(starpu_task_wait_for_all() == 0 && copied);
	starpu_data_unregister(from);
	starpu_data_unregister_submit(to);
	starpu_void_data_register(&nothing);
	CHECK(starpu_data_get_size(nothing) == 0);
	CHECK(starpu_data_acquire(nothing, STARPU_RW) == 0);
	starpu_data_release(nothing);
	starpu_data_unregister(nothing);
}

/* A kind of the program: a pair of an array and its length, which a kernel may make longer. */
struct list {
	enum starpu_data_interface_id id;
	size_t n;
	int *element;
};

static void register_list(starpu_data_handle_t h, int home_node, void *interface)
{
	(void)home_node;
	for (unsigned node = 0; node < STARPU_MAXNODES; node++)
		memcpy(starpu_data_get_interface_on_node(h, node), interface, sizeof(struct list));
}

static starpu_ssize_t allocate_list(void *interface, unsigned node)
{
	struct list *l = interface;
	l->element = (int *)starpu_malloc_on_node(node, l->n * sizeof *l->element);
	return l->element ? (starpu_ssize_t)(l->n * sizeof *l->element) : -ENOMEM;
}

static void free_list(void *interface, unsigned node)
{
	struct list *l = interface;
	starpu_free_on_node(node, (uintptr_t)l->element, l->n * sizeof *l->element);
}

static int copy_list(void *src, unsigned src_node, void *dst, unsigned dst_node, void *async_data)
{
	const struct list *from = src;
	struct list *to = dst;
	if (to->n != from->n) {
		free_list(to, dst_node);
		to->n = from->n;
		if (allocate_list(to, dst_node) < 0)
			return -ENOMEM;
	}
	return starpu_interface_copy((uintptr_t)from->element, 0, src_node, (uintptr_t)to->element, 0, dst_node,
	                             from->n * sizeof *from->element, async_data);
}

static size_t size_of_list(starpu_data_handle_t h)
{
	const struct list *l = starpu_data_get_interface_on_node(h, STARPU_MAIN_RAM);
	return l->n * sizeof *l->element;
}

static const struct starpu_data_copy_methods list_copies = {.any_to_any = copy_list};
static struct starpu_data_interface_ops list_ops = {.interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
                                                    .interface_size = sizeof(struct list),
                                                    .register_data_handle = register_list,
                                                    .allocate_data_on_node = allocate_list,
                                                    .free_data_on_node = free_list,
                                                    .copy_methods = &list_copies,
                                                    .get_size = size_of_list};

static void grow(void *buffers[], void *cl_arg)
{
	struct list *l = buffers[0], longer = {l->id, l->n + 1, NULL};
	unsigned node = starpu_worker_get_memory_node(starpu_worker_get_id_check());
	(void)cl_arg;
	CHECK(allocate_list(&longer, node) > 0);
	memcpy(longer.element, l->element, l->n * sizeof *l->element);
	longer.element[l->n] = (int)l->n;
	free_list(l, node);
	*l = longer;
}

static struct starpu_codelet grow_cl = {.cpu_funcs = {grow}, .nbuffers = 1, .modes = {STARPU_RW}};

static void kinds_of_the_program(void)
{
	struct list first = {.n = 1};
	starpu_data_handle_t h;
	list_ops.interfaceid = (enum starpu_data_interface_id)starpu_data_interface_get_next_id();
	first.id = list_ops.interfaceid;
	starpu_data_register(&h, -1, &first, &list_ops);
	for (int i = 0; i < 5; i++)
		CHECK(starpu_task_insert(&grow_cl, STARPU_RW, h, 0) == 0);
	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	const struct list *l = starpu_data_get_interface_on_node(h, STARPU_MAIN_RAM);
	CHECK(l->n == 6 && l->element[5] == 5);
	starpu_data_release(h);
	starpu_data_unregister(h);
}

int main(void)
{
	start(2);
	filters();
	plans();
	reductions();
	copies();
	kinds_of_the_program();
	starpu_shutdown();
	return 0;
}
