/* Performance models: how long a task takes on a class of workers, learnt from runs.
 *
 * A model belongs to (codelet, class, footprint); the footprint is a hash of the shapes of the task's data. The models
 * are stored in one YAML file per codelet and machine, in the directory that the setting model_dir names; a file is
 * replaced atomically. A damaged file is renamed to NAME.damaged, heddle_model_warnings reports it once, and its
 * codelet is measured again.
 *
 * The setting model_sizes bounds how many footprints the model of a codelet remembers, in memory and in its file. For
 * each new footprint beyond the bound, the model forgets one that no unfinished task has: the least recently used one
 * among the footprints with few samples, so that recurring sizes stay. A regression keeps the contribution of forgotten
 * footprints to its law, and estimates them by the law; a history measures a forgotten footprint anew when it comes
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

/* The measurements for one (codelet, class, footprint). */
struct heddle_model_entry {
	const char *codelet, *class_name;
	uint64_t footprint;
	double bytes, flops;           /* total size of the data; work, 0 if the codelet has no flops */
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
/* Deletes the model files of one codelet, or of all codelets (NULL), and temporary files of killed processes.
 * *n_removed: the number of deleted files. */
int heddle_models_purge(const char *dir, const char *codelet, size_t *n_removed);
/* The default directory for this machine, a string that the caller frees; NULL when there is none. */
char *heddle_models_dir(void);

/* Writes the models of a running runtime now; heddle_stop does so too. HEDDLE_E_IO. */
int heddle_models_save(heddle_runtime *rt);
/* Writes the models that have new samples since they were last saved into another directory (NULL: the default one),
 * where they replace the files of the same codelets; files of other codelets stay. With the setting model_dir = "none"
 * a runtime starts without models and stores none; this function then replaces old models by models that were measured
 * from scratch. HEDDLE_E_IO. */
int heddle_models_save_to(heddle_runtime *rt, const char *dir);

/* Messages, one per line, about model files that were damaged or unreadable, and about a default directory that cannot
 * be written (models are not stored then, which is no error); "" if there are none. A codelet's file is read when the
 * codelet is created, so call this after creating all codelets. The string is valid until a codelet is created, the
 * models are saved or the runtime is stopped. */
const char *heddle_model_warnings(heddle_runtime *rt);

/* Describes this machine by the measurements of `rt` so far: a platform with the workers and links of `rt`, and the
 * mean times of its models as tables of kernel times. The caller owns *out. `heddle platform calibrate` writes such a
 * platform. */
struct heddle_platform;
int heddle_platform_measured(heddle_runtime *rt, const char *name, struct heddle_platform **out);

#ifdef __cplusplus
}
#endif
#endif
