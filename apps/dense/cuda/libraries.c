/* Loads the CUDA driver, cuBLAS and cuSOLVER, and says which codelets have kernels. */
#include <dense/cuda/cuda.h>
#include <dense/cuda/offer.h>
#include <heddle/driver.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* "libcublas.so.13": the library with the interface of the headers. */
#define TEXT(x) #x
#define NUMBER(x) TEXT(x)
#define CUBLAS_FILE "libcublas.so." NUMBER(CUBLAS_VER_MAJOR)
#define CUSOLVER_FILE "libcusolver.so." NUMBER(CUSOLVER_VER_MAJOR)

struct hd_dense_cuda_library hd_dense_cuda;

/* The result of loading; constant afterwards. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int found;
static char missing[1024];
static struct heddle_cuda_image image;

#define SYMBOL(f) {#f, &hd_dense_cuda.f, 0},
#define LOAD(what, calls, ...)                                                                                    \
	heddle_library_load(what, (const char *const[]){__VA_ARGS__, NULL},                                       \
	                    sizeof((const struct heddle_symbol[]){calls(SYMBOL)}) / sizeof(struct heddle_symbol), \
	                    (const struct heddle_symbol[]){calls(SYMBOL)})

/* Notes in a sentence why something is not there. */
static void note(const char *what)
{
	size_t length = strlen(missing);
	snprintf(missing + length, sizeof missing - length, "%s%s (%s)", length ? "; " : "", what, heddle_last_error());
}

static void load(void)
{
	if (LOAD("the CUDA driver", HD_CUDA_CALLS, "libcuda.so.1") < 0) {
		note("no dense kernels run on CUDA devices");
		return;
	}
	if (LOAD("cuBLAS", HD_CUBLAS_CALLS, CUBLAS_FILE, HEDDLE_CUDA_LIBRARY_DIR "/" CUBLAS_FILE) == 0)
		found |= HD_CUDA_BLAS;
	else
		note("products of tiles do not run on CUDA devices");
	if (LOAD("cuSOLVER", HD_CUSOLVER_CALLS, CUSOLVER_FILE, HEDDLE_CUDA_LIBRARY_DIR "/" CUSOLVER_FILE) == 0)
		found |= HD_CUDA_SOLVER;
	else
		note("potrf and getrf of tiles do not run on CUDA devices");
	image = hd_dense_cuda_embedded();
	if (image.size > 0)
		found |= HD_CUDA_OWN;
	else {
		heddle_error(HEDDLE_E_UNSUPPORTED, "Heddle was built without nvcc");
		note("copies of tiles and QR factorisations do not run on CUDA devices");
	}
}

int hd_dense_cuda_load(void)
{
	pthread_once(&once, load);
	return found;
}

const char *hd_dense_cuda_missing(void)
{
	hd_dense_cuda_load();
	return missing[0] ? missing : NULL;
}

int hd_dense_cuda_launch(heddle_context *c, const char *name, const struct heddle_cuda_grid *grid, void **arguments)
{
	struct CUfunc_st *function;
	int status = heddle_cuda_function(c, &image, name, &function);
	return status ? status : heddle_cuda_launch(c, function, grid, arguments);
}

heddle_kernel hd_dense_cuda_kernel(enum hd_dense_op op, int precision)
{
	static const struct hd_dense_cuda_codelet *const tables[] = {hd_dense_cuda_products, hd_dense_cuda_cholesky,
	                                                             hd_dense_cuda_lu, hd_dense_cuda_qr,
	                                                             hd_dense_cuda_movements};
	int there = hd_dense_cuda_load();
	for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
		for (const struct hd_dense_cuda_codelet *row = tables[t]; row->needs; row++)
			if (row->op == op)
				return (row->needs & there) == row->needs ? row->kernels[precision] : NULL;
	return NULL;
}
