/* Starts: the environment, the fields of struct starpu_conf, workers, memory; and virtual time by HEDDLE_PLATFORM. */
#include "check.h"
#include <heddle/runtime.h>

static void environment(void)
{
	struct starpu_conf conf;
	setenv("STARPU_NCPU", "3", 1);
	setenv("STARPU_SCHED", "prio", 1);
	setenv("STARPU_WORKERS_NOBIND", "1", 1);
	CHECK(starpu_conf_init(&conf) == 0);
	conf.ncpus = 1;
	conf.ncuda = conf.nopencl = 0;
	conf.sched_policy_name = "dmdasd";
	CHECK(starpu_init(&conf) == 0 && starpu_is_initialized());
	CHECK(starpu_cpu_worker_get_count() == 3);
	CHECK(!strcmp(heddle_runtime_policy(starpu_heddle_runtime()), "prio"));
	starpu_shutdown();
	conf.precedence_over_environment_variables = 1;
	CHECK(starpu_init(&conf) == 0);
	CHECK(starpu_worker_get_count() == 1);
	CHECK(!strcmp(heddle_runtime_policy(starpu_heddle_runtime()), "dmdas"));
	starpu_shutdown();
	CHECK(!starpu_is_initialized());
	unsetenv("STARPU_NCPU");
	unsetenv("STARPU_SCHED");
	CHECK(starpu_conf_noworker(&conf) == 0 && starpu_init(&conf) == -ENODEV);
}

static void count(void *arg)
{
	++*(_Atomic int *)arg;
}

static void workers_and_memory(void)
{
	_Atomic int calls = 0;
	int ids[4];
	char name[32];
	void *memory;
	start(2);
	CHECK(starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, ids, 4) == 2 && ids[1] == 1);
	CHECK(starpu_worker_get_by_type(STARPU_CPU_WORKER, 1) == 1 && starpu_worker_get_type(1) == STARPU_CPU_WORKER);
	CHECK(starpu_worker_get_id() == -1 && starpu_node_get_kind(STARPU_MAIN_RAM) == STARPU_CPU_RAM);
	starpu_worker_get_name(0, name, sizeof name);
	CHECK(name[0]);
	starpu_execute_on_each_worker(count, (void *)&calls, STARPU_CPU);
	CHECK(calls == 2);
	CHECK(starpu_malloc(&memory, 100) == 0 && memory && (uintptr_t)memory % 64 == 0);
	CHECK(starpu_free(memory) == 0);
	starpu_shutdown();
}

static void never(void *buffers[], void *cl_arg)
{
	(void)buffers, (void)cl_arg;
	STARPU_ABORT_MSG("a kernel runs in virtual time");
}

/* StarPU's examples call their product of matrices so; the platform has times for dgemm. */
static struct starpu_perfmodel gemm_model = {.type = STARPU_HISTORY_BASED, .symbol = "starpu_dgemm_gemm"};
static struct starpu_codelet gemm_cl = {
    .cpu_funcs = {never}, .nbuffers = 3, .modes = {STARPU_R, STARPU_R, STARPU_RW}, .model = &gemm_model};

static void virtual_time(void)
{
	enum { N = 960 };
	starpu_data_handle_t a, b, c[16];
	setenv("HEDDLE_PLATFORM", "haswell-k40m", 1);
	CHECK(starpu_init(NULL) == 0);
	CHECK(starpu_cuda_worker_get_count() == 4 && heddle_runtime_is_virtual(starpu_heddle_runtime()));
	starpu_matrix_data_register(&a, -1, 0, N, N, N, sizeof(double));
	starpu_data_register_same(&b, a);
	struct starpu_codelet clear = {.cpu_funcs = {never}, .nbuffers = 1, .modes = {STARPU_W}, .model = &gemm_model};
	CHECK(starpu_task_insert(&clear, STARPU_W, a, 0) == 0 && starpu_task_insert(&clear, STARPU_W, b, 0) == 0);
	double begin = starpu_timing_now();
	for (int i = 0; i < 16; i++) {
		starpu_data_register_same(&c[i], a);
		CHECK(starpu_task_insert(&clear, STARPU_W, c[i], 0) == 0);
		CHECK(starpu_task_insert(&gemm_cl, STARPU_R, a, STARPU_R, b, STARPU_RW, c[i], 0) == 0);
		starpu_data_unregister_submit(c[i]);
	}
	CHECK(starpu_task_wait_for_all() == 0);
	CHECK(starpu_timing_now() > begin);
	starpu_data_unregister(a);
	starpu_data_unregister(b);
	starpu_shutdown();
	unsetenv("HEDDLE_PLATFORM");
}

int main(void)
{
	environment();
	workers_and_memory();
	virtual_time();
	return 0;
}
