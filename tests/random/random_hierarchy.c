/* Random programs on data with plans, with hierarchical tasks, compared with their sequential execution.
 *
 * Every seed makes a program (hierarchy_program.h): a few matrices with plans in plans, tasks on any of their pieces in
 * any order, and tasks that may expand into programs of their own, to any depth, now and then an acquire or a wait. The
 * machine is CPU workers, often more than there are cores, and emulated accelerators, of which some have hardly any
 * memory. Codelets differ in who decides when tasks expand: the setting, at submission or when they are ready, by
 * chance, always because there is no kernel, and among two sub-graphs. Kernels compute whole numbers that depend on all
 * they read. In some programs kernels and sub-graphs fail (hierarchy_failures.h). With --opencl K the machine has K
 * OpenCL devices as well. With --no-plans, first, data have no plans: what goes wrong then is the order of tasks. With
 * --virtual the same programs run in virtual time, twice: they must end, and both traces must be the same. */
#include "hierarchy_failures.h"
#include "hierarchy_opencl.h"
#include "platforms.h"

enum { SEEDS_PER_RUNTIME = 20, ROOM = 3 * 12 * 9 * 8 /* bytes of three of the largest data */ };

struct machine {
	heddle_runtime *rt;
	heddle_codelet *codelets[N_KINDS], *whole;
	char text[160];
	int is_virtual;
};

static struct machine machine;
static struct program program; /* large */
static char problem[400];

static int wrong(const char *what)
{
	if (!problem[0])
		snprintf(problem, sizeof problem, "%s", what);
	return -1;
}

static int must(int status, const char *what)
{
	if (status && !problem[0])
		snprintf(problem, sizeof problem, "%s: %s: %s", what, heddle_status_name(status), heddle_last_error());
	return status ? -1 : 0;
}

/* --- Kernels and sub-graphs --------------------------------------------------------------------------------------- */

static int note_broken(void)
{
	__atomic_add_fetch(&program.broken, 1, __ATOMIC_RELAXED); /* relaxed: read when all tasks have ended */
	return 1;
}

static const struct op *op_of(heddle_context *c)
{
	return heddle_get(c, 0, const struct op *);
}

static struct outcome *outcome_of(const struct op *op)
{
	return &program.ops[op - program.ops].outcome;
}

static int end_kernel(heddle_context *c, const struct op *op)
{
	outcome_of(op)->called = 1;
	return fails_whole(&program, op) ? heddle_fail(c, 7, "an operation was told to fail") : 0;
}

/* Where the data of the operation lie for a kernel. */
static int find_data(heddle_context *c, const struct op *op, struct mem *mem)
{
	for (unsigned i = 0; i < op->n; i++) {
		const struct node *n = &program.nodes[op->access[i].node];
		if (mem_of(c, i, &mem[i]) || mem[i].m != n->m || mem[i].n != n->n)
			return note_broken();
	}
	return 0;
}

static int op_kernel(heddle_context *c)
{
	const struct op *op = op_of(c);
	struct mem mem[MAX_ACCESS];
	if (find_data(c, op, mem))
		return 1;
	run_op(&program, op, mem);
	return end_kernel(c, op);
}

static int op_opencl(heddle_context *c)
{
	const struct op *op = op_of(c);
	struct mem mem[MAX_ACCESS];
	struct opencl_window w[MAX_ACCESS] = {{0}};
	if (find_data(c, op, mem))
		return 1;
	for (unsigned i = 0; i < op->n; i++)
		w[i] = (struct opencl_window){.datum = i, .mem = mem[i]};
	return run_op_opencl(c, &program, op, w) ? note_broken() : end_kernel(c, op);
}

static void note_end(void *arg, int status)
{
	struct outcome *o = arg;
	o->told = status;
	o->n_told++;
}

/* With `told`, its end is noted. */
static int submit_op(const struct op *op, heddle_codelet *codelet, int told)
{
	struct heddle_item items[MAX_ACCESS + 4];
	size_t n = 0;
	for (unsigned i = 0; i < op->n; i++)
		items[n++] =
		    heddle_access((enum heddle_mode)op->access[i].mode, program.nodes[op->access[i].node].handle);
	items[n++] = heddle_call(codelet);
	items[n++] = heddle_value(op);
	items[n++] = heddle_priority(op->priority);
	if (told)
		items[n++] = heddle_then(note_end, outcome_of(op));
	return heddle_submit_items(machine.rt, n, items);
}

static heddle_codelet *codelet_of(const struct op *op)
{
	return op->body >= 0 ? machine.codelets[op->codelet] : machine.whole;
}

static int check_context(heddle_context *c, const struct op *op)
{
	for (unsigned i = 0; i < op->n; i++)
		if (heddle_context_data(c, i) != program.nodes[op->access[i].node].handle || heddle_ptr(c, i))
			return note_broken();
	return heddle_context_runtime(c) == machine.rt ? 0 : note_broken();
}

/* Before some operations a datum of theirs is prefetched. */
static int hint(const struct op *op)
{
	uint64_t choice = hd_hash(op->k, (uint64_t)(op - program.ops));
	if (choice % 4)
		return 0;
	heddle_data *d = program.nodes[op->access[choice / 4 % op->n].node].handle;
	return heddle_prefetch(d, (unsigned)(choice / 16 % heddle_runtime_platform(machine.rt)->n_nodes));
}

/* The body of the operation, as tasks. */
static int op_subgraph(heddle_context *c)
{
	const struct op *op = op_of(c);
	int status = check_context(c, op);
	unsigned n = 0;
	outcome_of(op)->expanded = 1;
	for (int at = op->body; at >= 0 && !status && n < before_failure(op); at = program.ops[at].next, n++) {
		status = hint(&program.ops[at]);
		if (!status)
			status = submit_op(&program.ops[at], codelet_of(&program.ops[at]), 1);
	}
	if (!status && op->fails)
		return heddle_fail(c, 7, "a sub-graph was told to fail");
	return status ? heddle_fail(c, status, "%s", heddle_last_error()) : 0;
}

/* Another sub-graph with the same result: one task on the same data. */
static int op_as_one_task(heddle_context *c)
{
	const struct op *op = op_of(c);
	int status = check_context(c, op);
	if (!status)
		status = submit_op(op, machine.whole, 0);
	return status ? heddle_fail(c, status, "%s", heddle_last_error()) : 0;
}

/* Chooses by the task's number, which is the same in both runs in virtual time. */
static int choose(const heddle_task *task, void *arg)
{
	return (int)(hd_hash(heddle_task_order(task), 5) % *(unsigned *)arg);
}

static int make_codelets(void)
{
	static const struct heddle_subgraph two[] = {{"body", op_subgraph}, {"one", op_as_one_task}};
	static unsigned either = 2, any = 3;
	heddle_kernel kernel = machine.is_virtual ? never : op_kernel;
	struct heddle_codelet_desc desc[N_KINDS];
	for (unsigned k = 0; k < N_KINDS; k++)
		desc[k] = (struct heddle_codelet_desc){.name = "kernel0",
		                                       .cpu = kernel,
		                                       .cuda = machine.is_virtual ? never : NULL,
		                                       .opencl = machine.is_virtual ? NULL : op_opencl,
		                                       .subgraph = op_subgraph};
	desc[1].expand_at_submission = 1;
	desc[2].expand = choose;
	desc[2].expand_arg = &either;
	desc[3].subgraph = NULL;
	desc[3].subgraphs = two;
	desc[3].n_subgraphs = 2;
	desc[3].expand = choose;
	desc[3].expand_arg = &any;
	desc[4].cpu = desc[4].cuda = desc[4].opencl = NULL; /* always expands */
	for (unsigned k = 0; k < N_KINDS; k++)
		if (heddle_codelet_create(machine.rt, &desc[k], &machine.codelets[k]))
			return -1;
	desc[0].subgraph = NULL;
	desc[0].name = "kernel1";
	return heddle_codelet_create(machine.rt, &desc[0], &machine.whole);
}

/* --- One program -------------------------------------------------------------------------------------------------- */

static int make_handles(struct program *p, unsigned node);

static int make_children(struct program *p, struct split *plan)
{
	if (make_handles(p, plan->node) || plan->made)
		return plan->made ? 0 : -1;
	if (must(heddle_plan_create(p->nodes[plan->node].handle, &plan->filter, &plan->made), "heddle_plan_create"))
		return -1;
	if (heddle_plan_size(plan->made) != plan->n)
		return wrong("a plan has another number of children than its filter says");
	for (unsigned c = 0; c < plan->n; c++) {
		char name[40];
		p->nodes[plan->first + c].handle = heddle_plan_child(plan->made, c);
		name_node(p, plan->first + c, name, sizeof name);
		if (must(heddle_data_set_name(p->nodes[plan->first + c].handle, name), "heddle_data_set_name"))
			return -1;
	}
	return 0;
}

/* Makes the plans that lead to a node. */
static int make_handles(struct program *p, unsigned node)
{
	return p->nodes[node].handle ? 0 : make_children(p, &p->plans[p->nodes[node].plan]);
}

/* Makes the plans that lead to the nodes that an operation names. */
static int prepare(struct program *p, const struct op *op)
{
	int status = 0;
	for (unsigned i = 0; i < op->n && !status; i++)
		status = make_handles(p, op->access[i].node);
	for (int at = op->body; at >= 0 && !status; at = p->ops[at].next)
		status = prepare(p, &p->ops[at]);
	return status;
}

static int open_data(struct program *p)
{
	for (unsigned i = 0; i < p->n_nodes; i++) {
		struct node *n = &p->nodes[i];
		const struct mem *own = &p->own[n->root];
		if (n->parent < 0 &&
		    must(heddle_matrix(machine.rt, own->base, n->m, n->n, own->ld, sizeof(uint64_t), &n->handle),
		         "heddle_matrix"))
			return -1;
	}
	for (unsigned i = 0; i < p->n_plans; i++)
		if (!p->plans[i].late && make_children(p, &p->plans[i]))
			return -1;
	return 0;
}

/* Waits for what was submitted, and judges what has become of it: all operations of the program from p->judged on, up
 * to p->submitted. */
static int catch_up(struct program *p)
{
	int status = heddle_wait_all(machine.rt), all_well = 1, well;
	for (; p->judged != p->submitted; p->judged = p->ops[p->judged].next) {
		const char *bad = judge_op(p, &p->ops[p->judged], &well);
		if (bad)
			return wrong(bad);
		all_well &= well;
	}
	if ((status == 0) != all_well || status == HEDDLE_E_DEADLOCK)
		return wrong("heddle_wait_all has not told what has failed, or the reverse");
	return 0;
}

/* Whether there was no value for the program, which may be if something in that datum was never computed. */
static int is_lost(const struct program *p, unsigned node, int status)
{
	if (status == HEDDLE_E_CANCELLED && p->touched[p->nodes[node].root])
		return 1;
	if (!status && p->failing && lacks_elements(p, node))
		wrong("the program has been given what was never computed");
	return !status && problem[0];
}

/* The program looks at a piece while tasks go on. */
static int look(struct program *p)
{
	unsigned at = below(&p->rng, p->n_nodes);
	struct node *n = &p->nodes[at];
	if (!n->handle || machine.is_virtual)
		return 0;
	if (p->failing && catch_up(p))
		return -1;
	struct heddle_part part;
	struct mem want = window_in_root(p, p->want, at);
	int mode = chance(&p->rng, 0.6) ? HEDDLE_R : HEDDLE_RW;
	int status = heddle_acquire(n->handle, (enum heddle_mode)mode);
	if (is_lost(p, at, status))
		return problem[0] ? -1 : 0;
	if (must(status, "heddle_acquire") || must(heddle_data_part(n->handle, 0, &part), "heddle_data_part"))
		return -1;
	const struct mem seen = {part.base, n->m, n->n, part.n_dims > 1 ? part.stride[1] : n->m};
	int right = same(&seen, &want);
	if (mode == HEDDLE_RW) {
		uint64_t s = hd_rng_next(&p->rng);
		write_elements(&seen, mode, s);
		write_elements(&want, mode, s);
	}
	if (must(heddle_release(n->handle), "heddle_release"))
		return -1;
	return right ? 0 : wrong("an acquired piece has another value than in a sequential run");
}

static int wait_for_all(struct program *p)
{
	return p->failing ? catch_up(p) : must(heddle_wait_all(machine.rt), "heddle_wait_all");
}

static int run_ops(struct program *p)
{
	unsigned n = 0;
	p->judged = p->submitted = p->first;
	for (int at = p->first; at >= 0; at = p->ops[at].next, n++) {
		const struct op *op = &p->ops[at];
		if (prepare(p, op) || must(submit_op(op, codelet_of(op), 1), "heddle_submit_items"))
			return -1;
		p->submitted = op->next;
		if (!machine.is_virtual && !p->failing)
			run_reference(p, op);
		if (must(heddle_selfcheck(machine.rt), "heddle_selfcheck"))
			return -1;
		double what = hd_rng_uniform(&p->rng);
		if (what < 0.06 && n >= p->n_init && look(p))
			return -1;
		if (what > 0.97 && wait_for_all(p))
			return -1;
	}
	return wait_for_all(p);
}

/* Ends some plans, those inside others first; unregistering ends the rest. */
static int end_plans(struct program *p)
{
	int ended[MAX_PLANS] = {0};
	for (unsigned i = p->n_plans; i-- > 0;) {
		struct split *plan = &p->plans[i];
		if (!plan->made || !chance(&p->rng, 0.3))
			continue;
		for (unsigned k = i + 1; k < p->n_plans; k++)
			if (is_in(p, p->plans[k].node, plan->node) && !ended[k] &&
			    p->nodes[p->plans[k].node].plan == (int)i)
				ended[k] = 1;
		if (must(heddle_plan_destroy(plan->made), "heddle_plan_destroy"))
			return -1;
		ended[i] = 1;
		plan->made = NULL;
	}
	return must(heddle_selfcheck(machine.rt), "heddle_selfcheck after heddle_plan_destroy") ||
	       must(heddle_wait_all(machine.rt), "heddle_wait_all after heddle_plan_destroy");
}

static int close_data(struct program *p)
{
	for (unsigned i = 0; i < p->n_nodes; i++) {
		struct node *n = &p->nodes[i];
		if (n->parent >= 0 || !n->handle)
			continue;
		int status = heddle_unregister(n->handle);
		if (p->own[n->root].base ? is_lost(p, i, status) : status == HEDDLE_E_CANCELLED) {
			if (problem[0])
				return -1;
			continue;
		}
		if (must(status, "heddle_unregister"))
			return -1;
		if (!machine.is_virtual && p->own[n->root].base && !same(&p->own[n->root], &p->want[n->root]))
			return wrong("a datum ends with another value than in a sequential run");
	}
	return must(heddle_selfcheck(machine.rt), "heddle_selfcheck at the end");
}

static int run_program(uint64_t seed, int verbose)
{
	problem[0] = '\0';
	if (make_program(&program, seed) || draw_failures(&program, seed, !machine.is_virtual))
		return wrong("out of memory");
	if (verbose)
		print_ops(&program, program.first, 0);
	if (!open_data(&program) && !run_ops(&program) && !end_plans(&program))
		close_data(&program);
	if (program.broken)
		wrong("a kernel or a sub-graph saw wrong arguments");
	if (problem[0])
		return -1; /* tasks that are stuck may run yet */
	free_program(&program);
	return 0;
}

/* --- Machines ----------------------------------------------------------------------------------------------------- */

static const char *const settings[] = {"always", "never", "class", "adaptive"};

static int open_machine(const struct options *options, uint64_t index)
{
	struct heddle_config config;
	struct hd_rng rng;
	const int windows[] = {1, 3, 16, 0};
	hd_rng_seed(&rng, hd_hash(78, index));
	if (heddle_config_init(&config))
		return -1;
	config.sched = policy_name(options, index);
	config.expand = settings[below(&rng, 4)];
	config.n_cpu = cores_up_to(1 + (int)below(&rng, 3));
	config.n_emulated = (int)below(&rng, 3);
	config.emulated_streams = 1 << below(&rng, 2);
	config.emulated_memory = chance(&rng, 0.6) ? ROOM + below(&rng, ROOM) : 0;
	config.window = windows[below(&rng, 4)];
	config.caller_works = chance(&rng, 0.3);
	config.pipeline = (int)below(&rng, 4);
	config.trace = chance(&rng, 0.3);
	config.n_opencl = options->opencl;
	config.opencl_streams = config.emulated_streams;
	config.opencl_memory = config.emulated_memory;
	config.bind = 0;
	config.model_dir = "none";
	config.seed = index;
	config.watchdog = HANG_S;
	unsigned crowd = options->workers ? options->workers : chance(&rng, 0.5) ? 4 + below(&rng, 4) : 0;
	if (options->opencl)
		crowd = 0;
	snprintf(machine.text, sizeof machine.text,
	         "%s, expand %s, %d cpu, %d emulated and %d OpenCL of %llu bytes with %d streams, window %d, "
	         "caller_works %d",
	         config.sched, config.expand, crowd ? (int)crowd : config.n_cpu, config.n_emulated, config.n_opencl,
	         (unsigned long long)config.emulated_memory, config.emulated_streams, config.window,
	         config.caller_works);
	machine.is_virtual = 0;
	return start_crowded(&config, crowd, &machine.rt) || make_codelets() ? -1 : 0;
}

/* The seeds of one runtime. */
static int run_group(const struct options *options, uint64_t first, uint64_t last)
{
	begin_seed(first);
	if (open_machine(options, first / SEEDS_PER_RUNTIME)) {
		fprintf(stderr, "%s\n  %s\n", heddle_last_error(), machine.text);
		return 1;
	}
	current_runtime = machine.rt;
	int failed = 0;
	for (uint64_t seed = first; seed <= last && !failed; seed++) {
		begin_seed(seed);
		failed = run_program(seed, options->verbose) != 0;
		if (failed)
			fprintf(stderr, "%s\n  %s\n  replay with --seed %llu --count 1\n", problem, machine.text,
			        (unsigned long long)seed);
		else if (options->verbose)
			printf("seed %llu: %u operations, %u pieces; %s\n", (unsigned long long)seed, program.n_ops,
			       program.n_nodes, machine.text);
	}
	current_runtime = NULL;
	if (heddle_stop(machine.rt) && !failed) {
		fprintf(stderr, "heddle_stop: %s\n  after --seed %llu\n", heddle_last_error(),
		        (unsigned long long)last);
		failed = 1;
	}
	return failed;
}

/* --- Virtual time ------------------------------------------------------------------------------------------------- */

static uint64_t hash_trace(const struct heddle_trace *trace)
{
	uint64_t hash = trace->n_tasks;
	for (size_t i = 0; i < trace->n_tasks; i++) {
		const struct heddle_trace_task *t = &trace->tasks[i];
		hash = hd_hash(hd_hash(hash, t->id), t->worker);
		hash = hd_hash(hd_hash(hash, (uint64_t)(t->start * 1000)), (uint64_t)(t->end * 1000));
	}
	return hash;
}

/* The program of this seed on a random machine; *hash tells its traces apart. */
static int run_virtual(const struct options *options, uint64_t seed, uint64_t *hash)
{
	struct heddle_config config;
	struct heddle_trace *trace = NULL;
	struct hd_rng rng;
	hd_rng_seed(&rng, hd_hash(79, seed));
	struct heddle_platform *platform = make_platform(&rng, 2, ROOM);
	if (heddle_config_init(&config))
		return -1;
	config.sched = policy_name(options, seed);
	config.expand = settings[below(&rng, 4)];
	config.seed = seed;
	config.trace = 1;
	config.window = chance(&rng, 0.3) ? 1 + (int)below(&rng, 10) : 0;
	config.model_dir = "none";
	snprintf(machine.text, sizeof machine.text, "virtual, %s, expand %s, %zu workers, window %d", config.sched,
	         config.expand, platform->n_workers, config.window);
	machine.is_virtual = 1;
	int failed = must(heddle_start_on(&config, platform, 1, &machine.rt), "heddle_start_on");
	if (!failed) {
		failed = must(make_codelets(), "codelets") || run_program(seed, options->verbose) ||
		         must(heddle_trace_take(machine.rt, &trace), "heddle_trace_take");
		heddle_stop(machine.rt);
	}
	*hash = trace ? hash_trace(trace) : 0;
	heddle_trace_free(trace);
	heddle_platform_free(platform);
	return failed;
}

static int run_virtual_twice(const struct options *options, uint64_t seed)
{
	uint64_t hash[2];
	begin_seed(seed);
	int failed = run_virtual(options, seed, &hash[0]) || run_virtual(options, seed, &hash[1]);
	if (!failed && hash[0] != hash[1])
		failed = wrong("the same run twice gives two traces");
	if (failed)
		fprintf(stderr, "%s\n  %s\n  replay with --virtual --seed %llu --count 1\n", problem, machine.text,
		        (unsigned long long)seed);
	else if (options->verbose)
		printf("seed %llu: %u operations; %s\n", (unsigned long long)seed, program.n_ops, machine.text);
	return failed;
}

int main(int argc, char **argv)
{
	struct options options;
	int is_virtual = 0;
	for (; argc > 1 && (!strcmp(argv[1], "--virtual") || !strcmp(argv[1], "--no-plans")); argc--, argv++)
		*(strcmp(argv[1], "--virtual") == 0 ? &is_virtual : &without_plans) = 1;
	if (parse_options(argc, argv, &options))
		return 2;
	if (options.opencl && !has_devices(&options))
		return 77;
	watch();
	uint64_t end = options.seed + options.count;
	for (uint64_t seed = options.seed; seed < end;) {
		uint64_t last = is_virtual ? seed : (seed / SEEDS_PER_RUNTIME + 1) * SEEDS_PER_RUNTIME - 1;
		last = last < end - 1 ? last : end - 1;
		if (is_virtual ? run_virtual_twice(&options, seed) : run_group(&options, seed, last))
			return 1;
		seed = last + 1;
	}
	printf("%llu programs from seed %llu: %s\n", (unsigned long long)options.count,
	       (unsigned long long)options.seed,
	       is_virtual ? "they end, and are repeatable" : "as in a sequential run");
	return check_opencl_used(&options);
}
