/* Variables of the environment that look like settings and are none. */
#ifndef HD_START_ENVIRONMENT_H
#define HD_START_ENVIRONMENT_H

/* Calls f(name, near, arg) for every HEDDLE_* variable that means nothing, until it returns something else than 0,
 * which is returned; `near` is the known one that was perhaps meant, or NULL. HEDDLE_E_MEMORY. */
typedef int (*hd_unknown_fn)(const char *name, const char *near, void *arg);
int hd_environment_unknown(hd_unknown_fn f, void *arg);

/* HEDDLE_E_UNKNOWN for the first of them that is so near to a known one that it must be misspelt. Others may be of a
 * program or of another library: `heddle config` lists them. */
int hd_environment_check(void);

#endif
