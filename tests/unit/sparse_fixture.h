/* A runtime on which sparse matrices are factorised. */
#ifndef TEST_SPARSE_FIXTURE_H
#define TEST_SPARSE_FIXTURE_H

#include "ok.h"
#include "../machine.h"
#include <heddle/sparse.h>

struct fixture {
	heddle_runtime *rt;
	heddle_sparse *sparse;
};

static struct heddle_config config_of(const char *sched, int n_emulated)
{
	struct heddle_config config;
	OK(heddle_config_init(&config));
	config.n_cpu = cores_up_to(2);
	config.n_cuda = config.n_opencl = 0;
	config.n_emulated = n_emulated;
	config.sched = sched;
	config.sched_options = NULL;
	config.platform = NULL;
	config.model_dir = "none";
	return config;
}

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

#endif
