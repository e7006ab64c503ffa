/* Tells AddressSanitizer that a piece of memory must not be touched, or may be touched again. Does nothing in other
 * builds. */
#ifndef HD_BASE_POISON_H
#define HD_BASE_POISON_H

#include <stddef.h>

#ifdef __SANITIZE_ADDRESS__ /* gcc */
#define HD_ADDRESS_SANITIZER 1
#elif defined(__has_feature) /* clang */
#if __has_feature(address_sanitizer)
#define HD_ADDRESS_SANITIZER 1
#endif
#endif

#ifdef HD_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

static inline void hd_poison(const void *p, size_t size)
{
#ifdef HD_ADDRESS_SANITIZER
	__asan_poison_memory_region(p, size);
#else
	(void)p;
	(void)size;
#endif
}

static inline void hd_unpoison(const void *p, size_t size)
{
#ifdef HD_ADDRESS_SANITIZER
	__asan_unpoison_memory_region(p, size);
#else
	(void)p;
	(void)size;
#endif
}

#endif
