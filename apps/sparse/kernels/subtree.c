/* Subtrees by one thread (Duff, Reid: The multifrontal solution of indefinite sparse symmetric linear systems, 1983):
 * fronts in postorder, each above the contributions of its children on a stack, which its own contribution replaces. */
#include <sparse/kernels/subtree.h>

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static size_t contribution_of(const struct hd_sparse_front *front)
{
	return front->n_contributed * hd_sparse_rest(front);
}

/* Elements of the contributions of all children of a front. */
static size_t contributions_to(const struct heddle_sparse_analysis *a, const struct hd_sparse_front *front)
{
	size_t sum = 0;
	for (size_t c = front->first_child; c != HD_SPARSE_NONE; c = a->fronts[c].next_sibling)
		sum += contribution_of(&a->fronts[c]);
	return sum;
}

/* Elements of the stack; the most rows of a front. */
static size_t stack_of(const struct hd_sparse_job *job, size_t *most_rows)
{
	const struct heddle_sparse_analysis *a = job->analysis;
	size_t top = 0, most = 0;
	*most_rows = 1;
	for (size_t f = job->tree->first_front; f <= job->tree->root; f++) {
		const struct hd_sparse_front *front = &a->fronts[f];
		*most_rows = larger(*most_rows, front->n_rows);
		most = larger(most, top + front->n_rows * front->n_columns);
		top += contribution_of(front) - contributions_to(a, front);
	}
	return most;
}

size_t hd_sparse_subtree_small_work(const struct hd_sparse_job *job)
{
	size_t rows;
	stack_of(job, &rows);
	return hd_qr_work((int)rows, (int)job->packing.inner);
}

size_t hd_sparse_subtree_work(const struct hd_sparse_job *job)
{
	size_t rows, stack = stack_of(job, &rows), inner = job->packing.inner;
	return stack + hd_qr_work((int)rows, (int)inner) + inner * inner;
}

#define HD_TEMPLATE <sparse/kernels/subtree_template.h>
#include <dense/kernels/precisions.h>
