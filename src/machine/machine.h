/* What the rest of the library uses of src/machine besides heddle/platform.h: the topology of the machine that the
 * program runs on. */
#ifndef HD_MACHINE_MACHINE_H
#define HD_MACHINE_MACHINE_H

#include <stddef.h>
#include <heddle/platform.h>

/* Describes the cores of `topology`, as heddle_platform_discover does, less those for which `taken` is not 0; NULL: no
 * core is taken. */
struct hd_topology;
int hd_platform_of_cores(const struct hd_topology *topology, const unsigned char *taken, int n_cpu,
                         struct heddle_platform **out);

/* A device with a memory of its own, real or emulated. */
struct hd_accelerator {
	const char *class_name, *kind;
	unsigned number;           /* as its driver counts it; its node and its worker are named "cuda0" for instance */
	uint64_t capacity;         /* bytes; 0: no limit */
	double bandwidth, latency; /* MB/s, us: of its links from and to node 0 */
	double slowdown;           /* of its class, as all that follow; the first of a class decides */
	unsigned streams;
	int core; /* to which its thread is bound; -1: none */
};

/* Adds a memory node, links, a worker and, unless there is one of that name, its class. HEDDLE_E_MEMORY: nothing has
 * changed. */
int hd_platform_add(struct heddle_platform *platform, const struct hd_accelerator *accelerator);

/* Adds a link, in MB/s and us. HEDDLE_E_MEMORY. */
int hd_platform_add_link(struct heddle_platform *platform, unsigned from, unsigned to, double bandwidth,
                         double latency);

/* The name of the class of all devices of a kind that have this name: both in small letters and digits, with a '-' in
 * place of everything else: "cuda-nvidia-h100-80gb-hbm3". The caller frees it; NULL when out of memory. */
char *hd_device_class(const char *kind, const char *name);

/* Measures how fast links, given by their indices in the platform, are when all of them are used at once: *out, the sum
 * in MB/s. */
typedef int (*hd_together_fn)(const size_t *links, size_t n, double *out, void *arg);
/* Replaces the buses of a platform by those that `together` shows. The bandwidths of the links must be those that each
 * has alone. After an error the platform may have some of the buses. */
int hd_buses_find(struct heddle_platform *platform, hd_together_fn together, void *arg);

/* What the platform says of a codelet on a class, or NULL. heddle_platform_time is hd_kernel_time of that. */
const struct heddle_kernel_time *hd_platform_kernel(const struct heddle_platform *platform, const char *codelet,
                                                    unsigned class_id);
/* The value at `bytes` of a table of n points: see struct heddle_kernel_time. */
double hd_on_table(const struct heddle_kernel_point *table, size_t n, double bytes);
/* The time of a kernel in us. NAN: `kernel` is NULL, or its time depends on flops and there are none. */
double hd_kernel_time(const struct heddle_kernel_time *kernel, double bytes, double flops);

/* The time in us on a class, which may be of clusters, of what one of their cores does in `us`. */
double hd_cluster_time(const struct heddle_platform *platform, const char *codelet, unsigned class_id, double us,
                       double bytes);

/* How many processors a worker of the class has: the cores of a CPU worker; 1 of any other. */
static inline unsigned hd_class_processors(const struct heddle_class *c)
{
	return c->cores > 1 ? c->cores : 1;
}

/* The workers that a cluster set drives, of a platform on which it was declared (heddle_platform_cluster): fills
 * `workers`, which has room for all, and *n. HEDDLE_E_INVALID: a worker is missing, or the text is no cluster set. */
int hd_cluster_set_workers(const struct heddle_platform *platform, const char *text, unsigned *workers, size_t *n);

/* Makes the list of cluster sets, with commas between them, that "adaptive" and "adaptive:LIST" stand for, from single
 * cores to the largest clusters; "auto" is "adaptive" here, where no graph is known. The caller frees *list. For other
 * texts it is NULL. HEDDLE_E_MEMORY. */
int hd_cluster_sets_adaptive(const struct heddle_platform *platform, const char *text, char **list);

/* The kinds of classes of workers that the interface names: "cpu", "emulated", "opencl", "cuda". A platform may have
 * others. */
enum { HD_N_KINDS = 4 };
extern const char *const hd_kinds[HD_N_KINDS];

#define HD_PLATFORM_VERSION "1" /* of platform files */
/* Makes the text that heddle_platform_save writes to a file; the caller frees *text. */
int hd_platform_format(const struct heddle_platform *platform, char **text, size_t *length);

/* The cores of this machine to which the process is bound now, or was before the topologies that are still open. The
 * first opening in a process takes milliseconds: it finds the machine, as it then is and as the environment variables
 * of hwloc may say, for all the later ones. Thread-safe. An open topology does not change, so every thread may use it.
 * `with_devices`: hd_topology_near will be asked about addresses, for which more has to be read. */
int hd_topology_open(int with_devices, struct hd_topology **out);
void hd_topology_close(struct hd_topology *topology); /* may be NULL */
size_t hd_topology_cores(const struct hd_topology *topology);
/* Appends the levels of the machine to the platform: "socket", "numa" and "l3", as far as hwloc knows them.
 * HEDDLE_E_MEMORY. */
int hd_topology_levels(const struct hd_topology *topology, struct heddle_platform *platform);
/* How many threads can run at the same time: more than there are cores if these have several hardware threads. */
size_t hd_topology_threads(const struct hd_topology *topology);

/* Whether a core (logical index) is near the device with this address on the PCI bus, as near as any: 1 or 0. 1 for an
 * address that is "" or that hwloc does not know. */
int hd_topology_near(const struct hd_topology *topology, const char *address, int core);

/* Binds the calling thread to a core (logical index), or to all cores with -1. A thread of the program that was bound
 * must be unbound before the last topology is closed, or the next hd_topology_open may find one core only.
 * HEDDLE_E_INVALID: no such core; HEDDLE_E_UNSUPPORTED: the system cannot bind threads. */
int hd_topology_bind(const struct hd_topology *topology, int core);
/* Binds the calling thread to `n` cores, from `core` on: with n 1 as hd_topology_bind does, otherwise it may run on all
 * hardware threads of these. */
int hd_topology_bind_range(const struct hd_topology *topology, int core, unsigned n);

/* What has bound the process to some of the machine's cores, as far as that can be told: a constant text; *cores
 * becomes the number of cores of the machine. NULL: the process may use all cores. */
const char *hd_topology_bound_by(const struct hd_topology *topology, size_t *cores);

/* Binds the calling thread to a core until hd_topology_give_back, which any thread may call: hd_topology_give_back
 * binds the borrowed thread as before, unless that thread has ended or has been bound otherwise since. A thread that is
 * bound to only some of the process's cores stays as it is, because the program has bound it. At most once for a
 * topology. Errors as of hd_topology_bind. */
int hd_topology_borrow(struct hd_topology *topology, int core);
void hd_topology_give_back(struct hd_topology *topology);

/* How far two workers are from each other: 0 for the same worker; on the same memory node, the number of levels of
 * hwloc's tree from their cores up to the common ancestor (1: siblings under one cache); on different nodes, 1 more
 * than any of these. Without a topology (NULL, in virtual time) or a core: 1 on the same node, 2 otherwise. */
unsigned hd_topology_distance(const struct hd_topology *topology, const struct heddle_platform *platform, unsigned a,
                              unsigned b);

#endif
