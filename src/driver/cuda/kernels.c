/* What kernels for NVIDIA devices call: heddle/cuda.h. */
#ifdef HEDDLE_HAVE_CUDA
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <heddle/cuda.h>
#include "base/base.h"
#include "driver/cuda/cuda.h"

/* An image that is loaded on a device, and its functions that were asked for. */
struct hd_cuda_module {
	struct hd_cuda_module *next;
	const void *data; /* the image, borrowed from the program */
	CUmodule handle;
	struct function *functions; /* owns */
};
struct function {
	struct function *next;
	CUfunction handle;
	char name[];
};

static struct hd_running *find_running(const heddle_context *c, const char *function)
{
	return hd_running_find(c, "CUDA", function);
}

/* --- Images and functions ----------------------------------------------------------------------------------------- */

static int load_copy(const struct hd_cuda_device *d, const void *image, CUmodule *out)
{
	char log[1024] = "", words[HD_CUDA_WORDS];
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)(uintptr_t)sizeof log};
	CUresult result = hd_cuda.cuModuleLoadDataEx(out, image, 2, options, values);
	if (!result)
		return 0;
	log[sizeof log - 1] = '\0';
	hd_cuda_describe(words, (int)result, "cuModuleLoadDataEx");
	return hd_error(hd_cuda_classify((int)result), "%s: %s%s%s", d->name, words,
	                log[0] ? "; the compiler says: " : "", log);
}

/* Loads a copy of the image: the copy is aligned for any image, and has the NUL that must follow the text of PTX. */
static int load(struct hd_cuda_device *d, const struct heddle_cuda_image *image, struct hd_cuda_module **out)
{
	struct hd_cuda_module *m = calloc(1, sizeof *m);
	char *copy = malloc(image->size + 1);
	int status = 0;
	if (!m || !copy) {
		status = hd_no_memory("device code");
	} else {
		memcpy(copy, image->data, image->size);
		copy[image->size] = '\0';
		status = load_copy(d, copy, &m->handle);
	}
	free(copy);
	if (status) {
		free(m);
		return status;
	}
	m->data = image->data;
	m->next = d->modules;
	d->modules = m;
	*out = m;
	return 0;
}

static int find_module(struct hd_cuda_device *d, const struct heddle_cuda_image *image, struct hd_cuda_module **out)
{
	struct hd_cuda_module *m = d->modules;
	while (m && m->data != image->data)
		m = m->next;
	*out = m;
	return m ? 0 : load(d, image, out);
}

static int find_function(const struct hd_cuda_device *d, struct hd_cuda_module *m, const char *name, CUfunction *out)
{
	for (struct function *f = m->functions; f; f = f->next)
		if (strcmp(f->name, name) == 0) {
			*out = f->handle;
			return 0;
		}
	size_t size = strlen(name) + 1;
	struct function *f = malloc(sizeof *f + size);
	if (!f)
		return hd_no_memory("a function of device code");
	memcpy(f->name, name, size);
	int status = HD_CUDA(d, cuModuleGetFunction, &f->handle, m->handle, name);
	if (status) {
		free(f);
		return hd_error_context(status, "the device code has no function %s, or not for this device", name);
	}
	f->next = m->functions;
	m->functions = f;
	*out = f->handle;
	return 0;
}

int heddle_cuda_function(heddle_context *c, const struct heddle_cuda_image *image, const char *name,
                         struct CUfunc_st **out)
{
	struct hd_running *r = find_running(c, __func__);
	struct hd_cuda_module *m;
	*out = NULL;
	if (!r)
		return HEDDLE_E_STATE;
	if (!image || !image->data || image->size == 0)
		return hd_running_fail(r, hd_error(HEDDLE_E_UNSUPPORTED,
		                                   "kernel %s: the program was built without device code; "
		                                   "build it where nvcc is",
		                                   name));
	int status = find_module(r->device, image, &m);
	if (!status)
		status = find_function(r->device, m, name, out);
	return hd_running_fail(r, status);
}

void hd_cuda_unload(struct hd_cuda_device *device)
{
	for (struct hd_cuda_module *m; (m = device->modules);) {
		device->modules = m->next;
		for (struct function *f; (f = m->functions);) {
			m->functions = f->next;
			free(f);
		}
		(void)hd_cuda.cuModuleUnload(m->handle);
		free(m);
	}
}

/* --- Work on the stream ------------------------------------------------------------------------------------------- */

/* Bytes of shared memory that a kernel may use on every device; for more, the function needs an attribute. */
static const size_t SHARED_AT_LEAST = 48 * 1024;

static unsigned extent(unsigned n)
{
	return n ? n : 1;
}

static int allow_shared(const struct hd_cuda_device *d, CUfunction function, size_t bytes)
{
	if (bytes > INT32_MAX)
		return hd_error(HEDDLE_E_INVALID, "%zu bytes of shared memory: no device has so much", bytes);
	return HD_CUDA(d, cuFuncSetAttribute, function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes);
}

int heddle_cuda_launch(heddle_context *c, struct CUfunc_st *function, const struct heddle_cuda_grid *grid,
                       void **arguments)
{
	struct hd_running *r = find_running(c, __func__);
	const unsigned *blocks = grid->blocks, *threads = grid->threads;
	int status = 0;
	if (!r)
		return HEDDLE_E_STATE;
	const struct hd_cuda_stream *s = r->stream;
	if (grid->shared > SHARED_AT_LEAST)
		status = allow_shared(r->device, function, grid->shared);
	if (!status)
		status = HD_CUDA(r->device, cuLaunchKernel, function, extent(blocks[0]), extent(blocks[1]),
		                 extent(blocks[2]), extent(threads[0]), extent(threads[1]), extent(threads[2]),
		                 (unsigned)grid->shared, s->handle, arguments, NULL);
	return hd_running_fail(r, status);
}

int heddle_cuda_failed(heddle_context *c, int result, const char *call)
{
	struct hd_running *r = find_running(c, __func__);
	if (!r)
		return HEDDLE_E_STATE;
	int status = hd_cuda_status(r->device, (CUresult)result, call);
	return hd_running_fail(r, status == HEDDLE_E_MEMORY || status == HEDDLE_E_DEVICE || !status ? status
	                                                                                            : HEDDLE_E_KERNEL);
}

int heddle_cuda_then(heddle_context *c, void (*f)(void *arg, int result), void *arg)
{
	struct hd_running *r = find_running(c, __func__);
	return r ? hd_running_fail(r, hd_later_add(r->later, f, arg)) : HEDDLE_E_STATE;
}

/* --- What belongs to a stream ------------------------------------------------------------------------------------- */

/* Frees the stream's scratch memory, which work on the stream may still use: with a pool, CUDA frees it behind that
 * work; without one, this function waits for the stream. */
static void free_scratch(const struct hd_cuda_device *d, struct hd_cuda_stream *s)
{
	if (!s->scratch)
		return;
	if (!d->pool)
		(void)hd_cuda_drain(d, s);
	hd_cuda_give_back(d, s->handle, s->scratch);
	s->scratch = 0;
	s->scratch_size = 0;
}

void *heddle_cuda_scratch(heddle_context *c, size_t bytes)
{
	enum { STEP = 1 << 16 }; /* sizes are rounded up to it, so that a slightly larger size needs no new memory */
	struct hd_running *r = find_running(c, __func__);
	if (!r)
		return NULL;
	struct hd_cuda_stream *s = r->stream;
	size_t size = hd_round_up(bytes ? bytes : 1, STEP);
	if (s->scratch_size < size) {
		free_scratch(r->device, s);
		int status = hd_cuda_take(r->device, s->handle, size, &s->scratch);
		if (status) {
			s->scratch = 0;
			hd_running_fail(r, hd_error_context(status, "%zu bytes of workspace", bytes));
			return NULL;
		}
		s->scratch_size = size;
	}
	return (void *)(uintptr_t)s->scratch;
}

void **heddle_cuda_slot(heddle_context *c, const void *key, void (*destroy)(void *pointer))
{
	return hd_running_slot(find_running(c, __func__), key, destroy);
}

void hd_cuda_forget(const struct hd_cuda_device *device, struct hd_cuda_stream *stream)
{
	hd_running_forget(&stream->slots);
	free_scratch(device, stream);
}
#endif
