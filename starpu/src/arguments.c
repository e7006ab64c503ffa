/* The arguments of starpu_task_insert, and blocks of values.
 *
 * A block is the number of its values, then for each its size and its bytes, without padding. */
#include "internal.h"
#include <stdarg.h>

/* --- Blocks ------------------------------------------------------------------------------------------------------- */

void starpu_codelet_pack_arg_init(struct starpu_codelet_pack_arg_data *state)
{
	*state = (struct starpu_codelet_pack_arg_data){.arg_buffer_used = sizeof(int)};
}

void starpu_codelet_pack_arg(struct starpu_codelet_pack_arg_data *state, const void *value, size_t size)
{
	size_t end = state->arg_buffer_used + sizeof size + size;
	if (end > state->arg_buffer_size) {
		size_t room = end > 64 ? 2 * end : 128;
		char *larger = realloc(state->arg_buffer, room);
		if (!larger) {
			fprintf(stderr, "heddle: no memory for the arguments of a task\n");
			return;
		}
		state->arg_buffer = larger;
		state->arg_buffer_size = room;
	}
	char *to = state->arg_buffer + state->arg_buffer_used;
	memcpy(to, &size, sizeof size);
	if (size)
		memcpy(to + sizeof size, value, size);
	state->arg_buffer_used = end;
	state->nargs++;
}

void starpu_codelet_pack_arg_fini(struct starpu_codelet_pack_arg_data *state, void **block, size_t *size)
{
	if (state->arg_buffer)
		memcpy(state->arg_buffer, &state->nargs, sizeof state->nargs);
	*block = state->arg_buffer;
	*size = state->arg_buffer ? state->arg_buffer_used : 0;
}

void starpu_codelet_pack_args(void **block, size_t *size, ...)
{
	struct starpu_codelet_pack_arg_data state;
	va_list list;
	starpu_codelet_pack_arg_init(&state);
	va_start(list, size);
	while (va_arg(list, int) == STARPU_VALUE) {
		const void *value = va_arg(list, const void *);
		starpu_codelet_pack_arg(&state, value, va_arg(list, size_t));
	}
	va_end(list);
	starpu_codelet_pack_arg_fini(&state, block, size);
}

/* Where the next value of a block lies. */
struct reader {
	const char *at;
	int left;
};

static struct reader read_block(const void *block)
{
	struct reader r = {block, 0};
	if (block) {
		memcpy(&r.left, r.at, sizeof r.left);
		r.at += sizeof r.left;
	}
	return r;
}

static const char *next_value(struct reader *r, size_t *size)
{
	memcpy(size, r->at, sizeof *size);
	const char *value = r->at + sizeof *size;
	r->at = value + *size;
	r->left--;
	return value;
}

static void unpack(struct reader *r, va_list list)
{
	size_t size;
	while (r->left) {
		void *to = va_arg(list, void *);
		if (!to)
			break;
		const char *value = next_value(r, &size);
		if (size)
			memcpy(to, value, size);
	}
}

void starpu_codelet_unpack_args(void *cl_arg, ...)
{
	struct reader r = read_block(cl_arg);
	va_list list;
	va_start(list, cl_arg);
	unpack(&r, list);
	va_end(list);
}

void starpu_codelet_unpack_args_and_copyleft(void *cl_arg, void *rest, size_t room, ...)
{
	struct starpu_codelet_pack_arg_data left;
	struct reader r = read_block(cl_arg);
	void *block;
	size_t size;
	va_list list;
	va_start(list, room);
	unpack(&r, list);
	va_end(list);
	starpu_codelet_pack_arg_init(&left);
	while (r.left) {
		const char *value = next_value(&r, &size);
		starpu_codelet_pack_arg(&left, value, size);
	}
	starpu_codelet_pack_arg_fini(&left, &block, &size);
	if (rest && size && size <= room)
		memcpy(rest, block, size);
	free(block);
}

/* --- Data --------------------------------------------------------------------------------------------------------- */

/* Makes room for `more` data behind the first n; the room of a task's own arrays is STARPU_NMAXBUFS. */
static bool make_room(struct starpu_task *task, int *room, int n, int more)
{
	if (!*room)
		*room = STARPU_NMAXBUFS;
	if (n + more <= *room)
		return true;
	int wanted = n + more > 2 * *room ? n + more : 2 * *room;
	starpu_data_handle_t *handles = realloc(task->dyn_handles, (size_t)wanted * sizeof *handles);
	if (!handles)
		return false;
	if (!task->dyn_handles)
		memcpy(handles, task->handles, (size_t)n * sizeof *handles);
	task->dyn_handles = handles;
	enum starpu_data_access_mode *modes = realloc(task->dyn_modes, (size_t)wanted * sizeof *modes);
	if (!modes)
		return false;
	if (!task->dyn_modes)
		memcpy(modes, task->modes, (size_t)n * sizeof *modes);
	task->dyn_modes = modes;
	*room = wanted;
	return true;
}

/* Whether the codelet has a place for the mode of datum n. */
static bool says_modes(const struct starpu_codelet *cl, int n)
{
	return cl && cl->nbuffers != STARPU_VARIABLE_NBUFFERS && n < cl->nbuffers &&
	       (cl->dyn_modes || n < STARPU_NMAXBUFS);
}

void starpu_task_insert_data_make_room(struct starpu_codelet *cl, struct starpu_task *task, int *room, int n,
                                       int room_needed)
{
	(void)cl;
	if (!make_room(task, room, n, room_needed - n))
		fprintf(stderr, "heddle: no memory for the data of a task\n");
}

void starpu_task_insert_data_process_arg(struct starpu_codelet *cl, struct starpu_task *task, int *room, int *n,
                                         int mode, starpu_data_handle_t handle)
{
	if (!make_room(task, room, *n, 1)) {
		fprintf(stderr, "heddle: no memory for the data of a task\n");
		return;
	}
	STARPU_TASK_HANDLES_(task)[*n] = handle;
	(task->dyn_modes ? task->dyn_modes : task->modes)[*n] = (enum starpu_data_access_mode)mode;
	/* A codelet that does not say how it uses its data learns it from its first task. */
	if (mode && says_modes(cl, *n) && !STARPU_CODELET_MODES_(cl)[*n])
		STARPU_CODELET_MODES_(cl)[*n] = (enum starpu_data_access_mode)mode;
	(*n)++;
}

void starpu_task_insert_data_process_array_arg(struct starpu_codelet *cl, struct starpu_task *task, int *room, int *n,
                                               int n_handles, starpu_data_handle_t *handles)
{
	for (int i = 0; i < n_handles; i++) {
		int mode = says_modes(cl, *n) ? (int)STARPU_CODELET_GET_MODE(cl, *n) : STARPU_RW;
		starpu_task_insert_data_process_arg(cl, task, room, n, mode, handles[i]);
	}
}

void starpu_task_insert_data_process_mode_array_arg(struct starpu_codelet *cl, struct starpu_task *task, int *room,
                                                    int *n, int n_descrs, struct starpu_data_descr *descrs)
{
	for (int i = 0; i < n_descrs; i++)
		starpu_task_insert_data_process_arg(cl, task, room, n, descrs[i].mode, descrs[i].handle);
}

/* --- Arguments ---------------------------------------------------------------------------------------------------- */

/* What the arguments have said so far. The va_list is in a structure, so that functions may go on in it. */
struct arguments {
	struct starpu_task *task;
	va_list list;
	struct starpu_codelet_pack_arg_data values;
	int n_data, room;
};

static void set_callbacks(struct arguments *a, int what)
{
	struct starpu_task *t = a->task;
	switch (what) {
	case STARPU_CALLBACK: t->callback_func = va_arg(a->list, void (*)(void *)); break;
	case STARPU_CALLBACK_WITH_ARG:
	case STARPU_CALLBACK_WITH_ARG_NFREE:
		t->callback_func = va_arg(a->list, void (*)(void *));
		t->callback_arg = va_arg(a->list, void *);
		t->callback_arg_free = what == STARPU_CALLBACK_WITH_ARG;
		break;
	case STARPU_CALLBACK_ARG:
	case STARPU_CALLBACK_ARG_NFREE:
		t->callback_arg = va_arg(a->list, void *);
		t->callback_arg_free = what == STARPU_CALLBACK_ARG;
		break;
	case STARPU_PROLOGUE_CALLBACK: t->prologue_callback_func = va_arg(a->list, void (*)(void *)); break;
	case STARPU_PROLOGUE_CALLBACK_ARG:
	case STARPU_PROLOGUE_CALLBACK_ARG_NFREE:
		t->prologue_callback_arg = va_arg(a->list, void *);
		t->prologue_callback_arg_free = what == STARPU_PROLOGUE_CALLBACK_ARG;
		break;
	case STARPU_PROLOGUE_CALLBACK_POP: t->prologue_callback_pop_func = va_arg(a->list, void (*)(void *)); break;
	default:
		t->prologue_callback_pop_arg = va_arg(a->list, void *);
		t->prologue_callback_pop_arg_free = what == STARPU_PROLOGUE_CALLBACK_POP_ARG;
	}
}

static void add_dependencies(struct arguments *a, int what)
{
	if (what == STARPU_TASK_END_DEP) {
		starpu_task_end_dep_add(a->task, va_arg(a->list, int));
		return;
	}
	unsigned n = va_arg(a->list, unsigned);
	struct starpu_task **tasks = va_arg(a->list, struct starpu_task **);
	if (what == STARPU_TASK_DEPS_ARRAY)
		starpu_task_declare_deps_array(a->task, n, tasks);
	else
		starpu_task_declare_end_deps_array(a->task, n, tasks);
}

/* Where the task may run, its name, what is ignored. */
static bool set_attribute(struct arguments *a, int what)
{
	struct starpu_task *t = a->task;
	int worker;
	switch (what) {
	case STARPU_EXECUTE_ON_WORKER:
		worker = va_arg(a->list, int);
		t->execute_on_a_specific_worker = worker != -1;
		t->workerid = worker != -1 ? (unsigned)worker : 0;
		break;
	case STARPU_EXECUTE_WHERE: t->where = (uint32_t)va_arg(a->list, unsigned long long); break;
	case STARPU_NAME: t->name = va_arg(a->list, const char *); break;
	case STARPU_TASK_COLOR: t->color = (unsigned)va_arg(a->list, int); break;
	case STARPU_TASK_SYNCHRONOUS: t->synchronous = va_arg(a->list, int) != 0; break;
	case STARPU_SEQUENTIAL_CONSISTENCY: t->sequential_consistency = va_arg(a->list, unsigned) != 0; break;
	case STARPU_HANDLES_SEQUENTIAL_CONSISTENCY:
		t->handles_sequential_consistency = va_arg(a->list, unsigned char *);
		break;
	case STARPU_FLOPS: t->flops = va_arg(a->list, double); break;
	case STARPU_TAG_ONLY: (void)va_arg(a->list, starpu_tag_t); break;
	case STARPU_WORKER_ORDER: t->workerorder = va_arg(a->list, unsigned); break;
	case STARPU_POSSIBLY_PARALLEL:
	case STARPU_TASK_NO_SUBMITORDER:
	case STARPU_SCHED_CTX:
	case STARPU_HYPERVISOR_TAG: (void)va_arg(a->list, unsigned); break;
	default: return false;
	}
	return true;
}

/* Takes the argument `what` and those that belong to it; false: there is no such argument. */
static bool take(struct arguments *a, struct starpu_codelet *cl, int what)
{
	struct starpu_task *t = a->task;
	const void *value;
	void *array;
	if (what < STARPU_ACCESS_MODE_MAX) {
		starpu_data_handle_t handle = va_arg(a->list, starpu_data_handle_t);
		starpu_task_insert_data_process_arg(cl, t, &a->room, &a->n_data, what, handle);
		return true;
	}
	if (what >= STARPU_CALLBACK && what <= STARPU_PROLOGUE_CALLBACK_POP_ARG_NFREE) {
		set_callbacks(a, what);
		return true;
	}
	switch (what) {
	case STARPU_VALUE:
		value = va_arg(a->list, const void *);
		starpu_codelet_pack_arg(&a->values, value, va_arg(a->list, size_t));
		return true;
	case STARPU_DATA_ARRAY:
		array = va_arg(a->list, void *);
		starpu_task_insert_data_process_array_arg(cl, t, &a->room, &a->n_data, va_arg(a->list, int), array);
		return true;
	case STARPU_DATA_MODE_ARRAY:
		array = va_arg(a->list, void *);
		starpu_task_insert_data_process_mode_array_arg(cl, t, &a->room, &a->n_data, va_arg(a->list, int),
		                                               array);
		return true;
	case STARPU_PRIORITY: t->priority = va_arg(a->list, int); return true;
	case STARPU_TAG:
		t->tag_id = va_arg(a->list, starpu_tag_t);
		t->use_tag = 1;
		return true;
	case STARPU_CL_ARGS:
	case STARPU_CL_ARGS_NFREE:
		t->cl_arg = va_arg(a->list, void *);
		t->cl_arg_size = va_arg(a->list, size_t);
		t->cl_arg_free = what == STARPU_CL_ARGS;
		return true;
	case STARPU_TASK_DEPS_ARRAY:
	case STARPU_TASK_END_DEPS_ARRAY:
	case STARPU_TASK_END_DEP: add_dependencies(a, what); return true;
	default: return set_attribute(a, what);
	}
}

static int set(struct starpu_task *task, struct starpu_codelet *cl, va_list list)
{
	struct arguments a = {.task = task};
	int what;
	bool known = true;
	starpu_codelet_pack_arg_init(&a.values);
	va_copy(a.list, list);
	task->cl = cl;
	while (known && (what = va_arg(a.list, int)) != 0)
		known = take(&a, cl, what);
	va_end(a.list);
	task->nbuffers = a.n_data;
	if (a.values.nargs && task->cl_arg) {
		free(a.values.arg_buffer);
		heddle_error(HEDDLE_E_INVALID, "a task has STARPU_CL_ARGS or STARPU_VALUE, but not both");
		return hd_starpu_complain("starpu_task_insert", HEDDLE_E_INVALID);
	}
	if (a.values.nargs) {
		starpu_codelet_pack_arg_fini(&a.values, &task->cl_arg, &task->cl_arg_size);
		task->cl_arg_free = 1;
	}
	if (known && cl && cl->nbuffers != STARPU_VARIABLE_NBUFFERS && cl->nbuffers != a.n_data) {
		heddle_error(HEDDLE_E_INVALID, "codelet %s has %d data, and its task %d", cl->name ? cl->name : "task",
		             cl->nbuffers, a.n_data);
		return hd_starpu_complain("starpu_task_insert", HEDDLE_E_INVALID);
	}
	if (known)
		return 0;
	heddle_error(HEDDLE_E_INVALID,
	             "%d is no argument of starpu_task_insert: a mode and a handle, or one of STARPU_VALUE, "
	             "STARPU_PRIORITY ..., and at the end 0",
	             what);
	return hd_starpu_complain("starpu_task_insert", HEDDLE_E_INVALID);
}

struct starpu_task *starpu_task_build_v(struct starpu_codelet *cl, va_list arguments)
{
	struct starpu_task *task = starpu_task_create();
	if (task && set(task, cl, arguments)) {
		starpu_task_destroy(task);
		return NULL;
	}
	return task;
}

struct starpu_task *starpu_task_build(struct starpu_codelet *cl, ...)
{
	va_list list;
	va_start(list, cl);
	struct starpu_task *task = starpu_task_build_v(cl, list);
	va_end(list);
	return task;
}

int starpu_task_set(struct starpu_task *task, struct starpu_codelet *cl, ...)
{
	va_list list;
	va_start(list, cl);
	int error = set(task, cl, list);
	va_end(list);
	return error;
}

int starpu_task_insert(struct starpu_codelet *cl, ...)
{
	va_list list;
	va_start(list, cl);
	struct starpu_task *task = starpu_task_create();
	int error = task ? set(task, cl, list) : -ENOMEM;
	va_end(list);
	bool submitted = task && !error;
	if (submitted)
		error = starpu_task_submit(task);
	if (error && task) {
		task->destroy = 1;
		starpu_task_destroy(task);
	}
	return error;
}
