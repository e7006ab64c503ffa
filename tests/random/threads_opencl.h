/* The kernels of threads_kernels.h for OpenCL devices. */
#ifndef RANDOM_THREADS_OPENCL_H
#define RANDOM_THREADS_OPENCL_H

#include "driver/opencl/calls.h"
#include "opencl_kernels.h"
#include "threads_kernels.h"

/* Lets the device write the sum that the kernel has computed to where task_ended looks for it. The queue is in order,
 * and the task ends when all that is on it has. */
static int fetch_sum(heddle_context *c, struct _cl_mem *sum, struct record *r)
{
#ifdef HEDDLE_HAVE_OPENCL
	return heddle_opencl_failed(c,
	                            hd_cl.clEnqueueReadBuffer(heddle_stream(c), sum, CL_FALSE, 0, sizeof(uint64_t),
	                                                      (void *)&r->sum, 0, NULL, NULL),
	                            "clEnqueueReadBuffer");
#else
	(void)c;
	(void)sum;
	(void)r;
	return 1;
#endif
}

static int put_work(heddle_context *c, const struct work *w)
{
	struct _cl_mem *sum = NULL;
	int status = compute_opencl(c, w->step->k, w->n, w->modes, &sum);
	if (!status)
		status = fetch_sum(c, sum, w->record);
	if (w->step->looks)
		must(w->record->run, heddle_selfcheck(w->record->run->rt), "heddle_selfcheck in a kernel");
	w->record->ended = !status && !w->fails;
	return status ? problem(w->record->run, "step %u on an OpenCL device: %s", number_of(w), heddle_last_error())
	              : 0;
}

/* Ends the task, in a thread of the program: what follows may wait. */
static void end_rest(struct job *job)
{
	struct rest *rest = (struct rest *)(void *)job;
	const struct work *w = rest->work;
	struct run *r = w->record->run;
	if (rest->first)
		must(r, heddle_fulfill(rest->first, 0), "heddle_fulfill");
	if (w->fails && !rest->kernel_failed)
		must(r, heddle_event_fail(rest->last, 7, "step %u was told to fail", number_of(w)),
		     "heddle_event_fail");
	else
		must(r, heddle_fulfill(rest->last, 0), "heddle_fulfill");
	free(rest);
}

/* The device has done what the kernel has left to it. */
static void device_ended(void *arg, int result)
{
	struct rest *rest = arg;
	if (result)
		problem(rest->work->record->run, "step %u on an OpenCL device ended with %d", number_of(rest->work),
		        result);
	rest->job.run = end_rest;
	leave_to_pool(&rest->job);
}

static int leave_rest_to_device(heddle_context *c, const struct work *w)
{
	struct rest *rest = begin_rest(c, w);
	if (!rest)
		return -1;
	int failed = rest->kernel_failed;
	if (!failed)
		put_work(c, w);
	if (must(w->record->run, heddle_opencl_then(c, device_ended, rest), "heddle_opencl_then"))
		device_ended(rest, 0);
	return failed ? heddle_fail(c, 7, "the kernel of step %u was told to fail", number_of(w)) : 0;
}

static int work_opencl(heddle_context *c)
{
	const struct work *w = heddle_value_ptr(c, 0);
	if (begin_work(c, w))
		return -1;
	if (w->step->ends != WITH_KERNEL && may_detach(w))
		return leave_rest_to_device(c, w);
	if (put_work(c, w))
		return -1;
	return w->fails ? heddle_fail(c, 7, "kernel %u was told to fail", number_of(w)) : 0;
}

static int add_one_opencl(heddle_context *c)
{
	static const int mode = HEDDLE_COMMUTE;
	struct _cl_mem *sum;
	return compute_opencl(c, 1, 1, &mode, &sum);
}

#endif
