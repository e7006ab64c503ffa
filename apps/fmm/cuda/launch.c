/* Puts the kernels of kernels.cu on streams of CUDA devices. HEDDLE_CUDA_IMAGE names the file that nvcc has made. */
#include <fmm/opencl/device.h>
#include <pthread.h>
#include <stdio.h>

static struct heddle_cuda_image image; /* by load, and then constant */

#ifdef HEDDLE_CUDA_IMAGE
__asm__(".pushsection .rodata\n"
        ".balign 64\n"
        "hd_fmm_cuda_image_begin:\n"
        ".incbin \"" HEDDLE_CUDA_IMAGE "\"\n"
        "hd_fmm_cuda_image_end:\n"
        ".popsection\n");
extern const char hd_fmm_cuda_image_begin[] __attribute__((visibility("hidden")));
extern const char hd_fmm_cuda_image_end[] __attribute__((visibility("hidden")));

static void load(void)
{
	image.data = hd_fmm_cuda_image_begin;
	image.size = (size_t)(hd_fmm_cuda_image_end - hd_fmm_cuda_image_begin);
}
#else
static void load(void) {}
#endif

int hd_fmm_has_cuda(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, load);
	return image.size > 0;
}

static struct _cl_mem *scratch(heddle_context *c, size_t bytes)
{
	return heddle_cuda_scratch(c, bytes);
}

enum { MOST_ARGUMENTS = 16 };

static int launch(heddle_context *c, const struct hd_fmm_launch *l)
{
	uint64_t first = 0; /* element of a datum, whose address is that of its beginning */
	char name[40];
	struct CUfunc_st *function;
	struct heddle_cuda_grid grid = {.shared = 0};
	const void *addresses[MOST_ARGUMENTS];
	void *arguments[2 * MOST_ARGUMENTS];
	size_t n = 0;
	for (size_t i = 0; i < l->n; i++) {
		const struct heddle_opencl_argument *a = &l->arguments[i];
		addresses[i] = a->what == HEDDLE_OPENCL_DATUM ? heddle_ptr(c, a->number) : a->ptr;
		arguments[n++] = a->what == HEDDLE_OPENCL_BYTES ? (void *)(uintptr_t)a->ptr : &addresses[i];
		if (a->what == HEDDLE_OPENCL_DATUM)
			arguments[n++] = &first;
	}
	for (int k = 0; k < 3; k++) {
		size_t threads = l->range.local[k] > 0 ? l->range.local[k] : 1;
		grid.threads[k] = (unsigned)threads;
		grid.blocks[k] = (unsigned)((l->range.global[k] + threads - 1) / threads);
	}
	snprintf(name, sizeof name, "hd_fmm_%c_%s", "ds"[hd_fmm_plan_of(c)->options.precision], l -> kernel);
	int status = heddle_cuda_function(c, &image, name, &function);
	return status ? status : heddle_cuda_launch(c, function, &grid, arguments);
}

int hd_fmm_run_cuda(heddle_context *c)
{
	static const struct hd_fmm_device device = {scratch, launch};
	return hd_fmm_run_on(c, &device);
}
