/* Modules, functions, launches. All modules have all kernels that are compiled into the stand-in. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "block.h"
#include "inside.h"

#define USUAL_SHARED_BYTES (48 << 10)
#define MOST_SHARED_BYTES (227 << 10)

struct CUfunc_st {
	const struct standin_kernel *kernel;
	struct device *device;
	atomic_int shared_bytes; /* how much dynamic shared memory it may have */
	struct CUfunc_st *next;  /* of the same module */
};

struct CUmod_st {
	struct device *device;
	struct CUfunc_st *functions; /* registry */
};

static struct standin_kernel *kernels; /* const after the constructors that register them */

void standin_register(struct standin_kernel *kernel)
{
	kernel->next = kernels;
	kernels = kernel;
}

/* --- Modules ------------------------------------------------------------------------------------------------------ */

/* Whether it begins as what nvcc makes does: a fatbin, with its header or without, a cubin, or PTX. */
static int is_image(const void *image)
{
	static const unsigned char beginnings[][4] = {
	    {0xb1, 0x43, 0x62, 0x46}, {0x50, 0xed, 0x55, 0xba}, {0x7f, 'E', 'L', 'F'}};
	for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
		if (memcmp(image, beginnings[i], 4) == 0)
			return 1;
	}
	const char *text = image;
	while (isspace((unsigned char)*text))
		text++;
	return strncmp(text, "//", 2) == 0 || strncmp(text, ".version", 8) == 0;
}

static CUresult load(CUmodule *out, const void *image)
{
	if (!image)
		return CUDA_ERROR_INVALID_VALUE;
	if (!is_image(image))
		return CUDA_ERROR_INVALID_IMAGE;
	struct CUmod_st *m = calloc(1, sizeof *m);
	if (!m || !born(MODULE, m)) {
		free(m);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	m->device = current();
	*out = m;
	return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	CUresult code = enter("cuModuleLoadData", CONTEXT, NULL);
	return code ? code : load(module, image);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned numOptions, CUjit_option *options,
                            void **optionValues)
{
	char *log = NULL;
	size_t log_bytes = 0;
	CUresult code = enter("cuModuleLoadDataEx", CONTEXT, NULL);
	if (!code)
		code = load(module, image);
	for (unsigned i = 0; i < numOptions; i++) {
		if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
			log = optionValues[i];
		if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
			log_bytes = (size_t)(uintptr_t)optionValues[i];
	}
	if (log && log_bytes > 0)
		snprintf(log, log_bytes, "%s", code == CUDA_ERROR_INVALID_IMAGE ? "stand-in: this is no image" : "");
	return code;
}

CUresult cuModuleUnload(CUmodule hmod)
{
	CUresult late = CUDA_SUCCESS, code = enter("cuModuleUnload", CONTEXT | RELEASES, &late);
	if (code)
		return code;
	if (!dies(MODULE, hmod))
		return CUDA_ERROR_INVALID_HANDLE;
	while (hmod->functions) {
		struct CUfunc_st *f = hmod->functions;
		hmod->functions = f->next;
		dies(FUNCTION, f);
		free(f);
	}
	free(hmod);
	return late;
}

static const struct standin_kernel *find_kernel(const char *name)
{
	for (const struct standin_kernel *k = kernels; k; k = k->next) {
		if (strcmp(k->name, name) == 0)
			return k;
	}
	return NULL;
}

CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
	CUresult code = enter("cuModuleGetFunction", CONTEXT, NULL);
	if (code)
		return code;
	if (!lives(MODULE, hmod))
		return CUDA_ERROR_INVALID_HANDLE;
	const struct standin_kernel *kernel = find_kernel(name);
	if (!kernel)
		return CUDA_ERROR_NOT_FOUND;
	struct CUfunc_st *f = calloc(1, sizeof *f);
	if (!f || !born(FUNCTION, f)) {
		free(f);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	f->kernel = kernel;
	f->device = hmod->device;
	atomic_store(&f->shared_bytes, USUAL_SHARED_BYTES);
	pthread_rwlock_wrlock(&registry);
	f->next = hmod->functions;
	hmod->functions = f;
	pthread_rwlock_unlock(&registry);
	*hfunc = f;
	return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
	CUresult code = enter("cuFuncSetAttribute", CONTEXT, NULL);
	if (code)
		return code;
	if (!lives(FUNCTION, hfunc))
		return CUDA_ERROR_INVALID_HANDLE;
	if (attrib == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
		return CUDA_SUCCESS;
	if (attrib != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 || value > MOST_SHARED_BYTES)
		return CUDA_ERROR_INVALID_VALUE;
	atomic_store(&hfunc->shared_bytes, value);
	return CUDA_SUCCESS;
}

/* --- Launches ----------------------------------------------------------------------------------------------------- */

struct kernel_op {
	struct op op;
	struct launch launch;
	int is_illegal; /* it has an address that the device cannot use */
	char *buffer;   /* of the values */
};

static CUresult run_kernel(struct op *op, CUstream stream, CUresult failed)
{
	struct kernel_op *k = (struct kernel_op *)op;
	(void)stream;
	CUresult code = failed ? CUDA_SUCCESS : (CUresult)standin_step("kernel");
	if (!failed && !code)
		code = k->is_illegal            ? CUDA_ERROR_ILLEGAL_ADDRESS
		       : run_launch(&k->launch) ? CUDA_SUCCESS
		                                : CUDA_ERROR_LAUNCH_FAILED;
	free(k->launch.values);
	free(k->buffer);
	return code;
}

/* The host's address for that in `word`, if it is one of device memory, or just behind it; otherwise `word` itself. */
static uint64_t translate(const struct device *d, uint64_t word)
{
	if (device_of(word) < 0)
		return word;
	char *there = usable_memory(d, word, 1), *before = usable_memory(d, word - 1, 1);
	return there ? (uintptr_t)there : before ? (uintptr_t)before + 1 : word;
}

/* Copies the parameters, with addresses that can be used on the host: words inside of structures, too. */
static int copy_parameters(const struct device *d, struct kernel_op *k, void **values)
{
	const struct standin_kernel *kernel = k->launch.kernel;
	size_t total = 16;
	for (unsigned i = 0; i < kernel->n; i++)
		total += (kernel->sizes[i] + 15) / 16 * 16;
	k->launch.values = calloc(kernel->n + 1, sizeof(void *));
	if (!k->launch.values || posix_memalign((void **)&k->buffer, 16, total))
		return 0;
	char *to = k->buffer;
	for (unsigned i = 0; i < kernel->n; to += (kernel->sizes[i] + 15) / 16 * 16, i++) {
		uint64_t word;
		k->launch.values[i] = to;
		memcpy(to, values[i], kernel->sizes[i]);
		for (size_t at = 0; at + 8 <= kernel->sizes[i]; at += 8) {
			memcpy(&word, to + at, 8);
			word = translate(d, word);
			memcpy(to + at, &word, 8);
		}
		if (!kernel->is_pointer[i])
			continue;
		memcpy(&word, values[i], 8);
		int is_usable = word == 0 || (device_of(word) < 0 ? is_locked_host((void *)(uintptr_t)word)
		                                                  : translate(d, word) != word);
		if (!is_usable)
			complain("kernel %s, parameter %u: device %d cannot use the address %#zx", kernel->name, i,
			         d->number, (size_t)word);
		k->is_illegal |= !is_usable;
	}
	return 1;
}

CUresult cuLaunchKernel(CUfunction f, unsigned gridDimX, unsigned gridDimY, unsigned gridDimZ, unsigned blockDimX,
                        unsigned blockDimY, unsigned blockDimZ, unsigned sharedMemBytes, CUstream hStream,
                        void **kernelParams, void **extra)
{
	CUresult code = enter("cuLaunchKernel", CONTEXT, NULL);
	struct device *d = current();
	if (code)
		return code;
	if (!lives(FUNCTION, f) || f->device != d)
		return CUDA_ERROR_INVALID_HANDLE;
	if (extra || (f->kernel->n > 0 && !kernelParams) || gridDimX == 0 || gridDimY == 0 || gridDimZ == 0 ||
	    gridDimX > INT32_MAX || gridDimY > 65535 || gridDimZ > 65535 || blockDimX == 0 || blockDimY == 0 ||
	    blockDimZ == 0 || blockDimX > 1024 || blockDimY > 1024 || blockDimZ > 64 ||
	    blockDimX * blockDimY * blockDimZ > 1024 || sharedMemBytes > (unsigned)atomic_load(&f->shared_bytes))
		return CUDA_ERROR_INVALID_VALUE;
	code = find_stream(d, hStream, &hStream);
	if (code)
		return code;
	struct kernel_op *k = new_op(sizeof *k, run_kernel);
	k->launch = (struct launch){.kernel = f->kernel,
	                            .grid = {gridDimX, gridDimY, gridDimZ},
	                            .block = {blockDimX, blockDimY, blockDimZ},
	                            .shared_bytes = sharedMemBytes};
	if (!copy_parameters(d, k, kernelParams)) {
		free(k->launch.values);
		free(k);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	push(hStream, k);
	return CUDA_SUCCESS;
}
