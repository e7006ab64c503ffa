/* Copies. Each accelerator node has two copy threads, one for copies to the node and one for copies from it to main
 * memory. */
#include <stdlib.h>
#include "threads.h"

static int copy_object(struct hd_transfer *tr)
{
	const struct heddle_type *type = tr->data->extra->type;
	void **from = tr->data->replicas[tr->from].ptr, **to = tr->data->replicas[tr->to].ptr;
	size_t size = type->size(*from);
	void *buffer = malloc(size ? size : 1);
	if (!buffer)
		return hd_no_memory("a packed object");
	int failed = type->pack(*from, buffer, size) || type->unpack(to, buffer, size);
	free(buffer);
	return failed ? hd_error(HEDDLE_E_KERNEL, "type %s: packing or unpacking failed", type->name) : 0;
}

static int copy_parts(struct hd_copier *c, struct hd_transfer *tr)
{
	size_t n = hd_data_n_parts(tr->data);
	int status = 0;
	for (size_t i = 0; i < n && !status; i++) {
		struct heddle_copy copy = {.from_node = tr->from, .to_node = tr->to};
		hd_data_part_at(tr->data, &tr->data->replicas[tr->from], i, &copy.from);
		hd_data_part_at(tr->data, &tr->data->replicas[tr->to], i, &copy.to);
		status = hd_device_copy(c, &copy);
	}
	return status;
}

void *hd_copier_main(void *arg)
{
	struct hd_copier *c = arg;
	heddle_runtime *rt = c->rt;
	struct hd_inside here = {.rt = rt, .what = HD_INSIDE_OTHER};
	hd_inside_enter(&here);
	hd_core_enter(rt);
	for (;;) {
		struct hd_transfer *tr = hd_lane_take(c->lane);
		if (!tr && rt->stopping)
			break;
		if (!tr) {
			hd_core_leave(rt);
			hd_event_wait(&c->wake, 5, -1);
			hd_core_enter(rt);
			continue;
		}
		hd_core_leave(rt);
		tr->start = hd_threads_now(rt);
		/* The lock is not needed: the description of the datum is constant, and its replicas are pinned. */
		hd_error(0, "%s", ""); /* a last error after the copy is then about this copy */
		tr->status = tr->data->traits & HD_DATA_OBJECT ? copy_object(tr) : copy_parts(c, tr);
		if (tr->status && !heddle_last_error()[0])
			hd_error(tr->status, "a copy between memories failed");
		tr->end = hd_threads_now(rt);
		hd_core_enter(rt);
		hd_core_clock(rt, tr->end);
		rt->dispatch.releaser = -1;
		hd_transfer_done(tr);
		hd_core_settle(rt);
		if (rt->waits.waiters && hd_core_still(rt))
			hd_wake_blocked(rt, NULL); /* nothing moves any more: they must look for a deadlock */
	}
	hd_core_leave(rt);
	hd_inside_leave(&here);
	return NULL;
}

void hd_threads_transfer(heddle_runtime *rt, struct hd_transfer *tr)
{
	hd_core_wake(rt, &hd_copier_for(rt, tr->from, tr->to)->wake);
}
