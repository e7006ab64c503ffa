/* Programs with a locale of their own: Heddle reads and writes numbers with a point, and names as they are, whatever
 * the locale. The test makes a locale in which numbers have a comma and the capital of i is no letter of ASCII. */
#include <heddle/graph.h>
#include <heddle/policy.h>
#include <heddle/settings.h>
#include <locale.h>
#include <spawn.h>
#include <sys/wait.h>
#include "machine/machine.h"
#include "policies/policies.h"
#include "scratch.h"

extern char **environ;

#define NAME "own_OWN.UTF-8"

/* Makes the locale below the directory of the test: numbers as in German, letters as in Turkish. Nothing else is in it,
 * of which localedef complains; where localedef or its sources are missing, there is no locale afterwards. */
static int make_locale(void **state)
{
	static const char source[] = "LC_NUMERIC\ncopy \"de_DE\"\nEND LC_NUMERIC\n"
	                             "LC_CTYPE\ncopy \"tr_TR\"\nEND LC_CTYPE\n";
	const char *const words[] = {"localedef", "-c",           "--quiet",  "-f", "UTF-8",
	                             "-i",        file("source"), file(NAME), NULL};
	pid_t child;
	if (set_up(state) || hd_file_write(file("source"), source, sizeof source - 1) ||
	    setenv("LOCPATH", directory, 1))
		return -1;
	if (!posix_spawnp(&child, words[0], NULL, NULL, (char *const *)(uintptr_t)words, environ))
		waitpid(child, NULL, 0);
	return 0;
}

static void enter(void)
{
	if (!setlocale(LC_NUMERIC, NAME) || !setlocale(LC_CTYPE, NAME)) {
		print_message("skipped: localedef cannot make a locale here\n");
		skip();
	}
}

static int leave(void **state)
{
	(void)state;
	return setlocale(LC_ALL, "C") ? 0 : -1;
}

static int remove_all(void **state)
{
	char *remove = hd_format("rm -rf %s/" NAME, directory);
	int status = system(remove); /* NOLINT: a path of mkdtemp */
	free(remove);
	return status ? status : tear_down(state);
}

/* What the locale says of 0.5, so that a test can tell that it is in force. */
static void assert_comma(void)
{
	char text[16];
	snprintf(text, sizeof text, "%g", 0.5);
	assert_string_equal(text, "0,5");
}

static void settings_and_options_take_a_point(void **state)
{
	(void)state;
	struct heddle_config config;
	char text[32], **values;
	const struct heddle_policy *dada = heddle_policy_find("dada");
	enter();
	assert_comma();
	heddle_config_init(&config);
	OK(heddle_setting_set(&config, "noise", "0.5"));
	assert_true(config.virtual_time.noise == 0.5);
	OK(heddle_setting_value(&config, "noise", text, sizeof text));
	assert_string_equal(text, "0.5");
	assert_int_equal(heddle_setting_set(&config, "noise", "0,5"), HEDDLE_E_FORMAT);
	assert_non_null(dada);
	OK(hd_policy_options_parse(dada, "alpha=0.25", 0, &values));
	hd_policy_options_free(values);
	assert_int_equal(hd_policy_options_parse(dada, "alpha=2.5", 0, &values), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "0 to 1"));
	heddle_error(HEDDLE_E_INVALID, "%g", 0.5);
	assert_string_equal(heddle_last_error(), "0.5");
}

static void platforms_are_written_and_read_with_points(void **state)
{
	(void)state;
	struct heddle_platform *p, *again;
	size_t length;
	enter();
	OK(heddle_platform_load(HEDDLE_SOURCE_DIR "/platforms/amd-a100.yaml", &p));
	p->links[0].bandwidth = 12345.5;
	OK(heddle_platform_save(p, file("p.yaml")));
	char *text = contents(file("p.yaml"), &length);
	assert_non_null(strstr(text, "12345.5"));
	free(text);
	OK(heddle_platform_load(file("p.yaml"), &again));
	assert_true(again->links[0].bandwidth == 12345.5);
	heddle_platform_free(p);
	heddle_platform_free(again);
}

static void graphs_are_written_and_read_with_points(void **state)
{
	(void)state;
	struct heddle_graph *g, *again;
	const char *const names[] = {"a.json", "a.dot"};
	enter();
	OK(heddle_graph_load(HEDDLE_SOURCE_DIR "/tests/graphs/sample.json", &g));
	g->times[0] = 0.0625;
	for (size_t i = 0; i < 2; i++) {
		OK(heddle_graph_save(g, file(names[i])));
		OK(heddle_graph_load(file(names[i]), &again));
		assert_true(again->times[0] == 0.0625);
		heddle_graph_free(again);
	}
	heddle_graph_free(g);
}

static void names_of_variables_are_ascii(void **state)
{
	(void)state;
	char name[HD_VARIABLE];
	enter();
	hd_variable_name(name, "multiprio", "nod-limit");
	assert_string_equal(name, "HEDDLE_MULTIPRIO_NOD_LIMIT");
	assert_string_equal(hd_nearest("EVICTION", (const char *const[]){"eviction"}, 1), "eviction");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_teardown(settings_and_options_take_a_point, leave),
	    cmocka_unit_test_teardown(platforms_are_written_and_read_with_points, leave),
	    cmocka_unit_test_teardown(graphs_are_written_and_read_with_points, leave),
	    cmocka_unit_test_teardown(names_of_variables_are_ascii, leave),
	};
	return cmocka_run_group_tests(tests, make_locale, remove_all);
}
