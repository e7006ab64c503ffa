/* Finds the devices of this machine, and describes the machine as a platform: its cores, the devices that drivers find,
 * and emulated accelerators, as many as the settings ask for. */
#define _GNU_SOURCE
#include "devices.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/base.h"
#include "driver/driver.h"
#include "machine/machine.h"

static const struct hd_device_kind own_kinds[] = {
    {"cuda", "CUDA", "n_cuda, HEDDLE_CUDA, --cuda",
     "it was built without CUDA's headers; put nvcc on the PATH, or install cuda.h, and build it again"},
    {"opencl", "OpenCL", "n_opencl, HEDDLE_OPENCL, --opencl",
     "it was built without OpenCL's headers; apt-get install opencl-c-headers, and build it again"},
};
enum { N_OWN = sizeof own_kinds / sizeof *own_kinds };

int hd_device_kind_at(size_t i, struct hd_device_kind *out)
{
	const struct heddle_driver *driver = NULL;
	/* how many drivers that find devices are still to come, the last of them being kind number i */
	size_t left = i - N_OWN + 1;
	if (i < N_OWN) {
		*out = own_kinds[i];
		return 1;
	}
	for (size_t k = 0; left > 0 && (driver = hd_driver_registered_at(k)); k++)
		left -= driver->count != NULL;
	if (!driver)
		return 0;
	*out = (struct hd_device_kind){driver->kind, driver->kind, "devices, HEDDLE_DEVICES", "load its plug-in"};
	return 1;
}

/* What the settings say of the devices of a kind. */
struct wanted {
	int n; /* number of devices; -1: all */
	const char *which;
	unsigned streams;
	uint64_t memory;
};

/* How many devices of a kind the setting `devices` asks for, "KIND=N,KIND=N" or "all"; -1: all. */
static int number_of(const char *devices, const char *kind)
{
	size_t length = strlen(kind);
	for (const char *at = devices; at && *at; at += strspn(at, ",")) {
		if (strncmp(at, kind, length) == 0 && at[length] == '=')
			return atoi(at + length + 1);
		at += strcspn(at, ",");
	}
	return -1;
}

static struct wanted wanted_of(const struct heddle_config *c, const struct hd_device_kind *kind)
{
	if (strcmp(kind->kind, "cuda") == 0)
		return (struct wanted){c->n_cuda, NULL, (unsigned)c->cuda_streams, c->cuda_memory};
	if (strcmp(kind->kind, "opencl") == 0)
		return (struct wanted){c->n_opencl, c->opencl_devices, (unsigned)c->opencl_streams, c->opencl_memory};
	const struct heddle_driver *driver = hd_driver_registered(kind->kind);
	return (struct wanted){number_of(c->devices, kind->kind), NULL, driver && driver->open_stream ? 2 : 1, 0};
}

/* Checks one "KIND=N" of the setting `devices`; it has `length` characters. */
static int check_part(const char *part, size_t length)
{
	size_t name = strcspn(part, "=,");
	char *end = NULL;
	long n = name < length ? strtol(part + name + 1, &end, 10) : -2;
	if (!end || end != part + length || end == part + name + 1 || n < -1 || n > 10000)
		return hd_error(HEDDLE_E_INVALID,
		                "devices (HEDDLE_DEVICES) has \"%.*s\": it must be KIND=N,KIND=N with N from -1 (all) "
		                "to 10000, or all",
		                (int)length, part);
	struct hd_device_kind kind;
	for (size_t i = N_OWN; hd_device_kind_at(i, &kind); i++)
		if (strlen(kind.kind) == name && strncmp(kind.kind, part, name) == 0)
			return 0;
	return hd_error(HEDDLE_E_UNKNOWN,
	                "devices (HEDDLE_DEVICES) asks for devices of kind \"%.*s\", and no plug-in drives such: load "
	                "the one that does (HEDDLE_PLUGINS)",
	                (int)name, part);
}

static int check_devices(const char *devices)
{
	int status = 0;
	if (!devices || strcmp(devices, "all") == 0)
		return 0;
	for (const char *at = devices; *at && !status; at += strspn(at, ",")) {
		size_t length = strcspn(at, ",");
		status = check_part(at, length);
		at += length;
	}
	return status;
}

/* --- Finding devices ---------------------------------------------------------------------------------------------- */

static int is_selected(const struct heddle_device *d, const char *which)
{
	static const char *const types[] = {"gpu", "cpu", "accelerator"};
	if (!which || !*which || strcasecmp(which, "all") == 0)
		return 1;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strcasecmp(which, types[i]) == 0)
			return strcmp(d->type, types[i]) == 0;
	return strcasestr(d->name, which) || strcasestr(d->platform, which);
}

static int append(struct hd_found *found, const struct hd_found_device *device)
{
	struct hd_found_device *larger = realloc(found->list, (found->n + 1) * sizeof *larger);
	if (!larger)
		return hd_no_memory("the devices of this machine");
	found->list = larger;
	found->list[found->n++] = *device;
	return 0;
}

int hd_devices_find(const struct hd_device_kind *kind, const char *which, struct hd_found *found)
{
	const struct heddle_driver *driver = hd_driver_find(kind->kind);
	if (!driver || !driver->count)
		return hd_error(HEDDLE_E_UNSUPPORTED, "this library cannot use %s: %s", kind->title, kind->build);
	unsigned n = 0;
	int status = driver->count(&n);
	for (unsigned i = 0; i < n && !status; i++) {
		struct hd_found_device device = {.kind = *kind, .number = i};
		status = driver->describe(i, &device.about);
		if (!status && is_selected(&device.about, which))
			status = append(found, &device);
	}
	return status;
}

/* Removes each device, from index `first` on, with the PCI address of an earlier one: another driver has found it. */
static void drop_known(struct hd_found *found, size_t first)
{
	size_t left = first;
	for (size_t i = first; i < found->n; i++) {
		const char *address = found->list[i].about.address;
		size_t same = 0;
		while (same < first && !(*address && strcasecmp(found->list[same].about.address, address) == 0))
			same++;
		if (same == first)
			found->list[left++] = found->list[i];
	}
	found->n = left;
}

/* The error for too few devices of a kind. It names the devices found, which begin at index `first`. */
static int too_few(const struct hd_device_kind *kind, const struct wanted *w, const struct hd_found *found,
                   size_t first)
{
	char names[400] = "none";
	size_t length = 0;
	for (size_t i = first; i < found->n && length < sizeof names; i++)
		length += (size_t)snprintf(names + length, sizeof names - length, "%s%s%u (%s)", i > first ? ", " : "",
		                           kind->kind, found->list[i].number, found->list[i].about.name);
	int all = !w->which || strcasecmp(w->which, "all") == 0;
	return hd_error(HEDDLE_E_INVALID,
	                "%d %s device%s asked for (%s); this machine has %s%s%s%s: ask for fewer, or for -1, all there "
	                "are%s",
	                w->n, kind->title, w->n == 1 ? " is" : "s are", kind->where, names, all ? "" : " for \"",
	                all ? "" : w->which, all ? "" : "\"",
	                all ? "" : "; `heddle machine` shows what opencl_devices (HEDDLE_OPENCL_DEVICES) may be");
}

/* Appends the wanted devices of a kind to `found`. */
static int find_wanted(const struct hd_device_kind *kind, const struct wanted *w, struct hd_found *found)
{
	size_t first = found->n;
	if (w->n == 0)
		return 0;
	int status = hd_devices_find(kind, w->which, found);
	if (status == HEDDLE_E_UNSUPPORTED && w->n < 0) {
		found->n = first;
		return 0;
	}
	if (status)
		return w->n < 0 ? hd_error_context(status, "looking for %s devices (%s; 0: do without)", kind->title,
		                                   kind->where)
		                : hd_error_context(status, "%d %s device%s asked for (%s)", w->n, kind->title,
		                                   w->n == 1 ? " is" : "s are", kind->where);
	if (w->n < 0)
		drop_known(found, first);
	else if (found->n - first < (size_t)w->n)
		return too_few(kind, w, found, first);
	else
		found->n = first + (size_t)w->n;
	return 0;
}

/* --- Cores -------------------------------------------------------------------------------------------------------- */

/* The last free core near the device with this PCI address. If none is near: the last free core of the machine (if
 * `anywhere`), or -1. The last cores are taken so that CPU workers keep the first ones, as without devices. */
static int free_core(const struct hd_topology *t, const unsigned char *taken, const char *address, int anywhere)
{
	int any = -1;
	for (int core = (int)hd_topology_cores(t) - 1; core >= 0; core--) {
		if (taken[core])
			continue;
		if (hd_topology_near(t, address, core))
			return core;
		if (any < 0)
			any = core;
	}
	return anywhere ? any : -1;
}

/* Chooses cores[i], the core to which the thread of device i is bound (-1: none), and sets taken[core] to 1. n_cpu < 0:
 * each device takes a core from the CPU workers, as long as more than one core is left. Otherwise the CPU workers get
 * the first n_cpu cores, which count as taken, and the devices get cores near them that are left. */
static void choose_cores(const struct hd_topology *t, const struct hd_found *found, int n_cpu, unsigned char *taken,
                         int *cores)
{
	size_t left = hd_topology_cores(t);
	for (int i = 0; i < n_cpu && (size_t)i < hd_topology_cores(t); i++)
		taken[i] = 1;
	for (size_t i = 0; i < found->n; i++) {
		const struct heddle_device *about = &found->list[i].about;
		cores[i] = n_cpu >= 0 || left > 1 ? free_core(t, taken, about->address, n_cpu < 0) : -1;
		if (cores[i] < 0)
			continue;
		taken[cores[i]] = 1;
		left--;
		/* An OpenCL device of type "cpu" is not bound: its library may create threads when the device is
		 * opened, and these would be bound to the one core, too. */
		if (strcmp(about->type, "cpu") == 0)
			cores[i] = -1;
	}
}

/* --- The platform ------------------------------------------------------------------------------------------------- */

static int add_device(struct heddle_platform *p, const struct hd_found_device *d, const struct wanted *w, int core)
{
	if (w->memory && d->about.memory && w->memory > d->about.memory)
		return hd_error(HEDDLE_E_INVALID, "%s_memory is %llu, but %s%u (%s) has %llu bytes", d->kind.kind,
		                (unsigned long long)w->memory, d->kind.kind, d->number, d->about.name,
		                (unsigned long long)d->about.memory);
	char *class_name = hd_device_class(d->kind.kind, d->about.name);
	if (!class_name)
		return hd_no_memory("a class of workers");
	int status = hd_platform_add(p, &(struct hd_accelerator){
	                                    .class_name = class_name,
	                                    .kind = d->kind.kind,
	                                    .number = d->number,
	                                    .capacity = w->memory ? w->memory : d->about.memory / 10 * 9,
	                                    .bandwidth = HEDDLE_MEMORY_BANDWIDTH,
	                                    .slowdown = 1,
	                                    .streams = w->streams,
	                                    .core = core,
	                                });
	free(class_name);
	return status;
}

/* Adds the names of the devices to the platform's description: "here: 16 cores, 4 x NVIDIA H100". */
static int add_names(struct heddle_platform *p, const struct hd_found *found)
{
	for (size_t i = 0; i < found->n;) {
		const char *name = found->list[i].about.name;
		size_t first = i;
		while (i < found->n && strcmp(found->list[i].about.name, name) == 0)
			i++;
		char *longer = i - first > 1 ? hd_format("%s, %zu x %s", p->description, i - first, name)
		                             : hd_format("%s, %s", p->description, name);
		if (!longer)
			return hd_no_memory("a platform");
		free(p->description);
		p->description = longer;
	}
	return 0;
}

/* Adds links between any two devices of a kind, in both directions, if their driver may be able to copy directly. When
 * a runtime starts, it closes the links that the devices cannot use. The devices are the last nodes of the platform. */
static int link_devices(struct heddle_platform *p, const struct hd_found *found)
{
	size_t before = p->n_nodes - found->n;
	int status = 0;
	for (size_t i = 0; i < found->n; i++)
		for (size_t k = 0; k < found->n && !status; k++)
			if (i != k && strcmp(found->list[i].kind.kind, found->list[k].kind.kind) == 0 &&
			    hd_driver_find(found->list[i].kind.kind)->can_copy_directly)
				status = hd_platform_add_link(p, (unsigned)(before + i), (unsigned)(before + k),
				                              HEDDLE_MEMORY_BANDWIDTH, 0);
	return status;
}

static int add_emulated(struct heddle_platform *p, const struct heddle_config *c)
{
	int status = 0;
	for (int i = 0; i < c->n_emulated && !status; i++)
		status = heddle_platform_add_emulated(p, c->emulated_memory, c->emulated_bandwidth, c->emulated_latency,
		                                      c->emulated_slowdown);
	for (size_t i = 0; i < p->n_classes; i++)
		if (strcmp(p->classes[i].kind, "emulated") == 0)
			p->classes[i].streams = (unsigned)c->emulated_streams;
	return status;
}

static int describe(const struct heddle_config *c, const struct hd_topology *t, const struct hd_found *found,
                    struct heddle_platform **out)
{
	unsigned char *taken = calloc(hd_topology_cores(t), 1);
	int *cores = calloc(found->n + 1, sizeof *cores);
	int status = taken && cores ? 0 : hd_no_memory("the cores of this machine");
	struct heddle_platform *p = NULL;
	if (!status) {
		choose_cores(t, found, c->n_cpu, taken, cores);
		status = hd_platform_of_cores(t, c->n_cpu < 0 ? taken : NULL, c->n_cpu, &p);
	}
	for (size_t i = 0; i < found->n && !status; i++) {
		struct wanted w = wanted_of(c, &found->list[i].kind);
		status = add_device(p, &found->list[i], &w, cores[i]);
	}
	free(taken);
	free(cores);
	if (!status)
		status = add_names(p, found);
	if (!status)
		status = link_devices(p, found);
	if (!status)
		status = add_emulated(p, c);
	if (status)
		heddle_platform_free(p);
	else
		*out = p;
	return status;
}

int hd_machine(const struct heddle_config *config, struct heddle_platform **out)
{
	struct hd_found found = {0};
	struct hd_device_kind kind;
	int status = check_devices(config->devices), addresses = 0;
	for (size_t i = 0; !status && hd_device_kind_at(i, &kind); i++) {
		struct wanted w = wanted_of(config, &kind);
		status = find_wanted(&kind, &w, &found);
	}
	for (size_t i = 0; i < found.n; i++)
		addresses |= found.list[i].about.address[0] != '\0';
	struct hd_topology *topology;
	if (!status)
		status = hd_topology_open(addresses, &topology);
	if (!status) {
		status = describe(config, topology, &found, out);
		hd_topology_close(topology);
	}
	free(found.list);
	return status;
}

int hd_machine_cluster(const struct heddle_config *config, struct heddle_platform *platform)
{
	const char *clusters = config->clusters;
	return clusters && *clusters ? heddle_platform_cluster(platform, clusters) : 0;
}
