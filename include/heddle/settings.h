/* The table of settings, for tools: `heddle config` prints it, and heddle_config_init fills struct heddle_config by
 * it. */
#ifndef HEDDLE_SETTINGS_H
#define HEDDLE_SETTINGS_H

#include <stddef.h>
#include <heddle/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

struct heddle_setting {
	const char *name;     /* the field of struct heddle_config, or of its virtual_time */
	const char *variable; /* the environment variable, HEDDLE_... */
	const char *kind;     /* "int", "bool", "bytes", "double", "text", "bool or text" */
	const char *default_text;
	const char *unit;  /* "" if it has no unit */
	const char *range; /* the valid values, in words */
	const char *help;
};

/* All settings, in the order of struct heddle_config, except on_hang, on_wait and their arguments, which cannot
 * be written as text. */
const struct heddle_setting *heddle_settings(size_t *n);

/* Writes the value that the setting `name` has in `config` to `buffer`, as text of at most `size` bytes with its NUL.
 * HEDDLE_E_UNKNOWN: there is no such setting. */
int heddle_setting_value(const struct heddle_config *config, const char *name, char *buffer, size_t size);

/* Sets the setting `name` in `config` to the value in `text`; a setting whose value is a text borrows `text`.
 * HEDDLE_E_UNKNOWN: there is no such setting; HEDDLE_E_FORMAT: the message says which values are valid. */
int heddle_setting_set(struct heddle_config *config, const char *name, const char *text);

/* Writes the path of the configuration file that heddle_config_init reads to `buffer`: the value of HEDDLE_CONFIG, or
 * heddle/config in the user's XDG configuration directory; "" when there is none. The file has lines "name = value" and
 * comments that begin with #. In a program that has more rights than its caller (setuid, setgid, capabilities) Heddle
 * reads no variable at all, no file that a variable names, and no file in the caller's home. */
void heddle_config_file(char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
