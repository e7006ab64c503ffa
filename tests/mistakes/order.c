/* A program for ThreadSanitizer, which is compiled with it and linked with a library that is not: order.c NAME runs one
 * of the functions below. Those called right_* have no race. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <heddle.h>

enum { N = 64, TURNS = 20 };

static heddle_runtime *rt;
static double x[N], y[N];
static long undeclared, sum, by_callbacks;

static void check(int status)
{
	if (!status)
		return;
	fprintf(stderr, "%s: %s\n", heddle_status_name(status), heddle_last_error());
	exit(2);
}

static int increment(heddle_context *c)
{
	double *a = heddle_ptr(c, 0);
	for (size_t i = 0; i < heddle_extent(c, 0, 0); i++)
		a[i]++;
	return 0;
}

static int copy(heddle_context *c)
{
	memcpy(heddle_ptr(c, 0), heddle_ptr(c, 1), heddle_extent(c, 0, 0) * sizeof(double));
	return 0;
}

static int zero(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) = 0;
	return 0;
}

static int add(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) += *(long *)heddle_ptr(c, 1);
	return 0;
}

static int add_value(heddle_context *c)
{
	*(long *)heddle_ptr(c, 0) += heddle_get(c, 0, long);
	return 0;
}

static int use_undeclared(heddle_context *c)
{
	(void)c;
	undeclared++;
	return 0;
}

static int write_first(heddle_context *c)
{
	*(double *)heddle_ptr(c, 0) = heddle_get(c, 0, double);
	return 0;
}

/* Each member writes its part of datum 0 and adds up all parts; in between they meet, if value 0 says so. */
static int add_parts(heddle_context *c)
{
	double *a = heddle_ptr(c, 0), *sums = heddle_ptr(c, 1);
	size_t n = heddle_extent(c, 0, 0), rank = heddle_context_rank(c), ranks = heddle_context_cores(c);
	for (size_t i = n * rank / ranks; i < n * (rank + 1) / ranks; i++)
		a[i]++;
	if (heddle_get(c, 0, int))
		heddle_context_barrier(c);
	for (size_t i = 0; i < n; i++)
		sums[rank] += a[i];
	return 0;
}

static heddle_codelet *codelet(const char *name, heddle_kernel kernel)
{
	heddle_codelet *c = heddle_codelet_new(rt, .name = name, .cpu = kernel,
	                                       .parallel = kernel == add_parts ? HEDDLE_SPMD : HEDDLE_SEQUENTIAL);
	if (!c)
		check(-1);
	return c;
}

static heddle_data *vector(double *a)
{
	heddle_data *d;
	check(heddle_vector(rt, a, N, sizeof *a, &d));
	return d;
}

/* Writers and readers of data, pieces of data, and the program itself. */
static void right_data(void)
{
	heddle_codelet *inc = codelet("increment", increment), *cp = codelet("copy", copy);
	heddle_data *dx = vector(x), *dy = vector(y);
	const struct heddle_filter pieces = {.kind = HEDDLE_SPLIT_VECTOR, .nx = 4};
	for (int turn = 0; turn < TURNS; turn++) {
		check(heddle_submit(rt, heddle_call(inc), heddle_rw(dx)));
		check(heddle_submit(rt, heddle_call(cp), heddle_w(dy), heddle_r(dx)));
		check(heddle_submit(rt, heddle_call(inc), heddle_rw(dx)));
		check(heddle_partition(dx, &pieces, NULL));
		for (size_t i = 0; i < 4; i++)
			check(heddle_submit(rt, heddle_call(inc), heddle_rw(heddle_child(dx, i))));
		check(heddle_unpartition(dx));
		check(heddle_acquire(dx, HEDDLE_RW));
		x[0]++;
		check(heddle_release(dx));
	}
	check(heddle_unregister(dx));
	check(heddle_unregister(dy));
	x[1] = y[1] = 0;
}

static void count(void *arg, int status)
{
	(void)status;
	++*(long *)arg;
}

/* What one callback sees of the one before. */
static void follow(void *arg, int status)
{
	heddle_codelet *undecl = arg;
	(void)status;
	check(heddle_submit(rt, heddle_call(undecl), heddle_then(count, &by_callbacks)));
}

/* Sums, explicit dependencies, callbacks and waits for one task. */
static void right_tasks(void)
{
	heddle_data *d;
	heddle_codelet *undecl = codelet("undeclared", use_undeclared), *value = codelet("value", add_value);
	check(heddle_variable(rt, &sum, sizeof sum, &d));
	check(heddle_data_set_reduction(d, codelet("zero", zero), codelet("add", add)));
	heddle_task *before = NULL;
	for (long turn = 0; turn < TURNS; turn++) {
		heddle_task *t;
		check(heddle_submit(rt, heddle_call(value), heddle_redux(d), heddle_value(turn)));
		check(heddle_submit(rt, heddle_call(value), heddle_commute(d), heddle_value(turn)));
		if (before)
			check(heddle_submit(rt, heddle_call(undecl), heddle_out(&t), heddle_after(before)));
		else
			check(heddle_submit(rt, heddle_call(undecl), heddle_out(&t)));
		heddle_task_release(before);
		before = t;
	}
	check(heddle_task_wait(before));
	heddle_task_release(before);
	undeclared++;
	check(heddle_submit(rt, heddle_call(undecl), heddle_then(follow, undecl)));
	check(heddle_wait_all(rt));
	by_callbacks++;
	undeclared++;
	check(heddle_unregister(d));
	sum++;
}

static void run_members(int meet, int turns)
{
	heddle_codelet *parts = codelet("parts", add_parts), *inc = codelet("increment", increment);
	heddle_data *dx = vector(x), *dy = vector(y);
	for (int turn = 0; turn < turns; turn++) {
		check(heddle_submit(rt, heddle_call(parts), heddle_rw(dx), heddle_rw(dy), heddle_value(meet)));
		check(heddle_submit(rt, heddle_call(inc), heddle_rw(dx)));
		check(heddle_submit(rt, heddle_call(inc), heddle_rw(dy)));
	}
	check(heddle_unregister(dx));
	check(heddle_unregister(dy));
	x[1] = y[1] = 0;
}

/* The members of a cluster meet in a barrier, or do not. */
static void right_members(void)
{
	run_members(1, TURNS);
}

static void race_among_members(void)
{
	run_members(0, 1);
}

/* Two tasks on two workers use a variable that neither has declared. */
static void race_undeclared(void)
{
	heddle_codelet *undecl = codelet("undeclared", use_undeclared);
	for (unsigned worker = 0; worker < 2; worker++)
		check(heddle_submit(rt, heddle_call(undecl), heddle_on(worker)));
}

/* Two tasks write a datum that they have declared to read. */
static void race_of_readers(void)
{
	heddle_codelet *first = codelet("first", write_first);
	heddle_data *dx = vector(x);
	double one = 1;
	for (unsigned worker = 0; worker < 2; worker++)
		check(heddle_submit(rt, heddle_call(first), heddle_r(dx), heddle_value(one), heddle_on(worker)));
}

/* The program reads what it has not acquired. */
static void race_of_the_program(void)
{
	heddle_data *dx = vector(x);
	heddle_task *t;
	check(heddle_submit(rt, heddle_call(codelet("increment", increment)), heddle_rw(dx), heddle_out(&t)));
	x[0]++;
	check(heddle_task_wait(t));
	heddle_task_release(t);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {{"right_data", right_data},
             {"right_tasks", right_tasks},
             {"right_members", right_members},
             {"race_undeclared", race_undeclared},
             {"race_among_members", race_among_members},
             {"race_of_readers", race_of_readers},
             {"race_of_the_program", race_of_the_program}};

int main(int argc, char **argv)
{
	struct heddle_config config;
	check(heddle_config_init(&config));
	config.model_dir = "none";
	config.sched = "eager";
	if (heddle_start(&config, &rt))
		return 77; /* there are too few cores */
	for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
		if (strcmp(argv[1], cases[i].name) == 0)
			cases[i].run();
	check(heddle_stop(rt));
	return 0;
}
