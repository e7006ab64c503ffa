/* `heddle tune --here`: which tiles are tried, on times that a formula gives; and where the tile is kept and found. */
#include "shared/tune_here.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "ok.h"

/* The fastest is `best`; tiles that were tried. */
struct fake {
	size_t best, tried[64], n;
	size_t fails; /* the order of a tile that cannot be run */
};

static double fake_time(size_t tile, void *arg)
{
	struct fake *f = arg;
	f->tried[f->n++] = tile;
	if (tile == f->fails)
		return NAN;
	return 1 + fabs(log((double)tile / (double)f->best));
}

static void the_fastest_tile_is_found(void **state)
{
	(void)state;
	static const size_t orders[] = {64, 128, 384, 640, 1024};
	for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
		struct fake f = {.best = orders[i]};
		double seconds;
		assert_int_equal(tile_search(8192, 1024, fake_time, &f, &seconds), orders[i]);
		assert_true(seconds == 1);
	}
}

static void tiles_that_are_clearly_too_large_are_not_tried(void **state)
{
	(void)state;
	struct fake f = {.best = 96};
	double seconds;
	assert_int_equal(tile_search(100000, 2048, fake_time, &f, &seconds), 96);
	for (size_t i = 0; i < f.n; i++)
		assert_true(f.tried[i] <= 192);
}

static void no_tile_is_larger_than_a_quarter_of_the_matrix(void **state)
{
	(void)state;
	struct fake f = {.best = 100000};
	double seconds;
	assert_int_equal(tile_search(1000, 2048, fake_time, &f, &seconds), 192);
	f.n = 0;
	assert_int_equal(tile_search(40, 2048, fake_time, &f, &seconds), 40); /* which is one tile */
	assert_int_equal(f.tried[0], 40);
}

static void tiles_that_fail_are_left_out(void **state)
{
	(void)state;
	struct fake f = {.best = 64, .fails = 64};
	double seconds;
	assert_int_equal(tile_search(400, 1024, fake_time, &f, &seconds), 96);
	f = (struct fake){.best = 40, .fails = 40};
	assert_int_equal(tile_search(40, 1024, fake_time, &f, &seconds), 0);
}

/* --- What is kept ------------------------------------------------------------------------------------------------- */

static struct heddle_platform *two_cores(void)
{
	static const char yaml[] = "version: 1\nname: this\nnodes: [{name: ram}]\nclasses: [{name: cpu, kind: cpu}]\n"
	                           "workers: [{name: cpu, count: 2, class: cpu, node: ram}]\n";
	struct heddle_platform *p;
	OK(heddle_platform_parse("two", yaml, sizeof yaml - 1, &p));
	return p;
}

static size_t found(const char *dir, const struct heddle_platform *p, const char *routine, size_t n)
{
	struct heddle_dense_tuned tuned = {.tile = 0};
	const struct heddle_dense_problem problem = {.routine = routine, .n = n};
	return heddle_dense_tuned_find(dir, p, &problem, &tuned) ? tuned.tile : 0;
}

static void keep(const char *dir, const struct heddle_platform *p, size_t n, size_t tile)
{
	const struct heddle_dense_problem problem = {.routine = "potrf", .n = n};
	OK(heddle_dense_tuned_keep(dir, p, &problem,
	                           &(struct heddle_dense_tuned){.tile = tile, .gflops = 1.5, .day = "2026-11-28"}));
}

static void a_tile_is_found_for_its_routine_size_and_workers(void **state)
{
	(void)state;
	char dir[] = "/tmp/heddle-tiles-XXXXXX", path[64];
	struct heddle_platform *p = two_cores();
	assert_non_null(mkdtemp(dir));
	assert_int_equal(found(dir, p, "potrf", 4096), 0);
	keep(dir, p, 4096, 384);
	keep(dir, p, 16384, 640);
	assert_int_equal(found(dir, p, "potrf", 4096), 384);
	assert_int_equal(found(dir, p, "potrf", 8192), 384); /* as near as the other one, which came later */
	assert_int_equal(found(dir, p, "potrf", 8193), 640); /* nearer to this */
	assert_int_equal(found(dir, p, "potrf", 40000), 0);  /* more than twice as large */
	assert_int_equal(found(dir, p, "getrf", 4096), 0);
	keep(dir, p, 4096, 256); /* in place of the first */
	assert_int_equal(found(dir, p, "potrf", 4096), 256);
	assert_int_equal(found(dir, p, "potrf", 16384), 640);
	assert_int_equal(found("none", p, "potrf", 4096), 0);
	p->workers[1].retired = 1; /* another machine */
	assert_int_equal(found(dir, p, "potrf", 4096), 0);
	heddle_platform_free(p);
	snprintf(path, sizeof path, "%s/dense-tiles", dir);
	FILE *f = fopen(path, "w"); /* what is no line is left out */
	fputs("potrf d many cpu:2 384\n\xff\npotrf", f);
	assert_int_equal(fclose(f), 0);
	p = two_cores();
	assert_int_equal(found(dir, p, "potrf", 4096), 0);
	heddle_platform_free(p);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

/* A call that waits takes the tile that was found, and 64 without. */
static void calls_without_a_tile_use_what_was_found(void **state)
{
	(void)state;
	char dir[] = "/tmp/heddle-tiles-XXXXXX", path[64];
	assert_non_null(mkdtemp(dir));
	struct heddle_platform *p = two_cores();
	enum { N = 128 };
	static double a[N * N];
	uint64_t tasks[2];
	for (int known = 0; known < 2; known++) {
		struct heddle_config config;
		struct heddle_stats stats;
		heddle_runtime *rt;
		heddle_dense *dense;
		OK(heddle_config_init(&config));
		config.model_dir = "none";
		assert_int_equal(setenv("HEDDLE_MODEL_DIR", dir, 1), 0);
		OK(heddle_start_on(&config, p, 0, &rt));
		if (known)
			keep(dir, heddle_runtime_platform(rt), N, N);
		OK(heddle_dense_open(rt, &dense));
		for (size_t i = 0; i < N * N; i++)
			a[i] = i % (N + 1) ? 0 : 4;
		OK(heddle_dense_potrf(
		    dense, HEDDLE_DENSE_LOWER,
		    &(struct heddle_dense_array){
		        .precision = HEDDLE_DENSE_DOUBLE, .rows = N, .columns = N, .data = a, .ld = N},
		    NULL));
		OK(heddle_runtime_stats(rt, &stats));
		tasks[known] = stats.tasks_executed;
		assert_true(a[0] == 2);
		heddle_dense_close(dense);
		OK(heddle_stop(rt));
	}
	assert_true(tasks[1] < tasks[0]); /* one tile, or four */
	heddle_platform_free(p);
	snprintf(path, sizeof path, "%s/dense-tiles", dir);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_fastest_tile_is_found),
	    cmocka_unit_test(tiles_that_are_clearly_too_large_are_not_tried),
	    cmocka_unit_test(no_tile_is_larger_than_a_quarter_of_the_matrix),
	    cmocka_unit_test(tiles_that_fail_are_left_out),
	    cmocka_unit_test(a_tile_is_found_for_its_routine_size_and_workers),
	    cmocka_unit_test(calls_without_a_tile_use_what_was_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
