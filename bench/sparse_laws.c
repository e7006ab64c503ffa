/* How long a core takes for the tasks of sparse QR that the platforms have no time of: the laws in
 * apps/sparse/tasks/laws.c.
 *
 * sparse_laws subtrees MATRIX [SHARE]
 * sparse_laws assembly MATRIX [TILE]
 * sparse_laws tsmqr TILE
 *
 * A row of output is a task: a subtree that has at most SHARE (0.001) of the operations, a tile of order TILE (256)
 * that is assembled, or the update of a tile, whose rate the law of subtrees is a share of. The columns are what a law
 * can depend on, then the least processor time of some runs in us. The program ends after some 20 s. sparse_laws.py
 * fits the laws. */
#include <sparse/analysis/analysis.h>
#include <sparse/kernels/subtree.h>
#include "bench.h"
#include "good.h"

enum { RUNS = 5, COLD_RUNS = 2, INNER = 32 };
static const double seconds_at_most = 20;

/* Processor time of this thread: other programs do not count. */
static double processor_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double *zeros(size_t n)
{
	double *x = calloc(n + 1, sizeof *x);
	bench_need(x != NULL, "out of memory");
	return x;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* --- Subtrees ----------------------------------------------------------------------------------------------------- */

/* Places of the factors of each front within its subtree, and of its rows and columns among all. */
struct places {
	size_t *packed, *row, *column;
};

static struct places places_of(const struct heddle_sparse_analysis *a, const struct hd_sparse_packing *packing)
{
	size_t n = a->n_fronts + 1, *all = calloc(3 * n, sizeof *all);
	bench_need(all != NULL, "out of memory");
	struct places p = {all, all + n, all + 2 * n};
	for (size_t f = 0; f < a->n_fronts; f++) {
		const struct hd_sparse_front *front = &a->fronts[f];
		p.row[f + 1] = p.row[f] + front->n_rows;
		p.column[f + 1] = p.column[f] + front->n_columns;
		if (f > 0 && front->subtree != HD_SPARSE_NONE && front->subtree == front[-1].subtree)
			p.packed[f] = p.packed[f - 1] + hd_sparse_packed(front - 1, packing);
	}
	return p;
}

static void measure_subtree(const struct hd_sparse_job *job, const double *values)
{
	const struct heddle_sparse_analysis *a = job->analysis;
	const struct hd_sparse_front *root = &a->fronts[job->tree->root];
	double elements = 0, reflectors = 0, least = INFINITY;
	for (size_t f = job->tree->first_front; f <= job->tree->root; f++) {
		elements += (double)a->fronts[f].n_rows * (double)a->fronts[f].n_columns;
		reflectors += (double)hd_sparse_h_elements(&a->fronts[f]);
	}
	double *packed = zeros(job->packed_at[job->tree->root] + hd_sparse_packed(root, &job->packing));
	double *work = zeros(hd_sparse_subtree_work(job));
	int rows = (int)root->n_contributed, columns = (int)hd_sparse_rest(root);
	double *contribution = zeros((size_t)rows * (size_t)columns);
	for (int i = 0; i < RUNS; i++) {
		double begin = processor_seconds();
		hd_d_sparse_subtree_factorise(job, values, packed,
		                              hd_d_view(contribution, rows, columns, rows ? rows : 1), work);
		least = fmin(least, processor_seconds() - begin);
	}
	printf("%zu,%.0f,%.0f,%.0f,%.3f\n", job->tree->root - job->tree->first_front + 1, elements, reflectors,
	       job->tree->flops, least * 1e6);
	free(packed);
	free(work);
	free(contribution);
}

static void measure_subtrees(const struct heddle_sparse_matrix *m, const struct heddle_sparse_analysis *a)
{
	const struct hd_sparse_packing packing = {INNER, 1};
	struct places p = places_of(a, &packing);
	double begin = bench_seconds();
	printf("fronts,elements,reflectors,flops,us\n");
	for (size_t s = 0; s < a->n_subtrees && bench_seconds() < begin + seconds_at_most; s++) {
		const struct hd_sparse_job job = {a, &a->subtrees[s], packing, p.packed, p.row, p.column};
		measure_subtree(&job, m->values);
	}
	free(p.packed);
}

/* --- Assembly ----------------------------------------------------------------------------------------------------- */

/* A tile as the task assembles it, but that contributions lie in one piece, not in tiles. */
static void assemble(const struct hd_sparse_own *own, struct hd_d_view tile, double *const *contributions)
{
	const struct hd_sparse_front *fronts = own->analysis->fronts;
	for (int j = 0; j < tile.n; j++)
		memset(hd_d_at(tile, 0, j), 0, (size_t)tile.m * sizeof(double));
	for (size_t c = own->front->first_child; c != HD_SPARSE_NONE; c = fronts[c].next_sibling) {
		struct hd_sparse_piece piece =
		    hd_sparse_piece(&fronts[c], own->row, own->column, (size_t)tile.m, (size_t)tile.n);
		if (piece.rows == 0 || piece.columns == 0)
			continue;
		int rows = (int)fronts[c].n_contributed;
		struct hd_d_view whole = hd_d_view(contributions[c], rows, (int)hd_sparse_rest(&fronts[c]), rows);
		hd_d_sparse_add_piece(
		    &piece, hd_d_part(whole, (int)piece.row, (int)piece.column, (int)piece.rows, (int)piece.columns),
		    tile, own->row, own->column);
	}
	hd_d_sparse_add_own(own, tile);
}

/* Other cores have written the contributions, and memory of the tile is fresh or long unused: neither is in a cache. */
static void empty_caches(void)
{
	enum { BYTES = 1 << 27 };
	static char *large;
	large = large ? large : malloc(BYTES);
	bench_need(large != NULL, "out of memory");
	memset(large, large[0] + 1, BYTES);
}

static void measure_tile(const struct hd_sparse_own *own, size_t order, double *const *contributions)
{
	size_t rows = smaller(order, own->front->n_rows - own->row);
	size_t columns = smaller(order, own->front->n_columns - own->column);
	double *elements = zeros(rows * columns), least = INFINITY;
	struct hd_d_view tile = hd_d_view(elements, (int)rows, (int)columns, (int)rows);
	memset(elements, 1, rows * columns * sizeof *elements); /* it has its pages */
	for (int i = 0; i < COLD_RUNS; i++) {
		empty_caches();
		double begin = processor_seconds();
		assemble(own, tile, contributions);
		least = fmin(least, processor_seconds() - begin);
	}
	printf("%zu,%.3f\n", rows * columns * sizeof(double), least * 1e6);
	free(elements);
}

static void measure_assembly(const struct heddle_sparse_matrix *m, const struct heddle_sparse_analysis *a, size_t order)
{
	double begin = bench_seconds(), **contributions = calloc(a->n_fronts + 1, sizeof *contributions);
	bench_need(contributions != NULL, "out of memory");
	printf("bytes,us\n");
	for (size_t f = 0; f < a->n_fronts && bench_seconds() < begin + seconds_at_most; f++) {
		const struct hd_sparse_front *front = &a->fronts[f];
		struct hd_sparse_own own = {a, front, m->values, 0, 0};
		for (own.column = 0; own.column < front->n_columns; own.column += order)
			for (own.row = 0; own.row < front->n_rows; own.row += order)
				measure_tile(&own, order, contributions);
		for (size_t c = front->first_child; c != HD_SPARSE_NONE; c = a->fronts[c].next_sibling)
			free(contributions[c]);
		contributions[f] = zeros(front->n_contributed * hd_sparse_rest(front));
	}
	/* what is left ends with the program */
}

/* --- The update of a tile ----------------------------------------------------------------------------------------- */

static void measure_tsmqr(size_t order)
{
	enum { TILES = 4, REPEATS = 20 };
	int n = (int)order;
	double *elements = zeros(TILES * order * order), *t = zeros(INNER * order), least = INFINITY;
	double *work = zeros(hd_qr_work(n, INNER));
	struct hd_d_view tiles[TILES], of_t = hd_d_view(t, INNER, n, INNER);
	for (size_t i = 0; i < TILES * order * order; i++)
		elements[i] = 1 + (double)(i * i % 97);
	for (int i = 0; i < TILES; i++)
		tiles[i] = hd_d_view(elements + (size_t)i * order * order, n, n, n);
	hd_d_tsqrt(tiles[0], tiles[1], of_t, work);
	for (int i = 0; i < REPEATS; i++) {
		double begin = processor_seconds();
		hd_d_tsmqr(HD_APPLY(Left, ConjTrans), tiles[1], of_t, tiles[2], tiles[3], work);
		least = fmin(least, processor_seconds() - begin);
	}
	printf("flops,us\n%.0f,%.3f\n", 4 * (double)order * (double)order * (double)order, least * 1e6);
	free(elements);
	free(t);
	free(work);
}

int main(int argc, char **argv)
{
	bench_need(argc >= 3, "arguments: subtrees MATRIX [SHARE] | assembly MATRIX [TILE] | tsmqr TILE");
	if (strcmp(argv[1], "tsmqr") == 0) {
		measure_tsmqr(bench_number(argc, argv, 2, 256));
		return 0;
	}
	int trees = strcmp(argv[1], "subtrees") == 0;
	double share = trees ? argc > 3 ? atof(argv[3]) : 0.001 : -1;
	const struct heddle_sparse_analysis_options how = {.ordering = HEDDLE_SPARSE_METIS, .subtree = share};
	struct heddle_sparse_matrix m;
	heddle_sparse_analysis *a;
	good(heddle_sparse_generate(argv[2], &m));
	good(heddle_sparse_analyse(&m, &how, &a));
	if (trees)
		measure_subtrees(&m, a);
	else
		measure_assembly(&m, a, bench_number(argc, argv, 3, 256));
	heddle_sparse_analysis_free(a);
	heddle_sparse_matrix_free(&m);
	return 0;
}
