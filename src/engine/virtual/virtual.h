/* The virtual engine: what its two files share. clock.c lets time pass from event to event; sharing.c knows how long
 * transfers take.
 *
 * A transfer first waits for its copy engine (one per accelerator and direction, in order), then for the latency of its
 * link, then moves bytes at a rate that max-min fair sharing gives it among all transfers that cross the same buses at
 * that moment.
 */
#ifndef HD_ENGINE_VIRTUAL_H
#define HD_ENGINE_VIRTUAL_H

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
	double rate;                    /* MB/s; 0 while sharing.c has not given it one */
};

struct bus {
	double bandwidth;
	double enough;    /* demand that it carries; a little more, since sums and differences are not exact */
	double demand;    /* bandwidths of the links of its users */
	unsigned n_users; /* channels whose first transfer crosses it */
	/* While rates are given, and of narrow buses only; the others' may wrap around. */
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
	struct bus **narrow;  /* owns; while rates are given: those that carry less than is demanded */
	size_t n_narrow;
	struct hd_rng rng;
};

/* sharing.c */
void hd_virtual_transfer(heddle_runtime *rt, struct hd_transfer *tr);
/* Rates, and what ends first, for the transfers that are active now. Once before the clock moves on, however many began
 * or ended meanwhile. */
void hd_plan_arrivals(struct hd_virtual *v);
/* That of v->active[index] has arrived. */
void hd_finish_transfer(heddle_runtime *rt, size_t index);
/* What the links of the platform cross. HEDDLE_E_MEMORY. */
int hd_open_routes(heddle_runtime *rt, struct hd_virtual *v);
void hd_close_routes(heddle_runtime *rt);

#endif
