/* Generated graphs: of typed tasks whose perfect schedule is known, and in layers. How far from perfect is a policy,
 * and how much do transfers cost?
 *
 *   cc 22_random_graphs.c $(pkg-config --cflags --libs heddle-daggen) */
#include <heddle.h>
#include <heddle/daggen/random.h>
#include <heddle/daggen/typed.h>
#include <stdio.h>

static const char machine[] = "version: 1\n"
                              "name: example\n"
                              "nodes:\n- {name: ram}\n- {name: gpu}\n"
                              "classes:\n- {name: cpu, kind: cpu}\n- {name: gpu, kind: cuda, pipeline: 2}\n"
                              "workers:\n- {name: cpu, class: cpu, node: ram, count: 4}\n"
                              "- {name: gpu, class: gpu, node: gpu}\n"
                              "links:\n- {from: ram, to: gpu, bandwidth_mbs: 10000}\n"
                              "- {from: gpu, to: ram, bandwidth_mbs: 10000}\n";

/* The makespan of a graph under a policy, in us; below 0: an error. */
static double makespan_of(const struct heddle_graph *graph, const char *policy)
{
	struct heddle_config config;
	struct heddle_platform *platform;
	struct heddle_stats stats;
	heddle_runtime *rt;
	if (heddle_config_init(&config) || heddle_platform_parse("example", machine, sizeof machine - 1, &platform))
		return -1;
	config.sched = policy;
	int status = heddle_start_on(&config, platform, 1, &rt);
	heddle_platform_free(platform);
	if (status)
		return -1;
	status = heddle_graph_submit(graph, rt) || heddle_runtime_stats(rt, &stats);
	return heddle_stop(rt) || status ? -1 : stats.makespan;
}

/* Two types: A is three times as fast on the GPU, B a little faster on a core; each B needs two A on average. */
static int typed(void)
{
	const struct heddle_daggen_type types[] = {{{300, 100}, 2, 0}, {{200, 220}, 1, 0}};
	const struct heddle_daggen_typed_params params = {.seed = 7,
	                                                  .n_tasks = 400,
	                                                  .types = types,
	                                                  .n_types = 2,
	                                                  .workers = {4, 1},
	                                                  .predecessors = (const double[]){0.5, 0, 2, 0}};
	struct heddle_daggen_typed_graph graph;
	if (heddle_daggen_typed(&params, &graph))
		return -1;
	double eager = makespan_of(graph.graph, "eager"), dmdas = makespan_of(graph.graph, "dmdas");
	printf("typed tasks: perfect %.1f ms, eager %.1f, dmdas %.1f\n", graph.makespan / 1e3, eager / 1e3,
	       dmdas / 1e3);
	int wrong = heddle_daggen_typed_check(&params, &graph) || eager < graph.makespan / 2 || dmdas < 0;
	heddle_daggen_typed_free(&graph);
	return wrong;
}

static int layers(const char *settings)
{
	struct heddle_daggen_layers parameters;
	struct heddle_graph *graph;
	heddle_daggen_random_init(&parameters);
	if (heddle_daggen_random_set(&parameters, settings) || heddle_daggen_random(&parameters, &graph))
		return -1;
	double dm = makespan_of(graph, "dm"), dmda = makespan_of(graph, "dmda");
	printf("%s: dm %.0f ms, dmda %.0f\n", settings, dm / 1e3, dmda / 1e3);
	heddle_graph_free(graph);
	return dm <= 0 || dmda <= 0;
}

int main(void)
{
	if (typed() || layers("n=300,seed=1,ccr=0.1") || layers("n=300,seed=1,ccr=2"))
		return fprintf(stderr, "%s\n", heddle_last_error()), 1;
	return 0;
}
