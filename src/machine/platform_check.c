/* Checks the rules of a platform. The rest of the library relies on them without checking. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "machine/machine.h"

/* A platform may have this many speedups at most, because each speedup is compared with all speedups before it. */
#define MOST_SPEEDUPS 10000

#define BAD(...) hd_error(HEDDLE_E_FORMAT, __VA_ARGS__)

static int is_positive(double x)
{
	return isfinite(x) && x > 0;
}

static int is_non_negative(double x)
{
	return isfinite(x) && x >= 0;
}

static int is_duration(double us)
{
	return us >= 0 && us < HD_MOST_US;
}

static int by_string(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names must be valid UTF-8 (shortest form, no surrogates, up to U+10FFFF), because traces, charts and files are
 * UTF-8. */
static int is_utf8(const char *text)
{
	static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		int more = *p < 0x80             ? 0
		           : (*p & 0xe0) == 0xc0 ? 1
		           : (*p & 0xf0) == 0xe0 ? 2
		           : (*p & 0xf8) == 0xf0 ? 3
		                                 : -1;
		if (more < 0)
			return 0;
		uint32_t code = more ? *p & (0x3fu >> more) : *p;
		for (int i = more; i > 0; i--) {
			if ((*++p & 0xc0) != 0x80)
				return 0; /* true also for the NUL at the end of the text */
			code = code << 6 | (*p & 0x3f);
		}
		if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
			return 0;
	}
	return 1;
}

static int check_text(const char *what, const char *text)
{
	return !text || is_utf8(text) ? 0 : BAD("%s is not UTF-8 text; rename it", what);
}

/* Checks that all names in a list differ. Nodes, classes, workers and buses begin with the pointer to their name. */
static int check_names(const char *what, const void *list, size_t n, size_t stride)
{
	if (n == 0)
		return 0;
	const char **names = malloc(n * sizeof *names);
	if (!names)
		return hd_no_memory("checking names");
	int status = 0;
	for (size_t i = 0; i < n && !status; i++) {
		memcpy(&names[i], (const char *)list + i * stride, sizeof names[i]);
		if (!names[i] || !names[i][0])
			status = BAD("%s %zu has no name; give it one", what, i);
		else if (!is_utf8(names[i]))
			status = BAD("the name of %s %zu is not UTF-8 text; rename it", what, i);
	}
	if (!status)
		qsort(names, n, sizeof *names, by_string);
	for (size_t i = 1; i < n && !status; i++)
		if (strcmp(names[i - 1], names[i]) == 0)
			status = BAD("two %s%s are named \"%s\"; names must differ", what,
			             strcmp(what, "class") && strcmp(what, "bus") ? "s" : "es", names[i]);
	free(names);
	return status;
}

static int check_all_names(const struct heddle_platform *p)
{
	if (!p->name || !p->name[0])
		return BAD("the platform has no name; give it one");
	int status = check_text("the platform's name", p->name);
	if (!status)
		status = check_text("the description", p->description);
	if (!status)
		status = check_text("the source", p->source);
	if (!status)
		status = check_names("node", p->nodes, p->n_nodes, sizeof *p->nodes);
	if (!status)
		status = check_names("class", p->classes, p->n_classes, sizeof *p->classes);
	if (!status)
		status = check_names("worker", p->workers, p->n_workers, sizeof *p->workers);
	if (!status)
		status = check_names("bus", p->buses, p->n_buses, sizeof *p->buses);
	return status;
}

static int check_sharing(const struct heddle_class *c)
{
	if (!c->sharing)
		return 0;
	if (c->sharing[0] != 1)
		return BAD("class %s: sharing[0] is %g; a kernel alone has the rate 1", c->name, c->sharing[0]);
	for (unsigned i = 1; i < c->streams; i++)
		if (!(c->sharing[i] > 0) || !(c->sharing[i] <= c->sharing[i - 1]))
			return BAD(
			    "class %s: sharing[%u] is %g; it must be above 0, and not above the %g before it: one "
			    "kernel more never makes the others faster",
			    c->name, i, c->sharing[i], c->sharing[i - 1]);
	return 0;
}

static int check_class(const struct heddle_class *c)
{
	if (!c->kind || !c->kind[0])
		return BAD("class %s has no kind; say cpu, emulated, opencl or cuda", c->name);
	int status = check_text("a class's kind", c->kind);
	if (status)
		return status;
	if (c->pipeline < 1)
		return BAD("class %s: pipeline is 0; a worker holds at least 1 task", c->name);
	if (!isfinite(c->slowdown) || c->slowdown < 1)
		return BAD("class %s: slowdown is %g; it must be 1 or more", c->name, c->slowdown);
	return check_sharing(c);
}

static unsigned cores_of(const struct heddle_platform *p, const struct heddle_worker *w)
{
	unsigned cores = p->classes[w->class_id].cores;
	return cores > 1 ? cores : 1;
}

/* A worker that drives cores: from `first` up to, not including, `end`. */
struct driven {
	const struct heddle_worker *worker;
	unsigned first, end;
};

static int by_first_core(const void *a, const void *b)
{
	const struct driven *x = a, *y = b;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->end < y->end) - (x->end > y->end);
}

/* Checks that no two workers drive the same cores: they would slow each other down unnoticed. Two workers of one core
 * each may share a core: tests need this to have more workers than cores. `room` has space for all workers. */
static int check_overlap(const struct heddle_platform *p, struct driven *room)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n_workers; i++) {
		const struct heddle_worker *w = &p->workers[i];
		unsigned first = (unsigned)w->core;
		if (w->core >= 0 && !w->retired && strcmp(p->classes[w->class_id].kind, "cpu") == 0)
			room[n++] = (struct driven){w, first, first + cores_of(p, w)};
	}
	qsort(room, n, sizeof *room, by_first_core);
	for (size_t i = 1, last = 0; i < n; i++) { /* `last`: the worker before i that ends last */
		const struct driven *a = &room[last], *b = &room[i];
		if (b->first < a->end && (a->end - a->first > 1 || b->end - b->first > 1))
			return BAD("workers %s and %s both drive core %u; retire one of them", a->worker->name,
			           b->worker->name, b->first);
		last = b->end > a->end ? i : last;
	}
	return 0;
}

/* Checks that at least one worker is driven, and that no two driven workers overlap. */
static int check_driven(const struct heddle_platform *p)
{
	size_t n_driven = 0;
	int has_clusters = 0;
	for (size_t i = 0; i < p->n_workers; i++) {
		const struct heddle_worker *w = &p->workers[i];
		if (w->retired > 1)
			return BAD("worker %s: retired is %u; it must be 0 or 1", w->name, w->retired);
		if (w->retired && strcmp(p->classes[w->class_id].kind, "cpu") != 0)
			return BAD("worker %s is retired, and of kind %s; only workers of kind cpu may be", w->name,
			           p->classes[w->class_id].kind);
		n_driven += !w->retired;
		has_clusters |= cores_of(p, w) > 1;
	}
	if (n_driven == 0)
		return BAD("all workers are retired; a platform needs at least one that is driven");
	if (!has_clusters)
		return 0;
	struct driven *room = malloc(p->n_workers * sizeof *room);
	if (!room)
		return hd_no_memory("checking workers");
	int status = check_overlap(p, room);
	free(room);
	return status;
}

static int check_workers(const struct heddle_platform *p)
{
	for (size_t i = 0; i < p->n_classes; i++) {
		int status = check_class(&p->classes[i]);
		if (status)
			return status;
	}
	if (p->n_workers == 0)
		return BAD("there is no worker; a platform needs at least one");
	for (size_t i = 0; i < p->n_workers; i++) {
		const struct heddle_worker *w = &p->workers[i];
		if (w->class_id >= p->n_classes)
			return BAD("worker %s: class %u does not exist; there are %zu", w->name, w->class_id,
			           p->n_classes);
		if (w->node >= p->n_nodes)
			return BAD("worker %s: node %u does not exist; there are %zu", w->name, w->node, p->n_nodes);
		if (w->core < -1)
			return BAD("worker %s: core is %d; it must be a core's index, or -1 for none", w->name,
			           w->core);
	}
	return check_driven(p);
}

/* --- Levels and speedups: what clusters are made from ------------------------------------------------------------- */

/* Whether a cluster set of this name would be taken for something else: "adaptive:x", for instance, is a list. */
static int means_something_else(const char *name)
{
	static const char *const words[] = {"none", "auto", "adaptive"};
	int is_word = 0;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		is_word |= strcmp(name, words[i]) == 0;
	return is_word || strspn(name, "0123456789x+") == strlen(name) || strpbrk(name, ",:");
}

static int check_level(const struct heddle_level *l)
{
	if (means_something_else(l->name))
		return BAD(
		    "level %s: a name must not be none, auto or adaptive, consist of digits, x and +, or contain "
		    "a comma or a colon; rename it",
		    l->name);
	if (l->n_groups == 0)
		return BAD("level %s has no cores; give their ranges", l->name);
	for (size_t i = 0; i < l->n_groups; i++) {
		if (l->groups[i].first > l->groups[i].last || l->groups[i].last > INT_MAX)
			return BAD("level %s: cores[%zu] goes from %u to %u; the first must not be above the last",
			           l->name, i, l->groups[i].first, l->groups[i].last);
		if (i && l->groups[i].first <= l->groups[i - 1].last)
			return BAD("level %s: cores[%zu] begins with core %u, which is not above the last one of the "
			           "range before it; ranges must ascend",
			           l->name, i, l->groups[i].first);
	}
	return 0;
}

static int check_speedup_table(const struct heddle_platform *p, const struct heddle_speedup *s)
{
	const char *class_name = p->classes[s->class_id].name;
	if (!s->codelet[0] || s->n_table == 0 || s->latency != 0 || s->bandwidth != 0)
		return BAD("speedup of %s on %s: it needs a codelet and a table, and no law", s->codelet, class_name);
	const struct heddle_kernel_time *kernel = hd_platform_kernel(p, s->codelet, s->class_id);
	if (kernel && kernel->n_table == 0)
		return BAD("speedup of %s on %s: its time there is given by rates, to which no table of factors can be "
		           "applied; leave it to the law of the class",
		           s->codelet, class_name);
	if (s->cores < 2)
		return BAD("speedup of %s on %s: it is for %u cores; there must be 2 or more", s->codelet, class_name,
		           s->cores);
	for (size_t i = 0; i < s->n_table; i++) {
		const struct heddle_speedup_point *point = &s->table[i];
		if (!is_non_negative(point->bytes))
			return BAD("speedup of %s on %s: factors[%zu] is for %g bytes; they must be 0 or more",
			           s->codelet, class_name, i, point->bytes);
		if (!is_positive(point->factor) || point->factor > s->cores)
			return BAD(
			    "speedup of %s on %s: factors[%zu] has the factor %g; it must be above 0, and at most "
			    "the number of cores",
			    s->codelet, class_name, i, point->factor);
		if (i && !(point->bytes > point[-1].bytes))
			return BAD(
			    "speedup of %s on %s: factors[%zu] is for %.17g bytes, not more than the one before; "
			    "sizes must ascend",
			    s->codelet, class_name, i, point->bytes);
	}
	return 0;
}

static int check_speedup(const struct heddle_platform *p, size_t index)
{
	const struct heddle_speedup *s = &p->speedups[index];
	if (s->class_id >= p->n_classes)
		return BAD("speedup %zu: class %u does not exist; there are %zu", index, s->class_id, p->n_classes);
	const struct heddle_class *c = &p->classes[s->class_id];
	if (c->cores != 1 || strcmp(c->kind, "cpu") != 0)
		return BAD("speedup %zu is for %s; it must be for a class of kind cpu with one core each", index,
		           c->name);
	int status = check_text("the codelet of a speedup", s->codelet);
	if (!status && s->codelet)
		status = check_speedup_table(p, s);
	else if (!status && (s->n_table || s->cores || !is_duration(s->latency) || !is_positive(s->bandwidth)))
		status =
		    BAD("speedup %zu, of all codelets on %s, needs a bandwidth above 0 and may have a latency of 0 or "
		        "more, and nothing else",
		        index, c->name);
	for (size_t i = 0; i < index && !status; i++)
		if (p->speedups[i].class_id == s->class_id && p->speedups[i].cores == s->cores &&
		    (!s->codelet ? !p->speedups[i].codelet
		                 : p->speedups[i].codelet && strcmp(p->speedups[i].codelet, s->codelet) == 0))
			status = BAD("speedup of %s on %s is given twice; keep one",
			             s->codelet ? s->codelet : "all codelets", c->name);
	return status;
}

static int check_levels(const struct heddle_platform *p)
{
	int status = check_names("level", p->levels, p->n_levels, sizeof *p->levels);
	for (size_t i = 0; i < p->n_levels && !status; i++)
		status = check_level(&p->levels[i]);
	if (!status && p->n_speedups > MOST_SPEEDUPS)
		status = BAD("there are %zu speedups; a platform has at most %d", p->n_speedups, MOST_SPEEDUPS);
	for (size_t i = 0; i < p->n_speedups && !status; i++)
		status = check_speedup(p, i);
	return status;
}

static int check_link(const struct heddle_platform *p, size_t index)
{
	const struct heddle_link *l = &p->links[index];
	if (l->from >= p->n_nodes || l->to >= p->n_nodes)
		return BAD("link %zu goes from node %u to node %u, but there are %zu nodes", index, l->from, l->to,
		           p->n_nodes);
	const char *from = p->nodes[l->from].name, *to = p->nodes[l->to].name;
	if (l->from == l->to)
		return BAD("link %zu goes from %s to itself; it must join two nodes", index, from);
	if (!is_positive(l->bandwidth))
		return BAD("link %s -> %s: bandwidth is %g MB/s; it must be above 0", from, to, l->bandwidth);
	if (!is_duration(l->latency))
		return BAD("link %s -> %s: latency is %g us; it must be 0 or more, and below %g", from, to, l->latency,
		           HD_MOST_US);
	for (size_t i = 0; i < l->n_buses; i++) {
		if (l->buses[i] >= p->n_buses)
			return BAD("link %s -> %s: bus %u does not exist; there are %zu", from, to, l->buses[i],
			           p->n_buses);
		for (size_t j = 0; j < i; j++)
			if (l->buses[i] == l->buses[j])
				return BAD("link %s -> %s names bus %s twice", from, to, p->buses[l->buses[i]].name);
	}
	return 0;
}

struct direction {
	unsigned from, to;
};

static int by_direction(const void *a, const void *b)
{
	const struct direction *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

/* Checks that there is at most one link from one node to another, and that every other node has links from and to node
 * 0, through which data go where there is no direct link. `found` has room for all links. */
static int check_reachable(const struct heddle_platform *p, struct direction *found)
{
	for (size_t i = 0; i < p->n_links; i++)
		found[i] = (struct direction){p->links[i].from, p->links[i].to};
	qsort(found, p->n_links, sizeof *found, by_direction);
	for (size_t i = 1; i < p->n_links; i++)
		if (by_direction(&found[i - 1], &found[i]) == 0)
			return BAD("there are two links %s -> %s; keep one", p->nodes[found[i].from].name,
			           p->nodes[found[i].to].name);
	for (unsigned n = 1; n < p->n_nodes; n++) {
		struct direction in = {0, n}, out = {n, 0};
		const char *main_name = p->nodes[0].name, *name = p->nodes[n].name;
		if (!bsearch(&in, found, p->n_links, sizeof in, by_direction))
			return BAD("there is no link %s -> %s; every node needs links from and to %s", main_name, name,
			           main_name);
		if (!bsearch(&out, found, p->n_links, sizeof out, by_direction))
			return BAD("there is no link %s -> %s; every node needs links from and to %s", name, main_name,
			           main_name);
	}
	return 0;
}

static int check_network(const struct heddle_platform *p)
{
	for (size_t i = 0; i < p->n_buses; i++)
		if (!is_positive(p->buses[i].bandwidth))
			return BAD("bus %s: bandwidth is %g MB/s; it must be above 0", p->buses[i].name,
			           p->buses[i].bandwidth);
	for (size_t i = 0; i < p->n_links; i++) {
		int status = check_link(p, i);
		if (status)
			return status;
	}
	struct direction *found = malloc((p->n_links + 1) * sizeof *found); /* + 1: malloc(0) may return NULL */
	if (!found)
		return hd_no_memory("checking links");
	int status = check_reachable(p, found);
	free(found);
	return status;
}

static int check_table(const char *codelet, const char *class_name, const struct heddle_kernel_time *k)
{
	for (size_t i = 0; i < k->n_table; i++) {
		if (!is_non_negative(k->table[i].bytes))
			return BAD("kernel %s on %s: table[%zu] is for %g bytes; they must be 0 or more", codelet,
			           class_name, i, k->table[i].bytes);
		if (!is_duration(k->table[i].us) || k->table[i].us == 0)
			return BAD("kernel %s on %s: table[%zu] is %g us; it must be above 0 and below %g", codelet,
			           class_name, i, k->table[i].us, HD_MOST_US);
		if (i && !(k->table[i].bytes > k->table[i - 1].bytes))
			return BAD("kernel %s on %s: table[%zu] is for %.17g bytes, not more than the one before; "
			           "sizes must ascend",
			           codelet, class_name, i, k->table[i].bytes);
	}
	return 0;
}

static int check_rates(const char *codelet, const char *class_name, const struct heddle_kernel_time *k)
{
	if (k->gflops == 0 && k->bandwidth == 0)
		return BAD("kernel %s on %s has no time; give it gflops, a bandwidth, or a table", codelet, class_name);
	if (!is_non_negative(k->gflops) || !is_non_negative(k->bandwidth))
		return BAD("kernel %s on %s: gflops is %g, the bandwidth %g MB/s; one must be above 0, and none below",
		           codelet, class_name, k->gflops, k->bandwidth);
	if (!is_non_negative(k->half) || !is_duration(k->latency))
		return BAD(
		    "kernel %s on %s: half is %g flops, latency %g us; both must be 0 or more, the latency below %g",
		    codelet, class_name, k->half, k->latency, HD_MOST_US);
	if (k->half != 0 && k->gflops == 0)
		return BAD("kernel %s on %s has half_flops without gflops; give both, or none", codelet, class_name);
	return 0;
}

static int check_kernel(const struct heddle_platform *p, size_t index)
{
	const struct heddle_kernel_time *k = &p->kernels[index];
	if (!k->codelet || !k->codelet[0])
		return BAD("kernel %zu has no codelet; name it", index);
	int status = check_text("a codelet's name", k->codelet);
	if (status)
		return status;
	if (k->class_id >= p->n_classes)
		return BAD("kernel %s: class %u does not exist; there are %zu", k->codelet, k->class_id, p->n_classes);
	const char *class_name = p->classes[k->class_id].name;
	if (k->n_table) {
		if (k->gflops != 0 || k->half != 0 || k->latency != 0 || k->bandwidth != 0)
			return BAD("kernel %s on %s has both a table and a rate; keep one", k->codelet, class_name);
		return check_table(k->codelet, class_name, k);
	}
	return check_rates(k->codelet, class_name, k);
}

static int by_kernel(const void *a, const void *b)
{
	const struct heddle_kernel_time *x = *(const struct heddle_kernel_time *const *)a;
	const struct heddle_kernel_time *y = *(const struct heddle_kernel_time *const *)b;
	if (x->class_id != y->class_id)
		return x->class_id < y->class_id ? -1 : 1;
	return strcmp(x->codelet, y->codelet);
}

static int check_kernels(const struct heddle_platform *p)
{
	for (size_t i = 0; i < p->n_kernels; i++) {
		int status = check_kernel(p, i);
		if (status)
			return status;
	}
	/* + 1: malloc(0) may return NULL */
	const struct heddle_kernel_time **sorted = malloc((p->n_kernels + 1) * sizeof *sorted);
	if (!sorted)
		return hd_no_memory("checking kernels");
	for (size_t i = 0; i < p->n_kernels; i++)
		sorted[i] = &p->kernels[i];
	qsort(sorted, p->n_kernels, sizeof *sorted, by_kernel);
	int status = 0;
	for (size_t i = 1; i < p->n_kernels && !status; i++)
		if (by_kernel(&sorted[i - 1], &sorted[i]) == 0)
			status = BAD("kernel %s on %s is given twice; keep one", sorted[i]->codelet,
			             p->classes[sorted[i]->class_id].name);
	free(sorted);
	return status;
}

int heddle_platform_check(const struct heddle_platform *platform)
{
	if (!platform)
		return hd_error(HEDDLE_E_INVALID, "heddle_platform_check: the platform is NULL");
	if (platform->n_nodes == 0)
		return BAD("there is no memory node; a platform needs at least main memory, node 0");
	int status = check_all_names(platform);
	if (!status)
		status = check_workers(platform);
	if (!status)
		status = check_network(platform);
	if (!status)
		status = check_kernels(platform);
	if (!status)
		status = check_levels(platform);
	return status;
}
