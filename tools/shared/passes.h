/* Times of kernels from several passes over the same runs, and how well the passes agree. */
#ifndef HD_SHARED_PASSES_H
#define HD_SHARED_PASSES_H

#include <heddle/platform.h>
#include <heddle/trace.h>

/* The measurements: for each run and each of its kernels, the mean time in each pass. */
struct passes {
	struct pass_run *runs; /* owns */
	size_t n_runs;
};

void passes_init(struct passes *passes, size_t n_runs);
void passes_free(struct passes *passes);
/* Adds a pass of one of the runs. */
void passes_add(struct passes *passes, size_t run, const struct heddle_trace *trace);
size_t passes_count(const struct passes *passes, size_t run);
/* Half the width of the 95 % confidence interval of the time that the kernels of a run take together, as a share of
 * that time. A pass counts by the time of its kernels divided by the medians of the same kernels over all passes, so
 * that it does not matter which workers ran them. INFINITY: there are fewer than three passes. */
double passes_interval(const struct passes *passes, size_t run);
/* Whether a run needs no further pass: it has had at least `least` passes, and its interval is at most `within`. */
int passes_agree(const struct passes *passes, size_t run, size_t least, double within);
/* How much longer the kernels took in the slowest pass than in the fastest pass, as a share. The time of a pass is the
 * median, over the runs, of the run's time in the pass divided by its usual time; only passes that at least half of the
 * runs had count. */
double passes_drift(const struct passes *passes);
/* Half the width, as a share, of the interval in which 95 % of further runs like this one are to be expected around a
 * prediction. `deviation`: the standard deviation of n > 1 runs in a row, as a share of their median; `off`: by what
 * share of the median the prediction missed it; the result is at least `off`. There are at least three passes.
 */
double passes_prediction(const struct passes *passes, size_t run, double deviation, size_t n, double off);
/* Gives the platform, for each size that was measured, the median of the passes. */
void passes_apply(const struct passes *passes, struct heddle_platform *platform);

#endif
