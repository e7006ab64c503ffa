/* The machine: the door of src/machine. Platforms are public data (heddle/platform.h); here are the copy that a
 * runtime keeps and the topology of the machine the program runs on. */
#ifndef HD_MACHINE_H
#define HD_MACHINE_H

#include <stddef.h>
#include <heddle/platform.h>

/* A deep copy, which the caller owns and frees with heddle_platform_free. HEDDLE_E_MEMORY. */
int hd_platform_copy(const struct heddle_platform *platform, struct heddle_platform **out);

/* The kinds of classes of workers that the interface names: "cpu", "emulated", "opencl", "cuda". A platform may have
 * others. */
enum { HD_N_KINDS = 4 };
extern const char *const hd_kinds[HD_N_KINDS];

/* What heddle_platform_save writes, in memory: the caller frees *text. */
int hd_platform_format(const struct heddle_platform *platform, char **text, size_t *length);

/* Cores of this machine that the process may use. Opening takes milliseconds: once per runtime. Const once
 * open, so every thread may use it. */
struct hd_topology;
int hd_topology_open(struct hd_topology **out);
void hd_topology_close(struct hd_topology *topology); /* may be NULL */
size_t hd_topology_cores(const struct hd_topology *topology);

/* Binds the calling thread to a core (logical index), or to all of them again with -1: a thread lent to the
 * runtime must be given back unbound, or the next hd_topology_open sees one core. HEDDLE_E_INVALID: no such
 * core; HEDDLE_E_UNSUPPORTED. */
int hd_topology_bind(const struct hd_topology *topology, int core);

/* How far two workers are from each other: 0 for the same one, then levels of the tree from their cores up to
 * the common ancestor (1: siblings under one cache), then 1 more than any of those when their memory nodes
 * differ. Without a topology (NULL: virtual time) or a core: 1 on the same node, 2 otherwise. */
unsigned hd_topology_distance(const struct hd_topology *topology, const struct heddle_platform *platform, unsigned a,
                              unsigned b);

#endif
