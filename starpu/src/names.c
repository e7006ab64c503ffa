/* Kernels of platforms under the names that StarPU's own examples give their models, so that these programs run in
 * virtual time on a platform that has times for the usual kernels. */
#include "internal.h"

/* Models of the examples cholesky, lu and mult; `?` stands for the precision, s or d. */
static const struct {
	const char *model, *kernel;
} names[] = {
    {"chol_model_11", "spotrf"},
    {"chol_model_21", "strsm"},
    {"chol_model_22", "sgemm"},
    {"chol_model_potrf", "spotrf"},
    {"chol_model_trsm", "strsm"},
    {"chol_model_syrk", "ssyrk"},
    {"chol_model_gemm", "sgemm"},
    {"starpu_?gemm_gemm", "?gemm"},
    {"starpu_?lu_lu_model_11", "?getrf_nopiv"},
    {"starpu_?lu_lu_model_12", "?trsm"},
    {"starpu_?lu_lu_model_21", "?trsm"},
    {"starpu_?lu_lu_model_22", "?gemm"},
    {"starpu_?lu_lu_model_getrf", "?getrf_nopiv"},
    {"starpu_?lu_lu_model_trsm_ll", "?trsm"},
    {"starpu_?lu_lu_model_trsm_ru", "?trsm"},
    {"starpu_?lu_lu_model_gemm", "?gemm"},
};

/* Whether `model` is `pattern`, with the name of a BLAS behind or not; *precision is what `?` stands for. */
static bool matches(const char *pattern, const char *model, char *precision)
{
	for (; *pattern; pattern++, model++) {
		if (*pattern == '?' && (*model == 's' || *model == 'd'))
			*precision = *model;
		else if (*pattern != *model)
			return false;
	}
	return !*model || !strcmp(model, "_openblas") || !strcmp(model, "_goto") || !strcmp(model, "_atlas");
}

static bool has_time(const char *codelet)
{
	const struct heddle_platform *p = heddle_runtime_platform(hd_starpu_runtime);
	for (size_t i = 0; i < p->n_kernels; i++)
		if (!strcmp(p->kernels[i].codelet, codelet))
			return true;
	return false;
}

const char *hd_starpu_kernel_name(const char *model, char *room, size_t size)
{
	char precision = 's';
	if (!hd_starpu_virtual || has_time(model))
		return model;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (matches(names[i].model, model, &precision)) {
			const char *kernel = names[i].kernel;
			snprintf(room, size, "%c%s", *kernel == '?' ? precision : *kernel, kernel + 1);
			return room;
		}
	return model;
}
