/* Dense linear algebra on CUDA devices, beside the tests of the routines, which also run there (dense_on_cuda.h): which
 * codelets have kernels, experiments without any CPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <dense/internal.h>
#include <dense/kernels/qr.h>
#include "dense_standin.h"

enum { TILE = 16 };

/* One device and no CPU. `memory` of the device, in bytes; 0: all that it has. */
static void begin(struct fixture *f, uint64_t memory)
{
	struct heddle_config config = one_device(0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_codelet_has_a_kernel),
	    cmocka_unit_test(experiments_have_small_residuals_in_little_memory),
	};
	need_standin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
