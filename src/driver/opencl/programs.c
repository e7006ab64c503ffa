/* Builds programs from source, and keeps the binaries on disk. There is one file for each combination of source,
 * options, model of device and version of its driver. All four are stored in the file and compared, so that the binary
 * of another program is never used. */
#ifdef HEDDLE_HAVE_OPENCL
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "opencl.h"

struct kernel {
	struct kernel *next;
	char *name; /* owned */
	cl_kernel kernel;
};

struct hd_cl_program {
	struct hd_cl_program *next;
	const struct heddle_opencl_source *source; /* borrowed from the program */
	cl_program program;                        /* NULL: it cannot be built, and `status` and `message` say why */
	int status;                                /* why the program cannot be built */
	char *message;                             /* owned */
	struct kernel *kernels;                    /* owned */
};

static const char *name_of(const struct heddle_opencl_source *source)
{
	return source->name ? source->name : "a program";
}

/* --- The cache on disk -------------------------------------------------------------------------------------------- */

static const char magic[16] = "heddle opencl 1";

/* The beginning of a cache file; the key follows, then the binary. */
struct header {
	char magic[sizeof magic];
	uint64_t key_size, binary_size, checksum; /* bytes; bytes; checksum of key and binary */
};

enum { MOST_BYTES = 1 << 30 }; /* a larger file is not read */

struct entry {
	char *path, *key; /* owned; NULL: programs are not kept on disk */
	size_t key_size;
};

static uint64_t checksum(uint64_t seed, const void *data, size_t size)
{
	const char *p = data;
	for (uint64_t word; size; p += word, size -= word) {
		uint64_t value = 0;
		word = size < sizeof value ? size : sizeof value;
		memcpy(&value, p, word);
		seed = hd_hash(seed, value);
	}
	return seed;
}

static void close_entry(struct entry *e)
{
	free(e->path);
	free(e->key);
	*e = (struct entry){0};
}

/* The place on disk for the binary of a program for this device. */
static struct entry open_entry(const struct hd_cl_device *d, const struct heddle_opencl_source *source)
{
	char device[128], vendor[128], version[256], driver[128];
	struct entry e = {0};
	hd_cl_device_text(d->id, CL_DEVICE_NAME, device, sizeof device);
	hd_cl_device_text(d->id, CL_DEVICE_VENDOR, vendor, sizeof vendor);
	hd_cl_device_text(d->id, CL_DEVICE_VERSION, version, sizeof version);
	hd_cl_device_text(d->id, CL_DRIVER_VERSION, driver, sizeof driver);
	char *folder = hd_cache_dir();
	e.key = hd_format("%s\n%s\n%s\n%s\n%s\n%s", device, vendor, version, driver,
	                  source->options ? source->options : "", source->text);
	e.key_size = e.key ? strlen(e.key) : 0;
	if (folder && e.key)
		e.path = hd_format("%s/opencl/%016llx.bin", folder, (unsigned long long)checksum(0, e.key, e.key_size));
	free(folder);
	if (!e.path)
		close_entry(&e);
	return e;
}

/* Reads a program's binary; the result points into *file, which the caller frees. NULL: there is no file, or it is
 * damaged, or it belongs to another program. */
static const unsigned char *read_entry(const struct entry *e, char **file, size_t *size)
{
	struct header h;
	size_t length = 0;
	if (!e->path || hd_file_read_regular(e->path, MOST_BYTES, file, &length))
		return NULL;
	const char *key = *file + sizeof h, *binary = key + e->key_size;
	if (length >= sizeof h + e->key_size) {
		memcpy(&h, *file, sizeof h);
		*size = length - sizeof h - e->key_size;
		if (!memcmp(h.magic, magic, sizeof magic) && h.key_size == e->key_size && h.binary_size == *size &&
		    h.checksum == checksum(0, key, length - sizeof h) && !memcmp(key, e->key, e->key_size))
			return (const unsigned char *)binary;
	}
	free(*file);
	*file = NULL;
	return NULL;
}

static void write_entry(const struct entry *e, const unsigned char *binary, size_t size)
{
	size_t length = sizeof(struct header) + e->key_size + size;
	char *file = malloc(length);
	if (!file)
		return;
	char *key = file + sizeof(struct header);
	memcpy(key, e->key, e->key_size);
	memcpy(key + e->key_size, binary, size);
	struct header h = {
	    .key_size = e->key_size, .binary_size = size, .checksum = checksum(0, key, e->key_size + size)};
	memcpy(h.magic, magic, sizeof magic);
	memcpy(file, &h, sizeof h);
	if (!hd_parents_make(e->path))
		hd_file_write(e->path, file, length);
	free(file);
}

/* --- Building ----------------------------------------------------------------------------------------------------- */

/* The compiler's messages from the first error on; the caller frees them. NULL: there are none, or out of memory. */
static char *build_log(const struct hd_cl_device *d, cl_program program)
{
	size_t size = 0;
	if (hd_cl.clGetProgramBuildInfo(program, d->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) || !size)
		return NULL;
	char *log = calloc(1, size + 1);
	if (!log || hd_cl.clGetProgramBuildInfo(program, d->id, CL_PROGRAM_BUILD_LOG, size, log, NULL)) {
		free(log);
		return NULL;
	}
	char *line = strcasestr(log, "error");
	while (line && line > log && line[-1] != '\n')
		line--;
	if (line)
		memmove(log, line, strlen(line) + 1);
	for (size_t n = strlen(log); n && (log[n - 1] == '\n' || log[n - 1] == ' '); n--)
		log[n - 1] = '\0';
	return log;
}

static int build_failed(struct hd_cl_device *d, const struct heddle_opencl_source *source, cl_program program,
                        cl_int code)
{
	char *log = build_log(d, program);
	int status = hd_cl_error(HD_CL_MAKING, code, "clBuildProgram", d->label);
	if (log && *log)
		status = hd_error(status, "%s does not compile for %s (options \"%s\"): %s", name_of(source), d->label,
		                  source->options ? source->options : "", log);
	free(log);
	return status;
}

/* Builds *program, which the function `call` of OpenCL has created; *program NULL: `call` has failed with `code`. */
static int build(struct hd_cl_device *d, const struct heddle_opencl_source *source, const char *call, cl_int code,
                 cl_program *program)
{
	if (!*program)
		return hd_cl_error(HD_CL_MAKING, code, call, d->label);
	code = hd_cl.clBuildProgram(*program, 1, &d->id, source->options, NULL, NULL);
	if (!code)
		return 0;
	int status = build_failed(d, source, *program, code);
	hd_cl.clReleaseProgram(*program);
	*program = NULL;
	return status;
}

static int build_binary(struct hd_cl_device *d, const struct heddle_opencl_source *source, const unsigned char *binary,
                        size_t size, cl_program *out)
{
	cl_int code = 0;
	*out = hd_cl.clCreateProgramWithBinary(d->context->context, 1, &d->id, &size, &binary, NULL, &code);
	return build(d, source, "clCreateProgramWithBinary", code, out);
}

/* Writes the binary for device `d` to disk. `n`: the number of devices, and so of binaries, that the program has. */
static void keep_one(const struct hd_cl_device *d, cl_program program, const struct entry *e, cl_uint n)
{
	cl_device_id *ids = calloc(n, sizeof *ids);
	size_t *sizes = calloc(n, sizeof *sizes);
	unsigned char **binaries = calloc(n, sizeof *binaries);
	cl_uint i = 0;
	if (ids && sizes && binaries &&
	    !hd_cl.clGetProgramInfo(program, CL_PROGRAM_DEVICES, n * sizeof *ids, ids, NULL) &&
	    !hd_cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, n * sizeof *sizes, sizes, NULL)) {
		while (i < n && ids[i] != d->id)
			i++;
		if (i < n && sizes[i] && (binaries[i] = malloc(sizes[i])) &&
		    !hd_cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, n * sizeof *binaries, binaries, NULL))
			write_entry(e, binaries[i], sizes[i]);
		if (i < n)
			free(binaries[i]);
	}
	free(binaries);
	free(sizes);
	free(ids);
}

static void keep(const struct hd_cl_device *d, cl_program program, const struct entry *e)
{
	cl_uint n = 0;
	if (e->path && !hd_cl.clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof n, &n, NULL) && n)
		keep_one(d, program, e, n);
}

static int build_source(struct hd_cl_device *d, const struct heddle_opencl_source *source, cl_program *out)
{
	cl_int code = 0;
	const char *text = source->text;
	*out = hd_cl.clCreateProgramWithSource(d->context->context, 1, &text, NULL, &code);
	return build(d, source, "clCreateProgramWithSource", code, out);
}

/* Makes the program from its binary on disk; without a binary, compiles the program and puts the binary on disk. */
static int make_program(struct hd_cl_device *d, const struct heddle_opencl_source *source, cl_program *out)
{
	char *file = NULL;
	size_t size;
	struct hd_sentence kept;
	hd_error_keep(&kept);
	struct entry e = open_entry(d, source);
	pthread_mutex_lock(&d->context->building);
	const unsigned char *binary = read_entry(&e, &file, &size);
	int status = binary ? build_binary(d, source, binary, size, out) : HEDDLE_E_IO;
	hd_error_give_back(&kept); /* a failure of the cache is no error */
	if (status) {
		status = build_source(d, source, out);
		if (!status) {
			keep(d, *out, &e);
			hd_error_give_back(&kept);
		}
	}
	pthread_mutex_unlock(&d->context->building);
	free(file);
	close_entry(&e);
	return status;
}

/* --- Programs and kernels of a device ----------------------------------------------------------------------------- */

static int find_program(struct hd_cl_device *d, const struct heddle_opencl_source *source, struct hd_cl_program **out)
{
	struct hd_cl_program *p = d->programs;
	while (p && p->source != source)
		p = p->next;
	if (!p) {
		p = calloc(1, sizeof *p);
		if (!p)
			return hd_no_memory("an OpenCL program");
		p->source = source;
		p->status = make_program(d, source, &p->program);
		if (p->status && p->status != HEDDLE_E_FORMAT) { /* the next attempt may succeed */
			int status = p->status;
			free(p);
			return status;
		}
		p->message = p->status ? strdup(heddle_last_error()) : NULL;
		p->next = d->programs;
		d->programs = p;
	}
	if (p->status)
		return hd_error(p->status, "%s", p->message ? p->message : name_of(source));
	*out = p;
	return 0;
}

static int no_kernel(const struct hd_cl_device *d, const struct hd_cl_program *p, const char *name, cl_int code)
{
	char names[512] = "";
	if (code != CL_INVALID_KERNEL_NAME)
		return hd_cl_error(HD_CL_MAKING, code, "clCreateKernel", d->label);
	hd_cl.clGetProgramInfo(p->program, CL_PROGRAM_KERNEL_NAMES, sizeof names, names, NULL);
	return hd_error(HEDDLE_E_UNKNOWN, "%s has no kernel called %s; its kernels are: %s", name_of(p->source), name,
	                names);
}

static int make_kernel(const struct hd_cl_device *d, struct hd_cl_program *p, const char *name, struct kernel **out)
{
	cl_int code;
	struct kernel *k = calloc(1, sizeof *k);
	if (k)
		k->name = strdup(name);
	if (!k || !k->name) {
		free(k);
		return hd_no_memory("an OpenCL kernel");
	}
	k->kernel = hd_cl.clCreateKernel(p->program, name, &code);
	if (!k->kernel) {
		free(k->name);
		free(k);
		return no_kernel(d, p, name, code);
	}
	k->next = p->kernels;
	p->kernels = k;
	*out = k;
	return 0;
}

int hd_cl_kernel(struct hd_cl_device *d, const struct heddle_opencl_source *source, const char *name, cl_kernel *out)
{
	struct hd_cl_program *p = NULL;
	int status = find_program(d, source, &p);
	if (status)
		return status;
	struct kernel *k = p->kernels;
	while (k && strcmp(k->name, name) != 0)
		k = k->next;
	if (!k)
		status = make_kernel(d, p, name, &k);
	if (!status)
		*out = k->kernel;
	return status;
}

const char *hd_cl_kernel_name(const struct hd_cl_device *d, const struct _cl_kernel *kernel)
{
	for (const struct hd_cl_program *p = d->programs; p; p = p->next)
		for (const struct kernel *k = p->kernels; k; k = k->next)
			if (k->kernel == kernel)
				return k->name;
	return "that the program has made";
}

static void free_program(struct hd_cl_program *p)
{
	for (struct kernel *k = p->kernels, *next; k; k = next) {
		next = k->next;
		hd_cl.clReleaseKernel(k->kernel);
		free(k->name);
		free(k);
	}
	if (p->program)
		hd_cl.clReleaseProgram(p->program);
	free(p->message);
	free(p);
}

void hd_cl_programs_close(struct hd_cl_device *d)
{
	while (d->programs) {
		struct hd_cl_program *p = d->programs;
		d->programs = p->next;
		free_program(p);
	}
}
#endif
