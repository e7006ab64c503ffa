/* heddle demo: shows in four steps what the library does. */
#include "shared/application_run.h"
#include "shared/comparison.h"
#include "shared/experiment.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct options {
	const char *directory;
	struct work real;     /* the factorisation on this machine */
	const char *platform; /* the machine that is simulated */
};

enum { REAL_TILE = 384, SIM_TILES = 20, SIM_TILE = 960 };

static const struct argp_option options[] = {
    {"output", 'o', "DIR", 0, "Where the pictures go (default: here)", 0},
    {"n", 'n', "N", 0, "Order of the matrix that is factorised for real (default 6144)", 0},
    {"tile", 'b', "B", 0, "Order of its tiles (default 384, and at most N)", 0},
    {"platform", 'p', "NAME|FILE", 0, "The machine that is simulated (default haswell-k40m)", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case 'o': o->directory = arg; return 0;
	case 'n': o->real.problem.n = (size_t)tool_int(state, "--n", arg, 1, 10000000); return 0;
	case 'b': o->real.problem.options.tile = (size_t)tool_int(state, "--tile", arg, 1, 10000000); return 0;
	case 'p': o->platform = arg; return 0;
	case ARGP_KEY_ARG: tool_option_error(state, "unexpected argument \"%s\"", arg); return EINVAL;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc = "Shows this machine, runs a Cholesky factorisation on it, then simulates the same program on a node "
           "with GPUs under every scheduling policy, and draws the best schedule.\v"
           "Exit status 1 if the residual is too large or a simulated time is below the lower bound.",
};

static void step(int number, const char *what)
{
	printf("%s%d. %s\n\n", number > 1 ? "\n" : "", number, what);
	fflush(stdout);
}

static int show_machine(const struct heddle_config *config)
{
	struct heddle_platform *platform;
	step(1, "This machine (heddle machine)");
	if (heddle_platform_configured(config, &platform))
		return tool_library_error("cannot describe this machine");
	tool_describe(platform, NULL, TABLE_TEXT);
	heddle_platform_free(platform);
	return TOOL_OK;
}

static int run_here(const struct heddle_config *config, const struct options *o)
{
	const struct heddle_dense_problem *p = &o->real.problem;
	struct outcome r;
	char *title = tool_format("A Cholesky factorisation on it (heddle run cholesky --n %zu --tile %zu)", p->n,
	                          p->options.tile);
	step(2, title);
	free(title);
	int status = application_check_memory(&o->real);
	if (!status)
		status = application_run(config, &o->real, &r);
	if (status)
		return status;
	printf("%.0f tasks in %.3f s under policy %s: %.1f Gflop/s in double precision, workers idle %.1f %% of the "
	       "time.\n",
	       r.tasks, r.seconds, r.policy, r.gflops, 100 * r.idle);
	if (!isnan(r.bounds.mixed))
		printf("With kernels this fast no schedule takes less than %.3f s: this one reaches %.1f %% of what is "
		       "possible.\n",
		       r.bounds.mixed * 1e-6, r.bounds.mixed * 1e-4 / r.seconds);
	int sound = r.residual < 10;
	printf("Residual |A - L L'| / (n |A| eps) = %.4f: %s (it must be less than 10).\n", r.residual,
	       sound ? "sound" : "NOT SOUND");
	outcome_free(&r);
	if (r.stopped)
		return r.stopped;
	return sound ? TOOL_OK : tool_failure("the residual is too large: the factor is wrong");
}

static int draw(const struct options *o, const struct outcome *best)
{
	static const char *const extensions[] = {"png", "svg"};
	int status = TOOL_OK;
	for (size_t i = 0; !status && i < 2; i++) {
		char *path = tool_format("%s/cholesky-%s.%s", o->directory, best->policy, extensions[i]);
		status = tool_check_writable(path);
		if (!status)
			status = summary_draw(best->trace, path, best->bounds.mixed);
		if (!status)
			printf("%s\n", path);
		free(path);
	}
	return status;
}

static void print_comparison(const struct comparison *c, const struct heddle_platform *platform,
                             const struct work *what)
{
	struct table problem, policies, *tables[] = {&problem, &policies};
	comparison_problem(c, platform, what, &problem);
	comparison_table(c, &policies);
	printf("%s\n\n", platform->description ? platform->description : platform->name);
	table_print(stdout, TABLE_TEXT, tables, 2);
	table_free(&problem);
	table_free(&policies);
}

static int compare(const struct heddle_config *config, const struct options *o, const struct heddle_platform *platform)
{
	struct work what = {
	    .name = "cholesky",
	    .problem = {.n = SIM_TILES * SIM_TILE, .options = {.tile = SIM_TILE}, .precision = HEDDLE_DENSE_SINGLE},
	    .repeat = 1,
	};
	struct comparison c;
	struct outcome best;
	int status = comparison_init(&c, "all");
	if (status)
		return status;
	struct heddle_config plain = *config;
	plain.sched_options = NULL; /* the policies have different options */
	status = comparison_run(&c, &plain, platform, &what);
	if (comparison_best(&c) < c.n)
		print_comparison(&c, platform, &what);
	if (!status)
		status = comparison_check(&c);
	if (!status) {
		step(4, "The best schedule, as a picture (heddle sim ... --gantt FILE)");
		status = comparison_best_again(&c, &plain, platform, &what, &best);
		best.bounds = c.bounds;
	}
	comparison_free(&c);
	if (status)
		return status;
	status = draw(o, &best);
	outcome_free(&best);
	return status;
}

static int simulate(const struct heddle_config *config, const struct options *o, const struct heddle_platform *platform)
{
	char *title = tool_format(
	    "The same program in virtual time (heddle sim cholesky --n %d --tile %d --precision s --platform %s "
	    "--sched all)",
	    SIM_TILES * SIM_TILE, SIM_TILE, o->platform);
	step(3, title);
	free(title);
	return compare(config, o, platform);
}

/* Checks at the beginning all conditions that would make a later step fail. */
static int prepare(struct options *o, struct heddle_config *config, struct heddle_platform **platform)
{
	struct tool_settings none = {.n = 0};
	struct heddle_dense_problem *p = &o->real.problem;
	if (p->options.tile == 0)
		p->options.tile = REAL_TILE < p->n ? REAL_TILE : p->n;
	const struct heddle_application *app = work_application(&o->real);
	if (app->settle(app, p))
		return tool_usage_error("%s", heddle_last_error());
	int status = tool_check_directory(o->directory, "cholesky");
	if (!status)
		status = tool_config_init(config, &none);
	return status ? status : tool_load_platform(o->platform, platform);
}

int tool_demo(int argc, char **argv)
{
	struct options o = {.directory = ".", .platform = "haswell-k40m"};
	o.real = (struct work){
	    .name = "cholesky",
	    .problem = {.n = 6144, .options = {.layout = HEDDLE_DENSE_TILED}},
	    .check = 1,
	    .repeat = 1,
	    .keep_trace = 1,
	};
	struct heddle_config config;
	struct heddle_platform *platform;
	int status = tool_parse(&argp, argc, argv, &o);
	if (!status)
		status = prepare(&o, &config, &platform);
	if (status)
		return status;
	status = show_machine(&config);
	if (!status)
		status = run_here(&config, &o);
	if (!status)
		status = simulate(&config, &o, platform);
	heddle_platform_free(platform);
	return status;
}
