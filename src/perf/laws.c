/* The laws of stored models: a file has only samples, so the laws are fitted again, and then written as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "perf/internal.h"

/* A function for the field `regressors` of a codelet. Nobody calls it, because the regressors come from the file. */
static size_t ask_nobody(const struct heddle_size *size, double *x, size_t max)
{
	(void)size;
	(void)x;
	(void)max;
	return 0;
}

static unsigned class_of(const struct heddle_platform *classes, const char *name)
{
	unsigned c = 0;
	while (c < classes->n_classes && strcmp(classes->classes[c].name, name) != 0)
		c++;
	return c;
}

/* Makes a platform that has only the classes that the file names; it does not own the names. */
static int make_classes(const struct hd_perf_file *file, struct heddle_platform *out)
{
	*out = (struct heddle_platform){.classes = calloc(file->n_lines + file->n_past + 1, sizeof *out->classes)};
	if (!out->classes)
		return hd_no_memory("laws");
	for (size_t i = 0; i < file->n_lines; i++)
		if (class_of(out, file->lines[i].class_name) == out->n_classes)
			out->classes[out->n_classes++].name = file->lines[i].class_name;
	for (size_t i = 0; i < file->n_past; i++)
		if (class_of(out, file->past[i].class_name) == out->n_classes)
			out->classes[out->n_classes++].name = file->past[i].class_name;
	return 0;
}

static char *write_linear(const struct hd_perf_fit *fit)
{
	char *text = strdup("");
	for (size_t i = 0; text && i < fit->n; i++) {
		char *longer = hd_format("%s%s%.6g * x%zu", text, i ? " + " : "", fit->x[i], i);
		free(text);
		text = longer;
	}
	return text;
}

static char *write_law(const struct hd_perf_fit *fit, enum heddle_model_kind kind)
{
	if (kind == HEDDLE_MODEL_LINEAR)
		return write_linear(fit);
	if (kind == HEDDLE_MODEL_POWER)
		return hd_format("%.6g * bytes^%.6g", fit->a, fit->b);
	return hd_format("%.6g * bytes^%.6g + %.6g", fit->a, fit->b, fit->c);
}

static int adopt_all(const struct hd_perf_file *file, const struct heddle_platform *classes,
                     struct hd_perf_model *model)
{
	int status = 0;
	for (size_t i = 0; !status && i < file->n_lines; i++)
		status = hd_perf_adopt_line(model, &file->lines[i], class_of(classes, file->lines[i].class_name));
	for (size_t i = 0; !status && i < file->n_past; i++)
		if (hd_perf_past_read(model, class_of(classes, file->past[i].class_name), &file->past[i]))
			status = hd_no_memory("laws");
	for (unsigned c = 0; !status && c < classes->n_classes; c++)
		hd_perf_refit(model, c);
	return status;
}

static int write_all(const struct hd_perf_file *file, const struct heddle_platform *classes,
                     const struct hd_perf_model *model, char **laws)
{
	for (size_t i = 0; i < file->n_lines; i++) {
		const struct hd_perf_fit *fit = hd_perf_fit(model, class_of(classes, file->lines[i].class_name));
		if (fit->valid && !(laws[i] = write_law(fit, file->kind)))
			return hd_no_memory("laws");
	}
	return 0;
}

static int find_laws(const struct hd_perf_file *file, const struct heddle_platform *classes, char **laws)
{
	struct hd_perf *perf;
	struct hd_perf_model *model = NULL;
	const struct heddle_codelet_desc desc = {.name = file->codelet, .model = file->kind, .regressors = ask_nobody};
	int status = hd_perf_open(classes, "none", 0, &perf);
	if (status)
		return status;
	status = hd_perf_model(perf, &desc, &model);
	if (!status)
		status = adopt_all(file, classes, model);
	if (!status)
		status = write_all(file, classes, model, laws);
	hd_perf_close(perf);
	return status;
}

void hd_perf_laws_free(char **laws, size_t n)
{
	for (size_t i = 0; laws && i < n; i++)
		free(laws[i]);
	free(laws);
}

int hd_perf_laws(const struct hd_perf_file *file, char ***out)
{
	char **laws = calloc(file->n_lines + 1, sizeof(char *));
	if (!laws)
		return hd_no_memory("laws");
	struct heddle_platform classes = {.classes = NULL};
	int status = 0;
	if (file->kind != HEDDLE_MODEL_HISTORY) {
		status = make_classes(file, &classes);
		if (!status)
			status = find_laws(file, &classes, laws);
		free(classes.classes);
	}
	if (status == HEDDLE_E_MEMORY) {
		hd_perf_laws_free(laws, file->n_lines);
		return status;
	}
	*out = laws;
	return 0;
}
