/* Copies of one datum to another: heddle_copy. A copy is an external task (event.c) whose work is a copy in main
 * memory, where both data are then. */
#include <heddle/data.h>
#include <heddle/event.h>
#include <heddle/task.h>
#include "event.h"
#include "driver/driver.h"
#include "state/data.h"
#include "state/engine.h"
#include "state/runtime.h"

/* Whether both are objects of one type that has a copy of its own. */
static int have_own_copy(const heddle_data *a, const heddle_data *b)
{
	return (a->traits & b->traits & HD_DATA_OWN_MEMORY) && a->extra->type == b->extra->type;
}

static int copy_objects(const heddle_data *to, const heddle_data *from)
{
	return to->extra->type->copy(*(void **)from->replicas[0].ptr, 0, *(void **)to->replicas[0].ptr, 0);
}

static void copy_parts(const heddle_data *to, const heddle_data *from)
{
	for (size_t i = 0; i < hd_data_n_parts(to); i++) {
		struct heddle_copy copy = {0};
		hd_data_part_at(from, &from->replicas[0], i, &copy.from);
		hd_data_part_at(to, &to->replicas[0], i, &copy.to);
		hd_copy_host(&copy);
	}
}

/* Called without the core lock, as part of an external task: the descriptions of the data are constant, and their
 * replicas in main memory are pinned. */
static void begin(heddle_event *event, void *arg)
{
	const heddle_task *t = hd_event_task(event);
	(void)arg;
	const heddle_data *to = t->accesses[0].data, *from = t->accesses[1].data;
	int failed = 0;
	if (have_own_copy(to, from))
		failed = hd_task_runtime(t)->engine->runs_kernels && copy_objects(to, from);
	else if (hd_task_runtime(t)->engine->runs_kernels)
		copy_parts(to, from);
	heddle_fulfill(event, failed);
}

/* Whether the data are arrays of the same extents. */
static int have_one_shape(const heddle_data *a, const heddle_data *b)
{
	return a->shape == b->shape && a->bytes == b->bytes && hd_data_n_parts(a) == hd_data_n_parts(b);
}

static int check(const heddle_data *to, const heddle_data *from)
{
	char a[80], b[80];
	if (!to || !from)
		return hd_error(HEDDLE_E_INVALID, "heddle_copy needs two data");
	int status = hd_data_check(to, "heddle_copy");
	if (!status)
		status = hd_data_check(from, "heddle_copy");
	if (status)
		return status;
	if (to->rt != from->rt || to == from)
		return hd_error(HEDDLE_E_INVALID, "heddle_copy: the two data are %s",
		                to == from ? "one" : "of different runtimes");
	hd_data_name_unlocked(to, a, sizeof a);
	hd_data_name_unlocked(from, b, sizeof b);
	if (have_own_copy(to, from))
		return 0;
	if ((to->traits | from->traits) & HD_DATA_OBJECT)
		return hd_error(HEDDLE_E_UNSUPPORTED,
		                "heddle_copy: %s is an object, whose type has no copy of its own: let a task copy it",
		                to->traits & HD_DATA_OBJECT ? a : b);
	if (!have_one_shape(to, from))
		return hd_error(HEDDLE_E_INVALID, "heddle_copy: %s and %s have different extents", a, b);
	return 0;
}

int heddle_copy(heddle_data *to, heddle_data *from)
{
	int status = check(to, from);
	return status ? status
	              : heddle_submit(to->rt, heddle_w(to), heddle_r(from), heddle_outside(begin, NULL),
	                              heddle_named("copy"));
}
