/* Platform files: from struct heddle_platform to YAML. Reading the file gives the same platform, bit for bit. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "machine/machine.h"
#include "machine/platform_schema.h"

/* Everything made for one save, freed together: the file's structures and the text of its numbers. */
struct chunk {
	struct chunk *next;
	char bytes[];
};

struct save {
	struct chunk *chunks;
	int failed; /* 1: out of memory; NULL pointers of the result are not used then */
};

static void *make(struct save *save, size_t n, size_t size)
{
	struct chunk *chunk = calloc(1, sizeof *chunk + n * size);
	if (!chunk) {
		save->failed = 1;
		return NULL;
	}
	chunk->next = save->chunks;
	save->chunks = chunk;
	return chunk->bytes;
}

static void free_save(struct save *save)
{
	while (save->chunks) {
		struct chunk *chunk = save->chunks;
		save->chunks = chunk->next;
		free(chunk);
	}
}

/* libcyaml wants char * and only reads them. */
static char *borrow(const char *s)
{
	union {
		const char *in;
		char *out;
	} u = {s ? s : ""};
	return u.out;
}

/* The shortest text that hd_real reads as the same double. */
static char *number(struct save *save, double value)
{
	char *text = make(save, 1, 32);
	if (!text)
		return NULL;
	for (int digits = 15; digits <= 17; digits++) {
		hd_print_into(text, 32, "%.*g", digits, value);
		if (hd_real(text, NULL) == value)
			break;
	}
	return text;
}

static char *number_unless(struct save *save, double value, double usual)
{
	return value == usual ? NULL : number(save, value);
}

static void save_nodes(struct save *save, const struct heddle_platform *p, struct file_platform *f)
{
	f->nodes = make(save, p->n_nodes, sizeof *f->nodes);
	f->n_nodes = p->n_nodes;
	for (size_t i = 0; i < p->n_nodes && !save->failed; i++) {
		f->nodes[i].name = borrow(p->nodes[i].name);
		if (p->nodes[i].capacity <= UINT64_C(1) << 53) {
			/* exact: `capacity` has at most 53 bits */
			f->nodes[i].capacity_mib = number(save, (double)p->nodes[i].capacity * 0x1p-20);
		} else {
			f->nodes[i].capacity_bytes = make(save, 1, 32);
			if (f->nodes[i].capacity_bytes)
				snprintf(f->nodes[i].capacity_bytes, 32, "%llu",
				         (unsigned long long)p->nodes[i].capacity);
		}
	}
}

static void save_classes(struct save *save, const struct heddle_platform *p, struct file_platform *f)
{
	f->classes = make(save, p->n_classes, sizeof *f->classes);
	f->n_classes = p->n_classes;
	for (size_t i = 0; i < p->n_classes && !save->failed; i++) {
		const struct heddle_class *c = &p->classes[i];
		f->classes[i].name = borrow(c->name);
		f->classes[i].kind = borrow(c->kind);
		f->classes[i].cores = number_unless(save, c->cores, 1);
		f->classes[i].pipeline = number_unless(save, c->pipeline, 1);
		f->classes[i].slowdown = number_unless(save, c->slowdown, 1);
		f->classes[i].streams = number_unless(save, c->streams ? c->streams : 1, 1);
		if (!c->sharing)
			continue;
		f->classes[i].sharing = make(save, c->streams, sizeof(char *));
		f->classes[i].n_sharing = f->classes[i].sharing ? c->streams : 0;
		for (size_t j = 0; j < f->classes[i].n_sharing; j++)
			f->classes[i].sharing[j] = number(save, c->sharing[j]);
	}
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

/* How many workers from `begin` on can be written as one entry with a `count`: those of one class and node whose names
 * are numbered consecutively and that are on consecutive cores, or all on no core. */
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

static void save_workers(struct save *save, const struct heddle_platform *p, struct file_platform *f)
{
	f->workers = make(save, p->n_workers, sizeof *f->workers);
	for (size_t i = 0; i < p->n_workers && !save->failed;) {
		const struct heddle_worker *w = &p->workers[i];
		struct file_worker *to = &f->workers[f->n_workers++];
		size_t n = run_length(p, i);
		to->name = borrow(w->name);
		to->class_name = borrow(p->classes[w->class_id].name);
		to->node = borrow(p->nodes[w->node].name);
		to->core = number_unless(save, w->core, -1);
		to->retired = number_unless(save, w->retired, 0);
		if (n > 1) {
			long first = 0;
			size_t prefix = split_name(w->name, &first);
			to->name = make(save, prefix + 1, 1);
			if (to->name)
				memcpy(to->name, w->name, prefix);
			to->count = number(save, (double)n);
			to->first = number_unless(save, (double)first, 0);
		}
		i += n;
	}
}

static void save_links(struct save *save, const struct heddle_platform *p, struct file_platform *f)
{
	f->buses = make(save, p->n_buses, sizeof *f->buses);
	f->n_buses = p->n_buses;
	for (size_t i = 0; i < p->n_buses && !save->failed; i++)
		f->buses[i] = (struct file_bus){borrow(p->buses[i].name), number(save, p->buses[i].bandwidth)};
	f->links = make(save, p->n_links, sizeof *f->links);
	f->n_links = p->n_links;
	for (size_t i = 0; i < p->n_links && !save->failed; i++) {
		const struct heddle_link *l = &p->links[i];
		struct file_link *to = &f->links[i];
		to->from = borrow(p->nodes[l->from].name);
		to->to = borrow(p->nodes[l->to].name);
		to->bandwidth_mbs = number(save, l->bandwidth);
		to->latency_us = number_unless(save, l->latency, 0);
		if (l->n_buses == 0)
			continue;
		to->buses = make(save, l->n_buses, sizeof *to->buses);
		to->n_buses = to->buses ? l->n_buses : 0;
		for (size_t j = 0; j < to->n_buses; j++)
			to->buses[j] = borrow(p->buses[l->buses[j]].name);
	}
}

static void save_kernels(struct save *save, const struct heddle_platform *p, struct file_platform *f)
{
	f->kernels = make(save, p->n_kernels, sizeof *f->kernels);
	f->n_kernels = p->n_kernels;
	for (size_t i = 0; i < p->n_kernels && !save->failed; i++) {
		const struct heddle_kernel_time *k = &p->kernels[i];
		struct file_kernel *to = &f->kernels[i];
		to->codelet = borrow(k->codelet);
		to->class_name = borrow(p->classes[k->class_id].name);
		to->gflops = number_unless(save, k->gflops, 0);
		to->half_flops = number_unless(save, k->half, 0);
		to->latency_us = number_unless(save, k->latency, 0);
		to->bandwidth_mbs = number_unless(save, k->bandwidth, 0);
		if (k->n_table == 0)
			continue;
		to->table = make(save, k->n_table, sizeof *to->table);
		to->n_table = to->table ? k->n_table : 0;
		for (size_t j = 0; j < to->n_table; j++)
			to->table[j] =
			    (struct file_point){number(save, k->table[j].bytes), number(save, k->table[j].us)};
	}
}

static void save_levels(struct save *save, const struct heddle_platform *p, struct file_platform *f)
{
	f->levels = make(save, p->n_levels, sizeof *f->levels);
	f->n_levels = p->n_levels;
	for (size_t i = 0; i < p->n_levels && !save->failed; i++) {
		const struct heddle_level *l = &p->levels[i];
		f->levels[i].name = borrow(l->name);
		f->levels[i].cores = make(save, l->n_groups, sizeof(char *));
		f->levels[i].n_cores = f->levels[i].cores ? l->n_groups : 0;
		for (size_t k = 0; k < f->levels[i].n_cores; k++) {
			char *text = f->levels[i].cores[k] = make(save, 1, 32);
			if (text)
				hd_print_into(text, 32, "%u-%u", l->groups[k].first, l->groups[k].last);
		}
	}
}

static void save_speedups(struct save *save, const struct heddle_platform *p, struct file_platform *f)
{
	f->speedups = make(save, p->n_speedups, sizeof *f->speedups);
	f->n_speedups = p->n_speedups;
	for (size_t i = 0; i < p->n_speedups && !save->failed; i++) {
		const struct heddle_speedup *s = &p->speedups[i];
		struct file_speedup *to = &f->speedups[i];
		to->codelet = s->codelet ? borrow(s->codelet) : NULL;
		to->class_name = borrow(p->classes[s->class_id].name);
		to->cores = number_unless(save, s->cores, 0);
		to->latency_us = number_unless(save, s->latency, 0);
		to->bandwidth_mbs = number_unless(save, s->bandwidth, 0);
		if (s->n_table == 0)
			continue;
		to->factors = make(save, s->n_table, sizeof *to->factors);
		to->n_factors = to->factors ? s->n_table : 0;
		for (size_t j = 0; j < to->n_factors; j++)
			to->factors[j] =
			    (struct file_factor){number(save, s->table[j].bytes), number(save, s->table[j].factor)};
	}
}

static int emit(struct save *save, const struct heddle_platform *p, char **text, size_t *length)
{
	struct file_platform f = {0};
	f.version = borrow(HD_PLATFORM_VERSION);
	f.name = borrow(p->name);
	f.description = p->description && p->description[0] ? borrow(p->description) : NULL;
	f.source = p->source && p->source[0] ? borrow(p->source) : NULL;
	save_nodes(save, p, &f);
	save_classes(save, p, &f);
	save_workers(save, p, &f);
	save_links(save, p, &f);
	save_kernels(save, p, &f);
	save_levels(save, p, &f);
	save_speedups(save, p, &f);
	if (save->failed)
		return hd_no_memory("writing a platform");
	/* Optional lists are left out when their pointer is NULL. */
	f.buses = f.n_buses ? f.buses : NULL;
	f.links = f.n_links ? f.links : NULL;
	f.kernels = f.n_kernels ? f.kernels : NULL;
	f.levels = f.n_levels ? f.levels : NULL;
	f.speedups = f.n_speedups ? f.speedups : NULL;

	struct hd_yaml_report report;
	cyaml_config_t config = hd_yaml_config(&report);
	cyaml_err_t error = cyaml_save_data(text, length, &config, &hd_platform_schema, &f, 0);
	if (hd_yaml_out_of_memory(error, &report))
		return hd_no_memory("writing a platform");
	if (error != CYAML_OK)
		return hd_error(HEDDLE_E_FORMAT, "platform %s cannot be written as YAML: %s", p->name,
		                report.problem[0] ? report.problem : cyaml_strerror(error));
	return 0;
}

int hd_platform_format(const struct heddle_platform *platform, char **text, size_t *length)
{
	int status = heddle_platform_check(platform);
	if (status)
		return status;
	struct save save = {0};
	/* the caller may free() the text: cyaml_mem is realloc and free */
	status = emit(&save, platform, text, length);
	free_save(&save);
	return status;
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
