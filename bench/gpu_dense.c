/* The rate of a routine of libheddle-dense on GPUs, beside that of NVIDIA's own library in the same process.
 *
 * gpu_dense ours|peer d|s ROUTINE N TILE [REPEATS [check]]: potrf, getrf or geqrf beside cuSOLVER, gemm beside cuBLAS.
 *
 * In both cases the matrix lies on the (first) device when the clock starts, and the result when it ends; where it does
 * not fit there (HEDDLE_CUDA_MEMORY), as much as fits does. Settings (HEDDLE_SCHED, HEDDLE_NCPU, HEDDLE_CUDA_STREAMS
 * ...) say on what and how ours runs. GEMM is C += A B with square matrices.
 */
#include <cublas_v2.h>
#include <cuda.h>
#include <cusolverDn.h>
#include <heddle/dense.h>
#include <heddle/driver.h>
#include "good.h"

enum routine { POTRF, GEMM, GETRF, GEQRF, N_ROUTINES };
static const char *const names[N_ROUTINES] = {"potrf", "gemm", "getrf", "geqrf"};

struct request {
	enum routine routine;
	int is_single, check;
	size_t n, tile, repeats;
};

enum { MOST_REPEATS = 50 };

static double flops_of(const struct request *r)
{
	struct heddle_dense_problem problem = {.routine = names[r->routine], .n = r->n};
	return heddle_dense_flops(&problem);
}

static void print(const struct request *r, const char *who, double *seconds)
{
	char name[96];
	snprintf(name, sizeof name, "%c%s_%zu_%s", r->is_single ? 's' : 'd', names[r->routine], r->n, who);
	bench_row(name, 1, "GFlop/s", flops_of(r) / bench_median(seconds, r->repeats) * 1e-9);
}

/* --- Ours --------------------------------------------------------------------------------------------------------- */

struct ours {
	const struct request *request;
	heddle_runtime *rt;
	heddle_dense *dense;
	heddle_dense_matrix *a, *b, *c;
	heddle_dense_qr *qr;
	heddle_dense_pivots *pivots;
	unsigned device; /* node of the first device; 0: there is none */
};

static heddle_dense_matrix *matrix(const struct ours *o, enum heddle_dense_uplo uplo)
{
	const struct request *r = o->request;
	struct heddle_dense_shape shape = {.precision = r->is_single ? HEDDLE_DENSE_SINGLE : HEDDLE_DENSE_DOUBLE,
	                                   .rows = r->n,
	                                   .columns = r->n,
	                                   .tile = r->tile,
	                                   .uplo = uplo};
	heddle_dense_matrix *m;
	good(heddle_dense_matrix_create(o->dense, &shape, NULL, 0, &m));
	return m;
}

static void open_ours(struct ours *o)
{
	struct heddle_config config;
	good(heddle_config_init(&config));
	good(heddle_start(&config, &o->rt));
	const struct heddle_platform *p = heddle_runtime_platform(o->rt);
	for (size_t w = p->n_workers; w-- > 0;)
		if (p->workers[w].node)
			o->device = p->workers[w].node;
	good(heddle_dense_open(o->rt, &o->dense));
	o->a = matrix(o, o->request->routine == POTRF ? HEDDLE_DENSE_LOWER : HEDDLE_DENSE_GENERAL);
	if (o->request->routine == GEMM) {
		o->b = matrix(o, HEDDLE_DENSE_GENERAL);
		o->c = matrix(o, HEDDLE_DENSE_GENERAL);
	}
	struct heddle_dense_shape shape = heddle_dense_matrix_shape(o->a);
	if (o->request->routine == GEQRF)
		good(heddle_dense_qr_create(o->dense, &shape, NULL, &o->qr));
	if (o->request->routine == GETRF)
		good(heddle_dense_pivots_create(o->a, NULL, &o->pivots));
}

static void close_ours(struct ours *o)
{
	good(heddle_dense_qr_destroy(o->qr));
	good(heddle_dense_pivots_destroy(o->pivots));
	good(heddle_dense_matrix_destroy(o->a));
	good(heddle_dense_matrix_destroy(o->b));
	good(heddle_dense_matrix_destroy(o->c));
	heddle_dense_close(o->dense);
	good(heddle_stop(o->rt));
}

/* Fills a matrix, and brings it to the device. */
static void fill(const struct ours *o, heddle_dense_matrix *m, enum heddle_dense_random kind)
{
	size_t tiles = (o->request->n + o->request->tile - 1) / o->request->tile;
	if (!m)
		return;
	good(heddle_dense_random_submit(m, kind, 1));
	good(heddle_wait_all(o->rt));
	for (size_t j = 0; j < tiles && o->device; j++)
		for (size_t i = 0; i < tiles; i++)
			if (heddle_dense_tile(m, i, j))
				good(heddle_prefetch(heddle_dense_tile(m, i, j), o->device));
}

/* Until nothing is copied any more: prefetches are hints, which no wait waits for. */
static void settle(const struct ours *o)
{
	struct heddle_stats stats;
	uint64_t before;
	do {
		good(heddle_runtime_stats(o->rt, &stats));
		before = stats.bytes_moved;
		usleep(100000);
		good(heddle_runtime_stats(o->rt, &stats));
	} while (stats.bytes_moved != before);
}

static double once_ours(const struct ours *o)
{
	static const enum heddle_dense_random kinds[] = {HEDDLE_DENSE_SPD, HEDDLE_DENSE_RANDOM, HEDDLE_DENSE_RANDOM,
	                                                 HEDDLE_DENSE_RANDOM};
	heddle_dense_scalar one = heddle_dense_real(1);
	fill(o, o->a, kinds[o->request->routine]);
	fill(o, o->b, HEDDLE_DENSE_RANDOM);
	fill(o, o->c, HEDDLE_DENSE_RANDOM);
	settle(o);
	double start = bench_seconds();
	switch (o->request->routine) {
	case POTRF: good(heddle_dense_potrf_submit(HEDDLE_DENSE_LOWER, o->a, NULL)); break;
	case GETRF: good(heddle_dense_getrf_submit(o->a, o->pivots, NULL)); break;
	case GEQRF: good(heddle_dense_geqrf_submit(o->a, o->qr, NULL)); break;
	default:
		good(heddle_dense_gemm_submit(HEDDLE_DENSE_NO_TRANS, HEDDLE_DENSE_NO_TRANS, one, o->a, o->b, one, o->c,
		                              NULL));
	}
	good(heddle_wait_all(o->rt));
	return bench_seconds() - start;
}

static void ours(const struct request *r)
{
	struct ours o = {.request = r};
	double seconds[MOST_REPEATS], residual = 0;
	open_ours(&o);
	once_ours(&o); /* loads kernels and libraries, and lets the models learn */
	for (size_t i = 0; i < r->repeats; i++)
		seconds[i] = once_ours(&o);
	if (r->check && r->routine == POTRF)
		good(heddle_dense_potrf_residual(HEDDLE_DENSE_LOWER, o.a, 1, &residual));
	bench_need(residual < 30, "the result is wrong");
	close_ours(&o);
	print(r, "ours", seconds);
}

/* --- NVIDIA's ----------------------------------------------------------------------------------------------------- */

#define CALLS(X)                    \
	X(cuInit)                   \
	X(cuDeviceGet)              \
	X(cuDevicePrimaryCtxRetain) \
	X(cuCtxSetCurrent)          \
	X(cuMemAlloc_v2)            \
	X(cuMemFree_v2)             \
	X(cuMemcpyHtoD_v2)          \
	X(cuMemcpyDtoDAsync_v2)     \
	X(cuMemcpy2DAsync_v2)       \
	X(cuStreamCreate) X(cuStreamDestroy_v2) X(cuStreamSynchronize)
#define BLAS_CALLS(X) X(cublasCreate_v2) X(cublasDestroy_v2) X(cublasSetStream_v2) X(cublasDgemm_v2) X(cublasSgemm_v2)
#define SOLVER_CALLS(X)            \
	X(cusolverDnCreate)        \
	X(cusolverDnDestroy)       \
	X(cusolverDnSetStream)     \
	X(cusolverDnCreateParams)  \
	X(cusolverDnDestroyParams) \
	X(cusolverDnXpotrf_bufferSize) X(cusolverDnXpotrf) X(cusolverDnXgetrf_bufferSize) X(cusolverDnXgetrf)
#define QR_CALLS(X) X(cusolverDnXgeqrf_bufferSize) X(cusolverDnXgeqrf)

static struct {
#define POINTER(f) __typeof__(&f) f;
	CALLS(POINTER) BLAS_CALLS(POINTER) SOLVER_CALLS(POINTER) QR_CALLS(POINTER)
} api;

#define TEXT(x) #x
#define NUMBER(x) TEXT(x)
#define SYMBOL(f) {#f, &api.f, 0},
#define LOAD(what, calls, file)                                                                                        \
	good(heddle_library_load(what, (const char *const[]){file, NULL},                                              \
	                         sizeof((const struct heddle_symbol[]){calls(SYMBOL)}) / sizeof(struct heddle_symbol), \
	                         (const struct heddle_symbol[]){calls(SYMBOL)}))

static void cuda(int result, const char *what)
{
	char text[96];
	snprintf(text, sizeof text, "%s returned %d", what, result);
	bench_need(result == 0, text);
}

struct peer {
	const struct request *request;
	CUstream stream;
	cublasHandle_t blas;
	cusolverDnHandle_t solver;
	cusolverDnParams_t params;
	size_t size, bytes;            /* of an element, of a matrix */
	CUdeviceptr original, a, b, c; /* own; the first is what `a`, or for GEMM `c`, is filled from */
	CUdeviceptr work, info, extra; /* own: workspace; LAPACK's info; pivots or tau */
	void *host;                    /* owns: workspace */
	size_t work_bytes, host_bytes;
};

static CUdeviceptr allocate(size_t bytes)
{
	CUdeviceptr p = 0;
	if (bytes)
		cuda((int)api.cuMemAlloc_v2(&p, bytes), "cuMemAlloc");
	return p;
}

/* Random elements in [-1/2, 1/2), the same block again and again, and the order added on the diagonal. */
static void fill_device(const struct peer *p, CUdeviceptr to)
{
	enum { BLOCK = 1 << 22 };
	size_t n = p->request->n, chunk = p->size * BLOCK;
	char *block = malloc(chunk);
	bench_need(block != NULL, "out of memory");
	for (size_t i = 0; i < BLOCK; i++) {
		double x = (double)(random() % 1000003) / 1000003 - 0.5;
		if (p->request->is_single)
			((float *)(void *)block)[i] = (float)x;
		else
			((double *)(void *)block)[i] = x;
	}
	for (size_t at = 0; at < p->bytes; at += chunk)
		cuda((int)api.cuMemcpyHtoD_v2(to + at, block, p->bytes - at < chunk ? p->bytes - at : chunk),
		     "cuMemcpyHtoD");
	for (size_t i = 0; i < n && i < BLOCK; i++)
		if (p->request->is_single)
			((float *)(void *)block)[i] = (float)n;
		else
			((double *)(void *)block)[i] = (double)n;
	CUDA_MEMCPY2D diagonal = {.srcMemoryType = CU_MEMORYTYPE_HOST,
	                          .srcHost = block,
	                          .srcPitch = p->size,
	                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                          .dstDevice = to,
	                          .dstPitch = (n + 1) * p->size,
	                          .WidthInBytes = p->size,
	                          .Height = n};
	bench_need(n <= BLOCK, "the matrix is too large");
	cuda((int)api.cuMemcpy2DAsync_v2(&diagonal, p->stream), "cuMemcpy2D");
	cuda((int)api.cuStreamSynchronize(p->stream), "cuStreamSynchronize");
	free(block);
}

static void find_workspace(struct peer *p)
{
	int64_t n = (int64_t)p->request->n;
	cudaDataType t = p->request->is_single ? CUDA_R_32F : CUDA_R_64F;
	const void *a = (const void *)(uintptr_t)p->a;
	cusolverStatus_t status = CUSOLVER_STATUS_SUCCESS;
	if (p->request->routine == POTRF)
		status = api.cusolverDnXpotrf_bufferSize(p->solver, p->params, CUBLAS_FILL_MODE_LOWER, n, t, a, n, t,
		                                         &p->work_bytes, &p->host_bytes);
	else if (p->request->routine == GETRF)
		status = api.cusolverDnXgetrf_bufferSize(p->solver, p->params, n, n, t, a, n, t, &p->work_bytes,
		                                         &p->host_bytes);
	else
		status = api.cusolverDnXgeqrf_bufferSize(p->solver, p->params, n, n, t, a, n, t,
		                                         (const void *)(uintptr_t)p->extra, t, &p->work_bytes,
		                                         &p->host_bytes);
	cuda((int)status, "the size of cuSOLVER's workspace");
	p->work = allocate(p->work_bytes);
	p->host = p->host_bytes ? malloc(p->host_bytes) : NULL;
}

static void open_peer(struct peer *p)
{
	const struct request *r = p->request;
	CUdevice device;
	CUcontext context;
	LOAD("the CUDA driver", CALLS, "libcuda.so.1");
	LOAD("cuBLAS", BLAS_CALLS, "libcublas.so." NUMBER(CUBLAS_VER_MAJOR));
	LOAD("cuSOLVER", SOLVER_CALLS, "libcusolver.so." NUMBER(CUSOLVER_VER_MAJOR));
	if (r->routine == GEQRF)
		LOAD("cuSOLVER", QR_CALLS, "libcusolver.so." NUMBER(CUSOLVER_VER_MAJOR));
	cuda((int)api.cuInit(0), "cuInit");
	cuda((int)api.cuDeviceGet(&device, 0), "cuDeviceGet");
	cuda((int)api.cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
	cuda((int)api.cuCtxSetCurrent(context), "cuCtxSetCurrent");
	cuda((int)api.cuStreamCreate(&p->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	p->size = r->is_single ? sizeof(float) : sizeof(double);
	p->bytes = r->n * r->n * p->size;
	p->original = allocate(p->bytes);
	p->a = allocate(p->bytes);
	p->info = allocate(sizeof(int));
	p->extra = allocate(r->n * sizeof(int64_t));
	fill_device(p, p->original);
	if (r->routine == GEMM) {
		p->b = allocate(p->bytes);
		p->c = allocate(p->bytes);
		cuda((int)api.cuMemcpyDtoDAsync_v2(p->a, p->original, p->bytes, p->stream), "cuMemcpyDtoD");
		cuda((int)api.cuMemcpyDtoDAsync_v2(p->b, p->original, p->bytes, p->stream), "cuMemcpyDtoD");
		cuda((int)api.cublasCreate_v2(&p->blas), "cublasCreate");
		cuda((int)api.cublasSetStream_v2(p->blas, p->stream), "cublasSetStream");
		return;
	}
	cuda((int)api.cusolverDnCreate(&p->solver), "cusolverDnCreate");
	cuda((int)api.cusolverDnSetStream(p->solver, p->stream), "cusolverDnSetStream");
	cuda((int)api.cusolverDnCreateParams(&p->params), "cusolverDnCreateParams");
	find_workspace(p);
}

static int call_peer(const struct peer *p)
{
	const struct request *r = p->request;
	int64_t n = (int64_t)r->n;
	int m = (int)r->n;
	cudaDataType t = r->is_single ? CUDA_R_32F : CUDA_R_64F;
	void *a = (void *)(uintptr_t)p->a, *b = (void *)(uintptr_t)p->b, *c = (void *)(uintptr_t)p->c;
	void *work = (void *)(uintptr_t)p->work, *extra = (void *)(uintptr_t)p->extra;
	int *info = (void *)(uintptr_t)p->info;
	const double one = 1;
	const float single = 1;
	switch (r->routine) {
	case POTRF:
		return (int)api.cusolverDnXpotrf(p->solver, p->params, CUBLAS_FILL_MODE_LOWER, n, t, a, n, t, work,
		                                 p->work_bytes, p->host, p->host_bytes, info);
	case GETRF:
		return (int)api.cusolverDnXgetrf(p->solver, p->params, n, n, t, a, n, extra, t, work, p->work_bytes,
		                                 p->host, p->host_bytes, info);
	case GEQRF:
		return (int)api.cusolverDnXgeqrf(p->solver, p->params, n, n, t, a, n, t, extra, t, work, p->work_bytes,
		                                 p->host, p->host_bytes, info);
	default:
		return r->is_single ? (int)api.cublasSgemm_v2(p->blas, CUBLAS_OP_N, CUBLAS_OP_N, m, m, m, &single, a, m,
		                                              b, m, &single, c, m)
		                    : (int)api.cublasDgemm_v2(p->blas, CUBLAS_OP_N, CUBLAS_OP_N, m, m, m, &one, a, m, b,
		                                              m, &one, c, m);
	}
}

static double once_peer(const struct peer *p)
{
	cuda((int)api.cuMemcpyDtoDAsync_v2(p->request->routine == GEMM ? p->c : p->a, p->original, p->bytes, p->stream),
	     "cuMemcpyDtoD");
	cuda((int)api.cuStreamSynchronize(p->stream), "cuStreamSynchronize");
	double start = bench_seconds();
	cuda(call_peer(p), names[p->request->routine]);
	cuda((int)api.cuStreamSynchronize(p->stream), "cuStreamSynchronize");
	return bench_seconds() - start;
}

static void peer(const struct request *r)
{
	struct peer p = {.request = r};
	double seconds[MOST_REPEATS];
	open_peer(&p);
	once_peer(&p);
	for (size_t i = 0; i < r->repeats; i++)
		seconds[i] = once_peer(&p);
	print(r, "peer", seconds);
	const CUdeviceptr all[] = {p.original, p.a, p.b, p.c, p.work, p.info, p.extra};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i])
			cuda((int)api.cuMemFree_v2(all[i]), "cuMemFree");
	if (p.blas)
		cuda((int)api.cublasDestroy_v2(p.blas), "cublasDestroy");
	if (p.params)
		cuda((int)api.cusolverDnDestroyParams(p.params), "cusolverDnDestroyParams");
	if (p.solver)
		cuda((int)api.cusolverDnDestroy(p.solver), "cusolverDnDestroy");
	cuda((int)api.cuStreamDestroy_v2(p.stream), "cuStreamDestroy");
	free(p.host);
}

int main(int argc, char **argv)
{
	struct request r = {.routine = N_ROUTINES};
	for (int i = 0; argc > 3 && i < N_ROUTINES; i++)
		if (strcmp(argv[3], names[i]) == 0)
			r.routine = (enum routine)i;
	bench_need(argc >= 6 && r.routine < N_ROUTINES && (argv[2][0] == 'd' || argv[2][0] == 's'),
	           "arguments: ours|peer d|s potrf|gemm|getrf|geqrf N TILE [REPEATS [check]]");
	r.is_single = argv[2][0] == 's';
	r.n = bench_number(argc, argv, 4, 1);
	r.tile = bench_number(argc, argv, 5, 1);
	r.repeats = bench_number(argc, argv, 6, 3);
	r.check = argc > 7;
	bench_need(r.repeats <= MOST_REPEATS, "too many repeats");
	if (strcmp(argv[1], "peer") == 0)
		peer(&r);
	else
		ours(&r);
	return 0;
}
