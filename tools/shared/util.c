/* Messages, memory, lines of progress, checks of files. */
#include "tool.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/base.h"

static void message(const char *format, va_list args)
{
	tool_progress_end();
	fflush(stdout);
	fputs("heddle: ", stderr);
	hd_print_args(stderr, format, args);
	fputc('\n', stderr);
}

int tool_usage_error(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	message(format, args);
	va_end(args);
	return TOOL_USAGE;
}

int tool_failure(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	message(format, args);
	va_end(args);
	return TOOL_FAILURE;
}

void tool_option_error(const struct argp_state *state, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *text = tool_vformat(format, args);
	va_end(args);
	size_t size = 4 * strlen(text) + 1;
	char *shown = tool_alloc(size);
	hd_printable(shown, size, text);
	argp_error(state, "%s", shown);
	free(shown);
	free(text);
}

/* Whether the text was not printed before; notes the text. A campaign warns from several threads. */
static int is_news(const char *text)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static uint64_t *said; /* guarded by `lock`; hashes of texts; kept until the command ends */
	static size_t n;       /* guarded by `lock` */
	uint64_t hash = hd_hash_string(text);
	pthread_mutex_lock(&lock);
	size_t i = 0;
	while (i < n && said[i] != hash)
		i++;
	int is_new = i == n;
	if (is_new) {
		said = tool_realloc(said, (n + 1) * sizeof *said);
		said[n++] = hash;
	}
	pthread_mutex_unlock(&lock);
	return is_new;
}

void tool_warn(const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	char *text = tool_vformat(format, args);
	if (is_news(text))
		message(format, again);
	free(text);
	va_end(again);
	va_end(args);
}

void tool_warn_models(heddle_runtime *rt)
{
	for (const char *line = heddle_model_warnings(rt), *end; (end = strchr(line, '\n')); line = end + 1)
		tool_warn("%.*s", (int)(end - line), line);
}

int tool_library_error(const char *what)
{
	return tool_failure("%s: %s", what, heddle_last_error());
}

int tool_start_error(const char *what)
{
	int status = hd_error_status();
	tool_failure("%s%s%s", what ? what : "", what ? ": " : "", heddle_last_error());
	switch (status) {
	case HEDDLE_E_INVALID:
	case HEDDLE_E_UNKNOWN:
	case HEDDLE_E_FORMAT:
	case HEDDLE_E_UNSUPPORTED: return TOOL_USAGE; /* the user asks for devices that this machine lacks */
	default: return TOOL_FAILURE;
	}
}

void *tool_needed(void *p)
{
	if (!p) {
		tool_failure("out of memory");
		exit(TOOL_FAILURE);
	}
	return p;
}

void *tool_realloc(void *old, size_t size)
{
	void *p = realloc(old, size ? size : 1);
	if (!p) {
		tool_failure("out of memory (%zu bytes)", size);
		exit(TOOL_FAILURE);
	}
	return p;
}

void *tool_alloc(size_t size)
{
	void *p = tool_realloc(NULL, size);
	memset(p, 0, size);
	return p;
}

char *tool_vformat(const char *format, va_list args)
{
	va_list again;
	va_copy(again, args);
	int n = vsnprintf(NULL, 0, format, args);
	size_t size = n < 0 ? 1 : (size_t)n + 1;
	char *text = tool_alloc(size);
	vsnprintf(text, size, format, again);
	va_end(again);
	return text;
}

char *tool_format(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *text = tool_vformat(format, args);
	va_end(args);
	return text;
}

size_t tool_line_width(FILE *out)
{
	struct winsize size;
	if (!isatty(fileno(out)) || ioctl(fileno(out), TIOCGWINSZ, &size))
		return 0;
	return size.ws_col;
}

char *tool_size_text(double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	size_t unit = 0;
	while (bytes >= 1024 && unit + 1 < sizeof units / sizeof *units) {
		bytes /= 1024;
		unit++;
	}
	return tool_format(unit && bytes < 100 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

int tool_check_writable(const char *path)
{
	if (!*path)
		return tool_usage_error("the name of the file to write is empty");
	int existed = access(path, F_OK) == 0;
	FILE *f = fopen(path, "a");
	if (!f) {
		hd_file_cannot_write(path);
		return tool_failure("%s", heddle_last_error());
	}
	fclose(f);
	if (!existed)
		unlink(path);
	return TOOL_OK;
}

int tool_check_directory(const char *directory, const char *name)
{
	if (mkdir(directory, 0777) && errno != EEXIST)
		return tool_failure("cannot make the directory %s: %s", directory, strerror(errno));
	char *path = tool_format("%s/%s", directory, name);
	int status = tool_check_writable(path);
	free(path);
	return status;
}

const char *tool_extension(const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
	return dot ? dot : "";
}

double tool_wall_clock(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
