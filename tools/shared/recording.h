/* One work that is simulated several times on one platform: under several policies, or with several seeds and options.
 * The work submits the same tasks each time. The first simulation records them, and the other simulations submit the
 * record, which takes less time and gives the same schedules. Bounds are computed from the record, too. */
#ifndef HD_SHARED_RECORDING_H
#define HD_SHARED_RECORDING_H

#include <pthread.h>
#include <stddef.h>
#include "taskgraph/graph.h"

/* The record of a work. Its uses are simulations and the computation of bounds; the last use frees the program. Several
 * threads may use it at once: a thread that begins while the first simulation runs simulates the work itself. */
struct recording {
	pthread_mutex_t lock; /* guards the other fields */
	size_t n_uses;        /* number of uses that have not ended yet */
	enum { NOT_RECORDED, BEING_RECORDED, RECORDED } state;
	/* Owns; valid and constant once recorded, until the last use ends. */
	struct hd_program program;
};

/* `n_uses`: the number of uses that there will be. */
void recording_init(struct recording *r, size_t n_uses);
void recording_free(struct recording *r);

/* Begins a use. Returns the recorded program; NULL: there is none yet. Sets *records to 1 if no thread is recording and
 * there will be other uses: then the caller must record, and call recording_give. */
const struct hd_program *recording_begin(struct recording *r, int *records);
/* Takes over the program. Its graph is NULL if the simulation has failed: then another simulation may record. */
void recording_give(struct recording *r, struct hd_program *program);
void recording_end(struct recording *r);

#endif
