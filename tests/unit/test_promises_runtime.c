/* What include/heddle/runtime.h and settings.h promise: the watchdog, what may be NULL, what is copied, what is counted. */
#define _GNU_SOURCE
#include <stdio.h>
#include <heddle/settings.h>
#include "program.h"

/* --- The watchdog ------------------------------------------------------------------------------------------------- */

struct hang {
	heddle_runtime *rt;
	heddle_codelet *codelet;
	atomic_int gate;
	int n_reports, waited, submitted;
	char sentence[512];
};

static void note_hang(void *arg, const char *sentence)
{
	struct hang *h = arg;
	h->n_reports++;
	snprintf(h->sentence, sizeof h->sentence, "%s", sentence);
	h->waited = heddle_wait_all(h->rt); /* as from a kernel */
	h->submitted = heddle_submit(h->rt, heddle_call(h->codelet));
	h->gate = 1;
}

/* The kernel stays until the watchdog has barked; the program's function may call Heddle, but not wait. */
static void watchdog_calls_the_programs_function(void **state)
{
	(void)state;
	for (int caller_works = 0; caller_works < 2; caller_works++) {
		struct hang h = {.gate = 0};
		atomic_int *gate = &h.gate;
		struct heddle_config config = small_config();
		config.n_cpu = 1;
		config.n_emulated = 1; /* worker 1 */
		config.caller_works = caller_works;
		config.watchdog = 1;
		config.on_hang = note_hang;
		config.on_hang_arg = &h;
		h.rt = start_with(&config);
		h.codelet = heddle_codelet_new(h.rt, .name = "after", .cpu = nothing);
		heddle_codelet *stay = heddle_codelet_new(h.rt, .name = "stay", .cpu = pass_gate);
		assert_ok(heddle_submit(h.rt, heddle_call(stay), heddle_value(gate), heddle_on(1)));
		assert_ok(heddle_wait_all(h.rt));
		assert_int_equal(h.n_reports, 1);
		if (!strstr(h.sentence, "no progress for 1 s") || !strstr(h.sentence, "runs stay"))
			fail_msg("the sentence is \"%s\"", h.sentence);
		assert_int_equal(h.waited, HEDDLE_E_STATE);
		assert_ok(h.submitted);
		assert_ok(heddle_stop(h.rt));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(watchdog_calls_the_programs_function),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
