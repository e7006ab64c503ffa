/* How transfers share buses in virtual time, compared with a simulation made here: all rates grow together, and those
 * stop that have reached their link's bandwidth or cross a bus that is full. */
#include <heddle/trace.h>
#include "graphs.h"

enum { MAX_GPUS = 6, MAX_BUSES = 5, N_PLATFORMS = 300 };

struct flow {
	double bandwidth, latency, left, rate, end;
	int crosses[MAX_BUSES], settled;
};

struct scene {
	int n_gpus, n_buses;
	double buses[MAX_BUSES];
	struct flow flows[MAX_GPUS]; /* from main memory to each GPU */
};

static struct scene random_scene(struct hd_rng *rng)
{
	struct scene s = {.n_gpus = 1 + (int)below(rng, MAX_GPUS), .n_buses = (int)below(rng, MAX_BUSES + 1)};
	for (int b = 0; b < s.n_buses; b++)
		s.buses[b] = 1 + below(rng, 300) / 10.0; /* some can never be full */
	for (int g = 0; g < s.n_gpus; g++) {
		struct flow *f = &s.flows[g];
		*f = (struct flow){.bandwidth = 1 + below(rng, 100) / 10.0,
		                   .latency = below(rng, 50),
		                   .left = 8.0 * (1 + below(rng, 1000))};
		for (int b = 0; b < s.n_buses; b++)
			f->crosses[b] = below(rng, 2) != 0;
	}
	return s;
}

/* --- What is expected --------------------------------------------------------------------------------------------- */

static int users_of(const struct scene *s, int bus, double *used)
{
	int growing = 0;
	*used = 0;
	for (int g = 0; g < s->n_gpus; g++) {
		if (s->flows[g].left <= 0 || !s->flows[g].crosses[bus])
			continue;
		*used += s->flows[g].rate;
		growing += !s->flows[g].settled;
	}
	return growing;
}

/* By how much all rates that still grow may grow. */
static double room(const struct scene *s)
{
	double least = INFINITY, used;
	for (int g = 0; g < s->n_gpus; g++)
		if (!s->flows[g].settled)
			least = fmin(least, s->flows[g].bandwidth - s->flows[g].rate);
	for (int b = 0; b < s->n_buses; b++) {
		int n = users_of(s, b, &used);
		if (n)
			least = fmin(least, (s->buses[b] - used) / n);
	}
	return least;
}

static int stops(const struct scene *s, const struct flow *f)
{
	double used;
	for (int b = 0; b < s->n_buses; b++)
		if (f->crosses[b] && users_of(s, b, &used) && used >= s->buses[b] * (1 - 1e-12))
			return 1;
	return f->rate >= f->bandwidth * (1 - 1e-12);
}

/* Computes the rates of all transfers: all grow together, and a transfer stops when a bus that it crosses is full or
 * its bandwidth is reached. A transfer counts from its begin on, even during its latency. */
static void grow(struct scene *s)
{
	int n = 0;
	for (int g = 0; g < s->n_gpus; g++) {
		s->flows[g].rate = 0;
		s->flows[g].settled = s->flows[g].left <= 0;
		n += !s->flows[g].settled;
	}
	while (n) {
		double more = room(s);
		int stop[MAX_GPUS] = {0};
		for (int g = 0; g < s->n_gpus; g++)
			s->flows[g].rate += s->flows[g].settled ? 0 : more;
		for (int g = 0; g < s->n_gpus; g++)
			stop[g] = !s->flows[g].settled && stops(s, &s->flows[g]);
		for (int g = 0; g < s->n_gpus; g++) {
			s->flows[g].settled |= stop[g];
			n -= stop[g];
		}
	}
}

static void simulate(struct scene *s)
{
	for (double now = 0;;) {
		int first = -1;
		double next = INFINITY;
		grow(s);
		for (int g = 0; g < s->n_gpus; g++) {
			const struct flow *f = &s->flows[g];
			double end = fmax(now, f->latency) + f->left / f->rate;
			if (f->left > 0 && end < next) {
				next = end;
				first = g;
			}
		}
		if (first < 0)
			return;
		for (int g = 0; g < s->n_gpus; g++) {
			struct flow *f = &s->flows[g];
			if (f->left > 0)
				f->left -= f->rate * fmax(0, next - fmax(now, f->latency));
		}
		s->flows[first].left = 0;
		s->flows[first].end = now = next;
	}
}

/* --- What is ------------------------------------------------------------------------------------------------------ */

static struct heddle_platform *platform_of(const struct scene *s)
{
	char *yaml = NULL;
	size_t length;
	struct heddle_platform *p;
	FILE *f = open_memstream(&yaml, &length);
	fprintf(f, "version: 1\nname: buses\nnodes:\n- {name: ram}\n");
	for (int g = 0; g < s->n_gpus; g++)
		fprintf(f, "- {name: gpu%d}\n", g);
	fprintf(f, "classes:\n- {name: gpu, kind: cuda}\nworkers:\n");
	for (int g = 0; g < s->n_gpus; g++)
		fprintf(f, "- {name: gpu%d, class: gpu, node: gpu%d}\n", g, g);
	for (int b = 0; b < s->n_buses; b++)
		fprintf(f, "%s- {name: bus%d, bandwidth_mbs: %.17g}\n", b ? "" : "buses:\n", b, s->buses[b]);
	fprintf(f, "links:\n");
	for (int g = 0; g < s->n_gpus; g++) {
		fprintf(f, "- {from: gpu%d, to: ram, bandwidth_mbs: 1}\n", g);
		fprintf(f, "- {from: ram, to: gpu%d, bandwidth_mbs: %.17g, latency_us: %.17g, buses: [", g,
		        s->flows[g].bandwidth, s->flows[g].latency);
		for (int b = 0, n = 0; b < s->n_buses; b++)
			if (s->flows[g].crosses[b])
				fprintf(f, "%sbus%d", n++ ? ", " : "", b);
		fprintf(f, "]}\n");
	}
	fclose(f);
	assert_ok(heddle_platform_parse("buses", yaml, length, &p));
	free(yaml);
	return p;
}

static double one_us(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	(void)class_id;
	return 1;
}

/* A task on each GPU, all ready at once, each with a datum that is in main memory. */
static struct heddle_trace *run(const struct scene *s)
{
	struct heddle_platform *p = platform_of(s);
	struct heddle_config config;
	struct heddle_trace *trace;
	heddle_runtime *rt;
	assert_ok(heddle_config_init(&config));
	config.sched = "eager";
	config.trace = 1;
	assert_ok(heddle_start_on(&config, p, 1, &rt));
	heddle_platform_free(p);
	heddle_codelet *read =
	    heddle_codelet_new(rt, .name = "read", .cuda = nothing, .model = HEDDLE_MODEL_GIVEN, .time = one_us);
	assert_non_null(read);
	for (int g = 0; g < s->n_gpus; g++) {
		heddle_data *d;
		assert_ok(heddle_vector(rt, NULL, (size_t)(s->flows[g].left / 8), 8, &d));
		assert_ok(heddle_submit(rt, heddle_call(read), heddle_r(d), heddle_on((unsigned)g)));
	}
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_trace_take(rt, &trace));
	assert_ok(heddle_stop(rt));
	return trace;
}

static void buses_are_shared_fairly(void **state)
{
	(void)state;
	struct hd_rng rng = rng_of(1);
	int n_slowed = 0;
	for (int i = 0; i < N_PLATFORMS; i++) {
		struct scene s = random_scene(&rng);
		struct heddle_trace *trace = run(&s);
		double alone[MAX_GPUS];
		for (int g = 0; g < s.n_gpus; g++)
			alone[g] = s.flows[g].latency + s.flows[g].left / s.flows[g].bandwidth;
		simulate(&s);
		assert_int_equal(trace->n_transfers, s.n_gpus);
		for (size_t k = 0; k < trace->n_transfers; k++) {
			unsigned g = trace->transfers[k].to - 1;
			assert_true(fabs(trace->transfers[k].end - s.flows[g].end) <= 1e-9 * s.flows[g].end);
			n_slowed += s.flows[g].end > 1.01 * alone[g];
		}
		heddle_trace_free(trace);
	}
	assert_true(n_slowed > N_PLATFORMS / 3); /* else it tests nothing */
}

/* Two transfers cross a bus, and a third one a link, on which a byte takes for ever. */
static void transfers_that_take_for_ever_end(void **state)
{
	(void)state;
	struct scene s = {.n_gpus = 3, .n_buses = 1, .buses = {1e-310}};
	for (int g = 0; g < s.n_gpus; g++)
		s.flows[g] = (struct flow){.bandwidth = g < 2 ? 1 : 1e-310, .left = 8e6, .crosses = {g < 2}};
	struct heddle_trace *trace = run(&s);
	assert_int_equal(trace->n_transfers, s.n_gpus);
	for (size_t k = 0; k < trace->n_transfers; k++)
		assert_true(isinf(trace->transfers[k].end));
	heddle_trace_free(trace);
}

/* --- Links that are faster than their bus ------------------------------------------------------------------------- */

static double thirty_or_ten(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	return class_id ? 10 : 30;
}

/* A core and two GPUs behind a bus of 1000 MB/s, as fast as all links but the one to the first GPU. */
static heddle_runtime *start_behind_a_bus(const char *policy, double first_link)
{
	char yaml[1024];
	snprintf(yaml, sizeof yaml,
	         "version: 1\nname: bus\nnodes:\n- {name: ram}\n- {name: a}\n- {name: b}\n"
	         "classes:\n- {name: cpu, kind: cpu}\n- {name: gpu, kind: cuda, pipeline: 2}\n"
	         "workers:\n- {name: cpu, class: cpu, node: ram}\n- {name: a, class: gpu, node: a}\n"
	         "- {name: b, class: gpu, node: b}\nbuses:\n- {name: host, bandwidth_mbs: 1000}\nlinks:\n"
	         "- {from: ram, to: a, bandwidth_mbs: %g, latency_us: 1, buses: [host]}\n"
	         "- {from: a, to: ram, bandwidth_mbs: 1000, latency_us: 1, buses: [host]}\n"
	         "- {from: ram, to: b, bandwidth_mbs: 1000, latency_us: 1, buses: [host]}\n"
	         "- {from: b, to: ram, bandwidth_mbs: 1000, latency_us: 1, buses: [host]}\n",
	         first_link);
	struct heddle_config config = small_config();
	config.sched = policy;
	return start_on(&config, yaml);
}

static double makespan_behind_a_bus(const char *policy, double first_link)
{
	enum { N_DATA = 12, N_TASKS = 200 };
	struct hd_rng rng = rng_of(7);
	heddle_runtime *rt = start_behind_a_bus(policy, first_link);
	heddle_codelet *work = heddle_codelet_new(rt, .name = "work", .cpu = nothing, .cuda = nothing,
	                                          .model = HEDDLE_MODEL_GIVEN, .time = thirty_or_ten);
	heddle_data *data[N_DATA];
	struct heddle_stats stats;
	for (int d = 0; d < N_DATA; d++)
		assert_ok(heddle_vector(rt, NULL, 1000, 8, &data[d]));
	for (int i = 0; i < N_TASKS; i++) {
		uint32_t read = below(&rng, N_DATA), write = (read + 1 + below(&rng, N_DATA - 1)) % N_DATA;
		assert_ok(heddle_submit(rt, heddle_call(work), heddle_r(data[read]), heddle_rw(data[write])));
	}
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_runtime_stats(rt, &stats));
	assert_ok(heddle_stop(rt));
	return stats.makespan;
}

/* For those who predict transfers, too: dmda has taken all links for a hundred thousand times slower. */
static void a_link_is_no_faster_than_its_bus(void **state)
{
	(void)state;
	static const char *const policies[] = {"dmda", "dmdas", "dada", "heft", "multiprio", "autoheteroprio"};
	for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
		double plain = makespan_behind_a_bus(policies[i], 1000), fast = makespan_behind_a_bus(policies[i], 1e9);
		if (fast != plain)
			fail_msg("%s: %g us, %g with a link that is faster than its bus", policies[i], plain, fast);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(buses_are_shared_fairly),
	    cmocka_unit_test(transfers_that_take_for_ever_end),
	    cmocka_unit_test(a_link_is_no_faster_than_its_bus),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
