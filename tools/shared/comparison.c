/* One graph simulated under several policies: see comparison.h. */
#include "comparison.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for n policies. */
static void reserve(struct comparison *c, size_t n)
{
	c->policies = tool_alloc((n + 1) * sizeof *c->policies);
	c->names = tool_alloc((n + 1) * sizeof *c->names);
	c->options = tool_alloc((n + 1) * sizeof *c->options);
}

/* Adds a policy that is written in one word, which the comparison owns from now on. */
static int add(struct comparison *c, char *word)
{
	size_t length = strcspn(word, ":");
	char *name = tool_format("%.*s", (int)length, word);
	int status = tool_check_policy(name, 1);
	const struct heddle_policy *found = status ? NULL : heddle_policy_find(name); /* NULL: auto */
	c->policies[c->n] = word;
	c->names[c->n] = name;
	c->options[c->n] = word[length] ? word + length + 1 : NULL;
	if (found && !word[length]) { /* the word is the name without options */
		free(word);
		c->policies[c->n] = tool_format("%s", found->name);
	}
	c->n++;
	return status;
}

static int add_all(struct comparison *c)
{
	const struct heddle_policy **all = heddle_policies();
	size_t n = 0;
	int status = TOOL_OK;
	if (!all)
		return tool_library_error("cannot list the policies");
	while (all[n])
		n++;
	reserve(c, n);
	for (size_t i = 0; i < n && !status; i++)
		status = add(c, tool_format("%s", all[i]->name));
	free(all);
	return status;
}

/* The length of the first policy in a list. A comma before NAME=VALUE does not end its options. */
static size_t length_of_policy(const char *text)
{
	size_t length = strcspn(text, ",");
	while (text[length] && memchr(text, ':', length)) {
		const char *next = text + length + 1;
		if (next[strcspn(next, "=,:")] != '=')
			break;
		length += 1 + strcspn(next, ",");
	}
	return length;
}

static int add_listed(struct comparison *c, const char *list)
{
	int status = TOOL_OK;
	reserve(c, strlen(list) + 1);
	for (const char *at = list; at && !status;) {
		size_t length = length_of_policy(at);
		status = add(c, tool_format("%.*s", (int)length, at));
		at = at[length] ? at + length + 1 : NULL;
	}
	return status;
}

int comparison_init(struct comparison *c, const char *list)
{
	*c = (struct comparison){.n = 0};
	int status = strcmp(list, "all") == 0 ? add_all(c) : add_listed(c, list);
	if (status) {
		comparison_free(c);
		return status;
	}
	c->outcomes = tool_alloc(c->n * sizeof *c->outcomes);
	c->status = tool_alloc(c->n * sizeof *c->status);
	for (size_t i = 0; i < c->n; i++)
		c->status[i] = TOOL_FAILURE;
	return TOOL_OK;
}

void comparison_free(struct comparison *c)
{
	for (size_t i = 0; i < c->n; i++) {
		if (c->outcomes)
			outcome_free(&c->outcomes[i]);
		free((char *)(uintptr_t)c->policies[i]);
		free((char *)(uintptr_t)c->names[i]);
	}
	free(c->outcomes);
	free(c->status);
	free(c->policies);
	free(c->names);
	free(c->options);
	free(c->untimed);
	*c = (struct comparison){.n = 0};
}

void comparison_choose(const struct comparison *c, size_t i, struct heddle_config *config)
{
	config->sched = c->names[i];
	if (c->options[i])
		config->sched_options = c->options[i];
}

int comparison_bounds(struct comparison *c, const struct heddle_config *config, const struct heddle_platform *platform,
                      const struct work *what)
{
	return work_bounds(config, platform, what, &c->bounds);
}

int comparison_run(struct comparison *c, const struct heddle_config *config, const struct heddle_platform *platform,
                   const struct work *what)
{
	struct heddle_config one = *config;
	struct work whole = *what;
	struct recording recording;
	recording_init(&recording, c->n + !c->unbounded);
	whole.recording = &recording;
	struct work plain = whole;
	plain.record = NULL; /* the graph is the same under every policy, and work_bounds writes it */
	c->untimed = work_untimed(platform, what);
	if (c->untimed)
		work_warn_untimed(platform, what, c->untimed);
	double begun = tool_wall_clock();
	int status = TOOL_OK;
	for (size_t i = 0; !status && i < c->n; i++) {
		char *text = tool_progress_text((double)i, (double)c->n, "policies", tool_wall_clock() - begun);
		tool_progress("%s; now %s", text, c->policies[i]);
		free(text);
		one = *config;
		comparison_choose(c, i, &one);
		c->status[i] = work_sim(&one, platform, &plain, &c->outcomes[i]);
		if (c->status[i])
			tool_warn("policy %s gave no result", c->policies[i]);
		if (i == 0 && !c->unbounded)
			status = comparison_bounds(c, config, platform, &whole);
	}
	recording_free(&recording);
	tool_progress_end();
	for (size_t i = 0; !status && i < c->n; i++)
		status = c->status[i];
	return status;
}

double comparison_bound(const struct comparison *c)
{
	return c->untimed ? NAN : c->bounds.mixed;
}

size_t comparison_best(const struct comparison *c)
{
	size_t best = c->n;
	for (size_t i = 0; i < c->n; i++)
		if (!c->status[i] && (best == c->n || c->outcomes[i].seconds < c->outcomes[best].seconds))
			best = i;
	return best;
}

int comparison_best_again(const struct comparison *c, const struct heddle_config *config,
                          const struct heddle_platform *platform, const struct work *what, struct outcome *out)
{
	struct heddle_config one = *config;
	struct work traced = *what;
	traced.record = NULL; /* work_bounds has written the graph */
	size_t best = comparison_best(c);
	if (best == c->n)
		return TOOL_FAILURE;
	comparison_choose(c, best, &one);
	traced.keep_trace = 1;
	return work_sim(&one, platform, &traced, out);
}

int comparison_check(const struct comparison *c)
{
	int status = TOOL_OK;
	for (size_t i = 0; i < c->n; i++)
		if (!c->status[i] && c->outcomes[i].seconds * 1e6 < c->bounds.mixed * (1 - 1e-6))
			status = tool_failure(
			    "policy %s took %g us, less than the lower bound of %g us: one of the two is wrong",
			    c->policies[i], c->outcomes[i].seconds * 1e6, c->bounds.mixed);
	return status;
}

void comparison_table(const struct comparison *c, struct table *table)
{
	static const struct table_column columns[] = {
	    {"policy", NULL, NULL, TABLE_AS_TEXT},
	    {"makespan_ms", "makespan", "ms", 2},
	    {"is_best", "best", NULL, TABLE_AS_TEXT},
	    {"rate_gflops", "rate", "Gflop/s", 1},
	    {"of_bound_percent", "bound / makespan", "%", 1},
	    {"moved_mib", "moved", "MiB", 0},
	    {"transfers", NULL, NULL, 0},
	    {"evictions", NULL, NULL, 0},
	    {"idle_percent", "idle", "%", 1},
	    {"simulated_tasks_per_s", "simulated", "tasks/s", 0},
	};
	table_init(table, "policies", "Policies", columns, sizeof columns / sizeof *columns);
	size_t best = comparison_best(c);
	for (size_t i = 0; i < c->n; i++) {
		const struct outcome *r = &c->outcomes[i];
		if (c->status[i])
			continue;
		table_text(table, "%s", c->options[i] ? c->policies[i] : r->policy);
		table_number(table, r->seconds * 1e3);
		table_optional(table, r->seconds <= c->outcomes[best].seconds ? "yes" : NULL);
		table_number(table, r->gflops);
		table_number(table, comparison_bound(c) * 1e-4 / r->seconds);
		table_number(table, r->bytes_moved / 0x1p20);
		table_number(table, r->transfers);
		table_number(table, r->evictions);
		table_number(table, 100 * r->idle);
		table_number(table, r->wall > 0 ? r->tasks / r->wall : NAN);
	}
	if (c->sorted)
		table_sort(table, 0, 1);
}

/* The columns of the table of comparison_problem: those for the options of the application are in the middle. Returns
 * their number. */
enum { COLUMNS = 80 };
static size_t fill_columns(const struct work *what, struct table_column *columns)
{
	static const struct table_column first[] = {
	    {"graph", "application", NULL, TABLE_AS_TEXT},
	    {"platform", NULL, NULL, TABLE_AS_TEXT},
	    {"workers", NULL, NULL, 0},
	};
	static const struct table_column last[] = {
	    {"tasks", NULL, NULL, 0},
	    {"area_bound_ms", "area bound", "ms", 2},
	    {"path_bound_ms", "critical path bound", "ms", 2},
	    {"iterative_bound_ms", "iterative bound", "ms", 2},
	    {"bound_ms", "best bound", "ms", 2},
	    {"bound_gflops", "rate at best bound", "Gflop/s", 1},
	    {"untimed_classes", "classes without times", NULL, TABLE_AS_TEXT},
	    {"assumed_times", "assumed times", NULL, TABLE_AS_TEXT},
	};
	size_t n = sizeof first / sizeof *first;
	memcpy(columns, first, sizeof first);
	n += work_columns(what, columns + n, COLUMNS - n - sizeof last / sizeof *last);
	memcpy(columns + n, last, sizeof last);
	return n + sizeof last / sizeof *last;
}

void comparison_problem(const struct comparison *c, const struct heddle_platform *platform, const struct work *what,
                        struct table *table)
{
	size_t best = comparison_best(c);
	double flops = work_flops(what);
	struct table_column columns[COLUMNS];
	table_init(table, "problem", NULL, columns, fill_columns(what, columns));
	table->single = 1;
	table_text(table, "%s", what->name);
	table_text(table, "%s", platform->name);
	table_number(table, (double)platform->n_workers);
	work_add_cells(what, table);
	table_number(table, best < c->n ? c->outcomes[best].tasks : NAN);
	table_number(table, c->bounds.area * 1e-3);
	table_number(table, c->bounds.critical_path * 1e-3);
	table_number(table, c->bounds.iterative * 1e-3);
	table_number(table, c->bounds.mixed * 1e-3);
	table_number(table, flops > 0 ? flops / c->bounds.mixed * 1e-3 : NAN);
	table_optional(table, c->untimed);
	table_optional(table, what->assumed[0] ? what->assumed : NULL);
}
