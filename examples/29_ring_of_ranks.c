/* Several machines: a value goes round a ring of ranks, each of which adds its number.
 *
 *   cc 29_ring_of_ranks.c -o ring $(pkg-config --cflags --libs heddle-mpi)
 *   mpirun -n 4 ./ring */
#include <heddle/mpi.h>
#include <stdio.h>

enum { ROUNDS = 100, MOST = 64 };

static int add_rank(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) = *(long *)heddle_ptr(c, 1) + heddle_get(c, 0, int);
	return 0;
}

/* Every rank makes all of these calls. A task is executed by the rank that owns the datum which the task writes: rank r
 * owns datum r. */
static int go_round(heddle_mpi *m, long *mine)
{
	heddle_codelet *add = heddle_codelet_new(heddle_mpi_runtime(m), .name = "add_rank", .cpu = add_rank);
	heddle_mpi_data *place[MOST];
	int n = heddle_mpi_size(m), rank = heddle_mpi_rank(m), status = add ? 0 : HEDDLE_E_MEMORY;
	for (int i = 0; i < n && !status; i++) {
		struct heddle_part part = {.base = i == rank ? mine : NULL, .elem_size = sizeof *mine};
		status = heddle_mpi_register(m, (uint64_t)i, i, &part, &place[i]);
	}
	for (int i = 0; i < ROUNDS * n && !status; i++) {
		int to = (i + 1) % n;
		status = heddle_mpi_submit(m, heddle_call(add), heddle_mpi_w(place[to]), heddle_mpi_r(place[i % n]),
		                           heddle_value(to));
	}
	return status;
}

int main(int argc, char **argv)
{
	int level;
	long mine = 0;
	heddle_mpi *m;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	int status = heddle_mpi_start(NULL, MPI_COMM_WORLD, &m);
	if (!status && heddle_mpi_size(m) <= MOST)
		status = go_round(m, &mine);
	if (status) {
		fprintf(stderr, "%s\n", heddle_last_error());
		MPI_Abort(MPI_COMM_WORLD, 1); /* the other ranks would wait for this one */
	}
	long n = heddle_mpi_size(m), expected = ROUNDS * n * (n - 1) / 2;
	int rank = heddle_mpi_rank(m);
	status = heddle_mpi_stop(m); /* from now on `mine` is ours again */
	if (status)
		fprintf(stderr, "%s\n", heddle_last_error());
	if (!status && rank == 0)
		printf("after %d rounds over %ld ranks: %ld, expected %ld\n", ROUNDS, n, mine, expected);
	MPI_Finalize();
	return status || (rank == 0 && mine != expected);
}
