/* The codelets: kernels on CBLAS and LAPACKE, operation counts, colours.
 *
 * Operation counts: LAPACK Working Note 41, appendix C (multiplications and additions together).
 */
#include <dense/internal.h>
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define EXTENT(datum, dim) ((int)heddle_extent(c, datum, dim))
#define LD(datum) ((int)heddle_ld(c, datum))

#define real double
#define BLAS(x) cblas_d##x
#define LAPACK(x) LAPACKE_d##x
#define KERNEL(x) double_##x
#include <dense/kernels_real.h>
#undef real
#undef BLAS
#undef LAPACK
#undef KERNEL

#define real float
#define BLAS(x) cblas_s##x
#define LAPACK(x) LAPACKE_s##x
#define KERNEL(x) single_##x
#include <dense/kernels_real.h>
#undef real
#undef BLAS
#undef LAPACK
#undef KERNEL

double hd_dense_flops(enum hd_dense_op op, double m, double n, double k)
{
	switch (op) {
	case HD_DENSE_POTRF: return n * n * n / 3 + n * n / 2 + n / 6;
	case HD_DENSE_TRSM: return m * n * n;
	case HD_DENSE_SYRK: return k * n * (n + 1);
	case HD_DENSE_GEMM: return 2 * m * n * k;
	default: return 0; /* these only move data */
	}
}

double heddle_dense_potrf_flops(size_t n)
{
	return hd_dense_flops(HD_DENSE_POTRF, 0, (double)n, 0);
}

static double extent(const struct heddle_size *size, size_t datum, unsigned dim)
{
	return (double)size->parts[datum]->n[dim];
}

static double potrf_flops(const struct heddle_size *size)
{
	return hd_dense_flops(HD_DENSE_POTRF, 0, extent(size, 0, 0), 0);
}

static double trsm_flops(const struct heddle_size *size)
{
	return hd_dense_flops(HD_DENSE_TRSM, extent(size, 0, 0), extent(size, 0, 1), 0);
}

static double syrk_flops(const struct heddle_size *size)
{
	return hd_dense_flops(HD_DENSE_SYRK, 0, extent(size, 1, 0), extent(size, 1, 1));
}

static double gemm_flops(const struct heddle_size *size)
{
	return hd_dense_flops(HD_DENSE_GEMM, extent(size, 1, 0), extent(size, 2, 0), extent(size, 1, 1));
}

/* One row per operation. The name of a codelet is the letter of its precision and `name`. n_modes 0: the number of data
 * varies from task to task. */
static const struct {
	const char *name;
	heddle_kernel kernels[2]; /* by precision */
	double (*flops)(const struct heddle_size *size);
	int modes[3];
	size_t n_modes;
	unsigned color;
} operations[HD_DENSE_N_OPS] = {
    [HD_DENSE_POTRF] = {"potrf", {double_potrf, single_potrf}, potrf_flops, {HEDDLE_RW}, 1, 0xd03b3b},
    [HD_DENSE_TRSM] = {"trsm", {double_trsm, single_trsm}, trsm_flops, {HEDDLE_RW, HEDDLE_R}, 2, 0xf0a030},
    [HD_DENSE_SYRK] = {"syrk", {double_syrk, single_syrk}, syrk_flops, {HEDDLE_RW, HEDDLE_R}, 2, 0x8e5bb5},
    [HD_DENSE_GEMM] = {"gemm", {double_gemm, single_gemm}, gemm_flops, {HEDDLE_RW, HEDDLE_R, HEDDLE_R}, 3, 0x4a90c2},
    [HD_DENSE_COPY] = {"copy", {double_copy, single_copy}, NULL, {HEDDLE_W, HEDDLE_R}, 2, 0xb0b0b0},
    [HD_DENSE_SPD] = {"spd", {double_spd, single_spd}, NULL, {HEDDLE_W}, 1, 0x909090},
    [HD_DENSE_RESIDUAL_BEGIN] =
        {"residual_begin", {double_residual_begin, single_residual_begin}, NULL, {HEDDLE_W, HEDDLE_RW}, 2, 0x707070},
    [HD_DENSE_RESIDUAL_END] = {"residual_end", {double_residual_end, single_residual_end}, NULL, {0}, 0, 0x505050},
};

int hd_dense_codelets(heddle_dense *dense)
{
	static const char letters[2] = {[HEDDLE_DENSE_DOUBLE] = 'd', [HEDDLE_DENSE_SINGLE] = 's'};
	for (int precision = 0; precision < 2; precision++) {
		for (int op = 0; op < HD_DENSE_N_OPS; op++) {
			char name[32];
			snprintf(name, sizeof name, "%c%s", letters[precision], operations[op].name);
			struct heddle_codelet_desc desc = {
			    .name = name,
			    .cpu = operations[op].kernels[precision],
			    .modes = operations[op].n_modes > 0 ? operations[op].modes : NULL,
			    .n_modes = operations[op].n_modes,
			    .flops = operations[op].flops,
			    .color = operations[op].color,
			};
			int status = heddle_codelet_create(dense->rt, &desc, &dense->codelets[precision][op]);
			if (status < 0)
				return status;
		}
	}
	return 0;
}
