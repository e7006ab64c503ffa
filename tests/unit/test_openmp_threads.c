/* The threads that OpenMP makes for fork-join kernels: on which cores they run, and that they leave them when others
 * are driven there. Not in builds with sanitizers: see test_openmp.c. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include "cluster.h"
#include "overlapping.h"

/* --- Where they run ----------------------------------------------------------------------------------------------- */

enum { RANKS = 2 };

struct place {
	cpu_set_t allowed;
	int cpu;
};

static int note_place(struct place *place)
{
	place->cpu = sched_getcpu();
	return sched_getaffinity(0, sizeof place->allowed, &place->allowed);
}

/* By the threads of OpenMP. */
static int look_forked(heddle_context *c)
{
	struct place *places = heddle_ptr(c, 0);
	int wrong = 0;
#pragma omp parallel reduction(| : wrong)
	wrong |= omp_get_num_threads() != RANKS || note_place(&places[omp_get_thread_num()]);
	return wrong;
}

/* By the threads of the team. */
static int look_together(heddle_context *c)
{
	struct place *places = heddle_ptr(c, 0);
	return note_place(&places[heddle_context_rank(c)]);
}

static int look_alone(heddle_context *c)
{
	return note_place(heddle_ptr(c, 0));
}

static void look(heddle_runtime *rt, heddle_codelet *codelet, unsigned worker, struct place places[RANKS])
{
	heddle_data *d;
	memset(places, 0, RANKS * sizeof *places);
	assert_ok(heddle_vector(rt, places, RANKS, sizeof *places, &d));
	assert_ok(heddle_submit(rt, heddle_call(codelet), heddle_rw(d), heddle_on(worker)));
	assert_ok(heddle_wait_all(rt));
	assert_ok(heddle_unregister(d));
}

static void threads_run_on_the_cores_of_their_cluster(void **state)
{
	(void)state;
	unsigned n = (unsigned)cores_up_to(4) / RANKS;
	if (!n)
		skip();
	struct heddle_config config = small_config();
	config.bind = 1;
	struct heddle_platform *p = platform_of((const unsigned[]){RANKS, n > 1 ? RANKS : 0, 0});
	for (unsigned w = 0; w < n; w++)
		p->workers[w].core = (int)(RANKS * w);
	heddle_runtime *rt;
	assert_ok(heddle_start_on(&config, p, 0, &rt));
	heddle_platform_free(p);
	heddle_codelet *codelets[] = {
	    heddle_codelet_new(rt, .name = "alone", .cpu = look_alone),
	    heddle_codelet_new(rt, .name = "together", .cpu = look_together, .parallel = HEDDLE_SPMD),
	    heddle_codelet_new(rt, .name = "forked", .cpu = look_forked, .parallel = HEDDLE_FORK_JOIN),
	};
	for (unsigned i = 0; i < 3 * n; i++) {
		struct place members[RANKS], threads[RANKS];
		cpu_set_t both;
		look(rt, codelets[1], i % n, members);
		CPU_OR(&both, &members[0].allowed, &members[1].allowed);
		assert_int_equal(CPU_COUNT(&both), 2 * CPU_COUNT(&members[0].allowed));
		look(rt, codelets[i / n % 2], i % n, threads); /* they are made when the master has one core, too */
		look(rt, codelets[2], i % n, threads);
		for (int k = 0; k < RANKS; k++) {
			assert_true(CPU_EQUAL(&threads[k].allowed, &both));
			assert_true(CPU_ISSET((size_t)threads[k].cpu, &both));
		}
	}
	assert_ok(heddle_stop(rt));
}

/* --- When they leave ---------------------------------------------------------------------------------------------- */

/* Two threads, of which one polls afterwards: OMP_WAIT_POLICY is active. It drives single cores, if it is told to. */
static int fork_threads(heddle_context *c)
{
	int drives = heddle_get(c, 0, int), n = 0;
#pragma omp parallel reduction(+ : n)
	n++;
	if (drives && heddle_workers_drive(heddle_context_runtime(c), singles, N_CORES))
		return heddle_fail(c, 1, "%s", heddle_last_error());
	return n == (int)heddle_context_cores(c) ? 0 : heddle_fail(c, 2, "%d threads", n);
}

/* Returns when no other thread of the process is runnable. */
static int await_silence(heddle_context *c)
{
	(void)c;
	while (runnable_threads() > 1)
		sched_yield();
	return 0;
}

/* The cluster retires while it has nothing to do, and while its kernel runs. */
static void threads_sleep_when_other_workers_are_driven(void **state)
{
	(void)state;
	struct heddle_config config = small_config();
	heddle_runtime *rt = start_overlapping(&config, 0, 0);
	heddle_codelet *fork =
	    heddle_codelet_new(rt, .name = "fork", .cpu = fork_threads, .parallel = HEDDLE_FORK_JOIN);
	heddle_codelet *silence = heddle_codelet_new(rt, .name = "silence", .cpu = await_silence);
	for (int i = 0; i < 8; i++) {
		int drives = i % 2;
		drive(rt, pairs, 2);
		assert_ok(heddle_submit(rt, heddle_call(fork), heddle_value(drives), heddle_on(PAIR)));
		if (!drives) {
			assert_ok(heddle_wait_all(rt));
			drive(rt, singles, N_CORES);
		}
		assert_ok(heddle_submit(rt, heddle_call(silence), heddle_on(1)));
		assert_ok(heddle_wait_all(rt));
	}
	assert_ok(heddle_stop(rt));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(threads_run_on_the_cores_of_their_cluster),
	    cmocka_unit_test(threads_sleep_when_other_workers_are_driven),
	};
	(void)argc;
	if (!getenv("OMP_WAIT_POLICY")) { /* OpenMP has read it before this */
		setenv("OMP_WAIT_POLICY", "active", 1);
		execv("/proc/self/exe", argv);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
