/* A kernel that is parallelised by OpenMP. Heddle binds the thread that calls it to the cores of the cluster, which the
 * threads of OpenMP inherit, and tells OpenMP how many to use: one per core. It does the same for kernels that call
 * MKL, BLIS or OpenBLAS. Compile it with -fopenmp; without, it uses one thread. */
#include <heddle.h>
#include <stdio.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { N = 400, N_MATRICES = 4 };
static double matrices[N_MATRICES][N * N];

static int square(heddle_context *c) /* W product, R matrix */
{
	double *product = heddle_ptr(c, 0);
	const double *a = heddle_ptr(c, 1);
	size_t n = heddle_extent(c, 0, 0), ld = heddle_ld(c, 0);
	int threads = 1;
#pragma omp parallel
	{
#ifdef _OPENMP
#pragma omp single
		threads = omp_get_num_threads();
#endif
#pragma omp for
		for (size_t j = 0; j < n; j++) {
			for (size_t i = 0; i < n; i++)
				product[i + j * ld] = 0;
			for (size_t k = 0; k < n; k++)
				for (size_t i = 0; i < n; i++)
					product[i + j * ld] += a[i + k * ld] * a[k + j * ld];
		}
	}
	/* with OpenMP as many as there are cores, unless OMP_THREAD_LIMIT says otherwise */
	return threads <= (int)heddle_context_cores(c) ? 0 : heddle_fail(c, 1, "%d threads are too many", threads);
}

static int run(heddle_runtime *rt)
{
	heddle_codelet *squares = heddle_codelet_new(rt, .name = "square", .cpu = square, .parallel = HEDDLE_FORK_JOIN);
	heddle_data *a, *product[N_MATRICES];
	int status = 0;
	for (int i = 0; i < N; i++)
		matrices[0][i + i * N] = 2; /* twice the identity */
	for (int m = 0; m < N_MATRICES && !status; m++)
		status = heddle_matrix(rt, matrices[m], N, N, N, sizeof(double), &product[m]);
	a = product[0];
	for (int m = 1; m < N_MATRICES && !status; m++) {
		status = heddle_submit(rt, heddle_call(squares), heddle_w(product[m]), heddle_r(a));
		a = product[m];
	}
	for (int m = 0; m < N_MATRICES && !status; m++)
		status = heddle_unregister(product[m]);
	return status;
}

int main(void)
{
	struct heddle_config config;
	heddle_runtime *rt = NULL;
	int status = heddle_config_init(&config);
	config.clusters = "socket";
	if (!status)
		status = heddle_start(&config, &rt);
	if (!status)
		status = run(rt);
	if (status)
		fprintf(stderr, "24_openmp_kernel: %s\n", heddle_last_error());
	else
		printf("2 squared three times is %.0f\n", matrices[N_MATRICES - 1][0]);
	int stopped = heddle_stop(rt);
	return status || stopped || matrices[N_MATRICES - 1][0] != 256;
}
