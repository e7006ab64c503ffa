/* libFuzzer on files of the Matrix Market: no input may crash, leak or hang the reader; what it accepts is a matrix,
 * which is analysed, and written to a file that reads back as the same one. Sizes have at most four digits here, since
 * the largest that the reader accepts would be refused for lack of memory alone. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <sparse/matrix/matrix.h>
#include "fuzz.h"

static int has_large_number(const uint8_t *data, size_t size)
{
	size_t digits = 0;
	for (size_t i = 0; i < size && digits < 5; i++)
		digits = data[i] >= '0' && data[i] <= '9' ? digits + 1 : 0;
	return digits == 5;
}

static void use(const struct heddle_sparse_matrix *m, const char *path)
{
	struct heddle_sparse_matrix again;
	heddle_sparse_analysis *a = NULL;
	require(hd_sparse_check(m, "fuzz") == 0, "what was read is no matrix");
	require(heddle_sparse_analyse(m, NULL, &a) == 0, "a matrix cannot be analysed");
	heddle_sparse_analysis_free(a);
	require(heddle_sparse_write(path, m) == 0, "a matrix cannot be written");
	require(heddle_sparse_read(path, &again) == 0, "what was written cannot be read");
	size_t n = hd_sparse_n_elements(m);
	require(again.rows == m->rows && again.columns == m->columns && hd_sparse_n_elements(&again) == n &&
	            memcmp(again.row, m->row, n * sizeof *m->row) == 0,
	        "what was written is another matrix");
	heddle_sparse_matrix_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct heddle_sparse_matrix m;
	char path[64];
	if (has_large_number(data, size))
		return 0;
	int file = memfd_create("fuzz", 0);
	require(file >= 0 && write(file, data, size) == (ssize_t)size, "no file can be made");
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	int status = heddle_sparse_read(path, &m);
	if (status == 0) {
		use(&m, path);
		heddle_sparse_matrix_free(&m);
	} else {
		require(status == HEDDLE_E_FORMAT && heddle_last_error()[0], "a refusal is not HEDDLE_E_FORMAT");
	}
	close(file);
	return 0;
}
