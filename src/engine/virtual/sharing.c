/* Transfers in virtual time. An accelerator has a channel for each direction; a channel moves one transfer at a time,
 * in the order of its lane. Simultaneous transfers share the buses that they cross. All buses that one link crosses are
 * in one group. So the begin or the end of a transfer changes only the rates of its own group. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "virtual.h"
#include "machine/hops.h"
#include "memory/transfers.h"
#include "state/data.h"
#include "state/runtime.h"

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

/* Updates `left` of the active channels of the group to the current time. */
static void progress(const struct hd_virtual *v, struct group *g)
{
	double before = g->updated;
	if (v->now <= before)
		return;
	g->updated = v->now;
	for (struct channel *c = g->first; c; c = c->next) {
		double since = hd_later(c->moves, before);
		if (since < v->now)
			c->left -= (v->now - since) * c->rate;
	}
}

static void enter_buses(const struct hd_virtual *v, struct channel *c)
{
	for (size_t b = 0; b < v->route_length; b++) {
		c->route->buses[b]->n_users++;
		c->route->buses[b]->demand += c->link->bandwidth;
	}
}

static void leave_buses(const struct hd_virtual *v, struct channel *c)
{
	for (size_t b = 0; b < v->route_length; b++) {
		struct bus *bus = c->route->buses[b];
		bus->demand = --bus->n_users ? bus->demand - c->link->bandwidth : 0;
	}
}

/* Gives the channel its rate, and subtracts the rate from the remaining bandwidth of its buses. */
static void settle(const struct hd_virtual *v, struct channel *c, double rate)
{
	c->rate = rate;
	for (size_t b = 0; b < v->route_length; b++) {
		c->route->buses[b]->left -= rate;
		c->route->buses[b]->n_open--;
	}
}

/* Lists the narrow buses: the buses with more demand than bandwidth. */
static void find_narrow(struct hd_virtual *v, const struct group *g)
{
	size_t n = 0;
	for (size_t b = 0; b < g->n_buses; b++) {
		v->narrow[n] = g->buses[b];
		/* a sum instead of a branch, which would be mispredicted */
		n += g->buses[b]->demand > g->buses[b]->enough;
	}
	v->n_narrow = n;
}

/* Removes all rates, and prepares the narrow buses. Returns the bandwidth of the slowest link in use. */
static double begin_sharing(const struct hd_virtual *v, const struct group *g)
{
	for (size_t i = 0; i < v->n_narrow; i++) {
		v->narrow[i]->left = v->narrow[i]->bandwidth;
		v->narrow[i]->n_open = v->narrow[i]->n_users;
	}
	double slowest = INFINITY;
	for (struct channel *c = g->first; c; c = c->next) {
		c->rate = 0;
		slowest = smaller(slowest, c->link->bandwidth);
	}
	return slowest;
}

/* The narrow bus with the least remaining bandwidth per user without a rate. *part: this bandwidth, in MB/s. Returns
 * NULL, and sets *part to INFINITY, if no narrow bus has users without a rate. */
static const struct bus *find_tightest(struct hd_virtual *v, double *part)
{
	const struct bus *tightest = NULL;
	*part = INFINITY;
	for (size_t i = 0; i < v->n_narrow; i++) {
		const struct bus *bus = v->narrow[i];
		if (bus->left < *part * bus->n_open && bus->n_open) {
			*part = bus->left / bus->n_open;
			tightest = bus;
		}
	}
	return tightest;
}

/* Gives each channel whose link is at most as fast as `part` the bandwidth of its link. Returns the number of these
 * channels. */
static size_t settle_limited(const struct hd_virtual *v, const struct group *g, double part)
{
	size_t n = 0;
	for (struct channel *c = g->first; c; c = c->next) {
		if (c->rate > 0 || c->link->bandwidth > part)
			continue;
		settle(v, c, c->link->bandwidth);
		n++;
	}
	return n;
}

/* Gives the rate `part` to each user of the bus that has no rate yet. */
static void settle_users(const struct hd_virtual *v, const struct group *g, const struct bus *bus, double part)
{
	size_t which = (size_t)(bus - v->buses);
	for (struct channel *c = g->first; c; c = c->next)
		if (c->route->crosses[which] && c->rate == 0)
			settle(v, c, part);
}

/* Gives the rate `part` to all channels without a rate. These are the last channels, so the remaining bandwidth of the
 * buses need not be updated. */
static void settle_rest(const struct group *g, double part)
{
	for (struct channel *c = g->first; c; c = c->next)
		if (c->rate == 0)
			c->rate = part;
}

/* Max-min fairness by progressive filling. Each round divides the remaining bandwidth of the tightest bus equally among
 * its users without a rate; later rounds share the bandwidth that these users leave unused on other buses. Channels
 * whose own link is slower than the equal part get the bandwidth of their link first: the part only grows in later
 * rounds, so these channels would get this bandwidth anyway. */
static void share(struct hd_virtual *v, const struct group *g)
{
	double slowest = begin_sharing(v, g);
	for (size_t n_left = g->n_active, n; n_left > 0; n_left -= n) {
		double part;
		const struct bus *tightest = find_tightest(v, &part);
		n = slowest > part ? 0 : settle_limited(v, g, part);
		if (n)
			continue;
		n = tightest->n_open;
		if (n == n_left)
			settle_rest(g, part);
		else
			settle_users(v, g, tightest, part);
	}
}

/* The common rate of all channels of the group, in the two cases without rounds: an equal part of the only narrow bus,
 * if all channels cross this bus and no link is slower; INFINITY if no bus is narrow: each channel gets the bandwidth
 * of its link. 0 in all other cases. */
static double rate_of_all(struct hd_virtual *v, const struct group *g)
{
	find_narrow(v, g);
	if (v->n_narrow != 1)
		return v->n_narrow ? 0 : (double)INFINITY;
	double part = v->narrow[0]->bandwidth / v->narrow[0]->n_users;
	return v->narrow[0]->n_users == g->n_active && g->slowest > part ? part : 0;
}

/* Computes the rates in the group, and which of its transfers arrives first. Of equal arrivals, the transfer that began
 * first counts. The time may be infinite. */
static void plan_arrival(struct hd_virtual *v, struct group *g)
{
	struct event e = {.time = INFINITY, .at = &g->at, .of.group = g};
	g->arrives = NULL;
	double rate = rate_of_all(v, g);
	if (HD_UNLIKELY(rate == 0))
		share(v, g);
	for (struct channel *c = g->first; c; c = c->next) {
		if (HD_LIKELY(rate > 0))
			c->rate = smaller(rate, c->link->bandwidth);
		double time = hd_later(c->moves, g->updated) + hd_later(c->left, 0) / c->rate;
		if (time < e.time || !g->arrives) {
			e.time = time;
			e.order = c->order;
			g->arrives = c;
		}
	}
	if (g->n_active)
		hd_events_put(&v->arrivals, &e);
	else if (g->at)
		hd_events_remove(&v->arrivals, g->at - 1);
}

void hd_plan_arrivals(struct hd_virtual *v)
{
	for (struct group *g = v->changed; g; g = g->next_changed) {
		g->is_changed = 0;
		plan_arrival(v, g);
	}
	v->changed = NULL;
}

/* Marks the group, so that its rates are computed before the clock advances. */
static void note_change(struct hd_virtual *v, struct group *g)
{
	if (g->is_changed)
		return;
	g->is_changed = 1;
	g->next_changed = v->changed;
	v->changed = g;
}

/* Appends the channel to the list of its group, which is in the order in which the transfers began. */
static void append(struct group *g, struct channel *c)
{
	c->next = NULL;
	c->before = g->last;
	*(g->last ? &g->last->next : &g->first) = c;
	g->last = c;
	g->n_active++;
}

static void take_out(struct group *g, struct channel *c)
{
	*(c->next ? &c->next->before : &g->last) = c->before;
	*(c->before ? &c->before->next : &g->first) = c->next;
	g->n_active--;
}

/* Starts the next transfer of an idle channel, if its lane has one. */
static void set_out(heddle_runtime *rt, struct channel *c, struct hd_lane *lane)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	struct hd_transfer *tr = c->moving = hd_lane_take(lane, HD_HINTED);
	if (!tr)
		return;
	tr->start = v->now;
	c->link = tr->hop->link;
	c->route = &v->routes[tr->hop - rt->hops->all];
	c->group = c->route->group ? c->route->group : &c->alone;
	c->order = v->next_order++;
	c->moves = v->now + c->link->latency;
	c->left = (double)tr->data->bytes;
	c->rate = 0;
	progress(v, c->group);
	append(c->group, c);
	enter_buses(v, c);
	note_change(v, c->group);
}

void hd_virtual_transfer(heddle_runtime *rt, struct hd_transfer *tr)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	struct channel *c = tr->to ? &v->in[tr->to] : &v->out[tr->from];
	if (!c->moving)
		set_out(rt, c, hd_lane_of(tr));
}

void hd_finish_transfer(heddle_runtime *rt, struct group *g)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	struct channel *c = g->arrives;
	struct hd_transfer *tr = c->moving;
	progress(v, g);
	leave_buses(v, c);
	take_out(g, c);
	note_change(v, g);
	set_out(rt, c, hd_lane_of(tr));
	tr->end = v->now;
	hd_transfer_done(tr);
}

/* --- The buses of a platform -------------------------------------------------------------------------------------- */

/* The links of each channel, as linked lists. The list of channel i < n_nodes has the links that lead to node i; the
 * list of channel n_nodes + i has the links that lead from node i to node 0. */
struct by_channel {
	size_t *head, *next; /* owned; the elements are 1 + the index of a link in hops->all; 0: end of the list */
};

static int sort_by_channel(const struct hd_hops *hops, size_t n_nodes, struct by_channel *out)
{
	out->head = calloc(2 * n_nodes, sizeof *out->head);
	out->next = calloc(hops->n + 1, sizeof *out->next);
	for (size_t i = 0; out->head && out->next && i < hops->n; i++) {
		const struct heddle_link *link = hops->all[i].link;
		size_t channel = link->to ? link->to : n_nodes + link->from;
		out->next[i] = out->head[channel];
		out->head[channel] = i + 1;
	}
	return out->head && out->next ? 0 : HEDDLE_E_MEMORY;
}

/* Adds the largest demand of one channel on each bus to `most`: the bandwidth of its fastest link that crosses the bus,
 * because a channel uses one link at a time. `of_one` is scratch memory, per bus, all 0 before and after. */
static void add_demand(const struct hd_hops *hops, const struct by_channel *links, size_t channel, double *most,
                       double *of_one)
{
	for (size_t i = links->head[channel]; i; i = links->next[i - 1]) {
		const struct heddle_link *link = hops->all[i - 1].link;
		for (size_t b = 0; b < link->n_buses; b++)
			of_one[link->buses[b]] = hd_later(of_one[link->buses[b]], link->bandwidth);
	}
	for (size_t i = links->head[channel]; i; i = links->next[i - 1]) {
		const struct heddle_link *link = hops->all[i - 1].link;
		for (size_t b = 0; b < link->n_buses; b++) {
			most[link->buses[b]] += of_one[link->buses[b]];
			of_one[link->buses[b]] = 0;
		}
	}
}

/* Sums up the largest demands of all channels on each bus in `most`. */
static int find_demands(const heddle_runtime *rt, double *most, double *of_one)
{
	struct by_channel links;
	int status = sort_by_channel(rt->hops, rt->n_nodes, &links);
	for (size_t channel = 0; channel < 2 * rt->n_nodes && !status; channel++)
		add_demand(rt->hops, &links, channel, most, of_one);
	free(links.head);
	free(links.next);
	return status;
}

/* Fills v->buses with the buses whose largest demand exceeds their bandwidth. Returns the index of each of these buses
 * in the platform. NULL: out of memory. */
static size_t *open_buses(heddle_runtime *rt, struct hd_virtual *v)
{
	size_t n = rt->platform->n_buses;
	double *most = calloc(2 * n + 1, sizeof *most);
	size_t *numbers = calloc(n + 1, sizeof *numbers);
	v->buses = calloc(n + 1, sizeof *v->buses);
	v->narrow = calloc(n + 1, sizeof(struct bus *));
	if (most && numbers && v->buses && v->narrow && find_demands(rt, most, most + n) == 0) {
		for (size_t b = 0; b < n; b++) {
			double bandwidth = rt->platform->buses[b].bandwidth, enough = bandwidth * (1 + 1e-9);
			if (most[b] <= enough)
				continue;
			v->buses[v->n_buses] = (struct bus){.bandwidth = bandwidth, .enough = enough};
			numbers[v->n_buses++] = b;
		}
	} else {
		free(numbers);
		numbers = NULL;
	}
	free(most);
	return numbers;
}

static int open_route(struct hd_virtual *v, struct route *route, const struct heddle_link *link, const size_t *numbers)
{
	route->buses = calloc(v->n_buses + 1, sizeof(struct bus *));
	route->crosses = calloc(v->n_buses + 1, 1);
	if (!route->buses || !route->crosses)
		return HEDDLE_E_MEMORY;
	size_t n = 0;
	for (size_t b = 0; b < v->n_buses; b++) {
		for (size_t i = 0; i < link->n_buses && !route->crosses[b]; i++)
			route->crosses[b] = link->buses[i] == numbers[b];
		if (route->crosses[b])
			route->buses[n++] = &v->buses[b];
	}
	if (n > v->route_length)
		v->route_length = n;
	for (; n < v->n_buses; n++)
		route->buses[n] = &v->buses[v->n_buses];
	return 0;
}

/* Gives all buses of a route one label: the smallest of their labels. */
static void join_buses(const struct hd_virtual *v, const struct route *route, size_t *labels)
{
	size_t least = v->n_buses;
	for (size_t b = v->n_buses; b-- > 0;)
		least = route->crosses[b] && labels[b] < least ? labels[b] : least;
	for (size_t b = 0; b < v->n_buses; b++)
		for (size_t k = 0, label = labels[b]; route->crosses[b] && label != least && k < v->n_buses; k++)
			labels[k] = labels[k] == label ? least : labels[k];
}

/* Makes a group of the buses with the same label, for each label. */
static int open_groups(struct hd_virtual *v, const struct hd_hops *hops)
{
	size_t *labels = calloc(v->n_buses + 1, sizeof *labels), n = 0;
	v->groups = calloc(v->n_buses + 1, sizeof *v->groups);
	v->grouped = calloc(v->n_buses + 1, sizeof(struct bus *));
	int status = labels && v->groups && v->grouped ? 0 : HEDDLE_E_MEMORY;
	for (size_t b = 0; b < v->n_buses && !status; b++)
		labels[b] = b;
	for (size_t i = 0; i < hops->n && !status; i++)
		join_buses(v, &v->routes[i], labels);
	for (size_t label = 0; label < v->n_buses && !status; label++) {
		v->groups[label].buses = v->grouped + n;
		v->groups[label].slowest = INFINITY;
		for (size_t b = label; b < v->n_buses; b++)
			if (labels[b] == label)
				v->grouped[n++] = &v->buses[b];
		v->groups[label].n_buses = (size_t)(v->grouped + n - v->groups[label].buses);
	}
	for (size_t i = 0; i < hops->n && !status; i++) {
		const struct bus *first = v->n_buses ? v->routes[i].buses[0] : NULL;
		if (!first || first == &v->buses[v->n_buses])
			continue;
		struct group *g = v->routes[i].group = &v->groups[labels[first - v->buses]];
		g->slowest = smaller(g->slowest, hops->all[i].link->bandwidth);
	}
	free(labels);
	return status;
}

int hd_open_routes(heddle_runtime *rt, struct hd_virtual *v)
{
	size_t n = rt->hops->n, *numbers = open_buses(rt, v);
	v->routes = calloc(n + 1, sizeof *v->routes);
	int status = numbers && v->routes ? 0 : HEDDLE_E_MEMORY;
	for (size_t i = 0; i < n && !status; i++)
		status = open_route(v, &v->routes[i], rt->hops->all[i].link, numbers);
	free(numbers);
	if (!status)
		status = open_groups(v, rt->hops);
	/* room for one event for each group, and for each channel's group without buses */
	v->arrivals.events = calloc(v->n_buses + 2 * rt->n_nodes, sizeof *v->arrivals.events);
	return status || !v->arrivals.events ? hd_no_memory("the virtual engine") : 0;
}

void hd_close_routes(heddle_runtime *rt)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	for (size_t i = 0; v->routes && i < rt->hops->n; i++) {
		free(v->routes[i].buses);
		free(v->routes[i].crosses);
	}
	free(v->routes);
	free(v->groups);
	free(v->grouped);
	free(v->arrivals.events);
	free(v->buses);
	free(v->narrow);
}
