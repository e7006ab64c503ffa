/* The virtual engine: what its two files share. clock.c advances the time from event to event; sharing.c computes how
 * long transfers take.
 *
 * A transfer first queues for its channel (one per accelerator and direction), then waits for the latency of its link,
 * then moves its bytes. Its rate changes with the transfers that cross the same buses at the same time: they share the
 * buses by max-min fairness.
 */
#ifndef HD_ENGINE_VIRTUAL_H
#define HD_ENGINE_VIRTUAL_H

#include "core/runtime.h"

/* The end of a kernel, or the moment when a task ends by an event. */
struct event {
	double time;          /* us */
	uint64_t order;       /* number of the event; of two events at the same time, the one made first comes first */
	struct hd_slot *slot; /* whose kernel ends */
	heddle_event *task_ends; /* NULL: a kernel ends */
};

/* The buses that a link crosses. Buses that can never be full are left out, here and below. */
struct route {
	/* Owned. All routes have `route_length` buses, so that loops over them are predicted; shorter ones are filled
	 * up with the bus behind the last of hd_virtual.buses, which is in no computation. */
	struct bus **buses;
	char *crosses; /* owned; per bus: 1 if the link crosses it */
};

/* The transfers of one accelerator in one direction. The first one is under way; all but `last` is about it. */
struct channel {
	struct hd_transfer *first, *last; /* linked by queue_next */
	const struct heddle_link *link;   /* borrowed from the platform */
	const struct route *route;        /* of the link */
	double moves;                     /* us: when its latency is over */
	double left;                      /* bytes still to move at hd_virtual.updated */
	double rate;                      /* MB/s; 0: none has been computed yet */
};

struct bus {
	double bandwidth; /* MB/s, as all other figures */
	double enough;    /* the demand up to which it is not narrow: its bandwidth and a little, for rounding errors */
	double demand;    /* sum of the bandwidths of the links of its users */
	unsigned n_users; /* number of channels whose first transfer crosses it */
	/* Only used while rates are computed, and only of narrow buses; in other buses they may wrap around. */
	unsigned n_open; /* number of users without a rate */
	double left;     /* bandwidth that has not been given to a user */
};

struct hd_virtual {
	double now;         /* us */
	struct event *heap; /* owned: a binary heap of the ends of kernels, one per slot at most, and of tasks */
	size_t n_events, max_events;
	size_t n_waiting; /* how many of the events end tasks */
	uint64_t next_order;
	struct channel *in, *out; /* owned; per node */
	struct channel **active;  /* owned array: the channels with a transfer under way, in the order these began */
	size_t n_active;
	double updated;    /* us: when `left` of the active channels was last brought up to date */
	int changed;       /* a transfer has begun or ended since the rates were computed */
	size_t first;      /* unless changed: index in `active` of the transfer that ends first */
	double arrives;    /* us: when it ends; INFINITY when none is active */
	struct bus *buses; /* owned: n_buses that can be full, and one more to fill up routes */
	size_t n_buses;
	struct route *routes; /* owned; per link, in the order of rt->hops.all */
	size_t route_length;  /* of the longest route */
	struct bus **narrow;  /* owned array; while rates are computed: the buses with more demand than bandwidth */
	size_t n_narrow;
	struct hd_rng rng; /* for the setting noise */
};

/* sharing.c */
void hd_virtual_transfer(heddle_runtime *rt, struct hd_transfer *tr);
/* Computes the rates of the active transfers, and which one ends first and when. To be called before the clock moves
 * on, if transfers have begun or ended. */
void hd_plan_arrivals(struct hd_virtual *v);
/* Ends the transfer of v->active[index], and starts the next one of its channel. */
void hd_finish_transfer(heddle_runtime *rt, size_t index);
/* Finds the buses that can be full, and the routes of all links. HEDDLE_E_MEMORY. */
int hd_open_routes(heddle_runtime *rt, struct hd_virtual *v);
void hd_close_routes(heddle_runtime *rt);

#endif
