/* Scheduling policies: the shipped ones and your own.
 *
 * A policy is plain sequential code that decides which worker runs which task. The core does everything else: it calls
 * the policy under one lock, wakes workers, keeps time, and checks, traces and runs the tasks. A policy must not lock,
 * sleep, read a clock of its own, or touch a task that it has given to a worker. The life of a task, as the policy sees
 * it:
 *
 *   ready(batch)   every task that one completion, or one submission, made ready
 *   pick(worker)   the worker can take a task: give it one, or NULL. Asked again after the next ready or done, so a
 *                  task may be kept for a better worker, but not for ever: when every worker is idle, nothing is being
 *                  moved and pick has refused them all, the run has stopped (the core reports HEDDLE_E_DEADLOCK).
 *   started(task)  the kernel begins (optional)
 *   done(task)     the kernel has ended, and its worker is free; or it never began, for lack of memory, or because
 *                  the worker was lost or retired: every picked task comes here once (optional). A task that ends by an
 *                  event (heddle_detach) ends later: only then its successors become ready
 * When a device is lost (HEDDLE_E_DEVICE), or other CPU workers are driven (heddle/clusters.h), heddle_task_can_run and
 * the functions like it leave out the workers that are lost or retired, which do not pick. What they had picked becomes
 * ready once more. In these cases the instance of the policy goes on, which costs little however many tasks are ready,
 * unless there are many that only retired workers can run:
 *
 *   a policy with `changed`   if other CPU workers are driven: its tasks are for all workers, whenever these are driven
 *   one with `take_back`      if others are driven, or if a device is lost: it gives back what it has placed for
 *                             workers that are out and, if more cores are driven than before, some of what it has
 *                             placed for others, and is given that once more
 *   one with both             if others are driven; it gives back what no other worker would find
 *
 * Otherwise it is destroyed, whatever it still has, and another one is created, which is given all ready tasks in one
 * batch; it hears nothing of the tasks that were picked before.
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

#define HEDDLE_POLICY_ABI 3

typedef struct heddle_sched heddle_sched; /* one instance of a policy, as the core sees it */

/* An option of a policy. `value` is its default, written as a user would write it. A unit like "none|some|all" lists
 * the words that the option can be; heddle_sched_option then gives the place of the word in the list, from 0 ("no|yes"
 * also accepts 0, 1, false and true). With another unit, the option is a number from min to max if min < max, or else
 * any text. */
struct heddle_option {
	const char *name, *value, *unit, *help;
	double min, max;
};

struct heddle_policy {
	unsigned abi; /* HEDDLE_POLICY_ABI */
	const char *name, *summary;
	const char *source;                  /* where the algorithm is from: paper, section, equation */
	const struct heddle_option *options; /* NULL, or an array ended by a NULL name */
	/* 1: the policy assigns a task to a worker when it becomes ready. Shown to users; and what it gives a worker
	 * whose kernel waits, and that worker must not begin yet, is left alone by workers of other classes. */
	int pushes;
	/* Makes the policy's *state. Returns 0, or a negative status after explaining the error with
	 * heddle_sched_fail. */
	int (*create)(heddle_sched *sched, void **state);
	void (*destroy)(void *state); /* with all tasks that it has not given away */
	/* The tasks of `batch` have become ready, or are ready still after the set of workers has changed: because a
	 * task of worker `releaser` has ended or, if that is -1, because they were submitted. */
	void (*ready)(void *state, heddle_task *const *batch, size_t n, int releaser);
	/* A task for `worker`, or NULL. */
	heddle_task *(*pick)(void *state, unsigned worker);
	/* The task begins, and has ended. `worker` is the one that `pick` gave it to, though another may have taken it
	 * over. Both may be NULL. */
	void (*started)(void *state, heddle_task *task, unsigned worker);
	void (*done)(void *state, heddle_task *task, unsigned worker);
	/* Reports the policy's statistics: calls heddle_sched_count or heddle_sched_report for each figure, each with
	 * another name. May be NULL. */
	void (*report)(void *state, heddle_sched *sched);
	/* May be NULL. Gives back a task that was placed for `worker`, as if it had never been ready, or NULL: there is
	 * none any more. Called for each worker that is lost or retired: for the first tasks when the set of workers
	 * has changed, for others when a worker finds no task, until all return NULL. If more cores are driven than
	 * before, and there is no `changed`, then also for each worker that was driven before and is still, at most as
	 * often as the policy has tasks when the set changes. For a worker that is driven (heddle_sched_driven) it
	 * should be the last task of its queue: if the task is placed there again, it comes behind all others. */
	heddle_task *(*take_back)(void *state, unsigned worker);
	/* May be NULL. Other CPU workers are driven than before: heddle_sched_driven says which. Called before
	 * `take_back` and `ready`. For policies in which every worker that can run a task finds it, even a worker that
	 * is driven only later, except for tasks that `take_back` gives back. So what is decided when a task becomes
	 * ready must depend on heddle_task_could_run and its like. The policy may keep tasks that only retired workers
	 * can run. */
	void (*changed)(void *state);
};

/* Makes `policy` known to heddle_start under its name, for the whole process; the structure is borrowed for ever.
 * HEDDLE_E_INVALID: a required callback is missing, another policy has the name, or `abi` is not HEDDLE_POLICY_ABI. */
int heddle_policy_register(const struct heddle_policy *policy);
/* All known policies, shipped ones first: a NULL-terminated array that the caller frees with free(). */
const struct heddle_policy **heddle_policies(void);
/* The policy of that name. NULL: there is none; heddle_last_error lists the names. */
const struct heddle_policy *heddle_policy_find(const char *name);

/* The statistics of the policy that `rt` uses, since the start: calls f(arg, name, value, unit) for each figure. */
int heddle_policy_report(heddle_runtime *rt, void (*f)(void *arg, const char *name, double value, const char *unit),
                         void *arg);
/* The same, but only the figures that are counts or sums (heddle_sched_count): the difference of two calls is what
 * happened between them. When the instance is made anew, they begin at 0 again. */
int heddle_policy_counts(heddle_runtime *rt, void (*f)(void *arg, const char *name, double value, const char *unit),
                         void *arg);

/* --- What a policy may ask ---------------------------------------------------------------------------------------- */

/* The machine to schedule on. */
const struct heddle_platform *heddle_sched_platform(const heddle_sched *s);
/* Whether a worker is driven: neither retired nor lost. */
int heddle_sched_driven(const heddle_sched *s, unsigned worker);
/* us since the start of the runtime, real or virtual. */
double heddle_sched_now(heddle_sched *s);
/* The value in force of an option: as a number (see struct heddle_option), and as text. */
double heddle_sched_option(const heddle_sched *s, const char *name);
const char *heddle_sched_option_text(const heddle_sched *s, const char *name);
uint64_t heddle_sched_random(heddle_sched *s); /* 64 random bits from the runtime's seed */
/* Leaves the sentence (printf-like) for heddle_last_error and returns `status`. */
int heddle_sched_fail(heddle_sched *s, int status, const char *format, ...);
/* Called by `report`, once per figure: heddle_sched_count for a count or a sum, such as tasks stolen;
 * heddle_sched_report for another figure, such as a mean or the longest queue. */
void heddle_sched_count(heddle_sched *s, const char *name, double value, const char *unit);
void heddle_sched_report(heddle_sched *s, const char *name, double value, const char *unit);
/* How far apart two workers are in the machine: 0 for the same worker; more the higher up the levels of hwloc's tree
 * their cores meet; most when their memory nodes differ. */
unsigned heddle_sched_distance(const heddle_sched *s, unsigned worker_a, unsigned worker_b);
/* The predicted time, in us since the start, when `worker` will have finished the tasks that it runs and those that
 * `pick` has given it; never earlier than now. A worker with several streams (struct heddle_class) is supposed to be
 * given other tasks, so that all streams are busy: another task makes this later by its heddle_task_time. */
double heddle_sched_worker_free_at(heddle_sched *s, unsigned worker);
/* The two parts of heddle_sched_worker_free_at, which is max(now, *until) + *backlog: when the kernel that the worker
 * runs is predicted to end, in us since the start, -INFINITY if it runs none; and the predicted time, in us, of the
 * tasks that `pick` has given it and that have not begun. Time alone changes neither, so a policy may keep them in a
 * data structure until heddle_sched_moved names the worker. */
void heddle_sched_worker_load(heddle_sched *s, unsigned worker, double *until, double *backlog);
/* The workers, each once, for which heddle_sched_worker_load or heddle_sched_driven may say something else than at the
 * last call of this function; at the first call after `create`, all workers. Returns how many. The array *workers is
 * the core's, and stays as it is until the next call. For policies that must not look at each of thousands of
 * workers. */
size_t heddle_sched_moved(heddle_sched *s, const unsigned **workers);
/* Says which workers can be asked for nothing. The core asks all workers that can hold another task, in an order of its
 * own, whenever tasks are ready, which is a lot of questions where thousands of workers are idle. A policy that knows
 * better puts its workers into groups, in `create`: the groups are numbered from 0, `group` is less than the number of
 * workers, and a worker that is put nowhere is in group 0. Outside `create` heddle_sched_group changes nothing, and the
 * next heddle_wait_all returns HEDDLE_E_STATE. A group is open at first. The policy may close and open it in any
 * callback, in `create` after all workers are in their groups. While a group is closed, `pick` must return NULL for
 * each of its workers, and the core seldom calls it for them: for a worker that has just ended a task, say. */
void heddle_sched_group(heddle_sched *s, unsigned worker, unsigned group);
void heddle_sched_open(heddle_sched *s, unsigned group, int open);
/* The setting `calibrate`: while heddle_task_samples of a task and class is below this number, a policy that uses
 * models runs such tasks on that class to measure them. */
unsigned heddle_sched_calibrate(const heddle_sched *s);

/* Room inside each task for pointers and one word that the policy may use between `ready` and `pick`, so that it can
 * queue a task without allocating memory. */
struct heddle_task_links {
	heddle_task *next, *prev, *child;
	union {
		uint64_t word;
		double key;
		void *ptr;
	} u;
};
struct heddle_task_links *heddle_task_link(heddle_task *t); /* the links of `t` */

int heddle_task_priority(const heddle_task *t);   /* larger is more urgent */
uint64_t heddle_task_order(const heddle_task *t); /* submission number: 0, 1, 2 ... */
heddle_codelet *heddle_task_codelet(const heddle_task *t);
/* Whether that worker can run the task. */
int heddle_task_can_run(const heddle_task *t, unsigned worker);
/* Whether some worker of that class can run the task. */
int heddle_task_can_run_class(const heddle_task *t, unsigned class_id);
/* Whether all workers of that class can run the task: 1 if each can, 0 if none can; -1: ask
 * heddle_task_can_run for each, because the task is bound to one, its codelet has a can_run, or its data may not fit
 * into all memories. */
int heddle_task_can_run_all(const heddle_task *t, unsigned class_id);
/* What heddle_task_can_run and heddle_task_can_run_class say, or would say if all workers were driven. */
int heddle_task_could_run(const heddle_task *t, unsigned worker);
int heddle_task_could_run_class(const heddle_task *t, unsigned class_id);
/* Predicted execution time on a class, us; NAN when it is unknown or the class cannot run the task. If the workers of
 * the class have several streams, this is the part of a worker's time that the task takes when all streams are busy:
 * the time of the kernel alone divided by `streams` times heddle_class_rate for that many. So the times of the tasks
 * that wait for a worker add up to what it will take for them, whatever its streams. What is measured of a kernel that
 * ran beside others is its part of the time, too. */
double heddle_task_time(const heddle_task *t, unsigned class_id);
/* How many measured executions that prediction is based on. */
unsigned heddle_task_samples(const heddle_task *t, unsigned class_id);
/* Bytes of the task's data that have no valid copy on `node` now, and the predicted time, us, of transferring them
 * there, one after the other over idle links. */
uint64_t heddle_task_missing_bytes(const heddle_task *t, unsigned node);
double heddle_task_transfer_time(const heddle_task *t, unsigned node);
/* Starts to transfer the task's data to `node`: call it as soon as the worker is decided. A hint like heddle_prefetch;
 * of several, those that were asked for first move first, after all that tasks wait for. */
void heddle_task_prefetch(heddle_task *t, unsigned node);

/* How many data the task accesses, and the access mode and the handle of the i-th. */
size_t heddle_task_n_data(const heddle_task *t);
enum heddle_mode heddle_task_mode(const heddle_task *t, size_t i);
heddle_data *heddle_task_data(const heddle_task *t, size_t i);
/* The size of a datum, and whether a node has a valid copy of it. */
uint64_t heddle_data_bytes(const heddle_data *d);
int heddle_data_valid_on(const heddle_data *d, unsigned node);

/* Calls `f` for each task submitted so far that waits directly for `t`, through a datum or explicitly. A task that
 * waits for `t` in two ways, through two data for example, is passed twice, unless `once`. `n_preds` is how many tasks
 * the successor waited for when it was submitted. */
void heddle_task_successors(heddle_task *t, int once, void (*f)(heddle_task *successor, unsigned n_preds, void *arg),
                            void *arg);

#ifdef __cplusplus
}
#endif
#endif
