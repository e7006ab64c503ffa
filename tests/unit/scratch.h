/* A directory for the files that a test makes, and reading them back. */
#ifndef TEST_SCRATCH_H
#define TEST_SCRATCH_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "ok.h"

static char directory[] = "/tmp/heddle-test-XXXXXX"; /* of this test */

static inline int set_up(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

/* What the test has made goes with the directory; folders in it must be empty. */
static inline int tear_down(void **state)
{
	(void)state;
	DIR *all = opendir(directory);
	for (struct dirent *entry; all && (entry = readdir(all));) {
		char *path = hd_format("%s/%s", directory, entry->d_name);
		remove(path); /* but for "." and "..", which it refuses */
		free(path);
	}
	if (all)
		closedir(all);
	return rmdir(directory);
}

/* A path in the directory; valid for the next three calls. */
static inline const char *file(const char *name)
{
	static char path[4][sizeof directory + 32];
	static int turn;
	char *to = path[turn++ % 4];
	snprintf(to, sizeof path[0], "%s/%s", directory, name);
	return to;
}

__attribute__((unused)) static char *contents(const char *path, size_t *length)
{
	char *data = NULL;
	OK(hd_file_read(path, &data, length));
	return data;
}

#endif
