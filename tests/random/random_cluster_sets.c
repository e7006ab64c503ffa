/* Random programs on machines whose CPU workers have cores in common, while the set of those that are driven changes at
 * random: the program changes it between its steps, callbacks and kernels do while tasks run, and sometimes a second
 * thread all the time. On threads and in virtual time, with every policy, with and without an emulated accelerator.
 * Kernels are sequential, or those of whole clusters, by a team or by threads of OpenMP; some tasks are hierarchical,
 * of tasks of all these kinds, and some fail in a member of their team.
 *
 * What the tasks compute must be as in a sequential run. No two workers may run on one core at a time, kernels that
 * wait for tasks excepted while they do so. Tasks that only a retired worker can run make waits fail, until that worker
 * is driven. After every step the runtime must be consistent (heddle_selfcheck). In virtual time, the same seed must
 * give the same schedule.
 */
#include "cluster_sets_kernels.h"

static void drive_in_callback(void *arg, int status)
{
	n_failures += status != 0;
	drive_any((uint64_t)(uintptr_t)arg);
}

static double time_of(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	return 50.0 / (1 + class_id);
}

/* --- The program -------------------------------------------------------------------------------------------------- */

static int n_told; /* tasks that were told to fail */

struct datum {
	uint64_t buffer[ELEMENTS], expected[ELEMENTS];
	heddle_data *handle;
};

static struct datum data[N_DATA];

static int submit(struct hd_rng *rng)
{
	static const int all_modes[] = {HEDDLE_R, HEDDLE_RW, HEDDLE_W, HEDDLE_RW, HEDDLE_COMMUTE};
	struct orders o = {.k = hd_rng_next(rng), .n_steps = 1, .n = 1 + below(rng, MAX_ACCESS)};
	heddle_codelet *others[] = {machine.on_cpu, machine.together, machine.forking, machine.tree};
	heddle_codelet *codelet = chance(rng, 0.5) ? machine.work : others[below(rng, 4)];
	struct heddle_item items[MAX_ACCESS + 5];
	struct mem mem[MAX_ACCESS];
	size_t n = 0;
	int on = chance(rng, 0.1);
	unsigned worker = below(rng, machine.n_cpu), first = below(rng, N_DATA);
	o.drives = !machine.is_virtual && chance(rng, 0.08);
	if (codelet == machine.tree)
		o.n_steps = 1 + below(rng, MAX_STEPS);
	items[n++] = heddle_call(codelet);
	items[n++] = heddle_value(o); /* its address: the modes are filled in below */
	for (unsigned i = 0; i < o.n; i++) {
		struct datum *d = &data[(first + i) % N_DATA];
		o.modes[i] = all_modes[below(rng, 5)];
		mem[i] = (struct mem){d->expected, ELEMENTS, 1, ELEMENTS};
		items[n++] = heddle_access((enum heddle_mode)o.modes[i], d->handle);
	}
	items[n++] = heddle_priority((int)below(rng, 3));
	if (on)
		items[n++] = heddle_on(worker);
	if (chance(rng, 0.1))
		items[n++] = heddle_then(drive_in_callback, (void *)(uintptr_t)hd_rng_next(rng));
	if (!machine.is_virtual)
		compute_steps(&o, mem);
	return heddle_submit_items(machine.rt, n, items);
}

static int submit_parent(struct hd_rng *rng)
{
	struct orders o = {.k = hd_rng_next(rng), .drives = chance(rng, 0.5)};
	return heddle_submit(machine.rt, heddle_call(machine.parent), heddle_value(o));
}

/* A task whose kernel fails, on any worker, and that has no data. */
static int submit_failing(struct hd_rng *rng)
{
	struct orders o = {.k = hd_rng_next(rng), .drives = chance(rng, 0.5)};
	n_told += !machine.is_virtual;
	return heddle_submit(machine.rt, heddle_call(machine.failing), heddle_value(o),
	                     heddle_in_group(machine.failures), heddle_then(note_failed, NULL));
}

/* 1: the second thread leaves the workers as they are. */
static atomic_int holds_still;

/* Waits for all tasks. Those that are bound to a worker wait until it is driven, and so each gets its turn; on a busy
 * machine the second thread would always be quicker than the worker. */
static int wait_for_all(struct hd_rng *rng)
{
	int status = heddle_wait_all(machine.rt);
	holds_still = 1;
	for (unsigned i = 0; i < 100 * machine.n_cpu && status == HEDDLE_E_DEADLOCK; i++) {
		int driven = drive(hd_rng_next(rng), i % machine.n_cpu);
		status = driven ? driven : heddle_wait_all(machine.rt);
	}
	holds_still = 0;
	return status;
}

static int take_step(struct hd_rng *rng)
{
	double x = hd_rng_uniform(rng);
	if (x < 0.15)
		return drive_any(hd_rng_next(rng));
	if (x < 0.19)
		return wait_for_all(rng);
	if (x < 0.27 && !machine.is_virtual)
		return submit_parent(rng);
	if (x < 0.30)
		return submit_failing(rng);
	return submit(rng);
}

static atomic_int program_is_over;

/* The second thread. */
static void *drive_all_the_time(void *seed)
{
	for (uint64_t i = 0; !program_is_over; i++) {
		if (!holds_still)
			drive_any(hd_hash(*(uint64_t *)seed, i));
		for (int k = 0; k < 20; k++)
			sched_yield();
	}
	return NULL;
}

static int run_steps(struct hd_rng *rng)
{
	int status = 0;
	for (unsigned n = 10 + below(rng, 60), i = 0; i < n && !status; i++) {
		status = take_step(rng);
		if (status)
			return wrong("a step", status);
		status = heddle_selfcheck(machine.rt);
		if (status)
			return wrong("heddle_selfcheck", status);
	}
	return 0;
}

static int finish_data(void)
{
	for (unsigned i = 0; i < N_DATA; i++) {
		int status = heddle_unregister(data[i].handle);
		if (status)
			return wrong("heddle_unregister", status);
		if (!machine.is_virtual && memcmp(data[i].buffer, data[i].expected, sizeof data[i].buffer) != 0)
			return wrong("a datum is not as in a sequential run", 0);
	}
	return 0;
}

/* All tasks that were told to fail have, and their group knows. */
static int finish_failures(void)
{
	int status = heddle_group_wait(machine.failures);
	if (status != (n_told ? HEDDLE_E_KERNEL : 0) || (status && !strstr(heddle_last_error(), "told to fail")))
		return wrong("heddle_group_wait, of the tasks that fail", status);
	if (n_failed != n_told)
		return wrong("a task that was told to fail has not", 0);
	heddle_group_free(machine.failures);
	return 0;
}

static int run_program(uint64_t seed)
{
	struct hd_rng rng;
	pthread_t second;
	hd_rng_seed(&rng, seed);
	memset(data, 0, sizeof data);
	int status = 0, two = !machine.is_virtual && chance(&rng, 0.15);
	for (unsigned i = 0; i < N_DATA && !status; i++) {
		data[i].buffer[0] = data[i].expected[0] = i;
		status = heddle_vector(machine.rt, data[i].buffer, ELEMENTS, sizeof(uint64_t), &data[i].handle);
	}
	if (status)
		return wrong("heddle_vector", status);
	program_is_over = 0;
	two = two && pthread_create(&second, NULL, drive_all_the_time, &seed) == 0;
	status = run_steps(&rng);
	program_is_over = 1;
	if (two)
		pthread_join(second, NULL);
	int waited = status ? 0 : wait_for_all(&rng);
	if (waited)
		return wrong("heddle_wait_all", waited);
	if (!status)
		status = finish_failures();
	status = status || finish_data() || (heddle_selfcheck(machine.rt) && wrong("heddle_selfcheck", HEDDLE_E_STATE));
	if (!status && (n_clashes || n_failures))
		return wrong(n_clashes ? "two workers ran on one core" : "a call in a kernel or a callback failed", 0);
	return status ? -1 : 0;
}

/* --- The machine -------------------------------------------------------------------------------------------------- */

/* Describes CPU workers on n cores: all single cores, and some clusters. */
static char *describe_machine(struct hd_rng *rng, unsigned n_cores)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	fprintf(out, "version: 1\nname: overlapping\nnodes: [{name: ram}]\nclasses:\n");
	for (unsigned k = 1; k <= n_cores; k++)
		fprintf(out, "- {name: cpu*%u, kind: cpu, cores: %u, pipeline: %u}\n", k, k, 1 + below(rng, 2));
	fprintf(out, "workers:\n");
	machine.n_cpu = n_cores + 1 + below(rng, MAX_CPU - MAX_CORES);
	for (unsigned w = 0; w < machine.n_cpu; w++) {
		unsigned k = w < n_cores ? 1 : 1 + below(rng, n_cores);
		machine.n[w] = k;
		machine.first[w] = w < n_cores ? w : below(rng, n_cores - k + 1);
		fprintf(out, "- {name: w%u, class: cpu*%u, node: ram, core: %u, retired: %d}\n", w, k, machine.first[w],
		        w >= n_cores);
	}
	fclose(out);
	return text;
}

static struct heddle_platform *make_machine(struct hd_rng *rng)
{
	struct heddle_platform *p = NULL;
	unsigned set[MAX_CPU];
	char *text = describe_machine(rng, 1 + below(rng, MAX_CORES));
	int status = heddle_platform_parse("overlapping", text, strlen(text), &p);
	free(text);
	if (status)
		return NULL;
	for (unsigned w = 0; w < machine.n_cpu; w++)
		p->workers[w].retired = 1;
	size_t n = draw_set(rng, below(rng, machine.n_cpu), set);
	for (size_t i = 0; i < n; i++)
		p->workers[set[i]].retired = 0;
	if (!machine.is_virtual && chance(rng, 0.25))
		heddle_platform_add_emulated(p, chance(rng, 0.5) ? 0 : 6 * ELEMENTS * sizeof(uint64_t), 0, 0, 1);
	return p;
}

/* Describes a machine for the setting clusters=adaptive, written to `clusters`; the program itself drives nothing
 * then. */
static struct heddle_platform *make_adaptive_machine(struct hd_rng *rng, char clusters[static 40])
{
	struct heddle_platform *p = NULL;
	unsigned n_cores = 2 + below(rng, MAX_CORES - 1), k = 2 + below(rng, n_cores - 1);
	char text[300];
	snprintf(text, sizeof text,
	         "version: 1\nname: merged\nnodes: [{name: ram}]\nclasses: [{name: cpu, kind: cpu}]\nworkers:\n"
	         "- {name: w, count: %u, class: cpu, node: ram, core: 0}\n",
	         n_cores);
	snprintf(clusters, 40, "adaptive:none,%u%s", k, k < n_cores && chance(rng, 0.5) ? ",1x2" : "");
	if (heddle_platform_parse("merged", text, strlen(text), &p) || heddle_platform_cluster(p, clusters))
		return NULL;
	machine.n_cpu = (unsigned)p->n_workers;
	for (size_t w = 0; w < p->n_workers; w++) {
		machine.first[w] = (unsigned)p->workers[w].core;
		machine.n[w] = p->classes[p->workers[w].class_id].cores;
	}
	return p;
}

/* Kernels elsewhere cannot wait. */
static int is_cpu(unsigned worker, const heddle_task *t, void *arg)
{
	(void)t;
	(void)arg;
	return worker < machine.n_cpu;
}

static int make_codelets(void)
{
	heddle_runtime *rt = machine.rt;
	int model = machine.is_virtual ? HEDDLE_MODEL_GIVEN : HEDDLE_MODEL_HISTORY;
	machine.work = heddle_codelet_new(rt, .name = "work", .cpu = work_kernel, .emulated = work_kernel,
	                                  .model = model, .time = time_of);
	machine.on_cpu = heddle_codelet_new(rt, .name = "on_cpu", .cpu = work_kernel, .model = model, .time = time_of);
	machine.together = heddle_codelet_new(rt, .name = "together", .cpu = work_together, .parallel = HEDDLE_SPMD,
	                                      .model = model, .time = time_of);
	machine.forking = heddle_codelet_new(rt, .name = "forking", .cpu = work_forking, .parallel = HEDDLE_FORK_JOIN,
	                                     .model = model, .time = time_of);
	unsigned most = 1;
	for (unsigned w = 0; w < machine.n_cpu; w++)
		most = machine.n[w] > most ? machine.n[w] : most;
	machine.wide = most == 1 ? NULL
	                         : heddle_codelet_new(rt, .name = "wide", .cpu = work_together, .parallel = HEDDLE_SPMD,
	                                              .min_cores = 2, .model = model, .time = time_of);
	machine.tree = heddle_codelet_new(rt, .name = "tree", .cpu = work_kernel, .subgraph = divide_steps,
	                                  .expand = is_divided, .model = model, .time = time_of);
	machine.parent = heddle_codelet_new(rt, .name = "parent", .cpu = parent_kernel, .can_run = is_cpu);
	machine.child = heddle_codelet_new(rt, .name = "child", .cpu = child_kernel, .model = model, .time = time_of);
	machine.failing = heddle_codelet_new(rt, .name = "failing", .cpu = fail_together, .parallel = HEDDLE_SPMD,
	                                     .model = model, .time = time_of);
	if (heddle_group_create(rt, &machine.failures))
		return -1;
	return machine.work && machine.on_cpu && machine.together && machine.forking && (machine.wide || most == 1) &&
	               machine.tree && machine.parent && machine.child && machine.failing
	           ? 0
	           : -1;
}

static int open_machine(const struct options *options, uint64_t seed)
{
	static const int windows[] = {0, 0, 4, 30};
	struct heddle_config config;
	struct hd_rng rng;
	hd_rng_seed(&rng, hd_hash(80, seed));
	machine.is_virtual = chance(&rng, 0.3);
	machine.is_adaptive = chance(&rng, 0.2);
	char clusters[40];
	struct heddle_platform *p = machine.is_adaptive ? make_adaptive_machine(&rng, clusters) : make_machine(&rng);
	if (!p || heddle_config_init(&config))
		return -1;
	if (machine.is_adaptive)
		config.clusters = clusters;
	config.sched = policy_name(options, seed);
	config.seed = seed;
	config.bind = 0;
	config.trace = machine.is_virtual;
	config.caller_works = chance(&rng, 0.3);
	config.window = windows[below(&rng, 4)];
	config.calibrate = chance(&rng, 0.5) ? 0 : 2;
	config.model_dir = "none";
	config.watchdog = HANG_S;
	snprintf(machine.text, sizeof machine.text, "%s%s, %s, %u cpu, %zu workers, window %d, caller_works %d",
	         config.sched, machine.is_virtual ? " in virtual time" : "", machine.is_adaptive ? clusters : "driven",
	         machine.n_cpu, p->n_workers, config.window, config.caller_works);
	int status = heddle_start_on(&config, p, machine.is_virtual, &machine.rt);
	heddle_platform_free(p);
	return status ? status : make_codelets();
}

/* In virtual time: a number that tells schedules apart. No two workers may run on one core. */
static uint64_t look_at_trace(void)
{
	struct heddle_trace *trace = NULL;
	if (heddle_trace_take(machine.rt, &trace))
		return 0;
	uint64_t hash = trace->n_tasks;
	for (size_t i = 0; i < trace->n_tasks; i++) {
		const struct heddle_trace_task *t = &trace->tasks[i];
		hash = hd_hash(hd_hash(hash, t->id), t->worker);
		hash = hd_hash(hd_hash(hash, (uint64_t)(t->start * 1000)), (uint64_t)(t->end * 1000));
		for (size_t k = i + 1; k < trace->n_tasks; k++) {
			const struct heddle_trace_task *u = &trace->tasks[k];
			if (t->start < u->end && u->start < t->end && overlap(t->worker, u->worker))
				wrong("two workers run on one core", 0);
		}
	}
	heddle_trace_free(trace);
	return hash;
}

static int run_seed(const struct options *options, uint64_t seed, uint64_t *hash)
{
	begin_seed(seed);
	n_clashes = n_failures = n_failed = n_told = 0;
	problem[0] = '\0';
	if (open_machine(options, seed))
		return wrong("the start", 0);
	current_runtime = machine.rt;
	int failed = run_program(seed);
	*hash = !failed && machine.is_virtual ? look_at_trace() : 0;
	current_runtime = NULL;
	if (!failed && heddle_stop(machine.rt))
		wrong("heddle_stop", 0);
	return problem[0] != '\0';
}

int main(int argc, char **argv)
{
	struct options options;
	if (parse_options(argc, argv, &options))
		return 2;
	watch();
	for (uint64_t seed = options.seed; seed < options.seed + options.count; seed++) {
		uint64_t hash, again = 0;
		int failed = run_seed(&options, seed, &hash);
		if (!failed && machine.is_virtual)
			failed = run_seed(&options, seed, &again);
		if (!failed && machine.is_virtual && hash != again)
			failed = wrong("the same seed gives two schedules", 0);
		if (options.verbose)
			printf("seed %llu: %s\n", (unsigned long long)seed, machine.text);
		if (failed) {
			fprintf(stderr, "%s\n  %s\n  replay with --seed %llu --count 1\n", problem, machine.text,
			        (unsigned long long)seed);
			return 1;
		}
	}
	printf("%llu programs from seed %llu: as in a sequential run\n", (unsigned long long)options.count,
	       (unsigned long long)options.seed);
	return 0;
}
