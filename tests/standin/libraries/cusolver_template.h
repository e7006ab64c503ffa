/* One precision of cusolver.c. */

static void P(potrf)(void *arg)
{
	struct task *t = arg;
	memset(standin_memory(t->buffer), 0xaa, t->bytes);
	*(int *)standin_memory(t->info) =
	    LAPACK(potrf_work)(LAPACK_COL_MAJOR, t->lower ? 'L' : 'U', t->n, standin_memory(t->a), t->ld);
}

/* Without pivots. Returns the first that is zero, counted from 1. */
static int P(factor)(int m, int n, element *a, int ld)
{
	int info = 0;
	for (int k = 0; k < m && k < n; k++) {
		element pivot = a[k + k * ld];
		if (pivot == 0 && info == 0)
			info = k + 1;
		for (int i = k + 1; i < m; i++)
			a[i + k * ld] /= pivot;
		for (int j = k + 1; j < n; j++)
			for (int i = k + 1; i < m; i++)
				a[i + j * ld] -= a[i + k * ld] * a[k + j * ld];
	}
	return info;
}

static void P(getrf)(void *arg)
{
	struct task *t = arg;
	element *a = standin_memory(t->a);
	int *info = standin_memory(t->info);
	memset(standin_memory(t->buffer), 0xaa, t->bytes);
	if (!t->pivots) {
		*info = P(factor)(t->m, t->n, a, t->ld);
		return;
	}
	int pivots[MOST_PIVOTS];
	int64_t *wide = standin_memory(t->pivots);
	*info = LAPACK(getrf_work)(LAPACK_COL_MAJOR, t->m, t->n, a, t->ld, pivots);
	for (int i = 0; i < t->m && i < t->n; i++)
		wide[i] = pivots[i];
}
