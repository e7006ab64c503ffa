/* The network as a device: the state of the thread that sends and receives. */
#ifndef HD_MPI_NETWORK_H
#define HD_MPI_NETWORK_H

#include "mpi/internal.h"
#include "mpi/transports/transport.h"

struct hd_mpi_list {
	struct hd_mpi_message *first, *last;
	uint64_t n;
};

/* All fields belong to the network's thread, but those whose comments say otherwise. */
struct hd_mpi_network {
	heddle_mpi *m;
	const struct hd_mpi_transport *transport;
	void *self; /* of the transport */
	/* Protects the lists of messages from heddle_mpi_dump, which another thread calls. The network's thread takes
	 * it for each step; nothing is taken below it. */
	pthread_mutex_t lock;
	/* Messages that are posted, oldest first: those of tasks, and notes, for whose ends no task waits. */
	struct hd_mpi_list posted, notes;
	struct hd_mpi_message *launched; /* set by a kernel for the `launch` that has called it */
	/* Set by hd_mpi_give_up in the stream's thread; of one flag alone, so any order will do. */
	_Atomic int gives_up;
	double last_news; /* us, of heddle_now: when a message ended, or the first one was posted */
	/* Counters, which the stream's thread reads: each of them alone, so any order will do. */
	_Atomic uint64_t sent, received, bytes_sent, bytes_received, failed_calls;
};

/* network.c, all with the lock: begins a message whose turn it is, now or when its predecessor has been posted. */
void hd_mpi_network_begin(struct hd_mpi_network *network, struct hd_mpi_message *message);
/* Lets the transport work, and ends messages. */
void hd_mpi_network_poll(struct hd_mpi_network *network);
/* When the network's thread has ended: ends the notes that nobody has taken. Without the lock. */
void hd_mpi_network_end(struct hd_mpi_network *network);

/* packing.c: whether the elements of an array are neighbours; copies between an array and a dense buffer. */
int hd_mpi_is_dense(const struct heddle_part *part);
size_t hd_mpi_part_bytes(const struct heddle_part *part);
void hd_mpi_pack(const struct heddle_part *part, char *buffer);
void hd_mpi_unpack(const struct heddle_part *part, const char *buffer);

#endif
