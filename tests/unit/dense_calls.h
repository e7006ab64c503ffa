/* For tests that call the routines of libheddle-dense in four precisions: a runtime, arrays made of views, flags.
 * Before including this, a test may define DENSE_TILE, the order of its tiles, and DENSE_CORES, a number: then an
 * OpenCL device stands for the accelerators, beside so many cores, and takes part always. */
#ifndef DENSE_CALLS_H
#define DENSE_CALLS_H

#include "dense_views.h"
#include <heddle/dense.h>
#include "../machine.h"
#include "dense_on_cuda.h"
#include "ok.h"

#ifdef DENSE_CORES
#include "opencl.h"
#endif
#if defined(DENSE_CORES) || defined(DENSE_ON_CUDA)
#define ON_DEVICE 1
#else
#define ON_DEVICE 0
#endif
#ifndef DENSE_TILE
#define DENSE_TILE 16
#endif

enum { TILE = DENSE_TILE };
/* Tiles in a column of a large matrix: fewer on a device, where each task takes long. */
#define LARGE(n) (ON_DEVICE ? 3 : (n))
/* Extents about the order of tiles. */
#if ON_DEVICE
static const int extents[] = {2, TILE + 7};
#else
static const int extents[] = {1, 2, TILE - 1, TILE, TILE + 1, 3 * TILE + 7};
#endif
enum { N_EXTENTS = sizeof extents / sizeof *extents };

static heddle_runtime *rt;
static heddle_dense *dense;

/* Some accelerators with room for a few tiles of the largest elements, or none. */
static inline void calls_begin(int n_emulated)
{
	struct heddle_config config;
	const uint64_t memory = 5 * TILE * TILE * 16;
	OK(heddle_config_init(&config));
	config.n_cpu = cores_up_to(n_emulated ? 1 : 2);
	config.n_emulated = n_emulated;
	config.emulated_memory = memory;
	config.sched = n_emulated ? "random" : "eager"; /* every worker gets its share, however busy the machine is */
	config.platform = NULL;
	config.model_dir = "none";
#ifdef DENSE_CORES
	struct heddle_platform *p = machine_with_opencl(DENSE_CORES, 1, n_emulated ? memory : 0, 2);
	config.sched = "random";
	OK(heddle_start_on(&config, p, 0, &rt));
	heddle_platform_free(p);
#else
	use_cuda(&config, n_emulated ? memory : 0);
	OK(heddle_start(&config, &rt));
#endif
	OK(heddle_dense_open(rt, &dense));
}

static inline void calls_end(void)
{
	heddle_dense_close(dense);
	OK(heddle_stop(rt));
}

static inline int begin_on_cores(void **state)
{
	(void)state;
	calls_begin(0);
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	calls_end();
	return 0;
}

/* All flags, in Heddle's and in CBLAS's words. */
static const enum heddle_dense_trans transpositions[] = {HEDDLE_DENSE_NO_TRANS, HEDDLE_DENSE_TRANS,
                                                         HEDDLE_DENSE_CONJ_TRANS};
static const CBLAS_TRANSPOSE cblas_transpositions[] = {CblasNoTrans, CblasTrans, CblasConjTrans};

static inline enum heddle_dense_uplo uplo_of(CBLAS_UPLO uplo)
{
	return uplo == CblasLower ? HEDDLE_DENSE_LOWER : HEDDLE_DENSE_UPPER;
}

static inline enum heddle_dense_side side_of(CBLAS_SIDE side)
{
	return side == CblasLeft ? HEDDLE_DENSE_LEFT : HEDDLE_DENSE_RIGHT;
}

static inline enum heddle_dense_diag diag_of(CBLAS_DIAG diag)
{
	return diag == CblasUnit ? HEDDLE_DENSE_UNIT : HEDDLE_DENSE_NON_UNIT;
}

static inline struct heddle_dense_options in_layout(int layout)
{
	return (struct heddle_dense_options){.tile = TILE, .layout = (enum heddle_dense_layout)layout};
}

#define HD_TEMPLATE <unit/dense_calls.h>
#include <dense/kernels/precisions.h>

#elif defined(HD_TEMPLATE)

static inline struct heddle_dense_array P(array)(struct P(view) v)
{
	return (struct heddle_dense_array){
	    .precision = (enum heddle_dense_precision)(2 * COMPLEX + (sizeof(real) == sizeof(float))),
	    .rows = (size_t)v.m,
	    .columns = (size_t)v.n,
	    .data = v.a,
	    .ld = (size_t)v.ld,
	};
}

static inline element P(element_of)(heddle_dense_scalar x)
{
#if COMPLEX
	return (element)((real)x.re + (real)x.im * (element)I);
#else
	return (element)x.re;
#endif
}

/* A triangle whose inverse is small enough. The other one, and a diagonal of ones, are NaN: nobody may read them. */
static inline struct P(view) P(small_triangle)(CBLAS_UPLO uplo, CBLAS_DIAG diag, int n, uint64_t seed)
{
	struct P(view) a = P(random_view)(n, n, seed);
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			*P(at)(a, i, j) = *P(at)(a, i, j) / (real)(n + 1) + (i == j ? 1 : 0);
	P(spoil)(a, uplo, diag);
	return a;
}

/* The triangles of A and B are the same but for rounding errors, and the other one of A is as P(spoil) leaves it. */
static inline void P(check_same_triangle)(struct P(view) a, struct P(view) b, CBLAS_UPLO uplo, double scale)
{
	struct P(view) one = P(triangle)(a, uplo, CblasNonUnit), other = P(triangle)(b, uplo, CblasNonUnit);
	P(check_spoilt)(a, uplo, CblasNonUnit);
	P(check_same)(one, other, scale);
	P(free_view)(one), P(free_view)(other);
}

#endif
