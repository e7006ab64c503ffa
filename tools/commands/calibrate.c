/* heddle platform calibrate: measures this machine and describes it in a platform file. */
#include "shared/calibration.h"
#include "shared/application_run.h"
#include "shared/passes.h"
#include "shared/tool.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "start/start.h"

enum { KEY_KEEP = 0x6000, KEY_ROUTINES, KEY_SECONDS, KEY_WITHIN, MAX_TILES = 32 };
/* Passes over all runs: after one pass to warm up, which does not count, at least LEAST_PASSES and at most
 * MOST_PASSES. */
enum { LEAST_PASSES = 4, MOST_PASSES = 30 };
/* The last lines of the output warn if a prediction is farther off than this, or if the speed of the machine changes by
 * more. */
static const double LITTLE = 0.05;

struct options {
	const char *output, *routines;
	size_t n; /* order of the matrices; 0: chosen for each tile */
	long tiles[MAX_TILES];
	size_t n_tiles;
	int keep;
	double seconds, within; /* within: a share */
	struct tool_settings settings;
	struct tool_machine machine;
};

static const struct argp_option options[] = {
    {"output", 'o', "FILE|NAME", 0,
     "Where to write the platform: FILE, if it contains a / or ends in .yaml; otherwise NAME.yaml in the user's data "
     "directory (default: this)",
     0},
    {"n", 'n', "N", 0, "Order of the matrices (default: 4096, or 5 tiles if that is more)", 0},
    {"tiles", 't', "LIST", 0, "Orders of the tiles (default 64,96,128,192,256,320,384,512,640,768,960)", 0},
    {"routines", KEY_ROUTINES, "LIST|all", 0,
     "The routines whose kernels are measured (default potrf); all: as many as have kernels of their own", 0},
    {"within", KEY_WITHIN, "PERCENT", 0,
     "Measure each size until the 95 % confidence interval of its kernels is at most +- PERCENT (default 2)", 0},
    {"seconds", KEY_SECONDS, "S", 0, "Stop after S seconds, but not before four passes (default 60)", 0},
    {"keep", KEY_KEEP, NULL, 0, "Add to the stored performance models instead of replacing them", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->settings;
		state->child_inputs[1] = &o->machine;
		return 0;
	case 'o': o->output = arg; return 0;
	case 'n': o->n = (size_t)tool_int(state, "--n", arg, 16, 10000000); return 0;
	case 't':
		o->n_tiles = tool_ints(state, "--tiles", arg, (const long[]){8, 100000}, o->tiles, MAX_TILES);
		return 0;
	case KEY_ROUTINES: o->routines = arg; return 0;
	case KEY_KEEP: o->keep = 1; return 0;
	case KEY_SECONDS: o->seconds = (double)tool_int(state, "--seconds", arg, 0, 86400); return 0;
	case KEY_WITHIN: o->within = tool_real(state, "--within", arg, 0.01, 100) / 100; return 0;
	case ARGP_KEY_ARG: tool_option_error(state, "unexpected argument \"%s\"", arg); return EINVAL;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&tool_set_argp, 0, NULL, 0}, {&tool_machine_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .doc = "Runs Cholesky factorisations, or other routines, of several tile sizes, in double and single precision, "
           "measures the links, alone and several at once, and writes a platform: `heddle sim cholesky --platform "
           "this` then simulates this machine. "
           "Accelerators are measured too: CUDA devices where there are some, others when they are asked for. One "
           "with several streams also runs that many products at once, which shows how these share it.\v"
           "Stored performance models of the kernels are replaced at the end, when the new ones are complete. "
           "Measures best on an idle machine.",
};

static int is_file(const char *output)
{
	return strchr(output, '/') || strcmp(tool_extension(output), ".yaml") == 0;
}

/* The path to write to: the file itself, or NAME.yaml in the user's data directory. NULL: the environment does not say
 * where this directory is. */
static char *output_path(const char *output)
{
	if (is_file(output))
		return tool_format("%s", output);
	char *data = hd_data_dir();
	char *path = data ? tool_format("%s/platforms/%s.yaml", data, output) : NULL;
	free(data);
	return path;
}

/* Checks that the platform can be written. Makes the user's directory of platforms if it is missing; but not the
 * directory of a file that the user names. */
static int check_output(const char *output, const char *path)
{
	if (!is_file(output) && hd_parents_make(path))
		return tool_failure("%s", heddle_last_error());
	return tool_check_writable(path);
}

static char *platform_name(const char *path)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	size_t length = strlen(base) - strlen(tool_extension(base));
	return tool_format("%.*s", (int)(length ? length : strlen(base)), base);
}

/* The directory of the models that the new ones will replace, which the caller frees; NULL: no models are replaced. */
static char *models_to_replace(const struct options *o, const struct heddle_config *config)
{
	const char *dir = config->model_dir;
	if (o->keep || (dir && strcmp(dir, "none") == 0))
		return NULL;
	return dir && *dir ? tool_format("%s", dir) : heddle_models_dir();
}

static int check_models(const char *dir)
{
	char *path = tool_format("%s/dgemm.yaml", dir);
	int status = hd_parents_make(path) ? tool_failure("%s", heddle_last_error()) : tool_check_writable(path);
	free(path);
	return status;
}

/* The number of factorisations after which every codelet has enough samples on every class for its model to be used. */
static int repetitions(const struct heddle_config *config, const struct heddle_platform *platform, size_t n,
                       size_t tile)
{
	size_t tiles = (n + tile - 1) / tile;
	size_t wanted = ((size_t)(config->calibrate > 0 ? config->calibrate : 10) + 2) * platform->n_classes;
	return (int)((wanted + tiles - 1) / tiles);
}

/* All measurements: the runs of routines, and their results. */
struct measuring {
	heddle_runtime *rt;
	const struct heddle_config *config;
	const struct options *o;
	struct heddle_dense_problem *problems; /* owns */
	size_t n;
	struct passes passes;
};

static struct work work_of(const struct measuring *m, size_t i)
{
	struct work what = {.problem = m->problems[i], .repeat = 1, .keep_trace = 1};
	return what;
}

/* Runs one of the problems once; to warm up, so often that the models know its kernels. */
static int run_problem(struct measuring *m, size_t i, int warm_up)
{
	struct work what = work_of(m, i);
	const struct heddle_dense_problem *p = &what.problem;
	struct outcome outcome;
	int status = application_check_memory(&what);
	if (warm_up)
		what.repeat = repetitions(m->config, heddle_runtime_platform(m->rt), p->n, p->options.tile);
	if (!status)
		status = application_run_on(m->rt, &what, &outcome);
	if (status)
		return status;
	if (warm_up)
		printf("%s %s, tile %4zu, n %5zu: %8.2f Gflop/s\n", p->routine,
		       p->precision == HEDDLE_DENSE_SINGLE ? "single" : "double", p->options.tile, p->n,
		       outcome.gflops);
	else
		passes_add(&m->passes, i, outcome.trace);
	fflush(stdout);
	outcome_free(&outcome);
	return TOOL_OK;
}

/* Adds a routine in both precisions, on tiles of all sizes; routines of QR with each tree that has different kernels.
 */
static void add_routine(struct measuring *m, const struct heddle_dense_routine *routine)
{
	static const enum heddle_dense_precision precisions[] = {HEDDLE_DENSE_DOUBLE, HEDDLE_DENSE_SINGLE};
	static const enum heddle_dense_tree trees[] = {HEDDLE_DENSE_FLAT, HEDDLE_DENSE_GREEDY};
	size_t n_trees = strstr(routine->codelets, "ttqrt") ? 2 : 1, n = 2 * n_trees * m->o->n_tiles;
	m->problems = tool_realloc(m->problems, (m->n + n) * sizeof *m->problems);
	for (size_t i = 0; i < n; i++) {
		size_t tile = (size_t)m->o->tiles[i / 2 / n_trees];
		size_t order = m->o->n ? m->o->n : tile * 5 > 4096 ? tile * 5 : 4096;
		struct heddle_dense_problem *problem = &m->problems[m->n++];
		*problem = (struct heddle_dense_problem){.routine = routine->name, .precision = precisions[i % 2]};
		problem->n = order - order % tile; /* only whole tiles, so that no other sizes are measured */
		problem->options.tile = tile;
		problem->options.layout = HEDDLE_DENSE_TILED;
		problem->options.tree = trees[i / 2 % n_trees];
	}
}

/* Whether the routine calls a codelet that is not in the text. */
static int has_others(const struct heddle_dense_routine *routine, const char *known)
{
	char *codelets = tool_format("%s", routine->codelets);
	int others = 0;
	for (char *c = strtok(codelets, " "); c; c = strtok(NULL, " ")) {
		char *word = tool_format(" %s ", c);
		others |= strstr(known, word) == NULL;
		free(word);
	}
	free(codelets);
	return others;
}

/* Whether the routine is to be measured. `known`: the codelets of the routines chosen so far, with blanks around
 * each. */
static int is_wanted(const struct heddle_dense_routine *routine, const struct options *o, const char *known)
{
	if (strcmp(o->routines, "all") == 0)
		return has_others(routine, known);
	for (const char *at = o->routines; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		char *name = tool_format("%.*s", (int)strcspn(at, ","), at);
		int same = heddle_dense_routine_find(name) == routine;
		free(name);
		if (same)
			return 1;
	}
	return 0;
}

static void choose_problems(struct measuring *m)
{
	const struct heddle_dense_routine *routine;
	char *known = tool_format(" ");
	for (size_t i = 0; (routine = heddle_dense_routine_at(i)); i++) {
		if (!is_wanted(routine, m->o, known))
			continue;
		add_routine(m, routine);
		char *longer = tool_format("%s%s ", known, routine->codelets);
		free(known);
		known = longer;
	}
	free(known);
}

/* One pass over the problems whose passes do not agree yet. *open becomes the number of these problems. */
static int run_pass(struct measuring *m, size_t pass, double until, size_t *open)
{
	int status = TOOL_OK;
	double begun = tool_wall_clock();
	*open = 0;
	for (size_t i = 0; i < m->n && !status; i++) {
		int late = passes_count(&m->passes, i) >= LEAST_PASSES && tool_wall_clock() > until;
		if (late || passes_agree(&m->passes, i, LEAST_PASSES, m->o->within))
			continue;
		++*open;
		char *text = tool_progress_text((double)i, (double)m->n, "problems", tool_wall_clock() - begun);
		tool_progress("pass %zu: %s", pass, text);
		free(text);
		status = run_problem(m, i, 0);
	}
	return status;
}

static int by_share(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Reports how well the passes agree. */
static void report_passes(const struct measuring *m)
{
	double *intervals = tool_alloc((m->n + 1) * sizeof *intervals);
	size_t most = 0, beyond = 0;
	for (size_t i = 0; i < m->n; i++) {
		intervals[i] = 100 * passes_interval(&m->passes, i);
		most = passes_count(&m->passes, i) > most ? passes_count(&m->passes, i) : most;
		beyond += intervals[i] > 100 * m->o->within;
	}
	if (m->n) {
		qsort(intervals, m->n, sizeof *intervals, by_share);
		printf("up to %zu passes; 95 %% confidence interval of the kernels of a size: median +- %.1f %%, "
		       "+- %.1f %% at most\n",
		       most, intervals[m->n / 2], intervals[m->n - 1]);
	}
	if (beyond)
		printf("%zu of %zu sizes are not within +- %.3g %%: the machine was not quiet, or --seconds was too "
		       "short\n",
		       beyond, m->n, 100 * m->o->within);
	double drift = passes_drift(&m->passes);
	if (drift > LITTLE)
		printf("this machine's speed changed by %.0f %% while it was measured\n", 100 * drift);
	free(intervals);
}

/* Makes the passes. A pass measures all sizes in turn, so that a phase in which the machine is slower affects all
 * sizes. */
static int measure(struct measuring *m)
{
	int status = TOOL_OK;
	size_t open = 1;
	double until = tool_wall_clock() + m->o->seconds;
	passes_init(&m->passes, m->n);
	for (size_t i = 0; i < m->n && !status; i++)
		status = run_problem(m, i, 1);
	for (size_t pass = 1; pass <= MOST_PASSES && open && !status; pass++)
		status = run_pass(m, pass, until, &open);
	tool_progress_end();
	if (!status)
		report_passes(m);
	return status;
}

/* Describes this machine as measured: kernels, and links, which are measured now, because nothing else uses them. */
static int describe(heddle_runtime *rt, const char *path, struct heddle_platform **out)
{
	char *name = platform_name(path);
	int status = heddle_platform_measured(rt, name, out);
	free(name);
	if (status)
		return tool_start_error("cannot describe this machine");
	if (hd_calibrate_links(rt, *out)) {
		heddle_platform_free(*out);
		return tool_library_error("cannot measure the links of this machine");
	}
	free((*out)->source);
	(*out)->source = calibration_source(*out);
	return TOOL_OK;
}

/* Measures how streams share devices, and writes the platform. */
static int write_platform(const struct heddle_config *config, const struct options *o, const char *path,
                          struct heddle_platform *platform)
{
	struct heddle_config c = *config;
	const char *kind;
	int status = TOOL_OK;
	for (size_t i = 0; !status && calibration_streams(&c, i, &kind); i++)
		status = calibrate_sharing(config, kind, (size_t)o->tiles[o->n_tiles / 2], platform);
	if (!status && heddle_platform_save(platform, path))
		status = tool_library_error("the platform was not written");
	if (!status)
		printf("%s: %zu workers, %zu links, %zu buses, %zu kernel times\n", path, platform->n_workers,
		       platform->n_links, platform->n_buses, platform->n_kernels);
	return status;
}

/* The problem that shows how good a prediction is: double precision, with a tile of about 256. */
static size_t typical(const struct measuring *m)
{
	size_t best = 0;
	for (size_t i = 0; i < m->n; i++) {
		double far = fabs(log((double)m->problems[i].options.tile / 256)),
		       before = fabs(log((double)m->problems[best].options.tile / 256));
		if (m->problems[i].precision == HEDDLE_DENSE_DOUBLE && far < before)
			best = i;
	}
	return best;
}

/* Reports the result of the check. It holds only for runs that differ from the check in their size alone. */
static void report_check(const struct measuring *m, const struct work *what, double predicted,
                         const struct outcome *real)
{
	double off = predicted / real->seconds - 1;
	double within =
	    passes_prediction(&m->passes, typical(m), real->deviation / real->seconds, (size_t)what->repeat, off);
	printf("check: %s double, tile %zu, n %zu, under lws: predicted %.2f ms, measured %.2f (median of %d: %.2f to "
	       "%.2f): %.1f %% too %s%s\n",
	       what->problem.routine, what->problem.options.tile, what->problem.n, 1e3 * predicted, 1e3 * real->seconds,
	       what->repeat, 1e3 * real->min_seconds, 1e3 * real->max_seconds, 100 * fabs(off),
	       off < 0 ? "short" : "long",
	       fabs(off) > LITTLE ? "; beyond 5 %, calibrate again on a quiet machine" : "");
	printf("of 100 such runs, 95 should be within +- %.1f %% of their prediction, if the machine stays as it was\n",
	       100 * within);
}

/* Runs the problem on this machine, and simulates it on the measured platform. */
static int verify(const struct measuring *m, const struct heddle_platform *platform)
{
	enum { RUNS = 5 };
	struct heddle_config config = *m->config;
	struct work what = work_of(m, typical(m));
	struct outcome real, simulated;
	config.sched = "lws";
	config.sched_options = NULL;
	what.keep_trace = 0;
	int status = work_sim(&config, platform, &what, &simulated);
	if (status)
		return status;
	what.repeat = RUNS;
	status = application_run(&config, &what, &real);
	if (!status) {
		report_check(m, &what, simulated.seconds, &real);
		outcome_free(&real);
	}
	outcome_free(&simulated);
	return status;
}

/* Measures kernels one at a time, on one stream, then replaces the models in the directory `models`. The models are
 * replaced last, so that an interruption leaves the old models unchanged. */
static int calibrate(const struct options *o, struct heddle_config *config, const char *path, const char *models)
{
	struct heddle_platform *platform = NULL;
	heddle_runtime *rt;
	const char *kind;
	int *streams;
	config->platform = NULL;
	if (models)
		config->model_dir = "none";
	struct heddle_config alone = *config;
	for (size_t i = 0; (streams = calibration_streams(&alone, i, &kind)); i++)
		*streams = 1;
	alone.trace = 1;
	if (heddle_start(&alone, &rt))
		return tool_start_error("cannot start the runtime");
	struct measuring m = {.rt = rt, .config = config, .o = o};
	choose_problems(&m);
	int status = measure(&m);
	if (!status)
		status = describe(rt, path, &platform);
	if (!status)
		passes_apply(&m.passes, platform);
	if (!status && models && heddle_models_save_to(rt, models))
		status = tool_library_error("the models were not written");
	tool_warn_models(rt);
	if (heddle_stop(rt) && !status)
		status = tool_library_error("cannot stop the runtime");
	if (!status)
		status = write_platform(config, o, path, platform);
	if (!status && m.n)
		status = verify(&m, platform);
	heddle_platform_free(platform);
	passes_free(&m.passes);
	free(m.problems);
	return status;
}

static int check_routines(const struct options *o)
{
	const struct heddle_dense_routine *routine;
	const char *names[64];
	size_t n = 0;
	for (; n < 64 && (routine = heddle_dense_routine_at(n)); n++)
		names[n] = routine->name;
	int status = TOOL_OK;
	for (const char *at = strcmp(o->routines, "all") ? o->routines : NULL; at && !status;
	     at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		char *name = tool_format("%.*s", (int)strcspn(at, ","), at);
		if (!heddle_dense_routine_find(name))
			status = tool_unknown("routine", name, names, n);
		free(name);
	}
	return status;
}

static int check_tiles(const struct options *o)
{
	for (size_t i = 0; o->n && i < o->n_tiles; i++)
		if ((size_t)o->tiles[i] > o->n)
			return tool_usage_error("--tiles has %ld: it must be at most --n, %zu", o->tiles[i], o->n);
	return TOOL_OK;
}

int tool_calibrate(int argc, char **argv)
{
	struct options o = {
	    .output = "this",
	    .routines = "potrf",
	    .tiles = {64, 96, 128, 192, 256, 320, 384, 512, 640, 768, 960},
	    .n_tiles = 11,
	    .seconds = 60,
	    .within = 0.02,
	};
	struct heddle_config config;
	int status = tool_parse(&argp, argc, argv, &o);
	if (!status)
		status = check_tiles(&o);
	if (!status)
		status = check_routines(&o);
	if (!status)
		status = tool_config_init(&config, &o.settings);
	if (status)
		return status;
	tool_machine_apply(&o.machine, &config);
	char *path = output_path(o.output);
	if (!path)
		return tool_failure("neither XDG_DATA_HOME nor HOME is set: give --output a file");
	char *models = models_to_replace(&o, &config);
	status = check_output(o.output, path);
	if (!status && models)
		status = check_models(models);
	if (!status)
		status = calibrate(&o, &config, path, models);
	free(models);
	free(path);
	return status;
}
