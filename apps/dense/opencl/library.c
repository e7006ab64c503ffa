/* Loading OpenCL's library and CLBlast. */
#include <dense/opencl/library.h>
#include <heddle/driver.h>
#include <pthread.h>

static struct hd_ocl_library library;
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define HD_SYMBOL(f) {#f, &library.f, 0},

static void load(void)
{
	static const char *const opencl[] = {"libOpenCL.so.1", "libOpenCL.so", NULL};
	static const struct heddle_symbol calls[] = {HD_OCL_CALLS(HD_SYMBOL)};
	library.has_opencl = heddle_library_load("OpenCL", opencl, sizeof calls / sizeof *calls, calls) == 0;
#if HEDDLE_HAVE_CLBLAST
	static const char *const clblast[] = {"libclblast.so.1", "libclblast.so", NULL};
	static const struct heddle_symbol products[] = {HD_CLBLAST_CALLS(HD_SYMBOL)};
	library.has_clblast =
	    heddle_library_load("CLBlast", clblast, sizeof products / sizeof *products, products) == 0;
#endif
}

const struct hd_ocl_library *hd_ocl_load(void)
{
	pthread_once(&once, load);
	return &library;
}
