/* The path from submitting threads to the graph: the ring of submitted tasks, the gate of the ring, and the record of
 * each submitting thread. inlet.c describes the algorithm. */
#ifndef HD_STATE_RING_H
#define HD_STATE_RING_H

#include <stdatomic.h>
#include <stdint.h>
#include <heddle/group.h>
#include <heddle/runtime.h>
#include <heddle/task.h>
#include "task.h"

/* Why a task was refused when it was to enter the graph: one of its data is closed. `why` is HD_OPEN if the task was
 * not refused. */
struct hd_refusal {
	int why; /* enum hd_closed */
	/* name of the datum; a copy, because the datum may be freed before the program reads the message */
	char name[80];
};

/* The record of one thread that submits to a runtime. "own": read and written by that thread only. */
struct hd_submitter {
	heddle_runtime *rt;                 /* const */
	struct hd_submitter *next;          /* in the runtime's list; guarded by the core lock */
	uint64_t thread;                    /* const: the thread's token, see hd_thread_token */
	heddle_task *free[HD_SIZE_CLASSES]; /* own: free tasks by size class, linked by link.next */
	/* The ticket of the task that the thread put into the ring last. Written by the thread with relaxed order, and
	 * read under the lock by the thread that refuses the task. pairs: with nothing itself. The store of the ring
	 * slot, which comes after the store of the ticket, orders both: the refusing thread has loaded that slot. */
	_Atomic uint64_t ticket;
	/* own: `group`: the current group of tasks that are submitted outside kernels and callbacks; `sets_groups`: 1:
	 * the thread has ever set a group, be it outside or inside a call (hd_inside). */
	heddle_group *group;
	int sets_groups;
	/* own: 1: the thread may run kernels; then the tasks that a kernel submits are nested in the kernel's task */
	int nests;
	int is_rare;     /* own: sets_groups or nests is set */
	int n_subgraphs; /* own: number of functions of sub-graphs that the thread is running, one inside the other */
	struct hd_refusal refusal; /* guarded by the core lock: whether the task with the ticket `ticket` was refused */
};

/* The ring: the submitted tasks of all threads until they enter the graph: see inlet.c. */
enum { HD_RING_SIZE = 256, HD_RING_RUN = 64 };
struct hd_ring {
	/* Number of tickets ever taken. Ticket i owns slot i % HD_RING_SIZE. pairs: a submitting thread takes a ticket
	 * and then loads the gate; the thread that closes the gate stores the gate and then loads this number. All four
	 * operations are sequentially consistent, so at least one of the two threads sees what the other one did. */
	_Alignas(HD_CACHE_LINE) _Atomic uint64_t tail;
	/* Each slot holds the address of a task. The lowest bit of the slot is the parity of the ticket's round through
	 * the ring, so the draining thread can tell a new task from an old one without writing to the slot. pairs: the
	 * store in hd_ring_put with the load in ring_at(), so that the draining thread sees the whole task. */
	_Alignas(HD_CACHE_LINE) _Atomic uintptr_t slots[HD_RING_SIZE];
};

/* The lowest bit of the ticket's slot once it holds the ticket's task: 1 in the first round, because empty slots are
 * 0. */
static inline uintptr_t hd_ring_parity(uint64_t ticket)
{
	return ~(uintptr_t)ticket / HD_RING_SIZE & 1;
}

/* Stores the task into the slot of its ticket. */
static inline void hd_ring_put(struct hd_ring *ring, uint64_t ticket, heddle_task *t)
{
	/* pairs: the load in ring_at() */
	atomic_store_explicit(&ring->slots[ticket % HD_RING_SIZE], (uintptr_t)t | hd_ring_parity(ticket),
	                      memory_order_release);
}

/* The gate: up to which ticket threads may submit without acquiring the core lock. Written under the lock, and read by
 * each submission, so it has a cache line that is rarely written. pairs: see hd_ring.tail. The gate is opened by a
 * release store, because the draining thread must have read the slots before they are overwritten, and because
 * submitting threads must see which data have been closed. */
struct hd_gate {
	/* Tickets below `limit` need not acquire the lock: `room` while no worker sleeps, otherwise 0. So most
	 * submissions need one comparison only. */
	_Alignas(HD_CACHE_LINE) _Atomic uint64_t limit;
	/* tickets below this number fit into the window and the ring; 0: every submission must acquire the lock */
	_Atomic uint64_t room;
	/* tickets below this number need not acquire the lock although a worker sleeps that could run their tasks */
	_Atomic uint64_t patience;
	/* Bit c % 64 is set if a worker of class c sleeps or is about to. */
	_Atomic uint64_t sleepers;
	/* Bit c % 64 is set if workers of class c may expand tasks, asleep or not. pairs: hd_gate_expanders stores this
	 * and then loads the tail, unless another thread is draining the ring; a submission takes its ticket and then
	 * loads this. All four operations are sequentially consistent, so at least one of the two threads sees what the
	 * other one did. */
	_Atomic uint64_t expanders;
	/* Number of times that any datum was closed or opened. pairs: hd_data_close adds 1 with release after it has
	 * changed the datum; a submission loads it with acquire before it reads its data. */
	_Atomic uint64_t n_closings;
};

/* The draining side of the ring: how submitted tasks enter the graph (inlet.c). */
struct hd_inlet {
	_Alignas(HD_CACHE_LINE) uint64_t head; /* number of tasks ever taken out of the ring */
	uint64_t next_order;                   /* submission number of the next task */
	uint64_t submitted;                    /* number of tasks taken out of the ring, not counting control tasks */
	/* us: running mean of kernel times, which sets the size of the window; HUGE_VAL until a kernel has run */
	double mean_us;
	double looked; /* us: when a worker that has tasks last looked into the ring */
	/* A throttled submitter waits until at most throttle + count.held_back tasks are unfinished. */
	uint64_t throttle;
	struct hd_submitter *submitters; /* owned; one per thread that has submitted */
	/* by how many tickets the gate was opened when it was last opened although a worker slept */
	unsigned step;
	unsigned asleep[64]; /* number of workers of each class that sleep or are about to, by class % 64 */
};

#endif
