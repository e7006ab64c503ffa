/* Performance models: how long a task takes on a class of workers, learnt from runs.
 *
 * A model belongs to (codelet, class, footprint); the footprint hashes the shapes of the task's data. Models are kept
 * in one YAML file per codelet and machine under the model directory (`heddle config`), written atomically with a
 * format version. A damaged file is set aside as NAME.damaged, reported once through heddle_model_warnings, and
 * measured again.
 */
#ifndef HEDDLE_MODEL_H
#define HEDDLE_MODEL_H

#include <stddef.h>
#include <stdint.h>
#include <heddle/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One line of the history: what was measured for one (codelet, class, footprint). */
struct heddle_model_entry {
	const char *codelet, *class_name;
	uint64_t footprint;
	double bytes, flops;           /* total data size; work, 0 when the codelet does not say */
	uint64_t samples, rejected;    /* kept, and left out as outliers */
	double mean, stddev, min, max; /* us, over the kept ones */
	const char *law; /* us of any size on this class, of models that fit one: "0.001 * bytes^1.5 + 3"; NULL: none */
};

/* Model files, without a runtime. `dir` NULL: the default directory, for this machine. Entries are sorted by codelet,
 * class, bytes; strings live as long as the array. Free with heddle_models_free. HEDDLE_E_IO,
 * HEDDLE_E_FORMAT: the sentence names the first file that cannot be read; what the others say is there all the same. */
int heddle_models_load(const char *dir, struct heddle_model_entry **entries, size_t *n);
void heddle_models_free(struct heddle_model_entry *entries, size_t n);
/* Deletes the models of one codelet, or of all (NULL): *n_removed files; and what killed processes left of them half
 * written. */
int heddle_models_purge(const char *dir, const char *codelet, size_t *n_removed);
/* The directory used by default, of this machine (a string the caller frees), or NULL. */
char *heddle_models_dir(void);

/* Writes the models of a running runtime now (heddle_stop does it anyway). HEDDLE_E_IO. */
int heddle_models_save(heddle_runtime *rt);
/* Writes what was measured since then into another directory (NULL: the default one), in place of the models that it
 * has of the same codelets; what it has of others stays. A runtime whose model_dir is "none" begins without models and
 * keeps none, so that this replaces old models at once, by new ones that are complete. HEDDLE_E_IO. */
int heddle_models_save_to(heddle_runtime *rt, const char *dir);

/* Messages about model files that were damaged or unreadable, and about a default directory that cannot be written
 * (then models are not kept, which is no error), one per line; "" if none. Complete once the codelets are made. Valid
 * until a codelet is made or the models are saved, and no longer than the runtime. */
const char *heddle_model_warnings(heddle_runtime *rt);

/* A platform that describes this machine with what `rt` has measured so far: its workers, its links, and the mean times
 * of the models as kernel tables. The caller owns *out. This is what `heddle platform calibrate` writes. */
struct heddle_platform;
int heddle_platform_measured(heddle_runtime *rt, const char *name, struct heddle_platform **out);

#ifdef __cplusplus
}
#endif
#endif
