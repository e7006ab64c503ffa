/* The locality of LAHeteroprio: scores and distances (locality.h). */
#include "locality.h"
#include <math.h>

struct presence {
	double read, written;         /* R_m, W_m */
	double all_read, all_written; /* R, W */
	double squares;               /* sum of the squares of the sizes that W_m adds up */
	double pieces, all_pieces;    /* n_m, N */
	double data;                  /* how many data the task reads or writes */
};

static struct presence look(const heddle_task *t, unsigned node)
{
	struct presence p = {0};
	for (size_t i = 0; i < heddle_task_n_data(t); i++) {
		const heddle_data *d = heddle_task_data(t, i);
		enum heddle_mode mode = heddle_task_mode(t, i);
		double bytes = (double)heddle_data_bytes(d), here = heddle_data_valid_on(d, node) ? 1 : 0;
		p.data += (mode & (HEDDLE_R | HEDDLE_W | HEDDLE_COMMUTE)) != 0;
		if (mode == HEDDLE_R) {
			p.read += here * bytes;
			p.all_read += bytes;
		} else if (mode == HEDDLE_W || mode == HEDDLE_RW ||
		           /* private copies (SCRATCH, REDUX) do not count: they are on no node yet */
		           mode == HEDDLE_COMMUTE) {
			p.written += here * bytes;
			p.squares += here * bytes * bytes;
			p.all_written += bytes;
			p.pieces += here;
			p.all_pieces++;
		}
	}
	return p;
}

double hd_locality_score(enum hd_locality how, const heddle_task *t, unsigned node, int releaser_node)
{
	if (how == HD_LOCALITY_NONE || how == HD_LOCALITY_WORKER)
		return how == HD_LOCALITY_WORKER && (int)node == releaser_node;
	if (how == HD_LOCALITY_LCS)
		return -heddle_task_transfer_time(t, node);
	struct presence p = look(t, node);
	switch (how) {
	case HD_LOCALITY_LS_SDH: return p.read + p.written;
	case HD_LOCALITY_LS_SDH2: return p.read + p.squares;
	case HD_LOCALITY_LS_SDHB: return p.read + 1000 * p.written * p.pieces;
	default: break;
	}
	/* LC_SMWB: the share of the written pieces that are on the node, or of the task's data that it writes */
	double share = how == HD_LOCALITY_LC_SMWB ? p.pieces / fmax(p.all_pieces, 1) : p.all_pieces / fmax(p.data, 1);
	return -((p.all_read - p.read) + (p.all_written - p.written) * (2 - share));
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
		return 0; /* cannot happen: heddle_platform_check demands links from and to node 0 */
	return hd_locality_transfer(platform, from, 0) + hd_locality_transfer(platform, 0, to);
}
