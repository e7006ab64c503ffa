/* The rate of libflame's routines. flame_dense PRECISION ROUTINE WORKERS N [TILE]: PRECISION is d or s; ROUTINE is
 * gemm, potrf, poinv, getrf, getrf_nopiv or geqrf. Without TILE, libflame calls OpenBLAS with all threads. With it,
 * libflame's own runtime, SuperMatrix, runs a task graph on matrices of tiles, whose kernels call OpenBLAS with one
 * thread. The copies to tiles are not counted. */
#include <cblas.h>
#include <FLAME.h>
#include "dense_peer.h"

/* The routine's matrices; A's own in tiles, if there are tiles. */
static FLA_Obj flat_a, a, b, c, more; /* more: pivots, or the triangular factors of QR */

static int is(const char *routine, const char *name)
{
	return strcmp(routine, name) == 0;
}

static void look_at(const struct data *d, void *values, FLA_Obj *obj)
{
	FLA_Obj_create_without_buffer(d->is_single ? FLA_FLOAT : FLA_DOUBLE, d->n, d->n, obj);
	FLA_Obj_attach_buffer(values, 1, d->ld, obj);
}

static void begin_tiles(struct data *d, const char *routine)
{
	dim_t tile = d->tile;
	if (is(routine, "geqrf"))
		FLASH_QR_UT_create_hier_matrices(flat_a, 1, &tile, &a, &more);
	else
		FLASH_Obj_create_hier_copy_of_flat(flat_a, 1, &tile, &a);
	if (is(routine, "getrf"))
		FLASH_Obj_create(FLA_INT, d->n, 1, 1, &tile, &more);
	if (is(routine, "gemm")) {
		FLA_Obj flat;
		look_at(d, d->b, &flat);
		FLASH_Obj_create_hier_copy_of_flat(flat, 1, &tile, &b);
		FLA_Obj_free_without_buffer(&flat);
		look_at(d, d->c, &flat);
		FLASH_Obj_create_hier_copy_of_flat(flat, 1, &tile, &c);
		FLA_Obj_free_without_buffer(&flat);
	}
}

static void begin(struct data *d, const char *routine)
{
	FLA_Init();
	FLA_Check_error_level_set(FLA_NO_ERROR_CHECKING);
	openblas_set_num_threads(d->tile ? 1 : d->workers);
	FLASH_Queue_set_num_threads(d->tile ? (unsigned)d->workers : 1);
	look_at(d, d->a, &flat_a);
	if (d->tile) {
		begin_tiles(d, routine);
		return;
	}
	a = flat_a;
	look_at(d, d->b, &b);
	look_at(d, d->c, &c);
	if (is(routine, "getrf"))
		FLA_Obj_create(FLA_INT, d->n, 1, 0, 0, &more);
	if (is(routine, "geqrf"))
		FLA_QR_UT_create_T(a, &more);
}

static int run_tiles(const char *routine)
{
	if (is(routine, "gemm"))
		FLASH_Gemm(FLA_NO_TRANSPOSE, FLA_NO_TRANSPOSE, FLA_MINUS_ONE, a, b, FLA_ONE, c);
	else if (is(routine, "potrf"))
		FLASH_Chol(FLA_LOWER_TRIANGULAR, a);
	else if (is(routine, "poinv"))
		FLASH_SPDinv(FLA_LOWER_TRIANGULAR, a);
	else if (is(routine, "getrf"))
		FLASH_LU_piv(a, more);
	else if (is(routine, "getrf_nopiv"))
		FLASH_LU_nopiv(a);
	else if (is(routine, "geqrf"))
		FLASH_QR_UT(a, more);
	else
		return -1;
	return 0;
}

static int run(struct data *d, const char *routine)
{
	if (d->tile)
		return run_tiles(routine);
	if (is(routine, "gemm"))
		FLA_Gemm(FLA_NO_TRANSPOSE, FLA_NO_TRANSPOSE, FLA_MINUS_ONE, a, b, FLA_ONE, c);
	else if (is(routine, "potrf"))
		FLA_Chol(FLA_LOWER_TRIANGULAR, a);
	else if (is(routine, "poinv"))
		FLA_SPDinv(FLA_LOWER_TRIANGULAR, a);
	else if (is(routine, "getrf"))
		FLA_LU_piv(a, more);
	else if (is(routine, "getrf_nopiv"))
		FLA_LU_nopiv(a);
	else if (is(routine, "geqrf"))
		FLA_QR_UT(a, more);
	else
		return -1;
	return 0;
}

static void end(struct data *d, const char *routine)
{
	int is_lu = is(routine, "getrf"), is_qr = is(routine, "geqrf");
	if (d->tile) {
		FLASH_Obj_free(&a);
		if (is(routine, "gemm"))
			FLASH_Obj_free(&b), FLASH_Obj_free(&c);
		if (is_lu || is_qr)
			FLASH_Obj_free(&more);
	} else {
		FLA_Obj_free_without_buffer(&b);
		FLA_Obj_free_without_buffer(&c);
		if (is_lu || is_qr)
			FLA_Obj_free(&more);
	}
	FLA_Obj_free_without_buffer(&flat_a);
}

int main(int argc, char **argv)
{
	return peer_main(argc, argv, &(struct peer){.begin = begin, .run = run, .end = end});
}
