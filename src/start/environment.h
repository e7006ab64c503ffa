/* Variables of the environment that look like settings and are none: perhaps misspelt ones. */
#ifndef HD_START_ENVIRONMENT_H
#define HD_START_ENVIRONMENT_H

/* Calls f(name, near, arg) for every HEDDLE_* variable that the library does not read; `near` is the name that was
 * perhaps meant, or NULL. Stops when f returns a status other than 0, and returns that. HEDDLE_E_MEMORY. */
typedef int (*hd_unknown_fn)(const char *name, const char *near, void *arg);
int hd_environment_unknown(hd_unknown_fn f, void *arg);

/* HEDDLE_E_UNKNOWN for the first HEDDLE_* variable that is a misspelt name of a known one. Variables with other unknown
 * names are no error, since a program or another library may use them; `heddle config` lists them. */
int hd_environment_check(void);

#endif
