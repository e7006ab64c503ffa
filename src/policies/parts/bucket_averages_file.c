/* The file of autoheteroprio's averages: YAML text to struct hd_averages and back. Classes are stored by name, so that
 * the averages of a class can be used on another machine that has this class. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bucket_averages.h"
#include "base/text.h"
#include "base/yaml.h"

#define FIRST_LINE "# Heddle: what autoheteroprio knows about each codelet\n"
#define VERSION "1"
#define OWN_PLACE "default" /* the value of `memory` that means the file in Heddle's data directory */
#define MOST_BYTES ((size_t)1 << 30)

static const struct hd_yaml_field use_fields[] = {{.key = "class"}, {.key = "busy"}, {.key = "total"}, {0}};
static const struct hd_yaml_field class_fields[] = {{.key = "class"}, {.key = "time"},     {.key = "samples"},
                                                    {.key = "nrt"},   {.key = "executed"}, {0}};
static const struct hd_yaml_field bucket_fields[] = {{.key = "codelet"},
                                                     {.key = "tasks"},
                                                     {.key = "walks"},
                                                     {.key = "nod"},
                                                     {.key = "released"},
                                                     {"classes", HD_YAML_LIST, 0, class_fields},
                                                     {0}};
static const struct hd_yaml_field file_fields[] = {{.key = "version"},
                                                   {"use", HD_YAML_LIST, 0, use_fields},
                                                   {"buckets", HD_YAML_LIST, 0, bucket_fields},
                                                   {.key = "complete"},
                                                   {0}};

/* --- Reading ------------------------------------------------------------------------------------------------------ */

static double number(const struct hd_yaml *map, const char *key)
{
	return hd_real(hd_yaml_text(map, key), NULL);
}

/* The value of a key whose value is a name. Decodes the name in place, so this must be called only once for each
 * name. */
static const char *name_of(const struct hd_yaml *map, const char *key)
{
	char *name = (char *)(uintptr_t)hd_yaml_text(map, key);
	hd_name_decode(name);
	return name;
}

/* Whether all values in the entries of a list, except names, are numbers between 0 and 1e15: larger numbers could make
 * sums inexact. */
static int are_numbers(const struct hd_yaml *list)
{
	int good = 1;
	double x = 0;
	for (const struct hd_yaml *entry = list->first; entry && good; entry = entry->next)
		for (const struct hd_yaml *value = entry->first; value && good; value = value->next)
			if (value->kind == HD_YAML_LIST)
				good = are_numbers(value);
			else if (strcmp(value->key, "class") != 0 && strcmp(value->key, "codelet") != 0)
				good = !hd_yaml_real(value, &x) && x >= 0 && x <= 1e15;
	return good;
}

/* The number of the class with this name; -1: this machine has no such class. */
static int find_class(const struct hd_buckets *b, const char *name)
{
	for (size_t c = 0; c < b->platform->n_classes; c++)
		if (strcmp(b->platform->classes[c].name, name) == 0)
			return (int)c;
	return -1;
}

static int apply_bucket(const struct hd_yaml *from, struct hd_averages *a, struct hd_buckets *buckets)
{
	size_t bucket = hd_buckets_named(buckets, name_of(from, "codelet"));
	int status = bucket ? hd_averages_reserve(a, buckets->n) : HEDDLE_OK;
	if (status || !bucket)
		return status; /* hd_buckets_named returns 0 when out of memory: then this bucket is left out */
	struct hd_average *v = &a->all[bucket];
	*v = (struct hd_average){.tasks = number(from, "tasks"),
	                         .walks = number(from, "walks"),
	                         .nod = number(from, "nod"),
	                         .released = number(from, "released")};
	for (HD_YAML_EACH(c, from, "classes")) {
		int class_id = find_class(buckets, name_of(c, "class"));
		if (class_id < 0)
			continue;
		struct hd_class_average *x = hd_average_of(a, bucket, (size_t)class_id);
		*x = (struct hd_class_average){.nrt = number(c, "nrt"), .executed = number(c, "executed")};
		v->executed += x->executed;
		buckets->all[bucket]->samples[class_id] = (uint64_t)number(c, "samples");
		if (buckets->all[bucket]->samples[class_id])
			buckets->all[bucket]->time[class_id] = number(c, "time");
	}
	return HEDDLE_OK;
}

static int apply(const struct hd_yaml *file, struct hd_averages *a, struct hd_buckets *buckets)
{
	for (HD_YAML_EACH(use, file, "use")) {
		int class_id = find_class(buckets, name_of(use, "class"));
		if (class_id >= 0)
			a->use[class_id] = (struct hd_class_use){number(use, "busy"), number(use, "total")};
	}
	int status = 0;
	for (HD_YAML_EACH(bucket, file, "buckets")) {
		if (!status)
			status = apply_bucket(bucket, a, buckets);
	}
	return status;
}

/* Reports a file of another format version, which does not count as damaged. */
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
	struct hd_arena arena = {0};
	const struct hd_yaml *root = NULL;
	int status = hd_yaml_parse("the policy's averages", data, length, file_fields, &arena, &root);
	if (!status)
		status = root && are_numbers(hd_yaml_get(root, "use")) && are_numbers(hd_yaml_get(root, "buckets"))
		             ? apply(root, a, buckets)
		             : HEDDLE_E_FORMAT;
	hd_arena_close(&arena);
	return status;
}

static void set_aside(const char *path)
{
	char *aside = hd_format("%s.damaged", path);
	if (aside)
		rename(path, aside); /* if the renaming fails, the damaged file is overwritten when the run ends */
	free(aside);
}

/* The path of the file, which the caller frees; NULL: there is no file, or out of memory. */
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

/* Writes a name in single quotes, with single quotes doubled as YAML demands, and %XX for bytes that YAML may not
 * contain. */
static void write_name(FILE *out, const char *name)
{
	fputc('\'', out);
	for (; *name; name++)
		if (*name == '\'')
			fputs("''", out);
		else
			fprintf(out, hd_name_is_plain(*name) ? "%c" : "%%%02X", (unsigned char)*name);
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
	for (size_t i = 1; i < b->n; i++, written++) /* from 1 on, because bucket 0, "others", is not stored */
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
