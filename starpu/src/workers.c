/* Workers and memory nodes: the platform of the runtime under StarPU's names. */
#include "internal.h"

static const struct heddle_platform *platform(void)
{
	static const struct heddle_platform none;
	return hd_starpu_runtime ? heddle_runtime_platform(hd_starpu_runtime) : &none;
}

static const char *kind_of_worker(unsigned w)
{
	const struct heddle_platform *p = platform();
	return w < p->n_workers ? p->classes[p->workers[w].class_id].kind : "";
}

enum starpu_worker_archtype starpu_worker_get_type(int id)
{
	const char *kind = kind_of_worker((unsigned)id);
	return !strcmp(kind, "cuda")     ? STARPU_CUDA_WORKER
	       : !strcmp(kind, "opencl") ? STARPU_OPENCL_WORKER
	                                 : STARPU_CPU_WORKER;
}

static bool has_type(unsigned w, enum starpu_worker_archtype type)
{
	return type == STARPU_ANY_WORKER || starpu_worker_get_type((int)w) == type;
}

unsigned starpu_worker_get_count(void)
{
	return (unsigned)platform()->n_workers;
}

int starpu_worker_get_count_by_type(enum starpu_worker_archtype type)
{
	int n = 0;
	for (unsigned w = 0; w < starpu_worker_get_count(); w++)
		n += has_type(w, type);
	return n;
}

unsigned starpu_cpu_worker_get_count(void)
{
	return (unsigned)starpu_worker_get_count_by_type(STARPU_CPU_WORKER);
}

unsigned starpu_cuda_worker_get_count(void)
{
	return (unsigned)starpu_worker_get_count_by_type(STARPU_CUDA_WORKER);
}

unsigned starpu_opencl_worker_get_count(void)
{
	return (unsigned)starpu_worker_get_count_by_type(STARPU_OPENCL_WORKER);
}

unsigned starpu_mic_worker_get_count(void)
{
	return 0;
}

unsigned starpu_mpi_ms_worker_get_count(void)
{
	return 0;
}

unsigned starpu_worker_get_ids_by_type(enum starpu_worker_archtype type, int *workerids, unsigned max)
{
	unsigned n = 0;
	for (unsigned w = 0; w < starpu_worker_get_count(); w++)
		if (has_type(w, type)) {
			if (n == max)
				return (unsigned)-ERANGE;
			workerids[n++] = (int)w;
		}
	return n;
}

int starpu_worker_get_by_type(enum starpu_worker_archtype type, int n)
{
	for (unsigned w = 0; w < starpu_worker_get_count(); w++)
		if (has_type(w, type) && n-- == 0)
			return (int)w;
	return -1;
}

int starpu_worker_get_by_devid(enum starpu_worker_archtype type, int devid)
{
	for (unsigned w = 0; w < starpu_worker_get_count(); w++)
		if (has_type(w, type) && starpu_worker_get_devid((int)w) == devid)
			return (int)w;
	return -1;
}

int starpu_worker_get_id(void)
{
	return hd_starpu_here.worker;
}

unsigned starpu_worker_get_id_check(void)
{
	STARPU_ASSERT_MSG(hd_starpu_here.worker >= 0, "the calling thread runs no kernel");
	return (unsigned)hd_starpu_here.worker;
}

const char *starpu_worker_get_type_as_string(enum starpu_worker_archtype type)
{
	static const char *const names[] = {"STARPU_CPU_WORKER", "STARPU_CUDA_WORKER", "STARPU_OPENCL_WORKER"};
	return (unsigned)type < 3 ? names[type] : "STARPU_ANY_WORKER";
}

int starpu_worker_get_devid(int id)
{
	const struct heddle_platform *p = platform();
	int before = 0;
	if (id < 0 || (unsigned)id >= p->n_workers)
		return -1;
	if (starpu_worker_get_type(id) != STARPU_CPU_WORKER)
		return (int)p->workers[id].device;
	for (int w = 0; w < id; w++)
		before += starpu_worker_get_type(w) == STARPU_CPU_WORKER;
	return before;
}

int starpu_worker_get_bindid(int id)
{
	const struct heddle_platform *p = platform();
	return id >= 0 && (unsigned)id < p->n_workers ? p->workers[id].core : -1;
}

void starpu_worker_get_name(int id, char *name, size_t size)
{
	const struct heddle_platform *p = platform();
	if (size)
		snprintf(name, size, "%s", id >= 0 && (unsigned)id < p->n_workers ? p->workers[id].name : "none");
}

int starpu_worker_is_combined_worker(int id)
{
	(void)id;
	return 0;
}

unsigned starpu_combined_worker_get_count(void)
{
	return 0;
}

int starpu_combined_worker_get_size(void)
{
	return hd_starpu_here.context ? (int)heddle_context_cores(hd_starpu_here.context) : 1;
}

int starpu_combined_worker_get_rank(void)
{
	return hd_starpu_here.context ? (int)heddle_context_rank(hd_starpu_here.context) : 0;
}

void starpu_worker_display_names(FILE *output, enum starpu_worker_archtype type)
{
	const struct heddle_platform *p = platform();
	for (unsigned w = 0; w < p->n_workers; w++)
		if (has_type(w, type))
			fprintf(output, "%u: %s (%s)\n", w, p->workers[w].name, kind_of_worker(w));
}

void starpu_topology_print(FILE *output)
{
	starpu_worker_display_names(output, STARPU_ANY_WORKER);
}

void starpu_sched_ctx_display_workers(unsigned sched_ctx_id, FILE *output)
{
	(void)sched_ctx_id;
	starpu_worker_display_names(output, STARPU_ANY_WORKER);
}

struct CUstream_st *starpu_cuda_get_local_stream(void)
{
	return hd_starpu_here.context ? heddle_stream(hd_starpu_here.context) : NULL;
}

void starpu_cublas_init(void) {}

void starpu_cublas_shutdown(void) {}

int starpu_asynchronous_copy_disabled(void)
{
	return 0;
}

int starpu_asynchronous_cuda_copy_disabled(void)
{
	return 0;
}

int starpu_asynchronous_opencl_copy_disabled(void)
{
	return 0;
}

int starpu_sched_get_min_priority(void)
{
	return -INT32_MAX;
}

int starpu_sched_get_max_priority(void)
{
	return INT32_MAX;
}

int starpu_sched_set_min_priority(int priority)
{
	(void)priority;
	return 0;
}

int starpu_sched_set_max_priority(int priority)
{
	(void)priority;
	return 0;
}

/* --- A function on each worker ------------------------------------------------------------------------------------ */

struct call {
	void (*func)(void *);
	void *arg;
};

static void call_function(void *buffers[], void *cl_arg)
{
	const struct call *call = cl_arg;
	(void)buffers;
	call->func(call->arg);
}

void starpu_execute_on_each_worker_ex(void (*func)(void *), void *arg, uint32_t where, const char *name)
{
	static const uint32_t where_of[] = {STARPU_CPU, STARPU_CUDA, STARPU_OPENCL};
	static struct starpu_codelet cl = {
	    .cpu_funcs = {call_function}, .cuda_funcs = {call_function}, .opencl_funcs = {call_function}};
	struct call call = {func, arg};
	unsigned n = starpu_worker_get_count();
	struct starpu_task **tasks = calloc(n, sizeof(struct starpu_task *));
	for (unsigned w = 0; w < n && tasks; w++) {
		if (!(where_of[starpu_worker_get_type((int)w)] & where))
			continue;
		struct starpu_task *task = starpu_task_create();
		if (!task)
			break;
		task->cl = &cl;
		task->cl_arg = &call;
		task->name = name;
		task->execute_on_a_specific_worker = 1;
		task->workerid = w;
		task->detach = 0;
		if (!hd_starpu_complain("starpu_execute_on_each_worker",
		                        starpu_task_submit(task) ? HEDDLE_E_INVALID : 0))
			tasks[w] = task;
		else
			starpu_task_destroy(task);
	}
	for (unsigned w = 0; w < n && tasks; w++)
		if (tasks[w])
			starpu_task_wait(tasks[w]);
	free(tasks);
}

void starpu_execute_on_each_worker(void (*func)(void *), void *arg, uint32_t where)
{
	starpu_execute_on_each_worker_ex(func, arg, where, NULL);
}

/* --- Memory nodes ------------------------------------------------------------------------------------------------- */

unsigned starpu_memory_nodes_get_count(void)
{
	return (unsigned)platform()->n_nodes;
}

unsigned starpu_memory_nodes_get_numa_count(void)
{
	return 1;
}

enum starpu_node_kind starpu_node_get_kind(unsigned node)
{
	const struct heddle_platform *p = platform();
	if (node >= p->n_nodes)
		return STARPU_UNUSED;
	for (unsigned w = 0; w < p->n_workers; w++)
		if (p->workers[w].node == node && node != STARPU_MAIN_RAM) {
			enum starpu_worker_archtype type = starpu_worker_get_type((int)w);
			return type == STARPU_CUDA_WORKER     ? STARPU_CUDA_RAM
			       : type == STARPU_OPENCL_WORKER ? STARPU_OPENCL_RAM
			                                      : STARPU_CPU_RAM;
		}
	return STARPU_CPU_RAM;
}

int starpu_memory_node_get_name(unsigned node, char *name, size_t size)
{
	const struct heddle_platform *p = platform();
	return node < p->n_nodes ? snprintf(name, size, "%s", p->nodes[node].name) : -EINVAL;
}

unsigned starpu_worker_get_memory_node(unsigned workerid)
{
	const struct heddle_platform *p = platform();
	return workerid < p->n_workers ? p->workers[workerid].node : STARPU_MAIN_RAM;
}

unsigned starpu_worker_get_local_memory_node(void)
{
	return hd_starpu_here.worker < 0 ? STARPU_MAIN_RAM
	                                 : starpu_worker_get_memory_node((unsigned)hd_starpu_here.worker);
}

starpu_ssize_t starpu_memory_get_total(unsigned node)
{
	const struct heddle_platform *p = platform();
	uint64_t capacity = node < p->n_nodes ? p->nodes[node].capacity : 0;
	int limit = starpu_get_env_number("STARPU_LIMIT_CPU_MEM");
	if (limit < 0)
		limit = starpu_get_env_number("STARPU_LIMIT_CPU_NUMA_MEM");
	if (node == STARPU_MAIN_RAM && limit >= 0)
		capacity = (uint64_t)limit << 20;
	return capacity ? (starpu_ssize_t)capacity : -1;
}

size_t starpu_memory_get_used(unsigned node)
{
	struct heddle_memory_stats stats;
	size_t used = node == STARPU_MAIN_RAM ? hd_starpu_counted() : 0;
	if (hd_starpu_runtime && !heddle_runtime_memory_stats(hd_starpu_runtime, node, &stats))
		used += stats.used;
	return used;
}

starpu_ssize_t starpu_memory_get_available(unsigned node)
{
	starpu_ssize_t total = starpu_memory_get_total(node);
	starpu_ssize_t left = total < 0 ? -1 : total - (starpu_ssize_t)starpu_memory_get_used(node);
	return total >= 0 && left < 0 ? 0 : left;
}
