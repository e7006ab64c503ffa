/* The order of tasks, told to ThreadSanitizer. A program that is compiled with it, on a library that is not, would get
 * reports of races between tasks that depend on each other: the sanitizer does not see what Heddle's threads say to
 * each other. So it is told here what comes before what, by its own functions, and sees nothing else of Heddle: then
 * what it reports are races of the program. These functions are there only where the sanitizer is; in a library that is
 * compiled with it, it sees by itself.
 *
 * To release an object and to acquire it later orders what was done before the one with what is done after the other.
 * The objects are addresses, nothing is stored there:
 *
 *   a task      from its submission to its kernel
 *   a datum     two objects: from writers to all, from readers to writers. Children have those of the whole datum,
 *               because values go from one to another without a task of the program
 *   a team      two objects: from its master to the members; from what one has done to others behind a barrier
 *   a runtime   two objects: from what may concern any task to all kernels (controls, what the program has acquired,
 *               tasks that others can name); and from all tasks to waits
 */
#include "misuse.h"
#include "state/runtime.h"
#include "state/plan.h"
#include "internal.h"
#include "state/data.h"

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

enum object { FIRST = 0, SECOND = 8 };                   /* bytes from the begin of the thing */
static const enum object WRITTEN = FIRST, READ = SECOND; /* of a datum */
static const enum object TASKS = FIRST, WAITS = SECOND;  /* of a runtime: for whom */

static void acquire(const void *thing, enum object object)
{
	__tsan_acquire((char *)(uintptr_t)thing + object);
}

static void release(const void *thing, enum object object)
{
	__tsan_release((char *)(uintptr_t)thing + object);
}

/* The datum of the access that is no child. */
static const heddle_data *whole(const struct hd_access *a)
{
	const heddle_data *d = a->private_copy ? a->private_copy : a->data;
	while (d->plan)
		d = d->plan->data;
	return d;
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
	/* The program, or a task that it has submitted after this one, may name it. */
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
