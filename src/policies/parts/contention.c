/* Contention of transfers (contention.h). */
#include "contention.h"
#include <math.h>

/* The factor by which a transfer on `link` takes longer if main memory exchanges data with every other node at the same
 * time, in both directions. */
static double bus_contention(const struct heddle_platform *p, const struct heddle_link *link)
{
	double worst = 1;
	for (size_t b = 0; b < link->n_buses; b++) {
		double wanted = 0;
		for (size_t l = 0; l < p->n_links; l++)
			for (size_t i = 0; i < p->links[l].n_buses; i++)
				if (p->links[l].buses[i] == link->buses[b] &&
				    (p->links[l].from == 0 || p->links[l].to == 0))
					wanted += heddle_link_rate(p, &p->links[l]);
		worst = fmax(worst, wanted / p->buses[link->buses[b]].bandwidth);
	}
	return worst;
}

double hd_contention(const struct heddle_platform *p, unsigned node, int how)
{
	double worst = 1;
	if (how == HD_ALL) /* the formula of StarPU's starpu_transfer_predict */
		return p->n_nodes > 1 ? 2.0 * (double)(p->n_nodes - 1) : 1;
	for (size_t l = 0; how == HD_BUSES && l < p->n_links; l++)
		if (p->links[l].to == node && (node == 0 || p->links[l].from == 0))
			worst = fmax(worst, bus_contention(p, &p->links[l]));
	return worst;
}
