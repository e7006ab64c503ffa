/* The interface of src/machine for the rest of the library, besides heddle/platform.h: adding devices and links, kernel
 * times on clusters, and the topology of the machine that the program runs on. */
#ifndef HD_MACHINE_MACHINE_H
#define HD_MACHINE_MACHINE_H

#include <stddef.h>
#include <heddle/platform.h>

/* Makes a platform of the cores of `topology`, as heddle_platform_discover does, but leaves out each core i for which
 * taken[i] is not 0. `taken` NULL: no core is taken. */
struct hd_topology;
int hd_platform_of_cores(const struct hd_topology *topology, const unsigned char *taken, int n_cpu,
                         struct heddle_platform **out);

/* A device with a memory of its own, real or emulated. */
struct hd_accelerator {
	const char *class_name, *kind;
	/* the driver's number for the device; its node and its worker get names such as "cuda0" */
	unsigned number;
	uint64_t capacity;         /* bytes; 0: no limit */
	double bandwidth, latency; /* MB/s, us: of the links between its memory and node 0 */
	/* `slowdown` and `streams` become fields of its class; they are those of the first accelerator of the class */
	double slowdown;
	unsigned streams;
	int core; /* the core to which its thread is bound; -1: none */
};

/* Adds an accelerator's memory node, its links from and to node 0, its worker and, unless there is one with this name,
 * its class. HEDDLE_E_MEMORY: the platform is unchanged. */
int hd_platform_add(struct heddle_platform *platform, const struct hd_accelerator *accelerator);

/* Adds a link; bandwidth in MB/s, latency in us. HEDDLE_E_MEMORY. */
int hd_platform_add_link(struct heddle_platform *platform, unsigned from, unsigned to, double bandwidth,
                         double latency);

/* The name of the class of all devices of a kind that have the name `name`: the kind and the name in small letters,
 * with '-' for all characters other than letters and digits, such as "cuda-nvidia-h100-80gb-hbm3". The caller frees it;
 * NULL: out of memory. */
char *hd_device_class(const char *kind, const char *name);

/* Uses n links at once, given by their indices in the platform; *out: the measured sum of their rates in MB/s. */
typedef int (*hd_together_fn)(const size_t *links, size_t n, double *out, void *arg);
/* Replaces the platform's buses by the buses that it finds by measurements with `together`. The bandwidth of each link
 * must be what the link reaches alone. After an error the platform may have some of the new buses. */
int hd_buses_find(struct heddle_platform *platform, hd_together_fn together, void *arg);

/* The kernel time that the platform gives for a codelet on a class; NULL: none. */
const struct heddle_kernel_time *hd_platform_kernel(const struct heddle_platform *platform, const char *codelet,
                                                    unsigned class_id);
/* The value at `bytes` of a table with n points, by the rules of struct heddle_kernel_time. */
double hd_on_table(const struct heddle_kernel_point *table, size_t n, double bytes);
/* The time of a kernel in us; NAN: `kernel` is NULL, or its time depends on flops and `flops` is not above 0. */
double hd_kernel_time(const struct heddle_kernel_time *kernel, double bytes, double flops);

/* The time in us of a codelet on the class `class_id`. If the class consists of clusters, `us` is the time on one core
 * of a cluster; otherwise it is the result. */
double hd_cluster_time(const struct heddle_platform *platform, const char *codelet, unsigned class_id, double us,
                       double bytes);

/* How many processors a worker of the class counts for: a CPU worker for its number of cores, one that serves a library
 * for none, any other worker for 1. */
static inline unsigned hd_class_processors(const struct heddle_class *c)
{
	return c->service ? 0 : c->cores > 1 ? c->cores : 1;
}

/* The workers that a cluster set drives. The platform must have been made with this cluster set
 * (heddle_platform_cluster). Writes their indices to `workers`, which has room for all workers, and their number to *n.
 * HEDDLE_E_INVALID: the platform lacks such a worker, or the text is no cluster set. */
int hd_cluster_set_workers(const struct heddle_platform *platform, const char *text, unsigned *workers, size_t *n);

/* Makes the list of cluster sets that "adaptive" and "adaptive:LIST" mean, from single cores to the largest clusters,
 * with commas between them. "auto" means "adaptive" here, where no graph is known. The caller frees *list, which is
 * NULL for any other text. HEDDLE_E_MEMORY. */
int hd_cluster_sets_adaptive(const struct heddle_platform *platform, const char *text, char **list);

/* The kinds of classes that Heddle knows: "cpu", "emulated", "opencl", "cuda". A platform may have others. */
enum { HD_N_KINDS = 4 };
extern const char *const hd_kinds[HD_N_KINDS];

#define HD_PLATFORM_VERSION "1" /* the version of platform files */
/* Makes the text of a platform file, which heddle_platform_save writes; the caller frees *text. */
int hd_platform_format(const struct heddle_platform *platform, char **text, size_t *length);

/* Opens the topology of this machine, without the cores to which the process is not bound. If other topologies are
 * open, the binding that counts is the one before the first of them was opened, because runtimes may have bound threads
 * since. The first call in a process takes milliseconds, because hwloc then finds the machine, following its own
 * environment variables; later calls copy the result. Thread-safe. An open topology does not change, so every thread
 * may use it. `with_devices`: 1 if hd_topology_near will be asked about PCI addresses, for which hwloc has to read
 * more. */
int hd_topology_open(int with_devices, struct hd_topology **out);
void hd_topology_close(struct hd_topology *topology); /* NULL: does nothing */
size_t hd_topology_cores(const struct hd_topology *topology);
/* Appends the machine's levels "socket", "numa" and "l3" to the platform, as far as hwloc knows them.
 * HEDDLE_E_MEMORY. */
int hd_topology_levels(const struct hd_topology *topology, struct heddle_platform *platform);
/* How many threads can run at the same time: more than there are cores, if cores have several hardware threads. */
size_t hd_topology_threads(const struct hd_topology *topology);

/* 1 if no core is nearer to the device with this PCI address than `core` (logical index), otherwise 0. Also 1 for an
 * address that is "" or that hwloc does not know. */
int hd_topology_near(const struct hd_topology *topology, const char *address, int core);

/* Binds the calling thread to a core (logical index), or to all cores (-1). The program must unbind a thread of its own
 * before the last topology is closed, or the next hd_topology_open may find one core only. HEDDLE_E_INVALID: no such
 * core; HEDDLE_E_UNSUPPORTED: the system cannot bind threads. */
int hd_topology_bind(const struct hd_topology *topology, int core);
/* Binds the calling thread to the `n` cores from `core` on. For n 1 like hd_topology_bind; otherwise the thread may run
 * on all hardware threads of these cores. */
int hd_topology_bind_range(const struct hd_topology *topology, int core, unsigned n);

/* Says in a constant text what has bound the process to a part of the machine's cores, as far as that is known; sets
 * *cores to the number of cores of the machine. NULL: the process may use all cores. */
const char *hd_topology_bound_by(const struct hd_topology *topology, size_t *cores);

/* Binds the calling thread to a core until hd_topology_give_back, which any thread may call. hd_topology_give_back
 * restores the thread's earlier binding, unless the thread has ended or its binding has been changed meanwhile. If the
 * thread is bound to only some of the process's cores at the call of hd_topology_borrow, the program has bound it, and
 * hd_topology_borrow changes nothing. Call it at most once per topology. Fails as hd_topology_bind does. */
int hd_topology_borrow(struct hd_topology *topology, int core);
void hd_topology_give_back(struct hd_topology *topology);

/* How far apart the workers a and b are. The same worker: 0. On the same memory node: the number of levels of hwloc's
 * tree from their cores up to the common ancestor (1: siblings under one cache). On different nodes: 1 more than the
 * greatest distance on the same node. If `topology` is NULL (virtual time), or a worker is on no core: 1 on the same
 * node, 2 otherwise. */
unsigned hd_topology_distance(const struct hd_topology *topology, const struct heddle_platform *platform, unsigned a,
                              unsigned b);

#endif
