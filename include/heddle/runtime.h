/* Starting and stopping a runtime, its settings, and waiting for its tasks. */
#ifndef HEDDLE_RUNTIME_H
#define HEDDLE_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heddle_runtime heddle_runtime;
struct heddle_platform;
struct heddle_policy;

/* The settings that only virtual time reads, in struct heddle_config. */
struct heddle_virtual_time {
	double noise;       /* relative standard deviation of execution times; 0: none */
	double sched_cost;  /* us that one scheduling decision takes */
	double expand_cost; /* us that a worker takes to expand a hierarchical task */
	/* us more for each task of the sub-graph. The tasks enter the graph when the time of the expansion is over */
	double submit_cost;
};

/* All settings. Fill this structure with heddle_config_init, which takes each field from the environment, from the
 * configuration file, or from the defaults, in this order; then change the fields that the program wants to differ.
 * `heddle config` lists the settings with their variables, units, ranges and meanings. Strings are borrowed until
 * heddle_start returns. */
struct heddle_config {
	/* CPU workers, each on a core of its own; -1: one per core, less one core for the thread of each CUDA or OpenCL
	 * device as long as one is left; more than there are cores is an error */
	int n_cpu;
	/* the cluster set, which says which cores of the CPU workers form clusters: heddle_platform_cluster. "": as the
	 * platform says; "adaptive": cores are merged into clusters and split while tasks run, docs/clusters.md;
	 * "auto": Heddle chooses. A command that knows the whole graph simulates the graph to choose; for a program's
	 * runtime, which does not know it, "auto" means "adaptive". The setting also holds in virtual time and for
	 * heddle_start_on */
	const char *clusters;
	/* CUDA devices, the first ones; -1: all that are found, which may be none; more than there are is an error,
	 * which says what is missing and how to get it */
	int n_cuda;
	int cuda_streams;     /* kernels that each of them may run at the same time */
	uint64_t cuda_memory; /* bytes of each device's memory that data may take; 0: nine tenths of the memory */
	/* number of OpenCL devices; -1: all, except devices that are driven by CUDA */
	int n_opencl;
	/* which devices n_opencl counts: "all", the devices of a type ("gpu", "cpu", "accelerator"), or the devices
	 * whose name, or the name of whose OpenCL platform, contains this text, in small or capital letters. `heddle
	 * machine` shows the names */
	const char *opencl_devices;
	int opencl_streams;
	uint64_t opencl_memory;
	int n_emulated;           /* emulated accelerators */
	int emulated_streams;     /* kernels that each of them may run at the same time */
	uint64_t emulated_memory; /* bytes of each one's memory; 0: no limit */
	double emulated_bandwidth, emulated_latency, emulated_slowdown; /* MB/s; us; factor */
	/* name of the policy; "auto": dmdas when the machine has more than one class of workers, lws otherwise */
	const char *sched;
	const char *sched_options; /* "name=value,name=value" for the policy; NULL: its defaults */
	/* plug-ins to load (heddle/plugin.h): paths of shared libraries, with colons between them; "": none */
	const char *plugins;
	/* how many devices of the kinds that plug-ins drive: "KIND=N,KIND=N", where -1 means all; all devices of kinds
	 * that are not named; "all": all devices */
	const char *devices;
	/* name or file of a platform: run in virtual time on that machine; NULL: run for real on this machine */
	const char *platform;
	/* how many tasks may be unfinished before heddle_submit waits; 0: no limit */
	int window;
	/* 1: worker 0 has no thread of its own; its tasks are run by the program's threads while they wait for the
	 * runtime. With `bind`, the thread that starts the runtime is bound to worker 0's core until some thread calls
	 * heddle_stop, which binds the starter as before. A starter that the program itself has bound to some of the
	 * process's cores stays there */
	int caller_works;
	int bind;  /* 1: bind worker threads to cores */
	int trace; /* 1: record events for heddle_trace_take */
	/* Files that heddle_stop writes, whatever the program does; "" or NULL: none. The trace, to one file or
	 * several with commas between them, which the program has not taken itself (heddle_trace_take): .trace, .json
	 * (Chrome), .csv, .paje, .png, .svg, .pdf, .dot (drawn); the graph of the tasks: .json, .dot. In a name, %p
	 * stands for the number of the process; of several runtimes in a process, the second adds -2 to the name, and
	 * so on. A file that cannot be written is named on standard error, and is no error of the program. Until
	 * the first trace is written, the tasks that have ended are appended once a second to a file of that name with
	 * ".part" behind, which a process that ends at once leaves (docs/trace.md); not in virtual time. The
	 * settings are called `trace` (which is the switch above, too), `record` and `explain` */
	const char *trace_file;
	const char *record;
	/* 1: heddle_stop writes to standard error, or to explain_file, if that is not "", what workers, codelets, links
	 * and memories did, and what the policy reports */
	int explain;
	const char *explain_file;
	/* 1: checking mode, which looks for actions that the program has not declared: a kernel writes beyond the end
	 * of its data, or into data that it only reads; a handle is used after its end ... Each is an error of the task
	 * or of the next wait, HEDDLE_E_MISUSE. Slow; no models are read or written. docs/debugging.md has the list */
	int check;
	/* 1: measure the time in the core, stats.core_time; costs two readings of the clock per entry */
	int time_core;
	int time_policy; /* 1: measure the time spent in the policy; costs two readings of the clock per call */
	/* how many samples a model of (codelet, class, size) needs before policies trust it; 0: trust any */
	int calibrate;
	/* directory of the models; "": the XDG data directory; "none": models are neither read nor written */
	const char *model_dir;
	/* how many sizes the model of each codelet remembers, besides those of unfinished tasks; 0: all. The least
	 * recently used sizes are forgotten; a regression keeps their contribution: heddle/model.h */
	int model_sizes;
	uint64_t seed; /* seed of all random numbers */
	/* whether hierarchical tasks whose codelets have no `expand` callback are expanded: "always"; "never"; "class":
	 * a task that a CPU would end first; "adaptive": docs/hierarchical.md */
	const char *expand;
	struct heddle_virtual_time virtual_time;
	/* 0, or the port at which http://127.0.0.1:PORT/ shows what workers and memories do, until heddle_stop has
	 * waited for the tasks; if the port is in use, the next free port, which standard error names. /state gives
	 * these figures as JSON. A thread of its own serves the page. Only programs on this machine can connect, but
	 * those of every user. Not in virtual time */
	int live;
	/* seconds without progress after which a blocked wait reports what hangs, again and again; 0: never; -1: after
	 * a minute, once more after ten minutes, and then no more */
	int watchdog;
	/* which copies leave a full memory: "next_use": the copies whose next use by the submitted tasks is furthest
	 * away; "lru": the least recently used copies */
	const char *eviction;
	int pipeline; /* tasks that an accelerator's worker may have at once; 0: as the platform says */
	/* For which worker the policy is asked first, among the workers that can take a task. 1: for workers of the
	 * fastest class: accelerators, then clusters, then cores; 0: for the worker that has ended a task, then for the
	 * worker that became idle last */
	int fastest_first;
	/* The function to which the watchdog gives its report, called in the thread that waits, with on_hang_arg; it
	 * may call the functions that a kernel may call. NULL, the default: the report goes to standard error. These
	 * two fields have no environment variable: only a program can set them. */
	void (*on_hang)(void *arg, const char *sentence);
	void *on_hang_arg;
	/* Called about ten times a second in each thread of the program that waits, and in virtual time after every
	 * thousand steps of the clock, with on_wait_arg: an interpreter may look for signals here, for example. If the
	 * function does not return 0, the wait ends with HEDDLE_E_INTERRUPTED, and can be begun again; a wait whose
	 * condition has come true meanwhile ends as if the function had returned 0. An interrupted heddle_acquire has
	 * not acquired. After an interrupted heddle_unregister the handle is what it was before. A submission that
	 * waits for room in the window goes through. heddle_stop cancels the tasks that have not begun and goes on.
	 * Kernels that wait do not call the function. It may call the functions that a callback may call. NULL, the
	 * default: none. These two fields have no environment variable, either. A thread that runs tasks while it waits
	 * (caller_works) calls the function only when it has found no task for a tenth of a second. */
	int (*on_wait)(void *arg);
	void *on_wait_arg;
};

/* Fills *config from the environment, the configuration file and the defaults. HEDDLE_E_FORMAT: a value is out of range
 * or of the wrong type, or a line of the file is not "name = value"; the message names the variable and the valid
 * range, or the line. HEDDLE_E_UNKNOWN: a HEDDLE_* variable looks like a misspelling of a known one (of a setting, or
 * of a policy's option: HEDDLE_<POLICY>_<OPTION>), which the message names; *config is filled all the same, and the
 * variable ignored. `heddle config` lists all HEDDLE_* variables that are unknown. */
int heddle_config_init(struct heddle_config *config);

/* Starts a runtime; a process may have several. NULL config: as heddle_config_init fills it. HEDDLE_E_INVALID names the
 * field of *config that is out of its range. HEDDLE_E_UNSUPPORTED: trace_file asks for a picture or a .dot file, which
 * libheddle-report.so draws, and this library cannot be loaded.
 *
 * The first start in a process looks at the machine through hwloc, which reads its own environment variables then.
 * Later starts use the result of the first. The cores are those to which the process is bound when the runtime starts;
 * but while other runtimes run, which may have bound threads to cores, the cores are those of the first of these
 * runtimes.
 *
 * A runtime belongs to the process that started it. A child made by fork has none of the runtime's threads: in the
 * child, every function that needs the runtime returns HEDDLE_E_STATE. That includes heddle_stop, which frees nothing;
 * the memory is freed when the child ends or calls exec. A child may start a runtime of its own. */
int heddle_start(const struct heddle_config *config, heddle_runtime **out);

/* Starts a runtime on the machine that `platform` describes, which is copied: in virtual time if `virtual_time`,
 * otherwise for real, on workers of the kinds that this build has a driver for ("cpu", "emulated", "opencl", "cuda");
 * a worker drives the device that its field `device` says. `config->platform` and the settings that count workers are
 * ignored. */
int heddle_start_on(const struct heddle_config *config, const struct heddle_platform *platform, int virtual_time,
                    heddle_runtime **out);

/* Describes this machine as heddle_start would see it with `config`; NULL: as heddle_config_init fills it. It has CPU
 * workers, then CUDA, OpenCL and emulated devices, in this order. The figures of links are assumed ones, which a
 * runtime replaces by measured ones. The caller owns *out and frees it with heddle_platform_free. Errors: those of
 * heddle_start for devices that are asked for and are not there. */
int heddle_platform_configured(const struct heddle_config *config, struct heddle_platform **out);

/* Waits for all tasks, brings the newest values into the program's buffers, stores the models, and frees the runtime
 * with all its objects (handles, codelets), whatever status it returns, except HEDDLE_E_STATE. Returns the first error
 * of a task that no wait has reported yet. HEDDLE_E_INTERRUPTED: on_wait wanted the wait to end (struct heddle_config),
 * so tasks that had not begun were cancelled, as by heddle_cancel_all, and those that ran have ended; data that
 * cancelled tasks were to write have no newest value. HEDDLE_E_CANCELLED: also where a task was to read a datum that no
 * task had written, which other waits report as HEDDLE_E_STATE. HEDDLE_E_STATE: called in a kernel, a callback, or a
 * child of fork; nothing has changed. `rt` may be NULL. Blocks. If the process ends by exit or a return from main
 * without heddle_stop, the files that the settings `trace`, `record` and `explain` ask for are written all the same, of
 * the tasks that had ended, and a line on standard error says so. */
int heddle_stop(heddle_runtime *rt);

/* Waits until every task submitted so far has ended and all reductions (HEDDLE_REDUX) are combined. Returns 0, or the
 * first error among the tasks without a group (heddle/group.h) that ended since the last heddle_wait_all
 * (HEDDLE_E_KERNEL: the message names the codelet, the task and the value that the kernel returned). HEDDLE_E_DEVICE: a
 * device was lost, and with it values of data, or the only worker that could run a task; the message names them. Tasks
 * that other workers could run have been run. The runtime can be used further even after an error. Blocks. */
int heddle_wait_all(heddle_runtime *rt);

/* Cancels all tasks that have not begun, as heddle_group_cancel cancels the tasks of a group. For a program that is to
 * end soon: heddle_stop then waits only for running tasks. Returns how many tasks were cancelled, or an error. Does not
 * block. */
int heddle_cancel_all(heddle_runtime *rt);

/* Pauses the workers: kernels that run are run to their ends, and no worker begins another task until heddle_resume
 * has been called as often as heddle_pause. The threads of workers sleep meanwhile. Returns at once. Tasks may be
 * submitted, and the window holds no submission back; external tasks, copies for the program (heddle_acquire) and
 * callbacks go on; a wait for tasks waits for heddle_resume, and is no deadlock. In virtual time, too: kernels that
 * run end at their times. heddle_stop resumes first. May be called by any thread, also from kernels and callbacks.
 * HEDDLE_E_STATE: in a child of fork, or heddle_stop has begun; HEDDLE_E_INVALID: rt is NULL. */
int heddle_pause(heddle_runtime *rt);
/* Ends a pause. HEDDLE_E_STATE: the runtime is not paused; otherwise as heddle_pause. */
int heddle_resume(heddle_runtime *rt);

/* The machine as this runtime sees it. */
const struct heddle_platform *heddle_runtime_platform(const heddle_runtime *rt);

/* 1: the runtime is in virtual time, where no kernel runs, so that data have no values; 0: it is not. */
int heddle_runtime_is_virtual(const heddle_runtime *rt);

/* Name of the policy that the runtime uses. */
const char *heddle_runtime_policy(const heddle_runtime *rt);

/* us since the runtime started: real or virtual. A policy asks heddle_sched_now instead. */
double heddle_now(heddle_runtime *rt);

/* Virtual time, for a program that drives several runtimes side by side: everything that has been submitted enters
 * the graph, and the clock goes on to the next event, if it is not later than `until` us; the event is handled with
 * all that follows from it at once, callbacks included. Returns 1, with the event's time in *time; 0 if there is no
 * event until then, with the time of the next one, or INFINITY, in *time; or an error. Returns 0, too, while a
 * callback runs in another thread. `until` NAN counts as INFINITY. Nothing else moves the clock, unless a thread
 * waits. HEDDLE_E_UNSUPPORTED: the runtime is not in virtual time; HEDDLE_E_STATE: called in a callback. */
int heddle_virtual_step(heddle_runtime *rt, double until, double *time);

/* Counters since the start, summed over all workers and nodes. */
struct heddle_stats {
	uint64_t tasks_submitted, tasks_executed, tasks_failed, tasks_cancelled;
	uint64_t transfers, bytes_moved, evictions, prefetches;
	/* workers whose devices are lost (HEDDLE_E_DEVICE), and how often a task was taken from one of them */
	uint64_t workers_lost, tasks_retried;
	uint64_t tasks_expanded; /* hierarchical tasks that have submitted their sub-graphs; they are not executed */
	/* us from the moment when the first task could run (when it was submitted, or when the program released the
	 * data that it had acquired) to the end of the last task; 0 until a task has ended. heddle_trace_makespan is
	 * the same for a trace. */
	double makespan;
	double last_end; /* us, on the clock of heddle_now: when the last task ended */
	/* us within the makespan, summed over processors: the cores of CPU workers, and accelerators. A processor is
	 * busy while its worker runs at least one kernel. A kernel may outlast its worker, which was retired
	 * (heddle/clusters.h) meanwhile: so busy may be more than driven, the time in which workers were driven. idle
	 * is what busy leaves of driven, at least 0. */
	double driven, busy, idle;
	double transfer_wait; /* us that workers waited for the data of a task they were to run next */
	/* How often a thread entered the core: the sequential part of the runtime (graph, policy, management of data),
	 * which one thread at a time executes. */
	uint64_t core_entries;
	double core_time; /* us of real time, even in virtual time, spent there; 0 unless config.time_core */
	/* us of real time, even in virtual time, spent in the policy's callbacks; 0 unless config.time_policy */
	double sched_time;
	/* calls of the policy: of `ready`, of `pick`, and of `pick` that returned NULL */
	uint64_t sched_batches, sched_picks, sched_picks_empty;
	uint64_t live_tasks, task_bytes; /* tasks that are unfinished now; bytes of memory that tasks take */
};
/* Copies the counters into *out. */
int heddle_runtime_stats(heddle_runtime *rt, struct heddle_stats *out);

/* What data take in one memory, without those of the program's own buffers; and counts since the start. */
struct heddle_memory_stats {
	uint64_t used, peak; /* bytes now; the maximum so far */
	uint64_t evictions;  /* data that had to leave because the memory was full */
};
/* HEDDLE_E_INVALID: the platform has no such node. May be called by any thread. */
int heddle_runtime_memory_stats(heddle_runtime *rt, unsigned node, struct heddle_memory_stats *out);

/* Checks whether the runtime's lists, counters, dependencies, copies of data and accounting of memory are consistent
 * with one another. Returns 0, or HEDDLE_E_STATE with a message that names the first inconsistency: then either Heddle
 * has an error, or the program has written to memory that is not its own; include the message when you report a hang.
 * For tests: it takes time in proportion to all tasks and data, and no task begins or ends meanwhile. May be called by
 * any thread, also from kernels and callbacks, but not from a policy or a can_run. HEDDLE_E_MEMORY: there was not
 * enough memory for the check. */
int heddle_selfcheck(heddle_runtime *rt);

#ifdef __cplusplus
}
#endif
#endif
