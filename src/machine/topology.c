/* The cores of this machine, as hwloc describes them: their number, binding threads to them, distances between workers,
 * and which cores are near a device. */
#define _GNU_SOURCE
#include <errno.h>
#include <hwloc.h>
#include <hwloc/linux.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "base/base.h"
#include "machine/machine.h"

struct hd_topology {
	hwloc_topology_t hwloc;
	hwloc_obj_type_t core_type; /* hardware thread (PU) if hwloc finds no cores */
	size_t n_cores;
	/* borrowed: the thread that hd_topology_borrow has bound; 0: none. before, since: the cores of this thread
	 * before and after hd_topology_borrow. */
	pid_t borrowed;
	hwloc_bitmap_t before, since;
};

/* Makes hwloc find PCI devices in sysfs only: its plugin "pci", if installed, would give the same information by
 * another library, but leaks memory. */
static int keep_devices(hwloc_topology_t hwloc)
{
	hwloc_topology_set_components(hwloc, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "pci"); /* fails without "pci" */
	return hwloc_topology_set_type_filter(hwloc, HWLOC_OBJ_PCI_DEVICE, HWLOC_TYPE_FILTER_KEEP_ALL);
}

/* The machine, as hwloc found it for the first runtime of the process, which takes milliseconds. Later runtimes get a
 * copy, which takes microseconds. */
static struct {
	pthread_mutex_t lock;   /* guards the fields below; hwloc acquires a lock of its own while this lock is held */
	hwloc_topology_t whole; /* all cores to which this process could be bound; NULL: hwloc has not looked yet */
	int has_devices;
	size_t n_open; /* number of open topologies */
	/* The cores to which taskset, a batch system or a container had bound the process when the first of the open
	 * topologies was opened; runtimes may have bound threads since. NULL: the system was not asked yet. */
	hwloc_bitmap_t bound;
} machine = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_once_t forks_are_watched = PTHREAD_ONCE_INIT;

static void lock_machine(void)
{
	pthread_mutex_lock(&machine.lock);
}

static void unlock_machine(void)
{
	pthread_mutex_unlock(&machine.lock);
}

/* Holds the lock during fork(), because the child has none of the threads that could release it. */
static void watch_forks(void)
{
	pthread_atfork(lock_machine, unlock_machine, unlock_machine);
}

/* Frees the machine when the library is unloaded or the process ends. Does nothing if the lock is held: another thread
 * may be starting a runtime. */
__attribute__((destructor)) static void forget(void)
{
	if (pthread_mutex_trylock(&machine.lock))
		return;
	if (machine.whole)
		hwloc_topology_destroy(machine.whole);
	hwloc_bitmap_free(machine.bound);
	machine.whole = NULL;
	machine.bound = NULL;
	unlock_machine();
}

/* Makes hwloc look at the machine, but forbids hwloc to bind this thread to one core after the other. Keeps a copy of
 * what hwloc has loaded, because hwloc holds files open for the original. */
static int look(int with_devices)
{
	hwloc_topology_t hwloc, copy;
	if (hwloc_topology_init(&hwloc))
		return hd_no_memory("the machine's topology");
	int status = 0;
	if ((with_devices && keep_devices(hwloc)) ||
	    hwloc_topology_set_flags(hwloc,
	                             HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING) ||
	    hwloc_topology_load(hwloc))
		status =
		    hd_error(HEDDLE_E_UNSUPPORTED, "hwloc cannot read this machine's topology: %s", strerror(errno));
	else if (hwloc_topology_dup(&copy, hwloc))
		status = hd_no_memory("the machine's topology");
	hwloc_topology_destroy(hwloc);
	if (status)
		return status;
	if (machine.whole)
		hwloc_topology_destroy(machine.whole);
	machine.whole = copy;
	machine.has_devices = with_devices;
	return 0;
}

/* Sets machine.bound to the CPUs of all threads of the process; if the system does not tell them, to all CPUs. */
static int ask_binding(void)
{
	if (!machine.bound && !(machine.bound = hwloc_bitmap_alloc()))
		return hd_no_memory("a CPU set");
	if (hwloc_get_cpubind(machine.whole, machine.bound, HWLOC_CPUBIND_PROCESS))
		hwloc_bitmap_copy(machine.bound, hwloc_get_root_obj(machine.whole)->cpuset);
	return 0;
}

static int find_machine(int with_devices)
{
	int status = 0;
	if (!machine.whole || with_devices > machine.has_devices)
		status = look(with_devices);
	if (status || machine.n_open > 0)
		return status;
	status = ask_binding();
	if (!status && !hwloc_bitmap_isincluded(machine.bound, hwloc_get_root_obj(machine.whole)->cpuset))
		status = look(machine.has_devices); /* the process has got other cores since hwloc looked */
	return status;
}

/* Copies the machine without the cores to which the process is not bound. */
static int copy_machine(hwloc_topology_t *out)
{
	if (hwloc_topology_dup(out, machine.whole))
		return hd_no_memory("the machine's topology");
	hwloc_const_bitmap_t all = hwloc_get_root_obj(*out)->cpuset;
	if (hwloc_bitmap_isincluded(all, machine.bound) || !hwloc_bitmap_intersects(all, machine.bound) ||
	    !hwloc_topology_restrict(*out, machine.bound, 0))
		return 0;
	hwloc_topology_destroy(*out);
	return hd_no_memory("the machine's topology");
}

int hd_topology_open(int with_devices, struct hd_topology **out)
{
	struct hd_topology *t = calloc(1, sizeof *t);
	if (!t)
		return hd_no_memory("the machine's topology");
	pthread_once(&forks_are_watched, watch_forks);
	lock_machine();
	int status = find_machine(with_devices);
	if (!status)
		status = copy_machine(&t->hwloc);
	machine.n_open += !status;
	unlock_machine();
	if (status) {
		free(t);
		return status;
	}
	t->core_type = HWLOC_OBJ_CORE;
	int n = hwloc_get_nbobjs_by_type(t->hwloc, t->core_type);
	if (n < 1) {
		t->core_type = HWLOC_OBJ_PU;
		n = hwloc_get_nbobjs_by_type(t->hwloc, t->core_type);
	}
	t->n_cores = n < 1 ? 1 : (size_t)n;
	*out = t;
	return 0;
}

void hd_topology_close(struct hd_topology *topology)
{
	if (!topology)
		return;
	lock_machine();
	machine.n_open--;
	hwloc_topology_destroy(topology->hwloc);
	unlock_machine();
	hwloc_bitmap_free(topology->before);
	hwloc_bitmap_free(topology->since);
	free(topology);
}

size_t hd_topology_cores(const struct hd_topology *topology)
{
	return topology->n_cores;
}

size_t hd_topology_threads(const struct hd_topology *topology)
{
	int n = hwloc_get_nbobjs_by_type(topology->hwloc, HWLOC_OBJ_PU);
	return n > 0 && (size_t)n > topology->n_cores ? (size_t)n : topology->n_cores;
}

static hwloc_obj_t core_object(const struct hd_topology *t, int core)
{
	return core < 0 ? NULL : hwloc_get_obj_by_type(t->hwloc, t->core_type, (unsigned)core);
}

int hd_topology_near(const struct hd_topology *topology, const char *address, int core)
{
	hwloc_obj_t device = *address ? hwloc_get_pcidev_by_busidstring(topology->hwloc, address) : NULL;
	hwloc_obj_t around = device ? hwloc_get_non_io_ancestor_obj(topology->hwloc, device) : NULL;
	hwloc_obj_t object = core_object(topology, core);
	return !around || !object || hwloc_bitmap_intersects(around->cpuset, object->cpuset);
}

/* Adds the hardware threads of a core to the set; core -1: of all cores. */
static int add_core(const struct hd_topology *t, int core, hwloc_bitmap_t set)
{
	hwloc_obj_t object = core < 0 ? hwloc_get_root_obj(t->hwloc) : core_object(t, core);
	if (!object)
		return hd_error(HEDDLE_E_INVALID, "there is no core %d: this process may use %zu, counted from 0", core,
		                t->n_cores);
	return hwloc_bitmap_or(set, set, object->cpuset) ? hd_no_memory("a CPU set") : 0;
}

int hd_topology_bind_range(const struct hd_topology *topology, int core, unsigned n)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	int status = set ? 0 : hd_no_memory("a CPU set");
	for (unsigned i = 0; i < n && !status; i++)
		status = add_core(topology, core + (int)i, set);
	if (!status && core >= 0 && n == 1)
		/* keeps one hardware thread, so that the worker does not move between the hardware threads of its
		 * core */
		hwloc_bitmap_singlify(set);
	if (!status && hwloc_set_cpubind(topology->hwloc, set, HWLOC_CPUBIND_THREAD))
		status = hd_error(HEDDLE_E_UNSUPPORTED, "cannot bind a thread to core %d: %s", core, strerror(errno));
	if (set)
		hwloc_bitmap_free(set);
	return status;
}

int hd_topology_bind(const struct hd_topology *topology, int core)
{
	return hd_topology_bind_range(topology, core, 1);
}

const char *hd_topology_bound_by(const struct hd_topology *topology, size_t *cores)
{
	lock_machine();
	int n = hwloc_get_nbobjs_by_type(machine.whole, topology->core_type);
	unlock_machine();
	*cores = n > 0 ? (size_t)n : 0;
	if (*cores <= topology->n_cores)
		return NULL;
	/* GNU's OpenMP binds the first thread when it is loaded, before main. */
	const char *by_openmp = hd_getenv("OMP_PROC_BIND");
	if (by_openmp && strcasecmp(by_openmp, "false") != 0)
		return "the variable OMP_PROC_BIND, for which an OpenMP runtime binds the first thread: unset it";
	return "taskset, a batch system or the program";
}

/* Whether t->before, the binding of the calling thread, includes all cores of the process. */
static int is_free(const struct hd_topology *t)
{
	return hwloc_bitmap_isincluded(hwloc_get_root_obj(t->hwloc)->cpuset, t->before);
}

int hd_topology_borrow(struct hd_topology *topology, int core)
{
	topology->before = hwloc_bitmap_alloc();
	topology->since = hwloc_bitmap_alloc();
	if (!topology->before || !topology->since)
		return hd_no_memory("a CPU set");
	if (hwloc_get_cpubind(topology->hwloc, topology->before, HWLOC_CPUBIND_THREAD) || !is_free(topology))
		return 0;
	int status = hd_topology_bind(topology, core);
	if (!status && !hwloc_get_cpubind(topology->hwloc, topology->since, HWLOC_CPUBIND_THREAD))
		topology->borrowed = gettid();
	return status;
}

void hd_topology_give_back(struct hd_topology *topology)
{
	hwloc_bitmap_t now = topology->borrowed ? hwloc_bitmap_alloc() : NULL;
	/* If the thread has ended, the call fails, or finds a new thread with the same number, which is not bound to
	 * topology->since. */
	if (now && !hwloc_linux_get_tid_cpubind(topology->hwloc, topology->borrowed, now) &&
	    hwloc_bitmap_isequal(now, topology->since))
		hwloc_linux_set_tid_cpubind(topology->hwloc, topology->borrowed, topology->before);
	topology->borrowed = 0;
	hwloc_bitmap_free(now);
}

unsigned hd_topology_distance(const struct hd_topology *topology, const struct heddle_platform *platform, unsigned a,
                              unsigned b)
{
	if (a == b)
		return 0;
	const struct heddle_worker *wa = &platform->workers[a], *wb = &platform->workers[b];
	hwloc_obj_t ca = topology ? core_object(topology, wa->core) : NULL;
	hwloc_obj_t cb = topology ? core_object(topology, wb->core) : NULL;
	if (wa->node != wb->node)
		return topology ? (unsigned)hwloc_topology_get_depth(topology->hwloc) : 2;
	if (!ca || !cb)
		return 1;
	hwloc_obj_t common = hwloc_get_common_ancestor_obj(topology->hwloc, ca, cb);
	int levels = ca->depth - (common ? common->depth : 0);
	return levels > 0 ? (unsigned)levels : 1; /* not 0: two workers may share a core */
}

/* --- Levels ------------------------------------------------------------------------------------------------------- */

/* Sets `out` to the range from the first to the last core that has a hardware thread in `set`, by hwloc's logical
 * indices; cores in between are included. Returns 1; 0 if there is no such core. */
static int cores_in(const struct hd_topology *t, hwloc_const_bitmap_t set, struct heddle_core_range *out)
{
	int found = 0;
	for (unsigned core = 0; core < t->n_cores; core++) {
		hwloc_obj_t object = core_object(t, (int)core);
		if (!object || !hwloc_bitmap_intersects(object->cpuset, set))
			continue;
		*out = (struct heddle_core_range){found ? out->first : core, core};
		found = 1;
	}
	return found;
}

static int add_level(const struct hd_topology *t, struct heddle_platform *p, const char *name, hwloc_obj_type_t type)
{
	int n = hwloc_get_nbobjs_by_type(t->hwloc, type);
	if (n < 1)
		return 0;
	struct heddle_level *larger = realloc(p->levels, (p->n_levels + 1) * sizeof *larger);
	if (!larger)
		return hd_no_memory("the levels of this machine");
	p->levels = larger;
	struct heddle_level *level = &larger[p->n_levels];
	*level = (struct heddle_level){strdup(name), malloc((size_t)n * sizeof *level->groups), 0};
	for (int i = 0; level->groups && i < n; i++) {
		struct heddle_core_range range;
		hwloc_obj_t object = hwloc_get_obj_by_type(t->hwloc, type, (unsigned)i);
		if (!object->cpuset || !cores_in(t, object->cpuset, &range))
			continue; /* a memory node without cores */
		if (level->n_groups == 0 || range.first > level->groups[level->n_groups - 1].last)
			level->groups[level->n_groups++] = range;
	}
	int failed = !level->name || !level->groups;
	if (failed || level->n_groups == 0) {
		free(level->name);
		free(level->groups);
		return failed ? hd_no_memory("the levels of this machine") : 0;
	}
	p->n_levels++;
	return 0;
}

int hd_topology_levels(const struct hd_topology *topology, struct heddle_platform *platform)
{
	int status = add_level(topology, platform, "socket", HWLOC_OBJ_PACKAGE);
	if (!status)
		status = add_level(topology, platform, "numa", HWLOC_OBJ_NUMANODE);
	if (!status)
		status = add_level(topology, platform, "l3", HWLOC_OBJ_L3CACHE);
	return status;
}
