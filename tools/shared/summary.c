/* Tables of workers, codelets and links from a trace, and of the figures that policies report. */
#include "experiment.h"
#include "trace/trace.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { WORKERS, CODELETS, LINKS, MEMORIES, FIGURES };

static const struct table_column worker_columns[] = {
    {"policy", NULL, NULL, TABLE_AS_TEXT}, {"worker", NULL, NULL, TABLE_AS_TEXT},
    {"class", NULL, NULL, TABLE_AS_TEXT},  {"tasks", NULL, NULL, 0},
    {"driven_ms", "driven", "ms", 2},      {"busy_ms", "busy", "ms", 2},
    {"idle_percent", "idle", "%", 1},
};
static const struct table_column codelet_columns[] = {
    {"policy", NULL, NULL, TABLE_AS_TEXT}, {"codelet", NULL, NULL, TABLE_AS_TEXT},
    {"class", NULL, NULL, TABLE_AS_TEXT},  {"tasks", NULL, NULL, 0},
    {"mean_us", "mean", "us", 1},          {"rate_gflops", "rate", "Gflop/s", 2},
    {"busy_ms", "time", "ms", 2},
};
static const struct table_column link_columns[] = {
    {"policy", NULL, NULL, TABLE_AS_TEXT},
    {"from", NULL, NULL, TABLE_AS_TEXT},
    {"to", NULL, NULL, TABLE_AS_TEXT},
    {"transfers", NULL, NULL, 0},
    {"moved_mib", "moved", "MiB", 1},
    {"busy_ms", "busy", "ms", 2},
    {"prefetched_percent", "prefetched", "%", 1},
};

static const struct table_column memory_columns[] = {
    {"policy", NULL, NULL, TABLE_AS_TEXT},
    {"memory", NULL, NULL, TABLE_AS_TEXT},
    {"capacity_mib", "capacity", "MiB", 1},
    {"hits", NULL, NULL, 0},
    {"misses", NULL, NULL, 0},
    {"evictions", NULL, NULL, 0},
    {"in_mib", "in", "MiB", 1},
    {"least_in_mib", "least in", "MiB", 1},
    {"demand_mib", "on demand", "MiB", 1},
    {"prefetch_mib", "prefetched", "MiB", 1},
    {"out_mib", "out", "MiB", 1},
    {"copying_ms", "copying", "ms", 2},
    {"overlap_percent", "beside kernels", "%", 1},
};

static const struct table_column figure_columns[] = {
    {"policy", NULL, NULL, TABLE_AS_TEXT},
    {"figure", NULL, NULL, TABLE_AS_TEXT},
    {"value", NULL, NULL, TABLE_ANY},
    {"unit", NULL, NULL, TABLE_AS_TEXT},
    {"span", "counted over", NULL, TABLE_AS_TEXT},
};

void summary_init(struct table tables[SUMMARY_TABLES])
{
	table_init(&tables[WORKERS], "workers", "Workers", worker_columns,
	           sizeof worker_columns / sizeof *worker_columns);
	table_init(&tables[CODELETS], "codelets", "Codelets", codelet_columns,
	           sizeof codelet_columns / sizeof *codelet_columns);
	table_init(&tables[LINKS], "links", "Links", link_columns, sizeof link_columns / sizeof *link_columns);
	table_init(&tables[MEMORIES], "memories", "Memories", memory_columns,
	           sizeof memory_columns / sizeof *memory_columns);
	table_init(&tables[FIGURES], "figures", "Policy", figure_columns,
	           sizeof figure_columns / sizeof *figure_columns);
}

static void add_workers(struct table *table, const struct heddle_trace *trace)
{
	const struct heddle_platform *p = trace->platform;
	struct hd_duty *duties = tool_needed(hd_trace_duties(trace));
	for (size_t w = 0; w < p->n_workers; w++) {
		table_text(table, "%s", trace->policy);
		table_text(table, "%s", p->workers[w].name);
		table_text(table, "%s", p->classes[p->workers[w].class_id].name);
		table_number(table, (double)duties[w].n);
		table_number(table, duties[w].there * 1e-3);
		table_number(table, duties[w].busy * 1e-3);
		table_number(table, 100 * hd_duty_idle(&duties[w]));
	}
	free(duties);
}

static void add_codelets(struct table *table, const struct heddle_trace *trace)
{
	const struct heddle_platform *p = trace->platform;
	struct hd_sum *sums = tool_needed(hd_trace_codelet_sums(trace));
	for (size_t i = 0; i < trace->n_codelets * p->n_classes; i++) {
		if (sums[i].n == 0)
			continue;
		table_text(table, "%s", trace->policy);
		table_text(table, "%s", trace->codelets[i / p->n_classes].name);
		table_text(table, "%s", p->classes[i % p->n_classes].name);
		table_number(table, sums[i].n);
		table_number(table, sums[i].time / sums[i].n);
		table_number(table, sums[i].work > 0 && sums[i].time > 0 ? sums[i].work / sums[i].time * 1e-3 : NAN);
		table_number(table, sums[i].time * 1e-3);
	}
	free(sums);
}

static void add_links(struct table *table, const struct heddle_trace *trace)
{
	const struct heddle_platform *p = trace->platform;
	struct hd_sum *sums = tool_needed(hd_trace_link_sums(trace));
	for (size_t i = 0; i < p->n_nodes * p->n_nodes; i++) {
		if (sums[i].n == 0)
			continue;
		table_text(table, "%s", trace->policy);
		table_text(table, "%s", p->nodes[i / p->n_nodes].name);
		table_text(table, "%s", p->nodes[i % p->n_nodes].name);
		table_number(table, sums[i].n);
		table_number(table, sums[i].work / 0x1p20);
		table_number(table, sums[i].time * 1e-3);
		table_number(table, 100 * sums[i].prefetched / sums[i].n);
	}
	free(sums);
}

void summary_add(struct table tables[SUMMARY_TABLES], const struct heddle_trace *trace)
{
	add_workers(&tables[WORKERS], trace);
	add_codelets(&tables[CODELETS], trace);
	add_links(&tables[LINKS], trace);
}

static void add_memory(struct table *table, const struct outcome *r, size_t i)
{
	const struct heddle_node *node = &r->trace->platform->nodes[i];
	const struct heddle_trace_memory *m = &r->memories[i].traced;
	table_text(table, "%s", r->policy);
	table_text(table, "%s", node->name);
	table_number(table, i && node->capacity ? (double)node->capacity / 0x1p20 : NAN);
	table_number(table, (double)m->hits);
	table_number(table, (double)m->misses);
	table_number(table, r->memories[i].evictions);
	table_number(table, (double)m->in / 0x1p20);
	table_number(table, (double)m->least / 0x1p20);
	table_number(table, (double)m->demanded / 0x1p20);
	table_number(table, (double)m->prefetched / 0x1p20);
	table_number(table, (double)m->out / 0x1p20);
	table_number(table, m->copying * 1e-3);
	table_number(table, m->copying > 0 ? 100 * m->overlapped / m->copying : NAN);
}

static void add_figure(struct table *table, const char *policy, const char *name, double value, const char *unit,
                       int is_count)
{
	table_text(table, "%s", policy);
	table_text(table, "%s", name);
	table_number(table, value);
	table_text(table, "%s", unit);
	table_text(table, "%s", is_count ? "this run" : "since the start");
}

/* Adds the calls and the time of the policy, which are measured from outside. */
static void add_costs(struct table *table, const struct outcome *r)
{
	add_figure(table, r->policy, "batches of ready tasks", r->batches, "", 1);
	add_figure(table, r->policy, "picks", r->picks, "", 1);
	add_figure(table, r->policy, "picks in vain", r->empty_picks, "", 1);
	if (r->sched_time > 0)
		add_figure(table, r->policy, "time in the policy per task", r->sched_time / r->tasks, "us", 1);
}

/* Adds a figure that the policy reports. A count is for the last run; other figures, such as means, are since the start
 * of the runtime. */
static void add_reported(struct table *table, const char *policy, const struct figure *figure)
{
	add_figure(table, policy, figure->name, figure->value, figure->unit, figure->is_count);
}

void summary_add_outcome(struct table tables[SUMMARY_TABLES], const struct outcome *outcome)
{
	if (outcome->trace)
		summary_add(tables, outcome->trace);
	for (size_t i = 0; outcome->memories && i < outcome->trace->platform->n_nodes; i++)
		add_memory(&tables[MEMORIES], outcome, i);
	add_costs(&tables[FIGURES], outcome);
	for (size_t i = 0; i < outcome->figures.n; i++)
		add_reported(&tables[FIGURES], outcome->policy, &outcome->figures.list[i]);
}

int summary_is_picture(const char *path)
{
	const char *extension = tool_extension(path);
	return strcasecmp(extension, ".png") == 0 || strcasecmp(extension, ".svg") == 0 ||
	       strcasecmp(extension, ".pdf") == 0;
}

int summary_is_graph(const char *path)
{
	const char *extension = tool_extension(path);
	return summary_is_picture(path) || strcasecmp(extension, ".dot") == 0 || strcasecmp(extension, ".gv") == 0;
}

int summary_draw(const struct heddle_trace *trace, const char *path, double best)
{
	struct heddle_gantt_options options = {
	    .transfers = trace->n_transfers > 0,
	    .critical_path = 1,
	    .lower_bound = isnan(best) ? 0 : best,
	};
	if (heddle_trace_gantt(trace, path, &options))
		return tool_library_error("the chart was not drawn");
	return TOOL_OK;
}
