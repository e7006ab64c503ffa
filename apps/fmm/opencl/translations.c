/* Puts the translations of a group of targets on the stream of an OpenCL device: the multipoles of all groups that are
 * needed are gathered in the workspace of the stream; one kernel multiplies the columns of each block by the block's
 * matrix; another adds for each target its products. */
#include <fmm/opencl/offer.h>

enum { FIRST_SOURCE = 2 /* the first datum that is a group of sources */ };

static int gather(heddle_context *c, const struct heddle_opencl_source *program, struct _cl_mem *work, size_t n_groups)
{
	struct _cl_kernel *kernel;
	uint64_t at = 0;
	int status = heddle_opencl_kernel(c, program, "copy", &kernel);
	for (size_t i = FIRST_SOURCE; i < FIRST_SOURCE + n_groups && status == 0; i++) {
		uint64_t n = heddle_extent(c, i, 0) * heddle_extent(c, i, 1);
		const struct heddle_opencl_range range = {.global = {n}, .local = {64}};
		const struct heddle_opencl_argument arguments[] = {heddle_opencl_datum(i), heddle_opencl_value(n),
		                                                   heddle_opencl_memory(work), heddle_opencl_value(at)};
		status = heddle_opencl_run(c, kernel, &range, 4, arguments);
		at += n;
	}
	return status;
}

/* Columns and products in the workspace: products begin at element `products`. */
struct plan_of_work {
	const struct hd_fmm_far_list *list;
	struct _cl_mem *memory;
	uint32_t terms, stride;
	uint64_t products;
};

static int multiply(heddle_context *c, const struct heddle_opencl_source *program, const struct plan_of_work *w)
{
	struct _cl_kernel *kernel;
	size_t list = heddle_context_n_data(c) - 2;
	uint32_t n_blocks = (uint32_t)w->list->n_blocks;
	int status = heddle_opencl_kernel(c, program, "translate", &kernel);
	if (status || n_blocks == 0)
		return status;
	const struct heddle_opencl_range range = {.global = {w->stride, HD_FMM_BLOCK * (size_t)n_blocks},
	                                          .local = {HD_FMM_BLOCK, HD_FMM_BLOCK}};
	const struct heddle_opencl_argument arguments[] = {
	    heddle_opencl_datum(list + 1), heddle_opencl_datum(list),        heddle_opencl_memory(w->memory),
	    heddle_opencl_value(n_blocks), heddle_opencl_value(w->products), heddle_opencl_value(w->terms),
	    heddle_opencl_value(w->stride)};
	return heddle_opencl_run(c, kernel, &range, 7, arguments);
}

static int add(heddle_context *c, const struct heddle_opencl_source *program, const struct plan_of_work *w)
{
	struct _cl_kernel *kernel;
	size_t list = heddle_context_n_data(c) - 2;
	uint32_t n = (uint32_t)heddle_extent(c, 0, 1);
	uint64_t starts = w->list->n_blocks * (1 + 2 * HD_FMM_BLOCK);
	int status = heddle_opencl_kernel(c, program, "add_products", &kernel);
	if (status)
		return status;
	const struct heddle_opencl_range range = {.global = {w->stride, n}};
	const struct heddle_opencl_argument arguments[] = {
	    heddle_opencl_datum(0),      heddle_opencl_datum(list),        heddle_opencl_memory(w->memory),
	    heddle_opencl_value(starts), heddle_opencl_value(w->products), heddle_opencl_value(n)};
	return heddle_opencl_run(c, kernel, &range, 6, arguments);
}

static int m2l(heddle_context *c, enum heddle_fmm_precision precision)
{
	const struct hd_fmm_value *v = heddle_value_ptr(c, 0);
	const struct heddle_opencl_source *program = &hd_fmm_opencl_programs[precision];
	size_t real_size = precision == HEDDLE_FMM_SINGLE ? sizeof(float) : sizeof(double);
	struct plan_of_work w = {.list = &v->plan->far_lists[v->level][v->group],
	                         .terms = (uint32_t)hd_fmm_terms(v->plan->degree),
	                         .stride = (uint32_t)hd_fmm_stride(v->plan)};
	w.products = (uint64_t)w.list->n_columns * w.stride;
	w.memory =
	    heddle_opencl_scratch(c, (w.list->n_columns + HD_FMM_BLOCK * w.list->n_blocks + 1) * w.stride * real_size);
	if (!w.memory)
		return HEDDLE_E_MEMORY;
	int status = gather(c, program, w.memory, heddle_context_n_data(c) - 2 - FIRST_SOURCE);
	status = status ? status : multiply(c, program, &w);
	return status ? status : add(c, program, &w);
}

int hd_fmm_d_m2l_opencl(heddle_context *c)
{
	return m2l(c, HEDDLE_FMM_DOUBLE);
}

int hd_fmm_s_m2l_opencl(heddle_context *c)
{
	return m2l(c, HEDDLE_FMM_SINGLE);
}
