/* What the files of src/perf share. Private to this folder. */
#ifndef HD_PERF_INTERNAL_H
#define HD_PERF_INTERNAL_H

#include <stddef.h>
#include "perf/perf.h"

struct hd_perf {
	const struct heddle_platform *platform; /* borrowed */
	char *dir;                              /* owns; NULL: nothing is read or written */
	int from_platform;
	int untried;                  /* the directory is the default one, and not yet known to be writable */
	int read_only;                /* it is not: what it has is read, nothing is written */
	struct hd_perf_model *models; /* owns; latest first */
	size_t n_models;
	struct hd_perf_model **by_name; /* owns the array: n_names chains by the hash of the name, a power of two */
	size_t n_names;
	char *warnings; /* owns */
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
	int records;                    /* hd_perf_record has something to do */
	int dirty;                      /* differs from its file */
	char *path;                     /* owns; of its file; NULL: none */
	struct hd_perf_file *foreign;   /* owns; what the file says about classes that this platform lacks; or NULL */
	struct hd_perf_fit *fits;       /* owns; per class, for regressions; otherwise NULL */
	struct hd_perf_entry *recent;   /* the one asked for last */
	struct hd_perf_entry **buckets; /* owns; n_buckets chains, a power of two */
	size_t n_buckets, n_entries;
	size_t n_regressors; /* of the entry that was given some last */
};

/* for (each entry e of the model) */
#define HD_PERF_EACH_ENTRY(model, e)                                      \
	for (size_t bucket_ = 0; bucket_ < (model)->n_buckets; bucket_++) \
		for (struct hd_perf_entry *e = (model)->buckets[bucket_]; e; e = (e)->next)

/* --- size_table.c: the table of footprints ------------------------------------------------------------------------ */
struct hd_perf_entry *hd_perf_entry_find(struct hd_perf_model *model, uint64_t footprint);
/* Makes an entry that is not there yet. NULL when out of memory. */
struct hd_perf_entry *hd_perf_entry_add(struct hd_perf_model *model, uint64_t footprint);
/* Replaces its regressors by a copy. 0, or -1 when out of memory (then it has none). */
int hd_perf_entry_regressors(struct hd_perf_entry *entry, const double *x, size_t n);
void hd_perf_entries_free(struct hd_perf_model *model);

/* --- samples.c: samples of one cell ------------------------------------------------------------------------------- */
void hd_perf_cell_record(struct hd_perf_cell *cell, double us);
/* Continues from stored moments, of which at least one sample. */
void hd_perf_cell_restore(struct hd_perf_cell *cell);
double hd_perf_cell_stddev(const struct hd_perf_cell *cell);

/* --- fit.c: regressions ------------------------------------------------------------------------------------------- */
/* One more sample: fits anew when due. */
void hd_perf_fit_record(struct hd_perf_entry *entry, unsigned class_id);
/* Fits (model, class) from its entries now, and gives all of them their estimates. */
void hd_perf_refit(struct hd_perf_model *model, unsigned class_id);
/* Gives one cell its estimate, from its own samples and the fit there is. */
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

/* One file. Loaded ones own everything in them. */
struct hd_perf_file {
	char *codelet;
	enum heddle_model_kind kind; /* of the fit over its sizes; HEDDLE_MODEL_HISTORY when there is none */
	struct hd_perf_line *lines;
	size_t n_lines;
};

/* HEDDLE_E_IO, HEDDLE_E_MEMORY; HEDDLE_E_FORMAT says what is wrong with it. */
int hd_perf_file_load(const char *path, struct hd_perf_file **out);
/* Atomic. The caller's contents are only read. */
int hd_perf_file_save(const char *path, const struct hd_perf_file *file);
void hd_perf_file_free(struct hd_perf_file *file); /* may be NULL */
void hd_perf_line_free(struct hd_perf_line *line); /* what it points to */
/* Starts with the line that all files written here start with. */
int hd_perf_file_is_ours(const char *path);

/* --- models.c ----------------------------------------------------------------------------------------------------- */
/* Deletes what killed processes left half written: of the file `of`, a path, or of all (NULL). HEDDLE_E_IO. */
int hd_perf_sweep(const char *dir, const char *of);

/* --- laws.c: the fits of a file, for people ----------------------------------------------------------------------- */
/* Per line of the file the law found for its class, "3.2 + 0.001 * bytes^1.5", in (*laws)[i], NULL where there is none.
 * Free each, then the array. HEDDLE_E_MEMORY: there is none. */
int hd_perf_laws(const struct hd_perf_file *file, char ***laws);
void hd_perf_laws_free(char **laws, size_t n); /* laws may be NULL */
/* perf.c: takes one line of a file into the model. HEDDLE_E_FORMAT: it is there already; HEDDLE_E_MEMORY. */
int hd_perf_adopt_line(struct hd_perf_model *model, const struct hd_perf_line *line, unsigned class_id);

/* --- name.c: names as file names and as YAML text; results are the caller's, NULL when out of memory -------------- */
char *hd_perf_name_file(const char *dir, const char *codelet);
char *hd_perf_name_component(const char *name);
char *hd_perf_name_encode(const char *name);
void hd_perf_name_decode(char *text); /* in place */

#endif
