/* Random programs of kernels that wait: trees of tasks whose kernels submit the tasks below them to a group, or with a
 * datum of their own, and wait for these, on one to four workers, with every policy. Meanwhile one to three threads of
 * the program submit such trees, wait for them in all ways, and acquire data. In some programs, kernels drive other
 * workers.
 *
 * In two programs out of three no task keeps what others need while its kernel waits. These must compute what a
 * sequential run computes, and no wait may fail. In the others there are kernels that wait for tasks which need the
 * kernel's own data, or for each other, tasks that fail and groups that are cancelled. There every wait must end, the
 * one of a kernel whose task waits for itself with an error, and threads of the program are never told of a deadlock:
 * the kernels are, and give up. */
#include "support.h"

enum { MOST_NODES = 120, N_GLOBALS = 4, MOST_THREADS = 3, MOST_WORKERS = 16, NONE = -1 };

/* A task. Its kernel submits its children, in order. */
struct node {
	int first, n_children;    /* its children, which lie one after the other */
	int global;               /* a datum of the program that it adds to, or NONE */
	int on;                   /* the worker that must run it, or NONE */
	int joins;                /* it changes the datum of its parent */
	int by_unregister;        /* its kernel waits by unregistering its datum, not for a group */
	int waits_for_itself;     /* a child needs the global of its parent */
	int fails, cancels;       /* its kernel fails; it cancels its group before it waits */
	int unwaited;             /* its kernel does not wait for its children */
	uint64_t local, expected; /* the datum of its kernel, and its value after the children in a sequential run */
	atomic_int n_runs;
};

static struct {
	heddle_runtime *rt;
	heddle_codelet *inner, *leaf;
	unsigned n_cpu;
	int is_strict; /* it must run as a sequential program does */
	int caller_works;
	int drives; /* kernels drive other workers, and no task is for one worker alone */
	struct node nodes[MOST_NODES];
	int n_nodes, n_roots, n_threads;
	heddle_data *globals[N_GLOBALS];
	uint64_t values[N_GLOBALS];
	uint64_t seed;
	char text[200];
} program;

static char problem[1000];
static pthread_mutex_t problem_lock = PTHREAD_MUTEX_INITIALIZER;

static int wrong(const char *what, int status)
{
	pthread_mutex_lock(&problem_lock);
	if (!problem[0])
		snprintf(problem, sizeof problem, "%s: %s: %s", what, status ? heddle_status_name(status) : "wrong",
		         status ? heddle_last_error() : "");
	pthread_mutex_unlock(&problem_lock);
	return -1;
}

/* --- Kernels ------------------------------------------------------------------------------------------------------ */

static uint64_t join(uint64_t value, int node)
{
	return 3 * value + (uint64_t)node + 1;
}

/* Submits a node, to a group if it has one, with the datum of its parent. */
static int submit(int node, heddle_group *group, heddle_data *local, heddle_task **out)
{
	const struct node *n = &program.nodes[node];
	struct heddle_item items[8];
	size_t k = 0;
	items[k++] = heddle_call(n->n_children ? program.inner : program.leaf);
	items[k++] = heddle_value(node);
	if (n->global != NONE)
		items[k++] = heddle_access(node % 3 ? HEDDLE_RW : HEDDLE_COMMUTE, program.globals[n->global]);
	if (n->joins && local)
		items[k++] = heddle_rw(local);
	if (group)
		items[k++] = heddle_in_group(group);
	if (n->on != NONE)
		items[k++] = heddle_on((unsigned)n->on);
	items[k++] = heddle_priority(node % 4);
	if (out)
		items[k++] = heddle_out(out);
	return heddle_submit_items(program.rt, k, items);
}

/* Drives some of the workers, at least one. */
static void drive_others(int node)
{
	uint64_t drawn = hd_hash(program.seed, (uint64_t)node);
	unsigned workers[MOST_WORKERS], n = 0;
	for (unsigned w = 0; w < program.n_cpu; w++)
		if ((drawn >> w & 1) || w == (drawn >> MOST_WORKERS) % program.n_cpu)
			workers[n++] = w;
	int status = heddle_workers_drive(program.rt, workers, n);
	if (status)
		wrong("heddle_workers_drive", status);
}

static int begin_node(heddle_context *c)
{
	int node = heddle_get(c, 0, int);
	size_t i = 0;
	struct node *n = &program.nodes[node];
	if (atomic_fetch_add(&n->n_runs, 1))
		wrong("a task was run twice", 0);
	if (n->global != NONE)
		*(uint64_t *)heddle_ptr(c, i++) += (uint64_t)node + 1;
	if (n->joins) {
		uint64_t *value = heddle_ptr(c, i);
		*value = join(*value, node);
	}
	if (program.drives && node % 3 == 0)
		drive_others(node);
	return node;
}

static int leaf_kernel(heddle_context *c)
{
	int node = begin_node(c);
	return program.nodes[node].fails ? heddle_fail(c, 1, "told to fail") : 0;
}

/* Waits for the children. Afterwards nothing uses what the kernel has made, or it has been given up. */
static int wait_for_children(struct node *n, heddle_group *group, heddle_data *local)
{
	if (n->cancels && heddle_group_cancel(group) < 0)
		wrong("heddle_group_cancel", HEDDLE_E_STATE);
	int status = n->by_unregister || n->unwaited ? 0 : heddle_group_wait(group);
	if (status == HEDDLE_E_DEADLOCK && n->first % 2)
		heddle_group_cancel(group);
	int ended = n->unwaited ? heddle_unregister_async(local) : heddle_unregister(local);
	if (ended == HEDDLE_E_MEMORY || ended == HEDDLE_E_UNSUPPORTED)
		heddle_data_give_up(local);
	return status ? status : ended;
}

static int inner_kernel(heddle_context *c)
{
	int node = begin_node(c), status = 0;
	struct node *n = &program.nodes[node];
	heddle_group *group = NULL;
	heddle_data *local = NULL;
	if (heddle_may_wait(program.rt) || heddle_group_create(program.rt, &group) ||
	    heddle_variable(program.rt, &n->local, sizeof n->local, &local))
		return wrong("a kernel that is to wait", HEDDLE_E_STATE);
	for (int i = 0; i < n->n_children && !status; i++)
		status = submit(n->first + i, group, local, NULL);
	if (status)
		wrong("a submission in a kernel", status);
	status = wait_for_children(n, group, local);
	heddle_group_free(group);
	if (program.is_strict && status)
		wrong("the wait of a kernel", status);
	if (program.is_strict && !n->unwaited && n->local != n->expected)
		wrong("a kernel has not got what a sequential run computes", 0);
	if (n->waits_for_itself && !n->by_unregister && !status)
		wrong("the wait for a task that needs the kernel's own datum has ended well", 0);
	return n->fails ? heddle_fail(c, 2, "told to fail") : 0;
}

/* --- The program -------------------------------------------------------------------------------------------------- */

static void draw_node(struct hd_rng *rng, int node, int is_root)
{
	struct node *n = &program.nodes[node];
	int is_inner = n->n_children > 0, strict = program.is_strict;
	n->joins = !is_root && chance(rng, 0.4);
	n->global = chance(rng, is_inner ? 0.3 : 0.4) && !(strict && is_inner) ? (int)below(rng, N_GLOBALS) : NONE;
	if (strict && n->joins) /* in the chain of the global it would hold up tasks that its own turn waits for */
		n->global = NONE;
	n->on = chance(rng, 0.1) && !program.drives ? (int)below(rng, program.n_cpu) : NONE;
	n->by_unregister = is_inner && chance(rng, 0.3);
	n->fails = !strict && chance(rng, 0.05);
	n->cancels = !strict && is_inner && chance(rng, 0.1);
}

/* Gives a child the global of its parent, which waits for it. */
static void make_wait_for_itself(struct hd_rng *rng, struct node *n)
{
	struct node *child = &program.nodes[n->first + (int)below(rng, (unsigned)n->n_children)];
	if (n->global == NONE)
		n->global = (int)below(rng, N_GLOBALS);
	child->global = n->global;
}

static void draw_program(struct hd_rng *rng)
{
	int most_nodes = 4 + (int)below(rng, MOST_NODES - 4), next = 1 + (int)below(rng, 4);
	unsigned most = 1 + below(rng, 6);
	program.n_roots = next *= 1 + (int)below(rng, 3) * (next * 3 <= most_nodes);
	for (int i = 0; i < next; i++) {
		int left = most_nodes - next, k = chance(rng, 0.6) ? 1 + (int)below(rng, most) : 0;
		program.nodes[i] = (struct node){.first = next, .n_children = k < left ? k : left};
		next += program.nodes[i].n_children;
	}
	program.n_nodes = next;
	for (int i = 0; i < next; i++)
		draw_node(rng, i, i < program.n_roots);
	for (int i = 0; i < next && !program.is_strict; i++)
		if (program.nodes[i].n_children && chance(rng, 0.15))
			make_wait_for_itself(rng, &program.nodes[i]);
	for (int i = next - 1; i >= 0; i--) {
		struct node *n = &program.nodes[i];
		for (int k = n->first; k < n->first + n->n_children; k++) {
			const struct node *child = &program.nodes[k];
			n->expected = child->joins ? join(n->expected, k) : n->expected;
			n->waits_for_itself |= n->global != NONE && child->global == n->global;
		}
		n->unwaited = n->n_children && !n->waits_for_itself && chance(rng, 0.1);
	}
}

/* A thread of the program must not be told of a deadlock: kernels are. */
static void waited(const char *what, int status)
{
	if (status == HEDDLE_E_DEADLOCK || (status && program.is_strict))
		wrong(what, status);
}

static void wait_somehow(struct hd_rng *rng, heddle_group *group, heddle_task **last)
{
	double x = hd_rng_uniform(rng);
	if (x < 0.4) {
		waited("heddle_group_wait", heddle_group_wait(group));
	} else if (x < 0.6 && *last) {
		waited("heddle_task_wait", heddle_task_wait(*last));
	} else if (x < 0.8 && !(program.is_strict && program.caller_works)) {
		/* With caller_works, a kernel that the thread runs meanwhile may wait for a task that needs the datum
		 * after the thread. */
		heddle_data *d = program.globals[below(rng, N_GLOBALS)];
		int status = heddle_acquire(d, chance(rng, 0.5) ? HEDDLE_R : HEDDLE_RW);
		waited("heddle_acquire", status);
		if (!status)
			heddle_release(d);
	} else if (x < 0.95) {
		waited("heddle_wait_all", heddle_wait_all(program.rt));
	} else if (!program.is_strict) {
		heddle_cancel_all(program.rt);
	}
}

static void *run_thread(void *arg)
{
	int thread = (int)(intptr_t)arg;
	struct hd_rng rng;
	heddle_group *group = NULL;
	heddle_task *last = NULL;
	hd_rng_seed(&rng, hd_hash(program.seed, (uint64_t)thread));
	if (heddle_group_create(program.rt, &group))
		wrong("heddle_group_create", HEDDLE_E_MEMORY);
	for (int i = thread; i < program.n_roots; i += program.n_threads) {
		heddle_task_release(last);
		last = NULL;
		int status = submit(i, chance(&rng, 0.7) ? group : NULL, NULL, &last);
		if (status)
			wrong("a submission", status);
		while (chance(&rng, 0.4))
			wait_somehow(&rng, group, &last);
	}
	waited("heddle_group_wait", heddle_group_wait(group));
	heddle_task_release(last);
	heddle_group_free(group);
	return NULL;
}

static void compare(void)
{
	uint64_t expected[N_GLOBALS] = {0};
	for (int i = 0; i < program.n_nodes; i++) {
		if (program.nodes[i].global != NONE)
			expected[program.nodes[i].global] += (uint64_t)i + 1;
		if (program.is_strict && program.nodes[i].n_runs != 1)
			wrong("a task was not run", 0);
	}
	if (program.is_strict && memcmp(expected, program.values, sizeof expected) != 0)
		wrong("a datum is not as after a sequential run", 0);
}

static int run_program(void)
{
	pthread_t threads[MOST_THREADS];
	int n = 0;
	for (int i = 0; i < N_GLOBALS; i++) {
		program.values[i] = 0;
		if (heddle_variable(program.rt, &program.values[i], sizeof *program.values, &program.globals[i]))
			return wrong("heddle_variable", HEDDLE_E_MEMORY);
	}
	while (n + 1 < program.n_threads &&
	       pthread_create(&threads[n], NULL, run_thread, (void *)(intptr_t)(n + 1)) == 0)
		n++;
	run_thread((void *)0);
	while (n)
		pthread_join(threads[--n], NULL);
	waited("the last heddle_wait_all", heddle_wait_all(program.rt));
	for (int i = 0; i < N_GLOBALS; i++)
		waited("heddle_unregister", heddle_unregister(program.globals[i]));
	struct heddle_stats stats;
	if (heddle_selfcheck(program.rt) || heddle_runtime_stats(program.rt, &stats))
		return wrong("heddle_selfcheck", HEDDLE_E_STATE);
	if (stats.live_tasks)
		wrong("tasks are left", 0);
	compare();
	return 0;
}

/* --- The machine -------------------------------------------------------------------------------------------------- */

static int is_cpu(unsigned worker, const heddle_task *t, void *arg)
{
	(void)t;
	(void)arg;
	return worker < program.n_cpu;
}

static int open_machine(const struct options *options, struct hd_rng *rng)
{
	static const int windows[] = {0, 0, 3, 20};
	struct heddle_config config;
	if (heddle_config_init(&config))
		return -1;
	program.n_cpu = options->workers ? options->workers : 1 + below(rng, 4);
	config.sched = policy_name(options, program.seed);
	config.seed = program.seed;
	config.bind = 0;
	config.caller_works = program.caller_works = chance(rng, 0.4);
	config.window = windows[below(rng, 4)];
	program.drives = program.n_cpu <= MOST_WORKERS && chance(rng, 0.3);
	config.n_emulated = chance(rng, 0.2);
	config.model_dir = "none";
	snprintf(program.text, sizeof program.text,
	         "%s, %s, %u cpu, %d emulated, window %d, caller_works %d, drives %d, %d threads", config.sched,
	         program.is_strict ? "strict" : "with deadlocks", program.n_cpu, config.n_emulated, config.window,
	         config.caller_works, program.drives, program.n_threads);
	int status = start_crowded(&config, program.n_cpu, &program.rt);
	if (status)
		return status;
	program.inner = heddle_codelet_new(program.rt, .name = "inner", .cpu = inner_kernel, .can_run = is_cpu);
	program.leaf = heddle_codelet_new(program.rt, .name = "leaf", .cpu = leaf_kernel, .emulated = leaf_kernel);
	return program.inner && program.leaf ? 0 : -1;
}

static int run_seed(const struct options *options, uint64_t seed)
{
	struct hd_rng rng;
	begin_seed(seed);
	hd_rng_seed(&rng, seed);
	problem[0] = '\0';
	program.seed = seed;
	program.is_strict = chance(&rng, 0.67);
	program.n_threads = 1 + (int)below(&rng, MOST_THREADS);
	if (open_machine(options, &rng))
		return wrong("the start", HEDDLE_E_STATE);
	current_runtime = program.rt;
	draw_program(&rng);
	run_program();
	current_runtime = NULL;
	heddle_stop(program.rt); /* it returns what no wait has reported */
	return problem[0] != '\0';
}

int main(int argc, char **argv)
{
	struct options options;
	if (parse_options(argc, argv, &options))
		return 2;
	watch();
	for (uint64_t seed = options.seed; seed < options.seed + options.count; seed++) {
		int failed = run_seed(&options, seed);
		if (options.verbose)
			printf("seed %llu: %s\n", (unsigned long long)seed, program.text);
		if (failed) {
			fprintf(stderr, "%s\n  %s\n  replay with --seed %llu --count 1\n", problem, program.text,
			        (unsigned long long)seed);
			return 1;
		}
	}
	printf("%llu programs from seed %llu: every wait has ended as it must\n", (unsigned long long)options.count,
	       (unsigned long long)options.seed);
	return 0;
}
