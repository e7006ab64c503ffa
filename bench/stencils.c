/* Records the stencils of bench/cells/cells.txt: three ways in which a program hands over the borders of its blocks.
 *
 *   stencils FOLDER
 *
 * Heat spreads along the bands of a plate. `ghost`: ghost rows lie in the bands, as in examples/26_ghost_rows.c, and
 * small tasks copy them; in `ghost-close` a GPU is not much faster than a core. `borders`: the first and the last row
 * of a band are data of their own. `halo`: bands are written by one plan and read with halos by another. Kernels move
 * so many MB/s on a core and on a GPU. */
#include <heddle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BANDS = 32, PARTS = 3, FIRST = 0, INSIDE, LAST };
enum { ROW = 1 << 16 }; /* bytes */

struct stencil {
	const char *name;
	int (*submit)(heddle_runtime *rt, const struct stencil *s);
	size_t bands, rows, steps; /* rows: of a band */
	double core, gpu;          /* MB/s */
};
static const struct stencil *now; /* whose times the codelets give */

static int never(heddle_context *c)
{
	return heddle_fail(c, 1, "a recorded kernel does not run");
}

static double band_time(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	return 2.0 * ROW * (double)now->rows / (class_id == 0 ? now->core : now->gpu);
}

/* A kernel on a GPU takes at least a launch. */
static double row_time(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	return 2.0 * ROW / (class_id == 0 ? now->core : now->gpu) + (class_id == 0 ? 1 : 5);
}

static heddle_codelet *codelet(heddle_runtime *rt, const char *name,
                               double (*time)(const struct heddle_size *size, unsigned class_id))
{
	return heddle_codelet_new(rt, .name = name, .cpu = never, .cuda = never, .time = time,
	                          .model = HEDDLE_MODEL_GIVEN);
}

/* --- Ghost rows in the bands -------------------------------------------------------------------------------------- */

static int submit_ghost(heddle_runtime *rt, const struct stencil *s)
{
	heddle_codelet *step = codelet(rt, "heat", band_time), *copy = codelet(rt, "ghost row", row_time);
	heddle_data *band[2][MOST_BANDS];
	int status = step && copy ? 0 : -1;
	for (size_t i = 0; i < 2 * s->bands && !status; i++)
		status = heddle_vector(rt, NULL, s->rows + 2, ROW, &band[i % 2][i / 2]);
	for (size_t t = 0; t < s->steps && !status; t++) {
		heddle_data **old = band[t % 2], **next = band[(t + 1) % 2];
		for (size_t b = 0; b < s->bands && !status; b++) {
			if (b > 0)
				status = heddle_submit(rt, heddle_call(copy), heddle_rw(old[b]), heddle_r(old[b - 1]));
			if (b + 1 < s->bands && !status)
				status = heddle_submit(rt, heddle_call(copy), heddle_rw(old[b]), heddle_r(old[b + 1]));
		}
		for (size_t b = 0; b < s->bands && !status; b++)
			status = heddle_submit(rt, heddle_call(step), heddle_rw(next[b]), heddle_r(old[b]));
	}
	return status;
}

/* --- Borders that are data of their own --------------------------------------------------------------------------- */

static int submit_borders(heddle_runtime *rt, const struct stencil *s)
{
	heddle_codelet *step = codelet(rt, "heat", band_time);
	heddle_data *band[2][MOST_BANDS][PARTS];
	int status = step ? 0 : -1;
	for (size_t i = 0; i < 2 * s->bands * PARTS && !status; i++) {
		size_t part = i % PARTS;
		status = heddle_vector(rt, NULL, part == INSIDE ? s->rows - 2 : 1, ROW,
		                       &band[i / PARTS % 2][i / PARTS / 2][part]);
	}
	for (size_t k = 0; k < s->steps * s->bands && !status; k++) {
		size_t b = k % s->bands, t = k / s->bands;
		heddle_data *(*old)[PARTS] = band[t % 2], *(*next)[PARTS] = band[(t + 1) % 2];
		struct heddle_item items[9] = {heddle_call(step)};
		size_t n = 1;
		for (size_t part = 0; part < PARTS; part++) {
			items[n++] = heddle_w(next[b][part]);
			items[n++] = heddle_r(old[b][part]);
		}
		if (b > 0)
			items[n++] = heddle_r(old[b - 1][LAST]);
		if (b + 1 < s->bands)
			items[n++] = heddle_r(old[b + 1][FIRST]);
		status = heddle_submit_items(rt, n, items);
	}
	return status;
}

/* --- Halos -------------------------------------------------------------------------------------------------------- */

static int submit_halo(heddle_runtime *rt, const struct stencil *s)
{
	const struct heddle_filter halos = {.kind = HEDDLE_SPLIT_HALO, .nx = s->bands, .halo = 1},
	                           blocks = {.kind = HEDDLE_SPLIT_VECTOR, .nx = s->bands};
	static char plates[2][MOST_BANDS * 512]; /* never touched; one element stands for a row */
	heddle_codelet *step = codelet(rt, "heat", band_time);
	heddle_data *plate[2];
	heddle_plan *read[2], *write[2];
	int status = step ? 0 : -1;
	for (int i = 0; i < 2 && !status; i++) {
		status = heddle_vector(rt, plates[i], s->bands * s->rows, ROW, &plate[i]);
		status = status ? status : heddle_plan_create(plate[i], &halos, &read[i]);
		status = status ? status : heddle_plan_create(plate[i], &blocks, &write[i]);
	}
	for (size_t k = 0; k < s->steps * s->bands && !status; k++) {
		size_t b = k % s->bands, t = k / s->bands;
		status = heddle_submit(rt, heddle_call(step), heddle_w(heddle_plan_child(write[(t + 1) % 2], b)),
		                       heddle_r(heddle_plan_child(read[t % 2], b)));
	}
	return status;
}

/* --- Recording ---------------------------------------------------------------------------------------------------- */

static const struct stencil stencils[] = {
    {"ghost", submit_ghost, 16, 256, 20, 5000, 200000},
    {"ghost-close", submit_ghost, 8, 256, 30, 10000, 60000},
    {"borders", submit_borders, 24, 256, 20, 5000, 200000},
    {"halo", submit_halo, 16, 256, 16, 8000, 150000},
};

/* Graphs are for any machine: the class of its GPUs gets the name of their kind. */
static void rename_class(struct heddle_graph *graph)
{
	for (size_t c = 0; c < graph->n_classes; c++)
		if (strcmp(graph->classes[c], "k40m") == 0)
			memcpy(graph->classes[c], "cuda", sizeof "cuda");
}

static int record(const struct stencil *s, const struct heddle_platform *platform, const char *folder)
{
	struct heddle_config config;
	heddle_runtime *rt;
	struct heddle_graph *graph;
	char path[4096];
	now = s;
	snprintf(path, sizeof path, "%s/stencil-%s.json", folder, s->name);
	int status = heddle_config_init(&config);
	config.trace = 1;
	config.sched = "eager";
	config.model_dir = "none";
	status = status ? status : heddle_start_on(&config, platform, 1, &rt);
	if (status)
		return status;
	status = s->submit(rt, s);
	status = status ? status : heddle_wait_all(rt);
	status = status ? status : heddle_graph_record(rt, &graph);
	if (!status) {
		rename_class(graph);
		free(graph->name);
		graph->name = strdup(s->name);
		status = heddle_graph_save(graph, path);
		heddle_graph_free(graph);
	}
	heddle_stop(rt);
	return status;
}

int main(int argc, char **argv)
{
	struct heddle_platform *platform;
	if (argc != 2)
		return fprintf(stderr, "stencils FOLDER\n"), 2;
	int status = heddle_platform_load("gpu1-cpu6", &platform);
	for (size_t i = 0; i < sizeof stencils / sizeof *stencils && !status; i++)
		status = record(&stencils[i], platform, argv[1]);
	if (status)
		return fprintf(stderr, "%s\n", heddle_last_error()), 1;
	heddle_platform_free(platform);
	return 0;
}
