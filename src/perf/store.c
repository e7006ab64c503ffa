/* Model files: reads YAML into a struct hd_perf_file, and writes it (docs/models.md describes the keys). The first line
 * says that the file is a model file; the last key shows that its end is there. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/text.h"
#include "base/yaml.h"
#include "perf/internal.h"

#define FIRST_LINE "# Heddle performance models of one codelet; see docs/models.md\n"
#define VERSION "1"
#define MOST_BYTES ((size_t)1 << 30) /* larger files are refused; a model takes some hundred bytes per size */

static const struct hd_yaml_field line_fields[] = {{.key = "class"},
                                                   {.key = "footprint"},
                                                   {.key = "bytes"},
                                                   {.key = "flops"},
                                                   {.key = "samples"},
                                                   {.key = "rejected"},
                                                   {.key = "mean"},
                                                   {.key = "stddev"},
                                                   {.key = "min"},
                                                   {.key = "max"},
                                                   {"regressors", HD_YAML_LIST, 1, NULL},
                                                   {0}};
static const struct hd_yaml_field past_fields[] = {
    {.key = "class"}, {.key = "sizes"}, {"numbers", HD_YAML_LIST, 0, NULL}, {0}};
static const struct hd_yaml_field file_fields[] = {{.key = "version"},
                                                   {.key = "codelet"},
                                                   {"law", HD_YAML_TEXT, 1, NULL},
                                                   {"entries", HD_YAML_LIST, 0, line_fields},
                                                   {"past", HD_YAML_LIST, 1, past_fields},
                                                   {.key = "complete"},
                                                   {0}};

/* Reports that a file has another version, before its unknown keys are reported. */
static int check_version(const char *path, const char *data)
{
	char version[32];
	hd_yaml_version(data, version, sizeof version);
	if (!version[0] || strcmp(version, VERSION) == 0)
		return 0;
	return hd_error(HEDDLE_E_FORMAT, "%s: format version %.20s; this library reads version " VERSION, path,
	                version);
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

static int read_count(const struct hd_yaml *map, const char *key, uint64_t most, uint64_t *out)
{
	const struct hd_yaml *count = hd_yaml_get(map, key);
	char *end;
	errno = 0;
	uint64_t value = strtoull(count->text, &end, 0);
	if (count->text[0] < '0' || count->text[0] > '9' || *end || errno || value > most)
		return hd_yaml_bad(count, hd_error(HEDDLE_E_FORMAT, "\"%s\" is not a whole number from 0 to %" PRIu64,
		                                   count->text, most));
	*out = value;
	return 0;
}

static int check_line(const struct hd_yaml *entry, const struct hd_perf_line *line)
{
	double slack = 1e-9 * line->max;
	int status = 0;
	if (line->bytes < 0 || line->flops < 0 || line->stddev < 0)
		status = hd_error(HEDDLE_E_FORMAT, "bytes, flops or stddev below 0");
	else if (!line->samples)
		status = hd_error(HEDDLE_E_FORMAT, "an entry without samples");
	else if (!(line->min > 0 && line->min <= line->mean + slack && line->mean <= line->max + slack))
		status = hd_error(HEDDLE_E_FORMAT, "min %g, mean %g, max %g: they must be above 0 and ascend",
		                  line->min, line->mean, line->max);
	return status ? hd_yaml_bad(entry, status) : 0;
}

/* Sets *to to a new array with the numbers of a list, NULL if there are none; the caller frees it. */
static int read_reals(const struct hd_yaml *map, const char *key, double **to, size_t *n)
{
	const struct hd_yaml *list = hd_yaml_get(map, key);
	if (!list || !list->n)
		return 0;
	*to = calloc(list->n, sizeof **to);
	if (!*to)
		return hd_no_memory("a model");
	*n = list->n;
	int status = 0;
	for (const struct hd_yaml *value = list->first; value && !status; value = value->next)
		status = hd_yaml_real(value, &(*to)[value->index]);
	return status;
}

static int read_class(const struct hd_yaml *map, char **to)
{
	*to = strdup(hd_yaml_text(map, "class"));
	if (!*to)
		return hd_no_memory("a model");
	hd_name_decode(*to);
	return 0;
}

static int read_line(const struct hd_yaml *entry, struct hd_perf_line *to)
{
	uint64_t samples = 0, rejected = 0;
	const struct {
		const char *key;
		double *to;
	} reals[] = {{"bytes", &to->bytes},   {"flops", &to->flops}, {"mean", &to->mean},
	             {"stddev", &to->stddev}, {"min", &to->min},     {"max", &to->max}};
	int status = read_count(entry, "footprint", UINT64_MAX, &to->footprint);
	if (!status)
		status = read_count(entry, "samples", UINT32_MAX - 1, &samples);
	if (!status)
		status = read_count(entry, "rejected", UINT32_MAX, &rejected);
	for (size_t i = 0; !status && i < sizeof reals / sizeof reals[0]; i++)
		status = hd_yaml_real(hd_yaml_get(entry, reals[i].key), reals[i].to);
	to->samples = (uint32_t)samples;
	to->rejected = (uint32_t)rejected;
	if (!status)
		status = read_class(entry, &to->class_name);
	if (!status)
		status = check_line(entry, to);
	return status ? status : read_reals(entry, "regressors", &to->regressors, &to->n_regressors);
}

static int read_past(const struct hd_yaml *entry, enum heddle_model_kind kind, struct hd_perf_past_line *to)
{
	int status = read_class(entry, &to->class_name);
	if (!status)
		status = read_count(entry, "sizes", UINT64_MAX, &to->sizes);
	if (!status)
		status = read_reals(entry, "numbers", &to->numbers, &to->n_numbers);
	if (!status && !hd_perf_past_valid(to, kind))
		status = hd_yaml_bad(entry, hd_error(HEDDLE_E_FORMAT,
		                                     "%zu numbers do not suit the law, or some are not above 0",
		                                     to->n_numbers));
	return status;
}

/* The names of the laws in files, and the kinds of models that fit them. */
static const struct {
	const char *name;
	enum heddle_model_kind kind;
} laws[] = {{"power", HEDDLE_MODEL_POWER}, {"affine", HEDDLE_MODEL_AFFINE}, {"linear", HEDDLE_MODEL_LINEAR}};
enum { N_LAWS = sizeof laws / sizeof laws[0] };

static int read_law(const char *path, const char *name, enum heddle_model_kind *out)
{
	*out = HEDDLE_MODEL_HISTORY;
	for (size_t i = 0; name && i < N_LAWS; i++)
		if (strcmp(name, laws[i].name) == 0)
			*out = laws[i].kind;
	return !name || *out != HEDDLE_MODEL_HISTORY
	           ? 0
	           : hd_error(HEDDLE_E_FORMAT, "%s: law \"%s\" is none of power, affine, linear", path, name);
}

static const char *law_name(enum heddle_model_kind kind)
{
	for (size_t i = 0; i < N_LAWS; i++)
		if (laws[i].kind == kind)
			return laws[i].name;
	return NULL;
}

static size_t length_of(const struct hd_yaml *list)
{
	return list ? list->n : 0;
}

static int read_file(const struct hd_yaml *from, struct hd_perf_file *to)
{
	const char *path = from->key, *complete = hd_yaml_text(from, "complete");
	if (hd_bool_parse(complete, strlen(complete)) != 1)
		return hd_error(HEDDLE_E_FORMAT, "%s: the end is missing", path);
	to->codelet = strdup(hd_yaml_text(from, "codelet"));
	to->lines = calloc(length_of(hd_yaml_get(from, "entries")) + 1, sizeof *to->lines);
	to->past = calloc(length_of(hd_yaml_get(from, "past")) + 1, sizeof *to->past);
	if (!to->codelet || !to->lines || !to->past)
		return hd_no_memory(path);
	hd_name_decode(to->codelet);
	int status = read_law(path, hd_yaml_text(from, "law"), &to->kind);
	for (HD_YAML_EACH(entry, from, "entries")) {
		if (!status)
			status = read_line(entry, &to->lines[to->n_lines++]);
	}
	for (HD_YAML_EACH(entry, from, "past")) {
		if (!status)
			status = read_past(entry, to->kind, &to->past[to->n_past++]);
	}
	return status;
}

static int compare_lines(const void *a, const void *b)
{
	const struct hd_perf_line *x = *(const struct hd_perf_line *const *)a,
	                          *y = *(const struct hd_perf_line *const *)b;
	return x->footprint != y->footprint ? (x->footprint > y->footprint ? 1 : -1)
	                                    : strcmp(x->class_name, y->class_name);
}

/* Refuses a file with two entries for one footprint and class, because one of the two would be lost silently. */
static int check_twice(const char *path, const struct hd_perf_file *file)
{
	const struct hd_perf_line **sorted = malloc((file->n_lines + 1) * sizeof *sorted);
	if (!sorted)
		return hd_no_memory(path);
	for (size_t i = 0; i < file->n_lines; i++)
		sorted[i] = &file->lines[i];
	qsort(sorted, file->n_lines, sizeof *sorted, compare_lines);
	int status = 0;
	for (size_t i = 1; i < file->n_lines && !status; i++)
		if (compare_lines(&sorted[i - 1], &sorted[i]) == 0)
			status = hd_error(HEDDLE_E_FORMAT, "%s: footprint 0x%016" PRIx64 " is there twice for class %s",
			                  path, sorted[i]->footprint, sorted[i]->class_name);
	free(sorted);
	return status;
}

int hd_perf_file_load(const char *path, struct hd_perf_file **out)
{
	char *data;
	size_t length;
	int status = hd_file_read_regular(path, MOST_BYTES, &data, &length);
	if (status)
		return status;
	struct hd_arena arena = {0};
	const struct hd_yaml *root = NULL;
	struct hd_perf_file *file = calloc(1, sizeof *file);
	if (!file)
		status = hd_no_memory(path);
	if (!status)
		status = check_version(path, data);
	if (!status)
		status = hd_yaml_parse(path, data, length, file_fields, &arena, &root);
	if (!status)
		status = root ? read_file(root, file) : hd_error(HEDDLE_E_FORMAT, "%s: the file is empty", path);
	if (!status)
		status = check_twice(path, file);
	hd_arena_close(&arena);
	free(data);
	if (status)
		hd_perf_file_free(file);
	else
		*out = file;
	return status;
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

static void put_count(struct hd_yaml_writer *w, const char *key, const char *format, uint64_t value)
{
	char text[32];
	snprintf(text, sizeof text, format, value);
	hd_yaml_put(w, key, text);
}

static void put_reals(struct hd_yaml_writer *w, const char *key, const double *values, size_t n)
{
	hd_yaml_begin(w, key, HD_YAML_LIST, 1);
	for (size_t i = 0; i < n; i++)
		hd_yaml_put_real(w, NULL, values[i]);
	hd_yaml_end(w, HD_YAML_LIST);
}

/* Writes the encoded name of a codelet or class. */
static void put_name(struct hd_yaml_writer *w, const char *key, const char *name)
{
	char *encoded = hd_perf_name_encode(name);
	hd_yaml_put(w, key, encoded);
	free(encoded);
}

static void write_line(struct hd_yaml_writer *w, const struct hd_perf_line *line)
{
	hd_yaml_begin(w, NULL, HD_YAML_MAP, 1);
	put_name(w, "class", line->class_name);
	put_count(w, "footprint", "0x%016" PRIx64, line->footprint);
	hd_yaml_put_real(w, "bytes", line->bytes);
	hd_yaml_put_real(w, "flops", line->flops);
	put_count(w, "samples", "%" PRIu64, line->samples);
	put_count(w, "rejected", "%" PRIu64, line->rejected);
	hd_yaml_put_real(w, "mean", line->mean);
	hd_yaml_put_real(w, "stddev", line->stddev);
	hd_yaml_put_real(w, "min", line->min);
	hd_yaml_put_real(w, "max", line->max);
	if (line->n_regressors)
		put_reals(w, "regressors", line->regressors, line->n_regressors);
	hd_yaml_end(w, HD_YAML_MAP);
}

static void write_file(struct hd_yaml_writer *w, const struct hd_perf_file *file)
{
	hd_yaml_put(w, "version", VERSION);
	put_name(w, "codelet", file->codelet);
	if (law_name(file->kind))
		hd_yaml_put(w, "law", law_name(file->kind));
	hd_yaml_begin(w, "entries", HD_YAML_LIST, 0);
	for (size_t i = 0; i < file->n_lines; i++)
		write_line(w, &file->lines[i]);
	hd_yaml_end(w, HD_YAML_LIST);
	if (file->n_past)
		hd_yaml_begin(w, "past", HD_YAML_LIST, 0);
	for (size_t i = 0; i < file->n_past; i++) {
		hd_yaml_begin(w, NULL, HD_YAML_MAP, 1);
		put_name(w, "class", file->past[i].class_name);
		put_count(w, "sizes", "%" PRIu64, file->past[i].sizes);
		put_reals(w, "numbers", file->past[i].numbers, file->past[i].n_numbers);
		hd_yaml_end(w, HD_YAML_MAP);
	}
	if (file->n_past)
		hd_yaml_end(w, HD_YAML_LIST);
	hd_yaml_put(w, "complete", "true");
}

int hd_perf_file_save(const char *path, const struct hd_perf_file *file)
{
	char *yaml = NULL;
	size_t length;
	struct hd_yaml_writer *w = hd_yaml_open();
	if (w)
		write_file(w, file);
	int status = hd_yaml_close(w, path, &yaml, &length);
	if (status)
		return status;
	char *data = hd_format("%s%s", FIRST_LINE, yaml);
	free(yaml);
	status = data ? hd_parents_make(path) : hd_no_memory(path);
	if (!status)
		status = hd_file_write(path, data, strlen(data));
	free(data);
	return status;
}

void hd_perf_line_free(struct hd_perf_line *line)
{
	free(line->class_name);
	free(line->regressors);
}

void hd_perf_past_line_free(struct hd_perf_past_line *line)
{
	free(line->class_name);
	free(line->numbers);
}

void hd_perf_file_free(struct hd_perf_file *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < file->n_lines; i++)
		hd_perf_line_free(&file->lines[i]);
	for (size_t i = 0; i < file->n_past; i++)
		hd_perf_past_line_free(&file->past[i]);
	free(file->lines);
	free(file->past);
	free(file->codelet);
	free(file);
}

int hd_perf_file_is_ours(const char *path)
{
	char line[sizeof FIRST_LINE] = "";
	FILE *f = hd_file_is_special(path) ? NULL : fopen(path, "rb");
	if (!f)
		return 0;
	int ours = fgets(line, sizeof line, f) && strcmp(line, FIRST_LINE) == 0;
	fclose(f);
	return ours;
}
