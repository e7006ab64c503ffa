/* Writes the text of the setting `explain`: what the workers, codelets, links and memories of a runtime did. */
#include <heddle/policy.h>
#include <heddle/trace.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "machine/machine.h"
#include "misuse/internal.h"
#include "record/events.h"
#include "start/reports.h"
#include "state/memory.h"
#include "state/runtime.h"
#include "trace/trace.h"

/* The width of a column that is `width` wide and must also hold `name`. */
static int wider(int width, const char *name)
{
	return strlen(name) > (size_t)width ? (int)strlen(name) : width;
}

static int width_of_classes(const struct heddle_platform *p)
{
	int width = 6;
	for (size_t i = 0; i < p->n_classes; i++)
		width = wider(width, p->classes[i].name);
	return width;
}

static void say_workers(FILE *out, const struct heddle_trace *trace, const struct hd_duty *duties)
{
	const struct heddle_platform *p = trace->platform;
	int width = 6, classes = width_of_classes(p);
	for (size_t i = 0; i < p->n_workers; i++)
		width = wider(width, p->workers[i].name);
	hd_print(out, "%-*s  %-*s  %9s  %12s  %12s  %8s\n", width, "worker", classes, "class", "tasks", "driven (ms)",
	         "busy (ms)", "idle (%)");
	for (size_t i = 0; i < p->n_workers; i++) {
		hd_print(out, "%-*s  %-*s  %9zu  %12.3f  %12.3f", width, p->workers[i].name, classes,
		         p->classes[p->workers[i].class_id].name, duties[i].n, duties[i].there * 1e-3,
		         duties[i].busy * 1e-3);
		if (duties[i].there > 0)
			hd_print(out, "  %8.1f\n", 100 * hd_duty_idle(&duties[i]));
		else
			hd_print(out, "  %8s\n", "-");
	}
}

static void say_codelets(FILE *out, const struct heddle_trace *trace, const struct hd_sum *sums)
{
	const struct heddle_platform *p = trace->platform;
	int width = 7, classes = width_of_classes(p);
	for (size_t i = 0; i < trace->n_codelets; i++)
		width = wider(width, trace->codelets[i].name);
	hd_print(out, "\n%-*s  %-*s  %9s  %12s  %12s\n", width, "codelet", classes, "class", "tasks", "mean (us)",
	         "time (ms)");
	for (size_t i = 0; i < trace->n_codelets * p->n_classes; i++)
		if (sums[i].n > 0)
			hd_print(out, "%-*s  %-*s  %9.0f  %12.2f  %12.3f\n", width,
			         trace->codelets[i / p->n_classes].name, classes, p->classes[i % p->n_classes].name,
			         sums[i].n, sums[i].time / sums[i].n, sums[i].time * 1e-3);
}

static int width_of_nodes(const struct heddle_platform *p)
{
	int width = 6;
	for (size_t i = 0; i < p->n_nodes; i++)
		width = wider(width, p->nodes[i].name);
	return width;
}

static void say_links(FILE *out, const struct heddle_trace *trace, const struct hd_sum *sums)
{
	const struct heddle_platform *p = trace->platform;
	int width = width_of_nodes(p);
	if (!trace->n_transfers)
		return;
	hd_print(out, "\n%-*s  %-*s  %9s  %12s  %12s  %14s\n", width, "from", width, "to", "transfers", "moved (MiB)",
	         "busy (ms)", "prefetched (%)");
	for (size_t i = 0; i < p->n_nodes * p->n_nodes; i++)
		if (sums[i].n > 0)
			hd_print(out, "%-*s  %-*s  %9.0f  %12.3f  %12.3f  %14.1f\n", width,
			         p->nodes[i / p->n_nodes].name, width, p->nodes[i % p->n_nodes].name, sums[i].n,
			         sums[i].work / 0x1p20, sums[i].time * 1e-3, 100 * sums[i].prefetched / sums[i].n);
}

static int say_memories(FILE *out, heddle_runtime *rt, const struct heddle_trace *trace)
{
	const struct heddle_platform *p = trace->platform;
	struct heddle_trace_memory *memories = calloc(p->n_nodes, sizeof *memories);
	int width = width_of_nodes(p);
	int status = memories ? 0 : hd_no_memory("what happened in memories");
	if (!status && trace->n_transfers)
		status = heddle_trace_memories(rt, trace, memories);
	if (!status && trace->n_transfers)
		hd_print(out, "\n%-*s  %9s  %9s  %9s  %12s  %14s  %12s\n", width, "memory", "hits", "misses",
		         "evictions", "in (MiB)", "least in (MiB)", "out (MiB)");
	for (unsigned i = 0; i < p->n_nodes && !status && trace->n_transfers; i++) {
		const struct heddle_trace_memory *m = &memories[i];
		struct heddle_memory_stats stats = {.evictions = 0};
		status = heddle_runtime_memory_stats(rt, i, &stats);
		hd_print(out, "%-*s  %9llu  %9llu  %9llu  %12.3f  %14.3f  %12.3f\n", width, p->nodes[i].name,
		         (unsigned long long)m->hits, (unsigned long long)m->misses,
		         (unsigned long long)stats.evictions, (double)m->in / 0x1p20, (double)m->least / 0x1p20,
		         (double)m->out / 0x1p20);
	}
	free(memories);
	return status;
}

static void say_figure(void *arg, const char *name, double value, const char *unit)
{
	hd_print(arg, "%s: %g %s\n", name, value, unit ? unit : "");
}

/* Warns of what slows kernels down outside the runtime: few cores, or libraries that start threads of their own. */
static void say_surroundings(FILE *out, const heddle_runtime *rt)
{
	size_t cores;
	const char *by = rt->topology ? hd_topology_bound_by(rt->topology, &cores) : NULL;
	const struct hd_eager *eager = &rt->recorder->eager;
	if (by)
		fprintf(out, "\nthis process is bound to %zu of %zu cores, by %s\n", hd_topology_cores(rt->topology),
		        cores, by);
	if (eager->threads)
		fprintf(out,
		        "\n%s is loaded and uses %u threads where a kernel calls it, which is more than a worker has "
		        "cores; "
		        "if kernels call it, set %s=1, or let their codelets be HEDDLE_FORK_JOIN\n",
		        eager->name, eager->threads, eager->variable);
}

int hd_explain(heddle_runtime *rt, const struct heddle_trace *trace, FILE *out)
{
	struct heddle_stats stats;
	struct hd_sum *codelets = hd_trace_codelet_sums(trace), *links = hd_trace_link_sums(trace);
	struct hd_duty *duties = hd_trace_duties(trace);
	int status = codelets && links && duties ? heddle_runtime_stats(rt, &stats) : HEDDLE_E_MEMORY;
	if (!status) {
		hd_print(out, "heddle: %zu tasks on %s under %s in %.3f ms%s; %llu failed, %llu cancelled\n\n",
		         trace->n_tasks, hd_trace_machine(trace), trace->policy, heddle_trace_makespan(trace) * 1e-3,
		         trace->virtual_time ? " of virtual time" : "", (unsigned long long)stats.tasks_failed,
		         (unsigned long long)stats.tasks_cancelled);
		say_workers(out, trace, duties);
		say_codelets(out, trace, codelets);
		say_links(out, trace, links);
		status = say_memories(out, rt, trace);
	}
	if (!status) {
		hd_print(out, "\nbatches of ready tasks: %llu\npicks: %llu, in vain: %llu\n",
		         (unsigned long long)stats.sched_batches, (unsigned long long)stats.sched_picks,
		         (unsigned long long)stats.sched_picks_empty);
		status = heddle_policy_report(rt, say_figure, out);
		say_surroundings(out, rt);
	}
	free(duties);
	free(codelets);
	free(links);
	return status;
}
