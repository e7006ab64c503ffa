/* The members of a cluster that run a task as a party: kernels/party.h. */
#ifndef HD_DENSE_CODELETS_PARTY_H
#define HD_DENSE_CODELETS_PARTY_H

#include <dense/kernels/party.h>
#include <heddle/task.h>

static inline int hd_dense_meet(const void *context)
{
	return heddle_context_barrier(context);
}

/* The party of the kernel's cores; a party of one member if the kernel has one core. */
static inline struct hd_party hd_dense_party(const heddle_context *c)
{
	return (struct hd_party){(int)heddle_context_rank(c), (int)heddle_context_cores(c), hd_dense_meet, c};
}

#endif
