/* The rank of a factorisation, dead pivots, and what follows from them for Q, R and solutions. */
#ifndef HD_SPARSE_TASKS_RANK_H
#define HD_SPARSE_TASKS_RANK_H

#include <sparse/tasks/tasks.h>

/* A block of reflectors 1 - [1; V] T [1; V]^H on rows of Q^H B: the rows of some pivots, and rows of dead pivots. */
struct hd_sparse_turn {
	size_t n_pivots, n_rows; /* columns and rows of V */
	int64_t *row;            /* owns; numbers of rows of Q^H B: of the pivots, then of dead pivots */
	void *v, *t;             /* own; n_rows x n_pivots, n_pivots x n_pivots, without gaps */
};

/* What the search for the rank has found. NULL in a factorisation: nobody has asked yet. */
struct hd_sparse_rank {
	char *dead;       /* owns; of each column of F, in the order of elimination */
	int64_t *columns; /* owns; the dead columns, as F was given */
	int64_t n_dead;
	struct hd_sparse_turn *turns; /* owns; in the order in which Q^H applies them, after the fronts */
	size_t n_turns, room;
};

/* rank.c: 0 if results of the factorisation can be asked for; else an error that begins with the function's name. */
int hd_sparse_check_results(const char *function, const struct heddle_sparse_qr *qr);
/* Finds qr->rank, unless it is known; R and Q change where pivots are dead. Waits for the factorisation; an error of
 * heddle_may_wait, even if the rank is known. */
int hd_sparse_find_rank(struct heddle_sparse_qr *qr);
void hd_sparse_rank_free(struct hd_sparse_rank *rank);
/* C := Z^H C or Z C, where Q has become Q Z. C has the rows of Q^H B. */
int hd_sparse_turn(const struct heddle_sparse_qr *qr, enum heddle_dense_trans trans,
                   const struct heddle_dense_array *c);

/* basic.c: heddle_sparse_solve for a matrix with dead pivots, whose unknowns become 0. */
int hd_sparse_solve_basic(struct heddle_sparse_qr *qr, const struct heddle_dense_array *b,
                          const struct heddle_dense_array *x);
/* solve.c: OUT := Q IN or Q^H IN, as heddle_sparse_apply_q. IN may change. */
int hd_sparse_multiply_q(struct heddle_sparse_qr *qr, enum heddle_dense_trans trans,
                         const struct heddle_dense_array *in, const struct heddle_dense_array *out);

#endif
