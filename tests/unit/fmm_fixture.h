/* What tests of the fast multipole method begin with: a runtime with its library. */
#ifndef HD_TESTS_UNIT_FMM_FIXTURE_H
#define HD_TESTS_UNIT_FMM_FIXTURE_H

#include <fmm/tasks/tasks.h>
#include <stdlib.h>
#include "cores_config.h"
#include "ok.h"

struct fixture {
	heddle_runtime *rt;
	heddle_fmm *fmm;
};

static inline void start(struct fixture *f, const char *sched, int n_emulated, int workers)
{
	const struct heddle_config config = config_of(sched, workers, n_emulated);
	OK(heddle_start(&config, &f->rt));
	OK(heddle_fmm_open(f->rt, &f->fmm));
}

static inline void stop(struct fixture *f)
{
	heddle_fmm_close(f->fmm);
	OK(heddle_stop(f->rt));
}

static inline int set_up(void **state)
{
	struct fixture *f = *state = calloc(1, sizeof *f);
	start(f, "eager", 0, 2);
	return 0;
}

static inline int tear_down(void **state)
{
	stop(*state);
	free(*state);
	return 0;
}

#endif
