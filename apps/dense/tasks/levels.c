/* Bottom levels: for each task of a call, the sum of the costs on the longest path from the task to the end.
 *
 * The dependencies are those of Heddle: a task that reads a datum waits for the last writer, and a task that writes the
 * datum also waits for all tasks that have read it since. No list of edges is needed. The tasks are visited from the
 * last to the first, and per datum two levels are kept: the level of the next writer, and the largest level of the
 * readers before this writer.
 */
#include <dense/internal.h>
#include <stdlib.h>
#include <string.h>

struct access {
	uint32_t datum; /* number of the datum */
	uint32_t writes;
};
struct noted {
	size_t end; /* end of its accesses in `accesses`; they begin at the `end` of the previous task */
	int cost, level;
};
struct place {
	const void *datum; /* NULL: the place is free */
	uint32_t number;
};

struct hd_dense_levels {
	struct noted *tasks;     /* owns */
	struct access *accesses; /* owns */
	struct place *places;    /* owns; a hash table of 2^k places, at most half of them taken */
	size_t n_tasks, room_tasks, n_accesses, room_accesses, n_data, n_places;
};

struct hd_dense_levels *hd_dense_levels_new(void)
{
	return calloc(1, sizeof(struct hd_dense_levels));
}

void hd_dense_levels_free(struct hd_dense_levels *levels)
{
	if (!levels)
		return;
	free(levels->tasks);
	free(levels->accesses);
	free(levels->places);
	free(levels);
}

/* Makes room for one more element. */
static int grow(void **array, size_t n, size_t *room, size_t size)
{
	if (n < *room)
		return 0;
	size_t more = *room ? 2 * *room : 256;
	void *larger = realloc(*array, more * size);
	if (!larger)
		return hd_dense_no_memory("the priorities of tasks");
	*array = larger;
	*room = more;
	return 0;
}

static struct place *find(struct place *places, size_t n, const void *datum)
{
	size_t i = hd_dense_hash((uint64_t)(uintptr_t)datum, 1) & (n - 1);
	while (places[i].datum && places[i].datum != datum)
		i = (i + 1) & (n - 1);
	return &places[i];
}

static int grow_places(struct hd_dense_levels *levels)
{
	if (2 * levels->n_data < levels->n_places)
		return 0;
	size_t n = levels->n_places ? 2 * levels->n_places : 256;
	struct place *larger = calloc(n, sizeof *larger);
	if (!larger)
		return hd_dense_no_memory("the priorities of tasks");
	for (size_t i = 0; i < levels->n_places; i++)
		if (levels->places[i].datum)
			*find(larger, n, levels->places[i].datum) = levels->places[i];
	free(levels->places);
	levels->places = larger;
	levels->n_places = n;
	return 0;
}

static int add_access(struct hd_dense_levels *levels, const void *datum, int writes)
{
	int status = grow_places(levels);
	if (status >= 0)
		status = grow((void **)&levels->accesses, levels->n_accesses, &levels->room_accesses,
		              sizeof *levels->accesses);
	if (status < 0)
		return status;
	struct place *place = find(levels->places, levels->n_places, datum);
	if (!place->datum)
		*place = (struct place){datum, (uint32_t)levels->n_data++};
	levels->accesses[levels->n_accesses++] = (struct access){place->number, (uint32_t)writes};
	return 0;
}

int hd_dense_levels_add(struct hd_dense_levels *levels, int cost, size_t n, const struct heddle_item *items)
{
	int status = grow((void **)&levels->tasks, levels->n_tasks, &levels->room_tasks, sizeof *levels->tasks);
	for (size_t i = 0; status >= 0 && i < n; i++)
		if (items[i].what == HEDDLE_R || items[i].what == HEDDLE_W || items[i].what == HEDDLE_RW)
			status = add_access(levels, items[i].ptr, items[i].what != HEDDLE_R);
	if (status >= 0)
		levels->tasks[levels->n_tasks++] = (struct noted){.end = levels->n_accesses, .cost = cost};
	return status;
}

static int larger(int a, int b)
{
	return a > b ? a : b;
}

int hd_dense_levels_compute(struct hd_dense_levels *levels)
{
	struct {
		int reader, writer; /* the next reader and the next writer, towards the end of the call */
	} *next = calloc(levels->n_data ? levels->n_data : 1, sizeof *next);
	if (!next)
		return hd_dense_no_memory("the priorities of tasks");
	for (size_t t = levels->n_tasks; t-- > 0;) {
		size_t begin = t > 0 ? levels->tasks[t - 1].end : 0, end = levels->tasks[t].end;
		int level = 0;
		for (size_t i = begin; i < end; i++) {
			const struct access *a = &levels->accesses[i];
			level = larger(level, next[a->datum].writer);
			if (a->writes)
				level = larger(level, next[a->datum].reader);
		}
		level += levels->tasks[t].cost;
		for (size_t i = begin; i < end; i++) {
			const struct access *a = &levels->accesses[i];
			if (a->writes) {
				next[a->datum].writer = level;
				next[a->datum].reader = 0;
			} else {
				next[a->datum].reader = larger(next[a->datum].reader, level);
			}
		}
		levels->tasks[t].level = level;
	}
	free(next);
	return 0;
}

int hd_dense_levels_top(const struct hd_dense_levels *levels)
{
	int top = 0;
	for (size_t t = 0; t < levels->n_tasks; t++)
		top = larger(top, levels->tasks[t].level);
	return top;
}

int hd_dense_level(const struct hd_dense_levels *levels, size_t i)
{
	return levels->tasks[i].level;
}
