/* Allocation through the test: the linker (--wrap) makes every call of malloc one of __wrap_malloc, which the test
 * defines, and gives malloc itself the name __real_malloc. So it does with each other function below. */
#ifndef TEST_WRAPPED_H
#define TEST_WRAPPED_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
int __real_vasprintf(char **out, const char *format, va_list args);
FILE *__real_open_memstream(char **text, size_t *size);
void __real_free(void *p);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
int __wrap_vasprintf(char **out, const char *format, va_list args);
FILE *__wrap_open_memstream(char **text, size_t *size);
void __wrap_free(void *p);

#endif
