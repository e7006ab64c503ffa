/* Submitting tasks: descriptions that grow item by item, temporaries, and waiting for what one call has submitted. */
#include <sparse/tasks/tasks.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/grow.h"

void hd_sparse_add(struct hd_sparse_flow *flow, struct heddle_item item)
{
	if (flow->status < 0)
		return;
	if (HD_GROW(flow->items, flow->n, flow->room, 32) < 0)
		flow->status = hd_sparse_no_memory("the data of a task");
	else
		flow->items[flow->n++] = item;
}

void hd_sparse_task(struct hd_sparse_flow *flow, enum hd_sparse_op op, int priority)
{
	flow->n = 0;
	hd_sparse_add(flow, heddle_call(flow->qr->sparse->codelets[flow->qr->precision][op]));
	hd_sparse_add(flow, heddle_priority(priority));
}

void hd_sparse_submit_with(struct hd_sparse_flow *flow, struct heddle_item value)
{
	hd_sparse_add(flow, heddle_r(flow->qr->in_use));
	hd_sparse_add(flow, value);
	hd_sparse_submit(flow);
}

void hd_sparse_submit(struct hd_sparse_flow *flow)
{
	if (flow->status >= 0)
		flow->status = heddle_submit_items(flow->qr->sparse->rt, flow->n, flow->items);
}

void hd_sparse_flow_end(struct hd_sparse_flow *flow)
{
	free(flow->items);
}

heddle_data *hd_sparse_register(struct hd_sparse_flow *flow, size_t rows, size_t columns)
{
	heddle_data *data = NULL;
	if (flow->status >= 0)
		flow->status = heddle_matrix(flow->qr->sparse->rt, NULL, rows, columns, rows,
		                             hd_sparse_element_size(flow->qr->precision), &data);
	return data;
}

void hd_sparse_drop(heddle_data **data)
{
	if (*data)
		heddle_unregister_async(*data);
	*data = NULL;
}

int hd_sparse_scope_open(struct heddle_sparse *sparse, struct hd_sparse_scope *scope)
{
	/* asked first: tasks that the call cannot wait for would use arrays that may end with the call */
	int status = heddle_may_wait(sparse->rt);
	if (status >= 0)
		status = heddle_group_create(sparse->rt, &scope->group);
	if (status >= 0)
		scope->before = heddle_group_set(sparse->rt, scope->group);
	return status;
}

int hd_sparse_scope_close(struct heddle_sparse *sparse, struct hd_sparse_scope *scope, int status)
{
	char message[1024];
	int waited;
	snprintf(message, sizeof message, "%s", status < 0 ? heddle_last_error() : "");
	heddle_group_set(sparse->rt, scope->before);
	do
		waited = heddle_group_wait(scope->group);
	while (waited == HEDDLE_E_INTERRUPTED);
	heddle_group_free(scope->group);
	return status < 0 ? heddle_error(status, "%s", message) : waited;
}
