/* What the kernel of a device asks to be called when its work has ended: heddle_cuda_then and heddle_opencl_then. The
 * driver keeps these calls with the operation, and makes them when it has seen that this has ended: in the worker's
 * thread, in `query` or in a `launch` that fails. In a callback of CUDA or OpenCL it would be wrong, because a function
 * that fulfills an event may make this thread allocate and free memory of devices, and run callbacks of tasks. */
#ifndef HD_DRIVER_LATER_H
#define HD_DRIVER_LATER_H

struct hd_later {
	struct hd_later *next; /* owned: asked for after it */
	void (*f)(void *arg, int result);
	void *arg;
};

/* Appends a call to the list. HEDDLE_E_MEMORY. */
int hd_later_add(struct hd_later **list, void (*f)(void *arg, int result), void *arg);
/* Makes the calls, in the order in which they were asked for, and empties the list. They do not change what
 * heddle_last_error says. */
void hd_later_call(struct hd_later **list, int result);

#endif
