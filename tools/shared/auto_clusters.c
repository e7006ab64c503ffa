/* Chooses a cluster set by virtual runs: see auto_clusters.h. */
#include "auto_clusters.h"
#include "comparison.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "machine/machine.h"

int clusters_are_chosen(const char *clusters)
{
	return clusters && strcmp(clusters, "auto") == 0;
}

/* --- Candidates --------------------------------------------------------------------------------------------------- */

static const char change_while_tasks_run[] = "adaptive";

const char *clusters_setting(const char *cluster_set)
{
	return strcmp(cluster_set, change_while_tasks_run) == 0 ? change_while_tasks_run : "";
}

struct heddle_platform *clusters_grouped(const struct heddle_platform *platform, const char *clusters)
{
	struct heddle_platform *p;
	if (heddle_platform_copy(platform, &p))
		return NULL;
	if (!heddle_platform_cluster(p, clusters))
		return p;
	heddle_platform_free(p);
	return NULL;
}

static int is_same(const struct heddle_platform *a, const struct heddle_platform *b)
{
	int same = a->n_workers == b->n_workers;
	for (size_t i = 0; i < a->n_workers && same; i++)
		same = a->workers[i].core == b->workers[i].core &&
		       a->classes[a->workers[i].class_id].cores == b->classes[b->workers[i].class_id].cores;
	return same;
}

/* Adds a cluster set, if it is valid and differs from the earlier sets. Takes ownership of `text`. One place is kept
 * for "adaptive", which comes last. */
static void add(struct cluster_sets *out, const struct heddle_platform *platform, char *text)
{
	size_t most = *clusters_setting(text) ? MOST_CLUSTER_SETS : MOST_CLUSTER_SETS - 1;
	struct heddle_platform *p = out->n < most ? clusters_grouped(platform, text) : NULL;
	int is_new = p != NULL;
	for (size_t i = 0; i < out->n && is_new; i++) {
		struct heddle_platform *other = clusters_grouped(platform, out->list[i]);
		is_new = other && !is_same(p, other);
		heddle_platform_free(other);
	}
	heddle_platform_free(p);
	if (is_new)
		out->list[out->n++] = text;
	else
		free(text);
}

/* The most cores of a cluster in any of the cluster sets found so far. */
static unsigned largest(const struct heddle_platform *platform, const struct cluster_sets *found)
{
	unsigned most = 1;
	for (size_t i = 0; i < found->n; i++) {
		struct heddle_platform *p = clusters_grouped(platform, found->list[i]);
		for (size_t w = 0; p && w < p->n_workers; w++) {
			unsigned cores = p->classes[p->workers[w].class_id].cores;
			most = cores > most ? cores : most;
		}
		heddle_platform_free(p);
	}
	return most;
}

/* The length of the longest run of consecutive cores, for a machine without levels. */
static unsigned side_by_side(const struct heddle_platform *platform)
{
	for (unsigned cores = (unsigned)platform->n_workers; cores > 1; cores--) {
		char *text = tool_format("%u", cores);
		struct heddle_platform *p = clusters_grouped(platform, text);
		heddle_platform_free(p);
		free(text);
		if (p)
			return cores;
	}
	return 1;
}

int cluster_sets_find(const struct heddle_platform *platform, struct cluster_sets *out)
{
	struct heddle_platform *p = clusters_grouped(platform, "none");
	*out = (struct cluster_sets){.n = 0};
	if (!p)
		return tool_usage_error("--clusters auto: %s", heddle_last_error());
	heddle_platform_free(p);
	add(out, platform, tool_format("none"));
	for (size_t i = 0; i < platform->n_levels; i++)
		add(out, platform, tool_format("%s", platform->levels[i].name));
	unsigned all = largest(platform, out), half;
	if (all == 1)
		all = side_by_side(platform);
	half = all / 2;
	for (unsigned cores = all; cores > 1; cores = cores > half ? half : cores > 2 ? 2 : 1)
		add(out, platform, tool_format("%u", cores));
	add(out, platform, tool_format("1x%u", all));
	add(out, platform, tool_format("1x%u", half));
	add(out, platform, tool_format("2x%u", half));
	add(out, platform, tool_format("1x%u+2x%u", all, half));
	add(out, platform, tool_format("%s", change_while_tasks_run));
	return TOOL_OK;
}

void cluster_sets_free(struct cluster_sets *cluster_sets)
{
	for (size_t i = 0; i < cluster_sets->n; i++)
		free(cluster_sets->list[i]);
	cluster_sets->n = 0;
}

int clusters_declare_all(struct heddle_platform *platform)
{
	struct cluster_sets cluster_sets;
	char *all;
	int status = cluster_sets_find(platform, &cluster_sets);
	if (status)
		return status;
	if (hd_cluster_sets_adaptive(platform, change_while_tasks_run, &all)) {
		cluster_sets_free(&cluster_sets);
		return tool_start_error("no clusters");
	}
	for (size_t i = 0; i < cluster_sets.n; i++) {
		char *more = *clusters_setting(cluster_sets.list[i]) ? tool_format("%s", all)
		                                                     : tool_format("%s,%s", all, cluster_sets.list[i]);
		free(all);
		all = more;
	}
	status = heddle_platform_cluster(platform, all) ? tool_start_error("no clusters") : TOOL_OK;
	free(all);
	cluster_sets_free(&cluster_sets);
	return status;
}

/* --- The choice --------------------------------------------------------------------------------------------------- */

static const struct table_column columns[] = {
    {"clusters", NULL, NULL, TABLE_AS_TEXT}, {"workers", NULL, NULL, 0},
    {"policy", NULL, NULL, TABLE_AS_TEXT},   {"makespan_ms", "makespan", "ms", 2},
    {"chosen", NULL, NULL, TABLE_AS_TEXT},
};

/* The result of a cluster set. */
struct tried {
	double seconds;   /* makespan; NAN: every run has failed */
	double n_workers; /* NAN: it changes during the run */
	char policy[64];
};

/* Simulates the work under all policies: the makespan of the best of them, in s, whose name is copied to `policy`. */
static int run(const struct heddle_config *config, const struct heddle_platform *platform, const struct work *work,
               double *seconds, char policy[64])
{
	struct comparison c;
	int status = comparison_init(&c, config->sched);
	if (status)
		return status;
	c.unbounded = 1;
	status = comparison_run(&c, config, platform, work);
	size_t best = comparison_best(&c);
	if (best < c.n) {
		*seconds = c.outcomes[best].seconds;
		snprintf(policy, sizeof(char[64]), "%s", c.policies[best]);
		status = TOOL_OK; /* at least one policy has succeeded */
	}
	comparison_free(&c);
	return status;
}

/* The number of runs whose mean counts if times are noisy, because a schedule may be good by chance. */
enum { NOISY_RUNS = 5 };

/* Simulates the work on one cluster set. */
static int try(const struct heddle_config *config, const struct heddle_platform *platform, const struct work *work,
               const char *clusters, struct tried *out)
{
	struct heddle_platform *p = clusters_grouped(platform, clusters);
	struct heddle_config one = *config;
	int n_runs = config->virtual_time.noise > 0 ? NOISY_RUNS : 1, status = TOOL_OK;
	*out = (struct tried){.n_workers = NAN};
	if (!p)
		return tool_start_error("no clusters");
	one.clusters = clusters_setting(clusters);
	if (!*one.clusters)
		out->n_workers = (double)p->n_workers;
	for (int i = 0; i < n_runs && !status; i++) {
		double seconds = NAN;
		one.seed = config->seed + (unsigned)i;
		status = run(&one, p, work, &seconds, out->policy);
		out->seconds += seconds / n_runs;
	}
	heddle_platform_free(p);
	return status;
}

static void fill(struct table *table, const struct cluster_sets *cluster_sets, const struct tried *tried, size_t best)
{
	table_init(table, "cluster_sets", "Cluster sets", columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < cluster_sets->n; i++) {
		table_text(table, "%s", cluster_sets->list[i]);
		table_number(table, tried[i].n_workers);
		table_text(table, "%s", tried[i].policy);
		table_number(table, tried[i].seconds * 1e3);
		table_text(table, "%s", i == best ? "yes" : "no");
	}
}

int clusters_choose(const struct heddle_config *config, struct heddle_platform *platform, const struct work *work,
                    struct table *table, char **chosen)
{
	struct cluster_sets cluster_sets;
	struct tried tried[MOST_CLUSTER_SETS];
	struct work quick = *work;
	int status = cluster_sets_find(platform, &cluster_sets);
	size_t best = 0;
	int failure = TOOL_OK;
	if (status)
		return status;
	quick.keep_trace = quick.explain = 0;
	quick.record = NULL;
	for (size_t i = 0; i < cluster_sets.n; i++) {
		int failed = try(config, platform, &quick, cluster_sets.list[i], &tried[i]);
		if (failed) { /* perhaps some tasks need clusters that only other sets have */
			tool_warn("%s on %s: clusters %s are left out: %s", work->name, platform->name,
			          cluster_sets.list[i], heddle_last_error());
			tried[i].seconds = NAN;
			failure = failed;
		}
		if (tried[i].seconds < tried[best].seconds || isnan(tried[best].seconds))
			best = i;
	}
	if (isnan(tried[best].seconds))
		status = failure;
	if (!status && heddle_platform_cluster(platform, cluster_sets.list[best]))
		status = tool_start_error("no clusters");
	if (!status) {
		fill(table, &cluster_sets, tried, best);
		*chosen = tool_format("%s", cluster_sets.list[best]);
	}
	cluster_sets_free(&cluster_sets);
	return status;
}
