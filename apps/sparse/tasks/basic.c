/* Solutions of a matrix with dead pivots (Davis: Algorithm 915, 2011). Least squares: a basic solution, in which the
 * unknowns of dead columns are 0. A matrix with fewer rows than columns: rows of A that depend on others are not
 * heeded, and the others have the solution of least norm.
 *
 * Products with Q are tasks. The triangles of R are solved by the thread itself, front by front, because their rows do
 * not lie in tiles alone (rank.c). */
#include <sparse/tasks/parts.h>
#include <sparse/tasks/rank.h>
#include <dense/kernels/blas3.h>
#include <limits.h>
#include <stdlib.h>

/* The rows of a front, and all unknowns or right-hand sides in the order of elimination. */
struct triangle {
	const struct hd_sparse_front *front;
	const char *dead; /* of its pivots */
	void *r, *others; /* R in its rows; a row for each of its columns behind the pivots */
	const struct heddle_dense_array *y;
};

#define HD_TEMPLATE <sparse/tasks/basic_template.h>
#include <dense/kernels/precisions.h>

typedef void (*solve_triangle)(const struct triangle *t);

static int solve_front(const heddle_sparse_qr *qr, size_t f, const struct heddle_dense_array *y, solve_triangle solve)
{
	const struct hd_sparse_front *front = &qr->analysis->fronts[f];
	struct triangle t = {.front = front, .dead = qr->rank->dead + front->first_pivot, .y = y};
	size_t elem = hd_sparse_element_size(qr->precision);
	int status = hd_sparse_copy_r(qr, f, &t.r);
	if (status < 0)
		return status;
	t.others = hd_sparse_allocate(hd_sparse_rest(front), y->columns * elem);
	if (t.others)
		solve(&t);
	else
		status = hd_sparse_no_memory("a solution");
	free(t.others);
	free(t.r);
	return status;
}

/* Copies row numbers[i] of one array to row i of another, or the other way round, for the first n of them. */
static void permute(const heddle_sparse_qr *qr, const struct heddle_dense_array *sorted,
                    const struct heddle_dense_array *given, int to_given)
{
	size_t elem = hd_sparse_element_size(qr->precision);
	for (size_t j = 0; j < given->columns; j++)
		for (size_t i = 0; i < qr->analysis->columns; i++) {
			char *x = (char *)sorted->data + (i + j * sorted->ld) * elem;
			char *y = (char *)given->data + ((size_t)qr->analysis->column_order[i] + j * given->ld) * elem;
			memcpy(to_given ? y : x, to_given ? x : y, elem);
		}
}

static int least_squares(heddle_sparse_qr *qr, const struct heddle_dense_array *b, const struct heddle_dense_array *x,
                         const struct heddle_dense_array *c)
{
	static const solve_triangle back[] = {hd_d_back, hd_s_back, hd_z_back, hd_c_back};
	int status = hd_sparse_multiply_q(qr, HEDDLE_DENSE_CONJ_TRANS, b, c);
	for (size_t f = qr->analysis->n_fronts; f-- > 0 && status >= 0;)
		status = solve_front(qr, f, c, back[qr->precision]);
	if (status >= 0)
		permute(qr, c, x, 1);
	return status;
}

static int least_norm(heddle_sparse_qr *qr, const struct heddle_dense_array *b, const struct heddle_dense_array *x,
                      const struct heddle_dense_array *c)
{
	static const solve_triangle forward[] = {hd_d_forward, hd_s_forward, hd_z_forward, hd_c_forward};
	int status = 0;
	memset(c->data, 0, c->rows * c->columns * hd_sparse_element_size(qr->precision));
	permute(qr, c, b, 0);
	for (size_t f = 0; f < qr->analysis->n_fronts && status >= 0; f++)
		status = solve_front(qr, f, c, forward[qr->precision]);
	return status < 0 ? status : hd_sparse_multiply_q(qr, HEDDLE_DENSE_NO_TRANS, c, x);
}

int hd_sparse_solve_basic(struct heddle_sparse_qr *qr, const struct heddle_dense_array *b,
                          const struct heddle_dense_array *x)
{
	if (qr->analysis->rows > INT_MAX) /* a leading dimension of BLAS */
		return heddle_error(HEDDLE_E_UNSUPPORTED, "a matrix of %zu rows with dead columns cannot be solved",
		                    qr->analysis->rows);
	struct heddle_dense_array c = {qr->precision, qr->analysis->rows, b->columns, NULL, qr->analysis->rows};
	c.data = hd_sparse_allocate(c.columns, c.rows * hd_sparse_element_size(qr->precision));
	if (!c.data)
		return hd_sparse_no_memory("a solution");
	int status = qr->analysis->transposed ? least_norm(qr, b, x, &c) : least_squares(qr, b, x, &c);
	free(c.data);
	return status;
}
