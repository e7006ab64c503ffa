/* Performance models, inside: the door of src/perf.
 *
 * Not thread-safe: the core calls everything here under its lock. Nothing here knows which engine runs.
 *
 * --- Which samples count ---
 * Measured times have outliers: first touch of memory, a kernel that was preempted. And what is measured may change:
 * another library, a loaded machine. Per (codelet, class, footprint):
 *   start   The first HD_PERF_WINDOW samples are weighed together each time one comes: those further than
 *           max(half the median, 6 deviations) from the median are left out, a deviation being 1.4826 times the median
 *           distance from the median (Hampel's identifier). Of an even number the lower median is taken: the first task
 *           of each worker is often several times too slow, and two of four must not win.
 *   steady  Then a sample is left out when it is more than 5 standard deviations from the mean and also more than
 *           twice, or less than half, the mean. Of the others mean and variance are kept, those of the last
 *           HD_PERF_MEMORY or so: what is older fades.
 *   change  When HD_PERF_CHANGE of the last HD_PERF_WINDOW samples were left out it is not the samples that are wrong.
 *           The history starts again from that window. If they came in a row the behaviour changed at once: the window
 *           is weighed as at the start, but with the true median. If not, old and new alternate, and all of it counts.
 *
 * --- Estimates ---
 * History: the mean; NAN without a sample. Regressions: the mean of the size itself once it has HD_PERF_OWN samples,
 * else what the fit over all measured sizes of (codelet, class) gives, else the mean of its few samples, else NAN. A
 * fit needs one size more than it has parameters, and for the laws in bytes^b the largest at least twice the smallest.
 * It minimises relative errors, is renewed while samples come in (ever more rarely: the cost per sample stays
 * constant), and a value of 0 or less is no estimate.
 */
#ifndef HD_PERF_H
#define HD_PERF_H

#include <math.h>
#include <stdint.h>
#include <heddle/model.h>
#include <heddle/platform.h>
#include <heddle/task.h>

#define HD_PERF_WINDOW 8
#define HD_PERF_CHANGE 6
#define HD_PERF_MEMORY 1024
#define HD_PERF_OWN 4

/* In the directory of the models, beside them: what src/start/measure_links.c measured. */
#define HD_LINKS_FILE "links.platform"

struct hd_perf;       /* all models of one runtime */
struct hd_perf_model; /* those of one codelet */

/* What is known about one (codelet, footprint) on one class. */
struct hd_perf_cell {
	double estimate; /* us; NAN: unknown. Kept up to date by hd_perf_record */
	/* since the behaviour last changed; UINT32_MAX: not measured but taken from the platform, or from the
	 * codelet */
	uint32_t samples;
	uint32_t rejected;             /* likewise */
	double mean, m2, min, max;     /* running moments (Welford): m2 = variance * min(samples, HD_PERF_MEMORY) */
	double window[HD_PERF_WINDOW]; /* the latest samples, for telling an outlier from a change; a ring once full */
	uint8_t filled;                /* samples in the window */
	uint8_t next;                  /* where the next one goes */
	uint8_t outliers;              /* one bit per recent sample, the latest lowest: was it left out? */
};

struct hd_perf_entry {
	struct hd_perf_model *model;
	struct hd_perf_entry *next; /* in the model's hash chain */
	uint64_t footprint;
	double bytes, flops;
	double *regressors; /* HEDDLE_MODEL_LINEAR: x_k, else NULL */
	size_t n_regressors;
	int asked;                   /* the codelet's functions were called; until then what the file said holds */
	struct hd_perf_cell cells[]; /* one per class of the platform */
};

/* The law found for (codelet, class): a * bytes^b + c, or sum of x[k] * regressor k. */
struct hd_perf_fit {
	int valid;
	double a, b, c;
	double *x;
	size_t n;
	uint64_t samples, pending, due; /* seen so far; since the last fit; how many make the next one due */
};

/* `dir` NULL or "": the default directory; "none": nothing is read or written. `from_platform`: estimates are the
 * platform's kernel times, taken as certain (samples: UINT32_MAX), and nothing is recorded or stored (virtual time).
 * `platform` is borrowed. */
int hd_perf_open(const struct heddle_platform *platform, const char *dir, int from_platform, struct hd_perf **out);
void hd_perf_close(struct hd_perf *perf); /* may be NULL; does not save */

/* Writes the models that have changed; touches no file when none has, nor when the default directory cannot be written
 * (then a warning says so). Tries them all and returns the first error. */
int hd_perf_save(struct hd_perf *perf);
/* Writes the models that were measured since they were last saved into another directory, in place of those of the same
 * codelets. */
int hd_perf_save_to(const struct hd_perf *perf, const char *dir);

/* One line per file that was set aside or could not be read, and one if the default directory cannot be written; "" if
 * none. Valid until the next hd_perf_model or hd_perf_close. */
const char *hd_perf_warnings(const struct hd_perf *perf);

/* The model of a codelet, made at first use from what is stored; the same one for the same name. The description is
 * copied, its functions are called while `perf` is open. A damaged file is no error (hd_perf_warnings).
 * HEDDLE_E_MEMORY; HEDDLE_E_INVALID when the name already has a model of another kind. */
int hd_perf_model(struct hd_perf *perf, const struct heddle_codelet_desc *codelet, struct hd_perf_model **out);

/* The entry of a footprint, made if new (then codelet->flops and ->regressors are asked). NULL when out of memory. */
struct hd_perf_entry *hd_perf_entry(struct hd_perf_model *model, uint64_t footprint, const struct heddle_size *size);

/* Takes one measured execution into account: rejects outliers, updates the estimate (and, for regressions, the fit that
 * the model's other entries use). Must cost well under 50 ns for histories. */
void hd_perf_record(struct hd_perf_entry *entry, unsigned class_id, double us);

static inline double hd_perf_time(const struct hd_perf_entry *entry, unsigned class_id)
{
	return entry->cells[class_id].estimate;
}

/* The law of a regression model, as last fitted; NULL for the other kinds. */
const struct hd_perf_fit *hd_perf_fit(const struct hd_perf_model *model, unsigned class_id);

/* Copies the measured means into `platform->kernels` as tables (codelet, class: bytes -> us), replacing what is there.
 * Classes are matched by name; footprints of equal bytes are merged, each weighing as many as its samples. Estimates
 * that came from a platform are not measurements: then `platform` is left alone, as it is on error. HEDDLE_E_MEMORY. */
int hd_perf_to_platform(const struct hd_perf *perf, struct heddle_platform *platform);

#endif
