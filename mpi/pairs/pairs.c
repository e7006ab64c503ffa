/* Pairs of ranks: numbers of messages, and their tasks. Both ends number the messages of a direction in the order of
 * the stream, so that message n of the sender is message n of the receiver, whatever the order in which they are
 * posted.
 *
 * Message n has the tag n mod gate. Its task writes the *turn* of this tag, and so comes after message n - gate, with
 * the same tag, has ended; that is the gate. So at each end a tag has one message at most, and a rank has a bounded
 * number of messages under way, as many as its worker has streams. Whatever a message waits for is earlier in the
 * stream, so the earliest one can always go on. */
#include <stdlib.h>
#include "mpi/internal.h"

/* heddle_stop has ended the handles and the tasks. Notes may be left, after a rank was lost. */
static void free_way(const struct hd_mpi_way *way, unsigned gate)
{
	for (unsigned tag = 0; way->held && tag < gate; tag++)
		for (struct hd_mpi_message *note = way->held[tag], *next; note; note = next) {
			next = note->next;
			hd_mpi_message_free(note);
		}
	free(way->turns);
	free(way->next);
	free(way->held);
}

static int make_way(struct hd_mpi_way *way, unsigned gate)
{
	way->turns = calloc(gate, sizeof *way->turns);
	way->next = calloc(gate, sizeof *way->next);
	way->held = calloc(gate, sizeof *way->held);
	if (!way->turns || !way->next || !way->held)
		return -1;
	for (unsigned i = 0; i < gate; i++)
		way->next[i] = i;
	return 0;
}

static void free_pair(struct hd_mpi_pair *p)
{
	if (!p)
		return;
	free_way(&p->out, p->gate);
	free_way(&p->in, p->gate);
	free(p->trail);
	free(p->tokens);
	free(p);
}

static struct hd_mpi_pair *find(heddle_mpi *m, struct hd_mpi_pair **list, int peer, int first_tag, unsigned gate)
{
	struct hd_mpi_pair *p = list[peer];
	if (p)
		return p;
	p = calloc(1, sizeof *p);
	if (p) {
		*p = (struct hd_mpi_pair){.m = m, .peer = peer, .first_tag = first_tag, .gate = gate};
		p->tokens = calloc(gate, 2);
		if (p->tokens && !make_way(&p->out, gate) && !make_way(&p->in, gate))
			return list[peer] = p;
		free_pair(p);
	}
	heddle_error(HEDDLE_E_MEMORY, "rank %d: no memory for messages with rank %d", m->rank, peer);
	return NULL;
}

struct hd_mpi_pair *hd_mpi_pair(heddle_mpi *m, int peer)
{
	return find(m, m->pairs, peer, 0, m->settings.gate);
}

/* What ranks say to each other in waits must not depend on messages with values: their tags are others. */
struct hd_mpi_pair *hd_mpi_control(heddle_mpi *m, int peer)
{
	return find(m, m->control, peer, (int)m->settings.gate, 1);
}

void hd_mpi_pairs_free(heddle_mpi *m)
{
	for (int peer = 0; peer < m->size; peer++) {
		if (m->pairs)
			free_pair(m->pairs[peer]);
		if (m->control)
			free_pair(m->control[peer]);
	}
	free(m->pairs);
	free(m->control);
	m->pairs = m->control = NULL;
}

/* --- Messages ----------------------------------------------------------------------------------------------------- */

static int turn_of(struct hd_mpi_pair *p, struct hd_mpi_way *way, uint64_t number, heddle_data **turn)
{
	unsigned tag = (unsigned)(number % p->gate);
	int status = 0;
	if (!way->turns[tag])
		status =
		    heddle_variable(p->m->rt, p->tokens + tag + (way == &p->in ? p->gate : 0), 1, &way->turns[tag]);
	*turn = way->turns[tag];
	return status;
}

static int submit(struct hd_mpi_pair *p, heddle_data *handle, int sends, int priority)
{
	heddle_mpi *m = p->m;
	struct hd_mpi_way *way = sends ? &p->out : &p->in;
	struct hd_mpi_message *message = calloc(1, sizeof *message);
	heddle_data *turn;
	uint64_t number = way->n++;
	if (!message || turn_of(p, way, number, &turn)) {
		free(message);
		hd_mpi_give_up(m);
		return heddle_error(HEDDLE_E_MEMORY, "rank %d: no memory for a message", m->rank);
	}
	*message = (struct hd_mpi_message){.pair = p, .number = number, .sends = sends};
	int status = heddle_submit(
	    m->rt, heddle_call(sends ? m->send : m->receive), heddle_access(sends ? HEDDLE_R : HEDDLE_W, handle),
	    heddle_w(turn), heddle_value(message), heddle_priority(priority),
	    heddle_in_group(p->first_tag ? m->talk : m->messages), heddle_then(hd_mpi_message_ended, message));
	if (status) {
		hd_mpi_message_free(message);
		hd_mpi_give_up(m);
	}
	return status;
}

int hd_mpi_send(struct hd_mpi_pair *p, heddle_data *handle, int priority)
{
	return submit(p, handle, 1, priority);
}

int hd_mpi_receive(struct hd_mpi_pair *p, heddle_data *handle, int priority)
{
	return submit(p, handle, 0, priority);
}
