/* The analysis, step by step. */
#include "analysis.h"
#include <math.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void heddle_sparse_analysis_free(heddle_sparse_analysis *a)
{
	if (!a)
		return;
	free(a->column_order);
	free(a->row_order);
	free(a->row_start);
	free(a->column);
	free(a->source);
	free(a->fronts);
	free(a->subtrees);
	free(a->memory);
	free(a);
}

/* F = A, or A^H if A has fewer rows than columns. `rows`: A by rows. */
static struct hd_sparse_pattern make_pattern(const struct heddle_sparse_matrix *a, const struct hd_sparse_lists *rows)
{
	struct hd_sparse_pattern f = {.rows = a->rows, .columns = a->columns, .n_elements = hd_sparse_n_elements(a)};
	if (a->rows >= a->columns) {
		f.column_start = a->column_start;
		f.column_rows = a->row;
		f.row_start = rows->start;
		f.row_columns = rows->index;
	} else {
		f.rows = a->columns;
		f.columns = a->rows;
		f.column_start = rows->start;
		f.column_rows = rows->index;
		f.source = rows->source;
		f.row_start = a->column_start;
		f.row_columns = a->row;
	}
	for (size_t i = 0; i < a->rows; i++)
		for (int64_t e = rows->start[i] + 1; e < rows->start[i + 1]; e++)
			f.n_duplicates += rows->index[e] == rows->index[e - 1];
	return f;
}

/* For a machine of cores alone, unless the options say what is wanted. */
static int cut(struct heddle_sparse_analysis *a, const struct heddle_sparse_analysis_options *options)
{
	enum { CORES = 32, TILE = 256 };
	double cores = options->workers > 0 ? options->workers : CORES;
	a->cut_is_given = options->subtree != 0 || options->workers > 0;
	return hd_sparse_subtrees(a, options->subtree, (struct hd_sparse_machine){cores, cores, 1, TILE});
}

static int analyse(const struct hd_sparse_pattern *f, const struct heddle_sparse_analysis_options *options,
                   struct heddle_sparse_analysis *out)
{
	struct hd_sparse_work work = {.f = f, .analysis = out};
	double begin = now();
	int status = hd_sparse_order(f, options, &work.tree);
	out->statistics.seconds_ordering = now() - begin;
	if (!status)
		status = hd_sparse_fronts(&work);
	if (!status)
		status = hd_sparse_rows(&work);
	if (!status)
		status = hd_sparse_structure(&work);
	if (!status) {
		hd_sparse_costs(out);
		status = cut(out, options);
	}
	out->column_order = work.tree.order;
	work.tree.order = NULL;
	hd_sparse_tree_free(&work.tree);
	free(work.front_of);
	return status;
}

static int check_options(const struct heddle_sparse_analysis_options *o)
{
	static const char function[] = "heddle_sparse_analyse";
	if (isnan(o->subtree))
		return heddle_error(HEDDLE_E_INVALID, "%s: subtree is nan, it must be a number", function);
	if (o->workers < 0)
		return heddle_error(HEDDLE_E_INVALID, "%s: workers is %d, it must be at least 0", function, o->workers);
	return 0;
}

int heddle_sparse_analyse(const struct heddle_sparse_matrix *a, const struct heddle_sparse_analysis_options *options,
                          heddle_sparse_analysis **out)
{
	static const struct heddle_sparse_analysis_options defaults;
	double begin = now();
	if (!out)
		return heddle_error(HEDDLE_E_INVALID, "heddle_sparse_analyse needs a place for its result");
	options = options ? options : &defaults;
	int status = hd_sparse_check(a, "heddle_sparse_analyse");
	if (!status)
		status = check_options(options);
	if (status)
		return status;
	struct hd_sparse_lists rows = {NULL, NULL, NULL};
	struct heddle_sparse_analysis *analysis = calloc(1, sizeof *analysis);
	if (!analysis)
		return hd_sparse_no_memory("an analysis");
	status = hd_sparse_by_rows(a, &rows);
	if (!status) {
		struct hd_sparse_pattern f = make_pattern(a, &rows);
		analysis->transposed = a->rows < a->columns;
		analysis->rows = f.rows;
		analysis->columns = f.columns;
		analysis->n_elements = f.n_elements;
		analysis->statistics = (struct heddle_sparse_statistics){.rows = a->rows,
		                                                         .columns = a->columns,
		                                                         .elements = f.n_elements - f.n_duplicates,
		                                                         .transposed = analysis->transposed};
		status = analyse(&f, options, analysis);
	}
	hd_sparse_lists_free(&rows);
	if (status) {
		heddle_sparse_analysis_free(analysis);
		return status;
	}
	analysis->statistics.seconds = now() - begin;
	*out = analysis;
	return 0;
}

struct heddle_sparse_statistics heddle_sparse_analysis_statistics(const heddle_sparse_analysis *analysis)
{
	return analysis ? analysis->statistics : (struct heddle_sparse_statistics){0};
}

const int64_t *heddle_sparse_column_order(const heddle_sparse_analysis *analysis)
{
	return analysis ? analysis->column_order : NULL;
}
