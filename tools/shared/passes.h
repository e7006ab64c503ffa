/* Times of kernels from several passes over the same runs, and how well the passes agree. */
#ifndef HD_SHARED_PASSES_H
#define HD_SHARED_PASSES_H

#include <heddle/platform.h>
#include <heddle/trace.h>

/* What was measured: of each run, for each of its kernels, the mean time in each pass. */
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
/* Gives the platform, for each size that was measured, the median of the passes. */
void passes_apply(const struct passes *passes, struct heddle_platform *platform);

#endif
