/* Codelets: what Heddle makes of a struct starpu_codelet when its first task is submitted. */
#include "internal.h"
#include <stdarg.h>

/* A Heddle codelet for one choice of workers. */
struct variant {
	struct variant *next;
	heddle_codelet *codelet;
	uint32_t where;
	unsigned words; /* of `workers`; 0: all workers of the kinds `where` */
	uint32_t workers[];
};
/* All that was made of a codelet since the last start. */
struct made {
	struct made *next; /* the list of all */
	struct variant *variants;
	heddle_codelet *plain; /* for all workers */
	heddle_codelet *init, *combine;
};

/* Protects the making of codelets. A thread that finds `heddle_start` up to date reads `heddle_made` and `plain`
 * without the lock: they were written before a release store of heddle_start. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct made *all_made;

/* --- Functions ---------------------------------------------------------------------------------------------------- */

#define HD_FUNCTION(kind, KIND)                                                                                    \
	static starpu_##kind##_func_t kind##_function(const struct starpu_codelet *cl, unsigned i)                 \
	{                                                                                                          \
		if (i == 0 && !cl->kind##_funcs[0] && cl->kind##_func != STARPU_MULTIPLE_##KIND##_IMPLEMENTATIONS) \
			return cl->kind##_func;                                                                    \
		return cl->kind##_funcs[i];                                                                        \
	}
HD_FUNCTION(cpu, CPU)
HD_FUNCTION(cuda, CUDA)
HD_FUNCTION(opencl, OPENCL)

static struct starpu_codelet *codelet_of(heddle_context *c)
{
	return (*(struct hd_job *const *)heddle_value_ptr(c, 0))->task->cl;
}

#define HD_KERNEL(kind, i)                                               \
	static int kind##_kernel_##i(heddle_context *c)                  \
	{                                                                \
		return hd_job_run(c, kind##_function(codelet_of(c), i)); \
	}
#define HD_KERNELS(kind) HD_KERNEL(kind, 0) HD_KERNEL(kind, 1) HD_KERNEL(kind, 2) HD_KERNEL(kind, 3)
HD_KERNELS(cpu)
HD_KERNELS(cuda)
HD_KERNELS(opencl)
_Static_assert(STARPU_MAXIMPLEMENTATIONS == 4, "there are four kernels of each kind");

/* The kinds of classes that run a codelet, with its functions. */
static const struct {
	const char *kind;
	uint32_t where;
	heddle_kernel kernels[STARPU_MAXIMPLEMENTATIONS];
} kinds[] = {
    {"cpu", STARPU_CPU, {cpu_kernel_0, cpu_kernel_1, cpu_kernel_2, cpu_kernel_3}},
    {"emulated", STARPU_CPU, {cpu_kernel_0, cpu_kernel_1, cpu_kernel_2, cpu_kernel_3}},
    {"cuda", STARPU_CUDA, {cuda_kernel_0, cuda_kernel_1, cuda_kernel_2, cuda_kernel_3}},
    {"opencl", STARPU_OPENCL, {opencl_kernel_0, opencl_kernel_1, opencl_kernel_2, opencl_kernel_3}},
};
#define HD_N_KINDS (sizeof kinds / sizeof kinds[0])

static bool has_function(const struct starpu_codelet *cl, uint32_t where, unsigned i)
{
	return where == STARPU_CPU    ? cpu_function(cl, i) != NULL
	       : where == STARPU_CUDA ? cuda_function(cl, i) != NULL
	                              : opencl_function(cl, i) != NULL;
}

/* The implementations of a codelet. In virtual time, where no kernel runs, a codelet that is not bound to kinds has one
 * for each kind: the platform's times say which can run it. */
static size_t implementations(const struct starpu_codelet *cl, uint32_t where, struct heddle_implementation *out)
{
	size_t n = 0;
	uint32_t wanted = where ? where : cl->where;
	for (size_t k = 0; k < HD_N_KINDS; k++) {
		if (wanted && !(wanted & kinds[k].where))
			continue;
		size_t before = n;
		for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++)
			if (has_function(cl, kinds[k].where, i))
				out[n++] = (struct heddle_implementation){kinds[k].kind, NULL, kinds[k].kernels[i]};
		if (n == before && hd_starpu_virtual)
			out[n++] = (struct heddle_implementation){kinds[k].kind, NULL, kinds[k].kernels[0]};
	}
	return n;
}

/* --- Models ------------------------------------------------------------------------------------------------------- */

static struct starpu_task *task_of(const struct heddle_size *size)
{
	return (*(struct hd_job *const *)size->values[0])->task;
}

static enum starpu_worker_archtype type_of_kind(const char *kind)
{
	return !strcmp(kind, "cuda")     ? STARPU_CUDA_WORKER
	       : !strcmp(kind, "opencl") ? STARPU_OPENCL_WORKER
	                                 : STARPU_CPU_WORKER;
}

/* The time that the function of a model gives. */
static double given_time(const struct heddle_size *size, unsigned class_id)
{
	struct starpu_task *task = task_of(size);
	const struct starpu_perfmodel *model = task->cl->model;
	const struct heddle_platform *platform = heddle_runtime_platform(hd_starpu_runtime);
	const struct heddle_class *class_ = &platform->classes[class_id];
	enum starpu_worker_archtype type = type_of_kind(class_->kind);
	struct starpu_perfmodel_device device = {(int)type, 0, (int)class_->cores};
	struct starpu_perfmodel_arch arch = {1, &device};
	if (model->per_type[type].cost_function)
		return model->per_type[type].cost_function(task, &arch, 0);
	if (model->arch_cost_function)
		return model->arch_cost_function(task, &arch, 0);
	if (model->worker_cost_function)
		for (unsigned w = 0; w < platform->n_workers; w++)
			if (platform->workers[w].class_id == class_id)
				return model->worker_cost_function(task, w, 0);
	return model->cost_function ? model->cost_function(task, 0) : NAN;
}

static uint64_t footprint(const struct heddle_size *size)
{
	struct starpu_task *task = task_of(size);
	return task->cl->model->footprint(task);
}

static size_t regressors(const struct heddle_size *size, double *x, size_t max)
{
	struct starpu_task *task = task_of(size);
	const struct starpu_perfmodel *model = task->cl->model;
	if (model->nparameters > max)
		return 0;
	model->parameters(task, x);
	return model->nparameters;
}

static void describe_model(const struct starpu_perfmodel *model, struct heddle_codelet_desc *desc)
{
	desc->model = hd_starpu_virtual ? HEDDLE_MODEL_HISTORY : HEDDLE_MODEL_NONE;
	if (!model)
		return;
	if (model->symbol)
		desc->name = model->symbol;
	if (model->footprint)
		desc->footprint = footprint;
	switch (model->type) {
	case STARPU_HISTORY_BASED: desc->model = HEDDLE_MODEL_HISTORY; break;
	case STARPU_REGRESSION_BASED: desc->model = HEDDLE_MODEL_POWER; break;
	case STARPU_NL_REGRESSION_BASED: desc->model = HEDDLE_MODEL_AFFINE; break;
	case STARPU_MULTIPLE_REGRESSION_BASED:
		if (model->parameters) {
			desc->model = HEDDLE_MODEL_LINEAR;
			desc->regressors = regressors;
		}
		break;
	case STARPU_PER_WORKER:
	case STARPU_PER_ARCH:
	case STARPU_COMMON:
		if (model->cost_function || model->arch_cost_function || model->worker_cost_function ||
		    model->per_type[STARPU_CPU_WORKER].cost_function) {
			desc->model = HEDDLE_MODEL_GIVEN;
			desc->time = given_time;
		}
		break;
	default: break;
	}
}

/* --- Making ------------------------------------------------------------------------------------------------------- */

static int is_in_set(unsigned worker, const heddle_task *task, void *arg)
{
	const struct variant *v = arg;
	(void)task;
	return worker / 32 < v->words && (v->workers[worker / 32] >> worker % 32 & 1);
}

static heddle_codelet *make(const struct starpu_codelet *cl, uint32_t where, struct variant *set)
{
	static const enum heddle_parallel parallel[] = {HEDDLE_SEQUENTIAL, HEDDLE_SPMD, HEDDLE_FORK_JOIN};
	struct heddle_implementation list[HD_N_KINDS * STARPU_MAXIMPLEMENTATIONS];
	struct heddle_codelet_desc desc = {.name = cl->name ? cl->name : "task", .implementations = list};
	heddle_codelet *out = NULL;
	char name[64];
	desc.n_implementations = implementations(cl, where, list);
	desc.color = cl->color;
	describe_model(cl->model, &desc);
	desc.name = hd_starpu_kernel_name(desc.name, name, sizeof name);
	if ((unsigned)cl->type < 3)
		desc.parallel = parallel[cl->type];
	if (cl->type != STARPU_SEQ && cl->max_parallelism > 0)
		desc.max_cores = (unsigned)cl->max_parallelism;
	if (set) {
		desc.can_run = is_in_set;
		desc.can_run_arg = set;
	}
	if (!desc.n_implementations) {
		heddle_error(HEDDLE_E_NO_WORKER, "codelet %s has no function for the workers that may run it",
		             desc.name);
		return NULL;
	}
	heddle_codelet_create(hd_starpu_runtime, &desc, &out);
	return out;
}

/* What was made of the codelet; with the lock held. NULL: no memory. */
static struct made *made_of(struct starpu_codelet *cl)
{
	if (cl->heddle_start == hd_starpu_start)
		return cl->heddle_made;
	struct made *made = calloc(1, sizeof *made);
	if (!made) {
		heddle_error(HEDDLE_E_MEMORY, "no memory for a codelet");
		return NULL;
	}
	made->next = all_made;
	all_made = made;
	cl->heddle_made = made;
	__atomic_store_n(&cl->heddle_start, hd_starpu_start, __ATOMIC_RELEASE); /* pairs with hd_codelet */
	return made;
}

static heddle_codelet *variant_of(struct starpu_codelet *cl, uint32_t where, const uint32_t *workers, unsigned words)
{
	struct made *made = made_of(cl);
	if (!made)
		return NULL;
	for (struct variant *v = made->variants; v; v = v->next)
		if (v->where == where && v->words == words && !memcmp(v->workers, workers, words * sizeof *workers))
			return v->codelet;
	struct variant *v = calloc(1, sizeof *v + words * sizeof *workers);
	if (!v) {
		heddle_error(HEDDLE_E_MEMORY, "no memory for a codelet");
		return NULL;
	}
	v->where = where;
	v->words = words;
	if (words)
		memcpy(v->workers, workers, words * sizeof *workers);
	v->codelet = make(cl, where, words ? v : NULL);
	if (!v->codelet) {
		free(v);
		return NULL;
	}
	v->next = made->variants;
	made->variants = v;
	if (!where && !words)
		__atomic_store_n(&made->plain, v->codelet, __ATOMIC_RELEASE); /* pairs with hd_codelet */
	return v->codelet;
}

heddle_codelet *hd_codelet(struct starpu_codelet *cl, uint32_t where, const uint32_t *workers, unsigned words)
{
	if (!where && !words && __atomic_load_n(&cl->heddle_start, __ATOMIC_ACQUIRE) == hd_starpu_start) {
		struct made *made = cl->heddle_made;
		heddle_codelet *plain = __atomic_load_n(&made->plain, __ATOMIC_ACQUIRE);
		if (plain)
			return plain;
	}
	pthread_mutex_lock(&lock);
	heddle_codelet *out = variant_of(cl, where, workers, words);
	pthread_mutex_unlock(&lock);
	return out;
}

void hd_starpu_forget_codelets(void)
{
	while (all_made) {
		struct made *made = all_made;
		all_made = made->next;
		while (made->variants) {
			struct variant *v = made->variants;
			made->variants = v->next;
			free(v);
		}
		free(made);
	}
}

int starpu_perfmodel_init(struct starpu_perfmodel *model)
{
	(void)model;
	return 0;
}

struct starpu_perfmodel_per_arch *starpu_perfmodel_get_model_per_devices(struct starpu_perfmodel *model, int impl, ...)
{
	va_list list;
	(void)impl;
	va_start(list, impl);
	int type = va_arg(list, int);
	va_end(list);
	return &model->per_type[(unsigned)type < STARPU_NARCH ? type : STARPU_CPU_WORKER];
}

int starpu_perfmodel_set_per_devices_cost_function(struct starpu_perfmodel *model, int impl,
                                                   starpu_perfmodel_per_arch_cost_function function, ...)
{
	va_list list;
	(void)impl;
	va_start(list, function);
	int type = va_arg(list, int);
	va_end(list);
	if ((unsigned)type >= STARPU_NARCH)
		return -EINVAL;
	model->per_type[type].cost_function = function;
	return 0;
}

void starpu_codelet_init(struct starpu_codelet *cl)
{
	memset(cl, 0, sizeof *cl);
}

static void do_nothing(void *buffers[], void *cl_arg)
{
	(void)buffers, (void)cl_arg;
}

struct starpu_perfmodel starpu_perfmodel_nop = {.type = STARPU_PERFMODEL_INVALID};
struct starpu_codelet starpu_codelet_nop = {
    .name = "nop",
    .cpu_funcs = {do_nothing},
    .cuda_funcs = {do_nothing},
    .opencl_funcs = {do_nothing},
};

/* --- Reductions --------------------------------------------------------------------------------------------------- */

/* Runs the init or the redux function of the kernel's datum. These kernels belong to no task. */
static int reduce(heddle_context *c, bool combine, bool cuda)
{
	union hd_interface shown[2];
	void *buffers[2];
	const struct starpu_data_state *h = heddle_data_user(heddle_context_data(c, 0));
	const struct starpu_codelet *cl = combine ? h->redux : h->init;
	struct hd_starpu_here before = hd_starpu_here;
	for (size_t i = 0; i <= (size_t)combine; i++)
		buffers[i] = hd_handle_show(h, c, i, &shown[i]);
	hd_starpu_here =
	    (struct hd_starpu_here){.context = c, .worker = (int)heddle_context_worker(c), .acquired = NULL};
	(cuda ? cuda_function(cl, 0) : cpu_function(cl, 0))(buffers, NULL);
	hd_starpu_here = before;
	return 0;
}

static int init_on_cpu(heddle_context *c)
{
	return reduce(c, false, false);
}

static int combine_on_cpu(heddle_context *c)
{
	return reduce(c, true, false);
}

static int init_on_cuda(heddle_context *c)
{
	return reduce(c, false, true);
}

static int combine_on_cuda(heddle_context *c)
{
	return reduce(c, true, true);
}

/* The Heddle codelet of a reduction, kept in *place. */
static heddle_codelet *reduction(struct starpu_codelet *cl, bool combine)
{
	struct made *made = made_of(cl);
	if (!made)
		return NULL;
	heddle_codelet **place = combine ? &made->combine : &made->init;
	if (*place)
		return *place;
	struct heddle_codelet_desc desc = {
	    .name = cl->name  ? cl->name
	            : combine ? "redux"
	                      : "init",
	    .model = hd_starpu_virtual ? HEDDLE_MODEL_HISTORY : HEDDLE_MODEL_NONE,
	    .cpu = !cpu_function(cl, 0) ? NULL
	           : combine            ? combine_on_cpu
	                                : init_on_cpu,
	    .cuda = !cuda_function(cl, 0) ? NULL
	            : combine             ? combine_on_cuda
	                                  : init_on_cuda,
	};
	heddle_codelet_create(hd_starpu_runtime, &desc, place);
	return *place;
}

int hd_codelet_reduction(struct starpu_data_state *h)
{
	pthread_mutex_lock(&lock);
	heddle_codelet *init = reduction(h->init, false), *combine = init ? reduction(h->redux, true) : NULL;
	pthread_mutex_unlock(&lock);
	return combine ? heddle_data_set_reduction(h->data, init, combine) : HEDDLE_E_INVALID;
}

void starpu_data_set_reduction_methods(starpu_data_handle_t h, struct starpu_codelet *redux_cl,
                                       struct starpu_codelet *init_cl)
{
	h->init = init_cl;
	h->redux = redux_cl;
	if (redux_cl && init_cl)
		hd_starpu_complain(__func__, hd_codelet_reduction(h));
	for (unsigned i = 0; i < h->n_children; i++)
		starpu_data_set_reduction_methods(h->children[i], redux_cl, init_cl);
}

heddle_codelet *hd_codelet_init_of(struct starpu_data_state *h)
{
	pthread_mutex_lock(&lock);
	heddle_codelet *init = reduction(h->init, false);
	pthread_mutex_unlock(&lock);
	return init;
}
