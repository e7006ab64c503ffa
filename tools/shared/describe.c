/* A platform as tables: for `heddle machine` and `heddle platforms NAME`. */
#include "tool.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FACTS, NODES, CLASSES, WORKERS, LINKS, BUSES, KERNELS, LEVELS, SPEEDUPS, N_TABLES };

static const struct table_column fact_columns[] = {
    {"name", NULL, NULL, TABLE_AS_TEXT},
    {"description", NULL, NULL, TABLE_AS_TEXT},
    {"source", NULL, NULL, TABLE_AS_TEXT},
};
static const struct table_column node_columns[] = {
    {"id", NULL, NULL, 0},
    {"name", NULL, NULL, TABLE_AS_TEXT},
    {"capacity_mib", "capacity", "MiB", 0}, /* an unknown value means no limit */
    {"workers", NULL, NULL, 0},
};
static const struct table_column class_columns[] = {
    {"id", NULL, NULL, 0},       {"name", NULL, NULL, TABLE_AS_TEXT}, {"kind", NULL, NULL, TABLE_AS_TEXT},
    {"workers", NULL, NULL, 0},  {"cores", "cores each", NULL, 0},    {"pipeline", NULL, "tasks", 0},
    {"slowdown", NULL, NULL, 2}, {"streams", NULL, NULL, 0},          {"sharing", NULL, NULL, TABLE_AS_TEXT},
};
static const struct table_column worker_columns[] = {
    {"id", NULL, NULL, 0},
    {"name", NULL, NULL, TABLE_AS_TEXT},
    {"class", NULL, NULL, TABLE_AS_TEXT},
    {"node", NULL, NULL, TABLE_AS_TEXT},
    {"core", NULL, NULL, 0}, /* an unknown value means that the worker is bound to no core */
    {"driven", NULL, NULL, TABLE_AS_TEXT},
};
static const struct table_column level_columns[] = {
    {"level", NULL, NULL, TABLE_AS_TEXT},
    {"level_cores", "cores", NULL, TABLE_AS_TEXT},
};
static const struct table_column speedup_columns[] = {
    {"class", NULL, NULL, TABLE_AS_TEXT},
    {"codelet", NULL, NULL, TABLE_AS_TEXT}, /* an unknown value means: all codelets without factors */
    {"cores", "on cores", NULL, 0},
    {"factors", NULL, NULL, TABLE_AS_TEXT},
    {"latency_us", "latency", "us", 1},
    {"bandwidth_mbs", "bandwidth", "MB/s", 0},
};
static const struct table_column link_columns[] = {
    {"from", NULL, NULL, TABLE_AS_TEXT},       {"to", NULL, NULL, TABLE_AS_TEXT},
    {"bandwidth_mbs", "bandwidth", "MB/s", 0}, {"latency_us", "latency", "us", 2},
    {"buses", NULL, NULL, TABLE_AS_TEXT},
};
static const struct table_column bus_columns[] = {
    {"id", NULL, NULL, 0},
    {"name", NULL, NULL, TABLE_AS_TEXT},
    {"bandwidth_mbs", "bandwidth", "MB/s", 0},
};
static const struct table_column kernel_columns[] = {
    {"codelet", NULL, NULL, TABLE_AS_TEXT},        {"class", NULL, NULL, TABLE_AS_TEXT},
    {"points", "measured sizes", NULL, 0},         {"smallest_kib", "smallest", "KiB", 0},
    {"largest_kib", "largest", "KiB", 0},          {"asymptotic_gflops", "asymptotic rate", "Gflop/s", 1},
    {"half_at_mflop", "half rate at", "Mflop", 1}, {"latency_us", "latency", "us", 1},
    {"bandwidth_mbs", "bandwidth", "MB/s", 0},
};

static void add_nodes(struct table *table, const struct heddle_platform *p)
{
	for (size_t i = 0; i < p->n_nodes; i++) {
		size_t n = 0;
		for (size_t w = 0; w < p->n_workers; w++)
			n += p->workers[w].node == i;
		table_number(table, (double)i);
		table_text(table, "%s", p->nodes[i].name);
		table_number(table, p->nodes[i].capacity ? (double)p->nodes[i].capacity / 0x1p20 : NAN);
		table_number(table, (double)n);
	}
}

/* Adds the rate of each of 1, 2, ... simultaneous kernels, as "1 0.6 0.45". */
static void add_sharing(struct table *table, const struct heddle_class *c)
{
	char *rates = tool_format("%s", "");
	for (unsigned n = 1; n == 1 || n <= c->streams; n++) {
		char *longer = tool_format("%s%s%.4g", rates, n > 1 ? " " : "", heddle_class_rate(c, n));
		free(rates);
		rates = longer;
	}
	table_text(table, "%s", rates);
	free(rates);
}

static void add_classes(struct table *table, const struct heddle_platform *p)
{
	for (size_t i = 0; i < p->n_classes; i++) {
		size_t n = 0;
		for (size_t w = 0; w < p->n_workers; w++)
			n += p->workers[w].class_id == i;
		table_number(table, (double)i);
		table_text(table, "%s", p->classes[i].name);
		table_text(table, "%s", p->classes[i].kind);
		table_number(table, (double)n);
		table_number(table, p->classes[i].cores);
		table_number(table, p->classes[i].pipeline);
		table_number(table, p->classes[i].slowdown);
		table_number(table, p->classes[i].streams ? p->classes[i].streams : 1);
		add_sharing(table, &p->classes[i]);
	}
}

static void add_workers(struct table *table, const struct heddle_platform *p)
{
	for (size_t i = 0; i < p->n_workers; i++) {
		const struct heddle_worker *w = &p->workers[i];
		table_number(table, (double)i);
		table_text(table, "%s", w->name);
		table_text(table, "%s", p->classes[w->class_id].name);
		table_text(table, "%s", p->nodes[w->node].name);
		table_number(table, w->core < 0 ? NAN : (double)w->core);
		table_text(table, "%s", w->retired ? "no" : "yes");
	}
}

static void add_links(struct table *links, struct table *buses, const struct heddle_platform *p)
{
	for (size_t i = 0; i < p->n_links; i++) {
		const struct heddle_link *l = &p->links[i];
		table_text(links, "%s", p->nodes[l->from].name);
		table_text(links, "%s", p->nodes[l->to].name);
		table_number(links, l->bandwidth > 0 ? l->bandwidth : NAN);
		table_number(links, l->latency);
		char *names = tool_format("%s", "");
		for (size_t b = 0; b < l->n_buses; b++) {
			char *longer = tool_format("%s%s%s", names, b ? " " : "", p->buses[l->buses[b]].name);
			free(names);
			names = longer;
		}
		table_text(links, "%s", names);
		free(names);
	}
	for (size_t i = 0; i < p->n_buses; i++) {
		table_number(buses, (double)i);
		table_text(buses, "%s", p->buses[i].name);
		table_number(buses, p->buses[i].bandwidth);
	}
}

static void add_kernels(struct table *table, const struct heddle_platform *p)
{
	for (size_t i = 0; i < p->n_kernels; i++) {
		const struct heddle_kernel_time *k = &p->kernels[i];
		int by_rate = k->n_table == 0;
		table_text(table, "%s", k->codelet);
		table_text(table, "%s", p->classes[k->class_id].name);
		table_number(table, (double)k->n_table);
		table_number(table, by_rate ? NAN : k->table[0].bytes / 1024);
		table_number(table, by_rate ? NAN : k->table[k->n_table - 1].bytes / 1024);
		table_number(table, k->gflops > 0 ? k->gflops : NAN);
		table_number(table, k->gflops > 0 ? k->half * 1e-6 : NAN);
		table_number(table, by_rate ? k->latency : NAN);
		table_number(table, k->bandwidth > 0 ? k->bandwidth : NAN);
	}
}

static void add_levels(struct table *table, const struct heddle_platform *p)
{
	for (size_t i = 0; i < p->n_levels; i++) {
		char *cores = tool_format("%s", "");
		for (size_t g = 0; g < p->levels[i].n_groups; g++) {
			const struct heddle_core_range *range = &p->levels[i].groups[g];
			char *longer = tool_format("%s%s%u-%u", cores, g ? " " : "", range->first, range->last);
			free(cores);
			cores = longer;
		}
		table_text(table, "%s", p->levels[i].name);
		table_text(table, "%s", cores);
		free(cores);
	}
}

static void add_speedups(struct table *table, const struct heddle_platform *p)
{
	for (size_t i = 0; i < p->n_speedups; i++) {
		const struct heddle_speedup *s = &p->speedups[i];
		char *factors = tool_format("%s", "");
		for (size_t k = 0; k < s->n_table; k++) {
			char *longer = tool_format("%s%s%.4g", factors, k ? " " : "", s->table[k].factor);
			free(factors);
			factors = longer;
		}
		table_text(table, "%s", p->classes[s->class_id].name);
		table_optional(table, s->codelet);
		table_number(table, s->codelet ? (double)s->cores : NAN);
		table_optional(table, s->n_table ? factors : NULL);
		table_number(table, s->codelet ? NAN : s->latency);
		table_number(table, s->codelet ? NAN : s->bandwidth);
		free(factors);
	}
}

void tool_describe(const struct heddle_platform *p, struct table *more, enum table_format format)
{
	struct table tables[N_TABLES], *all[N_TABLES + 1];
#define INIT(which, key, title, columns) \
	table_init(&tables[which], key, title, columns, sizeof(columns) / sizeof *(columns))
	INIT(FACTS, "platform", NULL, fact_columns);
	INIT(NODES, "nodes", "Memory nodes", node_columns);
	INIT(CLASSES, "classes", "Classes of workers", class_columns);
	INIT(WORKERS, "workers", "Workers", worker_columns);
	INIT(LINKS, "links", "Links", link_columns);
	INIT(BUSES, "buses", "Buses that links share", bus_columns);
	INIT(KERNELS, "kernels", "Kernel times", kernel_columns);
	INIT(LEVELS, "levels", "Levels above the cores", level_columns);
	INIT(SPEEDUPS, "speedups", "Kernels on several cores", speedup_columns);
#undef INIT
	tables[FACTS].single = 1;
	table_text(&tables[FACTS], "%s", p->name ? p->name : "");
	table_text(&tables[FACTS], "%s", p->description ? p->description : "");
	table_text(&tables[FACTS], "%s", p->source ? p->source : "");
	add_nodes(&tables[NODES], p);
	add_classes(&tables[CLASSES], p);
	add_workers(&tables[WORKERS], p);
	add_links(&tables[LINKS], &tables[BUSES], p);
	add_kernels(&tables[KERNELS], p);
	add_levels(&tables[LEVELS], p);
	add_speedups(&tables[SPEEDUPS], p);
	for (size_t i = 0; i < N_TABLES; i++)
		all[i] = &tables[i];
	all[N_TABLES] = more;
	table_print(stdout, format, all, more ? N_TABLES + 1 : N_TABLES);
	for (size_t i = 0; i < N_TABLES; i++)
		table_free(&tables[i]);
}
