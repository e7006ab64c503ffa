/* Ranks that are threads of one process. Each rank has a box, with the receives that it has posted and what has come
 * for it without one. A small message is copied when it is sent; a larger one waits for the receive, which copies it
 * out of the sender's buffer. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "transport.h"

/* What has come before its receive. */
struct parcel {
	struct parcel *next;
	int tag;
	size_t length;
	char *bytes;                 /* owned if there is no `from` */
	struct hd_mpi_message *from; /* the sender's, which ends when the receiver has copied; NULL: it has ended */
};

struct box {
	pthread_mutex_t lock;            /* protects the box; no two are held together */
	struct hd_mpi_message **waiting; /* posted receives per rank, oldest first, by `link` */
	struct parcel **arrived;         /* per rank, oldest first */
	struct hd_mpi_message *ended;    /* messages of this rank, by `link` */
};

struct hub {
	int n;
	size_t eager;
	_Atomic int open; /* ranks that have not closed; the one that makes it 0 sees what the others have done */
	struct box *boxes;
};

struct transport {
	struct hub *hub;
	int rank;
};

static void push_ended(struct box *box, struct hd_mpi_message *message)
{
	pthread_mutex_lock(&box->lock);
	message->link = box->ended;
	box->ended = message;
	pthread_mutex_unlock(&box->lock);
}

static void fill(struct hd_mpi_message *receive, const char *bytes, size_t length)
{
	memcpy(receive->buffer, bytes, length < receive->length ? length : receive->length);
	receive->got = length;
}

/* Takes the oldest receive of this tag out of the list; NULL: there is none. */
static struct hd_mpi_message *take_receive(struct hd_mpi_message **list, int tag)
{
	while (*list && (*list)->tag != tag)
		list = &(*list)->link;
	struct hd_mpi_message *found = *list;
	if (found)
		*list = found->link;
	return found;
}

static struct parcel *take_parcel(struct parcel **list, int tag, const struct hd_mpi_message *from)
{
	while (*list && ((*list)->tag != tag || (from && (*list)->from != from)))
		list = &(*list)->next;
	struct parcel *found = *list;
	if (found)
		*list = found->next;
	return found;
}

static struct parcel *wrap(const struct hub *hub, struct hd_mpi_message *message)
{
	struct parcel *parcel = calloc(1, sizeof *parcel);
	if (!parcel)
		return NULL;
	*parcel = (struct parcel){.tag = message->tag, .length = message->length, .bytes = message->buffer};
	if (message->length > hub->eager) {
		parcel->from = message;
		return parcel;
	}
	parcel->bytes = malloc(message->length + 1);
	if (!parcel->bytes) {
		free(parcel);
		return NULL;
	}
	memcpy(parcel->bytes, message->buffer, message->length);
	return parcel;
}

static int send(void *self, struct hd_mpi_message *message)
{
	const struct transport *t = self;
	struct box *box = &t->hub->boxes[message->pair->peer];
	struct parcel *parcel = wrap(t->hub, message), **end;
	if (!parcel)
		return HEDDLE_E_MEMORY;
	int has_ended = !parcel->from;
	message->status = 0;
	pthread_mutex_lock(&box->lock);
	struct hd_mpi_message *receive = take_receive(&box->waiting[t->rank], message->tag);
	if (receive) {
		fill(receive, message->buffer, message->length);
		receive->link = box->ended;
		box->ended = receive;
		has_ended = 1;
	} else {
		for (end = &box->arrived[t->rank]; *end; end = &(*end)->next)
			;
		*end = parcel;
	}
	pthread_mutex_unlock(&box->lock);
	if (receive) {
		if (!parcel->from)
			free(parcel->bytes);
		free(parcel);
	}
	if (has_ended)
		push_ended(&t->hub->boxes[t->rank], message);
	return 0;
}

static int receive(void *self, struct hd_mpi_message *message)
{
	const struct transport *t = self;
	int peer = message->pair->peer;
	struct box *box = &t->hub->boxes[t->rank];
	message->status = 0;
	pthread_mutex_lock(&box->lock);
	struct parcel *parcel = take_parcel(&box->arrived[peer], message->tag, NULL);
	if (parcel) {
		fill(message, parcel->bytes, parcel->length);
		message->link = box->ended;
		box->ended = message;
	} else {
		struct hd_mpi_message **end = &box->waiting[peer];
		while (*end)
			end = &(*end)->link;
		message->link = NULL;
		*end = message;
	}
	pthread_mutex_unlock(&box->lock);
	if (!parcel)
		return 0;
	if (parcel->from)
		push_ended(&t->hub->boxes[peer], parcel->from);
	else
		free(parcel->bytes);
	free(parcel);
	return 0;
}

static struct hd_mpi_message *poll(void *self)
{
	const struct transport *t = self;
	struct box *box = &t->hub->boxes[t->rank];
	pthread_mutex_lock(&box->lock);
	struct hd_mpi_message *message = box->ended;
	if (message)
		box->ended = message->link;
	pthread_mutex_unlock(&box->lock);
	return message;
}

static int take_out(struct box *box, struct hd_mpi_message **list, const struct hd_mpi_message *message)
{
	pthread_mutex_lock(&box->lock);
	while (*list && *list != message)
		list = &(*list)->link;
	int found = *list != NULL;
	if (found)
		*list = message->link;
	pthread_mutex_unlock(&box->lock);
	return found;
}

static void cancel(void *self, struct hd_mpi_message *message)
{
	const struct transport *t = self;
	int peer = message->pair->peer;
	struct box *mine = &t->hub->boxes[t->rank], *its = &t->hub->boxes[peer];
	int found = !message->sends && take_out(mine, &mine->waiting[peer], message);
	if (message->sends) {
		pthread_mutex_lock(&its->lock);
		struct parcel *parcel = take_parcel(&its->arrived[t->rank], message->tag, message);
		pthread_mutex_unlock(&its->lock);
		found = parcel != NULL;
		free(parcel);
	}
	/* otherwise the other rank has matched it, and is about to tell */
	while (!found && !take_out(mine, &mine->ended, message))
		sched_yield();
}

static void free_hub(struct hub *hub)
{
	for (int i = 0; hub->boxes && i < hub->n; i++) {
		struct box *box = &hub->boxes[i];
		for (int peer = 0; box->arrived && peer < hub->n; peer++)
			for (struct parcel *p = box->arrived[peer], *next; p; p = next) {
				next = p->next;
				if (!p->from)
					free(p->bytes);
				free(p);
			}
		pthread_mutex_destroy(&box->lock);
		free(box->waiting);
		free(box->arrived);
	}
	free(hub->boxes);
	free(hub);
}

static void close_transport(void *self)
{
	struct transport *t = self;
	if (--t->hub->open == 0)
		free_hub(t->hub);
	free(t);
}

static int rank_of(const void *self)
{
	return ((const struct transport *)self)->rank;
}

static int size_of(const void *self)
{
	return ((const struct transport *)self)->hub->n;
}

const struct hd_mpi_transport hd_mpi_transport_loop = {
    .name = "loop",
    .send = send,
    .receive = receive,
    .poll = poll,
    .cancel = cancel,
    .close = close_transport,
    .rank = rank_of,
    .size = size_of,
};

int hd_mpi_loop_new(int n_ranks, size_t eager, void **selves)
{
	size_t n = (size_t)n_ranks;
	struct hub *hub = calloc(1, sizeof *hub);
	int complete = hub && (hub->boxes = calloc(n, sizeof *hub->boxes));
	if (complete)
		hub->n = n_ranks;
	for (size_t i = 0; i < n && complete; i++) {
		struct box *box = &hub->boxes[i];
		pthread_mutex_init(&box->lock, NULL);
		box->waiting = calloc(n, sizeof *box->waiting);
		box->arrived = calloc(n, sizeof *box->arrived);
		struct transport *t = calloc(1, sizeof *t);
		complete = box->waiting && box->arrived && t;
		if (t)
			*t = (struct transport){hub, (int)i};
		selves[i] = t;
	}
	if (complete) {
		hub->eager = eager;
		hub->open = n_ranks;
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		free(selves[i]);
	if (hub)
		free_hub(hub);
	return heddle_error(HEDDLE_E_MEMORY, "no memory for %d ranks", n_ranks);
}
