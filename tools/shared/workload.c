/* Simulates an application or a graph in virtual time: see workload.h. */
#include "workload.h"
#include "tool.h"
#include "record/record.h"
#include "taskgraph/graph.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Limits that keep the iterative bound to about a second, because the user has not asked for this bound explicitly. In
 * a graph where every task has times of its own, the time of a round grows with the number of tasks. */
enum { MAX_TASKS = 4000, MAX_ROUNDS = 300, MAX_WORK = 200000 };

static unsigned rounds_for(size_t n_tasks)
{
	if (n_tasks > MAX_TASKS)
		return 0;
	return n_tasks > MAX_WORK / MAX_ROUNDS ? (unsigned)(MAX_WORK / n_tasks) : MAX_ROUNDS;
}

double work_flops(const struct work *work)
{
	double flops = 0;
	if (!work->graph) {
		const struct heddle_application *app = work_application(work);
		return app->flops ? app->flops(app, work->options) : NAN;
	}
	for (size_t i = 0; i < work->graph->n_tasks; i++)
		flops += work->graph->tasks[i].flops;
	return flops;
}

/* --- Outcomes ----------------------------------------------------------------------------------------------------- */

void outcome_init(struct outcome *out, const char *policy)
{
	*out = (struct outcome){.gflops = NAN,
	                        .residual = NAN,
	                        .bounds = {.area = NAN, .critical_path = NAN, .iterative = NAN, .mixed = NAN}};
	snprintf(out->policy, sizeof out->policy, "%s", policy);
}

static void figures_free(struct figures *figures)
{
	for (size_t i = 0; i < figures->n; i++) {
		free(figures->list[i].name);
		free(figures->list[i].unit);
	}
	free(figures->list);
	*figures = (struct figures){.n = 0};
}

void outcome_free(struct outcome *out)
{
	heddle_trace_free(out->trace);
	out->trace = NULL;
	free(out->memories);
	free(out->evicted);
	out->memories = NULL;
	out->evicted = NULL;
	figures_free(&out->figures);
	figures_free(&out->counted);
}

void outcome_take_time(struct outcome *out, double us)
{
	double span = us * out->processors;
	out->last_seconds = us * 1e-6;
	out->idle = span > 0 ? fmax(0, 1 - out->busy / span) : 0;
}

void outcome_take_stats(struct outcome *out, const struct heddle_stats *before, const struct heddle_stats *after)
{
	double driven = after->driven - before->driven;
	out->busy = after->busy - before->busy;
	out->processors = after->makespan > before->makespan ? driven / (after->makespan - before->makespan) : 0;
	out->tasks = (double)(after->tasks_executed - before->tasks_executed);
	out->transfers = (double)(after->transfers - before->transfers);
	out->bytes_moved = (double)(after->bytes_moved - before->bytes_moved);
	out->evictions = (double)(after->evictions - before->evictions);
	out->sched_time = after->sched_time - before->sched_time;
	out->batches = (double)(after->sched_batches - before->sched_batches);
	out->picks = (double)(after->sched_picks - before->sched_picks);
	out->empty_picks = (double)(after->sched_picks_empty - before->sched_picks_empty);
}

static void add_figure(void *arg, const char *name, double value, const char *unit)
{
	struct figures *figures = arg;
	figures->list = tool_realloc(figures->list, (figures->n + 1) * sizeof *figures->list);
	figures->list[figures->n++] = (struct figure){
	    .name = tool_format("%s", name),
	    .unit = tool_format("%s", unit ? unit : ""),
	    .value = value,
	};
}

static struct figure *find_figure(const struct figures *figures, const char *name)
{
	for (size_t i = 0; i < figures->n; i++)
		if (strcmp(figures->list[i].name, name) == 0)
			return &figures->list[i];
	return NULL;
}

static void note_count(void *arg, const char *name, double value, const char *unit)
{
	struct outcome *out = arg;
	struct figure *figure = find_figure(&out->figures, name);
	const struct figure *before = find_figure(&out->counted, name);
	(void)unit;
	if (figure) {
		figure->is_count = 1;
		figure->value = value - (before ? before->value : 0);
	}
}

/* How many data each memory has evicted since the start. The caller frees the array. */
static int count_evictions(heddle_runtime *rt, uint64_t **out)
{
	size_t n = heddle_runtime_platform(rt)->n_nodes;
	struct heddle_memory_stats stats;
	int status = 0;
	*out = tool_alloc(n * sizeof **out);
	for (unsigned i = 0; i < n && !status; i++) {
		status = heddle_runtime_memory_stats(rt, i, &stats);
		(*out)[i] = stats.evictions;
	}
	return status;
}

int outcome_begin(struct outcome *out, heddle_runtime *rt)
{
	figures_free(&out->counted);
	free(out->evicted);
	int status = count_evictions(rt, &out->evicted);
	return status ? status : heddle_policy_counts(rt, add_figure, &out->counted);
}

static int take_memories(struct outcome *out, heddle_runtime *rt)
{
	size_t n = out->trace->platform->n_nodes;
	struct heddle_trace_memory *traced = tool_alloc(n * sizeof *traced);
	uint64_t *evicted;
	int status = count_evictions(rt, &evicted);
	if (!status)
		status = heddle_trace_memories(rt, out->trace, traced);
	out->memories = tool_alloc(n * sizeof *out->memories);
	for (size_t i = 0; i < n && !status; i++)
		out->memories[i] =
		    (struct memory_use){traced[i], (double)(evicted[i] - (out->evicted ? out->evicted[i] : 0))};
	free(evicted);
	free(traced);
	return status;
}

/* Whether Heddle decides in a run which hierarchical tasks it expands. */
static int run_decides(const char *expand)
{
	return expand && (strcmp(expand, "adaptive") == 0 || strcmp(expand, "class") == 0);
}

/* Takes the graph that the runtime has recorded, under the name of the work. */
static int take_program(heddle_runtime *rt, const struct work *work, struct hd_program *out)
{
	int status = hd_program_record(rt, out);
	if (status)
		return status;
	out->repeats &= work_is_ours(work);
	free(out->graph->name);
	out->graph->name = tool_format("%s", work->graph ? work->graph->name : work->name);
	return 0;
}

static int record(heddle_runtime *rt, const struct work *work)
{
	struct hd_program program;
	int status = take_program(rt, work, &program);
	if (status)
		return status;
	status = heddle_graph_save(program.graph, work->record);
	hd_program_free(&program);
	return status;
}

int outcome_take_rest(struct outcome *out, heddle_runtime *rt, const struct work *work)
{
	int status = heddle_policy_report(rt, add_figure, &out->figures);
	if (!status)
		status = heddle_policy_counts(rt, note_count, out);
	if (!status && work->record)
		status = record(rt, work);
	if (!status && work->keep_trace)
		status = heddle_trace_take(rt, &out->trace);
	if (!status && work->explain)
		status = take_memories(out, rt);
	return status;
}

/* --- Runs in virtual time ----------------------------------------------------------------------------------------- */

/* Submits the work and waits for it. `kept`: receives the tasks that an application has submitted, before the
 * application closes; NULL: not wanted. */
static int submit(heddle_runtime *rt, const struct work *work, struct hd_program *kept)
{
	void *state = NULL;
	char sentence[1024];
	if (work->graph)
		return heddle_graph_submit(work->graph, rt);
	const struct heddle_application *app = work_application(work);
	int status = app->open(app, rt, 1, work->options, &state);
	if (!status)
		status = app->submit(state);
	if (status)
		snprintf(sentence, sizeof sentence, "%s", heddle_last_error());
	int waited = heddle_wait_all(rt);
	if (!status && !waited && kept)
		waited = take_program(rt, work, kept);
	int closed = state ? app->close(state) : 0;
	if (status)
		return heddle_error(status, "%s", sentence);
	return waited ? waited : closed;
}

/* The program that a simulation submits instead of the work, and the program in which it records the work; NULL:
 * none. */
struct exchange {
	const struct hd_program *repeated;
	struct hd_program *kept;
};

static int sim_on(heddle_runtime *rt, const struct work *work, const struct exchange *exchange, struct outcome *out)
{
	struct heddle_stats before, after;
	int status = heddle_runtime_stats(rt, &before);
	struct tool_watch *watch =
	    work->quiet ? NULL : tool_watch_start(rt, out->policy, work->graph ? (double)work->graph->n_tasks : NAN);
	double wall = tool_wall_clock(), flops = work_flops(work);
	if (!status)
		status =
		    exchange->repeated ? hd_program_submit(exchange->repeated, rt) : submit(rt, work, exchange->kept);
	if (!status)
		status = heddle_runtime_stats(rt, &after);
	out->wall = tool_wall_clock() - wall;
	tool_watch_stop(watch);
	if (!status) {
		outcome_take_stats(out, &before, &after);
		outcome_take_time(out, after.makespan);
		out->seconds = out->min_seconds = out->max_seconds = out->last_seconds;
		out->deviation = NAN;
		out->gflops = flops > 0 && out->seconds > 0 ? flops / out->seconds * 1e-9 : NAN;
		status = outcome_take_rest(out, rt, work);
	}
	return status;
}

static int simulate(const struct heddle_config *config, const struct heddle_platform *platform, const struct work *work,
                    const struct exchange *exchange, struct outcome *out)
{
	struct heddle_config c = *config;
	heddle_runtime *rt;
	c.trace = work->keep_trace || exchange->kept;
	if (heddle_start_on(&c, platform, 1, &rt))
		return tool_start_error("cannot start the simulation");
	if (c.trace && !work->keep_trace)
		hd_recorder_graph_only(rt);
	outcome_init(out, heddle_runtime_policy(rt));
	int failed = sim_on(rt, work, exchange, out);
	if (failed)
		tool_library_error("the simulation failed");
	int stopped = heddle_stop(rt);
	if (stopped && !failed)
		tool_library_error("the simulation did not end well");
	if (!failed && !stopped)
		return TOOL_OK;
	outcome_free(out);
	return TOOL_FAILURE;
}

/* Traces show the names that the work gives to tasks and data, so traced runs submit the work itself. */
int work_sim(const struct heddle_config *config, const struct heddle_platform *platform, const struct work *work,
             struct outcome *out)
{
	struct recording *recording = work->graph || run_decides(config->expand) ? NULL : work->recording;
	struct hd_program kept = {.graph = NULL};
	struct exchange exchange = {NULL, NULL};
	int records = 0;
	const struct hd_program *recorded = recording ? recording_begin(recording, &records) : NULL;
	if (recorded && recorded->repeats && !work->keep_trace)
		exchange.repeated = recorded;
	if (records)
		exchange.kept = &kept;
	int status = simulate(config, platform, work, &exchange, out);
	if (records)
		recording_give(recording, &kept);
	if (work->recording)
		recording_end(work->recording);
	return status;
}

/* Whether each run has a different graph, because the run decides which tasks are expanded. */
static int has_many_graphs(heddle_runtime *rt, const char *expand)
{
	struct heddle_stats stats;
	return run_decides(expand) && heddle_runtime_stats(rt, &stats) == 0 && stats.tasks_expanded > 0;
}

/* The platform with main memory only, so that nothing must be copied. Borrows everything from the platform except the
 * workers, which the caller frees. */
static struct heddle_platform in_one_memory(const struct heddle_platform *platform)
{
	struct heddle_platform p = *platform;
	p.workers = tool_alloc(p.n_workers * sizeof *p.workers);
	for (size_t i = 0; i < p.n_workers; i++) {
		p.workers[i] = platform->workers[i];
		p.workers[i].node = 0;
	}
	p.n_nodes = 1;
	p.n_links = 0;
	return p;
}

/* Records the graph of an application in a simulated run under the policy eager. The run has one memory, because the
 * places of data do not affect the graph, unless the run decides which tasks are submitted (run_decides). *varies: 1:
 * another run may give another graph; `varies` may be NULL. */
static int unroll(const struct heddle_config *config, const struct heddle_platform *platform, const struct work *work,
                  struct heddle_graph **out, int *varies)
{
	struct heddle_config c = *config;
	heddle_runtime *rt;
	c.sched = "eager";
	c.sched_options = NULL;
	c.trace = 1;
	struct heddle_platform simple = in_one_memory(platform);
	int started = heddle_start_on(&c, run_decides(c.expand) ? platform : &simple, 1, &rt);
	free(simple.workers);
	if (started)
		return tool_start_error("cannot start the simulation");
	hd_recorder_graph_only(rt);
	struct tool_watch *watch = work->quiet ? NULL : tool_watch_start(rt, "graph", NAN);
	struct hd_program program = {.graph = NULL};
	int failed = submit(rt, work, NULL) || take_program(rt, work, &program);
	tool_watch_stop(watch);
	if (failed)
		tool_library_error("cannot unroll the graph");
	else if (varies)
		*varies = has_many_graphs(rt, c.expand);
	*out = program.graph;
	free(program.ends);
	int stopped = heddle_stop(rt);
	if (failed)
		return TOOL_FAILURE;
	if (!stopped)
		return TOOL_OK;
	heddle_graph_free(*out);
	return tool_library_error("the simulation did not end well");
}

int work_open_graph(const struct heddle_config *config, const struct heddle_platform *platform, const struct work *work,
                    struct heddle_graph **out)
{
	*out = work->graph;
	return work->graph ? TOOL_OK : unroll(config, platform, work, out, NULL);
}

void work_close_graph(const struct work *work, struct heddle_graph *graph)
{
	if (graph != work->graph)
		heddle_graph_free(graph);
}

static int bound_graph(const struct work *work, const struct heddle_graph *graph,
                       const struct heddle_platform *platform, struct heddle_bounds *out)
{
	struct heddle_near_bounds near = {.best = NAN};
	unsigned rounds = rounds_for(graph->n_tasks);
	if (!work->near_bounds)
		return heddle_graph_bounds(graph, platform, rounds, out);
	int status = heddle_graph_near_bounds(graph, platform, rounds, &near);
	*out = near.plain;
	out->mixed = near.best;
	return status;
}

static int find_bounds(const struct heddle_config *config, const struct heddle_platform *platform,
                       const struct work *work, const struct hd_program *recorded, struct heddle_bounds *out)
{
	struct heddle_graph *unrolled = NULL;
	int varies = 0, status = TOOL_OK;
	const struct heddle_graph *graph = work->graph ? work->graph : recorded ? recorded->graph : NULL;
	if (!graph) {
		status = unroll(config, platform, work, &unrolled, &varies);
		graph = unrolled;
	}
	if (status)
		return status;
	if (work->record && heddle_graph_save(graph, work->record))
		status = tool_library_error("the graph was not written");
	else if (bound_graph(work, graph, platform, out))
		status = tool_library_error("no bounds");
	if (varies)
		*out = (struct heddle_bounds){.area = NAN, .critical_path = NAN, .iterative = NAN, .mixed = NAN};
	heddle_graph_free(unrolled);
	return status;
}

int work_bounds(const struct heddle_config *config, const struct heddle_platform *platform, const struct work *work,
                struct heddle_bounds *out)
{
	int records = 0;
	const struct hd_program *recorded = work->recording ? recording_begin(work->recording, &records) : NULL;
	int status = find_bounds(config, platform, work, recorded, out);
	if (records)
		recording_give(work->recording, &(struct hd_program){.graph = NULL});
	if (work->recording)
		recording_end(work->recording);
	return status;
}

/* --- Checks before a simulation ----------------------------------------------------------------------------------- */

enum { CODELET = 128 }; /* limit on the length of a codelet's name */

static int knows(const struct heddle_platform *platform, const char *codelet)
{
	for (size_t i = 0; i < platform->n_kernels; i++)
		if (strcmp(platform->kernels[i].codelet, codelet) == 0)
			return 1;
	return 0;
}

/* The first codelet of the application with these options that the platform does not know; 0: there is none. */
static int find_unknown(const struct heddle_platform *platform, const struct heddle_application *app,
                        const void *options, char name[CODELET])
{
	for (size_t i = 0; app->codelet && app->codelet(app, options, i, name, CODELET); i++)
		if (!knows(platform, name))
			return 1;
	return 0;
}

static int has_workers(const struct heddle_platform *platform, unsigned class_id)
{
	for (size_t w = 0; w < platform->n_workers; w++)
		if (platform->workers[w].class_id == class_id)
			return 1;
	return 0;
}

/* Whether some task of the work has a time for a class. */
static int has_time(const struct heddle_platform *platform, const struct work *work, unsigned class_id)
{
	char name[CODELET];
	for (size_t i = 0; work->graph && i < work->graph->n_tasks; i++)
		if (!isnan(heddle_graph_time(work->graph, i, platform, class_id)))
			return 1;
	const struct heddle_application *app = work->graph ? NULL : work_application(work);
	if (app && !app->codelet)
		return 1; /* unknown: it may have a time */
	for (size_t i = 0; app && app->codelet(app, work->options, i, name, sizeof name); i++)
		for (size_t k = 0; k < platform->n_kernels; k++)
			if (platform->kernels[k].class_id == class_id &&
			    strcmp(platform->kernels[k].codelet, name) == 0)
				return 1;
	return 0;
}

char *work_untimed(const struct heddle_platform *platform, const struct work *work)
{
	char *names = NULL;
	for (unsigned c = 0; c < platform->n_classes; c++) {
		if (!has_workers(platform, c) || has_time(platform, work, c))
			continue;
		char *longer = tool_format("%s%s%s", names ? names : "", names ? ", " : "", platform->classes[c].name);
		free(names);
		names = longer;
	}
	return names;
}

int work_has_times(const struct work *work)
{
	return work->graph && work->graph->times && work->graph->n_classes;
}

void work_warn_untimed(const struct heddle_platform *platform, const struct work *work, const char *untimed)
{
	char *assume = work_has_times(work)
	                   ? tool_format("Assume times (--speedup %.*s=10: a tenth of those on cores; --times), ",
	                                 (int)strcspn(untimed, ","), untimed)
	                   : tool_format("%s", "");
	tool_warn(
	    "no task of %s has a time for %s of platform %s: the workers there stay idle, and no percent of a bound "
	    "is given. %s%s the graph times for these classes or their kinds, or add its types to the platform's "
	    "kernels",
	    work->name, untimed, platform->name, assume, *assume ? "give" : "Give");
	free(assume);
}

/* The shortest word for another precision for which the platform has the application's codelets; NULL: there is
 * none. */
static const char *other_precision(const struct heddle_platform *platform, const struct work *work)
{
	const struct heddle_application *app = work_application(work);
	const struct heddle_parameter *p = app->parameters;
	while (p && p->name && strcmp(p->name, "precision") != 0)
		p++;
	const char *found = NULL;
	struct work other = *work;
	char name[CODELET];
	for (const struct heddle_word *w = p && p->name ? p->words : NULL; w && w->word; w++)
		if (!heddle_application_set(app, other.options, p->name, w->word) &&
		    !find_unknown(platform, app, other.options, name) && (!found || strlen(w->word) < strlen(found)))
			found = w->word;
	return found;
}

int work_check_platform(const struct heddle_platform *platform, const struct work *work)
{
	char name[CODELET];
	if (work->graph || !find_unknown(platform, work_application(work), work->options, name))
		return TOOL_OK;
	const char *other = other_precision(platform, work);
	if (other)
		return tool_usage_error("platform %s has no times for %s, and it has some in another precision: use "
		                        "--precision %s",
		                        platform->name, name, other);
	return tool_usage_error("platform %s has no times for %s: `heddle platforms %s` shows what it has",
	                        platform->name, name, platform->name);
}
