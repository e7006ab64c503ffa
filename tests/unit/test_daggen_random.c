/* Random graphs in layers: each parameter does what it says. */
#include <heddle/daggen/random.h>
#include "graphs.h"

static struct heddle_graph *make(const char *settings)
{
	struct heddle_daggen_layers p;
	struct heddle_graph *g;
	heddle_daggen_random_init(&p);
	assert_ok(heddle_daggen_random_set(&p, settings));
	assert_ok(heddle_daggen_random(&p, &g));
	assert_ok(heddle_graph_check(g));
	return g;
}

struct shape {
	size_t depth, width, n_edges, longest_jump;
	double least, most; /* widths but for the last level */
};

static struct shape measure(const struct heddle_graph *g)
{
	struct shape s = {0};
	struct heddle_graph_edge *edges;
	size_t *level = calloc(g->n_tasks, sizeof *level), *widths = calloc(g->n_tasks + 1, sizeof *widths);
	assert_ok(heddle_graph_edges(g, &edges, &s.n_edges));
	for (size_t e = 0; e < s.n_edges; e++)
		if (level[edges[e].to] <= level[edges[e].from])
			level[edges[e].to] = level[edges[e].from] + 1;
	for (size_t e = 0; e < s.n_edges; e++)
		if (level[edges[e].to] - level[edges[e].from] > s.longest_jump)
			s.longest_jump = level[edges[e].to] - level[edges[e].from];
	for (size_t i = 0; i < g->n_tasks; i++) {
		s.depth = level[i] + 1 > s.depth ? level[i] + 1 : s.depth;
		s.width = ++widths[level[i]] > s.width ? widths[level[i]] : s.width;
	}
	s.least = INFINITY;
	for (size_t l = 0; l + 1 < s.depth; l++) {
		s.least = fmin(s.least, (double)widths[l]);
		s.most = fmax(s.most, (double)widths[l]);
	}
	free(edges);
	free(level);
	free(widths);
	return s;
}

static struct shape shape_of(const char *settings)
{
	struct heddle_graph *g = make(settings);
	struct shape s = measure(g);
	heddle_graph_free(g);
	return s;
}

static void fat_sets_depth_and_width(void **state)
{
	(void)state;
	struct shape chain = shape_of("n=300,fat=0"), half = shape_of("n=900,fat=0.5,regularity=1"),
	             flat = shape_of("n=300,fat=1");
	assert_int_equal(chain.depth, 300);
	assert_int_equal(chain.width, 1);
	assert_int_equal(chain.n_edges, 299);
	assert_int_equal(half.depth, 30);
	assert_int_equal(half.width, 30);
	assert_in_range(flat.depth, 1, 2);
	struct shape thin = shape_of("n=1000,fat=0.3"), fat = shape_of("n=1000,fat=0.7");
	assert_true(thin.depth > 4 * fat.depth && 4 * thin.width < fat.width);
}

static void regularity_sets_the_spread_of_widths(void **state)
{
	(void)state;
	struct shape regular = shape_of("n=3000,fat=0.5,regularity=0.9"),
	             wild = shape_of("n=3000,fat=0.5,regularity=0");
	double mean = sqrt(3000);
	assert_true(regular.least >= 0.9 * mean - 1 && regular.most <= 1.1 * mean + 1 && regular.most > regular.least);
	assert_true(wild.least < 0.5 * mean && wild.most > 1.5 * mean && wild.most <= 2 * mean + 1);
}

static void density_sets_the_number_of_edges(void **state)
{
	(void)state;
	struct shape none = shape_of("n=900,density=0,regularity=1"), some = shape_of("n=900,density=0.2,regularity=1"),
	             most = shape_of("n=900,density=1,regularity=1");
	assert_int_equal(none.n_edges, 870); /* one predecessor each, but for the first level */
	assert_in_range(some.n_edges, 870 * 3.5, 870 * 4.5);
	assert_in_range(most.n_edges, 870 * 14.5, 870 * 17);
}

static void edges_span_no_more_levels_than_jump(void **state)
{
	(void)state;
	assert_int_equal(shape_of("n=1000,jump=1").longest_jump, 1);
	assert_int_equal(shape_of("n=1000,jump=2").longest_jump, 2);
	assert_int_equal(shape_of("n=1000,jump=4").longest_jump, 4);
	assert_in_range(shape_of("n=1000,fat=0.2,jump=1000000").longest_jump, 20, 1000);
}

/* As the header defines it. */
static double ccr_of(const struct heddle_graph *g, double bandwidth)
{
	double bytes = 0, us = 0;
	for (size_t i = 0; i < g->n_tasks; i++) {
		us += g->times[i * g->n_classes];
		for (size_t k = 0; k < g->tasks[i].n_accesses; k++) {
			const struct heddle_graph_access *a = &g->accesses[g->tasks[i].first_access + k];
			bytes += a->mode == HEDDLE_R ? (double)g->data[a->data].bytes : 0;
		}
	}
	return bytes / bandwidth / us;
}

static void ccr_is_the_one_asked_for(void **state)
{
	(void)state;
	static const char *const settings[] = {"n=500,ccr=0.1", "n=500,ccr=1,seed=3", "n=500,ccr=10,work=3,jump=3"};
	static const double wanted[] = {0.1, 1, 10};
	for (int i = 0; i < 3; i++) {
		struct heddle_graph *g = make(settings[i]);
		assert_true(fabs(ccr_of(g, 10000) / wanted[i] - 1) < 1e-4);
		heddle_graph_free(g);
	}
	struct heddle_graph *g = make("n=500,ccr=2,bandwidth=500");
	assert_true(fabs(ccr_of(g, 500) / 2 - 1) < 1e-4);
	heddle_graph_free(g);
}

static void work_and_times_stay_in_their_ranges(void **state)
{
	(void)state;
	struct heddle_graph *g =
	    make("n=2000,gflops=2,min_speedup=4,max_speedup=9,min_data=1000,max_data=2000,min_factor=10,max_factor=20");
	size_t counts[3] = {0};
	double least = INFINITY, most = 0;
	for (size_t i = 0; i < g->n_tasks; i++) {
		double d = (double)g->data[i].bytes / 8, flops = g->tasks[i].flops, *times = &g->times[i * 2];
		const char *type = g->types[g->tasks[i].type].name;
		double a = strcmp(type, "scan") == 0 ? flops / d : strcmp(type, "sort") == 0 ? flops / d / log2(d) : 0;
		assert_true(d >= 1000 && d <= 2000);
		assert_true(a == 0 ? fabs(flops / pow(d, 1.5) - 1) < 1e-12 : a >= 10 && a <= 20);
		assert_true(fabs(times[0] * 2e3 / flops - 1) < 1e-12);
		least = fmin(least, times[0] / times[1]);
		most = fmax(most, times[0] / times[1]);
		counts[g->tasks[i].type]++;
	}
	assert_true(least >= 4 && least < 4.1 && most <= 9 + 1e-9 && most > 8.8);
	for (int i = 0; i < 3; i++)
		assert_in_range(counts[i], 550, 780);
	heddle_graph_free(g);
	g = make("n=50,work=2");
	for (size_t i = 0; i < g->n_tasks; i++)
		assert_string_equal(g->types[g->tasks[i].type].name, "sort");
	heddle_graph_free(g);
}

static char *written(const char *settings)
{
	struct heddle_graph *g = make(settings);
	struct hd_text text = {0};
	hd_graph_write_json(g, &text);
	hd_text_char(&text, '\0');
	heddle_graph_free(g);
	return text.data;
}

static void same_seed_gives_the_same_graph(void **state)
{
	(void)state;
	char *first = written("n=400,jump=3,seed=7"), *again = written("n=400,jump=3,seed=7"),
	     *other = written("n=400,jump=3,seed=8");
	assert_string_equal(first, again);
	assert_string_not_equal(first, other);
	free(first);
	free(again);
	free(other);
}

static void wrong_parameters_are_refused_with_the_range(void **state)
{
	(void)state;
	struct heddle_daggen_layers p;
	struct heddle_graph *g;
	heddle_daggen_random_init(&p);
	assert_int_equal(heddle_daggen_random_set(&p, "fatt=1"), HEDDLE_E_UNKNOWN);
	assert_says("regularity");
	assert_int_equal(heddle_daggen_random_set(&p, "n=10,fat=2"), HEDDLE_E_INVALID);
	assert_says("from 0 to 1");
	assert_int_equal(heddle_daggen_random_set(&p, "n=1.5"), HEDDLE_E_INVALID);
	assert_says("whole");
	assert_int_equal(heddle_daggen_random_set(&p, "n"), HEDDLE_E_INVALID);
	assert_int_equal(heddle_daggen_random_set(&p, "n=5x"), HEDDLE_E_INVALID);
	assert_int_equal(heddle_daggen_random_set(&p, "fat=nan"), HEDDLE_E_INVALID);
	assert_ok(heddle_daggen_random_set(&p, "min_data=100,max_data=50"));
	assert_int_equal(heddle_daggen_random(&p, &g), HEDDLE_E_INVALID);
	assert_says("min_data");
	heddle_daggen_random_init(&p);
	p.density = 1.5;
	assert_int_equal(heddle_daggen_random(&p, &g), HEDDLE_E_INVALID);
	assert_says("density");
	assert_ok(heddle_daggen_random_set(&p, ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(fat_sets_depth_and_width),
	    cmocka_unit_test(regularity_sets_the_spread_of_widths),
	    cmocka_unit_test(density_sets_the_number_of_edges),
	    cmocka_unit_test(edges_span_no_more_levels_than_jump),
	    cmocka_unit_test(ccr_is_the_one_asked_for),
	    cmocka_unit_test(work_and_times_stay_in_their_ranges),
	    cmocka_unit_test(same_seed_gives_the_same_graph),
	    cmocka_unit_test(wrong_parameters_are_refused_with_the_range),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
