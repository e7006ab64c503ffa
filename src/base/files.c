/* Whole files, written so that a reader sees the old contents or the new, never half. */
#define _GNU_SOURCE
#include "base.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *hd_format(const char *format, ...)
{
	char *out = NULL;
	va_list args;
	va_start(args, format);
	int n = vasprintf(&out, format, args);
	va_end(args);
	return n < 0 ? NULL : out;
}

int hd_file_read(const char *path, char **data, size_t *length)
{
	FILE *f = fopen(path, "rb");
	if (!f)
		return hd_error(HEDDLE_E_IO, "cannot open %s: %s", path, strerror(errno));
	char *buffer = NULL;
	size_t used = 0, size = 0;
	for (;;) {
		if (size - used < 4096) {
			size = size ? 2 * size : 16384;
			char *larger = realloc(buffer, size);
			if (!larger) {
				free(buffer);
				fclose(f);
				return hd_no_memory(path);
			}
			buffer = larger;
		}
		size_t n = fread(buffer + used, 1, size - used - 1, f);
		used += n;
		if (n == 0)
			break;
	}
	int failed = ferror(f);
	fclose(f);
	if (failed) {
		free(buffer);
		return hd_error(HEDDLE_E_IO, "cannot read %s", path);
	}
	buffer[used] = '\0';
	*data = buffer;
	*length = used;
	return 0;
}

static int make_parents(const char *path)
{
	char *copy = strdup(path);
	if (!copy)
		return hd_no_memory(path);
	for (char *p = strchr(copy + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(copy, 0777) && errno != EEXIST) {
			int status = hd_error(HEDDLE_E_IO, "cannot make directory %s: %s", copy, strerror(errno));
			free(copy);
			return status;
		}
		*p = '/';
	}
	free(copy);
	return 0;
}

static int write_all(int fd, const char *data, size_t length)
{
	while (length) {
		ssize_t n = write(fd, data, length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		data += n;
		length -= (size_t)n;
	}
	return 0;
}

int hd_file_write(const char *path, const char *data, size_t length)
{
	int status = make_parents(path);
	if (status)
		return status;
	char *temporary = hd_format("%s.XXXXXX", path);
	if (!temporary)
		return hd_no_memory(path);
	int fd = mkstemp(temporary);
	if (fd < 0) {
		status = hd_error(HEDDLE_E_IO, "cannot write %s: %s", path, strerror(errno));
		free(temporary);
		return status;
	}
	mode_t mask = umask(0);
	umask(mask);
	int failed = write_all(fd, data, length) || fchmod(fd, 0666 & ~mask);
	failed |= close(fd) != 0;
	if (failed || rename(temporary, path)) {
		status = hd_error(HEDDLE_E_IO, "cannot write %s: %s", path, strerror(errno));
		unlink(temporary);
	}
	free(temporary);
	return status;
}

char *hd_data_dir(void)
{
	const char *xdg = getenv("XDG_DATA_HOME");
	if (xdg && xdg[0] == '/')
		return hd_format("%s/heddle", xdg);
	const char *home = getenv("HOME");
	return home && home[0] ? hd_format("%s/.local/share/heddle", home) : NULL;
}
