/* The parts of policies that spare them a look at each worker, compared with such a look on random states: the earliest
 * worker of a group (dates.h), the nearest of those that are marked (nearest.h), the one with the most tasks
 * (most.h). */
#include "fake_sched.h"
#include "policies/parts/dates.h"
#include "policies/parts/most.h"
#include "policies/parts/nearest.h"

static struct hd_rng rng;

static unsigned below(size_t n)
{
	return (unsigned)(hd_rng_next(&rng) % n);
}

/* Few different values, so that workers tie; with fractions, so that sums are rounded. */
static double some_us(void)
{
	return below(3) ? (double)below(8) / 10 : 0;
}

/* --- Dates -------------------------------------------------------------------------------------------------------- */

/* What the policies did before: the first worker of the group with the least cost. */
static unsigned earliest_of_each(const heddle_sched *s, const struct hd_dates *d, const struct hd_dates_group *g,
                                 const struct hd_dates_terms *terms, const double *dates, double *cost)
{
	unsigned best = 0;
	*cost = INFINITY;
	for (unsigned w = 0; w < d->n_workers; w++) {
		double c = hd_dates_cost(dates[w], terms);
		if (&d->groups[d->workers[w].group] == g && !(s->out >> w & 1) && c < *cost) {
			*cost = c;
			best = w;
		}
	}
	return best;
}

/* Some workers are hidden; and dada's loads, which are dates less the earliest one. */
static void compare_hidden(const heddle_sched *s, struct hd_dates *d, const struct hd_dates_group *g,
                           const double *dates)
{
	double shown[FAKE_WORKERS], latest = -INFINITY, cost, expected_cost;
	struct hd_dates_terms terms = {-INFINITY, below(2) ? -s->now : some_us(), some_us()};
	for (unsigned w = 0; w < d->n_workers; w++) {
		int is_hidden = !below(3);
		shown[w] = is_hidden ? INFINITY : dates[w];
		if (is_hidden)
			hd_dates_hide(d, w, 1);
		if (&d->groups[d->workers[w].group] == g && !(s->out >> w & 1) && dates[w] > latest)
			latest = dates[w];
	}
	assert_true(hd_dates_latest(d, g) == latest);
	unsigned expected = earliest_of_each(s, d, g, &terms, shown, &expected_cost),
	         found = hd_dates_earliest(d, g, &terms, &cost);
	assert_true(cost == expected_cost);
	assert_true(isinf(cost) || found == expected);
	for (unsigned w = 0; w < d->n_workers; w++)
		if (d->workers[w].is_hidden)
			hd_dates_hide(d, w, 0);
}

static void compare_dates(const heddle_sched *s, struct hd_dates *d, const double *dates)
{
	for (unsigned w = 0; w < d->n_workers; w++)
		assert_true(hd_dates_of(d, w) == dates[w]);
	for (size_t g = 0; g < d->n_groups; g++) {
		struct hd_dates_terms terms = {s->now + some_us() - 0.2, some_us(), some_us()};
		double cost, expected_cost;
		unsigned n_driven = 0;
		for (unsigned w = 0; w < d->n_workers; w++)
			n_driven += d->workers[w].group == g && !(s->out >> w & 1);
		assert_int_equal(d->groups[g].n_driven, n_driven);
		if (!n_driven)
			continue;
		unsigned expected = earliest_of_each(s, d, &d->groups[g], &terms, dates, &expected_cost);
		assert_int_equal(hd_dates_earliest(d, &d->groups[g], &terms, &cost), expected);
		assert_true(cost == expected_cost);
		for (unsigned w = 0; w < d->n_workers; w++)
			assert_true(d->workers[w].group != g || s->out >> w & 1 ||
			            hd_dates_bound(d, &d->groups[g]) <= dates[w]);
		compare_hidden(s, d, &d->groups[g], dates);
	}
}

/* The data of a task: each on few nodes. */
static void draw_data(heddle_task *t, heddle_data *data, size_t n_nodes)
{
	for (t->n_data = 0; t->n_data < below(FAKE_DATA + 1); t->n_data++) {
		t->data[t->n_data] = &data[t->n_data];
		data[t->n_data] = (heddle_data){.bytes = 1 + below(3)};
		for (unsigned i = below(3); i-- > 0;)
			data[t->n_data].valid |= (uint32_t)1 << below(n_nodes);
	}
}

static struct hd_dates_terms terms_of(const heddle_sched *s, const double *weights, unsigned node, double moving,
                                      double length)
{
	return (struct hd_dates_terms){s->now + weights[node] * moving, length, weights[node] * moving};
}

/* The best worker for a task on all groups, and for one that some workers cannot run. */
static void compare_best(const heddle_sched *s, struct hd_dates *d, const double *dates, const double *weights)
{
	heddle_data data[FAKE_DATA];
	heddle_task t = fake_task(NULL, 0, 0);
	double lengths[FAKE_CLASSES], least = INFINITY;
	unsigned expected = 0;
	draw_data(&t, data, s->platform.n_nodes);
	for (unsigned c = 0; c < FAKE_CLASSES; c++)
		lengths[c] = below(5) ? some_us() : (double)INFINITY;
	t.workers = below(4) ? UINT64_MAX : hd_rng_next(&rng);
	for (unsigned w = 0; w < d->n_workers; w++) {
		unsigned node = s->workers[w].node;
		struct hd_dates_terms terms =
		    terms_of(s, weights, node, heddle_task_transfer_time(&t, node), lengths[s->workers[w].class_id]);
		double cost = hd_dates_cost(dates[w], &terms);
		if (heddle_task_can_run(&t, w) && cost < least) {
			least = cost;
			expected = w;
		}
	}
	hd_dates_find_moves(d, &t);
	for (struct hd_dates_family *f = d->families; f < d->families + d->n_far; f++)
		f->far = terms_of(s, weights, f->node, d->far[f->at], lengths[f->class_id]);
	for (size_t i = 0; i < d->n_apart; i++) {
		struct hd_dates_group *g = &d->groups[d->apart[i]];
		g->own = terms_of(s, weights, g->node, d->near[g->node], lengths[g->class_id]);
	}
	unsigned best = hd_dates_best(d, &t);
	if (isinf(least))
		return;
	assert_int_equal(best, expected);
	struct hd_dates_terms terms = *hd_dates_terms_of(d, best);
	assert_true(hd_dates_cost(dates[best], &terms) == least);
}

/* Between two batches time passes, kernels begin and end, tasks are picked, workers are retired. */
static void change_loads(heddle_sched *s, struct hd_dates *d)
{
	s->now += some_us();
	for (unsigned i = below(2 * s->platform.n_workers); i-- > 0;) {
		unsigned w = below(s->platform.n_workers);
		switch (below(4)) {
		case 0: s->free_at[w] = below(2) ? -INFINITY : s->now + some_us(); break;
		case 1: s->backlog[w] = some_us(); break;
		case 2: hd_dates_leave(d, w, below(2) ? d->workers[w].queued / 2 : 0); break;
		default: s->out ^= (uint64_t)!below(8) << w;
		}
	}
}

static void place_batch(heddle_sched *s, struct hd_dates *d, const double *weights)
{
	double dates[FAKE_WORKERS];
	hd_dates_renew(d);
	for (unsigned w = 0; w < d->n_workers; w++)
		dates[w] = heddle_sched_worker_free_at(s, w) + d->workers[w].queued;
	compare_dates(s, d, dates);
	compare_best(s, d, dates, weights);
	for (unsigned i = below(6); i-- > 0;) {
		unsigned w = below(d->n_workers);
		double us = some_us();
		hd_dates_place(d, w, us);
		dates[w] += us;
		compare_dates(s, d, dates);
		compare_best(s, d, dates, weights);
	}
}

static void earliest_worker_is_that_of_a_look_at_each(void **unused)
{
	(void)unused;
	for (uint64_t seed = 0; seed < 300; seed++) {
		heddle_sched s;
		struct hd_dates d;
		double weights[FAKE_WORKERS];
		hd_rng_seed(&rng, seed);
		fake_open(&s, "dm", NULL, 1 + below(40), below(20));
		unsigned shifted = below(3), kinds = 1 + below(4), n_weights = 1 + below(2);
		for (unsigned w = 0; w < s.platform.n_workers; w++)
			if (shifted && !below(shifted) && s.platform.n_nodes > 1)
				s.workers[w].node = below(2); /* classes with several workers on a node, in any order */
		for (unsigned node = 0; node < s.platform.n_nodes; node++) {
			s.alike[node] = node ? 1 + (node - 1) % kinds : 0;
			weights[node] = 1 + below(n_weights);
		}
		assert_int_equal(hd_dates_init(&d, &s, weights, !below(4)), HEDDLE_OK);
		assert_int_equal(hd_dates_watch_latest(&d), HEDDLE_OK);
		for (int batch = 0; batch < 40; batch++) {
			place_batch(&s, &d, weights);
			change_loads(&s, &d);
		}
		hd_dates_fini(&d);
		hd_policy_options_free(s.values);
	}
}

/* --- The nearest workers ------------------------------------------------------------------------------------------ */

static int cyclic;

/* Whether a is tried before b by worker w. */
static int is_nearer(const heddle_sched *s, unsigned w, unsigned a, unsigned b)
{
	unsigned n = (unsigned)s->platform.n_workers, da = heddle_sched_distance(s, w, a),
	         db = heddle_sched_distance(s, w, b);
	if (da != db)
		return da < db;
	return cyclic ? (a + n - w) % n < (b + n - w) % n : a < b;
}

static void compare_walk(const heddle_sched *s, const struct hd_nearest *n, unsigned worker, uint64_t marked)
{
	struct hd_nearest_walk walk;
	hd_nearest_walk(&walk, n, worker);
	for (marked &= ~((uint64_t)1 << worker); marked;) {
		unsigned nearest = HD_NOBODY;
		for (unsigned w = 0; w < s->platform.n_workers; w++)
			if ((marked >> w & 1) && (nearest == HD_NOBODY || is_nearer(s, worker, w, nearest)))
				nearest = w;
		assert_int_equal(hd_nearest_next(&walk), nearest);
		marked &= ~((uint64_t)1 << nearest);
	}
	assert_int_equal(hd_nearest_next(&walk), HD_NOBODY);
	assert_int_equal(hd_nearest_next(&walk), HD_NOBODY);
}

/* Distances by a tree of random shape, in which neighbours need not have neighbouring numbers. */
static void draw_distances(heddle_sched *s)
{
	unsigned leaf[FAKE_WORKERS];
	for (unsigned w = 0; w < s->platform.n_workers; w++)
		leaf[w] = below(27);
	for (unsigned a = 0; a < s->platform.n_workers; a++)
		for (unsigned b = 0; b < s->platform.n_workers; b++)
			s->distance[a][b] = a == b                       ? 0
			                    : leaf[a] == leaf[b]         ? 1
			                    : leaf[a] / 3 == leaf[b] / 3 ? 2
			                    : leaf[a] / 9 == leaf[b] / 9 ? 4
			                                                 : 5;
}

static void nearest_workers_come_in_the_order_of_distances(void **unused)
{
	(void)unused;
	for (uint64_t seed = 0; seed < 300; seed++) {
		heddle_sched s;
		struct hd_nearest n;
		uint64_t marked = 0;
		hd_rng_seed(&rng, seed);
		fake_open(&s, "lws", NULL, 1 + below(60), below(4));
		if (below(2))
			draw_distances(&s);
		cyclic = (int)below(2);
		assert_int_equal(hd_nearest_init(&n, &s, cyclic), HEDDLE_OK);
		for (int i = 0; i < 60; i++) {
			unsigned w = below(s.platform.n_workers);
			marked ^= (uint64_t)1 << w;
			(marked >> w & 1 ? hd_nearest_mark : hd_nearest_unmark)(&n, w);
			compare_walk(&s, &n, below(s.platform.n_workers), marked);
		}
		hd_nearest_fini(&n);
		hd_policy_options_free(s.values);
	}
}

/* --- The most loaded workers -------------------------------------------------------------------------------------- */

static void compare_counts(const struct hd_most *m, const unsigned *counts, unsigned n)
{
	unsigned most = 0;
	for (unsigned w = 0; w < n; w++)
		most = counts[w] > most ? counts[w] : most;
	assert_int_equal(hd_most_max(m), most);
	for (unsigned least = 1; least <= most + 1; least++) {
		for (unsigned from = 0; from <= n; from++) {
			unsigned next = from;
			while (next < n && counts[next] < least)
				next++;
			assert_int_equal(hd_most_next(m, from, least), next < n ? next : UINT32_MAX);
		}
	}
}

static void most_loaded_worker_is_that_of_a_look_at_each(void **unused)
{
	(void)unused;
	for (unsigned n = 1; n < 40; n++) {
		unsigned counts[40] = {0};
		struct hd_most m;
		hd_rng_seed(&rng, n);
		assert_int_equal(hd_most_init(&m, n), HEDDLE_OK);
		for (int i = 0; i < 100; i++) {
			unsigned w = below(n);
			int change = counts[w] && below(2) ? -1 : 1 + (int)below(2);
			counts[w] += (unsigned)change;
			hd_most_add(&m, w, change);
			compare_counts(&m, counts, n);
		}
		hd_most_fini(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests_[] = {
	    cmocka_unit_test(earliest_worker_is_that_of_a_look_at_each),
	    cmocka_unit_test(nearest_workers_come_in_the_order_of_distances),
	    cmocka_unit_test(most_loaded_worker_is_that_of_a_look_at_each),
	};
	return cmocka_run_group_tests(tests_, NULL, NULL);
}
