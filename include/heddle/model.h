/* Performance models: how long a task takes on a class of workers, learnt from runs.
 *
 * A model belongs to (codelet, class, footprint); the footprint is a hash of the shapes of the task's data. The models
 * are stored in one YAML file per codelet and machine, in the directory that the setting model_dir names; a file is
 * replaced atomically. A file that is damaged is renamed to NAME.damaged, heddle_model_warnings says so once, and its
 * codelet is measured again.
 *
 * The setting model_sizes bounds how many footprints the model of a codelet remembers, in memory and in its file. Of
 * those that no unfinished task has, one is forgotten for each that comes beyond the bound: the one used longest ago
 * among those that were measured a few times only, so that sizes that come again and again stay. A regression keeps
 * what it learnt from those that it forgot, and estimates them by its law; a history measures them anew when they come
 * again.
 */
#ifndef HEDDLE_MODEL_H
#define HEDDLE_MODEL_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What was measured for one (codelet, class, footprint). */
struct heddle_model_entry {
	const char *codelet, *class_name;
	uint64_t footprint;
	double bytes, flops;           /* total size of the data; work, 0 if the codelet does not say */
	uint64_t samples, rejected;    /* how many samples count, and how many were left out as outliers */
	double mean, stddev, min, max; /* us, of the samples that count */
	/* the regression over all sizes, which gives us: "0.001 * bytes^1.5 + 3"; NULL: the model has none */
	const char *law;
};

/* Reads the model files of a directory; needs no runtime. `dir` NULL: the default directory, for this machine. The
 * entries are sorted by codelet, class, bytes; their strings live as long as the array, which the caller frees with
 * heddle_models_free. HEDDLE_E_IO, HEDDLE_E_FORMAT: the message names the first file that cannot be read; *entries has
 * the contents of the other files all the same. */
int heddle_models_load(const char *dir, struct heddle_model_entry **entries, size_t *n);
void heddle_models_free(struct heddle_model_entry *entries, size_t n);
/* Deletes the model files of one codelet, or of all codelets (NULL), and temporary files that processes which were
 * killed have left. *n_removed: how many files. */
int heddle_models_purge(const char *dir, const char *codelet, size_t *n_removed);
/* The default directory for this machine, a string that the caller frees; NULL when there is none. */
char *heddle_models_dir(void);

/* Writes the models of a running runtime now; heddle_stop does so too. HEDDLE_E_IO. */
int heddle_models_save(heddle_runtime *rt);
/* Writes the models that have new samples since they were last saved into another directory (NULL: the default one),
 * where they replace the files of the same codelets; files of other codelets stay. With the setting model_dir = "none"
 * a runtime starts without models and stores none; afterwards this function replaces old models by ones that were
 * measured from scratch. HEDDLE_E_IO. */
int heddle_models_save_to(heddle_runtime *rt, const char *dir);

/* Messages, one per line, about model files that were damaged or unreadable, and about a default directory that cannot
 * be written (models are not stored then, which is no error); "" if there are none. A codelet's file is read when the
 * codelet is created, so call this after creating all codelets. The string is valid until a codelet is created, the
 * models are saved or the runtime is stopped. */
const char *heddle_model_warnings(heddle_runtime *rt);

/* Describes this machine by what `rt` has measured so far: a platform with its workers, its links, and the mean times
 * of the models as tables of kernel times. The caller owns *out. `heddle platform calibrate` writes such a platform. */
struct heddle_platform;
int heddle_platform_measured(heddle_runtime *rt, const char *name, struct heddle_platform **out);

#ifdef __cplusplus
}
#endif
#endif
