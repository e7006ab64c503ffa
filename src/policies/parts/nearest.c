/* Finds marked workers by blocks of near workers (nearest.h). */
#include "nearest.h"
#include <stdlib.h>

enum { BITS = 64 };

/* --- Blocks ------------------------------------------------------------------------------------------------------- */

static int level_alloc(struct hd_nearest_level *l, size_t n)
{
	l->members = calloc(n, sizeof *l->members);
	l->place = calloc(n, sizeof *l->place);
	l->first = calloc(n, sizeof *l->first);
	l->end = calloc(n, sizeof *l->end);
	l->marked = calloc(n / BITS + 1, sizeof *l->marked);
	l->nonempty = calloc(n / BITS / BITS + 1, sizeof *l->nonempty);
	return l->members && l->place && l->first && l->end && l->marked && l->nonempty;
}

static void level_free(struct hd_nearest_level *l)
{
	free(l->members);
	free(l->place);
	free(l->first);
	free(l->end);
	free(l->marked);
	free(l->nonempty);
}

/* Finds the blocks of workers that are at most `distance` apart. block[w] becomes the number of the block of w, and
 * size[b] the number of its workers. Returns the number of blocks. A worker belongs to the block whose first worker is
 * at most `distance` away. */
static unsigned find_blocks(const heddle_sched *sched, size_t n, unsigned distance, unsigned *block, unsigned *size)
{
	unsigned *leaders = size + n, n_blocks = 0;
	for (unsigned w = 0; w < n; w++) {
		unsigned b = w && heddle_sched_distance(sched, leaders[block[w - 1]], w) <= distance ? block[w - 1] : 0;
		while (b < n_blocks && heddle_sched_distance(sched, leaders[b], w) > distance)
			b++;
		if (b == n_blocks) {
			leaders[b] = w;
			size[n_blocks++] = 0;
		}
		block[w] = b;
		size[b]++;
	}
	return n_blocks;
}

static void list_blocks(struct hd_nearest_level *l, size_t n, unsigned n_blocks, const unsigned *block, unsigned *size)
{
	unsigned first = 0;
	for (unsigned b = 0; b < n_blocks; b++) { /* from here on, size[b] is the place of the block's next member */
		first += size[b];
		size[b] = first - size[b];
	}
	for (unsigned w = 0; w < n; w++) {
		l->place[w] = size[block[w]]++;
		l->members[l->place[w]] = w;
	}
	for (size_t i = 0; i < n; i++) { /* now size[b] is the end of the block */
		unsigned w = l->members[i];
		int begins = i == 0 || block[l->members[i - 1]] != block[w];
		l->first[w] = begins ? (unsigned)i : l->first[l->members[i - 1]];
		l->end[w] = size[block[w]];
	}
}

int hd_nearest_init(struct hd_nearest *n, const heddle_sched *sched, int cyclic)
{
	size_t n_workers = heddle_sched_platform(sched)->n_workers;
	*n = (struct hd_nearest){.n_workers = n_workers, .cyclic = cyclic};
	unsigned farthest = 1, n_before = 0;
	for (unsigned w = 1; w < n_workers; w++) {
		unsigned distance = heddle_sched_distance(sched, 0, w);
		farthest = distance > farthest ? distance : farthest;
	}
	n->levels = calloc(farthest, sizeof *n->levels);
	unsigned *scratch = calloc(3 * n_workers, sizeof *scratch);
	int ok = n->levels && scratch;
	for (unsigned distance = 1; ok && distance <= farthest; distance++) {
		unsigned *block = scratch, *size = scratch + n_workers;
		unsigned n_blocks = find_blocks(sched, n_workers, distance, block, size);
		if (n_blocks == n_before)
			continue;
		ok = level_alloc(&n->levels[n->n_levels++], n_workers);
		if (ok)
			list_blocks(&n->levels[n->n_levels - 1], n_workers, n_blocks, block, size);
		n_before = n_blocks;
	}
	free(scratch);
	return ok ? HEDDLE_OK : hd_no_memory("the policy's list of neighbours");
}

void hd_nearest_fini(struct hd_nearest *n)
{
	for (size_t i = 0; i < n->n_levels; i++)
		level_free(&n->levels[i]);
	free(n->levels);
}

/* --- Marks -------------------------------------------------------------------------------------------------------- */

void hd_nearest_mark(struct hd_nearest *n, unsigned worker)
{
	for (size_t level = 0; level < n->n_levels; level++) {
		const struct hd_nearest_level *l = &n->levels[level];
		unsigned i = l->place[worker];
		l->marked[i / BITS] |= (uint64_t)1 << i % BITS;
		l->nonempty[i / BITS / BITS] |= (uint64_t)1 << i / BITS % BITS;
	}
}

void hd_nearest_unmark(struct hd_nearest *n, unsigned worker)
{
	for (size_t level = 0; level < n->n_levels; level++) {
		const struct hd_nearest_level *l = &n->levels[level];
		unsigned i = l->place[worker];
		l->marked[i / BITS] &= ~((uint64_t)1 << i % BITS);
		if (!l->marked[i / BITS])
			l->nonempty[i / BITS / BITS] &= ~((uint64_t)1 << i / BITS % BITS);
	}
}

/* The first bit that is set, from bit `at` on, in the `n` words; SIZE_MAX: none. */
static size_t next_bit(const uint64_t *words, size_t n, size_t at)
{
	size_t i = at / BITS;
	uint64_t word = i < n ? words[i] >> at % BITS << at % BITS : 0;
	while (!word && ++i < n)
		word = words[i];
	return word ? i * BITS + (size_t)__builtin_ctzll(word) : SIZE_MAX;
}

/* The first marked place from `at` on; SIZE_MAX: none. */
static size_t next_marked(const struct hd_nearest_level *l, size_t n_places, size_t at)
{
	size_t i = at / BITS;
	uint64_t word = at < n_places ? l->marked[i] >> at % BITS << at % BITS : 0;
	if (!word) {
		i = next_bit(l->nonempty, n_places / BITS / BITS + 1, i + 1);
		if (i == SIZE_MAX)
			return SIZE_MAX;
		word = l->marked[i];
	}
	return i * BITS + (size_t)__builtin_ctzll(word);
}

/* --- The walk ----------------------------------------------------------------------------------------------------- */

static void begin_level(struct hd_nearest_walk *walk)
{
	const struct hd_nearest *n = walk->nearest;
	if (walk->level == n->n_levels)
		return;
	const struct hd_nearest_level *l = &n->levels[walk->level];
	walk->at = n->cyclic ? l->place[walk->worker] + 1 : l->first[walk->worker];
	walk->end = l->end[walk->worker];
	walk->wrapped = !n->cyclic;
}

void hd_nearest_walk(struct hd_nearest_walk *walk, const struct hd_nearest *n, unsigned worker)
{
	*walk = (struct hd_nearest_walk){.nearest = n, .worker = worker};
	begin_level(walk);
}

/* Whether the search has visited the worker already, in the block of the previous level. */
static int is_nearer(const struct hd_nearest_walk *walk, unsigned worker)
{
	const struct hd_nearest_level *inner = walk->nearest->levels + walk->level - 1;
	return worker == walk->worker || (walk->level > 0 && inner->first[worker] == inner->first[walk->worker]);
}

unsigned hd_nearest_next(struct hd_nearest_walk *walk)
{
	const struct hd_nearest *n = walk->nearest;
	while (walk->level < n->n_levels) {
		const struct hd_nearest_level *l = &n->levels[walk->level];
		size_t i = next_marked(l, n->n_workers, walk->at);
		if (i < walk->end) {
			walk->at = (unsigned)i + 1;
			if (!is_nearer(walk, l->members[i]))
				return l->members[i];
		} else if (!walk->wrapped) {
			walk->wrapped = 1;
			walk->at = l->first[walk->worker];
			walk->end = l->place[walk->worker];
		} else {
			walk->level++;
			begin_level(walk);
		}
	}
	return HD_NOBODY;
}
