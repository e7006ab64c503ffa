/* The schema of platform files, and libcyaml's messages turned into one sentence. */
#include "machine/platform_schema.h"
#include <heddle/status.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/text.h"

#define NEEDED(key, type, member) \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER, struct type, member, 0, CYAML_UNLIMITED)
#define MAY(key, type, member) \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct type, member, 0, CYAML_UNLIMITED)
#define LIST(key, flags, type, member, entry)                                                                    \
	CYAML_FIELD_SEQUENCE_COUNT(key, CYAML_FLAG_POINTER | (flags), struct type, member, n_##member, entry, 0, \
	                           CYAML_UNLIMITED)
#define ENTRY(flags, type, fields)                              \
	{                                                       \
		CYAML_VALUE_MAPPING(flags, struct type, fields) \
	}

static const cyaml_schema_field_t node_fields[] = {
    NEEDED("name", file_node, name),
    MAY("capacity_mib", file_node, capacity_mib),
    MAY("capacity_bytes", file_node, capacity_bytes),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t node_entry = ENTRY(CYAML_FLAG_FLOW, file_node, node_fields);

static const cyaml_schema_value_t text_entry = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 0, CYAML_UNLIMITED),
};
static const cyaml_schema_field_t class_fields[] = {
    NEEDED("name", file_class, name),
    NEEDED("kind", file_class, kind),
    MAY("cores", file_class, cores),
    MAY("pipeline", file_class, pipeline),
    MAY("slowdown", file_class, slowdown),
    MAY("streams", file_class, streams),
    LIST("sharing", CYAML_FLAG_OPTIONAL | CYAML_FLAG_FLOW, file_class, sharing, &text_entry),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t class_entry = ENTRY(CYAML_FLAG_FLOW, file_class, class_fields);

static const cyaml_schema_field_t worker_fields[] = {
    NEEDED("name", file_worker, name),    MAY("count", file_worker, count),
    MAY("first", file_worker, first),     NEEDED("class", file_worker, class_name),
    NEEDED("node", file_worker, node),    MAY("core", file_worker, core),
    MAY("retired", file_worker, retired), CYAML_FIELD_END,
};
static const cyaml_schema_value_t worker_entry = ENTRY(CYAML_FLAG_FLOW, file_worker, worker_fields);

static const cyaml_schema_field_t bus_fields[] = {
    NEEDED("name", file_bus, name),
    NEEDED("bandwidth_mbs", file_bus, bandwidth_mbs),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t bus_entry = ENTRY(CYAML_FLAG_FLOW, file_bus, bus_fields);

static const cyaml_schema_field_t link_fields[] = {
    NEEDED("from", file_link, from),
    NEEDED("to", file_link, to),
    NEEDED("bandwidth_mbs", file_link, bandwidth_mbs),
    MAY("latency_us", file_link, latency_us),
    LIST("buses", CYAML_FLAG_OPTIONAL | CYAML_FLAG_FLOW, file_link, buses, &text_entry),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t link_entry = ENTRY(CYAML_FLAG_FLOW, file_link, link_fields);

static const cyaml_schema_field_t point_fields[] = {
    NEEDED("bytes", file_point, bytes),
    NEEDED("us", file_point, us),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t point_entry = ENTRY(CYAML_FLAG_FLOW, file_point, point_fields);
static const cyaml_schema_field_t kernel_fields[] = {
    NEEDED("codelet", file_kernel, codelet),
    NEEDED("class", file_kernel, class_name),
    LIST("table", CYAML_FLAG_OPTIONAL | CYAML_FLAG_BLOCK, file_kernel, table, &point_entry),
    MAY("gflops", file_kernel, gflops),
    MAY("half_flops", file_kernel, half_flops),
    MAY("latency_us", file_kernel, latency_us),
    MAY("bandwidth_mbs", file_kernel, bandwidth_mbs),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t kernel_entry = ENTRY(CYAML_FLAG_BLOCK, file_kernel, kernel_fields);

static const cyaml_schema_field_t level_fields[] = {
    NEEDED("name", file_level, name),
    LIST("cores", CYAML_FLAG_FLOW, file_level, cores, &text_entry),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t level_entry = ENTRY(CYAML_FLAG_FLOW, file_level, level_fields);

static const cyaml_schema_field_t factor_fields[] = {
    NEEDED("bytes", file_factor, bytes),
    NEEDED("factor", file_factor, factor),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t factor_entry = ENTRY(CYAML_FLAG_FLOW, file_factor, factor_fields);
static const cyaml_schema_field_t speedup_fields[] = {
    MAY("codelet", file_speedup, codelet),
    NEEDED("class", file_speedup, class_name),
    MAY("cores", file_speedup, cores),
    LIST("factors", CYAML_FLAG_OPTIONAL | CYAML_FLAG_BLOCK, file_speedup, factors, &factor_entry),
    MAY("latency_us", file_speedup, latency_us),
    MAY("bandwidth_mbs", file_speedup, bandwidth_mbs),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t speedup_entry = ENTRY(CYAML_FLAG_BLOCK, file_speedup, speedup_fields);

static const cyaml_schema_field_t platform_fields[] = {
    NEEDED("version", file_platform, version),
    NEEDED("name", file_platform, name),
    MAY("description", file_platform, description),
    MAY("source", file_platform, source),
    LIST("nodes", 0, file_platform, nodes, &node_entry),
    LIST("classes", 0, file_platform, classes, &class_entry),
    LIST("workers", 0, file_platform, workers, &worker_entry),
    LIST("buses", CYAML_FLAG_OPTIONAL, file_platform, buses, &bus_entry),
    LIST("links", CYAML_FLAG_OPTIONAL, file_platform, links, &link_entry),
    LIST("kernels", CYAML_FLAG_OPTIONAL, file_platform, kernels, &kernel_entry),
    LIST("levels", CYAML_FLAG_OPTIONAL, file_platform, levels, &level_entry),
    LIST("speedups", CYAML_FLAG_OPTIONAL, file_platform, speedups, &speedup_entry),
    CYAML_FIELD_END,
};
const cyaml_schema_value_t hd_platform_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER | CYAML_FLAG_BLOCK, struct file_platform, platform_fields),
};

/* --- libcyaml's log: a complaint, then (after "Backtrace:") one line per level, innermost first ------------------- */

static void prepend(struct hd_yaml_report *report, const char *step)
{
	const char *join = report->path[0] && report->path[0] != '[' ? "." : "";
	size_t old = strlen(report->path), added = strlen(step) + strlen(join);
	if (old + added >= sizeof report->path)
		return; /* cannot happen: the schema has only four levels */
	memmove(report->path + added, report->path, old + 1);
	memcpy(report->path, step, strlen(step));
	memcpy(report->path + strlen(step), join, strlen(join));
}

#define SEEN "Mapping field already seen"

static int is_about_keys(const char *problem)
{
	return strncmp(problem, "Missing required", 16) == 0 || strncmp(problem, "Unexpected key", 14) == 0;
}

/* Takes one line of the backtrace. If the problem is a missing or unknown key, the field that the innermost level names
 * is not it, but the last field that was read. */
static void take_level(struct hd_yaml_report *report, const char *text)
{
	const char *at = strstr(text, "(line: ");
	int innermost = report->line == 0;
	if (innermost && at)
		sscanf(at, "(line: %zu, column: %zu", &report->line, &report->column);
	char field[64];
	unsigned index;
	if (sscanf(text, " in mapping field '%63[^']'", field) == 1) {
		if (report->list[0] == '[')
			snprintf(report->list, sizeof report->list, "%s", field);
		if (!innermost || !is_about_keys(report->problem))
			prepend(report, field);
	} else if (sscanf(text, " in sequence entry '%u'", &index) == 1) {
		char step[16];
		snprintf(step, sizeof step, "[%u]",
		         index ? index - 1 : 0); /* libcyaml says how many entries it has begun */
		if (!report->list[0])
			snprintf(report->list, sizeof report->list, "[");
		prepend(report, step);
	}
}

static void take_log(cyaml_log_t level, void *context, const char *format, va_list args)
{
	(void)level;
	struct hd_yaml_report *report = context;
	char text[sizeof report->problem];
	vsnprintf(text, sizeof text, format, args);
	text[strcspn(text, "\n")] = '\0';
	if (strcmp(text, "Load: Backtrace:") == 0)
		report->in_backtrace = 1;
	else if (report->in_backtrace)
		take_level(report, text);
	else if (!report->problem[0])
		snprintf(report->problem, sizeof report->problem, "%s", strncmp(text, "Load: ", 6) ? text : text + 6);
}

cyaml_config_t hd_yaml_config(struct hd_yaml_report *report)
{
	memset(report, 0, sizeof *report);
	return (cyaml_config_t){
	    .log_fn = take_log,
	    .log_ctx = report,
	    .mem_fn = cyaml_mem,
	    .log_level = CYAML_LOG_ERROR,
	    .flags = CYAML_CFG_NO_ALIAS,
	};
}

/* The keys that a mapping of the given list may have, "a, b, c". */
static void list_keys(const char *list, char *out, size_t size)
{
	const cyaml_schema_field_t *fields = platform_fields;
	for (const cyaml_schema_field_t *f = platform_fields; f->key; f++)
		if (strcmp(f->key, list) == 0 && f->value.type == CYAML_SEQUENCE)
			fields = f->value.sequence.entry->mapping.fields;
	if (strcmp(list, "table") == 0)
		fields = point_fields;
	if (strcmp(list, "factors") == 0)
		fields = factor_fields;
	size_t used = 0;
	out[0] = '\0';
	for (; fields->key && used < size; fields++)
		used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", fields->key);
}

/* The word for a libcyaml type or a libyaml event that a user understands. */
static const char *form(const char *name)
{
	static const struct {
		const char *name, *form;
	} forms[] = {
	    {"STRING", "a plain value"},
	    {"SCALAR", "a plain value"},
	    {"SEQUENCE", "a list"},
	    {"MAPPING", "\"key: value\" pairs"},
	};
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
		if (strncmp(name, forms[i].name, strlen(forms[i].name)) == 0)
			return forms[i].form;
	return "something else";
}

/* For a key that should not be there, libcyaml reports the place of the value before it: moves the place on to the
 * key. */
static void advance_to_key(const char *yaml, size_t length, const char *key, struct hd_yaml_report *report)
{
	size_t line = 1, at = 0, n = strlen(key);
	for (; at < length && line < report->line; at++)
		line += yaml[at] == '\n';
	for (at += report->column ? report->column - 1 : 0; at + n < length; at++) {
		line += yaml[at] == '\n';
		if (strncmp(yaml + at, key, n) == 0 && (yaml[at + n] == ':' || yaml[at + n] == ' ')) {
			report->line = line;
			return;
		}
	}
}

/* Writes libcyaml's message in Heddle's words, with the remedy. */
static void reword(const struct hd_yaml_report *report, cyaml_err_t error, char *out, size_t size)
{
	const char *problem = report->problem[0] ? report->problem : cyaml_strerror(error);
	const char *colon = strstr(problem, ": ");
	const char *subject = colon ? colon + 2 : problem;
	char keys[200], wanted[32];
	list_keys(report->list, keys, sizeof keys);
	if (error == CYAML_ERR_INVALID_KEY)
		snprintf(out, size, "unknown key \"%s\"; the keys here are %s", subject, keys);
	else if (error == CYAML_ERR_MAPPING_FIELD_MISSING)
		snprintf(out, size, "the key \"%s\" is missing; the keys here are %s", subject, keys);
	else if (strncmp(problem, SEEN, strlen(SEEN)) == 0)
		snprintf(out, size, "the key \"%s\" is there twice; keep one", subject);
	else if (sscanf(problem, "Expecting %31[A-Z]", wanted) == 1)
		snprintf(out, size, "%s should be here, and there is %s", form(wanted), form(subject));
	else if (error == CYAML_ERR_LIBYAML_PARSER)
		snprintf(out, size, "%s; this is not YAML, or it is cut off", subject);
	else if (error == CYAML_ERR_ALIAS)
		snprintf(out, size, "there is an alias; write the value out");
	else
		snprintf(out, size, "%s", problem);
}

int hd_yaml_out_of_memory(cyaml_err_t error, const struct hd_yaml_report *report)
{
	switch (error) {
	case CYAML_ERR_OOM:
	case CYAML_ERR_LIBYAML_PARSER_INIT:
	case CYAML_ERR_LIBYAML_EMITTER_INIT:
	/* also reported for text that is not UTF-8, but heddle_platform_check has refused that before */
	case CYAML_ERR_LIBYAML_EVENT_INIT: return 1;
	case CYAML_ERR_LIBYAML_PARSER:
	case CYAML_ERR_LIBYAML_EMITTER: /* libyaml has logged a message unless memory ran out */
		return !report->problem[0] || strstr(report->problem, "(null)") != NULL;
	default: return 0;
	}
}

int hd_yaml_error(const char *file, const char *yaml, size_t length, cyaml_err_t error, struct hd_yaml_report *report)
{
	if (hd_yaml_out_of_memory(error, report))
		return hd_no_memory(file);
	const char *colon = strstr(report->problem, ": ");
	if (colon && (error == CYAML_ERR_INVALID_KEY || strncmp(report->problem, SEEN, strlen(SEEN)) == 0))
		advance_to_key(yaml, length, colon + 2, report);
	char where[288] = "", what[512];
	int n = 0;
	if (!report->line) /* libcyaml gives none if the file as a whole is wrong */
		report->line = hd_yaml_first_line(yaml, length);
	n = snprintf(where, sizeof where, "line %zu%s", report->line, report->path[0] ? ", " : "");
	snprintf(where + n, sizeof where - (size_t)n, "%s", report->path);
	reword(report, error, what, sizeof what);
	return hd_error(HEDDLE_E_FORMAT, "%s: %s%s%s", file, where, where[0] ? ": " : "", what);
}
