/* YAML files: read into trees whose shape a table of keys gives, and written. Each plain value is text here; whoever
 * reads the file makes numbers of it. */
#ifndef HD_BASE_YAML_H
#define HD_BASE_YAML_H

#include <stddef.h>

struct hd_arena;

enum hd_yaml_kind { HD_YAML_TEXT, HD_YAML_LIST, HD_YAML_MAP };

/* The keys that a mapping may have; a table ends with a NULL key. */
struct hd_yaml_field {
	const char *key;
	enum hd_yaml_kind kind; /* HD_YAML_TEXT or HD_YAML_LIST */
	int optional;
	const struct hd_yaml_field *fields; /* of the mappings of a list; NULL: plain values are listed */
};

/* A node of a tree. */
struct hd_yaml {
	enum hd_yaml_kind kind;
	const char *key;                          /* in a mapping; of the root: the name of the file */
	const char *text;                         /* of HD_YAML_TEXT */
	size_t n, index;                          /* how many children it has; which child it is */
	size_t line;                              /* where it begins, from 1 */
	struct hd_yaml *up, *first, *last, *next; /* up: NULL for the root; first and last: of the children */
	const struct hd_yaml_field *fields;       /* of a mapping, or of those in a list */
};

/* Reads a text into a tree, which lies in the arena; the arena is the caller's to close, also after an error. `file`:
 * the name of the file, for messages. *root: a mapping with these fields; NULL if the text is empty. HEDDLE_E_FORMAT,
 * with the line and the path of what is wrong: it is not YAML, or is not as the fields say, or has an alias, a second
 * document or a text with a NUL. HEDDLE_E_MEMORY. */
int hd_yaml_parse(const char *file, const char *yaml, size_t length, const struct hd_yaml_field *fields,
                  struct hd_arena *arena, const struct hd_yaml **root);
/* The value of a key; NULL: the key is absent. */
const struct hd_yaml *hd_yaml_get(const struct hd_yaml *map, const char *key);
/* The text of a key; NULL: the key is absent. */
const char *hd_yaml_text(const struct hd_yaml *map, const char *key);
/* The head of a `for` over the elements of the list that a key has as its value. The key may be absent. */
#define HD_YAML_EACH(child, map, key)                                            \
	const struct hd_yaml *child##_list = hd_yaml_get(map, key),              \
	                     *child = child##_list ? child##_list->first : NULL; \
	child;                                                                   \
	child = child->next
/* Puts "FILE: line 12, links[3].from" before the message of `status`, the place of a node. Returns the status. */
int hd_yaml_bad(const struct hd_yaml *node, int status);
/* Reads a value as a finite number; a NULL value leaves *out as it is. */
int hd_yaml_real(const struct hd_yaml *value, double *out);

/* Writes a text. Between open and close, calls do nothing when memory has run out. In a list, `key` is NULL. `flow`: on
 * one line, as in {a: 1, b: 2}. */
struct hd_yaml_writer;
struct hd_yaml_writer *hd_yaml_open(void); /* begins with the outermost mapping; NULL: out of memory */
void hd_yaml_begin(struct hd_yaml_writer *w, const char *key, enum hd_yaml_kind kind, int flow);
void hd_yaml_end(struct hd_yaml_writer *w, enum hd_yaml_kind kind);
/* `text` may be NULL because memory has run out for it. */
void hd_yaml_put(struct hd_yaml_writer *w, const char *key, const char *text);
/* The shortest text that is read as the same number. */
void hd_yaml_put_real(struct hd_yaml_writer *w, const char *key, double value);
/* The caller frees *text, which ends with a NUL. `w` may be NULL. HEDDLE_E_MEMORY, HEDDLE_E_FORMAT; `what` names the
 * file for messages. */
int hd_yaml_close(struct hd_yaml_writer *w, const char *what, char **text, size_t *length);

#endif
