/* What the tests of performance models share: a machine with two classes, codelets, a directory. */
#ifndef PERF_FIXTURE_H
#define PERF_FIXTURE_H

#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/base.h"
#include "perf/perf.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

static char cpu_name[] = "cpu", gpu_name[] = "gpu*2 \"k40m\": #1\xc3\xa9", other_name[] = "elsewhere";
static char cpu_kind[] = "cpu";
static struct heddle_class two_classes[] = {
    {.name = cpu_name, .kind = cpu_kind, .cores = 1, .pipeline = 1, .slowdown = 1, .streams = 1},
    {.name = gpu_name, .kind = cpu_kind, .cores = 1, .pipeline = 1, .slowdown = 1, .streams = 1},
};
static struct heddle_class one_class[] = {
    {.name = other_name, .kind = cpu_kind, .cores = 1, .pipeline = 1, .slowdown = 1, .streams = 1},
    {.name = cpu_name, .kind = cpu_kind, .cores = 1, .pipeline = 1, .slowdown = 1, .streams = 1},
};
static const struct heddle_platform machine = {.classes = two_classes, .n_classes = 2};
static const struct heddle_platform other_machine = {.classes = one_class, .n_classes = 2};

static inline double flops_of(const struct heddle_size *size)
{
	return 2 * size->bytes;
}

static const struct heddle_codelet_desc gemm = {.name = "gemm", .flops = flops_of};
static const struct heddle_codelet_desc power = {.name = "power", .model = HEDDLE_MODEL_POWER};

static inline struct hd_perf *open_perf(const char *dir)
{
	struct hd_perf *perf;
	assert_int_equal(hd_perf_open(&machine, dir, 0, &perf), 0);
	return perf;
}

static inline struct hd_perf_entry *entry_of(struct hd_perf *perf, const struct heddle_codelet_desc *codelet,
                                             double bytes)
{
	struct hd_perf_model *model;
	assert_int_equal(hd_perf_model(perf, codelet, &model), 0);
	struct heddle_size size = {.bytes = bytes};
	struct hd_perf_entry *entry = hd_perf_entry(model, (uint64_t)bytes, &size);
	assert_non_null(entry);
	return entry;
}

static inline void record(struct hd_perf_entry *entry, unsigned class_id, size_t n, double us)
{
	for (size_t i = 0; i < n; i++)
		hd_perf_record(entry, class_id, us);
}

static inline int make_dir(void **state)
{
	const char *base = getenv("TMPDIR");
	char *dir = hd_format("%s/heddle-perf-XXXXXX", base && *base ? base : "/tmp");
	*state = dir;
	return dir && mkdtemp(dir) ? 0 : -1;
}

static inline int remove_dir(void **state)
{
	char *dir = *state;
	DIR *d = opendir(dir);
	for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
		char *path = hd_format("%s/%s", dir, e->d_name);
		remove(path);
		free(path);
	}
	closedir(d);
	rmdir(dir);
	free(dir);
	return 0;
}

static inline size_t count_files(const char *dir)
{
	size_t n = 0;
	DIR *d = opendir(dir);
	for (struct dirent *e; d && (e = readdir(d)) != NULL;)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static inline void assert_near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance * fabs(expected)))
		fail_msg("%.17g is not within %g of %.17g", value, tolerance, expected);
}

#endif
