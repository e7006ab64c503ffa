/* Loading OpenCL's library and CLBlast. */
#include <dense/opencl/library.h>
#include <dense/opencl/offer.h>
#include <heddle/driver.h>
#include <pthread.h>
#include <stdio.h>

static struct hd_ocl_library library;
static char missing[512]; /* the result of hd_dense_opencl_missing; set while loading, like `library` */
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
#else
	heddle_error(HEDDLE_E_UNSUPPORTED, "Heddle was built without its header");
#endif
	if (!library.has_opencl)
		snprintf(missing, sizeof missing, "no dense kernels run on OpenCL devices (OpenCL's library has gone)");
	else if (!library.has_clblast)
		snprintf(missing, sizeof missing,
		         "CLBlast (Debian: apt-get install libclblast-dev), without which products of tiles run by "
		         "kernels of our own: %s",
		         heddle_last_error());
}

const struct hd_ocl_library *hd_ocl_load(void)
{
	pthread_once(&once, load);
	return &library;
}

const char *hd_dense_opencl_missing(void)
{
	hd_ocl_load();
	return missing[0] ? missing : NULL;
}
