/* The largest norm of a column of F, for one precision. Sums are of numbers that the largest element is 1 of, so that
 * they do not overflow. Duplicates are taken by themselves. HEDDLE_E_MEMORY. */
static int P(largest_column)(const struct heddle_sparse_analysis *a, const void *all, double *out)
{
	const element *values = all;
	double *sums = calloc(a->columns + 1, sizeof *sums), most = 0, largest = 0;
	if (!sums)
		return hd_sparse_no_memory("the norms of columns");
	for (size_t e = 0; e < a->n_elements; e++)
		most = fmax(most, (double)ABS(values[a->source[e]]));
	for (size_t e = 0; most > 0 && e < a->n_elements; e++)
		sums[a->column[e]] += pow((double)ABS(values[a->source[e]]) / most, 2);
	for (size_t j = 0; j < a->columns; j++)
		largest = fmax(largest, sums[j]);
	free(sums);
	*out = most * sqrt(largest);
	return 0;
}
