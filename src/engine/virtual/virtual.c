/* The virtual engine: an event clock. One thread, no kernel run, no byte moved, and the same schedule every time.
 *
 * Kernels last as long as the platform says (times noise, if asked for). A transfer first waits for its copy engine
 * (one per accelerator and direction, in order), then for the latency of its link, then moves bytes at a rate that
 * max-min fair sharing gives it among all transfers that cross the same buses at that moment.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/runtime.h"

struct event {
	double time;
	uint64_t order; /* ties: first made, first served */
	struct hd_worker *worker;
};

/* What the link of a pair of nodes crosses, of the buses that can ever be full. */
struct route {
	/* owns; as many as the longest has, so that loops are predicted: filled up with the bus that nobody looks at */
	struct bus **buses;
	char *crosses; /* owns; per bus: 1 if it is among them */
};

/* The transfers of one accelerator in one direction; the first is under way. */
struct channel {
	struct hd_transfer *first, *last;
	const struct heddle_link *link; /* of the first, as all that follows */
	const struct route *route;      /* its own buses */
	double moves;                   /* us: when its latency is over */
	double left;                    /* bytes still to move at `updated` */
	double rate;                    /* MB/s; 0 while share() has not given it one */
};

struct bus {
	double bandwidth;
	double enough;    /* demand that it carries; a little more, since sums and differences are not exact */
	double demand;    /* bandwidths of the links of its users */
	unsigned n_users; /* channels whose first transfer crosses it */
	/* While share() gives rates, and of narrow buses only; the others' may wrap around. */
	unsigned n_open; /* users without a rate */
	double left;     /* bandwidth that is not given away yet */
};

struct hd_virtual {
	double now;
	struct event *heap; /* owns: ends of kernels, a binary heap */
	size_t n_events, max_events;
	uint64_t next_order;
	struct channel *in, *out; /* per node; own */
	struct channel **active;  /* owns: those with a transfer under way, in the order these set out */
	size_t n_active;
	double updated;    /* when `left` of the active transfers was last brought up to date */
	int changed;       /* other transfers are active than when their rates were computed */
	size_t first;      /* unless changed: the active transfer that ends first */
	double arrives;    /* and when; INFINITY when none is active */
	struct bus *buses; /* owns; those that can be full, and one that nobody looks at */
	size_t n_buses;
	struct route *routes; /* owns; per link, like the runtime's hops */
	size_t route_length;  /* of the longest */
	struct bus **narrow;  /* owns; only share() and what it calls: those that carry less than is demanded */
	size_t n_narrow;
	struct hd_rng rng;
};

/* --- Kernel events ------------------------------------------------------------------------------------------------ */

static int before(const struct event *a, const struct event *b)
{
	return a->time < b->time || (a->time == b->time && a->order < b->order);
}

/* There is at most one per worker: the heap never grows. */
static void push_event(struct hd_virtual *v, double time, struct hd_worker *w)
{
	struct event e = {time, v->next_order++, w};
	size_t i = v->n_events++;
	while (i && before(&e, &v->heap[(i - 1) / 2])) {
		v->heap[i] = v->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	v->heap[i] = e;
}

static struct event pop_event(struct hd_virtual *v)
{
	struct event top = v->heap[0], last = v->heap[--v->n_events];
	size_t i = 0;
	for (size_t child = 1; child < v->n_events; child = 2 * i + 1) {
		if (child + 1 < v->n_events && before(&v->heap[child + 1], &v->heap[child]))
			child++;
		if (!before(&v->heap[child], &last))
			break;
		v->heap[i] = v->heap[child];
		i = child;
	}
	v->heap[i] = last;
	return top;
}

static double duration(heddle_runtime *rt, const struct hd_worker *w, const heddle_task *t)
{
	double us = hd_perf_time(t->perf, w->class_id);
	if (rt->config.noise > 0) {
		double factor = 1 + rt->config.noise * hd_rng_normal(&rt->engine_state.virtual_->rng);
		us *= factor > 0.1 ? factor : 0.1;
	}
	return us + rt->config.sched_cost;
}

/* What the kernels take that must make private copies neutral before the task adds to them. */
static double init_duration(heddle_runtime *rt, const struct hd_worker *w, heddle_task *t)
{
	double us = 0;
	for (uint32_t i = 0; i < t->n_accesses; i++)
		if (hd_private_needs_init(&t->accesses[i]))
			us += hd_task_init_time(rt, t->accesses[i].data, w->class_id);
	return us;
}

static void virtual_worker_ready(struct hd_worker *w)
{
	struct hd_virtual *v = w->rt->engine_state.virtual_;
	if (w->running)
		return;
	heddle_task *t = hd_core_take(w);
	if (!t)
		return;
	hd_core_begin(w, t, v->now);
	double us = t->special & HD_TASK_PRIVATE ? init_duration(w->rt, w, t) : 0;
	push_event(v, v->now + us + duration(w->rt, w, t), w);
}

/* --- Transfers ---------------------------------------------------------------------------------------------------- */

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

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

static void settle(const struct hd_virtual *v, struct channel *c, double rate)
{
	c->rate = rate;
	for (size_t b = 0; b < v->route_length; b++) {
		c->route->buses[b]->left -= rate;
		c->route->buses[b]->n_open--;
	}
}

/* Nobody has a rate yet. Returns the bandwidth of the slowest link in use. */
static double begin_sharing(struct hd_virtual *v)
{
	size_t n = 0;
	for (size_t b = 0; b < v->n_buses; b++) {
		v->narrow[n] = &v->buses[b];
		n += v->buses[b].demand > v->buses[b].enough; /* no branch: it could not be predicted */
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

/* The bus with the least to give to each of its users that have no rate yet; NULL when none holds any of them up. */
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

/* Those whose own links are not faster than `part` get what these can carry. Returns how many they are. */
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

/* The users of a bus get equal parts. */
static void settle_users(struct hd_virtual *v, const struct bus *bus, double part)
{
	size_t which = (size_t)(bus - v->buses);
	for (size_t i = 0; i < v->n_active; i++) {
		struct channel *c = v->active[i];
		if (c->route->crosses[which] && c->rate == 0)
			settle(v, c, part);
	}
}

/* All that have no rate yet: nobody will ask what they leave. */
static void settle_rest(struct hd_virtual *v, double part)
{
	for (size_t i = 0; i < v->n_active; i++)
		if (v->active[i]->rate == 0)
			v->active[i]->rate = part;
}

/* Max-min fairness by progressive filling: round after round, the tightest bus is divided equally among its users and
 * the rest of their other buses is left to the others; but before, those whose own links are slower than that part are
 * served, since parts only grow from round to round. */
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

/* Rates, and what ends first, for the transfers that are active now. Once before the clock moves on, however many began
 * or ended meanwhile. */
static void plan_arrivals(struct hd_virtual *v)
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

/* The first transfer of a channel. */
static void set_out(heddle_runtime *rt, struct channel *c)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	struct hd_transfer *tr = c->first;
	const struct hd_hop *hop = hd_hop(&rt->hops, tr->from, tr->to);
	progress(v);
	tr->start = v->now;
	c->link = hop->link;
	c->route = &v->routes[hop - rt->hops.all];
	c->moves = v->now + c->link->latency;
	c->left = (double)tr->data->bytes;
	c->rate = 0;
	v->active[v->n_active++] = c;
	enter_buses(v, c);
	v->changed = 1;
}

static void virtual_transfer(heddle_runtime *rt, struct hd_transfer *tr)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	struct channel *c = tr->to ? &v->in[tr->to] : &v->out[tr->from];
	tr->queue_next = NULL;
	if (c->first) {
		c->last->queue_next = tr;
		c->last = tr;
		return;
	}
	c->first = c->last = tr;
	set_out(rt, c);
}

static void finish_transfer(heddle_runtime *rt, size_t index)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	struct channel *c = v->active[index];
	struct hd_transfer *tr = c->first;
	progress(v);
	leave_buses(v, c);
	for (size_t i = index + 1; i < v->n_active; i++) /* order kept: it breaks ties */
		v->active[i - 1] = v->active[i];
	v->n_active--;
	v->changed = 1;
	c->first = tr->queue_next;
	if (c->first)
		set_out(rt, c);
	tr->end = v->now;
	hd_transfer_done(tr);
}

/* --- The clock ---------------------------------------------------------------------------------------------------- */

static double virtual_now(heddle_runtime *rt)
{
	return rt->engine_state.virtual_->now;
}

static void finish_kernel(heddle_runtime *rt, struct hd_worker *w)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	hd_core_finish(w, w->running, 0, w->run_start, v->now);
	hd_core_refill(w);
	virtual_worker_ready(w);
}

/* The next thing that happens; 0 when there is none. */
static int advance(heddle_runtime *rt)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	if (v->changed)
		plan_arrivals(v);
	if (v->n_events && v->heap[0].time <= v->arrives) {
		struct event e = pop_event(v);
		v->now = rt->now = e.time;
		finish_kernel(rt, e.worker);
		return 1;
	}
	if (!v->n_active)
		return 0;
	v->now = rt->now = larger(v->arrives, v->now);
	rt->batch_releaser = -1;
	finish_transfer(rt, v->first);
	hd_core_settle(rt);
	return 1;
}

/* With several threads of the program any of them drives the clock, one at a time; not while another is in a callback,
 * which takes no time. What others do then is seen within NAP_US. */
static int virtual_wait(heddle_runtime *rt, struct hd_waiter *waiter)
{
	static const double NAP_US = 200;
	while (!waiter->done(rt, waiter->arg)) {
		if (hd_drain(rt)) {
			hd_core_settle(rt);
			continue;
		}
		if (!rt->n_calling && advance(rt))
			continue;
		if (!hd_others_may_act(rt, waiter))
			return hd_core_deadlock(rt);
		waiter->woken = 0;
		hd_revoke(rt);
		hd_unlock(&rt->lock);
		hd_event_wait(waiter->event, 0, NAP_US);
		hd_lock(&rt->lock);
		hd_core_clock(rt, virtual_now(rt));
	}
	return 0;
}

static void *virtual_alloc(heddle_runtime *rt, unsigned node, size_t size)
{
	(void)node;
	(void)size;
	return rt; /* an address that is not NULL and that nobody uses */
}

static void virtual_free(heddle_runtime *rt, unsigned node, void *ptr, size_t size)
{
	(void)rt;
	(void)node;
	(void)ptr;
	(void)size;
}

static void virtual_close(heddle_runtime *rt)
{
	struct hd_virtual *v = rt->engine_state.virtual_;
	if (!v)
		return;
	free(v->heap);
	free(v->in);
	free(v->out);
	free(v->active);
	for (size_t i = 0; v->routes && i < rt->hops.n; i++) {
		free(v->routes[i].buses);
		free(v->routes[i].crosses);
	}
	free(v->routes);
	free(v->buses);
	free(v->narrow);
	free(v);
	rt->engine_state.virtual_ = NULL;
}

/* Links by the channel that their transfers go through: a list per node that they lead to, then one per node whose
 * links lead to node 0. */
struct by_channel {
	size_t *head, *next; /* own; 1 + the number of a link among the hops; 0: the end */
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

/* Adds what one channel can demand of each bus, which has one link at a time. `of_one` is 0 before and after. */
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

/* What all channels together can demand of each bus. */
static int find_demands(const heddle_runtime *rt, double *most, double *of_one)
{
	struct by_channel links;
	int status = sort_by_channel(&rt->hops, rt->n_nodes, &links);
	for (size_t channel = 0; channel < 2 * rt->n_nodes && !status; channel++)
		add_demand(&rt->hops, &links, channel, most, of_one);
	free(links.head);
	free(links.next);
	return status;
}

/* Their numbers, of the platform, in the order of v->buses. NULL when out of memory. */
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

static int open_routes(heddle_runtime *rt, struct hd_virtual *v)
{
	size_t n = rt->hops.n, *numbers = open_buses(rt, v);
	v->routes = calloc(n + 1, sizeof *v->routes);
	int status = numbers && v->routes ? 0 : HEDDLE_E_MEMORY;
	for (size_t i = 0; i < n && !status; i++)
		status = open_route(v, &v->routes[i], rt->hops.all[i].link, numbers);
	free(numbers);
	return status ? hd_no_memory("the virtual engine") : 0;
}

static int virtual_open(heddle_runtime *rt)
{
	struct hd_virtual *v = calloc(1, sizeof *v);
	if (!v)
		return hd_no_memory("the virtual engine");
	rt->engine_state.virtual_ = v;
	v->heap = calloc(rt->n_workers + 1, sizeof *v->heap);
	v->in = calloc(rt->n_nodes, sizeof *v->in);
	v->out = calloc(rt->n_nodes, sizeof *v->out);
	v->active = calloc(2 * rt->n_nodes, sizeof(struct channel *));
	v->arrives = INFINITY;
	if (!v->heap || !v->in || !v->out || !v->active)
		return hd_no_memory("the virtual engine");
	if (open_routes(rt, v))
		return HEDDLE_E_MEMORY;
	hd_rng_seed(&v->rng, rt->config.seed ^ 0x6e6f697365); /* apart from the policy's numbers */
	hd_lock(&rt->lock);
	for (size_t i = rt->n_workers; i-- > 0;) { /* the list is last in, first out: worker 0 comes first */
		rt->workers[i].driven = 1;
		hd_core_hungry(&rt->workers[i]);
	}
	hd_unlock(&rt->lock);
	return 0;
}

const struct hd_engine hd_engine_virtual = {
    .name = "virtual",
    .times_are_given = 1,
    .virtual_time = 1,
    .open = virtual_open,
    .close = virtual_close,
    .now = virtual_now,
    .transfer = virtual_transfer,
    .worker_ready = virtual_worker_ready,
    .wait = virtual_wait,
    .alloc = virtual_alloc,
    .free = virtual_free,
};
