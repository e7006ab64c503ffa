/* A factorisation for the command: see experiment.h. */
#include <sparse/experiments/experiment.h>
#include <sparse/matrix/matrix.h>
#include <complex.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <heddle/application.h>

/* --- Matrices and analyses, which depend on names and options alone ----------------------------------------------- */

/* A matrix with its analysis. The command opens an application once per policy and repetition; these share it. */
struct subject {
	size_t references;
	char name[HD_SPARSE_MATRIX_NAME];
	struct heddle_sparse_analysis_options options;
	enum heddle_dense_precision precision;
	struct heddle_sparse_matrix matrix;
	heddle_sparse_analysis *analysis;
};
/* The last one that was asked for, which has a reference of its own. Guards: itself, and all `references`. Below it no
 * lock of this library is taken. */
static pthread_mutex_t last_lock = PTHREAD_MUTEX_INITIALIZER;
static struct subject *last;

static double complex element(enum heddle_dense_precision precision, const void *values, int64_t i)
{
	switch (precision) {
	case HEDDLE_DENSE_DOUBLE: return ((const double *)values)[i];
	case HEDDLE_DENSE_SINGLE: return ((const float *)values)[i];
	case HEDDLE_DENSE_COMPLEX_DOUBLE: return ((const double complex *)values)[i];
	default: return ((const float complex *)values)[i];
	}
}

static void set_element(enum heddle_dense_precision precision, void *values, int64_t i, double complex x)
{
	switch (precision) {
	case HEDDLE_DENSE_DOUBLE: ((double *)values)[i] = creal(x); break;
	case HEDDLE_DENSE_SINGLE: ((float *)values)[i] = (float)creal(x); break;
	case HEDDLE_DENSE_COMPLEX_DOUBLE: ((double complex *)values)[i] = x; break;
	default: ((float complex *)values)[i] = (float complex)x;
	}
}

/* Brings the values to another precision. */
static int convert(struct heddle_sparse_matrix *a, enum heddle_dense_precision precision)
{
	int64_t n = a->column_start[a->columns];
	if (a->precision == precision)
		return 0;
	void *values = malloc(n ? (size_t)n * hd_sparse_element_size(precision) : 1);
	if (!values)
		return heddle_error(HEDDLE_E_MEMORY, "no memory for the values of a sparse matrix");
	for (int64_t i = 0; i < n; i++)
		set_element(precision, values, i, element(a->precision, a->values, i));
	free(a->values);
	a->values = values;
	a->precision = precision;
	return 0;
}

static void subject_free(struct subject *s)
{
	if (!s)
		return;
	heddle_sparse_analysis_free(s->analysis);
	heddle_sparse_matrix_free(&s->matrix);
	free(s);
}

static int subject_make(const struct hd_sparse_problem *p, struct subject **out)
{
	struct subject *s = *out = calloc(1, sizeof *s);
	if (!s)
		return heddle_error(HEDDLE_E_MEMORY, "no memory for a sparse matrix");
	s->options = p->analysis;
	s->precision = (enum heddle_dense_precision)p->precision;
	memcpy(s->name, p->matrix, sizeof s->name);
	int status = hd_sparse_load(p->matrix, &s->matrix);
	status = status ? status : convert(&s->matrix, s->precision);
	return status ? status : heddle_sparse_analyse(&s->matrix, &s->options, &s->analysis);
}

static int is_wanted(const struct subject *s, const struct hd_sparse_problem *p)
{
	return s && strcmp(s->name, p->matrix) == 0 && s->options.ordering == p->analysis.ordering &&
	       s->options.subtree == p->analysis.subtree && s->options.workers == p->analysis.workers &&
	       s->precision == (enum heddle_dense_precision)p->precision;
}

static void drop(struct subject *s)
{
	if (s && --s->references == 0)
		subject_free(s);
}

/* The subject of a problem; the caller gives it back. */
static int subject_get(const struct hd_sparse_problem *p, struct subject **out)
{
	int status = 0;
	pthread_mutex_lock(&last_lock);
	if (!is_wanted(last, p)) {
		struct subject *made;
		status = subject_make(p, &made);
		if (status) {
			subject_free(made);
			made = NULL;
		} else {
			made->references = 1;
			drop(last);
			last = made;
		}
	}
	*out = status ? NULL : last;
	if (*out)
		last->references++;
	pthread_mutex_unlock(&last_lock);
	return status;
}

static void subject_give_back(struct subject *s)
{
	pthread_mutex_lock(&last_lock);
	drop(s);
	pthread_mutex_unlock(&last_lock);
}

__attribute__((destructor)) static void forget_last(void)
{
	drop(last);
}

static int statistics_of(const struct hd_sparse_problem *p, struct heddle_sparse_statistics *out)
{
	struct subject *s;
	int status = subject_get(p, &s);
	if (status)
		return status;
	*out = heddle_sparse_analysis_statistics(s->analysis);
	subject_give_back(s);
	return 0;
}

static int is_complex(int precision)
{
	return precision >= HEDDLE_DENSE_COMPLEX_DOUBLE;
}

double hd_sparse_problem_flops(const struct hd_sparse_problem *p)
{
	struct heddle_sparse_statistics s;
	return statistics_of(p, &s) ? NAN : s.flops * (is_complex(p->precision) ? 4 : 1);
}

double hd_sparse_problem_bytes(const struct hd_sparse_problem *p)
{
	struct heddle_sparse_statistics s;
	return statistics_of(p, &s) ? NAN
	                            : (double)s.peak_elements *
	                                  (double)hd_sparse_element_size((enum heddle_dense_precision)p->precision);
}

/* --- Runs --------------------------------------------------------------------------------------------------------- */

struct hd_sparse_experiment {
	heddle_sparse *sparse;
	struct subject *subject;
	heddle_sparse_qr *qr;
	struct hd_sparse_problem problem;
	int simulated;
};

int hd_sparse_experiment_open(heddle_runtime *rt, int simulated, const struct hd_sparse_problem *p,
                              struct hd_sparse_experiment **out)
{
	struct hd_sparse_experiment *e = *out = calloc(1, sizeof *e);
	if (!e)
		return heddle_error(HEDDLE_E_MEMORY, "no memory for an experiment");
	e->problem = *p;
	e->simulated = simulated;
	int status = subject_get(p, &e->subject);
	status = status ? status : heddle_sparse_open(rt, &e->sparse);
	return status ? status
	              : heddle_sparse_qr_create(e->sparse, e->subject->analysis, e->subject->precision, &p->options,
	                                        &e->qr);
}

int hd_sparse_experiment_submit(struct hd_sparse_experiment *e)
{
	return heddle_sparse_factorise_submit(e->qr, e->simulated ? NULL : e->subject->matrix.values);
}

int hd_sparse_experiment_close(struct hd_sparse_experiment *e)
{
	if (!e)
		return 0;
	int status = heddle_sparse_qr_destroy(e->qr);
	heddle_sparse_close(e->sparse);
	subject_give_back(e->subject);
	free(e);
	return status;
}

/* --- The residual ------------------------------------------------------------------------------------------------- */

/* What the residual is computed with: vectors in the order of the factorised matrix F (A, or A^H). */
struct check {
	const struct hd_sparse_experiment *e;
	const struct heddle_sparse_matrix *a;
	struct heddle_sparse_matrix r;
	/* a power of two, by which elements of A and R are multiplied, so that squares neither overflow nor are 0 */
	double unit;
	int transposed;
	size_t rows, columns;        /* of F */
	double complex *x, *fx, *rx; /* x; F P x; R x, and Q R x */
	double complex *px, *work;   /* P x, of F's columns; another vector of its rows */
};

static double largest(const struct heddle_sparse_matrix *s)
{
	double most = 0;
	for (int64_t e = 0; e < s->column_start[s->columns]; e++)
		most = fmax(most, cabs(element(s->precision, s->values, e)));
	return most;
}

/* The largest element of A becomes about 1. */
static double unit_of(const struct heddle_sparse_matrix *a)
{
	double most = largest(a);
	int exponent;
	frexp(isfinite(most) ? most : DBL_MAX, &exponent);
	return ldexp(1, most > 0 ? -(exponent < -1000 ? -1000 : exponent) : 0);
}

/* y := S x or S^H x, in double precision and in units. */
static void multiply(const struct check *c, const struct heddle_sparse_matrix *s, int adjoint, const double complex *x,
                     double complex *y)
{
	memset(y, 0, (adjoint ? s->columns : s->rows) * sizeof *y);
	for (size_t j = 0; j < s->columns; j++)
		for (int64_t e = s->column_start[j]; e < s->column_start[j + 1]; e++) {
			double complex v = element(s->precision, s->values, e) * c->unit;
			if (adjoint)
				y[j] += conj(v) * x[s->row[e]];
			else
				y[s->row[e]] += v * x[j];
		}
}

static double norm(size_t n, const double complex *x)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += creal(x[i]) * creal(x[i]) + cimag(x[i]) * cimag(x[i]);
	return sqrt(sum);
}

/* Of the elements of A, in units. */
static double norm_of_a(const struct check *c)
{
	double sum = 0;
	for (int64_t e = 0; e < c->a->column_start[c->a->columns]; e++)
		sum += pow(cabs(element(c->a->precision, c->a->values, e) * c->unit), 2);
	return sqrt(sum);
}

static int make_vectors(struct check *c)
{
	size_t n = c->rows + 1;
	double complex **all[] = {&c->x, &c->fx, &c->rx, &c->px, &c->work};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!(*all[i] = calloc(n, sizeof **all[i])))
			return heddle_error(HEDDLE_E_MEMORY, "no memory for the check of a factorisation");
	const int64_t *order = heddle_sparse_column_order(c->e->subject->analysis);
	for (size_t k = 0; k < c->columns; k++) {
		heddle_dense_scalar v =
		    heddle_dense_random_element(HEDDLE_DENSE_RANDOM, c->e->problem.seed, c->columns, k, 0);
		c->x[k] = is_complex(c->e->problem.precision) ? v.re + v.im * I : v.re;
		c->px[order[k]] = c->x[k];
	}
	return 0;
}

static void free_vectors(struct check *c)
{
	heddle_sparse_matrix_free(&c->r);
	free(c->x);
	free(c->fx);
	free(c->rx);
	free(c->px);
	free(c->work);
}

static double roundoff(int precision)
{
	int is_double = precision == HEDDLE_DENSE_DOUBLE || precision == HEDDLE_DENSE_COMPLEX_DOUBLE;
	return is_double ? 0x1p-53 : 0x1p-24;
}

/* rx := Q rx, in the precision of the factorisation. */
static int apply_q(struct check *c)
{
	enum heddle_dense_precision precision = c->e->subject->precision;
	void *copy = malloc((c->rows + 1) * hd_sparse_element_size(precision));
	if (!copy)
		return heddle_error(HEDDLE_E_MEMORY, "no memory for the check of a factorisation");
	for (size_t i = 0; i < c->rows; i++)
		set_element(precision, copy, (int64_t)i, c->rx[i]);
	struct heddle_dense_array array = {precision, c->rows, 1, copy, c->rows ? c->rows : 1};
	int status = heddle_sparse_apply_q(c->e->qr, HEDDLE_DENSE_NO_TRANS, &array);
	for (size_t i = 0; i < c->rows; i++)
		c->rx[i] = element(precision, copy, (int64_t)i);
	free(copy);
	return status;
}

/* || to - from || over the norm of what was multiplied, in roundoffs. */
static double relative(size_t n, const double complex *from, double complex *to, double scale, int precision)
{
	for (size_t i = 0; i < n; i++)
		to[i] -= from[i];
	double difference = norm(n, to);
	return difference == 0 ? 0 : difference / (scale * roundoff(precision));
}

static int compute(struct check *c, double *residual)
{
	int precision = c->e->problem.precision;
	double norm_a = norm_of_a(c), norm_x = norm(c->columns, c->x);
	multiply(c, c->a, c->transposed, c->px, c->fx);
	multiply(c, &c->r, 0, c->x, c->rx);
	if (!c->e->problem.options.drop_q) {
		int status = apply_q(c);
		*residual = relative(c->rows, c->fx, c->rx, norm_a * norm_x, precision);
		return status;
	}
	const int64_t *order = heddle_sparse_column_order(c->e->subject->analysis);
	multiply(c, c->a, !c->transposed, c->fx, c->px); /* F^H F P x */
	multiply(c, &c->r, 1, c->rx, c->work);
	for (size_t k = 0; k < c->columns; k++)
		c->x[k] = c->px[order[k]];
	*residual = relative(c->columns, c->x, c->work, norm_a * norm_a * norm_x, precision);
	return 0;
}

int hd_sparse_experiment_residual(struct hd_sparse_experiment *e, double *residual)
{
	struct heddle_sparse_statistics s = heddle_sparse_analysis_statistics(e->subject->analysis);
	struct check c = {.e = e,
	                  .a = &e->subject->matrix,
	                  .unit = unit_of(&e->subject->matrix),
	                  .transposed = s.transposed,
	                  .rows = s.transposed ? s.columns : s.rows,
	                  .columns = s.transposed ? s.rows : s.columns};
	int status = heddle_sparse_r(e->qr, &c.r);
	status = status ? status : make_vectors(&c);
	status = status ? status : compute(&c, residual);
	free_vectors(&c);
	return status;
}
