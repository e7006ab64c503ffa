/* What depends on the processor.
 *
 * HD_CLONES before a function: it is compiled for several kinds of processors, and the loader takes what this one can
 * run. For loops on vectors that no library has. Compilers and systems that cannot do so compile it once; so do builds
 * with sanitizers, whose run-time library does not work as early as the loader chooses. */
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

/* What clones call must become part of them. */
#define HD_INLINE static inline __attribute__((always_inline))

#endif
