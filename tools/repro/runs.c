/* Simulations of dense routines and of other applications for experiments, and the machines that they run on: see
 * repro.h. */
#include "repro.h"
#include "shared/simulations.h"
#include <stdlib.h>
#include <string.h>

/* --- Runs --------------------------------------------------------------------------------------------------------- */

static struct simulation simulation_of(struct repro_run *run, const struct heddle_config *config)
{
	struct simulation s = {
	    .config = *config,
	    .platform = run->platform,
	    .work = {.name = heddle_dense_routine_find(run->problem.routine)->name,
	             .problem = run->problem,
	             .repeat = 1,
	             .quiet = 1,
	             .keep_trace = run->keep_trace},
	    .outcome = &run->outcome,
	};
	s.config.sched = run->sched;
	s.config.sched_options = run->sched_options;
	if (run->expand)
		s.config.expand = run->expand;
	s.config.seed = run->seed;
	s.config.virtual_time.noise = run->noise;
	return s;
}

static int check(const struct repro_run *run)
{
	const struct work work = {.name = run->problem.routine, .problem = run->problem};
	if (!heddle_dense_routine_find(run->problem.routine))
		return tool_failure("there is no routine %s yet", run->problem.routine);
	return work_check_platform(run->platform, &work);
}

/* Makes the simulation of run i of `runs`. TOOL_OK, or a message and a status. */
typedef int make_simulation(const struct heddle_config *config, void *runs, size_t i, struct simulation *out);

static int simulate_all(void *runs, size_t n, make_simulation *make)
{
	const struct tool_settings none = {.n = 0};
	struct simulation *list = tool_alloc((n + 1) * sizeof *list);
	struct heddle_config config;
	int status = tool_config_init(&config, &none);
	for (size_t i = 0; i < n && !status; i++)
		status = make(&config, runs, i, &list[i]);
	if (!status)
		status = simulations_run(list, n);
	free(list);
	return status;
}

static int make_of_problem(const struct heddle_config *config, void *runs, size_t i, struct simulation *out)
{
	struct repro_run *run = (struct repro_run *)runs + i;
	int status = check(run);
	if (!status)
		*out = simulation_of(run, config);
	return status;
}

int repro_simulate(struct repro_run *runs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		outcome_init(&runs[i].outcome, runs[i].sched);
	return simulate_all(runs, n, make_of_problem);
}

void repro_runs_free(struct repro_run *runs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		outcome_free(&runs[i].outcome);
}

static int make_of_word(const struct heddle_config *config, void *runs, size_t i, struct simulation *out)
{
	struct repro_word_run *run = (struct repro_word_run *)runs + i;
	*out = (struct simulation){.config = *config, .platform = run->platform, .outcome = &run->outcome};
	out->config.sched = run->sched;
	out->config.sched_options = run->sched_options;
	out->config.seed = run->seed;
	out->config.virtual_time.noise = run->noise;
	work_init(&out->work);
	out->work.quiet = 1;
	out->work.keep_trace = run->keep_trace;
	return work_open(&out->work, run->word);
}

int repro_simulate_words(struct repro_word_run *runs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		outcome_init(&runs[i].outcome, runs[i].sched);
	return simulate_all(runs, n, make_of_word);
}

void repro_word_runs_free(struct repro_word_run *runs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(runs[i].word);
		free(runs[i].sched_options);
		outcome_free(&runs[i].outcome);
	}
}

/* --- Machines ----------------------------------------------------------------------------------------------------- */

static int is_cpu(const struct heddle_platform *p, const struct heddle_worker *worker)
{
	return strcmp(p->classes[worker->class_id].kind, "cpu") == 0;
}

/* Moves the nodes that are kept to the front; map[i] is the new number of node i, or -1. */
static void keep_nodes(struct heddle_platform *p, const int *kept, int *map)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n_nodes; i++) {
		map[i] = kept[i] ? (int)n : -1;
		if (kept[i])
			p->nodes[n++] = p->nodes[i];
		else
			free(p->nodes[i].name);
	}
	p->n_nodes = n;
}

/* Removes the links of removed nodes, and renumbers the ends of the other links. Buses stay, because a bus without
 * links has no effect. */
static void keep_links(struct heddle_platform *p, const int *map)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n_links; i++) {
		struct heddle_link link = p->links[i];
		if (map[link.from] < 0 || map[link.to] < 0) {
			free(link.buses);
			continue;
		}
		link.from = (unsigned)map[link.from];
		link.to = (unsigned)map[link.to];
		p->links[n++] = link;
	}
	p->n_links = n;
}

/* Workers whose node was removed become CPU workers like `cpu`; the first n_cpus CPU workers are kept. */
static void keep_workers(struct heddle_platform *p, const int *map, struct heddle_worker cpu, size_t n_cpus)
{
	size_t n = 0, cpus = 0;
	for (size_t i = 0; i < p->n_workers; i++) {
		struct heddle_worker worker = p->workers[i];
		int is_left = map[worker.node] < 0;
		worker.class_id = is_left ? cpu.class_id : worker.class_id;
		worker.node = is_left ? cpu.node : (unsigned)map[worker.node];
		if (is_cpu(p, &worker) && cpus++ >= n_cpus)
			free(worker.name);
		else
			p->workers[n++] = worker;
	}
	p->n_workers = n;
}

static void cut(struct heddle_platform *p, size_t n_accelerators, size_t n_cpus)
{
	int *kept = tool_alloc(p->n_nodes * sizeof *kept), *map = tool_alloc(p->n_nodes * sizeof *map);
	struct heddle_worker cpu = p->workers[0];
	size_t all = 0, seen = 0, chosen = 0;
	kept[0] = 1;
	for (size_t i = 0; i < p->n_workers; i++)
		all += !is_cpu(p, &p->workers[i]);
	for (size_t i = 0; i < p->n_workers; i++) {
		const struct heddle_worker *worker = &p->workers[i];
		int keep = is_cpu(p, worker);
		if (keep)
			cpu = *worker;
		else if (chosen < n_accelerators && seen++ == chosen * all / n_accelerators)
			keep = (int)++chosen;
		kept[worker->node] |= keep;
	}
	keep_nodes(p, kept, map);
	keep_links(p, map);
	keep_workers(p, map, cpu, n_cpus ? n_cpus : p->n_workers);
	free(kept);
	free(map);
}

int repro_machine_with_streams(const char *name, unsigned streams, struct heddle_platform **out)
{
	int status = tool_load_platform(name, out);
	for (size_t i = 0; !status && i < (*out)->n_classes; i++) {
		struct heddle_class *c = &(*out)->classes[i];
		if (strcmp(c->kind, "cpu") == 0)
			continue;
		free(c->sharing);
		c->sharing = NULL;
		c->streams = streams;
		if (c->pipeline <= streams)
			c->pipeline = streams + 1;
	}
	if (!status && heddle_platform_check(*out))
		status = tool_library_error("the platform cannot have so many streams");
	return status;
}

int repro_machine(const char *name, size_t n_accelerators, size_t n_cpus, struct heddle_platform **out)
{
	int status = tool_load_platform(name, out);
	if (!status)
		cut(*out, n_accelerators, n_cpus);
	return status;
}
