/* Random task graphs with real data, run in parallel and compared with their sequential execution.
 *
 * Every seed makes one graph: data of several shapes, tasks with random access modes on them, and in between what a
 * program may do meanwhile: acquire, prefetch, partition, wait, unregister. The kernels compute whole numbers that
 * depend on everything they read, so that one task too early, one stale copy or one lost reduction changes the result.
 * The machine is CPU cores and emulated accelerators with room for two of the largest data at most: tasks are made to
 * fit it, so that hardly one is staged without another's data leaving. Few tasks are larger, and so for the CPU alone.
 * In some graphs kernels fail: then exactly the right tasks must be cancelled. SEEDS_PER_RUNTIME consecutive seeds
 * share a runtime. With --opencl K or --cuda K the machine has K such devices as well, with as little
 * memory. With --clusters some of its CPU workers have several cores, and most kernels use these.
 */
#include "clusters.h"
#include "pressure.h"

enum { SEEDS_PER_RUNTIME = 25 };

/* --- Data --------------------------------------------------------------------------------------------------------- */

static int register_shape(struct graph *g, struct datum *d)
{
	size_t m = d->expected.m, n = d->expected.n;
	const struct heddle_part tensor = {
	    d->buffer, sizeof(uint64_t), 2, {m, n, 0, 0}, {1, d->buffer ? d->ld : m, 0, 0}};
	if (d->dims == 0)
		return must(g, heddle_variable(g->rt, d->buffer, sizeof(uint64_t), &d->handle), "heddle_variable");
	if (d->dims == 1)
		return must(g, heddle_vector(g->rt, d->buffer, m, sizeof(uint64_t), &d->handle), "heddle_vector");
	if (chance(&g->rng, 0.5))
		return must(g, heddle_tensor(g->rt, &tensor, &d->handle), "heddle_tensor");
	return must(g, heddle_matrix(g->rt, d->buffer, m, n, d->ld, sizeof(uint64_t), &d->handle), "heddle_matrix");
}

static int register_datum(struct graph *g, struct datum *d)
{
	int status = register_shape(g, d);
	return status ? status
	              : must(g, heddle_data_set_reduction(d->handle, g->reduction[0], g->reduction[1]),
	                     "heddle_data_set_reduction");
}

/* Mostly near the bound, or small data would always find room. */
static size_t extent(struct graph *g, unsigned bound)
{
	return chance(&g->rng, 0.3) ? 1 + below(&g->rng, bound) : bound - below(&g->rng, bound / 4);
}

static int make_datum(struct graph *g)
{
	struct datum *d = &g->data[g->n_data];
	memset(d, 0, sizeof *d);
	const int shapes[] = {0, 1, 1, 2, 2, 2};
	d->dims = shapes[below(&g->rng, 6)];
	size_t m = d->dims ? extent(g, d->dims == 1 ? MAX_ELEMENTS : 24) : 1,
	       n = d->dims == 2 ? extent(g, MAX_ELEMENTS / 24) : 1;
	d->ld = m + (d->dims == 2 ? below(&g->rng, 4) : 0);
	d->written = chance(&g->rng, 0.8);
	d->expected = (struct mem){calloc(m * n, sizeof(uint64_t)), m, n, m};
	d->buffer = d->written ? calloc(d->ld * n, sizeof(uint64_t)) : NULL;
	if (!d->expected.base || (d->written && !d->buffer))
		return problem(g, "out of memory");
	g->n_data++;
	const struct mem own = {d->buffer, m, n, d->ld};
	for (size_t e = 0; d->written && e < m * n; e++)
		*element(&own, e) = *element(&d->expected, e) = hd_rng_next(&g->rng);
	return register_datum(g, d);
}

/* The program looks at a datum, and sometimes changes it, while tasks go on. */
static int acquire_datum(struct graph *g, struct datum *d)
{
	const int modes[] = {HEDDLE_R, HEDDLE_RW, HEDDLE_W};
	int mode = d->written ? modes[below(&g->rng, 3)] : HEDDLE_W;
	int status = heddle_acquire(d->handle, (enum heddle_mode)mode);
	if (d->is_void && mode != HEDDLE_W)
		return status == HEDDLE_E_CANCELLED
		           ? 0
		           : problem(g, "acquiring void data returned %s", heddle_status_name(status));
	if (must(g, status, "heddle_acquire"))
		return -1;
	struct heddle_part part;
	if (must(g, heddle_data_part(d->handle, 0, &part), "heddle_data_part"))
		return -1;
	const struct mem seen = {part.base, d->expected.m, d->expected.n,
	                         part.n_dims > 1 ? part.stride[1] : d->expected.m};
	if (mode != HEDDLE_W && !same(&seen, &d->expected))
		return problem(g, "acquired datum %u has another value than in a sequential run",
		               (unsigned)(d - g->data));
	if (mode != HEDDLE_R) {
		uint64_t s = hd_rng_next(&g->rng);
		write_elements(&seen, mode, s);
		write_elements(&d->expected, mode, s);
		d->written = 1;
		d->is_void = 0;
	}
	return must(g, heddle_release(d->handle), "heddle_release");
}

static void set_children(struct datum *d, const struct heddle_filter *f, size_t n)
{
	size_t across = f->tile_x && f->tile_y ? (d->expected.m + f->tile_x - 1) / f->tile_x : n;
	for (size_t i = 0; i < n; i++) {
		size_t r0 = f->tile_x ? i % across * f->tile_x : 0;
		size_t r1 = f->tile_x && r0 + f->tile_x < d->expected.m ? r0 + f->tile_x : d->expected.m;
		size_t c0 = f->kind == HEDDLE_SPLIT_COLUMNS ? i * f->tile_y : f->tile_y ? i / across * f->tile_y : 0;
		size_t c1 = f->tile_y && c0 + f->tile_y < d->expected.n ? c0 + f->tile_y : d->expected.n;
		r0 -= r0 < f->halo ? r0 : f->halo;
		r1 = r1 + f->halo < d->expected.m ? r1 + f->halo : d->expected.m;
		c0 -= c0 < f->halo_y ? c0 : f->halo_y;
		c1 = c1 + f->halo_y < d->expected.n ? c1 + f->halo_y : d->expected.n;
		d->child[i] =
		    (struct mem){d->expected.base + r0 + c0 * d->expected.ld, r1 - r0, c1 - c0, d->expected.ld};
	}
}

static int partition_datum(struct graph *g, struct datum *d)
{
	if (d->n_children) {
		d->n_children = 0;
		return must(g, heddle_unpartition(d->handle), "heddle_unpartition");
	}
	if (!d->dims || !d->written || g->failing)
		return 0;
	const enum heddle_filter_kind kinds[] = {HEDDLE_SPLIT_VECTOR, HEDDLE_SPLIT_HALO, HEDDLE_SPLIT_ROWS,
	                                         HEDDLE_SPLIT_COLUMNS, HEDDLE_SPLIT_TILES};
	struct heddle_filter f = {.kind = d->dims == 1 ? kinds[below(&g->rng, 2)] : kinds[1 + below(&g->rng, 4)]};
	size_t rows = d->expected.m / 8 + 1 + below(&g->rng, (unsigned)d->expected.m);
	size_t columns = d->expected.n / 8 + 1 + below(&g->rng, (unsigned)d->expected.n);
	f.tile_x = f.kind == HEDDLE_SPLIT_COLUMNS ? 0 : rows < d->expected.m ? rows : d->expected.m;
	f.tile_y = d->dims > 1 && f.kind != HEDDLE_SPLIT_ROWS ? columns < d->expected.n ? columns : d->expected.n : 0;
	f.halo = f.kind == HEDDLE_SPLIT_HALO ? below(&g->rng, 4) : 0;
	f.halo_y = f.kind == HEDDLE_SPLIT_HALO && d->dims > 1 ? below(&g->rng, 4) : 0;
	size_t n = 0, wanted = (f.tile_x ? (d->expected.m + f.tile_x - 1) / f.tile_x : 1) *
	                       (f.tile_y ? (d->expected.n + f.tile_y - 1) / f.tile_y : 1);
	if (must(g, heddle_partition(d->handle, &f, &n), "heddle_partition"))
		return -1;
	if (n != wanted)
		return problem(g, "heddle_partition made %zu children instead of %zu", n, wanted);
	d->n_children = n;
	d->overlap = f.kind == HEDDLE_SPLIT_HALO;
	set_children(d, &f, n);
	return 0;
}

/* Nobody needs the value any more: the next task writes it, or adds to nothing. */
static int forget_datum(struct graph *g, struct datum *d)
{
	if (d->n_children || g->failing)
		return 0;
	d->written = 0;
	memset(d->expected.base, 0, d->expected.m * d->expected.n * sizeof(uint64_t));
	return must(g, heddle_forget(d->handle), "heddle_forget");
}

/* Copies a datum to the first other one of its shape, if there is one. */
static int copy_datum(struct graph *g, const struct datum *from)
{
	for (struct datum *to = g->data; to < g->data + g->n_data; to++) {
		if (to == from || to->n_children || from->n_children || !from->written || g->failing ||
		    to->dims != from->dims || to->expected.m != from->expected.m || to->expected.n != from->expected.n)
			continue;
		to->written = 1;
		for (size_t e = 0; e < to->expected.m * to->expected.n; e++)
			*element(&to->expected, e) = *element(&from->expected, e);
		return must(g, heddle_copy(to->handle, from->handle), "heddle_copy");
	}
	return 0;
}

/* Ends the handle, looks at the result, and begins a new one on the same buffer. */
static int finish_datum(struct graph *g, struct datum *d, int anew)
{
	if (d->n_children && partition_datum(g, d))
		return -1;
	if (!d->buffer && d->written && acquire_datum(g, d))
		return -1;
	int status = heddle_unregister(d->handle);
	d->handle = NULL;
	if (d->is_void && d->buffer) {
		if (status != HEDDLE_E_CANCELLED)
			return problem(g, "unregistering void data returned %s", heddle_status_name(status));
		struct mem own = {d->buffer, d->expected.m, d->expected.n, d->ld};
		for (size_t e = 0; e < own.m * own.n; e++)
			*element(&d->expected, e) = *element(&own, e); /* anything may be there */
	} else if (status && !d->is_void) {
		return must(g, status, "heddle_unregister");
	}
	const struct mem own = {d->buffer, d->expected.m, d->expected.n, d->ld};
	for (size_t e = 0; d->buffer && !d->written && e < own.m * own.n; e++)
		*element(&d->expected, e) = *element(&own, e); /* it was forgotten: anything may be there */
	if (d->buffer && !same(&own, &d->expected))
		return problem(g, "datum %u ends with another value than in a sequential run", (unsigned)(d - g->data));
	d->is_void = 0;
	d->written = d->buffer != NULL;
	if (!d->buffer)
		memset(d->expected.base, 0, d->expected.m * d->expected.n * sizeof(uint64_t));
	return anew ? register_datum(g, d) : 0;
}

/* --- Tasks -------------------------------------------------------------------------------------------------------- */

/* Chooses a mode that makes sense for the datum now. */
static int choose_mode(struct graph *g, const struct datum *d)
{
	const int free_order[] = {HEDDLE_R,  HEDDLE_R,       HEDDLE_W,       HEDDLE_RW,
	                          HEDDLE_RW, HEDDLE_SCRATCH, HEDDLE_COMMUTE, HEDDLE_REDUX};
	if (d->n_children)
		return d->overlap || chance(&g->rng, 0.4) ? HEDDLE_R : free_order[2 + below(&g->rng, 3)];
	if (!d->written)
		return !g->failing && chance(&g->rng, 0.3) ? HEDDLE_REDUX : HEDDLE_W;
	return free_order[below(&g->rng, g->failing ? 6 : 8)];
}

/* Adds one access to the task, if there is room; `mem` is where its reference value lies. */
static void choose_access(struct graph *g, struct work *w, uint64_t *room, struct heddle_item *item, struct mem *mem,
                          struct datum **base)
{
	unsigned i = w->n;
	struct datum *d = &g->data[below(&g->rng, g->n_data)];
	unsigned child = d->n_children ? below(&g->rng, (unsigned)d->n_children) : 0;
	mem[i] = d->n_children ? d->child[child] : d->expected;
	for (unsigned j = 0; j < i; j++)
		if (base[j] == d)
			return; /* once per task */
	uint64_t bytes = mem[i].m * mem[i].n * sizeof(uint64_t);
	if (bytes > *room)
		return;
	*room -= bytes;
	heddle_data *handle = d->n_children ? heddle_child(d->handle, child) : d->handle;
	w->modes[i] = choose_mode(g, d);
	if (!d->n_children && w->modes[i] != HEDDLE_SCRATCH)
		d->written = 1;
	base[i] = d;
	item[i] = heddle_access((enum heddle_mode)w->modes[i], handle);
	w->n++;
}

/* What the sequential run does with the task, whether it fails or is cancelled included. */
static int run_reference(struct graph *g, const struct work *w, struct mem *mem, struct datum *const *base)
{
	static uint64_t scratch[MAX_ELEMENTS]; /* written and forgotten */
	int status = w->fails ? HEDDLE_E_KERNEL : 0;
	for (unsigned i = 0; i < w->n_after; i++)
		if (g->records[w->after[i]].expected_status)
			status = HEDDLE_E_CANCELLED;
	for (unsigned i = 0; i < w->n; i++)
		if (base[i]->is_void && w->modes[i] != HEDDLE_W && w->modes[i] != HEDDLE_SCRATCH)
			status = HEDDLE_E_CANCELLED;
	for (unsigned i = 0; i < w->n; i++) {
		if (w->modes[i] == HEDDLE_SCRATCH)
			mem[i] = (struct mem){scratch, mem[i].m, mem[i].n, mem[i].m};
		else if (w->modes[i] != HEDDLE_R)
			base[i]->is_void = status != 0;
	}
	uint64_t sum;
	if (!status)
		compute(w->k, w->n, w->modes, mem, &sum);
	return status;
}

static void choose_after(struct graph *g, struct work *w)
{
	while (w->task && w->n_after < 2 && chance(&g->rng, 0.15)) {
		unsigned before = below(&g->rng, w->task);
		if (g->records[before].held)
			w->after[w->n_after++] = before;
	}
}

static int submit_task(struct graph *g)
{
	struct work w = {.graph = g, .k = hd_rng_next(&g->rng), .task = g->n_tasks};
	struct heddle_item items[MAX_ACCESS + 16];
	struct mem mem[MAX_ACCESS];
	struct datum *base[MAX_ACCESS];
	struct record *r = &g->records[w.task];
	unsigned wanted = 1 + below(&g->rng, MAX_ACCESS),
	         codelet = chance(&g->rng, 0.7) ? 0 : below(&g->rng, g->n_codelets);
	int large = codelet < 2 && chance(&g->rng, 0.05);
	uint64_t room = large ? UINT64_MAX : g->room;
	for (unsigned i = 0; i < wanted; i++)
		choose_access(g, &w, &room, items, mem, base);
	choose_after(g, &w);
	w.fails = g->failing && chance(&g->rng, 0.1);
	size_t n = w.n;
	items[n++] = heddle_call(g->codelets[codelet]);
	items[n++] = heddle_bytes(&w, sizeof w);
	items[n++] = heddle_then(count_call, r);
	for (unsigned i = 0; i < w.n_after; i++)
		items[n++] = heddle_after(g->records[w.after[i]].held);
	if (chance(&g->rng, 0.5))
		items[n++] = heddle_priority((int)below(&g->rng, 11) - 5);
	if (!codelet && !large && chance(&g->rng, 0.1))
		items[n++] = heddle_on(below(&g->rng, g->n_workers));
	if (chance(&g->rng, 0.1))
		items[n++] = heddle_named("random");
	if (chance(&g->rng, 0.3))
		items[n++] = heddle_out(&r->held);
	r->expected_status = run_reference(g, &w, mem, base);
	g->n_tasks++;
	return must(g, heddle_submit_items(g->rt, n, items), "heddle_submit_items");
}

static int wait_for_one(struct graph *g)
{
	struct record *r = &g->records[below(&g->rng, g->n_tasks)];
	if (!r->held)
		return 0;
	int status = heddle_task_wait(r->held);
	if (status != r->expected_status || !heddle_task_done(r->held))
		return problem(g, "task %u: its wait returned %s instead of %s", (unsigned)(r - g->records),
		               heddle_status_name(status), heddle_status_name(r->expected_status));
	if (chance(&g->rng, 0.5)) {
		heddle_task_release(r->held);
		r->held = NULL;
	}
	return 0;
}

/* --- One graph ---------------------------------------------------------------------------------------------------- */

static int one_step(struct graph *g)
{
	struct datum *d = &g->data[below(&g->rng, g->n_data)];
	double what = hd_rng_uniform(&g->rng);
	if (what < 0.81 || !g->n_tasks)
		return submit_task(g);
	if (what < 0.84)
		return what < 0.825 ? forget_datum(g, d) : copy_datum(g, d);
	if (what < 0.88)
		return d->n_children ? 0 : acquire_datum(g, d);
	if (what < 0.90)
		return heddle_prefetch(d->n_children ? heddle_child(d->handle, 0) : d->handle,
		                       below(&g->rng, (unsigned)heddle_runtime_platform(g->rt)->n_nodes)) >= 0
		           ? 0
		           : problem(g, "heddle_prefetch: %s", heddle_last_error());
	if (what < 0.95)
		return partition_datum(g, d);
	if (what < 0.97)
		return wait_for_one(g);
	if (what < 0.99)
		return finish_datum(g, d, 0) || register_datum(g, d) ? -1 : 0;
	return g->failing ? 0 : must(g, heddle_wait_all(g->rt), "heddle_wait_all in the middle");
}

static int step(struct graph *g)
{
	return one_step(g) ? -1 : must(g, heddle_selfcheck(g->rt), "heddle_selfcheck");
}

/* All tasks have ended: each ran as often, ended as and was reported as it had to. */
static int check_records(struct graph *g)
{
	int failed = 0;
	for (unsigned i = 0; i < g->n_tasks; i++) {
		struct record *r = &g->records[i];
		int runs = r->expected_status != HEDDLE_E_CANCELLED;
		failed |= r->expected_status != 0;
		if (r->runs != runs)
			problem(g, "task %u ran %d times instead of %d", i, r->runs, runs);
		if (r->calls != 1 || r->status != r->expected_status)
			problem(g, "task %u: %d callbacks, status %s instead of %s", i, r->calls,
			        heddle_status_name(r->status), heddle_status_name(r->expected_status));
		if (r->held)
			heddle_task_release(r->held);
		r->held = NULL;
	}
	if (g->broken)
		problem(g, "%d kernels saw wrong arguments, a shared scratch buffer, or ran too early", g->broken);
	return failed;
}

static void finish_graph(struct graph *g)
{
	int status = heddle_wait_all(g->rt);
	if (status == HEDDLE_E_DEADLOCK)
		must(g, status, "heddle_wait_all");
	int failed = check_records(g);
	if ((status != 0) != failed || (failed && status != HEDDLE_E_KERNEL))
		problem(g, "heddle_wait_all returned %s", heddle_status_name(status));
	for (unsigned i = 0; i < g->n_data; i++) {
		if (!g->problem[0])
			finish_datum(g, &g->data[i], 0);
		else if (g->data[i].handle)
			heddle_unregister(g->data[i].handle);
		if (g->problem[0])
			continue; /* tasks that were stuck may run yet */
		free(g->data[i].buffer);
		free(g->data[i].expected.base);
	}
}

/* The runtime of a group of seeds. */
struct machine {
	heddle_runtime *rt;
	heddle_codelet *codelets[5], *reduction[2];
	unsigned n_codelets;
	uint64_t room; /* of its accelerators; all there is when it has none, or no limit */
	char text[200];
};

static void draw_config(const struct options *options, uint64_t index, struct heddle_config *config)
{
	struct hd_rng rng;
	hd_rng_seed(&rng, hd_hash(77, index));
	const int windows[] = {1, 3, 16, 0};
	config->sched = policy_name(options, index);
	config->n_cpu = cores_up_to(1 + (int)below(&rng, 3));
	config->n_emulated = chance(&rng, 0.8) ? 2 : (int)below(&rng, 2);
	config->emulated_streams = 1 << below(&rng, 3);
	config->emulated_memory = chance(&rng, 0.8) ? LARGEST + below(&rng, LARGEST) : 0;
	/* us: then much happens while copies are on their way */
	config->emulated_latency = chance(&rng, 0.25) ? 1 + below(&rng, 20) : 0;
	config->window = windows[below(&rng, 4)];
	config->caller_works = chance(&rng, 0.5);
	config->calibrate = chance(&rng, 0.5) ? 0 : 3;
	config->pipeline = (int)below(&rng, 4);
	config->trace = chance(&rng, 0.2);
	config->bind = 0;
	config->model_dir = "none";
	config->model_sizes = (int)(index % 4); /* all, or fewer than there are */
	config->seed = index;
	config->watchdog = HANG_S;
	config->n_opencl = options->opencl;
	config->n_cuda = options->cuda;
	if (!options->opencl && !options->cuda)
		return;
	config->n_emulated = (int)below(&rng, 2);
	config->opencl_streams = config->cuda_streams = config->emulated_streams;
	config->opencl_memory = config->cuda_memory = config->emulated_memory;
}

/* A codelet for one kind of worker, if the machine has such. */
static int add_codelet(struct machine *m, const char *kind, heddle_kernel kernel, int n)
{
	const struct heddle_implementation only = {kind, NULL, kernel};
	if (n == 0)
		return 0;
	heddle_codelet *c = heddle_codelet_new(m->rt, .name = kind, .implementations = &only, .n_implementations = 1);
	m->codelets[m->n_codelets++] = c;
	return c ? 0 : -1;
}

static int make_codelets(struct machine *m, const struct heddle_config *config)
{
	m->codelets[0] =
	    heddle_codelet_new(m->rt, .name = "any", .cpu = work_kernel, .opencl = work_opencl, .cuda = work_cuda);
	m->reduction[0] =
	    heddle_codelet_new(m->rt, .name = "zero", .cpu = zero_kernel, .opencl = zero_opencl, .cuda = zero_cuda);
	m->reduction[1] =
	    heddle_codelet_new(m->rt, .name = "add", .cpu = add_kernel, .opencl = add_opencl, .cuda = add_cuda);
	m->n_codelets = 1;
	if (!m->codelets[0] || !m->reduction[0] || !m->reduction[1])
		return -1;
	return add_codelet(m, "cpu", work_kernel, 1) || add_codelet(m, "emulated", work_kernel, config->n_emulated) ||
	       add_codelet(m, "opencl", work_opencl, config->n_opencl) ||
	       add_codelet(m, "cuda", work_cuda, config->n_cuda);
}

static uint64_t room_of(const struct heddle_config *config)
{
	int accelerated = config->n_emulated || config->n_opencl || config->n_cuda;
	return accelerated && config->emulated_memory ? config->emulated_memory : UINT64_MAX;
}

static int open_clusters(struct machine *m, const struct heddle_config *config, uint64_t index)
{
	struct hd_rng rng;
	hd_rng_seed(&rng, hd_hash(78, index));
	snprintf(m->text, sizeof m->text, "clusters, %s, %d emulated, window %d, caller_works %d", config->sched,
	         config->n_emulated, config->window, config->caller_works);
	if (start_clusters(config, &rng, &m->rt))
		return -1;
	m->n_codelets = make_cluster_codelets(m->rt, (unsigned)index / 3, m->codelets, &m->reduction[0]);
	m->reduction[1] = heddle_codelet_new(m->rt, .name = "add", .cpu = add_kernel);
	m->room = room_of(config);
	return m->n_codelets && m->reduction[1] ? 0 : -1;
}

static int open_machine(struct machine *m, const struct options *options, uint64_t index)
{
	struct heddle_config config;
	if (heddle_config_init(&config))
		return -1;
	draw_config(options, index, &config);
	if (options->clusters)
		return open_clusters(m, &config, index);
	unsigned crowd = crowd_of(options, index);
	snprintf(
	    m->text, sizeof m->text,
	    "%s, %d cpu, %d emulated, %d opencl and %d cuda of %llu bytes with %d streams, window %d, caller_works %d, "
	    "pipeline %d",
	    config.sched, crowd ? (int)crowd : config.n_cpu, config.n_emulated, config.n_opencl, config.n_cuda,
	    (unsigned long long)config.emulated_memory, config.emulated_streams, config.window, config.caller_works,
	    config.pipeline);
	if (start_crowded(&config, crowd, &m->rt) || make_codelets(m, &config))
		return -1;
	m->room = room_of(&config);
	return 0;
}

static int run_seed(struct machine *m, uint64_t seed)
{
	static struct graph g; /* large; one at a time */
	memset(&g, 0, sizeof g);
	g.rt = m->rt;
	g.codelets = m->codelets;
	g.reduction = m->reduction;
	g.n_codelets = m->n_codelets;
	g.room = m->room;
	g.n_workers = (unsigned)heddle_runtime_platform(m->rt)->n_workers;
	hd_rng_seed(&g.rng, seed);
	g.failing = chance(&g.rng, 0.15);
	unsigned n_data = 1 + below(&g.rng, MAX_DATA), n_tasks = 5 + below(&g.rng, MAX_TASKS - 5);
	for (unsigned i = 0; i < n_data && !g.problem[0]; i++)
		make_datum(&g);
	while (g.n_tasks < n_tasks && !g.problem[0])
		step(&g);
	finish_graph(&g);
	if (g.problem[0])
		fprintf(stderr, "%s\n  %s%s\n  replay with --seed %llu --count 1\n", g.problem, m->text,
		        g.failing ? ", failing" : "", (unsigned long long)seed);
	return g.problem[0] != 0;
}

/* The seeds of one runtime; returns the number of graphs that went wrong. */
static int run_group(const struct options *options, uint64_t first, uint64_t last, struct pressure *pressure)
{
	struct machine m;
	begin_seed(first);
	if (open_machine(&m, options, first / SEEDS_PER_RUNTIME)) {
		fprintf(stderr, "%s\n  %s\n", heddle_last_error(), m.text);
		return 1;
	}
	current_runtime = m.rt;
	if (options->verbose)
		printf("seeds %llu to %llu: %s\n", (unsigned long long)first, (unsigned long long)last, m.text);
	int wrong = 0;
	for (uint64_t seed = first; seed <= last && !wrong; seed++) {
		double start = hd_clock_us();
		begin_seed(seed);
		wrong = run_seed(&m, seed);
		/* the watchdog has waited, and its look has woken them */
		if (!wrong && hd_clock_us() - start > HANG_S * 1e6) {
			fprintf(stderr, "a wake-up was lost\n  %s\n  after --seed %llu\n", m.text,
			        (unsigned long long)seed);
			wrong = 1;
		}
	}
	if (m.room != UINT64_MAX)
		add_pressure(pressure, m.rt, last - first + 1);
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
	if (parse_options(argc, argv, &options))
		return 2;
	int devices = options.opencl || options.cuda;
	if (devices && !has_devices(&options))
		return 77;
	watch();
	struct pressure pressure = {0};
	uint64_t end = options.seed + options.count;
	for (uint64_t seed = options.seed; seed < end;) {
		uint64_t last = (seed / SEEDS_PER_RUNTIME + 1) * SEEDS_PER_RUNTIME - 1;
		last = last < end - 1 ? last : end - 1;
		if (run_group(&options, seed, last, &pressure))
			return 1;
		seed = last + 1;
	}
	printf("%llu graphs from seed %llu: all as in a sequential run\n", (unsigned long long)options.count,
	       (unsigned long long)options.seed);
	if (devices)
		printf("%llu tasks ran on devices\n", (unsigned long long)n_on_devices);
	if (devices && options.count > ENOUGH_GRAPHS && n_on_devices < options.count) {
		fprintf(stderr, "fewer than one task per graph ran on devices\n");
		return 1;
	}
	return check_pressure(&pressure) != 0;
}
