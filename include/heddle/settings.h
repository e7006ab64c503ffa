/* The table of settings, for tools: what `heddle config` prints and heddle_config_init reads. */
#ifndef HEDDLE_SETTINGS_H
#define HEDDLE_SETTINGS_H

#include <stddef.h>
#include <heddle/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

struct heddle_setting {
	const char *name;     /* the field of struct heddle_config */
	const char *variable; /* the environment variable, HEDDLE_... */
	const char *kind;     /* "int", "bool", "bytes", "double", "text" */
	const char *default_text;
	const char *unit;  /* "" when it has none */
	const char *range; /* what is accepted, in words */
	const char *help;
};

/* All settings, in the order of struct heddle_config; on_hang and its argument, which have no text, are not among
 * them. */
const struct heddle_setting *heddle_settings(size_t *n);

/* The value of one in `config`, as text (truncated to `size`). HEDDLE_E_UNKNOWN. */
int heddle_setting_value(const struct heddle_config *config, const char *name, char *buffer, size_t size);

/* Sets one from text. HEDDLE_E_UNKNOWN, HEDDLE_E_FORMAT (says the range). Text is borrowed. */
int heddle_setting_set(struct heddle_config *config, const char *name, const char *text);

/* The configuration file that heddle_config_init reads: HEDDLE_CONFIG, or heddle/config in the user's XDG configuration
 * directory; "name = value" lines, # comments. Written to `buffer`; "" when there is none. */
void heddle_config_file(char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
