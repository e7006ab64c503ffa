/* What lies between threads that submit and the graph: the ring of submitted tasks, its gate, and what each thread has
 * of its own. inlet.c says how they work together. */
#ifndef HD_CORE_RING_H
#define HD_CORE_RING_H

#include <stdint.h>
#include <heddle/group.h>
#include <heddle/runtime.h>
#include <heddle/task.h>

#include <stdatomic.h>
#include "task_pool.h"

/* Why a task was not let into the graph: one of its data is closed. `why` is HD_OPEN if the task was let in. */
struct hd_refusal {
	int why;       /* enum hd_closed */
	char name[80]; /* of the datum; copied, since the datum may be freed before the program is told */
};

/* What one thread that submits to a runtime has of its own. */
struct hd_submitter {
	heddle_runtime *rt;                 /* const */
	struct hd_submitter *next;          /* lock core */
	uint64_t thread;                    /* const: the thread's token, see hd_thread_token */
	heddle_task *free[HD_SIZE_CLASSES]; /* only its thread: free tasks by size class, linked by link.next */
	/* The ticket of the task that the thread put into the ring last. Written by its thread with relaxed order, and
	 * read under the lock by the thread that refuses that task. pairs: nothing of its own; the store of the slot
	 * comes after it, and the refusing thread has loaded the slot. */
	_Atomic uint64_t ticket;
	/* Only its thread: the group of what it submits outside kernels and callbacks, and whether it has ever set one,
	 * there or inside (hd_inside). */
	heddle_group *group;
	int sets_groups;
	int nests;                 /* only its thread: it may run kernels, whose tasks are nested in theirs */
	int is_rare;               /* only its thread: one of the two is set */
	int n_subgraphs;           /* only its thread: functions of sub-graphs that it runs, one within the other */
	struct hd_refusal refusal; /* lock core: whether the task with that ticket was let in */
};

/* The ring of tasks that have been submitted and are not in the graph yet, of all threads: see inlet.c. */
enum { HD_RING_SIZE = 256, HD_RING_RUN = 64 };
struct hd_ring {
	/* How many tickets were ever taken. Ticket i owns slot i % HD_RING_SIZE. pairs: push takes a ticket and then
	 * loads the gate; who closes the gate stores it and then loads this number. All four are sequentially
	 * consistent, so at least one of the two threads sees what the other one did. */
	_Alignas(HD_CACHE_LINE) _Atomic uint64_t tail;
	/* The address of a task, and in its lowest bit the parity of the round through the ring in which it was stored:
	 * so the thread that drains need not write to the slots. pairs: the store in hd_ring_put with the load in
	 * ring_at, which sees all of the task. */
	_Alignas(HD_CACHE_LINE) _Atomic uintptr_t slots[HD_RING_SIZE];
};

/* What the lowest bit of the slot is once the task with that ticket lies in it. Slots are 0 at first, so it is 1 in the
 * first round. */
static inline uintptr_t hd_ring_parity(uint64_t ticket)
{
	return ~(uintptr_t)ticket / HD_RING_SIZE & 1;
}

/* Stores the task with that ticket. */
static inline void hd_ring_put(struct hd_ring *ring, uint64_t ticket, heddle_task *t)
{
	/* pairs: the load in ring_at */
	atomic_store_explicit(&ring->slots[ticket % HD_RING_SIZE], (uintptr_t)t | hd_ring_parity(ticket),
	                      memory_order_release);
}

/* Up to which ticket threads may submit without entering the core. Written under the lock, and read by each submission:
 * so it has a cache line that few write. pairs: see hd_ring.tail. Opening it is a release store, since the slots that
 * it gives free have been read, and what closed data were closed must be seen. */
struct hd_gate {
	/* Tickets below it may: `room` while no worker sleeps, otherwise 0. So most submissions need no more than one
	 * comparison. */
	_Alignas(HD_CACHE_LINE) _Atomic uint64_t limit;
	_Atomic uint64_t room;     /* tickets below it fit into the window and into the ring; 0: all must enter */
	_Atomic uint64_t patience; /* tickets below it need not enter although a worker sleeps that could run them */
	/* Bit c % 64 is set if a worker of class c sleeps or is about to. */
	_Atomic uint64_t sleepers;
	/* Bit c % 64 is set if workers of class c may expand tasks, asleep or not. pairs: hd_gate_expanders stores it
	 * and then loads the tail, unless there is a lookout, which drains the ring; a submission takes its ticket and
	 * then loads it. All are sequentially consistent. */
	_Atomic uint64_t expanders;
	/* How often any datum was closed or opened. pairs: hd_data_close adds 1 with release after it has changed the
	 * datum; a submission loads it with acquire before it looks at its data. */
	_Atomic uint64_t n_closings;
};

/* How submitted tasks get into the graph: inlet.c. */
struct hd_inlet {
	_Alignas(HD_CACHE_LINE) uint64_t head; /* how many tasks were ever taken out of the ring */
	uint64_t next_order;                   /* submission number of the next task */
	uint64_t submitted; /* how many tasks of the program, controls not included, were taken out */
	double mean_us;     /* us: running mean of kernel times; HUGE_VAL until one has run. The window depends on it */
	double looked;      /* us: when a worker that has tasks last looked into the ring */
	/* A throttled submitter waits until so few tasks are unfinished, with one for each of count.held_back. */
	uint64_t throttle;
	struct hd_submitter *submitters; /* owned; one per thread that has submitted */
	unsigned step;                   /* how many tickets the gate was last opened for although a worker slept */
	unsigned asleep[64];             /* how many workers of each class sleep or are about to, by class % 64 */
};

#endif
