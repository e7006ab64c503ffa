/* Reads files of the Matrix Market (Boisvert, Pozo, Remington: The Matrix Market exchange formats, 1996), line by line:
 * the file is never whole in memory. */
#define _GNU_SOURCE
#include "matrix.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/base.h"

enum field { REAL, INTEGER, COMPLEX, PATTERN, FIELDS };
enum symmetry { GENERAL, SYMMETRIC, HERMITIAN, SKEW, SYMMETRIES };

static const char *const fields[FIELDS] = {"real", "integer", "complex", "pattern"};
static const char *const symmetries[SYMMETRIES] = {"general", "symmetric", "hermitian", "skew-symmetric"};

struct reader {
	FILE *file;
	const char *path;
	size_t number; /* of the line, from 1 */
	char *line;    /* owns; without blanks in front */
	size_t size;
	const char *at; /* what is read next of the line */
	enum field field;
	enum symmetry symmetry;
	uint64_t rows, columns, n;
	struct hd_sparse_triplets triplets;
};

static int wrong(const struct reader *r, const char *what)
{
	return heddle_error(HEDDLE_E_FORMAT, "%s, line %zu: %s", r->path, r->number, what);
}

static void skip_blanks(struct reader *r)
{
	r->at += strspn(r->at, " \t\r\n\f\v");
}

/* The next line: 1. 0: the file has ended; negative: a status. */
static int next_line(struct reader *r)
{
	errno = 0;
	ssize_t length = getline(&r->line, &r->size, r->file);
	if (length < 0 && errno == ENOMEM)
		return hd_sparse_no_memory(r->path);
	if (length < 0 && ferror(r->file))
		return heddle_error(HEDDLE_E_IO, "cannot read %s: %s", r->path, strerror(errno));
	r->number++;
	if (length < 0)
		return 0;
	if ((size_t)length != strlen(r->line))
		return wrong(r, "a byte is 0, so this is no text");
	r->at = r->line;
	skip_blanks(r);
	return 1;
}

/* The next line with numbers. */
static int next_numbers(struct reader *r)
{
	int status = next_line(r);
	while (status > 0 && (!*r->at || *r->at == '%'))
		status = next_line(r);
	return status;
}

/* The next word of the header is one of `words`: its number. */
static int read_word(struct reader *r, const char *const *words, int n, const char *what)
{
	skip_blanks(r);
	size_t length = strcspn(r->at, " \t\r\n");
	const char *word = r->at;
	r->at += length;
	for (int i = 0; i < n; i++)
		if (strlen(words[i]) == length && strncasecmp(words[i], word, length) == 0)
			return i;
	return heddle_error(HEDDLE_E_FORMAT, "%s, line %zu: %s \"%.*s\" is not known here", r->path, r->number, what,
	                    (int)(length < 40 ? length : 40), word);
}

/* %%MatrixMarket matrix coordinate FIELD SYMMETRY */
static int read_banner(struct reader *r)
{
	static const char *const banner[] = {"%%MatrixMarket"}, *const object[] = {"matrix"},
	                         *const format[] = {"coordinate"};
	int status = next_line(r);
	if (status <= 0)
		return status ? status : wrong(r, "the file is empty");
	if (read_word(r, banner, 1, "the banner") < 0)
		return wrong(r, "a file of the Matrix Market begins with %%MatrixMarket");
	if (read_word(r, object, 1, "the object") < 0 || read_word(r, format, 1, "the format") < 0)
		return HEDDLE_E_FORMAT;
	int field = read_word(r, fields, FIELDS, "the field");
	int symmetry = field < 0 ? field : read_word(r, symmetries, SYMMETRIES, "the symmetry");
	if (symmetry < 0)
		return symmetry;
	r->field = (enum field)field;
	r->symmetry = (enum symmetry)symmetry;
	if (r->symmetry == HERMITIAN && r->field != COMPLEX)
		return wrong(r, "a hermitian matrix is complex");
	if (r->symmetry == SKEW && r->field == PATTERN)
		return wrong(r, "a pattern cannot be skew-symmetric");
	return 0;
}

/* A natural number of at most INT64_MAX - 1. */
static int read_natural(struct reader *r, uint64_t *out)
{
	skip_blanks(r);
	const char *begin = r->at;
	uint64_t value = 0;
	for (; *r->at >= '0' && *r->at <= '9'; r->at++) {
		if (value > (uint64_t)(INT64_MAX - 1) / 10 - 1)
			return wrong(r, "a number is too large");
		value = 10 * value + (uint64_t)(*r->at - '0');
	}
	*out = value;
	return r->at > begin && (!*r->at || strchr(" \t\r\n", *r->at)) ? 0 : wrong(r, "a whole number is missing");
}

static int read_real(struct reader *r, double *out)
{
	char *end;
	skip_blanks(r);
	*out = hd_real(r->at, &end);
	if (end == r->at || (*end && !strchr(" \t\r\n", *end)))
		return wrong(r, "a value is missing");
	r->at = end;
	return 0;
}

static int end_of_line(struct reader *r)
{
	skip_blanks(r);
	return *r->at && *r->at != '%' ? wrong(r, "there is more than belongs to it") : 0;
}

static int read_sizes(struct reader *r)
{
	int status = next_numbers(r);
	if (status <= 0)
		return status ? status : wrong(r, "rows, columns and the number of elements are missing");
	if ((status = read_natural(r, &r->rows)) || (status = read_natural(r, &r->columns)) ||
	    (status = read_natural(r, &r->n)) || (status = end_of_line(r)))
		return status;
	return r->symmetry != GENERAL && r->rows != r->columns ? wrong(r, "a symmetric matrix is square") : 0;
}

/* The element above the diagonal that one below it stands for. */
static int add_mirrored(struct reader *r, size_t row, size_t column, const double *value)
{
	if (row < column)
		return wrong(r, "only elements on and below the diagonal of a symmetric matrix are given");
	if (row == column)
		return r->symmetry == SKEW ? wrong(r, "a skew-symmetric matrix has no diagonal") : 0;
	double sign = r->symmetry == SKEW ? -1 : 1, imaginary = r->symmetry == HERMITIAN ? -1 : sign;
	double mirrored[2] = {sign * value[0], imaginary * value[1]};
	return hd_sparse_triplets_add(&r->triplets, column, row, mirrored);
}

static int read_element(struct reader *r)
{
	uint64_t row, column;
	double value[2] = {1, 0};
	int status = read_natural(r, &row);
	if (!status)
		status = read_natural(r, &column);
	if (!status && (row < 1 || column < 1 || row > r->rows || column > r->columns))
		return heddle_error(HEDDLE_E_FORMAT, "%s, line %zu: element (%llu, %llu) of a matrix of %llu x %llu",
		                    r->path, r->number, (unsigned long long)row, (unsigned long long)column,
		                    (unsigned long long)r->rows, (unsigned long long)r->columns);
	if (!status && r->field != PATTERN)
		status = read_real(r, &value[0]);
	if (!status && r->field == COMPLEX)
		status = read_real(r, &value[1]);
	if (!status)
		status = end_of_line(r);
	if (!status)
		status = hd_sparse_triplets_add(&r->triplets, row - 1, column - 1, value);
	if (!status && r->symmetry != GENERAL)
		status = add_mirrored(r, row - 1, column - 1, value);
	return status;
}

static int read_elements(struct reader *r)
{
	int status = 1;
	for (uint64_t e = 0; e < r->n; e++) {
		status = next_numbers(r);
		if (status == 0)
			return heddle_error(HEDDLE_E_FORMAT, "%s, line %zu: the file ends after %llu of %llu elements",
			                    r->path, r->number, (unsigned long long)e, (unsigned long long)r->n);
		if (status > 0)
			status = read_element(r);
		if (status)
			return status;
	}
	status = next_numbers(r);
	return status > 0 ? wrong(r, "there are more elements than were announced") : status;
}

int heddle_sparse_read(const char *path, struct heddle_sparse_matrix *out)
{
	if (!path || !out)
		return heddle_error(HEDDLE_E_INVALID, "heddle_sparse_read needs a path and a place for its result");
	struct reader r = {.path = path, .file = fopen(path, "re")};
	if (!r.file)
		return heddle_error(HEDDLE_E_IO, "cannot read %s: %s", path, strerror(errno));
	int status = read_banner(&r);
	r.triplets.components = r.field == COMPLEX ? 2 : 1;
	if (!status)
		status = read_sizes(&r);
	if (!status)
		status = read_elements(&r);
	if (!status)
		status = hd_sparse_triplets_finish(&r.triplets, r.rows, r.columns, out);
	hd_sparse_triplets_free(&r.triplets);
	free(r.line);
	fclose(r.file);
	return status;
}
