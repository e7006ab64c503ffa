/* Runtimes with OpenCL devices, for tests, which are left out where there is no device. */
#ifndef TEST_OPENCL_H
#define TEST_OPENCL_H

#include <stdio.h>
#include <unistd.h>
#include <heddle/opencl.h>
#include "driver/driver.h"
#include "program.h"

/* Ends the program, which so says that it is left out, if OpenCL or a device is missing. */
static inline void need_device(void)
{
	const struct heddle_driver *driver = hd_driver_find("opencl");
	unsigned n;
	if (driver && driver->count(&n) == 0)
		return;
	printf("left out: %s\n", driver ? heddle_last_error() : "this build has no OpenCL");
	exit(77);
}

/* This machine with `cores` CPU workers and n OpenCL devices with a limit of `bytes`; they are all the first one that
 * is there, with memories of their own. */
static inline struct heddle_platform *machine_with_opencl(int cores, unsigned n, uint64_t bytes, unsigned streams)
{
	struct heddle_platform *p;
	assert_ok(heddle_platform_discover(cores_up_to(cores), &p));
	for (unsigned i = 0; i < n; i++)
		assert_ok(heddle_platform_add_emulated(p, bytes, 0, 0, 1));
	for (size_t w = 0, k = 0; w < p->n_workers; w++) {
		struct heddle_class *class_ = &p->classes[p->workers[w].class_id];
		if (strcmp(class_->kind, "emulated") == 0) {
			free(class_->kind);
			class_->kind = strdup("opencl");
			class_->streams = streams;
		}
		if (strcmp(class_->kind, "opencl") == 0) {
			char *name = malloc(16), **of_node = &p->nodes[p->workers[w].node].name;
			snprintf(name, 16, "opencl%zu", k++);
			free(p->workers[w].name);
			free(*of_node);
			p->workers[w].name = name;
			*of_node = strdup(name);
			p->workers[w].device = 0;
		}
	}
	return p;
}

static inline heddle_runtime *start_opencl(unsigned n, uint64_t bytes, unsigned streams)
{
	struct heddle_config config = small_config();
	struct heddle_platform *p = machine_with_opencl(1, n, bytes, streams);
	heddle_runtime *rt;
	assert_ok(heddle_start_on(&config, p, 0, &rt));
	heddle_platform_free(p);
	return rt;
}

/* The worker of device i. */
static inline unsigned device_worker(heddle_runtime *rt, unsigned i)
{
	const struct heddle_platform *p = heddle_runtime_platform(rt);
	for (unsigned w = 0; w < p->n_workers; w++)
		if (strcmp(p->classes[p->workers[w].class_id].kind, "opencl") == 0 && i-- == 0)
			return w;
	fail_msg("there is no such device");
	return 0;
}

#endif
