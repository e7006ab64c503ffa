/* The device code of a test. */
#ifndef TEST_CUDA_IMAGE_H
#define TEST_CUDA_IMAGE_H

#include <heddle/cuda.h>

/* What heddle_cuda_image of CMake has compiled for this program. Without nvcc a text that the stand-in (tests/standin)
 * takes for an image: it has the kernels itself. */
#ifdef HEDDLE_CUDA_IMAGE
__asm__(".pushsection .rodata\n"
        ".balign 64\n"
        "test_image_begin: .incbin \"" HEDDLE_CUDA_IMAGE "\"\n"
        "test_image_end:\n"
        ".popsection\n");
extern const char test_image_begin[], test_image_end[];
static struct heddle_cuda_image test_image;
__attribute__((constructor)) static void set_test_image(void)
{
	test_image = (struct heddle_cuda_image){test_image_begin, (size_t)(test_image_end - test_image_begin)};
}
#else
static const struct heddle_cuda_image test_image = {"// no nvcc", 10};
#endif

#endif
