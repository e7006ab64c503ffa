/* The side of leaves that costs least, estimated from how many particles, and how many cells, are in common cells of
 * larger sides. */
#include <fmm/tree/tree.h>
#include <math.h>
#include <stdlib.h>

enum { LEVELS = HD_FMM_MOST_DEPTH + 1, STEPS = 3 }; /* sides between the sides of two levels are tried as well */

/* Of a tree whose leaves are on a level. */
struct estimate {
	double pairs, translations, cells;
};

/* The number of pairs of items in common cells, for cells `factor` times as wide as the cells of a level: interpolated
 * by powers. pairs[k] is the number for cells 2^k times as wide, for k <= above. */
static double of_width(const double *pairs, int above, double factor)
{
	double k = log2(factor);
	int low = (int)k;
	if (low + 1 > above)
		return pairs[above];
	return pairs[low] * pow(pairs[low + 1] / pairs[low], k - low);
}

static double square(size_t n)
{
	return (double)n * (double)n;
}

/* For a level: how many pairs of particles, or of cells of this level, are in common cells 2^k as wide. */
static void count(const struct hd_fmm_sorted *s, size_t n, int level, double *particles, double *cells)
{
	size_t first[LEVELS] = {0}, first_cell[LEVELS] = {0}, cell = 0; /* of the cells 2^k as wide */
	for (int k = 0; k <= level; k++)
		particles[k] = cells[k] = 0;
	for (size_t i = 1; i <= n; i++) {
		int parting = i == n ? 0 : hd_fmm_parting(s[i].key, s[i - 1].key, HD_FMM_MOST_DEPTH);
		cell += parting <= level;
		for (int k = 0; k <= level - parting; k++) {
			particles[k] += square(i - first[k]);
			cells[k] += square(cell - first_cell[k]);
			first[k] = i;
			first_cell[k] = cell;
		}
	}
}

/* A particle's neighbourhood is three cells wide, what is far from a cell lies six cells around it. */
static struct estimate estimate(const struct hd_fmm_sorted *s, size_t n, int level)
{
	double particles[LEVELS], cells[LEVELS];
	count(s, n, level, particles, cells);
	return (struct estimate){.pairs = of_width(particles, level, 3),
	                         .translations = level < 2 ? 0 : of_width(cells, level, 6) - of_width(cells, level, 3),
	                         .cells = cells[0]};
}

static double between(double a, double b, double part)
{
	return a > 0 && b > 0 ? a * pow(b / a, part) : a + (b - a) * part;
}

static double cost_of(const struct hd_fmm_costs *c, const struct estimate *a, const struct estimate *b, double part)
{
	return c->pair * between(a->pairs, b->pairs, part) + c->cell * between(a->cells, b->cells, part) +
	       c->translation * between(a->translations, b->translations, part);
}

/* The cells along an axis that cost least. */
static double choose(const struct hd_fmm_sorted *s, size_t n, const struct hd_fmm_costs *costs)
{
	struct estimate last = estimate(s, n, 0);
	double least = cost_of(costs, &last, &last, 0), best = 1;
	for (int level = 1; level <= HD_FMM_MOST_DEPTH; level++) {
		struct estimate next = estimate(s, n, level);
		next.translations += last.translations;
		double here = INFINITY;
		for (int step = 1; step <= STEPS; step++) {
			double part = (double)step / STEPS, cost = cost_of(costs, &last, &next, part);
			here = fmin(here, cost);
			if (cost < least) {
				least = cost;
				best = exp2(level - 1 + part);
			}
		}
		if (here > 4 * least && level > 3)
			break;
		last = next;
	}
	return best;
}

static void bounds(struct hd_fmm_box *box, const double *xyz, size_t n)
{
	*box = (struct hd_fmm_box){.low = {0, 0, 0}, .extent = 0};
	for (int c = 0; c < 3 && n > 0; c++) {
		double low = xyz[c], high = xyz[c];
		for (size_t i = 1; i < n; i++) {
			low = fmin(low, xyz[3 * i + (size_t)c]);
			high = fmax(high, xyz[3 * i + (size_t)c]);
		}
		box->low[c] = low;
		box->extent = fmax(box->extent, high - low);
	}
}

/* By all keys that a box of the greatest depth gives. */
static double least_cost(struct hd_fmm_box box, const struct hd_fmm_costs *costs, const double *xyz, size_t n)
{
	box.depth = HD_FMM_MOST_DEPTH;
	box.leaf_side = box.extent / (1u << HD_FMM_MOST_DEPTH);
	struct hd_fmm_sorted *s = hd_fmm_sort(&box, xyz, n);
	double cells = s ? round(choose(s, n, costs)) : -1;
	free(s);
	return cells;
}

static int depth_of(double cells)
{
	return cells > 1 ? (int)ceil(log2(cells)) : 0;
}

struct hd_fmm_box hd_fmm_box_periodic(double side, double cells)
{
	int depth = cells > 0 ? depth_of(cells) : HD_FMM_MOST_DEPTH;
	return (struct hd_fmm_box){.extent = side, .leaf_side = side / (1u << depth), .depth = depth, .periodic = 1};
}

int hd_fmm_box_choose(struct hd_fmm_box *box, const struct hd_fmm_costs *costs, const double *xyz, size_t n,
                      double cells)
{
	bounds(box, xyz, n);
	box->leaf_side = box->extent > 0 ? box->extent : 1;
	if (!(box->extent >= HD_FMM_LEAST_EXTENT) || isinf(box->extent))
		return 0; /* one cell */
	if (cells == 0)
		cells = least_cost(*box, costs, xyz, n);
	if (cells < 0)
		return -1;
	box->leaf_side = box->extent / cells * (1 + 0x1p-40); /* so that the last point is in the last leaf */
	box->depth = depth_of(cells);
	return 0;
}
