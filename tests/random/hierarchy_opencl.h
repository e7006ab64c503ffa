/* The kernels of random_hierarchy.c for OpenCL devices. */
#ifndef RANDOM_HIERARCHY_OPENCL_H
#define RANDOM_HIERARCHY_OPENCL_H

#include "hierarchy_program.h"
#include "opencl_kernels.h"

/* What run_op does, put on the stream, whose kernels run one after the other: w[i] is datum i of the operation. */
static inline int run_op_opencl(heddle_context *c, const struct program *p, const struct op *op,
                                const struct opencl_window *w)
{
	int modes[MAX_ACCESS], status = 0;
	struct _cl_mem *sum;
	for (unsigned i = 0; i < op->n; i++)
		modes[i] = op->access[i].mode;
	if (op->body < 0)
		return compute_windows_opencl(c, op->k, op->n, modes, w, &sum);
	for (int at = op->body; at >= 0 && !status; at = p->ops[at].next) {
		const struct op *inner = &p->ops[at];
		struct opencl_window part[MAX_ACCESS] = {{0}};
		for (unsigned i = 0; i < inner->n; i++)
			for (unsigned k = 0; k < op->n; k++) {
				const struct node *n = &p->nodes[inner->access[i].node],
				                  *whole = &p->nodes[op->access[k].node];
				if (!is_in(p, inner->access[i].node, op->access[k].node))
					continue;
				part[i] = w[k];
				part[i].offset += n->i - whole->i + (n->j - whole->j) * w[k].mem.ld;
				part[i].mem.m = n->m;
				part[i].mem.n = n->n;
			}
		status = run_op_opencl(c, p, inner, part);
	}
	return status;
}

#endif
