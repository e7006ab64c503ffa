/* Performance models: which samples count, regressions, times from and for a platform. */
#include "perf/internal.h"
#include "perf_fixture.h"

static const struct heddle_codelet_desc affine = {.name = "affine", .model = HEDDLE_MODEL_AFFINE};

/* cost = 3 + 0.5 n + 0.01 n^2, n being the bytes */
static size_t three_regressors(const struct heddle_size *size, double *x, size_t max)
{
	for (size_t k = 0; k < 3 && k < max; k++)
		x[k] = pow(size->bytes, (double)k);
	return 3;
}

static const struct heddle_codelet_desc linear = {
    .name = "linear", .model = HEDDLE_MODEL_LINEAR, .regressors = three_regressors};

/* --- Which samples count ------------------------------------------------------------------------------------------ */

static void history_without_samples_has_no_estimate(void **state)
{
	(void)state;
	struct hd_perf *perf = open_perf("none");
	struct hd_perf_entry *e = entry_of(perf, &gemm, 1000);
	assert_true(isnan(hd_perf_time(e, 0)));
	assert_true(e->flops == 2000 && e->bytes == 1000);
	record(e, 0, 1, 42);
	assert_true(hd_perf_time(e, 0) == 42);
	assert_true(isnan(hd_perf_time(e, 1)));
	assert_ptr_equal(e, entry_of(perf, &gemm, 1000));
	hd_perf_close(perf);
}

static void history_of_noisy_samples_converges_to_the_mean(void **state)
{
	(void)state;
	struct hd_perf *perf = open_perf("none");
	struct hd_perf_entry *e = entry_of(perf, &gemm, 1000);
	struct hd_rng rng;
	hd_rng_seed(&rng, 1);
	for (int i = 0; i < 20000; i++)
		hd_perf_record(e, 0, 100 + 10 * hd_rng_normal(&rng));
	assert_near(hd_perf_time(e, 0), 100, 0.015);
	assert_near(hd_perf_cell_stddev(&e->cells[0]), 10, 0.1);
	assert_int_equal(e->cells[0].samples + e->cells[0].rejected, 20000);
	assert_true(e->cells[0].rejected < 5);
	hd_perf_close(perf);
}

static void history_of_wide_samples_keeps_them(void **state)
{
	(void)state;
	struct hd_perf *perf = open_perf("none");
	struct hd_perf_entry *e = entry_of(perf, &gemm, 1000);
	struct hd_rng rng;
	hd_rng_seed(&rng, 2);
	for (int i = 0; i < 20000; i++) /* exponential: deviation equal to the mean */
		hd_perf_record(e, 0, -100 * log(1 - hd_rng_uniform(&rng)));
	assert_near(hd_perf_time(e, 0), 100, 0.15);
	assert_int_equal(e->cells[0].samples + e->cells[0].rejected, 20000); /* never taken for another behaviour */
	assert_true(e->cells[0].rejected < 200);
	hd_perf_close(perf);
}

static void outliers_at_a_steady_rate_do_not_move_the_mean(void **state)
{
	(void)state;
	struct hd_perf *perf = open_perf("none");
	struct hd_perf_entry *e = entry_of(perf, &gemm, 1000);
	struct hd_rng rng;
	hd_rng_seed(&rng, 3);
	uint32_t outliers = 0;
	for (int i = 0; i < 5000; i++) {
		unsigned outlier = hd_rng_uniform(&rng) < 0.03;
		outliers += outlier;
		hd_perf_record(e, 0, (outlier ? 2000 : 100) * (1 + 0.02 * hd_rng_normal(&rng)));
	}
	assert_near(hd_perf_time(e, 0), 100, 0.01);
	assert_int_equal(e->cells[0].rejected, outliers);
	assert_true(e->cells[0].max < 120);
	hd_perf_close(perf);
}

static void first_samples_too_slow_are_left_out(void **state)
{
	(void)state;
	const double starts[][4] = {
	    {1000, 100, 101, 99}, {1000, 900, 101, 100}, {300, 99, 100, 101}, {100, 99, 2000, 101}};
	struct hd_perf *perf = open_perf("none");
	for (size_t s = 0; s < COUNT(starts); s++) {
		struct hd_perf_entry *e = entry_of(perf, &gemm, (double)(1000 + s));
		for (size_t i = 0; i < 4; i++)
			hd_perf_record(e, 0, starts[s][i]);
		assert_near(hd_perf_time(e, 0), 100, 0.02);
		assert_int_equal(e->cells[0].samples, s == 1 ? 2 : 3);
		assert_int_equal(e->cells[0].rejected, s == 1 ? 2 : 1);
		record(e, 0, 4, 100);
		record(e, 0, 92, 100);
		assert_int_equal(e->cells[0].samples + e->cells[0].rejected, 100);
		assert_near(hd_perf_time(e, 0), 100, 0.001);
		assert_true(e->cells[0].max <= 101);
	}
	hd_perf_close(perf);
}

static void changed_behaviour_is_followed_at_once(void **state)
{
	(void)state;
	const double factors[] = {10, 3, 0.3, 0.01};
	struct hd_perf *perf = open_perf("none");
	for (size_t f = 0; f < COUNT(factors); f++) {
		struct hd_perf_entry *e = entry_of(perf, &gemm, (double)(1000 + f));
		record(e, 0, 5000, 100);
		record(e, 0, HD_PERF_CHANGE - 1, 100 * factors[f]);
		assert_near(hd_perf_time(e, 0), 100, 1e-9);
		record(e, 0, 1, 100 * factors[f]);
		assert_near(hd_perf_time(e, 0), 100 * factors[f], 1e-9);
		assert_true(e->cells[0].samples <= HD_PERF_WINDOW);
	}
	hd_perf_close(perf);
}

static void behaviour_split_in_two_is_averaged(void **state)
{
	(void)state;
	struct hd_perf *perf = open_perf("none");
	struct hd_perf_entry *e = entry_of(perf, &gemm, 1000);
	struct hd_rng rng;
	hd_rng_seed(&rng, 4);
	record(e, 0, 1000, 100);
	for (int i = 0; i < 20000; i++)
		hd_perf_record(e, 0, hd_rng_uniform(&rng) < 0.5 ? 100 : 300);
	assert_near(hd_perf_time(e, 0), 200, 0.15);
	hd_perf_close(perf);
}

static void slow_drift_is_followed(void **state)
{
	(void)state;
	struct hd_perf *perf = open_perf("none");
	struct hd_perf_entry *e = entry_of(perf, &gemm, 1000);
	record(e, 0, 100000, 100);
	record(e, 0, 5 * HD_PERF_MEMORY, 150);
	assert_near(hd_perf_time(e, 0), 150, 0.01);
	hd_perf_close(perf);
}

static void samples_that_are_no_times_are_survived(void **state)
{
	(void)state;
	struct hd_perf *perf = open_perf("none");
	struct hd_perf_entry *e = entry_of(perf, &gemm, 0);
	hd_perf_record(e, 0, NAN);
	hd_perf_record(e, 0, INFINITY);
	assert_int_equal(e->cells[0].samples, 0);
	hd_perf_record(e, 0, 0);
	hd_perf_record(e, 0, -1);
	assert_true(hd_perf_time(e, 0) > 0 && hd_perf_time(e, 0) < 0.01);
	hd_perf_close(perf);
}

static void footprints_by_the_thousand_are_all_found(void **state)
{
	(void)state;
	struct hd_perf *perf = open_perf("none");
	for (int i = 0; i < 20000; i++)
		record(entry_of(perf, &gemm, i), 1, 1, i + 1);
	for (int i = 0; i < 20000; i++)
		assert_true(hd_perf_time(entry_of(perf, &gemm, i), 1) == i + 1);
	hd_perf_close(perf);
}

static void model_none_records_nothing(void **state)
{
	const struct heddle_codelet_desc none = {.name = "none", .model = HEDDLE_MODEL_NONE};
	struct hd_perf *perf = open_perf(*state);
	struct hd_perf_entry *e = entry_of(perf, &none, 10);
	record(e, 0, 10, 5);
	assert_true(isnan(hd_perf_time(e, 0)));
	assert_int_equal(hd_perf_save(perf), 0);
	assert_int_equal(count_files(*state), 0);
	hd_perf_close(perf);
}

static void model_of_a_known_name_is_shared_unless_of_another_kind(void **state)
{
	(void)state;
	const struct heddle_codelet_desc again = {.name = "gemm", .model = HEDDLE_MODEL_POWER};
	const struct heddle_codelet_desc unfit = {.name = "unfit", .model = HEDDLE_MODEL_LINEAR};
	struct hd_perf *perf = open_perf("none");
	struct hd_perf_model *a, *b;
	assert_int_equal(hd_perf_model(perf, &gemm, &a), 0);
	assert_int_equal(hd_perf_model(perf, &gemm, &b), 0);
	assert_ptr_equal(a, b);
	assert_int_equal(hd_perf_model(perf, &again, &b), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "power"));
	assert_int_equal(hd_perf_model(perf, &unfit, &b), HEDDLE_E_INVALID);
	hd_perf_close(perf);
}

/* --- Regressions -------------------------------------------------------------------------------------------------- */

static void record_law(struct hd_perf *perf, const struct heddle_codelet_desc *codelet, double a, double b, double c)
{
	struct hd_rng rng;
	hd_rng_seed(&rng, 5);
	for (double n = 1000; n < 2e6; n *= 1.7)
		for (int i = 0; i < 200; i++)
			hd_perf_record(entry_of(perf, codelet, floor(n)), 1,
			               (a * pow(floor(n), b) + c) * (1 + 0.02 * hd_rng_normal(&rng)));
}

static void power_law_is_recovered(void **state)
{
	(void)state;
	struct hd_perf *perf = open_perf("none");
	record_law(perf, &power, 3e-4, 1.5, 0);
	struct hd_perf_entry *e = entry_of(perf, &power, 50000.5);
	assert_near(hd_perf_time(e, 1), 3e-4 * pow(50000.5, 1.5), 0.01);
	assert_true(isnan(hd_perf_time(e, 0)));
	const struct hd_perf_fit *fit = hd_perf_fit(e->model, 1);
	assert_near(fit->b, 1.5, 0.002);
	assert_near(fit->a, 3e-4, 0.02); /* times 50000^b: 1 %, above */
	hd_perf_close(perf);
}

static void affine_law_without_noise_is_recovered(void **state)
{
	(void)state;
	const double laws[][3] = {{2e-3, 1.2, 40}, {1e-6, 2, 5}, {0.5, 0.5, 0.001}, {0, 1, 70}};
	for (size_t l = 0; l < COUNT(laws); l++) {
		const double a = laws[l][0], b = laws[l][1], c = laws[l][2];
		struct hd_perf *perf = open_perf("none");
		for (double n = 1000; n < 1e6; n *= 2)
			record(entry_of(perf, &affine, n), 0, 5, a * pow(n, b) + c);
		struct hd_perf_entry *e = entry_of(perf, &affine, 45678);
		const struct hd_perf_fit *fit = hd_perf_fit(e->model, 0);
		assert_true(fit->valid);
		assert_near(hd_perf_time(e, 0), a * pow(45678, b) + c, 1e-3);
		if (l < 2) {
			assert_near(fit->a, a, 0.01);
			assert_near(fit->b, b, 0.01);
			assert_near(fit->c, c, 0.01);
		}
		hd_perf_close(perf);
	}
}

static void affine_law_with_noise_predicts(void **state)
{
	(void)state;
	struct hd_perf *perf = open_perf("none");
	record_law(perf, &affine, 1e-4, 1.5, 100);
	const double sizes[] = {1500, 77777, 1.5e6};
	for (size_t i = 0; i < COUNT(sizes); i++)
		assert_near(hd_perf_time(entry_of(perf, &affine, sizes[i]), 1), 1e-4 * pow(sizes[i], 1.5) + 100, 0.01);
	hd_perf_close(perf);
}

static void regression_of_too_few_sizes_gives_no_estimate(void **state)
{
	(void)state;
	struct hd_perf *perf = open_perf("none");
	struct hd_perf_entry *asked = entry_of(perf, &power, 5000);
	record(entry_of(perf, &power, 1000), 0, 20, 10);
	record(entry_of(perf, &power, 1100), 0, 20, 11);
	record(entry_of(perf, &power, 1200), 0, 20, 12);
	assert_true(isnan(hd_perf_time(asked, 0))); /* three sizes, all alike */
	record(entry_of(perf, &power, 1000), 1, 20, 10);
	record(entry_of(perf, &power, 9000), 1, 20, 90);
	assert_true(isnan(hd_perf_time(asked, 1))); /* far apart, but two */
	assert_true(hd_perf_time(entry_of(perf, &power, 1100), 0) == 11);
	record(entry_of(perf, &power, 2000), 0, 20, 20);
	assert_near(hd_perf_time(asked, 0), 50, 0.01); /* an entry that was there before the fit */
	hd_perf_close(perf);
}

static void regression_prefers_its_own_mean_once_measured(void **state)
{
	(void)state;
	struct hd_perf *perf = open_perf("none");
	for (double n = 1000; n < 20000; n *= 2)
		record(entry_of(perf, &power, n), 0, 50, n / 100);
	struct hd_perf_entry *e = entry_of(perf, &power, 6000);
	assert_near(hd_perf_time(e, 0), 60, 0.01);
	record(e, 0, HD_PERF_OWN - 1, 90);
	assert_near(hd_perf_time(e, 0), 60, 0.1);
	record(e, 0, 1, 90);
	assert_true(hd_perf_time(e, 0) == 90);
	hd_perf_close(perf);
}

static void linear_coefficients_are_recovered(void **state)
{
	const double x[] = {3, 0.5, 0.01};
	struct hd_perf *perf = open_perf(*state);
	for (double n = 1; n <= 50; n += 7) {
		struct hd_perf_entry *e = entry_of(perf, &linear, n);
		if (n < 20) /* not more sizes than coefficients */
			assert_true(isnan(hd_perf_time(e, 0)));
		record(e, 0, 5, x[0] + x[1] * n + x[2] * n * n);
	}
	struct hd_perf_entry *e = entry_of(perf, &linear, 100);
	assert_near(hd_perf_time(e, 0), 3 + 50 + 100, 1e-6);
	for (size_t k = 0; k < 3; k++)
		assert_near(hd_perf_fit(e->model, 0)->x[k], x[k], 1e-6);
	assert_int_equal(hd_perf_save(perf), 0);
	hd_perf_close(perf);
	perf = open_perf(*state); /* the stored regressors are enough to fit again */
	assert_near(hd_perf_time(entry_of(perf, &linear, 100), 0), 3 + 50 + 100, 1e-6);
	hd_perf_close(perf);
}

/* --- Platforms ---------------------------------------------------------------------------------------------------- */

static void estimates_from_a_platform_are_certain_and_fixed(void **state)
{
	char gemm_name[] = "gemm";
	struct heddle_kernel_point table[] = {{1000, 10}, {8000, 80}};
	struct heddle_kernel_time kernels[] = {{.codelet = gemm_name, .class_id = 1, .table = table, .n_table = 2}};
	struct heddle_platform platform = machine;
	platform.kernels = kernels;
	platform.n_kernels = 1;
	struct hd_perf *perf;
	assert_int_equal(hd_perf_open(&platform, *state, 1, &perf), 0);
	struct hd_perf_entry *e = entry_of(perf, &gemm, 4000);
	assert_near(hd_perf_time(e, 1), 40, 1e-9);
	assert_true(isnan(hd_perf_time(e, 0)));
	assert_true(e->cells[1].samples == UINT32_MAX);
	record(e, 1, 100, 7);
	assert_near(hd_perf_time(e, 1), 40, 1e-9);
	assert_int_equal(hd_perf_to_platform(perf, &platform), 0);
	assert_ptr_equal(platform.kernels, kernels);
	assert_int_equal(hd_perf_save(perf), 0);
	assert_int_equal(count_files(*state), 0);
	hd_perf_close(perf);
}

static void measured_means_become_kernel_tables(void **state)
{
	(void)state;
	struct heddle_platform platform = other_machine; /* has cpu, as class 1 */
	struct hd_perf *perf = open_perf("none");
	struct hd_perf_model *model;
	assert_int_equal(hd_perf_model(perf, &gemm, &model), 0);
	const struct {
		uint64_t footprint;
		double bytes, us;
		size_t n;
	} runs[] = {{1, 8000, 80, 10}, {2, 1000, 10, 30}, {3, 1000, 18, 10}, {4, 500, 3, 10}};
	for (size_t i = 0; i < COUNT(runs); i++) {
		struct heddle_size size = {.bytes = runs[i].bytes};
		struct hd_perf_entry *e = hd_perf_entry(model, runs[i].footprint, &size);
		record(e, 0, runs[i].n, runs[i].us);
		record(e, 1, 5, 1); /* a class that the other lacks */
	}
	for (int twice = 0; twice < 2; twice++) /* the second replaces the first */
		assert_int_equal(hd_perf_to_platform(perf, &platform), 0);
	assert_int_equal(platform.n_kernels, 1);
	const struct heddle_kernel_time *k = platform.kernels;
	assert_string_equal(k->codelet, "gemm");
	assert_int_equal(k->class_id, 1);
	assert_int_equal(k->n_table, 3);
	assert_true(k->table[0].bytes == 500 && k->table[1].bytes == 1000 && k->table[2].bytes == 8000);
	assert_near(k->table[1].us, 12, 1e-9);
	assert_near(heddle_platform_time(&platform, "gemm", 1, 8000, 0), 80, 1e-9);
	free(k->codelet);
	free(k->table);
	free(platform.kernels);
	hd_perf_close(perf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(history_without_samples_has_no_estimate),
	    cmocka_unit_test(history_of_noisy_samples_converges_to_the_mean),
	    cmocka_unit_test(history_of_wide_samples_keeps_them),
	    cmocka_unit_test(outliers_at_a_steady_rate_do_not_move_the_mean),
	    cmocka_unit_test(first_samples_too_slow_are_left_out),
	    cmocka_unit_test(changed_behaviour_is_followed_at_once),
	    cmocka_unit_test(behaviour_split_in_two_is_averaged),
	    cmocka_unit_test(slow_drift_is_followed),
	    cmocka_unit_test(samples_that_are_no_times_are_survived),
	    cmocka_unit_test(footprints_by_the_thousand_are_all_found),
	    IN_DIR(model_none_records_nothing),
	    cmocka_unit_test(model_of_a_known_name_is_shared_unless_of_another_kind),
	    cmocka_unit_test(power_law_is_recovered),
	    cmocka_unit_test(affine_law_without_noise_is_recovered),
	    cmocka_unit_test(affine_law_with_noise_predicts),
	    cmocka_unit_test(regression_of_too_few_sizes_gives_no_estimate),
	    cmocka_unit_test(regression_prefers_its_own_mean_once_measured),
	    IN_DIR(linear_coefficients_are_recovered),
	    IN_DIR(estimates_from_a_platform_are_certain_and_fixed),
	    IN_DIR(measured_means_become_kernel_tables),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
