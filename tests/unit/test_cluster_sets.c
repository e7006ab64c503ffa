/* Clusters of cores: the text of a cluster set, the workers and classes that a platform gets, how long kernels take. */
#include "platform_fixture.h"
#include <heddle.h>

/* Two sockets of six cores, of which cores 5 and 11 serve GPUs; four caches; a core is 10 us. */
#define CORES                                                                                                    \
	"version: 1\nname: two\nnodes:\n- {name: ram}\n- {name: gpu}\nclasses:\n- {name: gpu, kind: cuda}\n"     \
	"- {name: cpu, kind: cpu}\nworkers:\n- {name: cpu, count: 5, class: cpu, node: ram, core: 0}\n"          \
	"- {name: gpu, class: gpu, node: gpu, core: 5}\n"                                                        \
	"- {name: cpu, count: 5, first: 5, class: cpu, node: ram, core: 6}\n"                                    \
	"links:\n- {from: ram, to: gpu, bandwidth_mbs: 1}\n- {from: gpu, to: ram, bandwidth_mbs: 1}\nkernels:\n" \
	"- codelet: f\n  class: cpu\n  table:\n  - {bytes: 1000, us: 100}\n  - {bytes: 100000, us: 100000}\n"    \
	"- {codelet: g, class: cpu, gflops: 2, half_flops: 1e6, latency_us: 4}\n"                                \
	"- {codelet: copy, class: cpu, bandwidth_mbs: 1000}\n"                                                   \
	"levels:\n- {name: socket, cores: [0-5, 6-11]}\n- {name: l3, cores: [0-2, 3-5, 6-8, 9-11]}\n"
#define LAW "speedups:\n- class: cpu\n  latency_us: 8\n  bandwidth_mbs: 2000\n"

/* The driven workers of kind cpu, in order, as "0-4 6 7-8": their cores. */
static const char *driven(const struct heddle_platform *p)
{
	static char text[400];
	size_t used = 0;
	text[0] = '\0';
	for (size_t i = 0; i < p->n_workers; i++) {
		const struct heddle_worker *w = &p->workers[i];
		unsigned cores = p->classes[w->class_id].cores;
		if (w->retired || strcmp(p->classes[w->class_id].kind, "cpu") != 0)
			continue;
		used += (size_t)snprintf(text + used, sizeof text - used, used ? " %d" : "%d", w->core);
		if (cores > 1)
			used += (size_t)snprintf(text + used, sizeof text - used, "-%u", (unsigned)w->core + cores - 1);
	}
	return text;
}

static void cluster_sets_group_the_cores_of_cpu_workers(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
	    {"none", "0 1 2 3 4 6 7 8 9 10"},
	    {"1", "0 1 2 3 4 6 7 8 9 10"},
	    {"socket", "0-4 6-10"},
	    {"l3", "0-2 3-4 6-8 9-10"},
	    {"2", "0-1 2 3-4 6-7 8 9-10"}, /* none lies across two caches while there is room elsewhere */
	    {"3", "0-2 3 4 6-8 9 10"},
	    {"4", "0-3 4 6-9 10"},
	    {"5", "0-4 6-10"},
	    {"1x5", "0-4 6 7 8 9 10"},
	    {"1x5+5x1", "0-4 6 7 8 9 10"},
	    {"2x2+1x5", "0-4 6-7 8 9-10"}, /* the largest first: it has the fewest places */
	    {"1x3+1x2", "0-2 3-4 6 7 8 9 10"},
	    {"2x1", "0 1 2 3 4 6 7 8 9 10"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct heddle_platform *p = parsed(CORES);
		assert_int_equal(heddle_platform_cluster(p, cases[i][0]), 0);
		assert_string_equal(driven(p), cases[i][1]);
		assert_int_equal(heddle_platform_check(p), 0);
		/* once more makes no difference */
		struct heddle_platform *again = NULL;
		assert_int_equal(heddle_platform_copy(p, &again), 0);
		assert_int_equal(heddle_platform_cluster(again, cases[i][0]), 0);
		assert_same(p, again);
		/* nor does what it was grouped into before */
		assert_int_equal(heddle_platform_cluster(again, "socket"), 0);
		assert_int_equal(heddle_platform_cluster(again, cases[i][0]), 0);
		assert_string_equal(driven(again), cases[i][1]);
		heddle_platform_free(again);
		heddle_platform_free(p);
	}
}

static void wrong_cluster_sets_are_named_and_change_nothing(void **state)
{
	static const char *const cases[][3] = {
	    {"", "\"\"", "socket, l3, a number of cores"},
	    {"numa", "\"numa\"", "socket, l3, a number of cores"},
	    {"0", "\"0\"", "from 1 to 1000000"},
	    {"6", "\"6\"", "no 6 free cores"},
	    {"99999999999999999999", "\"99999999999999999999\"", "from 1 to 1000000"},
	    {"3x5", "\"3x5\"", "more than the 10 cores"},
	    {"1x6", "\"1x6\"", "room for 0 of 1"},
	    {"3x3", "\"3x3\"", "room for 2 of 3"},
	    {"2x", "\"2x\"", "2x4+1x6"},
	    {"2x4+", "\"2x4+\"", "2x4+1x6"},
	    {"2+3", "\"2+3\"", "2x4+1x6"},
	    {"socket,,l3", "\"\"", "it must be none"},
	    {"socket,2x9", "\"2x9\"", "more than"},
	    {"/nowhere/ranges", "\"/nowhere/ranges\"", "/nowhere/ranges"},
	};
	(void)state;
	struct heddle_platform *p = parsed(CORES), *before = parsed(CORES);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_not_equal(heddle_platform_cluster(p, cases[i][0]), 0);
		for (size_t k = 1; k < 3; k++)
			if (!strstr(heddle_last_error(), cases[i][k]))
				fail_msg("%s: %s", cases[i][0], heddle_last_error());
		assert_same(p, before);
	}
	assert_int_equal(heddle_platform_cluster(p, "/nowhere/ranges"), HEDDLE_E_IO);
	assert_int_equal(heddle_platform_cluster(p, NULL), HEDDLE_E_INVALID);
	p->workers[3].core = -1;
	assert_int_equal(heddle_platform_cluster(p, "2"), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "clusters \"2\": "));
	assert_non_null(strstr(heddle_last_error(), "cpu3 is bound to no core"));
	p->workers[3].core = 2;
	assert_int_equal(heddle_platform_cluster(p, "2"), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "two CPU workers are on core 2"));
	heddle_platform_free(before);
	heddle_platform_free(p);
}

static void a_file_has_a_range_in_each_line(void **state)
{
	struct heddle_platform *p = parsed(CORES);
	const char *path = file_in(*state, "ranges");
	write_text(path, "# two of three\n0-2\n\n  8 - 10  # the end\n4\n");
	assert_int_equal(heddle_platform_cluster(p, path), 0);
	assert_string_equal(driven(p), "0-2 3 4 6 7 8-10");
	static const char *const bad[][2] = {
	    {"0-2\nx\n", "line 2 is \"x\""}, {"3-1\n", "line 1"},
	    {"0-2 4\n", "line 1"},           {"4-6\n", "4-6"}, /* core 5 serves a GPU */
	    {"0-2\n2-3\n", "line 2"},        {"50\n", "50-50"},
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		write_text(path, bad[i][0]);
		assert_int_equal(heddle_platform_cluster(p, path), HEDDLE_E_INVALID);
		if (!strstr(heddle_last_error(), bad[i][1]))
			fail_msg("%s", heddle_last_error());
	}
	assert_string_equal(driven(p), "0-2 3 4 6 7 8-10");
	heddle_platform_free(p);
}

/* A name that a cluster set could not use would hide what it means. */
static void levels_must_be_nameable(void **state)
{
	static const char *const bad[] = {"none", "auto", "adaptive", "2", "2x4+1", "a,b", "adaptive:none"};
	(void)state;
	struct heddle_platform *p = parsed(CORES);
	char *name = p->levels[0].name, room[16];
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		p->levels[0].name = strcpy(room, bad[i]);
		assert_int_equal(heddle_platform_check(p), HEDDLE_E_FORMAT);
		assert_non_null(strstr(heddle_last_error(), "rename it"));
		assert_int_equal(heddle_platform_cluster(p, "l3"), HEDDLE_E_FORMAT);
		assert_string_equal(driven(p), "0 1 2 3 4 6 7 8 9 10");
	}
	p->levels[0].name = name;
	assert_int_equal(heddle_platform_cluster(p, "adaptive:none,l3"), 0);
	assert_string_equal(driven(p), "0 1 2 3 4 6 7 8 9 10");
	assert_int_equal(p->n_workers, 15);
	heddle_platform_free(p);
}

/* Where no graph is known, auto is adaptive: single cores, the groups of the largest level, and halves of these. */
static void auto_and_adaptive_declare_the_same(void **state)
{
	static const char *const texts[] = {"adaptive", "auto", "adaptive:none,2,socket", "none,2,socket"};
	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct heddle_platform *p = parsed(CORES);
		unsigned workers[20];
		size_t n = 0;
		assert_int_equal(heddle_platform_cluster(p, texts[i]), 0);
		assert_string_equal(driven(p), "0 1 2 3 4 6 7 8 9 10");
		assert_int_equal(p->n_workers, 17);
		assert_int_equal(hd_cluster_set_workers(p, "2", workers, &n), 0);
		assert_int_equal(hd_cluster_set_workers(p, "socket", workers, &n), 0);
		assert_int_equal(n, 2);
		heddle_platform_free(p);
	}
	struct heddle_platform *p = parsed(CORES);
	static const char *const unknown[] = {"best", "auto:none,socket", "adaptively"};
	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
		assert_int_equal(heddle_platform_cluster(p, unknown[i]), HEDDLE_E_INVALID);
		assert_non_null(strstr(heddle_last_error(), "it must be none, socket, l3, a number of cores"));
	}
	heddle_platform_free(p);
}

static void several_cluster_sets_are_declared_and_the_first_is_driven(void **state)
{
	struct heddle_platform *p = parsed(CORES);
	assert_int_equal(heddle_platform_cluster(p, "1x5,socket,none"), 0);
	/* 1x5: cpu0-4 and five cores; the GPU; socket adds cpu6-10, none adds the first five cores */
	static const char *const names[] = {"cpu0-4",  "cpu5", "cpu6", "cpu7", "cpu8", "cpu9", "gpu",
	                                    "cpu6-10", "cpu0", "cpu1", "cpu2", "cpu3", "cpu4"};
	assert_int_equal(p->n_workers, sizeof names / sizeof *names);
	for (size_t i = 0; i < p->n_workers; i++) {
		assert_string_equal(p->workers[i].name, names[i]);
		assert_int_equal(p->workers[i].retired, i > 6);
	}
	assert_string_equal(p->classes[p->workers[0].class_id].name, "cpu*5");
	assert_int_equal(p->workers[0].class_id, p->workers[7].class_id);
	assert_round_trip(p, file_in(*state, "declared.yaml"));
	unsigned workers[20];
	size_t n = 0;
	assert_int_equal(hd_cluster_set_workers(p, "socket", workers, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(workers[0], 0);
	assert_int_equal(workers[1], 7);
	assert_int_equal(hd_cluster_set_workers(p, "none", workers, &n), 0);
	assert_int_equal(n, 10);
	assert_int_equal(workers[0], 8);
	assert_int_equal(workers[5], 1);
	assert_int_equal(hd_cluster_set_workers(p, "2", workers, &n), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "\"2\" were not declared"));
	heddle_platform_free(p);
}

static double time_of(const struct heddle_platform *p, const char *codelet, const char *class_name, double bytes,
                      double flops)
{
	for (unsigned c = 0; c < p->n_classes; c++)
		if (strcmp(p->classes[c].name, class_name) == 0)
			return heddle_platform_time(p, codelet, c, bytes, flops);
	fail_msg("there is no class %s", class_name);
	return NAN;
}

static void assert_near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-9 * fabs(b)))
		fail_msg("%.17g is not %.17g", a, b);
}

static void kernels_without_tables_follow_the_law(void **state)
{
	(void)state;
	struct heddle_platform *p = parsed(CORES LAW);
	assert_int_equal(heddle_platform_cluster(p, "socket"), 0);
	assert_near(time_of(p, "f", "cpu*5", 1000, 0), 100 / 5.0 + 0.8 * (8 + 1000 / 2000.0));
	assert_near(time_of(p, "f", "cpu*5", 100000, 0), 100000 / 5.0 + 0.8 * (8 + 100000 / 2000.0));
	double one = time_of(p, "g", "cpu", 6000, 5e6);
	assert_near(one, 4 + 6e6 / 2e3);
	assert_near(time_of(p, "g", "cpu*5", 6000, 5e6), one / 5 + 0.8 * (8 + 6000 / 2000.0));
	assert_near(time_of(p, "copy", "cpu*5", 6000, 0), 6 / 5.0 + 0.8 * (8 + 6000 / 2000.0));
	heddle_platform_free(p);
	p = parsed(CORES);
	assert_int_equal(heddle_platform_cluster(p, "socket"), 0);
	assert_near(time_of(p, "f", "cpu*5", 1000, 0),
	            100 / 5.0 + 0.8 * (HEDDLE_CLUSTER_LATENCY + 1000 / HEDDLE_CLUSTER_BANDWIDTH));
	heddle_platform_free(p);
}

static void tables_are_interpolated_in_size_and_in_cores(void **state)
{
	(void)state;
	struct heddle_platform *p = parsed(CORES LAW "- codelet: f\n  class: cpu\n  cores: 4\n  factors:\n"
	                                             "  - {bytes: 1000, factor: 2}\n  - {bytes: 4000, factor: 3.2}\n"
	                                             "- codelet: f\n  class: cpu\n  cores: 2\n  factors:\n"
	                                             "  - {bytes: 1000, factor: 1.6}\n");
	assert_int_equal(heddle_platform_cluster(p, "4,2,3,5"), 0);
	/* what a table says */
	assert_near(time_of(p, "f", "cpu*4", 1000, 0), 100 / 2.0);
	assert_near(time_of(p, "f", "cpu*4", 4000, 0), time_of(p, "f", "cpu", 4000, 0) / 3.2);
	/* beyond it, the serial part goes on falling: from 1/3 to 1/12 as bytes grow fourfold, 1/(3 * 4^k) */
	double serial = 1 / 3.0 * pow(100, -1);
	assert_near(time_of(p, "f", "cpu*4", 100000, 0), 100000 * (1 + 3 * serial) / 4);
	/* between 2 and 4 cores, k / S lies halfway; 2 / 1.6 is 1.25, 4 / 2 is 2 */
	assert_near(time_of(p, "f", "cpu*3", 1000, 0), 100 * (1.25 + 2) / 2 / 3);
	assert_near(time_of(p, "f", "cpu*5", 1000, 0), 100 * (2 + 0.375) / 5);
	assert_near(time_of(p, "f", "cpu*2", 1000, 0), 100 / 1.6);
	/* a table is of one codelet */
	assert_near(time_of(p, "copy", "cpu*5", 6000, 0), 6 / 5.0 + 0.8 * (8 + 6000 / 2000.0));
	heddle_platform_free(p);
}

/* Between one core and the cores of a table, Amdahl's law holds; a kernel is never slower than on one core. */
static void few_cores_follow_amdahl(void **state)
{
	(void)state;
	struct heddle_platform *p = parsed(CORES "speedups:\n- codelet: f\n  class: cpu\n  cores: 5\n  factors:\n"
	                                         "  - {bytes: 1000, factor: 1.25}\n  - {bytes: 4000, factor: 2.5}\n");
	assert_int_equal(heddle_platform_cluster(p, "5,2"), 0);
	double serial = (5 / 1.25 - 1) / 4;
	assert_near(time_of(p, "f", "cpu*2", 1000, 0), 100 * ((1 - serial) / 2 + serial));
	serial = (5 / 2.5 - 1) / 4;
	assert_near(time_of(p, "f", "cpu*2", 4000, 0), time_of(p, "f", "cpu", 4000, 0) * ((1 - serial) / 2 + serial));
	heddle_platform_free(p);
	struct heddle_platform *small =
	    parsed(CORES "speedups:\n- codelet: f\n  class: cpu\n  cores: 5\n  factors:\n"
	                 "  - {bytes: 100000, factor: 2}\n  - {bytes: 1000000, factor: 4.9}\n");
	assert_int_equal(heddle_platform_cluster(small, "5"), 0);
	assert_near(time_of(small, "f", "cpu*5", 1000, 0), time_of(small, "f", "cpu", 1000, 0));
	heddle_platform_free(small);
}

static void shipped_haswell_has_the_table_of_the_paper(void **state)
{
	(void)state;
	static const struct {
		const char *codelet;
		double tiles, factors[2];
	} rows[] = {{"dpotrf", 1, {5.55, 7.48}},
	            {"dtrsm", 2, {6.75, 8.48}},
	            {"dsyrk", 2, {6.90, 8.63}},
	            {"dgemm", 3, {7.77, 8.56}}};
	struct heddle_platform *p = loaded("haswell-k40m");
	assert_int_equal(heddle_platform_cluster(p, "socket,numa"), 0);
	assert_string_equal(driven(p), "0-9 12-21");
	for (size_t i = 0; i < 8; i++) {
		double n = i % 2 ? 1920 : 960, bytes = rows[i / 2].tiles * n * n * 8;
		const char *codelet = rows[i / 2].codelet;
		assert_near(time_of(p, codelet, "cpu", bytes, 1) / time_of(p, codelet, "cpu*10", bytes, 1),
		            rows[i / 2].factors[i % 2]);
		double six = time_of(p, codelet, "cpu", bytes, 1) / time_of(p, codelet, "cpu*6", bytes, 1);
		assert_true(six > 1 && six < rows[i / 2].factors[i % 2]);
	}
	heddle_platform_free(p);
}

static void shipped_machines_have_clusters_by_socket(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_SHIPPED; i++) {
		struct heddle_platform *p = loaded(shipped[i]);
		assert_int_equal(heddle_platform_cluster(p, "socket,numa,l3,2,none"), 0);
		size_t clusters = 0;
		for (size_t w = 0; w < p->n_workers; w++)
			clusters += !p->workers[w].retired && p->classes[p->workers[w].class_id].cores > 1;
		assert_int_equal(clusters, strcmp(shipped[i], "gpu1-cpu6") ? 2 : 1);
		heddle_platform_free(p);
	}
}

/* Groups any two neighbouring cores, splits them, and groups them again: the worker of a core that was in a cluster
 * gets a name which no other has, although workers of shipped platforms are not called after their cores. */
static void shipped_machines_can_be_grouped_again(void **state)
{
	const char *path = file_in(*state, "pair");
	for (size_t i = 0; i < N_SHIPPED; i++) {
		struct heddle_platform *p = loaded(shipped[i]);
		char wanted[400], range[32];
		strcpy(wanted, driven(p));
		for (size_t w = 0; w + 1 < p->n_workers; w++) {
			const struct heddle_worker *x = &p->workers[w], *y = &p->workers[w + 1];
			if (x->class_id != y->class_id || strcmp(p->classes[x->class_id].kind, "cpu") != 0 ||
			    y->core != x->core + 1)
				continue;
			struct heddle_platform *again = NULL;
			assert_int_equal(heddle_platform_copy(p, &again), 0);
			snprintf(range, sizeof range, "%d-%d\n", x->core, y->core);
			write_text(path, range);
			for (int round = 0; round < 2; round++) {
				if (heddle_platform_cluster(again, path))
					fail_msg("%s, %s: %s", shipped[i], range, heddle_last_error());
				assert_string_not_equal(driven(again), wanted);
				if (heddle_platform_cluster(again, "none"))
					fail_msg("%s, %s: %s", shipped[i], range, heddle_last_error());
				assert_string_equal(driven(again), wanted);
			}
			heddle_platform_free(again);
		}
		heddle_platform_free(p);
	}
}

/* The setting, in virtual time; and the real machine has at least one level, unless hwloc knows nothing. */
static void setting_groups_the_cores(void **state)
{
	(void)state;
	struct heddle_config config;
	heddle_runtime *rt = NULL;
	assert_int_equal(heddle_config_init(&config), 0);
	config.platform = "haswell-k40m";
	config.model_dir = "none";
	assert_int_equal(heddle_setting_set(&config, "clusters", "socket"), 0);
	assert_int_equal(heddle_start(&config, &rt), 0);
	assert_string_equal(driven(heddle_runtime_platform(rt)), "0-9 12-21");
	assert_int_equal(heddle_stop(rt), 0);
	config.clusters = "11";
	assert_int_equal(heddle_start(&config, &rt), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), "no 11 free cores"));
	config.platform = NULL;
	config.clusters = "none";
	struct heddle_platform *here = NULL;
	assert_int_equal(heddle_platform_configured(&config, &here), 0);
	for (size_t i = 0; i < here->n_levels; i++)
		assert_true(here->levels[i].n_groups > 0);
	if (here->n_levels) {
		assert_int_equal(heddle_platform_cluster(here, here->levels[0].name), 0);
		assert_true(here->n_workers >= 1);
	}
	heddle_platform_free(here);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(cluster_sets_group_the_cores_of_cpu_workers),
	    cmocka_unit_test(wrong_cluster_sets_are_named_and_change_nothing),
	    IN_DIRECTORY(a_file_has_a_range_in_each_line),
	    cmocka_unit_test(levels_must_be_nameable),
	    cmocka_unit_test(auto_and_adaptive_declare_the_same),
	    IN_DIRECTORY(several_cluster_sets_are_declared_and_the_first_is_driven),
	    cmocka_unit_test(kernels_without_tables_follow_the_law),
	    cmocka_unit_test(tables_are_interpolated_in_size_and_in_cores),
	    cmocka_unit_test(few_cores_follow_amdahl),
	    cmocka_unit_test(shipped_haswell_has_the_table_of_the_paper),
	    cmocka_unit_test(shipped_machines_have_clusters_by_socket),
	    IN_DIRECTORY(shipped_machines_can_be_grouped_again),
	    cmocka_unit_test(setting_groups_the_cores),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
