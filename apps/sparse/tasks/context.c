/* Opening and closing: the codelets of a runtime. */
#include <sparse/tasks/tasks.h>
#include <stdlib.h>

int heddle_sparse_open(heddle_runtime *rt, heddle_sparse **out)
{
	if (!rt || !out)
		return heddle_error(HEDDLE_E_INVALID, "heddle_sparse_open needs a runtime and a place for its result");
	heddle_sparse *sparse = calloc(1, sizeof *sparse);
	if (!sparse)
		return hd_sparse_no_memory("the sparse codelets");
	sparse->rt = rt;
	int status = heddle_dense_open(rt, &sparse->dense);
	if (status >= 0)
		status = hd_sparse_make_codelets(sparse);
	if (status < 0) {
		heddle_sparse_close(sparse);
		return status;
	}
	*out = sparse;
	return 0;
}

void heddle_sparse_close(heddle_sparse *sparse)
{
	if (!sparse)
		return;
	heddle_dense_close(sparse->dense);
	free(sparse->rates);
	free(sparse);
}
