/* Kernels in CUDA C on the stand-in for CUDA's driver: they compute what plain loops do; wrong ones are reported. */
#include <math.h>
#include "test_standin.h"

/* --- Kernels ------------------------------------------------------------------------------------------------------ */

static CUmodule module;

static CUfunction find(const char *name)
{
	CUfunction f;
	if (!module)
		OK(cuModuleLoadData(&module, "// all kernels are in the stand-in"));
	OK(cuModuleGetFunction(&f, module, name));
	return f;
}

static void unload(void)
{
	OK(cuModuleUnload(module));
	module = NULL;
}

static CUdeviceptr upload(const void *data, size_t bytes)
{
	CUdeviceptr p;
	OK(cuMemAlloc(&p, bytes));
	OK(cuMemcpyHtoD(p, data, bytes));
	return p;
}

/* Copies it back and frees it. */
static void download(CUdeviceptr p, void *data, size_t bytes)
{
	OK(cuMemcpyDtoHAsync(data, p, bytes, stream));
	OK(cuStreamSynchronize(stream));
	OK(cuMemFree(p));
}

static void test_a_kernel_of_many_blocks(void **state)
{
	double x[1000], y[1000];
	int n = 1000;
	(void)state;
	for (int i = 0; i < n; i++) {
		x[i] = i;
		y[i] = 2 * i;
	}
	CUdeviceptr px = upload(x, sizeof x), py = upload(y, sizeof y);
	OK(cuLaunchKernel(find("standin_test_add"), 2, 3, 2, 96, 1, 1, 0, stream, (void *[]){&n, &px, &py}, NULL));
	download(py, y, sizeof y);
	for (int i = 0; i < n; i++)
		assert_true(y[i] == 3 * i);
	OK(cuMemFree(px));
	unload();
}

static void test_kernels_with_barriers_and_shuffles(void **state)
{
	double x[1000], sums[4], sum = 0;
	int n = 1000;
	(void)state;
	for (int i = 0; i < n; i++)
		x[i] = i;
	CUdeviceptr px = upload(x, sizeof x), psums = upload(sums, sizeof sums), psum = upload(&sum, sizeof sum);
	OK(cuLaunchKernel(find("standin_test_sum"), 4, 1, 1, 256, 1, 1, 0, stream, (void *[]){&n, &px, &psums}, NULL));
	OK(cuLaunchKernel(find("standin_test_warp_sum"), 4, 1, 1, 64, 4, 1, 8 * sizeof(double), stream,
	                  (void *[]){&n, &px, &psum}, NULL));
	download(psums, sums, sizeof sums);
	download(psum, &sum, sizeof sum);
	assert_true(sums[0] == 255 * 256 / 2);
	assert_true(sums[0] + sums[1] + sums[2] + sums[3] == 999 * 1000 / 2);
	assert_true(sum == 999 * 1000 / 2);
	OK(cuMemFree(px));
	unload();
}

static void test_lanes_of_a_warp(void **state)
{
	int out[32][8] = {{0}};
	(void)state;
	CUdeviceptr p = upload(out, sizeof out);
	OK(cuLaunchKernel(find("standin_test_lanes"), 1, 1, 1, 32, 1, 1, 0, stream, (void *[]){&p}, NULL));
	download(p, out, sizeof out);
	for (int lane = 0; lane < 32; lane++) {
		assert_int_equal(out[lane][0], lane < 3 ? lane : lane - 3);
		assert_int_equal(out[lane][1], lane > 28 ? lane : lane + 3);
		assert_int_equal(out[lane][2], lane ^ 5);
		assert_int_equal(out[lane][3], 7);
		assert_int_equal(out[lane][4], lane < 16 ? 2 : 18);
		assert_int_equal(out[lane][5], 0x49249249);
		assert_int_equal(out[lane][6], lane < 16 ? 40 : (lane ^ 1) * 100);
		assert_int_equal(out[lane][7], 16);
	}
	unload();
}

/* A tile of 128 x 128: the kernel's 256 barriers, with 256 threads each, against plain loops. */
static void test_a_factorisation(void **state)
{
	enum { N = 128 };
	static double a[N * N], expected[N * N];
	struct {
		CUdeviceptr a;
		int n, ld;
	} matrix = {0, N, N};
	(void)state;
	for (int i = 0; i < N * N; i++)
		a[i] = expected[i] = (i * 37 % 101) / 101.0 + (i % (N + 1) == 0 ? N : 0);
	for (int k = 0; k < N; k++) {
		for (int i = k + 1; i < N; i++)
			expected[i + k * N] /= expected[k + k * N];
		for (int j = k + 1; j < N; j++) {
			for (int i = k + 1; i < N; i++)
				expected[i + j * N] -= expected[i + k * N] * expected[k + j * N];
		}
	}
	matrix.a = upload(a, sizeof a); /* an address inside of a structure */
	OK(cuLaunchKernel(find("standin_test_lu"), 1, 1, 1, 256, 1, 1, 0, stream, (void *[]){&matrix}, NULL));
	download(matrix.a, a, sizeof a);
	for (int i = 0; i < N * N; i++)
		assert_true(fabs(a[i] - expected[i]) <= 1e-12 * N);
	unload();
}

static void test_much_shared_memory(void **state)
{
	static double x[6144];
	int n = 6144;
	(void)state;
	for (int i = 0; i < n; i++)
		x[i] = i;
	CUdeviceptr p = upload(x, sizeof x);
	OK(cuLaunchKernel(find("standin_test_reverse"), 1, 1, 1, 96, 1, 1, 0, stream, (void *[]){&n, &p}, NULL));
	download(p, x, sizeof x);
	for (int i = 0; i < n; i++)
		assert_true(x[i] == n - 1 - i);
	unload();
}

static void test_a_kernel_from_a_template(void **state)
{
	float out[4] = {0}, value = 2.5f;
	(void)state;
	CUdeviceptr p = upload(out, sizeof out);
	OK(cuLaunchKernel(find("standin_test_fill"), 1, 1, 1, 4, 1, 1, 0, stream, (void *[]){&p, &value}, NULL));
	download(p, out, sizeof out);
	for (int i = 0; i < 4; i++)
		assert_true(out[i] == 2.5f);
	unload();
}

static void test_wrong_launches_are_refused(void **state)
{
	CUfunction f = find("standin_test_early_return"), none;
	CUmodule m;
	int n = 100;
	char words[64] = "";
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *args[] = {&n}, *values[] = {words, (void *)sizeof words};
	(void)state;
	FAILS(cuModuleGetFunction(&none, module, "no_such_kernel"), CUDA_ERROR_NOT_FOUND);
	FAILS(cuModuleLoadDataEx(&m, "nonsense", 2, options, values), CUDA_ERROR_INVALID_IMAGE);
	assert_string_equal(words, "stand-in: this is no image");
	FAILS(cuLaunchKernel(f, 0, 1, 1, 32, 1, 1, 0, stream, args, NULL), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuLaunchKernel(f, 1, 1, 1, 1025, 1, 1, 0, stream, args, NULL), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 64 << 10, stream, args, NULL), CUDA_ERROR_INVALID_VALUE);
	OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64 << 10));
	OK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 64 << 10, stream, args, NULL));
	OK(cuStreamSynchronize(stream));
	assert_string_equal(standin_complaint(), "");
	unload();
	FAILS(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, args, NULL), CUDA_ERROR_INVALID_HANDLE);
}

/* Launches one block of 64 threads, which fails with that code and those words. */
static void expect_complaint(const char *kernel, void *parameter, CUresult code, const char *words)
{
	CUstream s;
	OK(cuStreamCreate(&s, 0));
	OK(cuLaunchKernel(find(kernel), 1, 1, 1, 64, 1, 1, 0, s, (void *[]){parameter}, NULL));
	FAILS(cuStreamSynchronize(s), code);
	if (!strstr(standin_complaint(), words))
		fail_msg("\"%s\" is not in \"%s\"", words, standin_complaint());
	standin_reset();
	OK(cuStreamDestroy(s));
}

static void test_wrong_kernels_are_reported(void **state)
{
	int n = 40;
	unsigned mask = 1;
	(void)state;
	expect_complaint("standin_test_early_return", &n, CUDA_ERROR_LAUNCH_FAILED,
	                 "40 of 64 threads wait in the barrier of line");
	expect_complaint("standin_test_two_barriers", &n, CUDA_ERROR_LAUNCH_FAILED, "others in that of line");
	expect_complaint("standin_test_half_a_warp", &n, CUDA_ERROR_LAUNCH_FAILED, "waits for lanes of its warp");
	expect_complaint("standin_test_foreign_mask", &mask, CUDA_ERROR_LAUNCH_FAILED, "which lacks it");
	unload();
}

static void test_kernels_get_no_addresses_they_cannot_use(void **state)
{
	double mine[32], *none = NULL, *pinned;
	void *address = mine;
	CUdeviceptr theirs;
	(void)state;
	expect_complaint("standin_test_lanes", &address, CUDA_ERROR_ILLEGAL_ADDRESS, "cannot use the address");
	OK(cuCtxPushCurrent(contexts[1]));
	OK(cuMemAlloc(&theirs, 8));
	OK(cuCtxPopCurrent(NULL));
	expect_complaint("standin_test_lanes", &theirs, CUDA_ERROR_ILLEGAL_ADDRESS, "cannot use the address");
	OK(cuMemFree(theirs));
	OK(cuMemHostAlloc((void **)&pinned, 32, 0));
	int n = 0;
	OK(cuLaunchKernel(find("standin_test_add"), 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&n, &none, &pinned}, NULL));
	OK(cuStreamSynchronize(stream));
	OK(cuMemFreeHost(pinned));
	unload();
}

static void test_a_kernel_can_break_the_device(void **state)
{
	int n = 64;
	(void)state;
	CUfunction f = find("standin_test_early_return");
	standin_fail("kernel", 2, CUDA_ERROR_ILLEGAL_ADDRESS);
	OK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, (void *[]){&n}, NULL));
	OK(cuStreamSynchronize(stream));
	OK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, (void *[]){&n}, NULL));
	FAILS(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
	FAILS(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, other, (void *[]){&n}, NULL), CUDA_ERROR_ILLEGAL_ADDRESS);
	standin_reset();
	OK(cuStreamDestroy(stream));
	OK(cuStreamCreate(&stream, 0));
	unload();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_a_kernel_of_many_blocks),
	    TEST(test_kernels_with_barriers_and_shuffles),
	    TEST(test_lanes_of_a_warp),
	    TEST(test_a_factorisation),
	    TEST(test_much_shared_memory),
	    TEST(test_a_kernel_from_a_template),
	    TEST(test_wrong_launches_are_refused),
	    TEST(test_wrong_kernels_are_reported),
	    TEST(test_kernels_get_no_addresses_they_cannot_use),
	    TEST(test_a_kernel_can_break_the_device),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
