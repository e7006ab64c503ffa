/* Scheduling policies: the shipped ones and your own.
 *
 * A policy is plain sequential code. The core calls it under one lock, wakes workers, keeps time, checks, traces and
 * runs the tasks; the policy only decides. It never locks, sleeps, reads a clock of its own, and never touches a task
 * that it has given to a worker. The life of a task, as the policy sees it:
 *
 *   ready(batch)   every task that one completion, or one submission, made ready
 *   pick(worker)   the worker can take a task: give it one, or NULL. Asked again after the next ready or done, so a
 *                  task may be kept for a better worker, but not for ever: when every worker is idle, nothing is being
 *                  moved and pick has refused them all, the run has stopped (the core reports HEDDLE_E_DEADLOCK).
 *   started(task)  the kernel begins (optional)
 *   done(task)     the kernel has ended; or it never began, for lack of memory: every picked task comes here once
 *                  (optional)
 *
 * Only tasks that at least one worker can run are given. A picked task must be one that heddle_task_can_run(task,
 * worker) allows. Budget: O(log n) per call in the number of ready tasks.
 */
#ifndef HEDDLE_POLICY_H
#define HEDDLE_POLICY_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/task.h>
#include <heddle/platform.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEDDLE_POLICY_ABI 1

typedef struct heddle_sched heddle_sched; /* what the core offers to one instance of a policy */

/* An option of a policy: its default is text, as a user would write it. A unit like "none|some|all" lists the words
 * that it can be, and its number is the place of the word, from 0; "no|yes" also takes 0, 1, false and true. Otherwise
 * it is a number from min to max, or any text where min is not below max. */
struct heddle_option {
	const char *name, *value, *unit, *help; /* value: the default */
	double min, max;
};

struct heddle_policy {
	unsigned abi; /* HEDDLE_POLICY_ABI */
	const char *name, *summary;
	const char *source;                  /* paper, section, equation */
	const struct heddle_option *options; /* NULL, or an array ended by a NULL name */
	int pushes;                          /* it assigns tasks to workers when they become ready: for documentation */
	/* Makes the policy's state. Errors: a negative status; explain with heddle_sched_fail. */
	int (*create)(heddle_sched *sched, void **state);
	void (*destroy)(void *state);
	/* `releaser` is the worker whose task made the batch ready, -1 for a submission. */
	void (*ready)(void *state, heddle_task *const *batch, size_t n, int releaser);
	heddle_task *(*pick)(void *state, unsigned worker);
	void (*started)(void *state, heddle_task *task, unsigned worker); /* may be NULL */
	void (*done)(void *state, heddle_task *task, unsigned worker);    /* may be NULL */
	/* Statistics: call heddle_sched_count or heddle_sched_report for each, under a name of its own. May be NULL. */
	void (*report)(void *state, heddle_sched *sched);
};

/* Makes `policy` known to heddle_start under its name, for the whole process; the structure is borrowed for ever.
 * HEDDLE_E_INVALID: a required callback is missing, the name is taken by another, the ABI differs. */
int heddle_policy_register(const struct heddle_policy *policy);
/* All known policies, shipped ones first: a NULL-terminated array that the caller frees with free(). */
const struct heddle_policy **heddle_policies(void);
const struct heddle_policy *heddle_policy_find(const char *name); /* NULL: unknown; heddle_last_error lists them */

/* What the policy in charge of `rt` counted since the start: calls f(arg, name, value, unit) for each figure. */
int heddle_policy_report(heddle_runtime *rt, void (*f)(void *arg, const char *name, double value, const char *unit),
                         void *arg);
/* Only what adds up: two calls differ by what happened between them. */
int heddle_policy_counts(heddle_runtime *rt, void (*f)(void *arg, const char *name, double value, const char *unit),
                         void *arg);

/* --- What a policy may ask ---------------------------------------------------------------------------------------- */

const struct heddle_platform *heddle_sched_platform(const heddle_sched *s);
double heddle_sched_now(heddle_sched *s);                            /* us */
double heddle_sched_option(const heddle_sched *s, const char *name); /* the value in force, as a number */
const char *heddle_sched_option_text(const heddle_sched *s, const char *name);
uint64_t heddle_sched_random(heddle_sched *s); /* 64 random bits from the runtime's seed */
int heddle_sched_fail(heddle_sched *s, int status, const char *format, ...);
/* A figure for the report that adds up, such as tasks stolen; and one that does not, such as a mean or the longest
 * queue. */
void heddle_sched_count(heddle_sched *s, const char *name, double value, const char *unit);
void heddle_sched_report(heddle_sched *s, const char *name, double value, const char *unit);
/* Distance between two workers' places in the machine: 0 the same core, growing outwards (hwloc; nodes count most). */
unsigned heddle_sched_distance(const heddle_sched *s, unsigned worker_a, unsigned worker_b);
/* When `worker` will have finished the task it runs and those it has been given by pick, as predicted; at least now. */
double heddle_sched_worker_free_at(heddle_sched *s, unsigned worker);
/* Fewer samples than this of a (codelet, class, size): the class is being calibrated. */
unsigned heddle_sched_calibrate(const heddle_sched *s);

/* Links and a word that are the policy's while it holds the task: queueing can never fail. */
struct heddle_task_links {
	heddle_task *next, *prev, *child;
	union {
		uint64_t word;
		double key;
		void *ptr;
	} u;
};
struct heddle_task_links *heddle_task_link(heddle_task *t);

int heddle_task_priority(const heddle_task *t);
uint64_t heddle_task_order(const heddle_task *t); /* submission number: 0, 1, 2 ... */
heddle_codelet *heddle_task_codelet(const heddle_task *t);
int heddle_task_can_run(const heddle_task *t, unsigned worker);
int heddle_task_can_run_class(const heddle_task *t, unsigned class_id); /* some worker of that class can */
/* Predicted execution time on a class, us; NAN when unknown or impossible. */
double heddle_task_time(const heddle_task *t, unsigned class_id);
unsigned heddle_task_samples(const heddle_task *t, unsigned class_id); /* behind that prediction */
/* Bytes that would have to be brought to `node` now, and the predicted time for it (links alone, transfers in turn). */
uint64_t heddle_task_missing_bytes(const heddle_task *t, unsigned node);
double heddle_task_transfer_time(const heddle_task *t, unsigned node);
/* Starts bringing the task's data to `node`: call it as soon as the worker is decided. */
void heddle_task_prefetch(heddle_task *t, unsigned node);

size_t heddle_task_n_data(const heddle_task *t);
enum heddle_mode heddle_task_mode(const heddle_task *t, size_t i);
heddle_data *heddle_task_data(const heddle_task *t, size_t i);
uint64_t heddle_data_bytes(const heddle_data *d);
int heddle_data_valid_on(const heddle_data *d, unsigned node);

/* Calls `f` for each task submitted so far that waits directly for `t` through a datum or explicitly, once per datum (a
 * task that waits through two data is seen twice unless `once`); n_preds is the number of tasks it waited for when
 * submitted. */
void heddle_task_successors(heddle_task *t, int once, void (*f)(heddle_task *successor, unsigned n_preds, void *arg),
                            void *arg);

#ifdef __cplusplus
}
#endif
#endif
