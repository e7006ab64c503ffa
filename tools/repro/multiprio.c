/* mp-gain and mp-nod: the worked examples (table II and figure 3) of multiprio's paper: H. Tayeb, B. Bramas,
 * M. Faverge, A. Guermouche, "Dynamic tasks scheduling with multiple priorities on heterogeneous computing
 * systems", IPDPSW 2024.
 *
 * The examples are graphs that run in virtual time under a policy defined here. It forwards every call to multiprio,
 * ready tasks one by one, and notes the scores that multiprio gives to each task. */
#include "repro.h"
#include <stdlib.h>
#include <heddle/graph.h>
#include "policies/multiprio.h"
#include "policies/policies.h"
#include "shared/workload.h"

/* --- multiprio, observed ------------------------------------------------------------------------------------------ */

enum { OBSERVED_TASKS = 8, OBSERVED_CLASSES = 2 };

struct observed {
	void *inner;                                                         /* owns: multiprio's state */
	struct hd_multiprio_scores scores[OBSERVED_TASKS][OBSERVED_CLASSES]; /* by order of submission */
	unsigned place[OBSERVED_TASKS];                                      /* 1 for the first task picked */
	unsigned n_picked;
};

static int observed_create(heddle_sched *sched, void **state)
{
	struct observed *o = tool_alloc(sizeof *o);
	int status = hd_policy_multiprio.create(sched, &o->inner);
	if (status)
		free(o);
	else
		*state = o;
	return status;
}

static void observed_destroy(void *state)
{
	hd_policy_multiprio.destroy(((struct observed *)state)->inner);
	free(state);
}

static void observed_ready(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	struct observed *o = state;
	for (size_t i = 0; i < n; i++) {
		uint64_t order = heddle_task_order(batch[i]);
		hd_policy_multiprio.ready(o->inner, &batch[i], 1, releaser);
		for (unsigned a = 0; a < OBSERVED_CLASSES && order < OBSERVED_TASKS; a++)
			o->scores[order][a] = hd_multiprio_scores(o->inner, a);
	}
}

static heddle_task *observed_pick(void *state, unsigned worker)
{
	struct observed *o = state;
	heddle_task *t = hd_policy_multiprio.pick(o->inner, worker);
	if (t && heddle_task_order(t) < OBSERVED_TASKS)
		o->place[heddle_task_order(t)] = ++o->n_picked;
	return t;
}

static void observed_done(void *state, heddle_task *task, unsigned worker)
{
	hd_policy_multiprio.done(((struct observed *)state)->inner, task, worker);
}

static void observed_report(void *state, heddle_sched *sched)
{
	const struct observed *o = state;
	char name[64];
	for (unsigned t = 0; t < OBSERVED_TASKS; t++) {
		for (unsigned a = 0; a < OBSERVED_CLASSES; a++) {
			snprintf(name, sizeof name, "gain %u %u", t, a);
			heddle_sched_report(sched, name, o->scores[t][a].gain, "");
			snprintf(name, sizeof name, "nod %u %u", t, a);
			heddle_sched_report(sched, name, o->scores[t][a].nod, "");
		}
		snprintf(name, sizeof name, "place %u", t);
		heddle_sched_report(sched, name, o->place[t], "");
	}
}

/* --- Running graphs under the observed policy --------------------------------------------------------------------- */

/* The machine of the examples: one worker of each class. The platform has no times, because the tasks of the graphs
 * have times. */
static const char machine[] = "version: 1\n"
                              "name: two-classes\n"
                              "nodes:\n"
                              "- {name: ram, capacity_mib: 0}\n"
                              "- {name: m2, capacity_mib: 0}\n"
                              "classes:\n"
                              "- {name: a1, kind: cpu}\n"
                              "- {name: a2, kind: cuda}\n"
                              "workers:\n"
                              "- {name: a1, class: a1, node: ram}\n"
                              "- {name: a2, class: a2, node: m2}\n"
                              "links:\n"
                              "- {from: ram, to: m2, bandwidth_mbs: 10000, latency_us: 10}\n"
                              "- {from: m2, to: ram, bandwidth_mbs: 10000, latency_us: 10}\n";

struct scores {
	double gain[OBSERVED_TASKS][OBSERVED_CLASSES], nod[OBSERVED_TASKS][OBSERVED_CLASSES], place[OBSERVED_TASKS];
};

static void take_figure(struct scores *f, const struct figure *figure)
{
	unsigned t, a;
	if (sscanf(figure->name, "gain %u %u", &t, &a) == 2)
		f->gain[t][a] = figure->value;
	else if (sscanf(figure->name, "nod %u %u", &t, &a) == 2)
		f->nod[t][a] = figure->value;
	else if (sscanf(figure->name, "place %u", &t) == 1)
		f->place[t] = figure->value;
}

static int simulate(struct heddle_graph *graph, const struct heddle_platform *platform, struct scores *out)
{
	const struct work work = {.name = "the example", .graph = graph};
	struct heddle_config config;
	struct tool_settings none = {.n = 0};
	struct outcome outcome;
	int status = tool_config_init(&config, &none);
	if (status)
		return status;
	config.sched = "multiprio-observed";
	config.sched_options = NULL;
	status = work_sim(&config, platform, &work, &outcome);
	if (status)
		return status;
	for (size_t i = 0; i < outcome.figures.n; i++)
		take_figure(out, &outcome.figures.list[i]);
	outcome_free(&outcome);
	return TOOL_OK;
}

struct example {
	double *us; /* time of a task on a class: us[task * OBSERVED_CLASSES + class] */
	size_t n_tasks;
	struct heddle_graph_edge *edges;
	size_t n_edges;
};

static int run(const struct example *example, struct scores *out)
{
	static struct heddle_policy observed;
	static char task[] = "task", a1[] = "a1", a2[] = "a2";
	struct heddle_graph_task tasks[OBSERVED_TASKS] = {{0}};
	struct heddle_graph graph = {
	    .name = task,
	    .types = &(struct heddle_graph_type){.name = task},
	    .n_types = 1,
	    .tasks = tasks,
	    .n_tasks = example->n_tasks,
	    .edges = example->edges,
	    .n_edges = example->n_edges,
	    .classes = (char *[]){a1, a2},
	    .n_classes = OBSERVED_CLASSES,
	    .times = example->us,
	};
	struct heddle_platform *platform;
	observed = hd_policy_multiprio;
	observed.name = "multiprio-observed";
	observed.create = observed_create;
	observed.destroy = observed_destroy;
	observed.ready = observed_ready;
	observed.pick = observed_pick;
	observed.done = observed_done;
	observed.report = observed_report;
	if (heddle_policy_register(&observed))
		return tool_library_error("multiprio cannot be observed");
	if (heddle_platform_parse("the example's machine", machine, sizeof machine - 1, &platform))
		return tool_library_error("no machine for the example");
	int status = simulate(&graph, platform, out);
	heddle_platform_free(platform);
	return status;
}

/* --- The examples ------------------------------------------------------------------------------------------------- */

static const char where[] = "the policy multiprio in virtual time, on a machine with a worker of each class";

int repro_mp_gain(struct repro_report *report)
{
	static double us[] = {1000, 20000, 5000, 10000, 20000, 10000};
	static const double paper[OBSERVED_CLASSES][3] = {{1, 0.631, 0.236}, {0, 0.368, 0.763}};
	struct scores figures;
	int status = run(&(struct example){us, 3, NULL, 0}, &figures);
	if (status)
		return status;
	repro_where(report, "%s", where);
	for (unsigned a = 0; a < OBSERVED_CLASSES; a++)
		for (unsigned t = 0; t < 3; t++) {
			char *name = tool_format("gain(t_%c, a%u)", 'A' + (int)t, a + 1);
			repro_row(report, name, "", paper[a][t], figures.gain[t][a], repro_within(paper[a][t], 0.001));
			free(name);
		}
	repro_note(
	    report,
	    "The paper cuts its figures after three digits; hd, the largest difference of times, is 19 ms on both "
	    "classes from the first task on.");
	return repro_bars_of_rows(report, "multiprio: gain of the tasks of table II");
}

int repro_mp_nod(struct repro_report *report)
{
	/* T3 is submitted before T2, so only T2's criticality makes it run first */
	enum { T1, T3, T2, T4, T5, T6, T7, TASKS };
	static double us[TASKS * OBSERVED_CLASSES];
	static struct heddle_graph_edge edges[] = {{T1, T3}, {T1, T2}, {T2, T4}, {T2, T5},
	                                           {T3, T6}, {T2, T6}, {T3, T7}, {T5, T7}};
	struct scores figures;
	for (size_t i = 0; i < TASKS * OBSERVED_CLASSES; i++)
		us[i] = 1000;
	int status = run(&(struct example){us, TASKS, edges, sizeof edges / sizeof *edges}, &figures);
	if (status)
		return status;
	repro_where(report, "%s", where);
	repro_row(report, "NOD(T2)", "", 2.5, figures.nod[T2][0], repro_within(2.5, 1e-9));
	repro_row(report, "NOD(T3)", "", 1, figures.nod[T3][0], repro_within(1, 1e-9));
	repro_row(report, "place of T2 in the order in which T2 and T3 are taken, T3 submitted first", "", 1,
	          figures.place[T2] - figures.place[T1], repro_within(1, 0));
	repro_note(
	    report,
	    "The edges of figure 3 are not in the paper's text. These are: T1 before T2 and T3; T2 before T4, T5 and "
	    "T6; T3 before T6 and T7; T5 before T7: a graph with the values that the text gives. All tasks can run on "
	    "both "
	    "classes. Where some cannot, equation 2 counts only the predecessors of a class, multiprio all of them.");
	return repro_bars_of_rows(report, "multiprio: criticality of the ready tasks of figure 3");
}
