/* A library with threads of its own that Heddle does not know. The prologue tells it how many to use, before each
 * sequence of kernels that call it. Its threads inherit the cores of the one that calls it. Here the library is a loop
 * over parts of a vector that makes its threads anew for each call. */
#include <heddle.h>
#include <pthread.h>
#include <stdio.h>

/* --- The library -------------------------------------------------------------------------------------------------- */

enum { MOST_THREADS = 64 };
static _Thread_local unsigned n_threads = 1; /* of the calls by this thread */

struct part {
	double *x;
	size_t n;
	pthread_t thread;
	int is_thread;
};

static void *halve_part(void *arg)
{
	const struct part *p = arg;
	for (size_t i = 0; i < p->n; i++)
		p->x[i] /= 2;
	return NULL;
}

static void library_halve(double *x, size_t n)
{
	struct part parts[MOST_THREADS];
	for (unsigned t = 0; t < n_threads; t++) {
		size_t first = n * t / n_threads, end = n * (t + 1) / n_threads;
		parts[t] = (struct part){.x = x + first, .n = end - first};
		parts[t].is_thread = t && !pthread_create(&parts[t].thread, NULL, halve_part, &parts[t]);
		if (!parts[t].is_thread)
			halve_part(&parts[t]);
	}
	for (unsigned t = 0; t < n_threads; t++)
		if (parts[t].is_thread)
			pthread_join(parts[t].thread, NULL);
}

/* --- The program -------------------------------------------------------------------------------------------------- */

static void prologue(const struct heddle_cluster *cluster, void *arg)
{
	(void)arg;
	n_threads = cluster->cores < MOST_THREADS ? cluster->cores : MOST_THREADS;
}

static int halve(heddle_context *c)
{
	if (n_threads > heddle_context_cores(c))
		return heddle_fail(c, 1, "%u threads for %u cores", n_threads, heddle_context_cores(c));
	library_halve(heddle_ptr(c, 0), heddle_extent(c, 0, 0));
	return 0;
}

int main(void)
{
	enum { N = 100000 };
	static double x[N];
	struct heddle_config config;
	heddle_runtime *rt = NULL;
	heddle_data *data;
	int status = heddle_config_init(&config);
	config.clusters = "socket";
	x[N - 1] = 1024;
	if (!status)
		status = heddle_start(&config, &rt);
	if (!status)
		status = heddle_set_prologue(rt, prologue, NULL);
	if (!status)
		status = heddle_vector(rt, x, N, sizeof *x, &data);
	heddle_codelet *halves =
	    status ? NULL : heddle_codelet_new(rt, .name = "halve", .cpu = halve, .parallel = HEDDLE_FORK_JOIN);
	for (int i = 0; i < 10 && !status; i++)
		status = heddle_submit(rt, heddle_call(halves), heddle_rw(data));
	if (!status)
		status = heddle_unregister(data);
	if (status)
		fprintf(stderr, "25_prologue: %s\n", heddle_last_error());
	int stopped = heddle_stop(rt);
	printf("1024 halved ten times is %g\n", x[N - 1]);
	return status || stopped || x[N - 1] != 1;
}
