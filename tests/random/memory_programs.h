/* The programs of random_memory: together they call almost every public function. Each returns 0 and has checked its
 * results, or the first error that it met; or WRONG, with memory_wrong saying what. */
#ifndef MEMORY_PROGRAMS_H
#define MEMORY_PROGRAMS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <heddle/dense.h>
#include <heddle/opencl.h>
#include <heddle.h>

struct memory_program {
	const char *name;
	int (*run)(int gone); /* gone: memory that is used up stays so */
};

enum { WRONG = 1 };
static const char *memory_wrong = "";

/* Goes on while all is well. */
#define TRY(call)                        \
	do {                             \
		if (!status)             \
			status = (call); \
	} while (0)
/* Done in any case; `status` stays the first error. */
#define ALSO(call)                               \
	do {                                     \
		int also = (call);               \
		status = status ? status : also; \
	} while (0)
#define CHECK(condition)                           \
	do {                                       \
		if (!status && !(condition)) {     \
			memory_wrong = #condition; \
			status = WRONG;            \
		}                                  \
	} while (0)

/* --- Kernels and codelets ----------------------------------------------------------------------------------------- */

static int add_one(heddle_context *c)
{
	++*(double *)heddle_ptr(c, 0);
	return 0;
}

static int add_value(heddle_context *c)
{
	*(double *)heddle_ptr(c, 0) += heddle_get(c, 0, double);
	return 0;
}

static int copy_first(heddle_context *c)
{
	*(double *)heddle_ptr(c, 0) = *(const double *)heddle_ptr(c, 1);
	return 0;
}

static int make_zero(heddle_context *c)
{
	*(double *)heddle_ptr(c, 0) = 0;
	return 0;
}

static int combine(heddle_context *c)
{
	*(double *)heddle_ptr(c, 0) += *(const double *)heddle_ptr(c, 1);
	return 0;
}

/* Through a scratch buffer. */
static int add_by_scratch(heddle_context *c)
{
	double *scratch = heddle_ptr(c, 1);
	*scratch = *(double *)heddle_ptr(c, 0);
	*(double *)heddle_ptr(c, 0) = *scratch + 1;
	return 0;
}

static int add_to_all(heddle_context *c)
{
	double *x = heddle_ptr(c, 0);
	size_t m = heddle_extent(c, 0, 0), n = heddle_extent(c, 0, 1), ld = heddle_ld(c, 0);
	for (size_t j = 0; j < n; j++)
		for (size_t i = 0; i < m; i++)
			x[i + j * ld] += 1;
	return 0;
}

static int refuse(heddle_context *c)
{
	return heddle_fail(c, 7, "row %d is bad", 42);
}

static uint64_t by_bytes(const struct heddle_size *size)
{
	return (uint64_t)size->bytes;
}

static double some_flops(const struct heddle_size *size)
{
	return size->bytes;
}

static double ten_us(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	return 10.0 + class_id;
}

static size_t regress_on_bytes(const struct heddle_size *size, double *x, size_t max)
{
	x[0] = size->bytes;
	return max ? 1 : 0;
}

static void count_call(void *arg, int status)
{
	*(int *)arg += status ? 100 : 1;
}

/* --- Runtimes ----------------------------------------------------------------------------------------------------- */

static int small_config(struct heddle_config *config)
{
	int status = heddle_config_init(config);
	config->n_cpu = 1;
	config->caller_works = 1;
	config->bind = 0;
	config->sched = "eager";
	config->model_dir = "none";
	return status;
}

static int start_small(heddle_runtime **rt)
{
	struct heddle_config config;
	int status = small_config(&config);
	return status ? status : heddle_start(&config, rt);
}

static int codelet(heddle_runtime *rt, const char *name, heddle_kernel kernel, heddle_codelet **out)
{
	return heddle_codelet_create(rt, &(struct heddle_codelet_desc){.name = name, .cpu = kernel}, out);
}

/* What failed before must not keep the runtime from what it is asked now. */
static int still_works(heddle_runtime *rt)
{
	double x = 1;
	heddle_codelet *c = NULL;
	heddle_data *d = NULL;
	heddle_wait_all(rt);
	int status = heddle_codelet_create(
	    rt,
	    &(struct heddle_codelet_desc){.name = "still", .cpu = add_one, .model = HEDDLE_MODEL_GIVEN, .time = ten_us},
	    &c);
	TRY(heddle_variable(rt, &x, sizeof x, &d));
	TRY(heddle_submit(rt, heddle_call(c), heddle_rw(d)));
	TRY(heddle_unregister(d));
	TRY(heddle_wait_all(rt));
	int executes = !heddle_runtime_platform(rt)->n_kernels;
	if (!status && (!executes || x == 2))
		return 0;
	memory_wrong = status ? heddle_last_error() : "the runtime computes nothing any more";
	return WRONG;
}

/* Whatever failed, the runtime is consistent. */
static int is_consistent(heddle_runtime *rt)
{
	static char why[400]; /* what follows has other errors */
	if (heddle_selfcheck(rt) != HEDDLE_E_STATE)
		return 1;
	snprintf(why, sizeof why, "%s", heddle_last_error());
	memory_wrong = why;
	return 0;
}

/* The end of every program: the first error, or that of stopping; WRONG if a single failure broke the runtime. */
static int finish(heddle_runtime *rt, int status, int gone)
{
	if (!rt)
		return status;
	if (!is_consistent(rt) || (status < 0 && !gone && still_works(rt)))
		status = WRONG;
	int stopped = heddle_stop(rt);
	return status ? status : stopped;
}

/* --- Tasks -------------------------------------------------------------------------------------------------------- */

static int tasks_and_callbacks(int gone)
{
	heddle_runtime *rt = NULL;
	heddle_codelet *one = NULL, *plus = NULL;
	heddle_data *x = NULL, *y = NULL;
	heddle_task *first = NULL, *second = NULL;
	double a = 1, b = 0, seven = 7;
	int calls = 0, status = start_small(&rt);
	TRY(codelet(rt, "one", add_one, &one));
	TRY(heddle_codelet_create(
	    rt,
	    &(struct heddle_codelet_desc){
	        .name = "plus", .cpu = add_value, .n_modes = 1, .modes = (int[]){HEDDLE_RW}, .footprint = by_bytes},
	    &plus));
	TRY(heddle_variable(rt, &a, sizeof a, &x));
	TRY(heddle_variable(rt, &b, sizeof b, &y));
	TRY(heddle_data_set_name(x, "x"));
	TRY(heddle_submit(rt, heddle_call(one), heddle_rw(x), heddle_named("first"), heddle_out(&first)));
	TRY(heddle_submit(rt, heddle_call(plus), heddle_rw(y), heddle_value(seven), heddle_after(first),
	                  heddle_priority(2), heddle_then(count_call, &calls), heddle_out(&second)));
	TRY(heddle_submit(rt, heddle_after(first), heddle_after(second), heddle_then(count_call, &calls)));
	for (int i = 0; i < 200 && !status; i++)
		ALSO(heddle_submit(rt, heddle_call(one), heddle_rw(i % 2 ? x : y)));
	TRY(heddle_submit(rt, heddle_call(plus), heddle_rw(x), heddle_value(seven), heddle_named("second"),
	                  heddle_then(count_call, &calls), heddle_after(second)));
	if (first)
		ALSO(heddle_task_wait(first));
	heddle_task_release(first);
	heddle_task_release(second);
	if (y) /* submitted or not: what was accepted has been done when no error is reported */
		ALSO(heddle_unregister(y));
	if (rt)
		ALSO(heddle_wait_all(rt));
	status = finish(rt, status, gone);
	CHECK(a == 109 && b == 107 && calls == 3);
	return status;
}

static heddle_event *kept_event; /* of the last task whose kernel was keep_event; NULL: none */

/* Asks for two events, fulfills one and leaves the other to the program. */
static int keep_event(heddle_context *c)
{
	heddle_event *mine = heddle_detach(c), *kept = mine ? heddle_detach(c) : NULL;
	if (mine)
		heddle_fulfill(mine, 0);
	kept_event = kept;
	return kept ? add_one(c) : heddle_fail(c, 1, "%s", heddle_last_error());
}

static int tasks_with_events(int gone)
{
	heddle_runtime *rt = NULL;
	heddle_codelet *keep = NULL, *one = NULL;
	heddle_data *x = NULL, *y = NULL;
	heddle_task *other = NULL;
	double a = 1, b = 1;
	int status = start_small(&rt);
	TRY(codelet(rt, "keep", keep_event, &keep));
	TRY(codelet(rt, "one", add_one, &one));
	TRY(heddle_variable(rt, &a, sizeof a, &x));
	TRY(heddle_variable(rt, &b, sizeof b, &y));
	for (int i = 0; i < 3 && !status; i++) {
		kept_event = NULL;
		TRY(heddle_submit(rt, heddle_call(keep), heddle_rw(x)));
		TRY(heddle_submit(rt, heddle_call(one), heddle_rw(x)));
		TRY(heddle_submit(rt, heddle_call(one), heddle_rw(y), heddle_out(&other)));
		if (other)
			ALSO(heddle_task_wait(other)); /* this thread runs the first and the third task */
		heddle_task_release(other);
		other = NULL;
		if (kept_event && i < 2)
			ALSO(heddle_fulfill(kept_event, 0));
		else if (kept_event)
			ALSO(heddle_event_fail(kept_event, 1, "event %d", i));
		int waited = heddle_wait_all(rt);
		if (i < 2 || status)
			ALSO(waited);
		else
			CHECK(waited == HEDDLE_E_KERNEL || waited == HEDDLE_E_MEMORY);
	}
	status = finish(rt, status, gone);
	CHECK(b == 4 && a >= 5); /* the third task may have failed for lack of memory */
	return status;
}

static int failing_kernel(int gone)
{
	heddle_runtime *rt = NULL;
	heddle_codelet *bad = NULL, *one = NULL;
	heddle_data *x = NULL;
	double a = 1;
	int status = start_small(&rt);
	TRY(codelet(rt, "bad", refuse, &bad));
	TRY(codelet(rt, "one", add_one, &one));
	TRY(heddle_variable(rt, &a, sizeof a, &x));
	TRY(heddle_submit(rt, heddle_call(bad), heddle_rw(x)));
	TRY(heddle_submit(rt, heddle_call(one), heddle_rw(x)));
	if (!status) { /* the wanted error is not one */
		int failed = heddle_wait_all(rt);
		CHECK(failed == HEDDLE_E_KERNEL || failed == HEDDLE_E_CANCELLED || failed == HEDDLE_E_MEMORY);
		int acquired = heddle_acquire(x, HEDDLE_W);
		ALSO(acquired);
		if (!acquired)
			ALSO(heddle_release(x));
		TRY(heddle_submit(rt, heddle_call(one), heddle_rw(x)));
		TRY(heddle_unregister(x));
	}
	status = finish(rt, status, gone);
	CHECK(a == 2);
	return status;
}

struct submitter {
	heddle_runtime *rt;
	heddle_codelet *one;
	heddle_data *x;
	int left, status;
};

static void submit_next(void *arg, int status)
{
	struct submitter *s = arg;
	s->status = s->status ? s->status : status;
	if (!s->status && s->left-- > 0)
		s->status = heddle_submit(s->rt, heddle_call(s->one), heddle_rw(s->x), heddle_then(submit_next, s));
}

static int chain_of_callbacks(int gone)
{
	struct submitter s = {.left = 5};
	double a = 0;
	int status = start_small(&s.rt);
	TRY(codelet(s.rt, "one", add_one, &s.one));
	TRY(heddle_variable(s.rt, &a, sizeof a, &s.x));
	if (!status)
		submit_next(&s, 0);
	if (s.rt)
		ALSO(heddle_wait_all(s.rt));
	ALSO(s.status);
	if (s.x)
		ALSO(heddle_unregister(s.x));
	status = finish(s.rt, status, gone);
	CHECK(a == 5);
	return status;
}

/* --- Data --------------------------------------------------------------------------------------------------------- */

struct chain {
	int n;
};
static size_t chain_size(const void *object)
{
	(void)object;
	return sizeof(struct chain);
}
static int chain_pack(const void *object, void *buffer, size_t size)
{
	memcpy(buffer, object, size);
	return 0;
}
static int chain_unpack(void **object, const void *buffer, size_t size)
{
	static struct chain spare[64]; /* no allocations: these are not Heddle's */
	static int next;
	if (!*object)
		*object = &spare[next++ % 64];
	memcpy(*object, buffer, size);
	return 0;
}
static void chain_destroy(void *object)
{
	(void)object;
}
static const struct heddle_type chain_type = {
    .name = "chain", .size = chain_size, .pack = chain_pack, .unpack = chain_unpack, .destroy = chain_destroy};

static int lengthen(heddle_context *c)
{
	((struct chain *)heddle_ptr(c, 0))->n++;
	return 0;
}

/* One datum of each kind over the same array, one after the other, so that each is given back before the next. */
static int make_datum(heddle_runtime *rt, int kind, double *a, uint32_t *index, heddle_data **out)
{
	const struct heddle_part parts[] = {{.base = a, .elem_size = 8, .n_dims = 1, .n = {4}, .stride = {1}},
	                                    {.base = a + 4, .elem_size = 8, .n_dims = 1, .n = {4}, .stride = {1}}};
	switch (kind) {
	case 0: return heddle_variable(rt, a, sizeof *a, out);
	case 1: return heddle_vector(rt, a, 8, sizeof *a, out);
	case 2: return heddle_matrix(rt, a, 2, 2, 4, sizeof *a, out);
	case 3: return heddle_block(rt, a, 2, 2, 2, 2, 4, sizeof *a, out);
	case 4: return heddle_tensor(rt, &parts[0], out);
	case 5: return heddle_csr(rt, 2, 4, a, index, index + 4, sizeof *a, out);
	case 6: return heddle_coo(rt, 4, a, index, index + 4, sizeof *a, out);
	default: return heddle_parts(rt, "pair", parts, 2, out);
	}
}

static int data_of_each_kind_with(const struct heddle_config *config, int gone)
{
	heddle_runtime *rt = NULL;
	heddle_codelet *one = NULL, *longer = NULL;
	heddle_data *d = NULL;
	double a[8] = {0};
	uint32_t index[8] = {0};
	struct chain chain = {3};
	int status = heddle_start(config, &rt), done = 0;
	TRY(codelet(rt, "one", add_one, &one));
	TRY(codelet(rt, "longer", lengthen, &longer));
	for (int kind = 0; kind < 8 && !status; kind++) {
		ALSO(make_datum(rt, kind, a, index, &d));
		TRY(heddle_submit(rt, heddle_call(one), heddle_rw(d)));
		if (d) {
			int given_back = heddle_unregister(d);
			ALSO(given_back);
			done += !given_back;
		}
		CHECK(a[0] == kind + 1);
		d = NULL;
	}
	TRY(heddle_object(rt, &chain, &chain_type, &d));
	for (int i = 0; i < 3 && !status; i++)
		ALSO(heddle_submit(rt, heddle_call(longer), heddle_rw(d),
		                   heddle_on((unsigned)i % (unsigned)heddle_runtime_platform(rt)->n_workers)));
	TRY(heddle_unregister(d));
	status = finish(rt, status, gone);
	CHECK(done == 8 && chain.n == 6);
	return status;
}

static int data_of_each_kind(int gone)
{
	struct heddle_config config;
	int status = small_config(&config);
	return status ? status : data_of_each_kind_with(&config, gone);
}

static int objects_on_accelerators(int gone)
{
	struct heddle_config config;
	int status = small_config(&config);
	config.n_emulated = 1;
	return status ? status : data_of_each_kind_with(&config, gone);
}

static int add_to_children(heddle_runtime *rt, heddle_codelet *all, heddle_data *d, size_t n)
{
	int status = 0;
	for (size_t i = 0; i < n; i++)
		ALSO(heddle_submit(rt, heddle_call(all), heddle_rw(heddle_child(d, i))));
	return status;
}

static int partitions(int gone)
{
	heddle_runtime *rt = NULL;
	heddle_codelet *all = NULL;
	heddle_data *d = NULL, *child = NULL;
	double a[36] = {0};
	size_t n = 0;
	int status = start_small(&rt);
	TRY(codelet(rt, "all", add_to_all, &all));
	TRY(heddle_matrix(rt, a, 6, 6, 6, sizeof *a, &d));
	TRY(heddle_submit(rt, heddle_call(all), heddle_rw(d)));
	TRY(heddle_partition(d, &(struct heddle_filter){.kind = HEDDLE_SPLIT_TILES, .nx = 2, .ny = 3}, &n));
	TRY(add_to_children(rt, all, d, n));
	child = status ? NULL : heddle_child(d, 1);
	TRY(heddle_partition(child, &(struct heddle_filter){.kind = HEDDLE_SPLIT_ROWS, .nx = 2}, &n));
	TRY(add_to_children(rt, all, child, n));
	TRY(heddle_unpartition(child));
	TRY(heddle_unpartition(d));
	TRY(heddle_submit(rt, heddle_call(all), heddle_rw(d)));
	TRY(heddle_acquire(d, HEDDLE_R));
	CHECK(a[0] == 3 && a[35] == 3 && a[3] == 4); /* child 1: rows 3 to 5 of columns 0 and 1 */
	TRY(heddle_release(d));
	status = finish(rt, status, gone); /* unregisters, and joins what is still split */
	CHECK(a[0] == 3 && a[35] == 3 && a[3] == 4);
	return status;
}

/* --- Modes -------------------------------------------------------------------------------------------------------- */

static int make_reducible(heddle_runtime *rt, heddle_data *d)
{
	heddle_codelet *zero = NULL, *add = NULL;
	int status = codelet(rt, "zero", make_zero, &zero);
	TRY(codelet(rt, "combine", combine, &add));
	return status ? status : heddle_data_set_reduction(d, zero, add);
}

static int submit_modes(heddle_runtime *rt, heddle_codelet *one, heddle_data *sum, heddle_data *commuted)
{
	heddle_codelet *scratch = NULL, *take = NULL;
	heddle_data *buffer = NULL, *temporary = NULL;
	heddle_task *first = NULL;
	/* Tasks with such a value have memory of their own: so what they need of the core is allocated, too. */
	static const char large[2000];
	int status = heddle_submit(rt, heddle_bytes(large, sizeof large), heddle_out(&first));
	TRY(codelet(rt, "scratch", add_by_scratch, &scratch));
	TRY(codelet(rt, "take", copy_first, &take));
	TRY(heddle_variable(rt, NULL, sizeof(double), &buffer));
	TRY(heddle_variable(rt, NULL, sizeof(double), &temporary));
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 6; i++)
			TRY(heddle_submit(rt, heddle_call(one), heddle_redux(sum), heddle_after(first),
			                  heddle_bytes(large, sizeof large)));
		for (int i = 0; i < 4; i++)
			TRY(heddle_submit(rt, heddle_call(one), heddle_commute(commuted)));
		TRY(heddle_submit(rt, heddle_call(scratch), heddle_rw(commuted), heddle_scratch(buffer)));
		TRY(heddle_submit(rt, heddle_call(take), heddle_w(temporary), heddle_r(sum)));
	}
	TRY(heddle_unregister_async(temporary));
	heddle_task_release(first);
	return status;
}

static int all_modes_with(const struct heddle_config *config, int gone)
{
	heddle_runtime *rt = NULL;
	heddle_codelet *one = NULL;
	heddle_data *sum = NULL, *commuted = NULL;
	double a = 5, b = 0;
	int status = heddle_start(config, &rt);
	TRY(codelet(rt, "one", add_one, &one));
	TRY(heddle_variable(rt, &a, sizeof a, &sum));
	TRY(heddle_variable(rt, &b, sizeof b, &commuted));
	TRY(make_reducible(rt, sum));
	TRY(submit_modes(rt, one, sum, commuted));
	if (sum)
		ALSO(heddle_unregister(sum));
	status = finish(rt, status, gone);
	CHECK(a == 17 && b == 10);
	return status;
}

static int all_modes(int gone)
{
	struct heddle_config config;
	int status = small_config(&config);
	return status ? status : all_modes_with(&config, gone);
}

static int all_modes_on_accelerators(int gone)
{
	struct heddle_config config;
	int status = small_config(&config);
	config.n_emulated = 2;
	config.caller_works = 0;
	config.sched = "dmda";
	return status ? status : all_modes_with(&config, gone);
}

static int little_memory(int gone)
{
	enum { N = 12 };
	heddle_runtime *rt = NULL;
	heddle_codelet *all = NULL;
	heddle_data *d[N] = {NULL};
	static double a[N][64];
	struct heddle_config config;
	memset(a, 0, sizeof a);
	int status = small_config(&config);
	config.n_emulated = 2;
	config.emulated_memory = 2 * sizeof a[0];
	config.trace = 1;
	TRY(heddle_start(&config, &rt));
	TRY(codelet(rt, "all", add_to_all, &all));
	for (int i = 0; i < N; i++)
		TRY(heddle_vector(rt, a[i], 64, sizeof a[i][0], &d[i]));
	for (int round = 0; round < 4; round++)
		for (int i = 0; i < N; i++)
			TRY(heddle_submit(rt, heddle_call(all), heddle_rw(d[i]), heddle_on((unsigned)(i + round) % 3)));
	for (int i = 0; i < N; i++)
		TRY(heddle_prefetch(d[i], (unsigned)i % 3));
	TRY(heddle_acquire(d[1], HEDDLE_RW));
	if (!status) {
		a[1][0] += 1;
		ALSO(heddle_release(d[1]));
	}
	int given_back[N];
	for (int i = 0; i < N; i++)
		given_back[i] = d[i] ? heddle_unregister(d[i]) : HEDDLE_E_MEMORY;
	for (int i = 0; i < N; i++)
		ALSO(given_back[i]);
	for (int i = 0; i < N; i++)
		CHECK(a[i][0] == 4 + (i == 1) && a[i][63] == 4);
	return finish(rt, status, gone);
}

#endif
