/* The programs of programs.h under mpirun; prints what is wrong, with the rank. */
#include "programs.h"

int main(int argc, char **argv)
{
	struct heddle_config config;
	heddle_mpi *m;
	int level, status = MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	if (!status)
		status = heddle_config_init(&config);
	config.n_cpu = 1;
	config.model_dir = "none";
	if (!status)
		status = heddle_mpi_start(&config, MPI_COMM_WORLD, &m);
	int started = !status;
	if (!status)
		status = ring(m, NULL);
	if (!status)
		status = cholesky(m, NULL);
	if (status) {
		fprintf(stderr, "%s\n", heddle_last_error());
		MPI_Abort(MPI_COMM_WORLD, 1); /* the other ranks would wait */
	}
	if (started)
		status = heddle_mpi_stop(m);
	MPI_Finalize();
	return status != 0;
}
