/* Code for several kinds of processors.
 *
 * A function with HD_CLONES is compiled for several kinds of processors, and the loader chooses the best version that
 * the processor can run. This is for loops on vectors that no library has. Compilers and systems without this feature
 * compile the function once. Builds with sanitizers do so, too, because the sanitizer's run-time library does not work
 * yet when the loader chooses. */
#ifndef HD_DENSE_PROCESSOR_H
#define HD_DENSE_PROCESSOR_H

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define HD_CLONES __attribute__((target_clones("avx512f", "fma", "default")))
#else
#define HD_CLONES
#endif

/* Weak, because only OpenBLAS has it. */
extern char *openblas_get_corename(void) __attribute__((weak));

/* Functions that clones call must be inlined, to be compiled for the clone's processor. */
#define HD_INLINE static inline __attribute__((always_inline))

#endif
