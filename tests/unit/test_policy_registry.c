/* Names and options of policies: what is found, what is refused and why. */
#include "fake_sched.h"

static const struct heddle_option table[] = {
    {"weight", "1.5", "us", "a number", 0, 10},
    {"mode", "slow", "slow|fast|faster", "a word", 0, 0},
    {"label", "none", "", "a text", 0, 0},
    {0},
};
static const struct heddle_policy with_options = {.name = "mine", .options = table};

/* Parses for `with_options`; the number of option i, or -1 on error. */
static double parsed(const char *text, int i)
{
	char **values;
	if (hd_policy_options_parse(&with_options, text, 0, &values))
		return -1;
	double x = hd_policy_option_number(&table[i], values[i]);
	assert_null(values[3]);
	hd_policy_options_free(values);
	return x;
}

static void assert_refused(const char *text, int status, const char *says)
{
	char **values = NULL;
	assert_int_equal(hd_policy_options_parse(&with_options, text, 0, &values), status);
	assert_null(values);
	if (!strstr(heddle_last_error(), says))
		fail_msg("'%s' does not say '%s'", heddle_last_error(), says);
}

static void options_valid_text_gives_values(void **unused)
{
	(void)unused;
	assert_true(parsed(NULL, 0) == 1.5);
	assert_true(parsed("", 1) == 0);
	assert_true(parsed(" weight = 2e0 , mode=fast", 0) == 2);
	assert_true(parsed("weight=2,mode = faster ", 1) == 2);
	assert_true(parsed("mode=fast,", 1) == 1);
	char **values;
	assert_int_equal(hd_policy_options_parse(&with_options, "label = two words ", 0, &values), 0);
	assert_string_equal(values[2], "two words");
	assert_string_equal(values[0], "1.5");
	hd_policy_options_free(values);
	assert_int_equal(hd_policy_option_index(&with_options, "mode"), 1);
	assert_int_equal(hd_policy_option_index(&with_options, "mod"), -1);
}

static void options_wrong_text_says_what_is_right(void **unused)
{
	(void)unused;
	assert_refused("wieght=1", HEDDLE_E_UNKNOWN, "weight (0 to 10), mode (slow|fast|faster), label (text)");
	assert_refused("weight=11", HEDDLE_E_INVALID, "from 0 to 10, in us (default 1.5)");
	assert_refused("weight=-0.1", HEDDLE_E_INVALID, "from 0 to 10");
	assert_refused("weight=2x", HEDDLE_E_INVALID, "'2x'");
	assert_refused("weight=nan", HEDDLE_E_INVALID, "'nan'");
	assert_refused("weight=", HEDDLE_E_INVALID, "from 0 to 10");
	assert_refused("mode=fas", HEDDLE_E_INVALID, "slow|fast|faster");
	assert_refused("mode=slow|fast", HEDDLE_E_INVALID, "slow|fast|faster");
	assert_refused("weight", HEDDLE_E_INVALID, "name=value");
	assert_refused("weight=1,weight=2", HEDDLE_E_INVALID, "twice");
	char **values = NULL;
	assert_int_equal(hd_policy_options_parse(&hd_policy_eager, "a=1", 0, &values), HEDDLE_E_UNKNOWN);
	assert_non_null(strstr(heddle_last_error(), "has no options"));
}

static void policies_wrong_name_says_which_one_is_like_it(void **unused)
{
	(void)unused;
	assert_null(heddle_policy_find("lwss"));
	assert_non_null(strstr(heddle_last_error(), "'lwss'; did you mean 'lws'? Known: "));
	assert_null(heddle_policy_find("workstealing"));
	assert_non_null(strstr(heddle_last_error(), "'workstealing'; known: eager, prio,"));
}

/* The values of two options of autoheteroprio, given others. */
static void assert_values(const char *text, const char *heuristic, const char *gate)
{
	const struct heddle_policy *p = &hd_policy_autoheteroprio;
	char **values;
	assert_int_equal(hd_policy_options_parse(p, text, 1, &values), 0);
	assert_string_equal(values[hd_policy_option_index(p, "heuristic")], heuristic);
	assert_string_equal(values[hd_policy_option_index(p, "gate")], gate);
	hd_policy_options_free(values);
}

static void options_preset_comes_before_defaults_only(void **unused)
{
	(void)unused;
	assert_values(NULL, "URT/s_2", "order");
	assert_values("preset=heddle", "URT/s_2", "order");
	assert_values("preset=paper", "URTxD_L5", "bucket");
	assert_values("gate=no,preset=paper", "URTxD_L5", "no");
	setenv("HEDDLE_AUTOHETEROPRIO_PRESET", "paper", 1);
	setenv("HEDDLE_AUTOHETEROPRIO_GATE", "no", 1);
	assert_values("heuristic=URT", "URT", "no");
	assert_values(NULL, "URTxD_L5", "no");
	unsetenv("HEDDLE_AUTOHETEROPRIO_PRESET");
	unsetenv("HEDDLE_AUTOHETEROPRIO_GATE");
}

static void options_of_presets_are_valid(void **unused)
{
	(void)unused;
	for (const struct hd_preset *preset = hd_presets; preset->policy; preset++) {
		const struct heddle_policy *p = heddle_policy_find(preset->policy);
		char **values;
		assert_non_null(p);
		assert_true(hd_policy_option_index(p, "preset") >= 0);
		assert_int_equal(hd_policy_options_parse(p, preset->values, 0, &values), 0);
		hd_policy_options_free(values);
	}
}

static void options_of_shipped_policies_have_valid_defaults(void **unused)
{
	(void)unused;
	const struct heddle_policy **all = heddle_policies();
	assert_non_null(all);
	for (size_t i = 0; all[i]; i++) {
		char **values;
		assert_int_equal(hd_policy_options_parse(all[i], NULL, 0, &values), 0);
		hd_policy_options_free(values);
		assert_non_null(all[i]->summary);
		assert_non_null(all[i]->source);
		for (const struct heddle_option *o = all[i]->options; o && o->name; o++)
			assert_true(o->value && o->unit && o->help && *o->help);
	}
	free(all);
}

static int create_nothing(heddle_sched *s, void **state)
{
	(void)s;
	*state = NULL;
	return 0;
}
static void destroy_nothing(void *state)
{
	(void)state;
}
static void drop(void *state, heddle_task *const *batch, size_t n, int releaser)
{
	(void)state;
	(void)batch;
	(void)n;
	(void)releaser;
}
static heddle_task *give_nothing(void *state, unsigned worker)
{
	(void)state;
	(void)worker;
	return NULL;
}
#define MINE(n)                                                                                            \
	{                                                                                                  \
		.abi = HEDDLE_POLICY_ABI, .name = n, .create = create_nothing, .destroy = destroy_nothing, \
		.ready = drop, .pick = give_nothing                                                        \
	}

static void registry_own_policy_is_found_and_listed_last(void **unused)
{
	(void)unused;
	static const struct heddle_policy mine = MINE("mine");
	assert_null(heddle_policy_find("mine"));
	assert_int_equal(heddle_policy_register(&mine), 0);
	assert_int_equal(heddle_policy_register(&mine), 0); /* again: the same one */
	assert_ptr_equal(heddle_policy_find("mine"), &mine);
	const struct heddle_policy **all = heddle_policies();
	assert_non_null(all);
	size_t n = 0;
	while (all[n])
		n++;
	assert_string_equal(all[0]->name, "eager");
	assert_ptr_equal(all[n - 1], &mine);
	free(all);
}

static void registry_wrong_policies_are_refused(void **unused)
{
	(void)unused;
	static const struct heddle_policy taken = MINE("eager"), reserved = MINE("auto"), nameless = MINE("");
	struct heddle_policy other = MINE("other"), old = MINE("old");
	other.pick = NULL;
	old.abi = HEDDLE_POLICY_ABI + 1;
	assert_int_equal(heddle_policy_register(NULL), HEDDLE_E_INVALID);
	assert_int_equal(heddle_policy_register(&nameless), HEDDLE_E_INVALID);
	assert_int_equal(heddle_policy_register(&reserved), HEDDLE_E_INVALID);
	assert_int_equal(heddle_policy_register(&taken), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "'eager'"));
	assert_int_equal(heddle_policy_register(&other), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "no pick callback"));
	assert_int_equal(heddle_policy_register(&old), HEDDLE_E_INVALID);
	static const struct heddle_option bad[] = {{"x", "7", "", "", 0, 1}, {0}};
	other.pick = give_nothing;
	other.options = bad;
	assert_int_equal(heddle_policy_register(&other), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "from 0 to 1"));
	assert_null(heddle_policy_find("other"));
}

static void registry_unknown_name_lists_those_there_are(void **unused)
{
	(void)unused;
	assert_null(heddle_policy_find("best"));
	assert_non_null(strstr(heddle_last_error(), "'best'"));
	assert_non_null(strstr(heddle_last_error(), "eager, prio, random, ws, lws, dm, dmda, dmdar, dmdas"));
	assert_null(heddle_policy_find(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(options_valid_text_gives_values),
	    cmocka_unit_test(options_wrong_text_says_what_is_right),
	    cmocka_unit_test(policies_wrong_name_says_which_one_is_like_it),
	    cmocka_unit_test(options_preset_comes_before_defaults_only),
	    cmocka_unit_test(options_of_presets_are_valid),
	    cmocka_unit_test(options_of_shipped_policies_have_valid_defaults),
	    cmocka_unit_test(registry_unknown_name_lists_those_there_are),
	    cmocka_unit_test(registry_own_policy_is_found_and_listed_last),
	    cmocka_unit_test(registry_wrong_policies_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
