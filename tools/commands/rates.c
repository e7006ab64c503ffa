/* heddle platforms show NAME: the rates of the kernels of a dense library on each class of workers, over the order of
 * the tile. */
#include "shared/experiment.h"
#include <heddle/chart.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TILES = 32, CURVE_POINTS = 17 };

struct options {
	const char *name, *kernels, *output, *clusters;
	char precision;
	long tiles[MAX_TILES];
	size_t n_tiles;
	enum table_format format;
};

static const struct argp_option options[] = {
    {"precision", 'r', "d|s|z|c", 0, "Double, single, complex double or complex single precision (default d)", 0},
    {"kernels", 'k', "LIST", 0, "Kernels, without the letter of the precision: gemm,trsm (default: all)", 0},
    {"tiles", 't', "LIST", 0, "Orders of the tiles (default 240,480,960,1920)", 0},
    {"output", 'o', "PICTURE", 0, "Draw the rates: .png, .svg or .pdf", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->format;
		state->child_inputs[1] = &o->clusters;
		return 0;
	case 'r':
		if (!arg[0] || arg[1] || !strchr("dszc", arg[0]))
			tool_option_error(state, "--precision is \"%s\": it must be d, s, z or c", arg);
		o->precision = arg[0];
		return 0;
	case 'k': o->kernels = arg; return 0;
	case 't':
		o->n_tiles = tool_ints(state, "--tiles", arg, (const long[]){1, 1000000}, o->tiles, MAX_TILES);
		return 0;
	case 'o': o->output = arg; return 0;
	case ARGP_KEY_ARG:
		if (o->name)
			tool_option_error(state, "one platform at a time: \"%s\" is too much", arg);
		o->name = arg;
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&tool_format_argp, 0, NULL, 0}, {&tool_clusters_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "NAME|FILE",
    .doc = "The rates of the kernels of a dense library on each class of workers of a machine, in operations on "
           "real numbers per second, over the order of the tiles.\v"
           "getrf_panel is that of a column of ten tiles. Kernels without operations are not shown.",
};

/* --- Kernels on tiles --------------------------------------------------------------------------------------------- */

/* A kernel on square tiles of order b. */
struct tile_kernel {
	const char *name; /* without the letter of the precision */
	double thirds;    /* operations on real matrices, in units of b^3 / 3, without lower powers of b */
	double tiles;     /* tiles that a task works on */
	/* 1: the kernel also uses a matrix of INNER x b, the triangular factors of block reflectors */
	int reflectors;
};

#define INNER 32.0 /* the default of `heddle run` */
#define COLUMN 10  /* tiles in the column that getrf_panel factorises */

static const struct tile_kernel tile_kernels[] = {
    {"gemm", 6, 3, 0},  {"symm", 6, 3, 0},   {"hemm", 6, 3, 0},        {"syrk", 3, 2, 0},
    {"herk", 3, 2, 0},  {"trsm", 3, 2, 0},   {"trmm", 3, 2, 0},        {"potrf", 1, 1, 0},
    {"trtri", 1, 1, 0}, {"lauum", 1, 1, 0},  {"getrf_nopiv", 2, 1, 0}, {"getrf_panel", 3 * COLUMN - 1, COLUMN, 0},
    {"geqrt", 4, 1, 1}, {"gemqrt", 6, 2, 1}, {"tsqrt", 6, 2, 1},       {"tsmqr", 12, 3, 1},
    {"ttqrt", 2, 2, 1}, {"ttmqr", 6, 3, 1},
};
enum { N_KERNELS = sizeof tile_kernels / sizeof *tile_kernels };

static double flops_of(const struct tile_kernel *kernel, char precision, double tile)
{
	int is_complex = precision == 'z' || precision == 'c';
	return kernel->thirds * tile * tile * tile / 3 * (is_complex ? 4 : 1);
}

static double bytes_of(const struct tile_kernel *kernel, char precision, double tile)
{
	double element = precision == 'z' ? 16 : precision == 's' ? 4 : 8;
	return element * (kernel->tiles * tile * tile + kernel->reflectors * fmin(tile, INNER) * tile);
}

/* A line of the chart, rows of the tables: one kernel on one class. */
struct line {
	const struct tile_kernel *kernel;
	char *codelet;
	unsigned class_id;
};

struct lines {
	const struct heddle_platform *platform;
	char precision;
	struct line *list;
	size_t n;
};

static double time_of(const struct lines *lines, const struct line *line, double tile)
{
	return heddle_platform_time(lines->platform, line->codelet, line->class_id,
	                            bytes_of(line->kernel, lines->precision, tile),
	                            flops_of(line->kernel, lines->precision, tile));
}

/* Gflop/s, NAN where there is no time. */
static double rate_of(const struct lines *lines, const struct line *line, double tile)
{
	return flops_of(line->kernel, lines->precision, tile) / time_of(lines, line, tile) * 1e-3;
}

/* Whether the comma-separated list contains the kernel; NULL: it contains all. */
static int is_wanted(const char *list, const char *kernel)
{
	if (!list)
		return 1;
	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (strlen(kernel) == strcspn(at, ",") && strncmp(at, kernel, strlen(kernel)) == 0)
			return 1;
	return 0;
}

static void find_lines(struct lines *lines, const char *kernels)
{
	lines->list = tool_alloc(N_KERNELS * lines->platform->n_classes * sizeof *lines->list);
	for (size_t k = 0; k < N_KERNELS; k++) {
		for (unsigned c = 0; c < lines->platform->n_classes; c++) {
			struct line line = {.kernel = &tile_kernels[k], .class_id = c};
			line.codelet = tool_format("%c%s", lines->precision, tile_kernels[k].name);
			if (is_wanted(kernels, tile_kernels[k].name) && !isnan(time_of(lines, &line, 960)))
				lines->list[lines->n++] = line;
			else
				free(line.codelet);
		}
	}
}

/* TOOL_OK, or a message that names the first unknown kernel of --kernels. */
static int check_kernels(const char *list)
{
	const char *names[N_KERNELS];
	for (size_t k = 0; k < N_KERNELS; k++)
		names[k] = tile_kernels[k].name;
	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		char *word = tool_format("%.*s", (int)strcspn(at, ","), at);
		size_t k = 0;
		while (k < N_KERNELS && strcmp(word, names[k]) != 0)
			k++;
		int status = k < N_KERNELS ? TOOL_OK : tool_unknown("kernel", word, names, N_KERNELS);
		free(word);
		if (status)
			return status;
	}
	return TOOL_OK;
}

/* --- Tables and the chart ----------------------------------------------------------------------------------------- */

/* For people: a row per kernel and class, a column per tile. */
static void print_grid(const struct lines *lines, const struct options *o)
{
	struct table_column columns[2 + MAX_TILES] = {
	    {"codelet", NULL, NULL, TABLE_AS_TEXT},
	    {"class", NULL, NULL, TABLE_AS_TEXT},
	};
	char titles[MAX_TILES][16];
	struct table table, *tables[] = {&table};
	for (size_t t = 0; t < o->n_tiles; t++) {
		snprintf(titles[t], sizeof titles[t], "%ld", o->tiles[t]);
		columns[2 + t] = (struct table_column){titles[t], NULL, NULL, 1};
	}
	table_init(&table, "rates", "Gflop/s on tiles of order", columns, 2 + o->n_tiles);
	for (size_t i = 0; i < lines->n; i++) {
		table_text(&table, "%s", lines->list[i].codelet);
		table_text(&table, "%s", lines->platform->classes[lines->list[i].class_id].name);
		for (size_t t = 0; t < o->n_tiles; t++)
			table_number(&table, rate_of(lines, &lines->list[i], (double)o->tiles[t]));
	}
	table_print(stdout, TABLE_TEXT, tables, 1);
	table_free(&table);
}

/* For programs: a row per kernel, class and tile. */
static void print_rows(const struct lines *lines, const struct options *o)
{
	static const struct table_column columns[] = {
	    {"codelet", NULL, NULL, TABLE_AS_TEXT},
	    {"class", NULL, NULL, TABLE_AS_TEXT},
	    {"tile", NULL, NULL, 0},
	    {"mean_us", NULL, "us", 1},
	    {"rate_gflops", NULL, "Gflop/s", 2},
	};
	struct table table, *tables[] = {&table};
	table_init(&table, "rates", NULL, columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < lines->n; i++) {
		for (size_t t = 0; t < o->n_tiles; t++) {
			table_text(&table, "%s", lines->list[i].codelet);
			table_text(&table, "%s", lines->platform->classes[lines->list[i].class_id].name);
			table_number(&table, (double)o->tiles[t]);
			table_number(&table, time_of(lines, &lines->list[i], (double)o->tiles[t]));
			table_number(&table, rate_of(lines, &lines->list[i], (double)o->tiles[t]));
		}
	}
	table_print(stdout, o->format, tables, 1);
	table_free(&table);
}

/* Draws a line per kernel and class from the smallest tile to the largest, in equal steps of the logarithm. */
static int draw(const struct lines *lines, const struct options *o)
{
	double low = (double)o->tiles[0], high = low, x[CURVE_POINTS];
	for (size_t t = 1; t < o->n_tiles; t++) {
		low = fmin(low, (double)o->tiles[t]);
		high = fmax(high, (double)o->tiles[t]);
	}
	for (size_t i = 0; i < CURVE_POINTS; i++)
		x[i] = low * pow(high / low, (double)i / (CURVE_POINTS - 1));
	double *y = tool_alloc(lines->n * CURVE_POINTS * sizeof *y);
	struct heddle_chart_series *series = tool_alloc(lines->n * sizeof *series);
	for (size_t l = 0; l < lines->n; l++) {
		const struct line *line = &lines->list[l];
		for (size_t i = 0; i < CURVE_POINTS; i++)
			y[l * CURVE_POINTS + i] = rate_of(lines, line, x[i]);
		char *name = tool_format("%s %s", line->codelet, lines->platform->classes[line->class_id].name);
		series[l] = (struct heddle_chart_series){name, x, y + l * CURVE_POINTS, CURVE_POINTS, 1};
	}
	char *title = tool_format("Rates of kernels on %s", lines->platform->name);
	const struct heddle_chart chart = {.title = title,
	                                   .x_label = "order of the tile",
	                                   .y_label = "Gflop/s",
	                                   .log_x = 1,
	                                   .log_y = 1,
	                                   .width = 900,
	                                   .height = 640,
	                                   .series = series,
	                                   .n_series = lines->n};
	int status = heddle_chart_lines(&chart, o->output) ? tool_library_error("the chart was not drawn") : TOOL_OK;
	for (size_t l = 0; l < lines->n; l++)
		free((char *)(uintptr_t)series[l].name);
	free(title);
	free(series);
	free(y);
	return status;
}

static int show(const struct heddle_platform *platform, const struct options *o)
{
	struct lines lines = {.platform = platform, .precision = o->precision};
	find_lines(&lines, o->kernels);
	int status = TOOL_OK;
	if (lines.n == 0)
		status =
		    tool_failure("platform %s has no times for %s in precision %c; `heddle platforms %s` lists those "
		                 "it has",
		                 platform->name, o->kernels ? o->kernels : "kernels on tiles", o->precision, o->name);
	else if (o->format == TABLE_TEXT)
		print_grid(&lines, o);
	else
		print_rows(&lines, o);
	if (!status && o->output)
		status = draw(&lines, o);
	for (size_t i = 0; i < lines.n; i++)
		free(lines.list[i].codelet);
	free(lines.list);
	return status;
}

int tool_rates(int argc, char **argv)
{
	struct options o = {.precision = 'd', .tiles = {240, 480, 960, 1920}, .n_tiles = 4};
	struct heddle_platform *platform;
	int status = tool_parse(&argp, argc, argv, &o);
	if (!status && !o.name)
		status = tool_usage_error("heddle platforms show needs a platform; `heddle platforms` lists them");
	if (!status && o.output && !summary_is_picture(o.output))
		status = tool_usage_error("--output is \"%s\": it must end in .png, .svg or .pdf", o.output);
	if (!status)
		status = check_kernels(o.kernels);
	if (!status && o.output)
		status = tool_check_writable(o.output);
	if (!status)
		status = tool_open_platform(o.name, o.clusters, &platform);
	if (status)
		return status;
	status = show(platform, &o);
	heddle_platform_free(platform);
	return status;
}
