/* cl-table: table 1 of T. Cojean and others, "Resource aggregation for task-based Cholesky factorization on top of
 * heterogeneous machines", HeteroPar 2016: how much faster the kernels of Cholesky are on a GPU, and on 10 cores
 * together, than on one core. */
#include "repro.h"
#include <stdlib.h>
#include <string.h>

enum { KERNELS = 4, TILES = 2, ELEMENT = 8 };
static const size_t tiles[TILES] = {960, 1920};

/* data: tiles that the kernel works on; cubes: operations / tile^3. The figures are those of the paper, for both
 * tiles. */
static const struct kernel {
	const char *name;
	double data, cubes, core[TILES], gpu[TILES], ten_cores[TILES];
	int is_measured; /* the platform file has times that were measured on the machine */
} kernels[KERNELS] = {
    {"dpotrf", 1, 1.0 / 3, {27.78, 31.11}, {1.72, 5.95}, {5.55, 7.48}, 0},
    {"dtrsm", 2, 1, {34.42, 34.96}, {8.72, 18.59}, {6.75, 8.48}, 1},
    {"dsyrk", 2, 1, {31.52, 32.93}, {26.96, 31.73}, {6.90, 8.63}, 0},
    {"dgemm", 3, 2, {36.46, 37.27}, {28.80, 30.86}, {7.77, 8.56}, 1},
};

static const char platform_name[] = "haswell-k40m", cpu[] = "cpu", gpu[] = "k40m", ten[] = "cpu*10";

static double us_of(const struct heddle_platform *p, const struct kernel *k, const char *class_name, double tile)
{
	for (unsigned c = 0; c < p->n_classes; c++)
		if (strcmp(p->classes[c].name, class_name) == 0)
			return heddle_platform_time(p, k->name, c, k->data * ELEMENT * tile * tile,
			                            k->cubes * tile * tile * tile);
	return NAN;
}

struct rates {
	double core, gpu, ten_cores; /* Gflop/s */
};

static struct rates rates_of(const struct heddle_platform *p, const struct kernel *k, double tile)
{
	double gflop = k->cubes * tile * tile * tile * 1e-9;
	return (struct rates){
	    .core = gflop / us_of(p, k, cpu, tile) * 1e6,
	    .gpu = gflop / us_of(p, k, gpu, tile) * 1e6,
	    .ten_cores = gflop / us_of(p, k, ten, tile) * 1e6,
	};
}

/* Our figure agrees if it is within a quarter of the paper's figure. Figures of modelled kernels are only shown. */
static void add_row(struct repro_report *report, const struct kernel *k, size_t tile, struct repro_row row)
{
	char *quantity =
	    tool_format("%s, tile %zu: %s%s", k->name, tiles[tile], row.quantity, k->is_measured ? "" : " (modelled)");
	repro_row(report, quantity, row.unit, row.paper, row.ours, k->is_measured ? row.accepted : repro_shown());
	free(quantity);
}

static void add_rows(struct repro_report *report, const struct heddle_platform *p, const struct kernel *k, size_t tile)
{
	static char core[] = "one core", device[] = "GPU", factor[] = "GPU / core";
	double paper_gpu = k->core[tile] * k->gpu[tile];
	struct rates r = rates_of(p, k, (double)tiles[tile]);
	add_row(
	    report, k, tile,
	    (struct repro_row){core, "Gflop/s", k->core[tile], r.core, repro_within(k->core[tile], k->core[tile] / 4)});
	add_row(report, k, tile,
	        (struct repro_row){device, "Gflop/s", paper_gpu, r.gpu, repro_within(paper_gpu, paper_gpu / 4)});
	add_row(
	    report, k, tile,
	    (struct repro_row){factor, "", k->gpu[tile], r.gpu / r.core, repro_within(k->gpu[tile], k->gpu[tile] / 4)});
}

static int write_data(struct repro_report *report, const struct heddle_platform *p)
{
	static const struct table_column columns[] = {
	    {"kernel", NULL, NULL, TABLE_AS_TEXT}, {"tile", NULL, NULL, 0},
	    {"core_gflops", NULL, NULL, 2},        {"paper_core_gflops", NULL, NULL, 2},
	    {"gpu_of_core", NULL, NULL, 2},        {"paper_gpu_of_core", NULL, NULL, 2},
	    {"ten_cores_of_core", NULL, NULL, 2},  {"paper_ten_cores_of_core", NULL, NULL, 2},
	    {"source", NULL, NULL, TABLE_AS_TEXT},
	};
	struct table table;
	table_init(&table, "kernels", NULL, columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < KERNELS * TILES; i++) {
		const struct kernel *k = &kernels[i / TILES];
		struct rates r = rates_of(p, k, (double)tiles[i % TILES]);
		table_text(&table, "%s", k->name);
		table_number(&table, (double)tiles[i % TILES]);
		table_number(&table, r.core);
		table_number(&table, k->core[i % TILES]);
		table_number(&table, r.gpu / r.core);
		table_number(&table, k->gpu[i % TILES]);
		table_number(&table, r.ten_cores / r.core);
		table_number(&table, k->ten_cores[i % TILES]);
		table_text(&table, "%s", k->is_measured ? "measured" : "modelled");
	}
	int status = repro_data(report, "kernels", &table);
	table_free(&table);
	return status;
}

/* Draws bars of the acceleration factors. */
static int draw(struct repro_report *report, const struct heddle_platform *p)
{
	struct hd_bar bars[2 * KERNELS * TILES];
	char *names[2 * KERNELS * TILES];
	for (size_t i = 0; i < KERNELS * TILES; i++) {
		const struct kernel *k = &kernels[i / TILES];
		size_t tile = i % TILES, other = KERNELS * TILES + i;
		struct rates r = rates_of(p, k, (double)tiles[tile]);
		names[i] = tool_format("GPU / core: %s, %zu", k->name, tiles[tile]);
		names[other] = tool_format("10 cores / core: %s, %zu", k->name, tiles[tile]);
		bars[i] = (struct hd_bar){names[i], r.gpu / r.core, NAN, NAN, k->gpu[tile]};
		bars[other] = (struct hd_bar){names[other], r.ten_cores / r.core, NAN, NAN, k->ten_cores[tile]};
	}
	const struct hd_bars picture = {
	    .title = "Kernels of Cholesky on a K40m and on 10 cores, over one core",
	    .x_label = "acceleration factor",
	    .value_label = "Heddle's platform haswell-k40m",
	    .marker_label = "Cojean et al., 2016",
	    .color = 0x56b4e9,
	    .marker_color = 0xd55e00,
	    .bars = bars,
	    .n = 2 * KERNELS * TILES,
	};
	int status = repro_bars(report, &picture);
	for (size_t i = 0; i < 2 * KERNELS * TILES; i++)
		free(names[i]);
	return status;
}

int repro_cl_table(struct repro_report *report)
{
	struct heddle_platform *p;
	int status = tool_open_platform(platform_name, "2x10,none", &p);
	if (status)
		return status;
	repro_where(report, "the kernel times of platform %s, measured by the StarPU project", platform_name);
	for (size_t i = 0; i < KERNELS * TILES; i++)
		add_rows(report, p, &kernels[i / TILES], i % TILES);
	for (size_t i = 0; i < KERNELS * TILES; i++) {
		const struct kernel *k = &kernels[i / TILES];
		char *quantity = tool_format("%s, tile %zu: 10 cores / core", k->name, tiles[i % TILES]);
		struct rates r = rates_of(p, k, (double)tiles[i % TILES]);
		double paper = k->ten_cores[i % TILES];
		repro_row(report, quantity, "", paper, r.ten_cores / r.core, repro_within(paper, 0.005));
		free(quantity);
	}
	repro_note(
	    report,
	    "10 cores / core: the platform file has the paper's own factors, since nobody else has published any for "
	    "this machine; that they come out shows that they are applied.");
	repro_note(report,
	           "dpotrf and dsyrk are modelled in the platform file, after spotrf and dgemm, so that nothing "
	           "is concluded from them.");
	repro_note(report,
	           "The paper's rates of the GPU are its rates of a core times GPU / core. Ours agree. A core is "
	           "slower here: the paper's 36 to 37 Gflop/s of dgemm are above 33.6, the peak of a core at the "
	           "processor's AVX base clock, as of one core that computes alone; on 10 cores the paper has 28 "
	           "to 32 Gflop/s per core, which is near to ours.");
	repro_note(report, "The paper's machine is of the same kind: 2 Xeon E5-2680 v3 of 12 cores, 4 K40m.");
	status = write_data(report, p);
	if (!status)
		status = draw(report, p);
	heddle_platform_free(p);
	return status;
}

/* --- The paper's kernels on a machine ----------------------------------------------------------------------------- */

/* Replaces the table of a kernel on a class. */
static void replace_times(struct heddle_platform *p, const struct kernel *k, const char *class_name,
                          const double gflops[TILES])
{
	for (size_t i = 0; i < p->n_kernels; i++) {
		struct heddle_kernel_time *time = &p->kernels[i];
		if (strcmp(time->codelet, k->name) != 0 || strcmp(p->classes[time->class_id].name, class_name) != 0)
			continue;
		for (size_t tile = 0; tile < TILES; tile++) {
			double order = (double)tiles[tile], cube = order * order * order;
			time->n_table = TILES; /* drops further entries */
			time->table[tile] = (struct heddle_kernel_point){k->data * ELEMENT * order * order,
			                                                 k->cubes * cube / gflops[tile] * 1e-3};
		}
	}
}

void repro_paper_kernels(struct heddle_platform *platform)
{
	for (size_t i = 0; i < KERNELS; i++) {
		double on_gpu[TILES];
		for (size_t tile = 0; tile < TILES; tile++)
			on_gpu[tile] = kernels[i].core[tile] * kernels[i].gpu[tile];
		replace_times(platform, &kernels[i], cpu, kernels[i].core);
		replace_times(platform, &kernels[i], gpu, on_gpu);
	}
}
