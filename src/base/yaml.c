/* YAML files: see yaml.h. libyaml parses and emits. The keys and kinds of nodes are checked while the tree grows, so
 * that the first mistake of the file is the one reported. */
#include "base/yaml.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>
#include "base/base.h"
#include "base/text.h"

/* --- Messages ----------------------------------------------------------------------------------------------------- */

/* Writes the place of a node in the tree, as in "links[3].from". */
static void write_path(const struct hd_yaml *node, struct hd_text *path)
{
	if (!node->up)
		return;
	write_path(node->up, path);
	if (!node->key)
		hd_text_format(path, "[%zu]", node->index);
	else
		hd_text_format(path, "%s%s", path->length ? "." : "", node->key);
}

static const char *file_of(const struct hd_yaml *node)
{
	while (node->up)
		node = node->up;
	return node->key;
}

static int bad_at(const struct hd_yaml *node, size_t line, int status)
{
	struct hd_text path = {0};
	write_path(node, &path);
	status = hd_error_context(status, "%s: line %zu%s%.*s", file_of(node), line, path.length ? ", " : "",
	                          (int)path.length, path.data ? path.data : "");
	hd_text_free(&path);
	return status;
}

int hd_yaml_bad(const struct hd_yaml *node, int status)
{
	return bad_at(node, node->line, status);
}

static const char *form(enum hd_yaml_kind kind)
{
	static const char *const forms[] = {
	    [HD_YAML_TEXT] = "a plain value", [HD_YAML_LIST] = "a list", [HD_YAML_MAP] = "\"key: value\" pairs"};
	return forms[kind];
}

/* Reports a key that is unknown or otherwise wrong, and lists the keys that the mapping may have. */
static int bad_key(const struct hd_yaml *map, size_t line, const char *before, const char *key, const char *after)
{
	struct hd_text keys = {0};
	for (const struct hd_yaml_field *f = map->fields; f->key; f++)
		hd_text_format(&keys, "%s%s", f == map->fields ? "" : ", ", f->key);
	int status = hd_error(HEDDLE_E_FORMAT, "%s \"%.60s\"%s; the keys here are %.*s", before, key, after,
	                      (int)keys.length, keys.data ? keys.data : "");
	hd_text_free(&keys);
	return bad_at(map, line, status);
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

struct reading {
	const char *yaml;
	size_t length;
	struct hd_arena *arena;
	struct hd_yaml *root, *at; /* at: the mapping or list that is being read; NULL: the root has ended */
	/* if `at` is a mapping: the field of the key just read, whose value comes next; NULL: a key comes next */
	const struct hd_yaml_field *field;
	int ended;
};

static char *copy_text(struct reading *r, const yaml_event_t *e)
{
	char *text = hd_arena_take(r->arena, e->data.scalar.length + 1, 1);
	if (text) {
		memcpy(text, e->data.scalar.value, e->data.scalar.length);
		text[e->data.scalar.length] = '\0';
	}
	return text;
}

/* Adds a node for the next value, of the kind that the table of fields wants here, whatever the event is. */
static struct hd_yaml *add_node(struct reading *r, size_t line)
{
	struct hd_yaml *node = hd_arena_take(r->arena, sizeof *node, _Alignof(struct hd_yaml)), *up = r->at;
	if (!node)
		return NULL;
	*node = (struct hd_yaml){.kind = HD_YAML_MAP, .up = up, .fields = up->fields, .line = line, .index = up->n};
	if (r->field) {
		node->key = r->field->key;
		node->kind = r->field->kind;
		node->fields = r->field->fields;
	} else if (!up->fields) {
		node->kind = HD_YAML_TEXT;
	}
	*(up->n++ ? &up->last->next : &up->first) = node;
	up->last = node;
	r->field = NULL;
	return node;
}

static int read_value(struct reading *r, const yaml_event_t *e, enum hd_yaml_kind kind)
{
	size_t line = e->start_mark.line + 1;
	struct hd_yaml *node = r->root->line ? add_node(r, line) : r->root;
	const char *text = kind == HD_YAML_TEXT ? copy_text(r, e) : "";
	if (!node || !text)
		return hd_no_memory(r->root->key);
	node->line = line;
	if (node->kind != kind)
		return hd_yaml_bad(node, hd_error(HEDDLE_E_FORMAT, "%s should be here, and there is %s",
		                                  form(node->kind), form(kind)));
	node->text = text;
	if (kind != HD_YAML_TEXT)
		r->at = node;
	return 0;
}

static int read_key(struct reading *r, const yaml_event_t *e)
{
	const struct hd_yaml_field *f = r->at->fields;
	size_t line = e->start_mark.line + 1;
	if (e->type != YAML_SCALAR_EVENT)
		return bad_at(r->at, line, hd_error(HEDDLE_E_FORMAT, "a key should be here, and it is no plain value"));
	const char *key = (const char *)e->data.scalar.value;
	while (f->key && strcmp(f->key, key) != 0)
		f++;
	if (!f->key)
		return bad_key(r->at, line, "unknown key", key, "");
	if (hd_yaml_get(r->at, key))
		return bad_at(r->at, line, hd_error(HEDDLE_E_FORMAT, "the key \"%s\" is there twice; keep one", key));
	r->field = f;
	return 0;
}

/* Ends the mapping or list `at`; reports a missing key. */
static int read_end(struct reading *r)
{
	const struct hd_yaml *map = r->at;
	for (const struct hd_yaml_field *f = map->fields; map->kind == HD_YAML_MAP && f->key; f++)
		if (!f->optional && !hd_yaml_get(map, f->key))
			return bad_key(map, map->line, "the key", f->key, " is missing");
	r->at = map->up;
	return 0;
}

/* Reports what Heddle does not read and cannot ignore without losing a part of the file's meaning. */
static int check_event(const struct reading *r, const yaml_event_t *e)
{
	size_t line = e->start_mark.line + 1;
	if (!r->at && e->type == YAML_DOCUMENT_START_EVENT)
		return bad_at(r->root, line,
		              hd_error(HEDDLE_E_FORMAT, "a second document begins here; make it a file of its own"));
	if (e->type == YAML_SCALAR_EVENT && memchr(e->data.scalar.value, '\0', e->data.scalar.length))
		return bad_at(r->at, line,
		              hd_error(HEDDLE_E_FORMAT, "a text contains the character \\0; leave it out"));
	return 0;
}

static int read_event(struct reading *r, const yaml_event_t *e)
{
	int begun = r->root->line > 0, status = check_event(r, e);
	if (status)
		return status;
	switch (e->type) {
	case YAML_STREAM_END_EVENT: r->ended = 1; return 0;
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT: return read_end(r);
	case YAML_ALIAS_EVENT:
	case YAML_SCALAR_EVENT:
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT: break;
	default: return 0; /* the stream and the document begin, or the document ends */
	}
	if (begun && r->at->kind == HD_YAML_MAP && !r->field)
		return read_key(r, e);
	if (e->type == YAML_ALIAS_EVENT) {
		struct hd_yaml *node = begun ? add_node(r, e->start_mark.line + 1) : r->root;
		return node ? bad_at(node, e->start_mark.line + 1,
		                     hd_error(HEDDLE_E_FORMAT, "there is an alias; write the value out"))
		            : hd_no_memory(r->root->key);
	}
	return read_value(r, e,
	                  e->type == YAML_SCALAR_EVENT           ? HD_YAML_TEXT
	                  : e->type == YAML_SEQUENCE_START_EVENT ? HD_YAML_LIST
	                                                         : HD_YAML_MAP);
}

/* Reports what libyaml refuses. If libyaml gives no place, the last value read before tells it. */
static int bad_yaml(const struct reading *r, const yaml_parser_t *parser)
{
	int encoding = parser->error == YAML_READER_ERROR; /* libyaml gives no mark for it */
	size_t end = encoding ? parser->problem_offset : r->length, line = 1;
	if (parser->error == YAML_MEMORY_ERROR || !parser->problem)
		return hd_no_memory(r->root->key);
	for (size_t i = 0; i < end; i++)
		line += r->yaml[i] == '\n';
	if (!encoding && parser->problem_mark.line < line) /* at the end of a text, the mark is behind its last line */
		line = parser->problem_mark.line + 1;
	int status = hd_error(HEDDLE_E_FORMAT, "%s; %s", parser->problem,
	                      r->at ? "this is not YAML, or it is cut off"
	                            : "what stands before is complete: indent all keys of the file alike");
	return bad_at(!r->at ? r->root : r->at->last ? r->at->last : r->at, line, status);
}

int hd_yaml_parse(const char *file, const char *yaml, size_t length, const struct hd_yaml_field *fields,
                  struct hd_arena *arena, const struct hd_yaml **out)
{
	struct hd_yaml *root = hd_arena_take(arena, sizeof *root, _Alignof(struct hd_yaml));
	struct reading r = {.yaml = yaml, .length = length, .arena = arena, .root = root, .at = root};
	yaml_parser_t parser;
	yaml_event_t event;
	if (!root || !yaml_parser_initialize(&parser))
		return hd_no_memory(file);
	*root = (struct hd_yaml){.kind = HD_YAML_MAP, .key = file, .fields = fields};
	yaml_parser_set_input_string(&parser, (const unsigned char *)yaml, length);
	int status = 0;
	while (!status && !r.ended) {
		if (!yaml_parser_parse(&parser, &event)) {
			status = bad_yaml(&r, &parser);
			break;
		}
		status = read_event(&r, &event);
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	*out = root->line ? root : NULL;
	return status;
}

const struct hd_yaml *hd_yaml_get(const struct hd_yaml *map, const char *key)
{
	const struct hd_yaml *node = map->first;
	while (node && strcmp(node->key, key) != 0)
		node = node->next;
	return node;
}

const char *hd_yaml_text(const struct hd_yaml *map, const char *key)
{
	const struct hd_yaml *node = hd_yaml_get(map, key);
	return node ? node->text : NULL;
}

int hd_yaml_real(const struct hd_yaml *value, double *out)
{
	if (!value)
		return 0;
	char *end;
	double x = hd_real(value->text, &end);
	if (end == value->text || *end || !isfinite(x))
		return hd_yaml_bad(value, hd_error(HEDDLE_E_FORMAT,
		                                   "\"%.60s\" is not a number; write it without a unit, as in 12.5",
		                                   value->text));
	*out = x;
	return 0;
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

struct hd_yaml_writer {
	yaml_emitter_t emitter;
	struct hd_text text;
	int failed; /* the emitter has refused an event, or memory has run out */
};

/* Emits an event. `made`: what the function that initialised the event returned; 0: it failed. */
static void emit(struct hd_yaml_writer *w, yaml_event_t *event, int made)
{
	if (!made)
		w->failed = 1;
	else if (w->failed)
		yaml_event_delete(event);
	else if (!yaml_emitter_emit(&w->emitter, event))
		w->failed = 1;
}

static int take_output(void *writer, unsigned char *bytes, size_t n)
{
	struct hd_yaml_writer *w = writer;
	hd_text_add(&w->text, bytes, n);
	return !w->text.failed;
}

struct hd_yaml_writer *hd_yaml_open(void)
{
	struct hd_yaml_writer *w = calloc(1, sizeof *w);
	yaml_event_t e;
	if (!w || !yaml_emitter_initialize(&w->emitter)) {
		free(w);
		return NULL;
	}
	yaml_emitter_set_output(&w->emitter, take_output, w);
	emit(w, &e, yaml_stream_start_event_initialize(&e, YAML_UTF8_ENCODING));
	emit(w, &e, yaml_document_start_event_initialize(&e, NULL, NULL, NULL, 1));
	hd_yaml_begin(w, NULL, HD_YAML_MAP, 0);
	return w;
}

static void put_scalar(struct hd_yaml_writer *w, const char *text)
{
	yaml_event_t e;
	if (!text) {
		w->failed = 1;
		return;
	}
	emit(w, &e,
	     yaml_scalar_event_initialize(&e, NULL, NULL, (const yaml_char_t *)text, (int)strlen(text), 1, 1,
	                                  YAML_PLAIN_SCALAR_STYLE));
}

void hd_yaml_begin(struct hd_yaml_writer *w, const char *key, enum hd_yaml_kind kind, int flow)
{
	yaml_event_t e;
	if (key)
		put_scalar(w, key);
	if (kind == HD_YAML_MAP)
		emit(w, &e,
		     yaml_mapping_start_event_initialize(&e, NULL, NULL, 1,
		                                         flow ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE));
	else
		emit(w, &e,
		     yaml_sequence_start_event_initialize(&e, NULL, NULL, 1,
		                                          flow ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE));
}

void hd_yaml_end(struct hd_yaml_writer *w, enum hd_yaml_kind kind)
{
	yaml_event_t e;
	emit(w, &e,
	     kind == HD_YAML_MAP ? yaml_mapping_end_event_initialize(&e) : yaml_sequence_end_event_initialize(&e));
}

void hd_yaml_put(struct hd_yaml_writer *w, const char *key, const char *text)
{
	if (key)
		put_scalar(w, key);
	put_scalar(w, text);
}

void hd_yaml_put_real(struct hd_yaml_writer *w, const char *key, double value)
{
	char text[32];
	for (int digits = 15; digits <= 17; digits++) {
		hd_print_into(text, sizeof text, "%.*g", digits, value);
		if (hd_real(text, NULL) == value)
			break;
	}
	hd_yaml_put(w, key, text);
}

int hd_yaml_close(struct hd_yaml_writer *w, const char *what, char **text, size_t *length)
{
	yaml_event_t e;
	if (!w)
		return hd_no_memory(what);
	hd_yaml_end(w, HD_YAML_MAP);
	emit(w, &e, yaml_document_end_event_initialize(&e, 1));
	emit(w, &e, yaml_stream_end_event_initialize(&e));
	hd_text_char(&w->text, '\0');
	int status = 0;
	if (w->emitter.error == YAML_EMITTER_ERROR || w->emitter.error == YAML_WRITER_ERROR)
		status = hd_error(HEDDLE_E_FORMAT, "%s cannot be written as YAML: %s", what, w->emitter.problem);
	if (w->text.failed || (w->failed && !status))
		status = hd_no_memory(what);
	yaml_emitter_delete(&w->emitter);
	if (status) {
		hd_text_free(&w->text);
	} else {
		*text = w->text.data;
		*length = w->text.length - 1;
	}
	free(w);
	return status;
}
