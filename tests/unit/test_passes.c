/* tools/shared/passes.h: when several measurements of the same kernels agree. */
#include "shared/passes.h"
#include <math.h>
#include "ok.h"

enum { CPU, GPU, GEMM = 0, TRSM };
static struct heddle_class classes[] = {{.name = (char[]){"cpu"}, .kind = (char[]){"cpu"}},
                                        {.name = (char[]){"gpu"}, .kind = (char[]){"cuda"}}};
static struct heddle_worker workers[] = {{.class_id = CPU}, {.class_id = GPU}};
static struct heddle_platform platform = {.classes = classes, .n_classes = 2, .workers = workers, .n_workers = 2};
static struct heddle_trace_codelet codelets[] = {{.name = (char[]){"gemm"}}, {.name = (char[]){"trsm"}}};

/* A task of 8 bytes on the worker of that class. */
static struct heddle_trace_task task(uint32_t codelet, uint32_t class_id, double us)
{
	return (struct heddle_trace_task){
	    .codelet = codelet, .worker = class_id, .start = 1, .end = 1 + us, .bytes = 8};
}

static void add(struct passes *p, struct heddle_trace_task *tasks, size_t n)
{
	const struct heddle_trace trace = {
	    .platform = &platform, .codelets = codelets, .n_codelets = 2, .tasks = tasks, .n_tasks = n};
	passes_add(p, 0, &trace);
}

static void interval_is_that_of_student(void **state)
{
	(void)state;
	struct passes p;
	const double us[] = {9, 11, 10};
	passes_init(&p, 1);
	for (size_t i = 0; i < 3; i++) {
		assert_true(isinf(passes_interval(&p, 0)));
		add(&p, (struct heddle_trace_task[]){task(GEMM, CPU, us[i]), task(GEMM, CPU, us[i])}, 2);
	}
	assert_int_equal(passes_count(&p, 0), 3);
	assert_true(fabs(passes_interval(&p, 0) - 4.30 * 0.1 / sqrt(3)) < 1e-9);
	passes_free(&p);
}

/* Adds passes of these lengths, in us, to run 0, of one task each. */
static void add_lengths(struct passes *p, size_t n, const double *us)
{
	for (size_t i = 0; i < n; i++)
		add(p, (struct heddle_trace_task[]){task(GEMM, CPU, us[i])}, 1);
}

static void passes_go_on_until_their_means_agree(void **state)
{
	(void)state;
	struct passes p;
	passes_init(&p, 1);
	add_lengths(&p, 3, (const double[]){10, 10, 10});
	assert_false(passes_agree(&p, 0, 4, 0.02)); /* too few, though they agree */
	add_lengths(&p, 1, (const double[]){10});
	assert_true(passes_agree(&p, 0, 4, 0.02));
	add_lengths(&p, 1, (const double[]){15}); /* 50 % longer: the interval becomes +- 25 % */
	assert_false(passes_agree(&p, 0, 4, 0.02));
	assert_true(passes_agree(&p, 0, 4, 0.3));
	size_t more = 0;
	for (; !passes_agree(&p, 0, 4, 0.1); more++) {
		assert_true(more < 20);
		add_lengths(&p, 1, (const double[]){10});
	}
	assert_int_equal(more, 6); /* with 11 passes 2.23 * 1.51 / sqrt(11) / 10.45 = 9.7 % */
	passes_free(&p);
}

static void the_drift_is_between_passes_that_most_runs_had(void **state)
{
	(void)state;
	struct passes p;
	passes_init(&p, 1);
	assert_true(passes_drift(&p) == 0);
	add_lengths(&p, 5, (const double[]){10, 10, 13, 10, 12.5});
	assert_true(fabs(passes_drift(&p) - 0.3) < 1e-9);
	passes_free(&p);
	/* one run alone is slower at times, of three: its neighbours say that it is not the machine */
	struct heddle_trace_task quick = task(GEMM, CPU, 10), slow = task(GEMM, CPU, 20);
	struct heddle_trace trace = {.platform = &platform, .codelets = codelets, .n_codelets = 2, .n_tasks = 1};
	passes_init(&p, 3);
	for (size_t pass = 0; pass < 4; pass++)
		for (size_t run = 0; run < (pass < 3 ? 3 : 1); run++) {
			trace.tasks = run == 0 && pass >= 2 ? &slow : &quick;
			passes_add(&p, run, &trace);
		}
	assert_true(fabs(passes_drift(&p)) < 1e-9);
	passes_free(&p);
}

static void prediction_adds_intervals_in_quadrature(void **state)
{
	(void)state;
	struct passes p;
	passes_init(&p, 1);
	add_lengths(&p, 4, (const double[]){10, 10, 10, 10});
	assert_true(fabs(passes_prediction(&p, 0, 0.04 / 2.78, 5, 0.01) - 0.04) < 1e-9); /* the runs alone */
	assert_true(passes_prediction(&p, 0, 0.04 / 2.78, 5, -0.08) == 0.08);
	passes_free(&p);
	passes_init(&p, 1);
	add_lengths(&p, 4, (const double[]){9, 11, 9, 11});
	double mean = passes_interval(&p, 0), runs = 0.5 / 2.78;
	assert_true(fabs(mean - 3.18 * 0.2 / sqrt(12)) < 1e-9);
	assert_true(fabs(passes_prediction(&p, 0, 0, 5, 0) - sqrt(5) * mean) < 1e-9); /* mean and one of four passes */
	assert_true(fabs(passes_prediction(&p, 0, runs, 5, 0) - hypot(mean, 0.5)) < 1e-9); /* the runs differ more */
	passes_free(&p);
}

static void total_does_not_depend_on_the_share_of_each_class(void **state)
{
	(void)state;
	struct passes p;
	passes_init(&p, 1);
	add(&p, (struct heddle_trace_task[]){task(GEMM, CPU, 10), task(TRSM, GPU, 1)}, 2);
	add(&p, (struct heddle_trace_task[]){task(GEMM, GPU, 2), task(TRSM, CPU, 7), task(TRSM, GPU, 1)}, 3);
	add(&p, (struct heddle_trace_task[]){task(GEMM, CPU, 10), task(TRSM, CPU, 7)}, 2);
	assert_true(fabs(passes_interval(&p, 0)) < 1e-12);
	passes_free(&p);
}

static void platform_gets_medians_of_the_sizes_that_were_measured(void **state)
{
	(void)state;
	struct heddle_kernel_point points[] = {{8, 99}, {16, 99}};
	struct heddle_kernel_time kernels[] = {
	    {.codelet = (char[]){"gemm"}, .class_id = CPU, .table = points, .n_table = 2},
	    {.codelet = (char[]){"gemm"}, .class_id = GPU, .table = points + 1, .n_table = 1}};
	struct heddle_platform known = platform;
	struct passes p;
	known.kernels = kernels;
	known.n_kernels = 2;
	passes_init(&p, 1);
	for (size_t i = 0; i < 4; i++)
		add(&p,
		    (struct heddle_trace_task[]){task(GEMM, CPU, i == 2 ? 1000 : 10),
		                                 task(GEMM, CPU, i == 2 ? 1000 : 12)},
		    2);
	add(&p, (struct heddle_trace_task[]){{.codelet = GEMM, .worker = CPU, .bytes = 8, .end = 1, .status = -1}}, 1);
	passes_apply(&p, &known);
	assert_true(points[0].us == 11 && points[1].us == 99);
	passes_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(interval_is_that_of_student),
	    cmocka_unit_test(passes_go_on_until_their_means_agree),
	    cmocka_unit_test(the_drift_is_between_passes_that_most_runs_had),
	    cmocka_unit_test(prediction_adds_intervals_in_quadrature),
	    cmocka_unit_test(total_does_not_depend_on_the_share_of_each_class),
	    cmocka_unit_test(platform_gets_medians_of_the_sizes_that_were_measured),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
