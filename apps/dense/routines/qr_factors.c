/* The results of a QR factorisation besides R and V: the triangular factors T, and the order in which tiles were
 * eliminated.
 *
 * A tile of the matrix has at most two T, of ib x nb elements: one T if geqrt made the tile a triangle, and one T of
 * its elimination.
 */
#include <dense/routines/qr.h>
#include <dense/kernels/qr.h>
#include <stdio.h>
#include <stdlib.h>

/* Marks the tiles that geqrt makes triangles, by any address but NULL. */
static void mark_triangles(heddle_dense_qr *qr)
{
	for (size_t k = 0; k < qr->kt; k++) {
		const struct hd_qr_elimination *list = hd_qr_column(qr->tree, k);
		heddle_data **column = &qr->triangles[k * qr->mt];
		column[k] = qr->work;
		for (const struct hd_qr_elimination *e = list; e < list + qr->mt - k - 1; e++) {
			column[e->killer] = qr->work;
			if (!e->square)
				column[e->killed] = qr->work;
		}
	}
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t hd_qr_rows(const heddle_dense_qr *qr, size_t i)
{
	return smaller(qr->shape.tile, qr->shape.rows - i * qr->shape.tile);
}

size_t hd_qr_columns(const heddle_dense_qr *qr, size_t k)
{
	return smaller(qr->shape.tile, qr->shape.columns - k * qr->shape.tile);
}

static int register_factor(heddle_dense_qr *qr, size_t k, heddle_data **out)
{
	return heddle_matrix(qr->dense->rt, NULL, qr->inner, hd_qr_columns(qr, k), qr->inner,
	                     hd_dense_elem_size(qr->shape.precision), out);
}

static int register_factors(heddle_dense_qr *qr)
{
	size_t rows = smaller(qr->shape.tile, qr->shape.rows);
	int status = heddle_vector(qr->dense->rt, NULL, hd_qr_work((int)rows, (int)qr->inner),
	                           hd_dense_elem_size(qr->shape.precision), &qr->work);
	if (status < 0)
		return status;
	mark_triangles(qr);
	for (size_t t = 0; t < qr->mt * qr->kt; t++) {
		size_t i = t % qr->mt, k = t / qr->mt;
		int is_triangle = qr->triangles[t] != NULL;
		/* so that every entry that is not NULL is a registered datum, even after an error */
		qr->triangles[t] = NULL;
		if (status >= 0 && is_triangle)
			status = register_factor(qr, k, &qr->triangles[t]);
		if (status >= 0 && i > k)
			status = register_factor(qr, k, &qr->eliminations[t]);
	}
	return status;
}

static heddle_dense_qr *allocate(heddle_dense *dense, const struct heddle_dense_shape *shape)
{
	size_t tile = shape->tile, mt = (shape->rows + tile - 1) / tile, nt = (shape->columns + tile - 1) / tile;
	size_t kt = smaller(mt, nt), n = mt * kt;
	heddle_dense_qr *qr = calloc(1, sizeof *qr + 3 * n * sizeof(heddle_data *));
	if (!qr)
		return NULL;
	qr->dense = dense;
	qr->shape = *shape;
	qr->mt = mt;
	qr->nt = nt;
	qr->kt = kt;
	qr->triangles = qr->data;
	qr->eliminations = qr->data + n;
	qr->copies = qr->data + 2 * n;
	return qr;
}

/* The number of rows of tiles per domain. */
static size_t domain_of(const heddle_dense_qr *qr, const struct heddle_dense_options *options)
{
	size_t n_domains = heddle_runtime_platform(qr->dense->rt)->n_workers;
	size_t domain = options && options->domain ? options->domain : (qr->mt + n_domains - 1) / n_domains;
	return domain == 0 ? 1 : domain < qr->mt ? domain : qr->mt;
}

int heddle_dense_qr_create(heddle_dense *dense, const struct heddle_dense_shape *shape,
                           const struct heddle_dense_options *options, heddle_dense_qr **out)
{
	if (!dense || !shape || !out)
		return heddle_error(HEDDLE_E_INVALID,
		                    "heddle_dense_qr_create needs a dense context, a shape and a place for its result");
	int status = hd_dense_check_shape(shape);
	if (status < 0)
		return status;
	if (shape->uplo != HEDDLE_DENSE_GENERAL)
		return heddle_error(HEDDLE_E_INVALID, "a QR factorisation needs a matrix that has all of its tiles");
	if (options && (unsigned)options->tree > HEDDLE_DENSE_DOMAINS)
		return heddle_error(HEDDLE_E_INVALID, "tree %d is not a value of enum heddle_dense_tree",
		                    (int)options->tree);
	heddle_dense_qr *qr = allocate(dense, shape);
	if (!qr)
		return hd_dense_no_memory("a QR factorisation");
	size_t inner = options && options->inner ? options->inner : HD_DENSE_INNER;
	size_t most = smaller(shape->tile, smaller(shape->rows, shape->columns));
	qr->inner = smaller(inner, most ? most : 1);
	qr->tree = hd_qr_tree_new(options ? options->tree : HEDDLE_DENSE_FLAT, domain_of(qr, options), qr->mt, qr->kt);
	status = qr->tree ? register_factors(qr) : hd_dense_no_memory("the tree of a QR factorisation");
	if (status < 0)
		return hd_qr_finish(qr, status);
	*out = qr;
	return 0;
}

int heddle_dense_qr_destroy(heddle_dense_qr *qr)
{
	if (!qr)
		return 0;
	int status = qr->work ? heddle_unregister_async(qr->work) : 0;
	for (size_t t = 0; t < 3 * qr->mt * qr->kt; t++) {
		int ended = qr->data[t] ? heddle_unregister_async(qr->data[t]) : 0;
		if (status >= 0)
			status = ended;
	}
	free(qr->tree);
	free(qr);
	return status;
}

int hd_qr_finish(heddle_dense_qr *qr, int status)
{
	if (status >= 0)
		return heddle_dense_qr_destroy(qr);
	char message[1024];
	snprintf(message, sizeof message, "%s", heddle_last_error());
	heddle_dense_qr_destroy(qr);
	return heddle_error(status, "%s", message);
}

/* Whether tile (i, k), which has a triangle, is written again while V is applied to other tiles. */
static int needs_copy(const heddle_dense_qr *qr, size_t i, size_t k)
{
	int written = i > k || k + 1 < qr->mt, applied = k + 1 < qr->nt || qr->applied_at_once;
	return written && applied;
}

int hd_qr_copies_open(heddle_dense_qr *qr)
{
	int status = 0;
	for (size_t t = 0; status >= 0 && t < qr->mt * qr->kt; t++) {
		size_t i = t % qr->mt, k = t / qr->mt;
		if (qr->copies[t] || !qr->triangles[t] || !needs_copy(qr, i, k))
			continue;
		size_t rows = hd_qr_rows(qr, i);
		status = heddle_matrix(qr->dense->rt, NULL, rows, hd_qr_columns(qr, k), rows,
		                       hd_dense_elem_size(qr->shape.precision), &qr->copies[t]);
	}
	return status;
}

void hd_qr_copies_close(heddle_dense_qr *qr)
{
	for (size_t t = 0; t < qr->mt * qr->kt; t++) {
		if (qr->copies[t])
			heddle_unregister_async(qr->copies[t]);
		qr->copies[t] = NULL;
	}
}

int hd_qr_check(const char *routine, const heddle_dense_qr *qr, const heddle_dense_matrix *a)
{
	const struct heddle_dense_shape *x = &a->shape;
	if (!qr)
		return heddle_error(HEDDLE_E_INVALID, "%s needs a heddle_dense_qr", routine);
	if (qr->dense == a->dense && qr->shape.precision == x->precision && qr->shape.rows == x->rows &&
	    qr->shape.columns == x->columns && qr->shape.tile == x->tile && x->uplo == HEDDLE_DENSE_GENERAL)
		return 0;
	return heddle_error(HEDDLE_E_INVALID,
	                    "%s: the heddle_dense_qr is for %zu x %zu and tiles of order %zu, A is %zu x %zu and has "
	                    "tiles of order %zu; both must have one precision and one dense context",
	                    routine, qr->shape.rows, qr->shape.columns, qr->shape.tile, x->rows, x->columns, x->tile);
}

int hd_qr_settle(const char *routine, heddle_dense *dense, const struct heddle_dense_array *a,
                 const struct heddle_dense_options *options, struct heddle_dense_options *settled,
                 struct heddle_dense_shape *shape)
{
	if (!dense)
		return heddle_error(HEDDLE_E_INVALID, "%s needs a dense context (heddle_dense_open)", routine);
	if (!a)
		return heddle_error(HEDDLE_E_INVALID, "%s: matrix A is NULL", routine);
	*settled = options ? *options : (struct heddle_dense_options){.tile = 0};
	if (settled->tile == 0)
		settled->tile =
		    hd_dense_default_tile(dense, "geqrf", a->precision, a->rows > a->columns ? a->rows : a->columns);
	*shape = (struct heddle_dense_shape){
	    .precision = a->precision, .rows = a->rows, .columns = a->columns, .tile = settled->tile};
	return 0;
}
