/* libFuzzer on trace files: no input may crash, leak or hang the reader; what it accepts can be bounded, walked,
 * exported and drawn, and is written to a file that reads back to a trace written the same way. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <heddle/platform.h>
#include <heddle/trace.h>
#include "base/base.h"
#include "fuzz.h"

/* A file in memory, emptied; the library reads it by its name. */
static const char *memory_file(const char *data, size_t size)
{
	static char path[64];
	static int file = -1;
	if (file < 0) {
		file = memfd_create("trace", 0);
		snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	}
	require(file >= 0 && ftruncate(file, 0) == 0, "no file in memory");
	for (size_t at = 0; at < size;) {
		ssize_t n = pwrite(file, data + at, size - at, (off_t)at);
		require(n > 0, "a file in memory is full");
		at += (size_t)n;
	}
	return path;
}

static char folder[] = "/tmp/heddle-fuzz-trace-XXXXXX";

static void remove_folder(void)
{
	rmdir(folder);
}

/* As written, which takes a real folder because files are renamed into place; the caller frees it. */
static char *saved(const struct heddle_trace *trace, size_t *length)
{
	static int made;
	char *data = NULL, *name;
	if (!made) {
		require(mkdtemp(folder) != NULL, "no folder");
		atexit(remove_folder);
		made = 1;
	}
	name = hd_format("%s/trace", folder);
	require(name && heddle_trace_save(trace, name) == 0, "an accepted trace cannot be written");
	require(hd_file_read(name, &data, length) == 0, "what was written cannot be read");
	unlink(name);
	free(name);
	return data;
}

static double by_worker_class(const struct heddle_trace *trace, size_t task, unsigned class_id, void *arg)
{
	(void)arg;
	const struct heddle_trace_task *t = &trace->tasks[task];
	return trace->platform->workers[t->worker].class_id == class_id ? t->end - t->start : 1;
}

/* None of these may do more than refuse. */
static void use(const struct heddle_trace *trace)
{
	struct heddle_bounds bounds;
	uint64_t *ids = NULL;
	size_t n = 0;
	require(heddle_trace_makespan(trace) >= 0, "a negative makespan");
	if (trace->n_tasks < 200 && heddle_trace_bounds(trace, by_worker_class, NULL, 5, &bounds) == 0)
		require(bounds.mixed >= 0, "a negative bound");
	if (heddle_trace_critical_path(trace, &ids, &n) == 0)
		require(n <= trace->n_tasks, "a path of more tasks than there are");
	free(ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct heddle_trace *trace = NULL, *again = NULL;
	int status = heddle_trace_load(memory_file((const char *)data, size), &trace);
	if (status) {
		require(status == HEDDLE_E_FORMAT && !trace, "a refusal is not HEDDLE_E_FORMAT");
		require(strlen(heddle_last_error()) > 0, "a refusal says nothing");
		return 0;
	}
	use(trace);
	size_t n_first = 0, n_second = 0;
	char *first = saved(trace, &n_first);
	require(heddle_trace_load(memory_file(first, n_first), &again) == 0, "what was written cannot be loaded");
	char *second = saved(again, &n_second);
	require(n_first == n_second && memcmp(first, second, n_first) == 0, "a round trip changes the trace");
	free(first);
	free(second);
	heddle_trace_free(trace);
	heddle_trace_free(again);
	return 0;
}
