/* Dense linear algebra on CUDA devices, beside the tests of the routines, which also run there (dense_on_cuda.h): which
 * codelets have kernels, experiments without any CPU, libraries whose calls fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <dense/cuda/offer.h>
#include <dense/internal.h>
#include <dense/kernels/qr.h>
#include "dense_runtime.h"
#include "standin.h"

enum { TILE = 16 };

static const struct standin *standin;

/* One device and no CPU. `memory` of the device, in bytes; 0: all that it has. */
static void begin(struct fixture *f, uint64_t memory)
{
	struct heddle_config config = settings(0, 0, 0);
	config.n_cpu = 0;
	config.n_cuda = 1;
	config.cuda_memory = memory;
	OK(heddle_start(&config, &f->rt));
	OK(heddle_dense_open(f->rt, &f->dense));
}

static void end(struct fixture *f)
{
	heddle_dense_close(f->dense);
	OK(heddle_stop(f->rt));
	assert_int_equal(standin->leaks(stderr), 0);
	assert_string_equal(standin->complaint(), "");
}

static void every_codelet_has_a_kernel(void **state)
{
	(void)state;
	if (hd_dense_cuda_missing())
		fail_msg("%s", hd_dense_cuda_missing());
	for (int op = 0; op < HD_DENSE_N_OPS; op++)
		for (int precision = 0; precision < HEDDLE_DENSE_PRECISIONS; precision++)
			if (!hd_dense_cuda_kernel((enum hd_dense_op)op, precision))
				fail_msg("codelet %d has no kernel in precision %d", op, precision);
}

/* In a device with room for nine of the 25 tiles of a matrix, and for the workspaces of QR's two streams. */
static void experiments_have_small_residuals_in_little_memory(void **state)
{
	(void)state;
	const struct heddle_dense_routine *routine;
	uint64_t evictions = 0;
	for (unsigned r = 0; (routine = heddle_dense_routine_at(r)); r++) {
		int qr = strstr("geqrf ormqr gels", routine->name) != NULL;
		struct fixture f;
		struct heddle_dense_report report;
		struct heddle_stats stats;
		struct heddle_dense_problem problem = {
		    .routine = routine->name,
		    .precision = (enum heddle_dense_precision)(r % HEDDLE_DENSE_PRECISIONS),
		    .options = {.tile = TILE, .layout = (enum heddle_dense_layout)(r % 2)},
		    .n = 5 * TILE - 3,
		    .seed = r,
		    .check = 1,
		};
		size_t size = hd_dense_elem_size(problem.precision);
		begin(&f, 9 * TILE * TILE * size + (qr ? 2 * hd_qr_work(TILE, TILE) * size : 0));
		OK(heddle_dense_run(f.dense, &problem, &report));
		if (!(report.residual < 30))
			fail_msg("%s: residual %g", routine->name, report.residual);
		OK(heddle_runtime_stats(f.rt, &stats));
		evictions += stats.evictions;
		end(&f);
	}
	assert_true(evictions > 0);
}

/* --- Failures ----------------------------------------------------------------------------------------------------- */

/* The run fails and says why, and the runtime can be used afterwards. */
static void check_failing(const char *routine, const char *call, unsigned nth, int code)
{
	struct fixture f;
	struct heddle_dense_report report;
	struct heddle_dense_problem problem = {
	    .routine = routine, .options = {.tile = TILE}, .n = 3 * TILE, .check = 1};
	begin(&f, 0);
	(standin->fail)(call, nth, code);
	int status = heddle_dense_run(f.dense, &problem, &report);
	(standin->fail)(call, 0, 0);
	if (status >= 0)
		fail_msg("%s: call %u of %s failed, and nobody saw it", routine, nth, call);
	if (!strstr(heddle_last_error(), "cu"))
		fail_msg("%s, %s: \"%s\"", routine, call, heddle_last_error());
	OK(heddle_dense_run(f.dense, &problem, &report));
	assert_true(report.residual < 30);
	end(&f);
}

static void calls_that_fail_fail_their_tasks(void **state)
{
	(void)state;
	static const struct {
		const char *routine, *call;
	} calls[] = {
	    {"potrf", "cublasCreate_v2"},
	    {"potrf", "cublasSetStream_v2"},
	    {"potrf", "cublasDtrsm_v2"},
	    {"potrf", "cublasDsyrk_v2"},
	    {"potrf", "cublasDgemm_v2"},
	    {"potrf", "cusolverDnCreate"},
	    {"potrf", "cusolverDnSetStream"},
	    {"potrf", "cusolverDnCreateParams"},
	    {"potrf", "cusolverDnXpotrf_bufferSize"},
	    {"potrf", "cusolverDnXpotrf"},
	    {"getrf", "cusolverDnXgetrf_bufferSize"},
	    {"getrf", "cusolverDnXgetrf"},
	    {"symm", "cublasDsymm_v2"},
	    {"trmm", "cublasDtrmm_v2"},
	};
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		check_failing(calls[i].routine, calls[i].call, 1, 13);
}

/* Those of the driver that the kernels call themselves. */
static void calls_of_the_driver_that_fail_fail_their_tasks(void **state)
{
	(void)state;
	enum { NOT_SUPPORTED = 801 };
	check_failing("potrf", "cuMemsetD8Async", 2, NOT_SUPPORTED);
	check_failing("potrf", "cuMemcpyDtoHAsync", 1, NOT_SUPPORTED);
	check_failing("geqrf", "cuLaunchKernel", 20, NOT_SUPPORTED);
}

/* In the middle of a factorisation, with a core beside it. What the core cannot do instead is said, and the next
 * factorisation is all the core's. */
static void device_is_lost_in_the_middle(void **state)
{
	(void)state;
	enum { LAUNCH_FAILED = 719 };
	int succeeded = 0, lost = 0;
	for (unsigned nth = 1; nth < 40; nth += 3) {
		struct heddle_config config = settings(1, 0, 0);
		struct heddle_dense_report report;
		struct heddle_stats stats;
		struct heddle_dense_problem problem = {.options = {.tile = TILE}, .n = 6 * TILE, .check = 1};
		struct fixture f;
		config.n_cuda = 1;
		config.sched = "random";
		OK(heddle_start(&config, &f.rt));
		OK(heddle_dense_open(f.rt, &f.dense));
		(standin->fail)("kernel", nth, LAUNCH_FAILED);
		int status = heddle_dense_run(f.dense, &problem, &report);
		(standin->fail)("kernel", 0, 0);
		if (status < 0 && !strstr(heddle_last_error(), "cuda0"))
			fail_msg("launch %u: \"%s\"", nth, heddle_last_error());
		assert_true(status < 0 || report.residual < 30);
		succeeded += status >= 0;
		OK(heddle_runtime_stats(f.rt, &stats));
		lost += stats.workers_lost != 0;
		heddle_wait_all(f.rt); /* says what else is lost */
		if (stats.workers_lost) {
			OK(heddle_dense_run(f.dense, &problem, &report));
			assert_true(report.residual < 30);
		}
		end(&f);
		standin->reset();
	}
	assert_true(lost > 0 && succeeded > 0);
}

static void find_standin(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	standin = library ? dlsym(library, "standin_table") : NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_codelet_has_a_kernel),
	    cmocka_unit_test(experiments_have_small_residuals_in_little_memory),
	    cmocka_unit_test(calls_that_fail_fail_their_tasks),
	    cmocka_unit_test(calls_of_the_driver_that_fail_fail_their_tasks),
	    cmocka_unit_test(device_is_lost_in_the_middle),
	};
	find_standin();
	if (!standin) {
		printf("left out: libcuda.so.1 is not the stand-in\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
