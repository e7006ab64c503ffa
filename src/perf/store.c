/* Model files: YAML text to struct hd_perf_file and back (docs/models.md describes the keys).
 *
 * libcyaml gets every value as a string, because version 1.3 reads "6 ms" as the number 6 and writes doubles through a
 * static buffer, which two runtimes would share. The first line of a file says that it is a model file; its last key
 * shows that the end is not missing. */
#define _GNU_SOURCE
#include <cyaml/cyaml.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/text.h"
#include "perf/internal.h"

#define FIRST_LINE "# Heddle performance models of one codelet; see docs/models.md\n"
#define VERSION "1"
#define MOST_BYTES ((size_t)1 << 30) /* larger files are refused: a model has some hundred bytes per size */

struct number {
	char text[32];
};

struct text_line {
	char *class_name;
	struct number footprint, bytes, flops, samples, rejected, mean, stddev, min, max;
	struct number *regressors;
	unsigned n_regressors;
};

struct text_past {
	char *class_name;
	struct number sizes, *numbers;
	unsigned n_numbers;
};

struct text_file {
	char *version, *codelet, *law;
	struct text_line *entries;
	unsigned n_entries;
	struct text_past *past;
	unsigned n_past;
	char *complete;
};

#define NUMBER_OF(structure, member) CYAML_FIELD_STRING(#member, CYAML_FLAG_DEFAULT, structure, member, 1)
#define NUMBER(member) NUMBER_OF(struct text_line, member)
#define TEXT(structure, key, member) \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER, structure, member, 0, CYAML_UNLIMITED)

static const cyaml_schema_value_t number_value = {CYAML_VALUE_STRING(CYAML_FLAG_DEFAULT, struct number, 1, 31)};
static const cyaml_schema_field_t line_fields[] = {
    TEXT(struct text_line, "class", class_name),
    NUMBER(footprint),
    NUMBER(bytes),
    NUMBER(flops),
    NUMBER(samples),
    NUMBER(rejected),
    NUMBER(mean),
    NUMBER(stddev),
    NUMBER(min),
    NUMBER(max),
    CYAML_FIELD_SEQUENCE_COUNT("regressors", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL | CYAML_FLAG_FLOW,
                               struct text_line, regressors, n_regressors, &number_value, 0, CYAML_UNLIMITED),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t line_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT | CYAML_FLAG_FLOW, struct text_line, line_fields)};
static const cyaml_schema_field_t past_fields[] = {
    TEXT(struct text_past, "class", class_name),
    NUMBER_OF(struct text_past, sizes),
    CYAML_FIELD_SEQUENCE_COUNT("numbers", CYAML_FLAG_POINTER | CYAML_FLAG_FLOW, struct text_past, numbers, n_numbers,
                               &number_value, 0, CYAML_UNLIMITED),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t past_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT | CYAML_FLAG_FLOW, struct text_past, past_fields)};
static const cyaml_schema_field_t file_fields[] = {
    TEXT(struct text_file, "version", version),
    TEXT(struct text_file, "codelet", codelet),
    CYAML_FIELD_STRING_PTR("law", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct text_file, law, 0, CYAML_UNLIMITED),
    CYAML_FIELD_SEQUENCE_COUNT("entries", CYAML_FLAG_POINTER | CYAML_FLAG_BLOCK, struct text_file, entries, n_entries,
                               &line_value, 0, CYAML_UNLIMITED),
    CYAML_FIELD_SEQUENCE_COUNT("past", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL | CYAML_FLAG_BLOCK, struct text_file,
                               past, n_past, &past_value, 0, CYAML_UNLIMITED),
    TEXT(struct text_file, "complete", complete),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t file_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct text_file, file_fields)};

/* --- libcyaml ----------------------------------------------------------------------------------------------------- */

struct complaint {
	char problem[160];
	unsigned long line; /* 0: unknown */
};

/* libcyaml logs the problem first; then a backtrace, whose innermost level has the line. */
static void take_log(cyaml_log_t level, void *context, const char *format, va_list args)
{
	(void)level;
	struct complaint *c = context;
	char text[sizeof c->problem];
	vsnprintf(text, sizeof text, format, args);
	text[strcspn(text, "\n")] = '\0';
	const char *line = strstr(text, "(line: ");
	if (!c->problem[0])
		snprintf(c->problem, sizeof c->problem, "%s", strncmp(text, "Load: ", 6) == 0 ? text + 6 : text);
	else if (line && !c->line)
		c->line = strtoul(line + 7, NULL, 10);
}

static cyaml_config_t config_of(struct complaint *complaint)
{
	*complaint = (struct complaint){"", 0};
	return (cyaml_config_t){
	    .log_fn = take_log,
	    .log_ctx = complaint,
	    .mem_fn = cyaml_mem,
	    .log_level = CYAML_LOG_ERROR,
	    .flags = CYAML_CFG_NO_ALIAS,
	};
}

static void free_text(struct text_file *text)
{
	struct complaint complaint;
	cyaml_config_t config = config_of(&complaint);
	cyaml_free(&config, &file_value, text, 0);
}

/* Reports a file of another version as such, and not for its unknown keys. */
static int check_version(const char *path, const char *data)
{
	char version[32];
	hd_yaml_version(data, version, sizeof version);
	if (!version[0] || strcmp(version, VERSION) == 0)
		return 0;
	return hd_error(HEDDLE_E_FORMAT, "%s: format version %.20s; this library reads version " VERSION, path,
	                version);
}

static int parse(const char *path, const char *data, size_t length, struct text_file **out)
{
	struct complaint complaint;
	cyaml_config_t config = config_of(&complaint);
	struct text_file *text = NULL;
	cyaml_err_t error =
	    cyaml_load_data((const uint8_t *)data, length, &config, &file_value, (cyaml_data_t **)&text, NULL);
	if (error == CYAML_ERR_OOM)
		return hd_no_memory(path);
	const char *problem = complaint.problem[0] ? complaint.problem : cyaml_strerror(error);
	if (error != CYAML_OK) /* libcyaml gives no line if the file as a whole is wrong */
		return hd_error(HEDDLE_E_FORMAT, "%s: line %lu: %s", path,
		                complaint.line ? complaint.line : (unsigned long)hd_yaml_first_line(data, length),
		                problem);
	if (!text)
		return hd_error(HEDDLE_E_FORMAT, "%s: the file is empty", path);
	*out = text;
	return 0;
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

static int read_real(const char *path, const char *key, const struct number *number, double *out)
{
	char *end;
	double value = hd_real(number->text, &end);
	if (end == number->text || *end || !isfinite(value))
		return hd_error(HEDDLE_E_FORMAT, "%s: %s: \"%s\" is not a number", path, key, number->text);
	*out = value;
	return 0;
}

static int read_count(const char *path, const char *key, const struct number *number, uint64_t most, uint64_t *out)
{
	char *end;
	errno = 0;
	uint64_t value = strtoull(number->text, &end, 0);
	if (number->text[0] < '0' || number->text[0] > '9' || *end || errno || value > most)
		return hd_error(HEDDLE_E_FORMAT, "%s: %s: \"%s\" is not a whole number from 0 to %" PRIu64, path, key,
		                number->text, most);
	*out = value;
	return 0;
}

static int check_line(const char *path, const struct hd_perf_line *line)
{
	double slack = 1e-9 * line->max;
	if (line->bytes < 0 || line->flops < 0 || line->stddev < 0)
		return hd_error(HEDDLE_E_FORMAT, "%s: bytes, flops or stddev below 0", path);
	if (!line->samples)
		return hd_error(HEDDLE_E_FORMAT, "%s: an entry without samples", path);
	if (!(line->min > 0 && line->min <= line->mean + slack && line->mean <= line->max + slack))
		return hd_error(HEDDLE_E_FORMAT, "%s: min %g, mean %g, max %g: they must be above 0 and ascend", path,
		                line->min, line->mean, line->max);
	return 0;
}

/* Makes *to an array of n numbers, NULL if n is 0; the caller frees it. */
static int read_reals(const char *path, const char *key, const struct number *from, unsigned n, double **to)
{
	*to = n ? calloc(n, sizeof **to) : NULL;
	if (n && !*to)
		return hd_no_memory(path);
	int status = 0;
	for (unsigned i = 0; i < n && !status; i++)
		status = read_real(path, key, &from[i], &(*to)[i]);
	return status;
}

static int read_class(const char *path, const char *from, char **to)
{
	*to = strdup(from);
	if (!*to)
		return hd_no_memory(path);
	hd_perf_name_decode(*to);
	return 0;
}

static int read_line(const char *path, const struct text_line *from, struct hd_perf_line *to)
{
	uint64_t samples = 0, rejected = 0;
	const struct {
		const char *key;
		const struct number *from;
		double *to;
	} reals[] = {
	    {"bytes", &from->bytes, &to->bytes}, {"flops", &from->flops, &to->flops},
	    {"mean", &from->mean, &to->mean},    {"stddev", &from->stddev, &to->stddev},
	    {"min", &from->min, &to->min},       {"max", &from->max, &to->max},
	};
	int status = read_count(path, "footprint", &from->footprint, UINT64_MAX, &to->footprint);
	if (!status)
		status = read_count(path, "samples", &from->samples, UINT32_MAX - 1, &samples);
	if (!status)
		status = read_count(path, "rejected", &from->rejected, UINT32_MAX, &rejected);
	for (size_t i = 0; !status && i < sizeof reals / sizeof reals[0]; i++)
		status = read_real(path, reals[i].key, reals[i].from, reals[i].to);
	if (status)
		return status;
	to->samples = (uint32_t)samples;
	to->rejected = (uint32_t)rejected;
	status = read_class(path, from->class_name, &to->class_name);
	if (!status)
		status = check_line(path, to);
	if (!status)
		status = read_reals(path, "regressors", from->regressors, from->n_regressors, &to->regressors);
	to->n_regressors = to->regressors ? from->n_regressors : 0;
	return status;
}

static int read_past(const char *path, enum heddle_model_kind kind, const struct text_past *from,
                     struct hd_perf_past_line *to)
{
	int status = read_class(path, from->class_name, &to->class_name);
	if (!status)
		status = read_count(path, "sizes", &from->sizes, UINT64_MAX, &to->sizes);
	if (!status)
		status = read_reals(path, "numbers", from->numbers, from->n_numbers, &to->numbers);
	to->n_numbers = to->numbers ? from->n_numbers : 0;
	if (!status && !hd_perf_past_valid(to, kind))
		status = hd_error(HEDDLE_E_FORMAT, "%s: past: %zu numbers do not suit the law, or some are not above 0",
		                  path, to->n_numbers);
	return status;
}

/* The names that files have for the kinds of models that fit a law. */
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

static int read_file(const char *path, const struct text_file *from, struct hd_perf_file *to)
{
	if (hd_bool_parse(from->complete, strlen(from->complete)) != 1)
		return hd_error(HEDDLE_E_FORMAT, "%s: the end is missing", path);
	to->codelet = strdup(from->codelet);
	to->lines = calloc(from->n_entries + (size_t)1, sizeof *to->lines);
	to->past = calloc(from->n_past + (size_t)1, sizeof *to->past);
	if (!to->codelet || !to->lines || !to->past)
		return hd_no_memory(path);
	hd_perf_name_decode(to->codelet);
	to->n_lines = from->n_entries;
	to->n_past = from->n_past;
	int status = read_law(path, from->law, &to->kind);
	for (size_t i = 0; i < to->n_lines && !status; i++)
		status = read_line(path, &from->entries[i], &to->lines[i]);
	for (size_t i = 0; i < to->n_past && !status; i++)
		status = read_past(path, to->kind, &from->past[i], &to->past[i]);
	return status;
}

static int compare_lines(const void *a, const void *b)
{
	const struct hd_perf_line *x = *(const struct hd_perf_line *const *)a,
	                          *y = *(const struct hd_perf_line *const *)b;
	return x->footprint != y->footprint ? (x->footprint > y->footprint ? 1 : -1)
	                                    : strcmp(x->class_name, y->class_name);
}

/* Of two entries of one size and class, one would be lost without a word. */
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
	struct text_file *text = NULL;
	struct hd_perf_file *file = calloc(1, sizeof *file);
	if (!file)
		status = hd_no_memory(path);
	if (!status)
		status = check_version(path, data);
	if (!status)
		status = parse(path, data, length, &text);
	if (!status)
		status = read_file(path, text, file);
	if (!status)
		status = check_twice(path, file);
	free_text(text);
	free(data);
	if (status)
		hd_perf_file_free(file);
	else
		*out = file;
	return status;
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

/* The shortest text that is read back as the same value. */
static struct number number_of(double value)
{
	struct number n;
	hd_print_into(n.text, sizeof n.text, "%.15g", value);
	if (hd_real(n.text, NULL) != value)
		hd_print_into(n.text, sizeof n.text, "%.17g", value);
	return n;
}

static struct number count_of(uint64_t value)
{
	struct number n;
	snprintf(n.text, sizeof n.text, "%" PRIu64, value);
	return n;
}

/* A new array of n numbers, NULL if n is 0. Returns 0, or -1 when out of memory. */
static int write_reals(const double *from, size_t n, struct number **to)
{
	*to = n ? malloc(n * sizeof **to) : NULL;
	for (size_t i = 0; i < n && *to; i++)
		(*to)[i] = number_of(from[i]);
	return n && !*to ? -1 : 0;
}

/* Fills *to. Returns 0, or -1 when out of memory; *to must be freed in both cases. */
static int write_line(const struct hd_perf_line *from, struct text_line *to)
{
	snprintf(to->footprint.text, sizeof to->footprint.text, "0x%016" PRIx64, from->footprint);
	to->bytes = number_of(from->bytes);
	to->flops = number_of(from->flops);
	to->samples = count_of(from->samples);
	to->rejected = count_of(from->rejected);
	to->mean = number_of(from->mean);
	to->stddev = number_of(from->stddev);
	to->min = number_of(from->min);
	to->max = number_of(from->max);
	to->class_name = hd_perf_name_encode(from->class_name);
	to->n_regressors = (unsigned)from->n_regressors;
	int failed = write_reals(from->regressors, from->n_regressors, &to->regressors);
	return to->class_name && !failed ? 0 : -1;
}

/* The same. */
static int write_past(const struct hd_perf_past_line *from, struct text_past *to)
{
	to->sizes = count_of(from->sizes);
	to->class_name = hd_perf_name_encode(from->class_name);
	to->n_numbers = (unsigned)from->n_numbers;
	int failed = write_reals(from->numbers, from->n_numbers, &to->numbers);
	return to->class_name && !failed ? 0 : -1;
}

static int write_text(const char *path, const struct text_file *text)
{
	struct complaint complaint;
	cyaml_config_t config = config_of(&complaint);
	char *yaml;
	size_t length;
	cyaml_err_t error = cyaml_save_data(&yaml, &length, &config, &file_value, text, 0);
	if (error == CYAML_ERR_OOM)
		return hd_no_memory(path);
	if (error != CYAML_OK)
		return hd_error(HEDDLE_E_IO, "cannot write %s: %s", path, cyaml_strerror(error));
	char *data = hd_format("%s%.*s", FIRST_LINE, (int)length, yaml);
	cyaml_mem(NULL, yaml, 0);
	if (!data)
		return hd_no_memory(path);
	int status = hd_parents_make(path);
	if (!status)
		status = hd_file_write(path, data, strlen(data));
	free(data);
	return status;
}

/* Fills the arrays of *text. Returns 0, or -1 when out of memory; free_written must be called in both cases. */
static int write_file(const struct hd_perf_file *file, struct text_file *text)
{
	text->codelet = hd_perf_name_encode(file->codelet);
	text->entries = calloc(file->n_lines + 1, sizeof *text->entries);
	text->past = file->n_past ? calloc(file->n_past, sizeof *text->past) : NULL;
	int failed = !text->codelet || !text->entries || (file->n_past && !text->past);
	for (; !failed && text->n_entries < file->n_lines; text->n_entries++)
		failed = write_line(&file->lines[text->n_entries], &text->entries[text->n_entries]);
	for (; !failed && text->n_past < file->n_past; text->n_past++)
		failed = write_past(&file->past[text->n_past], &text->past[text->n_past]);
	return failed;
}

static void free_written(struct text_file *text)
{
	for (unsigned i = 0; i < text->n_entries; i++) {
		free(text->entries[i].class_name);
		free(text->entries[i].regressors);
	}
	for (unsigned i = 0; i < text->n_past; i++) {
		free(text->past[i].class_name);
		free(text->past[i].numbers);
	}
	free(text->entries);
	free(text->past);
	free(text->codelet);
}

int hd_perf_file_save(const char *path, const struct hd_perf_file *file)
{
	char version[] = VERSION, complete[] = "true";
	struct text_file text = {
	    .version = version, .complete = complete, .law = (char *)(uintptr_t)law_name(file->kind)};
	int failed = write_file(file, &text);
	int status = failed ? hd_no_memory(path) : write_text(path, &text);
	free_written(&text);
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
