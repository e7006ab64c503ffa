/* What carries messages between ranks: a table of functions, all called by the network's thread of the rank, except
 * `close`, which is called when this thread has ended.
 *
 * Two messages from one rank to another with the same tag arrive in the order in which they were sent. */
#ifndef HD_MPI_TRANSPORT_H
#define HD_MPI_TRANSPORT_H

#include "mpi/internal.h"

struct hd_mpi_transport {
	const char *name;
	/* Begin to send message->buffer to the rank message->pair->peer, or to receive into it. On an error nothing has
	 * begun. */
	int (*send)(void *self, struct hd_mpi_message *message);
	int (*receive)(void *self, struct hd_mpi_message *message);
	/* A message that has ended, with its `status` and, for one that has come, `got`; NULL: none now. */
	struct hd_mpi_message *(*poll)(void *self);
	/* Ends a message that has begun, if that is possible: its buffer is not used any more. */
	void (*cancel)(void *self, struct hd_mpi_message *message);
	void (*close)(void *self);
	int (*rank)(const void *self);
	int (*size)(const void *self);
};

extern const struct hd_mpi_transport hd_mpi_transport_mpi, hd_mpi_transport_loop, hd_mpi_transport_chaos;

/* mpi.c: duplicates the communicator. */
int hd_mpi_transport_mpi_open(MPI_Comm comm, void **self);

/* loop.c: what n ranks share, and each one's part of it. Messages up to `eager` bytes are copied when they are sent.
 * The last part that is closed frees it. */
int hd_mpi_loop_new(int n_ranks, size_t eager, void **selves);

/* chaos.c: delays messages, and lets calls fail. It owns the inner transport. */
struct hd_mpi_chaos {
	uint64_t seed;
	unsigned delay;              /* polls at most by which a message is delayed */
	uint64_t fail_from, fail_to; /* which calls of send and receive fail, counted from 1; 0: none */
};
int hd_mpi_chaos_open(const struct hd_mpi_chaos *chaos, const struct hd_mpi_transport *inner, void *inner_self,
                      void **self);

#endif
