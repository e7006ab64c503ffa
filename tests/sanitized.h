/* Whether the program is built with AddressSanitizer or ThreadSanitizer: SANITIZED is 1, or 0. Everything takes
 * much longer then, the program cannot run below valgrind, and the sanitizer sees crashes first. */
#ifndef TEST_SANITIZED_H
#define TEST_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) /* gcc's words */
#define SANITIZED 1
#elif defined(__has_feature) /* clang's */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
