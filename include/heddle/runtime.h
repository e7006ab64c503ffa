/* Start and stop a runtime, its settings, waiting. */
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

/* All settings. Fill it with heddle_config_init, which gives every field its default, then what the configuration file
 * says, then the environment; what the program sets afterwards wins. `heddle config` lists each with its variable,
 * unit, range and meaning (the same table, src/start/settings.c, is behind all three). Strings are borrowed until
 * heddle_start returns. */
struct heddle_config {
	/* CPU workers, each on a core of its own; -1: one per core; more than there are is an error */
	int n_cpu;
	int n_emulated;                                                 /* emulated accelerators beside them */
	uint64_t emulated_memory;                                       /* bytes each; 0: no limit */
	double emulated_bandwidth, emulated_latency, emulated_slowdown; /* MB/s, us, factor */
	/* policy name; "auto": dmdas when the machine has more than one class, lws otherwise */
	const char *sched;
	const char *sched_options; /* "name=value,name=value" for the policy; NULL: its defaults */
	const char *platform;      /* name or file: run in virtual time on this machine; NULL: run for real, here */
	/* tasks that may be submitted and unfinished before heddle_submit waits; 0: no limit */
	int window;
	/* worker 0 has no thread: whoever waits on the runtime runs its tasks. With `bind`, the thread that starts the
	 * runtime is bound to its core until heddle_stop */
	int caller_works;
	int bind;        /* bind worker threads to cores */
	int trace;       /* record events */
	int time_policy; /* measure how long the policy takes: two readings of the clock per call of it */
	/* samples wanted per (codelet, class, size) before models are trusted; 0: trust any */
	int calibrate;
	/* where models are kept; "": the XDG data directory; "none": neither read nor written */
	const char *model_dir;
	uint64_t seed;     /* of everything random */
	double noise;      /* virtual time: relative standard deviation of execution times; 0: none */
	double sched_cost; /* virtual time: us that one scheduling decision takes */
	int watchdog;      /* seconds without progress before a blocked wait reports what hangs; 0: never */
	int pipeline;      /* tasks in flight per accelerator worker; 0: as the platform says */
	/* What the watchdog is to call with its sentence, in the thread that waits; it may call what a kernel may.
	 * NULL, the default: the sentence goes to standard error, the only thing that the library ever prints. This and
	 * its argument have no variable: only a program can set them. */
	void (*on_hang)(void *arg, const char *sentence);
	void *on_hang_arg;
};

/* Fills in defaults, file and environment. HEDDLE_E_FORMAT: a value is out of range or of the wrong type, or the file
 * has a line that is none; the message names the variable and the valid range, or the line. HEDDLE_E_UNKNOWN: a
 * HEDDLE_* variable is unknown and within a slip or two of one that is known (for policies: HEDDLE_POLICY_OPTION),
 * which the message names; *config is filled all the same, without it. `heddle config` lists all HEDDLE_* variables
 * that mean nothing. */
int heddle_config_init(struct heddle_config *config);

/* Starts a runtime. NULL config: what heddle_config_init gives. Several may live in one process. HEDDLE_E_INVALID names
 * the field of *config that is out of its range.
 *
 * A runtime belongs to the process that started it. A child made by fork has none of its threads: there every function
 * that would need them, or the runtime's state, gives HEDDLE_E_STATE, heddle_stop among them, which frees nothing; the
 * memory goes when the child ends or calls exec. A child may start a runtime of its own. */
int heddle_start(const struct heddle_config *config, heddle_runtime **out);

/* The same on a machine described by the caller (copied): in virtual time if `virtual_time`, else with real threads, of
 * which those of kind "cpu" and "emulated" can run here. `config->platform` is ignored. */
int heddle_start_on(const struct heddle_config *config, const struct heddle_platform *platform, int virtual_time,
                    heddle_runtime **out);

/* Waits for all tasks, writes data back to their owners, stores the models, frees everything made with the runtime.
 * Returns the first error that no wait has reported. Blocks. `rt` may be NULL. */
int heddle_stop(heddle_runtime *rt);

/* Waits until every task submitted so far has ended, and adds up what was contributed to reductions. Returns 0, or the
 * first error among the tasks that ended since the last wait for all (HEDDLE_E_KERNEL: the message names codelet, task
 * and the kernel's value). The runtime stays usable. Blocks. */
int heddle_wait_all(heddle_runtime *rt);

/* The machine as this runtime sees it. */
const struct heddle_platform *heddle_runtime_platform(const heddle_runtime *rt);

/* Name of the policy in charge. */
const char *heddle_runtime_policy(const heddle_runtime *rt);

/* us since the runtime started: real or virtual. A policy asks heddle_sched_now instead. */
double heddle_now(heddle_runtime *rt);

/* Counters since the start. Totals over workers and nodes. */
struct heddle_stats {
	uint64_t tasks_submitted, tasks_executed, tasks_failed, tasks_cancelled;
	uint64_t transfers, bytes_moved, evictions, prefetches;
	/* us from the moment when the first task could run, which is its submission unless the program still held its
	 * data, to the end of the last task; 0 before a task has ended. heddle_trace_makespan is the same of a
	 * trace. */
	double makespan;
	double last_end;      /* us, on the clock of heddle_now: when the last task ended */
	double busy, idle;    /* us, summed over workers, within the makespan */
	double transfer_wait; /* us that workers waited for data of a task they had chosen */
	/* wall us spent in the policy's callbacks, in virtual time, too; 0 unless config.time_policy */
	double sched_time;
	/* calls of the policy: ready, pick, and pick that gave nothing */
	uint64_t sched_batches, sched_picks, sched_picks_empty;
	uint64_t live_tasks, task_bytes; /* unfinished now; bytes of task memory held */
};
int heddle_runtime_stats(heddle_runtime *rt, struct heddle_stats *out);

/* Looks at everything the runtime knows: are lists, counters, dependencies, copies and the accounting of memory
 * consistent with one another? 0, or HEDDLE_E_STATE with a sentence that names the first thing that is not. Then either
 * Heddle has an error, or the program has written where it must not: say so when you report a hang. For tests: it takes
 * time proportional to all tasks and data, during which no task begins or ends. From any thread, kernels and callbacks
 * included, but not from a policy or a can_run. HEDDLE_E_MEMORY when there is not enough to look with. */
int heddle_check(heddle_runtime *rt);

#ifdef __cplusplus
}
#endif
#endif
