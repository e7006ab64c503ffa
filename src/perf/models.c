/* Reads stored models without a runtime: heddle/model.h. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <heddle/model.h>
#include "base/base.h"
#include "perf/internal.h"

char *heddle_models_dir(void)
{
	char host[256] = "";
	if (gethostname(host, sizeof host - 1) || !host[0])
		snprintf(host, sizeof host, "localhost");
	char *machine = hd_perf_name_component(host), *data = hd_data_dir();
	char *dir = machine && data ? hd_format("%s/models/%s", data, machine) : NULL;
	free(machine);
	free(data);
	return dir;
}

/* --- The files of a directory ------------------------------------------------------------------------------------- */

struct names {
	char **paths; /* owns */
	size_t n;
};

static void free_names(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->paths[i]);
	free(names->paths);
}

/* Whether the first n characters of `name` are the name of a model file. */
static int is_model_name(const char *name, size_t n)
{
	return n > 5 && name[0] != '.' && strncmp(name + n - 5, ".yaml", 5) == 0;
}

static int is_model_file(const char *name)
{
	return is_model_name(name, strlen(name));
}

/* Whether `name` is a temporary file that a killed process has left in place of a model file or of HD_LINKS_FILE. */
static int is_abandoned(const char *name)
{
	size_t n = hd_file_abandoned(name);
	return n && (is_model_name(name, n) || strncmp(name, HD_LINKS_FILE ".", n + 1) == 0);
}

static int add_name(struct names *names, const char *dir, const char *name)
{
	char **paths = realloc(names->paths, (names->n + 1) * sizeof *paths);
	if (paths)
		names->paths = paths;
	char *path = paths ? hd_format("%s/%s", dir, name) : NULL;
	if (!path)
		return hd_no_memory(dir);
	names->paths[names->n++] = path;
	return 0;
}

/* Lists the paths of the files in `dir` that `wanted` accepts; none after an error. `may_lack`: `dir` may be
 * missing. */
static int list_dir(const char *dir, int may_lack, int (*wanted)(const char *name), struct names *names)
{
	DIR *d = opendir(dir);
	if (!d && errno == ENOENT && may_lack)
		return 0;
	if (!d)
		return hd_error(HEDDLE_E_IO, "cannot read model directory %s: %s", dir, strerror(errno));
	int status = 0;
	for (struct dirent *e; !status && (e = readdir(d)) != NULL;)
		if (wanted(e->d_name))
			status = add_name(names, dir, e->d_name);
	closedir(d);
	if (status) {
		free_names(names);
		*names = (struct names){0};
	}
	return status;
}

/* Sets *out to a copy of `dir` or, if `dir` is NULL or "", to the default directory of models. The caller frees it. */
static int resolve(const char *dir, char **out)
{
	int given = dir && *dir;
	*out = given ? strdup(dir) : heddle_models_dir();
	if (*out)
		return 0;
	return given ? hd_no_memory(dir)
	             : hd_error(HEDDLE_E_IO, "no model directory: neither XDG_DATA_HOME nor HOME is set; name one");
}

/* --- Loading ------------------------------------------------------------------------------------------------------ */

static size_t string_bytes(const struct hd_perf_file *file, char *const *laws)
{
	size_t bytes = strlen(file->codelet) + 1;
	for (size_t i = 0; i < file->n_lines; i++)
		bytes += strlen(file->lines[i].class_name) + 1 + (laws[i] ? strlen(laws[i]) + 1 : 0);
	return bytes;
}

static const char *put_string(char **to, const char *s)
{
	size_t size = strlen(s) + 1;
	char *at = memcpy(*to, s, size);
	*to += size;
	return at;
}

static int by_codelet_class_bytes(const void *pa, const void *pb)
{
	const struct heddle_model_entry *a = pa, *b = pb;
	int order = strcmp(a->codelet, b->codelet);
	if (!order)
		order = strcmp(a->class_name, b->class_name);
	if (order)
		return order;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? -1 : 1;
	return (a->footprint > b->footprint) - (a->footprint < b->footprint);
}

/* Makes one block of memory: the array of entries, then their strings. */
static int make_entries(struct hd_perf_file *const *files, char **const *laws, size_t n_files,
                        struct heddle_model_entry **out, size_t *n_out)
{
	size_t n = 0, bytes = 0;
	for (size_t i = 0; i < n_files; i++) {
		n += files[i]->n_lines;
		bytes += string_bytes(files[i], laws[i]);
	}
	if (!n)
		return 0;
	struct heddle_model_entry *entries = malloc(n * sizeof *entries + bytes);
	if (!entries)
		return hd_no_memory("the stored models");
	char *strings = (char *)(entries + n);
	size_t k = 0;
	for (size_t i = 0; i < n_files; i++) {
		const char *codelet = files[i]->n_lines ? put_string(&strings, files[i]->codelet) : NULL;
		for (size_t j = 0; j < files[i]->n_lines; j++) {
			const struct hd_perf_line *l = &files[i]->lines[j];
			entries[k++] =
			    (struct heddle_model_entry){.codelet = codelet,
			                                .class_name = put_string(&strings, l->class_name),
			                                .footprint = l->footprint,
			                                .bytes = l->bytes,
			                                .flops = l->flops,
			                                .samples = l->samples,
			                                .rejected = l->rejected,
			                                .mean = l->mean,
			                                .stddev = l->stddev,
			                                .min = l->min,
			                                .max = l->max,
			                                .law = laws[i][j] ? put_string(&strings, laws[i][j]) : NULL};
		}
	}
	qsort(entries, n, sizeof *entries, by_codelet_class_bytes);
	*out = entries;
	*n_out = n;
	return 0;
}

/* The number of files that could not be read, and the error of the first of these. */
struct damage {
	int status;
	char *why; /* owns */
	size_t n;
};

/* Reads the files. Puts those that can be read into `files`, side by side, and returns their number; counts the others
 * in `damage`. Ends at HEDDLE_E_MEMORY. */
static size_t load_files(const struct names *names, struct hd_perf_file **files, struct damage *damage)
{
	size_t n = 0;
	for (size_t i = 0; i < names->n && damage->status != HEDDLE_E_MEMORY; i++) {
		int status = hd_perf_file_load(names->paths[i], &files[n]);
		n += !status;
		damage->n += status != 0;
		if (!status || (damage->status && status != HEDDLE_E_MEMORY))
			continue;
		free(damage->why);
		damage->why = strdup(heddle_last_error());
		damage->status = status;
	}
	return n;
}

static int report(const struct damage *damage)
{
	const char *why = damage->why ? damage->why : "a model file cannot be read";
	if (damage->n > 1)
		return hd_error(damage->status, "%s; nor can %zu other model file%s be read", why, damage->n - 1,
		                damage->n > 2 ? "s" : "");
	return hd_error(damage->status, "%s", why);
}

static int list_entries(struct hd_perf_file *const *files, size_t n_files, struct heddle_model_entry **entries,
                        size_t *n)
{
	char ***laws = calloc(n_files + 1, sizeof(char **));
	int status = laws ? 0 : hd_no_memory("the stored models");
	for (size_t i = 0; !status && i < n_files; i++)
		status = hd_perf_laws(files[i], &laws[i]);
	if (!status)
		status = make_entries(files, laws, n_files, entries, n);
	for (size_t i = 0; laws && i < n_files; i++)
		hd_perf_laws_free(laws[i], files[i]->n_lines);
	free(laws);
	return status;
}

static int load_all(const struct names *names, struct heddle_model_entry **entries, size_t *n)
{
	struct hd_perf_file **files = calloc(names->n + 1, sizeof(struct hd_perf_file *));
	if (!files)
		return hd_no_memory("the stored models");
	struct damage damage = {0};
	size_t n_files = load_files(names, files, &damage);
	int status = damage.status == HEDDLE_E_MEMORY ? HEDDLE_E_MEMORY : list_entries(files, n_files, entries, n);
	if (!status && damage.status)
		status = report(&damage);
	for (size_t i = 0; i < n_files; i++)
		hd_perf_file_free(files[i]);
	free(damage.why);
	free(files);
	return status;
}

int heddle_models_load(const char *dir, struct heddle_model_entry **entries, size_t *n)
{
	if (!entries || !n)
		return hd_error(HEDDLE_E_INVALID, "heddle_models_load: entries and n must not be NULL");
	*entries = NULL;
	*n = 0;
	char *path;
	struct names names = {0};
	int status = resolve(dir, &path);
	if (!status)
		status = list_dir(path, !(dir && *dir), is_model_file, &names);
	if (!status)
		status = load_all(&names, entries, n);
	free_names(&names);
	free(path);
	return status;
}

void heddle_models_free(struct heddle_model_entry *entries, size_t n)
{
	(void)n; /* make_entries() has put everything into one block */
	free(entries);
}

/* --- Deleting ----------------------------------------------------------------------------------------------------- */

static int purge_file(const char *path, size_t *n_removed)
{
	if (unlink(path) == 0)
		++*n_removed;
	else if (errno != ENOENT)
		return hd_error(HEDDLE_E_IO, "cannot delete %s: %s", path, strerror(errno));
	return 0;
}

/* Deletes files that begin as model files do, because the user may have named a directory with other files. */
static int purge_all(const char *dir, int may_lack, size_t *n_removed)
{
	struct names names = {0};
	int status = list_dir(dir, may_lack, is_model_file, &names);
	for (size_t i = 0; !status && i < names.n; i++)
		if (hd_perf_file_is_ours(names.paths[i]))
			status = purge_file(names.paths[i], n_removed);
	free_names(&names);
	return status;
}

/* Whether a file of is_abandoned() may be deleted: it is of HD_LINKS_FILE, or empty, or begins as model files do. */
static int may_delete_abandoned(const char *path)
{
	struct stat there;
	const char *name = strrchr(path, '/') + 1;
	return strncmp(name, HD_LINKS_FILE, strlen(HD_LINKS_FILE)) == 0 || hd_perf_file_is_ours(path) ||
	       (stat(path, &there) == 0 && S_ISREG(there.st_mode) && there.st_size == 0);
}

int hd_perf_sweep(const char *dir, const char *of)
{
	struct names names = {0};
	size_t n_removed = 0, length = of ? strlen(of) : 0;
	int status = list_dir(dir, 1, is_abandoned, &names);
	for (size_t i = 0; !status && i < names.n; i++)
		if ((!of || (strncmp(names.paths[i], of, length) == 0 && names.paths[i][length] == '.')) &&
		    may_delete_abandoned(names.paths[i]))
			status = purge_file(names.paths[i], &n_removed);
	free_names(&names);
	return status;
}

int heddle_models_purge(const char *dir, const char *codelet, size_t *n_removed)
{
	if (!n_removed)
		return hd_error(HEDDLE_E_INVALID, "heddle_models_purge: n_removed must not be NULL");
	*n_removed = 0;
	char *path;
	int status = resolve(dir, &path);
	if (status)
		return status;
	if (!codelet) {
		status = purge_all(path, !(dir && *dir), n_removed);
		if (!status)
			status = hd_perf_sweep(path, NULL);
	} else {
		char *file = hd_perf_name_file(path, codelet);
		status = file ? purge_file(file, n_removed) : hd_no_memory(codelet);
		if (!status)
			status = hd_perf_sweep(path, file);
		free(file);
	}
	free(path);
	return status;
}
