/* heddle lab: which heuristic gives Heteroprio its best priorities? The experiment of the AutoHeteroprio paper. */
#include "lab.h"
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

enum { KEY_SETS = 0x5000, KEY_SEEDS, KEY_ROUNDS, KEY_QUICK, KEY_LOCAL, KEY_EXPLAIN };
enum { TASKS = 2048, DRAWS = 300, STEPS = 1500, ROUNDS = 16 };
enum { QUICK_TASKS = 256, QUICK_DRAWS = 20, QUICK_STEPS = 60, QUICK_SETS = 4 };

struct options {
	struct hd_lab_options lab;
	unsigned sets[HD_LAB_SETS];
	const char *directory;
	int quick, explain;
	enum table_format format;
};

static const struct argp_option options[] = {
    {"sets", KEY_SETS, "LIST", 0, "Parameter sets, rows of table 4: 0,3,8-11 (default: all 32)", 0},
    {"seed", 's', "SEED", 0, "Seed of the first data set (default 1)", 0},
    {"seeds", KEY_SEEDS, "K", 0, "Number of data sets, with seeds SEED, SEED+1, ... (default 1)", 0},
    {"tasks", 'n', "N", 0, "Tasks of each graph (default 2048)", 0},
    {"local", KEY_LOCAL, NULL, 0,
     "For half of the types, predecessors are among the recently finished tasks, not among all", 0},
    {"rounds", KEY_ROUNDS, "N", 0, "Simulations from which a heuristic learns shares and idle times (default 16)", 0},
    {"threads", 't', "N", 0, "Number of threads, which does not change results (default: one per processor)", 0},
    {"quick", KEY_QUICK, NULL, 0,
     "Do a small experiment, of about a second: 4 parameter sets, graphs of 256 tasks, a rough fit", 0},
    {NULL, 0, NULL, 0, "What to show:", 2},
    {"output", 'o', "DIR", 0, "Write dataset.csv, slowdown.csv, summary.csv and summary.png there", 0},
    {"explain", KEY_EXPLAIN, NULL, 0, "Also show the graphs beside the paper's, and every slowdown", 0},
    {0},
};

/* Reads a list of parameter sets, such as "0,3,8-11". */
static void parse_sets(struct options *o, const char *text, const struct argp_state *state)
{
	o->lab.n_sets = 0;
	for (const char *at = text; at;) {
		char *end;
		long from = strtol(at, &end, 10), to = from;
		int good = end != at;
		if (good && *end == '-') {
			at = end + 1;
			to = strtol(at, &end, 10);
			good = end != at;
		}
		if (!good || (*end && *end != ',') || from < 0 || to >= HD_LAB_SETS || from > to ||
		    o->lab.n_sets + (size_t)(to - from + 1) > HD_LAB_SETS)
			tool_option_error(
			    state, "--sets is \"%s\": it must be a list such as 0,3,8-11 of numbers from 0 to %d", text,
			    HD_LAB_SETS - 1);
		for (long i = from; i <= to; i++)
			o->sets[o->lab.n_sets++] = (unsigned)i;
		at = *end ? end + 1 : NULL;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &o->format; return 0;
	case KEY_SETS: parse_sets(o, arg, state); return 0;
	case 's': o->lab.seed = (uint64_t)tool_int(state, "--seed", arg, 0, 1000000000); return 0;
	case KEY_SEEDS: o->lab.n_seeds = (unsigned)tool_int(state, "--seeds", arg, 1, 1000); return 0;
	case 'n': o->lab.n_tasks = (size_t)tool_int(state, "--tasks", arg, 32, 1000000); return 0;
	case KEY_ROUNDS: o->lab.rounds = (unsigned)tool_int(state, "--rounds", arg, 1, 1000); return 0;
	case 't': o->lab.n_threads = (unsigned)tool_int(state, "--threads", arg, 1, 1024); return 0;
	case KEY_LOCAL: o->lab.is_local = 1; return 0;
	case KEY_QUICK: o->quick = 1; return 0;
	case KEY_EXPLAIN: o->explain = 1; return 0;
	case 'o': o->directory = arg; return 0;
	case ARGP_KEY_ARG: tool_option_error(state, "unexpected argument \"%s\"", arg); return EINVAL;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&tool_format_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .doc = "Simulates Heteroprio on random graphs of typed tasks, with the priorities of each of the 28 heuristics of "
           "autoheteroprio and with the best that a search finds, and shows how much slower the heuristics are.\v"
           "This is the experiment of Flint and Bramas (2020), whose figures are shown too; docs/lab.md explains it.",
};

void lab_complete(struct hd_lab_options *lab, unsigned sets[HD_LAB_SETS], int quick)
{
	lab->sets = sets;
	if (lab->n_sets == 0)
		for (size_t n = quick ? QUICK_SETS : HD_LAB_SETS; lab->n_sets < n; lab->n_sets++)
			sets[lab->n_sets] = (unsigned)lab->n_sets;
	if (lab->n_tasks == 0)
		lab->n_tasks = quick ? QUICK_TASKS : TASKS;
	if (lab->n_threads == 0)
		lab->n_threads = (unsigned)tool_cores();
	lab->draws = quick ? QUICK_DRAWS : DRAWS;
	lab->steps = quick ? QUICK_STEPS : STEPS;
	if (lab->rounds == 0)
		lab->rounds = ROUNDS;
}

void lab_show_progress(void *progress, const char *what, size_t done, size_t n_items)
{
	struct lab_progress *p = progress;
	enum { EVERY_US = 100000 };
	double now = hd_clock_us();
	if (p->begun <= 0 || done < p->done)
		p->begun = now;
	p->done = done;
	if (now - p->shown < EVERY_US && done < n_items)
		return;
	p->shown = now;
	char *text = tool_progress_text((double)done, (double)n_items, what, (now - p->begun) * 1e-6);
	tool_progress("%s", text);
	free(text);
}

static void print(const struct options *o, struct lab_tables *tables)
{
	struct table *all[LAB_TABLES] = {&tables->all[LAB_EXPERIMENT], &tables->all[LAB_SUMMARY],
	                                 &tables->all[LAB_DATASET], &tables->all[LAB_SLOWDOWN]};
	/* CSV is for plotting programs, so it has one table unless --explain asks for more */
	size_t first = o->format == TABLE_CSV && !o->explain;
	size_t n = o->explain || o->format == TABLE_JSON ? LAB_TABLES : 2;
	table_print(stdout, o->format, all + first, n - first);
}

int tool_lab(int argc, char **argv)
{
	struct lab_progress shown = {.done = 0};
	struct options o = {.lab = {.seed = 1, .n_seeds = 1, .progress = lab_show_progress, .progress_arg = &shown}};
	struct hd_lab_results results;
	struct lab_tables tables;
	int status = tool_parse(&argp, argc, argv, &o);
	if (status)
		return status;
	lab_complete(&o.lab, o.sets, o.quick);
	if (o.directory && (status = tool_check_directory(o.directory, "summary.csv")))
		return status;
	status = hd_lab_run(&o.lab, &results);
	tool_progress_end();
	if (status)
		return tool_library_error("the laboratory failed");
	lab_tables_init(&tables, &o.lab, &results);
	print(&o, &tables);
	if (o.directory)
		status = lab_write(&tables, &results, o.directory);
	lab_tables_free(&tables);
	hd_lab_results_free(&results);
	return status;
}
