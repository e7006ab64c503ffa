/* The call context of a thread: a stack of records, one for each function of the program that the library is calling in
 * this thread. */
#include "call_context.h"
#include "engine.h"
#include "runtime.h"

/* The innermost record. Read and written by its own thread only. */
static _Thread_local struct hd_inside *innermost;

void hd_inside_enter(struct hd_inside *here)
{
	here->outer = innermost;
	innermost = here;
}

void hd_inside_leave(const struct hd_inside *here)
{
	innermost = here->outer;
}

struct hd_inside *hd_inside(void)
{
	return innermost;
}

struct hd_inside *const *hd_inside_place(void)
{
	return &innermost;
}

int hd_inside_may_wait(const heddle_runtime *rt)
{
	const struct hd_worker *w = innermost ? innermost->worker : NULL;
	for (const struct hd_inside *i = innermost; i; i = i->outer)
		if (i->rt != rt || i->what != HD_INSIDE_WORKER)
			return 0;
	return w && rt->engine->runs_kernels && w->node == 0 && !w->slots[0].stream;
}
