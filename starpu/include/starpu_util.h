/* Assertions, attributes and small helpers that programs written for StarPU use. */
#ifndef HEDDLE_STARPU_UTIL_H
#define HEDDLE_STARPU_UTIL_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STARPU_UNLIKELY(x) (__builtin_expect((x) != 0, 0))
#define STARPU_LIKELY(x) (__builtin_expect((x) != 0, 1))
#define STARPU_ATTRIBUTE_UNUSED __attribute__((unused))
#define STARPU_ATTRIBUTE_NORETURN __attribute__((noreturn))
#define STARPU_ATTRIBUTE_INTERNAL __attribute__((visibility("hidden")))
#define STARPU_ATTRIBUTE_MALLOC __attribute__((malloc))
#define STARPU_ATTRIBUTE_ALIGNED(n) __attribute__((aligned(n)))
#define STARPU_WARN_UNUSED_RESULT __attribute__((warn_unused_result))

#define STARPU_MIN(a, b) ((b) < (a) ? (b) : (a))
#define STARPU_MAX(a, b) ((b) > (a) ? (b) : (a))
/* A file descriptor or an address that certainly is none. */
#define STARPU_POISON_PTR ((void *)UINTPTR_C(0xdeadbeef))

/* The assertions of the program's own text: they print the place and the sentence to standard error, and abort.
 * STARPU_NO_ASSERT leaves STARPU_ASSERT and STARPU_ASSERT_MSG out. Heddle itself neither prints nor aborts here. */
#define STARPU_ABORT_MSG(...)                                                 \
	do {                                                                  \
		fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, __func__); \
		fprintf(stderr, __VA_ARGS__);                                 \
		fputc('\n', stderr);                                          \
		abort();                                                      \
	} while (0)
#define STARPU_ABORT() STARPU_ABORT_MSG("the program gives up")
#ifdef STARPU_NO_ASSERT
#define STARPU_ASSERT(x) ((void)sizeof(!(x)))
#define STARPU_ASSERT_MSG(x, ...) ((void)sizeof(!(x)))
#else
#define STARPU_ASSERT(x)                                          \
	do {                                                      \
		if (STARPU_UNLIKELY(!(x)))                        \
			STARPU_ABORT_MSG("%s does not hold", #x); \
	} while (0)
#define STARPU_ASSERT_MSG(x, ...)                      \
	do {                                           \
		if (STARPU_UNLIKELY(!(x)))             \
			STARPU_ABORT_MSG(__VA_ARGS__); \
	} while (0)
#endif
/* Aborts, with a printf-like sentence, unless a function of this interface has returned what it should. */
#define STARPU_CHECK_RETURN_VALUE_IS(result, wanted, ...)                                                    \
	do {                                                                                                 \
		int starpu_result_ = (result);                                                               \
		if (STARPU_UNLIKELY(starpu_result_ != (wanted))) {                                           \
			fprintf(stderr, "%d (%s) was returned, where %d is right, by: ", starpu_result_,     \
			        starpu_result_ < 0 ? strerror(-starpu_result_) : "no error", (int)(wanted)); \
			STARPU_ABORT_MSG(__VA_ARGS__);                                                       \
		}                                                                                            \
	} while (0)
#define STARPU_CHECK_RETURN_VALUE(result, ...) STARPU_CHECK_RETURN_VALUE_IS(result, 0, __VA_ARGS__)

/* Atomic operations on integers, with the result or the old value, and barriers; all are sequentially consistent. */
#define STARPU_ATOMIC_ADD(p, n) __atomic_add_fetch(p, n, __ATOMIC_SEQ_CST)
#define STARPU_ATOMIC_ADDL(p, n) __atomic_add_fetch(p, n, __ATOMIC_SEQ_CST)
#define STARPU_ATOMIC_ADD64(p, n) __atomic_add_fetch(p, n, __ATOMIC_SEQ_CST)
#define STARPU_ATOMIC_OR(p, n) __atomic_or_fetch(p, n, __ATOMIC_SEQ_CST)
#define STARPU_BOOL_COMPARE_AND_SWAP(p, old, new_) __sync_bool_compare_and_swap(p, old, new_)
#define STARPU_VAL_COMPARE_AND_SWAP(p, old, new_) __sync_val_compare_and_swap(p, old, new_)
#define STARPU_SYNCHRONIZE() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define STARPU_RMB() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define STARPU_WMB() __atomic_thread_fence(__ATOMIC_SEQ_CST)

/* A hint that the thread may yield, which has no effect. */
#define STARPU_UYIELD() ((void)0)

/* getenv, and the integer in an environment variable; without the variable -1, or `value`. */
char *starpu_getenv(const char *name);
int starpu_get_env_number(const char *name);
int starpu_get_env_number_default(const char *name, int value);
float starpu_get_env_float_default(const char *name, float value);
#define starpu_getenv_number starpu_get_env_number
#define starpu_getenv_number_default starpu_get_env_number_default
#define starpu_getenv_float_default starpu_get_env_float_default

/* us, of the monotonic clock; in virtual time the clock of the simulated machine. */
double starpu_timing_now(void);
/* us from `start` to `end`, and us of one time. */
double starpu_timing_timespec_delay_us(struct timespec *start, struct timespec *end);
double starpu_timing_timespec_to_us(struct timespec *time);

/* Continues the CRC-32 (Castagnoli) `crc` by a word, by `n` bytes, by a string. */
uint32_t starpu_hash_crc32c_be(uint32_t word, uint32_t crc);
uint32_t starpu_hash_crc32c_be_n(const void *bytes, size_t n, uint32_t crc);
uint32_t starpu_hash_crc32c_string(const char *text, uint32_t crc);

/* The random numbers of the C library. */
#define starpu_srand48(seed) srand48(seed)
#define starpu_drand48() drand48()
#define starpu_lrand48() lrand48()

#ifdef __cplusplus
}
#endif
#endif
