/* The collective wait: the ranks agree that their programs are equal so far, each waits for its tasks, and then they
 * agree on the first error. Agreeing is a message up a binary tree of ranks, and one down. */
#include <stdlib.h>
#include <string.h>
#include "mpi/internal.h"

/* What ranks agree on. */
struct verdict {
	uint64_t sum; /* of the hashes of the stream */
	int32_t status, rank;
	int32_t is_own; /* the failure of a task of this rank, and not a consequence of another rank's */
	char sentence[488];
};

/* Whether `a` is to be reported before `b`. */
static int is_before(const struct verdict *a, const struct verdict *b)
{
	if (!a->status || !b->status)
		return a->status != 0;
	if (a->is_own != b->is_own)
		return a->is_own;
	return a->rank < b->rank;
}

static int carry(heddle_mpi *m, int peer, int sends, struct verdict *verdict)
{
	struct hd_mpi_pair *p = hd_mpi_control(m, peer);
	heddle_data *handle;
	int ended, status = p ? heddle_variable(m->rt, verdict, sizeof *verdict, &handle) : HEDDLE_E_MEMORY;
	if (status)
		return status;
	status = sends ? hd_mpi_send(p, handle, 0) : hd_mpi_receive(p, handle, 0);
	do
		ended = heddle_unregister(handle);
	while (ended == HEDDLE_E_INTERRUPTED);
	heddle_group_wait(m->talk); /* its error is that of the datum */
	return status ? status : ended;
}

static void note_loss(heddle_mpi *m, struct verdict *verdict, int peer)
{
	struct verdict loss = {.sum = verdict->sum, .status = HEDDLE_E_PEER, .rank = m->rank, .is_own = 1};
	snprintf(loss.sentence, sizeof loss.sentence, "rank %d: rank %d does not answer", m->rank, peer);
	if (is_before(&loss, verdict))
		*verdict = loss;
}

/* Makes *verdict the same on all ranks: the first error, and the sum of the sums. */
static void agree(heddle_mpi *m, struct verdict *verdict)
{
	int parent = (m->rank - 1) / 2;
	for (int child = 2 * m->rank + 1; child <= 2 * m->rank + 2 && child < m->size; child++) {
		struct verdict its;
		if (carry(m, child, 0, &its)) {
			note_loss(m, verdict, child);
			continue;
		}
		uint64_t sum = verdict->sum + its.sum;
		if (is_before(&its, verdict))
			*verdict = its;
		verdict->sum = sum;
	}
	if (m->rank > 0) {
		struct verdict all;
		int lost = carry(m, parent, 1, verdict);
		if (lost || carry(m, parent, 0, &all))
			note_loss(m, verdict, parent);
		else
			*verdict = all;
	}
	for (int child = 2 * m->rank + 1; child <= 2 * m->rank + 2 && child < m->size; child++)
		if (carry(m, child, 1, verdict))
			note_loss(m, verdict, child);
}

/* Compares the streams of all ranks. If two differ, their ends do not number the same messages, and those under way
 * need not be waited for. */
static int agree_on_stream(heddle_mpi *m, struct verdict *verdict)
{
	*verdict = (struct verdict){.sum = hd_mpi_trails_sum(m), .rank = m->rank};
	agree(m, verdict);
	if (verdict->status || !verdict->sum)
		return verdict->status;
	*verdict = (struct verdict){.rank = m->rank, .is_own = 1};
	verdict->status = hd_mpi_trails_compare(m, verdict->sentence, sizeof verdict->sentence);
	agree(m, verdict);
	if (!verdict->status)
		*verdict = (struct verdict){.status = HEDDLE_E_INVALID, .sentence = "the programs of two ranks differ"};
	return verdict->status;
}

static int wait_here(heddle_mpi *m)
{
	int status;
	do
		status = heddle_wait_all(m->rt);
	while (status == HEDDLE_E_INTERRUPTED);
	return status;
}

static void note_own(heddle_mpi *m, struct verdict *verdict, int status)
{
	*verdict = (struct verdict){.status = status, .rank = m->rank};
	verdict->is_own = status && status != HEDDLE_E_CANCELLED;
	if (status)
		snprintf(verdict->sentence, sizeof verdict->sentence, "rank %d: %s", m->rank, heddle_last_error());
}

int heddle_mpi_wait_all(heddle_mpi *m)
{
	struct verdict verdict;
	if (!m)
		return heddle_error(HEDDLE_E_INVALID, "heddle_mpi_wait_all: NULL");
	if (m->broken)
		return heddle_error(m->broken, "rank %d can only stop after an error of heddle_mpi_wait_all", m->rank);
	int combined = hd_mpi_combine_all(m);
	if (agree_on_stream(m, &verdict)) {
		hd_mpi_give_up(m);
		wait_here(m);
		m->broken = verdict.status;
		return heddle_error(verdict.status, "%s", verdict.sentence);
	}
	int status = wait_here(m), messages = heddle_group_wait(m->messages);
	note_own(m, &verdict, status ? status : combined);
	if (messages == HEDDLE_E_KERNEL && heddle_last_code() == HEDDLE_E_PEER)
		note_own(m, &verdict, HEDDLE_E_PEER);
	agree(m, &verdict);
	if (verdict.status == HEDDLE_E_PEER) {
		hd_mpi_give_up(m);
		m->broken = verdict.status;
	}
	return verdict.status ? heddle_error(verdict.status, "%s", verdict.sentence) : 0;
}
