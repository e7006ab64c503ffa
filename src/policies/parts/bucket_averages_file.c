/* The file of autoheteroprio's averages: YAML text to struct hd_averages and back. As in src/perf/store.c, libcyaml
 * gets every value as a string, because it would read "6 ms" as the number 6. Classes are stored by name, so that
 * averages survive a change of the machine where they still apply. */
#define _GNU_SOURCE
#include <cyaml/cyaml.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bucket_averages.h"
#include "base/text.h"

#define FIRST_LINE "# Heddle: what autoheteroprio knows about each codelet\n"
#define VERSION "1"
#define OWN_PLACE "default" /* the value of `memory` that means the file in Heddle's data directory */
#define MOST_BYTES ((size_t)1 << 30)

struct text_use {
	char *class_name, *busy, *total;
};

struct text_class {
	char *class_name, *time, *samples, *nrt, *executed;
};

struct text_bucket {
	char *name, *tasks, *walks, *nod, *released;
	struct text_class *classes;
	unsigned n_classes;
};

struct text_file {
	char *version;
	struct text_use *use;
	unsigned n_use;
	struct text_bucket *buckets;
	unsigned n_buckets;
	char *complete;
};

#define TEXT(structure, key, member) \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER, structure, member, 0, CYAML_UNLIMITED)
#define LIST(structure, key, member, value)                                                                          \
	CYAML_FIELD_SEQUENCE_COUNT(key, CYAML_FLAG_POINTER | CYAML_FLAG_BLOCK, structure, member, n_##member, value, \
	                           0, CYAML_UNLIMITED)
#define MAPPING(structure, fields)                                         \
	{                                                                  \
		CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, structure, fields) \
	}

static const cyaml_schema_field_t use_fields[] = {
    TEXT(struct text_use, "class", class_name),
    TEXT(struct text_use, "busy", busy),
    TEXT(struct text_use, "total", total),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t use_value = MAPPING(struct text_use, use_fields);
static const cyaml_schema_field_t class_fields[] = {
    TEXT(struct text_class, "class", class_name),  TEXT(struct text_class, "time", time),
    TEXT(struct text_class, "samples", samples),   TEXT(struct text_class, "nrt", nrt),
    TEXT(struct text_class, "executed", executed), CYAML_FIELD_END,
};
static const cyaml_schema_value_t class_value = MAPPING(struct text_class, class_fields);
static const cyaml_schema_field_t bucket_fields[] = {
    TEXT(struct text_bucket, "codelet", name),
    TEXT(struct text_bucket, "tasks", tasks),
    TEXT(struct text_bucket, "walks", walks),
    TEXT(struct text_bucket, "nod", nod),
    TEXT(struct text_bucket, "released", released),
    LIST(struct text_bucket, "classes", classes, &class_value),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t bucket_value = MAPPING(struct text_bucket, bucket_fields);
static const cyaml_schema_field_t file_fields[] = {
    TEXT(struct text_file, "version", version),
    LIST(struct text_file, "use", use, &use_value),
    LIST(struct text_file, "buckets", buckets, &bucket_value),
    TEXT(struct text_file, "complete", complete),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t file_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct text_file, file_fields)};
static void no_log(cyaml_log_t level, void *context, const char *format, va_list args)
{
	(void)level;
	(void)context;
	(void)format;
	(void)args;
}

static const cyaml_config_t strict = {
    .log_fn = no_log, .mem_fn = cyaml_mem, .log_level = CYAML_LOG_ERROR, .flags = CYAML_CFG_NO_ALIAS};

/* --- Reading ------------------------------------------------------------------------------------------------------ */

/* Calls f for each number of the file until f returns non-zero; returns whether it did. */
static int each_number(const struct text_file *file, int (*f)(const char *text))
{
	int stopped = 0;
	for (unsigned i = 0; i < file->n_use && !stopped; i++)
		stopped = f(file->use[i].busy) || f(file->use[i].total);
	for (unsigned i = 0; i < file->n_buckets && !stopped; i++) {
		const struct text_bucket *k = &file->buckets[i];
		stopped = f(k->tasks) || f(k->walks) || f(k->nod) || f(k->released);
		for (unsigned j = 0; j < k->n_classes && !stopped; j++) {
			const struct text_class *c = &k->classes[j];
			stopped = f(c->time) || f(c->samples) || f(c->nrt) || f(c->executed);
		}
	}
	return stopped;
}

/* Whether a number is not one between 0 and 1e15; larger ones could make sums inexact. */
static int is_wrong(const char *text)
{
	char *end;
	double x = hd_real(text, &end);
	return end == text || *end || !(x >= 0 && x <= 1e15);
}

static double number(const char *text)
{
	return hd_real(text, NULL);
}

/* -1: this machine has no such class. */
static int find_class(const struct hd_buckets *b, const char *name)
{
	for (size_t c = 0; c < b->platform->n_classes; c++)
		if (strcmp(b->platform->classes[c].name, name) == 0)
			return (int)c;
	return -1;
}

static int apply_bucket(const struct text_bucket *from, struct hd_averages *a, struct hd_buckets *buckets)
{
	size_t bucket = hd_buckets_named(buckets, from->name);
	int status = bucket ? hd_averages_reserve(a, buckets->n) : HEDDLE_OK;
	if (status || !bucket)
		return status; /* bucket 0: there is no memory for more buckets, so this one is left out */
	struct hd_average *v = &a->all[bucket];
	*v = (struct hd_average){.tasks = number(from->tasks),
	                         .walks = number(from->walks),
	                         .nod = number(from->nod),
	                         .released = number(from->released)};
	for (unsigned i = 0; i < from->n_classes; i++) {
		const struct text_class *c = &from->classes[i];
		int class_id = find_class(buckets, c->class_name);
		if (class_id < 0)
			continue;
		struct hd_class_average *x = hd_average_of(a, bucket, (size_t)class_id);
		*x = (struct hd_class_average){.nrt = number(c->nrt), .executed = number(c->executed)};
		v->executed += x->executed;
		buckets->all[bucket]->samples[class_id] = (uint64_t)number(c->samples);
		if (buckets->all[bucket]->samples[class_id])
			buckets->all[bucket]->time[class_id] = number(c->time);
	}
	return HEDDLE_OK;
}

static int apply(const struct text_file *file, struct hd_averages *a, struct hd_buckets *buckets)
{
	for (unsigned i = 0; i < file->n_use; i++) {
		int class_id = find_class(buckets, file->use[i].class_name);
		if (class_id >= 0)
			a->use[class_id] = (struct hd_class_use){number(file->use[i].busy), number(file->use[i].total)};
	}
	int status = 0;
	for (unsigned i = 0; i < file->n_buckets && !status; i++)
		status = apply_bucket(&file->buckets[i], a, buckets);
	return status;
}

/* Reports a file of another format version, which is not a damaged one. */
static int check_version(const char *path, const char *data)
{
	char version[32];
	hd_yaml_version(data, version, sizeof version);
	if (!version[0] || strcmp(version, VERSION) == 0)
		return 0;
	return hd_error(HEDDLE_E_FORMAT,
	                "%s: format version %.20s; this library reads version " VERSION ": move the file away", path,
	                version);
}

/* HEDDLE_E_FORMAT: the file is damaged. */
static int read_text(const char *data, size_t length, struct hd_averages *a, struct hd_buckets *buckets)
{
	struct text_file *text = NULL;
	cyaml_err_t error =
	    cyaml_load_data((const uint8_t *)data, length, &strict, &file_value, (cyaml_data_t **)&text, NULL);
	if (error == CYAML_ERR_OOM)
		return hd_no_memory("the policy's averages");
	if (error != CYAML_OK || !text)
		return HEDDLE_E_FORMAT;
	int status = each_number(text, is_wrong) ? HEDDLE_E_FORMAT : apply(text, a, buckets);
	cyaml_free(&strict, &file_value, text, 0);
	return status;
}

static void set_aside(const char *path)
{
	char *aside = hd_format("%s.damaged", path);
	if (aside)
		rename(path, aside); /* if this fails, the file is overwritten when the run ends */
	free(aside);
}

/* The path of the file, which the caller frees; NULL: there is none, or no memory. */
static char *file_path(const char *path)
{
	if (strcmp(path, OWN_PLACE) != 0)
		return *path ? strdup(path) : NULL;
	char host[256] = "", *dir = hd_data_dir();
	if (gethostname(host, sizeof host - 1) || !host[0] || strchr(host, '/'))
		snprintf(host, sizeof host, "localhost");
	char *full = dir ? hd_format("%s/autoheteroprio/%s.yaml", dir, host) : NULL;
	free(dir);
	return full;
}

int hd_averages_load(struct hd_averages *a, const char *path, struct hd_buckets *buckets)
{
	char *full = file_path(path), *data;
	size_t length;
	if (!full || access(full, F_OK) != 0) {
		free(full);
		return HEDDLE_OK;
	}
	int status = hd_file_read_regular(full, MOST_BYTES, &data, &length);
	if (!status) {
		status = check_version(full, data);
		int ours = !status;
		status = ours ? read_text(data, length, a, buckets) : status;
		if (ours && status == HEDDLE_E_FORMAT) {
			set_aside(full);
			status = HEDDLE_OK;
		}
		free(data);
	}
	free(full);
	return status;
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

/* Writes a name in single quotes, with the escapes of YAML. */
static void write_name(FILE *out, const char *name)
{
	fputc('\'', out);
	for (; *name; name++)
		fprintf(out, *name == '\'' ? "''" : "%c", *name);
	fputc('\'', out);
}

static void write_bucket(FILE *out, const struct hd_averages *a, const struct hd_buckets *b, size_t bucket)
{
	const struct hd_bucket *k = b->all[bucket];
	const struct hd_average *v = &a->all[bucket];
	fprintf(out, "- codelet: ");
	write_name(out, k->name);
	hd_print(out, "\n  tasks: %.17g\n  walks: %.17g\n  nod: %.17g\n  released: %.17g\n  classes:\n",
	         v->tasks + (double)k->tasks, v->walks, v->nod, v->released);
	for (size_t c = 0; c < a->n_classes; c++) {
		const struct hd_class_average *x = hd_average_of(a, bucket, c);
		fprintf(out, "  - class: ");
		write_name(out, b->platform->classes[c].name);
		hd_print(out, "\n    time: %.17g\n    samples: %.17g\n    nrt: %.17g\n    executed: %.17g\n",
		         isnan(k->time[c]) ? 0 : k->time[c], (double)k->samples[c], x->nrt, x->executed);
	}
}

static void write_file(FILE *out, const struct hd_averages *a, const struct hd_buckets *b)
{
	fprintf(out, FIRST_LINE "version: " VERSION "\nuse:\n");
	for (size_t c = 0; c < a->n_classes; c++) {
		fprintf(out, "- class: ");
		write_name(out, b->platform->classes[c].name);
		hd_print(out, "\n  busy: %.17g\n  total: %.17g\n", a->use[c].busy, a->use[c].total);
	}
	fprintf(out, "buckets:\n");
	size_t written = 0;
	for (size_t i = 1; i < b->n; i++, written++) /* from 1: bucket 0, "others", is not stored */
		write_bucket(out, a, b, i);
	fprintf(out, "%scomplete: yes\n", written ? "" : "  []\n");
}

int hd_averages_save(const struct hd_averages *a, const char *path, const struct hd_buckets *buckets)
{
	char *full = file_path(path), *text = NULL;
	size_t length = 0;
	if (!full)
		return HEDDLE_OK;
	FILE *out = buckets->n <= a->n ? open_memstream(&text, &length) : NULL;
	if (out) {
		write_file(out, a, buckets);
		fclose(out);
	}
	int status = text ? 0 : hd_no_memory(full);
	if (!status && strcmp(path, OWN_PLACE) == 0)
		status = hd_parents_make(full);
	if (!status)
		status = hd_file_write(full, text, length);
	free(text);
	free(full);
	return status;
}
