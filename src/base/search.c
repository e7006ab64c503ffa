/* Binary search in sorted arrays. */
#include <string.h>
#include "base/base.h"

size_t hd_search(const void *elements, size_t n, size_t size, uint64_t key)
{
	size_t low = 0, high = n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint64_t found;
		memcpy(&found, (const char *)elements + middle * size, sizeof found);
		if (found < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
