/* Structures and functions that the files of src/perf share. Private to this folder. */
#ifndef HD_PERF_INTERNAL_H
#define HD_PERF_INTERNAL_H

#include <stddef.h>
#include "perf/perf.h"

struct hd_perf {
	const struct heddle_platform *platform; /* borrowed */
	char *dir;                              /* owns; NULL: no file is read or written */
	int from_platform;
	size_t bound; /* how many entries a model may have; 0: any number */
	/* 1: `dir` is the default directory, and whether it can be written is not known yet */
	int untried;
	int read_only;                /* 1: `dir` cannot be written: its models are read, but none is written */
	struct hd_perf_model *models; /* owns; latest first */
	size_t n_models;
	struct hd_perf_model **by_name; /* owns the array: hash table of n_names chains (a power of two) by the name */
	size_t n_names;
	char *warnings; /* owns */
};

/* Entries that are not in use, the least recently used first. A model has two such lists: idle[1] for the entries with
 * HD_PERF_OWN samples on some class, idle[0] for the others. */
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
	int records; /* 1: hd_perf_record records samples */
	int dirty;   /* 1: the model has samples that its file lacks */
	char *path;  /* owns; path of its file; NULL: the model is not stored */
	/* owns; the lines of its file about classes that this platform lacks; or NULL */
	struct hd_perf_file *foreign;
	struct hd_perf_fit *fits;       /* owns; per class, for regressions; otherwise NULL */
	struct hd_perf_entry *recent;   /* the entry that was last asked for */
	struct hd_perf_entry **buckets; /* owns; n_buckets chains, a power of two */
	size_t n_buckets, n_entries;
	struct hd_perf_idle idle[2];
	/* number of regressors of the entry that last got regressors; fits use entries with as many */
	size_t n_regressors;
};

/* for (each entry e of the model) */
#define HD_PERF_EACH_ENTRY(model, e)                                      \
	for (size_t bucket_ = 0; bucket_ < (model)->n_buckets; bucket_++) \
		for (struct hd_perf_entry *e = (model)->buckets[bucket_]; e; e = (e)->next)

/* --- size_table.c: the table of footprints ------------------------------------------------------------------------ */
struct hd_perf_entry *hd_perf_entry_find(struct hd_perf_model *model, uint64_t footprint);
/* Adds an entry for a footprint that has none; another entry leaves if there are too many. NULL when out of memory. */
struct hd_perf_entry *hd_perf_entry_add(struct hd_perf_model *model, uint64_t footprint);
/* Takes an entry out of the table. The caller frees it with hd_perf_entry_free. */
void hd_perf_entry_remove(struct hd_perf_entry *entry);
void hd_perf_entry_free(struct hd_perf_entry *entry);
/* Replaces the regressors of an entry by a copy of n regressors. 0, or -1 when out of memory (then the entry has
 * none). */
int hd_perf_entry_regressors(struct hd_perf_entry *entry, const double *x, size_t n);
void hd_perf_entries_free(struct hd_perf_model *model);

/* --- bound.c: which entries leave --------------------------------------------------------------------------------- */
/* Makes the entry the most recently used one, if it is not in use. */
void hd_perf_touch(struct hd_perf_entry *entry);
/* If the model has more than `most` entries, takes one that is not in use out of the table and the lists; the fit keeps
 * its contribution. The caller frees the entry. NULL: none leaves. */
struct hd_perf_entry *hd_perf_evict(struct hd_perf_model *model, size_t most);

/* --- past.c: what the entries that left have taught --------------------------------------------------------------- */
/* A group of sizes of about the same bytes, for the laws in bytes. */
struct hd_perf_point {
	double weight, bytes, us; /* bytes and us: geometric means */
};
/* Adds the samples of an entry that leaves to the fits of its model. When out of memory, the samples are lost. */
void hd_perf_past_add(const struct hd_perf_entry *entry);
void hd_perf_past_free(struct hd_perf_fit *fit);
/* Fills `points` with the non-empty groups of sizes that have left; returns how many, at most HD_PERF_GROUPS. */
size_t hd_perf_past_points(const struct hd_perf_fit *fit, struct hd_perf_point *points);
/* Adds the normal equations of the sizes that have left and have n regressors to g, which has the layout of
 * normal_equations in fit.c. Returns the number of these sizes. */
size_t hd_perf_past_equations(const struct hd_perf_fit *fit, double *g, size_t n);
enum { HD_PERF_GROUPS = 256 };
struct hd_perf_past_line;
/* The numbers of a fit for its file: a new array, empty if no size has left. 0, or -1 when out of memory. */
int hd_perf_past_write(const struct hd_perf_model *model, unsigned class_id, struct hd_perf_past_line *out);
/* Whether the numbers of a line are valid for a law of that kind. */
int hd_perf_past_valid(const struct hd_perf_past_line *line, enum heddle_model_kind kind);
/* Adds the numbers of a file, which are valid, to a fit. 0, or -1 when out of memory. */
int hd_perf_past_read(struct hd_perf_model *model, unsigned class_id, const struct hd_perf_past_line *line);

/* --- samples.c: samples of one cell ------------------------------------------------------------------------------- */
/* Takes one sample into account, by the rules in perf.h. */
void hd_perf_cell_record(struct hd_perf_cell *cell, double us);
/* Completes a cell whose mean, m2, min, max and samples (at least one) were read from a file, so that recording can go
 * on. */
void hd_perf_cell_restore(struct hd_perf_cell *cell);
double hd_perf_cell_stddev(const struct hd_perf_cell *cell);

/* --- fit.c: regressions ------------------------------------------------------------------------------------------- */
/* The weight of a size in a fit: its number of samples, at most HD_PERF_WEIGHT, since with more samples an error comes
 * from the law, not from the mean. */
enum { HD_PERF_WEIGHT = 10 };
static inline double hd_perf_weight(const struct hd_perf_cell *cell)
{
	return cell->samples < HD_PERF_WEIGHT ? cell->samples : HD_PERF_WEIGHT;
}
/* Adds the equation sum x_k regressors[k] / us = 1 to normal equations: n rows of n + 1 numbers, of which the first
 * i + 1 of row i and the last, the right-hand side, are used. */
void hd_perf_add_equation(double *g, const double *regressors, size_t n, double us, double weight);
/* To be called after each sample: computes the fit again when enough samples have come. */
void hd_perf_fit_record(struct hd_perf_entry *entry, unsigned class_id);
/* Fits the law of (model, class) to the model's entries now, and updates the estimates of all of them. */
void hd_perf_refit(struct hd_perf_model *model, unsigned class_id);
/* Updates the estimate of one cell from its own samples and the last fit. */
void hd_perf_estimate(struct hd_perf_entry *entry, unsigned class_id);

/* --- store.c: files ----------------------------------------------------------------------------------------------- */

/* One (class, footprint) as stored. */
struct hd_perf_line {
	char *class_name;
	uint64_t footprint;
	double bytes, flops;
	uint32_t samples, rejected;
	double mean, stddev, min, max;
	double *regressors;
	size_t n_regressors;
};

/* The contribution of the sizes that have left to the fit of one class, as stored: for the laws in bytes three numbers
 * per group of sizes (weight, bytes, us), for the linear law the weight and the normal equations. */
struct hd_perf_past_line {
	char *class_name;
	uint64_t sizes; /* how many sizes have left */
	double *numbers;
	size_t n_numbers;
};

/* The contents of one file. A structure that hd_perf_file_load makes owns everything to which it points. */
struct hd_perf_file {
	char *codelet;
	enum heddle_model_kind kind; /* which law is fitted to the sizes; HEDDLE_MODEL_HISTORY: none */
	struct hd_perf_line *lines;
	size_t n_lines;
	struct hd_perf_past_line *past;
	size_t n_past;
};

/* Reads a model file; the caller frees *out with hd_perf_file_free. HEDDLE_E_IO, HEDDLE_E_MEMORY, HEDDLE_E_FORMAT. */
int hd_perf_file_load(const char *path, struct hd_perf_file **out);
/* Replaces a model file atomically. */
int hd_perf_file_save(const char *path, const struct hd_perf_file *file);
void hd_perf_file_free(struct hd_perf_file *file); /* may be NULL */
void hd_perf_line_free(struct hd_perf_line *line); /* frees the memory to which the line points */
void hd_perf_past_line_free(struct hd_perf_past_line *line);
/* Whether the file starts with the line that all model files start with. */
int hd_perf_file_is_ours(const char *path);

/* --- models.c ----------------------------------------------------------------------------------------------------- */
/* Deletes temporaries that killed processes have left in `dir`: those of the file `of`, a path, or of all files (NULL).
 * HEDDLE_E_IO. */
int hd_perf_sweep(const char *dir, const char *of);

/* --- laws.c: the fits of a file, for people ----------------------------------------------------------------------- */
/* Writes laws as text: (*laws)[i] is the law for the class of line i, such as "3.2 + 0.001 * bytes^1.5", or NULL if the
 * class has none. The caller frees them with hd_perf_laws_free. HEDDLE_E_MEMORY: *laws is not set. */
int hd_perf_laws(const struct hd_perf_file *file, char ***laws);
void hd_perf_laws_free(char **laws, size_t n); /* `laws` may be NULL */
/* perf.c: adds one line of a file to the model. HEDDLE_E_FORMAT: the model has its (class, footprint) already;
 * HEDDLE_E_MEMORY. */
int hd_perf_adopt_line(struct hd_perf_model *model, const struct hd_perf_line *line, unsigned class_id);

/* name.c: names as file names and as YAML text. The caller frees the results, which are NULL when out of memory. */
char *hd_perf_name_file(const char *dir, const char *codelet);
char *hd_perf_name_component(const char *name);
char *hd_perf_name_encode(const char *name); /* hd_name_decode is in base/text.h */

#endif
