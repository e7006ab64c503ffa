/* Brings all data to main memory. Virtual time begins with all data there, so measurements that are compared with
 * virtual time must begin in this state, too. */
#include "bring_home.h"
#include <stdlib.h>
#include "errands.h"
#include "state/core_lock.h"
#include "state/data.h"

/* Whether the program may write the datum, and a node other than main memory has a valid replica. */
static int is_away(const heddle_data *d)
{
	if (hd_data_closed(d) != HD_OPEN || d->read_only || d->poisoned)
		return 0;
	for (size_t n = 1; n < d->rt->n_nodes; n++)
		if (d->replicas[n].valid)
			return 1;
	return 0;
}

/* The data that are away. The caller owns the array. NULL: out of memory. */
static heddle_data **find_away(heddle_runtime *rt, size_t *n)
{
	size_t all = 1;
	*n = 0;
	hd_core_enter(rt);
	for (const heddle_data *d = rt->handles.list; d; d = d->next)
		all++;
	heddle_data **away = malloc(all * sizeof *away);
	for (heddle_data *d = away ? rt->handles.list : NULL; d; d = d->next)
		if (is_away(d))
			away[(*n)++] = d;
	hd_core_leave(rt);
	return away;
}

int hd_data_bring_home(heddle_runtime *rt)
{
	size_t n;
	heddle_data **away = find_away(rt, &n);
	int status = away ? 0 : hd_no_memory("the data that are not in main memory");
	for (size_t i = 0; i < n && !status; i++) {
		status = heddle_acquire(away[i], HEDDLE_RW);
		if (!status)
			status = heddle_release(away[i]);
	}
	free(away);
	return status;
}
