/* Platforms: kernel times, the shipped machines, the machine the tests run on. */
#define _GNU_SOURCE
#include <sched.h>
#include "platform_fixture.h"

/* --- Kernel times ------------------------------------------------------------------------------------------------- */

static void assert_close(double a, double b)
{
	if (!(fabs(a - b) <= 1e-12 * fabs(b)))
		fail_msg("%.17g is not %.17g", a, b);
}

static void time_in_table_follows_log_log_segments(void **state)
{
	(void)state;
	struct heddle_platform *p = parsed(TINY); /* 100 -> 10, 400 -> 80: exponent 1.5 */
	assert_true(heddle_platform_time(p, "gemm", 0, 100, 0) == 10);
	assert_true(heddle_platform_time(p, "gemm", 0, 400, 0) == 80);
	assert_close(heddle_platform_time(p, "gemm", 0, 200, 0), 10 * pow(2, 1.5));
	assert_close(heddle_platform_time(p, "gemm", 0, 1600, 0), 640);
	assert_close(heddle_platform_time(p, "gemm", 0, 25, 0), 1.25);
	heddle_platform_free(p);
}

static void time_in_long_table_uses_the_right_segment(void **state)
{
	(void)state;
	struct heddle_platform *p = parsed(
	    HEAD "nodes:\n- {name: ram}\nclasses:\n- {name: cpu, kind: cpu}\nworkers:\n- {name: a, class: cpu, node: "
	         "ram}\nkernels:\n"
	         "- codelet: f\n  class: cpu\n  table: [{bytes: 0, us: 1}, {bytes: 10, us: 3}, {bytes: 100, us: 30}, "
	         "{bytes: 1000, us: 30}, {bytes: 2000, us: 120}]\n");
	static const double expected[][2] = {{0, 1},    {5, 2},     {10, 3},     {50, 15},   {100, 30},
	                                     {500, 30}, {1000, 30}, {2000, 120}, {4000, 480}};
	for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
		assert_close(heddle_platform_time(p, "f", 0, expected[i][0], 0), expected[i][1]);
	heddle_platform_free(p);
}

static void time_of_one_point_grows_as_bytes_to_three_halves(void **state)
{
	(void)state;
	struct heddle_platform *p = parsed(TINY);
	p->kernels[0].n_table = 1;
	assert_true(heddle_platform_time(p, "gemm", 0, 100, 0) == 10);
	assert_close(heddle_platform_time(p, "gemm", 0, 400, 0), 80);
	heddle_platform_free(p);
}

static void time_by_rate_reaches_half_at_half_flops(void **state)
{
	(void)state;
	struct heddle_platform *p = parsed(TINY); /* 1000 Gflop/s = 1e6 flop/us, half 2e6, 5 us */
	assert_close(heddle_platform_time(p, "gemm", 1, 1, 2e6), 5 + 2 * 2e6 / 1e6);
	assert_close(heddle_platform_time(p, "gemm", 1, 1, 1e12), 5 + (1e12 + 2e6) / 1e6);
	assert_true(isnan(heddle_platform_time(p, "gemm", 1, 1, 0)));
	heddle_platform_free(p);
}

static void time_by_bandwidth_needs_no_flops(void **state)
{
	(void)state;
	struct heddle_platform *p = parsed(HEAD NODES CLASSES WORKERS BUSES LINKS
	                                   "kernels:\n- {codelet: move, class: cpu, bandwidth_mbs: 2000}\n"
	                                   "- {codelet: move, class: fast, bandwidth_mbs: 1e4, latency_us: 7}\n"
	                                   "- {codelet: both, class: cpu, gflops: 1, half_flops: 3000, "
	                                   "bandwidth_mbs: 100}\n");
	assert_close(heddle_platform_time(p, "move", 0, 1e6, 0), 500);
	assert_close(heddle_platform_time(p, "move", 0, 1e6, 1e9), 500);
	assert_close(heddle_platform_time(p, "move", 1, 1e6, 0), 107);
	assert_close(heddle_platform_time(p, "both", 0, 1000, 2000), 5 + 10);
	assert_true(isnan(heddle_platform_time(p, "both", 0, 1000, 0)));
	heddle_platform_free(p);
}

static void time_of_unknown_kernel_is_nan(void **state)
{
	(void)state;
	struct heddle_platform *p = parsed(TINY);
	assert_true(isnan(heddle_platform_time(p, "trsm", 0, 100, 1)));
	assert_true(isnan(heddle_platform_time(p, "gemm", 2, 100, 1)));
	heddle_platform_free(p);
}

/* --- What the shipped machines are -------------------------------------------------------------------------------- */

static size_t count_kind(const struct heddle_platform *p, const char *kind)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n_workers; i++)
		n += strcmp(p->classes[p->workers[i].class_id].kind, kind) == 0;
	return n;
}

static void shipped_machines_have_their_workers(void **state)
{
	(void)state;
	static const size_t workers[N_SHIPPED][2] = {{62, 2}, {6, 1}, {20, 4}, {30, 2}, {4, 8}, {4, 8}};
	for (size_t i = 0; i < N_SHIPPED; i++) {
		struct heddle_platform *p = loaded(shipped[i]);
		assert_int_equal(count_kind(p, "cpu"), workers[i][0]);
		assert_int_equal(count_kind(p, "cuda"), workers[i][1]);
		assert_int_equal(p->workers[p->n_workers - 1].node, p->n_nodes - 1);
		heddle_platform_free(p);
	}
}

static void shipped_machines_time_cholesky_on_both_classes(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		double tiles, flops; /* of n^3 */
	} kernels[] = {{"potrf", 1, 1.0 / 3}, {"trsm", 2, 1}, {"syrk", 2, 1}, {"gemm", 3, 2}};
	for (size_t i = 0; i < N_SHIPPED; i++) {
		struct heddle_platform *p = loaded(shipped[i]);
		for (size_t k = 0; k < 8; k++) {
			char name[16];
			double n = 960, bytes = kernels[k / 2].tiles * n * n * (k % 2 ? 8 : 4);
			snprintf(name, sizeof name, "%c%s", k % 2 ? 'd' : 's', kernels[k / 2].name);
			double cpu = heddle_platform_time(p, name, 0, bytes, kernels[k / 2].flops * n * n * n);
			double gpu = heddle_platform_time(p, name, 1, bytes, kernels[k / 2].flops * n * n * n);
			assert_true(cpu > 100 && cpu < 1e6 && gpu > 100 && gpu < 1e5);
			if (k / 2 > 0) /* potrf is no work for a GPU of 2010 */
				assert_true(gpu < cpu);
		}
		heddle_platform_free(p);
	}
}

/* The kernels of a dense library, each with its operations over the cube of the tile and the tiles that it works on.
 * On a GPU, some wait more than they compute. */
static const struct {
	const char *name;
	double tiles, cubes;
	int slow_on_gpu;
} dense_kernels[] = {
    {"gemm", 3, 2, 0},
    {"symm", 3, 2, 0},
    {"hemm", 3, 2, 0},
    {"syrk", 2, 1, 0},
    {"herk", 2, 1, 0},
    {"trsm", 2, 1, 0},
    {"trmm", 2, 1, 0},
    {"potrf", 1, 1.0 / 3, 1},
    {"trtri", 1, 1.0 / 3, 1},
    {"lauum", 1, 1.0 / 3, 1},
    {"getrf_nopiv", 1, 2.0 / 3, 1},
    {"getrf_panel", 8, 15.0, 1},
    {"laswp", 8, 0, 0},
    {"geqrt", 1, 4.0 / 3, 1},
    {"gemqrt", 2, 2, 0},
    {"tsqrt", 2, 2, 1},
    {"tsmqr", 3, 4, 0},
    {"ttqrt", 2, 2.0 / 3, 1},
    {"ttmqr", 3, 2, 0},
};

/* Times of a tile of 960, and of a column of eight of them, are known in each precision. A core takes between 1 ms and
 * 10 s. No kernel but getrf_panel is unknown to GPUs, which are faster where they are of use. */
static void shipped_machines_time_every_dense_kernel(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_SHIPPED; i++) {
		struct heddle_platform *p = loaded(shipped[i]);
		for (size_t k = 0; k < 4 * sizeof dense_kernels / sizeof *dense_kernels; k++) {
			const char letter = "sdcz"[k % 4], *kernel = dense_kernels[k / 4].name;
			if (k % 4 < 2 && (strcmp(kernel, "hemm") == 0 || strcmp(kernel, "herk") == 0))
				continue;
			double n = 960, element = (double[]){4, 8, 8, 16}[k % 4];
			double bytes = dense_kernels[k / 4].tiles * n * n * element;
			double flops = dense_kernels[k / 4].cubes * n * n * n * (k % 4 < 2 ? 1 : 4);
			char name[24];
			snprintf(name, sizeof name, "%c%s", letter, kernel);
			double cpu = heddle_platform_time(p, name, 0, bytes, flops);
			double gpu = heddle_platform_time(p, name, 1, bytes, flops);
			if (!(cpu > 1e3 && cpu < 1e7))
				fail_msg("%s: %s takes %g us on a core", shipped[i], name, cpu);
			if (strcmp(kernel, "getrf_panel") == 0)
				assert_true(isnan(gpu));
			else if (!(gpu > 50 && gpu < 1e6 && (dense_kernels[k / 4].slow_on_gpu || gpu < cpu / 4)))
				fail_msg("%s: %s takes %g us on a GPU, %g on a core", shipped[i], name, gpu, cpu);
		}
		heddle_platform_free(p);
	}
}

/* A complex kernel does four times the real operations at a rate that is a little better, never worse. */
static void shipped_complex_kernels_have_the_real_rate(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_SHIPPED; i++) {
		struct heddle_platform *p = loaded(shipped[i]);
		for (unsigned c = 0; c < 2; c++) {
			double n = 960, flops = 2 * n * n * n;
			double real = heddle_platform_time(p, "dgemm", c, 3 * 8 * n * n, flops);
			double complex = heddle_platform_time(p, "zgemm", c, 3 * 16 * n * n, 4 * flops);
			if (!(complex > 2.6 * real && complex < 4.1 * real))
				fail_msg("%s, class %u: zgemm %g us, dgemm %g", shipped[i], c, complex, real);
		}
		heddle_platform_free(p);
	}
}

static void shipped_dada_machine_has_no_links_between_gpus(void **state)
{
	(void)state;
	struct heddle_platform *with = loaded("westmere-c2050"), *without = loaded("westmere-c2050-dada");
	assert_int_equal(with->n_links, 9 * 8);
	assert_int_equal(without->n_links, 2 * 8);
	for (size_t i = 0; i < without->n_links; i++) {
		const struct heddle_link *l = &without->links[i], *same = heddle_platform_link(with, l->from, l->to);
		assert_true(l->from == 0 || l->to == 0);
		assert_true(l->bandwidth == same->bandwidth && l->latency == same->latency);
		assert_int_equal(l->n_buses, same->n_buses);
	}
	heddle_platform_free(with);
	heddle_platform_free(without);
}

static void shipped_haswell_quotes_the_measurements(void **state)
{
	(void)state;
	struct heddle_platform *p = loaded("haswell-k40m");
	double gemm = heddle_platform_time(p, "sgemm", 0, 11059200, 0);
	assert_true(gemm == 34940.3);
	assert_true(fabs(heddle_platform_time(p, "sgemm", 1, 11059200, 0) - 749) < 1);
	assert_true(heddle_platform_time(p, "dgetrf_nopiv", 0, 7372800, 0) == 177857);
	assert_true(heddle_platform_link(p, 0, 1)->bandwidth == 10517.68);
	heddle_platform_free(p);
}

/* --- This machine ------------------------------------------------------------------------------------------------- */

static void discover_describes_this_machine(void **state)
{
	struct heddle_platform *p = NULL, *one = NULL;
	assert_int_equal(heddle_platform_discover(-1, &p), 0);
	assert_int_equal(heddle_platform_check(p), 0);
	assert_true(p->n_workers >= 1);
	for (size_t i = 0; i < p->n_workers; i++)
		assert_int_equal(p->workers[i].core, i);
	assert_string_equal(p->workers[0].name, "cpu0");
	assert_string_equal(p->nodes[0].name, "ram");
	assert_string_equal(p->classes[0].kind, "cpu");
	assert_round_trip(p, file_in(*state, "this.yaml"));
	assert_int_equal(heddle_platform_discover(1, &one), 0);
	assert_int_equal(one->n_workers, 1);
	char cores[32];
	snprintf(cores, sizeof cores, " %zu core", p->n_workers);
	assert_int_equal(heddle_platform_discover((int)p->n_workers + 777, &one), HEDDLE_E_INVALID);
	assert_non_null(strstr(heddle_last_error(), cores));
	assert_non_null(strstr(heddle_last_error(), "-1"));
	heddle_platform_free(p);
	heddle_platform_free(one);
}

static void discover_nothing_is_for_accelerators_only(void **state)
{
	(void)state;
	struct heddle_platform *p = NULL;
	assert_int_equal(heddle_platform_discover(0, &p), 0);
	assert_int_equal(p->n_workers, 0);
	assert_int_equal(heddle_platform_add_emulated(p, 0, 0, 0, 1), 0);
	assert_int_equal(heddle_platform_check(p), 0);
	assert_true(heddle_platform_link(p, 0, 1)->bandwidth > 0);
	heddle_platform_free(p);
}

static void add_emulated_twice_gives_two_nodes_and_one_class(void **state)
{
	struct heddle_platform *p = parsed(TINY);
	assert_int_equal(heddle_platform_add_emulated(p, 1000, 500, 20, 3), 0);
	assert_int_equal(heddle_platform_add_emulated(p, 2000, 600, 30, 9), 0);
	assert_int_equal(heddle_platform_check(p), 0);
	assert_int_equal(p->n_classes, 3);
	assert_true(p->classes[2].slowdown == 3);
	assert_string_equal(p->classes[2].kind, "emulated");
	assert_int_equal(p->n_nodes, 4);
	assert_int_equal(p->nodes[3].capacity, 2000);
	assert_int_equal(p->workers[p->n_workers - 1].node, 3);
	assert_int_equal(p->workers[p->n_workers - 1].class_id, 2);
	assert_string_equal(p->workers[p->n_workers - 1].name, "emulated1");
	assert_true(heddle_platform_link(p, 3, 0)->bandwidth == 600);
	assert_true(heddle_platform_link(p, 0, 2)->latency == 20);
	assert_round_trip(p, file_in(*state, "emulated.yaml"));
	heddle_platform_free(p);
}

/* The platform has nodes of such names already, as one that was saved with accelerators and loaded again. */
static void emulated_accelerator_gets_a_name_that_is_free(void **state)
{
	(void)state;
	for (int last = 0; last < 3; last++) {
		struct heddle_platform *p = NULL;
		char expected[32];
		assert_int_equal(heddle_platform_discover(1, &p), 0);
		for (int i = 0; i <= last; i++)
			assert_int_equal(heddle_platform_add_emulated(p, 0, 0, 0, 1), 0);
		p->next_emulated = 0; /* what a file does not say */
		assert_int_equal(heddle_platform_add_emulated(p, 0, 0, 0, 1), 0);
		snprintf(expected, sizeof expected, "emulated%d", last + 1);
		assert_string_equal(p->nodes[last + 2].name, expected);
		assert_int_equal(heddle_platform_check(p), 0);
		heddle_platform_free(p);
	}
}

static void add_emulated_wrong_argument_changes_nothing(void **state)
{
	(void)state;
	struct heddle_platform *p = parsed(TINY), *before = NULL;
	assert_int_equal(heddle_platform_copy(p, &before), 0);
	assert_int_equal(heddle_platform_add_emulated(NULL, 0, 1, 1, 1), HEDDLE_E_INVALID);
	assert_int_equal(heddle_platform_add_emulated(p, 0, -1, 1, 1), HEDDLE_E_INVALID);
	assert_int_equal(heddle_platform_add_emulated(p, 0, 1, NAN, 1), HEDDLE_E_INVALID);
	assert_int_equal(heddle_platform_add_emulated(p, 0, 1, 1, 0.5), HEDDLE_E_INVALID);
	assert_same(p, before);
	heddle_platform_free(p);
	heddle_platform_free(before);
}

static size_t cores_now(void)
{
	struct hd_topology *t;
	assert_int_equal(hd_topology_open(0, &t), 0);
	size_t cores = hd_topology_cores(t);
	hd_topology_close(t);
	return cores;
}

static void topology_binds_and_gives_back(void **state)
{
	(void)state;
	struct hd_topology *t = NULL;
	assert_int_equal(hd_topology_open(0, &t), 0);
	size_t cores = hd_topology_cores(t);
	assert_true(cores >= 1);
	assert_int_equal(hd_topology_bind(t, (int)cores), HEDDLE_E_INVALID);
	assert_int_equal(hd_topology_bind(t, (int)cores - 1), 0);
	assert_int_equal(hd_topology_bind(t, -1), 0);
	hd_topology_close(t);
	assert_int_equal(cores_now(), cores); /* of a process that is bound nowhere again */
	hd_topology_close(NULL);
}

/* The binding that a program finds or makes counts; not that of a worker. This thread is all of the process, since
 * ctest has set OPENBLAS_NUM_THREADS to 1. */
static void topology_has_the_cores_to_which_the_process_is_bound(void **state)
{
	(void)state;
	struct hd_topology *t = NULL;
	cpu_set_t all;
	assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
	assert_int_equal(hd_topology_open(0, &t), 0);
	size_t cores = hd_topology_cores(t);
	assert_int_equal(hd_topology_bind(t, 0), 0);
	assert_int_equal(cores_now(), cores); /* for another runtime, while one has this thread as a worker */
	hd_topology_close(t);
	assert_int_equal(cores_now(), 1);
	size_t of = 0;
	assert_int_equal(hd_topology_open(0, &t), 0);
	assert_true((hd_topology_bound_by(t, &of) != NULL) == (cores > 1) && of >= cores);
	setenv("OMP_PROC_BIND", "true", 1);
	assert_true(cores == 1 || strstr(hd_topology_bound_by(t, &of), "OMP_PROC_BIND"));
	unsetenv("OMP_PROC_BIND");
	hd_topology_close(t);
	assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
	assert_int_equal(cores_now(), cores);
}

static int n_looked;

int __wrap_hwloc_topology_load(hwloc_topology_t hwloc)
{
	n_looked++;
	return __real_hwloc_topology_load(hwloc);
}

/* Once more for devices, which the first look leaves out. */
static void process_looks_at_the_machine_once(void **state)
{
	(void)state;
	struct hd_topology *t;
	n_looked = 0;
	for (int with_devices = 0; with_devices < 2; with_devices++) {
		assert_int_equal(hd_topology_open(with_devices, &t), 0);
		hd_topology_close(t);
	}
	assert_int_equal(n_looked, 1); /* the tests before have looked for cores */
	for (int i = 0; i < 4; i++) {
		struct heddle_platform *p;
		assert_int_equal(hd_topology_open(i % 2, &t), 0);
		hd_topology_close(t);
		assert_int_equal(heddle_platform_discover(-1, &p), 0);
		heddle_platform_free(p);
	}
	assert_int_equal(n_looked, 1);
}

static void topology_distance_grows_with_separation(void **state)
{
	(void)state;
	struct heddle_platform *p = NULL;
	struct hd_topology *t = NULL;
	assert_int_equal(heddle_platform_discover(-1, &p), 0);
	assert_int_equal(heddle_platform_add_emulated(p, 0, 0, 0, 1), 0);
	assert_int_equal(hd_topology_open(0, &t), 0);
	unsigned n = (unsigned)p->n_workers;
	for (unsigned a = 0; a < n; a++)
		for (unsigned b = 0; b < n; b++) {
			unsigned real = hd_topology_distance(t, p, a, b), flat = hd_topology_distance(NULL, p, a, b);
			assert_int_equal(real, hd_topology_distance(t, p, b, a));
			assert_int_equal(real == 0, a == b);
			assert_int_equal(flat, a == b ? 0 : p->workers[a].node == p->workers[b].node ? 1 : 2);
			if (a != b && a < n - 1 &&
			    b < n - 1) /* the emulated one is the last, and farther than any core */
				assert_true(real < hd_topology_distance(t, p, a, n - 1));
		}
	hd_topology_close(t);
	heddle_platform_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(time_in_table_follows_log_log_segments),
	    cmocka_unit_test(time_in_long_table_uses_the_right_segment),
	    cmocka_unit_test(time_of_one_point_grows_as_bytes_to_three_halves),
	    cmocka_unit_test(time_by_rate_reaches_half_at_half_flops),
	    cmocka_unit_test(time_by_bandwidth_needs_no_flops),
	    cmocka_unit_test(time_of_unknown_kernel_is_nan),
	    cmocka_unit_test(shipped_machines_have_their_workers),
	    cmocka_unit_test(shipped_machines_time_cholesky_on_both_classes),
	    cmocka_unit_test(shipped_machines_time_every_dense_kernel),
	    cmocka_unit_test(shipped_complex_kernels_have_the_real_rate),
	    cmocka_unit_test(shipped_dada_machine_has_no_links_between_gpus),
	    cmocka_unit_test(shipped_haswell_quotes_the_measurements),
	    IN_DIRECTORY(discover_describes_this_machine),
	    cmocka_unit_test(discover_nothing_is_for_accelerators_only),
	    IN_DIRECTORY(add_emulated_twice_gives_two_nodes_and_one_class),
	    cmocka_unit_test(emulated_accelerator_gets_a_name_that_is_free),
	    cmocka_unit_test(add_emulated_wrong_argument_changes_nothing),
	    cmocka_unit_test(topology_binds_and_gives_back),
	    cmocka_unit_test(topology_has_the_cores_to_which_the_process_is_bound),
	    cmocka_unit_test(process_looks_at_the_machine_once),
	    cmocka_unit_test(topology_distance_grows_with_separation),
	};
	return cmocka_run_group_tests_name("platform", tests, NULL, NULL);
}
