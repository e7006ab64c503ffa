/* YAML files: read into trees whose keys and kinds a table prescribes, and written. Each plain value is text here; the
 * caller reads numbers with hd_yaml_real. */
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
	const struct hd_yaml_field *fields; /* of the mappings in the list; NULL: the list has plain values */
};

/* A node of a tree. */
struct hd_yaml {
	enum hd_yaml_kind kind;
	const char *key;                          /* the key in its mapping; of the root: the name of the file */
	const char *text;                         /* the value, if the kind is HD_YAML_TEXT */
	size_t n, index;                          /* number of children; index of this node among its siblings */
	size_t line;                              /* the line of the file where the node begins, from 1 */
	struct hd_yaml *up, *first, *last, *next; /* up: NULL for the root; first and last: of the children */
	const struct hd_yaml_field *fields;       /* of this mapping, or of the mappings in this list */
};

/* Reads the text `yaml` into a tree, which lies in the arena; the caller closes the arena, also after an error. `file`:
 * the name of the file, for messages. *root: a mapping with these fields; NULL if the text is empty. HEDDLE_E_FORMAT,
 * with the line and the path of the mistake: the text is not YAML, or does not agree with the fields, or has an alias,
 * a second document or a NUL. HEDDLE_E_MEMORY. */
int hd_yaml_parse(const char *file, const char *yaml, size_t length, const struct hd_yaml_field *fields,
                  struct hd_arena *arena, const struct hd_yaml **root);
/* The value of `key` in a mapping; NULL: the key is absent. */
const struct hd_yaml *hd_yaml_get(const struct hd_yaml *map, const char *key);
/* The text of the value of `key` in a mapping; NULL: the key is absent. */
const char *hd_yaml_text(const struct hd_yaml *map, const char *key);
/* The head of a `for` over the elements of the list that a key has as its value. The key may be absent. */
#define HD_YAML_EACH(child, map, key)                                            \
	const struct hd_yaml *child##_list = hd_yaml_get(map, key),              \
	                     *child = child##_list ? child##_list->first : NULL; \
	child;                                                                   \
	child = child->next
/* Puts the node's place, as in "FILE: line 12, links[3].from", before the thread's error message. Returns `status`. */
int hd_yaml_bad(const struct hd_yaml *node, int status);
/* Reads a value as a finite number; if `value` is NULL, *out keeps its value. */
int hd_yaml_real(const struct hd_yaml *value, double *out);

/* These functions write YAML. From hd_yaml_open to hd_yaml_close, they do nothing once memory has run out. `key`: NULL
 * in a list. `flow`: 1: on one line, as in {a: 1, b: 2}. */
struct hd_yaml_writer;
struct hd_yaml_writer *hd_yaml_open(void); /* begins with the outermost mapping; NULL: out of memory */
void hd_yaml_begin(struct hd_yaml_writer *w, const char *key, enum hd_yaml_kind kind, int flow);
void hd_yaml_end(struct hd_yaml_writer *w, enum hd_yaml_kind kind);
/* `text` may be NULL: then its caller has run out of memory, and hd_yaml_close returns HEDDLE_E_MEMORY. */
void hd_yaml_put(struct hd_yaml_writer *w, const char *key, const char *text);
/* Writes the shortest text that is read as the same number. */
void hd_yaml_put_real(struct hd_yaml_writer *w, const char *key, double value);
/* Ends the outermost mapping. *text ends with a NUL; the caller frees it. `w` may be NULL. `what` names the file for
 * messages. HEDDLE_E_MEMORY, HEDDLE_E_FORMAT. */
int hd_yaml_close(struct hd_yaml_writer *w, const char *what, char **text, size_t *length);

#endif
