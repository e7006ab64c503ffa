/* mp-fmm: figure 6 of H. Tayeb and others, "Dynamic tasks scheduling with multiple priorities on heterogeneous
 * computing systems", IPDPSW 2024: the fast multipole method of 10^6 particles in a tree of height 6, whose near field
 * GPUs may compute, too, under multiprio, dmdas and heteroprio, with 1 to 4 streams per GPU.
 *
 * The graph is that of TBFMM, which the paper uses: mutual pairs of groups, which commute, and no priorities. The paper
 * names neither the degree of the expansions, nor the groups, nor the kernel: they are varied. */
#include "repro.h"
#include <stdlib.h>
#include <string.h>

enum { MACHINES = 2, KERNELS = 2, STREAMS = 4, GROUPS = 3, POLICIES = 17, DEGREE = 6, USUAL_STREAMS = 2 };
enum { MULTIPRIO, DMDAS, HETEROPRIO, CHIEF };
static const double FAST = 1e9; /* MB/s */

static const char *const machines[MACHINES] = {"intel-v100", "amd-a100"};
static const char *const kernels[KERNELS] = {"blocks", "full"};
/* us of a task on a core; with the last one, groups have as many leaves as TBFMM gives them on 32 threads */
static const double groups[GROUPS] = {1500, 5000, 8600};
static const struct policy {
	const char *label, *sched, *options;
} policies[POLICIES] = {
    [MULTIPRIO] = {"multiprio", "multiprio", NULL},
    [DMDAS] = {"dmdas", "dmdas", NULL},
    [HETEROPRIO] = {"heteroprio", "heteroprio", NULL},
    {"multiprio stream=worker", "multiprio", "stream=worker"},
    {"critprio", "critprio", NULL},
    {"laheteroprio", "laheteroprio", NULL},
    {"autoheteroprio", "autoheteroprio", NULL},
    {"heft", "heft", NULL},
    {"dm", "dm", NULL},
    {"dmda", "dmda", NULL},
    {"dmdar", "dmdar", NULL},
    {"dada", "dada", NULL},
    {"lws", "lws", NULL},
    {"ws", "ws", NULL},
    {"eager", "eager", NULL},
    {"prio", "prio", NULL},
    {"random", "random", NULL},
};

/* What is varied besides machines, kernels and streams; the first one is what the figure is made of. */
static const struct variant {
	const char *name;
	unsigned degree;
	int gpu_far, by_size, free_copies; /* free_copies: on machines whose copies take no time */
} variants[] = {
    {"degree 6", DEGREE, 0, 0, 0},
    {"models keyed by size", DEGREE, 0, 1, 0},
    {"copies take no time", DEGREE, 0, 0, 1},
    {"M2L on GPUs, too", DEGREE, 1, 0, 0},
    {"M2L on GPUs, too, models keyed by size", DEGREE, 1, 1, 0},
    {"M2L on GPUs, too, copies take no time", DEGREE, 1, 0, 1},
    {"degree 3", 3, 0, 0, 0},
    {"degree 4", 4, 0, 0, 0},
    {"degree 8", 8, 0, 0, 0},
    {"degree 11", 11, 0, 0, 0},
};
enum { VARIANTS = sizeof variants / sizeof *variants, FIGURE = 0, BY_SIZE = 1 };

/* A point of the figure, or of a variant. */
struct point {
	size_t variant, machine, kernel, streams;
	double ms[POLICIES][GROUPS]; /* NAN: not simulated */
};

enum { POINTS = MACHINES * KERNELS * (STREAMS + VARIANTS) };

struct all {
	struct heddle_platform *platforms[MACHINES][STREAMS + 1]; /* [0]: with free copies */
	struct point points[POINTS];
	size_t n_points, n_groups;
	struct repro_word_run runs[POINTS * POLICIES * GROUPS];
	double *results[POINTS * POLICIES * GROUPS]; /* where the makespan of each run goes */
	size_t n_runs;
	struct repro_word_run traced[CHIEF];
};

/* --- Runs --------------------------------------------------------------------------------------------------------- */

static void add_point(struct all *a, struct point p)
{
	for (size_t i = 0; i < POLICIES * GROUPS; i++)
		p.ms[i / GROUPS][i % GROUPS] = NAN;
	a->points[a->n_points++] = p;
}

/* The variants on the usual number of streams alone. */
static void add_points(struct all *a, int quick)
{
	for (size_t i = 0; i < MACHINES * KERNELS; i++) {
		size_t machine = i / KERNELS, kernel = i % KERNELS;
		for (size_t streams = 1; streams <= STREAMS; streams += quick ? STREAMS - 1 : 1)
			add_point(a, (struct point){FIGURE, machine, kernel, streams, {{0}}});
		for (size_t v = FIGURE + 1; v < VARIANTS; v++)
			add_point(a, (struct point){v, machine, kernel, USUAL_STREAMS, {{0}}});
	}
}

static char *word_of(const struct point *p, size_t group, int quick)
{
	const struct variant *v = &variants[p->variant];
	return tool_format("fmm:particles=%s,leaves=%d,digits=4,degree=%u,task-us=%g,pairs=mutual,priorities=none,"
	                   "p2p=%s,m2l=%s,models=%s",
	                   quick ? "64000" : "1e6", quick ? 13 : 32, v->degree, groups[group], kernels[p->kernel],
	                   v->gpu_far ? "gpu" : "cpu", v->by_size ? "size" : "work");
}

static struct repro_word_run run_of(const struct all *a, const struct point *p, size_t policy, size_t group,
                                    const struct repro_report *report)
{
	int has_free_copies = variants[p->variant].free_copies;
	const char *options = policies[policy].options;
	return (struct repro_word_run){.word = word_of(p, group, report->quick),
	                               .platform = a->platforms[p->machine][has_free_copies ? 0 : p->streams],
	                               .sched = policies[policy].sched,
	                               .sched_options = options ? tool_format("%s", options) : NULL,
	                               .seed = report->seed};
}

/* All policies are in the figure; the paper's have the variants. */
static void add_runs(struct all *a, const struct repro_report *report)
{
	for (size_t i = 0; i < a->n_points; i++) {
		struct point *p = &a->points[i];
		for (size_t group = 0; group < a->n_groups; group++)
			for (size_t policy = 0; policy < (p->variant == FIGURE ? POLICIES : CHIEF); policy++) {
				a->results[a->n_runs] = &p->ms[policy][group];
				a->runs[a->n_runs++] = run_of(a, p, policy, group, report);
			}
	}
}

/* Traces at the first point: TBFMM's kernel, one stream. */
static int trace(struct all *a, const struct repro_report *report)
{
	for (size_t policy = 0; policy < CHIEF; policy++) {
		a->traced[policy] = run_of(a, &a->points[0], policy, a->n_groups > 1 ? 1 : 0, report);
		a->traced[policy].keep_trace = 1;
	}
	return repro_simulate_words(a->traced, CHIEF);
}

static void make_copies_free(struct heddle_platform *p)
{
	for (size_t i = 0; i < p->n_links; i++) {
		p->links[i].bandwidth = FAST;
		p->links[i].latency = 0;
	}
	for (size_t i = 0; i < p->n_buses; i++)
		p->buses[i].bandwidth = FAST;
}

static int open_machines(struct all *a)
{
	int status = TOOL_OK;
	for (size_t i = 0; i < MACHINES * (STREAMS + 1) && !status; i++) {
		size_t machine = i / (STREAMS + 1), streams = i % (STREAMS + 1);
		status = repro_machine_with_streams(machines[machine], streams ? (unsigned)streams : USUAL_STREAMS,
		                                    &a->platforms[machine][streams]);
		if (!status && !streams)
			make_copies_free(a->platforms[machine][streams]);
	}
	return status;
}

static int simulate(struct all *a, const struct repro_report *report)
{
	a->n_groups = report->quick ? 1 : GROUPS;
	int status = open_machines(a);
	if (status)
		return status;
	add_points(a, report->quick);
	add_runs(a, report);
	status = repro_simulate_words(a->runs, a->n_runs);
	for (size_t i = 0; i < a->n_runs && !status; i++)
		*a->results[i] = a->runs[i].outcome.seconds * 1e3;
	return status ? status : trace(a, report);
}

/* --- The report --------------------------------------------------------------------------------------------------- */

/* ms of a policy with the groups that suit it best. */
static double best(const struct point *p, size_t policy)
{
	double ms = INFINITY;
	for (size_t group = 0; group < GROUPS; group++)
		ms = fmin(ms, p->ms[policy][group]); /* fmin leaves NAN out */
	return ms;
}

static double multiprio_over_better(const struct point *p)
{
	return best(p, MULTIPRIO) / fmin(best(p, DMDAS), best(p, HETEROPRIO));
}

/* Points of a variant; machine or kernel -1: of all. */
struct selection {
	size_t variant;
	int machine, kernel;
};

static int is_in(const struct point *p, struct selection s)
{
	return p->variant == s.variant && (s.machine < 0 || p->machine == (size_t)s.machine) &&
	       (s.kernel < 0 || p->kernel == (size_t)s.kernel);
}

/* The geometric mean of what `ratio` says of the points. */
static double mean(const struct all *a, struct selection s, double (*ratio)(const struct point *p))
{
	double logs = 0, n = 0;
	for (size_t i = 0; i < a->n_points; i++)
		if (is_in(&a->points[i], s)) {
			logs += log(ratio(&a->points[i]));
			n++;
		}
	return exp(logs / n);
}

/* The geometric mean of a policy's makespan over that of multiprio. */
static double mean_of_policy(const struct all *a, struct selection s, size_t policy)
{
	double logs = 0, n = 0;
	for (size_t i = 0; i < a->n_points; i++)
		if (is_in(&a->points[i], s)) {
			logs += log(best(&a->points[i], policy) / best(&a->points[i], MULTIPRIO));
			n++;
		}
	return exp(logs / n);
}

static void add_row(struct repro_report *report, char *quantity, struct repro_row row)
{
	repro_row(report, quantity, row.unit, row.paper, row.ours, row.accepted);
	free(quantity);
}

static struct repro_row shown(const char *unit, double ours)
{
	return (struct repro_row){NULL, unit, NAN, ours, repro_shown()};
}

static void add_figure_rows(struct repro_report *report, const struct all *a)
{
	for (int i = 0; i < MACHINES * KERNELS; i++) {
		struct selection s = {FIGURE, i / KERNELS, i % KERNELS};
		add_row(report,
		        tool_format("multiprio / better of dmdas and heteroprio, %s, kernel %s", machines[s.machine],
		                    kernels[s.kernel]),
		        (struct repro_row){NULL, "", 1, mean(a, s, multiprio_over_better), repro_at_most(1.02)});
	}
	for (int i = 0; i < KERNELS * (POLICIES - 1); i++) {
		size_t policy = (size_t)i / KERNELS + 1;
		struct selection s = {FIGURE, -1, i % KERNELS};
		add_row(report, tool_format("%s / multiprio, kernel %s", policies[policy].label, kernels[s.kernel]),
		        shown("", mean_of_policy(a, s, policy)));
	}
}

/* By how much a policy takes longer if models are keyed by size. */
static double cost_of_models(const struct all *a, size_t policy, int kernel)
{
	double ms[2] = {0, 0};
	for (size_t i = 0; i < a->n_points; i++) {
		const struct point *p = &a->points[i];
		if (p->kernel == (size_t)kernel && p->streams == USUAL_STREAMS && p->variant <= BY_SIZE)
			ms[p->variant] += best(p, policy);
	}
	return 100 * (ms[BY_SIZE] / ms[FIGURE] - 1);
}

static void add_variant_rows(struct repro_report *report, const struct all *a)
{
	for (int i = KERNELS; i < KERNELS * VARIANTS; i++) {
		struct selection s = {(size_t)i / KERNELS, -1, i % KERNELS};
		add_row(report,
		        tool_format("%s: multiprio / better of the two, kernel %s", variants[s.variant].name,
		                    kernels[s.kernel]),
		        shown("", mean(a, s, multiprio_over_better)));
	}
	for (int i = 0; i < KERNELS * CHIEF && !report->quick; i++)
		add_row(report,
		        tool_format("%s: cost of models keyed by size, kernel %s", policies[i / KERNELS].label,
		                    kernels[i % KERNELS]),
		        shown("%", cost_of_models(a, (size_t)i / KERNELS, i % KERNELS)));
}

/* ms that P2P took on cores, and on GPUs. */
static void add_trace_rows(struct repro_report *report, const struct all *a)
{
	for (size_t i = 0; i < CHIEF; i++) {
		const struct heddle_trace *t = a->traced[i].outcome.trace;
		double near[2] = {0, 0}, workers = 0;
		for (size_t k = 0; k < t->n_tasks; k++) {
			const struct heddle_worker *w = &t->platform->workers[t->tasks[k].worker];
			int gpu = strcmp(t->platform->classes[w->class_id].kind, "cpu") != 0;
			if (strstr(t->codelets[t->tasks[k].codelet].name, "p2p"))
				near[gpu] += (t->tasks[k].end - t->tasks[k].start) * 1e-3;
		}
		for (size_t w = 0; w < t->platform->n_workers; w++)
			workers += strcmp(t->platform->classes[t->platform->workers[w].class_id].kind, "cpu") != 0;
		add_row(report, tool_format("traced run of %s: makespan", policies[i].label),
		        shown("ms", heddle_trace_makespan(t) * 1e-3));
		add_row(report, tool_format("traced run of %s: P2P on cores, in all", policies[i].label),
		        shown("ms", near[0]));
		add_row(report, tool_format("traced run of %s: GPUs idle", policies[i].label),
		        shown("%", 100 * (1 - near[1] / (workers * heddle_trace_makespan(t) * 1e-3))));
	}
}

static void add_notes(struct repro_report *report)
{
	repro_note(
	    report,
	    "The graph is as in TBFMM, and without priorities: mutual pairs of groups, which commute. Degree %d (4 "
	    "digits), %s leaves, 30 particles in each; each policy has the best group size of %s us of work. The "
	    "paper names neither degree nor groups.",
	    DEGREE, report->quick ? "13^3" : "32^3", report->quick ? "1500" : "1500, 5000 and 8600");
	repro_note(report,
	           "Times are estimates. On a core 1500 pairs per us and 45 Gflop/s in translations, as measured with "
	           "AVX-512; on a GPU pairs of 20 operations at 38 %% of what dgemm reaches (from the n-body sample "
	           "of CUDA), translations as long as dgemm. Kernel blocks is TBFMM's: 256 threads for each leaf, of "
	           "which 30 have work; kernel full gives work to all. Only P2P runs on GPUs, unless a row says so.");
	repro_note(
	    report,
	    "Where multiprio is behind, its trace shows the end of the run: cores leave short tasks to the GPUs, "
	    "because pop_condition compares times of kernels alone, and there each waits for copies that nothing "
	    "has begun before. Rows with copies that take no time show how much that is.");
	repro_note(report,
	           "At degree 8 and 11 M2L on cores takes nearly all of the time, whoever computes the near field, so "
	           "that policies tie.");
}

static int write_data(struct repro_report *report, const struct all *a)
{
	static const struct table_column columns[] = {
	    {"platform", NULL, NULL, TABLE_AS_TEXT}, {"streams", NULL, NULL, 0},
	    {"variant", NULL, NULL, TABLE_AS_TEXT},  {"kernel", NULL, NULL, TABLE_AS_TEXT},
	    {"policy", NULL, NULL, TABLE_AS_TEXT},   {"group_us", NULL, NULL, 0},
	    {"makespan_ms", NULL, NULL, 3},
	};
	struct table table;
	table_init(&table, "runs", NULL, columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < a->n_points * POLICIES * GROUPS; i++) {
		const struct point *p = &a->points[i / POLICIES / GROUPS];
		size_t policy = i / GROUPS % POLICIES, group = i % GROUPS;
		if (isnan(p->ms[policy][group]))
			continue;
		table_text(&table, "%s", machines[p->machine]);
		table_number(&table, (double)p->streams);
		table_text(&table, "%s", variants[p->variant].name);
		table_text(&table, "%s", kernels[p->kernel]);
		table_text(&table, "%s", policies[policy].label);
		table_number(&table, groups[group]);
		table_number(&table, p->ms[policy][group]);
	}
	int status = repro_data(report, "runs", &table);
	table_free(&table);
	return status;
}

/* --- Pictures ----------------------------------------------------------------------------------------------------- */

/* As figure 6: makespans on a machine against streams, one line for each policy and kernel. */
static int draw(struct repro_report *report, const struct all *a, size_t machine)
{
	enum { SERIES = CHIEF * KERNELS };
	struct heddle_chart_series series[SERIES];
	double x[SERIES][STREAMS], y[SERIES][STREAMS];
	for (size_t i = 0; i < SERIES; i++) {
		size_t policy = i % CHIEF, kernel = i / CHIEF, n = 0;
		for (size_t k = 0; k < a->n_points; k++)
			if (is_in(&a->points[k], (struct selection){FIGURE, (int)machine, (int)kernel})) {
				x[i][n] = (double)a->points[k].streams;
				y[i][n++] = best(&a->points[k], policy);
			}
		series[i] = (struct heddle_chart_series){
		    tool_format("%s, kernel %s", policies[policy].label, kernels[kernel]), x[i], y[i], n, 1};
	}
	char *title = tool_format("Fast multipole method on %s (simulated)", machines[machine]);
	const struct heddle_chart chart = {
	    .title = title,
	    .x_label = "streams per GPU",
	    .y_label = "makespan (ms)",
	    .series = series,
	    .n_series = SERIES,
	};
	int status = machine ? repro_chart_besides(report, machines[machine], &chart) : repro_chart(report, &chart);
	for (size_t i = 0; i < SERIES; i++)
		free((void *)(uintptr_t)series[i].name);
	free(title);
	return status;
}

int repro_mp_fmm(struct repro_report *report)
{
	struct all *a = tool_alloc(sizeof *a);
	int status = simulate(a, report);
	if (!status) {
		repro_where(report, "virtual time (simulated), platforms %s and %s, 2 GPUs each, double precision",
		            machines[0], machines[1]);
		add_figure_rows(report, a);
		add_variant_rows(report, a);
		add_trace_rows(report, a);
		add_notes(report);
		status = write_data(report, a);
	}
	for (size_t i = 0; i < MACHINES && !status; i++)
		status = draw(report, a, i);
	for (size_t i = 0; i < CHIEF && !status && !report->quick; i++)
		status = repro_gantt(report, policies[i].label, a->traced[i].outcome.trace);
	repro_word_runs_free(a->runs, a->n_runs);
	repro_word_runs_free(a->traced, CHIEF);
	for (size_t i = 0; i < MACHINES * (STREAMS + 1); i++)
		heddle_platform_free(a->platforms[i / (STREAMS + 1)][i % (STREAMS + 1)]);
	free(a);
	return status;
}
