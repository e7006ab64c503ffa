/* Runtimes with CUDA devices, real ones or those of the stand-in (tests/standin), for tests, which are left out where
 * there are none. */
#ifndef TEST_CUDA_DEVICES_H
#define TEST_CUDA_DEVICES_H

#include <dlfcn.h>
#include <stdio.h>
#include "../unit/program.h"
#include "driver/driver.h"
#include "image.h"
#include "standin.h"

/* The stand-in's controls; NULL: the devices are real. */
static inline const struct standin *standin(void)
{
	static void *library;
	if (!library)
		library = dlopen("libcuda.so.1", RTLD_NOW);
	return library ? dlsym(library, "standin_table") : NULL;
}

/* Lets a call of the stand-in fail. The parentheses keep the macro of cmocka's out. */
static inline void let_fail(const char *call, unsigned nth, int code)
{
	(standin()->fail)(call, nth, code);
}

static inline void leave_out(const char *why)
{
	printf("left out: %s\n", why);
	exit(77);
}

/* Returns how many devices there are; ends the program, which so says that it is left out, if there is none. */
static inline unsigned need_devices(void)
{
	const struct heddle_driver *driver = hd_driver_find("cuda");
	unsigned n = 0;
	if (!driver)
		leave_out("this build has no CUDA");
	else if (driver->count(&n))
		leave_out(heddle_last_error());
	return n;
}

static inline void need_standin(void)
{
	if (!hd_driver_find("cuda"))
		leave_out("this build has no CUDA");
	if (!standin())
		leave_out("this test is for the stand-in of NVIDIA's driver");
}

/* One CPU worker and n devices, or as many as there are. */
static inline struct heddle_config cuda_config(int n)
{
	struct heddle_config config = small_config();
	unsigned there = need_devices();
	config.n_cpu = 1;
	config.n_cuda = n < (int)there ? n : (int)there;
	return config;
}

static inline heddle_runtime *start_cuda(int n)
{
	const struct heddle_config config = cuda_config(n);
	return start_with(&config);
}

/* The worker of device i, or of the last one. */
static inline unsigned device_worker(heddle_runtime *rt, unsigned i)
{
	const struct heddle_platform *p = heddle_runtime_platform(rt);
	unsigned found = 0;
	for (unsigned w = 0; w < p->n_workers; w++)
		if (strcmp(p->classes[p->workers[w].class_id].kind, "cuda") == 0 && p->workers[w].device <= i)
			found = w;
	assert_true(found > 0);
	return found;
}

/* Everything that CUDA was asked for was given back. */
static inline void assert_nothing_left(void)
{
	if (standin())
		assert_int_equal(standin()->leaks(stderr), 0);
}

/* Kernels: of one variable and a value, long long both. */
static inline int cuda_add(heddle_context *c)
{
	struct CUfunc_st *f;
	void *x = heddle_ptr(c, 0);
	long long a = heddle_get(c, 0, long);
	int status = heddle_cuda_function(c, &test_image, "test_add", &f);
	return status ? status : heddle_cuda_launch(c, f, &(struct heddle_cuda_grid){{0}, {0}, 0}, (void *[]){&x, &a});
}

/* The kernel test_matrices of two data that are matrices. */
static inline int cuda_matrices(heddle_context *c)
{
	struct CUfunc_st *f;
	void *A = heddle_ptr(c, 0), *B = heddle_ptr(c, 1);
	int m = (int)heddle_extent(c, 0, 0), n = (int)heddle_extent(c, 0, 1);
	long long a = heddle_get(c, 0, long), lda = (long long)heddle_ld(c, 0), ldb = (long long)heddle_ld(c, 1);
	const struct heddle_cuda_grid grid = {{(unsigned)(m + 31) / 32, (unsigned)n}, {32}, 0};
	int status = heddle_cuda_function(c, &test_image, "test_matrices", &f);
	return status ? status : heddle_cuda_launch(c, f, &grid, (void *[]){&m, &n, &a, &A, &lda, &B, &ldb});
}

static inline int cpu_matrices(heddle_context *c)
{
	long *A = heddle_ptr(c, 0), *B = heddle_ptr(c, 1), a = heddle_get(c, 0, long);
	for (size_t j = 0; j < heddle_extent(c, 0, 1); j++)
		for (size_t i = 0; i < heddle_extent(c, 0, 0); i++)
			A[i + j * heddle_ld(c, 0)] += a * B[i + j * heddle_ld(c, 1)];
	return 0;
}

#endif
