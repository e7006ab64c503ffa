/* The same graph on a machine that nobody here owns, in virtual time: nothing is computed, no matrix is allocated. */
#include <dense/dense.h>
#include <stdio.h>

/* Cholesky factorisation of 20 x 20 tiles on `platform` under `sched`. */
static int simulate(const char *platform, const char *sched, struct heddle_dense_report *report)
{
	struct heddle_config config;
	heddle_runtime *rt;
	heddle_dense *dense;
	int status = heddle_config_init(&config);
	if (status)
		return status;
	config.platform = platform; /* this is all that a program changes */
	config.sched = sched;
	status = heddle_start(&config, &rt);
	if (status)
		return status;
	status = heddle_dense_open(rt, &dense);
	if (!status) {
		struct heddle_dense_problem problem = {.precision = HEDDLE_DENSE_SINGLE, .n = 20 * 960, .tile = 960};
		status = heddle_dense_potrf_graph(dense, &problem, report);
		heddle_dense_close(dense);
	}
	int stopped = heddle_stop(rt);
	return status ? status : stopped;
}

int main(void)
{
	static const char *const policies[] = {"eager", "lws", "dmda", "dmdas"};
	struct heddle_dense_report first[4], again;
	int wrong = 0;
	printf("single precision Cholesky, n = 19200, on haswell-k40m (20 cores and 4 GPUs)\n");
	for (size_t i = 0; i < 4; i++) {
		if (simulate("haswell-k40m", policies[i], &first[i]) || simulate("haswell-k40m", policies[i], &again)) {
			fprintf(stderr, "%s\n", heddle_last_error());
			return 1;
		}
		printf("%-6s makespan %8.3f ms  %7.1f GFlop/s\n", policies[i], first[i].seconds * 1e3, first[i].gflops);
		wrong |= first[i].seconds <= 0 || first[i].seconds != again.seconds; /* the same to the last bit */
	}
	return wrong || first[3].gflops <= first[0].gflops; /* a policy that knows the machine must win */
}
