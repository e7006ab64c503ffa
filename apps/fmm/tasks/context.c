/* Opening and closing: the codelets of a runtime. */
#include <fmm/tasks/tasks.h>
#include <stdlib.h>

int heddle_fmm_open(heddle_runtime *rt, heddle_fmm **out)
{
	return hd_fmm_open_assumed(rt, &(struct hd_fmm_assumed){.by_size = 0}, out);
}

int hd_fmm_open_assumed(heddle_runtime *rt, const struct hd_fmm_assumed *assumed, heddle_fmm **out)
{
	if (!rt || !out)
		return heddle_error(HEDDLE_E_INVALID, "heddle_fmm_open needs a runtime and a place for its result");
	heddle_fmm *fmm = calloc(1, sizeof *fmm);
	if (!fmm)
		return hd_fmm_no_memory("the codelets of the fast multipole method");
	fmm->rt = rt;
	fmm->assumed = *assumed;
	int status = heddle_dense_open(rt, &fmm->dense);
	status = status < 0 ? status : hd_fmm_make_codelets(fmm);
	if (status < 0) {
		heddle_fmm_close(fmm);
		return status;
	}
	*out = fmm;
	return 0;
}

void heddle_fmm_close(heddle_fmm *fmm)
{
	if (!fmm)
		return;
	heddle_dense_close(fmm->dense);
	free(fmm);
}
