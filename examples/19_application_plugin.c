/* A plug-in with an application: heat that spreads along a rod, cut into blocks of cells.
 *
 *   cc -shared -fPIC 19_application_plugin.c -o stencil.so $(pkg-config --cflags --libs heddle) -lm
 *   heddle --plugin ./stencil.so run stencil --n 1000000 --steps 100
 *   heddle --plugin ./stencil.so compare stencil:n=1e6,steps=20 cholesky -p haswell-k40m */
#include <heddle.h>
#include <heddle/plugin.h>
#include <math.h>
#include <stdlib.h>

struct options {
	size_t n, tile, steps;
	double rate;
};

#define SIZE(name, value, help)                                                                                \
	{                                                                                                      \
#name, HEDDLE_PARAMETER_SIZE, offsetof(struct options, name), value, help, 1, 1e12, NULL, 0, 1 \
	}
static const struct heddle_parameter parameters[] = {
    SIZE(n, "1000000", "Cells of the rod"),
    SIZE(tile, "10000", "Cells of a block"),
    SIZE(steps, "10", "Steps in time"),
    {"rate", HEDDLE_PARAMETER_REAL, offsetof(struct options, rate), "0.25", "Heat that a cell hands on in a step", 0,
     0.5, NULL, 0, 0},
    {.name = NULL},
};

struct rod {
	struct options o;
	heddle_runtime *rt;
	heddle_codelet *step;
	size_t n_blocks;
	double *cells;       /* the rod before and after a step; NULL in virtual time */
	heddle_data **block; /* block[b + n_blocks * (t % 2)]: block b after t steps */
};

/* One block: the new cells, the old ones, then the old blocks to the left and to the right, if there are any. */
static int step_kernel(heddle_context *c)
{
	double *next = heddle_ptr(c, 0), rate = heddle_get(c, 0, double);
	const double *old = heddle_ptr(c, 1);
	int sides = heddle_get(c, 1, int), left = sides & 1, right = sides >> 1;
	size_t n = heddle_extent(c, 0, 0);
	double before = left ? ((double *)heddle_ptr(c, 2))[heddle_extent(c, 2, 0) - 1] : 0;
	double after = right ? *(double *)heddle_ptr(c, left ? 3 : 2) : 0;
	for (size_t i = 0; i < n; i++) {
		double up = i + 1 < n ? old[i + 1] : after, down = i > 0 ? old[i - 1] : before;
		next[i] = old[i] + rate * (up - 2 * old[i] + down);
	}
	return 0;
}

/* In virtual time: 10 GB/s for the first class of workers, the cores, and 200 GB/s for others. */
static double step_time(const struct heddle_size *size, unsigned class_id)
{
	return size->bytes / (class_id == 0 ? 10e3 : 200e3);
}

static int submit_block(const struct rod *rod, size_t b, size_t t)
{
	heddle_data **old = rod->block + rod->n_blocks * (t % 2), **next = rod->block + rod->n_blocks * ((t + 1) % 2);
	int left = b > 0, right = b + 1 < rod->n_blocks, sides = left | right << 1;
	struct heddle_item items[8] = {heddle_call(rod->step), heddle_value(rod->o.rate), heddle_value(sides),
	                               heddle_w(next[b]), heddle_r(old[b])};
	size_t n = 5;
	if (left)
		items[n++] = heddle_r(old[b - 1]);
	if (right)
		items[n++] = heddle_r(old[b + 1]);
	return heddle_submit_items(rod->rt, n, items);
}

static int submit(void *state)
{
	struct rod *rod = state;
	int status = 0;
	for (size_t t = 0; t < rod->o.steps; t++)
		for (size_t b = 0; b < rod->n_blocks && !status; b++)
			status = submit_block(rod, b, t);
	return status;
}

static int open_rod(const struct heddle_application *app, heddle_runtime *rt, int simulated, const void *p,
                    void **state)
{
	struct rod *rod = *state = calloc(1, sizeof *rod); /* `close` is called even after an error */
	(void)app;
	if (!rod)
		return heddle_error(HEDDLE_E_MEMORY, "no memory for a rod");
	rod->o = *(const struct options *)p;
	rod->rt = rt;
	size_t n = rod->o.n, tile = rod->o.tile;
	rod->n_blocks = (n + tile - 1) / tile;
	rod->block = calloc(2 * rod->n_blocks, sizeof(heddle_data *));
	if (!simulated)
		rod->cells = calloc(2 * n, sizeof *rod->cells);
	if (!rod->block || (!simulated && !rod->cells))
		return heddle_error(HEDDLE_E_MEMORY, "no memory for a rod of %zu cells", n);
	rod->step = heddle_codelet_new(rt, .name = "stencil_step", .cpu = step_kernel, .time = step_time,
	                               .model = simulated ? HEDDLE_MODEL_GIVEN : HEDDLE_MODEL_HISTORY);
	int status = rod->step ? 0 : HEDDLE_E_INVALID;
	for (size_t i = 0; i < 2 * rod->n_blocks && !status; i++) {
		size_t first = i % rod->n_blocks * tile, length = n - first < tile ? n - first : tile;
		double *cells = simulated ? NULL : rod->cells + i / rod->n_blocks * n + first;
		status = heddle_vector(rt, cells, length, sizeof(double), &rod->block[i]);
	}
	return status;
}

/* Heat in the form of half a wave: each step of the scheme multiplies it by the same factor. */
static double heat(const struct rod *rod, size_t i, size_t steps)
{
	double angle = acos(-1) / ((double)rod->o.n + 1), factor = 1 - 2 * rod->o.rate * (1 - cos(angle));
	return sin((double)(i + 1) * angle) * pow(factor, (double)steps);
}

/* Calls `f` for each cell of the rod after `steps` steps; the program may look at them meanwhile. */
static int each_cell(struct rod *rod, size_t steps, enum heddle_mode mode,
                     void (*f)(const struct rod *rod, size_t i, double *cell, double *sum), double *sum)
{
	int status = 0;
	for (size_t b = 0; b < rod->n_blocks && !status; b++) {
		heddle_data *block = rod->block[b + rod->n_blocks * (steps % 2)];
		struct heddle_part part;
		status = heddle_acquire(block, mode);
		if (status)
			return status;
		status = heddle_data_part(block, 0, &part);
		for (size_t i = 0; i < part.n[0] && !status; i++)
			f(rod, b * rod->o.tile + i, (double *)part.base + i, sum);
		heddle_release(block);
	}
	return status;
}

static void set_cell(const struct rod *rod, size_t i, double *cell, double *sum)
{
	(void)sum;
	*cell = heat(rod, i, 0);
}

static void compare_cell(const struct rod *rod, size_t i, double *cell, double *error)
{
	*error = fmax(*error, fabs(*cell - heat(rod, i, rod->o.steps)));
}

static int fill(void *state)
{
	return each_cell(state, 0, HEDDLE_W, set_cell, NULL);
}

static int check(void *state, double *residual)
{
	struct rod *rod = state;
	double error = 0;
	int status = each_cell(rod, rod->o.steps, HEDDLE_R, compare_cell, &error);
	*residual = error / (2.2e-16 * (double)rod->o.steps);
	return status;
}

static int close_rod(void *state)
{
	struct rod *rod = state;
	int status = 0;
	for (size_t i = 0; rod->block && i < 2 * rod->n_blocks; i++) {
		int ended = rod->block[i] ? heddle_unregister(rod->block[i]) : 0;
		status = status ? status : ended;
	}
	free(rod->block);
	free(rod->cells);
	free(rod);
	return status;
}

static double flops(const struct heddle_application *app, const void *p)
{
	const struct options *o = p;
	(void)app;
	return 5.0 * (double)o->n * (double)o->steps;
}

static double bytes(const struct heddle_application *app, const void *p)
{
	(void)app;
	return 2.0 * sizeof(double) * (double)((const struct options *)p)->n;
}

static const struct heddle_application stencil = {
    .abi = HEDDLE_APPLICATION_ABI,
    .name = "stencil",
    .summary = "heat along a rod",
    .parameters = parameters,
    .size = sizeof(struct options),
    .residual = "largest error / (steps eps)",
    .sound = 30,
    .flops = flops,
    .bytes = bytes,
    .open = open_rod,
    .fill = fill,
    .submit = submit,
    .check = check,
    .close = close_rod,
};

static int start(void)
{
	return heddle_application_register(&stencil);
}

const struct heddle_plugin heddle_plugin = {HEDDLE_PLUGIN_ABI, "stencil", "the application stencil", start};
