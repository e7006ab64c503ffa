/* Transfers: copies of data between memories, and the prefetches among them. The core lock guards them. */
#ifndef HD_TRANSFER_H
#define HD_TRANSFER_H

#include <heddle/data.h>

struct hd_access;

enum hd_reason { HD_DEMAND, HD_PREFETCH, HD_WRITE_BACK };

/* How soon a transfer must move, the most urgent first. In the same order the lists of a lane, which has one more. */
enum hd_urgency {
	HD_AWAITED, /* a task waits for the datum, or for the room of what is written back */
	HD_HINTED,  /* a prefetch: a task will probably need the datum */
	HD_URGENCIES,
	HD_BEHIND = HD_URGENCIES, /* not an urgency: transfers that cannot move yet, because they follow another */
	HD_LANE_LISTS
};

/* A transfer of a datum from one node to another. From its beginning until the engine takes it, to move it, it waits in
 * its lane. */
struct hd_transfer {
	heddle_data *data;
	struct hd_transfer *next;                  /* of the same datum */
	struct hd_transfer *lane_next, *lane_prev; /* in its list of the lane; the engine's while it moves */
	/* accesses of tasks that wait for it, in order of arrival; the last is undefined if there is none */
	struct hd_access *waiters, *last_waiter;
	struct hd_transfer *behind; /* second hop: cannot move until `behind` has ended; NULL then */
	uint16_t from, to;
	/* reason: enum hd_reason; a prefetch that a task waits for before it moves becomes a demand. evict: the source
	 * is freed afterwards */
	uint8_t reason, evict;
	uint8_t urgency; /* enum hd_urgency; does not change any more while it moves */
	uint8_t moving;  /* the engine has taken it from its lane */
	uint8_t told;    /* the engine's: whether the driver tells when the copy has ended */
	void *event;     /* the engine's: the driver's, while the copy is under way */
	uint8_t ended;   /* it has, and is about to be freed */
	int status;
	uint64_t leaves;   /* bytes that are free when it has ended, as far as is counted: hd_write_back */
	double expected;   /* the engine's: us that it is expected to take */
	double start, end; /* us */
};

/* The transfers that wait to be moved into a node, or out of one to main memory: of each urgency, and those behind
 * others. Within a list the one that came first is first. */
struct hd_lane {
	struct hd_transfer *first[HD_LANE_LISTS], *last[HD_LANE_LISTS];
};

/* A prefetch that waits until a block of memory has been allocated. */
struct hd_hint {
	struct hd_hint *next;
	heddle_data *data; /* borrowed: a datum that ends takes its hints along */
};

#endif
