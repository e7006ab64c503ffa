/* The functions of CUDA's driver API that the driver calls: HD_CUDA_CALLS(CALL) expands to CALL(name, optional) for
 * each.
 *
 * They are found at run time in libcuda.so.1, so they have the names of the library's symbols here. Where cuda.h
 * defines a macro, the library's name is longer than the one in NVIDIA's documents: cuMemAlloc is cuMemAlloc_v2 here.
 * The headers of CUDA 11.8, 12 and 13 declare all these names. optional: 1: drivers that are older than the headers
 * lack the function, and then Heddle's driver works without it. */
#ifndef HD_DRIVER_CUDA_CALLS_H
#define HD_DRIVER_CUDA_CALLS_H

#define HD_CUDA_CALLS(CALL)                   \
	/* the driver, and its errors */      \
	CALL(cuInit, 0)                       \
	CALL(cuDriverGetVersion, 0)           \
	CALL(cuGetErrorName, 0)               \
	CALL(cuGetErrorString, 0)             \
	/* devices and contexts */            \
	CALL(cuDeviceGetCount, 0)             \
	CALL(cuDeviceGet, 0)                  \
	CALL(cuDeviceGetName, 0)              \
	CALL(cuDeviceGetPCIBusId, 0)          \
	CALL(cuDeviceTotalMem_v2, 0)          \
	CALL(cuDeviceGetAttribute, 0)         \
	CALL(cuDeviceCanAccessPeer, 0)        \
	CALL(cuDevicePrimaryCtxRetain, 0)     \
	CALL(cuDevicePrimaryCtxRelease_v2, 0) \
	CALL(cuCtxPushCurrent_v2, 0)          \
	CALL(cuCtxPopCurrent_v2, 0)           \
	CALL(cuCtxEnablePeerAccess, 0)        \
	CALL(cuCtxGetStreamPriorityRange, 0)  \
	/* streams and events */              \
	CALL(cuStreamCreateWithPriority, 0)   \
	CALL(cuStreamDestroy_v2, 0)           \
	CALL(cuStreamSynchronize, 0)          \
	CALL(cuStreamWaitEvent, 0)            \
	CALL(cuStreamAddCallback, 0)          \
	CALL(cuEventCreate, 0)                \
	CALL(cuEventDestroy_v2, 0)            \
	CALL(cuEventRecord, 0)                \
	CALL(cuEventQuery, 0)                 \
	CALL(cuEventSynchronize, 0)           \
	/* memory */                          \
	CALL(cuMemAlloc_v2, 0)                \
	CALL(cuMemFree_v2, 0)                 \
	CALL(cuMemPoolCreate, 1)              \
	CALL(cuMemPoolDestroy, 1)             \
	CALL(cuMemPoolSetAttribute, 1)        \
	CALL(cuMemPoolSetAccess, 1)           \
	CALL(cuMemAllocFromPoolAsync, 1)      \
	CALL(cuMemFreeAsync, 1)               \
	CALL(cuMemHostAlloc, 0)               \
	CALL(cuMemFreeHost, 0)                \
	CALL(cuMemHostRegister_v2, 0)         \
	CALL(cuMemHostUnregister, 0)          \
	/* copies */                          \
	CALL(cuMemcpyHtoDAsync_v2, 0)         \
	CALL(cuMemcpyDtoHAsync_v2, 0)         \
	CALL(cuMemcpy2DAsync_v2, 0)           \
	CALL(cuMemcpy3DAsync_v2, 0)           \
	CALL(cuMemcpyPeerAsync, 0)            \
	CALL(cuMemcpy3DPeerAsync, 0)          \
	/* kernels */                         \
	CALL(cuModuleLoadDataEx, 0)           \
	CALL(cuModuleUnload, 0)               \
	CALL(cuModuleGetFunction, 0)          \
	CALL(cuFuncSetAttribute, 0)           \
	CALL(cuLaunchKernel, 0)

#endif
