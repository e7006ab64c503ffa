/* Reading and writing whole files. Regular files are replaced atomically: a reader sees the old contents or the new
 * ones. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "append.h"
#include "base.h"

/* Reads the rest of the file into *data, which ends with a NUL. HEDDLE_E_IO if more than `most` bytes are left. */
static int read_all(FILE *f, const char *path, size_t most, char **data, size_t *length)
{
	char *buffer = NULL;
	size_t used = 0, size = 0;
	for (size_t n = 1; n && used <= most;) {
		if (size - used < 4096) {
			size = size ? 2 * size : 16384;
			char *larger = realloc(buffer, size);
			if (!larger) {
				free(buffer);
				return hd_no_memory(path);
			}
			buffer = larger;
		}
		n = fread(buffer + used, 1, size - used - 1, f);
		used += n;
	}
	if (used > most || ferror(f)) {
		free(buffer);
		return used > most
		           ? hd_error(HEDDLE_E_IO, "%s does not end after %zu bytes, which is the limit", path, most)
		           : hd_error(HEDDLE_E_IO, "cannot read %s", path);
	}
	buffer[used] = '\0';
	*data = buffer;
	*length = used;
	return 0;
}

/* Opens a regular file of at most `most` bytes; if `pipes` is 1, also a pipe, whose length is unknown. */
static int open_for_reading(const char *path, size_t most, int pipes, FILE **out)
{
	struct stat there;
	/* stat stands before the open, because opening a pipe may wait for ever */
	int known = stat(path, &there) == 0;
	if (known && !S_ISREG(there.st_mode) && !(pipes && S_ISFIFO(there.st_mode)))
		return hd_error(HEDDLE_E_IO, "%s is no regular file%s", path, pipes ? " and no pipe" : "");
	if (known && S_ISREG(there.st_mode) && (uintmax_t)there.st_size > most)
		return hd_error(HEDDLE_E_IO, "%s has %jd bytes; at most %zu bytes are expected of such a file", path,
		                (intmax_t)there.st_size, most);
	*out = fopen(path, "rb");
	return *out ? 0 : hd_error(HEDDLE_E_IO, "cannot open %s: %s", path, strerror(errno));
}

static int read_file(const char *path, size_t most, int pipes, char **data, size_t *length)
{
	FILE *f;
	int status = open_for_reading(path, most, pipes, &f);
	if (status)
		return status;
	status = read_all(f, path, most, data, length);
	fclose(f);
	return status;
}

int hd_file_read(const char *path, char **data, size_t *length)
{
	return read_file(path, HD_FILE_MOST, 1, data, length);
}

int hd_file_read_regular(const char *path, size_t most, char **data, size_t *length)
{
	return read_file(path, most, 0, data, length);
}

int hd_file_is_special(const char *path)
{
	struct stat there;
	return stat(path, &there) == 0 && !S_ISREG(there.st_mode);
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

/* Writing beyond the process's limit (ulimit -f) fails with EFBIG and makes the system send SIGXFSZ to this thread,
 * which would end the process. So the signal is blocked here, and consumed. */
int hd_file_append(int fd, const char *data, size_t length)
{
	const struct timespec at_once = {0};
	sigset_t too_large, before, pending;
	sigemptyset(&too_large);
	sigaddset(&too_large, SIGXFSZ);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &too_large, &before);
	int failed = write_all(fd, data, length), why = errno;
	if (failed && why == EFBIG && !sigismember(&pending, SIGXFSZ))
		sigtimedwait(&too_large, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = why;
	return failed;
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
	int status = hd_file_append(fd, data, length) ? hd_file_cannot_write(path) : 0;
	if (close(fd) && !status)
		status = hd_file_cannot_write(path);
	return status;
}

/* The suffix of a temporary file's name: the process id, and a number that no other file of the process has. */
#define TEMPORARY ".%ld-%u"

/* Gives the new file `fd` the mode, owner and group of the old one. If the process may set neither owner nor group, the
 * new file's group gets only the rights that others have. */
static void keep_mode(int fd, const struct stat *old)
{
	mode_t mode = old->st_mode & 07777;
	if (fchown(fd, old->st_uid, old->st_gid) && fchown(fd, (uid_t)-1, old->st_gid))
		mode &= ~(mode_t)(S_ISUID | S_ISGID | (S_IRWXG & ~(mode << 3)));
	(void)!fchmod(fd, mode); /* the result is ignored: a file system without modes has none to keep */
}

/* Creates a temporary file beside `path` with a name that no other process or thread uses; the caller frees *name.
 * mkstemp will not do: the file must have the mode of an ordinary new file, or of the file that it will replace. */
static int open_beside(const char *path, char **name)
{
	struct stat old;
	int replaces = stat(path, &old) == 0;
	static atomic_uint calls; /* relaxed, pairs with nothing: two calls only need to get different numbers */
	for (;;) {
		unsigned call = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
		*name = hd_format("%s" TEMPORARY, path, (long)getpid(), call);
		int fd = *name ? open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, replaces ? 0600 : 0666) : -1;
		if (fd >= 0 && replaces)
			keep_mode(fd, &old);
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

/* Whether `path` must be written directly, because renaming a temporary file to `path` would replace a device, a link,
 * or one of several names of a file. */
static int is_written_directly(const char *path)
{
	struct stat there;
	if (stat(path, &there) == 0)
		return !S_ISREG(there.st_mode) || there.st_nlink > 1;
	return lstat(path, &there) == 0; /* a symbolic link whose target does not exist */
}

int hd_file_write(const char *path, const char *data, size_t length)
{
	if (is_written_directly(path)) {
		int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		return fd < 0 ? hd_file_cannot_write(path) : write_to(fd, path, data, length);
	}
	char *target = realpath(path, NULL); /* the file behind symbolic links; NULL: it does not exist yet */
	int status = replace(target ? target : path, data, length);
	free(target);
	return status;
}

/* The path of the folder `heddle` in the directory that the environment variable `variable` names; if it is not set, in
 * the directory `usual` of the user's home. The caller frees it. */
static char *own_dir(const char *variable, const char *usual)
{
	const char *xdg = hd_getenv(variable);
	if (xdg && xdg[0] == '/')
		return hd_format("%s/heddle", xdg);
	const char *home = hd_getenv("HOME");
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

int hd_own_folder(char **folder, int *is_library)
{
	Dl_info info;
	struct link_map *map = NULL;
	int known = dladdr1((void *)&hd_own_folder, &info, (void **)&map, RTLD_DL_LINKMAP) && map;
	*is_library = known && map->l_name && map->l_name[0];
	*folder = realpath(*is_library ? map->l_name : "/proc/self/exe", NULL);
	if (!*folder)
		return errno == ENOMEM ? hd_no_memory("a path") : 0;
	*strrchr(*folder, '/') = '\0';
	return 0;
}
