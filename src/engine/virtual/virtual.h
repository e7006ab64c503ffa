/* Private interface between the files of the virtual engine. clock.c advances the time from event to event, streams.c
 * computes when kernels end, sharing.c computes how long transfers take, and events.c has the heap of events.
 *
 * All kernels that a worker runs simultaneously progress at one rate (engine/shared_clock.h).
 *
 * A transfer first waits in its lane for its channel (one per accelerator and direction), then for the latency of its
 * link, then moves its bytes. Its rate depends on the simultaneous transfers that cross the same buses: they share the
 * buses by max-min fairness. */
#ifndef HD_ENGINE_VIRTUAL_VIRTUAL_H
#define HD_ENGINE_VIRTUAL_VIRTUAL_H

#include <heddle/event.h>
#include <heddle/runtime.h>
#include "engine/shared_clock.h"
#include "state/task.h"

struct bus;
struct group;
struct hd_streams;
struct hd_worker;

/* The next end of a kernel on one worker, if no other kernel begins there before; the end of a task by an event; or the
 * next arrival in a group of buses. */
struct event {
	double time;    /* us */
	uint64_t order; /* number of the kernel, event or transfer; at equal times, the lower number comes first */
	size_t *at;     /* the variable in which 1 + the event's index in the heap is kept; NULL: none */
	union {
		struct hd_streams *streams; /* a kernel of this worker ends; `at` is not NULL */
		heddle_event *task_ends;    /* the task of this event ends; `at` is NULL */
		struct group *group;
	} of;
};

/* A binary heap of events, the next event first. */
struct events {
	struct event *events; /* owned; the caller of hd_events_put has made room for the event */
	size_t n;
};

struct hd_kernel {
	double due;     /* us: the reading of the streams' clock at the end of the kernel */
	uint64_t order; /* number of the kernel, counted over all kernels and events */
	unsigned slot;  /* the slot that runs the kernel */
};

/* The kernels that one worker runs simultaneously. A kernel that takes d us alone ends when their clock has advanced by
 * d us. */
struct hd_streams {
	struct hd_worker *worker;
	struct hd_shared_clock clock;
	struct hd_kernel *kernels; /* part of the array hd_virtual.kernels: the clock.n running kernels, in no order */
	size_t at;                 /* 1 + the index of the worker's event in the heap; 0: no event */
};

/* The buses that a link crosses. Here and below, buses that can never be full are left out, because they slow down no
 * transfer. */
struct route {
	/* Owned. All routes have `route_length` buses, so that loops over them are predicted well. Shorter routes are
	 * padded with the additional last element of hd_virtual.buses, a bus that takes part in no computation. */
	struct bus **buses;
	char *crosses;       /* owned; per bus: 1 if the link crosses it */
	struct group *group; /* the group of these buses; NULL: the link crosses no buses */
};

/* A group of buses. All buses that one link crosses are in one group, so the rates of the transfers in a group do not
 * depend on transfers in other groups. */
struct group {
	struct bus **buses; /* part of the array hd_virtual.grouped */
	size_t n_buses;
	double slowest; /* MB/s: the bandwidth of the slowest link that crosses these buses */
	/* the channels with a transfer under way that crosses these buses, in the order in which the transfers began */
	struct channel *first, *last;
	size_t n_active;
	double updated; /* us: when `left` of the group's channels was last updated */
	/* the channel whose transfer ends first; valid while `at` is not 0 and is_changed is 0 */
	struct channel *arrives;
	size_t at; /* 1 + the index of this arrival in hd_virtual.arrivals; 0: no transfer is under way */
	struct group *next_changed;
	int is_changed; /* 1: a transfer has begun or ended since the rates were computed */
};

/* The transfers to or from one accelerator. The fields from `link` on are about the transfer `moving`. */
struct channel {
	struct hd_transfer *moving; /* the transfer under way; NULL: none, and the lane is empty, too */
	struct group alone; /* a group without buses, to which the channel belongs while its link crosses no bus */
	const struct heddle_link *link; /* borrowed from the platform */
	const struct route *route;      /* the route of the link */
	struct group *group;
	struct channel *next, *before; /* in the group's list */
	uint64_t order;                /* number of the transfer */
	double moves;                  /* us: when the latency is over and the bytes begin to move */
	double left;                   /* bytes still to move at group->updated */
	double rate;                   /* MB/s; 0: not computed yet */
};

struct bus {
	double bandwidth; /* MB/s, like all other bandwidths */
	/* the bus is narrow when the demand exceeds this: the bandwidth plus a margin for rounding errors */
	double enough;
	double demand;    /* sum of the bandwidths of the links of its users */
	unsigned n_users; /* number of channels whose transfer crosses the bus */
	/* Only used while rates are computed, and only for narrow buses; in other buses the fields may wrap around. */
	unsigned n_open; /* number of users without a rate */
	double left;     /* bandwidth not yet given to a user */
};

struct hd_virtual {
	double now; /* us */
	/* the ends of kernels and tasks: at most one event for each worker that runs kernels, and one event for each
	 * task that ends by an event */
	struct events ends;
	size_t max_ends;
	size_t n_waiting; /* number of events that end tasks */
	/* the begun sub-graph tasks whose function has not been called yet */
	struct hd_task_queue expanding;
	struct hd_streams *streams; /* owned; per worker */
	struct hd_kernel *kernels;  /* owned; room for the kernels of all workers */
	uint64_t next_order;
	struct channel *in, *out; /* owned; per node */
	struct events
	    /* the next arrival of each group that has a transfer under way and is not changed, groups without buses
	     * included */
	    arrivals;
	struct group *changed; /* the first of the groups that have changed */
	struct bus *buses;     /* owned: the n_buses buses that can be full, and one additional bus that pads routes */
	size_t n_buses;
	struct group *groups; /* owned; per bus: the group whose first bus this is, or a group without buses */
	struct bus **grouped; /* owned: the buses, sorted by group */
	struct route *routes; /* owned; per link, in the order of rt->hops->all */
	size_t route_length;  /* number of buses of the longest route */
	/* owned array, used while rates are computed: the buses with more demand than bandwidth */
	struct bus **narrow;
	size_t n_narrow;
	struct hd_rng rng; /* for the setting noise */
};

static inline double hd_later(double a, double b)
{
	return a > b ? a : b;
}

/* --- events.c ----------------------------------------------------------------------------------------------------- */

/* Puts an event into the heap; if event->at says that the event is in the heap already, changes its time. */
void hd_events_put(struct events *heap, const struct event *event);
void hd_events_remove(struct events *heap, size_t i);

/* --- streams.c ---------------------------------------------------------------------------------------------------- */

/* Begins a kernel that ends when the clock shows `due`. The clock must be up to date. */
static inline void hd_streams_begin(struct hd_streams *s, const struct hd_kernel *kernel)
{
	s->kernels[s->clock.n++] = *kernel;
}
/* The time in us at which the next kernel ends if no kernel begins before; *order: the number of this kernel. At least
 * one kernel must run. */
double hd_streams_next(const struct hd_streams *s, uint64_t *order);
/* Ends the kernel that hd_streams_next names, at the time `now`. Returns its slot. */
unsigned hd_streams_end(struct hd_streams *s, double now);

/* --- sharing.c ---------------------------------------------------------------------------------------------------- */

void hd_virtual_transfer(heddle_runtime *rt, struct hd_transfer *tr);
/* Computes the rates in the groups that have changed, and when the first transfer of each group ends. Called before the
 * clock advances, if v->changed is not NULL. */
void hd_plan_arrivals(struct hd_virtual *v);
/* Ends the transfer group->arrives, and starts the next transfer of its channel. */
void hd_finish_transfer(heddle_runtime *rt, struct group *group);
/* Finds the buses that can be full, and the routes of all links. HEDDLE_E_MEMORY. */
int hd_open_routes(heddle_runtime *rt, struct hd_virtual *v);
void hd_close_routes(heddle_runtime *rt);

#endif
