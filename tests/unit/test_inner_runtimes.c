/* What libraries with threads of their own are told before parallel kernels, and where their threads may run. OpenBLAS
 * is really there; the functions of OpenMP, MKL and BLIS are this test's own, which Heddle finds in the process. */
#define _GNU_SOURCE
#include <cblas.h>
#include "internals.h"
#include "cluster.h"
#include "inner_runtimes.h"
#include "overlapping.h"
#include "engine/threads/team.h"

/* --- The test's own libraries ------------------------------------------------------------------------------------- */

static _Thread_local int omp_threads = 77;      /* what it is without Heddle */
static _Thread_local int mkl_threads;           /* 0: as many as the process has */
static _Thread_local intptr_t bli_threads = -1; /* as BLIS itself has it: none was set */
static atomic_int pauses;

void omp_set_num_threads(int n)
{
	omp_threads = n;
}

int omp_get_max_threads(void)
{
	return omp_threads;
}

/* Takes as long as another worker needs to begin a task on the cores, if it may: the test would see it. */
int omp_pause_resource_all(int kind)
{
	for (int i = 0; i < 10; i++)
		give_others_time();
	pauses += kind;
	return 0;
}

int mkl_set_num_threads_local(int n)
{
	int before = mkl_threads;
	mkl_threads = n;
	return before;
}

void bli_thread_set_num_threads(intptr_t n)
{
	bli_threads = n;
}

intptr_t bli_thread_get_num_threads(void)
{
	return bli_threads;
}

/* --- Numbers of threads ------------------------------------------------------------------------------------------- */

struct seen {
	int omp, mkl, blas;
};

static int look(heddle_context *c)
{
	struct seen *s = heddle_ptr(c, 0);
	s[heddle_context_rank(c)] = (struct seen){omp_threads, mkl_threads, openblas_get_num_threads()};
	/* BLIS is told what OpenMP is told. */
	return bli_threads == (omp_threads == 77 ? -1 : omp_threads)
	           ? 0
	           : heddle_fail(c, 1, "%d threads of OpenMP, %jd of BLIS", omp_threads, (intmax_t)bli_threads);
}

/* Runs a kernel on a worker and compares what each rank has seen there. */
static void expect(heddle_runtime *rt, heddle_codelet *codelet, unsigned worker, unsigned ranks, struct seen wanted)
{
	struct seen seen[3] = {{0}};
	heddle_data *d;
	assert_ok(heddle_vector(rt, seen, 3, sizeof *seen, &d));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d), heddle_on(worker)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_unregister(d));
	for (unsigned i = 0; i < 3; i++) {
		struct seen w = i < ranks ? wanted : (struct seen){0};
		if (seen[i].omp != w.omp || seen[i].mkl != w.mkl || seen[i].blas != w.blas)
			fail_msg("%s, rank %u: %d, %d, %d threads instead of %d, %d, %d", heddle_codelet_name(codelet),
			         i, seen[i].omp, seen[i].mkl, seen[i].blas, w.omp, w.mkl, w.blas);
	}
}

static void a_library_uses_the_cores_of_the_cluster(void **state)
{
	(void)state;
	int former = openblas_get_num_threads();
	openblas_set_num_threads(2);
	struct heddle_config config = small_config();
	heddle_runtime *rt = start_clusters(&config, (const unsigned[]){3, 0});
	heddle_codelet *one = heddle_codelet_new(rt, .name = "one", .cpu = look);
	heddle_codelet *fork = heddle_codelet_new(rt, .name = "fork", .cpu = look, .parallel = HEDDLE_FORK_JOIN);
	heddle_codelet *all = heddle_codelet_new(rt, .name = "all", .cpu = look, .parallel = HEDDLE_SPMD);
	for (int i = 0; i < 3; i++) { /* each after each */
		expect(rt, one, 0, 1, (struct seen){1, 1, 1});
		expect(rt, fork, 0, 1, (struct seen){3, 3, 3});
		expect(rt, fork, 0, 1, (struct seen){3, 3, 3});
		assert_int_equal(pauses, 2 * i);
		expect(rt, all, 0, 3, (struct seen){1, 1, 1});
		expect(rt, all, 0, 3, (struct seen){1, 1, 1});
		assert_int_equal(pauses, 2 * i + 1);
		expect(rt, fork, 0, 1, (struct seen){3, 3, 3});
		expect(rt, one, 0, 1, (struct seen){1, 1, 1});
		expect(rt, all, 0, 3, (struct seen){1, 1, 1});
	}
	assert_ok(heddle_stop(rt));
	assert_int_equal(omp_threads, 77); /* of this thread */
	assert_int_equal(openblas_get_num_threads(), 2);
	openblas_set_num_threads(former);
}

/* What the program sets meanwhile stays: libheddle-dense sets the number of threads of OpenBLAS and gives it back. */
static void numbers_that_the_program_sets_stay(void **state)
{
	(void)state;
	int former = openblas_get_num_threads();
	heddle_runtime *rt = start_cluster(2);
	heddle_codelet *all = heddle_codelet_new(rt, .name = "all", .cpu = look, .parallel = HEDDLE_SPMD);
	openblas_set_num_threads(2);
	expect(rt, all, 0, 2, (struct seen){1, 1, 1});
	openblas_set_num_threads(3);
	assert_ok(heddle_stop(rt));
	assert_int_equal(openblas_get_num_threads(), 3);
	openblas_set_num_threads(former);
}

/* Its threads belong to the process, so only a cluster that is alone may use them. */
static void clusters_do_not_share_the_threads_of_openblas(void **state)
{
	(void)state;
	int former = openblas_get_num_threads();
	openblas_set_num_threads(1);
	struct heddle_config config = small_config();
	heddle_runtime *rt = start_clusters(&config, (const unsigned[]){3, 2, 1, 0});
	heddle_codelet *fork = heddle_codelet_new(rt, .name = "fork", .cpu = look, .parallel = HEDDLE_FORK_JOIN);
	heddle_codelet *one = heddle_codelet_new(rt, .name = "one", .cpu = look);
	expect(rt, one, 2, 1, (struct seen){77, 0, 1}); /* a worker of one core, before any parallel kernel */
	for (int i = 0; i < 2; i++) {
		expect(rt, fork, 0, 1, (struct seen){3, 3, 1});
		expect(rt, fork, 1, 1, (struct seen){2, 2, 1});
		expect(rt, fork, 2, 1, (struct seen){1, 1, 1});
		expect(rt, one, 1, 1, (struct seen){1, 1, 1});
		expect(rt, one, 2, 1, (struct seen){1, 1, 1});
	}
	assert_ok(heddle_stop(rt));
	openblas_set_num_threads(former);
}

/* When other workers are driven, none has the threads of those before: neither a single core those of a cluster that
 * was alone, nor a cluster those that it had while it was alone. */
static void numbers_follow_the_workers_that_are_driven(void **state)
{
	(void)state;
	int former = openblas_get_num_threads();
	openblas_set_num_threads(2);
	struct heddle_config config = small_config();
	heddle_runtime *rt = start_overlapping(&config, 0, 0);
	heddle_codelet *one = heddle_codelet_new(rt, .name = "one", .cpu = look);
	heddle_codelet *fork = heddle_codelet_new(rt, .name = "fork", .cpu = look, .parallel = HEDDLE_FORK_JOIN);
	for (int i = 0; i < 2; i++) {
		drive(rt, all_cores, 1);
		expect(rt, fork, ALL, 1, (struct seen){4, 4, 4});
		drive(rt, singles, 4);
		for (unsigned w = 0; w < 4; w++)
			expect(rt, w % 2 ? fork : one, w, 1, (struct seen){1, 1, 1});
		drive(rt, (unsigned[]){PAIR}, 1);
		expect(rt, fork, PAIR, 1, (struct seen){2, 2, 2});
		drive(rt, pairs, 2);
		expect(rt, fork, PAIR, 1, (struct seen){2, 2, 1});
		expect(rt, fork, OTHER_PAIR, 1, (struct seen){2, 2, 1});
	}
	drive(rt, all_cores, 1);
	expect(rt, fork, ALL, 1, (struct seen){4, 4, 4});
	drive(rt, singles, 4);
	expect(rt, one, 0, 1, (struct seen){1, 1, 1});
	assert_ok(heddle_stop(rt));
	assert_int_equal(openblas_get_num_threads(), 2);
	openblas_set_num_threads(former);
}

/* Drives single cores. */
static int fork_and_leave(heddle_context *c)
{
	int before = pauses;
	if (heddle_workers_drive(heddle_context_runtime(c), singles, 4))
		return heddle_fail(c, 1, "%s", heddle_last_error());
	return pauses == before ? 0 : heddle_fail(c, 2, "threads of a kernel that runs were sent to sleep");
}

/* Whether they sleep now; or, if it may wait, until they do. */
static int look_at_pauses(heddle_context *c)
{
	int wanted = heddle_get(c, 0, int), may_wait = heddle_get(c, 1, int);
	while (may_wait && pauses < wanted)
		sched_yield();
	return pauses == wanted ? 0 : heddle_fail(c, 1, "%d pauses instead of %d", pauses, wanted);
}

/* Threads of OpenMP would poll on cores on which others are driven: a cluster that has run fork-join kernels sends them
 * to sleep, once: before it gives its cores back if it retires during a kernel, and soon if it has nothing to do. */
static void a_cluster_that_retires_sends_threads_to_sleep(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	heddle_runtime *rt = start_overlapping(&config, 0, 0);
	heddle_codelet *fork = heddle_codelet_new(rt, .name = "fork", .cpu = nothing, .parallel = HEDDLE_FORK_JOIN);
	heddle_codelet *leave =
	    heddle_codelet_new(rt, .name = "leave", .cpu = fork_and_leave, .parallel = HEDDLE_FORK_JOIN);
	heddle_codelet *look_there = heddle_codelet_new(rt, .name = "look", .cpu = look_at_pauses);
	int wanted = pauses;
	for (int i = 0; i < 4; i++) {
		int is_idle = i % 2;
		wanted++;
		drive(rt, pairs, 2);
		assert_ok(heddle_submit(rt, heddle_call(is_idle ? fork : leave), heddle_on(PAIR)));
		if (is_idle) {
			assert_ok(heddle_wait_all(rt));
			drive(rt, mixed, 3); /* it is driven there, too */
			drive(rt, singles, 4);
		}
		assert_ok(heddle_submit(rt, heddle_call(look_there), heddle_value(wanted), heddle_value(is_idle),
		                        heddle_on(0)));
		assert_ok(heddle_wait_all(rt));
		drive(rt, pairs, 2);
		drive(rt, singles, 4);
	}
	assert_ok(heddle_stop(rt));
	assert_int_equal(pauses, wanted);
}

static void drive_the_single_core(void *rt, int status)
{
	(void)status;
	assert_ok(heddle_workers_drive(rt, (const unsigned[]){1}, 1));
}

/* Worker 0 retires after its last kernel, while the thread of the program that has run the kernel is still in its
 * wait. */
static void a_thread_of_the_program_sends_its_threads_to_sleep(void **state)
{
	(void)state;
	static const char platform[] = "version: 1\n"
	                               "name: pair\n"
	                               "nodes: [{name: ram}]\n"
	                               "classes:\n"
	                               "- {name: cpu*2, kind: cpu, cores: 2}\n"
	                               "- {name: cpu, kind: cpu, cores: 1}\n"
	                               "workers:\n"
	                               "- {name: pair, class: cpu*2, node: ram, core: 0}\n"
	                               "- {name: single, retired: 1, class: cpu, node: ram, core: 0}\n";
	struct heddle_config config = small_config();
	struct heddle_platform *p;
	heddle_runtime *rt;
	config.caller_works = 1;
	assert_ok(heddle_platform_parse("test", platform, strlen(platform), &p));
	assert_ok(heddle_start_on(&config, p, 0, &rt));
	heddle_platform_free(p);
	heddle_codelet *fork = heddle_codelet_new(rt, .name = "fork", .cpu = nothing, .parallel = HEDDLE_FORK_JOIN);
	int before = pauses;
	assert_ok(heddle_submit(rt, heddle_call(fork), heddle_on(0), heddle_then(drive_the_single_core, rt)));
	assert_ok(heddle_wait_all(rt));
	assert_int_equal(pauses, before + 1);
	assert_ok(heddle_stop(rt));
}

/* A kernel that waits has its threads again when others have run in its thread meanwhile. */
static int wait_for_others(heddle_context *c)
{
	heddle_group *group = heddle_get(c, 0, heddle_group *);
	heddle_codelet *one = heddle_get(c, 1, heddle_codelet *);
	for (int i = 0; i < 5; i++)
		if (heddle_submit(heddle_context_runtime(c), heddle_call(one), heddle_in_group(group)))
			return heddle_fail(c, 1, "%s", heddle_last_error());
	if (heddle_group_wait(group))
		return heddle_fail(c, 2, "%s", heddle_last_error());
	return omp_threads == 3 ? 0 : heddle_fail(c, 3, "%d threads", omp_threads);
}

static int has_one_thread(heddle_context *c)
{
	return omp_threads == 1 ? 0 : heddle_fail(c, 4, "%d threads", omp_threads);
}

static void a_kernel_that_waits_has_its_threads_again(void **state)
{
	(void)state;
	for (int caller_works = 0; caller_works < 2; caller_works++) {
		struct heddle_config config = small_config();
		config.caller_works = caller_works;
		heddle_runtime *rt = start_clusters(&config, (const unsigned[]){3, 0});
		heddle_codelet *one = heddle_codelet_new(rt, .name = "one", .cpu = has_one_thread);
		heddle_codelet *fork =
		    heddle_codelet_new(rt, .name = "fork", .cpu = wait_for_others, .parallel = HEDDLE_FORK_JOIN);
		heddle_group *group;
		assert_ok(heddle_group_create(rt, &group));
		assert_ok(heddle_submit(rt, heddle_call(fork), heddle_value(group), heddle_value(one)));
		assert_ok(heddle_wait_all(rt));
		assert_int_equal(omp_threads, 77); /* of this thread, which may have run the kernels */
		assert_int_equal(bli_threads, -1);
		heddle_group_free(group);
		assert_ok(heddle_stop(rt));
	}
}

/* --- The prologue ------------------------------------------------------------------------------------------------- */

struct calls {
	heddle_runtime *rt;
	int n, wrong; /* an assertion that fails in a thread of a worker would end the wrong thread */
	unsigned cores[20];
};

static void note_call(const struct heddle_cluster *cluster, void *arg)
{
	struct calls *calls = arg;
	if (calls->n < 20)
		calls->cores[calls->n++] = cluster->cores;
	calls->wrong |= cluster->worker != 0 || cluster->core != -1;
	calls->wrong |= heddle_wait_all(calls->rt) != HEDDLE_E_STATE; /* it must not block */
}

static void the_prologue_begins_and_ends_each_sequence(void **state)
{
	(void)state;
	heddle_runtime *rt = start_cluster(4);
	struct calls calls = {.rt = rt};
	assert_int_equal(heddle_set_prologue(NULL, note_call, &calls), HEDDLE_E_INVALID);
	assert_ok(heddle_set_prologue(rt, note_call, &calls));
	heddle_codelet *codelets[] = {
	    heddle_codelet_new(rt, .name = "one", .cpu = nothing),
	    heddle_codelet_new(rt, .name = "fork", .cpu = nothing, .parallel = HEDDLE_FORK_JOIN),
	    heddle_codelet_new(rt, .name = "all", .cpu = nothing, .parallel = HEDDLE_SPMD),
	};
	static const int order[] = {0, 1, 1, 0, 0, 1, 2, 2, 1, 1, 0};
	static const unsigned wanted[] = {4, 1, 4, 1, 4, 1};
	for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
		assert_ok(heddle_submit(rt, heddle_call(codelets[order[i]])));
		assert_ok(heddle_wait_all(rt));
	}
	assert_int_equal(calls.n, sizeof wanted / sizeof wanted[0]);
	assert_false(calls.wrong);
	assert_memory_equal(calls.cores, wanted, sizeof wanted);
	assert_ok(heddle_set_prologue(rt, NULL, NULL));
	assert_ok(heddle_submit(rt, heddle_call(codelets[1])));
	assert_ok(heddle_stop(rt));
	assert_int_equal(calls.n, sizeof wanted / sizeof wanted[0]);
}

/* What a fork-join kernel puts, while it runs, in place of the callback that was told when its sequence began. */
struct replacement {
	heddle_prologue call; /* NULL: none */
	struct calls calls;
};

static int replace_prologue(heddle_context *c)
{
	struct replacement *by = *(struct replacement *const *)heddle_value_ptr(c, 0);
	return heddle_set_prologue(heddle_context_runtime(c), by->call, &by->calls);
}

/* Who is set when a sequence ends is told of its end, and of all that follows; nobody is told twice. */
static void another_prologue_is_called_at_the_next_change(void **state)
{
	(void)state;
	static const int forks[] = {1, 1, 0, 1, 0};
	static const unsigned wanted[] = {1, 3, 1};
	for (int none = 0; none < 2; none++) {
		heddle_runtime *rt = start_cluster(3);
		struct calls first = {.rt = rt};
		struct replacement second = {none ? NULL : note_call, {.rt = rt}}, *by = &second;
		heddle_codelet *codelets[] = {
		    heddle_codelet_new(rt, .name = "one", .cpu = nothing),
		    heddle_codelet_new(rt, .name = "fork", .cpu = replace_prologue, .parallel = HEDDLE_FORK_JOIN),
		};
		assert_ok(heddle_set_prologue(rt, note_call, &first));
		for (size_t i = 0; i < sizeof forks / sizeof *forks; i++) {
			assert_ok(heddle_submit(rt, heddle_call(codelets[forks[i]]), heddle_value(by)));
			assert_ok(heddle_wait_all(rt));
		}
		assert_ok(heddle_stop(rt));
		assert_int_equal(first.n, 1);
		assert_int_equal(first.cores[0], 3);
		assert_int_equal(second.calls.n, none ? 0 : 3);
		assert_memory_equal(second.calls.cores, wanted, none ? 0 : sizeof wanted);
		assert_false(first.wrong || second.calls.wrong);
	}
}

/* --- Where threads may run ---------------------------------------------------------------------------------------- */

static int look_where(heddle_context *c)
{
	cpu_set_t *sets = heddle_ptr(c, 0);
	return sched_getaffinity(0, sizeof *sets, &sets[heddle_context_rank(c)]);
}

static void where(heddle_runtime *rt, heddle_codelet *codelet, cpu_set_t sets[2])
{
	heddle_data *d;
	memset(sets, 0, 2 * sizeof *sets);
	assert_ok(heddle_vector(rt, sets, 2, sizeof *sets, &d));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d)));
	assert_ok(heddle_unregister(d));
}

static void threads_are_bound_to_the_cores_of_the_cluster(void **state)
{
	(void)state;
	if (cores_up_to(2) < 2)
		skip();
	struct heddle_config config = small_config();
	config.bind = 1;
	struct heddle_platform *p = platform_of((const unsigned[]){2, 0});
	p->workers[0].core = 0;
	heddle_runtime *rt;
	assert_ok(heddle_start_on(&config, p, 0, &rt));
	heddle_platform_free(p);
	heddle_codelet *one = heddle_codelet_new(rt, .name = "one", .cpu = look_where);
	heddle_codelet *fork = heddle_codelet_new(rt, .name = "fork", .cpu = look_where, .parallel = HEDDLE_FORK_JOIN);
	heddle_codelet *all = heddle_codelet_new(rt, .name = "all", .cpu = look_where, .parallel = HEDDLE_SPMD);
	cpu_set_t sets[2], both, master;
	where(rt, all, sets);
	assert_int_equal(CPU_COUNT(&sets[0]), 1);
	assert_int_equal(CPU_COUNT(&sets[1]), 1);
	assert_false(CPU_EQUAL(&sets[0], &sets[1]));
	master = sets[0];
	CPU_OR(&both, &sets[0], &sets[1]);
	for (int i = 0; i < 3; i++) {
		where(rt, fork, sets);
		CPU_AND(&sets[1], &sets[0], &both);
		assert_true(CPU_EQUAL(&sets[1], &both));
		where(rt, i % 2 ? all : one, sets);
		assert_true(CPU_EQUAL(&sets[0], &master));
	}
	assert_ok(heddle_stop(rt));
}

/* Of the libraries, only the test's own OpenMP has more than a few threads in this thread. */
static void a_library_that_uses_more_threads_than_a_worker_has_cores_is_named(void **state)
{
	(void)state;
	struct hd_eager eager;
	int before = openblas_get_num_threads();
	omp_threads = 77;
	openblas_set_num_threads(1);
	assert_int_equal(hd_inner_exceeds(1, &eager), 1);
	assert_string_equal(eager.name, "OpenMP");
	assert_string_equal(eager.variable, "OMP_NUM_THREADS");
	assert_int_equal(eager.threads, 77);
	assert_int_equal(hd_inner_exceeds(77, &eager), 0);
	openblas_set_num_threads(before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_library_that_uses_more_threads_than_a_worker_has_cores_is_named),
	    cmocka_unit_test(a_library_uses_the_cores_of_the_cluster),
	    cmocka_unit_test(numbers_that_the_program_sets_stay),
	    cmocka_unit_test(clusters_do_not_share_the_threads_of_openblas),
	    cmocka_unit_test(numbers_follow_the_workers_that_are_driven),
	    cmocka_unit_test(a_cluster_that_retires_sends_threads_to_sleep),
	    cmocka_unit_test(a_thread_of_the_program_sends_its_threads_to_sleep),
	    cmocka_unit_test(a_kernel_that_waits_has_its_threads_again),
	    cmocka_unit_test(the_prologue_begins_and_ends_each_sequence),
	    cmocka_unit_test(another_prologue_is_called_at_the_next_change),
	    cmocka_unit_test(threads_are_bound_to_the_cores_of_the_cluster),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
