/* Makes kernel times of a platform from measured means. */
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "perf/internal.h"

struct measured {
	double bytes, us, samples;
};

static int by_bytes(const void *pa, const void *pb)
{
	double a = ((const struct measured *)pa)->bytes, b = ((const struct measured *)pb)->bytes;
	return (a > b) - (a < b);
}

/* Fills `out` with the measured means of one class, one per size in bytes, in ascending order. Returns their number. */
static size_t gather(const struct hd_perf_model *model, unsigned class_id, struct measured *out)
{
	size_t n_all = 0, n = 0;
	HD_PERF_EACH_ENTRY(model, e)
	if (e->cells[class_id].samples)
		out[n_all++] = (struct measured){e->bytes, e->cells[class_id].mean, e->cells[class_id].samples};
	qsort(out, n_all, sizeof *out, by_bytes);
	for (size_t i = 0; i < n_all; i++) {
		struct measured *last = n ? &out[n - 1] : NULL;
		if (last && last->bytes == out[i].bytes) {
			last->samples += out[i].samples;
			last->us += (out[i].us - last->us) * out[i].samples / last->samples;
		} else {
			out[n++] = out[i];
		}
	}
	return n;
}

/* Makes the table of a codelet on one class; *n is 0 if nothing was measured. -1: out of memory. */
static int make_table(const struct hd_perf_model *model, unsigned class_id, struct heddle_kernel_point **out, size_t *n)
{
	struct measured *measured = calloc(model->n_entries + 1, sizeof *measured);
	struct heddle_kernel_point *table = calloc(model->n_entries + 1, sizeof *table);
	if (measured && table) {
		*n = gather(model, class_id, measured);
		for (size_t i = 0; i < *n; i++)
			table[i] = (struct heddle_kernel_point){measured[i].bytes, measured[i].us};
		*out = table;
	}
	int failed = !measured || !table;
	free(measured);
	if (failed)
		free(table);
	return failed ? -1 : 0;
}

static void free_kernels(struct heddle_kernel_time *kernels, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(kernels[i].codelet);
		free(kernels[i].table);
	}
	free(kernels);
}

/* If the codelet was measured on class `from`, appends its table for class `to` to list->kernels. -1: out of memory. */
static int add_kernel(const struct hd_perf_model *model, unsigned from, unsigned to, struct heddle_platform *list)
{
	struct heddle_kernel_time k = {.class_id = to};
	if (make_table(model, from, &k.table, &k.n_table))
		return -1;
	if (!k.n_table) {
		free(k.table);
		return 0;
	}
	struct heddle_kernel_time *larger = realloc(list->kernels, (list->n_kernels + 1) * sizeof k);
	k.codelet = strdup(model->name);
	if (larger)
		list->kernels = larger;
	if (!larger || !k.codelet) {
		free(k.codelet);
		free(k.table);
		return -1;
	}
	list->kernels[list->n_kernels++] = k;
	return 0;
}

int hd_perf_to_platform(const struct hd_perf *perf, struct heddle_platform *platform)
{
	if (perf->from_platform)
		return 0;
	struct heddle_platform list = {0}; /* only its kernels are used */
	int failed = 0;
	for (const struct hd_perf_model *m = perf->models; m; m = m->next)
		for (unsigned from = 0; from < perf->platform->n_classes; from++)
			for (unsigned to = 0; to < platform->n_classes; to++)
				if (!failed &&
				    strcmp(perf->platform->classes[from].name, platform->classes[to].name) == 0)
					failed = add_kernel(m, from, to, &list);
	if (failed) {
		free_kernels(list.kernels, list.n_kernels);
		return hd_no_memory("kernel times");
	}
	free_kernels(platform->kernels, platform->n_kernels);
	platform->kernels = list.kernels;
	platform->n_kernels = list.n_kernels;
	return 0;
}
