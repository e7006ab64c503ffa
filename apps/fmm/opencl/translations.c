/* Puts the translations of a group of targets on the stream of a device: the multipoles of all groups that are
 * needed are gathered in the workspace of the stream; one kernel multiplies the columns of each block by the block's
 * matrix; another adds for each target its products. */
#include <fmm/opencl/device.h>

enum { FIRST_SOURCE = 2 /* the first datum that is a group of sources */ };

/* Columns and products in the workspace: products begin at element `products`. */
struct plan_of_work {
	const struct hd_fmm_device *device;
	const struct hd_fmm_far_list *list;
	struct _cl_mem *memory;
	uint32_t terms, stride;
	uint64_t products;
};

static int gather(heddle_context *c, const struct plan_of_work *w, size_t n_groups)
{
	uint64_t at = 0;
	int status = 0;
	for (size_t i = FIRST_SOURCE; i < FIRST_SOURCE + n_groups && status == 0; i++) {
		uint64_t n = heddle_extent(c, i, 0) * heddle_extent(c, i, 1);
		const struct heddle_opencl_argument arguments[] = {heddle_opencl_datum(i), heddle_opencl_value(n),
		                                                   heddle_opencl_memory(w->memory),
		                                                   heddle_opencl_value(at)};
		const struct hd_fmm_launch launch = {"copy", {{n}, {64}}, 4, arguments};
		status = w->device->launch(c, &launch);
		at += n;
	}
	return status;
}

static int multiply(heddle_context *c, const struct plan_of_work *w)
{
	size_t list = heddle_context_n_data(c) - 2;
	uint32_t n_blocks = (uint32_t)w->list->n_blocks;
	if (n_blocks == 0)
		return 0;
	const struct heddle_opencl_argument arguments[] = {
	    heddle_opencl_datum(list + 1), heddle_opencl_datum(list),        heddle_opencl_memory(w->memory),
	    heddle_opencl_value(n_blocks), heddle_opencl_value(w->products), heddle_opencl_value(w->terms),
	    heddle_opencl_value(w->stride)};
	const struct hd_fmm_launch launch = {
	    "translate", {{HD_FMM_BLOCK * (size_t)n_blocks, w->stride}, {HD_FMM_BLOCK, HD_FMM_BLOCK}}, 7, arguments};
	return w->device->launch(c, &launch);
}

static int add(heddle_context *c, const struct plan_of_work *w)
{
	size_t list = heddle_context_n_data(c) - 2;
	uint32_t n = (uint32_t)heddle_extent(c, 0, 1);
	uint64_t starts = w->list->n_blocks * (1 + 2 * HD_FMM_BLOCK);
	const struct heddle_opencl_argument arguments[] = {
	    heddle_opencl_datum(0),        heddle_opencl_datum(list),        heddle_opencl_memory(w->memory),
	    heddle_opencl_value(starts),   heddle_opencl_value(w->products), heddle_opencl_value(n),
	    heddle_opencl_value(w->stride)};
	const struct hd_fmm_launch launch = {"add_products", {{(size_t)n * w->stride}, {64}}, 7, arguments};
	return w->device->launch(c, &launch);
}

int hd_fmm_m2l_on(heddle_context *c, const struct hd_fmm_device *device)
{
	const struct hd_fmm_value *v = heddle_value_ptr(c, 0);
	size_t real_size = hd_fmm_real_size(v->plan);
	struct plan_of_work w = {.device = device,
	                         .list = &v->plan->far_lists[v->level][v->group],
	                         .terms = (uint32_t)hd_fmm_terms(v->plan->degree),
	                         .stride = (uint32_t)hd_fmm_stride(v->plan)};
	w.products = (uint64_t)w.list->n_columns * w.stride;
	w.memory = device->scratch(c, (w.list->n_columns + HD_FMM_BLOCK * w.list->n_blocks + 1) * w.stride * real_size);
	if (!w.memory)
		return HEDDLE_E_MEMORY;
	int status = gather(c, &w, heddle_context_n_data(c) - 2 - FIRST_SOURCE);
	status = status ? status : multiply(c, &w);
	return status ? status : add(c, &w);
}
