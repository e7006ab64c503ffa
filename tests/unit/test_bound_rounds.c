/* How many linear programs the iterative bound takes: each adds a path that the solution before makes too long. */
#include <math.h>
#include <string.h>
#include "base/base.h"
#include "bounds/bounds.h"
#include "ok.h"

enum { N_CHAINS = 8, LENGTH = 5, N_TASKS = N_CHAINS * LENGTH, N_CLASSES = 2, ROUNDS = 1000 };

static const char two_classes[] = "version: 1\nname: pair\nnodes: [{name: ram}]\n"
                                  "classes:\n- {name: cpu, kind: cpu}\n- {name: gpu, kind: cpu}\n"
                                  "workers:\n- {name: core, class: cpu, node: ram, count: 6}\n"
                                  "- {name: card, class: gpu, node: ram}\n";

/* What a watch is told: the rounds one after the other, and how many there are at most. */
static void count_round(unsigned done, unsigned most, void *arg)
{
	unsigned *told = arg;
	assert_int_equal(done, *told + 1);
	assert_true(most >= done);
	*told = done;
}

/* Independent chains of tasks of a few types, which either class can run. */
static struct heddle_bounds bounds_of_chains(const struct heddle_platform *platform, uint64_t seed, unsigned rounds)
{
	struct hd_costed g;
	struct hd_costed_edge edges[N_TASKS];
	struct heddle_bounds bounds;
	struct hd_rng rng;
	unsigned told = 0;
	const struct hd_bounds_watch watch = {count_round, &told};
	size_t n_edges = 0;
	double types[4][N_CLASSES];
	hd_rng_seed(&rng, seed);
	for (int type = 0; type < 4; type++)
		for (int c = 0; c < N_CLASSES; c++)
			types[type][c] = (c ? 1 : 3) + floor(10 * hd_rng_uniform(&rng));
	OK(hd_costed_init(&g, platform, N_TASKS));
	for (size_t i = 0; i < N_TASKS; i++) {
		memcpy(g.times + i * N_CLASSES, types[hd_rng_next(&rng) % 4], sizeof types[0]);
		OK(hd_costed_accept(&g, i, "work", i));
		if (i % LENGTH)
			edges[n_edges++] = (struct hd_costed_edge){i - 1, i};
	}
	OK(hd_costed_set_edges(&g, edges, n_edges));
	g.watch = &watch;
	OK(hd_bounds(&g, rounds, &bounds));
	assert_int_equal(told, bounds.rounds);
	hd_costed_free(&g);
	return bounds;
}

/* A chain is a path, and what has been added is kept to: there are no more rounds than chains. A path that the last
 * solution already keeps to would take a round and change nothing. */
static void every_round_adds_another_path(void **state)
{
	(void)state;
	struct heddle_platform *platform;
	unsigned most = 0;
	OK(heddle_platform_parse("pair", two_classes, sizeof two_classes - 1, &platform));
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct heddle_bounds b = bounds_of_chains(platform, seed, ROUNDS);
		if (!b.converged || b.rounds > N_CHAINS)
			fail_msg("seed %llu: %u rounds, for %d paths%s", (unsigned long long)seed, b.rounds, N_CHAINS,
			         b.converged ? "" : ", and no end");
		most = b.rounds > most ? b.rounds : most;
	}
	assert_true(most >= N_CHAINS / 2); /* the instances are not all easy */
	heddle_platform_free(platform);
}

/* Stopped early it is a bound all the same, and each round more raises it. */
static void more_rounds_never_lower_the_bound(void **state)
{
	(void)state;
	struct heddle_platform *platform;
	OK(heddle_platform_parse("pair", two_classes, sizeof two_classes - 1, &platform));
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct heddle_bounds whole = bounds_of_chains(platform, seed, ROUNDS);
		double last = 0;
		for (unsigned rounds = 1; rounds <= whole.rounds; rounds++) {
			struct heddle_bounds b = bounds_of_chains(platform, seed, rounds);
			assert_int_equal(b.rounds, rounds);
			assert_int_equal(b.converged, rounds == whole.rounds);
			assert_true(b.iterative >= last);
			last = b.iterative;
		}
		assert_true(whole.rounds == 0 || last == whole.iterative);
	}
	heddle_platform_free(platform);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_round_adds_another_path),
	    cmocka_unit_test(more_rounds_never_lower_the_bound),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
