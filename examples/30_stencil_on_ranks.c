/* Several machines: heat in a plate, a stencil in two dimensions on blocks that the ranks share out. The edges of a
 * block are data of their own, so that only edges travel: a task computes a block and writes its four edges, which the
 * tasks of the next step on the neighbours read.
 *
 *   cc 30_stencil_on_ranks.c -o stencil $(pkg-config --cflags --libs heddle-mpi) -lm
 *   mpirun -n 4 ./stencil */
#include <heddle/mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 4, SIDE = 32, STEPS = 20, N = BLOCKS * SIDE };
enum { WEST, EAST, NORTH, SOUTH, EDGES };

/* Step `step` reads the edges of parity step % 2, and writes those of the other one. */
struct block {
	heddle_mpi_data *cells, *edges[2][EDGES];
	double *memory; /* of the owner; SIDE x SIDE, columns first */
};

static double start_at(int x, int y)
{
	return x > N / 3 && x < N / 2 && y > N / 4 && y < N / 2 ? 100.0 : 0.0;
}

/* Cell (x, y) of a block with the edges of its neighbours around it; beyond the plate it is cold. */
static double cell(const double *cells, double *const *around, int x, int y)
{
	if (x < 0)
		return around[WEST] ? around[WEST][y] : 0;
	if (x >= SIDE)
		return around[EAST] ? around[EAST][y] : 0;
	if (y < 0)
		return around[NORTH] ? around[NORTH][x] : 0;
	if (y >= SIDE)
		return around[SOUTH] ? around[SOUTH][x] : 0;
	return cells[x + y * SIDE];
}

static void step_cells(double *cells, double *const *around)
{
	double old[SIDE * SIDE];
	for (int i = 0; i < SIDE * SIDE; i++)
		old[i] = cells[i];
	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++)
			cells[x + y * SIDE] =
			    .2 * (old[x + y * SIDE] + cell(old, around, x - 1, y) + cell(old, around, x + 1, y) +
			          cell(old, around, x, y - 1) + cell(old, around, x, y + 1));
}

static void copy_edges(const double *cells, double *const *edges)
{
	for (int i = 0; i < SIDE; i++) {
		edges[WEST][i] = cells[i * SIDE];
		edges[EAST][i] = cells[SIDE - 1 + i * SIDE];
		edges[NORTH][i] = cells[i];
		edges[SOUTH][i] = cells[i + (SIDE - 1) * SIDE];
	}
}

/* Data: the cells, the four new edges, and the neighbours' edges that there are. */
static int step_kernel(heddle_context *c)
{
	double *edges[EDGES], *around[EDGES] = {NULL};
	const int *has = heddle_value_ptr(c, 0);
	size_t next = 1;
	for (int e = 0; e < EDGES; e++)
		edges[e] = heddle_ptr(c, next++);
	for (int e = 0; e < EDGES; e++)
		if (has[e])
			around[e] = heddle_ptr(c, next++);
	step_cells(heddle_ptr(c, 0), around);
	copy_edges(heddle_ptr(c, 0), edges);
	return 0;
}

static int edges_kernel(heddle_context *c)
{
	double *edges[EDGES];
	for (int e = 0; e < EDGES; e++)
		edges[e] = heddle_ptr(c, (size_t)e + 1);
	copy_edges(heddle_ptr(c, 0), edges);
	return 0;
}

/* Each rank has blocks of a part of the plate, so that most neighbours are on the same rank. */
static int register_block(heddle_mpi *m, struct block *b, int bx, int by)
{
	int owner = (by * BLOCKS + bx) * heddle_mpi_size(m) / (BLOCKS * BLOCKS), status;
	uint64_t key = (uint64_t)(by * BLOCKS + bx) * 16;
	struct heddle_part part = {.elem_size = 8, .n_dims = 2, .n = {SIDE, SIDE}, .stride = {1, SIDE}};
	struct heddle_part edge = {.elem_size = 8, .n_dims = 1, .n = {SIDE}, .stride = {1}};
	if (owner == heddle_mpi_rank(m))
		part.base = b->memory = malloc(SIDE * SIDE * sizeof *b->memory);
	for (int i = 0; b->memory && i < SIDE * SIDE; i++)
		b->memory[i] = start_at(bx * SIDE + i % SIDE, by * SIDE + i / SIDE);
	status = heddle_mpi_register(m, key, owner, &part, &b->cells);
	for (int i = 0; i < 2 * EDGES && !status; i++)
		status = heddle_mpi_register(m, key + 1 + (uint64_t)i, owner, &edge, &b->edges[i / EDGES][i % EDGES]);
	return status;
}

static int submit_step(heddle_mpi *m, const heddle_codelet *c, struct block (*b)[BLOCKS], int place, int step)
{
	static const int dx[] = {-1, 1, 0, 0}, dy[] = {0, 0, -1, 1}, opposite[] = {EAST, WEST, SOUTH, NORTH};
	struct heddle_item items[3 + 2 * EDGES];
	int has[EDGES], x = place % BLOCKS, y = place / BLOCKS;
	size_t n = 0;
	items[n++] = heddle_call(c);
	items[n++] = heddle_mpi_rw(b[y][x].cells);
	for (int e = 0; e < EDGES; e++)
		items[n++] = heddle_mpi_w(b[y][x].edges[1 - step % 2][e]);
	for (int e = 0; e < EDGES; e++) {
		int nx = x + dx[e], ny = y + dy[e];
		has[e] = nx >= 0 && nx < BLOCKS && ny >= 0 && ny < BLOCKS;
		if (has[e])
			items[n++] = heddle_mpi_r(b[ny][nx].edges[step % 2][opposite[e]]);
	}
	items[n++] = heddle_bytes(has, sizeof has);
	return heddle_mpi_submit_items(m, n, items);
}

static int heat(heddle_mpi *m, struct block (*b)[BLOCKS])
{
	heddle_codelet *edges = heddle_codelet_new(heddle_mpi_runtime(m), .name = "edges", .cpu = edges_kernel);
	heddle_codelet *step = heddle_codelet_new(heddle_mpi_runtime(m), .name = "step", .cpu = step_kernel);
	int status = edges && step ? 0 : HEDDLE_E_MEMORY;
	for (int i = 0; i < BLOCKS * BLOCKS && !status; i++) {
		struct block *x = &b[i / BLOCKS][i % BLOCKS];
		status = register_block(m, x, i % BLOCKS, i / BLOCKS);
		if (!status)
			status = heddle_mpi_submit(m, heddle_call(edges), heddle_mpi_r(x->cells),
			                           heddle_mpi_w(x->edges[0][WEST]), heddle_mpi_w(x->edges[0][EAST]),
			                           heddle_mpi_w(x->edges[0][NORTH]), heddle_mpi_w(x->edges[0][SOUTH]));
	}
	for (int s = 0; s < STEPS; s++)
		for (int i = 0; i < BLOCKS * BLOCKS && !status; i++)
			status = submit_step(m, step, b, i, s);
	return status;
}

/* The largest difference of this rank's blocks from the same steps on the whole plate. */
static double compare(struct block (*b)[BLOCKS])
{
	static double plate[N + 2][N + 2], next[N + 2][N + 2];
	double worst = 0;
	for (int y = 0; y < N; y++)
		for (int x = 0; x < N; x++)
			plate[y + 1][x + 1] = start_at(x, y);
	for (int s = 0; s < STEPS; s++) {
		for (int y = 1; y <= N; y++)
			for (int x = 1; x <= N; x++)
				next[y][x] = .2 * (plate[y][x] + plate[y][x - 1] + plate[y][x + 1] + plate[y - 1][x] +
				                   plate[y + 1][x]);
		for (int y = 1; y <= N; y++)
			for (int x = 1; x <= N; x++)
				plate[y][x] = next[y][x];
	}
	for (int y = 0; y < N; y++)
		for (int x = 0; x < N; x++) {
			const double *memory = b[y / SIDE][x / SIDE].memory;
			if (memory)
				worst = fmax(worst, fabs(memory[x % SIDE + y % SIDE * SIDE] - plate[y + 1][x + 1]));
		}
	return worst;
}

int main(int argc, char **argv)
{
	static struct block blocks[BLOCKS][BLOCKS];
	int level;
	heddle_mpi *m;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	int status = heddle_mpi_start(NULL, MPI_COMM_WORLD, &m);
	if (!status)
		status = heat(m, blocks);
	if (!status)
		status = heddle_mpi_wait_all(m);
	if (status) {
		fprintf(stderr, "%s\n", heddle_last_error());
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	struct heddle_mpi_counts stats;
	int rank = heddle_mpi_rank(m);
	heddle_mpi_stats(m, &stats);
	status = heddle_mpi_stop(m);
	double worst = compare(blocks);
	printf("rank %d: %llu tasks, %llu messages sent, the largest difference is %g\n", rank,
	       (unsigned long long)stats.executed, (unsigned long long)stats.sent, worst);
	for (int i = 0; i < BLOCKS * BLOCKS; i++)
		free(blocks[i / BLOCKS][i % BLOCKS].memory);
	MPI_Finalize();
	return status || worst > 1e-10;
}
