/* Tells ThreadSanitizer the happens-before relation between tasks. If a program is compiled with the sanitizer and this
 * library is not, the sanitizer does not see the synchronization of Heddle's threads and would report races between
 * tasks that depend on each other. Therefore this file announces each happens-before edge with the sanitizer's own
 * functions, and hides Heddle's own memory accesses: the remaining reports are races of the program. If the library is
 * compiled with the sanitizer, too, the sanitizer sees the synchronization by itself, and nothing here is called.
 *
 * A release of a synchronization object happens before a later acquire of the same object. The objects are addresses;
 * nothing is stored there:
 *   a task has one object: from its submission to its kernel.
 *   a datum has two objects: from writers to all later tasks, and from readers to later writers. Children use the
 *   objects of
 *     their root, because values move between children without a task of the program.
 *   a team has two objects: from its master to the members, and between members across a barrier.
 *   a runtime has two objects: from events that may concern any task to all kernels (control tasks, acquired data,
 *   tasks that others can name), and from all tasks to waits. */
#include "internal.h"
#include "misuse.h"
#include "state/data.h"
#include "state/plan.h"
#include "state/runtime.h"
#include "state/tree.h"

#if defined(__SANITIZE_THREAD__) /* gcc */
#define INSTRUMENTED 1
#elif defined(__has_feature) /* clang */
#if __has_feature(thread_sanitizer)
#define INSTRUMENTED 1
#endif
#endif

int hd_tsan_wanted(void)
{
#ifdef INSTRUMENTED
	return 0;
#else
	return __tsan_acquire && __tsan_release;
#endif
}

/* the two objects of a task, datum, team or runtime: offsets in bytes from its address */
enum object { FIRST = 0, SECOND = 8 };
static const enum object WRITTEN = FIRST, READ = SECOND; /* the objects of a datum */
/* of a runtime: TASKS leads to all kernels, WAITS to all waits */
static const enum object TASKS = FIRST, WAITS = SECOND;

static void acquire(const void *thing, enum object object)
{
	__tsan_acquire((char *)(uintptr_t)thing + object);
}

static void release(const void *thing, enum object object)
{
	__tsan_release((char *)(uintptr_t)thing + object);
}

/* The root of the access's datum. */
static const heddle_data *whole(const struct hd_access *a)
{
	return hd_data_root(a->private_copy ? a->private_copy : a->data);
}

static int writes(const struct hd_access *a)
{
	return a->private_copy || hd_mode_writes(a->mode);
}

static void acquire_data(const heddle_task *t)
{
	for (uint32_t i = 0; i < t->n_accesses; i++) {
		acquire(whole(&t->accesses[i]), WRITTEN);
		if (writes(&t->accesses[i]))
			acquire(whole(&t->accesses[i]), READ);
	}
}

void hd_tsan_submitted(const heddle_task *t)
{
	release(t, FIRST);
}

void hd_tsan_begins(const heddle_task *t)
{
	acquire(t, FIRST);
	acquire(hd_task_runtime(t), TASKS);
	acquire_data(t);
}

void hd_tsan_ends(heddle_task *t)
{
	const heddle_runtime *rt = hd_task_runtime(t);
	HD_HELD(&hd_task_runtime(t)->lock);
	for (uint32_t i = 0; i < t->n_accesses; i++)
		release(whole(&t->accesses[i]), writes(&t->accesses[i]) ? WRITTEN : READ);
	release(rt, WAITS);
	/* heddle_after may have named this task, or may name it later */
	if (t->extra || t->refs > 1)
		release(rt, TASKS);
}

void hd_tsan_control(const heddle_task *t)
{
	acquire_data(t);
	release(hd_task_runtime(t), TASKS);
}

void hd_tsan_waited(const heddle_runtime *rt)
{
	acquire(rt, WAITS);
}

void hd_tsan_lets_go(const heddle_runtime *rt)
{
	release(rt, WAITS);
	release(rt, TASKS);
}

void hd_tsan_tells(const void *there)
{
	release(there, FIRST);
}

void hd_tsan_hears(const void *there)
{
	acquire(there, FIRST);
}
