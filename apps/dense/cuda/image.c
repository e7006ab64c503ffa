/* The compiled kernels of this folder, as bytes. HEDDLE_CUDA_IMAGE names the file that nvcc has made. */
#include <dense/cuda/cuda.h>

#ifdef HEDDLE_CUDA_IMAGE
__asm__(".pushsection .rodata\n"
        ".balign 64\n"
        "hd_dense_cuda_image_begin:\n"
        ".incbin \"" HEDDLE_CUDA_IMAGE "\"\n"
        "hd_dense_cuda_image_end:\n"
        ".popsection\n");
extern const char hd_dense_cuda_image_begin[] __attribute__((visibility("hidden")));
extern const char hd_dense_cuda_image_end[] __attribute__((visibility("hidden")));

struct heddle_cuda_image hd_dense_cuda_embedded(void)
{
	return (struct heddle_cuda_image){hd_dense_cuda_image_begin,
	                                  (size_t)(hd_dense_cuda_image_end - hd_dense_cuda_image_begin)};
}
#else
struct heddle_cuda_image hd_dense_cuda_embedded(void)
{
	return (struct heddle_cuda_image){NULL, 0};
}
#endif
