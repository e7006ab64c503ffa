/* Reads platform files: makes a struct heddle_platform from YAML. Names become indices and text becomes numbers; an
 * error says which key of which entry is wrong. heddle_platform_check checks the rules between entries. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/yaml.h"
#include "machine/machine.h"

/* A file may have this many workers at most, so that a typing error in `count` does not use up all memory. A platform
 * made by a program has no such limit. */
#define MOST_WORKERS 65536
#define MOST_STREAMS 1024 /* a class in a file may have this many streams at most */

/* --- The keys (docs/platforms.md) --------------------------------------------------------------------------------- */

#define NEEDED(key)                        \
	{                                  \
		key, HD_YAML_TEXT, 0, NULL \
	}
#define MAY(key)                           \
	{                                  \
		key, HD_YAML_TEXT, 1, NULL \
	}

static const struct hd_yaml_field node_fields[] = {NEEDED("name"), MAY("capacity_mib"), MAY("capacity_bytes"), {0}};
static const struct hd_yaml_field class_fields[] = {NEEDED("name"),
                                                    NEEDED("kind"),
                                                    MAY("cores"),
                                                    MAY("pipeline"),
                                                    MAY("slowdown"),
                                                    MAY("streams"),
                                                    {"sharing", HD_YAML_LIST, 1, NULL},
                                                    {0}};
/* An entry with `count` stands for that many workers, NAME<first>, NAME<first + 1> and so on, on consecutive cores. */
static const struct hd_yaml_field worker_fields[] = {NEEDED("name"), MAY("count"), MAY("first"),   NEEDED("class"),
                                                     NEEDED("node"), MAY("core"),  MAY("retired"), {0}};
static const struct hd_yaml_field bus_fields[] = {NEEDED("name"), NEEDED("bandwidth_mbs"), {0}};
static const struct hd_yaml_field link_fields[] = {
    NEEDED("from"), NEEDED("to"), NEEDED("bandwidth_mbs"), MAY("latency_us"), {"buses", HD_YAML_LIST, 1, NULL}, {0}};
static const struct hd_yaml_field point_fields[] = {NEEDED("bytes"), NEEDED("us"), {0}};
static const struct hd_yaml_field kernel_fields[] = {NEEDED("codelet"),
                                                     NEEDED("class"),
                                                     {"table", HD_YAML_LIST, 1, point_fields},
                                                     MAY("gflops"),
                                                     MAY("half_flops"),
                                                     MAY("latency_us"),
                                                     MAY("bandwidth_mbs"),
                                                     {0}};
static const struct hd_yaml_field level_fields[] = {NEEDED("name"), {"cores", HD_YAML_LIST, 0, NULL}, {0}};
static const struct hd_yaml_field factor_fields[] = {NEEDED("bytes"), NEEDED("factor"), {0}};
static const struct hd_yaml_field speedup_fields[] = {
    MAY("codelet"),    NEEDED("class"),      MAY("cores"), {"factors", HD_YAML_LIST, 1, factor_fields},
    MAY("latency_us"), MAY("bandwidth_mbs"), {0}};
static const struct hd_yaml_field platform_fields[] = {NEEDED("version"),
                                                       NEEDED("name"),
                                                       MAY("description"),
                                                       MAY("source"),
                                                       {"nodes", HD_YAML_LIST, 0, node_fields},
                                                       {"classes", HD_YAML_LIST, 0, class_fields},
                                                       {"workers", HD_YAML_LIST, 0, worker_fields},
                                                       {"buses", HD_YAML_LIST, 1, bus_fields},
                                                       {"links", HD_YAML_LIST, 1, link_fields},
                                                       {"kernels", HD_YAML_LIST, 1, kernel_fields},
                                                       {"levels", HD_YAML_LIST, 1, level_fields},
                                                       {"speedups", HD_YAML_LIST, 1, speedup_fields},
                                                       {0}};

/* --- Reading ------------------------------------------------------------------------------------------------------ */

#define BAD(value, ...) hd_yaml_bad(value, hd_error(HEDDLE_E_FORMAT, __VA_ARGS__))

/* The functions below convert text to values. If `value` is NULL, the key is absent, and *out keeps its default. */

static int read_integer(const struct hd_yaml *value, double least, double most, double *out)
{
	int status = hd_yaml_real(value, out);
	if (!status && value && (*out != floor(*out) || *out < least || *out > most))
		return BAD(value, "%.60s is out of range; it must be a whole number from %.0f to %.0f", value->text,
		           least, most);
	return status;
}

static int read_unsigned(const struct hd_yaml *value, unsigned *out)
{
	double x = *out;
	int status = read_integer(value, 0, 1e9, &x);
	if (!status)
		*out = (unsigned)x;
	return status;
}

/* A key of a mapping, and the address at which its number is stored; a list of these records ends with a NULL key. */
struct number {
	const char *key;
	double *out;
};

static int read_numbers(const struct hd_yaml *map, const struct number *numbers)
{
	int status = 0;
	for (; numbers->key && !status; numbers++)
		status = hd_yaml_real(hd_yaml_get(map, numbers->key), numbers->out);
	return status;
}

static int read_string(const char *text, char **out)
{
	*out = strdup(text ? text : "");
	return *out ? 0 : hd_no_memory("a platform's names");
}

/* A list of nodes, classes or buses; each element begins with the pointer to its name. */
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

static int read_name(const struct hd_yaml *value, const struct named_list *list, unsigned *out)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(name_at(list, i), value->text) == 0) {
			*out = (unsigned)i;
			return 0;
		}
	if (list->n == 0)
		return BAD(value, "there is no %s \"%.60s\"; this file describes none", list->what, value->text);
	char known[400];
	size_t used = 0;
	for (size_t i = 0; i < list->n && used < sizeof known; i++)
		used +=
		    (size_t)snprintf(known + used, sizeof known - used, "%s%.60s", used ? ", " : "", name_at(list, i));
	return BAD(value, "there is no %s \"%.60s\"; those of this file are %s", list->what, value->text, known);
}

/* Allocates a zeroed array with an element for each entry of the list; `array` is the address of the pointer to the
 * array, which becomes NULL if there are no entries. */
static int make_array(void *array, const struct hd_yaml *list, size_t size)
{
	size_t n = list ? list->n : 0;
	void *items = n ? calloc(n, size) : NULL;
	if (n && !items)
		return hd_no_memory("a platform");
	memcpy(array, &items, sizeof items);
	return 0;
}

/* Each function below reads one entry of one list of the file. It counts the new element before the element is
 * complete, so that heddle_platform_free can free an incomplete platform. */

static int read_capacity(const struct hd_yaml *e, uint64_t *out)
{
	const struct hd_yaml *in_mib = hd_yaml_get(e, "capacity_mib"), *in_bytes = hd_yaml_get(e, "capacity_bytes");
	if (in_mib && in_bytes)
		return BAD(in_bytes, "capacity_mib is there too; keep one of the two");
	if (in_bytes) {
		char *end;
		errno = 0;
		*out = strtoull(in_bytes->text, &end, 10);
		if (errno || *end || !isdigit((unsigned char)in_bytes->text[0]))
			return BAD(in_bytes, "\"%.60s\" is not a size; write a whole number, 0 for no limit",
			           in_bytes->text);
		return 0;
	}
	double mib = 0;
	int status = hd_yaml_real(in_mib, &mib);
	if (status)
		return status;
	double bytes = nearbyint(mib * 0x1p20);
	if (mib < 0 || bytes >= 0x1p64 || (mib > 0 && bytes < 1))
		return BAD(in_mib, "%.60s is out of range; it must be 0 (no limit) or at least one byte", in_mib->text);
	*out = (uint64_t)bytes;
	return 0;
}

static int read_node(const struct hd_yaml *e, struct heddle_platform *to)
{
	struct heddle_node *node = &to->nodes[to->n_nodes++];
	int status = read_string(hd_yaml_text(e, "name"), &node->name);
	return status ? status : read_capacity(e, &node->capacity);
}

static int read_streams(const struct hd_yaml *e, struct heddle_class *c)
{
	const struct hd_yaml *sharing = hd_yaml_get(e, "sharing");
	double streams = 1;
	int status = read_integer(hd_yaml_get(e, "streams"), 1, MOST_STREAMS, &streams);
	c->streams = (unsigned)streams;
	if (status || !sharing || sharing->n == 0)
		return status;
	if (sharing->n != c->streams)
		return BAD(sharing, "it has %zu numbers, but streams is %u; give one number per stream", sharing->n,
		           c->streams);
	status = make_array(&c->sharing, sharing, sizeof *c->sharing);
	for (const struct hd_yaml *s = sharing->first; s && !status; s = s->next)
		status = hd_yaml_real(s, &c->sharing[s->index]);
	return status;
}

static int read_class(const struct hd_yaml *e, struct heddle_platform *to)
{
	struct heddle_class *c = &to->classes[to->n_classes++];
	*c = (struct heddle_class){.cores = 1, .pipeline = 1, .streams = 1, .slowdown = 1};
	int status = read_string(hd_yaml_text(e, "name"), &c->name);
	if (!status)
		status = read_string(hd_yaml_text(e, "kind"), &c->kind);
	if (!status)
		status = read_unsigned(hd_yaml_get(e, "cores"), &c->cores);
	if (!status)
		status = read_streams(e, c);
	if (!status)
		status = read_unsigned(hd_yaml_get(e, "pipeline"), &c->pipeline);
	return status ? status : hd_yaml_real(hd_yaml_get(e, "slowdown"), &c->slowdown);
}

static int read_class_name(const struct hd_yaml *e, const struct heddle_platform *p, unsigned *out)
{
	struct named_list classes = {"class", p->classes, p->n_classes, sizeof *p->classes};
	return read_name(hd_yaml_get(e, "class"), &classes, out);
}

static int read_node_name(const struct hd_yaml *e, const char *key, const struct heddle_platform *p, unsigned *out)
{
	struct named_list nodes = {"node", p->nodes, p->n_nodes, sizeof *p->nodes};
	return read_name(hd_yaml_get(e, key), &nodes, out);
}

/* Appends the worker of one entry or, if the entry has `count`, that many workers. */
static int read_worker(const struct hd_yaml *e, struct heddle_platform *to)
{
	const struct hd_yaml *counted = hd_yaml_get(e, "count"), *from = hd_yaml_get(e, "first"),
	                     *name = hd_yaml_get(e, "name");
	struct heddle_worker w = {0};
	unsigned first = 0;
	double count = 1, core = -1;
	int status = read_class_name(e, to, &w.class_id);
	if (!status)
		status = read_node_name(e, "node", to, &w.node);
	if (!status)
		status = read_integer(hd_yaml_get(e, "core"), -1, 1e9, &core);
	if (!status)
		status = read_unsigned(from, &first);
	if (!status)
		status = read_unsigned(hd_yaml_get(e, "retired"), &w.retired);
	if (!status && from && !counted)
		status = BAD(from, "it needs a count beside it");
	double left = (double)(MOST_WORKERS - to->n_workers);
	if (!status)
		status = read_integer(counted, 1, left, &count);
	if (!status && left < 1)
		status = BAD(name, "a file may describe at most %d workers", MOST_WORKERS);
	if (status)
		return status;
	size_t n = (size_t)count;
	struct heddle_worker *larger = realloc(to->workers, (to->n_workers + n) * sizeof *larger);
	if (!larger)
		return hd_no_memory("a platform's workers");
	to->workers = larger;
	for (size_t k = 0; k < n; k++) {
		w.name = counted ? hd_format("%s%zu", name->text, first + k) : strdup(name->text);
		w.core = core < 0 ? -1 : (int)core + (int)k;
		if (!w.name)
			return hd_no_memory("a platform's workers");
		to->workers[to->n_workers++] = w;
	}
	return 0;
}

/* Gives the devices of each kind numbers in the order of their workers; files have no such numbers. */
static int number_devices(struct heddle_platform *p)
{
	unsigned *next = calloc(p->n_classes + 1, sizeof *next); /* next number of each kind, at its first class */
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

static int read_bus(const struct hd_yaml *e, struct heddle_platform *to)
{
	struct heddle_bus *bus = &to->buses[to->n_buses++];
	int status = read_string(hd_yaml_text(e, "name"), &bus->name);
	return status ? status : hd_yaml_real(hd_yaml_get(e, "bandwidth_mbs"), &bus->bandwidth);
}

static int read_link(const struct hd_yaml *e, struct heddle_platform *to)
{
	struct named_list buses = {"bus", to->buses, to->n_buses, sizeof *to->buses};
	struct heddle_link *link = &to->links[to->n_links++];
	int status = read_node_name(e, "from", to, &link->from);
	if (!status)
		status = read_node_name(e, "to", to, &link->to);
	if (!status)
		status = read_numbers(e, (const struct number[]){
		                             {"bandwidth_mbs", &link->bandwidth}, {"latency_us", &link->latency}, {0}});
	if (!status)
		status = make_array(&link->buses, hd_yaml_get(e, "buses"), sizeof *link->buses);
	for (HD_YAML_EACH(bus, e, "buses")) {
		if (!status)
			status = read_name(bus, &buses, &link->buses[link->n_buses++]);
	}
	return status;
}

static int read_kernel(const struct hd_yaml *e, struct heddle_platform *to)
{
	struct heddle_kernel_time *k = &to->kernels[to->n_kernels++];
	int status = read_string(hd_yaml_text(e, "codelet"), &k->codelet);
	if (!status)
		status = read_class_name(e, to, &k->class_id);
	if (!status)
		status = read_numbers(e, (const struct number[]){{"gflops", &k->gflops},
		                                                 {"half_flops", &k->half},
		                                                 {"latency_us", &k->latency},
		                                                 {"bandwidth_mbs", &k->bandwidth},
		                                                 {0}});
	if (!status)
		status = make_array(&k->table, hd_yaml_get(e, "table"), sizeof *k->table);
	for (HD_YAML_EACH(row, e, "table")) {
		if (status)
			break;
		struct heddle_kernel_point *point = &k->table[k->n_table++];
		status = read_numbers(row, (const struct number[]){{"bytes", &point->bytes}, {"us", &point->us}, {0}});
	}
	return status;
}

/* Reads a range of cores: "FIRST-LAST", or one number. */
static int read_range(const struct hd_yaml *value, struct heddle_core_range *out)
{
	const char *text = value->text;
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
		return BAD(value, "\"%.60s\" is no range of cores; write it as in 0-11", text);
	*out = (struct heddle_core_range){(unsigned)first, (unsigned)last};
	return 0;
}

static int read_level(const struct hd_yaml *e, struct heddle_platform *to)
{
	struct heddle_level *level = &to->levels[to->n_levels++];
	int status = read_string(hd_yaml_text(e, "name"), &level->name);
	if (!status)
		status = make_array(&level->groups, hd_yaml_get(e, "cores"), sizeof *level->groups);
	for (HD_YAML_EACH(range, e, "cores")) {
		if (!status)
			status = read_range(range, &level->groups[level->n_groups++]);
	}
	return status;
}

static int read_speedup(const struct hd_yaml *e, struct heddle_platform *to)
{
	struct heddle_speedup *s = &to->speedups[to->n_speedups++];
	const char *codelet = hd_yaml_text(e, "codelet");
	int status = codelet ? read_string(codelet, &s->codelet) : 0;
	if (!status)
		status = read_class_name(e, to, &s->class_id);
	if (!status)
		status = read_unsigned(hd_yaml_get(e, "cores"), &s->cores);
	if (!status)
		status = read_numbers(
		    e, (const struct number[]){{"latency_us", &s->latency}, {"bandwidth_mbs", &s->bandwidth}, {0}});
	if (!status)
		status = make_array(&s->table, hd_yaml_get(e, "factors"), sizeof *s->table);
	for (HD_YAML_EACH(row, e, "factors")) {
		if (status)
			break;
		struct heddle_speedup_point *point = &s->table[s->n_table++];
		status = read_numbers(
		    row, (const struct number[]){{"bytes", &point->bytes}, {"factor", &point->factor}, {0}});
	}
	return status;
}

static int read_platform(const struct hd_yaml *from, struct heddle_platform *to)
{
	const struct {
		const char *key;
		/* address of the pointer to the array, which is allocated here; NULL: `read` allocates it */
		void *array;
		size_t size;
		int (*read)(const struct hd_yaml *entry, struct heddle_platform *to);
	} lists[] = {
	    {"nodes", &to->nodes, sizeof *to->nodes, read_node},
	    {"classes", &to->classes, sizeof *to->classes, read_class},
	    {"workers", NULL, 0, read_worker},
	    {"buses", &to->buses, sizeof *to->buses, read_bus},
	    {"links", &to->links, sizeof *to->links, read_link},
	    {"kernels", &to->kernels, sizeof *to->kernels, read_kernel},
	    {"levels", &to->levels, sizeof *to->levels, read_level},
	    {"speedups", &to->speedups, sizeof *to->speedups, read_speedup},
	};
	const char *version = hd_yaml_text(from, "version");
	if (strcmp(version, HD_PLATFORM_VERSION) != 0)
		return hd_error(HEDDLE_E_FORMAT,
		                "%s: version is \"%.60s\"; this library reads version " HD_PLATFORM_VERSION, from->key,
		                version);
	int status = read_string(hd_yaml_text(from, "name"), &to->name);
	if (!status)
		status = read_string(hd_yaml_text(from, "description"), &to->description);
	if (!status)
		status = read_string(hd_yaml_text(from, "source"), &to->source);
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		if (!status && lists[i].array)
			status = make_array(lists[i].array, hd_yaml_get(from, lists[i].key), lists[i].size);
		for (HD_YAML_EACH(entry, from, lists[i].key)) {
			if (!status)
				status = lists[i].read(entry, to);
		}
	}
	if (status)
		return status;
	status = heddle_platform_check(to);
	return status ? hd_error_context(status, "%s", from->key) : number_devices(to);
}

static int parse(const char *file, const char *yaml, size_t length, struct heddle_platform *to)
{
	struct hd_arena arena = {0};
	const struct hd_yaml *root = NULL;
	int status = hd_yaml_parse(file, yaml, length, platform_fields, &arena, &root);
	if (!status && !root)
		status = hd_error(HEDDLE_E_FORMAT,
		                  "%s: the file is empty; docs/platforms.md describes what goes into it", file);
	if (!status)
		status = read_platform(root, to);
	hd_arena_close(&arena);
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
