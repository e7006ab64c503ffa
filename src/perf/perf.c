/* All models of a runtime: opens them, finds the model of a codelet, records samples, saves the models. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "perf/internal.h"

#define SHORTEST 1e-3 /* us; clocks cannot measure shorter times */

static void warn(struct hd_perf *perf, const char *line)
{
	char *longer = hd_format("%s%s\n", perf->warnings ? perf->warnings : "", line);
	if (!longer)
		return; /* out of memory: the warning is lost */
	free(perf->warnings);
	perf->warnings = longer;
}

const char *hd_perf_warnings(const struct hd_perf *perf)
{
	return perf->warnings ? perf->warnings : "";
}

int hd_perf_open(const struct heddle_platform *platform, const char *dir, int from_platform, struct hd_perf **out)
{
	struct hd_perf *perf = calloc(1, sizeof *perf);
	if (!perf)
		return hd_no_memory("performance models");
	perf->platform = platform;
	perf->from_platform = from_platform;
	int stored = !from_platform && !(dir && strcmp(dir, "none") == 0);
	int by_default = !dir || !*dir;
	if (stored)
		perf->dir = by_default ? heddle_models_dir() : strdup(dir);
	if (stored && !perf->dir && !by_default) {
		free(perf);
		return hd_no_memory("performance models");
	}
	if (stored && !perf->dir)
		warn(perf, "performance models are not kept: neither XDG_DATA_HOME nor HOME says where; set a model "
		           "directory");
	perf->untried = perf->dir && by_default;
	*out = perf;
	return 0;
}

static void free_model(struct hd_perf_model *model)
{
	hd_perf_entries_free(model);
	hd_perf_file_free(model->foreign);
	for (size_t c = 0; model->fits && c < model->perf->platform->n_classes; c++) {
		free(model->fits[c].x);
		hd_perf_past_free(&model->fits[c]);
	}
	free(model->fits);
	free(model->path);
	free(model->name);
	free(model);
}

void hd_perf_close(struct hd_perf *perf)
{
	if (!perf)
		return;
	for (struct hd_perf_model *model = perf->models, *next; model; model = next) {
		next = model->next;
		free_model(model);
	}
	free(perf->by_name);
	free(perf->dir);
	free(perf->warnings);
	free(perf);
}

/* Tries whether the default directory can be written. If not, this is no error, because the user has not asked for this
 * directory: a warning says so, and no model is stored. */
static void try_default_dir(struct hd_perf *perf)
{
	perf->untried = 0;
	char *inside = hd_format("%s/", perf->dir);
	int made = inside && hd_parents_make(inside) == 0;
	free(inside);
	if (made && access(perf->dir, W_OK | X_OK) == 0)
		return;
	perf->read_only = 1;
	char *line =
	    hd_format("performance models are not kept in %s: %s; set HEDDLE_MODEL_DIR to a directory that can be "
	              "written, or to none",
	              perf->dir, made ? strerror(errno) : heddle_last_error());
	warn(perf, line ? line : "performance models are not kept");
	free(line);
	if (access(perf->dir, X_OK) == 0)
		return;
	free(perf->dir); /* the directory cannot be read, either: without it there is one warning, not one per model */
	perf->dir = NULL;
}

/* --- From a file -------------------------------------------------------------------------------------------------- */

static int find_class(const struct heddle_platform *platform, const char *name)
{
	for (size_t c = 0; c < platform->n_classes; c++)
		if (strcmp(platform->classes[c].name, name) == 0)
			return (int)c;
	return -1;
}

int hd_perf_adopt_line(struct hd_perf_model *model, const struct hd_perf_line *line, unsigned class_id)
{
	struct hd_perf_entry *e = hd_perf_entry_find(model, line->footprint);
	if (!e)
		e = hd_perf_entry_add(model, line->footprint);
	if (!e || hd_perf_entry_regressors(e, line->regressors, line->n_regressors))
		return hd_no_memory(model->path);
	struct hd_perf_cell *cell = &e->cells[class_id];
	e->bytes = line->bytes;
	e->flops = line->flops;
	cell->samples = line->samples;
	cell->rejected = line->rejected;
	cell->mean = cell->estimate = line->mean;
	cell->m2 = line->stddev * line->stddev * fmin(line->samples, HD_PERF_MEMORY);
	cell->min = line->min;
	cell->max = line->max;
	hd_perf_cell_restore(cell);
	if (model->fits)
		model->fits[class_id].samples += line->samples;
	hd_perf_touch(e);
	return 0;
}

/* Drops what sizes that have left contribute, if it is for another law: the codelet's kind of model has changed. */
static void drop_other_law(const struct hd_perf_model *model, struct hd_perf_file *file)
{
	if (model->fits && (file->kind == HEDDLE_MODEL_LINEAR) == (model->kind == HEDDLE_MODEL_LINEAR))
		return;
	for (size_t i = 0; i < file->n_past; i++)
		hd_perf_past_line_free(&file->past[i]);
	file->n_past = 0;
}

/* Keeps in model->foreign the lines of `file` about classes that the platform does not have; frees the other lines,
 * which the model now has as entries. */
static void keep_foreign(struct hd_perf_model *model, struct hd_perf_file *file)
{
	const struct heddle_platform *platform = model->perf->platform;
	size_t kept = 0, kept_past = 0;
	for (size_t i = 0; i < file->n_lines; i++) {
		if (find_class(platform, file->lines[i].class_name) < 0)
			file->lines[kept++] = file->lines[i];
		else
			hd_perf_line_free(&file->lines[i]);
	}
	file->n_lines = kept;
	for (size_t i = 0; i < file->n_past; i++) {
		if (find_class(platform, file->past[i].class_name) < 0)
			file->past[kept_past++] = file->past[i];
		else
			hd_perf_past_line_free(&file->past[i]);
	}
	file->n_past = kept_past;
	model->foreign = file;
}

/* Adds the lines of `file` about classes of the platform to the model; keep_foreign() keeps the others. */
static int adopt(struct hd_perf_model *model, struct hd_perf_file *file)
{
	int status = 0;
	drop_other_law(model, file);
	for (size_t i = 0; i < file->n_lines && !status; i++) {
		int class_id = find_class(model->perf->platform, file->lines[i].class_name);
		status = class_id < 0 ? 0 : hd_perf_adopt_line(model, &file->lines[i], (unsigned)class_id);
	}
	for (size_t i = 0; i < file->n_past && !status; i++) {
		int class_id = find_class(model->perf->platform, file->past[i].class_name);
		if (class_id >= 0 && hd_perf_past_read(model, (unsigned)class_id, &file->past[i]))
			status = hd_no_memory(model->path);
	}
	if (!status)
		keep_foreign(model, file);
	return status;
}

/* Renames a damaged file: to PATH.damaged or, if this name is taken, PATH.damaged.2 and so on. If it cannot be renamed,
 * the model is not stored, so the file is never overwritten. `why` is the error message, which names the file. */
static void set_aside(struct hd_perf_model *model, const char *why)
{
	char *to = hd_format("%s.damaged", model->path);
	for (unsigned i = 2; to && access(to, F_OK) == 0; i++) {
		free(to);
		to = hd_format("%s.damaged.%u", model->path, i);
	}
	int moved = to && rename(model->path, to) == 0;
	char *line =
	    moved ? hd_format("%s; moved to %s, measuring anew", why, to)
	          : hd_format("%s; it cannot be moved away (%s): measuring anew, and these models will not be kept",
	                      why, strerror(errno));
	warn(model->perf, line ? line : why);
	free(line);
	free(to);
	if (!moved) {
		free(model->path);
		model->path = NULL;
	}
}

static void leave_alone(struct hd_perf_model *model, const char *why)
{
	char *line = hd_format("%s; measuring anew, and these models will not be kept", why);
	warn(model->perf, line ? line : why);
	free(line);
	free(model->path);
	model->path = NULL;
}

static int load(struct hd_perf_model *model)
{
	if (access(model->path, F_OK) && (errno == ENOENT || errno == ENOTDIR))
		return 0; /* there is no file: the codelet was never measured */
	struct hd_perf_file *file = NULL;
	int status = hd_perf_file_load(model->path, &file);
	if (!status && strcmp(file->codelet, model->name) != 0)
		status = hd_error(HEDDLE_E_FORMAT, "%s: has the models of codelet \"%s\"", model->path, file->codelet);
	if (!status)
		status = adopt(model, file);
	if (!status) {
		for (unsigned c = 0; model->fits && c < model->perf->platform->n_classes; c++)
			hd_perf_refit(model, c);
		return 0;
	}
	hd_perf_file_free(file);
	hd_perf_entries_free(model);
	for (size_t c = 0; model->fits && c < model->perf->platform->n_classes; c++) {
		model->fits[c].samples = 0;
		hd_perf_past_free(&model->fits[c]);
	}
	if (status == HEDDLE_E_FORMAT)
		set_aside(model, heddle_last_error());
	else if (status == HEDDLE_E_IO)
		leave_alone(model, heddle_last_error());
	return status == HEDDLE_E_MEMORY ? status : 0;
}

/* --- Models ------------------------------------------------------------------------------------------------------- */

static const char *kind_name(enum heddle_model_kind kind)
{
	static const char *const names[] = {"history", "power", "affine", "linear", "given", "none"};
	return names[kind];
}

static int find_model(const struct hd_perf *perf, const struct heddle_codelet_desc *codelet, struct hd_perf_model **out)
{
	uint64_t hash = hd_hash_string(codelet->name);
	struct hd_perf_model *m = perf->n_names ? perf->by_name[hash & (perf->n_names - 1)] : NULL;
	while (m && (m->name_hash != hash || strcmp(m->name, codelet->name) != 0))
		m = m->next_by_name;
	if (m && m->kind != codelet->model)
		return hd_error(
		    HEDDLE_E_INVALID,
		    "codelet %s: its model is of kind %s, that of another codelet of this name %s; name them apart",
		    codelet->name, kind_name(codelet->model), kind_name(m->kind));
	*out = m;
	return 0;
}

static int make_model(struct hd_perf *perf, const struct heddle_codelet_desc *codelet, struct hd_perf_model **out)
{
	struct hd_perf_model *m = calloc(1, sizeof *m);
	if (!m)
		return hd_no_memory(codelet->name);
	int regression = codelet->model == HEDDLE_MODEL_POWER || codelet->model == HEDDLE_MODEL_AFFINE ||
	                 codelet->model == HEDDLE_MODEL_LINEAR;
	m->perf = perf;
	m->kind = codelet->model;
	m->flops = codelet->flops;
	m->regressors = codelet->regressors;
	m->time = codelet->time;
	m->records = m->kind != HEDDLE_MODEL_NONE && m->kind != HEDDLE_MODEL_GIVEN && !perf->from_platform;
	m->name_hash = hd_hash_string(codelet->name);
	m->name = strdup(codelet->name);
	if (m->records && perf->untried)
		try_default_dir(perf);
	int stored = perf->dir && m->records;
	if (stored)
		m->path = hd_perf_name_file(perf->dir, codelet->name);
	if (regression && m->records)
		m->fits = calloc(perf->platform->n_classes + 1, sizeof *m->fits);
	if (!m->name || (stored && !m->path) || (regression && m->records && !m->fits)) {
		free_model(m);
		return hd_no_memory(codelet->name);
	}
	*out = m;
	return 0;
}

static void enter_name(struct hd_perf *perf, struct hd_perf_model *m)
{
	struct hd_perf_model **chain = &perf->by_name[m->name_hash & (perf->n_names - 1)];
	m->next_by_name = *chain;
	*chain = m;
}

/* Makes room in the table of names for one more model. */
static int enlarge_names(struct hd_perf *perf)
{
	if (perf->n_models < perf->n_names)
		return 0;
	size_t larger = perf->n_names ? 2 * perf->n_names : 16;
	struct hd_perf_model **chains = calloc(larger, sizeof *chains);
	if (!chains)
		return hd_no_memory("performance models");
	free(perf->by_name);
	perf->by_name = chains;
	perf->n_names = larger;
	for (struct hd_perf_model *m = perf->models; m; m = m->next)
		enter_name(perf, m);
	return 0;
}

static void add_model(struct hd_perf *perf, struct hd_perf_model *m)
{
	m->next = perf->models;
	perf->models = m;
	perf->n_models++;
	enter_name(perf, m);
}

int hd_perf_model(struct hd_perf *perf, const struct heddle_codelet_desc *codelet, struct hd_perf_model **out)
{
	struct hd_perf_model *m = NULL;
	if ((unsigned)codelet->model > HEDDLE_MODEL_NONE)
		return hd_error(HEDDLE_E_INVALID, "codelet %s: %d is no kind of model; see enum heddle_model_kind",
		                codelet->name, (int)codelet->model);
	if (codelet->model == HEDDLE_MODEL_LINEAR && !codelet->regressors)
		return hd_error(HEDDLE_E_INVALID, "codelet %s: HEDDLE_MODEL_LINEAR needs a regressors function",
		                codelet->name);
	if (codelet->model == HEDDLE_MODEL_GIVEN && !codelet->time)
		return hd_error(HEDDLE_E_INVALID, "codelet %s: HEDDLE_MODEL_GIVEN needs a time function",
		                codelet->name);
	int status = find_model(perf, codelet, &m);
	if (!status && !m) {
		status = enlarge_names(perf);
		if (!status)
			status = make_model(perf, codelet, &m);
		if (!status && m->path && (status = load(m)) != 0)
			free_model(m);
		if (!status)
			add_model(perf, m);
	}
	if (!status)
		*out = m;
	return status;
}

static __attribute__((noinline)) void record(struct hd_perf_entry *entry, unsigned class_id, double us)
{
	struct hd_perf_model *model = entry->model;
	struct hd_perf_cell *cell = &entry->cells[class_id];
	hd_perf_cell_record(cell, us > SHORTEST ? us : SHORTEST);
	model->dirty = 1;
	if (model->fits)
		hd_perf_fit_record(entry, class_id);
	else
		cell->estimate = cell->mean;
}

void hd_perf_record(struct hd_perf_entry *entry, unsigned class_id, double us)
{
	if (entry->model->records && HD_LIKELY(us < INFINITY))
		record(entry, class_id, us);
}

/* --- To a file ---------------------------------------------------------------------------------------------------- */

static int by_class_and_size(const void *pa, const void *pb)
{
	const struct hd_perf_line *a = pa, *b = pb;
	int order = strcmp(a->class_name, b->class_name);
	if (order)
		return order;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? -1 : 1;
	return (a->footprint > b->footprint) - (a->footprint < b->footprint);
}

/* Fills `lines` with all measurements, also those of classes that the platform lacks; returns their number. */
static size_t write_lines(const struct hd_perf_model *model, struct hd_perf_line *lines)
{
	const struct heddle_platform *platform = model->perf->platform;
	size_t n = 0;
	for (; model->foreign && n < model->foreign->n_lines; n++)
		lines[n] = model->foreign->lines[n];
	HD_PERF_EACH_ENTRY(model, e)
	for (size_t c = 0; c < platform->n_classes; c++) {
		const struct hd_perf_cell *cell = &e->cells[c];
		if (cell->samples)
			lines[n++] = (struct hd_perf_line){.class_name = platform->classes[c].name,
			                                   .footprint = e->footprint,
			                                   .bytes = e->bytes,
			                                   .flops = e->flops,
			                                   .samples = cell->samples,
			                                   .rejected = cell->rejected,
			                                   .mean = cell->mean,
			                                   .stddev = hd_perf_cell_stddev(cell),
			                                   .min = cell->min,
			                                   .max = cell->max,
			                                   .regressors = e->regressors,
			                                   .n_regressors = e->n_regressors};
	}
	qsort(lines, n, sizeof *lines, by_class_and_size);
	return n;
}

static int save_model(const struct hd_perf_model *model, const char *path)
{
	size_t n_classes = model->perf->platform->n_classes;
	size_t n_foreign = model->foreign ? model->foreign->n_lines : 0;
	size_t n_foreign_past = model->foreign ? model->foreign->n_past : 0;
	struct hd_perf_file file = {.codelet = model->name, .kind = model->kind};
	file.lines = calloc(model->n_entries * n_classes + n_foreign + 1, sizeof *file.lines);
	file.past = calloc(n_classes + n_foreign_past, sizeof *file.past);
	int failed = !file.lines || !file.past;
	for (unsigned c = 0; c < n_classes && !failed; c++) {
		failed = hd_perf_past_write(model, c, &file.past[file.n_past]);
		file.n_past += file.past[file.n_past].numbers != NULL;
	}
	size_t own = file.n_past;
	for (size_t i = 0; i < n_foreign_past && !failed; i++)
		file.past[file.n_past++] = model->foreign->past[i];
	if (!failed)
		file.n_lines = write_lines(model, file.lines);
	int status = failed ? hd_no_memory(path) : hd_perf_file_save(path, &file);
	for (size_t i = 0; i < own; i++)
		free(file.past[i].numbers);
	free(file.past);
	free(file.lines);
	return status;
}

int hd_perf_save(struct hd_perf *perf)
{
	int first = 0, saved = 0;
	for (struct hd_perf_model *m = perf->read_only ? NULL : perf->models; m; m = m->next) {
		if (!m->dirty || !m->path)
			continue;
		int status = save_model(m, m->path);
		saved |= !status;
		if (!status)
			m->dirty = 0;
		else if (status == HEDDLE_E_IO)
			hd_error_context(
			    status, "performance models are not kept; set HEDDLE_MODEL_DIR to a directory that can be "
			            "written, or to none");
		if (!first)
			first = status;
	}
	if (saved)
		hd_perf_sweep(perf->dir, NULL); /* an error is ignored, because the models are saved */
	return first;
}

int hd_perf_save_to(const struct hd_perf *perf, const char *dir)
{
	for (const struct hd_perf_model *m = perf->models; m; m = m->next) {
		if (!m->dirty) /* it has no new samples */
			continue;
		char *path = hd_perf_name_file(dir, m->name);
		int status = path ? save_model(m, path) : hd_no_memory(m->name);
		free(path);
		if (status)
			return status;
	}
	return 0;
}
