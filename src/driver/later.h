/* The functions that a kernel of a device has asked to be called when its work has ended: heddle_cuda_then,
 * heddle_opencl_then. The driver keeps them with the kernel's operation. The worker's thread calls them when `query`
 * has seen that the operation has ended, or when `launch` fails. A callback of CUDA or OpenCL could not call them: such
 * a function may fulfill an event, and then the calling thread may allocate and free memory of devices, and run
 * callbacks of tasks. */
#ifndef HD_DRIVER_LATER_H
#define HD_DRIVER_LATER_H

struct hd_later {
	struct hd_later *next; /* owned; the next call in the order of the requests */
	void (*f)(void *arg, int result);
	void *arg;
};

/* Appends a call of f(arg, result) to the list. HEDDLE_E_MEMORY. */
int hd_later_add(struct hd_later **list, void (*f)(void *arg, int result), void *arg);
/* Makes the calls, in the order in which they were asked for, and empties the list. Keeps the thread's last error.
 * `result`: the result of the operation, as a number of the device's library. */
void hd_later_call(struct hd_later **list, int result);

#endif
