/* Links of emulated accelerators: as they are asked for, and as they are measured where they are as fast as memory. */
#include "program.h"
#include "platform_fixture.h"
#include <heddle/model.h>

/* --- As asked for ------------------------------------------------------------------------------------------------- */

static void both_links_are_as_asked_for(void **state)
{
	(void)state;
	struct heddle_platform *p = parsed(TINY);
	assert_ok(heddle_platform_add_emulated(p, 1000, 500, 20, 3));
	assert_ok(heddle_platform_add_emulated(p, 0, 0, 0, 1));
	const struct {
		unsigned node;
		double bandwidth, latency;
	} expected[] = {{2, 500, 20}, {3, HEDDLE_MEMORY_BANDWIDTH, 0}};
	for (int i = 0; i < 2; i++) {
		const struct heddle_link *there = heddle_platform_link(p, 0, expected[i].node);
		const struct heddle_link *back = heddle_platform_link(p, expected[i].node, 0);
		assert_true(there->bandwidth == expected[i].bandwidth && there->latency == expected[i].latency);
		assert_true(back->bandwidth == expected[i].bandwidth && back->latency == expected[i].latency);
	}
	heddle_platform_free(p);
}

/* --- As measured -------------------------------------------------------------------------------------------------- */

/* This machine with one emulated accelerator, as a runtime that keeps its models in `dir` sees it. */
static struct heddle_platform *measured(const char *dir, double bandwidth, double latency)
{
	struct heddle_config config = small_config();
	struct heddle_platform *p;
	config.n_emulated = 1;
	config.emulated_bandwidth = bandwidth;
	config.emulated_latency = latency;
	config.model_dir = dir;
	heddle_runtime *rt = start_with(&config);
	assert_ok(heddle_platform_measured(rt, "here", &p));
	assert_ok(heddle_stop(rt));
	assert_string_equal(p->name, "here");
	return p;
}

/* In MB/s, which are bytes per us: between less than any memory does on a machine that is busy with much else, and far
 * more than any does. Bytes per second would be a million times as many. */
static void links_as_fast_as_memory_are_measured_in_mb_per_second(void **state)
{
	struct heddle_platform *p = measured(*state, 0, 0);
	for (int back = 0; back < 2; back++) {
		const struct heddle_link *l = heddle_platform_link(p, back ? 1 : 0, back ? 0 : 1);
		if (!(l->bandwidth > 0.1 && l->bandwidth < 1e7))
			fail_msg("%g MB/s", l->bandwidth);
		assert_true(l->latency >= 0 && l->latency < 1e6);
	}
	heddle_platform_free(p);
}

/* What was measured once is taken from there, whatever it says; another machine's links are nothing to it. */
static void links_measured_before_are_not_measured_again(void **state)
{
	heddle_platform_free(measured(*state, 0, 0));
	const char *path = file_in(*state, "links.platform");
	struct heddle_platform *kept = NULL;
	assert_ok(heddle_platform_load(path, &kept));
	assert_int_equal(kept->n_links, 2);
	for (size_t i = 0; i < 2; i++) {
		kept->links[i].bandwidth = kept->links[i].from ? 222 : 111;
		kept->links[i].latency = kept->links[i].from ? 2e6 : 1e6; /* as none is, were it measured */
	}
	assert_ok(heddle_platform_save(kept, path));
	struct heddle_platform *p = measured(*state, 0, 0);
	assert_true(heddle_platform_link(p, 0, 1)->bandwidth == 111 && heddle_platform_link(p, 0, 1)->latency == 1e6);
	assert_true(heddle_platform_link(p, 1, 0)->bandwidth == 222 && heddle_platform_link(p, 1, 0)->latency == 2e6);
	heddle_platform_free(p);
	free(kept->nodes[1].name);
	kept->nodes[1].name = strdup("elsewhere");
	assert_ok(heddle_platform_save(kept, path));
	p = measured(*state, 0, 0);
	assert_true(heddle_platform_link(p, 0, 1)->latency < 1e6);
	heddle_platform_free(p);
	heddle_platform_free(kept);
}

/* A link that is to be slow is as slow as it is said to be. */
static void slow_links_are_not_measured(void **state)
{
	struct heddle_platform *p = measured(*state, 321, 45);
	assert_true(heddle_platform_link(p, 0, 1)->bandwidth == 321 && heddle_platform_link(p, 0, 1)->latency == 45);
	assert_true(heddle_platform_link(p, 1, 0)->bandwidth == 321 && heddle_platform_link(p, 1, 0)->latency == 45);
	assert_int_not_equal(access(file_in(*state, "links.platform"), F_OK), 0);
	heddle_platform_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(both_links_are_as_asked_for),
	    IN_DIRECTORY(links_as_fast_as_memory_are_measured_in_mb_per_second),
	    IN_DIRECTORY(links_measured_before_are_not_measured_again),
	    IN_DIRECTORY(slow_links_are_not_measured),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
