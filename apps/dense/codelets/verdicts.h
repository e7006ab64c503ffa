/* The verdict of a task that may fail, as info and as a sentence: the same on all kinds of processors.
 *
 * For a device the verdict is known only after the kernel function has returned; so its code and sentence go to
 * heddle_event_fail, whereas the kernel of a CPU calls heddle_fail. */
#ifndef HD_DENSE_CODELETS_VERDICTS_H
#define HD_DENSE_CODELETS_VERDICTS_H

#include <dense/codelets/lu.h>
#include <dense/codelets/qr.h>
#include <dense/internal.h>

struct hd_dense_verdict {
	int code; /* 0: all is well; otherwise the code for heddle_fail */
	char sentence[128];
};

/* These write info, too. `minor`, `zero` and `bad` are counted from 1 in the tile; 0: there is none. */
struct hd_dense_verdict hd_dense_judge_potrf(const struct hd_dense_diagonal_values *v, int minor);
struct hd_dense_verdict hd_dense_judge_trtri(const struct hd_dense_diagonal_values *v, int zero);
/* `bad`: the first pivot that is zero, or that is not a number (`is_nan`). */
struct hd_dense_verdict hd_dense_judge_lu(const struct hd_dense_lu_values *v, int bad, int is_nan);
/* The element (i, j) of the window, counted from 0, is not finite. */
struct hd_dense_verdict hd_dense_judge_element(const struct hd_dense_window *w, size_t i, size_t j, int is_nan);

/* `zero`: the element on the diagonal of R that is zero, counted from 1 in the tile; 0: there is none. */
struct hd_dense_verdict hd_dense_judge_rank(const struct hd_dense_rank_values *v, int zero);
/* A pivot of laswp is not a row of its stack. */
struct hd_dense_verdict hd_dense_judge_pivots(const struct hd_dense_laswp_values *v, size_t rows);

/* Makes the return value of a CPU kernel; calls heddle_fail if the verdict is a failure. */
int hd_dense_return(heddle_context *c, struct hd_dense_verdict verdict);

#endif
