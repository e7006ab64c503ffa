/* Random programs that give things up at any moment: groups and all tasks are cancelled and data given up, by threads
 * of the program, by kernels, by callbacks and while events are out. Tasks use whole data and pieces of several plans
 * in every mode, end by events, fail, and have sub-graphs.
 *
 * Whatever is cancelled: no wait is a deadlock and none lasts for ever, each task ends once, one that was cancelled has
 * never run, and who reads a datum sees what the tasks before have written: each kernel notes that beside the datum.
 * The runtime must be consistent after every step (heddle_selfcheck). SEEDS_PER_RUNTIME consecutive seeds share a
 * runtime. */
#include "cancels_program.h"

enum { SEEDS_PER_RUNTIME = 10, LARGEST = MAX_ELEMENTS * sizeof(uint64_t) };

/* A thread of the program. */
struct actor {
	struct run *run;
	struct hd_rng rng;
	heddle_task *kept; /* or NULL */
};

/* --- Steps -------------------------------------------------------------------------------------------------------- */

static void choose_use(const struct run *r, struct hd_rng *rng, struct use *u, int by_event)
{
	static const int modes[] = {HEDDLE_R,       HEDDLE_R,     HEDDLE_W,     HEDDLE_RW,     HEDDLE_COMMUTE,
	                            HEDDLE_COMMUTE, HEDDLE_REDUX, HEDDLE_REDUX, HEDDLE_SCRATCH};
	u->mode = r->commuting && chance(rng, 0.8) ? HEDDLE_COMMUTE : modes[below(rng, by_event ? 6 : 9)];
	u->plan = -1;
	u->first = 0;
	u->n = u->datum->n;
	int plan = (int)below(rng, N_PLANS);
	if (u->mode != HEDDLE_REDUX && u->datum->n_pieces[plan] && chance(rng, 0.5))
		choose_piece(u, plan, below(rng, u->datum->n_pieces[plan]));
}

/* Locks some places, in their order, and chooses how the task uses the data there. Returns a mask of the places. */
static unsigned choose_data(struct actor *a, struct work *w)
{
	struct run *r = a->run;
	unsigned places = 0;
	for (unsigned tries = below(&a->rng, MAX_ACCESS + 1); tries > 0; tries--)
		places |= 1u << below(&a->rng, r->n_places);
	for (unsigned i = 0; i < r->n_places; i++) {
		if (!(places >> i & 1))
			continue;
		pthread_rwlock_rdlock(&r->places[i].alive);
		w->use[w->n].datum = r->places[i].datum;
		choose_use(r, &a->rng, &w->use[w->n++], w->by_event);
	}
	return places;
}

static void let_go_of(struct run *r, unsigned places)
{
	for (unsigned i = 0; i < r->n_places; i++)
		if (places >> i & 1)
			pthread_rwlock_unlock(&r->places[i].alive);
}

static void forget(struct actor *a)
{
	if (a->kept)
		heddle_task_release(a->kept);
	a->kept = NULL;
}

static void submit(struct actor *a)
{
	struct run *r = a->run;
	struct hd_rng *rng = &a->rng;
	struct heddle_item more[3];
	size_t n_more = 0;
	heddle_task *out = NULL;
	struct work w = {.k = hd_rng_next(rng), .fails = chance(rng, 0.03), .acts = chance(rng, 0.1)};
	w.by_event = r->real && chance(rng, 0.3);
	unsigned places = choose_data(a, &w);
	int whole = w.n == 1 && w.use[0].plan < 0 && w.use[0].mode != HEDDLE_REDUX && w.use[0].mode != HEDDLE_SCRATCH;
	heddle_codelet *codelet = whole && !w.by_event && chance(rng, 0.5) ? r->hierarchical
	                          : chance(rng, 0.5)                       ? r->plain
	                                                                   : r->host;
	struct group *g = chance(rng, 0.8) ? &r->groups[below(rng, r->n_groups)] : NULL;
	if (g)
		pthread_rwlock_rdlock(&g->alive);
	if (g)
		more[n_more++] = heddle_in_group(g->handle);
	if (a->kept && chance(rng, 0.3))
		more[n_more++] = heddle_after(a->kept);
	if (chance(rng, 0.2))
		more[n_more++] = heddle_out(&out);
	must(r, submit_work(r, &w, codelet, n_more, more), "heddle_submit");
	if (g)
		pthread_rwlock_unlock(&g->alive);
	let_go_of(r, places);
	if (out) {
		forget(a);
		a->kept = out;
	}
}

/* The program itself uses a datum. */
static void acquire(struct actor *a)
{
	struct run *r = a->run;
	static const int modes[] = {HEDDLE_R, HEDDLE_RW, HEDDLE_W};
	int mode = modes[below(&a->rng, 3)];
	struct place *place = &r->places[below(&a->rng, r->n_places)];
	pthread_rwlock_rdlock(&place->alive);
	struct datum *d = place->datum;
	int status = heddle_acquire(d->handle, (enum heddle_mode)mode);
	if (status) {
		may_fail(r, status, "heddle_acquire");
	} else {
		const struct use u = {.datum = d, .n = d->n, .mode = mode, .plan = -1};
		struct mem mem = {heddle_data_ptr(d->handle), d->n, 1, d->n};
		if (r->real && mode != HEDDLE_W && sees_other_values(&u, &mem))
			problem(r, "the program sees wrong values");
		if (r->real && mode != HEDDLE_R)
			write_values(&u, &mem, hd_rng_next(&a->rng));
		must(r, heddle_release(d->handle), "heddle_release");
	}
	pthread_rwlock_unlock(&place->alive);
}

static void wait_for_group(struct actor *a)
{
	struct group *g = &a->run->groups[below(&a->rng, a->run->n_groups)];
	pthread_rwlock_rdlock(&g->alive);
	may_fail(a->run, heddle_group_wait(g->handle), "heddle_group_wait");
	pthread_rwlock_unlock(&g->alive);
}

static void replace_group(struct actor *a)
{
	struct group *g = &a->run->groups[below(&a->rng, a->run->n_groups)];
	if (pthread_rwlock_trywrlock(&g->alive))
		return;
	heddle_group_free(g->handle);
	must(a->run, heddle_group_create(a->run->rt, &g->handle), "heddle_group_create");
	pthread_rwlock_unlock(&g->alive);
}

static void take_step(struct actor *a)
{
	struct run *r = a->run;
	unsigned what = below(&a->rng, 100);
	if (what < 70)
		submit(a);
	else if (what < 84)
		give_something_up(r, &a->rng);
	else if (what < 89)
		acquire(a);
	else if (what < 93)
		wait_for_group(a);
	else if (what < 95)
		replace_group(a);
	else if (what < 97)
		may_fail(r, heddle_wait_all(r->rt), "heddle_wait_all");
	else if (a->kept)
		may_fail(r, heddle_task_wait(a->kept), "heddle_task_wait");
	must(r, heddle_selfcheck(r->rt), "heddle_selfcheck");
}

static void *act(void *arg)
{
	struct actor *a = arg;
	for (unsigned n = 10 + below(&a->rng, 60); n > 0 && !a->run->wrong; n--)
		take_step(a);
	forget(a);
	return NULL;
}

/* --- One program -------------------------------------------------------------------------------------------------- */

static void make_objects(struct run *r, struct hd_rng *rng)
{
	pthread_mutex_init(&r->problems, NULL);
	r->commuting = chance(rng, 0.4);
	r->n_places = 1 + below(rng, r->commuting ? 2 : MAX_PLACES);
	r->n_groups = 1 + below(rng, MAX_GROUPS);
	for (unsigned i = 0; i < r->n_places; i++) {
		pthread_rwlock_init(&r->places[i].alive, NULL);
		r->places[i].datum = make_datum(r, rng);
	}
	for (unsigned i = 0; i < r->n_groups; i++) {
		pthread_rwlock_init(&r->groups[i].alive, NULL);
		must(r, heddle_group_create(r->rt, &r->groups[i].handle), "heddle_group_create");
	}
}

static void run_threads(struct run *r, struct hd_rng *rng)
{
	static struct actor actors[MAX_THREADS];
	pthread_t threads[MAX_THREADS];
	unsigned n = 1 + below(rng, MAX_THREADS);
	for (unsigned t = 0; t < n; t++) {
		actors[t] = (struct actor){.run = r};
		hd_rng_seed(&actors[t].rng, hd_hash(r->seed, 1000 + t));
		if (pthread_create(&threads[t], NULL, act, &actors[t])) {
			problem(r, "no thread %u", t);
			n = t;
		}
	}
	for (unsigned t = 0; t < n; t++)
		pthread_join(threads[t], NULL);
}

static void check_record(struct run *r, const struct record *record)
{
	int ran = record->status == 0 || record->status == HEDDLE_E_KERNEL;
	if (record->calls != record->submitted)
		problem(r, "task %td: %d submitted, %d ended", record - r->tasks, record->submitted, record->calls);
	else if (record->submitted && r->real && !record->hierarchical && record->runs != ran)
		problem(r, "task %td ran %d times and ended with %s", record - r->tasks, record->runs,
		        heddle_status_name(record->status));
	may_fail(r, record->status, "a task");
}

/* All data that have not been given up end as the tasks have left them. */
static void end_data(struct run *r)
{
	for (unsigned i = 0; i < r->n_data && !r->wrong; i++) {
		struct datum *d = &r->data[i];
		if (!d->handle)
			continue;
		int status = heddle_unregister(d->handle);
		may_fail(r, status, "heddle_unregister");
		if (!status && r->real && memcmp(d->buffer, d->expected, d->n * sizeof d->buffer[0]) != 0)
			problem(r, "datum %u ends with wrong values", i);
	}
}

static void end_program(struct run *r)
{
	may_fail(r, heddle_wait_all(r->rt), "heddle_wait_all in the end");
	must(r, heddle_selfcheck(r->rt), "heddle_selfcheck in the end");
	for (unsigned i = 0; i < r->n_tasks && !r->wrong; i++) {
		check_record(r, &r->tasks[i]);
		free(r->tasks[i].outside);
	}
	end_data(r);
	for (unsigned i = 0; i < r->n_groups; i++) {
		heddle_group_free(r->groups[i].handle);
		pthread_rwlock_destroy(&r->groups[i].alive);
	}
	for (unsigned i = 0; i < r->n_places; i++)
		pthread_rwlock_destroy(&r->places[i].alive);
	may_fail(r, heddle_wait_all(r->rt), "heddle_wait_all after the end");
}

/* --- The machine -------------------------------------------------------------------------------------------------- */

static int make_codelets(struct run *r)
{
	r->plain = heddle_codelet_new(r->rt, .name = "kernel0", .cpu = work_kernel, .cuda = work_kernel);
	r->host = heddle_codelet_new(r->rt, .name = "kernel1", .cpu = work_kernel);
	r->hierarchical = heddle_codelet_new(r->rt, .name = "kernel2", .cpu = work_kernel, .subgraph = submit_pieces);
	r->reduction[0] = heddle_codelet_new(r->rt, .name = "kernel0", .cpu = zero_kernel, .cuda = zero_kernel);
	r->reduction[1] = heddle_codelet_new(r->rt, .name = "kernel0", .cpu = add_kernel, .cuda = add_kernel);
	return r->plain && r->host && r->hierarchical && r->reduction[0] && r->reduction[1] ? 0 : -1;
}

static int open_machine(struct run *r, const struct options *options, uint64_t index)
{
	static const int windows[] = {1, 4, 30, 0, 0};
	struct hd_rng rng;
	struct heddle_config config;
	hd_rng_seed(&rng, hd_hash(79, index));
	int status = heddle_config_init(&config);
	config.sched = policy_name(options, index);
	config.n_cpu = cores_up_to(1 + (int)below(&rng, 3));
	config.n_emulated = (int)below(&rng, 3);
	config.n_cuda = config.n_opencl = 0;
	config.emulated_streams = 1 << below(&rng, 2);
	config.emulated_memory = chance(&rng, 0.5) ? MAX_ACCESS * LARGEST + below(&rng, LARGEST) : 0;
	config.window = windows[below(&rng, 5)];
	config.caller_works = chance(&rng, 0.3);
	config.pipeline = (int)below(&rng, 4);
	config.expand = chance(&rng, 0.7) ? "always" : "never";
	config.bind = 0;
	config.model_dir = "none";
	config.seed = index;
	r->real = !chance(&rng, 0.2);
	if (!status && r->real) {
		status = start_crowded(&config, crowd_of(options, index), &r->rt);
	} else if (!status) {
		struct heddle_platform *p = make_platform(&rng, 3, MAX_ACCESS * LARGEST);
		status = heddle_start_on(&config, p, 1, &r->rt);
		heddle_platform_free(p);
	}
	return status ? status : make_codelets(r);
}

/* --- Seeds -------------------------------------------------------------------------------------------------------- */

static int run_seed(struct run *r, uint64_t seed)
{
	struct hd_rng rng;
	begin_seed(seed);
	hd_rng_seed(&rng, seed);
	r->seed = seed;
	r->n_data = r->n_tasks = 0;
	make_objects(r, &rng);
	run_threads(r, &rng);
	if (!r->wrong)
		end_program(r);
	if (r->wrong)
		fprintf(stderr, "%s\n  replay with --seed %llu --count 1\n", r->problem, (unsigned long long)seed);
	return r->wrong;
}

static int run_group(const struct options *options, uint64_t first, uint64_t last)
{
	static struct run r;
	memset(&r, 0, sizeof r);
	begin_seed(first);
	if (open_machine(&r, options, first / SEEDS_PER_RUNTIME)) {
		fprintf(stderr, "%s\n", heddle_last_error());
		return -1;
	}
	current_runtime = r.rt;
	for (uint64_t seed = first; seed <= last; seed++)
		if (run_seed(&r, seed))
			return -1;
	current_runtime = NULL;
	return heddle_stop(r.rt);
}

int main(int argc, char **argv)
{
	struct options options;
	if (parse_options(argc, argv, &options))
		return 1;
	watch();
	if (start_pool())
		return 1;
	if (run_groups(&options, SEEDS_PER_RUNTIME, run_group))
		return 1;
	printf("%llu programs\n", (unsigned long long)options.count);
	return 0;
}
