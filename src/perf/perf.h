/* Performance models: what the rest of the library uses of src/perf.
 *
 * Not thread-safe: the core calls these functions with its lock held. They do not depend on the engine.
 *
 * --- Which samples count ---
 * Some measured times are outliers: memory was touched for the first time, or the kernel was preempted. And the true
 * time may change: with another library, or on a loaded machine. So for each (codelet, class, footprint):
 *   start   As long as there are at most HD_PERF_WINDOW samples, each new sample makes all be judged again. A sample
 *           does not count if its distance from the median is more than half the median and also more than 6
 *           deviations; a deviation is 1.4826 times the median distance from the median (Hampel's identifier). The
 *           median of an even number of samples is the lower one of the middle two, because the first task of each
 *           worker is often several times too slow, and two such samples of four must not decide.
 *   steady  Later, a sample does not count if it is more than 5 standard deviations from the mean and also more than
 *           twice the mean, or less than half of it. Mean and variance are those of about the last HD_PERF_MEMORY
 *           samples that count: the weight of older ones fades.
 *   change  If HD_PERF_CHANGE of the last HD_PERF_WINDOW samples did not count, the true time has changed, and the
 *           history starts again with these HD_PERF_WINDOW samples. If the ones that did not count followed one
 *           another, the time has changed for good: the window is judged as at the start, but with the true median.
 *           Otherwise old and new times alternate, and all samples of the window count.
 *
 * --- Estimates ---
 * The estimate of a history is the mean; NAN without a sample. The estimate of a regression for a size is the mean of
 * the size's own samples if there are at least HD_PERF_OWN; otherwise the fit over all measured sizes of (codelet,
 * class); if there is no fit, the mean of the few samples; otherwise NAN. A fit needs at least one size more than it
 * has parameters, and for the laws in bytes^b the largest size must be at least twice the smallest. It minimises
 * relative errors. It is made again while samples come in, ever more rarely, so that the cost per sample stays
 * constant. A fit of 0 or less is no estimate.
 *
 * --- How many sizes a model remembers ---
 * hd_perf_bound says how many entries a model may have. An entry that is in use (hd_perf_use) stays: tasks, traces and
 * codelets point to it. If there are too many, entries that are not in use leave, one for each new entry:
 *   - First leave entries with few samples (fewer than HD_PERF_OWN on every class), the least recently used one first,
 *     until such entries are only half of the bound; then entries with more samples, again the least recently used one
 *     first. So a million sizes that come once do not drive out sizes that recur.
 *   - The fit keeps the contribution of an entry that leaves (past.c). A history forgets the size: if it comes again,
 *     it is measured anew. Given times, and times of a platform, are asked for again. */
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

/* In the directory of the models: the file with the links that src/start/measure_links.c has measured. */
#define HD_LINKS_FILE "links.platform"

struct hd_perf;       /* all models of a runtime */
struct hd_perf_model; /* the model of a codelet */

/* The samples and the estimate of one entry, a (codelet, footprint), on one class. */
struct hd_perf_cell {
	double estimate; /* us; NAN: unknown; hd_perf_record updates it */
	/* The number of samples that count, since the last change of the true time. UINT32_MAX: the estimate was not
	 * measured, but comes from the platform or the codelet. */
	uint32_t samples;
	uint32_t rejected;             /* the number of samples since then that do not count */
	double mean, m2, min, max;     /* running moments (Welford); m2: variance * min(samples, HD_PERF_MEMORY) */
	double window[HD_PERF_WINDOW]; /* us; the latest samples; a ring once it is full */
	uint8_t filled;                /* number of samples in the window */
	uint8_t next;                  /* index in the window of the next sample */
	uint8_t outliers;              /* a bit per sample of the window, the lowest: the latest; 1: does not count */
};

struct hd_perf_entry {
	struct hd_perf_model *model;
	uint32_t users; /* number of calls of hd_perf_use less number of calls of hd_perf_leave */
	uint8_t known;  /* if users is 0: the entry is in the list model->idle[known] */
	/* 1: bytes, flops and regressors come from the codelet's functions; 0: they come from the file */
	uint8_t asked;
	struct hd_perf_entry *next;                  /* the next entry in its hash chain */
	struct hd_perf_entry *idle_next, *idle_prev; /* if users is 0: the neighbours in its list */
	uint64_t footprint;
	double bytes, flops;
	double *regressors; /* owns; of HEDDLE_MODEL_LINEAR: the regressors; otherwise NULL */
	size_t n_regressors;
	struct hd_perf_cell cells[]; /* one per class of the platform */
};

/* The law fitted for a codelet on a class: a * bytes^b + c, or the sum over k of x[k] * regressors[k]. */
struct hd_perf_fit {
	int valid;
	double a, b, c;
	double *x;
	size_t n;
	uint64_t samples, pending, due; /* number of samples: so far; since the last fit; that make a fit due */
	/* owns; n_past numbers: what the sizes that have left contribute, laid out as past.c says */
	double *past;
	size_t n_past;       /* 0: no size has left */
	uint64_t past_sizes; /* number of sizes that have left */
};

/* Opens the models of a runtime. `dir` NULL or "": the default directory; "none": nothing is read or written.
 * `from_platform` 1 (virtual time): estimates are the platform's kernel times, with UINT32_MAX samples, and nothing is
 * recorded or stored. `platform` must live until hd_perf_close. */
int hd_perf_open(const struct heddle_platform *platform, const char *dir, int from_platform, struct hd_perf **out);
void hd_perf_close(struct hd_perf *perf); /* NULL: does nothing; saves nothing */
/* Sets how many entries each model may have, if no more are in use; 0, as after hd_perf_open: any number. Must be
 * called before the first hd_perf_model. */
void hd_perf_bound(struct hd_perf *perf, size_t most);

/* Writes the models that have new samples, and no other files. Writes nothing if the default directory cannot be
 * written (a warning says so). After an error it goes on with the other models, and returns the first error. */
int hd_perf_save(struct hd_perf *perf);
/* Writes the models with samples that their files lack to `dir`, where they replace models of the same codelets. */
int hd_perf_save_to(const struct hd_perf *perf, const char *dir);

/* A text with a line for each file that was damaged or could not be read, and one if the default directory cannot be
 * written; "": there is no warning. Valid until the next hd_perf_model or hd_perf_close. */
const char *hd_perf_warnings(const struct hd_perf *perf);

/* The model of a codelet. The first call for a name makes the model and reads its file; later calls return the same
 * model. The description is copied; the functions in it may be called until hd_perf_close. A damaged file is no error
 * (hd_perf_warnings reports it). HEDDLE_E_MEMORY; HEDDLE_E_INVALID: the name has a model of another kind. */
int hd_perf_model(struct hd_perf *perf, const struct heddle_codelet_desc *codelet, struct hd_perf_model **out);

/* The entry of a footprint. If there is none, makes it, and calls the codelet's `flops` and `regressors` for it. NULL:
 * out of memory. Valid until the next call for the same model, and as long as the entry is in use. */
struct hd_perf_entry *hd_perf_entry(struct hd_perf_model *model, uint64_t footprint, const struct heddle_size *size);

/* bound.c: what hd_perf_use does for the first user, and hd_perf_leave for the last. */
void hd_perf_first_user(struct hd_perf_entry *entry);
void hd_perf_no_user(struct hd_perf_entry *entry);

/* From hd_perf_use to the matching hd_perf_leave, the entry stays in the model and at its address. */
static inline void hd_perf_use(struct hd_perf_entry *entry)
{
	if (entry->users++ == 0)
		hd_perf_first_user(entry);
}
/* Ends one use of the entry. The call may free the entry. */
static inline void hd_perf_leave(struct hd_perf_entry *entry)
{
	if (--entry->users == 0)
		hd_perf_no_user(entry);
}

/* Checks the lists of entries and their counts. Returns NULL, or a sentence that names the fault, with the name of the
 * model's codelet in *codelet. *n_users: the number of uses of all entries. */
const char *hd_perf_check(const struct hd_perf *perf, const char **codelet, uint64_t *n_users);

/* Takes a measured execution into account: judges the sample, updates the estimate and, in a regression, the fit.
 * Called after every task, so it must be fast for histories. */
void hd_perf_record(struct hd_perf_entry *entry, unsigned class_id, double us);

static inline double hd_perf_time(const struct hd_perf_entry *entry, unsigned class_id)
{
	return entry->cells[class_id].estimate;
}

/* The law of a regression on a class, as last fitted; NULL for models of other kinds. */
const struct hd_perf_fit *hd_perf_fit(const struct hd_perf_model *model, unsigned class_id);

/* Replaces platform->kernels by tables of measured means, from bytes to us, for each codelet and class. Classes are
 * found by name. Footprints with equal bytes are merged, weighted by their numbers of samples. If the estimates come
 * from a platform, nothing was measured, and `platform` is not changed; nor is it after an error. HEDDLE_E_MEMORY. */
int hd_perf_to_platform(const struct hd_perf *perf, struct heddle_platform *platform);

#endif
