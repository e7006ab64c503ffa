/* The other programs of random_memory: virtual time, traces, files; and the list of all. */
#ifndef MEMORY_MORE_H
#define MEMORY_MORE_H

#include <heddle/chart.h>
#include <heddle/settings.h>
#include "memory_workers.h"

static struct heddle_trace *recorded;
static char folder[] = "/tmp/heddle-memory-XXXXXX";

/* --- Virtual time ------------------------------------------------------------------------------------------------- */

static int start_virtual(const char *sched, const struct heddle_platform *platform, int trace, heddle_runtime **rt)
{
	struct heddle_config config;
	int status = small_config(&config);
	config.sched = sched;
	config.trace = trace;
	config.virtual_time.noise = 0.1;
	return status ? status : heddle_start_on(&config, platform, 1, rt);
}

/* A small Cholesky, and a reduction, which the platform's own kernels have no times for. */
static int submit_graph(heddle_runtime *rt)
{
	heddle_codelet *one = NULL, *add = NULL;
	heddle_data *sum = NULL;
	const struct heddle_codelet_desc given = {
	    .name = "given", .cpu = add_one, .model = HEDDLE_MODEL_GIVEN, .time = ten_us};
	struct heddle_codelet_desc other = given;
	other.name = "other";
	other.event_time = ten_us;
	int status = heddle_codelet_create(rt, &given, &one);
	TRY(heddle_codelet_create(rt, &other, &add));
	TRY(heddle_variable(rt, NULL, 1000, &sum));
	TRY(heddle_data_set_reduction(sum, one, add));
	for (int i = 0; i < 6; i++)
		TRY(heddle_submit(rt, heddle_call(one), heddle_redux(sum), heddle_priority(i)));
	TRY(heddle_submit(rt, heddle_call(one), heddle_rw(sum)));
	return status;
}

static int simulate(const char *sched, int trace, int gone, struct heddle_trace **out)
{
	heddle_runtime *rt = NULL;
	heddle_dense *dense = NULL;
	struct heddle_stats stats = {0};
	int status = start_virtual(sched, two_kinds, trace, &rt);
	TRY(submit_graph(rt));
	TRY(heddle_dense_open(rt, &dense));
	TRY(heddle_dense_graph(dense, &(struct heddle_dense_problem){.n = 3840, .options = {.tile = 960}}, NULL));
	heddle_dense_close(dense);
	TRY(heddle_runtime_stats(rt, &stats));
	CHECK(stats.tasks_executed > 27 && stats.tasks_failed == 0);
	if (out)
		TRY(heddle_trace_take(rt, out));
	return finish(rt, status, gone);
}

static const char *simulated_policy;
static int one_policy(int gone)
{
	return simulate(simulated_policy, 0, gone, NULL);
}

/* Twice: the second run reads what the first has kept. */
static int averages(int gone)
{
	char options[300];
	struct heddle_config config;
	int status = small_config(&config);
	snprintf(options, sizeof options, "memory=%s/averages.yaml,refresh=1", folder);
	config.sched = "autoheteroprio";
	config.sched_options = options;
	for (int i = 0; i < 2; i++) {
		heddle_runtime *rt = NULL;
		TRY(heddle_start_on(&config, two_kinds, 1, &rt));
		TRY(submit_graph(rt));
		status = finish(rt, status, gone);
	}
	unlink(strchr(options, '=') + 1);
	return status;
}

static int traced(int gone)
{
	struct heddle_trace *trace = NULL;
	int status = simulate("dmdas", 1, gone, &trace);
	CHECK(trace->n_tasks == recorded->n_tasks && trace->n_edges == recorded->n_edges);
	heddle_trace_free(trace);
	return status;
}

static const struct heddle_policy refusing;
static int refuse_create(heddle_sched *sched, void **state)
{
	(void)sched;
	*state = NULL;
	return 0;
}
static void refuse_destroy(void *state)
{
	(void)state;
}
static void refuse_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	(void)state;
	(void)batch;
	(void)n;
	(void)releaser;
}
static heddle_task *refuse_pick(void *state, unsigned worker)
{
	(void)state;
	(void)worker;
	return NULL;
}
static const struct heddle_policy refusing = {.abi = HEDDLE_POLICY_ABI,
                                              .name = "refusing",
                                              .summary = "gives no task to anybody",
                                              .source = "this test",
                                              .create = refuse_create,
                                              .destroy = refuse_destroy,
                                              .ready = refuse_ready,
                                              .pick = refuse_pick};

static heddle_codelet *nested_one, *nested; /* of the runtime at hand */

/* Adds 1, then lets a task of one level less do so, through a temporary. */
static int submit_nested(heddle_context *c)
{
	heddle_runtime *rt = heddle_context_runtime(c);
	heddle_data *d = heddle_context_data(c, 0), *own = NULL;
	int level = heddle_get(c, 0, int), below = level - 1;
	int status = heddle_submit(rt, heddle_call(nested_one), heddle_rw(d), heddle_named("one"));
	if (!status && level)
		status = heddle_submit(rt, heddle_call(nested), heddle_rw(d), heddle_value(below));
	if (!status)
		status = heddle_variable(rt, NULL, sizeof(double), &own);
	if (!status)
		status = heddle_submit(rt, heddle_call(nested_one), heddle_rw(d), heddle_w(own));
	if (own && heddle_unregister_async(own))
		status = HEDDLE_E_MEMORY;
	return status;
}

static int hierarchical_tasks(int gone)
{
	heddle_runtime *rt = NULL;
	heddle_data *x = NULL;
	heddle_task *last = NULL;
	struct heddle_trace *trace = NULL;
	struct heddle_config config;
	const struct heddle_subgraph graphs[] = {{"nested", submit_nested}, {"nested again", submit_nested}};
	const struct heddle_codelet_desc outer = {.name = "nested", .subgraphs = graphs, .n_subgraphs = 2};
	double a = 0;
	int status = small_config(&config);
	config.trace = 1;
	TRY(heddle_start(&config, &rt));
	TRY(codelet(rt, "one", add_one, &nested_one));
	TRY(heddle_codelet_create(rt, &outer, &nested));
	TRY(heddle_variable(rt, &a, sizeof a, &x));
	TRY(heddle_submit(rt, heddle_call(nested), heddle_rw(x), heddle_value((int){2}), heddle_out(&last)));
	TRY(heddle_submit(rt, heddle_call(nested_one), heddle_rw(x)));
	TRY(heddle_submit(rt, heddle_call(nested_one), heddle_rw(x), heddle_after(last)));
	heddle_task_release(last);
	TRY(heddle_wait_all(rt));
	TRY(heddle_trace_take(rt, &trace));
	heddle_trace_free(trace);
	status = finish(rt, status, gone);
	CHECK(a == 8);
	return status;
}

static int deadlock_and_dump(int gone)
{
	heddle_runtime *rt = NULL;
	(void)gone; /* it never worked */
	int status = start_virtual("refusing", two_kinds, 0, &rt), waited = 0, calls = 0;
	heddle_codelet *stays = NULL;
	heddle_task *task = NULL;
	TRY(submit_graph(rt));
	TRY(heddle_codelet_create(
	    rt,
	    &(struct heddle_codelet_desc){.name = "stays", .cpu = add_one, .model = HEDDLE_MODEL_GIVEN, .time = ten_us},
	    &stays));
	TRY(heddle_submit(rt, heddle_call(stays), heddle_named("stays for ever"), heddle_out(&task)));
	TRY(heddle_submit(rt, heddle_call(stays), heddle_after(task), heddle_then(count_call, &calls)));
	heddle_task_release(task);
	if (!status) {
		waited = heddle_wait_all(rt);
		CHECK(waited == HEDDLE_E_DEADLOCK || waited == HEDDLE_E_MEMORY);
		FILE *nowhere = fopen("/dev/null", "w");
		if (nowhere) {
			heddle_dump(rt, nowhere);
			fclose(nowhere);
		}
	}
	int stopped = rt ? heddle_stop(rt) : 0;
	CHECK(stopped == waited || waited == HEDDLE_E_MEMORY); /* a failed task cancels those after it */
	return status;
}

/* --- Plans -------------------------------------------------------------------------------------------------------- */

/* Two plans of a matrix, and one of a child, on two memories; the last plan is left to the end of the matrix. */
static int plans(int gone)
{
	const struct heddle_filter columns = {.kind = HEDDLE_SPLIT_COLUMNS, .ny = 2},
	                           rows = {.kind = HEDDLE_SPLIT_ROWS, .nx = 3};
	struct heddle_config config;
	heddle_runtime *rt = NULL;
	heddle_codelet *all = NULL;
	heddle_data *d = NULL;
	heddle_plan *v = NULL, *h = NULL, *below = NULL;
	double a[36] = {0};
	int status = small_config(&config);
	config.n_emulated = 1;
	TRY(heddle_start(&config, &rt));
	TRY(codelet(rt, "all", add_to_all, &all));
	TRY(heddle_matrix(rt, a, 6, 6, 6, sizeof *a, &d));
	TRY(heddle_plan_create(d, &columns, &v));
	TRY(heddle_plan_create(d, &rows, &h));
	TRY(heddle_plan_create(heddle_plan_child(v, 0), &rows, &below));
	TRY(heddle_submit(rt, heddle_call(all), heddle_rw(d)));
	TRY(heddle_submit(rt, heddle_call(all), heddle_rw(heddle_plan_child(v, 1))));
	TRY(heddle_submit(rt, heddle_call(all), heddle_rw(heddle_plan_child(below, 1))));
	TRY(heddle_submit(rt, heddle_call(all), heddle_rw(heddle_plan_child(h, 0))));
	TRY(heddle_plan_destroy(h));
	TRY(heddle_acquire(d, HEDDLE_R));
	CHECK(a[0] == 2 && a[2] == 2 && a[35] == 2 && a[18] == 3);
	TRY(heddle_release(d));
	status = finish(rt, status, gone);
	CHECK(a[0] == 2 && a[2] == 2 && a[35] == 2 && a[18] == 3);
	return status;
}

/* --- Traces ------------------------------------------------------------------------------------------------------- */

static int in_folder(char *path, const char *name)
{
	return snprintf(path, 256, "%s/%s", folder, name) < 256 ? 0 : WRONG;
}

static double one_ms(const struct heddle_trace *trace, size_t task, unsigned class_id, void *arg)
{
	(void)trace;
	(void)task;
	(void)class_id;
	(void)arg;
	return 1000;
}

static int trace_files(int gone)
{
	static const char *const names[] = {"trace.csv", "trace.json", "trace.paje"};
	char path[256];
	struct heddle_trace *again = NULL;
	struct heddle_bounds bounds = {0};
	uint64_t *ids = NULL;
	size_t n = 0;
	(void)gone;
	int status = in_folder(path, "trace.txt");
	TRY(heddle_trace_save(recorded, path));
	TRY(heddle_trace_load(path, &again));
	CHECK(again->n_tasks == recorded->n_tasks && again->n_transfers == recorded->n_transfers &&
	      again->n_edges == recorded->n_edges);
	heddle_trace_free(again);
	for (int format = HEDDLE_TRACE_CSV; format <= HEDDLE_TRACE_PAJE; format++) {
		TRY(in_folder(path, names[format]));
		TRY(heddle_trace_export(recorded, (enum heddle_trace_format)format, path));
	}
	TRY(heddle_trace_bounds(recorded, one_ms, NULL, 5, &bounds));
	CHECK(bounds.area > 0 && bounds.critical_path > 0);
	TRY(heddle_trace_critical_path(recorded, &ids, &n));
	CHECK(n > 0);
	free(ids);
	return status;
}

static int charts(int gone)
{
	static const char *const names[] = {"gantt.svg", "gantt.png", "chart.svg", "dag.svg", "dag.dot"};
	const double x[] = {1, 2, 4}, y[] = {3, 1, 8};
	const struct heddle_chart_series series[] = {{"one", x, y, 3, 1}, {"two", y, x, 3, 0}};
	const struct heddle_chart chart = {.title = "chart", .log_x = 1, .series = series, .n_series = 2};
	const struct heddle_gantt_options options = {.transfers = 1, .critical_path = 1, .lower_bound = 100};
	char path[256];
	(void)gone;
	int status = in_folder(path, names[0]);
	TRY(heddle_trace_gantt(recorded, path, &options));
	TRY(in_folder(path, names[1]));
	TRY(heddle_trace_gantt(recorded, path, NULL));
	TRY(in_folder(path, names[2]));
	TRY(heddle_chart_lines(&chart, path));
	for (int i = 3; i < 5; i++) {
		TRY(in_folder(path, names[i]));
		TRY(heddle_trace_dag(recorded, path, NULL));
	}
	return status;
}

/* --- Models, platforms, settings ---------------------------------------------------------------------------------- */

static int learn(const char *dir, int gone, struct heddle_platform **measured)
{
	heddle_runtime *rt = NULL;
	heddle_codelet *two = NULL, *linear = NULL, *power = NULL;
	heddle_data *x = NULL, *smaller[3] = {NULL};
	double a[8] = {0};
	struct heddle_config config;
	int status = small_config(&config);
	config.model_dir = dir;
	config.model_sizes = 1;
	config.sched = "dmda";
	const struct heddle_implementation implementations[] = {{"cpu", "a", add_one}, {"cpu", "b", add_one}};
	TRY(heddle_start(&config, &rt));
	TRY(heddle_codelet_create(
	    rt,
	    &(struct heddle_codelet_desc){
	        .name = "two", .implementations = implementations, .n_implementations = 2, .flops = some_flops},
	    &two));
	TRY(heddle_codelet_create(
	    rt,
	    &(struct heddle_codelet_desc){
	        .name = "linear", .cpu = add_one, .model = HEDDLE_MODEL_LINEAR, .regressors = regress_on_bytes},
	    &linear));
	TRY(heddle_codelet_create(
	    rt, &(struct heddle_codelet_desc){.name = "power", .cpu = add_one, .model = HEDDLE_MODEL_POWER}, &power));
	TRY(heddle_vector(rt, a, 8, sizeof *a, &x));
	for (int i = 0; i < 10; i++)
		TRY(heddle_submit(rt, heddle_call(i % 2 ? two : linear), heddle_rw(x)));
	for (size_t i = 0; i < 3; i++) { /* more sizes than a model remembers */
		TRY(heddle_vector(rt, NULL, 1 + i, sizeof *a, &smaller[i]));
		TRY(heddle_submit(rt, heddle_call(linear), heddle_w(smaller[i])));
		TRY(heddle_submit(rt, heddle_call(power), heddle_w(smaller[i])));
	}
	TRY(heddle_wait_all(rt));
	TRY(heddle_models_save(rt));
	TRY(heddle_platform_measured(rt, "here", measured));
	status = finish(rt, status, gone);
	CHECK(a[0] == 10);
	return status;
}

static int models(int gone)
{
	char dir[256];
	struct heddle_platform *measured = NULL;
	struct heddle_model_entry *entries = NULL;
	size_t n = 0;
	int status = in_folder(dir, "models");
	for (int run = 0; run < 2; run++) { /* the second reads what the first has written */
		TRY(learn(dir, gone, &measured));
		heddle_platform_free(measured);
		measured = NULL;
	}
	TRY(heddle_models_load(dir, &entries, &n));
	heddle_models_free(entries, n);
	TRY(heddle_models_purge(dir, "linear", &n));
	TRY(heddle_models_purge(dir, NULL, &n));
	free(heddle_models_dir());
	return status;
}

static int platforms(int gone)
{
	char path[256], **names = NULL;
	struct heddle_platform *p = NULL, *again = NULL, *here = NULL;
	struct heddle_config config;
	(void)gone;
	int status = in_folder(path, "platform.yaml");
	TRY(heddle_config_init(&config));
	config.n_cpu = 1;
	config.n_opencl = config.n_cuda = -1; /* those that there are */
	config.n_emulated = 2;
	TRY(heddle_platform_load("gpu1-cpu6", &p));
	TRY(heddle_platform_save(p, path));
	TRY(heddle_platform_load(path, &again));
	CHECK(again->n_workers == p->n_workers && again->n_kernels == p->n_kernels);
	TRY(heddle_platform_add_emulated(again, 1000, 0, 0, 2));
	TRY(heddle_platform_cluster(again, "1x4,socket"));
	TRY(heddle_platform_check(again));
	TRY(heddle_platform_configured(&config, &here));
	CHECK(strcmp(here->workers[here->n_workers - 1].name, "emulated1") == 0);
	TRY(heddle_platform_names(&names));
	if (names)
		heddle_platform_names_free(names);
	int unknown = heddle_platform_load("no-such-machine", &p);
	CHECK(unknown == HEDDLE_E_UNKNOWN || unknown == HEDDLE_E_MEMORY);
	heddle_platform_free(p);
	heddle_platform_free(again);
	heddle_platform_free(here);
	return status;
}

static int settings(int gone)
{
	struct heddle_config config;
	char path[256], value[64];
	heddle_runtime *rt = NULL;
	(void)gone;
	int status = in_folder(path, "config");
	setenv("HEDDLE_CONFIG", path, 1);
	TRY(heddle_config_init(&config));
	TRY(heddle_setting_value(&config, "window", value, sizeof value));
	CHECK(strcmp(value, "77") == 0 && strcmp(config.sched, "prio") == 0);
	config.model_dir = "none";
	TRY(heddle_start(&config, &rt));
	CHECK(strcmp(heddle_runtime_policy(rt), "prio") == 0);
	ALSO(rt ? heddle_stop(rt) : 0);
	unsetenv("HEDDLE_CONFIG");
	const struct heddle_policy **policies = heddle_policies();
	ALSO(policies ? 0 : HEDDLE_E_MEMORY);
	free(policies);
	if (heddle_policy_find("no such policy"))
		status = WRONG;
	return status;
}

/* potrf on windows, a solver and an inverse in tiles. */
static int dense_here(int gone)
{
	static const char *const routines[] = {"potrf", "posv", "poinv"};
	heddle_runtime *rt = NULL;
	heddle_dense *dense = NULL;
	struct heddle_dense_report report = {0};
	int status = start_small(&rt);
	TRY(heddle_dense_open(rt, &dense));
	for (size_t i = 0; i < sizeof routines / sizeof *routines; i++) {
		enum heddle_dense_layout layout = i == 0 ? HEDDLE_DENSE_IN_PLACE : HEDDLE_DENSE_TILED;
		struct heddle_dense_problem problem = {.routine = routines[i],
		                                       .n = 40,
		                                       .n_right = 2,
		                                       .options = {.tile = 16, .layout = layout},
		                                       .check = 1};
		TRY(heddle_dense_run(dense, &problem, &report));
		CHECK(report.residual < 10);
	}
	heddle_dense_close(dense);
	return finish(rt, status, gone);
}

/* Least squares, of a tall matrix in tiles, and of a wide one that is transposed. */
static int least_squares(int gone)
{
	heddle_runtime *rt = NULL;
	heddle_dense *dense = NULL;
	struct heddle_dense_report report = {0};
	double a[2 * 5] = {3, 0, 1, 0, 0, 4, 0, 0, 0, 0}, x[5] = {6, 8};
	struct heddle_dense_array of_a = {.rows = 2, .columns = 5, .data = a, .ld = 2};
	struct heddle_dense_array of_x = {.rows = 5, .columns = 1, .data = x, .ld = 5};
	struct heddle_dense_problem problem = {.routine = "gels",
	                                       .m = 40,
	                                       .n = 20,
	                                       .n_right = 2,
	                                       .options = {.tile = 16, .layout = HEDDLE_DENSE_TILED},
	                                       .check = 1};
	int status = start_small(&rt);
	TRY(heddle_dense_open(rt, &dense));
	TRY(heddle_dense_run(dense, &problem, &report));
	CHECK(report.residual < 10);
	TRY(heddle_dense_gels(dense, HEDDLE_DENSE_NO_TRANS, &of_a, &of_x,
	                      &(struct heddle_dense_options){.tile = 2, .tree = HEDDLE_DENSE_GREEDY}));
	CHECK(x[0] > 1.799 && x[0] < 1.801 && x[1] > 0.599 && x[1] < 0.601 && x[2] > 1.999 && x[2] < 2.001);
	heddle_dense_close(dense);
	return finish(rt, status, gone);
}

/* --- OpenCL devices ----------------------------------------------------------------------------------------------- */

static const struct heddle_opencl_source one_source = {
    .name = "memory_more.h",
    .text = "__kernel void add_one(__global double *x, ulong x0, __global double *t)\n"
            "{ *t = x[x0] + 1; x[x0] = *t; }\n"};

static int add_one_opencl(heddle_context *c)
{
	static char key;
	struct _cl_kernel *kernel = NULL;
	struct _cl_mem *t = heddle_opencl_scratch(c, sizeof(double));
	const struct heddle_opencl_range range = {.global = {1}, .local = {1}};
	const struct heddle_opencl_argument arguments[] = {heddle_opencl_datum(0), heddle_opencl_memory(t)};
	if (!t || !heddle_opencl_slot(c, &key, NULL) || heddle_opencl_kernel(c, &one_source, "add_one", &kernel))
		return 1; /* with the sentence that it has left */
	return heddle_opencl_run(c, kernel, &range, 2, arguments);
}

/* Kernels on the first device, if there is one. */
static int kernels_of_opencl(int gone)
{
	static int none;
	struct heddle_config config;
	heddle_runtime *rt = NULL;
	heddle_codelet *one = NULL;
	heddle_data *d = NULL;
	double x = 0;
	int status = none ? 0 : small_config(&config);
	if (status || none)
		return status;
	config.n_opencl = 1;
	status = heddle_start(&config, &rt);
	none = status == HEDDLE_E_UNSUPPORTED || status == HEDDLE_E_INVALID;
	if (none)
		return 0;
	TRY(heddle_codelet_create(
	    rt, &(struct heddle_codelet_desc){.name = "one", .cpu = add_one, .opencl = add_one_opencl}, &one));
	TRY(heddle_variable(rt, &x, sizeof x, &d));
	for (int i = 0; i < 4; i++)
		TRY(heddle_submit(rt, heddle_call(one), heddle_rw(d), heddle_on(1)));
	if (d)
		ALSO(heddle_unregister(d));
	CHECK(x > 3 && x < 5);
	return finish(rt, status, gone);
}

/* --- The list ----------------------------------------------------------------------------------------------------- */

static const struct memory_program memory_list[] = {
    {"tasks and callbacks", tasks_and_callbacks},
    {"chain of callbacks", chain_of_callbacks},
    {"failing kernel", failing_kernel},
    {"tasks with events", tasks_with_events},
    {"data of each kind", data_of_each_kind},
    {"partitions", partitions},
    {"plans", plans},
    {"all modes", all_modes},
    {"hierarchical tasks", hierarchical_tasks},
    {"deadlock and dump", deadlock_and_dump},
    {"traced", traced},
    {"averages", averages},
    {"trace files", trace_files},
    {"charts", charts},
    {"models", models},
    {"platforms", platforms},
    {"settings", settings},
    {"dense here", dense_here},
    {"least squares", least_squares},
    {"objects on accelerators", objects_on_accelerators},
    {"all modes on accelerators", all_modes_on_accelerators},
    {"little memory", little_memory},
    {"kernels of OpenCL", kernels_of_opencl},
    {"other workers in virtual time", other_workers_in_virtual_time},
    {"other workers on threads", other_workers_on_threads},
    {"cluster sets that change themselves", cluster_sets_that_change_themselves},
};
enum { N_LISTED = sizeof memory_list / sizeof *memory_list };
static const struct heddle_policy **all_policies;

/* The i-th program: those above, then a simulation under each policy; NULL at the end. */
static const struct memory_program *memory_program(size_t i)
{
	static struct memory_program simulation;
	if (i < N_LISTED)
		return &memory_list[i];
	const struct heddle_policy *p = all_policies[i - N_LISTED];
	if (!p || p == &refusing)
		return NULL;
	simulated_policy = p->name;
	simulation = (struct memory_program){p->name, one_policy};
	return &simulation;
}

static int memory_programs_open(void)
{
	char path[256];
	if (!mkdtemp(folder) || in_folder(path, "config"))
		return -1;
	setenv("HWLOC_SYNTHETIC", "core:2 pu:1", 1); /* machines differ */
	FILE *f = fopen(path, "w");
	if (f) {
		fprintf(f, "# settings\nwindow = 77\nsched = prio\n");
		fclose(f);
	}
	int status = heddle_platform_load("gpu1-cpu6", &two_kinds);
	TRY(heddle_policy_register(&refusing));
	TRY(simulate("dmdas", 1, 0, &recorded));
	all_policies = heddle_policies();
	if (status)
		fprintf(stderr, "random_memory: %s %s\n", heddle_last_error(), memory_wrong);
	return status;
}

static void memory_programs_close(void)
{
	char command[300];
	heddle_platform_free(two_kinds);
	heddle_trace_free(recorded);
	free(all_policies);
	snprintf(command, sizeof command, "rm -r %s", folder);
	if (system(command))
		fprintf(stderr, "%s stays\n", folder);
}

#endif
