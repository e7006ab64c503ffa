/* Builds graphs: see graph.h. */
#include "graph.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "trace/trace.h"
#include "base/grow.h"

int hd_build_room(struct hd_build *b, void *array, size_t n, size_t *max, size_t size)
{
	if (b->failed)
		return -1;
	/* n is limited, because numbers of elements have 32 bits */
	if (n < UINT32_MAX && !hd_grow(array, n, max, size, 64))
		return 0;
	b->failed = 1;
	return -1;
}

/* --- Names -------------------------------------------------------------------------------------------------------- */

static uint64_t hash_name(const char *name, size_t length)
{
	uint64_t h = length;
	for (size_t i = 0; i < length; i++)
		h = h * 31 + (unsigned char)name[i];
	return h;
}

/* The slot of the name; if the name has no slot, the free slot that it would get. */
static struct hd_table_slot *find_slot(const struct hd_names *names, const char *name, size_t length, uint64_t hash)
{
	struct hd_table_slot *slot = hd_table_find(&names->by_hash, hash);
	for (; slot->value; slot = hd_table_next(&names->by_hash, slot)) {
		const char *other = names->names[slot->value - 1];
		if (strncmp(other, name, length) == 0 && !other[length])
			break;
	}
	return slot;
}

uint32_t hd_build_intern(struct hd_build *b, struct hd_names *names, const char *name, size_t length)
{
	length = strnlen(name, length);
	if (hd_build_room(b, &names->names, names->n, &names->max, sizeof *names->names))
		return 0;
	b->failed = hd_table_reserve(&names->by_hash, 1) != 0;
	if (b->failed)
		return 0;
	uint64_t hash = hash_name(name, length);
	struct hd_table_slot *slot = find_slot(names, name, length, hash);
	if (slot->value)
		return (uint32_t)(slot->value - 1);
	char *copy = strndup(name, length);
	if (!copy) {
		b->failed = 1;
		return 0;
	}
	hd_table_fill(&names->by_hash, slot, hash, names->n);
	names->names[names->n] = copy;
	return (uint32_t)names->n++;
}

void hd_names_free(struct hd_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->names[i]);
	free(names->names);
	free(names->by_hash.slots);
}

/* --- Parts -------------------------------------------------------------------------------------------------------- */

void hd_build_free(struct hd_build *b)
{
	hd_names_free(&b->types);
	hd_names_free(&b->classes);
	free(b->colors);
	free(b->data);
	free(b->tasks);
	free(b->accesses);
	free(b->times);
	free(b->edges);
	hd_name_table_free(&b->task_names);
	hd_name_table_free(&b->data_names);
	free(b->name);
	*b = (struct hd_build){.failed = b->failed};
}

void hd_build_name(struct hd_build *b, const char *name)
{
	free(b->name);
	b->name = strdup(name);
	b->failed |= !b->name;
}

uint32_t hd_build_type(struct hd_build *b, const char *name, size_t length)
{
	uint32_t type = hd_build_intern(b, &b->types, name, length);
	if (type < b->n_colors || hd_build_room(b, &b->colors, b->n_colors, &b->max_colors, sizeof *b->colors))
		return type;
	b->colors[b->n_colors++] = 0;
	return type;
}

uint32_t hd_build_class(struct hd_build *b, const char *name, size_t length)
{
	return hd_build_intern(b, &b->classes, name, length);
}

uint32_t hd_build_datum(struct hd_build *b, uint64_t bytes)
{
	if (hd_build_room(b, &b->data, b->n_data, &b->max_data, sizeof *b->data))
		return 0;
	b->data[b->n_data] = bytes;
	return (uint32_t)b->n_data++;
}

uint32_t hd_build_task(struct hd_build *b, uint32_t type)
{
	if (hd_build_room(b, &b->tasks, b->n_tasks, &b->max_tasks, sizeof *b->tasks))
		return 0;
	b->tasks[b->n_tasks] = (struct heddle_graph_task){.type = type};
	return (uint32_t)b->n_tasks++;
}

static void add_name(struct hd_build *b, struct heddle_names *names, uint32_t id, const char *name, size_t length)
{
	length = strnlen(name, length);
	if (b->failed || !length)
		return;
	if (hd_name_table_add(names, id, name, length)) {
		b->failed = 1;
		return;
	}
	for (char *s = names->list[names->n - 1].name; *s;) {
		size_t n = hd_utf8_length(s);
		if (!n)
			*s = '?';
		s += n ? n : 1;
	}
}

void hd_build_task_name(struct hd_build *b, uint32_t task, const char *name, size_t length)
{
	add_name(b, &b->task_names, task, name, length);
}

void hd_build_data_name(struct hd_build *b, uint32_t datum, const char *name, size_t length)
{
	add_name(b, &b->data_names, datum, name, length);
}

void hd_build_access(struct hd_build *b, uint32_t task, uint32_t data, uint32_t mode)
{
	if (hd_build_room(b, &b->accesses, b->n_accesses, &b->max_accesses, sizeof *b->accesses) == 0)
		b->accesses[b->n_accesses++] = (struct hd_build_access){task, data, mode};
}

void hd_build_time(struct hd_build *b, uint32_t task, uint32_t class_id, double us)
{
	if (hd_build_room(b, &b->times, b->n_times, &b->max_times, sizeof *b->times) == 0)
		b->times[b->n_times++] = (struct hd_build_time){task, class_id, us + 0.0}; /* -0 becomes 0 */
}

void hd_build_edge(struct hd_build *b, uint32_t from, uint32_t to, uint64_t bytes)
{
	if (hd_build_room(b, &b->edges, b->n_edges, &b->max_edges, sizeof *b->edges) == 0)
		b->edges[b->n_edges++] = (struct hd_build_edge){from, to, bytes};
}

static int compare_edges(const void *a, const void *b)
{
	const struct hd_build_edge *x = a, *y = b;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* --- Order -------------------------------------------------------------------------------------------------------- */

/* A binary heap of tasks whose predecessors all have a place; the task with the smallest number is on top. */
struct heap {
	uint32_t *tasks;
	size_t n;
};

static void heap_push(struct heap *h, uint32_t task)
{
	size_t i = h->n++;
	for (; i && h->tasks[(i - 1) / 2] > task; i = (i - 1) / 2)
		h->tasks[i] = h->tasks[(i - 1) / 2];
	h->tasks[i] = task;
}

static uint32_t heap_pop(struct heap *h)
{
	uint32_t top = h->tasks[0], last = h->tasks[--h->n];
	size_t i = 0;
	for (size_t child = 1; child < h->n; child = 2 * i + 1) {
		if (child + 1 < h->n && h->tasks[child + 1] < h->tasks[child])
			child++;
		if (h->tasks[child] > last)
			break;
		h->tasks[i] = h->tasks[child];
		i = child;
	}
	h->tasks[i] = last;
	return top;
}

struct sorting {
	size_t *first; /* the successors of task i are to[first[i]] to to[first[i + 1] - 1] */
	/* waits: per task: number of predecessors without a place; place: per task: its new number */
	uint32_t *to, *waits, *place;
	struct heap ready;
};

static void fill_sorting(struct sorting *s, const struct hd_build *b)
{
	for (size_t e = 0; e < b->n_edges; e++) {
		s->first[b->edges[e].from + 2]++; /* + 2, because the last loop moves each beginning up by one */
		s->waits[b->edges[e].to]++;
	}
	for (size_t i = 2; i < b->n_tasks + 2; i++)
		s->first[i] += s->first[i - 1];
	for (size_t e = 0; e < b->n_edges; e++)
		s->to[s->first[b->edges[e].from + 1]++] = b->edges[e].to;
}

/* Gives tasks places by Kahn's algorithm for topological orders. Returns the number of tasks that have got a place. */
static uint32_t place_tasks(struct sorting *s, const struct hd_build *b)
{
	uint32_t placed = 0;
	for (uint32_t i = 0; i < b->n_tasks; i++)
		if (s->waits[i] == 0)
			heap_push(&s->ready, i);
	while (s->ready.n) {
		uint32_t task = heap_pop(&s->ready);
		s->place[task] = placed++;
		for (size_t e = s->first[task]; e < s->first[task + 1]; e++)
			if (--s->waits[s->to[e]] == 0)
				heap_push(&s->ready, s->to[e]);
	}
	return placed;
}

static int renumber(struct hd_build *b, const uint32_t *place)
{
	struct heddle_graph_task *tasks = malloc((b->n_tasks + 1) * sizeof *tasks);
	if (!tasks)
		return -1;
	for (size_t i = 0; i < b->n_tasks; i++)
		tasks[place[i]] = b->tasks[i];
	free(b->tasks);
	b->tasks = tasks;
	b->max_tasks = b->n_tasks + 1;
	for (size_t i = 0; i < b->n_times; i++)
		b->times[i].task = place[b->times[i].task];
	for (size_t i = 0; i < b->task_names.n; i++)
		b->task_names.list[i].id = place[b->task_names.list[i].id];
	for (size_t e = 0; e < b->n_edges; e++) {
		b->edges[e].from = place[b->edges[e].from];
		b->edges[e].to = place[b->edges[e].to];
	}
	return 0;
}

/* Finds a task on a cycle. Each task without a place has a predecessor without a place. A walk from such a task to such
 * a predecessor, and so on, is on a cycle after as many steps as there are tasks. */
static uint32_t find_circle(const struct sorting *s, const struct hd_build *b)
{
	uint32_t task = 0, *before = s->place; /* reuses the array `place`, which is not needed any more */
	while (s->waits[task] == 0)
		task++;
	for (size_t e = 0; e < b->n_edges; e++)
		if (s->waits[b->edges[e].from])
			before[b->edges[e].to] = b->edges[e].from;
	for (size_t i = 0; i < b->n_tasks; i++)
		task = before[task];
	return task;
}

int hd_build_sort(struct hd_build *b, uint32_t *where)
{
	size_t n = b->n_tasks, e = 0;
	while (e < b->n_edges && b->edges[e].from < b->edges[e].to)
		e++;
	if (b->failed || e == b->n_edges)
		return 0;
	struct sorting s = {calloc(n + 2, sizeof *s.first),
	                    malloc((b->n_edges + 1) * sizeof *s.to),
	                    calloc(n + 1, sizeof *s.waits),
	                    calloc(n + 1, sizeof *s.place),
	                    {malloc((n + 1) * sizeof(uint32_t)), 0}};
	int status = 0;
	if (!s.first || !s.to || !s.waits || !s.place || !s.ready.tasks) {
		b->failed = 1;
	} else {
		fill_sorting(&s, b);
		if (place_tasks(&s, b) < n) {
			*where = find_circle(&s, b);
			status = HEDDLE_E_FORMAT;
		} else if (renumber(b, s.place)) {
			b->failed = 1;
		}
	}
	free(s.first);
	free(s.to);
	free(s.waits);
	free(s.place);
	free(s.ready.tasks);
	return status;
}

/* --- The end ------------------------------------------------------------------------------------------------------ */

/* Makes a datum of each edge that has bytes. The other edges stay; of equal edges, only one. */
static void split_edges(struct hd_build *b)
{
	size_t kept = 0;
	if (b->n_edges)
		qsort(b->edges, b->n_edges, sizeof *b->edges, compare_edges);
	for (size_t e = 0; e < b->n_edges; e++) {
		struct hd_build_edge edge = b->edges[e];
		if (edge.bytes) {
			uint32_t datum = hd_build_datum(b, edge.bytes);
			hd_build_access(b, edge.from, datum, HEDDLE_W);
			hd_build_access(b, edge.to, datum, HEDDLE_R);
		} else if (kept == 0 || compare_edges(&b->edges[kept - 1], &edge) != 0) {
			b->edges[kept++] = edge;
		}
	}
	b->n_edges = kept;
}

/* Copies the accesses, grouped by task; the accesses of one task stay in their order. */
static void place_accesses(const struct hd_build *b, struct heddle_graph *g)
{
	for (size_t i = 0; i < b->n_accesses; i++)
		g->tasks[b->accesses[i].task].n_accesses++;
	size_t first = 0;
	for (size_t t = 0; t < g->n_tasks; t++) {
		g->tasks[t].first_access = first;
		first += g->tasks[t].n_accesses;
		g->tasks[t].n_accesses = 0;
	}
	for (size_t i = 0; i < b->n_accesses; i++) {
		struct heddle_graph_task *t = &g->tasks[b->accesses[i].task];
		g->accesses[t->first_access + t->n_accesses++] =
		    (struct heddle_graph_access){b->accesses[i].data, b->accesses[i].mode};
	}
	g->n_accesses = b->n_accesses;
}

static int make_lists(struct hd_build *b, struct heddle_graph *g)
{
	g->types = calloc(b->types.n + 1, sizeof *g->types);
	g->data = malloc((b->n_data + 1) * sizeof *g->data);
	g->accesses = malloc((b->n_accesses + 1) * sizeof *g->accesses);
	g->edges = malloc((b->n_edges + 1) * sizeof *g->edges);
	if (b->n_times)
		g->times = malloc(b->n_tasks * b->classes.n * sizeof *g->times);
	return g->types && g->data && g->accesses && g->edges && (g->times || !b->n_times) ? 0 : -1;
}

/* Takes the names from `from`, sorted by number. If a number has several names, which does not occur with our readers,
 * one of them is kept. */
static struct heddle_names take_names(struct heddle_names *from)
{
	struct heddle_names names = *from;
	size_t kept = 0;
	*from = (struct heddle_names){.n = 0};
	hd_name_table_sort(&names);
	for (size_t i = 0; i < names.n; i++) {
		if (kept && names.list[kept - 1].id == names.list[i].id)
			free(names.list[i].name);
		else
			names.list[kept++] = names.list[i];
	}
	names.n = kept;
	return names;
}

static void fill_lists(struct hd_build *b, struct heddle_graph *g)
{
	g->name = b->name;
	g->tasks = b->tasks;
	g->n_tasks = b->n_tasks;
	g->classes = b->classes.names;
	g->n_classes = b->classes.n;
	for (size_t i = 0; i < b->types.n; i++)
		g->types[i] = (struct heddle_graph_type){b->types.names[i], b->colors[i]};
	g->n_types = b->types.n;
	for (size_t i = 0; i < b->n_data; i++)
		g->data[i].bytes = b->data[i];
	g->n_data = b->n_data;
	for (size_t i = 0; i < b->n_edges; i++)
		g->edges[i] = (struct heddle_graph_edge){b->edges[i].from, b->edges[i].to};
	g->n_edges = b->n_edges;
	place_accesses(b, g);
	for (size_t i = 0; g->times && i < g->n_tasks * g->n_classes; i++)
		g->times[i] = NAN;
	for (size_t i = 0; i < b->n_times; i++)
		g->times[b->times[i].task * g->n_classes + b->times[i].class_id] = b->times[i].us;
	g->task_names = take_names(&b->task_names);
	g->data_names = take_names(&b->data_names);
	/* these arrays now belong to the graph */
	b->name = NULL;
	b->tasks = NULL;
	b->types.n = b->classes.n = 0;
	b->classes.names = NULL;
}

int hd_build_end(struct hd_build *b, struct heddle_graph **out)
{
	struct heddle_graph *g = NULL;
	if (!b->name)
		hd_build_name(b, "graph");
	split_edges(b);
	if (b->failed || hd_build_room(b, &b->tasks, b->n_tasks, &b->max_tasks, sizeof *b->tasks) ||
	    !(g = calloc(1, sizeof *g)) || make_lists(b, g)) {
		hd_build_free(b);
		heddle_graph_free(g);
		return hd_no_memory("a task graph");
	}
	fill_lists(b, g);
	hd_build_free(b);
	int status = heddle_graph_check(g);
	if (status)
		heddle_graph_free(g);
	else
		*out = g;
	return status;
}
