/* Programs for an accelerator whose memory is full, on a machine in virtual time. */
#ifndef TEST_FULL_MEMORY_H
#define TEST_FULL_MEMORY_H

#include "virtual_machine.h"

/* Whether the accelerator has a copy. */
static inline int is_there(const heddle_data *d)
{
	return heddle_data_valid_on(d, 1);
}

/* Starts with n data of one unit each. */
static inline void start_full(struct machine *m, size_t n, heddle_data **d)
{
	machine_start(m);
	machine_data(m, n, d);
}

/* Stops when all tasks have ended, which took so many transfers and evictions. */
static inline void end(struct machine *m, uint64_t transfers, uint64_t evictions)
{
	OK(heddle_wait_all(m->rt));
	OK(heddle_selfcheck(m->rt));
	assert_int_equal(machine_stats(m).transfers, transfers);
	assert_int_equal(machine_stats(m).evictions, evictions);
	OK(heddle_stop(m->rt));
}

#endif
