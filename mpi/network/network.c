/* Messages under way. A message is *begun* when its task is launched. Receives are posted at once: their tasks run in
 * the order of their turns. A send waits until the send before it with the same tag has been posted: that one's datum
 * may have no value, so that its task was cancelled, and a note is to come instead, which says so. */
#include <stdlib.h>
#include <string.h>
#include "network.h"

/* --- Ends --------------------------------------------------------------------------------------------------------- */

static void link_posted(struct hd_mpi_network *network, struct hd_mpi_message *message)
{
	struct hd_mpi_list *list = message->is_note ? &network->notes : &network->posted;
	if (!list->first)
		network->last_news = heddle_now(network->m->rt);
	message->previous = list->last;
	message->next = NULL;
	*(list->last ? &list->last->next : &list->first) = message;
	list->last = message;
	list->n++;
}

static void unlink_posted(struct hd_mpi_network *network, struct hd_mpi_message *message)
{
	struct hd_mpi_list *list = message->is_note ? &network->notes : &network->posted;
	*(message->previous ? &message->previous->next : &list->first) = message->next;
	*(message->next ? &message->next->previous : &list->last) = message->previous;
	list->n--;
}

static void count(struct hd_mpi_network *network, const struct hd_mpi_message *message)
{
	if (message->pair->first_tag)
		return; /* what ranks say to each other in waits */
	if (message->sends) {
		network->sent++;
		network->bytes_sent += message->bytes;
	} else {
		network->received++;
		network->bytes_received += message->bytes;
	}
}

/* A message has ended; the task's next query sees it. */
static void end(struct hd_mpi_network *network, struct hd_mpi_message *message, int status)
{
	message->status = status;
	if (!status && !message->is_note)
		count(network, message);
	if (!status && !message->sends && message->got == message->length && message->packed && message->bytes)
		hd_mpi_unpack(&message->part, message->buffer);
	message->state = HD_MPI_DONE;
	if (message->is_note)
		hd_mpi_message_free(message);
}

/* --- Posting ------------------------------------------------------------------------------------------------------ */

static int begin(struct hd_mpi_network *network, struct hd_mpi_message *message)
{
	const struct hd_mpi_transport *t = network->transport;
	return message->sends ? t->send(network->self, message) : t->receive(network->self, message);
}

/* A call that fails is repeated once. If it fails again, nothing is certain about the pair any more. */
static void post(struct hd_mpi_network *network, struct hd_mpi_message *message)
{
	struct hd_mpi_pair *p = message->pair;
	int lost = p->lost || network->gives_up;
	message->tag = p->first_tag + (int)(message->number % p->gate);
	if (!lost && begin(network, message)) {
		network->failed_calls++;
		lost = p->lost = begin(network, message) != 0;
	}
	if (lost) {
		end(network, message, HEDDLE_E_PEER);
		return;
	}
	message->state = HD_MPI_POSTED;
	link_posted(network, message);
}

void hd_mpi_network_begin(struct hd_mpi_network *network, struct hd_mpi_message *message)
{
	if (!message->sends) {
		post(network, message);
		return;
	}
	struct hd_mpi_pair *p = message->pair; /* a note of a lost pair ends, and is freed, when it is posted */
	struct hd_mpi_way *out = &p->out;
	size_t tag = message->number % p->gate;
	message->state = HD_MPI_HELD;
	message->next = out->held[tag];
	out->held[tag] = message;
	for (struct hd_mpi_message **at = &out->held[tag]; *at;) {
		struct hd_mpi_message *held = *at;
		if (held->number != out->next[tag]) {
			at = &held->next;
			continue;
		}
		*at = held->next;
		out->next[tag] += p->gate;
		post(network, held);
		at = &out->held[tag]; /* its successor may stand anywhere */
	}
}

/* --- Polling ------------------------------------------------------------------------------------------------------ */

static void fail_posted(struct hd_mpi_network *network, const struct hd_mpi_list *list)
{
	for (struct hd_mpi_message *message = list->first, *next; message; message = next) {
		next = message->next;
		if (!network->gives_up && !message->pair->lost)
			continue;
		network->transport->cancel(network->self, message);
		unlink_posted(network, message);
		end(network, message, HEDDLE_E_PEER);
	}
}

/* The setting peer_timeout: the ranks from which messages are expected count as lost. */
static void watch_peers(struct hd_mpi_network *network, int news)
{
	double limit = 1e6 * network->m->settings.peer_timeout;
	if (limit <= 0 || !network->posted.first)
		return;
	double now = heddle_now(network->m->rt);
	if (news)
		network->last_news = now;
	if (now - network->last_news <= limit)
		return;
	for (struct hd_mpi_message *message = network->posted.first; message; message = message->next)
		message->pair->lost = 1;
	fail_posted(network, &network->posted);
}

void hd_mpi_network_poll(struct hd_mpi_network *network)
{
	struct hd_mpi_message *message;
	int news = 0;
	while ((message = network->transport->poll(network->self))) {
		int status = message->status ? HEDDLE_E_PEER : 0;
		message->pair->lost |= status != 0;
		unlink_posted(network, message);
		end(network, message, status);
		news = 1;
	}
	if (network->gives_up) {
		fail_posted(network, &network->posted);
		fail_posted(network, &network->notes);
	}
	watch_peers(network, news);
}

void hd_mpi_network_end(struct hd_mpi_network *network)
{
	network->gives_up = 1;
	hd_mpi_network_poll(network);
}
