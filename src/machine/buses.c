/* Finds out by measurement which links share a bandwidth.
 *
 * All links of a set move data at the same time. The sets are: for each memory, all links from and to this memory; all
 * links from main memory; all links to main memory; and both of these together. If a set reaches clearly less than its
 * links and the buses found so far allow, the links of the set share a further bus, whose bandwidth is the measured sum
 * of their rates. At the end a bus is removed if all its links cross another bus that is not clearly faster. */
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "machine/machine.h"

static const double CLEARLY = 0.85; /* links that reach less than this part of the expected rate share a bus */

/* A set of links, as indices in the platform. */
struct set {
	size_t *links, n;
};

static int crosses(const struct heddle_link *l, unsigned bus)
{
	for (size_t i = 0; i < l->n_buses; i++)
		if (l->buses[i] == bus)
			return 1;
	return 0;
}

/* The greatest number of MB/s that may be added to the rate of every link of the set that is not full. */
static double step(const struct heddle_platform *p, const struct set *s, const double *rates, const char *full)
{
	double least = -1;
	for (size_t i = 0; i < s->n; i++) {
		double left = p->links[s->links[i]].bandwidth - rates[i];
		if (!full[i] && (least < 0 || left < least))
			least = left;
	}
	for (unsigned b = 0; b < p->n_buses; b++) {
		double left = p->buses[b].bandwidth;
		size_t n = 0;
		for (size_t i = 0; i < s->n; i++)
			if (crosses(&p->links[s->links[i]], b)) {
				left -= rates[i];
				n += !full[i];
			}
		if (n && left / (double)n < least)
			least = left / (double)n;
	}
	return least > 0 ? least : 0;
}

/* Marks the links of the set that are full or cross a full bus. Returns the number of the other links. */
static size_t fill_up(const struct heddle_platform *p, const struct set *s, const double *rates, char *full)
{
	static const double ROUNDING = 1 - 1e-9;
	size_t open = 0;
	for (size_t i = 0; i < s->n; i++)
		full[i] |= rates[i] >= ROUNDING * p->links[s->links[i]].bandwidth;
	for (unsigned b = 0; b < p->n_buses; b++) {
		double used = 0;
		for (size_t i = 0; i < s->n; i++)
			used += crosses(&p->links[s->links[i]], b) ? rates[i] : 0;
		for (size_t i = 0; i < s->n && used >= ROUNDING * p->buses[b].bandwidth; i++)
			full[i] |= (char)crosses(&p->links[s->links[i]], b);
	}
	for (size_t i = 0; i < s->n; i++)
		open += !full[i];
	return open;
}

/* The MB/s that the links move together if they share the known buses by max-min fairness; below 0: out of memory. */
static double expected(const struct heddle_platform *p, const struct set *s)
{
	double *rates = calloc(s->n, sizeof *rates), total = rates ? 0 : -1;
	char *full = rates ? calloc(s->n, 1) : NULL;
	/* In each round at least one link or bus becomes full. */
	for (size_t round = 0; full && round < s->n + p->n_buses && fill_up(p, s, rates, full); round++) {
		double more = step(p, s, rates, full);
		for (size_t i = 0; i < s->n; i++)
			rates[i] += full[i] ? 0 : more;
	}
	for (size_t i = 0; full && i < s->n; i++)
		total += rates[i];
	if (!full)
		total = -1;
	free(rates);
	free(full);
	return total;
}

/* Adds a bus that the links of the set cross. Takes ownership of `name`. */
static int add_bus(struct heddle_platform *p, const struct set *s, double bandwidth, char *name)
{
	struct heddle_bus *buses = realloc(p->buses, (p->n_buses + 1) * sizeof *buses);
	if (!buses || !name) {
		p->buses = buses ? buses : p->buses;
		free(name);
		return hd_no_memory("a bus");
	}
	p->buses = buses;
	p->buses[p->n_buses++] = (struct heddle_bus){name, bandwidth};
	for (size_t i = 0; i < s->n; i++) {
		struct heddle_link *l = &p->links[s->links[i]];
		unsigned *crossed = realloc(l->buses, (l->n_buses + 1) * sizeof *crossed);
		if (!crossed)
			return hd_no_memory("a bus");
		l->buses = crossed;
		l->buses[l->n_buses++] = (unsigned)p->n_buses - 1;
	}
	return 0;
}

/* Measures a set of links, and adds a bus if the links share one. Takes ownership of `name`. */
static int try_set(struct heddle_platform *p, const struct set *s, char *name, hd_together_fn together, void *arg)
{
	double usual = s->n > 1 ? expected(p, s) : 0, reached = 0;
	int status = usual < 0 ? hd_no_memory("a set of links") : 0;
	if (!status && s->n > 1)
		status = together(s->links, s->n, &reached, arg);
	if (!status && s->n > 1 && reached < CLEARLY * usual)
		return add_bus(p, s, reached, name);
	free(name);
	return status;
}

/* Puts into `s` the links from main memory (`out`) and to it (`in`) whose other end is node `of`; 0: any node. */
static void choose(const struct heddle_platform *p, unsigned of, int out, int in, struct set *s)
{
	s->n = 0;
	for (size_t i = 0; i < p->n_links; i++) {
		const struct heddle_link *l = &p->links[i];
		if ((out && l->from == 0 && (!of || l->to == of)) || (in && l->to == 0 && (!of || l->from == of)))
			s->links[s->n++] = i;
	}
}

/* Whether removing bus b changes nothing: each link that crosses b also crosses bus c, which is not clearly faster. */
static int is_covered(const struct heddle_platform *p, unsigned b, unsigned c)
{
	for (size_t i = 0; i < p->n_links; i++)
		if (crosses(&p->links[i], b) && !crosses(&p->links[i], c))
			return 0;
	return b != c && CLEARLY * p->buses[c].bandwidth < p->buses[b].bandwidth;
}

static void remove_bus(struct heddle_platform *p, unsigned b)
{
	free(p->buses[b].name);
	p->n_buses--;
	memmove(&p->buses[b], &p->buses[b + 1], (p->n_buses - b) * sizeof *p->buses);
	for (size_t i = 0; i < p->n_links; i++) {
		struct heddle_link *l = &p->links[i];
		size_t left = 0;
		for (size_t k = 0; k < l->n_buses; k++)
			if (l->buses[k] != b)
				l->buses[left++] = l->buses[k] - (l->buses[k] > b);
		l->n_buses = left;
	}
}

static void remove_covered(struct heddle_platform *p)
{
	for (unsigned b = 0; b < p->n_buses;) {
		unsigned c = 0;
		while (c < p->n_buses && !is_covered(p, b, c))
			c++;
		if (c < p->n_buses)
			remove_bus(p, b);
		else
			b++;
	}
}

static void forget_buses(struct heddle_platform *p)
{
	for (size_t i = 0; i < p->n_buses; i++)
		free(p->buses[i].name);
	p->n_buses = 0;
	for (size_t i = 0; i < p->n_links; i++)
		p->links[i].n_buses = 0;
}

int hd_buses_find(struct heddle_platform *p, hd_together_fn together, void *arg)
{
	static const struct {
		int out, in;
		const char *name;
	} all[] = {{1, 0, "from-ram"}, {0, 1, "to-ram"}, {1, 1, "both-ways"}};
	struct set s = {.links = calloc(p->n_links + 1, sizeof *s.links)};
	int status = s.links ? 0 : hd_no_memory("a set of links");
	forget_buses(p);
	for (unsigned node = 1; node < p->n_nodes && !status; node++) {
		choose(p, node, 1, 1, &s);
		status = try_set(p, &s, hd_format("%s", p->nodes[node].name), together, arg);
	}
	for (size_t i = 0; i < 3 && p->n_nodes > 2 && !status; i++) {
		choose(p, 0, all[i].out, all[i].in, &s);
		status = try_set(p, &s, hd_format("%s", all[i].name), together, arg);
	}
	free(s.links);
	remove_covered(p);
	return status;
}
