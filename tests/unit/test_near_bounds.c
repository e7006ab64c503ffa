/* Bounds that know of transfers (src/bounds/near.h): on graphs made by hand, beside an exhaustive search over schedules
 * with transfers, and beside simulations under many policies. */
#include "bounds/near.h"
#include "../sanitized.h"
#include "graphs.h"

enum { ROUNDS = 50 };
enum { FEWER = SANITIZED ? 5 : 1 }; /* random instances: by this factor */

/* Two cores and two cards. A card has room for 1 MiB, and 1 KB takes 1 us from main memory, and 2 us between the
 * cards, where there is a link; latencies are 5 us. */
static struct heddle_platform *machine(int linked)
{
	char text[2048] =
	    "version: 1\nname: m\nnodes:\n- {name: ram}\n- {name: g0, capacity_mib: 1}\n"
	    "- {name: g1, capacity_mib: 1}\nclasses:\n- {name: cpu, kind: cpu}\n- {name: card, kind: cuda}\n"
	    "workers:\n- {name: c, count: 2, class: cpu, node: ram}\n- {name: g0, class: card, node: g0}\n"
	    "- {name: g1, class: card, node: g1}\nlinks:\n";
	for (int way = 0; way < 2; way++)
		for (int card = 0; card < 2; card++)
			snprintf(text + strlen(text), sizeof text - strlen(text),
			         way ? "- {from: g%d, to: ram, bandwidth_mbs: 1000, latency_us: 5}\n"
			             : "- {from: ram, to: g%d, bandwidth_mbs: 1000, latency_us: 5}\n",
			         card);
	if (linked)
		strcat(text, "- {from: g0, to: g1, bandwidth_mbs: 500, latency_us: 5}\n"
		             "- {from: g1, to: g0, bandwidth_mbs: 500, latency_us: 5}\n");
	struct heddle_platform *p;
	assert_ok(heddle_platform_parse("test", text, strlen(text), &p));
	return p;
}

static void add_task(struct hd_build *b, double cpu, double card)
{
	uint32_t task = hd_build_task(b, hd_build_type(b, "work", 4));
	if (!isnan(cpu))
		hd_build_time(b, task, hd_build_class(b, "cpu", 3), cpu);
	if (!isnan(card))
		hd_build_time(b, task, hd_build_class(b, "card", 4), card);
}

static struct heddle_graph *built(struct hd_build *b)
{
	struct heddle_graph *g;
	assert_ok(hd_build_end(b, &g));
	return g;
}

static struct heddle_near_bounds bounds_of(struct heddle_graph *g, int linked)
{
	struct heddle_platform *p = machine(linked);
	struct heddle_near_bounds bounds;
	assert_ok(heddle_graph_near_bounds(g, p, ROUNDS, &bounds));
	heddle_platform_free(p);
	return bounds;
}

static void near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-9 * fabs(b)))
		fail_msg("%.12g instead of %.12g", a, b);
}

/* --- Made by hand ------------------------------------------------------------------------------------------------- */

/* Of two data of 600 KB a card has room for one: the task that needs both runs on a core. */
static void task_that_is_too_large_for_a_memory_does_not_run_there(void **state)
{
	(void)state;
	struct hd_build b = {.failed = 0};
	uint32_t one = hd_build_datum(&b, 600000), two = hd_build_datum(&b, 600000);
	for (uint32_t task = 0; task < 2; task++)
		add_task(&b, 100, 1);
	hd_build_access(&b, 0, one, HEDDLE_W);
	hd_build_access(&b, 1, one, HEDDLE_R);
	hd_build_access(&b, 1, two, HEDDLE_W);
	struct heddle_graph *g = built(&b);
	struct heddle_near_bounds bounds = bounds_of(g, 0);
	assert_int_equal(bounds.too_large, 1);
	near(bounds.plain.critical_path, 101);
	near(bounds.communication, 200); /* on the card, the first task would save 99 us, but its datum takes 605 */
	assert_string_equal(bounds.largest, "communication");
	struct heddle_bounds plain;
	struct heddle_platform *p = machine(0);
	assert_ok(heddle_graph_bounds(g, p, ROUNDS, &plain));
	near(plain.critical_path, 101);
	g->data[1].bytes = 2000000;
	g->times[2] = NAN; /* the second task, on cores */
	assert_int_equal(heddle_graph_bounds(g, p, ROUNDS, &plain), HEDDLE_E_INVALID);
	assert_says("task 1 (work)");
	heddle_platform_free(p);
	heddle_graph_free(g);
}

/* Three tasks on one datum of 100 KB: the outer ones run on cores, the inner one on a card. */
static void path_counts_each_way_between_classes(void **state)
{
	(void)state;
	struct hd_build b = {.failed = 0};
	uint32_t datum = hd_build_datum(&b, 100000);
	add_task(&b, 10, NAN);
	add_task(&b, NAN, 20);
	add_task(&b, 30, NAN);
	for (uint32_t task = 0; task < 3; task++)
		hd_build_access(&b, task, datum, HEDDLE_RW);
	struct heddle_graph *g = built(&b);
	near(bounds_of(g, 0).communication, 10 + 105 + 20 + 105 + 30);
	g->accesses[1].mode = HEDDLE_W; /* needs no old value */
	near(bounds_of(g, 0).communication, 10 + 20 + 105 + 30);
	g->accesses[2].mode = HEDDLE_COMMUTE;
	near(bounds_of(g, 0).communication, 10 + 20 + 105 + 30);
	g->accesses[1].mode = HEDDLE_REDUX; /* then it is not known where the value is */
	near(bounds_of(g, 0).communication, 10 + 20 + 30);
	heddle_graph_free(g);
}

/* Data of the beginning lie in main memory. The card that has written may be the one that reads. */
static void first_value_comes_from_main_memory(void **state)
{
	(void)state;
	struct hd_build b = {.failed = 0};
	uint32_t small = hd_build_datum(&b, 1000), large = hd_build_datum(&b, 50000);
	add_task(&b, NAN, 20);
	add_task(&b, NAN, 7);
	hd_build_access(&b, 0, small, HEDDLE_COMMUTE);
	hd_build_access(&b, 0, large, HEDDLE_R);
	hd_build_access(&b, 1, small, HEDDLE_COMMUTE);
	struct heddle_graph *g = built(&b);
	near(bounds_of(g, 0).communication, 55 + 20); /* commuting tasks wait in no order */
	g->accesses[2].mode = HEDDLE_RW;
	near(bounds_of(g, 1).communication, 55 + 20 + 7);
	heddle_graph_free(g);
}

/* All run on cards, where the value may have been made: nothing has to be copied. */
static void value_of_a_card_need_not_leave_it(void **state)
{
	(void)state;
	struct hd_build b = {.failed = 0};
	uint32_t datum = hd_build_datum(&b, 100000);
	for (uint32_t task = 0; task < 3; task++) {
		add_task(&b, NAN, 10);
		hd_build_access(&b, task, datum, task ? HEDDLE_COMMUTE : HEDDLE_W);
	}
	struct heddle_graph *g = built(&b);
	near(bounds_of(g, 1).communication, 20); /* the two others commute */
	g->accesses[0].mode = g->accesses[1].mode = HEDDLE_REDUX;
	near(bounds_of(g, 1).communication, 20);
	g->accesses[2].mode = HEDDLE_R;
	near(bounds_of(g, 1).communication, 20);
	heddle_graph_free(g);
}

/* A task writes over the datum before the third reads it, so that nothing comes from the first, which the third waits
 * for by an explicit edge. */
static void value_that_was_written_over_does_not_travel(void **state)
{
	(void)state;
	struct hd_build b = {.failed = 0};
	uint32_t datum = hd_build_datum(&b, 100000);
	add_task(&b, NAN, 20);
	add_task(&b, 1, NAN);
	add_task(&b, 30, NAN);
	hd_build_access(&b, 0, datum, HEDDLE_W);
	hd_build_access(&b, 1, datum, HEDDLE_W);
	hd_build_access(&b, 2, datum, HEDDLE_R);
	hd_build_edge(&b, 0, 2, 0);
	struct heddle_graph *g = built(&b);
	near(bounds_of(g, 0).communication, 51);
	heddle_graph_free(g);
}

/* 10 us, then eight tasks of 5 us on two cores, then 10 us: neither the path of 25 nor the area of 30 sees all. */
static void window_adds_what_comes_before_and_after(void **state)
{
	(void)state;
	struct hd_build b = {.failed = 0};
	add_task(&b, 10, NAN);
	for (uint32_t task = 1; task < 9; task++) {
		add_task(&b, 5, NAN);
		hd_build_edge(&b, 0, task, 0);
	}
	add_task(&b, 10, NAN);
	for (uint32_t task = 1; task < 9; task++)
		hd_build_edge(&b, task, 9, 0);
	struct heddle_graph *g = built(&b);
	struct heddle_near_bounds bounds = bounds_of(g, 0);
	near(bounds.plain.area, 30);
	near(bounds.plain.critical_path, 25);
	near(bounds.window, 40);
	near(bounds.best, 40);
	assert_string_equal(bounds.largest, "window");
	heddle_graph_free(g);
}

static void graph_without_tasks_has_no_bounds_above_0(void **state)
{
	(void)state;
	struct hd_build b = {.failed = 0};
	struct heddle_graph *g = built(&b);
	struct heddle_near_bounds bounds = bounds_of(g, 0);
	assert_true(bounds.best == 0 && bounds.window == 0 && bounds.communication == 0);
	heddle_graph_free(g);
	assert_int_equal(heddle_graph_near_bounds(NULL, NULL, 0, &bounds), HEDDLE_E_INVALID);
	assert_says("graph is NULL");
}

/* --- Windows, beside each of them --------------------------------------------------------------------------------- */

static void best_window_is_the_best_of_all(void **state)
{
	(void)state;
	struct hd_rng rng = rng_of(7);
	enum { N = 9 };
	double start[N], rest[N], work[N * HD_PRICES] = {0};
	const struct hd_costed graph = {.n_tasks = N};
	const struct hd_prices prices = {.graph = &graph, .n = 2, .work = work};
	for (int i = 0; i < 2000 / FEWER; i++) {
		double best = 0;
		for (size_t t = 0; t < N; t++) {
			start[t] = below(&rng, 6);
			rest[t] = below(&rng, 6);
			work[t * HD_PRICES] = below(&rng, 4);
			work[t * HD_PRICES + 1] = below(&rng, 4);
		}
		for (size_t a = 0; a < N * N * 2; a++) { /* each pair of tasks gives a window, by each of the prices */
			double from = start[a % N], left = rest[a / N % N], sum = 0;
			int n = 0;
			for (size_t t = 0; t < N; t++)
				if (start[t] >= from && rest[t] >= left) {
					sum += work[t * HD_PRICES + a / (N * N)];
					n++;
				}
			best = n && from + sum + left > best ? from + sum + left : best;
		}
		struct hd_bound_window window;
		assert_ok(hd_window_find(&prices, start, rest, &window));
		near(window.bound, best);
	}
}

/* --- Beside all schedules ----------------------------------------------------------------------------------------- */

enum { FEW = 5, MOST_DATA = 3 };

/* A search over schedules in which any number of data are copied at once. */
struct search {
	const struct heddle_graph *g;
	const struct heddle_platform *p;
	double free[4], end[FEW]; /* of workers; of tasks */
	double at[MOST_DATA][3];  /* per datum and node: from when on its value is there; INFINITY: never */
	double last[MOST_DATA];   /* when the last task that used the datum has ended */
	unsigned done;
	double best;
};

static double way(const struct heddle_platform *p, unsigned from, unsigned to, double bytes)
{
	const struct heddle_link *link = heddle_platform_link(p, from, to);
	double direct = link ? link->latency + bytes / link->bandwidth : INFINITY, round = INFINITY;
	if (from && to)
		round = way(p, from, 0, bytes) + way(p, 0, to, bytes);
	return from == to || bytes == 0 ? 0 : fmin(direct, round);
}

static double data_at(const struct search *s, const struct heddle_graph_access *a, unsigned node)
{
	double soonest = INFINITY;
	for (unsigned from = 0; from < 3; from++)
		soonest =
		    fmin(soonest, s->at[a->data][from] + way(s->p, from, node, (double)s->g->data[a->data].bytes));
	return soonest;
}

/* The tasks run in an order in which each is begun after those that it waits for, which are all tasks before it with
 * one of its data. */
static void append(const struct search *from, size_t task, unsigned worker, struct search *s)
{
	*s = *from;
	const struct heddle_graph_task *t = &s->g->tasks[task];
	const struct heddle_worker *w = &s->p->workers[worker];
	double start = s->free[worker], bytes = 0;
	for (size_t i = 0; i < t->n_accesses; i++) {
		const struct heddle_graph_access *a = &s->g->accesses[t->first_access + i];
		bytes += (double)s->g->data[a->data].bytes;
		start = fmax(start, a->mode == HEDDLE_R ? 0 : s->last[a->data]);
		if (a->mode != HEDDLE_W)
			start = fmax(start, data_at(s, a, w->node));
	}
	double end = start + heddle_graph_time(s->g, task, s->p, w->class_id);
	if (w->node && bytes > 0x1p20)
		end = NAN;
	s->free[worker] = s->end[task] = end;
	for (size_t i = 0; i < t->n_accesses; i++) {
		const struct heddle_graph_access *a = &s->g->accesses[t->first_access + i];
		s->last[a->data] = fmax(s->last[a->data], end);
		if (a->mode != HEDDLE_R)
			for (unsigned node = 0; node < 3; node++)
				s->at[a->data][node] = node == w->node ? end : INFINITY;
		else /* it is a source for others from now on; it has come from another place */
			s->at[a->data][w->node] = fmin(s->at[a->data][w->node], data_at(s, a, w->node));
	}
	s->done |= 1u << task;
}

/* Tasks that only read a datum may be appended in any order, others in the order of submission. */
static int may_follow(const struct search *s, size_t task)
{
	const struct heddle_graph *g = s->g;
	for (size_t before = 0; before < task; before++)
		for (size_t i = 0; i < g->tasks[task].n_accesses && !(s->done >> before & 1); i++)
			for (size_t k = 0; k < g->tasks[before].n_accesses; k++) {
				const struct heddle_graph_access *a = &g->accesses[g->tasks[task].first_access + i],
				                                 *b = &g->accesses[g->tasks[before].first_access + k];
				if (a->data == b->data && (a->mode != HEDDLE_R || b->mode != HEDDLE_R))
					return 0;
			}
	return !(s->done >> task & 1);
}

static double search_all(const struct search *s, double best)
{
	double end = 0;
	for (size_t w = 0; w < 4; w++)
		end = fmax(end, s->free[w]);
	if (s->done + 1 == 1u << s->g->n_tasks)
		return fmin(best, end);
	for (size_t task = 0; task < s->g->n_tasks && end < best; task++)
		for (unsigned w = 0; w < 4 && may_follow(s, task); w++) {
			struct search next;
			append(s, task, w, &next);
			if (!isnan(next.end[task]))
				best = search_all(&next, best);
		}
	return best;
}

static struct heddle_graph *small_graph(struct hd_rng *rng)
{
	static const uint32_t modes[] = {HEDDLE_R, HEDDLE_W, HEDDLE_RW};
	struct hd_build b = {.failed = 0};
	for (uint32_t d = 0; d < MOST_DATA; d++)
		hd_build_datum(&b, below(rng, 4) * (below(rng, 6) ? 10000 : 200000));
	for (uint32_t task = 0; task < FEW; task++) {
		add_task(&b, 1 + below(rng, 100), 1 + below(rng, 30));
		for (uint32_t d = 0; d < MOST_DATA; d++)
			if (below(rng, 2))
				hd_build_access(&b, task, d, modes[below(rng, 3)]);
	}
	return built(&b);
}

static void bounds_are_below_the_shortest_of_all_schedules(void **state)
{
	(void)state;
	struct hd_rng rng = rng_of(11);
	int tight = 0, moved = 0, n = 150 / FEWER;
	for (int i = 0; i < n; i++) {
		struct heddle_graph *g = small_graph(&rng);
		struct search s = {.g = g, .p = machine(i % 2)};
		for (size_t d = 0; d < MOST_DATA; d++)
			s.at[d][1] = s.at[d][2] = INFINITY;
		double optimum = search_all(&s, INFINITY);
		struct heddle_near_bounds b = bounds_of(g, i % 2);
		if (b.best > optimum * (1 + 1e-9))
			fail_msg("graph %d: %s bound %g above the optimum %g", i, b.largest, b.best, optimum);
		tight += b.best > optimum * (1 - 1e-9);
		moved += b.communication > b.plain.mixed * (1 + 1e-9);
		heddle_platform_free((struct heddle_platform *)(uintptr_t)s.p);
		heddle_graph_free(g);
	}
	assert_true(tight > n / 4 && moved > n / 4);
}

/* --- Beside simulations ------------------------------------------------------------------------------------------- */

static double simulated(const struct heddle_graph *g, const struct heddle_platform *p, const char *sched)
{
	struct heddle_config config;
	struct heddle_stats stats;
	heddle_runtime *rt;
	assert_ok(heddle_config_init(&config));
	config.sched = sched;
	config.model_dir = "none";
	assert_ok(heddle_start_on(&config, p, 1, &rt));
	assert_ok(heddle_graph_submit(g, rt));
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_ok(heddle_stop(rt));
	return stats.makespan;
}

/* All modes, explicit edges, data that fit and data that do not. */
static void no_policy_is_faster_than_a_bound(void **state)
{
	(void)state;
	static const char *const policies[] = {"dmdas", "heft", "lws", "heteroprio"};
	int moved = 0, windows = 0;
	for (uint64_t seed = 0; seed < 120 / FEWER; seed++) {
		struct heddle_graph *g = random_graph(seed, 12 + (uint32_t)seed % 30, 6);
		struct heddle_platform *p = machine(seed % 2);
		struct heddle_near_bounds b;
		for (size_t d = 0; d < g->n_data; d++)
			g->data[d].bytes /= seed % 4 ? 100 : 20;
		p->classes[1].streams = seed % 3 == 2 ? 2 : 1;
		p->classes[1].pipeline = 1 + p->classes[1].streams;
		assert_ok(heddle_graph_near_bounds(g, p, ROUNDS, &b));
		for (size_t k = 0; k < sizeof policies / sizeof *policies; k++) {
			double makespan = simulated(g, p, policies[k]);
			if (b.best > makespan * (1 + 1e-9))
				fail_msg("seed %llu: %s takes %g, less than the %s bound of %g",
				         (unsigned long long)seed, policies[k], makespan, b.largest, b.best);
		}
		moved += b.communication > b.plain.critical_path;
		windows += b.window > b.plain.mixed;
		heddle_platform_free(p);
		heddle_graph_free(g);
	}
	assert_true(moved > 10 / FEWER && windows > 10 / FEWER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(task_that_is_too_large_for_a_memory_does_not_run_there),
	    cmocka_unit_test(path_counts_each_way_between_classes),
	    cmocka_unit_test(first_value_comes_from_main_memory),
	    cmocka_unit_test(value_of_a_card_need_not_leave_it),
	    cmocka_unit_test(value_that_was_written_over_does_not_travel),
	    cmocka_unit_test(window_adds_what_comes_before_and_after),
	    cmocka_unit_test(graph_without_tasks_has_no_bounds_above_0),
	    cmocka_unit_test(best_window_is_the_best_of_all),
	    cmocka_unit_test(bounds_are_below_the_shortest_of_all_schedules),
	    cmocka_unit_test(no_policy_is_faster_than_a_bound),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
