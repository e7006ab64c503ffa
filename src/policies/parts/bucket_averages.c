/* The averages that autoheteroprio keeps per bucket. */
#include "bucket_averages.h"
#include <stdlib.h>
#include <string.h>

int hd_averages_init(struct hd_averages *a, size_t n_classes)
{
	*a = (struct hd_averages){.n_classes = n_classes};
	a->use = calloc(n_classes, sizeof *a->use);
	return a->use ? hd_averages_grow(a, 1) : hd_no_memory("the policy's averages");
}

void hd_averages_fini(struct hd_averages *a)
{
	free(a->all);
	free(a->by_class);
	free(a->use);
}

int hd_averages_grow(struct hd_averages *a, size_t n)
{
	n += n / 2;
	struct hd_average *all = realloc(a->all, n * sizeof *all);
	if (!all)
		return hd_no_memory("the policy's averages");
	a->all = all;
	struct hd_class_average *by_class = realloc(a->by_class, n * a->n_classes * sizeof *by_class);
	if (!by_class)
		return hd_no_memory("the policy's averages");
	a->by_class = by_class;
	memset(all + a->n, 0, (n - a->n) * sizeof *all);
	memset(by_class + a->n * a->n_classes, 0, (n - a->n) * a->n_classes * sizeof *by_class);
	a->n = n;
	return HEDDLE_OK;
}
