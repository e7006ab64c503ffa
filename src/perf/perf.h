/* Performance models: the interface of src/perf for the rest of the library.
 *
 * Not thread-safe: the core calls these functions under its lock. They do not depend on the engine.
 *
 * --- Which samples count ---
 * Some measured times are outliers: memory was touched for the first time, or a kernel was preempted. And the true time
 * may change: another library, a loaded machine. So for each (codelet, class, footprint):
 *   start   While there are at most HD_PERF_WINDOW samples, all are judged again each time one comes. A sample is left
 *           out if it is further from the median than half the median and than 6 deviations; a deviation is 1.4826
 *           times the median distance from the median (Hampel's identifier). Of an even number of samples the lower
 *           median is taken, because the first task of each worker is often several times too slow, and two such
 *           samples of four must not decide.
 *   steady  After that, a sample is left out if it is more than 5 standard deviations from the mean and also more than
 *           twice, or less than half, the mean. Mean and variance are those of about the last HD_PERF_MEMORY samples
 *           that were not left out: the weight of older ones fades.
 *   change  When HD_PERF_CHANGE of the last HD_PERF_WINDOW samples were left out, the true time must have changed, and
 *           the history starts again from these samples. If they were left out one after the other, the time changed at
 *           once: the window is judged as at the start, but with the true median. If not, old and new times alternate,
 *           and all samples of the window count.
 *
 * --- Estimates ---
 * A history's estimate is the mean; NAN without a sample. A regression's estimate for a size is the mean of the size's
 * own samples if there are HD_PERF_OWN; otherwise the fit over all measured sizes of (codelet, class); without a fit,
 * the mean of the few samples; otherwise NAN. A fit needs one size more than it has parameters, and for the laws in
 * bytes^b the largest size must be at least twice the smallest. It minimises relative errors. It is renewed while
 * samples come in, ever more rarely, so that the cost per sample stays constant. A fit of 0 or less is no estimate.
 *
 * --- How many sizes a model remembers --- hd_perf_bound says how many entries a model may have. An entry that is in
 * use (hd_perf_use) stays: tasks, traces and codelets point to it. When there are too many, entries that are not in use
 * leave, one for each new entry:
 *   - First leave entries with few samples (fewer than HD_PERF_OWN on every class), the least recently used one first,
 *     until such entries are only half of the bound; then entries with more samples, again the least recently used one
 *     first. So a million sizes that are seen once do not drive out recurring sizes.
 *   - The fit keeps the contribution of an entry that leaves (past.c). A history forgets the size: when it comes again,
 *     it is measured anew. Given times, and times of a platform, are asked for again.
 */
#ifndef HD_PERF_PERF_H
#define HD_PERF_PERF_H

#include <math.h>
#include <stdint.h>
#include <heddle/model.h>
#include <heddle/platform.h>
#include <heddle/task.h>

#define HD_PERF_WINDOW 8
#define HD_PERF_CHANGE 6
#define HD_PERF_MEMORY 1024
#define HD_PERF_OWN 4

/* The file, in the directory of the models, with the links that src/start/measure_links.c measured. */
#define HD_LINKS_FILE "links.platform"

struct hd_perf;       /* all models of one runtime */
struct hd_perf_model; /* the models of one codelet */

/* The samples and the estimate of one (codelet, footprint) on one class. */
struct hd_perf_cell {
	double estimate; /* us; NAN: unknown. hd_perf_record updates it */
	/* how many samples count, since the last change (see above); UINT32_MAX: the estimate was not measured but
	 * comes from the platform or the codelet */
	uint32_t samples;
	uint32_t rejected;             /* how many samples were left out since then */
	double mean, m2, min, max;     /* running moments (Welford): m2 = variance * min(samples, HD_PERF_MEMORY) */
	double window[HD_PERF_WINDOW]; /* us; the latest samples, a ring when full */
	uint8_t filled;                /* samples in the window */
	uint8_t next;                  /* place of the next sample */
	uint8_t outliers;              /* one bit per sample of the window, the latest lowest; 1: left out */
};

struct hd_perf_entry {
	struct hd_perf_model *model;
	uint32_t users; /* how often hd_perf_use was called, less hd_perf_leave */
	uint8_t known;  /* if users is 0: in which of the model's two lists the entry is, see struct hd_perf_idle */
	/* 1: bytes, flops and regressors come from the codelet's functions; 0: from the file */
	uint8_t asked;
	struct hd_perf_entry *next;                  /* in the model's hash chain */
	struct hd_perf_entry *idle_next, *idle_prev; /* if users is 0: its neighbours in that list */
	uint64_t footprint;
	double bytes, flops;
	double *regressors; /* owns; HEDDLE_MODEL_LINEAR: the x_k; otherwise NULL */
	size_t n_regressors;
	struct hd_perf_cell cells[]; /* one per class of the platform */
};

/* The law found for (codelet, class): a * bytes^b + c, or sum of x[k] * regressor k. */
struct hd_perf_fit {
	int valid;
	double a, b, c;
	double *x;
	size_t n;
	uint64_t samples, pending, due; /* samples so far; samples since the last fit; how many trigger the next fit */
	/* owns; n_past numbers: the contribution of the sizes that have left, see past.c */
	double *past;
	size_t n_past;       /* 0: no size has left */
	uint64_t past_sizes; /* how many sizes have left */
};

/* Opens the models of a runtime. `dir` NULL or "": the default directory; "none": nothing is read or written.
 * `from_platform` (virtual time): estimates are the platform's kernel times, with UINT32_MAX samples, and nothing is
 * recorded or stored. `platform` is borrowed. */
int hd_perf_open(const struct heddle_platform *platform, const char *dir, int from_platform, struct hd_perf **out);
void hd_perf_close(struct hd_perf *perf); /* may be NULL; does not save */
/* Sets how many sizes each model may remember, besides sizes in use; 0, as after hd_perf_open: any number. To be called
 * before the first model is made. */
void hd_perf_bound(struct hd_perf *perf, size_t most);

/* Writes the models that have changed, and no other files. Writes nothing if the default directory cannot be written (a
 * warning says so). After an error it goes on with the other models and returns the first error. */
int hd_perf_save(struct hd_perf *perf);
/* Writes the models that have new samples since they were last saved into another directory, where they replace the
 * models of the same codelets. */
int hd_perf_save_to(const struct hd_perf *perf, const char *dir);

/* One line per file that was renamed as damaged or could not be read, and one if the default directory cannot be
 * written; "" if there is nothing to say. Valid until the next hd_perf_model or hd_perf_close. */
const char *hd_perf_warnings(const struct hd_perf *perf);

/* The model of a codelet: the first call for a name makes it and reads its file, later calls return the same model. The
 * description is copied; its functions may be called until hd_perf_close. A damaged file is no error (hd_perf_warnings
 * reports it). HEDDLE_E_MEMORY; HEDDLE_E_INVALID: the name has a model of another kind. */
int hd_perf_model(struct hd_perf *perf, const struct heddle_codelet_desc *codelet, struct hd_perf_model **out);

/* The entry of a footprint. A new one is made if there is none, for which the codelet's `flops` and `regressors` are
 * called. NULL when out of memory. Valid until the next call for the same model, and as long as it is in use. */
struct hd_perf_entry *hd_perf_entry(struct hd_perf_model *model, uint64_t footprint, const struct heddle_size *size);

/* bound.c: the parts of hd_perf_use and hd_perf_leave for the first and the last user. */
void hd_perf_first_user(struct hd_perf_entry *entry);
void hd_perf_no_user(struct hd_perf_entry *entry);

/* From a hd_perf_use to the matching hd_perf_leave, the entry stays in the model and at its address. */
static inline void hd_perf_use(struct hd_perf_entry *entry)
{
	if (entry->users++ == 0)
		hd_perf_first_user(entry);
}
/* The entry may be freed by this call. */
static inline void hd_perf_leave(struct hd_perf_entry *entry)
{
	if (--entry->users == 0)
		hd_perf_no_user(entry);
}

/* Checks the lists of entries and their numbers. Returns NULL, or the fault, with the name of the model's codelet in
 * *codelet. *n_users: the number of uses of all entries. */
const char *hd_perf_check(const struct hd_perf *perf, const char **codelet, uint64_t *n_users);

/* Takes one measured execution into account: leaves outliers out, updates the estimate and, for regressions, the fit.
 * Called after every task, so it must be fast for histories. */
void hd_perf_record(struct hd_perf_entry *entry, unsigned class_id, double us);

static inline double hd_perf_time(const struct hd_perf_entry *entry, unsigned class_id)
{
	return entry->cells[class_id].estimate;
}

/* The law of a regression model, as last fitted; NULL for the other kinds. */
const struct hd_perf_fit *hd_perf_fit(const struct hd_perf_model *model, unsigned class_id);

/* Replaces platform->kernels by tables of the measured means (codelet, class: bytes -> us). Classes are matched by
 * name. Footprints of equal bytes are merged, each with its number of samples as weight. If the estimates came from a
 * platform instead of measurements, or on error, `platform` is not changed. HEDDLE_E_MEMORY. */
int hd_perf_to_platform(const struct hd_perf *perf, struct heddle_platform *platform);

#endif
