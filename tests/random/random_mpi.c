/* Random programs over ranks, compared bit for bit with sequential execution. The ranks are threads of this process,
 * or, with --mpi, those of MPI. Each rank makes the same program from the seed, and computes it itself as well: the
 * model. Programs have all modes, writes elsewhere, moves, flushes, acquired data, failing kernels, and data of 0 bytes
 * to 1 MiB; the gate, the caches, the transport's order and its failures are drawn, too. */
#include <mpi.h>
#include "support.h"
#include "../mpi/quiet.h"
#include <heddle/mpi.h>
#include "mpi/stream/loop.h"

enum { MOST_DATA = 12, MOST_RANKS = 8, MOST_USES = 4, PAD = 3 };

/* A datum: a matrix of rows x columns numbers, with a leading dimension of rows + PAD on its first owner. */
struct datum {
	heddle_mpi_data *d;
	size_t rows, columns;
	uint64_t *memory; /* of its first owner; NULL: allocated by the library, or another rank's */
	uint64_t *model;  /* dense */
	int has_value;    /* 0: the task failed that was to write it */
};

struct program {
	heddle_mpi *m;
	struct hd_rng rng;
	struct datum data[MOST_DATA];
	size_t n_data;
	heddle_codelet *mix, *init, *combine;
	int fails;    /* 1: kernels may fail; then modes are R, W and RW */
	int prunes;   /* 1: tasks that do not concern the rank are left out */
	int n_failed; /* kernels that have failed since the last wait */
};

/* What each rank draws alike, before the program begins. */
struct setup {
	uint64_t seed;
	int n_ranks;
	struct heddle_mpi_settings settings;
	size_t eager;
	struct hd_mpi_chaos chaos[MOST_RANKS];
	int with_chaos;
	struct pair_facts facts[MOST_RANKS][MOST_RANKS]; /* written by each rank for itself, read when all have ended */
};

/* --- The kernel, for tasks and for the model ---------------------------------------------------------------------- */

struct task_value {
	uint64_t seed;
	int fails, n, modes[MOST_USES];
};
struct array {
	uint64_t *at;
	size_t rows, columns, ld;
};

static uint64_t stir(uint64_t a, uint64_t b)
{
	a = (a ^ b) * 0x9e3779b97f4a7c15u;
	return a ^ (a >> 31);
}

static uint64_t read_array(uint64_t sum, const struct array *a)
{
	for (size_t y = 0; y < a->columns; y++)
		for (size_t x = 0; x < a->rows; x++)
			sum = stir(sum, a->at[x + y * a->ld]);
	return sum;
}

static void write_array(uint64_t sum, int mode, const struct array *a)
{
	int adds = mode == HEDDLE_REDUX || mode == HEDDLE_COMMUTE;
	for (size_t y = 0, i = 0; y < a->columns; y++)
		for (size_t x = 0; x < a->rows; x++, i++) {
			uint64_t *at = &a->at[x + y * a->ld];
			*at = adds ? *at + stir(sum, i) : stir(sum, i);
		}
}

static int compute(const struct task_value *v, const struct array *arrays)
{
	uint64_t sum = v->seed;
	for (int i = 0; i < v->n; i++)
		if (v->modes[i] == HEDDLE_R || v->modes[i] == HEDDLE_RW)
			sum = read_array(sum, &arrays[i]);
	for (int i = 0; i < v->n; i++)
		if (v->modes[i] != HEDDLE_R)
			write_array(sum + (uint64_t)i, v->modes[i], &arrays[i]);
	return v->fails;
}

static struct array array_of(heddle_context *c, size_t i)
{
	return (struct array){heddle_ptr(c, i), heddle_extent(c, i, 0), heddle_extent(c, i, 1), heddle_ld(c, i)};
}

static int mix_kernel(heddle_context *c)
{
	struct task_value v = heddle_get(c, 0, struct task_value);
	struct array arrays[MOST_USES];
	for (int i = 0; i < v.n; i++)
		arrays[i] = array_of(c, (size_t)i);
	return compute(&v, arrays) ? heddle_fail(c, 7, "as drawn") : 0;
}

static int init_kernel(heddle_context *c)
{
	struct array a = array_of(c, 0);
	for (size_t y = 0; y < a.columns && a.rows; y++)
		memset(a.at + y * a.ld, 0, a.rows * sizeof *a.at);
	return 0;
}

static int combine_kernel(heddle_context *c)
{
	struct array to = array_of(c, 0), from = array_of(c, 1);
	for (size_t y = 0; y < to.columns; y++)
		for (size_t x = 0; x < to.rows; x++)
			to.at[x + y * to.ld] += from.at[x + y * from.ld];
	return 0;
}

/* --- The model ---------------------------------------------------------------------------------------------------- */

static void model_task(struct program *p, const struct task_value *v, struct datum *const *data)
{
	struct array arrays[MOST_USES];
	int runs = 1;
	for (int i = 0; i < v->n; i++) {
		runs &= data[i]->has_value || v->modes[i] == HEDDLE_W || v->modes[i] == HEDDLE_SCRATCH;
		arrays[i] = (struct array){data[i]->model, data[i]->rows, data[i]->columns, data[i]->rows};
		if (v->modes[i] == HEDDLE_SCRATCH)
			arrays[i].at = malloc(data[i]->rows * data[i]->columns * 8 + 1);
	}
	int failed = runs && compute(v, arrays);
	p->n_failed += failed;
	for (int i = 0; i < v->n; i++)
		if (v->modes[i] == HEDDLE_SCRATCH)
			free(arrays[i].at);
		else if (v->modes[i] != HEDDLE_R)
			data[i]->has_value = runs && !failed;
}

/* --- The program -------------------------------------------------------------------------------------------------- */

static int draw_mode(struct program *p)
{
	static const int modes[] = {HEDDLE_R,       HEDDLE_R,     HEDDLE_R,       HEDDLE_RW, HEDDLE_RW,
	                            HEDDLE_COMMUTE, HEDDLE_REDUX, HEDDLE_SCRATCH, HEDDLE_W};
	static const int plain[] = {HEDDLE_R, HEDDLE_R, HEDDLE_W, HEDDLE_RW};
	return p->fails ? plain[below(&p->rng, 4)] : modes[below(&p->rng, 9)];
}

static int submit_task(struct program *p, struct task_value *v, struct datum *const *data)
{
	struct heddle_item items[MOST_USES + 5];
	size_t n = 0;
	items[n++] = heddle_call(p->mix);
	for (int i = 0; i < v->n; i++)
		items[n++] = heddle_mpi_access(v->modes[i], data[i]->d);
	items[n++] = heddle_value(*v);
	if (chance(&p->rng, .3))
		items[n++] = heddle_priority((int)below(&p->rng, 5));
	if (chance(&p->rng, .25))
		items[n++] = heddle_mpi_on((int)below(&p->rng, (uint32_t)heddle_mpi_size(p->m)));
	else if (chance(&p->rng, .2))
		items[n++] = heddle_mpi_with(p->data[below(&p->rng, (uint32_t)p->n_data)].d);
	model_task(p, v, data);
	if (p->prunes && !heddle_mpi_concerns(p->m, n, items))
		return 0;
	return heddle_mpi_submit_items(p->m, n, items);
}

static int do_task(struct program *p)
{
	struct task_value v;
	struct datum *data[MOST_USES];
	memset(&v, 0, sizeof v); /* the gaps, too: values are compared by their bytes */
	v.seed = hd_rng_next(&p->rng);
	v.fails = p->fails && chance(&p->rng, .05);
	int most = 1 + (int)below(&p->rng, MOST_USES);
	for (int i = 0; i < most; i++) {
		data[v.n] = &p->data[below(&p->rng, (uint32_t)p->n_data)];
		v.modes[v.n] = draw_mode(p);
		int is_new = 1;
		for (int k = 0; k < v.n; k++)
			is_new &= data[k] != data[v.n];
		v.n += is_new;
	}
	return submit_task(p, &v, data);
}

static int compare(const struct program *p, struct datum *x, const struct array *a)
{
	for (size_t y = 0; y < x->columns; y++)
		if (memcmp(a->at + y * a->ld, x->model + y * x->rows, x->rows * 8))
			return heddle_error(HEDDLE_E_STATE, "rank %d: datum %llu differs from the model in column %zu",
			                    heddle_mpi_rank(p->m), (unsigned long long)heddle_mpi_key(x->d), y);
	return 0;
}

/* The owner looks at the value, and may change it. */
static int look(struct program *p, struct datum *x)
{
	int changes = chance(&p->rng, .3), rank = heddle_mpi_rank(p->m);
	uint64_t sum = hd_rng_next(&p->rng);
	struct array model = {x->model, x->rows, x->columns, x->rows};
	int status = heddle_mpi_acquire(x->d, changes ? HEDDLE_RW : HEDDLE_R);
	int owns = heddle_mpi_owner(x->d) == rank;
	if (owns && !x->has_value)
		return status == HEDDLE_E_CANCELLED
		           ? 0
		           : heddle_error(HEDDLE_E_STATE, "rank %d: datum %llu should have no value: %d", rank,
		                          (unsigned long long)heddle_mpi_key(x->d), status);
	if (status)
		return status;
	struct heddle_part part = {0};
	if (owns)
		heddle_data_part(heddle_mpi_local(x->d), 0, &part);
	struct array a = {part.base, x->rows, x->columns, part.stride[1]};
	if (owns && x->rows && x->columns)
		status = compare(p, x, &a);
	if (changes && x->has_value) {
		write_array(sum, HEDDLE_RW, &model);
		if (owns && x->rows && x->columns)
			write_array(sum, HEDDLE_RW, &a);
	}
	int released = heddle_mpi_release(x->d);
	return status ? status : released;
}

static int wait_for_all(struct program *p)
{
	int status = heddle_mpi_wait_all(p->m), expected = p->n_failed ? HEDDLE_E_KERNEL : 0;
	p->n_failed = 0;
	if (status != expected && !(status == HEDDLE_E_CANCELLED && p->fails))
		return heddle_error(HEDDLE_E_STATE, "rank %d: the wait returned %d instead of %d: %s",
		                    heddle_mpi_rank(p->m), status, expected, status ? heddle_last_error() : "");
	return check_quiet(p->m);
}

static int do_something(struct program *p)
{
	struct datum *x = &p->data[below(&p->rng, (uint32_t)p->n_data)];
	uint32_t what = below(&p->rng, 100), size = (uint32_t)heddle_mpi_size(p->m);
	int ranks[MOST_RANKS];
	if (what < 80)
		return do_task(p);
	if (what < 85)
		return heddle_mpi_move(x->d, (int)below(&p->rng, size));
	if (what < 88)
		return heddle_mpi_flush(x->d);
	if (what < 92) {
		size_t n = 1 + below(&p->rng, size);
		for (size_t i = 0; i < n; i++)
			ranks[i] = (int)((i + below(&p->rng, size)) % size);
		return heddle_mpi_readers(x->d, ranks, n);
	}
	if (what < 98)
		return look(p, x);
	int status = wait_for_all(p);
	return status ? status : heddle_mpi_selfcheck(p->m);
}

static size_t draw_extent(struct hd_rng *rng)
{
	uint32_t kind = below(rng, 20);
	return kind == 0 ? 0 : kind == 1 ? below(rng, 360) : below(rng, 6);
}

static int make_datum(struct program *p, size_t i)
{
	struct datum *x = &p->data[i];
	int owner = (int)below(&p->rng, (uint32_t)heddle_mpi_size(p->m)), has_memory = chance(&p->rng, .6);
	x->rows = draw_extent(&p->rng);
	x->columns = draw_extent(&p->rng);
	size_t ld = x->rows + PAD;
	x->model = calloc(x->rows * x->columns + 1, 8);
	x->has_value = 1;
	struct heddle_part part = {.elem_size = 8, .n_dims = 2, .n = {x->rows, x->columns}, .stride = {1, ld}};
	struct array model = {x->model, x->rows, x->columns, x->rows};
	write_array(i, HEDDLE_W, &model);
	if (owner == heddle_mpi_rank(p->m) && has_memory) {
		part.base = x->memory = calloc(ld * x->columns + 1, 8);
		struct array a = {x->memory, x->rows, x->columns, ld};
		write_array(i, HEDDLE_W, &a);
	}
	int status = heddle_mpi_register(p->m, i, owner, &part, &x->d);
	if (!status)
		status = heddle_mpi_set_reduction(x->d, p->init, p->combine);
	struct task_value v;
	memset(&v, 0, sizeof v);
	v.n = 1;
	v.modes[0] = HEDDLE_W;
	return status || has_memory ? status : submit_task(p, &v, (struct datum *[]){x});
}

static int run_program(struct program *p)
{
	heddle_runtime *rt = heddle_mpi_runtime(p->m);
	p->mix = heddle_codelet_new(rt, .name = "mix", .cpu = mix_kernel, .model = HEDDLE_MODEL_NONE);
	p->init = heddle_codelet_new(rt, .name = "init", .cpu = init_kernel, .model = HEDDLE_MODEL_NONE);
	p->combine = heddle_codelet_new(rt, .name = "combine", .cpu = combine_kernel, .model = HEDDLE_MODEL_NONE);
	p->fails = chance(&p->rng, .25);
	p->prunes = chance(&p->rng, .3);
	size_t n_data = 1 + below(&p->rng, MOST_DATA), n = 10 + below(&p->rng, 120);
	int status = 0;
	for (size_t i = 0; i < n_data && !status; i++) {
		p->n_data++;
		status = make_datum(p, i);
	}
	for (size_t i = 0; i < n && !status; i++)
		status = do_something(p);
	for (size_t i = 0; i < p->n_data && !status; i++)
		status = look(p, &p->data[i]);
	if (!status)
		status = wait_for_all(p);
	return status;
}

static int program(heddle_mpi *m, void *arg)
{
	struct setup *setup = arg;
	struct program p = {.m = m};
	hd_rng_seed(&p.rng, setup->seed);
	int status = run_program(&p);
	if (status) {
		fprintf(stderr, "%s\n", heddle_last_error());
		say_seed();
		_exit(1); /* the other ranks would wait */
	}
	for (int peer = 0; peer < m->size; peer++)
		setup->facts[m->rank][peer] = facts_of(m, peer);
	for (size_t i = 0; i < p.n_data; i++)
		heddle_mpi_unregister(p.data[i].d);
	status = heddle_mpi_wait_all(m);
	status = status == HEDDLE_E_CANCELLED ? 0 : status;
	for (size_t i = 0; i < p.n_data; i++) {
		free(p.data[i].memory);
		free(p.data[i].model);
	}
	return status;
}

/* --- Seeds -------------------------------------------------------------------------------------------------------- */

static void draw_setup(struct setup *s, uint64_t seed)
{
	struct hd_rng rng;
	*s = (struct setup){.seed = seed};
	hd_rng_seed(&rng, seed ^ 0x5eed);
	heddle_mpi_settings_init(&s->settings);
	s->n_ranks = 2 + (int)below(&rng, MOST_RANKS - 1);
	s->settings.gate = 1 + below(&rng, chance(&rng, .5) ? 4 : 64);
	s->settings.arity = 1 + below(&rng, 4);
	if (chance(&rng, .6))
		s->settings.cache = below(&rng, 2000);
	s->eager = chance(&rng, .3) ? 0 : below(&rng, 1 << 20);
	s->with_chaos = chance(&rng, .5);
	for (int i = 0; i < s->n_ranks; i++) {
		uint64_t fails = chance(&rng, .5) ? 1 + below(&rng, 40) : 0;
		s->chaos[i] = (struct hd_mpi_chaos){.seed = hd_rng_next(&rng), .delay = below(&rng, 30)};
		s->chaos[i].fail_from = s->chaos[i].fail_to = fails; /* once; 0: never */
	}
}

static int init_config(struct heddle_config *config)
{
	int status = heddle_config_init(config);
	config->n_cpu = 1;
	config->bind = 0;
	config->model_dir = "none";
	return status;
}

static int run_loop(const struct options *options, uint64_t seed)
{
	struct setup s;
	struct heddle_config config;
	draw_setup(&s, seed);
	begin_seed(seed);
	if (options->verbose)
		printf("seed %llu: %d ranks, gate %u, cache %llu, eager %zu, chaos %d\n", (unsigned long long)seed,
		       s.n_ranks, s.settings.gate, (unsigned long long)s.settings.cache, s.eager, s.with_chaos);
	struct hd_mpi_loop loop = {.config = &config,
	                           .settings = &s.settings,
	                           .n_ranks = s.n_ranks,
	                           .eager = s.eager,
	                           .chaos = s.with_chaos ? s.chaos : NULL,
	                           .program = program,
	                           .arg = &s};
	int status = init_config(&config);
	config.n_cpu = 1 + (int)(seed % 2);
	if (!status)
		status = hd_mpi_loop_run(&loop);
	for (int a = 0; a < s.n_ranks && !status; a++)
		for (int b = 0; b < s.n_ranks && !status; b++)
			if (a != b && !facts_agree(&s.facts[a][b], &s.facts[b][a]))
				status = heddle_error(HEDDLE_E_STATE, "ranks %d and %d know different things", a, b);
	if (status)
		fprintf(stderr, "%s\nreplay with --seed %llu --count 1\n", heddle_last_error(),
		        (unsigned long long)seed);
	return status;
}

static int run_mpi(uint64_t seed)
{
	struct setup s;
	struct heddle_config config;
	heddle_mpi *m;
	draw_setup(&s, seed);
	begin_seed(seed);
	int status = init_config(&config);
	if (!status)
		status = heddle_mpi_start_with(&config, &s.settings, MPI_COMM_WORLD, &m);
	if (!status) {
		status = program(m, &s);
		int stopped = heddle_mpi_stop(m);
		status = status ? status : stopped;
	}
	if (status)
		fprintf(stderr, "%s\nreplay with --mpi --seed %llu --count 1\n", heddle_last_error(),
		        (unsigned long long)seed);
	return status;
}

int main(int argc, char **argv)
{
	struct options options;
	int level = 0, status = 0, over_mpi = argc > 1 && strcmp(argv[1], "--mpi") == 0;
	if (parse_options(argc - over_mpi, argv + over_mpi, &options))
		return 2;
	watch();
	if (over_mpi)
		MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
	for (uint64_t seed = options.seed; seed < options.seed + options.count && !status; seed++)
		status = over_mpi ? run_mpi(seed) : run_loop(&options, seed);
	if (over_mpi && status)
		MPI_Abort(MPI_COMM_WORLD, 1);
	if (over_mpi)
		MPI_Finalize();
	return status != 0;
}
