/* Infos and messages of tasks that may fail. */
#include <dense/codelets/verdicts.h>
#include <stdio.h>

/* Makes the verdict about row first + bad of the matrix, with the message `format`; `bad` is 0: all is well. */
static struct hd_dense_verdict judge_row(size_t *info, size_t first, int bad, const char *format)
{
	struct hd_dense_verdict verdict = {.code = bad};
	if (bad == 0)
		return verdict;
	hd_dense_set_info(info, first + (size_t)bad);
	snprintf(verdict.sentence, sizeof verdict.sentence, format, first + (size_t)bad);
	return verdict;
}

struct hd_dense_verdict hd_dense_judge_potrf(const struct hd_dense_diagonal_values *v, int minor)
{
	return judge_row(v->info, v->row, minor,
	                 "matrix is not positive definite: the leading minor of order %zu is not positive");
}

struct hd_dense_verdict hd_dense_judge_trtri(const struct hd_dense_diagonal_values *v, int zero)
{
	return judge_row(v->info, v->row, zero,
	                 "matrix is singular: the element in row %zu of the diagonal (counted from 1) is zero");
}

struct hd_dense_verdict hd_dense_judge_rank(const struct hd_dense_rank_values *v, int zero)
{
	return judge_row(v->info, v->row, zero, "matrix A has not full rank: element %zu on the diagonal of R is zero");
}

struct hd_dense_verdict hd_dense_judge_lu(const struct hd_dense_lu_values *v, int bad, int is_nan)
{
	struct hd_dense_verdict verdict = {.code = is_nan || v->must_be_regular ? bad : 0};
	size_t row = v->row + (size_t)bad;
	if (bad == 0)
		return verdict;
	hd_dense_set_info(v->info, row);
	snprintf(verdict.sentence, sizeof verdict.sentence,
	         is_nan ? "matrix has no factors: U(%zu, %zu) is not a number"
	                : "matrix is singular: U(%zu, %zu) is exactly zero",
	         row, row);
	return verdict;
}

struct hd_dense_verdict hd_dense_judge_element(const struct hd_dense_window *w, size_t i, size_t j, int is_nan)
{
	struct hd_dense_verdict verdict = {.code = 1};
	snprintf(verdict.sentence, sizeof verdict.sentence, "matrix %s has %s in row %zu, column %zu (counted from 1)",
	         w->name, is_nan ? "NaN" : "an infinite value", w->row + i + 1, w->column + j + 1);
	return verdict;
}

struct hd_dense_verdict hd_dense_judge_pivots(const struct hd_dense_laswp_values *v, size_t rows)
{
	struct hd_dense_verdict verdict = {.code = -1};
	snprintf(verdict.sentence, sizeof verdict.sentence, "a pivot is not the number of a row from %zu to %zu",
	         v->row + 1, v->row + rows);
	return verdict;
}

int hd_dense_return(heddle_context *c, struct hd_dense_verdict verdict)
{
	return verdict.code ? heddle_fail(c, verdict.code, "%s", verdict.sentence) : 0;
}
