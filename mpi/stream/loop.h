/* Ranks that are threads of this process, with what tests choose beyond heddle_mpi_loop. */
#ifndef HD_MPI_LOOP_H
#define HD_MPI_LOOP_H

#include "mpi/internal.h"
#include "mpi/transports/transport.h"

struct hd_mpi_loop {
	const struct heddle_config *config;
	const struct heddle_mpi_settings *settings;
	int n_ranks;
	size_t eager;                     /* bytes of the messages that are copied when they are sent */
	const struct hd_mpi_chaos *chaos; /* NULL: none; else one per rank */
	int (*program)(heddle_mpi *m, void *arg);
	void *arg;
};
int hd_mpi_loop_run(const struct hd_mpi_loop *loop);

#endif
