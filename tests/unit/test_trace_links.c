/* src/trace/links.c: the links that a trace used, how long each was busy, and the lanes that its transfers lie in. */
#include "trace/trace.h"
#include "traces.h"

/* On the way to the card the second transfer begins during the first, and the third during the second, when the first
 * has ended. Time that two transfers share counts once. */
static void transfers_that_overlap_share_time_and_not_lanes(void **state)
{
	(void)state;
	static const struct heddle_trace_transfer transfers[] = {{0, 1, 0, 10, 8, 1, 0},
	                                                         {1, 0, 3, 4, 8, 2, 0},
	                                                         {0, 1, 5, 12, 8, 3, 0},
	                                                         {0, 1, 11, 20, 8, 4, 0},
	                                                         {0, 1, 30, 31, 8, 5, 0}};
	static const uint32_t link[] = {0, 1, 0, 0, 0}, lane[] = {0, 0, 1, 0, 0};
	enum { N = sizeof transfers / sizeof *transfers };
	struct heddle_trace *trace = make_trace(two_classes, 0, 0);
	struct hd_links links;
	trace->transfers = calloc(N, sizeof *trace->transfers);
	trace->n_transfers = N;
	memcpy(trace->transfers, transfers, sizeof transfers);
	OK(hd_links_init(&links, trace));
	assert_int_equal(links.n, 2);
	assert_memory_equal(links.link, link, sizeof link);
	assert_memory_equal(links.lane, lane, sizeof lane);
	assert_int_equal(links.links[0].n_lanes, 2);
	assert_int_equal(links.links[1].n_lanes, 1);
	assert_true(links.links[0].busy == 21 && links.links[1].busy == 1);
	hd_links_free(&links);
	heddle_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(transfers_that_overlap_share_time_and_not_lanes),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
