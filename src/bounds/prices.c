/* Prices of the time of classes, by which the work of any set of tasks is a lower bound of the time that the set takes:
 * the sum, over the tasks, of the least price * time of any class, if the prices of all workers add up to 1 (area.c).
 * Each linear program gives the best prices for one set. The prices of a few sets are kept, because they are good for
 * other sets, too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "bounds/near.h"

int hd_prices_init(struct hd_prices *p, const struct hd_costed *graph)
{
	size_t n = graph->n_tasks, n_classes = graph->n_classes;
	*p = (struct hd_prices){.graph = graph, .work = calloc(HD_PRICES * n + 1, sizeof *p->work)};
	int status = p->work ? hd_types_init(&p->types, graph) : hd_no_memory("bounds");
	if (status)
		return status;
	p->counts = malloc((p->types.n + 1) * sizeof *p->counts);
	p->sums = malloc((p->types.n * n_classes + 1) * sizeof *p->sums);
	return p->counts && p->sums ? 0 : hd_no_memory("bounds");
}

void hd_prices_free(struct hd_prices *p)
{
	hd_types_free(&p->types);
	free(p->work);
	free(p->counts);
	free(p->sums);
}

/* What each type adds to the time of a set, by new prices: the least cost, divided by the cost of all workers' time. */
static void price_types(struct hd_prices *p, const struct hd_area *area, const double *price)
{
	const struct hd_bound_types *types = &p->types;
	double of_core = area->n_cores > 0 ? price[area->n_classes] : 0, whole = of_core * area->n_cores;
	for (size_t c = 0; c < area->n_classes; c++)
		whole += price[c] * area->capacity[c];
	for (size_t t = 0; t < types->n; t++) {
		double least = INFINITY;
		for (size_t c = 0; c < area->n_classes; c++) {
			double cost = (price[c] + of_core * area->cores[c]) * types->times[t * area->n_classes + c];
			if (area->capacity[c] > 0 && cost < least) /* NAN is not */
				least = cost;
		}
		p->counts[t] = whole > 0 ? least / whole : 0;
	}
}

static void add(struct hd_prices *p, const struct hd_area *area, const double *price)
{
	size_t k = p->next;
	price_types(p, area, price);
	for (size_t i = 0; i < p->graph->n_tasks; i++)
		p->work[i * HD_PRICES + k] = p->counts[p->types.of[i]];
	p->n = k + 1 > p->n ? k + 1 : p->n;
	p->next = k + 1 < HD_PRICES ? k + 1 : 1; /* the prices of all tasks stay */
}

/* Adds up the work of each type in the set; types without tasks in the set are left out. */
static void sum_up(struct hd_prices *p, const double *start, const double *rest, const struct hd_bound_window *window,
                   struct hd_area *area)
{
	const struct hd_bound_types *types = &p->types;
	size_t n_classes = p->graph->n_classes;
	memset(p->counts, 0, types->n * sizeof *p->counts);
	for (size_t i = 0; i < p->graph->n_tasks; i++)
		p->counts[types->of[i]] += start[i] >= window->from && rest[i] >= window->left;
	area->n_types = 0;
	area->work = p->sums;
	for (size_t t = 0; t < types->n; t++) {
		if (p->counts[t] <= 0)
			continue;
		for (size_t c = 0; c < n_classes; c++)
			p->sums[area->n_types * n_classes + c] = types->times[t * n_classes + c] * p->counts[t];
		area->n_types++;
	}
}

int hd_prices_find(struct hd_prices *p, const double *start, const double *rest, const struct hd_bound_window *window,
                   double *out)
{
	struct hd_area area;
	double *capacity = NULL, *price = calloc(p->graph->n_classes + 2, sizeof *price);
	int status = price ? hd_area_of(p->graph, &area, &capacity) : hd_no_memory("bounds");
	if (!status) {
		sum_up(p, start, rest, window, &area);
		status = hd_area_bound(&area, price, out);
	}
	if (!status)
		add(p, &area, price);
	free(capacity);
	free(price);
	return status;
}
