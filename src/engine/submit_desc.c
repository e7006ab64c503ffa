/* The long way to submit a task: a structure, turned into the items of the short way. */
#include <stdlib.h>
#include "engine.h"

int heddle_task_submit(heddle_runtime *rt, const struct heddle_task_desc *desc, heddle_task **out)
{
	if (!rt || !desc)
		return hd_error(HEDDLE_E_INVALID, "a task needs a runtime and a description");
	size_t n = desc->n_data + desc->n_values + desc->n_after + 6, k = 0;
	struct heddle_item *items = malloc(n * sizeof *items);
	if (!items)
		return hd_no_memory("a task");
	if (desc->codelet)
		items[k++] = heddle_call(desc->codelet);
	for (size_t i = 0; i < desc->n_data; i++)
		items[k++] = desc->data[i];
	for (size_t i = 0; i < desc->n_values; i++)
		items[k++] = desc->values[i];
	for (size_t i = 0; i < desc->n_after; i++)
		items[k++] = heddle_after(desc->after[i]);
	if (desc->priority)
		items[k++] = heddle_priority(desc->priority);
	if (desc->callback)
		items[k++] = heddle_then(desc->callback, desc->callback_arg);
	if (desc->worker > 0)
		items[k++] = heddle_on((unsigned)desc->worker - 1);
	if (desc->name)
		items[k++] = heddle_named(desc->name);
	if (out)
		items[k++] = heddle_out(out);
	int status = heddle_submit_items(rt, k, items);
	free(items);
	return status;
}
