/* Writes platform files: makes YAML from a struct heddle_platform. Reading it gives the same platform, bit for bit. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/yaml.h"
#include "machine/machine.h"

static void put_unless(struct hd_yaml_writer *w, const char *key, double value, double usual)
{
	if (value != usual)
		hd_yaml_put_real(w, key, value);
}

static void save_node(struct hd_yaml_writer *w, const struct heddle_platform *p, size_t i)
{
	const struct heddle_node *node = &p->nodes[i];
	hd_yaml_put(w, "name", node->name);
	if (node->capacity <= UINT64_C(1) << 53) {
		/* exact: the number has at most 53 bits */
		hd_yaml_put_real(w, "capacity_mib", (double)node->capacity * 0x1p-20);
		return;
	}
	char text[32];
	snprintf(text, sizeof text, "%llu", (unsigned long long)node->capacity);
	hd_yaml_put(w, "capacity_bytes", text);
}

static void save_class(struct hd_yaml_writer *w, const struct heddle_platform *p, size_t i)
{
	const struct heddle_class *c = &p->classes[i];
	hd_yaml_put(w, "name", c->name);
	hd_yaml_put(w, "kind", c->kind);
	put_unless(w, "cores", c->cores, 1);
	put_unless(w, "pipeline", c->pipeline, 1);
	put_unless(w, "slowdown", c->slowdown, 1);
	put_unless(w, "streams", c->streams ? c->streams : 1, 1);
	if (!c->sharing)
		return;
	hd_yaml_begin(w, "sharing", HD_YAML_LIST, 1);
	for (size_t j = 0; j < c->streams; j++)
		hd_yaml_put_real(w, NULL, c->sharing[j]);
	hd_yaml_end(w, HD_YAML_LIST);
}

/* Splits a name like "cpu12": returns 3, the length of "cpu", and sets *last to 12. Returns 0 if the name does not end
 * in a number without leading zeros. */
static size_t split_name(const char *name, long *last)
{
	size_t length = strlen(name), prefix = length;
	while (prefix > 0 && name[prefix - 1] >= '0' && name[prefix - 1] <= '9')
		prefix--;
	size_t digits = length - prefix;
	if (digits == 0 || digits > 8 || (digits > 1 && name[prefix] == '0'))
		return 0;
	*last = strtol(name + prefix, NULL, 10);
	return prefix;
}

/* How many workers from `begin` on can be written as one entry with `count`: they have the same class and node, their
 * names are numbered consecutively, and they are on consecutive cores, or all on no core. */
static size_t run_length(const struct heddle_platform *p, size_t begin)
{
	const struct heddle_worker *first = &p->workers[begin];
	long number_of_first = 0, number_of_next = 0;
	size_t prefix = split_name(first->name, &number_of_first), n = 1;
	for (; prefix && begin + n < p->n_workers; n++) {
		const struct heddle_worker *w = &p->workers[begin + n];
		if (w->class_id != first->class_id || w->node != first->node || w->retired != first->retired ||
		    w->core != (first->core < 0 ? -1 : first->core + (int)n) ||
		    split_name(w->name, &number_of_next) != prefix || number_of_next != number_of_first + (long)n ||
		    strncmp(w->name, first->name, prefix) != 0)
			break;
	}
	return n;
}

/* Writes the n workers from worker i on as one entry. */
static void save_workers(struct hd_yaml_writer *w, const struct heddle_platform *p, size_t i, size_t n)
{
	const struct heddle_worker *worker = &p->workers[i];
	long first = 0;
	char *name = n > 1 ? strndup(worker->name, split_name(worker->name, &first)) : NULL;
	hd_yaml_put(w, "name", n > 1 ? name : worker->name);
	free(name);
	if (n > 1) {
		hd_yaml_put_real(w, "count", (double)n);
		put_unless(w, "first", (double)first, 0);
	}
	hd_yaml_put(w, "class", p->classes[worker->class_id].name);
	hd_yaml_put(w, "node", p->nodes[worker->node].name);
	put_unless(w, "core", worker->core, -1);
	put_unless(w, "retired", worker->retired, 0);
}

static void save_bus(struct hd_yaml_writer *w, const struct heddle_platform *p, size_t i)
{
	hd_yaml_put(w, "name", p->buses[i].name);
	hd_yaml_put_real(w, "bandwidth_mbs", p->buses[i].bandwidth);
}

static void save_link(struct hd_yaml_writer *w, const struct heddle_platform *p, size_t i)
{
	const struct heddle_link *l = &p->links[i];
	hd_yaml_put(w, "from", p->nodes[l->from].name);
	hd_yaml_put(w, "to", p->nodes[l->to].name);
	hd_yaml_put_real(w, "bandwidth_mbs", l->bandwidth);
	put_unless(w, "latency_us", l->latency, 0);
	if (l->n_buses == 0)
		return;
	hd_yaml_begin(w, "buses", HD_YAML_LIST, 1);
	for (size_t j = 0; j < l->n_buses; j++)
		hd_yaml_put(w, NULL, p->buses[l->buses[j]].name);
	hd_yaml_end(w, HD_YAML_LIST);
}

/* Writes one row of a table, which has two numbers. */
static void save_row(struct hd_yaml_writer *w, double bytes, const char *key, double value)
{
	hd_yaml_begin(w, NULL, HD_YAML_MAP, 1);
	hd_yaml_put_real(w, "bytes", bytes);
	hd_yaml_put_real(w, key, value);
	hd_yaml_end(w, HD_YAML_MAP);
}

static void save_kernel(struct hd_yaml_writer *w, const struct heddle_platform *p, size_t i)
{
	const struct heddle_kernel_time *k = &p->kernels[i];
	hd_yaml_put(w, "codelet", k->codelet);
	hd_yaml_put(w, "class", p->classes[k->class_id].name);
	if (k->n_table) {
		hd_yaml_begin(w, "table", HD_YAML_LIST, 0);
		for (size_t j = 0; j < k->n_table; j++)
			save_row(w, k->table[j].bytes, "us", k->table[j].us);
		hd_yaml_end(w, HD_YAML_LIST);
	}
	put_unless(w, "gflops", k->gflops, 0);
	put_unless(w, "half_flops", k->half, 0);
	put_unless(w, "latency_us", k->latency, 0);
	put_unless(w, "bandwidth_mbs", k->bandwidth, 0);
}

static void save_level(struct hd_yaml_writer *w, const struct heddle_platform *p, size_t i)
{
	const struct heddle_level *l = &p->levels[i];
	hd_yaml_put(w, "name", l->name);
	hd_yaml_begin(w, "cores", HD_YAML_LIST, 1);
	for (size_t k = 0; k < l->n_groups; k++) {
		char text[32];
		snprintf(text, sizeof text, "%u-%u", l->groups[k].first, l->groups[k].last);
		hd_yaml_put(w, NULL, text);
	}
	hd_yaml_end(w, HD_YAML_LIST);
}

static void save_speedup(struct hd_yaml_writer *w, const struct heddle_platform *p, size_t i)
{
	const struct heddle_speedup *s = &p->speedups[i];
	if (s->codelet)
		hd_yaml_put(w, "codelet", s->codelet);
	hd_yaml_put(w, "class", p->classes[s->class_id].name);
	put_unless(w, "cores", s->cores, 0);
	if (s->n_table) {
		hd_yaml_begin(w, "factors", HD_YAML_LIST, 0);
		for (size_t j = 0; j < s->n_table; j++)
			save_row(w, s->table[j].bytes, "factor", s->table[j].factor);
		hd_yaml_end(w, HD_YAML_LIST);
	}
	put_unless(w, "latency_us", s->latency, 0);
	put_unless(w, "bandwidth_mbs", s->bandwidth, 0);
}

static void save_list(struct hd_yaml_writer *w, const struct heddle_platform *p, const char *key, size_t n, int flow,
                      void (*save)(struct hd_yaml_writer *, const struct heddle_platform *, size_t))
{
	if (!n)
		return;
	hd_yaml_begin(w, key, HD_YAML_LIST, 0);
	for (size_t i = 0; i < n; i++) {
		hd_yaml_begin(w, NULL, HD_YAML_MAP, flow);
		save(w, p, i);
		hd_yaml_end(w, HD_YAML_MAP);
	}
	hd_yaml_end(w, HD_YAML_LIST);
}

static void save_all(struct hd_yaml_writer *w, const struct heddle_platform *p)
{
	hd_yaml_put(w, "version", HD_PLATFORM_VERSION);
	hd_yaml_put(w, "name", p->name);
	if (p->description && p->description[0])
		hd_yaml_put(w, "description", p->description);
	if (p->source && p->source[0])
		hd_yaml_put(w, "source", p->source);
	save_list(w, p, "nodes", p->n_nodes, 1, save_node);
	save_list(w, p, "classes", p->n_classes, 1, save_class);
	hd_yaml_begin(w, "workers", HD_YAML_LIST, 0);
	for (size_t i = 0, n; i < p->n_workers; i += n) {
		n = run_length(p, i);
		hd_yaml_begin(w, NULL, HD_YAML_MAP, 1);
		save_workers(w, p, i, n);
		hd_yaml_end(w, HD_YAML_MAP);
	}
	hd_yaml_end(w, HD_YAML_LIST);
	save_list(w, p, "buses", p->n_buses, 1, save_bus);
	save_list(w, p, "links", p->n_links, 1, save_link);
	save_list(w, p, "kernels", p->n_kernels, 0, save_kernel);
	save_list(w, p, "levels", p->n_levels, 1, save_level);
	save_list(w, p, "speedups", p->n_speedups, 0, save_speedup);
}

int hd_platform_format(const struct heddle_platform *platform, char **text, size_t *length)
{
	int status = heddle_platform_check(platform);
	if (status)
		return status;
	struct hd_yaml_writer *w = hd_yaml_open();
	if (w)
		save_all(w, platform);
	return hd_yaml_close(w, platform->name, text, length);
}

int heddle_platform_save(const struct heddle_platform *platform, const char *path)
{
	if (!path)
		return hd_error(HEDDLE_E_INVALID, "heddle_platform_save: path is NULL");
	char *text = NULL;
	size_t length = 0;
	int status = hd_platform_format(platform, &text, &length);
	if (status)
		return hd_error_context(status, "not writing %s", path);
	status = hd_file_write(path, text, length);
	free(text);
	return status;
}
