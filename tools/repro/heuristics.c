/* ah-tables: tables 4 to 7 of C. Flint, B. Bramas, "Finding new heuristics for automated task prioritizing in
 * heterogeneous computing" (2020): how much slower Heteroprio is with the priorities of each heuristic than with the
 * control priorities. The experiment is that of `heddle lab`; here its summary is compared with the paper's. */
#include "repro.h"
#include <stdlib.h>
#include <string.h>
#include "commands/lab.h"

#define BEST_ACCEPTED 1.03
enum { SEEDS = 3, QUICK_TASKS = 512 }; /* number of data sets; if report->quick, one data set of smaller graphs */

struct summary {
	double mean[HD_HEURISTICS + 1], least[HD_HEURISTICS + 1],
	    most[HD_HEURISTICS + 1]; /* extremes over data sets; the last element: the best heuristic of each graph */
};

static struct summary summary_of(const struct hd_lab_results *r)
{
	struct summary s;
	for (int h = 0; h <= HD_HEURISTICS; h++) {
		s.mean[h] = 0;
		s.least[h] = INFINITY;
		s.most[h] = -INFINITY;
		for (size_t i = 0; i < r->n_seeds; i++) {
			double value = hd_lab_mean_slowdown(r, i, h);
			s.mean[h] += value / (double)r->n_seeds;
			s.least[h] = fmin(s.least[h], value);
			s.most[h] = fmax(s.most[h], value);
		}
	}
	return s;
}

/* --- The best of the 28 on each graph ----------------------------------------------------------------------------- */

static int by_best(const void *a, const void *b)
{
	double x = hd_lab_slowdown(*(const struct hd_lab_case *const *)a, HD_HEURISTICS);
	double y = hd_lab_slowdown(*(const struct hd_lab_case *const *)b, HD_HEURISTICS);
	return (x > y) - (x < y);
}

/* The graphs, ordered by the slowdown of the best heuristic. The caller frees the array. */
static const struct hd_lab_case **sorted_by_best(const struct hd_lab_results *r)
{
	size_t n = r->n_seeds * r->n_sets;
	const struct hd_lab_case **sorted = tool_alloc(n * sizeof *sorted);
	for (size_t i = 0; i < n; i++)
		sorted[i] = &r->cases[i];
	qsort(sorted, n, sizeof *sorted, by_best);
	return sorted;
}

/* Shows how the slowdown of the best heuristic is spread over the graphs, which explains its mean. The paper's figures
 * are in the last row of its tables. */
static void explain_best(struct repro_report *report, const struct hd_lab_results *r)
{
	const struct hd_lab_case **sorted = sorted_by_best(r);
	size_t n = r->n_seeds * r->n_sets, good = 0;
	while (good < n && hd_lab_slowdown(sorted[good], HD_HEURISTICS) <= BEST_ACCEPTED)
		good++;
	double median =
	    (hd_lab_slowdown(sorted[(n - 1) / 2], HD_HEURISTICS) + hd_lab_slowdown(sorted[n / 2], HD_HEURISTICS)) / 2;
	repro_row(report, "best of the 28, median over graphs", "", 1.0095, median, repro_shown());
	repro_row(report, "graphs on which the best is at most 1.03", "%", 68.75, 100 * (double)good / (double)n,
	          repro_shown());
	for (size_t i = 1; i <= 3 && i <= n; i++)
		repro_note(
		    report,
		    "Graph of set %u, seed %llu: the best of the 28 is %.3f times as long as the control, which is "
		    "%.3f times as long as the perfect schedule.",
		    sorted[n - i]->set, (unsigned long long)sorted[n - i]->seed,
		    hd_lab_slowdown(sorted[n - i], HD_HEURISTICS),
		    (double)sorted[n - i]->control.makespan / sorted[n - i]->perfect);
	free(sorted);
}

/* --- Rows --------------------------------------------------------------------------------------------------------- */

static double rank(const double *means, int h)
{
	return (double)repro_rank(means, HD_HEURISTICS, (size_t)h);
}

/* The best rank of URTxD_L1 to URTxD_L7, the family of the paper's best heuristic. */
static double best_rank_of_family(const double *means)
{
	double best = HD_HEURISTICS;
	for (int h = HD_URTXD_L1; h <= HD_URTXD_L7; h++)
		best = fmin(best, rank(means, h));
	return best;
}

/* The number of the paper's five worst heuristics that are among our five worst. */
static double worst_in_common(const double *means)
{
	enum { WORST = 5 };
	double common = 0;
	for (int h = 0; h < HD_HEURISTICS; h++)
		common +=
		    rank(hd_lab_paper_slowdown, h) > HD_HEURISTICS - WORST && rank(means, h) > HD_HEURISTICS - WORST;
	return common;
}

static void add_rows(struct repro_report *report, const struct summary *s)
{
	static const int worst[] = {HD_URT, HD_URTXRD, HD_NOD_S};
	const double *paper = hd_lab_paper_slowdown;
	repro_row(report, "best of the 28, mean slowdown", "", paper[HD_HEURISTICS], s->mean[HD_HEURISTICS],
	          repro_at_most(BEST_ACCEPTED));
	repro_row(report, "URTxD_L5, mean slowdown", "", paper[HD_URTXD_L5], s->mean[HD_URTXD_L5], repro_shown());
	repro_row(report, "URTxD_L5, rank", "", rank(paper, HD_URTXD_L5), rank(s->mean, HD_URTXD_L5), repro_shown());
	repro_row(report, "best rank of URTxD_L1 to URTxD_L7", "", 1, best_rank_of_family(s->mean), repro_at_most(3));
	repro_row(report, "URT, mean slowdown", "", paper[HD_URT], s->mean[HD_URT], repro_shown());
	for (size_t i = 0; i < sizeof worst / sizeof *worst; i++) {
		char name[32], *quantity = tool_format("%s, rank from the worst", lab_heuristic_name(worst[i], name));
		repro_row(report, quantity, "", HD_HEURISTICS + 1 - rank(paper, worst[i]),
		          HD_HEURISTICS + 1 - rank(s->mean, worst[i]), repro_at_most(3));
		free(quantity);
	}
	repro_row(report, "number of the paper's five worst that are among our five worst", "", 5,
	          worst_in_common(s->mean), repro_shown());
	repro_row(report, "Spearman's correlation of the 28 means", "", 1,
	          repro_spearman(s->mean, paper, HD_HEURISTICS), repro_at_least(0.5));
}

/* How much the order of the 28 heuristics depends on chance: the rank correlation of two of our data sets, as the mean
 * over all pairs of data sets. */
static double correlation_of_data_sets(const struct hd_lab_results *r)
{
	double *means = tool_alloc(r->n_seeds * HD_HEURISTICS * sizeof *means), sum = 0;
	for (size_t i = 0; i < r->n_seeds * HD_HEURISTICS; i++)
		means[i] = hd_lab_mean_slowdown(r, i / HD_HEURISTICS, (int)(i % HD_HEURISTICS));
	for (size_t i = 0; i < r->n_seeds; i++)
		for (size_t j = 0; j < i; j++)
			sum += repro_spearman(&means[i * HD_HEURISTICS], &means[j * HD_HEURISTICS], HD_HEURISTICS);
	free(means);
	return sum / ((double)(r->n_seeds * (r->n_seeds - 1)) / 2);
}

static void add_notes(struct repro_report *report, const struct hd_lab_results *r, const struct summary *s)
{
	double of_perfect = 0, n = (double)(r->n_seeds * r->n_sets);
	for (size_t i = 0; i < r->n_seeds * r->n_sets; i++)
		of_perfect += (double)r->cases[i].control.makespan / r->cases[i].perfect / n;
	repro_note(
	    report,
	    "The paper's graphs are not published: ours are random graphs whose statistics come near to its table 4, "
	    "so that slowdowns can only be alike, not equal.");
	if (r->n_seeds > 1)
		repro_note(
		    report, "Over data sets, the best of the 28 goes from %.3f to %.3f and URTxD_L5 from %.3f to %.3f.",
		    s->least[HD_HEURISTICS], s->most[HD_HEURISTICS], s->least[HD_URTXD_L5], s->most[HD_URTXD_L5]);
	repro_note(
	    report,
	    "The control priorities are %.3f times as long as the perfect schedules. The nearer they are to 1, the "
	    "larger is every slowdown: the paper does not say how near its own came.",
	    of_perfect);
	repro_note(report, "A slowdown compares two simulations of the same graph; times are units of the simulator.");
}

/* --- Files -------------------------------------------------------------------------------------------------------- */

static int write_data(struct repro_report *report, const struct summary *s)
{
	static const struct table_column columns[] = {
	    {"heuristic", NULL, NULL, TABLE_AS_TEXT},  {"slowdown", NULL, NULL, TABLE_ANY},
	    {"least", NULL, NULL, TABLE_ANY},          {"most", NULL, NULL, TABLE_ANY},
	    {"paper_slowdown", NULL, NULL, TABLE_ANY},
	};
	struct table table;
	char name[32];
	table_init(&table, "heuristics", NULL, columns, sizeof columns / sizeof *columns);
	for (int h = 0; h <= HD_HEURISTICS; h++) {
		table_text(&table, "%s", lab_heuristic_name(h, name));
		table_number(&table, s->mean[h]);
		table_number(&table, s->least[h]);
		table_number(&table, s->most[h]);
		table_number(&table, hd_lab_paper_slowdown[h]);
	}
	int status = repro_data(report, "heuristics", &table);
	table_free(&table);
	return status;
}

static int by_value(const void *a, const void *b)
{
	double x = ((const struct hd_bar *)a)->value, y = ((const struct hd_bar *)b)->value;
	return (x > y) - (x < y);
}

static int draw(struct repro_report *report, const struct summary *s, size_t n_seeds)
{
	struct hd_bar bars[HD_HEURISTICS + 1];
	char names[HD_HEURISTICS + 1][32];
	for (int h = 0; h <= HD_HEURISTICS; h++)
		bars[h] = (struct hd_bar){lab_heuristic_name(h, names[h]), s->mean[h], n_seeds > 1 ? s->least[h] : NAN,
		                          n_seeds > 1 ? s->most[h] : NAN, hd_lab_paper_slowdown[h]};
	qsort(bars, HD_HEURISTICS + 1, sizeof *bars, by_value);
	const struct hd_bars picture = {
	    .title = "Heteroprio with automatic priorities (simulated)",
	    .x_label = "makespan / makespan with the control priorities",
	    .value_label = "Heddle: mean, least, most",
	    .marker_label = "Flint and Bramas, 2020",
	    .origin = 1,
	    .color = 0x56b4e9,
	    .marker_color = 0xd55e00,
	    .bars = bars,
	    .n = HD_HEURISTICS + 1,
	};
	return repro_bars(report, &picture);
}

int repro_ah_tables(struct repro_report *report)
{
	unsigned sets[HD_LAB_SETS];
	struct lab_progress shown = {.done = 0};
	struct hd_lab_results results;
	struct hd_lab_options lab = {.seed = report->seed,
	                             .n_seeds = report->quick ? 1 : SEEDS,
	                             .n_tasks = report->quick ? QUICK_TASKS : 0,
	                             .progress = lab_show_progress,
	                             .progress_arg = &shown};
	lab_complete(&lab, sets, 0);
	if (hd_lab_run(&lab, &results))
		return tool_library_error("the laboratory failed");
	struct summary s = summary_of(&results);
	repro_where(report,
	            "the laboratory's simulator (heddle lab): %zu graphs of %zu tasks, data sets: %u, first seed %llu",
	            lab.n_sets, lab.n_tasks, lab.n_seeds, (unsigned long long)lab.seed);
	add_rows(report, &s);
	if (results.n_seeds > 1)
		repro_row(report, "Spearman's correlation between our own data sets", "", NAN,
		          correlation_of_data_sets(&results), repro_shown());
	explain_best(report, &results);
	add_notes(report, &results, &s);
	hd_lab_results_free(&results);
	int status = write_data(report, &s);
	return status ? status : draw(report, &s, lab.n_seeds);
}
