/* Keeps what the sizes that have left a model (bound.c) contribute to its fits, in memory that does not grow with their
 * number:
 *
 *   laws in bytes   Sizes are gathered into groups of about the same bytes, PER_OCTAVE groups per factor of two. A
 *                   group has a weight and the weighted geometric means of bytes and us. `past` has for each group the
 *                   weight, the sum of weight * log(bytes) and the sum of weight * log(us).
 *   linear          Normal equations are added up. `past` has the total weight, then the equations.
 *
 * Once the weight of a group, or of the equations, has reached its limit, new contributions replace old ones of equal
 * weight. So fits follow a change of the times, as the mean of a size does. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "perf/internal.h"

#define PER_OCTAVE 4
#define MOST_OF_GROUP 1024.0      /* the most weight that a group may have */
#define MOST_OF_EQUATIONS 10240.0 /* the most weight that the equations, to which all sizes contribute, may have */

enum { WEIGHT, LOG_BYTES, LOG_US, N_SUMS }; /* the sums of one group */

/* Multiplies n sums, of which sums[0] is the weight, so that the weight is at most `most` when `more` is added. */
static void fade(double *sums, size_t n, double more, double most)
{
	if (sums[0] + more <= most)
		return;
	double factor = (most - more) / sums[0];
	for (size_t i = 0; i < n; i++)
		sums[i] *= factor;
}

/* Makes room for n numbers; if there is room for n already, they stay, otherwise all become 0. -1: out of memory. */
static int make_room(struct hd_perf_fit *fit, size_t n)
{
	if (fit->n_past == n)
		return 0;
	hd_perf_past_free(fit);
	fit->past = calloc(n, sizeof *fit->past);
	if (!fit->past)
		return -1;
	fit->n_past = n;
	return 0;
}

void hd_perf_past_free(struct hd_perf_fit *fit)
{
	free(fit->past);
	fit->past = NULL;
	fit->n_past = 0;
	fit->past_sizes = 0;
}

/* --- Laws in bytes ------------------------------------------------------------------------------------------------ */

static int add_point(struct hd_perf_fit *fit, double bytes, double us, double weight)
{
	if (make_room(fit, (size_t)HD_PERF_GROUPS * N_SUMS))
		return -1;
	double group = fmin(fmax(PER_OCTAVE * log2(bytes), 0), HD_PERF_GROUPS - 1);
	double *sums = fit->past + (size_t)group * N_SUMS;
	weight = fmin(weight, MOST_OF_GROUP); /* in a file, a group may have more weight */
	fade(sums, N_SUMS, weight, MOST_OF_GROUP);
	sums[WEIGHT] += weight;
	sums[LOG_BYTES] += weight * log(bytes);
	sums[LOG_US] += weight * log(us);
	return 0;
}

size_t hd_perf_past_points(const struct hd_perf_fit *fit, struct hd_perf_point *points)
{
	size_t n = 0;
	for (size_t i = 0; i < fit->n_past; i += N_SUMS) {
		const double *sums = fit->past + i;
		if (sums[WEIGHT] > 0)
			points[n++] = (struct hd_perf_point){sums[WEIGHT], exp(sums[LOG_BYTES] / sums[WEIGHT]),
			                                     exp(sums[LOG_US] / sums[WEIGHT])};
	}
	return n;
}

/* --- Linear ------------------------------------------------------------------------------------------------------- */

static size_t numbers_of(size_t n_regressors)
{
	return 1 + n_regressors * (n_regressors + 1);
}

/* Returns 0 if it has added the equation. */
static int add_equation(struct hd_perf_fit *fit, const struct hd_perf_entry *e, double us, double weight)
{
	size_t n = e->n_regressors;
	if (!n || n != e->model->n_regressors)
		return 1; /* fits do not use such an entry, either */
	if (make_room(fit, numbers_of(n)))
		return -1;
	fade(fit->past, fit->n_past, weight, MOST_OF_EQUATIONS);
	fit->past[0] += weight;
	hd_perf_add_equation(fit->past + 1, e->regressors, n, us, weight);
	return 0;
}

size_t hd_perf_past_equations(const struct hd_perf_fit *fit, double *g, size_t n)
{
	if (fit->n_past != numbers_of(n))
		return 0;
	for (size_t i = 0; i < n * (n + 1); i++)
		g[i] += fit->past[1 + i];
	return (size_t)fit->past_sizes;
}

/* ------------------------------------------------------------------------------------------------------------------ */

void hd_perf_past_add(const struct hd_perf_entry *e)
{
	const struct hd_perf_model *model = e->model;
	for (size_t c = 0; model->fits && c < model->perf->platform->n_classes; c++) {
		const struct hd_perf_cell *cell = &e->cells[c];
		struct hd_perf_fit *fit = &model->fits[c];
		int lost = 0;
		if (!cell->samples)
			continue;
		if (model->kind == HEDDLE_MODEL_LINEAR)
			lost = add_equation(fit, e, cell->mean, hd_perf_weight(cell));
		else if (e->bytes > 0)
			lost = add_point(fit, e->bytes, cell->mean, hd_perf_weight(cell));
		fit->past_sizes += !lost;
	}
}

/* --- In files ----------------------------------------------------------------------------------------------------- */

int hd_perf_past_write(const struct hd_perf_model *model, unsigned class_id, struct hd_perf_past_line *out)
{
	const struct hd_perf_fit *fit = hd_perf_fit(model, class_id);
	*out = (struct hd_perf_past_line){.class_name = model->perf->platform->classes[class_id].name};
	if (!fit || !fit->n_past)
		return 0;
	out->sizes = fit->past_sizes;
	out->numbers = calloc(fit->n_past, sizeof *out->numbers);
	if (!out->numbers)
		return -1;
	if (model->kind == HEDDLE_MODEL_LINEAR) {
		memcpy(out->numbers, fit->past, fit->n_past * sizeof *out->numbers);
		out->n_numbers = fit->n_past;
		return 0;
	}
	struct hd_perf_point points[HD_PERF_GROUPS];
	size_t n = hd_perf_past_points(fit, points);
	for (size_t i = 0; i < n; i++) {
		out->numbers[out->n_numbers++] = points[i].weight;
		out->numbers[out->n_numbers++] = points[i].bytes;
		out->numbers[out->n_numbers++] = points[i].us;
	}
	return 0;
}

int hd_perf_past_valid(const struct hd_perf_past_line *line, enum heddle_model_kind kind)
{
	size_t n = line->n_numbers;
	int positive = n > 0;
	for (size_t i = 0; i < n; i++)
		positive = positive && line->numbers[i] > 0;
	if (kind == HEDDLE_MODEL_POWER || kind == HEDDLE_MODEL_AFFINE)
		return positive && n % N_SUMS == 0;
	size_t n_regressors = 0;
	while (numbers_of(n_regressors) < n)
		n_regressors++;
	return kind == HEDDLE_MODEL_LINEAR && n_regressors && numbers_of(n_regressors) == n && line->numbers[0] > 0;
}

int hd_perf_past_read(struct hd_perf_model *model, unsigned class_id, const struct hd_perf_past_line *line)
{
	struct hd_perf_fit *fit = &model->fits[class_id];
	int lost = 0;
	if (model->kind == HEDDLE_MODEL_LINEAR) {
		lost = make_room(fit, line->n_numbers);
		for (size_t i = 0; i < line->n_numbers && !lost; i++)
			fit->past[i] += line->numbers[i];
	} else {
		for (size_t i = 0; i < line->n_numbers && !lost; i += N_SUMS)
			lost = add_point(fit, line->numbers[i + 1], line->numbers[i + 2], line->numbers[i]);
	}
	fit->past_sizes += line->sizes;
	fit->samples += line->sizes;
	return lost;
}
