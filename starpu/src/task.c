/* The life of a task: made, submitted, run, ended, waited for. */
#include "internal.h"

_Thread_local struct hd_starpu_here hd_starpu_here = {.worker = -1};

/* A task of starpu_task_create and its job. */
struct block {
	struct starpu_task task;
	struct hd_job job;
};

/* --- Making and freeing ------------------------------------------------------------------------------------------- */

void starpu_task_init(struct starpu_task *task)
{
	memset(task, 0, sizeof *task);
	task->sequential_consistency = 1;
	task->detach = 1;
}

struct starpu_task *starpu_task_create(void)
{
	struct block *block = malloc(sizeof *block);
	if (!block)
		return NULL;
	starpu_task_init(&block->task);
	block->task.destroy = 1;
	block->job = (struct hd_job){.task = &block->task, .worker = -1, .on_heap = true};
	block->task.starpu_private = &block->job;
	return &block->task;
}

struct hd_job *hd_job_of(struct starpu_task *task)
{
	struct hd_job *job = task->starpu_private;
	if (job)
		return job;
	job = calloc(1, sizeof *job);
	if (!job)
		return NULL;
	job->task = task;
	job->worker = -1;
	task->starpu_private = job;
	return job;
}

void starpu_task_clean(struct starpu_task *task)
{
	struct hd_job *job = task->starpu_private;
	if (!job)
		return;
	heddle_task_release(job->reference);
	heddle_task_release(job->late);
	job->reference = job->late = NULL;
	hd_dependencies_free(job);
	free(task->dyn_handles);
	free(task->dyn_modes);
	task->dyn_handles = NULL;
	task->dyn_modes = NULL;
	if (!job->on_heap) {
		free(job);
		task->starpu_private = NULL;
	}
}

/* Frees what the task owns, and the task. */
static void destroy(struct starpu_task *task)
{
	starpu_task_clean(task);
	if (task->cl_arg_free)
		free(task->cl_arg);
	if (task->callback_arg_free)
		free(task->callback_arg);
	if (task->prologue_callback_arg_free)
		free(task->prologue_callback_arg);
	if (task->prologue_callback_pop_arg_free)
		free(task->prologue_callback_pop_arg);
	if (task->handles_sequential_consistency_free)
		free(task->handles_sequential_consistency);
	free(task);
}

void starpu_task_destroy(struct starpu_task *task)
{
	if (task)
		destroy(task);
}

void starpu_task_set_destroy(struct starpu_task *task)
{
	task->destroy = 1;
}

struct starpu_task *starpu_task_dup(struct starpu_task *task)
{
	struct starpu_task *copy = starpu_task_create();
	if (!copy)
		return NULL;
	void *own = copy->starpu_private;
	*copy = *task;
	copy->starpu_private = own;
	copy->status = STARPU_TASK_INVALID;
	copy->cl_arg_free = copy->callback_arg_free = 0; /* the other task frees them */
	copy->prologue_callback_arg_free = copy->prologue_callback_pop_arg_free = 0;
	copy->handles_sequential_consistency_free = 0;
	return copy;
}

/* The number of data of a task, and how each is used. */
static size_t data_of(struct starpu_task *task, starpu_data_handle_t **handles, enum starpu_data_access_mode **modes)
{
	struct starpu_codelet *cl = task->cl;
	*handles = STARPU_TASK_HANDLES_(task);
	if (!cl) {
		*modes = task->dyn_modes ? task->dyn_modes : (enum starpu_data_access_mode *)task->modes;
		return (size_t)task->nbuffers;
	}
	*modes = task->dyn_modes ? task->dyn_modes : (enum starpu_data_access_mode *)task->modes;
	if (cl->nbuffers == STARPU_VARIABLE_NBUFFERS)
		return (size_t)task->nbuffers;
	if (!task->dyn_modes)
		*modes = STARPU_CODELET_MODES_(cl);
	return (size_t)cl->nbuffers;
}

/* --- Running ------------------------------------------------------------------------------------------------------ */

#define HD_FEW 8 /* data of a task whose structures lie on the stack */

static void call(heddle_context *c, struct starpu_task *task, starpu_cpu_func_t function, union hd_interface *room,
                 void **buffers, size_t n)
{
	starpu_data_handle_t *handles = STARPU_TASK_HANDLES_(task);
	for (size_t i = 0; i < n; i++)
		buffers[i] = hd_handle_show(handles[i], c, i, &room[i]);
	function(buffers, task->cl_arg);
}

int hd_job_run(heddle_context *c, starpu_cpu_func_t function)
{
	struct hd_job *job = *(struct hd_job *const *)heddle_value_ptr(c, 0);
	struct starpu_task *task = job->task;
	starpu_data_handle_t *handles;
	enum starpu_data_access_mode *modes;
	size_t n = data_of(task, &handles, &modes);
	struct hd_starpu_here before = hd_starpu_here;
	int status = 0;
	hd_starpu_here = (struct hd_starpu_here){.task = task, .context = c, .worker = (int)heddle_context_worker(c)};
	if (heddle_context_rank(c) == 0) {
		job->worker = hd_starpu_here.worker;
		task->status = STARPU_TASK_RUNNING;
		status = hd_dependencies_end(c, job);
		if (task->prologue_callback_func)
			task->prologue_callback_func(task->prologue_callback_arg);
		if (task->prologue_callback_pop_func)
			task->prologue_callback_pop_func(task->prologue_callback_pop_arg);
	}
	if (n <= HD_FEW) {
		union hd_interface room[HD_FEW];
		void *buffers[HD_FEW];
		call(c, task, function, room, buffers, n);
	} else {
		union hd_interface *room = malloc(n * (sizeof *room + sizeof(void *)));
		if (room)
			call(c, task, function, room, (void **)(room + n), n);
		else
			status = heddle_fail(c, HEDDLE_E_MEMORY, "no memory for the descriptions of %zu data", n);
		free(room);
	}
	hd_starpu_here = before;
	return status;
}

/* The end of a task of Heddle. Afterwards the task, if it may be waited for, belongs to the program. */
static void ended(void *arg, int status)
{
	struct hd_job *job = arg;
	struct starpu_task *task = job->task;
	struct hd_starpu_here before = hd_starpu_here;
	(void)status; /* starpu_task_wait and starpu_task_wait_for_all report it */
	hd_starpu_here = (struct hd_starpu_here){.task = task, .worker = job->worker};
	hd_dependencies_done(job);
	task->status = STARPU_TASK_FINISHED;
	if (job->worker < 0) { /* it has run no function */
		if (task->prologue_callback_func)
			task->prologue_callback_func(task->prologue_callback_arg);
		if (task->prologue_callback_pop_func)
			task->prologue_callback_pop_func(task->prologue_callback_pop_arg);
	}
	if (task->callback_func)
		task->callback_func(task->callback_arg);
	else if (task->cl && task->cl->callback_func)
		task->cl->callback_func(task->callback_arg);
	hd_starpu_here = before;
	hd_dependencies_tell(job);
	if (task->regenerate)
		hd_starpu_complain("starpu_task_submit of a regenerated task", -starpu_task_submit(task));
	else if (task->detach && task->destroy && !task->synchronous)
		destroy(task);
	else
		job->ended = true;
}

/* --- Submitting --------------------------------------------------------------------------------------------------- */

/* A set of workers as bits, large enough for every worker. */
#define HD_SET_WORDS (STARPU_NMAXWORKERS / 32)

/* The workers on which can_execute and workerids let the task run; returns how many words, 0: there is no restriction.
 */
static unsigned workers_of(struct starpu_task *task, uint32_t *set)
{
	const struct starpu_codelet *cl = task->cl;
	unsigned n = starpu_worker_get_count();
	if (!cl->can_execute && !task->workerids_len)
		return 0;
	memset(set, 0, HD_SET_WORDS * sizeof *set);
	for (unsigned w = 0; w < n && w < STARPU_NMAXWORKERS; w++) {
		bool may =
		    !task->workerids_len || (w / 32 < task->workerids_len && (task->workerids[w / 32] >> w % 32 & 1));
		bool able = !cl->can_execute;
		for (unsigned i = 0; may && !able && i < STARPU_MAXIMPLEMENTATIONS; i++)
			able = cl->cpu_funcs[i] || cl->cuda_funcs[i] || cl->opencl_funcs[i]
			           ? cl->can_execute(w, task, i)
			           : false;
		if (may && able)
			set[w / 32] |= 1u << w % 32;
	}
	return HD_SET_WORDS;
}

/* Puts the codelet to run into *out; NULL there: the task runs nothing. */
static int choose_codelet(struct starpu_task *task, heddle_codelet **out)
{
	struct starpu_codelet *cl = task->cl;
	uint32_t set[HD_SET_WORDS];
	*out = NULL;
	if (!cl || ((task->where ? task->where : cl->where) & STARPU_NOWHERE))
		return 0;
	unsigned words = cl->can_execute || task->workerids_len ? workers_of(task, set) : 0;
	*out = hd_codelet(cl, task->where, set, words);
	return *out ? 0 : HEDDLE_E_NO_WORKER;
}

static int submit_items(struct hd_job *job, struct heddle_item *items, heddle_task *gate)
{
	struct starpu_task *task = job->task;
	starpu_data_handle_t *handles;
	enum starpu_data_access_mode *modes;
	size_t n_data = data_of(task, &handles, &modes), n = n_data;
	heddle_codelet *codelet;
	int status = choose_codelet(task, &codelet);
	for (size_t i = 0; i < n_data && !status; i++) {
		bool unordered = !task->sequential_consistency ||
		                 (task->handles_sequential_consistency && !task->handles_sequential_consistency[i]);
		status = hd_handle_prepare(handles[i], modes[i]);
		struct heddle_item pair[HD_ITEMS_OF_DATUM];
		size_t made = status ? 0 : hd_handle_items(handles[i], modes[i], unordered, pair, &status);
		items[i] = pair[0];
		if (made == 2) /* behind the data, which kernels number */
			items[n++] = pair[1];
	}
	if (status)
		return status;
	items[n++] = heddle_then(ended, job);
	if (codelet) {
		items[n++] = heddle_call(codelet);
		items[n++] = heddle_bytes(&job, sizeof job);
		if (task->execute_on_a_specific_worker)
			items[n++] = heddle_on(task->workerid);
	}
	if (task->priority)
		items[n++] = heddle_priority(task->priority);
	if (task->name)
		items[n++] = heddle_named(task->name);
	if (gate)
		items[n++] = heddle_after(gate);
	if (!task->detach || task->synchronous)
		items[n++] = heddle_out(&job->reference);
	return heddle_submit_items(hd_starpu_runtime, n, items);
}

/* The items of a task besides its data, at most. */
#define HD_OTHER_ITEMS 8

/* Whether no access of the task is ordered, so that the task may come to Heddle when its dependencies are met. */
static bool is_unordered(struct starpu_task *task)
{
	starpu_data_handle_t *handles;
	enum starpu_data_access_mode *modes;
	size_t n = data_of(task, &handles, &modes);
	for (size_t i = 0; i < n; i++)
		if (task->sequential_consistency && !handles[i]->unordered)
			return false;
	return n > 0;
}

static int submit_now(struct hd_job *job, heddle_task *after);

/* The dependencies of an unordered task are met. */
static void submit_late(struct hd_gate *gate)
{
	int status = submit_now(gate->arg, NULL);
	hd_starpu_complain("starpu_task_submit", status);
	hd_gate_open(gate);
}

/* An unordered task whose dependencies are not met comes to Heddle when they are: its data have the order of those
 * moments, as in StarPU. Meanwhile the gate stands for the task. Other tasks come to Heddle at once, for their place in
 * the order, and wait there for the gate. */
static int submit(struct hd_job *job)
{
	heddle_task *after = NULL;
	int status;
	struct hd_gate *gate = hd_dependencies_begin(job, &status);
	bool late = gate && is_unordered(job->task), waited_for = !job->task->detach || job->task->synchronous;
	if (status)
		return status;
	if (!gate)
		return submit_now(job, NULL);
	if (late) {
		gate->arg = job;
		hd_gate_call_when_met(gate, submit_late);
		/* the task may have ended by now, and be gone if nobody waits for it */
		return hd_gate_submit(gate, 0, NULL, waited_for ? &job->late : NULL);
	}
	status = hd_gate_submit(gate, 0, NULL, &after);
	if (!status)
		status = submit_now(job, after);
	heddle_task_release(after);
	return status;
}

/* Submits the task to Heddle, after another one if that is not NULL. */
static int submit_now(struct hd_job *job, heddle_task *after)
{
	struct starpu_task *task = job->task;
	struct heddle_item few[HD_ITEMS_OF_DATUM * HD_FEW + HD_OTHER_ITEMS], *items = few;
	starpu_data_handle_t *handles;
	enum starpu_data_access_mode *modes;
	size_t n = data_of(task, &handles, &modes);
	int status = 0;
	if (n > HD_FEW && !(items = malloc((HD_ITEMS_OF_DATUM * n + HD_OTHER_ITEMS) * sizeof *items)))
		status = heddle_error(HEDDLE_E_MEMORY, "no memory for a task with %zu data", n);
	if (!status)
		status = submit_items(job, items, after);
	if (items != few)
		free(items);
	return status;
}

static int wait_for(struct hd_job *job)
{
	if (job->late) { /* when it has ended, the task's own reference is there */
		heddle_task_wait(job->late);
		heddle_task_release(job->late);
		job->late = NULL;
	}
	heddle_task *reference = job->reference;
	int status = heddle_task_wait(reference);
	heddle_task_release(reference);
	job->reference = NULL;
	return status;
}

int starpu_task_submit(struct starpu_task *task)
{
	struct hd_job *job = hd_job_of(task);
	if (!job)
		return -ENOMEM;
	if (!hd_starpu_runtime)
		return -ENODEV;
	bool synchronous = task->synchronous, frees = task->destroy;
	task->status = STARPU_TASK_BLOCKED;
	job->ended = false;
	if (job->reference) {
		heddle_task_release(job->reference);
		job->reference = NULL;
	}
	int status = submit(job);
	if (!status && synchronous) {
		status = wait_for(job);
		if (frees)
			destroy(task);
	}
	return hd_starpu_errno(status);
}

int starpu_task_submit_to_ctx(struct starpu_task *task, unsigned sched_ctx_id)
{
	(void)sched_ctx_id;
	return starpu_task_submit(task);
}

/* --- Waiting ------------------------------------------------------------------------------------------------------ */

int starpu_task_wait(struct starpu_task *task)
{
	struct hd_job *job = task->starpu_private;
	/* `late` first: while it is set, another thread may be about to set `reference` */
	if (task->detach || task->synchronous || !job || (!job->late && !job->reference))
		return -EINVAL;
	int status = wait_for(job);
	if (task->destroy)
		destroy(task);
	return hd_starpu_errno(status);
}

int starpu_task_wait_array(struct starpu_task **tasks, unsigned n)
{
	int error = 0;
	for (unsigned i = 0; i < n; i++) {
		int e = starpu_task_wait(tasks[i]);
		error = error ? error : e;
	}
	return error;
}

int starpu_task_finished(struct starpu_task *task)
{
	const struct hd_job *job = task->starpu_private;
	return job && job->ended;
}

int starpu_task_wait_for_all(void)
{
	return hd_starpu_complain(__func__, heddle_wait_all(hd_starpu_runtime));
}

int starpu_task_wait_for_all_in_ctx(unsigned sched_ctx_id)
{
	(void)sched_ctx_id;
	return starpu_task_wait_for_all();
}

int starpu_task_wait_for_n_submitted(unsigned n)
{
	(void)n;
	return starpu_task_wait_for_all();
}

int starpu_task_wait_for_no_ready(void)
{
	return starpu_task_wait_for_all();
}

int starpu_task_nsubmitted(void)
{
	struct heddle_stats stats;
	return heddle_runtime_stats(hd_starpu_runtime, &stats) ? 0 : (int)stats.live_tasks;
}

/* --- Questions ---------------------------------------------------------------------------------------------------- */

struct starpu_task *starpu_task_get_current(void)
{
	return hd_starpu_here.task;
}

const char *starpu_task_get_name(struct starpu_task *task)
{
	return task->name ? task->name : task->cl ? task->cl->name : NULL;
}

const char *starpu_task_get_model_name(struct starpu_task *task)
{
	const struct starpu_codelet *cl = task->cl;
	return !cl ? NULL : cl->model && cl->model->symbol ? cl->model->symbol : cl->name;
}

unsigned long starpu_task_get_job_id(struct starpu_task *task)
{
	static _Atomic unsigned long last; /* relaxed would do: only the numbers must differ */
	struct hd_job *job = hd_job_of(task);
	if (job && !job->number)
		job->number = ++last;
	return job ? job->number : 0;
}

int starpu_task_get_current_data_node(unsigned i)
{
	const struct hd_starpu_here *here = &hd_starpu_here;
	if (!here->context || i >= heddle_context_n_data(here->context))
		return -1;
	return (int)starpu_worker_get_memory_node((unsigned)here->worker);
}

void starpu_do_schedule(void) {}

void starpu_drivers_preinit(void) {}

void starpu_iteration_push(unsigned long iteration)
{
	(void)iteration;
}

void starpu_iteration_pop(void) {}

struct starpu_task_bundle {
	char none;
};

void starpu_task_bundle_create(starpu_task_bundle_t *bundle)
{
	*bundle = malloc(sizeof **bundle);
}

int starpu_task_bundle_insert(starpu_task_bundle_t bundle, struct starpu_task *task)
{
	(void)bundle;
	return task->status == STARPU_TASK_INVALID ? 0 : -EPERM;
}

int starpu_task_bundle_remove(starpu_task_bundle_t bundle, struct starpu_task *task)
{
	(void)bundle, (void)task;
	return 0;
}

void starpu_task_bundle_close(starpu_task_bundle_t bundle)
{
	free(bundle);
}

/* --- Tasks without a function ------------------------------------------------------------------------------------- */

struct starpu_task *starpu_task_create_sync(starpu_data_handle_t handle, enum starpu_data_access_mode mode)
{
	struct starpu_task *task = starpu_task_create();
	if (task) {
		task->nbuffers = 1;
		task->handles[0] = handle;
		task->modes[0] = mode;
	}
	return task;
}

void starpu_create_sync_task(starpu_tag_t sync_tag, unsigned n, starpu_tag_t *deps, void (*callback)(void *), void *arg)
{
	starpu_tag_declare_deps_array(sync_tag, n, deps);
	struct starpu_task *task = starpu_task_create();
	if (!task)
		return;
	task->use_tag = 1;
	task->tag_id = sync_tag;
	task->callback_func = callback;
	task->callback_arg = arg;
	hd_starpu_complain(__func__, starpu_task_submit(task));
}
