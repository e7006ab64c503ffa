/* Predictions of how long it takes to bring data to nodes, us (fetch_times.c). The caller of each function holds the
 * core lock. */
#ifndef HD_MEMORY_FETCH_TIMES_H
#define HD_MEMORY_FETCH_TIMES_H

#include <heddle/data.h>
#include <heddle/runtime.h>
#include <stddef.h>
#include <stdint.h>

/* The node from which the datum can be brought to `to` fastest, the first one of equal nodes; *best_time: the time, us.
 * -1: no node has a valid replica, and *best_time is 0. */
int hd_cheapest_source(const heddle_data *d, unsigned to, double *best_time);
/* The predicted time, us, to bring the datum to `node`; 0 if it is there or on the way. */
double hd_fetch_time(const heddle_data *d, unsigned node);
/* Adds hd_fetch_time for each node to us[node]. */
void hd_fetch_times_add(const heddle_data *d, double *us);

/* The sums of hd_fetch_time over some data, for all nodes, where few of many nodes have any of the data: the nodes that
 * are *apart*. The sums of the other nodes depend on the link from main memory alone. The arrays have room for all
 * nodes and belong to the caller. */
struct hd_fetch_times {
	double *far; /* of the nodes that hd_hops.distinct lists: us, for nodes alike that are not apart */
	double *us;  /* of the nodes in `nodes`: us */
	/* the nodes that are apart, in no order: main memory, and each node that may hold a replica of one of the
	 * data */
	unsigned *nodes;
	size_t n;
	uint64_t apart;  /* the nodes in `nodes`, as bits, of which each may stand for several nodes (HD_NODE_BITS) */
	uint64_t shared; /* the bits that stand for several nodes each, and that of main memory */
};
/* Whether these sums are worth while: accelerators have no links between them, and many are alike. */
int hd_fetch_times_pay(const heddle_runtime *rt);
/* Begins a sum. */
void hd_fetch_times_open(const heddle_runtime *rt, struct hd_fetch_times *times);
/* Adds hd_fetch_time of a datum. Returns 0 if the times of all nodes may differ; then the sum is of no use. */
int hd_fetch_times_join(const heddle_data *d, struct hd_fetch_times *times);

#endif
