/* Performance models. */
#ifndef HEDDLE_STARPU_PERFMODEL_H
#define HEDDLE_STARPU_PERFMODEL_H

#include <starpu_worker.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kind of worker for which a model is asked, in place of StarPU's list of devices. */
struct starpu_perfmodel_device {
	int type, devid, ncores; /* type: an enum starpu_worker_archtype */
};
struct starpu_perfmodel_arch {
	int ndevices;
	struct starpu_perfmodel_device *devices;
};

/* STARPU_HISTORY_BASED: HEDDLE_MODEL_HISTORY; STARPU_REGRESSION_BASED: HEDDLE_MODEL_POWER; STARPU_NL_REGRESSION_BASED:
 * HEDDLE_MODEL_AFFINE; STARPU_MULTIPLE_REGRESSION_BASED: HEDDLE_MODEL_LINEAR of `parameters`; the others give the time
 * by a function: HEDDLE_MODEL_GIVEN. The models are Heddle's, stored under `symbol`; StarPU's files are not read. */
enum starpu_perfmodel_type {
	STARPU_PERFMODEL_INVALID = 0,
	STARPU_PER_WORKER,
	STARPU_PER_ARCH,
	STARPU_COMMON,
	STARPU_HISTORY_BASED,
	STARPU_REGRESSION_BASED,
	STARPU_NL_REGRESSION_BASED,
	STARPU_MULTIPLE_REGRESSION_BASED
};
typedef double (*starpu_perfmodel_per_arch_cost_function)(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
                                                          unsigned nimpl);
struct starpu_perfmodel_per_arch {
	starpu_perfmodel_per_arch_cost_function cost_function;
};
struct starpu_perfmodel {
	const char *symbol; /* the name under which times are stored, and by which a platform gives times */
	enum starpu_perfmodel_type type;
	/* us. With STARPU_COMMON and cost_function, workers of every kind take the same time. Called when the first
	 * task of a size is submitted: `flops` and the handles of the task are there, and equal sizes must give equal
	 * times. */
	double (*cost_function)(struct starpu_task *task, unsigned nimpl);
	double (*arch_cost_function)(struct starpu_task *task, struct starpu_perfmodel_arch *arch, unsigned nimpl);
	double (*worker_cost_function)(struct starpu_task *task, unsigned workerid, unsigned nimpl);
	size_t (*size_base)(struct starpu_task *task, unsigned nimpl); /* not used: the bytes of the data */
	/* a hash of what changes the time besides the shapes of the data */
	uint32_t (*footprint)(struct starpu_task *task);
	/* the regressors */
	void (*parameters)(struct starpu_task *task, double *parameters);
	const char **parameters_names;
	unsigned nparameters, **combinations, ncombinations;
	/* of STARPU_PER_ARCH: for each kind of worker, in place of arch_cost_function */
	struct starpu_perfmodel_per_arch per_type[STARPU_NARCH];
	int is_loaded, benchmarking;
};
/* Does nothing: Heddle reads a model with its codelet. */
int starpu_perfmodel_init(struct starpu_perfmodel *model);
/* The functions of a kind of worker: the kind, the number of a device, a number of cores, and -1 at the end; devices of
 * one kind have one model, and so have all implementations. */
struct starpu_perfmodel_per_arch *starpu_perfmodel_get_model_per_devices(struct starpu_perfmodel *model, int impl, ...);
int starpu_perfmodel_set_per_devices_cost_function(struct starpu_perfmodel *model, int impl,
                                                   starpu_perfmodel_per_arch_cost_function function, ...);
/* A model that takes no time. */
extern struct starpu_perfmodel starpu_perfmodel_nop;

#ifdef __cplusplus
}
#endif
#endif
