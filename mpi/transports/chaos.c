/* A transport that delays messages, so that they overtake each other, and lets calls fail: for tests. Messages of one
 * rank, direction and tag keep their order, as with MPI. */
#include <stdlib.h>
#include "transport.h"

struct transport {
	struct hd_mpi_chaos chaos;
	const struct hd_mpi_transport *inner;
	void *self;
	uint64_t random, now, calls;
	struct hd_mpi_message *delayed; /* oldest first, by `link` */
	struct hd_mpi_message *failed;  /* whose delayed calls have failed */
};

static uint64_t next_random(struct transport *t)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return t->random;
}

static int begin(void *self, struct hd_mpi_message *message)
{
	struct transport *t = self;
	struct hd_mpi_message **end = &t->delayed;
	t->calls++;
	if (t->calls >= t->chaos.fail_from && t->calls <= t->chaos.fail_to)
		return HEDDLE_E_PEER;
	message->due = t->now + next_random(t) % (t->chaos.delay + 1);
	while (*end)
		end = &(*end)->link;
	message->link = NULL;
	*end = message;
	return 0;
}

/* Whether an older message must begin before this one. */
static int is_behind(const struct transport *t, const struct hd_mpi_message *message)
{
	const struct hd_mpi_message *m = t->delayed;
	while (m != message && (m->pair != message->pair || m->tag != message->tag || m->sends != message->sends))
		m = m->link;
	return m != message;
}

static void release(struct transport *t)
{
	for (struct hd_mpi_message **at = &t->delayed; *at;) {
		struct hd_mpi_message *message = *at;
		if (message->due > t->now || is_behind(t, message)) {
			at = &message->link;
			continue;
		}
		*at = message->link;
		int status = message->sends ? t->inner->send(t->self, message) : t->inner->receive(t->self, message);
		message->status = status;
		if (status) {
			message->link = t->failed;
			t->failed = message;
		}
	}
}

static struct hd_mpi_message *poll(void *self)
{
	struct transport *t = self;
	t->now++;
	release(t);
	struct hd_mpi_message *message = t->failed;
	if (!message)
		return t->inner->poll(t->self);
	t->failed = message->link;
	return message;
}

static void cancel(void *self, struct hd_mpi_message *message)
{
	struct transport *t = self;
	struct hd_mpi_message **at = &t->delayed;
	while (*at && *at != message)
		at = &(*at)->link;
	if (*at)
		*at = message->link;
	else
		t->inner->cancel(t->self, message);
}

static void close_transport(void *self)
{
	struct transport *t = self;
	t->inner->close(t->self);
	free(t);
}

static int rank_of(const void *self)
{
	const struct transport *t = self;
	return t->inner->rank(t->self);
}

static int size_of(const void *self)
{
	const struct transport *t = self;
	return t->inner->size(t->self);
}

const struct hd_mpi_transport hd_mpi_transport_chaos = {
    .name = "chaos",
    .send = begin,
    .receive = begin,
    .poll = poll,
    .cancel = cancel,
    .close = close_transport,
    .rank = rank_of,
    .size = size_of,
};

int hd_mpi_chaos_open(const struct hd_mpi_chaos *chaos, const struct hd_mpi_transport *inner, void *inner_self,
                      void **self)
{
	struct transport *t = calloc(1, sizeof *t);
	if (!t)
		return heddle_error(HEDDLE_E_MEMORY, "no memory for a transport");
	*t = (struct transport){.chaos = *chaos, .inner = inner, .self = inner_self};
	t->random = chaos->seed * 0x9e3779b97f4a7c15u + 1;
	*self = t;
	return 0;
}
