/* Applications: programs that `heddle run`, `sim`, `compare`, `bound` and `graph` find by name and whose tasks they
 * submit: `heddle run stencil:n=4096,steps=10`. The dense routines are applications; a plug-in (heddle/plugin.h) adds
 * others.
 *
 * An application has a structure of options, of its own type, which the command fills by a table of the options' names;
 * and functions that make data, give the data values, submit tasks, and check the result. The command calls these
 * functions in this order:
 *
 *   settle    completes and checks the options (optional)
 *   open      makes the data and codelets
 *   fill      gives the data their values; only where tasks are really run (optional)
 *   submit    submits the tasks; the command waits for them, and measures from here to the end of the last task
 *   check     computes how wrong the result is (optional)
 *   close     frees what `open` has made
 * `fill` and `submit` are called several times by `heddle run --repeat`. In virtual time nothing is computed: data need
 * no buffers (NULL makes temporaries, which count as written in virtual time), and codelets for which the platform has
 * no times need the model HEDDLE_MODEL_GIVEN. */
#ifndef HEDDLE_APPLICATION_H
#define HEDDLE_APPLICATION_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEDDLE_APPLICATION_ABI 1

/* The type of an option's field, and its values. */
enum heddle_parameter_kind {
	/* size_t: a whole number from min to max. The default "0", if below min, means: not given */
	HEDDLE_PARAMETER_SIZE,
	HEDDLE_PARAMETER_REAL, /* double: a number from min to max */
	HEDDLE_PARAMETER_WORD, /* int: the value of one of `words` */
	HEDDLE_PARAMETER_TEXT  /* an array of `max` characters: any text that fits */
};

struct heddle_word {
	const char *word;
	int value;
};

/* An option of an application: `heddle run NAME --option VALUE`, or `heddle run NAME:option=VALUE`. An option with the
 * name "seed" is of the kind size, and also takes the value of the command's --seed. */
struct heddle_parameter {
	const char *name;
	enum heddle_parameter_kind kind;
	size_t offset;                   /* of its field in the structure of options: offsetof(struct mine, n) */
	const char *value;               /* its default, as a user would write it */
	const char *help;                /* half a sentence */
	double min, max;                 /* see the kinds */
	const struct heddle_word *words; /* the last word is NULL; of words with the same value, the first is shown */
	int letter;                      /* of a short option: 'n' for -n; 0: none */
	int shown;                       /* 1: the tables of the command have a column for the option */
};

enum { HEDDLE_PARAMETERS_MAX = 1024 }; /* the most bytes that a structure of options may have */

struct heddle_application {
	unsigned abi;                              /* HEDDLE_APPLICATION_ABI */
	const char *name;                          /* letters, digits, '_' and '-' */
	const char *summary;                       /* half a sentence: what the application computes */
	const struct heddle_parameter *parameters; /* ended by a NULL name; NULL: it has none */
	size_t size;                               /* of the structure of options, which is `p` below */
	const char *residual; /* what `check` computes, as a formula or in words; NULL without it */
	/* a result whose residual is not below this number is wrong; 0: no limit is known */
	double sound;

	/* Similar applications may share the functions that are called with `app`. Functions that return int return 0
	 * or a negative status, after a call of heddle_error with the sentence. Functions on `state` are called by one
	 * thread, on which they may block. A function may be NULL only where its comment says so. */

	/* Sets the options that follow from other options, and checks the options. NULL: there is nothing to do. */
	int (*settle)(const struct heddle_application *app, void *p);
	/* Floating-point operations, for Gflop/s; and bytes of main memory that the application needs. NULL, or NAN:
	 * unknown. */
	double (*flops)(const struct heddle_application *app, const void *p);
	double (*bytes)(const struct heddle_application *app, const void *p);
	/* Writes the name of the i-th codelet that the tasks may call to `name`, of `size` characters; returns 0 if
	 * there are at most i codelets. A platform that lacks times for one of the codelets is refused before any task
	 * is submitted. NULL: heddle_submit refuses the first such task. */
	int (*codelet)(const struct heddle_application *app, const void *p, size_t i, char *name, size_t size);

	/* Makes the data and codelets of a run. `simulated`: 1 if the runtime is in virtual time, so that no buffers
	 * are needed. `p` does not change until `close`. */
	int (*open)(const struct heddle_application *app, heddle_runtime *rt, int simulated, const void *p,
	            void **state);
	/* NULL: `open` gives the values, and a second run goes on with the results of the first */
	int (*fill)(void *state);
	int (*submit)(void *state);
	int (*check)(void *state, double *residual); /* NULL: the result is not checked */
	/* Called after `open`, also after an `open` that has failed and has set *state. Unregisters the data, and so
	 * waits for their tasks.
	 * */
	int (*close)(void *state);
};

/* Makes `application` known under its name, for the whole process; the structure is borrowed for ever.
 * HEDDLE_E_INVALID: the name is taken, a required function is missing, `abi` is not HEDDLE_APPLICATION_ABI, or an
 * option is wrong; the sentence names the fault. May be called by any thread. */
int heddle_application_register(const struct heddle_application *application);
/* All known applications: a NULL-terminated array that the caller frees with free(). NULL: out of memory. */
const struct heddle_application **heddle_applications(void);
/* The application of that name, where '-' and '_' are the same character. NULL: there is none; heddle_last_error lists
 * the names. */
const struct heddle_application *heddle_application_find(const char *name);

/* Clears the structure of options *p and sets each to its default. */
void heddle_application_defaults(const struct heddle_application *application, void *p);
/* Sets the option `name` to the value in `text`. HEDDLE_E_UNKNOWN: there is no option of this name; HEDDLE_E_FORMAT:
 * the sentence says which values are valid. */
int heddle_application_set(const struct heddle_application *application, void *p, const char *name, const char *text);
/* Writes the value of an option to `buffer`, as text of at most `size` bytes with its NUL. */
void heddle_application_value(const struct heddle_parameter *parameter, const void *p, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
