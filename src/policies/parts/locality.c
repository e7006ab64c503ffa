/* The locality of LAHeteroprio: scores and distances (locality.h). */
#include "locality.h"
#include <math.h>
#include <string.h>

/* Sums over all data of a task. */
struct work {
	double read, written; /* R, W */
	double pieces;        /* N */
	double data;          /* number of data that the task reads or writes */
};

/* Sums up a task's data; and, in `on`, its data that are valid on each of n nodes. Private copies (SCRATCH, REDUX) do
 * not count: they are on no node yet. */
static struct work look(const heddle_task *t, size_t n, struct hd_presence *on)
{
	struct work all = {0};
	memset(on, 0, n * sizeof *on);
	for (size_t i = 0; i < heddle_task_n_data(t); i++) {
		const heddle_data *d = heddle_task_data(t, i);
		enum heddle_mode mode = heddle_task_mode(t, i);
		int reads = mode == HEDDLE_R, writes = (mode & (HEDDLE_W | HEDDLE_COMMUTE)) != 0;
		if (!reads && !writes)
			continue;
		double bytes = (double)heddle_data_bytes(d);
		all.data++;
		all.read += reads ? bytes : 0;
		all.written += writes ? bytes : 0;
		all.pieces += writes;
		for (unsigned m = 0; m < n; m++) {
			if (!heddle_data_valid_on(d, m))
				continue;
			on[m].read += reads ? bytes : 0;
			on[m].written += writes ? bytes : 0;
			on[m].squares += writes ? bytes * bytes : 0;
			on[m].pieces += writes;
		}
	}
	return all;
}

static double score(enum hd_locality how, const struct work *all, const struct hd_presence *on)
{
	switch (how) {
	case HD_LOCALITY_LS_SDH: return on->read + on->written;
	case HD_LOCALITY_LS_SDH2: return on->read + on->squares;
	case HD_LOCALITY_LS_SDHB: return on->read + 1000 * on->written * on->pieces;
	default: break;
	}
	/* LC_SMWB: the share of the written data that are valid on the node; LC_SMWB_N: the share of the
	 * task's data that are written */
	double share =
	    how == HD_LOCALITY_LC_SMWB ? on->pieces / fmax(all->pieces, 1) : all->pieces / fmax(all->data, 1);
	return -((all->read - on->read) + (all->written - on->written) * (2 - share));
}

void hd_locality_scores(enum hd_locality how, const heddle_task *t, int releaser_node, size_t n,
                        struct hd_presence *scratch, double *scores)
{
	int looks = how != HD_LOCALITY_NONE && how != HD_LOCALITY_WORKER && how != HD_LOCALITY_LCS;
	struct work all = looks ? look(t, n, scratch) : (struct work){0};
	for (unsigned m = 0; m < n; m++) {
		if (looks)
			scores[m] = score(how, &all, &scratch[m]);
		else if (how == HD_LOCALITY_LCS)
			scores[m] = -heddle_task_transfer_time(t, m);
		else
			scores[m] = how == HD_LOCALITY_WORKER && (int)m == releaser_node;
	}
}

/* Spearman's footrule between two orders, divided by its largest possible value; 0: the orders are equal. The inner
 * loop starts at the same place in the other order, so that similar orders take little time. */
static double rank_distance(const size_t *order_i, const size_t *order_j, size_t n)
{
	double sum = 0;
	for (size_t r = 0; r < n; r++)
		for (size_t away = 0; away < n; away++)
			if ((r >= away && order_j[r - away] == order_i[r]) ||
			    (r + away < n && order_j[r + away] == order_i[r])) {
				sum += (double)away;
				break;
			}
	double greatest = floor((double)n * (double)n / 2);
	return greatest > 0 ? sum / greatest : 0;
}

double hd_locality_distance(const size_t *order_i, const size_t *order_j, size_t n, double relative_time)
{
	return 0.5 * (1 - rank_distance(order_i, order_j, n)) + 0.5 * relative_time;
}

double hd_locality_transfer(const struct heddle_platform *platform, unsigned from, unsigned to)
{
	const double bytes = 1e6;
	if (from == to)
		return 0;
	const struct heddle_link *direct = heddle_platform_link(platform, from, to);
	if (direct)
		return direct->latency + bytes / heddle_link_rate(platform, direct);
	if (from == 0 || to == 0)
		return 0; /* not reached: heddle_platform_check demands links from and to node 0 */
	return hd_locality_transfer(platform, from, 0) + hd_locality_transfer(platform, 0, to);
}
