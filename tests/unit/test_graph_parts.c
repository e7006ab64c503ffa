/* Recorded graphs of programs that use parts of data: bytes are those of the elements, whichever way they were
 * named, and tasks wait for those that have written or read these, and where the program changes from one layout to
 * another. */
#include "graphs.h"
#include "virtual_machine.h"

enum { BLOCKS = 4, BLOCK = UNIT, HALO = 100, STEPS = 6 };
static char bars[2][BLOCKS * BLOCK];

/* A core and a card; block b is computed on the card if it is odd. */
static struct machine start_pair(void)
{
	struct machine m = {.cpus = 1, .gpus = 1};
	machine_start(&m);
	return m;
}

static heddle_data *register_bar(const struct machine *m, int i)
{
	heddle_data *bar;
	assert_ok(heddle_vector(m->rt, bars[i], sizeof bars[i], 1, &bar));
	return bar;
}

static void submit_block(const struct machine *m, size_t b, heddle_data *from, heddle_data *to)
{
	assert_ok(heddle_submit(m->rt, heddle_call(m->work), LASTS_EACH(b % 2 ? NAN : 10, b % 2 ? 10 : NAN),
	                        heddle_r(from), heddle_w(to)));
}

static struct heddle_graph *recorded(const struct machine *m)
{
	struct heddle_graph *g;
	assert_ok(heddle_wait_all(m->rt));
	assert_ok(heddle_graph_record(m->rt, &g));
	assert_ok(heddle_graph_check(g));
	return g;
}

static size_t count_edges(const struct heddle_graph *g)
{
	struct heddle_graph_edge *edges;
	size_t n;
	assert_ok(heddle_graph_edges(g, &edges, &n));
	free(edges);
	return n;
}

static int waits(const struct heddle_graph *g, uint32_t from, uint32_t to)
{
	struct heddle_graph_edge *edges;
	size_t n;
	assert_ok(heddle_graph_edges(g, &edges, &n));
	uint8_t *reach = closure(edges, n, g->n_tasks);
	int found = reach[from * g->n_tasks + to];
	free(reach);
	free(edges);
	return found;
}

static struct heddle_stats simulated(const struct heddle_graph *g, struct machine m)
{
	struct heddle_platform *platform = machine_platform(&m);
	struct heddle_config config;
	assert_ok(heddle_config_init(&config));
	config.sched = "eager";
	assert_ok(heddle_start_on(&config, platform, 1, &m.rt));
	heddle_platform_free(platform);
	assert_ok(heddle_graph_submit(g, m.rt));
	struct heddle_stats stats = machine_stats(&m);
	assert_ok(heddle_stop(m.rt));
	return stats;
}

/* Bytes that move when the graph is simulated on the same machine. */
static uint64_t bytes_moved(const struct heddle_graph *g)
{
	return simulated(g, (struct machine){.cpus = 1, .gpus = 1}).bytes_moved;
}

static void stop(const struct machine *m, heddle_data *const *data, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_ok(heddle_unregister(data[i]));
	assert_ok(heddle_stop(m->rt));
}

/* Each step of a block reads that block and its neighbours of the step before. But it waits for all of that step, since
 * the bar that is written in blocks is then read in halos, and each bar is used in turn. The card gets the two odd
 * blocks with their halos once, and then, in each step, the halos of the blocks beside. */
static void check_stencil(const struct heddle_graph *g)
{
	const size_t neighbours = 3 * BLOCKS - 2, borders = BLOCKS - 1;
	assert_int_equal(g->n_tasks, STEPS * BLOCKS);
	assert_true(count_edges(g) >= (STEPS - 1) * BLOCKS * BLOCKS);
	assert_int_equal(g->n_data,
	                 2 * neighbours); /* of each block what a neighbour on either side reads, and the rest */
	for (uint32_t b = 0; b < BLOCKS; b++)
		for (uint32_t before = 0; before < BLOCKS; before++)
			assert_true(waits(g, before, BLOCKS + b));
	for (size_t t = 0; t < g->n_tasks; t++) {
		size_t b = t % BLOCKS, sides = (size_t)(b > 0) + (b < BLOCKS - 1);
		assert_true(hd_graph_task_bytes(g, t) == (double)(2 * BLOCK + sides * HALO));
	}
	assert_int_equal(bytes_moved(g), BLOCKS / 2 * BLOCK + borders * HALO + (STEPS - 1) * 2 * borders * HALO);
}

static const struct heddle_filter halos = {.kind = HEDDLE_SPLIT_HALO, .nx = BLOCKS, .halo = HALO};
static const struct heddle_filter blocks = {.kind = HEDDLE_SPLIT_VECTOR, .nx = BLOCKS};

static void stencil_that_partitions_in_each_step_waits_where_its_layout_changes(void **state)
{
	(void)state;
	struct machine m = start_pair();
	heddle_data *bar[2] = {register_bar(&m, 0), register_bar(&m, 1)};
	for (size_t s = 0; s < STEPS; s++) {
		heddle_data *from = bar[s % 2], *to = bar[(s + 1) % 2];
		assert_ok(heddle_partition(from, &halos, NULL));
		assert_ok(heddle_partition(to, &blocks, NULL));
		for (size_t b = 0; b < BLOCKS; b++)
			submit_block(&m, b, heddle_child(from, b), heddle_child(to, b));
		assert_ok(heddle_unpartition(from));
		assert_ok(heddle_unpartition(to));
	}
	struct heddle_graph *g = recorded(&m);
	check_stencil(g);
	heddle_graph_free(g);
	stop(&m, bar, 2);
}

static void stencil_with_plans_waits_where_its_layout_changes(void **state)
{
	(void)state;
	struct machine m = start_pair();
	heddle_data *bar[2] = {register_bar(&m, 0), register_bar(&m, 1)};
	heddle_plan *read[2], *write[2];
	for (int i = 0; i < 2; i++) {
		assert_ok(heddle_plan_create(bar[i], &halos, &read[i]));
		assert_ok(heddle_plan_create(bar[i], &blocks, &write[i]));
	}
	for (size_t s = 0; s < STEPS; s++)
		for (size_t b = 0; b < BLOCKS; b++)
			submit_block(&m, b, heddle_plan_child(read[s % 2], b),
			             heddle_plan_child(write[(s + 1) % 2], b));
	struct heddle_graph *g = recorded(&m);
	check_stencil(g);
	heddle_graph_free(g);
	stop(&m, bar, 2);
}

/* The machine has cores alone, where nothing is moved, and every third block takes longer. */
static void recorded_stencil_takes_as_long_as_the_program_did(void **state)
{
	(void)state;
	struct machine m = {.cpus = BLOCKS};
	machine_start(&m);
	heddle_data *bar[2] = {register_bar(&m, 0), register_bar(&m, 1)};
	heddle_plan *read[2], *write[2];
	for (int i = 0; i < 2; i++) {
		assert_ok(heddle_plan_create(bar[i], &halos, &read[i]));
		assert_ok(heddle_plan_create(bar[i], &blocks, &write[i]));
	}
	for (size_t s = 0; s < STEPS; s++)
		for (size_t b = 0; b < BLOCKS; b++)
			WORK(&m, (s + b) % 3 ? 10 : 30, heddle_r(heddle_plan_child(read[s % 2], b)),
			     heddle_w(heddle_plan_child(write[(s + 1) % 2], b)));
	struct heddle_graph *g = recorded(&m);
	double makespan = machine_stats(&m).makespan;
	assert_true(makespan == 30 * STEPS); /* each step has a slow block, for which the next one waits */
	assert_true(simulated(g, (struct machine){.cpus = BLOCKS}).makespan == makespan);
	heddle_graph_free(g);
	stop(&m, bar, 2);
}

/* A matrix of 4 x 6 bytes, written in 2 stripes of rows, then read in 3 of columns, as a whole, and in nested parts. */
static void reads_through_several_plans_meet_what_was_written(void **state)
{
	(void)state;
	struct machine m = start_pair();
	heddle_data *a;
	heddle_plan *rows, *columns, *halves;
	assert_ok(heddle_matrix(m.rt, bars[0], 4, 6, 4, 1, &a));
	assert_ok(heddle_plan_create(a, &(struct heddle_filter){.kind = HEDDLE_SPLIT_ROWS, .nx = 2}, &rows));
	assert_ok(heddle_plan_create(a, &(struct heddle_filter){.kind = HEDDLE_SPLIT_COLUMNS, .ny = 3}, &columns));
	assert_ok(heddle_plan_create(heddle_plan_child(columns, 0),
	                             &(struct heddle_filter){.kind = HEDDLE_SPLIT_ROWS, .nx = 2}, &halves));
	heddle_data *lower = heddle_plan_child(halves, 1);
	assert_ok(heddle_data_set_name(lower, "lower"));
	WORK(&m, 1, heddle_w(heddle_plan_child(rows, 0)));    /* 0: 12 bytes */
	WORK(&m, 1, heddle_w(heddle_plan_child(rows, 1)));    /* 1 */
	WORK(&m, 1, heddle_r(heddle_plan_child(columns, 2))); /* 2: 8 bytes, of both */
	WORK(&m, 1, heddle_r(a));                             /* 3: 24 bytes */
	WORK(&m, 1, heddle_r(lower));                         /* 4: 4 bytes, of 1, but behind 0, too */
	WORK(&m, 1, heddle_rw(lower));                        /* 5: behind all that read the whole or parts of it */
	WORK(&m, 1, heddle_r(heddle_plan_child(columns, 0))); /* 6: of 0 and 5 */
	struct heddle_graph *g = recorded(&m);
	const double bytes[] = {12, 12, 8, 24, 4, 4, 8};
	for (size_t t = 0; t < 7; t++)
		assert_true(hd_graph_task_bytes(g, t) == bytes[t]);
	/* both halves of the first stripe of columns, of the third one, and of the second, which nobody uses alone */
	assert_int_equal(g->n_data, 6);
	assert_int_equal(g->data_names.n, 1);
	assert_int_equal(g->data[g->data_names.list[0].id].bytes, 4);
	const uint8_t wanted[7][7] = {{0, 0, 1, 1, 1, 1, 1},
	                              {0, 0, 1, 1, 1, 1, 1},
	                              {0, 0, 0, 0, 0, 1, 1},
	                              {0, 0, 0, 0, 0, 1, 1},
	                              {0, 0, 0, 0, 0, 1, 1},
	                              {0, 0, 0, 0, 0, 0, 1},
	                              {0}};
	for (uint32_t from = 0; from < 7; from++)
		for (uint32_t to = from + 1; to < 7; to++)
			assert_int_equal(waits(g, from, to), wanted[from][to]);
	heddle_graph_free(g);
	stop(&m, &a, 1);
}

/* The program holds a block for a while: what it holds up is an explicit edge. */
static void acquired_child_holds_up_those_that_share_elements_with_it(void **state)
{
	(void)state;
	struct machine m = start_pair();
	heddle_data *bar = register_bar(&m, 0), *other = register_bar(&m, 1);
	assert_ok(heddle_partition(bar, &blocks, NULL));
	WORK(&m, 1, heddle_rw(heddle_child(bar, 0)), heddle_rw(other)); /* 0 */
	WORK(&m, 1, heddle_rw(heddle_child(bar, 1)));                   /* 1 */
	assert_ok(heddle_acquire(heddle_child(bar, 0), HEDDLE_RW));
	assert_ok(heddle_release(heddle_child(bar, 0)));
	WORK(&m, 1, heddle_r(heddle_child(bar, 0))); /* 2 */
	assert_ok(heddle_unpartition(bar));
	WORK(&m, 1, heddle_rw(bar)); /* 3 */
	struct heddle_graph *g = recorded(&m);
	assert_int_equal(g->n_data, 4); /* two blocks, the rest of the bar, the other bar */
	assert_int_equal(count_edges(g), 4);
	assert_true(waits(g, 0, 2) && waits(g, 1, 3) && waits(g, 2, 3) && !waits(g, 1, 2));
	heddle_graph_free(g);
	stop(&m, (heddle_data *[]){bar, other}, 2);
}

static int sliding(const struct heddle_part *parent, size_t i, size_t offset[HEDDLE_MAX_DIMS],
                   size_t n[HEDDLE_MAX_DIMS], void *arg)
{
	(void)parent;
	(void)arg;
	offset[0] = i;
	n[0] = 2;
	return 0;
}

/* Two handles of a task may share elements: the task uses these once. */
static void task_names_shared_elements_once(void **state)
{
	(void)state;
	struct machine m = start_pair();
	heddle_data *bar = register_bar(&m, 0);
	const struct heddle_filter windows = {.kind = HEDDLE_SPLIT_CUSTOM, .n_children = 3, .child = sliding};
	heddle_plan *plan;
	assert_ok(heddle_plan_create(bar, &windows, &plan));
	WORK(&m, 1, heddle_w(bar));
	WORK(&m, 1, heddle_r(heddle_plan_child(plan, 0)), heddle_r(heddle_plan_child(plan, 1)));
	struct heddle_graph *g = recorded(&m);
	assert_int_equal(g->tasks[1].n_accesses, 3);
	assert_true(hd_graph_task_bytes(g, 1) == 3);
	assert_true(hd_graph_task_bytes(g, 0) == sizeof bars[0]);
	assert_int_equal(count_edges(g), 1);
	heddle_graph_free(g);
	stop(&m, &bar, 1);
}

/* 2900 windows of 1450 to 2900 elements have more cells than one keeps: then the datum is one piece. */
static void too_many_cells_become_one_piece(void **state)
{
	(void)state;
	enum { N = 2900 };
	struct machine m = start_pair();
	heddle_data *bar = register_bar(&m, 0);
	struct heddle_filter windows = {.kind = HEDDLE_SPLIT_HALO, .tile_x = 1, .halo = N / 2};
	heddle_plan *plan;
	heddle_data *part;
	assert_ok(heddle_vector(m.rt, bars[1], N, 1, &part));
	assert_ok(heddle_plan_create(part, &windows, &plan));
	assert_ok(heddle_data_set_name(part, "whole"));
	assert_ok(heddle_data_set_name(heddle_plan_child(plan, 7), "window"));
	WORK(&m, 1, heddle_w(part), heddle_w(bar));
	for (size_t i = 0; i < N; i++)
		WORK(&m, 1, heddle_r(heddle_plan_child(plan, i)));
	struct heddle_graph *g = recorded(&m);
	assert_int_equal(g->n_data, 2);
	assert_string_equal(heddle_name_of(&g->data_names, g->accesses[0].data), "whole");
	assert_int_equal(count_edges(g), N);
	heddle_graph_free(g);
	stop(&m, (heddle_data *[]){bar, part}, 2);
}

/* As many tasks that read the whole as it has tiles: their accesses to pieces would be the square of that. */
static void too_many_accesses_become_those_of_one_piece(void **state)
{
	(void)state;
	enum { N = 2100 };
	struct machine m = start_pair();
	struct heddle_filter tiles = {.kind = HEDDLE_SPLIT_VECTOR, .nx = N};
	heddle_plan *plan;
	heddle_data *whole;
	assert_ok(heddle_vector(m.rt, bars[1], N, 1, &whole));
	assert_ok(heddle_plan_create(whole, &tiles, &plan));
	for (size_t i = 0; i < N; i++)
		WORK(&m, 1, heddle_w(heddle_plan_child(plan, i)));
	for (size_t i = 0; i < N; i++)
		WORK(&m, 1, heddle_r(whole));
	struct heddle_graph *g = recorded(&m);
	assert_int_equal(g->n_data, 1);
	assert_int_equal(g->n_accesses, 2 * N);
	heddle_graph_free(g);
	stop(&m, &whole, 1);
}

/* --- By chance, against a definition by elements ------------------------------------------------------------------ */

enum { NX = 7, NY = 6, ELEMENTS = NX * NY, HANDLES = 24, TASKS = 30, SEEDS = 60 };

/* A handle, and which elements of the matrix it has. */
struct window {
	heddle_data *handle;
	size_t x, y, nx, ny;
	int read_only;
};

struct chance {
	struct hd_rng rng;
	struct window windows[HANDLES];
	size_t n;
};

/* The children of a custom filter: windows of the parent, which may overlap and leave elements out. */
struct cut {
	size_t x[4], y[4], nx[4], ny[4];
};

static int cut_child(const struct heddle_part *parent, size_t i, size_t offset[HEDDLE_MAX_DIMS],
                     size_t n[HEDDLE_MAX_DIMS], void *arg)
{
	const struct cut *c = arg;
	(void)parent;
	offset[0] = c->x[i];
	offset[1] = c->y[i];
	n[0] = c->nx[i];
	n[1] = c->ny[i];
	return 0;
}

static int overlap(const struct cut *c, size_t a, size_t b)
{
	return c->x[a] < c->x[b] + c->nx[b] && c->x[b] < c->x[a] + c->nx[a] && c->y[a] < c->y[b] + c->ny[b] &&
	       c->y[b] < c->y[a] + c->ny[a];
}

static void add_plan(struct chance *p)
{
	struct window above = p->windows[below(&p->rng, (uint32_t)p->n)];
	struct cut c;
	size_t n = 1 + below(&p->rng, 4);
	if (p->n + n > HANDLES)
		return;
	for (size_t i = 0; i < n; i++) {
		c.nx[i] = 1 + below(&p->rng, (uint32_t)above.nx);
		c.ny[i] = 1 + below(&p->rng, (uint32_t)above.ny);
		c.x[i] = below(&p->rng, (uint32_t)(above.nx - c.nx[i] + 1));
		c.y[i] = below(&p->rng, (uint32_t)(above.ny - c.ny[i] + 1));
	}
	const struct heddle_filter filter = {
	    .kind = HEDDLE_SPLIT_CUSTOM, .n_children = n, .child = cut_child, .arg = &c};
	heddle_plan *plan;
	assert_ok(heddle_plan_create(above.handle, &filter, &plan));
	for (size_t i = 0; i < n; i++) {
		struct window *w = &p->windows[p->n++];
		*w = (struct window){
		    heddle_plan_child(plan, i), above.x + c.x[i], above.y + c.y[i], c.nx[i], c.ny[i], above.read_only};
		for (size_t k = 0; k < n; k++)
			w->read_only |= k != i && overlap(&c, i, k);
	}
}

/* Submits a task on one or two windows. modes[element]: what it does there, 0 for nothing. Returns the elements. */
static size_t submit_by_chance(const struct machine *m, struct chance *p, uint8_t modes[ELEMENTS])
{
	const struct window *w[2] = {&p->windows[below(&p->rng, (uint32_t)p->n)],
	                             &p->windows[below(&p->rng, (uint32_t)p->n)]};
	int write = !w[0]->read_only && below(&p->rng, 2);
	size_t n = 0;
	memset(modes, 0, ELEMENTS);
	for (size_t i = 0; i < 2; i++)
		for (size_t y = w[i]->y; y < w[i]->y + w[i]->ny; y++)
			for (size_t x = w[i]->x; x < w[i]->x + w[i]->nx; x++)
				if (i == 0 || !write) {
					n += !modes[x + y * NX];
					modes[x + y * NX] = i == 0 && write ? HEDDLE_RW : HEDDLE_R;
				}
	if (write)
		WORK(m, 1, heddle_rw(w[0]->handle));
	else if (w[0] == w[1])
		WORK(m, 1, heddle_r(w[0]->handle));
	else
		WORK(m, 1, heddle_r(w[0]->handle), heddle_r(w[1]->handle));
	return n;
}

static int by_ends(const void *pa, const void *pb)
{
	const struct heddle_graph_edge *a = pa, *b = pb;
	return a->to != b->to ? (a->to > b->to) - (a->to < b->to) : (a->from > b->from) - (a->from < b->from);
}

/* How many tasks were submitted before the one with this id; TASKS: it is that of a control. */
static uint32_t place_of(const struct heddle_trace *trace, uint64_t id)
{
	uint32_t place = 0, is_task = 0;
	for (size_t i = 0; i < trace->n_tasks; i++) {
		place += trace->tasks[i].id < id;
		is_task |= trace->tasks[i].id == id;
	}
	return is_task ? place : TASKS;
}

static void recorded_tasks_wait_for_elements_and_layouts(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct machine m = start_pair();
		struct chance p = {.rng = rng_of(seed), .n = 1};
		static uint8_t modes[TASKS][ELEMENTS];
		size_t n[TASKS];
		p.windows[0] = (struct window){.nx = NX, .ny = NY};
		assert_ok(heddle_matrix(m.rt, bars[0], NX, NY, NX, 1, &p.windows[0].handle));
		for (int i = 0; i < 6; i++)
			add_plan(&p);
		for (size_t t = 0; t < TASKS; t++)
			n[t] = submit_by_chance(&m, &p, modes[t]);
		struct heddle_graph *g = recorded(&m);
		struct heddle_trace *trace = machine_trace(&m);
		struct heddle_graph_edge *edges, wanted[2 * TASKS * TASKS];
		size_t n_edges, n_wanted = 0;
		assert_ok(heddle_graph_edges(g, &edges, &n_edges));
		for (uint32_t to = 0; to < TASKS; to++) {
			assert_true(hd_graph_task_bytes(g, to) == (double)n[to]);
			for (uint32_t from = 0; from < to; from++) {
				int conflicts = 0;
				for (size_t e = 0; e < ELEMENTS; e++)
					conflicts |= modes[from][e] && modes[to][e] &&
					             (modes[from][e] == HEDDLE_RW || modes[to][e] == HEDDLE_RW);
				if (conflicts)
					wanted[n_wanted++] = (struct heddle_graph_edge){from, to};
			}
		}
		for (size_t e = 0; e < trace->n_edges; e++) {
			uint32_t from = place_of(trace, trace->edges[e].from), to = place_of(trace, trace->edges[e].to);
			if (from < TASKS && to < TASKS)
				wanted[n_wanted++] = (struct heddle_graph_edge){from, to};
		}
		qsort(wanted, n_wanted, sizeof *wanted, by_ends);
		heddle_trace_free(trace);
		uint8_t *found = closure(edges, n_edges, TASKS), *defined = closure(wanted, n_wanted, TASKS);
		assert_memory_equal(found, defined, TASKS * TASKS);
		free(found);
		free(defined);
		free(edges);
		heddle_graph_free(g);
		stop(&m, &p.windows[0].handle, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(stencil_that_partitions_in_each_step_waits_where_its_layout_changes),
	    cmocka_unit_test(stencil_with_plans_waits_where_its_layout_changes),
	    cmocka_unit_test(recorded_stencil_takes_as_long_as_the_program_did),
	    cmocka_unit_test(reads_through_several_plans_meet_what_was_written),
	    cmocka_unit_test(acquired_child_holds_up_those_that_share_elements_with_it),
	    cmocka_unit_test(task_names_shared_elements_once),
	    cmocka_unit_test(too_many_cells_become_one_piece),
	    cmocka_unit_test(too_many_accesses_become_those_of_one_piece),
	    cmocka_unit_test(recorded_tasks_wait_for_elements_and_layouts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
