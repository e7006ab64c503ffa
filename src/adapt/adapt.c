/* Opens and closes the heuristics of a runtime. */
#include "adapt.h"
#include <stdlib.h>
#include "state/data.h"
#include "state/runtime.h"

int hd_adapt_open(heddle_runtime *rt)
{
	rt->adapt.datum_at = hd_data_handle_bytes(rt);
	int status = hd_expansions_open(rt);
	if (!status)
		status = hd_trust_open(rt);
	return status ? status : hd_clusters_open(rt);
}

void hd_adapt_close(heddle_runtime *rt)
{
	free(rt->adapt.expansions);
	hd_clusters_close(rt);
	hd_trust_close(rt);
}
