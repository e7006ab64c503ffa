/* Reading and writing whole files. Regular files are replaced atomically: a reader sees the old contents or the new
 * ones. */
#define _GNU_SOURCE
#include "base.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
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

int hd_file_is_special(const char *path)
{
	struct stat there;
	return stat(path, &there) == 0 && !S_ISREG(there.st_mode);
}

int hd_file_read_regular(const char *path, size_t most, char **data, size_t *length)
{
	struct stat there;
	if (stat(path, &there) == 0 && !S_ISREG(there.st_mode))
		return hd_error(HEDDLE_E_IO, "%s is no regular file", path);
	if (stat(path, &there) == 0 && (uintmax_t)there.st_size > most)
		return hd_error(HEDDLE_E_IO, "%s has %jd bytes; at most %zu bytes are expected of such a file", path,
		                (intmax_t)there.st_size, most);
	return hd_file_read(path, data, length);
}

int hd_parents_make(const char *path)
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

int hd_file_cannot_write(const char *path)
{
	int why = errno;
	const char *slash = strrchr(path, '/');
	struct stat there;
	char *directory = why == ENOENT && slash ? strndup(path, (size_t)(slash - path)) : NULL;
	int missing = directory && *directory && stat(directory, &there);
	int status =
	    missing ? hd_error(HEDDLE_E_IO, "cannot write %s: there is no directory %s; make it first", path, directory)
	            : hd_error(HEDDLE_E_IO, "cannot write %s: %s", path, strerror(why));
	free(directory);
	return status;
}

static int write_to(int fd, const char *path, const char *data, size_t length)
{
	int status = write_all(fd, data, length) ? hd_file_cannot_write(path) : 0;
	if (close(fd) && !status)
		status = hd_file_cannot_write(path);
	return status;
}

/* What the name of a temporary adds to the name of its file: the process, and a number that no other temporary of the
 * process has. */
#define TEMPORARY ".%ld-%u"

/* Makes a temporary beside `path`, which nobody else writes; the caller frees its *name. mkstemp would not do, because
 * it gives the file another mode than that of an ordinary new file. */
static int open_beside(const char *path, char **name)
{
	static atomic_uint calls; /* relaxed, pairs with nothing: the numbers need only differ */
	for (;;) {
		unsigned call = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
		*name = hd_format("%s" TEMPORARY, path, (long)getpid(), call);
		int fd = *name ? open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
		if (fd >= 0)
			return fd;
		free(*name);
		if (!*name || errno != EEXIST)
			return -1;
	}
}

static int replace(const char *path, const char *data, size_t length)
{
	char *temporary;
	int fd = open_beside(path, &temporary);
	if (fd < 0)
		return hd_file_cannot_write(path);
	int status = write_to(fd, path, data, length);
	if (!status && rename(temporary, path))
		status = hd_file_cannot_write(path);
	if (status)
		unlink(temporary);
	free(temporary);
	return status;
}

size_t hd_file_abandoned(const char *name)
{
	const char *dot = strrchr(name, '.');
	long process;
	unsigned number;
	int end = 0;
	if (!dot || sscanf(dot, TEMPORARY "%n", &process, &number, &end) != 2 || dot[end] || process <= 0)
		return 0;
	return kill((pid_t)process, 0) && errno == ESRCH ? (size_t)(dot - name) : 0;
}

int hd_file_write(const char *path, const char *data, size_t length)
{
	if (hd_file_is_special(path)) { /* written directly: renaming would replace the device */
		int fd = open(path, O_WRONLY | O_CLOEXEC);
		return fd < 0 ? hd_file_cannot_write(path) : write_to(fd, path, data, length);
	}
	char *target = realpath(path, NULL); /* the file behind symbolic links; NULL: it does not exist yet */
	int status = replace(target ? target : path, data, length);
	free(target);
	return status;
}

/* The folder `heddle` in the directory that `variable` names, or in `usual` of the user's home. */
static char *own_dir(const char *variable, const char *usual)
{
	const char *xdg = getenv(variable);
	if (xdg && xdg[0] == '/')
		return hd_format("%s/heddle", xdg);
	const char *home = getenv("HOME");
	return home && home[0] ? hd_format("%s/%s/heddle", home, usual) : NULL;
}

char *hd_data_dir(void)
{
	return own_dir("XDG_DATA_HOME", ".local/share");
}

char *hd_cache_dir(void)
{
	return own_dir("XDG_CACHE_HOME", ".cache");
}
