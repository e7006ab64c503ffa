/* Every shipped policy on every odd machine, in virtual time and with threads: all tasks run. A class without a worker,
 * a worker that can run nothing, one worker alone, many more workers than cores. */
#include <math.h>
#include <stdio.h>
#include "program.h"

enum { N_TASKS = 60, N_DATA = 8 };

/* --- Machines ----------------------------------------------------------------------------------------------------- */

struct machine {
	const char *name, *workers; /* lines of its platform file */
	uint64_t capacity;          /* bytes, of the accelerator's memory; 0: no limit */
	int cpus, accelerators;     /* whether some worker of that kind can run tasks */
};

static const struct machine machines[] = {
    {"no CPU worker", "- {name: acc, class: acc, node: far}\n", 0, 0, 1},
    {"no accelerator worker", "- {name: cpu, count: 2, class: cpu, node: ram}\n", 0, 1, 0},
    {"one worker", "- {name: cpu, class: cpu, node: ram}\n", 0, 1, 0},
    {"an accelerator whose memory holds nothing",
     "- {name: cpu, count: 2, class: cpu, node: ram}\n- {name: acc, class: acc, node: far}\n", 1, 1, 0},
    {"both", "- {name: cpu, count: 2, class: cpu, node: ram}\n- {name: acc, count: 2, class: acc, node: far}\n", 0, 1,
     1},
    {"128 workers",
     "- {name: cpu, count: 126, class: cpu, node: ram}\n- {name: acc, count: 2, class: acc, node: far}\n", 0, 1, 1},
};
enum { N_MACHINES = sizeof machines / sizeof *machines };

static struct heddle_platform *make_platform(const struct machine *m)
{
	char yaml[1024];
	snprintf(yaml, sizeof yaml,
	         "version: 1\nname: odd\nnodes:\n- {name: ram}\n- {name: far}\n"
	         "classes:\n- {name: cpu, kind: cpu}\n- {name: acc, kind: emulated}\nworkers:\n%s"
	         "links:\n- {from: ram, to: far, bandwidth_mbs: 10000}\n- {from: far, to: ram, bandwidth_mbs: 10000}\n",
	         m->workers);
	struct heddle_platform *p;
	assert_ok(heddle_platform_parse("odd.yaml", yaml, strlen(yaml), &p));
	p->nodes[1].capacity = m->capacity;
	return p;
}

/* --- Codelets ----------------------------------------------------------------------------------------------------- */

enum { CPU_ONLY, ACCELERATOR_ONLY, BOTH, N_CODELETS };

static double time_on_cpu(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	return class_id == 0 ? 10 : (double)NAN;
}

static double time_on_accelerator(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	return class_id == 1 ? 10 : (double)NAN;
}

static double time_anywhere(const struct heddle_size *size, unsigned class_id)
{
	(void)size;
	return class_id == 0 ? 20 : 10;
}

/* An accelerator of this kind runs CPU kernels, too: only this keeps a task away from it. */
static int is_cpu(unsigned worker, const heddle_task *task, void *arg)
{
	const struct heddle_platform *p = arg;
	(void)task;
	return p->workers[worker].class_id == 0;
}

/* With threads nothing is known of the times: policies that calibrate begin to. */
static void make_codelets(heddle_runtime *rt, int virtual_time, heddle_codelet **codelets)
{
	enum heddle_model_kind model = virtual_time ? HEDDLE_MODEL_GIVEN : HEDDLE_MODEL_HISTORY;
	codelets[CPU_ONLY] = heddle_codelet_new(rt, .name = "cpu only", .cpu = increment, .model = model,
	                                        .time = time_on_cpu, .can_run = virtual_time ? NULL : is_cpu,
	                                        .can_run_arg = (void *)(uintptr_t)heddle_runtime_platform(rt));
	codelets[ACCELERATOR_ONLY] = heddle_codelet_new(rt, .name = "accelerator only", .emulated = increment,
	                                                .model = model, .time = time_on_accelerator);
	codelets[BOTH] =
	    heddle_codelet_new(rt, .name = "both", .cpu = increment, .model = model, .time = time_anywhere);
	for (int k = 0; k < N_CODELETS; k++)
		assert_non_null(codelets[k]);
}

/* --- Runs --------------------------------------------------------------------------------------------------------- */

static int can_be_run(const struct machine *m, int codelet)
{
	return codelet == BOTH || (codelet == CPU_ONLY ? m->cpus : m->accelerators);
}

/* Tasks of all codelets that some worker can run, in turn, each after the one that wrote its datum before; how many. */
static uint64_t submit_tasks(heddle_runtime *rt, const struct machine *m, heddle_codelet **codelets, heddle_data **data)
{
	uint64_t n = 0;
	for (int i = 0; i < N_TASKS; i++) {
		if (!can_be_run(m, i % N_CODELETS))
			continue;
		assert_ok(heddle_submit(rt, heddle_call(codelets[i % N_CODELETS]), heddle_rw(data[i % N_DATA]),
		                        heddle_r(data[(i + 3) % N_DATA]), heddle_priority(i % 5)));
		n++;
	}
	return n;
}

static void run_on(const char *policy, const struct machine *m, int virtual_time)
{
	struct heddle_config config = small_config();
	config.sched = policy;
	struct heddle_platform *platform = make_platform(m);
	heddle_runtime *rt;
	heddle_codelet *codelets[N_CODELETS];
	heddle_data *data[N_DATA];
	long x[N_DATA] = {0}, sum = 0;
	assert_ok(heddle_start_on(&config, platform, virtual_time, &rt));
	heddle_platform_free(platform);
	make_codelets(rt, virtual_time, codelets);
	for (int i = 0; i < N_DATA; i++)
		assert_ok(heddle_variable(rt, &x[i], sizeof x[i], &data[i]));
	uint64_t n = submit_tasks(rt, m, codelets, data);
	struct heddle_stats stats;
	int status = heddle_wait_all(rt);
	assert_ok(heddle_runtime_stats(rt, &stats));
	if (status || stats.tasks_executed != n)
		fail_msg("%s on %s, %s: %s; %llu of %llu tasks ran", policy, m->name,
		         virtual_time ? "virtual" : "threads", status ? heddle_last_error() : "no error",
		         (unsigned long long)stats.tasks_executed, (unsigned long long)n);
	assert_ok(heddle_stop(rt));
	for (int i = 0; i < N_DATA; i++)
		sum += x[i];
	assert_int_equal(sum, virtual_time ? 0 : n);
}

static void every_policy_runs_all_tasks(void **state)
{
	const struct heddle_policy **all = heddle_policies();
	assert_non_null(all);
	for (size_t k = 0; k < N_MACHINES; k++)
		for (size_t i = 0; all[i]; i++)
			run_on(all[i]->name, &machines[k], *state != NULL);
	free(all);
}

static void default_policy_counts_no_class_without_workers(void **state)
{
	(void)state;
	for (size_t k = 0; k < N_MACHINES; k++) {
		struct heddle_platform *p = make_platform(&machines[k]);
		size_t met = 0; /* classes of workers, as bits */
		for (size_t w = 0; w < p->n_workers; w++)
			met |= (size_t)1 << p->workers[w].class_id;
		struct heddle_config config = small_config();
		config.sched = "auto";
		heddle_runtime *rt;
		assert_ok(heddle_start_on(&config, p, 1, &rt));
		assert_string_equal(heddle_runtime_policy(rt), met == 3 ? "dmdas" : "lws");
		assert_ok(heddle_stop(rt));
		heddle_platform_free(p);
	}
}

int main(void)
{
	static char virtual_time[] = "virtual time";
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_prestate(every_policy_runs_all_tasks, virtual_time),
	    cmocka_unit_test_prestate(every_policy_runs_all_tasks, NULL),
	    cmocka_unit_test(default_policy_counts_no_class_without_workers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
