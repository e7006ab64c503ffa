/* What the files of src/perf share. No other room includes it. */
#ifndef HD_PERF_INTERNAL_H
#define HD_PERF_INTERNAL_H

#include <stddef.h>
#include "perf/perf.h"

struct hd_perf {
	const struct heddle_platform *platform; /* borrowed */
	char *dir;                              /* owns; the directory of the files; NULL: no file is read or written */
	int from_platform;
	size_t bound; /* the number of entries that a model may have; 0: any number */
	/* 1: `dir` is the default directory, and nobody has tried yet whether it can be written */
	int untried;
	int read_only;                /* 1: `dir` cannot be written: its models are read, but none is written */
	struct hd_perf_model *models; /* owns; the newest first */
	size_t n_models;
	struct hd_perf_model **by_name; /* owns the array, a hash table by name: n_names chains, a power of two */
	size_t n_names;
	char *warnings; /* owns */
};

/* A list of a model's entries that are not in use, the least recently used one first. A model has two: idle[1] for
 * entries with at least HD_PERF_OWN samples on some class, idle[0] for the others. */
struct hd_perf_idle {
	struct hd_perf_entry *first, *last;
	size_t n;
};

struct hd_perf_model {
	struct hd_perf *perf;
	struct hd_perf_model *next, *next_by_name;
	char *name; /* owns */
	uint64_t name_hash;
	enum heddle_model_kind kind;
	double (*flops)(const struct heddle_size *size);
	size_t (*regressors)(const struct heddle_size *size, double *x, size_t max);
	double (*time)(const struct heddle_size *size, unsigned class_id);
	int records; /* 1: hd_perf_record() records samples */
	int dirty;   /* 1: the model has samples that its file does not have */
	char *path;  /* owns; the path of its file; NULL: the model is not stored */
	/* owns; the lines of its file about classes that this platform does not have; NULL: none */
	struct hd_perf_file *foreign;
	struct hd_perf_fit *fits;       /* owns; of a regression: one per class; otherwise NULL */
	struct hd_perf_entry *recent;   /* the entry that was asked for last */
	struct hd_perf_entry **buckets; /* owns; hash chains; n_buckets is a power of two */
	size_t n_buckets, n_entries;
	struct hd_perf_idle idle[2];
	/* the number of regressors of the entry that got its regressors last; fits use only entries with this number */
	size_t n_regressors;
};

/* The head of a loop over all entries e of the model. */
#define HD_PERF_EACH_ENTRY(model, e)                                      \
	for (size_t bucket_ = 0; bucket_ < (model)->n_buckets; bucket_++) \
		for (struct hd_perf_entry *e = (model)->buckets[bucket_]; e; e = (e)->next)

/* --- size_table.c: the table of footprints ------------------------------------------------------------------------ */
struct hd_perf_entry *hd_perf_entry_find(struct hd_perf_model *model, uint64_t footprint);
/* Adds an entry for a footprint that has none; another one leaves if there are too many. NULL: out of memory. */
struct hd_perf_entry *hd_perf_entry_add(struct hd_perf_model *model, uint64_t footprint);
/* Removes an entry from the table. The caller frees it with hd_perf_entry_free. */
void hd_perf_entry_remove(struct hd_perf_entry *entry);
void hd_perf_entry_free(struct hd_perf_entry *entry);
/* Replaces an entry's regressors by a copy of the n numbers x. -1: out of memory, and it has none then. */
int hd_perf_entry_regressors(struct hd_perf_entry *entry, const double *x, size_t n);
void hd_perf_entries_free(struct hd_perf_model *model);

/* --- bound.c: which entries leave --------------------------------------------------------------------------------- */
/* If the entry is not in use, makes it the most recently used one of its list. */
void hd_perf_touch(struct hd_perf_entry *entry);
/* If the model has more than `most` entries, removes one that is not in use from the table and from its list. The fits
 * keep its contribution; the caller frees the entry. NULL: none leaves. */
struct hd_perf_entry *hd_perf_evict(struct hd_perf_model *model, size_t most);

/* --- past.c: what the entries that left have taught --------------------------------------------------------------- */
/* Sizes of about the same bytes that have left, as one point for the laws in bytes. */
struct hd_perf_point {
	double weight, bytes, us; /* bytes and us are weighted geometric means */
};
/* Adds the samples of an entry that leaves to the fits of its model. If memory runs out, the samples are lost. */
void hd_perf_past_add(const struct hd_perf_entry *entry);
void hd_perf_past_free(struct hd_perf_fit *fit);
/* Fills `points` with one point per group of sizes that have left; returns their number, at most HD_PERF_GROUPS. */
size_t hd_perf_past_points(const struct hd_perf_fit *fit, struct hd_perf_point *points);
/* Adds to g the normal equations of the sizes that have left and have n regressors; g is laid out as for
 * hd_perf_add_equation. Returns the number of these sizes. */
size_t hd_perf_past_equations(const struct hd_perf_fit *fit, double *g, size_t n);
enum { HD_PERF_GROUPS = 256 };
struct hd_perf_past_line;
/* Sets *out to a file's line for the fit of a class; it has no numbers if no size has left. -1: out of memory. */
int hd_perf_past_write(const struct hd_perf_model *model, unsigned class_id, struct hd_perf_past_line *out);
/* Whether the numbers of a line are valid for a law of this kind. */
int hd_perf_past_valid(const struct hd_perf_past_line *line, enum heddle_model_kind kind);
/* Adds the numbers of a line, which must be valid, to a fit. -1: out of memory. */
int hd_perf_past_read(struct hd_perf_model *model, unsigned class_id, const struct hd_perf_past_line *line);

/* --- samples.c: samples of one cell ------------------------------------------------------------------------------- */
/* Takes one sample into account, by the rules in perf.h. */
void hd_perf_cell_record(struct hd_perf_cell *cell, double us);
/* Completes a cell of which mean, m2, min, max and samples (above 0) come from a file, so that recording can go on. */
void hd_perf_cell_restore(struct hd_perf_cell *cell);
double hd_perf_cell_stddev(const struct hd_perf_cell *cell);

/* --- fit.c: regressions ------------------------------------------------------------------------------------------- */
/* The weight of a size in a fit: its number of samples, but at most HD_PERF_WEIGHT, because with more samples the error
 * of the law matters, not the error of the mean. */
enum { HD_PERF_WEIGHT = 10 };
static inline double hd_perf_weight(const struct hd_perf_cell *cell)
{
	return cell->samples < HD_PERF_WEIGHT ? cell->samples : HD_PERF_WEIGHT;
}
/* Adds the equation (sum over k of x_k regressors[k]) / us = 1, with a weight, to the normal equations g: n rows of n +
 * 1 numbers. Of row i are used the first i + 1 numbers and the last one, the right-hand side. */
void hd_perf_add_equation(double *g, const double *regressors, size_t n, double us, double weight);
/* To be called after each sample: fits the law again if enough samples have come since the last fit. */
void hd_perf_fit_record(struct hd_perf_entry *entry, unsigned class_id);
/* Fits the law of a model on a class to all entries now, and updates their estimates. */
void hd_perf_refit(struct hd_perf_model *model, unsigned class_id);
/* Updates the estimate of one cell from its own samples and the last fit. */
void hd_perf_estimate(struct hd_perf_entry *entry, unsigned class_id);

/* --- store.c: files ----------------------------------------------------------------------------------------------- */

/* One line of a model file: the samples of one footprint on one class. */
struct hd_perf_line {
	char *class_name;
	uint64_t footprint;
	double bytes, flops;
	uint32_t samples, rejected;
	double mean, stddev, min, max;
	double *regressors;
	size_t n_regressors;
};

/* Another line of a model file: what the sizes that have left contribute to the fit of one class. Its numbers are, for
 * laws in bytes, weight, bytes and us of each group of sizes; for the linear law, the weight and the normal
 * equations. */
struct hd_perf_past_line {
	char *class_name;
	uint64_t sizes; /* the number of sizes that have left */
	double *numbers;
	size_t n_numbers;
};

/* The contents of a model file. If hd_perf_file_load has made it, it owns everything to which it points. */
struct hd_perf_file {
	char *codelet;
	enum heddle_model_kind kind; /* the law that is fitted to the sizes; HEDDLE_MODEL_HISTORY: none */
	struct hd_perf_line *lines;
	size_t n_lines;
	struct hd_perf_past_line *past;
	size_t n_past;
};

/* Reads a model file; the caller frees *out with hd_perf_file_free. HEDDLE_E_IO, HEDDLE_E_MEMORY, HEDDLE_E_FORMAT. */
int hd_perf_file_load(const char *path, struct hd_perf_file **out);
/* Replaces a model file atomically. HEDDLE_E_IO, HEDDLE_E_MEMORY. */
int hd_perf_file_save(const char *path, const struct hd_perf_file *file);
void hd_perf_file_free(struct hd_perf_file *file); /* NULL: does nothing */
void hd_perf_line_free(struct hd_perf_line *line); /* frees what the line points to */
void hd_perf_past_line_free(struct hd_perf_past_line *line);
/* Whether the file begins with the first line of all model files. */
int hd_perf_file_is_ours(const char *path);

/* --- models.c ----------------------------------------------------------------------------------------------------- */
/* Deletes temporary files that killed processes have left in `dir`: those of the file `of`, or all (NULL).
 * HEDDLE_E_IO. */
int hd_perf_sweep(const char *dir, const char *of);

/* --- laws.c: the fits of a file, for people ----------------------------------------------------------------------- */
/* Writes laws as text: (*laws)[i] is the law for the class of line i of the file, such as "3.2 + 0.001 * bytes^1.5";
 * NULL: none. The caller frees them with hd_perf_laws_free (n: number of lines). HEDDLE_E_MEMORY: *laws is not set. */
int hd_perf_laws(const struct hd_perf_file *file, char ***laws);
void hd_perf_laws_free(char **laws, size_t n); /* NULL: does nothing */
/* perf.c: adds a line of a file. HEDDLE_E_FORMAT: the model has its class and footprint already. HEDDLE_E_MEMORY. */
int hd_perf_adopt_line(struct hd_perf_model *model, const struct hd_perf_line *line, unsigned class_id);

/* name.c: encode names for file names and for YAML. The caller frees the result; NULL: out of memory. */
char *hd_perf_name_file(const char *dir, const char *codelet);
char *hd_perf_name_component(const char *name);
char *hd_perf_name_encode(const char *name); /* hd_name_decode in base/text.h reverses it */

#endif
