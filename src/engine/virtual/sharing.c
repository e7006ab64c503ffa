/* Transfers in virtual time. An accelerator has a channel for each direction; a channel moves one transfer at a time,
 * in the order of its lane. Simultaneous transfers share the buses that they cross. */
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

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* Updates `left` of all active channels to the current time. */
static void progress(struct hd_virtual *v)
{
	double before = v->updated;
	if (v->now <= before)
		return;
	v->updated = v->now;
	for (size_t i = 0; i < v->n_active; i++) {
		struct channel *c = v->active[i];
		double since = larger(c->moves, before);
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

/* Removes all rates, and lists the narrow buses: those with more demand than bandwidth. Returns the bandwidth of the
 * slowest link in use. */
static double begin_sharing(struct hd_virtual *v)
{
	size_t n = 0;
	for (size_t b = 0; b < v->n_buses; b++) {
		v->narrow[n] = &v->buses[b];
		n += v->buses[b].demand > v->buses[b].enough; /* without a branch, which would be mispredicted */
	}
	v->n_narrow = n;
	for (size_t i = 0; i < n; i++) {
		v->narrow[i]->left = v->narrow[i]->bandwidth;
		v->narrow[i]->n_open = v->narrow[i]->n_users;
	}
	double slowest = INFINITY;
	for (size_t i = 0; i < v->n_active; i++) {
		v->active[i]->rate = 0;
		slowest = smaller(slowest, v->active[i]->link->bandwidth);
	}
	return slowest;
}

/* The narrow bus with the least remaining bandwidth per user without a rate. *part: this bandwidth, in MB/s. NULL, and
 * INFINITY: no narrow bus has users without a rate. */
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
static size_t settle_limited(struct hd_virtual *v, double part)
{
	size_t n = 0;
	for (size_t i = 0; i < v->n_active; i++) {
		struct channel *c = v->active[i];
		if (c->rate > 0 || c->link->bandwidth > part)
			continue;
		settle(v, c, c->link->bandwidth);
		n++;
	}
	return n;
}

/* Gives the rate `part` to each user of the bus that has no rate yet. */
static void settle_users(struct hd_virtual *v, const struct bus *bus, double part)
{
	size_t which = (size_t)(bus - v->buses);
	for (size_t i = 0; i < v->n_active; i++) {
		struct channel *c = v->active[i];
		if (c->route->crosses[which] && c->rate == 0)
			settle(v, c, part);
	}
}

/* Gives the rate `part` to all channels without a rate. They are the last, so the buses need not be updated. */
static void settle_rest(struct hd_virtual *v, double part)
{
	for (size_t i = 0; i < v->n_active; i++)
		if (v->active[i]->rate == 0)
			v->active[i]->rate = part;
}

/* Max-min fairness by progressive filling. Each round divides the remaining bandwidth of the tightest bus equally among
 * its users without a rate; later rounds share the bandwidth that these users leave unused on other buses. Channels
 * whose own link is slower than the equal part are settled first, with the bandwidth of their link: the part only grows
 * in later rounds, so they could never get less. */
static void share(struct hd_virtual *v)
{
	double slowest = begin_sharing(v);
	for (size_t n_left = v->n_active, n; n_left > 0; n_left -= n) {
		double part;
		const struct bus *tightest = find_tightest(v, &part);
		n = slowest > part ? 0 : settle_limited(v, part);
		if (n)
			continue;
		n = tightest->n_open;
		if (n == n_left)
			settle_rest(v, part);
		else
			settle_users(v, tightest, part);
	}
}

void hd_plan_arrivals(struct hd_virtual *v)
{
	v->changed = 0;
	v->arrives = INFINITY;
	share(v);
	for (size_t i = 0; i < v->n_active; i++) {
		const struct channel *c = v->active[i];
		double time = larger(c->moves, v->updated) + larger(c->left, 0) / c->rate;
		if (time < v->arrives) {
			v->arrives = time;
			v->first = i;
		}
	}
}

/* Starts the next transfer of an idle channel, if its lane has one. */
static void set_out(heddle_runtime *rt, struct channel *c, struct hd_lane *lane)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	struct hd_transfer *tr = c->moving = hd_lane_take(lane, HD_HINTED);
	if (!tr)
		return;
	const struct hd_hop *hop = hd_hop(rt->hops, tr->from, tr->to);
	progress(v);
	tr->start = v->now;
	c->link = hop->link;
	c->route = &v->routes[hop - rt->hops->all];
	c->moves = v->now + c->link->latency;
	c->left = (double)tr->data->bytes;
	c->rate = 0;
	v->active[v->n_active++] = c;
	enter_buses(v, c);
	v->changed = 1;
}

void hd_virtual_transfer(heddle_runtime *rt, struct hd_transfer *tr)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	struct channel *c = tr->to ? &v->in[tr->to] : &v->out[tr->from];
	if (!c->moving)
		set_out(rt, c, hd_lane_of(tr));
}

void hd_finish_transfer(heddle_runtime *rt, size_t index)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	struct channel *c = v->active[index];
	struct hd_transfer *tr = c->moving;
	progress(v);
	leave_buses(v, c);
	/* keeps the order: of two transfers that end together, the one that began first ends first */
	for (size_t i = index + 1; i < v->n_active; i++)
		v->active[i - 1] = v->active[i];
	v->n_active--;
	v->changed = 1;
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
			of_one[link->buses[b]] = larger(of_one[link->buses[b]], link->bandwidth);
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

/* Fills v->buses with the buses whose largest demand exceeds their bandwidth. Returns the index of each of them in the
 * platform. NULL: out of memory. */
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

int hd_open_routes(heddle_runtime *rt, struct hd_virtual *v)
{
	size_t n = rt->hops->n, *numbers = open_buses(rt, v);
	v->routes = calloc(n + 1, sizeof *v->routes);
	int status = numbers && v->routes ? 0 : HEDDLE_E_MEMORY;
	for (size_t i = 0; i < n && !status; i++)
		status = open_route(v, &v->routes[i], rt->hops->all[i].link, numbers);
	free(numbers);
	return status ? hd_no_memory("the virtual engine") : 0;
}

void hd_close_routes(heddle_runtime *rt)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	for (size_t i = 0; v->routes && i < rt->hops->n; i++) {
		free(v->routes[i].buses);
		free(v->routes[i].crosses);
	}
	free(v->routes);
	free(v->buses);
	free(v->narrow);
}
