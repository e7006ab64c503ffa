/* Messages by MPI: one nonblocking call per message, with a known rank and tag. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "transport.h"

struct transport {
	MPI_Comm comm;
	int rank, size;
	/* requests under way, and their messages; outcomes of the last test that were not given yet */
	int n, max;
	MPI_Request *requests;
	struct hd_mpi_message **messages;
	int *indices;
	MPI_Status *statuses;
	struct hd_mpi_message *ended; /* by `link` */
};

static int reserve(struct transport *t)
{
	if (t->n < t->max)
		return 0;
	int max = 2 * t->max + 64;
	size_t n = (size_t)max;
	MPI_Request *requests = realloc(t->requests, n * sizeof *requests);
	t->requests = requests ? requests : t->requests;
	struct hd_mpi_message **messages = realloc(t->messages, n * sizeof *messages);
	t->messages = messages ? messages : t->messages;
	int *indices = realloc(t->indices, n * sizeof *indices);
	t->indices = indices ? indices : t->indices;
	MPI_Status *statuses = realloc(t->statuses, n * sizeof *statuses);
	t->statuses = statuses ? statuses : t->statuses;
	if (!requests || !messages || !indices || !statuses)
		return HEDDLE_E_MEMORY;
	t->max = max;
	return 0;
}

static int begin(void *self, struct hd_mpi_message *message)
{
	struct transport *t = self;
	int length = (int)message->length, code;
	if (message->length > INT_MAX || reserve(t))
		return HEDDLE_E_UNSUPPORTED;
	if (message->sends)
		code = MPI_Isend(message->buffer, length, MPI_BYTE, message->pair->peer, message->tag, t->comm,
		                 &t->requests[t->n]);
	else
		code = MPI_Irecv(message->buffer, length, MPI_BYTE, message->pair->peer, message->tag, t->comm,
		                 &t->requests[t->n]);
	if (code != MPI_SUCCESS)
		return HEDDLE_E_PEER;
	message->place = (size_t)t->n;
	t->messages[t->n++] = message;
	return 0;
}

static void take_out(struct transport *t, size_t place)
{
	t->n--;
	t->requests[place] = t->requests[t->n];
	t->messages[place] = t->messages[t->n];
	t->messages[place]->place = place;
}

static void end(struct transport *t, struct hd_mpi_message *message, MPI_Status *status, int code)
{
	int got = 0;
	if (code == MPI_SUCCESS && !message->sends)
		MPI_Get_count(status, MPI_BYTE, &got);
	message->got = (size_t)got;
	message->status = code == MPI_SUCCESS ? 0 : HEDDLE_E_PEER;
	message->link = t->ended;
	t->ended = message;
}

static void test(struct transport *t)
{
	int n = 0;
	if (!t->n)
		return;
	int code = MPI_Testsome(t->n, t->requests, &n, t->indices, t->statuses);
	if (n == MPI_UNDEFINED)
		return;
	for (int i = 0; i < n; i++)
		end(t, t->messages[t->indices[i]], &t->statuses[i],
		    code == MPI_ERR_IN_STATUS ? t->statuses[i].MPI_ERROR : code);
	for (struct hd_mpi_message *message = t->ended; message; message = message->link)
		take_out(t, message->place);
}

static struct hd_mpi_message *poll(void *self)
{
	struct transport *t = self;
	if (!t->ended)
		test(t);
	struct hd_mpi_message *message = t->ended;
	if (message)
		t->ended = message->link;
	return message;
}

static void cancel(void *self, struct hd_mpi_message *message)
{
	struct transport *t = self;
	size_t place = message->place;
	if (MPI_Cancel(&t->requests[place]) == MPI_SUCCESS)
		MPI_Request_free(&t->requests[place]);
	take_out(t, place);
}

static void free_all(struct transport *t)
{
	free(t->requests);
	free(t->messages);
	free(t->indices);
	free(t->statuses);
	free(t);
}

static void close_transport(void *self)
{
	struct transport *t = self;
	MPI_Comm_free(&t->comm);
	free_all(t);
}

static int rank_of(const void *self)
{
	return ((const struct transport *)self)->rank;
}

static int size_of(const void *self)
{
	return ((const struct transport *)self)->size;
}

const struct hd_mpi_transport hd_mpi_transport_mpi = {
    .name = "mpi",
    .send = begin,
    .receive = begin,
    .poll = poll,
    .cancel = cancel,
    .close = close_transport,
    .rank = rank_of,
    .size = size_of,
};

int hd_mpi_transport_mpi_open(MPI_Comm comm, void **self)
{
	struct transport *t = calloc(1, sizeof *t);
	if (!t)
		return heddle_error(HEDDLE_E_MEMORY, "no memory for a transport");
	if (MPI_Comm_dup(comm, &t->comm) != MPI_SUCCESS) {
		free(t);
		return heddle_error(HEDDLE_E_INVALID, "heddle_mpi_start: MPI_Comm_dup has failed");
	}
	MPI_Comm_set_errhandler(t->comm, MPI_ERRORS_RETURN);
	MPI_Comm_rank(t->comm, &t->rank);
	MPI_Comm_size(t->comm, &t->size);
	*self = t;
	return 0;
}
