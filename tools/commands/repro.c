/* heddle repro: repeats published experiments and shows the paper's figures next to Heddle's. */
#include "repro/repro.h"
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

static const struct experiment {
	const char *id, *paper, *what, *result;
	int (*run)(struct repro_report *report);
} experiments[] = {
#define ENTRY(function, id, paper, what, result) {id, paper, what, result, function},
    REPRO_EXPERIMENTS(ENTRY)
#undef ENTRY
};
enum { N_EXPERIMENTS = sizeof experiments / sizeof *experiments };

/* --- Options ------------------------------------------------------------------------------------------------------ */

enum { KEY_LIST = 0x6000, KEY_QUICK };

struct options {
	int chosen[N_EXPERIMENTS];
	size_t n_chosen;
	const char *directory;
	uint64_t seed;
	int list, quick;
	enum table_format format;
};

static const struct argp_option options[] = {
    {"list", KEY_LIST, NULL, 0, "List the experiments, as without an ID", 0},
    {"quick", KEY_QUICK, NULL, 0, "Do smaller experiments: all of them take a minute or two", 0},
    {"seed", 's', "SEED", 0, "Seed of all random numbers (default 1)", 0},
    {"output", 'o', "DIR", 0, "Where ID.csv and ID.png go (default results)", 0},
    {0},
};

/* Adds an experiment to the chosen experiments. An unknown id ends the program, as wrong values of options do. */
static void choose(struct options *o, const char *id)
{
	const char *ids[N_EXPERIMENTS + 1] = {"all"};
	int all = strcmp(id, "all") == 0, found = all;
	for (size_t i = 0; i < N_EXPERIMENTS; i++) {
		int is = all || strcmp(id, experiments[i].id) == 0;
		ids[i + 1] = experiments[i].id;
		found |= is;
		o->n_chosen += is && !o->chosen[i];
		o->chosen[i] |= is;
	}
	if (!found)
		exit(tool_unknown("experiment", id, ids, N_EXPERIMENTS + 1));
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &o->format; return 0;
	case KEY_LIST: o->list = 1; return 0;
	case KEY_QUICK: o->quick = 1; return 0;
	case 's': o->seed = (uint64_t)tool_int(state, "--seed", arg, 0, 1000000000); return 0;
	case 'o': o->directory = arg; return 0;
	case ARGP_KEY_ARG: choose(o, arg); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&tool_format_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "[ID...|all]",
    .doc =
        "Repeats published experiments and prints the paper's figures next to Heddle's.\v"
        "A figure of Heddle's agrees with the paper when it lies in the accepted range, which docs/repro.md explains. "
        "The exit status is 1 when one does not.",
};

/* --- Tables ------------------------------------------------------------------------------------------------------- */

static void add_to_list(struct table *table, const struct experiment *e)
{
	table_text(table, "%s", e->id);
	table_text(table, "%s", e->paper);
	table_text(table, "%s", e->what);
	table_text(table, "%s", e->result);
}

static void list(enum table_format format)
{
	static const struct table_column columns[] = {
	    {"id", NULL, NULL, TABLE_AS_TEXT},
	    {"paper", NULL, NULL, TABLE_AS_TEXT},
	    {"what", NULL, NULL, TABLE_AS_TEXT},
	    {"result", "its result", NULL, TABLE_AS_TEXT},
	};
	struct table table, *tables[] = {&table};
	table_init(&table, "experiments", NULL, columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < N_EXPERIMENTS; i++)
		add_to_list(&table, &experiments[i]);
	table_print(stdout, format, tables, 1);
	table_free(&table);
}

static void init_rows(struct table *table)
{
	static const struct table_column columns[] = {
	    {"experiment", NULL, NULL, TABLE_AS_TEXT}, {"quantity", NULL, NULL, TABLE_AS_TEXT},
	    {"unit", NULL, NULL, TABLE_AS_TEXT},       {"paper", NULL, NULL, TABLE_ANY},
	    {"ours", NULL, NULL, TABLE_ANY},           {"accepted_from", NULL, NULL, TABLE_ANY},
	    {"accepted_to", NULL, NULL, TABLE_ANY},    {"verdict", NULL, NULL, TABLE_AS_TEXT},
	    {"where", NULL, NULL, TABLE_AS_TEXT},
	};
	table_init(table, "rows", NULL, columns, sizeof columns / sizeof *columns);
}

static double unless_infinite(double x)
{
	return isinf(x) ? NAN : x;
}

static void add_rows(struct table *table, const struct repro_report *report)
{
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct repro_row *row = &report->rows[i];
		table_text(table, "%s", report->id);
		table_text(table, "%s", row->quantity);
		table_text(table, "%s", row->unit);
		table_number(table, row->paper);
		table_number(table, row->ours);
		table_number(table, unless_infinite(row->accepted.low));
		table_number(table, unless_infinite(row->accepted.high));
		table_text(table, "%s", repro_verdict_word(repro_verdict_of_row(row)));
		table_text(table, "%s", report->where);
	}
}

static void init_lines(struct table *table, const char *key, const char *what)
{
	static const char *const names[] = {"note", "file"};
	static const struct table_column columns[][2] = {
	    {{"experiment", NULL, NULL, TABLE_AS_TEXT}, {"note", NULL, NULL, TABLE_AS_TEXT}},
	    {{"experiment", NULL, NULL, TABLE_AS_TEXT}, {"file", NULL, NULL, TABLE_AS_TEXT}},
	};
	table_init(table, key, NULL, columns[strcmp(what, names[0]) != 0], 2);
}

static void add_lines(struct table *table, const char *id, char *const *lines, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		table_text(table, "%s", id);
		table_text(table, "%s", lines[i]);
	}
}

static void init_verdicts(struct table *table)
{
	static const struct table_column columns[] = {
	    {"experiment", NULL, NULL, TABLE_AS_TEXT},
	    {"verdict", NULL, NULL, TABLE_AS_TEXT},
	    {"took_s", "took", "s", 1},
	    {"where", "on", NULL, TABLE_AS_TEXT},
	};
	table_init(table, "verdicts", NULL, columns, sizeof columns / sizeof *columns);
}

static void add_verdict(struct table *table, const struct repro_report *report, int status)
{
	table_text(table, "%s", report->id);
	table_text(table, "%s", status ? "failed" : repro_verdict_word(repro_verdict(report)));
	table_number(table, report->seconds);
	table_text(table, "%s", report->where ? report->where : "");
}

/* --- Text --------------------------------------------------------------------------------------------------------- */

static char *range_text(struct repro_range range)
{
	if (isinf(range.low) && isinf(range.high))
		return tool_format("-");
	if (isinf(range.low))
		return tool_format("<= %.6g", range.high);
	if (isinf(range.high))
		return tool_format(">= %.6g", range.low);
	return tool_format("%.6g to %.6g", range.low, range.high);
}

static void print_rows(const struct repro_report *report)
{
	static const struct table_column columns[] = {
	    {"quantity", NULL, NULL, TABLE_AS_TEXT}, {"unit", NULL, NULL, TABLE_AS_TEXT},
	    {"paper", NULL, NULL, TABLE_ANY},        {"ours", NULL, NULL, TABLE_ANY},
	    {"accepted", NULL, NULL, TABLE_AS_TEXT}, {"verdict", NULL, NULL, TABLE_AS_TEXT},
	};
	struct table table, *tables[] = {&table};
	table_init(&table, "rows", NULL, columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct repro_row *row = &report->rows[i];
		char *range = range_text(row->accepted);
		table_text(&table, "%s", row->quantity);
		table_text(&table, "%s", row->unit);
		table_number(&table, row->paper);
		table_number(&table, row->ours);
		table_text(&table, "%s", range);
		table_text(&table, "%s", repro_verdict_word(repro_verdict_of_row(row)));
		free(range);
	}
	table_print(stdout, TABLE_TEXT, tables, 1);
	table_free(&table);
}

static void print_report(const struct experiment *e, const struct repro_report *report)
{
	printf("%s: %s: %s\non %s\n\n", e->id, e->paper, e->what, report->where);
	print_rows(report);
	for (size_t i = 0; i < report->n_notes; i++)
		printf("%s- %s\n", i ? "" : "\n", report->notes[i]);
	printf("\nwritten:");
	for (size_t i = 0; i < report->n_files; i++)
		printf(" %s", report->files[i]);
	printf("\n%s: %s, in %.1f s\n\n", e->id, repro_verdict_word(repro_verdict(report)), report->seconds);
	fflush(stdout);
}

/* --- Work --------------------------------------------------------------------------------------------------------- */

static int write_rows(struct repro_report *report)
{
	struct table table;
	char *path = tool_format("%s/%s.csv", report->directory, report->id);
	init_rows(&table);
	add_rows(&table, report);
	int status = table_write_csv(&table, path);
	table_free(&table);
	report->files = tool_realloc(report->files, (report->n_files + 1) * sizeof *report->files);
	report->files[report->n_files++] = path;
	return status;
}

static int do_experiment(const struct experiment *e, struct repro_report *report)
{
	double start = hd_clock_us();
	int status = e->run(report);
	tool_progress_end();
	if (!status)
		status = write_rows(report);
	report->seconds = (hd_clock_us() - start) * 1e-6;
	return status;
}

enum { VERDICTS, ROWS, NOTES, FILES, TABLES };

static void print_all(const struct options *o, struct table tables[TABLES])
{
	struct table *all[TABLES];
	for (size_t i = 0; i < TABLES; i++)
		all[i] = &tables[i];
	if (o->format == TABLE_JSON)
		table_print(stdout, o->format, all, TABLES);
	else if (o->format == TABLE_CSV)
		table_print(stdout, o->format, all + ROWS, 1);
	else if (o->n_chosen > 1)
		table_print(stdout, o->format, all + VERDICTS, 1);
}

static int do_all(const struct options *o)
{
	struct table tables[TABLES];
	size_t n_bad = 0;
	init_verdicts(&tables[VERDICTS]);
	init_rows(&tables[ROWS]);
	init_lines(&tables[NOTES], "notes", "note");
	init_lines(&tables[FILES], "files", "file");
	for (size_t i = 0; i < N_EXPERIMENTS; i++) {
		struct repro_report report = {
		    .id = experiments[i].id, .directory = o->directory, .quick = o->quick, .seed = o->seed};
		if (!o->chosen[i])
			continue;
		int status = do_experiment(&experiments[i], &report);
		n_bad += status || repro_verdict(&report) != REPRO_PASS;
		if (!status && o->format == TABLE_TEXT)
			print_report(&experiments[i], &report);
		add_verdict(&tables[VERDICTS], &report, status);
		add_rows(&tables[ROWS], &report);
		add_lines(&tables[NOTES], report.id, report.notes, report.n_notes);
		add_lines(&tables[FILES], report.id, report.files, report.n_files);
		repro_report_free(&report);
	}
	print_all(o, tables);
	for (size_t i = 0; i < TABLES; i++)
		table_free(&tables[i]);
	return n_bad ? tool_failure("%zu of %zu experiments fell short of their paper or failed", n_bad, o->n_chosen)
	             : TOOL_OK;
}

int tool_repro(int argc, char **argv)
{
	struct options o = {.directory = "results", .seed = 1};
	int status = tool_parse(&argp, argc, argv, &o);
	if (!status && (o.list || !o.n_chosen)) {
		list(o.format);
		return TOOL_OK;
	}
	if (!status)
		status = tool_check_directory(o.directory, "heddle"); /* checked before the work begins */
	return status ? status : do_all(&o);
}
