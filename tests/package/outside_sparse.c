/* A program outside Heddle's tree that uses libheddle-sparse. Prints the version. */
#include <heddle/sparse.h>
#include <stdio.h>

int main(void)
{
	struct heddle_sparse_matrix matrix;
	heddle_sparse_analysis *analysis;
	if (heddle_sparse_generate("TF8", &matrix) || heddle_sparse_analyse(&matrix, NULL, &analysis)) {
		fprintf(stderr, "%s\n", heddle_last_error());
		return 1;
	}
	struct heddle_sparse_statistics s = heddle_sparse_analysis_statistics(analysis);
	heddle_sparse_analysis_free(analysis);
	heddle_sparse_matrix_free(&matrix);
	printf("%s\n", s.transposed && s.fronts && s.flops > 0 ? heddle_version() : "?");
	return 0;
}
