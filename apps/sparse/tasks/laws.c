/* Times in virtual time of the tasks that platforms have no times for, which cores alone run; and what of a machine
 * the cut into subtrees depends on.
 *
 * The laws of subtrees and of assembly are fitted to times measured by bench/sparse_laws.py, which docs/sparse.md has
 * the figures of. What a platform knows of its cores is the rate of tsmqr, so the law of subtrees is in its units. */
#include <sparse/tasks/tasks.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char letters[] = {'d', 's', 'z', 'c'}; /* of the precisions */

/* --- Laws --------------------------------------------------------------------------------------------------------- */

/* A tile is written twice, first with zeros, and as much is read, from memory. */
double hd_sparse_assembly_time(const struct heddle_size *size, unsigned class_id)
{
	static const double begin_us = 6, bytes_per_us = 4400;
	const struct hd_sparse_factor_value *v = size->values[0];
	const struct heddle_part *tile = size->parts[0];
	double bytes = (double)tile->n[0] * (double)tile->n[1] * (double)tile->elem_size;
	return v->rates[class_id] > 0 ? begin_us + bytes / bytes_per_us : NAN;
}

double hd_sparse_subtree_time(const struct heddle_size *size, unsigned class_id)
{
	static const double us_per_front = 2.6;
	const struct hd_sparse_factor_value *v = size->values[0];
	const struct hd_sparse_subtree *tree = &v->qr->analysis->subtrees[v->front];
	double rate = v->rates[class_id],
	       work = v->qr->precision >= HEDDLE_DENSE_COMPLEX_DOUBLE ? 4 * tree->work : tree->work;
	return rate > 0 ? us_per_front * (double)(tree->root - tree->first_front + 1) + work / rate : NAN;
}

/* Not measured: data as fast as a core copies, operations at a third of the rate of tiles. */
double hd_sparse_solve_time(const struct heddle_size *size, unsigned class_id)
{
	static const double bytes_per_us = 6000, share = 1. / 3;
	const struct hd_sparse_solve_value *v = size->values[0];
	double rate = v->rates[class_id] * share;
	return rate > 0 ? size->bytes / bytes_per_us + v->flops / rate : NAN;
}

/* --- Rates -------------------------------------------------------------------------------------------------------- */

/* Operations per us of tsmqr on tiles of this order; 0: the platform has no time for it. */
static double rate_of(const struct heddle_platform *platform, int precision, unsigned class_id, double tile)
{
	static const double bytes_of_tiles = 3 * 8;
	const char name[] = {letters[precision], 't', 's', 'm', 'q', 'r', 0};
	double flops = 4 * tile * tile * tile * (precision >= HEDDLE_DENSE_COMPLEX_DOUBLE ? 4 : 1);
	double us = heddle_platform_time(platform, name, class_id, bytes_of_tiles * tile * tile, flops);
	return us > 0 ? flops / us : 0;
}

static int is_core(const struct heddle_class *c)
{
	return strcmp(c->kind, "cpu") == 0;
}

int hd_sparse_find_rates(struct heddle_sparse *sparse)
{
	static const double large_tile = 1e4, slow_core = 1000;
	const struct heddle_platform *platform = heddle_runtime_platform(sparse->rt);
	sparse->rates = calloc(HEDDLE_DENSE_PRECISIONS * platform->n_classes, sizeof *sparse->rates);
	if (!sparse->rates)
		return hd_sparse_no_memory("the rates of sparse codelets");
	for (size_t i = 0; i < HEDDLE_DENSE_PRECISIONS * platform->n_classes; i++) {
		unsigned class_id = (unsigned)(i % platform->n_classes);
		double rate = rate_of(platform, (int)(i / platform->n_classes), class_id, large_tile);
		if (is_core(&platform->classes[class_id]))
			sparse->rates[i] = rate > 0 ? rate : slow_core;
	}
	return 0;
}

/* --- The machine -------------------------------------------------------------------------------------------------- */

/* Where the platform has no times, nothing is known but what kind of accelerator a class is: in cores. */
static double guess(const struct heddle_class *c)
{
	static const double cuda_cores = 30; /* a V100 on tiles of 512, by its platform's times */
	return strcmp(c->kind, "cuda") == 0 ? cuda_cores : is_core(c) || strcmp(c->kind, "emulated") == 0;
}

struct hd_sparse_machine hd_sparse_machine_of(const struct heddle_sparse *sparse, enum heddle_dense_precision precision,
                                              size_t tile)
{
	const struct heddle_platform *platform = heddle_runtime_platform(sparse->rt);
	double cores = 0, of_cores = 0, of_all = 0, fastest = 0;
	for (size_t w = 0; w < platform->n_workers; w++) {
		unsigned class_id = platform->workers[w].class_id;
		const struct heddle_class *c = &platform->classes[class_id];
		if (platform->workers[w].retired)
			continue;
		double rate =
		    platform->n_kernels ? rate_of(platform, (int)precision, class_id, (double)tile) : guess(c);
		of_all += rate;
		fastest = fmax(fastest, rate);
		if (is_core(c)) {
			cores++;
			of_cores += rate;
		}
	}
	if (of_cores == 0) /* then there are no subtrees that any worker could run, or nothing is known of cores */
		return (struct hd_sparse_machine){1, 1, 1, tile};
	double core = of_cores / cores;
	return (struct hd_sparse_machine){cores, of_all / core, fastest / core, tile};
}
