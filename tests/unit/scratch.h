/* A directory for the files that a test makes, and reading them back. */
#ifndef TEST_SCRATCH_H
#define TEST_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "ok.h"

static char directory[] = "/tmp/heddle-trace-XXXXXX"; /* of this test */

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int tear_down(void **state)
{
	static const char *const made[] = {"a.trace", "b.trace", "a.csv", "a.json", "a.dot",
	                                   "a.paje",  "a.png",   "a.svg", "a.pdf"};
	(void)state;
	for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
		char *path = hd_format("%s/%s", directory, made[i]);
		unlink(path);
		free(path);
	}
	return rmdir(directory);
}

/* A path in the directory; valid until the next call. */
static const char *file(const char *name)
{
	static char path[sizeof directory + 32];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	return path;
}

static char *contents(const char *path, size_t *length)
{
	char *data = NULL;
	OK(hd_file_read(path, &data, length));
	return data;
}

#endif
