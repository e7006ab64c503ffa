/* Scheduling policies: the shipped ones and your own.
 *
 * A policy is plain sequential code that decides which worker runs which task. The core does everything else: it calls
 * the policy under one lock, wakes workers, keeps time, and checks, traces and runs the tasks. A policy must not lock,
 * sleep, read a clock of its own, or touch a task that it has given to a worker. The life of a task, as the policy sees
 * it:
 *
 *   submitted(task) the task has entered the task graph; it may have to wait (optional)
 *   ready(batch)   every task that one completion, or one submission, made ready
 *   pick(worker)   the worker can take a task: give it one, or NULL. Asked again after the next ready or done, so a
 *                  task may be kept for a better worker, but not for ever: when every worker is idle, nothing is being
 *                  moved and pick has refused them all, the run has stopped (the core reports HEDDLE_E_DEADLOCK).
 *   started(task)  the kernel begins (optional)
 *   done(task)     the kernel has ended, and its worker is free; or it never began, for lack of memory, or because
 *                  the worker was lost or retired: every picked task comes here once (optional). A task that ends by an
 *                  event (heddle_detach) ends later: only then its successors become ready
 *   ended(task)    the task leaves the graph, whether it has run or was cancelled (optional)
 * When a device is lost (HEDDLE_E_DEVICE), or other CPU workers are driven (heddle/clusters.h), heddle_task_can_run and
 * similar functions leave out lost and retired workers, and these workers do not pick. The tasks that they had picked
 * become ready once more. In the following cases the instance of the policy goes on, which costs little however many
 * tasks are ready, unless only retired workers can run many of them:
 *
 *   with `changed`     if other CPU workers are driven: any worker, also one that is driven later, finds the tasks
 *   with `take_back`   if other CPU workers are driven, or if a device is lost: the policy gives back the tasks that
 *                      it has placed for lost and retired workers and, if more cores are driven than before, some
 *                      tasks that it has placed for other workers; these tasks come to `ready` again
 *   with both          if other CPU workers are driven; the policy gives back the tasks that no other worker would find
 *
 * Otherwise the instance is destroyed, with all tasks that it still has, and a new instance is created, which gets all
 * ready tasks in one batch; `started` and `done` are not called for tasks that were picked before. If the policy has
 * `submitted`, the new instance is first told of all tasks in the graph, in the order of their submission.
 *
 * The policy gets only tasks that at least one worker can run. `pick` must return a task that heddle_task_can_run(task,
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

#define HEDDLE_POLICY_ABI 4

typedef struct heddle_sched heddle_sched; /* one instance of a policy, as the core sees it */

/* An option of a policy. `value` is its default, written as a user would write it. A unit like "none|some|all" lists
 * the words that the option accepts; heddle_sched_option then gives the index of the word in the list, from 0 ("no|yes"
 * also accepts 0, 1, false and true). With another unit, the option is a number from min to max if min < max, and
 * otherwise any text. */
struct heddle_option {
	const char *name, *value, *unit, *help;
	double min, max;
};

struct heddle_policy {
	unsigned abi; /* HEDDLE_POLICY_ABI */
	const char *name, *summary;
	const char *source;                  /* origin of the algorithm: paper, section, equation */
	const struct heddle_option *options; /* NULL, or an array ended by a NULL name */
	/* 1: the policy assigns a task to a worker when the task becomes ready. Users are shown this; and a task for a
	 * worker whose kernel waits, and which must not begin this task yet, is not taken over by workers of other
	 * classes. */
	int pushes;
	/* Makes the policy's *state. Returns 0, or a negative status after explaining the error with
	 * heddle_sched_fail. */
	int (*create)(heddle_sched *sched, void **state);
	void (*destroy)(void *state); /* also with tasks that `pick` has not returned */
	/* The tasks of `batch` have become ready, because a task of worker `releaser` has ended or, if `releaser` is
	 * -1, because they were submitted; or the tasks are still ready after the set of workers has changed. */
	void (*ready)(void *state, heddle_task *const *batch, size_t n, int releaser);
	/* A task for `worker`, or NULL. */
	heddle_task *(*pick)(void *state, unsigned worker);
	/* started: the task begins; done: it has ended. `worker` is the worker for which `pick` returned the task,
	 * although another worker may have taken the task over. Both functions may be NULL. */
	void (*started)(void *state, heddle_task *task, unsigned worker);
	void (*done)(void *state, heddle_task *task, unsigned worker);
	/* Reports the policy's statistics: calls heddle_sched_count or heddle_sched_report for each figure, with a name
	 * of its own. May be NULL. */
	void (*report)(void *state, heddle_sched *sched);
	/* May be NULL. Gives back a task that was placed for `worker`, as if the task had never been ready; NULL: there
	 * is none any more. Called for each worker that is lost or retired until it returns NULL: for the first tasks
	 * when the set of workers has changed, for the others when a worker finds no task. If more cores are driven
	 * than before, and there is no `changed`, also called for each worker that stays driven, at most as often as
	 * the policy has tasks when the set changes. For a driven worker (heddle_sched_driven) the function should give
	 * back the last task of the queue: if the task is placed there again, it comes behind all others. */
	heddle_task *(*take_back)(void *state, unsigned worker);
	/* May be NULL. Other CPU workers are driven than before: heddle_sched_driven says which. Called before
	 * `take_back` and `ready`. For policies in which every worker that can run a task finds the task, even a worker
	 * that is driven only later, except for tasks that `take_back` gives back. So decisions at `ready` must depend
	 * on heddle_task_could_run and similar functions. The policy may keep tasks that only retired workers can
	 * run. */
	void (*changed)(void *state);
	/* May be NULL. `task` has entered the graph, in the order of submission, and will wait, become ready, or be
	 * cancelled. Also called for the tasks of sub-graphs and for hierarchical tasks, and for the steps of
	 * reductions. The task has its data, priority, codelet and predicted times. Its successors are submitted later.
	 * heddle_task_link must not be used before `ready`; heddle_task_word has room for the policy. */
	void (*submitted)(void *state, heddle_task *task);
	/* May be NULL; only called if the policy has `submitted`: once for each task that came to `submitted`, after
	 * `done`, and before its successors become ready. A hierarchical task that was expanded ends with the last task
	 * of its sub-graph, and never comes to `ready`. A task that is cancelled while it waits comes
	 * here without `ready`; a task that the policy has is not ended before the policy has given it away. The policy
	 * must not touch the task later.
	 * `destroy` is also called with tasks that have not ended. */
	void (*ended)(void *state, heddle_task *task);
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
/* Calls f for the figures of heddle_policy_report that are counts or sums (heddle_sched_count): the difference of two
 * calls is what happened between them. When the policy's instance is made anew, counts begin at 0 again. */
int heddle_policy_counts(heddle_runtime *rt, void (*f)(void *arg, const char *name, double value, const char *unit),
                         void *arg);

/* --- What a policy may ask ---------------------------------------------------------------------------------------- */

/* The machine to schedule on. */
const struct heddle_platform *heddle_sched_platform(const heddle_sched *s);
/* Whether a worker is driven: neither retired nor lost. */
int heddle_sched_driven(const heddle_sched *s, unsigned worker);
/* us since the start of the runtime, real or virtual. */
double heddle_sched_now(heddle_sched *s);
/* The value of an option: as a number (see struct heddle_option), and as text. */
double heddle_sched_option(const heddle_sched *s, const char *name);
const char *heddle_sched_option_text(const heddle_sched *s, const char *name);
uint64_t heddle_sched_random(heddle_sched *s); /* 64 random bits from the runtime's seed */
/* Leaves the sentence (printf-like) for heddle_last_error and returns `status`. */
int heddle_sched_fail(heddle_sched *s, int status, const char *format, ...);
/* Called by `report`, once per figure: heddle_sched_count for a count or a sum, such as tasks stolen;
 * heddle_sched_report for another figure, such as a mean or the longest queue. */
void heddle_sched_count(heddle_sched *s, const char *name, double value, const char *unit);
void heddle_sched_report(heddle_sched *s, const char *name, double value, const char *unit);
/* How far apart two workers are in the machine: 0 for the same worker; it grows with the height of the common ancestor
 * of their cores in hwloc's tree, and is largest when their memory nodes differ. */
unsigned heddle_sched_distance(const heddle_sched *s, unsigned worker_a, unsigned worker_b);
/* The first node for which transfers from main memory are predicted as for `node`, whatever the datum; in real time,
 * where links are measured, and for main memory, `node` itself. It is the same for the whole run. */
unsigned heddle_sched_alike(const heddle_sched *s, unsigned node);
/* The predicted time, in us since the start, when `worker` will have finished the tasks that it runs and those that
 * `pick` has given it; never earlier than now. For a worker with several streams (struct heddle_class) the prediction
 * assumes that all streams are busy: another task makes the time later by its heddle_task_time. */
double heddle_sched_worker_free_at(heddle_sched *s, unsigned worker);
/* The two parts of heddle_sched_worker_free_at, which is max(now, *until) + *backlog. *until: when the worker's running
 * kernel is predicted to end, in us since the start, -INFINITY if no kernel runs. *backlog: the predicted time, in us,
 * of the tasks that `pick` has given the worker and that have not begun. Time alone changes neither, so a policy may
 * keep both in a data structure until heddle_sched_moved names the worker. */
void heddle_sched_worker_load(heddle_sched *s, unsigned worker, double *until, double *backlog);
/* The workers, each once, for which the result of heddle_sched_worker_load or heddle_sched_driven may have changed
 * since the last call of this function; at the first call after `create`, all workers. Returns how many. The array
 * *workers belongs to the core, and does not change until the next call. For policies that must not look at each of
 * thousands of workers. */
size_t heddle_sched_moved(heddle_sched *s, const unsigned **workers);
/* Puts a worker into a group; a closed group saves calls of `pick`. Whenever tasks are ready, the core calls `pick` for
 * all workers that can hold another task, in an order of its own, which takes long if thousands of workers are idle. A
 * policy that knows for which workers it has no task puts the workers into groups, in `create`: the groups are numbered
 * from 0, `group` is less than the number of workers, and group 0 has the workers for which this function was not
 * called. Outside `create` heddle_sched_group changes nothing, and the next heddle_wait_all returns HEDDLE_E_STATE. A
 * group is open at first. The policy may close and open it in any callback, in `create` after all workers are in their
 * groups. While a group is closed, `pick` must return NULL for each of its workers, and the core seldom calls it for
 * them: for a worker that has just ended a task, say. */
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

/* One word for the policy, from `submitted` until `ended`, and 0 at first. NULL: the policy has no `submitted`. */
uint64_t *heddle_task_word(heddle_task *t);

int heddle_task_priority(const heddle_task *t);   /* larger is more urgent */
uint64_t heddle_task_order(const heddle_task *t); /* submission number: 0, 1, 2 ... */
heddle_codelet *heddle_task_codelet(const heddle_task *t);
/* Whether the worker can run the task. */
int heddle_task_can_run(const heddle_task *t, unsigned worker);
/* Whether some worker of the class can run the task. */
int heddle_task_can_run_class(const heddle_task *t, unsigned class_id);
/* Whether all workers of the class can run the task: 1 if each can, 0 if none can; -1: ask heddle_task_can_run for each
 * worker, because the task is bound to a worker, its codelet has a can_run, or its data may not fit into all
 * memories. */
int heddle_task_can_run_all(const heddle_task *t, unsigned class_id);
/* What heddle_task_can_run and heddle_task_can_run_class would return if all workers were driven. */
int heddle_task_could_run(const heddle_task *t, unsigned worker);
int heddle_task_could_run_class(const heddle_task *t, unsigned class_id);
/* Predicted execution time on a class, us; NAN when it is unknown or the class cannot run the task. If the workers of
 * the class have several streams, this is the part of a worker's time that the task takes when all streams are busy:
 * the time of the kernel alone, divided by `streams` * heddle_class_rate(class, `streams`). So the times of the tasks
 * that wait for a worker add up to the time that the worker will take, whatever its number of streams. For kernels that
 * run beside others, models also measure the kernel's part of the time. */
double heddle_task_time(const heddle_task *t, unsigned class_id);
/* The number of measured executions behind the prediction of heddle_task_time. */
unsigned heddle_task_samples(const heddle_task *t, unsigned class_id);
/* Bytes of the task's data that have no valid copy on `node` now, and the predicted time, us, of transferring them
 * there, one after the other over idle links. */
uint64_t heddle_task_missing_bytes(const heddle_task *t, unsigned node);
double heddle_task_transfer_time(const heddle_task *t, unsigned node);
/* Sets us[node] to heddle_task_transfer_time for every node of the platform. Cheaper than one call for each node. */
void heddle_task_transfer_times(const heddle_task *t, double *us);
/* The predicted times of transferring a task's data, for machines with many nodes, of which few hold any of the data.
 * Lists in `nodes` those that may hold some, main memory included, sets us[node] to heddle_task_transfer_time for each
 * of them, and returns how many they are. For every other node the time is far[heddle_sched_alike(node)]: those entries
 * are set, for all nodes, to a time that no listed node alike exceeds, or to INFINITY if all nodes are listed, as they
 * are where accelerators have links between them, or few are alike. The arrays have room for all nodes. */
size_t heddle_task_transfer_times_apart(const heddle_task *t, double *far, double *us, unsigned *nodes);
/* Sets us[node], for every node of the platform, to the predicted time, in us since the start, at which all data of the
 * task could be valid on the node, if the missing ones were requested now: later than what waits for the link into the
 * node (heddle_sched_link_free_at), and not before the data that are on their way arrive. Now: all are there.
 * `transfer`, unless it is NULL, gets what heddle_task_transfer_times gives. */
void heddle_task_arrivals(const heddle_task *t, double *us, double *transfer);
/* Requests transfers of the task's data to `node`: call this function as soon as the worker is decided. The request is
 * a hint, as of heddle_prefetch; earlier requests go first, and all go after the transfers for which tasks wait. */
void heddle_task_prefetch(heddle_task *t, unsigned node);
/* The predicted time, in us since the start, when the link into a node will have moved all that is requested now;
 * never earlier than now. */
double heddle_sched_link_free_at(heddle_sched *s, unsigned node);

/* How many data the task accesses, and the access mode and the handle of the i-th. */
size_t heddle_task_n_data(const heddle_task *t);
enum heddle_mode heddle_task_mode(const heddle_task *t, size_t i);
heddle_data *heddle_task_data(const heddle_task *t, size_t i);
/* The size of a datum, and whether a node has a valid copy of the datum. */
uint64_t heddle_data_bytes(const heddle_data *d);
int heddle_data_valid_on(const heddle_data *d, unsigned node);
/* Requests a transfer of one datum to a node, as heddle_task_prefetch does for all data of a task. Requests of larger
 * `urgency` go first, equal ones in the order in which they came; heddle_task_prefetch and heddle_prefetch ask with
 * urgency 0. A second request for the same node only makes the first one as urgent as the larger of both. */
void heddle_data_prefetch(heddle_data *d, unsigned node, int urgency);
/* Takes a request for a datum and a node back, whoever made it. Returns 1 if nothing of it is left; 0 if there was
 * none, if a task waits for the datum, or if the transfer has begun. */
int heddle_data_prefetch_cancel(heddle_data *d, unsigned node);

/* Calls `f` for each task submitted so far that waits directly for `t`, through a datum or explicitly; `t` may itself
 * wait, be ready or run. Only tasks that a worker will run are passed: cancelled and hierarchical ones are not. A task
 * that waits for `t` in two ways, through two data for example, is passed twice, unless `once`. `n_preds` is how many
 * tasks the successor waited for when it was submitted. O(successors) if `t` is ready or runs; if it waits, the other
 * tasks of its own group of readers are passed over as well. Of data with plans, only tasks are passed that
 * wait at the same handle. */
void heddle_task_successors(heddle_task *t, int once, void (*f)(heddle_task *successor, unsigned n_preds, void *arg),
                            void *arg);
/* Whether the order between `t` and other tasks follows from heddle_task_data and heddle_task_mode alone: `t` has no
 * explicit successors so far and no unordered access, and none of its data has a plan or belongs to one. Then a policy
 * that knows all submitted tasks finds the successors of all of them in one pass backwards, without
 * heddle_task_successors: consecutive accesses to a datum that only read (HEDDLE_R, HEDDLE_SCRATCH), that commute or
 * that reduce are a group; a group waits for the one before. */
int heddle_task_is_plain(const heddle_task *t);

#ifdef __cplusplus
}
#endif
#endif
