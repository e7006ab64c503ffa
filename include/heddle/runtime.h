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

/* All settings. Fill this structure with heddle_config_init, which gives each field its default, or the value from the
 * configuration file, or the value from the environment, which wins; then change what the program wants otherwise.
 * `heddle config` lists the settings with their variables, units, ranges and meanings. Strings are borrowed until
 * heddle_start returns. */
struct heddle_config {
	/* CPU workers, each on a core of its own; -1: one per core, less one core for the thread of each CUDA or OpenCL
	 * device as long as one is left; more than there are cores is an error */
	int n_cpu;
	/* how the cores of the CPU workers are grouped into clusters: heddle_platform_cluster; "": as the platform
	 * says; "adaptive": they are merged and split while tasks run, docs/clusters.md. "auto": Heddle chooses. A
	 * command that knows the whole graph simulates it first; to a program's runtime, which does not, this means
	 * "adaptive". This also holds in virtual time and for heddle_start_on */
	const char *clusters;
	/* CUDA devices, the first ones; -1: all that are found, which may be none; more than there are is an error,
	 * which says what is missing and how to get it */
	int n_cuda;
	int cuda_streams;     /* kernels that each of them may run at the same time */
	uint64_t cuda_memory; /* bytes of each one's memory that data may take; 0: nine tenths of it */
	/* the same for OpenCL; -1: all but those that are used as CUDA devices */
	int n_opencl;
	/* which devices n_opencl counts: "all", those of a type ("gpu", "cpu", "accelerator"), or those with this in
	 * their name or that of their platform, in small or capital letters. `heddle machine` shows the names */
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
	/* how many devices of the kinds that plug-ins drive: "KIND=N,KIND=N", where -1 is all, and so are those of
	 * kinds that are not named; "all": all */
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
	/* 1: look for programs that do what they have not declared: a kernel writes beyond the end of its data, or into
	 * data that it only reads; a handle is used after its end ... What is found is an error of the task or of the
	 * next wait, HEDDLE_E_MISUSE. Slow; no models are read or written. docs/debugging.md has the list */
	int check;
	/* 1: measure the time in the core, stats.core_time; costs two readings of the clock per entry */
	int time_core;
	int time_policy; /* 1: measure the time spent in the policy; costs two readings of the clock per call */
	/* how many samples a model of (codelet, class, size) needs before policies trust it; 0: trust any */
	int calibrate;
	/* directory of the models; "": the XDG data directory; "none": models are neither read nor written */
	const char *model_dir;
	/* how many sizes the model of each codelet remembers, besides those of unfinished tasks; 0: all. Those used
	 * longest ago are forgotten; a regression keeps what it learnt from them: heddle/model.h */
	int model_sizes;
	uint64_t seed; /* seed of all random numbers */
	/* whether hierarchical tasks are expanded whose codelets have no `expand` callback: "always", "never", "class":
	 * those that a CPU would end first, or "adaptive": docs/hierarchical.md */
	const char *expand;
	struct heddle_virtual_time virtual_time;
	/* 0, or the port at which http://127.0.0.1:PORT/ shows what workers and memories do, until heddle_stop has
	 * waited for the tasks; the next free port, which standard error names, if that one is in use. /state is the
	 * same as JSON. Served by a thread of its own. Only programs on this machine can connect, but those of every
	 * user. Not in virtual time */
	int live;
	/* seconds without progress after which a blocked wait reports what hangs, again and again; 0: never; -1: after
	 * a minute, once more after ten minutes, and then no more */
	int watchdog;
	/* which copies leave a memory that is full: "next_use", those that the submitted tasks need last, or "lru",
	 * those that were used longest ago */
	const char *eviction;
	int pipeline; /* tasks that an accelerator's worker may have at once; 0: as the platform says */
	/* Whom the policy is asked for first, of the workers that can take a task. 1: those of the fastest class, that
	 * is accelerators, then clusters, then cores; 0: the worker that has ended a task, then the one that became
	 * idle last */
	int fastest_first;
	/* The function to which the watchdog gives its report, called in the thread that waits, with on_hang_arg; it
	 * may call what a kernel may call. NULL, the default: the report goes to standard error. (What else the library
	 * writes there: `explain`, and reports of heddle_stop that could not be written.) These two fields have no
	 * environment variable: only a program can set them. */
	void (*on_hang)(void *arg, const char *sentence);
	void *on_hang_arg;
	/* Called about ten times a second in each thread of the program that waits, and in virtual time after every
	 * thousand steps of the clock, with on_wait_arg: for an interpreter that looks for signals, say. If it does not
	 * return 0, the wait ends with HEDDLE_E_INTERRUPTED, and can be begun again. If what the thread waits for has
	 * happened meanwhile, the wait ends as if this had returned 0. An interrupted heddle_acquire has not acquired.
	 * After an interrupted heddle_unregister the handle is what it was before. A submission that waits for room in
	 * the window goes through. heddle_stop cancels the tasks that have not begun and goes on. Kernels that wait do
	 * not call this. It may call what a callback may call. NULL, the default: nothing. No environment variable
	 * either. A thread that runs tasks while it waits (caller_works) calls it only when it has found none for a
	 * tenth of a second. */
	int (*on_wait)(void *arg);
	void *on_wait_arg;
};

/* Fills *config from the defaults, the configuration file and the environment. HEDDLE_E_FORMAT: a value is out of range
 * or of the wrong type, or a line of the file is not "name = value"; the message names the variable and the valid
 * range, or the line. HEDDLE_E_UNKNOWN: a HEDDLE_* variable looks like a misspelling of a known one (of a setting, or
 * of a policy's option: HEDDLE_<POLICY>_<OPTION>), which the message names; *config is filled all the same, and the
 * variable ignored. `heddle config` lists all HEDDLE_* variables that are unknown. */
int heddle_config_init(struct heddle_config *config);

/* Starts a runtime; a process may have several. NULL config: as heddle_config_init fills it. HEDDLE_E_INVALID names the
 * field of *config that is out of its range. HEDDLE_E_UNSUPPORTED: trace_file asks for a picture or a .dot file, which
 * libheddle-report.so draws, and this library cannot be loaded.
 *
 * The first start in a process looks at the machine through hwloc, whose environment variables count then. Later starts
 * take what it has found. The cores are those to which the process is bound when the runtime starts. Where runtimes run
 * already, which may have bound threads to cores, it is what the first of these found.
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
 * with everything made for it (handles, codelets), whatever it returns but HEDDLE_E_STATE. Returns the first error of a
 * task that no wait has reported yet. HEDDLE_E_INTERRUPTED: on_wait wanted the wait to end (struct heddle_config), so
 * tasks that had not begun were cancelled, as by heddle_cancel_all, and those that ran have ended; data that
 * cancelled tasks were to write have no newest value. HEDDLE_E_CANCELLED: also where a task was to read a datum that
 * no task had written, which other waits report as HEDDLE_E_STATE. HEDDLE_E_STATE: called in a kernel, a callback, or a
 * child of fork; nothing has changed. `rt` may be NULL. Blocks. If the process ends by exit or a return from main
 * without heddle_stop, the files that the settings `trace`, `record` and `explain` ask for are written all the same, of
 * the tasks that had ended, and a line on standard error says so. */
int heddle_stop(heddle_runtime *rt);

/* Waits until every task submitted so far has ended and all reductions (HEDDLE_REDUX) are combined. Returns 0, or the
 * first error among the tasks without a group (heddle/group.h) that ended since the last heddle_wait_all
 * (HEDDLE_E_KERNEL: the message names the codelet, the task and the value that the kernel returned). HEDDLE_E_DEVICE: a
 * device was lost, and with it the values of data, which the message names, or the only worker that could run a task;
 * what others could run has been run. The runtime can be used further even after an error. Blocks. */
int heddle_wait_all(heddle_runtime *rt);

/* Cancels all tasks that have not begun, as heddle_group_cancel does those of a group. For a program that is to end
 * soon: heddle_stop then waits for those that run. Returns how many were cancelled, or an error. Does not block. */
int heddle_cancel_all(heddle_runtime *rt);

/* The machine as this runtime sees it. */
const struct heddle_platform *heddle_runtime_platform(const heddle_runtime *rt);

/* Name of the policy that the runtime uses. */
const char *heddle_runtime_policy(const heddle_runtime *rt);

/* us since the runtime started: real or virtual. A policy asks heddle_sched_now instead. */
double heddle_now(heddle_runtime *rt);

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
	uint64_t used, peak; /* bytes now; the most that there were at once */
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
