/* CUDA's library, loaded at run time, and what its errors mean. */
#ifdef HEDDLE_HAVE_CUDA
#include <pthread.h>
#include <stdio.h>
#include "base/base.h"
#include "driver/cuda/cuda.h"

struct hd_cuda_calls hd_cuda;

/* Held while the library is loaded, because several threads may load it at the same time; guards `loaded`. */
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static int loaded;

static int load(void)
{
#define SYMBOL(name, optional) {#name, &hd_cuda.name, optional},
	static const struct heddle_symbol symbols[] = {HD_CUDA_CALLS(SYMBOL)};
#undef SYMBOL
	static const char *const files[] = {"libcuda.so.1", NULL};
	int status = heddle_library_load("NVIDIA's driver", files, sizeof symbols / sizeof *symbols, symbols);
	if (status) {
		struct hd_sentence reason;
		hd_error_keep(&reason);
		return hd_error(status,
		                "%s; NVIDIA devices need it: install it (Debian: apt-get install "
		                "nvidia-driver)",
		                reason.text);
	}
	return HD_CUDA(NULL, cuInit, 0);
}

int hd_cuda_load(void)
{
	pthread_mutex_lock(&loading);
	int status = loaded ? 0 : load();
	loaded = !status;
	pthread_mutex_unlock(&loading);
	return status;
}

/* --- Errors ------------------------------------------------------------------------------------------------------- */

static const char SAY_NO_MEMORY[] =
    "limit the memory that Heddle takes there (the setting cuda_memory), or end other programs that use it",
                  SAY_DRIVER[] = "install a newer driver, or reboot if it has just been replaced",
                  SAY_PTX[] = "compile the device code for this device (nvcc -arch), or install a newer driver",
                  SAY_KERNEL[] = "a kernel has a fault, or the device: compute-sanitizer tells where",
                  SAY_BUSY[] =
                      "another program has the device for itself: end it, or set the device's compute mode to default",
                  SAY_HARDWARE[] = "the hardware reports a fault: see dmesg and nvidia-smi -q";

/* What is known about CUDA's results. Any other result is an error of the program or of Heddle: HEDDLE_E_INVALID.
 *
 * HEDDLE_E_DEVICE marks the results after which the device cannot be used. For most of them cuda.h says that they leave
 * "the process in an inconsistent state and any further CUDA work will return the same error". The others mean that a
 * context is gone (4, 201, 709), that hardware is at fault (46, 214, 220), that the server that shares the device among
 * processes fails (805 to 807), or that CUDA does not know what has happened (999). Results stand here as numbers,
 * because older headers lack some of the names. */
static const struct meaning {
	int result, status;
	const char *remedy;
} meanings[] = {
    {2, HEDDLE_E_MEMORY, SAY_NO_MEMORY},
    {4, HEDDLE_E_DEVICE, NULL},             /* DEINITIALIZED: the process is ending */
    {34, HEDDLE_E_UNSUPPORTED, SAY_DRIVER}, /* STUB_LIBRARY */
    {36, HEDDLE_E_UNSUPPORTED, SAY_DRIVER}, /* CALL_REQUIRES_NEWER_DRIVER */
    {46, HEDDLE_E_DEVICE, SAY_BUSY},        /* DEVICE_UNAVAILABLE */
    {100, HEDDLE_E_UNSUPPORTED,
     "nvidia-smi lists the devices that the driver finds; CUDA_VISIBLE_DEVICES may hide some"},
    {102, HEDDLE_E_UNSUPPORTED, NULL},    /* DEVICE_NOT_LICENSED */
    {200, HEDDLE_E_FORMAT, NULL},         /* INVALID_IMAGE */
    {201, HEDDLE_E_DEVICE, NULL},         /* INVALID_CONTEXT */
    {209, HEDDLE_E_UNSUPPORTED, SAY_PTX}, /* NO_BINARY_FOR_GPU */
    {214, HEDDLE_E_DEVICE, SAY_HARDWARE}, /* ECC_UNCORRECTABLE */
    {218, HEDDLE_E_FORMAT, SAY_PTX},      /* INVALID_PTX */
    {220, HEDDLE_E_DEVICE, SAY_HARDWARE}, /* NVLINK_UNCORRECTABLE */
    {221, HEDDLE_E_UNSUPPORTED, SAY_PTX}, /* JIT_COMPILER_NOT_FOUND */
    {222, HEDDLE_E_UNSUPPORTED, SAY_PTX}, /* UNSUPPORTED_PTX_VERSION */
    {223, HEDDLE_E_UNSUPPORTED, SAY_PTX}, /* JIT_COMPILATION_DISABLED */
    {226, HEDDLE_E_DEVICE, SAY_HARDWARE}, /* CONTAINED */
    {300, HEDDLE_E_FORMAT, NULL},         /* INVALID_SOURCE */
    {500, HEDDLE_E_UNKNOWN, NULL},        /* NOT_FOUND */
    {700, HEDDLE_E_DEVICE, SAY_KERNEL},   /* ILLEGAL_ADDRESS */
    {702, HEDDLE_E_DEVICE, SAY_KERNEL},   /* LAUNCH_TIMEOUT */
    {709, HEDDLE_E_DEVICE, NULL},         /* CONTEXT_IS_DESTROYED */
    {710, HEDDLE_E_DEVICE, SAY_KERNEL},   /* ASSERT */
    {714, HEDDLE_E_DEVICE, SAY_KERNEL},   /* HARDWARE_STACK_ERROR */
    {715, HEDDLE_E_DEVICE, SAY_KERNEL},   /* ILLEGAL_INSTRUCTION */
    {716, HEDDLE_E_DEVICE, SAY_KERNEL},   /* MISALIGNED_ADDRESS */
    {717, HEDDLE_E_DEVICE, SAY_KERNEL},   /* INVALID_ADDRESS_SPACE */
    {718, HEDDLE_E_DEVICE, SAY_KERNEL},   /* INVALID_PC */
    {719, HEDDLE_E_DEVICE, SAY_KERNEL},   /* LAUNCH_FAILED */
    {721, HEDDLE_E_DEVICE, SAY_KERNEL},   /* TENSOR_MEMORY_LEAK */
    {801, HEDDLE_E_UNSUPPORTED, NULL},    /* NOT_SUPPORTED */
    {802, HEDDLE_E_UNSUPPORTED,
     "the machine's fabric manager may not be running: systemctl status nvidia-fabricmanager"},
    {803, HEDDLE_E_UNSUPPORTED, SAY_DRIVER}, /* SYSTEM_DRIVER_MISMATCH */
    {804, HEDDLE_E_UNSUPPORTED, SAY_DRIVER}, /* COMPAT_NOT_SUPPORTED_ON_DEVICE */
    {805, HEDDLE_E_DEVICE, NULL},            /* MPS_CONNECTION_FAILED */
    {806, HEDDLE_E_DEVICE, NULL},            /* MPS_RPC_FAILURE */
    {807, HEDDLE_E_DEVICE, NULL},            /* MPS_SERVER_NOT_READY */
    {810, HEDDLE_E_DEVICE, NULL},            /* MPS_CLIENT_TERMINATED */
    {911, HEDDLE_E_DEVICE, SAY_HARDWARE},    /* EXTERNAL_DEVICE */
    {999, HEDDLE_E_DEVICE, SAY_HARDWARE},    /* UNKNOWN */
};

static const struct meaning *find_meaning(int result)
{
	static const struct meaning any = {-1, HEDDLE_E_INVALID, NULL};
	for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
		if (meanings[i].result == result)
			return &meanings[i];
	return &any;
}

int hd_cuda_classify(int result)
{
	return result ? find_meaning(result)->status : 0;
}

void hd_cuda_describe(char words[HD_CUDA_WORDS], int result, const char *call)
{
	const char *name = NULL, *text = NULL, *remedy = find_meaning(result)->remedy;
	if (hd_cuda.cuGetErrorName((CUresult)result, &name) || !name)
		name = "an error that this version of CUDA does not name";
	if (hd_cuda.cuGetErrorString((CUresult)result, &text) || !text)
		text = "no more is known";
	snprintf(words, HD_CUDA_WORDS, "%s: %s (%d), %s%s%s", call, name, result, text, remedy ? "; " : "",
	         remedy ? remedy : "");
}

int hd_cuda_status(const struct hd_cuda_device *device, CUresult result, const char *call)
{
	char words[HD_CUDA_WORDS];
	if (!result)
		return 0;
	hd_cuda_describe(words, (int)result, call);
	return hd_error(find_meaning((int)result)->status, "%s%s%s", device ? device->name : "", device ? ": " : "",
	                words);
}
#endif
