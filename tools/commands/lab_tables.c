/* Makes tables, files and a picture of the results of `heddle lab`. */
#include "lab.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "plot/draw.h"

enum { ROWS = HD_HEURISTICS + 1 }; /* the last row is the best heuristic of each graph */

const char *lab_heuristic_name(int h, char buffer[32])
{
	const char *at = HD_HEURISTIC_NAMES;
	for (int i = 0; i < h && h < HD_HEURISTICS; i++)
		at = strchr(at, '|') + 1;
	snprintf(buffer, 32, "%.*s", h < HD_HEURISTICS ? (int)strcspn(at, "|") : 4, h < HD_HEURISTICS ? at : "best");
	return buffer;
}

/* --- Over the data sets ------------------------------------------------------------------------------------------- */

struct spread {
	double mean, deviation, least, most;
};

static struct spread spread_of(const struct hd_lab_results *r, int h)
{
	struct spread s = {.least = INFINITY, .most = -INFINITY};
	double squares = 0, n = (double)r->n_seeds;
	for (size_t i = 0; i < r->n_seeds; i++) {
		double value = hd_lab_mean_slowdown(r, i, h);
		s.mean += value / n;
		s.least = fmin(s.least, value);
		s.most = fmax(s.most, value);
	}
	for (size_t i = 0; i < r->n_seeds; i++)
		squares += pow(hd_lab_mean_slowdown(r, i, h) - s.mean, 2);
	s.deviation = r->n_seeds > 1 ? sqrt(squares / (n - 1)) : NAN;
	return s;
}

/* The rank of heuristic h, 1 for the least of the 28 values. NAN for the last row, which is no heuristic. */
static double rank_of(const double values[HD_HEURISTICS], int h)
{
	double rank = 1;
	for (int i = 0; i < HD_HEURISTICS && h < HD_HEURISTICS; i++)
		rank += values[i] < values[h];
	return h < HD_HEURISTICS ? rank : NAN;
}

/* --- Tables ------------------------------------------------------------------------------------------------------- */

static void add_experiment(struct table *t, const struct hd_lab_options *o, const struct hd_lab_results *r)
{
	static const struct table_column columns[] = {
	    {"sets", "parameter sets", NULL, 0},
	    {"seed", "first seed", NULL, 0},
	    {"seeds", "data sets", NULL, 0},
	    {"tasks", "tasks per graph", NULL, 0},
	    {"rounds", NULL, NULL, 0},
	    {"control_of_perfect", "control / perfect schedule", NULL, 3},
	    {"gained_by_search", "first / control priorities", NULL, 3},
	    {"changing_percent", "orders still changing in the last quarter of the rounds", "%", 1},
	    {"simulated_tasks", "simulated", "tasks", 0},
	    {"simulated_tasks_per_s", "speed", "tasks/s", 0},
	};
	double n = (double)(r->n_seeds * r->n_sets), perfect = 0, first = 0, changing = 0;
	for (size_t i = 0; i < r->n_seeds * r->n_sets; i++) {
		const struct hd_lab_case *c = &r->cases[i];
		perfect += (double)c->control.makespan / c->perfect / n;
		first += (double)c->control.first / (double)c->control.makespan / n;
		for (int h = 0; h < HD_HEURISTICS; h++)
			changing += c->heuristics[h].last_change > o->rounds - o->rounds / 4;
	}
	table_init(t, "experiment", NULL, columns, sizeof columns / sizeof *columns);
	t->single = 1;
	table_number(t, (double)r->n_sets);
	table_number(t, (double)o->seed);
	table_number(t, (double)r->n_seeds);
	table_number(t, (double)o->n_tasks);
	table_number(t, o->rounds);
	table_number(t, perfect);
	table_number(t, first);
	table_number(t, 100 * changing / (n * HD_HEURISTICS));
	table_number(t, (double)r->simulated_tasks);
	table_number(t, (double)r->simulated_tasks * 1e6 / r->simulating_us);
}

static void add_statistics(struct table *t, const struct hd_lab_statistics *ours,
                           const struct hd_lab_statistics *papers)
{
	const double pairs[][2] = {
	    {ours->close, papers->close},
	    {ours->far, papers->far},
	    {ours->many_predecessors, papers->many_predecessors},
	    {ours->mean_predecessors, papers->mean_predecessors},
	    {ours->max_predecessors, papers->max_predecessors},
	    {ours->no_successor, papers->no_successor},
	    {ours->many_successors, papers->many_successors},
	    {ours->max_successors, papers->max_successors},
	    {ours->mean_diff, papers->mean_diff},
	};
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		table_number(t, pairs[i][0]);
		table_number(t, pairs[i][1]);
	}
}

static void add_dataset(struct table *t, const struct hd_lab_results *r)
{
	static const struct table_column columns[] = {
	    {"seed", NULL, NULL, 0},
	    {"dataset", "set", NULL, 0},
	    {"types", NULL, NULL, 0},
	    {"n_cpu", "CPUs", NULL, 0},
	    {"n_gpu", "GPUs", NULL, 0},
	    {"cpu_gpu_ratio", "CPUs/GPUs", NULL, 3},
	    {"close_cpu_gpu_task_share", "close", NULL, 3},
	    {"paper_close_cpu_gpu_task_share", "(paper)", NULL, 3},
	    {"far_cpu_gpu_task_share", "far", NULL, 3},
	    {"paper_far_cpu_gpu_task_share", "(paper)", NULL, 3},
	    {"many_predecessors_task_share", "many preds", NULL, 3},
	    {"paper_many_predecessors_task_share", "(paper)", NULL, 3},
	    {"mean_predecessors", "mean preds", NULL, 3},
	    {"paper_mean_predecessors", "(paper)", NULL, 3},
	    {"max_predecessors", "max preds", NULL, 0},
	    {"paper_max_predecessors", "(paper)", NULL, 0},
	    {"no_successor_task_share", "no succ", NULL, 3},
	    {"paper_no_successor_task_share", "(paper)", NULL, 3},
	    {"many_successors_task_share", "many succs", NULL, 3},
	    {"paper_many_successors_task_share", "(paper)", NULL, 3},
	    {"max_successors", "max succs", NULL, 0},
	    {"paper_max_successors", "(paper)", NULL, 0},
	    {"mean_cpu_gpu_diff", "mean diff", NULL, 3},
	    {"paper_mean_cpu_gpu_diff", "(paper)", NULL, 3},
	    {"distance", NULL, NULL, 2},
	    {"perfect_ms", "perfect", "ms", 1},
	    {"control_ms", "control", "ms", 1},
	    {"control_of_perfect", "control / perfect", NULL, 3},
	    {"best_slowdown", "best heuristic / control", NULL, 3},
	};
	table_init(t, "dataset", "Graphs, beside table 4 of the paper", columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < r->n_seeds * r->n_sets; i++) {
		const struct hd_lab_case *c = &r->cases[i];
		const struct hd_lab_statistics *papers = &hd_lab_paper_sets[c->set].statistics;
		double cpus = c->dag->workers[HD_LAB_CPU], gpus = c->dag->workers[HD_LAB_GPU];
		table_number(t, (double)c->seed);
		table_number(t, c->set);
		table_number(t, c->dag->n_types);
		table_number(t, cpus);
		table_number(t, gpus);
		table_number(t, cpus / gpus);
		add_statistics(t, &c->statistics, papers);
		table_number(t, hd_lab_distance(&c->statistics, papers));
		table_number(t, c->perfect * 1e-3);
		table_number(t, (double)c->control.makespan * 1e-3);
		table_number(t, (double)c->control.makespan / c->perfect);
		table_number(t, hd_lab_slowdown(c, HD_HEURISTICS));
	}
}

/* Adds the slowdowns of tables 5 to 7 of the paper; with several data sets, their means. */
static void add_slowdowns(struct lab_tables *tables, const struct hd_lab_results *r)
{
	struct table *t = &tables->all[LAB_SLOWDOWN];
	tables->n_keys = r->n_sets;
	tables->keys = tool_alloc(r->n_sets * sizeof(char *));
	tables->columns = tool_alloc((r->n_sets + 2) * sizeof *tables->columns);
	tables->columns[0] = (struct table_column){"heuristic", NULL, NULL, TABLE_AS_TEXT};
	for (size_t i = 0; i < r->n_sets; i++) {
		tables->keys[i] = tool_format("%u", r->cases[i].set);
		tables->columns[i + 1] = (struct table_column){tables->keys[i], NULL, NULL, 3};
	}
	tables->columns[r->n_sets + 1] = (struct table_column){"mean", NULL, NULL, 3};
	table_init(t, "slowdown", "Makespan over that of the control priorities, per parameter set", tables->columns,
	           r->n_sets + 2);
	for (int h = 0; h < ROWS; h++) {
		char name[32];
		table_text(t, "%s", lab_heuristic_name(h, name));
		for (size_t i = 0; i < r->n_sets; i++) {
			double sum = 0;
			for (size_t s = 0; s < r->n_seeds; s++)
				sum += hd_lab_slowdown(&r->cases[s * r->n_sets + i], h);
			table_number(t, sum / (double)r->n_seeds);
		}
		table_number(t, spread_of(r, h).mean);
	}
}

static void add_summary(struct table *t, const struct hd_lab_results *r)
{
	static const struct table_column columns[] = {
	    {"heuristic", NULL, NULL, TABLE_AS_TEXT},
	    {"mean", "mean slowdown", NULL, 3},
	    {"deviation", "over data sets: deviation", NULL, 3},
	    {"least", NULL, NULL, 3},
	    {"most", NULL, NULL, 3},
	    {"rank", NULL, NULL, 0},
	    {"paper_mean", "paper: mean", NULL, 3},
	    {"paper_rank", "rank", NULL, 0},
	};
	double means[ROWS];
	table_init(t, "summary", "Heuristics: makespan over that of the control priorities", columns,
	           sizeof columns / sizeof *columns);
	for (int h = 0; h < ROWS; h++)
		means[h] = spread_of(r, h).mean;
	for (int h = 0; h < ROWS; h++) {
		char name[32];
		struct spread s = spread_of(r, h);
		table_text(t, "%s", lab_heuristic_name(h, name));
		table_number(t, s.mean);
		table_number(t, s.deviation);
		table_number(t, s.least);
		table_number(t, s.most);
		table_number(t, rank_of(means, h));
		table_number(t, hd_lab_paper_slowdown[h]);
		table_number(t, rank_of(hd_lab_paper_slowdown, h));
	}
}

void lab_tables_init(struct lab_tables *tables, const struct hd_lab_options *options,
                     const struct hd_lab_results *results)
{
	*tables = (struct lab_tables){.columns = NULL};
	add_experiment(&tables->all[LAB_EXPERIMENT], options, results);
	add_dataset(&tables->all[LAB_DATASET], results);
	add_slowdowns(tables, results);
	add_summary(&tables->all[LAB_SUMMARY], results);
}

void lab_tables_free(struct lab_tables *tables)
{
	for (size_t i = 0; i < LAB_TABLES; i++)
		table_free(&tables->all[i]);
	for (size_t i = 0; i < tables->n_keys; i++)
		free(tables->keys[i]);
	free(tables->keys);
	free(tables->columns);
}

/* --- Files -------------------------------------------------------------------------------------------------------- */

static int write_table(const struct table *table, const char *directory)
{
	char *path = tool_format("%s/%s.csv", directory, table->key);
	int status = table_write_csv(table, path);
	free(path);
	return status;
}

static int by_value(const void *a, const void *b)
{
	double x = ((const struct hd_bar *)a)->value, y = ((const struct hd_bar *)b)->value;
	return (x > y) - (x < y);
}

static int draw(const struct hd_lab_results *r, const char *directory)
{
	struct hd_bar bars[ROWS];
	char names[ROWS][32];
	for (int h = 0; h < ROWS; h++) {
		struct spread s = spread_of(r, h);
		int spreads = r->n_seeds > 1;
		bars[h] = (struct hd_bar){lab_heuristic_name(h, names[h]), s.mean, spreads ? s.least : NAN,
		                          spreads ? s.most : NAN, hd_lab_paper_slowdown[h]};
	}
	qsort(bars, ROWS, sizeof *bars, by_value);
	char *path = tool_format("%s/summary.png", directory);
	char *label = r->n_seeds > 1 ? tool_format("mean of %zu data sets, least to most", r->n_seeds)
	                             : tool_format("mean of %zu graphs", r->n_sets);
	const struct hd_bars picture = {
	    .title = "Heteroprio with automatic priorities",
	    .x_label = "makespan / makespan with the control priorities",
	    .value_label = label,
	    .marker_label = "Flint and Bramas, 2020",
	    .origin = 1,
	    .color = 0x56b4e9,
	    .marker_color = 0xd55e00,
	    .bars = bars,
	    .n = ROWS,
	};
	int status = hd_bars_draw(&picture, path) ? tool_library_error("the picture was not drawn") : TOOL_OK;
	free(label);
	free(path);
	return status;
}

int lab_write(const struct lab_tables *tables, const struct hd_lab_results *results, const char *directory)
{
	int status = write_table(&tables->all[LAB_DATASET], directory);
	if (!status)
		status = write_table(&tables->all[LAB_SLOWDOWN], directory);
	if (!status)
		status = write_table(&tables->all[LAB_SUMMARY], directory);
	return status ? status : draw(results, directory);
}
