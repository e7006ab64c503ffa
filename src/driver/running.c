/* Kernels of devices with streams, while their functions run: see running.h. */
#include "driver/running.h"
#include <stdlib.h>
#include <string.h>

static _Thread_local struct hd_running *running;

int hd_running_call(struct hd_running *r, heddle_kernel kernel)
{
	struct hd_running *outer = running;
	running = r;
	int status = kernel(r->context);
	running = outer;
	if (!r->lost)
		return status;
	hd_error_give_back(&r->why);
	return r->lost;
}

struct hd_running *hd_running_find(const heddle_context *c, const char *kind, const char *function)
{
	if (running && running->context == c && strcmp(running->kind, kind) == 0)
		return running;
	hd_error(HEDDLE_E_STATE, "%s is for %s kernels: call it in the thread that runs one, with its context",
	         function, kind);
	return NULL;
}

int hd_running_fail(struct hd_running *r, int status)
{
	if (status == HEDDLE_E_DEVICE && !r->lost) {
		r->lost = status;
		hd_error_keep(&r->why);
	}
	return status ? heddle_fail(r->context, status, "%s", heddle_last_error()) : 0;
}

struct hd_kept_slot {
	struct hd_kept_slot *next; /* the slot that was made before this one */
	const void *key;
	void *pointer; /* borrowed from the library that keeps it here */
	void (*destroy)(void *pointer);
};

void **hd_running_slot(struct hd_running *r, const void *key, void (*destroy)(void *pointer))
{
	if (!r)
		return NULL;
	struct hd_kept_slot *slot = *r->slots;
	while (slot && slot->key != key)
		slot = slot->next;
	if (slot)
		return &slot->pointer;
	slot = malloc(sizeof *slot);
	if (!slot) {
		hd_running_fail(r, hd_no_memory("what a library keeps for a stream"));
		return NULL;
	}
	*slot = (struct hd_kept_slot){*r->slots, key, NULL, destroy};
	*r->slots = slot;
	return &slot->pointer;
}

void hd_running_forget(struct hd_kept_slot **slots)
{
	for (struct hd_kept_slot *slot; (slot = *slots);) {
		*slots = slot->next;
		if (slot->pointer && slot->destroy)
			slot->destroy(slot->pointer);
		free(slot);
	}
}
