/* For tests that call every routine of libheddle-dense: what they are called with, and a table of the calls. */
#ifndef DENSE_ALL_ROUTINES_H
#define DENSE_ALL_ROUTINES_H

#include <heddle/dense.h>

static heddle_dense *dense;
static heddle_dense_matrix *a, *b, *c;
static const struct heddle_dense_array *A, *B, *C;
static heddle_dense_qr *qr;
static heddle_dense_pivots *pivots;
static const struct heddle_dense_options *options;
static const heddle_dense_scalar one = {1, 0};
#define LOWER HEDDLE_DENSE_LOWER

/* Each routine: its name, its matrices, the arguments of the form that submits and of the form that waits. */
#define ROUTINES(ROUTINE)                                                                                           \
	ROUTINE(gemm, "ABC", (0, 0, one, a, b, one, c, options), (dense, 0, 0, one, A, B, one, C, options))         \
	ROUTINE(syrk, "AC", (LOWER, 0, one, a, one, c, options), (dense, LOWER, 0, one, A, one, C, options))        \
	ROUTINE(herk, "AC", (LOWER, 0, 1, a, 1, c, options), (dense, LOWER, 0, 1, A, 1, C, options))                \
	ROUTINE(symm, "ABC", (0, LOWER, one, a, b, one, c, options), (dense, 0, LOWER, one, A, B, one, C, options)) \
	ROUTINE(hemm, "ABC", (0, LOWER, one, a, b, one, c, options), (dense, 0, LOWER, one, A, B, one, C, options)) \
	ROUTINE(trsm, "AB", (0, LOWER, 0, 0, one, a, b, options), (dense, 0, LOWER, 0, 0, one, A, B, options))      \
	ROUTINE(trmm, "AB", (0, LOWER, 0, 0, one, a, b, options), (dense, 0, LOWER, 0, 0, one, A, B, options))      \
	ROUTINE(potrf, "A", (LOWER, a, options), (dense, LOWER, A, options))                                        \
	ROUTINE(potrs, "AB", (LOWER, a, b, options), (dense, LOWER, A, B, options))                                 \
	ROUTINE(posv, "AB", (LOWER, a, b, options), (dense, LOWER, A, B, options))                                  \
	ROUTINE(trtri, "A", (LOWER, 0, a, options), (dense, LOWER, 0, A, options))                                  \
	ROUTINE(lauum, "A", (LOWER, a, options), (dense, LOWER, A, options))                                        \
	ROUTINE(potri, "A", (LOWER, a, options), (dense, LOWER, A, options))                                        \
	ROUTINE(poinv, "A", (LOWER, a, options), (dense, LOWER, A, options))                                        \
	ROUTINE(geqrf, "A", (a, qr, options), (dense, A, NULL, options))                                            \
	ROUTINE(ormqr, "AC", (0, 0, a, qr, c, options), (dense, 0, 0, A, qr, C, options))                           \
	ROUTINE(gels, "AB", (0, a, b, options), (dense, 0, A, B, options))                                          \
	ROUTINE(getrf, "A", (a, pivots, options), (dense, A, NULL, options))                                        \
	ROUTINE(getrf_nopiv, "A", (a, options), (dense, A, options))                                                \
	ROUTINE(getrs, "AB", (0, a, pivots, b, options), (dense, 0, A, NULL, B, options))                           \
	ROUTINE(gesv, "AB", (a, pivots, b, options), (dense, A, NULL, B, options))                                  \
	ROUTINE(gesv_nopiv, "AB", (a, b, options), (dense, A, B, options))

#define CALLS(name, matrices, submit_arguments, call_arguments)       \
	static int submit_##name(void)                                \
	{                                                             \
		return heddle_dense_##name##_submit submit_arguments; \
	}                                                             \
	static int call_##name(void)                                  \
	{                                                             \
		return heddle_dense_##name call_arguments;            \
	}
ROUTINES(CALLS)

static const struct {
	const char *name, *matrices;
	int (*submit)(void), (*call)(void);
} routines[] = {
#define ROW(name, matrices, submit_arguments, call_arguments) {#name, matrices, submit_##name, call_##name},
    ROUTINES(ROW)};
enum { N_ROUTINES = sizeof routines / sizeof *routines };

#endif
