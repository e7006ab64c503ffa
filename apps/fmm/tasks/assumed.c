/* What experiments assume of tasks in virtual time: times on accelerators, and models that know only sizes.
 *
 * Rates are estimates from published figures. On a K20c the n-body sample of CUDA 5.5 does 1.8 of 3.5 Tflop/s in single
 * precision with 20 operations a pair, as its documentation says: 51 % of the peak, and 57 % of what dgemm and sgemm
 * reach, 90 % of it. In double precision an inverse root takes 10 operations more (30 a pair in the same sample), so
 * that a pair of 20 has two thirds of this share. A translation is a product of matrices: the platform's own times of
 * gemm. */
#include <fmm/tasks/tasks.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SHARE_SINGLE = 0.57, SHARE_DOUBLE = 0.38, LATENCY = 10 /* us of a launch */, LARGE = 1e12;
enum { OPERATIONS = 20 /* of a pair */, THREADS = 256 /* of a block */ };

/* --- Pairs of groups ---------------------------------------------------------------------------------------------- */

/* Pairs of threads and sources if a block has the targets of one leaf. */
static double in_blocks(double targets, double sources)
{
	return ceil(targets / THREADS) * THREADS * sources;
}

/* The work of a leaf of targets. */
static void add_leaf(const struct heddle_fmm_plan *plan, double targets, const struct hd_fmm_directs *directs,
                     struct hd_fmm_near_work *of_sources)
{
	const struct hd_fmm_side *side = &plan->sources;
	for (size_t i = 0; i < directs->n; i++) {
		const struct hd_fmm_direct *d = &directs->all[i];
		double sources = (double)side->tree.levels[d->level].count[d->cell];
		struct hd_fmm_near_work *work = &of_sources[hd_fmm_group_of(side->groups, d->level, d->cell)];
		work->pairs += targets * sources;
		work->blocks += in_blocks(targets, sources);
		work->returned += in_blocks(sources, targets);
	}
}

void hd_fmm_near_work(const struct heddle_fmm_plan *plan, int level, size_t group, struct hd_fmm_direct *room,
                      struct hd_fmm_near_work *of_sources)
{
	const struct hd_fmm_tree *tree = hd_fmm_targets(plan);
	const struct hd_fmm_level *l = &tree->levels[level];
	const struct hd_fmm_group *g = &hd_fmm_target_groups(plan, level)->all[group];
	for (size_t leaf = g->first; leaf < g->first + g->n; leaf++) {
		struct hd_fmm_directs directs = {.all = room};
		if (!hd_fmm_is_leaf(l, leaf))
			continue;
		hd_fmm_direct_of(&plan->near, tree, &plan->sources.tree, level, (uint32_t)leaf, &directs);
		add_leaf(plan, l->count[leaf], &directs, of_sources);
	}
}

/* --- Times on accelerators ---------------------------------------------------------------------------------------- */

double hd_fmm_flops(const struct hd_fmm_value *v, double us)
{
	const struct heddle_fmm_plan *plan = v->plan;
	double terms = (double)hd_fmm_terms(plan->degree);
	switch (v->op) {
	case HD_FMM_P2P:
	case HD_FMM_MUTUAL: return OPERATIONS * us / plan->costs.pair;
	case HD_FMM_M2M:
	case HD_FMM_M2L:
	case HD_FMM_L2L: return 2 * terms * terms * us / plan->costs.translation;
	default: return 0;
	}
}

double hd_fmm_time_on_gpu(const struct hd_fmm_value *v, unsigned class_id, struct hd_fmm_work work)
{
	const struct heddle_fmm *fmm = v->plan->fmm;
	const struct heddle_platform *platform = heddle_runtime_platform(fmm->rt);
	int single = v->plan->options.precision == HEDDLE_FMM_SINGLE,
	    near = v->op == HD_FMM_P2P || v->op == HD_FMM_MUTUAL;
	const char *gemm = single ? "sgemm" : "dgemm";
	double flops = hd_fmm_flops(v, work.us),
	       most = LARGE / heddle_platform_time(platform, gemm, class_id, 0, LARGE);
	if (near && fmm->assumed.gpu_pairs != HD_FMM_NO_GPU) {
		double blocks = OPERATIONS * work.blocks;
		return LATENCY + (fmm->assumed.gpu_pairs == HD_FMM_BLOCKS ? blocks : flops) /
		                     (most * (single ? SHARE_SINGLE : SHARE_DOUBLE));
	}
	return v->op == HD_FMM_M2L && fmm->assumed.gpu_far ? heddle_platform_time(platform, gemm, class_id, 0, flops)
	                                                   : NAN;
}

/* --- Models that know only sizes ---------------------------------------------------------------------------------- */

/* Tasks of an operator whose data have the same size, but for a quarter of an octave. */
enum { PER_OCTAVE = 4, SIZES = 64 * PER_OCTAVE };
struct hd_fmm_by_size {
	struct sums {
		double n;
		struct hd_fmm_work work;
	} all[HD_FMM_N_OPS][SIZES];
};

struct hd_fmm_by_size *hd_fmm_by_size_make(void)
{
	return calloc(1, sizeof(struct hd_fmm_by_size));
}

static struct sums *sums_of(struct hd_fmm_by_size *sizes, const struct hd_fmm_value *v, double bytes)
{
	return &sizes->all[v->op][(size_t)(PER_OCTAVE * log2(bytes + 1) + 0.5)];
}

void hd_fmm_by_size_note(struct hd_fmm_by_size *sizes, const struct hd_fmm_value *v, double bytes)
{
	struct sums *s = sums_of(sizes, v, bytes);
	s->n++;
	s->work.us += v->work.us;
	s->work.blocks += v->work.blocks;
}

struct hd_fmm_work hd_fmm_by_size_tell(struct hd_fmm_by_size *sizes, const struct hd_fmm_value *v, double bytes)
{
	const struct sums *s = sums_of(sizes, v, bytes);
	return (struct hd_fmm_work){s->work.us / s->n, s->work.blocks / s->n};
}
