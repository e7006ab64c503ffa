/* The description of a machine: memory nodes, classes of workers, workers, links, kernel times.
 *
 * A platform is plain data. The threaded engine makes a platform from what hwloc finds on this machine; the virtual
 * engine takes a platform from a YAML file (docs/platforms.md). Policies, models, traces and bounds see the machine
 * only through this structure, so their code does not depend on the engine.
 */
#ifndef HEDDLE_PLATFORM_H
#define HEDDLE_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A memory: main memory (always node 0), the memory of one accelerator, ... */
struct heddle_node {
	char *name;
	/* bytes that data may take in this memory; 0: no limit. The capacity of main memory counts in virtual time
	 * only, and limits the data that are registered at the same time, because data cannot be evicted from main
	 * memory. */
	uint64_t capacity;
};

/* A class of workers: all workers of a class take the same time for the same task. So two models of GPU are two
 * classes, and so are workers of one core and workers of four cores. */
struct heddle_class {
	char *name;     /* unique: "cpu", "k40m", "cpu*4" */
	char *kind;     /* the kind of kernels that the workers run: "cpu", "emulated", "opencl", "cuda" */
	unsigned cores; /* CPU cores that one worker occupies */
	/* how many tasks a worker may have at once: the running task, and tasks whose data are fetched meanwhile; at
	 * least 1 */
	unsigned pipeline;
	/* how many kernels a worker may run at the same time, each on a stream of its own; 0 is taken as 1 */
	unsigned streams;
	/* an emulated accelerator's kernels are made to last this many times longer; 1 for other kinds */
	double slowdown;
	/* How fast kernels run that a worker runs at the same time: `streams` numbers, of which the n-th is the rate of
	 * each of n kernels as a fraction of the rate of a kernel alone. The first number is 1, each number is at most
	 * the one before, all are above 0. NULL: the n-th is 1 / n, so that n kernels together take as long as one
	 * after the other. */
	double *sharing;
	/* 1: the workers serve a library, such as a network (heddle/mpi.h), and are no processors: their time is in no
	 * sum over processors, no reduction begins there, the default policy ignores them. Not in platform files */
	unsigned service;
};

/* A worker runs one task at a time, or as many as its class has streams. */
struct heddle_worker {
	char *name;
	unsigned class_id;
	unsigned node; /* the memory node that must hold the data of its tasks */
	int core;      /* logical index of the core to which its thread is bound, the first one of several, or -1 */
	/* The device that the worker drives, by the driver's number, from 0. Platform files have no such number: there
	 * the workers of each kind are numbered in order. */
	unsigned device;
	/* 1: the worker is declared, but not driven: it gets no tasks. Only for workers of kind "cpu", whose cores
	 * other workers drive: see heddle_platform_cluster. */
	unsigned retired;
};

/* A set of links that share one bandwidth: a PCIe switch, the memory controller. */
struct heddle_bus {
	char *name;
	double bandwidth; /* MB/s */
};

/* A directed way to copy from one node to another. Data for which there is no direct link go through node 0. */
struct heddle_link {
	unsigned from, to;
	double bandwidth; /* MB/s, of the link itself: see heddle_link_rate */
	double latency;   /* us */
	unsigned *buses;  /* ids of the buses that the link crosses */
	size_t n_buses;
};

struct heddle_kernel_point {
	double bytes; /* total size of the task's data */
	double us;    /* above 0, below 1e15 */
};

/* How long one codelet takes on one class. With a table, the time of a size that the table lacks is interpolated
 * between the neighbours on log-log axes, and extrapolated along the nearest segment (one point: time proportional to
 * bytes^1.5, the law of a matrix kernel). Without a table, time = latency + flops / rate + bytes / bandwidth, rate =
 * gflops * flops / (flops + half); a kernel that only computes has no bandwidth, one that only moves data no gflops. */
struct heddle_kernel_time {
	char *codelet;
	unsigned class_id;
	struct heddle_kernel_point *table; /* ascending bytes */
	size_t n_table;
	double gflops;    /* asymptotic rate; 0: flops take no time, or a table */
	double half;      /* flops at which half the asymptotic rate is reached */
	double latency;   /* us */
	double bandwidth; /* MB/s; 0: bytes take no time, or a table */
};

/* Logical cores from `first` to `last`, both included. */
struct heddle_core_range {
	unsigned first, last;
};

/* A level of the machine above its cores: the groups of cores that share a socket, a memory, a cache. */
struct heddle_level {
	char *name; /* unique: "socket", "numa", "l3" */
	struct heddle_core_range *groups;
	size_t n_groups;
};

struct heddle_speedup_point {
	double bytes;  /* total size of the task's data */
	double factor; /* how many times faster than one core; above 0, at most the number of cores */
};

/* How much faster codelets run on a cluster, which is a worker of several cores, than on one of these cores. For a
 * codelet, `cores` and a table give the factor; for all codelets without a table, a law gives the time: k cores need us
 * / k + (1 - 1 / k) * (latency + bytes / bandwidth), where us is the time of one core. A class without any entry has
 * the law with HEDDLE_CLUSTER_LATENCY and HEDDLE_CLUSTER_BANDWIDTH. docs/clusters.md says how factors are
 * interpolated. */
struct heddle_speedup {
	char *codelet;                      /* NULL: a law */
	unsigned class_id;                  /* of the cores */
	unsigned cores;                     /* of the cluster to which the table applies; at least 2 */
	struct heddle_speedup_point *table; /* ascending bytes */
	size_t n_table;
	double latency, bandwidth; /* of a law: us; MB/s, above 0 */
};
#define HEDDLE_CLUSTER_LATENCY 5.0
#define HEDDLE_CLUSTER_BANDWIDTH 12000.0

struct heddle_platform {
	char *name, *description, *source; /* source: the origin of the figures, in a sentence */
	struct heddle_node *nodes;
	size_t n_nodes;
	struct heddle_class *classes;
	size_t n_classes;
	struct heddle_worker *workers;
	size_t n_workers;
	struct heddle_bus *buses;
	size_t n_buses;
	struct heddle_link *links;
	size_t n_links;
	struct heddle_kernel_time *kernels;
	size_t n_kernels;
	struct heddle_level *levels; /* what cluster sets may name; may be empty */
	size_t n_levels;
	struct heddle_speedup *speedups;
	size_t n_speedups;
	unsigned next_emulated; /* the number that heddle_platform_add_emulated gives next; 0: not known */
};

/* Reads a platform. `name_or_path` with a '/' or ending in ".yaml" is a file; otherwise NAME.yaml is looked for in
 * HEDDLE_PLATFORM_PATH (colon-separated), in the user's data directory, then among the installed platforms. The caller
 * owns *out and frees it with heddle_platform_free. Errors: HEDDLE_E_UNKNOWN (the message lists the known names),
 * HEDDLE_E_IO, HEDDLE_E_FORMAT (file, line where known, what is wrong: every index, name and unit is checked). */
int heddle_platform_load(const char *name_or_path, struct heddle_platform **out);

/* Reads a platform from YAML text in memory; messages call it `name`. The caller owns *out. HEDDLE_E_FORMAT,
 * HEDDLE_E_MEMORY. */
int heddle_platform_parse(const char *name, const char *yaml, size_t length, struct heddle_platform **out);

/* Writes a platform as YAML, which heddle_platform_load reads back to the same value. The file is replaced
 * atomically. */
int heddle_platform_save(const struct heddle_platform *platform, const char *path);

/* Describes the machine that the program runs on: `n_cpu` CPU workers, each on a core of its own (negative: one worker
 * per core), without kernel times. The caller owns *out. HEDDLE_E_INVALID: the machine has fewer cores. */
int heddle_platform_discover(int n_cpu, struct heddle_platform **out);

/* MB/s: the bandwidth of the links of an emulated accelerator that was added without a bandwidth. Copies on such a link
 * are not slowed down; the figure only predicts how long copies take. */
#define HEDDLE_MEMORY_BANDWIDTH 10000.0

/* Adds an emulated accelerator: a memory node of `capacity` bytes (0: no limit), links from and to node 0 of
 * `bandwidth` MB/s (0: HEDDLE_MEMORY_BANDWIDTH) and `latency` us, and a worker of class "emulated". The first emulated
 * accelerator makes this class, with `slowdown`. */
int heddle_platform_add_emulated(struct heddle_platform *platform, uint64_t capacity, double bandwidth, double latency,
                                 double slowdown);

/* Groups the cores of the CPU workers into clusters: workers of several cores, on which kernels run in parallel. A
 * cluster of k cores of the class "cpu" is a worker of the class "cpu*k", and drives the logical cores from its `core`
 * on. Times of kernels there follow from those of a core and the platform's speedups.
 *
 * `clusters` is a cluster set, which says which cores form clusters: "none"; a level of the machine, such as "socket",
 * "numa" or "l3", for a cluster per group; "6", for as many clusters of 6 cores as there is room for; "2x4" for two of
 * 4 cores, "2x4+1x6" for a mix; the path of a file with a range of logical cores in each line, such as 0-5. Cores that
 * no cluster takes remain workers of their own. Several cluster sets, with commas between them, are all declared: the
 * platform has the workers of each, those of the first are driven, and the others are retired. A platform may be
 * grouped again: its cores are then those of the workers that are driven. "adaptive:none,2,socket" declares these three
 * cluster sets as well. "adaptive" declares the cluster sets between which the setting clusters="adaptive" changes:
 * single cores, the groups of the level with the largest groups, and halves of these groups. "auto" declares what
 * "adaptive" does.
 *
 * Errors: HEDDLE_E_INVALID (the message names the cluster set, and says what it can be), HEDDLE_E_FORMAT (the platform
 * breaks a rule of heddle_platform_check), HEDDLE_E_IO, HEDDLE_E_MEMORY. The platform has not changed then. */
int heddle_platform_cluster(struct heddle_platform *platform, const char *clusters);

/* Checks every rule that the rest of the library relies on. HEDDLE_E_FORMAT names the first one broken. */
int heddle_platform_check(const struct heddle_platform *platform);

/* Names of the platforms that heddle_platform_load finds by name: a NULL-terminated array, sorted, that the caller
 * frees with heddle_platform_names_free. */
int heddle_platform_names(char ***out);
void heddle_platform_names_free(char **names);

/* Makes a deep copy in *out, which the caller frees with heddle_platform_free: for example, a copy of a runtime's or a
 * trace's platform that is to exist longer. HEDDLE_E_MEMORY; HEDDLE_E_INVALID: an argument is NULL. Any thread may call
 * this while nobody changes the platform. */
int heddle_platform_copy(const struct heddle_platform *platform, struct heddle_platform **out);

void heddle_platform_free(struct heddle_platform *platform);

/* Time in us of `codelet` on a class for data of `bytes` and work of `flops`, from the platform's kernel times; NAN
 * when the platform has none. */
double heddle_platform_time(const struct heddle_platform *platform, const char *codelet, unsigned class_id,
                            double bytes, double flops);

/* The rate of each of `n` kernels that a worker of the class runs at the same time, as a fraction of the rate of a
 * kernel alone: see `sharing` in struct heddle_class. `n` is from 1 to the number of its streams. */
double heddle_class_rate(const struct heddle_class *class_, unsigned n);

/* MB/s: the rate of a copy that is alone on a link of the platform and on the link's buses: the bandwidth of the
 * slowest of these. NAN: an argument is NULL. */
double heddle_link_rate(const struct heddle_platform *platform, const struct heddle_link *link);

/* The direct link between two nodes, or NULL. */
const struct heddle_link *heddle_platform_link(const struct heddle_platform *platform, unsigned from, unsigned to);

#ifdef __cplusplus
}
#endif
#endif
