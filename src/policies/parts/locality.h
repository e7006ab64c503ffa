/* The locality of LAHeteroprio: the node in whose list a ready task waits, and the order in which a worker looks into
 * the lists of the nodes. B. Bramas, "Impact study of data locality on task-based applications through the Heteroprio
 * scheduler", PeerJ Computer Science 5:e190 (2019); LS_SDH2 is also equation 3 of the MultiPrio paper.
 *
 * R_m, W_m: bytes of the task's data that are valid on node m and that the task only reads (R_m), or writes (W_m). R,
 * W: the same sums over all data, valid on m or not. N: number of data that the task writes; n_m: number of these data
 * that are valid on m. Choice: the share in LC_SMWB is n_m / N; LC_SMWB_N is the other reading of the paper. See
 * docs/policy-study.md, "Where a paper can be read in two ways".
 */
#ifndef HD_POLICIES_PARTS_LOCALITY_H
#define HD_POLICIES_PARTS_LOCALITY_H

#include <heddle/policy.h>

enum hd_locality {
	HD_LOCALITY_NONE,    /* one list for all nodes */
	HD_LOCALITY_WORKER,  /* the node of the worker that made the task ready */
	HD_LOCALITY_LCS,     /* least predicted transfer time */
	HD_LOCALITY_LS_SDH,  /* most R_m + W_m */
	HD_LOCALITY_LS_SDH2, /* most R_m + sum of the squares of the written sizes */
	HD_LOCALITY_LS_SDHB, /* most R_m + 1000 W_m n_m */
	HD_LOCALITY_LC_SMWB, /* least (R - R_m) + (W - W_m) (2 - n_m / N) */
	/* LC_SMWB with the factor (2 - N / number of all the task's data). StarPU has this formula, under the name
	 * LS_SDHB, and LS_SDHB under the name LC_SMWB. */
	HD_LOCALITY_LC_SMWB_N,
};
#define HD_LOCALITY_NAMES "none|worker|LcS|LS_SDH|LS_SDH2|LS_SDHB|LC_SMWB|LC_SMWB_N"

/* Of a task on a node: R_m, W_m, n_m, and the sum of the squares of the sizes of the data in W_m. */
struct hd_presence {
	double read, written, pieces, squares;
};

/* Sets scores[m] to the score of node m for a task, for the nodes 0 to n - 1; higher is better. HD_LOCALITY_WORKER
 * gives 1 for `releaser_node` and 0 for all other nodes. `releaser_node` -1: no worker has released the task, and all
 * scores are 0. `scratch` has room for n. */
void hd_locality_scores(enum hd_locality how, const heddle_task *t, int releaser_node, size_t n,
                        struct hd_presence *scratch, double *scores);

/* Distance from node i to the lists of node j, 0 to 1. One half is the time to bring data from j to i, relative to the
 * slowest way (`relative_time`). The other half compares the orders in which the workers of the two nodes take from the
 * n buckets, order_i and order_j: the more the orders differ, the nearer is the node, because then a worker takes few
 * tasks that the node's own workers want. */
double hd_locality_distance(const size_t *order_i, const size_t *order_j, size_t n, double relative_time);
/* Time, in us, to bring a megabyte from one node to another, through main memory if there is no direct link. */
double hd_locality_transfer(const struct heddle_platform *platform, unsigned from, unsigned to);

#endif
