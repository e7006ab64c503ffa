/* Finds environment variables that are named like settings and are none: perhaps they are misspelt. */
#ifndef HD_START_ENVIRONMENT_H
#define HD_START_ENVIRONMENT_H

/* Calls f(name, near, arg) for each variable HEDDLE_* that the library does not read. `near`: the most similar name
 * that it reads; NULL: none is similar. Ends at the first status of f other than 0, and returns it. HEDDLE_E_MEMORY. */
typedef int (*hd_unknown_fn)(const char *name, const char *near, void *arg);
int hd_environment_unknown(hd_unknown_fn f, void *arg);

/* HEDDLE_E_UNKNOWN for the first variable HEDDLE_* that is probably a misspelt name of one that the library reads.
 * Other unknown names are no error, because a program or another library may read them; `heddle config` lists them. */
int hd_environment_check(void);

#endif
