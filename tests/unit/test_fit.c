/* The laws that regressions find when sizes are measured unevenly, and when there are hardly enough of them. */
#include "perf_fixture.h"
#include "perf/internal.h"

static const struct heddle_codelet_desc affine = {.name = "affine", .model = HEDDLE_MODEL_AFFINE};

static size_t two_regressors(const struct heddle_size *size, double *x, size_t max)
{
	if (max > 0)
		x[0] = 1;
	if (max > 1)
		x[1] = size->bytes;
	return 2;
}

static const struct heddle_codelet_desc linear = {
    .name = "linear", .model = HEDDLE_MODEL_LINEAR, .regressors = two_regressors};

/* --- Uneven samples ----------------------------------------------------------------------------------------------- */

struct measured {
	double bytes, us;
	size_t samples; /* up to ten: each weighs as many as it has */
};

/* No law of the kind goes through all of them; what is measured once is far off. */
static const struct measured uneven[] = {
    {1000, 20, 10}, {2000, 60, 1}, {4000, 50, 10}, {8000, 50, 1}, {16000, 190, 10}, {32000, 800, 1}, {64000, 700, 10},
};

/* The law fitted to those measurements. */
static struct hd_perf_fit fit_uneven(struct hd_perf *perf, const struct heddle_codelet_desc *codelet)
{
	struct hd_perf_model *model;
	for (size_t i = 0; i < COUNT(uneven); i++)
		record(entry_of(perf, codelet, uneven[i].bytes), 0, uneven[i].samples, uneven[i].us);
	assert_int_equal(hd_perf_model(perf, codelet, &model), 0);
	hd_perf_refit(model, 0);
	assert_true(hd_perf_fit(model, 0)->valid);
	return *hd_perf_fit(model, 0);
}

/* The sum of the squares of the relative errors, weighed. */
static double error_of(double a, double b, double c)
{
	double sum = 0;
	for (size_t i = 0; i < COUNT(uneven); i++) {
		double error = (a * pow(uneven[i].bytes, b) + c) / uneven[i].us - 1;
		sum += (double)uneven[i].samples * error * error;
	}
	return sum;
}

/* Nearby laws are all worse: more or less of each coefficient, alone and together. */
static void affine_law_has_the_least_weighted_error(void **state)
{
	(void)state;
	struct hd_perf *perf = open_perf("none");
	struct hd_perf_fit fit = fit_uneven(perf, &affine);
	double least = error_of(fit.a, fit.b, fit.c);
	assert_true(fit.a > 0 && fit.c > 0); /* neither is at the end of what is allowed */
	for (int i = 0; i < 27; i++) {
		double a = 1 + 1e-3 * (i % 3 - 1), b = 1e-4 * (i / 3 % 3 - 1), c = 1 + 1e-3 * (i / 9 - 1);
		double error = error_of(fit.a * a, fit.b + b, fit.c * c);
		if (error < least * (1 - 1e-9))
			fail_msg(
			    "%g * bytes^%g + %g has the error %.9g, but %g times a, %+g in b, %g times c have %.9g",
			    fit.a, fit.b, fit.c, least, a, b, c, error);
	}
	hd_perf_close(perf);
}

/* The weighted sum of the squared errors of logarithms, for the law a * bytes^b. */
static double log_error_of(double a, double b)
{
	double sum = 0;
	for (size_t i = 0; i < COUNT(uneven); i++) {
		double error = log(a * pow(uneven[i].bytes, b) / uneven[i].us);
		sum += (double)uneven[i].samples * error * error;
	}
	return sum;
}

static void power_law_has_the_least_weighted_error(void **state)
{
	(void)state;
	struct hd_perf *perf = open_perf("none");
	struct hd_perf_fit fit = fit_uneven(perf, &power);
	double least = log_error_of(fit.a, fit.b);
	assert_true(fit.c == 0);
	for (int i = 0; i < 9; i++)
		assert_true(log_error_of(fit.a * (1 + 1e-3 * (i % 3 - 1)), fit.b + 1e-4 * (i / 3 - 1)) >=
		            least * (1 - 1e-9));
	hd_perf_close(perf);
}

static double linear_error_of(const double *x)
{
	double sum = 0;
	for (size_t i = 0; i < COUNT(uneven); i++) {
		double error = (x[0] + x[1] * uneven[i].bytes) / uneven[i].us - 1;
		sum += (double)uneven[i].samples * error * error;
	}
	return sum;
}

static void linear_law_has_the_least_weighted_error(void **state)
{
	(void)state;
	struct hd_perf *perf = open_perf("none");
	struct hd_perf_fit fit = fit_uneven(perf, &linear);
	double least = linear_error_of(fit.x);
	assert_int_equal(fit.n, 2);
	for (int i = 0; i < 9; i++) {
		const double x[] = {fit.x[0] * (1 + 1e-3 * (i % 3 - 1)), fit.x[1] * (1 + 1e-3 * (i / 3 - 1))};
		assert_true(linear_error_of(x) >= least * (1 - 1e-9));
	}
	hd_perf_close(perf);
}

/* Ten thousand samples of one size weigh no more than ten: it is the law that is wrong then. */
static void weights_have_a_limit(void **state)
{
	(void)state;
	double a[2];
	for (int many = 0; many < 2; many++) {
		struct hd_perf *perf = open_perf("none");
		struct hd_perf_model *model;
		const double us[] = {10, 30, 30, 100};
		for (int i = 0; i < 4; i++)
			record(entry_of(perf, &power, 1000 << i), 0, many && i == 1 ? 10000 : 10, us[i]);
		assert_int_equal(hd_perf_model(perf, &power, &model), 0);
		hd_perf_refit(model, 0);
		a[many] = hd_perf_fit(model, 0)->a;
		hd_perf_close(perf);
	}
	assert_true(a[0] > 0 && a[0] == a[1]);
}

/* --- Hardly enough sizes ------------------------------------------------------------------------------------------ */

/* As many sizes as coefficients: any measurement would be met exactly, which says nothing about other sizes. */
static void law_takes_more_sizes_than_coefficients(void **state)
{
	(void)state;
	static const struct {
		const struct heddle_codelet_desc *codelet;
		int n_coefficients;
	} cases[] = {{&power, 2}, {&affine, 3}, {&linear, 2}};
	for (size_t k = 0; k < COUNT(cases); k++) {
		struct hd_perf *perf = open_perf("none");
		struct hd_perf_entry *asked = entry_of(perf, cases[k].codelet, 6000);
		for (int i = 0; i <= cases[k].n_coefficients; i++) {
			assert_false(hd_perf_fit(asked->model, 0)->valid);
			assert_true(isnan(hd_perf_time(asked, 0)));
			record(entry_of(perf, cases[k].codelet, 1000 << i), 0, 20, 10 << i);
			hd_perf_refit(asked->model, 0); /* else when a certain number of samples have come */
		}
		assert_true(hd_perf_fit(asked->model, 0)->valid);
		assert_near(hd_perf_time(asked, 0), 60, 0.01);
		hd_perf_close(perf);
	}
}

/* Sizes of one class are no sizes of the other. */
static void classes_are_fitted_apart(void **state)
{
	(void)state;
	struct hd_perf *perf = open_perf("none");
	struct hd_perf_entry *asked = entry_of(perf, &linear, 6000);
	for (int i = 0; i < 4; i++)
		record(entry_of(perf, &linear, 1000 << i), i % 2 ? 1 : 0, 20, 10 << i);
	for (unsigned class_id = 0; class_id < 2; class_id++) {
		hd_perf_refit(asked->model, class_id);
		assert_true(isnan(hd_perf_time(asked, class_id)));
	}
	hd_perf_close(perf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(affine_law_has_the_least_weighted_error),
	    cmocka_unit_test(power_law_has_the_least_weighted_error),
	    cmocka_unit_test(linear_law_has_the_least_weighted_error),
	    cmocka_unit_test(weights_have_a_limit),
	    cmocka_unit_test(law_takes_more_sizes_than_coefficients),
	    cmocka_unit_test(classes_are_fitted_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
