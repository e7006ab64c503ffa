/* Looks for platform files in the directories of HEDDLE_PLATFORM_PATH, the user's data directory, the installed files,
 * and the source tree if the build is not installed. The installed files are found from the place of the library or the
 * command, so that an installed tree can be moved. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "machine/machine.h"

#ifndef HEDDLE_PLATFORM_DIR
#define HEDDLE_PLATFORM_DIR "/usr/local/share/heddle/platforms"
#endif
/* The path to the installed files from the directory of the library, and from the directory of the command. */
#ifndef HEDDLE_PLATFORMS_FROM_LIBRARY
#define HEDDLE_PLATFORMS_FROM_LIBRARY "../share/heddle/platforms"
#define HEDDLE_PLATFORMS_FROM_PROGRAM "../share/heddle/platforms"
#endif
#ifndef HEDDLE_PLATFORM_SOURCE_DIR
#define HEDDLE_PLATFORM_SOURCE_DIR "" /* there is no source tree */
#endif

#define SUFFIX ".yaml"

/* *out: the directory of platform files in the tree in which this library or program is installed; the caller frees it.
 * NULL: the place of this code cannot be found out. */
static int beside_this_code(char **out)
{
	char *folder;
	int is_library, status = hd_own_folder(&folder, &is_library);
	*out = NULL;
	if (!folder)
		return status;
	*out = hd_format("%s/%s", folder, is_library ? HEDDLE_PLATFORMS_FROM_LIBRARY : HEDDLE_PLATFORMS_FROM_PROGRAM);
	free(folder);
	return *out ? 0 : hd_no_memory("a path");
}

/* Calls visit(arg, directory) for each directory, the one with the highest precedence first, until a call returns a
 * status other than 0. Returns the last status. */
static int each_directory(int (*visit)(void *arg, const char *directory), void *arg)
{
	const char *path = hd_getenv("HEDDLE_PLATFORM_PATH");
	int status = 0;
	while (path && *path && !status) {
		size_t length = strcspn(path, ":");
		char *directory = strndup(path, length);
		if (!directory)
			return hd_no_memory("HEDDLE_PLATFORM_PATH");
		if (length)
			status = visit(arg, directory);
		free(directory);
		path += length + (path[length] == ':');
	}
	char *data = status ? NULL : hd_data_dir();
	if (data) {
		char *directory = hd_format("%s/platforms", data);
		free(data);
		if (!directory)
			return hd_no_memory("the data directory");
		status = visit(arg, directory);
		free(directory);
	}
	char *beside = NULL;
	status = status ? status : beside_this_code(&beside);
	const char *const installed[] = {beside, HEDDLE_PLATFORM_DIR, HEDDLE_PLATFORM_SOURCE_DIR};
	for (size_t i = 0; i < 3 && !status; i++)
		if (installed[i] && installed[i][0])
			status = visit(arg, installed[i]);
	free(beside);
	return status;
}

/* --- Listing ------------------------------------------------------------------------------------------------------ */

struct name_list {
	char **names;
	size_t n;
};

static int add_name(struct name_list *list, const char *name, size_t length)
{
	char **larger = realloc(list->names, (list->n + 2) * sizeof *larger);
	if (!larger)
		return hd_no_memory("the names of platforms");
	list->names = larger;
	larger[list->n] = strndup(name, length);
	if (!larger[list->n])
		return hd_no_memory("the names of platforms");
	larger[++list->n] = NULL;
	return 0;
}

static int list_directory(void *arg, const char *directory)
{
	DIR *dir = opendir(directory);
	if (!dir)
		return 0; /* a missing directory is no error */
	int status = 0;
	for (struct dirent *entry; !status && (entry = readdir(dir));) {
		size_t length = strlen(entry->d_name);
		if (length > strlen(SUFFIX) && entry->d_name[0] != '.' &&
		    strcmp(entry->d_name + length - strlen(SUFFIX), SUFFIX) == 0)
			status = add_name(arg, entry->d_name, length - strlen(SUFFIX));
	}
	closedir(dir);
	return status;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_and_unite(struct name_list *list)
{
	if (list->n == 0)
		return;
	qsort(list->names, list->n, sizeof *list->names, by_name);
	size_t kept = 1;
	for (size_t i = 1; i < list->n; i++) {
		if (strcmp(list->names[i], list->names[kept - 1]) == 0)
			free(list->names[i]);
		else
			list->names[kept++] = list->names[i];
	}
	list->names[kept] = NULL;
	list->n = kept;
}

int heddle_platform_names(char ***out)
{
	if (!out)
		return hd_error(HEDDLE_E_INVALID, "heddle_platform_names: out is NULL");
	struct name_list list = {calloc(1, sizeof *list.names), 0};
	int status = list.names ? each_directory(list_directory, &list) : hd_no_memory("the names of platforms");
	if (status) {
		heddle_platform_names_free(list.names);
		return status;
	}
	sort_and_unite(&list);
	*out = list.names;
	return 0;
}

void heddle_platform_names_free(char **names)
{
	for (size_t i = 0; names && names[i]; i++)
		free(names[i]);
	free(names);
}

/* --- Finding and loading ------------------------------------------------------------------------------------------ */

struct search {
	const char *name;
	char *path; /* owns; NULL until found */
};

static int look_in(void *arg, const char *directory)
{
	struct search *search = arg;
	char *path = hd_format("%s/%s" SUFFIX, directory, search->name);
	if (!path)
		return hd_no_memory("a path");
	if (access(path, F_OK) == 0) {
		search->path = path;
		return 1;
	}
	free(path);
	return 0;
}

static int unknown(const char *name)
{
	char **names, known[600] = "none was found";
	int status = heddle_platform_names(&names);
	if (status)
		return status;
	size_t used = 0;
	for (size_t i = 0; names[i] && used < sizeof known; i++)
		used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", names[i]);
	heddle_platform_names_free(names);
	return hd_error(HEDDLE_E_UNKNOWN,
	                "there is no platform \"%s\" (known: %s); for a file, write its path, as in ./%s" SUFFIX, name,
	                known, name);
}

static int load_file(const char *path, struct heddle_platform **out)
{
	char *text = NULL;
	size_t length = 0;
	int status = hd_file_read(path, &text, &length);
	if (!status)
		status = heddle_platform_parse(path, text, length, out);
	free(text);
	return status;
}

int heddle_platform_load(const char *name_or_path, struct heddle_platform **out)
{
	if (!name_or_path || !name_or_path[0] || !out)
		return hd_error(HEDDLE_E_INVALID, "heddle_platform_load: the name is empty, or out is NULL");
	size_t length = strlen(name_or_path);
	int is_path = strchr(name_or_path, '/') != NULL ||
	              (length > strlen(SUFFIX) && strcmp(name_or_path + length - strlen(SUFFIX), SUFFIX) == 0);
	if (is_path)
		return load_file(name_or_path, out);
	struct search search = {name_or_path, NULL};
	int status = each_directory(look_in, &search);
	if (status == 0)
		return unknown(name_or_path);
	if (status > 0)
		status = load_file(search.path, out);
	free(search.path);
	return status;
}
