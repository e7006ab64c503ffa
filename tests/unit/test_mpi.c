/* Programs over ranks that are threads: whole programs, errors, streams that differ, ranks that fall silent, calls of
 * the transport that fail, pruning, caches, counts of messages. */
#include <pthread.h>
#include <stdlib.h>
#include "internals.h"
#include "program.h"
#include "../mpi/programs.h"
#include "../mpi/quiet.h"
#include "../sanitized.h"
#include "mpi/stream/loop.h"

enum { MOST_RANKS = 8, MORE_RANKS = SANITIZED ? 3 : 1 /* from one number of ranks to the next */ };

static struct heddle_config config_of_a_rank(void)
{
	struct heddle_config config;
	assert_ok(heddle_config_init(&config));
	config.n_cpu = 1;
	config.bind = 0;
	config.model_dir = "none";
	return config;
}

static int run(int n_ranks, const struct heddle_mpi_settings *settings, int (*program)(heddle_mpi *, void *), void *arg)
{
	struct heddle_config config = config_of_a_rank();
	return heddle_mpi_loop(&config, settings, n_ranks, program, arg);
}

static int run_in_chaos(int n_ranks, const struct heddle_mpi_settings *settings, const struct hd_mpi_chaos *chaos,
                        int (*program)(heddle_mpi *, void *), void *arg)
{
	struct heddle_config config = config_of_a_rank();
	struct hd_mpi_loop loop = {.config = &config, .settings = settings, .n_ranks = n_ranks, .chaos = chaos};
	loop.program = program;
	loop.arg = arg;
	return hd_mpi_loop_run(&loop);
}

static struct heddle_mpi_settings settings_with(unsigned gate, uint64_t cache, double peer_timeout)
{
	struct heddle_mpi_settings settings;
	heddle_mpi_settings_init(&settings);
	settings.gate = gate;
	settings.cache = cache;
	settings.peer_timeout = peer_timeout;
	return settings;
}

/* --- Whole programs ----------------------------------------------------------------------------------------------- */

static void rings_and_factorisations_on_1_to_8_ranks(void **state)
{
	(void)state;
	for (int n = 1; n <= MOST_RANKS; n += MORE_RANKS) {
		struct heddle_mpi_settings settings = settings_with((unsigned)n, n % 2 ? 0 : 1 << 20, 0);
		assert_ok(run(n, &settings, ring, NULL));
		assert_ok(run(n, &settings, cholesky, NULL));
	}
}

/* Message by message: a tile of L is sent once to each other rank that owns a tile which it updates. */
static uint64_t messages_of_cholesky(int size)
{
	uint64_t n = 0;
	for (size_t k = 0; k < TILES; k++)
		for (size_t i = k; i < TILES; i++) {
			char reads[MOST_RANKS] = {0};
			for (size_t x = k + (i == k); x < TILES && i == k; x++)
				reads[owner_of(size, x, k)] = 1;
			for (size_t x = k + 1; x < TILES && i > k; x++)
				reads[owner_of(size, x > i ? x : i, x > i ? i : x)] = 1;
			for (int r = 0; r < size; r++)
				n += reads[r] && r != owner_of(size, i, k);
		}
	return n;
}

struct totals {
	_Atomic uint64_t sent, received, bytes; /* sums over ranks, read when all have ended */
};

static int counted_cholesky(heddle_mpi *m, void *arg)
{
	struct totals *totals = arg;
	struct cholesky s = {.m = m};
	struct heddle_mpi_counts stats;
	double sum = 0;
	TRY(cholesky_register(&s, &sum));
	TRY(cholesky_factorise(&s));
	TRY(heddle_mpi_wait_all(m));
	TRY(heddle_mpi_stats(m, &stats));
	totals->sent += stats.sent;
	totals->received += stats.received;
	totals->bytes += stats.bytes_sent;
	TRY(heddle_mpi_wait_all(m));
	free(s.memory);
	return 0;
}

static void cholesky_sends_each_tile_once_to_each_rank(void **state)
{
	(void)state;
	for (int n = 1; n <= MOST_RANKS; n += MORE_RANKS) {
		struct totals totals = {0};
		assert_ok(run(n, NULL, counted_cholesky, &totals));
		assert_int_equal(totals.sent, messages_of_cholesky(n));
		assert_int_equal(totals.received, totals.sent);
		assert_int_equal(totals.bytes, totals.sent * TILE * TILE * 8);
	}
}

/* --- Errors ------------------------------------------------------------------------------------------------------- */

static int fail_here(heddle_context *c)
{
	return heddle_fail(c, 5, "the oven of %d is cold", heddle_get(c, 0, int));
}

struct seen {
	int status[MOST_RANKS];
	char sentence[MOST_RANKS][400];
	int values[MOST_RANKS]; /* what rank r has read */
};

static void see(struct seen *seen, const heddle_mpi *m, int status)
{
	seen->status[heddle_mpi_rank(m)] = status;
	snprintf(seen->sentence[heddle_mpi_rank(m)], sizeof seen->sentence[0], "%s", heddle_last_error());
}

/* Rank 2 cannot compute its datum, which all others read. */
static int one_kernel_fails(heddle_mpi *m, void *arg)
{
	heddle_runtime *rt = heddle_mpi_runtime(m);
	heddle_codelet *fail = heddle_codelet_new(rt, .name = "bake", .cpu = fail_here);
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = add_other);
	heddle_codelet *one = heddle_codelet_new(rt, .name = "one", .cpu = add_one);
	int n = heddle_mpi_size(m), rank = heddle_mpi_rank(m), status = 0;
	long mine = 10 + rank;
	heddle_mpi_data *d[MOST_RANKS];
	for (int i = 0; i < n; i++) {
		struct heddle_part part = scalar_of(&mine, sizeof mine);
		TRY(heddle_mpi_register(m, (uint64_t)i, i, &part, &d[i]));
	}
	TRY(heddle_mpi_submit(m, heddle_call(fail), heddle_mpi_rw(d[2]), heddle_value((int){2})));
	for (int i = 0; i < n; i++)
		if (i != 2)
			TRY(heddle_mpi_submit(m, heddle_call(add), heddle_mpi_rw(d[i]), heddle_mpi_r(d[2])));
	see(arg, m, heddle_mpi_wait_all(m));
	status = heddle_mpi_acquire(d[0], HEDDLE_R); /* has no value now */
	if (rank == 0 && status != HEDDLE_E_CANCELLED)
		return heddle_error(HEDDLE_E_STATE, "datum 0 has a value: %d", status);
	/* the ranks go on: what is written has a value */
	for (int i = 0; i < n; i++) {
		status = heddle_mpi_acquire(d[i], HEDDLE_W);
		if (i == rank)
			mine = 100;
		TRY(heddle_mpi_release(d[i]));
		TRY(heddle_mpi_submit(m, heddle_call(one), heddle_mpi_rw(d[i])));
	}
	TRY(heddle_mpi_wait_all(m));
	TRY(heddle_mpi_acquire(d[0], HEDDLE_R));
	status = rank == 0 && mine != 101 ? heddle_error(HEDDLE_E_STATE, "%ld", mine) : 0;
	TRY(heddle_mpi_release(d[0]));
	for (int i = 0; i < n; i++)
		TRY(heddle_mpi_unregister(d[i]));
	TRY(heddle_mpi_wait_all(m));
	return status;
}

static void all_ranks_get_the_same_first_error(void **state)
{
	(void)state;
	struct seen seen = {0};
	assert_ok(run(5, NULL, one_kernel_fails, &seen));
	for (int r = 0; r < 5; r++) {
		assert_int_equal(seen.status[r], HEDDLE_E_KERNEL);
		assert_string_equal(seen.sentence[r], seen.sentence[0]);
	}
	assert_non_null(strstr(seen.sentence[0], "rank 2: "));
	assert_non_null(strstr(seen.sentence[0], "the oven of 2 is cold"));
}

/* The fourth task is another one on rank 1, and rank 0 has one task more in the end. */
static int streams_differ(heddle_mpi *m, void *arg)
{
	heddle_runtime *rt = heddle_mpi_runtime(m);
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = add_other);
	heddle_codelet *more = heddle_codelet_new(rt, .name = "more", .cpu = add_other);
	static const struct heddle_part part = {.elem_size = sizeof(long)};
	heddle_codelet *one = heddle_codelet_new(rt, .name = "one", .cpu = set_one);
	heddle_mpi_data *d[2];
	int rank = heddle_mpi_rank(m);
	for (int i = 0; i < 2; i++) {
		TRY(heddle_mpi_register(m, (uint64_t)i, i, &part, &d[i]));
		TRY(heddle_mpi_submit(m, heddle_call(one), heddle_mpi_w(d[i])));
	}
	for (int i = 0; i < 6; i++)
		TRY(heddle_mpi_submit(m, heddle_call(i == 3 && rank == 1 ? more : add), heddle_mpi_rw(d[i % 2]),
		                      heddle_mpi_r(d[1 - i % 2])));
	if (rank == 0)
		TRY(heddle_mpi_submit(m, heddle_call(add), heddle_mpi_rw(d[0]), heddle_mpi_r(d[1])));
	see(arg, m, heddle_mpi_wait_all(m));
	if (heddle_mpi_submit(m, heddle_call(one), heddle_mpi_rw(d[0])) != HEDDLE_E_INVALID)
		return heddle_error(HEDDLE_E_STATE, "rank %d goes on", rank);
	return 0;
}

static void first_task_that_differs_is_named(void **state)
{
	(void)state;
	struct seen seen = {0};
	assert_int_equal(run(3, NULL, streams_differ, &seen), HEDDLE_E_INVALID);
	for (int r = 0; r < 3; r++) {
		assert_int_equal(seen.status[r], HEDDLE_E_INVALID);
		assert_string_equal(seen.sentence[r], seen.sentence[0]);
	}
	assert_non_null(strstr(seen.sentence[0], "rank 0 and rank 1 differ in task 3"));
	assert_non_null(strstr(seen.sentence[0], "rank 1 has more"));
}

/* --- Ranks that fall silent, and calls that fail ------------------------------------------------------------------ */

struct silence {
	struct seen seen;
	pthread_mutex_t lock; /* protects `n` */
	pthread_cond_t changed;
	int n; /* ranks whose wait has ended */
};

static int rank_1_is_silent(heddle_mpi *m, void *arg)
{
	struct silence *s = arg;
	heddle_codelet *one = heddle_codelet_new(heddle_mpi_runtime(m), .name = "one", .cpu = set_one);
	heddle_codelet *add = heddle_codelet_new(heddle_mpi_runtime(m), .name = "add", .cpu = add_other);
	static const struct heddle_part part = {.elem_size = sizeof(long)};
	heddle_mpi_data *d[2];
	int rank = heddle_mpi_rank(m);
	for (int i = 0; i < 2; i++) {
		TRY(heddle_mpi_register(m, (uint64_t)i, i, &part, &d[i]));
		if (rank != 1)
			TRY(heddle_mpi_submit(m, heddle_call(one), heddle_mpi_w(d[i])));
	}
	if (rank != 1) {
		TRY(heddle_mpi_submit(m, heddle_call(add), heddle_mpi_rw(d[0]), heddle_mpi_r(d[1])));
		see(&s->seen, m, heddle_mpi_wait_all(m));
	}
	pthread_mutex_lock(&s->lock);
	s->n += rank != 1;
	pthread_cond_broadcast(&s->changed);
	while (rank == 1 && s->n < heddle_mpi_size(m) - 1)
		pthread_cond_wait(&s->changed, &s->lock);
	pthread_mutex_unlock(&s->lock);
	return 0;
}

static void silent_rank_counts_as_lost(void **state)
{
	(void)state;
	struct silence s = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	struct heddle_mpi_settings settings = settings_with(4, 1000, .05);
	assert_int_equal(run(4, &settings, rank_1_is_silent, &s), HEDDLE_E_PEER);
	for (int r = 0; r < 4; r++)
		if (r != 1)
			assert_int_equal(s.seen.status[r], HEDDLE_E_PEER);
}

/* Each call of the transport fails once: nothing is lost, since it is repeated. */
static void each_call_may_fail_once(void **state)
{
	(void)state;
	for (uint64_t k = 1; k < 60; k += SANITIZED ? 6 : 1) {
		struct hd_mpi_chaos chaos[3] = {{.fail_from = k, .fail_to = k}, {.seed = k, .delay = 3}, {.seed = 2}};
		assert_ok(run_in_chaos(3, NULL, chaos, ring, NULL));
	}
}

/* From the k-th call on all calls of one rank fail: every rank ends, with an error. */
static void every_rank_ends_when_calls_fail_for_ever(void **state)
{
	(void)state;
	struct heddle_mpi_settings settings = settings_with(4, 1000, .05);
	for (uint64_t k = 1; k < 30; k += SANITIZED ? 12 : 4) {
		struct hd_mpi_chaos chaos[3] = {{.seed = 1}, {.fail_from = k, .fail_to = UINT64_MAX}, {.seed = 2}};
		assert_int_equal(run_in_chaos(3, &settings, chaos, ring, NULL), HEDDLE_E_PEER);
	}
}

/* --- Pruning ------------------------------------------------------------------------------------------------------ */

struct pruned {
	int prunes;
	struct pair_facts facts[MOST_RANKS][MOST_RANKS];
	_Atomic uint64_t left_out;
};

static int stencil_of_values(heddle_mpi *m, void *arg)
{
	enum { DATA = 16, ROUNDS = 6 };
	struct pruned *p = arg;
	heddle_codelet *add = heddle_codelet_new(heddle_mpi_runtime(m), .name = "add", .cpu = add_other);
	int rank = heddle_mpi_rank(m), size = heddle_mpi_size(m);
	long values[DATA] = {0}, model[DATA];
	heddle_mpi_data *d[DATA];
	for (int i = 0; i < DATA; i++) {
		struct heddle_part part = scalar_of(&values[i], sizeof(long));
		values[i] = model[i] = i + 1;
		TRY(heddle_mpi_register(m, (uint64_t)i, i % size, &part, &d[i]));
	}
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < DATA; i++) {
			struct heddle_item items[] = {heddle_call(add), heddle_mpi_rw(d[i]),
			                              heddle_mpi_r(d[(i + 1 + round) % DATA])};
			model[i] += model[(i + 1 + round) % DATA];
			if (p->prunes && !heddle_mpi_concerns(m, 3, items))
				p->left_out++;
			else
				TRY(heddle_mpi_submit_items(m, 3, items));
		}
	TRY(heddle_mpi_wait_all(m));
	for (int peer = 0; peer < size; peer++)
		p->facts[rank][peer] = facts_of(m, peer);
	for (int i = 0; i < DATA; i++)
		if (i % size == rank && values[i] != model[i])
			return heddle_error(HEDDLE_E_STATE, "datum %d is %ld instead of %ld", i, values[i], model[i]);
	return 0;
}

static void pruned_programs_send_the_same_messages(void **state)
{
	(void)state;
	struct pruned whole = {0}, pruned = {.prunes = 1};
	struct heddle_mpi_settings settings = settings_with(8, 24, 0);
	assert_ok(run(5, &settings, stencil_of_values, &whole));
	assert_ok(run(5, &settings, stencil_of_values, &pruned));
	assert_memory_equal(whole.facts, pruned.facts, sizeof whole.facts);
	assert_true(pruned.left_out > 0);
}

/* --- Caches ------------------------------------------------------------------------------------------------------- */

/* Rank 1 reads the values of rank 0 in turn, again and again. */
static int read_in_turn(heddle_mpi *m, void *arg)
{
	enum { DATA = 4, ROUNDS = 3 };
	struct heddle_mpi_counts *stats = arg;
	heddle_codelet *add = heddle_codelet_new(heddle_mpi_runtime(m), .name = "add", .cpu = add_other);
	long values[DATA] = {1, 2, 3, 4}, sum = 0;
	heddle_mpi_data *d[DATA], *s;
	for (int i = 0; i < DATA; i++) {
		struct heddle_part part = scalar_of(&values[i], sizeof(long));
		TRY(heddle_mpi_register(m, (uint64_t)i, 0, &part, &d[i]));
	}
	struct heddle_part part = scalar_of(&sum, sizeof sum);
	TRY(heddle_mpi_register(m, DATA, 1, &part, &s));
	for (int i = 0; i < DATA * ROUNDS; i++)
		TRY(heddle_mpi_submit(m, heddle_call(add), heddle_mpi_rw(s), heddle_mpi_r(d[i % DATA])));
	TRY(heddle_mpi_wait_all(m));
	if (heddle_mpi_rank(m) == 1)
		TRY(heddle_mpi_stats(m, stats));
	return heddle_mpi_rank(m) == 1 && sum != 10 * ROUNDS ? heddle_error(HEDDLE_E_STATE, "%ld", sum) : 0;
}

static void full_caches_lose_what_was_used_least_recently(void **state)
{
	(void)state;
	struct heddle_mpi_counts stats;
	struct heddle_mpi_settings settings = settings_with(8, 4 * sizeof(long), 0);
	assert_ok(run(2, &settings, read_in_turn, &stats));
	assert_int_equal(stats.received, 4);
	assert_int_equal(stats.reused, 8);
	assert_int_equal(stats.dropped, 0);
	settings.cache = 3 * sizeof(long); /* each value leaves before it is used again */
	assert_ok(run(2, &settings, read_in_turn, &stats));
	assert_int_equal(stats.received, 12);
	assert_int_equal(stats.reused, 0);
	assert_int_equal(stats.dropped, 9);
}

/* --- The rank's runtime ------------------------------------------------------------------------------------------- */

static int halves(heddle_context *c)
{
	long half = heddle_get(c, 0, long) / 2;
	heddle_codelet *add = heddle_get(c, 1, heddle_codelet *);
	for (int i = 0; i < 2; i++)
		if (heddle_submit(heddle_context_runtime(c), heddle_call(add), heddle_value(half),
		                  heddle_rw(heddle_context_data(c, 0))))
			return -1;
	return 0;
}

static int add_long(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) += heddle_get(c, 0, long);
	return 0;
}

/* A hierarchical task on a rank that does not own the datum is refined there. The policy is that of CPUs alone. */
static int refine_elsewhere(heddle_mpi *m, void *arg)
{
	heddle_runtime *rt = heddle_mpi_runtime(m);
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = add_long);
	heddle_codelet *both = heddle_codelet_new(rt, .name = "halves", .subgraph = halves);
	struct heddle_part part = scalar_of(arg, sizeof(long));
	heddle_mpi_data *d;
	long hundred = 100;
	struct heddle_stats stats;
	if (strcmp(heddle_runtime_policy(rt), "lws") != 0)
		return heddle_error(HEDDLE_E_STATE, "the policy is %s", heddle_runtime_policy(rt));
	TRY(heddle_mpi_register(m, 0, 0, &part, &d));
	TRY(heddle_mpi_submit(m, heddle_call(both), heddle_mpi_rw(d), heddle_mpi_on(1), heddle_value(hundred),
	                      heddle_value(add)));
	TRY(heddle_mpi_wait_all(m));
	TRY(heddle_runtime_stats(rt, &stats));
	if (stats.tasks_expanded != (uint64_t)heddle_mpi_rank(m))
		return heddle_error(HEDDLE_E_STATE, "%llu tasks are expanded",
		                    (unsigned long long)stats.tasks_expanded);
	return 0;
}

static void hierarchical_tasks_are_refined_where_they_are_executed(void **state)
{
	(void)state;
	long value = 1;
	assert_ok(run(2, NULL, refine_elsewhere, &value));
	assert_int_equal(value, 101);
}

/* --- Reductions --------------------------------------------------------------------------------------------------- */

/* Ranks 1 and 2 contribute to two sums of rank 0 in different orders, which the wait then closes. */
static int two_sums(heddle_mpi *m, void *arg)
{
	heddle_runtime *rt = heddle_mpi_runtime(m);
	heddle_codelet *zero = heddle_codelet_new(rt, .name = "zero", .cpu = zero_sum);
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add", .cpu = add_sums);
	heddle_codelet *more = heddle_codelet_new(rt, .name = "more", .cpu = add_amount);
	static const int order[][2] = {{0, 1}, {1, 2}, {0, 2}, {1, 1}, {0, 0}}; /* which sum, which rank */
	double *sums = arg;
	heddle_mpi_data *d[2];
	for (int i = 0; i < 2; i++) {
		struct heddle_part part = scalar_of(&sums[i], sizeof *sums);
		TRY(heddle_mpi_register(m, (uint64_t)i, 0, &part, &d[i]));
		TRY(heddle_mpi_set_reduction(d[i], zero, add));
	}
	for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
		double x = order[i][0] ? 100 + order[i][1] : 1 + order[i][1];
		TRY(heddle_mpi_submit(m, heddle_call(more), heddle_mpi_redux(d[order[i][0]]), heddle_value(x),
		                      heddle_mpi_on(order[i][1])));
	}
	return heddle_mpi_wait_all(m);
}

static void sums_that_ranks_begin_in_different_orders(void **state)
{
	(void)state;
	double sums[2] = {1000, 2000};
	assert_ok(run(3, NULL, two_sums, sums));
	assert_true(sums[0] == 1000 + 2 + 3 + 1);
	assert_true(sums[1] == 2000 + 102 + 101);
}

/* --- Arguments ---------------------------------------------------------------------------------------------------- */

static int refuse(heddle_mpi *m, void *arg)
{
	struct heddle_part part = {.elem_size = 8};
	heddle_mpi_data *d;
	heddle_codelet *one = heddle_codelet_new(heddle_mpi_runtime(m), .name = "one", .cpu = add_one);
	int *refused = arg;
	refused[0] = heddle_mpi_register(m, 0, 2, &part, &d);
	part.elem_size = 0;
	refused[1] = heddle_mpi_register(m, 0, 0, &part, &d);
	part.elem_size = 8;
	TRY(heddle_mpi_register(m, 0, 0, &part, &d));
	refused[2] = heddle_mpi_submit(m, heddle_call(one));
	refused[3] = heddle_mpi_submit(m, heddle_call(one), heddle_mpi_w(d), heddle_mpi_on(2));
	refused[4] = heddle_mpi_submit(m, heddle_call(one), heddle_mpi_redux(d), heddle_mpi_r(d));
	refused[5] = heddle_mpi_move(d, -1);
	refused[6] = heddle_mpi_readers(d, (int[]){5}, 1);
	return 0;
}

static void wrong_arguments_are_refused(void **state)
{
	(void)state;
	int refused[7] = {0};
	assert_ok(run(1, NULL, refuse, refused));
	for (int i = 0; i < 7; i++)
		assert_int_equal(refused[i], HEDDLE_E_INVALID);
	struct heddle_mpi_settings settings = settings_with(0, 0, 0);
	assert_int_equal(run(3, &settings, ring, NULL), HEDDLE_E_INVALID);
	assert_says("gate is 0");
	assert_int_equal(heddle_mpi_loop(NULL, NULL, 0, ring, NULL), HEDDLE_E_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rings_and_factorisations_on_1_to_8_ranks),
	    cmocka_unit_test(cholesky_sends_each_tile_once_to_each_rank),
	    cmocka_unit_test(all_ranks_get_the_same_first_error),
	    cmocka_unit_test(first_task_that_differs_is_named),
	    cmocka_unit_test(silent_rank_counts_as_lost),
	    cmocka_unit_test(each_call_may_fail_once),
	    cmocka_unit_test(every_rank_ends_when_calls_fail_for_ever),
	    cmocka_unit_test(pruned_programs_send_the_same_messages),
	    cmocka_unit_test(full_caches_lose_what_was_used_least_recently),
	    cmocka_unit_test(hierarchical_tasks_are_refined_where_they_are_executed),
	    cmocka_unit_test(sums_that_ranks_begin_in_different_orders),
	    cmocka_unit_test(wrong_arguments_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
