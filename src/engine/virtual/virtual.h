/* Private interface between the files of the virtual engine. clock.c advances the time from event to event, streams.c
 * computes when kernels end, sharing.c how long transfers take.
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
struct hd_streams;
struct hd_worker;

/* The next end of a kernel on one worker, if no other kernel begins there before; or the end of a task by an event. */
struct event {
	double time;                /* us */
	uint64_t order;             /* number of the kernel or event; at equal times, the lower number comes first */
	struct hd_streams *streams; /* of the worker whose kernel ends; NULL: a task ends */
	heddle_event *task_ends;    /* NULL: a kernel ends */
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
	struct hd_kernel *kernels; /* part of hd_virtual.kernels: clock.n running kernels, in no order */
	size_t at;                 /* 1 + the index of the worker's event in the heap; 0: no event */
};

/* The buses that a link crosses. Here and below, buses that can never be full are left out. */
struct route {
	/* Owned. All routes have `route_length` buses, so that loops over them are predicted well. Shorter routes are
	 * padded with the bus after the last of hd_virtual.buses, which takes part in no computation. */
	struct bus **buses;
	char *crosses; /* owned; per bus: 1 if the link crosses it */
};

/* The transfers to or from one accelerator. All other fields are about the transfer `moving`. */
struct channel {
	struct hd_transfer *moving;     /* NULL: none, and the lane is empty, too */
	const struct heddle_link *link; /* borrowed from the platform */
	const struct route *route;      /* the route of the link */
	double moves;                   /* us: when the latency is over and the bytes begin to move */
	double left;                    /* bytes still to move at hd_virtual.updated */
	double rate;                    /* MB/s; 0: not computed yet */
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
	/* owned: a binary heap. It holds at most one event for each worker that runs kernels, and one for each task
	 * that ends by an event */
	struct event *heap;
	size_t n_events, max_events;
	size_t n_waiting; /* number of events that end tasks */
	/* the begun sub-graph tasks whose function has not been called yet */
	struct hd_task_queue expanding;
	struct hd_streams *streams; /* owned; per worker */
	struct hd_kernel *kernels;  /* owned; room for the kernels of all workers */
	uint64_t next_order;
	struct channel *in, *out; /* owned; per node */
	/* owned array: the channels with a transfer under way, in the order in which the transfers began */
	struct channel **active;
	size_t n_active;
	double updated;    /* us: when `left` of the active channels was last updated */
	int changed;       /* a transfer has begun or ended since the rates were computed */
	size_t first;      /* valid unless `changed`: index in `active` of the transfer that ends first */
	double arrives;    /* us: when this transfer ends; INFINITY: none is active */
	struct bus *buses; /* owned: the n_buses buses that can be full, and one more as padding of routes */
	size_t n_buses;
	struct route *routes; /* owned; per link, in the order of rt->hops->all */
	size_t route_length;  /* number of buses of the longest route */
	/* owned array, used while rates are computed: the buses with more demand than bandwidth */
	struct bus **narrow;
	size_t n_narrow;
	struct hd_rng rng; /* for the setting noise */
};

/* --- streams.c ---------------------------------------------------------------------------------------------------- */

/* Begins a kernel that ends when the clock shows `due`. The clock must be up to date. */
static inline void hd_streams_begin(struct hd_streams *s, const struct hd_kernel *kernel)
{
	s->kernels[s->clock.n++] = *kernel;
}
/* When the next kernel ends, in us, if none begins before, and its `order`. At least one kernel must run. */
double hd_streams_next(const struct hd_streams *s, uint64_t *order);
/* Ends the kernel that hd_streams_next names, at the time `now`. Returns its slot. */
unsigned hd_streams_end(struct hd_streams *s, double now);

/* --- sharing.c ---------------------------------------------------------------------------------------------------- */

void hd_virtual_transfer(heddle_runtime *rt, struct hd_transfer *tr);
/* Computes the rates of the active transfers, and which one ends first and when. Called before the clock advances, if
 * transfers have begun or ended. */
void hd_plan_arrivals(struct hd_virtual *v);
/* Ends the transfer of v->active[index], and starts the next transfer of its channel. */
void hd_finish_transfer(heddle_runtime *rt, size_t index);
/* Finds the buses that can be full, and the routes of all links. HEDDLE_E_MEMORY. */
int hd_open_routes(heddle_runtime *rt, struct hd_virtual *v);
void hd_close_routes(heddle_runtime *rt);

#endif
