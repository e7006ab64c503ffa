/* Ends a datum: frees its replicas, then its handle. */
#include "handle_end.h"
#include "misuse/misuse.h"
#include "state/data.h"
#include "state/runtime.h"
#include "allocation.h"
#include "transfers.h"

void hd_data_free(heddle_data *d)
{
	heddle_runtime *rt = d->rt;
	HD_HELD(&rt->lock);
	if (HD_UNLIKELY(rt->misuse != NULL))
		hd_misuse_datum_ends(d);
	while (d->transfers) /* the engine is closed: its transfers will not end */
		hd_transfer_discard(d->transfers);
	hd_adapt_replaced(&rt->adapt, d, SIZE_MAX);
	for (size_t i = 0; i < rt->n_nodes; i++) {
		struct hd_replica *r = &d->replicas[i];
		if (HD_UNLIKELY(r->hinted))
			hd_prefetch_forget(r);
		if (r->ptr || r->valid || r->window)
			hd_memory_free(r);
	}
	hd_handle_unlist(d);
	if (HD_UNLIKELY(rt->misuse != NULL))
		hd_misuse_retire_datum(d);
	else
		hd_data_reuse(d);
}

void hd_data_abandon(heddle_data *d)
{
	HD_HELD(&d->rt->lock);
	hd_drop_unawaited(d);
	if (!d->transfers) {
		hd_data_free(d);
		return;
	}
	d->orphan = 1;
	hd_handle_enlist(d); /* heddle_stop frees the handles in the list, if it is called before the transfers end */
}
