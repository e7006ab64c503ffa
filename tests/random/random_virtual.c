/* Random task graphs on random machines in virtual time.
 *
 * Every seed makes a machine (up to 6 CPU workers and 3 accelerators with memories, streams, links and a bus of their
 * own) and a graph, and runs it twice. The two traces must be the same file, byte for byte; every task must have run
 * once, on a worker that can, after all that it conflicts with, never more at a time on one worker than it has streams;
 * and no bound may be above the makespan.
 */
#include <math.h>
#include "platforms.h"
#include "support.h"

enum { MAX_TASKS = 60, MAX_DATA = 12, MAX_ACCESS = 4, N_CODELETS = 3, ROOM = 900000 /* bytes */ };

struct access {
	unsigned datum;
	int mode;
};

struct task {
	struct access access[MAX_ACCESS];
	unsigned n, codelet, after; /* after: 1 + an earlier task, 0: none */
	int priority;
};

struct plan {
	struct heddle_platform *platform;
	size_t bytes[MAX_DATA];
	struct task tasks[MAX_TASKS];
	unsigned n_tasks, n_data;
	struct heddle_config config;
	int with_reductions; /* then the runtime adds tasks of its own, and only theirs have no conflicts checked */
};

/* --- The graph ---------------------------------------------------------------------------------------------------- */

static void make_task(struct plan *plan, struct task *t, unsigned index, struct hd_rng *rng)
{
	static const int modes[] = {HEDDLE_R,  HEDDLE_R,  HEDDLE_R,       HEDDLE_W,
	                            HEDDLE_RW, HEDDLE_RW, HEDDLE_COMMUTE, HEDDLE_REDUX};
	t->codelet = below(rng, N_CODELETS);
	t->priority = (int)below(rng, 10);
	t->after = index && chance(rng, 0.1) ? 1 + below(rng, index) : 0;
	unsigned wanted = 1 + below(rng, MAX_ACCESS);
	for (unsigned i = 0; i < wanted; i++) {
		struct access a = {below(rng, plan->n_data), modes[below(rng, plan->with_reductions ? 8 : 7)]};
		unsigned j = 0;
		while (j < t->n && t->access[j].datum != a.datum)
			j++;
		if (j == t->n)
			t->access[t->n++] = a;
	}
}

static void make_plan(struct plan *plan, const struct options *options, uint64_t seed)
{
	struct hd_rng rng;
	memset(plan, 0, sizeof *plan);
	hd_rng_seed(&rng, seed);
	plan->platform = make_platform(&rng, N_CODELETS, ROOM);
	plan->with_reductions = chance(&rng, 0.2);
	plan->n_data = 1 + below(&rng, MAX_DATA);
	plan->n_tasks = 1 + below(&rng, MAX_TASKS);
	for (unsigned i = 0; i < plan->n_data; i++)
		plan->bytes[i] = 8 * (size_t)(100 + below(&rng, 25000));
	for (unsigned i = 0; i < plan->n_tasks; i++)
		make_task(plan, &plan->tasks[i], i, &rng);
	heddle_config_init(&plan->config);
	plan->config.sched = policy_name(options, seed);
	plan->config.seed = seed;
	plan->config.trace = 1;
	plan->config.window = chance(&rng, 0.3) ? 1 + (int)below(&rng, 10) : 0;
	plan->config.virtual_time.noise = chance(&rng, 0.3) ? 0.1 : 0;
	plan->config.virtual_time.sched_cost = chance(&rng, 0.3) ? 1.5 : 0;
	plan->config.model_dir = "none";
	plan->config.model_sizes = (int)(seed % 4); /* all, or fewer than there are */
}

/* --- Running it --------------------------------------------------------------------------------------------------- */

struct run {
	heddle_runtime *rt;
	heddle_codelet *codelets[N_CODELETS], *zero, *add;
	heddle_data *data[MAX_DATA];
	heddle_task *held[MAX_TASKS];
};

static int make_objects(const struct plan *plan, struct run *run)
{
	for (unsigned k = 0; k < N_CODELETS; k++) {
		char name[16];
		snprintf(name, sizeof name, "kernel%u", k);
		run->codelets[k] = heddle_codelet_new(run->rt, .name = name, .cpu = never, .cuda = never);
		if (!run->codelets[k])
			return -1;
	}
	/* The kernels of a reduction take the times of kernel0. */
	run->zero = heddle_codelet_new(run->rt, .name = "kernel0", .cpu = never, .cuda = never);
	run->add = heddle_codelet_new(run->rt, .name = "kernel0", .cpu = never, .cuda = never);
	if (!run->zero || !run->add)
		return -1;
	static char somewhere[8 * 25100]; /* never touched */
	for (unsigned i = 0; i < plan->n_data; i++)
		if (heddle_vector(run->rt, somewhere, plan->bytes[i] / 8, 8, &run->data[i]) ||
		    heddle_data_set_reduction(run->data[i], run->zero, run->add))
			return -1;
	return 0;
}

static int submit_task(const struct plan *plan, struct run *run, unsigned index)
{
	const struct task *t = &plan->tasks[index];
	struct heddle_item items[MAX_ACCESS + 4];
	size_t n = 0;
	for (unsigned i = 0; i < t->n; i++)
		items[n++] = heddle_access((enum heddle_mode)t->access[i].mode, run->data[t->access[i].datum]);
	items[n++] = heddle_call(run->codelets[t->codelet]);
	items[n++] = heddle_priority(t->priority);
	items[n++] = heddle_out(&run->held[index]);
	if (t->after)
		items[n++] = heddle_after(run->held[t->after - 1]);
	return heddle_submit_items(run->rt, n, items);
}

/* `graph`: receives what the run has submitted; NULL: not wanted. */
static int run_plan(const struct plan *plan, struct heddle_trace **trace, struct heddle_graph **graph)
{
	struct run run = {0};
	int status = heddle_start_on(&plan->config, plan->platform, 1, &run.rt);
	if (status)
		return status;
	status = make_objects(plan, &run);
	for (unsigned i = 0; i < plan->n_tasks && !status; i++) {
		status = submit_task(plan, &run, i);
		if (!status)
			status = heddle_selfcheck(run.rt);
	}
	if (!status)
		status = heddle_wait_all(run.rt);
	if (!status)
		status = heddle_selfcheck(run.rt);
	for (unsigned i = 0; i < plan->n_tasks; i++)
		if (run.held[i])
			heddle_task_release(run.held[i]);
	if (!status && graph)
		status = heddle_graph_record(run.rt, graph);
	if (!status)
		status = heddle_trace_take(run.rt, trace);
	if (status) {
		fprintf(stderr, "%s: %s\n", heddle_status_name(status), heddle_last_error());
		heddle_stop(run.rt);
		return status;
	}
	return heddle_stop(run.rt);
}

/* --- What must be true of a trace --------------------------------------------------------------------------------- */

static const double slack = 1e-6; /* us: rounding of sums of times */

/* 0 none, 1 the second waits for the first, 2 one at a time. */
static int conflict(const struct task *a, const struct task *b)
{
	int strongest = 0;
	for (unsigned i = 0; i < a->n; i++) {
		for (unsigned j = 0; j < b->n; j++) {
			int p = a->access[i].mode, q = b->access[j].mode;
			if (a->access[i].datum != b->access[j].datum ||
			    (p == q && (p == HEDDLE_R || p == HEDDLE_REDUX)))
				continue;
			if (!(p == HEDDLE_COMMUTE && q == HEDDLE_COMMUTE))
				return 1;
			strongest = 2;
		}
	}
	return strongest;
}

/* Finds the program's tasks in the trace, in the order of submission. The ids of those that the runtime added lie
 * between. */
static int find_tasks(const struct plan *plan, const struct heddle_trace *trace, const struct heddle_trace_task **found)
{
	const struct heddle_trace_task **by_id = array(trace->n_tasks, sizeof *by_id);
	size_t n = 0;
	for (size_t i = 0; i < trace->n_tasks; i++) {
		size_t at = n++;
		for (; at > 0 && by_id[at - 1]->id > trace->tasks[i].id; at--)
			by_id[at] = by_id[at - 1];
		by_id[at] = &trace->tasks[i];
	}
	int right = plan->with_reductions ? n >= plan->n_tasks : n == plan->n_tasks;
	for (size_t i = 0; i < n && i < plan->n_tasks; i++)
		found[i] = by_id[i];
	for (size_t i = 1; i < n; i++)
		right &= by_id[i]->id != by_id[i - 1]->id;
	free(by_id);
	return right ? 0 : -1;
}

static const char *check_order(const struct plan *plan, const struct heddle_trace_task *const *t)
{
	for (unsigned j = 0; j < plan->n_tasks; j++) {
		for (unsigned i = 0; i < j; i++) {
			int kind = conflict(&plan->tasks[i], &plan->tasks[j]);
			int in_order = t[j]->start >= t[i]->end - slack, reversed = t[i]->start >= t[j]->end - slack;
			if ((kind == 1 || plan->tasks[j].after == i + 1) && !in_order)
				return "a task began before one that it depends on had ended";
			if (kind == 2 && !in_order && !reversed)
				return "two commuting tasks overlap";
		}
	}
	return NULL;
}

static const char *check_workers(const struct heddle_trace *trace)
{
	for (size_t i = 0; i < trace->n_tasks; i++) {
		const struct heddle_trace_task *a = &trace->tasks[i];
		if (a->worker >= trace->platform->n_workers || a->status || !(a->start <= a->end) ||
		    a->start < a->ready - slack)
			return "a task has impossible figures";
		unsigned at_once = 1; /* with those that run when it begins */
		for (size_t j = 0; j < i; j++)
			at_once += trace->tasks[j].worker == a->worker && a->start < trace->tasks[j].end - slack;
		if (at_once > trace->platform->classes[trace->platform->workers[a->worker].class_id].streams)
			return "a worker ran more tasks at once than it has streams";
	}
	return NULL;
}

/* The bounds that count transfers need the data, which the trace does not have. */
static const char *check_graph(const struct plan *plan, const struct heddle_graph *graph, double makespan)
{
	struct heddle_near_bounds bounds;
	if (plan->config.virtual_time.noise > 0)
		return NULL;
	if (heddle_graph_near_bounds(graph, plan->platform, 3, &bounds))
		return heddle_last_error();
	return bounds.best > makespan * (1 + 1e-9) + slack ? "a bound of the graph is above the makespan" : NULL;
}

static const char *check_trace(const struct plan *plan, const struct heddle_trace *trace)
{
	const struct heddle_trace_task *found[MAX_TASKS];
	if (find_tasks(plan, trace, found))
		return "not every task ran exactly once";
	const char *wrong = check_workers(trace);
	if (!wrong && !plan->with_reductions)
		wrong = check_order(plan, found);
	if (wrong || plan->config.virtual_time.noise > 0)
		return wrong; /* with noise a task may be quicker than the model that the bounds are made of */
	struct heddle_bounds bounds;
	if (heddle_trace_bounds(trace, NULL, NULL, 20, &bounds))
		return heddle_last_error();
	double makespan = heddle_trace_makespan(trace) * (1 + 1e-9) + slack;
	return bounds.mixed > makespan ? "a bound is above the makespan" : NULL;
}

/* Whether both traces are the same file. */
static const char *compare_traces(const struct heddle_trace *a, const struct heddle_trace *b, const char *folder)
{
	char *path[2] = {hd_format("%s/a", folder), hd_format("%s/b", folder)}, *text[2] = {NULL, NULL};
	size_t length[2] = {0, 0};
	const char *wrong = NULL;
	for (int i = 0; i < 2 && !wrong; i++)
		if (heddle_trace_save(i ? b : a, path[i]) || hd_file_read(path[i], &text[i], &length[i]))
			wrong = heddle_last_error();
	if (!wrong && (length[0] != length[1] || memcmp(text[0], text[1], length[0]) != 0))
		wrong = "the same run twice gives two traces";
	for (int i = 0; i < 2; i++) {
		unlink(path[i]);
		free(path[i]);
		free(text[i]);
	}
	return wrong;
}

static int run_seed(const struct options *options, uint64_t seed, const char *folder)
{
	struct plan plan;
	struct heddle_trace *trace[2] = {NULL, NULL};
	struct heddle_graph *graph = NULL;
	begin_seed(seed);
	make_plan(&plan, options, seed);
	const char *wrong = NULL;
	if (run_plan(&plan, &trace[0], &graph) || run_plan(&plan, &trace[1], NULL))
		wrong = "the run failed";
	if (!wrong)
		wrong = check_trace(&plan, trace[0]);
	if (!wrong)
		wrong = check_graph(&plan, graph, heddle_trace_makespan(trace[0]));
	if (!wrong)
		wrong = compare_traces(trace[0], trace[1], folder);
	if (wrong)
		fprintf(stderr, "%s\n  %s, %zu workers, %u tasks, %u data%s\n  replay with --seed %llu --count 1\n",
		        wrong, plan.config.sched, plan.platform->n_workers, plan.n_tasks, plan.n_data,
		        plan.with_reductions ? ", reductions" : "", (unsigned long long)seed);
	else if (options->verbose)
		printf("seed %llu: %s, %u tasks, %.1f us\n", (unsigned long long)seed, plan.config.sched, plan.n_tasks,
		       heddle_trace_makespan(trace[0]));
	heddle_trace_free(trace[0]);
	heddle_trace_free(trace[1]);
	heddle_graph_free(graph);
	heddle_platform_free(plan.platform);
	return wrong != NULL;
}

int main(int argc, char **argv)
{
	struct options options;
	char folder[] = "/tmp/heddle-random-XXXXXX";
	if (parse_options(argc, argv, &options) || !mkdtemp(folder))
		return 2;
	watch();
	int wrong = 0;
	for (uint64_t i = 0; i < options.count && !wrong; i++)
		wrong = run_seed(&options, options.seed + i, folder);
	rmdir(folder);
	if (!wrong)
		printf("%llu graphs from seed %llu: right and repeatable\n", (unsigned long long)options.count,
		       (unsigned long long)options.seed);
	return wrong;
}
