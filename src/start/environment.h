/* Environment variables named like settings that are not settings: misspelt names, perhaps. */
#ifndef HD_START_ENVIRONMENT_H
#define HD_START_ENVIRONMENT_H

/* Calls f(name, near, arg) for each HEDDLE_* variable that the library does not read; `near` is the most similar name
 * that it reads, or NULL. Stops when f returns a status other than 0, and returns this status. HEDDLE_E_MEMORY. */
typedef int (*hd_unknown_fn)(const char *name, const char *near, void *arg);
int hd_environment_unknown(hd_unknown_fn f, void *arg);

/* HEDDLE_E_UNKNOWN for the first HEDDLE_* variable whose name is probably a misspelt name of a known variable. Other
 * unknown names are not an error, because a program or another library may use them; `heddle config` lists them. */
int hd_environment_check(void);

#endif
