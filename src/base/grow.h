/* Arrays that grow by doubling. */
#ifndef HD_BASE_GROW_H
#define HD_BASE_GROW_H

#include <stdlib.h>
#include <string.h>
#include <heddle/status.h>

/* Makes room for the element with index `n` in an array that has room for *max elements of `size` bytes. `array` points
 * to the pointer to the array, which may be NULL if *max is 0; the caller frees the array. A new array has room for
 * `least` elements. HEDDLE_E_MEMORY, without a message: the array is unchanged. */
static inline int hd_grow(void *array, size_t n, size_t *max, size_t size, size_t least)
{
	void *old, *larger;
	if (n < *max)
		return 0;
	memcpy(&old, array, sizeof old);
	size_t more = *max ? 2 * *max : least;
	larger = realloc(old, more * size);
	if (!larger)
		return HEDDLE_E_MEMORY;
	memcpy(array, &larger, sizeof larger);
	*max = more;
	return 0;
}
/* hd_grow for an array `array` whose room is the variable `max`: HD_GROW(list, n, max, 64). */
#define HD_GROW(array, n, max, least) hd_grow(&(array), (n), &(max), sizeof *(array), (least))

#endif
