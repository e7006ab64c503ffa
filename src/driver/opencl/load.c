/* Loads the library of OpenCL, and explains its errors. */
#ifdef HEDDLE_HAVE_OPENCL
#include "base/base.h"
#include "opencl.h"

struct hd_cl_calls hd_cl;

int hd_cl_load(void)
{
	static const char *const files[] = {"libOpenCL.so.1", "libOpenCL.so", NULL};
#define SYMBOL(name) {#name, &hd_cl.name, 0},
	static const struct heddle_symbol symbols[] = {HD_CL_CALLS(SYMBOL)};
#undef SYMBOL
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards `loaded`, and hd_cl while it is set */
	static int loaded;
	pthread_mutex_lock(&lock);
	int status = loaded ? 0
	                    : heddle_library_load("OpenCL (Debian: apt-get install ocl-icd-libopencl1 and a driver, "
	                                          "such as pocl-opencl-icd)",
	                                          files, sizeof symbols / sizeof *symbols, symbols);
	loaded |= !status;
	pthread_mutex_unlock(&lock);
	return status;
}

/* --- Errors ------------------------------------------------------------------------------------------------------- */

/* What an error of OpenCL means for the runtime. */
enum meaning {
	WRONG,     /* the call was wrong, or the device cannot do what the call asks */
	FULL,      /* a memory is full */
	LOST,      /* the device cannot be used any more */
	SCARCE,    /* FULL after HD_CL_MAKING, LOST after HD_CL_RUNNING */
	UNREADABLE /* a program does not compile */
};

#define OUR_BUG "this is an error of Heddle, or of the program if it calls OpenCL itself"
#define KERNEL_BUG "the kernel's source and what the program gives to heddle_opencl_run do not fit"

static const struct {
	int code;
	enum meaning meaning;
	const char *name, *advice;
} errors[] = {
    {-1, WRONG, "CL_DEVICE_NOT_FOUND", "no driver offers a device (Debian: apt-get install pocl-opencl-icd)"},
    {-2, LOST, "CL_DEVICE_NOT_AVAILABLE", "the device has failed, or another program has it for itself"},
    {-3, WRONG, "CL_COMPILER_NOT_AVAILABLE", "the device's driver cannot compile: it needs its compiler installed"},
    {-4, FULL, "CL_MEM_OBJECT_ALLOCATION_FAILURE",
     "the device's memory is full: set opencl_memory lower, or end other programs that use the device"},
    {-5, SCARCE, "CL_OUT_OF_RESOURCES",
     "the device's memory is full, a kernel has used memory that is not its own, or needs too much of the device"},
    {-6, FULL, "CL_OUT_OF_HOST_MEMORY", "main memory is full"},
    {-7, WRONG, "CL_PROFILING_INFO_NOT_AVAILABLE", OUR_BUG},
    {-8, WRONG, "CL_MEM_COPY_OVERLAP", "the two sides of a copy overlap"},
    {-9, WRONG, "CL_IMAGE_FORMAT_MISMATCH", OUR_BUG},
    {-10, WRONG, "CL_IMAGE_FORMAT_NOT_SUPPORTED", "the device lacks this format of images"},
    {-11, UNREADABLE, "CL_BUILD_PROGRAM_FAILURE", "the program does not compile"},
    {-12, FULL, "CL_MAP_FAILURE", "memory could not be mapped"},
    {-13, WRONG, "CL_MISALIGNED_SUB_BUFFER_OFFSET", "sub-buffers begin at multiples of the device's alignment"},
    {-14, LOST, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", "what had to come before it has failed"},
    {-15, UNREADABLE, "CL_COMPILE_PROGRAM_FAILURE", "the program does not compile"},
    {-16, WRONG, "CL_LINKER_NOT_AVAILABLE", "the device's driver cannot link"},
    {-17, UNREADABLE, "CL_LINK_PROGRAM_FAILURE", "the program cannot be linked"},
    {-18, WRONG, "CL_DEVICE_PARTITION_FAILED", "the device cannot be partitioned so"},
    {-19, WRONG, "CL_KERNEL_ARG_INFO_NOT_AVAILABLE", OUR_BUG},
    {-30, WRONG, "CL_INVALID_VALUE", OUR_BUG},
    {-31, WRONG, "CL_INVALID_DEVICE_TYPE", OUR_BUG},
    {-32, WRONG, "CL_INVALID_PLATFORM", "the driver that was there has gone"},
    {-33, WRONG, "CL_INVALID_DEVICE", OUR_BUG},
    {-34, WRONG, "CL_INVALID_CONTEXT", OUR_BUG},
    {-35, WRONG, "CL_INVALID_QUEUE_PROPERTIES", "the device lacks such queues"},
    {-36, LOST, "CL_INVALID_COMMAND_QUEUE", "the device has failed before, which has ended its queues"},
    {-37, WRONG, "CL_INVALID_HOST_PTR", OUR_BUG},
    {-38, WRONG, "CL_INVALID_MEM_OBJECT", "a memory object is of another context, or was released"},
    {-39, WRONG, "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR", OUR_BUG},
    {-40, WRONG, "CL_INVALID_IMAGE_SIZE", "the image is larger than the device can have"},
    {-41, WRONG, "CL_INVALID_SAMPLER", OUR_BUG},
    {-42, WRONG, "CL_INVALID_BINARY", "the binary is of another device or driver, or damaged"},
    {-43, UNREADABLE, "CL_INVALID_BUILD_OPTIONS", "the compiler refuses the options of the program"},
    {-44, WRONG, "CL_INVALID_PROGRAM", OUR_BUG},
    {-45, WRONG, "CL_INVALID_PROGRAM_EXECUTABLE", "the program was not built for this device"},
    {-46, WRONG, "CL_INVALID_KERNEL_NAME", "the program has no kernel of that name"},
    {-47, WRONG, "CL_INVALID_KERNEL_DEFINITION", "the kernel has other arguments on another device"},
    {-48, WRONG, "CL_INVALID_KERNEL", "it is no kernel, or was released"},
    {-49, WRONG, "CL_INVALID_ARG_INDEX", "the kernel has fewer arguments: " KERNEL_BUG},
    {-50, WRONG, "CL_INVALID_ARG_VALUE", "the kernel wants another kind of argument: " KERNEL_BUG},
    {-51, WRONG, "CL_INVALID_ARG_SIZE", "the kernel wants an argument of another size: " KERNEL_BUG},
    {-52, WRONG, "CL_INVALID_KERNEL_ARGS", "the kernel has more arguments: " KERNEL_BUG},
    {-53, WRONG, "CL_INVALID_WORK_DIMENSION", OUR_BUG},
    {-54, WRONG, "CL_INVALID_WORK_GROUP_SIZE",
     "the device, or the kernel's attribute, does not allow groups of this size: give another `local`"},
    {-55, WRONG, "CL_INVALID_WORK_ITEM_SIZE", "the device does not allow groups of this extent: give another `local`"},
    {-56, WRONG, "CL_INVALID_GLOBAL_OFFSET", OUR_BUG},
    {-57, WRONG, "CL_INVALID_EVENT_WAIT_LIST", OUR_BUG},
    {-58, WRONG, "CL_INVALID_EVENT", OUR_BUG},
    {-59, WRONG, "CL_INVALID_OPERATION", "the device cannot do this"},
    {-60, WRONG, "CL_INVALID_GL_OBJECT", OUR_BUG},
    {-61, FULL, "CL_INVALID_BUFFER_SIZE", "the device does not allow a block of memory of this size"},
    {-62, WRONG, "CL_INVALID_MIP_LEVEL", OUR_BUG},
    {-63, WRONG, "CL_INVALID_GLOBAL_WORK_SIZE", "the range is empty, or larger than the device allows"},
    {-64, WRONG, "CL_INVALID_PROPERTY", OUR_BUG},
    {-65, WRONG, "CL_INVALID_IMAGE_DESCRIPTOR", OUR_BUG},
    {-66, UNREADABLE, "CL_INVALID_COMPILER_OPTIONS", "the compiler refuses the options of the program"},
    {-67, UNREADABLE, "CL_INVALID_LINKER_OPTIONS", "the linker refuses the options of the program"},
    {-68, WRONG, "CL_INVALID_DEVICE_PARTITION_COUNT", OUR_BUG},
    {-1001, WRONG, "CL_PLATFORM_NOT_FOUND_KHR",
     "no driver is installed (Debian: apt-get install pocl-opencl-icd, or that of the device's maker)"},
    {-9999, LOST, "an error of NVIDIA's driver", "a kernel has used memory that is not its own"},
};

static int status_of(enum meaning meaning, enum hd_cl_moment moment)
{
	switch (meaning) {
	case FULL: return HEDDLE_E_MEMORY;
	case LOST: return HEDDLE_E_DEVICE;
	case SCARCE: return moment == HD_CL_RUNNING ? HEDDLE_E_DEVICE : HEDDLE_E_MEMORY;
	case UNREADABLE: return HEDDLE_E_FORMAT;
	default: return HEDDLE_E_UNSUPPORTED;
	}
}

int hd_cl_error(enum hd_cl_moment moment, cl_int code, const char *call, const char *whom)
{
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].code == code)
			return hd_error(status_of(errors[i].meaning, moment), "%s: %s failed with %s (%d): %s", whom,
			                call, errors[i].name, (int)code, errors[i].advice);
	return hd_error(HEDDLE_E_UNSUPPORTED, "%s: %s failed with %d, an error of its driver that OpenCL does not name",
	                whom, call, (int)code);
}
#endif
