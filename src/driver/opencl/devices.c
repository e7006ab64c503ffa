/* OpenCL devices of the machine, and the contexts of the open devices. */
#ifdef HEDDLE_HAVE_OPENCL
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "opencl.h"

/* --- Which there are ---------------------------------------------------------------------------------------------- */

struct found {
	cl_platform_id platform;
	cl_device_id device;
};

/* The devices of the machine, platform by platform, in OpenCL's order. */
struct list {
	struct found *found; /* owned */
	unsigned n;
};

static int add_devices(struct list *l, cl_platform_id platform)
{
	cl_uint n = 0;
	cl_int code = hd_cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &n);
	if (code == CL_DEVICE_NOT_FOUND || (!code && !n))
		return 0;
	if (code)
		return hd_cl_error(HD_CL_MAKING, code, "clGetDeviceIDs", "OpenCL");
	struct found *larger = realloc(l->found, (l->n + n) * sizeof *larger);
	cl_device_id *ids = calloc(n, sizeof *ids);
	l->found = larger ? larger : l->found;
	if (!larger || !ids) {
		free(ids);
		return hd_no_memory("the list of OpenCL devices");
	}
	code = hd_cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n, ids, NULL);
	for (cl_uint i = 0; i < n && !code; i++)
		l->found[l->n++] = (struct found){platform, ids[i]};
	free(ids);
	return code ? hd_cl_error(HD_CL_MAKING, code, "clGetDeviceIDs", "OpenCL") : 0;
}

/* Finds all devices; the caller frees out->found. HEDDLE_E_UNSUPPORTED: there are none. */
static int find_all(struct list *out)
{
	struct list l = {0};
	cl_uint n = 0;
	int status = hd_cl_load();
	if (status)
		return status;
	cl_int code = hd_cl.clGetPlatformIDs(0, NULL, &n);
	if (code || !n)
		return hd_cl_error(HD_CL_MAKING, code ? code : -1001, "clGetPlatformIDs", "OpenCL");
	cl_platform_id *platforms = calloc(n, sizeof(cl_platform_id));
	if (!platforms)
		return hd_no_memory("the list of OpenCL platforms");
	code = hd_cl.clGetPlatformIDs(n, platforms, NULL);
	status = code ? hd_cl_error(HD_CL_MAKING, code, "clGetPlatformIDs", "OpenCL") : 0;
	for (cl_uint i = 0; i < n && !status; i++)
		status = add_devices(&l, platforms[i]);
	free(platforms);
	if (!status && !l.n)
		status = hd_cl_error(HD_CL_MAKING, CL_DEVICE_NOT_FOUND, "clGetDeviceIDs", "OpenCL");
	if (status)
		free(l.found);
	else
		*out = l;
	return status;
}

int hd_cl_count(unsigned *n)
{
	struct list l;
	int status = find_all(&l);
	if (status)
		return status;
	*n = l.n;
	free(l.found);
	return 0;
}

/* Finds the device with number `device` among all devices of the machine. */
static int find_one(unsigned device, struct found *out)
{
	struct list l;
	int status = find_all(&l);
	if (status)
		return status;
	if (device < l.n)
		*out = l.found[device];
	else
		status = hd_error(HEDDLE_E_UNSUPPORTED, "there is no OpenCL device %u: this machine has %u, from 0 on",
		                  device, l.n);
	free(l.found);
	return status;
}

/* --- What they are ------------------------------------------------------------------------------------------------ */

/* Copies `text` without the spaces at its ends, which some drivers leave in names, cut to `size` bytes. */
static void trim(const char *text, char *out, size_t size)
{
	text += strspn(text, " ");
	size_t n = strlen(text);
	while (n && text[n - 1] == ' ')
		n--;
	snprintf(out, size, "%.*s", (int)n, text);
}

void hd_cl_device_text(cl_device_id id, cl_device_info what, char *out, size_t size)
{
	char text[1024] = "";
	out[0] = '\0';
	if (!hd_cl.clGetDeviceInfo(id, what, sizeof text, text, NULL))
		trim(text, out, size);
}

static void write_platform(cl_platform_id platform, char *out, size_t size)
{
	char text[1024] = "";
	out[0] = '\0';
	if (!hd_cl.clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof text, text, NULL))
		trim(text, out, size);
}

static void write_type(cl_device_id id, char *out, size_t size)
{
	cl_device_type type = 0;
	hd_cl.clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, NULL);
	snprintf(out, size, "%s",
	         type & CL_DEVICE_TYPE_GPU           ? "gpu"
	         : type & CL_DEVICE_TYPE_CPU         ? "cpu"
	         : type & CL_DEVICE_TYPE_ACCELERATOR ? "accelerator"
	                                             : "");
}

/* Writes the device's address on the PCI bus, if its driver has an extension that tells it. */
static void write_address(cl_device_id id, char *out, size_t size)
{
	enum { KHR_PCI_BUS_INFO = 0x410F, NV_PCI_BUS = 0x4008, NV_PCI_SLOT = 0x4009, NV_PCI_DOMAIN = 0x400A };
	struct {
		cl_uint domain, bus, device, function;
	} pci = {0};
	cl_uint slot = 0;
	out[0] = '\0';
	int known = !hd_cl.clGetDeviceInfo(id, KHR_PCI_BUS_INFO, sizeof pci, &pci, NULL);
	if (!known) {
		known = !hd_cl.clGetDeviceInfo(id, NV_PCI_BUS, sizeof pci.bus, &pci.bus, NULL) &&
		        !hd_cl.clGetDeviceInfo(id, NV_PCI_SLOT, sizeof slot, &slot, NULL);
		pci.device = slot >> 3;
		pci.function = slot & 7;
		hd_cl.clGetDeviceInfo(id, NV_PCI_DOMAIN, sizeof pci.domain, &pci.domain, NULL);
	}
	if (known)
		snprintf(out, size, "%04x:%02x:%02x.%x", pci.domain & 0xffff, pci.bus & 0xff, pci.device & 0x1f,
		         pci.function & 7);
}

int heddle_opencl_has_double(unsigned device)
{
	struct found found = {0};
	cl_device_fp_config how = 0; /* a device that does not know this property leaves the value unchanged */
	if (find_one(device, &found))
		return 0;
	hd_cl.clGetDeviceInfo(found.device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof how, &how, NULL);
	return how != 0;
}

int hd_cl_describe(unsigned device, struct heddle_device *out)
{
	struct found found = {0};
	int status = find_one(device, &found);
	if (status)
		return status;
	cl_ulong memory = 0;
	cl_int code = hd_cl.clGetDeviceInfo(found.device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL);
	if (code)
		return hd_cl_error(HD_CL_MAKING, code, "clGetDeviceInfo", "OpenCL");
	*out = (struct heddle_device){.memory = memory};
	hd_cl_device_text(found.device, CL_DEVICE_NAME, out->name, sizeof out->name);
	hd_cl_device_text(found.device, CL_DRIVER_VERSION, out->driver, sizeof out->driver);
	write_type(found.device, out->type, sizeof out->type);
	write_platform(found.platform, out->platform, sizeof out->platform);
	write_address(found.device, out->address, sizeof out->address);
	return 0;
}

/* --- Contexts ----------------------------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards `contexts`, and each context's list of devices */
static struct hd_cl_context *contexts;

/* Writes to `out` the devices of the OpenCL platform `of` for which the runtime's platform has workers; returns how
 * many. `out` must have room for one per device of the list. */
static cl_uint devices_of(const struct heddle_platform *platform, const struct list *l, cl_platform_id of,
                          cl_device_id *out)
{
	cl_uint n = 0;
	for (unsigned i = 0; i < l->n; i++) {
		int used = 0;
		for (size_t w = 0; w < platform->n_workers && l->found[i].platform == of; w++) {
			const struct heddle_worker *worker = &platform->workers[w];
			used |= worker->device == i && !strcmp(platform->classes[worker->class_id].kind, "opencl");
		}
		if (used)
			out[n++] = l->found[i].device;
	}
	return n;
}

/* Creates the OpenCL context x->context, for the devices of x->platform that the runtime uses. */
static int make_context(struct hd_cl_context *x)
{
	struct list l;
	int status = find_all(&l);
	if (status)
		return status;
	cl_device_id *ids = calloc(l.n, sizeof(cl_device_id));
	if (!ids) {
		free(l.found);
		return hd_no_memory("an OpenCL context");
	}
	const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)x->platform, 0};
	cl_int code;
	cl_uint n = devices_of(x->of, &l, x->platform, ids);
	x->context = hd_cl.clCreateContext(properties, n, ids, NULL, NULL, &code);
	free(ids);
	free(l.found);
	return x->context ? 0 : hd_cl_error(HD_CL_MAKING, code, "clCreateContext", "OpenCL");
}

static void free_context(struct hd_cl_context *x)
{
	if (x->context)
		hd_cl.clReleaseContext(x->context);
	pthread_mutex_destroy(&x->building);
	hd_cl_blocks_fini(&x->host);
	hd_cl_blocks_fini(&x->buffers);
	free(x);
}

static int new_context(const struct heddle_platform *of, cl_platform_id platform, struct hd_cl_context **out)
{
	struct hd_cl_context *x = calloc(1, sizeof *x);
	if (!x)
		return hd_no_memory("an OpenCL context");
	x->of = of;
	x->platform = platform;
	pthread_mutex_init(&x->building, NULL);
	hd_cl_blocks_init(&x->buffers);
	hd_cl_blocks_init(&x->host);
	int status = make_context(x);
	if (status)
		free_context(x);
	else
		*out = x;
	return status;
}

/* Puts the device into the runtime's context for this OpenCL platform; the first device of the platform creates the
 * context. */
static int join_context(struct hd_cl_device *d, const struct heddle_platform *of, cl_platform_id platform)
{
	int status = 0;
	pthread_mutex_lock(&lock);
	struct hd_cl_context *x = contexts;
	while (x && (x->of != of || x->platform != platform))
		x = x->next;
	if (!x) {
		status = new_context(of, platform, &x);
		if (!status) {
			x->next = contexts;
			contexts = x;
		}
	}
	if (!status) {
		d->context = x;
		d->next = x->devices;
		x->devices = d;
	}
	pthread_mutex_unlock(&lock);
	return status;
}

static void leave_context(struct hd_cl_device *d)
{
	struct hd_cl_context *x = d->context, **p = &contexts;
	pthread_mutex_lock(&lock);
	struct hd_cl_device **q = &x->devices;
	while (*q != d)
		q = &(*q)->next;
	*q = d->next;
	if (!x->devices) {
		while (*p != x)
			p = &(*p)->next;
		*p = x->next;
		free_context(x);
	}
	pthread_mutex_unlock(&lock);
}

/* --- Devices ------------------------------------------------------------------------------------------------------ */

static int open_errands(struct hd_cl_device *d)
{
	cl_int code;
	d->errands = hd_cl.clCreateCommandQueue(d->context->context, d->id, 0, &code);
	return d->errands ? 0 : hd_cl_error(HD_CL_MAKING, code, "clCreateCommandQueue", d->label);
}

int hd_cl_open(const struct heddle_platform *platform, unsigned worker, void **device)
{
	const struct heddle_worker *w = &platform->workers[worker];
	char name[128];
	struct found found = {0};
	int status = find_one(w->device, &found);
	if (status)
		return status;
	hd_cl_device_text(found.device, CL_DEVICE_NAME, name, sizeof name);
	struct hd_cl_device *d = calloc(1, sizeof *d);
	if (d)
		*d = (struct hd_cl_device){
		    .id = found.device, .node = w->node, .label = hd_format("%s (%s)", w->name, name)};
	if (!d || !d->label) {
		free(d);
		return hd_no_memory("an OpenCL device");
	}
	status = join_context(d, platform, found.platform);
	if (!status) {
		status = open_errands(d);
		if (status)
			leave_context(d);
	}
	if (status) {
		free(d->label);
		free(d);
		return status;
	}
	*device = d;
	return 0;
}

void hd_cl_close(void *device)
{
	struct hd_cl_device *d = device;
	hd_cl_programs_close(d);
	hd_cl.clReleaseCommandQueue(d->errands);
	leave_context(d);
	free(d->label);
	free(d);
}

int hd_cl_can_copy_directly(void *device, unsigned from_node, unsigned to_node)
{
	const struct hd_cl_device *d = device;
	unsigned other = from_node == d->node ? to_node : from_node;
	int found = 0;
	pthread_mutex_lock(&lock);
	for (const struct hd_cl_device *e = d->context->devices; e; e = e->next)
		found |= e->node == other;
	pthread_mutex_unlock(&lock);
	return found;
}
#endif
