/* What plug-ins register, besides policies: applications with their options, and drivers. tests/cli/plugins.py loads
 * plug-ins. */
#include "program.h"
#include <heddle/plugin.h>
#include <stdio.h>
#include "driver/driver.h"
#include "start/devices.h"

static void assert_error(int status, int expected, const char *words)
{
	assert_int_equal(status, expected);
	assert_says(words);
}

/* --- Applications ------------------------------------------------------------------------------------------------- */

struct options {
	size_t n, left_out;
	double rate;
	int colour;
	char text[8];
};

static const struct heddle_word colours[] = {{"red", 5}, {"green", 7}, {"g", 7}, {NULL, 0}};
static const struct heddle_parameter parameters[] = {
    {"n", HEDDLE_PARAMETER_SIZE, offsetof(struct options, n), "1e3", "", 1, 2000, NULL, 'n', 1},
    {"left_out", HEDDLE_PARAMETER_SIZE, offsetof(struct options, left_out), "0", "", 1, 10, NULL, 0, 0},
    {"rate", HEDDLE_PARAMETER_REAL, offsetof(struct options, rate), "0.5", "", -1, 1, NULL, 0, 0},
    {"colour", HEDDLE_PARAMETER_WORD, offsetof(struct options, colour), "green", "", 0, 0, colours, 0, 0},
    {"text", HEDDLE_PARAMETER_TEXT, offsetof(struct options, text), "abc", "", 0, 8, NULL, 0, 0},
    {.name = NULL},
};

static int open_nothing(const struct heddle_application *app, heddle_runtime *rt, int simulated, const void *p,
                        void **state)
{
	(void)app, (void)rt, (void)simulated, (void)p, (void)state;
	return 0;
}

static int succeed(void *state)
{
	(void)state;
	return 0;
}

static struct heddle_application application(const char *name, const struct heddle_parameter *list)
{
	return (struct heddle_application){
	    .abi = HEDDLE_APPLICATION_ABI,
	    .name = name,
	    .parameters = list,
	    .size = sizeof(struct options),
	    .open = open_nothing,
	    .submit = succeed,
	    .close = succeed,
	};
}

static void options_have_defaults_ranges_and_texts(void **state)
{
	(void)state;
	struct heddle_application app = application("test-options", parameters);
	struct options o = {.n = 3};
	char text[32];
	heddle_application_defaults(&app, &o);
	assert_int_equal(o.n, 1000);
	assert_int_equal(o.left_out, 0);
	assert_true(o.rate == 0.5);
	assert_int_equal(o.colour, 7);
	assert_string_equal(o.text, "abc");
	assert_ok(heddle_application_set(&app, &o, "colour", "red"));
	heddle_application_value(&parameters[3], &o, text, sizeof text);
	assert_string_equal(text, "red");
	assert_ok(heddle_application_set(&app, &o, "colour", "g"));
	heddle_application_value(&parameters[3], &o, text, sizeof text);
	assert_string_equal(text, "green");
	assert_ok(heddle_application_set(&app, &o, "rate", "-1"));
	heddle_application_value(&parameters[2], &o, text, sizeof text);
	assert_string_equal(text, "-1");
	assert_error(heddle_application_set(&app, &o, "n", "2001"), HEDDLE_E_FORMAT, "1 to 2000");
	assert_error(heddle_application_set(&app, &o, "n", "1.5"), HEDDLE_E_FORMAT, "whole number");
	assert_error(heddle_application_set(&app, &o, "rate", "nan"), HEDDLE_E_FORMAT, "-1 to 1");
	assert_error(heddle_application_set(&app, &o, "rate", "1x"), HEDDLE_E_FORMAT, "1x");
	assert_error(heddle_application_set(&app, &o, "colour", "blue"), HEDDLE_E_FORMAT, "red, green or g");
	assert_error(heddle_application_set(&app, &o, "text", "12345678"), HEDDLE_E_FORMAT, "8 characters");
	assert_error(heddle_application_set(&app, &o, "color", "red"), HEDDLE_E_UNKNOWN, "\"colour\"");
	assert_error(heddle_application_set(&app, &o, "qqqqqq", "1"), HEDDLE_E_UNKNOWN, "n, left_out, rate");
	assert_int_equal(o.n, 1000);
}

/* Registers an application with one field changed, and expects the sentence. */
#define assert_refused(change, words)                                                     \
	do {                                                                              \
		struct heddle_application app = application("test-refused", parameters);  \
		struct heddle_parameter one[2] = {parameters[0], {.name = NULL}};         \
		(void)one;                                                                \
		change;                                                                   \
		assert_error(heddle_application_register(&app), HEDDLE_E_INVALID, words); \
	} while (0)

static void applications_that_are_wrong_are_refused(void **state)
{
	(void)state;
	assert_refused(app.abi = 99, "interface 99");
	assert_refused(app.name = "", "without a name");
	assert_refused(app.name = "a b", "letters, digits");
	assert_refused(app.open = NULL, "no function open");
	assert_refused(app.close = NULL, "no function close");
	assert_refused(app.size = 5000, "5000 bytes");
	assert_refused(app.size = 3, "option n lies outside");
	assert_refused((one[0].value = "-4", app.parameters = one), "n is \"-4\"");
	assert_refused((one[0].kind = HEDDLE_PARAMETER_WORD, app.parameters = one), "no words");
	assert_refused((one[0].kind = HEDDLE_PARAMETER_TEXT, one[0].max = 0, app.parameters = one), "characters");
}

static void an_application_is_found_by_its_name(void **state)
{
	(void)state;
	static struct heddle_application first, second;
	first = second = application("test-found", parameters);
	assert_ok(heddle_application_register(&first));
	assert_ok(heddle_application_register(&first));
	assert_error(heddle_application_register(&second), HEDDLE_E_INVALID, "'test-found'");
	assert_ptr_equal(heddle_application_find("test_found"), &first);
	assert_null(heddle_application_find("test-foun"));
	assert_non_null(strstr(heddle_last_error(), "test-found"));
	const struct heddle_application **all = heddle_applications();
	assert_non_null(all);
	size_t i = 0;
	while (all[i] && all[i] != &first)
		i++;
	assert_ptr_equal(all[i], &first);
	free(all);
}

/* --- Drivers ------------------------------------------------------------------------------------------------------ */

static void drivers_that_are_wrong_are_refused(void **state)
{
	(void)state;
	struct heddle_driver d = hd_driver_cpu;
	assert_error(heddle_driver_register(&d), HEDDLE_E_INVALID, "Heddle's own");
	d.kind = "a=b";
	assert_error(heddle_driver_register(&d), HEDDLE_E_INVALID, "KIND=N");
	d.kind = "test-refused";
	d.abi++;
	assert_error(heddle_driver_register(&d), HEDDLE_E_INVALID, "compile it again");
	d.abi--;
	d.kernels_of = "emulated";
	assert_error(heddle_driver_register(&d), HEDDLE_E_INVALID, "kernels_of");
	d.kernels_of = NULL;
	d.launch = NULL;
	assert_error(heddle_driver_register(&d), HEDDLE_E_INVALID, "no function launch");
	d = hd_driver_emulated;
	d.kind = "test-refused";
	d.wait = NULL;
	assert_error(heddle_driver_register(&d), HEDDLE_E_INVALID, "no function wait");
	assert_null(hd_driver_registered("test-refused"));
}

static int count_two(unsigned *n)
{
	*n = 2;
	return 0;
}

static int describe(unsigned device, struct heddle_device *out)
{
	*out = (struct heddle_device){.name = "one for a test", .memory = 1000};
	out->driver[0] = (char)('0' + device);
	return 0;
}

static int add_one(heddle_context *c)
{
	++*(int *)heddle_ptr(c, 0);
	return 0;
}

/* Two tasks, one for each device: they run the kernel for CPUs, or, without kernels_of, they have none. */
static int run_on_devices(struct heddle_driver *driver, unsigned n)
{
	struct heddle_config config = small_config();
	char devices[64];
	heddle_runtime *rt;
	snprintf(devices, sizeof devices, "%s=%u", driver->kind, n);
	config.n_cpu = 0;
	config.devices = devices;
	assert_ok(heddle_driver_register(driver));
	assert_ok(heddle_start(&config, &rt));
	assert_int_equal(heddle_runtime_platform(rt)->n_workers, n);
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add_one", .cpu = add_one, .model = HEDDLE_MODEL_NONE);
	int x = 1, status = 0;
	heddle_data *data;
	assert_non_null(add);
	assert_ok(heddle_variable(rt, &x, sizeof x, &data));
	for (unsigned i = 0; i < n && !status; i++)
		status = heddle_submit(rt, heddle_call(add), heddle_rw(data), heddle_on(i));
	assert_ok(heddle_stop(rt));
	assert_int_equal(x, status ? 1 : 1 + (int)n);
	return status;
}

static void devices_of_registered_drivers_are_workers(void **state)
{
	(void)state;
	static struct heddle_driver likes_cpu, alone;
	likes_cpu = hd_driver_emulated;
	likes_cpu.kind = "test-a";
	likes_cpu.kernels_of = "cpu";
	likes_cpu.count = count_two;
	likes_cpu.describe = describe;
	assert_ok(run_on_devices(&likes_cpu, 2));
	assert_ok(run_on_devices(&likes_cpu, 1));
	alone = likes_cpu;
	alone.kind = "test-b";
	alone.kernels_of = NULL;
	struct hd_device_kind kind;
	assert_int_equal(hd_device_kind_at(3, &kind), 0);
	assert_ok(heddle_driver_register(&alone));
	assert_int_equal(hd_device_kind_at(3, &kind), 1);
	assert_string_equal(kind.kind, "test-b");
	assert_int_equal(hd_device_kind_at(4, &kind), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(options_have_defaults_ranges_and_texts),
	    cmocka_unit_test(applications_that_are_wrong_are_refused),
	    cmocka_unit_test(an_application_is_found_by_its_name),
	    cmocka_unit_test(drivers_that_are_wrong_are_refused),
	    cmocka_unit_test(devices_of_registered_drivers_are_workers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
