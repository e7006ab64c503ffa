/* Copies the items of a submission from the program's array into a task: the common path, which is inline and needs no
 * core lock. submit_items.c has the rare parts. */
#ifndef HD_FLOW_SUBMIT_ITEMS_H
#define HD_FLOW_SUBMIT_ITEMS_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/data.h>
#include <heddle/runtime.h>
#include <heddle/task.h>

#include "state/data.h"
#include "state/runtime.h"

/* An item of the core itself: the task, which has no codelet, is of the kind `number`. */
enum { HD_ITEM_KIND = 65535 };

/* A summary of the items of one submission. The task is allocated by it before the items are copied. */
struct hd_request {
	const heddle_codelet *codelet; /* the last codelet item; may be NULL */
	heddle_task *outer;            /* the hierarchical task in whose sub-graph the task is; NULL: none */
	size_t n_codelets, n_data, n_values, value_bytes, n_after;
	/* has_extra: the task needs a struct hd_task_extra. too_large: one value exceeds the limit on the size of all
	 * values. */
	int has_extra, too_large;
	uint32_t filled_values; /* counters for the values that are stored in the task so far: their number and bytes */
	size_t filled_bytes;
};
/* These caveats of data, shifted left by HD_TASK_CAVEAT_SHIFT, are flags of the task. */
enum { HD_TASK_CAVEATS = HD_DEEP_BIT | HD_UNSETTLED_BIT, HD_TASK_CAVEAT_SHIFT = 5 };
_Static_assert(HD_DEEP_BIT << HD_TASK_CAVEAT_SHIFT == HD_TASK_DEEP &&
                   HD_UNSETTLED_BIT << HD_TASK_CAVEAT_SHIFT == HD_TASK_UNSETTLED,
               "the bits of both have the same distance");

/* A summary of the data that have been copied into a task. */
struct hd_request_sum {
	struct hd_access *next; /* the place of the next access */
	uint64_t footprint;
	unsigned caveats; /* the union of the data's caveats */
	uint64_t seen;    /* a Bloom filter: one bit per hashed number of a datum */
	uint64_t twice;   /* bit 0: a bit of `seen` was set twice, so perhaps a datum occurs twice */
};

/* Counts the items from `item` on, which is the first item other than data, codelet and priority. Checks the sizes of
 * values. */
int hd_request_count(const heddle_runtime *rt, const struct heddle_item *item, const struct heddle_item *end,
                     struct hd_request *q);
/* Checks the codelet items of a task, unless there is exactly one, of the same runtime. */
int hd_request_check_codelet(const heddle_runtime *rt, const struct hd_request *q);
/* Makes all checks of all data: in checking mode, and for codelets that declare their accesses. */
int hd_request_check_data(heddle_runtime *rt, const heddle_codelet *c, size_t n, const struct heddle_item *items);
/* Adds the first data of a task of a sub-graph, as long as they are pieces of the data of the hierarchical task.
 * Returns the first item that was not consumed; a codelet item among the data is consumed, too. */
const struct heddle_item *hd_request_add_pieces(heddle_task *t, const struct heddle_item *items,
                                                const struct heddle_item *end, const struct hd_request *q,
                                                struct hd_request_sum *sum);
/* Makes all checks of a datum, and adds it. */
int hd_request_add_data(heddle_runtime *rt, heddle_task *t, const struct heddle_item *item, struct hd_request_sum *sum);
/* Adds any other item. */
int hd_request_add_option(heddle_runtime *rt, heddle_task *t, const struct heddle_item *item, struct hd_request *q);
/* Merges accesses to the same data. */
int hd_request_merge(heddle_task *t);
/* Checks a task without a codelet. */
int hd_request_check_bare(const heddle_task *t);
/* Checks everything about a task besides its data. */
int hd_request_complete(heddle_runtime *rt, heddle_task *t);

/* Counts the items, and checks the codelet and the sizes of values. */
static inline int hd_request_read(const heddle_runtime *rt, size_t n, const struct heddle_item *items,
                                  struct hd_request *q)
{
	const struct heddle_item *item = items, *end = items + n;
	size_t n_data = 0, n_codelets = 0;
	const heddle_codelet *codelet = NULL;
	for (; item < end; item++) {
		if (HD_LIKELY(item->what < HEDDLE_ITEM_CODELET)) {
			n_data++;
		} else if (HD_LIKELY(item->what == HEDDLE_ITEM_CODELET)) {
			codelet = item->ptr;
			n_codelets++;
		} else if (item->what != HEDDLE_ITEM_PRIORITY) {
			break;
		}
	}
	*q = (struct hd_request){.codelet = codelet, .n_codelets = n_codelets, .n_data = n_data};
	int status = HD_LIKELY(item == end) ? 0 : hd_request_count(rt, item, end, q);
	if (HD_UNLIKELY(status))
		return status;
	if (HD_UNLIKELY(q->n_codelets != 1 || !q->codelet || q->codelet->rt != rt))
		return hd_request_check_codelet(rt, q);
	if (HD_UNLIKELY(q->codelet->desc.n_subgraphs))
		q->has_extra = 1;
	return 0;
}

static inline void hd_sum_add(struct hd_request_sum *s, heddle_data *d, unsigned mode, uint32_t index, unsigned caveats)
{
	unsigned bit = d->id * 0x9e3779b9u >> 26; /* Fibonacci hashing, so that consecutive numbers seldom collide */
	struct hd_access *a = s->next++;
	a->data = d;
	a->next = NULL;
	a->private_copy = NULL;
	a->index = index;
	a->n_preds = 0;
	a->mode = mode & 0x1f;
	a->flags = 0;
	s->footprint = hd_fold(s->footprint, d->shape);
	s->caveats |= caveats;
	s->twice |= s->seen >> bit;
	s->seen |= (uint64_t)1 << bit;
}

/* Adds data as long as they belong to the runtime, are open, and allow the access mode, which is R, W or RW: most data
 * need no other check. Returns the first other item, or `end`. */
static inline const struct heddle_item *hd_sum_add_ordinary(struct hd_request_sum *s, heddle_task *t,
                                                            const heddle_runtime *rt, const struct heddle_item *item,
                                                            const struct heddle_item *end)
{
	for (; item < end; item++) {
		heddle_data *d = (heddle_data *)(uintptr_t)item->ptr;
		unsigned mode = (unsigned)item->what;
		if (HD_UNLIKELY(mode - HEDDLE_R > HEDDLE_RW - HEDDLE_R)) {
			if (mode == HEDDLE_ITEM_PRIORITY)
				t->priority = item->number;
			else if (mode != HEDDLE_ITEM_CODELET)
				break;
			continue;
		}
		if (HD_UNLIKELY(!d || d->rt != rt))
			break;
		unsigned caveats = hd_data_caveats(d);
		if (HD_UNLIKELY(caveats & (HD_CLOSED_BITS | HD_CHOOSY_BIT)))
			break;
		hd_sum_add(s, d, mode, (uint32_t)(s->next - t->accesses), caveats);
	}
	return item;
}

/* Copies the items into the task. */
static inline int hd_request_copy(heddle_runtime *rt, heddle_task *t, size_t n, const struct heddle_item *items,
                                  struct hd_request *q)
{
	struct hd_request_sum s = {.next = t->accesses, .footprint = t->footprint};
	const struct heddle_item *item = items, *end = items + n;
	if (HD_UNLIKELY(q->outer != NULL)) {
		/* a copy of `s`: no function gets the address of `s`, which can therefore stay in registers */
		struct hd_request_sum pieces = s;
		item = hd_request_add_pieces(t, items, end, q, &pieces);
		s = pieces;
	}
	while ((item = hd_sum_add_ordinary(&s, t, rt, item, end)) < end) {
		int status;
		if (HD_LIKELY(item->what >= HEDDLE_ITEM_CODELET)) {
			status = hd_request_add_option(rt, t, item++, q);
		} else {
			struct hd_request_sum copy = s;
			status = hd_request_add_data(rt, t, item++, &copy);
			s = copy;
		}
		if (HD_UNLIKELY(status))
			return status;
	}
	t->footprint = s.footprint;
	t->special |= (uint16_t)((s.caveats & HD_TASK_CAVEATS) << HD_TASK_CAVEAT_SHIFT);
	return HD_LIKELY(!(s.twice & 1)) ? 0 : hd_request_merge(t);
}

/* Returns HEDDLE_E_NO_FIT, with a message that gives both sizes in bytes and the remedy. `who` begins the message:
 * "gemm needs". In submit_items.c. */
int hd_no_fit(const char *who, uint64_t bytes, uint64_t room);

#endif
