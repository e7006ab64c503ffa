/* Tasks over ranks, under mpirun -n 2 (or more: ranks beyond the second only see the stream). Prints us.
 *
 *   hop         a chain of empty tasks that crosses to the other rank at each task: time per task
 *   chains 64   64 such chains at once: time per task; 256: so many
 *   large       64 chains of 256 KiB each: MB/s in each direction
 *   irrelevant  processor time of a task of 3 data that does not concern the rank; and of heddle_mpi_concerns
 *   register    processor time of registering a datum of another rank
 *   wait        a wait with nothing to wait for */
#include <heddle/mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RUNS = 25, MOST_CHAINS = 256, LARGE = 256 << 10 };

static double cpu_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int nothing(heddle_context *c)
{
	(void)c;
	return 0;
}

static void check(int status)
{
	if (!status)
		return;
	fprintf(stderr, "%s\n", heddle_last_error());
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static heddle_mpi_data *data[2][MOST_CHAINS];

static void register_chains(heddle_mpi *m, int chains, size_t bytes)
{
	struct heddle_part part = {.elem_size = 1, .n_dims = 1, .n = {bytes}, .stride = {1}};
	for (int i = 0; i < chains; i++)
		for (int r = 0; r < 2; r++)
			check(heddle_mpi_register(m, (uint64_t)(2 * i + r), r, &part, &data[r][i]));
}

static void unregister_chains(heddle_mpi *m, int chains)
{
	for (int i = 0; i < chains; i++)
		for (int r = 0; r < 2; r++)
			check(heddle_mpi_unregister(data[r][i]));
	check(heddle_mpi_wait_all(m));
}

/* us per task of `chains` chains of `length` tasks. */
static double run_chains(heddle_mpi *m, const heddle_codelet *c, int chains, int length)
{
	for (int i = 0; i < chains; i++)
		check(heddle_mpi_submit(m, heddle_call(c), heddle_mpi_w(data[0][i])));
	check(heddle_mpi_wait_all(m));
	double start = heddle_now(heddle_mpi_runtime(m));
	for (int k = 0; k < length; k++)
		for (int i = 0; i < chains; i++)
			check(heddle_mpi_submit(m, heddle_call(c), heddle_mpi_w(data[1 - k % 2][i]),
			                        heddle_mpi_r(data[k % 2][i])));
	check(heddle_mpi_wait_all(m));
	return (heddle_now(heddle_mpi_runtime(m)) - start) / chains / length;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void print(heddle_mpi *m, const char *name, double *us)
{
	qsort(us, RUNS, sizeof *us, ascending);
	if (heddle_mpi_rank(m) == 0)
		printf("%-12s %10.3f  (%.3f to %.3f)\n", name, us[RUNS / 2], us[0], us[RUNS - 1]);
}

static void chains(heddle_mpi *m, const heddle_codelet *c, const char *name, int n, int length)
{
	double us[RUNS];
	register_chains(m, n, 8);
	for (int i = 0; i < RUNS; i++)
		us[i] = run_chains(m, c, n, length);
	print(m, name, us);
	unregister_chains(m, n);
}

static void large(heddle_mpi *m, const heddle_codelet *c)
{
	double rate[RUNS];
	register_chains(m, 64, LARGE);
	for (int i = 0; i < RUNS; i++)
		rate[i] = LARGE / run_chains(m, c, 64, 6);
	print(m, "large, MB/s", rate);
	unregister_chains(m, 64);
}

/* What ranks other than 0 and 1 would pay, seen on rank 0: the data are all rank 1's. */
static void irrelevant(heddle_mpi *m, const heddle_codelet *c)
{
	enum { N = 20000 };
	double us[RUNS], asked[RUNS];
	struct heddle_part part = {.elem_size = 8};
	heddle_mpi_data *d[3];
	int concerned = 0;
	for (int i = 0; i < 3; i++)
		check(heddle_mpi_register(m, (uint64_t)i, 1, &part, &d[i]));
	for (int i = 0; i < 3; i++)
		check(heddle_mpi_submit(m, heddle_call(c), heddle_mpi_w(d[i])));
	for (int run = 0; run < RUNS; run++) {
		double start = cpu_us();
		for (int i = 0; i < N; i++)
			check(heddle_mpi_submit(m, heddle_call(c), heddle_mpi_rw(d[0]), heddle_mpi_r(d[1]),
			                        heddle_mpi_r(d[2])));
		us[run] = (cpu_us() - start) / N;
		start = cpu_us();
		for (int i = 0; i < N; i++)
			concerned +=
			    heddle_mpi_concerns(m, 4,
			                        (struct heddle_item[]){heddle_call(c), heddle_mpi_rw(d[0]),
			                                               heddle_mpi_r(d[1]), heddle_mpi_r(d[2])});
		asked[run] = (cpu_us() - start) / N;
	}
	print(m, "irrelevant", us);
	print(m, "concerns", asked);
	check(concerned && heddle_mpi_rank(m) == 0 ? HEDDLE_E_STATE : 0);
	check(heddle_mpi_wait_all(m));
}

static void registering(heddle_mpi *m)
{
	enum { N = 50000 };
	double us[RUNS];
	heddle_mpi_data **d = malloc(N * sizeof(heddle_mpi_data *));
	struct heddle_part part = {.elem_size = 8, .n_dims = 2, .n = {100, 100}, .stride = {1, 100}};
	for (int run = 0; run < RUNS && d; run++) {
		double start = cpu_us();
		for (int i = 0; i < N; i++)
			check(heddle_mpi_register(m, (uint64_t)i, 1, &part, &d[i]));
		us[run] = (cpu_us() - start) / N;
		for (int i = 0; i < N; i++)
			check(heddle_mpi_unregister(d[i]));
	}
	free(d);
	print(m, "register", us);
}

static void waiting(heddle_mpi *m)
{
	double us[RUNS];
	for (int i = 0; i < RUNS; i++) {
		double start = heddle_now(heddle_mpi_runtime(m));
		check(heddle_mpi_wait_all(m));
		us[i] = heddle_now(heddle_mpi_runtime(m)) - start;
	}
	print(m, "wait", us);
}

int main(int argc, char **argv)
{
	struct heddle_config config;
	int level;
	heddle_mpi *m;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	check(heddle_config_init(&config));
	config.n_cpu = 1;
	check(heddle_mpi_start(&config, MPI_COMM_WORLD, &m));
	if (heddle_mpi_size(m) < 2)
		MPI_Abort(MPI_COMM_WORLD, 1);
	heddle_codelet *c = heddle_codelet_new(heddle_mpi_runtime(m), .name = "nothing", .cpu = nothing);
	chains(m, c, "hop", 1, 200);
	chains(m, c, "chains 64", 64, 50);
	chains(m, c, "chains 256", 256, 20);
	large(m, c);
	irrelevant(m, c);
	registering(m);
	waiting(m);
	check(heddle_mpi_stop(m));
	MPI_Finalize();
	return 0;
}
