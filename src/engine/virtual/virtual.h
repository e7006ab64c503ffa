/* The virtual engine: what its files share. clock.c advances the time from event to event; streams.c computes when
 * kernels end, sharing.c how long transfers take.
 *
 * The kernels that a worker runs at once all go at the same rate (engine/shared_clock.h).
 *
 * A transfer first waits in its lane for its channel (one per accelerator and direction), then for the latency of its
 * link, then moves its bytes. Its rate changes with the transfers that cross the same buses at the same time: they
 * share the buses by max-min fairness.
 */
#ifndef HD_ENGINE_VIRTUAL_H
#define HD_ENGINE_VIRTUAL_H

#include <heddle/event.h>
#include <heddle/runtime.h>
#include "engine/shared_clock.h"
#include "state/task.h"

struct bus;
struct hd_streams;
struct hd_worker;

/* The end of the kernel of a worker that ends first, if none begins before; or the moment when a task ends by an
 * event. */
struct event {
	double time;                /* us */
	uint64_t order;             /* of the kernel or event; of two at the same time, the lower one comes first */
	struct hd_streams *streams; /* of the worker whose kernel ends, or NULL */
	heddle_event *task_ends;    /* NULL: a kernel ends */
};

struct hd_kernel {
	double due;     /* us: what the clock of its streams shows when it ends */
	uint64_t order; /* number of the kernel, among all kernels and events */
	unsigned slot;  /* that runs it */
};

/* The kernels that one worker runs at once: one that takes some us when it is alone ends when their clock has advanced
 * by that. */
struct hd_streams {
	struct hd_worker *worker;
	struct hd_shared_clock clock;
	struct hd_kernel *kernels; /* part of hd_virtual.kernels: the clock.n that are in flight, in no order */
	size_t at;                 /* 1 + the index of the worker's event in the heap; 0: it has none */
};

/* The buses that a link crosses. Buses that can never be full are left out, here and below. */
struct route {
	/* Owned. All routes have `route_length` buses, so that loops over them are predicted; shorter ones are filled
	 * up with the bus behind the last of hd_virtual.buses, which is in no computation. */
	struct bus **buses;
	char *crosses; /* owned; per bus: 1 if the link crosses it */
};

/* What moves to or from one accelerator. All other fields are about the transfer `moving`. */
struct channel {
	struct hd_transfer *moving;     /* NULL: none; then its lane is empty, too */
	const struct heddle_link *link; /* borrowed from the platform */
	const struct route *route;      /* of the link */
	double moves;                   /* us: when its latency is over */
	double left;                    /* bytes still to move at hd_virtual.updated */
	double rate;                    /* MB/s; 0: none has been computed yet */
};

struct bus {
	double bandwidth; /* MB/s, as all other figures */
	double enough;    /* the demand up to which it is not narrow: its bandwidth and a little, for rounding errors */
	double demand;    /* sum of the bandwidths of the links of its users */
	unsigned n_users; /* number of channels whose transfer crosses it */
	/* Only used while rates are computed, and only of narrow buses; in other buses they may wrap around. */
	unsigned n_open; /* number of users without a rate */
	double left;     /* bandwidth that has not been given to a user */
};

struct hd_virtual {
	double now;         /* us */
	struct event *heap; /* owned: a binary heap of events, one per worker that runs kernels, and of tasks */
	size_t n_events, max_events;
	size_t n_waiting; /* how many of the events end tasks */
	/* tasks that their workers have begun, and of which the function of the sub-graph has not been called yet */
	struct hd_task_queue expanding;
	struct hd_streams *streams; /* owned; per worker */
	struct hd_kernel *kernels;  /* owned; room for the kernels of all workers */
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

/* streams.c */
/* Begins a kernel that ends when the clock shows `due`. The clock must be up to date. */
static inline void hd_streams_begin(struct hd_streams *s, const struct hd_kernel *kernel)
{
	s->kernels[s->clock.n++] = *kernel;
}
/* When the next kernel ends, in us, if none begins before, and its order; there must be one in flight. */
double hd_streams_next(const struct hd_streams *s, uint64_t *order);
/* Ends that kernel, at that time. Returns its slot. */
unsigned hd_streams_end(struct hd_streams *s, double now);

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
