/* Hashes of the stream: two ranks must see the same calls that concern both. Each rank keeps, per other rank, a running
 * hash of these calls, and the names of the last ones. A wait adds all hashes up, those of a pair with opposite signs:
 * the sum is 0 if all pairs agree. If not, the ranks exchange their trails, and find the first call that differs. */
#include <stdlib.h>
#include <string.h>
#include "mpi/internal.h"

static uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	return x;
}

static struct hd_mpi_trail *trail_of(heddle_mpi *m, int peer)
{
	struct hd_mpi_pair *p = hd_mpi_pair(m, peer);
	if (p && !p->trail)
		p->trail = calloc(1, sizeof *p->trail);
	return p ? p->trail : NULL;
}

/* A call that concerns this rank and `peer`. Without memory the trail is left as it is, and the next wait finds it
 * different. */
void hd_mpi_trail_add(heddle_mpi *m, int peer, uint64_t hash, const char *name)
{
	struct hd_mpi_trail *trail = trail_of(m, peer);
	if (!trail)
		return;
	uint64_t before = trail->n ? trail->steps[(trail->n - 1) % HD_MPI_STEPS].hash : 0;
	struct hd_mpi_step *step = &trail->steps[trail->n++ % HD_MPI_STEPS];
	size_t length = strnlen(name, sizeof step->name - 1);
	memcpy(step->name, name, length);
	step->name[length] = 0;
	for (size_t i = 0; i < length; i++)
		hash = hash * 31 + (unsigned char)name[i];
	step->hash = mix(before + hash + 1);
	step->index = m->stats.tasks;
}

/* This rank's part of the sum. */
uint64_t hd_mpi_trails_sum(const heddle_mpi *m)
{
	uint64_t sum = 0;
	for (int peer = 0; peer < m->size; peer++) {
		const struct hd_mpi_trail *trail = m->pairs[peer] ? m->pairs[peer]->trail : NULL;
		if (!trail || !trail->n)
			continue;
		uint64_t low = (uint64_t)(peer < m->rank ? peer : m->rank), high = (uint64_t)(peer + m->rank) - low;
		uint64_t hash = mix(trail->steps[(trail->n - 1) % HD_MPI_STEPS].hash + trail->n + (low << 32) + high);
		sum += peer < m->rank ? hash : -hash;
	}
	return sum;
}

/* Writes the sentence if the trails differ. */
static int compare(const heddle_mpi *m, int peer, const struct hd_mpi_trail *mine, const struct hd_mpi_trail *other,
                   char *sentence, size_t size)
{
	static const struct hd_mpi_step none = {.name = "no further task"};
	uint64_t longest = mine->n > other->n ? mine->n : other->n;
	for (uint64_t i = longest > HD_MPI_STEPS ? longest - HD_MPI_STEPS : 0; i < longest; i++) {
		const struct hd_mpi_step *a = i < mine->n ? &mine->steps[i % HD_MPI_STEPS] : &none;
		const struct hd_mpi_step *b = i < other->n ? &other->steps[i % HD_MPI_STEPS] : &none;
		if (a->hash == b->hash && i < mine->n && i < other->n)
			continue;
		int is_first = longest <= HD_MPI_STEPS || i > longest - HD_MPI_STEPS;
		snprintf(
		    sentence, size,
		    "the programs of rank %d and rank %d differ%s in task %llu of those that concern both: rank %d "
		    "has %s (task %llu of its program), rank %d has %s",
		    m->rank, peer, is_first ? "" : ", at the latest", (unsigned long long)i, m->rank, a->name,
		    (unsigned long long)a->index, peer, b->name);
		return HEDDLE_E_INVALID;
	}
	return 0;
}

/* Sends or receives a trail; blocks. */
static int exchange(heddle_mpi *m, int peer, int sends, struct hd_mpi_trail *trail)
{
	struct hd_mpi_pair *p = hd_mpi_control(m, peer);
	heddle_data *handle;
	int status = p ? heddle_variable(m->rt, trail, sizeof *trail, &handle) : HEDDLE_E_MEMORY;
	if (status)
		return status;
	status = sends ? hd_mpi_send(p, handle, 0) : hd_mpi_receive(p, handle, 0);
	int ended;
	do
		ended = heddle_unregister(handle);
	while (ended == HEDDLE_E_INTERRUPTED);
	heddle_group_wait(m->talk); /* its error is that of the datum */
	return status ? status : ended;
}

/* All ranks call this. Each rank compares its trail with those of higher ranks. */
int hd_mpi_trails_compare(heddle_mpi *m, char *sentence, size_t size)
{
	int status = 0;
	struct hd_mpi_trail *other = calloc(1, sizeof *other);
	for (int peer = 0; peer < m->size && other; peer++) {
		struct hd_mpi_trail *mine = peer == m->rank ? NULL : trail_of(m, peer);
		if (!mine)
			continue;
		int failed = exchange(m, peer, peer < m->rank, peer < m->rank ? mine : other);
		if (peer > m->rank && !failed && !status)
			status = compare(m, peer, mine, other, sentence, size);
	}
	free(other);
	return status;
}
