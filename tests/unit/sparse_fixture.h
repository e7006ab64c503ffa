/* A runtime on which sparse matrices are factorised. */
#ifndef TEST_SPARSE_FIXTURE_H
#define TEST_SPARSE_FIXTURE_H

#include <stdlib.h>
#include "cores_config.h"
#include <heddle/sparse.h>

struct fixture {
	heddle_runtime *rt;
	heddle_sparse *sparse;
};

static void start(struct fixture *f, const struct heddle_config *config)
{
	OK(heddle_start(config, &f->rt));
	OK(heddle_sparse_open(f->rt, &f->sparse));
}

static void stop(struct fixture *f)
{
	heddle_sparse_close(f->sparse);
	OK(heddle_stop(f->rt));
}

static inline int set_up_with(void **state, const struct heddle_config *config)
{
	*state = calloc(1, sizeof(struct fixture));
	start(*state, config);
	return 0;
}

static inline int tear_down(void **state)
{
	stop(*state);
	free(*state);
	return 0;
}

#endif
