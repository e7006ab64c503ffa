/* Random programs on data with plans, run in parallel and compared with their sequential execution.
 *
 * Every seed makes a few matrices, plans of them, plans of the children, and tasks that name any of these handles in
 * any mode and order; in between the program acquires handles, prefetches them, ends plans, waits. The kernels compute
 * whole numbers that depend on everything they read. The machine is CPU cores and emulated accelerators, most of them
 * with little memory; with --opencl K it has K OpenCL devices as well. In some programs kernels fail: then exactly the
 * right tasks must be cancelled, which follows from a small model of layouts (plans_model.h). SEEDS_PER_RUNTIME
 * consecutive seeds share a runtime. With --virtual, first, the programs run in virtual time on random machines, whose
 * accelerators have room for hardly two data: they must end, whatever order copies come in. */
#include <stdarg.h>
#include "platforms.h"
#include "opencl_kernels.h"
#include "plans_model.h"

enum { SEEDS_PER_RUNTIME = 25 };

static int problem(struct program *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int problem(struct program *p, const char *format, ...)
{
	if (!p->problem[0]) {
		va_list args;
		va_start(args, format);
		vsnprintf(p->problem, sizeof p->problem, format, args);
		va_end(args);
	}
	return -1;
}

static int must(struct program *p, int status, const char *what)
{
	return status ? problem(p, "%s: %s, %s", what, heddle_status_name(status), heddle_last_error()) : 0;
}

static int work_kernel(heddle_context *c)
{
	const struct work *w = heddle_value_ptr(c, 0);
	struct mem mem[MAX_ACCESS];
	int bad = heddle_context_n_data(c) != w->n;
	for (unsigned i = 0; i < w->n && !bad; i++)
		bad = mem_of(c, i, &mem[i]);
	uint64_t sum;
	bad = bad || compute(w->k, w->n, w->modes, mem, &sum);
	w->program->broken += bad;
	return w->fails ? heddle_fail(c, 7, "kernel %u was told to fail", w->task) : 0;
}

static int work_opencl(heddle_context *c)
{
	const struct work *w = heddle_value_ptr(c, 0);
	struct _cl_mem *sum;
	w->program->broken += heddle_context_n_data(c) != w->n || compute_opencl(c, w->k, w->n, w->modes, &sum);
	return w->fails ? heddle_fail(c, 7, "kernel %u was told to fail", w->task) : 0;
}

static void note_end(void *arg, int status)
{
	*(_Atomic int *)arg = status ? status : 1;
}

/* --- Data --------------------------------------------------------------------------------------------------------- */

static int add_node(struct program *p, const struct node *n)
{
	heddle_data_set_reduction(n->handle, p->reduction[0], p->reduction[1]);
	p->nodes[p->n_nodes++] = *n;
	return 0;
}

static int make_tree(struct program *p)
{
	unsigned t = p->n_trees;
	size_t m = 1 + below(&p->rng, MAX_EXTENT), n = 1 + below(&p->rng, MAX_EXTENT);
	size_t ld = m + (chance(&p->rng, 0.5) ? below(&p->rng, 3) : 0);
	struct node root = {.parent = -1};
	p->lines[t] = ld;
	p->buffers[t] = calloc(ld * n, sizeof(uint64_t));
	p->expected[t] = calloc(m * n, sizeof(uint64_t));
	if (!p->buffers[t] || !p->expected[t])
		return problem(p, "out of memory");
	p->n_trees++;
	root.expected = (struct mem){p->expected[t], m, n, m};
	const struct mem own = {p->buffers[t], m, n, ld};
	for (size_t e = 0; e < m * n; e++)
		*element(&own, e) = *element(&root.expected, e) = hd_rng_next(&p->rng);
	return must(p, heddle_matrix(p->rt, p->buffers[t], m, n, ld, sizeof(uint64_t), &root.handle),
	            "heddle_matrix") ||
	       add_node(p, &root);
}

/* Where the children of a plan lie in their parent. */
struct cut {
	size_t n;
	struct box {
		size_t i, j, m, n;
		int shared; /* with another child: it can only be read */
	} child[9];
};

static void cut_grid(struct cut *cut, const struct mem *whole, size_t tile_x, size_t tile_y, size_t halo)
{
	cut->n = 0;
	for (size_t j = 0; j < whole->n; j += tile_y)
		for (size_t i = 0; i < whole->m; i += tile_x) {
			size_t before_i = i < halo ? i : halo, before_j = j < halo ? j : halo;
			size_t end_i = i + tile_x + halo, end_j = j + tile_y + halo;
			end_i = end_i < whole->m ? end_i : whole->m;
			end_j = end_j < whole->n ? end_j : whole->n;
			cut->child[cut->n++] = (struct box){
			    .i = i - before_i, .j = j - before_j, .m = end_i - i + before_i, .n = end_j - j + before_j};
		}
}

/* Up to three windows anywhere: some elements may be in several of them, others in none. */
static void cut_anywhere(struct program *p, struct cut *cut, const struct mem *whole)
{
	cut->n = 1 + below(&p->rng, 3);
	for (size_t k = 0; k < cut->n; k++) {
		struct box *b = &cut->child[k];
		b->i = below(&p->rng, (unsigned)whole->m);
		b->j = below(&p->rng, (unsigned)whole->n);
		b->m = 1 + below(&p->rng, (unsigned)(whole->m - b->i));
		b->n = 1 + below(&p->rng, (unsigned)(whole->n - b->j));
	}
}

static void find_shared(struct cut *cut)
{
	for (size_t k = 0; k < cut->n; k++)
		for (size_t l = 0; l < cut->n; l++) {
			struct box *x = &cut->child[k], *y = &cut->child[l];
			x->shared |= k != l && x->i < y->i + y->m && y->i < x->i + x->m && x->j < y->j + y->n &&
			             y->j < x->j + x->n;
		}
}

static int has_gaps(const struct cut *cut, const struct mem *whole)
{
	size_t n = 0;
	for (size_t k = 0; k < cut->n; k++)
		n += cut->child[k].shared ? whole->m * whole->n : cut->child[k].m * cut->child[k].n;
	return n != whole->m * whole->n;
}

static int child_of_cut(const struct heddle_part *parent, size_t i, size_t *offset, size_t *n, void *arg)
{
	const struct box *b = &((const struct cut *)arg)->child[i];
	(void)parent;
	offset[0] = b->i;
	offset[1] = b->j;
	n[0] = b->m;
	n[1] = b->n;
	return 0;
}

/* Draws a filter for the node, and finds out what its children will be. */
static struct heddle_filter draw_filter(struct program *p, const struct mem *whole, struct cut *cut)
{
	static const enum heddle_filter_kind kinds[] = {HEDDLE_SPLIT_ROWS, HEDDLE_SPLIT_COLUMNS, HEDDLE_SPLIT_TILES,
	                                                HEDDLE_SPLIT_HALO, HEDDLE_SPLIT_CUSTOM};
	enum heddle_filter_kind kind = kinds[below(&p->rng, chance(&p->rng, 0.3) ? 5 : 3)];
	size_t nx = kind == HEDDLE_SPLIT_COLUMNS ? 1 : 1 + below(&p->rng, whole->m < 3 ? (unsigned)whole->m : 3);
	size_t ny = kind == HEDDLE_SPLIT_ROWS ? 1 : 1 + below(&p->rng, whole->n < 3 ? (unsigned)whole->n : 3);
	size_t tile_x = (whole->m + nx - 1) / nx, tile_y = (whole->n + ny - 1) / ny;
	struct heddle_filter f = {.kind = kind, .tile_x = tile_x, .tile_y = tile_y};
	*cut = (struct cut){.n = 0};
	if (kind == HEDDLE_SPLIT_CUSTOM) {
		cut_anywhere(p, cut, whole);
		f = (struct heddle_filter){.kind = kind, .n_children = cut->n, .child = child_of_cut, .arg = cut};
	} else {
		f.halo = f.halo_y = kind == HEDDLE_SPLIT_HALO ? below(&p->rng, 3) : 0;
		cut_grid(cut, whole, tile_x, tile_y, f.halo);
	}
	if (kind == HEDDLE_SPLIT_COLUMNS)
		f.tile_x = 0;
	if (kind == HEDDLE_SPLIT_ROWS)
		f.tile_y = 0;
	if (kind == HEDDLE_SPLIT_HALO) /* even if it widens nothing */
		for (size_t k = 0; k < cut->n; k++)
			cut->child[k].shared = 1;
	find_shared(cut);
	return f;
}

static int make_plan(struct program *p, int x)
{
	const struct node *n = &p->nodes[x];
	const struct mem whole = n->expected;
	struct cut cut;
	heddle_plan *plan;
	if (n->ended || n->depth == 3)
		return 0;
	struct heddle_filter f = draw_filter(p, &whole, &cut);
	if (p->n_nodes + cut.n > MAX_NODES)
		return 0;
	if (must(p, heddle_plan_create(n->handle, &f, &plan), "heddle_plan_create"))
		return -1;
	if (heddle_plan_size(plan) != cut.n)
		return problem(p, "a plan has %zu children instead of %zu", heddle_plan_size(plan), cut.n);
	for (size_t i = 0; i < cut.n; i++) {
		const struct box *b = &cut.child[i];
		struct node child = {.handle = heddle_plan_child(plan, i),
		                     .expected = {whole.base + b->i + b->j * whole.ld, b->m, b->n, whole.ld},
		                     .plan = plan,
		                     .read_only = n->read_only || b->shared,
		                     .has_gaps = has_gaps(&cut, &whole),
		                     .parent = x,
		                     .depth = n->depth + 1};
		add_node(p, &child);
	}
	return 0;
}

static void end_below(struct program *p, const heddle_plan *plan)
{
	for (unsigned i = 0; i < p->n_nodes; i++)
		if (p->nodes[i].plan == plan && !p->nodes[i].ended) {
			p->nodes[i].ended = 1;
			for (unsigned k = 0; k < p->n_nodes; k++)
				/* the plan of one that has ended before is freed, and another one may lie there */
				if (p->nodes[k].parent == (int)i && !p->nodes[k].ended)
					end_below(p, p->nodes[k].plan);
		}
}

static int end_plan(struct program *p, int x)
{
	const struct node *n = &p->nodes[x];
	heddle_plan *plan = n->plan;
	if (!plan || n->ended)
		return 0;
	int used = scatter_above(p, n->parent);
	const heddle_plan *value = p->nodes[n->parent].scattered;
	if (used && (!value || value == plan)) /* the pieces of another plan stay where they are */
		join(p, n->parent);
	end_below(p, plan);
	return must(p, heddle_plan_destroy(plan), "heddle_plan_destroy");
}

/* --- What the program does ---------------------------------------------------------------------------------------- */

static int conflicts(const struct program *p, const int *x, const struct work *w)
{
	for (unsigned i = 0; i < w->n; i++)
		for (unsigned k = 0; k < i; k++) {
			int reads = (w->modes[i] == HEDDLE_R || w->modes[i] == HEDDLE_SCRATCH) &&
			            (w->modes[k] == HEDDLE_R || w->modes[k] == HEDDLE_SCRATCH);
			if (!reads && x[i] != x[k] && overlap(p, x[i], x[k]))
				return 1;
		}
	return 0;
}

static void run_reference(struct program *p, const struct work *w, const int *x)
{
	static uint64_t scratch[MAX_ACCESS][MAX_EXTENT * MAX_EXTENT];
	struct mem mem[MAX_ACCESS];
	int status = w->fails ? HEDDLE_E_KERNEL : 0;
	for (unsigned i = 0; i < w->n; i++) {
		mem[i] = p->nodes[x[i]].expected;
		if (w->modes[i] == HEDDLE_SCRATCH)
			mem[i] = (struct mem){scratch[i], mem[i].m, mem[i].n, mem[i].m};
		else if (!comes_to(p, x[i], w->modes[i]))
			status = HEDDLE_E_CANCELLED;
	}
	for (unsigned i = 0; i < w->n; i++)
		if (w->modes[i] != HEDDLE_R && w->modes[i] != HEDDLE_SCRATCH)
			p->nodes[x[i]].is_void = status != 0;
	uint64_t sum;
	if (!status)
		compute(w->k, w->n, w->modes, mem, &sum);
	p->wanted[w->task] = status ? status : 1;
}

static int choose_node(struct program *p)
{
	int x;
	do
		x = (int)below(&p->rng, p->n_nodes);
	while (p->nodes[x].ended);
	return x;
}

static int submit_task(struct program *p)
{
	const int modes[] = {HEDDLE_R,  HEDDLE_R,       HEDDLE_R,       HEDDLE_W,    HEDDLE_RW,
	                     HEDDLE_RW, HEDDLE_SCRATCH, HEDDLE_COMMUTE, HEDDLE_REDUX};
	struct work w = {.program = p, .k = hd_rng_next(&p->rng), .task = p->n_tasks};
	struct heddle_item items[MAX_ACCESS + 9];
	int x[MAX_ACCESS];
	unsigned wanted = 1 + below(&p->rng, MAX_ACCESS), codelet = 0;
	uint64_t bytes = 0;
	for (unsigned i = 0; i < wanted; i++) {
		int twice = 0;
		x[w.n] = choose_node(p);
		for (unsigned k = 0; k < w.n; k++)
			twice |= x[k] == x[w.n];
		if (twice)
			continue;
		w.modes[w.n] = modes[below(&p->rng, p->failing ? 6 : 9)];
		if (p->nodes[x[w.n]].read_only)
			w.modes[w.n] = HEDDLE_R;
		items[w.n] = heddle_access((enum heddle_mode)w.modes[w.n], p->nodes[x[w.n]].handle);
		bytes += p->nodes[x[w.n]].expected.m * p->nodes[x[w.n]].expected.n * sizeof(uint64_t);
		w.n++;
	}
	w.fails = p->failing && chance(&p->rng, 0.1);
	size_t n = w.n;
	if (chance(&p->rng, 0.3))
		codelet = below(&p->rng, p->n_codelets);
	else if (bytes <= p->room && chance(&p->rng, 0.5))
		items[n++] = heddle_on(below(&p->rng, (unsigned)heddle_runtime_platform(p->rt)->n_workers));
	items[n++] = heddle_call(p->codelets[codelet]);
	items[n++] = heddle_bytes(&w, sizeof w);
	items[n++] = heddle_then(note_end, &p->ended[w.task]);
	if (chance(&p->rng, 0.3))
		items[n++] = heddle_priority((int)below(&p->rng, 11) - 5);
	if (conflicts(p, x, &w)) {
		int status = heddle_submit_items(p->rt, n, items);
		return status == HEDDLE_E_INVALID
		           ? 0
		           : problem(p, "a task with overlapping data was not refused: %s", heddle_status_name(status));
	}
	run_reference(p, &w, x);
	p->n_tasks++;
	return must(p, heddle_submit_items(p->rt, n, items), "heddle_submit_items");
}

static int acquire_node(struct program *p, int x)
{
	const int modes[] = {HEDDLE_R, HEDDLE_RW, HEDDLE_W};
	struct node *n = &p->nodes[x];
	int mode = n->read_only ? HEDDLE_R : modes[below(&p->rng, 3)],
	    value = mode == HEDDLE_RW ? lends(p, x) : comes_to(p, x, mode);
	int status = heddle_acquire(n->handle, (enum heddle_mode)mode);
	if (!value)
		return status == HEDDLE_E_CANCELLED ? 0
		                                    : problem(p, "acquiring a void handle returned %s, %s",
		                                              heddle_status_name(status), heddle_last_error());
	struct heddle_part part;
	if (must(p, status, "heddle_acquire") || must(p, heddle_data_part(n->handle, 0, &part), "heddle_data_part"))
		return -1;
	const struct mem seen = {part.base, part.n[0], part.n[1], part.stride[1]};
	if (mode != HEDDLE_W && !p->is_virtual && !same(&seen, &n->expected))
		problem(p, "an acquired handle at depth %d has another value than in a sequential run", n->depth);
	uint64_t s = hd_rng_next(&p->rng);
	if (mode != HEDDLE_R) {
		write_elements(&seen, mode, s);
		write_elements(&n->expected, mode, s);
		n->is_void = 0;
	}
	return must(p, heddle_release(n->handle), "heddle_release");
}

/* Several at once: then they wait for each other, and tasks meet them where they are not done. */
static int prefetch_some(struct program *p)
{
	unsigned to = below(&p->rng, (unsigned)heddle_runtime_platform(p->rt)->n_nodes);
	int status = 0;
	for (unsigned i = 1 + below(&p->rng, 4); i-- && !status;)
		status = must(p, heddle_prefetch(p->nodes[choose_node(p)].handle, to), "heddle_prefetch");
	return status;
}

static int one_step(struct program *p)
{
	/* In virtual time nothing happens but while the program waits: so it does often. */
	static const double until[2][5] = {{0.74, 0.81, 0.86, 0.93, 0.96}, {0.45, 0.5, 0.7, 0.8, 0.83}};
	int x = choose_node(p);
	double what = hd_rng_uniform(&p->rng);
	const double *limit = until[p->is_virtual];
	if (what < limit[0])
		return submit_task(p);
	if (what < limit[1])
		return acquire_node(p, x);
	if (what < limit[2])
		return prefetch_some(p);
	if (what < limit[3])
		return make_plan(p, x);
	if (what < limit[4])
		return end_plan(p, x);
	return p->failing ? 0 : must(p, heddle_wait_all(p->rt), "heddle_wait_all");
}

static int finish_tree(struct program *p, int x, const uint64_t *buffer, size_t ld)
{
	const struct node *n = &p->nodes[x];
	int value = comes_to(p, x, HEDDLE_RW);
	int status = heddle_unregister(n->handle);
	if (!value)
		return status == HEDDLE_E_CANCELLED
		           ? 0
		           : problem(p, "unregistering void data returned %s", heddle_status_name(status));
	const struct mem own = {(uint64_t *)(uintptr_t)buffer, n->expected.m, n->expected.n, ld};
	if (must(p, status, "heddle_unregister"))
		return -1;
	return p->is_virtual || same(&own, &n->expected)
	           ? 0
	           : problem(p, "a matrix ends with another value than in a sequential run");
}

static void finish(struct program *p)
{
	int status = heddle_wait_all(p->rt), failed = 0;
	for (unsigned i = 0; i < p->n_tasks && status != HEDDLE_E_DEADLOCK; i++) {
		failed |= p->wanted[i] != 1;
		if (p->ended[i] != p->wanted[i])
			problem(p, "task %u ended with %d instead of %d", i, p->ended[i], p->wanted[i]);
	}
	if ((status != 0) != failed || status == HEDDLE_E_DEADLOCK || p->broken)
		problem(p, "heddle_wait_all: %s, %s; %d kernels saw wrong data", heddle_status_name(status),
		        heddle_last_error(), p->broken);
	for (unsigned i = 0, t = 0; i < p->n_nodes && !p->problem[0]; i++)
		if (p->nodes[i].parent < 0) {
			finish_tree(p, (int)i, p->buffers[t], p->lines[t]);
			t++;
		}
	for (unsigned t = 0; t < p->n_trees && !p->problem[0]; t++) {
		free(p->buffers[t]);
		free(p->expected[t]);
	}
}

/* --- Machines ----------------------------------------------------------------------------------------------------- */

static const int windows[] = {1, 3, 16, 0};

struct machine {
	heddle_runtime *rt;
	heddle_codelet *codelets[3], *reduction[2];
	unsigned n_codelets;
	int is_virtual;
	uint64_t room;
	char text[200];
};

static int make_virtual_codelets(struct machine *m)
{
	heddle_codelet **c[] = {&m->codelets[0], &m->codelets[1], &m->reduction[0], &m->reduction[1]};
	int status = 0;
	for (unsigned i = 0; i < 4; i++) /* number 1 only for CPUs */
		status |= !(
		    *c[i] = heddle_codelet_new(m->rt, .name = "kernel0", .cpu = never, .cuda = i == 1 ? NULL : never));
	m->n_codelets = 2;
	return status;
}

static int open_virtual_machine(struct machine *m, const struct options *options, uint64_t index)
{
	struct heddle_config config;
	struct hd_rng rng;
	hd_rng_seed(&rng, hd_hash(79, index));
	if (heddle_config_init(&config))
		return -1;
	m->room = LARGEST / 8 + below(&rng, LARGEST);
	struct heddle_platform *platform = make_platform(&rng, 1, m->room);
	config.sched = policy_name(options, index);
	config.window = windows[below(&rng, 4)];
	config.model_dir = "none";
	config.seed = index;
	snprintf(m->text, sizeof m->text, "virtual, %s, %zu workers, accelerators with %llu bytes, window %d",
	         config.sched, platform->n_workers, (unsigned long long)m->room, config.window);
	int status = heddle_start_on(&config, platform, 1, &m->rt) || make_virtual_codelets(m);
	heddle_platform_free(platform);
	return status;
}

static int open_machine(struct machine *m, const struct options *options, uint64_t index)
{
	struct heddle_config config;
	struct hd_rng rng;
	hd_rng_seed(&rng, hd_hash(78, index));
	if (heddle_config_init(&config))
		return -1;
	config.sched = policy_name(options, index);
	config.n_cpu = cores_up_to(1 + (int)below(&rng, 4));
	config.n_emulated = chance(&rng, 0.7) ? 2 : (int)below(&rng, 2);
	config.n_opencl = options->opencl;
	config.emulated_memory = chance(&rng, 0.7) ? 3 * LARGEST + below(&rng, LARGEST) : 0;
	config.opencl_memory = config.emulated_memory;
	config.emulated_latency = chance(&rng, 0.25) ? 1 + below(&rng, 20) : 0;
	config.window = windows[below(&rng, 4)];
	config.caller_works = chance(&rng, 0.5);
	config.pipeline = (int)below(&rng, 4);
	config.trace = chance(&rng, 0.2);
	config.bind = 0;
	config.model_dir = "none";
	config.seed = index;
	config.watchdog = HANG_S;
	snprintf(m->text, sizeof m->text, "%s, %d cpu, %d emulated and %d OpenCL of %llu bytes, window %d, pipeline %d",
	         config.sched, config.n_cpu, config.n_emulated, config.n_opencl,
	         (unsigned long long)config.emulated_memory, config.window, config.pipeline);
	if (start_crowded(&config, options->workers, &m->rt))
		return -1;
	m->codelets[0] = heddle_codelet_new(m->rt, .name = "any", .cpu = work_kernel, .opencl = work_opencl);
	const struct heddle_implementation only[] = {
	    {"cpu", NULL, work_kernel},
	    config.n_opencl ? (struct heddle_implementation){"opencl", NULL, work_opencl}
	                    : (struct heddle_implementation){"emulated", NULL, work_kernel}};
	m->codelets[1] = heddle_codelet_new(m->rt, .name = "one", .implementations = only, .n_implementations = 1);
	m->codelets[2] =
	    heddle_codelet_new(m->rt, .name = "other", .implementations = only + 1, .n_implementations = 1);
	m->reduction[0] = heddle_codelet_new(m->rt, .name = "zero", .cpu = zero_kernel, .opencl = zero_opencl);
	m->reduction[1] = heddle_codelet_new(m->rt, .name = "add", .cpu = add_kernel, .opencl = add_opencl);
	m->n_codelets = config.n_emulated || config.n_opencl ? 3 : 2;
	return m->codelets[1] && m->codelets[2] && m->reduction[0] && m->reduction[1] ? 0 : -1;
}

static int run_seed(struct machine *m, uint64_t seed)
{
	static struct program p; /* large; one at a time */
	memset(&p, 0, sizeof p);
	p.rt = m->rt;
	p.codelets = m->codelets;
	p.reduction = m->reduction;
	p.n_codelets = m->n_codelets;
	hd_rng_seed(&p.rng, seed);
	p.failing = chance(&p.rng, 0.25) && !m->is_virtual;
	p.is_virtual = m->is_virtual;
	p.room = m->is_virtual ? m->room : UINT64_MAX;
	unsigned n_trees = 1 + below(&p.rng, MAX_TREES), n_tasks = 5 + below(&p.rng, MAX_TASKS - 5);
	for (unsigned i = 0; i < n_trees && !p.problem[0]; i++)
		make_tree(&p);
	for (unsigned i = 1 + below(&p.rng, 5); i-- && !p.problem[0];)
		make_plan(&p, choose_node(&p));
	while (p.n_tasks < n_tasks && !p.problem[0])
		if (!one_step(&p))
			must(&p, heddle_selfcheck(p.rt), "heddle_selfcheck");
	finish(&p);
	if (p.problem[0])
		fprintf(stderr, "%s\n  %s%s\n  replay with %s--seed %llu --count 1\n", p.problem, m->text,
		        p.failing ? ", failing" : "", m->is_virtual ? "--virtual " : "", (unsigned long long)seed);
	return p.problem[0] != 0;
}

static int run_group(const struct options *options, uint64_t first, uint64_t last, int is_virtual)
{
	struct machine m = {.is_virtual = is_virtual};
	begin_seed(first);
	if ((is_virtual ? open_virtual_machine : open_machine)(&m, options, first / SEEDS_PER_RUNTIME)) {
		fprintf(stderr, "%s\n  %s\n", heddle_last_error(), m.text);
		return 1;
	}
	current_runtime = m.rt;
	if (options->verbose)
		printf("seeds %llu to %llu: %s\n", (unsigned long long)first, (unsigned long long)last, m.text);
	int wrong = 0;
	for (uint64_t seed = first; seed <= last && !wrong; seed++) {
		begin_seed(seed);
		wrong = run_seed(&m, seed);
	}
	current_runtime = NULL;
	int status = heddle_stop(m.rt);
	if (status && !wrong)
		fprintf(stderr, "heddle_stop: %s\n  after --seed %llu\n", heddle_last_error(),
		        (unsigned long long)last);
	return wrong || status;
}

int main(int argc, char **argv)
{
	struct options options;
	int is_virtual = argc > 1 && strcmp(argv[1], "--virtual") == 0;
	if (parse_options(argc - is_virtual, argv + is_virtual, &options))
		return 2;
	if (options.opencl && !has_devices(&options))
		return 77;
	watch();
	uint64_t end = options.seed + options.count;
	for (uint64_t seed = options.seed; seed < end;) {
		uint64_t last = (seed / SEEDS_PER_RUNTIME + 1) * SEEDS_PER_RUNTIME - 1;
		last = last < end - 1 ? last : end - 1;
		if (run_group(&options, seed, last, is_virtual))
			return 1;
		seed = last + 1;
	}
	printf("%llu programs with plans from seed %llu: %s\n", (unsigned long long)options.count,
	       (unsigned long long)options.seed, is_virtual ? "all have ended" : "all as in a sequential run");
	return check_opencl_used(&options);
}
