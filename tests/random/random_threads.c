/* Random programs run by up to 50 threads at once over one runtime: on threads, with emulated accelerators that have
 * memory for a few data only, and in virtual time; with --opencl K on K OpenCL devices as well.
 *
 * Where the program orders what its threads do to a datum, contents and statuses must be those of a sequential run;
 * where it does not, calls may be refused, and sums must be the sums of what succeeded. No wait may report a deadlock,
 * for whoever holds a datum lets go of it without waiting. After every step the runtime must be consistent
 * (heddle_selfcheck). What a program consists of is said in threads_program.h; --verbose prints it. SEEDS_PER_RUNTIME
 * consecutive seeds share a runtime.
 */
#include <math.h>
#include "platforms.h"
#include "pressure.h"
#include "threads_loose.h"
#include "threads_opencl.h"

enum {
	SEEDS_PER_RUNTIME = 10,
	LARGEST = MAX_ELEMENTS * sizeof(uint64_t) /* datum, bytes */
};

static FILE *nowhere; /* for dumps that nobody reads */

/* --- Questions ---------------------------------------------------------------------------------------------------- */

static void hear(void *arg, const char *name, double value, const char *unit)
{
	*(int *)arg |= !name || !unit || isnan(value);
}

static int ask_for_trace(struct run *r)
{
	struct heddle_trace *trace = NULL;
	int status = heddle_trace_take(r->rt, &trace);
	heddle_trace_free(trace);
	return r->traced ? must(r, status, "heddle_trace_take")
	                 : must_be(r, status, HEDDLE_E_STATE, "heddle_trace_take", r->data);
}

/* What may be asked at any time, and a new name. */
static int ask(struct actor *a, const struct step *s)
{
	struct run *r = a->run;
	struct heddle_stats stats;
	int bad = 0;
	double now = heddle_now(r->rt);
	if (now < a->last_now)
		return problem(r, "heddle_now went back from %g to %g", a->last_now, now);
	a->last_now = now;
	switch (s->k % 5) {
	case 0: return must(r, heddle_runtime_stats(r->rt, &stats), "heddle_runtime_stats");
	case 1: heddle_dump(r->rt, nowhere); return 0;
	case 2: return must(r, heddle_data_set_name(datum_of_step(r, s)->handle, "renamed"), "heddle_data_set_name");
	case 3: return ask_for_trace(r);
	default: return must(r, heddle_policy_report(r->rt, hear, &bad) || bad, "heddle_policy_report");
	}
}

/* --- One program -------------------------------------------------------------------------------------------------- */

static int step_about_known(struct actor *a, const struct step *s, struct datum *d)
{
	struct run *r = a->run;
	switch (s->kind) {
	case ACQUIRE: {
		if (d->plan->share == SUM)
			return acquire_sum(r, d, s);
		int got = acquire_known(r, d, s);
		return got > 0 ? must(r, heddle_release(d->handle), "heddle_release") : got;
	}
	case HOLD: return hold_known(a, d, s);
	case SPLIT: return split_known(r, d, s);
	case JOIN: return join_known(r, d);
	case RECYCLE: return recycle_known(r, d, s, 1);
	default: {
		heddle_data *handle = d->n_children ? heddle_child(d->handle, 0) : d->handle;
		return must(r, heddle_prefetch(handle, s->node % r->n_nodes), "heddle_prefetch");
	}
	}
}

static int step_about_loose(struct actor *a, const struct step *s, struct datum *d)
{
	switch (s->kind) {
	case ACQUIRE:
	case HOLD: return acquire_loose(a, d, s);
	case SPLIT: return split_loose(a, d, s);
	case JOIN: return join_loose(a->run, d, s);
	case RECYCLE: return recycle_loose(a->run, d, s);
	default: return prefetch_loose(a, d, s);
	}
}

static int is_loose(const struct run *r, const struct step *s)
{
	return s->n && r->program->data[s->access[0].datum].share >= COUNTER;
}

static int take_step(struct actor *a, const struct step *s)
{
	struct run *r = a->run;
	switch (s->kind) {
	case SUBMIT: return is_loose(r, s) ? submit_loose(a, s) : submit_known(r, s);
	case LET_GO: return let_go(a, datum_of_step(r, s));
	case WAIT_TASK: return wait_for_task(r, s);
	case WAIT_ALL: return wait_for_all(r);
	case ASK: return ask(a, s);
	default: break;
	}
	struct datum *d = datum_of_step(r, s);
	return is_loose(r, s) ? step_about_loose(a, s, d) : step_about_known(a, s, d);
}

static int needs_lock(const struct run *r, const struct step *s)
{
	for (unsigned i = 0; i < s->n; i++)
		if (r->program->data[s->access[i].datum].share == LOCKED)
			return 1;
	return 0;
}

static void *act(void *arg)
{
	struct actor *a = arg;
	struct run *r = a->run;
	const struct plan_thread *thread = &r->program->threads[a->index];
	for (unsigned i = 0; i < thread->n && !r->wrong; i++) {
		const struct step *s = &r->program->steps[thread->first + i];
		int locked = needs_lock(r, s);
		if (locked)
			pthread_mutex_lock(&r->lock);
		take_step(a, s);
		if (locked)
			pthread_mutex_unlock(&r->lock);
		must(r, heddle_selfcheck(r->rt), "heddle_selfcheck");
	}
	return NULL;
}

static void run_threads(struct run *r)
{
	static struct actor actors[MAX_THREADS];
	pthread_t threads[MAX_THREADS];
	unsigned n = r->program->n_threads;
	for (unsigned t = 0; t < n; t++) {
		actors[t] = (struct actor){.run = r, .index = t};
		if (pthread_create(&threads[t], NULL, act, &actors[t])) {
			problem(r, "no thread %u", t);
			n = t;
		}
	}
	for (unsigned t = 0; t < n; t++)
		pthread_join(threads[t], NULL);
}

static void make_data(struct run *r)
{
	struct hd_rng rng;
	hd_rng_seed(&rng, hd_hash(r->program->seed, 99));
	for (unsigned i = 0; i < r->program->n_data && !r->wrong; i++) {
		struct datum *d = &r->data[i];
		const struct plan_datum *plan = d->plan = &r->program->data[i];
		pthread_rwlock_init(&d->alive, NULL);
		if (!plan->temporary)
			d->buffer = array(plan->n, sizeof *d->buffer);
		for (unsigned e = 0; e < plan->n; e++)
			d->expected[e] = hd_rng_next(&rng);
		if (d->buffer)
			memcpy(d->buffer, d->expected, plan->n * sizeof *d->buffer);
		if (plan->share == SUM)
			r->nested_sum = d;
		register_datum(r, d);
	}
}

/* --- The end of a program ----------------------------------------------------------------------------------------- */

static int is_possible(const struct run *r, const struct record *record)
{
	const struct step *s = &r->program->steps[record - r->records];
	if (record->expected >= 0 || !r->real)
		return record->status == (record->expected < 0 ? 0 : record->expected);
	if (!r->program->failing)
		return record->status == 0;
	return record->status == (s->fails ? HEDDLE_E_KERNEL : 0) || record->status == HEDDLE_E_CANCELLED;
}

/* Every task that was submitted ended once, as it had to, and no other did. */
static void check_record(struct run *r, unsigned i)
{
	struct record *record = &r->records[i];
	int runs = record->submitted && r->real && record->status != HEDDLE_E_CANCELLED;
	if (record->calls != record->submitted || record->runs != runs)
		problem(r, "the task of step %u: %d submitted, %d runs, %d callbacks", i, record->submitted,
		        record->runs, record->calls);
	if (record->submitted && !is_possible(r, record))
		problem(r, "the task of step %u ended with %s instead of %s", i, heddle_status_name(record->status),
		        heddle_status_name(record->expected));
	if (record->held)
		heddle_task_release(record->held);
	record->held = NULL;
}

static void finish_datum(struct run *r, struct datum *d)
{
	if (is_exact(d)) {
		recycle_known(r, d, NULL, 0);
	} else if (d->plan->share != SUM) {
		finish_loose(r, d);
	} else if (!must(r, heddle_unregister(d->handle), "heddle_unregister of a sum")) {
		struct mem own = {d->buffer, d->plan->n, 1, d->plan->n}, known = whole(d);
		if (r->real && !same(&own, &known))
			problem(r, "d%u is not the sum of what was added", (unsigned)(d - r->data));
	}
	pthread_rwlock_destroy(&d->alive);
	free(d->buffer);
}

static void finish_program(struct run *r)
{
	wait_for_all(r);
	must(r, heddle_selfcheck(r->rt), "heddle_selfcheck in the end");
	for (unsigned i = 0; i < r->program->n_steps && !r->wrong; i++)
		check_record(r, i);
	if (r->n_nested != r->n_nested_ended)
		problem(r, "%u tasks were submitted by kernels and callbacks, %u have ended", r->n_nested,
		        r->n_nested_ended);
	for (unsigned i = 0; i < r->program->n_data && !r->wrong; i++)
		finish_datum(r, &r->data[i]);
}

/* --- The machine -------------------------------------------------------------------------------------------------- */

/* The runtime of a group of seeds. */
struct machine {
	heddle_runtime *rt;
	heddle_codelet *codelets[3], *add_one, *reduction[2];
	unsigned n_codelets;
	int little_memory, simulated, traced;
	char text[200];
};

static void choose_config(struct heddle_config *config, struct hd_rng *rng, uint64_t index, const char *sched)
{
	static const int windows[] = {1, 4, 30, 0, 0};
	config->sched = sched;
	config->n_cpu = cores_up_to(1 + (int)below(rng, 3));
	config->n_emulated = (int)below(rng, 3);
	config->emulated_streams = 1 << below(rng, 3);
	/* for the data of one task, and then little more */
	config->emulated_memory = chance(rng, 0.7) ? MAX_ACCESS * LARGEST + below(rng, LARGEST) : 0;
	config->emulated_latency = chance(rng, 0.25) ? 1 + below(rng, 20) : 0;
	config->window = windows[below(rng, 5)];
	config->caller_works = chance(rng, 0.3);
	config->calibrate = chance(rng, 0.5) ? 0 : 3;
	config->pipeline = (int)below(rng, 4);
	config->trace = chance(rng, 0.2);
	config->bind = 0;
	config->model_dir = "none";
	config->model_sizes = (int)(index % 4); /* all, or fewer than there are */
	config->seed = index;
	config->watchdog = HANG_S;
}

/* Virtual time: how long after its kernel a task ends; some do at once. */
static double event_us(const struct heddle_size *size, unsigned class_id)
{
	return size->n_data ? (double)(((uint64_t)size->bytes / 8 + class_id) % 3) * 7 : 3;
}

static int make_codelets(struct machine *m, int with_accelerators)
{
	double (*event_time)(const struct heddle_size *, unsigned) = m->simulated ? event_us : NULL;
	static const struct heddle_implementation away[] = {
	    {"emulated", NULL, work_kernel}, {"cuda", NULL, work_kernel}, {"opencl", NULL, work_opencl}};
	static const struct heddle_implementation cpu = {"cpu", NULL, work_kernel};
	m->codelets[0] = heddle_codelet_new(m->rt, .name = "kernel0", .cpu = work_kernel, .cuda = work_kernel,
	                                    .opencl = work_opencl, .event_time = event_time);
	m->codelets[1] = heddle_codelet_new(m->rt, .name = "kernel1", .implementations = &cpu, .n_implementations = 1,
	                                    .event_time = event_time);
	m->codelets[2] = heddle_codelet_new(m->rt, .name = "kernel2", .implementations = away, .n_implementations = 3);
	m->add_one = heddle_codelet_new(m->rt, .name = "kernel0", .cpu = add_one_kernel, .cuda = add_one_kernel,
	                                .opencl = add_one_opencl);
	m->reduction[0] = heddle_codelet_new(m->rt, .name = "kernel0", .cpu = zero_kernel, .cuda = zero_kernel,
	                                     .opencl = zero_opencl);
	m->reduction[1] =
	    heddle_codelet_new(m->rt, .name = "kernel0", .cpu = add_kernel, .cuda = add_kernel, .opencl = add_opencl);
	m->n_codelets = with_accelerators ? 3 : 2;
	return m->codelets[0] && m->codelets[1] && m->codelets[2] && m->add_one && m->reduction[0] && m->reduction[1]
	           ? 0
	           : -1;
}

static int open_machine(struct machine *m, const struct options *options, uint64_t index)
{
	struct hd_rng rng;
	struct heddle_config config;
	hd_rng_seed(&rng, hd_hash(78, index));
	if (heddle_config_init(&config))
		return -1;
	choose_config(&config, &rng, index, policy_name(options, index));
	config.n_opencl = options->opencl;
	config.n_cuda = 0; /* whatever devices the machine has */
	config.opencl_streams = config.emulated_streams;
	config.opencl_memory = config.emulated_memory;
	unsigned crowd = crowd_of(options, index);
	int simulated = m->simulated = chance(&rng, options->opencl ? 0 : 0.25) && !crowd, status;
	m->traced = config.trace;
	m->little_memory = !simulated && config.n_emulated + config.n_opencl && config.emulated_memory;
	size_t n_nodes = (size_t)(config.n_emulated + config.n_opencl) + 1;
	if (simulated) {
		struct heddle_platform *p = make_platform(&rng, 3, MAX_ACCESS * LARGEST);
		n_nodes = p->n_nodes;
		status = heddle_start_on(&config, p, 1, &m->rt);
		heddle_platform_free(p);
	} else {
		status = start_crowded(&config, crowd, &m->rt);
	}
	snprintf(m->text, sizeof m->text,
	         "%s%s, %d cpu, %zu nodes, memory %llu, %d streams, window %d, caller_works %d, pipeline %d",
	         config.sched, simulated ? " in virtual time" : "", crowd ? (int)crowd : config.n_cpu, n_nodes,
	         (unsigned long long)config.emulated_memory, config.emulated_streams, config.window,
	         config.caller_works, config.pipeline);
	return status ? status : make_codelets(m, n_nodes > 1);
}

/* --- Seeds -------------------------------------------------------------------------------------------------------- */

struct many_options {
	struct options all;
	struct left_out out;
	uint64_t repeat;
};

static void prepare(struct run *r, const struct machine *m, const struct program *p)
{
	memset(r, 0, sizeof *r);
	r->program = p;
	r->rt = m->rt;
	memcpy(r->codelets, m->codelets, sizeof r->codelets);
	memcpy(r->reduction, m->reduction, sizeof r->reduction);
	r->add_one = m->add_one;
	r->n_codelets = m->n_codelets;
	const struct heddle_platform *platform = heddle_runtime_platform(m->rt);
	r->n_workers = (unsigned)platform->n_workers;
	r->n_nodes = (unsigned)platform->n_nodes;
	r->real = !m->simulated;
	r->traced = m->traced;
	pthread_mutex_init(&r->lock, NULL);
	pthread_mutex_init(&r->sums, NULL);
	pthread_mutex_init(&r->problems, NULL);
	for (unsigned i = 0; i < p->n_steps; i++)
		r->records[i].run = r;
}

/* Whether it went wrong. */
static int run_seed(const struct machine *m, const struct many_options *options, uint64_t seed)
{
	static struct program p; /* large; one at a time */
	static struct run r;
	begin_seed(seed);
	plan_program(&p, seed, &options->out);
	if (options->all.verbose)
		print_program(&p);
	r.wrong = 0;
	for (uint64_t i = 0; i <= options->repeat && !r.wrong; i++) {
		prepare(&r, m, &p);
		make_data(&r);
		run_threads(&r);
		if (!r.wrong)
			finish_program(&r);
	}
	if (r.wrong)
		fprintf(
		    stderr,
		    "%s\n  %s; %u threads%s%s\n  replay with --seed %llu --count 1, print it with --verbose, repeat it "
		    "with --repeat N\n",
		    r.problem, m->text, p.n_threads, p.failing ? ", failing" : "", p.loose ? ", loose" : "",
		    (unsigned long long)seed);
	return r.wrong;
}

static int run_group(const struct many_options *options, uint64_t first, uint64_t last, struct pressure *pressure)
{
	struct machine m;
	begin_seed(first);
	if (open_machine(&m, &options->all, first / SEEDS_PER_RUNTIME)) {
		fprintf(stderr, "%s\n  %s\n", heddle_last_error(), m.text);
		return -1;
	}
	current_runtime = m.rt;
	if (options->all.verbose)
		printf("seeds %llu to %llu: %s\n", (unsigned long long)first, (unsigned long long)last, m.text);
	for (uint64_t seed = first; seed <= last; seed++)
		if (run_seed(&m, options, seed))
			return -1;
	if (m.little_memory)
		add_pressure(pressure, m.rt, last - first + 1);
	current_runtime = NULL;
	int status = heddle_stop(m.rt);
	if (status)
		fprintf(stderr, "heddle_stop: %s\n  %s, after --seed %llu\n", heddle_last_error(), m.text,
		        (unsigned long long)last);
	return status;
}

/* Takes what is not common to all random tests out of the arguments. */
static int parse_own(int *argc, char **argv, struct many_options *options)
{
	static const struct {
		const char *name;
		size_t offset;
	} flags[] = {
	    {"--no-loose", offsetof(struct left_out, loose)},   {"--no-splits", offsetof(struct left_out, splits)},
	    {"--no-holds", offsetof(struct left_out, holds)},   {"--no-failures", offsetof(struct left_out, failures)},
	    {"--no-nested", offsetof(struct left_out, nested)}, {"--no-events", offsetof(struct left_out, events)}};
	int kept = 1;
	for (int i = 1; i < *argc; i++) {
		size_t f = 0, n = sizeof flags / sizeof *flags;
		while (f < n && strcmp(argv[i], flags[f].name) != 0)
			f++;
		if (f < n)
			*(int *)((char *)&options->out + flags[f].offset) = 1;
		else if (strcmp(argv[i], "--repeat") == 0 && i + 1 < *argc)
			options->repeat = strtoull(argv[++i], NULL, 0);
		else
			argv[kept++] = argv[i];
	}
	*argc = kept;
	return parse_options(*argc, argv, &options->all);
}

int main(int argc, char **argv)
{
	struct many_options options = {0};
	if (parse_own(&argc, argv, &options)) {
		fprintf(stderr,
		        "also: [--repeat N] [--no-loose] [--no-splits] [--no-holds] [--no-failures] [--no-nested] "
		        "[--no-events]\n");
		return 2;
	}
	if (options.all.opencl && !has_devices(&options.all))
		return 77;
	watch();
	nowhere = fopen("/dev/null", "w");
	if (!nowhere || start_pool())
		return 2;
	struct pressure pressure = {0};
	uint64_t end = options.all.seed + options.all.count;
	for (uint64_t seed = options.all.seed; seed < end;) {
		uint64_t last = (seed / SEEDS_PER_RUNTIME + 1) * SEEDS_PER_RUNTIME - 1;
		last = last < end - 1 ? last : end - 1;
		if (run_group(&options, seed, last, &pressure)) {
			fflush(NULL);
			_exit(1); /* threads and tasks of a runtime that is wrong may be anywhere */
		}
		seed = last + 1;
	}
	printf("%llu programs from seed %llu: as they had to be\n", (unsigned long long)options.all.count,
	       (unsigned long long)options.all.seed);
	return check_opencl_used(&options.all) || check_tally(options.all.count) || check_pressure(&pressure);
}
