/* Reads and writes graphs as JSON (docs/graphs.md). The elements of a list are read by jansson one by one, so that the
 * jansson values of the whole file are never in memory together, and messages can name the line. */
#include "graph.h"
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "state/task.h"

/* Versions of the format. Version 2 has names of tasks and data. A graph without names is written in version 1, because
 * older readers understand version 1 only. */
enum { VERSION = 1, VERSION_NAMES = 2 };

struct reader {
	const char *name, *text, *end;
	const char *p;     /* the rest of the text */
	const char *value; /* the beginning of the value that is being read */
	struct hd_build build;
	int has_version;
};

static size_t line_of(const struct reader *r, const char *at)
{
	size_t line = 1;
	for (const char *p = r->text; p < at; p++)
		line += *p == '\n';
	return line;
}

#define BAD(r, ...) hd_graph_bad((r)->name, line_of(r, (r)->value), __VA_ARGS__)

/* --- Values and lists --------------------------------------------------------------------------------------------- */

static char skip_blanks(struct reader *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\t' || *r->p == '\r'))
		r->p++;
	r->value = r->p;
	return r->p < r->end ? *r->p : '\0';
}

static int expect(struct reader *r, char c, const char *where)
{
	if (skip_blanks(r) != c)
		return BAD(r, "\"%c\" expected %s", c, where);
	r->p++;
	return 0;
}

/* Reads one value, which the caller owns. NULL: an error, with a message. */
static json_t *read_value(struct reader *r)
{
	json_error_t error;
	skip_blanks(r);
	json_t *value = json_loadb(r->p, (size_t)(r->end - r->p),
	                           JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &error);
	if (!value) {
		hd_error(HEDDLE_E_FORMAT, "%s:%zu: %s", r->name,
		         line_of(r, r->p) + (error.line > 0 ? (size_t)error.line : 1) - 1, error.text);
		return NULL;
	}
	r->p += error.position;
	return value;
}

typedef int (*value_fn)(struct reader *r, const json_t *value);

static int read_one(struct reader *r, value_fn f)
{
	json_t *value = read_value(r);
	if (!value)
		return HEDDLE_E_FORMAT;
	int status = f(r, value);
	json_decref(value);
	return status;
}

static int read_list(struct reader *r, value_fn f)
{
	int status = expect(r, '[', "before a list");
	if (!status && skip_blanks(r) == ']') {
		r->p++;
		return 0;
	}
	while (!status) {
		status = read_one(r, f);
		if (status)
			break;
		char c = skip_blanks(r);
		if (c == ']') {
			r->p++;
			break;
		}
		status = expect(r, ',', "or the end of the list");
	}
	return status;
}

/* --- What the members hold ---------------------------------------------------------------------------------------- */

/* Checks that a value can be the name of a type or a class: a string that is not empty and has no NUL. */
static int check_name(const struct reader *r, const json_t *value, const char *what)
{
	if (!json_is_string(value) || json_string_length(value) == 0)
		return BAD(r, "%s is not a name in quotes", what);
	return strlen(json_string_value(value)) == json_string_length(value) ? 0 : BAD(r, "%s contains a NUL", what);
}

static int read_version(struct reader *r, const json_t *value)
{
	if (!json_is_integer(value) ||
	    (json_integer_value(value) != VERSION && json_integer_value(value) != VERSION_NAMES))
		return BAD(r, "this version of Heddle reads graphs of version %d and %d", VERSION, VERSION_NAMES);
	r->has_version = 1;
	return 0;
}

static int read_name(struct reader *r, const json_t *value)
{
	int status =
	    json_is_string(value) && json_string_length(value) == 0 ? 0 : check_name(r, value, "the graph's name");
	if (!status)
		hd_build_name(&r->build, json_string_value(value));
	return status;
}

static int read_color(struct reader *r, const json_t *value, uint32_t *out)
{
	const char *text = json_string_value(value);
	char *after = NULL;
	if (!text || text[0] != '#' || strlen(text) != 7 || strspn(text + 1, "0123456789abcdefABCDEF") != 6)
		return BAD(r, "a colour is \"#RRGGBB\"");
	*out = (uint32_t)strtoul(text + 1, &after, 16);
	return 0;
}

static int read_type(struct reader *r, const json_t *value)
{
	const json_t *name = json_object_get(value, "name"), *color = json_object_get(value, "color");
	uint32_t rgb = 0;
	if (!json_is_object(value) || json_object_size(value) != 1 + (size_t)(color != NULL))
		return BAD(r, "a type is {\"name\": ..., \"color\": \"#RRGGBB\"}");
	int status = check_name(r, name, "the name of a type");
	if (!status && color)
		status = read_color(r, color, &rgb);
	if (status)
		return status;
	uint32_t type = hd_build_type(&r->build, json_string_value(name), json_string_length(name));
	if (!r->build.failed)
		r->build.colors[type] = rgb;
	return 0;
}

static int read_class(struct reader *r, const json_t *value)
{
	int status = check_name(r, value, "a class");
	if (!status)
		hd_build_class(&r->build, json_string_value(value), json_string_length(value));
	return status;
}

/* Reads a datum: its size in bytes, or an object with its size and its name. */
static int read_datum(struct reader *r, const json_t *value)
{
	const json_t *bytes = value, *name = NULL;
	int status = 0;
	if (json_is_object(value)) {
		bytes = json_object_get(value, "bytes");
		name = json_object_get(value, "name");
		status = json_object_size(value) == 2
		             ? check_name(r, name, "the name of a datum")
		             : BAD(r, "a datum with a name is {\"bytes\": ..., \"name\": ...}");
	}
	if (!status && (!json_is_integer(bytes) || json_integer_value(bytes) < 0))
		status = BAD(r, "the size of a datum is a number of bytes");
	if (status)
		return status;
	uint32_t datum = hd_build_datum(&r->build, (uint64_t)json_integer_value(bytes));
	if (name)
		hd_build_data_name(&r->build, datum, json_string_value(name), json_string_length(name));
	return 0;
}

static int read_index(const struct reader *r, const json_t *value, const char *what, uint32_t *out)
{
	if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) >= UINT32_MAX)
		return BAD(r, "%s is a number from 0", what);
	*out = (uint32_t)json_integer_value(value);
	return 0;
}

static int read_edge(struct reader *r, const json_t *value)
{
	uint32_t from = 0, to = 0;
	if (!json_is_array(value) || json_array_size(value) != 2)
		return BAD(r, "an edge is [from, to]");
	int status = read_index(r, json_array_get(value, 0), "the task where an edge begins", &from);
	if (!status)
		status = read_index(r, json_array_get(value, 1), "the task where an edge ends", &to);
	if (!status)
		hd_build_edge(&r->build, from, to, 0);
	return status;
}

/* --- Tasks -------------------------------------------------------------------------------------------------------- */

static int read_accesses(struct reader *r, uint32_t task, const json_t *list)
{
	if (!json_is_array(list) || json_array_size(list) % 2)
		return BAD(r, "the data of a task are [mode, number, mode, number, ...]");
	for (size_t i = 0; i < json_array_size(list); i += 2) {
		const char *name = json_string_value(json_array_get(list, i));
		uint32_t mode = name ? hd_mode_of(name) : 0, datum = 0;
		if (!mode)
			return BAD(r, "%s%s%s is no access mode: these are R, W, RW, SCRATCH, REDUX, COMMUTE",
			           name ? "\"" : "", name ? name : "what stands before a datum", name ? "\"" : "");
		int status = read_index(r, json_array_get(list, i + 1), "a datum", &datum);
		if (status)
			return status;
		hd_build_access(&r->build, task, datum, mode);
	}
	return 0;
}

static int read_times(struct reader *r, uint32_t task, json_t *times)
{
	const char *class_;
	json_t *value;
	if (!json_is_object(times))
		return BAD(r, "the times of a task are {\"class\": us, ...}");
	json_object_foreach(times, class_, value)
	{
		if (!class_[0] || !json_is_number(value) || json_number_value(value) < 0)
			return BAD(r, "the time on class \"%s\" is not a number of us from 0", class_);
		hd_build_time(&r->build, task, hd_build_class(&r->build, class_, strlen(class_)),
		              json_number_value(value));
	}
	return 0;
}

static int read_member(struct reader *r, uint32_t task, const char *key, json_t *value)
{
	struct heddle_graph_task *t = &r->build.tasks[task];
	if (strcmp(key, "type") == 0)
		return 0;
	if (strcmp(key, "data") == 0)
		return read_accesses(r, task, value);
	if (strcmp(key, "times") == 0)
		return read_times(r, task, value);
	if (strcmp(key, "name") == 0) {
		int status = check_name(r, value, "the name of a task");
		if (!status)
			hd_build_task_name(&r->build, task, json_string_value(value), json_string_length(value));
		return status;
	}
	if (strcmp(key, "priority") == 0) {
		if (!json_is_integer(value) || json_integer_value(value) < INT32_MIN ||
		    json_integer_value(value) > INT32_MAX)
			return BAD(r, "the priority of a task is a whole number of 32 bits");
		t->priority = (int32_t)json_integer_value(value);
		return 0;
	}
	if (strcmp(key, "flops") == 0) {
		t->flops = json_number_value(value) + 0.0; /* -0 becomes 0 */
		return json_is_number(value) && t->flops >= 0 ? 0 : BAD(r, "the flops of a task are a number from 0");
	}
	return BAD(r, "a task has \"%s\", which is none of type, name, data, priority, flops, times", key);
}

static int read_task(struct reader *r, const json_t *value)
{
	const char *key;
	/* json_object_foreach does not change the object, but demands a pointer that is not const */
	json_t *member, *object = (json_t *)(uintptr_t)value;
	const json_t *type = json_object_get(value, "type");
	if (!json_is_object(value) || !type)
		return BAD(r, "a task is {\"type\": ..., \"data\": [mode, number, ...], ...}");
	int status = check_name(r, type, "the type of a task");
	if (status)
		return status;
	uint32_t task =
	    hd_build_task(&r->build, hd_build_type(&r->build, json_string_value(type), json_string_length(type)));
	if (r->build.failed)
		return hd_no_memory(r->name);
	json_object_foreach(object, key, member)
	{
		status = read_member(r, task, key, member);
		if (status)
			break;
	}
	return status;
}

/* --- The whole ---------------------------------------------------------------------------------------------------- */

static const struct {
	const char *key;
	value_fn f;
	int list; /* 1: the member is a list, and f reads one of its elements */
} members[] = {
    {"heddle_graph", read_version, 0}, {"name", read_name, 0},  {"types", read_type, 1}, {"classes", read_class, 1},
    {"data", read_datum, 1},           {"tasks", read_task, 1}, {"edges", read_edge, 1},
};
enum { N_MEMBERS = sizeof members / sizeof *members };

static int read_any_member(struct reader *r, unsigned *seen)
{
	json_t *key = read_value(r);
	if (!key)
		return HEDDLE_E_FORMAT;
	size_t i = 0;
	while (i < N_MEMBERS && !(json_is_string(key) && strcmp(json_string_value(key), members[i].key) == 0))
		i++;
	int status = 0;
	if (i == N_MEMBERS)
		status = BAD(
		    r, "a graph has no member \"%s\"; it has heddle_graph, name, types, classes, data, tasks, edges",
		    json_is_string(key) ? json_string_value(key) : "(not a string)");
	else if (*seen & 1u << i)
		status = BAD(r, "a second \"%s\"", members[i].key);
	json_decref(key);
	if (!status)
		status = expect(r, ':', "after the name of a member");
	if (status)
		return status;
	*seen |= 1u << i;
	return members[i].list ? read_list(r, members[i].f) : read_one(r, members[i].f);
}

static int read_graph(struct reader *r)
{
	unsigned seen = 0;
	int status = expect(r, '{', "at the beginning: is this a task graph?");
	if (!status && skip_blanks(r) == '}')
		r->p++;
	else
		while (!status) {
			status = read_any_member(r, &seen);
			if (status)
				break;
			if (skip_blanks(r) == '}') {
				r->p++;
				break;
			}
			status = expect(r, ',', "or the end of the graph");
		}
	if (!status && (skip_blanks(r), r->p < r->end))
		status = BAD(r, "something follows the end of the graph");
	if (!status && !r->has_version)
		status = BAD(r, "this is no task graph of Heddle: it lacks \"heddle_graph\": %d", VERSION);
	return status;
}

int hd_graph_parse_json(const char *name, const char *text, size_t length, struct heddle_graph **out)
{
	struct reader r = {.name = name, .text = text, .p = text, .end = text + length, .value = text};
	int status = read_graph(&r);
	if (status) {
		hd_build_free(&r.build);
		return status;
	}
	status = hd_build_end(&r.build, out);
	return status == HEDDLE_E_INVALID ? hd_error_context(HEDDLE_E_FORMAT, "%s", name) : status;
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

static void write_task(const struct heddle_graph *g, size_t i, struct hd_text *text)
{
	const struct heddle_graph_task *t = &g->tasks[i];
	hd_text_put(text, "{\"type\": ");
	hd_text_json(text, g->types[t->type].name);
	const char *name = heddle_name_of(&g->task_names, i);
	if (name) {
		hd_text_put(text, ", \"name\": ");
		hd_text_json(text, name);
	}
	for (size_t k = 0; k < t->n_accesses; k++) {
		const struct heddle_graph_access *a = &g->accesses[t->first_access + k];
		hd_text_format(text, "%s\"%s\", %u", k ? ", " : ", \"data\": [", hd_mode_name(a->mode), a->data);
	}
	if (t->n_accesses)
		hd_text_char(text, ']');
	if (t->priority)
		hd_text_format(text, ", \"priority\": %d", t->priority);
	if (t->flops > 0) {
		hd_text_put(text, ", \"flops\": ");
		hd_text_real(text, t->flops);
	}
	int some = 0;
	for (size_t c = 0; g->times && c < g->n_classes; c++) {
		if (isnan(g->times[i * g->n_classes + c]))
			continue;
		hd_text_put(text, some ? ", " : ", \"times\": {");
		hd_text_json(text, g->classes[c]);
		hd_text_put(text, ": ");
		hd_text_real(text, g->times[i * g->n_classes + c]);
		some = 1;
	}
	hd_text_put(text, some ? "}}" : "}");
}

static void write_datum(const struct heddle_graph *g, size_t i, struct hd_text *text)
{
	const char *name = heddle_name_of(&g->data_names, i);
	if (!name) {
		hd_text_uint(text, g->data[i].bytes);
		return;
	}
	hd_text_put(text, "{\"bytes\": ");
	hd_text_uint(text, g->data[i].bytes);
	hd_text_put(text, ", \"name\": ");
	hd_text_json(text, name);
	hd_text_char(text, '}');
}

static void write_types(const struct heddle_graph *g, struct hd_text *text)
{
	for (size_t i = 0; i < g->n_types; i++) {
		hd_text_put(text, i ? ",\n{\"name\": " : "\n{\"name\": ");
		hd_text_json(text, g->types[i].name);
		if (g->types[i].color)
			hd_text_format(text, ", \"color\": \"#%06x\"", g->types[i].color);
		hd_text_char(text, '}');
	}
}

void hd_graph_write_json(const struct heddle_graph *g, struct hd_text *text)
{
	hd_text_format(
	    text, "{\n\"heddle_graph\": %d,\n\"name\": ", g->task_names.n || g->data_names.n ? VERSION_NAMES : VERSION);
	hd_text_json(text, g->name);
	hd_text_put(text, ",\n\"types\": [");
	write_types(g, text);
	hd_text_put(text, "],\n\"classes\": [");
	for (size_t i = 0; i < g->n_classes; i++) {
		hd_text_put(text, i ? ", " : "");
		hd_text_json(text, g->classes[i]);
	}
	hd_text_put(text, "],\n\"data\": [");
	for (size_t i = 0; i < g->n_data; i++) {
		hd_text_put(text, i % 16 ? ", " : i ? ",\n" : "\n");
		write_datum(g, i, text);
	}
	hd_text_put(text, "],\n\"tasks\": [");
	for (size_t i = 0; i < g->n_tasks; i++) {
		hd_text_put(text, i ? ",\n" : "\n");
		write_task(g, i, text);
	}
	hd_text_put(text, "],\n\"edges\": [");
	for (size_t i = 0; i < g->n_edges; i++)
		hd_text_format(text, "%s[%u, %u]", i % 8 ? ", " : i ? ",\n" : "\n", g->edges[i].from, g->edges[i].to);
	hd_text_put(text, "]\n}\n");
}
