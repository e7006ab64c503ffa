/* Errors of kernels: arguments that the context does not have, and calls that a kernel must not make. */
#include <stdio.h>
#include <string.h>
#include "internal.h"
#include "misuse.h"
#include "state/call_context.h"
#include "state/core_lock.h"
#include "state/kernel_context.h"

/* Records an error of a running kernel. Takes the core lock, because the kernel may have threads of its own. */
static void note(struct hd_watch *w, char *text)
{
	heddle_runtime *rt = hd_task_runtime(w->task);
	hd_core_enter(rt);
	hd_finding(w, text, NULL);
	hd_core_unlock(rt);
}

void hd_misuse_not_there(const heddle_context *c, const char *what, size_t i, size_t n)
{
	if (c->watch)
		note(c->watch, hd_format("its kernel asks for %s %zu; it has %zu", what, i, n));
}

void *hd_misuse_spare(const heddle_context *c)
{
	return c->worker->rt->misuse->spare;
}

const void *hd_misuse_value(const heddle_context *c, size_t i, const void *value, size_t size)
{
	if (!value) {
		hd_misuse_not_there(c, "value", i, c->only ? 0 : c->task->n_values);
		return hd_misuse_spare(c);
	}
	size_t given = hd_value_size(c->task, i);
	if (c->watch && given != size)
		note(c->watch,
		     hd_format("its kernel reads value %zu with %zu bytes; it was submitted with %zu", i, size, given));
	return value;
}

void hd_misuse_waits(const char *sentence)
{
	const struct hd_inside *here = hd_inside();
	if (here && here->watch)
		note(here->watch, hd_format("its kernel waits: %s", sentence));
}
