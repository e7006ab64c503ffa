/* Platform files: from YAML to struct heddle_platform. Names become indices and text becomes numbers here, with
 * an error that says which key of which entry is wrong; the rules between entries are heddle_platform_check's. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "machine/machine.h"
#include "machine/platform_schema.h"

/* The most workers that a file may have, so that a typing error in `count` does not take all memory. A platform made by
 * a program has no such limit. */
#define MOST_WORKERS 65536
#define MOST_STREAMS 1024 /* the same for the streams of a class */

/* What is being read. */
struct source {
	const char *name, *yaml;
	size_t length; /* bytes of `yaml` */
};

/* The entry being read, for messages: "FILE: line 12, links[3]". */
struct entry {
	const struct source *file;
	const char *list;
	size_t index;
};

#define BAD(e, key, ...) bad(e, key, hd_error(HEDDLE_E_FORMAT, __VA_ARGS__))
static int bad(const struct entry *e, const char *key, int status)
{
	size_t line = hd_yaml_line(e->file->yaml, e->file->length, e->list, e->index, key);
	if (!line)
		return hd_error_context(status, "%s: %s[%zu].%s", e->file->name, e->list, e->index, key);
	return hd_error_context(status, "%s: line %zu, %s[%zu].%s", e->file->name, line, e->list, e->index, key);
}

/* Text to values. A NULL text is an absent key, which leaves *out at its default. */

static int read_number(const struct entry *e, const char *key, const char *text, double *out)
{
	if (!text)
		return 0;
	char *end;
	double value = hd_real(text, &end);
	if (end == text || *end || !isfinite(value))
		return BAD(e, key, "\"%.60s\" is not a number; write it without a unit, as in 12.5", text);
	*out = value;
	return 0;
}

static int read_integer(const struct entry *e, const char *key, const char *text, const double range[2], double *out)
{
	double value = *out;
	int status = read_number(e, key, text, &value);
	if (status)
		return status;
	if (text && (value != floor(value) || value < range[0] || value > range[1]))
		return BAD(e, key, "%.60s is out of range; it must be a whole number from %.0f to %.0f", text, range[0],
		           range[1]);
	*out = value;
	return 0;
}

static int read_unsigned(const struct entry *e, const char *key, const char *text, unsigned *out)
{
	double value = *out;
	int status = read_integer(e, key, text, (const double[]){0, 1e9}, &value);
	if (!status)
		*out = (unsigned)value;
	return status;
}

static int read_string(const char *text, char **out)
{
	*out = strdup(text ? text : "");
	return *out ? 0 : hd_no_memory("a platform's names");
}

/* A list whose elements begin with the pointer to their name: nodes, classes, buses. */
struct named_list {
	const char *what;
	const void *items;
	size_t n, stride;
};

static const char *name_at(const struct named_list *list, size_t i)
{
	const char *name;
	memcpy(&name, (const char *)list->items + i * list->stride, sizeof name);
	return name;
}

static int read_name(const struct entry *e, const char *key, const char *text, const struct named_list *list,
                     unsigned *out)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(name_at(list, i), text) == 0) {
			*out = (unsigned)i;
			return 0;
		}
	if (list->n == 0)
		return BAD(e, key, "there is no %s \"%.60s\"; this file describes none", list->what, text);
	char known[400];
	size_t used = 0;
	for (size_t i = 0; i < list->n && used < sizeof known; i++)
		used +=
		    (size_t)snprintf(known + used, sizeof known - used, "%s%.60s", used ? ", " : "", name_at(list, i));
	return BAD(e, key, "there is no %s \"%.60s\"; those of this file are %s", list->what, text, known);
}

/* An array of n zeroed elements: NULL for n = 0. */
static int make_array(void *array, size_t n, size_t size)
{
	void *items = n ? calloc(n, size) : NULL;
	if (n && !items)
		return hd_no_memory("a platform");
	memcpy(array, &items, sizeof items);
	return 0;
}

/* One function per list. Counts grow with the elements, so that an incomplete platform can be freed. */

static int read_capacity(const struct entry *e, const struct file_node *f, uint64_t *out)
{
	if (f->capacity_mib && f->capacity_bytes)
		return BAD(e, "capacity_bytes", "capacity_mib is there too; keep one of the two");
	if (f->capacity_bytes) {
		char *end;
		errno = 0;
		*out = strtoull(f->capacity_bytes, &end, 10);
		if (errno || *end || !isdigit((unsigned char)f->capacity_bytes[0]))
			return BAD(e, "capacity_bytes", "\"%.60s\" is not a size; write a whole number, 0 for no limit",
			           f->capacity_bytes);
		return 0;
	}
	double mib = 0;
	int status = read_number(e, "capacity_mib", f->capacity_mib, &mib);
	if (status)
		return status;
	double bytes = nearbyint(mib * 0x1p20);
	if (mib < 0 || bytes >= 0x1p64 || (mib > 0 && bytes < 1))
		return BAD(e, "capacity_mib", "%.60s is out of range; it must be 0 (no limit) or at least one byte",
		           f->capacity_mib);
	*out = (uint64_t)bytes;
	return 0;
}

static int read_nodes(const struct source *file, const struct file_platform *from, struct heddle_platform *to)
{
	int status = make_array(&to->nodes, from->n_nodes, sizeof *to->nodes);
	for (size_t i = 0; i < from->n_nodes && !status; i++) {
		struct entry e = {file, "nodes", i};
		struct heddle_node *node = &to->nodes[to->n_nodes++];
		status = read_string(from->nodes[i].name, &node->name);
		if (!status)
			status = read_capacity(&e, &from->nodes[i], &node->capacity);
	}
	return status;
}

static int read_streams(const struct entry *e, const struct file_class *f, struct heddle_class *c)
{
	double streams = 1;
	int status = read_integer(e, "streams", f->streams, (const double[]){1, MOST_STREAMS}, &streams);
	c->streams = (unsigned)streams;
	if (status || f->n_sharing == 0)
		return status;
	if (f->n_sharing != c->streams)
		return BAD(e, "sharing", "it has %zu numbers, but streams is %u; give one number per stream",
		           f->n_sharing, c->streams);
	status = make_array(&c->sharing, f->n_sharing, sizeof *c->sharing);
	for (size_t i = 0; i < f->n_sharing && !status; i++) {
		char key[32];
		snprintf(key, sizeof key, "sharing[%zu]", i);
		status = read_number(e, key, f->sharing[i], &c->sharing[i]);
	}
	return status;
}

static int read_classes(const struct source *file, const struct file_platform *from, struct heddle_platform *to)
{
	int status = make_array(&to->classes, from->n_classes, sizeof *to->classes);
	for (size_t i = 0; i < from->n_classes && !status; i++) {
		struct entry e = {file, "classes", i};
		const struct file_class *f = &from->classes[i];
		struct heddle_class *c = &to->classes[to->n_classes++];
		*c = (struct heddle_class){.cores = 1, .pipeline = 1, .streams = 1, .slowdown = 1};
		status = read_string(f->name, &c->name);
		if (!status)
			status = read_string(f->kind, &c->kind);
		if (!status)
			status = read_unsigned(&e, "cores", f->cores, &c->cores);
		if (!status)
			status = read_streams(&e, f, c);
		if (!status)
			status = read_unsigned(&e, "pipeline", f->pipeline, &c->pipeline);
		if (!status)
			status = read_number(&e, "slowdown", f->slowdown, &c->slowdown);
	}
	return status;
}

/* Appends the workers of one entry: one, or as many as `count` says. */
static int read_worker(const struct entry *e, const struct file_worker *f, struct heddle_platform *to)
{
	struct named_list classes = {"class", to->classes, to->n_classes, sizeof *to->classes};
	struct named_list nodes = {"node", to->nodes, to->n_nodes, sizeof *to->nodes};
	struct heddle_worker w = {0};
	unsigned first = 0;
	double count = 1, core = -1;
	int status = read_name(e, "class", f->class_name, &classes, &w.class_id);
	if (!status)
		status = read_name(e, "node", f->node, &nodes, &w.node);
	if (!status)
		status = read_integer(e, "core", f->core, (const double[]){-1, 1e9}, &core);
	if (!status)
		status = read_unsigned(e, "first", f->first, &first);
	if (!status)
		status = read_unsigned(e, "retired", f->retired, &w.retired);
	if (!status && f->first && !f->count)
		status = BAD(e, "first", "it needs a count beside it");
	double left = (double)(MOST_WORKERS - to->n_workers);
	if (!status)
		status = read_integer(e, "count", f->count, (const double[]){1, left}, &count);
	if (!status && left < 1)
		status = BAD(e, "name", "a file may describe at most %d workers", MOST_WORKERS);
	if (status)
		return status;
	size_t n = (size_t)count;
	struct heddle_worker *larger = realloc(to->workers, (to->n_workers + n) * sizeof *larger);
	if (!larger)
		return hd_no_memory("a platform's workers");
	to->workers = larger;
	for (size_t k = 0; k < n; k++) {
		w.name = f->count ? hd_format("%s%zu", f->name, first + k) : strdup(f->name);
		w.core = core < 0 ? -1 : (int)core + (int)k;
		if (!w.name)
			return hd_no_memory("a platform's workers");
		to->workers[to->n_workers++] = w;
	}
	return 0;
}

/* Numbers the devices of each kind in the order of their workers, since a file does not say which is which. */
static int number_devices(struct heddle_platform *p)
{
	unsigned *next = calloc(p->n_classes + 1, sizeof *next); /* of each kind, at the first class that has it */
	if (!next)
		return hd_no_memory("a platform's workers");
	for (size_t i = 0; i < p->n_workers; i++) {
		size_t class_id = 0;
		while (strcmp(p->classes[class_id].kind, p->classes[p->workers[i].class_id].kind) != 0)
			class_id++;
		p->workers[i].device = next[class_id]++;
	}
	free(next);
	return 0;
}

static int read_buses(const struct source *file, const struct file_platform *from, struct heddle_platform *to)
{
	int status = make_array(&to->buses, from->n_buses, sizeof *to->buses);
	for (size_t i = 0; i < from->n_buses && !status; i++) {
		struct entry e = {file, "buses", i};
		struct heddle_bus *bus = &to->buses[to->n_buses++];
		status = read_string(from->buses[i].name, &bus->name);
		if (!status)
			status = read_number(&e, "bandwidth_mbs", from->buses[i].bandwidth_mbs, &bus->bandwidth);
	}
	return status;
}

static int read_link(const struct entry *e, const struct file_link *f, const struct heddle_platform *p,
                     struct heddle_link *link)
{
	struct named_list nodes = {"node", p->nodes, p->n_nodes, sizeof *p->nodes};
	struct named_list buses = {"bus", p->buses, p->n_buses, sizeof *p->buses};
	int status = read_name(e, "from", f->from, &nodes, &link->from);
	if (!status)
		status = read_name(e, "to", f->to, &nodes, &link->to);
	if (!status)
		status = read_number(e, "bandwidth_mbs", f->bandwidth_mbs, &link->bandwidth);
	if (!status)
		status = read_number(e, "latency_us", f->latency_us, &link->latency);
	if (!status)
		status = make_array(&link->buses, f->n_buses, sizeof *link->buses);
	for (size_t i = 0; i < f->n_buses && !status; i++)
		status = read_name(e, "buses", f->buses[i], &buses, &link->buses[link->n_buses++]);
	return status;
}

static int read_links(const struct source *file, const struct file_platform *from, struct heddle_platform *to)
{
	int status = make_array(&to->links, from->n_links, sizeof *to->links);
	for (size_t i = 0; i < from->n_links && !status; i++) {
		struct entry e = {file, "links", i};
		status = read_link(&e, &from->links[i], to, &to->links[to->n_links++]);
	}
	return status;
}

static int read_kernel(const struct entry *e, const struct file_kernel *f, const struct heddle_platform *p,
                       struct heddle_kernel_time *k)
{
	struct named_list classes = {"class", p->classes, p->n_classes, sizeof *p->classes};
	int status = read_string(f->codelet, &k->codelet);
	if (!status)
		status = read_name(e, "class", f->class_name, &classes, &k->class_id);
	if (!status)
		status = read_number(e, "gflops", f->gflops, &k->gflops);
	if (!status)
		status = read_number(e, "half_flops", f->half_flops, &k->half);
	if (!status)
		status = read_number(e, "latency_us", f->latency_us, &k->latency);
	if (!status)
		status = read_number(e, "bandwidth_mbs", f->bandwidth_mbs, &k->bandwidth);
	if (!status)
		status = make_array(&k->table, f->n_table, sizeof *k->table);
	for (size_t i = 0; i < f->n_table && !status; i++) {
		char key[48];
		snprintf(key, sizeof key, "table[%zu].bytes", i);
		status = read_number(e, key, f->table[i].bytes, &k->table[i].bytes);
		snprintf(key, sizeof key, "table[%zu].us", i);
		if (!status)
			status = read_number(e, key, f->table[i].us, &k->table[i].us);
		k->n_table++;
	}
	return status;
}

static int read_kernels(const struct source *file, const struct file_platform *from, struct heddle_platform *to)
{
	int status = make_array(&to->kernels, from->n_kernels, sizeof *to->kernels);
	for (size_t i = 0; i < from->n_kernels && !status; i++) {
		struct entry e = {file, "kernels", i};
		status = read_kernel(&e, &from->kernels[i], to, &to->kernels[to->n_kernels++]);
	}
	return status;
}

/* "FIRST-LAST", or one number. */
static int read_range(const struct entry *e, const char *text, struct heddle_core_range *out)
{
	char *end = NULL;
	errno = 0;
	unsigned long first = strtoul(text, &end, 10), last = first;
	int wrong = end == text || !isdigit((unsigned char)*text);
	if (!wrong && *end == '-') {
		const char *second = end + 1;
		last = strtoul(second, &end, 10);
		wrong = end == second || !isdigit((unsigned char)*second);
	}
	if (wrong || *end || errno || first > INT_MAX || last > INT_MAX)
		return BAD(e, "cores", "\"%.60s\" is no range of cores; write it as in 0-11", text);
	*out = (struct heddle_core_range){(unsigned)first, (unsigned)last};
	return 0;
}

static int read_levels(const struct source *file, const struct file_platform *from, struct heddle_platform *to)
{
	int status = make_array(&to->levels, from->n_levels, sizeof *to->levels);
	for (size_t i = 0; i < from->n_levels && !status; i++) {
		struct entry e = {file, "levels", i};
		const struct file_level *f = &from->levels[i];
		struct heddle_level *level = &to->levels[to->n_levels++];
		status = read_string(f->name, &level->name);
		if (!status)
			status = make_array(&level->groups, f->n_cores, sizeof *level->groups);
		for (size_t k = 0; k < f->n_cores && !status; k++)
			status = read_range(&e, f->cores[k], &level->groups[level->n_groups++]);
	}
	return status;
}

static int read_speedup(const struct entry *e, const struct file_speedup *f, const struct heddle_platform *p,
                        struct heddle_speedup *s)
{
	struct named_list classes = {"class", p->classes, p->n_classes, sizeof *p->classes};
	int status = f->codelet ? read_string(f->codelet, &s->codelet) : 0;
	if (!status)
		status = read_name(e, "class", f->class_name, &classes, &s->class_id);
	if (!status)
		status = read_unsigned(e, "cores", f->cores, &s->cores);
	if (!status)
		status = read_number(e, "latency_us", f->latency_us, &s->latency);
	if (!status)
		status = read_number(e, "bandwidth_mbs", f->bandwidth_mbs, &s->bandwidth);
	if (!status)
		status = make_array(&s->table, f->n_factors, sizeof *s->table);
	for (size_t i = 0; i < f->n_factors && !status; i++) {
		char key[48];
		snprintf(key, sizeof key, "factors[%zu].bytes", i);
		status = read_number(e, key, f->factors[i].bytes, &s->table[i].bytes);
		snprintf(key, sizeof key, "factors[%zu].factor", i);
		if (!status)
			status = read_number(e, key, f->factors[i].factor, &s->table[i].factor);
		s->n_table++;
	}
	return status;
}

static int read_speedups(const struct source *file, const struct file_platform *from, struct heddle_platform *to)
{
	int status = make_array(&to->speedups, from->n_speedups, sizeof *to->speedups);
	for (size_t i = 0; i < from->n_speedups && !status; i++) {
		struct entry e = {file, "speedups", i};
		status = read_speedup(&e, &from->speedups[i], to, &to->speedups[to->n_speedups++]);
	}
	return status;
}

static int read_platform(const struct source *file, const struct file_platform *from, struct heddle_platform *to)
{
	if (strcmp(from->version, HD_PLATFORM_VERSION) != 0)
		return hd_error(HEDDLE_E_FORMAT,
		                "%s: version is \"%.60s\"; this library reads version " HD_PLATFORM_VERSION, file->name,
		                from->version);
	int status = read_string(from->name, &to->name);
	if (!status)
		status = read_string(from->description, &to->description);
	if (!status)
		status = read_string(from->source, &to->source);
	if (!status)
		status = read_nodes(file, from, to);
	if (!status)
		status = read_classes(file, from, to);
	for (size_t i = 0; i < from->n_workers && !status; i++) {
		struct entry e = {file, "workers", i};
		status = read_worker(&e, &from->workers[i], to);
	}
	if (!status)
		status = read_buses(file, from, to);
	if (!status)
		status = read_links(file, from, to);
	if (!status)
		status = read_kernels(file, from, to);
	if (!status)
		status = read_levels(file, from, to);
	if (!status)
		status = read_speedups(file, from, to);
	if (status)
		return status;
	status = heddle_platform_check(to);
	return status ? hd_error_context(status, "%s", file->name) : number_devices(to);
}

static int parse(const char *file, const char *yaml, size_t length, struct heddle_platform *to)
{
	struct hd_yaml_report report;
	cyaml_config_t config = hd_yaml_config(&report);
	cyaml_data_t *data = NULL;
	cyaml_err_t error = cyaml_load_data((const uint8_t *)yaml, length, &config, &hd_platform_schema, &data, NULL);
	if (error != CYAML_OK)
		return hd_yaml_error(file, yaml, length, error, &report);
	if (!data)
		return hd_error(HEDDLE_E_FORMAT, "%s: the file is empty; docs/platforms.md describes what goes into it",
		                file);
	int status = read_platform(&(struct source){file, yaml, length}, data, to);
	cyaml_free(&config, &hd_platform_schema, data, 0);
	return status;
}

int heddle_platform_parse(const char *name, const char *yaml, size_t length, struct heddle_platform **out)
{
	if (!name || !yaml || !out)
		return hd_error(HEDDLE_E_INVALID, "heddle_platform_parse: name, yaml or out is NULL");
	struct heddle_platform *platform = calloc(1, sizeof *platform);
	if (!platform)
		return hd_no_memory(name);
	int status = parse(name, yaml, length, platform);
	if (status)
		heddle_platform_free(platform);
	else
		*out = platform;
	return status;
}
