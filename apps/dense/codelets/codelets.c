/* The codelets of a runtime, made from the tables of this folder. */
#include <dense/cuda/offer.h>
#include <dense/internal.h>
#include <dense/opencl/offer.h>
#include <heddle/opencl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const struct hd_dense_codelet *const tables[] = {hd_dense_products, hd_dense_cholesky, hd_dense_lu,
                                                        hd_dense_qr_codelets, hd_dense_movements};
enum { N_TABLES = sizeof tables / sizeof *tables };

static const char *name_of(const struct hd_dense_codelet *row, int precision)
{
	return hd_dense_is_complex((enum heddle_dense_precision)precision) ? row->complex_name : row->name;
}

/* The first row with the name of `row`. */
static const struct hd_dense_codelet *first_of_name(const struct hd_dense_codelet *row, int precision)
{
	for (int t = 0; t < N_TABLES; t++)
		for (const struct hd_dense_codelet *first = tables[t]; first->name; first++)
			if (strcmp(name_of(first, precision), name_of(row, precision)) == 0)
				return first;
	return row;
}

/* The time in us of a task that only moves data, in virtual time, if the platform has no time for its codelet: on any
 * class the time of a copy by a core. Such tasks are few and short. */
static double moving_time(const struct heddle_size *size, unsigned class_id)
{
	enum { MB_PER_S = 6000 };
	(void)class_id;
	return size->bytes / MB_PER_S;
}

/* Whether the runtime's platform has times for kernels, but no time for this codelet on any class. */
static int lacks_time(const heddle_dense *dense, const char *name)
{
	const struct heddle_platform *platform = heddle_runtime_platform(dense->rt);
	for (size_t i = 0; i < platform->n_kernels; i++)
		if (strcmp(platform->kernels[i].codelet, name) == 0)
			return 0;
	return platform->n_kernels > 0;
}

/* Whether a worker of the runtime's platform runs kernels of this kind. Libraries of accelerators are not loaded for
 * machines without them. */
static int has_kind(const heddle_dense *dense, const char *kind)
{
	const struct heddle_platform *platform = heddle_runtime_platform(dense->rt);
	for (size_t i = 0; i < platform->n_classes; i++)
		if (strcmp(platform->classes[i].kind, kind) == 0)
			return 1;
	return 0;
}

/* Whether all OpenCL devices of the runtime have double precision. If a device lacks it, no OpenCL device gets tasks in
 * double precision. */
static int has_double(const heddle_dense *dense)
{
	const struct heddle_platform *platform = heddle_runtime_platform(dense->rt);
	for (size_t w = 0; w < platform->n_workers; w++)
		if (strcmp(platform->classes[platform->workers[w].class_id].kind, "opencl") == 0 &&
		    !heddle_opencl_has_double(platform->workers[w].device))
			return 0;
	return 1;
}

/* What the accelerators of a runtime are good for. */
struct abilities {
	int cuda, opencl, opencl_double;
};

/* Makes the codelet of a row in this precision, in `all`, which is one of the arrays of struct heddle_dense. */
static int make(heddle_dense *dense, const struct hd_dense_codelet *row, int precision, const struct abilities *can,
                heddle_codelet *all[HD_DENSE_N_OPS])
{
	static const char letters[] = {'d', 's', 'z', 'c'};
	const struct hd_dense_codelet *first = first_of_name(row, precision);
	if (first != row) {
		all[row->op] = all[first->op];
		return 0;
	}
	char name[32];
	snprintf(name, sizeof name, "%c%s", letters[precision], name_of(row, precision));
	struct heddle_codelet_desc desc = {
	    .name = name,
	    .cpu = row->kernels[precision],
	    .flops = row->flops[precision],
	    .footprint = row->footprint,
	    .color = row->color,
	    .parallel = row->parallel,
	};
	if (can->opencl)
		desc.opencl = hd_dense_opencl_kernel(row->op, precision, can->opencl_double);
	if (can->cuda)
		desc.cuda = hd_dense_cuda_kernel(row->op, precision);
	if (!desc.flops && lacks_time(dense, name)) {
		desc.model = HEDDLE_MODEL_GIVEN;
		desc.time = moving_time;
	}
	if (all == dense->hierarchical[precision])
		/* both variants have the same name and therefore the same models */
		desc.subgraph = hd_dense_subgraph_of(row->op);
	return heddle_codelet_create(dense->rt, &desc, &all[row->op]);
}

static struct abilities abilities_of(const heddle_dense *dense)
{
	return (struct abilities){has_kind(dense, "cuda"), has_kind(dense, "opencl"), has_double(dense)};
}

int hd_dense_codelets(heddle_dense *dense)
{
	const struct abilities can = abilities_of(dense);
	for (int precision = 0; precision < HEDDLE_DENSE_PRECISIONS; precision++) {
		for (int t = 0; t < N_TABLES; t++) {
			for (const struct hd_dense_codelet *row = tables[t]; row->name; row++) {
				int status = make(dense, row, precision, &can, dense->codelets[precision]);
				if (status < 0)
					return status;
			}
		}
	}
	return 0;
}

int hd_dense_hierarchical_codelets(heddle_dense *dense, enum heddle_dense_precision precision)
{
	const struct abilities can = abilities_of(dense);
	int status = 0;
	pthread_mutex_lock(&dense->making);
	for (int t = 0; t < N_TABLES && !dense->has_hierarchical[precision]; t++)
		for (const struct hd_dense_codelet *row = tables[t]; row->name && status >= 0; row++)
			if (hd_dense_subgraph_of(row->op))
				status = make(dense, row, (int)precision, &can, dense->hierarchical[precision]);
	dense->has_hierarchical[precision] |= status >= 0;
	pthread_mutex_unlock(&dense->making);
	return status;
}

int hd_dense_cost(enum hd_dense_op op)
{
	for (int t = 0; t < N_TABLES; t++)
		for (const struct hd_dense_codelet *row = tables[t]; row->name; row++)
			if (row->op == op)
				return row->cost;
	return 0;
}

void hd_dense_set_info(size_t *info, size_t row)
{
	if (!info)
		return;
	_Atomic size_t *shared = (_Atomic size_t *)info; /* several tasks may find a row at the same time */
	/* relaxed: a thread that reads the info has waited for the tasks */
	size_t old = atomic_load_explicit(shared, memory_order_relaxed);
	while ((old == 0 || old > row) &&
	       !atomic_compare_exchange_weak_explicit(shared, &old, row, memory_order_relaxed, memory_order_relaxed))
		;
}
